"""The source of a Python function or class: the piece of its file that it was made of, found without a run.

Python functions as scripts: their source is found and never called, their parameters are the inputs.
The script is the text of the function, after those that it calls from outside, and ends with a call of it. Numbers and
arrays from outside are values of the script as they are now; it imports modules and functions of libraries.
"""

from __future__ import annotations

import ast
import dis
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
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
from gradcli.runner.names import MODULES, SHOWING
from gradcli.runner.reading import FOREIGN, read_script
from gradcli.runner.replay import ScriptProgram
from gradcli.runner.script import LAST, compile_tree, tell
from gradcli.runner.state import Run
from gradcli.runner.values import Tensor, kind_of

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
NUMBERS = (int, float, complex)
NAMES = (ast.Name, ast.Attribute)
CONSTANT = (ast.BinOp, ast.UnaryOp, ast.Constant, ast.operator, ast.unaryop)
ALWAYS = (0, 1)
"""Numbers that the compiler may leave out: ``while 1``."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or a class of Python's and its text: a ``def`` without decorators, a ``lambda``, or a ``class``."""

    what: Any
    text: str

    @property
    def is_lambda(self) -> bool:
        """Whether it is a ``lambda``."""
        return self.what.__name__ == "<lambda>" or self.text.startswith(("lambda", "("))


def definition_of(function: Any) -> Definition:
    """Return the source of a function or a class; raises ``no-source`` where Python has none, or another one by now."""
    try:
        lines, first = inspect.findsource(function)
    except (OSError, TypeError, IndexError):
        raise no_source(f"Python has no source of {called_in_message(function)}") from None
    text = "".join(lines)
    if isinstance(function, type):
        named = [n for n in ast.walk(tree_of(text)) if isinstance(n, ast.ClassDef) and n.name == function.__name__]
        here = [n for n in named if first + 1 in (n.lineno, *(one.lineno for one in n.decorator_list))]
        if not here:
            raise no_source(f"the source of {called_in_message(function)} is not that of the class any more")
        return Definition(function, text_of(here[0], text))
    code = function.__code__
    found = [node for node in ast.walk(tree_of(text)) if isinstance(node, FUNCTIONS) and is_source(node, code)]
    if len({ast.dump(node) for node in found}) != 1:
        what = "is not that of the function any more" if not found else "holds several functions that it may be"
        raise no_source(f"the source of {called_in_message(function)} {what}")
    return Definition(function, text_of(found[0], text))


def tree_of(text: str) -> ast.Module:
    """Return the syntax tree of a file, or of a notebook's cell with its commands left out."""
    for way in (text, FOREIGN.sub("", text)):
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            return ast.parse(way)
    return ast.Module([], [])


def called_in_message(function: Any) -> str:
    """Return what a message calls a function."""
    return "this lambda" if function.__name__ == "<lambda>" else f"'{function.__qualname__}'"


def no_source(message: str, text: str = "x**2") -> GradcliError:
    """Return the error for a function that cannot be read, with the text that shows what to give."""
    return GradcliError("no-source", message, hint=f'give a text in its place, such as "{text}"')


def text_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda, text: str) -> str:
    """Return the text of a function by itself, from the margin and without its decorators; a class keeps them."""
    if isinstance(node, ast.Lambda):
        own = ast.get_source_segment(text, node) or ""
        return f"({own})" if "\n" in own else own
    first = min([node.lineno, *(one.lineno for one in node.decorator_list if isinstance(node, ast.ClassDef))])
    lines = text.split("\n")[first - 1 : node.end_lineno]
    return "\n".join(line[margin(line, node.col_offset) :].rstrip() for line in lines)


def margin(line: str, column: int) -> int:
    """Return how many characters of a line stand left of a column, at most: those that are blank."""
    return min(column, len(line) - len(line.lstrip()))


def is_source(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, code: CodeType) -> bool:
    """Return whether a piece of syntax is what some code was made of, as far as both show it.

    They have the same line, name, parameters, names and numbers, and the code's places lie in the syntax.
    """
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    first = min([node.lineno, *(one.lineno for one in decorators)])
    if first != code.co_firstlineno or getattr(node, "name", "<lambda>") != code.co_name:
        return False
    given = node.args
    own = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    if tuple(own) != code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        return False
    body = node.body if isinstance(node.body, list) else [node.body]
    if not all(lies_in(node, position) for position in code.co_positions()):
        return False
    names, kept = set(names_of(code)), list(kept_parts(body))
    if any(name.startswith("@py") for name in names):  # pytest writes what is asserted anew
        return True
    known = {*own, *(one.arg for one in (given.vararg, given.kwarg) if one), *names_in(walk(body))}
    numbers = {part.value for part in kept if isinstance(part, ast.Constant) and isinstance(part.value, NUMBERS)}
    read = {part.id if isinstance(part, ast.Name) else part.attr for part in kept if isinstance(part, NAMES)}
    return read <= names <= known and numbers <= {*numbers_of(code), *ALWAYS}


def lies_in(node: ast.stmt | ast.expr, position: tuple[int | None, int | None, int | None, int | None]) -> bool:
    """Return whether a place of some code lies in a piece of syntax, if it is the place of anything."""
    line, end_line, column, end_column = position
    if (
        line is None
        or end_line is None
        or column is None
        or end_column is None
        or (line, column) == (end_line, end_column)
    ):
        return True
    start, end = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
    return start <= (line, column) and (end_line, end_column) <= end


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Yield some code and that of all functions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def names_of(code: CodeType) -> Iterator[str]:
    """Yield every name that some code has, but those that Python makes up."""
    for one in codes_in(code):
        found = (*one.co_names, *one.co_varnames, *one.co_cellvars, *one.co_freevars)
        yield from (name for name in found if not name.startswith("."))


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
    left = [step.argval for one in codes_in(code) for step in dis.get_instructions(one) if "CONST" in step.opname]
    left += [step.argval for one in codes_in(code) for step in dis.get_instructions(one) if "SMALL_INT" in step.opname]
    while left:
        value = left.pop()
        if isinstance(value, tuple | frozenset | slice):
            left += [value.start, value.stop, value.step] if isinstance(value, slice) else value
        elif isinstance(value, int | float | complex):
            yield value


def walk(body: Iterable[ast.AST]) -> list[ast.AST]:
    """Return all parts of some syntax."""
    return [part for one in body for part in ast.walk(one)]


def kept_parts(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield the parts of some syntax that the compiler keeps: no annotations, nothing that is computed already."""
    left = [*body]
    while left:
        node = left.pop()
        if isinstance(node, ast.Assert) or (isinstance(node, ast.BinOp | ast.UnaryOp) and is_constant(node)):
            continue
        yield node
        annotations = (getattr(node, "annotation", None), getattr(node, "returns", None))
        left += [child for child in ast.iter_child_nodes(node) if child not in annotations]


def is_constant(node: ast.expr) -> bool:
    """Return whether the compiler may compute an expression: numbers and their operators alone."""
    return all(isinstance(part, CONSTANT) for part in ast.walk(node))


# ---- Python functions as scripts: their source is found and never called, their parameters are the inputs

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
            what = f"'{name}' is {called(value)}: a function has numbers, arrays and functions from outside"
            self.values[name] = GradcliError("not-allowed", what, hint="make it a parameter, or write what it does")

    def define(self, name: str, what: Any) -> None:
        """Take a function or a class with all that it has from outside."""
        try:
            refuse_wrapper(what)
            own = definition_of(what)
        except GradcliError as error:
            self.values[name] = error
            return
        for other, value in values_outside(what):
            if unwrapped(value) is what:
                self.seen[other] = what
            else:
                self.take(other, value)
        self.definitions[name] = own


@dataclass(slots=True)
class Variable:
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
            tensor = Tensor(value, "float64", leaf.library)
            if key in self.active:
                run.ordinal = number
                run.enter_leaf(tensor)
            else:
                value = (
                    value[()] if isinstance(value, np.ndarray) and not value.ndim and value.dtype != object else value
                )
                tensor.node = run.graph.input(f"leaf{number}", value, False)
            run.given[leaf.name] = tensor
        run.ordinal = len(self.leaves)


def read_function(function: object, budget: Budget, given: Iterable[str]) -> FunctionProgram:
    """Return the program of a Python function, which is not called.

    Its parameters are the inputs, with their defaults as values. Values of ``given`` that are no numbers, or integers
    that count turns or stand for a default, are constants of the program. Raises ``no-source`` for what Python has no
    source of, and what is refused in a script.
    """
    main, outside = plain(function), Outside()
    outside.define(CALLED, main)
    own = outside.values.pop(CALLED, None)
    if own is not None:
        raise own
    definitions = outside.definitions
    texts = [f"{key} = {one.text}" if one.is_lambda and key != CALLED else one.text for key, one in definitions.items()]
    tree, whole = read_script("\n\n".join(texts), budget)
    place = Place(whole.text.rstrip())
    values = given if isinstance(given, Mapping) else {}
    try:
        return program_of(tree, place, outside, budget, values, main)
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
            statement = tree.body[k] = ast.copy_location(
                ast.Assign([ast.Name(key, ast.Store())], statement.value), statement
            )
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            statement.name = key if one.what is not main or key in outside.seen else statement.name
        if isinstance(one.what, FunctionType):
            take_defaults(node_of(statement), one.what, constants, taken)
    return constants


def program_of(
    tree: ast.Module, place: Place, outside: Outside, budget: Budget, given: Mapping[str, Any], main: FunctionType
) -> FunctionProgram:
    """Return the program of the last function of a text, after those that it calls."""
    taken = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | outside.seen.keys() | {CALLED}
    constants = name_definitions(tree, outside, main, taken)
    last = tree.body[-1]
    node, name = node_of(last), getattr(last, "name", CALLED)
    arguments = node.args
    if arguments.vararg or arguments.kwarg:
        what = "the lambda" if name == CALLED else name
        raise GradcliError("arguments", f"{what} takes any arguments, and an input is a parameter with a name")
    own_names = [other for other, value in outside.seen.items() if value is main and other != name]
    tree.body += [ast.Assign([ast.Name(other, ast.Store())], ast.Name(name, ast.Load())) for other in own_names]
    defaults = values_of_defaults(main)
    library = library_of(outside)
    settings = settings_of(node, defaults, given) | labels_of(tree, node, given, library)
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    inputs = [
        p for p in parameters if p.arg not in settings and (p.arg in given or not is_setting(defaults.get(p.arg, 0.0)))
    ]
    call, variables = ast.Call(ast.Name(name, ast.Load()), [], []), {}
    for p in parameters:
        if p in inputs or p.arg in settings:
            variables[p.arg] = fresh(p.arg, taken) if p.arg in {*outside.seen, name} or p.arg in constants else p.arg
            read = ast.copy_location(ast.Name(variables[p.arg], ast.Load()), p)
            keyword = ast.copy_location(ast.keyword(p.arg, read), p)
            call.args += [read] if p in arguments.posonlyargs else []
            call.keywords += [] if p in arguments.posonlyargs else [keyword]
    tree.body[:0] = [import_of(key, full) for key, full in outside.full.items()]
    tree.body.append(ast.Assign([ast.Name(LAST, ast.Store())], call))
    for added in tree.body:
        if not hasattr(added, "lineno"):
            ast.fix_missing_locations(ast.copy_location(added, node))
    code = compile_tree(tree, place, told=tell)
    program = FunctionProgram(place.text, place, -1, budget, [], [], code, of=LAST, settings=frozenset(settings))
    program.constants = constants | {variables[key]: value for key, value in settings.items()}
    shown = {p.arg for p in inputs}
    for p in inputs:
        program.leaves[p.arg] = Variable(variables[p.arg], library)
        program.inputs[p.arg] = code.text.span(p)
        if p.arg in defaults:
            program.values[p.arg] = as_array(p.arg, defaults[p.arg])
    reads = {part.id: part for part in ast.walk(tree) if isinstance(part, ast.Name)}
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
    number = 2
    while f"{name}{number}" in taken:
        number += 1
    taken.add(f"{name}{number}")
    return f"{name}{number}"


def import_of(name: str, full: str) -> ast.stmt:
    """Return the import that gives a name its meaning."""
    if full in MODULES or full in sys.modules:
        return ast.Import([ast.alias(full, name)])
    module, _, last = full.rpartition(".")
    return ast.ImportFrom(module, [ast.alias(last, name)], 0)


# ---- parameters
def values_of_defaults(function: FunctionType) -> dict[str, Any]:
    """Return the values of a function's defaults by its parameters."""
    code = function.__code__
    places = code.co_varnames[: code.co_argcount]
    found = dict(zip(reversed(places), reversed(function.__defaults__ or ()), strict=False))
    return found | (function.__kwdefaults__ or {})


def take_defaults(
    node: ast.FunctionDef | ast.Lambda, function: FunctionType, constants: dict[str, Any], taken: set[str]
) -> None:
    """Put the values of defaults, as constants, in the place of the expressions that made them."""
    arguments, values = node.args, values_of_defaults(function)

    def named(default: ast.expr, name: str) -> ast.expr:
        if isinstance(default, ast.Constant):
            return default
        own = fresh(f"{name}_default", taken)
        value = values[name]
        constants[own] = value if is_plain(value) else no_default(name, value)
        return ast.copy_location(ast.Name(own, ast.Load()), default)

    last = [*arguments.posonlyargs, *arguments.args][
        len(arguments.posonlyargs + arguments.args) - len(arguments.defaults) :
    ]
    arguments.defaults = [named(default, p.arg) for default, p in zip(arguments.defaults, last, strict=True)]
    pairs = zip(arguments.kw_defaults, arguments.kwonlyargs, strict=True)
    arguments.kw_defaults = [default and named(default, p.arg) for default, p in pairs]


def no_default(name: str, value: Any) -> GradcliError:
    """Return the error for a default that has no place in a script."""
    return GradcliError("not-allowed", f"the default of '{name}' is {called(value)}", hint="give it a value")


def settings_of(
    node: ast.FunctionDef | ast.Lambda, defaults: Mapping[str, Any], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the values of parameters that are no numbers, or integers that are counted with."""
    counts = {
        part.id for call in ast.walk(node) if is_range(call) for part in ast.walk(call) if isinstance(part, ast.Name)
    }
    found = {}
    for part in ast.walk(node.args):
        if not isinstance(part, ast.arg) or part.arg not in given:
            continue
        value, usual = given[part.arg], is_setting(defaults.get(part.arg, 0.0))
        counted = type(value) is int and (usual or part.arg in counts)
        if (
            value is None
            or isinstance(value, str | bool)
            or counted
            or (usual and isinstance(value, list | tuple | dict))
        ):
            found[part.arg] = value
    return found


class Labels(NamedTuple):
    """Integers that a function picks entries by, and the library whose array they are."""

    array: np.ndarray[Any, Any]
    library: str


def labels_of(
    tree: ast.Module, node: ast.FunctionDef | ast.Lambda, given: Mapping[str, Any], library: str
) -> dict[str, Labels]:
    """Return the values of parameters that are arrays or lists of integers and an index, which no gradient is by.

    A parameter that another function of the text is given by its name counts where that one takes it for an index.
    """
    names, before = {name for part in ast.walk(tree) if isinstance(part, ast.Subscript) for name in indices(part)}, 0
    functions = {part.name: part for part in tree.body if isinstance(part, ast.FunctionDef)}
    calls = [part for part in ast.walk(tree) if isinstance(part, ast.Call) and isinstance(part.func, ast.Name)]
    while len(names) > before:
        before = len(names)
        for call in calls:
            called = functions.get(call.func.id)  # type: ignore[attr-defined]
            pairs = [] if called is None else zip(called.args.args, call.args, strict=False)
            names |= {value.id for p, value in pairs if p.arg in names and isinstance(value, ast.Name)}
    parameters = {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)}
    whole = {name: whole_numbers(given[name]) for name in parameters & names & given.keys()}
    return {name: Labels(array, library) for name, array in whole.items() if array is not None}


def indices(part: ast.Subscript) -> Iterator[str]:
    """Yield the variables that an index is made of by operators alone; ``len(x)`` is none by x."""
    rest: list[ast.AST] = [part.slice]
    while rest:
        node = rest.pop()
        if isinstance(node, ast.Name):
            yield node.id
        elif not isinstance(node, ast.Call | ast.Attribute | ast.Subscript):
            rest += ast.iter_child_nodes(node)


def whole_numbers(value: Any) -> np.ndarray[Any, Any] | None:
    """Return an array or nested lists of integers as an array, None for anything else."""
    if not isinstance(value, list | tuple) and not is_array(value):
        return None
    with suppress(TypeError, ValueError):
        array = np.asarray(detached(value))
        return array if array.dtype.kind in "iu" and array.ndim else None
    return None


def is_setting(value: Any) -> bool:
    """Return whether a default says how a function works, and is no value to differentiate by: no float and no array.

    An integer is one, as it may count turns or axes: PyTorch has no gradient by it either.
    """
    return as_doubles(value) is None


def is_range(node: ast.AST) -> bool:
    """Return whether a part of a syntax tree is a call of ``range``."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range"


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


def is_array(value: Any) -> bool:
    """Return whether a value is an array of numbers or truth values, of numpy, PyTorch or JAX."""
    root = type(value).__module__.partition(".")[0]
    named = root in LIBRARIES and type(value).__name__ in ("Tensor", "Parameter", "ArrayImpl")
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
    if type(value) is Labels:
        return run.make(value.array.astype(np.int64), None, value.library)
    if isinstance(value, list | tuple | set):
        return type(value)([as_script_value(run, part) for part in value])
    if isinstance(value, dict):
        return {key: as_script_value(run, part) for key, part in value.items()}
    if isinstance(value, np.generic):
        return value.item()
    if not is_array(value):
        return value
    array = np.asarray(detached(value))
    floats = kind_of(array) == "f"
    return run.make(
        array.astype(np.float64) if floats else array, "float64" if floats else None, library_of_value(value)
    )


def library_of_value(value: Any) -> str:
    """Return whose array a value is: ``python`` for a number."""
    return "python" if type(value) is float else LIBRARIES.get(type(value).__module__.partition(".")[0], "torch")


def library_of(outside: Outside) -> str:
    """Return whose arrays the inputs are: PyTorch's, unless another library is used alone; ``math`` has numbers."""
    roots = {full.partition(".")[0] for full in outside.full.values()}
    order = {"torch": "torch", "jax": "jax", "numpy": "numpy", "math": "python"}
    return next((library for root, library in order.items() if root in roots), "torch")


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
        ways = (
            name
            for name in (full, full.rpartition(".")[2])
            if name in CONSTANTS or name in TYPES or name in spellings()
        )
        raise no_source(f"{full} is a function of a library, which is not read", f"{next(ways, full)}(x)")
    if not callable(function):
        raise no_source(f"{called(function)} is no program: a text is, or a function made by def or lambda")
    if type(function) is not FunctionType:
        if isinstance(function, MethodType):
            raise no_source(f"{function.__qualname__} is a method, and what its object holds is not read")
        what = called(function)
        raise no_source(f"{what} has no source to read, as a function made by def or lambda has")
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


def called(value: Any) -> str:
    """Return what a message calls a value."""
    if isinstance(value, ModuleType):
        return f"the module {value.__name__}"
    if isinstance(value, type):
        return f"the class {value.__qualname__}"
    kind = type(value)
    if kind is np.ndarray:
        return f"an array of {value.dtype}"
    if isinstance(value, BuiltinFunctionType):
        return f"the builtin {value.__name__}"
    name = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def refuse_wrapper(function: Any) -> None:
    """Refuse a function that a decorator has put round another one: what it changes is not known."""
    if getattr(function, "__wrapped__", None) is not None:
        name = function.__name__
        raise GradcliError(
            "no-source", f"'{name}' is wrapped by a decorator, and what that changes is not known",
            hint=f"give what is in it: {name}.__wrapped__",
        )  # fmt: skip
