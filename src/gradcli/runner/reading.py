"""From the text of a script to its syntax tree: what is refused before anything runs."""

from __future__ import annotations

import ast
import re
import textwrap

from gradcli.errors import Budget, GradcliError, Place, over_budget
from gradcli.language.source import Spans, python_tree, refuse_depth, with_comments
from gradcli.language.source import blank as blank_comment

CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def read_script(text: str, budget: Budget) -> tuple[ast.Module, Place]:
    """Return the syntax tree of a script and its text; lines keep their numbers.

    What is no Python as it stands is read as a paste: without prompts, fences, output and lines of a notebook.
    Raises ``character``, ``budget`` or ``syntax``, each with its place.
    """
    clean = dedented(text.replace("\r\n", "\n").replace("\ufeff", ""))
    place = Place(clean, "script")
    try:
        return checked_tree(clean, budget), place
    except GradcliError as error:
        from gradcli.runner.pasted import script_of_paste  # a paste alone needs it

        typed = dedented(script_of_paste(clean)) if error.kind == "syntax" else clean
        if not typed.strip() or typed == clean:
            raise error.at(error.span, place) from None
        place = Place(typed, "script")
    try:
        return checked_tree(typed, budget), place
    except GradcliError as error:
        raise error.at(error.span, place) from None


def dedented(text: str) -> str:
    """Return a text without the indentation that all of its lines have, ended by one newline."""
    return textwrap.dedent(text).rstrip() + "\n"


def checked_tree(text: str, budget: Budget) -> ast.Module:
    """Return the syntax tree of a text; raises ``character``, ``budget`` or ``syntax``."""
    if len(text) > budget.text:
        what = "the script has too many characters"
        raise over_budget("text", budget.text, what).at((budget.text, budget.text + 1))
    control = CONTROL.search(text)
    if control is not None:
        what = f"the script holds a control character, U+{ord(control[0]):04X}"
        raise GradcliError("character", what, span=control.span())
    if not text.isascii():
        surrogate = next((k for k, character in enumerate(text) if "\ud800" <= character <= "\udfff"), None)
        if surrogate is not None:
            what = f"the script holds half a character, U+{ord(text[surrogate]):04X}"
            raise GradcliError("character", what, span=(surrogate, surrogate + 1))
    refuse_depth(with_comments(text, blank_comment), budget)
    tree = python_tree(text, "script")
    parts = 0
    for statement in tree.body:
        parts += sum(1 for _ in ast.walk(statement))
        if parts > budget.syntax:
            span = Spans(text).of(statement)
            raise over_budget("syntax", budget.syntax, "the script has too many parts").at(span)
    return tree
