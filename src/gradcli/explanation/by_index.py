"""One entry of a line of the backward pass: ``z.grad[i]*x[j]`` for ``outer(z.grad, x)``."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from gradcli.ops.signatures import Shape

LETTERS = "ijkl"


def entry_of(text: str, shape: Shape, shapes: Mapping[str, Shape]) -> str | None:
    """Return the text of entry [i,j,…] of an array that ``text`` makes; None where it is no plain function of entries.

    ``shape`` is that of the array, ``shapes`` has those of the names in the text, cotangents as ``h.grad``. Such are
    products of an ``outer``, and sums, products, quotients and powers of numbers and of arrays of one shape.

    >>> entry_of("outer(z.grad, x)", (2, 3), {"z.grad": (2,), "x": (3,)})
    'z.grad[i]*x[j]'
    """
    letters = LETTERS[: len(shape)]
    if not 0 < len(letters) == len(shape) or not text.isascii() or not shapes.keys().isdisjoint(letters):
        return None
    tree = ast.parse(text, mode="eval").body
    if not (isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "outer"):
        return indexed(text, tree, shape, letters, shapes)
    if len(tree.args) != 2 or len(shape) != 2:
        return None
    sides = [
        factor(text, side, (length,), letter, shapes)
        for side, length, letter in zip(tree.args, shape, letters, strict=True)
    ]
    return None if None in sides else "*".join(map(str, sides))


def factor(text: str, node: ast.expr, shape: Shape, letters: str, shapes: Mapping[str, Shape]) -> str | None:
    """Return one side of a product, in brackets where it needs them."""
    found = indexed(text, node, shape, letters, shapes)
    return found if found is None or named(node) is not None else f"({found})"


def indexed(text: str, node: ast.expr, shape: Shape, letters: str, shapes: Mapping[str, Shape]) -> str | None:
    """Return a part of a text with indices behind every array of this shape; None where it has anything else."""
    found: list[int] = []
    waiting = [node]
    while waiting:
        part = waiting.pop()
        name = named(part)
        if name is not None:
            if shapes.get(name) not in ((), shape):
                return None
            if shapes[name]:
                found.append(part.end_col_offset or 0)
        elif isinstance(part, ast.BinOp) and not isinstance(part.op, ast.MatMult):
            waiting += [part.left, part.right]
        elif isinstance(part, ast.UnaryOp):
            waiting.append(part.operand)
        elif not isinstance(part, ast.Constant):
            return None
    if not found:
        return None
    start, end = node.col_offset, node.end_col_offset
    index = f"[{','.join(letters)}]"
    whole = text[start:end]
    for place in sorted(found, reverse=True):
        whole = whole[: place - start] + index + whole[place - start :]
    return whole


def named(node: ast.expr) -> str | None:
    """Return the name that a part of a text is, a cotangent's as ``h.grad``."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr == "grad":
        return f"{node.value.id}.grad"
    return None
