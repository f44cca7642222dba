"""Where an expected derivative is wrong that was held against the truth along a direction: the entry itself.

Reverse mode and J by symbols say in double precision which entries are suspicious. Of these the worst are asked for
alone, in many digits: what they say is the truth, and no fault of double precision is taken for the user's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import NamedTuple

import numpy as np

from gradcli.checking.comparing import Derivative, Table
from gradcli.checking.together import true_column
from gradcli.exact.judge import TermSizes, weighed
from gradcli.exact.slopes import Exact
from gradcli.exact.thresholds import MEASURED, ROUNDING
from gradcli.exact.work import Spent
from gradcli.explanation.checked import EXPECTED, Comparison, Entry
from gradcli.language.inputs import Cotangent
from gradcli.ops.declare import Array

TINY = 1e-300
MOST_LOCATED = 3
"""Suspicious entries that are asked for one by one."""


CompareEntry = Callable[[Table, Decimal, TermSizes, Decimal], Comparison]
"""What holds an expected number against the truth.

It takes how far it may be from that, the size of its terms, and the largest entry of the gradient.
"""


class Claim(NamedTuple):
    """Expected entries in rows, and how far each may be from the truth; without ``seed`` they are those of J.

    ``share`` is the part of an entry by which it may be off too, where the user or its type has chosen one, and
    ``floor`` that of the ``largest`` entry of its row.
    """

    table: Sequence[Sequence[Decimal]]
    limits: Sequence[Sequence[Decimal]]
    seed: Cotangent | None
    largest: Sequence[Decimal]
    share: float
    floor: float


def in_doubles(sought: Derivative, seed: Cotangent | None) -> tuple[Array, Array]:
    """Return J by symbols, or v times it, and the sizes of its terms, as matrices."""
    jacobian = sought.jacobian
    values, sizes = jacobian.dense(), np.zeros(jacobian.shape)
    sizes[jacobian.rows, jacobian.columns] = np.asarray(jacobian.sizes)
    if seed is None:
        return values, sizes
    v = np.ravel(seed.seed)[None]
    with np.errstate(all="ignore"):
        return v @ values, np.abs(v) @ sizes


def suspicious(sought: Derivative, claim: Claim) -> list[tuple[int, int]]:
    """Return the entries that are not those of double precision, rounding aside, the farthest first."""
    values, sizes = in_doubles(sought, claim.seed)
    wanted, bounds = (
        np.array([[float(entry) for entry in row] for row in rows]).reshape(values.shape)
        for rows in (claim.table, claim.limits)
    )
    with np.errstate(all="ignore"):
        largest = np.max(np.abs(values), initial=0.0, where=np.isfinite(values))
        allowed = np.maximum(np.maximum(bounds, float(MEASURED) * np.abs(values)), ROUNDING * sizes)
        allowed = np.maximum(allowed, claim.floor * np.array([[float(entry)] for entry in claim.largest]))
        allowed = np.maximum(allowed, claim.share * np.maximum(np.abs(values), np.minimum(sizes, largest)))
        error = np.abs(wanted - values)
        units = np.where(np.isfinite(values), np.where(error > allowed, error / np.maximum(allowed, TINY), 0.0), 0.0)
    order = np.argsort(-units, axis=None, kind="stable")[: np.count_nonzero(units)]
    return [(int(k) // values.shape[1], int(k) % values.shape[1]) for k in order]


def locate(exact: Exact, sought: Derivative, claim: Claim, compare: CompareEntry, along: Comparison) -> Comparison:
    """Return how a claim compares with the truth: at its worst entry where that is wrong, else ``along`` a direction.

    ``compare`` is that of one entry. Where suspicious entries could not be asked for, they count as unclear.
    """
    entries = suspicious(sought, claim)
    every = sum(map(len, claim.table))
    along = dataclasses.replace(along, compared=every if along.compared else 0)
    for place, (i, j) in enumerate(entries[:MOST_LOCATED]):
        try:
            truth, sizes = true_column(exact, sought, j)
        except Spent:
            left = len(entries) - place
            if along.wrong:
                return dataclasses.replace(along, wrong=left, worst=in_doubles_alone(sought, claim, (i, j), along))
            return dataclasses.replace(along, unclear=along.unclear + left)
        held = hold_entry(sought, claim, (i, j), truth, TermSizes(sizes), compare)
        if held.wrong:
            return dataclasses.replace(held, compared=every, wrong=len(entries) - place)
    return along if entries or not claim.share else with_fewest_digits(exact, sought, claim, compare, along)


def with_fewest_digits(
    exact: Exact, sought: Derivative, claim: Claim, compare: CompareEntry, along: Comparison
) -> Comparison:
    """Return how a right claim compares ``along`` a direction, or in the entry that is off most where that has less."""
    for i, j in suspicious(sought, claim._replace(share=0.0))[:1]:
        with suppress(Spent):
            truth, sizes = true_column(exact, sought, j)
            held = hold_entry(sought, claim, (i, j), truth, TermSizes(sizes), compare)
            if held.digits < along.digits:
                return dataclasses.replace(along, worst=held.worst)
    return along


def in_doubles_alone(sought: Derivative, claim: Claim, place: tuple[int, int], along: Comparison) -> Entry | None:
    """Return an entry of a claim that is wrong ``along`` a direction beside that of double precision."""
    if along.worst is None:
        return None
    i, j = place
    row = sought.row(i) if claim.seed is None else ""  # a gradient has no rows
    values = float(claim.table[i][j]), float(in_doubles(sought, claim.seed)[0][i, j])
    return dataclasses.replace(along.worst, row=row, column=sought.column(j), values=values)


def hold_entry(
    sought: Derivative,
    claim: Claim,
    place: tuple[int, int],
    truth: list[list[Decimal]],
    sizes: TermSizes,
    compare: CompareEntry,
) -> Comparison:
    """Return how one entry of a claim compares with the true one, that of a column of J."""
    i, j = place
    if claim.seed is not None:
        v = np.ravel(claim.seed.seed)
        truth, sizes = [[weighed(v, [row[0] for row in truth])]], sizes.weighed(v[None])
    row = sought.row if claim.seed is None else lambda _: ""
    table = Table(
        sought.variable,
        EXPECTED,
        [[claim.table[i][j]]],
        [truth[i]],
        sizes.plain[i : i + 1],
        lambda _: row(i),
        lambda _: sought.column(j),
    )
    return compare(table, claim.limits[i][j], sizes, claim.largest[i])
