"""The values that a formula computes on its way: one of them as the output, and all of them in a formula after it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple

from gradcli.errors import GradcliError
from gradcli.errors.suggest import did_you_mean
from gradcli.language.program import Program, compile_program
from gradcli.language.source import Spans, parse
from gradcli.records import replace

MOST_NAMES = 12
"""Names that an error lists."""


def assigned_names(program: Program) -> dict[str, ast.stmt]:
    """Return the names that a formula assigns, each with the last of its statements that does, in order of the lines.

    A statement of several lines, such as a loop, is one.
    """
    tree, _ = parse(program.place.text, program.budget)
    last: dict[str, ast.stmt] = {}
    for statement in tree.body:
        for part in ast.walk(statement):
            last.update(dict.fromkeys(targets_of(part), statement))
    return last


def targets_of(part: ast.AST) -> Iterator[str]:
    """Yield the variables that one statement assigns, those inside of it left out."""
    targets = part.targets if isinstance(part, ast.Assign) else []
    targets += [part.target] if isinstance(part, ast.AugAssign | ast.For) else []
    for target in targets:
        yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name) and is_stored(node))


def is_stored(node: ast.Name) -> bool:
    """Return whether a variable is assigned here, and not read."""
    return isinstance(node.ctx, ast.Store)


def with_output(program: Program, name: str, given: frozenset[str]) -> Program:
    """Return a formula up to the last assignment of one of its names, which is the output.

    Where it writes to values in place all of its lines count: a write to one name may change another. Raises ``option``
    for a name that it does not assign.
    """
    last = assigned_names(program)
    if name not in last:
        raise no_output(program, name, list(last))
    if program.result == name:
        return program
    text = program.place.text
    if not program.writes:
        text = text[: Spans(text).of(last[name])[1]]
    part = compile_program(text, program.budget, given)
    if part.result != name or program.writes:
        part = compile_program(f"{text}\n{name}", program.budget, given)
    return replace(part, beside=frozenset(program.inputs.keys() - part.inputs.keys()))


def no_output(program: Program, name: str, names: list[str]) -> GradcliError:
    """Return the error for an output that a formula does not assign."""
    message = f"'{name}' is an input" if name in program.inputs else f"the program assigns no '{name}'"
    hint = did_you_mean(name, names) or f"it assigns {names_text(names)}" if names else "its last line is the output"
    return GradcliError("option", message, hint=hint)


def names_text(names: list[str]) -> str:
    """Return names in a row, and how many more there are."""
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


class Continued(NamedTuple):
    """A program with a formula after it; ``begin`` is where that begins in the text.

    ``meant`` are the variables under whose names the formula has others than the program's: the name that each has as
    an input.
    """

    program: Program
    begin: int
    meant: dict[str, str]


def continued(program: Program, formula: str, given: Mapping[str, object], assigned: Sequence[str]) -> Continued:
    """Return a formula as a program; where it uses names that ``program`` assigns, as one that begins with its lines.

    A name of ``given`` means what is given, whatever the program assigns to it on its way.
    """
    alone = compile_program(formula, program.budget, frozenset((*given, *assigned)))
    used = alone.inputs.keys()
    if used.isdisjoint(set(assigned) - given.keys()):
        return Continued(alone, 0, {})
    taken = {*assigned, *program.variables, *given, *used}
    meant = {}
    for name in (name for name in assigned if name in given and name in used):
        meant[name] = next(other for other in map(f"{name}_{{}}".format, count()) if other not in taken)
    before = "\n".join([program.place.text, *(f"{name} = {other}" for name, other in meant.items()), ""])
    whole = before + alone.place.text
    return Continued(compile_program(whole, program.budget, frozenset({*given, *meant.values()})), len(before), meant)
