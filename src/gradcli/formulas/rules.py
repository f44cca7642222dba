"""Index rules: the derivative of one op by one of its arguments, as one formula for all entries of a kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sympy import Add, Expr

from gradcli.engine.graph import Node, Operation
from gradcli.formulas.index_rules import Factor, IndexRule, entry, renamed
from gradcli.formulas.printing import formula_text
from gradcli.formulas.texts import Texts
from gradcli.jacobian import functions as s
from gradcli.jacobian.kinds import constant_of
from gradcli.jacobian.local import Part
from gradcli.ops.declare import value_of
from gradcli.ops.links import Indices
from gradcli.ops.parts import Chosen, Paired, Picked, Reduced, Said
from gradcli.ops.signatures import Shape
from gradcli.records import dataclass, replace

LONG_CONSTANT = 40
"""Characters beyond which a constant array gets a name in a rule."""
LETTERS = "ijklmnpqrstu"
MOST_LETTERS = 100
"""Index letters at hand: an op has 32 axes at most, so has its argument, and a program has few names like ``i7``."""


@dataclass(frozen=True, slots=True)
class Link:
    """A node, one of the nodes that it is computed from, and its local Jacobian for each place where this stands.

    ``held`` are the other arguments that depend on it too: the derivative is taken with these fixed.
    """

    node: Operation
    argument: Node
    parts: dict[int, list[Part]]
    held: list[Node]

    def rule(
        self, texts: Texts, rows: Sequence[str] = (), columns: Sequence[str] = (), formula: str = "", words: str = ""
    ) -> IndexRule:
        """Return what is said of this derivative."""
        above, below, fixed = self.factor(texts)
        return IndexRule(above, tuple(rows), below, tuple(columns), formula, fixed, words)

    def factor(self, texts: Texts) -> Factor:
        """Return the names of what this is the derivative of, by what, and with what fixed."""
        return Factor(texts.of(self.node), texts.of(self.argument), tuple([texts.of(node) for node in self.held]))


def letters_beside(names: set[str]) -> list[str]:
    """Return letters for indices that no variable of the program is called by, as many as any rule needs."""
    return [letter for letter in [*LETTERS, *[f"i{n}" for n in range(1, MOST_LETTERS)]] if letter not in names]


def generic(name: str, shape: tuple[int, ...], out_shape: tuple[int, ...], letters: Sequence[str]) -> str:
    """Return the entry of an array that broadcasts to entry ``[i, j, …]`` of the output: ``b[j]``, ``c[i, 0]``."""
    return entry(name, broadcast(shape, out_shape, letters))


def broadcast(shape: tuple[int, ...], out_shape: tuple[int, ...], letters: Sequence[str]) -> list[str]:
    """Return the indices of that entry."""
    own = letters[len(out_shape) - len(shape) : len(out_shape)]
    lengths = zip(own, shape, out_shape[len(out_shape) - len(shape) :], strict=True)
    return ["0" if n == 1 != m else letter for letter, n, m in lengths]


def rules_of(link: Link, texts: Texts, letters: list[str]) -> list[IndexRule] | None:
    """Return the rules of a link, None where none can be written.

    There is one, or several for entries that are not the same.
    """
    if link.node.op.formula is not None:
        return [elementwise_rule(link, texts, letters)] if all(link.parts.values()) else None
    rules = []
    for k in link.parts:
        rule = rule_of(link, k, texts, letters)
        if rule is None:
            return None
        rules.append(rule)
    several = len({(*rule.rows, "/", *rule.columns) for rule in rules}) == len(rules) > 1
    if len(rules) == 1 or (several and apart(list(link.parts.values()))):
        return rules
    return joined(rules, letters) if all(rule.rows == rules[0].rows for rule in rules) else None


def apart(parts: list[list[Part]]) -> bool:
    """Return whether no entry is a part of two local Jacobians."""
    every = np.concatenate([np.stack([part.rows, part.columns]) for group in parts for part in group], axis=1)
    return len(set(zip(*every.tolist(), strict=True))) == len(every[0])


def joined(rules: list[IndexRule], letters: list[str]) -> list[IndexRule]:
    """Return one rule for several of the same rows: each counts where its column is the one that is asked for."""
    if all(rule.columns == rules[0].columns for rule in rules):
        return [replace(rules[0], formula=" + ".join(rule.formula for rule in rules))]
    used = set(rules[0].rows).union(*(rule.columns for rule in rules))
    own = [letter for letter in letters if letter not in used][: len(rules[0].columns)]
    terms = [term(rule, own) for rule in rules]
    return [replace(rules[0], columns=tuple(own), formula=" + ".join(terms))]


def term(rule: IndexRule, own: list[str]) -> str:
    """Return what a rule adds to the entry at the column ``own``: its formula where that is its column, else 0.

    A letter that stands in its columns alone is that of ``own``.
    """
    known = {b: a for a, b in zip(own, rule.columns, strict=True) if b.isidentifier() and b not in rule.rows}
    asked = [f"{a} == {known.get(b, b)}" for a, b in zip(own, rule.columns, strict=True) if known.get(b) != a]
    formula = renamed(rule.formula, known)
    if not asked:
        return formula
    return f"where({asked[0] if len(asked) == 1 else ' & '.join(f'({text})' for text in asked)}, {formula}, 0)"


def rule_of(link: Link, k: int, texts: Texts, letters: list[str]) -> IndexRule | None:
    """Return the rule of one op by one argument, in index letters."""
    node, op = link.node, link.node.op
    match op.index:
        case Chosen(rules):
            return choice_rule(link, k, rules[k], texts, letters)
        case Picked() as picked:
            return pick_rule(link, picked, texts, letters)
        case Reduced() as reduction:
            holds = reduction.holds(**node.static)
            return reduction_rule(link, k, reduction.text, texts, letters) if holds else None
        case Paired(text):
            i, j = letters[:2]
            x, y = written(node.arguments[0], texts), texts.of(node)
            return link.rule(texts, [i], [j], text.format(x=x, y=y, i=i, j=j)) if len(node.shape) == 1 else None
        case Said():
            return None
    if op.spec is not None:
        return product_rule(link, k, op.spec, texts, letters)
    if not op.moves:
        return None  # a step, whose derivative is 0 and is said in words
    return moving_rule(link, k, texts, letters) if op.shaped else extreme_rule(link, k, texts, letters)


def moving_rule(link: Link, k: int, texts: Texts, letters: list[str]) -> IndexRule | None:
    """Return the rule of an op that moves entries, if a formula says where each goes."""
    rows, columns = (np.concatenate([getattr(part, of) for part in link.parts[k]]) for of in ("rows", "columns"))
    found = places_of(rows, columns, link.node.shape, link.argument.shape, letters)
    if found is None:
        return None
    above, below, condition = found
    return link.rule(texts, above, below, f"where({condition}, 1, 0)" if condition else "1")


Places = tuple[list[str], list[str], str]
"""An index for each axis of the output and of the argument, and a condition on their letters, empty for none."""


def places_of(rows: Indices, columns: Indices, out: Shape, shape: Shape, letters: Sequence[str]) -> Places | None:
    """Return where the entries at flat ``columns`` of an array of ``shape`` stand in one of the shape ``out``.

    A letter that stands alone runs along its whole axis; all other indices exist then. None where no formula says so
    for each of the entries and for no other.
    """
    if covers(rows, out):
        found = index_texts(columns[np.argsort(rows)], shape, out, letters)
        return None if found is None else (list(letters[: len(out)]), found, "")
    if covers(columns, shape):
        found = index_texts(rows[np.argsort(columns)], out, shape, letters)
        return None if found is None else (found, list(letters[: len(shape)]), "")
    condition = triangle(rows, out, letters) if np.array_equal(rows, columns) and out == shape else ""
    return (list(letters[: len(out)]), list(letters[: len(out)]), condition) if condition else None


def covers(flat: Indices, shape: Shape) -> bool:
    """Return whether these are all places of an array that has some, each once."""
    size = int(np.prod(shape))
    return 0 < len(flat) == size and bool(np.all(np.bincount(flat, minlength=size) == 1))


def index_texts(flat: Indices, shape: Shape, lengths: Shape, letters: Sequence[str]) -> list[str] | None:
    """Return, for the flat places in ``shape`` of all entries of an array of ``lengths``, one formula an axis."""
    if not shape:
        return []
    grid = list(np.indices(lengths).reshape(len(lengths), int(np.prod(lengths))))
    wanted = zip(np.unravel_index(flat, shape), shape, strict=True)
    found = [index_text(np.asarray(axis), bound, grid, lengths, letters) for axis, bound in wanted]
    return None if None in found else [text for text in found if text is not None]


def index_text(wanted: Indices, bound: int, grid: list[Indices], lengths: Shape, letters: Sequence[str]) -> str | None:
    """Return one index as a formula: ``i``, ``699 - i``, ``30*i + j``, ``(i + 698) % 700`` or ``i//2``."""
    start = int(wanted[0])
    # How much an index grows with a letter is read off at the second place along its axis, and then held to all.
    steps = [int(np.prod(lengths[axis + 1 :])) for axis in range(len(lengths))]
    factors = [int(wanted[step]) - start if n > 1 else 0 for step, n in zip(steps, lengths, strict=True)]
    straight = sum((k * axis for k, axis in zip(factors, grid, strict=True)), np.full(len(wanted), start))
    if np.array_equal(straight, wanted):
        return affine(factors, start, letters)
    for axis, n, letter in zip(grid, lengths, letters, strict=False):
        if np.array_equal((axis + start) % bound, wanted):
            return f"({affine([1], start, [letter])}) % {bound}" if start else f"{letter} % {bound}"
        if np.array_equal(axis // (n // bound or 1), wanted):
            return f"{letter}//{n // bound}"
    return None


def affine(factors: Sequence[int], start: int, letters: Sequence[str]) -> str:
    """Return ``2*i + j + 1`` and its like, what is taken away at the end."""
    terms = [(k, letter if abs(k) == 1 else f"{abs(k)}*{letter}") for k, letter in zip(factors, letters, strict=False)]
    present = [(k, text) for k, text in [*terms, (start, str(abs(start)))] if k]
    if not present:
        return "0"
    (k, first), *others = sorted(present, key=lambda term: term[0] < 0)
    return ("-" if k < 0 else "") + first + "".join(f" {'-' if k < 0 else '+'} {text}" for k, text in others)


def triangle(rows: Indices, shape: Shape, letters: Sequence[str]) -> str:
    """Return the condition for a place of a matrix to be among ``rows``, empty if these are no triangle of it."""
    if len(shape) < 2 or not len(rows):
        return ""
    inside = np.zeros(shape, dtype=bool)
    inside.flat[rows] = True
    *_, above, along = np.indices(shape)
    offset, i, j = along - above, letters[len(shape) - 2], letters[len(shape) - 1]
    low, high = int(np.min(offset[inside])), int(np.max(offset[inside]))
    if np.array_equal(offset <= high, inside):
        return f"{j} <= {affine([1], high, [i])}"
    return f"{j} >= {affine([1], low, [i])}" if np.array_equal(offset >= low, inside) else ""


def choice_rule(link: Link, k: int, rule: str, texts: Texts, letters: list[str]) -> IndexRule:
    """Return the rule of a choice between entries: 1 where the branch is taken."""
    node = link.node
    shapes = [np.shape(value_of(argument)) for argument in node.arguments]
    entries = [
        generic(written(a, texts), shape, node.shape, letters) if f"{{{j}}}" in rule else ""
        for j, (a, shape) in enumerate(zip(node.arguments, shapes, strict=True))
    ]
    rows, columns = letters[: len(node.shape)], broadcast(shapes[k], node.shape, letters)
    return link.rule(texts, rows, columns, rule.format(*entries))


def pick_rule(link: Link, picked: Picked, texts: Texts, letters: list[str]) -> IndexRule:
    """Return the rule of max, min, median and sort along an axis: 1 at the index that they give."""
    node = link.node
    axis, depth = node.static["dim"], len(node.arguments[0].shape)
    rows = list(letters[:depth])
    columns = [letters[depth] if k == axis else letter for k, letter in enumerate(rows)]
    if not picked.whole(**node.static):
        kept = picked.kept(**node.static)
        rows = ["0" if k == axis else letter for k, letter in enumerate(rows) if kept or k != axis]
    places = picked.places(texts.of(node.arguments[0]), **node.static)
    return link.rule(texts, rows, columns, f"where({letters[depth]} == {entry(places, rows)}, 1, 0)")


def extreme_rule(link: Link, k: int, texts: Texts, letters: list[str]) -> IndexRule | None:
    """Return the rule of the extreme of several entries, where each is one of them and not a share of equal ones."""
    node = link.node
    if any(np.any(part.weights != 1) for part in link.parts[k]) or np.any(np.isnan(node.value)):
        return None
    rows, columns = reduced(node, letters)
    same = f"{entry(texts.of(node.arguments[0]), columns)} == {entry(texts.of(node), rows)}"
    return link.rule(texts, rows, columns, f"where({same}, 1, 0)")


def reduction_rule(link: Link, k: int, rule: str, texts: Texts, letters: list[str]) -> IndexRule:
    """Return the rule of a sum and its like."""
    node = link.node
    rows, columns = reduced(node, letters)
    x, y = entry(texts.of(node.arguments[0]), columns), entry(texts.of(node), rows)
    count = np.size(value_of(node.arguments[0])) // max(np.size(node.value), 1)
    text = rule.format(x=x, y=y, n=count)
    if any(part.has_zeros for part in link.parts[k]):
        text = f"where({zero_condition(node, 0, [x], y)}, 0, {text})"
    return link.rule(texts, rows, columns, text)


def reduced(node: Operation, letters: list[str]) -> tuple[list[str], list[str]]:
    """Return the indices of an output, and of an entry that it is reduced from."""
    columns = list(letters[: len(node.arguments[0].shape)])
    along = node.static.get("dim")
    axes = along if isinstance(along, tuple) else tuple(range(len(columns)))
    if node.static.get("keepdim"):
        return ["0" if axis in axes else letter for axis, letter in enumerate(columns)], columns
    return [letter for axis, letter in enumerate(columns) if axis not in axes], columns


def product_rule(link: Link, k: int, spec: Callable[..., str], texts: Texts, letters: list[str]) -> IndexRule:
    """Return the rule of a sum of products: the product of the other factors, summed over what only they name."""
    node = link.node
    values = tuple(value_of(a) for a in node.arguments)
    inputs, out = spec(*values, **node.static).split("->")
    subs = inputs.split(",")
    chosen = dict(zip(dict.fromkeys(out + inputs.replace(",", "")), letters, strict=False))
    free = set("".join(subs)) - set(out) - set(subs[k])
    lengths: dict[str, int] = {}
    for sub, value in zip(subs, values, strict=True):
        lengths.update({c: max(n, lengths.get(c, n)) for c, n in zip(sub, np.shape(value), strict=True)})

    def indices(sub: str, shape: tuple[int, ...]) -> list[str]:
        # An axis of length 1 that broadcasts has one index alone.
        own = {c: "0" if n == 1 != lengths[c] else chosen[c] for c, n in zip(sub, shape, strict=True)}
        return [":" if c in free else own[c] for c in sub]

    others = [(j, a) for j, a in enumerate(node.arguments) if j != k]
    factors = [entry(written(a, texts), indices(subs[j], np.shape(values[j]))) for j, a in others]
    text = "*".join(factors) or "1"
    if free:
        summed = ",".join("".join(c for c in subs[j] if c in free) for j, _ in others)
        text = f'einsum("{summed}->", {", ".join(factors)})'
    return link.rule(texts, indices(out, node.shape), indices(subs[k], np.shape(values[k])), text)


def written(argument: Any, texts: Texts) -> str:
    """Return the text of an argument as it stands in a rule; a long constant goes by a name."""
    text = texts.tight(argument)
    return text if isinstance(argument, Node) or len(text) <= LONG_CONSTANT else texts.constant(argument)


def elementwise_rule(link: Link, texts: Texts, letters: list[str]) -> IndexRule:
    """Return the rule of an op that works entry by entry, by all its arguments that are one node."""
    node = link.node

    def text_of(argument: Any) -> str:
        return generic(written(argument, texts), np.shape(value_of(argument)), node.shape, letters)

    total = Add(*(elementwise_formula(node, k, found, text_of) for k, found in link.parts.items()))
    columns = broadcast(link.argument.shape, node.shape, letters)
    return link.rule(texts, letters[: len(node.shape)], columns, formula_text(total, texts.printer))


def elementwise_formula(node: Operation, k: int, parts: list[Part], text_of: Callable[[Any], str]) -> Any:
    """Return the derivative by one argument in generic entries."""
    template = whole_template(parts, node, k)
    chosen = {
        symbol: s.symbol(text_of(node if slot == -1 else node.arguments[slot]))
        for symbol, (slot, _) in zip(parts[0].template.symbols, parts[0].bound, strict=True)
        if symbol in template.free_symbols
    }
    found = template.xreplace(chosen)
    if not parts[0].has_zeros:
        return found
    condition = zero_condition(node, k, [text_of(argument) for argument in node.arguments], text_of(node))
    return s.symbol(f"where({condition}, 0, {formula_text(found)})")


def whole_template(parts: list[Part], node: Operation, k: int) -> Any:
    """Return the derivative that holds for all entries; that of an op in pieces, such as huber, is its formula's."""
    [part, *others] = parts
    if not others:
        return s.number(np.max(part.weights, initial=0.0) or 1.0) * part.template.expression
    assert node.op.formula is not None  # noqa: S101
    given = [
        symbol if (constant := constant_of(a)) is None else s.number(constant)
        for symbol, a in zip(part.template.symbols, node.arguments, strict=True)
    ]
    return s.as_expression(node.op.formula(s, *given, **node.static)).diff(part.template.symbols[k])


def zero_condition(node: Operation, k: int, arguments: list[str], out: str) -> str:
    """Return where the derivative is 0 by convention, in the language."""
    return node.op.zero_text[k].format(*arguments, y=out)


def as_number(value: Any) -> Expr:
    """Return a constant of one entry as a number."""
    return s.number(float(np.reshape(value, ())))
