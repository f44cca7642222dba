"""What ``print`` and ``repr`` show of an array: the text of PyTorch, of NumPy or of JAX, by NumPy alone.

An array holds doubles whatever its dtype says; they are cast to the dtype first, so that a float32 tensor shows the
digits that float32 has of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

from gradcli.errors import GradcliError
from gradcli.records import dataclass, replace
from gradcli.runner.values import FLOATS, rounded

Array: TypeAlias = np.ndarray[Any, Any]
Scalar: TypeAlias = float | int | bool
WIDEST = 10_000
"""The largest width or precision of a format: Python itself would write a gigabyte of zeros."""


def bounded(value: object, what: str) -> None:
    """Raise ``budget`` where a width or a precision is beyond the bound."""
    if isinstance(value, int) and value > WIDEST:
        raise GradcliError("budget", f"a {what} of {value:,} in a format: more than {WIDEST:,}")


def cast(array: object, dtype: str) -> Array:
    """Return the numbers that an array of a dtype has, as doubles where it is one of floats."""
    values = np.asarray(array)
    return np.asarray(rounded(values.astype(np.float64), dtype)) if dtype in FLOATS else values.astype(dtype)


# --- PyTorch ---


@dataclass(frozen=True, slots=True)
class Options:
    """The options of ``torch.set_printoptions``, with PyTorch's defaults."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: float = 80
    sci_mode: bool | None = None

    def changed(self, profile: str | None = None, sci_mode: bool | None = None, **chosen: Any) -> Options:
        """Return the options after a call of ``set_printoptions``, which takes ``sci_mode`` back where it has none."""
        bounded(chosen.get("precision"), "precision")
        new: dict[str, Any] = PROFILES.get(profile or "", {}) | {k: v for k, v in chosen.items() if v is not None}
        return replace(self, **new, sci_mode=sci_mode)


PROFILES: dict[str, dict[str, Any]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}
PLAIN = Options()


def torch_text(
    array: object,
    dtype: str,
    *,
    requires_grad: bool = False,
    grad_fn: str | None = None,
    options: Options = PLAIN,
    parameter: bool = False,
    default: str = "float32",
) -> str:
    """Return ``repr`` of a tensor, which is its ``str`` too; ``default`` is the dtype that is not shown.

    >>> print(torch_text([[1.0, 2.5], [-3.0, 4.0]], "float32", grad_fn="AddBackward0"))
    tensor([[ 1.0000,  2.5000],
            [-3.0000,  4.0000]], grad_fn=<AddBackward0>)
    """
    values = cast(array, dtype)
    suffixes = []
    if (values.size == 0 and values.ndim != 1) or (values.size and not options.edgeitems):
        suffixes.append(f"size={values.shape}")
    if dtype != default and (values.size == 0 or dtype not in {"int64", "bool"}):
        suffixes.append(f"dtype=torch.{dtype}")
    if grad_fn:
        suffixes.append(f"grad_fn=<{grad_fn}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    text = "tensor(" + (_Writer(values, options).text(values, len("tensor(")) if values.size else "[]")
    return "Parameter containing:\n" * parameter + _with_suffixes(text, suffixes, options.linewidth)


def _with_suffixes(text: str, suffixes: Iterable[str], linewidth: float) -> str:
    """Return a text with what follows the numbers, on a line of its own where the last is full."""
    length = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if length + len(suffix) + 2 > linewidth:
            text += ",\n" + " " * len("tensor(") + suffix
            length = len("tensor(") + len(suffix)
        else:
            text += ", " + suffix
            length += len(suffix) + 2
    return text + ")"


class _Writer:
    """How the numbers of one tensor are written: all alike, by what those that are shown need."""

    def __init__(self, values: Array, options: Options) -> None:
        self.options = options
        self.summarized = values.size > options.threshold
        shown = (_corners(values, options.edgeitems) if self.summarized else values).ravel()
        self.write: Callable[[Any], str] = str
        measured: list[Any] = shown.tolist()
        if values.dtype == np.float64:
            measured = shown[np.isfinite(shown) & (shown != 0)].tolist()
            self.write = _writer_of(measured, options)
        self.width = max(1, *map(len, map(self.write, measured))) if measured else 1

    def one(self, value: Scalar) -> str:
        """Return a number, padded to the width that all have."""
        return self.write(value).rjust(self.width)

    def text(self, values: Array, indent: int) -> str:
        """Return the numbers in brackets, the lines after the first indented."""
        if values.ndim == 0:
            return self.one(values.item())
        if values.ndim == 1:
            return self.row(values, indent)
        parts = ["..." if k is None else self.text(values[k], indent + 1) for k in self.places(len(values))]
        return "[" + ("," + "\n" * (values.ndim - 1) + " " * (indent + 1)).join(parts) + "]"

    def row(self, values: Array, indent: int) -> str:
        """Return numbers in one pair of brackets, as many on a line as fit."""
        if self.summarized and not self.options.edgeitems:
            words = ["..."]
        else:
            words = [" ..." if k is None else self.one(values[k].item()) for k in self.places(len(values))]
        each = max(1, math.floor((self.options.linewidth - indent) / (self.width + 2)))
        lines = [", ".join(words[k : k + each]) for k in range(0, len(words), each)]
        return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"

    def places(self, length: int) -> Iterator[int | None]:
        """Yield the places along an axis that are shown, None for those between."""
        edge = self.options.edgeitems
        if not self.summarized or length <= 2 * edge:
            yield from range(length)
            return
        yield from range(edge)
        yield None
        yield from range(length - edge, length)


def _corners(values: Array, edge: int) -> Array:
    """Return the numbers that a summary shows; of an edge of 0 PyTorch measures a row in full, and nothing of more."""
    if edge == 0:
        return values if values.ndim <= 1 else values[:0]
    for axis, length in enumerate(values.shape):
        if length > 2 * edge:
            values = values.take([*range(edge), *range(length - edge, length)], axis=axis)
    return values


def _writer_of(measured: list[float], options: Options) -> Callable[[float], str]:
    """Return how floats are written: as whole numbers with a point, with decimals, or in scientific notation."""
    if not measured:
        return _whole
    small, large = min(map(abs, measured)), max(map(abs, measured))
    automatic = large / small > 1000.0 or large > 1.0e8 or small < 1.0e-4
    if automatic if options.sci_mode is None else options.sci_mode:
        return f"{{:.{options.precision}e}}".format
    if all(map(float.is_integer, measured)):
        return _whole
    return f"{{:.{options.precision}f}}".format


def _whole(value: float) -> str:
    return f"{value:.0f}" + "." * math.isfinite(value)


# --- NumPy and JAX ---

NUMPY: dict[str, Any] = {
    "edgeitems": 3, "threshold": 1000, "precision": 8, "suppress": False, "linewidth": 75, "nanstr": "nan",
    "infstr": "inf", "sign": "-", "floatmode": "maxprec", "formatter": None, "legacy": False, "override_repr": None,
}  # fmt: skip
"""The options of ``np.set_printoptions``, with NumPy's defaults: those of the process are somebody else's."""


def numpy_options(options: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options after a call of ``np.set_printoptions``, which takes ``formatter`` back where it has none."""
    bounded(changes.get("precision"), "precision")
    for name in ("nanstr", "infstr"):
        bounded(len(str(changes.get(name))), "width")
    new = {**NUMPY, **options, "formatter": None} | {name: one for name, one in changes.items() if one is not None}
    with np.printoptions(**new):  # NumPy says what is wrong with them
        return new


def numpy_text(array: object, dtype: str, *, quoted: bool, options: Mapping[str, Any] | None = None) -> str:
    """Return ``str`` or, quoted, ``repr`` of an array of NumPy, or of one of its numbers where it is no array.

    >>> numpy_text(np.array(3.0), "float64", quoted=True), numpy_text(3.0, "float64", quoted=True)
    ('array(3.)', 'np.float64(3.0)')
    """
    values = cast(array, dtype).astype(dtype)
    shown = values if isinstance(array, np.ndarray) else values[()]
    with np.printoptions(**NUMPY | dict(options or {})):
        return repr(shown) if quoted else str(shown)


def jax_text(
    array: object, dtype: str, *, quoted: bool, weak: bool = False, options: Mapping[str, Any] | None = None
) -> str:
    """Return ``str`` or, quoted, ``repr`` of an array of JAX; ``weak`` says that its dtype gives way to another's.

    >>> jax_text([1.0, 2.5], "float32", quoted=True), jax_text(3.0, "float32", quoted=False)
    ('Array([1. , 2.5], dtype=float32)', '3.0')
    """
    values, chosen = cast(array, dtype), NUMPY | dict(options or {})
    if dtype == "bfloat16":  # which NumPy lacks: JAX's writes six digits
        chosen |= {"formatter": {"float_kind": "{:.6g}".format}}
    else:
        values = values.astype(dtype)
    with np.printoptions(**chosen):
        if not quoted:
            return f"{values.item():.6g}" if dtype == "bfloat16" and values.ndim == 0 else str(values)
        named = f"dtype={dtype}" + ", weak_type=True" * weak
        width = chosen["linewidth"]
        text = f"[], shape={values.shape}"
        if values.size:
            text = np.array2string(values, prefix="Array(", suffix=",", separator=", ", max_line_width=width)
        fits = len(text) - text.rfind("\n") + 1 + len(named) + 2 <= width
        return f"Array({text},{' ' if fits else ' ' * len('Array(')}{named})"
