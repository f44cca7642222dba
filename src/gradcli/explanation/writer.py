"""The texts that one sweep over a graph carries: what has reached a value, and what an operation hands on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli.engine.graph import LARGEST_ORIGIN, Graph, Node, Operation, Origin
from gradcli.formulas.expression import Expression, number
from gradcli.formulas.reading import read_expression
from gradcli.formulas.recorder import Unwritable, Written, write
from gradcli.formulas.texts import ATOM, MOST_CONSTANTS, Texts, TooLarge
from gradcli.formulas.vjps import called, plus, undo_broadcast, write_vjp
from gradcli.ops.declare import Array, Op

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


def start_of(seed: Array) -> Arrived:
    """Return what the output starts with."""
    return Arrived(write("v", seed))


def plus_arrived(left: Arrived, right: Arrived, _own: bool) -> Arrived:
    """Return what two uses of a value hand on together."""
    both = None
    if left.written is not None and right.written is not None:
        both = plus(left.written, right.written)
    if both is not None and len(both.expression.text) > LONGEST:
        both = None
    return Arrived(both, left.uses + right.uses)


@dataclass(frozen=True, slots=True)
class Named:
    """The names of nodes by their indices: those that were ``given``, and all ``names`` with those made since.

    ``spare`` has what nodes are called elsewhere in the answer, ``taken`` every name that stands for anything there.
    ``constants`` are arrays that the program gave a name and that depend on no input; ``places`` has what it calls
    positions, by their texts.
    """

    given: Mapping[int, str]
    spare: Mapping[int, str]
    taken: Collection[str]
    constants: Mapping[str, Array]
    places: Mapping[str, str]
    names: dict[int, str]


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
        if op.listed or type(key) not in (tuple, np.ndarray) or all(self.expression(part) is None for part in parts):
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

    ``kept`` are the engine's cotangents. Nothing is written to the nodes of ``skipped``, the middle of a long program.
    In the lines below the node ``unit``, if any, its cotangent is the number 1.
    ``made`` has the formula of each node that got its name here, ``constants`` the long arrays that did.
    """

    def __init__(
        self,
        graph: Graph,
        nodes: Sequence[Node],
        named: Named,
        kept: Mapping[int, Array],
        choice: int,
        skipped: range,
        unit: int | None,
    ) -> None:
        self.named, self.names = named, named.names
        self.kept, self.choice, self.skipped, self.unwritten = kept, choice, skipped, skipped[1:]
        self.unit = unit
        self._expressions: dict[str, Expression] = {}
        self.lines: dict[int, Arrived] = {}
        self.made: dict[int, str] = {}
        self.constants: dict[str, Array] = {}
        self.texts = ConstantTexts(graph, nodes, named.constants, self.constants)
        self.texts.taken |= {*named.names.values(), *named.taken, *named.constants}
        self._values: dict[int, Written | None] = {}
        self._at: Node | None = None
        self._total = Arrived(None)
        for node in nodes:
            self._describe(node)

    def along(self, node: Operation, k: int, arrived: Arrived) -> Arrived:
        """Return what argument k of a node gets."""
        if self._at is not node:
            self._at, self._total = node, self._arrive(node, arrived)
        if node.index in self.unwritten:
            return Arrived(None)
        found = self._part(node, k, self._total)
        if found is not None and len(found.expression.text) > LINE and not self.choice and self._shorten(node, arrived):
            found = self._part(node, k, self._total)
        return Arrived(found)

    def _part(self, node: Operation, k: int, total: Arrived) -> Written | None:
        g = total.written
        try:
            if g is None:
                return None
            parts = [self._value_of(x) for x in node.arguments]
            part = write_vjp(node, k, g, self._value_of(node), parts, max(self.choice - 1, 0), self.named.places)
            return undo_broadcast(part, np.shape(node.arguments[k].value))
        except Unwritable:
            return None

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
        found, fixed = arrived.written, bool(self.choice) or node.index in self.skipped
        most = LONGEST_TURNED if self._is_turned(node) else SHORT
        if node.index not in self.names and not fixed and (found is None or len(found.expression.text) > most):
            self._name(node)
        if node.index not in self.names:
            return arrived
        self.lines[node.index] = arrived
        value = self.kept[node.index]
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
            if node.op is not None and index not in self.named.given and self._written(node, node.op):
                self.made[index] = self.texts.text[index][0]
            self.texts.text[index] = (self.names.get(index, str(node.name)), ATOM)
            self._note_shape(node)
        elif self._written(node, node.op) and self._is_too_long(node) and self._can_be_named(node):
            self._name(node)

    def _is_too_long(self, node: Node) -> bool:
        return not self.choice and len(self.texts.of(node)) > LONGEST_VALUE

    def _can_be_named(self, node: Node) -> bool:
        """Return whether an answer would say what a new name stands for: with the node's own rule, or elsewhere."""
        return node.index not in self.names and (node.index in self.kept or node.index in self.named.spare)

    def _written(self, node: Node, op: Op) -> bool:
        try:
            text, rank = self.texts.written(node, op)
            self.texts.text[node.index] = called(text, self.named.places), rank
        except (TooLarge, KeyError):
            return False
        return True

    def _name(self, node: Node) -> None:
        """Give a node a name of its own."""
        name = self.named.spare.get(node.index) or self.texts.fresh(None)
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
        """Return an argument as a written array in terms of names; a constant as it is. Raises ``Unwritable``."""
        if not isinstance(x, Node):
            return self._constant(x)
        if x.index not in self._values:
            named, texts = x.index in self.names, self.texts.text
            found = None
            if named:
                found = write(self.names[x.index], x.value)
            elif x.index in texts:
                found = Written(read_expression(texts[x.index][0], self._expressions), x.value, np.shape(x.value))
            self._values[x.index] = found
        written = self._values[x.index]
        if written is None:
            raise Unwritable("a value has no text")
        return written

    def _constant(self, x: Any) -> Any:
        """Return a constant as it is, or in names; a long one that the program does not name gets a name."""
        if not isinstance(x, np.ndarray) or not x.ndim:
            return x
        text = self.texts.expression(x)
        if text is None:
            return x
        return Written(read_expression(text[0], {})._replace(shape=x.shape), x, x.shape)
