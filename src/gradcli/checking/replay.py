"""The recorded graph, run again on other numbers: complex ones, or the same ones with their last digits shaken."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradcli.evaluation import Evaluation
from gradcli.graph import Node, reaches
from gradcli.ops.declare import Array, Op

# fmt: off
HOLOMORPHIC = frozenset({
    "add", "sub", "mul", "div", "neg", "pow", "square", "sqrt", "rsqrt", "reciprocal", "exp", "exp2", "expm1", "log",
    "log2", "log10", "log1p", "xlogy", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh",
    "acosh", "atanh", "sinc", "softmax", "log_softmax", "logsumexp", "sum", "mean", "prod", "var", "cumsum", "cumprod",
    "matmul", "einsum", "det", "inv", "index", "reshape", "permute", "expand", "flip", "roll", "tile", "diag", "tril",
    "triu", "repeat_interleave", "clone", "put", "stack", "cat", "where", "maximum", "minimum", "fmax", "fmin", "max",
    "min", "amax", "amin", "relu", "leaky_relu", "elu", "clamp_min", "clamp_max",
})
# fmt: on
"""Ops whose forward is, away from kinks, an analytic function of complex numbers as it stands in numpy."""
ULP = 2.0**-52
SHAKES = 6
"""Runs with shaken digits; their spread is the rounding error of a run, seen from outside."""


def replay(run: Evaluation, moved: Mapping[int, Any], touch: Callable[[Any], Any] | None = None) -> Any:
    """Return the output for other values of the inputs, ``moved`` by node index.

    What no gradient flows through, such as a condition or a detached value, keeps what was recorded. ``touch`` changes
    each value on the way.
    """
    if not isinstance(run.output, Node):
        return run.output
    found = dict(moved)
    with np.errstate(all="ignore"):
        for node in reaches(run.output):
            if node.op is None or not node.active:
                continue
            run.graph.watch()
            values = [found.get(a.index, a.value) if type(a) is Node else a for a in node.arguments]
            value = node.op.forward(*values, **node.static)
            found[node.index] = value if touch is None else touch(value)
    return found.get(run.output.index, run.output.value)


def is_holomorphic(run: Evaluation) -> bool:
    """Return whether the complex step has a meaning for the program at its point: all ops analytic, none at a kink."""
    if not isinstance(run.output, Node):
        return True
    return all(_analytic_here(node.op, node) for node in reaches(run.output) if node.active and node.op is not None)


def _analytic_here(op: Op, node: Node) -> bool:
    if op.name not in HOLOMORPHIC:
        return False
    values = [a.value if type(a) is Node else a for a in node.arguments]
    return op.kink is None or not np.any(op.kink.at(*values, **node.static))


def shaken(value: Any, rng: np.random.Generator) -> Any:
    """Return a value, real or complex, with each entry moved up or down by one unit in its last place."""
    return value * (1 + ULP * rng.choice((-1.0, 1.0), np.shape(value)))


def spread(run: Evaluation, of: Callable[[Any], Array], leaves: Mapping[int, Any]) -> Array:
    """Return how far rounding may move ``of(output)``, entry by entry: the widest distance among shaken runs.

    Each run moves every value of the graph by one unit in its last place, at random (discrete stochastic arithmetic,
    Vignes 1993). An error of the graph's own roundings is of that size; callers multiply by what they want to be sure.
    """
    still = of(replay(run, leaves))
    widest = np.zeros(np.shape(still))
    for number in range(SHAKES):
        rng = np.random.default_rng(number)
        moved = of(replay(run, {k: shaken(x, rng) for k, x in leaves.items()}, lambda value: shaken(value, rng)))  # noqa: B023
        with np.errstate(all="ignore"):
            widest = np.maximum(widest, np.abs(moved - still))
    return widest
