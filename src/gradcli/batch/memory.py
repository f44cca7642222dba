"""Formulas that were derived for one record, for others that would derive the same."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import TYPE_CHECKING, Generic, TypeVar

from gradcli.explanation.readings import Point

if TYPE_CHECKING:
    from gradcli.formulas.derivation import Formulas
    from gradcli.jacobian.composition import Composition

T = TypeVar("T")


class Recent(Generic[T]):
    """Values by key, at most ``most`` of them and together no heavier than ``heaviest``.

    A value that is heavier than that by itself is not kept.
    """

    def __init__(self, most: int, heaviest: int) -> None:
        self.most = most
        self.heaviest = heaviest
        self.weight = 0
        self._kept: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._latest: tuple[T, int] | None = None

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Hashable) -> T | None:
        """Return the value of a key, which makes it the last one used; None where it is not kept."""
        found = self._kept.get(key)
        if found is None:
            return None
        if found is not self._latest:  # to hash a long key once more takes as long as to find it
            self._kept.move_to_end(key)
            self._latest = found
        return found[0]

    def keep(self, key: Hashable, value: T, weight: int = 1) -> None:
        """Keep a value, and let go of the oldest where there are too many or they are too heavy."""
        if key in self._kept:
            self.weight -= self._kept.pop(key)[1]
        if weight > self.heaviest:
            return
        self._kept[key] = self._latest = (value, weight)
        self.weight += weight
        while len(self._kept) > self.most or self.weight > self.heaviest:
            self.weight -= self._kept.popitem(last=False)[1][1]


MOST_SHARED = 20_000
"""Products of entries in a composition up to which its formulas are kept: what tells runs apart grows with them."""
ENTRY = 64
"""Characters that tell one product of entries from another, roughly."""
MOST_FORMULAS, HEAVIEST = 1024, 2**26
"""Sets of formulas that are kept, and the characters of all together."""


class Memory:
    """Formulas that were derived, for runs of the same program that would derive the same."""

    def __init__(self) -> None:
        self._kept: Recent[Formulas] = Recent(MOST_FORMULAS, HEAVIEST)

    def __len__(self) -> int:
        return len(self._kept)

    def derive(self, point: Point, composition: Composition) -> Formulas:
        """Return the formulas of a run: those of an earlier one with the same signature, else newly derived.

        The numbers of their names are missing, or those of the earlier run: ``refreshed`` gives those of this one.
        """
        from gradcli.formulas.derivation import found_formulas
        from gradcli.formulas.signature import signature

        run, function, leaves = point.run, point.function, point.leaves
        told = signature(run.graph, run.output, leaves, composition) if composition.work <= MOST_SHARED else None
        key: Hashable = (function.place.text, function.wrt, told)
        earlier = None if told is None else self._kept.get(key)
        if earlier is not None:
            return earlier
        found = found_formulas(run.graph, run.output, leaves, composition)
        if told is not None:
            self._kept.keep(key, found, ENTRY * composition.work + count_characters(found))
        return found


def count_characters(formulas: Formulas) -> int:
    """Return how many characters all formulas have together."""
    rules = [[rule.text for rule in rules] for rules in formulas.rules.values()]
    lists = [formulas.output or [], *formulas.jacobians.values(), *rules]
    return sum(map(len, formulas.definitions.values())) + sum(len(text) for texts in lists for text in texts)
