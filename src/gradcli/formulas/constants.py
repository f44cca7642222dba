"""Constants as people write them: ``2*pi/3`` for the double that it is."""

from __future__ import annotations

import math
from functools import cache

Parts = tuple[list[str], list[str]]
"""The factors that stand above and below the line: ``2`` and ``pi`` above, ``3`` below for 2π/3."""
LARGEST_ROOT = 64
"""The largest whole number whose root has a name, beside the powers of 2 and the hundreds above."""


def constant_name(number: float) -> str:
    """Return a positive number as text: ``2*pi/3``, ``1/(2*pi)``, ``0.3``."""
    above, below = constant_texts(number)
    text = "*".join(above) or "1"
    if not below:
        return text
    return f"{text}/{below[0]}" if len(below) == 1 else f"{text}/({'*'.join(below)})"


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
