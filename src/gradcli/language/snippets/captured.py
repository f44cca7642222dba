"""What the names of a Python function mean that come from outside of it: modules, functions, numbers and arrays."""

from __future__ import annotations

import dis
import math
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.language.inputs import as_array, detached
from gradcli.language.snippets.definitions import Definition, codes_in, definition_of
from gradcli.language.snippets.imports import LIBRARIES
from gradcli.ops.signatures import Array

HOMES = (
    "torch", "torch.nn.functional", "torch.special", "torch.linalg", "torch.nn", "math", "numpy", "numpy.linalg",
    "jax.numpy", "jax.nn", "scipy.special",
)  # fmt: skip
"""Modules in which the functions of libraries have their usual names."""
ARRAYS = ("Tensor", "Parameter", "ArrayImpl")
"""Types of PyTorch's and JAX's arrays."""
LONGEST = 1_000
"""Entries of an array that is written out."""


@dataclass(slots=True)
class Outside:
    """What a function and those that it calls have from outside.

    - ``definitions`` are these functions by what calls them, each after those that it calls.
    - ``meanings`` are the full names of what belongs to libraries.
    - ``arrays`` are numbers and arrays, ``wanted`` those of them that ask for a gradient.
    - ``texts`` are written in place of names: integers, truth values, texts.
    - ``errors`` say why a name has no value here.
    """

    definitions: dict[str, Definition] = field(default_factory=dict)
    meanings: dict[str, str] = field(default_factory=dict)
    arrays: dict[str, Array] = field(default_factory=dict)
    wanted: set[str] = field(default_factory=set)
    texts: dict[str, str] = field(default_factory=dict)
    errors: dict[str, GradcliError] = field(default_factory=dict)
    known: dict[str, object] = field(default_factory=dict)

    def take(self, name: str, value: Any) -> None:
        """Take what a name means; what has no place in a program is kept as an error."""
        if name in self.known:
            if self.known[name] is not value:
                message = f"'{name}' means one thing in one of these functions, and something else in another"
                self.errors[name] = GradcliError("not-allowed", message, hint="give one of them another name")
            return
        self.known[name] = value
        full = full_name(value)
        if full is not None:
            self.meanings[name] = full
        elif type(value) is FunctionType:
            self.take_function(name, value)
        elif not self.takes_value(name, value):
            what = f"'{name}' is {kind_of(value)}: a function has numbers, arrays and functions from outside"
            self.errors[name] = GradcliError("not-allowed", what, hint="make it a parameter, or write what it does")

    def take_function(self, name: str, function: FunctionType) -> None:
        """Take a function with all that it has from outside."""
        try:
            refuse_wrapper(function)
            own = definition_of(function)
        except GradcliError as error:
            self.errors[name] = error
            return
        for other, value in values_outside(function):
            self.take(other, value)
        self.definitions[name] = own

    def takes_value(self, name: str, value: Any) -> bool:
        """Take a number, an array or a text, and return whether it is one."""
        text = text_of_value(value)
        if text is not None:
            self.texts[name] = text
            return True
        array = array_of(value)
        if array is None:
            return False
        self.arrays[name] = array
        if getattr(value, "requires_grad", False):
            self.wanted.add(name)
        return True


def values_outside(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the names that a function reads from outside, and what they mean now; builtins are left out."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # of a variable that has no value yet
            yield name, cell.cell_contents
    steps = [step for code in codes_in(function.__code__) for step in dis.get_instructions(code)]
    names = [step.argval for step in steps if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")]
    yield from ((name, function.__globals__[name]) for name in dict.fromkeys(names) if name in function.__globals__)


def array_of(value: Any) -> Array | None:
    """Return a number or an array in double precision, None for anything else."""
    root = type(value).__module__.partition(".")[0]
    usual = type(value) in (float, np.ndarray) or isinstance(value, np.generic)
    if not usual and not (root in ("torch", "jaxlib", "jax") and type(value).__name__ in ARRAYS):
        return None
    with suppress(GradcliError):
        return as_array("", value)
    return None


def text_of_value(value: Any) -> str | None:
    """Return what is written for a value that is no array of doubles, None for one that is or that has no text."""
    if isinstance(value, np.integer | np.bool_):
        value = value.item()
    if value is None or type(value) in (bool, int, str):
        return f"({value})" if type(value) is int and value < 0 else repr(value)
    if type(value) in (list, tuple):
        texts = [number_text(item) if type(item) is float else text_of_value(item) for item in value[: LONGEST + 1]]
        if len(texts) > LONGEST or None in texts:
            return None
        inside = ", ".join(text for text in texts if text is not None)
        return f"[{inside}]" if type(value) is list else f"({inside}{',' * (len(value) == 1)})"
    array = np.asarray(detached(value)) if type(value) is np.ndarray or type(value).__name__ in ARRAYS else None
    masks = array is not None and array.dtype == np.bool_ and array.size <= LONGEST
    return f"torch.tensor({array.tolist()})" if array is not None and masks else None


def number_text(value: float) -> str | None:
    """Return the text of a number, None for one that is not finite."""
    return repr(value) if math.isfinite(value) else None


def full_name(value: Any) -> str | None:
    """Return the full name of a module of a library, or of its function or class; None for what is none.

    >>> import math
    >>> full_name(math.sin), full_name(math), full_name(3)
    ('math.sin', 'math', None)
    """
    if isinstance(value, ModuleType):
        return value.__name__ if value.__name__.partition(".")[0] in LIBRARIES else None
    name = getattr(value, "__name__", None)
    if not isinstance(name, str):
        return None
    homes = (*HOMES, str(getattr(value, "__module__", "")))
    found = (home for home in homes if home in sys.modules and vars(sys.modules[home]).get(name) is value)
    home = next(found, None)
    return f"{home}.{name}" if home is not None and home.partition(".")[0] in LIBRARIES else None


def kind_of(value: Any) -> str:
    """Return what a message calls a value."""
    if isinstance(value, ModuleType):
        return f"the module {value.__name__}"
    if isinstance(value, type):
        return f"the class {value.__qualname__}"
    kind = type(value)
    if kind is np.ndarray:
        return f"an array of {value.dtype}"
    if isinstance(value, BuiltinFunctionType):
        return f"the builtin {value.__name__}"
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def refuse_wrapper(function: FunctionType) -> None:
    """Refuse a function that a decorator has put round another one: what it changes is not known."""
    inner = getattr(function, "__wrapped__", None)
    if inner is not None:
        name = function.__name__
        raise GradcliError(
            "no-source", f"'{name}' is wrapped by a decorator, and what that changes is not known",
            hint=f"give what is in it: {name}.__wrapped__",
        )  # fmt: skip
