"""Index rules held against the numbers of this point, where a formula may have lost the digits that J has."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from gradcli.explanation.explained import Explained
from gradcli.formulas.index_rules import IndexRule, renamed
from gradcli.formulas.readback import entries_of, flat_places, lengths_of, numbers_at
from gradcli.ops.links import Array, Indices
from gradcli.records import replace

MOST_TUPLES = 20_000
"""Places of a rule that are looked at; of more, so many spread over all."""
READ = 64
"""Places at which a rule is read: those of the smallest entries, where saturation shows, and as many between."""
CLOSE = 1e-9
"""Relative distance up to which a formula is the number."""


def true_rules(answer: Explained, name: str) -> list[IndexRule]:
    """Return the rules of a Jacobian; one that is another number here has a form that keeps its digits, or words."""
    known = {n: value for n, value in answer.definition_values.items() if np.all(np.isfinite(value))} | answer.inputs
    rules = answer.jacobian[name].index_rules
    return [true_form(answer, name, rule, known) if rule.formula else rule for rule in rules]


def true_form(answer: Explained, name: str, rule: IndexRule, known: Mapping[str, Any]) -> IndexRule:
    """Return a rule that holds here."""
    chosen, numbers = places_to_read(answer, name, rule)
    if not len(numbers) or holds(answer, rule.formula, chosen, numbers, known):
        return rule
    other = answer.lookup.keep_digits(rule.formula)
    if other != rule.formula and holds(answer, other, chosen, numbers, known):
        return replace(rule, formula=other)
    return replace(rule, formula="", words="by numbers alone, as rounding makes the formula another number here")


def places_to_read(answer: Explained, name: str, rule: IndexRule) -> tuple[dict[str, Indices], Array]:
    """Return some places of a rule, an array of integers for each of its letters, and the numbers there."""
    entries = entries_of(answer, rule, name)
    if entries is None:
        return {}, np.zeros(0)
    lengths = lengths_of(answer, rule)
    total = math.prod(lengths.values())
    flat = np.unique(np.linspace(0, total - 1, min(total, MOST_TUPLES)).astype(np.intp))
    letters = dict(zip(lengths, np.unravel_index(flat, tuple(lengths.values())), strict=True)) if lengths else {}
    values = numbers_at(flat_places(answer, rule, letters, len(flat)), *entries)
    usable = np.flatnonzero((values != 0) & np.isfinite(values))
    smallest = usable[np.argsort(np.abs(values[usable]), kind="stable")[:READ]]
    between = usable[np.linspace(0, len(usable) - 1, min(READ, len(usable))).astype(np.intp)]
    chosen = np.union1d(smallest, between)
    return {letter: places[chosen] for letter, places in letters.items()}, values[chosen]


def holds(
    answer: Explained, formula: str, chosen: Mapping[str, Indices], numbers: Array, known: Mapping[str, Any]
) -> bool:
    """Return whether a formula with these integers for its letters gives the numbers; so does what cannot be read."""
    if ":" in formula:  # a sum along an axis is read one entry at a time
        for k in np.linspace(0, len(numbers) - 1, min(8, len(numbers))).astype(int).tolist():
            at = {letter: int(places[k]) for letter, places in chosen.items()}
            found = answer.lookup.evaluate(renamed(formula, at), known)
            if found is not None and not abs(float(found) - numbers[k]) <= CLOSE * abs(numbers[k]):
                return False
        return True
    lists = {letter: places.tolist() for letter, places in chosen.items()}  # one text for all places
    read = answer.lookup.evaluate(renamed(formula, lists), known)
    if read is None or read.shape not in ((), numbers.shape):
        return True
    return bool(np.all(np.abs(read - numbers) <= CLOSE * np.abs(numbers)))
