"""Values that a program gives itself, in lines that could as well be left out and given from outside."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradcli.errors.facts import OwnInput
from gradcli.language.program import Program
from gradcli.language.source import Spans, parse


def own_inputs(program: Program) -> list[OwnInput]:
    """Return the variables whose first value depends on no variable and which go on from it, in the order of lines.

    The last line is the output, and no input.
    """
    tree, place = parse(program.place.text, program.budget, any_quotes=True)
    spans = Spans(place.text)
    found: dict[str, OwnInput | None] = {}
    for statement in tree.body[:-1]:
        for name, value in assigned(statement):
            read = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
            if name in found and name in read:
                continue
            if name in found or not read.isdisjoint(program.variables):
                found[name] = None
                continue
            text = place.text[slice(*spans.of(value))]
            short = "" if "\n" in text or len(text) > LONGEST else text
            line = place.text[slice(*spans.of(statement))].partition("\n")[0]
            shown = line if len(line) <= LONGEST else f"{line[:LONGEST]}..."
            found[name] = OwnInput(name, shown, statement.lineno, short, spans.of(statement))
    return [item for item in found.values() if item is not None]


LONGEST = 60
"""Characters of a statement or value that is quoted."""


def assigned(statement: ast.stmt) -> Iterator[tuple[str, ast.expr]]:
    """Yield the variables that a statement assigns with what each is assigned."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        yield statement.target.id, statement.target
    if not isinstance(statement, ast.Assign):
        return
    target, value = statement.targets[0], statement.value
    pairs = [(target, value)]
    if isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        pairs = list(zip(target.elts, value.elts, strict=False))
    yield from ((item.id, part) for item, part in pairs if isinstance(item, ast.Name))


def compared_with(program: Program, name: str) -> str | None:
    """Return what a line holds against a variable by ``==``, which begins it; None where none does."""
    text = program.place.text
    at, end = program.inputs[name]
    line = text[text.rfind("\n", 0, at) + 1 :].partition("\n")[0]
    found = line.partition("==")
    return found[2].strip() if found[1] and found[0].strip() == text[at:end] == name else None
