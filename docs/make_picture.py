"""Draw docs/explain.svg: what ``gradcli explain`` prints in a terminal for the README's first example."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

import gradcli
from gradcli.render.glyphs import Layout
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


def main() -> None:
    """Write the picture beside this file."""
    console = Console(record=True, file=io.StringIO(), width=WIDTH, force_terminal=True, color_system="truecolor")
    console.print(tables(gradcli.explain(PROGRAM, x=[1.0, 2.0], v=[1, 10, 100]), Layout(width=WIDTH)), soft_wrap=True)
    svg = console.export_svg(title="gradcli explain", code_format=CODE_FORMAT, unique_id="gradcli")
    Path(__file__).with_name("explain.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    main()
