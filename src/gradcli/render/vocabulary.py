"""The functions of the language as text or as JSON: all of them by family, or one with all that is known of it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from gradcli.document.texts import grad_text, nested

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.explanation.parts import Known

SIGNS = "  + - * / // % ** @   < <= > >= == !=   & | ~   and or not   x[0] x[1:3] x[x > 0]"


def overview(functions: Sequence[Known]) -> str:
    """Return every function with its summary, by family."""
    lines: list[str] = []
    for family in dict.fromkeys(function.family for function in functions):
        lines += ["", family, *(summary_line(function) for function in functions if function.family == family)]
    lines += ["", "operators", SIGNS, "", "gradcli functions NAME shows one: its formula, derivative and an example."]
    return "\n".join(lines[1:])


def summary_line(function: Known) -> str:
    """Return a function in one line."""
    return f"  {function.signature:<44} {function.summary}"


def describe(functions: Sequence[Known]) -> str:
    """Return one function with all that is known of it, or a line for each of several."""
    if len(functions) > 1:
        return "\n".join([*map(summary_line, functions), "", "gradcli functions NAME shows one of them."])
    [function] = functions
    methods = [f"x.{method}()" for method in function.methods]
    lines = [function.signature, f"  {function.summary}", ""]
    lines.append(f"  written as   {', '.join([*function.spellings, *methods])}")
    lines += [f"  {label:<12} {text}" for label, text in facts(function)]
    if function.example is not None:
        first, *rest = grad_text(function.example.grad).split("\n")
        lines += ["", f"  $ {shlex.join(function.example.words)}", *(f"  {line}" for line in (first, *rest))]
    return "\n".join(lines)


def facts(function: Known) -> list[tuple[str, str]]:
    """Return what is known of a function, each with what it is."""
    rows = [("formula", function.formula)] if function.formula else []
    rows += [("derivative", text) for text in function.derivatives]
    rows += [("vjp", text) for text in function.vjp]
    return [*rows, *([("at a kink", function.kink)] if function.kink else [])]


def entry(function: Known) -> dict[str, Any]:
    """Return one function; what was not looked up is null."""
    example = function.example
    return {
        "name": function.name,
        "family": function.family,
        "signature": function.signature,
        "summary": function.summary,
        "spellings": list(function.spellings),
        "methods": list(function.methods),
        "facts": [{"what": label, "text": text} for label, text in facts(function)] if example else None,
        "formula": function.formula or None,
        "derivatives": list(function.derivatives) if example else None,
        "vjp": "; ".join(function.vjp) or None,
        "kink": function.kink or None,
        "example": example
        and {"command": shlex.join(example.words), "grad": {name: nested(g) for name, g in example.grad.items()}},
    }
