"""The backward pass and the paths as lines: a rule for each value, with its shape and its number."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

import numpy as np

from gradcli.render.numbers import array_text, short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.explanation.explained import Explained
    from gradcli.explanation.rules import Path, Rule
    from gradcli.ops.declare import Array
    from gradcli.render.glyphs import Layout

TITLE = "Backward: each line is what arrived, times the derivative of one step"
MOST_RULES = 40
"""Lines of the backward pass that are shown: of more, the first and the last."""
LONGEST_TURN = 12
"""Lines of one turn of a loop that repetitions are looked for in."""
INDENT = 3
GAP = "   "
MOST_ROWS, MOST_ENTRIES = 4, 24
"""Rows and entries of a matrix that is shown row by row."""


def backward_lines(found: Explained, layout: Layout) -> list[str]:
    """Return a line for each rule; nothing where no value between is named and none is used twice."""
    rules = found.rules
    if not is_worth_showing(rules):
        return []
    made = [rule for rule in reversed(rules) if rule.made and rule.name not in found.definitions]
    shown = shortened(rules)
    room = layout.width - INDENT
    labels = max((len(rule.name) + len(".grad") for rule in shown if not isinstance(rule, str)), default=0)
    values = [value_lines(rule.value, layout) for rule in rules]
    shapes = max(len(shape_text(rule)) for rule in rules)
    widest = max((len(line) for value in values for line in value), default=0)
    texts = max(
        10, min(max(len(right_side(rule)) for rule in rules), room - labels - shapes - widest - 3 - 2 * len(GAP))
    )
    lines = [f"{name} = {array_text(value, layout.precision)}" for name, value in found.constants.items()]
    lines += [f"{rule.name} = {rule.made}" for rule in made]
    for rule in shown:
        lines += [rule] if isinstance(rule, str) else rule_lines(rule, layout, labels, texts, shapes)
    return lines


def is_worth_showing(rules: Sequence[Rule]) -> bool:
    """Return whether a value between is named, or one is used twice.

    Where entries of a vector are used one by one, its rule is a list, and each sum is spelled out by itself.
    """
    return any(not rule.is_input or (rule.uses > 1 and not (rule.text or "").startswith("[")) for rule in rules[1:])


def rule_lines(rule: Rule, layout: Layout, labels: int, texts: int, shapes: int) -> list[str]:
    """Return one rule in columns: what it is called, how it was made, shape and value."""
    head = f"{rule.name + '.grad':<{labels}} = "
    text = right_side(rule)
    number = value_lines(rule.value, layout)
    pieces = [text] if len(text) <= texts else wrapped(text, layout.width - INDENT - len(head))
    before = [head + pieces[0], *(" " * len(head) + piece for piece in pieces[1:])]
    column = len(head) + texts + len(GAP) + shapes
    if len(pieces) == 1 and len(text) <= texts:
        first = f"{before[0]:<{column - shapes}}{shape_text(rule):>{shapes}}{GAP}{number[0]}"
        return [first.rstrip(), *(" " * (column + len(GAP)) + line for line in number[1:])]
    place = " " * min(len(head), max(0, layout.width - INDENT - shapes - len(GAP) - max(map(len, number))))
    tail = [f"{shape_text(rule):>{shapes}}{GAP}{number[0]}", *(" " * (shapes + len(GAP)) + line for line in number[1:])]
    return [*before, *(f"{place}{line}".rstrip() for line in tail)]


def right_side(rule: Rule) -> str:
    """Return how a cotangent was made, and how often its value is used."""
    used = {1: "", 2: "   (used twice)"}.get(rule.uses, f"   (used {rule.uses:,} times)")
    return f"{rule.text or '?'}{used}"


def shape_text(rule: Rule) -> str:
    """Return the shape of a value, nothing for a number."""
    return str(rule.value.shape) if rule.value.shape else ""


def wrapped(text: str, width: int) -> list[str]:
    """Return a text in pieces that end before an operator."""
    return textwrap.wrap(text, max(width, 10), break_long_words=False, break_on_hyphens=False) or [text]


def value_lines(value: Array, layout: Layout) -> list[str]:
    """Return a value: a small matrix row by row with its columns aligned, all else on one line."""
    rows, precision = value.shape[0] if value.ndim == 2 else 0, layout.precision
    if not 1 < rows <= MOST_ROWS or not 0 < value.size <= MOST_ENTRIES:
        return [array_text(value, precision)]
    texts = [[short(float(entry), precision) for entry in row] for row in value]
    columns = [aligned([row[j] for row in texts]) for j in range(value.shape[1])]
    lines = [f"[{', '.join(column[i] for column in columns)}]" for i in range(rows)]
    shown = [f"{'[' if i == 0 else ' '}{line}{']' if i == rows - 1 else ','}" for i, line in enumerate(lines)]
    return shown if max(map(len, shown)) <= layout.width // 2 else [array_text(value, precision)]


def aligned(texts: Sequence[str]) -> list[str]:
    """Return numbers with their points below each other, without spaces behind."""
    lead = max(len(text.partition(".")[0]) for text in texts)
    return [" " * (lead - len(text.partition(".")[0])) + text for text in texts]


def shortened(rules: Sequence[Rule]) -> list[Rule | str]:
    """Return the rules, with a line that counts in the place of the middle turns of a loop, and of what is too long."""
    found: list[Rule | str] = []
    position = 0
    while position < len(rules):
        period, turns = repetition(rules, position)
        if turns > 2:
            last = position + period * (turns - 1)
            found += [*rules[position : position + period]]
            found.append(f"… {turns - 2:,} more {'turn' if turns == 3 else 'turns'} of the loop …")
            found += rules[last : last + period]
            position += period * turns
        else:
            found.append(rules[position])
            position += 1
    if len(found) <= MOST_RULES:
        return found
    half = MOST_RULES // 2
    return [*found[:half], f"… {len(found) - 2 * half:,} more lines …", *found[-half:]]


def repetition(rules: Sequence[Rule], start: int) -> tuple[int, int]:
    """Return how many lines from ``start`` on repeat, but for the numbers of the names, and how often."""
    for period in range(1, LONGEST_TURN + 1):
        turn = rules[start : start + period]
        if not all(rule.base and rule.base != rule.name for rule in turn):
            return 1, 1
        turns = 1
        while all(
            pattern(rules[at]) == pattern(rule) if at < len(rules) else False
            for at, rule in enumerate(turn, start + period * turns)
        ):
            turns += 1
        if turns > 2:
            return period, turns
    return 1, 1


NUMBERED = re.compile(r"(?<=[A-Za-z_])\d+\b")


def pattern(rule: Rule) -> tuple[str, str, int]:
    """Return what the lines of a loop's turns have in common."""
    return rule.base, NUMBERED.sub("", rule.text or ""), rule.uses


def path_lines(found: Explained, layout: Layout) -> list[str]:
    """Return the paths from each input with their products, and the sums; nothing where there are none."""
    lines: list[str] = []
    for name, paths in found.paths.items():
        if lines:
            lines.append("")
        lines += lines_of_paths(found.name, name, paths, layout)
    return lines


def lines_of_paths(output: str, name: str, paths: Sequence[Path], layout: Layout) -> list[str]:
    """Return the paths from one input: what each runs through, the product of its derivatives, and their sum."""
    glyphs, precision = layout.glyphs, layout.precision
    ways = [f" {glyphs.arrow} ".join(path.names) for path in paths]
    products = [product_text(path, layout) for path in paths]
    totals = [short(path.product, precision) for path in paths]
    label = f"{glyphs.partial}{output}/{glyphs.partial}{name}"
    first = max(map(len, [*ways, label]))
    second = max(map(len, products))
    column = first + len(GAP) + second + (0 if not second else 1)
    lines = []
    for way, product, total in zip(ways, products, totals, strict=True):
        row = f"{way:<{first}}{GAP}{product}" if product else way
        lines.append(f"{row:<{column}}{total}" if not product else f"{row:<{column - 1}} {total}")
    if len(paths) == 1:
        return lines
    whole = short(sum(path.product for path in paths), precision)
    rule = glyphs.line * max(map(len, [*totals, whole]))
    return [*lines, f"{'':<{column}}{rule}", f"{label:<{column}}{whole}"]


def product_text(path: Path, layout: Layout) -> str:
    """Return the derivatives along a path, multiplied; nothing for a path of one link."""
    if len(path.factors) == 1:
        return ""
    shown = [short(factor, layout.precision) for factor in path.factors]
    rounded = float(np.prod([float(text) for text in shown]))
    same = short(rounded, layout.precision) == short(path.product, layout.precision)
    texts = [f"({text})" if text.startswith("-") and k else text for k, text in enumerate(shown)]
    return f" {layout.glyphs.times} ".join(texts) + (" =" if same else " ≈")


def path_titles(found: Explained) -> str:
    """Return the title of the section of paths."""
    [(name, paths)] = found.paths.items() if len(found.paths) == 1 else [("", [])]
    if not name:
        return f"Paths to {found.name}: the products along each add up"
    count = ["One path leads", "Two paths lead", "Three paths lead", "Four paths lead", "Five paths lead"]
    told = count[len(paths) - 1] if len(paths) <= len(count) else "Six paths lead"
    adds = "and its derivatives multiply" if len(paths) == 1 else "and their products add up"
    return f"{told} from {name} to {found.name}, {adds}"
