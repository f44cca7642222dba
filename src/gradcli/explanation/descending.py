"""Gradient descent from the point of an answer: what each step was to change, and what it changed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradcli.errors import GivenUp, GradcliError, over_budget
from gradcli.explanation.evaluation import gradients
from gradcli.explanation.explained import Note
from gradcli.explanation.views import Descent, DescentStep
from gradcli.ops.signatures import Array

if TYPE_CHECKING:
    from gradcli.explanation.readings import Point

MOST_NUMBERS = 1_000_000
"""Entries of inputs and gradients that the steps hold."""
TRIED = 12
"""Smaller steps that are tried where one is too large, each a tenth of the one before."""
MOST_COST = 10
"""How often all steps together may cost what the budget allows one run."""
MOST_TRIED = 20
"""Steps that each of them takes."""


def descend(point: Point, lr: float, count: int) -> Descent:
    """Return ``count`` steps x ← x - lr·x.grad on v·y, fewer where y is no longer finite, or they cost too much.

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
    found = walk(point, lr, count)
    return replace(found, remarks=diverges(point, found))


def walk(point: Point, lr: float, count: int) -> Descent:
    """Return at most ``count`` steps with ``lr``, and why there are no more."""
    inputs, ending = dict(point.inputs), ""
    y, grad, cost = evaluated(point, inputs)
    steps: list[DescentStep] = []
    while len(steps) < count and not ending:
        ending = stopped(y, grad) or ("more would cost too much" if cost > MOST_COST else "")
        if ending:
            break
        moved, here = stepped(point, inputs, grad, lr), worth(point, y)
        try:
            after, next_grad, step_cost = evaluated(point, moved)
        except GivenUp:
            raise
        except GradcliError as error:
            ending = f"the next step leads where the program has no value: {error.message}"
            break
        if after.shape != y.shape:
            ending = f"the next step leads to a {point.name} of another shape"
            break
        with np.errstate(all="ignore"):
            predicted = -lr * sum(float(np.sum(g * g)) for g in grad.values())
            actual = float(np.sum(point.seed * (after - y)))
        steps.append(DescentStep(own(point, inputs), here, grad, predicted, actual))
        inputs, y, grad, cost = moved, after, next_grad, cost + step_cost
    return Descent(lr, steps, own(point, inputs), worth(point, y), count, ending, [])


def evaluated(point: Point, inputs: Mapping[str, Array]) -> tuple[Array, dict[str, Array], float]:
    """Return y at a point, the gradient of v·y there, and which part of the budget of one run that took.

    There is no gradient where y has another shape than v.
    """
    run, budget = point.function.evaluate(dict(inputs), record=False), point.function.program.budget
    y, graph = np.asarray(run.value), run.graph
    cost = max(len(graph.nodes) / budget.nodes, graph.meter.elements / budget.total)
    return y, gradients(run, point.seed, point.names) if y.shape == point.seed.shape else {}, cost


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


def diverges(point: Point, found: Descent) -> list[Note]:
    """Return what is to be said where v·y grows, or is lost, although each step was to lower it."""
    if not is_divergent(found):
        return []
    first, last = found.steps[0].value, found.value
    went = f"to {last:.6g}" if math.isfinite(last) else "where it is nan" if math.isnan(last) else "beyond all numbers"
    smaller = next((lr for lr in smaller_steps(found.lr) if comes_down(point, lr, found.asked)), None)
    hint = "No smaller step that was tried comes down." if smaller is None else f"Try --lr {smaller:g}."
    return [
        Note(
            "diverges",
            f"It diverges: each step was to lower the value, and it went from {first:.6g} {went}. --lr {found.lr:g} "
            f"is too large a step here: the slope changes on the way. {hint}",
        )
    ]


def is_divergent(found: Descent) -> bool:
    """Return whether v·y is higher than at the start, or no number, and the last steps took it there."""
    steps, last = found.steps, found.value
    if not steps or not (not math.isfinite(last) or last > steps[0].value):
        return False
    late = steps[-min(3, len(steps)) :]
    return all(step.actual > 0 or not math.isfinite(step.actual) for step in late) and any(s.predicted for s in late)


def smaller_steps(lr: float) -> list[float]:
    """Return the steps that are tried in the place of one that is too large."""
    return [float(f"{lr / 10**k:.6g}") for k in range(1, TRIED + 1)]


def comes_down(point: Point, lr: float, count: int) -> bool:
    """Return whether some steps with ``lr`` lower v·y, and no more of them than are shown."""
    found = walk(point, lr, min(count, MOST_TRIED))
    return bool(found.steps) and math.isfinite(found.value) and found.value < found.steps[0].value
