"""Layers that normalise, dropout, and attention."""

from __future__ import annotations

import math

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import ADD, DIV, MUL, OF_TWO, SUB
from gradcli.ops.axes import number
from gradcli.ops.declare import OPS, Apply, value_of
from gradcli.ops.linear_algebra import EINSUM, MATMUL
from gradcli.ops.losses import as_numbers, without_derivative
from gradcli.ops.neural import SOFTMAX, require_last_axes, standardised, unit_beside
from gradcli.ops.piecewise import WHERE
from gradcli.ops.reductions import MEAN
from gradcli.ops.shaping import RESHAPE, transpose_matrices
from gradcli.ops.signatures import Array, Mask, Raw, Static, Tensor
from gradcli.ops.vocabulary import function

SQRT, SQUARE, POW = OPS["sqrt"], OPS["square"], OF_TWO["pow"]


def scaled(f: Apply, x: Tensor, weight: Tensor | None, bias: Tensor | None, name: str) -> Tensor:
    """Return x times a weight plus a bias for each channel on axis 1."""
    for what, given, op in (("weight", weight, MUL), ("bias", bias, ADD)):
        if given is None:
            continue
        x = f(op, x, channelwise(f, x, given, name, what))
    return x


def channelwise(f: Apply, x: Tensor, given: Tensor, name: str, what: str) -> Tensor:
    """Return one number for each channel with axes that broadcast along x; raises ``shape``."""
    if given.shape != (x.shape[1],):
        raise GradcliError(
            "shape", f"{name}: {what} has shape {given.shape}, x of shape {x.shape} {x.shape[1]} channels"
        )
    return f(RESHAPE, given, shape=(-1, *(1,) * (x.ndim - 2)))


def by_statistics(f: Apply, x: Tensor, mean: Tensor | None, var: Tensor | None, eps: Static, name: str) -> Tensor:
    """Return (x - mean)/sqrt(var + eps) for a mean and a variance that are given for each channel."""
    if mean is None or var is None:
        raise GradcliError("value", f"{name} needs running_mean and running_var, or training=True")
    without_derivative(f, name, running_mean=mean, running_var=var)
    middle, spread = (channelwise(f, x, given, name, "a running statistic") for given in (mean, var))
    return f(DIV, f(SUB, x, middle), f(SQRT, f(ADD, spread, np.float64(number(eps, "eps")))))


@function("batch_norm", "functional", "neural", kinds="no no no")
def build_batch_norm(
    f: Apply,
    x: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: Static = False,
    momentum: Static = 0.1,
    eps: Static = 1e-5,
) -> Tensor:
    """(x - mean)/sqrt(var + eps) for each channel: of the batch in training, else of the running statistics"""
    del momentum  # it moves the running statistics, which this value does not show
    if x.ndim < 2:
        raise GradcliError("shape", f"batch_norm takes a batch with channels on axis 1, not shape {x.shape}")
    if not training:
        return scaled(f, by_statistics(f, x, running_mean, running_var, eps, "batch_norm"), weight, bias, "batch_norm")
    axes = (0, *range(2, x.ndim))
    if math.prod(x.shape[axis] for axis in axes) < 2:
        raise GradcliError("shape", f"batch_norm needs two numbers or more for each channel, not shape {x.shape}")
    without_derivative(f, "batch_norm", running_mean=running_mean, running_var=running_var)
    return scaled(f, standardised(f, x, axes, eps), weight, bias, "batch_norm")


@function("instance_norm", "functional", "neural", kinds="no no no")
def build_instance_norm(
    f: Apply,
    x: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: Static = True,
    momentum: Static = 0.1,
    eps: Static = 1e-5,
) -> Tensor:
    """(x - mean)/sqrt(var + eps) for each channel of each of the batch"""
    del momentum
    if x.ndim < 3:
        raise GradcliError("shape", f"instance_norm takes a batch of channels with axes of their own, not {x.shape}")
    if not use_input_stats:
        middle = by_statistics(f, x, running_mean, running_var, eps, "instance_norm")
        return scaled(f, middle, weight, bias, "instance_norm")
    axes = tuple(range(2, x.ndim))
    if math.prod(x.shape[axis] for axis in axes) < 2:
        raise GradcliError("shape", f"instance_norm needs two numbers or more for each channel, not shape {x.shape}")
    return scaled(f, standardised(f, x, axes, eps), weight, bias, "instance_norm")


@function("group_norm", "torch functional", "neural", kinds="no no no")
def build_group_norm(
    f: Apply,
    x: Tensor,
    num_groups: Static,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: Static = 1e-5,
) -> Tensor:
    """(x - mean)/sqrt(var + eps) for each group of channels of each of the batch"""
    if x.ndim < 2 or type(num_groups) is not int or num_groups < 1 or x.shape[1] % num_groups:
        raise GradcliError("shape", f"group_norm: {num_groups} groups do not divide the channels of shape {x.shape}")
    groups = f(RESHAPE, x, shape=(x.shape[0], num_groups, x.shape[1] // num_groups * math.prod(x.shape[2:])))
    found = f(RESHAPE, standardised(f, groups, (2,), eps), shape=x.shape)
    return scaled(f, found, weight, bias, "group_norm")


@function("rms_norm", "torch functional", "neural", kinds="no no no")
def build_rms_norm(
    f: Apply, x: Tensor, normalized_shape: Static, weight: Tensor | None = None, eps: Static = None
) -> Tensor:
    """x/sqrt(mean(x**2) + eps) over the last axes, times weight; eps is 2**-52 unless given"""
    axes = require_last_axes(x, normalized_shape, "rms_norm")
    least: Array | np.float64 = np.float64(np.finfo(np.float64).eps if eps is None else number(eps, "eps"))
    squares = f(MEAN, f(SQUARE, x), dim=axes, keepdim=True)
    unit = unit_beside(least, value_of(x), value_of(squares), axes)
    if unit is not None:
        x, least = f(DIV, x, unit), least / unit / unit
        squares = f(MEAN, f(SQUARE, x), dim=axes, keepdim=True)
    result = f(DIV, x, f(SQRT, f(ADD, squares, least)))
    return result if weight is None else f(MUL, result, weight)


@function(
    "dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout",
    "torch functional shares",
    "neural",
    kinds="no no yes",
)
def build_dropout(f: Apply, x: Tensor, p: Static = 0.5, training: Static = True) -> Tensor:
    """x itself: with training=True and p above 0 PyTorch draws entries at random, which is refused here"""
    del f
    share = number(p, "p")
    if not 0 <= share <= 1:
        raise GradcliError("value", f"dropout: p is a probability from 0 to 1, not {share}")
    if training and share:
        raise GradcliError(
            "value",
            "dropout with training=True draws entries at random",
            hint="write training=False, or multiply by a mask of your own over 1 - p",
        )
    return x


@function("scaled_dot_product_attention", "functional", "neural", kinds="no no no")
def build_attention(
    f: Apply,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Raw = None,
    dropout_p: Static = 0.0,
    is_causal: Static = False,
    scale: Static = None,
    enable_gqa: Static = False,
) -> Tensor:
    """softmax(query @ key.T*scale + mask) @ value; a mask of truth values leaves out what is False"""
    name = "scaled_dot_product_attention"
    if min(query.ndim, key.ndim, value.ndim) < 2:
        raise GradcliError("shape", f"{name} takes matrices, not shapes {query.shape}, {key.shape}, {value.shape}")
    if number(dropout_p, "dropout_p") or enable_gqa:
        what = "dropout_p above 0 draws at random" if dropout_p else "enable_gqa is not supported"
        raise GradcliError("value", f"{name}: {what}", hint="leave it out")
    if is_causal and attn_mask is not None:
        raise GradcliError("value", f"{name} takes a mask or is_causal=True, not both")
    if query.shape[-1] != key.shape[-1] or key.shape[-2] != value.shape[-2]:
        raise GradcliError("shape", f"{name}: shapes {query.shape}, {key.shape}, {value.shape} do not fit")
    by = 1 / math.sqrt(query.shape[-1]) if scale is None else number(scale, "scale")
    scores = f(MUL, f(MATMUL, query, transpose_matrices(f, key)), np.float64(by))
    allowed = causal(scores) if is_causal else None
    if attn_mask is not None:
        raw = value_of(attn_mask)
        allowed = np.asarray(raw) if np.asarray(raw).dtype == np.bool_ else None
        scores = scores if allowed is not None else f(ADD, scores, attn_mask)
    return f(MATMUL, allowed_softmax(f, scores, allowed), value)


def causal(scores: Tensor) -> Mask:
    """Return which keys each query may see: those that are not after it."""
    return np.tri(*scores.shape[-2:], dtype=np.bool_)


def allowed_softmax(f: Apply, scores: Tensor, allowed: Mask | None) -> Tensor:
    """Return softmax along the last axis among what is allowed, and 0 for a row of which nothing is."""
    last = scores.ndim - 1
    if allowed is None:
        return f(SOFTMAX, scores, dim=last)
    some = np.any(allowed, axis=-1, keepdims=True)
    open_rows = f(WHERE, as_numbers(allowed | ~some), scores, np.float64(-np.inf))
    found = f(SOFTMAX, open_rows, dim=last)
    return found if np.all(some) else f(WHERE, as_numbers(some), found, np.float64(0))


@function("bilinear", "torch functional", "neural", kinds="no no no")
def build_bilinear(f: Apply, input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """sum of input1[i]*weight[k, i, j]*input2[j] over i and j, plus bias"""
    fits = weight.ndim == 3 and input1.shape[-1:] == weight.shape[1:2] and input2.shape[-1:] == weight.shape[2:]
    if not fits or input1.shape[:-1] != input2.shape[:-1]:
        shapes = f"{input1.shape}, {input2.shape} and {weight.shape}"
        raise GradcliError("shape", f"bilinear: shapes {shapes} do not fit")
    batch = input1.shape[:-1]
    left, right = (f(RESHAPE, x, shape=(-1, x.shape[-1])) for x in (input1, input2))
    found = f(EINSUM, left, weight, right, spec="ni,kij,nj->nk")
    found = f(RESHAPE, found, shape=(*batch, weight.shape[0]))
    return found if bias is None else f(ADD, found, bias)
