"""What was meant by a text that is refused: mathematics on paper, printed values, pasted errors, other names.

Nothing here is part of the language. It words the hint of what was refused, and is imported where one is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from gradcli.errors import GradcliError, Span
from gradcli.errors.inert import greek_name


class Meant(NamedTuple):
    """What is wrong with a text, the characters at fault, and what to write."""

    message: str
    span: Span
    hint: str


_WORDS = (
    r"if|else|elif|for|while|in|and|or|not|is|def|return|import|from|with|as|lambda|print|del|class|None|True|False"
)
"""Words of Python, which no product and no call leaves out a sign beside."""
_NAME = rf"(?!(?:{_WORDS})\b)[A-Za-z_]\w*"
_OPERAND = rf"(?:{_NAME}(?:\[[^\]]*\])?|\d[\w.]*)"


@cache
def misreadings() -> dict[str, Any]:
    """Return what texts may have meant, by the tables of ``misread.toml``; patterns are ready to be searched for."""
    import tomllib  # an error alone needs it

    tables = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    for row in tables["pattern"]:
        row["regex"] = re.compile(row["regex"].replace("<OPERAND>", _OPERAND).replace("<NAME>", _NAME))
    return tables


def meant(text: str, line: Span, functions: Callable[[str], bool]) -> Meant | None:
    """Return what a text that cannot be parsed may have meant on the line at fault; None where nothing is known.

    ``functions`` tells whether a name is one of a function.
    """
    start, end = line
    if is_english(text[start:end]):
        return Meant("this is a question in English, and no formula", line, QUESTION)
    for row in misreadings()["pattern"]:
        match = row["regex"].search(text[start:end])
        if match:
            blanks = len(match[0]) - len(match[0].lstrip())
            span = (start + match.start() + blanks, start + match.end())
            return Meant(fill_groups(row["message"], match), span, fill_groups(row["hint"], match))
    return meant_by_words(text, line, functions)


QUESTION = "write the function itself, and its point: gradcli explain 'sum(x**2)' --x 1,2"
ENGLISH = set(
    re.findall(
        r"\w+",
        "a an and are at be by can compute derivative differentiate do does explain find for from give gradient how i "
        "is it jacobian me my of please respect show tell that the this to what when where which why with would you",
    )
)
"""Words of questions about derivatives."""
FEWEST_WORDS = 3


def is_english(line: str) -> bool:
    """Return whether a line is a sentence: three words at least, and most of the first four are those of a question.

    Where there is nothing but words, or a question mark, two of them are enough.
    """
    words = re.findall(r"[A-Za-z']+", line)
    hits = sum(word.lower() in ENGLISH for word in words[:4])
    plain = re.fullmatch(r"[A-Za-z' ]+|.*\?\s*", line) is not None
    return len(words) >= FEWEST_WORDS and hits >= FEWEST_WORDS - plain


def meant_by_words(text: str, line: Span, functions: Callable[[str], bool]) -> Meant | None:
    """Return what two words with nothing between them mean: a call where the first is a function, else a product."""
    for match in re.finditer(rf"(?<![\w.])({_NAME})\s+(?=({_OPERAND}))", text[slice(*line)]):
        span = (line[0] + match.start(), line[0] + match.end(2))
        if functions(match[1]):
            return Meant("a function is called with brackets", span, f"write {match[1]}({match[2]})")
        return Meant("a product needs its sign", span, f"write * to multiply: {match[1]}*{match[2]}")
    return None


def fill_groups(words: str, match: re.Match[str]) -> str:
    """Return a message with the groups of a match in it."""
    return re.sub(r"\{(\d)\}", lambda number: match[int(number[1])] or "", words)


def ascii_for(character: str) -> str | None:
    """Return what to do about a character that is not ASCII; None where nothing is known.

    A Greek letter is spelled out, and what looks like a character of ASCII, as in full width, is that.
    """
    import unicodedata  # an error alone needs it

    written = misreadings()["character"].get(character)
    if written is not None:
        return f"write {written}" if written else "leave it out"
    if greek := greek_name(character):
        return f"write {greek}"
    plain = unicodedata.normalize("NFKC", character)
    if plain != character and plain.isascii() and plain.strip():
        return f"write {plain}"
    is_empty = unicodedata.name(character, "").startswith("ZERO WIDTH")
    return "write a blank" if character.isspace() else "leave it out" if is_empty else None


_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_FINITE = "every entry is a finite number"
_DECIMAL = "the decimal point is a point, and digits are not grouped: write 1234.5"


def with_commas(printed: str) -> str:
    """Return an array as NumPy or PyTorch prints it, as a list.

    >>> with_commas("[[1. 2.] [3. 4.]]")
    '[[1., 2.], [3., 4.]]'
    """
    parted = re.sub(r"(?<=[\d.\]])[\s,]+(?=[-+.\d\[])", ", ", printed)
    return re.sub(r"\[\s+|\s+\]", lambda match: match[0].strip(), parted)


Words = str | Callable[[re.Match[str]], str]
FORMS: tuple[tuple[str, str, Words], ...] = (
    (rf"(?:Parameter containing:\s*)?(?:\w+\.)*(tensor|[Aa]rray|Tensor|Variable)\(\s*({_NUMBER}|\[[-+\d.,eE\s\[\]]*\])"
     r"\s*(?:,.*)?\)",
     "{1}(...) stands around the numbers, as it is printed", lambda match: f"write {with_commas(match[2])}"),
    (r"(?=.*[\d.\]]\s+[-+.\d\[])(\[(?:[-+\d.,eE\s]|\[[-+\d.,eE\s]*\])*\])", "numbers need commas between them",
     lambda match: f"write {with_commas(match[1])}"),
    (r"\[([-+\d.,eE\s;]*;[-+\d.,eE\s;]*)\]", "; parts rows outside of brackets",
     lambda match: "write " + ";".join(re.sub(r"[\s,]+", ",", row.strip()) for row in match[1].split(";"))),
    (r"\[[^\[\]]*", "'[' is never closed", "write {0}]"),
    (r"(\[[^\[\]]*\])\]+", "']' closes nothing", "write {1}"),
    (r"(.*[\d.\])])\s*;", "", "write {1}"),
    (r"\{([-+\d.,eE\s]*)\}", "braces hold no numbers", "write [{1}]"),
    (r"(?i)[-+]?(?:nan|inf|infinity)|float\(.*\)", "", _FINITE),
    (r"True|False|true|false", "{0} is a truth value, and no number", "write 1 or 0"),
    (r"(-?\d{1,9})(:|\.\.\.?)(-?\d{1,9})", "a range is a call",
     lambda match: f"write arange({int(match[1])}, {int(match[3]) + (match[2] != ':')})"),
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


def meant_value(text: str, error: GradcliError) -> GradcliError:
    """Return the error of a value that cannot be read with what it may have meant, where that is known."""
    value = text.strip()
    if len(value) > LONGEST or error.kind in ("budget", "character"):
        return error
    for pattern, message, words in FORMS:
        match = re.fullmatch(pattern, value, re.DOTALL)
        if match:
            hint = words if isinstance(words, str) else words(match)
            what = fill_groups(message, match) if message else error.message
            return GradcliError(error.kind, what, span=error.span, hint=fill_groups(hint, match))
    return error


def reported(text: str) -> Meant | None:
    """Return what a text says that holds a message of PyTorch; None for any other text."""
    for row in misreadings()["pytorch"]:
        match = re.search(re.escape(row["message"]).replace(r"\{\}", r"\d+"), text, re.IGNORECASE)
        if match:
            what = f"this is an error of PyTorch, and no program: {row['meaning']}"
            return Meant(what, match.span(), row["way"])
    return None


ALIASES = {
    "axis": "dim axes dims", "axis1": "dim1 dim0", "axis2": "dim2 dim1", "axis0": "dim0", "arr": "x", "ary": "x",
    "array": "x", "tensor": "x other", "dimension": "dim", "chunk_size": "split_size_or_sections",
    "split_sizes": "split_size_or_sections", "split_size": "split_size_or_sections",
    "indices": "index indices_or_sections", "sections": "indices_or_sections", "v": "values x", "src": "source",
    "bins": "boundaries", "axes": "dims dim", "dims": "dim shape reps", "dim": "dims", "keepdims": "keepdim",
    "input": "x A values", "A": "x", "a": "x A data sorted_sequence", "a1": "x", "a2": "other", "b": "other B",
    "m": "x", "mat2": "other", "vec": "other", "vec2": "other", "values": "other", "dividend": "x", "divisor": "other",
    "equation": "spec", "tup": "tensors", "object": "data", "prototype": "x", "self": "x", "y": "other",
    "exponent": "other", "ord": "p", "p": "ord", "k": "diagonal offset", "ddof": "correction", "a_min": "min",
    "a_max": "max", "size": "shape", "arrays": "tensors", "newshape": "shape", "mask": "condition", "stop": "end",
    "num": "steps", "N": "n", "M": "m", "shift": "shifts", "operands": "tensors",
}  # fmt: skip
"""Parameters that a keyword may mean, by what PyTorch or NumPy call it."""


def keyword_name(written: str | None, parameters: Container[str], bound: Container[str] = ()) -> str | None:
    """Return the parameter that a keyword means under the names of numpy and PyTorch, of several one that is free."""
    names = [name for name in ALIASES.get(written or "", "").split() if name in parameters]
    return next((name for name in names if name not in bound), names[0] if names else None)
