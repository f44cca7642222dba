"""Each sum of vᵀ·J, its terms in the colours of their rows, the results aligned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.text import Text

from gradcli.engine.naming import place_text
from gradcli.errors.counting import counted
from gradcli.records import dataclass
from gradcli.render.entries import entry_name, number_text
from gradcli.render.equalities import NEAR, is_same
from gradcli.render.numbers import MOST_PRECISE, aligned, in_brackets, short
from gradcli.render.verdicts import row_style
from gradcli.render.wrap import fold, plain_text

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.explanation.jacobians import Jacobian
    from gradcli.ops.declare import Array, Indices
    from gradcli.render.glyphs import Layout

MOST_SUMS = 8
"""Sums up to which all are spelled out."""
FIRST_SUMS = 3
"""Sums that are spelled out of more than that; the number of those left out follows."""
MOST_TERMS = 6
"""Terms of a sum; of more the first three and the last stand for all."""


@dataclass(frozen=True, slots=True)
class Sum:
    """One entry of a gradient: what it is the sum of, with v by name and by number, and how exactly that is equal."""

    label: str
    named: Text
    numbers: Text
    total: str
    equal: bool


def sum_lines(found: Explained, layout: Layout) -> list[Text]:
    """Return ``x.grad[j] = v[0]·6 + … = 1·6 + … = 26`` for each entry that is a sum of several terms."""
    if found.output.size < 2:
        return []
    sums: list[Sum] = []
    count, most = 0, layout.most(MOST_SUMS)
    for name, jacobian in found.jacobian.items():
        several = np.flatnonzero(np.bincount(jacobian.columns, minlength=1) > 1)
        count += len(several)
        sums += [sum_of(found, name, jacobian, int(j), layout) for j in several[: most - len(sums)]]
    if count > most:
        rest = f"and {counted(count - FIRST_SUMS, 'more sum')} of this kind"
        return [*together(sums[:FIRST_SUMS], layout), *fold(rest, layout.width)]
    return together(sums, layout)


def sum_of(found: Explained, name: str, jacobian: Jacobian, j: int, layout: Layout) -> Sum:
    """Return one sum, its terms with as many digits as it takes for them to add up to what is shown."""
    seed, grad = np.ravel(found.seed), np.ravel(found.vjp[name])
    chosen = np.flatnonzero(jacobian.columns == j)
    v, values, rows = seed[jacobian.rows[chosen]], jacobian.values[chosen], jacobian.rows[chosen]
    total, dust = float(grad[j]), bool(np.ravel(found.dust[name].vjp)[j])
    precision = precise_enough(v, values, 0.0 if dust else total, layout.precision)
    exact = short(added(v, values, precision), layout.precision) == short(total, layout.precision)
    times = layout.glyphs.times
    names = [f"v{place_text(int(row), found.output.shape)}" for row in rows]
    numbers = [in_brackets(short(value, precision)) for value in values]
    shown = [in_brackets(short(value, precision)) for value in v]
    label = entry_name(f"{name}.grad" if found.agreement.agree else layout.glyphs.product, j, jacobian.input_shape)
    return Sum(
        label,
        terms([f"{name}{times}{number}" for name, number in zip(names, numbers, strict=True)], rows, found, layout),
        terms([f"{one}{times}{number}" for one, number in zip(shown, numbers, strict=True)], rows, found, layout),
        number_text(total, dust, layout).removeprefix(layout.glyphs.rounded_zero[0]),
        exact and not dust,
    )


def precise_enough(v: Array, values: Array, total: float, precision: int) -> int:
    """Return how many digits terms need so that they add up, nearly at least, to a number."""
    steps = (precision, *(digits for digits in (12, MOST_PRECISE) if digits > precision))
    return next((digits for digits in steps if is_same(added(v, values, digits), total, NEAR)), precision)


def added(v: Array, values: Array, precision: int) -> float:
    """Return the sum of terms as they are shown; a zero wins over inf and nan."""
    pairs = [(float(short(a, precision)), float(short(b, precision))) for a, b in zip(v, values, strict=True)]
    return float(sum(0.0 if a == 0 or b == 0 else a * b for a, b in pairs))


def terms(texts: list[str], rows: Indices, found: Explained, layout: Layout) -> Text:
    """Return terms with plus signs between, each in the colour of its row; of many the middle is left out."""
    styled = [Text(text, row_style(int(row), found.output.size)) for text, row in zip(texts, rows, strict=True)]
    if len(styled) <= layout.most(MOST_TERMS):
        return Text(" + ").join(styled)
    between = Text(f"{layout.glyphs.dots}")
    return Text(" + ").join([*styled[:3], between, styled[-1]]).append(f"  ({counted(len(styled), 'term')})")


def together(sums: list[Sum], layout: Layout) -> list[Text]:
    """Return sums under each other: with v by name where there is room, folded where there is none even without."""
    if not sums:
        return []
    totals = aligned([one.total for one in sums])
    for both in (True, False):
        lines = [line_of(one, total, both, sums, layout) for one, total in zip(sums, totals, strict=True)]
        if max(len(line.plain.rstrip()) for line in lines) + 3 <= layout.width:
            break
    else:
        lines = [line_of(one, one.total, False, [one], layout) for one in sums]
    return [piece for line in lines for piece in fold(line, layout.width)]


def line_of(one: Sum, total: str, both: bool, sums: list[Sum], layout: Layout) -> Text:
    """Return one sum, padded to the widest of those that it stands among."""
    near = f" {layout.glyphs.near} "
    outer = " = " if one.equal else near
    line = padded(Text(one.label), [other.label for other in sums]).append(outer)
    if both:
        line.append_text(padded(one.named, [other.named.plain for other in sums])).append(" = ")
    line.append_text(padded(one.numbers, [other.numbers.plain for other in sums])).append(outer)
    return line.append(total, style="bold")


def padded(text: Text, others: list[str]) -> Text:
    """Return a copy of a text, as wide as the widest of others."""
    found = text.copy()
    found.pad_right(max(map(len, others)) - len(found.plain))
    return found


def plain_lines(lines: list[str], layout: Layout) -> list[Text]:
    """Return lines of text, folded."""
    return [piece for line in lines for piece in fold(plain_text(line, layout.glyphs), layout.width)]
