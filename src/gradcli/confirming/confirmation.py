"""Whether the numbers of an answer are right: y, J and x.grad held against arithmetic with digits to spare."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np

from gradcli.agreement import Jacobian
from gradcli.confirming.suspicion import largest
from gradcli.confirming.words import bend, rounding_text
from gradcli.errors import GradcliError
from gradcli.exact.decimals import NAN, digits
from gradcli.exact.judge import FEWEST, Places, random_direction, right_digits, true_entries, weighed
from gradcli.exact.limits import Side, finite
from gradcli.exact.slopes import Exact, Purse, Slope, Spent
from gradcli.graph import Node
from gradcli.naming import place_text
from gradcli.ops.declare import Array

SHOWN = 2
"""Wrong numbers of a kind that are named."""


@dataclass(slots=True)
class Confirmation:
    """What arithmetic with digits to spare says of an answer.

    ``asked`` is ``entries`` where every entry of J was asked for, ``direction`` where J was along one random
    direction, else empty. ``digits`` are the fewest right digits of ``y``, ``jacobian`` and ``grad``; ``wrong`` says
    what is printed and what is true; ``unknown`` why something could not be decided. ``bends`` are kinks and jumps by
    kind, ``zeros`` where a gradient that is truly 0 has been left by rounding. ``skipped`` says that nothing was asked.
    """

    asked: str = ""
    digits: dict[str, float] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    unknown: str = ""
    bends: dict[str, str] = field(default_factory=dict)
    rounded: str = ""
    zeros: dict[str, Array] = field(default_factory=dict)
    skipped: bool = False

    @property
    def verdict(self) -> str:
        """``agree``, ``digits-lost`` or ``unclear``."""
        if any(found < FEWEST for found in self.digits.values()):
            return "digits-lost"
        return "unclear" if self.unknown else "agree"

    def judge(self, what: str, value: float, truth: Any, size: float, place: str) -> float:
        """Count the right digits of one number, and return them."""
        found = right_digits(value, truth, size)
        if found < self.digits.get(what, math.inf):
            self.digits[what] = found
        if found < FEWEST and sum(text.startswith(place[:1]) for text in self.wrong) < SHOWN:
            self.wrong.append(f"{place} is {value!r} here and truly {float(truth):.10g}")
        return found


@dataclass(frozen=True, slots=True)
class Asked:
    """The numbers of an answer: ``grad`` and ``seed`` are those of all calls together."""

    name: str
    y: Array
    seed: Array
    leaves: Mapping[str, Node]
    jacobians: Mapping[str, Jacobian]
    grad: Mapping[str, Array]


def confirm(exact: Exact, asked: Asked, whole: bool, bends: bool) -> Confirmation:
    """Hold an answer against its program in many digits: entry by entry, or along one random direction.

    ``bends`` says that y may have a kink where variables meet, which no direction of one alone shows.
    """
    found = Confirmation()
    with digits(60):
        fill(exact, asked, whole, bends, found)
    return found


def fill(exact: Exact, asked: Asked, whole: bool, bends: bool, found: Confirmation) -> None:
    """Write into ``found`` what many digits say."""
    try:
        confirm_value(exact, asked, found)
        if whole:
            confirm_whole(exact, asked, found, bends)
        else:
            confirm_direction(exact, asked, found)
    except Spent:
        found.unknown = "it takes more than the time for it"
    except GradcliError as error:
        found.unknown = error.message
    found.asked = "entries" if whole else "direction"
    found.rounded = "" if exact.rounded is None else rounding_text(exact.rounded)


def confirm_whole(exact: Exact, asked: Asked, found: Confirmation, bends: bool) -> None:
    """Hold every entry against the truth; where that takes too long, J along one random direction."""
    try:
        for name, jacobian in asked.jacobians.items():
            confirm_entries(exact, asked, name, jacobian, found)
    except Spent:
        exact.purse = Purse()
        confirm_direction(exact, asked, found)
        return
    if bends and not found.bends:
        look_around(exact, list(asked.jacobians), asked.name, asked.y.shape, found.bends)


def look_around(exact: Exact, names: Sequence[str], output: str, shape: tuple[int, ...], bends: dict[str, str]) -> None:
    """Look for kinks along two random directions that move all variables at once, the second one half turned."""
    d = random_direction(exact.point, names)
    turned = {name: step * np.where(np.arange(step.size).reshape(step.shape) % 2, 1, -1) for name, step in d.items()}
    turned |= {name: -turned[name] for name in names[1::2]}
    for direction in (d, turned):
        for i, side in enumerate(exact.along(direction).sides):
            bend(bends, side, output + place_text(i, shape), "a random direction", "")


def confirm_value(exact: Exact, asked: Asked, found: Confirmation) -> None:
    """Hold y against its value in many digits."""
    scale = max((largest(node.value) for node in asked.leaves.values()), default=0.0)
    for i, (value, truth) in enumerate(zip(np.ravel(asked.y).tolist(), exact.values(), strict=True)):
        if math.isfinite(value):
            place = asked.name + place_text(i, asked.y.shape)
            found.judge("y", value, truth, scale if truth == 0 else 0.0, place)


def confirm_entries(exact: Exact, asked: Asked, name: str, jacobian: Jacobian, found: Confirmation) -> None:
    """Hold every entry of J, and of a gradient, against the true one."""
    y, seed, grad = np.ravel(asked.y), np.ravel(asked.seed), np.ravel(asked.grad[name])
    places = places_of(jacobian)
    known = {(i, j): k for k, (i, j) in enumerate(zip(places.rows.tolist(), places.columns.tolist(), strict=True))}
    truth: list[list[tuple[float, Decimal]]] = [[] for _ in grad]
    for entry in true_entries(exact, name, places, places.together()):
        row = asked.name + place_text(entry.row, jacobian.output_shape)
        at = name + place_text(entry.column, jacobian.input_shape)
        k = known.get((entry.row, entry.column))
        value, size = (0.0, 0.0) if k is None else (float(jacobian.values[k]), float(jacobian.sizes[k]))
        bend(found.bends, entry.side, row, at, f" J takes {value:.6g}.")
        if entry.value.is_nan():
            undecided(found, value, y[entry.row], entry.side, f"d{row}/d{at}")
        elif math.isfinite(value):
            found.judge("jacobian", value, entry.value, size, f"d{row}/d{at}")
        truth[entry.column].append((float(seed[entry.row]), entry.value))
    scale = np.ravel(jacobian.scale(asked.seed))
    zeros = np.zeros(grad.size, dtype=bool)
    for column, terms in enumerate(truth):
        total = weighed(np.array([v for v, _ in terms]), [value for _, value in terms])
        if total.is_finite() and math.isfinite(grad[column]):
            gradient = f"{name}.grad{place_text(column, jacobian.input_shape)}"
            right = found.judge("grad", float(grad[column]), total, float(scale[column]), gradient)
            zeros[column] = right >= FEWEST and grad[column] != 0 and float(total) == 0
    found.zeros[name] = zeros.reshape(jacobian.input_shape)


def places_of(jacobian: Jacobian) -> Places:
    """Return where a Jacobian can be other than 0."""
    return Places(jacobian.rows, jacobian.columns, jacobian.sizes, [jacobian.values], jacobian.matrix_shape)


def confirm_direction(exact: Exact, asked: Asked, found: Confirmation) -> None:
    """Hold J·d, and the gradients times d, against the derivative along a random direction d; look for kinks there."""
    d = random_direction(exact.point, list(asked.jacobians))
    rows = np.size(asked.y)
    sizes, sums = np.zeros(rows), [[] for _ in range(rows)]  # type: ignore[var-annotated]
    for name, jacobian in asked.jacobians.items():
        steps = d[name].ravel()
        with np.errstate(all="ignore"):
            np.add.at(sizes, jacobian.rows, jacobian.sizes * np.abs(steps[jacobian.columns]))
        for i, j, value in zip(jacobian.rows, jacobian.columns, jacobian.values, strict=True):
            sums[i].append((value, steps[j]))
    along = [float(product(terms)) for terms in sums]
    slope = exact.along(d, list(map(finite, sizes.tolist())), [list(map(finite, along))])
    for i, side in enumerate(slope.sides):
        bend(found.bends, side, asked.name + place_text(i, np.shape(asked.y)), "a random direction", "")
    judge_direction(asked, found, slope, d, along, sizes)


def judge_direction(
    asked: Asked, found: Confirmation, slope: Slope, d: Mapping[str, Array], along: Sequence[float], sizes: Array
) -> None:
    """Count the right digits of J and of the gradients along a direction."""
    shape, seed = np.shape(asked.y), np.ravel(asked.seed)
    for i, true in enumerate(slope.values):
        row = f"J for {asked.name}{place_text(i, shape)} along a random direction"
        if true.is_nan():
            undecided(found, along[i], float(np.ravel(asked.y)[i]), slope.sides[i], row)
        elif math.isfinite(along[i]):
            found.judge("jacobian", along[i], true, float(sizes[i]), row)
    total = weighed(seed, slope.values)
    pairs = [
        (g, step)
        for name in asked.jacobians
        for g, step in zip(np.ravel(asked.grad[name]).tolist(), d[name].ravel().tolist(), strict=True)
    ]
    if total.is_finite() and all(math.isfinite(g) for g, _ in pairs):
        size = float(np.sum(np.abs(seed) * sizes))
        found.judge("grad", float(product(pairs)), total, size, "x.grad along a random direction")


def product(pairs: Sequence[tuple[float, float]]) -> Any:
    """Return a sum of products of doubles without rounding, nan where one is not finite."""
    if not all(math.isfinite(a) and math.isfinite(b) for a, b in pairs):
        return NAN
    return weighed(np.array([a for a, _ in pairs]), [Decimal(float(b)) for _, b in pairs])


def undecided(found: Confirmation, value: float, y: float, side: Side, place: str) -> None:
    """Say that the truth of a finite number was not found, where y has a value and no kink or jump is the reason."""
    if math.isfinite(value) and math.isfinite(y) and not side.kind and not found.unknown:
        found.unknown = f"{place} does not settle within 800 digits"
