"""From text to a syntax tree: what can be refused before Python's parser sees it is refused here."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from gradcli.errors import Budget, GradcliError, Place, Span, over_budget
from gradcli.ops import spellings

if TYPE_CHECKING:
    from gradcli.language.misread import Meant

_COMMENT = r"""(?sx)
    (?P<quotes>\"{3}|'{3}) (?:[^\\]|\\.)*? (?:(?P=quotes)|\Z)
    | "(?:[^"\\\n]|\\.)*"? | '(?:[^'\\\n]|\\.)*'?
    | (?P<comment>\#[^\n\r]*)
"""
"""A comment, or a text in quotes, which may hold a #."""
_FORBIDDEN = re.compile(r"[^ -~\n\t]")
_BRACKET = re.compile(r"[()\[\]{}]")
_NUMBER = re.compile(r"0[bBoOxX][\da-fA-F_]+|\d[\d_]*")


def character_name(character: str) -> str:
    """Return how to call a character that not every terminal can show: its code point and its Unicode name."""
    import unicodedata

    name = unicodedata.name(character, "")
    code = f"U+{ord(character):04X}" + (f" {name}" if name else "")
    return f"'{character}', {code}" if character.isprintable() else code


def refuse_characters(text: str, what: str = "the program") -> None:
    """Refuse control characters and anything outside ASCII, by the name of the code point."""
    match = _FORBIDDEN.search(text)
    if match is None:
        return
    character = match[0]
    if character < " " or "\x7f" <= character < "\xa0":
        name = character_name(character)
        raise GradcliError("character", f"{what} holds a control character, {name}", span=match.span())
    from gradcli.language.misread import ascii_for  # an error alone needs it

    raise GradcliError(
        "character",
        f"{what} may hold ASCII characters only, not {character_name(character)}",
        span=match.span(),
        hint=ascii_for(character),
    )


def refuse_depth(text: str, budget: Budget) -> None:
    """Refuse brackets nested deeper than the budget, and numbers with too many digits."""
    depth = 0
    for bracket in _BRACKET.finditer(text):
        depth += 1 if bracket[0] in "([{" else -1
        if depth > budget.depth:
            raise over_budget("depth", budget.depth, "brackets are nested", bracket.span())
    for number in _NUMBER.finditer(text):
        if len(number[0]) > budget.digits:
            raise over_budget("digits", budget.digits, "a number has too many digits", number.span())


def with_comments(text: str, written: Callable[[str], str]) -> str:
    """Return a program with its comments written otherwise, in as many characters."""
    if "#" not in text:
        return text
    return re.sub(_COMMENT, lambda match: written(match[0]) if match["comment"] else match[0], text)


def empty_comment(comment: str) -> str:
    """Return an empty comment of the same length."""
    return "#" + " " * (len(comment) - 1)


def printable(comment: str) -> str:
    """Return a comment with ``?`` for what a terminal might obey."""
    return "".join(c if c.isprintable() or c == "\t" else "?" for c in comment)


def parse(text: str, budget: Budget, any_quotes: bool = False) -> tuple[ast.Module, Place]:
    """Return the syntax tree of a program and the text that its columns count in.

    ``any_quotes`` lets texts between quotes hold any character. Raises ``character``, ``budget`` or ``syntax``, each
    with its place.
    """
    clean = with_comments(textwrap.dedent(text.replace("\r\n", "\n")).strip(" \n"), printable)
    place = Place(clean)
    try:
        if len(text) > budget.text:
            raise over_budget("text", budget.text, "the program has too many characters")
        code = with_comments(clean, empty_comment)
        if any_quotes:
            code = re.sub(_COMMENT, lambda match: match[0] if match["comment"] else _FORBIDDEN.sub("?", match[0]), code)
        refuse_characters(code)
        refuse_depth(code, budget)
        tree = python_tree(code, "program", "split it into several assignments")
    except GradcliError as error:
        raise error.at(error.span, place) from None
    if not tree.body:
        raise GradcliError("syntax", "the program is empty", hint="for example: gradcli explain 'x**2' --x 3")
    return tree, place


def python_tree(text: str, what: str, hint: str | None = None) -> ast.Module:
    """Return what Python's parser makes of a text; raises ``syntax``, and ``budget`` for one nested too deeply."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text, filename="")
    except SyntaxError as error:
        raise syntax_error(error, text) from None
    except (RecursionError, MemoryError, ValueError):
        what = f"the {what} is nested too deeply"
        raise GradcliError("budget", what, hint=hint, span=longest_line(text)) from None


def longest_line(text: str) -> Span:
    """Return the longest line of a text that is nested too deeply, the likeliest to be so."""
    line = max(text.split("\n"), key=len)
    start = text.index(line)
    return start, start + len(line)


def syntax_error(error: SyntaxError, text: str) -> GradcliError:
    """Return what is wrong with a text that Python's parser refuses, and what it may have meant."""
    from gradcli.language.misread import reported  # an error alone needs it

    span = _error_span(error, text)
    guess = reported(text) or on_paper(text, span)
    if guess is not None:
        return GradcliError("syntax", guess.message, span=guess.span, hint=guess.hint)
    hint = "write 'a if condition else b', or where(condition, a, b)" if "?" in text else None
    if hint is None and ("&&" in text or "||" in text):
        hint = "write 'and' and 'or'"
    return GradcliError("syntax", _message(error, text, span), span=span, hint=hint)


LONGEST_LINE = 2_000
"""Characters of a line whose mathematics is looked into: some patterns take time with the square of it."""


def on_paper(text: str, span: Span | None) -> Meant | None:
    """Return what the line of an error may have meant, as mathematics on paper."""
    from gradcli.language.misread import meant  # an error alone needs it

    at = len(text) if span is None else min(span[0], len(text))
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    line = (start, len(text) if end < 0 else end)
    if line[1] - line[0] > LONGEST_LINE:
        return None
    return meant(text, line, spellings().__contains__)


def _message(error: SyntaxError, text: str, span: Span | None) -> str:
    if "never closed" in error.msg or "unmatched" in error.msg or "does not match" in error.msg:
        return error.msg
    if "indent" in error.msg:
        return f"{error.msg}: indent the body of a loop or branch by four spaces"
    at_end = (span or (len(text), 0))[0] >= len(text.rstrip())
    return "the program ends too early" if at_end else "this is not an expression or statement"


def _error_span(error: SyntaxError, text: str) -> Span | None:
    if error.lineno is None or error.offset is None:
        return None
    starts = line_starts(text)
    if error.lineno > len(starts):
        return (len(text), len(text))
    start = min(starts[error.lineno - 1] + max(error.offset - 1, 0), len(text))
    return (start, min(start + 1, len(text)))


def line_starts(text: str) -> list[int]:
    """Return the offset of the first character of each line."""
    return [0, *(place + 1 for place, character in enumerate(text) if character == "\n")]


def assigned(statement: ast.AST) -> Iterator[tuple[ast.Name, ast.expr | None]]:
    """Yield the variables that a statement itself assigns, each with the expression that says what, None for a part."""
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    targets = [statement.target] if isinstance(statement, ast.AugAssign | ast.For) else targets
    value = statement.value if isinstance(statement, ast.Assign) else None
    for target in targets:
        if not isinstance(target, ast.Tuple | ast.List):
            pairs = [(target, target if isinstance(statement, ast.AugAssign) else value)]
        else:
            parts = value.elts if isinstance(value, ast.Tuple | ast.List) else [None] * len(target.elts)
            pairs = list(zip(target.elts, parts, strict=False))
        yield from ((item, part) for item, part in pairs if isinstance(item, ast.Name))


class Spans:
    """Turns the places of syntax nodes, which Python counts in bytes, into characters of the text."""

    def __init__(self, text: str) -> None:
        self.starts = line_starts(text)
        self.lines = text.split("\n")

    def of(self, node: ast.AST) -> Span:
        """Return the characters that a node covers."""
        first = self.at(node.lineno, node.col_offset)  # type: ignore[attr-defined]
        return first, self.at(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def at(self, line: int, column: int) -> int:
        """Return the place of a byte of a line."""
        row = self.lines[line - 1]
        return self.starts[line - 1] + (column if row.isascii() else len(row.encode()[:column].decode(errors="ignore")))
