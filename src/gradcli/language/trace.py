"""What statements leave for readers of a run: what was assigned, which branch ran, what a loop did, in order.

The records here are made once, when a program is compiled; a run adds ``(record, what happened, assignments before)``
to ``Graph.story``, and the answer's *Forward* is written from that.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gradcli.engine.graph import Graph
from gradcli.language.operators import COMPARE
from gradcli.language.source import Spans, with_comments

KEPT = 200
"""Events of a run up to which every turn of a loop is kept; beyond, its first and its last."""

ATOM = re.compile(r"[\w.]+")
"""A text that no operator can take a part of."""


def tight(text: str) -> str:
    """Return a text as it stands beside an operator: in brackets, but for a name or a number."""
    return text if ATOM.fullmatch(text) else f"({text})"


class Gap(NamedTuple):
    """A variable in a text: what stands before it, its name, and whether an operator stands beside it."""

    before: str
    name: str
    beside: bool


@dataclass(frozen=True)
class Written:
    """An expression as the user wrote it, on one line, with gaps in the place of its variables."""

    gaps: tuple[Gap, ...]
    tail: str

    def put(self, called: Callable[[str], str]) -> str:
        """Return the text with each variable written as ``called`` says, in brackets where it needs them."""
        parts = []
        for before, name, beside in self.gaps:
            text = called(name)
            parts += [before, tight(text) if beside else text]
        return "".join(parts) + self.tail


@dataclass(frozen=True)
class Assigned:
    """One target of an assignment, or the last expression, whose ``name`` is empty.

    - ``value``: what is assigned, or what the value is unpacked from.
    - ``index``: the text between the brackets of an indexed assignment.
    - ``operator``: that of an augmented assignment.
    - ``place``, ``count``: which of several targets this is; ``taken`` says that it takes that part of ``value``.
    - ``row``: whether it is the variable of a loop, which takes a row a turn.
    """

    name: str
    value: Written
    index: Written | None = None
    operator: str = ""
    place: int = 0
    count: int = 1
    taken: bool = False
    row: bool = False


@dataclass(frozen=True)
class Condition:
    """A condition, and the sides of the comparison that it is, if it is one."""

    text: Written
    sides: tuple[Written, ...]
    signs: tuple[str, ...]


@dataclass(frozen=True)
class Branch:
    """An ``if`` or ``elif``, or a conditional expression, which has ``choices``; ``other`` says that it has an else."""

    word: str
    condition: Condition
    other: bool
    choices: tuple[Written, ...] = ()


@dataclass(frozen=True)
class Loop:
    """A loop: over ``name``, or for as long as ``condition`` holds."""

    name: str
    condition: Condition | None


class Turn(NamedTuple):
    """The beginning of a turn; ``item`` is the integer that the loop's variable is."""

    number: int
    item: int | None


class Ended(NamedTuple):
    """The end of a loop after so many turns: by ``break``, or with the sides of its condition as they then were."""

    turns: int
    broken: bool
    sides: tuple[Any, ...]


class Chosen(NamedTuple):
    """Whether a condition held, and the sides of its comparison."""

    held: bool
    sides: tuple[Any, ...]


@dataclass(slots=True)
class Turns:
    """Tells the turns of one loop: all of them while the story is short, else the first and the last."""

    graph: Graph
    story: list[Any]
    loop: Loop
    number: int = 0
    mark: int = field(default=0)

    def begin(self, item: Any = None) -> None:
        """Begin a turn, and forget the one before it where it is one of many."""
        story = self.story
        if self.number > 1 and len(story) > KEPT:
            del story[self.mark :]
        self.number += 1
        self.mark = len(story)
        turn = Turn(self.number, item if type(item) is int else None)
        story.append((self.loop, turn, len(self.graph.bindings)))

    def end(self, broken: bool, sides: tuple[Any, ...] = ()) -> None:
        """End the loop."""
        self.story.append((self.loop, Ended(self.number, broken, sides), len(self.graph.bindings)))


def turns_of(graph: Graph, loop: Loop) -> Turns | None:
    """Return what tells the turns of a loop; None where nobody reads the story of this run."""
    return None if graph.story is None else Turns(graph, graph.story, loop)


class Writer:
    """Turns syntax nodes of one program into the texts that records hold."""

    def __init__(self, text: str) -> None:
        self.spans = Spans(text)
        self.code = with_comments(text, lambda comment: " " * len(comment))

    def written(self, node: ast.expr, *, beside: bool = False) -> Written:
        """Return the text of an expression; ``beside`` says that an operator stands beside it."""
        functions = {id(call.func) for call in ast.walk(node) if isinstance(call, ast.Call)}
        free = {id(child) for parent in ast.walk(node) for child in separate(parent)}
        if not beside:
            free.add(id(node))
        names = [n for n in ast.walk(node) if isinstance(n, ast.Name) and id(n) not in functions]
        start, end = self.spans.of(node)
        gaps = []
        for name in sorted(names, key=lambda name: self.spans.of(name)):
            first, last = self.spans.of(name)
            gaps.append(Gap(on_one_line(self.code[start:first]), name.id, id(name) not in free))
            start = last
        return Written(tuple(gaps), on_one_line(self.code[start:end]))

    def operand(self, node: ast.expr, operator: str) -> Written:
        """Return the text of what stands to the right of an operator, in brackets where it needs them."""
        found = self.written(node, beside=True)
        if isinstance(node, ast.Name | ast.Constant | ast.Call | ast.Subscript | ast.Attribute | ast.List):
            return found
        if operator in "+-" and isinstance(node, ast.BinOp) and not isinstance(node.op, LOOSE):
            return found
        return bracketed(found)

    def condition(self, node: ast.expr) -> Condition:
        """Return a condition."""
        if not isinstance(node, ast.Compare) or any(type(op) not in COMPARE for op in node.ops):
            return Condition(self.written(node), (), ())
        sides = [self.written(side) for side in (node.left, *node.comparators)]
        return Condition(self.written(node), tuple(sides), tuple(COMPARE[type(op)] for op in node.ops))


LOOSE = (ast.Add, ast.Sub, ast.BitAnd, ast.BitOr, ast.BitXor)
"""Operators that bind no tighter than + and -."""


def bracketed(text: Written) -> Written:
    """Return a text in brackets."""
    if not text.gaps:
        return Written((), f"({text.tail})")
    first = text.gaps[0]
    return Written((first._replace(before=f"({first.before}"), *text.gaps[1:]), f"{text.tail})")


def separate(parent: ast.AST) -> list[ast.expr]:
    """Return the parts of an expression that stand between commas and brackets, where no operator is beside them."""
    match parent:
        case ast.Call():
            return [*parent.args, *(keyword.value for keyword in parent.keywords)]
        case ast.List() | ast.Tuple():
            return parent.elts
        case ast.Subscript():
            return [parent.slice]
    return []


def on_one_line(text: str) -> str:
    """Return a piece of program text without the breaks that brackets allow."""
    if "\n" not in text:
        return text
    text = re.sub(r"([(\[])\s*\n\s*", r"\1", text)
    text = re.sub(r"\s*\n\s*([)\]])", r"\1", text)
    return re.sub(r"\s*\\?\n\s*", " ", text)
