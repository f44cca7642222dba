"""Constants as people write them: ``2*pi/3`` for the double that it is.

What is said of a Jacobian as a whole: one formula for all entries, the chain rule by its links, or words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from gradcli.records import dataclass

Parts = tuple[list[str], list[str]]
"""The factors that stand above and below the line: ``2`` and ``pi`` above, ``3`` below for 2π/3."""
LARGEST_ROOT = 64
"""The largest whole number whose root has a name, beside the powers of 2 and the hundreds above."""


def constant_name(number: float) -> str:
    """Return a positive number as text: ``2*pi/3``, ``1/(2*pi)``, ``0.3``."""
    above, below = constant_texts(number)
    return divided("*".join(above) or "1", below)


def divided(text: str, divisors: Sequence[str]) -> str:
    """Return a product over one line of divisors."""
    if not divisors:
        return text
    return f"{text}/{divisors[0]}" if len(divisors) == 1 else f"{text}/({'*'.join(divisors)})"


def constant_texts(value: float) -> Parts:
    """Return a positive number as what stands above and below the line: nothing for 1, ``2`` and ``pi`` for 2/π."""
    named = named_number(value)
    if named is not None:
        return named
    if value == 1:
        return [], []
    return [str(int(value)) if value.is_integer() and value < 1e15 else repr(value)], []


def named_number(value: float) -> Parts | None:
    """Return the parts of a positive number that has a name; None for any other."""
    return known_constants().get(value)


@cache
def known_constants() -> dict[float, Parts]:
    """Return the numbers that people write with ``pi``, ``e``, roots and logarithms, by the doubles that they are."""
    found: dict[float, Parts] = {}
    add_multiples(found)
    for text, value in (("sqrt(2*pi)", math.sqrt(2 * math.pi)), ("sqrt(pi)", math.sqrt(math.pi))):
        for n in (1, 2, 3, 4):
            many = [str(n)] * (n > 1)
            found.setdefault(n * value, ([*many, text], []))
            found.setdefault(n / value, (many, [text]))
    for n in (2, 10):
        found.setdefault(math.log(n), ([f"log({n})"], []))
        found.setdefault(1 / math.log(n), ([], [f"log({n})"]))
    for n in (*range(2, LARGEST_ROOT), *(2**k for k in range(7, 13)), *range(100, 1100, 100)):
        root = math.sqrt(n)
        if not root.is_integer():
            found.setdefault(root, ([f"sqrt({n})"], []))
            found.setdefault(1 / root, ([], [f"sqrt({n})"]))
    return found


def add_multiples(found: dict[float, Parts]) -> None:
    """Add multiples and fractions of ``pi`` and ``e``, and of their squares."""
    for name, value in (("pi", math.pi), ("e", math.e)):
        for n in range(1, 9):
            many = [str(n)] * (n > 1)
            for d in (1, 2, 3, 4, 6, 8, 180):
                found.setdefault(n * value / d, ([*many, name], [str(d)] * (d > 1)))
            found.setdefault(n / value, (many, [name]))
            found.setdefault(1 / (n * value), ([], [*many, name]))
        found.setdefault(value**2, ([f"{name}**2"], []))
    for n in (1, 2, 3, 4, 8):
        for d in (1, 2, 3, 4, 6):
            found.setdefault(n * math.pi**2 / d, ([*[str(n)] * (n > 1), "pi**2"], [str(d)] * (d > 1)))


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
        return derivative(entry(self.above, self.rows), entry(self.below, self.columns), self.fixed)

    @property
    def text(self) -> str:
        """The rule as one line."""
        if self.words:
            return f"{self.left}: {self.words}"
        products = [" @ ".join([derivative(*factor) for factor in path]) for path in self.paths]
        return f"{self.left} = {' + '.join(products) or self.formula}"


def renamed(formula: str, names: Mapping[str, object]) -> str:
    """Return a formula with other names, or with numbers in the place of its index letters."""
    return WORD.sub(lambda word: str(names.get(word[0], word[0])), formula) if names else formula


def derivative(above: str, below: str, fixed: Sequence[str] = ()) -> str:
    """Return ``dh1[i]/dh0[i]``, with what is held fixed."""
    return f"d{above}/d{below}" + (f" ({', '.join(fixed)} fixed)" if fixed else "")


def entry(name: str, indices: Sequence[str]) -> str:
    """Return ``name[i,j]``, and a scalar as it is."""
    return f"{name}[{','.join(indices)}]" if indices else name
