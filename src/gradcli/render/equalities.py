"""Whether what is printed on both sides of ``=`` is equal: formulas at the point, read by the language."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.render.numbers import full

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.explanation.jacobians import Jacobian

CLOSE = 1e-9
"""Relative distance up to which two numbers that took different ways are the same."""
NEAR = 1e-3
"""Relative distance up to which numbers that were rounded for readers are nearly the same."""
AT_ONCE = 50
"""Formulas that are read as one program."""


def is_same(found: float, number: float, within: float = CLOSE) -> bool:
    """Return whether two numbers are equal, or as good as; nan is equal to itself."""
    if not math.isfinite(number):
        return found == number or (math.isnan(found) and math.isnan(number))
    return abs(found - number) <= within * abs(number)


def evaluate(found: Explained, formulas: Sequence[str], known: Mapping[str, Any]) -> list[float | None]:
    """Return what formulas of single numbers are at the point; None for what the language does not read."""
    portions = [formulas[start:][:AT_ONCE] for start in range(0, len(formulas), AT_ONCE)]
    return [value for portion in portions for value in evaluate_together(found, portion, known)]


def evaluate_together(found: Explained, formulas: Sequence[str], known: Mapping[str, Any]) -> Iterator[float | None]:
    """Yield the values of a few formulas, read together where that goes well."""
    values = found.lookup.evaluate(f"[{', '.join(formulas)}]", known)
    if values is not None and values.shape == (len(formulas),):
        yield from values.tolist()
        return
    for formula in formulas:
        value = found.lookup.evaluate(formula, known)
        yield float(value) if value is not None and value.ndim == 0 else None


def known_values(found: Explained) -> dict[str, Any]:
    """Return the numbers of all names that formulas may use."""
    values = {**found.inputs, **found.definition_values}
    return {name: value for name, value in values.items() if np.all(np.isfinite(value))}


def with_true_formulas(found: Explained, jacobian: Jacobian) -> Jacobian:
    """Return a Jacobian whose formulas are equal to its numbers: the number stands for one that is not.

    A derivative that sympy has simplified may have a value where the program has none, such as x/x at 0. Then no rule
    is left either. A formula in a name that overflowed cannot be read: it stays beside a finite number alone.
    """
    if jacobian.formulas is None:
        return jacobian
    values = evaluate(found, jacobian.formulas, known_values(found))
    formulas = [
        text if (math.isfinite(number) if value is None else is_same(value, float(number))) else full(number)
        for text, value, number in zip(jacobian.formulas, values, jacobian.values, strict=True)
    ]
    return replace(jacobian, formulas=formulas, rules=jacobian.rules if formulas == jacobian.formulas else [])
