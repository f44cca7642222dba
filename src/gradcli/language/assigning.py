"""What assignments do when they run, and what they refuse: a write that another variable would see."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np

from gradcli.engine.graph import Graph, Input
from gradcli.errors import GradcliError
from gradcli.language import runtime
from gradcli.language.indexing import Registers, Run
from gradcli.language.kinds import kept_in_place
from gradcli.ops import Pair
from gradcli.ops.declare import Op
from gradcli.ops.indexing import INDEX


def before_ndim(value: object) -> int:
    """Return the number of axes of a value, 0 for a plain number."""
    return int(getattr(value, "ndim", 0))


def reader(register: int) -> Run:
    """Return what reads a register: a copy, so that ``a, b = b, a`` swaps."""
    return lambda regs: regs[register]


def unpacker(register: int, position: int, count: int) -> Run:
    """Return what takes one of ``count`` values out of a register."""
    return lambda regs: unpacked(regs[0], regs[register], position, count)


def range_of(bounds: list[Any]) -> range:
    """Return ``range(*bounds)``; raises ``type`` for what is no integer."""
    found = [int(b) if isinstance(b, np.integer) else b for b in bounds]
    if not all(type(b) is int for b in found):
        raise GradcliError("type", "range takes integers")
    if len(found) == 3 and found[2] == 0:
        raise GradcliError("value", "the step of range cannot be 0")
    return range(*found)


def unpacked(f: Graph, value: object, position: int, count: int) -> Any:
    """Return one of ``count`` values that an array is unpacked into."""
    if isinstance(value, Pair):
        value = (value.values, value.indices)
    length = len(value) if type(value) is tuple else (runtime.array_of(value).shape or (0,))[0]
    if length != count:
        raise GradcliError("shape", f"{length} values for {count} variables")
    return value[position] if type(value) is tuple else f(INDEX, runtime.array_of(value), key=position)


def stored_names(body: list[ast.stmt]) -> set[str]:
    """Return the variables that these statements assign whenever they run to their end."""
    names: set[str] = set()
    for statement in body:
        for target in statement.targets if isinstance(statement, ast.Assign) else []:
            parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
            names |= {part.id for part in parts if isinstance(part, ast.Name)}
    return names


def refuse_shared(name: str, variables: Mapping[str, int], regs: Registers, what: str) -> None:
    """Refuse a write in place that PyTorch refuses, or that another variable would see."""
    value = regs[variables[name]]
    hint = (
        f"write {name} = {name}.clone() first"
        if "index" in what
        else f"write {name} = {name} ... in place of the augmented assignment"
    )
    if isinstance(value, Input):
        raise GradcliError(
            "in-place", f"{what} to the input '{value.name}': PyTorch refuses to change a leaf in place", hint=hint
        )
    for other, register in variables.items():
        if other != name and runtime.shares_memory(value, regs[register]):
            raise GradcliError(
                "in-place", f"{what} to '{name}' would change '{other}' too: they share memory", hint=hint
            )


def refuse_change(f: Graph, op: Op, before: Any, result: Any, name: str) -> None:
    """Refuse an augmented assignment that cannot be done in place: to another shape, or to another kind of numbers."""
    kept_in_place(f, op, before, result, name)
    if before_ndim(before) and result.shape != before.shape:
        raise GradcliError(
            "shape",
            f"'{name}' has shape {before.shape}, and in place it cannot become {result.shape}",
            hint=f"write {name} = {name} ... instead",
        )
