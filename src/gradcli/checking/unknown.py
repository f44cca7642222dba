"""Functions of modules that gradcli does not have: what a script's call of one does to a tensor is not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcli.errors.counting import listed
from gradcli.explanation.explained import Note

if TYPE_CHECKING:
    from gradcli.checking.claims import Claims
    from gradcli.explanation.evaluation import Function

LEFT_OUT = "left-out"
"""The kind of the note on calls that were left out: no budget decides what they do."""


def notes_of_script(function: Function) -> list[Note]:
    """Return the notes that the run of a script left; none for a formula."""
    program = function.program
    if not program.is_script:
        return []
    whole = {} if program.ended is None else program.ended.run.notes
    return [Note(kind, message) for kind, message in {**whole, **program.notes}]


def unknown_calls(function: Function, claims: Claims | None) -> str:
    """Return which calls of unknown functions took a tensor that is differentiated, as a sentence; empty for none."""
    program = function.program
    if not program.is_script:
        return ""
    whole = {} if claims is None or claims.reached is None else claims.reached.run.left_out
    calls = [f"{name} (line {line})" for name, line in {**whole, **program.left_out}.items()]
    if not calls:
        return ""
    do, are = ("do", "they are") if len(calls) > 1 else ("does", "it is")
    names = listed(calls[:3], len(calls))
    return f"what {names} {do} to a tensor that is differentiated is not known: {are} of no module that gradcli has"


def note_unknown(reason: str) -> list[Note]:
    """Return the note on calls that were left out, with what to do; none without a reason."""
    if not reason:
        return []
    message = "The script is run without a function that it imports: write its definition in place of the import."
    return [Note(LEFT_OUT, message)]
