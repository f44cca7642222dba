"""Gradient descent from the point of an answer: what each step was to change, and what it changed."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from gradcli.errors import GradcliError, over_budget
from gradcli.explanation.evaluation import gradients
from gradcli.explanation.explained import Note
from gradcli.explanation.views import Descent, DescentStep
from gradcli.ops.signatures import Array

if TYPE_CHECKING:
    from gradcli.explanation.readings import Point

MOST_NUMBERS = 1_000_000
"""Entries of inputs and gradients that the steps hold."""


def descend(point: Point, lr: float, count: int) -> Descent:
    """Return ``count`` steps x ← x - lr·x.grad on v·y, fewer where y is no longer finite, or time is over.

    Raises ``budget`` for more steps than the turns of a loop, or than can be held, and ``option`` for a y that is not
    finite.
    """
    budget = point.function.program.budget
    if count > budget.turns:
        raise over_budget("turns", budget.turns, f"--iterations {count:,}")
    held = 2 * sum(leaf.value.size for leaf in point.leaves.values()) * count
    if held > MOST_NUMBERS:
        raise GradcliError(
            "budget", f"--iterations {count:,} would hold {held:,} numbers, more than {MOST_NUMBERS:,}",
            hint="take fewer steps, or fewer variables with --wrt",
        )  # fmt: skip
    started, inputs, ending = time.process_time(), dict(point.inputs), ""
    y, grad = evaluated(point, inputs)
    steps: list[DescentStep] = []
    while len(steps) < count and not ending:
        ending = stopped(y, grad) or ("the time for it is used up" if time_is_over(started, budget.seconds) else "")
        if ending:
            break
        moved, here = stepped(point, inputs, grad, lr), worth(point, y)
        try:
            after, next_grad = evaluated(point, moved)
        except GradcliError as error:
            ending = f"the next step leads where the program has no value: {error.message}"
            break
        if after.shape != y.shape:
            ending = f"the next step leads to a {point.name} of another shape"
            break
        predicted = -lr * sum(float(np.sum(g * g)) for g in grad.values())
        with np.errstate(all="ignore"):
            actual = float(np.sum(point.seed * (after - y)))
        steps.append(DescentStep(own(point, inputs), here, grad, predicted, actual))
        inputs, y, grad = moved, after, next_grad
    last = worth(point, y)
    return Descent(lr, steps, own(point, inputs), last, count, ending, diverges(steps, last, lr))


def evaluated(point: Point, inputs: Mapping[str, Array]) -> tuple[Array, dict[str, Array]]:
    """Return y at a point, and the gradient of v·y there; none where y has another shape than v."""
    run = point.function.evaluate(dict(inputs), record=False)
    y = np.asarray(run.value)
    return y, gradients(run, point.seed, point.names) if y.shape == point.seed.shape else {}


def own(point: Point, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Return the inputs that are differentiated."""
    return {name: np.asarray(inputs[name]) for name in point.names}


def worth(point: Point, y: Array) -> float:
    """Return v·y."""
    with np.errstate(all="ignore"):
        return float(np.sum(point.seed * y))


def stepped(point: Point, inputs: Mapping[str, Array], grad: Mapping[str, Array], lr: float) -> dict[str, Array]:
    """Return the inputs one step further."""
    with np.errstate(all="ignore"):
        return {**inputs, **{name: inputs[name] - lr * grad[name] for name in point.names}}


def stopped(y: Array, grad: Mapping[str, Array]) -> str:
    """Return why there is no next step; empty where there is one."""
    if not np.all(np.isfinite(y)):
        return "the value is not finite"
    if not all(np.all(np.isfinite(g)) for g in grad.values()):
        return "the gradient is not finite"
    return "" if any(np.any(g) for g in grad.values()) else "the gradient is 0"


def time_is_over(started: float, seconds: float) -> bool:
    """Return whether the processor has worked for so long."""
    return time.process_time() - started > seconds


def diverges(steps: list[DescentStep], last: float, lr: float) -> list[Note]:
    """Return what is to be said where v·y grows although each step was to lower it."""
    if not steps or lr <= 0:
        return []
    first = steps[0].value
    grown = not math.isfinite(last) or last > first
    late = steps[-min(3, len(steps)) :]
    grows = all(step.actual > 0 or not math.isfinite(step.actual) for step in late) and any(s.predicted for s in late)
    if not (grown and grows):
        return []
    told = f"from {first:.6g} to {last:.6g}" if math.isfinite(last) else f"from {first:.6g} beyond all numbers"
    return [
        Note(
            "diverges",
            f"It diverges: each step was to lower the value, and it went {told}. --lr {lr:g} is too large a step here: "
            f"the slope changes on the way. Try --lr {lr / 10:g}.",
        )
    ]
