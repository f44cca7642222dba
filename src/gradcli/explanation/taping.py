"""The recorded graph with all that the sweep back did: the records of ``tape.py`` for one run.

How each derivative is found, rule by rule: lines read off the tape.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES, Graph, Input, Node, Operation, reaches
from gradcli.engine.reverse import cotangents
from gradcli.explanation.backward import CHOICES, NO_TERMS, ConstantTexts, is_same, seed_text, sizes_of
from gradcli.explanation.parts import Sent, Step, Tape, Taped
from gradcli.explanation.rereading import Reader, put_in
from gradcli.formulas.expression import read_expression
from gradcli.formulas.texts import ATOM, LONG, TooLarge
from gradcli.formulas.vjps import Unwritable, Written, lift, undo_broadcast, write, write_vjp
from gradcli.ops.declare import Array, rule_of, saved, value_of
from gradcli.ops.values import unbroadcast
from gradcli.ops.writing import number_text

MOST_ROWS = 200
"""Operations that are told; of a longer program the first and the last ones."""


@dataclass(frozen=True)
class Recorded:
    """One run as the tape tells it.

    ``given`` are the names that nodes have, by their indices, ``taken`` those that no other may get. ``constants`` are
    the long arrays that have a name. ``spare`` are the names of nodes that stand as texts where these have at
    most ``longest`` characters.
    """

    graph: Graph
    output: Any
    seed: Array
    given: Mapping[int, str]
    taken: Collection[str]
    constants: Mapping[str, Array]
    spare: Mapping[int, str] = field(default_factory=dict)
    longest: int = LONG
    names: dict[int, str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", name_all(self.nodes, {**self.spare, **self.given}, self.taken))

    @cached_property
    def nodes(self) -> list[Node]:
        """The nodes that the output depends on, in the order in which they ran; inputs that it does not need too."""
        reached = reaches(self.output) if isinstance(self.output, Operation) else []
        found = {node.index: node for node in [*self.graph.inputs.values(), *reached]}
        return [found[index] for index in sorted(found)]

    @cached_property
    def kept(self) -> dict[int, Any]:
        """The engine's cotangents by node index; 0 for a differentiated input that nothing reaches."""
        kept: dict[int, Any] = {node.index: np.zeros(node.shape) for node in self.nodes if is_leaf(node)}
        if not (isinstance(self.output, Node) and self.output.active):
            return kept
        on_the_way: dict[int, Any] = {}
        found = cotangents(self.graph, self.output, self.seed, on_the_way)
        return kept | on_the_way | found

    @cached_property
    def texts(self) -> ConstantTexts:
        """The text of every node: in the program's names while that is short, else in those of its arguments."""
        texts = ConstantTexts(self.graph, self.nodes, self.constants)
        for node in self.nodes:
            texts.text[node.index] = (self.names[node.index], ATOM)
            if isinstance(node, Operation) and node.index not in self.given:
                written = self.written(texts, node)
                if written is not None and len(written) <= self.longest:
                    texts.text[node.index] = texts.written(node, node.op)
        return texts

    def is_named(self, node: Node) -> bool:
        """Return whether a name stands for a node in the texts of others."""
        return self.texts.of(node) == self.names[node.index]

    @staticmethod
    def written(texts: ConstantTexts, node: Operation) -> str | None:
        """Return an operation in the texts of its arguments; None where the language has none for it."""
        try:
            return texts.written(node, node.op)[0]
        except (TooLarge, KeyError):
            return None

    @cached_property
    def reader(self) -> Reader:
        """What evaluates texts at this point."""
        values = {self.names[node.index]: node.value for node in self.nodes}
        named = {self.names[index]: value for index, value in self.kept.items()}
        return Reader({**self.constants, **values}, named)


def is_leaf(node: Node) -> bool:
    """Return whether a node is an input that is differentiated."""
    return isinstance(node, Input) and node.active


def name_all(nodes: Iterable[Node], given: Mapping[int, str], taken: Collection[str]) -> dict[int, str]:
    """Return a name for every node: the one that it has, or the next ``h`` that is free."""
    names, used, number = {}, {*taken, *given.values()}, 0
    for node in nodes:
        name = given.get(node.index) or node.name
        while name is None or (name in used and node.index not in given and node.name is None):
            name, number = f"h{number}", number + 1
        names[node.index] = name
    return names


def record_tape(run: Recorded) -> Tape:
    """Return the tape of a run."""
    inner = [node for node in reversed(run.nodes) if isinstance(node, Operation)]
    half = MOST_ROWS // 2
    middle = range(half, len(inner) - half) if len(inner) > MOST_ROWS else range(0)
    uses = count_uses(inner, run)
    told: list[Taped] = []
    arrived: set[int] = set()
    with np.errstate(all="ignore"):
        for place, node in enumerate(inner):
            if place in middle:
                arrived |= {node.arguments[k].index for k in node.links if node.index in run.kept}
                continue
            told.append(operation_row(node, run, arrived, uses))
    told += [input_row(node, run, uses) for node in run.nodes if isinstance(node, Input)]
    output = run.names[run.output.index] if isinstance(run.output, Node) and run.output.active else None
    return Tape(told, output, len(middle), half if middle else 0)


def count_uses(nodes: Sequence[Operation], run: Recorded) -> dict[int, int]:
    """Return how many parts reach each node."""
    uses: dict[int, int] = {}
    for node in nodes:
        for k in node.links if node.index in run.kept else ():
            index = node.arguments[k].index
            uses[index] = uses.get(index, 0) + 1
    return uses


def operation_row(node: Operation, run: Recorded, arrived: set[int], uses: Mapping[int, int]) -> Taped:
    """Return the row of an operation; what it sends on is noted as ``arrived``."""
    role = "output" if node is run.output else "inner" if node.active else "constant"
    sent = []
    if node.index in run.kept:
        for k in node.links:
            sent.append(send(node, k, run, arrived))
            arrived.add(node.arguments[k].index)
    return Taped(
        run.names[node.index],
        role,
        true_operation(node, run),
        node.op.name,
        np.asarray(node.value),
        tuple(dict.fromkeys(kept_texts(node, run))) if node.active else (),
        cotangent_of(node, run),
        uses.get(node.index, int(node is run.output and node.active)),
        tuple(sent),
        run.texts.of(node),
    )


def true_operation(node: Operation, run: Recorded) -> str | None:
    """Return an operation as text; None where the language has none, or finds another value in it."""
    text = run.written(run.texts, node)
    is_mask = np.asarray(node.value).dtype == bool  # which is no output of a program
    found = None if text is None else run.reader.evaluate(f"where({text}, 1, 0)" if is_mask else text)
    told = found is not None and is_same(found.astype(np.float64), np.asarray(node.value, dtype=np.float64))
    return text if told else None


def input_row(node: Input, run: Recorded, uses: Mapping[int, int]) -> Taped:
    """Return the row of an input."""
    role = "leaf" if node.active else "constant"
    value, cotangent, name = np.asarray(node.value), cotangent_of(node, run), run.names[node.index]
    return Taped(name, role, None, "", value, (), cotangent, uses.get(node.index, int(node is run.output)), (), name)


def cotangent_of(node: Node, run: Recorded) -> Array | None:
    """Return what reaches a node, None where nothing does."""
    return np.asarray(run.kept[node.index]) if node.index in run.kept else None


def kept_texts(node: Operation, run: Recorded) -> Iterable[str]:
    """Yield what the vjps of an operation read on the way back: arrays among its arguments, and its own value."""
    reads = saved(node.op, tuple(k in node.links for k in range(len(node.arguments))))
    for argument, read in zip(node.arguments, reads.arguments, strict=True):
        if read and type(argument) in NODES:
            yield run.texts.of(argument)
        elif read and np.ndim(argument):
            yield named_constant(argument, run)
    if reads.output:
        yield run.names[node.index]


def named_constant(value: Array, run: Recorded) -> str:
    """Return what to call an array that depends on no input."""
    return next((name for name, held in run.constants.items() if held is value), f"a constant {np.shape(value)}")


def send(node: Operation, k: int, run: Recorded, arrived: Collection[int]) -> Sent:
    """Return what an operation sends to argument ``k``."""
    target = node.arguments[k]
    g, values = run.kept[node.index], [value_of(argument) for argument in node.arguments]
    part = node.op.vjp_along(k)(g, node.value, *values, **node.static)
    value = np.asarray(unbroadcast(np.asarray(part)[()], target.shape))
    local, slope = slope_of(node, k, run, values)
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


def slope_of(node: Operation, k: int, run: Recorded, values: Sequence[Any]) -> tuple[str | None, Array | None]:
    """Return the derivative of an operation that works entry by entry, as text and numbers; None for any other.

    It is what argument ``k`` gets of a cotangent of ones, before any broadcasting is undone.
    """
    if node.op.formula is None:
        return None, None
    ones = np.ones(node.shape)[()]
    slope = np.asarray(node.op.vjp_along(k)(ones, node.value, *values, **node.static))
    return true_text(node, k, run, lift(ones), slope, broadcast=True), slope


def true_text(node: Operation, k: int, run: Recorded, g: Written, value: Array, broadcast: bool = False) -> str | None:
    """Return what argument ``k`` gets of the cotangent ``g``, by the plainest text that gives the engine's number.

    ``broadcast`` leaves it in the shape of the operation. None where no text does.
    """
    for choice in range(CHOICES):
        try:
            part = write_vjp(
                node, k, g, written_value(node, run), [written_value(x, run) for x in node.arguments], choice
            )
            text = (part if broadcast else undo_broadcast(part, node.arguments[k].shape)).expression.text
        except Unwritable:
            continue
        found = run.reader.evaluate(text)
        sizes = NO_TERMS if broadcast else sizes_of(node, k, np.abs(g.value))
        if found is not None and is_same(found, value, sizes):
            return text
    return None


def written_value(x: Any, run: Recorded) -> Any:
    """Return a value as a written array; a constant that has no name as it is."""
    if isinstance(x, Node):
        text = run.texts.text[x.index][0]
        return Written(read_expression(text, {}), x.value, np.shape(x.value))
    return next((write(name, held) for name, held in run.constants.items() if held is x), x)


# ---- How each derivative is found, rule by rule: lines read off the tape


def take_steps(tape: Tape) -> list[Step]:
    """Return the lines: the rules of the operations in the order in which they ran, then the chain rule back.

    An operation that does not work entry by entry has no derivative of an entry by its own: the chain rule alone tells
    of it, under the name of its rule.
    """
    reaching = [(row, row.cotangent) for row in tape.rows if row.cotangent is not None]
    rows = [row for row, _ in reaching]
    known = {row.name: row.value for row in tape.rows}
    known |= {f"{row.name}.grad": cotangent for row, cotangent in reaching}
    labels = {row.name: row.label for row in tape.rows}
    reached: dict[str, list[Sent]] = {}
    for row in rows:
        for sent in row.sent:
            reached.setdefault(sent.to, []).append(sent)
    rules = [step for row in reversed(rows) for step in rule_steps(row, labels, known)]
    start = [start_step(row, g, known) for row, g in reaching if row.name == tape.output]
    chain = [chain_step(row, g, reached.get(row.name, []), known) for row, g in reaching if row.name != tape.output]
    return [*rules, *start, *chain]


def rule_steps(row: Taped, labels: Mapping[str, str], known: Mapping[str, Array]) -> Iterator[Step]:
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
            yield Step(row.sent[0].rule, row.label, labels.get(to, to), formula, with_numbers(formula, known), value)


def start_step(row: Taped, g: Array, known: Collection[str]) -> Step:
    """Return what the output begins with, its cotangent ``g``."""
    return Step("start", f"{row.name}.grad", "", seed_text(g, known), None, g)


def chain_step(row: Taped, g: Array, reached: Sequence[Sent], known: Mapping[str, Array]) -> Step:
    """Return how the cotangent ``g`` of a value is found from those of the values that it is used in."""
    formula = joined([sent.text for sent in reached]) if len(reached) == row.uses else None
    rule = "unused" if not row.uses else "sum of uses" if row.uses > 1 else rule_of_use(reached)
    if not row.uses:
        formula = "0"
    return Step(rule, f"{row.name}.grad", "", formula, with_numbers(formula, known), g)


def rule_of_use(reached: Sequence[Sent]) -> str:
    """Return what the way back to a value that is used once is called."""
    return "chain" if not reached or reached[0].local is not None else reached[0].rule


def joined(texts: Sequence[str | None]) -> str | None:
    """Return the sum of texts; None where one is missing."""
    told = [text for text in texts if text is not None]
    if not told or len(told) < len(texts):
        return None
    return told[0] + "".join(f" - {text[1:]}" if is_minus(text) else f" + {text}" for text in told[1:])


def is_minus(text: str) -> bool:
    """Return whether a term is a product or a name with a minus before it, which a sum can take as its own."""
    return text.startswith("-") and not re.search(r" [+-] ", text)


def with_numbers(formula: str | None, known: Mapping[str, Array]) -> str | None:
    """Return a formula with numbers in the place of names; None where there is none, or one is no number."""
    return put_in(formula, known, number_text) or None if formula is not None else None
