"""How each derivative is found, rule by rule: lines read off the tape."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from gradcli.explanation.backward import seed_text
from gradcli.explanation.putting_in import put_in
from gradcli.explanation.tape import Sent, Step, Tape, Taped
from gradcli.ops.declare import Array
from gradcli.ops.writing import number_text


def take_steps(tape: Tape) -> list[Step]:
    """Return the lines: the rules of the operations in the order in which they ran, then the chain rule back.

    An operation that does not work entry by entry has no derivative of an entry by its own: the chain rule alone tells
    of it, under the name of its rule.
    """
    reaching = [(row, row.cotangent) for row in tape.rows if row.cotangent is not None]
    rows = [row for row, _ in reaching]
    known = {row.name: row.value for row in tape.rows}
    known |= {f"{row.name}.grad": cotangent for row, cotangent in reaching}
    labels = {row.name: row.label for row in tape.rows}
    reached: dict[str, list[Sent]] = {}
    for row in rows:
        for sent in row.sent:
            reached.setdefault(sent.to, []).append(sent)
    rules = [step for row in reversed(rows) for step in rule_steps(row, labels, known)]
    start = [start_step(row, g, known) for row, g in reaching if row.name == tape.output]
    chain = [chain_step(row, g, reached.get(row.name, []), known) for row, g in reaching if row.name != tape.output]
    return [*rules, *start, *chain]


def rule_steps(row: Taped, labels: Mapping[str, str], known: Mapping[str, Array]) -> Iterator[Step]:
    """Yield the derivatives of an operation that works entry by entry, by each value that it is of.

    A value that it uses twice has both of its parts in one line.
    """
    for to in dict.fromkeys(sent.to for sent in row.sent):
        parts = [(sent.local, sent.slope) for sent in row.sent if sent.to == to]
        slopes = [slope for _, slope in parts if slope is not None]
        if len(slopes) == len(parts):
            with np.errstate(all="ignore"):
                value = np.asarray(sum(slopes[1:], start=slopes[0]))
            formula = joined([text for text, _ in parts])
            yield Step(row.sent[0].rule, row.label, labels.get(to, to), formula, with_numbers(formula, known), value)


def start_step(row: Taped, g: Array, known: Collection[str]) -> Step:
    """Return what the output begins with, its cotangent ``g``."""
    return Step("start", f"{row.name}.grad", "", seed_text(g, known), None, g)


def chain_step(row: Taped, g: Array, reached: Sequence[Sent], known: Mapping[str, Array]) -> Step:
    """Return how the cotangent ``g`` of a value is found from those of the values that it is used in."""
    formula = joined([sent.text for sent in reached]) if len(reached) == row.uses else None
    rule = "unused" if not row.uses else "sum of uses" if row.uses > 1 else rule_of(reached)
    if not row.uses:
        formula = "0"
    return Step(rule, f"{row.name}.grad", "", formula, with_numbers(formula, known), g)


def rule_of(reached: Sequence[Sent]) -> str:
    """Return what the way back to a value that is used once is called."""
    return "chain" if not reached or reached[0].local is not None else reached[0].rule


def joined(texts: Sequence[str | None]) -> str | None:
    """Return the sum of texts; None where one is missing."""
    told = [text for text in texts if text is not None]
    if not told or len(told) < len(texts):
        return None
    return told[0] + "".join(f" - {text[1:]}" if is_minus(text) else f" + {text}" for text in told[1:])


def is_minus(text: str) -> bool:
    """Return whether a term is a product or a name with a minus before it, which a sum can take as its own."""
    return text.startswith("-") and not re.search(r" [+-] ", text)


def with_numbers(formula: str | None, known: Mapping[str, Array]) -> str | None:
    """Return a formula with numbers in the place of names; None where there is none, or one is no number."""
    return put_in(formula, known, number_text) or None if formula is not None else None
