"""What numpy's functions of whole arrays write: sums, products of matrices, moves of entries, choices."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradcli.formulas import expression as e
from gradcli.formulas.recorder import ANSWERS, FUNCTIONS, Unwritable, Written, lift, settle, together
from gradcli.ops.signatures import Shape

ONE_HOT = re.compile(r"one_hot\([^()]*\)")
"""Rows that are 1 at a class and 0 elsewhere."""


def reduce_sum(x: Written, axis: Any = None, keepdims: bool = False) -> Written:
    """Write a sum over axes; over one along which the text is repeated it is a multiple of the text."""
    axes = range(x.ndim) if axis is None else [a % x.ndim for a in (axis if isinstance(axis, tuple) else (axis,))]
    if e.FORMS.get() is None:
        return plain_sum(x, axes, keepdims)
    outside, inside, shape = apart(x, axes, keepdims)
    found = plain_sum(Written(inside, x.value, x.stands), axes, keepdims)
    whole = e.multiply(outside, found.expression)
    stands = np.broadcast_shapes(found.stands, shape)
    return Written(whole, np.sum(x.value, axis=tuple(axes), keepdims=keepdims), stands)


def apart(x: Written, axes: Sequence[int], keepdims: bool) -> tuple[e.Expression, e.Expression, Shape]:
    """Return the factors of a text that may stand before its sum along axes, the others, and the shape of the first.

    They are the same along the axes. Arrays among them may where all others have the whole shape without them.
    """
    factors, sign = x.expression.factors, e.number(-1 if x.expression.negative else 1)
    shapes = [() if part.is_scalar else part.shape for _, part in factors]
    if not factors or all(shape == () for shape in shapes):
        return e.number(1), x.expression, ()
    scalars = [shape == () for shape in shapes]
    outside = [shape is not None and is_same_along(shape, axes, x.ndim, keepdims) for shape in shapes]
    rest = [shape for shape, is_outside in zip(shapes, outside, strict=True) if not is_outside]
    if None in rest or not rest or np.broadcast_shapes(*(shape or () for shape in rest)) != x.stands:
        outside = scalars
    first, second = (
        e.product([factor for factor, is_outside in zip(factors, outside, strict=True) if is_outside is wanted])
        for wanted in (True, False)
    )
    taken = [shape for shape, is_outside in zip(shapes, outside, strict=True) if shape and is_outside]
    return e.multiply(sign, first), second, np.broadcast_shapes(*taken)


def is_same_along(shape: Shape, axes: Sequence[int], ndim: int, keepdims: bool) -> bool:
    """Return whether what broadcasts from a shape to ``ndim`` axes is the same along some, and beside their sum too."""
    lead = ndim - len(shape)
    return all(a < lead or (keepdims and shape[a - lead] == 1) for a in axes)


def plain_sum(x: Written, axes: Sequence[int], keepdims: bool) -> Written:
    """Write a sum over axes of a text as it is."""
    lead, stands, text = x.ndim - len(x.stands), x.stands, x.expression
    own = tuple(sorted(a - lead for a in axes if a >= lead))
    times = math.prod(x.shape[a] for a in axes if a < lead or stands[a - lead] == 1)
    if own and not (keepdims and all(stands[a] == 1 for a in own)):
        kept = keepdims and own != tuple(range(len(own)))
        options: dict[str, Any] = {} if len(own) == len(stands) else {"dim": own[0] if len(own) == 1 else own}
        found = sum_of_places(text, own, stands) or e.call(
            "sum", e.negate(text) if text.negative else text, **options, **({"keepdim": True} if kept else {})
        )
        text = e.negate(found) if text.negative else found
        stands = tuple(1 if a in own else length for a, length in enumerate(stands) if kept or a not in own)
    value = np.sum(x.value, axis=tuple(axes), keepdims=keepdims)
    return Written(e.multiply(e.number(times), text), value, stands)


def sum_of_places(text: e.Expression, axes: tuple[int, ...], stands: Shape) -> e.Expression | None:
    """Return the sum of a list of entries, and that of rows that are 1 at a class; None for all else."""
    if e.FORMS.get() is None:
        return None
    if text.items and len(stands) == 1:
        return e.add(*text.items)
    return e.number(1) if ONE_HOT.fullmatch(text.text) and axes == (len(stands) - 1,) else None


def multiply_matrices(left: Any, right: Any) -> Written:
    """Write a product of matrices."""
    a, b = lift(left), lift(right)
    value = np.matmul(a.value, b.value)
    return Written(e.infix("@", 70, settle(a), settle(b)), value, np.shape(value))


def permute(x: Written, order: Any = None) -> Written:
    """Write axes in another order."""
    axes = tuple(range(x.ndim))[::-1] if order is None else tuple(int(a) % x.ndim for a in order)
    value = np.transpose(x.value, axes)
    if axes == tuple(range(x.ndim)):
        return x
    if len(axes) > 2 or axes != tuple(range(x.ndim))[::-1]:
        return Written(e.name(f"permute({settle(x).text}, {', '.join(map(str, axes))})"), value, value.shape)
    return Written(e.after(settle(x), ".T"), value, value.shape)


def swap(x: Written, first: int, second: int) -> Written:
    """Write two axes swapped."""
    order = list(range(x.ndim))
    order[first], order[second] = order[second], order[first]
    if x.ndim <= 2:
        return permute(x, order)
    value = np.swapaxes(x.value, first, second)
    return Written(e.name(f"transpose({settle(x).text}, {first}, {second})"), value, value.shape)


def unsqueeze(x: Written, axis: Any) -> Written:
    """Write new axes of length 1, where broadcasting does not do it."""
    value = np.expand_dims(x.value, axis)
    axes = sorted(a % value.ndim for a in (axis if isinstance(axis, tuple) else (axis,)))
    trailing = value.ndim - len(x.stands)
    if all(a < trailing for a in axes):
        return Written(x.expression, value, x.stands)
    first = next(a for a in range(value.ndim) if a not in axes)
    key = ", ".join("None" if a in axes else ":" for a in range(first, axes[-1] + 1))
    return Written(e.after(settle(x), f"[{key}]"), value, value.shape[first:])


def reshape(x: Written, shape: Any) -> Written:
    """Write the same entries in another shape."""
    value = np.reshape(x.value, shape)
    if value.shape == x.shape:
        return x
    if x.stands == ():
        return Written(x.expression, value, ())
    sizes = ", ".join(map(str, value.shape)) or "()"
    return Written(e.name(f"reshape({settle(x).text}, {sizes})"), value, value.shape)


def broadcast(x: Written, shape: Any) -> Written:
    """Write an array repeated along axes: its text stands for it."""
    return Written(x.expression, np.broadcast_to(x.value, shape), x.stands)


def choose(condition: Any, left: Any, right: Any) -> Written:
    """Write a choice."""
    parts = [lift(condition), lift(left), lift(right)]
    value = np.where(*(part.value for part in parts))
    return Written(e.choose(*(part.expression for part in parts)), value, together(parts))


def move(name: str, function: Any) -> Callable[..., Written]:
    """Return the rule of a function that is called with the array in its whole shape and whole numbers."""

    def rule(x: Written, *numbers: Any) -> Written:
        value = function(x.value, *numbers)
        given = [str(n) for n in numbers]
        return Written(e.name(f"{name}({', '.join([settle(x).text, *given])})"), value, np.shape(value))

    return rule


def flip(x: Written, axis: Any = None) -> Written:
    """Write entries in reverse."""
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    if not axes:
        return x
    value = np.flip(x.value, axes)
    return Written(e.name(f"flip({settle(x).text}, {', '.join(map(str, axes))})"), value, value.shape)


def roll(x: Written, shift: Any, axis: Any) -> Written:
    """Write entries moved round."""
    value = np.roll(x.value, shift, axis)
    shifts, axes = ([int(n) for n in np.ravel(part)] for part in (shift, axis))
    many = (str(tuple(shifts)), str(tuple(axes))) if len(axes) != 1 else (str(shifts[0]), str(axes[0]))
    along = {} if x.ndim == 1 and len(axes) == 1 else {"dim": many[1]}
    return Written(e.call("roll", settle(x), e.name(many[0]), **along), value, value.shape)


def run_sum(x: Written, axis: int) -> Written:
    """Write a running sum."""
    value = np.cumsum(x.value, axis=axis)
    return Written(e.call("cumsum", settle(x), dim=axis), value, value.shape)


def take(x: Written, places: Any, axis: int) -> Written:
    """Write a layer of an array, or a stretch of layers that follow each other."""
    value = np.take(x.value, places, axis=axis)
    found = np.ravel(places)
    if not x.stands:
        return Written(x.expression, value, ())
    stretch = str(int(found[0])) if np.ndim(places) == 0 else f"{found[0]}:{found[-1] + 1}" if found.size else "0:0"
    if found.size > 1 and np.any(np.diff(found) != 1):
        raise Unwritable("take")
    return Written(e.after(settle(x), f"[{', '.join([':'] * axis + [stretch])}]"), value, value.shape)


def contract(spec: str, *operands: Any) -> Written:
    """Write a sum of products."""
    parts = [lift(x) for x in operands]
    value = np.einsum(spec, *(part.value for part in parts))
    texts = [settle(part) for part in parts]
    if spec == "i,j->ij":
        return Written(e.call("outer", *texts), value, value.shape)
    return Written(e.call("einsum", e.name(f'"{spec}"'), *texts), value, value.shape)


def of_matrices(name: str, function: Any) -> Callable[..., Written]:
    """Return the rule of a function of whole matrices."""

    def rule(*arrays: Any) -> Written:
        parts = [lift(x) for x in arrays]
        value = function(*(part.value for part in parts))
        return Written(e.call(name, *map(settle, parts)), value, np.shape(value))

    return rule


def asked(function: Any) -> Callable[..., Any]:
    """Return the rule of a question about the numbers, which a branch is taken by; the answer is noted."""

    def rule(x: Written, **options: Any) -> Any:
        answer, answers = function(x.value, **options), ANSWERS.get()
        if answers is not None:
            answers.append(answer)
        return answer

    return rule


FUNCTIONS.update(
    {
        np.matmul: multiply_matrices,
        np.sum: reduce_sum,
        np.where: choose,
        np.transpose: permute,
        np.swapaxes: swap,
        np.expand_dims: unsqueeze,
        np.reshape: reshape,
        np.broadcast_to: broadcast,
        np.flip: flip,
        np.roll: roll,
        np.cumsum: run_sum,
        np.take: take,
        np.einsum: contract,
        np.tril: move("tril", np.tril),
        np.triu: move("triu", np.triu),
        np.linalg.inv: of_matrices("inv", np.linalg.inv),
        np.linalg.solve: of_matrices("linalg.solve", np.linalg.solve),
        np.any: asked(np.any),
        np.all: asked(np.all),
    }
)
