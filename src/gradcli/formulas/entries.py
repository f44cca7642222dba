"""The explicit Jacobian: local formulas multiplied along the graph, entry by entry, and what each is as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradcli.engine.graph import Graph, Input, Node, Operation
from gradcli.engine.naming import output_name, place_text
from gradcli.engine.reverse import accumulate
from gradcli.formulas.elements import LONGEST, Elements, Names, as_objects
from gradcli.formulas.forms import settled, shortest, tidied, weight
from gradcli.formulas.index_rules import IndexRule
from gradcli.formulas.patterns import index_rule, patterns_of
from gradcli.formulas.printing import formula_text, size_of
from gradcli.formulas.rules import letters_beside
from gradcli.formulas.texts import Source, Texts, TooLarge, nested
from gradcli.jacobian import functions as s
from gradcli.jacobian.composition import Composition
from gradcli.jacobian.local import Part
from gradcli.jacobian.sparse import Sparse, gathered, identity, product
from gradcli.ops.links import OUT, auxiliary_of
from gradcli.records import dataclass, replace

MOST_ENTRIES = 1200
"""Entries of all local Jacobians and products of entries together, beyond which formulas go by index rules."""
LARGEST = 1500
"""Parts of a Jacobian that gets a name, beyond which its definition is more than the language reads at once."""
MOST_FACTORED = 24
"""Entries of a Jacobian up to which each is tried in several forms."""


class TooLong(Exception):
    """A formula grew beyond what a person can read; intermediates need names."""


@dataclass(frozen=True, slots=True)
class Entries:
    """The formulas of one Jacobian, and the one rule that they all follow, if they do."""

    texts: list[str]
    rule: IndexRule | None

    @property
    def longest(self) -> int:
        """The characters of the longest formula."""
        return max(map(len, self.texts), default=0)

    @property
    def takes_from_calls(self) -> bool:
        """Whether a formula takes entries from what a function gives: ``softmax(x)[0]``."""
        return any(")[" in text for text in self.texts)


@dataclass(frozen=True, slots=True)
class Attempt:
    """The formulas of the output, ``shown``, and of each Jacobian, with the texts of the names in them."""

    shown: list[str]
    jacobians: dict[str, Entries]
    texts: Texts

    @property
    def longest(self) -> int:
        """The characters of the longest formula of a Jacobian."""
        return max((entries.longest for entries in self.jacobians.values()), default=0)


class Derivation:
    """The formulas of one run with these names; raises ``TooLong`` where they need more of them.

    To be used where sympy leaves factors as they are (``distribute(False)``).
    """

    def __init__(self, graph: Graph, output: Node, composition: Composition, names: Names) -> None:
        self.graph = graph
        self.output = output
        self.nodes = composition.nodes
        self.composition = composition
        self.names = names
        self.composed: dict[int, Sparse] = {}
        self.outer = identity(0, s.number(1), object)
        self.texts = Texts(graph, self.nodes)
        self.called = output_name(graph, output)
        if names is not Names.NONE:
            self.texts.adopt(output, self.called)
        self.printer = self.texts.printer
        self.elements = Elements(self.texts, names)
        for node in self.nodes:
            graph.meter.watch()
            if not self.elements.add(node):
                raise TooLong
        self.texts.order.add(self.texts.names.values())
        self.found = self._compose()

    def attempt(self, leaves: Mapping[str, Node]) -> Attempt:
        """Return all formulas."""
        return Attempt(self.shown(), self.jacobians(leaves), self.texts)

    def shown(self) -> list[str]:
        """Return the formula of each entry of the output."""
        index = self.output.index
        found, kept = self.elements.shown.get(index, self.elements.entries[index]), dict[Any, Any]()
        return self.written([tidied(self.elements.sums.with_means(entry), kept) for entry in found])

    def jacobians(self, leaves: Mapping[str, Node]) -> dict[str, Entries]:
        """Return the formulas of each Jacobian."""
        letters = letters_beside(self.texts.taken)
        return {
            name: self._entries_of(name, leaf, self.found.get(leaf.index), letters) for name, leaf in leaves.items()
        }

    def most_parts(self, leaves: Mapping[str, Node]) -> int:
        """Return the parts of the longest entry of a Jacobian, before other forms of it are tried."""
        found = (self.found[leaf.index] for leaf in leaves.values() if leaf.index in self.found)
        return max((size_of(entry) for sparse in found for entry in sparse.values), default=0)

    def _entries_of(self, name: str, leaf: Node, found: Sparse | None, letters: list[str]) -> Entries:
        self.graph.meter.watch()
        numeric, kept = self.composition.of[leaf.index], dict[Any, Any]()
        meant = self.elements.meant
        means = self.elements.sums.with_means
        entries = [tidied(means(entry.xreplace(meant)), kept) for entry in self._aligned(numeric, found)]
        shapes = self.output.shape, leaf.shape
        patterns = patterns_of(numeric.rows, numeric.columns, shapes, entries, letters)
        if not patterns:
            return Entries(self.written(entries), None)
        examples = self.written([entries[pattern.example] for pattern in patterns])
        texts = [""] * len(entries)
        for pattern, example in zip(patterns, examples, strict=True):
            for place, text in zip(pattern.places, pattern.texts(example), strict=True):
                texts[place] = text
        alike = [place for pattern in patterns for place in pattern.alike()]
        for place, text in zip(alike, self.written([entries[place] for place in alike]), strict=True):
            texts[place] = min(texts[place], text, key=weight)
        return Entries(texts, index_rule(self.called, name, patterns, examples))

    def written(self, entries: Sequence[Any]) -> list[str]:
        """Return formulas as text, each in the shortest of several forms while they are few."""
        unlike = list(dict.fromkeys(entries))
        sizes = {name: int(np.size(node.value)) for node in self.nodes if (name := self._named(node))}
        few = len(unlike) <= MOST_FACTORED
        texts = shortest(unlike, self.printer, sizes) if few else [formula_text(one, self.printer) for one in unlike]
        told = dict(zip(unlike, texts, strict=True))
        return [told[entry] for entry in entries]

    def _named(self, node: Node) -> str | None:
        return node.name if isinstance(node, Input) else self.texts.names.get(node.index)

    @staticmethod
    def _aligned(numeric: Sparse, found: Sparse | None) -> list[Any]:
        """Return the formulas in the places of the numbers: a place may lack a formula where weights are 0."""
        if found is None:
            return [s.number(0)] * len(numeric.rows)
        places = dict(zip(zip(found.rows, found.columns, strict=True), found.values, strict=True))
        return [places.get(place, s.number(0)) for place in zip(numeric.rows, numeric.columns, strict=True)]

    def _compose(self) -> dict[int, Sparse]:
        one = identity(int(np.size(self.output.value)), s.number(1), object)
        found = self.composed | accumulate({self.output.index: one}, reversed(self.nodes), self._along, plus)
        if self.names is not Names.MADE:
            return {index: self._settled(sparse) for index, sparse in found.items()}
        return {index: self._condensed(sparse) for index, sparse in found.items()}

    def _condensed(self, jacobian: Sparse) -> Sparse:
        entries = [self.elements.sums.condensed(entry) for entry in jacobian.values]
        return replace(jacobian, values=as_objects(entries))

    def _settled(self, jacobian: Sparse) -> Sparse:
        """Return a Jacobian none of whose entries is too long to be read; raises ``TooLong``."""
        longest = self.elements.longest
        jacobian = self._condensed(jacobian)
        if all(size_of(entry, longest) < longest for entry in jacobian.values):
            return jacobian
        entries = [settled(entry, longest) for entry in jacobian.values]
        if any(size_of(entry, longest) >= longest for entry in entries):
            raise TooLong
        return replace(jacobian, values=as_objects(entries))

    def _along(self, node: Operation, k: int, total: Sparse) -> Sparse | None:
        """Return the Jacobian by one argument of a node, through this node alone."""
        if node.index not in self.composed:
            self.graph.meter.watch()
            self.composed[node.index] = total
            self.outer = self._shortened(node, total)
        parts = self.composition.parts(node, k)
        if parts is None:  # where the numbers went along no such link there is nothing to write
            return None
        return product(self.outer, self._local(node, parts, int(np.size(node.arguments[k].value))), MOST_ENTRIES * 10)

    def _shortened(self, node: Operation, jacobian: Sparse) -> Sparse:
        """Say long sums in a word, and give a Jacobian a name of its own where its entries have grown long."""
        jacobian = self._condensed(jacobian)
        if all(size_of(entry, LONGEST[Names.MADE]) < LONGEST[Names.MADE] for entry in jacobian.values):
            return jacobian
        if self.names is not Names.MADE:
            raise TooLong
        if sum(size_of(entry) for entry in jacobian.values) > LARGEST:
            raise TooLarge
        name = self.texts.fresh(f"d{self._short(self.output, 'y')}_d{self._short(node, f'h{node.index}')}")
        shape = (*self.output.shape, *node.shape)
        parts = ["0"] * int(np.prod(shape))
        symbols = []
        for row, column, entry in zip(jacobian.rows, jacobian.columns, jacobian.values, strict=True):
            place = int(row) * jacobian.shape[1] + int(column)
            parts[place] = formula_text(entry, self.printer)
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
            if slot < OUT:
                entries = self.elements.auxiliary(node, *auxiliary_of(part, slot))
            else:
                entries = self.elements.entries[node.index] if slot == OUT else self.elements.of(node.arguments[slot])
            slots.append((entries, where))
        template, values = part.template, []
        for i, times in enumerate(part.weights.tolist()):
            if times == 0:
                values.append(s.number(0))
                continue
            chosen = {template.symbols[k]: slots[k][0][slots[k][1][i]] for k in template.used}
            values.append(s.number(times) * s.replaced(template.expression, chosen))
        return Sparse(part.rows, part.columns, as_objects(values), None, shape)


def plus(total: Sparse, part: Sparse, own: bool) -> Sparse:
    """Return the sum of two Jacobians."""
    del own
    return gathered([total, part], part.shape)
