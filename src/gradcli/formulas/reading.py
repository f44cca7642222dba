"""Text of the language read as an expression, with other expressions in the place of its names."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from gradcli.formulas import expression as e
from gradcli.formulas.expression import Expression

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


def read_expression(text: str, names: Mapping[str, Expression]) -> Expression:
    """Return a text of the language as an expression; ``names`` are put in, others stand for themselves."""
    return read_node(ast.parse(text, mode="eval").body, names)


def read_node(node: ast.expr, names: Mapping[str, Expression]) -> Expression:
    """Return a node of the syntax tree as an expression."""
    if isinstance(node, ast.Name):
        return names.get(node.id, e.name(node.id))
    if isinstance(node, ast.Constant):
        return e.number(node.value) if type(node.value) in (int, float) else e.name(ast.unparse(node))
    if isinstance(node, ast.UnaryOp):
        inner = read_node(node.operand, names)
        return e.negate(inner) if isinstance(node.op, ast.USub) else Expression(f"~{inner.within(79)}", e.NEGATED)
    if isinstance(node, ast.BinOp):
        left, right = read_node(node.left, names), read_node(node.right, names)
        if type(node.op) in ARITHMETIC:
            return ARITHMETIC[type(node.op)](left, right)
        return e.infix(*INFIX[type(node.op)], left, right)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        sides = read_node(node.left, names), read_node(node.comparators[0], names)
        return e.compare(COMPARED[type(node.ops[0])], *sides)
    if isinstance(node, ast.Attribute):
        return e.after(read_node(node.value, names), f".{node.attr}")
    if isinstance(node, ast.Subscript):
        return e.after(read_node(node.value, names), f"[{read_index(node.slice, names)}]")
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id == "where" and len(node.args) == 3:
            return e.choose(*(read_node(argument, names) for argument in node.args))
        given = [read_node(argument, names).text for argument in node.args]
        given += [f"{option.arg}={read_node(option.value, names).text}" for option in node.keywords]
        return e.name(f"{read_node(node.func, names).within(e.ATOM - 1)}({', '.join(given)})")
    if isinstance(node, ast.List):
        return e.listed([read_node(item, names) for item in node.elts])
    if isinstance(node, ast.Tuple):
        items = ", ".join(read_node(item, names).text for item in node.elts)
        return e.name(f"({items}{',' if len(node.elts) == 1 else ''})")
    raise ValueError(f"{type(node).__name__} is no part of a rule")


def read_index(node: ast.expr, names: Mapping[str, Expression]) -> str:
    """Return what stands between the brackets of an index."""
    if isinstance(node, ast.Tuple):
        return ", ".join(read_index(part, names) for part in node.elts) + ("," if len(node.elts) == 1 else "")
    if isinstance(node, ast.Slice):
        bounds = [node.lower, node.upper, *([node.step] if node.step else [])]
        return ":".join("" if bound is None else read_node(bound, names).text for bound in bounds)
    return read_node(node, names).text
