"""A cache of bounded size that lets go of what was not used for longest."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

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
