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
from gradcli.runner.exceptions import CLASSES, Raised, exception_class
from gradcli.runner.library import TABLE, method, native
from gradcli.runner.python.containers import take
from gradcli.runner.state import Run, constant
from gradcli.runner.transforms import Call, Level, first_v, jacobian_rows, pulled, pushed, seed_for
from gradcli.runner.values import Class, Closure, Context, Instance, Size, Tensor, category, rounded


# ==== torch_autograd
def several(x: Any) -> list[Any]:
    """Return one value or several as a list."""
    return list(x) if isinstance(x, list | tuple) else [x]


@method("backward")
def tensor_backward(
    run: Run, y: Tensor, gradient: Any = None, retain_graph: Any = None, create_graph: bool = False, inputs: Any = None
) -> None:
    """Do ``y.backward(v)``."""
    backward(run, [y], [gradient], retain_graph, create_graph, None if inputs is None else several(inputs))


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
    from gradcli.runner.python.containers import rows
    from gradcli.runner.transforms import Call

    call = Call(run, None)
    if call.event is not None:
        call.event.output = run.name_of(ys[0])
    vs = [rows(run, v) if isinstance(v, Tensor) else None for v in given]
    count = next(len(v) for v in vs if v is not None)
    call.begin(ys[0], None if vs[0] is None else np.asarray(vs[0][0].value))
    keeps = bool(create_graph if retain_graph is None else retain_graph)
    run.quiet += 1
    try:
        found = [
            gradients_of(
                run, ys, xs, [None if v is None else v[k] for v in vs], keeps or k + 1 < count, create_graph, *allowed
            )
            for k in range(count)
        ]
    finally:
        run.quiet -= 1
    made = tuple(
        [None if row[0] is None else run.function("torch.stack", list(row)) for row in zip(*found, strict=True)]
    )
    call.end(made, [run.name_of(x) or "" for x in xs])
    return made


class GradMode(Context):
    """``with torch.no_grad()`` and its like; as a decorator, a function that runs so."""

    def __init__(self, on: bool) -> None:
        self.on = on
        self.before: list[bool] = []

    def enter(self, run: Run) -> None:
        """Switch gradients."""
        self.before.append(run.enable_grad(self.on))

    def leave(self, run: Run) -> None:
        """Switch them back."""
        run.enable_grad(self.before.pop())

    def __call__(self, run: Run, function: Any) -> Any:
        """Return a function that runs with gradients switched so."""
        return Decorated(self, function)


class Decorated:
    """A function that runs with gradients switched; its name and its words are those of the function."""

    def __init__(self, mode: GradMode, function: Any) -> None:
        self.mode, self.function = mode, function

    def __call__(self, run: Run, *arguments: Any, **named: Any) -> Any:
        """Call the function."""
        self.mode.enter(run)
        try:
            return run.call(self.function, list(arguments), named)
        finally:
            self.mode.leave(run)

    attributes = {  # noqa: RUF012
        "__wrapped__": lambda run, me: me.function,
        "__name__": lambda run, me: run.attribute(me.function, "__name__"),
        "__qualname__": lambda run, me: run.attribute(me.function, "__qualname__"),
        "__doc__": lambda run, me: run.attribute(me.function, "__doc__"),
    }


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
        from gradcli.runner.python.builtins import type_name

        run.fail_as("grad mode", type_name(mode))
    made = GradMode(mode)
    before = run.enable_grad(mode)

    class Switched(GradMode):
        def enter(self, run: Run) -> None:
            self.before.append(before)

    return Switched(made.on)


class Anomaly(Context):
    """Whether a backward that meets nan raises: from when it is made on, or inside of a ``with``."""

    def __init__(self, on: bool, before: bool) -> None:
        self.on, self.before = on, before

    def enter(self, run: Run) -> None:
        """Switch it."""
        run.anomaly = self.on

    def leave(self, run: Run) -> None:
        """Switch it back."""
        run.anomaly = self.before


@native("torch.autograd.set_detect_anomaly", "torch.autograd.anomaly_mode.set_detect_anomaly")
def set_detect_anomaly(run: Run, mode: bool, check_nan: bool = True) -> Anomaly:
    """Switch whether a backward that meets nan raises, and back where a ``with`` ends."""
    made = Anomaly(mode and check_nan, run.anomaly)
    made.enter(run)
    return made


@native("torch.autograd.detect_anomaly", "torch.autograd.anomaly_mode.detect_anomaly")
def detect_anomaly(run: Run, check_nan: bool = True) -> Anomaly:
    """Return a context in which a backward that meets nan raises."""
    run.note(
        "warning",
        "UserWarning: Anomaly Detection has been enabled. This mode will increase the runtime and should only be "
        "enabled for debugging.",
    )
    return Anomaly(check_nan, run.anomaly)


@native("torch.is_anomaly_enabled", "torch.is_anomaly_check_nan_enabled")
def is_anomaly_enabled(run: Run) -> bool:
    """Return whether a backward that meets nan raises."""
    return run.anomaly


# ==== torch_functional
NO_V = {
    "outputs": "The vector v can only be None if the user-provided function returns a single Tensor with a "
    "single element.",
    "inputs": "The vector v can only be None if the input to the user-provided function is a single Tensor "
    "with a single "
    "element.",
}


def tensors_of(run: Run, given: Any, what: str, function: str) -> tuple[bool, list[Tensor]]:
    """Return whether several tensors are given, and all of them; raises what PyTorch raises for anything else."""
    from gradcli.runner.printing import to_repr
    from gradcli.runner.python.builtins import type_of

    several = isinstance(given, tuple)
    items = list(given) if several else [given]
    for place, item in enumerate(items):
        if not isinstance(item, Tensor):
            where = f"value at index {place}" if several else f"given {what}"
            run.fail_as("functional tensors", what, function, where, to_repr(run, type_of(run, item)))
    return several, items


def checked_v(run: Run, v: Any, others: Sequence[Tensor], several: bool, what: str, function: str) -> list[Any]:
    """Return v for each of several tensors; raises what PyTorch raises where it is missing or does not fit."""
    if v is None:
        if len(others) != 1 or math.prod(others[0].shape) != 1:
            run.fail("RuntimeError", NO_V[what])
        return [np.ones(others[0].shape)]
    _, vs = tensors_of(run, v, "v", function)
    if len(vs) != len(others):
        run.fail(
            "RuntimeError",
            f"v is a tuple of invalid length: should be {len(others)} but got {len(vs)}."
            if several
            else "The given v should contain a single Tensor.",
        )
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
        found = tuple([self.final(value, made_by) for value in values])
        return found if several else found[0]

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


def functional(name: str) -> Callable[[Callable[..., Any]], None]:
    """Enter a function of functions: ``work(call, v, strict)`` gives what it gives, all of it or by what it notes."""

    def decorate(work: Callable[..., Any]) -> None:
        def run_it(
            run: Run, func: Any, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
        ) -> Any:
            noted = Call(run, func)
            with Level(run) as level:
                call = Calling(run, level, noted, inputs, name, create_graph)
                made = work(call, v, strict)
            call.end(made[1])
            return made

        def run_whole(
            run: Run, func: Any, inputs: Any, create_graph: bool = False, strict: bool = False, *_: Any, **__: Any
        ) -> Any:
            noted = Call(run, func)
            with Level(run) as level:
                call = Calling(run, level, noted, inputs, name, create_graph)
                made = work(call, strict)
            call.end(made)
            return made

        TABLE[f"torch.autograd.functional.{name}"] = run_whole if name in ("jacobian", "hessian") else run_it

    return decorate


def numbers_of(v: Any) -> Any:
    """Return the numbers of a cotangent."""
    return np.asarray(v if type(v) not in NODES else v.value)


@functional("vjp")
def vjp(call: Calling, v: Any, strict: bool) -> Any:
    """Return what a function gives, and vᵀ·J."""
    vs = checked_v(call.run, v, call.outputs, call.several_outputs, "outputs", "vjp")
    call.call.begin(call.outputs[0], None if v is None else numbers_of(vs[0]))
    gs = pulled(call.run, call.outputs, vs, call.inputs, call.create, zeros=False)
    strictly(call.run, strict, gs, "output")
    return call.out(call.outputs, call.several_outputs), call.out(as_output(gs, call.inputs), call.several_inputs)


@functional("jvp")
def jvp(call: Calling, v: Any, strict: bool) -> Any:
    """Return what a function gives, and J·v."""
    vs = checked_v(call.run, v, call.given, call.several_inputs, "inputs", "jvp")
    call.call.begin(call.outputs[0], tangents=vs)
    gs = pushed(call.run, call.level, call.outputs, call.inputs, [Tensor(v) for v in vs])
    strictly(call.run, strict, gs, "output")
    return call.out(call.outputs, call.several_outputs), call.out(as_output(gs, call.outputs), call.several_outputs)


@functional("jacobian")
def jacobian(call: Calling, strict: bool) -> Any:
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


@functional("hessian")
def hessian(call: Calling, strict: bool) -> Any:
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


for _name in ("hvp", "vhp"):
    functional(_name)(second_product)


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


def check_error(text: str) -> Raised:
    """Return the exception of a check that does not hold."""
    instance = Instance(GRADCHECK_ERROR)
    instance.fields["args"] = (text,)
    return Raised(instance)


@native("torch.autograd.gradcheck", "torch.autograd.gradcheck.gradcheck")
def gradcheck(
    run: Run,
    func: Any,
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    **_: Any,
) -> bool:
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
        raise check_error(failed)
    return not failed


def failure(run: Run, func: Any, given: list[Any], places: list[int], tolerances: tuple[float, float, float]) -> str:
    """Return what the differences say against the gradients of a function; an empty text where they hold."""
    try:
        with following(run, forwards=False):
            exact = compare(run, func, given, places, *tolerances)
    except Failed as failed:
        note_check(run, func, given, places, failed.exact, str(failed))
        return str(failed)
    note_check(run, func, given, places, exact, "")
    return ""


@contextmanager
def following(run: Run, forwards: bool) -> Iterator[None]:
    """Follow the backward that a script wrote, or its forward in its place."""
    before, run.forwards = run.forwards, forwards
    try:
        yield
    finally:
        run.forwards = before


def note_check(
    run: Run, func: Any, given: list[Any], places: list[int], exact: list[list[Tensor]], failed: str
) -> None:
    """Leave a note where the derivative of the forward says otherwise than the differences did.

    ``exact`` are the Jacobians by the script's backward; ``failed`` is what the differences were found to say.
    """
    try:
        with following(run, forwards=True), Level(run) as level:
            lifted = [level.lifted(x) if k in places else x for k, x in enumerate(given)]
            outputs = outputs_of(run, func, lifted)
            true = [jacobian_rows(run, [y], [lifted[k] for k in places], False)[0] for y in outputs]
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
    made = run.call(func, given)
    several = list(made) if isinstance(made, tuple | list) else [made]
    return [y for y in several if isinstance(y, Tensor) and category(y.dtype) == 2]


def compare(
    run: Run, func: Any, given: list[Any], places: list[int], eps: float, atol: float, rtol: float
) -> list[list[Tensor]]:
    """Compare each Jacobian with central differences, in the digits that the inputs have, and return them."""
    with Level(run) as level:
        lifted = [level.lifted(x) if k in places else x for k, x in enumerate(given)]
        outputs = outputs_of(run, func, lifted)
        exact = [jacobian_rows(run, [y], [lifted[k] for k in places], False)[0] for y in outputs]
        again = [pulled(run, [y], [np.zeros(y.shape)], [lifted[k] for k in places], False) for y in outputs]
    numeric: list[list[list[Any]]] = [[[] for _ in places] for _ in outputs]
    for number, k in enumerate(places):
        x = given[k]
        flat = np.ravel(np.array(x.value, dtype=np.float64))
        for entry in range(flat.size):
            both = []
            for step in (-eps, eps):
                moved = flat.copy()
                moved[entry] = rounded(moved[entry] + step, x.dtype)
                at = [Tensor(moved.reshape(x.shape), x.dtype) if j == k else fixed(one) for j, one in enumerate(given)]
                run.quiet += 1
                line, before = run.line, run.enable_grad(True)
                try:
                    both.append(
                        [np.ravel(rounded(np.asarray(y.value, np.float64), y.dtype)) for y in outputs_of(run, func, at)]
                    )
                finally:
                    run.quiet -= 1
                    run.line = line
                    run.enable_grad(before)
            for place in range(len(outputs)):
                numeric[place][number].append((both[1][place] - both[0][place]) / (2 * eps))
    for place, y in enumerate(outputs):
        for number, k in enumerate(places):
            x = given[k]
            size = math.prod(y.shape), math.prod(x.shape)
            analytical = rounded(np.asarray(exact[place][number].value, np.float64).reshape(size).T, x.dtype)
            numerical = rounded(np.array(numeric[place][number]).reshape(size[::-1]), y.dtype)
            if not np.all(np.abs(analytical - numerical) <= atol + rtol * np.abs(numerical)):
                texts = [printing.torch_text(a, y.dtype, default=run.default_dtype) for a in (numerical, analytical)]
                raise Failed(
                    f"Jacobian mismatch for output {place} with respect to input {number},\nnumerical:{texts[0]}\n"
                    f"analytical:{texts[1]}\n",
                    exact,
                )
        if any(np.any(np.asarray(g) != 0) for g in again[place]):
            raise Failed("backward not multiplied by grad_output", exact)
    return exact


def fixed(x: Any) -> Any:
    """Return an input that is not moved."""
    return Tensor(np.array(x.value), x.dtype, x.library) if isinstance(x, Tensor) else x


@native("torch.autograd.gradgradcheck", "torch.autograd.gradcheck.gradgradcheck")
def gradgradcheck(run: Run, func: Any, inputs: Any, grad_outputs: Any = None, **options: Any) -> bool:
    """Hold the second derivatives of a function against central differences of its gradients."""
    given = list(inputs) if isinstance(inputs, tuple | list) else [inputs]
    places = [k for k, x in enumerate(given) if isinstance(x, Tensor) and x.active]
    outputs = outputs_of(run, func, [fixed(x) for x in given])
    if grad_outputs is None:
        vs = [Tensor(np.zeros(y.shape), y.dtype) for y in outputs]
        for v in vs:
            run.call(run.attribute(v, "uniform_"), [-1.0, 1.0])
    else:
        vs = list(grad_outputs) if isinstance(grad_outputs, tuple | list) else [grad_outputs]
    vs = [leaf_of(run, v) for v in vs]

    def gradients(run: Run, *arguments: Any) -> Any:
        xs, seeds = list(arguments[: len(given)]), arguments[len(given) :]
        with Level(run) as level:
            lifted = [level.lifted(x) if k in places else x for k, x in enumerate(xs)]
            made = outputs_of(run, func, lifted)
            create = any(s.active for s in seeds) or level.outer(made)
            gs = pulled(
                run,
                made,
                [seed_for(y, s) for y, s in zip(made, seeds, strict=True)],
                [lifted[k] for k in places],
                create,
            )
        return tuple(as_output(gs, [xs[k] for k in places]))

    return gradcheck(run, gradients, (*given, *vs), **options)


def leaf_of(run: Run, v: Tensor) -> Tensor:
    """Return a tensor as a leaf."""
    made = Tensor(np.array(v.value), v.dtype)
    run.enter_leaf(made)
    return made


# ---- what only saves memory
CHECKPOINTING = ("use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug", "early_stop")


@native("torch.utils.checkpoint.checkpoint")
def checkpoint(run: Run, function: Any, *arguments: Any, **named: Any) -> Any:
    """Call a function: what it saves in memory is the same numbers."""
    return run.call(function, list(arguments), {k: v for k, v in named.items() if k not in CHECKPOINTING})


@native("torch.utils.checkpoint.checkpoint_sequential")
def checkpoint_sequential(run: Run, functions: Any, segments: int, value: Any, **_: Any) -> Any:
    """Call functions one after the other."""
    from gradcli.runner.python.containers import iterate

    for function in iterate(run, functions):
        value = run.call(function, [value])
    return value
