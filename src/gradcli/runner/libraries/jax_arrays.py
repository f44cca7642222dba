"""JAX's arrays, with types of their own and never written to; functions of ``jax.nn``, ``jax.lax`` and trees."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES
from gradcli.ops.declare import value_of
from gradcli.ops.joining import PUT
from gradcli.runner.converting import array_of, cast, dtype_name
from gradcli.runner.events import note_draw
from gradcli.runner.exceptions import Raised, exception_class
from gradcli.runner.libraries.numpy_arrays import ABSTRACT, info, piecewise, set_printoptions
from gradcli.runner.libraries.numpy_functions import NAMES, NEUTRAL, STEPS, TRACED, NumpyFunction, reduced, tensors_in
from gradcli.runner.library import ATTRIBUTES, METHODS, TABLE, always, attribute, native
from gradcli.runner.numpy_values import flows, other_type, to_real
from gradcli.runner.python.builtins import JAX_ARRAY
from gradcli.runner.python.calls import COUNTS, Parameters, bound_arguments, no_attribute
from gradcli.runner.python.containers import entry, iterate, key_of, take
from gradcli.runner.python.operators import PLAIN, SHORT, plain_in_jax, quotient_type, together_in_jax
from gradcli.runner.state import Run, constant
from gradcli.runner.transforms import flatten, mapped
from gradcli.runner.values import Class, DType, Foreign, Named, Tensor, Weak, as_dtype, category, promoted, strong

TABLE |= {
    **dict.fromkeys(("jax.Array", "jax.numpy.ndarray", "jax.typing.ArrayLike"), JAX_ARRAY),
    "jax.__version__": "0.10.2", "jax.core.Tracer": Class("Tracer", [], {}), "jax.numpy.newaxis": None,
    "jax.numpy.pi": math.pi, "jax.numpy.e": math.e, "jax.numpy.inf": math.inf, "jax.numpy.nan": math.nan,
    "jax.numpy.euler_gamma": float(np.euler_gamma),
    **{f"jax.errors.{name}": exception_class(name) for name in (
        "ConcretizationTypeError", "TracerBoolConversionError",
    )},
    **{f"jax.numpy.{name}": DType(name, "jax") for name in (
        "float16", "bfloat16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64", "bool",
    )},
    **{f"jax.numpy.{name}_": DType(dtype, "jax") for name, dtype in (
        ("bool", "bool"), ("int", "int64"), ("float", "float64"),
    )},
    **{f"jax.numpy.{name}": TABLE[f"numpy.{name}"] for name in ABSTRACT},
}  # fmt: skip


# ---- types and settings
def canonical(run: Run, dtype: Any) -> str | None:
    """Return the name of a type as JAX has it: of 64 bits only where that is switched on."""
    name = dtype_name(run, dtype, "jax")
    return name if name is None or run.x64 else SHORT.get(name, name)


class Config:
    """``jax.config``."""

    attributes = {  # noqa: RUF012
        "update": lambda run, me: configure,
        "jax_enable_x64": lambda run, me: run.x64,
        "x64_enabled": lambda run, me: run.x64,
        "parse_flags_with_absl": lambda run, me: lambda run: None,
    }


def configure(run: Run, name: str, value: Any) -> None:
    """Do ``jax.config.update``; what is about memory, devices and checks changes no numbers."""
    if name == "jax_enable_x64":
        run.x64 = bool(value)


TABLE |= dict.fromkeys(("jax.config", "jax.config.config"), Config())


def typed(run: Run, numbers: Any, dtype: Any = None) -> Tensor:
    """Return a new array of numbers, of a type, or of that which JAX gives numbers of their kind."""
    number = 1.0 if np.asarray(numbers).dtype.kind == "f" else 1
    return run.make(numbers, canonical(run, dtype) or strong(plain_in_jax(run, number)), "jax")


def converted(run: Run, x: Any, dtype: str | None = None) -> Any:
    """Return a number, an array or nested lists of them as an array of JAX; anything else as it is."""
    if isinstance(x, Tensor):
        kind = dtype or (x.dtype if run.x64 or isinstance(x.dtype, Weak) else SHORT.get(x.dtype, x.dtype))
        if x.library == "jax" and kind == x.dtype:
            return x
        made = cast(run, x, kind) if x.dtype != kind else x
        return Tensor(made.node if type(made.node) in NODES else np.array(made.value), kind, "jax")
    if type(x) in PLAIN:
        return Tensor(as_dtype(np.asarray(x), dtype or plain_in_jax(run, x)), dtype or plain_in_jax(run, x), "jax")
    return x


def array(run: Run, object: Any, dtype: Any = None, copy: bool = True, order: Any = None, ndmin: int = 0) -> Tensor:
    """Do what ``jnp.array`` does."""
    name = canonical(run, dtype)
    if isinstance(object, Tensor) or type(object) in PLAIN:
        made = converted(run, object, name)
    else:
        if object is None:
            run.fail_as("jax None")
        items = object if isinstance(object, list | tuple | range) else take(run, object)
        made = converted(run, array_of(run, items, "jax", name), name)
        made = Tensor(made.node, strong(made.dtype), "jax")
    while len(made.shape) < ndmin:
        made = run.function("jax.numpy.expand_dims", made, 0)
    return made  # type: ignore[no-any-return]


# ---- makers
def lengths(run: Run, shape: Any) -> tuple[int, ...]:
    """Return a shape as a tuple of integers."""
    items = [shape] if isinstance(shape, int | Tensor) else list(iterate(run, shape))
    parts = tuple([int(n.value) if isinstance(n, Tensor) else n for n in items])
    run.meter.charge(abs(math.prod(parts)))
    return parts


def numbers(x: Any) -> Any:
    """Return the number of an array without axes."""
    return np.asarray(x.value).item() if isinstance(x, Tensor) else x


# ---- functions of jax.numpy
class JaxFunction(NumpyFunction):
    """A function of ``jax.numpy``: NumPy's own where nothing flows, in JAX's types; else one of the table's."""

    @property
    def spreads(self) -> bool:
        """Whether a result of Python's numbers alone gives way to arrays as these do."""
        if self.name == "full" or isinstance(self.host, np.ufunc):
            return True
        return self.table is not None and self.table.function.family in ("elementwise", "shaping", "neural")

    def result(self, run: Run, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Return the result: by NumPy itself where nothing flows, and where no slope comes through."""
        named = {k: v for k, v in named.items() if k not in WITHOUT_NUMBERS and (v is not None or k == "axis")}
        of_arrays = isinstance(self.host, np.ufunc) or self.name in NEUTRAL or self.name in REDUCTIONS
        if of_arrays and arguments and isinstance(arguments[0], list | tuple):
            run.fail_as("jax lists", self.name, type(arguments[0]).__name__)
        if self.name in ("eigh", "eigvalsh", "cholesky"):
            arguments, named = symmetrized(run, self, arguments, named)
        tensors = tensors_in((*arguments, *named.values()))
        if not any(flows(t) and category(t.dtype) == 2 for t in tensors):
            return self.by_numpy(run, arguments, named)
        if self.name in STEPS and self.name not in ROUNDING:
            return self.by_numpy(run, arguments, named)
        if self.name in NEUTRAL and not {"where", "initial"}.isdisjoint(named):
            return reduced(run, self, *arguments, **named)
        if self.name in CONVENTIONS:
            return CONVENTIONS[self.name](run, *arguments, **named)
        if self.name in TRACED and (self.table is None or self.table.function.family == "making"):
            return TRACED[self.name](run, *arguments, **named)
        if self.table is None:
            raise self.unknown(run)
        made = self.by_table(run, self.table, arguments, named)
        return list(made) if self.name in LISTS else made

    def by_numpy(self, run: Run, arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Call NumPy with doubles and long integers; what it does not take, the table may."""
        options = dict(named)
        dtype = options.pop("dtype", None)
        size = options.pop("size", None)
        fill_value = options.pop("fill_value", SIZED[self.name]) if self.name in SIZED else None
        places = arguments
        if arguments and isinstance(arguments[-1], DType | Class):
            places, dtype = arguments[:-1], arguments[-1]
        given = [as_numbers(run, a) for a in places]
        options = {k: as_numbers(run, v) for k, v in options.items()}
        try:
            made = self.computed(run, given, options)
            if getattr(made, "dtype", None) == np.float16:  # of truth values alone
                made = self.computed(run, [np.asarray(x, np.float64) for x in given], options)
        except Raised:
            if self.table is None:
                raise
            return self.by_table(run, self.table, arguments, named)
        if size is not None:
            if options.get("axis"):
                raise run.refuse(f"jnp.{self.name} with a size along a further axis is not part of gradcli")
            names = ("return_index", "return_inverse", "return_counts")
            asked = dict(zip(names, arguments[1:], strict=False)) | named
            made = sized(made, size, fill_value, [name for name in names if asked.get(name) is True])
        values = [x for x in flatten(run, (list(arguments), options))[0] if isinstance(x, Tensor) or type(x) in PLAIN]
        return self.typed(run, made, values, canonical(run, dtype))

    def typed(self, run: Run, made: Any, values: list[Any], dtype: str | None) -> Any:
        """Return what NumPy gave as values of a script."""
        if isinstance(made, tuple | list):
            parts = [self.typed(run, part, values, dtype) for part in made]
            if hasattr(made, "_fields"):
                return Named(type(made).__name__, dict(zip(made._fields, parts, strict=True)))
            return parts if self.name in LISTS else type(made)(parts)
        if self.name in OF_PYTHON:
            return made
        array = np.asarray(made)
        if array.dtype.kind not in "biuf":
            return other_type(run, array)
        return run.make(array, dtype or self.made_type(run, array.dtype.kind.replace("u", "i"), values), "jax")

    def made_type(self, run: Run, kind: str, values: list[Any]) -> str:
        """Return the type of a result of a kind of numbers: that of the arguments of this kind, else JAX's own."""
        if kind == "b":
            return "bool"
        kind = "f" if self.name in ("convolve", "correlate", "histogram") else kind
        usual = plain_in_jax(run, 1.0 if kind == "f" else 1)
        kinds = [together_in_jax(run, [x]) for x in values]
        alike = [one for one in kinds if category(one) == category(usual)]
        fixed = [one for one in alike if not isinstance(one, Weak)]
        if fixed and not (kind == "i" and self.name in (*COUNTS, "sum", "prod")):
            return reduce(promoted, fixed)
        if kind == "f" and values and quotient_type(run, together_in_jax(run, values)) == "float32":
            usual = Weak("float32")
        weak = alike or all(isinstance(one, Weak) for one in kinds)
        return usual if self.spreads and kinds and weak else strong(usual)


WITHOUT_NUMBERS = (
    "promote_integers", "precision", "preferred_element_type", "unique_indices", "indices_are_sorted", "out_sharding",
    "device", "copy",
)  # fmt: skip
"""Options that change no numbers."""
ROUNDING = ("sign", "floor", "ceil", "rint", "trunc")
LISTS = ("split", "array_split", "hsplit", "vsplit", "dsplit", "meshgrid", "broadcast_arrays")
"""Functions that give a list of arrays."""
SIZED: dict[str, int | None] = dict.fromkeys(("nonzero", "where", "argwhere", "flatnonzero", "setdiff1d"), 0)
SIZED |= dict.fromkeys(("unique", "union1d", "intersect1d"))
"""Functions that may be told how many entries they give, and what fills up; None are the first entries."""
OF_PYTHON = ("isscalar", "broadcast_shapes", "ndim", "size", "shape")
"""Functions that give values of Python's."""
REDUCTIONS = ("cumsum", "cumprod", "any", "all", "argmax", "argmin", "std", "var", "median")
"""Functions that take no list in the place of an array, as functions of numbers and those of ``NEUTRAL``."""


def as_numbers(run: Run, x: Any) -> Any:
    """Return a value of a script as NumPy takes it, arrays in doubles, long integers and truth values."""
    if isinstance(x, Tensor):
        array = np.asarray(x.value)
        return array.astype(np.float64) if array.dtype == object else array
    return type(x)([as_numbers(run, item) for item in x]) if type(x) in (list, tuple) else to_real(run, x)


def sized(made: Any, size: int, fill_value: Any, beside: Sequence[str] = ()) -> Any:
    """Return arrays cut, or filled up, to a size; ``beside`` names what ``unique`` gives besides, to the last."""
    if isinstance(made, tuple):
        fills, names = {"return_index": None, "return_counts": 0}, [*[""] * (len(made) - len(beside)), *beside]
        sizes = [len(part) if name == "return_inverse" else size for part, name in zip(made, names, strict=True)]
        return tuple(map(sized, made, sizes, [fills.get(name, fill_value) for name in names]))
    whole = np.full((size, *made.shape[1:]), made[0] if fill_value is None else fill_value, made.dtype)
    whole[: len(made)] = made[:size]
    return whole


def symmetrized(run: Run, function: JaxFunction, arguments: Any, named: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return what a function of a symmetric matrix is called with: one that is not is made so, unless that is off."""
    extra = ["upper", "symmetrize_input"] if function.name == "cholesky" else ["UPLO", "symmetrize_input"]
    takes = Parameters(["a", *extra[: 2 * (extra[0] == "UPLO")]], extra, 0, extra)
    options = bound_arguments(run, function.name, takes, arguments, named)
    x = array(run, options.pop("a"))
    if options.pop("symmetrize_input", True):
        x = run.operate("/", run.operate("+", x, run.attribute(x, "mT")), 2)
    elif flows(x):
        raise function.unknown(run, " with symmetrize_input=False")
    return (x,), options


TABLE |= {
    f"{prefix}.{name}": JaxFunction(name, module, prefix)
    for names, module, prefix in (
        (NAMES["functions"], np, "jax.numpy"), (NAMES["linear"], np.linalg, "jax.numpy.linalg"),
    )
    for name in names
    if hasattr(module, name)
}  # fmt: skip
TABLE |= {"jax.numpy.array": array, "jax.numpy.asarray": array, "jax.numpy.empty": TABLE["jax.numpy.zeros"]}
RESHAPE = TABLE["jax.numpy.reshape"]


# ---- conventions of JAX where a derivative flows
def extreme(name: str) -> Callable[..., Tensor]:
    """Return ``max`` or ``min``: those that are equal share the gradient, along an axis too."""

    def run_it(run: Run, a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Tensor:
        x = array(run, a)
        along = tuple(range(len(x.shape))) if axis is None else axis
        made = run.function(f"torch.a{name}", x, dim=along, keepdim=keepdims) if x.shape else x
        return Tensor(made.node, strong(x.dtype), "jax")

    return run_it


def norm(run: Run, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Return a norm; of zeros the gradient is nan, as that of the root at 0."""
    flat = axis is None and len(x.shape) != 1
    if ord is None or (ord == 2 and not flat and not isinstance(axis, tuple)):
        squares = run.function("jax.numpy.sum", run.operate("*", x, x), axis=axis, keepdims=keepdims)
        return run.function("jax.numpy.sqrt", squares)
    return run.function("numpy.linalg.norm", x, ord, axis, keepdims)


@native("jax.numpy.reshape")
def reshape(
    run: Run, a: Any, shape: Any = None, *more: Any, newshape: Any = None, order: str = "C", **_: Any
) -> Tensor:
    """Return an array in another shape."""
    x = array(run, a)
    given = shape if shape is not None else newshape
    want = lengths(run, (given, *more) if more else given)
    size, known = math.prod(x.shape), math.prod(n for n in want if n != -1)
    if (known != size) if -1 not in want else (not known or size % known):
        run.fail_as("jax reshape", x.shape, size, want, math.prod(want))
    return RESHAPE(run, x, want, order=order)  # type: ignore[no-any-return]


def picking(sign: str) -> Callable[..., Any]:
    """Return ``fmax`` or ``fmin``: of two that are equal the second, of one that is nan the other."""

    def run_it(run: Run, x1: Any, x2: Any) -> Any:
        a, b = array(run, x1), array(run, x2)
        first = run.operate("|", run.operate(sign, a, b), run.function("jax.numpy.isnan", b))
        return run.function("jax.numpy.where", first, a, b)

    return run_it


def absolute(run: Run, x: Any) -> Tensor:
    """Return sizes; the slope at 0 is 1 in JAX."""
    x = array(run, x)
    if x.active and np.any(np.asarray(x.value) == 0):
        positive, turned = run.operate(">=", x, 0), run.operate("*", x, -1)
        return run.function("jax.numpy.where", positive, x, turned)  # type: ignore[no-any-return]
    return run.function("torch.abs", x)  # type: ignore[no-any-return]


def clip(
    run: Run, arr: Any = None, min: Any = None, max: Any = None, *, a: Any = None, a_min: Any = None, a_max: Any = None
) -> Any:
    """Return entries within bounds; at a bound each side has half of the gradient."""
    x = array(run, arr if arr is not None else a)
    for bound, name in ((min if min is not None else a_min, "maximum"), (max if max is not None else a_max, "minimum")):
        if bound is not None:
            x = run.function(f"jax.numpy.{name}", x, bound)
    return x


CONVENTIONS: dict[str, Callable[..., Any]] = {
    **{f"{start}{name}": extreme(name) for name in ("max", "min") for start in ("", "a")},
    **dict.fromkeys(("abs", "absolute", "fabs"), absolute), "norm": norm, "clip": clip,
    "std": lambda run, a, *arguments, **named: run.function(  # where it is 0 the gradient is nan
        "jax.numpy.sqrt", run.function("jax.numpy.var", array(run, a), *arguments, **named)
    ),
    "fmax": picking(">"), "fmin": picking("<"),
}  # fmt: skip
"""What JAX does otherwise than NumPy's names of the table where a derivative flows."""
TABLE |= {
    "jax.lax.abs": TABLE["jax.numpy.abs"], "jax.lax.full": TABLE["jax.numpy.full"],
    "jax.lax.full_like": TABLE["jax.numpy.full_like"],
    "jax.lax.clamp": lambda run, low, x, high: clip(run, x, low, high),
    "jax.numpy.iscomplexobj": always(False),
    **dict.fromkeys(("jax.numpy.finfo", "jax.numpy.iinfo"), info), "jax.numpy.piecewise": piecewise,
    "jax.numpy.set_printoptions": set_printoptions, "jax.numpy.printoptions": TABLE["numpy.printoptions"],
    **dict.fromkeys(("jax.numpy.result_type", "jax.numpy.promote_types"), lambda run, *values: DType(
        together_in_jax(run, [x if isinstance(x, Tensor) or type(x) in PLAIN else typed(run, 0, x) for x in values]),
        "array",
    )),
}  # fmt: skip
METHODS["jax.__abs__"] = absolute


# ---- arrays
WORDS = {"subtract": "-", "sub": "-", "multiply": "*", "mul": "*", "divide": "/", "power": "**", "add": "+"}


class At:
    """``x.at``, and with a subscript ``x.at[i]``: what gives a copy with other entries."""

    def __init__(self, x: Tensor, key: Any = None) -> None:
        self.x, self.key = x, key

    def subscript(self, run: Run, key: Any) -> At:
        """Return ``x.at[key]``."""
        return At(self.x, key)

    attributes = {  # noqa: RUF012
        name: (lambda run, me, name=name: lambda run, *values, **named: put(run, me, name, *values))
        for name in (*WORDS, "set", "min", "max", "apply", "get")
    }


ATTRIBUTES["weak_type"] = lambda run, x: isinstance(x.dtype, Weak)


@attribute("at")
def at(run: Run, x: Tensor) -> At:
    """Begin ``x.at[i].set(y)``."""
    return At(x) if x.library == "jax" else no_attribute(run, x, "at")


def put(run: Run, where: At, name: str, value: Any = None) -> Tensor:
    """Return a copy of an array with other entries at an index; of an index that is there twice all are added up."""
    x = where.x
    key = key_of(run, x, where.key)
    if name == "get":
        return entry(run, x, where.key)  # type: ignore[no-any-return]
    shape = np.shape(np.empty(x.shape, np.bool_)[key])
    if name == "apply":
        part = run.call(value, [entry(run, x, where.key)])
    elif name == "set":
        part = array(run, value)
    else:
        other = run.function("jax.numpy.broadcast_to", array(run, value), shape)
        keys = key if isinstance(key, tuple) else (key,)
        lists = any(isinstance(p, np.ndarray) and p.dtype != np.bool_ for p in keys)
        if lists and name in ("add", "subtract", "sub"):
            places = run.make(np.arange(math.prod(x.shape)).reshape(x.shape)[key], "int64", "jax")
            change = other if name == "add" else run.operate("*", other, -1)
            flat = [reshape(run, part, (-1,)) for part in (x, places, change)]
            made = run.function("torch.index_put", flat[0], (flat[1],), flat[2], accumulate=True)
            return Tensor(reshape(run, made, x.shape).node, x.dtype, "jax")
        before = entry(run, x, where.key)
        if name in ("min", "max"):
            part = run.function(f"jax.numpy.{name}imum", before, other)
        else:
            part = run.operate(WORDS[name], before, other)
    node = part.node if part.shape == shape else run.function("jax.numpy.broadcast_to", part, shape).node
    if category(x.dtype) < 2:
        node = as_dtype(np.asarray(value_of(node)), x.dtype)
    made = run.f(PUT, x.node if type(x.node) in NODES else np.asarray(x.node), node, key=key)
    return Tensor(made, x.dtype, "jax")


def as_type(run: Run, x: Tensor, dtype: Any = None, **_: Any) -> Any:
    """Return an array as another type."""
    made = converted(run, x, canonical(run, dtype) or strong(x.dtype))
    return Tensor(made.node, strong(made.dtype), "jax") if isinstance(made.dtype, Weak) else made


METHODS |= {
    "jax.astype": as_type,
    "jax.flatten": TABLE["jax.numpy.ravel"],
    **{f"jax.{name}": lambda run, x, *_: x for name in ("copy", "__copy__", "__deepcopy__")},  # nobody writes to it
    **dict.fromkeys(("jax.devices", "jax.device"), always({"TFRT_CPU_0"})),
    **{f"jax.{name}": always(None) for name in ("is_fully_replicated", "delete", "is_deleted")},
}
TABLE |= {
    "jax.lax.convert_element_type": as_type, "jax.numpy.astype": as_type,
    **dict.fromkeys(("jax.device_put", "jax.device_get", "jax.block_until_ready"), lambda run, tree, *_, **__: tree),
    **dict.fromkeys(("jax.devices", "jax.local_devices"), lambda run, *_: [Foreign("CpuDevice(id=0)")]),
    "jax.device_count": always(1), "jax.local_device_count": always(1), "jax.default_backend": always("cpu"),
}  # fmt: skip


# ---- jax.nn
@native("jax.nn.one_hot")
def one_hot(run: Run, x: Any, num_classes: int, *, dtype: Any = None, axis: int = -1) -> Tensor:
    """Return rows of zeros with a one."""
    labels = np.asarray(array(run, x).value)
    run.meter.charge(labels.size * num_classes)
    rows = (labels[..., None] == np.arange(num_classes)).astype(np.float64)
    return typed(run, np.moveaxis(rows, -1, axis), dtype)


@native("jax.nn.leaky_relu")
def leaky_relu(run: Run, x: Any, negative_slope: Any = 1e-2) -> Any:
    """x, and a part of it below 0; at 0 the slope is 1."""
    x = array(run, x)
    return run.function("jax.numpy.where", run.operate(">=", x, 0), x, run.operate("*", negative_slope, x))


@native("jax.nn.hard_tanh")
def hard_tanh(run: Run, x: Any) -> Any:
    """x between -1 and 1, where the slope is 1 at both ends too."""
    x = array(run, x)
    low = run.function("jax.numpy.where", run.operate("<", x, -1), -1.0, x)
    return run.function("jax.numpy.where", run.operate(">", x, 1), 1.0, low)


def of_floats(name: str, run: Run, x: Any, *arguments: Any, **named: Any) -> Any:
    """Return a function of ``jax.nn`` of floats, which integers become."""
    x = array(run, x)
    x = x if category(x.dtype) == 2 else converted(run, x, quotient_type(run, x.dtype))
    return run.function(f"jax.nn.{name}", x, *arguments, **named)


# ---- jax.lax
def so_far(run: Run, operand: Any, axis: int = 0, reverse: bool = False, *, name: str) -> Any:
    """Return the sums or the products up to each entry of an axis, in ``reverse`` from there on."""
    way = run.function("jax.numpy.flip", operand, axis) if reverse else operand
    made = run.call(run.member(f"jax.numpy.{name}"), [way, axis])
    return run.function("jax.numpy.flip", made, axis) if reverse else made


SAME = (
    "exp", "log", "sin", "cos", "tan", "tanh", "sqrt", "square", "add", "sign", "floor", "ceil", "log1p", "expm1",
    "dot", "reshape", "transpose", "expand_dims", "argmax", "argmin", "sinh", "cosh", "asin",
    "acos", "atan", "asinh", "acosh", "atanh", "exp2", "cbrt", "split", "squeeze", "stack", "tile", "unstack",
    "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not",
)  # fmt: skip
for _theirs, _own in {
    **dict(zip(SAME, SAME, strict=True)),
    "subtract": "sub", "multiply": "mul", "divide": "div", "maximum": "max", "minimum": "min", "power": "pow",
    "negative": "neg", "arctan2": "atan2", "where": "select", "equal": "eq", "greater": "gt", "less": "lt",
    "greater_equal": "ge", "less_equal": "le", "fmod": "rem",
}.items():  # fmt: skip
    TABLE[f"jax.lax.{_own}"] = lambda run, *arguments, theirs=_theirs, **named: run.call(
        run.member(f"jax.numpy.{theirs}"), arguments, named
    )
TABLE |= {
    **{f"jax.lax.{name}": partial(so_far, name=name) for name in ("cumsum", "cumprod")},
    **{f"jax.nn.{name}": partial(of_floats, name) for name in ("softmax", "log_softmax", "gelu", "softplus", "elu")},
    "jax.nn.identity": array, "jax.lax.integer_pow": lambda run, x, y: run.operate("**", array(run, x), y),
    "jax.lax.rsqrt": lambda run, x: run.operate("/", 1, run.function("jax.numpy.sqrt", x)),
    "jax.lax.reciprocal": lambda run, x: run.operate("/", 1, array(run, x)),
    "jax.lax.logistic": lambda run, x: run.function("jax.nn.sigmoid", x),
    "jax.lax.stop_gradient": lambda run, tree: mapped(run, lambda leaf: stopped(run, leaf), tree),
    **{f"jax.lax.{name}": lambda run, x, name=name: run.function(f"jax.scipy.special.{name}", x) for name in (
        "erf", "erfc",
    )},
    "jax.lax.concatenate": lambda run, operands, dimension: run.function(
        "jax.numpy.concatenate", operands, axis=dimension
    ),
}  # fmt: skip


def stopped(run: Run, leaf: Any) -> Any:
    """Return an array through which no derivative flows."""
    if not isinstance(leaf, Tensor) or not leaf.active:
        return leaf
    made = constant(run, leaf.node)
    return Tensor(made if type(made) in NODES else np.asarray(made), leaf.dtype, leaf.library)


@native("jax.lax.top_k")
def top_k(run: Run, operand: Any, k: int) -> list[Tensor]:
    """Return the greatest entries of each row, and their places."""
    values, places = run.function("torch.topk", array(run, operand), k)
    return [values, array(run, places)]


@native("jax.ops.segment_sum")
def segment_sum(run: Run, data: Any, segment_ids: Any, num_segments: int | None = None, **_: Any) -> Tensor:
    """Return the sums of the entries of each number."""
    x, ids = array(run, data), array(run, segment_ids)
    places = np.asarray(ids.value)
    count = int(np.max(places, initial=-1)) + 1 if num_segments is None else num_segments
    run.meter.charge(count)
    if np.any(outside := (places < 0) | (places >= count)):  # these are in no sum
        x, ids = (entry(run, one, Tensor(np.flatnonzero(~outside), "int64", "jax")) for one in (x, ids))
    return put(run, At(run.make(np.zeros((count, *x.shape[1:])), x.dtype, "jax"), ids), "add", x)


# ---- jax.random: the numbers are NumPy's, for the same key always the same; a note says so
OTHERS = "JAX's random numbers are drawn by NumPy here: for the same keys JAX draws others"


@native("jax.random.PRNGKey", "jax.random.key")
def key(run: Run, seed: Any, **_: Any) -> Tensor:
    """Return the key of a seed."""
    return Tensor(np.array([0, int(numbers(seed)) & 0x7FFFFFFF]), "int64", "jax")


def source(run: Run, one: Tensor) -> np.random.Generator:
    """Return what draws for a key."""
    run.note("seed", OTHERS)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([int(n) for n in np.ravel(one.value)])))


@native("jax.random.split")
def split(run: Run, key: Tensor, num: Any = 2) -> Tensor:
    """Return new keys of one."""
    shape = (num,) if isinstance(num, int) else tuple(num)
    made = source(run, key).integers(0, 2**31 - 1, size=(*shape, 2))
    return Tensor(made.astype(np.int64), "int64", "jax")


@native("jax.random.fold_in")
def fold_in(run: Run, key: Tensor, data: Any) -> Tensor:
    """Return the key of a key and a number."""
    parts = [*[int(n) for n in np.ravel(key.value)], int(numbers(data)) & 0x7FFFFFFF]
    made = np.random.SeedSequence(parts).generate_state(2, np.uint32) >> 1
    return Tensor(made.astype(np.int64), "int64", "jax")


def shaped_draw(draw: Callable[..., Any], order: str, **defaults: Any) -> Callable[..., Tensor]:
    """Return a function that draws floats; ``order`` names its parameters after the key."""
    names = order.split()

    def run_it(run: Run, key: Tensor, *arguments: Any, **named: Any) -> Tensor:
        values = defaults | dict(zip(names, arguments, strict=False)) | named
        passed = [values[name] for name in names if name not in ("shape", "dtype")]
        given = [np.asarray(v.value) if isinstance(v, Tensor) else v for v in passed]
        shape = values.get("shape")
        size = np.broadcast_shapes(*map(np.shape, given)) if shape is None else lengths(run, shape)
        made = typed(run, np.asarray(draw(source(run, key), size, *given), np.float64), values.get("dtype"))
        note_draw(run, made)
        return made

    return run_it


for _name, _draw, _order, _defaults in (
    ("uniform", lambda g, n, low, high: low + (high - low) * g.random(n), "shape dtype minval maxval",
     {"minval": 0.0, "maxval": 1.0}),
    ("normal", lambda g, n: g.standard_normal(n), "shape dtype", {}),
    ("truncated_normal", lambda g, n, low, high: np.clip(g.standard_normal(n), low, high), "lower upper shape dtype",
     {}),
    ("exponential", lambda g, n: g.exponential(size=n), "shape dtype", {}),
    ("gamma", lambda g, n, a: g.gamma(a, size=n), "a shape dtype", {}),
    ("beta", lambda g, n, a, b: g.beta(a, b, size=n), "a b shape dtype", {}),
    ("laplace", lambda g, n: g.laplace(size=n), "shape dtype", {}),
    ("gumbel", lambda g, n: g.gumbel(size=n), "shape dtype", {}),
    ("cauchy", lambda g, n: g.standard_cauchy(size=n), "shape dtype", {}),
    ("rademacher", lambda g, n: 2.0 * g.integers(0, 2, size=n) - 1, "shape dtype", {}),
):  # fmt: skip
    TABLE[f"jax.random.{_name}"] = shaped_draw(_draw, _order, **_defaults)


@native("jax.random.randint")
def randint(run: Run, key: Tensor, shape: Any, minval: Any, maxval: Any, dtype: Any = None) -> Tensor:
    """Draw integers."""
    made = source(run, key).integers(numbers(minval), numbers(maxval), size=lengths(run, shape))
    return typed(run, np.asarray(made, np.int64), dtype)


@native("jax.random.bernoulli")
def bernoulli(run: Run, key: Tensor, p: Any = 0.5, shape: Any = None) -> Tensor:
    """Draw truth values."""
    chance = np.asarray(p.value) if isinstance(p, Tensor) else p
    size = np.shape(chance) if shape is None else lengths(run, shape)
    return Tensor(np.asarray(source(run, key).random(size) < chance), "bool", "jax")


@native("jax.random.permutation")
def permutation(run: Run, key: Tensor, x: Any, axis: int = 0, independent: bool = False) -> Tensor:
    """Draw an order, or put an array into one."""
    if isinstance(x, int):
        run.meter.charge(x)
        return typed(run, source(run, key).permutation(x))
    rows = array(run, x)
    order = source(run, key).permutation(rows.shape[axis])
    return run.function("jax.numpy.take", rows, Tensor(order, "int64", "jax"), axis=axis)  # type: ignore[no-any-return]


@native("jax.random.choice")
def choice(
    run: Run, key: Tensor, a: Any, shape: Any = (), replace: bool = True, p: Any = None, axis: int = 0
) -> Tensor:
    """Draw entries of an array."""
    rows = None if isinstance(a, int) else array(run, a)
    count = a if rows is None else rows.shape[axis]
    chances = None if p is None else np.asarray(p.value, np.float64) / np.sum(np.asarray(p.value, np.float64))
    places = source(run, key).choice(count, size=lengths(run, shape), replace=replace, p=chances)
    where = typed(run, np.asarray(places, np.int64))
    return where if rows is None else run.function("jax.numpy.take", rows, where, axis=axis)


@native("jax.random.categorical")
def categorical(run: Run, key: Tensor, logits: Any, axis: int = -1, shape: Any = None) -> Tensor:
    """Draw classes by the logarithms of their chances."""
    given = np.asarray(array(run, logits).value, np.float64)
    size = given.shape if shape is None else (*lengths(run, shape), given.shape[axis])
    made = np.argmax(given + source(run, key).gumbel(size=size), axis=axis)
    return typed(run, np.asarray(made, np.int64))


def initializer(kind: str, scale: str) -> Callable[..., Any]:
    """Return a maker of initial weights of ``jax.nn.initializers``."""

    def make(run: Run, *_: Any, **__: Any) -> Any:
        def init(run: Run, key: Tensor, shape: Any, dtype: Any = None) -> Tensor:
            size = lengths(run, shape)
            ins, outs = (size[-2], size[-1]) if len(size) > 1 else (size[0], size[0])
            variance = {"glorot": 2.0 / (ins + outs), "he": 2.0 / ins, "lecun": 1.0 / ins}[scale]
            g, normal = source(run, key), kind == "normal"
            numbers = g.standard_normal(size) if normal else 2 * g.random(size) - 1
            return typed(run, numbers * np.sqrt(variance if normal else 3 * variance), dtype)

        return init

    return make


for _scale in ("glorot", "he", "lecun"):
    for _kind in ("normal", "uniform"):
        TABLE[f"jax.nn.initializers.{_scale}_{_kind}"] = initializer(_kind, _scale)
