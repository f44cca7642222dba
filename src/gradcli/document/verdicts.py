"""Whether what is printed on both sides of ``=`` is equal: formulas at the point, read by the language.

Whether reverse mode agrees with vᵀ·J, and how far the numbers of a view are right, in a few words.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.document.texts import full
from gradcli.errors.hints import counted
from gradcli.explanation.rereading import evaluate as read_back
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


def is_same(found: float, number: float, within: float = CLOSE) -> bool:
    """Return whether two numbers are equal, or as good as; nan is equal to itself."""
    if not math.isfinite(number):
        return found == number or (math.isnan(found) and math.isnan(number))
    return abs(found - number) <= within * abs(number)


def evaluate(formulas: Sequence[str], known: Mapping[str, Any]) -> list[float | None]:
    """Return what formulas of single numbers are at the point; None for what the language does not read."""
    portions = [formulas[start:][:AT_ONCE] for start in range(0, len(formulas), AT_ONCE)]
    return [value for portion in portions for value in evaluate_together(portion, known)]


def evaluate_together(formulas: Sequence[str], known: Mapping[str, Any]) -> Iterator[float | None]:
    """Yield the values of a few formulas, read together where that goes well."""
    values = read_back(f"[{', '.join(formulas)}]", known)
    if values is not None and values.shape == (len(formulas),):
        yield from values.tolist()
        return
    for formula in formulas:
        value = read_back(formula, known)
        yield float(value) if value is not None and value.ndim == 0 else None


def known_values(found: Explained) -> dict[str, Any]:
    """Return the numbers of all names that formulas may use."""
    return {**found.inputs, **found.definition_values}


def with_true_formulas(found: Explained) -> Explained:
    """Return an answer whose formulas are equal to the numbers beside them at this point.

    A derivative that sympy has simplified may have a value where the program has none, such as x/x at 0, and
    1 - tanh(x)**2 is 0 in doubles where tanh is saturated, and 0 times a name that overflowed is nan: another form of
    it, or the number, stands for such a formula, and no rule is left then. One that the language does not read stays
    beside a finite number alone.
    """
    output, jacobians = found.output_formulas, found.jacobian
    known = known_values(found)
    told = [] if output is None else told_of(output, found.output)
    for jacobian in jacobians.values():
        told += [] if jacobian.formulas is None else told_of(jacobian.formulas, jacobian.values)
    told = [pair for pair in dict.fromkeys(told) if pair[0] != full(pair[1])]
    values = evaluate([text for text, _ in told], known)
    false = [pair for pair, value in zip(told, values, strict=True) if not holds(value, pair[1])]
    definitions = with_true_definitions(found, known)
    rules = {
        name: true_rules(found, name) if jacobian.formulas is None else jacobian.index_rules
        for name, jacobian in jacobians.items()
    }
    changed = any(rules[name] != jacobian.index_rules for name, jacobian in jacobians.items())
    if not false and not changed and definitions == found.definitions:
        return found
    others = {pair: true_form(found, *pair, known) for pair in false}
    return replace(
        found,
        output_formulas=None if output is None else exchanged(output, found.output, others),
        definitions=definitions,
        jacobian={
            name: with_others(replace(jacobian, index_rules=rules[name]), others)
            for name, jacobian in jacobians.items()
        },
    )


Told = tuple[str, float]
"""A formula and the number beside it."""


def told_of(formulas: Sequence[str], numbers: Array) -> list[Told]:
    """Return formulas with the numbers beside them, in which there is one nan."""
    flat = np.ravel(numbers).tolist()
    return list(zip(formulas, [math.nan if math.isnan(number) else number for number in flat], strict=True))


def exchanged(formulas: Sequence[str], numbers: Array, others: Mapping[Told, str]) -> list[str]:
    """Return formulas with others for those that are not the number beside them."""
    return [others.get(pair, pair[0]) for pair in told_of(formulas, numbers)]


def with_others(jacobian: Jacobian, others: Mapping[Told, str]) -> Jacobian:
    """Return a Jacobian with other formulas, and without its rules where there are any."""
    if jacobian.formulas is None:
        return jacobian
    formulas = exchanged(jacobian.formulas, jacobian.values, others)
    kept = jacobian.index_rules if formulas == jacobian.formulas else []
    return replace(jacobian, formulas=formulas, index_rules=kept)


def holds(value: float | None, number: float) -> bool:
    """Return whether a formula may stand beside a number: it is that, or it cannot be read and the number is finite."""
    return math.isfinite(number) if value is None else is_same(value, number)


def true_form(found: Explained, formula: str, number: float, known: Mapping[str, Any]) -> str:
    """Return what stands for a formula that is not its number: a form that keeps its digits, else the number."""
    other = saturated(formula, found.source.formulas.definitions)
    if other != formula:
        [value] = evaluate([other], known)
        if value is not None and is_same(value, number):
            return other
    return literal(number)


def with_true_definitions(found: Explained, known: Mapping[str, Any]) -> dict[str, str]:
    """Return the definitions, with the numbers for one that is not equal to them."""
    definitions = dict(found.definitions)
    for name, value in found.definition_values.items():
        read = read_back(definitions[name], known)
        if read is not None and not are_same(read, value):
            definitions[name] = literal(value.tolist())
    return definitions


def are_same(found: Array, wanted: Array) -> bool:
    """Return whether two arrays are equal, or as good as; where one is not finite, nor is the other."""
    if found.shape != wanted.shape:
        return False
    with np.errstate(all="ignore"):
        near = np.abs(found - wanted) <= CLOSE * np.abs(wanted)
    return bool(np.all(near | (found == wanted) | ~np.isfinite(found) & ~np.isfinite(wanted)))


def literal(number: Any) -> str:
    """Return a number, or lists of them, in the language, which has no names for nan and infinity."""
    if isinstance(number, list):
        return f"[{', '.join(map(literal, number))}]"
    if math.isfinite(number):
        return full(number)
    return "0/0" if math.isnan(number) else "1/0" if number > 0 else "-1/0"


# ---- Whether reverse mode agrees with vᵀ·J, and how far the numbers of a view are right, in a few words

FAULTS = {
    "differ": "reverse mode and vᵀ·J give different numbers: see the notes",
    "digits-lost": "rounding has cost too many digits: see the notes",
    "unclear": "gradcli could not decide whether this is right: see the notes",
}
MOST_DIGITS = 15


def verdict(answer: Explained, one_row: bool = False) -> tuple[str, str]:
    """Return what the two routes say of each other, and the tone of it; of ``one_row`` also that J is the gradient."""
    if not answer.agreement.agree:
        return f"✗ {FAULTS[answer.agreement.verdict]}", "bad"
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
        return f"✗ {VIEW_FAULTS.get(proof.verdict, FAULTS[proof.verdict])}"
    if not proof.finite:
        return "not finite at this point"
    if proof.digits is None:
        return "✓ both routes agree"
    if any(remark.kind in ("kink", "jump") for remark in proof.remarks):
        return "✓ both routes agree, by convention: see the notes"
    right = counted(min(int(proof.digits), MOST_DIGITS), "right digit")
    return f"✓ {right}, compared with a computation in higher precision"


VIEW_FAULTS = {"differ": "another route gives another number: see the notes"}
