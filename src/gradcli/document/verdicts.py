"""Whether what is printed is right: both sides of ``=`` at the point, the two routes, and the numbers of a view."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.document.texts import full
from gradcli.errors.hints import counted
from gradcli.explanation.rereading import evaluate as read_back
from gradcli.explanation.results import VERDICTS, agree_within
from gradcli.explanation.saturation import saturated, true_rules

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.explanation.jacobians import Jacobian
    from gradcli.explanation.results import Proof
    from gradcli.ops.declare import Array

CLOSE = 1e-9
"""Relative distance up to which two numbers that took different ways are the same."""
NEAR = 1e-3
"""Relative distance up to which numbers that were rounded for readers are nearly the same."""
AT_ONCE = 50
"""Formulas that are read as one program."""
VIEW_DIFFERS = "another route gives another number: see the notes"
MOST_DIGITS = 15


def is_same(value: float, number: float, within: float = CLOSE) -> bool:
    """Return whether two numbers are equal, or as good as; nan is equal to itself."""
    if not math.isfinite(number):
        return value == number or (math.isnan(value) and math.isnan(number))
    return abs(value - number) <= within * abs(number)


def evaluate(formulas: Sequence[str], names: Mapping[str, Any]) -> list[float | None]:
    """Return what formulas of single numbers are at the point; None for what the language does not read."""
    portions = [formulas[start:][:AT_ONCE] for start in range(0, len(formulas), AT_ONCE)]
    return [value for portion in portions for value in evaluate_together(portion, names)]


def evaluate_together(formulas: Sequence[str], names: Mapping[str, Any]) -> Iterator[float | None]:
    """Yield the values of a few formulas, read together where that goes well."""
    values = read_back(f"[{', '.join(formulas)}]", names)
    if values is not None and values.shape == (len(formulas),):
        yield from values.tolist()
        return
    for formula in formulas:
        value = read_back(formula, names)
        yield float(value) if value is not None and value.ndim == 0 else None


Pair = tuple[str, float]
"""A formula and the number beside it."""


def with_true_formulas(answer: Explained) -> Explained:
    """Return an answer whose formulas are equal to the numbers beside them at this point.

    A derivative that sympy has simplified may have a value where the program has none, such as x/x at 0, and
    1 - tanh(x)**2 is 0 in doubles where tanh is saturated, and 0 times a name that overflowed is nan: another form of
    it, or the number, stands for such a formula, and no rule is left then. One that the language does not read stays
    beside a finite number alone.
    """
    names = {**answer.inputs, **answer.definition_values}
    pairs = pairs_of(answer.output_formulas, answer.output)
    pairs += [pair for jacobian in answer.jacobian.values() for pair in pairs_of(jacobian.formulas, jacobian.values)]
    pairs = [pair for pair in dict.fromkeys(pairs) if pair[0] != full(pair[1])]
    values = evaluate([text for text, _ in pairs], names)
    others = {
        pair: true_form(answer, *pair, names)
        for pair, value in zip(pairs, values, strict=True)
        # What cannot be read may stand beside a finite number.
        if not (math.isfinite(pair[1]) if value is None else is_same(value, pair[1]))
    }
    definitions = true_definitions(answer, names)
    jacobians = {name: true_jacobian(answer, name, jacobian, others) for name, jacobian in answer.jacobian.items()}
    kept = all(jacobians[name] is jacobian for name, jacobian in answer.jacobian.items())
    if kept and not others and definitions == answer.definitions:
        return answer
    formulas = answer.output_formulas and exchanged(answer.output_formulas, answer.output, others)
    return replace(answer, output_formulas=formulas, definitions=definitions, jacobian=jacobians)


def pairs_of(formulas: Sequence[str] | None, numbers: Array) -> list[Pair]:
    """Return formulas with the numbers beside them, in which there is one nan."""
    if formulas is None:
        return []
    flat = np.ravel(numbers).tolist()
    return list(zip(formulas, [math.nan if math.isnan(number) else number for number in flat], strict=True))


def exchanged(formulas: Sequence[str], numbers: Array, others: Mapping[Pair, str]) -> list[str]:
    """Return formulas with others for those that are not the number beside them."""
    return [others.get(pair, pair[0]) for pair in pairs_of(formulas, numbers)]


def true_jacobian(answer: Explained, name: str, jacobian: Jacobian, others: Mapping[Pair, str]) -> Jacobian:
    """Return a Jacobian with other formulas, and without its rules where there are any; itself where none is."""
    if jacobian.formulas is None:
        rules = true_rules(answer, name)
        return jacobian if rules == jacobian.index_rules else replace(jacobian, index_rules=rules)
    formulas = exchanged(jacobian.formulas, jacobian.values, others)
    return jacobian if formulas == jacobian.formulas else replace(jacobian, formulas=formulas, index_rules=[])


def true_form(answer: Explained, formula: str, number: float, names: Mapping[str, Any]) -> str:
    """Return what stands for a formula that is not its number: a form that keeps its digits, else the number."""
    other = saturated(formula, answer.source.formulas.definitions)
    if other != formula:
        [value] = evaluate([other], names)
        if value is not None and is_same(value, number):
            return other
    return literal(number)


def true_definitions(answer: Explained, names: Mapping[str, Any]) -> dict[str, str]:
    """Return the definitions, with the numbers for one that is not equal to them."""
    definitions = dict(answer.definitions)
    for name, number in answer.definition_values.items():
        value = read_back(definitions[name], names)
        same = value is None or (value.shape == number.shape and agree_within(value, number, CLOSE * np.abs(number)))
        definitions[name] = definitions[name] if same else literal(number.tolist())
    return definitions


def literal(number: Any) -> str:
    """Return a number, or lists of them, in the language, which has no names for nan and infinity."""
    if isinstance(number, list):
        return f"[{', '.join(map(literal, number))}]"
    if math.isfinite(number):
        return full(number)
    return "0/0" if math.isnan(number) else "1/0" if number > 0 else "-1/0"


def verdict(answer: Explained, one_row: bool = False) -> tuple[str, str]:
    """Return what the two routes say of each other, and the tone of it; of ``one_row`` also that J is the gradient."""
    if not answer.agreement.agree:
        return f"✗ {VERDICTS[answer.agreement.verdict].fault}", "bad"
    if not all(np.all(np.isfinite(grad)) for grad in answer.grad.values()):
        return "not finite at this point, on both routes", "doubtful"
    if not np.all(np.isfinite(answer.output)):
        return f"{answer.name} is not finite at this point: these numbers are no derivative of it", "doubtful"
    error = answer.agreement.max_abs_error
    if error and any(note.kind in ("custom-backward", "hook") for note in answer.notes):
        return "✓ reverse mode follows what the script makes of the gradient", "good"
    said = "vᵀ·J and reverse mode both give this" if one_row else "reverse mode gives the same numbers"
    return f"✓ {said}{how_far(answer, error)}{'; J has one row here' if one_row else ''}", "good"


def how_far(answer: Explained, error: float) -> str:
    """Return how far the routes agree: exactly, or to how many digits of the largest gradient."""
    if error == 0:
        return ""
    largest = max(float(np.max(np.abs(grad), initial=0)) for call in answer.backward for grad in call.vjp.values())
    digits = math.floor(-math.log10(error / largest)) if largest else 0
    return f", to {counted(min(digits, MOST_DIGITS), 'digit')}" if digits > 0 else ", up to rounding"


def proof_text(proof: Proof) -> str:
    """Return how far the numbers of a view are right."""
    if proof.verdict != "agree":
        return f"✗ {VIEW_DIFFERS if proof.verdict == 'differ' else VERDICTS[proof.verdict].fault}"
    if not proof.finite:
        return "not finite at this point"
    if proof.digits is None:
        return "✓ both routes agree"
    if any(remark.kind in ("kink", "jump") for remark in proof.remarks):
        return "✓ both routes agree, by convention: see the notes"
    right = counted(min(int(proof.digits), MOST_DIGITS), "right digit")
    return f"✓ {right}, compared with a computation in higher precision"
