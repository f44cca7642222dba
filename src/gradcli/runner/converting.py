"""Arrays made of Python's values, and what several results of one function are called.

Between a script and gradcli's table: arguments as a function takes them, and its results as values of a script.
"""

from __future__ import annotations

import ast
import math
from functools import cache
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES
from gradcli.errors import GradcliError
from gradcli.language.calling import caller
from gradcli.language.calls import DTYPE, Parameter, parameters
from gradcli.language.calls import Bound as BoundArgument
from gradcli.language.misread import keyword_name
from gradcli.ops import Function, Pair, Parts
from gradcli.ops.declare import value_of
from gradcli.ops.joining import STACK
from gradcli.ops.making import DETACH
from gradcli.ops.shaping import MOST_AXES, too_many_axes
from gradcli.runner.python.operators import PLAIN, together, wrap_result
from gradcli.runner.state import Fused, Run, shares, show
from gradcli.runner.values import (
    PYTHONS,
    UNBOUND,
    Class,
    DType,
    Foreign,
    Frame,
    Named,
    Size,
    Tensor,
    View,
    as_dtype,
    ask,
    category,
    kind_of,
)


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
    if not isinstance(data, list | tuple | range):
        into.append(data)
        return
    if not shape or len(data) != shape[0]:
        ragged = "setting an array element with a sequence. The requested array has an inhomogeneous shape"
        expected = f"expected sequence of length {shape[0] if shape else 0} at dim 1 (got {len(data)})"
        run.fail("ValueError", expected if torch else ragged)
    for item in data:
        flat_items(run, item, shape[1:], into, torch)


def array_of_numbers(run: Run, items: list[Any], shape: Any, library: str, dtype: str | None) -> Tensor:
    """Return plain numbers as one array of a library, in a shape; raises what the library does for other values."""
    for item in items:
        if type(item) not in PLAIN:
            bad_entry(run, item, library)
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
        from gradcli.runner.python.containers import take

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
    of_numpy = any(t.library == "numpy" and t.shape for t in tensors)
    if library == "torch" and not of_numpy and not (run.held.through and any(t.active for t in tensors)):
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
        raise item.needed()
    if isinstance(item, str):
        if library == "torch":
            run.fail("TypeError", f"new(): invalid data type '{run.type_name(item)}'")
        raise run.refuse("arrays of texts are not part of gradcli")
    if library == "torch":
        run.fail("RuntimeError", f"Could not infer dtype of {run.type_name(item)}")
    raise run.refuse(f"arrays of {run.type_name(item)} are not part of gradcli")


def remember_call(run: Run, made: Any, called: Fused) -> None:
    """Keep with the nodes that a call made what was called."""
    for one in made if isinstance(made, tuple) else (made,):
        if isinstance(one, Tensor) and one.active and one.node.index >= called.first:
            run.fused[one.node] = called


def cast(run: Run, x: Tensor, dtype: str) -> Tensor:
    """Return a tensor as another type of numbers: itself where it has that type; derivatives flow between floats."""
    if x.dtype == dtype:
        return x
    if category(dtype) == 2 and type(x.node) in NODES and category(x.dtype) == 2:
        from gradcli.ops.shaping import CLONE

        first, made = run.count, Tensor(run.f(CLONE, x.node), dtype, x.library, "_to_copy")
        remember_call(run, made, Fused(first, "_to_copy", [x.node]))
        return made
    return Tensor(as_dtype(np.asarray(x.value), dtype), dtype, x.library)


def cast_call(run: Run, dtype: DType, data: Any = 0) -> Any:
    """Do what ``np.float64(x)`` or ``jnp.float32(x)`` does."""
    if dtype.library == "jax":
        return run.call(run.member("jax.numpy.array"), [data, dtype])
    if isinstance(data, Tensor):
        return cast(run, data, dtype.name)
    if isinstance(data, str):
        data = run.call(run.builtin("float"), [data])
    return array_of(run, data, "numpy", dtype.name)


def named_results(function: str, parts: dict[str, Any]) -> Named:
    """Return several results of a function that have names too."""
    return Named(f"torch.return_types.{function.rpartition('.')[2]}", parts)


# ---- between a script and gradcli's table


def convert(run: Run, parameter: Parameter, value: Any, tensors: list[Any], library: str) -> Any:
    """Return an argument as the table takes it; the tensors among them are noted."""
    if isinstance(value, Tensor):
        if parameter.kind.startswith("Static") and (
            parameter.rest or (parameter.kind != "Static | Tensor" and parameter.name != "dtype")
        ):
            array = np.asarray(value.value)
            return tuple(array.tolist()) if array.ndim else array[()] if array.dtype.kind in "fO" else array.item()
        tensors.append(value)
        return value.node if type(value.node) in NODES else np.asarray(value.node)
    if type(value) is float:
        return np.float64(value)
    if isinstance(value, DType):
        return value.name
    if isinstance(value, Class) and value.name in PYTHONS:
        return PYTHONS[value.name]
    if isinstance(value, list | tuple | range):
        return convert_list(run, parameter, value, tensors, library)
    if isinstance(value, Pair):
        return value.values
    return value


def convert_list(run: Run, parameter: Parameter, value: Any, tensors: list[Any], library: str) -> Any:
    """Return a list as the table takes it: several arrays, plain values, or one array."""
    takes_one = "Tensor" in parameter.kind and not parameter.takes_arrays and parameter.kind != "Tensors"
    if parameter.kind.startswith("Static") and (not takes_one or all(type(v) is int for v in value)):
        return tuple([convert(run, parameter, item, tensors, library) for item in value])
    if takes_one or parameter.kind == "Raw":
        if takes_one and library == "torch" and parameter.kind == "Tensor":
            run.fail("TypeError", f"argument '{parameter.name}' must be Tensor, not {run.type_name(value)}")
        return as_array(run, value, tensors, "numpy")
    return tuple([as_array(run, item, tensors, library) for item in value])


def as_array(run: Run, item: Any, tensors: list[Any], library: str) -> Any:
    """Return one of several arrays."""
    if isinstance(item, Tensor):
        tensors.append(item)
        return item.node
    if library == "torch":
        run.fail("TypeError", f"expected Tensor as element 0 in argument 0, but got {run.type_name(item)}")
    made = array_of(run, item, "numpy")
    tensors.append(made)
    return made.node


PLACE = ast.Constant(0)


def by_position(
    function: Function, expected: dict[str, Parameter], count: int
) -> tuple[dict[str, list[int]], list[Parameter]]:
    """Return the registers that parameters take of so many arguments without names, and whose each argument is."""
    by_parameter: dict[str, list[int]] = {}
    order: list[Parameter] = []
    left = list(range(1, count + 1))
    for parameter in expected.values():
        if parameter.rest:
            by_parameter[parameter.name], left = left, []
            order += [parameter] * len(by_parameter[parameter.name])
        elif left and not parameter.by_name:
            by_parameter[parameter.name] = [left.pop(0)]
            order.append(parameter)
    if left:
        raise GradcliError(
            "arguments", f"{function.name}() takes {len(order)} positional arguments but {count} were given"
        )
    return by_parameter, order


@cache
def bound_call(function: Function, library: str, count: int, names: tuple[str, ...]) -> tuple[Any, list[Parameter]]:
    """Return what calls a function with so many arguments and these names, from registers 1 on, and their parameters.

    Raises ``arguments`` for too many, too few or unknown ones.
    """
    expected = {p.name: p for p in parameters(function)}
    by_parameter, order = by_position(function, expected, count)
    dtype: int | None = None
    for register, name in enumerate(names, count + 1):
        if name == "dtype" and function.typed and "dtype" not in expected:
            dtype = register
            order.append(DTYPE)
            continue
        meant = name if name in expected else keyword_name(name, expected, by_parameter)
        if meant is None or (by_parameter.get(meant) and not expected[meant].rest):
            raise GradcliError("arguments", f"{function.name}() got an unexpected keyword argument '{name}'")
        by_parameter[meant] = [register]
        order.append(expected[meant])
    missing = [p.name for p in expected.values() if p.required and not p.rest and p.name not in by_parameter]
    if missing:
        raise GradcliError("arguments", f"{function.name}() missing required argument: '{missing[0]}'")
    bounds = [
        BoundArgument(expected[name], (PLACE,) * len(r), several=expected[name].rest)
        for name, r in by_parameter.items()
        if r
    ]
    registers = [r for r in by_parameter.values() if r]
    written = function.name
    if dtype is None:
        return caller(function, bounds, library, written, registers), order
    if function.family == "making":
        return caller(
            function, [*bounds, BoundArgument(DTYPE, (PLACE,), several=False)], library, written, [*registers, [dtype]]
        ), order
    plain_call = caller(function, bounds, library, written, registers)
    first = registers[0][0]

    def typed(regs: Frame) -> Any:
        from gradcli.ops.further.casting import as_type

        regs[first] = as_type(regs[0], regs[first], regs[dtype])
        return plain_call(regs)

    return typed, order


def wrap(
    run: Run, made: Any, dtype: str, library: str, made_by: Any, tensors: list[Any], call: Any = None,
    part: int | None = None,
) -> Any:  # fmt: skip
    """Return a result of the table as values of a script.

    ``call`` is what was called with which values, to be called again for what shows memory, and ``part`` one of several
    results.
    """
    if isinstance(made, Pair):
        values = wrap(run, made.values, dtype, library, made_by, tensors)
        indices = Tensor(np.asarray(value_of(made.indices)), "int64", library)
        return named_results(made_by[0], {"values": values, "indices": indices})
    if isinstance(made, Parts):
        parts = {name: wrap(run, made[k], dtype, library, made_by, []) for k, name in enumerate(made.names)}
        return named_results(made_by[0], parts)
    if isinstance(made, tuple):
        if all(type(item) is int for item in made):
            return Size(made)
        several = []
        for k, one in enumerate(made):
            item = wrap(run, one, own_dtype(one, dtype), library, made_by, tensors, call, k)
            if isinstance(item, View) and not made_by[0].endswith(SLICING):
                item.part = k
            several.append(item)
        return tuple(several)
    if made is None or type(made) in (int, str, bool):
        return made
    result = wrap_result(run, made, dtype, library, made_by)
    base = shown_base(made, tensors) if isinstance(result, Tensor) else None
    if base is not None:
        return as_view_of(run, base, result, made, call, part)
    return result


def own_dtype(item: Any, dtype: str) -> str:
    """Return the type of one of several results: integers and truth values beside floats stay what they are."""
    kind = kind_of(value_of(item)) if isinstance(value_of(item), np.ndarray) else "f"
    return dtype if kind == "f" or category(dtype) < 2 else "bool" if kind == "b" else "int64"


SLICING = ("tensor_split", "hsplit", "vsplit", "dsplit", "broadcast_tensors", "meshgrid")
"""Functions that give several views one by one: each may be written to."""


def shown_base(made: Any, tensors: list[Any]) -> Tensor | None:
    """Return the tensor whose memory a result shows, None for new memory."""
    value = value_of(made)
    if type(made) in NODES:
        own = next((t for t in tensors if t.node is made), None)
        seen = without_detach(made)
        if own is not None or not (seen.op is not None and seen.op.entries.view) or seen.op.flat:
            return own
        return next((t for t in tensors if t.node is seen.arguments[0]), None)
    if not isinstance(value, np.ndarray):
        return None
    return next((t for t in tensors if isinstance(t.value, np.ndarray) and np.may_share_memory(value, t.value)), None)


def without_detach(node: Any) -> Any:
    """Return a node as it was before it was detached, which it is while gradients are off."""
    return node.arguments[0] if node.op is DETACH and type(node.arguments[0]) in NODES else node


def as_view_of(run: Run, base: Tensor, result: Tensor, made: Any, call: Any, part: int | None) -> Tensor:
    """Return a result as a view of a tensor, where the function shows memory: it is called again after a write."""
    f = run.f
    if made is base.node:
        return show(base, lambda node: node, made, result.dtype, result.made_by)
    if type(made) in NODES:
        seen = without_detach(made)
        op, static = seen.op, seen.static
        lifted = seen.value.dtype == object != base.value.dtype  # a copy of doubles as exact numbers
        if not lifted and not shares(seen.value, base.value):
            return result
        return show(base, lambda node: f(op, node, **static), made, result.dtype, result.made_by)
    if call is None:
        return result
    bound, values = call
    arrays = [value_of(value) if type(value) in NODES else value for value in values]
    shows = (k for k, value in enumerate(arrays) if isinstance(value, np.ndarray) and np.may_share_memory(value, made))
    place = next(shows, None)
    if place is None:
        return result

    def look(node: Any) -> Any:
        shown = bound([f, *values[:place], node, *values[place + 1 :]])
        return shown if part is None else shown[part]

    return show(base, look, made, result.dtype, result.made_by)
