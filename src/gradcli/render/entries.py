"""What a table says of one variable: its columns, the text of each entry, and formulas that have no room there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gradcli.engine.naming import place_text
from gradcli.errors.counting import counted
from gradcli.records import dataclass, replace
from gradcli.render.grid import Column
from gradcli.render.numbers import ends, short

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.explanation.jacobians import Jacobian
    from gradcli.ops.signatures import Array, Mask
    from gradcli.render.glyphs import Glyphs, Layout

MOST_ROWS = 12
"""Rows up to which all are shown; beyond, the first and last three."""
MOST_COLUMNS = 60
"""Columns up to which a table is tried with all of them."""
MOST_FORMULAS = 8
MOST_RULES = 12
LONG_FORMULA = 40
"""Characters of a formula or rule beyond which the names of the backward pass say it instead."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """An answer, with what a table of it may take.

    - ``jacobians``: J by each variable, with formulas that equal their numbers.
    - ``rows``: the entries of y that are shown; None marks a gap.
    - ``asks``: whether v is still to be chosen, so that nothing below J is known.
    """

    found: Explained
    layout: Layout
    jacobians: dict[str, Jacobian]
    rows: list[int | None]
    asks: bool

    @property
    def glyphs(self) -> Glyphs:
        """What can be drawn."""
        return self.layout.glyphs

    @property
    def width(self) -> int:
        """The columns of the screen."""
        return self.layout.table_width or self.layout.width

    @property
    def count(self) -> int:
        """The entries of y."""
        return int(self.found.output.size)


@dataclass(frozen=True, slots=True)
class Panel:
    """The columns of one variable in a table (None marks a gap), with formulas or with numbers alone."""

    name: str
    jacobian: Jacobian
    columns: list[int | None]
    formulas: bool

    @property
    def whole(self) -> bool:
        """Whether no column is left out."""
        return None not in self.columns


def shown_rows(count: int, layout: Layout) -> list[int | None]:
    """Return the rows that are shown of so many."""
    return ends(count, count if count <= layout.most(MOST_ROWS) else 6)


def columns_of(sheet: Sheet, panel: Panel) -> list[Column]:
    """Return the columns of a variable: its entries of J, and below them vᵀ·J and the gradient."""
    cells = texts(sheet, panel, sheet.rows)
    below = [] if sheet.asks else [summed(sheet, panel.name, panel.columns) for summed in (vjp_texts, gradient_texts)]
    found = []
    for number, j in enumerate(panel.columns):
        heading = sheet.glyphs.dots if j is None else entry_name(panel.name, j, panel.jacobian.input_shape)
        own = [entry_text(sheet, cells, i, j) for i in sheet.rows]
        found.append(Column(heading, [*own, *(row[number] for row in below)]))
    return found


def entry_name(name: str, place: int, shape: tuple[int, ...]) -> str:
    """Return the name of an entry in the coordinates of its variable: ``W[0,1]``."""
    return f"{name}{place_text(place, shape)}"


def entry_text(sheet: Sheet, cells: dict[tuple[int, int], str], i: int | None, j: int | None) -> str:
    """Return one cell: a gap, an entry, or that no path leads there."""
    if i is None:
        return sheet.glyphs.down
    return sheet.glyphs.dots if j is None else cells.get((i, j), sheet.glyphs.zero)


def vjp_texts(sheet: Sheet, name: str, places: Sequence[int | None]) -> list[str]:
    """Return entries of vᵀ·J as texts."""
    return settled_texts(sheet, sheet.found.vjp[name], sheet.found.dust[name].vjp, places)


def gradient_texts(sheet: Sheet, name: str, places: Sequence[int | None]) -> list[str]:
    """Return entries of a gradient as texts."""
    return settled_texts(sheet, sheet.found.grad[name], sheet.found.dust[name].grad, places)


def settled_texts(sheet: Sheet, array: Array, dust: Mask, places: Sequence[int | None]) -> list[str]:
    """Return entries of an array as texts: rounding dust is 0, marked as it was not exactly that."""
    numbers, lost = np.ravel(array), np.ravel(dust)
    return [
        sheet.glyphs.dots if j is None else number_text(float(numbers[j]), bool(lost[j]), sheet.layout) for j in places
    ]


def number_text(value: float, dust: bool, layout: Layout) -> str:
    """Return a number for readers."""
    return layout.glyphs.rounded_zero if dust else short(value, layout.precision)


def texts(sheet: Sheet, panel: Panel, rows: Sequence[int | None]) -> dict[tuple[int, int], str]:
    """Return the cells of the rows and columns that are shown, by their place."""
    jacobian, precision = panel.jacobian, sheet.layout.precision
    columns = np.array([place for place in panel.columns if place is not None], dtype=np.intp)
    found: dict[tuple[int, int], str] = {}
    for row in (place for place in rows if place is not None):
        if not jacobian.held:
            flat = np.ravel(jacobian.row(row))
            found |= {(row, column): short(float(flat[column]), precision) for column in columns.tolist()}
            continue
        # Entries stand in order of row and column: those of a few are found without a look at the others.
        start, stop = np.searchsorted(jacobian.rows, [row, row + 1])
        held = jacobian.columns[start:stop]
        places = np.searchsorted(held, columns)
        for column, place in zip(columns.tolist(), places.tolist(), strict=True):
            if place < len(held) and held[place] == column:
                found[row, column] = cell(sheet, panel, int(start) + place)
    return found


def cell(sheet: Sheet, panel: Panel, k: int) -> str:
    """Return an entry as ``formula = value``, or as the value alone where the formula is one."""
    jacobian = panel.jacobian
    formula = jacobian.formulas[k] if panel.formulas and jacobian.formulas is not None else ""
    alone = not formula or is_number(formula)
    if sheet.found.dust[panel.name].entries[k]:
        return sheet.glyphs.rounded_zero if alone else f"{formula} {sheet.glyphs.near} 0"
    value = short(float(jacobian.values[k]), sheet.layout.precision)
    return value if alone else f"{formula} = {value}"


def is_number(text: str) -> bool:
    """Return whether a formula is a number as it stands."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def formula_lines(sheet: Sheet, panel: Panel) -> list[str]:
    """Return the formulas of a variable that its table has no room for: rules, or an entry on each line."""
    jacobian, d = panel.jacobian, sheet.glyphs.partial
    by_name = entry_rule(sheet.found, panel.name)
    texts_of = jacobian.rules or jacobian.formulas or []
    if by_name and any(len(text) > LONG_FORMULA for text in texts_of):
        letters = "ijkl"[: len(jacobian.input_shape)]
        return [f"{d}{sheet.found.name}/{d}{indexed(panel.name, letters)} = {by_name}"]
    if jacobian.formulas is None or jacobian.rules:
        rules = [with_partials(rule, sheet.found.name, panel, d) for rule in jacobian.rules]
        return limited(rules, sheet.layout.most(MOST_RULES), "rule")
    worth = [k for k, text in enumerate(jacobian.formulas) if not is_number(text)]
    lines, panel_of_all = [], replace(panel, formulas=True)
    most = sheet.layout.most(MOST_FORMULAS)
    for k in worth[: most + 1]:
        row = entry_name(sheet.found.name, int(jacobian.rows[k]), jacobian.output_shape)
        column = entry_name(panel.name, int(jacobian.columns[k]), jacobian.input_shape)
        shown = jacobian.formulas[k] if panel.whole and None not in sheet.rows else cell(sheet, panel_of_all, k)
        lines.append(f"{d}{row}/{d}{column} = {shown}")
    return limited(lines, most, "entry", len(worth))


def entry_rule(found: Explained, name: str) -> str | None:
    """Return an entry of J by the names of the backward pass, where its number is an entry of the gradient: v is 1."""
    if found.output.shape or found.seed.item() != 1 or not found.has_steps:
        return None
    return found.lookup.backward_pass.entry(name)


def limited(lines: list[str], most: int, noun: str, count: int | None = None) -> list[str]:
    """Return lines, and how many are left out where there are more than fit; a last one is never hidden by that."""
    count = len(lines) if count is None else count
    if count <= most + 1:
        return lines
    return [*lines[:most], f"and {counted(count - most, f'more {noun}')}, in --json"]


def with_partials(rule: str, output: str, panel: Panel, partial: str) -> str:
    """Return an index rule with both sides named: ``∂y[i]/∂x[j] = …`` for ``J[i, j] = …``."""
    left, equals, right = rule.partition(" = ")
    inside = re.fullmatch(r"J\[(.*)\]", left)
    if inside:
        indices, split = inside[1].split(", "), len(panel.jacobian.output_shape)
        ends_of = (indexed(output, indices[:split]), indexed(panel.name, indices[split:]))
        return f"{partial}{ends_of[0]}/{partial}{ends_of[1]}{equals}{right}"
    named = rf"{partial}\1/{partial}\2"
    chain = right.startswith(f"d{output}/d") and (" @ " in right or " fixed)" in right)
    if left == "J":
        return f"{partial}{output}/{partial}{panel.name} = {PARTIAL.sub(named, right)}"
    return PARTIAL.sub(named, left) + equals + (PARTIAL.sub(named, right) if chain else right)


PARTIAL = re.compile(r"\bd([A-Za-z_]\w*(?:\[[^\]]*\])?)/d([A-Za-z_]\w*(?:\[[^\]]*\])?)")
"""A derivative in a rule, such as ``dh[i]/dx[j]``."""


def indexed(name: str, indices: Sequence[str | int]) -> str:
    """Return ``name[i,j]``, and the name alone for a scalar."""
    return f"{name}[{','.join(map(str, indices))}]" if indices else name
