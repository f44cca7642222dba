"""``check``: J by symbols and by reverse mode, each held against arithmetic with digits to spare."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from gradcli.agreement import tolerance
from gradcli.checking.expected import Expected, expectations, held_against, wanted
from gradcli.checking.points import random_points
from gradcli.checking.routes import (
    REVERSE,
    SYMBOLS,
    Derivative,
    Reading,
    Steps,
    Table,
    by_reverse_mode,
    by_symbols,
)
from gradcli.checking.verdict import Comparison, compared, judged, merged
from gradcli.confirming.confirmation import Confirmation
from gradcli.confirming.suspicion import work_of
from gradcli.confirming.words import bend, rounding_text
from gradcli.errors import Budget, GradcliError
from gradcli.evaluation import Evaluation, Function, checked_inputs
from gradcli.exact.judge import directions, per_unit, random_direction, scaled
from gradcli.exact.real import NAN
from gradcli.exact.slopes import OPERATIONS, Exact, Spent
from gradcli.explanation import output_name
from gradcli.inputs import read_v
from gradcli.notes import Note, about_disagreement, about_graph
from gradcli.ops.declare import Array
from gradcli.symbolic.jacobian import Composition, compose
from gradcli.symbolic.texts import place_text


@dataclass(frozen=True, slots=True)
class Check:
    """Whether a derivative is right: each route held against the true one, over all variables and points.

    ``samples`` random points were looked at, of ``wanted`` that were asked for. ``reason`` says why something could
    not be decided, and is empty where all was.
    """

    program: str
    inputs: dict[str, Array]
    differentiated: tuple[str, ...]
    comparisons: list[Comparison]
    samples: int
    wanted: int
    seed: int
    notes: list[Note]
    hint: str
    reason: str
    value_finite: bool

    @property
    def verdict(self) -> str:
        """``agree``, ``differ``, ``unclear`` or ``not-finite``."""
        if any(comparison.wrong for comparison in self.comparisons):
            return "differ"
        if not self.finite:
            return "not-finite"
        return "unclear" if self.reason else "agree"

    @property
    def agree(self) -> bool:
        """Whether no number is wrong, and every one was decided."""
        return self.verdict in ("agree", "not-finite")

    @property
    def finite(self) -> bool:
        """Whether y and J are finite."""
        return self.value_finite and all(comparison.finite for comparison in self.comparisons)

    @property
    def routes(self) -> list[str]:
        """The names of all routes that were held against the truth, each once."""
        return list(dict.fromkeys(comparison.routes[0] for comparison in self.comparisons))

    @property
    def digits(self) -> dict[str, float]:
        """The fewest right digits of each route."""
        return {
            route: min(c.digits for c in self.comparisons if c.routes[0] == route and c.compared)
            for route in self.routes
            if any(c.routes[0] == route and c.compared for c in self.comparisons)
        }

    def __str__(self) -> str:
        from gradcli.render.verdict import verdict  # noqa: PLC0415

        return verdict(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document."""
        from gradcli.render.verdict import document  # noqa: PLC0415

        return document(self)


def check(
    program: str,
    /,
    *,
    v: Any = None,
    expect: Sequence[Expected] | str | Mapping[str, Any] = (),
    wrt: Sequence[str] | None = None,
    samples: int = 0,
    seed: int = 0,
    strict: bool = False,
    budget: Budget | None = None,
    inputs: Mapping[str, Any] | None = None,
    **variables: Any,
) -> Check:
    """Check the derivative of ``program`` at a point, and at ``samples`` random points of its domain.

    ``expect`` is a derivative written by hand: a formula, or formulas or arrays by the name of a variable. It is J, or
    with ``v`` the gradient vᵀ·J. The search of random points ends with the budget's seconds; ``Check.samples`` says how
    many were looked at. Raises ``GradcliError`` for anything that its caller can mend.
    """
    given = {**(inputs or {}), **variables}
    function = Function(program, wrt, budget, given)
    try:
        # A copy, since a caller may write to its arrays while it still holds the answer.
        values: dict[str, Any] = {
            name: np.array(value)[()] for name, value in checked_inputs(function.program, given).items()
        }
        expected = expectations(expect, function.differentiated)
        over = time.thread_time() + function.program.budget.seconds
        found = [checked_at(function, values, expected, v, strict)]
        for point in random_points(function, values, function.differentiated, samples, seed):
            found.append(checked_at(function, point, expected, v, strict))
            if time.thread_time() > over:
                break
    except GradcliError as error:
        raise error.at(error.span, function.place) from None
    return Check(
        function.place.text,
        {name: np.asarray(value) for name, value in values.items()},
        function.differentiated,
        merged([comparison for at in found for comparison in at.comparisons]),
        len(found) - 1,
        samples,
        seed,
        list(dict.fromkeys([*found[0].notes, *(note for at in found for note in at.disagreement)])),
        next((at.hint for at in found if at.hint), ""),
        next((at.reason for at in found if at.reason), ""),
        all(at.value_finite for at in found),
    )


@dataclass(slots=True)
class AtPoint:
    """What the check of one point found; ``hint`` is what a derivative that differs may have gone wrong with."""

    comparisons: list[Comparison]
    notes: list[Note]
    disagreement: list[Note]
    hint: str
    reason: str
    value_finite: bool


def checked_at(function: Function, point: dict[str, Any], expected: list[Expected], v: Any, strict: bool) -> AtPoint:
    """Hold all routes at one point against the true derivative."""
    run = function.evaluate(point)
    names, budget = function.differentiated, function.program.budget
    seed = None if v is None else read_v(v, run.value.shape, strict)
    output = output_name(run)
    composition = compose(run.output, [run.leaves[name] for name in names], budget.jacobian, run.graph)
    found = AtPoint([], [], [], "", "", bool(np.all(np.isfinite(run.value))))
    told = Confirmation()
    exact = Exact(function.program, point, names)
    known = {output: run.value, **({} if seed is None else {"v": seed.seed})}
    for name in names:
        sought = derivative(run, composition, name, output)
        steps = steps_of(exact, sought)
        symbols = by_symbols(sought, steps)
        readings = [symbols, by_reverse_mode(sought, steps, symbols.sizes)]
        truth = truth_of(exact, sought, steps, readings, told)
        tables = [reading.beside(truth, sought, steps) for reading in readings]
        found.comparisons += [judged(table, point) for table in tables]
        found.comparisons += (
            [] if readings[1].seeds is not None else [compared(tables[0], tables[1], bound_of(tables), point)]
        )
        for item in (item for item in expected if item.variable == name):
            if not steps.whole:
                raise too_large(name)
            wants = wanted(item, exact, known, output)
            comparison, hint = held_against(wants, sought, truth, symbols.sizes, seed, point)
            found.comparisons.append(comparison)
            found.hint = found.hint or hint
    found.reason = reason_of(found.comparisons, told)
    found.notes = notes_at(run, names, told, exact)
    if any(c.wrong and c.routes == (SYMBOLS, REVERSE) for c in found.comparisons):
        found.disagreement = [about_disagreement(run.output, one_sided(found.comparisons))]
    return found


def derivative(run: Evaluation, composition: Composition, name: str, output: str) -> Derivative:
    """Return the derivative by one variable, with names for its entries."""
    leaf = run.leaves[name]
    rows, columns = run.value.shape, leaf.shape
    return Derivative(
        run,
        leaf,
        composition.of[leaf.index],
        name,
        lambda k: output + place_text(k, rows),
        lambda k: name + place_text(k, columns),
    )


def steps_of(exact: Exact, sought: Derivative) -> Steps:
    """Return the directions to ask for: every entry, or where they are too many one random direction."""
    rows, columns = sought.jacobian.shape
    if (6 + 4 * columns) * work_of(sought.run.graph) + rows * columns <= OPERATIONS:
        return Steps(np.eye(columns), sought.column, whole=True)
    random = random_direction(exact.point, [sought.variable])[sought.variable]
    return Steps(random.reshape(1, -1), lambda _: f"({sought.variable} in a random direction)", whole=False)


def truth_of(
    exact: Exact, sought: Derivative, steps: Steps, readings: Sequence[Reading], told: Confirmation
) -> list[list[Decimal]]:
    """Return the true derivative, a row for each entry of y, nan where it was not found.

    Kinks, jumps and the like are told, those along a random direction too, and why something was not found.
    """
    rows, variable = sought.jacobian.shape[0], sought.variable
    truth = [[NAN] * len(steps.rows) for _ in range(rows)]
    units = directions(variable, exact.point[variable]).units.ravel() if steps.whole else np.ones(1)
    try:
        for k, unit in enumerate(units.tolist()):
            direction = {variable: (steps.rows[k] * unit).reshape(sought.leaf.shape)}
            with np.errstate(all="ignore"):
                values = [reading.values[:, k] * unit for reading in readings if reading.seeds is None]
                slope = exact.along(direction, readings[0].sizes[:, k] * unit, values)
            for i, value in enumerate(slope.values):
                truth[i][k] = per_unit(value, unit)
                takes = f" Symbols take {readings[0].values[i, k]:.6g}"
                takes += f", reverse mode {readings[1].values[i, k]:.6g}." if readings[1].seeds is None else "."
                bend(told.bends, scaled(slope.sides[i], unit), sought.row(i), steps.label(k), takes)
        if steps.whole and len(units) > 1 and not told.bends:
            for i, side in enumerate(exact.along(random_direction(exact.point, [variable])).sides):
                bend(told.bends, side, sought.row(i), f"{variable} in a random direction", "")
    except Spent:
        told.unknown = told.unknown or "the true derivative takes more time than there is for it"
    except GradcliError as error:
        if error.kind != "exact":
            raise
        told.unknown = told.unknown or error.message
    return truth


def bound_of(tables: Sequence[Table]) -> Array:
    """Return how far symbols and reverse mode may differ; nan where a column is finite on neither route.

    The zeros of a one-hot v meet an infinite derivative of another row there.
    """
    left, right = tables[0].values, tables[1].values
    singular = ~np.all(np.isfinite(left), axis=0) & ~np.isfinite(right)
    return np.where(singular, np.nan, tolerance(tables[0].sizes))


def too_large(name: str) -> GradcliError:
    """Return the error for an expected derivative whose entries are too many to be asked for one by one."""
    return GradcliError(
        "budget",
        f"the derivative by {name} has too many entries to hold --expect against each in many digits",
        hint="check a smaller example of the same function",
    )


def reason_of(comparisons: Sequence[Comparison], told: Confirmation) -> str:
    """Return why something could not be decided, empty where all was."""
    unclear = max((comparison.unclear for comparison in comparisons), default=0)
    if not unclear:
        return ""
    many = f"{unclear:,} {'entry' if unclear == 1 else 'entries'} of J cannot be decided: "
    return many + (told.unknown or next(iter(told.bends.values()), "no limit was found within 800 digits"))


def one_sided(comparisons: Sequence[Comparison]) -> str:
    """Return ``grad`` where J alone is finite in the worst entry in which symbols and reverse mode differ."""
    worst = next(c.worst for c in comparisons if c.wrong and c.worst and c.routes == (SYMBOLS, REVERSE))
    return "grad" if [bool(np.isfinite(value)) for value in worst.values] == [True, False] else ""


def notes_at(run: Evaluation, names: tuple[str, ...], told: Confirmation, exact: Exact) -> list[Note]:
    """Return what deserves a sentence at the point that was given."""
    notes = [n for n in about_graph(run.output, run.leaves, names) if n.kind not in ("flat", "kink")]
    notes += [Note(kind, message) for kind, message in told.bends.items()]
    if exact.rounded is not None:
        notes.append(Note("rounding-decides", rounding_text(exact.rounded)))
    return notes


__all__ = ["Check", "Expected", "check"]
