"""The functions of the language as text: all of them by family, or one with its spellings and derivative."""

from __future__ import annotations

from typing import Any

from gradcli.errors import GradcliError
from gradcli.language.calls import signature_text
from gradcli.language.names import near_function
from gradcli.ops import FUNCTIONS, SPELLINGS, Function


def overview() -> str:
    """Return every function with its summary, by family."""
    lines: list[str] = []
    for family in dict.fromkeys(function.family for function in FUNCTIONS.values()):
        lines += ["", family]
        for function in FUNCTIONS.values():
            if function.family == family and "." not in function.name:
                lines.append(f"  {signature_text(function):<44} {function.summary}")
    lines += ["", "operators", "  + - * / // % ** @   < <= > >= == !=   & | ~   and or not   x[0] x[1:3] x[x > 0]", ""]
    lines.append("gradcli functions NAME shows one with its spellings and its derivative.")
    return "\n".join(lines[1:])


def find(name: str) -> Function:
    """Return a function by any of its spellings; raises ``unknown-function``."""
    function = FUNCTIONS.get(name) or SPELLINGS.get(name)
    if function is None:
        raise GradcliError("unknown-function", f"unknown function '{name}'", hint=near_function(name))
    return function


def describe(name: str) -> str:
    """Return one function: signature, summary, spellings, derivative, and the choice made at a kink."""
    function = find(name)
    lines = [signature_text(function), f"  {function.summary}", ""]
    methods = [f"x.{method}()" for method in function.methods]
    lines.append(f"  written as   {', '.join([*function.spellings, *methods])}")
    lines += [f"  {label:<12} {text}" for label, text in facts(function)]
    return "\n".join(lines)


def facts(function: Function) -> list[tuple[str, str]]:
    """Return what is known of the derivative of a function that is one op."""
    op = function.op
    if op is None:
        return [("derivative", "by the ops that it is made of")]
    found = [("derivative", "0, it is flat")] if op.flat else []
    if op.formula is not None:
        from gradcli.formulas.templates import derivatives  # noqa: PLC0415

        found = [(f"d/d{argument}", text) for argument, text in derivatives(op)]
    if op.kink is not None:
        found.append(("at a kink", op.kink.says))
    return found


def vocabulary(name: str | None) -> dict[str, Any]:
    """Return the functions as a JSON document."""
    from gradcli import __version__  # noqa: PLC0415

    chosen = [find(name)] if name is not None else [f for f in FUNCTIONS.values() if "." not in f.name]
    return {
        "schema": 1,
        "version": __version__,
        "functions": [
            {
                "name": function.name,
                "family": function.family,
                "signature": signature_text(function),
                "summary": function.summary,
                "spellings": list(function.spellings),
                "methods": list(function.methods),
                "facts": [{"what": label, "text": text} for label, text in facts(function)] if name else None,
            }
            for function in chosen
        ],
        "error": None,
    }
