"""From one run of a program to all that its answer holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from gradcli.engine.graph import Node
from gradcli.exact.slopes import Exact
from gradcli.exact.thresholds import SURE
from gradcli.explanation.agreement import Difference, compare, digits_lost, unproven
from gradcli.explanation.confirmation import Sums, confirm
from gradcli.explanation.dependence import note_dependence
from gradcli.explanation.explained import Agreement, Backward, Explained, Note
from gradcli.explanation.jacobians import Jacobian
from gradcli.explanation.nonfinite import note_nonfinite
from gradcli.explanation.notes import note_disagreement, note_graph, note_integers, note_run, note_unheld, note_v
from gradcli.explanation.program_values import tell_values
from gradcli.explanation.readings import Point, call_backward, compose_at, read_jacobians
from gradcli.explanation.run_lookup import RunLookup
from gradcli.explanation.script_notes import note_script, own_derivatives
from gradcli.explanation.suspicion import affordable, fits_a_check, is_beyond_doubles, is_edgy, list_operations
from gradcli.explanation.words import Confirmation, note_confirmation, too_large_text, undecided_text

if TYPE_CHECKING:
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
    from gradcli.explanation.digits import note_digits

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
        from gradcli.explanation.short_answers import note_questions  # a check asks no questions

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
