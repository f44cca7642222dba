"""JAX's arrays, with types of their own and never written to; functions of ``jax.nn``, ``jax.lax`` and trees."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES
from gradcli.ops.declare import value_of
from gradcli.ops.indexing import INDEX, PUT
from gradcli.runner.arrays import array_of, cast, dtype_name
from gradcli.runner.builtins import JAX_ARRAY
from gradcli.runner.calls import find_table
from gradcli.runner.containers import entry, iterate, key_of, take
from gradcli.runner.exceptions import exception_class
from gradcli.runner.library import METHODS, TABLE, attribute, method, native
from gradcli.runner.objects import Class, Foreign
from gradcli.runner.operators import PLAIN, SHORT, plain_in_jax
from gradcli.runner.state import Run
from gradcli.runner.tensor_attributes import constant
from gradcli.runner.trees import Spec, flatten, unflatten
from gradcli.runner.values import DType, Tensor, Weak, as_dtype, category, strong

TABLE |= {
    "jax.Array": JAX_ARRAY,
    "jax.numpy.ndarray": JAX_ARRAY,
    "jax.__version__": "0.10.2",
    "jax.numpy.newaxis": None,
    "jax.numpy.pi": math.pi,
    "jax.numpy.e": math.e,
    "jax.numpy.inf": math.inf,
    "jax.numpy.nan": math.nan,
    "jax.core.Tracer": Class("Tracer", [], {}),
    "jax.typing.ArrayLike": JAX_ARRAY,
    "jax.numpy.euler_gamma": float(np.euler_gamma),
}


for _name in ("ConcretizationTypeError", "TracerBoolConversionError"):
    TABLE[f"jax.errors.{_name}"] = exception_class(_name)


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


CONFIG = Config()
for _name in ("jax.config", "jax.config.config"):
    TABLE[_name] = CONFIG


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
    data = object
    if isinstance(data, Tensor) or type(data) in PLAIN:
        made = converted(run, data, name)
    else:
        if data is None:
            run.fail(
                "TypeError",
                "Value 'None' with dtype object is not a valid JAX array type. Only arrays of numeric types "
                "are supported by JAX.",
            )
        made = array_of(run, data if isinstance(data, list | tuple | range) else take(run, data), "jax", name)
        made = converted(run, made, name or strong(made.dtype))
    while len(made.shape) < ndmin:
        made = run.function("jax.numpy.expand_dims", made, 0)
    return made  # type: ignore[no-any-return]


for _name in ("array", "asarray"):
    TABLE[f"jax.numpy.{_name}"] = array


def type_maker(name: str) -> DType:
    """Return one of JAX's types."""
    return DType(name, "jax")


for _name in ("float16", "bfloat16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64"):
    TABLE[f"jax.numpy.{_name}"] = type_maker(_name)
TABLE["jax.numpy.bool_"] = TABLE["jax.numpy.bool"] = type_maker("bool")
TABLE["jax.numpy.int_"], TABLE["jax.numpy.float_"] = type_maker("int64"), type_maker("float64")


# ---- makers
def lengths(run: Run, shape: Any) -> tuple[int, ...]:
    """Return a shape as a tuple of integers."""
    items = [shape] if isinstance(shape, int | Tensor) else list(iterate(run, shape))
    found = tuple([int(n.value) if isinstance(n, Tensor) else n for n in items])
    run.meter.charge(abs(math.prod(found)))
    return found


def maker(fill: float) -> Callable[..., Tensor]:
    """Return a maker of equal numbers."""

    def make(run: Run, shape: Any, dtype: Any = None, **_: Any) -> Tensor:
        return run.make(
            np.full(lengths(run, shape), fill), canonical(run, dtype) or strong(plain_in_jax(run, 1.0)), "jax"
        )

    return make


def maker_like(fill: float) -> Callable[..., Tensor]:
    """Return a maker of equal numbers in the shape of an array."""

    def make(run: Run, x: Any, dtype: Any = None, shape: Any = None, **_: Any) -> Tensor:
        like = array(run, x)
        where = like.shape if shape is None else lengths(run, shape)
        return run.make(np.full(where, fill), canonical(run, dtype) or like.dtype, "jax")

    return make


for _name, _fill in (("zeros", 0.0), ("ones", 1.0), ("empty", 0.0)):
    TABLE[f"jax.numpy.{_name}"] = maker(_fill)
    TABLE[f"jax.numpy.{_name}_like"] = maker_like(_fill)


@native("jax.numpy.full", "jax.lax.full")
def full(run: Run, shape: Any, fill_value: Any, dtype: Any = None, **_: Any) -> Tensor:
    """Return an array of one number."""
    value = converted(run, fill_value, canonical(run, dtype))
    return run.function("jax.numpy.broadcast_to", value, lengths(run, shape))  # type: ignore[no-any-return]


@native("jax.numpy.full_like", "jax.lax.full_like")
def full_like(run: Run, x: Any, fill_value: Any, dtype: Any = None, shape: Any = None, **_: Any) -> Tensor:
    """Return an array of one number in the shape of another."""
    like = array(run, x)
    value = converted(run, fill_value, canonical(run, dtype) or like.dtype)
    return run.function("jax.numpy.broadcast_to", value, like.shape if shape is None else lengths(run, shape))  # type: ignore[no-any-return]


def numbers(x: Any) -> Any:
    """Return the number of an array without axes."""
    return np.asarray(x.value).item() if isinstance(x, Tensor) else x


@native("jax.numpy.arange")
def arange(run: Run, start: Any, stop: Any = None, step: Any = None, dtype: Any = None, **_: Any) -> Tensor:
    """Return numbers at equal distances."""
    bounds = [numbers(b) for b in (start, stop, step)]
    parts = (
        [b for b in bounds if b is not None]
        if bounds[1] is not None or bounds[2] is None
        else [0, bounds[0], bounds[2]]
    )
    length = (parts[1] - parts[0]) / (parts[2] if len(parts) > 2 else 1) if len(parts) > 1 else parts[0]
    run.meter.charge(max(0, math.ceil(length)))
    kind = plain_in_jax(run, 1.0 if any(isinstance(p, float) for p in parts) else 1)
    return run.make(np.arange(*parts), canonical(run, dtype) or strong(kind), "jax")


@native("jax.numpy.linspace")
def linspace(
    run: Run,
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """Return so many numbers at equal distances."""
    run.meter.charge(num)
    kind = canonical(run, dtype) or strong(plain_in_jax(run, 1.0))
    values, step = np.linspace(numbers(start), numbers(stop), num, endpoint=endpoint, retstep=True)
    made = run.make(values, kind, "jax")
    return (made, run.make(step, kind, "jax")) if retstep else made


@native("jax.numpy.logspace")
def logspace(
    run: Run, start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None
) -> Tensor:
    """Return so many numbers at equal ratios."""
    run.meter.charge(num)
    values = np.logspace(numbers(start), numbers(stop), num, endpoint=endpoint, base=numbers(base))
    return run.make(values, canonical(run, dtype) or strong(plain_in_jax(run, 1.0)), "jax")


@native("jax.numpy.eye", "jax.numpy.identity")
def eye(run: Run, N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Tensor:
    """Return the identity."""
    run.meter.charge(N * (M or N))
    return run.make(np.eye(N, M, k), canonical(run, dtype) or strong(plain_in_jax(run, 1.0)), "jax")


@native("jax.numpy.tri")
def tri(run: Run, N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Tensor:
    """Return ones on and below a diagonal."""
    run.meter.charge(N * (M or N))
    return run.make(np.tri(N, M, k), canonical(run, dtype) or strong(plain_in_jax(run, 1.0)), "jax")


# ---- functions that are not those of the table
def extreme(name: str) -> Callable[..., Tensor]:
    """Return ``max`` or ``min``: those that are equal share the gradient, along an axis too."""

    def run_it(run: Run, a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, **_: Any) -> Tensor:
        x = array(run, a)
        if axis is None:
            axis = tuple(range(len(x.shape)))
        made = run.function(f"torch.a{name}", x, dim=axis, keepdim=keepdims) if x.shape else x
        return Tensor(made.node, strong(x.dtype), "jax")

    return run_it


for _name in ("max", "min"):
    TABLE[f"jax.numpy.{_name}"] = TABLE[f"jax.numpy.a{_name}"] = extreme(_name)


@native("jax.numpy.linalg.norm")
def norm(run: Run, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Return a norm; of zeros the gradient is nan, as that of the root at 0."""
    a = array(run, x)
    flat = axis is None and len(a.shape) != 1
    if ord is None or (ord == 2 and not flat and not isinstance(axis, tuple)):
        return run.function(
            "jax.numpy.sqrt",
            run.call(find_table("jax.numpy.sum"), [run.operate("*", a, a)], {"axis": axis, "keepdims": keepdims}),
        )
    return run.function("numpy.linalg.norm", a, ord, axis, keepdims)


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
        run.fail(
            "TypeError",
            f"cannot reshape array of shape {x.shape} (size {size}) into shape {want} (size {math.prod(want)})",
        )
    if order == "F":
        turned = run.function("jax.numpy.transpose", x)
        return run.function("jax.numpy.transpose", run.function("torch.reshape", turned, want[::-1]))  # type: ignore[no-any-return]
    return run.function("torch.reshape", x, want)  # type: ignore[no-any-return]


@native("jax.numpy.std")
def std(
    run: Run,
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: bool = False,
    **_: Any,
) -> Any:
    """Return the root of the variance; where that is 0 the gradient is nan."""
    return run.function(
        "jax.numpy.sqrt", run.function("jax.numpy.var", array(run, a), axis=axis, ddof=ddof, keepdims=keepdims)
    )


def picking(sign: str) -> Callable[..., Any]:
    """Return ``fmax`` or ``fmin``: of two that are equal the second, of one that is nan the other."""

    def run_it(run: Run, x1: Any, x2: Any) -> Any:
        a, b = array(run, x1), array(run, x2)
        first = run.operate("|", run.operate(sign, a, b), run.function("jax.numpy.isnan", b))
        return run.function("jax.numpy.where", first, a, b)

    return run_it


TABLE["jax.numpy.fmax"], TABLE["jax.numpy.fmin"] = picking(">"), picking("<")


def chosen(name: str) -> Callable[..., Any]:
    """Return ``sum`` or ``mean``, of the entries at which ``where`` holds."""
    whole = find_table(f"jax.numpy.{name}")

    def run_it(
        run: Run,
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = None,
        **_: Any,
    ) -> Any:
        refuse_lists(run, name, a)
        x = array(run, a) if where is None else run.function("jax.numpy.where", where, array(run, a), 0)
        options = {"axis": axis, "keepdims": keepdims} | ({"dtype": dtype} if dtype is not None else {})
        if name == "mean" and where is not None:
            total = run.call(run.member("jax.numpy.sum"), [x], options)
            return run.operate("/", total, run.call(run.member("jax.numpy.sum"), [array(run, where)], options))
        made = run.call(whole, [x], options)
        return made if initial is None else run.operate("+", made, initial)

    return run_it


def refuse_lists(run: Run, name: str, a: Any) -> None:
    """Raise what JAX raises for lists where it takes arrays."""
    if isinstance(a, list | tuple):
        kind = "list" if isinstance(a, list) else "tuple"
        run.fail("TypeError", f"{name} requires ndarray or scalar arguments, got <class '{kind}'> at position 0.")


for _name in ("sum", "mean"):
    TABLE[f"jax.numpy.{_name}"] = chosen(_name)


def at_zero(run: Run, x: Tensor) -> bool:
    """Return whether derivatives flow to entries that are 0."""
    return x.active and bool(np.any(np.asarray(x.value) == 0))


def absolute(run: Run, x: Any) -> Tensor:
    """Return sizes; the slope at 0 is 1 in JAX."""
    x = array(run, x)
    if at_zero(run, x):
        return run.function("jax.numpy.where", run.operate(">=", x, 0), x, run.operate("*", x, -1))  # type: ignore[no-any-return]
    return run.function("torch.abs", x)  # type: ignore[no-any-return]


for _name in ("abs", "absolute", "fabs"):
    TABLE[f"jax.numpy.{_name}"] = absolute
TABLE["jax.lax.abs"] = absolute
METHODS["jax.__abs__"] = absolute


def clip(
    run: Run, arr: Any = None, min: Any = None, max: Any = None, *, a: Any = None, a_min: Any = None, a_max: Any = None
) -> Any:
    """Return entries within bounds; at a bound each side has half of the gradient."""
    x = array(run, arr if arr is not None else a)
    for bound, name in ((min if min is not None else a_min, "maximum"), (max if max is not None else a_max, "minimum")):
        if bound is not None:
            x = run.function(f"jax.numpy.{name}", x, bound)
    return x


TABLE["jax.numpy.clip"] = clip
TABLE["jax.lax.clamp"] = lambda run, low, x, high: clip(run, x, low, high)


@native("jax.numpy.vectorize")
def vectorize(run: Run, function: Any, **_: Any) -> Any:
    """Return a function that runs once for each entry."""

    def run_it(run: Run, *arguments: Any) -> Any:
        xs = [array(run, a) for a in arguments]
        shape = np.broadcast_shapes(*[x.shape for x in xs])
        flat = [reshape(run, run.function("jax.numpy.broadcast_to", x, shape), (-1,)) for x in xs]
        if not shape:
            return run.call(function, xs)
        each = TABLE["jax.vmap"](run, function)
        made = run.call(each, flat)
        return reshape(run, made, shape)

    return run_it


@native("jax.numpy.apply_along_axis")
def apply_along_axis(run: Run, func1d: Any, axis: int, arr: Any, *arguments: Any) -> Any:
    """Return what a function gives of each line along an axis."""
    x = array(run, arr)
    rest = [k for k in range(len(x.shape)) if k != axis % len(x.shape)]

    def line(run: Run, row: Any) -> Any:
        return run.call(func1d, [row, *arguments])

    function: Any = line
    for _ in rest:
        function = TABLE["jax.vmap"](run, function)
    return run.call(function, [run.function("jax.numpy.moveaxis", x, axis, -1)])


@native("jax.numpy.ndim")
def ndim(run: Run, x: Any) -> int:
    """Return the number of axes."""
    return len(array(run, x).shape)


@native("jax.numpy.shape")
def shape_of(run: Run, x: Any) -> tuple[int, ...]:
    """Return the lengths of the axes."""
    return array(run, x).shape


@native("jax.numpy.size")
def size_of(run: Run, x: Any, axis: int | None = None) -> int:
    """Return the number of entries."""
    shape = array(run, x).shape
    return math.prod(shape) if axis is None else shape[axis]


@native("jax.numpy.iscomplexobj")
def iscomplexobj(run: Run, x: Any) -> bool:
    """Return that numbers are real."""
    return False


@native("jax.numpy.issubdtype")
def issubdtype(run: Run, one: Any, other: Any) -> bool:
    """Return whether a type is of a kind."""
    name, kind = dtype_name(run, one, "jax"), other if isinstance(other, str) else getattr(other, "name", "")
    rank = category(name or "float32")
    words = {"floating": 2, "inexact": 2, "integer": 1, "signedinteger": 1, "bool_": 0}
    last = str(kind).rpartition(".")[2]
    return rank == words[last] if last in words else name == last


for _name in ("floating", "inexact", "integer", "signedinteger", "complexfloating"):
    TABLE[f"jax.numpy.{_name}"] = Foreign(f"jax.numpy.{_name}")


# ---- arrays
class At:
    """``x.at``, and with a subscript ``x.at[i]``: what gives a copy with other entries."""

    def __init__(self, x: Tensor, key: Any = None) -> None:
        self.x, self.key = x, key

    def subscript(self, run: Run, key: Any) -> At:
        """Return ``x.at[key]``."""
        return At(self.x, key)

    attributes = {  # noqa: RUF012
        **{
            name: (lambda run, me, name=name: lambda run, *values, **named: put(run, me, name, *values))
            for name in (
                "set",
                "add",
                "subtract",
                "multiply",
                "mul",
                "divide",
                "power",
                "min",
                "max",
                "apply",
                "get",
                "sub",
            )
        },
    }


@attribute("at")
def at(run: Run, x: Tensor) -> At:
    """Begin ``x.at[i].set(y)``."""
    if x.library != "jax":
        from gradcli.runner.classes import no_attribute

        return no_attribute(run, x, "at")  # type: ignore[no-any-return]
    return At(x)


WORDS = {"subtract": "-", "sub": "-", "multiply": "*", "mul": "*", "divide": "/", "power": "**", "add": "+"}


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
        lists = any(
            isinstance(p, np.ndarray) and p.dtype != np.bool_ for p in (key if isinstance(key, tuple) else (key,))
        )
        if lists and name in ("add", "subtract", "sub"):
            return added(run, x, key, other, name)
        before = entry(run, x, where.key)
        part = (
            run.function(f"jax.numpy.{name}imum", before, other)
            if name in ("min", "max")
            else run.operate(WORDS[name], before, other)
        )
    node = part.node if part.shape == shape else run.function("jax.numpy.broadcast_to", part, shape).node
    if category(x.dtype) < 2:
        node = as_dtype(np.asarray(value_of(node)), x.dtype)
    made = run.f(PUT, x.node if type(x.node) in NODES else np.asarray(x.node), node, key=key)
    return Tensor(made, x.dtype, "jax")


def added(run: Run, x: Tensor, key: Any, other: Tensor, name: str) -> Tensor:
    """Return an array with others added at an index, as often as it names an entry."""
    places = np.ravel(np.arange(math.prod(x.shape)).reshape(x.shape)[key])
    flat = reshape(run, x, (-1,))
    parts = reshape(run, other, (-1,))
    rounds: dict[int, int] = {}
    turns: list[list[int]] = []
    for k, place in enumerate(places.tolist()):
        turn = rounds.get(place, 0)
        rounds[place] = turn + 1
        if turn == len(turns):
            turns.append([])
        turns[turn].append(k)
    node = flat.node if type(flat.node) in NODES else np.asarray(flat.node)
    for places_of_turn in turns:
        chosen = np.array(places_of_turn)
        source = parts.node if type(parts.node) in NODES else np.asarray(parts.node)
        part = Tensor(run.f(INDEX, source, key=chosen), x.dtype, "jax")
        before = Tensor(run.f(INDEX, node, key=places[chosen]), x.dtype, "jax")
        node = run.f(PUT, node, run.operate("+" if name == "add" else "-", before, part).node, key=places[chosen])
    return reshape(run, Tensor(node, x.dtype, "jax"), x.shape)


def as_type(run: Run, x: Tensor, dtype: Any = None, **_: Any) -> Any:
    """Return an array as another type."""
    made = converted(run, x, canonical(run, dtype) or strong(x.dtype))
    return Tensor(made.node, strong(made.dtype), "jax") if isinstance(made.dtype, Weak) else made


METHODS["jax.astype"] = as_type
TABLE["jax.lax.convert_element_type"] = TABLE["jax.numpy.astype"] = as_type


def in_place(name: str) -> Callable[..., Any]:
    """Return a method of NumPy's that JAX's arrays do not have."""

    def run_it(run: Run, x: Tensor, *_: Any) -> Any:
        return run.fail("AttributeError", f"'ArrayImpl' object has no attribute '{name}'")

    return run_it


@method("jax.devices", "jax.device")
def device(run: Run, x: Tensor) -> Any:
    """Return where the numbers are."""
    return {"TFRT_CPU_0"}


@method("jax.copy", "jax.__copy__", "jax.__deepcopy__")
def copied(run: Run, x: Tensor, *_: Any) -> Tensor:
    """Return the array: nobody writes to it."""
    return x


@method("jax.is_fully_replicated", "jax.delete", "jax.is_deleted")
def nothing(run: Run, x: Tensor) -> None:
    """Do nothing: memory is none of the numbers."""


# ---- jax: what only moves
@native("jax.device_put", "jax.device_get", "jax.block_until_ready")
def moved(run: Run, tree: Any, *_: Any, **__: Any) -> Any:
    """Return arrays where they are."""
    return tree


@native("jax.devices", "jax.local_devices")
def devices(run: Run, *_: Any) -> list[Any]:
    """Return the devices: one."""
    return [Foreign("CpuDevice(id=0)")]


@native("jax.device_count", "jax.local_device_count")
def device_count(run: Run) -> int:
    """Return how many devices there are."""
    return 1


@native("jax.default_backend")
def default_backend(run: Run) -> str:
    """Return what computes."""
    return "cpu"


# ---- jax.nn
@native("jax.nn.one_hot")
def one_hot(run: Run, x: Any, num_classes: int, *, dtype: Any = None, axis: int = -1) -> Tensor:
    """Return rows of zeros with a one."""
    labels = np.asarray(array(run, x).value)
    run.meter.charge(labels.size * num_classes)
    rows = (labels[..., None] == np.arange(num_classes)).astype(np.float64)
    rows = np.moveaxis(rows, -1, axis)
    return run.make(rows, canonical(run, dtype) or strong(plain_in_jax(run, 1.0)), "jax")


def branches(run: Run, x: Any, condition: str, above: Callable[[Any], Any], below: Callable[[Any], Any]) -> Any:
    """Return one formula where an entry is above 0, another below."""
    x = array(run, x)
    return run.function("jax.numpy.where", run.operate(condition, x, 0), above(x), below(x))


@native("jax.nn.leaky_relu")
def leaky_relu(run: Run, x: Any, negative_slope: Any = 1e-2) -> Any:
    """x, and a part of it below 0; at 0 the slope is 1."""
    return branches(run, x, ">=", lambda x: x, lambda x: run.operate("*", negative_slope, x))


@native("jax.nn.hard_tanh")
def hard_tanh(run: Run, x: Any) -> Any:
    """x between -1 and 1, where the slope is 1 at both ends too."""
    x = array(run, x)
    low = run.function("jax.numpy.where", run.operate("<", x, -1), -1.0, x)
    return run.function("jax.numpy.where", run.operate(">", x, 1), 1.0, low)


@native("jax.nn.identity")
def identity(run: Run, x: Any) -> Any:
    """Return x."""
    return array(run, x)


# ---- jax.lax
for _own, _theirs in (
    ("exp", "exp"),
    ("log", "log"),
    ("sin", "sin"),
    ("cos", "cos"),
    ("tan", "tan"),
    ("tanh", "tanh"),
    ("sqrt", "sqrt"),
    ("square", "square"),
    ("add", "add"),
    ("sub", "subtract"),
    ("mul", "multiply"),
    ("div", "divide"),
    ("max", "maximum"),
    ("min", "minimum"),
    ("pow", "power"),
    ("neg", "negative"),
    ("sign", "sign"),
    ("floor", "floor"),
    ("ceil", "ceil"),
    ("log1p", "log1p"),
    ("expm1", "expm1"),
    ("atan2", "arctan2"),
    ("select", "where"),
    ("eq", "equal"),
    ("gt", "greater"),
    ("lt", "less"),
    ("ge", "greater_equal"),
    ("le", "less_equal"),
    ("dot", "dot"),
    ("cumsum", "cumsum"),
    ("cumprod", "cumprod"),
    ("rem", "fmod"),
    ("reshape", "reshape"),
    ("transpose", "transpose"),
    ("expand_dims", "expand_dims"),
):
    TABLE[f"jax.lax.{_own}"] = lambda run, *arguments, theirs=_theirs, **named: run.call(
        run.member(f"jax.numpy.{theirs}"), arguments, named
    )
TABLE["jax.lax.integer_pow"] = lambda run, x, y: run.operate("**", array(run, x), y)
TABLE["jax.lax.rsqrt"] = lambda run, x: run.operate("/", 1, run.function("jax.numpy.sqrt", x))
TABLE["jax.lax.reciprocal"] = lambda run, x: run.operate("/", 1, array(run, x))
TABLE["jax.lax.logistic"] = lambda run, x: run.function("jax.nn.sigmoid", x)


@native("jax.lax.stop_gradient")
def stop_gradient(run: Run, tree: Any) -> Any:
    """Return arrays through which no derivative flows."""
    leaves, spec = flatten(run, tree)
    return unflatten(run, spec, [stopped(run, leaf) for leaf in leaves])


def stopped(run: Run, leaf: Any) -> Any:
    """Return an array through which no derivative flows."""
    if not isinstance(leaf, Tensor) or not leaf.active:
        return leaf
    made = constant(run, leaf.node)
    return Tensor(made if type(made) in NODES else np.asarray(made), leaf.dtype, leaf.library)


@native("jax.lax.dynamic_slice")
def dynamic_slice(run: Run, operand: Any, start_indices: Any, slice_sizes: Any) -> Any:
    """Return a part of an array of given lengths."""
    x = array(run, operand)
    starts = [
        int(numbers(s))
        for s in (start_indices if isinstance(start_indices, tuple | list) else iterate(run, start_indices))
    ]
    sizes = lengths(run, slice_sizes)
    starts = [min(max(s, 0), n - k) for s, n, k in zip(starts, x.shape, sizes, strict=True)]
    return entry(run, x, tuple([slice(s, s + k) for s, k in zip(starts, sizes, strict=True)]))


@native("jax.lax.dynamic_update_slice")
def dynamic_update_slice(run: Run, operand: Any, update: Any, start_indices: Any) -> Any:
    """Return an array with a part of it replaced."""
    x, part = array(run, operand), array(run, update)
    starts = [
        int(numbers(s))
        for s in (start_indices if isinstance(start_indices, tuple | list) else iterate(run, start_indices))
    ]
    starts = [min(max(s, 0), n - k) for s, n, k in zip(starts, x.shape, part.shape, strict=True)]
    return put(run, At(x, tuple([slice(s, s + k) for s, k in zip(starts, part.shape, strict=True)])), "set", part)


@native("jax.lax.dynamic_index_in_dim")
def dynamic_index_in_dim(run: Run, operand: Any, index: Any, axis: int = 0, keepdims: bool = True) -> Any:
    """Return the entries at one place of an axis."""
    made = run.function("jax.numpy.take", array(run, operand), int(numbers(index)), axis=axis)
    return run.function("jax.numpy.expand_dims", made, axis) if keepdims else made


@native("jax.lax.concatenate")
def concatenate(run: Run, operands: Any, dimension: int) -> Any:
    """Return arrays one after the other."""
    return run.function("jax.numpy.concatenate", operands, axis=dimension)


# ---- trees
@native("jax.tree_util.tree_flatten", "jax.tree.flatten")
def tree_flatten(run: Run, tree: Any, is_leaf: Any = None) -> tuple[list[Any], Spec]:
    """Return the leaves of a nest, and how they are put together."""
    return cut(run, tree, is_leaf)


def cut(run: Run, tree: Any, is_leaf: Any) -> tuple[list[Any], Spec]:
    """Flatten a nest; what ``is_leaf`` says of is not taken apart."""
    if is_leaf is None:
        return flatten(run, tree)
    from gradcli.runner.operators import truth
    from gradcli.runner.trees import LEAF, children

    if truth(run, run.call(is_leaf, [tree])):
        return [tree], LEAF
    found = children(run, tree, True)
    if found is None:
        return [tree], LEAF
    kind, items, made_of = found
    leaves: list[Any] = []
    parts: list[Spec] = []
    for item in items:
        inner, part = cut(run, item, is_leaf)
        leaves += inner
        parts.append(part)
    return leaves, Spec(kind, parts, made_of)


@native("jax.tree_util.tree_unflatten", "jax.tree.unflatten")
def tree_unflatten(run: Run, treedef: Spec, leaves: Any) -> Any:
    """Return leaves put together."""
    items = take(run, leaves)
    if len(items) != treedef.count:
        few = "few" if len(items) < treedef.count else "many"
        run.fail("ValueError", f"Too {few} leaves for PyTreeDef; expected {treedef.count}, got {len(items)}")
    return unflatten(run, treedef, items)


@native("jax.tree_util.tree_leaves", "jax.tree.leaves")
def tree_leaves(run: Run, tree: Any, is_leaf: Any = None) -> list[Any]:
    """Return the leaves of a nest."""
    return cut(run, tree, is_leaf)[0]


@native("jax.tree_util.tree_structure", "jax.tree.structure")
def tree_structure(run: Run, tree: Any, is_leaf: Any = None) -> Spec:
    """Return how the leaves of a nest are put together."""
    return cut(run, tree, is_leaf)[1]


@native("jax.tree_util.tree_map", "jax.tree.map", "jax.tree_map", "jax.tree_util.tree_multimap")
def tree_map(run: Run, f: Any, tree: Any, *rest: Any, is_leaf: Any = None) -> Any:
    """Return a nest of what a function gives of each leaf."""
    leaves, spec = cut(run, tree, is_leaf)
    others = []
    for other in rest:
        found = parts_of(run, other, spec)
        if found is None:
            run.fail(
                "ValueError",
                f"Expected tree to have the same structure as the first: {spec.text} and {flatten(run, other)[1].text}",
            )
        others.append(found)
    return unflatten(run, spec, [run.call(f, list(each)) for each in zip(leaves, *others, strict=True)])


def parts_of(run: Run, tree: Any, spec: Spec) -> list[Any] | None:
    """Return what a nest has at the places of another's leaves; None where it is built in another way."""
    from gradcli.runner.trees import children

    if spec.kind == "leaf":
        return [tree]
    found = children(run, tree, True)
    if (
        found is None
        or found[0] != spec.kind
        or len(found[1]) != len(spec.parts)
        or (spec.kind == "dict" and found[2] != spec.made_of)
    ):
        return None
    leaves: list[Any] = []
    for item, part in zip(found[1], spec.parts, strict=True):
        inner = parts_of(run, item, part)
        if inner is None:
            return None
        leaves += inner
    return leaves


@native("jax.tree_util.tree_reduce", "jax.tree.reduce")
def tree_reduce(run: Run, function: Any, tree: Any, *start: Any, initializer: Any = None, is_leaf: Any = None) -> Any:
    """Return the leaves put together by a function of two."""
    leaves = cut(run, tree, is_leaf)[0]
    total = start[0] if start else initializer
    if total is None:
        total, leaves = leaves[0], leaves[1:]
    for leaf in leaves:
        total = run.call(function, [total, leaf])
    return total


@native("jax.tree_util.tree_all", "jax.tree.all")
def tree_all(run: Run, tree: Any) -> bool:
    """Return whether all leaves are true."""
    from gradcli.runner.operators import truth

    return all(truth(run, leaf) for leaf in flatten(run, tree)[0])


@native("jax.tree_util.tree_transpose", "jax.tree.transpose")
def tree_transpose(run: Run, outer_treedef: Spec, inner_treedef: Spec, pytree_to_transpose: Any) -> Any:
    """Return a nest of nests turned inside out."""
    leaves = flatten(run, pytree_to_transpose)[0]
    width = inner_treedef.count
    columns = [unflatten(run, outer_treedef, leaves[k::width]) for k in range(width)]
    return unflatten(run, inner_treedef, columns)


@native("jax.tree_util.register_pytree_node")
def register_node(run: Run, nodetype: Class, flatten_func: Any, unflatten_func: Any, *_: Any) -> None:
    """Say how objects of a class are taken apart and put together."""
    run.tree_nodes[nodetype] = (flatten_func, unflatten_func)


@native("jax.tree_util.register_pytree_node_class")
def register_class(run: Run, kind: Class) -> Class:
    """Say that a class takes its objects apart itself."""
    run.tree_nodes[kind] = (kind.find("tree_flatten"), run.attribute(kind, "tree_unflatten"))
    return kind


@native("jax.tree_util.register_dataclass")
def register_dataclass(run: Run, kind: Any = None, data_fields: Any = None, meta_fields: Any = None, **_: Any) -> Any:
    """Say that the fields of a dataclass are its leaves."""
    if kind is None:
        return lambda run, kind: register_dataclass(run, kind, data_fields, meta_fields)
    annotated = kind.find("__annotations__")
    own = (
        list(data_fields) if data_fields is not None else list(annotated if isinstance(annotated, list | dict) else [])
    )
    others = list(meta_fields or [])

    def take_apart(run: Run, one: Any) -> Any:
        return [one.fields[n] for n in own], tuple([one.fields[n] for n in others])

    def put_together(run: Run, rest: Any, parts: Any) -> Any:
        return run.call(kind, [], dict(zip(own, parts, strict=True)) | dict(zip(others, rest, strict=True)))

    run.tree_nodes[kind] = (take_apart, put_together)
    return kind


@native("jax.flatten_util.ravel_pytree")
def ravel_pytree(run: Run, tree: Any) -> Any:
    """Return all leaves as one row, and the function that puts them together again."""
    leaves, spec = flatten(run, tree)
    arrays = [array(run, leaf) for leaf in leaves]
    shapes = [x.shape for x in arrays]
    rows = [reshape(run, x, (-1,)) for x in arrays]
    flat = run.function("jax.numpy.concatenate", rows) if rows else run.make(np.zeros(0), "float32", "jax")

    def unravel(run: Run, row: Tensor) -> Any:
        start, parts = 0, []
        for shape in shapes:
            size = math.prod(shape)
            parts.append(reshape(run, entry(run, row, slice(start, start + size)), shape))
            start += size
        return unflatten(run, spec, parts)

    return flat, unravel
