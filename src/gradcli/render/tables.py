"""The answer as tables and lines, in the order in which a first-time reader asks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from gradcli.render.jacobians import jacobian_lines
from gradcli.render.more import more_line
from gradcli.render.sections import sections_above, sections_below, shape_lines
from gradcli.render.wrap import fold, plain_text

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.render.glyphs import Layout, Section


def tables(found: Explained, layout: Layout) -> Text:
    """Return the whole answer: shapes, forward, the tables of J, sums, the chain rule, v, notes, what shows more.

    No line is longer than the layout's width, but for one name or number that cannot be broken.
    """
    parts = [
        *top(found, layout),
        *drawn(sections_above(found, layout), layout),
        *jacobian_lines(found, layout),
        *drawn(sections_below(found, layout), layout),
        Text(),
        *fold(more_line(found, layout), layout.width, " "),
    ]
    return Text("\n").join(parts)


def picture(found: Explained, layout: Layout) -> Text:
    """Return y and J alone, with v left open: for a v that is still to be chosen."""
    return Text("\n").join([*top(found, layout), *jacobian_lines(found, layout, asks=True)])


def top(found: Explained, layout: Layout) -> list[Text]:
    """Return the program and the shapes of its values."""
    return [piece for line in shape_lines(found) for piece in fold(plain_text(line, layout.glyphs), layout.width, " ")]


def drawn(told: Iterable[Section], layout: Layout) -> Iterator[Text]:
    """Yield titled blocks of lines, folded where they are texts; nothing for a block without lines."""
    for section in told:
        if not section.lines:
            continue
        yield from (Text(), *fold(Text(section.title, "bold"), layout.width, " "))
        for line in section.lines:
            yield from [line] if isinstance(line, Text) else fold(plain_text(line, layout.glyphs), layout.width)
