"""A layered drawing of a graph without circles: boxes in rows, each above those that it leads to, few crossings.

The steps are those of Sugiyama's method: rows by longest paths, edges of one row each by points between, an order
within the rows by the means of neighbours, and columns that are as near to those means as boxes allow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

SWEEPS = 12
"""Passes over the rows, down and up in turn."""


@dataclass(slots=True)
class Box:
    """A box of a drawing, or a point of an edge: its size, and where its centre is."""

    width: float
    height: float
    row: int = 0
    x: float = 0.0
    y: float = 0.0
    before: list[Box] = field(default_factory=list)
    after: list[Box] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Drawing:
    """What ``draw`` gives: the boxes by name, the points that each edge runs through, and the size of it all."""

    boxes: Mapping[str, Box]
    routes: Mapping[tuple[str, str], list[Box]]
    width: float
    height: float


def draw(
    sizes: Mapping[str, tuple[float, float]],
    edges: Mapping[tuple[str, str], tuple[float, float]],
    gap: tuple[float, float],
) -> Drawing:
    """Return where boxes of these ``sizes`` stand, and where the labels of ``edges`` do, which have sizes too.

    ``sizes`` come in an order in which no edge leads back. ``gap`` is what is left free between neighbours, and between
    rows. An edge runs from its first box through a label of its own, in a row between, to its last.

    >>> drawing = draw({"x": (10, 10), "y": (10, 10)}, {("x", "y"): (4, 2)}, (5, 3))
    >>> [(box.x, box.y) for box in drawing.boxes.values()], drawing.width, drawing.height
    ([(5.0, 5.0), (5.0, 23.0)], 10.0, 28.0)
    """
    boxes = {name: Box(float(width), float(height)) for name, (width, height) in sizes.items()}
    for name, row in rows_of(list(sizes), list(edges)).items():
        boxes[name].row = 2 * row
    routes = {ends: route(boxes[ends[0]], boxes[ends[1]], label) for ends, label in edges.items()}
    points = [box for way in routes.values() for box in way[1:-1]]
    rows: list[list[Box]] = [[] for _ in range(1 + max((box.row for box in boxes.values()), default=0))]
    for box in [*boxes.values(), *points]:
        rows[box.row].append(box)
    order(rows)
    place(rows, gap[0])
    stack(rows, gap[1])
    every = [box for row in rows for box in row]
    left = min((box.x - box.width / 2 for box in every), default=0.0)
    for box in every:
        box.x -= left
    width = max((box.x + box.width / 2 for box in every), default=0.0)
    height = max((box.y + box.height / 2 for box in every), default=0.0)
    return Drawing(boxes, routes, width, height)


def stops_of(way: Sequence[Box]) -> list[tuple[float, float]]:
    """Return the places that an edge runs through: out of its first box, in and out of each point, into its last."""
    start, *between, end = way
    inner = [(box.x, box.y + side * box.height / 2) for box in between for side in (-1, 1)]
    return [(start.x, start.y + start.height / 2), *inner, (end.x, end.y - end.height / 2)]


def rows_of(names: Sequence[str], edges: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Return the row of each name: below all that lead to it, and what nothing leads to just above what it leads to."""
    row = dict.fromkeys(names, 0)
    place = {name: k for k, name in enumerate(names)}
    for start, end in sorted(edges, key=lambda edge: place[edge[1]]):
        row[end] = max(row[end], row[start] + 1)
    ends = {end for _, end in edges}
    for name in names:
        if name not in ends:
            row[name] = min((row[end] for start, end in edges if start == name), default=1) - 1
    return row


def route(start: Box, end: Box, label: tuple[float, float]) -> list[Box]:
    """Return the points of an edge, one in each row that it passes; the middle one has the size of the label."""
    between = range(start.row + 1, end.row)
    middle = between[len(between) // 2]
    middle += (middle + 1) % 2  # labels stand between the rows of boxes
    points = [Box(*(label if row == middle else (0.0, 0.0)), row) for row in between]
    way = [start, *points, end]
    for k, box in enumerate(way[:-1]):
        box.after.append(way[k + 1])
        way[k + 1].before.append(box)
    return way


def order(rows: Sequence[list[Box]]) -> None:
    """Sort each row by the means of its neighbours' places, and keep the order with the fewest crossings."""
    best, fewest = [list(row) for row in rows], crossings(rows)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for row in rows[1:] if down else rows[-2::-1]:
            at = {id(box): k for other in rows for k, box in enumerate(other)}
            row.sort(
                key=lambda box: mean([at[id(other)] for other in (box.before if down else box.after)], at[id(box)])
            )
        result = crossings(rows)
        if result < fewest:
            best, fewest = [list(row) for row in rows], result
    for row, kept in zip(rows, best, strict=True):
        row[:] = kept


def mean(places: Sequence[float], otherwise: float) -> float:
    """Return the mean of places, or another where there are none."""
    return sum(places) / len(places) if places else otherwise


def crossings(rows: Sequence[Sequence[Box]]) -> int:
    """Return how often edges between neighbouring rows cross."""
    count = 0
    for above, below in pairwise(rows):
        at = {id(box): k for k, box in enumerate(below)}
        ends = [[at[id(box)] for box in start.after] for start in above]
        for k, first in enumerate(ends):
            count += sum(a > b for a in first for second in ends[k + 1 :] for b in second)
    return count


def place(rows: Sequence[list[Box]], gap: float) -> None:
    """Set columns: as near to the means of the neighbours' as the order and the boxes' widths allow."""
    for row in rows:
        settle(row, [0.0] * len(row), gap)
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 == 0 else rows[::-1]:
            wanted = [mean([other.x for other in (*box.before, *box.after)], box.x) for box in row]
            settle(row, wanted, gap)


def settle(row: Sequence[Box], wanted: Sequence[float], gap: float) -> None:
    """Place the boxes of a row at the least sum of squares from where they are wanted, without touching.

    Boxes that would touch move as one block, which stands at the mean of what its boxes want.
    """
    offsets = [0.0] * len(row)
    for k in range(1, len(row)):
        offsets[k] = offsets[k - 1] + (row[k - 1].width + row[k].width) / 2 + gap
    blocks: list[tuple[float, int]] = []
    for target, offset in zip(wanted, offsets, strict=True):
        total, count = target - offset, 1
        while blocks and blocks[-1][0] / blocks[-1][1] > total / count:
            before, more = blocks.pop()
            total, count = total + before, count + more
        blocks.append((total, count))
    starts = [total / count for total, count in blocks for _ in range(count)]
    for box, start, offset in zip(row, starts, offsets, strict=True):
        box.x = start + offset


def stack(rows: Sequence[Sequence[Box]], gap: float) -> None:
    """Set the heights of the rows, one below the other; points without a size are as high as their row."""
    top = 0.0
    for row in rows:
        height = max((box.height for box in row), default=0.0)
        for box in row:
            box.y = top + height / 2
            box.height = box.height if box.width else height
        top += height + gap
