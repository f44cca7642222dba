"""Python functions as scripts: their source is found and never called, their parameters are the inputs.

The source of a function or a class is the piece of its file that it was made of. The script is the text of the
function, after those that it calls from outside, and ends with a call of it. Numbers and arrays from outside are values
of the script as they are now; it imports modules and functions of libraries.
"""

from __future__ import annotations

import ast
import dis
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import count
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from gradcli.engine.graph import Graph, Node
from gradcli.errors import Budget, GradcliError, Place
from gradcli.language.calls import TYPES
from gradcli.language.values import as_array, detached
from gradcli.ops import spellings
from gradcli.ops.making import CONSTANTS
from gradcli.records import dataclass, field
from gradcli.runner.names import MODULES, SHOWING, library_among
from gradcli.runner.reading import FOREIGN, read_script
from gradcli.runner.replay import ScriptProgram
from gradcli.runner.script import LAST, compile_tree, tell
from gradcli.runner.state import Run
from gradcli.runner.values import Tensor, kind_of

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
NUMBERS = (int, float, complex)
CONSTANT = (ast.BinOp, ast.UnaryOp, ast.Constant, ast.operator, ast.unaryop)
ALWAYS = (0, 1)
"""Numbers that the compiler may leave out: ``while 1``."""
HOMES = (
    "torch", "torch.nn.functional", "torch.special", "torch.linalg", "torch.nn", "math", "numpy", "numpy.linalg",
    "jax.numpy", "jax.nn", "scipy.special",
)  # fmt: skip
"""Modules in which the functions of libraries have their usual names."""
ROOTS = frozenset(module.partition(".")[0] for module in (*MODULES, *SHOWING))
LIBRARIES = {"torch": "torch", "jaxlib": "jax", "jax": "jax", "numpy": "numpy"}
"""The modules that types of arrays are of, and whose arrays these are."""
JITTED = ("PjitFunction", "_lru_cache_wrapper")
"""Types of what gives what the function in it does."""
CALLED = "_called"
"""What a lambda that is asked for is called in the script."""


# ---- the source of a function
class Definition(NamedTuple):
    """A function or a class of Python's and its text: a ``def`` without decorators, a ``lambda``, or a ``class``."""

    what: Any
    text: str

    @property
    def is_lambda(self) -> bool:
        """Whether it is a ``lambda``."""
        return self.what.__name__ == "<lambda>" or self.text.startswith(("lambda", "("))


def no_source(message: str, text: str = "x**2") -> GradcliError:
    """Return the error for a function that cannot be read, with the text that shows what to write."""
    return GradcliError("no-source", message, hint=f'give a text in its place, such as "{text}"')


def definition_of(function: Any) -> Definition:
    """Return the source of a function or a class; raises ``no-source`` where Python has none, or another one by now."""
    name = "this lambda" if function.__name__ == "<lambda>" else f"'{function.__qualname__}'"
    try:
        lines, first = inspect.findsource(function)
    except (OSError, TypeError, IndexError):
        raise no_source(f"Python has no source of {name}") from None
    text = "".join(lines)
    parts = list(ast.walk(tree_of(text)))
    if isinstance(function, type):
        classes = [node for node in parts if isinstance(node, ast.ClassDef) and node.name == function.__name__]
        here = [node for node in classes if first + 1 in (node.lineno, *(one.lineno for one in node.decorator_list))]
        if not here:
            raise no_source(f"the source of {name} is not that of the class any more")
        return Definition(function, text_of(here[0], text))
    nodes = [node for node in parts if isinstance(node, FUNCTIONS) and is_source(node, function.__code__)]
    if len({ast.dump(node) for node in nodes}) != 1:
        what = "holds several functions that it may be" if nodes else "is not that of the function any more"
        raise no_source(f"the source of {name} {what}")
    return Definition(function, text_of(nodes[0], text))


def tree_of(text: str) -> ast.Module:
    """Return the syntax tree of a file, or of a notebook's cell with its commands left out."""
    for way in (text, FOREIGN.sub("", text)):
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            return ast.parse(way)
    return ast.Module([], [])


def text_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda, text: str) -> str:
    """Return the text of a function by itself, from the margin and without its decorators; a class keeps them."""
    if isinstance(node, ast.Lambda):
        own = ast.get_source_segment(text, node) or ""
        return f"({own})" if "\n" in own else own
    first = min([node.lineno, *(one.lineno for one in node.decorator_list if isinstance(node, ast.ClassDef))])
    lines = text.split("\n")[first - 1 : node.end_lineno]
    return "\n".join(line[min(node.col_offset, len(line) - len(line.lstrip())) :].rstrip() for line in lines)


def is_source(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, code: CodeType) -> bool:
    """Return whether a piece of syntax is what some code was made of, as far as both show it.

    They have the same line, name, parameters, names and numbers, and the code's places lie in the syntax.
    """
    first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])
    if first != code.co_firstlineno or getattr(node, "name", "<lambda>") != code.co_name:
        return False
    arguments = node.args
    parameters = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    if tuple(parameters) != code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        return False
    start, end = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
    for line, end_line, column, end_column in code.co_positions():
        if line is None or end_line is None or column is None or end_column is None:
            continue
        if (line, column) != (end_line, end_column) and not start <= (line, column) <= (end_line, end_column) <= end:
            return False
    body = node.body if isinstance(node.body, list) else [node.body]
    names, kept = set(names_of(code)), list(kept_parts(body))
    if any(name.startswith("@py") for name in names):  # pytest writes what is asserted anew
        return True
    rest = (one.arg for one in (arguments.vararg, arguments.kwarg) if one)
    names_there = {*parameters, *rest, *names_in(part for one in body for part in ast.walk(one))}
    numbers = {part.value for part in kept if isinstance(part, ast.Constant) and isinstance(part.value, NUMBERS)}
    readers = [part for part in kept if isinstance(part, ast.Name | ast.Attribute)]
    read = {part.id if isinstance(part, ast.Name) else part.attr for part in readers}
    return read <= names <= names_there and numbers <= {*numbers_of(code), *ALWAYS}


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Yield some code and that of all functions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def names_of(code: CodeType) -> Iterator[str]:
    """Yield every name that some code has, but those that Python makes up."""
    for one in codes_in(code):
        names = (*one.co_names, *one.co_varnames, *one.co_cellvars, *one.co_freevars)
        yield from (name for name in names if not name.startswith("."))


def names_in(parts: Iterable[ast.AST]) -> Iterator[str]:
    """Yield every name in the parts of a syntax tree."""
    for part in parts:
        match part:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Attribute(attr=name) | ast.keyword(arg=str(name)) | ast.ExceptHandler(name=str(name)):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from (word for one in names for word in [one.name, *one.name.split("."), one.asname or ""])
                yield getattr(part, "module", None) or ""


def numbers_of(code: CodeType) -> Iterator[object]:
    """Yield every number that some code loads, those in tuples too."""
    steps = [step for one in codes_in(code) for step in dis.get_instructions(one)]
    left = [step.argval for step in steps if "CONST" in step.opname or "SMALL_INT" in step.opname]
    while left:
        value = left.pop()
        if isinstance(value, tuple | frozenset | slice):
            left += [value.start, value.stop, value.step] if isinstance(value, slice) else value
        elif isinstance(value, NUMBERS):
            yield value


def kept_parts(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield the parts of some syntax that the compiler keeps: no annotations, nothing that is computed already."""
    left = [*body]
    while left:
        node = left.pop()
        computed = isinstance(node, ast.BinOp | ast.UnaryOp) and all(isinstance(p, CONSTANT) for p in ast.walk(node))
        if computed or isinstance(node, ast.Assert):
            continue
        yield node
        annotations = (getattr(node, "annotation", None), getattr(node, "returns", None))
        left += [child for child in ast.iter_child_nodes(node) if child not in annotations]


# ---- the program
@dataclass(slots=True)
class Outside:
    """What a function and those that it calls have from outside.

    ``definitions`` are these functions and classes by what calls them, each after those that it calls; ``full`` are the
    full names of what belongs to libraries, ``values`` all other values, or the errors that say why a name has none.
    """

    definitions: dict[str, Definition] = field(default_factory=dict)
    full: dict[str, str] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    seen: dict[str, object] = field(default_factory=dict)

    def take(self, name: str, value: Any) -> None:
        """Take what a name means; what has no place in a script is kept as an error."""
        value = unwrapped(value)
        if name in self.seen:
            if self.seen[name] is not value:
                what = f"'{name}' means one thing in one of these functions, and something else in another"
                self.values[name] = GradcliError("not-allowed", what, hint="give one of them another name")
            return
        self.seen[name] = value
        full = full_name(value)
        if full is not None:
            self.full[name] = full
        elif isinstance(value, FunctionType | type):
            self.define(name, value)
        elif is_plain(value):
            self.values[name] = value
        else:
            what = f"'{name}' is {described(value)}: a function has numbers, arrays and functions from outside"
            self.values[name] = GradcliError("not-allowed", what, hint="make it a parameter, or write what it does")

    def define(self, name: str, what: Any) -> None:
        """Take a function or a class with all that it has from outside."""
        if getattr(what, "__wrapped__", None) is not None:
            message = f"'{what.__name__}' is wrapped by a decorator, and what that changes is not known"
            hint = f"give what is in it: {what.__name__}.__wrapped__"
            self.values[name] = GradcliError("no-source", message, hint=hint)
            return
        try:
            definition = definition_of(what)
        except GradcliError as error:
            self.values[name] = error
            return
        for other, value in values_outside(what):
            if unwrapped(value) is what:
                self.seen[other] = what
            else:
                self.take(other, value)
        self.definitions[name] = definition

    @property
    def library(self) -> str:
        """Whose arrays the inputs are."""
        return library_among({full.partition(".")[0] for full in self.full.values()})


class Variable(NamedTuple):
    """A leaf of the script: its name there, whose array it is, and the value of one that is from outside."""

    name: str
    library: str
    value: Any = None
    wanted: bool = True


@dataclass(slots=True)
class FunctionProgram(ScriptProgram):
    """A Python function as a program: ``leaves`` are its inputs by what they are called.

    ``constants`` are other values from outside by their names in the script; ``settings`` are parameters that say how
    the function works, and are no inputs. ``active`` are the inputs that are differentiated.
    """

    leaves: dict[str, Variable] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)
    settings: frozenset[str] = frozenset()
    active: frozenset[str] = frozenset()

    def evaluate(
        self, values: Mapping[str, object], wrt: frozenset[str], record: bool = True, strict: bool = False,
        graph: Graph | None = None,
    ) -> tuple[Graph, Any, dict[str, Node]]:  # fmt: skip
        """Run the function at a point; calls of derivatives that it makes are those of this point."""
        self.active = wrt
        if graph is None:
            self.sweeps = []
        return ScriptProgram.evaluate(self, values, wrt, record, strict, graph)

    def enter_given(self, run: Run) -> None:
        """Give the run its inputs, and what the function has from outside."""
        run.default_dtype = "float64"
        run.given = {name: as_script_value(run, value) for name, value in self.constants.items()}
        for number, (key, leaf) in enumerate(self.leaves.items()):
            value = run.replay.leaf(number, np.float64(0.0) if leaf.value is None else leaf.value)
            run.ordinal = number
            if key in self.whole:
                library = leaf.library if np.shape(value) else "python"
                run.given[leaf.name] = run.enter_integers(key, value, library)
                continue
            tensor = run.given[leaf.name] = Tensor(value, "float64", leaf.library)
            if key in self.active:
                run.enter_leaf(tensor)
                continue
            is_number = isinstance(value, np.ndarray) and not value.ndim and value.dtype != object
            tensor.node = run.graph.input(f"leaf{number}", value[()] if is_number else value, False)
        run.ordinal = len(self.leaves)


def read_function(function: object, budget: Budget, given: Iterable[str]) -> FunctionProgram:
    """Return the program of a Python function, which is not called.

    Its parameters are the inputs, with their defaults as values. Values of ``given`` that are no numbers, or integers
    that count turns or stand for a default, are constants of the program. Raises ``no-source`` for what Python has no
    source of, and what is refused in a script.
    """
    main, outside = plain(function), Outside()
    outside.define(CALLED, main)
    refused = outside.values.pop(CALLED, None)
    if refused is not None:
        raise refused
    definitions = outside.definitions
    texts = [f"{key} = {one.text}" if one.is_lambda and key != CALLED else one.text for key, one in definitions.items()]
    tree, whole = read_script("\n\n".join(texts), budget)
    place = Place(whole.text.rstrip())
    try:
        return program_of(tree, place, outside, budget, given if isinstance(given, Mapping) else {}, main)
    except GradcliError as error:
        raise error.at(None, place) from None


def name_definitions(tree: ast.Module, outside: Outside, main: FunctionType, taken: set[str]) -> dict[str, Any]:
    """Give definitions the names that they are called by, and return their defaults, constants of the text."""
    constants: dict[str, Any] = {}
    for k, (key, one) in enumerate(outside.definitions.items()):
        statement = tree.body[k]
        if isinstance(statement, ast.AsyncFunctionDef):
            raise GradcliError("not-allowed", "'async' is not part of the language", span=(0, len("async")))
        if isinstance(statement, ast.Expr):
            tree.body[k] = ast.copy_location(assigned(key, statement.value), statement)
        elif isinstance(statement, ast.FunctionDef | ast.ClassDef) and (one.what is not main or key in outside.seen):
            statement.name = key
        if isinstance(one.what, FunctionType):
            take_defaults(node_of(tree.body[k]), one.what, constants, taken)
    return constants


def assigned(name: str, value: ast.expr) -> ast.Assign:
    """Return the assignment of an expression to a name."""
    return ast.Assign([ast.Name(name, ast.Store())], value)


def program_of(
    tree: ast.Module, place: Place, outside: Outside, budget: Budget, given: Mapping[str, Any], main: FunctionType
) -> FunctionProgram:
    """Return the program of the last function of a text, after those that it calls."""
    taken = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | outside.seen.keys() | {CALLED}
    constants = name_definitions(tree, outside, main, taken)
    node, name = node_of(tree.body[-1]), getattr(tree.body[-1], "name", CALLED)
    arguments = node.args
    if arguments.vararg or arguments.kwarg:
        what = "the lambda" if name == CALLED else name
        raise GradcliError("arguments", f"{what} takes any arguments, and an input is a parameter with a name")
    same = [other for other, value in outside.seen.items() if value is main and other != name]
    tree.body += [assigned(other, ast.Name(name, ast.Load())) for other in same]
    defaults, library = values_of_defaults(main), outside.library
    settings = settings_of(node, defaults, given)
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    inputs = [
        p for p in parameters if p.arg not in settings and (p.arg in given or not is_setting(defaults.get(p.arg, 0.0)))
    ]
    used = [p for p in parameters if p in inputs or p.arg in settings]
    others = {*outside.seen, *constants, name}
    variables = {p.arg: fresh(p.arg, taken) if p.arg in others else p.arg for p in used}
    reads_of: dict[ast.arg, ast.expr] = {p: ast.copy_location(ast.Name(variables[p.arg], ast.Load()), p) for p in used}
    by_place = [read for p, read in reads_of.items() if p in arguments.posonlyargs]
    keywords = [ast.copy_location(ast.keyword(p.arg, read), p) for p, read in reads_of.items() if read not in by_place]
    call = ast.Call(ast.Name(name, ast.Load()), by_place, keywords)
    tree.body[:0] = [import_of(key, full) for key, full in outside.full.items()]
    tree.body.append(assigned(LAST, call))
    for added in tree.body:
        if not hasattr(added, "lineno"):
            ast.fix_missing_locations(ast.copy_location(added, node))
    code = compile_tree(tree, place, note=tell)
    program = FunctionProgram(place.text, place, -1, budget, [], [], code, of=LAST, settings=frozenset(settings))
    program.constants = constants | {variables[key]: value for key, value in settings.items()}
    for p in inputs:
        program.leaves[p.arg] = Variable(variables[p.arg], library)
        program.inputs[p.arg] = code.text.span(p)
        if p.arg in defaults:
            program.values[p.arg] = as_array(p.arg, defaults[p.arg])
    shown, reads = {*program.leaves}, {part.id: part for part in ast.walk(tree) if isinstance(part, ast.Name)}
    for key, value in outside.values.items():
        array = None if isinstance(value, GradcliError) or key not in reads else as_doubles(value)
        if array is None:
            program.constants[key] = value
            continue
        own = fresh(key, {*taken, *shown}) if key in shown else key
        program.leaves[own] = Variable(key, library_of_value(value), array, getattr(value, "requires_grad", False))
        program.inputs[own], program.values[own] = code.text.span(reads[key]), array
    program.ordinals = {key: f"leaf{k}" for k, key in enumerate(program.leaves)}
    program.variables = {**dict.fromkeys(code.places, 0), **dict.fromkeys(program.leaves, 0)}
    program.wrt = tuple(key for key, leaf in program.leaves.items() if leaf.wanted)
    return program


def node_of(statement: ast.AST) -> ast.FunctionDef | ast.Lambda:
    """Return the function that a statement defines."""
    return statement.value if isinstance(statement, ast.Assign) else statement  # type: ignore[return-value]


def fresh(name: str, taken: set[str]) -> str:
    """Return a name that no other variable has, and take it."""
    free = next(one for k in count(2) if (one := f"{name}{k}") not in taken)
    taken.add(free)
    return free


def import_of(name: str, full: str) -> ast.stmt:
    """Return the import that gives a name its meaning."""
    if full in MODULES or full in sys.modules:
        return ast.Import([ast.alias(full, name)])
    module, _, last = full.rpartition(".")
    return ast.ImportFrom(module, [ast.alias(last, name)], 0)


# ---- parameters
def values_of_defaults(function: FunctionType) -> dict[str, Any]:
    """Return the values of a function's defaults by its parameters."""
    places = function.__code__.co_varnames[: function.__code__.co_argcount]
    last = dict(zip(reversed(places), reversed(function.__defaults__ or ()), strict=False))
    return last | (function.__kwdefaults__ or {})


def take_defaults(
    node: ast.FunctionDef | ast.Lambda, function: FunctionType, constants: dict[str, Any], taken: set[str]
) -> None:
    """Put the values of defaults, as constants, in the place of the expressions that made them."""
    arguments, values = node.args, values_of_defaults(function)

    def named(default: ast.expr, name: str) -> ast.expr:
        if isinstance(default, ast.Constant):
            return default
        own, value = fresh(f"{name}_default", taken), values[name]
        what = f"the default of '{name}' is {described(value)}"
        constants[own] = value if is_plain(value) else GradcliError("not-allowed", what, hint="give it a value")
        return ast.copy_location(ast.Name(own, ast.Load()), default)

    positional = [*arguments.posonlyargs, *arguments.args]
    last = positional[len(positional) - len(arguments.defaults) :]
    arguments.defaults = [named(default, p.arg) for default, p in zip(arguments.defaults, last, strict=True)]
    pairs = zip(arguments.kw_defaults, arguments.kwonlyargs, strict=True)
    arguments.kw_defaults = [default and named(default, p.arg) for default, p in pairs]


def settings_of(
    node: ast.FunctionDef | ast.Lambda, defaults: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the values of parameters that are no numbers, or integers in the place of a default that is one."""

    def sets(name: str, value: Any) -> bool:
        usual = is_setting(defaults.get(name, 0.0))
        return value is None or isinstance(value, str | bool | (list | tuple | dict | int if usual else bool))

    names = [part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg) and part.arg in given]
    return {name: given[name] for name in names if sets(name, given[name])}


def is_setting(value: Any) -> bool:
    """Return whether a default says how a function works, and is no value to differentiate by: no float and no array.

    An integer is one, as it may count turns or axes: PyTorch has no gradient by it either.
    """
    return as_doubles(value) is None


# ---- values from outside
def values_outside(what: Any) -> Iterator[tuple[str, Any]]:
    """Yield the names that a function or a class reads from outside, and what they mean now; builtins are left out."""
    functions = [what] if isinstance(what, FunctionType) else []
    if isinstance(what, type):
        around = vars(sys.modules[what.__module__])
        tree = ast.parse(definition_of(what).text)
        yield from ((n.id, around[n.id]) for n in ast.walk(tree) if isinstance(n, ast.Name) and n.id in around)
        members = [getattr(member, "__func__", getattr(member, "fget", member)) for member in vars(what).values()]
        functions += [member for member in members if isinstance(member, FunctionType)]
    for function in functions:
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            with suppress(ValueError):  # of a variable that has no value yet
                if name != "__class__":
                    yield name, cell.cell_contents
        steps = [step for code in codes_in(function.__code__) for step in dis.get_instructions(code)]
        names = [step.argval for step in steps if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")]
        yield from ((name, function.__globals__[name]) for name in dict.fromkeys(names) if name in function.__globals__)


def root_of_type(value: Any) -> str:
    """Return the library that a value's type is of."""
    return type(value).__module__.partition(".")[0]


def is_array(value: Any) -> bool:
    """Return whether a value is an array of numbers or truth values, of numpy, PyTorch or JAX."""
    named = root_of_type(value) in LIBRARIES and type(value).__name__ in ("Tensor", "Parameter", "ArrayImpl")
    if not named and not isinstance(value, np.ndarray | np.generic):
        return False
    with suppress(TypeError, ValueError):
        return np.asarray(detached(value)).dtype.kind in "iufb"
    return False


def is_plain(value: Any) -> bool:
    """Return whether a value has a place in a script: numbers, texts, arrays, and lists and dictionaries of these."""
    if isinstance(value, list | tuple | set):
        return all(map(is_plain, value))
    if isinstance(value, dict):
        return all(is_plain(part) for pair in value.items() for part in pair)
    return value is None or type(value) in (bool, int, float, str) or is_array(value)


def as_doubles(value: Any) -> Any:
    """Return a float or an array of floats in double precision, None for anything else."""
    if type(value) is not float and not (is_array(value) and np.asarray(detached(value)).dtype.kind == "f"):
        return None
    with suppress(GradcliError):
        return as_array("", value)
    return None


def as_script_value(run: Run, value: Any) -> Any:
    """Return a value from outside as a script has it: arrays as constants of their library."""
    if isinstance(value, list | tuple | set):
        return type(value)([as_script_value(run, part) for part in value])
    if isinstance(value, dict):
        return {key: as_script_value(run, part) for key, part in value.items()}
    if isinstance(value, np.generic):
        return value.item()
    if not is_array(value):
        return value
    array = np.asarray(detached(value))
    dtype = "float64" if kind_of(array) == "f" else None
    return run.make(array if dtype is None else array.astype(np.float64), dtype, library_of_value(value))


def library_of_value(value: Any) -> str:
    """Return whose array a value is: ``python`` for a number."""
    return "python" if type(value) is float else LIBRARIES.get(root_of_type(value), "torch")


def unwrapped(function: Any) -> Any:
    """Return what is in a function that is cached or compiled."""
    while type(function).__name__ in JITTED or hasattr(function, "_torchdynamo_orig_callable"):
        function = getattr(function, "_torchdynamo_orig_callable", None) or function.__wrapped__
    return function


def plain(function: Any) -> FunctionType:
    """Return a function of Python's own; raises ``no-source`` for what else can be called."""
    function = unwrapped(function)
    full = full_name(function)
    if full is not None:
        ways = (way for way in (full, full.rpartition(".")[2]) if way in {*CONSTANTS, *TYPES, *spellings()})
        raise no_source(f"{full} is a function of a library, which is not read", f"{next(ways, full)}(x)")
    if not callable(function):
        raise no_source(f"{described(function)} is no program: a text is, or a function made by def or lambda")
    if isinstance(function, MethodType):
        raise no_source(f"{function.__qualname__} is a method, and what its object holds is not read")
    if type(function) is not FunctionType:
        raise no_source(f"{described(function)} has no source to read, as a function made by def or lambda has")
    return function


def full_name(value: Any) -> str | None:
    """Return the full name of a module of a library, or of its function or class; None for what is none.

    >>> import math
    >>> full_name(math.sin), full_name(math), full_name(3)
    ('math.sin', 'math', None)
    """
    if isinstance(value, ModuleType):
        return value.__name__ if value.__name__.partition(".")[0] in ROOTS else None
    name = getattr(value, "__name__", None)
    if not isinstance(name, str):
        return None
    homes = (*HOMES, str(getattr(value, "__module__", "")))
    home = next((home for home in homes if home in sys.modules and vars(sys.modules[home]).get(name) is value), None)
    return f"{home}.{name}" if home is not None and home.partition(".")[0] in ROOTS else None


def described(value: Any) -> str:
    """Return what a message calls a value."""
    kind = type(value)
    if isinstance(value, ModuleType):
        return f"the module {value.__name__}"
    if isinstance(value, type):
        return f"the class {value.__qualname__}"
    if kind is np.ndarray:
        return f"an array of {value.dtype}"
    if isinstance(value, BuiltinFunctionType):
        return f"the builtin {value.__name__}"
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
