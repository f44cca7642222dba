"""Arrays made of Python's values, and what several results of one function are called."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES
from gradcli.ops.joining import STACK
from gradcli.ops.shaping import MOST_AXES, too_many_axes
from gradcli.runner.objects import UNBOUND, Class, Foreign, ask
from gradcli.runner.operators import PLAIN, together
from gradcli.runner.state import Run
from gradcli.runner.tuples import Named
from gradcli.runner.values import PYTHONS, DType, Tensor, as_dtype, category


def dtype_name(run: Run, dtype: Any, library: str = "torch") -> str | None:
    """Return the name of a type of numbers, however it is given; None for none."""
    if dtype is None:
        return None
    if isinstance(dtype, DType):
        return dtype.name
    if isinstance(dtype, Class):
        return PYTHONS.get(dtype.name)
    if isinstance(dtype, str):
        return (PYTHONS | {"float_": "float64", "f4": "float32", "f8": "float64"}).get(dtype, dtype)
    return run.fail("TypeError", "this is not a dtype")  # type: ignore[no-any-return]


def shape_of_list(data: Any) -> tuple[int, ...]:
    """Return the shape of nested lists by their first items."""
    shape: tuple[int, ...] = ()
    while isinstance(data, list | tuple | range):
        shape = (*shape, len(data))
        if len(shape) > MOST_AXES:
            raise too_many_axes(len(shape))
        if not len(data):
            break
        data = data[0]
    return shape


def flat_items(run: Run, data: Any, shape: tuple[int, ...], into: list[Any], torch: bool) -> None:
    """Gather the numbers of nested lists; raises ValueError for ragged ones."""
    if isinstance(data, list | tuple | range):
        if not shape or len(data) != shape[0]:
            if torch:
                at = len(data)
                run.fail("ValueError", f"expected sequence of length {shape[0] if shape else 0} at dim 1 (got {at})")
            run.fail(
                "ValueError", "setting an array element with a sequence. The requested array has an inhomogeneous shape"
            )
        for item in data:
            flat_items(run, item, shape[1:], into, torch)
        return
    into.append(data)


def array_of_numbers(run: Run, items: list[Any], shape: Any, library: str, dtype: str | None) -> Tensor:
    """Return plain numbers as one array of a library, in a shape; raises what the library does for other values."""
    bad = next((item for item in items if type(item) not in PLAIN), None)
    if bad is not None:
        bad_entry(run, bad, library)
    array = np.array(items, dtype=None if items else np.float64).reshape(shape)
    if array.dtype == object:
        run.fail("RuntimeError" if library == "torch" else "OverflowError", "Overflow when unpacking long")
    return run.make(array, dtype, library)


def array_of(  # noqa: C901 - one case for each kind of what holds numbers
    run: Run, data: Any, library: str, dtype: str | None = None
) -> Tensor:
    """Return nested lists of numbers and arrays as one array of a library; derivatives flow through NumPy's."""
    if isinstance(data, Tensor):
        return data
    if (made := ask(run, data, "__array__")) is not UNBOUND:
        return made  # type: ignore[no-any-return]
    if isinstance(data, dict | set) or type(data) is Foreign:
        bad_entry(run, data, library)
    if not isinstance(data, list | tuple | range):
        from gradcli.runner.containers import take

        if type(data) is int:
            return array_of_numbers(run, [data], (), library, dtype)
        if type(data) in PLAIN:
            return run.make(np.asarray(data), dtype, library)
        data = take(run, data) if not isinstance(data, str) and data is not None else bad_entry(run, data, library)
    items: list[Any] = []
    shape = shape_of_list(data)
    run.meter.charge(math.prod(shape))
    flat_items(run, data, shape, items, library == "torch")
    tensors = [item for item in items if isinstance(item, Tensor)]
    if not tensors:
        return array_of_numbers(run, items, shape, library, dtype)
    if library == "torch" and not (run.held.through and any(t.active for t in tensors)):
        if any(t.shape and np.size(t.value) != 1 for t in tensors):
            run.fail("ValueError", "only one element tensors can be converted to Python scalars")
        numbers = [np.ravel(np.asarray(i.value))[0] if isinstance(i, Tensor) else i for i in items]
        kind = together(run, items, "torch") if dtype is None else dtype
        return run.make(np.array(numbers).reshape(shape), kind, library)
    kind = dtype or together(run, items, library)
    if any(type(t.node) in NODES for t in tensors) or any(t.value.dtype == object for t in tensors):
        parts = [i.node if isinstance(i, Tensor) else np.asarray(float(i)) for i in items]
        made = run.f(STACK, *parts, dim=0)
        whole = Tensor(made, kind, library)
        inner = tensors[0].shape
        return run.function("reshape", whole, *shape, *inner) if len(shape) > 1 else whole
    try:
        array = np.array([np.asarray(i.value) if isinstance(i, Tensor) else i for i in items])
    except ValueError as error:
        return run.fail("ValueError", str(error))  # type: ignore[no-any-return]
    return Tensor(as_dtype(array.reshape(shape + array.shape[1:]), kind), kind, library)


def bad_entry(run: Run, item: Any, library: str) -> Any:
    """Raise the exception for what is no number."""
    if isinstance(item, Foreign):
        what = f"'{item.name}' is not part of gradcli, and its numbers are needed here"
        raise run.refuse(what, hint="write the numbers into the script")
    if isinstance(item, str):
        if library == "torch":
            run.fail("TypeError", f"new(): invalid data type '{run.type_name(item)}'")
        raise run.refuse("arrays of texts are not part of gradcli")
    if library == "torch":
        run.fail("RuntimeError", f"Could not infer dtype of {run.type_name(item)}")
    raise run.refuse(f"arrays of {run.type_name(item)} are not part of gradcli")


def cast(run: Run, x: Tensor, dtype: str) -> Tensor:
    """Return a tensor as another type of numbers: itself where it has that type; derivatives flow between floats."""
    if x.dtype == dtype:
        return x
    if category(dtype) == 2 and type(x.node) in NODES and category(x.dtype) == 2:
        from gradcli.ops.shaping import CLONE

        return Tensor(run.f(CLONE, x.node), dtype, x.library, "_to_copy")
    return Tensor(as_dtype(np.asarray(x.value), dtype), dtype, x.library)


def cast_call(run: Run, dtype: DType, data: Any = 0) -> Any:
    """Do what ``np.float64(x)`` does."""
    if isinstance(data, Tensor):
        return cast(run, data, dtype.name)
    if isinstance(data, str):
        data = run.call(run.builtin("float"), [data])
    return array_of(run, data, "numpy" if dtype.library != "jax" else "jax", dtype.name)


def named_results(function: str, parts: dict[str, Any]) -> Named:
    """Return several results of a function that have names too."""
    return Named(f"torch.return_types.{function.rpartition('.')[2]}", parts)
