"""An answer in blocks, each a title over lines or tables, in the order of the terminal: for formats with their own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from textwrap import dedent
from typing import TYPE_CHECKING

from gradcli.render.grid import Table
from gradcli.render.jacobians import jacobian_parts
from gradcli.render.panels import sections_above, sections_below, shape_lines

if TYPE_CHECKING:
    from rich.text import Text

    from gradcli.explanation.explained import Explained
    from gradcli.render.glyphs import Layout, Section


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
    if found.timeline is not None:
        from gradcli.render.timeline import timeline_section  # a formula has none

        yield from filter(holds, [block_of(timeline_section(found.timeline, layout))])
    yield Block("", [shape_lines(found)])
    for block in (
        *map(block_of, sections_above(found, layout)),
        Block("", together(jacobian_parts(found, layout))),
        *map(block_of, sections_below(found, layout)),
    ):
        if holds(block):
            yield block


def holds(block: Block) -> bool:
    """Return whether a block has something in it."""
    return bool(block.parts)


def block_of(section: Section) -> Block:
    """Return the lines of a section without their colours, as a block; without parts where there are none."""
    plain = [line if isinstance(line, str) else line.plain.rstrip() for line in section.lines]
    return Block(section.title, [dedent("\n".join(plain)).split("\n")] if plain else [], section.prose)


def together(parts: Iterable[Table | Text]) -> list[list[str] | Table]:
    """Return tables, and the lines between two of them in one piece."""
    found: list[list[str] | Table] = []
    lines: list[str] = []
    for part in parts:
        if isinstance(part, Table):
            found.append(part)
            lines = []
        elif text := part.plain.strip():
            if not lines:
                found.append(lines)
            lines.append(text)
    return found
