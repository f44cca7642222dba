"""Names and operators: how operators are written, what a dotted name stands for or may have meant."""

from __future__ import annotations

import ast

from gradcli.errors.suggest import INSTEAD_OF_CALL, did_you_mean
from gradcli.ops import FUNCTIONS, SPELLINGS, load_all
from gradcli.ops.making import CONSTANTS

MODULES = {"torch", "np", "numpy", "jnp", "math", "F", "nn", "linalg", "special"}
BINARY: dict[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
}
MASKS: dict[type[ast.operator], str] = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^"}
COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}


BITS = "float64 float32 float16 double int64 int32 int16 int8 uint8 bool"
TYPES = {
    f"{prefix}.{name}": name
    for prefix, more in (
        ("torch", "float half bfloat16 long int short"),
        *((numpy, "single int_ intp bool_") for numpy in ("np", "numpy", "jnp")),
    )
    for name in f"{BITS} {more}".split()
}
"""Names of types of numbers; each stands for a text."""


def dotted(node: ast.expr) -> str | None:
    """Return ``a.b.c`` for an attribute chain on a name, None for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def near_function(name: str) -> str | None:
    """Return what to write in place of an unknown function: what is known of it, or the nearest name there is."""
    load_all()
    last = name.rpartition(".")[2]
    if last in INSTEAD_OF_CALL:
        return INSTEAD_OF_CALL[last]
    if last != name and last in FUNCTIONS:
        return f"did you mean '{last}'?"
    return did_you_mean(name, [*SPELLINGS, *CONSTANTS])


__all__ = ["BINARY", "COMPARE", "CONSTANTS", "MASKS", "MODULES", "TYPES", "dotted", "near_function"]
