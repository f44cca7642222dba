"""A script: compiled once, run from its first line to its last."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from gradcli.engine.graph import Graph
from gradcli.errors import Budget, GivenUp, GradcliError, Place
from gradcli.records import dataclass, field
from gradcli.runner.events import Event
from gradcli.runner.exceptions import Raised, as_raised
from gradcli.runner.expressions import Text
from gradcli.runner.objects import Code, Frame
from gradcli.runner.reading import read_script
from gradcli.runner.scopes import with_private_names
from gradcli.runner.state import BOUNDS, Run
from gradcli.runner.statements import Statements

FRAMES = 30_000
"""Calls of the host that a script's own depth may take."""


def compile_text(text: str, listed: bool = True, budget: Budget = BOUNDS, told: Any = None) -> tuple[Code, Place]:
    """Return a text as code ready to run; raises what is refused before it runs, with its place."""
    tree, place = read_script(text, budget)
    if "__" in text:
        tree = with_private_names(tree)
    whole = Text(place.text, listed, told)
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
    return compiler.code, place


@dataclass(slots=True)
class Ended:
    """How a run ended: its events, notes, the exception or the refusal that ended it, and its variables by name."""

    run: Run
    place: Place
    raised: Raised | None = None
    refused: GradcliError | None = None
    status: int = 0
    variables: dict[str, Any] = field(default_factory=dict)


class Reached(Exception):
    """The call that a run was to stop at."""


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
        ended.refused = GradcliError("budget", "the script calls too deeply", place=place)
    except MemoryError:
        ended.refused = GivenUp("budget", "the script needs more memory than there is", place=place)
    finally:
        sys.setrecursionlimit(limit)
    ended.variables = {name: frame[k] for name, k in code.places.items()}
    return ended


def line_of(place: Place, error: GradcliError) -> int:
    """Return the line of an error's place."""
    return 0 if error.span is None else place.text.count("\n", 0, error.span[0]) + 1


def end_by(ended: Ended, error: Raised) -> None:
    """Note the exception that ended a run; ``sys.exit`` is one too, and no error."""
    run = ended.run
    if error.name == "SystemExit":
        arguments = error.instance.fields.get("args", ())
        code = arguments[0] if arguments else 0
        ended.status = code if isinstance(code, int) else 0 if code is None else 1
        return
    ended.raised, ended.status = error, 1
    run.quiet = 0
    run.event(Event("error", error.line or run.line, type=error.name, text=error.text))


def run_script(
    text: str,
    emit: Callable[[str], None] | None = None,
    graph: Graph | None = None,
    given: dict[str, Any] | None = None,
    seed: int | None = None,
    budget: Budget = BOUNDS,
) -> Ended:
    """Run a script; ``given`` are values of variables that it does not assign, ``seed`` that of draws without one.

    Raises ``GradcliError`` for what is refused before it runs.
    """
    code, place = compile_text(text, budget=budget)
    run = Run(graph, emit)
    run.seed = seed or 0
    run.given = given or {}
    return run_code(code, place, run)
