"""The code of a Jupyter notebook: its cells in order, without what they printed."""

from __future__ import annotations

import json
from itertools import accumulate

from gradcli.errors import GradcliError

MOST_CELLS = 10_000


def code_cells(text: str, path: str) -> list[str]:
    """Return the texts of a notebook's cells of code, those of other languages empty; raises ``file`` for another."""
    try:
        document = json.loads(text)
        cells = document["cells"] if "cells" in document else document["worksheets"][0]["cells"]
        code = [cell.get("source", cell.get("input", "")) for cell in cells if cell["cell_type"] == "code"]
        found = [part if isinstance(part, str) else "".join(part) for part in code[:MOST_CELLS]]
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
        raise GradcliError("file", f"{path} is no notebook: its JSON has no cells") from None
    return [without_others(cell.rstrip("\n")) for cell in found]


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
