"""What reverse mode did, a line for each value that has a name: the rules that the engine applied, as they are written.

The sweep of ``engine/reverse.py`` runs once more, over texts: an operation hands on the text of its vjp. What has no
name between two values is part of a line while that stays short, and gets a name beyond.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradcli.engine.graph import Graph, Input, Node, Operation, reaches
from gradcli.engine.reverse import accumulate, cotangents
from gradcli.explanation.explained import Rule
from gradcli.explanation.rereading import Reader
from gradcli.formulas.expression import ATOM, Expression
from gradcli.formulas.reading import read_expression
from gradcli.formulas.recorder import Unwritable, Written, lift, write
from gradcli.formulas.texts import Texts, TooLarge
from gradcli.formulas.vjps import plus, undo_broadcast, write_vjp
from gradcli.ops.declare import Array

LONG = 44
"""Characters of a cotangent beyond which its value gets a name."""
LONGEST = 2_000
"""Characters of a line beyond which its value stands alone."""
CHOICES = 3
"""Ways to write a rule: beyond, there is none that is another."""
ROUNDING = 1e-9
"""How far the number of a text may be from the engine's, relative to that."""
UNITS = 64 * 2.0**-52
"""How far it may be relative to the sizes of the terms that are added up."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """What has reached a value on the way back: the text, None where there is none, from so many uses.

    ``size`` is that of the terms that the number is a sum of.
    """

    written: Written | None
    size: Array
    uses: int = 1


@dataclass
class Writer:
    """One sweep over texts, in which every rule is written by ``choice``.

    ``names`` has the name of each node that has one; nodes that a line cannot hold get theirs, which ``made`` has with
    their formulas. ``kept`` are the engine's cotangents.
    """

    texts: Texts
    names: dict[int, str]
    kept: Mapping[int, Array]
    choice: int
    made: dict[str, str | None] = field(default_factory=dict)
    lines: dict[int, Arrived] = field(default_factory=dict)
    values: dict[int, Written | None] = field(default_factory=dict)
    at: Node | None = None
    total: Arrived | None = None

    def along(self, node: Operation, k: int, arrived: Arrived) -> Arrived | None:
        """Return what argument k of a node gets."""
        if self.at is not node:
            self.at, self.total = node, self.arrive(node, arrived)
        assert self.total is not None  # noqa: S101
        g, argument = self.total, node.arguments[k]
        try:
            parts = [self.value_of(x) for x in node.arguments]
            if g.written is None:
                raise Unwritable(node.op.name)
            part = write_vjp(node, k, g.written, self.value_of(node), parts, self.choice)
            found = undo_broadcast(part, np.shape(argument.value))
        except Unwritable:
            found = None
        return Arrived(found, sizes_of(node, k, g.size))

    def arrive(self, node: Node, arrived: Arrived) -> Arrived:
        """Return what stands for the cotangent of a node: its name where it has one, or needs one."""
        found = arrived.written
        if node.index not in self.names and (found is None or len(found.expression.text) > LONG):
            self.name(node)
        if node.index not in self.names:
            return arrived
        self.lines[node.index] = arrived
        value = self.kept[node.index]
        return Arrived(write(f"{self.names[node.index]}.grad", value), np.abs(value))

    def name(self, node: Node) -> None:
        """Give a node a name of its own."""
        before = self.texts.text.get(node.index)
        name = self.texts.name(node) if before is not None else self.texts.fresh(None)
        self.names[node.index] = name
        self.made[name] = self.texts.definitions.get(name)
        self.values.pop(node.index, None)

    def value_of(self, x: Any) -> Any:
        """Return an argument as written array, in terms of names; a constant as it is. Raises ``Unwritable``."""
        if not isinstance(x, Node):
            return x
        if x.index not in self.values:
            self.values[x.index] = self.describe(x)
        found = self.values[x.index]
        if found is None:
            raise Unwritable("a value has no text")
        return found

    def describe(self, node: Node) -> Written | None:
        """Return a value in terms of names."""
        shape = np.shape(node.value)
        if node.index in self.names:
            return write(self.names[node.index], node.value)
        if node.index not in self.texts.text:
            return None
        return Written(read_expression(self.texts.of(node), {}), node.value, shape)


def plus_arrived(left: Arrived, right: Arrived, _own: bool) -> Arrived:
    """Return what two uses of a value hand on together."""
    both = None
    if left.written is not None and right.written is not None:
        both = plus(left.written, right.written)
    return Arrived(both, left.size + right.size, left.uses + right.uses)


def sizes_of(node: Operation, k: int, g: Array) -> Array:
    """Return the sizes of the terms that argument k's part of a cotangent is a sum of.

    A vjp that only moves or multiplies has them by the sizes of what it reads; others are taken as they are.
    """
    values = [getattr(x, "value", x) for x in node.arguments]
    y, vjp = node.value, node.op.vjp(k)
    assert vjp is not None  # noqa: S101
    if node.op.spec is not None:
        values, y = [np.abs(x) for x in values], np.abs(y)
    part = np.abs(vjp(g, y, *values, **node.static))
    shape = np.shape(values[k])
    lead = np.ndim(part) - len(shape)
    if lead > 0:
        part = np.sum(part, axis=tuple(range(lead)))
    axes = tuple(a for a, length in enumerate(shape) if lead >= 0 and length == 1 != np.shape(part)[a])
    return np.broadcast_to(np.sum(part, axis=axes, keepdims=True) if axes else part, shape)


def write_backward(graph: Graph, output: Any, seed: Array, names: Mapping[int, str]) -> list[Rule]:
    """Return a rule for each named value that a cotangent reaches, in the order of the sweep.

    ``names`` has the name of each node that has one, by its index, the output's and the inputs' among them.
    """
    if not isinstance(output, Operation) or not output.active:
        return []
    with np.errstate(all="ignore"):
        kept: dict[int, Any] = {}
        kept |= cotangents(graph, output, seed, kept)
        nodes = [node for node in reaches(output)]
        plain = sweep(graph, output, seed, names, nodes, kept, 0)
        reader = Reader(inputs_of(plain, nodes), kept_by_name(plain, kept))
        rules = []
        others: dict[int, Writer] = {}
        for index, arrived in in_order(plain, nodes):
            text = "v" if index == output.index else confirmed(reader, plain, index, arrived)
            choice = 1
            while text is None and choice < CHOICES:
                if choice not in others:
                    others[choice] = sweep(graph, output, seed, plain.names, nodes, kept, choice)
                other = others[choice].lines.get(index)
                text = None if other is None else confirmed(reader, plain, index, other)
                choice += 1
            name = plain.names[index]
            value = np.asarray(kept[index])
            rules.append(Rule(name, text, value, arrived.uses, isinstance(graph.nodes[index], Input), plain.made.get(name)))
    return rules


def sweep(
    graph: Graph,
    output: Operation,
    seed: Array,
    names: Mapping[int, str],
    nodes: list[Node],
    kept: Mapping[int, Array],
    choice: int,
) -> Writer:
    """Run the sweep over texts."""
    writer = Writer(describe(graph, nodes, names), dict(names), kept, choice)
    start = Arrived(write("v", np.asarray(seed)[()]), np.abs(seed))
    active = [node for node in reversed(nodes) if node.active]
    for index, arrived in accumulate(output, start, active, writer.along, plus_arrived).items():
        writer.lines[index] = arrived
    return writer


def describe(graph: Graph, nodes: list[Node], names: Mapping[int, str]) -> Texts:
    """Return the texts of all values, in terms of names."""
    texts = Texts(graph, nodes)
    texts.taken |= set(names.values())
    for node in nodes:
        if node.index in names:
            texts.text[node.index] = (names[node.index], ATOM)
            continue
        try:
            texts.text[node.index] = texts._written(node, node.op)
        except (TooLarge, KeyError):
            continue
    return texts


def confirmed(reader: Reader, writer: Writer, index: int, arrived: Arrived) -> str | None:
    """Return the text of a line if the language finds the engine's number in it."""
    if arrived.written is None or len(arrived.written.expression.text) > LONGEST:
        return None
    text = arrived.written.expression.text
    found, wanted = reader.evaluate(text), np.asarray(writer.kept[index])
    return text if found is not None and is_same(found, wanted, np.asarray(arrived.size)) else None


def is_same(found: Array, wanted: Array, size: Array) -> bool:
    """Return whether a number is the engine's, after broadcasting; where that is not finite, nor may it be."""
    try:
        got = np.broadcast_to(found, wanted.shape)
    except ValueError:
        return False
    near = np.abs(got - wanted) <= ROUNDING * np.abs(wanted) + UNITS * np.where(np.isfinite(size), size, 0.0)
    finite = np.isfinite(wanted)
    return bool(np.all(np.where(finite, near, ~np.isfinite(got))))


def inputs_of(writer: Writer, nodes: list[Node]) -> dict[str, Array]:
    """Return the values of all names."""
    return {writer.names[node.index]: node.value for node in nodes if node.index in writer.names}


def kept_by_name(writer: Writer, kept: Mapping[int, Array]) -> dict[str, Array]:
    """Return the cotangents of all names."""
    return {name: kept[index] for index, name in writer.names.items() if index in kept}


def in_order(writer: Writer, nodes: list[Node]) -> list[tuple[int, Arrived]]:
    """Return the lines in the order of the sweep: an input's as soon as nothing more is added to it."""
    first: dict[int, int] = {}
    for node in nodes:
        if isinstance(node, Operation):
            for k in node.links:
                first.setdefault(node.arguments[k].index, node.index)
    named = sorted((index for index in writer.lines if index not in first or index in writer.made), reverse=True)
    del named
    inner = sorted((i for i in writer.lines if isinstance_operation(nodes, i)), reverse=True)
    leaves = sorted(i for i in writer.lines if i not in set(inner))
    order: list[int] = []
    for position, index in enumerate(inner):
        order.append(index)
        below = inner[position + 1] if position + 1 < len(inner) else -1
        order += [leaf for leaf in leaves if below < first[leaf] <= index]
    return [(index, writer.lines[index]) for index in order]


def isinstance_operation(nodes: list[Node], index: int) -> bool:
    return any(node.index == index and isinstance(node, Operation) for node in nodes)
