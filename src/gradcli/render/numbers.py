"""Numbers and arrays as text, for readers and for scripts."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.ops.declare import Array, Indices


def strict(value: float) -> float | str:
    """Return a number as strict JSON has it: the names of what is not finite as strings."""
    value = float(value)
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


Form = Callable[[Array | Indices], Any]
"""What becomes of an array in a document."""


def nested(array: Array | Indices) -> Any:
    """Return an array as nested lists of strict JSON numbers; indices stay integers."""
    if np.asarray(array).dtype.kind == "i":
        return np.asarray(array).tolist()
    array = np.asarray(array, dtype=np.float64)
    if np.isfinite(array).all():
        return array.tolist()
    flat = [strict(value) for value in array.ravel()]
    return reshaped(flat, array.shape)


def reshaped(flat: list[Any], shape: tuple[int, ...]) -> Any:
    """Return a flat list as nested lists of ``shape``."""
    if not shape:
        return flat[0]
    if len(shape) == 1:
        return list(flat)
    step = math.prod(shape[1:])
    return [reshaped(flat[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]


def short(value: float, precision: int = 6) -> str:
    """Return a number for readers: at most ``precision`` digits, integers without a point, no trailing zeros."""
    value = float(value)
    if not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    if value == 0:
        return "0"
    if value.is_integer() and abs(value) < 10 ** max(precision, 6):
        return str(int(value))
    return f"{value:.{precision}g}"


def array_text(array: Array, precision: int = 6, most: int = 12) -> str:
    """Return an array on one line, its middle left out where it has more than ``most`` entries."""
    array = np.asarray(array)
    if array.ndim == 0:
        return short(float(array), precision)
    if array.size > most:
        flat = array.ravel()
        head, tail = (", ".join(short(v, precision) for v in part) for part in (flat[:3], flat[-2:]))
        return f"[{head}, … {tail}]" + (f" in shape {array.shape}" if array.ndim > 1 else "")
    return f"[{', '.join(array_text(item, precision, most) for item in array)}]"


def input_text(array: Array) -> str:
    """Return an array in the syntax of ``--x``, with all its digits: ``1,2`` or ``1,2;3,4``, JSON beyond."""
    array = np.asarray(array)
    if array.ndim == 0:
        return full(float(array))
    if array.ndim == 1 and array.size:
        return ",".join(full(v) for v in array.tolist()) + ("," if array.size == 1 else "")
    if array.ndim == 2 and array.size and array.shape[0] > 1:
        return ";".join(",".join(full(v) for v in row) for row in array.tolist())
    return "[" + ",".join(list_text(item) for item in array) + "]"


def list_text(array: Array) -> str:
    """Return an array as nested lists with all digits."""
    array = np.asarray(array)
    return full(float(array)) if array.ndim == 0 else "[" + ",".join(list_text(item) for item in array) + "]"


def full(value: float) -> str:
    """Return the shortest text that reads back as the same number."""
    text = repr(float(value))
    return text.removesuffix(".0") if "e" not in text else text
