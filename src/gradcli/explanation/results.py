"""What answers are made of: notes, calls of backward, how far numbers are right, and what rounding has left of 0."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.ops.declare import Array
from gradcli.records import dataclass

if TYPE_CHECKING:
    from gradcli.explanation.timeline import Timeline
    from gradcli.language.values import Cotangent
    from gradcli.ops.links import Mask


@dataclass(frozen=True, slots=True)
class Verdict:
    """What may be said of numbers.

    - ``word``, ``of_check``: what an answer calls it, and what a check does.
    - ``status``: the exit code, also where the numbers are not finite.
    - ``warning``: what the command line says of it.
    - ``fault``: what stands beside the gradients.
    """

    word: str
    of_check: str
    status: int
    warning: str = "a value or derivative is not finite at this point"
    fault: str = ""


VERDICTS = {
    verdict.word: verdict
    for verdict in (
        Verdict("agree", "right", 3),
        Verdict("not-finite", "not-finite", 3),
        Verdict(
            "unclear",
            "unclear",
            4,
            "gradcli could not decide what is right; the notes say why, and a larger --budget work=N may decide it",
            "gradcli could not decide whether this is right: see the notes",
        ),
        Verdict(
            "digits-lost",
            "wrong",
            1,
            "rounding has cost so many digits that a number is wrong; the notes say more",
            "rounding has cost too many digits: see the notes",
        ),
        Verdict(
            "differ",
            "wrong",
            1,
            "J and reverse mode disagree; the notes say more",
            "reverse mode and vᵀ·J give different numbers: see the notes",
        ),
    )
}
"""All of them, the better first."""


@dataclass(frozen=True, slots=True)
class Note:
    """One thing worth knowing.

    - ``kind``: a stable word for scripts.
    - ``message``: a sentence or several.

    >>> [note.kind for note in gradcli.explain("abs(x)", x=0.0).notes]
    ['kink']
    """

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Backward:
    """One call of ``y.backward(v)``; each dictionary has an array for each variable, in the variable's shape.

    - ``v``: the v of this call, a ``Cotangent``.
    - ``vjp``: vᵀ·J by the symbolic route.
    - ``grad``: the gradient by reverse mode.
    - ``accumulated``: what ``x.grad`` is after this call, which adds to those before it.
    - ``alone``: whether a script set ``x.grad`` to zero before this call, so that it adds to nothing.

    >>> first, second = gradcli.explain("x**2", x=3.0, calls=[1, 10]).backward
    >>> second.grad["x"].item(), second.accumulated["x"].item()
    (60.0, 66.0)
    """

    v: Cotangent
    vjp: dict[str, Array]
    grad: dict[str, Array]
    accumulated: dict[str, Array]
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Agreement:
    """Whether vᵀ·J and reverse mode give the same numbers, and the right ones.

    - ``agree``: whether ``verdict`` is ``agree``.
    - ``max_abs_error``: the largest distance between the two, over all entries, variables and calls.
    - ``finite``: whether y and all gradients are finite.
    - ``verdict``: ``agree``, ``differ``, ``digits-lost`` or ``unclear``.
    - ``digits``: the fewest right digits of ``y``, ``jacobian`` and ``grad``, 16 at most; None where nothing was
      computed in higher precision.
    - ``proves``: whether an agreement of the two leaves six digits at least: their terms cancel no further than that.

    >>> found = gradcli.explain("x**2", x=3.0).agreement
    >>> found.agree, found.max_abs_error, found.digits
    (True, 0.0, {'y': 16.0, 'jacobian': 16.0, 'grad': 16.0})
    """

    agree: bool
    max_abs_error: float
    finite: bool
    verdict: str = "agree"
    digits: dict[str, float] | None = None
    proves: bool = dataclasses.field(default=True, repr=False)


@dataclass(frozen=True, slots=True)
class Proof:
    """How far the numbers of a view are right.

    - ``verdict``: ``agree``, ``differ``, ``digits-lost`` or ``unclear``, as that of an ``Agreement``.
    - ``finite``: whether all of them are finite.
    - ``digits``: the fewest right digits, 16 at most; None where nothing was computed in higher precision.
    - ``remarks``: what deserves a sentence; they are among the notes of an answer that shows the view.
    """

    verdict: str = "agree"
    finite: bool = True
    digits: float | None = None
    remarks: list[Note] = dataclasses.field(default_factory=list)


@dataclass(frozen=True, slots=True)
class View:
    """What an answer shows only where it was asked for.

    - ``content``: its record, of which ``document/views.py`` makes sections.
    - ``proof``: how far its numbers are right.
    """

    content: Any
    proof: Proof = dataclasses.field(default_factory=Proof)


@dataclass(frozen=True, slots=True)
class Gradient:
    """What reverse mode alone answers: y, v as it is shown and where it comes from, and ``x.grad`` by variable."""

    program: str
    output: Array
    v: Array
    v_source: str
    grad: dict[str, Array]
    notes: list[Note]
    timeline: Timeline | None = None
    labels: dict[str, str] = dataclasses.field(default_factory=dict)

    @property
    def finite(self) -> bool:
        """Whether y and all gradients are finite."""
        return all(bool(np.isfinite(numbers).all()) for numbers in (self.output, *self.grad.values()))


@dataclass(frozen=True, slots=True)
class Dust:
    """Where numbers by one variable are what rounding has left of 0, and are shown so.

    - ``entries``: of J, in the order of ``Jacobian.values``.
    - ``vjp``, ``grad``: of vᵀ·J and of ``x.grad``, in the shape of the variable.

    >>> gradcli.explain("softmax(x)", x=[0.1, 0.2], v=[1, 1]).dust["x"].grad.dtype
    dtype('bool')
    """

    entries: Mask
    vjp: Mask
    grad: Mask


def agree_within(left: Array, right: Array, bound: Array | float) -> bool:
    """Return whether numbers are no farther apart than a bound; where one of two is not finite, nor is the other."""
    one, other = np.isfinite(left), np.isfinite(right)
    with np.errstate(all="ignore"):
        near = np.abs(left - right) <= bound
    return bool(np.all(np.where(one & other, near, ~(one | other))))


def sum_vjps(backward: Sequence[Backward]) -> dict[str, Array]:
    """Return vᵀ·J for each variable, added up over all calls."""
    return {name: sum_of([call.vjp[name] for call in backward]) for name in backward[0].vjp}


def sum_of(arrays: Sequence[Array]) -> Array:
    """Return the sum, left to right as repeated calls add it up."""
    total = arrays[0]
    with np.errstate(all="ignore"):
        for array in arrays[1:]:
            total = total + array
    return total
