"""``explain``: the three readings of one graph, joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradcli.agreement import Agreement, Backward, Jacobian, compare, digits_lost, sum_of
from gradcli.errors import Budget, GradcliError
from gradcli.evaluation import Evaluation, Function, gradients
from gradcli.graph import Node
from gradcli.inputs import Cotangent, read_v
from gradcli.notes import Note, about_disagreement, about_graph, about_integers, about_jacobian, about_v
from gradcli.ops.declare import Array
from gradcli.stages import Stage, stages
from gradcli.tape import about_tape


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything that an answer shows; ``to_dict`` is the JSON document."""

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
    definition_values: dict[str, Array]
    stages: list[Stage] = field(default_factory=list)

    @property
    def vjp(self) -> dict[str, Array]:
        """vᵀ·J, added up over all calls."""
        return {name: sum_of([call.vjp[name] for call in self.backward]) for name in self.differentiated}

    @property
    def grad(self) -> dict[str, Array]:
        """``x.grad`` after the last call."""
        return self.backward[-1].accumulated

    @property
    def v(self) -> Array:
        """v as it is shown, added up over all calls where there are several."""
        return self.backward[0].v.shown if len(self.backward) == 1 else self.seed

    @property
    def seed(self) -> Array:
        """v as it counts, in the shape of y, added up over all calls."""
        return sum_of([call.v.seed for call in self.backward])

    @property
    def v_source(self) -> str:
        """Where v comes from: ``given``, ``default``, ``reshaped``, ``broadcast`` or ``accumulated``."""
        return self.backward[0].v.source if len(self.backward) == 1 else "accumulated"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document, schema 1."""
        from gradcli.render.document import document  # noqa: PLC0415

        return document(self)

    def __rich__(self) -> Any:
        from gradcli.render.tables import Layout, tables  # noqa: PLC0415

        return tables(self, Layout())

    def _repr_html_(self) -> str:
        from gradcli.render.console import html  # noqa: PLC0415

        return html(self)

    def __str__(self) -> str:
        from gradcli.render.plain import plain  # noqa: PLC0415

        return plain(self)


def explain(
    program: str,
    /,
    *,
    v: Any = None,
    calls: Sequence[Any] | None = None,
    wrt: Sequence[str] | None = None,
    strict: bool = False,
    budget: Budget | None = None,
    inputs: Mapping[str, Any] | None = None,
    **variables: Any,
) -> Explanation:
    """Explain ``y.backward(v)`` for the function that ``program`` describes.

    ``variables`` (or ``inputs``, for names that clash with a parameter) give every variable; ``wrt`` names those to
    differentiate, all by default. ``calls`` gives several v in turn, whose gradients accumulate.
    Raises ``GradcliError`` for anything that its caller can mend.
    """
    values = {**(inputs or {}), **variables}
    function = Function(program, wrt, budget, values)
    try:
        run = function.evaluate(values)
        names = function.differentiated
        given = [v] if calls is None else list(calls)
        seeds = [read_v(item, run.value.shape, strict) for item in given]
    except GradcliError as error:
        raise error.at(error.span, function.place) from None
    integers = [name for name in names if np.asarray(values[name]).dtype.kind in "iu"]
    return explained(function, run, names, seeds, [np.shape(item) for item in given], integers)


def explained(
    function: Function,
    run: Evaluation,
    names: tuple[str, ...],
    seeds: list[Cotangent],
    given: list[tuple[int, ...]],
    integers: list[str],
) -> Explanation:
    """Join the readings of one run; ``given`` are the shapes of v, ``integers`` the inputs without a fraction."""
    from gradcli.digits import about_digits  # noqa: PLC0415
    from gradcli.symbolic.formulas import derive  # noqa: PLC0415
    from gradcli.symbolic.jacobian import compose  # noqa: PLC0415

    leaves = {name: run.leaves[name] for name in names}
    composition = compose(run.output, list(leaves.values()), function.program.budget.jacobian, run.graph)
    formulas = derive(run.graph, run.output, leaves, composition)
    jacobians = {
        name: joined_jacobian(run.value.shape, leaf, composition.of[leaf.index], formulas, name)
        for name, leaf in leaves.items()
    }
    backward = backward_calls(run, jacobians, seeds)
    agreement = compare(jacobians, backward, run.value)
    notes = [
        note for seed, shape in zip(seeds, given, strict=True) for note in about_v(seed.source, shape, run.value.shape)
    ]
    notes += about_graph(run.output, run.leaves, names)
    if any(j.formulas is None and not j.rules and len(j.rows) for j in jacobians.values()):
        notes.append(Note("numeric-only", "The formula of J is too long to be read: J is given by its numbers alone."))
    for name, jacobian in jacobians.items():
        used = np.zeros(jacobian.matrix_shape[1], dtype=bool)
        used[jacobian.columns] = True
        notes += about_jacobian(name, used, jacobian.input_shape)
    notes += about_tape(run.graph, run.output, seeds[0].seed, agreement.agree and agreement.finite)
    lost = about_digits(run.output, composition, jacobians)
    notes += lost
    if agreement.agree and digits_lost(backward) and not lost:
        notes.append(
            Note(
                "digits-lost",
                "Cancellation or saturation has cost digits: J and reverse mode differ visibly, though by no more than "
                "rounding explains. Neither is exact here.",
            )
        )
    if not agreement.agree:
        notes.append(about_disagreement(run.output, not_finite_alone(backward)))
    notes += about_integers(integers)
    return Explanation(
        program=function.place.text,
        name=output_name(run),
        inputs={name: np.asarray(node.value) for name, node in run.leaves.items()},
        differentiated=names,
        output=run.value,
        output_formulas=formulas.output,
        definitions=formulas.definitions,
        jacobian=jacobians,
        backward=backward,
        agreement=agreement,
        notes=list(dict.fromkeys(notes)),
        definition_values={name: np.asarray(formulas.values[name]) for name in formulas.definitions},
        stages=stages(run, leaves, seeds[0].seed),
    )


def not_finite_alone(backward: list[Backward]) -> str:
    """Return which route is not finite in an entry where the other is: ``grad``, ``J``, or nothing."""
    for call in backward:
        for name, left in call.vjp.items():
            finite_j, finite_grad = np.isfinite(left), np.isfinite(call.grad[name])
            if np.any(finite_j != finite_grad):
                return "grad" if np.any(finite_j & ~finite_grad) else "J"
    return ""


def output_name(run: Evaluation) -> str:
    """Return what to call the output: the program's own last name for it, else ``y``, else ``f`` where y is taken."""
    own = [name for name, node in run.graph.bindings if node is run.output]
    taken = {*run.leaves, *(name for name, _ in run.graph.bindings)}
    return own[-1] if own else next(name for name in ("y", "f", "out", "y_") if name not in taken or name == "y_")


def joined_jacobian(output_shape: tuple[int, ...], leaf: Node, numeric: Any, formulas: Any, name: str) -> Jacobian:
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


__all__ = ["Agreement", "Backward", "Explanation", "Jacobian", "Stage", "explain"]
