"""The explicit symbolic Jacobian: in terms of the inputs while it is small, of named intermediates beyond."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sympy import factor_terms

from gradcli.engine.graph import Graph, Node, Operation
from gradcli.engine.naming import place_text
from gradcli.engine.reverse import accumulate
from gradcli.formulas.elements import Elements, as_objects
from gradcli.formulas.printing import Unprintable, formula_text, size_of
from gradcli.formulas.texts import Source, Texts, TooLarge, nested
from gradcli.jacobian import functions as s
from gradcli.jacobian.composition import Composition
from gradcli.jacobian.local import Part
from gradcli.jacobian.sparse import DENSE_ENTRIES, Sparse, gathered, identity, product

MOST_ENTRIES = 1200
"""Entries of all local Jacobians and products of entries together, beyond which formulas go by index rules."""
LONGEST_INLINE = 40
"""Parts of an entry in terms of the inputs, beyond which intermediates get names."""
LONGEST_NAMED = 60
"""Parts of an entry in terms of named intermediates, beyond which a whole Jacobian gets a name."""
LARGEST = 1500
"""Parts of a Jacobian that gets a name, beyond which its definition is more than the language reads at once."""


@dataclass(frozen=True, slots=True)
class Formulas:
    """Formulas of the output and of the Jacobians, as text in flat order; None where they are too many or too long.

    ``jacobians`` has the text of each entry that can be non-zero, in the order of the numeric Jacobian's entries.
    ``definitions`` gives the names that formulas use, in an order in which they can be run, ``values`` their numbers,
    and ``sources`` where these come from.
    """

    output: list[str] | None = None
    jacobians: dict[str, list[str]] = field(default_factory=dict)
    definitions: dict[str, str] = field(default_factory=dict)
    rules: dict[str, list[str]] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)


MOST_FACTORED = 24
"""Entries of a Jacobian up to which each is also tried with common factors taken out."""


class TooLong(Exception):  # noqa: N818
    """A formula grew beyond what a person can read; intermediates need names."""


def refreshed(found: Formulas, composition: Composition) -> Formulas:
    """Return formulas with the numbers of another run, whose ``signature`` must be the same."""
    if not found.sources:
        return found
    nodes = {node.index: node for node in composition.nodes}
    values = {name: numbers_of(source, nodes, composition) for name, source in found.sources.items()}
    return replace(found, values=values)


def numbers_of(source: Source, nodes: Mapping[int, Node], composition: Composition) -> Any:
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
    work = composition.work + sum(int(np.size(node.value)) for node in nodes)
    widest = np.size(output.value) * max((np.size(leaf.value) for leaf in leaves.values()), default=0)
    if composition.refusal or work > MOST_ENTRIES or widest > DENSE_ENTRIES:
        return by_rules(graph, output, leaves, composition)
    try:
        with np.errstate(all="ignore"):
            return by_entries(graph, output, nodes, leaves, composition)
    except (Unprintable, RecursionError, TooLarge):
        return by_rules(graph, output, leaves, composition)


def by_entries(
    graph: Graph, output: Node, nodes: Sequence[Node], leaves: Mapping[str, Node], composition: Composition
) -> Formulas:
    """Return each entry's formula: in terms of the inputs, or of named intermediates where that grows too long."""
    try:
        return _Derivation(graph, output, nodes, composition, named=False).formulas(leaves)
    except TooLong:
        return _Derivation(graph, output, nodes, composition, named=True).formulas(leaves)


def by_rules(graph: Graph, output: Node, leaves: Mapping[str, Node], composition: Composition) -> Formulas:
    """Return index rules in place of each entry's formula."""
    if not output.active:
        return Formulas()
    from gradcli.formulas.chains import index_rules  # noqa: PLC0415 - most answers need no rules

    try:
        rules, texts = index_rules(graph, output, leaves, composition)
    except TooLarge:
        return Formulas()
    return Formulas(definitions=texts.definitions, rules=rules, sources=texts.named) if texts else Formulas(rules=rules)


class _Derivation:
    """One attempt in one regime."""

    def __init__(
        self, graph: Graph, output: Node, nodes: Sequence[Node], composition: Composition, named: bool
    ) -> None:
        self.graph = graph
        self.output = output
        self.nodes = nodes
        self.composition = composition
        self.named = named
        self.composed: dict[int, Sparse] = {}
        self.outer = identity(0, s.number(1), object)
        self.texts = Texts(graph, nodes)
        self.elements = Elements(self.texts, named, LONGEST_NAMED if named else LONGEST_INLINE)
        for node in nodes:
            graph.meter.watch()
            if not self.elements.add(node):
                raise TooLong

    def formulas(self, leaves: Mapping[str, Node]) -> Formulas:
        """Return all formulas; raises ``TooLong`` where the inline regime does not do."""
        jacobians = self._compose()
        text: dict[str, list[str]] = {}
        for name, leaf in leaves.items():
            self.graph.meter.watch()
            numeric, found = self.composition.of[leaf.index], jacobians.get(leaf.index)
            entries = self._aligned(numeric, found)
            text[name] = [
                shortest(entry) if len(entries) <= MOST_FACTORED else formula_text(entry) for entry in entries
            ]
        shown = [formula_text(entry) for entry in self.elements.entries[self.output.index]]
        used = self._used([*shown, *(entry for entries in text.values() for entry in entries)])
        sources = {name: self.texts.named[name] for name in used}
        return renumbered(Formulas(shown, text, used, sources=sources), self.texts.made)

    @staticmethod
    def _aligned(numeric: Sparse, found: Sparse | None) -> list[Any]:
        """Return the formulas in the places of the numbers: a place may lack a formula where weights are 0."""
        if found is None:
            return [s.number(0)] * len(numeric.rows)
        places = dict(zip(zip(found.rows, found.columns, strict=True), found.values, strict=True))
        return [places.get(place, s.number(0)) for place in zip(numeric.rows, numeric.columns, strict=True)]

    def _compose(self) -> dict[int, Sparse]:
        one = identity(int(np.size(self.output.value)), s.number(1), object)
        found = self.composed | accumulate(self.output, one, reversed(self.nodes), self._along, plus)
        for sparse in found.values():
            if not self.named and any(size_of(entry, LONGEST_INLINE) >= LONGEST_INLINE for entry in sparse.values):
                raise TooLong
        return found

    def _along(self, node: Operation, k: int, total: Sparse) -> Sparse | None:
        """Return the Jacobian by one argument of a node, through this node alone."""
        if node.index not in self.composed:
            self.graph.meter.watch()
            self.composed[node.index] = total
            self.outer = self._shortened(node, total)
        parts = self.composition.parts(node, k)
        if parts is None:
            return None
        return product(self.outer, self._local(node, parts, int(np.size(node.arguments[k].value))), MOST_ENTRIES * 10)

    def _shortened(self, node: Operation, jacobian: Sparse) -> Sparse:
        """Give a Jacobian a name of its own where its entries have grown long."""
        if all(size_of(entry, LONGEST_NAMED) < LONGEST_NAMED for entry in jacobian.values):
            return jacobian
        if not self.named:
            raise TooLong
        if sum(size_of(entry) for entry in jacobian.values) > LARGEST:
            raise TooLarge
        name = self.texts.fresh(f"d{self._short(self.output, 'y')}_d{self._short(node, f'h{node.index}')}")
        shape = (*self.output.shape, *node.shape)
        parts = ["0"] * int(np.prod(shape))
        symbols = []
        for row, column, entry in zip(jacobian.rows, jacobian.columns, jacobian.values, strict=True):
            place = int(row) * jacobian.shape[1] + int(column)
            parts[place] = formula_text(entry)
            symbols.append(s.symbol(name + place_text(place, shape)))
        self.texts.definitions[name] = nested(parts, shape)
        self.texts.named[name] = Source(node.index, shape)
        return Sparse(jacobian.rows, jacobian.columns, as_objects(symbols), None, jacobian.shape)

    def _short(self, node: Node, otherwise: str) -> str:
        return self.texts.names.get(node.index) or self.texts.own_name(node) or otherwise

    def _local(self, node: Operation, parts: list[Part], columns: int) -> Sparse:
        rows = int(np.size(node.value))
        found = [self._formulas_of(node, part, (rows, columns)) for part in parts]
        if not found:
            nothing = np.zeros(0, dtype=np.intp)
            return Sparse(nothing, nothing, as_objects([]), None, (rows, columns))
        return gathered(found, (rows, columns))

    def _formulas_of(self, node: Operation, part: Part, shape: tuple[int, int]) -> Sparse:
        slots = []
        for slot, where in part.bound:
            if slot == -2:
                assert part.auxiliary is not None  # noqa: S101
                entries = self.elements.auxiliary(node, *part.auxiliary)
            else:
                entries = self.elements.entries[node.index] if slot == -1 else self.elements.of(node.arguments[slot])
            slots.append((entries, where))
        template, values = part.template, []
        for i, weight in enumerate(part.weights.tolist()):
            if weight == 0:
                values.append(s.number(0))
                continue
            chosen = {template.symbols[k]: slots[k][0][slots[k][1][i]] for k in template.used}
            values.append(s.number(weight) * template.expression.xreplace(chosen))
        return Sparse(part.rows, part.columns, as_objects(values), None, shape)

    def _used(self, shown: list[str]) -> dict[str, str]:
        """Return the definitions that the formulas reach, in order."""
        words = set().union(*(_words(text) for text in shown)) if shown else set()
        kept: dict[str, str] = {}
        for name, text in reversed(self._ordered()):
            if name in words:
                kept[name] = text
                words |= _words(text)
        return dict(reversed(kept.items()))

    def _ordered(self) -> list[tuple[str, str]]:
        """Return the definitions so that each comes after those it uses."""
        left, done, ordered = dict(self.texts.definitions), set[str](), []
        while left:
            ready = [name for name, text in left.items() if not (_words(text) & set(left)) - {name}]
            for name in ready or list(left):
                ordered.append((name, left.pop(name)))
                done.add(name)
        return ordered


def plus(total: Sparse, part: Sparse, own: bool) -> Sparse:
    """Return the sum of two Jacobians."""
    del own
    return gathered([total, part], part.shape)


def shortest(entry: Any) -> str:
    """Return the text of a formula, with common factors taken out where that is shorter."""
    plain = formula_text(entry)
    if not entry.is_Add or len(plain) < 24:
        return plain
    return min(plain, formula_text(factor_terms(entry)), key=len)


def renumbered(found: Formulas, named: Sequence[str]) -> Formulas:
    """Return formulas with the names in ``named`` of unnamed intermediates in order of definition."""
    made = [name for name in found.definitions if name in named]
    if not made or found.output is None:
        return found
    new = dict(zip(made, sorted(made, key=lambda name: int(name[1:])), strict=True))

    def renamed(text: str) -> str:
        return re.sub(r"[A-Za-z_]\w*", lambda word: new.get(word[0], word[0]), text)

    return Formulas(
        [renamed(text) for text in found.output],
        {name: [renamed(text) for text in entries] for name, entries in found.jacobians.items()},
        {renamed(name): renamed(text) for name, text in found.definitions.items()},
        sources={renamed(name): source for name, source in found.sources.items()},
    )


def _words(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", text))
