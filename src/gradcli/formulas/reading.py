"""Text of the language read as an expression, with other expressions in the place of its names."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from functools import lru_cache

from gradcli.formulas import expression as e
from gradcli.formulas.expression import Expression

Names = Mapping[str, Expression]
ARITHMETIC: dict[type, Callable[[Expression, Expression], Expression]] = {
    ast.Add: e.add,
    ast.Sub: e.subtract,
    ast.Mult: e.multiply,
    ast.Div: e.divide,
    ast.Pow: e.raise_to,
}
INFIX: dict[type, tuple[str, int]] = {
    ast.MatMult: ("@", 70),
    ast.Mod: ("%", 70),
    ast.FloorDiv: ("//", 70),
    ast.BitAnd: ("&", 50),
    ast.BitXor: ("^", 45),
    ast.BitOr: ("|", 40),
}
COMPARED = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


def read_expression(text: str, names: Names) -> Expression:
    """Return a text of the language as an expression; ``names`` are put in, others stand for themselves."""
    return read_node(parsed(text), names)


@lru_cache(maxsize=1024)
def parsed(text: str) -> ast.expr:
    """Return the syntax tree of a text: the records of ops, and batches, have the same ones again and again."""
    return ast.parse(text, mode="eval").body


def read_node(node: ast.expr, names: Names) -> Expression:
    """Return a node of the syntax tree as an expression."""
    return READERS[type(node)](node, names)


def read_name(node: ast.Name, names: Names) -> Expression:
    """Return what a name stands for."""
    return names.get(node.id, e.name(node.id))


def read_constant(node: ast.Constant, names: Names) -> Expression:
    """Return a number, or a text as it stands."""
    del names
    return e.number(node.value) if type(node.value) in (int, float) else e.name(ast.unparse(node))


def read_sign(node: ast.UnaryOp, names: Names) -> Expression:
    """Return an expression with the other sign, or a mask turned round."""
    inner = read_node(node.operand, names)
    if isinstance(node.op, ast.USub):
        return e.negate(inner)
    return Expression(f"~{inner.within(e.NEGATED - 1)}", e.NEGATED)


def read_operator(node: ast.BinOp, names: Names) -> Expression:
    """Return two expressions with an operator between them."""
    left, right = read_node(node.left, names), read_node(node.right, names)
    rule = ARITHMETIC.get(type(node.op))
    return rule(left, right) if rule else e.infix(*INFIX[type(node.op)], left, right)


def read_comparison(node: ast.Compare, names: Names) -> Expression:
    """Return a comparison of two expressions."""
    [sign], [right] = node.ops, node.comparators
    return e.compare(COMPARED[type(sign)], read_node(node.left, names), read_node(right, names))


def read_call(node: ast.Call, names: Names) -> Expression:
    """Return a call; a choice by numbers alone is made."""
    given = [read_node(argument, names) for argument in node.args]
    if isinstance(node.func, ast.Name) and node.func.id == "where" and len(given) == 3:
        return e.choose(*given)
    options = {str(option.arg): read_node(option.value, names).text for option in node.keywords}
    return e.call(read_node(node.func, names).within(e.ATOM - 1), *given, **options)


def read_tuple(node: ast.Tuple, names: Names) -> Expression:
    """Return a tuple."""
    items = ", ".join(read_node(item, names).text for item in node.elts)
    return e.name(f"({items}{',' if len(node.elts) == 1 else ''})")


READERS: dict[type, Callable[..., Expression]] = {
    ast.Name: read_name,
    ast.Constant: read_constant,
    ast.UnaryOp: read_sign,
    ast.BinOp: read_operator,
    ast.Compare: read_comparison,
    ast.Attribute: lambda node, names: e.after(read_node(node.value, names), f".{node.attr}"),
    ast.Subscript: lambda node, names: e.after(read_node(node.value, names), f"[{read_index(node.slice, names)}]"),
    ast.Call: read_call,
    ast.List: lambda node, names: e.listed([read_node(item, names) for item in node.elts]),
    ast.Tuple: read_tuple,
}
"""What reads each kind of node; the texts of rules and values have no others."""


def read_index(node: ast.expr, names: Names) -> str:
    """Return what stands between the brackets of an index."""
    if isinstance(node, ast.Tuple):
        return ", ".join(read_index(part, names) for part in node.elts) + ("," if len(node.elts) == 1 else "")
    if isinstance(node, ast.Slice):
        bounds = [node.lower, node.upper, *([node.step] if node.step else [])]
        return ":".join("" if bound is None else read_node(bound, names).text for bound in bounds)
    return read_node(node, names).text
