"""Attributes and methods that are no functions of the table: ``x.T``, ``x.shape``, ``len(x)``."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Container
from typing import Any

from gradcli.engine.graph import Graph
from gradcli.errors import GradcliError
from gradcli.language import picking, runtime
from gradcli.language.kinds import FLOAT, INTEGER, MASK, number_kind
from gradcli.language.names import MODULES, dotted
from gradcli.ops import Pair, Parts, methods
from gradcli.ops.declare import value_of
from gradcli.ops.making import DATA
from gradcli.ops.shaping import TRANSPOSE, transpose_matrices


def transposed(f: Graph, value: object) -> Any:
    """Return ``x.T``."""
    x = runtime.array_of(value)
    return f(TRANSPOSE, x, dims=tuple(reversed(range(x.ndim))))


def matrix_transposed(f: Graph, value: object) -> Any:
    """Return ``x.mT``: the last two axes swapped."""
    x = runtime.array_of(value)
    if x.ndim < 2:
        raise GradcliError("shape", f".mT takes a matrix or a batch of them, not shape {x.shape}")
    return transpose_matrices(f, x)


def adjoint(f: Graph, value: object) -> Any:
    """Return ``x.H``: the transpose of a matrix of real numbers."""
    x = runtime.array_of(value)
    if x.ndim not in (0, 2):
        raise GradcliError("shape", f".H takes a matrix, not shape {x.shape}", hint="x.mH takes a batch of them")
    return transposed(f, x)


def refuse_imaginary(f: Graph, value: object) -> Any:
    """Refuse ``x.imag``: PyTorch has it for complex numbers alone."""
    del f, value
    raise GradcliError("type", ".imag is of complex numbers, and these are real")


TYPE_OF = {FLOAT: "float64", INTEGER: "int64", MASK: "bool"}


def part(name: str) -> Callable[[Graph, object], Any]:
    """Return what reads one array of a decomposition by its name."""

    def read(f: Graph, value: object) -> Any:
        del f
        if not isinstance(value, Parts):
            hint = f"call it: .{name}()" if name in methods() else None
            message = f".{name} is of a decomposition such as linalg.svd(A), and of no array"
            raise GradcliError("not-allowed", message, hint=hint)
        return value.part(name)

    return read


def half(name: str) -> Callable[[Graph, object], Any]:
    """Return what reads the values of a pair, or their indices."""

    def read(f: Graph, value: object) -> Any:
        del f
        if not isinstance(value, Pair):
            raise GradcliError("not-allowed", f".{name} is of a pair, such as max(x, dim=0) gives, and of no array")
        return getattr(value, name)

    return read


PART_NAMES = (
    *("U", "S", "V", "Vh", "Q", "R", "P", "L", "LU", "pivots", "eigenvalues", "eigenvectors", "sign", "logabsdet"),
    *("solution", "cloned_coefficient", "residuals", "rank", "singular_values", "min", "max"),
)
ATTRIBUTES: dict[str, Callable[[Graph, object], Any]] = {
    "T": transposed,
    "mT": matrix_transposed,
    "shape": lambda f, value: runtime.as_tensor(value).shape,
    "ndim": lambda f, value: runtime.as_tensor(value).ndim,
    "size": lambda f, value: int(value_of(runtime.as_tensor(value)).size),
    "H": adjoint,
    "mH": matrix_transposed,
    "data": lambda f, value: f(DATA, runtime.array_of(value)),
    "real": lambda f, value: runtime.array_of(value),
    "imag": refuse_imaginary,
    "dtype": lambda f, value: TYPE_OF[number_kind(value)],
    "device": lambda f, value: "cpu",
    **{name: part(name) for name in PART_NAMES},
    "values": half("values"),
    "indices": half("indices"),
}


def size_of(value: object, dim: object = None) -> Any:
    """Return PyTorch's ``x.size()`` or ``x.size(dim)``."""
    shape = runtime.as_tensor(value).shape
    return shape if dim is None else picking.subscript(None, shape, [dim], single=True)  # type: ignore[arg-type]


def length_of(value: object) -> int:
    """Return ``len(x)``."""
    if type(value) is tuple:
        return len(value)
    shape = runtime.as_tensor(value).shape
    if not shape:
        raise GradcliError("type", "len of a scalar")
    return int(shape[0])


def count_of(value: object, axis: object = None) -> Any:
    """Return ``x.numel()``, or ``np.size(x, axis)``; of a shape, the product of its lengths."""
    if axis is not None:
        return size_of(value, axis)
    return math.prod(value) if type(value) is tuple else int(value_of(runtime.as_tensor(value)).size)


def axes_of(value: object) -> int:
    """Return the number of axes."""
    return runtime.as_tensor(value).ndim


SPECIAL_METHODS: dict[str, tuple[Callable[..., Any], int]] = {
    "size": (size_of, 1),
    "dim": (axes_of, 0),
    "ndimension": (axes_of, 0),
    "numel": (count_of, 0),
    "nelement": (count_of, 0),
}
SPECIAL_FUNCTIONS: dict[str, tuple[Callable[..., Any], int]] = {
    "len": (length_of, 1),
    "torch.numel": (count_of, 1),
    **{f"{prefix}.{name}": rule for prefix in ("np", "numpy", "jnp")
       for name, rule in (("size", (count_of, 2)), ("ndim", (axes_of, 1)), ("shape", (size_of, 1)))},
}  # fmt: skip
"""By name, with the most arguments that each takes."""


def special_call(node: ast.Call, variables: Container[str]) -> tuple[Callable[..., Any], ast.expr | None] | None:
    """Return the reader and receiver of a call that gives a length and not an array."""
    if node.keywords:
        return None
    func = node.func
    name = dotted(func)
    if name in SPECIAL_FUNCTIONS and name.partition(".")[0] not in variables:
        read, most = SPECIAL_FUNCTIONS[name]
        if 1 <= len(node.args) <= most:
            return read, None
    if isinstance(func, ast.Attribute) and func.attr in SPECIAL_METHODS:
        if isinstance(func.value, ast.Name) and func.value.id in MODULES and func.value.id not in variables:
            return None
        read, most = SPECIAL_METHODS[func.attr]
        if len(node.args) <= most:
            return read, func.value
    return None
