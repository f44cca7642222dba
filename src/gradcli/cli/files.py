"""Arrays from what an option says: a value, a file (``.npy .npz .json .csv .txt``), or standard input."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from gradcli.cli.environment import Environment
from gradcli.cli.inputs import file_error, one_line, read_bytes, read_stdin
from gradcli.errors import Budget, GradcliError
from gradcli.inputs import as_input
from gradcli.language.values import NUMBER, read_json, read_value
from gradcli.ops.declare import Array

SUFFIXES = (".npy", ".npz", ".json", ".csv", ".txt")


def read_array(env: Environment, text: str, name: str, budget: Budget) -> Any:
    """Return the array that an option's value stands for."""
    option = name if name == "--v" else f"--{name}"
    if text == "-":
        return read_value(one_line(read_stdin(env, option)), option, budget)
    if text.startswith("@"):
        return read_file(text[1:], option, name, budget)
    return read_value(text, option, budget)


def read_file(path: str, option: str, name: str, budget: Budget) -> Array:
    """Return the array in a file, read by its suffix; raises ``file`` or ``value``."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise file_error(f"{path[:80]}: the name must end with {' '.join(SUFFIXES)}", option)
    data = read_bytes(path, option)
    if suffix in (".npy", ".npz"):
        try:
            return as_input(f"the array in {path}", numpy_array(data, path, option, name))
        except GradcliError as error:
            raise GradcliError(error.kind, f"{option}: {error.message.removeprefix(option + ': ')}") from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise file_error(f"{path} is not a text file", option) from None
    try:
        if suffix == ".json":
            return read_json(text)
        return table(text) if suffix == ".csv" else read_value(columns(text), option, budget)
    except GradcliError as error:
        raise GradcliError(error.kind, f"{option}: {path}: {error.message}", hint=error.hint) from None


def numpy_array(data: bytes, path: str, option: str, name: str) -> Any:
    """Return the array of a numpy file; pickled objects, which could run code, are refused."""
    if not data.startswith((b"\x93NUMPY", b"PK")):
        raise file_error(f"{path} cannot be read: it is no numpy file", option)
    try:
        loaded = np.load(io.BytesIO(data), allow_pickle=False)
        if not isinstance(loaded, np.lib.npyio.NpzFile):
            return loaded
        names = loaded.files
        if name in names or len(names) == 1:
            return loaded[name if name in names else names[0]]
    except (ValueError, OSError, EOFError, KeyError, MemoryError) as error:
        reason = "it holds pickled objects" if "pickle" in str(error) else "it is no numpy file"
        raise file_error(f"{path} cannot be read: {reason}", option) from None
    raise file_error(f"{path} holds {', '.join(names)}, and none is called {name}", option)


def columns(text: str) -> str:
    """Return lines of numbers, separated by blanks or commas, in the syntax of values."""
    if text.lstrip().startswith("[") or "," in text or ";" in text:
        return one_line(text)
    return ";".join(",".join(line.split()) for line in text.strip().splitlines() if line.strip())


def table(text: str) -> Array:
    """Return a CSV table without its header, if it has one: one row or one column is a vector."""
    import csv  # noqa: PLC0415

    rows = [row for row in csv.reader(io.StringIO(text)) if any(cell.strip() for cell in row)]
    if rows and not all(NUMBER.fullmatch(cell.strip()) for cell in rows[0]):
        rows = rows[1:]
    if not rows:
        raise GradcliError("value", "the table has no numbers")
    for number, row in enumerate(rows, 1):
        bad = next((cell for cell in row if not NUMBER.fullmatch(cell.strip())), None)
        if bad is not None or len(row) != len(rows[0]):
            what = f"'{bad}' is not a number" if bad is not None else f"{len(row)} cells and not {len(rows[0])}"
            raise GradcliError("value", f"row {number} of the table: {what}")
    array = as_input("the table", [[float(cell) for cell in row] for row in rows])
    return array.ravel() if 1 in array.shape else array
