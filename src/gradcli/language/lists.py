"""Lists of Python's in a run: their entries are tensors that may have other names, and here copies in an array.

A write in place is seen by the list and by the other name in Python, and here by one of them: it is refused, or noted
in a program that is no snippet. Each list is kept with what it was made of, and each write looks at that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradcli.engine.graph import Graph
from gradcli.errors import GradcliError
from gradcli.language.aliases import write_through
from gradcli.language.indexing import Registers
from gradcli.language.kinds import Listed, is_tensor
from gradcli.language.overlaps import Shown, by_storage, in_common, meets, meets_any, row_of, rows_of
from gradcli.language.snippets.lists import ONE_NAME, TWO_TENSORS
from gradcli.language.storage import Window, looks_on, root
from gradcli.language.trace import Assigned, Written
from gradcli.ops.declare import value_of

Others = Callable[[], Iterator[tuple[str, int]]]
AS_ARRAY = (
    "{} is an array here, as torch.stack([...]) makes it, and not a list of Python's: {}. With 'import torch' as the "
    "first line it is read as Python has it, or refused."
)


@dataclass(slots=True, eq=False)
class Held:
    """A list: the array that it is here, and for each entry the tensors that it may show. ``name`` is its variable."""

    array: Any
    entries: list[list[Shown]]
    name: str = ""

    @property
    def shown(self) -> list[Shown]:
        """All that it holds."""
        return [one for shown in self.entries for one in shown]


@dataclass(slots=True)
class Entry:
    """An entry of a list, by its place, that gets another tensor; ``array`` is that of the list, or its row of one."""

    lists: Lists
    held: Held
    place: int
    array: Any

    def replace(self, regs: Registers, others: Others, told: Assigned, tensor: Any, after: Any) -> Any:
        """Return the list's array after it, and give it to other variables that have the list.

        In Python the others of its entries, and what had the old one, stay what they were. An array's views change with
        it, which a note tells.
        """
        f, held, array = regs[0], self.held, self.array
        row, own = row_of(f, array, self.place), [tensor] if is_tensor(tensor) else []
        if np.shape(value_of(tensor)) != row.places.shape and self.lists.of_python:
            message = "an entry of a list gets a value of another shape, and here a list is an array"
            raise GradcliError("not-allowed", message, hint="give each entry a name of its own")
        self.refuse_elsewhere(f, [regs[register] for _, register in others()])
        if array is not held.array or not self.lists.of_python:
            self.refuse_older(f, row, [regs[register] for _, register in others()])
            found = followed(regs, others, told, array, after)
            held.entries[self.place] = own
            return found
        same = [(name, register) for name, register in others() if regs[register] is array]
        values = [regs[register] for _, register in others() if regs[register] is not array]
        entries = self.lists.leave(f, held, [*values, *own])
        entries[self.place] = own
        self.lists.add(f, Held(after, entries, held.name))
        f.bind(told.name, after, told)
        for name, register in same:
            regs[register] = after
            if name:
                f.bind(name, after, Assigned(name, Written(told.name)))
        return after

    def refuse_elsewhere(self, f: Graph, values: list[Any]) -> None:
        """Refuse that a list changes which others hold, beside the one that it is written to as a row of."""
        if self.lists.count_places(f, self.held, [*values, self.array]) > (self.array is not self.held.array):
            self.lists.tell(f, self.held, "a list that another one holds gets another entry")

    def refuse_older(self, f: Graph, row: Window, values: list[Any]) -> None:
        """Refuse that an array's entry changes where an older name of it shows it, or the list has another one."""
        other = [value for value in values if value is not self.array and not self.lists.holds(value, self.held)]
        if any(meets(f, row, value) or meets(f, self.held.array, value) for value in other):
            self.lists.tell(f, self.held, "an entry gets another value, and what stood there has another name")


@dataclass(slots=True)
class Lists:
    """The lists of a run. ``of_python`` says that what Python has otherwise is refused; else a note tells it.

    ``storages`` are those of the arrays of Python's, of which each entry is a tensor of its own.
    """

    of_python: bool
    found: list[Held] = field(default_factory=list)
    storages: set[Any] = field(default_factory=set)

    def add(self, f: Graph, held: Held) -> None:
        """Note a list."""
        self.found.append(held)
        self.own_storage(f, held.array)

    def own_storage(self, f: Graph, array: Any) -> None:
        """Note the storage of a list's array."""
        self.storages |= {root(f, array)} if self.of_python else set()

    def leave(self, f: Graph, held: Held, values: list[Any]) -> list[list[Shown]]:
        """Return the entries of a list for one that takes its place: beside what they hold, what they are in its array.

        The latter as far as another variable, of those values, or another list shows it; else nobody sees it again.
        """
        self.found.remove(held)
        seen = by_storage(f, [*values, *(shown for other in self.found for shown in other.shown)])
        if not meets_any(f, held.array, seen):
            return list(held.entries)
        self.found.append(held)
        return [[*shown, row] for shown, row in zip(held.entries, rows_of(f, held.array), strict=True)]

    def is_list(self, array: Any) -> bool:
        """Return whether an array is a list of Python's."""
        return self.of_python and self.of(array) is not None

    def of(self, array: Any) -> Held | None:
        """Return the list that an array is, None for an array that is none."""
        return next((held for held in reversed(self.found) if held.array is array), None)

    def tensor_at(self, array: Any, key: object, entries: Any) -> Any:
        """Return the tensor that a write by an index is to: that which a list holds there, else the ``entries``."""
        held = self.of(array) if self.of_python and isinstance(key, int | np.integer) else None
        shown = [] if held is None else held.entries[int(key) % len(held.entries)]  # type: ignore[call-overload]
        return next((one for one in shown if not isinstance(one, Window)), entries)

    def entry_at(self, array: Any, key: object, whole: bool) -> Entry | None:
        """Return the entry of a list that a write gives another tensor, None for a write to entries of a tensor.

        ``whole`` says that the value is assigned, and not added to what stands there: a number in a list is replaced.
        """
        held = self.of(array) or self.row(array)
        if held is None or not isinstance(key, int | np.integer) or isinstance(key, bool):
            return None
        place = int(key) % len(held.entries)
        return Entry(self, held, place, array) if whole or not held.entries[place] else None

    def row(self, array: Any) -> Held | None:
        """Return the list that an entry of a list is, by the array that shows it; None for any other."""
        key = array.static.get("key") if looks_on(array) else None
        if not isinstance(key, int | np.integer) or (outer := self.of(array.arguments[0])) is None:
            return None
        return next(filter(None, map(self.of, outer.entries[key])), None)

    def holds(self, array: Any, inner: Held) -> bool:
        """Return whether an array is of a list that holds another one."""
        held = self.of(array)
        return held is not None and any(self.of(shown) is inner for shown in held.shown)

    def count_places(self, f: Graph, held: Held, values: list[Any]) -> int:
        """Return at how many places others hold a list, those that these values show."""
        others = [other for other in alive(f, values) if other is not held]
        return sum(any(shown is held.array for shown in entry) for other in others for entry in other.entries)

    def tell(self, f: Graph, held: Held, what: str) -> None:
        """Refuse a write, or leave a note on the list that Python would have otherwise."""
        if self.of_python:
            raise GradcliError("not-allowed", f"{what}: {TWO_TENSORS}", hint=ONE_NAME)
        called = f"'{held.name}'" if held.name else "A list"
        f.remark("list-as-array", AS_ARRAY.format(called, what))


def alive(f: Graph, values: list[Any]) -> list[Held]:
    """Return the lists whose arrays some of the values show, and those whose arrays such a list holds."""
    found: list[Held] = []
    left, shown = list(f.lists.found), values
    while shown and left:
        seen = by_storage(f, shown)
        new = [held for held in left if meets_any(f, held.array, seen)]
        found += new
        left = [held for held in left if held not in new]
        shown = [one for held in new for one in held.shown]
    return found


def within(f: Graph, held: Held, lists: list[Held]) -> list[Held]:
    """Return a list and those that it holds entries of, or as entries."""
    found = [held]
    for each in found:
        seen = by_storage(f, each.shown)
        inner = [one for one in lists if meets_any(f, one.array, seen)]
        found += [one for one in inner if one not in found]
    return found


def refuse_apart(f: Graph, before: Any, values: list[Any]) -> None:
    """Refuse a write to ``before`` that a list would show in Python and does not here.

    Or another name of what a list holds, where it is the list's array that is written to. ``values`` are those of all
    other variables.
    """
    lists = f.lists.found = alive(f, [*values, before])
    nested = next((held for held in lists if isinstance(held.array, Listed) and held.array.ndim > 1), None)
    if nested is not None and isinstance(before, Listed) and f.lists.of(before) is None:
        f.lists.tell(f, nested, "a list in a list gets another value")
    written = by_storage(f, [before])
    for held in lists:
        if any(meets_any(f, shown, written) for shown in held.shown):
            f.lists.tell(f, held, "a tensor that a list holds is written to in place")
    for held in [each for each in lists if meets_any(f, each.array, written)]:
        inside = within(f, held, lists)
        outside = [value for value in values if not meets(f, held.array, value)]
        outside += [one for other in lists if other not in inside for one in other.shown]
        seen = by_storage(f, outside)
        shared = any(meets_any(f, shown, seen) for each in inside for shown in each.shown)
        if shared or any(in_common(f, each.entries) for each in inside):
            f.lists.tell(f, held, "an entry of a list is written to in place, and has another name")


def write_beside_lists(regs: Registers, others: Others, told: Assigned, before: Any, after: Any) -> Any:
    """Do a write in place where there are lists: as ``write_through`` does, if they show it as Python's do."""
    f = regs[0]
    if f.lists is None:
        return write_through(regs, others, told, before, after)
    refuse_apart(f, before, [regs[register] for _, register in others()])
    return followed(regs, others, told, before, after)


def followed(regs: Registers, others: Others, told: Assigned, before: Any, after: Any) -> Any:
    """Do a write in place; the lists whose arrays it changes have the new ones."""
    f = regs[0]
    had = [(held, register) for _, register in others() if (held := f.lists.of(regs[register])) is not None]
    own = f.lists.of(before)
    found = write_through(regs, others, told, before, after)
    for held, array in [*((held, regs[register]) for held, register in had), *([(own, found)] if own else [])]:
        held.array = array
        f.lists.own_storage(f, array)
    return found
