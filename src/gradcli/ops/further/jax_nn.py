"""Functions of jax.nn that mean something else there than under the same name in PyTorch."""

from __future__ import annotations

import numpy as np

from gradcli.ops.arithmetic import ADD, MUL, SUB
from gradcli.ops.axes import read_axes, require_entries
from gradcli.ops.declare import OPS, Apply, Op, value_of
from gradcli.ops.neural import LOG_SOFTMAX, SOFTMAX, normalised
from gradcli.ops.piecewise import WITH_OPTIONS
from gradcli.ops.reductions import LOGSUMEXP, SUM
from gradcli.ops.signatures import Static, Tensor
from gradcli.ops.vocabulary import function

GELU, SOFTPLUS = WITH_OPTIONS["gelu"], WITH_OPTIONS["softplus"]


@function("jax.nn.softplus", "", "neural", kinds="no no yes")
def build_softplus(f: Apply, x: Tensor) -> Tensor:
    """log(1 + exp(x)), also where PyTorch takes x itself"""
    return f(SOFTPLUS, x, beta=1.0, threshold=np.inf)


@function("jax.nn.gelu", "", "neural", kinds="no no yes")
def build_gelu(f: Apply, x: Tensor, approximate: Static = True) -> Tensor:
    """x times the normal distribution function of x, approximated by tanh unless approximate=False"""
    return f(GELU, x, approximate="tanh" if approximate else "none")


def along_last(name: str, op: Op) -> None:
    """Enter softmax or its logarithm as JAX has it: along the last axis unless another is named."""

    def build(f: Apply, x: Tensor, axis: Static = -1) -> Tensor:
        return normalised(f, op, x, axis, "F")

    build.__doc__ = f"{op.name} along axis, the last one unless said otherwise"
    function(name, "", "neural", kinds="no no yes")(build)


along_last("jax.nn.softmax", SOFTMAX)
along_last("jax.nn.log_softmax", LOG_SOFTMAX)


@function(
    "jax.nn.logsumexp scipy.special.logsumexp sp.special.logsumexp jax.scipy.special.logsumexp jsp.special.logsumexp",
    "",
    "neural",
    kinds="no no yes",
)
def build_logsumexp(
    f: Apply, x: Tensor, axis: Static = None, b: Tensor | None = None, keepdims: Static = False
) -> Tensor:
    """log(sum(exp(x))) of all entries or along axis, each term times b where that is given"""
    axes = read_axes(axis, x.ndim)
    require_entries(x, axes, "logsumexp")
    if b is None:
        return f(LOGSUMEXP, x, dim=axes, keepdim=bool(keepdims))
    numbers = np.asarray(value_of(x))
    largest = np.max(numbers, axis=axes, keepdims=True)
    total = f(SUM, f(MUL, f(OPS["exp"], f(SUB, x, largest)), b), dim=axes, keepdim=bool(keepdims))
    return f(ADD, f(OPS["log"], total), largest if keepdims else np.max(numbers, axis=axes))
