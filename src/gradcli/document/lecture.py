"""An answer as a lecture shows it: part by part, numbers after they were asked for; and the table alone for a slide."""

from __future__ import annotations

from gradcli.document.model import Cell, Column, Document, Equation, Equations, Mark, Part, Prose, Section, Table
from gradcli.records import replace

ASKED = {"gradient", "backward", "jacobian"}
"""Sections whose numbers are asked for before they are shown."""


def steps_of(document: Document) -> list[Document]:
    """Return what each step of a lecture adds to those before it.

    The program asks for the gradient, which stands below the last section that leads to it; of J and of Backward the
    formulas come first, with ``?`` in the place of numbers.
    """
    gradient = document.section("gradient")
    leading = [section for section in document.sections if section.name in ASKED and section is not gradient]
    steps: list[tuple[Section, ...]] = []
    for section in document.sections:
        if section is gradient:
            steps[-1:] = [(*(steps[-1] if steps else ()), hidden(section))]
        elif section in leading:
            steps += [(hidden(section),), (section,)]
        else:
            steps.append((section,))
        if gradient is not None and section is (leading[-1] if leading else gradient):
            steps.append((gradient,))
    return [replace(document, sections=step) for step in steps]


def hidden(section: Section) -> Section:
    """Return a section with ``?`` for each number that there is to find, and without what is said of them."""
    return replace(section, parts=tuple(hidden_part(part) for part in section.parts if not isinstance(part, Prose)))


def hidden_part(part: Part) -> Part:
    """Return a table without the entries of J and what follows from them, or equations without their values."""
    if isinstance(part, Table):
        blocks = (part.blocks[0], *(tuple(map(hidden_column, block)) for block in part.blocks[1:]))
        return replace(part, blocks=blocks, remarks=tuple(remark for remark in part.remarks if not remark.tone))
    if isinstance(part, Equations):
        return replace(part, rows=tuple(row if isinstance(row, str) else hidden_row(row) for row in part.rows))
    return part


def hidden_column(column: Column) -> Column:
    """Return a column with ``?`` for its numbers; where there is no path stays, and what is left out."""
    return replace(column, cells=tuple(hidden_cell(cell) for cell in column.cells))


def hidden_cell(cell: Cell) -> Cell:
    """Return a cell with ``?`` for its number, beside its formula."""
    return cell if cell.value is None else Cell(mark=Mark.OPEN, formula=cell.formula)


def hidden_row(row: Equation) -> Equation:
    """Return an equation with ``?`` for its value, and without the numbers that are put into its formula."""
    return row if row.value is None else replace(row, sides=(*row.sides[:1], "?"), value=None, near=False)


def figure_of(document: Document) -> Document:
    """Return the tables of J alone; of an answer without one the gradient, and how it is found."""
    tables = tuple(section for section in document.sections if has_table(section))
    how = "backward" if document.section("backward") else "jacobian"
    others = tuple(section for section in document.sections if section.name in ("gradient", how))
    return replace(document, sections=tables or others)


def has_table(section: Section) -> bool:
    """Return whether a section is one of J with a table."""
    return section.name == "jacobian" and any(isinstance(part, Table) for part in section.parts)
