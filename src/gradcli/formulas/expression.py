"""Expressions of the language, built up piece by piece with the fewest parentheses and nothing that says nothing.

>>> g, y = name("g"), name("y")
>>> multiply(g, subtract(number(1), multiply(y, y))).text
'g*(1 - y**2)'

Constants go by the names that people have for them, and texts of the language are read as expressions.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, NamedTuple

from gradcli.ops import OPERATORS
from gradcli.ops.arithmetic import COMPARISONS
from gradcli.ops.links import Shape
from gradcli.ops.writing import number_text

COMPARED, SUMMED, MULTIPLIED, NEGATED, RAISED, ATOM = 30, 60, 70, 80, 90, 100
"""How tightly each kind of expression binds, as ``precedence`` of the records has it."""
FEW_DIGITS = 8
"""Characters of a number beyond which a fraction is looked for."""
LARGEST_DIVISOR = 1000
"""The largest denominator of such a fraction."""
EXACT = 2.0**53
"""Whole numbers up to here are doubles."""


Parts = tuple[list[str], list[str]]
"""The factors that stand above and below the line: ``2`` and ``pi`` above, ``3`` below for 2π/3."""
LARGEST_ROOT = 64
"""The largest whole number whose root has a name, beside the powers of 2 and the hundreds above."""


def number_name(number: float) -> str:
    """Return a positive number as text: ``2*pi/3``, ``1/(2*pi)``, ``0.3``."""
    above, below = constant_texts(number)
    return over_divisors("*".join(above) or "1", below)


def over_divisors(text: str, divisors: Sequence[str]) -> str:
    """Return a product over one line of divisors."""
    if not divisors:
        return text
    return f"{text}/{divisors[0]}" if len(divisors) == 1 else f"{text}/({'*'.join(divisors)})"


def constant_texts(value: float) -> Parts:
    """Return a positive number as what stands above and below the line: nothing for 1, ``2`` and ``pi`` for 2/π."""
    named = named_number(value)
    if named is not None:
        return named
    if value == 1:
        return [], []
    return [str(int(value)) if value.is_integer() and value < 1e15 else repr(value)], []


def named_number(value: float) -> Parts | None:
    """Return the parts of a positive number that has a name; None for any other."""
    return known_constants().get(value)


@cache
def known_constants() -> dict[float, Parts]:
    """Return the numbers that people write with ``pi``, ``e``, roots and logarithms, by the doubles that they are."""
    result: dict[float, Parts] = {}
    add_multiples(result)
    for text, value in (("sqrt(2*pi)", math.sqrt(2 * math.pi)), ("sqrt(pi)", math.sqrt(math.pi))):
        for n in (1, 2, 3, 4):
            many = [str(n)] * (n > 1)
            result.setdefault(n * value, ([*many, text], []))
            result.setdefault(n / value, (many, [text]))
    for n in (2, 10):
        result.setdefault(math.log(n), ([f"log({n})"], []))
        result.setdefault(1 / math.log(n), ([], [f"log({n})"]))
    for n in (*range(2, LARGEST_ROOT), *(2**k for k in range(7, 13)), *range(100, 1100, 100)):
        root = math.sqrt(n)
        if not root.is_integer():
            result.setdefault(root, ([f"sqrt({n})"], []))
            result.setdefault(1 / root, ([], [f"sqrt({n})"]))
    return result


def add_multiples(constants: dict[float, Parts]) -> None:
    """Add multiples and fractions of ``pi`` and ``e``, and of their squares."""
    for name, value in (("pi", math.pi), ("e", math.e)):
        for n in range(1, 9):
            many = [str(n)] * (n > 1)
            for d in (1, 2, 3, 4, 6, 8, 180):
                constants.setdefault(n * value / d, ([*many, name], [str(d)] * (d > 1)))
            constants.setdefault(n / value, (many, [name]))
            constants.setdefault(1 / (n * value), ([], [*many, name]))
        constants.setdefault(value**2, ([f"{name}**2"], []))
    for n in (1, 2, 3, 4, 8):
        for d in (1, 2, 3, 4, 6):
            constants.setdefault(n * math.pi**2 / d, ([*[str(n)] * (n > 1), "pi**2"], [str(d)] * (d > 1)))


class Factor(NamedTuple):
    """One factor of a product, or what it is divided by."""

    what: Expression
    below: bool = False


class Term(NamedTuple):
    """One term of a sum, or what is subtracted."""

    what: Expression
    negative: bool = False


class Expression(NamedTuple):
    """A text and how tightly it binds.

    A product has its ``factors`` and whether it is ``negative``, a sum its ``terms``, a list its ``items``, a number
    its ``value``, a power its ``base`` and ``exponent`` where that is a whole number, a product of matrices its two
    ``sides``. ``shape`` is that of the array which the text gives, where it matters and is at hand.
    """

    text: str
    rank: int = ATOM
    factors: tuple[Factor, ...] = ()
    negative: bool = False
    terms: tuple[Term, ...] = ()
    value: float | None = None
    items: tuple[Expression, ...] = ()
    base: Expression | None = None
    exponent: int = 1
    sides: tuple[Expression, ...] = ()
    shape: Shape | None = None

    @property
    def parts(self) -> tuple[Factor, ...]:
        """The factors; itself where it is no product."""
        return self.factors or (Factor(self),)

    @property
    def is_scalar(self) -> bool:
        """Whether the text gives one number."""
        return self.value is not None or self.shape == ()

    def within(self, rank: int) -> str:
        """Return the text as it stands beside an operator that binds as tightly as ``rank``."""
        return self.text if self.rank > rank else f"({self.text})"


class Forms(NamedTuple):
    """How expressions are put together: what makes a product, a sum, a product of matrices, a call, a comparison."""

    product: Callable[[Sequence[Factor]], Expression]
    total: Callable[[Sequence[Term]], Expression]
    matmul: Callable[[Expression, Expression], Expression]
    call: Callable[[Expression, Sequence[Expression]], Expression]
    compare: Callable[[str, Expression, Expression], Expression]


FORMS: ContextVar[Forms | None] = ContextVar("FORMS", default=None)
"""Other forms than those of this module, which keep the order of the operations: ``textbook`` has some."""


def name(text: str) -> Expression:
    """Return a name, or any other text that stands for itself."""
    return Expression(text)


def number(value: Any) -> Expression:
    """Return a number: by its name, as a fraction where that is shorter, or with its digits."""
    value = float(value)
    constant = named_number(abs(value))
    if constant is not None and (FORMS.get() or "e" not in constant[0] + constant[1]):
        above, below = (multiply(*map(constant_part, parts)) for parts in constant)
        result = divide(above, below) if constant[1] else above
        return negate(result) if value < 0 else result
    text = number_text(abs(value))
    if math.copysign(1.0, value) < 0:
        return Expression(f"-{text}", NEGATED, (Factor(Expression(text, value=-value)),), True)
    if len(text) > FEW_DIGITS and value < EXACT:
        fraction = Fraction(value).limit_denominator(LARGEST_DIVISOR)
        if fraction.denominator > 1 and fraction.numerator / fraction.denominator == value:
            return divide(number(fraction.numerator), number(fraction.denominator))
    return Expression(text, value=value)


def constant_part(text: str) -> Expression:
    """Return a factor of a constant: a whole number, or a name such as ``pi`` or ``sqrt(2)``."""
    if text.isdecimal():
        return Expression(text, value=float(text))
    return Expression(text, RAISED if "**" in text else ATOM, shape=())


def call(function: str, *arguments: Expression, **options: Any) -> Expression:
    """Return a call."""
    written = [argument.text for argument in arguments] + [f"{key}={value}" for key, value in options.items()]
    made = Expression(f"{function}({', '.join(written)})")
    forms = FORMS.get()
    return forms.call(made, arguments) if forms else made


def invert(mask: Expression) -> Expression:
    """Return a mask turned round."""
    return Expression(f"~{mask.within(NEGATED - 1)}", NEGATED)


def listed(items: Sequence[Expression]) -> Expression:
    """Return a list."""
    return Expression(f"[{', '.join(item.text for item in items)}]", items=tuple(items))


def after(what: Expression, text: str) -> Expression:
    """Return an expression with an index, a ``.T`` or the like behind it."""
    if text == ".T" and what.rank == ATOM and what.text.endswith(".T"):
        return Expression(what.text.removesuffix(".T"))
    if text == ".T" and what.sides and FORMS.get():
        left, right = what.sides
        return infix("@", MULTIPLIED, after(right, ".T"), after(left, ".T"))
    if text == ".T" and what.shape is not None and len(what.shape) < 2:
        return what
    if FORMS.get() and what.value is not None and set(text) <= set("[]., None:"):
        return what
    shape = what.shape[::-1] if text == ".T" and what.shape is not None else None
    return Expression(f"{what.within(ATOM - 1)}{text}", shape=shape)


def infix(sign: str, rank: int, left: Expression, right: Expression) -> Expression:
    """Return two expressions with an operator between them that is no arithmetic of numbers."""
    forms = FORMS.get() if sign == "@" else None
    return forms.matmul(left, right) if forms else infix_as_is(sign, rank, left, right)


def infix_as_is(sign: str, rank: int, left: Expression, right: Expression) -> Expression:
    """Return two expressions as they are with an operator between them."""
    first = left.within(rank if rank == COMPARED or left.factors else rank - 1)
    sides = (left, right) if sign == "@" else ()
    return Expression(f"{first} {sign} {right.within(rank)}", rank, sides=sides)


def compare(sign: str, left: Expression, right: Expression) -> Expression:
    """Return a comparison: of two numbers 1 or 0, which ``choose`` takes a branch by."""
    if left.value is not None and right.value is not None:
        return number(COMPARISONS[sign](left.value, right.value))
    forms = FORMS.get()
    return forms.compare(sign, left, right) if forms else infix_as_is(sign, COMPARED, left, right)


def choose(condition: Expression, left: Expression, right: Expression) -> Expression:
    """Return a choice, or the branch that is always taken."""
    if condition.value is not None:
        return left if condition.value else right
    return call("where", condition, left, right)


def multiply(*factors: Expression) -> Expression:
    """Return the product."""
    return product([Factor(factor) for factor in factors])


def divide(above: Expression, below: Expression) -> Expression:
    """Return the quotient."""
    return product([Factor(above), Factor(below, below=True)])


def negate(what: Expression) -> Expression:
    """Return an expression with the other sign."""
    if what.value == 0:
        return what
    forms = FORMS.get()
    if forms:
        return forms.total([Term(what, negative=True)])
    return signed_product(what.parts, not what.negative)


def add(*terms: Expression) -> Expression:
    """Return the sum."""
    return total([Term(term) for term in terms])


def subtract(left: Expression, right: Expression) -> Expression:
    """Return the difference."""
    return total([Term(left), Term(right, negative=True)])


def raise_to(base: Expression, exponent: Expression) -> Expression:
    """Return the power."""
    if exponent.value == 1:
        return base
    if exponent.value == 0:
        return number(1)
    text = f"{base.within(RAISED)}**{exponent.within(NEGATED - 1)}"
    if exponent.value is None or not exponent.value.is_integer():
        return Expression(text, RAISED)
    return Expression(text, RAISED, base=base, exponent=int(exponent.value), shape=base.shape)


def product(factors: Sequence[Factor]) -> Expression:
    """Return a product of factors, those that are products themselves taken apart where that changes no digit."""
    forms = FORMS.get()
    if forms:
        return forms.product(factors)
    flat: list[Factor] = []
    negative = False
    for what, below in factors:
        if what.negative:
            negative = not negative
        parts = what.parts
        if not below:
            flat += parts
        elif what.negative or len(parts) == 1:
            flat.append(Factor(signed_product(parts, negative=False), below=True))
        else:
            flat.append(Factor(what, below=True))
    if any(not below and what.value == 0 for what, below in flat):
        return number(0)
    return signed_product(tuple(squared(reduce_numbers(flat))), negative)


def reduce_numbers(factors: Sequence[Factor]) -> list[Factor]:
    """Return factors with neighbouring whole numbers made one, and without those that are 1."""
    result: list[Factor] = []
    fraction = Fraction(1)
    for factor in factors:
        value = factor.what.value
        if value is not None and value.is_integer() and 0 < value < EXACT:
            fraction = fraction / Fraction(value) if factor.below else fraction * Fraction(value)
            continue
        result += [*fraction_factors(fraction), factor]
        fraction = Fraction(1)
    result += fraction_factors(fraction)
    if not result or result[0].below:
        result.insert(0, Factor(Expression("1", value=1.0)))
    return result


def fraction_factors(fraction: Fraction) -> list[Factor]:
    """Return the factors that a fraction is written as."""
    above, below = fraction.numerator, fraction.denominator
    result = [] if above == 1 else [Factor(Expression(number_text(above), value=float(above)))]
    if below != 1:
        result.append(Factor(Expression(number_text(below), value=float(below)), below=True))
    return result


def squared(factors: Sequence[Factor]) -> list[Factor]:
    """Return factors with two equal neighbours made a square."""
    result: list[Factor] = []
    for factor in factors:
        if result and factor.what.value is None and result[-1] == factor and not factor.below:
            result[-1] = Factor(raise_to(factor.what, number(2)))
        else:
            result.append(factor)
    return result


def signed_product(factors: tuple[Factor, ...], negative: bool) -> Expression:
    """Return the product of factors that are no products themselves."""
    if len(factors) == 1 and not negative:
        return factors[0].what
    parts = [factors[0].what.within(MULTIPLIED)]
    parts += [f"{'/' if below else '*'}{what.within(MULTIPLIED)}" for what, below in factors[1:]]
    text = "".join(parts)
    rank = MULTIPLIED if len(factors) > 1 else NEGATED
    return Expression(f"-{text}" if negative else text, rank, factors, negative)


def join_lists(terms: Sequence[Term]) -> list[Term]:
    """Return terms with lists of as many entries made one list of sums."""
    result: list[Term] = []
    places: dict[int, int] = {}
    for term in terms:
        count = len(term.what.items)
        if not count or count not in places:
            places[count] = len(result)
            result.append(term)
            continue
        before = result[places[count]]
        pairs = zip(before.what.items, term.what.items, strict=True)
        items = [total([Term(left, before.negative), Term(right, term.negative)]) for left, right in pairs]
        result[places[count]] = Term(listed(items))
    return result


def total(terms: Sequence[Term]) -> Expression:
    """Return a sum of terms, those that are sums themselves taken apart."""
    forms = FORMS.get()
    if forms:
        return forms.total(terms)
    flat: list[Term] = []
    for what, minus in terms:
        flat += [Term(part, minus != negative) for part, negative in what.terms or (Term(what),)]
    flat = join_lists([term for term in flat if term.what.value != 0])
    values = [-term.what.value if term.negative else term.what.value for term in flat if term.what.value is not None]
    if not flat or (len(values) == len(flat) and len(values) > 1):
        return number(sum(values))
    signed = []
    for what, minus in flat:
        turned = what.negative
        signed.append(Term(negate(what) if turned else what, minus != turned))
    if len(signed) == 1:
        return negate(signed[0].what) if signed[0].negative else signed[0].what
    parts = [("-" if signed[0].negative else "") + signed[0].what.within(SUMMED)]
    parts += [f" {'-' if minus else '+'} {what.within(SUMMED)}" for what, minus in signed[1:]]
    return Expression("".join(parts), SUMMED, terms=tuple(signed))


Names = Mapping[str, Expression]
ARITHMETIC: dict[type, Callable[[Expression, Expression], Expression]] = {
    ast.Add: add,
    ast.Sub: subtract,
    ast.Mult: multiply,
    ast.Div: divide,
    ast.Pow: raise_to,
}
INFIX = {ast.MatMult: "@", ast.Mod: "%", ast.FloorDiv: "//", ast.BitAnd: "&", ast.BitXor: "^", ast.BitOr: "|"}
ORDERS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


def read_expression(text: str, names: Names) -> Expression:
    """Return a text of the language as an expression; ``names`` are put in, others stand for themselves."""
    return read_node(parsed(text), names)


@lru_cache(maxsize=1024)
def parsed(text: str) -> ast.expr:
    """Return the syntax tree of a text: the records of ops, and batches, have the same ones again and again."""
    return ast.parse(text, mode="eval").body


def read_node(node: ast.expr, names: Names) -> Expression:
    """Return a node of the syntax tree as an expression; the texts of rules and values have no others than these."""
    match node:
        case ast.Name(word):
            return names.get(word, name(word))
        case ast.Constant(value):
            return number(value) if type(value) in (int, float) else name(ast.unparse(node))
        case ast.Attribute(inner, word):
            return after(read_node(inner, names), f".{word}")
        case ast.Subscript(inner, places):
            return after(read_node(inner, names), f"[{read_index(places, names)}]")
        case ast.List(items):
            return listed([read_node(item, names) for item in items])
        case ast.Tuple(items):
            texts = ", ".join(read_node(item, names).text for item in items)
            return name(f"({texts}{',' if len(items) == 1 else ''})")
    return read_operation(node, names)


def read_operation(node: ast.expr, names: Names) -> Expression:
    """Return a sign, an operator between expressions, a comparison, a call; a choice by numbers alone is made."""
    match node:
        case ast.UnaryOp(op, operand):
            inner = read_node(operand, names)
            return negate(inner) if isinstance(op, ast.USub) else invert(inner)
        case ast.BinOp(left, op, right):
            sides, rule = (read_node(left, names), read_node(right, names)), ARITHMETIC.get(type(op))
            if rule is not None:
                return rule(*sides)
            sign = INFIX[type(op)]
            return infix(sign, OPERATORS[sign, 2].text.precedence, *sides)
        case ast.Compare(left, [op], [right]):
            return compare(ORDERS[type(op)], read_node(left, names), read_node(right, names))
        case ast.Call(function, arguments, keywords):
            values = [read_node(argument, names) for argument in arguments]
            if isinstance(function, ast.Name) and function.id == "where" and len(values) == 3:
                return choose(*values)
            options = {str(option.arg): read_node(option.value, names).text for option in keywords}
            return call(read_node(function, names).within(ATOM - 1), *values, **options)
    raise KeyError(type(node))


def read_index(node: ast.expr, names: Names) -> str:
    """Return what stands between the brackets of an index."""
    if isinstance(node, ast.Tuple):
        parts = [read_index(part, names) for part in node.elts]
        return (", " if "None" in parts else ",").join(parts) + ("," if len(parts) == 1 else "")
    if isinstance(node, ast.Slice):
        bounds = [node.lower, node.upper, *([node.step] if node.step else [])]
        return ":".join("" if bound is None else read_node(bound, names).text for bound in bounds)
    return read_node(node, names).text
