"""``--NAME VALUE`` for any variable, and programs that begin with ``-``, without ``--``."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from gradcli.cli.parameters import PlainCommand
from gradcli.errors import GradcliError, Place
from gradcli.errors.facts import Facts, MisshapenV, hint_of
from gradcli.errors.suggest import did_you_mean

if TYPE_CHECKING:
    import typer

FLAG = re.compile(r"--[A-Za-z_][A-Za-z0-9_]*\Z")


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
        options: list[str] = []
        operands: list[str] = []
        rest = iter(args)
        for arg in rest:
            flag, equals, value = arg.partition("=")
            if arg == "--":
                operands.extend(rest)
            elif flag in takes_value:
                options.append(arg)
                if takes_value[flag] and not equals:
                    options.append(value_after(flag, rest))
            elif arg[:2] in takes_value and not arg.startswith("--") and takes_value[arg[:2]] and arg[2:3].isalnum():
                options.append(arg)
            elif FLAG.match(flag):
                value = value if equals else value_after(flag, rest, known=list(takes_value))
                options += ["--set", f"{flag[2:]}={value}"]
            elif (
                arg.startswith("--")
                and flag[2:3] not in ("", "-", "+", "~", "(")
                and not flag[2:3].isdigit()
                and " " not in flag
            ):
                return super().parse_args(ctx, [arg])
            else:
                operands.append(arg)
        return super().parse_args(ctx, [*options, "--", *operands])

    def invoke(self, ctx: typer._click.Context) -> Any:
        """Run the command; its errors are those of the command line."""
        try:
            return super().invoke(ctx)
        except GradcliError as error:
            options = {flag for parameter in self.get_params(ctx) for flag in parameter.opts}
            raise placed(error, ctx.params["v"]).worded(partial(flag_hint, options)) from None


def placed(error: GradcliError, v: list[str] | None) -> GradcliError:
    """Return an error about the shape of v with its place in ``--v``, where one alone was given."""
    if isinstance(error.facts, MisshapenV) and v is not None and len(v) == 1:
        error.span, error.place = (0, len(v[0])), Place(v[0], "--v")
    return error


def flag_hint(options: set[str], facts: Facts) -> str:
    """Return what to do about an error; ``options`` are the flags that are no variables."""
    return hint_of(facts, partial(flag_of, options))


def flag_of(options: set[str], name: str, value: str | None) -> str:
    """Return how the command line gives a variable, which may be called like an option."""
    flag = f"--{name}"
    if value is None:
        return flag
    text = shlex.quote(value) if value else "VALUE"
    return f"--set {name}={text}" if flag in options else f"{flag} {text}"


def value_after(flag: str, rest: Iterator[str], known: list[str] | None = None) -> str:
    """Return the word after a flag; raises ``option`` where there is none.

    After a flag that is no option (``known`` are those that are) another flag is no value: it was misspelled.
    """
    value = next(rest, None)
    misspelled = known is not None and (value is None or value.startswith("--"))
    if value is not None and not misspelled:
        return value
    near = did_you_mean(flag, known or [])
    if misspelled and near:
        raise GradcliError("option", f"no such option {flag}", hint=near)
    raise GradcliError("option", f"{flag} needs a value", hint=f"for example {flag} 1,2")
