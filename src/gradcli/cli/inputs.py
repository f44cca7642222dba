"""What options name: programs and scripts of files, and arrays of a value, of ``@file`` or of standard input."""

from __future__ import annotations

import codecs
import contextlib
import re
import shlex
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.errors import Budget, GradcliError
from gradcli.errors.hints import counted, did_you_mean
from gradcli.language.values import as_input, doubles, read_json, read_value, refuse_entries
from gradcli.ops.links import Given

if TYPE_CHECKING:
    from gradcli.cli.output import Environment
    from gradcli.explanation.results import Note


TEXTS = (".py", ".txt")
"""Suffixes of files that hold a program, and may stand where one does."""
DATA = (".csv", ".tsv", ".npy", ".npz", ".json")
NOTEBOOK = ".ipynb"
MOST_FILES = 1_000
"""Files of a folder that are looked at for a name that was meant."""
CHECKS = (".toml", ".ndjson", ".jsonl")
"""Suffixes of files of checks."""


def suffix_of(program: str, among: tuple[str, ...] = (*TEXTS, *DATA, NOTEBOOK)) -> str:
    """Return the suffix of what may be the name of a file, empty for a program."""
    found = re.fullmatch(r"@?[^\n\"'()\[\]=*]*(\.[a-zA-Z]+)", program)
    suffix = found[1].lower() if found else ""
    return suffix if suffix in among else ""


def text_of_file(env: Environment, path: str, suffix: str) -> str:
    """Return the program in a file that is named where a program stands."""
    path = str(Path(path).expanduser()) if path.startswith("~") else path
    if suffix in (*TEXTS, NOTEBOOK):
        return read_program(env, path, "PROGRAM")
    hint = f"give them to a variable: gradcli explain 'sum(x**2)' --x {shlex.quote(f'@{path}')}"
    raise GradcliError("option", f"{path} holds numbers, and no program", hint=hint)


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
    message, hint = "", "gradcli run - reads standard input"
    if path is None:
        message, hint = "no script is given", "for example: gradcli run train.py; - reads standard input"
    elif "\n" in path:
        message = "run takes the name of a file, and no text"
    if path is None or message:
        raise GradcliError("option", message, hint=hint)
    if suffix_of(path) in DATA and not path.endswith(".json"):
        raise GradcliError("file", f"{path} holds numbers, and no script")
    return read_cells(env, path, "FILE")


def is_file(word: str) -> bool:
    """Return whether there is a file of this name."""
    with contextlib.suppress(OSError, ValueError):
        return Path(word).exists()
    return False


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
    try:
        text = env.stdin.read(env.largest + 1)
    except UnicodeDecodeError:
        raise file_error("standard input is not text", option) from None
    except OSError as error:
        raise file_error(f"standard input cannot be read: {error.strerror}", option) from None
    if len(text) > env.largest:
        raise file_error(f"standard input is larger than {env.largest // 2**20} MiB", option)
    return text


def read_bytes(env: Environment, path: str, option: str) -> bytes:
    """Return the bytes of a file; raises ``file`` with the reason in words, for a large one before it is opened."""
    where = Path(path)
    try:
        if where.is_dir():
            raise file_error(f"{path} is a directory", option)
        if not where.is_file():
            near = None
            with contextlib.suppress(OSError, ValueError):
                near = did_you_mean(where.name, (one.name for one in islice(where.parent.iterdir(), MOST_FILES)))
            raise GradcliError("file", f"{option}: there is no file {path}", hint=near)
        if where.stat().st_size > env.largest:
            raise file_error(f"{path} is larger than {env.largest // 2**20} MiB", option)
        with where.open("rb") as stream:
            data = stream.read(env.largest + 1)
    except OSError as error:
        raise file_error(f"{path} cannot be read: {error.strerror}", option) from None
    except ValueError:
        raise file_error("the file's name holds a character that no file name can have", option) from None
    if len(data) > env.largest:  # it grew, or had no size, as the files of /proc
        raise file_error(f"{path} is larger than {env.largest // 2**20} MiB", option)
    return data


def file_error(message: str, option: str) -> GradcliError:
    """Return the error for a file that cannot be used."""
    return GradcliError("file", f"{option}: {message}")


GIVEN = r"(?sa)\s*([A-Za-z_]\w*)\s*=(?!=)(.*)"
"""A value with the name that it is given to."""


def assignments(items: list[str]) -> dict[str, str]:
    """Return ``NAME=VALUE`` items as names and texts; raises ``option`` for a bad or repeated name."""
    found: dict[str, str] = {}
    for name, value in map(assignment, items):
        if name in found:
            raise GradcliError("option", f"two values are given for {name}", hint="--v alone can be repeated")
        found[name] = value
    return found


def assignment(item: str) -> tuple[str, str]:
    """Return ``NAME=VALUE`` as a name and a text; raises ``option``."""
    name, equals, value = item.partition("=")
    name = name.strip()
    if not equals or not name.isidentifier() or not name.isascii() or name.startswith("__"):
        raise GradcliError("option", f"'{item[:40]}' is not NAME=VALUE", hint="for example --set x=1,2")
    return name, value


def plain_text(text: str) -> str:
    """Return the text of a stream without a byte order mark, its lines ended by newlines alone."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


# ---- Arrays from what an option says: a value, a file (``.npy .npz .json .csv .txt``), or standard input

SUFFIXES = (".npy", ".npz", ".json", ".csv", ".tsv", ".txt")
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
        found = read_file(env, text[1:], option, name, budget, notes)
        return found if as_stored and isinstance(found, np.ndarray | np.floating) else doubles(found)
    return read_value(text, option, budget)


def read_file(env: Environment, path: str, option: str, name: str, budget: Budget, notes: list[Note]) -> Given:
    """Return the array in a file, read by its suffix, or that under the key after it; raises ``file`` or ``value``.

    An array of numpy's has the type that it is stored in.
    """
    if path in ("", "-") or (path.startswith("/dev/") and not path.lower().endswith(SUFFIXES)):
        what = "@ stands before the name of a file" if not path else f"{path} has no suffix that says how to read it"
        raise GradcliError("file", f"{option}: {what}", hint=f"{option} - reads standard input")
    path, key = key_of(str(Path(path).expanduser()) if path.startswith("~") else path)
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

    found = read_table(text, budget)
    if found.header:
        more = (
            f" and {counted(len(found.header) - MOST_NAMES, 'column')} more" if len(found.header) > MOST_NAMES else ""
        )
        names = ", ".join(inert(cell[:40], keep="") for cell in found.header[:MOST_NAMES]) + more
        message = f"{option}: the first row of {inert(path, keep='')} is read as a header, and not as numbers: {names}."
        notes.append(Note("header-skipped", message))
    return found.numbers


MOST_NAMES = 6
"""Columns of a header that a note names."""
