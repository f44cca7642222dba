"""Arrays of NumPy through which no derivative flows: NumPy itself computes with them, in their own types.

So types, overflow, shapes and errors are NumPy's. An array that is differentiated is a node of the graph, and goes
through gradcli's table.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES
from gradcli.engine.meter import LARGE
from gradcli.ops import OPERATORS
from gradcli.ops.indexing import INDEX
from gradcli.runner.exceptions import TREE
from gradcli.runner.numpy_sizes import picked, work
from gradcli.runner.objects import UNBOUND, Class, ask
from gradcli.runner.state import look_at, show
from gradcli.runner.tuples import Named
from gradcli.runner.values import INTEGERS, DType, Tensor, extra_of

DOUBLES = ("float64", "int64", "bool")
"""Types that are kept as they are: others are kept in doubles, or in the longest integers."""
TYPES = {"float16", "float32", "float64", "bool", *INTEGERS}
METHODS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift",
}  # fmt: skip
"""What Python calls operators, without the underscores of their methods."""
COMPARED = {
    "<": ("lt", "gt"), "<=": ("le", "ge"), ">": ("gt", "lt"), ">=": ("ge", "le"), "==": ("eq", "eq"),
    "!=": ("ne", "ne"),
}  # fmt: skip
"""What it calls comparisons, and these with their sides exchanged."""
BY_SIGN: dict[str, Callable[[Any, Any], Any]] = {
    sign: getattr(operator, f"__{word}__")
    for sign, word in {**METHODS, **{sign: words[0] for sign, words in COMPARED.items()}}.items()
}
"""What Python's operators do, by their signs."""


class Key:
    """A number of NumPy's as a key: equal to Python's, and shown as NumPy's."""

    dtype = ""
    real: Any

    def shown(self, _quoted: Any) -> str:
        """Return how it is shown."""
        return f"np.{self.dtype}({self.real})"


class WholeKey(Key, int):
    """An integer."""


class FloatKey(Key, float):
    """A float."""


def key_number(x: Tensor) -> Any:
    """Return a single number of NumPy's as a key of a dictionary or a set."""
    one = np.asarray(x.value).reshape(())[()].item()
    if x.dtype == "bool":
        return one
    made: Key = WholeKey(one) if isinstance(one, int) else FloatKey(one)
    made.dtype = x.dtype
    return made


def flows(x: Any) -> bool:
    """Return whether a value is one that the table has to compute with: a node, or a number of many digits."""
    if not isinstance(x, Tensor):
        return False
    node = x.node
    return type(node) in NODES or getattr(getattr(node, "dtype", None), "char", "") == "O"


def plain_array(x: Any) -> bool:
    """Return whether a value is an array of NumPy's through which nothing flows."""
    return isinstance(x, Tensor) and x.library == "numpy" and not flows(x)


def real(x: Tensor) -> Any:
    """Return a tensor as an array of NumPy's of its own type; one number as NumPy's own scalar."""
    array = np.asarray(x.value)
    if x.dtype not in DOUBLES:
        array = array.astype("float32" if x.dtype == "bfloat16" else x.dtype)
    if array.ndim or (x.extra is not None and x.extra.several):
        return array
    return array[()]


def type_of(made: Any) -> str | None:
    """Return the name of the type of numbers, None for one that gradcli does not have."""
    name = made.dtype.name
    if name in ("uint16", "uint32", "uint64"):
        return "int64"
    return name if name in TYPES else None


def from_real(run: Any, made: Any, several: bool = False) -> Any:
    """Return what NumPy gives as values of a script."""
    if isinstance(made, np.ndarray | np.generic):
        return tensor_of(run, made, several)
    if isinstance(made, np.dtype):
        return DType(made.name, "array")
    if isinstance(made, tuple) and hasattr(made, "_fields"):
        parts = [from_real(run, item) for item in made]
        return Named(type(made).__name__, dict(zip(made._fields, parts, strict=True)))
    if isinstance(made, tuple | list):
        return type(made)([from_real(run, item) for item in made])
    if isinstance(made, dict):
        return {key: from_real(run, item) for key, item in made.items()}
    return other_type(run, np.asarray(made)) if isinstance(made, complex) else made


def tensor_of(run: Any, made: Any, several: bool) -> Any:
    """Return an array of NumPy's, or one number, as a tensor."""
    name = type_of(made)
    if name is None:
        return other_type(run, made)
    run.meter.elements += made.size
    if made.size > run.meter.budget.elements:
        run.meter.charge(made.size)
    array = back(np.asarray(made))
    if made.size >= LARGE:
        run.meter.hold(array)
    x = Tensor(array, name, "numpy")
    if not made.ndim and (several or isinstance(made, np.ndarray)):
        extra_of(x).several = True
    return x


def other_type(run: Any, made: Any) -> Any:
    """Return texts as Python has them; refuse complex numbers and objects."""
    if made.dtype.kind == "U":
        return made.tolist() if isinstance(made, np.ndarray) else str(made)
    what = {"c": "complex numbers", "O": "arrays of objects", "S": "arrays of bytes"}.get(
        made.dtype.kind, f"arrays of {made.dtype}"
    )
    raise run.refuse(f"{what} are not part of gradcli")


def refuse_active(run: Any, x: Tensor) -> None:
    """Raise what PyTorch raises where a tensor that is differentiated is to be an array of NumPy's."""
    if x.active:
        text = "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        run.fail("RuntimeError", text)


def to_real(run: Any, x: Any) -> Any:  # noqa: C901, PLR0911, PLR0912 - one case for each kind of value
    """Return a value of a script as NumPy takes it; raises what PyTorch raises for a tensor that is differentiated."""
    kind = type(x)
    if kind in (int, float, bool, str) or x is None:
        return x
    if isinstance(x, Tensor):
        if x.library == "torch":
            refuse_active(run, x)
        if x.library == "python":
            return float(x.value)
        made = real(x)
        if (
            isinstance(made, np.ndarray) and made.dtype.kind == "O"
        ):  # of many digits NumPy takes doubles: no derivative flows here
            made = np.asarray(made, dtype=np.float64)
        return np.asarray(made) if x.library == "torch" else made
    if kind in (list, tuple):
        run.meter.turn(1, "the lists in a list do not end")
        return kind([to_real(run, item) for item in x])
    if isinstance(x, list | tuple):
        return [to_real(run, item) for item in x] if isinstance(x, list) else tuple([to_real(run, item) for item in x])
    if isinstance(x, DType):
        return np.dtype(x.name)
    if isinstance(x, slice):
        return slice(*[to_real(run, part) for part in (x.start, x.stop, x.step)])
    if isinstance(x, range) or x is Ellipsis:
        return x
    if isinstance(x, Class):
        host = {"float": float, "int": int, "bool": bool, "str": str, "object": object}.get(x.name)
        if host is not None:
            return host
    for name in ("__array__", "__float__"):
        if (made := ask(run, x, name)) is not UNBOUND:
            return to_real(run, made)
    if (
        isinstance(x, set | frozenset | dict)
        or hasattr(type(x), "__next__")
        or type(x) in (type({}.keys()), type({}.values()))
    ):
        return to_real(run, run.take(x))
    raise run.refuse(f"NumPy with {run.type_name(x)} is not part of gradcli")


def by_numpy(run: Any, work: Callable[[], Any]) -> Any:
    """Return what NumPy gives, with its errors as exceptions of the script."""
    try:
        with np.errstate(all="ignore"):
            return work()
    except (ValueError, TypeError, IndexError, ZeroDivisionError, OverflowError, KeyError, AttributeError) as error:
        kind = next((k.__name__ for k in type(error).__mro__ if k.__name__ in TREE), "ValueError")
        return run.fail(kind, str(error) if kind != "KeyError" else error.args[0])
    except MemoryError as error:
        raise run.refuse(f"NumPy has too little memory: {error}") from None


def operated(run: Any, sign: str, a: Any, b: Any) -> Any:
    """Return an operator of arrays through which nothing flows."""
    x, y = to_real(run, a), to_real(run, b)
    charge_broadcast(run, (x, y), product=sign == "@")
    if sign == "@":
        run.meter.spend(work("matmul", [x, y], {}))
    made = from_real(run, by_numpy(run, lambda: BY_SIGN[sign](x, y)))
    if run.graph.origins is not None and isinstance(made, Tensor) and (sign, 2) in OPERATORS:
        sides = tuple([side.node if isinstance(side, Tensor) else side for side in (a, b)])
        run.graph.note_origin(made.node, OPERATORS[sign, 2], sides, {})
    return made


def charge_broadcast(run: Any, parts: Any, product: bool = False) -> None:
    """Refuse a result that would be too large."""
    shapes = [part.shape for part in parts if isinstance(part, np.ndarray)]
    if len(shapes) < 2 or shapes[0] == shapes[1]:
        return
    if product:
        shapes = [shape[:-1] if k == 0 else (shape[-1:] if len(shape) > 1 else ()) for k, shape in enumerate(shapes)]
        run.meter.charge(int(np.prod([n for shape in shapes for n in shape], dtype=object) or 1))
        return
    try:
        run.meter.charge(int(np.prod(np.broadcast_shapes(*shapes), dtype=object)))
    except ValueError:
        return


def in_place(run: Any, sign: str, target: Tensor, change: Any) -> None:
    """Do an augmented assignment of an array: raises where NumPy refuses to cast the result."""
    array, y = np.array(real(target)), to_real(run, change)
    by_numpy(run, lambda: getattr(operator, f"__i{METHODS[sign]}__")(array, y))
    run.write(target, back(array))


def back(array: Any) -> Any:
    """Return an array of NumPy's as a tensor keeps it."""
    if array.dtype.name in DOUBLES:
        return array
    return array.astype(np.float64 if array.dtype.kind == "f" else np.int64)


def key_of(run: Any, key: Any) -> Any:
    """Return an index as NumPy takes it."""
    return tuple([to_real(run, part) for part in key]) if type(key) is tuple else to_real(run, key)


def entry(run: Any, x: Tensor, key: Any) -> Any:
    """Return ``x[key]``: a view where NumPy gives one."""
    array, place = real(x), key_of(run, key)
    run.meter.charge(picked(array, place))
    made = by_numpy(run, lambda: array[place])
    if (
        isinstance(made, np.ndarray)
        and made.size
        and isinstance(array, np.ndarray)
        and np.may_share_memory(made, array)
    ):
        entries = as_view(run, x, made, np.arange(array.size).reshape(array.shape)[place])
    else:
        entries = from_real(run, made)
    if isinstance(entries, Tensor):
        run.graph.note_origin(entries.node, INDEX, (x.node,), {"key": place})
    return entries


def as_view(run: Any, base: Tensor, made: Any, places: Any) -> Tensor:
    """Return a part of an array that shares its memory: entries at these places."""
    return show(base, lambda node: look_at(run.f, node, places), back(made), base.dtype)


def put_entry(run: Any, x: Tensor, key: Any, value: Any) -> None:
    """Do ``x[key] = value``, as NumPy casts and broadcasts."""
    array, place, change = np.array(real(x)), key_of(run, key), to_real(run, value)
    by_numpy(run, lambda: array.__setitem__(place, change))
    run.write(x, back(array))
