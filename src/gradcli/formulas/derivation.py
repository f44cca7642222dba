"""The explicit symbolic Jacobian: in terms of the inputs while it is small, of named intermediates beyond.

Two runs of a program have the same formulas where their ``signature`` is the same: all that is read here, but for the
numbers of nodes.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping
from hashlib import blake2b
from typing import Any

import numpy as np
from sympy.core.parameters import distribute

from gradcli.engine.graph import NODES, Graph, Node, Operation
from gradcli.formulas.entries import MOST_ENTRIES, Attempt, Derivation, Names, TooLong
from gradcli.formulas.index_rules import IndexRule, renamed
from gradcli.formulas.printing import Unprintable
from gradcli.formulas.texts import Source, TooLarge
from gradcli.jacobian.composition import Composition
from gradcli.jacobian.local import Part, frozen, is_shaped, links_of, reading_of
from gradcli.jacobian.sparse import DENSE_ENTRIES
from gradcli.ops.declare import Op
from gradcli.ops.links import Contraction, listed
from gradcli.records import dataclass, field, replace


def names_of_formula(text: str) -> set[str]:
    """Return all names in a formula."""
    return set(re.findall(r"[A-Za-z_]\w*", text))


def used(shown: Iterable[str], definitions: Mapping[str, str]) -> dict[str, str]:
    """Return the definitions that formulas reach, each after those that it uses."""
    reached = set[str]().union(*map(names_of_formula, shown))
    kept: dict[str, str] = {}
    for name, text in reversed(in_order_of_use(definitions)):
        if name in reached:
            kept[name] = text
            reached |= names_of_formula(text)
    return dict(reversed(kept.items()))


def in_order_of_use(definitions: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return definitions so that each comes after those it uses."""
    left, result = dict(definitions), []
    while left:
        ready = [name for name, text in left.items() if not (names_of_formula(text) & set(left)) - {name}]
        result += [(name, left.pop(name)) for name in ready or list(left)]
    return result


SHORT = 40
"""Characters of an entry up to which it is in terms of the inputs, beyond which the program's names stand in it."""
BULKY = 24
"""Parts of an entry from which it is no longer short, and the program's names are tried first."""
LONG = 80
"""Characters of an entry in the program's names from which names are made for it, if that makes it clearly shorter."""
CLEARLY = 1.5
"""How much longer formulas without made names may be."""


@dataclass(frozen=True, slots=True)
class Formulas:
    """Formulas of the output and of the Jacobians, as text in flat order; None where they are too many or too long.

    ``jacobians`` has the text of each entry that can be non-zero, in the order of the numeric Jacobian's entries.
    ``definitions`` gives the names that formulas use, in an order in which they can be run, ``values`` their numbers,
    and ``sources`` where these come from. ``patterns`` has where the entries of the Jacobians stand, ``written`` is for
    what else is written once for all runs that share them.
    """

    output: list[str] | None = None
    jacobians: dict[str, list[str]] = field(default_factory=dict)
    definitions: dict[str, str] = field(default_factory=dict)
    rules: dict[str, list[IndexRule]] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)
    patterns: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    written: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def nodes(self) -> dict[str, int]:
        """The index of the node whose value a name stands for; names of constants and of Jacobians have none."""
        return {name: one.node for name, one in self.sources.items() if one.node >= 0 and one.shape is None}


def refreshed(formulas: Formulas, composition: Composition) -> Formulas:
    """Return formulas with the numbers of another run, whose ``signature`` must be the same."""
    if not formulas.sources:
        return formulas
    nodes = {node.index: node for node in composition.nodes}
    values = {name: source_numbers(source, nodes, composition) for name, source in formulas.sources.items()}
    return replace(formulas, values=values)


def source_numbers(source: Source, nodes: Mapping[int, Node], composition: Composition) -> Any:
    """Return the numbers of a name."""
    if source.node < 0:
        return source.constant
    if source.shape is not None:
        return composition.of[source.node].dense().reshape(source.shape)
    return nodes[source.node].value


def found_formulas(graph: Graph, output: Any, leaves: Mapping[str, Node], composition: Composition) -> Formulas:
    """Return the formulas of the output and of its Jacobian by each of ``leaves``, without the numbers of names."""
    if not isinstance(output, Node):
        return Formulas()
    nodes = composition.nodes
    work = composition.work + sum(parts_of_entries(node, composition) for node in nodes)
    widest = np.size(output.value) * max((np.size(leaf.value) for leaf in leaves.values()), default=0)
    if composition.refusal or work > MOST_ENTRIES or widest > DENSE_ENTRIES:
        return by_rules(graph, output, leaves, composition)
    try:
        with np.errstate(all="ignore"):
            return by_entries(graph, output, leaves, composition)
    except (Unprintable, TooLarge):
        return by_rules(graph, output, leaves, composition)


def parts_of_entries(node: Node, composition: Composition) -> int:
    """Return how many parts the formulas of a node's entries are made of, but those that the composition has counted.

    A sum of products that no derivative flows through has all its terms, and it has few entries.
    """
    size = int(np.size(node.value))
    if (
        not isinstance(node, Operation)
        or node.op.local_jacobian is None
        or (node.op.entries.spec is None and node.op.entries.folds is None)
    ):
        return size
    if any(composition.parts(node, k) is not None for k in node.links):
        return size
    links = links_of(reading_of(node), 0)
    return size + sum(item.count if isinstance(item, Contraction) else len(item.rows) for item in links)


def by_entries(graph: Graph, output: Node, leaves: Mapping[str, Node], composition: Composition) -> Formulas:
    """Return each entry's formula: in terms of the inputs while it is short, of the program's own names beyond.

    Where these are not enough, intermediates without a name get one.
    """

    def derived(names: Names) -> Derivation | None:
        try:
            return Derivation(graph, output, composition, names)
        except TooLong:
            return None

    with distribute(False):
        inline = derived(Names.NONE)
        plain = inline.attempt(leaves) if inline is not None and inline.most_parts(leaves) < BULKY else None
        calls = plain is not None and any(entries.takes_from_calls for entries in plain.jacobians.values())
        if plain is not None and plain.longest <= SHORT and not calls:
            return formulas_of(plain)
        named = derived(Names.OWN)
        by_name = None if named is None else named.attempt(leaves)
        if plain is None and by_name is None and inline is not None:
            plain = inline.attempt(leaves)
        result = plain if by_name is None else by_name if plain is None else shorter(plain, by_name)
        parts = max((one.most_parts(leaves) for one in (inline, named) if one is not None), default=BULKY)
        if result is None or (result.longest > LONG and parts >= BULKY):
            made = Derivation(graph, output, composition, Names.MADE).attempt(leaves)
            result = made if result is None or CLEARLY * made.longest <= result.longest else result
        return formulas_of(result)


def shorter(plain: Attempt, by_name: Attempt) -> Attempt:
    """Return for each Jacobian its formulas in terms of the inputs where these are short, else in the program's names.

    So are those that take entries from what a function gives, where it has a name: ``s[0]`` for ``softmax(x)[0]``.
    Two attempts that both made names are not mixed: one name would stand for two values.
    """
    if plain.texts.made:
        return by_name
    jacobians = dict(by_name.jacobians)
    for name, entries in plain.jacobians.items():
        longest = by_name.jacobians[name].longest
        if entries.longest <= (longest if entries.takes_from_calls else max(SHORT, longest)):
            jacobians[name] = entries
    return replace(by_name, shown=plain.shown, jacobians=jacobians)


def formulas_of(attempt: Attempt) -> Formulas:
    """Return the formulas of an attempt with the definitions that they use."""
    rules = {name: entries.rule for name, entries in attempt.jacobians.items() if entries.rule}
    shown = [*attempt.shown, *(text for entries in attempt.jacobians.values() for text in entries.texts)]
    definitions = used(shown, attempt.texts.definitions)
    made = [name for name in definitions if name in attempt.texts.made]  # whose numbers are to rise as they are defined
    new = dict(zip(made, sorted(made, key=lambda name: int(name[1:])), strict=True))
    return Formulas(
        [renamed(text, new) for text in attempt.shown],
        {name: [renamed(text, new) for text in entries.texts] for name, entries in attempt.jacobians.items()},
        {new.get(name, name): renamed(text, new) for name, text in definitions.items()},
        {name: [replace(rule, formula=renamed(rule.formula, new))] for name, rule in rules.items()},
        sources={new.get(name, name): attempt.texts.named[name] for name in definitions},
    )


def by_rules(graph: Graph, output: Node, leaves: Mapping[str, Node], composition: Composition) -> Formulas:
    """Return index rules in place of each entry's formula."""
    if not output.active:
        return Formulas()
    from gradcli.formulas.rules import derive_rules  # most answers need no rules

    try:
        rules, texts = derive_rules(graph, output, leaves, composition)
    except TooLarge:
        return Formulas()
    return Formulas(definitions=texts.definitions, rules=rules, sources=texts.named) if texts else Formulas(rules=rules)


LONG_ARRAY = 4096
"""Bytes of an array up to which a signature holds them all."""
MOST_NODES = 400
"""Nodes up to which a signature is taken: beyond, runs differ more often than not, and it takes as much memory."""


def signature(graph: Graph, output: Any, leaves: Mapping[str, Node], composition: Composition) -> Hashable | None:
    """Return what is equal for two runs where ``found_formulas`` finds the same for both; None for large ones.

    Equal signatures mean equal formulas, definitions and rules. Numbers that formulas hold are a part of it: those of
    the program, weights, what was detached. So is which entries there are, and which of them are 0 by convention.
    """
    nodes = composition.nodes
    if type(output) not in NODES or len(nodes) > MOST_NODES or composition.work > MOST_ENTRIES or composition.refusal:
        return None
    reached = {node.index for node in nodes}
    return (
        output.index,
        composition.work,
        tuple([(name, leaf.index) for name, leaf in leaves.items()]),
        tuple([(name, node.index if node and node.index in reached else -1) for name, node in graph.bindings]),
        tuple([node.name for node in graph.nodes if node.op is None]),
        tuple([of_node(node, composition) for node in nodes]),
        tuple([of_places(leaf, composition) for leaf in leaves.values()]),
    )


def of_places(leaf: Node, composition: Composition) -> Hashable:
    """Return which entries a Jacobian has."""
    result = composition.of[leaf.index]
    return result.shape, content(result.rows), content(result.columns)


def of_node(node: Node, composition: Composition) -> Hashable:
    """Return what formulas read of a node."""
    if not isinstance(node, Operation):
        return node.index, node.name, node.value.shape, node.active
    op = node.op
    arguments = tuple([a.index if type(a) in NODES else of_constant(a) for a in node.arguments])
    static = frozen(node.static) if node.static else ()
    zeros = op.splits_zero and tuple([op.has_signed_zero(k, node.arguments) for k in range(len(arguments))])
    rules = op.name, op.local_jacobian, op.formula
    shared = (node.index, *rules, node.active, node.value.shape, arguments, static, zeros)
    return (*shared, moved_entries(node, op), of_links(node, composition)) if depends(op) else shared


def depends(op: Op) -> bool:
    """Return whether the links of an op may depend on numbers, if only by a convention."""
    return not op.entries.shaped or op.zero_at is not None


def of_constant(value: Any) -> Hashable:
    """Return an argument that is no node: what it is and all its numbers."""
    if type(value) is int:
        return int, value
    array = np.asarray(value)
    return type(value), array.dtype.str, array.shape, content(array)


def content(array: Any) -> bytes:
    """Return the numbers of an array, a digest of those of a long one."""
    numbers = array.tobytes()
    return numbers if len(numbers) <= LONG_ARRAY else blake2b(numbers).digest()


def moved_entries(node: Operation, op: Op) -> Hashable:
    """Return where the entries of an op that moves them came from, and what came from nowhere."""
    if not op.entries.moves or op.entries.shaped:
        return None
    reading = reading_of(node)
    moved, left = [], np.ones(node.value.size, dtype=bool)
    for k in range(len(node.arguments)):
        with np.errstate(all="ignore"):
            result = links_of(reading, k)
        for links in map(listed, result):
            moved.append((k, content(links.rows), content(links.columns)))
            left[links.rows] = False
    return tuple(moved), content(np.ravel(node.value)[left])


def of_links(node: Operation, composition: Composition) -> Hashable:
    """Return the parts of the local Jacobians of a node, and which arguments have one."""
    result = []
    for k, argument in enumerate(node.arguments):
        parts = composition.parts(node, k) if type(argument) in NODES else None
        same = parts is not None and is_shaped(reading_of(node), k)
        result.append(same if same or parts is None else tuple([of_part(part) for part in parts]))
    return tuple(result)


def of_part(part: Part) -> Hashable:
    """Return all of a part, its formula with it."""
    bound = tuple([(slot, content(where)) for slot, where in part.bound])
    auxiliary = tuple([(text, np.shape(value)) for text, value in filter(None, (part.auxiliary, part.second))])
    weight = part.weight if type(part.weight) is float else of_constant(part.weight)
    return content(part.rows), content(part.columns), weight, part.template.expression, bound, auxiliary
