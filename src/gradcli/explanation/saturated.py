"""Formulas that keep their digits where an activation is saturated: longer ones, for points that need them."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Mapping

from gradcli.formulas.reading import read_node

INDEX = re.compile(r"\[[\d, ]+\]")


def saturated(formula: str, definitions: Mapping[str, str]) -> str:
    """Return a formula without the differences that lose all digits in saturation; itself where it has none.

    ``definitions`` are the names that it may use.

    >>> saturated("W[0,1]*(1 - tanh(x[1])**2)", {})
    'W[0,1]/cosh(x[1])**2'
    >>> saturated("s[0]*(1 - s[0])", {"s": "sigmoid(z)"})
    's[0]*sigmoid(-z[0])'
    """
    tree = ast.parse(formula, mode="eval").body
    exchange = Complements({name: ast.parse(text, mode="eval").body for name, text in definitions.items()})
    other = exchange.visit(tree)
    if not exchange.found:
        return formula
    return INDEX.sub(lambda index: index[0].replace(" ", ""), read_node(other, {}).text)


class Complements(ast.NodeTransformer):
    """Writes what is left of 1 beside tanh(x)**2 or sigmoid(x) without a difference; ``found`` says whether any was."""

    def __init__(self, definitions: Mapping[str, ast.expr]) -> None:
        self.definitions = definitions
        self.found = False

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Return ``1/cosh(x)**2`` for ``1 - tanh(x)**2``, and ``sigmoid(-x)`` for ``1 - sigmoid(x)``."""
        self.generic_visit(node)
        if not (isinstance(node.op, ast.Sub) and is_number(node.left, 1)):
            return node
        right = node.right
        squared = isinstance(right, ast.BinOp) and isinstance(right.op, ast.Pow) and is_number(right.right, 2)
        inner = right.left if squared and isinstance(right, ast.BinOp) else right
        x = self.argument_of("tanh" if squared else "sigmoid", inner)
        if x is None:
            return node
        self.found = True
        if not squared:
            return call("sigmoid", ast.UnaryOp(ast.USub(), x))
        return ast.BinOp(ast.Constant(1), ast.Div(), ast.BinOp(call("cosh", x), ast.Pow(), ast.Constant(2)))

    def argument_of(self, function: str, node: ast.expr) -> ast.expr | None:
        """Return what a function is applied to, there or in the definition of a name or of its entries."""
        if isinstance(node, ast.Subscript):
            whole = self.argument_of(function, node.value)
            return None if whole is None else ast.Subscript(whole, node.slice, ast.Load())
        if isinstance(node, ast.Name) and node.id in self.definitions:
            node = self.definitions[node.id]
        named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function
        return copy.deepcopy(node.args[0]) if named and isinstance(node, ast.Call) and len(node.args) == 1 else None


def call(function: str, argument: ast.expr) -> ast.Call:
    """Return a function of one argument."""
    return ast.Call(ast.Name(function, ast.Load()), [argument], [])


def is_number(node: ast.expr, number: int) -> bool:
    """Return whether a part of a formula is this number."""
    return isinstance(node, ast.Constant) and node.value == number
