"""The ``run`` command's work: a script is run, and what it prints is printed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gradcli.cli.environment import ExitStatus
from gradcli.cli.output import complain, on_terminal, report, to_stdout
from gradcli.errors import Budget, GradcliError
from gradcli.errors.inert import inert, printed
from gradcli.records import dataclass, field
from gradcli.runner.script import run_script

if TYPE_CHECKING:
    from gradcli.cli.environment import Environment
    from gradcli.runner.exceptions import Raised


@dataclass(slots=True)
class Script:
    """A script as it was given: its text, and where that is a notebook its cells."""

    text: str
    cells: list[str] = field(default_factory=list)

    def place(self, line: int) -> str:
        """Return the words for a line: ``line 12``, or ``cell 3, line 2``."""
        if not self.cells:
            return f"line {line}"
        from gradcli.cli.formats import place_in

        return place_in(self.cells, line)


def read_script_file(env: Environment, path: str | None) -> Script:
    """Return the script of a file, or of standard input for ``-``; raises ``option`` and ``file``."""
    from gradcli.cli.inputs import DATA, read_cells, suffix_of

    if path is None:
        raise GradcliError(
            "option", "no script is given", hint="for example: gradcli run train.py; - reads standard input"
        )
    if "\n" in path:
        raise GradcliError(
            "option", "run takes the name of a file, and no text", hint="gradcli run - reads standard input"
        )
    if suffix_of(path) in DATA and not path.endswith(".json"):
        raise GradcliError("file", f"{path} holds numbers, and no script")
    cells = read_cells(env, path, "FILE")
    return Script("\n".join(cells), cells if len(cells) > 1 else [])


def answer(
    env: Environment, script: Script, values: dict[str, Any], seed: int | None, budget: Budget, quiet: bool
) -> int:
    """Run a script, and return the exit code; without ``quiet`` gradcli's notes follow on standard error."""
    with contextlib.ExitStack() as last:
        last.callback(flush, env)
        ended = run_script(script.text, emitter(env), given=values, seed=seed, budget=budget)
    if ended.raised is not None:
        complain(env, raised_text(env, ended.raised, script, ended.place.text))
    if ended.said is not None:
        complain(env, inert(ended.said, "\n\t", encoding_of(env)))
    for _, message in ended.run.notes if not quiet else ():
        complain(env, f"note: {inert(message, '', encoding_of(env))}")
    if ended.refused is not None:
        report(env, ended.refused, as_json=False)
        return ExitStatus.USAGE
    return ended.status & 255


def emitter(env: Environment) -> Callable[[str], None]:
    """Return what writes a printed text: a person sees it at once, a pipe gets it in larger pieces."""
    at_once = on_terminal(env)

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


def encoding_of(env: Environment) -> str:
    """Return the encoding of standard error."""
    return getattr(env.stderr, "encoding", None) or "ascii"


def raised_text(env: Environment, error: Raised, script: Script, text: str) -> str:
    """Return what is said of the exception that ended a script: its type and words, and its place below."""
    words = " ".join(error.text.split("\n")).strip()
    lines = text.split("\n")
    said = [f"{error.name}: {words}" if words else error.name]
    if 0 < error.line <= len(lines):
        said.append(f"  {script.place(error.line)}: {lines[error.line - 1].strip()}")
    return "\n".join(inert(line, "", encoding_of(env)) for line in said)
