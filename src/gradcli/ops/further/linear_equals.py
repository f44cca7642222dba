"""Eigenvalues and singular values that are equal, and what a decomposition leaves open there.

Which vectors equal values have is the choice of a processor's LAPACK. No answer depends on it: equal values share the
slope of their mean, which has a derivative, and vectors that may be rotated have none.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.declare import Apply, Op, declare, value_of
from gradcli.ops.dispatch import RULES, in_one_step, rule_for
from gradcli.ops.further import linear_decimals as decimals
from gradcli.ops.links import Links
from gradcli.ops.parts import Kink, Piecewise, Said
from gradcli.ops.signatures import Array, Indices, Mask, Options, Tensor
from gradcli.ops.tracing import asked

NEAR = 32 * 2.0**-52
"""Eigenvalues that differ by less than this part of the largest one are one."""


def is_beyond(parts: Array, size: Array, share: float) -> Mask:
    """Return which parts are more than this share of a size; of exact numbers, more than their last digits."""
    if not decimals.is_exact(parts):
        return parts > share * size
    size = size * decimals.GUARD
    return np.asarray(size + parts != size, dtype=bool)


@in_one_step
def groups_of(values: Array, least: float = -1.0) -> Indices:
    """Return for each of some sorted values the number of its group of equal ones.

    That is -1 for values up to the ``least`` share of the largest, which are 0; for none where this is negative.
    """
    size = np.max(abs(values), axis=-1, keepdims=True) if values.shape[-1] else values
    apart = is_beyond(abs(values[..., 1:] - values[..., :-1]), size, NEAR)
    numbers = np.zeros(values.shape, dtype=np.intp)
    numbers[..., 1:] = np.cumsum(apart, axis=-1)
    return numbers if least < 0 else np.where(is_beyond(abs(values), size, least), numbers, -1)


def has_twin(groups: Indices) -> Mask:
    """Return which values are equal to another one."""
    return np.count_nonzero(groups[..., :, None] == groups[..., None, :], axis=-1) > 1


@in_one_step
def means(groups: Indices, x: Array) -> Array:
    """Return numbers with the mean of each group in the place of its members, and 0 in group -1."""
    same = (groups[..., :, None] == groups[..., None, :]) & (groups >= 0)[..., None, :]
    return np.sum(np.where(same, x[..., None, :], 0), axis=-1) / np.maximum(np.count_nonzero(same, axis=-1), 1)


def is_bent(values: Array, least: float) -> Mask:
    """Return which values are equal to another one, or 0."""
    groups = groups_of(values, least)
    return has_twin(groups) | (groups < 0)


def shares_of(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Links]:
    """Link a value to all that are equal to it, evenly."""
    del argument
    groups = groups_of(values[0], static["least"])
    same = (groups[..., :, None] == groups[..., None, :]) & (groups >= 0)[..., None]
    *batch, k, other = np.nonzero(same)
    rows, columns = (np.ravel_multi_index((*batch, place), out.shape) for place in (k, other))
    return [Links(rows, columns, 1 / np.count_nonzero(same, axis=-1)[(*batch, k)])]


EQUALS = declare(
    Op(
        "mean_of_equals",
        lambda x, least: means(groups_of(x, least), x),
        (lambda g, _y, x, *, least: means(groups_of(x, least), g),),
        shares_of,
        pieces=Piecewise(groups_of, lambda groups, x, least: means(groups, x)),
        kink=Kink(
            is_bent,
            "equal values share the slope of their mean, and a singular value of 0 has slope 0; PyTorch's slopes are "
            "those of whichever vectors LAPACK returns",
        ),
        index=Said(),
        backward_text=("{g}",),
        write=lambda call: call.texts[0],
    )
)


def shared(f: Apply, values: Tensor, least: float = -1.0) -> Tensor:
    """Return eigenvalues or singular values, each as the mean of those that are equal to it: that has a derivative.

    Which of them moves with which vector is left open, so that no two processors need agree. Values up to the
    ``least`` share of the largest are 0, and have the slope 0 between those of both signs.
    """
    numbers = np.asarray(value_of(values), dtype=np.float64)
    return f(EQUALS, values, least=least) if np.any(is_bent(numbers, least)) else values


def refuse_arbitrary(x: Tensor, arbitrary: Mask, which: str) -> None:
    """Refuse derivatives of vectors of which any rotation would do: which one comes out is left to the processor."""
    if getattr(x, "active", False) and np.any(arbitrary):
        raise GradcliError(
            "not-differentiable",
            f"{which} are any of many: they have no derivative",
            hint="the values alone have one; or move the matrix a little",
        )


RULES[groups_of] = asked(groups_of)


@rule_for(means)
def means_traced(_f: Apply, groups: Indices, x: Any) -> Any:
    """Return numbers with the mean of each group in the place of its members, by a matrix of shares."""
    unit = np.broadcast_to(np.eye(groups.shape[-1]), (*groups.shape, groups.shape[-1]))
    shares = np.swapaxes(means(np.expand_dims(groups, -2), unit), -1, -2)
    return np.matmul(shares, x[..., None])[..., 0]
