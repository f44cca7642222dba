"""What a value is an instance of."""

from __future__ import annotations

from typing import Any

from gradcli.runner import builtins as b
from gradcli.runner.objects import UNBOUND, Class, Foreign, Instance
from gradcli.runner.state import Run
from gradcli.runner.values import DType, Tensor

ABSTRACT = {
    "Number": ("int", "float", "bool"), "Real": ("int", "float", "bool"), "Integral": ("int", "bool"),
    "Sequence": ("list", "tuple", "str", "range", "Size"), "Iterable": ("list", "tuple", "str", "range", "dict", "set", "generator"),
    "Mapping": ("dict",), "Callable": ("function", "method", "builtin_function_or_method"),
}  # fmt: skip


def is_kind(run: Run, x: Any, kinds: Any) -> bool:
    """Return whether a value is of a class, or of one of several."""
    if isinstance(kinds, tuple):
        return any(is_kind(run, x, kind) for kind in kinds)
    if kinds is b.OBJECT:
        return True
    own = b.type_of(run, x)
    if isinstance(kinds, Foreign):
        last = kinds.name.rpartition(".")[2]
        return isinstance(own, Class) and own.name in ABSTRACT.get(last, ())
    if isinstance(kinds, DType):
        return isinstance(x, Tensor) and x.library in ("numpy", "jax") and x.dtype == kinds.name and (
            not x.shape or x.library == "jax"
        )
    if isinstance(kinds, int | float | str | list | dict):
        run.fail("TypeError", "isinstance() arg 2 must be a type, a tuple of types, or a union")
    if not isinstance(kinds, Class):
        return bool(kinds is None and x is None)
    if isinstance(own, Class) and own.is_a(kinds):
        return True
    test = kinds.find("__instancecheck__")
    return test is not UNBOUND and not isinstance(x, Instance) and bool(run.call(test, [x]))
