"""The words of a command line: ``--NAME VALUE`` for any variable, programs that begin with ``-``, and plain values.

typer reads options; what it would do with pydantic for a text or a short integer is done here without.
"""

from __future__ import annotations

import contextlib
import re
import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from typer.core import TyperCommand, TyperGroup

from gradcli.cli.options import HELP, flags_of, options_of
from gradcli.errors import Budget, GradcliError, Place
from gradcli.errors.hints import Facts, MisshapenV, hint_of
from gradcli.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import typer

ASKS_FOR_HELP = (["help"], ["-help"], ["-?"], ["/?"])
"""Operands that ask for help, and are no program."""


@dataclass(slots=True)
class Words:
    """A command line in parts: options as typer reads them, operands, and the flags that are no options.

    ``unknown`` has what stands after such a flag, None where that is another flag or nothing; ``before`` the flag and
    the value that stand before an operand, by its place; ``switches`` the flags that take no value, with one that was
    given after ``=``.
    """

    options: list[str] = field(default_factory=list)
    operands: list[str] = field(default_factory=list)
    unknown: dict[str, str | None] = field(default_factory=dict)
    before: dict[int, tuple[str, str]] = field(default_factory=dict)
    switches: dict[str, str | None] = field(default_factory=dict)

    def give(self, flag: str, value: str) -> None:
        """Note what stands before the next operand."""
        self.before[len(self.operands)] = flag, value


def sort(args: list[str], takes_value: Mapping[str, bool]) -> Words:
    """Sort a command line; ``takes_value`` has the flags of the command. A long flag it lacks is a variable."""
    words = Words()
    rest = iter(args)
    for arg in rest:
        flag, equals, value = arg.partition("=")
        if arg == "--":
            words.operands.extend(rest)
        elif flag in takes_value:
            words.options.append(arg)
            if takes_value[flag] and not equals:
                words.options.append(value_after(flag, rest, takes_value))
                words.give(flag, words.options[-1])
            elif not takes_value[flag]:
                words.switches[flag] = value if equals else None
                words.give(flag, "")
        elif arg[:2] in takes_value and not arg.startswith("--") and takes_value[arg[:2]] and arg[2:3].isalnum():
            words.options.append(arg)
        elif flag.startswith("--") and flag[2:].isidentifier():
            given = value if equals else next(rest, None)
            words.unknown[flag] = None if not equals and (given is None or given.startswith("--")) else given
            words.give(flag, given or "")
            words.options += ["--set", f"{flag[2:]}={given or ''}"]
        elif arg.startswith("--") and flag[2:3] not in ("", "-", "+", "~", "(") and not flag[2:3].isdigit():
            if " " in flag:
                words.operands.append(arg)
            else:
                words.unknown[flag] = None
        else:
            words.operands.append(arg)
    return words


def value_after(flag: str, rest: Iterator[str], flags: Mapping[str, bool]) -> str:
    """Return the word after an option; raises ``option`` where there is none, or another option."""
    value = next(rest, None)
    if value is None or (value.startswith("--") and value in flags):
        from gradcli.cli.mistakes import needs_value  # an error alone needs it

        raise needs_value(flag)
    return value


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
        value is not None and flag.isascii() and names(program, flag[2:]) for flag, value in unknown.items()
    )


def refuse_words(command: str, words: Words, program: str | None) -> None:
    """Raise what is wrong with words that do not fit together, if anything is."""
    from gradcli.cli import mistakes  # an error alone needs it

    for flag in words.unknown:
        mistakes.refuse_foreign(flag)
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
            raise mistakes.needs_value(flag) if is_name else mistakes.no_such(flag, command)
    if program == "":
        mistakes.refuse_taken(words.before)


def typed_program(words: Words) -> str | None:
    """Return the text of the program, as far as the command line tells it: empty for none, None for standard input."""
    from gradcli.cli.inputs import suffix_of  # options that are misspelled alone need it

    file = next((words.options[k + 1] for k, word in enumerate(words.options) if word in ("-f", "--file")), None)
    first = words.operands[0] if words.operands else ""
    if file is None and suffix_of(first):
        file = first.removeprefix("@")
    if file is not None:
        with contextlib.suppress(OSError, ValueError):
            if not Path(file).is_file():
                return None
            with Path(file).open(encoding="utf-8", errors="replace") as stream:
                return stream.read(Budget().text)
    return None if first == "-" else first


def names(program: str, name: str) -> bool:
    """Return whether a program holds a name."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", program, re.ASCII) is not None


class PlainCommand(TyperCommand):
    """A command of typer whose parameters read plain values by themselves."""

    def get_params(self, ctx: typer._click.Context) -> list[typer._click.Parameter]:
        """Return the parameters, that for help among them."""
        return [read_plainly(parameter) for parameter in super().get_params(ctx)]


class PlainGroup(TyperGroup):
    """The command line as a whole, whose own parameters read plain values by themselves."""

    def get_params(self, ctx: typer._click.Context) -> list[typer._click.Parameter]:
        """Return the parameters, that for help among them."""
        return [read_plainly(parameter) for parameter in super().get_params(ctx)]


class VariableCommand(PlainCommand):
    """A command that takes a long flag it does not know as a variable: ``--W 1,2`` is ``--set W=1,2``.

    Anything else that is no flag of its own, such as ``-x**2``, is the program.
    """

    def parse_args(self, ctx: typer._click.Context, args: list[str]) -> list[str]:
        """Sort options from operands, turn unknown long flags into ``--set``, and let typer read the rest."""
        if ctx.resilient_parsing:  # a shell completes the line, and an error would land in its prompt
            return super().parse_args(ctx, [])
        command = ctx.info_name or ""
        words = sort(args, {flag: option.kind is not bool for flag, option in flags_of(command)})
        if not {"-h", "--help"} & {*words.options}:
            refuse_mistakes(command, words)
        return super().parse_args(ctx, [*words.options, "--", *words.operands])

    def invoke(self, ctx: typer._click.Context) -> Any:
        """Run the command; its errors are those of the command line."""
        try:
            return super().invoke(ctx)
        except GradcliError as error:
            program = ctx.params["program"] or ""
            if error.kind in ("syntax", "not-allowed", "missing-input") and is_path(program):
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


def is_path(program: str) -> bool:
    """Return whether what was read as the program is the name of a file or folder as well."""
    from gradcli.cli.inputs import is_file, suffix_of  # an error alone needs them

    return bool(program) and not suffix_of(program) and is_file(program)


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
