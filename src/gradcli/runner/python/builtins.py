"""Python's builtins: functions, types and constants that every script has."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from functools import cache, cmp_to_key
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES
from gradcli.runner.exceptions import LIBRARIES_OWN, TREE, Raised, exception_class, raised
from gradcli.runner.printing import format_value, to_repr, to_str
from gradcli.runner.python.containers import iterate, take, walk, whole
from gradcli.runner.python.host_attributes import stepped
from gradcli.runner.python.operators import equal, hashable, operate, plain, read_number, truth, untraced
from gradcli.runner.state import Run, constant
from gradcli.runner.values import (
    OBJECT,
    UNBOUND,
    VIEWS,
    Bound,
    Class,
    ClassMethod,
    Closure,
    DType,
    Foreign,
    Instance,
    Keyed,
    Method,
    Module,
    Named,
    Property,
    Size,
    StaticMethod,
    TableFunction,
    Tensor,
    ask,
    category,
    is_scalar,
    own,
    rounded,
)

BUILTINS: dict[str, Any] = {"object": OBJECT}


def builtin(function: Any) -> Any:
    """Enter a builtin under its name, without the ``_`` that keeps it apart from Python's."""
    BUILTINS[function.__name__.rstrip("_")] = function
    return function


# ---- types
def number_of(run: Run, x: Any) -> Any:
    """Return the number of a tensor of one entry, as Python has it; raises what PyTorch raises for several."""
    if not isinstance(x, Tensor):
        return x
    if np.size(x.value) != 1:
        if x.library == "torch":
            run.fail("ValueError", "only one element tensors can be converted to Python scalars")
        run.fail("TypeError", "only 0-dimensional arrays can be converted to Python scalars")
    return item_of(run, x)


def item_of(run: Run, x: Tensor) -> Any:
    """Return what ``item()`` gives: a number of float32 where that is the type; one in many digits stays what it is.

    PyTorch's is cut off from the graph; a traced number of another library stays traced.
    """
    if run.levels and x.library != "torch":
        run.refuse_number(x)
    if (run.replay is not None or run.held.through) and type(x.node) in NODES and category(x.dtype) == 2:
        node = x.node if not x.shape else run.function("reshape", x, ()).node
        return Tensor(constant(run, node) if x.library == "torch" else node, "float64", "python")
    one = np.ravel(np.asarray(x.value))[0]
    if type(one) is not np.float64 and not isinstance(one, np.generic):
        one = np.float64(float(one))
    return rounded(np.float64(one), x.dtype).item() if category(x.dtype) == 2 else one.item()


def to_float(run: Run, x: Any = 0.0) -> Any:
    x = number_of(run, plain(x))
    if isinstance(x, Tensor):
        return x
    if (made := ask(run, x, "__float__")) is not UNBOUND:
        return made
    if not isinstance(x, int | float | str):
        run.fail("TypeError", f"float() argument must be a string or a real number, not '{type_name(x)}'")
    try:
        return float(x) if not isinstance(x, str) else read_number(run, x, float(x))
    except ValueError:
        return run.fail("ValueError", f"could not convert string to float: {x!r}")


def to_int(run: Run, x: Any = 0, base: Any = None) -> Any:
    x = number_of(run, plain(x))
    if isinstance(x, Tensor):
        return int(untraced(x))
    for name in ("__int__", "__index__"):
        if (made := ask(run, x, name)) is not UNBOUND:
            return made
    if not isinstance(x, int | float | str):
        what = "int() argument must be a string, a bytes-like object or a real number"
        run.fail("TypeError", f"{what}, not '{type_name(x)}'")
    try:
        return int(x) if base is None else int(x, base)
    except (ValueError, OverflowError) as error:
        literal = isinstance(x, str) and not str(error).startswith(("Exceeds", "int() base"))
        text = f"invalid literal for int() with base {base or 10}: {x!r}" if literal else str(error)
        return run.fail(type(error).__name__, text)


def make_type(run: Run, x: Any, bases: Any = UNBOUND, members: Any = None, **named: Any) -> Any:
    if bases is UNBOUND:
        return type_of(run, x)
    if members is None:
        run.fail("TypeError", "type() takes 1 or 3 arguments")
    from gradcli.runner.python.calls import make_class

    return make_class(run, x, list(bases), dict(members), {}, named)


def make_dict(run: Run, x: Any = (), /, **named: Any) -> dict[Any, Any]:
    pairs = list(x.items()) if isinstance(x, dict) else []
    for k, pair in enumerate(() if isinstance(x, dict) else take(run, x)):
        if isinstance(pair, int | float | None):
            run.fail("TypeError", f"cannot convert dictionary update sequence element #{k} to a sequence")
        items = take(run, pair)
        if len(items) != 2:
            run.fail("ValueError", f"dictionary update sequence element #{k} has length {len(items)}; 2 is required")
        pairs.append((items[0], items[1]))
    return {hashable(run, key): value for key, value in pairs} | named


def make_range(run: Run, *bounds: Any) -> range:
    parts = []
    for bound in bounds:
        part = whole(run, bound)
        if isinstance(part, Tensor):
            run.fail("TypeError", "only integer tensors of a single element can be converted to an index")
        if not isinstance(part, int):
            run.fail("TypeError", f"'{type_name(bound)}' object cannot be interpreted as an integer")
        parts.append(part)
    return range(*parts)


def make_bytes(run: Run, source: Any = b"", encoding: Any = None, errors: str = "strict") -> bytes:
    if isinstance(source, str):
        if encoding is None:
            run.fail("TypeError", "string argument without an encoding")
        return source.encode(encoding, errors)
    if isinstance(source, int):
        run.bound(source, "a text is too long")
        return bytes(source)
    return source if isinstance(source, bytes) else bytes(take(run, source))


def refuse_complex(run: Run, *_: Any) -> Any:
    raise run.refuse("complex numbers are not part of gradcli")


def type_class(name: str, make: Any = None, *bases: Class) -> Class:
    """Return one of Python's types, entered as a builtin where it can be called by its name."""
    made = Class(name, list(bases), {}, make)
    if make is not None:
        BUILTINS[name] = made
    return made


FLOAT = type_class("float", to_float)
INT = type_class("int", to_int)
STR = type_class("str", lambda run, x="": to_str(run, x))
TUPLE = type_class("tuple", lambda run, x=(): tuple(take(run, x)))
DICT = type_class("dict", make_dict)
TYPE = type_class("type", make_type)
METHOD, NATIVE = type_class("method"), type_class("builtin_function_or_method")
TENSOR = Class("Tensor", [], {}, qualified="torch.Tensor")
PARAMETER = Class("Parameter", [TENSOR], {}, qualified="torch.nn.parameter.Parameter")
NDARRAY = Class("ndarray", [], {}, qualified="numpy.ndarray")
JAX_ARRAY = Class("ArrayImpl", [], {}, qualified="jaxlib.xla_extension.ArrayImpl")
SIZE = Class("Size", [TUPLE], {}, lambda run, x=(): Size(take(run, x)), qualified="torch.Size")
DTYPE = Class("dtype", [], {}, qualified="torch.dtype")
COLLECTIONS: dict[Any, Class] = {
    kind: Class(kind.__name__, [] if kind is deque else [DICT], {}, qualified=f"collections.{kind.__name__}")
    for kind in (deque, Counter, OrderedDict, defaultdict)
}
"""The classes of Python's ``collections``, whose objects are Python's own."""
WALKS: tuple[Any, ...] = (
    *map(iter, ([], (), {}, set(), "", range(1))), enumerate(()), zip(), reversed([]),
)  # fmt: skip
"""What walks over Python's own containers, one of each kind."""
HOST: tuple[tuple[Any, Class], ...] = (
    (bool, type_class("bool", lambda run, x=False: truth(run, x), INT)), (int, INT), (float, FLOAT), (str, STR),
    (list, type_class("list", lambda run, x=(): take(run, x))), (Size, SIZE), (tuple, TUPLE), *COLLECTIONS.items(),
    (dict, DICT),
    (set, type_class("set", lambda run, x=(): {hashable(run, item) for item in take(run, x)})),
    (frozenset, type_class("frozenset", lambda run, x=(): frozenset(hashable(run, item) for item in take(run, x)))),
    (range, type_class("range", make_range)), (slice, type_class("slice", lambda run, *bounds: slice(*bounds))),
    (complex, type_class("complex", refuse_complex)), (type(None), type_class("NoneType")),
    (Closure, type_class("function")), (Bound, METHOD), (Method, METHOD), (type(...), type_class("ellipsis")),
    (type(NotImplemented), type_class("NotImplementedType")),
    *[(kind, type_class(kind.__name__)) for kind in (*map(type, WALKS), *VIEWS)], (Class, TYPE),
    (Module, type_class("module")),
    (DType, DTYPE), (Iterator, type_class("generator")), (TableFunction, NATIVE),
    (bytes, type_class("bytes", make_bytes)),
)  # fmt: skip
"""The classes of the host's values; the first that fits counts."""


@cache
def scalar_class(dtype: str) -> Class:
    """Return the class of a single number of NumPy's."""
    return Class(dtype, [FLOAT] if dtype == "float64" else [], {}, qualified=f"numpy.{dtype}")


def type_of(_run: Run, x: Any) -> Any:
    """Return the class of a value."""
    x = plain(x)
    if isinstance(x, Instance):
        return x.kind
    if isinstance(x, Class):
        return x.metaclass or TYPE
    if isinstance(x, Tensor):
        if x.library == "torch":
            return PARAMETER if x.extra is not None and x.extra.parameter else TENSOR
        if x.library == "numpy":
            return scalar_class(x.dtype) if is_scalar(x) else NDARRAY
        return FLOAT if x.library == "python" else JAX_ARRAY
    if isinstance(x, Foreign):
        return x
    if isinstance(x, Named):
        return x.kind or Class(x.name, [TUPLE], {}, qualified=x.name)
    own = getattr(x, "script_class", None)
    return own if own is not None else next((kind for host, kind in HOST if isinstance(x, host)), NATIVE)


def type_name(x: Any) -> str:
    """Return what Python calls the type of a value, for messages: of what gradcli has not, nobody knows it."""
    if isinstance(x, Foreign):
        raise x.needed()
    kind = type_of(None, x)  # type: ignore[arg-type]
    in_full = isinstance(kind, Class) and kind.qualified.startswith(("numpy.", "collections."))
    return str(kind.qualified if in_full and kind.name != "Counter" else kind.name)


ABSTRACT = {
    "Number": ("int", "float", "bool"), "Real": ("int", "float", "bool"), "Integral": ("int", "bool"),
    "Sequence": ("list", "tuple", "str", "range", "Size"),
    "Iterable": ("list", "tuple", "str", "range", "dict", "set", "generator"), "Mapping": ("dict",),
    "Callable": ("function", "method", "builtin_function_or_method"),
}  # fmt: skip


def is_abstract(name: str, kind: Any) -> bool:
    """Return whether a class of Python's, by its name, has what an abstract one asks for."""
    return isinstance(kind, Foreign) and name in ABSTRACT.get(kind.name.rpartition(".")[2], ())


def is_kind(run: Run, x: Any, kinds: Any) -> bool:
    """Return whether a value is of a class, or of one of several."""
    if isinstance(kinds, tuple):
        return any(is_kind(run, x, kind) for kind in kinds)
    if kinds is OBJECT:
        return True
    own = type_of(run, x)
    if isinstance(kinds, Foreign):
        return isinstance(own, Class) and is_abstract(own.name, kinds)
    if isinstance(kinds, DType):
        is_number = isinstance(x, Tensor) and (x.library == "jax" or (x.library == "numpy" and is_scalar(x)))
        return is_number and x.dtype == kinds.name
    if isinstance(kinds, int | float | str | list | dict):
        run.fail("TypeError", "isinstance() arg 2 must be a type, a tuple of types, or a union")
    if not isinstance(kinds, Class):
        return bool(kinds is None and x is None)
    if isinstance(own, Class) and (own.is_a(kinds) or own.find("__instanceof__") is kinds):
        return True
    test = kinds.find("__instancecheck__")
    return test is not UNBOUND and not isinstance(x, Instance) and bool(run.call(test, [x]))


# ---- functions
@builtin
def print_(run: Run, *values: Any, sep: Any = None, end: Any = None, file: Any = None, flush: Any = False) -> None:
    text = (" " if sep is None else sep).join([to_str(run, value) for value in values]) + ("\n" if end is None else end)
    if run.traced:
        run.note(
            "warning", "JAX runs a print inside of jax.jit once for each shape, and shows tracers there, no numbers"
        )
    if file is None or getattr(file, "name", "") == "sys.stdout":
        run.print(text)
    elif not isinstance(file, Foreign):
        run.call(run.attribute(file, "write"), [text])


@builtin
def repr_(run: Run, x: Any) -> str:
    return to_repr(run, x)


@builtin
def len_(run: Run, x: Any) -> Any:
    if isinstance(x, Tensor):
        if not x.shape:
            run.fail("TypeError", "len() of a 0-d tensor" if x.library == "torch" else "len() of unsized object")
        return x.shape[0]
    if (made := ask(run, x, "__len__")) is not UNBOUND:
        return made
    items = x.find("__members__") if isinstance(x, Class) else x
    if not hasattr(items, "__len__"):
        run.fail("TypeError", f"object of type '{type_name(x)}' has no len()")
    return len(items)


@builtin
def sum_(run: Run, items: Any, start: Any = 0) -> Any:
    if isinstance(start, str):
        run.fail("TypeError", "sum() can't sum strings [use ''.join(seq) instead]")
    total = start
    for item in iterate(run, items):
        total = operate(run, "+", total, item)
    return total


ABS = {"torch": "torch.abs", "python": "math.fabs", "numpy": "numpy.abs", "jax": "jax.numpy.abs"}


@builtin
def abs_(run: Run, x: Any) -> Any:
    if isinstance(x, Tensor):
        return run.call(run.member(ABS[x.library]), [x])
    if (made := ask(run, x, "__abs__")) is not UNBOUND:
        return made
    if not isinstance(x, int | float):
        run.fail("TypeError", f"bad operand type for abs(): '{type_name(x)}'")
    return abs(x)


def extreme(sign: str, word: str) -> Any:
    """Return Python's ``max`` or ``min``: of items, or of several values, the first of those that are equal."""

    def run_it(run: Run, *values: Any, key: Any = None, default: Any = UNBOUND) -> Any:
        if not values:
            run.fail("TypeError", f"{word} expected at least 1 argument, got 0")
        if len(values) > 1 and default is not UNBOUND:
            run.fail("TypeError", f"Cannot specify a default for {word}() with multiple positional arguments")
        items = take(run, values[0]) if len(values) == 1 else list(values)
        if not items:
            return run.fail("ValueError", f"{word}() arg is an empty sequence") if default is UNBOUND else default
        best = items[0]
        measure = best if key is None else run.call(key, [best])
        for item in items[1:]:
            other = item if key is None else run.call(key, [item])
            if truth(run, operate(run, sign, other, measure)):
                best, measure = item, other
        return best

    return run_it


@builtin
def sorted_(run: Run, items: Any, *, key: Any = None, reverse: bool = False) -> list[Any]:
    values = take(run, items)
    keys = values if key is None else [run.call(key, [item]) for item in values]
    compared = cmp_to_key(lambda a, b: -truth(run, operate(run, "<", a, b)))  # sorting asks for ``<`` alone
    simple = all(type(k) in (int, float) for k in keys) or all(type(k) is str for k in keys)
    order = sorted(range(len(values)), key=keys.__getitem__ if simple else lambda k: compared(keys[k]), reverse=reverse)
    return [values[k] for k in order]


class Zip(zip):  # type: ignore[type-arg]
    """``zip``, which a run can tell from others."""


class Enumerate(enumerate):  # type: ignore[type-arg]
    """``enumerate``."""


def zip_strictly(run: Run, walks: list[Iterator[Any]]) -> Iterator[Any]:
    """Put items together; raises ValueError where the parts are not of one length."""
    while walks:
        items = [next(walk, UNBOUND) for walk in walks]
        over = [item is UNBOUND for item in items]
        if all(over):
            return
        if any(over):
            k = over.index(not over[0])
            before = "argument 1" if k == 1 else f"arguments 1-{k}"
            run.fail("ValueError", f"zip() argument {k + 1} is {'longer' if over[0] else 'shorter'} than {before}")
        yield tuple(items)


@builtin
def zip_(run: Run, *parts: Any, strict: bool = False) -> Iterator[Any]:
    walks = [iter(walk(run, part)) for part in parts]
    made = zip_strictly(run, walks) if strict else Zip(*walks, strict=False)
    return run.over(made, parts)  # type: ignore[no-any-return]


@builtin
def reversed_(run: Run, items: Any) -> Any:
    if (made := ask(run, items, "__reversed__")) is not UNBOUND:
        return made
    if isinstance(items, set | frozenset | int | float | None):
        run.fail("TypeError", f"'{type_name(items)}' object is not reversible")
    return reversed(take(run, items))


@builtin
def map_(run: Run, function: Any, *parts: Any) -> Any:
    if not parts:
        run.fail("TypeError", "map() must have at least two arguments.")
    walks = zip(*[walk(run, part) for part in parts], strict=False)
    return run.over((run.call(function, list(items)) for items in walks), parts)


@builtin
def filter_(run: Run, function: Any, items: Any) -> Any:
    each = iterate(run, items)
    return run.over((i for i in each if truth(run, i if function is None else run.call(function, [i]))), (items,))


@builtin
def round_(run: Run, /, number: Any, ndigits: Any = None) -> Any:
    if isinstance(number, Tensor) and number.library == "torch":
        return run.function("torch.round", number, **({} if ndigits is None else {"decimals": ndigits}))
    if isinstance(number, Tensor) and (number.shape or ndigits is not None):
        return run.function("np.round", number, ndigits or 0)
    number = number_of(run, number)
    if (made := ask(run, number, "__round__", *([] if ndigits is None else [ndigits]))) is not UNBOUND:
        return made
    if isinstance(number, Foreign):
        return number
    if isinstance(number, int) and isinstance(ndigits, int):
        ndigits = max(ndigits, -run.meter.budget.bits)  # Python would work out that power of ten
    return round(untraced(number), ndigits)


@builtin
def issubclass_(run: Run, kind: Any, kinds: Any) -> bool:
    several = kinds if isinstance(kinds, tuple) else (kinds,)
    if not isinstance(kind, Class | Foreign):
        run.fail("TypeError", "issubclass() arg 1 must be a class")
    if not all(isinstance(one, Class | Foreign) for one in several):
        run.fail("TypeError", "issubclass() arg 2 must be a class, a tuple of classes, or a union")
    order = kind.order if isinstance(kind, Class) else [kind]
    return any(one is OBJECT or one in order or any(is_abstract(base.name, one) for base in order) for one in several)


@builtin
def callable_(_run: Run, x: Any) -> bool:
    if isinstance(x, Instance):
        return own(x, "__call__") is not UNBOUND
    return isinstance(x, Closure | Bound | Method | Class | TableFunction | DType) or callable(x)


def or_default(work: Callable[[], Any], kind: str, default: tuple[Any, ...]) -> Any:
    """Return what is worked out, or the default where there is one and an exception of a kind is raised."""
    try:
        return work()
    except Raised as error:
        if default and error.name == kind:
            return default[0]
        raise


@builtin
def getattr_(run: Run, x: Any, name: str, *default: Any) -> Any:
    if not isinstance(name, str):
        run.fail("TypeError", f"attribute name must be string, not '{type_name(name)}'")
    return or_default(lambda: run.attribute(x, name), "AttributeError", default)


def names_of_object(run: Run, x: Any) -> Any:
    """Return the names that an object of the script's has; those of anything else are refused."""
    if isinstance(x, Instance):
        return sorted({*x.fields, *(name for kind in x.kind.order for name in kind.members)})
    raise run.refuse("'dir' of anything but an object of the script's classes is not part of gradcli")


@builtin
def vars_(run: Run, x: Instance | None = None) -> dict[str, Any]:
    if x is None:
        raise run.refuse("'vars' of a module would be written to: gradcli does not run it")
    if not hasattr(x, "fields"):
        run.fail("TypeError", "vars() argument must have __dict__ attribute")
    return x.fields


@builtin
def iter_(run: Run, x: Any, *end: Any) -> Any:

    def until() -> Iterator[Any]:
        while not equal(run, item := run.call(x), end[0]):
            run.meter.turn()
            yield item

    return until() if end else iter(walk(run, x))


@builtin
def next_(run: Run, x: Any, *default: Any) -> Any:
    if own(x, "__next__") is not UNBOUND:
        return or_default(lambda: ask(run, x, "__next__"), "StopIteration", default)
    if not hasattr(type(x), "__next__"):
        run.fail("TypeError", f"'{type_name(x)}' object is not an iterator")
    return or_default(lambda: stepped(run, lambda: next(x)), "StopIteration", default)


@builtin
def id_(run: Run, x: Any) -> int:
    """Return a number that tells values apart: the same in every run."""
    _, number = run.identities.setdefault(id(x), (x, len(run.identities)))  # what is kept keeps its place in memory
    return 140_000_000_000_000 + 48 * number


@builtin
def hash_(run: Run, x: Any) -> int:
    by_identity = isinstance(x, str | Instance | Tensor) and not isinstance(x, Keyed)
    return int(id_(run, x)) if by_identity else hash(hashable(run, x))


@builtin
def exit_(_run: Run, code: Any = None) -> Any:
    raise raised("SystemExit", *(() if code is None else (code,)))


@builtin
def setattr_(run: Run, x: Any, name: str, value: Any) -> None:
    if run.story is not None and isinstance(name, str):
        value = run.story.tell([run], f"an object.{name}", value, (x, name))
    run.assign_attribute(x, name, value)


BUILTINS |= {
    "quit": exit_, "NotImplemented": NotImplemented, "Ellipsis": ..., "__name__": "__main__", "__file__": "script.py",
    "property": lambda run, fget, fset=None, fdel=None, doc=None: Property(fget, fset, fdel),
    "staticmethod": lambda run, function: StaticMethod(function),
    "classmethod": lambda run, function: ClassMethod(function), "display": print_,
    "max": extreme(">", "max"), "min": extreme("<", "min"),
    "enumerate": lambda run, items, start=0: run.over(Enumerate(walk(run, items), start), (items,)),
    "any": lambda run, items: any(truth(run, item) for item in iterate(run, items)),
    "all": lambda run, items: all(truth(run, item) for item in iterate(run, items)),
    "pow": lambda run, x, y, modulus=None: operate(run, "**", x, y) if modulus is None else pow(x, y, modulus),
    "divmod": lambda run, x, y: (operate(run, "//", x, y), operate(run, "%", x, y)),
    "isinstance": is_kind, "format": format_value,
    "hasattr": lambda run, x, name: getattr_(run, x, name, UNBOUND) is not UNBOUND,
    "delattr": lambda run, x, name: run.delete_attribute(x, name),
    "dir": names_of_object,
    "chr": lambda run, code: chr(code), "ord": lambda run, character: ord(character),
    "bin": lambda run, x: bin(x), "hex": lambda run, x: hex(x), "oct": lambda run, x: oct(x),
    "ascii": lambda run, x: to_repr(run, x).encode("ascii", "backslashreplace").decode(),
    **{name: exception_class(name) for name in TREE if name not in LIBRARIES_OWN},
    "IOError": exception_class("OSError"), "EnvironmentError": exception_class("OSError"),
}  # fmt: skip
