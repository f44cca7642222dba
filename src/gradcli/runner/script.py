"""A script: compiled once, run from its first line to its last.

What a recorded run tells of its assignments: names of values, inputs that are traced, other values of leaves.
"""

from __future__ import annotations

import ast
import itertools
import re
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any, NamedTuple
from weakref import WeakSet

import numpy as np

from gradcli.engine.graph import NODES, Graph, Input, LiveGraph
from gradcli.errors import Budget, GivenUp, GradcliError, Place
from gradcli.errors.hints import did_you_mean
from gradcli.language.compiling import FRAMES
from gradcli.language.values import settle_integers
from gradcli.ops.declare import value_of
from gradcli.records import dataclass, field
from gradcli.runner import backward, converting, names, printing, transforms
from gradcli.runner.events import Event, settle
from gradcli.runner.exceptions import Raised, advice_of, raised, raised_of
from gradcli.runner.names import library_of_text, make_private
from gradcli.runner.python import attributes, builtins, calls, containers, operators
from gradcli.runner.python.expressions import Text
from gradcli.runner.python.statements import Statements
from gradcli.runner.reading import read_script
from gradcli.runner.state import BOUNDS, DEEP, Run, constant, span_of
from gradcli.runner.values import Code, Frame, Instance, Tensor, extra_of


def compile_text(
    text: str, listed: bool = True, budget: Budget = BOUNDS, note: Any = None, last: str | None = None,
    asked: Mapping[str, str] | None = None,
) -> tuple[Code, Place]:  # fmt: skip
    """Return a text as code ready to run; raises what is refused before it runs, with its place.

    ``note`` is called at each assignment, ``last`` is a variable that gets the value of the last expression, ``asked``
    are expressions that are evaluated at the end, each by the variable that gets its value.
    """
    tree, place = read_script(text, budget)
    if asked:
        ask_at_end(tree, asked)
    return compile_tree(tree, place, listed, note, last), place


def compile_tree(
    tree: ast.Module, place: Place, listed: bool = True, note: Any = None, last: str | None = None
) -> Code:
    """Return the syntax tree of the text at ``place`` as code ready to run."""
    if "__" in place.text:
        make_private(tree)
    whole = Text(place.text, listed, note)
    if last is not None:
        whole.last = name_last(tree, last)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, FRAMES))
    try:
        compiler = whole.module = Statements(whole, tree, None, "<module>", None)
        compiler.code.block = compiler.block(tree.body)
        compiler.code.text = whole
        compiler.code.run = compiler.runner(compiler.code.block)
    except GradcliError as error:
        raise error.at(None, place) from None
    finally:
        sys.setrecursionlimit(limit)
    return compiler.code


def ask_at_end(tree: ast.Module, asked: Mapping[str, str]) -> None:
    """Add to a script the evaluation of expressions of its own; raises ``syntax`` for a text that is none."""
    for name, text in asked.items():
        try:
            expression = ast.parse(text.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            message = "this is no expression of the script"
            raise GradcliError("syntax", message, span=(0, len(text)), place=Place(text, "--expect")) from None
        assignment = ast.Assign([ast.Name(name, ast.Store())], expression)
        for node in ast.walk(assignment):
            ast.copy_location(node, tree.body[-1])
        tree.body.append(assignment)


def name_last(tree: ast.Module, name: str) -> str | None:
    """Give the value of the last expression a name, and return the name of the last value; None where there is none.

    A function that stands alone, or after others, is called with its own parameters; so is a ``lambda``.
    """
    last = tree.body[-1]
    plain = isinstance(last, ast.Expr) and isinstance(last.value, ast.Lambda)
    function: Any = last.value if plain else last  # type: ignore[attr-defined]
    definitions = ast.FunctionDef | ast.Import | ast.ImportFrom
    if plain or (isinstance(last, ast.FunctionDef) and all(isinstance(n, definitions) for n in tree.body)):
        if not plain and not any(isinstance(n, ast.Return | ast.Yield | ast.YieldFrom) for n in ast.walk(last)):
            message = f"the function '{function.name}' returns no value"
            raise GradcliError("no-derivative", message, hint="write return before the value that it has")
        parameters = [*function.args.posonlyargs, *function.args.args]
        required = parameters[: len(parameters) - len(function.args.defaults)]
        reads: list[ast.expr] = [ast.copy_location(ast.Name(a.arg, ast.Load()), a) for a in required]
        call = ast.Call(function if plain else ast.Name(function.name, ast.Load()), reads, [])
        tree.body[len(tree.body) - plain :] = [ast.Expr(call)]
        last = ast.fix_missing_locations(ast.copy_location(tree.body[-1], last))
        ast.fix_missing_locations(ast.copy_location(call, last))
    if isinstance(last, ast.Expr):
        tree.body[-1] = ast.copy_location(
            ast.Assign([ast.copy_location(ast.Name(name, ast.Store()), last)], last.value), last
        )
        return name
    target = last.targets[0] if isinstance(last, ast.Assign) else getattr(last, "target", None)
    assigns = isinstance(last, ast.Assign | ast.AugAssign | ast.AnnAssign)
    return target.id if assigns and isinstance(target, ast.Name) else None


PARTS: dict[str, Any] = {
    "attribute": attributes.attribute, "assign_attribute": attributes.assign_attribute,
    "delete_attribute": attributes.delete_attribute, "member": names.member, "builtins": builtins.BUILTINS,
    "call": calls.call, "call_table": calls.call_table, "operate": operators.operate, "iterate": containers.iterate,
    "take": containers.take, "array_of": converting.array_of, "text": printing.to_str, "quoted": printing.to_repr,
    "percent": printing.percent, "type_of": builtins.type_of, "type_name": staticmethod(builtins.type_name),
    "sweep": backward.sweep, "grad_fn_name": staticmethod(printing.grad_fn_name), "level_of": transforms.level_of,
    "traced_text": transforms.traced_text, "refuse_number": transforms.refuse_number,
    "table_function": staticmethod(calls.table_function), "compile_text": staticmethod(compile_text),
}  # fmt: skip
"""The parts of the interpreter that call one another: methods of the run."""
for name, part in PARTS.items():
    setattr(Run, name, part)


@dataclass(slots=True)
class Ended:
    """How a run ended: its events, notes, the exception or the refusal that ended it, and its variables by name.

    ``said`` is the text of ``sys.exit(text)``, which Python writes to standard error.
    """

    run: Run
    place: Place
    raised: Raised | None = None
    refused: GradcliError | None = None
    status: int = 0
    said: str | None = None
    variables: dict[str, Any] = field(default_factory=dict)


class ScriptError(GradcliError):
    """The exception that ends a script, in PyTorch's words."""

    def __init__(self, ended: Ended) -> None:
        error = ended.raised
        assert error is not None  # noqa: S101
        span = span_of(ended.place, error.line)
        stripped = "" if span is None else ended.place.text[slice(*span)]
        hint = advice_of(ended.run, error, stripped)
        super().__init__("script", f"{error.name}: {error.text}", span=span, place=ended.place, hint=hint)
        self.ended = ended


def run_code(code: Code, place: Place, run: Run) -> Ended:
    """Run a module to its end, its exception, or what gradcli refuses."""
    frame: Frame = code.template.copy()
    frame[0] = run
    run.place = place
    run.frames.append((code, frame))
    ended = Ended(run, place)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, FRAMES))
    try:
        with np.errstate(all="ignore"):
            code.run(frame)
    except Raised as error:
        end_by(ended, error)
    except GivenUp as error:
        ended.refused = error.at(None, place)
    except GradcliError as error:
        made = raised_of(error)
        if made is None:
            ended.refused = error.at(None, place)
        else:
            made.line = 0 if error.span is None else place.text.count("\n", 0, error.span[0]) + 1
            end_by(ended, made)
    except RecursionError:
        end_by(ended, raised("RecursionError", DEEP))
    except MemoryError:
        ended.refused = GivenUp(
            "budget", "the script needs more memory than there is", span=span_of(place, run.line), place=place
        )
    finally:
        sys.setrecursionlimit(limit)
    settle(run)
    run.log.end()
    if ended.refused is not None:
        ended.refused.ended = ended
    ended.variables = {name: frame[k] for name, k in code.places.items()}
    return ended


def end_by(ended: Ended, error: Raised) -> None:
    """Note the exception that ended a run; ``sys.exit`` is one too, and no error."""
    run = ended.run
    error.line = error.line or run.line
    try:
        error.said = run.text(error.instance)
    except (Raised, GradcliError):
        error.said = "<exception str() failed>"
    if error.name == "SystemExit":
        arguments = error.instance.fields.get("args", ())
        code = arguments[0] if arguments else 0
        ended.status = int(code) if isinstance(code, int) else 0 if code is None else 1
        ended.said = None if isinstance(code, int) or code is None else error.text
        return
    ended.raised, ended.status = error, 1
    run.quiet = run.library = 0
    run.event(Event("error", error.line, type=error.name, text=error.text))


def refuse_given(given: dict[str, Any], code: Code) -> None:
    """Refuse values for variables that the script assigns, or does not have."""
    for name in given:
        if name in code.text.assigned():
            hint = f"take that line out, or leave out --{name}"
            raise GradcliError("option", f"the script gives '{name}' a value itself", hint=hint)
        if name not in code.places:
            what = f"the script has no variable '{name}'"
            raise GradcliError("unknown-name", what, hint=did_you_mean(name, code.places))


def run_script(
    text: str, emit: Callable[[str], None] | None = None, graph: Graph | None = None,
    given: dict[str, Any] | None = None, seed: int | None = None, budget: Budget = BOUNDS,
    others: dict[str, Any] | None = None, last: str | None = None, story: Any = None,
    asked: Mapping[str, str] | None = None,
) -> Ended:  # fmt: skip
    """Run a script; ``given`` are values of variables that it leaves free, ``seed`` that of draws without one.

    ``others`` are values that leaves have in place of the script's own, ``story`` takes down its assignments, ``asked``
    are expressions that are evaluated at the end. Raises ``GradcliError`` for what is refused before it runs.
    """
    if others or story is not None:
        story = story or Story()
        story.others = others or {}
    code, place = compile_text(text, budget=budget, note=story and tell, last=last, asked=asked)
    refuse_given(given or {}, code)
    run = Run(LiveGraph(budget) if graph is None else graph, emit)
    run.story = story
    run.seed = seed or 0
    run.given = dict(given or {})
    return run_code(code, place, run)


def read_given(
    text: str, values: Mapping[str, Any], wrt: Iterable[str] = (), as_typed: bool = False, last: str | None = None,
    **settings: Any,
) -> dict[str, Any]:  # fmt: skip
    """Return values for a script as arrays of doubles, but of integers where it takes them as such alone.

    They are those of variables that it leaves free, ``given``, and of ``others``, and go on with other ``settings`` to
    ``run_script``. ``wrt`` are names by which is differentiated. Where nothing is, all are free, and integers stay
    ``as_typed``, but for leaves of PyTorch.
    """
    free = compile_text(text, budget=settings.get("budget", BOUNDS), last=last)[0].text.free(values)

    def with_values(arrays: Mapping[str, Any]) -> dict[str, Any]:
        given = {name: array for name, array in arrays.items() if name in free or as_typed}
        return {**settings, "given": given, "others": {k: array for k, array in arrays.items() if k not in given}}

    def attempt(arrays: dict[str, Any]) -> str | None:
        error = run_script(text, last=last, **with_values(arrays)).raised
        return None if error is None else error.text

    leaves = library_of_text(text) == "torch"
    typed = [name for name, value in values.items() if as_typed and not (leaves and np.ndim(value))]
    return with_values(settle_integers(values, {*wrt, *(values.keys() - free.keys())}, attempt, typed))


# ---- what a recorded run tells of its assignments

LAST = "_last_value"
"""The variable that has the value of a script's last expression."""


STEP_NAMES = ("h", "a", "out", "hidden", "layer_output")
"""What the output of a module within others is called: the first that is no word of the script, else the last."""
MOST_VERSIONS = 400
"""Values of one variable that are kept: the last ones."""


class Version(NamedTuple):
    """What a variable was given, as which assignment of all, and the node that it had then."""

    order: int
    value: Any
    node: Any


class Assigned(Exception):
    """The last assignment of the output: what comes after it does not change its value."""

    def __init__(self, value: Any) -> None:
        super().__init__("assigned")
        self.value = value


class Story:
    """Takes down what the script calls the values of a recorded run: the first name of each, or that of the outermost.

    ``traced`` are variables whose values are inputs, ``last`` is what each variable was given last, and ``others`` are
    values that leaves have in place of the script's own. ``texts`` are those that show traced numbers, each with its
    number. ``versions`` has what the variables of ``watched`` were given, in order, each with its node at that time.
    Of a variable of the module, which ``module`` are, a function's own of the same name is no input. ``leaves`` are the
    inputs that variables of ``traced`` became, those of ``made_inputs`` tensors that the script writes to as it likes.
    ``gradients`` are what the script updates inputs by, ``gradient_nodes`` the nodes that these were. ``stop`` is a
    variable and the number of the assignment to it after which the run ends. ``parameters`` says that what functions
    are called with is noted too.
    """

    def __init__(
        self, traced: frozenset[str] = frozenset(), others: Mapping[str, Any] | None = None,
        watched: frozenset[str] = frozenset(), module: frozenset[str] = frozenset(), gradients: tuple[str, ...] = (),
    ) -> None:  # fmt: skip
        self.places: dict[int, tuple[int, int]] = {}
        self.traced = traced
        self.others = others or {}
        self.last: dict[str, Any] = {}
        self.makers: dict[str, int] = {}
        self.texts: dict[str, Tensor] = {}
        self.computed: set[str] = set()
        self.stop: tuple[str, int] | None = None
        self.counts: Counter[str] = Counter()
        self.leaves: dict[str, dict[int, Tensor]] = {}
        self.constants: dict[str, set[int]] = {}
        self.gradients = gradients
        self.gradient_roots = {root_of(way) for way in gradients}
        self.gradient_nodes: set[int] = set()
        self.made_inputs: WeakSet[Tensor] = WeakSet()
        self.parameters = bool(watched)
        self.sources: dict[tuple[str, int] | None, Any] = {}
        self.holders: dict[Any, dict[str, str]] = {}
        self.beginnings: dict[str, list[str]] = {}
        for way in sorted(traced):
            for part, holder, key in parts_of_way(way):
                self.holders.setdefault(key, {})[part] = holder
                self.beginnings.setdefault(holder, []).append(way)
        self.step_name = ""
        self.watched = watched
        self.module = module
        self.versions: dict[str, deque[Version]] = {}
        self.assignments = 0

    def last_of(self, name: str, output: Tensor) -> tuple[str, int] | None:
        """Return after which assignment a variable has its last value; None where it is written to after that."""
        same = self.last.get(name) is output and output.version == 0
        return (name, self.counts[name]) if same else None

    def see(self, value: Any, name: str) -> None:
        """Note of a variable that is traced whether it is computed from others which are; an update of it is not."""
        if flows(value) and not self.is_update(value.node, name):
            self.computed.add(name)

    def overwrite(self, leaf: Tensor, made: Any) -> None:
        """Note of a variable that is traced whether what is written to it in place is computed from others."""
        name = self.way_of_leaf(leaf)
        if name is not None and type(made) in NODES and made.active and not self.is_update(made, name):
            self.computed.add(name)

    def trace(self, run: Run, way: str, value: Any) -> Any:
        """Return a value as an input where that is asked for; what it holds becomes inputs where that is."""
        if way in self.traced:
            self.see(value, way)
            value = as_leaf(run, value, way)
        for traced in self.beginnings.get(way, ()):
            trace_inside(run, value, traced, len(steps_of(way)))
        return value

    def way_of(self, place: tuple[Any, Any]) -> str | None:
        """Return what leads to a place on the way to a variable of ``traced``: by its owner, or by the leaf there."""
        owner, key = place
        for way, holder in self.holders.get(key, {}).items() if isinstance(key, str | int) else ():
            with suppress(GradcliError):
                if value_at(self.last, holder) is owner:
                    return way
        parts = owner.fields if isinstance(owner, Instance) else owner
        try:
            before = parts[key] if isinstance(parts, dict | list) else None
        except (KeyError, IndexError, TypeError):
            return None
        return self.way_of_leaf(before) if isinstance(before, Tensor) and before.leaf else None

    def way_of_leaf(self, leaf: Tensor) -> str | None:
        """Return which variable of ``traced`` a leaf is the value of."""
        return next((way for way, leaves in self.leaves.items() if id(leaf) in leaves), None)

    def is_update(self, node: Any, name: str, by_gradient: bool = False) -> bool:
        """Return whether a value is computed from the variable's earlier one by way of gradients, or from it alone.

        ``by_gradient`` asks for the first.
        """
        if name not in self.leaves:
            return False
        self.note_gradients()
        seen: set[int] = set()
        others = False
        rest = deque([node])
        while rest:
            one = rest.popleft()
            if one.index in seen:
                continue
            seen.add(one.index)
            if one.index in self.gradient_nodes:
                return True
            if one.op is None:
                others = others or id(one.owner) not in self.leaves[name]
            else:
                rest.extend(argument for argument in one.arguments if type(argument) in NODES)
        return not (others or by_gradient)

    def note_gradients(self) -> None:
        """Note the nodes that the gradients of the script are now."""
        for way in self.gradients:
            with suppress(GradcliError):
                value = value_at(self.last, way)
                if isinstance(value, Tensor) and type(value.node) in NODES:
                    self.gradient_nodes.add(value.node.index)

    def tell(self, regs: Frame, name: str, value: Any, place: tuple[Any, Any] | None = None) -> Any:
        """Note an assignment, and return what is assigned: an input of its own where that is asked for.

        ``place`` is what owns an attribute or an item, and which one it is.
        """
        run: Run = regs[0]
        own = name in self.module and len(run.frames) > 1  # a function's, by the name of one of the module's
        if not own:
            value = self.trace(run, name if place is None else self.way_of(place) or name, value)
        elif name in self.traced and flows(value) and self.is_update(value.node, name, by_gradient=True):
            value = as_leaf(run, value, name)  # a function updates what it was given
        makes = name in self.others and isinstance(value, Tensor) and value.leaf and self.last.get(name) is not value
        if makes and self.makers.setdefault(name, run.line) == run.line:  # the first of its name, or the line that was
            run.by_leaf.pop(value.node.index, None)
            value.node = np.asarray(self.others[name], dtype=np.float64)
            run.enter_leaf(value)
        self.last[name] = value
        self.counts[name] += 1
        if name in self.gradient_roots:
            self.note_gradients()
        if self.stop == (name, self.counts[name]):
            raise Assigned(value)
        if not own:
            self.note_version(name, value)
        if isinstance(value, Tensor) and type(value.node) is np.ndarray and value.shape and name.isidentifier():
            self.name_constant(run.graph.constants, name, value.node)
        if isinstance(value, Tensor) and type(value.node) in NODES and name.isidentifier() and name != LAST:
            self.bind(run, name, value.node)
        return value

    def name_constant(self, constants: dict[str, Any], name: str, array: Any) -> None:
        """Enter an array under a name, which has a number where another has it."""
        entered = self.constants.setdefault(name, set())
        if id(array) in entered:
            return
        called, numbers = name, itertools.count(max(len(entered) + 1, 2))
        while called in constants and constants[called] is not array:
            called = f"{name}{next(numbers)}"
        constants[called] = array  # which keeps its id
        entered.add(id(array))

    def note_version(self, name: str, value: Any) -> None:
        """Note what a watched variable was given."""
        if name in self.watched:
            self.assignments += 1
            version = Version(self.assignments, value, value.node if isinstance(value, Tensor) else None)
            self.versions.setdefault(name, deque(maxlen=MOST_VERSIONS)).append(version)

    def tell_parameter(self, run: Run, name: str, value: Any) -> Any:
        """Note what a parameter of a function is given, and return it, or an input of its own."""
        if name in self.module:
            return value
        value = self.last[name] = self.trace(run, name, value)
        self.note_version(name, value)
        return value

    def bind_step(self, run: Run, value: Any) -> None:
        """Note what a module has computed for the next one, under a name that the script does not use."""
        if not self.step_name:
            words = set(re.findall(r"[^\W\d_]+", run.place.text))
            self.step_name = next((name for name in STEP_NAMES if name not in words), STEP_NAMES[-1])
        if isinstance(value, Tensor) and type(value.node) in NODES:
            self.bind(run, self.step_name, value.node)

    def bind(self, run: Run, name: str, node: Any) -> None:
        """Note what the script calls a computed value: its first name, or that of the outermost function."""
        if node.op is None:
            return
        there, depth, bindings = self.places.get(node.index), len(run.frames), run.graph.bindings
        if there is None:
            self.places[node.index] = len(bindings), depth
            bindings.append((name, node))
        elif there[1] > depth:
            bindings[there[0]] = (name, node)
            self.places[node.index] = there[0], depth


def flows(value: Any) -> bool:
    """Return whether a value is computed from what is differentiated."""
    return isinstance(value, Tensor) and value.active and not value.leaf


@lru_cache(maxsize=1024)
def steps_of(way: str) -> list[tuple[str, Any]]:
    """Return dots and brackets of a way such as ``net.fc1.weight`` or ``params['W1']``: ``.`` or ``[`` and a key."""
    steps: list[tuple[str, Any]] = []
    try:
        node = ast.parse(way, mode="eval").body
    except SyntaxError:
        indexed = re.sub(r"(?:^|\.)(\d+)", r"[\1]", way)  # as PyTorch writes the names of parameters
        hint = f"write {indexed if indexed[:1] != '[' else 'NET' + indexed}" if indexed != way else None
        raise GradcliError(
            "unknown-name", f"'{way}' is no variable, attribute or item of the script", hint=hint
        ) from None
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute):
            steps.append((".", node.attr))
            node = node.value
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            steps.append(("[", node.slice.value))
            node = node.value
        else:
            raise GradcliError("unknown-name", f"'{way}' is no variable, attribute or item of the script")
    return steps[::-1]


def parts_of_way(way: str) -> Iterator[tuple[str, str, Any]]:
    """Yield each beginning of a way with what holds it and its key there.

    >>> list(parts_of_way("net.w[0]"))
    [('net.w', 'net', 'w'), ('net.w[0]', 'net.w', 0)]
    """
    holder = root_of(way)
    for sign, key in steps_of(way) if holder != way else ():
        part = f"{holder}.{key}" if sign == "." else f"{holder}[{key!r}]"
        yield part, holder, key
        holder = part


def inside(value: Any, step: tuple[str, Any]) -> Any:
    """Return what holds the value of one step: the attributes of an object, or a container; None where it is none."""
    sign, key = step
    holder = value.fields if sign == "." and isinstance(value, Instance) else value if sign == "[" else None
    if isinstance(holder, dict):
        return holder if key in holder else None
    in_list = isinstance(holder, list) and isinstance(key, int) and -len(holder) <= key < len(holder)
    return holder if in_list else None


def trace_inside(run: Run, value: Any, way: str, done: int = 0) -> None:
    """Make what is at the end of a way an input of its own, where it is there; ``done`` steps lead to the value."""
    holder, key = None, None
    for step in steps_of(way)[done:]:
        holder, key = inside(value, step), step[1]
        if holder is None:
            return
        value = holder[key]
    if holder is not None and not (isinstance(value, Tensor) and value.leaf):
        run.story.see(value, way)
        holder[key] = as_leaf(run, value, way)


def root_of(way: str) -> str:
    """Return the variable that a way begins with."""
    return re.split(r"[.\[]", way, maxsplit=1)[0]


def value_at(values: Mapping[str, Any], way: str) -> Any:
    """Return what is at the end of a way; raises ``unknown-name``."""
    if way in values:
        return values[way]
    root = root_of(way)
    value = values.get(root)
    for step in steps_of(way) if root in values else ():
        holder = inside(value, step)
        value = None if holder is None else holder[step[1]]
    if value is None:
        raise GradcliError("unknown-name", f"the script gives '{way}' no value", hint=did_you_mean(way, values))
    return value


def as_leaf(run: Run, value: Any, name: str) -> Any:
    """Return a value as an input of its own: an array, a number of Python's, or a tensor, which derivatives end in."""
    source = (name, value.node.index) if flows(value) else None
    if source in run.story.sources:  # whoever takes it again, from a dictionary or an object, has the same input
        return run.story.sources[source]
    made = made_leaf(run, value, name)
    if source is not None:
        run.story.sources[source] = made
    node = made.node if isinstance(made, Tensor) else None
    if type(node) is Input and node.owner is not None:
        run.story.leaves.setdefault(name, {})[id(node.owner)] = node.owner
    return made


def made_leaf(run: Run, value: Any, name: str) -> Any:
    """Return a value as a leaf; what is one already, and what is no float, as it is."""
    if type(value) in (int, float):
        return named_leaf(run, Tensor(np.float64(value), "float64", "python"), name)
    if isinstance(value, Tensor) and not value.leaf and value.dtype.startswith(("float", "bfloat")):
        leaf = named_leaf(run, Tensor(np.array(value_of(constant(run, value.node))), value.dtype, value.library), name)
        if value.library == "torch" and not value.active:
            run.story.made_inputs.add(leaf)
        if value.library != "torch" or not value.active:
            return leaf
        value.node = leaf.node  # whatever else has the tensor sees it too
    return value


def named_leaf(run: Run, leaf: Tensor, name: str) -> Tensor:
    """Return a tensor as a leaf that has its name even where the variable has another value by then."""
    extra_of(leaf).name = name
    return run.enter_leaf(leaf)


def tell(regs: Frame, name: str, value: Any, place: tuple[Any, Any] | None = None) -> Any:
    """Note an assignment in the story of the run."""
    return regs[0].story.tell(regs, name, value, place)
