"""Names of a formula that say they are a derivative, and that nothing holds against one."""

from __future__ import annotations

import ast
import re
import shlex

from gradcli.checking.pairs import stem_of
from gradcli.explanation.evaluation import Function
from gradcli.explanation.explained import Note
from gradcli.language.outputs import assigned_names
from gradcli.language.program import Program

WHOLE = ("grad", "gradient", "dy")
"""Names of a derivative that say by nothing what it is."""


def note_unchecked(function: Function) -> list[Note]:
    """Return the notes on names such as ``df`` and ``dx`` that a formula assigns and that no line reads."""
    program = function.program
    if type(program) is not Program:
        return []
    text = program.place.text
    assigned = assigned_names(program)
    likely = {name: one for name, one in assigned.items() if is_derivative(name, {*program.inputs, *assigned} - {name})}
    outputs = [name for name in assigned if name not in likely]
    notes = []
    for name, statement in likely.items():
        if not outputs or len(re.findall(rf"\b{name}\b", text)) != 1 or not isinstance(statement, ast.Assign):
            continue
        stem = name[1:]
        by = f"{stem}=" if stem in program.inputs and len(program.inputs) > 1 else ""
        asked = f"--of {outputs[-1]} --expect {shlex.quote(by + ast.unparse(statement.value))}"
        notes.append(Note("not-checked", f"{name} was not compared with the derivative: {asked} does that."))
    return notes


def is_derivative(name: str, others: set[str]) -> bool:
    """Return whether a name says that it is the derivative of, or by, another name."""
    stem = stem_of(name)
    return name in WHOLE or (name.startswith("d") and name[1:] in others) or (stem is not None and stem.name in others)
