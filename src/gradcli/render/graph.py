"""What a picture of the graph says: the lines of each box and edge, long loops folded; and the picture in DOT."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradcli.document.folding import Gap, folded, unnumbered
from gradcli.document.model import Settings
from gradcli.document.numbers import short
from gradcli.errors import GradcliError
from gradcli.render.equations import brief_text, value_lines, value_text
from gradcli.render.wrap import wrapped

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.explanation.picture import Edge, Picture, Vertex
    from gradcli.ops.declare import Array

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


def sheet_of(found: Explained, settings: Settings) -> Sheet:
    """Return what a picture of an answer says; raises ``option`` for one with too many boxes."""
    picture = found.picture
    boxes, stands = fold_vertices(picture, found, settings)
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
            lines[ends] = edge_line(ends, edge_text(edge, settings) if whole else None, edge.flows, settings)
    program = found.program_lines if found.timeline is None else [found.timeline.title]
    heading = [*program[:MOST_LINES], *([settings.dots] if len(program) > MOST_LINES else [])]
    sheet = Sheet(heading, boxes, list(lines.values()))
    if not found.labels:
        return sheet
    from gradcli.document.labels import with_labels  # a formula has none

    return with_texts(sheet, lambda text: with_labels(text, found.labels))


def with_texts(sheet: Sheet, change: Callable[[str], str]) -> Sheet:
    """Return what is drawn with every text changed: with other names, or in other letters."""
    boxes = [Drawn(change(box.name), box.role, [*map(change, box.lines)], change(box.title)) for box in sheet.boxes]
    lines = [
        Line((change(line.ends[0]), change(line.ends[1])), change(line.text), [*map(change, line.label)], line.flows,
             change(line.title))
        for line in sheet.lines
    ]  # fmt: skip
    return Sheet([*map(change, sheet.heading)], boxes, lines)


def edge_text(edge: Edge, settings: Settings) -> str | None:
    """Return the derivative along an edge, of an entry of J with its number."""
    if edge.value is None:
        return edge.text
    number = short(edge.value, settings.precision)
    return number if edge.text in (None, number) else f"{edge.text} = {number}"


def fold_vertices(picture: Picture, found: Explained, settings: Settings) -> tuple[list[Drawn], dict[str, str]]:
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
        box = (
            gap_box(vertex.name, [vertex], picture.left_out, settings)
            if vertex.role == "gap"
            else box_of(vertex, vertex.name == found.name, settings)
        )
        boxes.append(box)
        stands[vertex.name] = vertex.name
        place = part + 1
    return boxes, stands


def patterns(vertices: Sequence[Vertex]) -> list[tuple[str, str] | None]:
    """Return for each value what it has in common with those of a loop's other turns; None for what is in no loop.

    Values left out of the middle go with the one before them.
    """
    found: list[tuple[str, str] | None] = []
    for vertex in vertices:
        looped = vertex.text is not None and ENDS_IN_NUMBER.search(vertex.name)
        own = (unnumbered(vertex.name), unnumbered(vertex.text or "")) if looped else None
        found.append(found[-1] if vertex.role == "gap" and found else own)
    return found


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
    found = value_lines(value, settings, WIDEST)
    if max(map(len, found)) + len(word) > WIDEST and value.size > 1:
        found = [brief_text(value, settings, least=1)]
    return [word + found[0], *(" " * len(word) + line for line in found[1:])]


def edge_line(ends: tuple[str, str], text: str | None, flows: bool, settings: Settings) -> Line:
    """Return an edge with the lines of its label."""
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
