"""Where an answer has lost its digits: saturated derivatives, and sums whose terms cancel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradcli.agreement import VISIBLE, Jacobian
from gradcli.graph import Node, reaches
from gradcli.notes import Note
from gradcli.ops.declare import Array, value_of
from gradcli.symbolic.jacobian import Composition
from gradcli.symbolic.local import Local, has_sum
from gradcli.symbolic.texts import place_text

EPS = 2.0**-52


def about_digits(output: Any, composition: Composition, jacobians: Mapping[str, Jacobian]) -> list[Note]:
    """Say which derivative of an operation, else which entry of J, and which value is left of numbers that cancel."""
    if not isinstance(output, Node):
        return []
    nodes = reaches(output)
    return [
        *(about_saturation(nodes, composition) or about_cancelled_paths(jacobians)),
        *about_cancelled_values(nodes),
    ]


def about_saturation(nodes: list[Node], composition: Composition) -> list[Note]:
    """Name the operations whose derivative is a difference of nearly equal numbers."""
    for node in nodes:
        if node.op is None:
            continue
        for k in range(len(node.arguments)):
            for part in composition.locals.get((node.index, k), ()):
                if node.op.digits is None and not has_sum(part.template):
                    continue
                lost = lost_entries(part.values, part.sizes)
                if len(lost):
                    return [Note("digits-lost", saturated(node, part, int(lost[0])))]
    return []


def lost_entries(values: Array, sizes: Array) -> Array:
    """Return the entries of which rounding alone makes up more than a billionth part."""
    with np.errstate(all="ignore"):
        return np.flatnonzero(np.isfinite(sizes) & (EPS * sizes > VISIBLE * np.abs(values)) & (sizes > 0))


def saturated(node: Node, part: Local, entry: int) -> str:
    """Return the sentence for a derivative that is left of terms that cancel."""
    assert node.op is not None  # noqa: S101
    place = place_text(int(part.rows[entry]), node.shape)
    at = f" in entry {place}" if place else ""
    return (
        f"{node.op.name} is saturated{at}: its derivative there is a difference of nearly equal numbers, and has lost "
        "its digits."
    )


def about_cancelled_paths(jacobians: Mapping[str, Jacobian]) -> list[Note]:
    """Name the first entry of J that is what rounding left of a sum."""
    for name, jacobian in jacobians.items():
        lost = lost_entries(jacobian.values, jacobian.sizes)
        lost = lost[jacobian.values[lost] != 0]
        if len(lost):
            row = place_text(int(jacobian.rows[lost[0]]), jacobian.output_shape)
            column = place_text(int(jacobian.columns[lost[0]]), jacobian.input_shape)
            return [
                Note(
                    "digits-lost",
                    f"The entry of J for y{row} by {name}{column} is what is left of terms that cancel: it has lost "
                    "its digits.",
                )
            ]
    return []


def about_cancelled_values(nodes: list[Node]) -> list[Note]:
    """Name the first difference of computed numbers that are nearly equal."""
    for node in nodes:
        if node.op is None or node.op.name not in ("add", "sub") or not any(map(computed, node.arguments)):
            continue
        a, b = (np.abs(value_of(argument)) for argument in node.arguments)
        out = np.abs(node.value)
        with np.errstate(all="ignore"):
            lost = np.flatnonzero(np.ravel((out > 0) & (VISIBLE * out < EPS * np.maximum(a, b)) & np.isfinite(out)))
        if len(lost):
            place = place_text(int(lost[0]), node.shape)
            at = f" in entry {place}" if place else ""
            return [
                Note(
                    "digits-lost",
                    f"The two sides of a {'sum' if node.op.name == 'add' else 'difference'} cancel{at}: little but "
                    "rounding is left of that value, and of what depends on it.",
                )
            ]
    return []


def computed(argument: Any) -> bool:
    """Return whether a value was rounded: whether it is more than an input, moved at most."""
    return isinstance(argument, Node) and argument.op is not None and not argument.op.moves
