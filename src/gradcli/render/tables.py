"""The answer as rich tables, in the order in which a first-time reader asks."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np
from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from gradcli.engine.naming import place_text
from gradcli.render.equalities import with_true_formulas
from gradcli.render.forward import chain, forward_lines
from gradcli.render.glyphs import Layout
from gradcli.render.grid import Grid, grid
from gradcli.render.inert import inert
from gradcli.render.numbers import short
from gradcli.render.sections import calls_lines, chain_lines, shape_lines, sum_lines, v_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gradcli.explanation.explained import Explained, Jacobian


def tables(found: Explained, layout: Layout) -> RenderableType:
    """Return the whole answer: shapes, forward, the table of each Jacobian, sums, the chain rule, v, notes."""
    parts: list[RenderableType] = [lines(None, shape_lines(found), layout)]
    parts += section("Forward", forward_lines(found, layout), layout)
    for name, jacobian in found.jacobian.items():
        parts += jacobian_part(found, name, jacobian, layout)
    parts += section("Each sum, spelled out", sum_lines(found, layout), layout)
    parts += section("The chain rule, stage by stage", chain_lines(found, layout), layout)
    parts += section("Calls of backward, x.grad not zeroed in between", calls_lines(found, layout), layout)
    parts += section("What v did", v_lines(found, layout), layout)
    parts += section("Notes", [note.message for note in found.notes], layout)
    return Group(*parts)


def plain_glyphs(text: str, layout: Layout) -> str:
    """Return text without what an ASCII terminal cannot show."""
    if layout.glyphs.unicode:
        return text
    return inert(
        text.replace("·", "*")
        .replace("ᵀ", "")
        .replace("∂", "d")
        .replace("×", "x")
        .replace("…", "...")
        .replace("≈", "~=")
    )


def section(title: str, body: list[str], layout: Layout) -> list[RenderableType]:
    """Return a titled block of lines, or nothing where there are none."""
    return [lines(title, body, layout)] if body else []


def lines(title: str | None, body: Iterable[str], layout: Layout) -> Text:
    """Return lines as text, indented under a bold title; a long one folds and is never cut."""
    text = Text(overflow="fold", no_wrap=False)
    if title:
        text.append(f"\n {title}\n", style="bold")
    indent = "   " if title else " "
    folded = [folded_line for line in body for folded_line in fold(plain_glyphs(line, layout), indent, layout.width)]
    text.append("\n".join(folded))
    return text


def fold(line: str, indent: str, width: int) -> list[str]:
    """Return a line in pieces of at most ``width`` columns, those after the first indented further."""
    return textwrap.wrap(
        line, width, initial_indent=indent, subsequent_indent=indent + "    ", break_on_hyphens=False
    ) or [""]


def jacobian_part(found: Explained, name: str, jacobian: Jacobian, layout: Layout) -> list[RenderableType]:
    """Return the table of one variable: v beside the rows of J, vᵀ·J and x.grad under it, and the verdict."""
    glyphs, jacobian = layout.glyphs, with_true_formulas(found, jacobian)
    rows, columns = jacobian.matrix_shape
    what = f"{glyphs.partial}{found.name}/{glyphs.partial}{name}"
    filled = "" if jacobian.structure == "dense" else f", {len(jacobian.rows)} of {rows * columns} can be non-zero"
    head = f"J = {what}   {rows}{glyphs.by}{columns} {jacobian.structure}{filled}"
    deep = [n for n, shape in ((found.name, jacobian.output_shape), (name, jacobian.input_shape)) if len(shape) > 1]
    flat = [f"({' and '.join(deep)} flattened by rows)"] if deep else []
    labels = label_width(found, jacobian)
    shown = grid(jacobian, name, (layout.table_width or layout.width) - labels - 4, layout.precision, glyphs)
    parts: list[RenderableType] = [lines(head, [*flat, *definition_hint(jacobian, shown, layout), ""], layout)]
    parts.append(jacobian_table(found, name, jacobian, shown, layout))
    parts.append(
        Text(f"   {verdict_line(found, name, layout)}", style="bold green" if found.agreement.agree else "bold red")
    )
    return parts


def label_width(found: Explained, jacobian: Jacobian) -> int:
    """Return the room that row labels and the column of v take."""
    last = place_text(jacobian.matrix_shape[0] - 1, jacobian.output_shape)
    widest = max((len(short(float(v))) for v in np.ravel(found.backward[-1].v.seed)[:50]), default=1)
    return max(len(f"{found.name}{last}"), 8) + max(widest, 1) + 4


def definition_hint(jacobian: Jacobian, shown: Grid, layout: Layout) -> list[str]:
    """Return the formulas of a Jacobian whose table has numbers alone."""
    if shown.with_formulas:
        return []
    if jacobian.formulas is None:
        more = [f"and {len(jacobian.rules) - 12} more, in --json"] if len(jacobian.rules) > 12 else []
        return [*jacobian.rules[:12], *more]
    most = min(len(jacobian.rows), 8)
    shown_entries = zip(
        jacobian.rows[:most], jacobian.columns[:most], jacobian.values[:most], jacobian.formulas[:most], strict=True
    )
    first = [
        chain([f"J[{i},{j}] = {text}", short(float(value), layout.precision)], layout.width - 4)
        for i, j, value, text in shown_entries
    ]
    more = [f"and {len(jacobian.rows) - most} more, in --json"] if len(jacobian.rows) > most else []
    return [*first, *more]


def jacobian_table(found: Explained, name: str, jacobian: Jacobian, shown: Grid, layout: Layout) -> Table:
    """Return the grid with v on its left and the two products below."""
    glyphs, precision = layout.glyphs, layout.precision
    table = Table(
        box=box.SIMPLE_HEAD if glyphs.unicode else box.ASCII_DOUBLE_HEAD, show_edge=False, padding=(0, 1), pad_edge=True
    )
    table.add_column("", overflow="fold")
    several = len(found.backward) > 1
    table.add_column("v" if not several else "v, total", justify="right", style="cyan", overflow="fold")
    for j in shown.columns:
        heading = (
            glyphs.dots
            if j is None
            else f"{glyphs.partial}/{glyphs.partial}{name}{place_text(j, jacobian.input_shape)}"
        )
        table.add_column(Text(heading), justify="left", overflow="fold")
    seeds = np.ravel(found.seed)
    for i in shown.rows:
        if i is None:
            table.add_row(glyphs.down, *[Text(glyphs.down)] * (len(shown.columns) + 1))
            continue
        cells = [glyphs.dots if j is None else shown.cells.get((i, j), glyphs.zero) for j in shown.columns]
        label = f"{found.name}{place_text(i, jacobian.output_shape)}"
        table.add_row(Text(label), Text(short(float(seeds[i]), precision)), *[Text(cell) for cell in cells])
    table.add_section()
    for label, values, style in ((glyphs.product, found.vjp[name], ""), (f"{name}.grad", found.grad[name], "bold")):
        flat, zero = np.ravel(values), np.ravel(found.zeros.get(name, np.zeros(values.shape, dtype=bool)))
        cells = [
            glyphs.dots if j is None else glyphs.rounded_zero if zero[j] else short(float(flat[j]), precision)
            for j in shown.columns
        ]
        table.add_row(Text(label), "", *[Text(cell, style=style) for cell in cells])
    return table


FAULTS = {
    "differ": "{}.grad differs from {}",
    "digits-lost": "rounding has cost too many digits",
    "unclear": "what is right here was not found",
}


def verdict_line(found: Explained, name: str, layout: Layout) -> str:
    """Return one line: whether reverse mode agrees with the product above it."""
    glyphs = layout.glyphs
    if not found.agreement.agree:
        return f"{glyphs.cross} {FAULTS[found.agreement.verdict].format(name, glyphs.product)}: see the notes"
    if not np.all(np.isfinite(found.grad[name])):
        return "not finite at this point, on both routes"
    if not np.all(np.isfinite(found.output)):
        return "y is not finite at this point: these numbers are no derivative of it"
    error = found.agreement.max_abs_error
    exactly = "exactly" if error == 0 else f"up to rounding ({short(error, 2)})"
    return f"{glyphs.check} reverse mode agrees with {glyphs.product} {exactly}"
