"""How many entries NumPy would make, and how many it would go through: asked before it does."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.ops.contractions import matmul_steps
from gradcli.ops.matrices import decomposed_in, eliminated


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


def steps(*given: Any, **_options: Any) -> int:
    """Return how many numbers ``arange`` makes."""
    numbers = [float(a) for a in given if isinstance(a, int | float | np.number)]
    low, high, step = (0.0, numbers[0], 1.0) if len(numbers) == 1 else (*numbers, 1.0, 1.0, 1.0)[:3]
    span = (high - low) / (step or 1.0)
    return int(span) + 1 if math.isfinite(span) and span > 0 else 1


def many(x: Any) -> list[int]:
    """Return whole numbers of an argument; none where it has others."""
    numbers = np.ravel(np.asarray(x))
    return [abs(int(n)) for n in numbers] if numbers.dtype.kind in "iu" else [1]


def diagonal(v: Any, k: Any = 0) -> int:
    """Return the size of the matrix of a diagonal."""
    rows = size_of(v) + lengths(k or 0)
    return rows**2 if np.ndim(v) == 1 or size_of(v) < rows else size_of(v)


def counts(x: Any, weights: Any = None, minlength: Any = 0) -> int:
    """Return how many counts ``bincount`` makes."""
    numbers = np.asarray(x)
    most = int(numbers.max()) if numbers.size and numbers.dtype.kind in "iub" else 1
    return most + lengths(minlength) + 1


def tensordot(a: Any, b: Any, axes: Any = 2) -> int:
    """Return the size of a product over several axes."""
    p, q = np.shape(a), np.shape(b)
    over = range(-axes, 0) if isinstance(axes, int) else axes[0] if isinstance(axes[0], list | tuple) else [axes[0]]
    shared = math.prod(p[k] for k in over if -len(p) <= k < len(p)) or 1
    return int(math.prod(p) * math.prod(q) // shared**2)


def together(*shapes: Any) -> tuple[int, ...]:
    """Return the shape that several make together, an empty one where they do not fit."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return ()


def product(a: Any, b: Any, *_: Any, **__: Any) -> int:
    """Return the size of a product of matrices."""
    p, q = np.shape(a), np.shape(b)
    return math.prod((*together(p[:-2], q[:-2]), *(p[-2:-1] if len(p) > 1 else ()), *(q[-1:] if len(q) > 1 else ())))


def einsum(*given: Any, **_options: Any) -> int:
    """Return the size of what ``einsum`` gives."""
    if not given or not isinstance(given[0], str) or "." in given[0]:
        return sum(map(size_of, given))
    sides = given[0].replace(" ", "").split("->")
    axes: dict[str, int] = {}
    for letters, array in zip(sides[0].split(","), given[1:], strict=False):
        axes |= dict(zip(letters, np.shape(array), strict=False))
    letters = sides[1] if len(sides) > 1 else "".join(axes)
    return math.prod(axes.get(letter, 1) for letter in letters)


def bases(a: Any, full_matrices: Any = True, mode: Any = None, **_: Any) -> int:
    """Return the size of the vectors of a decomposition."""
    rows, columns = (*np.shape(a)[-2:], 1, 1)[:2]
    return int(rows**2 + columns**2 if full_matrices is True or mode == "complete" else rows * columns)


def taken(a: Any, indices: Any, axis: Any = None, **_: Any) -> int:
    """Return the size of rows that are picked by their places."""
    places = size_of(indices)
    return places if axis is None else places * size_of(a) // max(np.shape(a)[axis] or 1, 1)


def whole(*given: Any, **_options: Any) -> int:
    """Return the size of what arrays make together: broadcast, or one after the other."""
    shapes = [np.shape(a) for a in given if isinstance(a, np.ndarray)]
    broadcast = math.prod(together(*shapes)) if len(shapes) > 1 else 0
    return max(broadcast, sum(map(size_of, given)))


SIZES: dict[str, Callable[..., int]] = {
    **dict.fromkeys(("zeros", "ones", "empty", "full"), lambda shape, *_, **__: lengths(shape)),
    **dict.fromkeys(("hamming", "hanning", "blackman", "kaiser", "bartlett"), lambda M, *_: lengths(M)),
    **dict.fromkeys(("identity", "mask_indices"), lambda n, *_, **__: lengths(n) ** 2),
    **dict.fromkeys(("eye", "tri"), lambda N, M=None, *_, **__: lengths(N) * lengths(N if M is None else M)),
    "indices": lambda dimensions, *_, **__: lengths(dimensions) * len(dimensions),
    "arange": steps,
    **dict.fromkeys(
        ("linspace", "logspace", "geomspace"),
        lambda start, stop, num=50, *_, **__: lengths(num) * max(size_of(start), size_of(stop)),
    ),
    **dict.fromkeys(
        ("outer", "kron", "percentile", "quantile"),
        lambda *given, **_: math.prod(map(size_of, given[:2])),
    ),
    "meshgrid": lambda *given, **_: math.prod(map(size_of, given)) * len(given),
    "tile": lambda A, reps: size_of(A) * math.prod(many(reps)),
    "repeat": lambda a, repeats, axis=None: size_of(a) * max(many(repeats), default=1),
    "resize": lambda a, new_shape: lengths(new_shape),
    "broadcast_to": lambda array, shape, **_: lengths(shape),
    "pad": lambda array, pad_width, *_, **__: math.prod(n + 2 * max(many(pad_width)) for n in np.shape(array)),
    **dict.fromkeys(("diag", "diagflat"), diagonal),
    "vander": lambda x, N=None, increasing=False: size_of(x) * lengths(N or size_of(x)),
    "bincount": counts,
    **dict.fromkeys(("tril_indices", "triu_indices"), lambda n, k=0, m=None: lengths(n) * lengths(m or n)),
    "diag_indices": lambda n, ndim=2: lengths(n) * ndim,
    **dict.fromkeys(
        ("zeros_like", "ones_like", "empty_like", "full_like"),
        lambda a, *_, shape=None, **__: size_of(a) if shape is None else lengths(shape),
    ),
    "histogram2d": lambda x, y, bins=10, *_, **__: lengths(bins) ** 2 if isinstance(bins, int) else lengths(bins),
    **dict.fromkeys(
        ("histogram", "histogram_bin_edges"),
        lambda a, bins=10, *_, **__: max(lengths(bins), size_of(bins)) + size_of(a),
    ),
    "dot": lambda a, b: math.prod((*np.shape(a)[:-1], *np.shape(b)[:-2], *np.shape(b)[-1:][: np.ndim(b) - 1])),
    "inner": lambda a, b: math.prod((*np.shape(a)[:-1], *np.shape(b)[:-1])),
    "matmul": product,
    "tensordot": tensordot,
    "einsum": einsum,
    **dict.fromkeys(("svd", "qr"), bases),
    "take": taken,
    **dict.fromkeys(("cov", "corrcoef"), lambda m, *_, **__: max(np.shape(m)[:1] or (1,)) ** 2 + size_of(m)),
    "roots": lambda p: size_of(p) ** 2,
    "polyfit": lambda x, y, deg, *_, **__: size_of(x) * (int(deg) + 1),
}
"""By the name of a function, with NumPy's own parameters: all other functions give what their arguments do together."""


def estimate(name: str, given: list[Any], options: dict[str, Any]) -> int:
    """Return how many entries a function would make at most; arguments that it does not take are its own error."""
    try:
        return max(SIZES.get(name, whole)(*given, **options), 0)
    except (TypeError, ValueError, IndexError, AttributeError):
        return 0


def sorting(*given: Any, **_: Any) -> int:
    """Return what a sort goes through: all entries, as often as they can be halved, some comparisons each."""
    size = max(map(size_of, given), default=1)
    return 4 * size * size.bit_length()


def products(subscripts: Any, *operands: Any, **_: Any) -> int:
    """Return the products of ``einsum``: one for each choice of all letters."""
    axes: dict[str, int] = {}
    for letters, array in zip(subscripts.replace(" ", "").split("->")[0].split(","), operands, strict=False):
        shape = np.shape(array)
        axes |= dict(zip(letters, shape, strict=False)) if "." not in letters else {f"{len(axes)}": math.prod(shape)}
    return math.prod(axes.values())


WORK: dict[str, Callable[..., int]] = {
    **dict.fromkeys(
        ("sort", "argsort", "unique", "lexsort", "searchsorted", "digitize", "isin", "union1d", "setdiff1d",
         "intersect1d", "setxor1d", "median", "nanmedian", "percentile", "quantile"),
        sorting,
    ),
    **dict.fromkeys(
        ("svd", "svdvals", "eig", "eigh", "eigvals", "eigvalsh", "pinv", "lstsq", "matrix_rank", "cond", "matrix_power",
         "qr"),
        decomposed_in,
    ),
    **dict.fromkeys(("inv", "det", "slogdet", "solve", "cholesky"), eliminated),
    "convolve": lambda a, v, *_, **__: size_of(a) * size_of(v),
    **dict.fromkeys(("dot", "matmul"), matmul_steps),
    "einsum": products,
}  # fmt: skip
"""By the name of a function: what it goes through, where that is more than it is given."""


def work(name: str, given: list[Any], options: dict[str, Any]) -> int:
    """Return how many numbers a function goes through, a nanosecond each: at least those that it is given."""
    least = sum(map(size_of, given))
    try:
        return max(WORK[name](*given, **options), least) if name in WORK else least
    except (TypeError, ValueError, IndexError, AttributeError):
        return least


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
