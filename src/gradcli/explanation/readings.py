"""One run of a function with its v, read by both routes: J with vᵀ·J, and the gradient of reverse mode."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.engine.graph import Node
from gradcli.engine.meter import LARGE
from gradcli.engine.naming import output_name
from gradcli.engine.reverse import cotangents
from gradcli.errors import GradcliError
from gradcli.errors.counting import short_array
from gradcli.errors.facts import MisshapenV
from gradcli.explanation.evaluation import Evaluation, Function, filled, gradients
from gradcli.explanation.explained import Backward, Gradient, Note, sum_of
from gradcli.explanation.notes import note_backward, note_run, refuse_integers
from gradcli.language.inputs import Cotangent, detached, each_call, read_v
from gradcli.ops.declare import Array
from gradcli.records import dataclass, field

if TYPE_CHECKING:
    from gradcli.explanation.jacobians import Jacobian
    from gradcli.explanation.timeline import Timeline
    from gradcli.formulas.derivation import Formulas
    from gradcli.jacobian.composition import Composition
    from gradcli.jacobian.large import Passes
    from gradcli.jacobian.maps import Vectors


@dataclass(frozen=True)
class Point:
    """One run of a function with the v of every call of backward.

    ``integers`` are the differentiated inputs that came without a fraction, ``resets`` the calls before which
    ``.grad`` is set to zero; ``as_run`` says that every v is that of a script's own calls. ``kept`` are the cotangents
    of the only call, by node index, once a short run has swept.
    """

    function: Function
    run: Evaluation
    names: tuple[str, ...]
    seeds: list[Cotangent]
    integers: list[str]
    resets: frozenset[int] = frozenset()
    as_run: bool = False
    kept: dict[int, Any] = field(default_factory=dict)

    @cached_property
    def name(self) -> str:
        """What y is called."""
        return output_name(self.run.graph, self.run.output)

    @cached_property
    def value(self) -> Array:
        """y as numbers."""
        return self.run.value

    @cached_property
    def leaves(self) -> dict[str, Node]:
        """The nodes of the differentiated inputs."""
        return {name: self.run.leaves[name] for name in self.names}

    @cached_property
    def inputs(self) -> dict[str, Array]:
        """All inputs as numbers."""
        return {name: np.asarray(node.value) for name, node in self.run.leaves.items()}

    @cached_property
    def seed(self) -> Array:
        """v as it counts, in the shape of y, added up over all calls since ``.grad`` was last set to zero."""
        return sum_of([seed.seed for seed in self.counted])

    @cached_property
    def timeline(self) -> Timeline | None:
        """What the script did that the program is a call of; None for a formula."""
        if not self.function.program.is_script:
            return None
        from gradcli.explanation.timeline import timeline_of  # a formula has none

        return timeline_of(self.function.program)

    @property
    def counted(self) -> list[Cotangent]:
        """The v of the calls since ``.grad`` was last set to zero."""
        return self.seeds[max(self.resets, default=0) :]


IDENTITY = (
    "v is the identity: each of its rows is one call of backward, which adds one row of J to .grad. PyTorch refuses it "
    "as one v."
)


def stand(
    function: Function,
    values: dict[str, Any],
    calls: Sequence[Any],
    strict: bool,
    record: bool = True,
    run: Evaluation | None = None,
) -> Point:
    """Run a function at a point, unless its ``run`` there is at hand, and read every v.

    ``record`` keeps what formulas need and gradients do not.
    """
    try:
        values = filled(function.program, values)
        run = run or function.evaluate(values, record, strict)
        names = function.differentiated
        shape = run.value.shape
        resets: frozenset[int] = frozenset()
        as_run = all(v is None for v in calls) and function.program.is_script and bool(function.program.vs)
        if as_run:
            calls, resets = (
                function.program.vs,
                frozenset(k for k, reset in enumerate(function.program.resets) if reset),
            )
        if record and not strict:
            whole = [each_call(v, shape) for v in calls]
            if any(len(own) > 1 for own in whole):
                run.graph.remark("v-identity", IDENTITY)
            calls = [call for own in whole for call in own]
        seeds = [read_seed(v, run, names, strict) for v in calls]
        if len(calls) > 1 and (record or strict) and not function.program.is_script:
            from gradcli.language.retaining import remark_second_backward

            remark_second_backward(run.graph, run.output)
    except GradcliError as error:
        raise error.at(error.span, function.place) from None
    integers = [name for name in names if np.asarray(detached(values[name])).dtype.kind in "iu"]
    if strict and integers:
        kept = run if record else function.evaluate(values, strict=strict)  # all that the integers are used for
        refuse_integers(integers, kept.graph, kept.leaves)
    return Point(function, run, names, seeds, integers, resets, as_run)


def read_seed(v: object, run: Evaluation, names: Sequence[str], strict: bool) -> Cotangent:
    """Return v for the output of a run; one number for several entries is refused with what it could have meant."""
    try:
        return read_v(v, run.value.shape, strict, output_name(run.graph, run.output))
    except GradcliError as error:
        facts = error.facts
        if not isinstance(facts, MisshapenV) or math.prod(facts.given) != 1 or not names:
            raise
        name, leaf = names[0], run.leaves[names[0]]
        if leaf.value.size > MOST_SPELLED:
            raise
        ones = gradients(run, np.ones(run.value.shape), [name])[name]
        worth = tuple(f"{name}.grad = {short_array(g)}" for g in (ones, ones / run.value.size))
        raise error.about(facts._replace(worth=worth)) from None


MOST_SPELLED = 6
"""Entries of a gradient that an error spells out."""


def compose_at(run: Evaluation, function: Function) -> Composition:
    """Return the Jacobian of a run by the symbolic route, by its entries unless these are too many."""
    from gradcli.jacobian.large import derive

    leaves = [run.leaves[name] for name in function.differentiated]
    return derive(run.output, leaves, function.program.budget.jacobian, run.graph)


def read_jacobians(point: Point, composition: Composition, formulas: Formulas | None = None) -> dict[str, Jacobian]:
    """Return J by each variable, with its formulas where there are any."""
    from gradcli.explanation.jacobians import Jacobian
    from gradcli.jacobian.sparse import nothing
    from gradcli.jacobian.structure import Pattern

    patterns: dict[str, Any] = formulas.patterns if formulas else {}
    shape, found, sweep = point.value.shape, {}, Sweep(point.run, list(point.leaves.values()))
    for name, leaf in point.leaves.items():
        held = leaf.index in composition.of
        entries = composition.of[leaf.index] if held else nothing(point.value.size, leaf.value.size)
        if name not in patterns:
            patterns[name] = Pattern(entries.rows, entries.columns, entries.shape)
        found[name] = Jacobian(
            shape,
            leaf.shape,
            patterns[name],
            entries.values,
            np.asarray(entries.sizes),
            formulas.jacobians.get(name) if formulas else None,
            formulas.rules.get(name, []) if formulas else [],
            held,
            JacobianMap(sweep, leaf, shape),
        )
    return found


class Sweep:
    """vᵀ·J by all variables, which one pass gives: that of the last v is kept."""

    def __init__(self, run: Evaluation, leaves: Sequence[Node]) -> None:
        self.run = run
        self.leaves = leaves
        self.v: Array | None = None
        self.found: dict[int, Vectors] = {}

    @cached_property
    def passes(self) -> Passes:
        """J as what it makes of vectors."""
        from gradcli.jacobian.large import Passes  # most Jacobians are held

        return Passes(self.run.output, self.leaves, self.run.graph)

    def back(self, v: Array) -> dict[int, Vectors]:
        """Return vᵀ·J by the index of each variable."""
        if self.v is None or not np.array_equal(self.v, v):
            self.found = self.passes.back(np.reshape(v, (1, -1)))
            self.v = np.array(v)
        return self.found


@dataclass(frozen=True)
class JacobianMap:
    """J by one variable as a ``LinearMap``."""

    sweep: Sweep
    leaf: Node
    output_shape: tuple[int, ...]

    def back(self, v: Array) -> tuple[Array, Array]:
        """Return vᵀ·J and the sizes of its terms, in the shape of the variable."""
        found = self.sweep.back(v)[self.leaf.index]
        return found.values.reshape(self.leaf.shape), found.sizes.reshape(self.leaf.shape)

    def forth(self, u: Array) -> tuple[Array, Array]:
        """Return J·u and the sizes of its terms, in the shape of y."""
        found = self.sweep.passes.forth(self.leaf, np.reshape(u, (1, -1)))
        return found.values.reshape(self.output_shape), found.sizes.reshape(self.output_shape)


def call_backward(point: Point, jacobians: dict[str, Jacobian]) -> list[Backward]:
    """Return every call of backward with what it leaves in ``.grad``."""
    found: list[Backward] = []
    for place, seed in enumerate(point.seeds):
        alone = len(point.seeds) == 1 and point.run.graph.meter.elements < LARGE
        grad = kept_gradients(point) if alone else gradients(point.run, seed.seed, jacobians)
        vjp = {name: jacobian.vjp(seed.seed) for name, jacobian in jacobians.items()}
        total = grad
        if found and place not in point.resets:
            total = {name: sum_of([found[-1].accumulated[name], g]) for name, g in grad.items()}
        found.append(Backward(seed, vjp, grad, total, place in point.resets))
    return found


def kept_gradients(point: Point) -> dict[str, Array]:
    """Return what the only call of backward gives, and keep the cotangents of its sweep: lines are written of them."""
    run, kept = point.run, point.kept
    if isinstance(run.output, Node) and run.output.active:
        kept |= cotangents(run.graph, run.output, point.seed, kept)
    return {
        name: np.array(kept[leaf.index] if leaf.index in kept else np.zeros(leaf.shape), dtype=np.float64)
        for name, leaf in point.leaves.items()
    }


def read_gradient(point: Point) -> Gradient:
    """Return what reverse mode alone answers, ``x.grad`` after the last call."""
    total: dict[str, Array] = {}
    for seed in point.counted:
        for name, g in gradients(point.run, seed.seed, point.names).items():
            total[name] = sum_of([total[name], g]) if name in total else g
    return gather_gradient(point, total)


def gather_gradient(point: Point, grad: dict[str, Array]) -> Gradient:
    """Return an answer that has a gradient and no J."""
    alone = len(point.counted) == 1
    return Gradient(
        point.function.place.text,
        point.value,
        point.counted[0].shown if alone else point.seed,
        point.counted[0].source if alone else "accumulated",
        grad,
        [*note_run(point.run.graph), *note_backward(point.run.graph.nodes, point.run.output), *note_followed(point)],
        point.timeline,
        point.function.labels,
    )


def note_followed(point: Point) -> list[Note]:
    """Say what backward passes of a script's own a gradient follows; nothing of a formula."""
    if not point.function.program.is_script:
        return []
    from gradcli.engine.live import swept
    from gradcli.explanation.script_notes import note_own

    output = point.run.output
    return note_own(point.function.program, swept(output)) if isinstance(output, Node) else []
