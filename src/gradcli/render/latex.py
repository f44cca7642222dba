"""The answer in LaTeX: equations as mathematics, J beside v as an array, as a document or as its equations alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.document.model import (
    Cell,
    Derivative,
    Document,
    Equation,
    Equations,
    Events,
    Mark,
    Part,
    Prose,
    Settings,
    Side,
    Table,
)
from gradcli.document.numbers import array_text, short
from gradcli.errors import GradcliError
from gradcli.render.equations import equation_lines, side_text
from gradcli.render.grid import Drawn, Texts, fitted
from gradcli.render.mathematics import escaped, formula
from gradcli.render.wrap import wrapped

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.render.layout import Layout

MOST_ENTRIES = 12
"""Entries of a value that stand beside its formula."""
MOST_OF_J = 1_000_000
WIDTH = 100
"""Small typewriter letters in a line of the page, and what a formula has of signs that takes no more of it."""
MARKS = {
    Mark.ZERO: r"\cdot",
    Mark.ROW_GAP: r"\vdots",
    Mark.COLUMN_GAP: r"\cdots",
    Mark.ROUNDED: r"\approx 0",
    Mark.OPEN: "?",
}
WORDS = {Mark.ROW_GAP.value: r"\vdots", Mark.COLUMN_GAP.value: r"\cdots", "vᵀ·J": r"v^{\top} J"}
NOT_FINITE = {"nan": r"\text{nan}", "inf": r"\infty", "-inf": r"-\infty"}
DOCUMENT = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage{textcomp}
\usepackage{amsmath}
\usepackage[margin=2cm]{geometry}
\setlength{\parindent}{0pt}
\allowdisplaybreaks
\begin{document}
"""


def latex(document: Document, layout: Layout) -> str:
    """Return a whole LaTeX document that says what the tables say."""
    lines = []
    for section in document.sections:
        lines += [rf"\medskip\textbf{{{escaped(section.title)}}}"] if section.title else []
        lines += [piece for part in section.parts for piece in part_lines(part, document, layout)]
    body = "\n\n".join(lines)
    return f"{DOCUMENT}{body}\n\\end{{document}}"


def equations(document: Document, layout: Layout) -> str:
    """Return the equations of an answer alone, for a notebook."""
    parts = []
    for section in document.sections:
        for part in section.parts if section.name in ("gradient", "forward", "backward", "jacobian") else ():
            if isinstance(part, Equations):
                parts.append(aligned(part, document))
            elif isinstance(part, Table):
                pieces = fitted(part, document.settings, layout)
                parts += [array(piece, document) for piece in pieces if isinstance(piece, Drawn)]
    return "\n".join(f"$$\n{part}\n$$" for part in parts if part)


def refuse_numbers(answer: Explained) -> None:
    """Raise ``format`` where J has no formula, or more entries than anybody reads."""
    for variable, jacobian in answer.jacobian.items():
        rows, columns = jacobian.matrix_shape
        if rows * columns and not jacobian.rules and jacobian.formulas is None:
            message = f"LaTeX is for formulas, and d{answer.name}/d{variable} is {rows:,} by {columns:,} numbers alone"
            raise GradcliError("format", message, hint="-o answer.json holds the numbers")
        if rows * columns > MOST_OF_J:
            message = f"d{answer.name}/d{variable} has {rows:,} by {columns:,} entries, and LaTeX takes {MOST_OF_J:,}"
            raise GradcliError("format", message, hint="-o answer.json holds the numbers")


def part_lines(part: Part, document: Document, layout: Layout) -> Iterator[str]:
    """Yield the pieces of a part."""
    settings = document.settings
    if isinstance(part, Prose):
        yield from (escaped(" ".join(sentence.split())) for sentence in part.sentences)
    elif isinstance(part, Table):
        for piece in fitted(part, settings, layout):
            if isinstance(piece, Equations):
                yield from part_lines(piece, document, layout)
            elif isinstance(piece, Drawn):
                yield f"\\[\n{array(piece, document)}\n\\]"
                yield from (escaped(remark.text) for remark in piece.remarks)
            else:
                yield from typewriter([text for text, _ in piece.rows])
                yield from (escaped(remark.text) for remark in piece.remarks)
    elif isinstance(part, Equations):
        if is_wide(part):
            yield from typewriter(line.plain.rstrip() for line in equation_lines(part, settings, WIDTH))
        else:
            yield f"\\[\n{aligned(part, document)}\n\\]"
    elif isinstance(part, Events):
        from gradcli.render.events import event_lines  # a formula has none

        yield from typewriter(
            line.plain.rstrip().removeprefix(" ") for line in event_lines(part.timeline, settings, layout)
        )
    else:
        yield from typewriter(part.lines)


def is_wide(part: Equations) -> bool:
    """Return whether a formula is too long for one line of a page, where none is broken."""
    sides = [side_text(side).plain for row in part.rows if isinstance(row, Equation) for side in row.sides]
    return any(len(side) > WIDTH for side in sides)


def typewriter(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines in typewriter letters, each blank kept."""
    for line in lines:
        for piece in wrapped(line, WIDTH, 4) if line.strip() else []:
            yield rf"{{\small\ttfamily {escaped(piece).replace(' ', '~')}\par}}"


def aligned(part: Equations, document: Document) -> str:
    """Return equations, their signs under each other."""
    lines = [
        equation(row, document) if isinstance(row, Equation) else rf"&\;\;\text{{{escaped(row.strip())}}}"
        for row in part.rows
    ]
    inner = " \\\\\n".join(lines)
    return f"\\begin{{aligned}}\n{inner}\n\\end{{aligned}}" if inner else ""


def equation(row: Equation, document: Document) -> str:
    """Return one equation."""
    rule = rf"\text{{{escaped(row.rule)}}}\quad " if row.rule else ""
    sides = [side(one, document.axes) for one in row.sides]
    near = r"\approx" if row.near else "="
    value = ""
    if row.value is not None and (np.size(row.value) <= MOST_ENTRIES or not sides):
        whole = rf"\quad {left(row.whole, document.axes)}" if row.whole else ""
        value = f"{whole} {near} {number(row.value, document.settings)}"
    remark = rf"\quad\text{{{escaped(row.remark)}}}" if row.remark else ""
    right = " = ".join(sides) + (value if sides else value.strip().removeprefix(near).strip())
    return f"{rule}{left(row.left, document.axes)} &{near if not sides else '='} {right}{remark}"


def left(side: str | Derivative, axes: Mapping[str, int]) -> str:
    """Return the left side: a name, or a derivative as a fraction."""
    if isinstance(side, str):
        return WORDS.get(side) or (formula(side, axes) if side.isascii() else rf"\text{{{escaped(side)}}}")
    power = "" if len(side.by) == 1 else "^2"
    below = r"\,".join(rf"\partial {in_brackets(name, axes)}" for name in side.by)
    return rf"\frac{{\partial{power} {in_brackets(side.of, axes)}}}{{{below}}}"


def in_brackets(text: str, axes: Mapping[str, int]) -> str:
    """Return what stands after a sign of a derivative, with the parentheses that it has."""
    inside = formula(text, axes)
    return rf"\left({inside}\right)" if text.startswith("(") else inside


def side(one: Side, axes: Mapping[str, int]) -> str:
    """Return a side of an equation."""
    if isinstance(one, str):
        return formula(one, axes) if one.isascii() else rf"\text{{{escaped(one)}}}"
    return " + ".join(r" \cdot ".join(map(word, term.text.split("·"))) for term in one)


def word(text: str) -> str:
    """Return a number or a short formula in a sum."""
    return WORDS.get(text) or (formula(text) if text.isascii() and "  " not in text else rf"\text{{{escaped(text)}}}")


def number(value: Any, settings: Settings) -> str:
    """Return numbers as mathematics: a column, a matrix, or one line of more."""
    numbers = np.asarray(value, dtype=np.float64)
    if numbers.ndim == 0:
        return digits(float(numbers), settings)
    if numbers.ndim > 2 or numbers.size > MOST_ENTRIES or not numbers.size:
        return rf"\text{{{escaped(array_text(numbers, settings.precision))}}}"
    rows = numbers.reshape(numbers.shape[0], -1)
    inner = r" \\ ".join(" & ".join(digits(entry, settings) for entry in row) for row in rows.tolist())
    return rf"\begin{{pmatrix}} {inner} \end{{pmatrix}}"


def digits(value: float, settings: Settings) -> str:
    """Return one number."""
    text = short(value, settings.precision)
    return NOT_FINITE.get(text) or formula(text)


def array(table: Drawn, document: Document) -> str:
    """Return a table as an array, with its bars and rules."""
    columns = [column for block in table.blocks for column in block]
    bars = "|".join("".join("r" if column.numbers else "l" for column in block) for block in table.blocks)
    head = " & ".join(["", *(word(column.heading) if column.heading else "" for column in columns)])
    lines = [f"\\begin{{array}}{{r{bars}}}", *([head + r" \\"] if head.strip(" &") else [])]
    for k, label in enumerate(table.labels):
        rule = r"\hline " if k in table.ruled else ""
        cells = [cell(column, k, document) for column in columns]
        lines.append(rule + " & ".join([word(label) if label else "", *cells]) + r" \\")
    return "\n".join([*lines, r"\end{array}"])


def cell(column: Texts, k: int, document: Document) -> str:
    """Return what stands in a cell: a number, a formula with its number, a text, or a mark."""
    source: Cell = column.source[k]
    if source.text:
        return rf"\text{{{escaped(source.text)}}}"
    before = f"{formula(source.formula, document.axes)} " if column.formulas and source.formula else ""
    if source.mark is not Mark.NONE:
        return before + MARKS[source.mark]
    if source.value is None:
        return ""
    return (f"{before}= " if before else "") + number(source.value, document.settings)
