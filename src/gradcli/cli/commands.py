"""The commands: each reads its request from what was typed, calls the core, prints, and returns an exit code."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from gradcli import __version__
from gradcli.cli.options import ARRAYS, CHECKS, DEFAULTS, OPTIONS, refuse_value, suffix_of
from gradcli.cli.output import (
    Environment,
    ExitStatus,
    complain,
    is_terminal,
    is_utf,
    report,
    terminal_width,
    to_stdout,
    write,
    write_tables,
)
from gradcli.errors import GradcliError
from gradcli.errors.hints import MissingV
from gradcli.errors.inert import inert
from gradcli.records import replace

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcli.cli.output import Printing
    from gradcli.cli.request import Request, Typed
    from gradcli.explanation.explained import Explained


MOST_LINES = 30
"""Lines whose calls are answered for ``--all``."""
PROMPT = "   Enter goes on, q ends "
GONE = "\x1b[1A\x1b[2K\r"
"""Moves a terminal up by a line, which it clears: a prompt that was answered is no part of the answer."""


def explain(env: Environment, typed: Typed) -> int:
    """Show the Jacobian J, v beside it, and x.grad, their product.

    \b
    gradcli explain "[3*x[0]**2, x[0]**2 + 2*x[1]**3, 10*x[1]]" --x 1,2 --v 1,10,100
    gradcli explain "-x**2" --x 3
    gradcli explain "(sigmoid(W @ x + b) - t)**2" --W "1,2;3,4" --x 1,0 --b 0,0 --t 0,1 --wrt W,b --v 1,1
    """
    from gradcli.cli.output import refuse_much, write_explanation
    from gradcli.cli.request import printing, refuse_beside, request

    how = printing(typed, "explain")
    refuse_beside(how, typed)
    asked = request(env, typed)
    if typed["reveal"]:
        refuse_reveal(env, how, typed["all"])
    try:
        answer = explained_or_offered(env, asked, how, every_row=typed["rows"])
        if any(typed[name] for name, option in OPTIONS.items() if option.view) or typed["iterations"] is not None:
            from gradcli.cli.request import views_asked  # few answers are asked for more
            from gradcli.explanation.explaining import with_views

            answer = with_views(answer, views_asked(env, asked, typed))
    except GradcliError as error:
        if error.ended is not None:
            write_before(env, error, asked.script.name, how)
        raise
    if how.full:
        refuse_much(answer, how)
    (reveal if typed["reveal"] else write_explanation)(env, answer, how)
    if typed["all"]:
        write_others(env, asked, answer, how)
    return status_of(env, answer.verdict, answer.finite, how.quiet)


def explained_or_offered(env: Environment, asked: Request, how: Printing, every_row: bool) -> Explained:
    """Return the explanation of a request; a missing v is raised with J beside it, where a person looks on.

    With ``every_row`` each one-hot v in turn stands for a missing one.
    """
    try:
        return explained(asked)
    except GradcliError as error:
        if not isinstance(error.facts, MissingV):
            raise
        shape = error.facts.shape
        import numpy as np

        from gradcli.language.values import MOST_CALLS

        if every_row:  # of many entries one call for their sum
            size = math.prod(shape)
            return explained(replace(asked, calls=[np.eye(size) if size <= MOST_CALLS else np.ones(shape)]))
        if how.format != "table" or how.output or how.quiet or not env.stdout_is_terminal:
            raise
        try:
            answer = explained(replace(asked, calls=[np.ones(shape)]))
        except GradcliError:
            raise error from None
        from gradcli.document.effects import worth_of
        from gradcli.document.sections import open_document

        write_tables(env, open_document(answer, how.settings), how)
        worth = worth_of(answer.effect, how.settings)
        raise error.about(MissingV(shape, answer.name, answer.effect.row, worth)) from None


def explained(asked: Request) -> Explained:
    """Return the explanation of a request."""
    from gradcli.cli.request import function_of
    from gradcli.explanation.evaluation import stand
    from gradcli.interface import Explanation

    point = stand(function_of(asked), asked.values, asked.calls, asked.strict)
    from gradcli.explanation.explaining import Ask, explain_run, with_tangents  # brings sympy: an error needs none

    answer = explain_run(point, Ask.WHERE_CHEAP, Explanation)
    if answer.timeline is not None:
        named = replace(answer.timeline, name=asked.script.name)
        answer = replace(with_tangents(answer, point.function.program), timeline=named)
    return replace(answer, notes=[*answer.notes, *asked.notes]) if asked.notes else answer


def write_others(env: Environment, asked: Request, answer: Explained, how: Printing) -> None:
    """Write the answers of the other lines of a script that make a call, each at its first turn, without timeline."""
    from gradcli.cli.output import write_explanation

    if answer.timeline is None or how.format not in ("table", "plain", "markdown") or how.output:
        hint = "it is for a script, and for a person; the events of --json have all calls"
        raise GradcliError("option", "--all has nothing to add here", hint=hint)
    place, events = answer.timeline.explained, answer.timeline.events
    lines = dict.fromkeys(event.line for event in events if event.kind in ("backward", "grad"))
    for line in [line for line in lines if place is None or line != events[place].line][:MOST_LINES]:
        other = explained(replace(asked, script=asked.script._replace(at=line, turn=None)))
        if other.timeline is not None:
            write_explanation(env, replace(other, timeline=other.timeline.alone()), how)


def write_before(env: Environment, error: GradcliError, name: str, how: Printing) -> None:
    """Write what a script did before it came to an error, for people, where there is more to it than a line."""
    from gradcli.document.model import Document
    from gradcli.document.sections import events_section
    from gradcli.explanation.timeline import timeline
    from gradcli.render.events import timeline_lines

    before = timeline(error.ended, name=name)
    if how.quiet or how.output or not (before.rows or before.prints):
        return
    if how.format == "plain":
        write(env, "\n".join(timeline_lines(before)))
    elif how.format == "table":
        write_tables(env, Document((events_section(before),), how.settings), how)


def refuse_reveal(env: Environment, how: Printing, all_lines: bool) -> None:
    """Raise ``option`` for a lecture where nobody looks on, where the answer goes elsewhere, or beside ``--all``."""
    elsewhere = "leave it out here; -o page.html has a lecture too: its button next"
    if all_lines or how.output or how.quiet or how.format != "table":
        what = "--all" if all_lines else f"-o {how.output}" if how.output else "another format, or --quiet,"
        hint = "leave out --all" if all_lines else elsewhere.replace("leave it out here; ", "")
        raise GradcliError("option", f"--reveal and {what} do not go together", hint=hint)
    if env.stdin is None or env.stdin_used or not is_terminal(env.stdin) or not env.stdout_is_terminal:
        raise GradcliError("option", "--reveal waits for a person at a terminal, and here is none", hint=elsewhere)


def reveal(env: Environment, answer: Explained, how: Printing) -> None:
    """Write the parts of an answer, each but the first after the Enter key; q ends, and so does the end of input."""
    from gradcli.document.sections import document_of, steps_of

    for k, step in enumerate(steps_of(document_of(answer, how.settings))):
        if k:
            with to_stdout(env):  # the prompt is gone after the answer from a screen that can move up
                env.stdout.write(PROMPT)
                env.stdout.flush()
                line = env.stdin.readline()
                env.stdout.write(GONE if line.endswith("\n") and env.variables.get("TERM") != "dumb" else "\n")
                env.stdout.flush()
            if line == "" or line.strip().lower().startswith("q"):
                return
            write(env, "")
        write_tables(env, step, how)


def status_of(env: Environment, verdict: str, finite: bool, quiet: bool) -> ExitStatus:
    """Return the exit code of an answer, and say on standard error why it is not 0."""
    from gradcli.explanation.results import VERDICTS  # a start without an answer needs none

    if verdict in ("agree", "right") and finite:
        return ExitStatus.OK
    known = next(one for one in VERDICTS.values() if verdict in (one.word, one.of_check))
    if not quiet:
        complain(env, f"warning: {known.warning}")
    return ExitStatus(known.status)


def grad(env: Environment, typed: Typed) -> int:
    """Print the gradient alone, as numbers that --x reads back.

    It is the engine's number, and nothing else has looked at it: --confirm holds it against J and against arithmetic
    with digits to spare, as explain does.

    \b
    gradcli grad "sum(x**2)" --x 1,2,3
    gradcli grad "W @ x" --W "1,2;3,4" --x 1,1 --v 1,0 --wrt W
    gradcli grad "sum(x**2)" --x @x.csv -o g.npy
    """
    from gradcli.cli.output import write_parts
    from gradcli.cli.request import function_of, printing, request
    from gradcli.document.texts import grad_text, with_labels
    from gradcli.explanation.evaluation import read_gradient, stand

    how = printing(typed, "grad")
    asked = request(env, typed)
    point = stand(function_of(asked), asked.values, asked.calls, asked.strict, record=typed["confirm"])
    gradient = read_gradient(point)
    notes, verdict = [*asked.notes, *gradient.notes], "agree"
    more: dict[str, Any] = {}
    if typed["confirm"]:
        from gradcli.explanation.explained import Explained
        from gradcli.explanation.explaining import Ask, explain_run
        from gradcli.explanation.results import Note
        from gradcli.render.data import agreement_document

        answer = explain_run(point, Ask.ALWAYS, Explained)
        trial = answer.trial if answer.agreement.finite else None
        tried = [Note("difference-quotient", trial.sentence)] if trial is not None else []
        notes, verdict = [*asked.notes, *answer.notes, *tried], answer.agreement.verdict
        more = {"agreement": agreement_document(answer.agreement)}
    silent = how.quiet and how.output in (None, "-")
    if silent:
        pass
    elif how.format in ARRAYS:
        from gradcli.cli.formats import array_parts

        if how.format.startswith("np") and how.output == "-" and env.stdout_is_terminal:
            raise GradcliError("option", f"{how.format} is no text for a terminal", hint=f"-o g.{how.format}")
        arrays = {with_labels(name, gradient.labels): array for name, array in gradient.grad.items()}
        write_parts(env, array_parts(how.format, arrays), how.output)
    elif how.format == "json":
        from gradcli.render.data import encoded, gradient_document, notes_document

        more |= {"notes": notes_document(notes)} if notes else {}
        write_parts(env, encoded(lambda form: gradient_document(gradient, form) | more), how.output)
    else:
        write(env, with_labels(grad_text(gradient.grad), gradient.labels), how.output)
    for note in notes if not how.quiet else ():
        complain(env, f"note: {note.message}")
    return status_of(env, verdict, gradient.finite, how.quiet)


def check(env: Environment, typed: Typed) -> int:
    """Confirm a derivative, in one line and an exit code.

    By symbols, by reverse mode and by numbers alone; --expect takes one of your own. A variable that is given again has
    another value at each of several points.

    \b
    gradcli check "sum(softmax(x)**2)" --x 1,2,3
    gradcli check "x**3*sin(x)" --x 1 --samples 100 --seed 7
    gradcli check "sum((W @ x)**2)" --W "1,2;3,4" --x 1,1 --wrt x --expect "2*W.T @ (W @ x)"
    gradcli check "p = softmax(z); loss = -log(p[0])" --z 1,2,3 --expect "p - [1,0,0]"
    gradcli check checks.toml --jobs 4 -o report.xml
    """
    where = typed["program"] or typed["file"] or ""
    if suffix_of(where, CHECKS):
        from gradcli.cli.checks import answer_all  # most checks are one

        return answer_all(env, typed, where)
    if typed["jobs"] != 1:
        raise GradcliError("option", "--jobs is for a file of checks", hint="gradcli check checks.toml --jobs 4")
    from gradcli.cli.checking import answer_check

    answer = answer_check(env, typed)
    return status_of(env, answer.verdict, answer.finite, quiet=True)


def run(env: Environment, typed: Typed) -> int:
    """Run a script of PyTorch, NumPy or JAX, and print what it prints.

    None of them is needed: gradcli runs it from its first line to its last, and touches no file and no network. It ends
    with 1 where the script ends with an error, which standard error shows in two lines.

    \b
    gradcli run train.py
    gradcli run notebook.ipynb --seed 7
    gradcli run - < train.py
    """
    from gradcli.cli.request import budget_from, read_script, read_values
    from gradcli.errors.inert import inert
    from gradcli.runner.script import read_given, run_script
    from gradcli.runner.state import BOUNDS

    bounds = budget_from(typed["budget"], BOUNDS)
    text = "\n".join(cells := read_script(env, typed["program"]))
    values = read_values(env, typed["set_values"], bounds, [])
    settings = read_given(text, values, as_typed=True, seed=typed["seed"], budget=bounds)
    encoding = env.encoding(env.stderr)
    with contextlib.ExitStack() as last:
        last.callback(flush, env)
        ended = run_script(text, emitter(env), **settings)
    if ended.raised is not None:
        words = " ".join(ended.raised.text.split("\n")).strip()
        complain(env, inert(f"{ended.raised.name}: {words}" if words else ended.raised.name, "", encoding))
        lines, number = ended.place.text.split("\n"), ended.raised.line
        if 0 < number <= len(lines):
            place = f"line {number}"
            if len(cells) > 1:
                from gradcli.cli.formats import place_in  # few scripts are notebooks

                place = place_in(cells, number)
            complain(env, inert(f"  {place}: {lines[number - 1].strip()}", "", encoding))
    if ended.said is not None:
        complain(env, inert(ended.said, "\n\t", encoding))
    for _, message in ended.run.notes if not typed["quiet"] else ():
        complain(env, f"note: {inert(message, '', encoding)}")
    if ended.refused is not None:
        report(env, ended.refused, as_json=False)
        return ExitStatus.USAGE
    return ended.status & 255


def emitter(env: Environment) -> Callable[[str], None]:
    """Return what writes a printed text: a person sees it at once, a pipe gets it in larger pieces."""
    from gradcli.errors.inert import printed

    at_once = env.stdout_is_terminal

    def emit(text: str) -> None:
        with to_stdout(env):
            env.stdout.write(printed(text))
            if at_once:
                env.stdout.flush()

    return emit


def flush(env: Environment) -> None:
    """Hand on what standard output holds, before anything is said on standard error."""
    if env.stdout is not None:
        with to_stdout(env):
            env.stdout.flush()


def batch(env: Environment, typed: Typed) -> int:
    """Answer many records, one JSON document on each line.

    A record is {"id": 1, "program": "x**2", "inputs": {"x": 3}}.

    \b
    gradcli batch records.ndjson -o answers.ndjson --jobs 4
    gradcli batch --no-symbolic --only grad < records.ndjson
    """
    from gradcli.cli.batch import answer

    return answer(env, typed)


def functions(env: Environment, typed: Typed) -> int:
    """List the functions of the language, or describe one.

    A function is described by its formula, its derivative, and an example.

    \b
    gradcli functions
    gradcli functions sigmoid
    gradcli functions soft
    gradcli functions @
    """
    from gradcli.explanation.vocabulary import all_functions, look_up
    from gradcli.render.data import dump
    from gradcli.render.vocabulary import describe, entry, overview

    name = typed["name"]
    listed = all_functions() if name is None else look_up(name)
    if typed["json"]:
        written = {"schema": 1, "version": __version__, "functions": list(map(entry, listed)), "error": None}
        write(env, dump(written))
    else:
        write(env, overview(listed) if name is None else describe(listed))
    return ExitStatus.OK


def repl(env: Environment, typed: Typed) -> int:
    """Ask for lines, and answer each as explain would.

    Values stay: x = 1,2 gives one. :help says more. It needs the extra repl: pip install "gradcli[repl]"

    \b
    gradcli repl
    """
    from gradcli.cli.repl import converse

    converse(env, typed)
    return ExitStatus.OK


def doctor(env: Environment, typed: Typed) -> int:
    """Say what gradcli runs on, what it can show here, and which extras are missing.

    \b
    gradcli doctor
    gradcli doctor --json
    """
    from gradcli.cli.output import say
    from gradcli.render.data import dump

    document = examined(env)
    if typed["json"]:
        write(env, dump(document))
    for sentence in report_lines(document) if not typed["json"] else ():
        say(env, sentence)
    return ExitStatus.OK


def schema(env: Environment, typed: Typed) -> int:
    """Print the JSON Schema of the documents that --json prints.

    \b
    gradcli schema > gradcli.schema.json
    """
    from importlib.resources import files

    del typed
    write(env, files("gradcli.render").joinpath("schema.json").read_text(encoding="utf-8"))
    return ExitStatus.OK


# ---- what gradcli runs on, what its output can show, and which extras are missing

PACKAGES = ("typer", "rich", "numpy", "sympy", "mpmath")
EXTRAS = {
    "repl": ("prompt_toolkit", "lines one after the other, with history and completion"),
    "notebook": ("ipython", "%gradcli and %%gradcli in a notebook"),
    "dask": ("dask", "gradcli.answer on a cluster"),
    "torch": ("torch", "what --code torch prints can be run"),
    "jax": ("jax", "what --code jax prints can be run"),
}
"""The extras with the package that each of them brings, and what it adds."""
SHOWN = (*DEFAULTS, "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "CLICOLOR", "TERM", "COLUMNS")
"""Variables of the environment that change what is printed."""
LONGEST = 40


def version_of(package: str) -> str | None:
    """Return the version of a package that is installed, None for one that is not."""
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def problems(env: Environment) -> Iterator[str]:
    """Yield what is wrong with the variables that stand for options."""
    for variable, words in DEFAULTS.items():
        try:
            refuse_value(variable, env.variables.get(variable) or words[0], words)
        except GradcliError as error:
            yield f"{error.message}: {error.hint}"


def examined(env: Environment) -> dict[str, Any]:
    """Return the JSON document of what is there."""
    import platform

    encoding = env.encoding(env.stdout)
    return {
        "schema": 1,
        "version": __version__,
        "python": {"version": platform.python_version(), "implementation": platform.python_implementation()},
        "platform": f"{platform.system()} {platform.release()} {platform.machine()}",
        "packages": {name: version_of(name) for name in PACKAGES},
        "output": {
            "terminal": env.stdout_is_terminal,
            "columns": terminal_width(env),
            "colors": env.coloured(env.stdout),
            "encoding": encoding,
            "unicode": is_utf(encoding),
        },
        "input": {"terminal": env.stdin is not None and is_terminal(env.stdin)},
        "variables": {name: env.variables[name] for name in SHOWN if env.variables.get(name)},
        "problems": list(problems(env)),
        "extras": [
            {"name": name, "package": package, "version": version_of(package), "adds": adds}
            for name, (package, adds) in EXTRAS.items()
        ],
        "error": None,
    }


def report_lines(document: dict[str, Any]) -> Iterator[str]:
    """Yield in lines what is there."""
    python, output = document["python"], document["output"]
    yield f"gradcli {document['version']}, {python['implementation']} {python['version']}, {document['platform']}"
    yield ", ".join(f"{name} {version or 'missing'}" for name, version in document["packages"].items())
    columns = "any width" if output["columns"] is None else f"{output['columns']} columns"
    colors = "colours" if output["colors"] else "no colours"
    letters = output["encoding"] + ("" if output["unicode"] else ", so ASCII alone")
    yield f"output: {'a terminal' if output['terminal'] else 'no terminal'}, {columns}, {colors}, {letters}"
    values = [f"{name}={inert(value[:LONGEST], '')}" for name, value in document["variables"].items()]
    yield f"variables: {', '.join(values) or 'none'}"
    yield from (f"wrong: {inert(problem, '')}" for problem in document["problems"])
    for extra in document["extras"]:
        missing = "" if extra["version"] else f'; pip install "gradcli[{extra["name"]}]"'
        yield f"extra {extra['name']} ({extra['version'] or 'missing'}): {extra['adds']}{missing}"
