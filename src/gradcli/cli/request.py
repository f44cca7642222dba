"""What a command was asked, read from what was typed and the files that it names: program, values, v, how to print."""

from __future__ import annotations

import codecs
import contextlib
import math
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradcli.cli.options import (
    CHECKS,
    DATA,
    DRAWN,
    GROUNDS,
    LIBRARIES,
    NOTEBOOK,
    OPTIONS,
    options_of,
    refuse_both,
    suffix_among,
    suffix_of,
)
from gradcli.cli.output import Environment, Printing
from gradcli.errors import Budget, GradcliError, over_budget
from gradcli.errors.hints import counted, did_you_mean
from gradcli.language.values import as_input, doubles, read_json, read_value, refuse_entries
from gradcli.ops.links import Given
from gradcli.records import dataclass, field

if TYPE_CHECKING:
    from gradcli.cli.output import Environment
    from gradcli.explanation.evaluation import Function
    from gradcli.explanation.explaining import ViewRequest
    from gradcli.explanation.results import Note


MOST_FILES = 1_000
"""Files of a folder that are looked at for a name that was meant."""


def read_program(env: Environment, path: str, option: str) -> str:
    """Return the program in a file or on standard input: its text, and of a notebook its cells of code."""
    return "\n".join(read_cells(env, path, option))


def read_cells(env: Environment, path: str, option: str) -> list[str]:
    """Return the cells of code of a notebook, or the one text of another file; raises ``file``."""
    text = read_text(env, path, option)
    if not path.lower().endswith(NOTEBOOK) and not text.lstrip().startswith('{"cells"'):
        return [text]
    from gradcli.cli.formats import code_cells  # few programs are notebooks

    return code_cells(text, path)


def read_script(env: Environment, path: str | None) -> list[str]:
    """Return the script of a file, of a notebook its cells, or that of standard input; raises ``option``, ``file``."""
    if path is None:
        hint = "for example: gradcli run train.py; - reads standard input"
        raise GradcliError("option", "no script is given", hint=hint)
    if "\n" in path:
        hint = "gradcli run - reads standard input"
        raise GradcliError("option", "run takes the name of a file, and no text", hint=hint)
    if suffix_of(path) in DATA and not path.endswith(".json"):
        raise GradcliError("file", f"{path} holds numbers, and no script")
    return read_cells(env, path, "FILE")


def read_text(env: Environment, path: str, option: str) -> str:
    """Return the text of a file, or of standard input for ``-``; raises ``file``."""
    if path == "-":
        return plain_text(read_stdin(env, option))
    data = read_bytes(env, path, option)
    encoding = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    try:
        return plain_text(data.decode(encoding))
    except UnicodeDecodeError:
        raise file_error(f"{path} is not a text file", option) from None


def read_stdin(env: Environment, option: str) -> str:
    """Return standard input, which one option alone can have."""
    if env.stdin_used:
        raise file_error("standard input is read once only, and another option has it", option)
    env.stdin_used = True
    if env.stdin is None:
        raise file_error("standard input is closed", option)
    with reading("standard input", option):
        try:
            text = env.stdin.read(env.largest + 1)
        except UnicodeDecodeError:
            raise file_error("standard input is not text", option) from None
    if len(text) > env.largest:
        raise file_error(f"standard input is larger than {env.largest // 2**20} MiB", option)
    return text


def read_bytes(env: Environment, path: str, option: str) -> bytes:
    """Return the bytes of a file; raises ``file`` with the reason in words, for a large one before it is opened."""
    where, data = Path(path), b""
    with reading(path, option):
        if where.is_dir():
            raise IsADirectoryError
        if not where.is_file():
            raise FileNotFoundError
        small = where.stat().st_size <= env.largest
        if small:
            with where.open("rb") as stream:
                data = stream.read(env.largest + 1)
    if not small or len(data) > env.largest:  # it grew, or had no size, as the files of /proc
        raise file_error(f"{path} is larger than {env.largest // 2**20} MiB", option)
    return data


@contextlib.contextmanager
def reading(path: str, option: str) -> Iterator[None]:
    """Say why a file cannot be read, and which of its folder may have been meant."""
    try:
        yield
    except IsADirectoryError:
        raise file_error(f"{path} is a directory", option) from None
    except FileNotFoundError:
        near = None
        with contextlib.suppress(OSError, ValueError):
            where = Path(path)
            near = did_you_mean(where.name, (one.name for one in islice(where.parent.iterdir(), MOST_FILES)))
        raise GradcliError("file", f"{option}: there is no file {path}", hint=near) from None
    except OSError as error:
        raise file_error(f"{path} cannot be read: {error.strerror}", option) from None
    except ValueError:
        raise file_error("the file's name holds a character that no file name can have", option) from None


def file_error(message: str, option: str) -> GradcliError:
    """Return the error for a file that cannot be used."""
    return GradcliError("file", f"{option}: {message}")


GIVEN = r"(?sa)\s*([A-Za-z_]\w*)\s*=(?!=)(.*)"
"""A value with the name that it is given to."""


def assignments(items: list[str]) -> dict[str, str]:
    """Return ``NAME=VALUE`` items as names and texts; raises ``option`` for a bad or repeated name."""
    result: dict[str, str] = {}
    for name, value in map(assignment, items):
        if name in result:
            raise GradcliError("option", f"two values are given for {name}", hint="--v alone can be repeated")
        result[name] = value
    return result


def assignment(item: str) -> tuple[str, str]:
    """Return ``NAME=VALUE`` as a name and a text; raises ``option``."""
    name, equals, value = item.partition("=")
    name = name.strip()
    if not equals or not name.isidentifier() or name.startswith("__"):
        raise GradcliError("option", f"'{item[:40]}' is not NAME=VALUE", hint="for example --set x=1,2")
    return name, value


def plain_text(text: str) -> str:
    """Return the text of a stream without a byte order mark, its lines ended by newlines alone."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


MOST_NAMES = 6
"""Columns of a header that a note names."""
SUFFIXES = (*DATA, ".txt")
PICKLED = (".pt", ".pth", ".pkl", ".pickle")
SAVED = "numpy.save('x.npy', x.detach().numpy()) writes one that is read, @x.npy"
TABLES = (".csv", ".tsv")
KEYED = (".json", ".npz")
"""Files that hold arrays under keys: ``@d.json:x`` has the one of x."""


def read_array(
    env: Environment, text: str, name: str, budget: Budget, notes: list[Note], as_stored: bool = False
) -> Any:
    """Return the array that an option's value stands for; what deserves a sentence is added to ``notes``.

    What is typed in integers is an array of integers; files and standard input hold doubles, and numpy's files what
    they store where it is to be left ``as_stored``.
    Raises ``value``, ``file``, ``budget`` and the like.
    """
    option = name if name.startswith("--") else f"--{name}"
    if text == "-":
        return doubles(read_value(plain_text(read_stdin(env, option)), option, budget, lines=True))
    if text.startswith("@"):
        result = read_file(env, text[1:], option, name, budget, notes)
        return result if as_stored and isinstance(result, np.ndarray | np.floating) else doubles(result)
    return read_value(text, option, budget)


def read_file(env: Environment, path: str, option: str, name: str, budget: Budget, notes: list[Note]) -> Given:
    """Return the array in a file, read by its suffix, or that under the key after it; raises ``file`` or ``value``.

    An array of numpy's has the type that it is stored in.
    """
    if path in ("", "-") or (path.startswith("/dev/") and not path.lower().endswith(SUFFIXES)):
        what = "@ stands before the name of a file" if not path else f"{path} has no suffix that says how to read it"
        raise GradcliError("file", f"{option}: {what}", hint=f"{option} - reads standard input")
    path, key = key_of(at_home(path))
    suffix = Path(path).suffix.lower()
    if suffix in PICKLED:
        raise GradcliError("file", f"{option}: {path[:80]} is a pickle, which only its library can open", hint=SAVED)
    if suffix not in SUFFIXES:
        raise file_error(f"{path[:80]}: the name must end with {' '.join(SUFFIXES)}", option)
    data = read_bytes(env, path, option)
    if suffix in (".npy", ".npz"):
        from gradcli.cli.formats import numpy_array

        try:
            array = numpy_array(data, path, key or name, budget)
            checked = as_input(f"the array in {path}", array)
            return np.asarray(checked, dtype=array.dtype) if array.dtype.kind == "f" else checked
        except GradcliError as error:
            raise error.under(option) from None
    try:
        text = plain_text(data.decode("utf-8"))
    except UnicodeDecodeError:
        raise file_error(f"{path} is not a text file", option) from None
    try:
        if suffix == ".json":
            refuse_entries(text, budget)
            return read_json(text, key)
        if suffix in TABLES:
            return without_header(text, path, option, budget, notes)
        return read_value(text, option, budget, lines=True)
    except GradcliError as error:
        at = f"{path}, {line_and_column(text, error.span[0])}" if suffix == ".json" and error.span else path
        raise error.under(f"{option}: {at}") from None


def key_of(path: str) -> tuple[str, str | None]:
    """Return a path and the key after it, which ``:`` parts from it; None for none."""
    where, colon, key = path.rpartition(":")
    if colon and where.lower().endswith(KEYED):
        return where, key
    return path, None


def line_and_column(text: str, at: int) -> str:
    """Return where a character stands in a file, both counted from 1."""
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"


def without_header(text: str, path: str, option: str, budget: Budget, notes: list[Note]) -> Given:
    """Return the numbers of a table, and add a note on the header that is left out."""
    from gradcli.cli.formats import read_table
    from gradcli.errors.inert import inert
    from gradcli.explanation.results import Note

    result = read_table(text, budget, "\t" if path.lower().endswith(".tsv") else None)
    if result.header:
        more = (
            f" and {counted(len(result.header) - MOST_NAMES, 'column')} more" if len(result.header) > MOST_NAMES else ""
        )
        names = ", ".join(inert(cell[:40], keep="") for cell in result.header[:MOST_NAMES]) + more
        message = f"{option}: the first row of {inert(path, keep='')} is read as a header, and not as numbers: {names}."
        notes.append(Note("header-skipped", message))
    return result.numbers


Typed = Mapping[str, Any]
"""What was typed, by the names of the options in the table; the default of those that were not."""
WHOLE = (*DRAWN, "npy", "npz")
"""Formats that are written as a file is, to standard output too: in UTF-8, and as wide as they are."""
NO_PROGRAM = "for example: gradcli explain 'x**2' --x 3; - reads it from standard input, -f from a file"
CHOOSING = ("at", "turn", "of", "seed")
"""Options that choose what of a script is answered; a formula has ``of`` alone."""
STEPS = 10
"""Steps of gradient descent where no number of them is given."""


class ScriptOptions(NamedTuple):
    """The options that say which call of a script is answered, and what the script is called.

    ``points`` is the seed of check's random points, where draws begin too if ``seed`` says nothing else.
    """

    at: int | None
    turn: int | None
    of: str | None
    seed: int | None
    points: int | None
    name: str

    @property
    def draws(self) -> int:
        """Where draws begin."""
        return self.points or 0 if self.seed is None else self.seed


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
    script: ScriptOptions
    notes: list[Note] = field(default_factory=list)


def refuse_exports(exports: Mapping[str, str], output: str | None, formatted: bool) -> None:
    """Raise ``option`` where a script or a figure has no such kind, or does not go with a format or a file's name."""
    ending = "" if output is None else Path(output).suffix.lower()
    refuse_both(*((f"--{name}", value) for name, value in exports.items()))
    for name, value in exports.items():
        words, what, suffix = (LIBRARIES, "a script", ".py") if name == "code" else (GROUNDS, "a figure", ".svg")
        if value not in words:
            hint = f"one of {', '.join(words)}; a variable of this name is given by --set {name}={value[:40]}"
            raise GradcliError("option", f"--{name} '{value[:40]}' is not known", hint=hint)
        if formatted:
            raise GradcliError("option", f"--{name} {value} is a format of its own", hint="leave out the other")
        if output not in (None, "-") and ending != suffix:
            raise GradcliError("option", f"--{name} {value} writes {what}", hint=f"-o NAME{suffix} writes it to a file")
    if ending == ".py" and not exports:
        raise GradcliError("option", "-o with .py is for a script", hint="--code torch, --code jax or --code numpy")


def printing(typed: Typed, command: str) -> Printing:
    """Return the checked options of printing of a command; ``-o -`` writes what a file of the format would have."""
    options, output, json, named = options_of(command), typed["output"], typed["json"], typed["format"]
    exports = {name: typed[name] for name in ("code", "figure") if typed.get(name) is not None}
    refuse_exports(exports, output, bool(json or named))
    if named != "json":
        refuse_both(("--json", json), (f"--format {named}", named))
    asked, suffixes, chosen = "json" if json else named, options["output"].suffixes, next(iter(exports), None)
    if output == "-" and not (asked or chosen):
        hint = f"--format says which: {', '.join(options['format'].values)}"
        raise GradcliError("option", "-o - writes to standard output, in a format that no suffix tells", hint=hint)
    if output not in (None, "-") and not chosen:
        if output.lower().endswith(".html") and ".html" not in suffixes:
            raise GradcliError("option", "a page shows what explain answers", hint=f"gradcli explain … -o {output}")
        suffix = suffix_among(suffixes, output)
        chosen = asked or suffixes[suffix]
        fits = chosen not in WHOLE if suffix == ".txt" else chosen == suffixes[suffix]
        if not fits and (suffix, chosen) != (".svg", "picture"):
            option = "--json" if json else f"--format {asked}"
            thing = f"a picture in {suffix}" if suffix in (".svg", ".dot") else f"a file in {suffix}"
            raise GradcliError("option", f"{option} and {thing} do not go together", hint=f"leave {option} out")
    chosen = chosen or asked or "table"
    return Printing(
        chosen, "-" if output is None and chosen in WHOLE else output, typed.get("precision", 6), typed.get("color"),
        typed.get("ascii_only", False), typed.get("width"), typed["quiet"], typed.get("full", False),
        exports.get("code"), exports.get("figure"),
    )  # fmt: skip


def refuse_beside(how: Printing, typed: Typed) -> None:
    """Raise ``option`` for a view that a format has no place for."""
    graph = f"--format {how.format}" if how.output == "-" else f"-o {how.output}"
    formats = {
        "code": (f"--code {how.code} writes", "y and x.grad"),
        "figure": (f"--figure {how.figure} draws", "the table"),
        **dict.fromkeys(DRAWN, (f"{graph} draws", "the graph")),
        "page": (f"{graph} shows", "all of J"),
    }
    views = [option for name, option in OPTIONS.items() if option.view and typed[name]]
    flag = next((one.flags[0] for one in views if not one.is_drawn_in(how.format)), None)
    if how.format in formats and flag:
        does, what = formats[how.format]
        message = f"{does} {what} alone, and nothing of {flag}"
        raise GradcliError("option", message, hint=f"leave out {flag}, or write its numbers with -o answer.json")


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


def request(env: Environment, typed: Typed) -> Request:
    """Return the checked request; the program is read first, so that its errors come first."""
    program, file = typed["program"], typed["file"]
    bounds = budget_from(typed["budget"])
    text = program_text(env, program, file)
    notes: list[Note] = []
    values = read_values(env, typed["set_values"], bounds, notes)
    v = [(item, "--v") for item in typed["v"] or ()]
    calls = read_arrays(env, v, bounds, notes, values) if v else [None]
    names = None if typed["wrt"] is None else wrt_names(typed["wrt"])
    where = file or (program if program and suffix_of(program) else None)
    script = ScriptOptions(
        typed["at"],
        typed["turn"],
        typed["of"],
        typed.get("draw_seed", typed.get("seed")),
        typed["seed"] if "draw_seed" in typed else None,
        "script" if where in (None, "-") else Path(str(where)).name,
    )
    return Request(text, values, calls, names, typed["strict"], bounds, script, notes)


def function_of(asked: Request) -> Function:
    """Return the program of a request as a function, of a script the call that its options choose."""
    from gradcli.explanation.evaluation import Function

    options = asked.script
    chosen = [name for name in CHOOSING if getattr(options, name) is not None]
    if not chosen and not options.points:
        return Function(asked.program, asked.wrt, asked.budget, asked.values)
    from gradcli.explanation.scripts import Asked  # a formula has none

    call = Asked(options.at, options.turn, options.of, tuple(asked.wrt or ()), options.draws)
    function = Function(asked.program, asked.wrt, asked.budget, asked.values, call)
    others = [name for name in chosen if name != "of"]
    if others and not function.program.is_script:
        option = f"--{others[0]}" if options.points is None or others[0] != "seed" else "--draw-seed"
        raise GradcliError("option", f"{option} is for a script, and this is a formula", hint=f"leave out {option}")
    return function


def read_values(env: Environment, items: list[str] | None, bounds: Budget, notes: list[Note]) -> dict[str, Any]:
    """Return the values of ``--set NAME=VALUE`` by name."""
    named = assignments(items or [])
    return dict(
        zip(named, read_arrays(env, [(text, name) for name, text in named.items()], bounds, notes), strict=True)
    )


def read_arrays(
    env: Environment, items: list[tuple[str, str]], bounds: Budget, notes: list[Note], before: Mapping[str, Any] = {}
) -> list[Any]:
    """Return the arrays of options, each text with its option's name, which come after those read ``before``."""
    arrays: list[Any] = []
    size = sum(array.size for array in before.values())
    for text, name in items:
        arrays.append(read_array(env, text, name, bounds, notes))
        size += arrays[-1].size
        if size > bounds.total:
            raise over_budget("total", bounds.total, "the values of all options together")
    return arrays


def program_text(env: Environment, program: str | None, file: str | None) -> str:
    """Return the program from the argument or the file that it names, from ``-f FILE``, or from standard input.

    Raises ``option`` where there is none, or numbers in its place, and ``file``.
    """
    refuse_both(("a program", program), ("-f FILE", file))
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
    if not suffix_of(program):
        return program
    path = at_home(program.removeprefix("@"))
    if suffix_of(program) in DATA:
        hint = f"give them to a variable: gradcli explain 'sum(x**2)' --x {shlex.quote(f'@{path}')}"
        raise GradcliError("option", f"{path} holds numbers, and no program", hint=hint)
    return read_program(env, path, "PROGRAM")


def at_home(path: str) -> str:
    """Return a path with the home folder that ``~`` stands for."""
    return str(Path(path).expanduser()) if path.startswith("~") else path


def wrt_names(text: str) -> list[str]:
    """Return the names of ``--wrt``; raises ``option`` for none or one twice."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    blank = next((name for name in names if " " in name), None)
    if blank is not None:
        raise GradcliError("option", "--wrt needs commas between names", hint=f"write --wrt {','.join(blank.split())}")
    if not names or len(set(names)) != len(names):
        raise GradcliError("option", "--wrt needs names of variables, each once", hint="for example --wrt W,b")
    return names


def views_asked(env: Environment, asked: Request, typed: Typed) -> ViewRequest:
    """Return what the options ask for beside an answer; raises ``option`` and ``value``."""
    from gradcli.explanation.explaining import ViewRequest

    lr, iterations = typed["lr"], typed["iterations"]
    if iterations is not None and lr is None:
        raise GradcliError("option", "--iterations are steps of gradient descent, and need --lr", hint="add --lr 0.1")
    u = directions(env, asked, typed["jvp"]) if typed["jvp"] else None
    return ViewRequest(
        typed["row"] or (), typed["column"] or (), typed["tape"], typed["steps"], typed["rows"], u, typed["hessian"],
        None if lr is None else rate(env, asked, lr), iterations or STEPS,
    )  # fmt: skip


def directions(env: Environment, asked: Request, items: list[str]) -> dict[str, object]:
    """Return u by the names of variables; one without a name is that of the only variable."""
    u: dict[str, object] = {}
    for item in items:
        given = re.fullmatch(GIVEN, item)
        name, text = (given[1], given[2]) if given else ("", item)
        if name in u:
            hint = "give one for each variable that moves: --jvp W=... --jvp b=..."
            raise GradcliError("option", f"two --jvp are given{f' for {name}' if name else ''}", hint=hint)
        u[name] = read_array(env, text, "--jvp", asked.budget, asked.notes)
    return u


def rate(env: Environment, asked: Request, text: str) -> float:
    """Return the step of gradient descent; raises ``option`` where it is none."""
    value = read_array(env, text, "--lr", asked.budget, asked.notes)
    if value.size != 1 or not math.isfinite(value.item()) or value.item() <= 0:
        raise GradcliError("option", f"--lr {text[:40]} is not a positive number", hint="for example --lr 0.1")
    return float(value.item())
