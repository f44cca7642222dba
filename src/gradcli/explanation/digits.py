"""Where an answer has lost its digits: saturated derivatives, and sums whose terms cancel."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import numpy as np

from gradcli.engine.graph import Node, Operation
from gradcli.engine.naming import place_text
from gradcli.exact.thresholds import EPS, VISIBLE
from gradcli.explanation.explained import Note
from gradcli.explanation.jacobians import Jacobian
from gradcli.jacobian.batches import side_by_side
from gradcli.jacobian.composition import Composition
from gradcli.jacobian.local import Part, PartNumbers
from gradcli.jacobian.matrix import FEW
from gradcli.ops.declare import Array, Indices, value_of


def note_digits(output: Any, called: str, composition: Composition, jacobians: Mapping[str, Jacobian]) -> list[Note]:
    """Say which derivative of an operation, else which entry of J, and which value is left of numbers that cancel."""
    if not isinstance(output, Node):
        return []
    return [
        *(note_saturation(composition) or note_cancelled_paths(called, jacobians)),
        *note_cancelled_values(composition.nodes),
    ]


def note_saturation(composition: Composition) -> list[Note]:
    """Name the first operation whose derivative is a difference of nearly equal numbers."""
    lost = [*saturated_batches(composition), *saturated_nodes(composition)]
    if not lost:
        return []
    node, _, entry = min(lost, key=lambda item: (item[0].index, item[1]))
    place = place_text(entry, node.shape)
    at = f" in entry {place}" if place else ""
    message = (
        f"{node.op.name} is saturated{at}: its derivative there is a difference of nearly equal numbers, and "
        "rounding has cost its digits."
    )
    return [Note("digits-lost", message)]


Lost = tuple[Operation, int, int]
"""A node, the number of the argument by which its derivative has lost its digits, and the entry of the node."""


def saturated_batches(composition: Composition) -> Iterator[Lost]:
    """Yield the first node of each batch whose derivative has lost its digits."""
    for batch in composition.batches:
        if can_cancel(batch.nodes[0], batch.local.part):
            lost = lost_entries(batch.local.values, batch.local.sizes)
            if len(lost):
                row = int(lost[-1]) // batch.width  # the last row is the first node
                yield batch.nodes[row], batch.argument, int(lost[lost >= row * batch.width][0]) % batch.width


def saturated_nodes(composition: Composition) -> Iterator[Lost]:
    """Yield the first of all others whose derivative has lost its digits."""
    nodes = {node.index: node for node in composition.nodes if isinstance(node, Operation)}
    links = [(nodes[index], k, parts) for (index, k), parts in composition.links.items()]
    links = [(node, k, parts) for node, k, parts in links if any(can_cancel(node, part) for part in parts)]
    for node, k, _ in sorted(links, key=lambda link: (link[0].index, link[1])):
        for found in composition.read(node, k):
            lost = lost_entries(found.values, found.sizes) if can_cancel(node, found.part) else found.part.rows[:0]
            if len(lost):
                yield node, k, int(found.part.rows[lost[0]])
                return


def can_cancel(node: Operation, part: Part | PartNumbers) -> bool:
    """Return whether a derivative is a difference at all."""
    return node.op.digits is not None or (part.part if isinstance(part, PartNumbers) else part).template.adds


def lost_entries(values: Array, sizes: Array) -> Indices:
    """Return the entries of which rounding alone makes up more than a billionth part."""
    with np.errstate(all="ignore"):
        return np.flatnonzero(np.isfinite(sizes) & (EPS * sizes > VISIBLE * np.abs(values)) & (sizes > 0))


def note_cancelled_paths(called: str, jacobians: Mapping[str, Jacobian]) -> list[Note]:
    """Name the first entry of J, for the output that is ``called`` so, that is what rounding left of a sum."""
    for name, jacobian in jacobians.items():
        lost = lost_entries(jacobian.values, jacobian.sizes)
        lost = lost[jacobian.values[lost] != 0]
        if len(lost):
            row = place_text(int(jacobian.rows[lost[0]]), jacobian.output_shape)
            column = place_text(int(jacobian.columns[lost[0]]), jacobian.input_shape)
            return [
                Note(
                    "digits-lost",
                    f"d{called}{row}/d{name}{column} is a sum of terms that cancel: rounding has cost its digits.",
                )
            ]
    return []


def note_cancelled_values(nodes: list[Node]) -> list[Note]:
    """Name the first difference of computed numbers that are nearly equal."""
    found = [lost for group in by_shape(nodes).values() if (lost := first_cancelled(group)) is not None]
    if not found:
        return []
    node, entry = min(found, key=lambda item: item[0].index)
    place = place_text(entry, node.shape)
    at = f" in entry {place}" if place else ""
    return [
        Note(
            "digits-lost",
            f"The two sides of a {node.op.cancels} cancel{at}: the result is mostly rounding, and so is what depends "
            "on it.",
        )
    ]


def by_shape(nodes: list[Node]) -> dict[Hashable, list[Operation]]:
    """Return the sums and differences of computed numbers: those of a few entries by shape, others one by one."""
    groups: dict[Hashable, list[Operation]] = {}
    for node in nodes:
        if isinstance(node, Operation) and node.op.cancels and any(map(computed, node.arguments)):
            shapes = tuple([np.shape(value_of(a)) for a in node.arguments])
            groups.setdefault(shapes if node.value.size <= FEW else node.index, []).append(node)
    return groups


def first_cancelled(nodes: list[Operation]) -> tuple[Operation, int] | None:
    """Return the first of these nodes, all of the same shapes, whose two sides cancel, and in which entry."""
    columns = zip(*[(node.value, *map(value_of, node.arguments)) for node in nodes], strict=True)
    out, a, b = (np.abs(side_by_side(list(column), nodes[0].ndim)) for column in columns)
    with np.errstate(all="ignore"):
        lost = np.flatnonzero((out > 0) & (VISIBLE * out < EPS * np.maximum(a, b)) & np.isfinite(out))
    if not len(lost):
        return None
    row, entry = divmod(int(lost[0]), nodes[0].value.size)
    return nodes[row], entry


def computed(argument: Any) -> bool:
    """Return whether a value was rounded: whether it is more than an input, moved at most."""
    return isinstance(argument, Operation) and not argument.op.moves
