"""Mathematics as it stands on paper, in LaTeX or in a session: what was meant, and how it is written here.

Nothing here is part of the language. It words the hint of a text that was refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from gradcli.errors import Span


class Meant(NamedTuple):
    """What is wrong with a text, the characters at fault, and what to write."""

    message: str
    span: Span
    hint: str


Word = Callable[[re.Match[str]], str]
_WORDS = (
    r"if|else|elif|for|while|in|and|or|not|is|def|return|import|from|with|as|lambda|print|del|class|None|True|False"
)
"""Words of Python, which no product and no call leaves out a sign beside."""
_NAME = rf"(?!(?:{_WORDS})\b)[A-Za-z_]\w*"
_OPERAND = rf"(?:{_NAME}(?:\[[^\]]*\])?|\d[\w.]*)"
_ITSELF = "write the function alone: gradcli takes its derivative"

PATTERNS: tuple[tuple[str, str, str], ...] = (
    (r"^\s*(?:gradcli\s+)?(?:(?:explain|grad|check)\s+)?['\"]?(.+?)['\"]?\s+(--[A-Za-z]\w*(?:=|\s+\S).*)$",
     "options are no part of the program", "write '{1}' {2}, with quotes around the program alone"),
    (r"^\s*gradcli\s+(?:(?:explain|grad|check)\s+)?(\S.*)$", "gradcli is no part of the program", "write {1}"),
    (r"^\s*(>>>|\.\.\.|In \[\d+\]:|Out\[\d+\]:)", "{1} is the prompt of a session, and no part of the program",
     "leave it out"),
    (r"\\(?:frac|left|right|cdot|sum|int|partial|mathrm|text)\b|\\[,;!]", "this is LaTeX",
     "write a/b for a fraction, and * between factors"),
    (r"\\([A-Za-z]+)", "this is LaTeX", "write {1} without the backslash, and its argument in brackets"),
    (r"\$([A-Za-z_]\w*)", "'$' begins a variable of the shell, and of LaTeX", "write {1}, in single quotes"),
    (r"\|\|([^|]+)\|\|", "bars are no brackets", "write norm({1})"),
    (r"\|(?!\|)([^|]+)\|", "bars are no brackets", "write abs({1})"),
    (r"‖([^‖]+)‖", "bars are no brackets", "write norm({1})"),
    (r"^\s*[A-Za-z_]\w*\(\s*[A-Za-z_][\w\s,]*\)\s*:?=(?!=)\s*(.+?)\s*$", "a function is its value alone here",
     "write {1}"),
    (r"\bfunction\b.*?\{\s*return\s+([^;{}]+?)\s*;?\s*\}", "a function is its value alone here", "write {1}"),
    (r"^\s*(?:let|var|const|double|float|int|auto|val|my|set)\s+([A-Za-z_]\w*\s*=(?!=).*?);?\s*$",
     "a variable is not declared", "write {1}"),
    (r"^\s*([A-Za-z_]\w*)\s*(?::=|<-|\u2190)\s*(.+?)\s*$", "= assigns", "write {1} = {2}"),
    (r"([A-Za-z_]\w*)(\+\+|--)\s*;?\s*$", "there is no {2}", "write {1} = {1} + 1, or {1} - 1"),
    (r"^\s*if\s+(.+?):\s*(\S.*?)\s*;?\s*\belse\b:?\s*(.+?)\s*$", "a choice in one line has its value first",
     "write {2} if {1} else {3}"),
    (r"^(?!.*\belse\b)\s*(.*[\w)\]])\s+(?:if|for|when|,)\s+([^=]+[<>][^=]+?|.+(?:==|!=|<=|>=).+?)\s*$",
     "a choice has two values", "write {1} if {2} else 0"),
    (r"^\s*([^=]*[-+*/()\]\d][^=]*?)\s*=(?!=)\s*([A-Za-z_]\w*)\s*$", "the name stands on the left of =",
     "write {2} = {1}"),
    (r"^\s*(?:lambda\s+)?\(?[A-Za-z_][\w\s,]*\)?\s*(?:->|=>|\|->|↦|→|⟼)\s*(.+?)\s*$",
     "a function is its value alone here", "write {1}"),
    (r"(?<![\w.])(?:d|∂)(?:\^?\d)?\w*\s*/\s*(?:d|∂)([A-Za-z]\w*)\b", "a derivative is what gradcli shows", _ITSELF),
    (r"∫|∇|∂", "gradcli takes the derivative itself", "write the function alone"),
    (r"(?<=[\w)\]])\s+d([a-z])\s*$", "d{1} is no part of a function", "leave it out"),
    (rf"({_NAME})('+)(?=\s*(?:$|[-+*/=(]))", "{1}{2} is a derivative, which is what gradcli shows",
     "write the function itself"),
    (r"\blambda\b(?!\s*[\w\s,*=]*:)", "lambda is a word of Python, and no name", "call the variable lam"),
    (r"(?<=[\w)\]])!(?!=)", "there is no factorial", "write exp(lgamma(n + 1)) for n!"),
    (r"(?<=[\w)\]])\s*(?:\^|\*\*)\s*T\b", "T is no power", "write .T"),
    (r"=<", "at most is written <=", "write <="),
    (r"<>", "unequal is written !=", "write !="),
    (r"(?<![\w.])0+([1-9]\d*)(?![\w.])", "a number does not begin with 0", "write {1}"),
    (r"(?<![\w.])(0[xX](?![\da-fA-F]+\b(?!\.))[\w.]*|0[oO](?![0-7]+\b)\w*|0[bB](?![01]+\b)\w*|\d+(?:_\d+)*_(?!\d)\w*"
     r"|\d[\d.]*[eE][-+]?\d+[eE]\w*)", "{1} is no number", "write 1000 or 1_000, 1e-3, 0x1F, 0b101 or 0o17"),
    (rf"(?<![\w.])(?!0[xXoObB]\w)(\d+(?:_\d+)*(?:\.\d*)?(?:[eE][-+]?\d+)?)\s*({_NAME})",
     "a product needs its sign", "write * to multiply: {1}*{2}"),
)  # fmt: skip
"""What stands in a text, what is wrong with it, and what to write, with the groups of the pattern."""
COMPILED = tuple((re.compile(pattern), message, hint) for pattern, message, hint in PATTERNS)

GREEK = {"σ": "sigmoid(...), or sigma for a variable", "Σ": "sum(...)", "Π": "prod(...)", "λ": "lam", "π": "pi"}
SIGNS = {
    **dict.fromkeys("÷∕⁄", "/"),
    **dict.fromkeys("×·⋅∙•∗∘", "*"),
    **dict.fromkeys("−‐‑‒–—", "-"),
    **{sign: f"**{power}" for power, sign in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
    **dict.fromkeys("“”„‟‘’‚‛«»", ""),
    **{sign: f"[{place}] for an entry, _{place} in a name" for place, sign in enumerate("₀₁₂₃₄₅₆₇₈₉")},
    **dict.fromkeys("∂∇∫′", "the function alone"),
    **dict.fromkeys("→↦", "the value alone"),
    "ᵀ": ".T",
    "⊤": ".T",
    "⁻": "**-1 for the power -1",
    "⊙": "*, which works entry by entry",
    "√": "sqrt(...)",
    "∛": "cbrt(...)",
    "∑": "sum(...)",
    "∏": "prod(...)",
    "‖": "norm(...)",
    "≤": "<=",
    "≥": ">=",
    "≠": "!=",
    "≈": "==, or abs(a - b) < 1e-6",
    "∈": "where(...), or clip(...)",
    "∞": "inf",
    "½": "0.5",
    "¼": "0.25",
    "¾": "0.75",
    "°": "*pi/180 after an angle in degrees",
    "±": "one of + and -",
    "…": "all that it stands for",
}
"""What stands for a character that is not ASCII; empty where it is left out."""


def meant(text: str, line: Span, functions: Callable[[str], bool]) -> Meant | None:
    """Return what a text that cannot be parsed may have meant on the line at fault; None where nothing is known.

    ``functions`` tells whether a name is one of a function.
    """
    start, end = line
    if is_english(text[start:end]):
        return Meant("this is a question in English, and no formula", line, QUESTION)
    for pattern, message, hint in COMPILED:
        found = pattern.search(text[start:end])
        if found:
            return Meant(filled(message, found), shifted(found, start), filled(hint, found))
    return side_by_side(text, line, functions)


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


def side_by_side(text: str, line: Span, functions: Callable[[str], bool]) -> Meant | None:
    """Return what two words with nothing between them mean: a call where the first is a function, else a product."""
    for found in re.finditer(rf"(?<![\w.])({_NAME})\s+(?=({_OPERAND}))", text[slice(*line)]):
        span = (line[0] + found.start(), line[0] + found.end(2))
        if functions(found[1]):
            return Meant("a function is called with brackets", span, f"write {found[1]}({found[2]})")
        return Meant("a product needs its sign", span, f"write * to multiply: {found[1]}*{found[2]}")
    return None


def filled(words: str, found: re.Match[str]) -> str:
    """Return a message with the groups of a match in it."""
    return re.sub(r"\{(\d)\}", lambda number: found[int(number[1])] or "", words)


def shifted(found: re.Match[str], by: int) -> Span:
    """Return the span of a match without the blanks before it."""
    blanks = len(found[0]) - len(found[0].lstrip())
    return (by + found.start() + blanks, by + found.end())


def instead_of(character: str) -> str | None:
    """Return what to do about a character that is not ASCII; None where nothing is known.

    A Greek letter is spelled out, and what looks like a character of ASCII, as in full width, is that.
    """
    import unicodedata  # an error alone needs it

    known = SIGNS.get(character, GREEK.get(character))
    if known is not None:
        return f"write {known}" if known else "leave it out"
    name = unicodedata.name(character, "")
    if name.startswith("GREEK ") and " LETTER " in name:
        return f"write {spelled(character)}"
    plain = unicodedata.normalize("NFKC", character)
    if plain != character and plain.isascii() and plain.strip():
        return f"write {plain}"
    return "write a blank" if character.isspace() else "leave it out" if name.startswith("ZERO WIDTH") else None


def spelled(name: str) -> str:
    """Return a name in ASCII: Greek letters spelled out, others without their accents."""
    import unicodedata

    def plain(character: str) -> str:
        called = unicodedata.name(character, "")
        if called.startswith("GREEK ") and " LETTER " in called:
            word = called.rpartition(" LETTER ")[2].split()[0].lower()
            return "lam" if word == "lamda" else word
        return unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode() or "_"

    return "".join(map(plain, name))
