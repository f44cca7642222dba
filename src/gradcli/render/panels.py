"""Which variables share a table, which of their columns it shows, and the table itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradcli.render.backward import TITLE as BACKWARD
from gradcli.render.backward import backward_lines, path_lines, path_titles
from gradcli.render.effects import calls_lines, v_lines
from gradcli.render.entries import MOST_COLUMNS, Panel, Sheet, columns_of, entry_name, texts
from gradcli.render.forward import forward_lines
from gradcli.render.glyphs import Anchor, Layout, Section
from gradcli.render.grid import Column, Remark, Table
from gradcli.render.numbers import ends, short
from gradcli.render.sums import sum_lines
from gradcli.render.verdicts import row_style

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.explanation.jacobians import Jacobian


def groups(sheet: Sheet) -> list[list[str]]:
    """Return which variables share tables: all of them where y has one entry, otherwise those with one column."""
    names = [name for name, jacobian in sheet.jacobians.items() if jacobian.matrix_shape[1]]
    if sheet.count == 1:
        return [names] if names else []
    single = [name for name in names if sheet.jacobians[name].matrix_shape[1] == 1]
    found = [single if name in single else [name] for name in names]
    return [group for k, group in enumerate(found) if group not in found[:k]]


def pack(sheet: Sheet, names: Sequence[str]) -> list[list[Panel]]:
    """Return the variables of each table, with formulas where that takes no more than one table more."""
    parts = [columns_in_turn(sheet, name) if sheet.layout.full else [fitting(sheet, name)] for name in names]
    numbers = tables_of(sheet, [panel for own in parts for panel in own])
    panels = [Panel(name, sheet.jacobians[name], columns_whole(sheet.jacobians[name]), True) for name in names]
    if any(panel.jacobian.formulas is None or not fits(sheet, [panel]) for panel in panels):
        return numbers
    formulas = tables_of(sheet, panels)
    return formulas if len(formulas) <= len(numbers) + 1 else numbers


def tables_of(sheet: Sheet, panels: Sequence[Panel]) -> list[list[Panel]]:
    """Return variables side by side, as many in each table as there is room for."""
    found: list[list[Panel]] = []
    for panel in panels:
        if found and panel.whole and found[-1][0].whole and fits(sheet, [*found[-1], panel]):
            found[-1].append(panel)
        else:
            found.append([panel])
    return found


def columns_in_turn(sheet: Sheet, name: str) -> list[Panel]:
    """Return a variable with numbers alone in all of its columns, as many in each table as there is room for."""
    jacobian = sheet.jacobians[name]
    count = jacobian.matrix_shape[1]
    for most in (MOST_COLUMNS, 40, 24, 16, 12, 10, 8, 6, 5, 4, 3, 2, 1):
        parts = [list(range(start, min(start + most, count))) for start in range(0, count, most)]
        panels = [Panel(name, jacobian, [*part], False) for part in parts]
        if all(fits(sheet, [panel]) for panel in panels):
            return panels
    return [Panel(name, jacobian, [], False)]


def columns_whole(jacobian: Jacobian) -> list[int | None]:
    """Return all columns, those in the middle left out where there are more than any screen has."""
    return ends(jacobian.matrix_shape[1], MOST_COLUMNS)


def fitting(sheet: Sheet, name: str) -> Panel:
    """Return a variable with numbers alone in as many columns as there is room for, none where not one has."""
    jacobian = sheet.jacobians[name]
    count = jacobian.matrix_shape[1]
    for most in (min(count, MOST_COLUMNS), 12, 10, 8, 6, 5, 4, 3, 2, 1):
        panel = Panel(name, jacobian, ends(count, most), False)
        if most <= count and fits(sheet, [panel]):
            return panel
    return Panel(name, jacobian, [], False)


def fits(sheet: Sheet, panels: Sequence[Panel]) -> bool:
    """Return whether variables have room beside each other."""
    return all(panel.columns for panel in panels) and table_of(sheet, panels).width <= sheet.width


def is_readable(sheet: Sheet, panel: Panel) -> bool:
    """Return whether there is something to read in the rows and columns that are shown."""
    rows = [row for row in sheet.rows if row is not None]
    columns = [column for column in panel.columns if column is not None]
    if (panel.whole and len(rows) == sheet.count) or not columns:
        return True
    held = texts(sheet, replace(panel, formulas=False), rows)
    return len(held) * 2 >= len(rows) * len(columns)


def table_of(sheet: Sheet, panels: Sequence[Panel]) -> Table:
    """Return the table of variables: v, a bar, the columns of each variable."""
    found, glyphs = sheet.found, sheet.glyphs
    names = [panel.name for panel in panels]
    # An output may be called grad: no two rows have one label.
    grad = f"{names[0]}.grad" if len(names) == 1 else ".grad" if found.name == "grad" else "grad"
    sums = [] if sheet.asks else [glyphs.product, grad]
    labels = [glyphs.down if i is None else entry_name(found.name, i, found.output.shape) for i in sheet.rows]
    styles = ["" if i is None else row_style(i, sheet.count) for i in sheet.rows]
    blocks = [[v_column(sheet, len(sums))]]
    for panel in panels:
        scalar = panel.jacobian.input_shape == ()
        own = columns_of(sheet, panel)
        if scalar and len(blocks) > 1 and sheet.jacobians[names[len(blocks) - 2]].input_shape == ():
            blocks[-1].extend(own)
        else:
            blocks.append(own)
    ruled = (0, len(labels)) if sums and sheet.count > 1 else (0,)
    return Table([*labels, *sums], blocks, [*styles, *["", "bold"][: len(sums)]], ruled, legend(sheet, panels))


def v_column(sheet: Sheet, sums: int) -> Column:
    """Return v beside the rows of J."""
    seed = np.ravel(sheet.found.seed)
    known = [sheet.glyphs.down if i is None else short(float(seed[i]), sheet.layout.precision) for i in sheet.rows]
    heading = "v, total" if len(sheet.found.counted) > 1 else "v"
    return Column(
        heading,
        [*(["?" if i is not None else sheet.glyphs.down for i in sheet.rows] if sheet.asks else known), *[""] * sums],
    )


def legend(sheet: Sheet, panels: Sequence[Panel]) -> tuple[Remark, ...]:
    """Return what ``·`` means, told apart from a 0 where a table has both.

    Where values choose what is used, as ``max`` and branches do, a path may lead there from another point.
    """
    rows = [row for row in sheet.rows if row is not None]
    cells = [(texts(sheet, replace(panel, formulas=False), rows), panel) for panel in panels]
    empty = [
        row for row in rows for held, panel in cells for j in panel.columns if j is not None and (row, j) not in held
    ]
    if not empty:
        return ()
    says, beside = ("zero by structure", "0 is zero at this point")
    if sheet.found.lookup.by_choice:
        says, beside = ("no path at this point", "0 is a path of slope 0")
    both = any(text == "0" for held, _ in cells for text in held.values())
    told = f"{sheet.glyphs.zero} {says}; {beside}" if both else f"{sheet.glyphs.zero} {says}"
    return (Remark(sheet.rows.index(empty[0]), told, needed=both),)


ASSIGNS = re.compile(r"[^=(#'\"<>!]+=(?!=)")
"""A line that names its value itself: ``y = …``, ``y[0] += …``."""


def sections_above(found: Explained, layout: Layout) -> Iterator[Section]:
    """Yield what stands above the tables of J; some have no lines."""
    yield Section("Forward", forward_lines(found, layout))
    yield Section(BACKWARD, backward_lines(found, layout))
    yield from view_sections("backward", found, layout)


def sections_below(found: Explained, layout: Layout) -> Iterator[Section]:
    """Yield what stands below the tables of J; some have no lines."""
    yield from view_sections("J", found, layout)
    yield Section("Each sum", sum_lines(found, layout))
    yield Section(path_titles(found), path_lines(found, layout))
    yield Section("Calls of backward without zero_grad", calls_lines(found, layout))
    yield Section("What v did", v_lines(found, layout), prose=True)
    yield from view_sections("v", found, layout)
    yield Section("Notes", [note.message for note in found.notes], prose=True)


def view_sections(anchor: Anchor, found: Explained, layout: Layout) -> Iterator[Section]:
    """Yield what was asked for beside the rest, in so far as it follows a part of the answer."""
    if found.views:
        from gradcli.render.views import sections_after  # few answers are asked for more

        yield from sections_after(anchor, found, layout)


def shape_lines(found: Explained) -> list[str]:
    """Return the program, and the shapes of what goes in and comes out; constants stand apart."""
    moved = [f"{name} {found.inputs[name].shape}" for name in found.differentiated if name in found.inputs]
    constant = [f"{name} {value.shape}" for name, value in found.inputs.items() if name not in found.differentiated]
    given = "" if found.v_source == "default" else f"     v {found.v.shape}"
    how = "" if found.v_source in ("given", "default") else f" {found.v_source}"
    program = found.program_lines
    is_expression = len(program) == 1 and ";" not in program[0] and not ASSIGNS.match(program[0])
    shown = [f"{found.name} = {program[0]}"] if is_expression else program
    if found.timeline is not None:
        shown = [found.timeline.title] if found.timeline.title else []
    shapes = f"{'  '.join(moved)}  →  {found.name} {found.output.shape}{given}{how}".strip()
    return [*shown, *([""] if shown else []), shapes, *([f"{'  '.join(constant)}  constant"] if constant else [])]
