"""Formulas as text in gradcli's own language, so that each can be pasted back as a program."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sympy import Expr, Mul, Pow, Rational
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from gradcli.formulas.constants import constant_name, constant_texts
from gradcli.formulas.order import Order, without_minus
from gradcli.jacobian.functions import written_out
from gradcli.ops import OPS


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
        text = sign + ("*".join(shown) or "1")
        if not divisors:
            return text
        return f"{text}/{divisors[0]}" if len(divisors) == 1 else f"{text}/({'*'.join(divisors)})"

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
        value = finite(expr)
        return ("-" if value < 0 else "") + constant_name(abs(value))

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
        return f"{name}({', '.join(without_defaults(name, expr.args, arguments))})"

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


def without_defaults(name: str, arguments: Sequence[Expr], texts: list[str]) -> list[str]:
    """Return the arguments of a call without options that are the function's own."""
    defaults = list(OPS[name].defaults.values()) if name in OPS else []
    if len(defaults) and len(texts) > len(defaults):
        given = arguments[-len(defaults) :]
        if all(option.is_Number and float(option) == default for option, default in zip(given, defaults, strict=True)):
            return texts[: -len(defaults)]
    return texts


def number_texts(number: Expr) -> tuple[list[str], list[str]]:
    """Return a positive number as what stands above and below the line; raises ``Unprintable`` for inf and nan."""
    if is_short(number):
        above, below = number.p, number.q
        return [str(above)] * (above != 1), [str(below)] * (below != 1)
    return constant_texts(finite(number))


def is_short(number: Expr) -> bool:
    """Return whether a number is a fraction with few digits."""
    return isinstance(number, Rational) and max(abs(number.p), number.q) < EXACT


def finite(number: Expr) -> float:
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


def size_of(expression: Expr, bound: int = 1000) -> int:
    """Return the number of parts of a formula, counted up to ``bound``."""
    count, stack = 0, [expression]
    while stack and count < bound:
        part = stack.pop()
        count += 1
        stack.extend(part.args)
    return count
