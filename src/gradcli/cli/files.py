"""Arrays from what an option says: a value, a file (``.npy .npz .json .csv .txt``), or standard input."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from gradcli.cli.environment import Environment
from gradcli.cli.inputs import file_error, one_line, read_bytes, read_stdin
from gradcli.errors import Budget, GradcliError
from gradcli.inputs import as_input
from gradcli.language.values import NUMBER, read_json, read_value, refuse_entries
from gradcli.ops.declare import Array

SUFFIXES = (".npy", ".npz", ".json", ".csv", ".txt")


def read_array(env: Environment, text: str, name: str, budget: Budget) -> Any:
    """Return the array that an option's value stands for; raises ``value``, ``file``, ``budget`` and the like."""
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
        from gradcli.cli.numpy_files import numpy_array  # noqa: PLC0415

        try:
            return as_input(f"the array in {path}", numpy_array(data, path, option, name, budget))
        except GradcliError as error:
            message = f"{option}: {error.message.removeprefix(option + ': ')}"
            raise GradcliError(error.kind, message, hint=error.hint) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise file_error(f"{path} is not a text file", option) from None
    try:
        if suffix == ".json":
            refuse_entries(text, budget)
            return read_json(text)
        if suffix == ".csv":
            refuse_entries(text.replace("\n", ","), budget)
            return table(text)
        return read_value(columns(text), option, budget)
    except GradcliError as error:
        raise GradcliError(error.kind, f"{option}: {path}: {error.message}", hint=error.hint) from None


def columns(text: str) -> str:
    """Return lines of numbers, separated by blanks or commas, in the syntax of values."""
    if text.lstrip().startswith("[") or "," in text or ";" in text:
        return one_line(text)
    return ";".join(",".join(line.split()) for line in text.strip().splitlines() if line.strip())


def table(text: str) -> Array:
    """Return a CSV table without its header, if it has one: one row or one column is a vector."""
    import csv  # noqa: PLC0415

    try:
        rows = [row for row in csv.reader(io.StringIO(text)) if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise GradcliError("value", f"this is no table: {error}") from None
    if rows and not any(reads_as_number(cell) for cell in rows[0]):
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


def reads_as_number(cell: str) -> bool:
    """Return whether a cell is a number, nan and inf among them: a row with one is no header."""
    try:
        float(cell)
    except ValueError:
        return False
    return True
