"""The options of all commands, each a row of one table, and a command line sorted and checked by that table."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

import typer

from gradcli.errors import Budget, GradcliError
from gradcli.records import dataclass, field

FORMATS = ("table", "json", "plain")
EXPORTS = ("latex", "markdown", "picture", "page", "svg", "dot")
"""Formats that explain alone writes, for people to take away: a picture is one of the tables, svg one of the graph."""
DRAWN = ("page", "svg", "dot")
"""Formats that have a place for few views."""
SUFFIXES = {"html": "page", "tex": "latex", "md": "markdown", "txt": "plain", "png": "svg", "pdf": "latex"}
"""What formats are called by their files, or come nearest to."""
ARRAYS = ("csv", "tsv", "npy", "npz")
"""Formats that grad alone writes: a table of numbers, and numpy's files."""
FILES = {".json": "json", ".txt": "table"}
"""The format of a file by its suffix."""
LIBRARIES = ("torch", "jax", "numpy")
GROUNDS = ("light", "dark")
COLORS = ("auto", "always", "never")
GRADIENTS = (
    "grad",
    "gradient",
    "derivative",
    "jacobian",
    "expected",
    "want",
    "analytic",
    "formula",
    "answer",
    "against",
)


class Option(NamedTuple):
    """An option of a command; one without flags is its argument.

    - ``kind``: ``bool`` for a switch, ``list`` for what may be given again.
    - ``example``: a value of it, for hints.
    - ``values``: the words that complete it, or what they are: ``files``, ``variables``, ``fields``, ``bounds``, and
      ``paths`` for a value that may be ``@FILE``.
    - ``called``: what it is called elsewhere, and ``meant`` the hint for those names.
    - ``view``: what it adds to an answer, as tables and JSON call it; a script, a figure and a picture of the graph
      have no place for that. ``drawn`` is one that the picture shows in another way, ``paged`` one that a page shows.
    - ``point``: it says at which points a check is made; ``alone``: it is about one check, and not for a file of them;
      ``prints``: it changes nothing in the answer.
    - ``suffixes``: the formats of files that it names, by their suffixes; ``between``: the least number that it takes
      and the largest.
    """

    flags: tuple[str, ...]
    kind: type
    metavar: str
    help: str
    default: Any = None
    example: str = ""
    values: tuple[str, ...] | str = "paths"
    called: tuple[str, ...] = ()
    meant: str = ""
    view: str = ""
    drawn: bool = False
    paged: bool = False
    point: bool = False
    alone: bool = False
    prints: bool = False
    suffixes: Mapping[str, str] = MappingProxyType({})
    between: tuple[int, int] | None = None

    @property
    def key(self) -> str:
        """What the option is called in a file of checks."""
        return self.flags[0].removeprefix("--") if self.flags else ""

    def is_drawn_in(self, format: str | None) -> bool:
        """Return whether a page or a picture of the graph shows what it adds."""
        return (self.drawn and format in DRAWN) or (self.paged and format == "page")

    def parameter(self, name: str) -> inspect.Parameter:
        """Return the option as typer reads it from the signature of a function."""
        more: dict[str, Any] = {"metavar": self.metavar} if self.metavar else {}
        more |= {"show_default": False} if self.default is None else {}
        declared: Any = typer.Option if self.flags else typer.Argument
        kind: Any = list[str] if self.kind is list else self.kind
        kind = kind | None if self.default is None else kind
        annotation: Any = Annotated[kind, declared(*self.flags, help=self.help, **more)]
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=self.default, annotation=annotation)


def switch(*flags: str, help: str, **more: Any) -> Option:
    """Return an option that takes no value."""
    return Option(flags, bool, "", help, False, **more)


def text(*flags: str, metavar: str, help: str, kind: type = str, **more: Any) -> Option:
    """Return an option that takes one."""
    return Option(flags, kind, metavar, help, **more)


OPTIONS = {
    "program": text(
        metavar="PROGRAM", help="The function, such as 'x**2'; - reads it from standard input.",
        called=("program", "expr", "expression", "function", "func", "formula", "explain", "eval"),
        meant="the program stands by itself: gradcli {command} 'x**2' --x 3",
    ),
    "program:run": text(metavar="FILE", help="The script, .py or .ipynb; - reads it from standard input."),
    "records": text(
        metavar="RECORDS", help="A file with a record on each line; without one, or for -, standard input."
    ),
    "name": text(metavar="NAME", help="One function or operator, or how its name begins."),
    "set_values": text(
        "--set", kind=list, metavar="NAME=VALUE", help="Give a variable; --NAME VALUE is short for it.",
        example="x=1,2", called=("input", "inputs", "values", "params", "data", "at", "point"),
        meant="each variable has an option of its own: --x 1,2", point=True, alone=True,
    ),
    "v": text(
        "--v", kind=list, metavar="VALUE",
        help="The vector of y.backward(v), in the shape of y; again for another call.",
        called=("vector", "cotangent", "grad-output", "grad_output", "grad_outputs"),
        meant="--v gives the vector of y.backward(v)", alone=True,
    ),
    "wrt": text(
        "--wrt", metavar="NAMES", help="Variables to differentiate, such as W,b; all by default.",
        example="W,b", values="variables",
    ),
    "row": text(
        "--row", kind=list, metavar="INDEX", help="Show the row of J for this entry of y, such as 3 or 0,5.",
        example="0", view="slices",
    ),
    "column": text(
        "--column", kind=list, metavar="NAME[INDEX]", help="Show the column of J for this entry of NAME.",
        example="x[0]", view="slices",
    ),
    "tape": switch(
        "--tape", help="Show the recorded graph, and what the sweep back did with it.", view="tape", drawn=True
    ),
    "steps": switch("--steps", help="Show how each derivative is found, rule by rule.", view="steps", drawn=True),
    "rows": switch("--rows", help="Call backward with each one-hot v: J row by row.", view="one_hot", paged=True),
    "jvp": text(
        "--jvp", kind=list, metavar="U",
        help="Show J*u, the forward pass, for a u in the shape of x; NAME=U where there are several variables.",
        view="jvp", paged=True,
    ),
    "hessian": switch(
        "--hessian", help="Show the second derivative of y, or of v*y; with --jvp U also H*u.", view="hessian",
        paged=True,
    ),
    "lr": text(
        "--lr", metavar="A", help="Take steps of gradient descent: x becomes x - A*x.grad.", example="0.1",
        view="descent", paged=True,
    ),
    "iterations": text(
        "--iterations", kind=int, metavar="K", help="Steps of --lr, 10 by default.", example="20", between=(1, 10**9)
    ),
    "full": switch("--full", help="Show everything of a large answer."),
    "expect": text(
        "--expect", kind=list, metavar="FORMULA",
        help="J written by hand (with --v: the gradient), as a formula, NAME=FORMULA or @file.",
        example="'2*x'", called=GRADIENTS, meant="--expect '2*x' holds a derivative of your own against the true one",
        alone=True,
    ),
    "digits": text(
        "--digits", kind=int, metavar="N",
        help="Of --expect: right from N digits on, 1 to 15; by default 15 of a formula, 5 of an array of float32.",
        example="5", between=(1, 15),
    ),
    "tolerance": text(
        "--tolerance", kind=float, metavar="T", help="The same as a relative error: 1e-5 for 5 digits.", example="1e-5"
    ),
    "samples": text(
        "--samples", kind=int, metavar="N", help="Check at N random points as well.", default=0, example="100",
        point=True, between=(0, 1_000_000),
    ),
    "at": text("--at", kind=int, metavar="LINE", help="Of a script: answer the call of this line."),
    "turn": text("--turn", kind=int, metavar="N", help="Of a script: answer the call of this turn."),
    "all": switch("--all", help="Of a script: answer the calls of all lines, and show every turn."),
    "of": text(
        "--of", metavar="NAME", help="Take this variable of the program as the output; of a script by those of --wrt.",
        example="loss",
    ),
    "seed": text(
        "--seed", kind=int, metavar="N", help="Begin draws here where the script sets no seed; 0 by default.",
        example="7",
    ),
    "seed:check": text(
        "--seed", kind=int, metavar="S", help="Chooses the random points, and where a script's draws begin.",
        default=0, example="7", point=True, between=(0, 2**63 - 1),
    ),
    "draw_seed": text(
        "--draw-seed", kind=int, metavar="N", help="Of a script: begin draws here; the same as --seed by default."
    ),
    "file": text(
        "--file", "-f", metavar="FILE", help="Read the program from a file.", example="program.py", values="files"
    ),
    "file:batch": text(
        "--file", "-f", metavar="FILE", help="The same file, as an option.", example="program.py", values="files"
    ),
    "json": switch("--json", help="Print one JSON document; short for --format json.", prints=True),
    "format": text(
        "--format", "-F", metavar="|".join(FORMATS), help="How to print.", example="json", values=FORMATS,
        called=FORMATS, meant="write --format {0}", prints=True,
    ),
    "format:explain": text(
        "--format", "-F", metavar="FORMAT", help=f"How to print: {', '.join((*FORMATS, *EXPORTS))}.",
        example="json", values=(*FORMATS, *EXPORTS), called=(*EXPORTS, *SUFFIXES), meant="write --format {0}",
    ),
    "format:grad": text(
        "--format", "-F", metavar="FORMAT", help=f"How to print: {', '.join((*FORMATS, *ARRAYS))}.",
        example="json", values=(*FORMATS, *ARRAYS),
    ),
    "output": text(
        "--output", "-o", metavar="FILE", help="Write to a .json or .txt file; - is standard output.",
        example="answer.txt", values="files", prints=True, suffixes=FILES,
    ),
    "output:explain": text(
        "--output", "-o", metavar="FILE",
        help="Write to a .json, .txt, .md, .tex or .html file; draw the graph in .svg, .dot; .py with --code; - with "
        "--format is standard output.",
        example="answer.txt", values="files",
        suffixes=FILES | {".html": "page", ".tex": "latex", ".md": "markdown", ".svg": "svg", ".dot": "dot"},
    ),
    "output:grad": text(
        "--output", "-o", metavar="FILE",
        help="Write to a .json, .txt, .csv, .tsv, .npy or .npz file; - with --format is standard output.",
        example="g.npy", values="files", suffixes=FILES | {f".{name}": name for name in ARRAYS},
    ),
    "output:batch": text(
        "--output", "-o", metavar="FILE", help="Write to a .ndjson or .jsonl file, line by line.",
        example="answer.txt", values="files", suffixes={".ndjson": "json", ".jsonl": "json"},
    ),
    "code": text(
        "--code", metavar="|".join(LIBRARIES), values=LIBRARIES,
        help="Print a script that reproduces the numbers; numpy's has the backward pass written out.",
    ),
    "figure": text(
        "--figure", metavar="|".join(GROUNDS), values=GROUNDS,
        help="Draw the table of J alone as SVG, for a slide with a light or a dark ground.",
    ),
    "reveal": switch("--reveal", help="Show the answer part by part, each after the Enter key."),
    "precision": text(
        "--precision", kind=int, metavar="N", help="Digits in tables, 1 to 17.", default=6, example="12",
        called=("digits", "decimals"), meant="write --precision 12", between=(1, 17),
    ),
    "color": text(
        "--color", metavar="|".join(COLORS), help="When to colour; by default auto.", example="never", values=COLORS,
        called=("no-color", "nocolor", "no-colour", "monochrome"), meant="write --color never",
    ),
    "ascii_only": switch("--ascii", help="Print ASCII characters only."),
    "width": text(
        "--width", kind=int, metavar="N", help="Columns of the tables.", example="100", called=("columns", "cols"),
        meant="write --width 100", between=(20, 10_000),
    ),
    "confirm": switch(
        "--confirm", help="Compare the gradient with J and with a computation in higher precision."
    ),
    "strict": switch("--strict", help="Refuse a v that PyTorch would refuse."),
    "jobs": text(
        "--jobs", "-j", kind=int, metavar="N", help="Worker processes; none for 1.", default=1, example="4",
        prints=True, between=(1, 256),
    ),
    "only": text(
        "--only", metavar="FIELDS", help="Fields to compute and print, such as grad,vjp.", example="grad,vjp",
        values="fields",
    ),
    "no_symbolic": switch("--no-symbolic", help="Reverse mode alone: fast, without J to compare it with."),
    "timeout": text(
        "--timeout", kind=float, metavar="SECONDS", help="End a worker that is longer at one record.", example="10"
    ),
    "memory": text(
        "--memory", kind=int, metavar="MIB", help="Memory of one worker, 4096 MiB.", example="4096",
        between=(128, 2**24),
    ),
    "quiet": switch(
        "-q", "--quiet", help="Print nothing; the exit code tells.", called=("silent",),
        meant="write -q, and look at the exit code", prints=True,
    ),
    "quiet:run": switch("-q", "--quiet", help="Leave out gradcli's notes."),
    "budget": text(
        "--budget", kind=list, metavar="NAME=N", help="Raise or lower a bound, such as work=15000000.",
        example="turns=1000000", values="bounds",
    ),
    "debug": switch("--debug", help="Show the traceback of an internal error.", prints=True),
}  # fmt: skip
"""Options by the name of their parameter; one that a command has otherwise stands under ``NAME:COMMAND``."""
COMMANDS = {
    command: tuple(names.split())
    for command, names in {
        "explain": "program set_values v wrt row column tape steps rows jvp hessian lr iterations at turn all of seed "
        "full file json format output code figure reveal precision color ascii_only width strict quiet budget debug",
        "grad": "program set_values v wrt at turn of file json format output confirm strict quiet budget debug",
        "check": "program set_values v wrt file expect digits tolerance at turn of samples seed draw_seed json format "
        "output strict jobs quiet budget debug",
        "run": "program set_values seed quiet budget debug",
        "batch": "records file output jobs only no_symbolic timeout memory strict quiet budget debug",
        "functions": "name json debug",
        "repl": "budget debug",
        "doctor": "json debug",
        "schema": "debug",
    }.items()
}
"""The commands with the names of their options, in the order of their help."""
WITH_PROGRAM = ("explain", "grad", "check")
"""Commands whose long flags may be variables."""
HELP = switch("--help", "-h", help="Show the options.")


def options_of(command: str) -> dict[str, Option]:
    """Return the options of a command by the names of their parameters."""
    return {name: OPTIONS.get(f"{name}:{command}") or OPTIONS[name] for name in COMMANDS[command]}


EXAMPLES = {
    flag: option.example or option.values[0]
    for option in OPTIONS.values()
    if option.example or type(option.values) is tuple
    for flag in option.flags
}
"""A value of each option that takes one; a variable takes numbers."""


TEXTS = (".py", ".txt")
"""Suffixes of files that hold a program, and may stand where one does."""
DATA = (".npy", ".npz", ".json", ".csv", ".tsv")
"""Suffixes of files that hold numbers alone."""
NOTEBOOK = ".ipynb"
CHECKS = (".toml", ".ndjson", ".jsonl")
"""Suffixes of files of checks."""


def suffix_of(program: str, among: tuple[str, ...] = (*TEXTS, *DATA, NOTEBOOK)) -> str:
    """Return the suffix of what may be the name of a file, empty for a program."""
    found = re.fullmatch(r"@?[^\n\"'()\[\]=*]*(\.[a-zA-Z]+)", program)
    suffix = found[1].lower() if found else ""
    return suffix if suffix in among else ""


def needs_value(flag: str) -> GradcliError:
    """Return the error for a flag with nothing after it."""
    return GradcliError("option", f"{flag} needs a value", hint=f"for example {flag} {EXAMPLES.get(flag, '1,2')}")


DEFAULTS = {"GRADCLI_FORMAT": (*FORMATS, *EXPORTS, *ARRAYS), "GRADCLI_COLOR": COLORS}
"""Variables of the environment that stand for an option that is not typed, with the words that they may have."""


def refuse_value(option: str, value: str, words: Collection[str]) -> None:
    """Raise ``option`` for a value that is none of the words."""
    if value not in words:
        near = SUFFIXES.get(value.lower())
        hint = f"write {option} {near}" if near in words else f"one of {', '.join(words)}"
        raise GradcliError("option", f"{option} '{value[:40]}' is not known", hint=hint)


def refuse_beyond(options: Mapping[str, Option], typed: Mapping[str, Any]) -> None:
    """Raise ``option`` for a number beyond the bounds of its option, and a format or a colouring that there is not."""
    for name, option in options.items():
        if typed[name] is not None and option.between is not None:
            least, most = option.between
            if not least <= typed[name] <= most:
                raise GradcliError("option", f"{option.flags[0]} {typed[name]} is not from {least} to {most:,}")
        if name in ("format", "color") and typed[name]:
            refuse_value(option.flags[0], typed[name], option.values)


def refuse_both(*things: tuple[str, object]) -> None:
    """Raise ``option`` where two of these are given, each a name with its value."""
    named = [name for name, value in things if value is not None and value is not False]
    if len(named) > 1:
        raise GradcliError("option", f"{named[0]} and {named[1]} are both given", hint="give one of them")


def suffix_among(suffixes: Iterable[str], output: str) -> str:
    """Return the suffix of the file that ``-o`` names; raises ``option`` for one that is not among these."""
    suffix = next((one for one in suffixes if output.lower().endswith(one)), None)
    if suffix is None:
        hint = f"it can end with {', '.join(suffixes)}"
        raise GradcliError("option", f"-o '{output[:80]}' has no known suffix", hint=hint)
    return suffix


def flags_of(command: str) -> Iterator[tuple[str, Option]]:
    """Yield every flag of a command with its option, those for help last."""
    for option in (*options_of(command).values(), HELP):
        for flag in option.flags:
            yield flag, option


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


def sort(args: Sequence[str], command: str) -> Words:
    """Sort the words after a command. A long flag that it lacks is a variable."""
    takes_value = {flag: option.kind is not bool for flag, option in flags_of(command)}
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
            text_after = value if equals else next(rest, None)
            missing = text_after is None or (not equals and text_after.startswith("--"))
            words.unknown[flag] = None if missing else text_after
            words.give(flag, text_after or "")
            words.options += ["--set", f"{flag[2:]}={text_after or ''}"]
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
        raise needs_value(flag)
    return value


def typed_program(words: Words) -> str | None:
    """Return the text of the program, as far as the command line tells it: empty for none, None for standard input."""
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
