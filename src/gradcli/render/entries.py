"""What a table says of one variable: its columns, the text of each entry, and formulas that have no room there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gradcli.engine.naming import place_text
from gradcli.errors.counting import counted
from gradcli.render.grid import Column
from gradcli.render.numbers import ends, short

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.explanation.jacobians import Jacobian
    from gradcli.ops.declare import Array
    from gradcli.render.glyphs import Glyphs, Layout

MOST_ROWS = 12
"""Rows up to which all are shown; beyond, the first and last three."""
MOST_COLUMNS = 60
"""Columns up to which a table is tried with all of them."""
MOST_FORMULAS = 8
MOST_RULES = 12


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


def shown_rows(count: int) -> list[int | None]:
    """Return the rows that are shown of so many."""
    return ends(count, MOST_ROWS if count <= MOST_ROWS else 6)


def columns_of(sheet: Sheet, panel: Panel) -> list[Column]:
    """Return the columns of a variable: its entries of J, and below them vᵀ·J and the gradient."""
    cells = texts(panel, sheet.rows, sheet.layout.precision)
    sums = [] if sheet.asks else [sheet.found.vjp[panel.name], sheet.found.grad[panel.name]]
    below = [gradient_texts(sheet, panel.name, np.ravel(array), panel.columns) for array in sums]
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


def gradient_texts(sheet: Sheet, name: str, flat: Array, places: Sequence[int | None]) -> list[str]:
    """Return entries of a gradient as texts: rounding dust is 0, marked where it was not exactly that."""
    dust = np.ravel(gradient_dust(sheet.found, name))
    return [
        sheet.glyphs.dots if j is None else number_text(float(flat[j]), bool(dust[j]), sheet.layout) for j in places
    ]


def gradient_dust(found: Explained, name: str) -> Array:
    """Return where a gradient is what rounding has left of 0: by arithmetic with more digits, where that was asked."""
    if name in found.zeros:
        return found.zeros[name]
    known = bool(found.agreement.digits) or found.output.size == 1
    return np.zeros(found.grad[name].shape, dtype=bool) if known else found.effect.dust[name]


def number_text(value: float, dust: bool, layout: Layout) -> str:
    """Return a number for readers."""
    return layout.glyphs.rounded_zero if dust else short(value, layout.precision)


def texts(panel: Panel, rows: Sequence[int | None], precision: int) -> dict[tuple[int, int], str]:
    """Return the cells of the rows and columns that are shown, by their place."""
    jacobian = panel.jacobian
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
                found[row, column] = cell(jacobian, int(start) + place, precision, panel.formulas)
    return found


def cell(jacobian: Jacobian, k: int, precision: int, formulas: bool) -> str:
    """Return an entry as ``formula = value``, or as the value alone where the formula is one."""
    value = short(float(jacobian.values[k]), precision)
    formula = jacobian.formulas[k] if formulas and jacobian.formulas is not None else ""
    return value if not formula or is_number(formula) else f"{formula} = {value}"


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
    if jacobian.formulas is None or jacobian.rules:
        rules = [with_partials(rule, sheet.found.name, panel, d) for rule in jacobian.rules]
        return limited(rules, MOST_RULES, "rule")
    worth = [k for k, text in enumerate(jacobian.formulas) if not is_number(text)]
    lines = []
    for k in worth[: MOST_FORMULAS + 1]:
        row = entry_name(sheet.found.name, int(jacobian.rows[k]), jacobian.output_shape)
        column = entry_name(panel.name, int(jacobian.columns[k]), jacobian.input_shape)
        value = (
            "" if panel.whole and None not in sheet.rows else f" = {short(jacobian.values[k], sheet.layout.precision)}"
        )
        lines.append(f"{d}{row}/{d}{column} = {jacobian.formulas[k]}{value}")
    return limited(lines, MOST_FORMULAS, "entry", len(worth))


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
    if left == "J":
        return f"{partial}{output}/{partial}{panel.name} = {PARTIAL.sub(named, right)}"
    return PARTIAL.sub(named, left) + equals + right


PARTIAL = re.compile(r"\bd([A-Za-z_]\w*(?:\[[^\]]*\])?)/d([A-Za-z_]\w*(?:\[[^\]]*\])?)")
"""A derivative in a rule, such as ``dh[i]/dx[j]``."""


def indexed(name: str, indices: Sequence[str | int]) -> str:
    """Return ``name[i,j]``, and the name alone for a scalar."""
    return f"{name}[{','.join(map(str, indices))}]" if indices else name
