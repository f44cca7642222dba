"""The answer as tables and lines, in the order in which a first-time reader asks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from gradcli.render.backward import TITLE as BACKWARD
from gradcli.render.backward import backward_lines, path_lines, path_titles
from gradcli.render.effects import calls_lines, v_lines
from gradcli.render.forward import forward_lines
from gradcli.render.jacobians import jacobian_lines
from gradcli.render.more import more_line
from gradcli.render.numbers import array_text
from gradcli.render.sections import shape_lines
from gradcli.render.sums import sum_lines
from gradcli.render.wrap import fold, plain_text

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.render.glyphs import Layout


def tables(found: Explained, layout: Layout) -> Text:
    """Return the whole answer: shapes, forward, the tables of J, sums, the chain rule, v, notes, what shows more.

    No line is longer than the layout's width, but for one name or number that cannot be broken.
    """
    parts = [
        *top(found, layout),
        *section("Forward", forward_lines(found, layout), layout),
        *section(BACKWARD, backward_lines(found, layout), layout),
        *sections(beside(found, layout), layout),
        *jacobian_lines(found, layout),
        *section("Rows and columns of J", slice_lines(found, layout), layout),
        *section("Each sum", sum_lines(found, layout), layout),
        *section(path_titles(found), path_lines(found, layout), layout),
        *section("Calls of backward without zero_grad", calls_lines(found, layout), layout),
        *section("What v did", v_lines(found, layout), layout),
        *sections(view_sections(found, layout), layout),
        *section("Notes", [note.message for note in found.notes], layout),
        Text(),
        *fold(more_line(found, layout), layout.width, " "),
    ]
    return Text("\n").join(parts)


def sections(told: Iterable[Section], layout: Layout) -> list[Text]:
    """Return titled blocks of lines."""
    return [line for title, lines in told for line in section(title, lines, layout)]


Section = tuple[str, Sequence[str | Text]]
"""A title, and the lines below it."""


def beside(found: Explained, layout: Layout) -> list[Section]:
    """Return the sections on the graph that were asked for beside the rest."""
    if not found.also:
        return []
    from gradcli.render.steps import steps_sections  # noqa: PLC0415 - few answers need it
    from gradcli.render.tape import TITLE, tape_lines  # noqa: PLC0415

    return [(TITLE, tape_lines(found, layout)), *steps_sections(found, layout)]


def view_sections(found: Explained, layout: Layout) -> list[Section]:
    """Return the sections that were asked for."""
    if found.views is None:
        return []
    from gradcli.render.descents import descent_lines  # noqa: PLC0415 - few answers are asked for more
    from gradcli.render.hessians import hessian_lines  # noqa: PLC0415
    from gradcli.render.passes import rows_lines, tangent_lines  # noqa: PLC0415

    views = found.views
    parts: list[Section] = []
    if views.rows is not None:
        title = "Rows of J: .grad after backward with each one-hot v, set to zero before"
        parts.append((title, rows_lines(found, views.rows, layout)))
    if views.tangent is not None:
        title = plain_text("J·u, the forward pass, beside vᵀ·J, the backward pass", layout.glyphs)
        parts.append((title, tangent_lines(found, views.tangent, layout)))
    if views.hessian is not None:
        title = "H, the second derivative: the Jacobian of the gradient"
        parts.append((title, hessian_lines(found, views.hessian, layout)))
    if views.descent is not None:
        title = f"Gradient descent from here, lr = {views.descent.lr:g}"
        parts.append((title, descent_lines(found, views.descent, layout)))
    return parts


def slice_lines(found: Explained, layout: Layout) -> list[str]:
    """Return the rows and columns of J that were asked for."""
    precision, most = layout.precision, layout.most(12)
    return [
        f"{part.title(found.name, name, layout.glyphs.partial)} = {array_text(value, precision, most)}"
        for part in found.slices
        for name, value in part.values.items()
    ]


def picture(found: Explained, layout: Layout) -> Text:
    """Return y and J alone, with v left open: for a v that is still to be chosen."""
    return Text("\n").join([*top(found, layout), *jacobian_lines(found, layout, asks=True)])


def top(found: Explained, layout: Layout) -> list[Text]:
    """Return the program and the shapes of its values."""
    return [piece for line in shape_lines(found) for piece in fold(plain_text(line, layout.glyphs), layout.width, " ")]


def section(title: str, body: Iterable[str | Text], layout: Layout) -> list[Text]:
    """Return a titled block of lines, folded where they are texts; nothing where there are none."""
    lines = [
        piece
        for line in body
        for piece in ([line] if isinstance(line, Text) else fold(plain_text(line, layout.glyphs), layout.width))
    ]
    return [Text(), *fold(Text(title, "bold"), layout.width, " "), *lines] if lines else []
