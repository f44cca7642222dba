"""What each sample of a batch adds to the gradient of a mean loss: the terms of the sum, a row for each sample."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.engine.graph import Node, Operation
from gradcli.engine.reverse import backward, cotangents
from gradcli.explanation.effect import Sample, Samples
from gradcli.ops.arithmetic import ADD, DIV, MUL, NEG, SUB
from gradcli.ops.declare import Array
from gradcli.ops.reductions import MEAN, SUM

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gradcli.explanation.readings import Point

MOST_SAMPLES = 8
"""Samples that are shown; of more the first seven and the last."""
FEWEST = 2
"""Samples that there are at least."""
NEAR = 1e-12
"""Relative distance below which a factor is 1/n."""


def find_samples(point: Point) -> Samples | None:
    """Return the terms of each sample; None where the output is no mean, or no entry gets terms from two samples.

    Of several means, such as a loss and a penalty, the first one whose rows share an entry counts.
    """
    output = point.run.output
    if point.value.size != 1 or not isinstance(output, Operation) or not output.active:
        return None
    kept: dict[int, Any] = {}
    cotangents(point.run.graph, output, point.seed, kept)
    means = (node for node, is_mean in averaged(output) if is_average(node, is_mean, kept, point))
    return next((samples for samples in (terms_of(of, kept, point) for of in means) if samples is not None), None)


def terms_of(of: Node, kept: Mapping[int, Any], point: Point) -> Samples | None:
    """Return the terms by the rows of what a mean is of; None where no entry of a gradient has terms of two."""
    output = point.run.output
    g, count = np.asarray(kept[of.index]), of.shape[0]
    places = range(count) if count <= MOST_SAMPLES else [*range(MOST_SAMPLES - 1), count - 1]
    weight = float(g.flat[0]) / float(np.ravel(point.seed)[0])
    losses = np.asarray(of.value).reshape(count, -1).sum(axis=1) * weight * count
    shown = [Sample(i, float(losses[i]), gradients_from(point, of, masked(g, i))) for i in places]
    if not any(is_shared(shown, name) for name in point.names):
        return None
    through = gradients_from(point, of, g)
    whole = gradients_from(point, output, point.seed)
    rest = {name: whole[name] - through[name] for name in point.names}
    passed = any(not np.allclose(whole[name], through[name], rtol=NEAR, atol=0.0) for name in point.names)
    return Samples(count, shown, rest if passed else {})


def averaged(output: Node) -> Iterator[tuple[Node, bool]]:
    """Yield what an output is a mean of, or a sum, with whether it is a mean: by sums, constants and reshapes alone."""
    stack, seen = [output], {output.index}
    while stack:
        node = stack.pop()
        if not isinstance(node, Operation):
            continue
        active = [a for a in node.arguments if isinstance(a, Node) and a.active]
        if not active:  # the output is a constant here
            continue
        if node.op in (SUM, MEAN) and node.value.size == 1 and active[0].value.size > 1:
            yield active[0], node.op is MEAN
        elif node.op in (SUM, MEAN, ADD, SUB, NEG) or node.op.moves or (node.op in (MUL, DIV) and len(active) == 1):
            stack += [a for a in active if a.index not in seen and a.value.size == 1]
            seen |= {a.index for a in active}


def is_average(node: Node, is_mean: bool, kept: Mapping[int, Any], point: Point) -> bool:
    """Return whether a value has samples along its first axis, and an output is a mean over them: of a sum, over n."""
    if node.index not in kept or node.shape[0] < FEWEST or not np.any(point.seed):
        return False
    weight = float(np.ravel(kept[node.index])[0]) / float(np.ravel(point.seed)[0])
    return is_mean or math.isclose(abs(weight) * node.shape[0], 1.0, rel_tol=NEAR)


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
