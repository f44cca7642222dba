"""The sections *Backward* and *Paths*: a rule for each value with its number, and products along the ways to y."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.document.brackets import split_outside
from gradcli.document.equalities import evaluate
from gradcli.document.folding import FEW, repetition, unnumbered
from gradcli.document.model import Cell, Column, Equation, Equations, Part, Section, Settings, Table
from gradcli.document.numbers import in_brackets, short
from gradcli.explanation.putting_in import put_in

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.explanation.rules import BackwardPass, Path, Rule
    from gradcli.ops.signatures import Array

TITLE = "Backward: each line is what arrived, times the derivative of one step"
MOST_RULES = 40
"""Lines of the backward pass that are shown: of more, the first and the last."""
LONGEST_SUM = 1_000
"""Characters of a sum beyond which its middle terms are counted."""
MOST_TERMS = 6
"""Terms of a sum whose numbers are put in."""
MORE_DIGITS = 3
"""Digits beyond those of a sum that its terms may be shown with so that they add up to it."""


def backward_section(answer: Explained, settings: Settings) -> Section:
    """Return an equation for each rule; nothing where no value between is named and none is used twice."""
    if not (answer.has_steps and answer.rules):
        return Section("backward")
    made = [rule for rule in reversed(answer.rules) if rule.made]
    rows: list[Equation | str] = [Equation(name, (), value) for name, value in answer.constants.items()]
    rows += [Equation(rule.name, (str(rule.made),)) for rule in made]
    whole = answer.lookup.backward_pass
    shown = [*whole.rules] if settings.full and not whole.left_out else shortened(whole)
    rules = [rule for rule in shown if not isinstance(rule, str)]
    alone = not any(rule.value.shape for rule in rules)
    steps = dict(zip(map(id, rules), steps_of(rules, answer, settings.precision), strict=True)) if alone else {}
    rows += [row if isinstance(row, str) else equation_of(row, steps.get(id(row), ""), alone) for row in shown]
    return Section("backward", TITLE, (Equations(tuple(rows)),))


def equation_of(rule: Rule, step: str, alone: bool) -> Equation:
    """Return a rule with its number; that of an input which is no single number stands above, with the gradients."""
    sides = (right_side(rule), *([step] if step else []))
    value = None if rule.is_input and not alone and rule.text is not None else rule.value
    remark = {1: "", 2: "(used twice)"}.get(rule.uses, f"(used {rule.uses:,} times)") if rule.text is not None else ""
    return Equation(f"{rule.name}.grad", sides, value, remark=remark)


def right_side(rule: Rule) -> str:
    """Return how a cotangent was made; of a long sum the first and the last term."""
    if rule.text is None:
        return f"the sum over its {rule.uses:,} uses" if rule.uses > 1 else "(no text)"
    terms = terms_of(rule.text) if len(rule.text) > LONGEST_SUM else []
    return f"{terms[0]} … {len(terms) - 2:,} more terms …{terms[-1]}" if len(terms) > 3 else rule.text


def shortened(whole: BackwardPass) -> list[Rule | str]:
    """Return the rules, with a line that counts in the place of the middle turns of a loop, and of what is too long."""
    rules, position, left_out = whole.rules, 0, whole.left_out
    patterns = [pattern(rule) for rule in rules]
    shown: list[Rule | str] = []
    while position < len(rules):
        period, turns = repetition(patterns, position)
        if turns <= FEW:
            if left_out and position == whole.gap:
                shown.append(f"… {left_out:,} more lines …")
            shown.append(rules[position])
            position += 1
            continue
        end = position + period * turns
        between = turns - 2 + (left_out // period if position < whole.gap < end else 0)
        shown += rules[position : position + period]
        shown.append(f"…   {between:,} turns of the loop between")
        shown += rules[end - period : end]
        position = end
    if len(shown) <= MOST_RULES:
        return shown
    half = MOST_RULES // 2
    return [*shown[:half], f"… {len(shown) - 2 * half + left_out:,} more lines …", *shown[-half:]]


def pattern(rule: Rule) -> tuple[str, str, int] | None:
    """Return what the lines of a loop's turns have in common; None for a line that is of no loop."""
    if not rule.base or rule.base == rule.name:
        return None
    return rule.base, unnumbered(rule.text or ""), rule.uses


COTANGENT = re.compile(r"(?<!\w)([A-Za-z_]\w*)\.grad\b")


def steps_of(rules: Sequence[Rule], answer: Explained, precision: int) -> list[str]:
    """Return rules of single numbers with numbers put in: of a sum those of its terms, as they add up to the value.

    Nothing stands for a rule of which that cannot be said. ``y.grad + h.grad*(1 - h**2)`` is ``1 + 0.767232``,
    ``y.grad*2*x`` is ``1*2*3``.
    """
    known: dict[str, Any] = {value.name: value.value for value in answer.values}
    named = known | {f"{rule.name}.grad": rule.value for rule in rules}
    ending = "_grad"
    while any(rule.name + ending in known for rule in rules):
        ending += "_"
    known |= {rule.name + ending: rule.value for rule in rules}
    split = [terms_of(rule.text or "") for rule in rules]
    sums = [terms if 1 < len(terms) <= MOST_TERMS else [] for terms in split]
    plain = [COTANGENT.sub(rf"\1{ending}", unsigned(term)) for terms in sums for term in terms]
    numbers = iter(evaluate(answer, plain, known))
    added = [added_up(terms, [next(numbers) for _ in terms], precision) for terms in sums]
    alone = [terms[0] if len(terms) == 1 else "" for terms in split]
    digits = (precision, precision + MORE_DIGITS)
    forms = [[put_in(term, named, partial(short, precision=count)) for count in digits] for term in alone]
    worth = iter(evaluate(answer, [text or "0" for pair in forms for text in pair], {}))
    worths = [(next(worth), next(worth)) for _ in forms]
    steps = []
    for step, pair, values, rule in zip(added, forms, worths, rules, strict=True):
        true = [text for text, value in zip(pair, values, strict=True) if is_shown(value, rule.value, precision)]
        steps.append(step or next(iter(true), ""))
    return steps


def is_shown(value: float | None, wanted: Array, precision: int) -> bool:
    """Return whether a number is another as it is shown."""
    return value is not None and short(value, precision) == short(float(wanted), precision)


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
    else:
        return ""
    rest = [f"{term[:3]}{in_brackets(text)}" for term, text in zip(terms[1:], texts[1:], strict=True)]
    return "".join([texts[0], *rest])


def unsigned(term: str) -> str:
    """Return a term without the sign between it and the one before."""
    return term[3:] if term.startswith((" + ", " - ")) else term


def terms_of(text: str) -> list[str]:
    """Return the terms of a sum, each but the first with the sign before it."""
    return split_outside(text, (" + ", " - "))


def paths_section(answer: Explained, settings: Settings) -> Section:
    """Return the paths from each input with their products, and the sums; nothing where there are none."""
    parts = [
        part for name, paths in answer.paths.items() for part in paths_by(answer.name, name, paths, settings.precision)
    ]
    return Section("paths", paths_title(answer), tuple(parts)) if parts else Section("paths")


def paths_by(output: str, name: str, paths: Sequence[Path], precision: int) -> Iterator[Part]:
    """Yield a table of the paths from one input, the product of the derivatives along each, and their sum."""
    whole = sum(path.product for path in paths)
    label = f"∂{output}/∂{name}"
    ways = [" → ".join(path.names) for path in paths]
    labels = (*ways, label) if len(paths) > 1 else (*ways,)
    products = [Cell(text=product_text(path, precision)) for path in paths]
    totals = [Cell(path.product) for path in paths]
    blank, total = ([Cell()], [Cell(whole)]) if len(paths) > 1 else ([], [])
    columns = (Column("", (*products, *blank), numbers=False), Column("", (*totals, *total)))
    yield Table(labels, (columns,), ruled=(), tones=("",) * len(paths) + (("total",) if total else ()))


def product_text(path: Path, precision: int) -> str:
    """Return the derivatives along a path, multiplied; nothing for a path of one link."""
    if len(path.factors) == 1:
        return ""
    texts = [short(factor, precision) for factor in path.factors]
    rounded = float(np.prod([float(text) for text in texts]))
    same = short(rounded, precision) == short(path.product, precision)
    factors = [in_brackets(text) if k else text for k, text in enumerate(texts)]
    return " · ".join(factors) + (" =" if same else " ≈")


def paths_title(answer: Explained) -> str:
    """Return the title of the section of paths."""
    [(name, paths)] = answer.paths.items() if len(answer.paths) == 1 else [("", [])]
    if not name:
        return f"Paths to {answer.name}: the products along each add up"
    count = ["One path leads", "Two paths lead", "Three paths lead", "Four paths lead", "Five paths lead"]
    how_many = count[len(paths) - 1] if len(paths) <= len(count) else "Six paths lead"
    adds = "and its derivatives multiply" if len(paths) == 1 else "and their products add up"
    return f"{how_many} from {name} to {answer.name}, {adds}"
