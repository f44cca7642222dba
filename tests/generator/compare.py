"""gradcli held against the oracle: y, J by both routes and vᵀ·J, each within what rounding explains."""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace

import numpy as np

import gradcli
from generator.duals import UNIT
from gradcli.jacobian.composition import compose
from oracles import ROUNDING, reverse_jacobians

BOUND = 10**6
LOST = 1e6
"""An entry is lost to rounding where its tolerance is more than a millionth of it: it has fewer than six digits."""


class Wrong(AssertionError):
    """gradcli's answer differs from the oracle's, or from itself, by more than rounding explains."""


@dataclass(frozen=True)
class Worst:
    """The largest error of each comparison in units of its tolerance."""

    value: float = 0.0
    symbolic: float = 0.0
    reverse: float = 0.0
    routes: float = 0.0

    def joined(self, other):
        """Return the worse of two, comparison by comparison."""
        return Worst(*map(max, astuple(self), astuple(other)))


def ratio(got, want, tolerance, what):
    """Return the largest error in units of the tolerance; raises ``Wrong`` for one above 1 and for another shape."""
    if np.shape(got) != np.shape(want):
        raise Wrong(f"{what}: shape {np.shape(got)}, not {np.shape(want)}")
    error = np.abs(np.asarray(got) - want)
    if not np.all(error <= tolerance):
        raise Wrong(f"{what}: {got} should be {want}; the error {error} exceeds {tolerance}")
    with np.errstate(all="ignore"):
        return float(np.max(np.where(error == 0, 0.0, error / tolerance), initial=0.0))


def value_noise(truth):
    """Return how far rounding may put y: the oracle's bound, and two units for what Python and gradcli each round.

    An expression of constants is worked out by Python in the oracle's text, so that its bound knows nothing of it.
    """
    return UNIT * (truth.noise + 2 * np.abs(np.asarray(truth.value, dtype=np.float64)))


def loses_digits(true, tolerance):
    """Return whether rounding may leave an entry that is not 0 with too few digits."""
    return bool(np.any((true != 0) & (LOST * tolerance > np.abs(true))))


def check(program, whole=True):
    """Return how close gradcli comes to the oracle on a program; raises ``Wrong`` where it does not.

    J may differ from the oracle's by 64·2⁻⁵²·P, the project's tolerance for the rounding of derivatives, and by the
    oracle's drift: what the rounding of the values does to the points at which derivatives are taken. The routes share
    these points, so between them the first must do. ``whole`` also asks for the explanation, formulas and all.
    """
    f, truth, inputs = gradcli.function(program.text, program.wrt), program.truth, program.inputs
    run = f.evaluate(inputs)
    worst = Worst(value=ratio(run.value, truth.value, value_noise(truth), "y"))
    leaves = [run.leaves[name] for name in program.wrt]
    composed, reverse = compose(run.output, leaves, BOUND).of, reverse_jacobians(run.graph, run.output, leaves)
    symbolic, grad = f.jacobian(**inputs), f.grad(v=program.v, **inputs)
    tolerances, lost = {}, loses_digits(np.asarray(truth.value, dtype=np.float64), value_noise(truth))
    for name, leaf, swept in zip(program.wrt, leaves, reverse, strict=True):
        want, found = truth.jacobian[name], composed[leaf.index]
        sizes, rows = replace(found, values=found.sizes).dense().reshape(want.shape), swept.reshape(want.shape)
        tolerance = ROUNDING * sizes + UNIT * truth.drift[name]
        exact = np.tensordot(program.v, want, program.v.ndim)
        tolerances[name] = exact, np.tensordot(np.abs(program.v), tolerance, program.v.ndim)
        lost = lost or loses_digits(want, tolerance) or loses_digits(*tolerances[name])
        worst = worst.joined(
            Worst(
                symbolic=ratio(symbolic[name], want, tolerance, f"symbolic J by {name}"),
                reverse=max(
                    ratio(rows, want, tolerance, f"J by {name} in reverse mode"),
                    ratio(grad[name], *tolerances[name], f"the gradient by {name}"),
                ),
                routes=ratio(rows, symbolic[name], ROUNDING * sizes, f"reverse mode against symbols by {name}"),
            )
        )
    return worst.joined(check_explanation(program, symbolic, tolerances, lost)) if whole else worst


def check_explanation(program, jacobians, tolerances, lost):
    """Return how close the numbers of an explanation come.

    Raises ``Wrong`` unless it ends with exit code 0, or says that digits are lost where the oracle's bound says so too.
    """
    found = gradcli.explain(program.text, v=program.v, wrt=program.wrt, inputs=program.inputs)
    said = found.agreement.agree or (lost and found.agreement.verdict == "digits-lost")
    if not (said and found.agreement.finite):
        told = "; ".join(note.message for note in found.notes)
        numbers = f"vᵀ·J {found.vjp}, x.grad {found.grad}"
        raise Wrong(f"the routes do not agree, {found.agreement.verdict}: {told}\n{numbers}")
    worst = Worst(value=ratio(found.output, program.truth.value, value_noise(program.truth), "y explained"))
    for name, (exact, tolerance) in tolerances.items():
        ratio(found.jacobian[name].numeric, jacobians[name], 0.0, f"J by {name} explained")
        worst = worst.joined(
            Worst(
                symbolic=ratio(found.vjp[name], exact, tolerance, f"vᵀ·J by {name}"),
                reverse=ratio(found.grad[name], exact, tolerance, f"x.grad of {name}"),
            )
        )
    return worst
