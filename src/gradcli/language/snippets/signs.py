"""What statements of snippets do, as far as their syntax says."""

from __future__ import annotations

import ast

from gradcli.errors import GradcliError
from gradcli.language.snippets.functions import returns
from gradcli.language.snippets.imports import Names
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


def asks_for_none(test: ast.expr) -> bool:
    """Return whether a condition is ``x is None`` or ``x is not None``."""
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is | ast.IsNot)


def zeroes_gradients(func: ast.Attribute) -> bool:
    """Return whether a method sets gradients to zero."""
    return func.attr == "zero_grad" or (func.attr == "zero_" and reads_gradient(func))


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


def counts_anyway(node: ast.stmt) -> bool:
    """Return whether a statement counts whatever the output depends on: it gives names, or leaves a loop."""
    return isinstance(node, ast.Import | ast.ImportFrom | ast.Global | ast.Nonlocal) or leaves(node)


def hidden_effect(node: ast.stmt, names: Names) -> ast.expr | None:
    """Return what changes gradients or inputs inside of a statement, where no line by itself shows it; None for none.

    The value of ``h = x.register_hook(f)`` or of ``f = lambda loss: loss.backward()`` may be used by no other line, and
    what happens counts all the same.
    """
    shown = [part.value for part in ast.walk(node) if isinstance(part, ast.Expr)]
    shown += [item.context_expr for part in ast.walk(node) if isinstance(part, ast.With) for item in part.items]
    plain = {id(part) for call in shown if isinstance(call, ast.Call) for part in (call, call.func)}
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            opaque = isinstance(part.func, ast.Name) and part.func.id in OPAQUE
            if opaque or (id(part) not in plain and takes_gradient_away(part)):
                return part.func
        if isinstance(part, ast.NamedExpr):
            return part
        if isinstance(part, ast.Attribute | ast.Name) and has_effect(part, names, shown=id(part) in plain):
            return part
    return None


def hidden_error(node: ast.expr) -> GradcliError:
    """Return the error for what changes gradients or inputs where no line by itself shows it."""
    if isinstance(node, ast.NamedExpr):
        hint = "give the name its value on a line by itself"
        return GradcliError("not-allowed", "':=' is not part of the language", hint=hint)
    hint = "write it as a line by itself" if getattr(node, "attr", "") in ALONE else "leave it out"
    return GradcliError("not-allowed", f"what {ast.unparse(node)}(...) changes is not known", hint=hint)


def has_effect(node: ast.Attribute | ast.Name, names: Names, *, shown: bool) -> bool:
    """Return whether a function of this name changes gradients, inputs or what is not known.

    Those that a line by itself shows are read where they stand.
    """
    own = node.attr if isinstance(node, ast.Attribute) else ""
    name = (names.full(node) or own).rpartition(".")[2]
    hooks = name.startswith("register_") and name.endswith("hook")
    grows = name in GROWING and bool(names.full(node))  # np.append makes an array of its own
    return hooks or name in CONTEXTS or (name in EFFECTS and not shown and not grows)


CLIPPING = {"clip_grad_norm_", "clip_grad_value_", "vector_to_parameters"}
ALONE = {"backward", "step", "zero_grad", "set_grad_enabled", *CLIPPING}
"""Functions that are read where they are a line by themselves."""
EFFECTS = ALONE | GROWING
CONTEXTS = {"__enter__", "__exit__"}
OPAQUE = {"getattr", "setattr", "delattr", "eval", "exec", "globals", "locals", "vars", "compile", "__import__"}
"""Functions of Python's that may do anything."""


def takes_gradient_away(call: ast.Call) -> bool:
    """Return whether a call says of a variable that it has no gradient from here on."""
    given = [*call.args, *(item.value for item in call.keywords)]
    named = isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name)
    asked = named and call.func.attr == "requires_grad_"  # type: ignore[attr-defined]
    return asked and any(isinstance(value, ast.Constant) and value.value is False for value in given)


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
