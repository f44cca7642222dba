"""Numbers, arrays and names as text, for readers and for scripts."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from gradcli.ops.declare import Array, Indices

Form = Callable[[Array | Indices], Any]
"""What becomes of an array in a document."""


def strict(value: float) -> float | str:
    """Return a number as strict JSON has it: the names of what is not finite as strings."""
    value = float(value)
    if math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def nested(array: Array | Indices) -> Any:
    """Return an array as nested lists of strict JSON numbers; indices stay integers."""
    if np.asarray(array).dtype.kind == "i":
        return np.asarray(array).tolist()
    array = np.asarray(array, dtype=np.float64)
    if np.isfinite(array).all():
        return array.tolist()
    return reshaped([strict(value) for value in array.ravel()], array.shape)


def reshaped(flat: list[Any], shape: tuple[int, ...]) -> Any:
    """Return a flat list as nested lists of ``shape``."""
    if not shape:
        return flat[0]
    step = math.prod(shape[1:])
    if len(shape) == 1:
        return list(flat)
    return [reshaped(flat[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]


MOST_PRECISE = 17
"""Digits with which every double is told from all others."""


def short(value: float, precision: int = 6) -> str:
    """Return a number for readers: at most ``precision`` digits, integers without a point, no trailing zeros.

    With all digits it is the shortest text that reads back as the same number: 1.39, and not 1.3899999999999999.
    """
    value = float(value)
    if not math.isfinite(value):
        return str(value)
    if value == 0:
        return "0"
    if value.is_integer() and abs(value) < 10 ** max(precision, 6):
        return str(int(value))
    return full(value) if precision >= MOST_PRECISE else f"{value:.{precision}g}"


def full(value: float) -> str:
    """Return the shortest text that reads back as the same number."""
    text = repr(float(value))
    return text.removesuffix(".0") if "e" not in text else text


def number_in(text: str) -> float | None:
    """Return the number that a text is as it stands, such as ``3.0``; None for any other text."""
    try:
        return float(text)
    except ValueError:
        return None


def in_brackets(text: str) -> str:
    """Return a number, in parentheses if it is negative."""
    return f"({text})" if text.startswith("-") else text


def padded(texts: Sequence[str]) -> list[str]:
    """Return texts moved to the right so that the decimal points of their last numbers stand in one column."""
    points = [decimal_point(text) for text in texts]
    left = max(points, default=0)
    return [" " * (left - point) + text for point, text in zip(points, texts, strict=True)]


def decimal_point(text: str) -> int:
    """Return where the decimal point of the number at the end of a text stands, or would stand."""
    start = text.rfind(" ") + 1
    result = re.search(r"(?<=\d)[.e]", text[start:])
    return start + result.start() if result else len(text)


def widened(texts: Sequence[str]) -> list[str]:
    """Return texts of equal length, each at the left."""
    width = max(map(len, texts), default=0)
    return [text.ljust(width) for text in texts]


def aligned(texts: Sequence[str]) -> list[str]:
    """Return texts of equal length, their decimal points in one column."""
    return widened(padded(texts))


def shaped_lines(array: Array, precision: int = 6, most: int = 8, dots: str = "…") -> list[str]:
    """Return a matrix with a row on each line and its columns aligned, the middle of both left out beyond ``most``."""
    rows, columns = (ends(count, most) for count in array.shape)
    cells: list[list[str]] = []
    for j in columns:
        texts = padded([dots if j is None else short(array[i, j], precision) for i in rows if i is not None])
        cells.append(widened([text + "," * (len(cells) < len(columns) - 1) for text in texts]))
    lines = ["[" + " ".join(row).rstrip() + "]" for row in zip(*cells, strict=True)]
    lines = [f"{'[' if k == 0 else ' '}{line}{']' if k == len(lines) - 1 else ','}" for k, line in enumerate(lines)]
    if None in rows:
        lines.insert(rows.index(None), f" {dots}")
    return lines


def ends(count: int, most: int) -> list[int | None]:
    """Return 0 … count-1, or its first and last few with None between where there are more than ``most``."""
    if count <= most:
        return list(range(count))
    head = (most + 1) // 2
    return [*range(head), None, *range(count - (most - head), count)]


def array_text(array: Array, precision: int = 6, most: int = 12, dots: str = "…") -> str:
    """Return an array on one line, its middle left out where it has more than ``most`` entries."""
    array = np.asarray(array)
    if array.ndim == 0:
        return short(float(array), precision)
    if array.size > most:
        flat = array.ravel()
        head, tail = (", ".join(short(v, precision) for v in part) for part in (flat[:3], flat[-2:]))
        return f"[{head}, {dots} {tail}]" + (f" in shape {array.shape}" if array.ndim > 1 else "")
    return f"[{', '.join(array_text(item, precision, most, dots) for item in array)}]"


def input_text(array: Array) -> str:
    """Return an array in the syntax of ``--x``, with all its digits: ``1,2`` or ``1,2;3,4``, JSON beyond."""
    array = np.asarray(array)
    if array.ndim == 1 and array.size:
        return ",".join(map(full, array.tolist())) + ("," if array.size == 1 else "")
    if array.ndim == 2 and array.size and array.shape[0] > 1:
        return ";".join(",".join(map(full, row)) for row in array.tolist())
    return list_text(array)


def list_text(array: Array) -> str:
    """Return an array as nested lists with all digits."""
    array = np.asarray(array)
    return full(float(array)) if array.ndim == 0 else "[" + ",".join(list_text(item) for item in array) + "]"


def grad_text(grad: Mapping[str, Array]) -> str:
    """Return gradients as the command ``grad`` prints them."""
    if len(grad) == 1:
        return input_text(next(iter(grad.values())))
    return "\n".join(f"{name}={input_text(g)}" for name, g in grad.items())


Labels = Mapping[str, str]
"""What a script calls a variable, by the identifier that formulas have for it.

Formulas have one word for each variable, so that they can be read again: ``net_fc1_weight`` for ``net.fc1.weight``, and
``params__W1__`` for ``params['W1']``. An identifier is as long as its label, so that columns stay where they are, and
stands nowhere else in the script.
"""


def with_labels(text: str, labels: Labels) -> str:
    """Return a text with labels in the place of identifiers.

    >>> with_labels("dloss/dnet_fc1_bias[0]", {"net_fc1_bias": "net.fc1.bias"})
    'dloss/dnet.fc1.bias[0]'
    """
    if not labels:
        return text
    words = "|".join(map(re.escape, sorted(labels, key=len, reverse=True)))
    return re.sub(rf"(?:{words})(?!\w)", lambda word: labels[word[0]], text)


def relabelled(document: dict[str, Any], labels: Labels) -> dict[str, Any]:
    """Return a JSON document with labels in the place of identifiers."""

    def changed(part: Any) -> Any:
        if isinstance(part, str):
            return with_labels(part, labels)
        if isinstance(part, dict):
            return {with_labels(key, labels): changed(item) for key, item in part.items()}
        if isinstance(part, list) and part and isinstance(part[0], str | dict | list):
            return [changed(item) for item in part]
        return part

    return changed(document) if labels else document


def split_outside(text: str, marks: tuple[str, ...]) -> list[str]:
    """Return the pieces of a text, each but the first beginning with a mark that stands outside of all brackets.

    Nothing where a bracket closes that was not opened, as between ``[a]`` and ``[b]`` without their outer ones.

    >>> split_outside("a*(b + c) - f(d - e)", (" + ", " - "))
    ['a*(b + c)', ' - f(d - e)']
    >>> split_outside("a] + [b", (" + ",))
    []
    """
    depth, start, pieces = 0, 0, []
    for place, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if depth < 0:
            return []
        if not depth and text.startswith(marks, place):
            pieces.append(text[start:place])
            start = place
    return [*pieces, text[start:]]


Kind = TypeVar("Kind")
LONGEST_TURN = 12
"""Lines of one turn of a loop that repetitions are looked for in."""
FEW = 3
"""Turns of a loop that are all shown."""
NUMBERED = re.compile(r"(?<=[A-Za-z_])\d+\b|(?<=\[)\d+(?=\])")


class Gap(NamedTuple):
    """Items that are left out: ``turns`` of ``period`` items each."""

    turns: int
    period: int


def unnumbered(text: str) -> str:
    """Return a text without the numbers of its names, and of rows such as ``xs[3]``.

    >>> unnumbered("y10.grad*2 + h1[0]")
    'y.grad*2 + h[]'
    """
    return NUMBERED.sub("", text)


def repetition(patterns: Sequence[Hashable | None], start: int) -> tuple[int, int]:
    """Return how many items from ``start`` on repeat, and how often; one whose pattern is None never does.

    >>> repetition(["y", "a", "b", "a", "b", "a", "b", "a", "b"], 1)
    (2, 4)
    """
    for period in range(1, LONGEST_TURN + 1):
        turn = patterns[start : start + period]
        if None in turn:
            return 1, 1
        turns = 1
        while patterns[start + period * turns : start + period * (turns + 1)] == turn:
            turns += 1
        if turns > FEW:
            return period, turns
    return 1, 1


def folded(patterns: Sequence[Hashable | None]) -> Iterator[int | Gap]:
    """Yield the places of the items that are shown, and the gaps between the first and the last turn of a loop.

    >>> list(folded(["y", "a", "a", "a", "a", "a", None]))
    [0, 1, Gap(turns=3, period=1), 5, 6]
    """
    place = 0
    while place < len(patterns):
        period, turns = repetition(patterns, place)
        if turns <= FEW:
            yield place
            place += 1
            continue
        end = place + period * turns
        yield from range(place, place + period)
        yield Gap(turns - 2, period)
        yield from range(end - period, end)
        place = end


def shortened(
    items: Sequence[Kind | str], pattern: Callable[[Kind], Hashable | None], word: str, most: int
) -> list[Kind | str]:
    """Return items with a line that counts in the place of the middle turns of a loop, and of what is beyond ``most``.

    A text among the items stays as it is, and no loop goes on past it. ``word`` is what one item is called.

    >>> shortened([1, 1, 1, 1, 1, "more", 1, 2, 3], str, "row", 60)
    [1, '…   3 more rows of this form', 1, 'more', 1, 2, 3]
    """
    kept: list[Kind | str] = []
    for part in folded([None if isinstance(item, str) else pattern(item) for item in items]):
        if isinstance(part, Gap):
            like = f"{word}s of this form" if part.period == 1 else f"turns of {part.period} {word}s"
            kept.append(f"…   {part.turns:,} more {like}")
        else:
            kept.append(items[part])
    if len(kept) <= most:
        return kept
    half = most // 2
    return [*kept[:half], f"…   {len(kept) - 2 * half:,} lines more", *kept[-half:]]
