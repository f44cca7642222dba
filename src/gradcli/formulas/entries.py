"""The explicit Jacobian, entry by entry: nodes as expressions in entries of inputs and named nodes, and their products.

Local formulas are multiplied along the graph as numbers are, and each entry is written as text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum, auto
from typing import Any

import numpy as np
from sympy import Add, Expr, Mul, Pow

from gradcli.engine.graph import Graph, Input, Node, Operation
from gradcli.engine.naming import output_name, place_text
from gradcli.engine.reverse import accumulate
from gradcli.formulas.index_rules import (
    INDEX,
    IndexRule,
    generalized,
    index_rule,
    integers_in,
    letters_beside,
    patterns_of,
)
from gradcli.formulas.printing import LanguagePrinter, bulk, formula_text, shortest, spread_out, tidied, weight
from gradcli.formulas.texts import Source, Texts, TooLarge, nested
from gradcli.jacobian import functions as s
from gradcli.jacobian.composition import Composition
from gradcli.jacobian.local import Part, links_of, reading_of
from gradcli.jacobian.sparse import Sparse, gathered, identity, product
from gradcli.ops.declare import value_of
from gradcli.ops.linear_algebra import contraction
from gradcli.ops.links import OUT, Array, Formula, auxiliary_of, listed
from gradcli.records import dataclass, field, replace

FEWEST = 4
"""Terms of one pattern from which a sum goes by its word."""
SLICE = re.compile(r"([A-Za-z_]\w*)\[([\d:,]+)\]")


@dataclass(slots=True)
class Sums:
    """Long sums in formulas of one program: ``shapes`` are those of the arrays that may be named.

    ``meant`` has the symbols of named values by what they stand for, ``lengths`` how many terms each word stands for.
    """

    printer: LanguagePrinter
    meant: dict[Expr, Expr] = field(default_factory=dict)
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    lengths: dict[Expr, int] = field(default_factory=dict)

    def condensed(self, expression: Expr) -> Expr:
        """Return a formula whose long sums over a whole axis of arrays go by ``dot`` or ``sum``."""
        return self.said(expression.xreplace(self.meant)) if is_long(expression) else expression

    def said(self, expression: Expr) -> Expr:
        """Return a formula in the program's names with its long sums in words."""
        if not is_long(expression):
            return expression
        result = expression.func(*map(self.said, expression.args))
        return self.condensed_sum(result) if isinstance(result, Add) and len(result.args) >= FEWEST else result

    def condensed_sum(self, total: Add) -> Expr:
        """Return a sum in which terms of one pattern are one term."""
        groups: dict[Any, list[Expr]] = {}
        for term in total.args:
            groups.setdefault(tuple(skeleton(term)), []).append(term)
        terms: list[Expr] = []
        for group in groups.values():
            result = self.general(group) if len(group) >= FEWEST else None
            terms += group if result is None else [self.summed(*result, len(group))]
        return Add(*terms)

    def general(self, terms: Sequence[Expr]) -> tuple[Expr, set[Expr]] | None:
        """Return terms that differ in one index, which runs along a whole axis, as one of arrays, and these arrays."""
        columns = zip(*map(integers, terms), strict=True)
        along = next((list(column) for column in columns if sorted(column) == list(range(len(terms)))), None)
        result: dict[str, str] = {}
        if along is None or not generalized(terms, {":": along}, result):
            return None
        sliced = {name: general for name, general in result.items() if name != general}
        if not all(is_axis(general, len(terms), self.shapes) for general in sliced.values()):
            return None
        names = {symbol: s.symbol(sliced[symbol.name].removesuffix("[:]")) for symbol in terms[0].free_symbols
                 if symbol.name in sliced}  # fmt: skip
        return terms[0].xreplace(names), set(names.values())

    def summed(self, term: Expr, arrays: set[Expr], count: int) -> Expr:
        """Return the sum of a term along its arrays; what is the same in all terms stands outside."""
        if isinstance(term, Add):
            return Add(*(self.summed(part, arrays, count) for part in term.args))
        factors = Mul.make_args(term)
        inside = [factor for factor in factors if factor.free_symbols & arrays]
        outside = Mul(*(factor for factor in factors if not factor.free_symbols & arrays))
        if not inside:
            return count * outside
        if len(inside) == 1 and isinstance(inside[0], Add):
            return outside * self.summed(inside[0], arrays, count)
        product = Mul(*inside)
        text = f"sum({formula_text(product, self.printer)})"
        if len(inside) == 2 and all(factor.is_Symbol for factor in inside):
            text = f"dot({', '.join(factor.name for factor in self.printer.program.factors(product))})"
        word = s.symbol(text)
        self.lengths[word] = count
        return outside * word

    def with_means(self, expression: Expr) -> Expr:
        """Return a formula with ``mean(x)`` for ``sum(x)/4`` where x has 4 entries."""
        if not (self.lengths.keys() & expression.free_symbols):
            return expression
        number, rest = expression.as_coeff_Mul()
        factors = Mul.make_args(rest)
        for word in factors:
            count = self.lengths.get(word, 0)
            if count and number.is_Rational and number.q % count == 0 and word.name.startswith("sum("):
                named = s.symbol(f"mean{word.name.removeprefix('sum')}")
                return Mul(number * count, *(named if part is word else self.with_means(part) for part in factors))
        return expression.func(*map(self.with_means, expression.args)) if expression.args else expression


def is_long(expression: Expr) -> bool:
    """Return whether a formula has a sum of many terms."""
    return any(len(total.args) >= FEWEST for total in expression.atoms(Add))


def skeleton(term: Expr) -> Iterator[Any]:
    """Yield what a term is made of, but for the numbers in its indices."""
    if term.is_Symbol:
        yield INDEX.sub("", term.name)
    elif not term.args:
        yield term
    else:
        yield term.func
        for part in term.args:
            yield from skeleton(part)


def integers(term: Expr) -> list[int]:
    """Return the numbers in the indices of a term, in the order of its parts."""
    if term.is_Symbol:
        return integers_in(term.name)
    return [number for part in term.args for number in integers(part)]


def is_axis(text: str, length: int, shapes: Mapping[str, tuple[int, ...]]) -> bool:
    """Return whether a slice is one whole axis of an array, of this length."""
    match = SLICE.fullmatch(text)
    if match is None or match[1] not in shapes:
        return False
    indices, shape = match[2].split(","), shapes[match[1]]
    return len(indices) == len(shape) and indices.count(":") == 1 and shape[indices.index(":")] == length


ExprArray = np.ndarray[Any, np.dtype[Any]]
"""An array of sympy's expressions."""


class Names(Enum):
    """Which names formulas may use beyond those of the inputs: none, the program's own, or also made ones."""

    NONE = auto()
    OWN = auto()
    MADE = auto()


LONGEST = {Names.NONE: 40, Names.OWN: 80, Names.MADE: 60}
"""Parts of an entry beyond which it gets a name, or more names are needed."""
WORDY = 16
"""Characters beyond which the text of an array, such as softmax(x), gets a name before entries are taken from it."""
COMPOUND = 3
"""Parts from which an expression inside a derivative gets a name, in the regime of named intermediates."""


class Elements:
    """The entries of every node as expressions, kept in flat order.

    With names of their ``OWN``, nodes that the program calls by a name are symbols. With more of them ``MADE``, a node
    also gets a name where its entries would stand inside a derivative and are no single symbols.
    ``meant`` has the symbols of named nodes by what they stand for.
    """

    def __init__(self, texts: Texts, names: Names) -> None:
        self.texts = texts
        self.names = names
        self.longest = LONGEST[names] if names is not Names.OWN or texts.names_inner else LONGEST[Names.NONE]
        self.entries: dict[int, ExprArray] = {}
        self.meant: dict[Expr, Expr] = {}
        self.shown: dict[int, ExprArray] = {}
        self.sums = Sums(texts.printer, self.meant)

    def add(self, node: Node) -> bool:
        """Work out the entries of a node whose arguments are there; False where a formula grows too long."""
        if not isinstance(node, Operation):
            self.texts.describe(node)
            self.entries[node.index] = self._symbols(node)
            self.sums.shapes[self.texts.of(node)] = node.shape
            return True
        made = self.names is Names.MADE
        if made:
            self._name_arguments(node)
        self._name_zeros(node)
        self.texts.describe(node)
        has_name = self.names is not Names.NONE and self.texts.own_name(node) is not None
        if self._needs_name(node) and not (made or has_name):
            return False
        entries = [self.sums.condensed(entry) for entry in self._entries(node)]
        result = self.shown[node.index] = self.entries[node.index] = as_objects(entries)
        if any(bulk(entry, self.longest) >= self.longest for entry in result):
            if not (made or has_name):
                return False
            self.shown[node.index] = self.rename(node)
        elif has_name:
            self.rename(node)
        return True

    def rename(self, node: Node) -> ExprArray:
        """Give a node a name, and let its entries be symbols from here on, which are returned."""
        self.texts.name(node)
        symbols = self._symbols(node)
        for entry, symbol in zip(self.entries[node.index], symbols, strict=True):
            self.meant.update(meant_by(symbol, entry))
        self.entries[node.index] = symbols
        self.sums.shapes[self.texts.of(node)] = node.shape
        return symbols

    def of(self, argument: Node | Array) -> ExprArray:
        """Return the entries of a node, or constants as sympy numbers."""
        if isinstance(argument, Node):
            return self.entries[argument.index]
        return as_objects([s.number(value) for value in np.ravel(np.asarray(argument, dtype=np.float64))])

    def auxiliary(self, node: Node, text: str, value: Array) -> ExprArray:
        """Return symbols for a value that a derivative needs and the program does not hold, such as ``inv(A)``."""
        written = text.format(self.texts.argument(node.arguments[0])[0])
        return as_objects([s.symbol(written + place_text(i, np.shape(value))) for i in range(np.size(value))])

    def _needs_name(self, node: Node) -> bool:
        """Return whether an op that has no entry-level formula would drag a long text into every formula."""
        op = node.op
        opaque = op is not None and not (op.formula or op.entries.moves or op.entries.folds or op.entries.spec)
        return opaque and len(self.texts.of(node)) > WORDY

    def _symbols(self, node: Node) -> ExprArray:
        if self._needs_name(node):
            self.texts.name(node)
        return as_objects([s.symbol(self.texts.element(node, i)) for i in range(np.size(node.value))])

    def _name_zeros(self, node: Operation) -> None:
        """Name arguments whose zeros count by their sign: ``-(x - x)`` is -0, and 0 once sympy has simplified it."""
        for k, argument in enumerate(node.arguments):
            if not isinstance(argument, Node) or not node.op.has_signed_zero(k, node.arguments):
                continue
            if not all(entry.is_Symbol for entry in self.entries[argument.index]):
                self.rename(argument)

    def _name_arguments(self, node: Operation) -> None:
        """Name arguments that a derivative by any active argument mentions, where their entries are compound."""
        active = [k for k, a in enumerate(node.arguments) if isinstance(a, Node) and a.active]
        if node.op.entries.moves or not active:
            return
        for k, argument in enumerate(node.arguments):
            if not isinstance(argument, Node) or argument.op is None or not node.op.entries.mentions(k, active):
                continue
            if any(bulk(entry, COMPOUND + 1) > COMPOUND for entry in self.entries[argument.index]):
                self.rename(argument)

    def _entries(self, node: Operation) -> ExprArray:
        op = node.op
        count = int(np.size(node.value))
        if op.formula is not None:
            return self._elementwise(node, op.formula, count)
        if op.entries.folds is not None:
            return as_objects([op.entries.folds(s, group) for group in self._grouped(node, count)])
        if op.entries.spec is not None:
            return self._contracted(node, op.entries.spec, count)
        if op.entries.moves:
            return self._moved(node, count)
        return self._symbols(node)

    def _elementwise(self, node: Operation, formula: Formula, count: int) -> ExprArray:
        op, columns = node.op, []
        for k, argument in enumerate(node.arguments):
            entries = self.of(argument).reshape(np.shape(value_of(argument)))
            if not isinstance(argument, Node) and op.has_signed_zero(k, node.arguments):
                entries = np.where(np.equal(argument, 0) & np.signbit(argument), s.symbol("-0.0"), entries)
            columns.append(np.broadcast_to(entries, np.shape(node.value)).ravel())
        result = []
        for i in range(count):
            arguments = [column[i] for column in columns]
            result.append(s.as_expression(formula(s, *arguments, **node.static)))
            if len(arguments) > 1:
                self.texts.order.learn(result[-1], arguments)
        return as_objects(result)

    def _grouped(self, node: Operation, count: int) -> list[list[Expr]]:
        """Return for each entry of a node the entries that it is linked to, in flat order."""
        entries = self.of(node.arguments[0])
        groups: list[list[Expr]] = [[] for _ in range(count)]
        for links in map(listed, links_of(reading_of(node), 0)):
            for row, column in zip(links.rows, links.columns, strict=True):
                groups[row].append(entries[column])
        return groups

    def _contracted(self, node: Operation, spec: Callable[..., str], count: int) -> ExprArray:
        values = tuple(value_of(a) for a in node.arguments)
        links = contraction(0, values, spec(*values, **node.static)).listed()
        first = self.of(node.arguments[0])
        others = [(self.of(node.arguments[slot]), where) for slot, where in links.bound]
        terms: list[list[Expr]] = [[] for _ in range(count)]
        for i, (row, column) in enumerate(zip(links.rows, links.columns, strict=True)):
            terms[row].append(s.product([first[column], *(entries[where[i]] for entries, where in others)]))
        return as_objects([s.total(group) for group in terms])

    def _moved(self, node: Operation, count: int) -> ExprArray:
        """Take each entry from where it came; what came from nowhere is the number that it is."""
        flat, reading = np.ravel(node.value), reading_of(node)
        result: list[Expr | None] = [None] * count
        for k, argument in enumerate(node.arguments):
            entries = self.of(argument)
            for links in map(listed, links_of(reading, k)):
                for row, column in zip(links.rows, links.columns, strict=True):
                    result[row] = entries[column] if result[row] is None else result[row]
        return as_objects([s.number(flat[i]) if entry is None else entry for i, entry in enumerate(result)])


def meant_by(symbol: Expr, entry: Expr) -> dict[Expr, Expr]:
    """Return what a symbol stands for with the symbol: an expression, and of a root its odd powers too."""
    if not entry.args or not entry.free_symbols:
        return {}
    if isinstance(entry, Pow) and entry.args[1] == s.HALF:
        return {entry.args[0] ** (k * s.HALF): symbol**k for k in (1, -1, 3, -3)}
    return {entry: symbol}


def as_objects(items: Sequence[Expr]) -> ExprArray:
    """Return a one-dimensional array of objects."""
    result = np.empty(len(items), dtype=object)
    result[:] = items
    return result


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
        self.by_node = self._compose()

    def attempt(self, leaves: Mapping[str, Node]) -> Attempt:
        """Return all formulas."""
        return Attempt(self.shown(), self.jacobians(leaves), self.texts)

    def shown(self) -> list[str]:
        """Return the formula of each entry of the output."""
        index = self.output.index
        result, kept = self.elements.shown.get(index, self.elements.entries[index]), dict[Any, Any]()
        return self.written([tidied(self.elements.sums.with_means(entry), kept) for entry in result])

    def jacobians(self, leaves: Mapping[str, Node]) -> dict[str, Entries]:
        """Return the formulas of each Jacobian."""
        letters = letters_beside(self.texts.taken)
        return {
            name: self._entries_of(name, leaf, self.by_node.get(leaf.index), letters) for name, leaf in leaves.items()
        }

    def most_parts(self, leaves: Mapping[str, Node]) -> int:
        """Return the parts of the longest entry of a Jacobian, before other forms of it are tried."""
        result = (self.by_node[leaf.index] for leaf in leaves.values() if leaf.index in self.by_node)
        return max((bulk(entry) for sparse in result for entry in sparse.values), default=0)

    def _entries_of(self, name: str, leaf: Node, jacobian: Sparse | None, letters: list[str]) -> Entries:
        self.graph.meter.watch()
        numeric, kept = self.composition.of[leaf.index], dict[Any, Any]()
        meant = self.elements.meant
        means = self.elements.sums.with_means
        entries = [s.number(0)] * len(numeric.rows)
        if jacobian is not None:  # a place may lack a formula where weights are 0
            formulas = dict(zip(zip(jacobian.rows, jacobian.columns, strict=True), jacobian.values, strict=True))
            entries = [formulas.get(at, entries[0]) for at in zip(numeric.rows, numeric.columns, strict=True)]
        entries = [tidied(means(entry.xreplace(meant)), kept) for entry in entries]
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
        if len(unlike) > MOST_FACTORED:
            texts = [formula_text(one, self.printer) for one in unlike]
        else:
            names = {node.index: node.name for node in self.nodes if isinstance(node, Input)} | self.texts.names
            sizes = {names[node.index]: int(np.size(node.value)) for node in self.nodes if node.index in names}
            texts = shortest(unlike, self.printer, sizes)
        text_of = dict(zip(unlike, texts, strict=True))
        return [text_of[entry] for entry in entries]

    def _compose(self) -> dict[int, Sparse]:
        one = identity(int(np.size(self.output.value)), s.number(1), object)
        result = self.composed | accumulate(
            {self.output.index: one}, reversed(self.nodes), self._along, lambda a, b, _own: gathered([a, b], b.shape)
        )
        last = self._condensed if self.names is Names.MADE else self._settled
        return {index: last(sparse) for index, sparse in result.items()}

    def _condensed(self, jacobian: Sparse) -> Sparse:
        entries = [self.elements.sums.condensed(entry) for entry in jacobian.values]
        return replace(jacobian, values=as_objects(entries))

    def _settled(self, jacobian: Sparse) -> Sparse:
        """Return a Jacobian none of whose entries is too long to be read; raises ``TooLong``."""
        longest = self.elements.longest
        jacobian = self._condensed(jacobian)
        if all(bulk(entry, longest) < longest for entry in jacobian.values):
            return jacobian
        entries = [spread_out(entry, longest) for entry in jacobian.values]
        if any(bulk(entry, longest) >= longest for entry in entries):
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
        if all(bulk(entry, LONGEST[Names.MADE]) < LONGEST[Names.MADE] for entry in jacobian.values):
            return jacobian
        if self.names is not Names.MADE:
            raise TooLong
        if sum(bulk(entry) for entry in jacobian.values) > LARGEST:
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
        if not parts:
            nothing = np.zeros(0, dtype=np.intp)
            return Sparse(nothing, nothing, as_objects([]), None, (rows, columns))
        return gathered([self._formulas_of(node, part, (rows, columns)) for part in parts], (rows, columns))

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
