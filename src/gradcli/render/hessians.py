"""The second derivative: the formulas of the gradient, H in a table for each pair of variables, and H·u."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from rich.text import Text

from gradcli.engine.naming import place_text
from gradcli.errors.counting import counted
from gradcli.render.effects import free_letter
from gradcli.render.entries import is_number
from gradcli.render.equalities import with_true_formulas
from gradcli.render.grid import Column, Table, table_lines
from gradcli.render.numbers import ends, short
from gradcli.render.passes import proof_text, shown
from gradcli.render.wrap import fold, plain_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcli.explanation.explained import Explained
    from gradcli.explanation.jacobians import Jacobian
    from gradcli.explanation.views import Hessian
    from gradcli.render.glyphs import Layout

MOST_ROWS = 8
"""Rows of H that are shown; of more the first and the last."""
MOST_COLUMNS = 12
MOST_GRADIENTS = 8
"""Formulas of the gradient that are shown."""
RULE = re.compile(r"d\w+\[([^\]]*)\]/d\w+\[([^\]]*)\] = (.*)", re.DOTALL)
DERIVATIVE = re.compile(r"\bd\w+(\[[^\]]*\])?/d\w+")


def true_hessian(found: Explained, hessian: Hessian) -> Hessian:
    """Return H with formulas that equal the numbers beside them."""
    gradient = replace(
        found, name=hessian.name, output=hessian.value, output_formulas=hessian.formulas,
        definitions=hessian.definitions, jacobian=hessian.whole, lookup=hessian.lookup,
    )  # fmt: skip
    told = with_true_formulas(gradient)
    return replace(hessian, formulas=told.output_formulas, definitions=told.definitions, whole=told.jacobian)


def scalar_name(found: Explained) -> str:
    """Return what is differentiated twice: y, or L = v·y where that is another number."""
    return found.name if found.output.size == 1 and found.seed.item() == 1 else free_letter(found)


def hessian_lines(found: Explained, hessian: Hessian, layout: Layout) -> list[Text | str]:
    """Return the gradient's formulas, the blocks of H, and H·u."""
    hessian = true_hessian(found, hessian)
    name, glyphs = scalar_name(found), layout.glyphs
    lines: list[Text | str] = []
    if name != found.name:
        lines.append(f"{name} = v{glyphs.times}{found.name}")
    blocks = hessian.blocks
    if all(block.held and not np.any(block.values) and not len(block.rows) for block in blocks.values()):
        lines.append(f"H = 0: {why_zero(hessian)}.")
        return [*lines, *product_lines(hessian, layout), proof_text(hessian.proof, layout)]
    lines += gradient_lines(hessian, name, layout)
    shown_blocks = {pair: block for pair, block in blocks.items() if is_first(pair, hessian) or not hessian.symmetric}
    for pair, block in shown_blocks.items():
        lines += block_lines(hessian, name, pair, block, layout)
    if len(shown_blocks) < len(blocks):
        lines += ["", "The other blocks are the transposes of these: H is symmetric."]
    elif hessian.symmetric is False:
        lines += ["", "H is not symmetric here: the derivatives that it is made of are taken by convention."]
    lines += [f"{one} = {text}" for one, text in new_definitions(found, hessian).items()]
    return [*lines, *product_lines(hessian, layout), proof_text(hessian.proof, layout)]


def why_zero(hessian: Hessian) -> str:
    """Return why all of H is 0."""
    if any(remark.kind == "kink" for remark in hessian.proof.remarks):
        return "that of the piece on which the first derivative is taken"
    return f"the gradient does not depend on {' and '.join(hessian.whole)} here; a linear function has no other H"


def is_first(pair: tuple[str, str], hessian: Hessian) -> bool:
    """Return whether a block stands on or above the diagonal."""
    names = list(hessian.whole)
    return names.index(pair[0]) <= names.index(pair[1])


def new_definitions(found: Explained, hessian: Hessian) -> dict[str, str]:
    """Return the names that H alone uses where it is written by formulas: those of the program stand in Forward."""
    if hessian.formulas is None:
        return {}
    told = {value.name for value in found.values} | found.definitions.keys()
    return {name: text for name, text in hessian.definitions.items() if name not in told}


def gradient_lines(hessian: Hessian, name: str, layout: Layout) -> list[str]:
    """Return the formulas of the gradient, whose Jacobian H is."""
    gradient, d = hessian.gradient, layout.glyphs.partial
    if gradient is None:
        return []
    lines = [
        f"{d}{name}/{d}{one}{place_text(k, hessian.whole[one].input_shape)} = {text}"
        for one, texts in gradient.items()
        for k, text in enumerate(texts)
    ]
    most = layout.most(MOST_GRADIENTS)
    rest = [f"and {counted(len(lines) - most, 'more entry')}, in --json"] if len(lines) > most + 1 else []
    return [*(lines[:most] if rest else lines), *rest]


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
        lines += entry_lines(block, name, pair, layout)
    return [*lines, *(line for table in tables for line in table_lines(table, width_of(layout), layout.glyphs))]


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


def entry_lines(block: Jacobian, name: str, pair: tuple[str, str], layout: Layout) -> list[str]:
    """Return the formulas of entries that a table has no room for."""
    assert block.formulas is not None  # noqa: S101
    d, two = layout.glyphs.partial, "²" if layout.glyphs.unicode else "2"
    worth = [k for k, text in enumerate(block.formulas) if not is_number(text)]
    most = layout.most(MOST_GRADIENTS)
    lines = [
        f"{d}{two}{name}/{d}{pair[0]}{place_text(int(block.rows[k]), block.output_shape)}"
        f"{d}{pair[1]}{place_text(int(block.columns[k]), block.input_shape)} = {block.formulas[k]}"
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


def product_lines(hessian: Hessian, layout: Layout) -> list[str]:
    """Return H·u by each variable, nothing without a u."""
    if hessian.product is None or hessian.u is None:
        return []
    times = layout.glyphs.times
    several = len(hessian.product) > 1
    lines = [
        f"u{f' of {name}' if several else ''} = {shown(hessian.u[name], layout)}   "
        f"H{times}u{f' of {name}' if several else ''} = {shown(product, layout)}"
        for name, product in hessian.product.items()
    ]
    return ["", *lines]
