"""The backward pass and the paths as lines: a rule for each value, with its shape and its number."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from gradcli.render.numbers import short
from gradcli.render.putting_in import numbers_put_in, terms_of
from gradcli.render.rows import INDENT, Row, Scalars, label_width, value_text
from gradcli.render.wrap import wrapped

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from gradcli.explanation.explained import Explained
    from gradcli.explanation.rules import BackwardPass, Path, Rule
    from gradcli.ops.declare import Array
    from gradcli.render.glyphs import Layout

TITLE = "Backward: each line is what arrived, times the derivative of one step"
MOST_RULES = 40
"""Lines of the backward pass that are shown: of more, the first and the last."""
LONGEST_TURN = 12
"""Lines of one turn of a loop that repetitions are looked for in."""
FEW = 3
"""Turns of a loop that are all shown."""
NUMBERED = re.compile(r"(?<=[A-Za-z_])\d+\b")
GAP = "   "
LONGEST_SUM = 1_000
"""Characters of a sum beyond which its middle terms are counted."""
MOST_ROWS, MOST_ENTRIES = 4, 24
"""Rows and entries of a matrix that is shown row by row."""


def backward_lines(found: Explained, layout: Layout) -> list[str]:
    """Return a line for each rule; nothing where no value between is named and none is used twice."""
    if not (found.has_steps and found.rules):
        return []
    made = [rule for rule in reversed(found.rules) if rule.made and rule.name not in found.definitions]
    lines = [f"{name} = {value_text(value, layout)}" for name, value in found.constants.items()]
    lines += [f"{rule.name} = {rule.made}" for rule in made]
    whole = found.lookup.backward_pass
    shown = [*whole.rules] if layout.full and not whole.left_out else shortened(whole)
    rules = [rule for rule in shown if not isinstance(rule, str)]
    draw = Columns(rules, layout).lines if any(rule.value.shape for rule in rules) else scalars(rules, found, layout)
    for rule in shown:
        lines += [rule] if isinstance(rule, str) else draw(rule)
    return lines


def scalars(rules: Sequence[Rule], found: Explained, layout: Layout) -> Callable[[Rule], list[str]]:
    """Return what draws rules whose values are all single numbers, with numbers put in."""
    steps = numbers_put_in(rules, found, layout.precision)
    rows = {
        rule.name: Row(f"{rule.name}.grad", right_side(rule), rule.value, step)
        for rule, step in zip(rules, steps, strict=True)
    }
    drawn = Scalars(list(rows.values()), label_width(list(rows.values())), found, layout)
    return lambda rule: drawn.lines(rows[rule.name])


class Columns:
    """Draws rules in columns: what is called how, the rule, shape and value; the value below where there is no room."""

    def __init__(self, rules: Sequence[Rule], layout: Layout) -> None:
        self.layout, self.room = layout, layout.width - INDENT
        self.label = max(len(rule.name) for rule in rules) + len(".grad")
        self.shape = max(len(shape_text(rule)) for rule in rules)
        fitting = [rule for rule in rules if self.width(rule, len(right_side(rule))) <= self.room]
        while fitting and max(self.width(rule, self.longest(fitting)) for rule in fitting) > self.room:
            fitting.remove(max(fitting, key=lambda rule: len(right_side(rule))))
        self.text = self.longest(fitting)

    @staticmethod
    def longest(rules: Sequence[Rule]) -> int:
        """Return the length of the longest rule."""
        return max((len(right_side(rule)) for rule in rules), default=0)

    def width(self, rule: Rule, text: int) -> int:
        """Return how wide a line is whose rule has ``text`` columns."""
        values = value_lines(rule.value, self.layout)
        return self.label + 3 + text + self.shape + 2 * len(GAP) + max(map(len, values))

    def lines(self, rule: Rule) -> list[str]:
        """Return one rule."""
        head, text = f"{rule.name + '.grad':<{self.label}} = ", right_side(rule)
        shape, values = f"{GAP}{shape_text(rule):>{self.shape}}{GAP}", value_lines(rule.value, self.layout)
        if len(text) <= self.text and self.width(rule, self.text) <= self.room:
            first = f"{head}{text:<{self.text}}{shape}{values[0]}"
            return [first, *(" " * (len(head) + self.text + len(shape)) + line for line in values[1:])]
        hang = min(len(head), self.room // 3)
        before, shape = wrapped(head + text, self.room, hang), shape.lstrip()
        if hang + len(shape) + max(map(len, values)) <= self.room:
            below = [" " * hang + shape + values[0], *(" " * (hang + len(shape)) + line for line in values[1:])]
        else:
            short_text = value_text(rule.value, self.layout, brief=True).partition(" in shape ")[0]
            below = wrapped(" " * hang + shape + short_text, self.room, hang + 1)
        return [*before, *below]


def right_side(rule: Rule) -> str:
    """Return how a cotangent was made, and how often its value is used; of a long sum the first and the last term."""
    if rule.text is None:
        return f"the sum over its {rule.uses:,} uses" if rule.uses > 1 else "(no text)"
    text = rule.text
    if len(text) > LONGEST_SUM and len(terms := terms_of(text)) > 3:
        text = f"{terms[0]} … {len(terms) - 2:,} more terms …{terms[-1]}"
    used = {1: "", 2: "   (used twice)"}.get(rule.uses, f"   (used {rule.uses:,} times)")
    return f"{text}{used}"


def shape_text(rule: Rule) -> str:
    """Return the shape of a value, nothing for a number."""
    return str(rule.value.shape) if rule.value.shape else ""


def value_lines(value: Array, layout: Layout) -> list[str]:
    """Return a value: a small matrix row by row with its columns aligned, all else on one line."""
    rows = value.shape[0] if value.ndim == 2 else 0
    line = value_text(value, layout).partition(" in shape ")[0]
    if not 1 < rows <= MOST_ROWS or not 0 < value.size <= MOST_ENTRIES:
        return [line]
    texts = [[short(float(entry), layout.precision) for entry in row] for row in value]
    columns = [aligned([row[j] for row in texts]) for j in range(value.shape[1])]
    rows_text = ["".join(f"{column[i]:<{max(map(len, column)) + 1}}" for column in columns) for i in range(rows)]
    shown = [
        f"{'[[' if i == 0 else ' ['}{text.rstrip().removesuffix(',')}{']]' if i == rows - 1 else '],'}"
        for i, text in enumerate(rows_text)
    ]
    return shown if max(map(len, shown)) <= layout.width // 2 else [line]


def is_drawn(found: Explained, name: str, layout: Layout) -> bool:
    """Return whether the backward pass shows the gradient of an input row by row."""
    if not found.has_steps:
        return False
    own = found.lookup.backward_pass.input_rule(name)
    return own is not None and len(value_lines(own.value, layout)) > 1


def aligned(texts: Sequence[str]) -> list[str]:
    """Return numbers with their points below each other and a comma behind each."""
    lead = max(len(text.partition(".")[0]) for text in texts)
    return [" " * (lead - len(text.partition(".")[0])) + text + "," for text in texts]


def shortened(whole: BackwardPass) -> list[Rule | str]:
    """Return the rules, with a line that counts in the place of the middle turns of a loop, and of what is too long."""
    rules, position, left_out = whole.rules, 0, whole.left_out
    patterns = [pattern(rule) for rule in rules]
    found: list[Rule | str] = []
    while position < len(rules):
        period, turns = repetition(patterns, position)
        if turns <= FEW:
            if left_out and position == whole.gap:
                found.append(f"… {left_out:,} more lines …")
            found.append(rules[position])
            position += 1
            continue
        end = position + period * turns
        between = turns - 2 + (left_out // period if position < whole.gap < end else 0)
        found += rules[position : position + period]
        found.append(f"…   {between:,} turns of the loop between")
        found += rules[end - period : end]
        position = end
    if len(found) <= MOST_RULES:
        return found
    half = MOST_RULES // 2
    return [*found[:half], f"… {len(found) - 2 * half + left_out:,} more lines …", *found[-half:]]


def unnumbered(text: str) -> str:
    """Return a text without the numbers of its names.

    >>> unnumbered("y10.grad*2 + h1[0]")
    'y.grad*2 + h[0]'
    """
    return NUMBERED.sub("", text)


def repetition(patterns: Sequence[Hashable | None], start: int) -> tuple[int, int]:
    """Return how many lines from ``start`` on repeat, and how often; a line whose pattern is None never does.

    >>> repetition(["y", "a", "b", "a", "b", "a", "b", "a", "b"], 1)
    (2, 4)
    """
    for period in range(1, LONGEST_TURN + 1):
        turn = patterns[start : start + period]
        if None in turn:
            return 1, 1
        turns = 1
        while patterns[start + period * turns : start + period * (turns + 1)] == turn:
            turns += 1
        if turns > FEW:
            return period, turns
    return 1, 1


def pattern(rule: Rule) -> tuple[str, str, int] | None:
    """Return what the lines of a loop's turns have in common; None for a line that is of no loop."""
    if not rule.base or rule.base == rule.name:
        return None
    return rule.base, unnumbered(rule.text or ""), rule.uses


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
    whole = short(sum(path.product for path in paths), precision)
    if column + max(map(len, [*totals, whole])) > layout.width - INDENT:
        rows = zip(ways, products, totals, strict=True)
        told = [" ".join(part for part in (f"{way}:", product, total) if part) for way, product, total in rows]
        return told if len(paths) == 1 else [*told, f"{label} = {whole}"]
    lines = []
    for way, product, total in zip(ways, products, totals, strict=True):
        row = f"{way:<{first}}{GAP}{product}" if product else way
        lines.append(f"{row:<{column}}{total}" if not product else f"{row:<{column - 1}} {total}")
    if len(paths) == 1:
        return lines
    rule = glyphs.rule * max(map(len, [*totals, whole]))
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
