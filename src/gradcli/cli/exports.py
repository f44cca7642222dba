"""Answers to take away: a script, LaTeX, Markdown, a picture of the tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradcli.errors import GradcliError

if TYPE_CHECKING:
    from gradcli.cli.request import Printing
    from gradcli.explanation.explained import Explained
    from gradcli.render.glyphs import Layout

LIBRARIES = ("torch", "jax", "numpy")
FORMATS = ("latex", "markdown", "svg")
SUFFIXES = {".tex": "latex", ".md": "markdown", ".svg": "svg"}
WIDTH = 100
"""Columns of what is written for no screen."""


def refuse_library(code: str | None, output: str | None) -> None:
    """Raise ``option`` where ``--code`` names no library, or where a script and a file's name do not go together."""
    script = output is not None and output.lower().endswith(".py")
    if code is None:
        if script:
            raise GradcliError("option", "-o with .py is for a script", hint="--code torch, --code jax or --code numpy")
        return
    if code not in LIBRARIES:
        hint = f"one of {', '.join(LIBRARIES)}; a variable of this name is given by --set code={code[:40]}"
        raise GradcliError("option", f"--code '{code[:40]}' is not known", hint=hint)
    if output is not None and not script:
        raise GradcliError("option", f"--code {code} writes a script", hint="-o NAME.py writes it to a file")


def exported(found: Explained, printing: Printing, layout: Layout) -> str:
    """Return an answer in one of ``FORMATS``, or as a script."""
    if printing.format == "code":
        from gradcli.scripts.script import script  # noqa: PLC0415

        return script(found, printing.code or "")
    if printing.format == "latex":
        from gradcli.render.latex import latex  # noqa: PLC0415

        return latex(found, layout)
    if printing.format == "markdown":
        from gradcli.render.markdown import markdown  # noqa: PLC0415

        return markdown(found, layout)
    from gradcli.render.svg import svg  # noqa: PLC0415

    return svg(found, layout)
