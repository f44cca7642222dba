"""The command line as a whole: its words sorted and read, the commands, and what becomes of their errors.

typer reads options; what it would do with pydantic for a text or a short integer is done here without.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import re
import shlex
import sys
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from gradcli import __version__
from gradcli.cli import commands
from gradcli.cli.options import (
    COLORS,
    COMMANDS,
    DEFAULTS,
    DRAWN,
    HELP,
    WITH_PROGRAM,
    Words,
    needs_value,
    options_of,
    refuse_beyond,
    refuse_value,
    sort,
    suffix_of,
    typed_program,
)
from gradcli.cli.output import ClosedPipe, Environment, ExitStatus, complain, discard, report
from gradcli.errors import GradcliError, Place
from gradcli.errors.hints import Facts, MisshapenV, hint_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import typer


ASKS_FOR_HELP = (["help"], ["-help"], ["-?"], ["/?"])
"""Operands that ask for help, and are no program."""


def refuse_mistakes(command: str, words: Words) -> None:
    """Raise ``option`` or ``usage`` for flags that are neither options nor variables, and for a second operand."""
    if any(value is not None for value in words.switches.values()) or (words.switches and len(words.operands) > 1):
        from gradcli.cli.mistakes import refuse_values  # an error alone needs it

        refuse_values(words.switches, words.operands, words.before)
    if not words.unknown and len(words.operands) == 1 and (words.options or words.operands not in ASKS_FOR_HELP):
        return
    program = typed_program(words)
    if not words.unknown or len(words.operands) > 1 or not are_variables(words.unknown, program):
        refuse_words(command, words, program)


def are_variables(unknown: Mapping[str, str | None], program: str | None) -> bool:
    """Return whether flags that are no options are names in the program, each with a value."""
    return program is not None and all(
        value is not None and names(program, flag[2:]) for flag, value in unknown.items()
    )


def refuse_words(command: str, words: Words, program: str | None) -> None:
    """Raise what is wrong with words that do not fit together, if anything is."""
    from gradcli.cli import mistakes  # an error alone needs it

    for flag in words.unknown:
        if not flag[2:].isidentifier():
            raise mistakes.no_option(flag, None, command, program) or mistakes.no_such(flag, command)
    mistakes.refuse_operands(command, words.operands, words.before)
    for flag, value in words.unknown.items():
        wrong = mistakes.no_option(flag, value, command, program)
        if wrong is not None:
            raise wrong
        if value is None:
            is_name = program is None or names(program, flag[2:])
            raise needs_value(flag) if is_name else mistakes.no_such(flag, command)
    if program == "":
        mistakes.refuse_taken(words.before)


def names(program: str, name: str) -> bool:
    """Return whether a program holds a name."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", program, re.ASCII) is not None


class Plain(typer._click.Command):
    """What of typer's reads plain values by itself."""

    def get_params(self, ctx: typer._click.Context) -> list[typer._click.Parameter]:
        """Return the parameters, that for help among them."""
        return [read_plainly(parameter) for parameter in super().get_params(ctx)]


class PlainCommand(Plain, TyperCommand):
    """A command whose parameters read plain values by themselves."""


class PlainGroup(Plain, TyperGroup):
    """The command line as a whole, whose own parameters read plain values by themselves."""


class VariableCommand(PlainCommand):
    """A command that takes a long flag it does not know as a variable: ``--W 1,2`` is ``--set W=1,2``.

    Anything else that is no flag of its own, such as ``-x**2``, is the program.
    """

    def parse_args(self, ctx: typer._click.Context, args: list[str]) -> list[str]:
        """Sort options from operands, turn unknown long flags into ``--set``, and let typer read the rest."""
        if ctx.resilient_parsing:  # a shell completes the line, and an error would land in its prompt
            return super().parse_args(ctx, [])
        command = ctx.info_name or ""
        words = sort(args, command)
        if not {"-h", "--help"} & {*words.options}:
            refuse_mistakes(command, words)
        return super().parse_args(ctx, [*words.options, "--", *words.operands])

    def invoke(self, ctx: typer._click.Context) -> Any:
        """Run the command; its errors are those of the command line."""
        try:
            return super().invoke(ctx)
        except GradcliError as error:
            program = ctx.params["program"] or ""
            if error.kind in ("syntax", "not-allowed", "missing-input") and program and not suffix_of(program):
                from gradcli.cli.mistakes import is_file  # an error alone needs it

                if is_file(program):
                    raise named_like(program, error) from None
            v = ctx.params.get("v")
            if isinstance(error.facts, MisshapenV) and v is not None and len(v) == 1:
                error.span, error.place = (0, len(v[0])), Place(v[0], "--v")
            options = dict.fromkeys(HELP.flags, "") | {
                flag: typed_value(option.default, ctx.params.get(name))
                for name, option in options_of(ctx.info_name or "").items()
                for flag in option.flags
            }
            raise error.worded(partial(flag_hint, options)) from None


def named_like(program: str, error: GradcliError) -> GradcliError:
    """Return the error of a program that is the name of a file or folder, with the way to read that."""
    if Path(program).is_dir():
        return GradcliError("file", f"PROGRAM: {program} is a directory")
    hint = f"to read the file of this name: -f {shlex.quote(program)}"
    if program.isidentifier():
        hint = f"add --{program} VALUE; or {hint}"
    return GradcliError(error.kind, error.message, span=error.span, place=error.place, hint=hint)


def typed_value(default: object, value: object) -> str:
    """Return what an option was given, the last of several; empty for a switch, and where it was not typed."""
    value = value[-1] if isinstance(value, list) and value else value
    return "" if value == default or not isinstance(value, str | int) or value is True else str(value)


def flag_hint(options: Mapping[str, str], facts: Facts) -> str:
    """Return what to do about an error; ``options`` are the flags that are no variables, with what they were given."""

    def flag_of(name: str, value: str | None) -> str:
        flag = f"--{name}"
        if value is None:
            return flag
        meant = value or options.get(flag, "")
        text = shlex.quote(meant) if meant else "VALUE"
        return f"--set {name}={text}" if flag in options else f"{flag} {text}"

    return hint_of(facts, flag_of)


UNREAD: Final = object()
"""Stands for a value that typer alone can read, or refuse in its own words."""


def read_plainly(parameter: typer._click.Parameter) -> typer._click.Parameter:
    """Return the same parameter, which reads plain values from here on and leaves all others to typer.

    typer does not document where a parameter keeps its type: one that has none there is left as it is.
    """
    kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    if kind is not None and "process_value" not in vars(parameter) and not parameter.required:
        parameter.process_value = partial(  # type: ignore[method-assign]
            processed, parameter, kind, parameter.process_value
        )
    return parameter


def processed(
    parameter: typer._click.Parameter,
    kind: object,
    by_typer: Callable[[typer._click.Context, Any], Any],
    ctx: typer._click.Context,
    value: object,
) -> Any:
    """Return the value that a command gets for what stands on the command line."""
    read = plain(kind, value)
    if read is UNREAD:
        return by_typer(ctx, value)
    return read if parameter.callback is None else parameter.callback(ctx, parameter, read)


def plain(kind: object, value: object) -> Any:
    """Return what typer would make of no value, a text, texts or a short integer; ``UNREAD`` for all else."""
    if value is None:
        return () if kind == list[str] else None
    if kind is str and is_text(value):
        return value
    if kind == list[str] and isinstance(value, (list, tuple)) and all(map(is_text, value)):
        return list(value)
    if kind is int and type(value) is int:
        return value
    if kind is int and isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16:
        return int(value)
    return UNREAD


def is_text(value: object) -> bool:
    """Return whether a value is a text that pydantic takes: bytes of the command line that are no UTF-8 are none."""
    if not isinstance(value, str):
        return False
    return value.isascii() or not any("\ud800" <= c <= "\udfff" for c in value)


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
STREAMED = ("-o", "--output")
"""Options whose value ``-`` says nothing of a format."""
COMPLETION = "_GRADCLI_COMPLETE"
"""The variable by which a shell's script asks what may stand at the cursor."""
ASKED = re.compile("complete_([a-z]+)")
"""What that variable holds: the name of the shell."""
SAYS_FORMAT = re.compile(r"(?:--(?:json|format|output|code|figure|reveal)(?:=.*)?|-[Fo].*)", re.DOTALL)
"""An option that says how to print, before which GRADCLI_FORMAT gives way."""


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
    options = options_of(name)

    def call(ctx: typer.Context, **typed: Any) -> int:
        refuse_beyond(options, typed)
        return answer(ctx.obj, typed)

    context = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    parameters = [option.parameter(one) for one, option in options.items()]
    call.__signature__ = inspect.Signature([context, *parameters])  # type: ignore[attr-defined]
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
    shell = ASKED.fullmatch(place.variables.get(COMPLETION, ""))
    if shell:
        return complete(place, shell[1])
    try:
        return _run(words, place)
    except KeyboardInterrupt:
        return ExitStatus.INTERRUPTED
    except (BrokenPipeError, ClosedPipe):
        discard(place)
        return ExitStatus.OK


def complete(env: Environment, shell: str) -> int:
    """Write what may stand at the cursor, and nothing else, whatever happens."""
    from gradcli.cli.mistakes import reply

    lines = {name: (getattr(commands, name).__doc__ or "").partition("\n")[0] for name in COMMANDS}
    text, code = reply(shell, env.variables, lines)
    with contextlib.suppress(OSError):
        env.stdout.write(f"{text}\n" if text else "")
        env.stdout.flush()
    return code


def _run(words: list[str], env: Environment) -> int:
    try:
        with contextlib.redirect_stdout(env.stdout), contextlib.redirect_stderr(env.stderr):
            refuse_shell(words)
            words = with_format(words, env.variables)
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
    as_json = "json" in words_after(words, "--format", "-F") or not {"--json", "-Fjson"}.isdisjoint(words)
    color = next((value for value in reversed(words_after(words, "--color")) if value in COLORS), None)
    verdict, code = "", ExitStatus.USAGE
    if isinstance(error, GradcliError):
        if error.kind == RAISED:
            code = ExitStatus.USAGE if words[0] == "check" and not DENIES.match(error.message) else ExitStatus.DISAGREE
            verdict = "" if words[0] != "check" else "error" if code is ExitStatus.USAGE else "wrong"
    elif isinstance(error, typer.TyperException):
        error = usage_error(error, words)
    elif isinstance(error, MemoryError):
        error = GradcliError("budget", "there is not enough memory for this", hint="make it smaller")
    elif isinstance(error, OSError):
        error = GradcliError("file", f"standard output cannot be written: {error.strerror}")
        as_json, color = False, None
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


DENIES = re.compile("(?:GradcheckError|AssertionError)\\b")
"""An exception by which a script says that its derivatives are wrong; with any other there is none to check."""


def with_format(words: list[str], variables: Mapping[str, str]) -> list[str]:
    """Return a command line with the format that GRADCLI_FORMAT names, where no word says how to print.

    A format that the command does not have, or that has no place for what is asked beside, is passed over. Raises
    ``option`` for a variable that holds no word of its own; doctor tells what is wrong with it.
    """
    if not words or words[0] not in COMMANDS or not {"-h", "--help"}.isdisjoint(words):
        return words
    for variable, allowed in DEFAULTS.items() if words[0] != "doctor" else ():
        if variables.get(variable):
            refuse_value(variable, variables[variable], allowed)
    wanted, options = variables.get("GRADCLI_FORMAT"), options_of(words[0])
    formats = options["format"].values if "format" in options else ("json",) if "json" in options else ()
    said = [word for word, value in zip(words, [*words[1:], ""], strict=True) if value != "-" or word not in STREAMED]
    views = {flag for one in options.values() if one.view and not one.is_drawn_in(wanted) for flag in one.flags}
    beside = wanted in DRAWN and not views.isdisjoint(word.partition("=")[0] for word in words)
    if not wanted or wanted not in formats or beside or any(map(SAYS_FORMAT.fullmatch, said)):
        return words
    return [words[0], *(("--json",) if wanted == "json" else ("--format", wanted)), *words[1:]]


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


def words_after(words: list[str], *flags: str) -> list[str]:
    """Return what stands after the flags, also where the command line cannot be read otherwise."""
    after = [second for first, second in itertools.pairwise(words) if first in flags]
    return after + [word.partition("=")[2] for word in words if word.partition("=")[0] in flags]


def usage_error(error: typer.TyperException, words: list[str]) -> GradcliError:
    """Return typer's complaint about the command line as one of ours."""
    from gradcli.cli.mistakes import is_file, no_command, refused_by_typer  # an error alone needs these

    first = words[0]
    if first in COMMANDS or first.startswith("-"):
        return refused_by_typer(error, first if first in COMMANDS else None)
    return no_command(first, is_function(first), is_file(first))


def is_function(word: str) -> bool:
    """Return whether a word is the name of a function of the language."""
    from gradcli.ops import spellings

    return word in spellings()
