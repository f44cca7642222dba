"""Rows and columns of J that are asked for by their place, such as ``3`` or ``W1[0,5]``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from gradcli.errors import GradcliError
from gradcli.explanation.explained import Explained
from gradcli.explanation.views import Slice

COLUMN = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:\[([^\]]*)\])?\s*\Z")
MOST = 1_000
"""Rows and columns that one answer gives."""


def slices_at(found: Explained, rows: Sequence[str], columns: Sequence[str]) -> list[Slice]:
    """Return these rows and columns of J; raises ``option`` for a place that is none."""
    if len(rows) + len(columns) > MOST:
        raise GradcliError("option", f"{len(rows) + len(columns):,} rows and columns are more than {MOST:,}")
    return [*(row_at(found, text) for text in rows), *(column_at(found, text) for text in columns)]


def row_at(found: Explained, text: str) -> Slice:
    """Return the row of an entry of y, by each variable."""
    index = read_index(text, found.output.shape, f"--row '{text[:40]}'", found.name)
    values = {name: jacobian.row(index) for name, jacobian in found.jacobian.items()}
    return Slice("row", found.name + shown(index), index, values)


def column_at(found: Explained, text: str) -> Slice:
    """Return the column of an entry of one variable."""
    option = f"--column '{text[:40]}'"
    match = COLUMN.match(text)
    if match is None:
        raise GradcliError("option", f"{option} is not NAME[INDEX]", hint="for example --column 'W[0,5]'")
    name, inside = match.groups()
    if name not in found.jacobian:
        raise GradcliError(
            "option", f"{option}: {name} is not differentiated", hint=f"one of {', '.join(found.jacobian)}"
        )
    jacobian = found.jacobian[name]
    index = read_index(inside or "", jacobian.input_shape, option, name)
    return Slice("column", name + shown(index), index, {name: jacobian.column(index)})


def read_index(text: str, shape: tuple[int, ...], option: str, name: str) -> tuple[int, ...]:
    """Return an index with one number for each axis, counted from the end where it is negative; raises ``option``."""
    words = [word.strip() for word in text.split(",")] if text.strip() else []
    numbers = [int(word) for word in words if re.fullmatch(r"[+-]?[0-9]{1,9}", word)]
    if len(numbers) != len(words) or len(numbers) != len(shape):
        example = ",".join("0" * len(shape))
        given = f"'{name}[{example}]'" if option.startswith("--column") else example
        hint = f"for example {option.split(maxsplit=1)[0]} {given}" if shape else "it needs no index"
        message = f"{option}: {name} has shape {shape}, and its index is a number for each axis"
        raise GradcliError("option", message, hint=hint)
    if not all(-n <= number < n for number, n in zip(numbers, shape, strict=True)):
        last = ",".join(str(n - 1) for n in shape)
        ends = f"the last entry is {last}" if all(shape) else None
        raise GradcliError("option", f"{option}: {name} has shape {shape}, and no entry there", hint=ends)
    return tuple(number % n for number, n in zip(numbers, shape, strict=True))


def shown(index: tuple[int, ...]) -> str:
    """Return an index in brackets, nothing for that of a number."""
    return f"[{','.join(map(str, index))}]" if index else ""
