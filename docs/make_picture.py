"""Draw docs/explain.svg, what ``gradcli explain`` prints for the README's first example, and docs/graph.svg."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

import gradcli
from gradcli.render.glyphs import Layout
from gradcli.render.graph import sheet_of
from gradcli.render.svg import svg
from gradcli.render.tables import tables

PROGRAM = "[3*x[0]**2, x[0]**2 + 2*x[1]**3, 10*x[1]]"
WIDTH = 80
# Without a font from elsewhere: the viewer's own monospaced font is used.
CODE_FORMAT = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace; font-size: {char_height}px; line-height: {line_height}px; }}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">{matrix}</g>
</g>
</svg>
"""


def graph() -> str:
    """Return the picture that ``-o graph.svg`` draws of the network in docs/network.txt."""
    program = Path(__file__).with_name("network.txt").read_text(encoding="utf-8").rstrip()
    first = {"W1": [[0.1, 0.05], [0.4, 0.6]], "b1": [0.0, 0.1], "x": [1.0, 2.0]}
    second = {"W2": [[1.0, -1.0], [0.5, 2.0]], "b2": [0.0, 0.2], "t": [0.0, 1.0]}
    found = gradcli.explain(program, wrt=["W1", "b1", "W2", "b2"], inputs={**first, **second})
    return svg(sheet_of(found, Layout())) + "\n"


def main() -> None:
    """Write the pictures beside this file."""
    Path(__file__).with_name("graph.svg").write_text(graph(), encoding="utf-8")
    console = Console(record=True, file=io.StringIO(), width=WIDTH, force_terminal=True, color_system="truecolor")
    console.print(tables(gradcli.explain(PROGRAM, x=[1.0, 2.0], v=[1, 10, 100]), Layout(width=WIDTH)), soft_wrap=True)
    svg = console.export_svg(title="gradcli explain", code_format=CODE_FORMAT, unique_id="gradcli")
    Path(__file__).with_name("explain.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
