"""Lists that Python joins by ``+`` and repeats by ``*``, in a snippet: here they are arrays, and it is refused.

What may be a list is read off the text; whether it is one, the run knows.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Set
from typing import Any

import numpy as np

from gradcli.engine.graph import Graph
from gradcli.language.indexing import Registers
from gradcli.language.kinds import Listed, is_tensor
from gradcli.language.overlaps import Shown, rows_of
from gradcli.language.snippets.lists import displays_of, is_tolist, joined_lists
from gradcli.language.snippets.scopes import grown, growths, whole_of
from gradcli.language.steps import Allocation
from gradcli.language.storage import Window, root, window_of
from gradcli.ops.declare import value_of

Join = ast.BinOp | ast.AugAssign
Read = Callable[[ast.expr], int]

ROWS = ("zip", "enumerate", "reversed", "torch.unbind")
"""What gives entries of the lists that it is given."""


def watch_joins(compiler: Allocation, nodes: list[ast.AST]) -> None:
    """Let a run look at the operations that join lists, if what they are given are lists."""
    compiler.joins = joins_in(nodes)
    compiler.listed |= set(displays_for(nodes, compiler.joins))
    growing, entries = growths(nodes)
    compiler.watched |= bool(compiler.joins) or not growing.isdisjoint(entries)


def joins_in(nodes: list[ast.AST]) -> set[ast.AST]:
    """Return the operations that join lists or repeat one, if what they are given are lists."""
    names: set[str] = set()
    pairs = [pair for node in nodes for pair in assigned(node)]
    while found := {name for target, value in pairs if may_be_list(value, names) for name in stored(target)} - names:
        names |= found
    return {node for node in nodes if isinstance(node, Join) and may_join(node, names)}


def displays_for(nodes: list[ast.AST], joins: Set[ast.AST]) -> Iterator[ast.expr]:
    """Yield the displays and lists of numbers that are in what may be joined, beside those that have names."""
    for node in nodes:
        if joins and isinstance(node, ast.Call) and is_tolist(node):
            yield node
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ROWS:
            yield from (display for given in node.args for display in displays_of(given))
        elif node in joins and isinstance(node, Join):
            yield from (display for side in sides_of(node) for display in displays_of(side))


def sides_of(node: Join) -> tuple[ast.expr, ast.expr]:
    """Return what an operator stands between."""
    return (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)


def assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield what a statement assigns to with the value, or with what its values are entries of."""
    match node:
        case ast.Assign(targets=[ast.Tuple() | ast.List() as target], value=ast.Tuple() | ast.List() as value):
            yield from zip(target.elts, value.elts, strict=False)
        case ast.Assign(targets=[target], value=value):
            yield target, value
        case ast.For(target=target, iter=rows):
            yield target, rows


def stored(target: ast.expr) -> Iterator[str]:
    """Yield the variables that an assignment gives values."""
    return (part.id for part in ast.walk(target) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store))


def may_be_list(node: ast.expr, names: Set[str]) -> bool:
    """Return whether a value may be a list or a tuple of Python's, as the variables ``names`` may."""
    if (whole := whole_of(node)) is not None:
        return may_be_list(whole, names)
    match node:
        case ast.List() | ast.Tuple() | ast.ListComp() | ast.Attribute(attr="shape"):
            return True
        case ast.Name(id=name):
            return name in names
        case ast.Subscript(value=part):
            return may_be_list(part, names)
        case ast.IfExp(body=one, orelse=other):
            return may_be_list(one, names) or may_be_list(other, names)
        case ast.Call(func=func, args=given):
            rows = ast.unparse(func) in ROWS and any(may_be_list(each, names) for each in given)
            return rows or is_tolist(node) or getattr(func, "attr", "") == "size" or grown(node) is not None
    return False


def may_join(node: Join, names: Set[str]) -> bool:
    """Return whether ``+`` may join lists, or ``*`` repeat one; ``+=`` gives a list the entries of any array."""
    first, second = (may_be_list(side, names) for side in sides_of(node))
    if isinstance(node.op, ast.Add):
        return first and (second or isinstance(node, ast.AugAssign))
    return isinstance(node.op, ast.Mult) and (first or second)


def watch_operation(compiler: Allocation, node: ast.BinOp, registers: list[int], read: Read) -> None:
    """Add the step that refuses to join two lists or to repeat one, where the registers of an operation hold such.

    ``read`` compiles another expression.
    """
    wholes = [whole_register(compiler, read, *side) for side in zip(sides_of(node), registers, strict=True)]
    adds = isinstance(node.op, ast.Add)

    def run(regs: Registers) -> None:
        f = regs[0]
        lists = [holds_list(f, regs[whole]) for whole in wholes]
        if all(lists) if adds else any(lists) and any(type(regs[each]) in (int, bool) for each in registers):
            raise joined_lists()

    compiler.emit(run, node)


def whole_register(compiler: Allocation, read: Read, node: ast.expr, register: int) -> int:
    """Return the register of what an expression is a slice or a copy of, its own where it is neither.

    What is computed by operations that may join is no list, or refused: it is not compiled a second time.
    """
    whole = whole_of(node)
    if whole is None or not compiler.joins.isdisjoint(ast.walk(whole)):
        return register
    return whole_register(compiler, read, whole, read(whole))


def refuse_longer(f: Graph, node: Any, value: Any, change: Any) -> None:
    """Refuse an augmented assignment that makes a list longer: ``+=`` of anything, ``*=`` of an integer."""
    if (isinstance(node.op, ast.Add) or type(change) in (int, bool)) and holds_list(f, value):
        raise joined_lists()


def holds_list(f: Graph, value: Any) -> bool:
    """Return whether a value of a snippet is a list or a tuple of Python's."""
    if isinstance(value, tuple | Listed) or not is_tensor(value):
        return isinstance(value, tuple | Listed)
    return bool(np.ndim(value_of(value))) and is_inner(f, value)


def is_inner(f: Graph, shown: Shown) -> bool:
    """Return whether what an entry shows is a list: the array of one, or a row of one that holds lists."""
    left, seen = [shown], set[int]()
    while left:
        shown = left.pop()
        if id(shown) in seen:
            continue
        seen.add(id(shown))
        if not isinstance(shown, Window) and f.lists.of(shown) is not None:
            return True
        window = shown if isinstance(shown, Window) else window_of(f, shown)
        entry = entry_shown(f, window)
        if entry is None:
            continue
        others = [one for one in entry if not isinstance(one, Window) or not same(one, window)]
        if not others:
            return True
        left += others
    return False


def entry_shown(f: Graph, window: Window) -> list[Shown] | None:
    """Return what an entry of a list holds that a window shows, nothing for a whole list; None for no list's entry."""
    for held in f.lists.found:
        if root(f, held.array) != window.key:
            continue
        if same(window_of(f, held.array), window):
            return []
        for row, entry in zip(rows_of(f, held.array), held.entries, strict=True):
            if same(row, window):
                return entry if row.places.ndim else None
    return None


def same(one: Window, other: Window) -> bool:
    """Return whether two windows are of the same entries."""
    return one.key == other.key and np.array_equal(one.places, other.places)
