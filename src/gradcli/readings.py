"""The numbers of one run by both routes, and its formulas, which runs of one program share where they can."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.agreement import Agreement, Backward, Jacobian, compare, sum_of
from gradcli.errors import GradcliError
from gradcli.evaluation import Evaluation, Function, gradients
from gradcli.graph import Node
from gradcli.inputs import Cotangent, read_v
from gradcli.ops.declare import Array
from gradcli.recent import Recent

if TYPE_CHECKING:
    from gradcli.symbolic.formulas import Formulas
    from gradcli.symbolic.jacobian import Composition

MOST_SHARED = 20_000
"""Products of entries in a composition up to which its formulas are kept: what tells runs apart grows with them."""
ENTRY = 64
"""Characters that tell one product of entries from another, roughly."""
MOST_FORMULAS, HEAVIEST = 1024, 2**26
"""Sets of formulas that are kept, and the characters of all together."""


@dataclass(frozen=True, slots=True)
class Point:
    """One run of a function with the v of every call of backward; ``given`` are their shapes as they came.

    ``integers`` are the differentiated inputs that came without a fraction.
    """

    function: Function
    run: Evaluation
    names: tuple[str, ...]
    seeds: list[Cotangent]
    given: list[tuple[int, ...]]
    integers: list[str]

    @property
    def leaves(self) -> dict[str, Node]:
        """The nodes of the differentiated inputs."""
        return {name: self.run.leaves[name] for name in self.names}

    @property
    def inputs(self) -> dict[str, Array]:
        """All inputs as numbers."""
        return {name: np.asarray(node.value) for name, node in self.run.leaves.items()}


def stand(function: Function, values: dict[str, Any], calls: Sequence[Any], strict: bool, record: bool = True) -> Point:
    """Run a function at a point and read every v; ``record`` keeps what formulas need and gradients do not."""
    try:
        run = function.evaluate(values, record, strict)
        names = function.differentiated
        shape = run.value.shape
        seeds = [read_v(v, shape, strict) for v in calls]
    except GradcliError as error:
        raise error.at(error.span, function.place) from None
    integers = [name for name in names if np.asarray(values[name]).dtype.kind in "iu"]
    return Point(function, run, names, seeds, [np.shape(v) for v in calls], integers)


@dataclass(frozen=True, slots=True)
class Numbers:
    """J, what each call of backward leaves, and whether the routes agree."""

    jacobians: dict[str, Jacobian]
    backward: list[Backward]
    agreement: Agreement

    @property
    def vjp(self) -> dict[str, Array]:
        """vᵀ·J, added up over all calls."""
        return {name: sum_of([call.vjp[name] for call in self.backward]) for name in self.jacobians}


def composed(point: Point) -> Composition:
    """Return the Jacobian by the symbolic route."""
    from gradcli.symbolic.jacobian import compose  # noqa: PLC0415

    bound = point.function.program.budget.jacobian
    return compose(point.run.output, list(point.leaves.values()), bound, point.run.graph)


def numbers(point: Point, composition: Composition, formulas: Formulas) -> Numbers:
    """Return the numbers of a run by both routes, J with its formulas."""
    shape = point.run.value.shape
    jacobians = {
        name: joined_jacobian(shape, leaf, composition.of[leaf.index], formulas, name)
        for name, leaf in point.leaves.items()
    }
    backward = backward_calls(point.run, jacobians, point.seeds)
    return Numbers(jacobians, backward, compare(jacobians, backward, point.run.value))


def joined_jacobian(output_shape: tuple[int, ...], leaf: Node, numeric: Any, formulas: Formulas, name: str) -> Jacobian:
    """Return the Jacobian by one variable with its numbers and formulas."""
    from gradcli.symbolic.structure import structure  # noqa: PLC0415

    return Jacobian(
        output_shape,
        leaf.shape,
        numeric.rows,
        numeric.columns,
        numeric.values,
        numeric.sizes,
        formulas.jacobians.get(name),
        structure(numeric),
        formulas.rules.get(name, []),
    )


def backward_calls(run: Evaluation, jacobians: dict[str, Jacobian], seeds: list[Cotangent]) -> list[Backward]:
    """Return every call of backward with what it leaves in ``.grad``."""
    found: list[Backward] = []
    for seed in seeds:
        grad = gradients(run, seed.seed, jacobians)
        vjp = {name: jacobian.vjp(seed.seed) for name, jacobian in jacobians.items()}
        total = {name: sum_of([found[-1].accumulated[name], g]) for name, g in grad.items()} if found else grad
        found.append(Backward(seed, vjp, grad, total))
    return found


def accumulated(point: Point) -> dict[str, Array]:
    """Return ``x.grad`` after the last call, by reverse mode alone."""
    total: dict[str, Array] = {}
    for seed in point.seeds:
        for name, g in gradients(point.run, seed.seed, point.names).items():
            total[name] = sum_of([total[name], g]) if name in total else g
    return total


class Memory:
    """Formulas that were derived, for runs of the same program that would derive the same."""

    def __init__(self) -> None:
        self._kept: Recent[Formulas] = Recent(MOST_FORMULAS, HEAVIEST)

    def __len__(self) -> int:
        return len(self._kept)

    def formulas(self, point: Point, composition: Composition) -> Formulas:
        """Return the formulas of a run: those of an earlier one with the same signature, else newly derived.

        Their names have no numbers yet: ``refreshed`` gives those of a run.
        """
        from gradcli.symbolic.formulas import found_formulas  # noqa: PLC0415
        from gradcli.symbolic.signature import signature  # noqa: PLC0415

        run, function, leaves = point.run, point.function, point.leaves
        told = signature(run.graph, run.output, leaves, composition) if composition.work <= MOST_SHARED else None
        key: Hashable = (function.place.text, function.wrt, told)
        earlier = None if told is None else self._kept.get(key)
        if earlier is not None:
            return earlier
        found = found_formulas(run.graph, run.output, leaves, composition)
        if told is not None:
            self._kept.keep(key, found, ENTRY * composition.work + characters(found))
        return found


def characters(formulas: Formulas) -> int:
    """Return how many characters all formulas have together."""
    named: list[Mapping[str, list[str]]] = [formulas.jacobians, formulas.rules]
    lists = [formulas.output or [], *(texts for texts_of in named for texts in texts_of.values())]
    return sum(map(len, formulas.definitions.values())) + sum(len(text) for texts in lists for text in texts)
