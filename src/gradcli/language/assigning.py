"""What assignments do when they run, and what they refuse: a write that another variable would see."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from gradcli.engine.graph import Graph, Input, Operation
from gradcli.errors import GradcliError, Span
from gradcli.errors.counting import counted
from gradcli.language import picking, runtime
from gradcli.language.arithmetic import binary
from gradcli.language.kinds import Listed, is_odd, is_tensor, items_of, kept_in_place, written_as
from gradcli.ops import Pair, Parts
from gradcli.ops.declare import Op, value_of
from gradcli.ops.indexing import INDEX, PUT
from gradcli.ops.shaping import RESHAPE


def is_view(value: object) -> bool:
    """Return whether a value may show the memory of another node."""
    return isinstance(value, Operation) and value.op.view


def before_ndim(value: object) -> int:
    """Return the number of axes of a value, 0 for a plain number."""
    return int(getattr(value, "ndim", 0))


def remark_swap(f: Graph, before: Any, value: Any, span: Span) -> None:
    """Remark that an assignment of the same line has changed the number that the next one gives."""
    if value is not before and not before_ndim(value):
        f.remark(
            "numpy-differs",
            "The first of these assignments changes the entry that the next one reads, as PyTorch's entries are "
            "views. NumPy's are numbers of their own, and swap; clone() makes both the same.",
            span,
        )


def range_of(bounds: list[Any]) -> range:
    """Return ``range(*bounds)``; raises ``type`` for what is no integer."""
    found = [int(b) if isinstance(b, np.integer) else b for b in bounds]
    if not all(type(b) is int for b in found):
        raise GradcliError("type", "range takes integers")
    if len(found) == 3 and found[2] == 0:
        raise GradcliError("value", "the step of range cannot be 0")
    return range(*found)


def unpacked(f: Graph, value: object, position: int, count: int) -> Any:
    """Return one of ``count`` values that an array is unpacked into."""
    if isinstance(value, Pair):
        value = (value.values, value.indices)
    if isinstance(value, Parts):
        if len(value.names) != count:
            raise GradcliError("shape", f"{counted(len(value.names), 'value')} for {counted(count, 'variable')}")
        return value[position]
    if isinstance(value, Listed):
        value = tuple(items_of(value))
    length = len(value) if type(value) is tuple else (runtime.array_of(value).shape or (0,))[0]
    if length != count:
        raise GradcliError("shape", f"{counted(length, 'value')} for {counted(count, 'variable')}")
    return value[position] if type(value) is tuple else picking.part_of(f, runtime.array_of(value), position)


def stored_names(body: list[ast.stmt]) -> set[str]:
    """Return the variables that these statements assign whenever they run to their end."""
    names: set[str] = set()
    for statement in body:
        for target in statement.targets if isinstance(statement, ast.Assign) else []:
            parts = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
            names |= {part.id for part in parts if isinstance(part, ast.Name)}
    return names


def refuse_write(f: Graph, name: str, value: object, what: str) -> None:
    """Refuse a write in place that Python or PyTorch refuses: to what is no tensor, and to a leaf or a view of one."""
    if not is_tensor(value):
        refuse_plain(name, value, what)
        return
    leaf = leaf_of(f, value)
    if leaf is None:
        return
    of = f"the input '{leaf.name}'" if value is leaf else f"'{name}', a view of the input '{leaf.name}'"
    hint = (
        f"write {name} = {name}.clone() first"
        if "index" in what
        else f"write {name} = {name} ... in place of the augmented assignment"
    )
    raise GradcliError("in-place", f"{what} to {of}: PyTorch refuses to change a leaf in place", hint=hint)


def leaf_of(f: Graph, value: Any) -> Input | None:
    """Return the differentiated input that a tensor shows, or None."""
    from gradcli.language.storage import is_array, root, window_of

    leaves = {leaf.index: leaf for leaf in f.inputs.values() if leaf.active}
    if is_array(value) or root(f, value) not in leaves:
        return None
    return leaves.get(window_of(f, value).side)


def refuse_plain(name: str, value: object, what: str) -> None:
    """Refuse a write to what Python cannot change: lengths, a pair of arrays, and by an index also a plain number."""
    if isinstance(value, Pair):
        held, hint = "is a pair of values and their indices", f"write {name} = {name}.values.clone() first"
    elif isinstance(value, Parts):
        held, hint = "holds several arrays", f"write one of them, such as {name}.{value.names[0]}, to a variable first"
    elif isinstance(value, tuple):
        lengths = all(type(item) is int for item in value)
        held, way = ("holds lengths", "tensor") if lengths else ("is a tuple of arrays", "stack")
        hint = f"write {name} = torch.{way}({name}) first"
    elif "index" in what and isinstance(value, int | float):
        held, hint = "is a plain number", f"write {name} = torch.tensor({name}) first"
    else:
        return
    raise GradcliError("in-place", f"{what} to '{name}', which {held}: Python refuses that", hint=hint)


def refuse_change(f: Graph, op: Op, before: Any, result: Any, name: str) -> None:
    """Refuse an augmented assignment that cannot be done in place: to another shape, or to another kind of numbers."""
    kept_in_place(f, op, before, result, name)
    if before_ndim(before) and result.shape != before.shape:
        raise GradcliError(
            "shape",
            f"'{name}' has shape {before.shape}, and in place it cannot become {result.shape}",
            hint=f"write {name} = {name} ... instead",
        )


def changed_entries(f: Graph, op: Op | None, x: Any, key: Any, change: Any, target: str) -> tuple[Any, int | None]:
    """Return what an index is assigned, and the first node that computes it by ``op``; without, it is ``change``."""
    if op is None:
        return change, None
    entries, first = f(INDEX, x, key=key), len(f.nodes)
    result = binary(f, op, entries, change)
    if np.shape(value_of(result)) != entries.shape:
        refuse_change(f, op, entries, result, target)
    return result, first


def put_as_kept(f: Graph, op: Op | None, x: Any, key: Any, change: Any, target: str) -> Any:
    """Return ``x`` with ``change`` at an index, in numbers of the kind that ``x`` has."""
    if is_odd(x) or is_odd(change):
        change = written_as(f, x, int(change) if type(change) is bool else change, not picking.basic(key), op)
    return put_at(f, x, change if is_odd(x) else runtime.as_tensor(change), key, target)


def put_at(f: Graph, x: Any, written: Any, key: Any, target: str) -> Any:
    """Return ``x`` with ``written`` at an index, which the program calls ``target``; raises ``shape`` for a misfit."""
    try:
        entries = value_of(x)[picking.as_view(key) if picking.basic(key) else key].shape
    except IndexError:
        return f(PUT, x, written, key=key)  # which says what is wrong with the index
    fitting = without_lead(f, written, len(entries))
    shape = np.shape(value_of(fitting))
    if shape and not is_broadcast(shape, entries):
        message = f"{target} has shape {entries}, and a value of shape {np.shape(value_of(written))} does not fit there"
        raise GradcliError("shape", message, hint="lengths must be equal, or 1, counted from the last axis")
    return f(PUT, x, fitting, key=key)


def is_broadcast(shape: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Return whether an array of a shape fills another shape when it is repeated."""
    pairs = zip(reversed(shape), reversed(wanted), strict=False)
    return len(shape) <= len(wanted) and all(own in (1, other) for own, other in pairs)


def without_lead(f: Graph, written: Any, axes: int) -> Any:
    """Return what is written without leading axes of length 1 that the entries do not have, as PyTorch takes it."""
    if not written.ndim or written.shape[0] != 1:
        return written
    lead = next((k for k, length in enumerate(written.shape) if length != 1), written.ndim)
    extra = min(written.ndim - axes, lead)
    return f(RESHAPE, written, shape=written.shape[extra:]) if extra > 0 else written
