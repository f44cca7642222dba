"""Entry-level formulas: each entry of a node as a sympy expression in entries of inputs and named nodes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum, auto
from typing import Any

import numpy as np
from sympy import Add, Expr, Mul, Pow

from gradcli.engine.graph import Node, Operation
from gradcli.engine.naming import place_text
from gradcli.formulas.patterns import INDEX, INTEGER, generalized
from gradcli.formulas.printing import LanguagePrinter, formula_text, size_of
from gradcli.formulas.texts import Texts
from gradcli.jacobian import functions as s
from gradcli.ops.contractions import contraction
from gradcli.ops.declare import value_of
from gradcli.ops.links import listed
from gradcli.ops.signatures import Array, Formula, Mask
from gradcli.records import dataclass, field

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
        found = expression.func(*map(self.said, expression.args))
        return self.condensed_sum(found) if isinstance(found, Add) and len(found.args) >= FEWEST else found

    def condensed_sum(self, total: Add) -> Expr:
        """Return a sum in which terms of one pattern are one term."""
        groups: dict[Any, list[Expr]] = {}
        for term in total.args:
            groups.setdefault(tuple(skeleton(term)), []).append(term)
        terms: list[Expr] = []
        for group in groups.values():
            found = self.general(group) if len(group) >= FEWEST else None
            terms += group if found is None else [self.summed(*found, len(group))]
        return Add(*terms)

    def general(self, terms: Sequence[Expr]) -> tuple[Expr, set[Expr]] | None:
        """Return terms that differ in one index, which runs along a whole axis, as one of arrays, and these arrays."""
        columns = zip(*map(integers, terms), strict=True)
        along = next((list(column) for column in columns if sorted(column) == list(range(len(terms)))), None)
        found: dict[str, str] = {}
        if along is None or not generalized(terms, {":": along}, found):
            return None
        sliced = {name: general for name, general in found.items() if name != general}
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
        word = s.symbol(self.word_for(inside))
        self.lengths[word] = count
        return outside * word

    def word_for(self, factors: Sequence[Expr]) -> str:
        """Return the sum of the products of some factors, which are arrays or made of them."""
        if len(factors) == 2 and all(factor.is_Symbol for factor in factors):
            return f"dot({', '.join(factor.name for factor in self.printer.program.factors(Mul(*factors)))})"
        return f"sum({formula_text(Mul(*factors), self.printer)})"

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
        return [int(k) for text in INDEX.findall(term.name) for k in INTEGER.findall(text)]
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
        own = self.names is not Names.NONE and self.texts.own_name(node) is not None
        if self._needs_name(node) and not (made or own):
            return False
        entries = [self.sums.condensed(entry) for entry in self._entries(node)]
        found = self.shown[node.index] = self.entries[node.index] = as_objects(entries)
        if any(size_of(entry, self.longest) >= self.longest for entry in found):
            if not (made or own):
                return False
            self.shown[node.index] = self.rename(node)
        elif own:
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
        opaque = op is not None and not (op.formula or op.moves or op.folds or op.spec)
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
        if node.op.moves:
            return
        for k, argument in enumerate(node.arguments):
            if not isinstance(argument, Node) or argument.op is None or not self._mentioned(node, k):
                continue
            if any(size_of(entry, COMPOUND + 1) > COMPOUND for entry in self.entries[argument.index]):
                self.rename(argument)

    @staticmethod
    def _mentioned(node: Operation, argument: int) -> bool:
        """Return whether the derivative by any active argument depends on this one."""
        active = [k for k, a in enumerate(node.arguments) if isinstance(a, Node) and a.active]
        return bool(active) and node.op.mentions(argument, active)

    def _entries(self, node: Operation) -> ExprArray:
        op = node.op
        count = int(np.size(node.value))
        if op.formula is not None:
            return self._elementwise(node, op.formula, count)
        if op.folds is not None:
            return as_objects([op.folds(s, group) for group in self._grouped(node, count)])
        if op.spec is not None:
            return self._contracted(node, op.spec, count)
        if op.moves:
            return self._moved(node, count)
        return self._symbols(node)

    def _elementwise(self, node: Operation, formula: Formula, count: int) -> ExprArray:
        op, columns = node.op, []
        for k, argument in enumerate(node.arguments):
            entries = self.of(argument).reshape(np.shape(value_of(argument)))
            if not isinstance(argument, Node) and op.has_signed_zero(k, node.arguments):
                entries = np.where(is_negative_zero(argument), s.symbol("-0.0"), entries)
            columns.append(np.broadcast_to(entries, np.shape(node.value)).ravel())
        found = []
        for i in range(count):
            arguments = [column[i] for column in columns]
            found.append(s.as_expression(formula(s, *arguments, **node.static)))
            if len(arguments) > 1:
                self.texts.order.learn(found[-1], arguments)
        return as_objects(found)

    def _grouped(self, node: Operation, count: int) -> list[list[Expr]]:
        """Return for each entry of a node the entries that it is linked to, in flat order."""
        entries = self.of(node.arguments[0])
        values = tuple(value_of(a) for a in node.arguments)
        groups: list[list[Expr]] = [[] for _ in range(count)]
        for links in map(listed, node.op.local(0, node.value, values, node.static)):
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
        return as_objects([s.total(own) for own in terms])

    def _moved(self, node: Operation, count: int) -> ExprArray:
        """Take each entry from where it came; what came from nowhere is the number that it is."""
        values = tuple(value_of(a) for a in node.arguments)
        flat = np.ravel(node.value)
        result: list[Expr | None] = [None] * count
        for k, argument in enumerate(node.arguments):
            entries = self.of(argument)
            for links in map(listed, node.op.local(k, node.value, values, node.static)):
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


def is_negative_zero(value: Array) -> Mask:
    """Return where an array is -0."""
    return np.equal(value, 0) & np.signbit(value)


def as_objects(items: Sequence[Expr]) -> ExprArray:
    """Return a one-dimensional array of objects."""
    result = np.empty(len(items), dtype=object)
    result[:] = items
    return result
