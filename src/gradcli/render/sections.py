"""The lines of an answer before and after its tables: the program, and shapes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained

ASSIGNS = re.compile(r"[^=(#'\"<>!]+=(?!=)")
"""A line that names its value itself: ``y = …``, ``y[0] += …``."""


def shape_lines(found: Explained) -> list[str]:
    """Return the program, and the shapes of what goes in and comes out; constants stand apart."""
    moved = [f"{name} {found.inputs[name].shape}" for name in found.differentiated if name in found.inputs]
    constant = [f"{name} {value.shape}" for name, value in found.inputs.items() if name not in found.differentiated]
    given = "" if found.v_source == "default" else f"     v {found.v.shape}"
    how = "" if found.v_source in ("given", "default") else f" {found.v_source}"
    program = found.program.split("\n")
    is_expression = len(program) == 1 and ";" not in program[0] and not ASSIGNS.match(program[0])
    shown = [f"{found.name} = {program[0]}"] if is_expression else program
    shapes = f"{'  '.join(moved)}  →  {found.name} {found.output.shape}{given}{how}".strip()
    return [*shown, "", shapes, *([f"{'  '.join(constant)}  constant"] if constant else [])]
