"""What an answer prints, read back: every formula with the names it may use and the number that stands beside it.

``printed`` lists formulas and evaluates none; ``read_back`` holds each against its number, with the arithmetic that it
is given.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli.engine.naming import place_text
from gradcli.errors import GivenUp
from gradcli.formulas.index_rules import IndexRule, renamed

Names = Mapping[str, Any]
Evaluate = Callable[[str, Names], Any]
"""What a formula gives with these values of its names: a number or an array of any number class, None if not read."""

SAMPLES = 7
"""Entries at which a rule is read back."""
SMALLEST = 1e-290
"""What products of numbers may lose to underflow."""
MOST_PLACES = 100_000
"""Entries up to which all places of a rule are compared with those of the Jacobian."""
OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


@dataclass(frozen=True, slots=True)
class Printed:
    """A formula where it ``stands``, and the ``number`` (or array) beside it; ``name`` is what a definition defines."""

    stands: str
    formula: str
    number: Any
    name: str = ""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A formula that is not the number beside it; ``found`` is what it gives, or why it gives nothing."""

    stands: str
    formula: str
    number: Any
    found: Any


def read_back(
    answer: Any,
    evaluate: Evaluate,
    tolerance: float = 1e-9,
    least: float = 1e-300,
    asked: Callable[[Printed], bool] = lambda _: True,
    items: Iterable[Printed] | None = None,
) -> tuple[int, list[Mismatch]]:
    """Return how many formulas of an ``Explanation`` were read back, and those that are not the number beside them.

    Definitions come first, and later formulas use what ``evaluate`` made of them. A formula is right where it is within
    ``tolerance`` of its number, relative to that or to ``least``; where a number is not finite, so must the formula be.
    Those that are not ``asked`` for are not read. ``items`` are what ``printed`` lists, where a caller has it already.
    """
    names: dict[str, Any] = dict(answer.inputs)
    count, wrong = 0, list(unsound(answer))
    for item in filter(asked, printed(answer) if items is None else items):
        try:
            result = evaluate(item.formula, names)
        except GivenUp:
            raise
        except Exception as error:  # noqa: BLE001 - whatever keeps a printed formula from being read is a finding
            wrong.append(Mismatch(item.stands, item.formula, item.number, getattr(error, "message", str(error))))
            continue
        if result is None:
            continue
        count += 1
        if item.name:
            names[item.name] = result
        if not gives_number(result, item.number, tolerance, least):
            wrong.append(Mismatch(item.stands, item.formula, item.number, result))
    return count, wrong


def gives_number(result: Any, number: Any, tolerance: float, least: float) -> bool:
    """Return whether a formula gives the number beside it; 0 and -0 are one number."""
    wanted = np.asarray(number, dtype=np.float64)
    got = np.asarray(result)
    if got.shape != wanted.shape:
        return False
    got = got.astype(np.float64)
    finite = np.isfinite(wanted)
    with np.errstate(all="ignore"):
        near = np.abs(got - wanted) <= tolerance * np.maximum(np.abs(wanted), least)
    return bool(np.all(np.where(finite, near, (got == wanted) | ~np.isfinite(got))))


def printed(answer: Any) -> Iterator[Printed]:
    """Yield every formula of an answer: definitions in order, the output's, J's, and its rules at some entries."""
    for name, text in answer.definitions.items():
        yield Printed(f"definition {name}", text, answer.definition_values[name], name)
    output = np.ravel(answer.output)
    for i, text in enumerate(answer.output_formulas or []):
        yield Printed(f"forward {answer.name}{place_text(i, answer.output.shape)}", text, output[i])
    for name, jacobian in answer.jacobian.items():
        for row, column, value, text in zip(
            jacobian.rows, jacobian.columns, jacobian.values, jacobian.formulas or [], strict=False
        ):
            above = f"d{answer.name}{place_text(int(row), jacobian.output_shape)}"
            yield Printed(f"{above}/d{name}{place_text(int(column), jacobian.input_shape)}", text, value)
        yield from of_rules(answer, name)


def of_rules(answer: Any, name: str) -> Iterator[Printed]:
    """Yield the index rules of one Jacobian at some entries, as formulas with integers for their letters."""
    for rule in formula_rules(answer, name):
        entries = entries_of(answer, rule, name)
        if entries is None:
            continue
        lengths = lengths_of(answer, rule)
        chosen = sample_letters(list(lengths.values()))
        places = flat_places(answer, rule, dict(zip(lengths, chosen, strict=True)), chosen.shape[1])
        for integers, number in zip(chosen.T.tolist(), numbers_at(places, *entries).tolist(), strict=True):
            letters = dict(zip(lengths, integers, strict=True))
            stands = f"rule {rule.left} at {', '.join(f'{k}={v}' for k, v in letters.items())}"
            yield Printed(stands.removesuffix(" at "), renamed(rule.formula, letters), number)


def formula_rules(answer: Any, name: str) -> list[IndexRule]:
    """Return the rules of one Jacobian that say an entry by a formula."""
    return [rule for rule in answer.jacobian[name].index_rules if rule.formula]


def rule_shape(answer: Any, rule: IndexRule) -> tuple[int, ...]:
    """Return the shape of what a rule is about: that of its value above, and of its value below."""
    above = answer.output if rule.whole else answer.definition_values[rule.above]
    below = answer.definition_values if rule.below in answer.definitions else answer.inputs
    return (*np.shape(above), *np.shape(below[rule.below]))


def entries_of(answer: Any, rule: IndexRule, name: str) -> tuple[Any, Any] | None:
    """Return what a rule is about, J or one of its links: flat places, which rise, and numbers; None if not held."""
    matrix = answer.jacobian[name] if rule.whole else answer.link(rule.above, rule.below)
    if matrix is None or (rule.whole and not matrix.held):
        return None
    shape = rule_shape(answer, rule)
    return matrix.rows * math.prod(shape[len(rule.rows) :]) + matrix.columns, matrix.values


def numbers_at(wanted: Any, places: Any, numbers: Any) -> Any:
    """Return the numbers in the ``wanted`` places; 0 where there is no entry."""
    if not len(places):
        return np.zeros(len(wanted))
    at = np.minimum(np.searchsorted(places, wanted), len(places) - 1)
    return np.where(places[at] == wanted, numbers[at], 0.0)


def lengths_of(answer: Any, rule: IndexRule) -> dict[str, int]:
    """Return how many integers each letter of a rule stands for: it runs along the shortest axis it is the index of."""
    lengths: dict[str, int] = {}
    for index, length in zip([*rule.rows, *rule.columns], rule_shape(answer, rule), strict=True):
        if index.isidentifier():
            lengths[index] = min(length, lengths.get(index, length))
    return lengths


def sample_letters(lengths: list[int]) -> Any:
    """Return some tuples of integers below these lengths, a row for each letter.

    They are the first, the last, some between, and some whose letters are equal.
    """
    count, shortest = math.prod(lengths), min(lengths, default=0)
    places = set(np.linspace(0, count - 1, min(SAMPLES, count)).astype(int).tolist()) if count else set()
    if len(lengths) > 1 and count:
        equal = [(shortest // 3,) * len(lengths), (shortest // 2,) * len(lengths)]
        places |= {int(np.ravel_multi_index(letters, lengths)) for letters in equal}
    return np.array(np.unravel_index(sorted(places), lengths)) if lengths else np.zeros((0, len(places)), dtype=int)


def flat_places(answer: Any, rule: IndexRule, letters: Mapping[str, Any], count: int) -> Any:
    """Return the flat places of entries of a rule, with so many integers in the place of each of its letters."""
    places: Any = np.zeros(count, dtype=np.intp)
    for index, length in zip([*rule.rows, *rule.columns], rule_shape(answer, rule), strict=True):
        places = places * length + whole_number(ast.parse(index, mode="eval").body, letters)
    return places


def whole_number(node: ast.expr, letters: Mapping[str, Any]) -> Any:
    """Return what an index is: letters and integers joined by ``+ - * // %``."""
    if isinstance(node, ast.Name):
        return letters[node.id]
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](whole_number(node.left, letters), whole_number(node.right, letters))
    assert isinstance(node, ast.Constant)  # noqa: S101
    return node.value


def unsound(answer: Any) -> Iterator[Mismatch]:
    """Yield what is wrong with numbers alone: entries that no rule has, sums of paths that are not J."""
    for name in answer.jacobian:
        yield from left_out(answer, name)
        yield from wrong_chains(answer, name)


def left_out(answer: Any, name: str) -> Iterator[Mismatch]:
    """Yield an entry of each Jacobian that is not 0 and that none of its rules is about."""
    about: dict[tuple[str, str], list[IndexRule]] = {}
    for rule in formula_rules(answer, name):
        about.setdefault((rule.above, rule.below), []).append(rule)
    if any(math.prod(lengths_of(answer, rule).values()) > MOST_PLACES for rules in about.values() for rule in rules):
        return
    for rules in about.values():
        entries = entries_of(answer, rules[-1], name)
        if entries is None:
            continue
        places, numbers = entries
        left = (numbers != 0) & ~np.isin(places, np.concatenate([places_of_rule(answer, rule) for rule in rules]))
        for k in np.flatnonzero(left)[:1].tolist():
            place = np.unravel_index(places[k], rule_shape(answer, rules[-1]))
            yield Mismatch(f"rule {rules[-1].text}", "no rule for an entry", float(numbers[k]), place)


def places_of_rule(answer: Any, rule: IndexRule) -> Any:
    """Return the flat places of all entries that a rule is about."""
    lengths = lengths_of(answer, rule)
    count = math.prod(lengths.values())
    grid = np.indices(list(lengths.values())).reshape(len(lengths), count)
    return flat_places(answer, rule, dict(zip(lengths, grid, strict=True)), count)


def wrong_chains(answer: Any, name: str) -> Iterator[Mismatch]:
    """Yield sums of products that are not J, by their effect on one vector, where the factors are held."""
    jacobian = answer.jacobian[name]
    for rule in jacobian.index_rules:
        if not rule.paths:
            continue
        start = np.cos(np.arange(jacobian.matrix_shape[0]) + 1.0)
        result: Any = 0.0
        for path in rule.paths:
            row = start
            for factor in path:
                link = answer.link(factor.above, factor.below)
                if link is None:
                    return
                row = np.bincount(link.columns, weights=row[link.rows] * link.values, minlength=link.shape[1])
            result = result + row
        wanted = np.ravel(jacobian.vjp(start.reshape(answer.output.shape)))
        size = np.ravel(jacobian.scale(start.reshape(answer.output.shape)))
        if np.all(np.isfinite(wanted)) and not np.all(np.abs(result - wanted) <= 1e-9 * size + SMALLEST):
            yield Mismatch(f"chain of {name}", rule.text, wanted, result)
