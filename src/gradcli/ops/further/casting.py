"""Numbers read as others: casts, arrays made like another one, powers on a scale; and masks and positions."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.errors.hints import counted
from gradcli.ops.arithmetic import is_mask, without_slope
from gradcli.ops.declare import OPERATORS, Apply, Piecewise, Text, value_of
from gradcli.ops.exactly import decided, true
from gradcli.ops.links import Array, Indices, Integers, Mask, Raw, Static, Tensor
from gradcli.ops.making import DETACH, build_full, constant, lengths
from gradcli.ops.shaping import CLONE, RESHAPE, without_gaps
from gradcli.ops.values import Value, number, require, whole
from gradcli.ops.vocabulary import LIKE_FIRST, Function, function, register

FLOATS = "float64 double float_ float32 float single float16 half bfloat16"
INTEGERS = "int64 long int_ intp int32 int int16 short int8 uint8 integer"
KIND_OF = {
    **dict.fromkeys(FLOATS.split(), "float"),
    **dict.fromkeys(INTEGERS.split(), "integer"),
    **dict.fromkeys(("bool", "bool_"), "mask"),
}
"""By the name of a type of numbers: what numbers those are here."""
DOUBLES = ("float64", "double", "float_")
NARROW = {"uint8": "beyond 255, and as an index they are a mask", "int8": "beyond 127", "int16": "beyond 32767"}
"""Types of integers that wrap around in PyTorch and NumPy: where."""
DTYPES = {"float": np.float64, "integer": np.int64, "mask": np.bool_}
DEVICES = ("cpu", "cuda", "mps", "xpu", "meta")
making = partial(function, family="making")


# --- casts ---


def cut(x: Array) -> Integers:
    """Return the integer parts as integers; raises ``value`` for inf, nan and what has more than 63 bits."""
    if not np.all(np.abs(np.asarray(x, dtype=np.float64)) < 2.0**63):
        raise GradcliError("value", "inf, nan and numbers from 2**63 on have no integer part of 64 bits")
    return np.asarray(np.trunc(x)).astype(np.int64)[()]


def cut_exactly(x: Array) -> Integers:
    """Return the integer parts of numbers of many digits."""
    return np.asarray(np.frompyfunc(lambda entry: int(float(math.trunc(entry))), 1, 1)(x)).astype(np.int64)


LONG = without_slope("long", cut, pieces=decided(cut_exactly))


def kind_of(x: Any) -> str:
    """Return what numbers a value holds: ``float``, ``integer`` or ``mask``."""
    raw = value_of(x)
    if is_mask(raw):
        return "mask"
    return "integer" if type(raw) is int or getattr(raw, "dtype", np.dtype(float)).kind == "i" else "float"


def as_array(x: Any) -> Any:
    """Return a value of a program as an array; raises ``type`` for what has no numbers."""
    array = getattr(x, "values", x)
    if isinstance(array, bool | int | np.generic) or type(array).__name__ in ("Listed", "Tupled", "Tuples"):
        return np.array(array)
    if not hasattr(array, "ndim"):
        raise GradcliError("type", "an array is needed here")
    return array


def as_type(f: Apply, x: Any, dtype: Static) -> Any:
    """Return a value as numbers of the type with this name; raises ``value`` for a name of none."""
    name = str(dtype).removeprefix("torch.").removesuffix("Tensor").lower()
    if name in ("complex64", "complex128", "cfloat", "cdouble"):
        raise GradcliError("type", f"{dtype}: complex numbers are not part of the language")
    if name not in KIND_OF:
        raise GradcliError("value", f"{dtype!r} is not a type of numbers", hint="torch.float64, torch.long, torch.bool")
    wanted = KIND_OF[name]
    if wanted == "float" and name not in DOUBLES:
        f.remark("float32", f"{name}: numbers have all digits of float64 here; PyTorch rounds them.")
    if name in NARROW:
        f.remark("torch-differs", f"{name}: integers have no bounds here; PyTorch's wrap around {NARROW[name]}.")
    return as_kind(f, as_array(x), wanted)


def as_kind(f: Apply, x: Any, wanted: str) -> Any:
    """Return an array as floats, integers or truth values; the last two have no derivative."""
    kind = kind_of(x)
    if kind == wanted:
        return x
    if kind == "float":
        return f(LONG, x) if wanted == "integer" else f(OPERATORS["!=", 2], x, np.float64(0.0))
    return np.asarray(value_of(x)).astype(DTYPES[wanted])


def copied(f: Apply, x: Any) -> Any:
    """Return a copy of an array of any kind."""
    return f(CLONE, x) if kind_of(x) == "float" else np.array(value_of(x))


def is_device(word: Any) -> bool:
    """Return whether a text names a device: ``cpu``, ``cuda:0``."""
    return isinstance(word, str) and word.partition(":")[0] in DEVICES


@making("to", "method")
def build_to(
    f: Apply,
    x: Raw,
    other: Raw = None,
    dtype: Raw = None,
    device: Static = None,
    non_blocking: Static = False,
    copy: Static = False,
) -> Tensor:
    """x as numbers of another type, or of the type of another array; where they are kept is all the same here"""
    del non_blocking
    for word in (device, other if isinstance(other, str) and other not in KIND_OF else None):
        fits = word is None or is_device(word)
        require(fits, "value", f"{word!r} is neither a type of numbers nor a device")
    wanted = dtype if other is None or is_device(other) else other
    array = as_array(x)
    if isinstance(wanted, str):
        array = as_type(f, array, wanted)
    elif wanted is not None:
        array = as_kind(f, array, kind_of(as_array(wanted)))
    return copied(f, array) if copy else array


@making("astype", "method")
def build_astype(f: Apply, x: Raw, dtype: Raw, copy: Static = True) -> Tensor:
    """a copy of x as numbers of another type"""
    return build_to(f, x, dtype=dtype, copy=copy)


@making("type type_as", "method")
def build_type(f: Apply, x: Raw, dtype: Raw) -> Tensor:
    """x as numbers of another type, named or that of another array"""
    return build_to(f, x, dtype=dtype)


@making("long short int", "not-bare method", op=LONG)
def build_long(f: Apply, x: Raw) -> Tensor:
    """the integer parts as integers; they have no derivative"""
    return as_kind(f, as_array(x), "integer")


def build_bool(f: Apply, x: Raw) -> Tensor:
    """whether an entry is not 0"""
    return as_kind(f, as_array(x), "mask")


def single(x: Any) -> Any:
    """Return the one entry of an array as an array without axes; raises ``value`` where there are more, or none."""
    array = as_array(x)
    size, hint = math.prod(array.shape), "pick one, x[0], or reduce, x.sum()"
    require(size == 1, "value", f"an array of {counted(size, 'entry')} is not one number", hint)
    return array


def build_item(f: Apply, x: Raw) -> Any:
    """the one number of x, as a constant: no gradient flows through"""
    if isinstance(x, bool | int):
        return x
    if isinstance(x, str):
        return infinite(x)
    array = single(x)
    if kind_of(array) != "float":
        return np.asarray(value_of(array)).item()
    return f(CLONE, f(DETACH, f(RESHAPE, array, shape=())))


def infinite(word: str) -> Any:
    """Return the number that Python's ``float`` reads, of a word for one that is not finite."""
    words = {"inf": math.inf, "infinity": math.inf, "nan": math.nan}
    name = word.strip().lower().removeprefix("+")
    require(name.removeprefix("-") in words, "value", f"float({word!r}): write the number itself")
    return np.float64(-words[name[1:]] if name[0] == "-" else words[name])


def build_int(f: Apply, x: Raw) -> Any:
    """the integer part of one number; it has no derivative"""
    integer = x if isinstance(x, bool | int) else as_kind(f, single(x), "integer")
    return int(np.asarray(value_of(integer)).item())


for _name, _build, _spellings, _methods in (
    ("bool", build_bool, ("bool",), ("bool",)),
    ("item", build_item, ("float",), ("item",)),
    ("int", build_int, ("int",), ()),
):
    register(Function(_name, _build, _spellings, _methods, str(_build.__doc__), "making"))


@making("tolist", "method")
def build_tolist(f: Apply, x: Raw) -> Tensor:
    """the numbers of x as constants: no gradient flows through"""
    array = as_array(x)
    return copied(f, f(DETACH, array) if kind_of(array) == "float" else array)


@making("numpy", "not-bare method")
def build_numpy(f: Apply, x: Raw, force: Static = False) -> Tensor:
    """the numbers of a constant, in the same memory"""
    array = as_array(x)
    if not getattr(array, "active", False):
        return array
    said = ".numpy() of what is differentiated: PyTorch refuses that"
    require(force, "not-differentiable", said, hint="x.detach().numpy()")
    return f(DETACH, array)


@making("cpu cuda", "not-bare method")
def build_cpu(f: Apply, x: Raw, device: Static = None, non_blocking: Static = False) -> Tensor:
    """x itself: where numbers are kept is all the same here"""
    del f, device, non_blocking
    return as_array(x)


@making("contiguous", "not-bare method")
def build_contiguous(f: Apply, x: Raw) -> Tensor:
    """x itself, and a copy where its entries do not stand one after the other in memory"""
    array = as_array(x)
    if np.asarray(value_of(array)).flags.c_contiguous:
        return array
    dense = without_gaps(Value(f, array)).node
    return dense if dense is not array else f(RESHAPE, f(RESHAPE, array, shape=(-1,)), shape=array.shape)


making("np.ascontiguousarray numpy.ascontiguousarray", "")(build_contiguous)


@making("device", "torch not-bare")
def build_device(f: Apply, type: Static, index: Static = None) -> Any:
    """the name of a device; where numbers are kept is all the same here"""
    del f, index
    require(is_device(type), "value", f"{type!r} is not a device", hint="'cpu' or 'cuda'")
    return type


# --- arrays made of a list, or like another one ---


def enter_typed(names: str, dtype: str, words: str) -> None:
    """Enter PyTorch's constructors of one type: of a list, or of a shape."""
    first = names.partition(" ")[0]

    @making(names, "torch not-bare", doc=words)
    def build(f: Apply, *data: Raw) -> Tensor:
        if len(data) == 1 and type(data[0]) is not int:
            return as_kind(f, as_array(constant(data[0], first)), dtype)
        fits = all(type(length) is int and length >= 0 for length in data)
        require(fits, "value", f"{first} takes a list, or lengths")
        f.charge(math.prod(data))
        return np.zeros(data, dtype=DTYPES[dtype])


enter_typed("FloatTensor DoubleTensor HalfTensor Tensor", "float", "a list as an array of doubles")
enter_typed("LongTensor IntTensor ShortTensor", "integer", "a list as an array of integers")
enter_typed("BoolTensor", "mask", "a list as an array of truth values")


def enter_like(names: str, value: float) -> None:
    """Enter new_zeros or new_ones."""

    @making(names, "not-bare method dtype", doc=f"{'ones' if value else 'zeros'} of the kind of x")
    def build(f: Apply, x: Raw, *shape: Static) -> Tensor:
        wanted = lengths(shape)
        f.charge(math.prod(wanted))
        return np.full(wanted, value, dtype=DTYPES[kind_of(as_array(x))])


enter_like("new_zeros new_empty", 0.0)
enter_like("new_ones", 1.0)


@making("new_full", "not-bare method dtype", kinds=LIKE_FIRST)
def build_new_full(f: Apply, x: Tensor, shape: Static, fill_value: Tensor) -> Tensor:
    """one number everywhere, of the kind of x"""
    del x
    return build_full(f, shape, fill_value)


@making("new_tensor", "not-bare method dtype")
def build_new_tensor(f: Apply, x: Raw, data: Raw) -> Tensor:
    """a list as an array of the kind of x"""
    return copied(f, as_kind(f, as_array(constant(data, "new_tensor")), kind_of(as_array(x))))


@making("range", "")
def build_range(f: Apply, start: Static, end: Static = None, step: Static = 1) -> Tensor:
    """integers from start up to, not including, end"""
    first, last = (0, start) if end is None else (start, end)
    bounds = whole(first, "start"), whole(last, "end"), whole(step, "step")
    require(bounds[2], "value", "the step of range cannot be 0")
    f.charge(len(range(*bounds)))
    return np.arange(*bounds)


@making("logspace", "torch dtype")
def build_logspace(f: Apply, start: Static, end: Static, steps: Static, base: Static = 10.0) -> Any:
    """steps powers of base, from base**start to base**end"""
    count = lengths((whole(steps, "steps"),))[0]
    f.charge(count)
    first, last = number(start, "a bound"), number(end, "a bound")
    return np.power(number(base, "base"), np.linspace(first, last, count))


@making("np.logspace numpy.logspace jnp.logspace", "dtype")
def build_numpy_logspace(
    f: Apply, start: Static, stop: Static, num: Static = 50, endpoint: Static = True, base: Static = 10.0
) -> Tensor:
    """num powers of base, from base**start to base**stop"""
    if endpoint:
        return build_logspace(f, start, stop, num, base)
    return build_logspace(f, start, stop, whole(num, "num") + 1, base)[:-1]


# --- positions: integers that say which entries are meant ---

indexed = partial(function, family="indices")


def whole_places(x: Array) -> Integers:
    """Return numbers of an input that are whole as positions; raises ``type`` for others."""
    require(np.all(x == np.trunc(x)), "type", "positions are integers", hint="idx.long() cuts fractions off")
    return np.asarray(x).astype(np.int64)[()]


PLACES = without_slope(
    "places",
    whole_places,
    pieces=Piecewise(cut_exactly, lambda piece, x: piece, held=True),
    text=Text(write=lambda call: f"{call.tight[0]}.long()"),
)
"""An input as positions: given as doubles, as all inputs are, it does not move."""
KINDS = {"mask": "truth values", "float": "floats", "integer": "integers"}


def positions(f: Apply, index: Raw, name: str = "index") -> Indices:
    """Return positions as an array of integers; raises ``type`` for truth values and for numbers that are computed."""
    places = as_array(index)
    kind = kind_of(places)
    fits, what = kind == "integer" or (kind == "float" and f.is_input(places)), KINDS[kind]
    require(fits, "type", f"{name} holds positions, which are integers, not {what}", hint="idx.long()")
    return np.asarray(value_of(f(PLACES, places) if kind == "float" else places), dtype=np.intp)


def within(places: Indices, length: int, name: str, lowest: int = 0) -> Indices:
    """Return positions along an axis; raises ``index`` for one outside of it."""
    wrong = (places < lowest) | (places >= length)
    if np.any(wrong):
        place = int(places[wrong].flat[0])
        raise GradcliError("index", f"{name}: position {place} is out of range for an axis of length {length}")
    return places


def truths(condition: Raw, name: str) -> Mask:
    """Return truth values as an array; raises ``type`` for numbers."""
    mask = as_array(condition)
    hint = "write (...) != 0, or mask.bool()"
    require(kind_of(mask) == "mask", "type", f"{name} takes truth values, not numbers", hint)
    return np.asarray(value_of(mask))


# --- where a condition holds ---

NONZERO = without_slope("nonzero", np.argwhere, pieces=decided(lambda x: np.argwhere(true(x))))


@indexed("nonzero", "torch method", op=NONZERO)
def build_nonzero(f: Apply, x: Raw, as_tuple: Static = False) -> Any:
    """the places of the entries that are not 0: a row for each, or an array for each axis"""
    array = as_array(x)
    places = f(NONZERO, array)
    if not as_tuple:
        return places
    rows = np.asarray(value_of(places))  # a number has one axis
    return tuple(rows[:, axis] for axis in range(array.ndim)) or (np.zeros(len(rows), dtype=np.intp),)


@indexed("np.nonzero numpy.nonzero jnp.nonzero", "")
def build_numpy_nonzero(f: Apply, x: Raw) -> Any:
    """the places of the entries that are not 0, an array for each axis"""
    return build_nonzero(f, x, as_tuple=True)


@indexed("argwhere", "torch numpy")
def build_argwhere(f: Apply, x: Raw) -> Tensor:
    """the places of the entries that are not 0, as rows"""
    return build_nonzero(f, x)


# --- where values would be inserted in order ---


def below(edges: Array, values: Array, right: bool) -> Integers:
    """Return how many edges each value is above, those equal to it too where ``right``; nan is above all."""
    beyond = edges[..., None, :] > values[..., :, None] if right else edges[..., None, :] >= values[..., :, None]
    return np.sum(~np.asarray(beyond, dtype=bool), axis=-1)


def comparisons(edges: Array, values: Array, right: bool) -> int:
    """Return with how many edges all values are compared."""
    del right
    return int(np.size(edges)) * int(np.size(values)) // max(int(np.prod(np.shape(edges)[:-1])), 1)


SEARCHSORTED = without_slope("searchsorted", below, 2, size=comparisons)


def searched(f: Apply, edges: Tensor, values: Tensor, right: bool) -> Tensor:
    """Return how many edges are below each value, which may be one number."""
    steps = np.diff(np.asarray(value_of(edges)), axis=-1)
    # In many digits the order is that of x: beside it, edges that are equal at x may change places.
    rising = steps.dtype == object or not np.any(steps < 0)
    require(rising, "value", "the edges are not in rising order", hint="edges.sort().values")
    row = values if values.ndim else f(RESHAPE, values, shape=(1,))
    counts = f(SEARCHSORTED, edges, row, right=right)
    return counts if values.ndim else f(RESHAPE, counts, shape=())


def bucketed(f: Apply, edges: Raw, values: Raw, right: bool, name: str) -> Tensor:
    """Return which of the stretches between sorted edges each value lies in."""
    row = as_array(edges)
    require(row.ndim == 1, "shape", f"the {name} are a vector, not of shape {row.shape}")
    return searched(f, row, as_array(values), right)


@indexed("searchsorted", "torch", op=SEARCHSORTED)
def build_searchsorted(
    f: Apply, sorted_sequence: Raw, values: Raw, right: Static = False, side: Static = None, out_int32: Static = False
) -> Tensor:
    """where values would be inserted in order: before entries that are equal, or behind them where right"""
    del out_int32
    fits = side in (None, "left", "right") and not (side == "left" and right)
    require(fits, "value", f"side is 'left' or 'right', not {side!r}")
    edges, wanted = as_array(sorted_sequence), as_array(values)
    fits = edges.ndim and edges.shape[:-1] in ((), wanted.shape[:-1])
    require(fits, "shape", f"searchsorted: shapes {edges.shape} and {wanted.shape} differ before the last axis")
    return searched(f, edges, wanted, bool(right) or side == "right")


@indexed("np.searchsorted numpy.searchsorted jnp.searchsorted", "")
def build_numpy_searchsorted(f: Apply, a: Raw, v: Raw, side: Static = "left") -> Tensor:
    """where values would be inserted in order: before entries that are equal, or behind them where side is right"""
    return build_searchsorted(f, a, v, side=side)


@indexed("bucketize", "torch")
def build_bucketize(f: Apply, input: Raw, boundaries: Raw, right: Static = False, out_int32: Static = False) -> Tensor:
    """which of the stretches between sorted edges each value lies in"""
    del out_int32
    return bucketed(f, boundaries, input, bool(right), "boundaries")


@indexed("np.digitize numpy.digitize jnp.digitize", "")
def build_digitize(f: Apply, x: Raw, bins: Raw, right: Static = False) -> Tensor:
    """which of the stretches between rising edges each value lies in"""
    return bucketed(f, bins, x, not right, "edges")


# --- places in a matrix ---


def enter_triangle(name: str, side: str, ones_of: Any) -> None:
    """Enter the places in a triangle of a matrix, as PyTorch and as NumPy give them."""
    words = f"the places in the {side} triangle of a matrix: rows"

    def places(f: Apply, shape: tuple[Static, ...], offset: int) -> Indices:
        rows, columns = lengths(shape)
        f.charge(rows * columns)
        return np.array(np.nonzero(ones_of(np.ones((rows, columns), dtype=bool), offset)))

    @function(name, "torch dtype", "making", doc=f"{words}, and columns below them")
    def build(f: Apply, row: Static, col: Static, offset: Static = 0) -> Tensor:
        return places(f, (row, col), whole(offset, "offset"))

    @function(f"np.{name} numpy.{name} jnp.{name}", "", "making", doc=f"{words} and columns, as a tuple")
    def build_numpy(f: Apply, n: Static, k: Static = 0, m: Static = None) -> Any:
        return tuple(places(f, (n, n if m is None else m), whole(k, "k")))


enter_triangle("tril_indices", "lower", np.tril)
enter_triangle("triu_indices", "upper", np.triu)


@indexed("one_hot", "functional")
def build_one_hot(f: Apply, tensor: Raw, num_classes: Static = -1) -> Integers:
    """rows that are 1 at the class and 0 elsewhere; as many as the largest class needs unless said otherwise"""
    classes, count = positions(f, tensor, "one_hot"), whole(num_classes, "num_classes")
    require(classes.size or count > 0, "value", "one_hot of no classes needs num_classes")
    many = int(np.max(classes, initial=-1)) + 1 if count == -1 else count
    fits = not np.any((classes < 0) | (classes >= many))
    require(fits, "value", f"one_hot: classes are integers from 0 to {many - 1}")
    f.charge(classes.size * many)
    return np.eye(many, dtype=np.int64)[classes]
