"""Methods and attributes of NumPy's arrays that are not those of the table."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.runner import tensor_attributes
from gradcli.runner.converting import cast, dtype_name
from gradcli.runner.libraries.numpy_arrays import METHODS, NumpyFunction
from gradcli.runner.library import READERS, TABLE
from gradcli.runner.numpy_values import back, by_numpy, flows, from_real, real
from gradcli.runner.python.containers import put
from gradcli.runner.python.operators import rearrange
from gradcli.runner.state import Run, look_at, show
from gradcli.runner.values import UNBOUND, Tensor


# ---- methods of arrays
def method_function(name: str) -> Any:
    """Return a method of arrays that is a function too."""
    function = TABLE.get(f"numpy.{name}") or NumpyFunction(name)
    shaped = name in ("reshape", "transpose")

    def run_it(run: Run, x: Tensor, *arguments: Any, **named: Any) -> Any:
        if shaped and arguments and not (len(arguments) == 1 and isinstance(arguments[0], tuple | list)):
            arguments = (tuple(arguments),) if arguments != (None,) else ()
        return function(run, x, *arguments, **named)

    run_it.__name__ = name
    return run_it


ARRAY_METHODS: dict[str, Any] = {name: method_function(name) for name in METHODS} | {"tolist": tensor_attributes.tolist}


def ordered(run: Run, x: Tensor, axis: int, sorting: Any, change: Any) -> None:
    """Bring the entries of an array into another order in place; ``sorting`` gives the order itself."""
    if flows(x):
        order = by_numpy(run, lambda: sorting(np.asarray(real(x))))
        rearrange(run, x, run.function("np.take_along_axis", x, from_real(run, order), axis))
        return
    array = np.array(real(x))
    by_numpy(run, lambda: change(array))
    run.write(x, back(array))


def astype(run: Run, x: Tensor, dtype: Any, *_: Any, **__: Any) -> Any:
    """Return an array as another type of numbers: always a new one."""
    name = dtype_name(run, dtype)
    if flows(x):
        return run.function("clone", x) if name in (None, x.dtype) else cast(run, x, name or x.dtype)
    return from_real(
        run, by_numpy(run, lambda: np.asarray(real(x)).astype(name)), several=bool(x.extra and x.extra.several)
    )


def flattened(run: Run, x: Tensor, order: str = "C") -> Any:
    """Return the entries as one new row."""
    if flows(x) and order == "C":
        return run.function("clone", run.function("np.ravel", x))
    made = TABLE["numpy.ravel"](run, x, order)
    return from_real(run, np.array(real(made)))


def copied(run: Run, x: Tensor, order: str = "C") -> Any:
    """Return a copy."""
    return run.function("clone", x) if flows(x) else from_real(run, np.array(real(x)))


ARRAY_METHODS |= {
    "astype": astype,
    "flatten": flattened,
    "copy": copied,
    "sort": lambda run, x, axis=-1, kind=None, order=None: ordered(
        run, x, axis, lambda a: a.argsort(axis, "stable"), lambda a: a.sort(axis=axis)
    ),
    "partition": lambda run, x, kth, axis=-1: ordered(
        run, x, axis, lambda a: a.argpartition(kth, axis), lambda a: a.partition(kth, axis)
    ),
    "put": lambda run, x, places, values, mode="raise": TABLE["numpy.put"](run, x, places, values),
    "view": lambda run, x, dtype=None, *_: (
        show(x, lambda node: node, x.node, x.dtype) if dtype is None else no_view(run)
    ),
    "tobytes": lambda run, x, *_: no_bytes(run),
    "tofile": lambda run, x, *_: no_bytes(run),
    "dumps": lambda run, x: no_bytes(run),
    "item": lambda run, x, *place: item(run, x, place),
    "compress": lambda run, x, condition, axis=None: TABLE["numpy.compress"](run, condition, x, axis=axis),
    "setflags": lambda run, x, **_: None,
    "is_integer": lambda run, x: float(x.value).is_integer(),
    "__array__": lambda run, x, *_: x,
    "__copy__": copied,
    "__deepcopy__": lambda run, x, memo=None: copied(run, x),
    "__len__": lambda run, x: run.call(run.builtin("len"), [x]),
}


def filled(run: Run, x: Tensor, value: Any) -> None:
    """Write one number everywhere."""
    put(run, x, ..., value)


ARRAY_METHODS["fill"] = filled


def item(run: Run, x: Tensor, place: tuple[Any, ...]) -> Any:
    """Return one number as Python has it."""
    from gradcli.runner.python.builtins import item_of
    from gradcli.runner.python.containers import subscript

    if place:
        key = place[0] if len(place) == 1 else place
        x = subscript(run, TABLE["numpy.ravel"](run, x) if isinstance(key, int) else x, key)
    if np.size(x.value) != 1:
        run.fail("ValueError", "can only convert an array of size 1 to a Python scalar")
    return item_of(run, x)


def no_bytes(run: Run) -> Any:
    """Refuse the bytes of an array."""
    raise run.refuse("the bytes of an array are not part of gradcli")


def no_view(run: Run) -> Any:
    """Refuse to read the bytes of an array as another type."""
    raise run.refuse("an array's bytes as another type are not part of gradcli")


ARRAY_ATTRIBUTES: dict[str, Any] = {
    "T": lambda run, x: TABLE["numpy.transpose"](run, x) if len(x.shape) > 1 else x,
    "flat": lambda run, x: flat(run, x),  # noqa: PLW0108 - it stands below
    "data": lambda run, x: show(x, lambda node: node, x.node, x.dtype),
    "base": lambda run, x: x.base, "imag": TABLE["numpy.imag"],
    "strides": lambda run, x: np.asarray(real(x)).strides,
    "flags": lambda run, x: str(np.asarray(real(x)).flags),
}  # fmt: skip


def flat(run: Run, x: Tensor) -> Tensor:
    """Return the entries of an array one after the other, in its memory."""
    places = np.arange(np.size(x.value))

    def look(node: Any) -> Any:
        return look_at(run.f, node, places)

    return show(x, look, look(x.node), x.dtype)


def array_attribute(run: Run, x: Tensor, name: str) -> Any:
    """Return an attribute of an array; UNBOUND where NumPy's arrays have none of this name that is told apart."""
    method = ARRAY_METHODS.get(name)
    if method is not None:
        return lambda run, *arguments, **named: method(run, x, *arguments, **named)
    read = ARRAY_ATTRIBUTES.get(name)
    if read is not None:
        return read(run, x)
    return UNBOUND


READERS["numpy"] = array_attribute
