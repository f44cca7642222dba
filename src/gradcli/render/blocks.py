"""An answer in blocks, each a title over lines or tables, in the order of the terminal: for formats with their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from textwrap import dedent
from typing import TYPE_CHECKING

from gradcli.render.backward import TITLE as BACKWARD
from gradcli.render.backward import backward_lines, path_lines, path_titles
from gradcli.render.effects import calls_lines, v_lines
from gradcli.render.forward import forward_lines
from gradcli.render.grid import Table
from gradcli.render.jacobians import jacobian_parts
from gradcli.render.sections import shape_lines
from gradcli.render.sums import sum_lines
from gradcli.render.tables import beside, slice_lines, view_sections

if TYPE_CHECKING:
    from rich.text import Text

    from gradcli.explanation.explained import Explained
    from gradcli.render.glyphs import Layout


@dataclass(frozen=True, slots=True)
class Block:
    """A part of an answer: ``title`` (empty for none) over ``parts``, each lines of text or a table.

    ``prose`` says that the lines are sentences, and need not keep their columns.
    """

    title: str
    parts: list[list[str] | Table]
    prose: bool = False


def blocks(found: Explained, layout: Layout) -> Iterator[Block]:
    """Yield the blocks of an answer that have something in them."""
    yield Block("", [shape_lines(found)])
    for block in (
        of_lines("Forward", forward_lines(found, layout)),
        of_lines(BACKWARD, backward_lines(found, layout)),
        *(of_lines(title, lines) for title, lines in beside(found, layout)),
        Block("", together(jacobian_parts(found, layout))),
        of_lines("Rows and columns of J", slice_lines(found, layout)),
        of_lines("Each sum", sum_lines(found, layout)),
        of_lines(path_titles(found), path_lines(found, layout)),
        of_lines("Calls of backward without zero_grad", calls_lines(found, layout)),
        of_lines("What v did", v_lines(found, layout), prose=True),
        *(of_lines(title, lines) for title, lines in view_sections(found, layout)),
        of_lines("Notes", [note.message for note in found.notes], prose=True),
    ):
        if block.parts:
            yield block


def of_lines(title: str, lines: Iterable[str | Text], prose: bool = False) -> Block:
    """Return a block of lines without their colours; without parts where there are none."""
    plain = [line if isinstance(line, str) else line.plain.rstrip() for line in lines]
    plain = dedent("\n".join(plain)).split("\n") if plain else []
    return Block(title, [plain] if plain else [], prose)


def together(parts: Iterable[Table | Text]) -> list[list[str] | Table]:
    """Return tables, and the lines between two of them in one piece."""
    found: list[list[str] | Table] = []
    for part in parts:
        if isinstance(part, Table):
            found.append(part)
        elif part.plain.strip():
            if not found or isinstance(found[-1], Table):
                found.append([])
            lines = found[-1]
            assert isinstance(lines, list)  # noqa: S101
            lines.append(part.plain.strip())
    return found
