"""Pieces of syntax trees: displays, numbers, and the arguments that a call can do without."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradcli.scripts.dialect import expression

PLAIN_SYNTAX = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.IfExp, ast.Compare, ast.operator, ast.unaryop, ast.cmpop,
    ast.Name, ast.Load, ast.expr_context)  # fmt: skip
"""What plain numbers of Python are made of."""
DEFAULT = "default "
"""Marks the default of a parameter, whose name follows: nobody gave it."""


def names_of(template: str) -> set[str]:
    """Return the names in a template, those of parameters among them."""
    return {node.id for node in ast.walk(expression(template)) if isinstance(node, ast.Name)}


def without_defaults(node: ast.expr) -> ast.expr:
    """Return an expression whose calls leave out what nobody gave and the library takes for granted, too.

    That is None and False, an option of the same name, and any default of a function that the script brings along.
    """
    for call in [part for part in ast.walk(node) if isinstance(part, ast.Call)]:
        own = isinstance(call.func, ast.Name)
        call.keywords = [word for word in call.keywords if not is_left_out(word.value, own, word.arg)]
        while call.args and is_left_out(call.args[-1], own):
            call.args.pop()
    return node


def is_left_out(node: ast.expr, own: bool, name: str | None = None) -> bool:
    """Return whether nobody gave an argument, and the function called has the same default."""
    if not isinstance(node, ast.Constant) or not (node.kind or "").startswith(DEFAULT):
        return False
    return own or node.value is None or node.value is False or node.kind == f"{DEFAULT}{name}"


def leaves_of(node: ast.List | ast.Tuple) -> Iterator[ast.expr]:
    """Yield the items of a display that are no displays."""
    for item in node.elts:
        if isinstance(item, ast.List | ast.Tuple):
            yield from leaves_of(item)
        else:
            yield item


def as_list(node: ast.expr) -> ast.expr:
    """Return a display as lists."""
    if isinstance(node, ast.List | ast.Tuple):
        return ast.List([as_list(item) for item in node.elts], ast.Load())
    return node


def floats(node: ast.expr) -> ast.expr:
    """Return numbers with every integer as the double that it is in the language."""
    if isinstance(node, ast.List | ast.Tuple):
        return ast.List([floats(item) for item in node.elts], ast.Load())
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return ast.Constant(float(node.value))
    if isinstance(node, ast.UnaryOp):
        return ast.UnaryOp(node.op, floats(node.operand))
    return node
