"""What reverse mode did, a line for each value that has a name: the rules that the engine applied, written down.

The sweep of ``engine/reverse.py`` runs once more, over texts: an operation hands on the text of its vjp. What lies
without a name between two values is part of a line while that stays short, and gets a name beyond. The language then
evaluates each line, and one that is not the engine's number is not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.engine.graph import LARGEST_ORIGIN, Graph, Input, Node, Operation, Origin, reaches
from gradcli.engine.naming import call_assigned
from gradcli.engine.reverse import accumulate, cotangents
from gradcli.explanation.parts import BackwardPass, Rule
from gradcli.explanation.rereading import Reader
from gradcli.formulas.expression import Expression, number, read_expression
from gradcli.formulas.textbook import in_textbook_form
from gradcli.formulas.texts import ATOM, MOST_CONSTANTS, Texts, TooLarge
from gradcli.formulas.vjps import (
    Unwritable,
    Written,
    noting_answers,
    plus,
    undo_broadcast,
    with_places,
    write,
    write_vjp,
)
from gradcli.language.compiling import Assigned
from gradcli.ops.declare import Array, Op
from gradcli.ops.joining import holds_positions
from gradcli.ops.writing import MOST_PLACES, numbers
from gradcli.records import dataclass, replace

if TYPE_CHECKING:
    from gradcli.explanation.evaluation import Source

SHORT = 44
"""Characters of a cotangent up to which it is part of the lines below it."""
LINE = 64
"""Characters of what one use hands on, beyond which long values in it get names."""
LONGEST_TURNED = 72
"""Characters of the cotangent of a transposed matrix up to which it is part of that of the matrix."""
LONG_VALUE = 12
"""Characters of a value that may stand in a long line as it is."""
LONGEST_VALUE = 120
"""Characters beyond which every value gets a name."""
LONGEST_CONSTANT = 40
"""Characters of what a constant was computed by, up to which that stands for its numbers."""
LONGEST = 8_000
"""Characters of a line beyond which it has no text."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """What has reached a value on the way back, from so many ``uses`` of it; None where it has no text."""

    written: Written | None
    uses: int = 1


def plus_arrived(left: Arrived, right: Arrived, _own: bool) -> Arrived:
    """Return what two uses of a value hand on together."""
    both = None
    if left.written is not None and right.written is not None:
        both = plus(left.written, right.written)
    if both is not None and len(both.expression.text) > LONGEST:
        both = None
    return Arrived(both, left.uses + right.uses)


def handed_on(
    node: Operation,
    k: int,
    g: Written,
    written: Callable[[Any], Any],
    choice: int,
    places: Mapping[str, str] = MappingProxyType({}),
    undo: bool = True,
) -> Written | None:
    """Return what argument k gets of the cotangent ``g`` of a node; None where that has no text.

    ``written`` gives the text of a value, ``choice`` is the way to write the rule. It is in the shape of the argument
    where ``undo`` says so, else in that of the node.
    """
    try:
        part = write_vjp(node, k, g, written(node), [written(x) for x in node.arguments], choice, places)
        return undo_broadcast(part, np.shape(node.arguments[k].value)) if undo else part
    except Unwritable:
        return None


@dataclass(frozen=True, slots=True)
class Sweep:
    """The sweep back of one run: the nodes that the output depends on, and the engine's cotangents by node index.

    ``given`` are the names that values have, ``spare`` those that others get if they need one, ``taken`` those that
    stand for anything elsewhere in the answer; ``constants`` are the arrays that the program gave a name and that
    depend on no input, ``places`` has what it calls positions, by their texts.
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

    def reader(self, values: Mapping[str, Array], names: Mapping[int, str]) -> Reader:
        """Return what evaluates lines, in which ``values`` stand under their names, and cotangents under ``names``."""
        inputs = self.graph.inputs
        positions = {name: inputs[name].value for name in self.places.values() if name in inputs}
        cotangents_of = {name: self.kept[index] for index, name in names.items() if index in self.kept}
        return Reader({**self.constants, **positions, **values}, cotangents_of)


class ConstantTexts(Texts):
    """Texts of values in which a constant array stands under its name, or as it was computed from such while short.

    Those that are too long to be written out get names where ``long``, which has them then, is no None.
    """

    def __init__(
        self, graph: Graph, nodes: Sequence[Node], constants: Mapping[str, Array], long: dict[str, Array] | None = None
    ) -> None:
        super().__init__(graph, nodes)
        self.long = long
        self.named_constants = {id(value): name for name, value in reversed([*constants.items()])}
        self._whole = {
            (value.shape, value.astype(np.float64).tobytes()): name
            for name, value in reversed([*constants.items()])
            if 0 < value.size <= LARGEST_ORIGIN and value.dtype.kind in "bi"
        }
        self._origins = graph.origins or {}
        self._expressions: dict[int, tuple[str, int] | None] = {}

    def argument(self, argument: Any) -> tuple[str, int]:
        """Return the text of an argument and how tightly it binds."""
        return self.expression(argument) or super().argument(argument)

    def expression(self, constant: Any) -> tuple[str, int] | None:
        """Return what stands for a constant array in names of the program, None where no short text does."""
        if type(constant) is not np.ndarray or not constant.ndim:
            return None
        key = id(constant)
        if key in self.named_constants:
            return self.named_constants[key], ATOM
        if key not in self._expressions:
            computed = self._as_computed(self._origins[key]) if key in self._origins else None
            self._expressions[key] = computed or self._as_floats(constant) or self._as_long(constant)
        return self._expressions[key]

    def _as_floats(self, constant: Array) -> tuple[str, int] | None:
        """Return the name of the mask or of the integers that an array of floats was made of, None for none."""
        if constant.dtype != np.float64 or not self._whole:
            return None
        name = self._whole.get((constant.shape, constant.tobytes()))
        return None if name is None or np.all(constant == constant.flat[0]) else (name, ATOM)

    def _as_long(self, constant: Array) -> tuple[str, int] | None:
        """Return a new name for a constant that is too long to be written out, None where it is not, or gets none."""
        if self.long is None or constant.size <= MOST_CONSTANTS or np.all(constant == constant.flat[0]):
            return None
        name = self.fresh("c")
        self.long[name] = constant
        return name, ATOM

    def written(self, node: Node, op: Op) -> tuple[str, int]:
        """Return the text of a node, and how tightly it binds; arrays that it is indexed by stand under their names."""
        key = node.static.get("key")
        parts = key if type(key) is tuple else (key,)
        if (
            op.text.listed
            or type(key) not in (tuple, np.ndarray)
            or all(self.expression(part) is None for part in parts)
        ):
            return super().written(node, op)
        named = [part if (text := self.expression(part)) is None else text[0] for part in parts]
        static = {**node.static, "key": tuple(named) if len(named) > 1 else named[0]}
        return super().written(Operation(node.index, op, node.arguments, static, node.value, ()), op)

    def _as_computed(self, origin: Origin) -> tuple[str, int] | None:
        """Return the operation that gave a constant, where it is short, mentions a name, and is not outdated."""
        value, op, arguments, static = origin
        mentions = any(self.expression(argument) is not None for argument in arguments)
        if mentions and value.size and np.any(value != value.flat[0]):
            again = np.asarray(op.forward(*arguments, **static))  # what it reads may have been written to since
            if again.shape == value.shape and np.array_equal(again, value, equal_nan=True):
                with suppress(TooLarge, KeyError):
                    text = self.written(Operation(-1, op, arguments, static, value, ()), op)
                    if len(text[0]) <= LONGEST_CONSTANT:
                        return text
        return None


class Writer:
    """One sweep over texts, in which every rule is written by ``choice``; the first alone gives values names.

    Nothing is written to the nodes of ``skipped``, the middle of a long program. ``made`` has the formula of each node
    that got its name here, ``constants`` the long arrays that did.
    """

    def __init__(self, swept: Sweep, names: dict[int, str], choice: int, skipped: range) -> None:
        self.swept, self.names, self.choice = swept, names, choice
        self.skipped, self.unwritten = skipped, skipped[1:]
        self.unit = swept.unit
        self._expressions: dict[str, Expression] = {}
        self.lines: dict[int, Arrived] = {}
        self.made: dict[int, str] = {}
        self.constants: dict[str, Array] = {}
        self.texts = ConstantTexts(swept.graph, swept.nodes, swept.constants, self.constants)
        self.texts.taken |= {*names.values(), *swept.taken, *swept.constants}
        self._values: dict[int, Written | None] = {}
        self._at: Node | None = None
        self._total = Arrived(None)
        for node in swept.nodes:
            self._describe(node)

    def along(self, node: Operation, k: int, arrived: Arrived) -> Arrived | None:
        """Return what argument k of a node gets; None where the engine's sweep sent nothing there."""
        if self._at is not node:
            self._at, self._total = node, self._arrive(node, arrived)
        if node.arguments[k].index not in self.swept.kept:
            return None
        if node.index in self.unwritten:
            return Arrived(None)
        part = self._part(node, k)
        if part is not None and len(part.expression.text) > LINE and not self.choice and self._shorten(node, arrived):
            part = self._part(node, k)
        return Arrived(part)

    def _part(self, node: Operation, k: int) -> Written | None:
        g, choice = self._total.written, max(self.choice - 1, 0)
        return None if g is None else handed_on(node, k, g, self._value_of, choice, self.swept.places)

    def _shorten(self, node: Operation, arrived: Arrived) -> bool:
        """Give names to what is long in the rule of a node, and say whether there was any."""
        values = [x for x in node.arguments if isinstance(x, Operation)]
        long = [
            x for x in values if self._can_be_named(x) and len(self.texts.of(x)) > LONG_VALUE and not self._is_turned(x)
        ]
        for x in long:
            self._name(x)
        if node.index not in self.names and (len(self.texts.of(node)) > LONG_VALUE or not long):
            self._name(node)
            self._total = self._arrive(node, arrived)
            return True
        return bool(long)

    def _arrive(self, node: Node, arrived: Arrived) -> Arrived:
        """Return what stands for the cotangent of a node: its name where it has one, or needs one."""
        text, fixed = arrived.written, bool(self.choice) or node.index in self.skipped
        most = LONGEST_TURNED if self._is_turned(node) else SHORT
        if node.index not in self.names and not fixed and (text is None or len(text.expression.text) > most):
            self._name(node)
        if node.index not in self.names:
            return arrived
        self.lines[node.index] = arrived
        value = self.swept.kept[node.index]
        if node.index == self.unit:
            return Arrived(Written(number(1), value, ()))
        return Arrived(write(f"{self.names[node.index]}.grad", value))

    def _is_turned(self, node: Node) -> bool:
        """Return whether a node is a matrix that has a name, transposed."""
        text = self.texts.text.get(node.index, ("", ATOM))[0]
        return text.endswith(".T") and text[:-2].isidentifier()

    def _describe(self, node: Node) -> None:
        index = node.index
        if index in self.unwritten and index not in self.names:
            return
        if node.op is None or index in self.names:
            if node.op is not None and index not in self.swept.given and self._written(node, node.op):
                self.made[index] = self.texts.text[index][0]
            self.texts.text[index] = (self.names.get(index, str(node.name)), ATOM)
            self._note_shape(node)
        elif self._written(node, node.op) and self._is_too_long(node) and self._can_be_named(node):
            self._name(node)

    def _is_too_long(self, node: Node) -> bool:
        return not self.choice and len(self.texts.of(node)) > LONGEST_VALUE

    def _can_be_named(self, node: Node) -> bool:
        """Return whether an answer would say what a new name stands for: with the node's own rule, or elsewhere."""
        return node.index not in self.names and (node.index in self.swept.kept or node.index in self.swept.spare)

    def _written(self, node: Node, op: Op) -> bool:
        try:
            text, rank = self.texts.written(node, op)
            self.texts.text[node.index] = with_places(text, self.swept.places), rank
        except (TooLarge, KeyError):
            return False
        return True

    def _name(self, node: Node) -> None:
        """Give a node a name of its own."""
        name = self.swept.spare.get(node.index) or self.texts.fresh(None)
        self.names[node.index] = name
        if node.index in self.texts.text:
            self.made[node.index] = self.texts.of(node)
        self.texts.text[node.index] = (name, ATOM)
        self._values.pop(node.index, None)
        self._note_shape(node)

    def _note_shape(self, node: Node) -> None:
        """Let texts that are read know the shape of a node by its name."""
        name = self.texts.text[node.index][0]
        self._expressions[name] = Expression(name, shape=node.shape)

    def _value_of(self, x: Any) -> Any:
        """Return an argument as a written array in terms of names; a constant as it is, or in names.

        Raises ``Unwritable``.
        """
        if not isinstance(x, Node):
            text = self.texts.expression(x)
            return x if text is None else Written(read_expression(text[0], {})._replace(shape=x.shape), x, x.shape)
        if x.index not in self._values:
            texts, value = self.texts.text, None
            if x.index in self.names:
                value = write(self.names[x.index], x.value)
            elif x.index in texts:
                value = Written(read_expression(texts[x.index][0], self._expressions), x.value, np.shape(x.value))
            self._values[x.index] = value
        written = self._values[x.index]
        if written is None:
            raise Unwritable("a value has no text")
        return written


def line_sizes(
    output: Operation, seed: Array, nodes: Sequence[Node], kept: Mapping[int, Array], names: Collection[int]
) -> dict[int, Array]:
    """Return the sizes of the terms of each line, by the index of its node.

    ``nodes`` are those of the sweep, in its order; ``kept`` has the engine's cotangents. Those of ``names`` have lines:
    what stands in others for the cotangent of one is its name.
    """
    result: dict[int, Array] = {}

    def along(node: Operation, k: int, sizes: Array) -> Array | None:
        if node.arguments[k].index not in kept:
            return None
        if node.index not in names:
            return sizes_of(node, k, sizes)
        result[node.index] = sizes
        return sizes_of(node, k, np.abs(kept[node.index]))

    return result | accumulate({output.index: np.abs(seed)}, nodes, along, lambda left, right, _own: left + right)


def sizes_of(node: Operation, k: int, g: Array) -> Array:
    """Return the sizes of the terms that argument k's part of a cotangent is a sum of, from those of the cotangent.

    A product of arrays has them by the sizes of its factors; the rules of others are taken as they are.
    """
    values, y = [getattr(x, "value", x) for x in node.arguments], node.value
    if node.op.entries.spec is not None:
        values, y = [np.abs(x) for x in values], np.abs(y)
    part = np.abs(node.op.vjp_along(k)(g, y, *values, **node.static))
    shape = np.shape(values[k])
    lead = np.ndim(part) - len(shape)
    if lead > 0:
        part = np.sum(part, axis=tuple(range(lead)))
    axes = tuple(axis for axis, length in enumerate(shape) if lead >= 0 and length == 1 != np.shape(part)[axis])
    return np.broadcast_to(np.sum(part, axis=axes, keepdims=True) if axes else part, shape)[()]


MOST_OF_V = 8
"""Entries of v that a line shows."""
MOST_LINES = 200
"""Named values whose lines are written; of a longer program the first and the last ones."""
PASSES = 4
"""Sweeps after which no more values get names."""
CHOICES = 4
"""Ways to write a rule: as a textbook has it, in the order of its operations, and others for other numbers."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """The rules of an earlier run, each with the index of its node, and the names that stand in them by node index.

    ``given`` are the names that values had before others got one, ``unit`` is the output's index where v was 1.
    """

    given: Mapping[int, str]
    names: Mapping[int, str]
    rules: list[tuple[int, Rule]]
    unit: int | None


def lines_of(source: Source, shows_one: bool = False) -> BackwardPass:
    """Return the lines of the backward pass of an answer; ``shows_one`` keeps a v of 1 as a factor."""
    run, formulas = source.run, source.formulas
    run.graph.meter.restart()
    names, written = {**source.parts, **run.named}, None if shows_one else formulas.written
    return write_backward(
        run.graph, run.output, run.seed, names, source.spare, formulas.sources.keys(), written, run.kept, shows_one
    )


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
        again = renew(written["backward"], swept) if "backward" in written else None
        return rules_of(swept, written) if again is None else again


def renew(earlier: Earlier, swept: Sweep) -> BackwardPass | None:
    """Return the rules of an earlier run with the numbers of this one; None where one of them is not true here.

    Those that are kept are the plainest texts, and the same for all numbers: where they are true, a sweep finds them.
    """
    nodes, kept = swept.graph.nodes, swept.kept
    if (earlier.given, earlier.unit) != (swept.given, swept.unit):
        return None
    if any(index not in kept for index, _ in earlier.rules):
        return None
    reader = swept.reader({name: nodes[index].value for index, name in earlier.names.items()}, earlier.names)
    rules = []
    for index, rule in earlier.rules:
        if index != swept.output.index and rule.text is not None and not reader.gives(rule.text, kept[index]):
            return None
        rules.append(replace(rule, value=np.asarray(kept[index])))
    return BackwardPass(rules, {}, shapes=reader.shapes, names=earlier.names)


def rules_of(swept: Sweep, written: dict[str, Earlier]) -> BackwardPass:
    """Return the rules, each by the plainest of its texts that gives the engine's number."""
    with noting_answers() as answers:
        plain = write_all(swept)
    cuts = every_path(swept.nodes)
    others = [plain]
    values = {plain.names[node.index]: node.value for node in swept.nodes if node.index in plain.names}
    reader = swept.reader({**plain.constants, **values}, plain.names)
    bases = {node.index: name for name, node in reversed(swept.graph.bindings) if node is not None}
    sizes = cache(lambda: line_sizes(swept.output, swept.seed, swept.active, swept.kept, plain.names))

    def text_of(index: int) -> str | None:
        """Return the plainest text of a line that is true; ``others`` grows where the first was not."""
        for choice in range(CHOICES):
            if choice == len(others):
                others.append(run(swept, plain.names, choice))
            arrived = others[choice].lines.get(index)
            if arrived is not None and arrived.written is not None:
                text, wanted = with_places(arrived.written.expression.text, swept.places), swept.kept[index]
                if reader.gives(text, wanted) or reader.gives(text, wanted, sizes()[index]):
                    return text
            if plain.lines[index].written is None:
                return None
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


def seed_text(seed: Array, names: Collection[str]) -> str | None:
    """Return what the line of the output says: v, or its numbers where the program has a value of that name."""
    if "v" not in names:
        return "v"
    return str(np.asarray(seed).tolist()) if seed.size <= MOST_OF_V else None


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
    with in_textbook_form() if choice == 0 else nullcontext():
        writer = Writer(swept, dict(names), choice, skipped)
        start = Arrived(write("v", swept.seed))
        arrived = accumulate({swept.output.index: start}, swept.active, writer.along, plus_arrived)
    writer.lines |= arrived
    return writer


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
