"""What reverse mode did, a line for each value that has a name: the rules that the engine applied, written down.

The sweep of ``engine/reverse.py`` runs once more, over texts: an operation hands on the text of its vjp. What lies
without a name between two values is part of a line while that stays short, and gets a name beyond. The language then
evaluates each line, and one that is not the engine's number is not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from gradcli.engine.graph import Graph, Input, Node, Operation
from gradcli.engine.naming import call_assigned
from gradcli.engine.reach import reaches
from gradcli.engine.reverse import accumulate, cotangents
from gradcli.explanation.rereading import Reader
from gradcli.explanation.rules import BackwardPass, Rule
from gradcli.explanation.writer import Arrived, Named, Writer, plus_arrived, start_of
from gradcli.formulas.recorder import noting_answers
from gradcli.formulas.textbook import in_textbook_form
from gradcli.formulas.vjps import called
from gradcli.language.trace import Assigned
from gradcli.ops.declare import Array
from gradcli.ops.indexing import holds_positions
from gradcli.ops.putting_back import MOST_PLACES, numbers


def line_sizes(
    output: Operation, seed: Array, nodes: Sequence[Node], kept: Mapping[int, Array], names: Collection[int]
) -> dict[int, Array]:
    """Return the sizes of the terms of each line, by the index of its node.

    ``nodes`` are those of the sweep, in its order; ``kept`` has the engine's cotangents. Those of ``names`` have lines:
    what stands in others for the cotangent of one is its name.
    """
    found: dict[int, Array] = {}

    def along(node: Operation, k: int, sizes: Array) -> Array:
        if node.index not in names:
            return sizes_of(node, k, sizes)
        found[node.index] = sizes
        return sizes_of(node, k, np.abs(kept[node.index]))

    return found | accumulate({output.index: np.abs(seed)}, nodes, along, lambda left, right, _own: left + right)


def sizes_of(node: Operation, k: int, g: Array) -> Array:
    """Return the sizes of the terms that argument k's part of a cotangent is a sum of, from those of the cotangent.

    A product of arrays has them by the sizes of its factors; the rules of others are taken as they are.
    """
    values, y = [getattr(x, "value", x) for x in node.arguments], node.value
    if node.op.spec is not None:
        values, y = [np.abs(x) for x in values], np.abs(y)
    part = np.abs(node.op.vjp_along(k)(g, y, *values, **node.static))
    shape = np.shape(values[k])
    lead = np.ndim(part) - len(shape)
    if lead > 0:
        part = np.sum(part, axis=tuple(range(lead)))
    axes = tuple(axis for axis, length in enumerate(shape) if lead >= 0 and length == 1 != np.shape(part)[axis])
    return np.broadcast_to(np.sum(part, axis=axes, keepdims=True) if axes else part, shape)[()]


MOST_LINES = 200
"""Named values whose lines are written; of a longer program the first and the last ones."""
PASSES = 4
"""Sweeps after which no more values get names."""
CHOICES = 4
"""Ways to write a rule: as a textbook has it, in the order of its operations, and others for other numbers."""
ROUNDING = 1e-9
"""How far the number of a line may be from the engine's, relative to that."""
UNITS = 64 * 2.0**-52
"""How far it may be, relative to the sizes of the terms that are added up."""
NO_TERMS = np.zeros(())


@dataclass(frozen=True, slots=True)
class Sweep:
    """The sweep back of one run: the nodes that the output depends on, and the engine's cotangents by node index.

    ``given`` are the names that values have, ``spare`` those that others get if they need one, ``taken`` those that
    stand for anything elsewhere in the answer; ``constants`` are the arrays that the program gave a name and that
    depend on no input.
    """

    graph: Graph
    output: Operation
    seed: Array
    nodes: Sequence[Node]
    kept: Mapping[int, Array]
    given: Mapping[int, str]
    spare: Mapping[int, str]
    taken: Collection[str]
    constants: Mapping[str, Array]
    places: Mapping[str, str]
    shows_one: bool

    @property
    def unit(self) -> int | None:
        """The index of the output where v is the one number 1, a factor that no line needs.

        None where lines show it all the same, and where the output is one turn's value of a loop's variable: the lines
        of its last turn are those of the others.
        """
        if self.shows_one or self.seed.size != 1 or self.seed != 1:
            return None
        names = [name for name, _ in self.graph.bindings]
        own = next((name for name, node in reversed(self.graph.bindings) if node is self.output), None)
        return None if own is not None and names.count(own) > 1 else self.output.index

    @property
    def active(self) -> list[Node]:
        """The nodes that a cotangent reaches, in the order of the sweep."""
        return [node for node in reversed(self.nodes) if node.active]


@dataclass(frozen=True, slots=True)
class Earlier:
    """The rules of an earlier run, each with the index of its node, and the names that stand in them by node index.

    ``given`` are the names that values had before others got one, ``unit`` is the output's index where v was 1.
    """

    given: Mapping[int, str]
    names: Mapping[int, str]
    rules: list[tuple[int, Rule]]
    unit: int | None


def write_backward(
    graph: Graph,
    output: Any,
    seed: Array,
    names: Mapping[int, str],
    spare: Mapping[int, str] = MappingProxyType({}),
    taken: Collection[str] = (),
    written: dict[str, Earlier] | None = None,
    kept: dict[int, Any] | None = None,
    shows_one: bool = False,
) -> BackwardPass:
    """Return a rule for each named value that a cotangent reaches, in the order of the sweep.

    ``names`` has the name of each node that has one, by its index: those of inputs and of the output are among them.
    ``spare`` has what others are called elsewhere in the answer, if they need a name, ``taken`` all names that stand
    for anything there. ``written`` holds the rules of a run of the same operations, if any: those that are true here
    too are not written again. ``kept`` has the cotangents, by node index, if a sweep for ``seed`` has kept them. A v of
    1 is no factor of the lines, unless one ``shows_one``.
    """
    if not isinstance(output, Operation) or not output.active:
        return BackwardPass([], {})
    if not kept:
        kept = {}
        kept |= cotangents(graph, output, seed, kept)
    written = {} if written is None else written
    constants = constants_of(graph)
    places = names_of_places(graph, constants)
    seed = np.asarray(seed)[()]
    swept = Sweep(graph, output, seed, reaches(output), kept, names, spare, taken, constants, places, shows_one)
    with np.errstate(all="ignore"):
        found = renew(written["backward"], swept) if "backward" in written else None
        return rules_of(swept, written) if found is None else found


def renew(earlier: Earlier, swept: Sweep) -> BackwardPass | None:
    """Return the rules of an earlier run with the numbers of this one; None where one of them is not true here.

    Those that are kept are the plainest texts, and the same for all numbers: where they are true, a sweep finds them.
    """
    nodes, kept = swept.graph.nodes, swept.kept
    if (earlier.given, earlier.unit) != (swept.given, swept.unit):
        return None
    if any(index not in kept for index, _ in earlier.rules):
        return None
    values = {name: nodes[index].value for index, name in earlier.names.items()}
    cotangents_of = {name: kept[index] for index, name in earlier.names.items() if index in kept}
    reader = Reader({**swept.constants, **values_of_places(swept), **values}, cotangents_of)
    rules = []
    for index, rule in earlier.rules:
        wanted = np.asarray(kept[index])
        if index != swept.output.index and rule.text is not None:
            found = reader.evaluate(rule.text)
            if found is None or not is_same(found, wanted):
                return None
        rules.append(replace(rule, value=wanted))
    return BackwardPass(rules, {}, shapes=reader.shapes, names=earlier.names)


def rules_of(swept: Sweep, written: dict[str, Earlier]) -> BackwardPass:
    """Return the rules, each by the plainest of its texts that gives the engine's number."""
    with noting_answers() as answers:
        plain = write_all(swept)
    cuts = every_path(swept.nodes)
    others = [plain]
    reader = reader_of(swept, plain)
    bases = {node.index: name for name, node in reversed(swept.graph.bindings) if node is not None}
    sizes = cache(lambda: line_sizes(swept.output, swept.seed, swept.active, swept.kept, plain.names))

    def text_of(index: int) -> str | None:
        """Return the plainest text of a line that is true; ``others`` grows where the first was not."""
        for choice in range(CHOICES):
            if choice == len(others):
                others.append(run(swept, plain.names, choice))
            text = confirmed(reader, others[choice].lines.get(index), index, swept, sizes)
            if text is not None or plain.lines[index].written is None:
                return text
        return None

    start = seed_text(swept.seed, plain.names.values())
    order = in_order(swept.nodes, plain)
    rules = [
        Rule(
            name := plain.names[index],
            (start if index == swept.output.index else None) or text_of(index),
            np.asarray(swept.kept[index]),
            plain.lines[index].uses,
            isinstance(swept.graph.nodes[index], Input),
            bases.get(index, name),
            plain.made.get(index),
            index in cuts,
        )
        for index in order
    ]
    left_out = sum(index in plain.skipped for index in plain.lines) if plain.skipped else 0
    gap = sum(index >= plain.skipped.stop for index in plain.lines) if left_out else 0
    if not (plain.constants or left_out or len(others) > 1 or answers):  # such texts may be others for other numbers
        written["backward"] = Earlier(swept.given, plain.names, list(zip(order, rules, strict=True)), swept.unit)
    return BackwardPass(rules, plain.constants, left_out, gap, reader.shapes, plain.names)


def reader_of(swept: Sweep, plain: Writer) -> Reader:
    """Return what evaluates the lines of a sweep, whose names are those of ``plain``."""
    values = {plain.names[node.index]: node.value for node in swept.nodes if node.index in plain.names}
    cotangents_of = {name: swept.kept[index] for index, name in plain.names.items() if index in swept.kept}
    return Reader({**swept.constants, **plain.constants, **values_of_places(swept), **values}, cotangents_of)


def seed_text(seed: Array, names: Collection[str]) -> str | None:
    """Return what the line of the output says: v, or its numbers where the program has a value of that name."""
    if "v" not in names:
        return "v"
    return str(np.asarray(seed).tolist()) if seed.size <= MOST_OF_V else None


MOST_OF_V = 8
"""Entries of v that a line shows."""


def constants_of(graph: Graph) -> dict[str, Array]:
    """Return the arrays that the program gave a name and that depend on no input."""
    story, called = graph.story or (), call_assigned(graph)
    taken = {*called, *graph.inputs}
    return {name: value for name, value in graph.constants.items() if name not in taken} | {
        called[place]: getattr(value, "doubles", value)
        for record, value, place in story
        if isinstance(value, np.ndarray) and value.ndim and isinstance(record, Assigned) and record.name
    }


def names_of_places(graph: Graph, constants: Mapping[str, Array]) -> dict[str, str]:
    """Return what the program calls positions, such as the classes of a target, by how a list of them is written.

    They are whole numbers that no operation computes with: an index alone takes them.
    """
    computed: set[int] = set()
    for node in reversed(graph.nodes):
        if isinstance(node, Operation) and (id(node) in computed or not holds_positions(node.op)):
            computed.update(map(id, node.arguments))
    arrays = {name: node.value for name, node in graph.inputs.items() if id(node) not in computed}
    arrays |= {name: value for name, value in constants.items() if value.ndim and id(value) not in computed}
    return {
        text: name for name, value in reversed(arrays.items()) if np.ndim(value) < 2 and (text := positions_text(value))
    }


def positions_text(value: Array) -> str:
    """Return whole numbers from 0 on as text, and an empty one for others, or too many."""
    if not 0 < np.size(value) <= MOST_PLACES or np.any(value < 0) or np.any(value != np.floor(value)):
        return ""
    return f"[{numbers(value)}]" if np.ndim(value) else str(int(value))


def values_of_places(swept: Sweep) -> dict[str, Array]:
    """Return the numbers of the inputs that are positions, by name."""
    inputs = swept.graph.inputs
    return {name: inputs[name].value for name in swept.places.values() if name in inputs}


def write_all(swept: Sweep) -> Writer:
    """Return the sweep over texts in which every value that needs a name has one from the start."""
    names = swept.given
    writer = run(swept, names, 0)
    for _ in range(PASSES):
        if len(writer.names) == len(names):
            break
        names = writer.names
        writer = run(swept, names, 0)
    return writer


def every_path(nodes: Sequence[Node]) -> set[int]:
    """Return the nodes that every path to the output runs through: no link leads past them."""
    furthest, found = -1, set()
    ahead = {node.index: node.index for node in nodes}
    for node in nodes:
        if isinstance(node, Operation):
            for k in node.links:
                ahead[node.arguments[k].index] = node.index
    for node in nodes:
        if node.active and furthest <= node.index:
            found.add(node.index)
        if node.active:
            furthest = max(furthest, ahead[node.index])
    return found


def run(swept: Sweep, names: Mapping[int, str], choice: int) -> Writer:
    """Run one sweep over texts."""
    named = [node.index for node in swept.nodes if node.index in names and isinstance(node, Operation) and node.active]
    half = MOST_LINES // 2
    skipped = range(named[half], named[-half]) if len(named) > MOST_LINES else range(0)
    known = Named(swept.given, swept.spare, swept.taken, swept.constants, swept.places, dict(names))
    with in_textbook_form() if choice == 0 else nullcontext():
        writer = Writer(swept.graph, swept.nodes, known, swept.kept, choice, skipped, swept.unit)
        arrived = accumulate({swept.output.index: start_of(swept.seed)}, swept.active, writer.along, plus_arrived)
    writer.lines |= arrived
    return writer


def confirmed(
    reader: Reader,
    arrived: Arrived | None,
    index: int,
    swept: Sweep,
    sizes: Callable[[], dict[int, Array]],
) -> str | None:
    """Return the text of the line of a node if the language finds the engine's number in it.

    ``sizes`` gives those of the terms that each line adds up: few lines need them.
    """
    if arrived is None or arrived.written is None:
        return None
    text, wanted = called(arrived.written.expression.text, swept.places), np.asarray(swept.kept[index])
    found = reader.evaluate(text)
    true = found is not None and (is_same(found, wanted) or is_same(found, wanted, sizes()[index]))
    return text if true else None


def is_same(found: Array, wanted: Array, sizes: Array = NO_TERMS) -> bool:
    """Return whether a number is the engine's, after broadcasting; where that is not finite, nor may it be.

    ``sizes`` are those of the terms that it is a sum of.
    """
    try:
        got = found if found.shape == wanted.shape else np.broadcast_to(found, wanted.shape)
    except ValueError:
        return False
    with np.errstate(invalid="ignore"):  # inf - inf, where the second look below counts
        near = np.abs(got - wanted) <= ROUNDING * np.abs(wanted) + UNITS * np.where(np.isfinite(sizes), sizes, 0.0)
    return bool(np.where(np.isfinite(wanted), near, ~np.isfinite(got)).all())


def in_order(nodes: Sequence[Node], writer: Writer) -> list[int]:
    """Return the lines in the order of the sweep: an input's follows as soon as nothing more is added to it."""
    first_use: dict[int, int] = {}
    for node in nodes:
        if isinstance(node, Operation):
            for k in node.links:
                first_use.setdefault(node.arguments[k].index, node.index)
    inner = [node.index for node in reversed(nodes) if isinstance(node, Operation) and node.index in writer.lines]
    leaves = [node.index for node in nodes if isinstance(node, Input) and node.index in writer.lines]
    inner = [index for index in inner if index not in writer.skipped]
    order: list[int] = []
    for index, below in zip(inner, [*inner[1:], -1], strict=True):
        order += [index, *(leaf for leaf in leaves if below < first_use[leaf] <= index)]
    return order
