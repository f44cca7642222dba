"""Answers to take away: a script, LaTeX, Markdown, a picture of the tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradcli.cli.request import Printing
    from gradcli.explanation.explained import Explained
    from gradcli.render.glyphs import Layout

WIDTH = 100
"""Columns of what is written for no screen."""


def exported(found: Explained, printing: Printing, layout: Layout) -> str:
    """Return an answer as a script, or in the format that was asked for."""
    if printing.format == "code":
        from gradcli.scripts.script import script  # noqa: PLC0415

        return script(found, printing.code or "")
    if printing.format == "latex":
        from gradcli.render.latex import latex  # noqa: PLC0415

        return latex(found, layout)
    if printing.format == "markdown":
        from gradcli.render.markdown import markdown  # noqa: PLC0415

        return markdown(found, layout)
    from gradcli.render.picture import picture  # noqa: PLC0415

    return picture(found, layout)
