"""Values that cannot be read, as they stand in prints, sheets and prose: what was meant, and how it is written here.

Nothing here is part of the language. It words the hint of a value that was refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from gradcli.errors import GradcliError
from gradcli.language.paper import filled

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_FINITE = "every entry is a finite number"
_DECIMAL = "the decimal point is a point, and digits are not grouped: write 1234.5"


def with_commas(printed: str) -> str:
    """Return an array as NumPy or PyTorch prints it, as a list.

    >>> with_commas("[[1. 2.] [3. 4.]]")
    '[[1., 2.], [3., 4.]]'
    """
    parted = re.sub(r"(?<=[\d.\]])[\s,]+(?=[-+.\d\[])", ", ", printed)
    return re.sub(r"\[\s+|\s+\]", lambda found: found[0].strip(), parted)


def counted_up(found: re.Match[str]) -> str:
    """Return the call that makes the numbers of a range: ``1:5`` ends before its end, ``1..5`` with it."""
    first, last = int(found[1]), int(found[3])
    return f"write arange({first}, {last if found[2] == ':' else last + 1})"


def rows_of(found: re.Match[str]) -> str:
    """Return a matrix in brackets with ``;`` between its rows, as MATLAB writes it, without the brackets."""
    rows = [re.sub(r"[\s,]+", ",", row.strip()) for row in found[1].split(";")]
    return f"write {';'.join(rows)}"


Words = str | Callable[[re.Match[str]], str]
FORMS: tuple[tuple[str, str, Words], ...] = (
    (rf"(?:Parameter containing:\s*)?(?:\w+\.)*(tensor|[Aa]rray|Tensor|Variable)\(\s*({_NUMBER}|\[[-+\d.,eE\s\[\]]*\])"
     r"\s*(?:,.*)?\)",
     "{1}(...) stands around the numbers, as it is printed", lambda found: f"write {with_commas(found[2])}"),
    (r"(?=.*[\d.\]]\s+[-+.\d\[])(\[(?:[-+\d.,eE\s]|\[[-+\d.,eE\s]*\])*\])", "numbers need commas between them",
     lambda found: f"write {with_commas(found[1])}"),
    (r"\[([-+\d.,eE\s;]*;[-+\d.,eE\s;]*)\]", "; parts rows outside of brackets", rows_of),
    (r"\[[^\[\]]*", "'[' is never closed", "write {0}]"),
    (r"(\[[^\[\]]*\])\]+", "']' closes nothing", "write {1}"),
    (r"(.*[\d.\])])\s*;", "", "write {1}"),
    (r"\{([-+\d.,eE\s]*)\}", "braces hold no numbers", "write [{1}]"),
    (r"(?i)[-+]?(?:nan|inf|infinity)|float\(.*\)", "", _FINITE),
    (r"True|False|true|false", "{0} is a truth value, and no number", "write 1 or 0"),
    (r"(-?\d{1,9})(:|\.\.\.?)(-?\d{1,9})", "a range is a call", counted_up),
    (rf"({_NUMBER})\s*%", "there is no sign for percent", "write {1}/100"),
    (rf"[\"']({_NUMBER})[\"']", "", "write {1}"),
    (r"\d{1,3}(?:\.\d{3}){2,}", "{0} is not a number", _DECIMAL),
    (rf"({_NUMBER})\s*(?![jJ]\Z)[A-Za-z]+", "{0} is not a number", "write the number alone: {1}"),
    (r"<\s*(\S+)", "< is for the shell, outside of the quotes", "write @{1} to read a file, or - for standard input"),
    (r"/dev/\S+", "a value is no path", "write - to read standard input, or @FILE"),
    (r"(sum|mean)", "{0} is a function, and no number",
     "as v, ones(2) is y.sum() of two entries, ones(2)/2 is y.mean()"),
    (r"(ones|zeros|eye|arange|linspace|full|rand|randn)", "{0} is a function", "call it: {0}(3)"),
)  # fmt: skip
"""A whole value, what is wrong with it, and what to write, with the groups of the pattern.

What is wrong is empty where the error has said so already.
"""
LONGEST = 2_000
"""Characters of a value that is looked into."""


def meant(text: str, error: GradcliError) -> GradcliError:
    """Return the error of a value that cannot be read with what it may have meant, where that is known."""
    value = text.strip()
    if len(value) > LONGEST or error.kind in ("budget", "character"):
        return error
    for pattern, message, words in FORMS:
        found = re.fullmatch(pattern, value, re.DOTALL)
        if found:
            hint = words if isinstance(words, str) else words(found)
            what = filled(message, found) if message else error.message
            return GradcliError(error.kind, what, span=error.span, hint=filled(hint, found))
    return error
