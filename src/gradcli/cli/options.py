"""The options that commands share, each declared once."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from collections.abc import Callable

    import typer

Program = Annotated[
    str | None,
    typer.Argument(
        metavar="PROGRAM", help="The function, such as 'x**2'; - reads it from standard input.", show_default=False
    ),
]
Script = Annotated[
    str | None,
    typer.Argument(
        metavar="FILE", help="The script, .py or .ipynb; - reads it from standard input.", show_default=False
    ),
]
SetValues = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="Give a variable; --NAME VALUE is short for it.", show_default=False
    ),
]
V = Annotated[
    list[str] | None,
    typer.Option(
        "--v",
        metavar="VALUE",
        help="The vector of y.backward(v), in the shape of y; again for another call.",
        show_default=False,
    ),
]
Row = Annotated[
    list[str] | None,
    typer.Option(
        "--row", metavar="INDEX", help="Show the row of J for this entry of y, such as 3 or 0,5.", show_default=False
    ),
]
Column = Annotated[
    list[str] | None,
    typer.Option(
        "--column", metavar="NAME[INDEX]", help="Show the column of J for this entry of NAME.", show_default=False
    ),
]
Tape = Annotated[bool, typer.Option("--tape", help="Show the recorded graph, and what the sweep back did with it.")]
Steps = Annotated[bool, typer.Option("--steps", help="Show how each derivative is found, rule by rule.")]
Rows = Annotated[bool, typer.Option("--rows", help="Call backward with each one-hot v: J row by row.")]
Jvp = Annotated[
    list[str] | None,
    typer.Option(
        "--jvp",
        metavar="U",
        help="Show J*u, the forward pass, for a u in the shape of x; NAME=U where there are several variables.",
        show_default=False,
    ),
]
Hessian = Annotated[
    bool, typer.Option("--hessian", help="Show the second derivative of y, or of v*y; with --jvp U also H*u.")
]
Lr = Annotated[
    str | None,
    typer.Option(
        "--lr", metavar="A", help="Take steps of gradient descent: x becomes x - A*x.grad.", show_default=False
    ),
]
Iterations = Annotated[
    int | None, typer.Option("--iterations", metavar="K", help="Steps of --lr, 10 by default.", show_default=False)
]
Full = Annotated[bool, typer.Option("--full", help="Show everything of a large answer.")]
Expect = Annotated[
    list[str] | None,
    typer.Option(
        "--expect",
        metavar="FORMULA",
        help="J written by hand (with --v: the gradient), as a formula, NAME=FORMULA or @file.",
        show_default=False,
    ),
]
Digits = Annotated[
    int | None,
    typer.Option(
        "--digits",
        metavar="N",
        help="Of --expect: right from N digits on, 1 to 15; by default 15 of a formula, 5 of an array of float32.",
        show_default=False,
    ),
]
Tolerance = Annotated[
    float | None,
    typer.Option(
        "--tolerance", metavar="T", help="The same as a relative error: 1e-5 for 5 digits.", show_default=False
    ),
]
Samples = Annotated[int, typer.Option("--samples", metavar="N", help="Check at N random points as well.")]
Seed = Annotated[
    int, typer.Option("--seed", metavar="S", help="Chooses the random points, and where a script's draws begin.")
]
ScriptSeed = Annotated[
    int | None,
    typer.Option(
        "--draw-seed", metavar="N", help="Of a script: begin draws here; the same as --seed by default.",
        show_default=False,
    ),
]  # fmt: skip
At = Annotated[
    int | None,
    typer.Option("--at", metavar="LINE", help="Of a script: answer the call of this line.", show_default=False),
]
Turn = Annotated[
    int | None,
    typer.Option("--turn", metavar="N", help="Of a script: answer the call of this turn.", show_default=False),
]
All = Annotated[bool, typer.Option("--all", help="Of a script: answer the calls of all lines, and show every turn.")]
Of = Annotated[
    str | None,
    typer.Option(
        "--of",
        metavar="NAME",
        help="Take this variable of the program as the output; of a script by those of --wrt.",
        show_default=False,
    ),
]
DrawSeed = Annotated[
    int | None,
    typer.Option(
        "--seed", metavar="N", help="Begin draws here where the script sets no seed; 0 by default.", show_default=False
    ),
]
Wrt = Annotated[
    str | None,
    typer.Option(
        "--wrt", metavar="NAMES", help="Variables to differentiate, such as W,b; all by default.", show_default=False
    ),
]
File = Annotated[
    str | None, typer.Option("--file", "-f", metavar="FILE", help="Read the program from a file.", show_default=False)
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document; short for --format json.")]
Format = Annotated[
    str | None, typer.Option("--format", "-F", metavar="table|json|plain", help="How to print.", show_default=False)
]
ExplainFormat = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-F",
        metavar="table|json|plain|latex|markdown|picture",
        help="How to print.",
        show_default=False,
    ),
]
Code = Annotated[
    str | None,
    typer.Option(
        "--code",
        metavar="torch|jax|numpy",
        help="Print a script that reproduces the numbers; numpy's has the backward pass written out.",
        show_default=False,
    ),
]
Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write to a .json or .txt file.",
        show_default=False,
    ),
]
Drawing = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write to a .json, .txt, .md, .tex or .html file; draw the graph in .svg, .dot; .py with --code.",
        show_default=False,
    ),
]
Reveal = Annotated[bool, typer.Option("--reveal", help="Show the answer part by part, each after the Enter key.")]
Figure = Annotated[
    str | None,
    typer.Option(
        "--figure",
        metavar="light|dark",
        help="Draw the table of J alone as SVG, for a slide with a light or a dark ground.",
        show_default=False,
    ),
]
Precision = Annotated[int, typer.Option("--precision", metavar="N", help="Digits in tables, 1 to 17.")]
Color = Annotated[str, typer.Option("--color", metavar="auto|always|never", help="When to colour.")]
Ascii = Annotated[bool, typer.Option("--ascii", help="Print ASCII characters only.")]
Width = Annotated[int | None, typer.Option("--width", metavar="N", help="Columns of the tables.", show_default=False)]
Strict = Annotated[bool, typer.Option("--strict", help="Refuse a v that PyTorch would refuse.")]
Confirm = Annotated[
    bool, typer.Option("--confirm", help="Compare the gradient with J and with a computation in higher precision.")
]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Print nothing; the exit code tells.")]
NoNotes = Annotated[bool, typer.Option("-q", "--quiet", help="Leave out gradcli's notes.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an internal error.")]
BudgetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--budget", metavar="NAME=N", help="Raise or lower a bound, such as work=15000000.", show_default=False
    ),
]

Records = Annotated[
    str | None,
    typer.Argument(
        metavar="RECORDS",
        help="A file with a record on each line; without one, or for -, standard input.",
        show_default=False,
    ),
]
RecordsFile = Annotated[
    str | None,
    typer.Option("--file", "-f", metavar="FILE", help="The same file, as an option.", show_default=False),
]
AnswersFile = Annotated[
    str | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Write to a .ndjson or .jsonl file, line by line.", show_default=False
    ),
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", metavar="N", help="Worker processes; none for 1.")]
Only = Annotated[
    str | None,
    typer.Option("--only", metavar="FIELDS", help="Fields to compute and print, such as grad,vjp.", show_default=False),
]
NoSymbolic = Annotated[
    bool, typer.Option("--no-symbolic", help="Reverse mode alone: fast, without J to compare it with.")
]
Timeout = Annotated[
    float | None,
    typer.Option("--timeout", metavar="SECONDS", help="End a worker that is longer at one record.", show_default=False),
]
Memory = Annotated[
    int | None, typer.Option("--memory", metavar="MIB", help="Memory of one worker, 4096 MiB.", show_default=False)
]


UNREAD: Final = object()
"""Stands for a value that typer alone can read, or refuse in its own words."""


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
    found = plain(kind, value)
    if found is UNREAD:
        return by_typer(ctx, value)
    return found if parameter.callback is None else parameter.callback(ctx, parameter, found)


def plain(kind: object, value: object) -> Any:
    """Return what typer would make of no value, a text, texts or a short integer; ``UNREAD`` for all else."""
    if value is None:
        return () if kind == list[str] else None
    if kind is str and is_text(value):
        return value
    if kind == list[str] and isinstance(value, (list, tuple)) and all(map(is_text, value)):
        return list(value)
    return short_integer(value) if kind is int else UNREAD


def is_text(value: object) -> bool:
    """Return whether a value is a text that pydantic takes: bytes of the command line that are no UTF-8 are none."""
    if not isinstance(value, str):
        return False
    return value.isascii() or not any("\ud800" <= c <= "\udfff" for c in value)


def short_integer(value: object) -> Any:
    """Return a default, or digits as an integer; ``UNREAD`` for signs, blanks and what is no integer."""
    if type(value) is int:
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 16:
        return int(value)
    return UNREAD
