"""``check``: J by symbols and by reverse mode, each held against arithmetic with digits to spare."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli.checking.expected import Expected, expectations, held_against, wanted
from gradcli.checking.formulas import formulas_read_back
from gradcli.checking.points import random_points
from gradcli.checking.routes import DIGITS, REVERSE, SYMBOLS, Derivative, swept
from gradcli.checking.truth import tables_of, truth_of
from gradcli.checking.verdict import Comparison, compared, judged, merged
from gradcli.confirming.confirmation import Confirmation, look_around
from gradcli.confirming.words import rounding_text
from gradcli.errors import Budget, GradcliError
from gradcli.evaluation import Evaluation, Function, checked_inputs
from gradcli.exact.decimals import digits
from gradcli.exact.slopes import Exact, Spent
from gradcli.explanation import SURE, output_name
from gradcli.inputs import read_v
from gradcli.naming import place_text
from gradcli.notes import Note, about_disagreement, about_graph, about_run
from gradcli.ops.declare import Array
from gradcli.symbolic.jacobian import Composition, compose


@dataclass(frozen=True, slots=True)
class Check:
    """Whether a derivative is right: each route held against the true one, over all variables and points.

    ``samples`` random points were looked at, of ``wanted`` that were asked for. ``reason`` says why something could
    not be decided, and is empty where all was. ``formulas`` counts those of the answer that were read back, and
    ``misprints`` says which are not the number beside them.
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
    formulas: int
    misprints: list[str]

    @property
    def verdict(self) -> str:
        """``agree``, ``differ``, ``unclear`` or ``not-finite``."""
        if self.misprints or any(comparison.wrong for comparison in self.comparisons):
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
        return list(dict.fromkeys(c.routes[0] for c in self.comparisons if c.routes[1] == DIGITS))

    @property
    def digits(self) -> dict[str, float]:
        """The fewest right digits of each route."""
        told = [c for c in self.comparisons if c.routes[1] == DIGITS and c.compared]
        return {c.routes[0]: min(d.digits for d in told if d.routes == c.routes) for c in told}

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
        reading = formulas_read_back(function, values, v, found[0].shape)
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
        reading.count,
        reading.misprints,
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
    shape: tuple[int, ...]


def checked_at(function: Function, point: dict[str, Any], expected: list[Expected], v: Any, strict: bool) -> AtPoint:
    """Hold all routes at one point against the true derivative."""
    with digits(60):  # a context of decimals in which nothing raises
        return held_at(function, point, expected, v, strict)


def held_at(function: Function, point: dict[str, Any], expected: list[Expected], v: Any, strict: bool) -> AtPoint:
    """Hold all routes at one point against the true derivative, in the context of decimals."""
    run = function.evaluate(point, strict=strict)
    names, budget = function.differentiated, function.program.budget
    seed = None if v is None else read_v(v, run.value.shape, strict)
    output = output_name(run)
    composition = compose(run.output, [run.leaves[name] for name in names], budget.jacobian, run.graph)
    found = AtPoint([], [], [], "", "", bool(np.all(np.isfinite(run.value))), run.value.shape)
    told = Confirmation()
    exact = Exact(function.program, point, names)
    known = {output: run.value, **({} if seed is None else {"v": seed.seed})}
    for name in names:
        sought = derivative(run, composition, name, output)
        sweeps = swept(sought)
        truth = truth_of(exact, sought, sweeps, told)
        routes = [judged(table, point) for table in tables_of(sought, sweeps, truth)]
        found.comparisons += routes
        between = compared(sought, sweeps, point)
        if not all(route.finite and not route.unclear and route.digits >= SURE for route in routes):
            found.comparisons.append(between)
        for item in (item for item in expected if item.variable == name):
            try:
                wants = wanted(item, exact, known, output)
            except Spent:
                told.unknown = told.unknown or "the formula of --expect takes more time than there is for it"
                continue
            comparison, hint = held_against(wants, sought, truth, seed, point)
            found.comparisons.append(comparison)
            found.hint = found.hint or hint
    try:
        if not told.bends and all(run.leaves[name].value.size for name in names):
            look_around(exact, names, output, run.value.shape, told.bends)
    except Spent:
        pass  # the entries were asked for; what is left of the time shows no kink
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


def reason_of(comparisons: Sequence[Comparison], told: Confirmation) -> str:
    """Return why something could not be decided, empty where all was."""
    unclear = max((comparison.unclear for comparison in comparisons), default=0)
    if not unclear:
        return told.unknown
    many = f"{unclear:,} {'entry' if unclear == 1 else 'entries'} of J cannot be decided: "
    return many + (told.unknown or next(iter(told.bends.values()), "no limit was found within 800 digits"))


def one_sided(comparisons: Sequence[Comparison]) -> str:
    """Return ``grad`` where J alone is finite in the worst entry in which symbols and reverse mode differ."""
    worst = next(c.worst for c in comparisons if c.wrong and c.worst and c.routes == (SYMBOLS, REVERSE))
    return "grad" if [bool(np.isfinite(value)) for value in worst.values] == [True, False] else ""


def notes_at(run: Evaluation, names: tuple[str, ...], told: Confirmation, exact: Exact) -> list[Note]:
    """Return what deserves a sentence at the point that was given."""
    notes = about_run(run.graph)
    notes += [n for n in about_graph(run.output, run.leaves, names) if n.kind not in ("flat", "kink")]
    notes += [Note(kind, message) for kind, message in told.bends.items()]
    if exact.rounded is not None:
        notes.append(Note("rounding-decides", rounding_text(exact.rounded)))
    return notes


__all__ = ["Check", "Expected", "check"]
