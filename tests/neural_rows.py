"""What PyTorch is asked about neural functions of several arguments, or of arrays with axes of their own."""

# ruff: noqa: E501 - a row is a line
# fmt: off

from __future__ import annotations

from math import inf

from records.constants import CANCELS, SIGNED, WITH_NAN

SEEDS = (None, 0.0, inf)
PLANES = [[[1.0, -2.0], [0.0, -0.0]], [[3.0, 0.5], [-1.5, inf]]]


def add(row):
    """Add the rows to a table."""
    row.each("F.threshold(x, 0.5, 20.) | F.threshold(x, 0., 0.) | F.threshold(x, 1., 1.) | F.threshold(x, 3., -1.)", vs=SEEDS, x=WITH_NAN)
    row.each("F.prelu(x, w) | x.prelu(w[0]) => x.prelu(w[:1]) | F.prelu(x, -w)", vs=SEEDS, x=PLANES, w=[0.25, -3.0])
    row.each("F.prelu(x, w)", vs=SEEDS, x=SIGNED, w=[0.25])
    row.each("F.glu(x) | F.glu(x, 0) | F.glu(x, dim=-2)", vs=(None, 0.0), x=PLANES, atol=CANCELS)
    row.each("F.glu(x.sqrt(), 0)", x=[0.0, 4.0, 0.0, 1.0])
    row.each(
        "jax.nn.softplus(x) => F.softplus(x, threshold=1e300) | jax.nn.gelu(x) => F.gelu(x, approximate='tanh') | jax.nn.softmax(x) => F.softmax(x, -1)"
        " | jax.nn.log_softmax(x) => F.log_softmax(x, -1) | jax.nn.logsumexp(x) => torch.logsumexp(x, (0, 1)) | jax.nn.squareplus(x) => (x + (x**2 + 4).sqrt())/2"
        " | jax.nn.standardize(x) => F.layer_norm(x, (3,))", x=[[1.0, -2.0, 30.0], [0.0, 0.5, 4.0]], atol=CANCELS, rtol=1e-10)
