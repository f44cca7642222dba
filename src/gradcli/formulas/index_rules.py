"""What is said of a Jacobian as a whole: one formula for all entries, the chain rule by its links, or words.

One formula is read off those of single entries: what they have in common, with letters for their indices.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gradcli.records import dataclass

if TYPE_CHECKING:
    from sympy import Expr

    from gradcli.ops.links import Indices, Shape

LETTERS = "ijklmnpqrstu"
MOST_LETTERS = 100
"""Index letters at hand: an op has 32 axes at most, so has its argument, and a program has few names like ``i7``."""
WORD = re.compile(r"\"[^\"]*\"|[A-Za-z_]\w*")
"""A name in a formula, or a text in quotes, in which nothing is a name."""


class Factor(NamedTuple):
    """A link of the chain rule, ``dabove/dbelow`` with the values that are ``fixed``."""

    above: str
    below: str
    fixed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexRule:
    """``dabove[rows]/dbelow[columns] = formula``, true for all letters for which the indices exist.

    - ``above``, ``below``: the names of the value that is differentiated and of that by which it is.
    - ``rows``, ``columns``: an index for each axis of these; a letter that stands alone runs along that axis.
    - ``formula``: what an entry is, in the language; empty where ``paths`` or ``words`` stand in its place.
    - ``fixed``: the names of values that stay as they are while ``below`` moves.
    - ``words``: what the derivative is, where no formula says it.
    - ``paths``: the ways from ``above`` to ``below``: J is the sum over them of the products of their factors.
    - ``whole``: whether J itself is said, rather than a link on the way.
    """

    above: str
    rows: tuple[str, ...]
    below: str
    columns: tuple[str, ...]
    formula: str = ""
    fixed: tuple[str, ...] = ()
    words: str = ""
    paths: tuple[tuple[Factor, ...], ...] = ()
    whole: bool = False

    @property
    def left(self) -> str:
        """The derivative, without what it is."""
        return derivative_text(entry(self.above, self.rows), entry(self.below, self.columns), self.fixed)

    @property
    def text(self) -> str:
        """The rule as one line."""
        if self.words:
            return f"{self.left}: {self.words}"
        products = [" @ ".join([derivative_text(*factor) for factor in path]) for path in self.paths]
        return f"{self.left} = {' + '.join(products) or self.formula}"


def renamed(formula: str, names: Mapping[str, object]) -> str:
    """Return a formula with other names, or with numbers in the place of its index letters."""
    return WORD.sub(lambda word: str(names.get(word[0], word[0])), formula) if names else formula


def derivative_text(above: str, below: str, fixed: Sequence[str] = ()) -> str:
    """Return ``dh1[i]/dh0[i]``, with what is held fixed."""
    return f"d{above}/d{below}" + (f" ({', '.join(fixed)} fixed)" if fixed else "")


def entry(name: str, indices: Sequence[str]) -> str:
    """Return ``name[i,j]``, and a scalar as it is."""
    return f"{name}[{','.join(indices)}]" if indices else name


FEWEST = 4
"""Entries of one pattern from which a rule says them."""
INDEX = re.compile(r"(?<=\[)(?:\d+|:)(?:,(?:\d+|:))*(?=\])")
INTEGER = re.compile(r"\d+")
Place = tuple[int, ...]


def letters_beside(names: set[str]) -> list[str]:
    """Return letters for indices that no variable of the program is called by, as many as any rule needs."""
    return [letter for letter in [*LETTERS, *[f"i{n}" for n in range(1, MOST_LETTERS)]] if letter not in names]


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
        result = pattern_of(every, entries, indices, values, depth)
        if result is not None:
            return [result]
    if len(shapes[0]) == len(shapes[1]) == 1 and shapes[0] == shapes[1] and len(entries) == shapes[0][0] ** 2:
        same = (rows == columns).tolist()
        apart = [(k, [place for place in every if same[place] is k]) for k in (True, False)]
        letter = {k: {i: axis[places] for i, axis in list(values.items())[: 2 - k]} for k, places in apart}
        both = [pattern_of(places, entries, [*indices[:1], indices[1 - k]], letter[k], 1) for k, places in apart]
        return [result for result in both if result is not None] if None not in both else []
    return []


def pattern_of(
    places: list[int], entries: Sequence[Expr], indices: list[str], values: dict[str, Indices], depth: int
) -> Pattern | None:
    """Return the pattern of the entries at some places, None where they have none; ``indices`` are those of a rule."""
    group = [entries[place] for place in places]
    for samples in unlike_samples(values, len(group)):
        seen = {letter: [int(axis[k]) for k in samples] for letter, axis in values.items()}
        if len(set(map(tuple, seen.values()))) < len(seen):
            continue
        result: dict[str, str] = {}
        if generalized([group[k] for k in samples], seen, result) and is_rule(result, group, samples[0], values):
            changed = {name: general for name, general in result.items() if name != general}
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


def unlike_samples(values: Mapping[str, Indices], count: int) -> Iterator[list[int]]:
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


def generalized(expressions: Sequence[Expr], seen: Mapping[str, list[int]], general: dict[str, str]) -> bool:
    """Add to ``general`` the symbols of the first of some formulas in letters; return whether all have its form."""
    first, *others = expressions
    if first.is_Symbol:
        return all(other.is_Symbol for other in others) and in_letters([one.name for one in expressions], seen, general)
    if any(other.func is not first.func or len(other.args) != len(first.args) for other in others):
        return False
    if not first.args:
        return all(other == first for other in others)
    aligned = zip(*(one.args for one in expressions), strict=True)
    return all(generalized(parts, seen, general) for parts in aligned)


def integers_in(name: str) -> list[int]:
    """Return the numbers in the indices of a name."""
    return [int(k) for text in INDEX.findall(name) for k in INTEGER.findall(text)]


def in_letters(names: Sequence[str], seen: Mapping[str, list[int]], renames: dict[str, str]) -> bool:
    """Add to ``renames`` the name of a symbol with letters for the integers in its brackets."""
    if len({INDEX.sub("", name) for name in names}) > 1:
        return False
    indices = []
    for column in zip(*map(integers_in, names), strict=True):
        letter = next((letter for letter, values in seen.items() if values == list(column)), None)
        if letter is None and len(set(column)) > 1:
            return False
        indices.append(letter or str(column[0]))
    parts = iter(indices)
    general = INDEX.sub(lambda match: INTEGER.sub(lambda _: next(parts), match[0]), names[0])
    return renames.setdefault(names[0], general) == general


def is_rule(renames: Mapping[str, str], entries: Sequence[Expr], example: int, values: Mapping[str, Indices]) -> bool:
    """Return whether every entry is the example with its own indices."""
    from gradcli.jacobian.functions import symbol as symbol_of  # which reads sympy

    general = entries[example]
    symbols = {symbol: renames[symbol.name] for symbol in general.free_symbols}
    moved = {symbol: re.split(r"\b([A-Za-z]\w*)\b", text) for symbol, text in symbols.items() if text != symbol.name}
    for place, (wanted, at) in enumerate(zip(entries, tuples(values, len(entries)), strict=True)):
        new = {symbol: symbol_of("".join(at.get(part, part) for part in parts)) for symbol, parts in moved.items()}
        if place != example and general.xreplace(new) != wanted:
            return False
    return True


def tuples(values: Mapping[str, Indices], count: int) -> Iterator[dict[str, str]]:
    """Yield what the letters are at each entry, as text."""
    columns = {letter: axis.tolist() for letter, axis in values.items()}
    for place in range(count):
        yield {letter: str(axis[place]) for letter, axis in columns.items()}
