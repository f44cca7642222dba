"""Functions of jax.nn that mean something else there than under the same name in PyTorch."""

from __future__ import annotations

import numpy as np

from gradcli.ops.arithmetic import ADD, DIV, MUL, SUB
from gradcli.ops.axes import number, read_axes, require_entries
from gradcli.ops.declare import OPS, Apply, Op, value_of
from gradcli.ops.facts import Facts, of_one
from gradcli.ops.neural import LOG_SOFTMAX, SOFTMAX, normalised
from gradcli.ops.piecewise import WITH_OPTIONS
from gradcli.ops.reductions import LOGSUMEXP, MEAN, SUM
from gradcli.ops.signatures import Static, Tensor
from gradcli.ops.spread import VAR
from gradcli.ops.vocabulary import function

GELU, SOFTPLUS = WITH_OPTIONS["gelu"], WITH_OPTIONS["softplus"]
ROW = {"x": "1.5,2.5,4.0"}


@function(
    "jax.nn.softplus", "", "neural", kinds="no no yes",
    facts=of_one("jax.nn.softplus(x)", "log(1 + exp(x))", "sigmoid(x)"),
)  # fmt: skip
def build_softplus(f: Apply, x: Tensor) -> Tensor:
    """log(1 + exp(x)), also where PyTorch takes x itself"""
    return f(SOFTPLUS, x, beta=1.0, threshold=np.inf)


@function(
    "jax.nn.gelu", "", "neural", kinds="no no yes",
    facts=of_one(
        "jax.nn.gelu(x)", "x*sigmoid(sqrt(8/pi)*(x + 0.044715*x**3))",
        "sigmoid(sqrt(8/pi)*(x + 0.044715*x**3))*(1 + x*sqrt(8/pi)*(1 + 0.134145*x**2)"
        "*sigmoid(-sqrt(8/pi)*(x + 0.044715*x**3)))",
    ),
)  # fmt: skip
def build_gelu(f: Apply, x: Tensor, approximate: Static = True) -> Tensor:
    """x times the normal distribution function of x, approximated by tanh unless approximate=False"""
    return f(GELU, x, approximate="tanh" if approximate else "none")


def along_last(name: str, op: Op, formula: str, derivative: str) -> None:
    """Enter softmax or its logarithm as JAX has it: along the last axis unless another is named."""

    def build(f: Apply, x: Tensor, axis: Static = -1) -> Tensor:
        return normalised(f, op, x, axis, "F")

    build.__doc__ = f"{op.name} along axis, the last one unless said otherwise"
    facts = Facts(formula, (derivative,), f"{name}(x)", ROW, "1,10,100")
    function(name, "", "neural", kinds="no no yes", facts=facts)(build)


along_last("jax.nn.softmax", SOFTMAX, "y[i] = exp(x[i])/sum(exp(x))", "dy[i]/dx[j] = y[i]*(where(i == j, 1, 0) - y[j])")
along_last(
    "jax.nn.log_softmax", LOG_SOFTMAX, "y[i] = x[i] - log(sum(exp(x)))", "dy[i]/dx[j] = where(i == j, 1, 0) - exp(y[j])"
)


@function(
    "jax.nn.logsumexp scipy.special.logsumexp sp.special.logsumexp jax.scipy.special.logsumexp jsp.special.logsumexp",
    "", "neural", kinds="no no yes",
    facts=Facts("y = log(sum(exp(x)))", ("dy/dx[i] = exp(x[i] - y)",), "jax.nn.logsumexp(x)", ROW),
)  # fmt: skip
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


@function(
    "jax.nn.squareplus", "", "neural", kinds="no no yes",
    facts=of_one("jax.nn.squareplus(x)", "(x + sqrt(x**2 + 4))/2", "(1 + x/sqrt(x**2 + 4))/2"),
)  # fmt: skip
def build_squareplus(f: Apply, x: Tensor, b: Static = 4.0) -> Tensor:
    """(x + sqrt(x**2 + b))/2"""
    root = f(OPS["sqrt"], f(ADD, f(OPS["square"], x), np.float64(number(b, "b"))))
    return f(DIV, f(ADD, x, root), np.float64(2))


@function(
    "jax.nn.standardize", "", "neural", kinds="no no yes",
    facts=Facts(
        "y[i] = (x[i] - mean(x))/sqrt(mean((x - mean(x))**2) + 1e-5)",
        ("dy[i]/dx[j] = (where(i == j, 1, 0) - 1/n - y[i]*y[j]/n)/sqrt(mean((x - mean(x))**2) + 1e-5)",),
        "jax.nn.standardize(x)", ROW, "1,10,100",
    ),
)  # fmt: skip
def build_standardize(
    f: Apply,
    x: Tensor,
    axis: Static = -1,
    mean: Tensor | None = None,
    variance: Tensor | None = None,
    epsilon: Static = 1e-5,
) -> Tensor:
    """(x - mean)/sqrt(variance + epsilon) along axis, or with a mean and a variance that are given"""
    axes = read_axes(axis, x.ndim)
    along = {"dim": axes, "keepdim": True}
    centred = f(SUB, x, f(MEAN, x, **along) if mean is None else mean)
    if variance is not None:
        spread = variance
    elif mean is None:
        spread = f(VAR, x, **along, correction=0.0)
    else:  # JAX takes it so round a mean that is given
        spread = f(SUB, f(MEAN, f(OPS["square"], x), **along), f(OPS["square"], mean))
    return f(DIV, centred, f(OPS["sqrt"], f(ADD, spread, np.float64(number(epsilon, "epsilon")))))
