"""J by each variable, with v on its left, and below it vᵀ·J and the gradient that reverse mode left."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from rich.text import Text

from gradcli.errors.counting import counted
from gradcli.render.backward import is_drawn
from gradcli.render.entries import (
    Panel,
    Sheet,
    entry_name,
    formula_lines,
    gradient_texts,
    shown_rows,
    texts,
    vjp_texts,
)
from gradcli.render.equalities import with_true_formulas
from gradcli.render.grid import Remark, Table, table_lines
from gradcli.render.numbers import ends, shaped_lines, short
from gradcli.render.panels import groups, is_readable, pack, table_of
from gradcli.render.verdicts import row_style, verdict
from gradcli.render.wrap import fold, plain_text

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.explanation.jacobians import Jacobian
    from gradcli.render.glyphs import Layout

WIDEST, HIGHEST = 40, 12
"""Characters of a picture, each two dots wide and four high."""
WORTH_A_LOOK = {"sparse", "banded", "block-diagonal", "permutation"}
"""Structures whose word leaves open where the entries are."""
BRAILLE = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
"""The bit of each dot of a braille character, by row and column."""
DENSITIES = " .:#"
"""What stands for a character in ASCII, by how many of its dots are set."""


def spy_lines(jacobian: Jacobian, unicode: bool) -> list[str]:
    """Return the picture, none for a structure that a word says whole; a dot is an entry that can be non-zero."""
    if jacobian.structure not in WORTH_A_LOOK:
        return []
    rows, columns = jacobian.matrix_shape
    high, wide = min(rows, 4 * HIGHEST), min(columns, 2 * WIDEST)
    dots = np.zeros((-(-high // 4) * 4, -(-wide // 2) * 2), dtype=bool)
    dots[jacobian.rows * high // rows, jacobian.columns * wide // columns] = True
    cells = dots.reshape(dots.shape[0] // 4, 4, dots.shape[1] // 2, 2).swapaxes(1, 2)
    if unicode:
        return ["".join(map(chr, line)).rstrip("\u2800") for line in 0x2800 + (cells * BRAILLE).sum(axis=(2, 3))]
    levels = -(-cells.sum(axis=(2, 3)) * (len(DENSITIES) - 1) // 8)
    return ["".join(DENSITIES[level] for level in line).rstrip() for line in levels]


LARGEST = 3
"""Entries of vᵀ·J that are named where the columns are many."""
MOST_SPELLED = 64
"""Entries of a gradient up to which all are written where its table has no room for them."""
MOST_IN_LINES = 6
"""Columns up to which J is written in lines where a table has no room."""
MOST_COUNTED = 16
"""Rows and columns up to which entries are found without a picture."""
KINKS = {"kink", "jump", "infinite-slope", "edge", "custom-backward", "hook"}
"""Kinds of notes on points and functions where a slope says nothing of its own slope."""
NAMES = re.compile(r"[A-Za-z_]\w*")
Part = Table | Text


def jacobian_lines(found: Explained, layout: Layout, asks: bool = False) -> list[Text]:
    """Return the tables of all variables as lines, and whether the routes agree; ``asks`` leaves v open."""
    return [
        line
        for part in jacobian_parts(found, layout, asks)
        for line in (
            table_lines(part, layout.table_width or layout.width, layout.glyphs) if isinstance(part, Table) else [part]
        )
    ]


def jacobian_parts(found: Explained, layout: Layout, asks: bool = False) -> list[Part]:
    """Return the tables of all variables and the lines between them, with whether the routes agree beside the last."""
    sheet = Sheet(found, layout, with_true_formulas(found).jacobian, shown_rows(found.output.size, layout), asks)
    parts: list[Part] = []
    for names in groups(sheet):
        parts += [Text(), *group_parts(sheet, names)]
    if not parts:
        parts = [Text(), *text_lines(sheet, [headed(sheet, list(sheet.jacobians), "no entries")], " ", "bold")]
    elif not asks:
        parts = with_verdict(sheet, parts)
    return parts


def group_parts(sheet: Sheet, names: Sequence[str]) -> list[Part]:
    """Return the head, the formulas and the tables of variables that share them."""
    packed = pack(sheet, names)
    drawn = [panel for table in packed for panel in table]
    panels = list({panel.name: panel for panel in drawn}.values())
    shown = [panel for panel in drawn if is_readable(sheet, panel)]
    parts: list[Part] = text_lines(sheet, [head(sheet, names, panels)], " ", "bold")
    for panel in panels:
        if not panel.formulas and not is_in_lines(panel):
            parts += text_lines(sheet, formula_lines(sheet, panel))
        if not panel.whole or panel not in shown:
            parts += overview(sheet, panel)
    for table in packed:
        kept = [panel for panel in table if panel in shown]
        if any(not panel.columns for panel in kept):
            parts += [line for panel in kept for line in column_by_column(sheet, panel)]
        elif kept:
            parts += [Text(), table_of(sheet, kept)]
    for panel in panels:
        parts += gradient_lines(sheet, panel, panel in shown)
    return parts


def is_in_lines(panel: Panel) -> bool:
    """Return whether J is written in lines, formulas and all, as not one column of it has room."""
    return not panel.columns and panel.jacobian.matrix_shape[1] <= MOST_IN_LINES


def text_lines(sheet: Sheet, lines: Sequence[str], indent: str = "   ", style: str = "") -> list[Part]:
    """Return lines of text, folded where they are too long."""
    folded = [fold(Text(plain_text(line, sheet.glyphs), style), sheet.layout.width, indent) for line in lines]
    return [piece for pieces in folded for piece in pieces]


def head(sheet: Sheet, names: Sequence[str], panels: Sequence[Panel]) -> str:
    """Return the line above a table: what J is by, its size, its structure."""
    facts = size_of(sheet, panels) or ("constant here: second derivatives are 0" if is_linear(sheet.found) else "")
    return headed(sheet, names, facts)


def headed(sheet: Sheet, names: Sequence[str], facts: str) -> str:
    """Return ``J = ∂y/∂x`` with what is to be said of it."""
    d, by = sheet.glyphs.partial, names[0] if len(names) == 1 else f"({', '.join(names)})"
    return f"J = {d}{sheet.found.name}/{d}{by}    {facts}".rstrip()


def is_linear(found: Explained) -> bool:
    """Return whether the one output has a J other than 0 without an input in it; at a kink that tells nothing."""
    jacobians = found.jacobian.values()
    formulas = [formula for jacobian in jacobians for formula in jacobian.formulas or ["?"]]
    moves = {*found.differentiated, *found.definitions}
    return (
        found.output.size == 1
        and KINKS.isdisjoint(note.kind for note in found.notes)
        and any(np.any(jacobian.values) for jacobian in jacobians)
        and not any("?" in formula or not moves.isdisjoint(NAMES.findall(formula)) for formula in formulas)
    )


def size_of(sheet: Sheet, panels: Sequence[Panel]) -> str:
    """Return the size of J, and what is to be said of its entries; nothing for one row that is all there."""
    rows, columns = sheet.count, sum(panel.jacobian.matrix_shape[1] for panel in panels)
    jacobian = panels[0].jacobian
    whole = all(panel.whole for panel in panels) and None not in sheet.rows
    if rows == 1 and (whole or len(panels) > 1):
        return ""
    size = f"{rows}{sheet.glyphs.by}{columns}"
    if not all(panel.jacobian.held for panel in panels):
        return f"{size}, its entries are not held"
    structure = jacobian.structure if len(panels) == 1 else "dense"
    passes = jacobian.passes if len(panels) == 1 and rows > 1 and len(jacobian.rows) else None
    told = f", {counted(passes, 'pass')}" if passes else ""
    if whole and structure in ("dense", "sparse"):
        fewer = told if passes and passes < rows else ""
        return f"{size}, a row for each output{', a column for each input' if columns > 1 else ''}{fewer}"
    held = "" if structure == "dense" else f", {len(jacobian.rows):,} of {counted(rows * columns, 'entry')}"
    return f"{size} {structure}{held}{told}"


def overview(sheet: Sheet, panel: Panel) -> list[Part]:
    """Return what is to be seen of a variable of which a table shows a part: its largest gradients, and where J is."""
    found = text_lines(sheet, [] if sheet.asks else largest(sheet, panel))
    if max(panel.jacobian.matrix_shape) > MOST_COUNTED:
        found += [Text(f"   {line}") for line in spy_lines(panel.jacobian, sheet.glyphs.unicode)]
    return found


def largest(sheet: Sheet, panel: Panel) -> list[str]:
    """Return the largest entries of vᵀ·J, where they differ; what rounding has left of 0 is not among them."""
    flat = np.where(sheet.found.dust[panel.name].vjp, 0.0, sheet.found.vjp[panel.name]).ravel()
    size = np.abs(flat)
    if len(flat) <= LARGEST or not np.all(np.isfinite(flat)):
        return []
    first = np.argpartition(-size, LARGEST)[: LARGEST + 1]
    chosen = [int(j) for j in first[np.argsort(-size[first], kind="stable")][:LARGEST]]
    if size[chosen[0]] == size[chosen[-1]]:
        return []
    shape, precision = panel.jacobian.input_shape, sheet.layout.precision
    terms = [f"{entry_name(panel.name, j, shape)} {short(flat[j], precision)}" for j in chosen if flat[j]]
    return [f"largest of {sheet.glyphs.product}: {', '.join(terms)}"]


def column_by_column(sheet: Sheet, panel: Panel) -> list[Part]:
    """Return J in lines, where not one column of it has room beside v."""
    jacobian, name = panel.jacobian, panel.name
    seed, shape = np.ravel(sheet.found.seed), sheet.found.output.shape
    parts: list[Part] = []
    for j in ends(jacobian.matrix_shape[1], sheet.layout.most(MOST_IN_LINES)):
        if j is None:
            parts.append(Text(f"   {sheet.glyphs.dots}"))
            continue
        cells = texts(sheet, replace(panel, columns=[j], formulas=True), sheet.rows)
        parts += [Text(), *text_lines(sheet, [entry_name(name, j, jacobian.input_shape)], " ", "bold")]
        for i in (i for i in sheet.rows if i is not None and (i, j) in cells):
            v = "?" if sheet.asks else short(float(seed[i]), sheet.layout.precision)
            line = f"{entry_name(sheet.found.name, i, shape)}: v {v}, {cells[i, j]}"
            parts += text_lines(sheet, [line], style=row_style(i, sheet.count))
        if not sheet.asks:
            [product], [grad] = vjp_texts(sheet, name, [j]), gradient_texts(sheet, name, [j])
            parts += text_lines(sheet, [f"{sheet.glyphs.product} {product}, {name}.grad {grad}"], style="bold")
    return parts


def gradient_lines(sheet: Sheet, panel: Panel, shown: bool) -> list[Part]:
    """Return the gradient in the shape of its variable where that is a matrix, or where no table has all of it."""
    if sheet.asks:
        return []
    shape, label = panel.jacobian.input_shape, f"{panel.name}.grad = "
    is_matrix = len(shape) == 2 and min(shape) > 1 and not is_drawn(sheet.found, panel.name, sheet.layout)
    matrix = matrix_lines(sheet, panel.name, label) if is_matrix else []
    if matrix:
        return [Text(), *matrix]
    if is_in_lines(panel) or (panel.whole and shown and panel.columns):
        return []
    count = math.prod(shape)
    places = ends(count, count if count <= sheet.layout.most(MOST_SPELLED) else 6)
    numbers = gradient_texts(sheet, panel.name, places)
    inside = f"[{', '.join(numbers)}]{f' in shape {shape}' if len(shape) > 1 else ''}" if shape else numbers[0]
    return text_lines(sheet, [f"{label}{inside}"])


def matrix_lines(sheet: Sheet, name: str, label: str) -> list[Part]:
    """Return a gradient as a matrix, with as many of its columns as there is room for; nothing where not two have."""
    settled = np.where(sheet.found.dust[name].grad, 0.0, sheet.found.grad[name])
    for most in (sheet.layout.most(12),) if sheet.layout.full else (12, 8, 6, 4, 2):
        lines = shaped_lines(settled, sheet.layout.precision, most, sheet.glyphs.dots)
        if len(label) + 3 + max(map(len, lines)) <= sheet.width:
            return [Text(f"   {label if k == 0 else ' ' * len(label)}{line}", "bold") for k, line in enumerate(lines)]
    return []


def with_verdict(sheet: Sheet, parts: list[Part]) -> list[Part]:
    """Return the parts with the verdict beside the last gradient, or in a line of its own where no table is."""
    says, style = verdict(sheet.found, sheet.glyphs)
    tables = [(k, part) for k, part in enumerate(parts) if isinstance(part, Table)]
    if not tables:
        return [*parts, *text_lines(sheet, [says], style=style)]
    last, table = tables[-1]
    marked = replace(table, remarks=(*table.remarks, Remark(len(table.labels) - 1, says, style)))
    return [*parts[:last], marked, *parts[last + 1 :]]
