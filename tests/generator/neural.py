"""Losses by margins, layers that normalise, convolution and pooling on arrays of duals, each by its definition."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

from generator import functions as f
from generator.arrays import Array, array, numbers, product
from generator.duals import dual
from generator.layers import reduce_loss, standardized


def loss(rule):
    """Return a loss from a rule for the losses of all entries; ``reduction`` is the option that all have."""
    return lambda *given, reduction="mean", **options: reduce_loss(rule(*map(array, given), **options), reduction)


def positive(x):
    """Return what of x is above 0."""
    return f.signed(lambda x: x, lambda x: x * 0.0)(x)


def smooth_l1(x, t, beta=1.0):
    """Return the smooth absolute difference."""
    size = f.absolute(x - t)
    return f.where(size < beta, (x - t) ** 2 / (2 * beta), size - beta / 2)


def kl_div(x, target, log_target=False, reduction="mean"):
    """Return target·(log target - x), summed over a batch where that is asked for."""
    x, target = array(x), array(target)
    losses = f.exp(target) * (target - x) if log_target else target * (f.log(target) - x)
    return f.sum_(losses) / x.shape[0] if reduction == "batchmean" else reduce_loss(losses, reduction)


def poisson(x, t, log_input=True, full=False, eps=1e-8):
    """Return the negative log-likelihood of counts by rates."""
    losses = f.exp(x) - t * x if log_input else x - t * f.log(x + eps)
    if not full:
        return losses
    return losses + f.where(t <= 1, t * 0.0, t * f.log(t) - t + f.log(t * (f.pi() * 2)) / 2)


def gaussian(x, t, var, full=False):
    """Return the negative log-likelihood of numbers by a mean and a variance, which is above eps here."""
    var = var if var.shape == x.shape or not var.shape or var.shape[-1] == 1 else var[..., None]
    losses = (f.log(var) + (x - t) ** 2 / var) / 2
    return losses + f.log(array(f.pi() * 2)) / 2 if full else losses


def hinge(x, t, margin=1.0):
    """Return x at a target of 1, what of margin - x is above 0 at -1."""
    return f.where(t > 0, x, positive(margin - x))


def ranking(a, b, t, margin=0.0):
    """Return what of margin - t·(a - b) is above 0."""
    return positive(-t * (a - b) + margin)


def triplet(a, b, c, margin=1.0, p=2, eps=1e-6, swap=False):
    """Return what of d(a, b) - d(a, c) + margin is above 0."""
    near, far = f.norm(a - b + eps, p, -1), f.norm(a - c + eps, p, -1)
    far = f.smaller(far, f.norm(b - c + eps, p, -1)) if swap else far
    return positive(near - far + margin)


def cosine(a, b, t, margin=0.0):
    """Return 1 - cos at a target of 1, what of cos - margin is above 0 at -1."""
    sizes = (f.sum_(a * a, -1) + 1e-12) * (f.sum_(b * b, -1) + 1e-12)
    found = f.sum_(a * b, -1) / f.sqrt(sizes)
    return f.where(t > 0, 1 - found, positive(found - margin))


def multi_margin(x, target, p=1, margin=1.0, weight=None):
    """Return for each row Σ max(margin - own + other, 0)^p over the other classes, over the number of classes."""
    rows = numbers(x) if x.ndim > 1 else numbers(x)[None]
    classes = [int(c.value) for c in numbers(target).ravel()]
    found = []
    for row, own in zip(rows, classes, strict=True):
        gaps = [magnitude(margin - row[own] + other) ** p for k, other in enumerate(row) if k != own]
        share = 1 if weight is None else numbers(weight)[own]
        found.append(f.total(gaps) * share / len(row))
    return array(found) if x.ndim > 1 else array(found[0])


def magnitude(x):
    """Return what of a dual is above 0."""
    return x if x > 0 else x * 0.0


def multilabel_margin(x, target):
    """Return for each row Σ max(1 - label + other, 0) over labels and other classes, over the number of classes."""
    rows = numbers(x) if x.ndim > 1 else numbers(x)[None]
    found = []
    for row, given in zip(rows, numbers(target).reshape(len(rows), -1), strict=True):
        labels = list(itertools.takewhile(lambda c: c >= 0, (int(c.value) for c in given)))
        gaps = [magnitude(1 - row[j] + row[k]) for j in labels for k in range(len(row)) if k not in labels]
        found.append(f.total(gaps) / len(row) if gaps else dual(0.0))
    return array(found) if x.ndim > 1 else array(found[0])


def multilabel_soft_margin(x, t, weight=None):
    """Return the mean over the labels of the binary cross entropy of scores."""
    losses = -t * f.log(f.sigmoid(x)) - (1 - t) * f.log(f.sigmoid(-x))
    return f.mean(losses if weight is None else losses * weight, -1)


def along_channels(x, given):
    """Return one number for each channel in a shape that broadcasts along x."""
    return array(given).reshape(-1, *(1,) * (x.ndim - 2))


def finished(found, weight, bias):
    """Return an array times weight plus bias for each channel."""
    found = found if weight is None else found * along_channels(found, weight)
    return found if bias is None else found + along_channels(found, bias)


def batch_norm(x, mean, var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):  # noqa: ARG001
    """Return (x - mean)/sqrt(var + eps) for each channel."""
    x = array(x)
    if training:
        return finished(standardized(x, (0, *range(2, x.ndim)), eps), weight, bias)
    return finished((x - along_channels(x, mean)) / f.sqrt(along_channels(x, var) + eps), weight, bias)


def instance_norm(x, mean=None, var=None, weight=None, bias=None, eps=1e-5):  # noqa: ARG001
    """Return (x - mean)/sqrt(var + eps) for each channel of each of the batch."""
    return finished(standardized(array(x), tuple(range(2, array(x).ndim)), eps), weight, bias)


def group_norm(x, groups, weight=None, bias=None, eps=1e-5):
    """Return (x - mean)/sqrt(var + eps) for each group of channels."""
    x = array(x)
    parts = x.reshape(x.shape[0], groups, -1)
    return finished(standardized(parts, 2, eps).reshape(*x.shape), weight, bias)


def rms_norm(x, shape, weight=None, eps=None):
    """Return x/sqrt(mean(x²) + eps) over the last axes."""
    x = array(x)
    axes = tuple(range(-len(shape) if isinstance(shape, list | tuple) else -1, 0))
    found = x / f.sqrt(f.mean(x * x, axes, keepdim=True) + (2.0**-52 if eps is None else eps))
    return found if weight is None else found * weight


def attention(q, k, v, attn_mask=None, is_causal=False, scale=None):
    """Return softmax(q·kᵀ·scale + mask)·v."""
    q, k, v = array(q), array(k), array(v)
    scores = product(q, k.mT) * (1 / f.sqrt(dual(q.shape[-1])) if scale is None else scale)
    allowed = np.ones(scores.shape, dtype=bool)
    if is_causal:
        allowed = np.broadcast_to(np.tri(*scores.shape[-2:], dtype=bool), scores.shape)
    elif attn_mask is not None and array(attn_mask).data.dtype == bool:
        allowed = np.broadcast_to(array(attn_mask).data, scores.shape)
    elif attn_mask is not None:
        scores = scores + attn_mask
    raised = f.exp(scores) * allowed.astype(float)
    return product(raised / f.sum_(raised, -1, keepdim=True), v)


def bilinear(x, z, weight, bias=None):
    """Return Σ x[i]·weight[k, i, j]·z[j]."""
    found = array(np.einsum("...i,kij,...j->...k", numbers(x), numbers(weight), numbers(z)))
    return found if bias is None else found + bias


def each(value, count):
    """Return an option as one number for each axis."""
    return tuple(value) if isinstance(value, list | tuple) else (value,) * count


def outputs(shape, entry):
    """Return the array of duals with an entry for each place."""
    found = np.empty(shape, dtype=object)
    for place in np.ndindex(*shape):
        found[place] = entry(place)
    return Array(found)


def sides(padding, kernel, gaps):
    """Return the padding before each axis, and that of both sides together."""
    if padding == "same":
        both = [gap * (length - 1) for length, gap in zip(kernel, gaps, strict=True)]
        return [total // 2 for total in both], both
    before = each(0 if padding == "valid" else padding, len(kernel))
    return before, [2 * side for side in before]


def conv(axes):
    """Return the convolution along so many axes."""

    def apply(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        x, w = numbers(x), numbers(weight)
        if x.ndim == axes + 1:
            found = apply(x[None], weight, bias, stride, padding, dilation, groups)
            return Array(found.data[0])
        steps, gaps, kernel = each(stride, axes), each(dilation, axes), w.shape[2:]
        before, both = sides(padding, kernel, gaps)
        lengths = [
            (n + pad - gap * (k - 1) - 1) // step + 1
            for n, pad, gap, k, step in zip(x.shape[2:], both, gaps, kernel, steps, strict=True)
        ]
        share, own = w.shape[0] // groups, w.shape[1]

        def entry(place):
            n, o, *at = place
            terms = [dual(0.0)]
            for inner in np.ndindex(*kernel):
                source = tuple(
                    i * step - pad + gap * k
                    for i, step, pad, gap, k in zip(at, steps, before, gaps, inner, strict=True)
                )
                if all(0 <= i < length for i, length in zip(source, x.shape[2:], strict=True)):
                    terms += [x[n, o // share * own + c, *source] * w[o, c, *inner] for c in range(own)]
            return f.total(terms)

        found = outputs((x.shape[0], w.shape[0], *lengths), entry)
        return found if bias is None else found + along_channels(found, bias)

    return apply


def conv_transpose(axes):
    """Return the transposed convolution: each entry of x adds a kernel to the output."""

    def apply(x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        x, w = numbers(x), numbers(weight)
        if x.ndim == axes + 1:
            return Array(apply(x[None], weight, bias, stride, padding, output_padding, groups, dilation).data[0])
        steps, gaps, pads, more = (each(value, axes) for value in (stride, dilation, padding, output_padding))
        lengths = [
            (n - 1) * step - 2 * pad + gap * (k - 1) + extra + 1
            for n, step, pad, gap, k, extra in zip(x.shape[2:], steps, pads, gaps, w.shape[2:], more, strict=True)
        ]
        share = x.shape[1] // groups
        found = outputs((x.shape[0], w.shape[1] * groups, *lengths), lambda place: dual(0.0))
        for n, c, *at in np.ndindex(*x.shape):
            for o, *inner in np.ndindex(*w.shape[1:]):
                place = tuple(i * s + k * g - p for i, s, k, g, p in zip(at, steps, inner, gaps, pads, strict=True))
                if all(0 <= i < length for i, length in zip(place, lengths, strict=True)):
                    target = (n, c // share * w.shape[1] + o, *place)
                    found.data[target] = found.data[target] + x[n, c, *at] * w[c, o, *inner]
        return found if bias is None else found + along_channels(found, bias)

    return apply


def spans(length, kernel, stride, padding, dilation, ceil_mode):
    """Return for each window along an axis the places that are inside, and its length with the padding."""
    room = Fraction(length + 2 * padding - dilation * (kernel - 1) - 1, stride)
    count = (math.ceil(room) if ceil_mode else math.floor(room)) + 1
    count -= ceil_mode and (count - 1) * stride >= length + padding
    starts = [k * stride - padding for k in range(count)]
    return [
        (
            [s + dilation * i for i in range(kernel) if 0 <= s + dilation * i < length],
            min(s + kernel, length + padding) - s,
        )
        for s in starts
    ]


def pool(axes, rule):
    """Return a pooling along the last axes from a rule for the entries of a window and its length with the padding."""

    def apply(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, **options):
        kernel = each(kernel_size, axes)
        steps = each(kernel if stride is None else stride, axes)
        lengths = array(x).shape[-axes:]
        found = [
            spans(*one, bool(ceil_mode))
            for one in zip(lengths, kernel, steps, each(padding, axes), each(dilation, axes), strict=True)
        ]
        return pooled(x, found, lambda row, size: rule(row, size, **options))

    return apply


def pooled(x, along, rule):
    """Return what a rule makes of the windows along the last axes, which are lists of places and a length."""
    x, axes = numbers(x), len(along)

    def entry(place):
        lead, at = place[:-axes], place[-axes:]
        chosen = [spans[i] for spans, i in zip(along, at, strict=True)]
        row = [x[(*lead, *inner)] for inner in itertools.product(*(places for places, _ in chosen))]
        return rule(row, math.prod(size for _, size in chosen))

    return outputs((*x.shape[:-axes], *map(len, along)), entry)


def adaptive(axes, rule):
    """Return a pooling into as many windows as are asked for."""

    def apply(x, output_size):
        lengths = array(x).shape[-axes:]
        wanted = [n if c is None else c for n, c in zip(lengths, each(output_size, axes), strict=True)]
        along = [
            [(list(range(i * n // c, -(-(i + 1) * n // c))), 1) for i in range(c)]
            for n, c in zip(lengths, wanted, strict=True)
        ]
        return pooled(x, along, lambda row, _size: rule(row))

    return apply


def mean_of(row, size, count_include_pad=True, divisor_override=None):
    """Return the sum of a window over its length, with the padding or without."""
    return f.total(row) / (divisor_override or (size if count_include_pad else len(row)))


def norm_of(axes):
    """Return the pooling by norms."""

    def apply(x, norm_type, kernel_size, stride=None, ceil_mode=False):
        size = math.prod(each(kernel_size, axes))
        rule = lambda row, _size: (f.total([x**norm_type for x in row]) * size / len(row)) ** (1 / norm_type)  # noqa: E731
        return pool(axes, rule)(x, kernel_size, stride, ceil_mode=ceil_mode)

    return apply


def local_response_norm(x, size, alpha=1e-4, beta=0.75, k=1.0):
    """Return x/(k + alpha·mean(x²))^beta, the mean over the neighbouring channels."""
    x = numbers(x)

    def entry(place):
        n, c, *at = place
        near = range(max(c - size // 2, 0), min(c + (size - 1) // 2 + 1, x.shape[1]))
        mean = f.total([x[n, j, *at] ** 2 for j in near]) / size
        return x[place] / (mean * alpha + k) ** beta

    return outputs(x.shape, entry)


def interpolate(x, size=None, scale_factor=None, mode="nearest", align_corners=False):
    """Return the array with other lengths: by the nearest entry, or by straight lines."""
    x = numbers(x)
    lengths = [n * scale_factor for n in x.shape[2:]] if size is None else each(size, x.ndim - 2)
    for axis, count in enumerate(lengths, start=2):
        x = np.moveaxis(stretched(np.moveaxis(x, axis, 0), int(count), mode, align_corners), 0, axis)
    return Array(x)


def stretched(x, count, mode, align_corners):
    """Return an array with so many entries along its first axis."""
    if mode == "nearest":
        return x[[i * len(x) // count for i in range(count)]]
    found = []
    for i in range(count):
        corners = Fraction(i * (len(x) - 1), max(count - 1, 1))
        source = (
            corners if align_corners else max(Fraction((2 * i + 1) * len(x), 2 * count) - Fraction(1, 2), Fraction(0))
        )
        low = min(int(source), len(x) - 1)
        share = dual((source - low).numerator) / (source - low).denominator
        found.append(x[low] * (1 - share) + x[min(low + 1, len(x) - 1)] * share)
    return np.stack(found)


def pixel_shuffle(x, upscale_factor):
    """Return r·r channels spread over squares of pixels."""
    x, r = numbers(x), upscale_factor
    *lead, channels, height, width = x.shape
    shape = (*lead, channels // (r * r), height * r, width * r)
    return outputs(shape, lambda p: x[(*p[:-3], (p[-3] * r + p[-2] % r) * r + p[-1] % r, p[-2] // r, p[-1] // r)])


def pixel_unshuffle(x, downscale_factor):
    """Return squares of pixels gathered into channels."""
    x, r = numbers(x), downscale_factor
    *lead, channels, height, width = x.shape
    shape = (*lead, channels * r * r, height // r, width // r)

    def entry(p):
        channel, at = divmod(p[-3], r * r)
        return x[(*p[:-3], channel, p[-2] * r + at // r, p[-1] * r + at % r)]

    return outputs(shape, entry)


def channel_shuffle(x, groups):
    """Return the channels, one of each group after the other."""
    x = numbers(x)
    share = x.shape[1] // groups
    return Array(x[:, [k % groups * share + k // groups for k in range(x.shape[1])]])
