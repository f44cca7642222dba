"""PyTorch's derivative calls and what switches gradients on and off."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.runner.backward import backward, gradients_of
from gradcli.runner.library import TABLE, method, native
from gradcli.runner.python.containers import take
from gradcli.runner.state import Run
from gradcli.runner.values import Closure, Context, Tensor


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

        run.fail(
            "TypeError", f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type_name(mode)}"
        )
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
