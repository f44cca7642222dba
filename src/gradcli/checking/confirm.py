"""``check``: J by symbols, by reverse mode and by numbers alone, each held against the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli.checking.expected import Expected, held_against, likely
from gradcli.checking.points import random_points
from gradcli.checking.routes import (
    COMPLEX,
    EXPECTED,
    REVERSE,
    SYMBOLS,
    Labels,
    Table,
    by_columns,
    by_program,
    by_rows,
    prober,
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
        values: dict[str, Any] = checked_inputs(function.program, given)
        names = function.wrt if function.wrt is not None else function.inputs
        wanted = expectations(expect, names)
        points = [values, *random_points(function, values, names, samples, seed)]
        found, notes, hint, finite = [], list[Note](), "", True
        for point in points:
            run = function.evaluate(point)
            finite = finite and bool(np.all(np.isfinite(run.value)))
            cotangent = None if v is None else read_v(v, run.value.shape, strict)
            tables = list(confirmed(function, run, point, names, wanted, cotangent))
            here = [compared(table, point) for table in tables]
            missed = (t for t, c in zip(tables, here, strict=True) if c.wrong and t.routes[1] == EXPECTED)
            hint = hint or next(map(likely, missed), "")
            notes += notes_of(run, names, here, first=point is values)
            found += here
    except GradcliError as error:
        raise error.at(error.span, function.place) from None
    return Check(
        function.place.text,
        {name: np.asarray(value) for name, value in values.items()},
        tuple(names),
        merged(found),
        samples,
        seed,
        list(dict.fromkeys(notes)),
        hint,
        finite,
    )


def expectations(expect: Any, names: Sequence[str]) -> list[Expected]:
    """Return what is expected by which variable; raises ``option`` where that is not clear."""
    if isinstance(expect, str):
        if len(names) != 1:
            known = ", ".join(names)
            raise GradcliError(
                "option",
                f"an expected derivative must say by which variable: the program has {known or 'none'}",
                hint=f"--expect '{names[0]}=FORMULA', or --wrt {names[0]}" if names else None,
            )
        return [Expected(names[0], expect, None)]
    if isinstance(expect, Mapping):
        pairs = expect.items()
        expect = [
            Expected(name, item, None) if isinstance(item, str) else Expected(name, None, np.asarray(item, np.float64))
            for name, item in pairs
        ]
    for item in expect:
        if item.variable not in names:
            raise GradcliError(
                "option", f"'{item.variable}' is not differentiated", hint=f"there is {', '.join(names) or 'nothing'}"
            )
    return list(expect)


def confirmed(
    function: Function,
    run: Evaluation,
    point: dict[str, Any],
    names: Sequence[str],
    expected: list[Expected],
    seed: Cotangent | None,
) -> Iterator[Table]:
    """Yield the tables of one run: every two routes, for every variable."""
    budget = function.program.budget
    output = output_name(run)
    composition = compose(run.output, [run.leaves[name] for name in names], budget.jacobian, run.graph)
    for name in names:
        leaf = run.leaves[name]
        jacobian = composition.of[leaf.index]
        labels = labelled(run, name, output)
        rows = by_rows(run, leaf, jacobian, name, labels)
        probe = prober(function, run, point, name)
        columns = by_columns(run, leaf, jacobian, name, labels, probe)
        yield rows
        yield columns
        if columns.routes[1] == COMPLEX:
            yield by_program(run, leaf, jacobian, name, labels, probe)
        if rows.right.shape == columns.right.shape == jacobian.shape:
            yield Table(
                name, (REVERSE, columns.routes[1]), rows.right, columns.right, columns.bound + rows.bound, labels.row,
                labels.column,
            )  # fmt: skip
        known = {output: run.value, **({} if seed is None else {"v": seed.seed}), **point}
        for item in expected:
            if item.variable == name:
                yield held_against(item, known, jacobian, (run.value.shape, leaf.shape), seed, labels, budget)


def labelled(run: Evaluation, name: str, output: str) -> Labels:
    """Return how to name the entries of the output and of a variable."""
    rows, columns = run.value.shape, run.leaves[name].shape
    return Labels(lambda k: output + place_text(k, rows), lambda k: name + place_text(k, columns))


def notes_of(run: Evaluation, names: Sequence[str], found: list[Comparison], first: bool) -> list[Note]:
    """Return what deserves a sentence: kinks at the given point, and why routes of gradcli's own differ."""
    notes = [note for note in about_graph(run.output, run.leaves, tuple(names)) if first and note.kind != "flat"]
    own = [c for c in found if c.routes == (SYMBOLS, REVERSE)]
    if any(c.wrong for c in own):
        worst = max((c.worst for c in own if c.worst), key=lambda entry: entry.units)
        finite = [bool(np.isfinite(value)) for value in worst.values]
        notes.append(about_disagreement(run.output, "grad" if finite == [True, False] else ""))
    return notes


__all__ = ["Check", "Expected", "check"]
