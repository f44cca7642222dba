"""The picture of the graph as SVG: one file without anything from elsewhere, readable in light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

from gradcli.render.graph import WIDEST
from gradcli.render.layered import Box, draw, stops_of
from gradcli.render.wrap import wrapped

if TYPE_CHECKING:
    from gradcli.render.graph import Drawn, Line, Sheet

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
    return max(map(len, lines), default=0) * character + 2 * pad, len(lines) * ROW + pad


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
