"""``check``: J by symbols, by reverse mode and by numbers alone, each held against the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli.checking.expected import Expected, expectations, held_against, likely
from gradcli.checking.points import random_points
from gradcli.checking.replay import recorded
from gradcli.checking.routes import (
    COMPLEX,
    EXPECTED,
    REVERSE,
    SYMBOLS,
    Derivative,
    Labels,
    Table,
    by_columns,
    by_program,
    by_rows,
    prober,
    without_symbols,
)
from gradcli.checking.verdict import Comparison, compared, merged
from gradcli.errors import Budget, GradcliError
from gradcli.evaluation import Evaluation, Function, checked_inputs
from gradcli.explanation import output_name
from gradcli.inputs import Cotangent, read_v
from gradcli.notes import Note, about_disagreement, about_graph
from gradcli.ops.declare import Array
from gradcli.symbolic.jacobian import compose
from gradcli.symbolic.texts import place_text


@dataclass(frozen=True, slots=True)
class Check:
    """Whether a derivative is right: the routes, compared two by two over all variables and points."""

    program: str
    inputs: dict[str, Array]
    differentiated: tuple[str, ...]
    comparisons: list[Comparison]
    samples: int
    seed: int
    notes: list[Note]
    hint: str
    value_finite: bool

    @property
    def agree(self) -> bool:
        """Whether no entry differs by more than its tolerance on any two routes."""
        return not any(comparison.wrong for comparison in self.comparisons)

    @property
    def finite(self) -> bool:
        """Whether y and J are finite."""
        return self.value_finite and all(comparison.finite for comparison in self.comparisons)

    @property
    def routes(self) -> list[str]:
        """The names of all routes, each once."""
        return list(dict.fromkeys(route for comparison in self.comparisons for route in comparison.routes))

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
    with ``v`` the gradient vᵀ·J. Raises ``GradcliError`` for anything that its caller can mend.
    """
    given = {**(inputs or {}), **variables}
    function = Function(program, wrt, budget, given)
    try:
        # A copy, since a caller may write to its arrays while it still holds the answer.
        values: dict[str, Any] = {
            name: np.array(value)[()] for name, value in checked_inputs(function.program, given).items()
        }
        wanted = expectations(expect, function.differentiated)
        points = [values, *random_points(function, values, function.differentiated, samples, seed)]
        found = [checked_at(function, point, wanted, v, strict) for point in points]
    except GradcliError as error:
        raise error.at(error.span, function.place) from None
    return Check(
        function.place.text,
        {name: np.asarray(value) for name, value in values.items()},
        function.differentiated,
        merged([comparison for at in found for comparison in at.comparisons]),
        samples,
        seed,
        list(dict.fromkeys([*found[0].kinks, *(note for at in found for note in at.disagreement)])),
        next((at.hint for at in found if at.hint), ""),
        all(at.value_finite for at in found),
    )


@dataclass(frozen=True, slots=True)
class AtPoint:
    """What the check of one point found; ``hint`` is what a derivative that differs may have gone wrong with."""

    comparisons: list[Comparison]
    kinks: list[Note]
    disagreement: list[Note]
    hint: str
    value_finite: bool


def checked_at(function: Function, point: dict[str, Any], wanted: list[Expected], v: Any, strict: bool) -> AtPoint:
    """Compare all routes at one point."""
    run = function.evaluate(point)
    seed = None if v is None else read_v(v, run.value.shape, strict)
    tables = list(confirmed(function, run, point, wanted, seed))
    found = [compared(table, point) for table in tables]
    missed = (t for t, c in zip(tables, found, strict=True) if c.wrong and t.routes[1] == EXPECTED)
    notes = about_graph(run.output, run.leaves, function.differentiated)
    return AtPoint(
        found,
        [note for note in notes if note.kind != "flat"],
        why_routes_differ(run, found),
        next(map(likely, missed), ""),
        bool(np.all(np.isfinite(run.value))),
    )


def confirmed(
    function: Function, run: Evaluation, point: dict[str, Any], expected: list[Expected], seed: Cotangent | None
) -> Iterator[Table]:
    """Yield the tables of one run: every two routes, for every variable."""
    budget, names = function.program.budget, function.differentiated
    output, recording = output_name(run), recorded(run)
    composition = compose(run.output, [run.leaves[name] for name in names], budget.jacobian, run.graph)
    for name in names:
        leaf = run.leaves[name]
        sought = Derivative(recording, leaf, composition.of[leaf.index], name, labelled(run, name, output))
        probe = prober(function, sought, point)
        rows, columns = by_rows(sought), by_columns(sought, probe)
        yield rows
        yield columns
        if columns.routes[1] == COMPLEX:
            yield by_program(sought, probe)
        if rows.whole and columns.whole:
            yield without_symbols(rows, columns)
        known = {output: run.value, **({} if seed is None else {"v": seed.seed}), **point}
        for item in expected:
            if item.variable == name:
                yield held_against(item, known, sought, seed, budget)


def labelled(run: Evaluation, name: str, output: str) -> Labels:
    """Return how to name the entries of the output and of a variable."""
    rows, columns = run.value.shape, run.leaves[name].shape
    return Labels(lambda k: output + place_text(k, rows), lambda k: name + place_text(k, columns))


def why_routes_differ(run: Evaluation, found: list[Comparison]) -> list[Note]:
    """Return why symbols and reverse mode differ, where they do."""
    own = [c for c in found if c.routes == (SYMBOLS, REVERSE)]
    if not any(c.wrong for c in own):
        return []
    worst = max((c.worst for c in own if c.worst), key=lambda entry: entry.units)
    finite = [bool(np.isfinite(value)) for value in worst.values]
    return [about_disagreement(run.output, "grad" if finite == [True, False] else "")]


__all__ = ["Check", "Expected", "check"]
