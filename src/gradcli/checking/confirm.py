"""``check``: J by symbols and by reverse mode, each held against arithmetic with digits to spare."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gradcli.checking.comparing import Derivative, Sweeps, compare_routes, goes_together, judge_route, merge, sweep
from gradcli.checking.expected import Expected, hold_expected, read_expectations, read_expected
from gradcli.checking.formulas import read_formulas
from gradcli.checking.points import random_points
from gradcli.checking.together import hold_together, own_truth, sample_columns
from gradcli.checking.truth import Effort, Truth, find_truth, tabulate, undecided
from gradcli.engine.naming import Label, label_entries, output_name
from gradcli.errors import GradcliError
from gradcli.errors.counting import counted
from gradcli.exact.decimals import digits
from gradcli.exact.slopes import Exact
from gradcli.exact.thresholds import SURE
from gradcli.exact.work import Spent
from gradcli.explanation.checked import REVERSE, SYMBOLS, Asked, Checked, Comparison
from gradcli.explanation.confirmation import look_around
from gradcli.explanation.dependence import note_dependence
from gradcli.explanation.evaluation import Evaluation, Function, check_inputs, filled, summed_v
from gradcli.explanation.explained import Note
from gradcli.explanation.notes import note_disagreement, note_run
from gradcli.explanation.readings import compose_at
from gradcli.explanation.suspicion import RUNS, count_work, enough_work, is_edgy, list_operations
from gradcli.explanation.words import Confirmation, rounding_text, spent_text
from gradcli.language.inputs import read_v

if TYPE_CHECKING:
    from gradcli.explanation.timeline import Timeline
    from gradcli.jacobian.composition import Composition

Kind = TypeVar("Kind", bound=Checked)
MOST_SAMPLED = 3
"""How often all random points together may cost what one answer may."""
POINT = 1_000
"""Units of work that a point costs beside its runs in many digits."""


def check_function(
    function: Function,
    given: Mapping[str, object],
    v: object,
    expect: object,
    samples: int,
    seed: int,
    strict: bool,
    kind: type[Kind],
) -> Kind:
    """Check the derivative of a function at a point and at random ones, as the ``kind`` of ``Checked`` asked for."""
    try:
        # A copy, since a caller may write to its arrays while it still holds the answer.
        whole = check_inputs(function.program, filled(function.program, dict(given)))
        values: dict[str, Any] = {name: np.array(value)[()] for name, value in whole.items()}
        if v is None and function.program.is_script and function.program.vs:
            v = summed_v(function.program, function.evaluate(values, record=False).value.shape)
        expected = read_expectations(expect, function.differentiated)
        run = function.evaluate(values, strict=strict)
        composition = compose_at(run, function)
        found = [check_point(function, values, expected, v, strict, (run, composition))]
        reading = read_formulas(function, values, v, run, composition, found[0].dust)
        if any(note.kind == "rounding-decides" for note in found[0].notes):
            reading = reading.undecided("exact numbers decide otherwise than double precision")
        for point in random_points(function, values, function.differentiated, samples, seed):
            found.append(check_point(function, point, expected, v, strict))
            if sum(at.work for at in found[1:]) > MOST_SAMPLED * function.program.budget.work:
                break
    except GradcliError as error:
        raise error.at(error.span, function.place) from None
    return kind(
        program=function.place.text,
        inputs={name: np.asarray(value) for name, value in values.items()},
        differentiated=function.differentiated,
        comparisons=merge([comparison for at in found for comparison in at.comparisons]),
        samples=len(found) - 1,
        wanted=samples,
        seed=seed,
        notes=list(dict.fromkeys([*found[0].notes, *(n for at in found for n in at.disagreement), *reading.notes])),
        hint=next((at.hint for at in found if at.hint), ""),
        reason=next((at.reason for at in found if at.reason), ""),
        value_finite=all(at.value_finite for at in found),
        formulas=reading.count,
        misprints=reading.misprints,
        backward_lines=reading.backward_lines,
        backward_read=reading.backward_read,
        timeline=script_told(function),
        labels=function.labels,
        asked=found[0].asked,
        needed=max(at.needed for at in found),
    )


def script_told(function: Function) -> Timeline | None:
    """Return what the script did that a function is a call of; None for a formula."""
    if not function.program.is_script:
        return None
    from gradcli.explanation.timeline import timeline_of  # a formula has none

    return timeline_of(function.program)


@dataclass(slots=True)
class AtPoint:
    """What the check of one point found.

    ``hint`` is what a derivative that differs may have gone wrong with, ``dust`` the size of the terms of what rounding
    has left of true zeros, ``work`` what it cost, ``asked`` which entries of J were asked for,
    ``needed`` the work that is enough where so much was not allowed.
    """

    comparisons: list[Comparison]
    notes: list[Note]
    disagreement: list[Note]
    hint: str
    reason: str
    value_finite: bool
    dust: float = 0.0
    work: int = 0
    asked: Asked = field(default_factory=Asked)
    needed: int = 0


@digits(60)  # a context of decimals in which nothing raises
def check_point(
    function: Function,
    point: dict[str, Any],
    expected: list[Expected],
    v: object,
    strict: bool,
    composed: tuple[Evaluation, Composition] | None = None,
) -> AtPoint:
    """Hold all routes at one point against the true derivative; ``composed`` are the run and J, where at hand."""
    run = function.evaluate(point, strict=strict) if composed is None else composed[0]
    composition = compose_at(run, function) if composed is None else composed[1]
    names = function.differentiated
    output = output_name(run.graph, run.output)
    seed = None if v is None else read_v(v, run.value.shape, strict, output)
    found, told = AtPoint([], [], [], "", "", bool(np.all(np.isfinite(run.value)))), Confirmation()
    exact = Exact(function.program, point, names)
    row = label_entries(output, run.value.shape)
    known = {output: run.value, **({} if seed is None else {"v": seed.seed})}
    both = read_routes(run, composition, function, row)
    edgy, most = is_edgy(list_operations(run.graph.nodes)), exact.work.most
    cost = cost_of_run(run, exact, told)
    found.needed = enough_work(run.graph, len(expected)) if RUNS * cost > most else 0
    together = hold_together(exact, both, told, point) if goes_together(cost, most, both) else None
    if together is not None:
        found.comparisons += together.comparisons
        found.comparisons += [compare_routes(sought, sweeps, point) for sought, sweeps in both]
    moved: list[tuple[Derivative, Sweeps]] = []
    for place, (sought, sweeps) in enumerate(both):
        if together is None:
            truth = find_truth(exact, sought, sweeps, told, Effort(cost, most // len(both)), edgy)
            found.comparisons += hold_apart(sought, sweeps, truth, point)
        else:
            truth = together.truth_of(both, place)
        moved += [(sought, sweeps)] * moved_at_once(sought, truth)
        for item in (item for item in expected if item.variable == sought.variable):
            if truth.rounded and item.formula is not None:
                truth = own_truth(exact, sought, told) or truth
            readings = read_expected(item, exact, known, output)
            try:
                comparison, hint = hold_expected(readings, sought, truth, seed, point, exact)
            except Spent:
                told.unknown = told.unknown or f"the formula of --expect: {spent_text(exact.work.most)}"
                continue
            found.comparisons.append(comparison)
            found.hint = found.hint or hint
        found.dust = max(found.dust, truth.sizes.dust)
    found.asked = Asked(count_entries(both), count_entries(both) - count_entries(moved))
    if moved:
        directions = len(moved) if together is None else together.directions
        sampled, single = ([], 0) if told.unknown else sample_columns(exact, moved, point)
        found.asked = replace(found.asked, single=found.asked.single + single, directions=directions)
        found.comparisons += sampled
    with suppress(Spent):  # what is left of the work shows no kink
        if not told.bends and RUNS * cost <= most and all(run.leaves[name].value.size for name in names):
            look_around(exact, {s.variable: s.jacobian for s, _ in both}, row, told.bends, edgy)
    found.work = POINT + exact.done
    found.reason = reason_of(found.comparisons, told)
    found.notes = notes_at(run, names, told, exact)
    if any(c.wrong and c.routes == (SYMBOLS, REVERSE) for c in found.comparisons):
        found.disagreement = [note_disagreement(run.output, one_sided(found.comparisons))]
    return found


def cost_of_run(run: Evaluation, exact: Exact, told: Confirmation) -> int:
    """Return what a run in many digits costs: as it is reckoned, and where it is affordable as it was."""
    cost = count_work(run.graph)
    if RUNS * cost <= exact.work.most:
        with undecided(told, exact):
            cost = max(cost, exact.cost)
    return cost


def moved_at_once(sought: Derivative, truth: Truth) -> bool:
    """Return whether the entries of a variable were moved together, which one entry alone is not."""
    return truth.direction is not None and sought.jacobian.shape[1] > 1


def count_entries(routes: Iterable[tuple[Derivative, Sweeps]]) -> int:
    """Return how many entries J has by these variables."""
    return sum(math.prod(sought.jacobian.shape) for sought, _ in routes)


def read_routes(
    run: Evaluation, composition: Composition, function: Function, row: Label
) -> list[tuple[Derivative, Sweeps]]:
    """Return what is sought by each variable, with J by symbols and the sweeps of reverse mode; ``row`` names rows."""
    leaves = {name: run.leaves[name] for name in function.differentiated}
    found = [
        Derivative(run, leaf, composition.entries(leaf), name, row, label_entries(name, leaf.shape))
        for name, leaf in leaves.items()
    ]
    return [(sought, sweep(sought)) for sought in found]


def hold_apart(sought: Derivative, sweeps: Sweeps, truth: Truth, point: dict[str, Any]) -> list[Comparison]:
    """Return how both routes compare with the truth by one variable, and with each other unless both are sure."""
    routes = [judge_route(table, point) for table in tabulate(sought, sweeps, truth)]
    between = compare_routes(sought, sweeps, point)
    sure = all(route.finite and not route.unclear and route.digits >= SURE for route in routes)
    return routes if sure else [*routes, between]


def reason_of(comparisons: Sequence[Comparison], told: Confirmation) -> str:
    """Return why something could not be decided, empty where all was."""
    unclear = max((comparison.unclear for comparison in comparisons), default=0)
    if not unclear:
        return told.unknown
    many = f"{counted(unclear, 'entry of J')} cannot be decided: "
    return many + (told.unknown or next(iter(told.bends.values()), "no limit was found in many digits"))


def one_sided(comparisons: Sequence[Comparison]) -> str:
    """Return ``grad`` where J alone is finite in the worst entry in which symbols and reverse mode differ."""
    worst = next(c.worst for c in comparisons if c.wrong and c.worst and c.routes == (SYMBOLS, REVERSE))
    return "grad" if [bool(np.isfinite(value)) for value in worst.values] == [True, False] else ""


def notes_at(run: Evaluation, names: tuple[str, ...], told: Confirmation, exact: Exact) -> list[Note]:
    """Return what deserves a sentence at the point that was given."""
    leaves = {name: run.leaves[name] for name in names}
    notes = note_run(run.graph)
    notes += note_dependence(run.graph, run.output, output_name(run.graph, run.output), leaves, {})
    notes += [Note(kind, message) for kind, message in told.bends.items()]
    if exact.rounded is not None:
        notes.append(Note("rounding-decides", rounding_text(exact.rounded)))
    return notes
