"""Arrays from what an option says: a value, a file (``.npy .npz .json .csv .txt``), or standard input."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.cli.environment import Environment
from gradcli.cli.inputs import file_error, plain_text, read_bytes, read_stdin
from gradcli.errors import Budget, GradcliError
from gradcli.errors.counting import counted
from gradcli.language.inputs import as_input, doubles
from gradcli.language.values import read_json, read_value, refuse_entries
from gradcli.ops.signatures import Given

if TYPE_CHECKING:
    from gradcli.explanation.explained import Note

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
        from gradcli.cli.numpy_files import numpy_array

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
    from gradcli.cli.table_files import read_table
    from gradcli.errors.inert import inert
    from gradcli.explanation.explained import Note

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
