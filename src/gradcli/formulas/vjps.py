"""The vjp of one operation as an expression: it writes itself, or its record has the text."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from gradcli.engine.graph import Operation
from gradcli.formulas import expression as e
from gradcli.formulas.expression import Expression
from gradcli.formulas.reading import read_expression
from gradcli.formulas.recorder import Unwritable, Written, lift, settle, together
from gradcli.formulas.recording import reduce_sum, unsqueeze
from gradcli.ops.declare import Array, Op
from gradcli.ops.writing import option_text

PLACEHOLDER = re.compile(r"\{(\w+)\}")
BESIDE = "GYCS"
"""Placeholders that stand beside other arrays, entry by entry."""
HOT = re.compile(r"(\bone_hot\()(\[[\d, ]+\]|\d+), ")
AT = re.compile(r"(?<=\w)\[(\[[\d, ]+\]),?\]")
"""Positions that are given to ``one_hot``, and a list of them in an index."""


def write_vjp(
    node: Operation,
    k: int,
    g: Written,
    out: Written,
    arguments: Sequence[Any],
    choice: int,
    places: Mapping[str, str] = MappingProxyType({}),
) -> Written:
    """Return what argument ``k`` of an operation gets of its cotangent ``g``.

    ``arguments`` are written arrays, or numbers where they are constants. There may be several ways to write a rule,
    the plainest first, which does not hold for all numbers: ``choice`` says which, and beyond the last it is the last.
    ``places`` has the names of positions by their texts. Raises ``Unwritable``.
    """
    values = [x.value if isinstance(x, Written) else x for x in arguments]
    texts = backward_texts(node.op, k, node.value, values, node.static)
    if choice < len(texts) or (texts and not runs(node, k, g, out, arguments)):
        value = node.op.vjp_along(k)(g.value, out.value, *values, **node.static)
        text = called(texts[min(choice, len(texts) - 1)], places)
        return written_by(text, node, [g, out, *map(lift, arguments)], value)
    found = run(node, k, g, out, arguments)
    if found is None:
        raise Unwritable(node.op.name)
    return found


def called(text: str, places: Mapping[str, str]) -> str:
    """Return a text in which the positions that ``one_hot`` and an index are given go by their names."""
    if not places:
        return text
    named = HOT.sub(lambda found: f"{found[1]}{places.get(found[2], found[2])}, ", text)
    return AT.sub(lambda found: f"[{places[found[1]]}]" if found[1] in places else found[0], named)


def backward_texts(op: Op, k: int, out: Any, values: Sequence[Any], static: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the texts that a record has for the vjp of one argument, at these numbers."""
    rules = op.backward_text
    found = rules(k, out, *values, **static) if callable(rules) else rules[k] if k < len(rules) else ()
    return (found,) if isinstance(found, str) else tuple(found)


def runs(node: Operation, k: int, g: Written, out: Written, arguments: Sequence[Any]) -> bool:
    """Return whether a vjp writes itself."""
    return run(node, k, g, out, arguments) is not None


def run(node: Operation, k: int, g: Written, out: Written, arguments: Sequence[Any]) -> Written | None:
    """Return what a vjp writes when it is run on written arrays; None where numpy or the language cannot."""
    try:
        return lift(node.op.vjp_along(k)(g, out, *arguments, **node.static))
    except (Unwritable, TypeError, ValueError, AttributeError):
        return None


def written_by(text: str, node: Operation, parts: Sequence[Written], value: Array) -> Written:
    """Return the text of a record with expressions put in: ``{g}``, ``{y}``, ``{0}`` for argument 0, and options.

    ``{G}`` and ``{Y}`` are g and y with the axes back that a reduction has taken away, ``{C}`` is g as a column, and
    ``{S}`` is the sum of g along an axis, which is kept: they stand beside other arrays, entry by entry.
    """
    g, y, *arguments = parts
    known = {"g": g, "y": y, **{str(k): x for k, x in enumerate(arguments)}}
    used = [name for name in PLACEHOLDER.findall(text) if name in known or name in BESIDE]
    if "C" in used:
        known["C"] = unsqueeze(g, -1)
    if "S" in used:
        known["S"] = sum_along(g, node.static["dim"])
    if {"G", "Y"} & set(used):
        dim, keepdim = node.static["dim"], node.static.get("keepdim", True)
        kept = keepdim or dim == ()
        known |= {name: x if kept else unsqueeze(x, dim) for name, x in (("G", g), ("Y", y))}
    entrywise = node.op.formula is not None
    told: dict[str, Expression] = {f"_{name}": known[name].expression for name in used}
    if not entrywise:
        told = {f"_{name}": known[name].expression if name in BESIDE else settle(known[name]) for name in used}
    plain = PLACEHOLDER.sub(
        lambda found: f"_{found[1]}" if found[1] in known else option_text(node.static[found[1]]), text
    )
    stands = together([known[name] for name in used]) if entrywise and used else np.shape(value)
    return Written(read_expression(plain, told), value, stands)


def sum_along(g: Written, dim: int) -> Written:
    """Write the sum of what arrived along an axis.

    A textbook takes the entries of a target as shares, whose sum is 1: a line where that is not true is not shown.
    """
    found = reduce_sum(g, dim, keepdims=True)
    factors = g.expression.factors or (e.Factor(below=False, what=g.expression),)
    arrays = [what for _, what in factors if not what.is_scalar]
    if e.FORMS.get() is None or len(arrays) != 1 or not arrays[0].text.isidentifier():
        return found
    scalars = e.product([factor for factor in factors if factor.what.is_scalar])
    return Written(e.negate(scalars) if g.expression.negative else scalars, found.value, ())


def undo_broadcast(part: Written, shape: tuple[int, ...]) -> Written:
    """Write the sum over the axes along which an argument of ``shape`` was broadcast."""
    if part.shape == shape:
        return part
    lead = part.ndim - len(shape)
    stretched = tuple(lead + axis for axis, length in enumerate(shape) if length == 1 != part.shape[lead + axis])
    found = part
    if stretched:
        found = reduce_sum(found, stretched, keepdims=True)
    if lead:
        found = reduce_sum(found, tuple(range(lead)))
    return Written(found.expression, np.broadcast_to(found.value, shape), found.stands)


def plus(left: Written, right: Written) -> Written:
    """Write the sum of what two uses of a value hand on."""
    return Written(
        e.add(left.expression, right.expression), left.value + right.value, together([left, right], added=True)
    )
