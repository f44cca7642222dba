"""What files hold: the cells of a notebook, the arrays of numpy's files, and tables of numbers in text."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import warnings
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import accumulate
from typing import IO, Any, NamedTuple

import numpy as np

from gradcli.document.texts import full
from gradcli.errors import Budget, GradcliError, over_budget
from gradcli.errors.hints import counted
from gradcli.language.misread import ascii_for
from gradcli.language.source import character_name
from gradcli.language.values import is_number_text, of_lines, read_value
from gradcli.ops.declare import Array
from gradcli.ops.links import Given

MOST_CELLS = 10_000


def code_cells(text: str, path: str) -> list[str]:
    """Return the texts of a notebook's cells of code, those of other languages empty; raises ``file`` for another."""
    try:
        document = json.loads(text)
        cells = document["cells"] if "cells" in document else document["worksheets"][0]["cells"]
        code = [cell.get("source", cell.get("input", "")) for cell in cells if cell["cell_type"] == "code"]
        result = [part if isinstance(part, str) else "".join(part) for part in code[:MOST_CELLS]]
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        raise GradcliError("file", f"{path} is no notebook: its JSON has no cells") from None
    return [without_others(cell.rstrip("\n")) for cell in result]


def without_others(cell: str) -> str:
    """Return a cell, left empty where its first line hands it to another program: ``%%bash``."""
    first = cell.lstrip().partition("\n")[0].split()[:1]
    return "\n" * cell.count("\n") if first and first[0] in FOREIGN_CELLS else cell


FOREIGN_CELLS = (
    "%%bash", "%%sh", "%%script", "%%html", "%%HTML", "%%javascript", "%%js", "%%latex", "%%markdown", "%%svg",
    "%%perl", "%%ruby", "%%writefile", "%%file", "%%cmd", "%%cython", "%%R", "%%sql",
)  # fmt: skip


def place_in(cells: list[str], line: int) -> str:
    """Return where a line of the joined cells stands: ``cell 3, line 2``, both counted from 1."""
    ends = list(accumulate(cell.count("\n") + 1 for cell in cells))
    number = next((k for k, end in enumerate(ends) if line <= end), len(ends) - 1)
    before = ends[number - 1] if number else 0
    return f"cell {number + 1}, line {line - before}"


HEADER = 10_512
"""Bytes that hold any header of an ``.npy`` file that numpy reads: 10,000 and a few before them."""


def numpy_array(data: bytes, path: str, name: str, budget: Budget) -> Any:
    """Return the array of a numpy file; pickled objects, which could run code, are refused."""
    try:
        if data.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(member(archive, path, name)) as file:
                return entries_of(file, path, budget)
        return entries_of(io.BytesIO(data), path, budget)
    except (ValueError, OSError, EOFError, KeyError, RuntimeError, zipfile.BadZipFile, zlib.error):
        raise GradcliError("file", f"{path} cannot be read: it is no numpy file") from None


def member(archive: zipfile.ZipFile, path: str, name: str) -> str:
    """Return the member of an ``.npz`` file that holds a variable: that of its name, or the only one."""
    names = [entry.removesuffix(".npy") for entry in archive.namelist()]
    if name not in names and len(names) != 1:
        holds = f"{', '.join(names)}, and none is called {name}" if names else "no array"
        raise GradcliError("file", f"{path} holds {holds}")
    result = archive.infolist()[names.index(name) if name in names else 0]
    if result.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(result.compress_type)
    return result.filename


def entries_of(file: IO[bytes], path: str, budget: Budget) -> Any:
    """Return the array of an ``.npy`` stream; raises ``budget`` for more entries than one array may have."""
    head = io.BytesIO(file.read(HEADER))
    version = np.lib.format.read_magic(head)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a header as Python 2 wrote it is no matter of ours
        shape, _, dtype = read_header(head)
        if dtype.hasobject:
            raise GradcliError("file", f"{path} cannot be read: it holds pickled objects")
        if dtype.kind not in "iuf":
            raise GradcliError("value", f"the array in {path} is not an array of real numbers")
        if any(length < 0 for length in shape):
            raise ValueError(shape)
        count = math.prod(shape)
        if count > budget.elements:
            raise over_budget("elements", budget.elements, f"{path} holds {counted(count, 'number')}")
        rest = file.read(count * dtype.itemsize + 1)
        return np.lib.format.read_array(io.BytesIO(head.getvalue() + rest), allow_pickle=False)


def array_parts(form: str, arrays: Mapping[str, Array]) -> Iterator[str | bytes]:
    """Yield a file of arrays by names, in parts: numpy's files, or a table of the only one.

    Raises ``option`` where several arrays, or one of more than two axes, have no place in it.
    """
    if form == "npz":  # the time of its members is none, so that the bytes are the same again
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as archive:
            for name, array in arrays.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member_file:
                    np.lib.format.write_array(member_file, np.asarray(array))
        yield stream.getvalue()
        return
    if len(arrays) > 1:
        hint = f"-o NAME.npz holds all, --wrt {next(iter(arrays))} chooses one"
        raise GradcliError("option", f"a file in .{form} holds one gradient, and not {len(arrays)}", hint=hint)
    array = np.asarray(next(iter(arrays.values())))
    if form == "npy":
        stream = io.BytesIO()
        np.lib.format.write_array(stream, array)
        yield stream.getvalue()
        return
    if array.ndim > 2:
        raise GradcliError("option", f"a table in .{form} has no place for shape {array.shape}", hint="-o NAME.npy has")
    rows = array if array.ndim == 2 else array.reshape(-1, 1)
    yield from ((("," if form == "csv" else "\t").join(map(full, row)) + "\n") for row in rows.tolist())


DELIMITERS = {"\t": "a tab", ";": "';'", ",": "','"}
BLANKS = " \t"
PLAIN = frozenset("-+.eE0123456789")
"""Cells in these characters are numbers exactly where ``float`` reads them: no ``nan``, ``1_000`` or foreign digits."""
DECIMAL_COMMA = re.compile(r"[-+]?[0-9]*,[0-9]+(?:[eE][-+]?[0-9]+)?")
THOUSANDS = re.compile(r"[-+]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?")
PERCENT = re.compile(r"([-+]?[0-9]+(?:\.[0-9]*)?)\s*%")
QUOTED = re.compile(r'"[^"\n]*"')
DATE = re.compile(r"[0-9]+([-/])[0-9]+\1[0-9]+")
MISSING = {
    *("", "-", "--", ".", "..", "?", "na", "n/a", "n.a.", "#n/a", "<na>", "nan", "nat", "null", "nil", "none", "inf"),
    *("infinity", "missing", "empty", "void", "unknown", "undefined", "true", "false", "yes", "no"),
}
"""Words that stand where a number should, in small letters: a row with one is no row of names."""


class Row(NamedTuple):
    """The cells of one row without the blanks round them, and its number in the table, from 1."""

    number: int
    cells: list[str]


class Table(NamedTuple):
    """The numbers of a table, of a row or column as a vector, of one cell as a number, and the names in its header."""

    numbers: Given
    header: list[str]


def read_table(text: str, budget: Budget, delimiter: str | None = None) -> Table:
    """Return what a table holds; raises ``value`` with row and column, or ``budget``.

    The delimiter is the one that is named, or that of the first row that has one, and the same in all. The first row
    may be a header, if all of its cells are names. Empty lines count for nothing beside rows of two cells and more.
    """
    entries = sum(map(text.count, (*DELIMITERS, "\n"))) + 1
    if entries > budget.elements:
        raise over_budget("elements", budget.elements, f"the text holds {counted(entries, 'number')}")
    delimiter = delimiter or delimiter_of(text)
    rows = split_rows(text, delimiter)
    header = rows.pop(0).cells if rows and all(is_name(cell, budget) for cell in rows[0].cells) else []
    if not rows:
        raise GradcliError("value", "the table has no numbers")
    width = len(header or rows[0].cells)
    numbers = np.array([numbers_of(row, width, delimiter, budget) for row in rows])
    return Table(of_lines(numbers), header)


def split_rows(text: str, delimiter: str) -> list[Row]:
    """Return the rows; raises ``value`` for quotes that do not close, and a gap in one column."""
    reader = csv.reader(io.StringIO(text), delimiter=delimiter, strict=True, skipinitialspace=True)
    try:
        found = [Row(number, [cell.strip(BLANKS) for cell in cells]) for number, cells in enumerate(reader, 1)]
    except csv.Error as error:
        raise GradcliError("value", f"this is no table: {error}") from None
    rows = [row for row in found if row.cells not in ([], [""])]
    for number, row in enumerate(rows, rows[0].number if rows else 1):
        if len(rows[0].cells) == 1 and row.number != number:
            raise wrong(number, 1, "a number is missing", "give a number, or leave the line out")
    return rows


def delimiter_of(text: str) -> str:
    """Return the delimiter of the first row that has one: a tab, else ``;``, else ``,``."""
    for line in io.StringIO(text):
        bare = QUOTED.sub("", line) if line.strip() else ""
        for mark in DELIMITERS:
            if mark in bare:
                return mark
    return ","


def wrong(row: int, column: int, what: str, hint: str | None) -> GradcliError:
    """Return the error for one cell."""
    return GradcliError("value", f"column {column}, row {row} of the table: {what}", hint=hint)


def is_name(cell: str, budget: Budget) -> bool:
    """Return whether a cell can be the name of a column; ``pi`` can, and ``pi/2`` cannot."""
    if cell.lower() in MISSING or not (cell[:1].isalpha() or cell[:1] == "_") or not cell.isprintable():
        return False
    return cell.isidentifier() or expression_value(cell, budget) is None


def numbers_of(row: Row, width: int, delimiter: str, budget: Budget) -> list[float]:
    """Return the numbers of a row; raises ``value`` for the first cell that is none, or for a row of another length."""
    cells = row.cells
    try:
        result = list(map(float, cells))
    except ValueError:
        result = []
    if not result or not PLAIN.issuperset("".join(cells)) or not math.isfinite(sum(result)):
        result = [number(cell, row.number, column, delimiter, budget) for column, cell in enumerate(cells, 1)]
    if len(cells) != width:
        column = min(len(cells), width) + 1
        raise wrong(row.number, column, f"{counted(len(cells), 'cell')} and not {width:,}", None)
    return result


def number(cell: str, row: int, column: int, delimiter: str, budget: Budget) -> float:
    """Return the number in a cell; raises ``value`` with what to write in its place."""
    if is_number_text(cell):
        result = float(cell)
        if math.isfinite(result):
            return result
        raise wrong(row, column, f"'{cell[:40]}' is beyond double precision (1.8e308)", None)
    if cell == "":
        raise wrong(row, column, "a number is missing", "give a number, or leave the row or column out")
    raise wrong(row, column, f"'{cell[:40]}' is not a number", instead(cell, delimiter, budget))


def instead(cell: str, delimiter: str, budget: Budget) -> str:
    """Return what to write in place of a cell that is no number."""
    other = next((mark for mark in DELIMITERS if mark in cell and mark != delimiter), None)
    foreign = next((c for c in cell if not " " <= c <= "~"), None)
    percent = PERCENT.fullmatch(cell)
    if cell.lower() in MISSING:
        return "a missing or infinite value has no derivative: give a number, or leave the row or column out"
    if THOUSANDS.fullmatch(cell):
        return f"write {cell.replace(',', '')}, or if the comma is the decimal point {cell.replace(',', '.', 1)}"
    if DECIMAL_COMMA.fullmatch(cell):
        return f"the decimal point is a point: write {cell.replace(',', '.')}"
    if other:
        return f"the first delimiter is {DELIMITERS[delimiter]}: separate all rows by it"
    if foreign:
        plain = ascii_for(foreign)
        return f"it has {character_name(foreign)}" + (f": {plain}" if plain else "")
    if percent:
        return f"a percentage is a hundredth: write {Decimal(percent[1]) / 100}"
    value = None if DATE.fullmatch(cell) else expression_value(cell, budget)
    if value is not None:
        return f"a cell holds a number and no expression: write {full(value)}"
    return "a cell is a number such as -1.5e3, and only the first row may be a header, of names alone"


def expression_value(cell: str, budget: Budget) -> float | None:
    """Return the value of a constant expression such as ``1/3`` or ``0x10``; None where a cell is none."""
    try:
        result = read_value(cell, "", budget.changed("seconds", 1))
    except GradcliError:
        return None
    return float(result) if np.ndim(result) == 0 else None
