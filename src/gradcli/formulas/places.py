"""Where the entries go that an op moves, as formulas of index letters: ``h1[i]`` is ``h0[699 - i]``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradcli.ops.links import Indices
from gradcli.ops.signatures import Shape
from gradcli.records import dataclass


@dataclass(frozen=True, slots=True)
class Places:
    """One index formula an axis for the output and for the argument, and a ``condition`` on the letters, if any.

    A letter that stands alone runs along its whole axis; all other indices exist then.
    """

    rows: list[str]
    columns: list[str]
    condition: str = ""


def places_of(rows: Indices, columns: Indices, out: Shape, shape: Shape, letters: Sequence[str]) -> Places | None:
    """Return where the entries at flat ``columns`` of an array of ``shape`` stand in one of the shape ``out``.

    None where no formula says so for each of them and for no other.
    """
    if covers(rows, out):
        found = indices(columns[np.argsort(rows)], shape, out, letters)
        return None if found is None else Places(list(letters[: len(out)]), found)
    if covers(columns, shape):
        found = indices(rows[np.argsort(columns)], out, shape, letters)
        return None if found is None else Places(found, list(letters[: len(shape)]))
    condition = triangle(rows, out, letters) if np.array_equal(rows, columns) and out == shape else ""
    return Places(list(letters[: len(out)]), list(letters[: len(out)]), condition) if condition else None


def covers(flat: Indices, shape: Shape) -> bool:
    """Return whether these are all places of an array that has some, each once."""
    size = int(np.prod(shape))
    return 0 < len(flat) == size and bool(np.all(np.bincount(flat, minlength=size) == 1))


def indices(flat: Indices, shape: Shape, lengths: Shape, letters: Sequence[str]) -> list[str] | None:
    """Return, for the flat places in ``shape`` of all entries of an array of ``lengths``, one formula an axis."""
    if not shape:
        return []
    grid = list(np.indices(lengths).reshape(len(lengths), int(np.prod(lengths))))
    wanted = zip(np.unravel_index(flat, shape), shape, strict=True)
    found = [index(np.asarray(axis), bound, grid, lengths, letters) for axis, bound in wanted]
    return None if None in found else [text for text in found if text is not None]


def index(wanted: Indices, bound: int, grid: list[Indices], lengths: Shape, letters: Sequence[str]) -> str | None:
    """Return one index as a formula: ``i``, ``699 - i``, ``30*i + j``, ``(i + 698) % 700`` or ``i//2``."""
    start = int(wanted[0])
    # How much an index grows with a letter is read off at the second place along its axis, and then held to all.
    steps = [int(np.prod(lengths[axis + 1 :])) for axis in range(len(lengths))]
    factors = [int(wanted[step]) - start if n > 1 else 0 for step, n in zip(steps, lengths, strict=True)]
    straight = sum((k * axis for k, axis in zip(factors, grid, strict=True)), np.full(len(wanted), start))
    if np.array_equal(straight, wanted):
        return affine(factors, start, letters)
    for axis, n, letter in zip(grid, lengths, letters, strict=False):
        if np.array_equal((axis + start) % bound, wanted):
            return f"({affine([1], start, [letter])}) % {bound}" if start else f"{letter} % {bound}"
        if np.array_equal(axis // (n // bound or 1), wanted):
            return f"{letter}//{n // bound}"
    return None


def affine(factors: Sequence[int], start: int, letters: Sequence[str]) -> str:
    """Return ``2*i + j + 1`` and its like, what is taken away at the end."""
    terms = [(k, letter if abs(k) == 1 else f"{abs(k)}*{letter}") for k, letter in zip(factors, letters, strict=False)]
    present = [(k, text) for k, text in [*terms, (start, str(abs(start)))] if k]
    if not present:
        return "0"
    (k, first), *others = sorted(present, key=lambda term: term[0] < 0)
    return ("-" if k < 0 else "") + first + "".join(f" {'-' if k < 0 else '+'} {text}" for k, text in others)


def triangle(rows: Indices, shape: Shape, letters: Sequence[str]) -> str:
    """Return the condition for a place of a matrix to be among ``rows``, empty if these are no triangle of it."""
    if len(shape) < 2 or not len(rows):
        return ""
    inside = np.zeros(shape, dtype=bool)
    inside.flat[rows] = True
    *_, above, along = np.indices(shape)
    offset, i, j = along - above, letters[len(shape) - 2], letters[len(shape) - 1]
    low, high = int(np.min(offset[inside])), int(np.max(offset[inside]))
    if np.array_equal(offset <= high, inside):
        return f"{j} <= {affine([1], high, [i])}"
    return f"{j} >= {affine([1], low, [i])}" if np.array_equal(offset >= low, inside) else ""
