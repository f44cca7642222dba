"""What an answer of ``explain`` holds: its records, and what is computed of them only when it is read."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np

from gradcli.engine.graph import Operation
from gradcli.explanation.backward import lines_of
from gradcli.explanation.effect import (
    Broadcast,
    Effect,
    Passes,
    Samples,
    Trial,
    dust_in,
    find_broadcasts,
    find_samples,
    try_quotient,
    weigh,
)
from gradcli.explanation.evaluation import Source
from gradcli.explanation.forward import has_steps
from gradcli.explanation.notes import chooses_by_value
from gradcli.explanation.parts import BackwardPass, Event, Path, Picture, Rule, Step, Tape, Value
from gradcli.explanation.results import VERDICTS, Agreement, Backward, Dust, Note, View, sum_of, sum_vjps
from gradcli.explanation.tape import (
    Recorded,
    find_paths,
    picture_by_entry,
    picture_of,
    record_tape,
    recorded_run,
    take_steps,
)
from gradcli.ops.declare import Array
from gradcli.records import replace

if TYPE_CHECKING:
    from gradcli.explanation.jacobians import Jacobian
    from gradcli.explanation.timeline import Timeline
    from gradcli.jacobian.sparse import Sparse


T = TypeVar("T")


class later(Generic[T]):  # noqa: N801 - read as a decorator
    """A property of an answer that is computed when it is first read, once for all answers of one source."""

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self.compute, self.name, self.__doc__ = compute, compute.__name__, compute.__doc__

    @overload
    def __get__(self, answer: None, kind: type) -> later[T]: ...

    @overload
    def __get__(self, answer: Explained, kind: type) -> T: ...

    def __get__(self, answer: Explained | None, kind: type) -> later[T] | T:
        """Return what was computed for the answer."""
        if answer is None:
            return self
        computed = answer.source.computed
        if self.name not in computed:
            computed[self.name] = self.compute(answer)
        return computed[self.name]  # type: ignore[no-any-return]


class within(later[T]):  # noqa: N801 - read as a decorator
    """One that the rooms above read, and no user: the page on the interface leaves it out."""


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
    - ``source``: what all else is computed from when it is read.
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
    source: Source = dataclasses.field(repr=False)
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
        return [event for event in self.forward if isinstance(event, Value)]

    @property
    def verdict(self) -> str:
        """The worst of ``agreement`` and of the views: ``differ``, ``digits-lost``, ``unclear``, else ``agree``."""
        verdicts = (self.agreement.verdict, *(view.proof.verdict for view in self.views.values()))
        return max(verdicts, key=list(VERDICTS).index)

    @property
    def finite(self) -> bool:
        """Whether all numbers are finite, those of the views among them."""
        return self.agreement.finite and all(view.proof.finite for view in self.views.values())

    @property
    def definition_values(self) -> dict[str, Array]:
        """The numbers of ``definitions`` at this point."""
        return {name: self.named_values[name] for name in self.definitions}

    @within
    def named_values(self) -> dict[str, Array]:
        """The numbers of all names that formulas were found with."""
        from gradcli.formulas.derivation import refreshed

        formulas = refreshed(self.source.formulas, self.source.composition)
        return {name: np.asarray(formulas.values[name]) for name in formulas.definitions}

    @later
    def dust(self) -> dict[str, Dust]:
        """Where numbers are what rounding has left of 0, by variable: as more digits say, if they were asked for."""
        confirmed, vjp, seed = self.source.confirmed, sum_vjps(self.backward), self.source.run.seed
        return {
            name: confirmed.get(name) or dust_in(seed, j, vjp[name], self.grad[name])
            for name, j in self.jacobian.items()
        }

    @later
    def effect(self) -> Effect:
        """What v did: the number that backward differentiates, and what another v would have left."""
        return weigh(self.source.run, self.jacobian, self.grad, self.dust)

    @later
    def trial(self) -> Trial | None:
        """The gradient in one entry beside a difference quotient; None where no entry can be moved."""
        return try_quotient(self.source.run, self.backward, self.effect.nudge)

    @later
    def passes(self) -> Passes:
        """How many passes of reverse and of forward mode give all of J."""
        jacobians = [*self.jacobian.values()]
        inputs = sum(jacobian.matrix_shape[1] for jacobian in jacobians)
        return Passes(inputs, self.output.size, jacobians[0].passes if len(jacobians) == 1 else None)

    @later
    def broadcasts(self) -> list[Broadcast]:
        """The inputs that an operation repeats to another shape, so that their gradients are sums."""
        return find_broadcasts(self.source.composition.nodes, self.source.run.leaves)

    @later
    def samples(self) -> Samples | None:
        """What each sample of a mean adds to the gradient; None where the output is no mean over samples."""
        return find_samples(self.source.run)

    @within
    def by_choice(self) -> bool:
        """Whether values decide which entries have a path to y, so that others may have one elsewhere."""
        return chooses_by_value(self.source.run.graph)

    @later
    def has_steps(self) -> bool:
        """Whether the program names a value between the inputs and y, or uses an input as a whole twice."""
        return has_steps(self.source.run)

    @property
    def rules(self) -> list[Rule]:
        """The backward pass for the sum of all v, a rule for each named value, in the order of the sweep.

        Of a program with more than 200 of them there are the first and the last.
        """
        return self.backward_pass.rules

    @property
    def constants(self) -> dict[str, Array]:
        """The long arrays that rules use and the program does not name, by the names that they have there."""
        return self.backward_pass.constants

    @within
    def backward_pass(self) -> BackwardPass:
        """The lines of the backward pass, without the factor that a v of 1 is."""
        return lines_of(self.source)

    @within
    def backward_by_any_v(self) -> BackwardPass:
        """The lines of the backward pass as they are for every v: those of a script whose v may be changed."""
        return lines_of(self.source, shows_one=True)

    @within
    def recorded(self) -> Recorded:
        """The run with a name for every node, the same as elsewhere in the answer."""
        return recorded_run(self.source, self.backward_pass)

    @later
    def tape(self) -> Tape:
        """The recorded graph in the order of the sweep, with what each operation kept, got and sent on."""
        return record_tape(self.recorded)

    @property
    def picture(self) -> Picture:
        """The graph as it is drawn: the program's values, and the derivative of each by those that it is made of."""
        return self.picture_by_name if any(value.role == "inner" for value in self.values) else self.picture_by_entry

    @within
    def picture_by_entry(self) -> Picture:
        """The graph entry by entry, where entries are few; else by the names of the program."""
        return picture_by_entry(self.source, self.jacobian, self.dust, self.grad) or self.picture_by_name

    @within
    def picture_by_name(self) -> Picture:
        """The graph by the names of the program."""
        return picture_of(replace(self.recorded, given=self.source.run.named, spare=self.recorded.given))

    @later
    def steps(self) -> list[Step]:
        """How each derivative is found, rule by rule: those of the operations, then the chain rule from y back.

        Before them, what the program has no name for, where they name it.
        """
        named = {value.name for value in self.values if value.text is not None}
        return take_steps(self.tape, {*self.inputs, self.name, *named})

    @later
    def paths(self) -> dict[str, list[Path]]:
        """The paths from each input to y, where they lead over single numbers and at most six from an input."""
        return find_paths(self.source.run) if self.has_steps else {}

    @property
    def stages(self) -> list[Rule]:
        """The rules of the program's own variables that every path from the inputs to y runs through, and the inputs'.

        Empty where there is no such variable.
        """
        inner = [rule for rule in self.rules[1:] if rule.on_every_path and rule.made is None and not rule.is_input]
        return inner + [rule for rule in self.rules if rule.is_input] if inner else []

    def link(self, above: str, below: str) -> Sparse | None:
        """Return the derivative of one named value by another, with its other arguments fixed; None where not held."""
        composition, nodes = self.source.composition, self.source.formulas.nodes
        if composition.refusal is not None:
            return None
        by_index = {node.index: node for node in composition.nodes if isinstance(node, Operation)}
        named = {name: by_index[node] for name, node in nodes.items()}
        return composition.link(named[above], {**named, **self.source.run.leaves}[below])

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
