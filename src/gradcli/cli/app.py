"""The command line as a whole: the commands, and what becomes of their errors."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import re
import sys
from collections.abc import Callable, Collection, Sequence
from typing import Annotated, Any

import typer

from gradcli import __version__
from gradcli.cli import commands
from gradcli.cli.options import COMMANDS, WITH_PROGRAM, options_of
from gradcli.cli.output import ClosedPipe, Environment, ExitStatus, complain, discard, report
from gradcli.cli.words import PlainCommand, PlainGroup, VariableCommand
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
INSTALLS = ("--install-completion", "--show-completion")
ALONE = ("-h", "--help", "-V", "--version", *INSTALLS)
"""Options that stand without a command."""
MEANT = {"-help": "--help", "-?": "--help", "/?": "--help", "-version": "--version", "-v": "--version"}
"""What stands alone in place of an option, as elsewhere."""
COMPLETION = "_GRADCLI_COMPLETE"
"""The variable by which a shell's script asks what may stand at the cursor."""
SHELLS = ("complete_bash", "complete_zsh", "complete_fish")
"""Shells that get an answer of our own; others have typer's."""


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


def callback(name: str) -> Callable[..., int]:
    """Return a command as typer calls it, with the options of its row in the table as parameters."""
    answer: Callable[..., int] = getattr(commands, name)

    def call(ctx: typer.Context, **typed: Any) -> int:
        return answer(ctx.obj, typed)

    context = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    options = [option.parameter(one) for one, option in options_of(name).items()]
    call.__signature__ = inspect.Signature([context, *options])  # type: ignore[attr-defined]
    call.__name__, call.__doc__ = name, answer.__doc__
    return call


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
    for one in COMMANDS if name is None else (name,):
        app.command(cls=VariableCommand if one in (*WITH_PROGRAM, "run") else PlainCommand)(callback(one))
    return typer.main.get_command(app)


def run(args: Sequence[str] | None = None, env: Environment | None = None) -> int:
    """Run a command line and return its exit code; nothing but the code leaves this function."""
    words = with_command(list(sys.argv[1:] if args is None else args), COMMANDS)
    place = env or Environment()
    place.run = run
    for stream in (place.stdout, place.stderr):  # no character that one cannot encode ends in a traceback
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    if place.variables.get(COMPLETION) in SHELLS:
        return complete(place)
    try:
        return _run(words, place)
    except KeyboardInterrupt:
        return ExitStatus.INTERRUPTED
    except (BrokenPipeError, ClosedPipe):
        discard(place)
        return ExitStatus.OK


def complete(env: Environment) -> int:
    """Write what may stand at the cursor, and nothing else, whatever happens."""
    from gradcli.cli.completing import reply

    lines = {name: (getattr(commands, name).__doc__ or "").partition("\n")[0] for name in COMMANDS}
    text, code = reply(env.variables[COMPLETION].removeprefix("complete_"), env.variables, lines)
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
            return code if isinstance(code, int) else ExitStatus.OK
    except (KeyboardInterrupt, BrokenPipeError, ClosedPipe):
        raise
    except typer.Abort:
        return ExitStatus.INTERRUPTED
    except Exception as error:
        if "--debug" in words and not isinstance(error, GradcliError | typer.TyperException | MemoryError | OSError):
            raise
        return refused(env, error, words)


def refused(env: Environment, error: Exception, words: list[str]) -> int:
    """Report what ended a command line, and return the exit code."""
    as_json, color, verdict, code = wants_json(words), color_of(words), "", ExitStatus.USAGE
    if isinstance(error, GradcliError):
        if error.kind == RAISED:
            verdict, code = "wrong" if words[0] == "check" else "", ExitStatus.DISAGREE
    elif isinstance(error, typer.TyperException):
        error = usage_error(error, words)
    elif isinstance(error, MemoryError):
        error = GradcliError("budget", "there is not enough memory for this", hint="make it smaller")
    elif isinstance(error, OSError):
        error = GradcliError("file", f"standard output cannot be written: {error.strerror}")
        as_json, color = False, "auto"
    else:
        code = ExitStatus.INTERNAL
        error = GradcliError(
            "internal",
            f"sorry, gradcli failed on this input ({type(error).__name__})",
            hint="please report the command line; --debug shows where it failed",
        )
    report(env, error, as_json, color, verdict)
    if code is ExitStatus.INTERNAL:
        complain(env, "This is a fault of gradcli, not of your input.")
    return code


def refuse_shell(words: list[str]) -> None:
    """Raise ``usage`` for completion of a shell by its name: it is for the one that gradcli runs in."""
    flag, equals, shell = words[0].partition("=") if words else ("", "", "")
    if flag in INSTALLS and (equals or words[1:]):
        hint = f"in {shell or words[1]}, write gradcli {flag} and no more"
        raise GradcliError("usage", f"{flag} is for the shell that it runs in", hint=hint)


def with_command(words: list[str], names: Collection[str]) -> list[str]:
    """Return a command line with its command: ``explain`` where a program, or an option of it, stands first."""
    if len(words) == 1:
        words = [MEANT.get(words[0], words[0])]
    if not words or words[0] in names or words[0].startswith(ALONE) or (words[0][0:2] == "--" and not words[1:]):
        return words
    first, *rest = words
    if first == "help":
        described = rest[:1] if rest and is_function(rest[0]) else []
        return ["functions", *described] if described else [*(word for word in rest[:1] if word in names), "--help"]
    given = any(word == f"--{first}" or word.startswith(f"--{first}=") for word in rest)
    return words if re.fullmatch("[A-Za-z][A-Za-z_-]*", first) and not given else ["explain", *words]


def wants_json(words: list[str]) -> bool:
    """Return whether an answer was asked for as JSON, also where the command line cannot be read otherwise."""
    return not {"--json", "--format=json", "-F=json", "-Fjson"}.isdisjoint(words) or any(
        first in ("--format", "-F") and second == "json" for first, second in itertools.pairwise(words)
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
