"""The definitions that formulas use, in an order in which they can be run, and the numbers of names made for them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence


def words(text: str) -> set[str]:
    """Return all names in a formula."""
    return set(re.findall(r"[A-Za-z_]\w*", text))


def used(shown: Iterable[str], definitions: Mapping[str, str]) -> dict[str, str]:
    """Return the definitions that formulas reach, each after those that it uses."""
    reached = set[str]().union(*map(words, shown))
    kept: dict[str, str] = {}
    for name, text in reversed(ordered(definitions)):
        if name in reached:
            kept[name] = text
            reached |= words(text)
    return dict(reversed(kept.items()))


def ordered(definitions: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return definitions so that each comes after those it uses."""
    left, found = dict(definitions), []
    while left:
        ready = [name for name, text in left.items() if not (words(text) & set(left)) - {name}]
        found += [(name, left.pop(name)) for name in ready or list(left)]
    return found


def new_names(definitions: Iterable[str], made: Sequence[str]) -> dict[str, str]:
    """Return what to call the names among ``made`` so that their numbers rise in the order of definition."""
    found = [name for name in definitions if name in made]
    return dict(zip(found, sorted(found, key=lambda name: int(name[1:])), strict=True))


def renamed(text: str, names: Mapping[str, str]) -> str:
    """Return a formula with other names."""
    return re.sub(r"[A-Za-z_]\w*", lambda word: names.get(word[0], word[0]), text) if names else text
