"""``--NAME VALUE`` for any variable, and programs that begin with ``-``, without ``--``."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Container, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradcli.cli.options import PlainCommand
from gradcli.errors import Budget, GradcliError, Place
from gradcli.errors.hints import Facts, MisshapenV, hint_of
from gradcli.records import dataclass, field

if TYPE_CHECKING:
    import typer


HELP = (["help"], ["-help"], ["-?"], ["/?"])
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


def sort(args: list[str], takes_value: dict[str, bool]) -> Words:
    """Sort a command line; ``takes_value`` has the flags of the command. A long flag it lacks is a variable."""
    found = Words()
    rest = iter(args)
    for arg in rest:
        flag, equals, value = arg.partition("=")
        if arg == "--":
            found.operands.extend(rest)
        elif flag in takes_value:
            found.options.append(arg)
            if takes_value[flag] and not equals:
                found.options.append(value_after(flag, rest, takes_value))
                found.give(flag, found.options[-1])
            elif not takes_value[flag]:
                found.switches[flag] = value if equals else None
                found.give(flag, "")
        elif arg[:2] in takes_value and not arg.startswith("--") and takes_value[arg[:2]] and arg[2:3].isalnum():
            found.options.append(arg)
        elif flag.startswith("--") and flag[2:].isidentifier():
            given = value if equals else next(rest, None)
            found.unknown[flag] = None if not equals and (given is None or given.startswith("--")) else given
            found.give(flag, given or "")
            found.options += ["--set", f"{flag[2:]}={given or ''}"]
        elif arg.startswith("--") and flag[2:3] not in ("", "-", "+", "~", "(") and not flag[2:3].isdigit():
            if " " in flag:
                found.operands.append(arg)
            else:
                found.unknown[flag] = None
        else:
            found.operands.append(arg)
    return found


def value_after(flag: str, rest: Iterator[str], known: Container[str]) -> str:
    """Return the word after an option; raises ``option`` where there is none, or an option that is known."""
    value = next(rest, None)
    if value is None or (value.startswith("--") and value in known):
        from gradcli.cli.mistakes import needs_value  # an error alone needs it

        raise needs_value(flag)
    return value


def refuse_switches(words: Words) -> None:
    """Raise ``option`` for a value after a flag that takes none."""
    if any(value is not None for value in words.switches.values()) or (words.switches and len(words.operands) > 1):
        from gradcli.cli.mistakes import refuse_values  # an error alone needs it

        refuse_values(words.switches, words.operands, words.before)


def refuse_mistakes(command: str, words: Words) -> None:
    """Raise ``option`` or ``usage`` for flags that are neither options nor variables, and for a second operand."""
    refuse_switches(words)
    if not words.unknown and len(words.operands) == 1 and (words.options or words.operands not in HELP):
        return
    program = typed_program(words)
    if (
        words.unknown
        and len(words.operands) < 2
        and all(
            value is not None and flag.isascii() and program is not None and names(program, flag[2:])
            for flag, value in words.unknown.items()
        )
    ):
        return
    from gradcli.cli import mistakes  # an error alone needs these
    from gradcli.cli.inputs import is_file

    for flag in words.unknown:
        mistakes.refuse_foreign(flag)
    for flag in words.unknown:
        if not flag[2:].isidentifier():
            raise mistakes.no_option(flag, None, command, program) or mistakes.no_such(flag, command)
    mistakes.refuse_operands(command, words.operands, words.before, is_file)
    for flag, value in words.unknown.items():
        wrong = mistakes.no_option(flag, value, command, program)
        if wrong is not None:
            raise wrong
        if value is None:
            known_name = program is None or names(program, flag[2:])
            raise mistakes.needs_value(flag) if known_name else mistakes.no_such(flag, command)
    if program == "":
        mistakes.refuse_taken(words.before)


def typed_program(words: Words) -> str | None:
    """Return the text of the program, as far as the command line tells it: empty for none, None for standard input."""
    file = next((words.options[k + 1] for k, word in enumerate(words.options) if word in ("-f", "--file")), None)
    from gradcli.cli.inputs import suffix_of  # options that are misspelled alone need it

    first = words.operands[0] if words.operands else ""
    if file is None and suffix_of(first):
        file = first.removeprefix("@")
    if file is not None:
        with contextlib.suppress(OSError, ValueError):
            return beginning(Path(file)) if Path(file).is_file() else None
    return None if first == "-" else first


def beginning(path: Path) -> str:
    """Return as much of a file as a program may have."""
    with path.open(encoding="utf-8", errors="replace") as stream:
        return stream.read(Budget().text)


def names(program: str, name: str) -> bool:
    """Return whether a program holds a name."""
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", program, re.ASCII) is not None


class VariableCommand(PlainCommand):
    """A command that takes a long flag it does not know as a variable: ``--W 1,2`` is ``--set W=1,2``.

    Anything else that is no flag of its own, such as ``-x**2``, is the program.
    """

    def parse_args(self, ctx: typer._click.Context, args: list[str]) -> list[str]:
        """Sort options from operands, turn unknown long flags into ``--set``, and let typer read the rest."""
        takes_value = {
            flag: not getattr(parameter, "is_flag", False)
            for parameter in self.get_params(ctx)
            for flag in (*parameter.opts, *parameter.secondary_opts)
        }
        if ctx.resilient_parsing:  # a shell completes the line, and an error would land in its prompt
            return super().parse_args(ctx, [])
        words = sort(args, takes_value)
        if not {"-h", "--help"} & {*words.options}:
            refuse_mistakes(ctx.info_name or "", words)
        return super().parse_args(ctx, [*words.options, "--", *words.operands])

    def invoke(self, ctx: typer._click.Context) -> Any:
        """Run the command; its errors are those of the command line."""
        try:
            return super().invoke(ctx)
        except GradcliError as error:
            program = ctx.params["program"] or ""
            if error.kind in ("syntax", "not-allowed", "missing-input") and is_path(program):
                raise named_like(program, error) from None
            options = {flag: typed(ctx, one) for one in self.get_params(ctx) for flag in one.opts}
            raise placed(error, ctx.params.get("v")).worded(partial(flag_hint, options)) from None


def is_path(program: str) -> bool:
    """Return whether what was read as the program is the name of a file or folder as well."""
    from gradcli.cli.inputs import is_file, suffix_of  # an error alone needs them

    return bool(program) and not suffix_of(program) and is_file(program)


def named_like(program: str, error: GradcliError) -> GradcliError:
    """Return the error of a program that is the name of a file or folder, with the way to read that."""
    import shlex  # errors alone need it

    if Path(program).is_dir():
        return GradcliError("file", f"PROGRAM: {program} is a directory")
    hint = f"to read the file of this name: -f {shlex.quote(program)}"
    if program.isidentifier():
        hint = f"add --{program} VALUE; or {hint}"
    return GradcliError(error.kind, error.message, span=error.span, place=error.place, hint=hint)


def typed(ctx: typer._click.Context, option: typer._click.Parameter) -> str:
    """Return what an option was given, the last of several; empty for a switch, and where it was not typed."""
    value = ctx.params.get(option.name or "")
    value = value[-1] if isinstance(value, list) and value else value
    return "" if value == option.default or not isinstance(value, str | int) or value is True else str(value)


def placed(error: GradcliError, v: list[str] | None) -> GradcliError:
    """Return an error about the shape of v with its place in ``--v``, where one alone was given."""
    if isinstance(error.facts, MisshapenV) and v is not None and len(v) == 1:
        error.span, error.place = (0, len(v[0])), Place(v[0], "--v")
    return error


def flag_hint(options: Mapping[str, str], facts: Facts) -> str:
    """Return what to do about an error; ``options`` are the flags that are no variables, with what they were given."""
    return hint_of(facts, partial(flag_of, options))


def flag_of(options: Mapping[str, str], name: str, value: str | None) -> str:
    """Return how the command line gives a variable, which may be called like an option."""
    import shlex

    flag = f"--{name}"
    if value is None:
        return flag
    meant = value or options.get(flag, "")
    text = shlex.quote(meant) if meant else "VALUE"
    return f"--set {name}={text}" if flag in options else f"{flag} {text}"
