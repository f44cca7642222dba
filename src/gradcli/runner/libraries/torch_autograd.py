"""PyTorch's derivative calls and what switches gradients on and off."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.runner.backward import backward, derivative_event, gradients_of
from gradcli.runner.containers import entry, take
from gradcli.runner.library import TABLE, method, native
from gradcli.runner.objects import Closure, Context
from gradcli.runner.state import Run
from gradcli.runner.values import Tensor


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
        return batched(run, ys, xs, given, retain_graph, create_graph, bool(allow_unused), materialize_grads)
    return tuple(
        gradients_of(run, ys, xs, given, retain_graph, create_graph, bool(allow_unused), materialize_grads)
    )


def batched(
    run: Run, ys: list[Any], xs: list[Any], given: list[Any], retain: Any, create: bool, unused: bool, zeros: bool
) -> tuple[Any, ...]:
    """Return vᵀ·J for each row of the given v, stacked."""
    before = run.quiet
    run.quiet += 1
    try:
        found = []
        count = given[0].shape[0]
        for row in range(count):
            vs = [entry(run, v, row) for v in given]
            found.append(gradients_of(run, ys, xs, vs, True if row < count - 1 else retain, create, unused, zeros))
    finally:
        run.quiet = before
    stacked = [None if parts[0] is None else run.function("torch.stack", list(parts)) for parts in zip(*found, strict=True)]
    event = derivative_event(run, "grad", ys[0], np.asarray(given[0].value))
    event.returns = [None if g is None else g.value for g in stacked]
    event.of = [run.name_of(x) or "" for x in xs]
    run.event(event)
    return tuple(stacked)


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

        def run_it(run: Run, *arguments: Any, **named: Any) -> Any:
            self.enter(run)
            try:
                return run.call(function, list(arguments), named)
            finally:
                self.leave(run)

        return run_it


def mode(on: bool) -> Any:
    """Return the function that makes a context, or decorates a function."""

    def make(run: Run, function: Any = None, mode: bool = True) -> Any:
        made = GradMode(on or function is False or mode is False)
        return made(run, function) if isinstance(function, Closure) else made

    return make


for _home in ("torch", "torch.autograd", "torch.autograd.grad_mode"):
    TABLE[f"{_home}.no_grad"] = TABLE[f"{_home}.inference_mode"] = mode(False)
    TABLE[f"{_home}.enable_grad"] = mode(True)


@native("torch.set_grad_enabled", "torch.autograd.set_grad_enabled", "torch.autograd.grad_mode.set_grad_enabled")
def set_grad_enabled(run: Run, mode: bool) -> Any:
    """Switch gradients now, and back where a ``with`` ends."""
    if type(mode) is not bool:
        from gradcli.runner.builtins import type_name

        run.fail("TypeError", f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type_name(mode)}")
    made = GradMode(mode)
    before = run.enable_grad(mode)

    class Switched(GradMode):
        def enter(self, run: Run) -> None:
            self.before.append(before)

    return Switched(made.on)


__all__ = ["np"]
