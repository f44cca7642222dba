"""How many entries NumPy would make, and how many it would go through: asked before it does.

Arrays of NumPy through which no derivative flows: NumPy itself computes with them, in their own types.
So types, overflow, shapes and errors are NumPy's. An array that is differentiated is a node of the graph, and goes
through gradcli's table.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from gradcli.engine.graph import LARGE, NODES
from gradcli.ops import OPERATORS
from gradcli.ops.joining import INDEX
from gradcli.ops.linear_algebra import matmul_steps
from gradcli.ops.matrices import decomposed_in, eliminated
from gradcli.runner.exceptions import TREE
from gradcli.runner.state import look_at, show
from gradcli.runner.values import INTEGERS, UNBOUND, Class, DType, Named, Tensor, ask, extra_of


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


def lengths_of(subscripts: str, operands: Any) -> dict[str, int]:
    """Return the length of the axis of each letter of ``einsum``; what stands for several axes counts as one."""
    axes: dict[str, int] = {}
    for letters, array in zip(subscripts.replace(" ", "").split("->")[0].split(","), operands, strict=False):
        shape = np.shape(array)
        axes |= dict(zip(letters, shape, strict=False)) if "." not in letters else {f"{len(axes)}": math.prod(shape)}
    return axes


def einsum(*given: Any, **_options: Any) -> int:
    """Return the size of what ``einsum`` gives."""
    if not given or not isinstance(given[0], str) or "." in given[0]:
        return sum(map(size_of, given))
    axes = lengths_of(given[0], given[1:])
    _, arrow, letters = given[0].replace(" ", "").partition("->")
    return math.prod(axes.get(letter, 1) for letter in (letters if arrow else axes))


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
        ("outer", "kron", "percentile", "quantile"), lambda *given, **_: math.prod(map(size_of, given[:2]))
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
    **dict.fromkeys(("dot", "inner"), lambda a, b: tensordot(a, b, 1)),
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
    "einsum": lambda subscripts, *operands, **_: math.prod(lengths_of(subscripts, operands).values()),
}  # fmt: skip
"""By the name of a function: what it goes through, where that is more than it is given."""


def work_of(name: str, given: list[Any], options: dict[str, Any]) -> int:
    """Return how many numbers a function goes through, a nanosecond each: at least those that it is given."""
    least = sum(map(size_of, given))
    try:
        return max(WORK[name](*given, **options), least) if name in WORK else least
    except (TypeError, ValueError, IndexError, AttributeError):
        return least


def entries_picked(array: Any, place: Any) -> int:
    """Return how many entries an index picks by arrays of places."""
    parts = place if isinstance(place, tuple) else (place,)
    arrays = [np.asarray(part) for part in parts if isinstance(part, np.ndarray | list)]
    if not arrays or any(part.dtype == np.bool_ for part in arrays):
        return 0
    others = sorted(np.shape(array))[len(parts) :] if len(parts) < np.ndim(array) else []
    slices = sum(isinstance(part, slice) for part in parts)
    whole = max(np.shape(array), default=1) ** slices
    return int(max(part.size for part in arrays) * math.prod(others) * whole)


# ---- arrays of NumPy through which no derivative flows

DOUBLES = ("float64", "int64", "bool")
"""Types that are kept as they are: others are kept in doubles, or in the longest integers."""
TYPES = {"float16", "float32", "float64", "bool", *INTEGERS}
METHODS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift",
}  # fmt: skip
"""What Python calls operators, without the underscores of their methods."""
COMPARED = {
    "<": ("lt", "gt"), "<=": ("le", "ge"), ">": ("gt", "lt"), ">=": ("ge", "le"), "==": ("eq", "eq"),
    "!=": ("ne", "ne"),
}  # fmt: skip
"""What it calls comparisons, and these with their sides exchanged."""
BY_SIGN: dict[str, Callable[[Any, Any], Any]] = {
    sign: getattr(operator, f"__{word}__")
    for sign, word in {**METHODS, **{sign: words[0] for sign, words in COMPARED.items()}}.items()
}
"""What Python's operators do, by their signs."""


class Key:
    """A number of NumPy's as a key: equal to Python's, and shown as NumPy's."""

    dtype = ""
    real: Any

    def shown(self, _quoted: Any) -> str:
        """Return how it is shown."""
        return f"np.{self.dtype}({self.real})"


class WholeKey(Key, int):
    """An integer."""


class FloatKey(Key, float):
    """A float."""


def key_number(x: Tensor) -> Any:
    """Return a single number of NumPy's as a key of a dictionary or a set."""
    one = np.asarray(x.value).reshape(())[()].item()
    if x.dtype == "bool":
        return one
    made: Key = WholeKey(one) if isinstance(one, int) else FloatKey(one)
    made.dtype = x.dtype
    return made


def flows(x: Any) -> bool:
    """Return whether a value is one that the table has to compute with: a node, or a number of many digits."""
    if not isinstance(x, Tensor):
        return False
    node = x.node
    return type(node) in NODES or getattr(getattr(node, "dtype", None), "char", "") == "O"


def plain_array(x: Any) -> bool:
    """Return whether a value is an array of NumPy's through which nothing flows."""
    return isinstance(x, Tensor) and x.library == "numpy" and not flows(x)


def real(x: Tensor) -> Any:
    """Return a tensor as an array of NumPy's of its own type; one number as NumPy's own scalar."""
    array = np.asarray(x.value)
    if x.dtype not in DOUBLES:
        array = array.astype("float32" if x.dtype == "bfloat16" else x.dtype)
    if array.ndim or (x.extra is not None and x.extra.several):
        return array
    return array[()]


@cache
def type_of(dtype: np.dtype[Any]) -> str | None:
    """Return the name of a type of numbers, None for one that gradcli does not have; NumPy takes its time to say it."""
    name = dtype.name
    if name in ("uint16", "uint32", "uint64"):
        return "int64"
    return name if name in TYPES else None


def from_real(run: Any, made: Any, several: bool = False) -> Any:
    """Return what NumPy gives as values of a script."""
    if isinstance(made, np.ndarray | np.generic):
        return tensor_of(run, made, several)
    if isinstance(made, np.dtype):
        return DType(made.name, "array")
    if isinstance(made, tuple) and hasattr(made, "_fields"):
        parts = [from_real(run, item) for item in made]
        return Named(type(made).__name__, dict(zip(made._fields, parts, strict=True)))
    if isinstance(made, tuple | list):
        return type(made)([from_real(run, item) for item in made])
    if isinstance(made, dict):
        return {key: from_real(run, item) for key, item in made.items()}
    return other_type(run, np.asarray(made)) if isinstance(made, complex) else made


def tensor_of(run: Any, made: Any, several: bool) -> Any:
    """Return an array of NumPy's, or one number, as a tensor."""
    name = type_of(made.dtype)
    if name is None:
        return other_type(run, made)
    run.meter.elements += made.size
    if made.size > run.meter.budget.elements:
        run.meter.charge(made.size)
    array = back(np.asarray(made))
    if made.size >= LARGE:
        run.meter.hold(array)
    x = Tensor(array, name, "numpy")
    if not made.ndim and (several or isinstance(made, np.ndarray)):
        extra_of(x).several = True
    return x


def other_type(run: Any, made: Any) -> Any:
    """Return texts as Python has them; refuse complex numbers and objects."""
    if made.dtype.kind == "U":
        return made.tolist() if isinstance(made, np.ndarray) else str(made)
    what = {"c": "complex numbers", "O": "arrays of objects", "S": "arrays of bytes"}.get(
        made.dtype.kind, f"arrays of {made.dtype}"
    )
    raise run.refuse(f"{what} are not part of gradcli")


def refuse_active(run: Any, x: Tensor) -> None:
    """Raise what PyTorch raises where a tensor that is differentiated is to be an array of NumPy's."""
    if x.active:
        text = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        run.fail("RuntimeError", text)


def to_real(run: Any, x: Any) -> Any:  # noqa: C901, PLR0911, PLR0912 - one case for each kind of value
    """Return a value of a script as NumPy takes it; raises what PyTorch raises for a tensor that is differentiated."""
    kind = type(x)
    if kind in (int, float, bool, str) or x is None:
        return x
    if isinstance(x, Tensor):
        if x.library == "torch":
            refuse_active(run, x)
        if x.library == "python":
            return float(x.value)
        made = real(x)
        if (
            isinstance(made, np.ndarray) and made.dtype.kind == "O"
        ):  # of many digits NumPy takes doubles: no derivative flows here
            made = np.asarray(made, dtype=np.float64)
        return np.asarray(made) if x.library == "torch" else made
    if kind in (list, tuple):
        run.meter.turn(1, "the lists in a list do not end")
        return kind([to_real(run, item) for item in x])
    if isinstance(x, list | tuple):
        return [to_real(run, item) for item in x] if isinstance(x, list) else tuple([to_real(run, item) for item in x])
    if isinstance(x, DType):
        return np.dtype(x.name)
    if isinstance(x, slice):
        return slice(*[to_real(run, part) for part in (x.start, x.stop, x.step)])
    if isinstance(x, range) or x is Ellipsis:
        return x
    if isinstance(x, Class):
        host = {"float": float, "int": int, "bool": bool, "str": str, "object": object}.get(x.name)
        if host is not None:
            return host
    for name in ("__array__", "__float__"):
        if (made := ask(run, x, name)) is not UNBOUND:
            return to_real(run, made)
    if (
        isinstance(x, set | frozenset | dict)
        or hasattr(type(x), "__next__")
        or type(x) in (type({}.keys()), type({}.values()))
    ):
        return to_real(run, run.take(x))
    raise run.refuse(f"NumPy with {run.type_name(x)} is not part of gradcli")


def to_reals(run: Any, arguments: Any, named: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments of a call as NumPy takes them."""
    return [to_real(run, a) for a in arguments], {key: to_real(run, value) for key, value in named.items()}


def by_numpy(run: Any, work: Callable[[], Any]) -> Any:
    """Return what NumPy gives, with its errors as exceptions of the script."""
    try:
        with np.errstate(all="ignore"):
            return work()
    except (ValueError, TypeError, IndexError, ZeroDivisionError, OverflowError, KeyError, AttributeError) as error:
        kind = next((k.__name__ for k in type(error).__mro__ if k.__name__ in TREE), "ValueError")
        return run.fail(kind, str(error) if kind != "KeyError" else error.args[0])
    except MemoryError as error:
        raise run.refuse(f"NumPy has too little memory: {error}") from None


def operated(run: Any, sign: str, a: Any, b: Any) -> Any:
    """Return an operator of arrays through which nothing flows."""
    x, y = to_real(run, a), to_real(run, b)
    charge_broadcast(run, (x, y), product=sign == "@")
    if sign == "@":
        run.meter.spend(work_of("matmul", [x, y], {}))
    made = from_real(run, by_numpy(run, lambda: BY_SIGN[sign](x, y)))
    if run.graph.origins is not None and isinstance(made, Tensor) and (sign, 2) in OPERATORS:
        sides = tuple([side.node if isinstance(side, Tensor) else side for side in (a, b)])
        run.graph.note_origin(made.node, OPERATORS[sign, 2], sides, {})
    return made


def charge_broadcast(run: Any, parts: Any, product: bool = False) -> None:
    """Refuse a result that would be too large."""
    shapes = [part.shape for part in parts if isinstance(part, np.ndarray)]
    if len(shapes) < 2 or shapes[0] == shapes[1]:
        return
    if product:
        shapes = [shape[:-1] if k == 0 else (shape[-1:] if len(shape) > 1 else ()) for k, shape in enumerate(shapes)]
        run.meter.charge(int(np.prod([n for shape in shapes for n in shape], dtype=object) or 1))
        return
    try:
        run.meter.charge(int(np.prod(np.broadcast_shapes(*shapes), dtype=object)))
    except ValueError:
        return


def in_place(run: Any, sign: str, target: Tensor, change: Any) -> None:
    """Do an augmented assignment of an array: raises where NumPy refuses to cast the result."""
    array, y = np.array(real(target)), to_real(run, change)
    by_numpy(run, lambda: getattr(operator, f"__i{METHODS[sign]}__")(array, y))
    run.write(target, back(array))


def back(array: Any) -> Any:
    """Return an array of NumPy's as a tensor keeps it."""
    if type_of(array.dtype) in DOUBLES and array.dtype.kind != "u":
        return array
    return array.astype(np.float64 if array.dtype.kind == "f" else np.int64)


def key_of(run: Any, key: Any) -> Any:
    """Return an index as NumPy takes it."""
    return tuple([to_real(run, part) for part in key]) if type(key) is tuple else to_real(run, key)


def entry(run: Any, x: Tensor, key: Any) -> Any:
    """Return ``x[key]``: a view where NumPy gives one."""
    array, place = real(x), key_of(run, key)
    run.meter.charge(entries_picked(array, place))
    made = by_numpy(run, lambda: array[place])
    if (
        isinstance(made, np.ndarray)
        and made.size
        and isinstance(array, np.ndarray)
        and np.may_share_memory(made, array)
    ):
        entries = as_view(run, x, made, np.arange(array.size).reshape(array.shape)[place])
    else:
        entries = from_real(run, made)
    if isinstance(entries, Tensor):
        run.graph.note_origin(entries.node, INDEX, (x.node,), {"key": place})
    return entries


def as_view(run: Any, base: Tensor, made: Any, places: Any) -> Tensor:
    """Return a part of an array that shares its memory: entries at these places."""
    view = show(base, lambda node: look_at(run.f, node, places), back(made), base.dtype)
    if not made.ndim:
        extra_of(view).several = True
    return view


def put_entry(run: Any, x: Tensor, key: Any, value: Any) -> None:
    """Do ``x[key] = value``, as NumPy casts and broadcasts."""
    array, place, change = np.array(real(x)), key_of(run, key), to_real(run, value)
    by_numpy(run, lambda: array.__setitem__(place, change))
    run.write(x, back(array))
