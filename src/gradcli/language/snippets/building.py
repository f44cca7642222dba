"""From the lines of a snippet to checked programs: the function itself, its inputs, and every v."""

from __future__ import annotations

import ast
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradcli.errors import Budget, GradcliError, Place, over_budget
from gradcli.errors.counting import listed
from gradcli.errors.facts import MissingInputs, Unreadable
from gradcli.language.program import Program, compile_tree
from gradcli.language.snippets.fresh import Fresh
from gradcli.language.snippets.lines import Line, names_in, needed, renamed
from gradcli.language.snippets.pieces import OriginSpans, Piece, join
from gradcli.ops.declare import value_of
from gradcli.ops.signatures import Array


@dataclass(frozen=True, slots=True)
class Leaf:
    """An input of a snippet: where it is made, and what it is there.

    ``value`` is the expression, ``before`` the number of lines before it; ``error`` says why there is no value.
    ``fixed`` says that it is not differentiated, ``settles`` is a line that decides by it which others are read.
    ``held`` is the value itself, where no expression is.
    """

    name: str
    number: int
    value: Piece
    before: int
    integers: bool = False
    fixed: bool = False
    settles: int = 0
    error: GradcliError | None = None
    held: Array | None = None


@dataclass(slots=True)
class Builder:
    """Checks programs that are made of the lines of a snippet."""

    place: Place
    budget: Budget
    given: frozenset[str]
    fresh: Fresh
    lines: list[Line] = field(default_factory=list)
    leaves: dict[str, Leaf] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    over: float = 0.0

    def __post_init__(self) -> None:
        self.over = time.thread_time() + self.budget.seconds

    def needed_for(self, output: Piece, before: int | None = None) -> list[Line]:
        """Return the lines that an expression depends on, of those before a place."""
        return needed(self.lines[:before], names_in(output.text))

    def written(self, output: Piece, before: int | None = None) -> Piece:
        """Return the text of the program whose output is an expression."""
        return self.assembled(self.needed_for(output, before), output)

    def assembled(self, lines: Sequence[Line], output: Piece) -> Piece:
        """Return the text of a program; a variable that becomes an input later has another name before."""
        pieces: list[Piece] = []
        for line in lines:
            if not line.leaf:
                pieces.append(line.piece)
            elif any(line.leaf in names_in(piece.text) for piece in pieces):
                other = self.fresh.take(line.leaf, free=False)
                pieces = [renamed(piece, line.leaf, other) for piece in pieces]
        return join([*pieces, output], "\n")

    def compiled(self, output: Piece, before: int | None = None) -> Program:
        """Return the program whose output is an expression; raises what cannot be read, all of it at once."""
        lines = self.needed_for(output, before)
        errors = [line.error for line in lines if line.error is not None]
        if errors:
            raise all_at_once(errors, self.place)
        text = self.assembled(lines, output)
        try:
            return self.compiled_text(text)
        except GradcliError as error:
            alone = [self.error_of(piece) for piece in [*(line.piece for line in lines if not line.leaf), output]]
            raise all_at_once([e for e in alone if e is not None] or [error], self.place) from None

    def compiled_text(self, written: Piece) -> Program:
        """Check a text of the language whose characters stand for places in the user's text."""
        shown = (self.place, OriginSpans(written))
        names = self.given | frozenset(self.leaves)
        return compile_tree(ast.parse(written.text), Place(written.text), self.budget, names, shown=shown)

    def error_of(self, piece: Piece) -> GradcliError | None:
        """Return why a statement cannot be read, None where it can."""
        end = Piece.at("\n0", piece.place)
        try:
            self.compiled_text(piece + end)
        except GradcliError as error:
            return error
        return None

    def evaluate(self, output: Piece, before: int | None = None) -> Any:
        """Return the value of an expression at the inputs that the snippet itself gives."""
        program = self.compiled(output, before)
        if time.thread_time() > self.over:
            raise over_budget("seconds", self.budget.seconds, "the loops and branches round backward take too long")
        return evaluated(program, {name: self.value_of_leaf(name) for name in program.inputs})

    def value_of_leaf(self, name: str) -> Any:
        """Return the value that the snippet gives an input."""
        if name not in self.values:
            leaf = self.leaves.get(name)
            if leaf is None:
                raise GradcliError("missing-input", f"no value for the variable {name}", facts=MissingInputs((name,)))
            if leaf.error is not None:
                raise leaf.error
            value = self.evaluate(leaf.value, leaf.before) if leaf.held is None else leaf.held
            self.values[name] = np.asarray(value, np.int64) if leaf.integers else value
        return self.values[name]


def evaluated(program: Program, values: Mapping[str, Any]) -> Any:
    """Return the output of a program as numbers."""
    arrays = {name: np.asarray(value, dtype=np.float64)[()] for name, value in values.items()}
    return np.asarray(value_of(program.evaluate(arrays, frozenset(), record=False)[1]))[()]


MOST_LINES = 10
"""What is wrong with lines, as far as an error lists it; the rest is counted."""


def all_at_once(errors: Sequence[GradcliError], place: Place) -> GradcliError:
    """Return one error for all: the first, and what is wrong with which lines where there are several."""
    first = errors[0].at(None, place)
    lines: dict[str, dict[str, None]] = {}
    for error in errors:
        number = place.text.count(NEWLINE, 0, error.span[0] if error.span else 0) + 1
        lines.setdefault(error.message + (f" ({error.hint})" if error.hint else ""), {})[f"{number}"] = None
    count = sum(map(len, lines.values()))
    if count == 1:
        return first
    told = [f"{lines_text(list(numbers))}: {what}" for what, numbers in lines.items()]
    shown = (*told[:MOST_LINES], *([f"and {len(told) - MOST_LINES} more"] if len(told) > MOST_LINES else []))
    message = f"{count} lines of this snippet cannot be read"
    return GradcliError(first.kind, message, span=first.span, place=place, facts=Unreadable(shown))


def lines_text(numbers: Sequence[str]) -> str:
    """Return the numbers of lines, of many the first ones."""
    return f"line {numbers[0]}" if len(numbers) == 1 else f"lines {listed(numbers[:MOST_NUMBERS], len(numbers))}"


NEWLINE = "\n"
MOST_NUMBERS = 5
"""Lines that are named of those with one fault."""
