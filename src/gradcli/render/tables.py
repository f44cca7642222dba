"""The answer as tables and lines, in the order in which a first-time reader asks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np
from rich.console import Console
from rich.text import Text

from gradcli.render.jacobians import jacobian_lines
from gradcli.render.labels import relabel
from gradcli.render.numbers import MOST_PRECISE, short
from gradcli.render.panels import sections_above, sections_below, shape_lines
from gradcli.render.wrap import fold, plain_text

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.render.glyphs import Layout, Section


class QuietConsole(Console):
    """A console that leaves a closed pipe to the caller: rich would end the process with 1."""

    def on_broken_pipe(self) -> None:
        """Raise again, so that the command line can end with 0."""
        raise BrokenPipeError


def console(stream: IO[str]) -> Console:
    """Return a console that colours what it writes to ``stream``, and reads nothing in it as markup."""
    make = partial(
        QuietConsole, file=stream, markup=False, emoji=False, highlight=False, force_terminal=True, no_color=False,
        legacy_windows=False,
    )  # fmt: skip
    found = make()
    return found if found.color_system else make(color_system="standard")  # TERM=dumb has none that rich would use


PAINTED = ((r"^error:", "bold red"), (r"^warning:", "bold yellow"), (r"^help:", "bold green"),
    (r"^ *\S* \|", "blue"), (r"(?<=\| ) *\^+$", "bold red"))  # fmt: skip


def painted(diagnostic: str) -> Text:
    """Return an error with its words, its margin and its caret in colours."""
    text = Text(diagnostic)
    for pattern, style in PAINTED:
        text.highlight_regex(re.compile(pattern, re.MULTILINE), style)
    return text


def plain_lines(text: Text) -> str:
    """Return lines without their colours, none with blanks at its end."""
    return "\n".join(line.rstrip() for line in text.plain.split("\n")) + "\n"


class Option(NamedTuple):
    """Words of the command line, and for which answers they show more."""

    words: str
    helps: Callable[[Explained, Layout], bool]


def is_rounded(found: Explained, layout: Layout) -> bool:
    """Return whether a gradient has more digits than are shown."""
    if layout.precision >= MOST_PRECISE:
        return False
    return any(
        float(short(value, layout.precision)) != value
        for grad in found.grad.values()
        for value in np.ravel(grad)[:100].tolist()
        if np.isfinite(value)
    )


def has_several(found: Explained, _: Layout) -> bool:
    """Return whether y has several entries, and one call of backward was made."""
    return found.output.size > 1 and len(found.backward) == 1


def without(name: str) -> Callable[[Explained, Layout], bool]:
    """Return whether an answer does not show yet what is called so."""
    return lambda found, _: name not in found.views


OPTIONS = [
    Option("--precision 17", is_rounded),
    Option("--v V1 --v V2", has_several),
    Option("--steps", without("steps")),
    Option("--tape", without("tape")),
    Option("--json", lambda *_: True),
    Option("-o page.html", lambda *_: True),
]
"""Options of ``explain``, in the order in which they are offered."""


def more_line(found: Explained, layout: Layout) -> str:
    """Return what to add to the command to see more of this answer."""
    calls = found.timeline.more if found.timeline is not None else []
    return "  ".join(["more:", *calls, *(option.words for option in OPTIONS if option.helps(found, layout))])


def tables(found: Explained, layout: Layout) -> Text:
    """Return the whole answer: shapes, forward, the tables of J, sums, the chain rule, v, notes, what shows more.

    No line is longer than the layout's width, but for one name or number that cannot be broken.
    """
    parts = [
        *script_top(found, layout),
        *top(found, layout),
        *drawn(sections_above(found, layout), layout),
        *jacobian_lines(found, layout),
        *drawn(sections_below(found, layout), layout),
        Text(),
        *fold(more_line(found, layout), layout.width, " "),
    ]
    return relabel(Text("\n").join(parts), found.labels)


def script_top(found: Explained, layout: Layout) -> list[Text]:
    """Return what the script did, above the answer of one of its calls."""
    if found.timeline is None:
        return []
    from gradcli.render.timeline import timeline_section  # a formula has none

    return [*list(drawn([timeline_section(found.timeline, layout)], layout))[1:], Text()]


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
