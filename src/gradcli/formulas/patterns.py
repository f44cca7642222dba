"""Index rules read off the formulas of single entries: what entries have in common, with letters for their indices."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from sympy import Expr

from gradcli.formulas.index_rules import IndexRule
from gradcli.jacobian import functions as s
from gradcli.ops.links import Indices
from gradcli.ops.signatures import Shape
from gradcli.records import dataclass

FEWEST = 4
"""Entries of one pattern from which a rule says them."""
INDEX = re.compile(r"(?<=\[)(?:\d+|:)(?:,(?:\d+|:))*(?=\])")
INTEGER = re.compile(r"\d+")
Place = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pattern:
    """The entries ``places`` of a list, which are one formula in letters.

    ``example`` is one of them, ``letters`` the symbols of its formula and what they are in letters; ``rows`` and
    ``columns`` the indices of the rule, and ``values`` what its letters are at each entry.
    """

    places: list[int]
    example: int
    letters: dict[str, str]
    rows: list[str]
    columns: list[str]
    values: dict[str, Indices]

    def rule(self, text: str) -> str:
        """Return the formula of the example in letters."""
        return replaced(text, self.letters)

    def texts(self, text: str) -> list[str]:
        """Return the formula of each entry, given that of the example."""
        parts = re.split(r"(\w+)", self.rule(text))
        return ["".join(at.get(part, part) for part in parts) for at in tuples(self.values, len(self.places))]

    def alike(self) -> list[int]:
        """Return the places where two letters are one number: there ``x[i]*x[j]`` is a square."""
        grid = zip(*(axis.tolist() for axis in self.values.values()), strict=True)
        return [place for place, at in zip(self.places, grid, strict=False) if len(set(at)) < len(at)]


def replaced(text: str, names: Mapping[str, str]) -> str:
    """Return a text with other names for its symbols."""
    if not names:
        return text
    choice = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.sub(rf"(?<![\w.])(?:{choice})(?![\w\[])", lambda match: names[match[0]], text)


def index_rule(output: str, name: str, patterns: Sequence[Pattern], examples: Sequence[str]) -> IndexRule:
    """Return the rule of one pattern, or of those on the diagonal and beside it, given the formula of an example."""
    formulas = [pattern.rule(text) for pattern, text in zip(patterns, examples, strict=True)]
    last = patterns[-1]
    formula = formulas[0]
    if len(patterns) > 1:
        formula = f"where({last.rows[0]} == {last.columns[0]}, {formulas[0]}, {formulas[1]})"
    return IndexRule(output, tuple(last.rows), name, tuple(last.columns), formula, whole=True)


def patterns_of(
    rows: Indices, columns: Indices, shapes: tuple[Shape, Shape], entries: Sequence[Expr], letters: Sequence[str]
) -> list[Pattern]:
    """Return the one pattern of all entries of a Jacobian, or that of its diagonal and that of all others.

    There is none where they have no pattern or are too few. Row and column of an entry are flat places in arrays of
    ``shapes``. Letters that stand alone run along their axes: the entries are all for which the indices exist, and no
    others.
    """
    if len(entries) < FEWEST:
        return []
    axes = [np.asarray(axis) for flat, shape in zip((rows, columns), shapes, strict=True) if shape
            for axis in np.unravel_index(flat, shape)]  # fmt: skip
    every, depth = list(range(len(entries))), len(shapes[0])
    indices, values = index_letters(axes, depth, letters)
    if covers(indices, values, [*shapes[0], *shapes[1]], len(entries)):
        found = pattern_of(every, entries, indices, values, depth)
        if found is not None:
            return [found]
    if len(shapes[0]) == len(shapes[1]) == 1 and shapes[0] == shapes[1] and len(entries) == shapes[0][0] ** 2:
        same = (rows == columns).tolist()
        apart = [(k, [place for place in every if same[place] is k]) for k in (True, False)]
        letter = {k: {i: axis[places] for i, axis in list(values.items())[: 2 - k]} for k, places in apart}
        both = [pattern_of(places, entries, [*indices[:1], indices[1 - k]], letter[k], 1) for k, places in apart]
        return [found for found in both if found is not None] if None not in both else []
    return []


def pattern_of(
    places: list[int], entries: Sequence[Expr], indices: list[str], values: dict[str, Indices], depth: int
) -> Pattern | None:
    """Return the pattern of the entries at some places, None where they have none; ``indices`` are those of a rule."""
    own = [entries[place] for place in places]
    for samples in sampled(values, len(own)):
        seen = {letter: [int(axis[k]) for k in samples] for letter, axis in values.items()}
        if len(set(map(tuple, seen.values()))) < len(seen):
            continue
        found: dict[str, str] = {}
        if generalized([own[k] for k in samples], seen, found) and holds(found, own, samples[0], values):
            changed = {name: general for name, general in found.items() if name != general}
            return Pattern(places, places[samples[0]], changed, indices[:depth], indices[depth:], values)
    return None


def index_letters(axes: list[Indices], depth: int, letters: Sequence[str]) -> tuple[list[str], dict[str, Indices]]:
    """Return an index for each axis of rows and then columns: a letter, that of an axis like it, or a number."""
    indices: list[str] = []
    values: dict[str, Indices] = {}
    for place, axis in enumerate(axes):
        if np.all(axis == axis[0]):
            indices.append(str(int(axis[0])))
            continue
        same = next((k for k in range(min(place, depth)) if np.array_equal(axes[k], axis)), None)
        letter = letters[len(values)] if same is None or place < depth else indices[same]
        indices.append(letter)
        values.setdefault(letter, axis)
    return indices, values


def covers(indices: list[str], values: Mapping[str, Indices], lengths: list[int], count: int) -> bool:
    """Return whether so many entries are all tuples of the letters, each along the shortest of its axes."""
    ranges: dict[str, int] = {}
    for index, length in zip(indices, lengths, strict=True):
        if index in values:
            ranges[index] = min(length, ranges.get(index, length))
    inside = all(int(values[letter].max()) < length for letter, length in ranges.items())
    return inside and int(np.prod([*ranges.values(), 1])) == count


def sampled(values: Mapping[str, Indices], count: int) -> Iterator[list[int]]:
    """Yield a few entries at a time whose letters are as unlike each other as may be, and rise where they can.

    There are two such entries at least: letters take all tuples, or those of two letters that differ.
    """
    grid = [[int(axis[k]) for axis in values.values()] for k in range(count)]
    unlike = [k for k in range(count) if len(set(grid[k])) == len(values)] or list(range(count))
    pool = sorted(unlike, key=lambda k: grid[k] == sorted(grid[k]))
    yield pool[-1:]
    yield [pool[-1], pool[0]]
    yield [pool[-1], pool[0], pool[1]]
    yield [pool[-1], pool[0], pool[len(pool) // 2]]


def generalized(expressions: Sequence[Expr], seen: Mapping[str, list[int]], found: dict[str, str]) -> bool:
    """Add to ``found`` the symbols of the first of some formulas in letters; return whether all have its form."""
    first, *others = expressions
    if first.is_Symbol:
        return all(other.is_Symbol for other in others) and in_letters([one.name for one in expressions], seen, found)
    if any(other.func is not first.func or len(other.args) != len(first.args) for other in others):
        return False
    if not first.args:
        return all(other == first for other in others)
    aligned = zip(*(one.args for one in expressions), strict=True)
    return all(generalized(parts, seen, found) for parts in aligned)


def in_letters(names: Sequence[str], seen: Mapping[str, list[int]], found: dict[str, str]) -> bool:
    """Add to ``found`` the name of a symbol with letters for the integers in its brackets."""
    if len({INDEX.sub("", name) for name in names}) > 1:
        return False
    integers = [[int(k) for text in INDEX.findall(name) for k in INTEGER.findall(text)] for name in names]
    told = []
    for column in zip(*integers, strict=True):
        letter = next((letter for letter, values in seen.items() if values == list(column)), None)
        if letter is None and len(set(column)) > 1:
            return False
        told.append(letter or str(column[0]))
    parts = iter(told)
    general = INDEX.sub(lambda match: INTEGER.sub(lambda _: next(parts), match[0]), names[0])
    return found.setdefault(names[0], general) == general


def holds(found: Mapping[str, str], entries: Sequence[Expr], example: int, values: Mapping[str, Indices]) -> bool:
    """Return whether every entry is the example with its own indices."""
    general = entries[example]
    symbols = {symbol: found[symbol.name] for symbol in general.free_symbols}
    moved = {symbol: re.split(r"\b([A-Za-z]\w*)\b", text) for symbol, text in symbols.items() if text != symbol.name}
    for place, (wanted, at) in enumerate(zip(entries, tuples(values, len(entries)), strict=True)):
        new = {symbol: s.symbol("".join(at.get(part, part) for part in parts)) for symbol, parts in moved.items()}
        if place != example and general.xreplace(new) != wanted:
            return False
    return True


def tuples(values: Mapping[str, Indices], count: int) -> Iterator[dict[str, str]]:
    """Yield what the letters are at each entry, as text."""
    columns = {letter: axis.tolist() for letter, axis in values.items()}
    for place in range(count):
        yield {letter: str(axis[place]) for letter, axis in columns.items()}
