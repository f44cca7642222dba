"""The functions of the language as text or as JSON: all of them by family, or one with all that is known of it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from gradcli.document.texts import grad_text, nested

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gradcli.explanation.parts import Known

SIGNS = "  + - * / // % ** @   < <= > >= == !=   & | ~   and or not   x[0] x[1:3] x[x > 0]"


def overview(found: Sequence[Known]) -> str:
    """Return every function with its summary, by family."""
    lines: list[str] = []
    for family in dict.fromkeys(known.family for known in found):
        lines += ["", family, *(summary_line(known) for known in found if known.family == family)]
    lines += ["", "operators", SIGNS, "", "gradcli functions NAME shows one: its formula, derivative and an example."]
    return "\n".join(lines[1:])


def summary_line(known: Known) -> str:
    """Return a function in one line."""
    return f"  {known.signature:<44} {known.summary}"


def describe(found: Sequence[Known]) -> str:
    """Return one function with all that is known of it, or a line for each of several."""
    if len(found) > 1:
        return "\n".join([*map(summary_line, found), "", "gradcli functions NAME shows one of them."])
    [known] = found
    methods = [f"x.{method}()" for method in known.methods]
    lines = [known.signature, f"  {known.summary}", ""]
    lines.append(f"  written as   {', '.join([*known.spellings, *methods])}")
    lines += [f"  {label:<12} {text}" for label, text in facts(known)]
    if known.example is not None:
        first, *rest = grad_text(known.example.grad).split("\n")
        lines += ["", f"  $ {shlex.join(known.example.words)}", *(f"  {line}" for line in (first, *rest))]
    return "\n".join(lines)


def facts(known: Known) -> list[tuple[str, str]]:
    """Return what is known of a function, each with what it is."""
    found = [("formula", known.formula)] if known.formula else []
    found += [("derivative", text) for text in known.derivatives]
    found += [("vjp", text) for text in known.vjp]
    return [*found, *([("at a kink", known.kink)] if known.kink else [])]


def functions_document(found: Sequence[Known]) -> dict[str, Any]:
    """Return functions as a JSON document."""
    from gradcli import __version__

    return {"schema": 1, "version": __version__, "functions": [entry(known) for known in found], "error": None}


def entry(known: Known) -> dict[str, Any]:
    """Return one function; what was not looked up is null."""
    example = known.example
    return {
        "name": known.name,
        "family": known.family,
        "signature": known.signature,
        "summary": known.summary,
        "spellings": list(known.spellings),
        "methods": list(known.methods),
        "facts": [{"what": label, "text": text} for label, text in facts(known)] if example else None,
        "formula": known.formula or None,
        "derivatives": list(known.derivatives) if example else None,
        "vjp": "; ".join(known.vjp) or None,
        "kink": known.kink or None,
        "example": example
        and {"command": shlex.join(example.words), "grad": {name: nested(g) for name, g in example.grad.items()}},
    }
