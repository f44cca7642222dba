"""The rules of Jacobians: what the formulas of entries have in common, and the derivative of each op as one formula.

A large J has one formula for its whole diagonal, or the chain rule with a rule for each link. Every node on a path then
has a name, so that what a rule says is true of the two values it names and of nothing else. What no rule says
truthfully is said in words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sympy import Add, Expr
from sympy.core.parameters import distribute

from gradcli.engine.graph import Graph, Input, Node, Operation
from gradcli.engine.naming import output_name, taken_names
from gradcli.engine.reverse import accumulate
from gradcli.formulas.index_rules import Factor, IndexRule, entry, letters_beside, renamed
from gradcli.formulas.printing import (
    LanguagePrinter,
    Order,
    Unprintable,
    bulk,
    formula_text,
    names_in_order,
    shortest,
    tidied,
)
from gradcli.formulas.texts import Texts
from gradcli.jacobian import functions as s
from gradcli.jacobian.composition import Composition
from gradcli.jacobian.local import Part, constant_of
from gradcli.ops.declare import Chosen, Paired, Picked, Reduced, Said, value_of
from gradcli.ops.links import OUT, Indices, Shape
from gradcli.records import dataclass, replace

LONG_CONSTANT = 40
"""Characters beyond which a constant array gets a name in a rule."""


@dataclass(frozen=True, slots=True)
class Link:
    """A node, one of the nodes that it is computed from, and its local Jacobian for each place where this stands.

    ``fixed`` are the other arguments that depend on it too, which stay as they are.
    """

    node: Operation
    argument: Node
    parts: dict[int, list[Part]]
    fixed: list[Node]

    def rule(
        self, texts: Texts, rows: Sequence[str] = (), columns: Sequence[str] = (), formula: str = "", words: str = ""
    ) -> IndexRule:
        """Return what is said of this derivative."""
        above, below, fixed = self.factor(texts)
        return IndexRule(above, tuple(rows), below, tuple(columns), formula, fixed, words)

    def factor(self, texts: Texts) -> Factor:
        """Return the names of what this is the derivative of, by what, and with what fixed."""
        return Factor(texts.of(self.node), texts.of(self.argument), tuple([texts.of(node) for node in self.fixed]))


def generic(name: str, shape: tuple[int, ...], out_shape: tuple[int, ...], letters: Sequence[str]) -> str:
    """Return the entry of an array that broadcasts to entry ``[i, j, …]`` of the output: ``b[j]``, ``c[i, 0]``."""
    return entry(name, broadcast_indices(shape, out_shape, letters))


def broadcast_indices(shape: tuple[int, ...], out_shape: tuple[int, ...], letters: Sequence[str]) -> list[str]:
    """Return the indices of that entry."""
    aligned = letters[len(out_shape) - len(shape) : len(out_shape)]
    lengths = zip(aligned, shape, out_shape[len(out_shape) - len(shape) :], strict=True)
    return ["0" if n == 1 != m else letter for letter, n, m in lengths]


def rules_of_link(link: Link, texts: Texts, letters: list[str]) -> list[IndexRule] | None:
    """Return the rules of a link, None where none can be written.

    There is one, or several for entries that are not the same.
    """
    if link.node.op.formula is not None:
        return [elementwise_rule(link, texts, letters)] if all(link.parts.values()) else None
    rules = []
    for k in link.parts:
        rule = rule_of_argument(link, k, texts, letters)
        if rule is None:
            return None
        rules.append(rule)
    several = len({(*rule.rows, "/", *rule.columns) for rule in rules}) == len(rules) > 1
    if len(rules) == 1 or (several and are_disjoint(list(link.parts.values()))):
        return rules
    return join_rules(rules, letters) if all(rule.rows == rules[0].rows for rule in rules) else None


def are_disjoint(parts: list[list[Part]]) -> bool:
    """Return whether no entry is a part of two local Jacobians."""
    every = np.concatenate([np.stack([part.rows, part.columns]) for group in parts for part in group], axis=1)
    return len(set(zip(*every.tolist(), strict=True))) == len(every[0])


def join_rules(rules: list[IndexRule], letters: list[str]) -> list[IndexRule]:
    """Return one rule for several of the same rows: each counts where its column is the one that is asked for."""
    if all(rule.columns == rules[0].columns for rule in rules):
        return [replace(rules[0], formula=" + ".join(rule.formula for rule in rules))]
    used = set(rules[0].rows).union(*(rule.columns for rule in rules))
    columns = [letter for letter in letters if letter not in used][: len(rules[0].columns)]
    terms = [term(rule, columns) for rule in rules]
    return [replace(rules[0], columns=tuple(columns), formula=" + ".join(terms))]


def term(rule: IndexRule, columns: list[str]) -> str:
    """Return what a rule adds to the entry at the column ``columns``: its formula where that is its column, else 0.

    A letter that stands in its columns alone is that of ``columns``.
    """
    letters = {b: a for a, b in zip(columns, rule.columns, strict=True) if b.isidentifier() and b not in rule.rows}
    asked = [f"{a} == {letters.get(b, b)}" for a, b in zip(columns, rule.columns, strict=True) if letters.get(b) != a]
    formula = renamed(rule.formula, letters)
    if not asked:
        return formula
    return f"where({asked[0] if len(asked) == 1 else ' & '.join(f'({text})' for text in asked)}, {formula}, 0)"


def rule_of_argument(link: Link, k: int, texts: Texts, letters: list[str]) -> IndexRule | None:
    """Return the rule of one op by one argument, in index letters."""
    node, op = link.node, link.node.op
    match op.entries.index:
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
    if op.entries.spec is not None:
        return product_rule(link, k, op.entries.spec, texts, letters)
    if not op.entries.moves:
        return None  # a step, whose derivative is 0 and is said in words
    return moving_rule(link, k, texts, letters) if op.entries.shaped else extreme_rule(link, k, texts, letters)


def moving_rule(link: Link, k: int, texts: Texts, letters: list[str]) -> IndexRule | None:
    """Return the rule of an op that moves entries, if a formula says where each goes."""
    rows, columns = (np.concatenate([getattr(part, of) for part in link.parts[k]]) for of in ("rows", "columns"))
    result = index_places(rows, columns, link.node.shape, link.argument.shape, letters)
    if result is None:
        return None
    above, below, condition = result
    return link.rule(texts, above, below, f"where({condition}, 1, 0)" if condition else "1")


Places = tuple[list[str], list[str], str]
"""An index for each axis of the output and of the argument, and a condition on their letters, empty for none."""


def index_places(rows: Indices, columns: Indices, out: Shape, shape: Shape, letters: Sequence[str]) -> Places | None:
    """Return where the entries at flat ``columns`` of an array of ``shape`` stand in one of the shape ``out``.

    A letter that stands alone runs along its whole axis; all other indices exist then. None where no formula says so
    for each of the entries and for no other.
    """
    if covers_all(rows, out):
        result = index_texts(columns[np.argsort(rows)], shape, out, letters)
        return None if result is None else (list(letters[: len(out)]), result, "")
    if covers_all(columns, shape):
        result = index_texts(rows[np.argsort(columns)], out, shape, letters)
        return None if result is None else (result, list(letters[: len(shape)]), "")
    condition = triangle_condition(rows, out, letters) if np.array_equal(rows, columns) and out == shape else ""
    return (list(letters[: len(out)]), list(letters[: len(out)]), condition) if condition else None


def covers_all(flat: Indices, shape: Shape) -> bool:
    """Return whether these are all places of an array that has some, each once."""
    size = int(np.prod(shape))
    return 0 < len(flat) == size and bool(np.all(np.bincount(flat, minlength=size) == 1))


def index_texts(flat: Indices, shape: Shape, lengths: Shape, letters: Sequence[str]) -> list[str] | None:
    """Return, for the flat places in ``shape`` of all entries of an array of ``lengths``, one formula an axis."""
    if not shape:
        return []
    grid = list(np.indices(lengths).reshape(len(lengths), int(np.prod(lengths))))
    wanted = zip(np.unravel_index(flat, shape), shape, strict=True)
    result = [axis_formula(np.asarray(axis), bound, grid, lengths, letters) for axis, bound in wanted]
    return None if None in result else [text for text in result if text is not None]


def axis_formula(
    wanted: Indices, bound: int, grid: list[Indices], lengths: Shape, letters: Sequence[str]
) -> str | None:
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


def triangle_condition(rows: Indices, shape: Shape, letters: Sequence[str]) -> str:
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
    rows, columns = letters[: len(node.shape)], broadcast_indices(shapes[k], node.shape, letters)
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
    rows, columns = reduced_indices(node, letters)
    same = f"{entry(texts.of(node.arguments[0]), columns)} == {entry(texts.of(node), rows)}"
    return link.rule(texts, rows, columns, f"where({same}, 1, 0)")


def reduction_rule(link: Link, k: int, rule: str, texts: Texts, letters: list[str]) -> IndexRule:
    """Return the rule of a sum and its like."""
    node = link.node
    rows, columns = reduced_indices(node, letters)
    x, y = entry(texts.of(node.arguments[0]), columns), entry(texts.of(node), rows)
    count = np.size(value_of(node.arguments[0])) // max(np.size(node.value), 1)
    text = rule.format(x=x, y=y, n=count)
    if any(part.has_zeros for part in link.parts[k]):
        text = f"where({node.op.zero_text[0].format(x, y=y)}, 0, {text})"
    return link.rule(texts, rows, columns, text)


def reduced_indices(node: Operation, letters: list[str]) -> tuple[list[str], list[str]]:
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
        axes = {c: "0" if n == 1 != lengths[c] else chosen[c] for c, n in zip(sub, shape, strict=True)}
        return [":" if c in free else axes[c] for c in sub]

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

    def entry_of(argument: Any) -> Expr:
        return s.symbol(generic(written(argument, texts), np.shape(value_of(argument)), node.shape, letters))

    total = Add(*(local_formula(parts, node, k, entry_of) for k, parts in link.parts.items()))
    columns = broadcast_indices(link.argument.shape, node.shape, letters)
    return link.rule(texts, letters[: len(node.shape)], columns, formula_text(total, texts.printer))


def local_formula(parts: list[Part], node: Operation, k: int, entry_of: Callable[[Any], Expr]) -> Expr:
    """Return the derivative by one argument in generic entries, 0 where a convention says so."""
    part, template = parts[0], whole_template(parts, node, k)
    chosen = {
        symbol: entry_of(node if slot == OUT else node.arguments[slot])
        for symbol, (slot, _) in zip(part.template.symbols, part.bound, strict=True)
        if symbol in template.free_symbols
    }
    formula = s.replaced(template, chosen)
    if not part.has_zeros:
        return formula
    texts = [formula_text(entry_of(argument)) for argument in node.arguments]
    condition = node.op.zero_text[k].format(*texts, y=formula_text(entry_of(node)))
    return s.symbol(f"where({condition}, 0, {formula_text(formula)})")


def whole_template(parts: list[Part], node: Operation, k: int) -> Any:
    """Return the derivative that holds for all entries; that of an op in pieces, such as huber, is its formula's."""
    [part, *others] = parts
    if not others:
        return s.number(np.max(part.weights, initial=0.0) or 1.0) * part.template.expression
    assert node.op.formula is not None  # noqa: S101
    arguments = [
        symbol if (constant := constant_of(a)) is None else s.number(constant)
        for symbol, a in zip(part.template.symbols, node.arguments, strict=True)
    ]
    return s.as_expression(node.op.formula(s, *arguments, **node.static)).diff(part.template.symbols[k])


MOST_NODES = 40
"""Operations between the inputs and the output up to which every one gets its rule."""
MOST_STEPS = 400
"""Operations up to which the one formula of an elementwise program is tried: each takes sympy a millisecond."""
LONGEST = 80
"""Parts of a formula for a whole diagonal."""
MOST_PATHS = 4
"""Paths up to which J is written as the sum over them."""


def derive_rules(
    graph: Graph, output: Node, leaves: Mapping[str, Node], composition: Composition
) -> tuple[dict[str, list[IndexRule]], Texts | None]:
    """Return the rules of each Jacobian, and the texts that define the names they use.

    An elementwise program has one rule, such as ``dy[i]/dx[i] = 2*x[i]``. Any other has a rule for each op on the way,
    ``dh1[i]/dh0[j] = …``; the Jacobian is the sum of their products. There are none where they would be too many.
    """
    names = taken_names(graph)
    letters, called = letters_beside(names), output_name(graph, output)
    printer = LanguagePrinter(Order(names_in_order(graph) if len(composition.nodes) <= MOST_STEPS else {}))
    rules: dict[str, list[IndexRule]] = {}
    for name, leaf in leaves.items():
        with distribute(False):
            formula = _diagonal(output, leaf, composition, letters, printer)
        if formula is not None:
            diagonal = tuple(letters[: len(leaf.shape)])
            rules[name] = [IndexRule(called, diagonal, name, diagonal, formula, whole=True)]
    if (
        len(rules) == len(leaves)
        or sum(node.active or isinstance(node, Input) for node in composition.nodes) > MOST_NODES
    ):
        return rules, None
    texts = Texts(graph, composition.nodes)
    for node in composition.nodes:
        wanted = called if node is output else None
        texts.describe(node, wanted)
        if node.active and isinstance(node, Operation):
            texts.name(node, wanted)
    for name, leaf in leaves.items():
        if name not in rules:
            rules[name] = chain_rules(leaf, output, chain_of(leaf, composition), texts, letters)
    return rules, texts


def _diagonal(
    output: Node, leaf: Node, composition: Composition, letters: list[str], printer: LanguagePrinter
) -> str | None:
    """Return the formula of entry ``[i, i]`` of an elementwise program, None for any other."""
    shape, nodes = output.shape, composition.nodes
    if leaf.shape != shape or not shape or len(nodes) > MOST_STEPS:
        return None
    entries: dict[int, Expr] = {}

    def entry_of(argument: Any) -> Expr:
        is_node = isinstance(argument, Node)
        return entries[argument.index] if is_node else s.number(float(np.reshape(argument, ())))

    def along(node: Operation, k: int, outer: Expr) -> Expr | None:
        parts = composition.parts(node, k)
        return outer * local_formula(parts, node, k, entry_of) if parts else None

    for node in nodes:
        result = _generic_entry(node, shape, letters, entry_of, printer.program)
        if result is None:
            return None
        entries[node.index] = result
    start = {output.index: s.number(1)}
    try:
        whole = accumulate(start, reversed(nodes), along, lambda a, b, _own: a + b).get(leaf.index)
        if whole is None or bulk(whole, LONGEST) >= LONGEST:
            return None
        return shortest([tidied(whole, {})], printer, {})[0]
    except Unprintable:
        return None


def _generic_entry(
    node: Node, shape: tuple[int, ...], letters: list[str], entry_of: Callable[[Any], Expr], order: Order
) -> Expr | None:
    """Return entry ``[i, j, …]`` of a node that is computed entry by entry, None for any other and for a long one."""
    if isinstance(node, Input):
        fits = len(node.shape) <= len(shape)
        return s.symbol(generic(node.name, node.shape, shape, letters)) if fits else None
    if node.op is None or node.op.formula is None or (node.active and node.shape != shape):
        return None
    if any(np.size(argument) != 1 for argument in node.arguments if not isinstance(argument, Node)):
        return None
    arguments = list(map(entry_of, node.arguments))
    result = s.as_expression(node.op.formula(s, *arguments, **node.static))
    if len(arguments) > 1:
        order.learn(result, arguments)
    return result if bulk(result, LONGEST) < LONGEST else None


def chain_of(leaf: Node, composition: Composition) -> list[Link]:
    """Return all links on the paths from the output to a leaf, the output's first."""
    below: dict[int, set[int]] = {leaf.index: set()}
    links: list[Link] = []
    for node in composition.nodes:
        if not isinstance(node, Operation):
            continue
        result: dict[int, dict[int, list[Part]]] = {}
        for k, argument in enumerate(node.arguments):
            parts = composition.parts(node, k) if isinstance(argument, Node) and argument.index in below else None
            if parts is not None:
                result.setdefault(argument.index, {})[k] = parts
        if not result:
            continue
        below[node.index] = set(result).union(*(below[index] for index in result))
        nodes = {index: node.arguments[next(iter(parts))] for index, parts in result.items()}
        for index, argument in nodes.items():
            fixed = [other for other in nodes.values() if index in below[other.index]]
            links.append(Link(node, argument, result[index], fixed))
    return links[::-1]


def chain_rules(leaf: Node, output: Node, links: list[Link], texts: Texts, letters: list[str]) -> list[IndexRule]:
    """Return how J is made of its links, where it is made of several, and then the rules of each.

    Nothing where there is one link alone and the language has no word for it: J has its numbers.
    """
    whole = len(links) == 1
    rules = [sum_of_paths(leaf, output, links, texts)] if len(links) > 1 else []
    for link in links:
        try:
            said = rules_of_link(link, texts, letters) or [in_words(link, texts)]
        except Unprintable:
            said = [] if whole else [in_words(link, texts)]
        rules += [replace(rule, whole=whole) for rule in said]
    return rules


def sum_of_paths(leaf: Node, output: Node, links: list[Link], texts: Texts) -> IndexRule:
    """Return ``dy/dx = dy/dh0 @ dh0/dx``, the sum of such products where there are a few paths, else words."""
    whole = IndexRule(texts.of(output), (), texts.of(leaf), (), whole=True)
    paths = [[link] for link in links if link.node is output]
    while any(path[-1].argument is not leaf for path in paths):
        paths = [
            longer
            for path in paths
            for longer in (
                [path]
                if path[-1].argument is leaf
                else [[*path, link] for link in links if link.node is path[-1].argument]
            )
        ]
        if len(paths) > MOST_PATHS:
            return replace(whole, words="the sum over all paths of the products of the derivatives along each")
    return replace(whole, paths=tuple([tuple([link.factor(texts) for link in path]) for path in paths]))


def in_words(link: Link, texts: Texts) -> IndexRule:
    """Return what a derivative is that has no rule."""
    op, ends = link.node.op, link.factor(texts)
    moved = f"1 where an entry of {ends.above} is one of {ends.below}, 0 elsewhere"
    return link.rule(texts, words=moved if op.entries.moves and op.entries.shaped else f"the derivative of {op.name}")
