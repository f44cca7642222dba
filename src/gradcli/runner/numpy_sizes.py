"""How many entries NumPy would make: asked before it makes them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

Given = list[Any]
Options = dict[str, Any]


def size_of(x: Any) -> int:
    """Return how many entries an array has, or all arrays and numbers of a list together."""
    if isinstance(x, np.ndarray):
        return int(x.size)
    if isinstance(x, list | tuple):
        plain = sum(1 for item in x if not isinstance(item, np.ndarray | list | tuple))
        return plain + sum(size_of(item) for item in x if isinstance(item, np.ndarray | list | tuple))
    return len(x) if isinstance(x, range) else 1


def lengths(shape: Any) -> int:
    """Return how many entries a shape has; what is no length counts as 1."""
    parts = shape if isinstance(shape, tuple | list) else [shape]
    return math.prod(abs(int(n)) for n in parts if isinstance(n, int | np.integer))


def argument(given: Given, options: Options, place: int, name: str, default: Any = 1) -> Any:
    """Return an argument that is given by its place or by its name."""
    return given[place] if len(given) > place else options.get(name, default)


def of_shape(given: Given, options: Options) -> int:
    """Return the size of a shape, the first argument."""
    return lengths(argument(given, options, 0, "shape", options.get("N", options.get("M", 1))))


def of_square(given: Given, options: Options) -> int:
    """Return the size of a matrix of so many rows, and as many columns where these are not given."""
    rows = lengths(argument(given, options, 0, "N", options.get("n", 1)))
    columns = argument(given, options, 1, "M", None)
    return rows * (lengths(columns) if isinstance(columns, int) else rows)


def of_indices(given: Given, options: Options) -> int:
    """Return the size of the places of a shape."""
    shape = argument(given, options, 0, "dimensions", ())
    return lengths(shape) * len(shape) if isinstance(shape, tuple | list) else 1


def of_steps(given: Given, _options: Options) -> int:
    """Return how many numbers ``arange`` makes."""
    numbers = [float(a) for a in given if isinstance(a, int | float | np.number)]
    low, high, step = (0.0, numbers[0], 1.0) if len(numbers) == 1 else (*numbers, 1.0, 1.0, 1.0)[:3]
    span = (high - low) / (step or 1.0)
    return int(span) + 1 if math.isfinite(span) and span > 0 else 1


def of_number(given: Given, options: Options) -> int:
    """Return how many numbers ``linspace`` makes."""
    return lengths(argument(given, options, 2, "num", 50)) * max(map(size_of, given), default=1)


def of_product(given: Given, _options: Options) -> int:
    """Return the product of the sizes."""
    return math.prod(map(size_of, given[:2]))


def of_mesh(given: Given, _options: Options) -> int:
    """Return the size of all arrays of ``meshgrid``."""
    return math.prod(map(size_of, given)) * len(given)


def many(x: Any) -> list[int]:
    """Return whole numbers of an argument; none where it has others."""
    numbers = np.ravel(np.asarray(x))
    return [abs(int(n)) for n in numbers] if numbers.dtype.kind in "iu" else [1]


def of_tiles(given: Given, options: Options) -> int:
    """Return the size of an array that is repeated along its axes."""
    return size_of(given[0]) * math.prod(many(argument(given, options, 1, "reps")))


def of_repeats(given: Given, options: Options) -> int:
    """Return the size of an array of which each entry is repeated."""
    return size_of(given[0]) * max(many(argument(given, options, 1, "repeats")), default=1)


def of_new_shape(given: Given, options: Options) -> int:
    """Return the size of the shape that an array is brought to."""
    return lengths(argument(given, options, 1, "new_shape", options.get("shape", 1)))


def of_pad(given: Given, options: Options) -> int:
    """Return the size of an array with a border."""
    width = max(many(argument(given, options, 1, "pad_width", 0)), default=0)
    return math.prod(n + 2 * width for n in np.shape(given[0]))


def of_diagonal(given: Given, options: Options) -> int:
    """Return the size of the matrix of a diagonal."""
    rows = size_of(given[0]) + lengths(argument(given, options, 1, "k", 0) or 0)
    return rows**2 if np.ndim(given[0]) == 1 or size_of(given[0]) < rows else size_of(given[0])


def of_vander(given: Given, options: Options) -> int:
    """Return the size of a matrix of powers."""
    return size_of(given[0]) * lengths(argument(given, options, 1, "N", None) or size_of(given[0]))


def of_triangle(given: Given, options: Options) -> int:
    """Return the size of the places of a triangle."""
    return lengths(argument(given, options, 0, "n")) * lengths(argument(given, options, 2, "m", None) or given[0])


def of_counts(given: Given, options: Options) -> int:
    """Return how many counts ``bincount`` makes."""
    numbers = np.asarray(given[0])
    most = int(numbers.max()) if numbers.size and numbers.dtype.kind in "iub" else 1
    return most + lengths(argument(given, options, 2, "minlength", 0)) + 1


def of_like(given: Given, options: Options) -> int:
    """Return the size of an array like another."""
    shape = options.get("shape")
    return size_of(given[0]) if shape is None else lengths(shape)


def of_bins(given: Given, options: Options) -> int:
    """Return how many bins a histogram has."""
    bins = argument(given, options, 1, "bins", 10)
    return lengths(bins) + size_of(given[0]) if isinstance(bins, int) else sum(map(size_of, given))


def of_bins_twice(given: Given, options: Options) -> int:
    """Return how many bins a histogram of two axes has."""
    bins = argument(given, options, 2, "bins", 10)
    return lengths(bins) ** 2 if isinstance(bins, int) else lengths(bins)


def of_dot(given: Given, _options: Options) -> int:
    """Return the size of a product over the last axis of one and the last but one of the other."""
    a, b = (np.shape(x) for x in given[:2])
    return math.prod((*a[:-1], *b[:-2], *(b[-1:] if len(b) > 1 else ())))


def of_inner(given: Given, _options: Options) -> int:
    """Return the size of a product over the last axes."""
    a, b = (np.shape(x) for x in given[:2])
    return math.prod((*a[:-1], *b[:-1]))


def of_tensordot(given: Given, options: Options) -> int:
    """Return the size of a product over several axes."""
    axes = argument(given, options, 2, "axes", 2)
    a, b = (np.shape(x) for x in given[:2])
    over = range(-axes, 0) if isinstance(axes, int) else axes[0] if isinstance(axes[0], list | tuple) else [axes[0]]
    shared = math.prod(a[k] for k in over if -len(a) <= k < len(a)) or 1
    return int(math.prod(a) * math.prod(b) // shared**2)


def of_matmul(given: Given, _options: Options) -> int:
    """Return the size of a product of matrices."""
    a, b = (np.shape(x) for x in given[:2])
    try:
        lead = np.broadcast_shapes(a[:-2], b[:-2])
    except ValueError:
        lead = ()
    return math.prod((*lead, *(a[-2:-1] if len(a) > 1 else ()), *(b[-1:] if len(b) > 1 else ())))


def of_einsum(given: Given, _options: Options) -> int:
    """Return the size of what ``einsum`` gives."""
    if not given or not isinstance(given[0], str) or "." in given[0]:
        return sum(map(size_of, given))
    sides = given[0].replace(" ", "").split("->")
    axes: dict[str, int] = {}
    for letters, array in zip(sides[0].split(","), given[1:], strict=False):
        axes |= dict(zip(letters, np.shape(array), strict=False))
    letters = sides[1] if len(sides) > 1 else "".join(axes)
    return math.prod(axes.get(letter, 1) for letter in letters)


def of_bases(given: Given, options: Options) -> int:
    """Return the size of the vectors of a decomposition."""
    rows, columns = (*np.shape(given[0])[-2:], 1, 1)[:2]
    whole = argument(given, options, 1, "full_matrices", default=True) is True or options.get("mode") == "complete"
    return int(rows**2 + columns**2 if whole else rows * columns)


def of_rows(given: Given, _options: Options) -> int:
    """Return the size of a matrix of rows by rows."""
    return int(max(np.shape(given[0])[:1] or (1,)) ** 2) + size_of(given[0])


def of_taken(given: Given, options: Options) -> int:
    """Return the size of rows that are picked by their places."""
    axis = argument(given, options, 2, "axis", None)
    places = size_of(argument(given, options, 1, "indices"))
    return places if axis is None else places * size_of(given[0]) // max(np.shape(given[0])[axis] or 1, 1)


def of_all(given: Given, _options: Options) -> int:
    """Return the size of what arrays make together: broadcast, or one after the other."""
    shapes = [np.shape(a) for a in given if isinstance(a, np.ndarray)]
    try:
        whole = math.prod(np.broadcast_shapes(*shapes)) if len(shapes) > 1 else 0
    except ValueError:
        whole = 0
    return max(whole, sum(map(size_of, given)))


SIZES: dict[str, Callable[[Given, Options], int]] = {
    **dict.fromkeys(("zeros", "ones", "empty", "full", "hamming", "hanning", "blackman", "kaiser", "bartlett"),
    of_shape),
    **dict.fromkeys(("identity", "tri", "eye"), of_square), "indices": of_indices, "arange": of_steps,
    **dict.fromkeys(("linspace", "logspace", "geomspace"), of_number),
    **dict.fromkeys(("outer", "kron", "convolve", "percentile", "quantile"),
    of_product), "meshgrid": of_mesh,
    "tile": of_tiles, "repeat": of_repeats, **dict.fromkeys(("resize", "broadcast_to"), of_new_shape), "pad": of_pad,
    **dict.fromkeys(("diag", "diagflat"), of_diagonal), "vander": of_vander, "bincount": of_counts,
    **dict.fromkeys(("tril_indices", "triu_indices", "mask_indices"), of_triangle), "diag_indices": of_shape,
    **dict.fromkeys(("zeros_like", "ones_like", "empty_like", "full_like"), of_like), "histogram2d": of_bins_twice,
    **dict.fromkeys(("histogram", "histogram_bin_edges"),
    of_bins), "dot": of_dot, "inner": of_inner, "matmul": of_matmul,
    "tensordot": of_tensordot, "einsum": of_einsum, **dict.fromkeys(("svd", "qr"), of_bases), "take": of_taken,
    **dict.fromkeys(("cov", "corrcoef"), of_rows),
}  # fmt: skip


def estimate(name: str, given: Given, options: Options) -> int:
    """Return how many entries a function would make at most; arguments that it does not take are its own error."""
    try:
        return max(SIZES.get(name, of_all)(given, options), 0)
    except (TypeError, ValueError, IndexError, AttributeError):
        return 0


def picked(array: Any, place: Any) -> int:
    """Return how many entries an index picks by arrays of places."""
    parts = place if isinstance(place, tuple) else (place,)
    arrays = [np.asarray(part) for part in parts if isinstance(part, np.ndarray | list)]
    if not arrays or any(part.dtype == np.bool_ for part in arrays):
        return 0
    others = sorted(np.shape(array))[len(parts) :] if len(parts) < np.ndim(array) else []
    slices = sum(isinstance(part, slice) for part in parts)
    whole = max(np.shape(array), default=1) ** slices
    return int(max(part.size for part in arrays) * math.prod(others) * whole)
