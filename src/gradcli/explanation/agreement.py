"""Whether vᵀ·J and reverse mode agree, and whether rounding has left digits to judge them by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gradcli.exact.thresholds import ROUNDING, VISIBLE, WRONG
from gradcli.explanation.explained import Agreement, Backward
from gradcli.explanation.jacobians import Jacobian
from gradcli.ops.declare import Array
from gradcli.ops.links import NORMAL


class Difference(NamedTuple):
    """How far vᵀ·J and reverse mode are apart: ``within`` says that rounding explains it.

    ``finite`` says whether y and all gradients are finite. ``proves`` says that an agreement of the two leaves six
    digits at least: that their terms do not cancel further than that.
    """

    within: bool
    max_abs_error: float
    finite: bool
    proves: bool

    @property
    def alone(self) -> Agreement:
        """What the two routes say of each other, where nothing else was asked."""
        return Agreement(self.within, self.max_abs_error, self.finite, "agree" if self.within else "differ")


def tolerance(sizes: Array) -> Array:
    """Return how far two exact routes may differ, from the sizes of the terms that they add up."""
    return np.where(np.isfinite(sizes), ROUNDING * sizes, np.inf) + NORMAL


def compare(jacobians: Mapping[str, Jacobian], backward: Sequence[Backward], output: Array) -> Difference:
    """Hold vᵀ·J against the reverse-mode gradient, entry by entry.

    The routes agree where they differ by at most 64·2⁻⁵² times |v|ᵀ·P, P the sum over all paths of the products of
    the absolute local derivatives, each taken as the sum of the absolute terms that it is a difference of. So κ of
    the contract is P/|J| ≥ 1: it grows with cancellation between paths and inside a derivative, such as 1 - y² of a
    saturated tanh. Entries that are finite on neither route agree.
    """
    agree, finite, worst, proves = True, bool(np.isfinite(output).all()), 0.0, True
    for call in backward:
        for name, jacobian in jacobians.items():
            left, right = call.vjp[name], call.grad[name]
            both = np.isfinite(left) & np.isfinite(right)
            finite = finite and bool(both.all()) and bool(np.isfinite(call.accumulated[name]).all())
            with np.errstate(all="ignore"):
                error = np.where(both, np.abs(left - right), 0.0)
            worst = max(worst, float(error.max(initial=0.0)))
            bound = tolerance(jacobian.scale(call.v.seed))
            within = bool((error <= bound).all())
            proves = proves and bool((bound <= WRONG * np.abs(right) + NORMAL).all())
            agree = agree and within and bool((both | ~(np.isfinite(left) | np.isfinite(right))).all())
    return Difference(agree, worst, finite, proves)


def unproven(jacobians: Mapping[str, Jacobian], difference: Difference) -> bool:
    """Return whether rounding alone may have made a derivative wrong: what is left of its terms is below six digits."""
    with np.errstate(all="ignore"):
        return not difference.proves or any(
            bool((ROUNDING * j.sizes > WRONG * np.abs(j.values)).any()) for j in jacobians.values()
        )


def digits_lost(backward: Sequence[Backward]) -> bool:
    """Return whether an entry differs visibly between the routes, relative to the largest of its variable."""
    for call in backward:
        for name, left in call.vjp.items():
            right = call.grad[name]
            finite = np.isfinite(left) & np.isfinite(right)
            scale = np.abs(np.where(finite, left, 0.0)).max(initial=0.0)
            with np.errstate(all="ignore"):
                difference = np.where(finite, np.abs(left - right), 0.0)
            if (difference > VISIBLE * scale).any():
                return True
    return False
