"""The recorded graph, run again on other numbers: complex ones, or the same ones with their last digits shaken."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Recording:
    """A run, and the ops on the way to its output that a gradient flows through, in the order in which they ran."""

    run: Evaluation
    steps: list[tuple[Op, Node]]


def recorded(run: Evaluation) -> Recording:
    """Return a run that is ready to be run again, however often."""
    nodes = reaches(run.output) if isinstance(run.output, Node) else []
    return Recording(run, [(node.op, node) for node in nodes if node.active and node.op is not None])


def replay(recording: Recording, moved: Mapping[int, Any], touch: Callable[[Any], Any] | None = None) -> Any:
    """Return the output for other values of the inputs, ``moved`` by node index.

    What no gradient flows through, such as a condition or a detached value, keeps what was recorded. ``touch`` changes
    each value on the way.
    """
    output = recording.run.output
    if not isinstance(output, Node):
        return output
    found = dict(moved)
    with np.errstate(all="ignore"):
        for op, node in recording.steps:
            recording.run.graph.watch()
            values = [found.get(a.index, a.value) if type(a) is Node else a for a in node.arguments]
            value = op.forward(*values, **node.static)
            found[node.index] = value if touch is None else touch(value)
    return found.get(output.index, output.value)


def is_holomorphic(recording: Recording) -> bool:
    """Return whether the complex step has a meaning for the program at its point: all ops analytic, none at a kink."""
    return all(_analytic_here(op, node) for op, node in recording.steps)


def _analytic_here(op: Op, node: Node) -> bool:
    if op.name not in HOLOMORPHIC:
        return False
    values = [a.value if type(a) is Node else a for a in node.arguments]
    return op.kink is None or not np.any(op.kink.at(*values, **node.static))


def shaken(value: Any, rng: np.random.Generator) -> Any:
    """Return a value, real or complex, with each entry moved up or down by one unit in its last place."""
    return value * (1 + ULP * rng.choice((-1.0, 1.0), np.shape(value)))


def distances(recording: Recording, of: Callable[[Any], Array], leaves: Mapping[int, Any]) -> Iterator[Array]:
    """Yield how far each shaken run moves ``of(output)``, entry by entry; not finite where one run has no value.

    Each run moves every value of the graph by one unit in its last place, at random (discrete stochastic arithmetic,
    Vignes 1993).
    """
    still = of(replay(recording, leaves))
    for number in range(SHAKES):
        rng = np.random.default_rng(number)
        shaken_leaves = {k: shaken(x, rng) for k, x in leaves.items()}
        moved = of(replay(recording, shaken_leaves, lambda value: shaken(value, rng)))  # noqa: B023
        with np.errstate(all="ignore"):
            distance = np.abs(moved - still)
        yield distance


def spread(recording: Recording, of: Callable[[Any], Array], leaves: Mapping[int, Any]) -> Array:
    """Return how far rounding may move ``of(output)``, entry by entry: the widest distance among shaken runs.

    An error of the graph's own roundings is of that size; callers multiply by what they want to be sure.
    """
    widest: Array = np.maximum.reduce(list(distances(recording, of, leaves)))
    return widest
