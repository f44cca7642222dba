"""The sections of J: a table by each variable, v on its left, below it vᵀ·J and the gradient that reverse mode left.

Of one output and v = 1 the numbers of J's one row are the gradient, which stands above: only formulas are left to say.
H is a Jacobian too, and its tables are made here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.document.model import (
    Cell,
    Column,
    Derivative,
    Equation,
    Equations,
    Listing,
    Mark,
    Part,
    Prose,
    Remark,
    Section,
    Settings,
    Table,
)
from gradcli.document.passes import shown_events
from gradcli.document.texts import ends, number_in, short
from gradcli.document.verdicts import verdict
from gradcli.engine.naming import place_text
from gradcli.errors.hints import counted
from gradcli.explanation.parts import Value
from gradcli.explanation.rereading import NAME
from gradcli.records import replace

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.explanation.jacobians import Jacobian
    from gradcli.ops.links import Mask

MOST_ROWS = 12
"""Rows up to which all are shown; beyond, the first and last three."""
MOST_COLUMNS = 60
"""Columns up to which all are shown; a voice leaves out those in the middle that it has no room for."""
MOST_FORMULAS = 8
MOST_RULES = 12
LONG_FORMULA = 40
"""Characters of a formula or rule beyond which the names of the backward pass say it instead."""
LONG_ENTRY = 24
"""Characters of an entry's formula from which the one for the whole array is shown, where it is there."""
LONGEST_RULE = 72
"""Characters of a formula for a whole array that is shown."""
LARGEST = 3
"""Entries of vᵀ·J that are named where there are many."""
MOST_SPELLED = 64
"""Entries of a gradient up to which all are written."""
MOST_COUNTED = 16
"""Rows and columns up to which entries are seen without a picture."""
MOST_BRIEF, LONGEST_BRIEF = 2, 60
"""Formulas, and characters of each, that are worth a look beside the lines of Backward."""
UNSAID = "Its entries have many or long formulas: --json has them, and Backward has the steps that they are made of."
MOST_HELPERS = 3
"""Names that formulas use beyond the program's, up to which formulas are shown with them."""
LONGEST_HELPER = 70
"""Characters of what such a name stands for."""
MOST_BESIDE_STEPS, LONGEST_BESIDE_STEPS = 4, 160
"""Formulas of J, and characters of each, that are shown where the lines of Backward say the same in steps."""

Rows = list[Equation | str]


def is_one_row(answer: Explained) -> bool:
    """Return whether the numbers of J are those of the gradient: one output, and v is 1."""
    return answer.output.size == 1 and len(answer.counted) == 1 and answer.seed.size == 1 and answer.seed.item() == 1


def jacobian_sections(answer: Explained, settings: Settings, asks: bool = False) -> Iterator[Section]:
    """Yield the tables of all variables; ``asks`` leaves v open, and what is below J."""
    groups = groups_of(answer)
    if not groups:
        by = ", ".join(answer.jacobian)
        yield Section("jacobian", f"J = ∂{answer.name}/∂{by if len(answer.jacobian) == 1 else f'({by})'}    no entries")
        return
    if not is_one_row(answer) or asks:
        for names in groups:
            parts = group_parts(answer, names, settings, asks, names is groups[-1] and not asks)
            yield Section("jacobian", heading(answer, names, settings), tuple(parts))
        return
    has_names = any(value.role == "inner" for value in answer.values)
    if has_names and not settings.full and answer.timeline is not None:
        return
    rows = [row for name in answer.jacobian for row in one_row_formulas(answer, name, settings)]
    rows = beside_steps(answer, rows, settings)
    helpers = helpers_of(answer, sides_of(rows), settings)
    rows = [unsaid(answer)] if helpers is None else [*helpers, *rows]
    if settings.full or not has_names or is_brief(rows):
        yield Section("jacobian", heading(answer, groups[0], settings), (Equations(tuple(rows)),))


def is_brief(rows: Rows) -> bool:
    """Return whether these are few formulas, each short and in the program's own names."""
    brief = all(isinstance(row, Equation) and isinstance(row.left, Derivative) for row in rows)
    return brief and 0 < len(rows) <= MOST_BRIEF and all(len(text) <= LONGEST_BRIEF for text in sides_of(rows))


def sides_of(rows: Sequence[Equation | str]) -> list[str]:
    """Return the formulas of equations."""
    return [str(side) for row in rows if isinstance(row, Equation) for side in row.sides]


def groups_of(answer: Explained) -> list[list[str]]:
    """Return which variables share tables: all of them where y has one entry, otherwise those with one column."""
    names = [name for name, jacobian in answer.jacobian.items() if jacobian.matrix_shape[1]]
    if answer.output.size == 1:
        return [names] if names else []
    single = [name for name in names if answer.jacobian[name].matrix_shape[1] == 1]
    groups = [single if name in single else [name] for name in names]
    return [group for k, group in enumerate(groups) if group not in groups[:k]]


def one_row_formulas(answer: Explained, name: str, settings: Settings) -> Rows:
    """Return the formulas of a J of one row: of the whole array where entries are long, else one of each entry.

    ``∂loss/∂z = softmax(z) - one_hot(t, 3)`` is the line of the backward pass, for a v of 1.
    """
    jacobian, named = answer.jacobian[name], answer.definitions.keys() - {value.name for value in answer.values}
    if not np.size(jacobian.values) and jacobian.matrix_shape[1]:
        return [Equation(Derivative(answer.name, (name,)), (), np.zeros(jacobian.input_shape))]
    texts = jacobian.formulas
    long = texts is None or any(len(text) > LONG_ENTRY or not named.isdisjoint(NAME.findall(text)) for text in texts)
    rule = answer.backward_pass.input_rule(name) if long and jacobian.input_shape and not settings.full else None
    if rule is not None and rule.text is not None and ".grad" not in rule.text and len(rule.text) <= LONGEST_RULE:
        return [Equation(Derivative(answer.name, (name,)), (rule.text,))]
    return formula_rows(answer, name, settings, numbers=True)


def group_parts(answer: Explained, names: Sequence[str], settings: Settings, asks: bool, last: bool) -> Iterator[Part]:
    """Yield the table of variables that share it, and what is to be seen of those that are large."""
    for name in names:
        yield from overview(answer, name, settings, asks)
    table = table_of(answer, names, settings, asks, last)
    cells = [cell.formula for block in table.blocks for column in block for cell in column.cells]
    helpers = helpers_of(answer, cells + [text for rows in table.otherwise for text in sides_of(rows)], settings)
    if helpers is None:
        blocks = tuple(map(without_formulas, table.blocks))
        otherwise = ((unsaid(answer),), *((),) * (len(table.otherwise) - 1))
        table = replace(table, blocks=blocks, otherwise=otherwise)
    elif helpers:
        yield Equations(tuple(helpers))
    yield table


def unsaid(answer: Explained) -> str:
    """Return what stands in the place of long formulas; Backward has steps only where it is there."""
    return UNSAID if answer.has_steps and answer.rules else "Its entries have many or long formulas: --json has them."


def helpers_of(answer: Explained, formulas: Sequence[str], settings: Settings) -> list[Equation] | None:
    """Return the names that formulas use and Forward does not have, None where they are too many or too long."""
    if not answer.definitions:
        return []
    shown = {event.name for event in shown_events(answer.forward) if isinstance(event, Value) and event.text}
    shown |= {*answer.inputs, answer.name, *(rule.name for rule in answer.rules if rule.made and answer.has_steps)}
    wanted = [word for text in formulas for word in NAME.findall(text)]
    names: list[str] = []
    while wanted:
        word = wanted.pop()
        if word in answer.definitions and word not in shown:
            shown.add(word)
            names.append(word)
            wanted += NAME.findall(answer.definitions[word])
    values = answer.definition_values if names else {}
    ordered = {name: text for name, text in answer.definitions.items() if name in names}
    long = len(ordered) > MOST_HELPERS or any(len(text) > LONGEST_HELPER for text in ordered.values())
    if long and not settings.full:
        return None
    return [Equation(name, (text,), values.get(name)) for name, text in ordered.items()]


def without_formulas(block: tuple[Column, ...]) -> tuple[Column, ...]:
    """Return columns with numbers alone."""
    return tuple(replace(column, cells=tuple(replace(cell, formula="") for cell in column.cells)) for column in block)


def table_of(answer: Explained, names: Sequence[str], settings: Settings, asks: bool, last: bool) -> Table:
    """Return the table of variables: v, a bar, the columns of each variable; ``last`` puts the verdict beside it."""
    shape, count = answer.output.shape, answer.output.size
    rows = ends(count, count if count <= settings.most(MOST_ROWS) else 6)
    # An output may be called grad: no two rows have one label.
    grad = f"{names[0]}.grad" if len(names) == 1 else ".grad" if answer.name == "grad" else "grad"
    sums = [] if asks else ["vᵀ·J", grad]
    labels = (*(Mark.ROW_GAP.value if i is None else f"{answer.name}{place_text(i, shape)}" for i in rows), *sums)
    blocks: list[tuple[Column, ...]] = []
    otherwise: list[tuple[Equation | str, ...]] = []
    for k, name in enumerate(names):
        formulas = beside_steps(answer, formula_rows(answer, name, settings), settings)
        columns = columns_of(answer, name, rows, settings, asks)
        columns = without_formulas(columns) if UNSAID in formulas else columns
        beside = k > 0 and answer.jacobian[names[k - 1]].input_shape == answer.jacobian[name].input_shape == ()
        blocks[-1:] = [(*blocks[-1], *columns)] if beside else [*blocks[-1:], columns]
        otherwise[-1:] = [(*otherwise[-1], *formulas)] if beside else [*otherwise[-1:], tuple(formulas)]
    tones = tuple(i if i is not None and count > 1 else "" for i in rows) + ("", "total")[: len(sums)]
    says, tone = verdict(answer)
    remarks = (*legend(answer, rows, blocks), *([Remark(len(labels) - 1, says, tone)] if last else []))
    ruled = (0, len(rows)) if sums and count > 1 else (0,)
    seed = np.ravel(answer.seed)
    cells = [
        Cell(mark=Mark.ROW_GAP) if i is None else Cell(mark=Mark.OPEN) if asks else Cell(float(seed[i])) for i in rows
    ]
    v = Column("v, total" if len(answer.counted) > 1 else "v", (*cells, *[Cell()] * len(sums)))
    return Table(labels, ((v,), *blocks), tones, ruled, remarks, tuple(otherwise))


def columns_of(
    answer: Explained, name: str, rows: Sequence[int | None], settings: Settings, asks: bool
) -> tuple[Column, ...]:
    """Return the columns of a variable: its entries of J, and below them vᵀ·J and the gradient."""
    jacobian, dust = answer.jacobian[name], answer.dust[name]
    places = ends(jacobian.matrix_shape[1], settings.most(MOST_COLUMNS))
    columns = matrix_columns(name, jacobian, rows, places, dust.entries)
    below = [] if asks else [(answer.vjp[name], dust.vjp), (answer.grad[name], dust.grad)]
    flat = [(np.ravel(numbers), np.ravel(lost)) for numbers, lost in below]
    return tuple(
        replace(
            column,
            cells=(
                *column.cells,
                *(
                    Cell(mark=Mark.COLUMN_GAP)
                    if j is None
                    else Cell(float(numbers[j]), mark=Mark.ROUNDED if lost[j] else Mark.NONE)
                    for numbers, lost in flat
                ),
            ),
        )
        for j, column in zip(places, columns, strict=True)
    )


def matrix_columns(
    name: str, matrix: Jacobian, rows: Sequence[int | None], places: Sequence[int | None], dust: Mask | None = None
) -> tuple[Column, ...]:
    """Return the entries of a matrix in these rows and columns; None marks those that are left out."""
    cells = entry_cells(matrix, [i for i in rows if i is not None], [j for j in places if j is not None], dust)
    gap = Cell(mark=Mark.ROW_GAP)
    return tuple(
        Column(
            "" if j is None else f"{name}{place_text(j, matrix.input_shape)}",
            tuple(gap if i is None else Cell(mark=Mark.COLUMN_GAP) if j is None else cells[i, j] for i in rows),
        )
        for j in places
    )


def entry_cells(
    matrix: Jacobian, rows: Sequence[int], places: Sequence[int], dust: Mask | None
) -> dict[tuple[int, int], Cell]:
    """Return the cells of rows and columns by their place, each with its formula, unless that is a number."""
    cells: dict[tuple[int, int], Cell] = {}
    for row in rows:
        if not matrix.held:
            flat = np.ravel(matrix.row(row))
            cells |= {(row, column): Cell(float(flat[column])) for column in places}
            continue
        cells |= {(row, column): Cell(mark=Mark.ZERO) for column in places}
        # Entries stand in order of row and column: those of a few are found without a look at the others.
        start, stop = np.searchsorted(matrix.rows, [row, row + 1]).tolist()
        filled = matrix.columns[start:stop]
        for column, place in zip(places, np.searchsorted(filled, places).tolist(), strict=True):
            if place < len(filled) and filled[place] == column:
                k = start + place
                text = matrix.formulas[k] if matrix.formulas is not None else ""
                mark = Mark.ROUNDED if dust is not None and dust[k] else Mark.NONE
                formula = text if number_in(text) is None else ""
                cells[row, column] = Cell(float(matrix.values[k]), formula, mark)
    return cells


def legend(answer: Explained, rows: Sequence[int | None], blocks: Sequence[Sequence[Column]]) -> tuple[Remark, ...]:
    """Return what ``·`` means, told apart from a 0 where a table has both.

    Where values choose what is used, as ``max`` and branches do, a path may lead there from another point.
    """
    cells = [(k, column.cells[k]) for k, i in enumerate(rows) if i is not None for block in blocks for column in block]
    empty = [k for k, cell in cells if cell.mark is Mark.ZERO]
    if not empty:
        return ()
    says, beside = "this output does not use it", "0 is a slope of 0 here"
    if answer.by_choice:
        says, beside = "not used at this point", "0 is used with slope 0"
    both = any(cell.mark is Mark.NONE and cell.value == 0 for _, cell in cells)
    return (Remark(empty[0], f"{says}; {beside}" if both else says, needed=both, mark=Mark.ZERO),)


def heading(answer: Explained, names: Sequence[str], settings: Settings) -> str:
    """Return the line above a table: what J is by, its size, its structure."""
    by = names[0] if len(names) == 1 else f"({', '.join(names)})"
    return f"J = ∂{answer.name}/∂{by}    {size_text(answer, names, settings)}".rstrip()


def size_text(answer: Explained, names: Sequence[str], settings: Settings) -> str:
    """Return the size of J, and what is to be said of its entries; nothing for one row that is all there."""
    jacobians = [answer.jacobian[name] for name in names]
    widths = [jacobian.matrix_shape[1] for jacobian in jacobians]
    rows, columns = answer.output.size, sum(widths)
    whole = rows <= settings.most(MOST_ROWS) and max(widths) <= settings.most(MOST_COLUMNS)
    if rows == 1 and (whole or len(jacobians) > 1):
        return ""
    if not all(jacobian.held for jacobian in jacobians):
        return f"{rows}×{columns}, its entries are not held"
    [first, *others] = jacobians
    structure = "dense" if others else first.structure
    if whole and structure in ("dense", "sparse"):
        return f"{rows}×{columns}, a row for each output{', a column for each input' if columns > 1 else ''}"
    entries = "" if structure == "dense" else f", {len(first.rows):,} of {counted(rows * columns, 'entry')}"
    passes = first.passes if not others and rows > 1 and len(first.rows) else None
    enough = "" if passes is None or passes >= rows else f", all rows in {counted(passes, 'call')} of backward"
    return f"{rows}×{columns} {structure}{entries}{enough}"


def overview(answer: Explained, name: str, settings: Settings, asks: bool) -> Iterator[Part]:
    """Yield what is to be seen of a large J: its largest gradients, and where its entries are."""
    jacobian = answer.jacobian[name]
    if not asks and jacobian.matrix_shape[1] > settings.most(MOST_SPELLED):
        yield from largest(answer, name, settings)
    if max(jacobian.matrix_shape) > MOST_COUNTED and (dots := spy_lines(jacobian)):
        yield Listing(tuple(dots))


def largest(answer: Explained, name: str, settings: Settings) -> Iterator[Prose]:
    """Yield the largest entries of vᵀ·J, where they differ; what rounding has left of 0 is not among them."""
    flat = np.where(answer.dust[name].vjp, 0.0, answer.vjp[name]).ravel()
    size = np.abs(flat)
    if not np.all(np.isfinite(flat)):
        return
    first = np.argpartition(-size, LARGEST)[: LARGEST + 1]
    chosen = [int(j) for j in first[np.argsort(-size[first], kind="stable")][:LARGEST]]
    if size[chosen[0]] == size[chosen[-1]]:
        return
    shape = answer.jacobian[name].input_shape
    terms = [f"{name}{place_text(j, shape)} {short(flat[j], settings.precision)}" for j in chosen if flat[j]]
    yield Prose((f"largest of vᵀ·J: {', '.join(terms)}",))


def formula_rows(answer: Explained, name: str, settings: Settings, numbers: bool = False) -> Rows:
    """Return the formulas of J by a variable: rules, or one of each entry; ``numbers`` adds the entry's value.

    An entry goes by the names of the backward pass where its number is an entry of the gradient, as v is 1, and its
    own formula is long.
    """
    jacobian = answer.jacobian[name]
    is_gradient = not answer.output.shape and answer.seed.item() == 1 and answer.has_steps
    by_name = answer.backward_pass.entry(name) if is_gradient else None
    texts = jacobian.rules or jacobian.formulas or []
    if by_name and any(len(text) > LONG_FORMULA for text in texts):
        letters = "ijkl"[: len(jacobian.input_shape)]
        return [Equation(Derivative(answer.name, (indexed(name, letters),)), (by_name,))]
    if jacobian.formulas is None or (jacobian.rules and not numbers):
        return limited(rule_rows(jacobian), settings.most(MOST_RULES), "rule")
    return matrix_formulas(answer.name, (name,), jacobian, settings, answer.dust[name].entries if numbers else None)


def beside_steps(answer: Explained, rows: Rows, settings: Settings) -> Rows:
    """Return formulas as they are, or, where they are many or long and Backward has their steps, that it has."""
    if settings.full or not answer.has_steps:
        return rows
    short_enough = all(len(text) <= LONGEST_BESIDE_STEPS for text in sides_of(rows))
    return rows if len(rows) <= MOST_BESIDE_STEPS and short_enough else [UNSAID]


def rule_rows(matrix: Jacobian) -> Rows:
    """Return the index rules of a matrix as equations, or as words where there is no formula."""
    rows: Rows = []
    for rule in matrix.index_rules:
        left = Derivative(indexed(rule.above, rule.rows), (indexed(rule.below, rule.columns),))
        remark = fixed_text(rule.fixed)
        if rule.words:
            rows.append(f"{left}{remark and f' {remark}'}: {rule.words}")
            continue
        products = [
            " @ ".join(f"{Derivative(one.above, (one.below,))} {fixed_text(one.fixed)}".rstrip() for one in path)
            for path in rule.paths
        ]
        rows.append(Equation(left, (" + ".join(products) or rule.formula,), remark=remark))
    return rows


def fixed_text(names: Sequence[str]) -> str:
    """Return what stays as it is while a value moves."""
    return f"({', '.join(names)} fixed)" if names else ""


def matrix_formulas(
    of: str, by: tuple[str, ...], matrix: Jacobian, settings: Settings, dust: Mask | None = None
) -> Rows:
    """Return a formula for each entry that has more than a number; of H, whose rows are inputs too, by two names.

    With the ``dust`` that rounding leaves each has its number, and those that are one have a line.
    """
    rows: Rows = []
    formulas = matrix.formulas or []
    worth = [k for k, text in enumerate(formulas) if dust is not None or number_in(text) is None]
    most = settings.most(MOST_FORMULAS)
    for k in worth[: most + 1]:
        row = place_text(int(matrix.rows[k]), matrix.output_shape)
        column = place_text(int(matrix.columns[k]), matrix.input_shape)
        left = Derivative(of + row, (by[0] + column,))
        if len(by) > 1:
            left = Derivative(of, (by[0] + row, by[1] + column))
        if dust is None:
            rows.append(Equation(left, (formulas[k],)))
        else:
            sides = () if number_in(formulas[k]) is not None else (formulas[k],)
            rows.append(Equation(left, sides, 0.0 if dust[k] else float(matrix.values[k]), near=bool(dust[k])))
    return limited(rows, most, "entry", len(worth))


def limited(rows: Rows, most: int, noun: str, count: int | None = None) -> Rows:
    """Return rows, and how many are left out where there are more than fit; a last one is never hidden by that."""
    count = len(rows) if count is None else count
    return rows if count <= most + 1 else [*rows[:most], f"and {counted(count - most, f'more {noun}')}, in --json"]


def indexed(name: str, indices: Sequence[Any]) -> str:
    """Return ``name[i,j]``, and the name alone for a scalar."""
    return f"{name}[{','.join(map(str, indices))}]" if len(indices) else name


WIDEST, HIGHEST = 40, 12
"""Characters of a picture, each two dots wide and four high."""
WORTH_A_LOOK = {"sparse", "banded", "block-diagonal", "permutation"}
"""Structures whose word leaves open where the entries are."""
BRAILLE = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
"""The bit of each dot of a braille character, by row and column."""


def spy_lines(jacobian: Jacobian) -> list[str]:
    """Return the picture, none for a structure that a word says whole; a dot is an entry that can be non-zero."""
    if jacobian.structure not in WORTH_A_LOOK:
        return []
    rows, columns = jacobian.matrix_shape
    high, wide = min(rows, 4 * HIGHEST), min(columns, 2 * WIDEST)
    dots = np.zeros((-(-high // 4) * 4, -(-wide // 2) * 2), dtype=bool)
    dots[jacobian.rows * high // rows, jacobian.columns * wide // columns] = True
    cells = dots.reshape(dots.shape[0] // 4, 4, dots.shape[1] // 2, 2).swapaxes(1, 2)
    return ["".join(map(chr, line)).rstrip("\u2800") for line in 0x2800 + (cells * BRAILLE).sum(axis=(2, 3))]
