"""The graph on the page: the boxes and edges of ``-o graph.svg``, and where they stand on a wide and a narrow screen.

The page draws it, and puts the numbers of the moment in.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gradcli.document.model import Settings
from gradcli.document.texts import with_labels
from gradcli.errors import GradcliError
from gradcli.render.graph import Drawn, Sheet, sheet_of
from gradcli.render.layered import Box, Drawing, draw, stops_of

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.explanation.parts import Vertex

LETTER, SMALL = 7.4, 6.9
"""Width of a character in a box and of one beside an edge, in the page's monospaced font."""
LOWEST, NARROWEST, HEAD, PAD = 62, 64, 34, 20
SQUARE, MOST_SQUARES, FEW = 9, 8, 3
"""Size of the square that stands for an entry, squares to each side, and entries that stand as text all the same."""
NUMBER, LONGEST_TEXT, LONGEST_LABEL = 8, 26, 26
"""Characters that are kept free for a number, for an array, and for a formula beside an edge."""
GAP = (14, 14)


def graph_of(answer: Explained) -> dict[str, Any] | None:
    """Return the graph of an answer as JSON; None for one with too many boxes."""
    try:
        sheet = sheet_of(replace(answer, labels={}), Settings())  # the page looks values up by their identifiers
    except GradcliError:
        return None
    picture = answer.picture
    vertices = {vertex.name: vertex for vertex in picture.vertices}
    inputs = {name: answer.inputs[name].shape for name in answer.jacobian}
    shapes = {**inputs, answer.name: answer.output.shape} if picture.by_entry else {}
    places = [[name, k] for name, shape in shapes.items() for k in range(math.prod(shape))]
    entries = dict(zip(vertices, places, strict=False))  # a picture by names has no places
    boxes = [
        {
            "name": box.name,
            "title": with_labels(title_of(box), answer.labels),
            "role": box.role,
            "entry": entries.get(box.name),
            "squares": squares_of(vertices.get(box.name)),
        }
        for box in sheet.boxes
    ]
    formulas = {(edge.below, edge.above): edge.text or "" for edge in picture.edges} if picture.by_entry else {}
    edges = [
        {"from": line.ends[0], "to": line.ends[1], "text": formulas.get(line.ends, line.text), "flows": line.flows}
        for line in sheet.lines
    ]
    sizes = {box.name: size_of(box, vertices.get(box.name)) for box in sheet.boxes}
    plans = {name: plan_of(sheet, sizes, tall=name == "tall", brief=picture.by_entry) for name in ("wide", "tall")}
    return {"boxes": boxes, "edges": edges, **plans}


def title_of(box: Drawn) -> str:
    """Return what stands at the top of a box: its name and shape."""
    return box.lines[0].removesuffix(f"  {box.role}")


def squares_of(vertex: Vertex | None) -> list[int] | None:
    """Return the rows and columns of an array that is drawn as squares; None for one that stands as text."""
    if vertex is None or vertex.value.size <= FEW:
        return None
    columns = vertex.value.shape[-1]
    rows = vertex.value.size // columns
    return [rows, columns] if max(rows, columns) <= MOST_SQUARES else None


def size_of(box: Drawn, vertex: Vertex | None) -> tuple[float, float]:
    """Return the width and height of a box, with room for the numbers that may come."""
    squares = squares_of(vertex)
    wide, high = PAD + LETTER * len(title_of(box)), LOWEST
    if squares is not None:
        rows, columns = squares
        grids = 1 if vertex is None or vertex.cotangent is None else 2
        wide, high = max(wide, PAD + 8 + grids * SQUARE * columns), max(high, HEAD + SQUARE * rows)
    elif vertex is not None and box.role != "gap":
        letters = len("grad ") + (NUMBER * max(vertex.value.size, 1) if vertex.value.size <= FEW else LONGEST_TEXT)
        wide = max(wide, PAD + LETTER * min(letters, LONGEST_TEXT))
    return max(wide, NARROWEST), high


def plan_of(sheet: Sheet, sizes: dict[str, tuple[float, float]], *, tall: bool, brief: bool) -> dict[str, Any]:
    """Return where boxes, edges and their labels stand: from top to bottom, or from left to right.

    Where ``brief``, an edge has its number alone on a narrow screen.
    """
    labels = {}
    for line in sheet.lines:
        letters = NUMBER if brief and tall else min(len(line.text), LONGEST_LABEL)
        labels[line.ends] = (SMALL * letters + 8, 18.0) if line.text else (0.0, 0.0)
    turned = (lambda pair: pair) if tall else (lambda pair: (pair[1], pair[0]))
    drawing = draw(
        {name: turned(size) for name, size in sizes.items()},
        {ends: turned(size) for ends, size in labels.items()},
        GAP,
    )
    return {
        "size": turned(rounded(drawing.width, drawing.height)),
        "boxes": [corners(drawing.boxes[box.name], turned) for box in sheet.boxes],
        "edges": [edge_plan(drawing, line.ends, turned) for line in sheet.lines],
    }


def corners(box: Box, turned: Any) -> list[float]:
    """Return the left, the top, the width and the height of a box."""
    return [
        *turned(rounded(box.x - box.width / 2, box.y - box.height / 2)),
        *turned(rounded(box.width, box.height)),
    ]


def edge_plan(drawing: Drawing, ends: tuple[str, str], turned: Any) -> dict[str, Any]:
    """Return the places that an edge runs through, and where its label is."""
    way = drawing.routes[ends]
    label = next((box for box in way[1:-1] if box.width), way[1])
    return {
        "stops": [turned(rounded(*stop)) for stop in stops_of(way)],
        "label": turned(rounded(label.x, label.y)),
    }


def rounded(x: float, y: float) -> tuple[float, float]:
    """Return a pair of lengths in tenths."""
    return round(x, 1), round(y, 1)
