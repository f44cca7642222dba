"""Values from outside: arrays for the variables that a script leaves free, as its own library has them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from gradcli.errors import GradcliError, Span
from gradcli.runner.library import load
from gradcli.runner.state import Run
from gradcli.runner.values import Tensor


def given_value(run: Run, name: str, span: Span | None = None) -> Any:
    """Return the value of a variable that the script leaves free, the same object each time it is read.

    An array is one of the library that the script uses, of PyTorch a leaf. A number that the script asks for nothing
    (``x.grad``, ``x.sum()``) is a number of Python's.
    """
    value = run.given[name]
    if isinstance(value, GradcliError):  # why a function has nothing of that name
        raise GradcliError(value.kind, value.message, span=span, hint=value.hint)
    if isinstance(value, np.ndarray | np.generic):
        value = run.given[name] = as_value(run, name, np.asarray(value))
    return value


def as_value(run: Run, name: str, array: np.ndarray[Any, Any]) -> Any:
    """Return an array as a script has it."""
    text = run.place.text
    asked = re.search(
        rf"(?<![\w.]){re.escape(name)}\s*\.\s*[A-Za-z_]|\([^()\n]*\b{re.escape(name)}\b[^()\n]*\)\.backward", text
    )
    if not array.shape and not asked:
        return array.item()
    if re.search(r"\btorch\b|\.backward\(|requires_grad|\.grad\b", text) or not re.search(
        r"\b(?:np|numpy|jnp|jax)\b", text
    ):
        load("torch")  # its methods, which a script may call without an import
        return require(run, run.make(array.astype(np.float64)))
    return run.make(array, library="jax" if re.search(r"\bj(?:np|ax)\b", text) else "numpy")


def require(run: Run, tensor: Tensor) -> Tensor:
    """Return a tensor that is differentiated by."""
    from gradcli.runner.tensor_attributes import set_requires

    set_requires(run, tensor, True)
    return tensor
