"""Draw docs/explain.svg, what ``gradcli explain`` prints for the README's first example, and docs/graph.svg."""

from __future__ import annotations

from pathlib import Path

import gradcli
from gradcli.document.model import Settings
from gradcli.render.graph import sheet_of, svg
from gradcli.render.layout import Layout
from gradcli.render.terminal import picture

PROGRAM = "[3*x[0]**2, x[0]**2 + 2*x[1]**3, 10*x[1]]"


def graph() -> str:
    """Return the picture that ``-o graph.svg`` draws of the network in docs/network.txt."""
    program = Path(__file__).with_name("network.txt").read_text(encoding="utf-8").rstrip()
    first = {"W1": [[0.1, 0.05], [0.4, 0.6]], "b1": [0.0, 0.1], "x": [1.0, 2.0]}
    second = {"W2": [[1.0, -1.0], [0.5, 2.0]], "b2": [0.0, 0.2], "t": [0.0, 1.0]}
    found = gradcli.explain(program, wrt=["W1", "b1", "W2", "b2"], inputs={**first, **second})
    return svg(sheet_of(found, Settings())) + "\n"


def main() -> None:
    """Write the pictures beside this file."""
    Path(__file__).with_name("graph.svg").write_text(graph(), encoding="utf-8")
    found = gradcli.explain(PROGRAM, x=[1.0, 2.0], v=[1, 10, 100])
    Path(__file__).with_name("explain.svg").write_text(picture(found.document(), Layout(width=80)), encoding="utf-8")


if __name__ == "__main__":
    main()
