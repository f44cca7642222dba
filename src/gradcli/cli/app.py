"""The command line as a whole: the commands, and what becomes of their errors."""

from __future__ import annotations

import contextlib
import copy
import functools
import itertools
import os
import re
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from gradcli import __version__
from gradcli.cli import commands
from gradcli.cli.environment import Environment
from gradcli.cli.output import ClosedPipe, complain, report
from gradcli.cli.parameters import PlainCommand, PlainGroup
from gradcli.cli.status import ExitStatus
from gradcli.cli.variables import VariableCommand
from gradcli.errors import GradcliError

app = typer.Typer(
    name="gradcli",
    cls=PlainGroup,
    help="Explain y.backward(v): the Jacobian, the vector beside it, and the gradient that reverse mode leaves.",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=True,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gradcli {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("-V", "--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Explain y.backward(v): the Jacobian, the vector beside it, and the gradient that reverse mode leaves."""
    del version


app.command(cls=VariableCommand)(commands.explain)
app.command(cls=VariableCommand)(commands.grad)
app.command(cls=VariableCommand)(commands.check)
app.command(cls=PlainCommand)(commands.batch)
app.command(cls=PlainCommand)(commands.functions)
app.command(cls=PlainCommand)(commands.schema)


def run(args: Sequence[str] | None = None, env: Environment | None = None) -> int:
    """Run a command line and return its exit code; nothing but the code leaves this function."""
    words = list(sys.argv[1:] if args is None else args)
    place = env or Environment()
    _tolerate(place)
    try:
        return _run(words, place)
    except KeyboardInterrupt:
        return ExitStatus.INTERRUPTED
    except (BrokenPipeError, ClosedPipe):
        _drop_stdout(place)
        return ExitStatus.OK


def _run(words: list[str], env: Environment) -> int:
    as_json = wants_json(words)
    try:
        with contextlib.redirect_stdout(env.stdout), contextlib.redirect_stderr(env.stderr):
            command = typer.main.get_command(alone().get(words[0], app) if words else app)
            code: Any = command.main(words or ["--help"], prog_name="gradcli", standalone_mode=False, obj=env)
    except GradcliError as error:
        report(env, error, as_json)
        return ExitStatus.USAGE
    except typer.TyperException as error:
        report(env, usage_error(error), as_json)
        return ExitStatus.USAGE
    except (KeyboardInterrupt, BrokenPipeError, ClosedPipe):
        raise
    except typer.Abort:
        return ExitStatus.INTERRUPTED
    except MemoryError:
        report(env, GradcliError("budget", "there is not enough memory for this", hint="make it smaller"), as_json)
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
        report(env, internal, as_json)
        complain(env, "This is a fault of gradcli, not of your input.")
        return ExitStatus.INTERNAL
    return code if isinstance(code, int) else ExitStatus.OK


@functools.cache
def alone() -> dict[str, typer.Typer]:
    """Return the app with each command alone: typer reads the signatures of all that an app has, at every start."""
    found: dict[str, typer.Typer] = {}
    for info in app.registered_commands:
        assert info.callback is not None  # noqa: S101
        smaller = copy.copy(app)
        smaller.registered_commands = [info]
        found[info.callback.__name__] = smaller
    return found


def wants_json(words: list[str]) -> bool:
    """Return whether an answer was asked for as JSON, also where the command line cannot be read otherwise."""
    pairs = itertools.pairwise(words)
    return (
        "--json" in words
        or any(word in words for word in ("--format=json", "-F=json", "-Fjson"))
        or any(first in ("--format", "-F") and second == "json" for first, second in pairs)
    )


def usage_error(error: typer.TyperException) -> GradcliError:
    """Return typer's complaint about the command line as one of ours."""
    formatted = getattr(error, "format_message", None)
    message = str(formatted() if formatted else error).strip().rstrip(".")
    message = re.sub(r"Input should be a valid integer.*", "an integer is needed", message[:1].lower() + message[1:])
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "gradcli"
    single = re.search(r"extra argument\(s\) \(-(\w) ", message)
    hint = f"inputs have two dashes: --{single[1]}" if single else f"{path} --help lists what there is"
    return GradcliError("usage", message, hint=hint)


def _tolerate(env: Environment) -> None:
    """Let no character that a stream cannot encode end in a traceback."""
    for stream in (env.stdout, env.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _drop_stdout(env: Environment) -> None:
    """Point a closed standard output at nothing, so that Python's own flush at exit does not complain."""
    if env.stdout is sys.stdout:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
