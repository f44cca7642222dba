"""Losses that few programs call, composed as PyTorch composes them, so that kinks and edges are PyTorch's."""

from __future__ import annotations

import math

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import ADD, DIV, MINIMUM, MUL, NEG, SUB
from gradcli.ops.axes import number, require_as_many_axes
from gradcli.ops.declare import OPERATORS, OPS, Apply, value_of
from gradcli.ops.facts import Facts
from gradcli.ops.losses import DISTANCE, HUBER, how_reduced, reduce_loss, same_shapes, total, without_derivative
from gradcli.ops.making import DETACH
from gradcli.ops.piecewise import ABS, BENT, CLAMP_MIN, WHERE
from gradcli.ops.shaping import RESHAPE
from gradcli.ops.signatures import Static, Tensor
from gradcli.ops.spread import build_norm
from gradcli.ops.vocabulary import function

EXP, LOG, SQUARE, LOGSIGMOID = OPS["exp"], OPS["log"], OPS["square"], BENT["logsigmoid"]
EQUAL, AT_MOST = OPERATORS["==", 2], OPERATORS["<=", 2]
ZERO, ONE, HALF = np.float64(0), np.float64(1), np.float64(0.5)
PAIR = {"x": "1.5,2.5", "t": "1,4"}


def broadcast(name: str, *arrays: Tensor) -> None:
    """Refuse arrays whose shapes do not broadcast."""
    try:
        np.broadcast_shapes(*(x.shape for x in arrays))
    except ValueError:
        shapes = ", ".join(map(str, (x.shape for x in arrays)))
        raise GradcliError("shape", f"{name}: shapes {shapes} do not fit") from None


def unless(f: Apply, target: Tensor, word: float, x: Tensor) -> Tensor:
    """Return x with 0 where the target is ``word``."""
    return f(WHERE, f(EQUAL, target, np.float64(word)), ZERO, x)


def where_is(f: Apply, target: Tensor, word: float, x: Tensor) -> Tensor:
    """Return x where the target is ``word``, and 0 elsewhere."""
    return f(WHERE, f(EQUAL, target, np.float64(word)), x, ZERO)


def positive_part(f: Apply, x: Tensor) -> Tensor:
    """Return x, but at least 0; its derivative at 0 is 1, as PyTorch's clamp_min has it."""
    return f(CLAMP_MIN, x, ZERO)


@function(
    "smooth_l1_loss", "functional", "neural", kinds="no no target",
    facts=Facts(
        "y = mean(where(abs(x - t) < 1, (x - t)**2/2, abs(x - t) - 1/2))",
        ("dy/dx[i] = clip(x[i] - t[i], -1, 1)/n", "dy/dt[i] = clip(t[i] - x[i], -1, 1)/n"),
        "F.smooth_l1_loss(x, t)", PAIR,
    ),
)  # fmt: skip
def build_smooth_l1_loss(
    f: Apply,
    x: Tensor,
    target: Tensor,
    size_average: Static = None,
    reduce: Static = None,
    reduction: Static = "mean",
    beta: Static = 1.0,
) -> Tensor:
    """half the square of a difference over beta below beta, the difference less beta/2 above"""
    same_shapes(x, target, "smooth_l1_loss")
    bend = number(beta, "beta")
    if bend < 0:
        raise GradcliError("value", f"smooth_l1_loss: beta cannot be negative, as {bend} is")
    if bend == 0:
        losses = f(ABS, f(SUB, x, target))
    else:
        losses = f(DIV, f(HUBER, f(DISTANCE, x, target), np.float64(bend)), np.float64(bend))
    return reduce_loss(f, losses, reduction, size_average, reduce)


@function(
    "kl_div", "functional", "neural", kinds="no no yes",
    facts=Facts(
        "y = mean(t*(log(t) - x))", ("dy/dx[i] = -t[i]/n", "dy/dt[i] = (log(t[i]) + 1 - x[i])/n"),
        "F.kl_div(x, t)", {"x": "-1.5,-0.5", "t": "0.25,0.75"},
    ),
)  # fmt: skip
def build_kl_div(
    f: Apply,
    x: Tensor,
    target: Tensor,
    size_average: Static = None,
    reduce: Static = None,
    reduction: Static = "mean",
    log_target: Static = False,
) -> Tensor:
    """target*(log(target) - x), x being log-probabilities; with log_target the target too"""
    broadcast("kl_div", x, target)
    if log_target:
        losses = f(MUL, f(EXP, target), f(SUB, target, x))
    else:
        losses = f(SUB, f(OPS["xlogy"], target, target), f(MUL, target, x))
    how = how_reduced(reduction, size_average, reduce)
    if how != "batchmean":
        return reduce_loss(f, losses, how)
    return f(DIV, total(f, losses), np.float64(x.shape[0])) if x.ndim else total(f, losses)


@function(
    "poisson_nll_loss", "functional", "neural", kinds="no no yes",
    facts=Facts(
        "y = mean(exp(x) - t*x)", ("dy/dx[i] = (exp(x[i]) - t[i])/n", "dy/dt[i] = -x[i]/n"),
        "F.poisson_nll_loss(x, t)", PAIR,
    ),
)  # fmt: skip
def build_poisson_nll_loss(
    f: Apply,
    x: Tensor,
    target: Tensor,
    log_input: Static = True,
    full: Static = False,
    size_average: Static = None,
    eps: Static = 1e-8,
    reduce: Static = None,
    reduction: Static = "mean",
) -> Tensor:
    """exp(x) - target*x, x being the log of the rate; without log_input x - target*log(x + eps)"""
    broadcast("poisson_nll_loss", x, target)
    if log_input:
        losses = f(SUB, f(EXP, x), f(MUL, target, x))
    else:
        losses = f(SUB, x, f(MUL, target, f(LOG, f(ADD, x, np.float64(number(eps, "eps"))))))
    if full:
        stirling = f(ADD, f(SUB, f(MUL, target, f(LOG, target)), target), half_log_circle(f, target))
        losses = f(ADD, losses, f(WHERE, f(AT_MOST, target, ONE), ZERO, stirling))
    return reduce_loss(f, losses, reduction, size_average, reduce)


def half_log_circle(f: Apply, x: Tensor) -> Tensor:
    """Return log(2πx)/2."""
    return f(MUL, HALF, f(LOG, f(MUL, np.float64(2 * math.pi), x)))


@function(
    "gaussian_nll_loss", "functional", "neural", kinds="no no yes",
    facts=Facts(
        "y = mean(log(s) + (x - t)**2/s)/2",
        (
            "dy/dx[i] = (x[i] - t[i])/s[i]/n", "dy/dt[i] = (t[i] - x[i])/s[i]/n",
            "dy/ds[i] = (1 - (x[i] - t[i])**2/s[i])/s[i]/2/n",
        ),
        "F.gaussian_nll_loss(x, t, s)", {**PAIR, "s": "0.5,2"},
    ),
)  # fmt: skip
def build_gaussian_nll_loss(
    f: Apply,
    x: Tensor,
    target: Tensor,
    var: Tensor,
    full: Static = False,
    eps: Static = 1e-6,
    reduction: Static = "mean",
) -> Tensor:
    """(log(var) + (x - target)**2/var)/2; a var below eps is eps, and its derivative is as if it were not"""
    broadcast("gaussian_nll_loss", x, target)
    if np.any(value_of(var) < 0):
        raise GradcliError("value", "gaussian_nll_loss: a variance cannot be negative")
    var, least = spread_like(f, x, var), np.float64(number(eps, "eps"))
    if np.any(value_of(var) < least):
        var = f(ADD, var, f(DETACH, f(CLAMP_MIN, f(SUB, least, var), ZERO)))
    losses = f(MUL, HALF, f(ADD, f(LOG, var), f(DIV, f(SQUARE, f(SUB, x, target)), var)))
    if full:
        losses = f(ADD, losses, np.float64(0.5 * math.log(2 * math.pi)))
    return reduce_loss(f, losses, reduction)


def spread_like(f: Apply, x: Tensor, var: Tensor) -> Tensor:
    """Return variances in a shape that broadcasts to that of x: one for each entry or row; raises ``shape``."""
    if not isinstance(value_of(var), np.ndarray) or var.shape == x.shape:
        return var
    if var.shape == x.shape[:-1]:
        return f(RESHAPE, var, shape=(*var.shape, 1))
    lengths = [own for own, other in zip(x.shape, var.shape, strict=False) if own != other]
    if var.ndim != x.ndim or sum(lengths) < 1 or any(n not in (1, m) for n, m in zip(var.shape, x.shape, strict=True)):
        raise GradcliError("shape", f"gaussian_nll_loss: input has shape {x.shape}, var has shape {var.shape}")
    return var


@function(
    "hinge_embedding_loss", "functional", "neural", kinds="no no yes",
    facts=Facts(
        "y = (x[0] + clip(1 - x[1], 0, 9))/2, here", ("dy/dx[i] = where(i == 0, 1, where(x[i] <= 1, -1, 0))/2, here",),
        "F.hinge_embedding_loss(x, [1, -1])", {"x": "0.5,0.25"},
    ),
)  # fmt: skip
def build_hinge_embedding_loss(
    f: Apply,
    x: Tensor,
    target: Tensor,
    margin: Static = 1.0,
    size_average: Static = None,
    reduce: Static = None,
    reduction: Static = "mean",
) -> Tensor:
    """x where the target is 1, max(margin - x, 0) where it is -1, both where it is neither"""
    broadcast("hinge_embedding_loss", x, target)
    gap = positive_part(f, f(SUB, np.float64(number(margin, "margin")), x))
    losses = f(ADD, unless(f, target, 1, gap), unless(f, target, -1, x))
    return reduce_loss(f, losses, reduction, size_average, reduce)


@function(
    "margin_ranking_loss", "functional", "neural", kinds="no no yes",
    facts=Facts(
        "y = mean(clip(-t*(a - b), 0, 9))",
        ("dy/da[i] = -t[i]*(t[i]*(a[i] - b[i]) <= 0)/n", "dy/db[i] = t[i]*(t[i]*(a[i] - b[i]) <= 0)/n"),
        "F.margin_ranking_loss(a, b, t)", {"a": "0.5,0.25", "b": "1.5,0.1", "t": "1,-1"},
    ),
)  # fmt: skip
def build_margin_ranking_loss(
    f: Apply,
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: Static = 0.0,
    size_average: Static = None,
    reduce: Static = None,
    reduction: Static = "mean",
) -> Tensor:
    """max(-target*(input1 - input2) + margin, 0)"""
    require_as_many_axes("margin_ranking_loss", input1, input2, target)
    broadcast("margin_ranking_loss", input1, input2, target)
    lead = f(ADD, f(MUL, f(NEG, target), f(SUB, input1, input2)), np.float64(number(margin, "margin")))
    return reduce_loss(f, positive_part(f, lead), reduction, size_average, reduce)


def distance(f: Apply, x: Tensor, other: Tensor, p: Static, eps: Static) -> Tensor:
    """Return the norm of x - other + eps along the last axis."""
    return build_norm(f, f(ADD, f(SUB, x, other), np.float64(number(eps, "eps"))), p, -1)


@function(
    "triplet_margin_loss", "functional", "neural", kinds="no no yes",
    facts=Facts(
        "y is the distance of a from b, less that of a from c, plus 1, where that is above 0",
        ("dy/da[i] = -2, here", "dy/db[i] = 1, here", "dy/dc[i] = 1, here"),
        "F.triplet_margin_loss(a, b, c, eps=0)", {"a": "1.5,", "b": "2.5,", "c": "0.5,"},
    ),
)  # fmt: skip
def build_triplet_margin_loss(
    f: Apply,
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: Static = 1.0,
    p: Static = 2.0,
    eps: Static = 1e-6,
    swap: Static = False,
    size_average: Static = None,
    reduce: Static = None,
    reduction: Static = "mean",
) -> Tensor:
    """max(d(anchor, positive) - d(anchor, negative) + margin, 0), d being a norm of the difference"""
    require_as_many_axes("triplet_margin_loss", anchor, positive, negative)
    if not anchor.ndim:
        raise GradcliError("shape", "triplet_margin_loss takes vectors or batches of them, not one number")
    if not number(margin, "margin") > 0:
        raise GradcliError("value", f"triplet_margin_loss: margin must be above 0, not {margin}")
    broadcast("triplet_margin_loss", anchor, positive, negative)
    near, far = distance(f, anchor, positive, p, eps), distance(f, anchor, negative, p, eps)
    if swap:
        far = f(MINIMUM, far, distance(f, positive, negative, p, eps))
    lead = f(SUB, f(ADD, np.float64(number(margin, "margin")), near), far)
    return reduce_loss(f, positive_part(f, lead), reduction, size_average, reduce)


@function(
    "soft_margin_loss", "functional", "neural", kinds="no no yes",
    facts=Facts(
        "y = (log(1 + exp(-x[0])) + log(1 + exp(x[1])))/2, here",
        ("dy/dx[i] = where(i == 0, -1/(1 + exp(x[0])), 1/(1 + exp(-x[1])))/2, here",),
        "F.soft_margin_loss(x, [1, -1])", {"x": "0.5,0.25"},
    ),
)  # fmt: skip
def build_soft_margin_loss(
    f: Apply,
    x: Tensor,
    target: Tensor,
    size_average: Static = None,
    reduce: Static = None,
    reduction: Static = "mean",
) -> Tensor:
    """log(1 + exp(-target*x)), targets being 1 and -1"""
    broadcast("soft_margin_loss", x, target)
    without_derivative(f, "soft_margin_loss", target=target)
    return reduce_loss(f, f(NEG, f(LOGSIGMOID, f(MUL, target, x))), reduction, size_average, reduce)
