"""Slopes that are flat, and that PyTorch differentiates all the same: what they give again is zeros, and not None."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.ops.declare import Op
from gradcli.ops.parts import Said
from gradcli.ops.shaping import CLONE

CALLED = {
    "relu": "ThresholdBackwardBackward0",
    "leaky_relu": "LeakyReluBackwardBackward0",
    "abs": "MulBackward0",
    "hardtanh": "HardtanhBackwardBackward0",
    "hardsigmoid": "HardsigmoidBackwardBackward0",
    "hardshrink": "HardshrinkBackwardBackward0",
    "softshrink": "SoftshrinkBackwardBackward0",
}
"""What PyTorch calls the function that made the gradient of an op whose slope is flat."""
BESIDE = Op(
    "beside",
    lambda part, x, *, called: part,
    (lambda g, _y, _part, _x, *, called: g, lambda _g, _y, _part, x, *, called: np.zeros(np.shape(x))),
    lambda argument, out, values, static: CLONE.local(0, out, values[:1], {}) if not argument else [],
    index=Said(),
    moves=True,
    by_shape=True,
    torch_saves=("own",),
    write=lambda call: call.tight[0],
)
"""A cotangent beside the value that its slope is of, with zeros as its derivative by that."""


def beside(f: Any, op: Op, part: Any, x: Any) -> Any:
    """Return a cotangent of ``x`` through an op: where the slope is flat, as one that depends on ``x`` by zeros."""
    called = CALLED.get(op.name)
    return part if called is None else f(BESIDE, part, x, called=called)
