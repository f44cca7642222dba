"""From one run of a program to all that its answer holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gradcli.engine.graph import Operation, reaches
from gradcli.engine.naming import numbered
from gradcli.errors import GradcliError
from gradcli.exact.slopes import Exact
from gradcli.exact.thresholds import SURE
from gradcli.explanation.agreement import Difference, compare, digits_lost, unproven
from gradcli.explanation.confirmation import confirm
from gradcli.explanation.dependence import note_dependence
from gradcli.explanation.explained import Agreement, Backward, Explained, Note
from gradcli.explanation.jacobians import Jacobian
from gradcli.explanation.nonfinite import note_nonfinite
from gradcli.explanation.notes import note_disagreement, note_graph, note_integers, note_run, note_unheld, note_v
from gradcli.explanation.program_values import tell_values
from gradcli.explanation.readings import Point, call_backward, compose_at, read_jacobians
from gradcli.explanation.rereading import Reader
from gradcli.explanation.rules import BackwardPass, Path
from gradcli.explanation.suspicion import affordable, is_suspicious
from gradcli.explanation.words import Confirmation, note_confirmation
from gradcli.ops.declare import Array

if TYPE_CHECKING:
    from gradcli.explanation.effect import Effect
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
    lost = note_digits(run.output, point.name, composition, jacobians)
    confirmation = confirm_where(ask, point, jacobians, backward, difference, bool(lost))
    agreement = agree(difference, confirmation)
    graph = note_graph(run.graph, run.output)
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
        lookup=RunLookup(formulas, composition, point, jacobians, backward),
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
        unconfirmed = ask is Ask.WHERE_CHEAP and any(len(j.rows) or not j.held for j in jacobians.values())
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
    point: Point
    jacobians: Mapping[str, Jacobian]
    backward: Sequence[Backward]

    @cached_property
    def effect(self) -> Effect:
        """What v did."""
        from gradcli.explanation.weighing import weigh  # noqa: PLC0415

        point, grad = self.point, self.backward[-1].accumulated
        with np.errstate(all="ignore"):
            return weigh(point.seed, point.value, point.inputs, self.jacobians, grad, self.moved)

    def moved(self, name: str, place: int, step: float) -> Array | None:
        """Return y where one entry of a variable is moved; None where the program has no value there."""
        array = np.array(self.point.inputs[name], dtype=np.float64)
        array.flat[place] += step
        try:
            return self.point.function.evaluate({**self.point.inputs, name: array}, record=False).value
        except GradcliError:
            return None

    @cached_property
    def values(self) -> dict[str, Array]:
        """The numbers of the names that formulas use."""
        from gradcli.formulas.derivation import refreshed  # noqa: PLC0415

        here = refreshed(self.formulas, self.composition).values
        return {name: np.asarray(here[name]) for name in self.formulas.definitions}

    @cached_property
    def has_steps(self) -> bool:
        """Whether a value between the inputs and y has a name, or an input is used twice, and not entry by entry."""
        output = self.point.run.output
        if not isinstance(output, Operation):
            return False
        done = [node for node in reaches(output) if node.active and isinstance(node, Operation)]
        names = name_values(self.point)
        used = [node.arguments[k].index for node in done if not node.op.moves for k in node.links]
        twice = any(used.count(leaf.index) > 1 for leaf in self.point.leaves.values())
        return twice or any(node is not output and node.index in names for node in done)

    @cached_property
    def backward_pass(self) -> BackwardPass:
        """The lines of the backward pass."""
        from gradcli.explanation.backward import write_backward  # noqa: PLC0415

        run, point = self.point.run, self.point
        spare = {source.node: name for name, source in self.formulas.sources.items() if source.node >= 0}
        return write_backward(run.graph, run.output, point.seed, name_values(point), spare, self.formulas.written)

    @cached_property
    def paths(self) -> dict[str, list[Path]]:
        """The paths from each input that few lead from."""
        if not self.has_steps:
            return {}
        from gradcli.explanation.paths import find_paths  # noqa: PLC0415

        return find_paths(self.point.run.output, self.point.leaves, name_values(self.point))

    def link(self, above: str, below: str) -> Sparse:
        """Return the derivative of one named value by another, with its other arguments fixed."""
        done = {node.index: node for node in self.composition.nodes if isinstance(node, Operation)}
        named = {name: done[source.node] for name, source in self.formulas.sources.items() if source.node >= 0}
        return self.composition.link(named[above], {**named, **self.point.leaves}[below])

    def keep_digits(self, formula: str) -> str:
        """Return a formula in a form that keeps its digits in saturation; itself where there is no other."""
        from gradcli.explanation.saturated import saturated  # noqa: PLC0415 - few answers need it

        return saturated(formula, self.formulas.definitions)

    def evaluate(self, text: str, names: Mapping[str, Any]) -> Array | None:
        """Return what a text of the language is worth; None for what the language does not read."""
        return Reader(names, {}).evaluate(text)


def name_values(point: Point) -> dict[int, str]:
    """Return the names of inputs, of what the program calls by a name, and of the output, by node index."""
    graph, output = point.run.graph, point.run.output
    names = {node.index: name for name, node in point.run.leaves.items()}
    names |= {node.index: name for name, node in reversed(numbered(graph))}
    if isinstance(output, Operation):
        names[output.index] = point.name
    return names


def notes_of_run(
    point: Point, graph: Sequence[Note], jacobians: Mapping[str, Jacobian], agreement: Agreement
) -> list[Note]:
    """Return what deserves a sentence about v, the formulas, and where numbers stop to be finite.

    ``graph`` are the notes about its operations, which stand among them.
    """
    run = point.run
    notes = [note for seed in point.seeds for note in note_v(seed, point.name)]
    notes += [*note_run(run.graph), *graph]
    if any(j.formulas is None and not j.rules and len(j.rows) for j in jacobians.values()):
        notes.append(Note("numeric-only", "The formula of J is too long to be read: J is given by its numbers alone."))
    notes += [note_unheld(name, j.matrix_shape) for name, j in jacobians.items() if not j.held]
    columns = {name: j.columns for name, j in jacobians.items() if j.held}
    notes += note_dependence(run.graph, run.output, point.name, point.leaves, columns)
    return notes + note_nonfinite(run.graph, run.output, point.seeds[0].seed, agreement.agree and agreement.finite)


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
    return notes + note_integers(point.integers, point.leaves)


def not_finite_alone(backward: Sequence[Backward]) -> str:
    """Return which route is not finite in an entry where the other is: ``grad``, ``J``, or nothing."""
    for call in backward:
        for name, left in call.vjp.items():
            finite_j, finite_grad = np.isfinite(left), np.isfinite(call.grad[name])
            if np.any(finite_j != finite_grad):
                return "grad" if np.any(finite_j & ~finite_grad) else "J"
    return ""
