"""A script: compiled once, run from its first line to its last."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gradcli.engine.graph import Graph
from gradcli.engine.live import LiveGraph
from gradcli.errors import Budget, GivenUp, GradcliError, Place
from gradcli.errors.suggest import did_you_mean
from gradcli.language.compiling import FRAMES
from gradcli.records import dataclass, field
from gradcli.runner import (
    arrays,
    attributes,
    backward,
    builtins,
    calls,
    containers,
    formatting,
    names,
    operators,
    strings,
    transforms,
)
from gradcli.runner.events import Event
from gradcli.runner.exceptions import Raised, as_raised, raised
from gradcli.runner.expressions import Text
from gradcli.runner.noting import settle
from gradcli.runner.objects import Code, Frame
from gradcli.runner.reading import read_script
from gradcli.runner.scopes import with_private_names
from gradcli.runner.state import BOUNDS, DEEP, Run, span_of
from gradcli.runner.statements import Statements
from gradcli.runner.torch_errors import advice_of


def enter(**parts: Any) -> None:
    """Make the parts of the interpreter that call one another methods of the run."""
    for name, part in parts.items():
        setattr(Run, name, part)


enter(
    attribute=attributes.attribute, assign_attribute=attributes.assign_attribute,
    delete_attribute=attributes.delete_attribute, member=names.member, builtins=builtins.BUILTINS, call=calls.call,
    call_table=calls.call_table, operate=operators.operate, iterate=containers.iterate, take=containers.take,
    array_of=arrays.array_of, text=strings.to_str, quoted=strings.to_repr, percent=formatting.percent,
    type_of=builtins.type_of, type_name=staticmethod(builtins.type_name), sweep=backward.sweep,
    grad_fn_name=staticmethod(strings.grad_fn_name), level_of=transforms.level_of, traced_text=transforms.traced_text,
    refuse_number=transforms.refuse_number, table_function=staticmethod(calls.table_function),
    compile_text=staticmethod(lambda text, listed: compile_text(text, listed)),  # noqa: PLW0108 - it stands below
)  # fmt: skip


def compile_text(
    text: str,
    listed: bool = True,
    budget: Budget = BOUNDS,
    told: Any = None,
    last: str | None = None,
    asked: Mapping[str, str] | None = None,
) -> tuple[Code, Place]:
    """Return a text as code ready to run; raises what is refused before it runs, with its place.

    ``told`` is told of assignments, ``last`` is a variable that is given the value of the last expression, ``asked``
    are expressions that are evaluated at the end, each by the variable that is given its value.
    """
    tree, place = read_script(text, budget)
    if asked:
        ask_at_end(tree, asked)
    return compile_tree(tree, place, listed, told, last), place


def compile_tree(
    tree: ast.Module, place: Place, listed: bool = True, told: Any = None, last: str | None = None
) -> Code:
    """Return the syntax tree of the text at ``place`` as code ready to run."""
    if "__" in place.text:
        tree = with_private_names(tree)
    whole = Text(place.text, listed, told)
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
        arguments = function.args
        parameters = [*arguments.posonlyargs, *arguments.args]
        required = parameters[: len(parameters) - len(arguments.defaults)]
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
    return (
        target.id
        if isinstance(target, ast.Name) and isinstance(last, ast.Assign | ast.AugAssign | ast.AnnAssign)
        else None
    )


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
        found = as_raised(error)
        if found is None:
            ended.refused = error.at(None, place)
        else:
            found.line = line_of(place, error)
            end_by(ended, found)
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


def line_of(place: Place, error: GradcliError) -> int:
    """Return the line of an error's place."""
    return 0 if error.span is None else place.text.count("\n", 0, error.span[0]) + 1


def end_by(ended: Ended, error: Raised) -> None:
    """Note the exception that ended a run; ``sys.exit`` is one too, and no error."""
    run = ended.run
    error.line = error.line or run.line
    error.said = said_by(run, error)
    if error.name == "SystemExit":
        arguments = error.instance.fields.get("args", ())
        code = arguments[0] if arguments else 0
        ended.status = int(code) if isinstance(code, int) else 0 if code is None else 1
        ended.said = None if isinstance(code, int) or code is None else error.text
        return
    ended.raised, ended.status = error, 1
    run.quiet = run.library = 0
    run.event(Event("error", error.line, type=error.name, text=error.text))


def said_by(run: Run, error: Raised) -> str:
    """Return what an exception says; where it cannot say it, what Python writes then."""
    try:
        return run.text(error.instance)
    except (Raised, GradcliError):
        return "<exception str() failed>"


def refuse_given(given: dict[str, Any], code: Code) -> None:
    """Refuse values for variables that the script assigns, or does not have."""
    for name in given:
        if name in code.text.assigned():
            hint = f"take that line out, or leave out --{name}"
            raise GradcliError("option", f"the script gives '{name}' a value itself", hint=hint)
        if name not in code.places:
            raise GradcliError(
                "unknown-name", f"the script has no variable '{name}'", hint=did_you_mean(name, code.places)
            )


def run_script(
    text: str,
    emit: Callable[[str], None] | None = None,
    graph: Graph | None = None,
    given: dict[str, Any] | None = None,
    seed: int | None = None,
    budget: Budget = BOUNDS,
    others: dict[str, Any] | None = None,
    last: str | None = None,
    story: Any = None,
) -> Ended:
    """Run a script; ``given`` are values of variables that it leaves free, ``seed`` that of draws without one.

    ``others`` are values that leaves have in place of the script's own, ``story`` takes down its assignments. Raises
    ``GradcliError`` for what is refused before it runs.
    """
    tell: Any = None
    if others or story is not None:
        from gradcli.runner.story import Story, tell  # few runs have other values

        story = story or Story()
        story.others = others or {}
    code, place = compile_text(text, budget=budget, told=tell, last=last)
    refuse_given(given or {}, code)
    run = Run(LiveGraph(budget) if graph is None else graph, emit)
    run.story = story
    run.seed = seed or 0
    run.given = dict(given or {})
    return run_code(code, place, run)
