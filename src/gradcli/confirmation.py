"""Whether the numbers of an answer are right: y, J and x.grad held against arithmetic with digits to spare."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradcli.agreement import ROUNDING, Jacobian
from gradcli.errors import GradcliError
from gradcli.exact.judge import FEWEST, directions, random_direction, right_digits, true_column, weighed
from gradcli.exact.run import Decision, weight
from gradcli.exact.slopes import CALL, OPERATIONS, Exact, Side, Slope, Spent
from gradcli.graph import Graph, Node, reaches
from gradcli.notes import Note
from gradcli.ops.declare import Array, value_of
from gradcli.ops.exactly import PIECEWISE
from gradcli.symbolic.texts import place_text

CHEAP = 13_000
"""Operations on single numbers that an answer spends on confirming itself unasked: about 20 ms."""
DEAR = 10 * CHEAP
"""Operations up to which every entry is asked for where digits may be lost, and not one random direction."""
SHOWN = 2
"""Wrong numbers of a kind that are named."""
VISIBLE = 9.0
"""Right digits below which the answer says how many there are."""


@dataclass(slots=True)
class Confirmation:
    """What arithmetic with digits to spare says of an answer.

    ``asked`` is ``entries`` where every entry of J was asked for, ``direction`` where J was along one random
    direction, else empty. ``digits`` are the fewest right digits of ``y``, ``jacobian`` and ``grad``; ``wrong`` says
    what is printed and what is true; ``unknown`` why something could not be decided. ``bends`` are kinks and jumps by
    kind, ``zeros`` where a gradient that is truly 0 has been left by rounding.
    """

    asked: str = ""
    digits: dict[str, float] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    unknown: str = ""
    bends: dict[str, str] = field(default_factory=dict)
    rounded: str = ""
    zeros: dict[str, Array] = field(default_factory=dict)

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


def confirm(exact: Exact, asked: Asked, whole: bool) -> Confirmation:
    """Hold an answer against its program in many digits: entry by entry, or along one random direction."""
    found = Confirmation()
    try:
        confirm_value(exact, asked, found)
        if whole:
            for name, jacobian in asked.jacobians.items():
                confirm_entries(exact, asked, name, jacobian, found)
        confirm_direction(exact, asked, found, judged=not whole)
    except Spent:
        found.unknown = "it takes more than the time for it"
    except GradcliError as error:
        found.unknown = error.message
    found.asked = "entries" if whole else "direction"
    found.rounded = "" if exact.rounded is None else rounding_text(exact.rounded)
    return found


def confirm_value(exact: Exact, asked: Asked, found: Confirmation) -> None:
    """Hold y against its value in many digits."""
    scale = max((largest(node.value) for node in asked.leaves.values()), default=0.0)
    for i, (value, truth) in enumerate(zip(np.ravel(asked.y).tolist(), exact.values(), strict=True)):
        if math.isfinite(value):
            place = asked.name + place_text(i, asked.y.shape)
            found.judge("y", value, truth, scale if truth == 0 else 0.0, place)


def largest(value: Any) -> float:
    """Return the size of the largest entry."""
    return float(np.max(np.abs(value), initial=0.0))


def columns_of(jacobian: Jacobian) -> Iterator[tuple[int, Array, Array]]:
    """Yield each column of a Jacobian with its values and the sizes of their terms, zeros included."""
    rows, columns = jacobian.matrix_shape
    order = np.argsort(jacobian.columns, kind="stable")
    ends = np.searchsorted(jacobian.columns[order], np.arange(columns + 1))
    for column in range(columns):
        picked = order[ends[column] : ends[column + 1]]
        values, sizes = np.zeros(rows), np.zeros(rows)
        values[jacobian.rows[picked]], sizes[jacobian.rows[picked]] = jacobian.values[picked], jacobian.sizes[picked]
        yield column, values, sizes


def confirm_entries(exact: Exact, asked: Asked, name: str, jacobian: Jacobian, found: Confirmation) -> None:
    """Hold every entry of J, and of a gradient, against the true one."""
    steps = directions(name, exact.point[name])
    seed, grad = np.ravel(asked.seed), np.ravel(asked.grad[name])
    scale = np.ravel(jacobian.scale(asked.seed))
    zeros = np.zeros(grad.size, dtype=bool)
    for column, values, sizes in columns_of(jacobian):
        truth = true_column(exact, name, column, sizes, [values], steps)
        at = name + place_text(column, jacobian.input_shape)
        for i, true in enumerate(truth.values):
            row = asked.name + place_text(i, jacobian.output_shape)
            bend(found, truth.sides[i], row, at, f" J and reverse mode take {values[i]:.6g}.")
            if true.is_nan():
                undecided(found, values[i], truth.sides[i], f"d{row}/d{at}")
            elif math.isfinite(values[i]):
                found.judge("jacobian", float(values[i]), true, float(sizes[i]), f"d{row}/d{at}")
        total = weighed(seed, truth.values)
        if total.is_finite() and math.isfinite(grad[column]):
            gradient = f"{name}.grad{place_text(column, jacobian.input_shape)}"
            right = found.judge("grad", float(grad[column]), total, float(scale[column]), gradient)
            zeros[column] = right >= FEWEST and grad[column] != 0 and float(total) == 0
    found.zeros[name] = zeros.reshape(jacobian.input_shape)


def confirm_direction(exact: Exact, asked: Asked, found: Confirmation, judged: bool) -> None:
    """Hold J·d, and the gradients times d, against the derivative along a random direction d; look for kinks there."""
    d = random_direction(exact.point, list(asked.jacobians))
    rows = np.size(asked.y)
    sizes, sums = np.zeros(rows), [[] for _ in range(rows)]  # type: ignore[var-annotated]
    for name, jacobian in asked.jacobians.items():
        steps = d[name].ravel()
        with np.errstate(all="ignore"):
            np.add.at(sizes, jacobian.rows, jacobian.sizes * np.abs(steps[jacobian.columns]))
        if judged:
            for i, j, value in zip(
                jacobian.rows.tolist(), jacobian.columns.tolist(), jacobian.values.tolist(), strict=True
            ):
                sums[i].append((value, steps[j]))
    along = [float(product(terms)) for terms in sums]
    slope = exact.along(d, sizes, [np.array(along)] if judged else [])
    for i, side in enumerate(slope.sides):
        if not found.bends:
            bend(found, side, asked.name + place_text(i, np.shape(asked.y)), "a random direction", "")
    if judged:
        judge_direction(asked, found, slope, d, along, sizes)


def judge_direction(
    asked: Asked, found: Confirmation, slope: Slope, d: Mapping[str, Array], along: Sequence[float], sizes: Array
) -> None:
    """Count the right digits of J and of the gradients along a direction."""
    shape, seed = np.shape(asked.y), np.ravel(asked.seed)
    for i, true in enumerate(slope.values):
        row = f"J for {asked.name}{place_text(i, shape)} along a random direction"
        if true.is_nan():
            undecided(found, along[i], slope.sides[i], row)
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
    from gradcli.exact.real import NAN  # noqa: PLC0415

    if not all(math.isfinite(a) and math.isfinite(b) for a, b in pairs):
        return NAN
    from decimal import Decimal  # noqa: PLC0415

    return weighed(np.array([a for a, _ in pairs]), [Decimal(float(b)) for _, b in pairs])


def undecided(found: Confirmation, value: float, side: Side, place: str) -> None:
    """Say that the truth of a finite number was not found, where no kink or jump is the reason."""
    if math.isfinite(value) and not side.kind and not found.unknown:
        found.unknown = f"{place} does not settle within 800 digits"


def bend(found: Confirmation, side: Side, row: str, at: str, takes: str) -> None:
    """Note a kink, a jump, an infinite slope or an edge of the domain, the first of its kind.

    ``takes`` is a sentence, or none, that says which slope is printed.
    """
    if not side.kind or side.kind in found.bends:
        return
    left, right = (text(slope) for slope in (side.left, side.right))
    told = {
        "kink": f"{row} has a kink at this point: by {at} its slope is {left} on the left and {right} on the right.",
        "jump": f"{row} jumps at this point, as {at} passes it.",
        "infinite-slope": f"{row} is infinitely steep at this point, by {at}.",
        "edge": f"{row} has no value on the {'left' if side.left.is_nan() else 'right'} of this point, by {at}: this "
        "is an edge of its domain.",
    }
    found.bends[side.kind] = told[side.kind] + takes


def text(slope: Any) -> str:
    """Return a slope to read."""
    return f"{float(slope):.6g}"


def rounding_text(pair: tuple[Decision, Decision]) -> str:
    """Return which decision rounding made."""
    doubles, exact = pair
    shown = [value_text(value) for value in doubles.values]
    op = doubles.op
    what = op.text.format(*shown) if op.text and len(shown) == op.text.count("{}") else f"{op.name}({', '.join(shown)})"
    side = f" ({', '.join(value_text(value, 20) for value in exact.values)} in many digits)"
    return f"Rounding decides {what}{side}: exact numbers go another way. The answer follows double precision."


def value_text(value: Any, count: int = 17) -> str:
    """Return a value that is compared, the first entry of several."""
    entries = np.ravel(value_of(value)).tolist()
    first = f"{entries[0].d:.{count}g}" if hasattr(entries[0], "d") else f"{entries[0]:.{count}g}" if entries else "[]"
    return first if len(entries) <= 1 else f"[{first}, …]"


def work_of(graph: Graph) -> int:
    """Return what one run in many digits costs: operations on single numbers, and calls that cost as much as some."""
    total = 0
    for node in graph.nodes:
        if node.op is None:
            continue
        values = [value_of(a) for a in node.arguments]
        total += CALL + max(np.size(x) for x in (node.value, *values)) * weight(node.op, values)
    return total


def affordable(graph: Graph, jacobians: Mapping[str, Jacobian], suspicious: bool) -> str:
    """Return how much can be asked: ``entries``, ``direction``, or nothing."""
    work = work_of(graph)
    columns = sum(jacobian.matrix_shape[1] for jacobian in jacobians.values())
    links = sum(len(jacobian.rows) for jacobian in jacobians.values())
    if (2 + 4 * columns) * work + links <= (DEAR if suspicious else CHEAP):
        return "entries"
    return "direction" if 6 * work + links <= (OPERATIONS if suspicious else CHEAP) else ""


def is_suspicious(output: Any, unproven: bool) -> bool:
    """Return whether digits may be lost, numbers beyond doubles were met, or y may have a kink here.

    ``unproven`` says so of J. What is looked for: values that are not finite, or so large or small that a product of
    two leaves double precision; zeros that are left of numbers that are not 0; waves of a large argument; sides of
    comparisons that are equal, integers where a function steps, ties, and powers of 0.
    """
    return unproven or any(node.op is not None and is_delicate(node) for node in reaches(output))


WAVES = {"sin", "cos", "tan", "sinc"}


def is_delicate(node: Node) -> bool:
    """Return whether an operation stands where digits, or a derivative, may be lost."""
    op = node.op
    assert op is not None  # noqa: S101
    values = [np.asarray(value_of(a)) for a in node.arguments]
    with np.errstate(all="ignore"):
        if op.kink is not None and np.any(op.kink.at(*values, **node.static)):
            return True
        if op.name in PIECEWISE and len(values) == 2 and values[0].dtype != object:
            return bool(np.any(values[0] == values[1]))
        size = np.abs(node.value) if node.value.dtype == np.float64 else np.zeros(())
        if np.any(~np.isfinite(size) | (size > 1e150) | ((size < 1e-150) & (size > 0))):
            return True
        if op.name in WAVES and largest(values[0]) > 1e6:
            return True
        return not op.moves and op.name in MULTIPLIES and bool(np.any((size == 0) & vanishes(values)))


MULTIPLIES = {"mul", "div", "exp", "pow", "square"}


def vanishes(values: Sequence[Array]) -> Any:
    """Return where no argument is 0: a product that is 0 there has left double precision; a power of 0 is suspect too."""
    return np.logical_and.reduce(np.broadcast_arrays(*[value != 0 for value in values]))


def notes_about(found: Confirmation, kinks: Sequence[Note], causes: Sequence[Note]) -> list[Note]:
    """Return the notes of a confirmed answer.

    ``kinks`` are what ops say of their own kinks, which stand where y bends; ``causes`` why digits may be lost.
    """
    notes = []
    for kind, message in found.bends.items():
        notes += [*kinks] if kind == "kink" and kinks else [Note(kind, message)]
    if found.rounded:
        notes.append(Note("rounding-decides", found.rounded))
    if any(count < VISIBLE for count in found.digits.values()):
        named = {"y": "y", "jacobian": "J", "grad": "x.grad"}
        counts = ", ".join(f"{named[what]} has {count:.1f}" for what, count in found.digits.items())
        told = "".join(f" {sentence}." for sentence in found.wrong)
        why = f" {causes[0].message}" if causes else ""
        notes.append(Note("digits-lost", f"Rounding has cost digits: {counts} right digits.{told}{why}"))
    if found.unknown and found.verdict == "unclear":
        notes.append(Note("unclear", f"What is true here was not found: {found.unknown}."))
    return notes


__all__ = ["ROUNDING", "Asked", "Confirmation", "affordable", "confirm", "is_suspicious", "notes_about"]
