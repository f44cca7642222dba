"""``check``: J by symbols and by reverse mode, each held against arithmetic with digits to spare."""

from __future__ import annotations

import ast
import math
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from gradcli.checking.expected import (
    Expected,
    OwnBackward,
    claimed_numbers,
    read_digits,
    read_expectations,
    read_expected,
)
from gradcli.checking.holding import Against, Held, Reading, hold_expected, hold_reading, read_formulas
from gradcli.checking.mistakes import Surroundings, find_mistake
from gradcli.checking.truth import (
    Derivative,
    Effort,
    compare_routes,
    derive_both,
    find_truth,
    goes_together,
    hold_apart,
    hold_together,
    over_points,
    own_truth,
    sample_columns,
)
from gradcli.engine.naming import label_entries
from gradcli.errors import GivenUp, GradcliError
from gradcli.errors.hints import counted, listed
from gradcli.exact.real import digits
from gradcli.exact.slopes import Exact
from gradcli.exact.work import Spent
from gradcli.explanation.checked import REVERSE, SYMBOLS, Asked, Checked, Comparison, Expectation
from gradcli.explanation.confirmation import Confirmation, look_around, rounding_text, spent_text
from gradcli.explanation.evaluation import Function, Run, check_inputs, filled, summed_v
from gradcli.explanation.notes import is_edgy, note_dependence, note_disagreement, note_run
from gradcli.explanation.results import Note
from gradcli.explanation.suspicion import RUNS, count_work, enough_work, list_operations
from gradcli.language.program import Program, assigned_names
from gradcli.language.values import read_v
from gradcli.ops.declare import Array
from gradcli.records import dataclass, field, replace
from gradcli.runner.reading import LOSSES, is_script

if TYPE_CHECKING:
    from gradcli.checking.claims import Claims
    from gradcli.jacobian.composition import Composition

Kind = TypeVar("Kind", bound=Checked)
Said = TypeVar("Said", Comparison, Expectation)
MOST_SAMPLED = 3
"""How often all random points together may cost what one answer may."""
LEAKS = "{} is computed from an earlier gradient, by an update of an input that was not seen as one"
"""Why gradients of a script are not decided."""
POINT = 1_000
"""Units of work that a point costs beside its runs in many digits."""
LEFT_OUT = "left-out"
"""The kind of the note on calls of functions that gradcli does not have: no budget decides what they do."""
NOT_EXPECTED = "digits are asked of what is expected, and nothing is"
"""Why digits cannot be asked for."""


@dataclass(frozen=True, slots=True)
class CheckRequest:
    """What is asked of a check.

    - ``v``, ``strict``: the cotangent of y, and whether it must be in its shape.
    - ``expect``: a derivative, or several by variable, with so many ``digits``, the usual ones where it is None.
    - ``claims``: what a script says of its own gradients.
    - ``points``: further points, each by the variables that have another value there.
    - ``samples``, ``seed``: how many random points, and the seed.
    """

    v: object = None
    expect: object = ()
    digits: float | None = None
    claims: Claims | None = None
    points: Sequence[Mapping[str, object]] = ()
    samples: int = 0
    seed: int = 0
    strict: bool = False


def may_say_gradients(program: object, of: str | None) -> bool:
    """Return whether a program is a script, or lines like one, which may compute gradients itself."""
    return isinstance(program, str) and (
        is_script(program) or ("\n" in program.strip() and (of is not None or bool(BY_HAND.search(program))))
    )


BY_HAND = re.compile(rf"(?ms)^(?:{'|'.join(LOSSES)}) *=.*^(?:d_?|grad_)\w+ *=")
"""Lines that compute a loss, and then a gradient by its usual name."""


def check_function(function: Function, inputs: Mapping[str, object], asked: CheckRequest, kind: type[Kind]) -> Kind:
    """Check the derivative of a function at a point and at random ones, as the ``kind`` of ``Checked`` asked for."""
    program, claims, v = function.program, asked.claims, asked.v
    try:
        values, *further = (copied_point(function, {**inputs, **point}) for point in ({}, *asked.points))
        if v is None and program.is_script and program.vs:
            v = summed_v(program, function.evaluate(values, record=False).value.shape)
        count = read_digits(asked.digits)
        expected = (
            [] if claims and not asked.expect else read_expectations(asked.expect, function.differentiated, count)
        )
        if claims is not None:
            expected += [Expected(name, None, None, count, claims) for name in claims.by_input]
        scripted = own_backward(function, values, v)
        if count is not None:
            scripted.expected = [replace(one, digits=count) for one in scripted.expected]
            scripted.notes += note_digits([*expected, *scripted.expected], function)
        if scripted.expected and v is None and not expected:
            v = 1.0  # what calls gave is a gradient
        run = function.evaluate(values, strict=asked.strict)
        composition = run.compose()
        first = check_point(run, composition, values, [*expected, *scripted.expected], v, asked.strict)
        reading = Reading() if claims else read_back(function, values, v, run, composition, first, scripted)
        moving = [item for item in expected if not item.fixed]
        others = [check_at(function, point, moving, v, asked.strict) for point in further]
        at_random = check_at_random(function, values, moving, v, asked)
        points = [first, *others, *at_random]
        said = [scripted.explained(one) for one in said_together(points)]
        if claims is not None:
            from gradcli.checking.claims import judge_claims  # a formula has none

            said = judge_claims(claims, values, read_v(v, first.shape, asked.strict, "y").seed, said)
            if claims.leaks:
                said = [one.undecided() if one.wrong else one for one in said]
                first.reason = first.reason or LEAKS.format(claims.of)
        unknown = unknown_calls(function, claims)
        said = [one.undecided() for one in said] if unknown else said
    except GradcliError as error:
        raise error.at(error.span, function.place) from None
    notes = [*scripted.notes, *first.notes, *(note for at in points for note in at.disagreement), *reading.notes]
    if len(points) > 1 and len(moving) < len(expected):
        fixed = (
            "Numbers that are expected are held at the point given alone, where they are meant; a formula is at all."
        )
        notes.append(Note("expect-fixed", fixed))
    notes += [*notes_of_script(function), *([] if expected else note_unchecked(function))]
    if unknown:
        write = "The script is run without a function that it imports: write its definition in place of the import."
        notes.append(Note(LEFT_OUT, write))
    return kind(
        program=function.place.text,
        inputs={name: np.asarray(value) for name, value in values.items()},
        differentiated=function.differentiated,
        comparisons=over_points([comparison for at in points for comparison in at.comparisons]),
        samples=len(at_random),
        wanted=asked.samples,
        seed=asked.seed,
        notes=list(dict.fromkeys(notes)),
        hint=next((one.mistake for one in said if one.mistake), ""),
        reason=unknown or scripted.unknown or next((at.reason for at in points if at.reason), ""),
        value_finite=all(at.value_finite for at in points),
        formulas=reading.count,
        misprints=reading.misprints,
        backward_lines=reading.backward_lines,
        backward_read=reading.backward_read,
        timeline=run.timeline,
        labels=function.labels,
        points=1 + len(further),
        expected=said,
        by_script=claims is not None,
        functions=scripted.functions,
        asked=first.asked,
        needed=max(at.needed for at in points),
    )


def read_back(
    function: Function,
    values: dict[str, Any],
    v: object,
    run: Run,
    composition: Composition,
    at: AtPoint,
    scripted: OwnBackward,
) -> Reading:
    """Return what came of reading back the formulas of an answer at a point."""
    reading = read_formulas(function, values, v, run, composition, at.dust)
    if any(note.kind == "rounding-decides" for note in at.notes):
        reading = reading.undecided("exact numbers decide otherwise than double precision")
    return reading.undecided("a function of the script is none of the language") if scripted.followed else reading


def check_at_random(
    function: Function, values: dict[str, Any], expected: list[Expected], v: object, asked: CheckRequest
) -> list[AtPoint]:
    """Return what random points say, as many as were asked for or as the work for all of them allows."""
    points: list[AtPoint] = []
    for point in random_points(function, values, function.differentiated, asked.samples, asked.seed):
        points.append(check_at(function, point, expected, v, asked.strict))
        if sum(at.work for at in points) > MOST_SAMPLED * function.program.budget.work:
            break
    return points


def copied_point(function: Function, inputs: Mapping[str, object]) -> dict[str, Any]:
    """Return a point as arrays that no caller writes to while it still holds the answer."""
    whole = check_inputs(function.program, filled(function.program, dict(inputs)))
    return {name: np.array(value)[()] for name, value in whole.items()}


def said_together(points: Sequence[AtPoint]) -> list[Expectation]:
    """Return what all points say of each expected derivative; what a script's calls gave is that of the first.

    Where one is wrong at the first point, its entry is from there.
    """
    said = list(points[0].expected)
    for at in points[1:]:
        others = iter(at.expected)
        other = next(others, None)
        for k, one in enumerate(said):
            if other is not None and (one.variable, one.text) == (other.variable, other.text):
                both = replace(one.beside(other), points=one.points + other.points)
                said[k] = replace(both, worst=one.worst, misfit=one.misfit) if one.verdict == "wrong" else both
                other = next(others, None)
    return said


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


def own_backward(function: Function, values: dict[str, Any], v: object) -> OwnBackward:
    """Return what the backward passes that a script wrote itself are worth; nothing for a formula."""
    if not function.program.is_script:
        return OwnBackward()
    from gradcli.checking.functions import judge_functions  # a formula has none

    return judge_functions(function, values, v)


@dataclass(slots=True)
class AtPoint:
    """What the check of one point came to.

    ``expected`` is what is said of each expected derivative, ``dust`` the size of the terms of what rounding
    has left of true zeros, ``work`` what it cost, ``asked`` which entries of J were asked for, ``needed`` the work that
    is enough where so much was not allowed.
    """

    shape: tuple[int, ...]
    value_finite: bool
    comparisons: list[Comparison] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    disagreement: list[Note] = field(default_factory=list)
    expected: list[Expectation] = field(default_factory=list)
    reason: str = ""
    dust: float = 0.0
    work: int = 0
    asked: Asked = field(default_factory=Asked)
    needed: int = 0


def check_at(function: Function, point: dict[str, Any], expected: list[Expected], v: object, strict: bool) -> AtPoint:
    """Hold all routes at one more point against the true derivative."""
    run = function.evaluate(point, strict=strict)
    return check_point(run, run.compose(), point, expected, v, strict)


@digits(60)  # a context of decimals in which nothing raises
def check_point(
    run: Run, composition: Composition, point: dict[str, Any], expected: list[Expected], v: object, strict: bool
) -> AtPoint:
    """Hold all routes of a run, whose J is composed, against the true derivative."""
    shape = run.value.shape
    seed = None if v is None else read_v(v, shape, strict, run.name)
    at = AtPoint(shape, bool(np.all(np.isfinite(run.value))))
    judged, exact, row = Confirmation(), Exact(run.function.program, point, run.names), label_entries(run.name, shape)
    names = {run.name: run.value, **({} if seed is None else {"v": seed.seed})}
    routes = [
        derive_both(run, leaf, composition.entries(leaf), name, row, label_entries(name, leaf.shape))
        for name, leaf in run.leaves.items()
    ]
    edgy, most, remarks = is_edgy(list_operations(run.graph.nodes)), exact.work.most, list[Note]()
    cost = cost_of_run(run, exact, judged)
    if RUNS * cost > most:
        at.needed = enough_work(run.graph, len(expected))
    together = hold_together(exact, routes, judged) if goes_together(cost, most, routes) else None
    if together is not None:
        at.comparisons += [*together.comparisons, *map(compare_routes, routes)]
    moved: list[Derivative] = []
    for place, both in enumerate(routes):
        if together is None:
            truth = find_truth(exact, both, judged, Effort(cost, most // len(routes)), edgy)
            at.comparisons += hold_apart(both, truth)
        else:
            truth = together.truth_of(routes, place)
        if truth.direction is not None and both.jacobian.shape[1] > 1:  # one entry is not moved with others
            moved.append(both)
        items = [item for item in expected if item.variable == both.variable]
        if truth.rounded and any(item.formula is not None or item.claims is not None for item in items):
            truth = own_truth(exact, both, judged) or truth
        remarks += hold_items(items, Against(both, truth, seed), routes, exact, names, judged, at)
        at.dust = max(at.dust, truth.sizes.dust)
    entries = sum(math.prod(both.jacobian.shape) for both in routes)
    at.asked = Asked(entries, entries - sum(math.prod(both.jacobian.shape) for both in moved))
    if moved:
        sampled, single = ([], 0) if judged.unknown else sample_columns(exact, moved)
        directions = len(moved) if together is None else together.directions
        at.asked = replace(at.asked, single=at.asked.single + single, directions=directions)
        at.comparisons += sampled
    with suppress(Spent):  # what is left of the work shows no kink
        if not judged.bends and RUNS * cost <= most and all(leaf.value.size for leaf in run.leaves.values()):
            look_around(exact, {both.variable: both.jacobian for both in routes}, row, judged.bends, edgy)
    at.comparisons = [at_point(one, point) for one in at.comparisons]
    at.expected = [at_point(one, point) for one in at.expected]
    at.work = POINT + exact.done
    at.reason = reason_of(at.comparisons, judged)
    at.notes = [*notes_at(run, judged, exact), *remarks]
    if any(c.wrong and c.routes == (SYMBOLS, REVERSE) for c in at.comparisons):
        worst = next(c.worst for c in at.comparisons if c.wrong and c.worst and c.routes == (SYMBOLS, REVERSE))
        finite = [bool(np.isfinite(value)) for value in worst.values]
        at.disagreement = [note_disagreement(run.output, "grad" if finite == [True, False] else "")]
    return at


def at_point(one: Said, point: dict[str, Any]) -> Said:
    """Return what is said of numbers with the point that the worst of them is at."""
    return one if one.worst is None else replace(one, worst=replace(one.worst, point=dict(point)))


def cost_of_run(run: Run, exact: Exact, judged: Confirmation) -> int:
    """Return what a run in many digits costs: as it is reckoned, and where it is affordable as it was."""
    cost = count_work(run.graph)
    if RUNS * cost <= exact.work.most:
        with judged.asking(exact.work.most, "exact"):
            cost = max(cost, exact.cost)
    return cost


def hold_items(
    items: Sequence[Expected],
    against: Against,
    routes: Sequence[Derivative],
    exact: Exact,
    names: Mapping[str, object],
    judged: Confirmation,
    at: AtPoint,
) -> list[Note]:
    """Hold what is expected by one variable against the truth, write down what came of it, and return the notes."""
    remarks: list[Note] = []
    for item in items:
        try:
            outcome = hold_expected(read_expected(item, exact, names, next(iter(names))), against, exact)
        except Spent:
            judged.unknown = judged.unknown or f"the formula of --expect: {spent_text(exact.work.most)}"
            continue
        at.comparisons.append(outcome.comparison)
        judged.unknown = judged.unknown or outcome.unknown
        remarks += [Note("expect-shape", outcome.note)] if outcome.note else []
        said = expectation(item, outcome, exact.point, against, routes)
        at.expected.append(replace(said, mistake=kink_text(said, judged.bends.get("kink", "")) or said.mistake))
    return remarks


def expectation(
    item: Expected, outcome: Held, point: Mapping[str, Any], against: Against, routes: Sequence[Derivative]
) -> Expectation:
    """Return what is said of one expected derivative at a point, of a script's as the script computed it."""
    comparison, name, mistake = outcome.comparison, item.variable, ""
    digits_left = comparison.digits
    if item.claims is not None:
        name = item.claims.by_input[item.variable].value
        computed = claimed_numbers(item.claims, item.variable, point, as_computed=True)
        digits_left = hold_reading(computed, against).comparison.digits
    if comparison.wrong and outcome.gradients is not None:
        others = {
            both.variable: both.reverse[0].reshape(both.leaf.shape)
            for both in routes
            if both.variable != item.variable and len(both.reverse) == 1
        }
        lengths = frozenset(length for node in against.both.run.graph.nodes for length in np.shape(node.value))
        value, wants = np.asarray(against.both.leaf.value), outcome.wants
        around = Surroundings(value, others, lengths, wants.share, wants.floor)
        mistake = find_mistake(outcome.gradients.expected, outcome.gradients.true, around)
    return Expectation(
        name,
        item.text,
        digits_left,
        comparison.compared,
        comparison.wrong,
        comparison.unclear,
        comparison.worst,
        mistake,
        misfit=comparison.misfit,
        standard=comparison.standard,
        points=int(comparison.wrong > 0),
        from_file=bool(item.source),
        fixed=item.fixed,
    )


def kink_text(one: Expectation, noted: str) -> str:
    """Return that the one entry which is wrong, or the worst where nothing else fits, is at the kink that was noted."""
    worst = one.worst
    if worst is None or not one.wrong or (one.wrong > 1 and one.mistake) or f" by {worst.column} its" not in noted:
        return ""
    return f"{noted.partition('. ')[0]}; the convention takes {worst.values[1]:g}"


def reason_of(comparisons: Sequence[Comparison], judged: Confirmation) -> str:
    """Return why something could not be decided, empty where all was."""
    unclear = max((comparison.unclear for comparison in comparisons), default=0)
    if not unclear:
        return judged.unknown
    why = judged.unknown or next(iter(judged.bends.values()), "no limit is reached as digits are added")
    return f"{counted(unclear, 'entry of J')} cannot be decided: {why}"


def notes_at(run: Run, judged: Confirmation, exact: Exact) -> list[Note]:
    """Return what deserves a sentence at the point that was given."""
    notes = note_run(run.graph) + note_dependence(run.graph, run.output, run.name, run.leaves, {})
    notes += [Note(kind, message) for kind, message in judged.bends.items()]
    if exact.rounded is not None:
        notes.append(Note("rounding-decides", rounding_text(exact.rounded)))
    return notes


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


WHOLE = ("grad", "gradient", "dy")
"""Names of a derivative that say by nothing what it is."""


def note_unchecked(function: Function) -> list[Note]:
    """Return the notes on names such as ``df`` and ``dx`` that a formula assigns and that no line reads."""
    program, text = function.program, function.place.text
    if type(program) is not Program or not (";" in text.strip() or "\n" in text.strip()):
        return []
    from gradcli.checking.claims import stem_of  # most formulas assign nothing

    assigned = assigned_names(program)

    def is_derivative(name: str) -> bool:
        others, stem = {*program.inputs, *assigned} - {name}, stem_of(name)
        of_name = (name.startswith("d") and name[1:] in others) or (stem is not None and stem.name in others)
        return name in WHOLE or of_name

    likely = {name: statement for name, statement in assigned.items() if is_derivative(name)}
    outputs = [name for name in assigned if name not in likely]
    notes = []
    for name, statement in likely.items():
        if not outputs or len(re.findall(rf"\b{name}\b", text)) != 1 or not isinstance(statement, ast.Assign):
            continue
        stem = name[1:]
        by = f"{stem}=" if stem in program.inputs and len(program.inputs) > 1 else ""
        check = f"--of {outputs[-1]} --expect {shlex.quote(by + ast.unparse(statement.value))}"
        notes.append(Note("not-checked", f"{name} was not compared with the derivative: {check} does that."))
    return notes


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
    function: Function, inputs: dict[str, Any], names: Sequence[str], count: int, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield ``count`` points where the output is finite: the variables of ``names`` at random, the others as given.

    Their numbers have four decimals, so that they can be typed. The search for every other point begins with both
    signs, where a derivative that is right on one side alone shows; for those between, with each region in turn, so
    that points lie in all regions where the program has a value. Raises ``value`` where a search finds none.
    """
    rng = np.random.default_rng(seed)
    for number in range(count):
        start = 0 if number % 2 == 0 else number // 2
        for attempt in range(TRIES * len(REGIONS)):
            region = REGIONS[(start + attempt) % len(REGIONS)]
            point = {**inputs, **{name: np.round(region(rng, np.asarray(inputs[name])), 4) for name in names}}
            if has_value(function, point):
                yield point
                break
        else:
            message = "no random point was found at which the program has a finite value"
            raise GradcliError("value", message, hint="give a point in its domain: samples near it are tried too")


def has_value(function: Function, point: dict[str, Any]) -> bool:
    """Return whether the program has a finite value at a point."""
    try:
        return bool(np.all(np.isfinite(function.evaluate(point, record=False).value)))
    except GivenUp:
        raise
    except GradcliError:
        return False
