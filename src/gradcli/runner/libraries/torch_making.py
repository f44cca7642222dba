"""PyTorch's makers: tensors from numbers, draws, types, devices, and what is about tensors and not of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradcli.ops.values import cloned
from gradcli.runner import printing
from gradcli.runner import tensor_attributes as attributes
from gradcli.runner.converting import array_of, cast, dtype_name
from gradcli.runner.events import note_draw
from gradcli.runner.library import (
    METHODS,
    TABLE,
    always,
    drawing,
    effect_error,
    generator_of,
    look_up,
    methods_of_draws,
    native,
    record,
)
from gradcli.runner.python.builtins import DTYPE, PARAMETER, SIZE, TENSOR
from gradcli.runner.python.containers import whole
from gradcli.runner.python.operators import truth
from gradcli.runner.state import Run, constant, show
from gradcli.runner.values import FLOATS, Class, DType, Foreign, Instance, Tensor, as_dtype, category, extra_of

if TYPE_CHECKING:
    from gradcli.runner.draws import Generator

TABLE |= {f"torch.{_name}": DType(_name) for _name in (
    "float16", "bfloat16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64", "bool",
)}  # fmt: skip
OLD_NAMES = {
    "half": "float16", "float": "float32", "double": "float64", "long": "int64", "int": "int32", "short": "int16",
}  # fmt: skip
TABLE |= {f"torch.{_name}": DType(_dtype) for _name, _dtype in OLD_NAMES.items()}


class Layout:
    """``torch.strided``."""

    text = "torch.strided"


TABLE |= {
    "torch.__version__": "2.13.0", "torch.Size": SIZE, "torch.Tensor": TENSOR, "torch.nn.Parameter": PARAMETER,
    "torch.nn.parameter.Parameter": PARAMETER, "torch.inf": float("inf"), "torch.nan": float("nan"), "torch.pi": np.pi,
    "torch.e": np.e, "torch.newaxis": None, "torch.dtype": DTYPE, "torch.strided": Layout(),
    "torch.preserve_format": Foreign("torch.preserve_format"),
    "torch.contiguous_format": Foreign("torch.contiguous_format"),
}  # fmt: skip


def finished(run: Run, tensor: Tensor, requires_grad: bool) -> Tensor:
    """Return a new tensor, as a leaf where that is asked for."""
    if requires_grad:
        attributes.set_requires(run, tensor, True, attributes.NO_INTEGERS.capitalize().replace("tensors", "Tensors"))
    return tensor


@native("torch.as_tensor", "torch.asarray")
def as_tensor(run: Run, data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """Return a tensor of numbers: the memory that it is given, where that has the type."""
    if isinstance(data, Tensor) and data.library in ("torch", "numpy") and dtype_name(run, dtype) in (None, data.dtype):
        return data if data.library == "torch" else from_numpy(run, data)
    return tensor(run, data, dtype, device)


@native("torch.tensor")
def tensor(run: Run, data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, **_: Any) -> Tensor:
    """Return a tensor of numbers."""
    name = dtype_name(run, dtype)
    if isinstance(data, Tensor):
        kind = name or (data.dtype if data.library != "python" else run.default_dtype)
        noted = run.held.through or (data.library != "torch" and run.replay is not None)
        if noted and type(data.node) is not np.ndarray:
            return finished(run, cast(run, Tensor(constant(run, data.node), data.dtype), kind), requires_grad)
        made = Tensor(as_dtype(np.array(data.value), kind), kind)
        return finished(run, made, requires_grad)
    made = array_of(run, data, "torch", name)
    return finished(run, made, requires_grad)


@native("torch.from_numpy")
def from_numpy(run: Run, array: Tensor) -> Tensor:
    """Return a tensor of the memory of an array of NumPy's."""
    made = show(array, lambda node: node, array.node, array.dtype)
    made.library = "torch"
    return made


def legacy(dtype: str) -> Any:
    """Return a maker such as ``torch.FloatTensor``: of numbers, or of lengths."""

    def make(run: Run, *arguments: Any) -> Tensor:
        if len(arguments) == 1 and isinstance(arguments[0], list | tuple | Tensor):
            data = arguments[0]
            if isinstance(data, Tensor):
                return cast(run, data if data.library == "torch" else from_numpy(run, data), dtype)
            return array_of(run, data, "torch", dtype)
        return run.make(np.zeros(tuple(arguments)), dtype)

    return make


TENSOR.make = legacy("float32")
for _name, _dtype in (OLD_NAMES | {"bool": "bool"}).items():
    TABLE[f"torch.{_name.title()}Tensor"] = Class(f"{_name.title()}Tensor", [TENSOR], {}, legacy(_dtype))


def parameter(run: Run, data: Any = None, requires_grad: bool = True) -> Tensor:
    """Return a parameter of a module: a leaf."""
    if data is None:
        data = run.make(np.zeros(0))
    if not isinstance(data, Tensor):
        run.fail("TypeError", f"cannot assign parameter: {type(data).__name__}")
    made = Tensor(np.array(data.value), data.dtype)
    extra_of(made).parameter = True
    attributes.share(made, data)
    return finished(run, made, requires_grad)


PARAMETER.make = parameter


@native("torch.autograd.Variable")
def variable(run: Run, data: Tensor, requires_grad: bool = False, volatile: bool = False) -> Tensor:
    """Return the memory of a tensor, as the class of old did: derivatives go no further."""
    made = attributes.detached(run, data)
    return attributes.require(run, made, requires_grad) if requires_grad else made


def lengths(run: Run, size: Sequence[Any]) -> tuple[int, ...]:
    """Return lengths that are given one by one or as one tuple."""
    if len(size) == 1 and isinstance(size[0], list | tuple):
        size = size[0]
    result = []
    for length in size:
        one = whole(run, length)
        if not isinstance(one, int):
            run.fail("TypeError", f"size must be tuple of ints, but found element of type {run.type_name(one)}")
        if one < 0:
            run.fail("RuntimeError", f"Trying to create tensor with negative dimension {one}: {list(size)}")
        result.append(one)
    run.meter.charge(int(np.prod(result, dtype=object)) if result else 1)
    return tuple(result)


Numbers = Callable[..., tuple[Any, str]]
IGNORED = ("device", "layout", "pin_memory", "memory_format")
"""Options of makers that change no numbers."""


def maker(*names: str) -> Callable[[Numbers], Numbers]:
    """Enter a maker of new tensors: the function returns numbers, and their type where none is asked for."""

    def decorate(numbers: Numbers) -> Numbers:
        def make(run: Run, *arguments: Any, dtype: Any = None, requires_grad: bool = False, **named: Any) -> Tensor:
            made, usual = numbers(run, *arguments, **{k: v for k, v in named.items() if k not in IGNORED})
            return finished(run, run.make(made, dtype_name(run, dtype) or usual), requires_grad)

        make.__name__ = names[0].rpartition(".")[2]
        native(*names)(make)
        return numbers

    return decorate


def size_of(run: Run, size: tuple[Any, ...], named: dict[str, Any]) -> tuple[int, ...]:
    """Return the lengths of a new tensor, which may be named too."""
    return lengths(run, size or (named.get("size", ()),))


for _name, _fill in (("zeros", 0.0), ("ones", 1.0), ("empty", 0.0)):
    maker(f"torch.{_name}")(
        lambda run, *size, fill=_fill, **named: (np.full(size_of(run, size, named), fill), run.default_dtype)
    )
    maker(f"torch.{_name}_like")(lambda run, x, fill=_fill: (np.full_like(x.value, fill, np.float64), x.dtype))


def plain(x: Any) -> Any:
    """Return the number of a tensor, anything else as it is."""
    return np.asarray(x.value).item() if isinstance(x, Tensor) else x


@maker("torch.full")
def full(run: Run, size: Any, fill_value: Any) -> tuple[Any, str]:
    """Return one number, as often as lengths say."""
    value = plain(fill_value)
    usual = run.default_dtype if isinstance(value, float) else "bool" if isinstance(value, bool) else "int64"
    return np.full(lengths(run, (size,)), value), usual


maker("torch.full_like")(lambda run, x, fill_value: (np.full_like(x.value, plain(fill_value), np.float64), x.dtype))


@maker("torch.arange")
def arange(run: Run, *bounds: Any, **named: Any) -> tuple[Any, str]:
    """Return numbers at equal distances."""
    parts = [plain(p) for p in (*bounds, *[named[k] for k in ("start", "end", "step") if k in named])]
    first, last, step = (0, parts[0], 1) if len(parts) == 1 else (*parts, 1)[:3]
    if (last - first) * step < 0 and len(parts) > 1:
        run.fail("RuntimeError", "upper bound and lower bound inconsistent with step sign")
    run.meter.charge(int(abs((last - first) / step)))
    return np.arange(*parts), run.default_dtype if any(isinstance(p, float) for p in parts) else "int64"


@maker("torch.range")
def range_(run: Run, start: Any, end: Any, step: Any = 1) -> tuple[Any, str]:
    """Return numbers at equal distances, with the last."""
    count = int((end - start) / step) + 1
    run.meter.charge(max(count, 1))
    return start + step * np.arange(count), run.default_dtype


def between(host: Any) -> Numbers:
    """Return a maker of so many numbers from one to another: ``linspace`` or ``logspace``."""

    def numbers(run: Run, start: Any, end: Any, steps: int = 100, *base: Any, **options: Any) -> tuple[Any, str]:
        run.meter.charge(steps)
        return host(plain(start), plain(end), steps, *base, **options), run.default_dtype

    return numbers


maker("torch.linspace")(between(np.linspace))
maker("torch.logspace")(between(lambda start, end, steps, base=10.0: np.logspace(start, end, steps, base=base)))


@maker("torch.eye")
def eye(run: Run, n: int, m: int | None = None) -> tuple[Any, str]:
    """Return the identity."""
    run.meter.charge(n * (m or n))
    return np.eye(n, m), run.default_dtype


def new_maker(name: str) -> Any:
    """Return a method that makes a tensor of the type of another: ``x.new_zeros(3)``."""

    def make(run: Run, x: Tensor, *arguments: Any, dtype: Any = None, **named: Any) -> Any:
        return TABLE[f"torch.{name}"](run, *arguments, dtype=dtype or DType(x.dtype), **named)

    return make


# ---- draws
GENERATOR = TABLE["torch.Generator"] = Class("Generator", [], {}, qualified="torch.Generator")
STATES: dict[str, Any] = {
    **dict.fromkeys(("seed", "initial_seed"), lambda run, g: g.initial_seed()),
    "get_state": lambda run, g: g.state(),
    "set_state": lambda run, g, state: g.restore(state),
}
"""What a generator tells of where it stands: ``work(run, generator, …)``."""


class TorchGenerator:
    """``torch.Generator``: draws of its own, which begin at a seed."""

    script_class = GENERATOR

    def __init__(self, seed: int | None = None) -> None:
        from gradcli.runner.draws import DEFAULT_SEED, Generator  # many scripts draw nothing

        self.host: Generator = Generator(DEFAULT_SEED if seed is None else seed)

    attributes = {  # noqa: RUF012
        "manual_seed": lambda run, me: lambda run, seed: me.host.manual_seed(seed) and me,
        "device": lambda run, me: "cpu",
        **methods_of_draws(STATES),
    }


GENERATOR.make = lambda run, device=None: TorchGenerator()


def draws(run: Run, generator: Any = None) -> Generator:
    """Return the generator of a draw."""
    if isinstance(generator, TorchGenerator):
        return generator.host
    return generator_of(run, "torch", "PyTorch", lambda seed: TorchGenerator(seed).host)  # type: ignore[no-any-return]


@native("torch.manual_seed", "torch.random.manual_seed", "torch.cuda.manual_seed", "torch.cuda.manual_seed_all")
def manual_seed(run: Run, seed: Any) -> Any:
    """Set the seed of draws."""
    made = TorchGenerator()
    run.generators["torch"] = made.host.manual_seed(int(seed))
    return made


for _name, _work in STATES.items():
    TABLE[f"torch.{_name.replace('_state', '_rng_state')}"] = drawing(_work, draws)


class Lying(NamedTuple):
    """How the entries of a tensor lie in memory: the lengths of its axes, the outermost first."""

    shape: tuple[int, ...]
    dtype: str
    contiguous: bool


def as_it_lies(x: Tensor, draw: Callable[[Lying], Any], anew: bool = True) -> Any:
    """Return draws for the entries of a tensor, which come in the order of its memory: of a copy's for a new tensor."""
    numbers = cloned(x.value) if anew else np.asarray(x.value)
    order = sorted(range(numbers.ndim), key=lambda axis: -numbers.strides[axis])
    drawn = draw(Lying(tuple(numbers.shape[axis] for axis in order), x.dtype, numbers.flags.c_contiguous))
    return np.asarray(drawn).transpose(np.argsort(order)) if order else drawn


def drawer(name: str, draw: Numbers, noted: bool = True) -> None:
    """Enter a draw of a new tensor.

    ``draw(run, g, dtype, …)`` returns the numbers by a generator, and their type where none is asked for.
    """

    def run_it(
        run: Run, *arguments: Any, dtype: Any = None, requires_grad: bool = False, generator: Any = None, **named: Any
    ) -> Tensor:
        options = {k: v for k, v in named.items() if k not in IGNORED}
        made = run.make(*draw(run, draws(run, generator), dtype_name(run, dtype), *arguments, **options))
        if noted:
            note_draw(run, made)
        return finished(run, made, requires_grad)

    run_it.__name__ = name
    native(f"torch.{name}")(run_it)


def randint(run: Run, g: Generator, dtype: str | None, low: Any, high: Any = None, size: Any = None) -> tuple[Any, str]:
    """Draw integers."""
    if isinstance(high, tuple | list):
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    if low >= high:
        run.fail("RuntimeError", f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    return g.randint(low, high, lengths(run, (size,)), dtype or "int64"), dtype or "int64"


def normal(run: Run, g: Generator, dtype: str | None, mean: Any, std: Any = 1.0, size: Any = None) -> tuple[Any, str]:
    """Draw normal numbers with means and deviations."""
    middle, width = (np.array(p.value) if isinstance(p, Tensor) else p for p in (mean, std))
    shape = lengths(run, (size,)) if size is not None else np.broadcast_shapes(np.shape(middle), np.shape(width))
    return g.normal(shape, middle, width, dtype or run.default_dtype), dtype or run.default_dtype


def bernoulli(run: Run, g: Generator, dtype: str | None, x: Tensor, p: float | None = None) -> tuple[Any, str]:
    """Draw zeros and ones by their chances."""
    array = g.bernoulli_scalar(x.shape, p) if p is not None else g.bernoulli(np.asarray(x.value), x.dtype)
    return np.asarray(array, dtype=np.float64), x.dtype


def poisson(run: Run, g: Generator, dtype: str | None, rates: Tensor) -> tuple[Any, str]:
    """Draw counts by their rates."""
    if np.any(np.asarray(rates.value) < 0):
        run.fail("RuntimeError", "invalid Poisson rate, expected rate to be non-negative")
    return g.poisson(np.asarray(rates.value, np.float64)), rates.dtype


def randperm(run: Run, g: Generator, dtype: str | None, n: int) -> tuple[Any, str]:
    """Draw an order."""
    run.meter.charge(n)
    return g.randperm(n), dtype or "int64"


def multinomial(
    run: Run, g: Generator, dtype: str | None, weights: Tensor, num_samples: int, replacement: bool = False
) -> tuple[Any, str]:
    """Draw places by their weights."""
    array = np.asarray(weights.value)
    return g.multinomial(array, num_samples, replacement=replacement, dtype=weights.dtype), "int64"


def of_lengths(draw: str) -> Numbers:
    """Return a draw of lengths."""

    def run_it(run: Run, g: Generator, dtype: str | None, *size: Any, **named: Any) -> tuple[Any, str]:
        kind = dtype or run.default_dtype
        return getattr(g, draw)(size_of(run, size, named), kind), kind  # rand or randn

    return run_it


def in_shape(draw: Callable[..., Any]) -> Numbers:
    """Return a draw in the shape of a tensor, of its type or another; integers lie within bounds."""
    return lambda run, g, dtype, x, *low, **high: (
        as_it_lies(x, lambda lying: draw(g, lying, dtype or x.dtype, *low, **high)),
        dtype or x.dtype,
    )


DRAWS: dict[str, Numbers] = {
    "rand": of_lengths("rand"), "randn": of_lengths("randn"), "rand_like": in_shape(
        lambda g, x, dtype: g.rand(x.shape, dtype)
    ), "randn_like": in_shape(lambda g, x, dtype: g.normal(x.shape, dtype=dtype, contiguous=x.contiguous)),
    "randint_like": in_shape(lambda g, x, dtype, low, high=None: (
        g.randint(*((0, low) if high is None else (low, high)), x.shape, dtype)
    )),
    "randint": randint, "normal": normal,
    "bernoulli": bernoulli, "poisson": poisson, "randperm": randperm, "multinomial": multinomial,
}  # fmt: skip
for _name, _draw in DRAWS.items():
    drawer(_name, _draw, noted=_draw not in (randperm, multinomial))


def without_slope(draw: Any, name: str) -> Any:
    """Return a draw by a tensor as a function of that tensor, through which 0 flows back; PyTorch names it so."""

    def run_it(run: Run, x: Tensor, *arguments: Any, **named: Any) -> Tensor:
        made: Tensor = draw(run, x, *arguments, **named)
        if not x.active or not run.grad_enabled:
            return made
        result: Tensor = run.operate("+", run.operate("*", x, 0), made)
        result.made_by = name
        return result

    return run_it


for _name in ("bernoulli", "poisson"):
    TABLE[f"torch.{_name}"] = without_slope(TABLE[f"torch.{_name}"], f"{_name.title()}Backward0")


def in_place(draw: Any) -> Any:
    """Return a method that draws a tensor's numbers in place."""

    def run_it(run: Run, x: Tensor, *arguments: Any, generator: Any = None, **named: Any) -> Tensor:
        given = [plain(a) for a in arguments]
        note_draw(run, x)
        drawn = as_it_lies(x, lambda lying: draw(draws(run, generator), lying, *given, **named), anew=False)
        return attributes.filled(run, x, np.asarray(drawn))

    return run_it


IN_PLACE: dict[str, Callable[..., Any]] = {
    "uniform_": lambda g, x, a=0.0, b=1.0: g.uniform(x.shape, a, b, x.dtype),
    "normal_": lambda g, x, mean=0.0, std=1.0: g.normal(x.shape, mean, std, x.dtype, contiguous=x.contiguous),
    "log_normal_": lambda g, x, mean=1.0, std=2.0: g.log_normal(x.shape, mean, std, x.dtype),
    "random_": lambda g, x, *bounds: (  # integers within bounds, or what a type of numbers holds exactly
        g.randint(*(0, *bounds)[-2:], x.shape, x.dtype) if bounds else g.random(x.shape, x.dtype)
    ),
    "bernoulli_": lambda g, x, p=0.5: g.bernoulli_scalar(x.shape, p),
    "exponential_": lambda g, x, lambd=1.0: g.exponential(x.shape, lambd, x.dtype),
    "geometric_": lambda g, x, p: g.geometric(x.shape, p, x.dtype),
    "cauchy_": lambda g, x, median=0.0, sigma=1.0: g.cauchy(x.shape, median, sigma, x.dtype),
}  # fmt: skip


# ---- files: none is written, and what a script saves it may load again
def saved_copy(run: Run, x: Any) -> Any:
    """Return a copy of what a script saves: a tensor that an operation made is a leaf of its own there."""
    memo: dict[int, Any] = {}
    waiting = [x]
    while waiting:
        run.meter.turn()
        part = waiting.pop()
        if isinstance(part, Tensor) and part.active and not part.leaf:
            leaf = attributes.require(run, run.function("clone", attributes.detached(run, part)), True)
            memo[id(part)] = leaf, part
        elif isinstance(part, dict | list | tuple):
            waiting += part.values() if isinstance(part, dict) else part
    return run.call(look_up("copy.deepcopy"), [x, memo])


@native("torch.save")
def save(run: Run, obj: Any, f: Any, *_: Any, **__: Any) -> None:
    """Keep a copy of what a script saves."""
    run.note("files", "gradcli writes no file: torch.load gives what this script itself has saved under a name")
    if isinstance(f, str):
        run.modules.setdefault("saved", {})[f] = saved_copy(run, obj)


@native("torch.load")
def load_saved(run: Run, f: Any, map_location: Any = None, *_: Any, weights_only: bool = True, **__: Any) -> Any:
    """Return what the script has saved; PyTorch loads an object of a class only where it is told to."""
    made = run.modules.get("saved", {}).get(f) if isinstance(f, str) else None
    if made is None:
        raise effect_error("torch.load")
    if weights_only and isinstance(made, Instance):
        raise run.refuse("'torch.load' of an object of a class is refused by PyTorch too, without weights_only=False")
    return saved_copy(run, made)


# ---- types, devices, options
class Device:
    """``torch.device``."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.text = f"device(type='{kind}')"

    attributes = {"type": lambda run, me: me.kind, "index": lambda run, me: None}  # noqa: RUF012

    def shown_as(self) -> str:
        """Return what ``str`` gives."""
        return self.kind


BFLOAT16 = {
    "min": -3.3895313892515355e38, "max": 3.3895313892515355e38, "eps": 0.0078125, "tiny": 1.1754943508222875e-38,
    "smallest_normal": 1.1754943508222875e-38, "resolution": 0.01,
}  # fmt: skip


def limits(dtype: str) -> Any:
    """Return the bounds of a type of numbers."""
    fields: dict[str, Any] = {"dtype": dtype, "bits": 16 if dtype == "bfloat16" else np.dtype(dtype).itemsize * 8}
    if dtype not in FLOATS:
        fields |= {"min": int(np.iinfo(dtype).min), "max": int(np.iinfo(dtype).max)}
        return record("iinfo", f"iinfo(min={fields['min']}, max={fields['max']}, dtype={dtype})", fields)
    names = ("resolution", "min", "max", "eps", "smallest_normal", "tiny")
    fields |= BFLOAT16 if dtype == "bfloat16" else {name: float(getattr(np.finfo(dtype), name)) for name in names}
    return record("finfo", f"finfo({', '.join(f'{name}={fields[name]:g}' for name in names)}, dtype={dtype})", fields)


@native("torch.nan_to_num")
def nan_to_num(run: Run, input: Tensor, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """Return other numbers for nan, inf and -inf: for these by themselves the largest of the tensor's type."""
    most = run.attribute(limits(input.dtype if input.dtype in FLOATS else "int64"), "max")
    bounds = most if posinf is None else posinf, -most if neginf is None else neginf
    return run.function("nan_to_num", input, nan, *bounds)


METHODS["nan_to_num"] = nan_to_num


def set_default_dtype(run: Run, dtype: DType) -> None:
    """Set the type of floats that are made of Python's numbers."""
    run.default_dtype = dtype.name


@native("torch.set_default_tensor_type")
def set_default_type(run: Run, kind: Any) -> None:
    """Set the type of floats by a name of old."""
    run.default_dtype = "float64" if "Double" in str(getattr(kind, "name", kind)) else "float32"


@native("torch.set_printoptions")
def set_printoptions(run: Run, **options: Any) -> None:
    """Set how tensors are printed."""
    before = run.print_options.get("options") or printing.Options()
    run.print_options["options"] = before.changed(**options)


# ---- about tensors
def allclose(run: Run, x: Tensor, y: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Return whether two tensors are nearly equal."""
    a, b = (np.asarray(t.value, dtype=np.float64) for t in (x, y))
    return bool(np.allclose(a, b, rtol, atol, equal_nan))


@native("torch.testing.assert_close", "torch.testing.assert_allclose")
def assert_close(run: Run, actual: Any, expected: Any, **named: Any) -> None:
    """Raise AssertionError for tensors that are not nearly equal."""
    x, y = (v if isinstance(v, Tensor) else array_of(run, v, "torch") for v in (actual, expected))
    if x.shape != y.shape or not allclose(run, x, y, named.get("rtol") or 1.3e-6, named.get("atol") or 1e-5):
        run.fail("AssertionError", "Tensor-likes are not close!")


@native("torch.result_type", "torch.promote_types")
def result_type(run: Run, x: Any, y: Any) -> DType:
    """Return the type that two tensors make together."""
    from gradcli.runner.python.operators import together
    from gradcli.runner.values import promoted

    return DType(promoted(x.name, y.name) if isinstance(x, DType) else together(run, [x, y], "torch"))


TABLE |= {
    "torch.device": Class("device", [], {}, lambda run, kind="cpu", index=None: Device("cpu")),
    "torch.set_default_dtype": set_default_dtype, "torch.get_default_dtype": lambda run: DType(run.default_dtype),
    "torch.finfo": lambda run, dtype=None: limits(dtype_name(run, dtype) or run.default_dtype),
    "torch.iinfo": lambda run, dtype: limits(dtype_name(run, dtype) or "int64"),
    "torch.equal": lambda run, x, y: bool(np.array_equal(x.value, y.value)),
    "torch.allclose": allclose, "torch.is_nonzero": truth,
    "torch.is_tensor": lambda run, obj: isinstance(obj, Tensor) and obj.library == "torch",
    "torch.numel": lambda run, x: int(np.size(x.value)),
    "torch.is_floating_point": lambda run, x: category(x.dtype) == 2,
    "torch.is_grad_enabled": lambda run: run.grad_enabled,
    "torch.Tensor.backward": lambda run, x, *arguments, **named: run.call(
        run.attribute(x, "backward"), list(arguments), named
    ),
    **dict.fromkeys(  # compiled, a function gives the same numbers
        ("torch.compile", "torch.jit.script", "torch.jit.trace"),
        lambda run, function=None, *_, **__: function if function is not None else lambda run, function: function,
    ),
    **{f"torch.cuda.{what}memory_{kind}": always(0) for what in ("", "max_") for kind in ("allocated", "reserved")},
    "torch.cuda.device_count": always(0), "torch.accelerator.device_count": always(0),
    "torch.accelerator.current_accelerator": always(None), "torch.get_num_threads": always(1),
    **dict.fromkeys((
        "torch.cuda.is_available", "torch.backends.mps.is_available", "torch.mps.is_available",
        "torch.cuda.is_initialized", "torch.accelerator.is_available",
    ), always(False)),
    **dict.fromkeys((
        "torch.cuda.empty_cache", "torch.cuda.synchronize", "torch.set_num_threads",
        "torch.use_deterministic_algorithms", "torch.set_float32_matmul_precision",
        "torch.cuda.reset_peak_memory_stats", "torch.set_warn_always", "torch.set_default_device",
    ), always(Foreign("torch"))),
}  # fmt: skip
METHODS |= {name: TABLE[f"torch.{name}"] for name in ("equal", "allclose", "multinomial", "bernoulli")}
METHODS |= {f"new_{name}": new_maker(name) for name in ("zeros", "ones", "empty", "full", "tensor")}
METHODS |= {name: in_place(draw) for name, draw in IN_PLACE.items()}
