"""Whether the numbers of an answer are right: y, J and x.grad held against arithmetic with digits to spare."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from itertools import chain
from typing import NamedTuple

import numpy as np

from gradcli.engine.graph import Operation
from gradcli.engine.naming import Label, label_entries, place_text
from gradcli.errors import GivenUp, GradcliError
from gradcli.errors.counting import listed
from gradcli.exact.decimals import digits
from gradcli.exact.judge import (
    Entry,
    Places,
    TermSizes,
    add_products,
    is_dust,
    random_direction,
    true_entries,
    turned_direction,
    weighed,
)
from gradcli.exact.limits import finite
from gradcli.exact.real import lifted
from gradcli.exact.slopes import Exact, Slope
from gradcli.exact.thresholds import SAME
from gradcli.exact.work import Spent
from gradcli.explanation.effect import Dust
from gradcli.explanation.explained import Backward, sum_vjps
from gradcli.explanation.jacobians import Jacobian
from gradcli.explanation.readings import Point
from gradcli.explanation.suspicion import largest
from gradcli.explanation.words import Confirmation, rounding_text, spent_text, tell_bend, tell_undecided
from gradcli.jacobian.sparse import Sparse
from gradcli.ops.declare import Array
from gradcli.ops.signatures import Mask

FAR = 7
"""How many times as far as a random direction the input lies at which a sum is looked at once more."""
MOST_AROUND = 24
"""Random directions that are tried where pieces meet."""
DEAR_RUN = 16
"""Which part of the work a run takes at least that is dear."""
SPENT_AROUND = 200_000
"""Units of work after which no more of them are tried: about 0.3 seconds."""


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
            with suppress(Spent):
                tell_still(exact, point, jacobians, sums.grad, found)
        except Spent:
            found.unknown = spent_text(exact.work.most)
        except GivenUp:
            raise
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
        exact.renew()
        confirm_direction(exact, point, jacobians, sums.grad, found)
        return
    if edgy and not found.bends:
        look_around(exact, jacobians, label_entries(point.name, point.value.shape), found.bends, edgy)


def tell_still(
    exact: Exact, point: Point, jacobians: Mapping[str, Jacobian], grad: Mapping[str, Array], found: Confirmation
) -> None:
    """Say that v·y stands still where its slopes are all 0 and their terms are not: x.grad is 0, rounding aside.

    A run far away tells whether v·y is the same there: the sum of a softmax is 1 for every x. Raises ``Spent``.
    """
    terms = np.concatenate([np.zeros(0), *(j.sizes for j in jacobians.values() if j.held)])
    finite_all = np.all(np.isfinite(point.value)) and np.all(np.isfinite(terms))
    certain = found.verdict == "agree" and not found.bends and not any(found.slopes)
    if not (certain and finite_all and np.any(terms) and np.any(point.seed)):
        return
    away = random_direction(exact.point, list(jacobians), seed=1)
    elsewhere = {name: exact.inputs[name] + lifted(FAR * step) for name, step in away.items()}
    here, there = exact.values(), exact.at(elsewhere)
    seed, sizes = np.ravel(point.seed), [Decimal(largest(leaf.value)) for leaf in point.leaves.values()]
    total, gap = weighed(seed, here), weighed(np.append(seed, -seed), [*there, *here])
    stops = any(
        isinstance(node, Operation) and node.op.pieces and node.op.pieces.held for node in point.run.graph.nodes
    )
    constant = total.is_finite() and abs(gap) <= SAME * max(abs(total), *sizes) and not stops
    what = f"is {float(total):.6g} here and at a random other input" if constant else "stands still here"
    gradients = listed([f"{name}.grad" for name in jacobians], len(jacobians))
    left = ", and ≈0 marks what rounding leaves" if any(map(np.any, grad.values())) else ""
    found.still = (
        f"{'v·' if seed.size > 1 else ''}{point.name} {what}: the terms of {gradients} cancel, so that "
        f"{'they are' if len(jacobians) > 1 else 'it is'} truly 0{left}."
    )


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

    Where pieces of the program meet more are tried: a tie of three has six pieces. Where they do not, and a run is
    dear, one is enough.
    """
    names = list(jacobians)
    d, turned = random_direction(exact.point, names), turned_direction(exact.point, names)
    more = (random_direction(exact.point, names, seed) for seed in range(1, MOST_AROUND) if edgy)
    left = exact.work.left - SPENT_AROUND
    for k, direction in enumerate(chain((d, turned), more)):
        if k > 1 and (bends or exact.work.left < left):
            return
        if k == 1 and is_dear(exact) and not edgy:
            return
        sizes = sizes_along(jacobians, direction, exact.rows)
        walk_direction(exact, direction, row, "a random direction", bends, list(map(finite, sizes.tolist())))


def is_dear(exact: Exact) -> bool:
    """Return whether a run takes so much of the work that one direction has to do where no pieces meet."""
    return DEAR_RUN * exact.cost > exact.work.most


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

    def rounded() -> Array:
        from gradcli.explanation.terms import terms_of_value

        return terms_of_value(point.run, scale)

    scale = max((largest(leaf.value) for leaf in point.leaves.values()), default=0.0)
    sizes = TermSizes(np.full(np.size(point.value), scale), rounded)
    label = label_entries(point.name, point.value.shape)
    for i, (value, truth) in enumerate(zip(np.ravel(point.value).tolist(), exact.values(), strict=True)):
        if math.isfinite(value):
            found.judge("y", value, truth, sizes.at(i, value, truth), label(i))


def confirm_entries(
    exact: Exact, point: Point, name: str, jacobian: Jacobian, sums: Sums, found: Confirmation, edgy: bool
) -> None:
    """Hold every entry of J by one variable, and of its gradient, against the true one."""

    def rounded() -> Array:
        from gradcli.explanation.terms import terms_of_entries

        return terms_of_entries(point.run, point.leaves[name], jacobian.sizes, jacobian.rows)

    sizes = TermSizes(jacobian.sizes, rounded)
    truths, dust = confirm_jacobian(exact, point, name, jacobian, sizes, found, edgy)
    found.dust[name] = Dust(dust, *confirm_gradient(point, name, jacobian, sums, sizes, truths, found))


Truths = list[list[tuple[float, Decimal]]]
"""For each entry of an input: the true entries in its column of J, each with that of v beside its row."""


def confirm_jacobian(
    exact: Exact, point: Point, name: str, jacobian: Jacobian, sizes: TermSizes, found: Confirmation, edgy: bool
) -> tuple[Truths, Mask]:
    """Hold the entries of J by one variable against the true ones; return these, and which are what rounding left."""
    y, seed = map(np.ravel, (point.value, point.seed))
    row, column = label_entries(point.name, jacobian.output_shape), label_entries(name, jacobian.input_shape)
    places = list_places(jacobian)
    known = {(i, j): k for k, (i, j) in enumerate(zip(places.rows.tolist(), places.columns.tolist(), strict=True))}
    truths: Truths = [[] for _ in range(jacobian.matrix_shape[1])]
    dust = np.zeros(len(jacobian.values), dtype=bool)

    def printed(entry: Entry) -> float:
        k = known.get((entry.row, entry.column))
        return 0.0 if k is None else float(jacobian.values[k])

    def takes(entry: Entry) -> str:
        return f" J takes {printed(entry):.6g}."

    for entry in walk_entries(exact, name, places, places.grouped(edgy), (row, column), found.bends, takes):
        value, k = printed(entry), known.get((entry.row, entry.column))
        place = f"d{row(entry.row)}/d{column(entry.column)}"
        if entry.value.is_nan():
            tell_undecided(found, value, y[entry.row], entry.side, place)
        elif math.isfinite(value):
            size = 0.0 if k is None else sizes.at(k, value, entry.value)
            found.judge("jacobian", value, entry.value, size, place)
            if k is not None:
                dust[k] = is_dust(value, entry.value, size)
        truths[entry.column].append((float(seed[entry.row]), entry.value))
    return truths, dust


def confirm_gradient(
    point: Point, name: str, jacobian: Jacobian, sums: Sums, sizes: TermSizes, truths: Truths, found: Confirmation
) -> Mask:
    """Hold a gradient against the true sums; return where vᵀ·J and it are what rounding left, in the input's shape."""
    grad, vjp = np.ravel(sums.grad[name]), np.ravel(sums.vjp[name])
    scale = TermSizes(
        np.ravel(jacobian.scale(point.seed)),
        lambda: np.ravel(replace(jacobian, sizes=sizes.rounded).scale(point.seed)),
    )
    dust = np.zeros((2, grad.size), dtype=bool)
    for j, terms in enumerate(truths):
        total = weighed(np.array([v for v, _ in terms]), [value for _, value in terms])
        found.slopes.append(total)
        if total.is_finite() and math.isfinite(grad[j]):
            size = max(scale.at(j, float(number[j]), total) for number in (vjp, grad))
            place = f"{name}.grad{place_text(j, jacobian.input_shape)}"
            found.judge("grad", float(grad[j]), total, size, place)
            dust[:, j] = [is_dust(float(number[j]), total, size) for number in (vjp, grad)]
    return dust.reshape(2, *jacobian.input_shape)


def list_places(jacobian: Jacobian) -> Places:
    """Return where a Jacobian can be other than 0."""
    return Places(jacobian.rows, jacobian.columns, jacobian.sizes, [jacobian.values], jacobian.matrix_shape)


def confirm_direction(
    exact: Exact, point: Point, jacobians: Mapping[str, Jacobian], grad: Mapping[str, Array], found: Confirmation
) -> None:
    """Hold J·d, and the gradients times d, against the derivative along a random direction d; look for kinks there."""
    d = random_direction(exact.point, list(jacobians))
    rows = np.size(point.value)
    sizes, parts = np.zeros(rows), []
    for name, jacobian in jacobians.items():
        if jacobian.applied is not None and not jacobian.held:
            moved, grown = jacobian.applied.forth(d[name])
            sizes += grown.ravel()
            parts.append((np.arange(rows), moved.ravel(), np.ones(rows)))
            continue
        sizes += sizes_along({name: jacobian}, d, rows)
        parts.append((jacobian.rows, jacobian.values, d[name].ravel()[jacobian.columns]))
    places, values, steps = (np.concatenate(column) for column in zip(*parts, strict=True))
    along = add_products(places, values, steps, rows)
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
    found.slopes.append(total)
    g, steps = (np.concatenate([np.ravel(each[name]) for name in jacobians]) for each in (grad, d))
    if total.is_finite() and np.all(np.isfinite(g)):
        size = float(np.sum(np.abs(seed) * sizes))
        slope_of_sum = add_products(np.zeros(g.size, dtype=np.intp), g, steps, 1)[0]
        found.judge("grad", slope_of_sum, total, size, "x.grad along a random direction")
