"""Random points at which a program has a value.

Functions of modules that gradcli does not have: what a script's call of one does to a tensor is not known.
``check``: J by symbols and by reverse mode, each held against arithmetic with digits to spare.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from gradcli.checking.comparing import (
    Derivative,
    Routes,
    Sweeps,
    compare_routes,
    goes_together,
    judge_route,
    merge,
    read_digits,
    sweep,
)
from gradcli.checking.expected import (
    Expected,
    Held,
    OwnBackward,
    claimed_numbers,
    hold_expected,
    hold_reading,
    read_expectations,
    read_expected,
)
from gradcli.checking.formulas import Reading, read_formulas
from gradcli.checking.truth import Effort, Truth, find_truth, tabulate, undecided
from gradcli.engine.naming import Label, label_entries, output_name
from gradcli.errors import GivenUp, GradcliError
from gradcli.errors.hints import counted, listed
from gradcli.exact.real import digits
from gradcli.exact.slopes import Exact
from gradcli.exact.thresholds import SURE
from gradcli.exact.work import Spent
from gradcli.explanation.checked import REVERSE, SYMBOLS, Asked, Checked, Comparison, Expectation
from gradcli.explanation.confirmation import Confirmation, look_around, rounding_text, spent_text
from gradcli.explanation.evaluation import Function, Run, check_inputs, filled, summed_v
from gradcli.explanation.kinks import is_edgy
from gradcli.explanation.notes import note_dependence, note_disagreement, note_run
from gradcli.explanation.results import Note
from gradcli.explanation.suspicion import RUNS, count_work, enough_work, list_operations
from gradcli.language.values import Cotangent, read_v
from gradcli.ops.declare import Array
from gradcli.runner.reading import is_script

if TYPE_CHECKING:
    from gradcli.checking.claims import Claims
    from gradcli.checking.mistakes import Surroundings
    from gradcli.checking.truth import Together
    from gradcli.explanation.evaluation import Function
    from gradcli.explanation.timeline import Timeline
    from gradcli.jacobian.composition import Composition


REGIONS: tuple[Callable[[np.random.Generator, Array], Array | float], ...] = (
    lambda rng, x: rng.uniform(-2.0, 2.0, x.shape),
    lambda rng, x: rng.uniform(0.1, 2.0, x.shape),
    lambda rng, x: x * rng.uniform(0.5, 1.5, x.shape),
    lambda rng, x: rng.uniform(0.1, 0.9, x.shape),
    lambda rng, x: rng.uniform(1.1, 5.0, x.shape),
    lambda rng, x: x + rng.normal(0.0, 0.1, x.shape),
)
"""Where an entry of a point is looked for: of both signs, positive, the given one stretched, in (0, 1), above 1, and
the given one shifted a little."""
TRIES = 8
"""Rounds through all regions before the search for a point is given up."""


def random_points(
    function: Function, given: dict[str, Any], names: Iterable[str], count: int, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield ``count`` points where the output is finite: the variables of ``names`` at random, the others as given.

    Their numbers have four decimals, so that they can be typed. The search for every other point begins with both
    signs, where a derivative that is right on one side alone shows; for those between, with each region in turn, so
    that points lie in all regions where the program has a value. Raises ``value`` where a search finds none.
    """
    rng = np.random.default_rng(seed)
    varied = tuple(names)
    for number in range(count):
        yield one_point(function, given, varied, rng, 0 if number % 2 == 0 else number // 2)


def one_point(
    function: Function, given: dict[str, Any], varied: Sequence[str], rng: np.random.Generator, start: int
) -> dict[str, Any]:
    """Return one point, looked for in all regions in turn, beginning with number ``start``."""
    for attempt in range(TRIES * len(REGIONS)):
        region = REGIONS[(start + attempt) % len(REGIONS)]
        point = {**given, **{name: np.round(region(rng, np.asarray(given[name])), 4) for name in varied}}
        if has_value(function, point):
            return point
    raise GradcliError(
        "value",
        "no random point was found at which the program has a finite value",
        hint="give a point in its domain: samples near it are tried too",
    )


def has_value(function: Function, point: dict[str, Any]) -> bool:
    """Return whether the program has a finite value at a point."""
    try:
        return bool(np.all(np.isfinite(function.evaluate(point, record=False).value)))
    except GivenUp:
        raise
    except GradcliError:
        return False


# ---- Functions of modules that gradcli does not have: what a script's call of one does to a tensor is not

LEFT_OUT = "left-out"
"""The kind of the note on calls that were left out: no budget decides what they do."""


def notes_of_script(function: Function) -> list[Note]:
    """Return the notes that the run of a script left; none for a formula."""
    program = function.program
    if not program.is_script:
        return []
    whole = {} if program.ended is None else program.ended.run.notes
    return [Note(kind, message) for kind, message in {**whole, **program.notes}]


def unknown_calls(function: Function, claims: Claims | None) -> str:
    """Return which calls of unknown functions took a tensor that is differentiated, as a sentence; empty for none."""
    program = function.program
    if not program.is_script:
        return ""
    whole = {} if claims is None or claims.reached is None else claims.reached.run.left_out
    calls = [f"{name} (line {line})" for name, line in {**whole, **program.left_out}.items()]
    if not calls:
        return ""
    do, are = ("do", "they are") if len(calls) > 1 else ("does", "it is")
    names = listed(calls[:3], len(calls))
    return f"what {names} {do} to a tensor that is differentiated is not known: {are} of no module that gradcli has"


def note_unknown(reason: str) -> list[Note]:
    """Return the note on calls that were left out, with what to do; none without a reason."""
    if not reason:
        return []
    message = "The script is run without a function that it imports: write its definition in place of the import."
    return [Note(LEFT_OUT, message)]


# ---- ``check``: J by symbols and by reverse mode, each held against arithmetic with digits to spare

Kind = TypeVar("Kind", bound=Checked)
MOST_SAMPLED = 3
"""How often all random points together may cost what one answer may."""
LEAKS = "{} is computed from an earlier gradient, by an update of an input that was not seen as one"
"""Why gradients of a script are not decided."""
POINT = 1_000
"""Units of work that a point costs beside its runs in many digits."""


def may_say_gradients(program: object, of: str | None) -> bool:
    """Return whether a program is a script, which may compute gradients itself."""
    return isinstance(program, str) and (is_script(program) or (of is not None and "\n" in program.strip()))


def check_function(
    function: Function,
    given: Mapping[str, object],
    v: object,
    expect: object,
    samples: int,
    seed: int,
    strict: bool,
    kind: type[Kind],
    digits: float | None = None,
    claims: Claims | None = None,
    points: Sequence[Mapping[str, object]] = (),
) -> Kind:
    """Check the derivative of a function at a point and at random ones, as the ``kind`` of ``Checked`` asked for.

    What is expected must have so many ``digits``, the usual ones where it is None. ``points`` are further points that
    are given, each by the variables that have another value there.
    """
    try:
        values, *further = (copied_point(function, {**given, **point}) for point in ({}, *points))
        if v is None and function.program.is_script and function.program.vs:
            v = summed_v(function.program, function.evaluate(values, record=False).value.shape)
        count = read_digits(digits)
        expected = [] if claims and not expect else read_expectations(expect, function.differentiated, count)
        if claims is not None:
            expected += [Expected(name, None, None, count, claims) for name in claims.by_input]
        own = own_backward(function, values, v)
        if count is not None:
            own.expected = [replace(one, digits=count) for one in own.expected]
            own.notes += note_digits([*expected, *own.expected], function)
        if own.expected and v is None and not expected:
            v = 1.0  # what calls gave is a gradient
        composed = compose(function, values, strict)
        found = [check_point(function, values, [*expected, *own.expected], v, strict, composed)]
        reading = Reading() if claims else read_back(function, values, v, composed, found[0], own)
        moving = [item for item in expected if not item.fixed]
        found += [check_point(function, point, moving, v, strict) for point in further]
        at_random = check_at_random(function, values, moving, v, strict, samples, seed)
        found += at_random
        said = [own.explained(one) for one in said_together(found)]
        if claims is not None:
            said = judged_claims(claims, values, read_v(v, found[0].shape, strict, "y").seed, said)
            if claims.leaks:
                said = [one.undecided() if one.wrong else one for one in said]
                found[0].reason = found[0].reason or LEAKS.format(claims.of)
        unknown = unknown_calls(function, claims)
        said = [one.undecided() for one in said] if unknown else said
    except GradcliError as error:
        raise error.at(error.span, function.place) from None
    return kind(
        program=function.place.text,
        inputs={name: np.asarray(value) for name, value in values.items()},
        differentiated=function.differentiated,
        comparisons=merge([comparison for at in found for comparison in at.comparisons]),
        samples=len(at_random),
        wanted=samples,
        seed=seed,
        notes=list(
            dict.fromkeys(
                [
                    *own.notes,
                    *noted(found),
                    *reading.notes,
                    *note_fixed(found[1:], expected, moving),
                    *notes_of_script(function),
                    *([] if expected else unchecked_names(function)),
                    *note_unknown(unknown),
                ]
            )
        ),
        hint=next((one.mistake for one in said if one.mistake), ""),
        reason=unknown or own.unknown or next((at.reason for at in found if at.reason), ""),
        value_finite=all(at.value_finite for at in found),
        formulas=reading.count,
        misprints=reading.misprints,
        backward_lines=reading.backward_lines,
        backward_read=reading.backward_read,
        timeline=script_told(function),
        labels=function.labels,
        points=1 + len(further),
        expected=said,
        by_script=claims is not None,
        functions=own.functions,
        asked=found[0].asked,
        needed=max(at.needed for at in found),
    )


def read_back(
    function: Function,
    values: dict[str, Any],
    v: object,
    composed: tuple[Run, Composition],
    at: AtPoint,
    own: OwnBackward,
) -> Reading:
    """Return what came of reading back the formulas of an answer at a point."""
    reading = read_formulas(function, values, v, *composed, at.dust)
    if any(note.kind == "rounding-decides" for note in at.notes):
        reading = reading.undecided("exact numbers decide otherwise than double precision")
    return reading.undecided("a function of the script is none of the language") if own.followed else reading


def check_at_random(
    function: Function, values: dict[str, Any], expected: list[Expected], v: object, strict: bool, count: int, seed: int
) -> list[AtPoint]:
    """Return what random points say, as many as ``count`` or as the work for all of them allows."""
    found: list[AtPoint] = []
    for point in random_points(function, values, function.differentiated, count, seed):
        found.append(check_point(function, point, expected, v, strict))
        if sum(at.work for at in found) > MOST_SAMPLED * function.program.budget.work:
            break
    return found


def judged_claims(claims: Claims, values: dict[str, Any], seed: Array, said: list[Expectation]) -> list[Expectation]:
    """Return what is said of a script's own gradients, in the order in which it computes them."""
    from gradcli.checking.claims import judge_claims  # a formula has none

    return judge_claims(claims, values, seed, said)


def copied_point(function: Function, given: Mapping[str, object]) -> dict[str, Any]:
    """Return a point as arrays that no caller writes to while it still holds the answer."""
    whole = check_inputs(function.program, filled(function.program, dict(given)))
    return {name: np.array(value)[()] for name, value in whole.items()}


def said_together(found: Sequence[AtPoint]) -> list[Expectation]:
    """Return what all points say of each expected derivative; what a script's calls gave is that of the first."""
    said = list(found[0].expected)
    for at in found[1:]:
        others = iter(at.expected)
        other = next(others, None)
        for k, one in enumerate(said):
            if other is not None and (one.variable, one.text) == (other.variable, other.text):
                said[k], other = at_both_points(one, other), next(others, None)
    return said


def at_both_points(one: Expectation, other: Expectation) -> Expectation:
    """Return what two points say of an expected derivative; where it is wrong at the first, its entry is from there."""
    both = replace(one.beside(other), points=one.points + other.points)
    return replace(both, worst=one.worst, misfit=one.misfit) if one.verdict == "wrong" else both


def note_digits(expected: Sequence[Expected], function: Function) -> list[Note]:
    """Return the note on digits that are asked of a script in which nothing is expected; none where something is.

    Raises ``option`` for a formula, of which it is known beforehand that nothing is.
    """
    if expected:
        return []
    if function.program.is_script:
        return [Note("digits-unused", f"{NOT_EXPECTED}: the script computes no gradient that was found by its name.")]
    hint = "--expect FORMULA; J itself has all digits that rounding leaves"
    raise GradcliError("option", NOT_EXPECTED, hint=hint)


NOT_EXPECTED = "digits are asked of what is expected, and nothing is"
"""Why digits cannot be asked for."""


def note_fixed(others: Sequence[AtPoint], expected: Sequence[Expected], moving: Sequence[Expected]) -> list[Note]:
    """Return the note on expected numbers where other points than the first were looked at; none without either."""
    if not others or len(moving) == len(expected):
        return []
    message = "Numbers that are expected are held at the point given alone, where they are meant; a formula is at all."
    return [Note("expect-fixed", message)]


def noted(found: Sequence[AtPoint]) -> list[Note]:
    """Return the notes on the first point, and on the disagreements at all of them."""
    return [*found[0].notes, *(note for at in found for note in at.disagreement)]


def own_backward(function: Function, values: dict[str, Any], v: object) -> OwnBackward:
    """Return what the backward passes that a script wrote itself are worth; nothing for a formula."""
    if not function.program.is_script:
        return OwnBackward()
    from gradcli.checking.functions import judge_functions  # a formula has none

    return judge_functions(function, values, v)


def unchecked_names(function: Function) -> list[Note]:
    """Return the notes on names of a formula that say they are a derivative; none for one without statements."""
    text = function.place.text.strip()
    if function.program.is_script or not (";" in text or "\n" in text):
        return []
    from gradcli.checking.claims import note_unchecked  # most formulas assign nothing

    return note_unchecked(function)


def script_told(function: Function) -> Timeline | None:
    """Return what the script did that a function is a call of; None for a formula."""
    if not function.program.is_script:
        return None
    from gradcli.explanation.timeline import timeline_of  # a formula has none

    return timeline_of(function.program)


@dataclass(slots=True)
class AtPoint:
    """What the check of one point found.

    ``expected`` is what is said of each expected derivative, ``dust`` the size of the terms of what rounding
    has left of true zeros, ``work`` what it cost, ``asked`` which entries of J were asked for, ``needed`` the work that
    is enough where so much was not allowed.
    """

    comparisons: list[Comparison]
    notes: list[Note]
    disagreement: list[Note]
    expected: list[Expectation]
    reason: str
    value_finite: bool
    shape: tuple[int, ...]
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
    composed: tuple[Run, Composition] | None = None,
) -> AtPoint:
    """Hold all routes at one point against the true derivative; ``composed`` are the run and J, where at hand."""
    run, composition = composed or compose(function, point, strict)
    names = function.differentiated
    output = output_name(run.graph, run.output)
    seed = None if v is None else read_v(v, run.value.shape, strict, output)
    found = AtPoint([], [], [], [], "", bool(np.all(np.isfinite(run.value))), run.value.shape)
    told = Confirmation()
    exact = Exact(function.program, point, names)
    row = label_entries(output, run.value.shape)
    known = {output: run.value, **({} if seed is None else {"v": seed.seed})}
    both = read_routes(run, composition, function, row)
    edgy, most, remarks = is_edgy(list_operations(run.graph.nodes)), exact.work.most, list[Note]()
    cost = cost_of_run(run, exact, told)
    found.needed = enough_work(run.graph, len(expected)) if RUNS * cost > most else 0
    together = hold_all(exact, both, told, point) if goes_together(cost, most, both) else None
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
        items = [item for item in expected if item.variable == sought.variable]
        if truth.rounded and any(item.formula is not None or item.claims is not None for item in items):
            truth = true_alone(exact, sought, told) or truth
        remarks += hold_items(items, Against(sought, both, truth, seed, point), exact, known, told, found)
        found.dust = max(found.dust, truth.sizes.dust)
    found.asked = Asked(count_entries(both), count_entries(both) - count_entries(moved))
    if moved:
        directions = len(moved) if together is None else together.directions
        sampled, single = ([], 0) if told.unknown else sample(exact, moved, point)
        found.asked = replace(found.asked, single=found.asked.single + single, directions=directions)
        found.comparisons += sampled
    with suppress(Spent):  # what is left of the work shows no kink
        if not told.bends and RUNS * cost <= most and all(run.leaves[name].value.size for name in names):
            look_around(exact, {s.variable: s.jacobian for s, _ in both}, row, told.bends, edgy)
    found.work = POINT + exact.done
    found.reason = reason_of(found.comparisons, told)
    found.notes = [*notes_at(run, names, told, exact), *remarks]
    if any(c.wrong and c.routes == (SYMBOLS, REVERSE) for c in found.comparisons):
        found.disagreement = [note_disagreement(run.output, one_sided(found.comparisons))]
    return found


def hold_items(
    items: Sequence[Expected],
    against: Against,
    exact: Exact,
    known: Mapping[str, object],
    told: Confirmation,
    found: AtPoint,
) -> list[Note]:
    """Hold what is expected by one variable against the truth, write down what came of it, and return the notes."""
    remarks: list[Note] = []
    for item in items:
        readings = read_expected(item, exact, known, next(iter(known)))
        try:
            held = hold_expected(readings, against.sought, against.truth, against.seed, against.point, exact)
        except Spent:
            told.unknown = told.unknown or f"the formula of --expect: {spent_text(exact.work.most)}"
            continue
        found.comparisons.append(held.comparison)
        told.unknown = told.unknown or held.unknown
        remarks += [Note("expect-shape", held.note)] if held.note else []
        said = expectation(item, held, exact.point, against)
        found.expected.append(replace(said, mistake=kink_text(said, told.bends.get("kink", "")) or said.mistake))
    return remarks


class Against(NamedTuple):
    """What an expected derivative is held against: what both routes say, the truth by its variable, and v."""

    sought: Derivative
    routes: Routes
    truth: Truth
    seed: Cotangent | None
    point: dict[str, Any]


def expectation(item: Expected, held: Held, at: Mapping[str, Any], against: Against) -> Expectation:
    """Return what is said of one expected derivative at a point, of a script's as the script computed it."""
    comparison, name, mistake = held.comparison, item.variable, ""
    digits_left = comparison.digits
    if item.claims is not None:
        name = item.claims.by_input[item.variable].value
        computed = claimed_numbers(item.claims, item.variable, at, as_computed=True)
        digits_left = hold_reading(
            computed, against.sought, against.truth, against.seed, against.point
        ).comparison.digits
    if comparison.wrong and held.gradients is not None:
        from gradcli.checking.mistakes import find_mistake  # what is right needs none

        around = replace(surroundings(against.sought, against.routes), share=held.share, floor=held.floor)
        mistake = find_mistake(held.gradients.expected, held.gradients.true, around)
    return Expectation(
        name, item.text, digits_left, comparison.compared, comparison.wrong, comparison.unclear, comparison.worst,
        mistake, misfit=comparison.misfit, standard=comparison.standard, points=int(comparison.wrong > 0),
        from_file=bool(item.source), fixed=item.fixed,
    )  # fmt: skip


def kink_text(one: Expectation, noted: str) -> str:
    """Return that the one entry which is wrong, or the worst where nothing else fits, is at the kink that was noted."""
    worst = one.worst
    if worst is None or not one.wrong or (one.wrong > 1 and one.mistake) or f" by {worst.column} its" not in noted:
        return ""
    return f"{noted.partition('. ')[0]}; the convention takes {worst.values[1]:g}"


def surroundings(sought: Derivative, routes: Routes) -> Surroundings:
    """Return what an expected derivative stands among: the gradients by other inputs, and the lengths of all axes."""
    from gradcli.checking.mistakes import Surroundings  # what is right needs none

    others = {
        one.variable: sweeps.values[0].reshape(one.leaf.shape)
        for one, sweeps in routes
        if one.variable != sought.variable and len(sweeps.values) == 1
    }
    lengths = frozenset(length for node in sought.run.graph.nodes for length in np.shape(node.value))
    return Surroundings(np.asarray(sought.leaf.value), others, lengths)


def compose(function: Function, point: dict[str, Any], strict: bool) -> tuple[Run, Composition]:
    """Run a function at a point, and return the run and its J by symbols."""
    run = function.evaluate(point, strict=strict)
    return run, run.compose()


def hold_all(exact: Exact, routes: Routes, told: Confirmation, point: Mapping[str, Array]) -> Together:
    """Return how both routes compare with the truth along directions that move all variables."""
    from gradcli.checking.truth import hold_together  # small programs are asked for entry by entry

    return hold_together(exact, routes, told, point)


def true_alone(exact: Exact, sought: Derivative, told: Confirmation) -> Truth | None:
    """Return the true derivative along a direction of one variable, None where that is too dear."""
    from gradcli.checking.truth import own_truth  # small programs are asked for entry by entry

    return own_truth(exact, sought, told)


def sample(exact: Exact, routes: Routes, point: Mapping[str, Array]) -> tuple[list[Comparison], int]:
    """Return how both routes compare with the truth in entries that are picked at random, and how many these are."""
    from gradcli.checking.truth import sample_columns  # small programs are asked for entry by entry

    return sample_columns(exact, routes, point)


def cost_of_run(run: Run, exact: Exact, told: Confirmation) -> int:
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


def read_routes(run: Run, composition: Composition, function: Function, row: Label) -> list[tuple[Derivative, Sweeps]]:
    """Return what is sought by each variable, with J by symbols and the sweeps of reverse mode; ``row`` names rows."""
    leaves = {name: run.variables[name] for name in function.differentiated}
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
    return many + (told.unknown or next(iter(told.bends.values()), "no limit is reached as digits are added"))


def one_sided(comparisons: Sequence[Comparison]) -> str:
    """Return ``grad`` where J alone is finite in the worst entry in which symbols and reverse mode differ."""
    worst = next(c.worst for c in comparisons if c.wrong and c.worst and c.routes == (SYMBOLS, REVERSE))
    return "grad" if [bool(np.isfinite(value)) for value in worst.values] == [True, False] else ""


def notes_at(run: Run, names: tuple[str, ...], told: Confirmation, exact: Exact) -> list[Note]:
    """Return what deserves a sentence at the point that was given."""
    leaves = {name: run.leaves[name] for name in names}
    notes = note_run(run.graph)
    notes += note_dependence(run.graph, run.output, output_name(run.graph, run.output), leaves, {})
    notes += [Note(kind, message) for kind, message in told.bends.items()]
    if exact.rounded is not None:
        notes.append(Note("rounding-decides", rounding_text(exact.rounded)))
    return notes
