"""NumPy's arrays: types and constants, what makes and shows them, their methods, walks over their entries."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.ops.shaping import CLONE
from gradcli.runner import printing, tensor_attributes
from gradcli.runner.converting import array_of, cast, dtype_name
from gradcli.runner.exceptions import exception_class
from gradcli.runner.libraries.numpy_functions import NAMES, NumpyFunction, any_flows
from gradcli.runner.library import READERS, TABLE, Setting, always, native, own_attributes, record
from gradcli.runner.numpy_values import back, by_numpy, flows, from_real, lengths, real, size_of, to_real, to_reals
from gradcli.runner.python.builtins import FLOAT, NDARRAY, item_of
from gradcli.runner.python.containers import put, subscript, take
from gradcli.runner.python.operators import note_text, read_number, rearrange
from gradcli.runner.state import Run, look_at, show
from gradcli.runner.values import UNBOUND, Class, Closure, Context, DType, Tensor, category, extra_of, is_scalar

# ---- constants and types
TABLE |= {
    **dict.fromkeys(("numpy.inf", "numpy.Inf", "numpy.PINF"), math.inf),
    **dict.fromkeys(("numpy.nan", "numpy.NaN", "numpy.NAN"), math.nan),
    **dict.fromkeys(("numpy.ndarray", "numpy.typing.NDArray", "numpy.typing.ArrayLike"), NDARRAY),
    "numpy.NINF": -math.inf, "numpy.pi": math.pi, "numpy.e": math.e, "numpy.euler_gamma": np.euler_gamma,
    "numpy.newaxis": None, "numpy.True_": True, "numpy.False_": False, "numpy.__version__": "2.4.6",
    "numpy.linalg.LinAlgError": exception_class("LinAlgError"),
    **{f"numpy.{name}": DType(names.split()[0], "numpy") for names in (
        "float16 half", "float32 single", "float64 double float_", "int8 byte", "int16 short", "int32 intc",
        "int64 int_ intp longlong long", "uint8 ubyte", "bool bool_",
    ) for name in names.split()},
}  # fmt: skip
ABSTRACT = {
    "floating": (2,), "inexact": (2,), "integer": (1,), "signedinteger": (1,), "number": (1, 2), "generic": (0, 1, 2),
    "complexfloating": (),
}  # fmt: skip
"""Abstract types, with the categories of the types that are of them."""
TABLE |= {
    f"numpy.{_name}": Class(_name, [], {"__instancecheck__": lambda run, x, ranks=_ranks: (
        isinstance(x, Tensor) and x.library == "numpy" and not x.shape and category(x.dtype) in ranks
    )}, qualified=f"numpy.{_name}")
    for _name, _ranks in ABSTRACT.items()
}  # fmt: skip


@native("numpy.issubdtype", "jax.numpy.issubdtype")
def issubdtype(run: Run, dtype: Any, kind: Any) -> bool:
    """Return whether a type is of an abstract one."""
    name = dtype_name(run, dtype)
    if isinstance(kind, Class) and kind.name in ABSTRACT:
        return category(name or "bool") in ABSTRACT[kind.name]
    return name == dtype_name(run, kind)


@native("numpy.finfo", "numpy.iinfo")
def info(run: Run, dtype: Any) -> Any:
    """Return what a type of numbers can hold."""
    kind = dtype.dtype if isinstance(dtype, Tensor) else "int64" if type(dtype) is int else dtype_name(run, dtype)
    host: Any = np.finfo(kind or "float64") if category(kind or "float64") == 2 else np.iinfo(kind or "int64")
    words = ("eps", "max", "min", "tiny", "resolution", "precision", "bits", "smallest_normal", "epsneg", "nmant")
    fields = {word: from_real(run, getattr(host, word)) for word in words if hasattr(host, word)}  # one of these
    return record(type(host).__name__, repr(host), fields)


# ---- making arrays
@native("numpy.array", "numpy.asarray_chkfinite", "numpy.copy", "numpy.asmatrix")
def array(
    run: Run, object: Any, dtype: Any = None, *, copy: Any = True, order: Any = None, ndmin: int = 0, subok: Any = None,
    like: Any = None,
) -> Any:  # fmt: skip
    """Return an array of numbers, of lists of them, or of arrays."""
    name = dtype_name(run, dtype)
    if isinstance(object, Tensor) and object.library == "torch" and object.active:
        run.fail_as("numpy of active")
    if any_flows(object):
        made = array_of(run, object, "numpy", name)
        if made is object:
            made = Tensor(run.f(CLONE, made.node), made.dtype, "numpy")
            extra_of(made).several = True
        return cast(run, made, name) if name is not None else made
    given = to_real(run, object)
    run.meter.charge(size_of(given))
    made = from_real(run, by_numpy(run, lambda: np.array(given, dtype=name, ndmin=ndmin)), several=True)
    if isinstance(given, str):
        return read_number(run, given, made)
    texts = [item for item in object if isinstance(item, str)] if isinstance(object, list | tuple) else []
    return read_number(run, " ".join(texts), made) if texts else made


@native("numpy.asarray", "numpy.asanyarray", "numpy.ascontiguousarray", "numpy.asfortranarray")
def as_array(run: Run, x: Any, dtype: Any = None, **named: Any) -> Any:
    """Return an array: itself where it is one already."""
    if isinstance(x, Tensor) and dtype_name(run, dtype) in (None, x.dtype):
        if x.library == "numpy" and not is_scalar(x):
            return x
        if x.library == "torch" and not x.active:
            return run.call(run.attribute(x, "numpy"))
    return array(run, x, dtype)


def arrayed(run: Run, x: Any) -> Tensor:
    """Return an array as it is, anything else as an array."""
    return x if isinstance(x, Tensor) else array(run, x)


@native("numpy.fromfunction")
def fromfunction(run: Run, function: Any, shape: Any, *, dtype: Any = FLOAT, **named: Any) -> Any:
    """Return what a function gives of places."""
    run.meter.charge(lengths(shape) * len(shape))
    places = [from_real(run, part) for part in np.indices(tuple(shape), dtype=dtype_name(run, dtype) or "float64")]
    return run.call(function, places, named)


class Vectorized:
    """``np.vectorize``: a function that is called with each entry."""

    def __init__(self, function: Any, otypes: Any = None) -> None:
        self.function, self.otypes = function, otypes

    def __call__(self, run: Run, *arguments: Any, **named: Any) -> Any:
        """Call the function with each entry."""
        arrays = [arrayed(run, a) for a in arguments]
        shape = by_numpy(run, lambda: np.broadcast_shapes(*[a.shape for a in arrays]))
        if not shape:
            return run.call(self.function, arrays, named)
        flat = [run.function("np.reshape", run.function("np.broadcast_to", a, shape), (-1,)) for a in arrays]
        rows = [take(run, part) for part in flat]
        made = [run.call(self.function, list(items), named) for items in zip(*rows, strict=True)]
        dtype = self.otypes[0] if isinstance(self.otypes, list | tuple) and self.otypes else None
        return TABLE["numpy.reshape"](run, put_together(run, made, arrays, dtype), shape)


def put_together(run: Run, rows: list[Any], like: list[Tensor], dtype: Any = None) -> Tensor:
    """Return the results of several calls as one array of the library of the arrays that they were called with."""
    module = "jax.numpy" if any(x.library == "jax" for x in like) else "numpy"
    return TABLE[f"{module}.array"](run, rows, dtype)  # type: ignore[no-any-return]


@native("numpy.vectorize", "numpy.frompyfunc", "jax.numpy.vectorize")
def vectorize(run: Run, function: Any = None, *_: Any, otypes: Any = None, signature: Any = None, **__: Any) -> Any:
    """Return a function that is called with each entry."""
    if signature is not None:
        raise run.refuse("vectorize with a signature is not part of gradcli")
    return (lambda run, function: Vectorized(function, otypes)) if function is None else Vectorized(function, otypes)


@native("numpy.apply_along_axis", "jax.numpy.apply_along_axis")
def apply_along_axis(run: Run, function: Any, axis: int, x: Any, *arguments: Any, **named: Any) -> Any:
    """Return what a function gives of each row along an axis."""
    x, moveaxis, reshape = arrayed(run, x), TABLE["numpy.moveaxis"], TABLE["numpy.reshape"]
    moved = moveaxis(run, x, axis, -1)
    rows = take(run, reshape(run, moved, (-1, moved.shape[-1])))
    made = put_together(run, [run.call(function, [row, *arguments], named) for row in rows], [x])
    made = reshape(run, made, (*moved.shape[:-1], *made.shape[1:]))
    return moveaxis(run, made, -1, axis) if len(made.shape) == len(x.shape) else made


@native("numpy.piecewise")
def piecewise(run: Run, x: Any, conditions: Any, functions: Any, *arguments: Any) -> Any:
    """Return what one of several functions gives of each entry."""
    x = arrayed(run, x)
    parts = [run.call(f, [x, *arguments]) if isinstance(f, Closure) or callable(f) else f for f in functions]
    conditions = [arrayed(run, c) for c in conditions]
    made = parts[len(conditions)] if len(parts) > len(conditions) else 0.0
    for condition, part in zip(reversed(conditions), reversed(parts[: len(conditions)]), strict=True):
        made = TABLE["numpy.where"](run, condition, part, made)
    return made


class Joined:
    """``np.r_`` and ``np.c_``."""

    def __init__(self, host: Any, traced: str) -> None:
        self.host, self.traced = host, traced

    def subscript(self, run: Run, key: Any) -> Any:
        """Join what stands in the brackets."""
        parts = key if isinstance(key, tuple) else (key,)
        if any(isinstance(part, str) for part in parts):
            raise run.refuse("np.r_ with a text is not part of gradcli")
        if any_flows(*parts):
            arrays = [part if isinstance(part, Tensor) else array(run, part, ndmin=1) for part in parts]
            return TABLE[self.traced](run, arrays)
        given = tuple([to_real(run, part) for part in parts])
        return from_real(run, by_numpy(run, lambda: self.host[given]))


class Slices:
    """``np.s_``, which gives the index itself."""

    def subscript(self, run: Run, key: Any) -> Any:
        """Return the index."""
        del run
        return key


# ---- what shows, what compares, and what means nothing here
@native("numpy.set_printoptions")
def set_printoptions(run: Run, **options: Any) -> None:
    """Set how arrays are printed."""
    run.numpy_options = options_after(run, options)


def options_after(run: Run, options: dict[str, Any]) -> dict[str, Any]:
    """Return how arrays are printed after a call of ``set_printoptions``."""
    if options.pop("formatter", None):
        raise run.refuse("np.set_printoptions with a formatter is not part of gradcli")
    return printing.numpy_options(run.numpy_options, {k: to_real(run, v) for k, v in options.items()})


@native("numpy.array2string", "numpy.array_str", "numpy.array_repr")
def array2string(run: Run, x: Any, *_: Any, **options: Any) -> str:
    """Return an array as a text."""
    names = ("precision", "separator", "suppress_small", "max_line_width", "threshold", "edgeitems", "floatmode")
    with np.printoptions(**printing.NUMPY | run.numpy_options):
        kept = {k: v for k, v in options.items() if k in names}
        return note_text(run, np.array2string(np.asarray(to_real(run, x)), **kept), [x])


def compared(name: str) -> Any:
    """Return an assertion of ``np.testing``."""
    host = getattr(np.testing, name)  # one of the names below

    def run_it(run: Run, *arguments: Any, **named: Any) -> None:
        plain = [Tensor(np.asarray(a.value), a.dtype, "numpy") if isinstance(a, Tensor) else a for a in arguments]
        given, options = to_reals(run, plain, named)
        try:
            host(*given, **options)
        except AssertionError as error:
            run.fail("AssertionError", str(error))

    return run_it


def error_state(run: Run, *_: Any, **__: Any) -> dict[str, str]:
    """Return what NumPy does about numbers out of range."""
    return {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}


TABLE |= {
    "numpy.dtype": lambda run, dtype, *_, **__: DType(dtype_name(run, dtype) or "float64", "array"),
    "numpy.fromiter": lambda run, items, dtype, count=-1: array(
        run, take(run, items)[: None if count < 0 else count], dtype
    ),
    "numpy.r_": Joined(np.r_, "numpy.concatenate"), "numpy.c_": Joined(np.c_, "numpy.column_stack"),
    "numpy.s_": Slices(), "numpy.index_exp": Slices(),
    "numpy.printoptions": lambda run, **options: Setting("numpy_options", lambda run: options_after(run, options)),
    "numpy.errstate": always(Context()), "numpy.seterr": error_state, "numpy.geterr": error_state,
    **{f"numpy.testing.assert_{name}": compared(f"assert_{name}") for name in (
        "allclose", "array_equal", "equal", "almost_equal", "array_almost_equal", "array_less", "approx_equal",
    )},
}  # fmt: skip


# ---- methods of arrays
def method_function(name: str) -> Any:
    """Return a method of arrays that is a function too."""
    function = TABLE.get(f"numpy.{name}") or NumpyFunction(name)
    shaped = name in ("reshape", "transpose")

    def run_it(run: Run, x: Tensor, *arguments: Any, **named: Any) -> Any:
        if shaped and arguments and not (len(arguments) == 1 and isinstance(arguments[0], tuple | list)):
            arguments = (tuple(arguments),) if arguments != (None,) else ()
        if name == "clip" and len(arguments) == 1:
            arguments = (*arguments, None)
        return function(run, x, *arguments, **named)

    run_it.__name__ = name
    return run_it


def ordered(run: Run, x: Tensor, axis: int, sorting: Any, change: Any) -> None:
    """Bring the entries of an array into another order in place; ``sorting`` gives the order itself."""
    if flows(x):
        order = by_numpy(run, lambda: sorting(np.asarray(real(x))))
        rearrange(run, x, run.function("np.take_along_axis", x, from_real(run, order), axis))
        return
    array = np.array(real(x))
    by_numpy(run, lambda: change(array))
    run.write(x, back(array))


def astype(run: Run, x: Tensor, dtype: Any, *_: Any, **__: Any) -> Any:
    """Return an array as another type of numbers: always a new one."""
    name = dtype_name(run, dtype)
    if flows(x):
        return run.function("clone", x) if name in (None, x.dtype) else cast(run, x, name or x.dtype)
    made = by_numpy(run, lambda: np.asarray(real(x)).astype(name))
    return from_real(run, made, several=bool(x.extra and x.extra.several))


def flattened(run: Run, x: Tensor, order: str = "C") -> Any:
    """Return the entries as one new row."""
    made = TABLE["numpy.ravel"](run, x, order)
    return run.function("clone", made) if flows(x) else from_real(run, np.array(real(made)))


def copied(run: Run, x: Tensor, *_: Any, **__: Any) -> Any:
    """Return a copy."""
    return run.function("clone", x) if flows(x) else from_real(run, np.array(real(x)))


def item(run: Run, x: Tensor, *place: Any) -> Any:
    """Return one number as Python has it."""
    if place:
        key = place[0] if len(place) == 1 else place
        x = subscript(run, TABLE["numpy.ravel"](run, x) if isinstance(key, int) else x, key)
    if np.size(x.value) != 1:
        run.fail("ValueError", "can only convert an array of size 1 to a Python scalar")
    return item_of(run, x)


def shown_again(run: Run, x: Tensor, dtype: Any = None, *_: Any) -> Tensor:
    """Return another array of the same memory."""
    if dtype is not None:
        raise run.refuse("an array's bytes as another type are not part of gradcli")
    return show(x, lambda node: node, x.node, x.dtype)


def no_bytes(run: Run, *_: Any) -> Any:
    """Refuse the bytes of an array."""
    raise run.refuse("the bytes of an array are not part of gradcli")


ARRAY_METHODS: dict[str, Any] = {
    **{name: method_function(name) for name in NAMES["methods"]},
    **dict.fromkeys(("tobytes", "tofile", "dumps"), no_bytes), **dict.fromkeys(("__copy__", "__deepcopy__"), copied),
    "tolist": tensor_attributes.tolist, "astype": astype, "flatten": flattened, "copy": copied, "item": item,
    "view": shown_again,
    "sort": lambda run, x, axis=-1, kind=None, order=None: ordered(
        run, x, axis, lambda a: a.argsort(axis, "stable"), lambda a: a.sort(axis=axis)
    ),
    "partition": lambda run, x, kth, axis=-1: ordered(
        run, x, axis, lambda a: a.argpartition(kth, axis), lambda a: a.partition(kth, axis)
    ),
    "put": lambda run, x, places, values, mode="raise": TABLE["numpy.put"](run, x, places, values),
    "compress": lambda run, x, condition, axis=None: TABLE["numpy.compress"](run, condition, x, axis=axis),
    "setflags": lambda run, x, **_: None, "is_integer": lambda run, x: float(x.value).is_integer(),
    "fill": lambda run, x, value: put(run, x, ..., value),
    "__array__": lambda run, x, *_: x, "__len__": lambda run, x: run.call(run.builtin("len"), [x]),
}  # fmt: skip
ARRAY_ATTRIBUTES: dict[str, Any] = {
    "T": lambda run, x: TABLE["numpy.transpose"](run, x) if len(x.shape) > 1 else x, "data": shown_again,
    "flat": lambda run, x: entries_shown(run, x, np.arange(np.size(x.value))), "base": lambda run, x: x.base,
    "imag": TABLE["numpy.imag"], "strides": lambda run, x: np.asarray(real(x)).strides,
    "flags": lambda run, x: str(np.asarray(real(x)).flags),
}  # fmt: skip


def entries_shown(run: Run, x: Tensor, places: Any) -> Tensor:
    """Return the entries of an array at places, in its memory."""
    return show(x, lambda node: look_at(run.f, node, places), look_at(run.f, x.node, places), x.dtype)


def array_attribute(run: Run, x: Tensor, name: str) -> Any:
    """Return an attribute of an array; UNBOUND where NumPy's arrays have none of this name that is told apart."""
    method = ARRAY_METHODS.get(name)
    if method is not None:
        return lambda run, *arguments, **named: method(run, x, *arguments, **named)
    return ARRAY_ATTRIBUTES[name](run, x) if name in ARRAY_ATTRIBUTES else UNBOUND


READERS["numpy"] = array_attribute


# ---- walks over the entries
@native("numpy.ndenumerate")
def ndenumerate(run: Run, x: Tensor) -> Any:
    """Yield the places of an array with their entries."""
    for place in np.ndindex(x.shape):
        yield place, subscript(run, x, place)


@native("numpy.ndindex")
def ndindex(run: Run, *shape: Any) -> Any:
    """Yield the places of a shape."""
    parts = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
    for place in np.ndindex(tuple(parts)):
        run.meter.turn()
        yield place


class Walk(Context):
    """``np.nditer`` of one array: at one entry after the other, each of which shows the array's memory.

    ``places`` are those of the entries in the order of the walk, ``at`` says how many it has left behind.
    """

    def __init__(self, run: Run, x: Tensor, flags: Any, order: str) -> None:
        super().__init__(self)
        self.run, self.x, self.flags, self.operands = run, x, flags, (x,)
        self.shape, self.ndim = x.shape, len(x.shape)
        self.places = list(np.ndindex(x.shape))
        if order == "F":
            self.places.sort(key=lambda place: place[::-1])
        self.itersize, self.at, self.begun = len(self.places), 0, False

    def entry(self) -> Tensor:
        """Return the entry where the walk is, as an array without axes."""
        place = np.ravel_multi_index(self.place(), self.x.shape) if self.x.shape else 0
        self.run.meter.turn()
        return entries_shown(self.run, self.x, place)

    def place(self) -> Any:
        """Return the place of the entry where the walk is; raises ValueError past its end."""
        if self.at >= len(self.places):
            self.run.fail("ValueError", "Iterator is past the end")
        return self.places[self.at]

    def index(self, run: Run) -> int:
        """Return the number of the entry where the walk is."""
        if "f_index" in self.flags:
            return int(np.ravel_multi_index(self.place()[::-1], self.x.shape[::-1]))
        if "c_index" not in self.flags:
            run.fail("ValueError", "Iterator does not have an index")
        return int(np.ravel_multi_index(self.place(), self.x.shape))

    def multi_index(self, run: Run) -> Any:
        """Return the place of the entry where the walk is."""
        if "multi_index" not in self.flags:
            run.fail("ValueError", "Iterator is not tracking a multi-index")
        return self.place()

    def iternext(self, run: Run) -> bool:
        """Go on to the next entry, and return whether there is one."""
        run.meter.turn()
        self.at = min(self.at + 1, len(self.places))
        return self.at < len(self.places)

    def __next__(self) -> Any:
        """Return the next entry, as a ``for`` asks for it: the walk stays at the one that it gave."""
        if self.begun:
            self.iternext(self.run)
        self.begun = True
        if self.at >= len(self.places):
            raise StopIteration
        return self.entry()

    def __iter__(self) -> Walk:
        """Return itself."""
        return self

    def subscript(self, run: Run, key: Any) -> Any:
        """Return the entry of an array of the walk, of which there is one."""
        if key != 0:
            run.fail("IndexError", f"Iterator operand index {key} is out of bounds")
        return self.entry()

    attributes = own_attributes("iternext", "itersize", "operands", "shape", "ndim") | {
        "finished": lambda run, me: me.at >= len(me.places), "multi_index": lambda run, me: me.multi_index(run),
        "index": lambda run, me: me.index(run), "iterindex": lambda run, me: me.at,
        "value": lambda run, me: me.entry(), "reset": lambda run, me: lambda run: setattr(me, "at", 0),
        "close": always(always(None)),
    }  # fmt: skip


@native("numpy.nditer")
def nditer(run: Run, op: Any, flags: Any = (), op_flags: Any = None, *, order: str = "K", **_: Any) -> Any:
    """Return a walk over the entries of an array."""
    if isinstance(op, list | tuple) and any(isinstance(part, Tensor) and part.shape for part in op):
        raise run.refuse("np.nditer of several arrays is not part of gradcli")
    x = arrayed(run, op)
    if "external_loop" in flags:
        raise run.refuse("np.nditer with external_loop is not part of gradcli")
    laid_out = np.asarray(x.value).flags
    if order == "K" and laid_out.f_contiguous and not laid_out.c_contiguous:
        order = "F"
    return Walk(run, x, flags, order)
