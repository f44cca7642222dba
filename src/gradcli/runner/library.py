"""Names of libraries: what a dotted name of a script stands for, and the modules or texts that have it.

Objects of classes that are derived from Python's own: ``class Config(dict)``, ``class Celsius(float)``.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from gradcli.errors import GradcliError, Span
from gradcli.language.calls import lacks
from gradcli.runner.exceptions import Raised, raise_key, raised_of
from gradcli.runner.state import Run
from gradcli.runner.values import (
    UNBOUND,
    VIEWS,
    Class,
    Context,
    Foreign,
    Frame,
    Hosted,
    Instance,
    Named,
    Native,
    Size,
    Tensor,
    ask,
)

TABLE: dict[str, Any] = {}
"""Natives and constants of loaded modules by their full dotted names (``torch.tensor``, ``math.pi``)."""
METHODS: dict[str, Native] = {}
"""Methods of tensors that are natives: ``native(run, tensor, *arguments, **named)``."""
ATTRIBUTES: dict[str, Callable[[Any, Any], Any]] = {}
"""Attributes of tensors: ``read(run, tensor)``."""
READERS: dict[str, Callable[[Any, Any, str], Any]] = {}
"""What reads an attribute that only arrays of a library have: ``read(run, array, name)``, UNBOUND for none."""
FOREIGN_TO: dict[str, set[str]] = {}
"""Names of attributes of tensors that arrays of a library do not have."""
N = TypeVar("N", bound=Native)


def entering(table: dict[str, Any]) -> Callable[..., Callable[[N], N]]:
    """Return a decorator that enters a function in a table under names."""

    def named(*names: str) -> Callable[[N], N]:
        def decorate(function: N) -> N:
            table.update(dict.fromkeys(names, function))
            return function

        return decorate

    return named


native, method, attribute = entering(TABLE), entering(METHODS), entering(ATTRIBUTES)


def always(value: Any) -> Native:
    """Return a native that gives one value, whatever it is given."""
    return lambda run, *arguments, **named: value


def own_attributes(*names: str) -> dict[str, Any]:
    """Return what reads attributes of a host's object: methods, which take the run first, and values."""
    return {name: lambda run, me, name=name: getattr(me, name) for name in names}  # names of the class that asks


def attributes_of(field: str, *names: str) -> dict[str, Any]:
    """Return what reads attributes of the function, or another value of the script, in a field of a host's object."""
    return {name: lambda run, me, name=name: run.attribute(getattr(me, field), name) for name in names}  # as above


def record(name: str, text: str, fields: dict[str, Any]) -> Instance:
    """Return an object of fixed values: what its class is called, and how it is shown."""
    made = Instance(Class(name, [], {"__repr__": lambda run, me: text}))
    made.fields.update(fields)
    return made


class Setting(Context):
    """A ``with`` inside of which a field of the run has what ``make(run)`` gives; it may begin before its block."""

    def __init__(self, field: str, make: Callable[[Any], Any], value: Any = None) -> None:
        super().__init__(value)
        self.field, self.make, self.before = field, make, UNBOUND

    def enter(self, run: Any) -> Any:
        """Set it."""
        if self.before is UNBOUND:
            self.before = getattr(run, self.field)  # a field of the run, by its own name
        setattr(run, self.field, self.make(run))
        return self.value

    def leave(self, run: Any) -> None:
        """Set it back."""
        setattr(run, self.field, self.before)
        self.before = UNBOUND


class Within:
    """A function that runs within a context of ``make()``; its name and its words are those of the function."""

    def __init__(self, make: Callable[[], Context], function: Any) -> None:
        self.make, self.function = make, function

    def __call__(self, run: Any, *arguments: Any, **named: Any) -> Any:
        """Call the function."""
        context = self.make()
        context.enter(run)
        try:
            made = run.call(self.function, list(arguments), named)
        except (Raised, GradcliError) as error:
            ended = raised_of(error)
            if ended is not None and context.leave_by(run, ended):
                return None
            raise
        context.leave(run)
        return made

    attributes = attributes_of("function", "__name__", "__qualname__", "__doc__") | {
        "__wrapped__": lambda run, me: me.function
    }


@contextmanager
def quietly(run: Any, grad: bool | None = None) -> Iterator[None]:
    """Run a part that is no event and leaves the line; with ``grad`` gradients are on, or off, in it."""
    line, before = run.line, run.grad_enabled
    run.quiet += 1
    if grad is not None:
        run.enable_grad(grad)
    try:
        yield
    finally:
        run.quiet -= 1
        run.line = line
        run.enable_grad(before)


def unseeded(run: Any, called: str) -> int:
    """Return the seed of draws for which the script sets none; a note says so."""
    run.note(
        "seed",
        f"The script sets no seed: draws begin at seed {run.seed}, and {called} draws other numbers at every run",
    )
    return run.seed  # type: ignore[no-any-return]


def generator_of(run: Any, library: str, called: str, make: Callable[[int], Any]) -> Any:
    """Return the generator of a library, which is made at its first draw."""
    if library not in run.generators:
        run.generators[library] = make(run.seed)
        unseeded(run, called)
    return run.generators[library]


def drawing(work: Any, find: Callable[[Any], Any]) -> Native:
    """Return a function of a generator's, which ``find(run)`` gives: ``work(run, generator, …)`` does it."""
    return lambda run, *arguments, **named: work(run, find(run), *arguments, **named)


def methods_of_draws(methods: dict[str, Any]) -> dict[str, Any]:
    """Return what reads the methods of a generator that stands in ``host``."""
    return {name: lambda run, me, work=work: drawing(work, lambda run: me.host) for name, work in methods.items()}


HOMES: dict[str, tuple[str, ...]] = {
    "torch": ("torch_making", "torch_functions", "torch_autograd", "torch_function", "transformed"),
    "numpy": ("numpy_functions", "numpy_arrays"),
    "functorch": ("transformed",),
    "jax": (".tensor_attributes", "jax_arrays", "jax_transforms"),
    "autograd": ("hips_autograd",),
    **dict.fromkeys(("math", "random"), ("python_numbers",)),
    **dict.fromkeys(
        ("itertools", "functools", "operator", "heapq", "bisect", "contextlib"), ("python_iteration",),
    ),
    **dict.fromkeys(("collections", "copy", "dataclasses", "enum"), ("python_collections",)),
    "typing": ("python_standard", "python_collections"),
    **dict.fromkeys(
        ("time", "abc", "statistics", "sys", "argparse", "types", "warnings", "string", "numbers", "__future__",
         "datetime", "logging", "gc", "textwrap", "pprint", "typing_extensions", "json", "io", "traceback", "re",
         "fractions", "decimal", "cmath", "threading", "inspect", "secrets", "uuid", "hashlib"),
        ("python_standard",),
    ),
}  # fmt: skip
"""The modules of this room that have the names of a library, by the first part of the name."""
loaded: set[str] = set()


def load(root: str) -> None:
    """Import the modules that have the names of a library."""
    if root in loaded:
        return
    loaded.add(root)
    for module in HOMES.get(root, ()):
        import_module(f".{module}", "gradcli.runner.libraries")


SHOWING_ONLY = {
    "typing", "typing_extensions", "types", "abc", "numbers", "warnings", "logging", "gc", "datetime", "traceback",
    "__future__",
}  # fmt: skip
"""Libraries of which what gradcli has no native for means nothing to the numbers."""
SAME = {
    "np": "numpy", "jnp": "jax.numpy", "F": "torch.nn.functional", "nn": "torch.nn", "optim": "torch.optim",
    "anp": "autograd.numpy",
}  # fmt: skip
"""Short names of modules that a script may use without an import where the rest of it leaves no doubt."""


def look_up(name: str) -> Any:
    """Return what a full dotted name stands for among natives and constants; UNBOUND where it is none of them."""
    root, _, rest = name.partition(".")
    load(root)
    value = TABLE.get(name, UNBOUND)
    if value is UNBOUND and rest and root in SHOWING_ONLY:
        return Foreign(name)
    return value


EFFECTS = {
    "open", "exec", "eval", "compile", "input", "__import__", "globals", "locals", "vars_of", "breakpoint", "os.system",
    "os.environ", "os.remove", "os.listdir", "os.popen", "os.getenv", "os.path.exists",
    "os.rename", "os.walk", "pickle.load", "pickle.dump", "subprocess.run", "requests.get", "urllib.request.urlopen",
    "socket.socket", "shutil.rmtree",
}  # fmt: skip
"""What would have an effect, or run a text."""
READING = {
    "numpy.loadtxt", "numpy.genfromtxt", "numpy.load", "numpy.fromfile", "pandas.read_csv", "pandas.read_excel",
    "pandas.read_json", "scipy.io.loadmat", "torch.load",
}  # fmt: skip
"""Functions that read a file."""
ACTING = {
    "os", "subprocess", "shutil", "socket", "urllib", "requests", "http", "ftplib", "smtplib", "ctypes", "importlib",
    "multiprocessing", "pickle", "cPickle", "dill", "shelve", "marshal", "sqlite3", "tempfile", "glob", "fileinput",
    "signal", "builtins", "runpy", "code", "webbrowser", "pty", "cffi", "pathlib",
}  # fmt: skip
"""Modules whose functions act on the machine, or tell of it; what ``pathlib`` and the like give only shows."""
TELLING = {
    "os.path.join", "os.path.dirname", "os.path.abspath", "os.path.basename", "os.path.splitext", "os.environ.get",
    "os.environ.setdefault", "os.environ.update", "os.getpid", "os.cpu_count", "os.getcwd", "multiprocessing.cpu_count",
    "importlib.reload", "os.makedirs", "os.mkdir", "signal.signal", "pathlib.Path", "pathlib.PurePath",
}  # fmt: skip
"""Functions of these that may be left out like what only shows."""


def effect_error(name: str, span: Span | None = None) -> GradcliError:
    """Return the error for a call that would have an effect beyond the script, or run a text."""
    runs = name in ("exec", "eval", "compile")
    what = f"'{name}' would {'run a text' if runs else 'have an effect beyond the script'}: gradcli does not run it"
    if name in READING:
        what = f"'{name}' reads a file, and gradcli reads none"
    hint = None if runs else "leave that line out, with what needs it"
    if name in READING | {"open"}:
        hint = f"write what it reads into the script{', and leave out what it writes' if name == 'open' else ''}"
    return GradcliError("not-allowed", what, hint=hint, span=span)


def refuse_effect(name: str) -> None:
    """Refuse a call of what gradcli does not have where it would have an effect beyond the script."""
    if name in EFFECTS or name in READING or (name.partition(".")[0] in ACTING and name not in TELLING):
        raise effect_error(name)


# ---- classes and functions of libraries that are written in the language of scripts
FOLDER = Path(__file__).with_name("prelude")


@cache
def prelude_index() -> dict[str, str]:
    """Return for each dotted name the text that has it: names of a package, and of the module within that has them."""
    import json  # a start without a library's class reads no index

    rows = json.loads((FOLDER / "index.json").read_text(encoding="utf-8"))
    return {f"{home}.{name}": text for text, *homes, names in rows for home in homes for name in names}


def find_prelude(run: Run, name: str) -> Any:
    """Return what a dotted name stands for in a library's text; UNBOUND where none has it."""
    text = prelude_index().get(name)
    return UNBOUND if text is None else prelude_module(run, text).get(name.rpartition(".")[2], UNBOUND)


def prelude_module(run: Run, text: str) -> dict[str, Any]:
    """Return the variables of a library's text, which runs once in a run."""
    if text not in run.modules:
        run.modules[text] = {}
        code = compiled_prelude(run.compile_text, text)
        frame: Frame = code.template.copy()
        frame[0] = run
        handling = run.handling
        try:
            with quietly(run):
                code.run(frame)
        finally:
            run.handling = handling
        run.modules[text].update({name: frame[k] for name, k in code.places.items() if frame[k] is not UNBOUND})
    return run.modules[text]


@cache
def compiled_prelude(compile_text: Any, text: str) -> Any:
    """Return a library's text as code."""
    return compile_text((FOLDER / f"{text}.py.txt").read_text(encoding="utf-8"), listed=False)[0]


# ---- the names that PyTorch has: what gradcli has not of these is refused, all others are an AttributeError
def refuse_theirs(run: Run, owner: Any, name: str) -> None:
    """Refuse an attribute that PyTorch's tensors, modules or optimizers have and gradcli's have not."""
    kind = class_of(run, owner)
    if kind is not None and not lacks(kind, name):
        raise run.refuse(f"'{kind}.{name}' is not part of gradcli")


def class_of(run: Run, owner: Any) -> str | None:
    """Return which of PyTorch's classes a value is of, None for none whose names are listed."""
    if isinstance(owner, Tensor):
        return "torch.Tensor" if owner.library == "torch" else None
    for text, own, kind in (("nn", "Module", "torch.nn.Module"), ("optim", "Optimizer", "torch.optim.Optimizer")):
        if isinstance(owner, Instance) and run.modules.get(text, {}).get(own) in owner.kind.order:
            return kind
    return None


# ---- objects of classes that are derived from Python's own


class HostedDict(Hosted, dict):  # type: ignore[type-arg]
    """A dictionary."""

    def __missing__(self, key: Any) -> Any:
        """Return what the class's own ``__missing__`` gives of a key that is not there, else what Python's does."""
        made = ask(self.kind.its_run, self, "__missing__", key)
        if made is not UNBOUND:
            return made
        own_missing = getattr(super(), "__missing__", raise_key)
        return own_missing(key)


HOSTS: dict[str, Any] = {
    **{
        kind.__name__: type(f"Hosted{kind.__name__}", (Hosted, kind), {})
        for kind in (list, set, tuple, str, int, float, deque)
    },
    **{
        kind.__name__: type(f"Hosted{kind.__name__}", (HostedDict, kind), {})
        for kind in (OrderedDict, defaultdict, Counter)
    },
    "dict": HostedDict,
}
"""The classes of the host, by what Python calls theirs."""
MUTABLE = (list, dict, set, deque)


def filling_of(like: Any, items: Any) -> tuple[Any, ...]:
    """Return what Python makes a container of: items, with the factory or the bound that another one has."""
    if isinstance(like, defaultdict):
        return like.default_factory, items
    return (items, like.maxlen) if isinstance(like, deque) else (items,)


def host_of(kind: Class) -> Class | None:
    """Return the class of Python's that another one is derived from, None where there is none."""
    natives = (one for one in kind.order[1:] if one.make is not None and one.name in HOSTS)
    return next((one for one in natives if one.find("__members__") is UNBOUND), None)


def new_hosted(run: Any, kind: Class, base: Class, arguments: Any, named: dict[str, Any]) -> Any:
    """Return a new object of such a class: one that can be changed is filled by ``__init__``."""
    host = HOSTS[base.name]
    own = kind.find("__init__") is not UNBOUND
    given, options = (
        ([], {}) if own and issubclass(host, MUTABLE) else (arguments[:1] if own else arguments, {} if own else named)
    )
    value = run.call(base, given, options)
    made = host(*filling_of(value, value))
    made.kind, made.fields = kind, {}
    return made


def fill(run: Any, me: Any, /, *arguments: Any, **named: Any) -> None:
    """Do what ``list.__init__`` and its like do."""
    base = host_of(me.kind)
    if base is None or not isinstance(me, MUTABLE):
        return
    value = run.call(base, list(arguments), named)
    if isinstance(me, dict):
        me.clear()
    type(me).__init__(me, *filling_of(value, value))  # type: ignore[arg-type]


def plain_value(me: Any) -> Any:
    """Return the value as Python's own class has it."""
    return next(kind for kind in (list, dict, set, tuple, str, int, float, deque) if isinstance(me, kind))(me)


# ---- how containers of Python are shown
Show = Callable[[Any], str]
"""What gives the text of an item."""


def named_text(x: Named, show: Show, _name: str) -> str:
    """Return a tuple with names; results of PyTorch's functions have a row for each."""
    fields = [f"{name}={show(value)}" for name, value in zip(x.fields, x, strict=True)]
    start, between = ("(\n", ",\n") if x.name.startswith("torch.return_types") else ("(", ", ")
    return f"{x.name}{start}{between.join(fields)})"


def listed(items: Iterable[Any], show: Show) -> str:
    """Return items as they stand in a container."""
    return ", ".join([show(item) for item in items])


def dict_text(x: Mapping[Any, Any], show: Show, _name: str = "") -> str:
    """Return a dictionary."""
    return "{" + ", ".join([f"{show(key)}: {show(value)}" for key, value in x.items()]) + "}"


def pairs_text(x: Mapping[Any, Any], show: Show, name: str) -> str:
    """Return an ``OrderedDict``."""
    pairs = [f"({show(key)}, {show(value)})" for key, value in x.items()]
    return f"{name}([{', '.join(pairs)}])" if x else f"{name}()"


COLLECTIONS: tuple[tuple[type, Callable[[Any, Show, str], str]], ...] = (
    (deque, lambda x, show, name: f"{name}([{listed(x, show)}]{'' if x.maxlen is None else f', maxlen={x.maxlen}'})"),
    (OrderedDict, pairs_text),
    (defaultdict, lambda x, show, name: (
        f"{name}({show(getattr(x.default_factory, 'make', None))}, {dict_text(x, show)})"
    )),
    (Counter, lambda x, show, name: f"{name}({dict_text(dict(x.most_common()), show) if x else ''})"),
)  # fmt: skip
CONTAINERS = (
    *COLLECTIONS, (Size, lambda x, show, name: repr(x)), (Named, named_text),
    (tuple, lambda x, show, name: f"({listed(x, show)}{',' * (len(x) == 1)})"),
    (list, lambda x, show, name: f"[{listed(x, show)}]"), (dict, dict_text),
    (set, lambda x, show, name: f"{{{listed(x, show)}}}" if x else "set()"),
    (frozenset, lambda x, show, name: f"frozenset({'{' + listed(x, show) + '}' if x else ''})"),
    *[(kind, lambda x, show, name: repr(x)) for kind in (range, slice)],
    *[(kind, lambda x, show, name: f"{VIEWS[type(x)]}([{listed(x, show)}])") for kind in VIEWS],
)  # fmt: skip
"""How Python's containers are shown; ``show`` gives the text of an item, ``name`` is that of the class."""
