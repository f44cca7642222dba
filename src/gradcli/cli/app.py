"""The command line as a whole: the commands, and what becomes of their errors."""

from __future__ import annotations

import contextlib
import functools
import itertools
import re
import sys
from collections.abc import Callable, Collection, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from gradcli import __version__
from gradcli.cli import commands
from gradcli.cli.environment import Environment, ExitStatus
from gradcli.cli.options import PlainCommand, PlainGroup
from gradcli.cli.output import ClosedPipe, complain, discard, report
from gradcli.cli.variables import VariableCommand
from gradcli.errors import GradcliError

SUMMARY = "Explain y.backward(v): the Jacobian, the vector beside it, and the gradient that reverse mode leaves."
EXAMPLES = """\b
Examples:
  gradcli "x**2" --x 3                     a formula; explain may be left out
  gradcli "x**2" --x 1,2 --v 1,10          several outputs need a v
  gradcli script.py                        lines of PyTorch, as pasted
  gradcli grad "sum(x**2)" --x @data.csv   a file; - is standard input
  gradcli check "x**2" --x 3 --expect 2*x  is my derivative right?
  gradcli run train.py                     what the script prints

Exit codes: 0 answered, 1 the routes disagree or digits are lost, 2 a mistake in what was given, 3 not finite at this
point, 4 unclear, 70 a fault of gradcli, 130 interrupted. gradcli COMMAND --help has the options of a command.
"""
RAISED = "script"
"""The kind of an exception that ends a script, which is no mistake of the command line."""
COMPLETIONS = ("--install-completion", "--show-completion")
OWN = ("-h", "--help", "-V", "--version", *COMPLETIONS)
"""Options that stand without a command."""
MEANT = {"-help": "--help", "-?": "--help", "/?": "--help", "-version": "--version", "-v": "--version"}
"""What stands alone in place of an option, as elsewhere."""
COMMANDS: dict[str, tuple[Callable[..., None], type[TyperCommand]]] = {
    "explain": (commands.explain, VariableCommand),
    "grad": (commands.grad, VariableCommand),
    "check": (commands.check, VariableCommand),
    "run": (commands.run, VariableCommand),
    "batch": (commands.batch, PlainCommand),
    "functions": (commands.functions, PlainCommand),
    "schema": (commands.schema, PlainCommand),
}


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gradcli {__version__}")
        raise typer.Exit


def root(
    version: Annotated[
        bool, typer.Option("-V", "--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Take the options that stand before a command; typer's callback does what there is to do."""
    del version


@functools.cache
def command_line(name: str | None = None) -> typer._click.Command:
    """Return the command line with one command, or with all: typer reads the signatures of all that it is given."""
    app = typer.Typer(
        name="gradcli",
        cls=PlainGroup,
        help=SUMMARY,
        epilog=EXAMPLES,
        context_settings={"help_option_names": ["-h", "--help"]},
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        add_completion=name is None,
    )
    app.callback()(root)
    for callback, kind in COMMANDS.values() if name is None else [COMMANDS[name]]:
        app.command(cls=kind)(callback)
    return typer.main.get_command(app)


def run(args: Sequence[str] | None = None, env: Environment | None = None) -> int:
    """Run a command line and return its exit code; nothing but the code leaves this function."""
    words = with_command(list(sys.argv[1:] if args is None else args), COMMANDS)
    place = env or Environment()
    place.run = run
    _tolerate(place)
    if place.variables.get(COMPLETION) in ANSWERED:
        return complete(place)
    try:
        return _run(words, place)
    except KeyboardInterrupt:
        return ExitStatus.INTERRUPTED
    except (BrokenPipeError, ClosedPipe):
        discard(place)
        return ExitStatus.OK


COMPLETION = "_GRADCLI_COMPLETE"
"""The variable by which a shell's script asks what may stand at the cursor."""
ANSWERED = ("complete_bash", "complete_zsh", "complete_fish")
"""Shells that get an answer of our own; others have typer's."""


def complete(env: Environment) -> int:
    """Write what may stand at the cursor, and nothing else, whatever happens."""
    from gradcli.cli.completing import reply

    text, code = reply(env.variables[COMPLETION].removeprefix("complete_"), env.variables)
    with contextlib.suppress(OSError):
        env.stdout.write(f"{text}\n" if text else "")
        env.stdout.flush()
    return code


def _run(words: list[str], env: Environment) -> int:
    try:
        with contextlib.redirect_stdout(env.stdout), contextlib.redirect_stderr(env.stderr):
            refuse_shell(words)
            command = command_line(words[0] if words and words[0] in COMMANDS else None)
            code: Any = command.main(words or ["--help"], prog_name="gradcli", standalone_mode=False, obj=env)
    except GradcliError as error:
        raised = error.kind == RAISED
        report(env, error, wants_json(words), color_of(words), "wrong" if raised and words[0] == "check" else "")
        return ExitStatus.DISAGREE if raised else ExitStatus.USAGE
    except typer.TyperException as error:
        report(env, usage_error(error, words), wants_json(words), color_of(words))
        return ExitStatus.USAGE
    except (KeyboardInterrupt, BrokenPipeError, ClosedPipe):
        raise
    except typer.Abort:
        return ExitStatus.INTERRUPTED
    except MemoryError:
        scarce = GradcliError("budget", "there is not enough memory for this", hint="make it smaller")
        report(env, scarce, wants_json(words), color_of(words))
        return ExitStatus.USAGE
    except OSError as error:
        report(env, GradcliError("file", f"standard output cannot be written: {error.strerror}"), as_json=False)
        return ExitStatus.USAGE
    except Exception as error:
        if "--debug" in words:
            raise
        internal = GradcliError(
            "internal",
            f"sorry, gradcli failed on this input ({type(error).__name__})",
            hint="please report the command line; --debug shows where it failed",
        )
        report(env, internal, wants_json(words), color_of(words))
        complain(env, "This is a fault of gradcli, not of your input.")
        return ExitStatus.INTERNAL
    return code if isinstance(code, int) else ExitStatus.OK


def refuse_shell(words: list[str]) -> None:
    """Raise ``usage`` for completion of a shell by its name: it is for the one that gradcli runs in."""
    flag, equals, shell = words[0].partition("=") if words else ("", "", "")
    if flag in COMPLETIONS and (equals or words[1:]):
        hint = f"in {shell or words[1]}, write gradcli {flag} and no more"
        raise GradcliError("usage", f"{flag} is for the shell that it runs in", hint=hint)


def with_command(words: list[str], commands: Collection[str]) -> list[str]:
    """Return a command line with its command: ``explain`` where a program, or an option of it, stands first."""
    if len(words) == 1:
        words = [MEANT.get(words[0], words[0])]
    if not words or words[0] in commands or words[0].startswith(OWN) or (words[0][0:2] == "--" and not words[1:]):
        return words
    first, *rest = words
    if first == "help":
        described = rest[:1] if rest and is_function(rest[0]) else []
        return ["functions", *described] if described else [*(word for word in rest[:1] if word in commands), "--help"]
    given = any(word == f"--{first}" or word.startswith(f"--{first}=") for word in rest)
    return words if re.fullmatch("[A-Za-z][A-Za-z_-]*", first) and not given else ["explain", *words]


def wants_json(words: list[str]) -> bool:
    """Return whether an answer was asked for as JSON, also where the command line cannot be read otherwise."""
    pairs = itertools.pairwise(words)
    return (
        "--json" in words
        or any(word in words for word in ("--format=json", "-F=json", "-Fjson"))
        or any(first in ("--format", "-F") and second == "json" for first, second in pairs)
    )


def color_of(words: list[str]) -> str:
    """Return what ``--color`` says, also where the command line cannot be read otherwise."""
    given = [second for first, second in itertools.pairwise(words) if first == "--color"]
    given += [word.removeprefix("--color=") for word in words if word.startswith("--color=")]
    return given[-1] if given and given[-1] in ("always", "never") else "auto"


def usage_error(error: typer.TyperException, words: list[str]) -> GradcliError:
    """Return typer's complaint about the command line as one of ours."""
    from gradcli.cli.inputs import is_file  # an error alone needs these
    from gradcli.cli.mistakes import no_command, refused_by_typer

    first = words[0]
    if first in COMMANDS or first.startswith("-"):
        return refused_by_typer(error, first if first in COMMANDS else None)
    return no_command(first, is_function(first), is_file(first))


def is_function(word: str) -> bool:
    """Return whether a word is the name of a function of the language."""
    from gradcli.ops import spellings

    return word in spellings()


def _tolerate(env: Environment) -> None:
    """Let no character that a stream cannot encode end in a traceback."""
    for stream in (env.stdout, env.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
