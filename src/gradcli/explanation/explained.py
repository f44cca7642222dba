"""What an answer of ``explain`` holds: plain records, which the modules above fill and ``render`` reads."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.ops.declare import Array
from gradcli.records import dataclass

if TYPE_CHECKING:
    from gradcli.explanation.effect import Broadcast, Dust, Effect, Passes, Samples, Trial
    from gradcli.explanation.jacobians import Jacobian
    from gradcli.explanation.lookup import Lookup
    from gradcli.explanation.parts import Event, Path, Picture, Rule, Step, Tape, Value
    from gradcli.explanation.timeline import Timeline
    from gradcli.language.values import Cotangent


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

    >>> found = gradcli.explain("x**2", x=3.0).agreement
    >>> found.agree, found.max_abs_error, found.digits
    (True, 0.0, {'y': 16.0, 'jacobian': 16.0, 'grad': 16.0})
    """

    agree: bool
    max_abs_error: float
    finite: bool
    verdict: str = "agree"
    digits: dict[str, float] | None = None


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

    - ``content``: its record, which its module in ``render/views/`` writes.
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
        return bool(np.all(np.isfinite(self.output)) and all(np.all(np.isfinite(g)) for g in self.grad.values()))


@dataclasses.dataclass(frozen=True, slots=True)
class Explained:
    """All that an answer of ``explain`` holds, without the ways to show it, which ``Explanation`` adds.

    - ``program``: the text.
    - ``name``: what y is called: the program's own last name for it, else ``y`` or another that is free.
    - ``inputs``: the value of every variable, by its name.
    - ``differentiated``: the names of those that J and gradients are by.
    - ``output``: y.
    - ``output_formulas``: a text for each entry of y in flat order; None where they are too many or too long.
    - ``definitions``: the names that formulas use beyond the variables, in an order in which they can be run.
    - ``jacobian``: J by each differentiated variable.
    - ``backward``: the calls of backward, in turn.
    - ``agreement``: whether the two routes agree, and how many digits are right.
    - ``notes``: what deserves a sentence.
    - ``lookup``: what is computed only when it is read, such as ``definition_values``.
    - ``forward``: what ran, in order: every value of the program, and the branches and turns that they stand in.
    - ``views``: what else it was asked for by options, by name: ``slices``, ``tape``, ``steps``, ``one_hot``, ``jvp``,
      ``hessian``, ``descent``.
    - ``timeline``: what the script did, of which the answer is one call; None for a formula.
    - ``labels``: what the script calls a variable whose name here is an identifier: ``net.fc1.weight`` for
      ``net_fc1_weight``.
    """

    program: str
    name: str
    inputs: dict[str, Array]
    differentiated: tuple[str, ...]
    output: Array
    output_formulas: list[str] | None
    definitions: dict[str, str]
    jacobian: dict[str, Jacobian]
    backward: list[Backward]
    agreement: Agreement
    notes: list[Note]
    lookup: Lookup = dataclasses.field(repr=False)
    forward: list[Event] = dataclasses.field(default_factory=list)
    views: dict[str, View] = dataclasses.field(default_factory=dict)
    timeline: Timeline | None = None
    labels: dict[str, str] = dataclasses.field(default_factory=dict)

    @property
    def program_lines(self) -> list[str]:
        """The lines of the program as they are shown: with blanks for tabs."""
        return self.program.expandtabs(4).split("\n")

    @property
    def values(self) -> list[Value]:
        """The values of the program in order, without the branches and turns between them."""
        from gradcli.explanation.parts import Value

        return [event for event in self.forward if isinstance(event, Value)]

    @property
    def verdict(self) -> str:
        """The worst of ``agreement`` and of the views: ``differ``, ``digits-lost``, ``unclear``, else ``agree``."""
        verdicts = (self.agreement.verdict, *(view.proof.verdict for view in self.views.values()))
        return max(verdicts, key=("agree", "unclear", "digits-lost", "differ").index)

    @property
    def finite(self) -> bool:
        """Whether all numbers are finite, those of the views among them."""
        return self.agreement.finite and all(view.proof.finite for view in self.views.values())

    @property
    def definition_values(self) -> dict[str, Array]:
        """The numbers of ``definitions`` at this point."""
        return {name: self.lookup.values[name] for name in self.definitions}

    @property
    def effect(self) -> Effect:
        """What v did: the number that backward differentiates, and what another v would have left."""
        return self.lookup.effect

    @property
    def trial(self) -> Trial | None:
        """The gradient in one entry beside a difference quotient; None where no entry can be moved."""
        return self.lookup.trial

    @property
    def passes(self) -> Passes:
        """How many passes of reverse and of forward mode give all of J."""
        return self.lookup.passes

    @property
    def broadcasts(self) -> list[Broadcast]:
        """The inputs that an operation repeats to another shape, so that their gradients are sums."""
        return self.lookup.broadcasts

    @property
    def samples(self) -> Samples | None:
        """What each sample of a mean adds to the gradient; None where the output is no mean over samples."""
        return self.lookup.samples

    @property
    def dust(self) -> dict[str, Dust]:
        """Where numbers are what rounding has left of 0, by variable: as more digits say, if they were asked for."""
        return self.lookup.dust

    @property
    def has_steps(self) -> bool:
        """Whether the program names a value between the inputs and y, or uses an input as a whole twice."""
        return self.lookup.has_steps

    @property
    def rules(self) -> list[Rule]:
        """The backward pass for the sum of all v, a rule for each named value, in the order of the sweep.

        Of a program with more than 200 of them there are the first and the last.
        """
        return self.lookup.backward_pass.rules

    @property
    def constants(self) -> dict[str, Array]:
        """The long arrays that rules use and the program does not name, by the names that they have there."""
        return self.lookup.backward_pass.constants

    @property
    def tape(self) -> Tape:
        """The recorded graph in the order of the sweep, with what each operation kept, got and sent on."""
        return self.lookup.tape

    @property
    def picture(self) -> Picture:
        """The graph as it is drawn: the program's values, and the derivative of each by those that it is made of."""
        return self.lookup.picture_by_entry(self) or self.lookup.picture

    @property
    def steps(self) -> list[Step]:
        """How each derivative is found, rule by rule: those of the operations, then the chain rule from y back."""
        return self.lookup.steps

    @property
    def paths(self) -> dict[str, list[Path]]:
        """The paths from each input to y, where they lead over single numbers and at most six from an input."""
        return self.lookup.paths

    @property
    def stages(self) -> list[Rule]:
        """The rules of the program's own variables that every path from the inputs to y runs through, and the inputs'.

        Empty where there is no such variable.
        """
        inner = [rule for rule in self.rules[1:] if rule.on_every_path and rule.made is None and not rule.is_input]
        return inner + [rule for rule in self.rules if rule.is_input] if inner else []

    @property
    def vjp(self) -> dict[str, Array]:
        """vᵀ·J by the symbolic route for each variable, in its shape, added up over the calls that count."""
        return sum_vjps(self.counted)

    @property
    def counted(self) -> Sequence[Backward]:
        """The calls that ``x.grad`` is the sum of: all, unless a script set it to zero between them."""
        return self.backward[max((place for place, call in enumerate(self.backward) if call.alone), default=0) :]

    @property
    def grad(self) -> dict[str, Array]:
        """``x.grad`` for each variable, in its shape, after the last call."""
        return self.backward[-1].accumulated

    @property
    def v(self) -> Array:
        """v as it is shown, added up over the calls that count where there are several."""
        return self.counted[0].v.shown if len(self.counted) == 1 else self.seed

    @property
    def seed(self) -> Array:
        """v as it counts, in the shape of y, added up over the calls that count."""
        return sum_of([call.v.seed for call in self.counted])

    @property
    def v_source(self) -> str:
        """Where v comes from: ``given``, ``default``, ``reshaped``, ``broadcast`` or ``accumulated``."""
        return self.counted[0].v.source if len(self.counted) == 1 else "accumulated"


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
