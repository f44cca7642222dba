"""H in a table for each pair of variables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.text import Text

from gradcli.engine.naming import place_text
from gradcli.errors.counting import counted
from gradcli.render.entries import is_number
from gradcli.render.grid import Column, Table, table_lines
from gradcli.render.numbers import ends, short
from gradcli.render.wrap import fold, plain_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gradcli.explanation.jacobians import Jacobian
    from gradcli.explanation.views import Hessian
    from gradcli.render.glyphs import Layout

MOST_ROWS = 8
"""Rows of H that are shown; of more the first and the last."""
MOST_COLUMNS = 12
MOST_FORMULAS = 8
"""Formulas that are shown where a table has no room for them."""
RULE = re.compile(r"d\w+\[([^\]]*)\]/d\w+\[([^\]]*)\] = (.*)", re.DOTALL)
DERIVATIVE = re.compile(r"\bd\w+(\[[^\]]*\])?/d\w+")


def block_lines(
    hessian: Hessian, name: str, pair: tuple[str, str], block: Jacobian, layout: Layout
) -> list[Text | str]:
    """Return one block of H: its rule, and its table."""
    lines: list[Text | str] = [
        Text(),
        *fold(Text(plain_text(heading(pair, name, block, hessian, layout), layout.glyphs), "bold"), layout.width, " "),
    ]
    rule = rule_of(block, name, pair, layout)
    lines += [rule] if rule else []
    if not block.held or not len(block.rows):
        return lines
    tables, formulas = tables_of(pair, block, layout)
    if block.formulas is not None and not formulas and not rule:
        lines += entry_lines(block, block.formulas, name, pair, layout)
    return [*lines, *(line for table in tables for line in table_lines(table, width_of(layout), layout.glyphs))]


def heading(pair: tuple[str, str], name: str, block: Jacobian, hessian: Hessian, layout: Layout) -> str:
    """Return what a block is, its size and structure."""
    d, by = layout.glyphs.partial, layout.glyphs.by
    two = "²" if layout.glyphs.unicode else "2"
    left = "H = " if len(hessian.whole) == 1 else ""
    rows, columns = block.matrix_shape
    if rows == columns == 1 and block.held:
        return f"{left}{d}{two}{name}/{d}{pair[0]}{d}{pair[1]}"
    facts = (
        [f"{rows}{by}{columns} {block.structure}"] if block.held else [f"{rows}{by}{columns}, its entries are not held"]
    )
    if block.held and block.structure not in ("dense", "zero") and rows * columns > len(block.rows):
        facts.append(f"{len(block.rows):,} of {counted(rows * columns, 'entry')}")
    if pair[0] == pair[1] and hessian.symmetric:
        facts.append("symmetric")
    return f"{left}{d}{two}{name}/{d}{pair[0]}{d}{pair[1]}    {', '.join(facts)}"


def width_of(layout: Layout) -> int:
    """Return the columns that a table may take."""
    return layout.table_width or layout.width


def rule_of(block: Jacobian, name: str, pair: tuple[str, str], layout: Layout) -> str:
    """Return the one rule that all entries have; empty where there is none that names the inputs alone."""
    match = RULE.fullmatch(block.rules[0]) if len(block.rules) == 1 else None
    if match is None or DERIVATIVE.search(match[3]):
        return ""
    d, two = layout.glyphs.partial, "²" if layout.glyphs.unicode else "2"
    return f"{d}{two}{name}/{d}{pair[0]}[{match[1]}]{d}{pair[1]}[{match[2]}] = {match[3]}"


def entry_lines(
    block: Jacobian, formulas: Sequence[str], name: str, pair: tuple[str, str], layout: Layout
) -> list[str]:
    """Return the formulas of entries that a table has no room for."""
    d, two = layout.glyphs.partial, "²" if layout.glyphs.unicode else "2"
    worth = [k for k, text in enumerate(formulas) if not is_number(text)]
    most = layout.most(MOST_FORMULAS)
    lines = [
        f"{d}{two}{name}/{d}{pair[0]}{place_text(int(block.rows[k]), block.output_shape)}"
        f"{d}{pair[1]}{place_text(int(block.columns[k]), block.input_shape)} = {formulas[k]}"
        for k in worth[:most]
    ]
    return [*lines, *([f"and {counted(len(worth) - most, 'more entry')}, in --json"] if len(worth) > most else [])]


def tables_of(pair: tuple[str, str], block: Jacobian, layout: Layout) -> tuple[list[Table], bool]:
    """Return the tables of a block, and whether they have its formulas: several where all of a large one is shown."""
    count = block.matrix_shape[1]
    if block.formulas is not None and count <= MOST_COLUMNS:
        whole = table_of(pair, block, list(range(count)), True, layout)
        if whole.width <= width_of(layout):
            return [whole], True
    if layout.full:
        return all_tables(pair, block, layout), False
    for most in (MOST_COLUMNS, 8, 6, 4, 3, 2, 1):
        part = table_of(pair, block, ends(count, most), False, layout)
        if part.width <= width_of(layout):
            return [part], False
    return [], False


def all_tables(pair: tuple[str, str], block: Jacobian, layout: Layout) -> list[Table]:
    """Return all columns of a block in tables below each other, as many in each as fit."""
    count = block.matrix_shape[1]
    for most in (24, 16, 12, 8, 6, 4, 3, 2, 1):
        starts = range(0, count, most)
        found = [table_of(pair, block, list(range(k, min(k + most, count))), False, layout) for k in starts]
        if most == 1 or all(table.width <= width_of(layout) for table in found):
            return found
    return []


def table_of(
    pair: tuple[str, str], block: Jacobian, columns: list[int | None], formulas: bool, layout: Layout
) -> Table:
    """Return a table of some columns of a block, with formulas or with numbers; None marks a gap."""
    cells = texts_of(block, formulas, layout)
    rows = ends(block.matrix_shape[0], layout.most(MOST_ROWS))
    dots = layout.glyphs.dots
    body = [
        Column(row_name(pair[1], j, block.input_shape, dots), [cell_text(cells, i, j, layout) for i in rows])
        for j in columns
    ]
    labels = [row_name(pair[0], i, block.output_shape, layout.glyphs.down) for i in rows]
    return Table(labels, [body], [""] * len(rows))


def row_name(name: str, place: int | None, shape: tuple[int, ...], gap: str) -> str:
    """Return the name of an entry, or the sign for those that are left out."""
    return gap if place is None else f"{name}{place_text(place, shape)}"


def cell_text(cells: Mapping[tuple[int, int], str], i: int | None, j: int | None, layout: Layout) -> str:
    """Return an entry, the sign for a 0 by structure, or that for what is left out."""
    if i is None:
        return layout.glyphs.down
    return layout.glyphs.dots if j is None else cells.get((i, j), layout.glyphs.zero)


def texts_of(block: Jacobian, formulas: bool, layout: Layout) -> dict[tuple[int, int], str]:
    """Return the entries of a block as texts by their place."""
    found = {}
    for k, (i, j) in enumerate(zip(block.rows.tolist(), block.columns.tolist(), strict=True)):
        value = short(float(block.values[k]), layout.precision)
        formula = block.formulas[k] if formulas and block.formulas is not None else ""
        found[i, j] = value if not formula or is_number(formula) else f"{formula} = {value}"
    return found
