"""The lines of an answer before and after its tables: shapes, the chain rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcli.render.numbers import array_text

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.render.glyphs import Layout


def shape_lines(found: Explained) -> list[str]:
    """Return the program, and the shapes of what goes in and comes out; constants stand apart."""
    moved = [f"{name} {found.inputs[name].shape}" for name in found.differentiated if name in found.inputs]
    constant = [f"{name} {value.shape}" for name, value in found.inputs.items() if name not in found.differentiated]
    given = "" if found.v_source == "default" else f"     v {found.v.shape}"
    how = "" if found.v_source in ("given", "default") else f" {found.v_source}"
    program = found.program.split("\n")
    shown = [f"{found.name} = {program[0]}"] if len(program) == 1 and ";" not in program[0] else program
    shapes = f"{'  '.join(moved)}  →  {found.name} {found.output.shape}{given}{how}".strip()
    return [*shown, "", shapes, *([f"{'  '.join(constant)}  constant"] if constant else [])]


def chain_lines(found: Explained, layout: Layout) -> list[str]:
    """Return v, then v·∂y/∂h for each variable h on the way, then the gradient."""
    if not found.stages:
        return []
    d, precision = layout.glyphs.partial, layout.precision
    call = found.backward[0]
    lines = [f"v = {array_text(call.v.seed, precision)}"]
    outer, held = found.name, "v"
    first, last = found.stages[:3], found.stages[-3:]
    skipped = len(found.stages) - 6
    for number, stage in enumerate(found.stages if skipped <= 0 else [*first, *last]):
        if skipped > 0 and number == 3:
            lines.append(f"({skipped} more stages)")
            outer = found.stages[-4].name
            held = f"{outer}.grad"
        step = f"{d}{outer}/{d}{stage.name}"
        if stage.factor is not None:
            lines.append(f"{step} = {array_text(stage.factor, precision)}")
        leaf = stage.name in found.differentiated
        product = array_text(call.grad[stage.name] if leaf else stage.cotangent, precision)
        lines.append(f"{held}{layout.glyphs.times}{step} = {product}   {stage.name}.grad")
        if not leaf:
            outer, held = stage.name, f"{stage.name}.grad"
    return lines
