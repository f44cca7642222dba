"""Between a script and gradcli's table: arguments as a function takes them, and its results as values of a script."""

from __future__ import annotations

import ast
from functools import cache
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES
from gradcli.errors import GradcliError
from gradcli.language.calling import caller
from gradcli.language.calls import DTYPE, Parameter, parameters
from gradcli.language.calls import Bound as BoundArgument
from gradcli.language.keywords import keyword_name
from gradcli.ops import Function, Pair, Parts
from gradcli.ops.declare import value_of
from gradcli.ops.making import DETACH
from gradcli.runner.arrays import array_of, named_results
from gradcli.runner.objects import Class, Frame
from gradcli.runner.operators import wrap_result
from gradcli.runner.state import Run, shares, show
from gradcli.runner.values import PYTHONS, DType, Size, Tensor, View, category, kind_of


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
    function: Function, known: dict[str, Parameter], count: int
) -> tuple[dict[str, list[int]], list[Parameter]]:
    """Return the registers that parameters take of so many arguments without names, and whose each argument is."""
    by_parameter: dict[str, list[int]] = {}
    order: list[Parameter] = []
    left = list(range(1, count + 1))
    for parameter in known.values():
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
    known = {p.name: p for p in parameters(function)}
    by_parameter, order = by_position(function, known, count)
    dtype: int | None = None
    for register, name in enumerate(names, count + 1):
        if name == "dtype" and function.typed and "dtype" not in known:
            dtype = register
            order.append(DTYPE)
            continue
        meant = name if name in known else keyword_name(name, known, by_parameter)
        if meant is None or (by_parameter.get(meant) and not known[meant].rest):
            raise GradcliError("arguments", f"{function.name}() got an unexpected keyword argument '{name}'")
        by_parameter[meant] = [register]
        order.append(known[meant])
    missing = [p.name for p in known.values() if p.required and not p.rest and p.name not in by_parameter]
    if missing:
        raise GradcliError("arguments", f"{function.name}() missing required argument: '{missing[0]}'")
    bounds = [
        BoundArgument(known[name], (PLACE,) * len(r), several=known[name].rest) for name, r in by_parameter.items() if r
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
    run: Run,
    made: Any,
    dtype: str,
    library: str,
    made_by: Any,
    tensors: list[Any],
    call: Any = None,
    part: int | None = None,
) -> Any:
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
        several = tuple(
            [wrap(run, item, own_dtype(item, dtype), library, made_by, tensors, call, k) for k, item in enumerate(made)]
        )
        for k, item in enumerate(several):
            if isinstance(item, View) and not made_by[0].endswith(SLICING):
                item.part = k
        return several
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
        if own is not None or not (seen.op is not None and seen.op.view) or seen.op.flat:
            return own
        return next((t for t in tensors if t.node is seen.arguments[0]), None)
    if not isinstance(value, np.ndarray):
        return None
    return next((t for t in tensors if isinstance(t.value, np.ndarray) and np.may_share_memory(value, t.value)), None)


def without_detach(node: Any) -> Any:
    """Return a node as it was before it was held, which it is while gradients are off."""
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
