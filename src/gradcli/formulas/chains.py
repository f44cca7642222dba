"""The rules of large Jacobians: one formula for a whole diagonal, or the chain rule with a rule for each link.

Every node on a path has a name, so that what a rule says is true of the two values it names and of nothing else. What
no rule says truthfully is said in words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from sympy import Expr
from sympy.core.parameters import distribute

from gradcli.engine.graph import Graph, Input, Node, Operation
from gradcli.engine.naming import output_name, taken_names
from gradcli.engine.reverse import accumulate
from gradcli.formulas.forms import shortest, tidied
from gradcli.formulas.index_rules import IndexRule
from gradcli.formulas.printing import LanguagePrinter, Order, Unprintable, formula_text, names_in_order, size_of
from gradcli.formulas.rules import Link, as_number, generic, letters_beside, rules_of, whole_template, zero_condition
from gradcli.formulas.texts import Texts
from gradcli.jacobian import functions as s
from gradcli.jacobian.composition import Composition
from gradcli.jacobian.local import Part
from gradcli.records import replace

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
            own = tuple(letters[: len(leaf.shape)])
            rules[name] = [IndexRule(called, own, name, own, formula, whole=True)]
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
    shape = output.shape
    nodes = composition.nodes
    if leaf.shape != shape or not shape or len(nodes) > MOST_STEPS:
        return None
    entries = _generic_entries(nodes, shape, letters, printer.program)
    if entries is None:
        return None
    try:
        found = _swept(output, leaf, nodes, entries, composition)
        return None if found is None else shortest([tidied(found, {})], printer, {})[0]
    except Unprintable:
        return None


def _swept(
    output: Node, leaf: Node, nodes: Sequence[Node], entries: Mapping[int, Expr], composition: Composition
) -> Expr | None:
    def along(node: Operation, k: int, outer: Expr) -> Expr | None:
        parts = composition.parts(node, k)
        return outer * _local_formula(parts, node, k, entries) if parts else None

    found = accumulate({output.index: s.number(1)}, reversed(nodes), along, lambda a, b, _own: a + b).get(leaf.index)
    return None if found is None or size_of(found, LONGEST) >= LONGEST else found


def _generic_entries(
    nodes: Sequence[Node], shape: tuple[int, ...], letters: list[str], order: Order
) -> dict[int, Expr] | None:
    entries: dict[int, Expr] = {}
    for node in nodes:
        found = _generic_entry(node, shape, letters, entries, order)
        if found is None:
            return None
        entries[node.index] = found
    return entries


def _generic_entry(
    node: Node, shape: tuple[int, ...], letters: list[str], entries: Mapping[int, Expr], order: Order
) -> Expr | None:
    if isinstance(node, Input):
        if len(node.shape) > len(shape):
            return None
        return s.symbol(generic(node.name, node.shape, shape, letters))
    if node.op is None or node.op.formula is None or (node.active and node.shape != shape):
        return None
    arguments = []
    for argument in node.arguments:
        if isinstance(argument, Node):
            arguments.append(entries[argument.index])
        elif np.size(argument) == 1:
            arguments.append(as_number(argument))
        else:
            return None
    found = s.as_expression(node.op.formula(s, *arguments, **node.static))
    if len(arguments) > 1:
        order.learn(found, arguments)
    return found if size_of(found, LONGEST) < LONGEST else None


def _local_formula(parts: list[Part], node: Operation, k: int, entries: Mapping[int, Expr]) -> Expr:
    """Return a local derivative in generic entries, 0 where a convention says so."""
    part, template = parts[0], whole_template(parts, node, k)
    arguments = [entries[a.index] if isinstance(a, Node) else as_number(a) for a in node.arguments]
    chosen = {
        symbol: entries[node.index] if slot == -1 else arguments[slot]
        for symbol, (slot, _) in zip(part.template.symbols, part.bound, strict=True)
        if symbol in template.free_symbols
    }
    found = s.replaced(template, chosen)
    if not part.has_zeros:
        return found
    condition = zero_condition(node, k, [formula_text(entry) for entry in arguments], formula_text(entries[node.index]))
    return s.symbol(f"where({condition}, 0, {formula_text(found)})")


def chain_of(leaf: Node, composition: Composition) -> list[Link]:
    """Return all links on the paths from the output to a leaf, the output's first."""
    below: dict[int, set[int]] = {leaf.index: set()}
    links: list[Link] = []
    for node in composition.nodes:
        if not isinstance(node, Operation):
            continue
        found: dict[int, dict[int, list[Part]]] = {}
        for k, argument in enumerate(node.arguments):
            parts = composition.parts(node, k) if isinstance(argument, Node) and argument.index in below else None
            if parts is not None:
                found.setdefault(argument.index, {})[k] = parts
        if not found:
            continue
        below[node.index] = set(found).union(*(below[index] for index in found))
        nodes = {index: node.arguments[next(iter(parts))] for index, parts in found.items()}
        for index, argument in nodes.items():
            held = [other for other in nodes.values() if index in below[other.index]]
            links.append(Link(node, argument, found[index], held))
    return links[::-1]


def chain_rules(leaf: Node, output: Node, links: list[Link], texts: Texts, letters: list[str]) -> list[IndexRule]:
    """Return how J is made of its links, where it is made of several, and then the rules of each.

    Nothing where there is one link alone and the language has no word for it: J has its numbers.
    """
    whole = len(links) == 1
    rules = [sum_of_paths(leaf, output, links, texts)] if len(links) > 1 else []
    for link in links:
        try:
            said = rules_of(link, texts, letters) or [in_words(link, texts)]
        except Unprintable:
            said = [] if whole else [in_words(link, texts)]
        rules += [replace(rule, whole=whole) for rule in said]
    return rules


def sum_of_paths(leaf: Node, output: Node, links: list[Link], texts: Texts) -> IndexRule:
    """Return ``dy/dx = dy/dh0 @ dh0/dx``, the sum of such products where there are a few paths, else words."""
    whole = IndexRule(texts.of(output), (), texts.of(leaf), (), whole=True)
    paths = [[link] for link in links if link.node is output]
    while any(path[-1].argument is not leaf for path in paths):
        paths = [longer for path in paths for longer in one_further(path, leaf, links)]
        if len(paths) > MOST_PATHS:
            return replace(whole, words="the sum over all paths of the products of the derivatives along each")
    return replace(whole, paths=tuple([tuple([link.factor(texts) for link in path]) for path in paths]))


def one_further(path: list[Link], leaf: Node, links: list[Link]) -> list[list[Link]]:
    """Return a path with each link that goes on from its end; one that has reached the leaf as it is."""
    end = path[-1].argument
    return [path] if end is leaf else [[*path, link] for link in links if link.node is end]


def in_words(link: Link, texts: Texts) -> IndexRule:
    """Return what a derivative is that has no rule."""
    op, ends = link.node.op, link.factor(texts)
    moved = f"1 where an entry of {ends.above} is one of {ends.below}, 0 elsewhere"
    return link.rule(texts, words=moved if op.moves and op.shaped else f"the derivative of {op.name}")
