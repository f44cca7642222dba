"""Layers that normalise, dropout, and attention."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.losses import as_numbers, without_derivative
from gradcli.ops.neural import SOFTMAX, require_last_axes, standardised, unit_beside
from gradcli.ops.signatures import Array, Mask, Raw, Static
from gradcli.ops.values import Value, einsum, require, sqrt, square, where
from gradcli.ops.vocabulary import function

layer = partial(function, family="neural", kinds="no no no")


def scaled(x: Value, weight: Value | None, bias: Value | None, name: str) -> Value:
    """Return x times a weight plus a bias for each channel on axis 1."""
    x = x if weight is None else x * channelwise(x, weight, name, "weight")
    return x if bias is None else x + channelwise(x, bias, name, "bias")


def channelwise(x: Value, given: Value, name: str, what: str) -> Value:
    """Return one number for each channel with axes that broadcast along x; raises ``shape``."""
    said = f"{name}: {what} has shape {given.shape}, x of shape {x.shape} {x.shape[1]} channels"
    require(given.shape == (x.shape[1],), "shape", said)
    return given.reshape(-1, *(1,) * (x.ndim - 2))


def by_statistics(x: Value, mean: Value | None, var: Value | None, eps: float, name: str) -> Value:
    """Return (x - mean)/sqrt(var + eps) for a mean and a variance that are given for each channel."""
    if mean is None or var is None:
        raise GradcliError("value", f"{name} needs running_mean and running_var, or training=True")
    without_derivative(name, running_mean=mean, running_var=var)
    middle, spread = (channelwise(x, given, name, "a running statistic") for given in (mean, var))
    return (x - middle) / sqrt(spread + eps)


def require_numbers(x: Value, axes: tuple[int, ...], name: str) -> None:
    """Refuse to normalise single numbers."""
    several = math.prod(x.shape[axis] for axis in axes) > 1
    require(several, "shape", f"{name} needs two numbers or more for each channel, not shape {x.shape}")


@layer("batch_norm", "functional")
def batch_norm(
    x: Value, running_mean: Value | None, running_var: Value | None, weight: Value | None = None,
    bias: Value | None = None, training: bool = False, momentum: Static = 0.1, eps: float = 1e-5,
) -> Value:  # fmt: skip
    """(x - mean)/sqrt(var + eps) for each channel: of the batch in training, else of the running statistics"""
    del momentum  # it moves the running statistics, which this value does not show
    require(x.ndim > 1, "shape", f"batch_norm takes a batch with channels on axis 1, not shape {x.shape}")
    if not training:
        return scaled(by_statistics(x, running_mean, running_var, eps, "batch_norm"), weight, bias, "batch_norm")
    axes = (0, *range(2, x.ndim))
    require_numbers(x, axes, "batch_norm")
    without_derivative("batch_norm", running_mean=running_mean, running_var=running_var)
    return scaled(standardised(x, axes, eps), weight, bias, "batch_norm")


@layer("instance_norm", "functional")
def instance_norm(
    x: Value, running_mean: Value | None = None, running_var: Value | None = None, weight: Value | None = None,
    bias: Value | None = None, use_input_stats: bool = True, momentum: Static = 0.1, eps: float = 1e-5,
) -> Value:  # fmt: skip
    """(x - mean)/sqrt(var + eps) for each channel of each of the batch"""
    del momentum
    require(x.ndim > 2, "shape", f"instance_norm takes a batch of channels with axes of their own, not {x.shape}")
    if not use_input_stats:
        middle = by_statistics(x, running_mean, running_var, eps, "instance_norm")
        return scaled(middle, weight, bias, "instance_norm")
    axes = tuple(range(2, x.ndim))
    require_numbers(x, axes, "instance_norm")
    return scaled(standardised(x, axes, eps), weight, bias, "instance_norm")


@layer("group_norm", "torch functional")
def group_norm(
    x: Value, num_groups: Static, weight: Value | None = None, bias: Value | None = None, eps: float = 1e-5
) -> Value:
    """(x - mean)/sqrt(var + eps) for each group of channels of each of the batch"""
    if x.ndim < 2 or type(num_groups) is not int or num_groups < 1 or x.shape[1] % num_groups:
        said = f"group_norm: {num_groups} groups do not divide the channels of shape {x.shape}"
        raise GradcliError("shape", said)
    groups = x.reshape(x.shape[0], num_groups, x.shape[1] // num_groups * math.prod(x.shape[2:]))
    return scaled(standardised(groups, (2,), eps).reshape(*x.shape), weight, bias, "group_norm")


@layer("rms_norm", "torch functional")
def rms_norm(x: Value, normalized_shape: Static, weight: Value | None = None, eps: float | None = None) -> Value:
    """x/sqrt(mean(x**2) + eps) over the last axes, times weight; eps is 2**-52 unless given"""
    axes = require_last_axes(x, normalized_shape, "rms_norm")
    least: Array | np.float64 = np.float64(np.finfo(np.float64).eps if eps is None else eps)
    squares = square(x).mean(*axes, keepdim=True)
    unit = unit_beside(least, x.raw, squares.raw, axes)
    if unit is not None:
        x, least = x / unit, least / unit / unit
        squares = square(x).mean(*axes, keepdim=True)
    result = x / sqrt(squares + least)
    return result if weight is None else result * weight


@function(
    "dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout", "torch functional shares", "neural",
    kinds="no no yes",
)  # fmt: skip
def dropout(x: Value, p: float = 0.5, training: bool = True) -> Value:
    """x itself: with training=True and p above 0 PyTorch draws entries at random, which is refused here"""
    require(0 <= p <= 1, "value", f"dropout: p is a probability from 0 to 1, not {p}")
    hint = "write training=False, or multiply by a mask of your own over 1 - p"
    require(not (training and p), "value", "dropout with training=True draws entries at random", hint)
    return x


@layer("scaled_dot_product_attention", "functional")
def attention(
    query: Value, key: Value, value: Value, attn_mask: Raw = None, dropout_p: float = 0.0, is_causal: bool = False,
    scale: float | None = None, enable_gqa: bool = False,
) -> Value:  # fmt: skip
    """softmax(query @ key.T*scale + mask) @ value; a mask of truth values leaves out what is False"""
    name, shapes = "scaled_dot_product_attention", f"{query.shape}, {key.shape}, {value.shape}"
    matrices = min(query.ndim, key.ndim, value.ndim) > 1
    require(matrices, "shape", f"{name} takes matrices, not shapes {shapes}")
    what = "dropout_p above 0 draws at random" if dropout_p else "enable_gqa is not supported"
    require(not (dropout_p or enable_gqa), "value", f"{name}: {what}", hint="leave it out")
    one = not is_causal or attn_mask is None
    require(one, "value", f"{name} takes a mask or is_causal=True, not both")
    fits = query.shape[-1] == key.shape[-1] and key.shape[-2] == value.shape[-2]
    require(fits, "shape", f"{name}: shapes {shapes} do not fit")
    scores = query @ key.mT * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    allowed = np.tri(*scores.shape[-2:], dtype=np.bool_) if is_causal else None
    if attn_mask is not None:
        mask = np.asarray(getattr(attn_mask, "value", attn_mask))
        allowed = mask if mask.dtype == np.bool_ else None
        scores = scores if allowed is not None else scores + Value(scores.f, attn_mask)
    return allowed_softmax(scores, allowed) @ value


def allowed_softmax(scores: Value, allowed: Mask | None) -> Value:
    """Return softmax along the last axis among what is allowed, and 0 for a row of which nothing is."""
    last = scores.ndim - 1
    if allowed is None:
        return scores.of(SOFTMAX, dim=last)
    some = np.any(allowed, axis=-1, keepdims=True)
    found = where(as_numbers(allowed | ~some), scores, -math.inf).of(SOFTMAX, dim=last)
    return found if np.all(some) else where(as_numbers(some), found, 0)


@layer("bilinear", "torch functional")
def bilinear(input1: Value, input2: Value, weight: Value, bias: Value | None = None) -> Value:
    """sum of input1[i]*weight[k, i, j]*input2[j] over i and j, plus bias"""
    batch = input1.shape[:-1]
    fits = weight.ndim == 3 and input1.shape[-1:] == weight.shape[1:2] and input2.shape[-1:] == weight.shape[2:]
    shapes = f"{input1.shape}, {input2.shape} and {weight.shape}"
    require(fits and batch == input2.shape[:-1], "shape", f"bilinear: shapes {shapes} do not fit")
    left, right = (x.reshape(-1, x.shape[-1]) for x in (input1, input2))
    found = einsum("ni,kij,nj->nk", left, weight, right).reshape(*batch, weight.shape[0])
    return found if bias is None else found + bias
