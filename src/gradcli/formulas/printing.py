"""Formulas as text in gradcli's own language, so that each can be pasted back as a program."""

from __future__ import annotations

import math
from typing import Any

from sympy import Expr
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter

from gradcli.jacobian.functions import written_out


class Unprintable(Exception):  # noqa: N818
    """A formula holds something that the language has no word for, such as an infinite constant."""


class LanguagePrinter(StrPrinter):  # type: ignore[misc]
    """sympy's own printer with gradcli's names; floats are as short as exact."""

    def _print_Float(self, expr: Any) -> str:  # noqa: N802
        value = float(expr)
        if not math.isfinite(value):
            raise Unprintable
        return repr(value)

    def _print_Function(self, expr: Any) -> str:  # noqa: N802
        name = type(expr).__name__
        arguments = [self._print(argument) for argument in expr.args]
        if name in ("where_gt", "where_ge"):
            left, right, yes, no = arguments
            return f"where({left} {'>' if name == 'where_gt' else '>='} {right}, {yes}, {no})"
        if name == "floor_divide":
            return f"(({arguments[0]})//({arguments[1]}))"
        if name == "PowerOf":
            base, exponent = (self.parenthesize(argument, PRECEDENCE["Pow"]) for argument in expr.args)
            return f"{base}**{exponent}"
        if name == "gelu_tanh":
            return f'gelu({arguments[0]}, "tanh")'
        return f"{name}({', '.join(arguments)})"

    def _print_Abs(self, expr: Any) -> str:  # noqa: N802
        return f"abs({self._print(expr.args[0])})"

    def _print_Exp1(self, expr: Any) -> str:  # noqa: N802
        del expr
        return "exp(1)"

    def _refuse(self, expr: Any) -> str:
        del expr
        raise Unprintable

    _print_Infinity = _print_NegativeInfinity = _print_ComplexInfinity = _print_NaN = _print_ImaginaryUnit = _refuse  # noqa: N815


_PRINTER = LanguagePrinter()


def formula_text(expression: Expr) -> str:
    """Return a formula in gradcli's language; raises ``Unprintable`` where it has no word for a part."""
    return str(_PRINTER.doprint(written_out(expression)))


def size_of(expression: Any, bound: int = 1000) -> int:
    """Return the number of parts of a formula, counted up to ``bound``."""
    count, stack = 0, [expression]
    while stack and count < bound:
        part = stack.pop()
        count += 1
        stack.extend(part.args)
    return count
