"""Arrays put together: along a new axis, or end to end."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.axes import one_axis
from gradcli.ops.declare import Apply
from gradcli.ops.links import Links
from gradcli.ops.shaping import joined
from gradcli.ops.vocabulary import Static, Tensors, function
from gradcli.ops.writing import Call


def stack(*values: Any, dim: int) -> Any:
    """Return the arguments along a new axis."""
    return np.array(values) if dim == 0 else np.stack(values, axis=dim)


def cat(*values: Any, dim: int) -> Any:
    """Return the arguments joined along an axis."""
    return np.concatenate(values, axis=dim)


def cat_vjp(k: int) -> Any:
    """Return the vjp of argument k of cat: its own stretch of g."""

    def vjp(g: Any, _y: Any, *values: Any, dim: int) -> Any:
        start = sum(np.shape(x)[dim] for x in values[:k])
        return np.take(g, np.arange(start, start + np.shape(values[k])[dim]), axis=dim)

    return vjp


def total_size(*values: Any, dim: int) -> int:
    """Return the entries of all arguments together."""
    del dim
    return sum(int(np.size(x)) for x in values)


def linked(places: Any) -> list[Links]:
    """Return the links of an argument whose entries stand, in their order, at these flat places of the output."""
    rows = np.ravel(places)
    return [Links(rows, np.arange(len(rows), dtype=np.intp))]


def stack_local(argument: int, out: Any, values: tuple[Any, ...], static: dict[str, Any]) -> list[Links]:
    """Link the entries of one argument with its layer of the output."""
    del values
    return linked(np.moveaxis(all_places(out), static["dim"], 0)[argument])


def cat_local(argument: int, out: Any, values: tuple[Any, ...], static: dict[str, Any]) -> list[Links]:
    """Link the entries of one argument with its stretch of the output."""
    dim = static["dim"]
    ends = np.cumsum([np.shape(x)[dim] for x in values[: argument + 1]])
    stretch = np.moveaxis(all_places(out), dim, 0)[ends[-1] - np.shape(values[argument])[dim] : ends[-1]]
    return linked(np.moveaxis(stretch, 0, dim))


def all_places(out: Any) -> Any:
    """Return the flat place of every entry of the output, in its shape."""
    return np.arange(np.size(out), dtype=np.intp).reshape(np.shape(out))


def stack_vjp(k: int) -> Any:
    """Return the vjp of argument k of stack: its own layer of g."""
    return lambda g, _y, *_values, dim: g[k] if dim == 0 else np.take(g, k, axis=dim)


def as_list(call: Call) -> str:
    """Write a list, or a call that takes one where ``dim`` is not the first."""
    listed = f"[{', '.join(call.texts)}]"
    return listed if call.static["dim"] == 0 else with_list(call)


def with_list(call: Call) -> str:
    """Write a call that takes a list of arrays."""
    return f"{call.name}([{', '.join(call.texts)}], dim={call.static['dim']})"


STACK = joined(
    "stack",
    stack,
    stack_vjp,
    stack_local,
    size=total_size,
    exactly=lambda *values, dim: np.stack(values, axis=dim),
    write=as_list,
)
CAT = joined("cat", cat, cat_vjp, cat_local, size=total_size, write=with_list)


@function("stack", "torch numpy", "shaping", op=STACK, kinds="same same yes")
def build_stack(f: Apply, tensors: Tensors, dim: Static = 0) -> Any:
    """arrays of one shape along a new axis"""
    shapes = [x.shape for x in tensors]
    if not shapes or any(shape != shapes[0] for shape in shapes):
        raise GradcliError("shape", f"stack needs arrays of one shape, not {', '.join(map(str, shapes)) or 'none'}")
    return f(STACK, *tensors, dim=one_axis(dim, len(shapes[0]) + 1))


@function("cat concatenate concat", "torch numpy", "shaping", op=CAT, kinds="same same yes")
def build_cat(f: Apply, tensors: Tensors, dim: Static = 0) -> Any:
    """arrays joined along an axis"""
    shapes = [x.shape for x in tensors]
    if not shapes or not shapes[0]:
        raise GradcliError("shape", "cat needs arrays with at least one axis", hint="use stack for scalars")
    axis = one_axis(dim, len(shapes[0]))
    if len({(*shape[:axis], *shape[axis + 1 :], len(shape)) for shape in shapes}) > 1:
        raise GradcliError(
            "shape", f"cat along dim={axis} needs equal other lengths, not {', '.join(map(str, shapes))}"
        )
    return f(CAT, *tensors, dim=axis)
