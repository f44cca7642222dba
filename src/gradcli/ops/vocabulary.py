"""What users write: functions with their spellings and signatures, how they are entered, looked up and described.

``elementwise`` declares an op of entries and its function at once. A name that is not loaded is looked up in the index
of all functions, which says what module has it; ``facts.toml`` has what people look up about one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import cache, lru_cache, partial, wraps
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.declare import NO_ENTRIES, Apply, Op, Pair, Parts, declare
from gradcli.ops.links import Array, At, Expression, Formula, Links, Local, Partial, Symbols, Tensor, Test
from gradcli.ops.values import as_builder, number
from gradcli.records import dataclass, replace

Builder = Callable[..., Tensor | Pair | Parts | tuple[Tensor, ...]]
"""``build(f, *arguments)``: what a function gives, made by applying ops with ``f``."""
B = TypeVar("B", bound=Builder)


class Made(StrEnum):
    """The kind of numbers that comes out: that which came, or another, after who answers where not both do alike.

    ``NUMPY_…`` says that PyTorch refuses, ``TORCH_…`` that NumPy does, ``OTHER_…`` that NumPy has other numbers, ``NO``
    that both refuse; NumPy may not have the function.
    """

    SAME = "same"
    MASK = "mask"
    INTEGER = "integer"
    FLOAT = "float"
    NUMPY_SAME = "numpy-same"
    NUMPY_INTEGER = "numpy-integer"
    NUMPY_FLOAT = "numpy-float"
    TORCH_SAME = "torch-same"
    OTHER_FLOAT = "other-float"
    NO = "no"


class Beside(StrEnum):
    """Who takes masks and integers beside floats."""

    YES = "yes"
    PLAIN = "plain"
    """Both, and plain integers and truth values are of their kind as arrays are."""
    NUMPY = "numpy"
    FLOATS = "floats"
    """NumPy, which makes floats of masks beside integers."""
    NO = "no"
    TARGET = "target"
    """Both, where the first argument is floats."""
    INTEGERS = "integers"
    """Both, where the first argument is floats and no other is a mask."""
    UNMASKED = "unmasked"
    """Both, where none is a mask."""
    FIRST = "first"
    """Both, and all become what the first argument is, which cuts fractions off."""


class Kinds(NamedTuple):
    """What a function makes of ``masks``, of ``integers``, and of either ``beside`` floats."""

    masks: Made = Made.FLOAT
    integers: Made = Made.FLOAT
    beside: Beside = Beside.YES


FLOATS = Kinds()
"""Those of a function that makes floats of all."""
KEPT = Kinds(Made.SAME, Made.SAME)
COUNTED = Kinds(Made.INTEGER, Made.INTEGER)
BY_NUMPY = Kinds(Made.NUMPY_FLOAT, Made.NUMPY_FLOAT)
OF_NUMBERS = Kinds(Made.NO, Made.SAME)
OF_FLOATS = Kinds(Made.NO, Made.NO)
STRICT = Kinds(Made.NO, Made.NO, Beside.NO)
LIKE_FIRST = Kinds(Made.SAME, Made.SAME, Beside.FIRST)


@dataclass(frozen=True, slots=True, eq=False)
class Function:
    """What users write: ``build(apply, ...)`` with an annotated signature, under every name in ``spellings``.

    Without a builder it is ``op`` of each entry of its one argument. ``kinds`` is what it makes of masks and integers,
    ``typed`` says that it takes ``dtype=``, ``tensors`` that PyTorch refuses a plain number in the place of an array,
    ``shares`` that the result may show the memory of an argument, in PyTorch and here; that of any other function is a
    new array. What people look up about it stands in ``facts.toml``.
    """

    name: str
    build: Builder | None
    spellings: tuple[str, ...]
    methods: tuple[str, ...]
    summary: str
    family: str
    op: Op | None = None
    kinds: Kinds = FLOATS
    typed: bool = False
    tensors: bool = False
    shares: bool = False


FUNCTIONS: dict[str, Function] = {}
SPELLINGS: dict[str, Function] = {}
METHODS: dict[str, Function] = {}

LIBRARIES = {
    "torch": ("torch",),
    "numpy": ("np", "numpy", "jnp"),
    "math": ("math",),
    "functional": ("F", "nn.functional", "torch.nn.functional"),
    "linalg": ("linalg", "torch.linalg", "np.linalg", "numpy.linalg"),
    "special": ("special", "torch.special"),
}
METHOD, NOT_BARE, TYPED, TENSORS, SHARES = "method", "not-bare", "dtype", "tensors", "shares"
SHARING = ("shaping", "making")
"""Families whose functions may give an argument itself, or a view of it."""


def spelled_under(names: Iterable[str], where: str) -> tuple[str, ...]:
    """Return every way to write ``names``: bare, unless ``where`` holds ``not-bare``, and under each library of it."""
    words = where.split()
    prefixes = [
        prefix for word in words if word not in (METHOD, NOT_BARE, TYPED, TENSORS, SHARES) for prefix in LIBRARIES[word]
    ]
    bare = [] if NOT_BARE in words else [name for name in names if "." not in name]
    dotted = [name for name in names if "." in name]
    return (*bare, *dotted, *(f"{prefix}.{name}" for name in names if "." not in name for prefix in prefixes))


def register(function: Function) -> None:
    """Enter a function in the vocabulary."""
    FUNCTIONS[function.name] = function
    for spelling in function.spellings:
        if SPELLINGS.setdefault(spelling, function) is not function:
            raise ValueError(f"{spelling!r} is spelled twice")
    for method in function.methods:
        if METHODS.setdefault(method, function) is not function:
            raise ValueError(f".{method}() is spelled twice")


class Spelled(NamedTuple):
    """How a function is spelled: the libraries ``where`` it is found, ``also`` its other names, and a line on it.

    ``where`` holds words of ``LIBRARIES``, ``method`` for methods too, ``not-bare`` where it is no function by itself,
    ``dtype`` where it takes a type of numbers, ``tensors`` where PyTorch takes no plain number in an array's place,
    ``shares`` where the result may show the memory of an argument, as that of a function of ``SHARING`` may.
    """

    where: str = "torch numpy method"
    also: str = ""
    doc: str = ""
    family: str = "elementwise"
    kinds: Kinds = FLOATS


def enter(names: str, spelled: Spelled, *, op: Op | None = None, build: Builder | None = None) -> None:
    """Enter a function under ``names``, of which the first is its own."""
    first, *others = f"{names} {spelled.also}".split()
    plain = [name for name in (first, *others) if "." not in name]
    methods = tuple(plain) if METHOD in spelled.where.split() else ()
    spellings = spelled_under((first, *others), spelled.where)
    words = spelled.where.split()
    flags = TYPED in words, TENSORS in words, SHARES in words or spelled.family in SHARING
    register(Function(first, build, spellings, methods, spelled.doc, spelled.family, op, spelled.kinds, *flags))


def function(
    names: str, where: str, family: str, *, op: Op | None = None, kinds: Kinds = FLOATS, doc: str = ""
) -> Callable[[B], B]:
    """Enter the decorated builder as ``enter`` does, with a line on it, or the first line of its docstring."""

    def decorate(build: B) -> B:
        lines = (doc or build.__doc__ or names).strip().splitlines()
        enter(names, Spelled(where, "", lines[0], family, kinds), op=op, build=as_builder(build))
        return build

    return decorate


# --- ops that work entry by entry ---


@lru_cache(maxsize=1024)
def with_options(formula: Formula, options: tuple[tuple[str, Any], ...]) -> Formula:
    """Return a formula with its options filled in: one function for the same options, so that it is derived once."""
    return partial(formula, **dict(options))


def elementwise_local(formula: Formula, zero_at: Test | None) -> Local:
    """Return the local reading of an op that works entry by entry and broadcasts."""

    def local(at: At) -> list[Links]:
        rows = np.arange(np.size(at.out), dtype=np.intp)
        bound = tuple([(k, at.places(k, rows)) for k in range(len(at.values))])
        rule = with_options(formula, tuple(sorted(at.static.items()))) if at.static else formula
        weight: Array | float = 1.0
        if zero_at is not None:
            weight = np.broadcast_to(np.where(zero_at(at.argument, *at.values), 0.0, 1.0), np.shape(at.out)).ravel()
        return [Links(rows, bound[at.argument][1], weight, Partial(rule, at.argument), bound)]

    return local


def with_slopes(name: str, formula: Formula, slopes: Formula) -> Formula:
    """Return a formula whose derivatives are ``slopes``, one for each argument, and not those that sympy would take."""

    @wraps(formula)
    def whole(s: Symbols, *symbols: Expression, **options: Any) -> Expression:
        return s.with_slopes(s, name, formula, slopes, tuple(options.items()))(*symbols)

    return whole


def called(name: str) -> Formula:
    """Return the formula of a function that is written as a call of its name."""
    return lambda s, *symbols: getattr(s, name)(*symbols)


def elementwise(
    name: str,
    forward: Any,
    *vjps: Any,
    spelled: Spelled | None,
    formula: Formula | None = None,
    slopes: Formula | None = None,
    derivatives: Formula | None = None,
    **record: Any,
) -> Op:
    """Declare an op of one or more arguments that works entry by entry, by its forward and a vjp for each argument.

    ``spelled`` enters a function of its name, which takes the arguments of the op and its ``defaults``; None enters
    none. ``slopes(s, *symbols, **options)`` are the derivatives of the formula where sympy's own lose digits; None:
    they do not. Without a formula it is a call of the function itself, ``s.NAME``, which has these ``slopes``;
    ``derivatives`` are those of the call where the formula is given and makes it. All else is the ``record``.
    """
    if formula is None:
        formula, derivatives = called(name), slopes
    elif slopes is not None:
        formula = with_slopes(name, formula, slopes)
    local = elementwise_local(formula, record.get("zero_at"))
    entries = replace(record.pop("entries", NO_ENTRIES), shaped=True)
    op = declare(name, forward, vjps, local, formula, entries=entries, derivatives=derivatives, **record)
    if spelled is not None:
        plain = len(vjps) == 1 and not op.text.defaults
        enter(name, spelled, op=op, build=None if plain else builder(op, len(vjps)))
    return op


def builder(op: Op, count: int) -> Builder:
    """Return the builder of a function of one or two arrays that takes the options of an op; numbers are checked."""

    def build(f: Apply, *arguments: Any, **named: Any) -> Tensor:
        if len(arguments) == count and not (named or op.text.defaults):
            return f(op, *arguments)
        bound = signature.bind(f, *arguments, **named)
        bound.apply_defaults()
        _, *values = bound.arguments.values()
        options = zip(op.text.defaults.items(), values[count:], strict=True)
        static = {key: number(x, key) if isinstance(default, float) else x for (key, default), x in options}
        return f(op, *values[:count], **static)

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    arrays = [inspect.Parameter(name, kind, annotation="Tensor") for name in ("x", "other")[:count]]
    options = [
        inspect.Parameter(name, kind, annotation="Static", default=value) for name, value in op.text.defaults.items()
    ]
    signature = inspect.Signature([inspect.Parameter("f", kind, annotation="Apply"), *arrays, *options])
    build.__signature__ = signature  # type: ignore[attr-defined]
    return build


# --- looking a function up ---


class Row(NamedTuple):
    """A function in the index, as the code has it; ``docs/make_index.py`` writes them, and a test holds them."""

    name: str
    module: str
    signature: str
    summary: str
    family: str
    spellings: tuple[str, ...]
    methods: tuple[str, ...]


@cache
def rows() -> tuple[Row, ...]:
    """Return all functions, those that no program has loaded among them, in the order in which they are listed."""
    import json  # a start looks up no name that is not loaded

    text = Path(__file__).with_name("index.json").read_text(encoding="utf-8")
    return tuple([Row._make([*row[:5], *map(tuple, row[5:])]) for row in json.loads(text)])


@cache
def spellings() -> dict[str, Row]:
    """Return the functions by each name that a call may have."""
    return {name: row for row in rows() for name in row.spellings}


@cache
def methods() -> dict[str, Row]:
    """Return the functions by each name of a method."""
    return {name: row for row in rows() for name in row.methods}


def find(register: dict[str, Function], name: str) -> Function | None:
    """Return the function of this name in ``SPELLINGS`` or ``METHODS``; None where there is none in all of them."""
    if name in register:
        return register[name]
    row = (methods() if register is METHODS else spellings()).get(name)
    return row and load(row)


def load(row: Row) -> Function:
    """Return the function of a row, and import the module that has it."""
    import_module(row.module)
    return FUNCTIONS[row.name]


def load_all() -> None:
    """Import the functions that few programs call: they would cost every start."""
    from pkgutil import iter_modules

    further = import_module("gradcli.ops.further")
    for module in iter_modules(further.__path__):
        import_module(f"{further.__name__}.{module.name}")


# --- facts ---


class Facts(NamedTuple):
    """What ``facts.toml`` says of one function or operator; the head of the file says what each field holds.

    A field that a table leaves out is empty, and a test names it.
    """

    formula: str = ""
    derivatives: tuple[str, ...] = ()
    program: str = ""
    inputs: Mapping[str, str] = MappingProxyType({})
    v: str = ""


@cache
def all_facts() -> dict[str, Facts]:
    """Return the facts of all functions by their names, and of the operators by their signs."""
    import tomllib  # a start looks up no facts

    text = Path(__file__).with_name("facts.toml").read_text(encoding="utf-8")
    tables = {name: Facts(**table) for name, table in tomllib.loads(text).items()}
    return {name: facts._replace(derivatives=tuple(facts.derivatives)) for name, facts in tables.items()}


def facts_of(name: str) -> Facts:
    """Return the facts of a function or operator; raises ``unknown-function`` where no table is written."""
    if name not in all_facts():
        hint = f"write the table [{name}] of ops/facts.toml: tests/test_vocabulary.py says what it needs"
        raise GradcliError("unknown-function", f"'{name}' has no facts to show", hint=hint)
    return all_facts()[name]
