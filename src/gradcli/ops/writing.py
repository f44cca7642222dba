"""How operations are written in the language, and the vjps that put cotangents back to where entries came from."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from gradcli.ops.links import Array, Index, Indices, Options, Shape


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
    options = [f"{name}={option_text(value)}" for name, value in options_shown(call)]
    return f"{call.name}({', '.join([*call.texts, *options])})"


def options_shown(call: Call) -> list[tuple[str, Any]]:
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


# --- cotangents put back ---

LISTED = 6
"""Entries of a vector up to which it is written out with its zeros."""
MOST_PLACES = 256
"""Places that an index may list so that its rule has a text."""
MOST_ROWS = 1024
"""Rows of a matrix of zeros and ones that a text may make."""

Key = tuple[Any, ...]
"""An index with one part for every axis, and None for a new one."""


def numbers(values: Iterable[int]) -> str:
    """Return whole numbers with commas between them."""
    return ", ".join(str(int(value)) for value in values)


def axis_text(length: int, axis: int, ndim: int) -> str:
    """Return the positions along an axis, as they stand beside an array of ``ndim`` axes."""
    return f"arange({length}){trailing(ndim - 1 - axis)}"


def trailing(count: int, before: str = ":") -> str:
    """Return the index that adds so many axes behind the first, or behind the two of a matrix with ``:, :`` before."""
    return f"[{before}{', None' * count}]" if count else ""


def full_key(key: Index, shape: Shape) -> Key:
    """Return an index with a part for every axis: no ellipsis, and slices where it ends early."""
    parts = key if isinstance(key, tuple) else (key,)
    picking = [part for part in parts if part is not None and part is not Ellipsis]
    used = sum(part.ndim if isinstance(part, np.ndarray) and part.dtype == np.bool_ else 1 for part in picking)
    rest = (slice(None),) * (len(shape) - used)
    at = next((n for n, part in enumerate(parts) if part is Ellipsis), None)
    return (*parts, *rest) if at is None else (*parts[:at], *rest, *parts[at + 1 :])


def is_basic(key: Key) -> bool:
    """Return whether an index is made of integers, slices and new axes."""
    return not any(isinstance(part, np.ndarray | list) for part in key)


def index_text_back(_k: int, out: Array, x: Array, *, key: Index) -> tuple[str, ...]:
    """Return the texts of zeros in the shape of x with g where the index picked."""
    shape, parts = np.shape(x), full_key(key, np.shape(x))
    if is_basic(parts):
        return (*at_its_place(parts, shape), basic_back(parts, shape))
    result = listed_back(parts, shape)
    places = np.arange(math.prod(shape)).reshape(shape)
    return (result,) if result else places_text(np.ravel(places[key]), shape, np.shape(out))


def at_its_place(key: Key, shape: Shape) -> tuple[str, ...]:
    """Return the text of g in its place among zeros, or g times that place where an infinite g is not taken times 0."""
    if len(key) != len(shape) or None in key:
        return ()
    single = all(not isinstance(part, slice) for part in key)
    if single and shape and math.prod(shape) <= LISTED:
        entries = np.zeros(shape, dtype=object)
        entries[key] = "{g}"
        return (str(entries.tolist()).replace("'", ""),)
    if not 0 < len(shape) < 3 or any(isinstance(part, slice) and part != slice(None) for part in key):
        return ()
    axes = [
        "{g}" if isinstance(part, slice) else f"one_hot({part % length}, {length})"
        for part, length in zip(key, shape, strict=True)
    ]
    place = axes[0] if len(axes) == 1 else f"outer({', '.join(axes)})"
    return (f"{{g}}*{place}",) if single else (place,) if len(set(axes)) > 1 else ()


def basic_back(key: Key, shape: Shape) -> str:
    """Return the text for integers and slices: zeros round g, and between where a slice leaves entries out."""
    parts = [part for part in key if part is not None]
    places = [places_of(part, length) for part, length in zip(parts, shape, strict=True)]
    lengths, text = [len(along_axis) for along_axis in places], "{g}"
    if None in key:
        text = f"reshape({text}, {numbers(lengths) or '()'})"
    elif any(not isinstance(part, slice) for part in parts):
        text += f"[{', '.join(':' if isinstance(part, slice) else 'None' for part in parts)}]"
    for axis, picked in enumerate(places):
        text = spread_along(text, picked, axis, lengths, shape)
        lengths[axis] = shape[axis]
    return text


def places_of(part: int | slice, length: int) -> range:
    """Return the places along an axis that an integer or a slice picks."""
    if isinstance(part, slice):
        return range(*part.indices(length))
    return range(int(part) % length, int(part) % length + 1)


def spread_along(text: str, picked: range, axis: int, lengths: list[int], shape: Shape) -> str:
    """Return a text of ``lengths`` spread along an axis to the places that were picked, with zeros elsewhere."""
    length, count = shape[axis], len(picked)
    if not count:
        return zeros_text((*lengths[:axis], length, *lengths[axis + 1 :]))
    low, high, step = min(picked[0], picked[-1]), max(picked[0], picked[-1]), abs(picked.step) if count > 1 else 1
    if picked.step < 0 and count > 1:
        text = f"flip({text}, {axis})"
    if step > 1:
        text = f"repeat_interleave({text}, {step}, {axis})"
        if low + count * step > length:
            text += f"[{':, ' * axis}:{length - low}]"
        high = min(low + count * step, length) - 1
    before, after = (
        zeros_text((*lengths[:axis], many, *lengths[axis + 1 :])) if many else "" for many in (low, length - 1 - high)
    )
    if before or after:
        inner = ", ".join(piece for piece in (before, text, after) if piece)
        text = f"cat([{inner}]{f', dim={axis}' if axis else ''})"
    if step == 1:
        return text
    return f"where({axis_text(length, axis, len(shape))} % {step} == {low % step}, {text}, 0)"


def zeros_text(shape: Shape) -> str:
    """Return an array of zeros."""
    return f"zeros({numbers(shape)})"


def listed_back(key: Key, shape: Shape) -> str:
    """Return the text for one list of places along the first axis; empty for others."""
    first, *others = key
    if len(shape) == len(key) == 2 and all(isinstance(part, np.ndarray) for part in key):
        rows, columns = key
        each = rows.dtype != np.bool_ and np.array_equal(rows, np.arange(shape[0])) and columns.shape == rows.shape
        return f"{{C}}*{one_hot(columns, shape[1])}" if each and columns.size <= MOST_PLACES else ""
    if any(not isinstance(part, slice) or part != slice(None) for part in others) or not isinstance(first, np.ndarray):
        return ""
    places = np.flatnonzero(first) if first.dtype == np.bool_ else first
    if first.ndim != 1 or len(shape) > 2 or shape[0] > MOST_ROWS or not 0 < places.size <= MOST_PLACES:
        return ""
    rows = one_hot(places, shape[0])
    return f"{{g}} @ {rows}" if len(shape) == 1 else f"{rows}.T @ {{g}}"


def one_hot(places: Indices, count: int) -> str:
    """Return the rows of zeros and ones that have a 1 at places along an axis of so many."""
    return f"one_hot([{numbers(places % count)}], {count})"


def places_text(places: Indices, shape: Shape, picked: Shape) -> tuple[str, ...]:
    """Return the text of g, of shape ``picked``, added up at flat places of an array of zeros."""
    size, count = math.prod(shape), math.prod(picked)
    if not count:
        return (zeros_text(shape),)
    if size > MOST_ROWS or count > MOST_PLACES:
        return ()
    spread = f"expand({{g}}, {numbers(picked)})" if len(picked) > 1 else "{g}"
    return (f"reshape(flatten({spread}) @ eye({size})[[{numbers(places)}]], {numbers(shape)})",)


def put_text_back(k: int, out: Array, x: Array, _value: Array, *, key: Index) -> tuple[str, ...]:
    """Return the text of g with zeros where a value was written; what the value gets writes itself."""
    del out
    shape = np.shape(x)
    if k == 1:
        return ()
    parts = full_key(key, shape)
    if is_basic(parts):
        tests = [
            test for axis, part in enumerate(p for p in parts if p is not None) for test in along(part, axis, shape)
        ]
        if not tests:
            return ("0*{g}",)
        condition = tests[0] if len(tests) == 1 else " & ".join(f"({test})" for test in tests)
        return (f"where({condition}, 0, {{g}})",)
    if math.prod(shape) > MOST_PLACES:
        return ()
    written = np.zeros(shape, dtype=bool)
    written[key] = True
    return (f"where({written.astype(int).tolist()} == 1, 0, {{g}})",)


def along(part: int | slice, axis: int, shape: Shape) -> list[str]:
    """Return the conditions that a place along an axis fulfils which an integer or a slice picks."""
    length, place = shape[axis], axis_text(shape[axis], axis, len(shape))
    if isinstance(part, int | np.integer):
        return [f"{place} == {int(part) % length}"]
    places = range(*part.indices(length))
    if len(places) == length:
        return []
    if not places:
        return [f"{place} < 0"]
    low, high, step = min(places), max(places), abs(places.step)
    tests = [f"{place} >= {low}"] * (low > 0) + [f"{place} <= {high}"] * (high < length - 1)
    return [*tests, *([f"{place} % {step} == {low % step}"] if step > 1 and len(places) > 1 else [])]


def tile_text_back(_k: int, _out: Array, x: Array, *, reps: Shape) -> str:
    """Return the text of the sum over all copies."""
    shape = (1,) * (len(reps) - np.ndim(x)) + np.shape(x)
    counts = (1,) * (len(shape) - len(reps)) + tuple(reps)
    split = numbers(n for pair in zip(counts, shape, strict=True) for n in pair)
    total = f"sum(reshape({{g}}, {split}), dim={tuple(range(0, 2 * len(shape), 2))})" if shape else "{g}"
    return total if len(shape) == np.ndim(x) else f"reshape({total}, {numbers(np.shape(x)) or '()'})"


def repeat_text_back(_k: int, _out: Array, x: Array, *, repeats: int, dim: int) -> str:
    """Return the text of the sum over the copies of each entry."""
    shape = np.shape(x)
    split = numbers((*shape[: dim + 1], repeats, *shape[dim + 1 :]))
    return f"sum(reshape({{g}}, {split}), dim={dim + 1})"


def diagonal_text_back(_k: int, out: Array, x: Array, *, k: int = 0, offset: int = 0) -> str | tuple[str, ...]:
    """Return the text of a vector from a diagonal, or of zeros with a vector on one."""
    k = k or offset
    if np.ndim(x) > 2:
        return ()
    if np.ndim(x) == 1:
        return f"diagonal({{g}}, {k})" if k else "diagonal({g})"
    rows, columns = np.shape(x)
    if rows == columns:
        return f"diag({{g}}, {k})" if k else "diag({g})"
    shift = f" + {k}" if k > 0 else f" - {-k}" if k < 0 else ""
    count = int(np.size(out))
    text = "{g}"
    if count != columns:
        before, after = max(-k, 0), rows - max(-k, 0) - count
        pieces = [f"zeros({before})"] * (before > 0) + [text] + [f"zeros({after})"] * (after > 0)
        text = (f"cat([{', '.join(pieces)}])" if len(pieces) > 1 else text) + "[:, None]"
    return f"where(arange({columns}) == arange({rows})[:, None]{shift}, {text}, 0)"
