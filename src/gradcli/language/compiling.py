"""From a syntax tree to closures over a frame: what formulas and scripts have in common.

What statements leave for readers of a run: what was assigned, which branch ran, what a loop did, in order.
The records here are made once, when a program is compiled; a run adds ``(record, what happened, assignments before)``
to ``Graph.story``, and the answer's *Forward* is written from that.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from keyword import iskeyword
from typing import Any, NamedTuple

import numpy as np

from gradcli.engine.graph import Graph
from gradcli.engine.naming import NAME, tight
from gradcli.errors import GradcliError
from gradcli.language.calls import COMPARE
from gradcli.language.source import Spans, with_comments
from gradcli.ops.links import Indices
from gradcli.records import dataclass

Frame = list[Any]
"""The registers of one run of a text: first what it runs on, the graph of a formula, or the run of a script."""


class Unbound:
    """Marks a variable without a value."""

    def __repr__(self) -> str:
        return "<unbound>"


UNBOUND = Unbound()
Evaluate = Callable[[Frame], Any]
Store = Callable[[Frame, Any], None]
Signal = Any
BREAK, NEXT = ("break",), ("next",)
SIGNALS: dict[type[ast.stmt], Signal] = {ast.Pass: None, ast.Break: BREAK, ast.Continue: NEXT}
"""What a statement that does nothing else hands on to the block that it stands in."""
FRAMES = 30_000
"""Calls of the host that the depth of a text may take."""


class Step(NamedTuple):
    """One statement: what runs it, its node, and whether it may yield."""

    run: Callable[[Frame], Signal]
    node: ast.stmt
    yields: bool = False


Block = list[Step]


class Compiler:
    """Compiles the syntax that formulas and scripts share; a dialect adds what its values do."""

    def refused(self, node: ast.AST) -> GradcliError:
        """Return the error for syntax that the dialect leaves out."""
        raise NotImplementedError

    def test(self, node: ast.If | ast.IfExp | ast.While) -> Callable[[Frame], bool]:
        """Return what says whether the condition of a branch or of a loop holds."""
        raise NotImplementedError

    def walked(self, node: ast.expr) -> Callable[[Frame], Iterable[Any]]:
        """Return what gives the items of a loop."""
        raise NotImplementedError

    def loop_target(self, node: ast.For) -> Store:
        """Return what gives the variable of a loop an item."""
        raise NotImplementedError

    def turns(self, node: ast.For | ast.While) -> Callable[[Frame], Any]:
        """Return what makes what is told of the turns of a loop; that is None where nobody asks for them."""
        del node
        return lambda regs: None

    def runner(self, block: Block) -> Callable[[Frame], Signal]:
        """Return what runs a block over a frame."""
        raise NotImplementedError

    # ---- expressions
    def expression(self, node: ast.expr) -> Evaluate:
        """Return what evaluates an expression."""
        compile_one = getattr(self, f"of_{type(node).__name__}", None)
        if compile_one is None:
            raise self.refused(node)
        return compile_one(node)  # type: ignore[no-any-return]

    def of_IfExp(self, node: ast.IfExp) -> Evaluate:
        """Return a conditional expression: only the side that is taken is evaluated."""
        test, yes, no = self.test(node), self.expression(node.body), self.expression(node.orelse)
        return lambda regs: yes(regs) if test(regs) else no(regs)

    # ---- statements
    def statement(self, node: ast.stmt) -> Callable[[Frame], Signal]:
        """Return what runs one statement."""
        if type(node) in SIGNALS:
            signal = SIGNALS[type(node)]
            return lambda regs: signal
        compile_one = getattr(self, f"run_{type(node).__name__}", None)
        if compile_one is None:
            raise self.refused(node)
        return compile_one(node)  # type: ignore[no-any-return]

    def block(self, body: list[ast.stmt]) -> Block:
        """Return statements ready to run."""
        return [Step(self.statement(node), node) for node in body]

    def run_block(self, body: list[ast.stmt]) -> Callable[[Frame], Signal]:
        """Return what runs several statements."""
        return self.runner(self.block(body)) if body else lambda regs: None

    def run_If(self, node: ast.If) -> Callable[[Frame], Signal]:
        test, yes, no = self.test(node), self.run_block(node.body), self.run_block(node.orelse)
        return lambda regs: yes(regs) if test(regs) else no(regs)

    def run_While(self, node: ast.While) -> Callable[[Frame], Signal]:
        """Return a loop that runs while a test holds."""
        test = self.test(node)

        def passes(regs: Frame) -> Iterator[None]:
            while test(regs):
                yield None

        return self.loop(node, passes, lambda regs, item: None)

    def run_For(self, node: ast.For) -> Callable[[Frame], Signal]:
        return self.loop(node, self.walked(node.iter), self.loop_target(node))

    def loop(
        self, node: ast.For | ast.While, items: Callable[[Frame], Iterable[Any]], store: Store
    ) -> Callable[[Frame], Signal]:
        """Return a loop that runs once for each item."""
        turns_of, body, otherwise = self.turns(node), self.run_block(node.body), self.run_block(node.orelse)

        def run(regs: Frame) -> Signal:
            turn, turns = regs[0].meter.turn, turns_of(regs)
            ended: Signal = None
            for item in items(regs):
                turn()
                if turns is not None:
                    turns.begin(item)
                store(regs, item)
                ended = body(regs)
                if ended is not None and ended is not NEXT:
                    break
            else:
                ended = None
            if turns is not None:
                turns.end(regs, broken=ended is not None)
            return otherwise(regs) if ended is None else None if ended is BREAK else ended

        return run


# ---- what statements leave for readers of a run

KEPT = 200
"""Events of a run up to which every turn of a loop is kept; beyond, its first and its last."""


class Gap(NamedTuple):
    """A variable in a text: what stands before it, its name, and whether an operator stands beside it."""

    before: str
    name: str
    beside: bool


@dataclass(frozen=True)
class Written:
    """An expression as the user wrote it, on one line.

    >>> Written("x[i]*k + dim").put({"i": "0", "k": "k + 1"}.get)
    'x[0]*(k + 1) + dim'
    """

    text: str

    def put(self, called: Callable[[str], str]) -> str:
        """Return the text with each variable written as ``called`` says, in brackets where it needs them."""
        gaps, tail = self.gaps
        parts = []
        for before, name, beside in gaps:
            text = called(name)
            parts += [before, tight(text) if beside else text]
        return "".join(parts) + tail

    @cached_property
    def gaps(self) -> tuple[list[Gap], str]:
        """The variables in the text, and what stands behind the last."""
        result, start, text = [], 0, self.text
        for match in re.finditer(NAME, text):
            if match["text"] or match["dot"] or iskeyword(match["name"]):
                continue
            alone = text[: match.start()].rstrip()[-1:] in OPENING and text[match.end() :].lstrip()[:1] in CLOSING
            result.append(Gap(text[start : match.start()], match["name"], not alone))
            start = match.end()
        return result, text[start:]


OPENING = ("", "(", "[", ",", ":", "=")
CLOSING = ("", ")", "]", ",", ":")
"""What stands round a part of an expression that no operator is beside."""


class Selection(NamedTuple):
    """For each entry of a tensor the number of the entry that it shows of a source of this shape, -1 for none."""

    chosen: Indices
    shape: tuple[int, ...]

    @property
    def whole(self) -> bool:
        """Whether every entry shows one of the source."""
        return bool(np.all(self.chosen >= 0))


@dataclass(frozen=True)
class Assigned:
    """One target of an assignment, or the last expression, whose ``name`` is empty.

    - ``value``: what is assigned, or what the value is unpacked from.
    - ``index``: the text between the brackets of an indexed assignment.
    - ``operator``: that of an augmented assignment.
    - ``place``, ``count``: which of several targets this is; ``taken`` says that it takes that part of ``value``.
    - ``row``: whether it is the variable of a loop, which takes a row a turn.
    - ``chosen``: where a write to the variable ``value`` changed this one too, which entries of it each entry shows.

    A variable that such a write changed has an empty ``value`` where it has too many entries to say so.
    """

    name: str
    value: Written
    index: Written | None = None
    operator: str = ""
    place: int = 0
    count: int = 1
    taken: bool = False
    row: bool = False
    chosen: Selection | None = None


@dataclass(frozen=True)
class Condition:
    """A condition, and the sides of the comparison that it is, if it is one."""

    text: Written
    sides: tuple[Written, ...]
    signs: tuple[str, ...]


@dataclass(frozen=True)
class Branch:
    """An ``if`` or ``elif``, as ``word`` says, or a conditional expression, which has none but ``choices``.

    ``other`` is the word of the branch that follows: ``elif``, ``else`` or nothing.
    """

    word: str
    condition: Condition
    other: str
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
class LoopTurns:
    """Tells the turns of one loop: all of them while the story is short, else the first and the last.

    The sides of the loop's condition, as they were last, stand in a register.
    """

    graph: Graph
    story: list[Any]
    loop: Loop
    register: int | None
    number: int = 0
    mark: int = 0

    def begin(self, item: Any = None) -> None:
        """Begin a turn, and forget the one before it where it is one of many."""
        story = self.story
        if self.number > 1 and len(story) > KEPT:
            del story[self.mark :]
        self.number += 1
        self.mark = len(story)
        turn = Turn(self.number, item if type(item) is int else None)
        story.append((self.loop, turn, len(self.graph.bindings)))

    def end(self, regs: Frame, broken: bool) -> None:
        """End the loop."""
        sides = () if self.register is None else regs[self.register]
        self.story.append((self.loop, Ended(self.number, broken, sides), len(self.graph.bindings)))


class Writer:
    """Turns syntax nodes of one program into the texts that records hold."""

    def __init__(self, text: str) -> None:
        self.spans = Spans(text)
        self.code = with_comments(text, lambda comment: " " * len(comment))
        self.texts: dict[tuple[int, int], str] = {}
        self.unsaid: list[tuple[int, int]] = []

    def replace(self, node: ast.expr, name: str, said: bool) -> None:
        """Write a variable for the method that writes to it; what holds that is not ``said`` where it also reads
        values from before the write."""
        span = self.spans.of(node)
        self.texts[span] = name
        if not said:
            self.unsaid.append(span)

    def said(self, node: ast.expr) -> Written:
        """Return the text of an expression, empty where names in it stand for values before and after a write."""
        first, last = self.spans.of(node)
        if any(first <= start and end <= last for start, end in self.unsaid):
            return Written("")
        return self.written(node)

    def written(self, node: ast.expr) -> Written:
        """Return the text of an expression, with variables for the methods that write to them."""
        span = self.spans.of(node)
        if self.texts:
            return Written(on_one_line(replaced(self.code, span, self.texts)))
        return Written(on_one_line(self.code[slice(*span)]))

    def operand(self, node: ast.expr, operator: str) -> Written:
        """Return the text of what stands to the right of an operator, in brackets where it needs them."""
        result = self.said(node)
        if not result.text or isinstance(
            node, ast.Name | ast.Constant | ast.Call | ast.Subscript | ast.Attribute | ast.List
        ):
            return result
        if operator in "+-" and isinstance(node, ast.BinOp) and not isinstance(node.op, LOOSE):
            return result
        return Written(f"({result.text})")

    def word(self, node: ast.stmt) -> str:
        """Return ``elif`` for a statement that begins so, nothing for any other."""
        return "elif" if self.code.startswith("elif", self.spans.of(node)[0]) else ""

    def condition(self, node: ast.expr) -> Condition:
        """Return a condition."""
        if not isinstance(node, ast.Compare) or any(type(op) not in COMPARE for op in node.ops):
            return Condition(self.written(node), (), ())
        sides = [self.written(side) for side in (node.left, *node.comparators)]
        return Condition(self.written(node), tuple(sides), tuple(COMPARE[type(op)] for op in node.ops))


def replaced(code: str, span: tuple[int, int], texts: Mapping[tuple[int, int], str]) -> str:
    """Return a piece of the program with other texts for some parts of it."""
    first, last = span
    inside = sorted(
        (part for part in texts if first <= part[0] and part[1] <= last), key=lambda part: (part[0], -part[1])
    )
    pieces, at = [], first
    for start, end in inside:
        if start >= at:
            pieces += [code[at:start], texts[start, end]]
            at = end
    return "".join([*pieces, code[at:last]])


LOOSE = (ast.Add, ast.Sub, ast.BitAnd, ast.BitOr, ast.BitXor)
"""Operators that bind no tighter than + and -."""


def on_one_line(text: str) -> str:
    """Return a piece of program text without the breaks that brackets allow, and with blanks for tabs."""
    text = text.replace("\t", " ")
    if "\n" not in text:
        return text
    text = re.sub(r"([(\[])\s*\n\s*", r"\1", text)
    text = re.sub(r"\s*\n\s*([)\]])", r"\1", text)
    return re.sub(r"\s*\\?\n\s*", " ", text)
