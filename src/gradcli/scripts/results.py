"""What expressions give: values beside their places, truth values, positions."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping

from gradcli.language.calls import Bound, resolve
from gradcli.language.members import special_call
from gradcli.ops import Function
from gradcli.ops.declare import Array

PLACES = {"nonzero", "np.nonzero", "np.tril_indices", "np.triu_indices"}


def values_of(function: Function, bound: list[Bound]) -> str | None:
    """Return the template of the values that a call gives beside their places; None where it gives one array."""
    told = str(inspect.signature(function.build).return_annotation) if function.build is not None else ""
    if "Pair" not in told:
        return None
    if told == "Pair":
        return "x.values"
    given = {one.parameter.name: one for one in bound}
    if "return_indices" in given:
        return "x[0]"
    along = given.get("dim")
    return None if along is None or is_none(along) or is_other(along) else "x.values"


def is_none(one: Bound) -> bool:
    """Return whether an argument is None."""
    return isinstance(one.nodes[0], ast.Constant) and one.nodes[0].value is None


def is_other(one: Bound) -> bool:
    """Return whether ``dim`` is the second array of ``max(x, y)``, and no axis."""
    node = one.nodes[0].operand if isinstance(one.nodes[0], ast.UnaryOp) else one.nodes[0]
    return one.parameter.kind == "Static | Tensor" and not isinstance(node, ast.Constant)


def is_mask(node: ast.expr, values: Mapping[str, Array]) -> bool:
    """Return whether an expression is truth values; ``values`` are the numbers of names."""
    match node:
        case ast.Compare():
            return True
        case ast.UnaryOp(op=ast.Invert()):
            return True
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr() | ast.BitXor()):
            return is_mask(node.left, values)
        case ast.Name():
            return node.id in values and values[node.id].dtype == bool
        case ast.Call():
            plain = special_call(node, values) is not None
            return not plain and resolve(node, values)[0].kinds.integers == "mask"
    return False


def is_places(node: ast.expr, values: Mapping[str, Array]) -> bool:
    """Return whether an expression is a tuple of positions, an array for each axis."""
    if not isinstance(node, ast.Call) or special_call(node, values) is not None:
        return False
    return resolve(node, values)[0].name in PLACES
