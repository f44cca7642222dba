"""Attributes and methods that are no functions of the table: ``x.T``, ``x.shape``, ``len(x)``."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Container
from typing import Any

from gradcli.errors import GradcliError
from gradcli.language import runtime
from gradcli.language.names import MODULES
from gradcli.ops import Pair, Parts
from gradcli.ops.declare import value_of
from gradcli.ops.shaping import TRANSPOSE


def transposed(f: Any, value: object) -> Any:
    """Return ``x.T``."""
    x = runtime.as_tensor(value)
    return f(TRANSPOSE, x, dims=tuple(reversed(range(x.ndim))))


def matrix_transposed(f: Any, value: object) -> Any:
    """Return ``x.mT``: the last two axes swapped."""
    x = runtime.as_tensor(value)
    if x.ndim < 2:
        raise GradcliError("shape", f".mT takes a matrix or a batch of them, not shape {x.shape}")
    return f(TRANSPOSE, x, dims=(*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def part(name: str) -> Callable[[Any, Any], Any]:
    """Return what reads one array of a decomposition by its name."""

    def read(f: Any, value: object) -> Any:
        del f
        if not isinstance(value, Parts):
            raise GradcliError("not-allowed", f".{name} is of a decomposition such as linalg.svd(A), and of no array")
        return value.part(name)

    return read


PART_NAMES = ("U", "S", "V", "Vh", "Q", "R", "eigenvalues", "eigenvectors", "sign", "logabsdet", "solution")
ATTRIBUTES: dict[str, Callable[[Any, Any], Any]] = {
    "T": transposed,
    "mT": matrix_transposed,
    "shape": lambda f, value: runtime.as_tensor(value).shape,
    "ndim": lambda f, value: runtime.as_tensor(value).ndim,
    "size": lambda f, value: int(value_of(runtime.as_tensor(value)).size),
    **{name: part(name) for name in PART_NAMES},
    "values": lambda f, value: runtime.as_tensor(value),
    "indices": lambda f, value: value.indices if isinstance(value, Pair) else runtime.as_tensor(value),
}


def size_of(value: object, dim: object = None) -> Any:
    """Return PyTorch's ``x.size()`` or ``x.size(dim)``."""
    shape = runtime.as_tensor(value).shape
    return shape if dim is None else runtime.subscript(None, shape, [dim], single=True)  # type: ignore[arg-type]


def length_of(value: object) -> int:
    """Return ``len(x)``."""
    shape = runtime.as_tensor(value).shape
    if not shape:
        raise GradcliError("type", "len of a scalar")
    return int(shape[0])


SPECIAL_METHODS: dict[str, tuple[Callable[..., Any], int]] = {
    "size": (size_of, 1),
    "dim": (lambda value: runtime.as_tensor(value).ndim, 0),
    "numel": (
        lambda value: math.prod(value) if type(value) is tuple else int(value_of(runtime.as_tensor(value)).size),
        0,
    ),
}


def special_call(node: ast.Call, variables: Container[str]) -> tuple[Callable[..., Any], ast.expr | None] | None:
    """Return the reader and receiver of a call that gives a length and not an array."""
    if node.keywords:
        return None
    func = node.func
    if isinstance(func, ast.Name) and func.id == "len" and "len" not in variables and len(node.args) == 1:
        return length_of, None
    if isinstance(func, ast.Attribute) and func.attr in SPECIAL_METHODS:
        if isinstance(func.value, ast.Name) and func.value.id in MODULES and func.value.id not in variables:
            return None
        read, most = SPECIAL_METHODS[func.attr]
        if len(node.args) <= most:
            return read, func.value
    return None
