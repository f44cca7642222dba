"""What a command was asked, read and checked: program, values, v, and how to print."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from gradcli.cli.inputs import CHECKS, assignments, read_program, suffix_of, text_of_file
from gradcli.errors import Budget, GradcliError, over_budget
from gradcli.errors.hints import did_you_mean
from gradcli.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gradcli.cli.environment import Environment
    from gradcli.explanation.evaluation import Function
    from gradcli.explanation.results import Note
    from gradcli.explanation.scripts import Asked

FORMATS = ("table", "json", "plain")
SUFFIXES = {".json": "json", ".txt": "table", ".html": "page"}
LIBRARIES = ("torch", "jax", "numpy")
GROUNDS = ("light", "dark")
EXPORTS = ("latex", "markdown", "picture")
"""Formats that explain alone writes, for people to take away; a picture is one of the tables."""
DOCUMENTS = {".tex": "latex", ".md": "markdown"}
NO_PROGRAM = "for example: gradcli explain 'x**2' --x 3; - reads it from standard input, -f from a file"
PICTURES = {".svg": "svg", ".dot": "dot"}
"""Suffixes of a picture of the graph, which explain draws."""
DRAWN = ("--tape", "--steps")
"""Options that tell in words what a picture of the graph shows."""
COLORS = ("auto", "always", "never")


@dataclass(frozen=True, slots=True)
class Printing:
    """How and where to print."""

    format: str
    output: str | None
    precision: int
    color: str
    ascii_only: bool
    width: int | None
    quiet: bool
    full: bool = False
    code: str | None = None
    figure: str | None = None


class Exports(NamedTuple):
    """The options of explain that choose a format of its own, as they were typed: the library, and the ground."""

    code: str | None
    figure: str | None


class ScriptOptions(NamedTuple):
    """The options that say which call of a script is answered, and what the script is called.

    ``points`` is the seed of check's random points, where draws begin too if ``seed`` says nothing else.
    """

    at: int | None = None
    turn: int | None = None
    all: bool = False
    of: str | None = None
    seed: int | None = None
    name: str = "script"
    points: int | None = None


NO_OPTIONS = ScriptOptions()
CHOOSING = ("at", "turn", "of", "seed")
"""Options that choose what of a script is answered; a formula has ``of`` alone."""


@dataclass(frozen=True, slots=True)
class Request:
    """The program and everything that it is evaluated with; ``calls`` has one v for each call of backward.

    ``notes`` are those on what was read.
    """

    program: str
    values: dict[str, Any]
    calls: list[Any]
    wrt: list[str] | None
    strict: bool
    budget: Budget
    notes: list[Note] = field(default_factory=list)
    script: ScriptOptions = field(default_factory=lambda: NO_OPTIONS)


def script_name(program: str | None, file: str | None) -> str:
    """Return what a script is called: its file, without the folder."""
    where = file or (program if program and suffix_of(program) else None)
    return "script" if where in (None, "-") else Path(str(where)).name


class ViewOptions(NamedTuple):
    """The options that ask for more than an answer, as they were typed."""

    row: list[str] | None
    column: list[str] | None
    tape: bool
    steps: bool
    rows: bool
    jvp: list[str] | None
    hessian: bool
    lr: str | None
    iterations: int | None

    @property
    def asked(self) -> bool:
        """Whether any of them was given."""
        return any(option not in (None, False, []) for option in self)


def one_of(value: str, known: tuple[str, ...], option: str) -> str:
    """Return ``value`` if it is one of the known words; raises ``option``."""
    if value in known:
        return value
    raise GradcliError("option", f"{option} '{value[:40]}' is not known", hint=f"one of {', '.join(known)}")


def refuse_exports(exports: Exports, output: str | None, formatted: bool) -> None:
    """Raise ``option`` where a script or a figure has no such kind, or does not go with a format or a file's name."""
    ending = "" if output is None else Path(output).suffix.lower()
    kinds = {"code": (LIBRARIES, "a script", ".py"), "figure": (GROUNDS, "a figure", ".svg")}
    options = {name: value for name, value in exports._asdict().items() if value is not None}
    if len(options) > 1:
        raise GradcliError("option", "--code and --figure are both given", hint="give one of them")
    for name, value in options.items():
        known, what, suffix = kinds[name]
        if value not in known:
            hint = f"one of {', '.join(known)}; a variable of this name is given by --set {name}={value[:40]}"
            raise GradcliError("option", f"--{name} '{value[:40]}' is not known", hint=hint)
        if formatted:
            raise GradcliError("option", f"--{name} {value} is a format of its own", hint="leave out the other")
        if output is not None and ending != suffix:
            hint = f"-o NAME{suffix} writes it to a file"
            raise GradcliError("option", f"--{name} {value} writes {what}", hint=hint)
    if ending == ".py" and not options:
        raise GradcliError("option", "-o with .py is for a script", hint="--code torch, --code jax or --code numpy")


def refuse_other(suffix: str, own: str, chosen: str, json: bool) -> None:
    """Raise ``option`` where a file's name says another format than the one that was asked for; .txt takes any text."""
    if suffix == ".txt" or chosen == own or (suffix == ".svg" and chosen == "picture"):
        return
    asked = "--json" if json else f"--format {chosen}"
    thing = f"a picture in {suffix}" if suffix in PICTURES else f"a file in {suffix}"
    raise GradcliError("option", f"{asked} and {thing} do not go together", hint=f"leave {asked} out")


def printing(
    json: bool,
    format: str | None,
    output: str | None,
    precision: int,
    color: str,
    ascii_only: bool,
    width: int | None,
    quiet: bool,
    full: bool = False,
    exports: Exports | None = None,
) -> Printing:
    """Return the checked options of printing; with ``exports`` the command has every format."""
    own = exports or Exports(None, None)
    refuse_exports(own, output, bool(json or format))
    exported = "code" if own.code else "figure" if own.figure else None
    suffixes = {**SUFFIXES, **DOCUMENTS, **PICTURES} if exports else SUFFIXES
    suffixes = {".py": "code", ".svg": "figure"} if exported else suffixes
    suffix = None if output is None else next((s for s in suffixes if output.lower().endswith(s)), None)
    if output is not None and suffix is None:
        raise GradcliError(
            "option", f"-o '{output[:80]}' has no known suffix", hint=f"it can end with {', '.join(suffixes)}"
        )
    named = one_of(format, (*FORMATS, *EXPORTS) if exports else FORMATS, "--format") if format else None
    if json and named not in (None, "json"):
        raise GradcliError("option", f"--json and --format {named} are both given", hint="give one of them")
    if suffix is not None and (json or named):
        refuse_other(suffix, suffixes[suffix], "json" if json else str(named), json)
    chosen = exported or ("json" if json else None) or named or (suffixes[suffix] if suffix else "table")
    if not 1 <= precision <= 17:
        raise GradcliError("option", f"--precision {precision} is not from 1 to 17")
    if width is not None and not 20 <= width <= 10_000:
        raise GradcliError("option", f"--width {width} is not from 20 to 10,000")
    color = one_of(color, COLORS, "--color")
    return Printing(chosen, output, precision, color, ascii_only, width, quiet, full, own.code, own.figure)


def refuse_beside(how: Printing, asked: Mapping[str, object]) -> None:
    """Raise ``option`` for an option, of those by their names, whose part of the answer a format has no place for."""
    told = {
        "code": (f"--code {how.code} writes", "y and x.grad"),
        "figure": (f"--figure {how.figure} draws", "the table"),
        "svg": (f"-o {how.output} draws", "the graph"),
        "dot": (f"-o {how.output} draws", "the graph"),
    }
    given = [name for name, value in asked.items() if value and not (how.format in PICTURES.values() and name in DRAWN)]
    if how.format in told and given:
        does, what = told[how.format]
        message = f"{does} {what} alone, and nothing of {given[0]}"
        raise GradcliError("option", message, hint=f"leave out {given[0]}, or write its numbers with -o answer.json")


def refuse_page(how: Printing) -> Printing:
    """Return how a command prints whose answer is no explanation; raises ``option`` for a page."""
    if how.format == "page":
        raise GradcliError("option", "a page shows what explain answers", hint=f"gradcli explain … -o {how.output}")
    return how


def budget_from(items: list[str] | None, bounds: Budget | None = None) -> Budget:
    """Return the bounds with the changes of ``--budget NAME=N``; raises ``option``."""
    budget = bounds or Budget()
    known = {entry.name for entry in fields(Budget)}
    for item in items or []:
        name, equals, text = item.partition("=")
        number = text.replace("_", "").replace(",", "")
        names = f"the bounds are {', '.join(sorted(known))}"
        if equals and name not in known:
            hint = did_you_mean(name, known) or names
            raise GradcliError("option", f"--budget has no bound '{name[:40]}'", hint=hint)
        if not (number.isascii() and number.isdigit()) or len(number) > 12 or int(number) < 1:
            hint = "write a whole number from 1 up" if equals else f"such as work=15000000; {names}"
            raise GradcliError("option", f"--budget '{item[:40]}' is not NAME=NUMBER", hint=hint)
        budget = budget.changed(name, int(number))
    return budget


def request(
    env: Environment,
    program: str | None,
    file: str | None,
    set_values: list[str] | None,
    v: list[str] | None,
    wrt: str | None,
    strict: bool,
    budget: list[str] | None,
    script: ScriptOptions = NO_OPTIONS,
) -> Request:
    """Return the checked request; the program is read first, so that its errors come first."""
    bounds = budget_from(budget)
    text = program_text(env, program, file)
    notes: list[Note] = []
    values = read_values(env, set_values, bounds, notes)
    calls = read_arrays(env, [(item, "--v") for item in v], bounds, notes, values) if v else [None]
    names = None if wrt is None else wrt_names(wrt)
    return Request(text, values, calls, names, strict, bounds, notes, script)


def asked_of(asked: Request) -> Asked:
    """Return what of a script the options ask for."""
    from gradcli.explanation.scripts import Asked  # a formula has none

    options = asked.script
    seed = options.points or 0 if options.seed is None else options.seed
    return Asked(options.at, options.turn, options.of, tuple(asked.wrt or ()), seed)


def function_of(asked: Request) -> Function:
    """Return the program of a request as a function, of a script the call that its options choose."""
    from gradcli.explanation.evaluation import Function

    options = asked.script
    chosen = [name for name in CHOOSING if getattr(options, name) is not None]
    if not chosen and not options.points:
        return Function(asked.program, asked.wrt, asked.budget, asked.values)
    function = Function(asked.program, asked.wrt, asked.budget, asked.values, asked_of(asked))
    others = [name for name in chosen if name != "of"]
    if others and not function.program.is_script:
        option = f"--{others[0]}" if options.points is None or others[0] != "seed" else "--draw-seed"
        raise GradcliError("option", f"{option} is for a script, and this is a formula", hint=f"leave out {option}")
    return function


def read_values(env: Environment, items: list[str] | None, bounds: Budget, notes: list[Note]) -> dict[str, Any]:
    """Return the values of ``--set NAME=VALUE`` by name."""
    named = assignments(items or [])
    arrays = read_arrays(env, [(text, name) for name, text in named.items()], bounds, notes, {}) if named else []
    return dict(zip(named, arrays, strict=True))


def read_arrays(
    env: Environment, items: list[tuple[str, str]], bounds: Budget, notes: list[Note], before: dict[str, Any]
) -> list[Any]:
    """Return the arrays of options, each text with its option's name, which come after those read ``before``."""
    from gradcli.cli.inputs import read_array

    found: list[Any] = []
    read = sum(array.size for array in before.values())
    for text, name in items:
        found.append(read_array(env, text, name, bounds, notes))
        read += found[-1].size
        if read > bounds.total:
            raise over_budget("total", bounds.total, "the values of all options together")
    return found


def program_text(env: Environment, program: str | None, file: str | None) -> str:
    """Return the program from the argument or the file that it names, from ``-f FILE``, or from standard input.

    Raises ``option`` where there is none, or numbers in its place, and ``file``.
    """
    if program is not None and file is not None:
        raise GradcliError("option", "a program and -f FILE are both given", hint="give one of them")
    if file is not None:
        return read_program(env, file, "-f")
    if program is None:
        raise GradcliError("option", "no program is given", hint=NO_PROGRAM)
    if program == "-":
        return read_program(env, "-", "PROGRAM")
    quoted = re.fullmatch(r"\s*(['\"])([^'\"]*)\1\s*", program)
    if quoted:
        hint = f'one pair is for the shell: "{quoted[2]}"'
        raise GradcliError("option", "the program stands in two pairs of quotes", hint=hint)
    if suffix_of(program, CHECKS):
        raise GradcliError("option", f"{program} is the name of a file of checks", hint="check alone reads one")
    suffix = suffix_of(program)
    return text_of_file(env, program.removeprefix("@"), suffix) if suffix else program


def wrt_names(text: str) -> list[str]:
    """Return the names of ``--wrt``; raises ``option`` for none or one twice."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    blank = next((name for name in names if " " in name), None)
    if blank is not None:
        raise GradcliError("option", "--wrt needs commas between names", hint=f"write --wrt {','.join(blank.split())}")
    if not names or len(set(names)) != len(names):
        raise GradcliError("option", "--wrt needs names of variables, each once", hint="for example --wrt W,b")
    return names
