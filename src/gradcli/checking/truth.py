"""The true derivative by one variable, in many digits, and the routes beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from gradcli.checking.comparing import Derivative, Sweeps, Table
from gradcli.engine.naming import Label
from gradcli.errors import GradcliError
from gradcli.exact.decimals import NAN
from gradcli.exact.judge import Entry, Places, TermSizes, is_zero, random_direction, weighed
from gradcli.exact.limits import finite
from gradcli.exact.slopes import Exact
from gradcli.exact.work import Spent
from gradcli.explanation.checked import REVERSE, SYMBOLS
from gradcli.explanation.confirmation import walk_direction, walk_entries
from gradcli.explanation.suspicion import RUNS
from gradcli.explanation.words import Confirmation, spent_text, too_large_text
from gradcli.jacobian.sparse import Sparse
from gradcli.ops.declare import Array

MOST_ENTRIES = 200_000
"""Entries of J, zeros included, that are held against the truth one by one."""


@dataclass(frozen=True, slots=True)
class Truth:
    """The true derivative, a row for each entry of y, nan where it was not found.

    ``direction`` is None where every entry was asked for, else the one direction along which J was: a step for each
    entry of the variable. ``sizes`` are those of the terms that a double precision route adds up, in the same rows.
    ``rounded`` says that numbers of double precision were taken off it: it is no truer than their rounding.
    """

    values: list[list[Decimal]]
    sizes: TermSizes
    direction: Array | None
    column: Label
    rounded: bool = False


def sizes_beside(sizes: TermSizes, table: Sequence[Sequence[Any]], true: Sequence[Sequence[Decimal]]) -> Array:
    """Return the sizes of the terms of the numbers in a table, which are held against the ``true`` ones."""
    shape = sizes.plain.shape
    zeros = np.array([[is_zero(value) for value in row] for row in true], dtype=bool).reshape(shape)
    return sizes.beside(np.array([[float(value) for value in row] for row in table]).reshape(shape), zeros)


class Effort(NamedTuple):
    """Units of work: what one run in many digits costs, and what the entries of J by one variable may."""

    cost: int
    most: int

    def suffices(self, directions: int) -> bool:
        """Return whether so many directions are affordable."""
        return (RUNS + 4 * directions) * self.cost <= self.most


def find_truth(
    exact: Exact, sought: Derivative, sweeps: Sweeps, told: Confirmation, effort: Effort, edgy: bool
) -> Truth:
    """Return the true derivative: its entries, or where they are too many the derivative along a random direction.

    Kinks, jumps and the like are told, those along a random direction too, and why something was not found. ``edgy``
    says that pieces of the program may meet here.
    """
    (rows, columns), jacobian = sought.jacobian.shape, sought.jacobian
    places = list_places(jacobian, sweeps)
    fullest = int(np.max(np.bincount(jacobian.rows), initial=0)) if len(jacobian.rows) else 0
    few = rows * columns <= MOST_ENTRIES and effort.suffices(fullest)
    groups = places.grouped(edgy) if few else []
    random = random_direction(exact.point, [sought.variable])
    if few and effort.suffices(len(groups)):
        values = find_entries(exact, sought, sweeps, told, places, groups)
        if values is not None:
            if columns > 1 and not told.bends:
                with undecided(told, exact), suppress(Spent):  # a kink that no entry shows: all of them are there
                    look_along(exact, sought, told, random, None)
            return Truth(values, term_sizes(sought), None, sought.column)
        exact.renew()
    direction = np.ravel(random[sought.variable])
    values = [[NAN] for _ in range(rows)]
    if RUNS * effort.cost > exact.work.most:
        told.unknown = told.unknown or too_large_text(exact.work.most)
    else:
        with undecided(told, exact):
            look_along(exact, sought, told, random, values)
    sizes = TermSizes(multiply(jacobian, np.asarray(jacobian.sizes), np.abs(direction)))
    return Truth(values, sizes, direction, lambda _: along_text(sought.variable))


def along_text(variable: str) -> str:
    """Return what stands for an entry of a variable that is moved as a whole."""
    return f"({variable} in a random direction)"


@contextmanager
def undecided(told: Confirmation, exact: Exact) -> Iterator[None]:
    """Note why the truth was not found, where the work for it is used up or the program has no value in many digits."""
    try:
        yield
    except Spent:
        told.unknown = told.unknown or spent_text(exact.work.most)
    except GradcliError as error:
        if error.kind != "exact":
            raise
        told.unknown = told.unknown or error.message


def list_places(jacobian: Sparse, sweeps: Sweeps) -> Places:
    """Return where J can be other than 0, with the numbers of both routes there."""
    sought = [jacobian.values, *([sweeps.values[jacobian.rows, jacobian.columns]] if sweeps.each else [])]
    return Places(jacobian.rows, jacobian.columns, np.asarray(jacobian.sizes), sought, jacobian.shape)


def term_sizes(sought: Derivative) -> TermSizes:
    """Return the sizes of the terms of all entries, with the rounding inside of values where a true 0 asks for it."""
    jacobian = sought.jacobian
    plain = np.asarray(jacobian.sizes)

    def rounded() -> Array:
        from gradcli.explanation.terms import terms_of_entries

        return fill(jacobian, terms_of_entries(sought.run, sought.leaf, plain, jacobian.rows))

    return TermSizes(fill(jacobian, plain), rounded)


def fill(jacobian: Sparse, numbers: Array) -> Array:
    """Return numbers of the entries of J as a matrix with all its zeros."""
    full = np.zeros(jacobian.shape)
    full[jacobian.rows, jacobian.columns] = numbers
    return full


def multiply(jacobian: Sparse, values: Array, direction: Array) -> Array:
    """Return a matrix with the places of J times a direction, as one column."""
    with np.errstate(all="ignore"):
        terms = values * direction[jacobian.columns]
        found: Array = np.bincount(jacobian.rows, terms, jacobian.shape[0])  # type: ignore[assignment] # numpy: counts
        return found[:, None]


def to_decimals(column: Array) -> list[Decimal]:
    """Return numbers as decimals, 0 for what is not finite."""
    return [finite(value) for value in column.ravel().tolist()]


def find_entries(
    exact: Exact,
    sought: Derivative,
    sweeps: Sweeps,
    told: Confirmation,
    places: Places,
    groups: Sequence[Sequence[int]],
) -> list[list[Decimal]] | None:
    """Return the true entries in rows, nan where one was not found; None where the work does not suffice."""
    rows, columns = sought.jacobian.shape
    values = [[Decimal(0)] * columns for _ in range(rows)]
    for row, column in zip(places.rows.tolist(), places.columns.tolist(), strict=True):
        values[row][column] = NAN
    by_symbols = sought.jacobian.dense()

    def takes(entry: Entry) -> str:
        reverse = f", reverse mode {sweeps.values[entry.row, entry.column]:.6g}." if sweeps.each else "."
        return f" Symbols take {by_symbols[entry.row, entry.column]:.6g}{reverse}"

    labels = (sought.row, sought.column)
    with undecided(told, exact):
        try:
            for entry in walk_entries(exact, sought.variable, places, groups, labels, told.bends, takes):
                values[entry.row][entry.column] = entry.value
        except Spent:
            return None
    return values


def look_along(
    exact: Exact,
    sought: Derivative,
    told: Confirmation,
    direction: dict[str, Array],
    values: list[list[Decimal]] | None,
) -> None:
    """Look for kinks along a direction, and write the derivative along it into ``values``. Raises ``Spent``."""
    jacobian, step = sought.jacobian, np.ravel(direction[sought.variable])
    sizes = to_decimals(multiply(jacobian, np.asarray(jacobian.sizes), np.abs(step)))
    printed = [] if values is None else [to_decimals(multiply(jacobian, jacobian.values, step))]
    where = f"{sought.variable} in a random direction"
    slope = walk_direction(exact, direction, sought.row, where, told.bends, sizes, printed)
    if values is not None:
        for row, value in zip(values, slope.values, strict=True):
            row[0] = value


def tabulate(sought: Derivative, sweeps: Sweeps, truth: Truth) -> list[Table]:
    """Return J by symbols and J by reverse mode, each beside the truth."""
    jacobian, name, direction = sought.jacobian, sought.variable, truth.direction
    if direction is None:
        symbols, reverse = jacobian.dense(), sweeps.values
    else:
        symbols = multiply(jacobian, jacobian.values, direction)
        with np.errstate(all="ignore"):
            reverse = (sweeps.values @ direction)[:, None]
    first, second = symbols.tolist(), reverse.tolist()
    by_symbols = Table(
        name, SYMBOLS, first, truth.values, sizes_beside(truth.sizes, first, truth.values), sought.row, truth.column
    )
    if sweeps.each:
        sizes = sizes_beside(truth.sizes, second, truth.values)
        return [by_symbols, Table(name, REVERSE, second, truth.values, sizes, sought.row, truth.column)]
    sums = [[weighed(seed, column) for column in zip(*truth.values, strict=True)] for seed in sweeps.seeds]

    def label(k: int) -> str:
        return f"(sum of rows {k + 1})"

    sizes = sizes_beside(truth.sizes.weighed(sweeps.seeds), second, sums)
    return [by_symbols, Table(name, REVERSE, second, sums, sizes, label, truth.column)]
