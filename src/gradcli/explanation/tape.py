"""The recorded graph with all that the sweep back did, and how each derivative is found, read off it rule by rule."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES, Input, Node, Operation, reaches
from gradcli.engine.naming import taken_names
from gradcli.explanation.backward import CHOICES, ConstantTexts, constants_of, handed_on, seed_text, sizes_of
from gradcli.explanation.evaluation import Run, Source
from gradcli.explanation.parts import BackwardPass, Sent, Step, Tape, Taped
from gradcli.explanation.rereading import NO_TERMS, Reader, is_same, put_in
from gradcli.formulas.expression import read_expression
from gradcli.formulas.texts import ATOM, LONG, TooLarge
from gradcli.formulas.vjps import Written, lift, write
from gradcli.ops import RESERVED
from gradcli.ops.declare import Array, rule_of, saved, value_of
from gradcli.ops.values import unbroadcast
from gradcli.ops.writing import number_text
from gradcli.records import dataclass, field

MOST_ROWS = 200
"""Operations that have rows; of a longer program the first and the last ones."""


@dataclass(frozen=True)
class Recorded:
    """One run with a name for every node.

    ``given`` are the names that nodes have, by their indices, ``taken`` those that no other may get. ``constants`` are
    the long arrays that have a name. ``spare`` are the names of nodes that stand as texts where these have at
    most ``longest`` characters.
    """

    run: Run
    given: Mapping[int, str]
    taken: Collection[str]
    constants: Mapping[str, Array]
    spare: Mapping[int, str] = field(default_factory=dict)
    longest: int = LONG

    @cached_property
    def names(self) -> dict[int, str]:
        """A name for every node: the one that it has, or the next ``h`` that is free."""
        given = {**self.spare, **self.given}
        names, used, number = {}, {*self.taken, *given.values()}, 0
        for node in self.nodes:
            name = given.get(node.index) or node.name
            while name is None or (name in used and node.index not in given and node.name is None):
                name, number = f"h{number}", number + 1
            names[node.index] = name
        return names

    @cached_property
    def nodes(self) -> list[Node]:
        """The nodes that the output depends on, in the order in which they ran; inputs that it does not need too."""
        reached = reaches(self.run.output) if isinstance(self.run.output, Operation) else []
        by_index = {node.index: node for node in [*self.run.graph.inputs.values(), *reached]}
        return [by_index[index] for index in sorted(by_index)]

    @cached_property
    def kept(self) -> dict[int, Any]:
        """The engine's cotangents by node index; 0 for a differentiated input that nothing reaches."""
        inputs = (node for node in self.nodes if isinstance(node, Input) and node.active)
        return {node.index: np.zeros(node.shape) for node in inputs} | self.run.cotangents()

    @cached_property
    def texts(self) -> ConstantTexts:
        """The text of every node: in the program's names while that is short, else in those of its arguments."""
        texts = ConstantTexts(self.run.graph, self.nodes, self.constants)
        for node in self.nodes:
            texts.text[node.index] = (self.names[node.index], ATOM)
            if isinstance(node, Operation) and node.index not in self.given:
                written = self.written(texts, node)
                if written is not None and len(written[0]) <= self.longest:
                    texts.text[node.index] = written
        return texts

    @staticmethod
    def written(texts: ConstantTexts, node: Operation) -> tuple[str, int] | None:
        """Return an operation in the texts of its arguments; None where the language has none for it."""
        try:
            return texts.written(node, node.op)
        except (TooLarge, KeyError):
            return None

    @cached_property
    def reader(self) -> Reader:
        """What evaluates texts at this point."""
        values = {self.names[node.index]: node.value for node in self.nodes}
        return Reader({**self.constants, **values}, {self.names[index]: value for index, value in self.kept.items()})

    def role(self, node: Node) -> str:
        """Return the role of a node."""
        if isinstance(node, Input):
            return "leaf" if node.active else "constant"
        return "output" if node is self.run.output else "inner" if node.active else "constant"

    def cotangent(self, node: Node) -> Array | None:
        """Return what reaches a node, None where nothing does."""
        return np.asarray(self.kept[node.index]) if node.index in self.kept else None

    def value_text(self, x: Any) -> Any:
        """Return a value as a written array; a constant that has no name as it is."""
        if isinstance(x, Node):
            return Written(read_expression(self.texts.text[x.index][0], {}), x.value, np.shape(x.value))
        return next((write(name, constant) for name, constant in self.constants.items() if constant is x), x)

    def operation(self, node: Operation) -> str | None:
        """Return an operation as text; None where the language has none, or finds another value in it."""
        written = self.written(self.texts, node)
        if written is None:
            return None
        is_mask = np.asarray(node.value).dtype == bool  # which is no output of a program
        found = self.reader.evaluate(f"where({written[0]}, 1, 0)" if is_mask else written[0])
        true = found is not None and is_same(found.astype(np.float64), np.asarray(node.value, dtype=np.float64))
        return written[0] if true else None


def recorded_run(source: Source, back: BackwardPass) -> Recorded:
    """Return the run of an answer with a name for every node, the same as elsewhere in the answer."""
    run = source.run
    run.graph.meter.restart()
    given = {**source.spare, **back.names, **run.named}
    taken = {*taken_names(run.graph), *RESERVED, *source.formulas.sources, *back.names.values()}
    return Recorded(run, given, taken, {**constants_of(run.graph), **back.constants})


def record_tape(run: Recorded) -> Tape:
    """Return the tape of a run."""
    inner = [node for node in reversed(run.nodes) if isinstance(node, Operation)]
    half = MOST_ROWS // 2
    middle = range(half, len(inner) - half) if len(inner) > MOST_ROWS else range(0)
    uses: dict[int, int] = {}
    for node in inner:
        for k in node.links if node.index in run.kept else ():
            uses[node.arguments[k].index] = uses.get(node.arguments[k].index, 0) + 1
    rows: list[Taped] = []
    arrived: set[int] = set()
    with np.errstate(all="ignore"):
        for place, node in enumerate(inner):
            if place in middle:
                arrived |= {node.arguments[k].index for k in node.links if node.index in run.kept}
            else:
                rows.append(row_of(node, run, arrived, uses))
    rows += [row_of(node, run, arrived, uses) for node in run.nodes if isinstance(node, Input)]
    output = run.run.output
    return Tape(rows, run.names[output.index] if run.run.active else None, len(middle), half if middle else 0)


def row_of(node: Node, run: Recorded, arrived: set[int], uses: Mapping[int, int]) -> Taped:
    """Return the row of a node; what an operation sends on is noted as ``arrived``."""
    sent = []
    if isinstance(node, Operation) and node.index in run.kept:
        for k in node.links:
            sent.append(send(node, k, run, arrived))
            arrived.add(node.arguments[k].index)
    begins = node is run.run.output and (node.active or not isinstance(node, Operation))
    return Taped(
        run.names[node.index],
        run.role(node),
        run.operation(node) if isinstance(node, Operation) else None,
        node.op.name if isinstance(node, Operation) else "",
        np.asarray(node.value),
        tuple(dict.fromkeys(kept_texts(node, run))) if isinstance(node, Operation) and node.active else (),
        run.cotangent(node),
        uses.get(node.index, int(begins)),
        tuple(sent),
        run.texts.of(node),
    )


def kept_texts(node: Operation, run: Recorded) -> Iterable[str]:
    """Yield what the vjps of an operation read on the way back: arrays among its arguments, and its own value."""
    reads = saved(node.op, tuple(k in node.links for k in range(len(node.arguments))))
    for argument, read in zip(node.arguments, reads.arguments, strict=True):
        if read and type(argument) in NODES:
            yield run.texts.of(argument)
        elif read and np.ndim(argument):
            named = (name for name, constant in run.constants.items() if constant is argument)
            yield next(named, f"a constant {np.shape(argument)}")
    if reads.output:
        yield run.names[node.index]


def send(node: Operation, k: int, run: Recorded, arrived: Collection[int]) -> Sent:
    """Return what an operation sends to argument ``k``.

    The derivative of one that works entry by entry is what the argument gets of a cotangent of ones, before any
    broadcasting is undone.
    """
    target = node.arguments[k]
    g, values = run.kept[node.index], [value_of(argument) for argument in node.arguments]
    part = node.op.vjp_along(k)(g, node.value, *values, **node.static)
    value = np.asarray(unbroadcast(np.asarray(part)[()], target.shape))
    local, slope = None, None
    if node.op.formula is not None:
        ones = np.ones(node.shape)[()]
        slope = np.asarray(node.op.vjp_along(k)(ones, node.value, *values, **node.static))
        local = true_text(node, k, run, lift(ones), slope, broadcast=True)
    return Sent(
        run.names[target.index],
        rule_of(node.op, node.links),
        true_text(node, k, run, write(f"{run.names[node.index]}.grad", g), value),
        value,
        local,
        slope,
        np.shape(part) if np.shape(part) != target.shape else None,
        target.index in arrived,
    )


def true_text(node: Operation, k: int, run: Recorded, g: Written, value: Array, broadcast: bool = False) -> str | None:
    """Return what argument ``k`` gets of the cotangent ``g``, by the plainest text that gives the engine's number.

    ``broadcast`` leaves it in the shape of the operation. None where no text does.
    """
    for choice in range(CHOICES):
        part = handed_on(node, k, g, run.value_text, choice, undo=not broadcast)
        sizes = NO_TERMS if broadcast or part is None else sizes_of(node, k, np.abs(g.value))
        if part is not None and run.reader.gives(part.expression.text, value, sizes):
            return part.expression.text
    return None


def take_steps(tape: Tape) -> list[Step]:
    """Return the lines: the rules of the operations in the order in which they ran, then the chain rule back.

    An operation that does not work entry by entry has no derivative of an entry by its own: the chain rule alone tells
    of it, under the name of its rule.
    """
    reaching = [(row, row.cotangent) for row in tape.rows if row.cotangent is not None]
    numbers = {row.name: row.value for row in tape.rows}
    numbers |= {f"{row.name}.grad": cotangent for row, cotangent in reaching}
    labels = {row.name: row.label for row in tape.rows}
    reached: dict[str, list[Sent]] = {}
    for row, _ in reaching:
        for sent in row.sent:
            reached.setdefault(sent.to, []).append(sent)
    rules = [step for row, _ in reversed(reaching) for step in rule_steps(row, labels, numbers)]
    start = [
        Step("start", f"{row.name}.grad", "", seed_text(g, numbers), None, g)
        for row, g in reaching
        if row.name == tape.output
    ]
    chain = [chain_step(row, g, reached.get(row.name, []), numbers) for row, g in reaching if row.name != tape.output]
    return [*rules, *start, *chain]


def rule_steps(row: Taped, labels: Mapping[str, str], numbers: Mapping[str, Array]) -> Iterator[Step]:
    """Yield the derivatives of an operation that works entry by entry, by each value that it is of.

    A value that it uses twice has both of its parts in one line.
    """
    for to in dict.fromkeys(sent.to for sent in row.sent):
        parts = [(sent.local, sent.slope) for sent in row.sent if sent.to == to]
        slopes = [slope for _, slope in parts if slope is not None]
        if len(slopes) == len(parts):
            with np.errstate(all="ignore"):
                value = np.asarray(sum(slopes[1:], start=slopes[0]))
            formula = joined([text for text, _ in parts])
            yield Step(row.sent[0].rule, row.label, labels.get(to, to), formula, with_numbers(formula, numbers), value)


def chain_step(row: Taped, g: Array, reached: Sequence[Sent], numbers: Mapping[str, Array]) -> Step:
    """Return how the cotangent ``g`` of a value is found from those of the values that it is used in."""
    formula = joined([sent.text for sent in reached]) if len(reached) == row.uses else None
    rule = "chain" if not reached or reached[0].local is not None else reached[0].rule
    if not row.uses:
        rule, formula = "unused", "0"
    elif row.uses > 1:
        rule = "sum of uses"
    return Step(rule, f"{row.name}.grad", "", formula, with_numbers(formula, numbers), g)


def joined(texts: Sequence[str | None]) -> str | None:
    """Return the sum of texts, a minus before a product as its sign; None where one is missing."""
    terms = [text for text in texts if text is not None]
    if not terms or len(terms) < len(texts):
        return None
    minus = [text.startswith("-") and not re.search(r" [+-] ", text) for text in terms]
    rest = zip(terms[1:], minus[1:], strict=True)
    return terms[0] + "".join(f" - {text[1:]}" if negative else f" + {text}" for text, negative in rest)


def with_numbers(formula: str | None, numbers: Mapping[str, Array]) -> str | None:
    """Return a formula with numbers in the place of names; None where there is none, or one is no number."""
    return put_in(formula, numbers, number_text) or None if formula is not None else None
