"""Text in gradcli's language: constants as people write them, nodes of the graph, and names for long ones."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.engine.graph import Graph, Node
from gradcli.engine.naming import numbered, place_text, taken_names
from gradcli.formulas.expression import known_constants, number_name
from gradcli.ops import RESERVED
from gradcli.ops.declare import Op, op_name, value_of
from gradcli.ops.links import At, listed
from gradcli.ops.writing import Call, number_text
from gradcli.records import dataclass

if TYPE_CHECKING:
    from gradcli.formulas.printing import LanguagePrinter, Order

LONG = 48
"""Characters beyond which a node's text gives way to a name."""

MOST_CONSTANTS = 256
"""Entries of a constant array up to which it is written out."""
ATOM, PRODUCT = 100, 60
"""How tightly a name binds, and ``2*pi``."""


def array_text(value: Any) -> str:
    """Return an array of constants as nested lists."""
    if np.ndim(value) == 0:
        return str(bool(value)) if getattr(value, "dtype", None) == np.bool_ else number_text(value)
    return f"[{', '.join(array_text(item) for item in value)}]"


class TooLarge(Exception):
    """A program holds a constant array that is too large to be written out in a formula."""


def constant_text(value: Any) -> str:
    """Return a constant: a large one by the call that makes it; raises ``TooLarge`` where there is none."""
    if np.size(value) <= MOST_CONSTANTS:
        return array_text(value)
    first = np.ravel(value)[0]
    if np.all(value == first) and np.all(np.signbit(value) == np.signbit(first)):
        return f"full({np.shape(value)}, {number_text(first)})"
    raise TooLarge


@dataclass(frozen=True, slots=True)
class Source:
    """Where the numbers of a name come from: the value of a node, the Jacobian by it in ``shape``, or ``constant``."""

    node: int = -1
    shape: tuple[int, ...] | None = None
    constant: Any = None


class Texts:
    """The text of every node, and the definitions of those that got a name.

    A node that the user's program calls by a variable keeps that name where it needs one; others are ``h0, h1 …``,
    which ``made`` lists; ``names_inner`` says whether it calls any but the output.
    """

    def __init__(self, graph: Graph, nodes: Iterable[Node]) -> None:
        wanted = {node.index for node in nodes if node.op is not None}
        words = set(RESERVED) | {"e", "pi"}
        called = [(name, node) for name, node in numbered(graph) if node.index in wanted and name not in words]
        self._own: dict[int, str] = {node.index: name for name, node in reversed(called)}
        self.taken = words | taken_names(graph)
        self.definitions: dict[str, str] = {}
        self.names: dict[int, str] = {}
        self.named: dict[str, Source] = {}
        self.text: dict[int, tuple[str, int]] = {}
        self.constants: dict[str, str] = {}
        self.made: list[str] = []
        self.names_inner = bool(self._own)
        self.graph = graph
        self._next = 0

    @cached_property
    def printer(self) -> LanguagePrinter:
        """What writes formulas in the order of the program."""
        from gradcli.formulas.printing import LanguagePrinter, Order, names_in_order  # texts of arrays need no sympy

        return LanguagePrinter(Order(names_in_order(self.graph)))

    @property
    def order(self) -> Order:
        """The order of the program."""
        return self.printer.program

    def own_name(self, node: Node) -> str | None:
        """Return what the user's program calls a node, with a number where it calls several so."""
        return self._own.get(node.index)

    def adopt(self, node: Node, name: str) -> None:
        """Let a node of an op without a name of the program's go by one, unless that is taken."""
        self.names_inner = any(index != node.index for index in self._own)
        if node.op is not None and node.index not in self._own and name not in self.taken:
            self._own[node.index] = name
            self.taken.add(name)

    def name(self, node: Node, wanted: str | None = None) -> str:
        """Return the name of an op's node; without one it gets the program's own, ``wanted``, or the next ``h``."""
        if node.index not in self.names:
            name = self._own.get(node.index) or self.fresh(wanted)
            self.names[node.index] = name
            self.named[name] = Source(node.index)
            self.definitions[name] = self.text[node.index][0]
            self.text[node.index] = (name, ATOM)
        return self.names[node.index]

    def constant(self, value: Any) -> str:
        """Return the name of a constant array that is too long to stand inside a formula, the same for equal ones."""
        text = constant_text(value)
        if text not in self.constants:
            name = self.fresh("c")
            self.constants[text] = name
            self.named[name] = Source(constant=value)
            self.definitions[name] = text
        return self.constants[text]

    def fresh(self, wanted: str | None) -> str:
        """Return a name that nothing else has, ``wanted`` itself if it is free."""
        name = wanted or ""
        if not wanted or name in self.taken:
            while f"h{self._next}" in self.taken:
                self._next += 1
            name = f"h{self._next}"
            self.made.append(name)
        self.taken.add(name)
        return name

    def of(self, node: Node) -> str:
        """Return the text of a node."""
        return self.text[node.index][0]

    def element(self, node: Node, position: int) -> str:
        """Return the text of one entry of a node, in brackets where an operator might take a part of it."""
        return self.tight(node) + place_text(position, node.shape)

    def describe(self, node: Node, wanted: str | None = None) -> None:
        """Work out the text of a node whose arguments have theirs; where that is long it gets a name, as ``name``."""
        if node.op is None:
            self.text[node.index] = (str(node.name), ATOM)
            return
        self.text[node.index] = self.written(node, node.op)
        if len(self.text[node.index][0]) > LONG:
            self.name(node, wanted)

    def argument(self, argument: Any) -> tuple[str, int]:
        """Return the text of an argument and how tightly it binds."""
        if isinstance(argument, Node):
            return self.text[argument.index]
        if np.ndim(argument) == 0 and float(argument) in known_constants():
            text = number_name(float(argument))
            return text, (ATOM if text.isidentifier() or is_call(text) else PRODUCT)
        text = constant_text(argument)
        return text, (75 if text.startswith("-") else ATOM)

    def tight(self, argument: Any) -> str:
        """Return the text of an argument as it stands before an index or beside any operator."""
        return self._tight(self.argument(argument))

    def written(self, node: Node, op: Op) -> tuple[str, int]:
        """Return the text of a node whose arguments have theirs, and how tightly it binds."""
        if op.text.listed:
            return self._listed(node, op), ATOM
        parts = [self.argument(argument) for argument in node.arguments]
        if op.text.template and op.text.precedence < ATOM:
            return self._infix(op.text.template, op, parts), op.text.precedence
        call = Call(
            op_name(op, node.static),
            [text for text, _ in parts],
            [f"({text})" if text.isdecimal() else self._tight((text, rank)) for text, rank in parts],
            node.static,
            op.text.defaults,
            op.text.words,
            np.ndim(value_of(node.arguments[0])),
        )
        return clipped(op.text.write(call)), ATOM

    @staticmethod
    def _tight(part: tuple[str, int]) -> str:
        return part[0] if part[1] >= ATOM else f"({part[0]})"

    @staticmethod
    def _infix(text: str, op: Op, parts: list[tuple[str, int]]) -> str:
        shown = []
        for k, (part, rank) in enumerate(parts):
            tight = rank > op.text.precedence or (
                rank == op.text.precedence and (k == 0) != op.text.right and op.text.precedence > 50
            )
            shown.append(part if tight else f"({part})")
        return text.format(*shown)

    def _listed(self, node: Node, op: Op) -> str:
        """Write an indexed assignment, or its like, as the list of its entries."""
        values = tuple(value_of(argument) for argument in node.arguments)
        parts: list[list[str]] = [[] for _ in range(int(np.size(node.value)))]
        for k, argument in enumerate(node.arguments):
            [links] = map(listed, op.local_jacobian(At(k, node.value, values, node.static)))
            for row, column in zip(links.rows, links.columns, strict=True):
                parts[row].append(self._entry(argument, int(column)))
        return nested([" + ".join(part) or "0" for part in parts], np.shape(node.value))

    def _entry(self, argument: Any, position: int) -> str:
        if isinstance(argument, Node):
            return self.element(argument, position) if argument.shape else self.of(argument)
        return number_text(np.ravel(argument)[position])


CALLED = re.compile(r"\w+\([^()]*\)")
CLIPPED = "clamp_max(clamp_min("


def is_call(text: str) -> bool:
    """Return whether a text is one call without others in it: ``sqrt(2*pi)``."""
    return CALLED.fullmatch(text) is not None


def clipped(text: str) -> str:
    """Return ``clip(x, 0, 1)`` for ``clamp_max(clamp_min(x, 0), 1)``, of which it is made."""
    if not text.startswith(CLIPPED):
        return text
    depth, end = 1, len(CLIPPED)
    while depth:
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    return f"clip({text[len(CLIPPED) : end - 1]}{text[end:]}"


def nested(parts: list[str], shape: tuple[int, ...]) -> str:
    """Return texts of entries in flat order as nested lists of ``shape``."""
    if not shape:
        return parts[0]
    if len(shape) == 1:
        return f"[{', '.join(parts)}]"
    step = len(parts) // shape[0] if shape[0] else 0
    return f"[{', '.join(nested(parts[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0]))}]"
