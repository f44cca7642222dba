"""Array-level text: what a node of the graph looks like written in gradcli's language, and names for long ones."""

from __future__ import annotations

import math
import string
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli.graph import Graph, Node
from gradcli.naming import numbered, place_text
from gradcli.ops import SPELLINGS
from gradcli.ops.declare import Op, value_of

LONG = 48
"""Characters beyond which a node's text gives way to a name."""

MOST_CONSTANTS = 256
"""Entries of a constant array up to which it is written out."""
ATOM = 100
STATIC_NAMES = {"dims": "dims", "reps": "reps", "k": "diagonal"}
FUNCTION_NAMES = {"clone": "clone", "pick": "pick", "sqrt0": "sqrt"}


def number_text(value: float) -> str:
    """Return a number as short as exact: 3 and not 3.0, but -0.0."""
    value = float(value)
    if value == 0 and math.copysign(1, value) < 0:
        return "-0.0"
    if not math.isfinite(value):
        return f"math.{value}" if value > 0 or math.isnan(value) else f"-math.{-value}"
    if value.is_integer() and -1e15 < value < 1e15:
        return str(int(value))
    return repr(value)


def array_text(value: Any) -> str:
    """Return an array of constants as nested lists."""
    if np.ndim(value) == 0:
        return str(bool(value)) if getattr(value, "dtype", None) == np.bool_ else number_text(value)
    return f"[{', '.join(array_text(item) for item in value)}]"


class TooLarge(Exception):  # noqa: N818
    """A program holds a constant array that is too large to be written out in a formula."""


def constant_text(value: Any) -> str:
    """Return a constant: a large one by the call that makes it; raises ``TooLarge`` where there is none."""
    if np.size(value) <= MOST_CONSTANTS:
        return array_text(value)
    first = np.ravel(value)[0]
    if np.all(value == first) and np.all(np.signbit(value) == np.signbit(first)):
        return f"full({np.shape(value)}, {number_text(first)})"
    raise TooLarge


def index_text(key: Any) -> str:
    """Return an index as it stands between brackets."""
    if isinstance(key, tuple):
        return ",".join(index_text(part) for part in key) + ("," if len(key) == 1 else "")
    if isinstance(key, slice):
        bounds = [key.start, key.stop] + ([] if key.step is None else [key.step])
        return ":".join("" if bound is None else str(bound) for bound in bounds)
    if isinstance(key, np.ndarray):
        return str(key.tolist())
    return "..." if key is Ellipsis else str(key)


@dataclass(frozen=True, slots=True)
class Source:
    """Where the numbers of a name come from: the value of a node, the Jacobian by it in ``shape``, or ``constant``."""

    node: int = -1
    shape: tuple[int, ...] | None = None
    constant: Any = None


class Texts:
    """The text of every node, and the definitions of those that got a name.

    A node that the user's program calls by a variable keeps that name where it needs one; others are ``h0, h1 …``,
    which ``made`` lists.
    """

    def __init__(self, graph: Graph, nodes: Iterable[Node]) -> None:
        wanted = {node.index for node in nodes if node.op is not None}
        words = set(SPELLINGS) | {"e", "pi"}
        own = [(name, node) for name, node in numbered(graph) if node.index in wanted and name not in words]
        self._own: dict[int, str] = {node.index: name for name, node in reversed(own)}
        inputs = {node.name for node in graph.nodes if node.op is None and node.name}
        self.taken = inputs | words | set(self._own.values()) | {name for name, _ in graph.bindings}
        self.definitions: dict[str, str] = {}
        self.names: dict[int, str] = {}
        self.named: dict[str, Source] = {}
        self.text: dict[int, tuple[str, int]] = {}
        self.constants: dict[str, str] = {}
        self.made: list[str] = []
        self._next = 0

    def own_name(self, node: Node) -> str | None:
        """Return what the user's program calls a node, with a number where it calls several so."""
        return self._own.get(node.index)

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
        self.text[node.index] = self._written(node, node.op)
        if len(self.text[node.index][0]) > LONG:
            self.name(node, wanted)

    def argument(self, argument: Any) -> tuple[str, int]:
        """Return the text of an argument and how tightly it binds."""
        if isinstance(argument, Node):
            return self.text[argument.index]
        text = constant_text(argument)
        return text, (75 if text.startswith("-") else ATOM)

    def tight(self, argument: Any) -> str:
        """Return the text of an argument as it stands before an index or beside any operator."""
        return self._tight(self.argument(argument))

    def _written(self, node: Node, op: Op) -> tuple[str, int]:
        parts = [self.argument(argument) for argument in node.arguments]
        if op.text and op.precedence < ATOM:
            return self._infix(op, parts), op.precedence
        texts = [text for text, _ in parts]
        if op.name == "index":
            return f"{self._tight(parts[0])}[{index_text(node.static['key'])}]", ATOM
        if op.name == "detach":
            return f"{self._tight(parts[0])}.detach()", ATOM
        if op.name == "put":
            return self._put(node, op), ATOM
        if op.name == "pick":
            return self._pick(node, texts[0]), ATOM
        return called(op, texts, node.static, np.ndim(getattr(node.arguments[0], "value", node.arguments[0]))), ATOM

    @staticmethod
    def _tight(part: tuple[str, int]) -> str:
        return part[0] if part[1] >= ATOM else f"({part[0]})"

    @staticmethod
    def _infix(op: Op, parts: list[tuple[str, int]]) -> str:
        right_assoc = op.name == "pow"
        shown = []
        for k, (text, rank) in enumerate(parts):
            tight = rank > op.precedence or (rank == op.precedence and (k == 0) != right_assoc and op.precedence > 50)
            shown.append(text if tight else f"({text})")
        assert op.text is not None  # noqa: S101
        return op.text.format(*shown)

    def _put(self, node: Node, op: Op) -> str:
        """Write an indexed assignment as the list of its entries: the language has no expression for it."""
        assert op.local is not None  # noqa: S101
        values = tuple(value_of(argument) for argument in node.arguments)
        parts = [""] * int(np.size(node.value))
        for k, argument in enumerate(node.arguments):
            [links] = op.local(k, node.value, values, node.static)
            for row, column in zip(links.rows, links.columns, strict=True):
                parts[row] = self._entry(argument, int(column))
        return nested(parts, np.shape(node.value))

    def _entry(self, argument: Any, position: int) -> str:
        if isinstance(argument, Node):
            return self.element(argument, position) if argument.shape else self.of(argument)
        return number_text(np.ravel(argument)[position])

    @staticmethod
    def _pick(node: Node, text: str) -> str:
        static = node.static
        if static["kind"] == "sort":
            order = ", descending=True" if static.get("descending") else ""
            return f"sort({text}, dim={static['dim']}{order}).values"
        keep = ", keepdim=True" if static["keepdim"] else ""
        return f"{static['kind']}({text}, dim={static['dim']}{keep}).values"


def nested(parts: list[str], shape: tuple[int, ...]) -> str:
    """Return texts of entries in flat order as nested lists of ``shape``."""
    if not shape:
        return parts[0]
    if len(shape) == 1:
        return f"[{', '.join(parts)}]"
    step = len(parts) // shape[0] if shape[0] else 0
    return f"[{', '.join(nested(parts[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0]))}]"


def called(op: Op, texts: list[str], static: dict[str, Any], ndim: int) -> str:
    """Return a function call in the language."""
    name = FUNCTION_NAMES.get(op.name, op.name)
    match op.name:
        case "permute" if static["dims"] == tuple(reversed(range(len(static["dims"])))):
            return (
                f"({texts[0]}).T"
                if not set(texts[0]) <= set(string.ascii_letters + string.digits + "_[],()")
                else f"{texts[0]}.T"
            )
        case "einsum":
            return f'einsum("{static["spec"]}", {", ".join(texts)})'
        case "stack" if static["dim"] == 0:
            return f"[{', '.join(texts)}]"
        case "stack" | "cat":
            return f"{name}([{', '.join(texts)}], dim={static['dim']})"
        case "bce" | "bce_with_logits":
            return f'{name}({", ".join(texts)}, reduction="none")'
        case "leaky_relu" | "elu":
            return f"{name}({texts[0]}, {number_text(next(iter(static.values())))})"
    options = [f"{key}={static_text(value)}" for key, value in given(static, ndim)]
    return f"{name}({', '.join([*texts, *options])})"


PLAIN = {"p": 2.0, "k": 0, "keepdim": False, "beta": 1.0, "threshold": 20.0, "approximate": "none", "correction": 1.0}
"""What functions take where a plain argument is left out."""


def given(static: dict[str, Any], ndim: int) -> list[tuple[str, Any]]:
    """Return the plain arguments of a call that differ from what the function takes by itself."""
    shown = []
    for key, value in static.items():
        if key in PLAIN and value == PLAIN[key]:
            continue
        if key == "dim" and (value is None or (isinstance(value, tuple) and len(value) == ndim) or (ndim == 1)):
            continue
        single = key == "dim" and isinstance(value, tuple) and len(value) == 1
        shown.append((STATIC_NAMES.get(key, key), value[0] if single else value))
    return shown


def static_text(value: Any) -> str:
    """Return a plain argument as text."""
    if isinstance(value, float):
        return "1e300" if value == float("inf") else number_text(value)
    if isinstance(value, str):
        return f'"{value}"'
    return str(value)
