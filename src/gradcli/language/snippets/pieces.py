"""Pieces of program text that know the place in the user's text that each of their characters stands for."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import dataclass

from gradcli.errors import Span
from gradcli.language.source import Spans, with_comments


@dataclass(frozen=True, slots=True)
class Piece:
    """A text, and for each of its characters a place in the user's text.

    >>> (Source("a + b").cut((0, 1)) + Piece.instead("c", (4, 5))).origins
    (0, 4)
    """

    text: str = ""
    origins: tuple[int, ...] = ()

    @staticmethod
    def instead(text: str, span: Span) -> Piece:
        """Return a text that stands for what the user wrote at ``span``."""
        start, end = span
        return Piece(text, (start, *[max(end - 1, start)] * (len(text) - 1)) if text else ())

    @staticmethod
    def at(text: str, place: int) -> Piece:
        """Return a text that stands for one place."""
        return Piece(text, (place,) * len(text))

    @property
    def place(self) -> int:
        """The place in the user's text that it begins with."""
        return self.origins[0] if self.origins else 0

    def __add__(self, other: Piece) -> Piece:
        return Piece(self.text + other.text, self.origins + other.origins)

    def stripped(self) -> Piece:
        """Return it without blanks before and behind."""
        first = len(self.text) - len(self.text.lstrip())
        last = first + len(self.text.strip())
        return Piece(self.text[first:last], self.origins[first:last])

    def bracketed(self) -> Piece:
        """Return it in brackets, where an operator beside it could take a part."""
        return self if WHOLE.fullmatch(self.text) else self.in_brackets()

    def on_a_line(self) -> Piece:
        """Return it in brackets, where it has several lines."""
        return self.in_brackets() if "\n" in self.text else self

    def in_brackets(self) -> Piece:
        """Return it in brackets."""
        return Piece.at("(", self.place) + self + Piece.at(")", self.origins[-1] if self.origins else 0)

    def indented(self, levels: int) -> Piece:
        """Return a line with so many levels of indentation before it."""
        return Piece.at("    " * levels, self.place) + self


WHOLE = re.compile(r"[\w.]+")
"""A name or a number, of which no operator takes a part."""


def join(pieces: Iterable[Piece], between: str = "") -> Piece:
    """Return pieces one after the other."""
    texts: list[str] = []
    origins: list[int] = []
    for piece in pieces:
        if texts and between:
            texts.append(between)
            origins += [origins[-1] if origins else 0] * len(between)
        texts.append(piece.text)
        origins += piece.origins
    return Piece("".join(texts), tuple(origins))


ELSE = Piece.at("else:", 0)


def heading(word: str, test: Piece) -> Piece:
    """Return the first line of a branch."""
    return join([Piece.at(f"{word} ", test.place), test.on_a_line(), Piece.at(":", test.place)])


def without_gradient(value: Piece) -> Piece:
    """Return a value through which no gradient flows."""
    return value.in_brackets() + Piece.at(".detach()", value.place)


Edit = tuple[Span, Piece]
"""What stands in the place of a span of the user's text."""


class Source:
    """The user's text, from which pieces are cut."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.code = with_comments(text, lambda comment: " " * len(comment))
        self.spans = Spans(text)

    def span(self, node: ast.AST) -> Span:
        """Return the characters that a node covers."""
        return self.spans.of(node)

    def cut(self, span: Span) -> Piece:
        """Return a part of the user's text as it stands."""
        return Piece(self.text[slice(*span)], tuple(range(*span)))

    def of(self, node: ast.AST) -> Piece:
        """Return the text of a node as it stands."""
        return self.cut(self.span(node))

    def after_sign(self, statement: ast.stmt, value: ast.expr) -> Span:
        """Return what stands to the right of ``=`` or ``return``, brackets round it among it."""
        start, end = self.span(statement)
        sign = self.code.rfind("=", start, self.span(value)[0])
        return (sign + 1 if sign >= 0 and not isinstance(statement, ast.Return) else start + len("return"), end)

    def edited(self, span: Span, edits: list[tuple[Span, Piece]]) -> Piece:
        """Return a part of the user's text with parts of it replaced; no two of these overlap."""
        parts, position = [], span[0]
        for (start, end), piece in sorted(edits, key=lambda edit: edit[0]):
            parts += [self.cut((position, start)), piece]
            position = end
        return join([*parts, self.cut((position, span[1]))])


class OriginSpans(Spans):
    """The spans of nodes of a written program, as places in the user's text."""

    def __init__(self, written: Piece) -> None:
        super().__init__(written.text)
        self.origins = written.origins

    def of(self, node: ast.AST) -> Span:
        """Return the part of the user's text that a node stands for."""
        start, end = super().of(node)
        covered = self.origins[start : max(end, start + 1)]
        return min(covered), max(covered) + 1
