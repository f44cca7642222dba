"""``explain``: the three readings of one graph, joined."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.agreement import Agreement, Backward, Jacobian, digits_lost, sum_of, unproven
from gradcli.confirming.confirmation import Asked, Confirmation, confirm
from gradcli.confirming.suspicion import affordable, is_suspicious
from gradcli.confirming.words import notes_about
from gradcli.errors import Budget
from gradcli.evaluation import Evaluation, Function
from gradcli.exact.slopes import Exact
from gradcli.naming import output_name as name_of_output
from gradcli.notes import Note, about_disagreement, about_graph, about_integers, about_jacobian, about_run, about_v
from gradcli.ops.declare import Array
from gradcli.readings import Memory, Numbers, Point, composed, numbers, stand
from gradcli.stages import Stage, stages
from gradcli.tape import about_tape

if TYPE_CHECKING:
    from gradcli.symbolic.formulas import Formulas
    from gradcli.symbolic.jacobian import Composition
    from gradcli.symbolic.sparse import Sparse


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
    values_of_definitions: Callable[[], dict[str, Array]]
    link: Callable[[str, str], Sparse]
    """The derivative of one named value by another that it is computed from, with its other arguments fixed."""
    stages: list[Stage] = field(default_factory=list)
    zeros: dict[str, Array] = field(default_factory=dict)

    @property
    def definition_values(self) -> dict[str, Array]:
        """The numbers of ``definitions`` at this point, which tables show and the document leaves out."""
        return self.values_of_definitions()

    @property
    def vjp(self) -> dict[str, Array]:
        """vᵀ·J, added up over all calls."""
        if len(self.backward) == 1:
            return self.backward[0].vjp
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
    point = stand(function, values, [v] if calls is None else list(calls), strict)
    return explained(point, Memory(), Ask.WHERE_CHEAP)


class Ask(Enum):
    """When the numbers of an answer are held against arithmetic with digits to spare; each says more than the last."""

    NEVER = auto()
    WHERE_DOUBTFUL = auto()
    WHERE_CHEAP = auto()
    ALWAYS = auto()


def explained(point: Point, memory: Memory, ask: Ask = Ask.WHERE_DOUBTFUL) -> Explanation:
    """Join the readings of one run; what another run of the program has derived is taken from ``memory``."""
    from gradcli.digits import about_digits  # noqa: PLC0415

    run = point.run
    composition = composed(point)
    formulas = memory.formulas(point, composition)
    joined = numbers(point, composition, formulas)
    lost = about_digits(run.output, composition, joined.jacobians)
    confirmation = confirmed(point, joined, ask, lost)
    joined = replace(joined, agreement=weighed_agreement(joined.agreement, confirmation))
    return Explanation(
        program=point.function.place.text,
        name=output_name(run),
        inputs=point.inputs,
        differentiated=point.names,
        output=run.value,
        output_formulas=formulas.output,
        definitions=formulas.definitions,
        jacobian=joined.jacobians,
        backward=joined.backward,
        agreement=joined.agreement,
        notes=list(dict.fromkeys(notes_of(point, joined, confirmation, lost))),
        values_of_definitions=values_of(formulas, composition),
        link=links_of(formulas, composition, point),
        stages=stages(run, point.leaves, point.seeds[0].seed),
        zeros=confirmation.zeros if confirmation else {},
    )


def confirmed(point: Point, joined: Numbers, ask: Ask, lost: Sequence[Note]) -> Confirmation | None:
    """Hold the numbers of a run against arithmetic with digits to spare, as far as that is affordable."""
    run = point.run
    if ask is Ask.NEVER or not any(leaf.value.size for leaf in point.leaves.values()):
        return None
    how = "" if ask is Ask.WHERE_DOUBTFUL else affordable(run.graph, joined.jacobians, dear=ask is Ask.ALWAYS)
    doubtful = unproven(joined.jacobians, joined.agreement)
    edgy = is_suspicious(run.graph.nodes)
    if how != "entries" and joined.agreement.finite and (doubtful or lost or edgy):
        how = affordable(run.graph, joined.jacobians, dear=True)
    if not how:
        decides = doubtful or ask is Ask.ALWAYS
        unconfirmed = ask is Ask.WHERE_CHEAP and any(len(j.rows) for j in joined.jacobians.values())
        return Confirmation(unknown=TOO_LARGE if decides else "", skipped=unconfirmed)
    asked = Asked(
        output_name(run),
        run.value,
        sum_of([call.v.seed for call in joined.backward]),
        point.leaves,
        joined.jacobians,
        joined.backward[-1].accumulated,
    )
    return confirm(Exact(point.function.program, point.inputs, point.names), asked, how == "entries", edgy)


SURE = 12.0
"""Right digits of both routes with which they agree, however much more rounding than was reckoned lies between them."""
NOT_ASKED = (
    "The program is too large to hold these numbers in passing against arithmetic with digits to spare: "
    "gradcli check does."
)
TOO_LARGE = "the program is too large to be evaluated in many digits"


def weighed_agreement(agreement: Agreement, confirmation: Confirmation | None) -> Agreement:
    """Return whether the routes agree on the right numbers: what a confirmation says is added to what they say."""
    if confirmation is None:
        return agreement
    right = min((confirmation.digits.get(route, 0.0) for route in ("jacobian", "grad")), default=0.0)
    excused = agreement.finite and confirmation.asked == "entries" and right >= SURE
    verdict = confirmation.verdict if agreement.agree or excused else agreement.verdict
    return replace(agreement, agree=verdict == "agree", verdict=verdict, digits=confirmation.digits or None)


def values_of(formulas: Formulas, composition: Composition) -> Callable[[], dict[str, Array]]:
    """Return what gives the numbers of definitions at this point."""

    @cache
    def values() -> dict[str, Array]:
        from gradcli.symbolic.formulas import refreshed  # noqa: PLC0415

        here = refreshed(formulas, composition).values
        return {name: np.asarray(here[name]) for name in formulas.definitions}

    return values


def links_of(formulas: Formulas, composition: Composition, point: Point) -> Callable[[str, str], Sparse]:
    """Return what gives the links that rules are about."""

    def link(above: str, below: str) -> Sparse:
        nodes = {node.index: node for node in composition.nodes}
        named = {name: nodes[source.node] for name, source in formulas.sources.items() if source.node >= 0}
        named |= point.leaves
        return composition.link(named[above], named[below])

    return link


def notes_of(point: Point, joined: Numbers, confirmation: Confirmation | None, lost: Sequence[Note]) -> list[Note]:
    """Return what deserves a sentence."""
    run, shape = point.run, point.run.value.shape
    agreement, jacobians = joined.agreement, joined.jacobians
    notes = [
        note
        for seed, given in zip(point.seeds, point.given, strict=True)
        for note in about_v(seed.source, given, shape)
    ]
    graph = about_graph(run.output, run.leaves, point.names)
    asked = confirmation is not None and bool(confirmation.asked)
    notes += about_run(run.graph)
    notes += [note for note in graph if not (asked and note.kind == "kink")]
    if any(j.formulas is None and not j.rules and len(j.rows) for j in jacobians.values()):
        notes.append(Note("numeric-only", "The formula of J is too long to be read: J is given by its numbers alone."))
    for name, jacobian in jacobians.items():
        used = np.zeros(jacobian.matrix_shape[1], dtype=bool)
        used[jacobian.columns] = True
        notes += about_jacobian(name, used, jacobian.input_shape)
    notes += about_tape(run.graph, run.output, point.seeds[0].seed, agreement.agree and agreement.finite)
    if asked and confirmation is not None:
        notes += notes_about(confirmation, [note for note in graph if note.kind == "kink"], lost)
    else:
        notes += lost
    if confirmation is not None and not asked and confirmation.unknown:
        notes.append(Note("unclear", f"What is true here was not found: {confirmation.unknown}."))
    elif confirmation is not None and confirmation.skipped:
        notes.append(Note("not-confirmed", NOT_ASKED))
    if not asked and agreement.agree and digits_lost(joined.backward) and not lost:
        notes.append(
            Note(
                "digits-lost",
                "Cancellation or saturation has cost digits: J and reverse mode differ visibly, though by no more than "
                "rounding explains. Neither is exact here.",
            )
        )
    if agreement.verdict == "differ":
        notes.append(about_disagreement(run.output, not_finite_alone(joined.backward)))
    return notes + about_integers(point.integers)


def not_finite_alone(backward: list[Backward]) -> str:
    """Return which route is not finite in an entry where the other is: ``grad``, ``J``, or nothing."""
    for call in backward:
        for name, left in call.vjp.items():
            finite_j, finite_grad = np.isfinite(left), np.isfinite(call.grad[name])
            if np.any(finite_j != finite_grad):
                return "grad" if np.any(finite_j & ~finite_grad) else "J"
    return ""


def output_name(run: Evaluation) -> str:
    """Return what to call the output."""
    return name_of_output(run.graph, run.output)


__all__ = ["Agreement", "Backward", "Explanation", "Jacobian", "Stage", "explain"]
