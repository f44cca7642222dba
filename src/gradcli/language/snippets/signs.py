"""What statements of snippets do, as far as their syntax says."""

from __future__ import annotations

import ast

from gradcli.errors import GradcliError
from gradcli.language.snippets.functions import returns
from gradcli.language.snippets.lines import GROWING, is_in_place
from gradcli.language.snippets.pieces import Piece, join
from gradcli.language.snippets.scopes import Closure

SIGNS = (
    ast.Import,
    ast.ImportFrom,
    ast.FunctionDef,
    ast.ClassDef,
    ast.Lambda,
    ast.With,
    ast.Assert,
    ast.JoinedStr,
    ast.ListComp,
    ast.GeneratorExp,
)
"""Syntax that snippets have, and no program of the language."""


def is_main(node: ast.If) -> bool:
    """Return whether a branch is ``if __name__ == "__main__"``."""
    return any(isinstance(part, ast.Name) and part.id == "__name__" for part in ast.walk(node.test))


def reads_gradient(node: ast.AST) -> bool:
    """Return whether an expression reads a gradient."""
    return any(isinstance(part, ast.Attribute) and part.attr == "grad" for part in ast.walk(node))


def changes(node: ast.AST) -> bool:
    """Return whether an expression calls a method that changes a value in place."""
    methods = (part.func.attr for part in ast.walk(node) if isinstance(part, ast.Call) and hasattr(part.func, "attr"))
    return any(name in GROWING or is_in_place(name) for name in methods)


def leaves(node: ast.AST) -> bool:
    """Return whether a statement may leave the loop round it, or its turn."""
    if isinstance(node, ast.Break | ast.Continue):
        return True
    inside = [] if isinstance(node, ast.For | ast.While | ast.FunctionDef) else ast.iter_child_nodes(node)
    return any(leaves(child) for child in inside if isinstance(child, ast.stmt))


def updates(node: ast.stmt) -> bool:
    """Return whether a statement that cannot be read may change an input."""
    for part in ast.walk(node):
        if isinstance(part, ast.AugAssign) or changes(part):
            return True
        if isinstance(part, ast.Attribute) and (part.attr == "step" or isinstance(part.ctx, ast.Store)):
            return True
    return False


def require_plain_switches(node: ast.stmt) -> None:
    """Refuse ``requires_grad=`` of what is not plainly True or False."""
    for part in ast.walk(node):
        given = part.value if isinstance(part, ast.keyword) and part.arg == "requires_grad" else None
        if isinstance(part, ast.Call) and getattr(part.func, "attr", "") == "requires_grad_":
            given = part.args[0] if part.args else given
        if given is not None and not isinstance(given, ast.Constant):
            raise GradcliError("not-allowed", "requires_grad is True or False here, and nothing computed")


def returns_nothing(closure: Closure) -> bool:
    """Return whether a function is called for what it does alone."""
    return isinstance(closure.node, ast.FunctionDef) and not returns(closure.body)


def pairs_of(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """Return each of several targets with its value, where as many values stand there."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return []


def truth(condition: Piece) -> Piece:
    """Return an expression that is 1 where a condition holds."""
    return join([Piece.at("1 if ", condition.place), condition, Piece.at(" else 0", condition.place)])
