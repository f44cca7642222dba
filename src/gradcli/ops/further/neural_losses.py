"""Losses that few programs call, composed as PyTorch composes them, so that kinks and edges are PyTorch's."""

from __future__ import annotations

import math

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import ADD, DIV, MINIMUM, MUL, NEG, SUB
from gradcli.ops.axes import number, require_as_many_axes
from gradcli.ops.declare import OPERATORS, OPS, Apply, value_of
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


@function("smooth_l1_loss", "functional", "neural", kinds="no no target")
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


@function("kl_div", "functional", "neural", kinds="no no yes")
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


@function("poisson_nll_loss", "functional", "neural", kinds="no no yes")
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


@function("gaussian_nll_loss", "functional", "neural", kinds="no no yes")
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


@function("hinge_embedding_loss", "functional", "neural", kinds="no no yes")
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


@function("margin_ranking_loss", "functional", "neural", kinds="no no yes")
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


@function("triplet_margin_loss", "functional", "neural", kinds="no no yes")
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


@function("soft_margin_loss", "functional", "neural", kinds="no no yes")
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
