"""What tables may take and draw: room, digits, characters in Unicode or in ASCII, and titled blocks of lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from gradcli.records import dataclass

if TYPE_CHECKING:
    from rich.text import Text


@dataclass(frozen=True, slots=True)
class Glyphs:
    """What a table draws beyond letters and digits."""

    zero: str
    rounded_zero: str
    times: str
    partial: str
    product: str
    check: str
    cross: str
    down: str
    dots: str
    by: str
    near: str
    bar: str
    rule: str
    crossing: str
    arrow: str
    unicode: bool


UNICODE = Glyphs(
    zero="·",
    rounded_zero="≈0",
    times="·",
    partial="∂",
    product="vᵀ·J",
    check="✓",
    cross="✗",
    down="⋮",
    dots="…",
    by="×",
    near="≈",
    bar="│",
    rule="─",
    crossing="┼",
    arrow="→",
    unicode=True,
)
ASCII = Glyphs(
    zero=".",
    rounded_zero="~0",
    times="*",
    partial="d",
    product="v*J",
    check="ok",
    cross="NOT EQUAL",
    down=":",
    dots="...",
    by="x",
    near="~=",
    bar="|",
    rule="-",
    crossing="+",
    arrow="->",
    unicode=False,
)


ASCII_FOR = {
    "·": "*", "ᵀ": "", "∂": "d", "×": "x", "…": "...", "≈": "~=", "→": "->", "²": "2", "✓": "ok", "│": "|", "─": "-",
}  # fmt: skip
"""What stands for a character in lines of text on an ASCII terminal."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How much room lines and tables have (the same by default), how many digits are shown, what can be drawn.

    ``full`` asks for everything of a large answer.
    """

    width: int = 80
    table_width: int | None = None
    precision: int = 6
    glyphs: Glyphs = UNICODE
    full: bool = False

    def most(self, count: int) -> int:
        """Return up to how many of something all are shown: ``count`` of them, or any number where all is asked for."""
        return EVERYTHING if self.full else count


EVERYTHING = 10**9
"""More than anything has entries."""


Anchor = Literal["backward", "J", "v"]
"""A part of the answer that views follow: the backward pass, the tables of J, what v did."""


class Section(NamedTuple):
    """A title over lines of text; ``prose`` says that they are sentences, and need not keep their columns."""

    title: str
    lines: Sequence[str | Text]
    prose: bool = False
