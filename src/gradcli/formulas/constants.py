"""Constants as people write them: ``2*pi/3`` for the double that it is."""

from __future__ import annotations

import math
from functools import cache


def constant_name(number: float) -> str:
    """Return a positive number as text: ``2*pi/3``, ``1/(2*pi)``, ``0.3``."""
    above, below = constant_texts(number)
    text = "*".join(above) or "1"
    if not below:
        return text
    return f"{text}/{below[0]}" if len(below) == 1 else f"{text}/({'*'.join(below)})"


def constant_texts(value: float) -> tuple[list[str], list[str]]:
    """Return a positive number as what stands above and below the line: nothing for 1, ``2`` and ``pi`` for 2/π."""
    if value in known_constants():
        return known_constants()[value]
    if value == 1:
        return [], []
    return [str(int(value)) if value.is_integer() and value < 1e15 else repr(value)], []


@cache
def known_constants() -> dict[float, tuple[list[str], list[str]]]:
    """Return the multiples and fractions of ``pi`` and ``e`` that people write, by the doubles that they are."""
    found: dict[float, tuple[list[str], list[str]]] = {}
    for name, value in (("pi", math.pi), ("e", math.e)):
        for n in range(1, 9):
            many = [str(n)] * (n > 1)
            for d in (1, 2, 3, 4, 6, 8, 180):
                found.setdefault(n * value / d, ([*many, name], [str(d)] * (d > 1)))
            found.setdefault(n / value, (many, [name]))
            found.setdefault(1 / (n * value), ([], [*many, name]))
        found.setdefault(value**2, ([f"{name}**2"], []))
    found.setdefault(math.sqrt(2 * math.pi), (["sqrt(2*pi)"], []))
    found.setdefault(1 / math.sqrt(2 * math.pi), ([], ["sqrt(2*pi)"]))
    return found
