"""The titled blocks of an answer above and below the tables of J, in the order that all voices but plain lines have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gradcli.render.backward import TITLE as BACKWARD
from gradcli.render.backward import backward_lines, path_lines, path_titles
from gradcli.render.effects import calls_lines, v_lines
from gradcli.render.forward import forward_lines
from gradcli.render.glyphs import Anchor, Layout, Section
from gradcli.render.sums import sum_lines

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained

ASSIGNS = re.compile(r"[^=(#'\"<>!]+=(?!=)")
"""A line that names its value itself: ``y = …``, ``y[0] += …``."""


def sections_above(found: Explained, layout: Layout) -> Iterator[Section]:
    """Yield what stands above the tables of J; some have no lines."""
    yield Section("Forward", forward_lines(found, layout))
    yield Section(BACKWARD, backward_lines(found, layout))
    yield from view_sections("backward", found, layout)


def sections_below(found: Explained, layout: Layout) -> Iterator[Section]:
    """Yield what stands below the tables of J; some have no lines."""
    yield from view_sections("J", found, layout)
    yield Section("Each sum", sum_lines(found, layout))
    yield Section(path_titles(found), path_lines(found, layout))
    yield Section("Calls of backward without zero_grad", calls_lines(found, layout))
    yield Section("What v did", v_lines(found, layout), prose=True)
    yield from view_sections("v", found, layout)
    yield Section("Notes", [note.message for note in found.notes], prose=True)


def view_sections(anchor: Anchor, found: Explained, layout: Layout) -> Iterator[Section]:
    """Yield what was asked for beside the rest, in so far as it follows a part of the answer."""
    if found.views:
        from gradcli.render.views import sections_after  # few answers are asked for more

        yield from sections_after(anchor, found, layout)


def shape_lines(found: Explained) -> list[str]:
    """Return the program, and the shapes of what goes in and comes out; constants stand apart."""
    moved = [f"{name} {found.inputs[name].shape}" for name in found.differentiated if name in found.inputs]
    constant = [f"{name} {value.shape}" for name, value in found.inputs.items() if name not in found.differentiated]
    given = "" if found.v_source == "default" else f"     v {found.v.shape}"
    how = "" if found.v_source in ("given", "default") else f" {found.v_source}"
    program = found.program_lines
    is_expression = len(program) == 1 and ";" not in program[0] and not ASSIGNS.match(program[0])
    shown = [f"{found.name} = {program[0]}"] if is_expression else program
    shapes = f"{'  '.join(moved)}  →  {found.name} {found.output.shape}{given}{how}".strip()
    return [*shown, "", shapes, *([f"{'  '.join(constant)}  constant"] if constant else [])]
