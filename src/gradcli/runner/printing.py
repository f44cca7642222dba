"""Texts of a script's values: what ``print``, ``str`` and ``repr`` show, what f-strings, ``format`` and ``%`` write.

Arrays are shown as PyTorch, NumPy or JAX shows them, by NumPy alone. Formatting is Python's own: it is given stand-ins,
which ask the run for texts, items and attributes. It sees no value of the script but exact numbers and strings, and
walks no attribute of the host; a stand-in's class is called as the script's value is, so that errors are Python's own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from gradcli.engine.graph import NODES
from gradcli.errors import GradcliError
from gradcli.ops.declare import value_of
from gradcli.ops.joining import is_index
from gradcli.records import dataclass, replace
from gradcli.runner.library import COLLECTIONS, CONTAINERS, plain_value
from gradcli.runner.numpy_values import FloatKey, WholeKey
from gradcli.runner.python.containers import subscript
from gradcli.runner.python.operators import note_text, plain
from gradcli.runner.state import Run
from gradcli.runner.values import (
    FLOATS,
    UNBOUND,
    Bound,
    Class,
    Closure,
    DType,
    Foreign,
    Hosted,
    Instance,
    Method,
    Module,
    TableFunction,
    Tensor,
    Weak,
    ask,
    category,
    is_scalar,
    own,
    rounded,
)

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
    "infstr": "inf", "sign": "-", "floatmode": "maxprec", "formatter": None, "legacy": False,
} | ({"override_repr": None} if "override_repr" in np.get_printoptions() else {})  # fmt: skip
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


# --- str and repr ---

DEEPEST = 60
"""Containers within containers that are shown."""


def doubles(x: Tensor) -> Any:
    """Return the numbers of a tensor as an array of numpy's own types."""
    array = value_of(x.node)
    of_objects = getattr(getattr(array, "dtype", None), "kind", None) == "O"
    return np.asarray(array, dtype=np.float64) if of_objects else np.asarray(array)


def name_of_call(x: Tensor, node: Any, made_by: tuple[Any, ...]) -> str | None:
    """Return what PyTorch calls the function that made a tensor by a call, an index or a write to one."""
    from gradcli.runner.backward_names import backward_name, index_name, write_name

    if made_by[0] == "[]":
        return index_name(made_by[1], made_by[2])
    if made_by[0] == "[]=":
        return write_name(*made_by[1:])
    name, ranks, named = made_by
    if "adaptive_avg_pool" in name and len(x.shape) > 2 and x.shape[-(axes := int(name[-2])) :] == (1,) * axes != (1,):
        return "MeanBackward1"
    smoothed = x.node.op.text.operator == "+"  # of labels: a sum of two terms
    if name.endswith("cross_entropy") and not smoothed:
        named = {key: value for key, value in named.items() if key != "label_smoothing"}
    return backward_name(name, ranks, named, copied=copies(node)) or None


def grad_fn_name(x: Tensor) -> str | None:
    """Return what PyTorch calls the function that made a tensor, None for a leaf."""
    node = x.node
    if type(node) not in NODES or not node.active or x.leaf or node.op is None:
        return None
    from gradcli.runner.backward_names import backward_name, index_name

    made_by = x.made_by
    if isinstance(made_by, tuple):
        return name_of_call(x, node, made_by)
    if isinstance(made_by, str):
        if made_by == "CopySlices" or "Backward" in made_by:
            return made_by
        return backward_name(made_by, [len(x.shape)]) or None
    op = node.op
    if "called" in node.static:
        return str(node.static["called"])
    if "call" in node.static:
        return f"{node.static['call'].name}Backward"
    if is_index(op):
        return index_name(node.static["key"], np.shape(value_of(node.arguments[0])))
    sign = op.text.operator or op.name
    ranks = [
        len(a.shape) if type(a) in NODES else a.ndim if isinstance(a, np.ndarray) else None for a in node.arguments
    ]
    if op.text.operator == "-" and len(ranks) == 1:
        sign = "neg"
    return backward_name(sign, ranks) or None


def copies(node: Any) -> bool:
    """Return whether a view could not be had of the memory of what a function was given."""
    if node.op is None or not node.op.entries.view or not node.arguments:
        return False
    whole = value_of(node.arguments[0])
    return (
        isinstance(node.value, np.ndarray)
        and isinstance(whole, np.ndarray)
        and not np.may_share_memory(node.value, whole)
    )


def tensor_text(run: Any, x: Tensor, quoted: bool) -> str:
    """Return a tensor or an array as it is printed."""
    if run is not None and run.levels and x.active:
        kind = run.level_of(x)
        if kind:
            inner = Tensor(np.asarray(x.value), x.dtype, x.library)
            return str(run.traced_text(x, kind, tensor_text(run, inner, quoted=False)))
    if x.library == "torch":
        options = (run.print_options.get("options") if run is not None else None) or Options()
        return torch_text(
            doubles(x), x.dtype, requires_grad=x.active, grad_fn=grad_fn_name(x), options=options,
            parameter=x.extra is not None and x.extra.parameter,
            default=run.default_dtype if run is not None else "float32",
        )  # fmt: skip
    return note_text(run, array_text(run, x, quoted), [x])


def array_text(run: Any, x: Tensor, quoted: bool) -> str:
    """Return an array of NumPy's or JAX's, or a number of Python's, as it is printed."""
    if x.library == "python":
        return repr(float(doubles(x).reshape(())[()]))
    options = run.numpy_options if run is not None else {}
    if x.library == "jax":
        return jax_text(doubles(x), x.dtype, quoted=quoted, weak=isinstance(x.dtype, Weak), options=options)
    array = doubles(x)
    shown = array[()] if is_scalar(x) else array
    return numpy_text(shown, x.dtype, quoted=quoted, options=options)


def to_str(run: Any, x: Any, depth: int = 0) -> str:
    """Return what ``str(x)`` gives."""
    if isinstance(x, Hosted) and (made := ask(run, x, "__str__")) is not UNBOUND:
        return str(made)
    if isinstance(x, str):
        return x
    if isinstance(x, WholeKey | FloatKey):
        return repr(x.real)
    if isinstance(x, DType) and x.library == "array":
        return x.name
    if isinstance(x, Tensor):
        return tensor_text(run, x, quoted=False)
    if hasattr(type(x), "shown_as"):
        return x.shown_as()  # type: ignore[no-any-return]
    if isinstance(x, Instance):
        for name in ("__str__", "__repr__"):
            if (member := x.kind.find(name)) is not UNBOUND:
                return said(run, x, member, name)
        return instance_text(x)
    return to_repr(run, x, depth)


def said(run: Any, x: Instance, member: Any, name: str) -> str:
    """Return what an object says of itself."""
    run = run or x.kind.its_run
    text = member(run, x) if run is None else run.call(member, [x])
    if not isinstance(text, str):
        run.fail("TypeError", f"{name} returned non-string (type {run.type_name(text)})")
    return text  # type: ignore[no-any-return]


def instance_text(x: Instance) -> str:
    """Return an object that does not say how it is shown."""
    if "__members__" in x.kind.members:
        return f"{x.kind.name}.{x.fields['name']}"
    return f"<{x.kind.qualified} object at 0x7f0000000000>"


def to_repr(run: Any, x: Any, depth: int = 0) -> str:
    """Return what ``repr(x)`` gives."""
    kind = type(x)
    if kind in (int, float, bool, str, bytes, type(None)) or x is ... or x is NotImplemented:
        return repr(x)
    if isinstance(x, np.float64):
        return repr(float(x))
    if isinstance(x, Tensor):
        return tensor_text(run, x, quoted=True)
    if depth > DEEPEST:
        return "..."
    if run is not None:
        run.meter.turn(1, "what is shown does not end")
    shown = of_container(run, x, depth)
    if shown is not None:
        return shown
    if isinstance(x, Instance):
        if (member := x.kind.find("__repr__")) is not UNBOUND:
            return said(run, x, member, "__repr__")
        if "__members__" in x.kind.members:
            return f"<{x.kind.name}.{x.fields['name']}: {to_repr(run, x.fields['value'])}>"
        return instance_text(x)
    return of_function(run, x)


def of_container(run: Any, x: Any, depth: int) -> str | None:
    """Return a container of Python's as it is shown, None for anything else."""

    def show(item: Any) -> str:
        return to_repr(run, item, depth + 1)

    name, kinds = type(x).__name__, CONTAINERS
    if isinstance(x, Hosted):
        if (made := ask(run, x, "__repr__")) is not UNBOUND:
            return str(made)
        name, kinds = x.kind.name, COLLECTIONS
    elif hasattr(type(x), "shown"):
        return str(x.shown(show))
    write = next((write for kind, write in kinds if isinstance(x, kind)), None)
    if write is None:
        return to_repr(run, plain_value(x), depth) if isinstance(x, Hosted) else None
    return write(x, show, name)


def of_function(run: Any, x: Any) -> str:
    """Return a function, a class or a module as it is shown."""
    if isinstance(x, Class):
        return repr(x)
    if isinstance(x, Closure):
        return f"<function {x.code.qualified or x.code.name} at 0x7f0000000000>"
    if isinstance(x, TableFunction):
        return f"<built-in method {x.name.rpartition('.')[2]}>"
    if isinstance(x, Module):
        return f"<module '{x.name}'>"
    if isinstance(x, Foreign):
        return f"<{x.name}>"
    if isinstance(x, Bound | Method):
        return "<bound method>"
    own = getattr(x, "text", None)
    if isinstance(own, str):
        return own
    name = next((name for name, one in run.builtins.items() if one is x), None) if run is not None else None
    if name is not None:
        return f"<built-in function {name}>"
    return repr(x) if type(x).__module__.startswith("gradcli.") else f"<{type(x).__name__}>"


def plain_number(x: Tensor) -> Any:
    """Return the number of a tensor of one entry as its type has it."""
    one = doubles(x).reshape(())[()]
    return (cast(one, x.dtype) if category(x.dtype) == 2 else one).item()


# --- f-strings, format and % ---

LONGEST = 10_000_000
"""Characters that one call may write."""
PYTHONS = frozenset({int, float, bool, str, complex})
"""What Python formats itself: exact types alone, a subclass could bring a ``__format__`` of its own."""
ENTERED = (int, float, complex, str, set, type(None))
"""What ``%`` takes for one value; anything else may have items, and Python lets some of them be left over."""
CONVERSION = re.compile(r"%(?:\(.*?\)+)?[#0\- +]*(\*|\d*)(?:\.(\*|\d*))?[hlL]?(.?)", re.DOTALL)


class Written:
    """One call of formatting: for whom, and how many characters it has written."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.length = 0

    def counted(self, text: str) -> str:
        """Return a piece of the text, no longer with the others than is allowed."""
        self.length += len(text)
        if self.length > LONGEST:
            raise GradcliError("budget", f"a text of more than {LONGEST:,} characters is formatted")
        return text


class Shown:
    """What stands for a value of a script; ``parts`` are the call that it is shown by, and the value."""

    __slots__ = ("parts",)

    def __init__(self, written: Written, value: Any) -> None:
        self.parts = written, value

    def __str__(self) -> str:
        written, value = PARTS(self)
        return Piece(written, to_str(written.run, value))

    def __repr__(self) -> str:
        written, value = PARTS(self)
        return Piece(written, to_repr(written.run, value))

    def __format__(self, spec: str) -> str:
        written, value = PARTS(self)
        for digits in re.findall(r"\d+", spec):
            bounded(int(digits.lstrip("0")[:9] or 0), "width or precision")
        if (member := own(value, "__format__")) is not UNBOUND:
            return written.counted(str(written.run.call(member, [value, spec])))
        value = as_python(value, spec)
        if type(value) in PYTHONS:
            return written.counted(format(value, spec))
        if spec and not isinstance(value, Foreign):
            raise TypeError(f"unsupported format string passed to {type(self).__name__}.__format__")
        return written.counted(to_str(written.run, value))


PARTS: Callable[[Shown], tuple[Written, Any]] = Shown.__dict__["parts"].__get__


class Piece(str):
    """A text that ``!r`` and ``!s`` gave: its width is bounded and counted as that of others is."""

    __slots__ = ("written",)
    written: Written

    def __new__(cls, written: Written, text: str) -> Piece:
        """Make a text that is counted."""
        piece = super().__new__(cls, written.counted(text))
        piece.written = written
        return piece

    def __format__(self, spec: str) -> str:
        return format(Shown(self.written, str(self)), spec)


class WithItems(Shown):
    """What stands for a value that a template may take items and attributes of."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        written, value = PARTS(self)
        return stand_in(written, written.run.attribute(value, name), WithItems)

    def __getitem__(self, key: int | str) -> Any:
        written, value = PARTS(self)
        return stand_in(written, subscript(written.run, value, key), WithItems)


class Number(Shown):
    """What stands for a tensor of one entry, or a number of a class that is derived from Python's."""

    __slots__ = ()

    def __float__(self) -> float:
        return float(number_of(self))

    def __int__(self) -> int:
        return int(number_of(self))

    def __index__(self) -> int:
        number = number_of(self)
        if not isinstance(number, int):
            raise TypeError
        return number


def number_of(stand_in: Shown) -> Any:
    """Return the number that ``%d`` or ``%f`` writes of what stands for it."""
    value = PARTS(stand_in)[1]
    return plain_number(value) if isinstance(value, Tensor) else plain_value(value)


def as_python(value: Any, spec: str) -> Any:
    """Return what a value is formatted as: the number of a tensor without axes, what a class of Python's own has."""
    value = plain(value)
    if isinstance(value, Tensor):
        single = not value.shape or (bool(spec) and value.library == "jax" and np.size(value.value) == 1)
        return plain_number(value) if single and (spec or value.library != "numpy") else value
    if isinstance(value, WholeKey | FloatKey):
        return value.real
    return plain_value(value) if isinstance(value, Hosted) else value


@cache
def called(kind: type[Shown], name: str) -> type[Shown]:
    """Return the class of stand-ins for values of a type of this name."""
    return type(name, (kind,), {"__slots__": ()})


def stand_in(written: Written, value: Any, kind: type[Shown] = Shown) -> Shown:
    """Return what stands for a value."""
    name = value.name if isinstance(value, Foreign) else written.run.type_name(value)
    return called(kind, name)(written, value)  # type: ignore[arg-type]


def guarded(run: Run, work: Callable[[], str]) -> str:
    """Format, with the errors of Python's own formatting as exceptions of the script."""
    try:
        return work()
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError) as error:
        return run.fail(type(error).__name__, str(error.args[0]) if error.args else "")  # type: ignore[no-any-return]


def format_value(run: Run, value: Any, spec: str = "") -> str:
    """Return ``format(value, spec)``, which is what an f-string writes too."""
    if not spec and type(value) is str:
        return value
    return note_text(run, guarded(run, lambda: str(format(stand_in(Written(run), value), spec))), [value])


def format_template(run: Run, template: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> str:
    """Return ``template.format(*arguments, **named)``."""
    if re.search(r"![a][^}]*\{", template):
        raise run.refuse("a width that is computed beside !a is not part of gradcli")
    for digits in re.findall(r"!a:\D*(\d+)", template):
        bounded(int(digits.lstrip("0")[:9] or 0), "width or precision")
    written = Written(run)
    places = [stand_in(written, value, WithItems) for value in arguments]
    by_name = {name: stand_in(written, value, WithItems) for name, value in named.items()}
    made = guarded(run, lambda: template.format(*places, **by_name))
    return note_text(run, made, [*arguments, *named.values()])


def percent(run: Run, template: str, values: Any) -> Any:
    """Return ``template % values``; with a value that is left out, all of it is."""
    for value in values if isinstance(values, tuple) else [values]:
        if isinstance(value, Foreign):
            return value
    written = Written(run)

    def entered(value: Any) -> Any:
        value = plain(value)
        if type(value) in PYTHONS:
            return value
        single = isinstance(value, Tensor) and np.size(value.value) == 1
        return stand_in(written, value, Number if single or isinstance(value, int | float) else Shown)

    parts: Any = tuple(map(entered, values)) if isinstance(values, tuple) else entered(values)
    if isinstance(values, dict) and "%(" in template:
        parts = {key: entered(value) for key, value in values.items()}
    elif not isinstance(values, (*ENTERED, tuple)):
        parts = parts if isinstance(parts, Number) else stand_in(written, values, WithItems)
    bound_widths(written, template, values if isinstance(values, tuple) else (values,))
    made = guarded(run, lambda: written.counted(template % parts))
    return note_text(run, made, values if isinstance(values, tuple) else [values])


def bound_widths(written: Written, template: str, values: tuple[Any, ...]) -> None:
    """Raise ``budget`` where a width, or all widths together, are beyond the bounds."""
    place = 0
    for match in CONVERSION.finditer(template):
        for size in match.groups()[:2]:
            digits = size
            if size == "*":
                digits = str(values[place]) if place < len(values) and type(values[place]) is int else ""
                place += 1
            if digits:
                bounded(int(digits.lstrip("-0")[:9] or 0), "width or precision")
                written.counted(" " * int(digits.lstrip("-")))
        place += match[3] != "%"
