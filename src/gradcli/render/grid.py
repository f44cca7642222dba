"""The Jacobian as a grid of cells: what fits the width, and what is left out in its middle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gradcli.engine.naming import place_text
from gradcli.render.numbers import short

if TYPE_CHECKING:
    from gradcli.explanation.jacobians import Jacobian
    from gradcli.render.glyphs import Glyphs

MOST_ROWS = 12
"""Rows up to which all are shown; beyond, the first and last three."""
GAP = 2
"""Blank columns between two cells."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows and columns that are shown (None marks a gap) and the text of each cell."""

    rows: list[int | None]
    columns: list[int | None]
    cells: dict[tuple[int, int], str]
    with_formulas: bool

    @property
    def whole(self) -> bool:
        """Whether nothing is left out."""
        return None not in self.rows and None not in self.columns


def ends(count: int, most: int) -> list[int | None]:
    """Return 0 … count-1, or its first and last few with None between where there are more than ``most``."""
    if count <= most:
        return list(range(count))
    head = (most + 1) // 2
    return [*range(head), None, *range(count - (most - head), count)]


def grid(jacobian: Jacobian, name: str, width: int, precision: int, glyphs: Glyphs) -> Grid:
    """Return the widest grid that fits: with formulas if it can be, else numbers, else with a gap in its middle."""
    count, wide = jacobian.matrix_shape
    rows = ends(count, MOST_ROWS if count <= MOST_ROWS else 6) if jacobian.held else []
    headings = [
        f"{glyphs.partial}/{glyphs.partial}{name}{place_text(j, jacobian.input_shape)}" for j in range(min(wide, 400))
    ]
    for formulas in (True, False):
        if formulas and jacobian.formulas is None:
            continue
        cells = texts(jacobian, rows, lambda k: cell(jacobian, k, precision, formulas))  # noqa: B023
        for most in (wide, 8, 6, 4, 2):
            columns = ends(wide, most)
            if wide <= 400 and total_width(cells, rows, columns, headings) <= width and (not formulas or most == wide):
                return Grid(rows, columns, cells, formulas)
    return Grid(rows, ends(wide, 2), texts(jacobian, rows, lambda k: cell(jacobian, k, precision, False)), False)


def texts(jacobian: Jacobian, rows: list[int | None], text: Callable[[int], str]) -> dict[tuple[int, int], str]:
    """Return the cells of the rows that are shown."""
    chosen = np.flatnonzero(np.isin(jacobian.rows, [row for row in rows if row is not None]))
    return {(int(jacobian.rows[k]), int(jacobian.columns[k])): text(int(k)) for k in chosen[:20_000]}


def cell(jacobian: Jacobian, k: int, precision: int, formulas: bool) -> str:
    """Return an entry as ``formula = value``, or as the value alone where the formula is one."""
    value = short(float(jacobian.values[k]), precision)
    if not formulas or jacobian.formulas is None:
        return value
    formula = jacobian.formulas[k]
    return formula if is_number(formula) else f"{formula} = {value}"


def is_number(text: str) -> bool:
    """Return whether a formula is a number as it stands."""
    try:
        float(text)
    except ValueError:
        return False
    return len(text) <= 10


def total_width(
    cells: dict[tuple[int, int], str], rows: list[int | None], columns: list[int | None], headings: list[str]
) -> int:
    """Return the columns of the screen that a grid takes, without the labels and v."""
    widths = [
        3
        if j is None
        else max(len(headings[j]), max((len(cells.get((i, j), "")) for i in rows if i is not None), default=0))
        for j in columns
    ]
    return sum(widths) + GAP * len(widths)
