"""Numbers in the place of names: ``h*h + x[0]`` as ``0.5*0.5 + 2``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

SYMBOL = re.compile(
    r"""(?P<text>"[^"\n]*"|'[^'\n]*')|(?<![\w.])(?P<name>[A-Za-z_]\w*(?:\.grad\b)?)(?!\w|\s*(\(|=(?!=)))"""
)
"""A name or a cotangent, unless it is the name of a function or of a keyword, or in quotes."""
INDEX = re.compile(r"\[(-?\d+(?:, ?-?\d+)*)\]")


def put_in(formula: str, values: Mapping[str, Any], write: Callable[[float], str]) -> str:
    """Return a formula with numbers in the place of names and their entries; nothing where one is no number.

    ``write`` gives the text of a number; a negative one stands in parentheses, unless it is an argument of a function.

    >>> put_in("y.grad*cos(x[0])", {"y.grad": np.float64(-1.0), "x": np.array([-0.7])}, repr)
    '(-1.0)*cos(-0.7)'
    """
    parts, start = [], 0
    for match in SYMBOL.finditer(formula):
        if match["text"] or match["name"] not in values or match.start() < start:
            continue
        index = INDEX.match(formula, match.end())
        end = index.end() if index else match.end()
        number = entry_at(values[match["name"]], index)
        if number is None or formula[end : end + 1] in (".", "["):
            return ""
        text = write(number)
        alone = formula[: match.start()].endswith(("(", ", ")) and formula[end : end + 1] in (")", ",")
        parts += [formula[start : match.start()], f"({text})" if text.startswith("-") and not alone else text]
        start = end
    return "".join([*parts, formula[start:]]) if parts else ""


def entry_at(value: Any, index: re.Match[str] | None) -> float | None:
    """Return a number, or an entry of an array, as a float; None for all else."""
    array = np.asarray(value)
    place = tuple(int(part) for part in index[1].split(",")) if index else ()
    if len(place) != array.ndim or array.dtype == bool:
        return None
    try:
        entry = float(array[place])
    except IndexError:
        return None
    return entry if np.isfinite(entry) else None
