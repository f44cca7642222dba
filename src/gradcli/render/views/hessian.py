"""The second derivative: the formulas of the gradient, H in a table for each pair of variables, and H·u."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.engine.naming import place_text
from gradcli.errors.counting import counted
from gradcli.render.documents import arrays_document, jacobian_document
from gradcli.render.effects import scalar_name
from gradcli.render.equalities import with_true_formulas
from gradcli.render.glyphs import Anchor, Layout, Section
from gradcli.render.hessian_blocks import MOST_FORMULAS, block_lines
from gradcli.render.numbers import full, input_text
from gradcli.render.proofs import proof_document, proof_lines, proof_text, shown

if TYPE_CHECKING:
    from rich.text import Text

    from gradcli.explanation.explained import Explained
    from gradcli.explanation.views import Hessian
    from gradcli.render.numbers import Form

AFTER: Anchor = "v"
TITLE = "H, the second derivative: the Jacobian of the gradient"
MOST_LINES = 1000
"""Entries of a block of H that are written as plain lines; the number of those left out follows."""


def document(found: Explained, hessian: Hessian, form: Form) -> dict[str, Any]:
    """Return the blocks of H by the names of two variables, and H·u."""
    hessian = true_hessian(found, hessian)
    names = list(hessian.whole)
    blocks = hessian.blocks
    written = {
        "of": scalar_name(found),
        "gradient": hessian.gradient,
        "definitions": hessian.definitions,
        "blocks": {
            one: {other: jacobian_document(blocks[one, other], hessian.definitions, form) for other in names}
            for one in names
        },
        "symmetric": hessian.symmetric,
        "u": None if hessian.u is None else arrays_document(hessian.u, form),
        "product": None if hessian.product is None else arrays_document(hessian.product, form),
        "agreement": proof_document(hessian.proof),
    }
    return {"hessian": written}


def sections(found: Explained, hessian: Hessian, layout: Layout) -> list[Section]:
    """Return the gradient's formulas, the blocks of H, and H·u."""
    return [Section(TITLE, hessian_lines(found, hessian, layout))]


def lines(found: Explained, hessian: Hessian) -> list[str]:
    """Return the gradient's formulas, the entries of H, and H·u."""
    hessian = true_hessian(found, hessian)
    name = scalar_name(found)
    known = {value.name for value in found.values} | found.definitions.keys()
    told = [f"{one} := {text}" for one, text in hessian.definitions.items() if one not in known]
    for (one, other), block in hessian.blocks.items():
        rows, columns = block.matrix_shape
        entries = f"{len(block.rows):,} entries" if block.held else "entries not held"
        told.append(f"d2{name}/d{one}d{other}: {rows:,} by {columns:,}, {block.structure}, {entries}")
        for k in range(min(len(block.rows), MOST_LINES)):
            i, j = int(block.rows[k]), int(block.columns[k])
            value = full(block.values[k])
            formula = f"{block.formulas[k]} = " if block.formulas and block.formulas[k] != value else ""
            at = f"d{one}{place_text(i, block.output_shape)}d{other}{place_text(j, block.input_shape)}"
            told.append(f"d2{name}/{at} = {formula}{value}")
        if len(block.rows) > MOST_LINES:
            told.append(f"... and {len(block.rows) - MOST_LINES:,} entries more")
    told += [f"H.u {one} = {input_text(part)}" for one, part in (hessian.product or {}).items()]
    return [*told, *proof_lines("H", hessian.proof)]


def true_hessian(found: Explained, hessian: Hessian) -> Hessian:
    """Return H with formulas that equal the numbers beside them."""
    gradient = replace(
        found, name=hessian.name, output=hessian.value, output_formulas=hessian.formulas,
        definitions=hessian.definitions, jacobian=hessian.whole, lookup=hessian.lookup,
    )  # fmt: skip
    told = with_true_formulas(gradient)
    return replace(hessian, formulas=told.output_formulas, definitions=told.definitions, whole=told.jacobian)


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
    most = layout.most(MOST_FORMULAS)
    rest = [f"and {counted(len(lines) - most, 'more entry')}, in --json"] if len(lines) > most + 1 else []
    return [*(lines[:most] if rest else lines), *rest]


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
