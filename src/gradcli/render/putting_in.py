"""Numbers in the place of names: ``h*h + x`` as ``0.5*0.5 + 2``, and a sum of the backward pass by its terms."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.engine.naming import NAME
from gradcli.render.equalities import evaluate
from gradcli.render.numbers import in_brackets, short

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.explanation.rules import Rule

COTANGENT = re.compile(r"(?<!\w)([A-Za-z_]\w*)\.grad\b")
INDEX = re.compile(r"\[(-?\d+(?:, ?-?\d+)*)\]")
MOST_TERMS = 6
"""Terms of a sum whose numbers are put in."""
MORE_DIGITS = 3
"""Digits beyond those of a sum that its terms may be shown with so that they add up to it."""


def put_in(text: str, known: Mapping[str, Any], precision: int) -> str:
    """Return a text with numbers in the place of variables and their entries; nothing where one is no number.

    >>> put_in("h*h + x[0]", {"h": -0.5, "x": np.array([2.0])}, 6)
    '(-0.5)*(-0.5) + 2'
    """
    parts, start = [], 0
    for match in re.finditer(NAME, text):
        if match["text"] or match["dot"] or match["name"] not in known or match.start() < start:
            continue
        index = INDEX.match(text, match.end())
        end = index.end() if index else match.end()
        value = np.asarray(known[match["name"]])
        place = tuple(int(part) for part in index[1].split(",")) if index else ()
        try:
            entry = value[place]
        except IndexError:
            return ""
        if np.ndim(entry) or value.dtype == bool or text[end : end + 1] in (".", "["):
            return ""
        number = short(float(entry), precision)
        alone = text[: match.start()].endswith(("(", ", ")) and text[end : end + 1] in (")", ",")
        parts += [text[start : match.start()], number if alone else in_brackets(number)]
        start = end
    return "".join([*parts, text[start:]]) if parts else ""


def numbers_put_in(rules: Sequence[Rule], found: Explained, precision: int) -> list[str]:
    """Return rules of single numbers with numbers put in: of a sum those of its terms, as they add up to the value.

    Nothing stands for a rule of which that cannot be said. ``y.grad + h.grad*(1 - h**2)`` is ``1 + 0.767232``,
    ``y.grad*2*x`` is ``1*2*3``.
    """
    known: dict[str, Any] = {value.name: value.value for value in found.values}
    ending = "_grad"
    while any(rule.name + ending in known for rule in found.rules):
        ending += "_"
    known |= {rule.name + ending: rule.value for rule in found.rules}
    split = [terms_of(COTANGENT.sub(rf"\1{ending}", rule.text or "")) for rule in rules]
    sums = [terms if 1 < len(terms) <= MOST_TERMS else [] for terms in split]
    numbers = iter(evaluate(found, [unsigned(term) for terms in sums for term in terms], known))
    added = [added_up(terms, [next(numbers) for _ in terms], precision) for terms in sums]
    alone = [terms[0] if len(terms) == 1 else "" for terms in split]
    forms = [[put_in(term, known, digits) for digits in (precision, precision + MORE_DIGITS)] for term in alone]
    worth = iter(evaluate(found, [text or "0" for pair in forms for text in pair], {}))
    worths = [(next(worth), next(worth)) for _ in forms]
    return [
        step or next((text for text, value in zip(pair, values, strict=True) if is_shown(value, rule, precision)), "")
        for step, pair, values, rule in zip(added, forms, worths, rules, strict=True)
    ]


def is_shown(value: float | None, rule: Rule, precision: int) -> bool:
    """Return whether a number is that of a rule as it is shown."""
    return value is not None and short(value, precision) == short(float(rule.value), precision)


def added_up(terms: Sequence[str], values: Sequence[float | None], precision: int) -> str:
    """Return a sum of numbers, with as many digits as it takes for them to add up to what is shown of the whole."""
    known = [value for value in values if value is not None]
    if not terms or len(known) < len(terms):
        return ""
    signs = [-1.0 if term.startswith(" - ") else 1.0 for term in terms]
    total = short(sum(sign * value for sign, value in zip(signs, known, strict=True)), precision)
    for digits in range(precision, precision + MORE_DIGITS + 1):
        texts = [short(value, digits) for value in known]
        if short(sum(sign * float(text) for sign, text in zip(signs, texts, strict=True)), precision) == total:
            break
    rest = [f"{term[:3]}{in_brackets(text)}" for term, text in zip(terms[1:], texts[1:], strict=True)]
    return "".join([texts[0], *rest])


def unsigned(term: str) -> str:
    """Return a term without the sign between it and the one before."""
    return term[3:] if term.startswith((" + ", " - ")) else term


def terms_of(text: str) -> list[str]:
    """Return the terms of a sum, each but the first with the sign before it."""
    depth, start, found = 0, 0, []
    for place, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if not depth and text.startswith((" + ", " - "), place):
            found.append(text[start:place])
            start = place
    return [*found, text[start:]]
