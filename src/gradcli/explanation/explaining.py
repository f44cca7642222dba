"""From one run of a program to all that its answer holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gradcli.engine.graph import Node
from gradcli.errors import GradcliError
from gradcli.exact.slopes import Exact
from gradcli.exact.thresholds import SURE
from gradcli.explanation.agreement import Difference, compare, digits_lost, unproven
from gradcli.explanation.confirmation import confirm
from gradcli.explanation.evaluation import Function
from gradcli.explanation.explained import Agreement, Backward, Explained, Jacobian, Note
from gradcli.explanation.notes import note_disagreement, note_graph, note_integers, note_jacobian, note_run, note_v
from gradcli.explanation.program_values import tell_values
from gradcli.explanation.readings import Point, call_backward, compose_at, read_jacobians
from gradcli.explanation.stages import find_stages
from gradcli.explanation.suspicion import affordable, is_suspicious
from gradcli.explanation.tape import about_tape
from gradcli.explanation.words import Confirmation, note_confirmation
from gradcli.ops.declare import Array

if TYPE_CHECKING:
    from gradcli.formulas.derivation import Formulas
    from gradcli.jacobian.composition import Composition
    from gradcli.jacobian.sparse import Sparse

NOT_ASKED = (
    "The program is too large to hold these numbers in passing against arithmetic with digits to spare: "
    "gradcli check does."
)
TOO_LARGE = "the program is too large to be evaluated in many digits"


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
    from gradcli.formulas.derivation import found_formulas  # noqa: PLC0415

    return found_formulas(point.run.graph, point.run.output, point.leaves, composition)


def explain_run(point: Point, ask: Ask, kind: type[Kind], derive: Derive = derive) -> Kind:
    """Return the answer for one run, as an ``Explained`` of this ``kind``.

    ``ask`` says when its numbers are held against many digits, ``derive`` where its formulas come from.
    """
    from gradcli.explanation.digits import note_digits  # noqa: PLC0415

    run = point.run
    composition = compose_at(run, point.function)
    formulas = derive(point, composition)
    jacobians = read_jacobians(point, composition, formulas)
    backward = call_backward(point, jacobians)
    difference = compare(jacobians, backward, point.value)
    lost = note_digits(run.output, composition, jacobians)
    confirmation = confirm_where(ask, point, jacobians, backward, difference, bool(lost))
    agreement = agree(difference, confirmation)
    graph = note_graph(run.output, run.leaves, point.names)
    asked = confirmation is not None and bool(confirmation.asked)
    kinks = [note for note in graph if note.kind == "kink"] if asked else []
    notes = [
        *notes_of_run(point, [note for note in graph if note not in kinks], jacobians, agreement),
        *notes_of_digits(point, backward, agreement, confirmation, lost, kinks),
    ]
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
        lookup=RunLookup(formulas, composition, point.leaves),
        stages=find_stages(run, point.leaves, point.seeds[0].seed),
        zeros=confirmation.zeros if confirmation else {},
        forward=tell_values(run.graph, run.output),
    )


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
    edgy = is_suspicious(graph.nodes)
    if how != "entries" and difference.finite and (doubtful or lost or edgy):
        how = affordable(graph, jacobians, dear=True)
    if not how:
        decides = doubtful or ask is Ask.ALWAYS
        unconfirmed = ask is Ask.WHERE_CHEAP and any(len(j.rows) for j in jacobians.values())
        return Confirmation(unknown=TOO_LARGE if decides else "", skipped=unconfirmed)
    exact = Exact(point.function.program, point.inputs, point.names)
    return confirm(exact, point, jacobians, backward[-1].accumulated, how == "entries", edgy)


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


@dataclass(frozen=True)
class RunLookup:
    """What is computed from a run only when it is read."""

    formulas: Formulas
    composition: Composition
    leaves: Mapping[str, Node]

    @cached_property
    def values(self) -> dict[str, Array]:
        """The numbers of the names that formulas use."""
        from gradcli.formulas.derivation import refreshed  # noqa: PLC0415

        here = refreshed(self.formulas, self.composition).values
        return {name: np.asarray(here[name]) for name in self.formulas.definitions}

    def link(self, above: str, below: str) -> Sparse:
        """Return the derivative of one named value by another, with its other arguments fixed."""
        nodes = {node.index: node for node in self.composition.nodes}
        named = {name: nodes[source.node] for name, source in self.formulas.sources.items() if source.node >= 0}
        named |= self.leaves
        return self.composition.link(named[above], named[below])

    def evaluate(self, text: str, names: Mapping[str, Any]) -> Array | None:
        """Return what a text of the language is worth; None for what the language does not read."""
        try:
            function = Function(text, given=names)
            return np.asarray(function.value(**{name: names[name] for name in function.inputs if name in names}))
        except GradcliError:
            return None


def notes_of_run(
    point: Point, graph: Sequence[Note], jacobians: Mapping[str, Jacobian], agreement: Agreement
) -> list[Note]:
    """Return what deserves a sentence about v, the formulas, and where numbers stop to be finite.

    ``graph`` are the notes about its operations, which stand among them.
    """
    run = point.run
    notes = [note for seed in point.seeds for note in note_v(seed)]
    notes += [*note_run(run.graph), *graph]
    if any(j.formulas is None and not j.rules and len(j.rows) for j in jacobians.values()):
        notes.append(Note("numeric-only", "The formula of J is too long to be read: J is given by its numbers alone."))
    for name, jacobian in jacobians.items():
        used = np.zeros(jacobian.matrix_shape[1], dtype=bool)
        used[jacobian.columns] = True
        notes += note_jacobian(name, used, jacobian.input_shape)
    return notes + about_tape(run.graph, run.output, point.seeds[0].seed, agreement.agree and agreement.finite)


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
    notes = [*lost] if confirmation is None or not asked else note_confirmation(confirmation, kinks, lost)
    if confirmation is not None and not asked and confirmation.unknown:
        notes.append(Note("unclear", f"What is true here was not found: {confirmation.unknown}."))
    elif confirmation is not None and confirmation.skipped:
        notes.append(Note("not-confirmed", NOT_ASKED))
    if not asked and agreement.agree and digits_lost(backward) and not lost:
        notes.append(
            Note(
                "digits-lost",
                "Cancellation or saturation has cost digits: J and reverse mode differ visibly, though by no more than "
                "rounding explains. Neither is exact here.",
            )
        )
    if agreement.verdict == "differ":
        notes.append(note_disagreement(point.run.output, not_finite_alone(backward)))
    return notes + note_integers(point.integers)


def not_finite_alone(backward: Sequence[Backward]) -> str:
    """Return which route is not finite in an entry where the other is: ``grad``, ``J``, or nothing."""
    for call in backward:
        for name, left in call.vjp.items():
            finite_j, finite_grad = np.isfinite(left), np.isfinite(call.grad[name])
            if np.any(finite_j != finite_grad):
                return "grad" if np.any(finite_j & ~finite_grad) else "J"
    return ""
