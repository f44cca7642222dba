"""Answers to take away: a script, LaTeX, Markdown, a picture of the tables or of the graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gradcli.cli.request import Printing
    from gradcli.document.model import Settings
    from gradcli.explanation.explained import Explained
    from gradcli.render.layout import Layout

WIDTH = 100
"""Columns of what is written for no screen."""


def exported(found: Explained, printing: Printing, settings: Settings, layout: Callable[[int | None], Layout]) -> str:
    """Return an answer as a script, or in the format that was asked for; ``layout`` is given the columns."""
    if printing.format == "code":
        from gradcli.scripts.script import script

        return script(found, printing.code or "")
    room = layout(printing.width or WIDTH)
    if printing.format in ("svg", "dot"):
        from gradcli.render.graph import dot, sheet_of, with_texts
        from gradcli.render.layout import to_ascii
        from gradcli.render.svg import svg

        sheet = sheet_of(found, settings)
        sheet = sheet if room.unicode else with_texts(sheet, to_ascii)
        return dot(sheet) if printing.format == "dot" else svg(sheet)
    from gradcli.document.sections import document_of

    if printing.format == "latex":
        from gradcli.render.latex import latex, refuse_numbers

        refuse_numbers(found)
        return latex(document_of(found, settings), room)
    if printing.format == "markdown":
        from gradcli.render.markdown import markdown

        return markdown(document_of(found, settings), room)
    from gradcli.render.picture import figure, picture

    if printing.figure:
        return figure(document_of(found, settings), room, printing.figure)
    return picture(document_of(found, settings), room)
