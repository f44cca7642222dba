"""A layered drawing of a graph without circles: boxes in rows, each above those that it leads to, few crossings.

The picture of the graph: what its boxes and edges say, long loops folded, in DOT and as SVG.
The SVG is one file without anything from elsewhere, readable in light and dark.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

from rich.cells import cell_len

from gradcli.document.model import Settings
from gradcli.document.texts import Gap, folded, short, unnumbered, with_labels
from gradcli.errors import GradcliError
from gradcli.render.layout import wrapped
from gradcli.render.tables import brief_text, value_lines, value_text

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.explanation.parts import Edge, Picture, Vertex
    from gradcli.ops.declare import Array


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


# ---- the picture of the graph

MOST_DRAWN = 60
"""Boxes of a picture: beyond, nobody reads it."""
WIDEST = 34
"""Characters of a line in a box."""
WIDEST_LABEL, MOST_LABEL = 26, 3
"""Characters of a line beside an edge, and lines; a longer derivative is told by the edge's title alone."""
MOST_LINES = 8
"""Lines of the program that stand above a picture."""
ENDS_IN_NUMBER = re.compile(r"[A-Za-z_]\d+\Z")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A box: its ``role``, its ``lines``, the name first, and a ``title`` that leaves nothing out."""

    name: str
    role: str
    lines: list[str]
    title: str


@dataclass(frozen=True, slots=True)
class Line:
    """An edge: its ends, the ``text`` beside it and its lines, whether a derivative flows, and a title."""

    ends: tuple[str, str]
    text: str
    label: list[str]
    flows: bool
    title: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """A picture as it is drawn: the lines of its ``heading``, boxes, no edge leading back among them, and edges."""

    heading: list[str]
    boxes: list[Drawn]
    lines: list[Line]


def sheet_of(answer: Explained, settings: Settings) -> Sheet:
    """Return what a picture of an answer says; raises ``option`` for one with too many boxes."""
    picture = answer.picture
    boxes, stands = fold_vertices(picture, answer, settings)
    if len(boxes) > MOST_DRAWN:
        hint = "--tape tells the first and the last of them; names for fewer values make fewer boxes"
        raise GradcliError(
            "option", f"a picture has at most {MOST_DRAWN} boxes, and this would have {len(boxes):,}", hint=hint
        )
    lines: dict[tuple[str, str], Line] = {}
    for edge in picture.edges:
        ends = stands[edge.below], stands[edge.above]
        whole = ends == (edge.below, edge.above)
        if ends[0] != ends[1] and ends not in lines:
            lines[ends] = edge_line(ends, edge if whole else None, edge.flows, settings)
    program = answer.program_lines if answer.timeline is None else [answer.timeline.title]
    heading = [*program[:MOST_LINES], *([settings.dots] if len(program) > MOST_LINES else [])]
    return with_texts(Sheet(heading, boxes, list(lines.values())), lambda text: with_labels(text, answer.labels))


def with_texts(sheet: Sheet, change: Callable[[str], str]) -> Sheet:
    """Return what is drawn with every text changed: with other names, or in other letters."""
    boxes = [Drawn(change(box.name), box.role, [*map(change, box.lines)], change(box.title)) for box in sheet.boxes]
    lines = [
        Line((change(line.ends[0]), change(line.ends[1])), change(line.text), [*map(change, line.label)], line.flows,
             change(line.title))
        for line in sheet.lines
    ]  # fmt: skip
    return Sheet([*map(change, sheet.heading)], boxes, lines)


def fold_vertices(picture: Picture, answer: Explained, settings: Settings) -> tuple[list[Drawn], dict[str, str]]:
    """Return the boxes, and which of them stands for each vertex."""
    boxes: list[Drawn] = []
    stands: dict[str, str] = {}
    place = 0
    for part in folded(patterns(picture.vertices)):
        if isinstance(part, Gap):
            hidden = picture.vertices[place : place + part.turns * part.period]
            boxes.append(gap_box(f"gap {place}", hidden, picture.left_out, settings))
            stands |= {vertex.name: boxes[-1].name for vertex in hidden}
            place += len(hidden)
            continue
        vertex = picture.vertices[part]
        if vertex.role == "gap":
            boxes.append(gap_box(vertex.name, [vertex], picture.left_out, settings))
        else:
            boxes.append(box_of(vertex, vertex.name == answer.name, settings))
        stands[vertex.name] = vertex.name
        place = part + 1
    return boxes, stands


def patterns(vertices: Sequence[Vertex]) -> list[tuple[str, str] | None]:
    """Return for each value what it has in common with those of a loop's other turns; None for what is in no loop.

    Values left out of the middle go with the one before them.
    """
    kinds: list[tuple[str, str] | None] = []
    for vertex in vertices:
        looped = vertex.text is not None and ENDS_IN_NUMBER.search(vertex.name)
        pattern = (unnumbered(vertex.name), unnumbered(vertex.text or "")) if looped else None
        kinds.append(kinds[-1] if vertex.role == "gap" and kinds else pattern)
    return kinds


def gap_box(name: str, hidden: Sequence[Vertex], left_out: int, settings: Settings) -> Drawn:
    """Return the box that stands for values left out."""
    count = sum(left_out if vertex.role == "gap" else 1 for vertex in hidden)
    text = f"{settings.dots} {count:,} more values"
    return Drawn(name, "gap", [text], text)


def box_of(vertex: Vertex, is_output: bool, settings: Settings) -> Drawn:
    """Return the box of a value: its name and shape, how it is computed, its value, its cotangent."""
    shape = f" {vertex.value.shape}" if vertex.value.shape else ""
    role = "output" if is_output else vertex.role
    name = f"{vertex.name}{shape}" + ("" if role in ("inner", "output") else f"  {role}")
    text = [f"= {vertex.text}"] if vertex.text else []
    lines = [name, *(line for line in text if len(line) <= WIDEST), *array_lines("= ", vertex.value, settings)]
    title = [name, *text, f"= {value_text(vertex.value, settings)}"]
    if vertex.cotangent is not None:
        lines += array_lines("grad ", vertex.cotangent, settings)
        title.append(f"{vertex.name}.grad = {value_text(vertex.cotangent, settings)}")
    return Drawn(vertex.name, role, lines, "\n".join(title))


def array_lines(word: str, value: Array, settings: Settings) -> list[str]:
    """Return the lines of an array, the ``word`` before them; its two ends where it is long."""
    lines = value_lines(value, settings, WIDEST)
    if max(map(len, lines)) + len(word) > WIDEST and value.size > 1:
        lines = [brief_text(value, settings, least=1)]
    return [word + lines[0], *(" " * len(word) + line for line in lines[1:])]


def edge_line(ends: tuple[str, str], edge: Edge | None, flows: bool, settings: Settings) -> Line:
    """Return an edge with the lines of its label: the derivative along it, of an entry of J with its number."""
    text = edge.text if edge is not None else None
    if edge is not None and edge.value is not None:
        number = short(edge.value, settings.precision)
        text = number if text in (None, number) else f"{text} = {number}"
    label = wrapped(text, WIDEST_LABEL, 2) if text else []
    fits = len(label) <= MOST_LABEL and all(len(line) <= WIDEST_LABEL + 8 for line in label)
    title = f"{ends[0]} → {ends[1]}" + (f": {text}" if text else "" if flows else ": constant")
    return Line(ends, text or "", label if fits else [settings.dots], flows, title)


def dot(sheet: Sheet) -> str:
    """Return a picture in DOT, the language of Graphviz."""
    lines = [
        f"digraph {quoted('gradcli')} {{",
        f"  label={quoted(*sheet.heading)}; labelloc=t; rankdir=TB;",
        '  node [shape=box, fontname="monospace", fontsize=11, margin="0.12,0.06"];',
        '  edge [fontname="monospace", fontsize=10];',
    ]
    for box in sheet.boxes:
        style = {"output": ", penwidth=2", "leaf": ", style=rounded", "constant": ", style=dashed"}.get(box.role, "")
        style = ", style=dotted" if box.role == "gap" else style
        lines.append(f"  {quoted(box.name)} [label={quoted(*box.lines)}, tooltip={quoted(box.title)}{style}];")
    for line in sheet.lines:
        style = "" if line.flows else ", style=dashed"
        ends = " -> ".join(map(quoted, line.ends))
        lines.append(f"  {ends} [label={quoted(*line.label)}, tooltip={quoted(line.title)}{style}];")
    return "\n".join([*lines, "}"])


def quoted(*lines: str) -> str:
    """Return lines as a text of DOT."""
    escaped = [line.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") for line in lines]
    return '"' + "\\n".join(escaped) + '"'


CHARACTER, ROW, SMALL = 7.9, 18, 7.1
"""Width of a character at 13 px in a monospaced font, height of a line, and the width at 11.5 px, of labels."""
PAD, GAP, MARGIN, HEAD = 10, (26, 20), 24, 26
STYLE = """
.paper { fill: #ffffff; }
text { font: 13px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, "Courier New", monospace; fill: #1f2328;
  white-space: pre; }
.heading { font-weight: bold; }
.name { font-weight: bold; }
.grad { fill: #8a3b00; }
.label { font-size: 11.5px; fill: #0a4a8f; text-anchor: middle; }
.behind { fill: #ffffff; }
.box rect { fill: #f6f8fa; stroke: #57606a; }
.leaf rect { fill: #e6f0fb; stroke: #0a4a8f; }
.constant rect { stroke-dasharray: 5 3; }
.gap rect { stroke-dasharray: 2 3; }
.output rect { fill: #e7f5ea; stroke: #1a6b30; stroke-width: 2; }
.edge path { fill: none; stroke: #57606a; stroke-width: 1.3; }
.still path { stroke-dasharray: 5 3; }
.tip { fill: #57606a; }
@media (prefers-color-scheme: dark) {
  .paper, .behind { fill: #0d1117; }
  text { fill: #e6edf3; }
  .grad { fill: #ffb77c; }
  .label { fill: #9ccbff; }
  .box rect { fill: #161b22; stroke: #8b949e; }
  .leaf rect { fill: #10233c; stroke: #79b8ff; }
  .output rect { fill: #12291a; stroke: #56d364; }
  .edge path { stroke: #8b949e; }
  .tip { fill: #8b949e; }
}
"""


def svg(sheet: Sheet) -> str:
    """Return a picture as SVG."""
    sizes = {box.name: size_of(box.lines, CHARACTER, PAD) for box in sheet.boxes}
    labels = {line.ends: size_of(line.label, SMALL, 3) if line.label else (0.0, 0.0) for line in sheet.lines}
    drawing = draw(sizes, labels, GAP)
    widest = max(int(drawing.width / CHARACTER), WIDEST)
    heading = [line for text in sheet.heading for line in wrapped(text, widest, 4)]
    top = MARGIN + ROW * len(heading) + HEAD - ROW
    width = max(drawing.width, *(CHARACTER * len(line) for line in heading)) + 2 * MARGIN
    height = top + drawing.height + MARGIN
    shift = (width - drawing.width) / 2
    title = escape("; ".join(sheet.heading))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" xml:space="preserve" role="img" aria-labelledby="title">',
        f'<title id="title">The graph of {title}, with values and cotangents</title>',
        f"<style>{STYLE}</style>",
        f'<rect class="paper" width="{width:.0f}" height="{height:.0f}"/>',
        *texts(heading, MARGIN, MARGIN + 4, ["heading"] * len(heading)),
        f'<g transform="translate({shift:.1f} {top:.1f})">',
    ]
    for line in sheet.lines:
        parts += edge(line, drawing.routes[line.ends])
    for box in sheet.boxes:
        parts += node(box, drawing.boxes[box.name])
    return "\n".join([*parts, "</g>", "</svg>"])


def size_of(lines: Sequence[str], character: float, pad: float) -> tuple[float, float]:
    """Return the width and the height of lines with a margin."""
    return max(map(cell_len, lines), default=0) * character + 2 * pad, len(lines) * ROW + pad


def texts(lines: Sequence[str], x: float, y: float, classes: Sequence[str]) -> list[str]:
    """Return lines of text, one below the other, from the middle of the first on."""
    return [
        f'<text class="{kind}" x="{x:.1f}" y="{y + ROW * k + 4.5:.1f}">{escape(line)}</text>'
        for k, (line, kind) in enumerate(zip(lines, classes, strict=True))
    ]


def node(drawn: Drawn, box: Box) -> list[str]:
    """Return a box with its lines."""
    left, top = box.x - box.width / 2, box.y - box.height / 2
    back = next((k for k, line in enumerate(drawn.lines) if line.startswith("grad ")), len(drawn.lines))
    classes = ["name", *("grad" if k >= back else "value" for k in range(1, len(drawn.lines)))]
    return [
        f'<g class="box {drawn.role}"><title>{escape(drawn.title)}</title>',
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{box.width:.1f}" height="{box.height:.1f}" rx="6"/>',
        *texts(drawn.lines, left + PAD, top + (PAD + ROW) / 2, classes),
        "</g>",
    ]


def edge(line: Line, way: Sequence[Box]) -> list[str]:
    """Return an edge as a curve from box to box, with its label on it and a tip at its end."""
    *stops, tip = stops_of(way)
    stops.append((tip[0], tip[1] - 7))
    curve = "".join(
        f" C {x:.1f} {(y + below) / 2:.1f} {right:.1f} {(y + below) / 2:.1f} {right:.1f} {below:.1f}"
        for (x, y), (right, below) in pairwise(stops)
    )
    parts = [
        f'<g class="edge{"" if line.flows else " still"}"><title>{escape(line.title)}</title>',
        f'<path d="M {stops[0][0]:.1f} {stops[0][1]:.1f}{curve}"/>',
        f'<polygon class="tip" points="{tip[0]:.1f},{tip[1]:.1f} {tip[0] - 4:.1f},{tip[1] - 8:.1f} '
        f'{tip[0] + 4:.1f},{tip[1] - 8:.1f}"/>',
    ]
    label = next((box for box in way[1:-1] if line.label and box.width), None)
    if label is not None:
        left, top = label.x - label.width / 2, label.y - label.height / 2
        parts.append(
            f'<rect class="behind" x="{left:.1f}" y="{top:.1f}" width="{label.width:.1f}" height="{label.height:.1f}"/>'
        )
        parts += texts(line.label, label.x, top + (3 + ROW) / 2, ["label"] * len(line.label))
    return [*parts, "</g>"]
