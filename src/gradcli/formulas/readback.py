"""What an answer prints, read back: every formula with the names it may use and the number that stands beside it.

``printed`` lists formulas and evaluates none; ``read_back`` holds each against its number, with the arithmetic that it
is given.
"""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli.engine.naming import place_text
from gradcli.errors import GivenUp

Names = Mapping[str, Any]
Evaluate = Callable[[str, Names], Any]
"""What a formula gives with these values of its names: a number or an array of any number class, None if not read."""

SAMPLES = 7
"""Entries at which a rule is read back."""
SMALLEST = 1e-290
"""What products of numbers may lose to underflow."""
MOST_PLACES = 100_000
"""Entries up to which all places of a rule are compared with those of the Jacobian."""
RULE = re.compile(
    r"d(?P<above>\w+?)(?:\[(?P<rows>[^\]]*)\])?/d(?P<below>\w+)(?:\[(?P<columns>[^\]]*)\])?(?: \([^()]* fixed\))?"
    r" = (?P<formula>.*)"
)
CHAIN = re.compile(r"d\w+/d\w+ = (?P<sum>d\w+/d\w+(?: \([^()]* fixed\))?(?: [@+] .*|$))")
LINK = re.compile(r"d(\w+)/d(\w+)")
WORD = re.compile(r"\"[^\"]*\"|[A-Za-z_]\w*")
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


@dataclass(frozen=True, slots=True)
class IndexRule:
    """A rule with its two ends; a letter that stands alone in an index runs along that axis."""

    text: str
    above: str
    below: str
    rows: list[str]
    columns: list[str]
    formula: str
    whole: bool


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
            found = evaluate(item.formula, names)
        except GivenUp:
            raise
        except Exception as error:  # noqa: BLE001 - whatever keeps a printed formula from being read is a finding
            wrong.append(Mismatch(item.stands, item.formula, item.number, getattr(error, "message", str(error))))
            continue
        if found is None:
            continue
        count += 1
        if item.name:
            names[item.name] = found
        if not same(found, item.number, tolerance, least):
            wrong.append(Mismatch(item.stands, item.formula, item.number, found))
    return count, wrong


def same(found: Any, number: Any, tolerance: float, least: float) -> bool:
    """Return whether a formula gives the number beside it; 0 and -0 are one number."""
    wanted = np.asarray(number, dtype=np.float64)
    got = np.asarray(found)
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
    for rule in index_rules(answer, name):
        shapes = shapes_of(answer, rule)
        found = entries_of(answer, rule, name)
        if found is None:
            continue
        lengths = lengths_of(rule, shapes)
        letters = list(lengths)
        chosen = sampled(list(lengths.values()))
        at = dict(zip(letters, chosen, strict=True))
        rows, columns = (
            np.broadcast_to(flat_places(end, shape, at), chosen.shape[1:])
            for end, shape in zip((rule.rows, rule.columns), shapes, strict=True)
        )
        for integers, number in zip(chosen.T.tolist(), numbers_at(found, rows, columns), strict=True):
            letter = dict(zip(letters, integers, strict=True))
            stands = f"rule {rule.text.partition(' = ')[0]} at {', '.join(f'{k}={v}' for k, v in letter.items())}"
            yield Printed(stands.removesuffix(" at "), with_integers(rule.formula, letter), number)


def index_rules(answer: Any, name: str) -> list[IndexRule]:
    """Return the rules of one Jacobian that say an entry by a formula."""
    found = []
    for number, text in enumerate(answer.jacobian[name].rules):
        if (number == 0 and CHAIN.fullmatch(text)) or (match := RULE.fullmatch(text)) is None:
            continue
        rows, columns = (part.split(",") if part else [] for part in (match["rows"], match["columns"]))
        whole = len(answer.jacobian[name].rules) == 1 or match["above"] not in answer.definitions
        found.append(IndexRule(text, match["above"], match["below"], rows, columns, match["formula"], whole))
    return found


def shapes_of(answer: Any, rule: IndexRule) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shapes of the two ends of a rule."""
    above = answer.output.shape if rule.whole else np.shape(answer.definition_values[rule.above])
    below = answer.definition_values if rule.below in answer.definitions else answer.inputs
    return above, np.shape(below[rule.below])


def entries_of(answer: Any, rule: IndexRule, name: str) -> Any:
    """Return what a rule is about by its rows, columns and values: J, or one of its links; None where not held."""
    return answer.jacobian[name] if rule.whole else answer.lookup.link(rule.above, rule.below)


def numbers_at(found: Any, rows: Any, columns: Any) -> list[float]:
    """Return the numbers in these places, of which each is listed once; 0 where there is no entry."""
    numbers = [0.0] * len(rows)
    seen = np.flatnonzero(np.isin(found.rows, rows))
    places = zip(found.rows[seen].tolist(), found.columns[seen].tolist(), found.values[seen].tolist(), strict=True)
    values = {(row, column): value for row, column, value in places}
    for k, place in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
        numbers[k] = values.get(place, 0.0)
    return numbers


def lengths_of(rule: IndexRule, shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> dict[str, int]:
    """Return how many integers each letter of a rule stands for: it runs along the shortest axis it is the index of."""
    lengths: dict[str, int] = {}
    for index, length in zip([*rule.rows, *rule.columns], [*shapes[0], *shapes[1]], strict=True):
        if index.isidentifier():
            lengths[index] = min(length, lengths.get(index, length))
    return lengths


def sampled(lengths: list[int]) -> Any:
    """Return some tuples of integers below these lengths, a row for each letter.

    They are the first, the last, some between, and some whose letters are equal.
    """
    count, shortest = math.prod(lengths), min(lengths, default=0)
    places = set(np.linspace(0, count - 1, min(SAMPLES, count)).astype(int).tolist()) if count else set()
    if len(lengths) > 1 and count:
        equal = [(shortest // 3,) * len(lengths), (shortest // 2,) * len(lengths)]
        places |= {int(np.ravel_multi_index(letters, lengths)) for letters in equal}
    return np.array(np.unravel_index(sorted(places), lengths)) if lengths else np.zeros((0, len(places)), dtype=int)


def flat_places(indices: list[str], shape: tuple[int, ...], letters: Mapping[str, Any]) -> Any:
    """Return the flat places that indices name, for integers or arrays of them in the place of the letters."""
    place: Any = 0
    for index, length in zip(indices, shape, strict=True):
        place = place * length + whole_number(ast.parse(index, mode="eval").body, letters)
    return place


def whole_number(node: ast.expr, letters: Mapping[str, Any]) -> Any:
    """Return what an index is: letters and integers joined by ``+ - * // %``."""
    if isinstance(node, ast.Name):
        return letters[node.id]
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](whole_number(node.left, letters), whole_number(node.right, letters))
    assert isinstance(node, ast.Constant)  # noqa: S101
    return node.value


def with_integers(formula: str, letters: Mapping[str, int | str]) -> str:
    """Return a formula with integers in the place of its index letters; text in quotes stays."""
    return WORD.sub(lambda word: str(letters.get(word[0], word[0])), formula)


def unsound(answer: Any) -> Iterator[Mismatch]:
    """Yield what is wrong with numbers alone: entries that no rule has, sums of paths that are not J."""
    for name in answer.jacobian:
        yield from left_out(answer, name)
        yield from wrong_chains(answer, name)


def left_out(answer: Any, name: str) -> Iterator[Mismatch]:
    """Yield an entry of each Jacobian that is not 0 and that none of its rules is about."""
    said: dict[tuple[str, str], set[tuple[int, int]]] = {}
    about: dict[tuple[str, str], IndexRule] = {}
    for rule in index_rules(answer, name):
        shapes = shapes_of(answer, rule)
        lengths = lengths_of(rule, shapes)
        count = math.prod(lengths.values())
        if count > MOST_PLACES:
            return
        grid = np.indices(list(lengths.values())).reshape(len(lengths), count)
        chosen = dict(zip(lengths, grid, strict=True))
        ends = (
            np.broadcast_to(flat_places(end, shape, chosen), (count,)).tolist()
            for end, shape in zip((rule.rows, rule.columns), shapes, strict=True)
        )
        said.setdefault((rule.above, rule.below), set()).update(zip(*ends, strict=True))
        about[rule.above, rule.below] = rule
    for key, places in said.items():
        rule = about[key]
        found = entries_of(answer, rule, name)
        if found is None:
            continue
        for *place, value in zip(found.rows.tolist(), found.columns.tolist(), found.values.tolist(), strict=True):
            if value != 0 and tuple(place) not in places:
                yield Mismatch(f"rule {rule.text}", "no rule for an entry", value, tuple(place))
                break


def wrong_chains(answer: Any, name: str) -> Iterator[Mismatch]:
    """Yield sums of products that are not J, by their effect on one vector, where the factors are held."""
    jacobian = answer.jacobian[name]
    for text in jacobian.rules[:1]:
        match = CHAIN.fullmatch(text)
        if match is None:
            continue
        start = np.cos(np.arange(jacobian.matrix_shape[0]) + 1.0)
        found: Any = 0.0
        for product in match["sum"].split(" + "):
            row = start
            for above, below in LINK.findall(product):
                link = answer.lookup.link(above, below)
                if link is None:
                    return
                row = np.bincount(link.columns, weights=row[link.rows] * link.values, minlength=link.shape[1])
            found = found + row
        wanted = np.ravel(jacobian.vjp(start.reshape(answer.output.shape)))
        size = np.ravel(jacobian.scale(start.reshape(answer.output.shape)))
        if np.all(np.isfinite(wanted)) and not np.all(np.abs(found - wanted) <= 1e-9 * size + SMALLEST):
            yield Mismatch(f"chain of {name}", text, wanted, found)
