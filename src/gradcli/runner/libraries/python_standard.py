"""What else scripts take of Python's library: ``sys``, ``time``, ``argparse``, ``json``, types, what only shows."""

from __future__ import annotations

import json
import string
import sys
import textwrap
from typing import Any, ClassVar

from gradcli.runner.exceptions import exception_class, raised
from gradcli.runner.library import TABLE, always, native, own_attributes
from gradcli.runner.printing import DEEPEST, to_repr
from gradcli.runner.python.builtins import item_of, number_of
from gradcli.runner.python.containers import take
from gradcli.runner.python.operators import cut, equal, note_text, read_number, traced, untraced
from gradcli.runner.state import Run
from gradcli.runner.values import Bound, Class, Closure, Context, Foreign, Instance, Named, Tensor


# ---- sys
class Stream:
    """A stream that is written to: the output, or one that nobody reads."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.text = f"<_io.TextIOWrapper name='{name}'>"

    def write(self, run: Run, text: str) -> int:
        """Write a text."""
        if self.name == "sys.stdout":
            run.print(text)
        return len(text)

    attributes = own_attributes("write") | {
        "flush": always(always(None)), "isatty": always(always(False)), "encoding": always("utf-8"),
        "reconfigure": always(always(None)),
    }  # fmt: skip


class TextStream:
    """``io.StringIO``: a text that is written."""

    name = "io.StringIO"

    def __init__(self, text: str = "") -> None:
        self.parts = [text] if text else []
        self.length = len(text)

    def write(self, run: Run, text: str) -> int:
        """Write a text."""
        self.parts.append(text)
        self.length += len(text)
        run.bound(self.length, "a text is too long")
        return len(text)

    def read(self, run: Run) -> str:
        """Return what was written."""
        return "".join(self.parts)

    attributes = own_attributes("write", "read") | {
        "getvalue": lambda run, me: me.read, "flush": always(always(None)), "close": always(always(None)),
    }  # fmt: skip


def exit_error(*codes: Any) -> Any:
    """Return the exception that ends a script."""
    error = raised("SystemExit", "")
    error.instance.fields["args"] = codes
    return error


@native("sys.exit")
def sys_exit(run: Run, code: Any = None) -> Any:
    """End the script."""
    raise exit_error(*(() if code is None else (code,)))


def exc_info(run: Run) -> tuple[Any, ...]:
    """Return the exception that is handled."""
    if not run.handling:
        return None, None, None
    instance = run.handling[-1].instance
    return instance.kind, instance, None


VERSION = {"major": 3, "minor": 11, "micro": 7, "releaselevel": "final", "serial": 0}
FLOAT_INFO = {name: getattr(sys.float_info, name) for name in (
    "max", "max_exp", "max_10_exp", "min", "min_exp", "min_10_exp", "dig", "mant_dig", "epsilon", "radix", "rounds",
)}  # fmt: skip
TABLE |= {
    "sys.stdout": Stream("sys.stdout"), "sys.stderr": Stream("sys.stderr"), "sys.argv": ["script.py"],
    "sys.maxsize": sys.maxsize, "sys.version": "3.11.7", "sys.version_info": Named("sys.version_info", VERSION),
    "sys.platform": "linux", "sys.modules": {}, "sys.float_info": Named("sys.float_info", FLOAT_INFO), "sys.path": [],
    "sys.byteorder": "little", "sys.executable": "python", "sys.setrecursionlimit": always(None),
    "sys.getrecursionlimit": always(1000), "sys.getsizeof": always(64), "sys.getrefcount": always(2),
    "sys.exc_info": exc_info, "sys.settrace": always(None), "io.StringIO": lambda run, text="": TextStream(text),
    **{name: Foreign(name) for name in ("sys.flags", "sys.stdin", "sys.displayhook", "threading.Lock")},
}  # fmt: skip


# ---- time: numbers that grow with what was computed, the same in every run
def clock(start: float) -> Any:
    """Return a clock: it begins at a number, and goes on with what the run counts."""

    def read(run: Run) -> float:
        run.ticks += 1
        return start + 1e-6 * (run.ticks + run.count)

    return read


TABLE |= {
    **{f"time.{name}": clock(0.0) for name in ("perf_counter", "monotonic", "process_time")},
    "time.time": clock(1.7e9),
    "time.time_ns": lambda run: int(clock(1.7e9)(run) * 1e9),
    "time.perf_counter_ns": lambda run: int(clock(0.0)(run) * 1e9), "time.sleep": always(None),
    "time.strftime": always("2024-01-01 00:00:00"), "time.ctime": always("Mon Jan  1 00:00:00 2024"),
    **{name: Foreign(name) for name in ("time.localtime", "time.gmtime", "time.struct_time")},
}  # fmt: skip


# ---- typing, abc, types
@native("abc.abstractmethod", "abc.abstractproperty")
def abstractmethod(run: Run, function: Any) -> Any:
    """Mark a method as one that a derived class has to define."""
    if isinstance(function, Closure):
        function.attributes["__isabstractmethod__"] = True
    return function


for _module in ("typing", "typing_extensions"):
    for _name in ("final", "override", "overload", "runtime_checkable", "no_type_check"):
        TABLE[f"{_module}.{_name}"] = lambda run, x: x
    TABLE |= {
        f"{_module}.TYPE_CHECKING": False, f"{_module}.cast": lambda run, kind, x: x,
        f"{_module}.NewType": lambda run, name, kind: kind, f"{_module}.assert_type": lambda run, x, kind: x,
        f"{_module}.TypedDict": Class("TypedDict", [], {}, lambda run, *a, **n: dict(n)),
        f"{_module}.get_type_hints": lambda run, x, *_: {},
    }  # fmt: skip


def record_class(name: str, shown: str, qualified: str) -> Class:
    """Return a class of objects whose fields are what they are made of, by name."""
    members = {
        "__init__": lambda run, me, /, **named: me.fields.update(named),
        "__repr__": lambda run, me: f"{shown}({', '.join([f'{k}={to_repr(run, v)}' for k, v in me.fields.items()])})",
        "__eq__": lambda run, me, other: isinstance(other, Instance) and equal(run, me.fields, other.fields),
        "__hash__": None,
    }
    return Class(name, [], members, qualified=qualified)


TABLE |= {
    "abc.ABC": Class("ABC", [], {"__abc__": True}, qualified="abc.ABC"),
    "warnings.catch_warnings": lambda run, **_: Context([]),
    "abc.ABCMeta": Class("ABCMeta", [], {}),
    "types.SimpleNamespace": record_class("SimpleNamespace", "namespace", "types.SimpleNamespace"),
    "types.MethodType": lambda run, function, owner: Bound(function, owner),
    "types.FunctionType": Class("function", [], {}),
    "types.MappingProxyType": lambda run, table: dict(table),
}


# ---- argparse: the defaults
NAMESPACE = record_class("Namespace", "Namespace", "argparse.Namespace")
NAMESPACE.members["__contains__"] = lambda run, me, name: name in me.fields


class Parser:
    """``argparse.ArgumentParser``: a script has no arguments, so it gets the defaults."""

    def __init__(self) -> None:
        self.defaults: dict[str, Any] = {}
        self.required: list[str] = []

    def add(self, run: Run, *names: str, **options: Any) -> None:
        """Enter one argument."""
        if options.get("action") in ("help", "version"):
            return
        long = next((name for name in names if name.startswith("--")), names[0])
        place = options.get("dest") or long.lstrip("-").replace("-", "_")
        if options.get("required") or (not names[0].startswith("-") and options.get("nargs") not in ("?", "*")):
            self.required.append(names[0] if not names[0].startswith("-") else "/".join(names))
        action = options.get("action", "store")
        default = options.get(
            "default", {"store_true": False, "store_false": True}.get(action) if isinstance(action, str) else None
        )
        if isinstance(default, str) and "type" in options:
            default = run.call(options["type"], [default])
        if place not in self.defaults or default is not None:
            self.defaults[place] = default

    def parse(self, run: Run, args: Any = None, namespace: Any = None) -> Instance:
        """Return the defaults; what is missing ends the script, as it does there."""
        if args:
            raise run.refuse("argparse is given arguments: gradcli has the defaults alone")
        if self.required:
            raise exit_error(2)
        made = Instance(NAMESPACE) if namespace is None else namespace
        made.fields.update({k: v for k, v in self.defaults.items() if k not in made.fields})
        return made

    attributes: ClassVar[dict[str, Any]] = {
        "add_argument": lambda run, me: me.add, "parse_args": lambda run, me: me.parse,
        "parse_known_args": lambda run, me: lambda run, args=None, namespace=None: (me.parse(run, args, namespace), []),
        "set_defaults": lambda run, me: lambda run, **named: me.defaults.update(named),
        "get_default": lambda run, me: lambda run, name: me.defaults.get(name),
        "add_argument_group": lambda run, me: always(me), "add_mutually_exclusive_group": lambda run, me: always(me),
        "print_help": always(always(None)),
    }  # fmt: skip


TABLE |= {
    "argparse.ArgumentParser": lambda run, *_, **__: Parser(), "argparse.Namespace": NAMESPACE,
    "argparse.SUPPRESS": "==SUPPRESS==",
    **{f"argparse.{name}": Foreign("argparse") for name in (
        "ArgumentDefaultsHelpFormatter", "BooleanOptionalAction", "RawTextHelpFormatter", "RawDescriptionHelpFormatter",
    )},
}  # fmt: skip


# ---- statistics
BY_NUMPY = {
    "mean": ("np.mean", {}), "fmean": ("np.mean", {}), "median": ("np.median", {}), "variance": ("np.var", {"ddof": 1}),
    "pvariance": ("np.var", {}), "stdev": ("np.std", {"ddof": 1}), "pstdev": ("np.std", {}),
}  # fmt: skip
"""What traced numbers are given to in place of functions of ``statistics``."""


def several(x: Any) -> bool:
    """Return whether a value has items."""
    return isinstance(x, list | tuple | Tensor) or hasattr(x, "__iter__")


def statistic(name: str) -> Any:
    """Return a function of ``statistics``."""

    def run_it(run: Run, *parts: Any, **named: Any) -> Any:
        import statistics  # few scripts need it

        given = [[number_of(run, item) for item in take(run, part)] if several(part) else part for part in parts]
        sources = [x for part in given if isinstance(part, list) for x in part if isinstance(x, Tensor)]
        plain = [list(map(untraced, part)) if isinstance(part, list) else part for part in given]
        try:
            made = getattr(statistics, name)(*plain, **named)  # a name of the list below
            if sources and name in BY_NUMPY and len(given) == 1:
                function, options = BY_NUMPY[name]
                return item_of(run, run.function(function, run.array_of(given[0], "numpy"), **options))
            return cut(run, f"statistics.{name}", sources, made)
        except statistics.StatisticsError as error:
            return run.fail("StatisticsError", str(error))

    return run_it


for _name in (
    "mean", "fmean", "median", "median_low", "median_high", "mode", "multimode", "stdev", "pstdev", "variance",
    "pvariance", "geometric_mean", "harmonic_mean", "quantiles", "correlation", "covariance",
):  # fmt: skip
    TABLE[f"statistics.{_name}"] = statistic(_name)

# ---- texts
for _name in (
    "ascii_letters", "ascii_lowercase", "ascii_uppercase", "digits", "hexdigits", "octdigits", "punctuation",
    "whitespace", "printable",
):  # fmt: skip
    TABLE[f"string.{_name}"] = getattr(string, _name)
for _host in (textwrap.dedent, textwrap.indent, textwrap.fill, textwrap.wrap, textwrap.shorten):
    TABLE[f"textwrap.{_host.__name__}"] = lambda run, text, *a, host=_host, **n: host(text, *a, **n)
TABLE["string.capwords"] = lambda run, text: string.capwords(text)


class Whole:
    """A value of a script as ``pprint`` has it: one text, which stands where the value does."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def as_host(run: Run, x: Any, depth: int = 0) -> Any:
    """Return a value as containers of the host, of plain values and texts."""
    run.meter.turn(1, "what is shown does not end")
    if type(x) in (int, float, bool, str) or x is None:
        return x
    if type(x) is dict and depth < DEEPEST:
        return {as_host(run, key, depth + 1): as_host(run, value, depth + 1) for key, value in x.items()}
    if type(x) in (list, tuple) and depth < DEEPEST:
        return type(x)([as_host(run, item, depth + 1) for item in x])
    return Whole(to_repr(run, x))


@native("pprint.pformat")
def pformat(run: Run, x: Any, *arguments: Any, **options: Any) -> str:
    """Return a value as it is printed, its parts on lines of their own where it is long."""
    import pprint  # few scripts need it

    return pprint.pformat(as_host(run, x), *arguments, **options)


for _name, _sorted in (("pprint", True), ("pp", False)):
    TABLE[f"pprint.{_name}"] = lambda run, x, *_, by_key=_sorted, **options: run.print(
        pformat(run, x, **{"sort_dicts": by_key} | options) + "\n"
    )


# ---- json
def as_json(run: Run, x: Any, default: Any, depth: int = 0) -> Any:
    """Return a value as Python's own ``json`` takes it; raises TypeError as it does."""
    if depth > 200:
        run.fail("ValueError", "Circular reference detected")
    run.meter.turn(1, "the parts of a JSON text do not end")
    if x is None or isinstance(x, str | int | float | bool):
        return x
    if traced(x) and x.library == "python":
        note_text(run, repr(untraced(x)), [x])
        return untraced(x)
    if isinstance(x, list | tuple):
        return [as_json(run, item, default, depth + 1) for item in x]
    if isinstance(x, dict):
        for key in x:
            if not isinstance(key, str | int | float | bool | None):
                name = run.type_name(key).rpartition(".")[2]
                run.fail("TypeError", f"keys must be str, int, float, bool or None, not {name}")
        return {key: as_json(run, value, default, depth + 1) for key, value in x.items()}
    if default is not None:
        return as_json(run, run.call(default, [x]), default, depth + 1)
    return run.fail("TypeError", f"Object of type {run.type_name(x).rpartition('.')[2]} is not JSON serializable")


@native("json.dumps")
def dumps(
    run: Run, obj: Any, *, indent: Any = None, sort_keys: bool = False, separators: Any = None, default: Any = None,
    ensure_ascii: bool = True, **_: Any,
) -> str:  # fmt: skip
    """Return a value as JSON."""
    if isinstance(indent, int):
        run.bound(indent * 10_000, "a text is too long")
    return json.dumps(
        as_json(run, obj, default), indent=indent, sort_keys=sort_keys, separators=separators, ensure_ascii=ensure_ascii
    )


@native("json.loads")
def loads(run: Run, text: str, **_: Any) -> Any:
    """Return the value of a JSON text."""
    try:
        return json.loads(text, parse_float=lambda digits: read_number(run, digits, float(digits)))
    except json.JSONDecodeError as error:
        return run.fail("JSONDecodeError", str(error))
    except RecursionError:
        return run.fail_as("json depth")


TABLE |= {
    "json.JSONDecodeError": exception_class("JSONDecodeError"),
    "statistics.StatisticsError": exception_class("StatisticsError"),
}
for _feature in ("annotations", "division", "print_function", "absolute_import", "unicode_literals"):
    TABLE[f"__future__.{_feature}"] = Foreign("__future__")
