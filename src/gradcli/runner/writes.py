"""Writes in place: augmented assignments, methods that end in ``_``, and entries that are assigned."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.engine.graph import NODES
from gradcli.ops.declare import value_of
from gradcli.runner.numpy_values import flows, in_place, plain_array
from gradcli.runner.objects import UNBOUND, ask
from gradcli.runner.operators import METHODS, of_tensors, operate
from gradcli.runner.state import Run
from gradcli.runner.values import TITLES, Tensor, View, category


def augmented(run: Run, sign: str, before: Any, change: Any) -> Any:
    """Return what an augmented assignment gives its target: the same object where it changes in place."""
    if isinstance(before, Tensor):
        if before.library in ("jax", "python") or (
            before.library == "numpy" and not before.shape and not (before.extra and before.extra.several)
        ):
            return operate(run, sign, before, change)
        if isinstance(change, Tensor) and change.library == "torch" and before.library == "numpy":
            return operate(run, sign, before, change)
        if plain_array(before) and not flows(change):
            in_place(run, sign, before, change)
            return before
        first = run.count
        refuse_stale(run, before)
        made = of_tensors(run, sign, before, change)
        write_back(run, before, made, first)
        return before
    if isinstance(before, list) and sign == "+":
        run.call(run.attribute(before, "extend"), [change])
        return before
    if type(before) is set and sign in "|&-^":
        made = operate(run, sign, before, change)
        before.clear()
        before.update(made)
        return before
    if type(before) is dict and sign == "|":
        before.update(change)
        return before
    made = ask(run, before, f"__i{METHODS[sign]}__", change)
    return operate(run, sign, before, change) if made is UNBOUND or made is NotImplemented else made


def refuse_stale(run: Run, target: Tensor) -> None:
    """Raise what PyTorch raises for a write to a view of no result, after its base became one, unread since."""
    if (
        type(target) is View and target.seen != target.base.version and type(target.shown) not in NODES
        and run.grad_enabled and target.library == "torch" and target.base.active and not target.base.leaf
    ):  # fmt: skip
        run.fail("RuntimeError", "a leaf Variable that requires grad is being used in an in-place operation.")


def assigned_again(x: Tensor) -> Any:
    """Return what a tensor holds after ``x[0] += 1``: PyTorch changes entries, and then assigns them to themselves."""
    x.root.version += 1
    return x.node


def write_back(run: Run, target: Tensor, made: Tensor, first: int | None = None, made_by: Any = None) -> None:
    """Write a result into a tensor in place; raises what PyTorch raises where shapes or types do not fit."""
    shape, new = target.shape, np.shape(made.value)
    if target.base is None:
        run.refuse_leaf(target)
    if shape != new:
        try:
            fits = np.broadcast_shapes(shape, new) == shape
        except ValueError:
            fits = False
        if not fits:
            run.fail("RuntimeError", f"output with shape {list(shape)} doesn't match the broadcast shape {list(new)}")
    if category(made.dtype) > category(target.dtype):
        if target.library == "torch":
            run.fail_as("wider type", TITLES[made.dtype][0], TITLES[target.dtype][0])
        run.fail("TypeError", "Cannot cast ufunc output to the type of the array")
    node = made.node
    if type(node) not in NODES:
        node = np.array(np.broadcast_to(value_of(node), shape))
    elif np.shape(node.value) != shape:
        node = run.function("expand", made, *shape).node
    run.write(target, node, first, made_by or made.made_by)
