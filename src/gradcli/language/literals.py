"""Constants of a program, and the syntax that the language leaves out."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.errors.suggest import INSTEAD_OF_WORD
from gradcli.language import runtime

REFUSED = {
    ast.LShift: ("shifts are not part of the language", None),
    ast.RShift: ("shifts are not part of the language", None),
}


def bound_value(value: object, name: str) -> Any:
    """Return the value of a variable; raises ``unbound`` where no statement that ran assigned it."""
    if value is runtime.UNBOUND:
        raise GradcliError("unbound", f"'{name}' is used before it is assigned")
    return value


def literal(value: Any) -> Any:
    """Return a constant of the program: integers stay exact up to 2**53, other numbers are double precision."""
    if value is None or value is Ellipsis or isinstance(value, bool | str):
        return value
    if type(value) is int and abs(value) <= runtime.EXACT:
        return value
    if type(value) in (int, float):
        try:
            number = np.float64(value)
        except OverflowError:
            number = np.float64(np.inf)
        if np.isfinite(number):
            return number
        raise GradcliError("number", "the number is too large for double precision (above 1.8e308)")
    kind = "complex numbers" if isinstance(value, complex) else "bytes"
    raise GradcliError("not-allowed", f"{kind} are not part of the language")


def refused(node: ast.expr) -> GradcliError:
    """Return the error for syntax that the language leaves out."""
    names: dict[type[ast.AST], str] = {
        ast.Lambda: "lambda",
        ast.ListComp: "a comprehension",
        ast.GeneratorExp: "a comprehension",
        ast.SetComp: "a comprehension",
        ast.DictComp: "a comprehension",
        ast.Dict: "a dictionary",
        ast.Set: "a set",
        ast.JoinedStr: "a formatted string",
        ast.NamedExpr: "':='",
        ast.Starred: "a starred expression",
        ast.Await: "await",
        ast.Yield: "yield",
        ast.YieldFrom: "yield",
        ast.Slice: "a slice outside of [ ]",
    }
    what = names.get(type(node), "this")
    return GradcliError("not-allowed", f"{what} is not part of the language", hint=INSTEAD_OF_WORD.get(what))
