"""The shortest of several forms of a formula, all of them equal: what a person would write."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from sympy import Add, Expr, Mul, Pow, Symbol, expand_mul, factor_terms, together
from sympy.core.parameters import distribute

from gradcli.formulas.printing import PRINTER, LanguagePrinter, formula_text, size_of
from gradcli.jacobian import functions as s

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
    open_ones = [found for found in forms if size_of(found[0], MOST_PARTS) < MOST_PARTS and not is_plain(found[0])]
    for found in open_ones:
        with distribute(has_root_of_sums(found[0])):
            found.append(factor_terms(found[0]))
    if open_ones:
        with distribute(True):
            for found in open_ones:
                found.extend(multiplied_out(found[0], sizes))
    return [min((formula_text(form, printer) for form in smallest(found)), key=weight) for found in forms]


def is_plain(expression: Expr) -> bool:
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
    sizes = [size_of(form) for form in forms]
    return list(dict.fromkeys(form for form, size in zip(forms, sizes, strict=True) if size <= min(sizes) + MORE))


def weight(text: str) -> int:
    """Return how long a formula is to read."""
    return len(text) - text.count(" ") - text.count("(") - text.count(")")


def multiplied_out(expression: Expr, sizes: Sizes) -> Iterator[Expr]:
    """Yield other forms of a formula, where sympy spreads numbers over sums."""
    flat = rebuilt(expression)
    yield factor_terms(flat)
    yield flat
    if any(part.args[1].is_negative and part.args[0].has(Add) for part in flat.atoms(Pow)):
        joined = together(flat)
        if joined.atoms(s.exp) <= flat.atoms(s.exp):  # exp(x) for exp(-x) would overflow where this does not
            yield joined
    if isinstance(flat, Add) and size_of(flat, MOST_EXPANDED) < MOST_EXPANDED:
        found = expand_mul(flat)
        if all(is_single(term) for term in Add.make_args(found)):
            yield found
    summed = with_sums(flat, sizes)
    if summed != flat:
        yield summed
        yield factor_terms(summed)


def is_single(term: Expr) -> bool:
    """Return whether a term is a number times one name or function: no factors have been multiplied out for good."""
    return not isinstance(term.as_coeff_Mul()[1], (Mul, Add))


def rebuilt(expression: Expr, change: Callable[[Expr], Expr] = lambda part: part) -> Expr:
    """Return a formula built anew from its parts, each of them changed."""
    if not expression.args:
        return expression
    arguments = [rebuilt(part, change) for part in expression.args]
    return change(expression.func(*arguments))


def with_sums(expression: Expr, sizes: Sizes) -> Expr:
    """Return ``x[0] - mean(x)`` for ``2*x[0]/3 - …``: the sum over a whole array goes by its name."""
    return rebuilt(expression, lambda part: with_sum(part, sizes) if isinstance(part, Add) else part)


def with_sum(total: Add, sizes: Sizes) -> Expr:
    """Return a sum in which the entries of an array, all there, are ``mean(x)`` and what is left of them."""
    factors = {term.as_coeff_Mul()[1]: term.as_coeff_Mul()[0] for term in total.args}
    arrays = Counter(match[1] for part in factors if part.is_Symbol and (match := ENTRY.fullmatch(part.name)))
    for name, count in arrays.items():
        if count < FEWEST_SUMMED or count != sizes.get(name):
            continue
        own = {part: number for part, number in factors.items() if part.is_Symbol and part.name.startswith(f"{name}[")}
        (common, times), *_ = Counter(own.values()).most_common(1)
        if times < count - 1 or times == count == FEWEST_SUMMED:
            continue
        rest = Add(*(term for term in total.args if term.as_coeff_Mul()[1] not in own))
        left = Add(*((number - common) * part for part, number in own.items()))
        whole = common * count
        named = (
            whole * s.symbol(f"mean({name})")
            if times < count or abs(common) != 1
            else common * s.symbol(f"sum({name})")
        )
        return Add(rest, left, named)
    return total


def settled(expression: Expr, bound: int) -> Expr:
    """Return a formula with numbers spread over its sums where it has ``bound`` parts and that makes it shorter."""
    if size_of(expression, bound) < bound:
        return expression
    with distribute(True):
        flat = rebuilt(expression)
    return min(expression, flat, key=size_of)


def tidied(expression: Expr, kept: dict[Expr, Expr]) -> Expr:
    """Return a formula without what no person writes: helpers of other functions, powers apart, bounds twice.

    ``kept`` has what is known of its parts.
    """
    found = kept.get(expression)
    if found is None:
        arguments = [tidied(part, kept) for part in expression.args]
        found = expression
        if arguments and any(new is not old for new, old in zip(arguments, expression.args, strict=True)):
            found = expression.func(*arguments)
        found = kept[expression] = tidied_part(found)
    return found


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
            own = s.symbol(text.removeprefix("log_"))
            return own if name == "exp" else own - 1
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
    choices = [part for part in product.args if is_indicator(part)]
    if len(choices) != 2:
        return product
    others = [part for part in product.args if part not in choices]
    conditions = " & ".join(f"({PRINTER.comparison(choice)})" for choice in choices[::-1])
    return Mul(*others, s.symbol(f"where({conditions}, 1, 0)"))


def is_indicator(part: Expr) -> bool:
    """Return whether a formula is 1 where a condition holds and 0 elsewhere."""
    return isinstance(part, (s.where_gt, s.where_ge)) and part.args[2:] == (1, 0)


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
