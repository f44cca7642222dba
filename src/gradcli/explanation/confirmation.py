"""Whether the numbers of an answer are right: y, J and x.grad held against arithmetic with digits to spare."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import chain
from typing import Any, NamedTuple, cast

import numpy as np

from gradcli.engine.graph import Node
from gradcli.engine.naming import Label, label_entries, place_text
from gradcli.errors import GradcliError
from gradcli.exact.decimals import NAN, digits
from gradcli.exact.judge import Entry, Places, TermSizes, random_direction, right_digits, true_entries, weighed
from gradcli.exact.limits import Side, finite
from gradcli.exact.slopes import Exact, Purse, Slope, Spent
from gradcli.exact.thresholds import FEWEST
from gradcli.explanation.effect import Dust
from gradcli.explanation.explained import Backward, sum_vjps
from gradcli.explanation.jacobians import Jacobian
from gradcli.explanation.readings import Point
from gradcli.explanation.suspicion import largest
from gradcli.explanation.words import Confirmation, rounding_text, tell_bend
from gradcli.jacobian.sparse import Sparse
from gradcli.ops.declare import Array

MOST_AROUND = 24
"""Random directions that are tried where pieces meet."""
SPENT_AROUND = 200_000
"""Operations on single numbers after which no more of them are tried: about 0.3 seconds."""


class Sums(NamedTuple):
    """vᵀ·J and ``x.grad`` for each variable after the last call of backward."""

    vjp: Mapping[str, Array]
    grad: Mapping[str, Array]

    @classmethod
    def of(cls, backward: Sequence[Backward]) -> Sums:
        """Return what these calls have added up."""
        return cls(sum_vjps(backward), backward[-1].accumulated)


def confirm(
    exact: Exact, point: Point, jacobians: Mapping[str, Jacobian], sums: Sums, whole: bool, edgy: bool
) -> Confirmation:
    """Hold y, J and the gradients after the last call against the program in many digits.

    They are held entry by entry where ``whole`` says so, else along one random direction. ``edgy`` says that pieces of
    the program may meet here, where only one direction may show a kink.
    """
    found = Confirmation(asked="entries" if whole else "direction")
    with digits(60):
        try:
            confirm_value(exact, point, found)
            if whole:
                confirm_whole(exact, point, jacobians, sums, found, edgy)
            else:
                confirm_direction(exact, point, jacobians, sums.grad, found)
        except Spent:
            found.unknown = "it takes more than the time for it"
        except GradcliError as error:
            found.unknown = error.message
    found.rounded = "" if exact.rounded is None else rounding_text(exact.rounded)
    return found


def confirm_whole(
    exact: Exact,
    point: Point,
    jacobians: Mapping[str, Jacobian],
    sums: Sums,
    found: Confirmation,
    edgy: bool,
) -> None:
    """Hold every entry against the truth; where that takes too long, J along one random direction."""
    try:
        for name, jacobian in jacobians.items():
            confirm_entries(exact, point, name, jacobian, sums, found, edgy)
    except Spent:
        exact.purse = Purse()
        confirm_direction(exact, point, jacobians, sums.grad, found)
        return
    if edgy and not found.bends:
        look_around(exact, jacobians, label_entries(point.name, point.value.shape), found.bends, edgy)


def walk_entries(
    exact: Exact,
    variable: str,
    places: Places,
    groups: Sequence[Sequence[int]],
    labels: tuple[Label, Label],
    bends: dict[str, str],
    takes: Callable[[Entry], str],
) -> Iterator[Entry]:
    """Yield the true entries of ∂y/∂x that can be other than 0, and note kinks and jumps on the way.

    ``labels`` call the entries of y and of x, ``takes`` says which slope is printed at a kink. Raises ``Spent``.
    """
    row, column = labels
    for entry in true_entries(exact, variable, places, groups):
        if entry.side.kind:
            at = column(entry.column) if entry.alone else "a random direction"
            tell_bend(bends, entry.side, row(entry.row), at, takes(entry))
        yield entry


def walk_direction(
    exact: Exact,
    direction: Mapping[str, Array],
    row: Label,
    along: str,
    bends: dict[str, str],
    sizes: Sequence[Decimal] = (),
    sought: Sequence[Sequence[Decimal]] = (),
) -> Slope:
    """Return the derivative along a direction, and note kinks and jumps of y there. Raises ``Spent``."""
    slope = exact.along(direction, sizes, sought)
    for i, side in enumerate(slope.sides):
        tell_bend(bends, side, row(i), along, "")
    return slope


def look_around(
    exact: Exact, jacobians: Mapping[str, Jacobian | Sparse], row: Label, bends: dict[str, str], edgy: bool
) -> None:
    """Look for kinks along random directions that move all variables at once, the second one the first half turned.

    Where pieces of the program meet more are tried: a tie of three has six pieces.
    """
    names = list(jacobians)
    d = random_direction(exact.point, names)
    turned = {name: step * np.where(np.arange(step.size).reshape(step.shape) % 2, 1, -1) for name, step in d.items()}
    turned |= {name: -turned[name] for name in names[1::2]}
    more = (random_direction(exact.point, names, seed) for seed in range(1, MOST_AROUND) if edgy)
    left = exact.purse.operations - SPENT_AROUND
    for k, direction in enumerate(chain((d, turned), more)):
        if k > 1 and (bends or exact.purse.operations < left):
            return
        sizes = sizes_along(jacobians, direction, exact.rows)
        walk_direction(exact, direction, row, "a random direction", bends, list(map(finite, sizes.tolist())))


def sizes_along(jacobians: Mapping[str, Jacobian | Sparse], direction: Mapping[str, Array], rows: int) -> Array:
    """Return how large the terms of each row of J·d are."""
    sizes = np.zeros(rows)
    with np.errstate(all="ignore"):
        for name, jacobian in jacobians.items():
            terms = np.asarray(jacobian.sizes) * np.abs(np.ravel(direction[name])[jacobian.columns])
            np.add.at(sizes, jacobian.rows, terms)
    return sizes


def confirm_value(exact: Exact, point: Point, found: Confirmation) -> None:
    """Hold y against its value in many digits."""
    scale = max((largest(leaf.value) for leaf in point.leaves.values()), default=0.0)
    label = label_entries(point.name, point.value.shape)
    for i, (value, truth) in enumerate(zip(np.ravel(point.value).tolist(), exact.values(), strict=True)):
        if math.isfinite(value):
            found.judge("y", value, truth, scale if truth == 0 else 0.0, label(i))


def confirm_entries(
    exact: Exact, point: Point, name: str, jacobian: Jacobian, sums: Sums, found: Confirmation, edgy: bool
) -> None:
    """Hold every entry of J by one variable, and of its gradient, against the true one."""
    y, seed, grad, vjp = map(np.ravel, (point.value, point.seed, sums.grad[name], sums.vjp[name]))
    row, column = label_entries(point.name, jacobian.output_shape), label_entries(name, jacobian.input_shape)
    places = list_places(jacobian)
    known = {(i, j): k for k, (i, j) in enumerate(zip(places.rows.tolist(), places.columns.tolist(), strict=True))}
    truth: list[list[tuple[float, Decimal]]] = [[] for _ in grad]
    entries = np.zeros(len(jacobian.values), dtype=bool)
    sizes = TermSizes(jacobian.sizes, lambda: round_sizes(point, name, jacobian))

    def printed(entry: Entry) -> tuple[float, float]:
        k = known.get((entry.row, entry.column))
        if k is None:
            return 0.0, 0.0
        value = float(jacobian.values[k])
        return value, sizes.at(k, value, entry.value)

    def takes(entry: Entry) -> str:
        return f" J takes {printed(entry)[0]:.6g}."

    for entry in walk_entries(exact, name, places, places.grouped(edgy), (row, column), found.bends, takes):
        value, size = printed(entry)
        place = f"d{row(entry.row)}/d{column(entry.column)}"
        if entry.value.is_nan():
            tell_undecided(found, value, y[entry.row], entry.side, place)
        elif math.isfinite(value):
            found.judge("jacobian", value, entry.value, size, place)
            if is_dust(value, entry.value, size):
                entries[known[entry.row, entry.column]] = True
        truth[entry.column].append((float(seed[entry.row]), entry.value))
    scale = TermSizes(
        np.ravel(jacobian.scale(point.seed)),
        lambda: np.ravel(replace(jacobian, sizes=sizes.rounded).scale(point.seed)),
    )
    dust = np.zeros((2, grad.size), dtype=bool)
    for j, terms in enumerate(truth):
        total = weighed(np.array([v for v, _ in terms]), [value for _, value in terms])
        if total.is_finite() and math.isfinite(grad[j]):
            gradient = f"{name}.grad{place_text(j, jacobian.input_shape)}"
            size = max(scale.at(j, float(number[j]), total) for number in (vjp, grad))
            found.judge("grad", float(grad[j]), total, size, gradient)
            dust[:, j] = [is_dust(float(number[j]), total, size) for number in (vjp, grad)]
    found.dust[name] = Dust(entries, *dust.reshape(2, *jacobian.input_shape))


def round_sizes(point: Point, name: str, jacobian: Jacobian) -> Array:
    """Return how large the terms of each entry of J are, the rounding inside of all values counted."""
    from gradcli.jacobian.rounding import sizes_with_rounding

    most = point.function.program.budget.jacobian
    return sizes_with_rounding(cast("Node", point.run.output), point.leaves[name], jacobian.sizes, most)


def is_dust(number: float, truth: Decimal, size: float) -> bool:
    """Return whether a number is not 0, and no more than rounding leaves where the truth is 0."""
    return number != 0 and float(truth) == 0 and right_digits(number, truth, size) >= FEWEST


def list_places(jacobian: Jacobian) -> Places:
    """Return where a Jacobian can be other than 0."""
    return Places(jacobian.rows, jacobian.columns, jacobian.sizes, [jacobian.values], jacobian.matrix_shape)


def confirm_direction(
    exact: Exact, point: Point, jacobians: Mapping[str, Jacobian], grad: Mapping[str, Array], found: Confirmation
) -> None:
    """Hold J·d, and the gradients times d, against the derivative along a random direction d; look for kinks there."""
    d = random_direction(exact.point, list(jacobians))
    rows = np.size(point.value)
    sizes, sums = np.zeros(rows), [[] for _ in range(rows)]  # type: ignore[var-annotated]
    for name, jacobian in jacobians.items():
        steps = d[name].ravel()
        if jacobian.applied is not None and not jacobian.held:
            moved, grown = jacobian.applied.forth(d[name])
            sizes += grown.ravel()
            for i, value in enumerate(moved.ravel().tolist()):
                sums[i].append((value, 1.0))
            continue
        sizes += sizes_along({name: jacobian}, d, rows)
        for i, j, value in zip(jacobian.rows, jacobian.columns, jacobian.values, strict=True):
            sums[i].append((value, steps[j]))
    along = [float(add_products(terms)) for terms in sums]
    row = label_entries(point.name, np.shape(point.value))
    terms, sought = list(map(finite, sizes.tolist())), [list(map(finite, along))]
    slope = walk_direction(exact, d, row, "a random direction", found.bends, terms, sought)
    seed = np.ravel(point.seed)
    for i, true in enumerate(slope.values):
        place = f"J for {row(i)} along a random direction"
        if true.is_nan():
            tell_undecided(found, along[i], float(np.ravel(point.value)[i]), slope.sides[i], place)
        elif math.isfinite(along[i]):
            found.judge("jacobian", along[i], true, float(sizes[i]), place)
    total = weighed(seed, slope.values)
    pairs = [
        (g, step)
        for name in jacobians
        for g, step in zip(np.ravel(grad[name]).tolist(), d[name].ravel().tolist(), strict=True)
    ]
    if total.is_finite() and all(math.isfinite(g) for g, _ in pairs):
        size = float(np.sum(np.abs(seed) * sizes))
        found.judge("grad", float(add_products(pairs)), total, size, "x.grad along a random direction")


def add_products(pairs: Sequence[tuple[float, float]]) -> Any:
    """Return a sum of products of doubles without rounding, nan where one is not finite."""
    if not all(math.isfinite(a) and math.isfinite(b) for a, b in pairs):
        return NAN
    return weighed(np.array([a for a, _ in pairs]), [Decimal(float(b)) for _, b in pairs])


def tell_undecided(found: Confirmation, value: float, y: float, side: Side, place: str) -> None:
    """Say that the truth of a finite number was not found, where y has a value and no kink or jump is the reason."""
    if math.isfinite(value) and math.isfinite(y) and not side.kind and not found.unknown:
        found.unknown = f"{place} does not settle in many digits"
