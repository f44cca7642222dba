"""What the names of a snippet hold that is no array: functions, layers; and how local names are written."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator, Set
from dataclasses import dataclass, field, replace

from gradcli.language.names import dotted
from gradcli.language.snippets.pieces import Piece


@dataclass(frozen=True, slots=True)
class Closure:
    """A function of the user's: its name (empty for a ``lambda`` without one), its syntax, and where it was made."""

    name: str
    node: ast.FunctionDef | ast.Lambda
    scope: Scope

    @property
    def body(self) -> list[ast.stmt]:
        """Its statements, without a docstring."""
        if isinstance(self.node, ast.Lambda):
            return [ast.copy_location(ast.Return(self.node.body), self.node.body)]
        return self.node.body[1:] if is_docstring(self.node.body[0]) else self.node.body


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer of PyTorch's, as the text round its arguments.

    ``made`` is its constructor; one with weights has its function there, and ``weights`` are their names and options
    behind them. ``parts`` are those of one that applies layers in turn. ``kind`` is the name of its class. One that
    ``writes`` changes what it is given, and ``inplace`` says that the language has a method for that.
    """

    kind: str
    made: str = ""
    weights: tuple[str, ...] = ()
    parts: tuple[Layer, ...] = ()
    inplace: bool = False
    writes: bool = False

    @property
    def opening(self) -> str:
        """What stands before the arguments."""
        return "".join(part.opening for part in reversed(self.parts)) or ("(" if self.inplace else f"{self.made}(")

    @property
    def closing(self) -> str:
        """What stands behind them."""
        own = ").relu_()" if self.inplace else ", ".join(["", *self.weights]) + ")"
        return "".join(part.closing for part in self.parts) or own

    def switched(self, method: str) -> Layer:
        """Return the layer after ``eval()``, or ``train()``."""
        made = self.made if self.weights or self.parts else f"{self.made}.{method}()"
        return replace(self, made=made, parts=tuple(part.switched(method) for part in self.parts))


@dataclass(frozen=True, slots=True)
class Derivative:
    """What ``jax.grad`` and its kind make of a function: the function, and the arguments to differentiate by."""

    function: ast.expr
    scope: Scope
    arguments: tuple[int, ...]
    whole: bool


@dataclass(frozen=True, slots=True)
class Pullback:
    """What ``jax.vjp`` gives beside the value: the output that it pulls back from, and its inputs."""

    output: Piece
    inputs: tuple[str, ...]


Held = Closure | Layer | Derivative | Pullback


@dataclass(slots=True)
class Scope:
    """The names of one function, or of the snippet: what they are written as, and what they hold beside arrays.

    ``levels`` is how many branches and loops the body stands in, ``lists`` are the parameters that are given lists.
    """

    parent: Scope | None = None
    names: dict[str, str] = field(default_factory=dict)
    held: dict[str, Held] = field(default_factory=dict)
    levels: int = 0
    lists: frozenset[str] = frozenset()

    def written(self, name: str) -> str | None:
        """Return what a name is written as; None for a name that stays."""
        if name in self.names:
            return self.names[name]
        return self.parent.written(name) if self.parent else None

    def holds(self, name: str) -> Held | None:
        """Return what a name holds that is no array."""
        if name in self.held:
            return self.held[name]
        return None if name in self.names or self.parent is None else self.parent.holds(name)


def names_of_others(nodes: Iterable[ast.AST], lists: Set[str]) -> set[str]:
    """Return the names that statements assign something else than lists."""
    assigned = [
        (target, part.value) for part in parts(nodes) if isinstance(part, ast.Assign) for target in part.targets
    ]
    pairs = [pair for target, value in assigned for pair in pairs_in(target, value)]
    return {name.id for name, value in pairs if not is_list(value, lists)}


def pairs_in(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.Name, ast.expr]]:
    """Yield the names in a target with what each is assigned."""
    if isinstance(target, ast.Name):
        yield target, value
    elif isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        for one, part in zip(target.elts, value.elts, strict=False):
            yield from pairs_in(one, part)


def is_list(node: ast.expr, lists: Container[str]) -> bool:
    """Return whether an expression is a list or a tuple of Python's, as the variables ``lists`` are."""
    whole = whole_of(node)
    if whole is not None:
        return is_list(whole, lists)
    if isinstance(node, ast.BinOp):
        return is_list(node.left, lists) or is_list(node.right, lists)
    if isinstance(node, ast.Call):
        return is_own_copy(node)
    return isinstance(node, ast.List | ast.Tuple | ast.ListComp) or (isinstance(node, ast.Name) and node.id in lists)


def whole_of(node: ast.expr) -> ast.expr | None:
    """Return what an expression is a slice or a copy of; None for others."""
    match node:
        case ast.Subscript(value=whole, slice=ast.Slice()):
            return whole
        case ast.Call(func=ast.Attribute(attr="copy", value=whole), args=[]):
            return whole
    return None


def is_own_copy(node: ast.Call) -> bool:
    """Return whether a call is of Python's ``list``, of what is no tuple: as an index those are not the same."""
    if not isinstance(node.func, ast.Name) or node.func.id != "list" or len(node.args) != 1 or node.keywords:
        return False
    of = node.args[0]
    ranged = isinstance(of, ast.Call) and isinstance(of.func, ast.Name) and of.func.id == "range"
    return ranged or isinstance(of, ast.List | ast.ListComp | ast.GeneratorExp)


START = (0, 0)


def position(node: ast.expr | ast.stmt) -> tuple[int, int]:
    """Return where a node begins: the line and the column, which several statements of one line have in order."""
    return node.lineno, node.col_offset


def identifiers(tree: ast.AST) -> Iterator[str]:
    """Yield every name that a syntax tree reads, stores, or has as a parameter."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


def stored(tree: ast.AST) -> Iterator[str]:
    """Yield every name that is assigned in a syntax tree, or is a parameter there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


def is_docstring(node: ast.stmt) -> bool:
    """Return whether a statement is a text by itself."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def parts(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield every node of several syntax trees."""
    for node in nodes:
        yield from ast.walk(node)


def grown(value: ast.AST) -> ast.Name | None:
    """Return the list that an entry is appended to, as snippets write it: L of ``torch.cat([L, [entry]])``."""
    match value:
        case ast.Call(func=func, args=[ast.List(elts=[ast.Name() as name, ast.List(elts=[_])])]):
            return name if dotted(func) == "torch.cat" else None
    return None


def growths(nodes: Iterable[ast.AST]) -> tuple[set[str], set[str]]:
    """Return the lists that entries are appended to, and the variables that stand as entries of other lists."""
    nodes = list(nodes)
    growing = set(filter(None, map(grown, nodes)))
    displays = [node for node in nodes if isinstance(node, ast.List | ast.Tuple)]
    entries = {entry for display in displays for entry in display.elts if isinstance(entry, ast.Name)}
    return {name.id for name in growing}, {name.id for name in entries - growing}
