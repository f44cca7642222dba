"""From one run of a program to all that its answer holds, and the views that it is asked for beside that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gradcli.exact.slopes import Exact
from gradcli.exact.work import SURE
from gradcli.explanation.confirmation import Confirmation, Sums, confirm, too_large_text, undecided_text
from gradcli.explanation.effect import note_questions
from gradcli.explanation.evaluation import Run, Source
from gradcli.explanation.explained import Explained
from gradcli.explanation.forward import tell_values
from gradcli.explanation.jacobians import Jacobian, call_backward, compare, digits_lost, read_jacobians, unproven
from gradcli.explanation.notes import (
    given_by,
    is_edgy,
    is_near_in_float32,
    note_before,
    note_dependence,
    note_disagreement,
    note_graph,
    note_integers,
    note_past,
    note_run,
    note_script,
    note_unheld,
    note_v,
    own_derivatives,
)
from gradcli.explanation.results import Agreement, Backward, Note, Proof, View
from gradcli.explanation.suspicion import (
    affordable,
    fits_a_check,
    is_beyond_doubles,
    list_operations,
    note_digits,
    note_nonfinite,
)
from gradcli.ops.declare import Array

if TYPE_CHECKING:
    from gradcli.engine.graph import Node
    from gradcli.formulas.derivation import Formulas
    from gradcli.jacobian.composition import Composition


NOT_CHECKED = "These numbers are not compared with a computation in higher precision, as the program is large"


class Ask(Enum):
    """When the numbers of an answer are held against arithmetic with digits to spare; each says more than the last."""

    NEVER = auto()
    WHERE_DOUBTFUL = auto()
    WHERE_CHEAP = auto()
    ALWAYS = auto()


Derive = Callable[[Run, "Composition"], "Formulas"]
"""What gives the formulas of a run. The numbers of their names may be missing, or those of another run."""
Kind = TypeVar("Kind", bound=Explained)


def derive(run: Run, composition: Composition) -> Formulas:
    """Return the formulas of a run, newly derived."""
    from gradcli.formulas.derivation import found_formulas

    return found_formulas(run.graph, run.output, run.leaves, composition)


def explain_run(
    run: Run, ask: Ask, kind: type[Kind], derive: Derive = derive, composition: Composition | None = None
) -> Kind:
    """Return the answer for one run, as an ``Explained`` of this ``kind``.

    ``ask`` says when its numbers are held against many digits, ``derive`` where its formulas come from. ``composition``
    is the Jacobian by numbers, where it is at hand.
    """
    program, questions = run.function.program, ask is not Ask.NEVER
    composition = composition or run.compose()
    formulas = derive(run, composition)
    jacobians = read_jacobians(run, composition, formulas)
    backward, past = follow_run(run, call_backward(run, jacobians))
    routes = compare(jacobians, backward, run.value)
    lost = note_digits(run, composition, jacobians)
    by_script = program.is_script and bool(own_derivatives(composition.nodes))
    bent = by_script and not past and not routes.agree  # what its backward makes of v is no product with a matrix
    if bent or past:
        ask = Ask.NEVER
    confirmation = confirm_where(ask, run, jacobians, backward, routes, bool(lost))
    agreement = agree(routes, confirmation)
    if bent:
        agreement = Agreement(True, agreement.max_abs_error, agreement.finite)
    of_graph = note_graph(run.graph, composition.nodes)
    asked = confirmation is not None and bool(confirmation.asked)
    kinks = [note for note in of_graph if note.kind == "kink"] if asked else []
    notes = [
        *notes_of_run(run, composition.nodes, [note for note in of_graph if note not in kinks], jacobians, agreement),
        *past,
        *(() if bent or past else notes_of_digits(run, backward, agreement, confirmation, lost, kinks)),
        *(note_script(program, composition.nodes, bent) if program.is_script else ()),
    ]
    if questions and not past:
        notes += note_questions(run, composition.nodes, jacobians, formulas.definitions, notes)
    story = tell_values(run.graph, run.output, formulas.nodes, formulas.sources)
    return kind(
        program=run.function.place.text,
        name=run.name,
        inputs=run.inputs,
        differentiated=run.names,
        output=run.value,
        output_formulas=formulas.output,
        definitions=formulas.definitions,
        jacobian=jacobians,
        backward=backward,
        agreement=agreement,
        notes=list(dict.fromkeys(notes)),
        source=Source(run, formulas, composition, confirmation.dust if confirmation else {}, story.names),
        forward=story.events,
        timeline=run.timeline,
        labels=run.function.labels,
    )


def follow_run(run: Run, backward: list[Backward]) -> tuple[list[Backward], list[Note]]:
    """Return the calls with what a script's own run gave where that is not vᵀ·J, and what is to be said of them.

    Nothing is where other v or values are asked for than the script has.
    """
    program = run.function.program
    if not program.is_script or not run.as_run or len(program.calls) != len(run.seeds):
        return backward, []
    changed: dict[str, None] = {}
    followed: list[Backward] = []
    for call, event in zip(backward, program.calls, strict=False):
        gave = {program.identifier(label): np.asarray(g, dtype=np.float64) for label, g in given_by(event).items()}
        other = {
            name: gave[name]
            for name, g in call.grad.items()
            if name in gave and gave[name].shape == g.shape and not is_near_in_float32(gave[name], g)
        }
        changed |= dict.fromkeys(other)
        grad = total = {**call.grad, **other}
        if followed and not call.alone:
            total = {name: followed[-1].accumulated[name] + g for name, g in grad.items()}
        followed.append(Backward(call.v, call.vjp, grad, total, call.alone))
    notes = note_before(program.calls[0])
    return (followed, [note_past(program, list(changed)), *notes]) if changed else (backward, notes)


def confirm_where(
    ask: Ask, run: Run, jacobians: Mapping[str, Jacobian], backward: Sequence[Backward], routes: Agreement, lost: bool
) -> Confirmation | None:
    """Hold the numbers of a run against arithmetic with digits to spare, as far as that is affordable.

    ``lost`` says that digits are known to be lost somewhere.
    """
    graph = run.graph
    if ask is Ask.NEVER or not any(leaf.value.size for leaf in run.leaves.values()):
        return None
    how = "" if ask is Ask.WHERE_DOUBTFUL else affordable(graph, jacobians, dear=ask is Ask.ALWAYS)
    doubtful = unproven(jacobians, routes)
    operations = list_operations(graph.nodes)
    edgy = is_edgy(operations)
    suspicious = edgy or is_beyond_doubles(operations)
    if how != "entries" and routes.finite and (doubtful or lost or suspicious):
        how = affordable(graph, jacobians, dear=True)
    if how:
        exact = Exact(run.function.program, run.inputs, run.names)
        return confirm(exact, run, jacobians, Sums.of(backward), how == "entries", edgy)
    unknown = too_large_text(graph.budget.work) if doubtful or ask is Ask.ALWAYS else ""
    if ask is not Ask.WHERE_CHEAP or not any(len(j.rows) or not j.held for j in jacobians.values()):
        return Confirmation(unknown=unknown)
    ending = "; gradcli check does it." if fits_a_check(graph, 1) else ", too large for gradcli check too."
    return Confirmation(unknown=unknown, skipped=NOT_CHECKED + ending)


def agree(routes: Agreement, confirmation: Confirmation | None) -> Agreement:
    """Return whether the routes agree on the right numbers: what a confirmation says is added to what they say."""
    if confirmation is None:
        return routes
    right = min((confirmation.digits.get(route, 0.0) for route in ("jacobian", "grad")), default=0.0)
    excused = routes.finite and confirmation.asked == "entries" and right >= SURE
    verdict = confirmation.verdict if routes.agree or excused else "differ"
    return replace(routes, agree=verdict == "agree", verdict=verdict, digits=confirmation.digits or None)


def notes_of_run(
    run: Run, nodes: list[Node], of_graph: Sequence[Note], jacobians: Mapping[str, Jacobian], agreement: Agreement
) -> list[Note]:
    """Return what deserves a sentence about v, the formulas, and where numbers stop to be finite.

    ``of_graph`` are the notes about the operations among the ``nodes`` that y depends on, which stand among them.
    """
    notes = [note for seed in run.seeds for note in note_v(seed, run.name)]
    notes += [*note_run(run.graph), *of_graph]
    if any(j.formulas is None and not j.rules and len(j.rows) for j in jacobians.values()):
        notes.append(Note("numeric-only", "The formulas of J are too long to read: J is shown by its numbers alone."))
    notes += [note_unheld(name, j.matrix_shape) for name, j in jacobians.items() if not j.held]
    columns = {name: j.columns for name, j in jacobians.items() if j.held}
    notes += note_dependence(run.graph, run.output, run.name, run.leaves, columns)
    return notes + note_nonfinite(run, nodes, agreement.agree and agreement.finite)


def notes_of_digits(
    run: Run,
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
        notes = confirmation.notes(run, kinks, lost)
    elif confirmation is not None and confirmation.unknown:
        notes.append(Note("unclear", undecided_text(confirmation.unknown)))
    elif confirmation is not None and confirmation.skipped:
        notes.append(Note("not-confirmed", confirmation.skipped))
    if not asked and agreement.agree and digits_lost(backward) and not lost:
        text = (
            "J and reverse mode differ in digits that are shown, by no more than rounding explains: terms cancel here, "
        )
        notes.append(Note("digits-lost", f"{text}and neither number is exact."))
    if agreement.verdict == "differ":
        notes.append(note_disagreement(run.output, not_finite_alone(backward)))
    return notes + note_integers(run.integers, run.graph, run.leaves)


def not_finite_alone(backward: Sequence[Backward]) -> str:
    """Return which route is not finite in an entry where the other is: ``grad``, ``J``, or nothing."""
    for call in backward:
        for name, left in call.vjp.items():
            finite_j, finite_grad = np.isfinite(left), np.isfinite(call.grad[name])
            if np.any(finite_j != finite_grad):
                return "grad" if np.any(finite_j & ~finite_grad) else "J"
    return ""


Direction = Mapping[str, object]
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
    u: Direction | None = None
    hessian: bool = False
    lr: float | None = None
    iterations: int = 10


def with_tangents(answer: Kind, program: Any) -> Kind:
    """Return the answer of a script's jvp with J·u by the tangents of the script; any other as it is."""
    call = program.calls[-1] if program.is_script and program.calls else None
    if call is None or not call.tangents:
        return answer
    u = {program.identifier(label): tangent for label, tangent in zip(call.of, call.tangents, strict=False)}
    return with_views(answer, ViewRequest(u={name: tangent for name, tangent in u.items() if name in answer.jacobian}))


def with_views(answer: Kind, wanted: ViewRequest) -> Kind:
    """Return an answer with what it is asked for, and what deserves a sentence about that among its notes.

    Raises ``option``, ``shape`` and ``value`` for a place or a u that does not fit, ``second`` and ``budget``.
    """
    u, remarks = (None, []) if wanted.u is None else read_direction(answer, wanted.u)
    asked = {
        "slices": bool(wanted.row or wanted.column), "tape": wanted.tape, "steps": wanted.steps, "one_hot": wanted.rows,
        "jvp": u is not None, "hessian": wanted.hessian, "descent": wanted.lr is not None,
    }  # fmt: skip
    contents = {name: find_view(name, answer, wanted, u) for name, is_asked in asked.items() if is_asked}
    views = {name: View(content, getattr(content, "proof", Proof())) for name, content in contents.items()}
    passes = [Note("passes", answer.passes.sentence)] if views.keys() & {"slices", "one_hot"} else []
    notes = [*answer.notes, *remarks, *(note for view in views.values() for note in view.proof.remarks), *passes]
    return replace(answer, views=views, notes=list(dict.fromkeys(notes)))


def find_view(name: str, answer: Explained, wanted: ViewRequest, u: Mapping[str, Array] | None = None) -> Any:
    """Return the record of one view; ``u`` is a direction by variable, in its shape."""
    from gradcli.explanation import hessians, views  # few answers are asked for more

    run = answer.source.run
    match name:
        case "slices":
            return views.slices_at(answer, wanted.row, wanted.column)
        case "one_hot":
            return views.call_rows(run, answer.jacobian)
        case "jvp":
            return views.move(run, answer.jacobian, u or {}, answer.grad)
        case "hessian":
            taken = {*answer.definitions, *answer.recorded.names.values(), *answer.recorded.constants}
            return hessians.differentiate_twice(run, u, taken)
        case "descent":
            return views.descend(run, wanted.lr or 0.0, wanted.iterations)
    return getattr(answer, name)


def read_direction(answer: Explained, u: object) -> tuple[dict[str, Array], list[Note]]:
    """Return u by variable, in its shape, and what is to be said of it; it may be an array, or arrays by variable."""
    from gradcli.explanation.views import read_u

    shapes = {name: jacobian.input_shape for name, jacobian in answer.jacobian.items()}
    return read_u(u if isinstance(u, Mapping) else {"": u}, shapes)
