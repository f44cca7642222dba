"""What an answer is asked for later: computed from its run when it is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.engine.graph import Operation, reaches
from gradcli.engine.naming import numbered, taken_names
from gradcli.errors import GivenUp, GradcliError
from gradcli.explanation.confirmation import Sums
from gradcli.explanation.evaluation import Point
from gradcli.explanation.explained import Backward
from gradcli.explanation.jacobians import Jacobian
from gradcli.explanation.notes import chooses_by_value
from gradcli.explanation.parts import BackwardPass, Path
from gradcli.explanation.rereading import Reader
from gradcli.ops import RESERVED
from gradcli.ops.declare import Array
from gradcli.records import dataclass, replace

if TYPE_CHECKING:
    from gradcli.explanation.effect import Broadcast, Dust, Effect, Passes, Samples, Trial
    from gradcli.explanation.parts import Picture, Step, Tape
    from gradcli.explanation.taping import Recorded
    from gradcli.formulas.derivation import Formulas
    from gradcli.formulas.index_rules import IndexRule
    from gradcli.jacobian.composition import Composition
    from gradcli.jacobian.sparse import Sparse


@dataclass(frozen=True)
class RunLookup:
    """What is computed from a run only when it is read; ``known`` is the dust that more digits have shown.

    ``parts`` are the names that *Forward* has for parts of long lines, by node index.
    """

    formulas: Formulas
    composition: Composition
    point: Point
    jacobians: Mapping[str, Jacobian]
    backward: Sequence[Backward]
    known: Mapping[str, Dust]
    parts: Mapping[int, str]

    @cached_property
    def dust(self) -> dict[str, Dust]:
        """Where numbers are what rounding has left of 0."""
        from gradcli.explanation.weighing import dust_in

        vjps, grads = Sums.of(self.backward)
        return {
            name: self.known.get(name) or dust_in(self.point.seed, jacobian, vjps[name], grads[name])
            for name, jacobian in self.jacobians.items()
        }

    @cached_property
    def effect(self) -> Effect:
        """What v did."""
        from gradcli.explanation.weighing import weigh

        point, summed = self.point, self.backward[-1].accumulated
        grad = {name: np.where(self.dust[name].grad, 0.0, g) for name, g in summed.items()}
        dust = {name: known.entries for name, known in self.dust.items()}
        with np.errstate(all="ignore"):
            return weigh(point.seed, point.value, point.inputs, self.jacobians, grad, self.moved, dust)

    @cached_property
    def trial(self) -> Trial | None:
        """The gradient in one entry beside a difference quotient."""
        from gradcli.explanation.weighing import try_quotient

        nudge = self.effect.nudge
        if nudge is None:
            return None
        routes = max(
            (float(np.max(np.abs(call.vjp[name] - call.grad[name]), initial=0.0)) for call in self.backward
            for name in call.grad), default=0.0,
        )  # fmt: skip
        grad, v = self.backward[-1].accumulated, np.ravel(self.point.seed)
        with np.errstate(all="ignore"):
            return try_quotient(v, self.point.inputs, grad, self.moved, nudge, routes)

    @cached_property
    def passes(self) -> Passes:
        """How many passes give all of J."""
        from gradcli.explanation.effect import Passes

        inputs = sum(jacobian.matrix_shape[1] for jacobian in self.jacobians.values())
        only = [*self.jacobians.values()]
        return Passes(inputs, self.point.value.size, only[0].passes if len(only) == 1 else None)

    @cached_property
    def broadcasts(self) -> list[Broadcast]:
        """The inputs that an operation repeats to another shape."""
        from gradcli.explanation.weighing import find_broadcasts

        return find_broadcasts(self.composition.nodes, self.point.leaves)

    @cached_property
    def samples(self) -> Samples | None:
        """What each sample of a mean adds to the gradient."""
        from gradcli.explanation.weighing import find_samples  # few answers need it

        return find_samples(self.point)

    def moved(self, name: str, place: int, step: float) -> Array | None:
        """Return y where one entry of a variable is moved; None where the program has no value there."""
        array = np.array(self.point.inputs[name], dtype=np.float64)
        array.flat[place] += step
        try:
            return self.point.function.evaluate({**self.point.inputs, name: array}, record=False).value
        except GivenUp:
            raise
        except GradcliError:
            return None

    @cached_property
    def values(self) -> dict[str, Array]:
        """The numbers of the names that formulas use."""
        from gradcli.formulas.derivation import refreshed

        here = refreshed(self.formulas, self.composition).values
        return {name: np.asarray(here[name]) for name in self.formulas.definitions}

    @cached_property
    def by_choice(self) -> bool:
        """Whether values decide which entries have a path to y."""
        return chooses_by_value(self.point.run.graph)

    @cached_property
    def has_steps(self) -> bool:
        """Whether a value between the inputs and y has a name, or an input is used twice, and not entry by entry."""
        output = self.point.run.output
        if not isinstance(output, Operation):
            return False
        done = [node for node in reaches(output) if node.active and isinstance(node, Operation)]
        names = name_values(self.point)
        used = [node.arguments[k].index for node in done if not node.op.entries.moves for k in node.links]
        twice = any(used.count(leaf.index) > 1 for leaf in self.point.leaves.values())
        return twice or any(node is not output and node.index in names for node in done)

    @cached_property
    def backward_pass(self) -> BackwardPass:
        """The lines of the backward pass, without the factor that a v of 1 is."""
        return self.write_lines(shows_one=False)

    @cached_property
    def backward_by_any_v(self) -> BackwardPass:
        """The lines of the backward pass as they are for every v: those of a script whose v may be changed."""
        return self.write_lines(shows_one=True)

    def write_lines(self, *, shows_one: bool) -> BackwardPass:
        """Return the lines of the backward pass; ``shows_one`` keeps a v of 1 as a factor."""
        from gradcli.explanation.backward import write_backward

        run, point = self.point.run, self.point
        run.graph.meter.restart()
        formulas, names = self.formulas, {**self.parts, **name_values(point)}
        spare, taken = {node: name for name, node in formulas.nodes.items()}, formulas.sources.keys()
        written = None if shows_one else formulas.written
        return write_backward(
            run.graph, run.output, point.seed, names, spare, taken, written, point.kept, shows_one=shows_one
        )

    @cached_property
    def tape(self) -> Tape:
        """The recorded graph with what the sweep back did."""
        from gradcli.explanation.taping import record_tape  # few answers need it

        return record_tape(self.recorded)

    @cached_property
    def picture(self) -> Picture:
        """The graph as it is drawn, by the names of the program."""
        from gradcli.explanation.picturing import picture_of  # few answers need it

        run, own = self.recorded, name_values(self.point)
        return picture_of(replace(run, given=own, spare=run.given))

    def picture_by_entry(self, answer: Any) -> Picture | None:
        """Return the graph entry by entry, for an answer whose program names nothing between; None for all others."""
        from gradcli.explanation.picturing import picture_by_entry  # few answers need it

        return picture_by_entry(answer)

    @cached_property
    def recorded(self) -> Recorded:
        """The run with a name for every node, the same as elsewhere in the answer."""
        from gradcli.explanation.backward import constants_of
        from gradcli.explanation.taping import Recorded  # few answers need it

        point, back = self.point, self.backward_pass
        point.run.graph.meter.restart()
        spare = {node: name for name, node in self.formulas.nodes.items()}
        given = {**spare, **back.names, **name_values(point)}
        taken = {*taken_names(point.run.graph), *RESERVED, *self.formulas.sources, *back.names.values()}
        constants = {**constants_of(point.run.graph), **back.constants}
        return Recorded(point.run.graph, point.run.output, point.seed, given, taken, constants)

    @cached_property
    def steps(self) -> list[Step]:
        """How each derivative is found, rule by rule."""
        from gradcli.explanation.taping import take_steps  # few answers need it

        return take_steps(self.tape)

    @cached_property
    def paths(self) -> dict[str, list[Path]]:
        """The paths from each input that few lead from."""
        if not self.has_steps:
            return {}
        from gradcli.explanation.picturing import find_paths

        return find_paths(self.point.run.output, self.point.leaves, name_values(self.point))

    def link(self, above: str, below: str) -> Sparse | None:
        """Return the derivative of one named value by another, with its other arguments fixed; None where not held."""
        if self.composition.refusal is not None:
            return None
        done = {node.index: node for node in self.composition.nodes if isinstance(node, Operation)}
        named = {name: done[node] for name, node in self.formulas.nodes.items()}
        return self.composition.link(named[above], {**named, **self.point.leaves}[below])

    def true_rules(self, answer: Any, name: str) -> list[IndexRule]:
        """Return the rules of an answer's Jacobian by one variable, none of which is another number at this point."""
        from gradcli.explanation.true_rules import true_rules  # large answers need it

        with np.errstate(all="ignore"):
            return true_rules(answer, name)

    def keep_digits(self, formula: str) -> str:
        """Return a formula in a form that keeps its digits in saturation; itself where there is no other."""
        from gradcli.explanation.rereading import saturated  # few answers need it

        return saturated(formula, self.formulas.definitions)

    def evaluate(
        self, text: str, names: Mapping[str, Any], cotangents: Mapping[str, Any] | None = None
    ) -> Array | None:
        """Return what a text of the language is worth, ``NAME.grad`` in it too; None for what is not read."""
        return Reader(names, cotangents or {}).evaluate(text)


def name_values(point: Point) -> dict[int, str]:
    """Return the names of inputs, of what the program calls by a name, and of the output, by node index."""
    graph, output = point.run.graph, point.run.output
    names = {node.index: name for name, node in point.run.leaves.items()}
    names |= {node.index: name for name, node in reversed(numbered(graph))}
    if isinstance(output, Operation):
        names[output.index] = point.name
    return names
