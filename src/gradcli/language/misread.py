"""Mathematics as it stands on paper, in LaTeX or in a session: what was meant, and how it is written here.

Values that cannot be read, as they stand in prints, sheets and prose: what was meant, and how it is written here.
Nothing here is part of the language. It words the hint of a value that was refused.
Errors of PyTorch that are pasted in place of the program that raised them: what each means, and what to try.
Nothing here is part of the language. It words the hint of a text that was refused.
Names of arguments: what PyTorch and NumPy call a parameter. Imported where a call uses another name than ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from typing import NamedTuple

from gradcli.errors import GradcliError, Span


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


# ---- Values that cannot be read, as they stand in prints, sheets and prose: what was meant, and how it is

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


def meant_value(text: str, error: GradcliError) -> GradcliError:
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


# ---- Errors of PyTorch that are pasted in place of the program that raised them: what each means, and wha


class Reported(NamedTuple):
    """Where the message of an error stands in a text, what it means, and what to do."""

    span: Span
    meaning: str
    way: str


SNIPPET = "paste the lines that raised it, as they stand: gradcli explain script.py"
MEANINGS: tuple[tuple[str, str, str], ...] = (
    ("grad can be implicitly created only for scalar outputs",
     "y has several entries, and backward() was given no v: a weight for each entry of y",
     "gradcli explain 'x**2' --x 1.,2. --v 1,1 shows J and what v does to it"),
    ("does not require grad and does not have a grad_fn",
     "no input of what backward was called on has requires_grad=True, or it was detached on the way",
     SNIPPET),
    ("Trying to backward through the graph a second time",
     "a first backward has freed what the second one needs",
     "give both as --v V1 --v V2; in PyTorch the first one takes retain_graph=True"),
    ("has been modified by an inplace operation",
     "a value that backward reads was written to after it was used",
     SNIPPET),
    ("view of a leaf Variable that requires grad is being used in an in-place operation",
     "an entry of an input is written to in place",
     "write to a copy: y = x.clone()"),
    ("leaf Variable that requires grad is being used in an in-place operation",
     "an input is written to in place",
     "write x = x + 1 for x += 1, or change it under torch.no_grad()"),
    ("Mismatch in shape: grad_output",
     "v has another shape than y",
     "v has an entry for each entry of y: gradcli explain 'x**2' --x 1.,2. --v 1,1"),
    ("Tensors of floating point",
     "a tensor of integers has no gradient",
     "write 1. for 1 in the tensor, or dtype=torch.float32"),
    ("appears to not have been used in the graph",
     "y does not depend on one of the tensors that it is differentiated by",
     SNIPPET),
    ("attribute of a Tensor that is not a leaf Tensor is being accessed",
     ".grad is kept for inputs alone, unless retain_grad() asks for it",
     "gradcli shows the gradient of every value, under Backward"),
    ("Can't call numpy() on Tensor that requires grad",
     "NumPy knows nothing of gradients",
     "write x.detach().numpy()"),
    ("a Tensor with {} elements cannot be converted to Scalar",
     "one number is needed, and the tensor has several",
     "pick an entry, x[0], or reduce it, x.sum()"),
    ("shapes cannot be multiplied",
     "the inner sizes of a product of matrices differ: (n, m) @ (m, k)",
     SNIPPET),
    ("The size of tensor a ({}) must match the size of tensor b ({})",
     "the shapes do not go together: sizes are equal, or one of them is 1",
     SNIPPET),
    ("expected scalar type",
     "the tensors have numbers of different types",
     "gradcli has float64 alone: the same lines run here, and x.float() makes them run there"),
)  # fmt: skip
"""What a message of PyTorch holds, what it means, and what to do."""


def reported(text: str) -> Reported | None:
    """Return what a text says that holds a message of PyTorch; None for any other text."""
    for message, meaning, way in MEANINGS:
        found = re.search(re.escape(message).replace(r"\{\}", r"\d+"), text, re.IGNORECASE)
        if found:
            return Reported(found.span(), meaning, way)
    return None


# ---- Names of arguments: what PyTorch and NumPy call a parameter. Imported where a call uses another name

ALIASES = {
    "axis": ("dim", "axes", "dims"),
    "axis1": ("dim1", "dim0"),
    "axis2": ("dim2", "dim1"),
    "axis0": ("dim0",),
    "arr": ("x",),
    "ary": ("x",),
    "array": ("x",),
    "tensor": ("x", "other"),
    "dimension": ("dim",),
    "chunk_size": ("split_size_or_sections",),
    "split_sizes": ("split_size_or_sections",),
    "split_size": ("split_size_or_sections",),
    "indices": ("index", "indices_or_sections"),
    "sections": ("indices_or_sections",),
    "v": ("values", "x"),
    "src": ("source",),
    "bins": ("boundaries",),
    "axes": ("dims", "dim"),
    "dims": ("dim", "shape", "reps"),
    "dim": ("dims",),
    "keepdims": ("keepdim",),
    "input": ("x", "A", "values"),
    "A": ("x",),
    "a": ("x", "A", "data", "sorted_sequence"),
    "a1": ("x",),
    "a2": ("other",),
    "b": ("other", "B"),
    "m": ("x",),
    "mat2": ("other",),
    "vec": ("other",),
    "vec2": ("other",),
    "values": ("other",),
    "dividend": ("x",),
    "divisor": ("other",),
    "equation": ("spec",),
    "tup": ("tensors",),
    "object": ("data",),
    "prototype": ("x",),
    "self": ("x",),
    "y": ("other",),
    "exponent": ("other",),
    "ord": ("p",),
    "p": ("ord",),
    "k": ("diagonal", "offset"),
    "ddof": ("correction",),
    "a_min": ("min",),
    "a_max": ("max",),
    "size": ("shape",),
    "arrays": ("tensors",),
    "newshape": ("shape",),
    "mask": ("condition",),
    "stop": ("end",),
    "num": ("steps",),
    "N": ("n",),
    "M": ("m",),
    "shift": ("shifts",),
    "operands": ("tensors",),
}
"""Parameters that a keyword may mean, by what PyTorch or NumPy call it."""


def keyword_name(written: str | None, known: Container[str], bound: Container[str] = ()) -> str | None:
    """Return the parameter that a keyword means under the names of numpy and PyTorch, of several one that is free."""
    found = [name for name in ALIASES.get(written or "", ()) if name in known]
    return next((name for name in found if name not in bound), found[0] if found else None)
