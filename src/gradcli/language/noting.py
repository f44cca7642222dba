"""What a run notes of lists of Python's: of each display, copy and result what it is made of, and how it is called."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradcli.engine.graph import Graph
from gradcli.language.indexing import Registers, Run
from gradcli.language.kinds import is_tensor
from gradcli.language.lists import Held, Others
from gradcli.language.overlaps import rows_of
from gradcli.language.snippets.lists import is_tolist
from gradcli.language.snippets.scopes import grown, whole_of
from gradcli.language.storage import root
from gradcli.ops.declare import value_of
from gradcli.ops.shaping import CLONE


def notes_of(value: ast.expr) -> tuple[Callable[[Registers, Others, str, Any, Any], Any], ast.Name | None]:
    """Return what notes a list that an expression is assigned as, and the variable that the list is made of.

    It is given the other variables, the name that the list gets, and the values of both.
    """
    if (before := grown(value)) is not None:
        return grow, before
    if isinstance(of := whole_of(value), ast.Name):
        return copied, of
    if isinstance(value, ast.Call):
        return numbers if is_tolist(value) else unlisted, None
    return called, None


def holder(stack: Callable[[Graph, list[Any]], Any], registers: Sequence[int]) -> Run:
    """Return what makes the array of a display from these registers, and notes what it holds."""

    def run(regs: Registers) -> Any:
        f, items = regs[0], [regs[register] for register in registers]
        array = stack(f, items)
        if f.lists is not None and is_tensor(array):
            f.lists.add(f, Held(array, [[item] if is_tensor(item) else [] for item in items]))
        return array

    return run


def numbers_of(register: int) -> Run:
    """Return what notes the list of numbers in a register, which has no name."""
    return lambda regs: numbers(regs, lambda: iter(()), "", None, regs[register])


def called(regs: Registers, _others: Others, name: str, _of: Any, value: Any) -> Any:
    """Return a value that a variable gets, after noting its name if it is a list, and for the lists in it."""
    f = regs[0]
    left = [value] if f.lists is not None else []
    while left:
        held = f.lists.of(left.pop())
        if held is not None and not held.name:
            held.name = name
            left += held.shown
    return value


def grow(regs: Registers, others: Others, name: str, before: Any, after: Any) -> Any:
    """Return a list after an entry was appended, which the list that was noted last has; note what it holds."""
    f = regs[0]
    if f.lists is not None and is_tensor(after):
        known, [entry] = f.lists.of(before), f.lists.found.pop().entries
        values = [regs[register] for _, register in others()]
        if known is not None and f.lists.count_places(f, known, values):
            f.lists.tell(f, known, "a list that another one holds grows")
        own = [[] for _ in range(after.shape[0] - 1)] if known is None else f.lists.leave(f, known, [*values, *entry])
        f.lists.add(f, Held(after, [*own, entry], name))
    return after


def copied(regs: Registers, _others: Others, name: str, of: Any, part: Any) -> Any:
    """Return a slice or a copy of a list: a list of its own, whose entries are those of the first one."""
    f = regs[0]
    if f.lists is None or f.lists.of(of) is None:
        return part
    array = f(CLONE, part) if f.lists.of_python else part
    rows = rows_of(f, part if root(f, part) == root(f, of) else of)
    f.lists.add(f, Held(array, [[row] for row in rows], name))
    return array


def numbers(regs: Registers, _others: Others, name: str, _of: Any, value: Any) -> Any:
    """Return what ``tolist`` gave, after noting it as a list unless it is one number."""
    if regs[0].lists is not None and (length := len(np.atleast_1d(value_of(value)))) and np.ndim(value_of(value)):
        regs[0].lists.add(regs[0], Held(value, [[] for _ in range(length)], name))
    return value


def unlisted(regs: Registers, _others: Others, _name: str, _of: Any, value: Any) -> Any:
    """Return what a function made of a list: a tensor of its own, even where it is the list's array."""
    f = regs[0]
    return value if f.lists is None or f.lists.of(value) is None else f(CLONE, value)
