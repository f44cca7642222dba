"""How operations are written in the language: calls with the options that are not the function's own."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gradcli.ops.signatures import Index, Options


class Call(NamedTuple):
    """An operation to be written: the ``name`` of its function and the texts of its arguments, with its options.

    ``tight`` are those texts as they stand before an index or a dot; ``defaults`` and ``words`` are the record's;
    ``ndim`` counts the axes of the first argument.
    """

    name: str
    texts: list[str]
    tight: list[str]
    static: Options
    defaults: Options
    words: Mapping[str, str]
    ndim: int


def function_call(call: Call) -> str:
    """Write a call with all arguments, and the options that differ from what the function takes by itself."""
    options = [f"{name}={option_text(value)}" for name, value in given(call)]
    return f"{call.name}({', '.join([*call.texts, *options])})"


def given(call: Call) -> list[tuple[str, Any]]:
    """Return the options of a call that differ from what the function takes by itself."""
    shown = []
    for key, value in call.static.items():
        if key in call.defaults and value == call.defaults[key]:
            continue
        if key == "dim" and (value is None or (isinstance(value, tuple) and len(value) == call.ndim) or call.ndim == 1):
            continue
        single = key == "dim" and isinstance(value, tuple) and len(value) == 1
        shown.append((call.words.get(key, key), value[0] if single else value))
    return shown


def with_numbers(call: Call) -> str:
    """Write a call whose options are numbers that stand in their places: ``elu(x, 0.5)``."""
    return f"{call.name}({', '.join([*call.texts, *map(number_text, call.static.values())])})"


def each_loss(call: Call) -> str:
    """Write a call of a loss that is not reduced."""
    return f'{call.name}({", ".join(call.texts)}, reduction="none")'


def number_text(value: float) -> str:
    """Return a number as short as exact: 3 and not 3.0, but -0.0."""
    value = float(value)
    if value == 0 and math.copysign(1, value) < 0:
        return "-0.0"
    if not math.isfinite(value):
        return f"math.{value}" if value > 0 or math.isnan(value) else f"-math.{-value}"
    if value.is_integer() and -1e15 < value < 1e15:
        return str(int(value))
    return repr(value)


def option_text(value: object) -> str:
    """Return an option as text."""
    if isinstance(value, float):
        return "1e300" if value == float("inf") else number_text(value)
    if isinstance(value, str):
        return f'"{value}"'
    return str(value)


def index_text(key: Index) -> str:
    """Return an index as it stands between brackets; a list of lists alone would be one for each axis."""
    if isinstance(key, np.ndarray) and key.ndim > 1:
        key = (key,)
    if isinstance(key, tuple):
        return ",".join(map(part_text, key)) + ("," if len(key) == 1 else "")
    return part_text(key)


def part_text(key: Index) -> str:
    """Return one part of an index."""
    if isinstance(key, slice):
        bounds = [key.start, key.stop] + ([] if key.step is None else [key.step])
        return ":".join("" if bound is None else str(bound) for bound in bounds)
    if isinstance(key, np.ndarray):
        return str(key.tolist())
    return "..." if key is Ellipsis else str(key)
