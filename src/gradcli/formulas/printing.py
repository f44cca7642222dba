"""Formulas as text in gradcli's own language, so that each can be pasted back as a program.

Of several forms of a formula, all of them equal, the shortest is written: what a person would write.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from sympy import Add, Expr, Mul, Pow, Rational, Symbol, exp, expand_mul, factor_terms, log, together
from sympy.core.parameters import distribute
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from gradcli.engine.graph import Graph, Input, Node, Operation
from gradcli.engine.naming import call_assigned
from gradcli.formulas.expression import constant_texts, number_name, over_divisors
from gradcli.jacobian import functions as s
from gradcli.jacobian.functions import PowerOf, written_out
from gradcli.ops import OPS
from gradcli.records import dataclass, field

NAME = re.compile(r"[A-Za-z_]\w*")
INDEX = re.compile(r"\[([\d,]+)\]")
LAST = 10**9

Key = tuple[int, int, tuple[int, ...]]


def names_in_order(graph: Graph) -> dict[str, int]:
    """Return the place of each name in the program: a statement's own name, then what its expression names first."""
    names: list[str] = []
    start = 0
    for name, (_, node) in zip(call_assigned(graph), graph.bindings, strict=True):
        names.append(name)
        end = start if node is None else max(start, node.index + 1)
        names += inputs_of(graph.nodes[start:end])
        start = end
    names += [*inputs_of(graph.nodes[start:]), *(node.name for node in graph.nodes if isinstance(node, Input))]
    return {name: place for place, name in enumerate(dict.fromkeys(names))}


def inputs_of(nodes: Iterable[Node]) -> list[str]:
    """Return the names of the inputs that operations are computed from, in the order of the program's text."""
    result = {a.index: a.name for node in nodes if isinstance(node, Operation) for a in node.arguments
             if isinstance(a, Input)}  # fmt: skip
    return [result[index] for index in sorted(result)]


@dataclass(slots=True)
class Order:
    """The order of terms and factors in formulas of one program.

    ``places`` has the place of each name. ``written`` has, for a sum or product that the program computes, what it is
    computed from, in order, and ``within`` all that something is computed from.
    """

    places: dict[str, int] = field(default_factory=dict)
    written: dict[Expr, tuple[Expr, ...]] = field(default_factory=dict)
    within: set[Expr] = field(default_factory=set)
    keys: dict[Expr, Key] = field(default_factory=dict)

    def learn(self, expression: Expr, arguments: Sequence[Expr]) -> None:
        """Take note of how the program wrote a sum or a product: s - a + a, which is s, is not written with s - a."""
        whole = expression.as_coeff_Mul()[1]
        self.within.update(arguments)
        if isinstance(whole, (Add, Mul)) and whole not in self.within:
            self.written.setdefault(whole, tuple(arguments))

    def add(self, names: Iterable[str]) -> None:
        """Let names that were made come before those of the program, the last first: they are nearest to the output."""
        for name in names:
            self.places.setdefault(name, -1 - len(self.places))

    def terms(self, whole: Expr, terms: Iterable[Expr]) -> list[Expr]:
        """Return the terms of a sum in order: as the program wrote it, else by names, and a positive one first."""
        parts = self.parts(whole, Add)
        if parts:
            places = {term: place for place, term in reversed(list(enumerate(parts)))}
            return sorted(terms, key=lambda term: places.get(term, places.get(-term, LAST)))
        ordered = sorted(terms, key=lambda term: (bool(term.is_Number), self.key(term)))
        first = next((term for term in ordered if not is_negative(without_minus(term))), ordered[0])
        return [first, *(term for term in ordered if term is not first)]

    def factors(self, whole: Expr) -> list[Expr]:
        """Return the factors of a product without a number, in order."""
        factors = whole.as_ordered_factors()
        parts = self.parts(whole, Mul)
        if parts:
            places = {base_of(factor): place for place, factor in reversed(list(enumerate(parts)))}
            return sorted(factors, key=lambda factor: places.get(base_of(factor), LAST))
        powers = any(isinstance(factor, PowerOf) for factor in factors)
        return sorted(factors, key=lambda factor: (not (powers and base_of(factor).is_Symbol), *self.rank(factor)))

    def parts(self, whole: Expr, kind: type[Expr]) -> list[Expr]:
        """Return the terms or factors as the program wrote them, those of its own sums and products one by one."""
        result = self.written.get(whole)
        if result is None:
            return []
        return [
            part
            for one in result
            for part in (self.parts(one, kind) or kind.make_args(one) if isinstance(one, kind) else [one])
            if kind is Add or not part.is_Number
        ]

    def key(self, expression: Expr) -> Key:
        """Return where the first name of a formula stands in the program, and its index."""
        if expression not in self.keys:
            symbols = expression.free_symbols
            self.keys[expression] = min(chain.from_iterable(map(self.keys_of, symbols)), default=(LAST, 0, ()))
        return self.keys[expression]

    def keys_of(self, symbol: Symbol) -> list[Key]:
        """Return the keys of the names in the text of a symbol."""
        text = symbol.name
        index = INDEX.findall(text)
        places = tuple(int(part) for part in index[-1].split(",")) if index else ()
        return [(self.places[name], 0, places) for name in NAME.findall(text) if name in self.places]

    def rank(self, factor: Expr) -> tuple[int, int, tuple[int, ...]]:
        """Return the rank of a factor: by its first name; a difference of names, names, functions, other sums.

        Constants such as sqrt(2) come first, logarithms of numbers and exponentials last.
        """
        if not factor.free_symbols:
            return (LAST if isinstance(factor, log) else -LAST, 0, ())
        place, _, index = self.key(factor)
        return place, factor_kind(base_of(factor)), index


def base_of(factor: Expr) -> Expr:
    """Return the base of a power, all else as it is."""
    return factor if isinstance(factor, exp) else factor.as_base_exp()[0]


def factor_kind(base: Expr) -> int:
    """Return 0 for a difference of names, 1 for a name, 2 for a function, 3 for any other sum, 4 for exp."""
    if isinstance(base, exp):
        return 4
    if not isinstance(base, Add):
        return 1 if base.is_Symbol or isinstance(base, PowerOf) else 2
    residual = not any(term.is_Number for term in base.args) and any(map(is_negative, base.args))
    return 0 if residual and len(base.free_symbols) > 1 else 3


def is_negative(term: Expr) -> bool:
    """Return whether a term is written with a minus."""
    return bool(term.as_coeff_Mul()[0].is_negative)


def without_minus(product: Expr) -> Expr:
    """Return ``2*(s - t)`` for ``-2*(t - s)``: a difference of names is turned round where a minus comes first."""
    number, rest = product.as_coeff_Mul()
    if not number.is_negative:
        return product
    factors = list(Mul.make_args(rest))
    for place, factor in enumerate(factors):
        if isinstance(factor, Add) and can_turn(factor):
            turned = Add(*(-term for term in factor.args))
            others = [*factors[:place], *factors[place + 1 :]]
            number = [] if number == -1 else [-number]
            return Mul(*number, turned, *others, evaluate=False) if number or others else turned
    return product


def can_turn(total: Add) -> bool:
    """Return whether a sum has a minus to lose: ``x - 3`` and ``t - s``, but ``1 - s`` is a factor as it stands."""
    return any(map(is_negative, total.args)) and not any(term.is_Number and term > 0 for term in total.args)


class Unprintable(Exception):
    """A formula holds something that the language has no word for, such as an infinite constant."""


EXACT = 10**15
"""Whole numbers below this are printed with all digits, others as doubles: 2**1000 has 302."""
COMPARED = {"where_gt": ">", "where_ge": ">="}
"""The signs of functions that choose by comparing."""


class LanguagePrinter(StrPrinter):  # type: ignore[misc]
    """A printer in gradcli's language and in the order of the program; floats are as short as exact."""

    def __init__(self, order: Order | None = None) -> None:
        super().__init__()
        self.program = order or Order()

    def _print_Add(self, expr: Expr, order: str | None = None) -> str:
        terms = self.program.terms(expr, self._as_ordered_terms(expr, order=order))
        text = ""
        for term in terms:
            shown = self._print(term)
            sign, shown = ("-", shown[1:]) if shown.startswith("-") else ("+", shown)
            text += f" {sign} {shown}" if text else f"{sign}{shown}".removeprefix("+")
        return text

    def _print_Mul(self, expr: Expr) -> str:
        turned = without_minus(expr)
        if turned is not expr:
            return str(self._print(turned))
        number, rest = expr.as_coeff_Mul()
        above: list[Expr] = []
        sign, below = ("-" if number < 0 else ""), list[Expr]()
        up, down = number_texts(abs(number))
        for factor in self.program.factors(rest):
            base, exponent = factor.as_base_exp()
            if exponent.is_Number and exponent < 0 and isinstance(factor, Pow):
                below.append(Pow(base, -exponent))
            else:
                above.append(factor)
        shown = [*up, *(self.parenthesize(factor, PRECEDENCE["Mul"], strict=False) for factor in above)]
        divisors = [*down, *(self.parenthesize(factor, PRECEDENCE["Mul"], strict=False) for factor in below)]
        return over_divisors(sign + ("*".join(shown) or "1"), divisors)

    def _print_Pow(self, expr: Expr, rational: bool = False) -> str:
        base, exponent = expr.args
        if exponent.is_Number and exponent < 0:
            return f"1/{self.parenthesize(Pow(base, -exponent), PRECEDENCE['Mul'], strict=False)}"
        return str(super()._print_Pow(expr, rational))

    def parenthesize(self, item: Expr, level: int, strict: bool = False) -> str:
        """Return a part of a formula, in parentheses where it binds less tightly than what stands beside it."""
        if isinstance(item, Mul):
            item = without_minus(item)
        return str(super().parenthesize(item, level, strict))

    def _print_Integer(self, expr: Expr) -> str:
        return str(expr.p) if is_short(expr) else self._print_Float(expr)

    def _print_Rational(self, expr: Expr) -> str:
        return str(super()._print_Rational(expr)) if is_short(expr) else self._print_Float(expr)

    def _print_Float(self, expr: Expr) -> str:
        value = as_finite(expr)
        return ("-" if value < 0 else "") + number_name(abs(value))

    def _print_Function(self, expr: Expr) -> str:
        name = type(expr).__name__
        arguments = [self._print(argument) for argument in expr.args]
        if name in COMPARED:
            return f"where({self.comparison(expr)}, {arguments[2]}, {arguments[3]})"
        if name == "floor_divide":
            return f"(({arguments[0]})//({arguments[1]}))"
        if name == "PowerOf":
            base, exponent = (self.parenthesize(argument, PRECEDENCE["Pow"]) for argument in expr.args)
            return f"{base}**{exponent}"
        if name == "gelu_tanh":
            return f'gelu({arguments[0]}, "tanh")'
        if name == "clamp_max" and type(expr.args[0]).__name__ == "clamp_min":
            inner, low = (self._print(argument) for argument in expr.args[0].args)
            return f"clip({inner}, {low}, {arguments[1]})"
        return f"{name}({', '.join(texts_without_defaults(name, expr.args, arguments))})"

    def comparison(self, choice: Expr) -> str:
        """Return the condition of a choice, a number on its right."""
        left, right = choice.args[:2]
        sign = COMPARED[type(choice).__name__]
        if left.is_Number and not right.is_Number:
            left, right, sign = right, left, sign.replace(">", "<")
        return f"{self._print(left)} {sign} {self._print(right)}"

    def _print_Abs(self, expr: Expr) -> str:
        return f"abs({self._print(expr.args[0])})"

    def _print_Exp1(self, expr: Expr) -> str:
        del expr
        return "exp(1)"

    def _refuse(self, expr: Expr) -> str:
        del expr
        raise Unprintable

    _print_Infinity = _print_NegativeInfinity = _print_ComplexInfinity = _refuse
    _print_NaN = _print_ImaginaryUnit = _refuse


def texts_without_defaults(name: str, arguments: Sequence[Expr], texts: list[str]) -> list[str]:
    """Return the arguments of a call without options that are the function's own."""
    defaults = list(OPS[name].text.defaults.values()) if name in OPS else []
    if len(defaults) and len(texts) > len(defaults):
        options = arguments[-len(defaults) :]
        if all(
            option.is_Number and float(option) == default for option, default in zip(options, defaults, strict=True)
        ):
            return texts[: -len(defaults)]
    return texts


def number_texts(number: Expr) -> tuple[list[str], list[str]]:
    """Return a positive number as what stands above and below the line; raises ``Unprintable`` for inf and nan."""
    if is_short(number):
        above, below = number.p, number.q
        return [str(above)] * (above != 1), [str(below)] * (below != 1)
    return constant_texts(as_finite(number))


def is_short(number: Expr) -> bool:
    """Return whether a number is a fraction with few digits."""
    return isinstance(number, Rational) and max(abs(number.p), number.q) < EXACT


def as_finite(number: Expr) -> float:
    """Return a number as a double; raises ``Unprintable`` where that is none."""
    try:
        value = float(number)
    except OverflowError:
        raise Unprintable from None
    if not math.isfinite(value):
        raise Unprintable
    return value


PRINTER = LanguagePrinter()


def formula_text(expression: Expr, printer: LanguagePrinter = PRINTER) -> str:
    """Return a formula in gradcli's language; raises ``Unprintable`` where it has no word for a part."""
    return str(printer.doprint(written_out(expression)))


def bulk(expression: Expr, bound: int = 1000) -> int:
    """Return the number of parts of a formula, counted up to ``bound``."""
    count, stack = 0, [expression]
    while stack and count < bound:
        part = stack.pop()
        count += 1
        stack.extend(part.args)
    return count


MOST_PARTS = 60
"""Parts of a formula up to which other forms of it are tried: what they cost grows faster than they save."""
MORE = 4
"""Parts that a form may have more than the smallest and yet be the shortest as text."""
MOST_EXPANDED = 40
"""Parts of a sum up to which its products are multiplied out."""
FEWEST_SUMMED = 3
"""Entries from which the sum of a whole array goes by its name."""
ENTRY = re.compile(r"([A-Za-z_]\w*)\[[\d,]+\]")
Sizes = Mapping[str, int]
"""How many entries each array has that a formula may name."""


def shortest(expressions: Sequence[Expr], printer: LanguagePrinter, sizes: Sizes) -> list[str]:
    """Return the text of each formula in the form that has the fewest letters and signs, brackets aside.

    Of two that have as many, it is the one that keeps the factors of the program. To be called where sympy leaves
    factors as they are (``distribute(False)``).
    """
    forms = [[one] for one in expressions]
    open_ones = [result for result in forms if bulk(result[0], MOST_PARTS) < MOST_PARTS and not is_minimal(result[0])]
    for result in open_ones:
        with distribute(has_root_of_sums(result[0])):
            result.append(factor_terms(result[0]))
    if open_ones:
        with distribute(True):
            for result in open_ones:
                result.extend(spread_forms(result[0], sizes))
    return [min((formula_text(form, printer) for form in smallest(result)), key=weight) for result in forms]


def is_minimal(expression: Expr) -> bool:
    """Return whether none of the other forms can be shorter: no sum has anything to take out, take in, join or name."""
    return (
        not any(has_other_forms(total) for total in expression.atoms(Add))
        and not any(product.args[0].is_negative and has_sum(product) for product in expression.atoms(Mul))
        and not any(power.args[1].is_negative and power.args[0].has(Add) for power in expression.atoms(Pow))
    )


def has_root_of_sums(expression: Expr) -> bool:
    """Return whether a square may come out of a root: its terms all have sums in them, and one may be in each."""
    roots = (power.args[0] for power in expression.atoms(Pow) if s.is_root(power))
    return any(isinstance(base, Add) and all(term.has(Add) for term in base.args) for base in roots)


def has_sum(product: Expr) -> bool:
    """Return whether a factor of a product is a sum."""
    return any(isinstance(part, Add) for part in Mul.make_args(product))


def has_other_forms(total: Add) -> bool:
    """Return whether terms of a sum have a factor in common, a fraction or a sum within, or many of them are names."""
    numbers, rests = zip(*(term.as_coeff_Mul() for term in total.args), strict=True)
    if sum(rest.is_Symbol for rest in rests) >= FEWEST_SUMMED or any(map(has_sum, rests)):
        return True
    if not all(number.is_Integer for number in numbers) or all(number < 0 for number in numbers):
        return True
    first, *others = ({part.as_base_exp()[0] for part in Mul.make_args(rest) if rest != 1} for rest in rests)
    return math.gcd(*map(int, numbers)) > 1 or bool(first.intersection(*others))


def smallest(forms: list[Expr]) -> list[Expr]:
    """Return those of several forms that have about as few parts as any, each once."""
    sizes = [bulk(form) for form in forms]
    return list(dict.fromkeys(form for form, size in zip(forms, sizes, strict=True) if size <= min(sizes) + MORE))


def weight(text: str) -> int:
    """Return how long a formula is to read."""
    return len(text) - text.count(" ") - text.count("(") - text.count(")")


def spread_forms(expression: Expr, sizes: Sizes) -> Iterator[Expr]:
    """Yield other forms of a formula, where sympy spreads numbers over sums."""
    flat = rebuilt(expression)
    yield factor_terms(flat)
    yield flat
    if any(part.args[1].is_negative and part.args[0].has(Add) for part in flat.atoms(Pow)):
        joined = together(flat)
        if joined.atoms(s.exp) <= flat.atoms(s.exp):  # exp(x) for exp(-x) would overflow where this does not
            yield joined
    if isinstance(flat, Add) and bulk(flat, MOST_EXPANDED) < MOST_EXPANDED:
        result = expand_mul(flat)
        # Each is a number times one name or function: no factors have been multiplied out for good.
        if not any(isinstance(term.as_coeff_Mul()[1], (Mul, Add)) for term in Add.make_args(result)):
            yield result
    summed = rebuilt(flat, lambda part: name_sums(part, sizes) if isinstance(part, Add) else part)
    if summed != flat:
        yield summed
        yield factor_terms(summed)


def rebuilt(expression: Expr, change: Callable[[Expr], Expr] = lambda part: part) -> Expr:
    """Return a formula built anew from its parts, each of them changed."""
    if not expression.args:
        return expression
    arguments = [rebuilt(part, change) for part in expression.args]
    return change(expression.func(*arguments))


def name_sums(total: Add, sizes: Sizes) -> Expr:
    """Return a sum in which the entries of an array, all there, are ``mean(x)`` and what is left of them.

    So ``2*x[0]/3 - …`` is ``x[0] - mean(x)``.
    """
    factors = {term.as_coeff_Mul()[1]: term.as_coeff_Mul()[0] for term in total.args}
    arrays = Counter(match[1] for part in factors if part.is_Symbol and (match := ENTRY.fullmatch(part.name)))
    for name, count in arrays.items():
        if count < FEWEST_SUMMED or count != sizes.get(name):
            continue
        group = {
            part: number for part, number in factors.items() if part.is_Symbol and part.name.startswith(f"{name}[")
        }
        (common, times), *_ = Counter(group.values()).most_common(1)
        if times < count - 1 or times == count == FEWEST_SUMMED:
            continue
        rest = Add(*(term for term in total.args if term.as_coeff_Mul()[1] not in group))
        left = Add(*((number - common) * part for part, number in group.items()))
        whole = common * count
        named = (
            whole * s.symbol(f"mean({name})")
            if times < count or abs(common) != 1
            else common * s.symbol(f"sum({name})")
        )
        return Add(rest, left, named)
    return total


def spread_out(expression: Expr, bound: int) -> Expr:
    """Return a formula with numbers spread over its sums where it has ``bound`` parts and that makes it shorter."""
    if bulk(expression, bound) < bound:
        return expression
    with distribute(True):
        flat = rebuilt(expression)
    return min(expression, flat, key=bulk)


def tidied(expression: Expr, kept: dict[Expr, Expr]) -> Expr:
    """Return a formula without what no person writes: helpers of other functions, powers apart, bounds twice.

    ``kept`` has what is known of its parts.
    """
    result = kept.get(expression)
    if result is None:
        arguments = [tidied(part, kept) for part in expression.args]
        result = expression
        if arguments and any(new is not old for new, old in zip(arguments, expression.args, strict=True)):
            result = expression.func(*arguments)
        result = kept[expression] = tidied_part(result)
    return result


def tidied_part(part: Expr) -> Expr:
    """Return a formula whose parts are tidy."""
    if isinstance(part, Add):
        return flat_sum(part)
    if isinstance(part, Mul):
        return joined_powers(joined_conditions(part))
    if isinstance(part, Pow):
        return root_of_variance(part)
    if isinstance(part, s.where_ge):
        return inner_bound(part)
    name = type(part).__name__
    if name in ("exp", "expm1") and isinstance(part.args[0], Symbol):
        text = part.args[0].name
        if text.startswith("log_softmax("):
            softmax = s.symbol(text.removeprefix("log_"))
            return softmax if name == "exp" else softmax - 1
    return part


def flat_sum(total: Add) -> Expr:
    """Return ``c - a + b`` for ``c - (a - b)``."""
    if not any(is_minus_sum(term) for term in total.args):
        return total
    terms = [[-part for part in term.args[1].args] if is_minus_sum(term) else [term] for term in total.args]
    return Add(*(part for group in terms for part in group))


def is_minus_sum(term: Expr) -> bool:
    """Return whether a term takes a sum away as it is."""
    return isinstance(term, Mul) and len(term.args) == 2 and term.args[0] == -1 and isinstance(term.args[1], Add)


def joined_powers(product: Expr) -> Expr:
    """Return ``x**p`` for ``x*x**(p - 1)``."""
    for power in product.atoms(s.PowerOf) if isinstance(product, Mul) else ():
        base, exponent = power.args
        if power in product.args and base in product.args and (exponent + 1).is_Symbol:
            others = [part for part in product.args if part not in (power, base)]
            return Mul(*others, s.PowerOf(base, exponent + 1))
    return product


def joined_conditions(product: Mul) -> Expr:
    """Return one choice for a product of choices between 1 and 0."""
    # Each of them is 1 where a condition holds and 0 elsewhere.
    choices = [part for part in product.args if isinstance(part, (s.where_gt, s.where_ge)) and part.args[2:] == (1, 0)]
    if len(choices) != 2:
        return product
    others = [part for part in product.args if part not in choices]
    conditions = " & ".join(f"({PRINTER.comparison(choice)})" for choice in choices[::-1])
    return Mul(*others, s.symbol(f"where({conditions}, 1, 0)"))


def inner_bound(choice: Expr) -> Expr:
    """Return ``1 >= x`` for ``1 >= clamp_min(x, 0)``."""
    high, inner, yes, no = choice.args
    if isinstance(inner, s.clamp_min) and high.is_Number and inner.args[1].is_Number and inner.args[1] <= high:
        return s.where_ge(high, inner.args[0], yes, no)
    return choice


def root_of_variance(power: Pow) -> Expr:
    """Return ``std(x)`` for ``sqrt(var(x))``."""
    base, exponent = power.args
    if isinstance(base, Symbol) and base.name.startswith("var(") and (2 * exponent).is_Integer and exponent.q == 2:
        return s.symbol(f"std{base.name.removeprefix('var')}") ** (2 * exponent)
    return power
