"""The answer in LaTeX: what ran and the backward pass as equations, J beside v as an array."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from gradcli.errors import GradcliError
from gradcli.explanation.events import Value
from gradcli.render.backward import shortened
from gradcli.render.blocks import Block, blocks
from gradcli.render.entries import is_number
from gradcli.render.forward import shown_events
from gradcli.render.grid import Table
from gradcli.render.labels import with_escaped_labels
from gradcli.render.mathematics import escaped, formula, name
from gradcli.render.numbers import array_text, short
from gradcli.render.wrap import fold

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.ops.signatures import Array
    from gradcli.render.glyphs import Layout

MOST_ENTRIES = 12
"""Entries of a value that stand beside its formula."""
MOST_OF_J = 1_000_000
WIDTH = 100
"""Small typewriter letters in a line of the page, and what a formula has of signs that takes no more of it."""
PARTIAL = re.compile(r"∂([A-Za-z_]\w*(?:\[[^\]]*\])?)/∂([A-Za-z_]\w*(?:\[[^\]]*\])?) = (.*)")
SIGNS = {"·": r"\cdot", "⋮": r"\vdots", "…": r"\cdots", "≈0": r"\approx 0", "vᵀ·J": r"v^{\top} J", "?": "?"}
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


def latex(found: Explained, layout: Layout) -> str:
    """Return a whole document that says what the tables say; raises ``format`` for numbers alone."""
    refuse_numbers(found)
    body = "\n\n".join(section for block in blocks(found, layout) for section in sections(found, block, layout))
    return with_escaped_labels(f"{DOCUMENT}{body}\n\\end{{document}}", found.labels)


def equations(found: Explained, layout: Layout) -> str:
    """Return the equations of an answer alone, for a notebook; raises ``format`` for numbers alone."""
    refuse_numbers(found)
    tables = [part for block in blocks(found, layout) for part in block.parts if isinstance(part, Table)]
    parts = [forward_equations(found, layout), backward_equations(found, layout), *map(array, tables)]
    return with_escaped_labels("\n".join(f"$$\n{part}\n$$" for part in parts if part), found.labels)


def refuse_numbers(found: Explained) -> None:
    """Raise ``format`` where J has no formula, or more entries than anybody reads."""
    for variable, jacobian in found.jacobian.items():
        rows, columns = jacobian.matrix_shape
        if rows * columns and not jacobian.rules and jacobian.formulas is None:
            message = f"LaTeX is for formulas, and d{found.name}/d{variable} is {rows:,} by {columns:,} numbers alone"
            raise GradcliError("format", message, hint="-o answer.json holds the numbers")
        if rows * columns > MOST_OF_J:
            message = f"d{found.name}/d{variable} has {rows:,} by {columns:,} entries, and LaTeX takes {MOST_OF_J:,}"
            raise GradcliError("format", message, hint="-o answer.json holds the numbers")


def sections(found: Explained, block: Block, layout: Layout) -> Iterator[str]:
    """Yield the parts of a block; forward and backward are equations."""
    told = {"Forward": forward_equations, "Backward": backward_equations}.get(block.title.partition(":")[0])
    if block.title:
        yield rf"\medskip\textbf{{{escaped(block.title)}}}"
    if told is not None and not is_wide(found):
        yield f"\\[\n{told(found, layout)}\n\\]"
        return
    for part in block.parts:
        if isinstance(part, Table):
            yield f"\\[\n{array(part)}\n\\]"
            yield from (escaped(remark.text) for remark in part.remarks)
        elif block.prose:
            yield from (escaped(" ".join(line.split())) for line in part if line.strip())
        else:
            yield from lines_of(part)


def lines_of(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines: rules of J as equations, all others in typewriter letters, each blank kept."""
    for line in lines:
        rule = PARTIAL.fullmatch(line.strip())
        if rule and len(line) <= WIDTH:
            yield rf"\[ \frac{{\partial {formula(rule[1])}}}{{\partial {formula(rule[2])}}} = {side(rule[3])} \]"
        elif line.strip():
            for piece in fold(line.rstrip(), WIDTH, ""):
                yield rf"{{\small\ttfamily {escaped(piece.plain).replace(' ', '~')}\par}}"


def is_wide(found: Explained) -> bool:
    """Return whether a formula of forward or backward is too long for one line of a page, where none is broken."""
    told = [event.text for event in found.forward if isinstance(event, Value)]
    told += [rule.text for rule in found.rules] if found.has_steps else []
    return any(text is not None and len(text) > WIDTH for text in told)


def side(text: str) -> str:
    """Return the right side of an equation, which may hold further ones: ``6*x = 9``."""
    return " = ".join(map(cell, text.split(" = ")))


def aligned(lines: Iterable[str]) -> str:
    """Return equations, their signs under each other."""
    inner = " \\\\\n".join(lines)
    return f"\\begin{{aligned}}\n{inner}\n\\end{{aligned}}" if inner else ""


def forward_equations(found: Explained, layout: Layout) -> str:
    """Return what ran, with the numbers where they are few."""
    axes = axes_of(found)
    lines = [f"{name(one)} &= {number(value, layout)}" for one, value in found.inputs.items() if few(value)]
    for event in shown_events(found.forward):
        if isinstance(event, Value) and event.text is not None:
            worth = f" = {number(event.value, layout)}" if few(event.value) and not event.target else ""
            lines.append(f"{formula(event.target or event.name)} &= {formula(event.text, axes)}{worth}")
    return aligned(lines)


def backward_equations(found: Explained, layout: Layout) -> str:
    """Return the rules of the backward pass; a bar is what arrives at a value."""
    if not (found.has_steps and found.rules):
        return ""
    lines, axes = [], axes_of(found)
    for rule in shortened(found.lookup.backward_pass):
        if isinstance(rule, str):
            lines.append(rf"&\;\;\text{{{escaped(rule.strip())}}}")
            continue
        text = "" if rule.text is None else formula(rule.text, axes)
        worth = number(rule.value, layout) if few(rule.value) or not text else ""
        lines.append(rf"\bar{{{name(rule.name)}}} &= " + " = ".join(part for part in (text, worth) if part))
    return aligned(lines)


def axes_of(found: Explained) -> dict[str, int]:
    """Return how many axes each value has."""
    values = [*found.inputs.items(), *((one.name, one.value) for one in found.forward if isinstance(one, Value))]
    return {name: np.ndim(value) for name, value in values}


def few(value: Array) -> bool:
    """Return whether a value is worth writing beside its formula."""
    return np.size(value) <= MOST_ENTRIES


def number(value: Array, layout: Layout) -> str:
    """Return numbers as mathematics: a column, a matrix, or one line of more."""
    array_ = np.asarray(value, dtype=np.float64)
    if array_.ndim == 0:
        return cell(short(float(array_), layout.precision))
    if array_.ndim > 2 or array_.size > MOST_ENTRIES or not array_.size:
        return rf"\text{{{escaped(array_text(array_, layout.precision))}}}"
    rows = array_.reshape(array_.shape[0], -1)
    inner = r" \\ ".join(" & ".join(cell(short(entry, layout.precision)) for entry in row) for row in rows.tolist())
    return rf"\begin{{pmatrix}} {inner} \end{{pmatrix}}"


def array(table: Table) -> str:
    """Return a table as an array, with its bars and rules."""
    columns = [column for block in table.blocks for column in block]
    bars = "|".join("r" * len(block) for block in table.blocks)
    lines = [f"\\begin{{array}}{{r{bars}}}", " & ".join(["", *(cell(column.heading) for column in columns)]) + r" \\"]
    for number_, label in enumerate(table.labels):
        rule = r"\hline " if number_ in table.ruled else ""
        lines.append(rule + " & ".join([cell(label), *(cell(column.cells[number_]) for column in columns)]) + r" \\")
    return "\n".join([*lines, r"\end{array}"])


def cell(text: str) -> str:
    """Return what stands in a cell: a number, a formula, or both with a sign between."""
    text = text.strip()
    if not text:
        return ""
    if text in SIGNS or text in NOT_FINITE:
        return SIGNS.get(text) or NOT_FINITE[text]
    for sign, written in ((" = ", " = "), (" ≈ ", r" \approx ")):
        left, found, right = text.rpartition(sign)
        if found:
            return cell(left) + written + cell(right)
    return formula(text) if is_number(text) or text.isascii() else rf"\text{{{escaped(text)}}}"
