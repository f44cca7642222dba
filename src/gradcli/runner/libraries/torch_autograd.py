"""PyTorch's derivative calls and what switches gradients on and off."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES
from gradcli.errors import GradcliError
from gradcli.runner import printing
from gradcli.runner.backward import backward, gradients_of
from gradcli.runner.exceptions import CLASSES, Raised, exception_class, said
from gradcli.runner.libraries.transformed import shown_type
from gradcli.runner.library import METHODS, TABLE, Setting, Within, native, quietly
from gradcli.runner.python.containers import iterate, rows, take
from gradcli.runner.state import Run, constant
from gradcli.runner.transforms import Call, Level, first_v, jacobian_rows, pulled, pushed, seed_for
from gradcli.runner.values import Class, Closure, Context, Instance, Size, Tensor, category, rounded


# ---- derivative calls
def several(x: Any) -> list[Any]:
    """Return one value or several as a list."""
    return list(x) if isinstance(x, list | tuple) else [x]


METHODS["backward"] = lambda run, y, gradient=None, retain_graph=None, create_graph=False, inputs=None: backward(
    run, [y], [gradient], retain_graph, create_graph, None if inputs is None else several(inputs)
)


@native("torch.autograd.backward")
def autograd_backward(
    run: Run, tensors: Any, grad_tensors: Any = None, retain_graph: Any = None, create_graph: bool = False,
    grad_variables: Any = None, inputs: Any = None,
) -> None:  # fmt: skip
    """Do what ``torch.autograd.backward`` does."""
    outputs = several(tensors)
    given = grad_tensors if grad_tensors is not None else grad_variables
    gradients = [None] * len(outputs) if given is None else several(given)
    backward(run, outputs, gradients, retain_graph, create_graph, None if inputs is None else several(inputs))


@native("torch.autograd.grad")
def autograd_grad(
    run: Run, outputs: Any, inputs: Any, grad_outputs: Any = None, retain_graph: Any = None, create_graph: bool = False,
    only_inputs: bool = True, allow_unused: Any = None, is_grads_batched: bool = False, materialize_grads: bool = False,
) -> tuple[Any, ...]:  # fmt: skip
    """Do what ``torch.autograd.grad`` does."""
    ys, xs = (x if isinstance(x, Tensor | list | tuple) else take(run, x) for x in (outputs, inputs))
    ys, xs = several(ys), several(xs)
    given = [None] * len(ys) if grad_outputs is None else several(grad_outputs)
    if is_grads_batched:
        return batched_gradients(run, ys, xs, given, retain_graph, create_graph, bool(allow_unused), materialize_grads)
    return tuple(gradients_of(run, ys, xs, given, retain_graph, create_graph, bool(allow_unused), materialize_grads))


def batched_gradients(
    run: Run, ys: list[Any], xs: list[Any], given: list[Any], retain_graph: Any, create_graph: bool, *allowed: bool
) -> tuple[Any, ...]:
    """Return the gradients of several v at once, one row for each."""
    call = Call(run, None)
    if call.event is not None:
        call.event.output = run.name_of(ys[0])
    vs = [rows(run, v) if isinstance(v, Tensor) else None for v in given]
    count = next(len(v) for v in vs if v is not None)
    call.begin(ys[0], None if vs[0] is None else np.asarray(vs[0][0].value))
    keeps = bool(create_graph if retain_graph is None else retain_graph)
    with quietly(run):
        gradients = [
            gradients_of(
                run, ys, xs, [None if v is None else v[k] for v in vs], keeps or k + 1 < count, create_graph, *allowed
            )
            for k in range(count)
        ]
    columns = zip(*gradients, strict=True)
    made = tuple([None if column[0] is None else run.function("torch.stack", list(column)) for column in columns])
    call.end(made, [run.name_of(x) or "" for x in xs])
    return made


class GradMode(Context):
    """``with torch.no_grad()`` and its like; as a decorator, a function that runs so."""

    def __init__(self, on: bool) -> None:
        self.on = on
        self.before: list[bool] = []
        self.began: bool | None = None

    def enter(self, run: Run) -> None:
        """Switch gradients; what has begun before its block ends with it."""
        before = run.enable_grad(self.on)
        self.before.append(before if self.began is None else self.began)

    def leave(self, run: Run) -> None:
        """Switch them back."""
        run.enable_grad(self.before.pop())

    def __call__(self, run: Run, function: Any) -> Any:
        """Return a function that runs with gradients switched so."""
        return Within(lambda: self, function)


def mode(on: bool) -> Any:
    """Return the function that makes a context, or decorates a function."""

    def make(run: Run, function: Any = None, mode: bool = True) -> Any:
        made = GradMode(on or function is False or mode is False)
        return made(run, function) if isinstance(function, Closure) else made

    return make


def inference_mode(run: Run, mode: Any = True) -> Any:
    """Return a context without gradients, or decorate a function: what it makes is not told from what no_grad makes."""
    run.inference = True
    return WITHOUT(run, mode) if mode is not False else GradMode(run.grad_enabled)


WITHOUT = mode(False)
for _home in ("torch", "torch.autograd", "torch.autograd.grad_mode"):
    TABLE[f"{_home}.no_grad"] = mode(False)
    TABLE[f"{_home}.inference_mode"] = inference_mode
    TABLE[f"{_home}.enable_grad"] = mode(True)


@native("torch.set_grad_enabled", "torch.autograd.set_grad_enabled", "torch.autograd.grad_mode.set_grad_enabled")
def set_grad_enabled(run: Run, mode: bool) -> Any:
    """Switch gradients now, and back where a ``with`` ends."""
    if type(mode) is not bool:
        run.fail_as("grad mode", run.type_name(mode))
    made = GradMode(mode)
    made.began = run.enable_grad(mode)
    return made


@native("torch.autograd.set_detect_anomaly", "torch.autograd.anomaly_mode.set_detect_anomaly")
def set_detect_anomaly(run: Run, mode: bool, check_nan: bool = True) -> Setting:
    """Switch whether a backward that meets nan raises, and back where a ``with`` ends."""
    made = Setting("anomaly", lambda run: mode and check_nan)
    made.enter(run)
    return made


@native("torch.autograd.detect_anomaly", "torch.autograd.anomaly_mode.detect_anomaly")
def detect_anomaly(run: Run, check_nan: bool = True) -> Setting:
    """Return a context in which a backward that meets nan raises."""
    run.note("warning", ": ".join(said("anomaly")))
    return Setting("anomaly", lambda run: check_nan)


for _name in ("torch.is_anomaly_enabled", "torch.is_anomaly_check_nan_enabled"):
    TABLE[_name] = lambda run: run.anomaly


# ---- torch.autograd.functional
def tensors_of(run: Run, given: Any, what: str, function: str) -> tuple[bool, list[Tensor]]:
    """Return whether several tensors are given, and all of them; raises what PyTorch raises for anything else."""
    several = isinstance(given, tuple)
    items = list(given) if several else [given]
    for place, item in enumerate(items):
        if not isinstance(item, Tensor):
            where = f"value at index {place}" if several else f"given {what}"
            run.fail_as("functional tensors", what, function, where, shown_type(run, item))
    return several, items


def checked_v(run: Run, v: Any, others: Sequence[Tensor], several: bool, what: str, function: str) -> list[Any]:
    """Return v for each of several tensors; raises what PyTorch raises where it is missing or does not fit."""
    if v is None:
        if len(others) != 1 or math.prod(others[0].shape) != 1:
            run.fail_as(f"no v {what}")
        return [np.ones(others[0].shape)]
    _, vs = tensors_of(run, v, "v", function)
    if len(vs) != len(others):
        if several:
            run.fail_as("functional v count", len(others), len(vs))
        run.fail("RuntimeError", "The given v should contain a single Tensor.")
    for place, (one, other) in enumerate(zip(vs, others, strict=True)):
        if one.shape != other.shape:
            before = f"Entry {place} in " if several else ""
            run.fail_as("functional v size", before, Size(other.shape), Size(one.shape))
    return [seed_for(other, one) for one, other in zip(vs, others, strict=True)]


class Calling:
    """A function called with inputs of its own, for one of the functions here."""

    def __init__(self, run: Run, level: Level, call: Call, inputs: Any, name: str, create_graph: bool) -> None:
        self.run, self.level, self.name, self.call = run, level, name, call
        self.several_inputs, self.given = tensors_of(run, inputs, "inputs", name)
        for x in self.given:
            if category(x.dtype) < 2:
                run.fail("RuntimeError", "only Tensors of floating point dtype can require gradients")
        self.names = [self.call.names(place, [x])[0] for place, x in enumerate(self.given)]
        self.inputs = [level.lifted(x, called) for x, called in zip(self.given, self.names, strict=True)]
        made = run.call(call.function, list(self.inputs))
        self.several_outputs, self.outputs = tensors_of(run, made, "outputs of the user-provided function", name)
        self.create = create_graph

    def single(self) -> Tensor:
        """Return the one number that the function gives; raises what PyTorch raises for more."""
        if self.several_outputs:
            self.run.fail("RuntimeError", f"The function given to {self.name} should return a single Tensor")
        if math.prod(self.outputs[0].shape) != 1:
            self.run.fail_as("functional single", self.name)
        return self.outputs[0]

    def gradient(self, strict: bool) -> list[Tensor]:
        """Return the gradient of the one number that the function gives, with a graph of its own."""
        y = self.single()
        gs = pulled(self.run, [y], [np.ones(y.shape)], self.inputs, True, zeros=False)
        strictly(self.run, strict, gs, "output")
        return as_output(gs, self.inputs)

    def rows(self, outputs: Sequence[Tensor]) -> tuple[Any, ...]:
        """Return the Jacobian of each of several tensors by the inputs."""
        self.call.begin(outputs[0], first_v(outputs[0]))
        blocks = jacobian_rows(self.run, outputs, self.inputs, self.create)
        return tuple([self.out(block, self.several_inputs, "ViewBackward0") for block in blocks])

    def out(self, values: Sequence[Any], several: bool, made_by: str | None = None) -> Any:
        """Return tensors as they are outside: one, or several."""
        result = tuple([self.final(value, made_by) for value in values])
        return result if several else result[0]

    def final(self, value: Any, made_by: str | None = None) -> Tensor:
        """Return one tensor as it is outside."""
        if self.create and value.active:
            if made_by is not None:
                value.made_by = made_by
            return value  # type: ignore[no-any-return]
        node = constant(self.run, value.node)
        return Tensor(node if type(node) in NODES else np.asarray(node), value.dtype)

    def end(self, returns: Any) -> None:
        """Note what the call returned."""
        flat = list(returns) if isinstance(returns, tuple) else [returns]
        while any(isinstance(one, tuple) for one in flat):
            flat = [part for one in flat for part in (one if isinstance(one, tuple) else (one,))]
        self.call.end(flat, self.names)


def as_output(gs: Sequence[Any], like: Sequence[Tensor]) -> list[Tensor]:
    """Return cotangents as tensors."""
    return [Tensor(np.zeros(x.shape) if g is None else g, x.dtype) for g, x in zip(gs, like, strict=True)]


def strictly(run: Run, strict: bool, gs: Sequence[Any], what: str) -> None:
    """Raise what PyTorch raises in strict mode where a gradient is independent of an input."""
    if strict:
        for place, g in enumerate(gs):
            if g is None:
                run.fail_as("functional strict", what, place)


def functional(name: str, work: Callable[[Calling, Any, bool], Any]) -> None:
    """Enter a function of functions: what ``work(call, v, strict)`` gives, of which a pair is a value and a product."""

    def run_it(
        run: Run, func: Any, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
    ) -> Any:
        noted = Call(run, func)
        with Level(run) as level:
            call = Calling(run, level, noted, inputs, name, create_graph)
            made = work(call, v, strict)
        call.end(made if name in ("jacobian", "hessian") else made[1])
        return made

    def run_whole(
        run: Run, func: Any, inputs: Any, create_graph: bool = False, strict: bool = False, *_: Any, **__: Any
    ) -> Any:
        return run_it(run, func, inputs, None, create_graph, strict)

    TABLE[f"torch.autograd.functional.{name}"] = run_whole if name in ("jacobian", "hessian") else run_it


def numbers_of(v: Any) -> Any:
    """Return the numbers of a cotangent."""
    return np.asarray(v if type(v) not in NODES else v.value)


def vjp(call: Calling, v: Any, strict: bool) -> Any:
    """Return what a function gives, and vᵀ·J."""
    vs = checked_v(call.run, v, call.outputs, call.several_outputs, "outputs", "vjp")
    call.call.begin(call.outputs[0], None if v is None else numbers_of(vs[0]))
    gs = pulled(call.run, call.outputs, vs, call.inputs, call.create, zeros=False)
    strictly(call.run, strict, gs, "output")
    return call.out(call.outputs, call.several_outputs), call.out(as_output(gs, call.inputs), call.several_inputs)


def jvp(call: Calling, v: Any, strict: bool) -> Any:
    """Return what a function gives, and J·v."""
    vs = checked_v(call.run, v, call.given, call.several_inputs, "inputs", "jvp")
    call.call.begin(call.outputs[0], tangents=vs)
    gs = pushed(call.run, call.level, call.outputs, call.inputs, [Tensor(v) for v in vs])
    strictly(call.run, strict, gs, "output")
    return call.out(call.outputs, call.several_outputs), call.out(as_output(gs, call.outputs), call.several_outputs)


def jacobian(call: Calling, _v: Any, strict: bool) -> Any:
    """Return the Jacobian of a function, a tuple for each of several outputs, and within it for several inputs."""
    run = call.run
    for place, y in enumerate(call.outputs if strict else ()):
        start, end = f"Output {place} of the user-provided function", "in strict mode."
        if not y.active:
            text = "does not require gradients. The outputs must be computed in a differentiable manner from the input"
            run.fail("RuntimeError", f"{start} {text} when running {end}")
        for number, g in enumerate(pulled(run, [y], [np.ones(y.shape)], call.inputs, False, zeros=False)):
            if g is None:
                run.fail("RuntimeError", f"{start} is independent of input {number}. This is not allowed {end}")
    rows = call.rows(call.outputs)
    return rows if call.several_outputs else rows[0]


def hessian(call: Calling, _v: Any, strict: bool) -> Any:
    """Return the matrix of second derivatives, for several inputs a tuple of tuples."""
    rows = call.rows(call.gradient(strict))
    return rows if call.several_inputs else rows[0]


def second_product(call: Calling, v: Any, strict: bool) -> Any:
    """Return what a function gives, and the product of v with the Hessian, which is symmetric."""
    y = call.single()
    vs = checked_v(call.run, v, call.given, call.several_inputs, "inputs", call.name)
    parts = call.gradient(strict)
    call.call.begin(parts[0], numbers_of(vs[0]))
    hs = pulled(call.run, parts, vs, call.inputs, call.create, zeros=False)
    strictly(call.run, strict, hs, "jacobian")
    return call.out([y], False), call.out(as_output(hs, call.inputs), call.several_inputs)


for _name, _work in {
    "vjp": vjp, "jvp": jvp, "jacobian": jacobian, "hessian": hessian, "hvp": second_product, "vhp": second_product,
}.items():  # fmt: skip
    functional(_name, _work)


# ---- gradcheck
GRADCHECK_ERROR = Class(
    "GradcheckError", [exception_class("RuntimeError")], {}, qualified="torch.autograd.gradcheck.GradcheckError"
)
CLASSES["GradcheckError"] = GRADCHECK_ERROR
TABLE["torch.autograd.gradcheck.GradcheckError"] = TABLE["torch.autograd.GradcheckError"] = GRADCHECK_ERROR


SIX = 1e-6
"""Relative error of a derivative from which it has fewer than six digits."""


class Failed(Exception):
    """A check of gradients that does not hold, with the ``exact`` Jacobians that it held against differences."""

    def __init__(self, text: str, exact: list[list[Tensor]]) -> None:
        super().__init__(text)
        self.exact = exact


@native("torch.autograd.gradcheck", "torch.autograd.gradcheck.gradcheck")
def gradcheck(
    run: Run, func: Any, inputs: Any, *, eps: float = 1e-6, atol: float = 1e-5, rtol: float = 1e-3,
    raise_exception: bool = True, **_: Any,
) -> bool:  # fmt: skip
    """Hold the gradients of a function against central differences, as PyTorch does, and against the derivative.

    The differences decide, as they do in PyTorch; a note says where the derivative of the forward decides otherwise.
    """
    given = list(inputs) if isinstance(inputs, tuple | list) else [inputs]
    places = [k for k, x in enumerate(given) if isinstance(x, Tensor) and x.active]
    if not places:
        run.fail_as("gradcheck inputs")

    def work() -> str:
        run.inside += 1
        try:
            return failure(run, func, given, places, (eps, atol, rtol))
        finally:
            run.inside -= 1

    failed = work() if run.replay is None else run.replay.once(run, work)
    if failed and raise_exception:
        instance = Instance(GRADCHECK_ERROR)
        instance.fields["args"] = (failed,)
        raise Raised(instance)
    return not failed


def failure(run: Run, func: Any, given: list[Any], places: list[int], tolerances: tuple[float, float, float]) -> str:
    """Return what the differences say against the gradients of a function; an empty text where they hold."""
    text = ""
    try:
        with following(run, forwards=False):
            exact = compare(run, func, given, places, *tolerances)
    except Failed as failed:
        text, exact = str(failed), failed.exact
    note_check(run, func, given, places, exact, text)
    return text


@contextmanager
def following(run: Run, forwards: bool) -> Iterator[None]:
    """Follow the backward that a script wrote, or its forward in its place."""
    before, run.forwards = run.forwards, forwards
    try:
        yield
    finally:
        run.forwards = before


def lifted_outputs(
    run: Run, level: Level, func: Any, given: list[Any], places: list[int]
) -> tuple[list[Tensor], list[Tensor]]:
    """Return the inputs of a level at some places, and what a function gives of them."""
    lifted = [level.lifted(x) if k in places else x for k, x in enumerate(given)]
    return [lifted[k] for k in places], outputs_of(run, func, lifted)


def note_check(
    run: Run, func: Any, given: list[Any], places: list[int], exact: list[list[Tensor]], failed: str
) -> None:
    """Leave a note where the derivative of the forward says otherwise than the differences did.

    ``exact`` are the Jacobians by the script's backward; ``failed`` is what the differences were found to say.
    """
    try:
        with following(run, forwards=True), Level(run) as level:
            inputs, outputs = lifted_outputs(run, level, func, given, places)
            true = [jacobian_rows(run, [y], inputs, False)[0] for y in outputs]
    except (GradcliError, Raised):  # the forward leaves the record
        return
    pairs = [
        (np.asarray(a.value, np.float64), np.asarray(b.value, np.float64))
        for made, row in zip(exact, true, strict=True)
        for a, b in zip(made, row, strict=True)
    ]
    right = all(np.all(np.abs(a - b) <= SIX * np.max(np.abs(b), initial=0.0)) for a, b in pairs)
    if right and failed.startswith("Jacobian"):
        few = any(x.dtype != "float64" for x in given if isinstance(x, Tensor) and x.active)
        why = "its finite differences have too few digits in float32" if few else "a kink lies within its eps"
        text = f"gradcheck fails, and the backward is the derivative of its forward: {why}."
    elif not right and not failed:
        text = "gradcheck passes by its tolerances, and the backward is not the derivative of its forward to 6 digits."
    else:
        return
    run.note("gradcheck", f"Line {run.line}: {text}")


def outputs_of(run: Run, func: Any, given: list[Any]) -> list[Tensor]:
    """Return what a function gives, as a list of tensors of floats."""
    return [y for y in several(run.call(func, given)) if isinstance(y, Tensor) and category(y.dtype) == 2]


def compare(
    run: Run, func: Any, given: list[Any], places: list[int], eps: float, atol: float, rtol: float
) -> list[list[Tensor]]:
    """Compare each Jacobian with central differences, in the digits that the inputs have, and return them."""
    with Level(run) as level:
        inputs, outputs = lifted_outputs(run, level, func, given, places)
        exact = [jacobian_rows(run, [y], inputs, False)[0] for y in outputs]
        again = [pulled(run, [y], [np.zeros(y.shape)], inputs, False) for y in outputs]
    numeric = [differences(run, func, given, k, eps) for k in places]
    for place, y in enumerate(outputs):
        for number, k in enumerate(places):
            x = given[k]
            size = math.prod(y.shape), math.prod(x.shape)
            analytical = rounded(np.asarray(exact[place][number].value, np.float64).reshape(size).T, x.dtype)
            rows = [(high[place] - low[place]) / (2 * eps) for low, high in numeric[number]]
            numerical = rounded(np.array(rows).reshape(size[::-1]), y.dtype)
            if not np.all(np.abs(analytical - numerical) <= atol + rtol * np.abs(numerical)):
                texts = [printing.torch_text(a, y.dtype, default=run.default_dtype) for a in (numerical, analytical)]
                raise Failed(said("jacobian mismatch", place, number, *texts)[1], exact)
        if any(np.any(np.asarray(g) != 0) for g in again[place]):
            raise Failed("backward not multiplied by grad_output", exact)
    return exact


def differences(run: Run, func: Any, given: list[Any], k: int, eps: float) -> list[list[list[Any]]]:
    """Return the numbers of all outputs on both sides of each entry of an input."""
    x = given[k]
    flat = np.ravel(np.array(x.value, dtype=np.float64))
    both: list[list[list[Any]]] = []
    for entry in range(flat.size):
        both.append([])
        for step in (-eps, eps):
            moved = flat.copy()
            moved[entry] = rounded(moved[entry] + step, x.dtype)
            at = [Tensor(moved.reshape(x.shape), x.dtype) if j == k else fixed(one) for j, one in enumerate(given)]
            with quietly(run, grad=True):
                ys = outputs_of(run, func, at)
            both[-1].append([np.ravel(rounded(np.asarray(y.value, np.float64), y.dtype)) for y in ys])
    return both


def fixed(x: Any) -> Any:
    """Return an input that is not moved."""
    return Tensor(np.array(x.value), x.dtype, x.library) if isinstance(x, Tensor) else x


@native("torch.autograd.gradgradcheck", "torch.autograd.gradcheck.gradgradcheck")
def gradgradcheck(run: Run, func: Any, inputs: Any, grad_outputs: Any = None, **options: Any) -> bool:
    """Hold the second derivatives of a function against central differences of its gradients."""
    given = several(inputs)
    places = [k for k, x in enumerate(given) if isinstance(x, Tensor) and x.active]
    outputs = outputs_of(run, func, [fixed(x) for x in given])
    if grad_outputs is None:
        vs = [Tensor(np.zeros(y.shape), y.dtype) for y in outputs]
        for v in vs:
            run.call(run.attribute(v, "uniform_"), [-1.0, 1.0])
    else:
        vs = several(grad_outputs)
    leaves = [run.enter_leaf(fixed(v)) for v in vs]

    def gradients(run: Run, *arguments: Any) -> Any:
        xs, seeds = list(arguments[: len(given)]), arguments[len(given) :]
        with Level(run) as level:
            inputs, made = lifted_outputs(run, level, func, xs, places)
            create = any(s.active for s in seeds) or level.outer(made)
            gs = pulled(run, made, [seed_for(y, s) for y, s in zip(made, seeds, strict=True)], inputs, create)
        return tuple(as_output(gs, [xs[k] for k in places]))

    return gradcheck(run, gradients, (*given, *leaves), **options)


# ---- what only saves memory
CHECKPOINTING = ("use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug", "early_stop")


TABLE["torch.utils.checkpoint.checkpoint"] = lambda run, function, *arguments, **named: run.call(
    function, list(arguments), {k: v for k, v in named.items() if k not in CHECKPOINTING}
)


@native("torch.utils.checkpoint.checkpoint_sequential")
def checkpoint_sequential(run: Run, functions: Any, segments: int, value: Any, **_: Any) -> Any:
    """Call functions one after the other."""
    for function in iterate(run, functions):
        value = run.call(function, [value])
    return value
