"""Long sums in the language: ``dot(W[0,:], x)`` for ``W[0,0]*x[0] + W[0,1]*x[1] + …``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sympy import Add, Expr, Mul

from gradcli.formulas.patterns import INDEX, INTEGER, generalized
from gradcli.formulas.printing import LanguagePrinter, formula_text
from gradcli.jacobian import functions as s
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
