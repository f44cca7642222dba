"""What each sample of a batch adds to the gradient of a mean loss: the terms of the sum, a row for each sample."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradcli.engine.graph import Node, Operation
from gradcli.engine.reverse import backward, cotangents
from gradcli.explanation.effect import Sample, Samples
from gradcli.ops.arithmetic import ADD, DIV, MUL, NEG, SUB
from gradcli.ops.declare import Array, value_of
from gradcli.ops.reductions import MEAN, SUM

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gradcli.explanation.readings import Point

MOST_SAMPLES = 8
"""Samples that are shown; of more the first seven and the last."""
NEAR = 1e-12
"""Relative distance below which a factor is 1/n."""


class Mean(NamedTuple):
    """A mean on the way from an output back: what it is of, and by which factor a sum of it counts in the output."""

    of: Node
    factor: float


def find_samples(point: Point) -> Samples | None:
    """Return the terms of each sample; None where the output is no mean, or no entry gets terms from two samples."""
    output = point.run.output
    if point.value.size != 1 or not isinstance(output, Operation):
        return None
    mean = next(means(output, 1.0), None)
    if mean is None:
        return None
    kept: dict[int, Any] = {}
    cotangents(point.run.graph, output, point.seed, kept)
    if mean.of.index not in kept:
        return None
    g, count = np.asarray(kept[mean.of.index]), mean.of.shape[0]
    places = range(count) if count <= MOST_SAMPLES else [*range(MOST_SAMPLES - 1), count - 1]
    losses = np.asarray(mean.of.value).reshape(count, -1).sum(axis=1) * mean.factor * count
    shown = [Sample(i, float(losses[i]), gradients_from(point, mean.of, masked(g, i))) for i in places]
    if not any(is_shared(shown, name) for name in point.names):
        return None
    through = gradients_from(point, mean.of, g)
    whole = gradients_from(point, output, point.seed)
    rest = {name: whole[name] - through[name] for name in point.names}
    passed = any(not np.allclose(whole[name], through[name], rtol=NEAR, atol=0.0) for name in point.names)
    return Samples(count, shown, rest if passed else {})


def means(node: Node, factor: float) -> Iterator[Mean]:
    """Yield the means over a first axis of several that a number is made of, by sums, constants and reshapes alone."""
    if not isinstance(node, Operation):
        return
    active = [a for a in node.arguments if isinstance(a, Node) and a.active]
    others = [float(np.ravel(value_of(a))[0]) for a in node.arguments if a not in active and np.size(value_of(a)) == 1]
    op = node.op
    if op in (SUM, MEAN) and node.value.size == 1:
        [x] = active
        if x.value.size == 1:
            yield from means(x, factor)
            return
        own = factor / x.value.size if op is MEAN else factor
        by_sample = abs(own) * x.shape[0]
        if x.shape[0] > 1 and (op is MEAN or math.isclose(by_sample, 1.0, rel_tol=NEAR)):
            yield Mean(x, own)
    elif op.moves or op in (ADD, SUB, NEG):
        for x in active:
            minus = op is NEG or (op is SUB and x is node.arguments[1])
            yield from means(x, -factor if minus else factor)
    elif op in (MUL, DIV) and len(active) == len(others) == 1:
        [x], [by] = active, others
        if op is MUL or x is node.arguments[0]:
            yield from means(x, factor * by if op is MUL else factor / by)


def masked(g: Array, i: int) -> Array:
    """Return a cotangent with 0 for all samples but one."""
    alone = np.zeros_like(g)
    alone[i] = g[i]
    return alone


def gradients_from(point: Point, node: Node, g: Array) -> dict[str, Array]:
    """Return what a cotangent of a value on the way adds to the gradient of each variable."""
    found = backward(point.run.graph, node, g, [*point.leaves.values()])
    return dict(zip(point.names, found, strict=True))


def is_shared(samples: list[Sample], name: str) -> bool:
    """Return whether an entry of a gradient has terms of several samples."""
    return bool(np.any(sum((sample.grad[name] != 0).astype(int) for sample in samples) > 1))
