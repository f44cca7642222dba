"""Draw docs/explain.svg: what ``gradcli explain`` prints in a terminal for the README's first example."""

from __future__ import annotations

from pathlib import Path

import gradcli
from gradcli.render.glyphs import Layout
from gradcli.render.svg import svg

PROGRAM = "[3*x[0]**2, x[0]**2 + 2*x[1]**3, 10*x[1]]"


def main() -> None:
    """Write the picture beside this file."""
    found = gradcli.explain(PROGRAM, x=[1.0, 2.0], v=[1, 10, 100])
    Path(__file__).with_name("explain.svg").write_text(svg(found, Layout(width=80)), encoding="utf-8")


if __name__ == "__main__":
    main()
