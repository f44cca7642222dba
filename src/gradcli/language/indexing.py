"""Indices: from the syntax between brackets to what reads it when the program runs."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from gradcli.errors import GradcliError
from gradcli.language import picking

Registers = list[Any]
Run = Callable[[Registers], Any]


def index_items(node: ast.Subscript) -> list[ast.expr]:
    """Return the parts of an index, one for each axis."""
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]


def index_parts(item: ast.expr) -> list[ast.expr]:
    """Return the expressions inside one part of an index."""
    if isinstance(item, ast.Slice):
        return [part for part in (item.lower, item.upper, item.step) if part is not None]
    if isinstance(item, ast.List):
        return [part for element in item.elts for part in index_parts(element)]
    return [item]


def list_shape(item: ast.List) -> tuple[int, ...]:
    """Return the shape of nested lists in an index; raises ``index`` where they are ragged."""
    inner = {list_shape(element) if isinstance(element, ast.List) else () for element in item.elts}
    if len(inner) > 1:
        raise GradcliError("index", "the lists in an index must have one length")
    return (len(item.elts), *next(iter(inner), ()))


def index_reader(item: ast.expr, registers: list[int]) -> Run:
    """Return what reads one part of an index from the registers."""
    if isinstance(item, ast.Slice):
        present = [part is not None for part in (item.lower, item.upper, item.step)]

        def read_slice(regs: Registers) -> slice:
            values = iter([picking.slice_bound(regs[0], regs[i]) for i in registers])
            return picking.slice_of(*[next(values) if there else None for there in present])

        return read_slice
    if isinstance(item, ast.List):
        shape = list_shape(item)
        return lambda regs: picking.index_list(regs[0], [regs[i] for i in registers], shape)
    return lambda regs: regs[registers[0]]
