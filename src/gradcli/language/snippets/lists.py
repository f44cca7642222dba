"""Lists of Python in a snippet, which the language has as arrays: what that would make of them, and is refused."""

from __future__ import annotations

import ast
from collections.abc import Container
from typing import cast

from gradcli.errors import GradcliError
from gradcli.language.snippets.lines import changed_by, root_of
from gradcli.language.snippets.scopes import parts, stored


def is_list(node: ast.expr, lists: Container[str]) -> bool:
    """Return whether an expression is a list or a tuple of Python's, as the variables ``lists`` are."""
    if isinstance(node, ast.BinOp):
        return is_list(node.left, lists) or is_list(node.right, lists)
    return isinstance(node, ast.List | ast.Tuple) or (isinstance(node, ast.Name) and node.id in lists)


def joins_lists(node: ast.BinOp, lists: Container[str]) -> bool:
    """Return whether + joins two lists, or * repeats one."""
    left, right = is_list(node.left, lists), is_list(node.right, lists)
    if isinstance(node.op, ast.Add):
        return left and right
    other = node.right if left else node.left
    return left != right and isinstance(other, ast.Constant) and isinstance(other.value, int)


def as_operation(node: ast.AugAssign) -> ast.BinOp:
    """Return the operation of an augmented assignment."""
    return ast.BinOp(cast("ast.expr", node.target), node.op, node.value)


def joined_lists() -> GradcliError:
    """Return the error for lists that Python joins or repeats."""
    message = "Python joins lists by + and repeats them by *, and here they are arrays"
    return GradcliError(
        "not-allowed", message, hint="write the entries out, or torch.tensor([...]) to add and to scale"
    )


def refuse_writes_to_rows(node: ast.For, lists: Container[str]) -> None:
    """Refuse a loop over a list that writes to what the list holds: tensors that have other names too."""
    rows = node.iter.args if isinstance(node.iter, ast.Call) else [node.iter]
    if not any(is_list(row, lists) for row in rows):
        return
    names = set(stored(node.target))
    changed = filter(None, map(changed_by, parts(node.body)))
    if any(root_of(target) <= names and root_of(target) for target in changed):
        message = "a loop over a list writes to what the list holds"
        raise GradcliError("not-allowed", message, hint="write to each of them on a line of its own")
