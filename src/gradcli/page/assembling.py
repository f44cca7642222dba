"""The graph on the page: the boxes and edges of ``-o graph.svg``, and where they stand on a wide and a narrow screen.

One self-contained page: the template, the style sheet and the script of ``web/``, and the document of an answer.
The script is modules that import each other, as a browser or a linter reads them. On the page they are one script, in
which each is a function that is called once and returns what it exports.
"""

from __future__ import annotations

import math
import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from gradcli.document.jacobian import formula_rows
from gradcli.document.model import Equation, Settings
from gradcli.document.texts import with_labels
from gradcli.errors import GradcliError
from gradcli.errors.hints import counted
from gradcli.render.data import document, encoded
from gradcli.render.events import event_lines
from gradcli.render.graph import Box, Drawing, Drawn, Sheet, draw, sheet_of, stops_of
from gradcli.render.layout import Layout

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
        {name: turned(size) for name, size in sizes.items()}, {ends: turned(size) for ends, size in labels.items()}, GAP
    )
    return {
        "size": turned(rounded(drawing.width, drawing.height)),
        "boxes": [corners(drawing.boxes[box.name], turned) for box in sheet.boxes],
        "edges": [edge_plan(drawing, line.ends, turned) for line in sheet.lines],
    }


def corners(box: Box, turned: Any) -> list[float]:
    """Return the left, the top, the width and the height of a box."""
    return [*turned(rounded(box.x - box.width / 2, box.y - box.height / 2)), *turned(rounded(box.width, box.height))]


def edge_plan(drawing: Drawing, ends: tuple[str, str], turned: Any) -> dict[str, Any]:
    """Return the places that an edge runs through, and where its label is."""
    way = drawing.routes[ends]
    label = next((box for box in way[1:-1] if box.width), way[1])
    return {"stops": [turned(rounded(*stop)) for stop in stops_of(way)], "label": turned(rounded(label.x, label.y))}


def rounded(x: float, y: float) -> tuple[float, float]:
    """Return a pair of lengths in tenths."""
    return round(x, 1), round(y, 1)


# ---- one self-contained page

MODULES = (
    "language", "arrays", "functions", "evaluate", "jacobian", "slopes", "answer", "numbers", "formula", "dom",
    "lighting", "controls", "matrix", "large", "graph", "picture", "records", "views", "lecture", "page",
)  # fmt: skip
"""The script's modules, each after those that it imports."""
MOST_NUMBERS = 1_000_000
"""Numbers of J, of all variables together, that a page holds: about 30 MB."""

IMPORT = re.compile(r"^import (\{[^}]*\}) from \"\./(\w+)\.js\";$", re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:const|class|function\*?) (\w+))", re.MULTILINE)
SLOT = re.compile(r"\{(style-hash|script-hash|style|script|answer)\}")
UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
"""What could end a script or begin a comment, as JSON writes it; all that is not ASCII is written so already."""


def page(answer: Explained) -> Iterator[str]:
    """Return the parts of the page of an explanation; raises ``format`` where J has too many entries for a page.

    >>> text = "".join(page(gradcli.explain("x**2", x=3.0)))
    >>> text.startswith("<!doctype html>"), len(text) < 300_000
    (True, True)
    """
    refuse_large(answer)
    return filled_template(answer)


def filled_template(answer: Explained) -> Iterator[str]:
    """Yield the template with its slots filled."""
    style, script = asset("page.css"), script_text()
    slots = {"style": style, "script": script, "style-hash": digest(style), "script-hash": digest(script)}
    pieces = SLOT.split(asset("page.html"))
    for text, slot in zip(pieces[::2], [*pieces[1::2], ""], strict=True):
        yield text
        if slot == "answer":
            yield from map(inert_json, encoded(partial(shown_document, answer)))
        elif slot:
            yield slots[slot]


def refuse_large(answer: Explained) -> None:
    """Raise ``format`` where J has more entries than a page can hold, or is not held at all."""
    for name, jacobian in answer.jacobian.items():
        if not jacobian.held:
            rows, columns = jacobian.matrix_shape
            raise too_large(f"J by {name} is {rows:,} by {columns:,} and is not held")
    entries = sum(len(jacobian.values) for jacobian in answer.jacobian.values())
    if entries > MOST_NUMBERS:
        raise too_large(f"J has {counted(entries, 'entry')}")


def too_large(what: str) -> GradcliError:
    """Return the error that refuses a page."""
    return GradcliError(
        "format",
        f"{what}: a page holds at most {MOST_NUMBERS:,} entries",
        hint="-o answer.json holds numbers, --row I shows a row of J; or differentiate fewer variables by --wrt",
    )


def shown_document(answer: Explained, *form: Any) -> dict[str, Any]:
    """Return the document of an answer with the rules of each J, and without the gradients that the page works out."""
    whole = document(replace(answer, labels={}), *form)  # its script reads formulas by their identifiers
    if answer.timeline is not None:
        whole["timeline"] = {"title": answer.timeline.title, "lines": event_texts(answer)}
        del whole["events"]
    for name in answer.jacobian:
        whole["jacobian"][name]["rules"] = rules_of(answer, name)
    effect = whole["effect"]
    if effect is not None:
        whole["effect"] = {"nudge": effect["nudge"], "shared": effect["shared"]}
    if len(whole["backward"]) == 1:
        whole["backward"] = []
    whole["graph"] = graph_of(answer)
    return whole


def event_texts(answer: Explained) -> list[str]:
    """Return what a script did, as the tables say it on a wide screen."""
    timeline = answer.timeline
    if timeline is None:
        return []
    lines = event_lines(timeline, Settings(), Layout(100))
    return [line for line in (timeline.head if timeline.rows else "", *lines) if line]


def rules_of(answer: Explained, name: str) -> list[str]:
    """Return what the formulas of a J have in common, as the tables say it; none where each of its few is short."""
    rows = formula_rows(answer, name, Settings(full=True))
    return [f"{row.left} = {row.sides[0]}" if isinstance(row, Equation) else row for row in rows]


def script_text() -> str:
    """Return the modules as one script."""
    return "const modules = {};\n" + "\n".join(as_function(name, asset(f"{name}.js")) for name in MODULES)


def as_function(name: str, text: str) -> str:
    """Return a module as a call of a function that returns what the module exports.

    >>> print(as_function("b", 'import {one} from "./a.js";\\nexport const two = 2*one;\\n'))
    modules.b = (() => {
    const {one} = modules.a;
    const two = 2*one;
    return {two};
    })();
    """
    exported = ", ".join(EXPORT.findall(text))
    own = EXPORT.sub("", IMPORT.sub(r"const \1 = modules.\2;", text))
    return f"modules.{name} = (() => {{\n{own}return {{{exported}}};\n}})();"


def asset(name: str) -> str:
    """Return a file of ``web/``."""
    return files("gradcli.page").joinpath("web", name).read_text(encoding="utf-8")


def digest(text: str) -> str:
    """Return what a content security policy calls a script or style sheet that stands on the page."""
    return f"sha256-{b64encode(sha256(text.encode('utf-8')).digest()).decode('ascii')}"


def inert_json(text: str) -> str:
    """Return JSON that no text in it can end or comment out, with the same meaning."""
    return re.sub("[<>&]", lambda sign: UNSAFE[sign[0]], text)
