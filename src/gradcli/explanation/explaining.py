"""From one run of a program to all that its answer holds.

What an answer is asked for beyond itself, computed from the run that it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gradcli.engine.graph import Node
from gradcli.exact.slopes import Exact
from gradcli.exact.thresholds import SURE
from gradcli.explanation.agreement import Difference, compare, digits_lost, unproven
from gradcli.explanation.confirmation import (
    Confirmation,
    Sums,
    confirm,
    note_confirmation,
    too_large_text,
    undecided_text,
)
from gradcli.explanation.evaluation import Point, call_backward, compose_at, read_jacobians
from gradcli.explanation.explained import Agreement, Backward, Explained, Note, Proof, View
from gradcli.explanation.forward import tell_values
from gradcli.explanation.jacobians import Jacobian
from gradcli.explanation.notes import (
    note_dependence,
    note_disagreement,
    note_graph,
    note_integers,
    note_run,
    note_script,
    note_unheld,
    note_v,
    own_derivatives,
)
from gradcli.explanation.run_lookup import RunLookup, name_values
from gradcli.explanation.suspicion import (
    affordable,
    fits_a_check,
    is_beyond_doubles,
    is_edgy,
    list_operations,
    note_nonfinite,
)
from gradcli.ops.links import Array

if TYPE_CHECKING:
    from gradcli.explanation.views import Descent, Hessian, Rows, Tangent
    from gradcli.formulas.derivation import Formulas
    from gradcli.jacobian.composition import Composition


NOT_CHECKED = "These numbers are not compared with a computation in higher precision, as the program is large"


class Ask(Enum):
    """When the numbers of an answer are held against arithmetic with digits to spare; each says more than the last."""

    NEVER = auto()
    WHERE_DOUBTFUL = auto()
    WHERE_CHEAP = auto()
    ALWAYS = auto()


Derive = Callable[[Point, "Composition"], "Formulas"]
"""What gives the formulas of a run. The numbers of their names may be missing, or those of another run."""
Kind = TypeVar("Kind", bound=Explained)


def derive(point: Point, composition: Composition) -> Formulas:
    """Return the formulas of a run, newly derived."""
    from gradcli.formulas.derivation import found_formulas

    return found_formulas(point.run.graph, point.run.output, point.leaves, composition)


def explain_run(
    point: Point, ask: Ask, kind: type[Kind], derive: Derive = derive, composition: Composition | None = None
) -> Kind:
    """Return the answer for one run, as an ``Explained`` of this ``kind``.

    ``ask`` says when its numbers are held against many digits, ``derive`` where its formulas come from. ``composition``
    is the Jacobian by numbers, where it is at hand.
    """
    from gradcli.explanation.suspicion import note_digits

    run, said = point.run, ask is not Ask.NEVER
    composition = composition or compose_at(run, point.function)
    formulas = derive(point, composition)
    jacobians = read_jacobians(point, composition, formulas)
    backward, past = followed(point, call_backward(point, jacobians))
    difference = compare(jacobians, backward, point.value)
    lost = note_digits(run.output, point.name, composition, jacobians)
    program = point.function.program
    own = program.is_script and bool(own_derivatives(composition.nodes))
    bent = own and not past and not difference.within  # what its backward makes of v is no product with a matrix
    if bent or past:
        ask = Ask.NEVER
    confirmation = confirm_where(ask, point, jacobians, backward, difference, bool(lost))
    agreement = agree(difference, confirmation)
    if bent:
        agreement = Agreement(True, agreement.max_abs_error, agreement.finite, "agree", None)
    graph = note_graph(run.graph, composition.nodes)
    asked = confirmation is not None and bool(confirmation.asked)
    kinks = [note for note in graph if note.kind == "kink"] if asked else []
    notes = [
        *notes_of_run(point, composition.nodes, [note for note in graph if note not in kinks], jacobians, agreement),
        *past,
        *(() if bent or past else notes_of_digits(point, backward, agreement, confirmation, lost, kinks)),
        *(note_script(program, composition.nodes, bent) if program.is_script else ()),
    ]
    if said and not past:
        from gradcli.explanation.weighing import note_questions  # a check asks no questions

        notes += note_questions(point, composition.nodes, jacobians, formulas.definitions, notes)
    told = tell_values(run.graph, run.output, formulas.nodes, formulas.sources)
    dust = confirmation.dust if confirmation else {}
    return kind(
        program=point.function.place.text,
        name=point.name,
        inputs=point.inputs,
        differentiated=point.names,
        output=point.value,
        output_formulas=formulas.output,
        definitions=formulas.definitions,
        jacobian=jacobians,
        backward=backward,
        agreement=agreement,
        notes=list(dict.fromkeys(notes)),
        lookup=RunLookup(formulas, composition, point, jacobians, backward, dust, told.names),
        forward=told.events,
        timeline=point.timeline,
        labels=point.function.labels,
    )


def followed(point: Point, backward: list[Backward]) -> tuple[list[Backward], list[Note]]:
    """Return the calls with what a script's own run gave, and the notes on what is not vᵀ·J."""
    if not point.as_run:
        return backward, []
    from gradcli.explanation.observed import follow_run  # a formula has no run of its own

    return follow_run(point, backward)


def confirm_where(
    ask: Ask,
    point: Point,
    jacobians: Mapping[str, Jacobian],
    backward: Sequence[Backward],
    difference: Difference,
    lost: bool,
) -> Confirmation | None:
    """Hold the numbers of a run against arithmetic with digits to spare, as far as that is affordable.

    ``lost`` says that digits are known to be lost somewhere.
    """
    graph = point.run.graph
    if ask is Ask.NEVER or not any(leaf.value.size for leaf in point.leaves.values()):
        return None
    how = "" if ask is Ask.WHERE_DOUBTFUL else affordable(graph, jacobians, dear=ask is Ask.ALWAYS)
    doubtful = unproven(jacobians, difference)
    done = list_operations(graph.nodes)
    edgy = is_edgy(done)
    suspicious = edgy or is_beyond_doubles(done)
    if how != "entries" and difference.finite and (doubtful or lost or suspicious):
        how = affordable(graph, jacobians, dear=True)
    if not how:
        unknown = too_large_text(graph.budget.work) if doubtful or ask is Ask.ALWAYS else ""
        unconfirmed = ask is Ask.WHERE_CHEAP and any(len(j.rows) or not j.held for j in jacobians.values())
        if not unconfirmed:
            return Confirmation(unknown=unknown)
        ending = "; gradcli check does it." if fits_a_check(graph, 1) else ", too large for gradcli check too."
        return Confirmation(unknown=unknown, skipped=NOT_CHECKED + ending)
    exact = Exact(point.function.program, point.inputs, point.names)
    return confirm(exact, point, jacobians, Sums.of(backward), how == "entries", edgy)


def agree(difference: Difference, confirmation: Confirmation | None) -> Agreement:
    """Return whether the routes agree on the right numbers: what a confirmation says is added to what they say."""
    if confirmation is None:
        return difference.alone
    right = min((confirmation.digits.get(route, 0.0) for route in ("jacobian", "grad")), default=0.0)
    excused = difference.finite and confirmation.asked == "entries" and right >= SURE
    verdict = confirmation.verdict if difference.within or excused else "differ"
    return Agreement(
        verdict == "agree", difference.max_abs_error, difference.finite, verdict, confirmation.digits or None
    )


def notes_of_run(
    point: Point, nodes: list[Node], graph: Sequence[Note], jacobians: Mapping[str, Jacobian], agreement: Agreement
) -> list[Note]:
    """Return what deserves a sentence about v, the formulas, and where numbers stop to be finite.

    ``graph`` are the notes about the operations among the ``nodes`` that y depends on, which stand among them.
    """
    run = point.run
    notes = [note for seed in point.seeds for note in note_v(seed, point.name)]
    notes += [*note_run(run.graph), *graph]
    if any(j.formulas is None and not j.rules and len(j.rows) for j in jacobians.values()):
        notes.append(Note("numeric-only", "The formulas of J are too long to read: J is shown by its numbers alone."))
    notes += [note_unheld(name, j.matrix_shape) for name, j in jacobians.items() if not j.held]
    columns = {name: j.columns for name, j in jacobians.items() if j.held}
    notes += note_dependence(run.graph, run.output, point.name, point.leaves, columns)
    finite = agreement.agree and agreement.finite
    return notes + note_nonfinite(run.graph, run.output, nodes, point.seeds[0].seed, finite)


def notes_of_digits(
    point: Point,
    backward: Sequence[Backward],
    agreement: Agreement,
    confirmation: Confirmation | None,
    lost: Sequence[Note],
    kinks: Sequence[Note],
) -> list[Note]:
    """Return what deserves a sentence about digits, the two routes, and inputs in integers.

    ``lost`` says which digits are lost and why, ``kinks`` what operations say of their own kinks.
    """
    asked = confirmation is not None and bool(confirmation.asked)
    notes = [*lost]
    if confirmation is not None and asked:
        notes = note_confirmation(confirmation, (point.name, point.names), kinks, lost)
    if confirmation is not None and not asked and confirmation.unknown:
        notes.append(Note("unclear", undecided_text(confirmation.unknown)))
    elif confirmation is not None and confirmation.skipped:
        notes.append(Note("not-confirmed", confirmation.skipped))
    if not asked and agreement.agree and digits_lost(backward) and not lost:
        notes.append(
            Note(
                "digits-lost",
                "J and reverse mode differ in digits that are shown, by no more than rounding explains: terms "
                "cancel here, and neither number is exact.",
            )
        )
    if agreement.verdict == "differ":
        notes.append(note_disagreement(point.run.output, not_finite_alone(backward)))
    return notes + note_integers(point.integers, point.run.graph, point.leaves)


def not_finite_alone(backward: Sequence[Backward]) -> str:
    """Return which route is not finite in an entry where the other is: ``grad``, ``J``, or nothing."""
    for call in backward:
        for name, left in call.vjp.items():
            finite_j, finite_grad = np.isfinite(left), np.isfinite(call.grad[name])
            if np.any(finite_j != finite_grad):
                return "grad" if np.any(finite_j & ~finite_grad) else "J"
    return ""


# ---- What an answer is asked for beyond itself, computed from the run that it came from

Given = Mapping[str, object]
"""u by the names of variables; ``""`` stands for the only one."""


@dataclass(frozen=True, slots=True)
class ViewRequest:
    """What an answer is asked for.

    - ``row``, ``column``: places of rows and columns of J.
    - ``tape``, ``steps``: the recorded graph, and how each derivative is found.
    - ``rows``: all of J by calls of backward.
    - ``u``: a direction, for J·u and H·u.
    - ``hessian``: the second derivative.
    - ``lr``, ``iterations``: gradient descent, where there is a rate.
    """

    row: Sequence[str] = ()
    column: Sequence[str] = ()
    tape: bool = False
    steps: bool = False
    rows: bool = False
    u: Given | None = None
    hessian: bool = False
    lr: float | None = None
    iterations: int = 10


def with_tangents(found: Kind, program: Any) -> Kind:
    """Return the answer of a script's jvp with J·u by the tangents of the script; any other as it is."""
    call = program.calls[-1] if program.is_script and program.calls else None
    if call is None or not call.tangents:
        return found
    u = {program.identifier(label): tangent for label, tangent in zip(call.of, call.tangents, strict=False)}
    return with_views(found, ViewRequest(u={name: tangent for name, tangent in u.items() if name in found.jacobian}))


def with_views(found: Kind, wanted: ViewRequest) -> Kind:
    """Return an answer with what it is asked for, and what deserves a sentence about that among its notes.

    Raises ``option``, ``shape`` and ``value`` for a place or a u that does not fit, ``second`` and ``budget``.
    """
    u, remarks = (None, []) if wanted.u is None else direction(found, wanted.u)
    views = dict(find_views(found, wanted, u))
    passes = [Note("passes", found.passes.sentence)] if views.keys() & {"slices", "one_hot"} else []
    notes = [*found.notes, *remarks, *(note for view in views.values() for note in view.proof.remarks), *passes]
    return replace(found, views=views, notes=list(dict.fromkeys(notes)))


def find_views(found: Explained, wanted: ViewRequest, u: Mapping[str, Array] | None) -> Iterator[tuple[str, View]]:
    """Yield what is asked for by its name, in the order in which documents have it."""
    if wanted.row or wanted.column:
        from gradcli.explanation.tangents import slices_at

        yield "slices", View(slices_at(found, wanted.row, wanted.column))
    if wanted.tape:
        yield "tape", View(found.tape)
    if wanted.steps:
        yield "steps", View(found.steps)
    if wanted.rows:
        yield "one_hot", View(rows := find_rows(found), rows.proof)
    if u is not None:
        yield "jvp", View(tangent := find_tangent(found, u), tangent.proof)
    if wanted.hessian:
        yield "hessian", View(hessian := find_hessian(found, u), hessian.proof)
    if wanted.lr is not None:
        descent = find_descent(found, wanted.lr, wanted.iterations)
        yield "descent", View(descent, Proof(remarks=descent.remarks))


def run_of(found: Explained) -> RunLookup:
    """Return the run that an answer came from."""
    assert isinstance(found.lookup, RunLookup)  # noqa: S101
    return found.lookup


def direction(found: Explained, given: Given) -> tuple[dict[str, Array], list[Note]]:
    """Return u by variable, in its shape, and what is to be said of it."""
    from gradcli.explanation.tangents import read_u  # each view loads what fills it

    return read_u(given, {name: jacobian.input_shape for name, jacobian in found.jacobian.items()})


def find_rows(found: Explained) -> Rows:
    """Return all of J by calls of backward with one-hot v."""
    from gradcli.explanation.tangents import call_rows

    run = run_of(found)
    return call_rows(run.point, run.jacobians)


def find_tangent(found: Explained, u: Mapping[str, Array]) -> Tangent:
    """Return J·u, and what both passes carry."""
    from gradcli.explanation.tangents import move

    run = run_of(found)
    return move(run.point, run.jacobians, u, found.grad, name_values(run.point))


def find_hessian(found: Explained, u: Mapping[str, Array] | None) -> Hessian:
    """Return the second derivative of v·y, and its product with u where there is one."""
    from gradcli.explanation.hessians import differentiate_twice

    run = run_of(found)
    told = {*found.definitions, *run.recorded.names.values(), *run.recorded.constants}
    return differentiate_twice(run.point, u, told)


def find_descent(found: Explained, lr: float, iterations: int) -> Descent:
    """Return steps of gradient descent on v·y."""
    from gradcli.explanation.tangents import descend

    return descend(run_of(found).point, lr, iterations)
