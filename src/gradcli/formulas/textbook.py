"""Products and sums as a textbook has them: numbers in front, one line of divisors, nothing left that cancels.

>>> from gradcli.formulas.expression import read_expression
>>> with in_textbook_form():
...     read_expression("2*g/3*((1 - t)/(1 - p) - t/p)", {}).text
'2*g*(p - t)/(3*p*(1 - p))'

What is written so has the value of what it stands for wherever both are numbers; it may be rounded otherwise, and may
have a value where 0/0 has none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product as every_choice
from math import gcd, isfinite
from typing import Any

from gradcli.formulas.expression import (
    ATOM,
    COMPARED,
    FORMS,
    MULTIPLIED,
    NEGATED,
    SUMMED,
    Expression,
    Factor,
    Forms,
    Term,
    after,
    divide,
    infix_as_is,
    join_lists,
    multiply,
    name,
    number,
    over_divisors,
    raise_to,
)

SHORT = 8
"""Characters of a number up to which it is multiplied with others."""
MOST_TERMS = 12
"""Products that a numerator may have when it is multiplied out."""
COTANGENT = re.compile(r"\w+\.grad(\[[\d, ]*\])?|v")
CONSTANT = re.compile(r"pi|e|pi\*\*2|e\*\*2|(sqrt|log)\((\d+|\d*\*?pi)\)")
NAME = re.compile(r"\w+(\.\w+)*(\[[^()]*\])?(\*\*\d+)?")
RELU = re.compile(r"relu\(([^<>=&|]*)\)")
IDENTITY = re.compile(r"eye\(\d+\)")
ONES = re.compile(r"ones\((\d+)\)")
LOG_SOFTMAX = re.compile(r"log_softmax\(.*\)")
ONE = Fraction(1)
TINY, HUGE = Fraction(1, 10**300), Fraction(10**300)
"""Between these numbers are multiplied: a product beyond might be no double."""


@contextmanager
def in_textbook_form() -> Iterator[None]:
    """Put expressions together in this form meanwhile."""
    token = FORMS.set(TEXTBOOK)
    try:
        yield
    finally:
        FORMS.reset(token)


@dataclass(slots=True)
class Monomial:
    """A product: its sign, the numbers above and below the line, and the powers of all else by their bases' texts."""

    negative: bool = False
    above: Fraction = ONE
    below: Fraction = ONE
    powers: dict[str, tuple[Expression, int]] = field(default_factory=dict)

    def take(self, what: Expression, times: int = 1) -> None:
        """Multiply by an expression, or divide by it where ``times`` is -1."""
        self.negative ^= what.negative
        for part, below in what.parts:
            self.take_part(part, -times if below else times)

    def take_part(self, what: Expression, times: int) -> None:
        """Multiply by a power of what is no product itself."""
        value = what.value
        if value is not None and len(what.text) <= SHORT and isfinite(value) and (value or times > 0):
            if value == 1:
                return
            whole = (self.above if times > 0 else self.below) * Fraction(what.text)
            if not whole or TINY < whole < HUGE:
                self.above, self.below = (whole, self.below) if times > 0 else (self.above, whole)
                return
        self.take_power(what if what.base is None else what.base, times * what.exponent)

    def take_power(self, base: Expression, times: int) -> None:
        """Multiply by a power of what is no power itself."""
        exponent = times + self.powers.get(base.text, (base, 0))[1]
        self.powers[base.text] = (base, exponent)
        if not exponent:
            del self.powers[base.text]

    @property
    def is_zero(self) -> bool:
        """Whether a factor is 0."""
        return self.above == 0 or any(base.value == 0 and times > 0 for base, times in self.powers.values())

    @property
    def key(self) -> frozenset[tuple[str, int]]:
        """What two terms share that can be added up."""
        return frozenset((text, times) for text, (_, times) in self.powers.items())

    def numbers(self) -> tuple[Fraction, Fraction]:
        """Return the numbers above and below the line, reduced where they are whole or their quotient is."""
        if self.above is ONE is self.below:
            return ONE, ONE
        quotient = self.above / self.below
        if quotient.denominator == 1 or (self.above.denominator == 1 == self.below.denominator):
            return Fraction(quotient.numerator), Fraction(quotient.denominator)
        return self.above, self.below

    def without(self, other: Monomial) -> Monomial:
        """Return the quotient of two products."""
        result = Monomial(self.negative != other.negative)
        result.above = self.above if other.above is ONE else self.above / other.above
        result.below = self.below if other.below is ONE else self.below / other.below
        result.powers = dict(self.powers)
        for base, times in other.powers.values():
            result.take_power(base, -times)
        return result


def monomial(*factors: Expression) -> Monomial:
    """Return the product of factors."""
    result = Monomial()
    for what in factors:
        result.take(what)
    return result


def textbook_product(factors: Sequence[Factor]) -> Expression:
    """Return a product."""
    result = Monomial()
    for what, below in factors:
        result.take(what, -1 if below else 1)
    if result.is_zero and all(not below or what.value != 0 for what, below in factors):
        return number(0)
    plain = expression_of(result)
    sums = [base for base, times in result.powers.values() if times == 1 and base.terms]
    for whole in sums:
        if divides(result, whole):
            rest = expression_of(result.without(monomial(whole)))
            spread = textbook_sum([Term(multiply(rest, what), negative) for what, negative in whole.terms])
            if len(spread.text) < len(plain.text):
                return spread
    return plain


def divides(whole: Monomial, terms: Expression) -> bool:
    """Return whether a factor of a product stands below the line in a term of a sum."""
    return any(
        below and whole.powers.get((part if part.base is None else part.base).text, (part, 0))[1] > 0
        for term in terms.terms
        for part, below in term.what.factors
    )


def expression_of(one: Monomial) -> Expression:
    """Return a product as an expression: what arrived, numbers, all else, and then one line of divisors."""
    over, under = one.numbers()
    first: list[Expression] = []
    constants: list[Expression] = []
    above: list[Expression] = []
    below: list[Expression] = []
    for text, (base, times) in one.powers.items():
        what = base if abs(times) == 1 else raise_to(base, number(abs(times)))
        if CONSTANT.fullmatch(text) or base.value is not None:
            (constants if times > 0 else below).append(what)
        elif times > 0:
            (first if not above and not first and COTANGENT.fullmatch(text) else above).append(what)
        else:
            below.append(what)
    below.sort(key=lambda what: bool(what.terms))
    above.sort(key=factor_rank)
    negative = one.negative
    turned = next((place for place, what in enumerate(above) if is_turnable(what)), None) if negative else None
    if turned is not None:
        above[turned], negative = textbook_sum([Term(what, not minus) for what, minus in above[turned].terms]), False
    numbers = [number(float(over))] if over != 1 else []
    tops = [*first, *numbers, *constants, *above]
    bottoms = [*([number(float(under))] if under != 1 else []), *below]
    factors = tuple(Factor(what) for what in tops or [number(1)])
    factors += tuple(Factor(what, below=True) for what in bottoms)
    if len(factors) == 1 and (not negative or factors[0].what.value == 0):
        return factors[0].what
    top = top_text([factor.what for factor in factors if not factor.below])
    text = over_divisors(top, [what.within(MULTIPLIED) for what in bottoms])
    scalar = () if all(what.is_scalar for what, _ in factors) else None
    rank = MULTIPLIED if len(factors) > 1 else NEGATED
    return Expression(f"-{text}" if negative else text, rank, factors, negative, shape=scalar)


def factor_rank(what: Expression) -> int:
    """Return where a factor stands among others: names, then functions and sums, exponentials, sums over arrays."""
    if what.text.startswith(("exp(", "sum(")):
        return 3 if what.text.startswith("sum(") else 2
    return 0 if what.sides or NAME.fullmatch(what.text) else 1


def is_turnable(what: Expression) -> bool:
    """Return whether a factor is a difference that has a minus to lose: ``x - t``, but ``1 - s`` stands as it is."""
    signs = [minus for _, minus in what.terms]
    return any(signs) and not signs[0] and all(part.value is None for part, _ in what.terms)


def top_text(tops: Sequence[Expression]) -> str:
    """Return what stands above the line; a product of matrices needs no parentheses behind a number."""
    *numbers, last = tops
    if last.sides and all(what.value is not None for what in numbers):
        return "*".join([*(what.text for what in numbers), last.text])
    return "*".join(what.within(MULTIPLIED) for what in tops)


def textbook_sum(terms: Sequence[Term]) -> Expression:
    """Return a sum."""
    flat = join_lists([term for part in terms for term in single_terms(part)])
    if any(term.what.items for term in flat) and any("softmax(" in term.what.text for term in flat):
        flat = [Term(one_hot_of(term.what), term.negative) for term in flat]
    result = merged(flat)
    if not result:
        return number(0)
    if len(result) == 1:
        return expression_of(result[0])
    common = common_factors(result)
    if common is not None:
        inner = textbook_sum([Term(expression_of(one.without(common))) for one in result])
        return multiply(expression_of(common), inner)
    return fraction_of(result) or matrices_joined(result) or sum_of_monomials(result)


def single_terms(term: Term) -> Iterator[Term]:
    """Yield the terms of a sum one by one."""
    what, minus = term
    if what.negative and len(what.factors) == 1 and what.factors[0].what.terms:
        minus, what = not minus, what.factors[0].what
    if not what.terms:
        yield term
    for part, negative in what.terms:
        yield Term(part, minus != negative)


def one_hot_of(what: Expression) -> Expression:
    """Return ``-one_hot(1, 3)`` for ``[0, -1, 0]``, and all else as it is."""
    places = [place for place, item in enumerate(what.items) if item.value != 0]
    if len(places) != 1 or len(what.items) < 2:
        return what
    return multiply(what.items[places[0]], Expression(f"one_hot({places[0]}, {len(what.items)})"))


def merged(terms: Iterable[Term]) -> list[Monomial]:
    """Return the terms of a sum with those that are multiples of one another added up, a positive one first."""
    groups: dict[frozenset[tuple[str, int]], Monomial] = {}
    for what, negative in terms:
        result = monomial(what)
        result.negative ^= negative
        if result.is_zero:
            continue
        before = groups.get(result.key)
        groups[result.key] = result if before is None else add_monomials(before, result)
    ordered = [one for one in groups.values() if one.above]
    first = next((one for one in ordered if not one.negative), None)
    return ordered if first is None else [first, *(one for one in ordered if one is not first)]


def add_monomials(left: Monomial, right: Monomial) -> Monomial:
    """Return the sum of two multiples of one product."""
    values = [(-one.above if one.negative else one.above) / one.below for one in (left, right)]
    whole = sum(values, Fraction(0))
    if left.below == right.below:
        return Monomial(whole < 0, abs(whole) * left.below, left.below, left.powers)
    return Monomial(whole < 0, Fraction(abs(whole).numerator), Fraction(whole.denominator), left.powers)


def common_factors(terms: Sequence[Monomial]) -> Monomial | None:
    """Return the factors that all terms of a sum have, numbers too; None where they have none."""
    first, *others = terms
    result = Monomial()
    if len({frozenset(filter(COTANGENT.fullmatch, one.powers)) for one in terms}) > 1:
        return None
    for text, (base, times) in first.powers.items():
        exponents = [times, *(one.powers.get(text, (base, 0))[1] for one in others)]
        if min(exponents) > 0 or max(exponents) < 0:
            result.powers[text] = (base, min(exponents) if times > 0 else max(exponents))
    tops, bottoms = zip(*(one.numbers() for one in terms), strict=True)
    if len(set(bottoms)) == 1:
        result.below = bottoms[0]
    if len(set(tops)) == 1 and tops[0].denominator > 1:
        result.above = tops[0]
    elif result.powers or result.below != 1:
        whole = all(top.denominator == 1 for top in tops)
        result.above = Fraction(gcd(*(top.numerator for top in tops))) if whole else ONE
    if all(one.negative for one in terms) and result.powers:
        result.negative = True
    divides_alone = result.powers and max(times for _, times in result.powers.values()) < 0
    if divides_alone and any(one.key == result.key for one in terms):
        return None
    return None if not result.powers and result.above == 1 == result.below else result


def sum_of_monomials(terms: Sequence[Monomial]) -> Expression:
    """Return a sum of terms that have nothing in common."""
    signs = [one.negative for one in terms]
    parts = []
    for one in terms:
        one.negative = False
        parts.append(expression_of(one))
    text = ("-" if signs[0] else "") + parts[0].within(SUMMED)
    others = list(zip(parts, signs, strict=True))[1:]
    text += "".join(f" {'-' if minus else '+'} {part.within(SUMMED)}" for part, minus in others)
    shape = () if all(part.is_scalar for part in parts) else None
    return Expression(text, SUMMED, terms=tuple(map(Term, parts, signs)), shape=shape)


def fraction_of(terms: Sequence[Monomial]) -> Expression | None:
    """Return a sum as one fraction where its numerator, multiplied out, loses terms; None where it loses none.

    So ``(1 - t)/(1 - p) - t/p`` is ``(p - t)/(p*(1 - p))``.
    """
    divisors: dict[str, tuple[Expression, int]] = {}
    for one in terms:
        for text, (base, times) in one.powers.items():
            if times < divisors.get(text, (base, 0))[1]:
                divisors[text] = (base, times)
    if len(divisors) < 2:
        return None
    bottom = Monomial(powers={text: (base, -times) for text, (base, times) in divisors.items()})
    expanded: list[Term] = []
    for one in terms:
        above = monomial(expression_of(one), expression_of(bottom))
        expanded += expand_monomial(above)
        if len(expanded) > MOST_TERMS:
            return None
    numerator = merged(expanded)
    if len(numerator) >= len(expanded) or len(numerator) > len(terms):
        return None
    return divide(textbook_sum(expanded), expression_of(bottom))


def expand_monomial(whole: Monomial) -> list[Term]:
    """Return the terms of a product of sums."""
    sums = [base.terms for base, times in whole.powers.values() if times == 1 and base.terms]
    rest = Monomial(whole.negative, whole.above, whole.below)
    rest.powers = {text: (base, times) for text, (base, times) in whole.powers.items() if times != 1 or not base.terms}
    terms = []
    for choice in every_choice(*sums):
        factors = [expression_of(rest), *(term.what for term in choice)]
        one = monomial(*factors)
        one.negative ^= sum(term.negative for term in choice) % 2 == 1
        terms.append(Term(expression_of(one)))
    return terms


def matrices_joined(terms: Sequence[Monomial]) -> Expression | None:
    """Return ``(A + A.T) @ x`` for ``A @ x + x @ A``; None where no two terms are such products with one vector."""
    if len(terms) < 2:
        return None
    groups: dict[Any, list[tuple[Monomial, Expression, Expression]]] = {}
    for one in terms:
        for base, times in one.powers.values():
            pair = matrix_and_vector(base) if times == 1 else None
            if pair is not None:
                rest = one.without(monomial(base))
                groups.setdefault((pair[1].text, rest.numbers(), rest.key), []).append((one, *pair))
    pairs = next((group for group in groups.values() if len(group) == 2), None)
    if pairs is None:
        return None
    (one, matrix, vector), (other, second, _) = pairs
    matrices = [Term(matrix, one.negative), Term(second, other.negative)]
    matrices.sort(key=lambda term: term.what.text.endswith(".T"))
    product_there = next(base for base, _ in one.powers.values() if matrix_and_vector(base))
    rest = one.without(monomial(product_there))
    rest.negative = False
    whole = multiply(expression_of(rest), matrix_product(textbook_sum(matrices), vector))
    others = [Term(expression_of(term)) for term in terms if term is not one and term is not other]
    return textbook_sum([Term(whole), *others])


def matrix_and_vector(what: Expression) -> tuple[Expression, Expression] | None:
    """Return A and x of A @ x, or of x @ A, which is A.T @ x; None for all else."""
    if not what.sides:
        return None
    left, right = what.sides
    if left.shape is not None and len(left.shape) == 1:
        return after(right, ".T"), left
    return (left, right) if right.shape is not None and len(right.shape) == 1 else None


def matrix_product(left: Expression, right: Expression) -> Expression:
    """Return a product of matrices; numbers stand before it, and what is an identity is left out."""
    if IDENTITY.fullmatch(left.text):
        return right
    if IDENTITY.fullmatch(right.text):
        return left
    return take_numbers_out(lambda first, second: infix_as_is("@", MULTIPLIED, first, second), [left, right])


def take_numbers_out(make: Callable[..., Expression], arguments: Sequence[Expression]) -> Expression:
    """Return what is linear in each argument, with the numbers among their factors before it."""
    outside, inside = Monomial(), []
    for argument in arguments:
        one = monomial(argument)
        scalars = {text: power for text, power in one.powers.items() if power[0].is_scalar}
        if len(scalars) == len(one.powers):
            return make(*arguments)
        numbers = Monomial(one.negative, one.above, one.below, scalars)
        outside.take(expression_of(numbers))
        inside.append(expression_of(one.without(numbers)))
    made = make(*inside)
    return multiply(expression_of(outside), made)


def textbook_call(made: Expression, arguments: Sequence[Expression]) -> Expression:
    """Return a call, or what it comes to."""
    function = made.text.partition("(")[0]
    if made.text != f"{function}({', '.join(argument.text for argument in arguments)})":
        return made  # a method of such a call, or one with options
    if function == "outer" and len(arguments) == 2:
        return take_numbers_out(lambda first, second: name(f"outer({first.text}, {second.text})"), arguments)
    if function == "exp" and LOG_SOFTMAX.fullmatch(arguments[0].text):
        return name(arguments[0].text.removeprefix("log_"))
    if made.text == "log(e)":
        return number(1)
    if function == "diag" and (ones := ONES.fullmatch(arguments[0].text)):
        return name(f"eye({ones[1]})")
    return made


def textbook_comparison(sign: str, left: Expression, right: Expression) -> Expression:
    """Return a comparison; ``relu(x)`` is above 0 where x is."""
    inner = RELU.fullmatch(left.text) if sign == ">" and right.value == 0 and left.rank == ATOM else None
    return infix_as_is(sign, COMPARED, name(inner[1]) if inner else left, right)


TEXTBOOK = Forms(textbook_product, textbook_sum, matrix_product, textbook_call, textbook_comparison)
