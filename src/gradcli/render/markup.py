r"""The answer in Markdown, for a forum or a notebook, and as HTML for notebooks, without a script.

The answer in LaTeX: equations as mathematics, ``W1 @ x + b1`` as ``W_{1}\,x + b_{1}``; and J as an array.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradcli.document.model import Cell, Derivative, Document, Equation, Equations, Mark, Settings, Side, Table
from gradcli.document.texts import aligned, array_text, short
from gradcli.errors import GradcliError
from gradcli.errors.inert import greek_name
from gradcli.render.layout import fold
from gradcli.render.tables import (
    TONES,
    Drawn,
    Stacked,
    Texts,
    Voice,
    equation_lines,
    fitted,
    side_text,
    written_document,
)

if TYPE_CHECKING:
    from gradcli.document.model import Axes, Document, Remark
    from gradcli.explanation.explained import Explained
    from gradcli.render.layout import Layout


SPECIAL = re.compile(r"[\\`*_\[\]|<>&~$]|^(?:[-+#=]|\d+(?=[.)]))")
"""Signs with a meaning in Markdown, and those that have one where a line begins."""
COLOURS = {
    "magenta": "#b5379e", "cyan": "#0e7c86", "blue": "#3b6fd4", "yellow": "#8f6a00", "green": "#1d7f3c",
    "red": "#c9302c",
}  # fmt: skip
"""Tones that can be read on light and on dark."""
CELL = "padding:.15em .7em;white-space:pre;background:none;font-family:monospace"
BAR = ";border-left:1px solid currentColor"


def markdown(document: Document, layout: Layout) -> str:
    """Return an answer in Markdown, without a final newline: fenced code, and tables with pipes."""
    settings = document.settings
    voice = Voice(
        prose=lambda part: [f"- {escaped(sentence)}" for sentence in part.sentences],
        verbatim=fenced,
        equations=lambda part: fenced(line.plain.rstrip() for line in equation_lines(part, settings, layout.width)),
        table=piped,
        stacked=lambda part: [*(f"- {escaped(text)}" for text, _ in part.rows), *escaped_remarks(part.remarks)],
        title=lambda title: [f"**{escaped(title)}**"],
        between=("",),
    )
    return "\n".join(written_document(document, voice, layout)).rstrip()


def fenced(lines: Iterable[str]) -> list[str]:
    """Return lines between fences that are longer than any run of backticks in them."""
    text = "\n".join(lines)
    fence = "`" * max(3, 1 + longest_run(text))
    return [f"{fence}text", *text.split("\n"), fence]


def longest_run(text: str) -> int:
    """Return the length of the longest run of backticks in a text."""
    return max(map(len, re.findall("`+", text)), default=0)


def piped(table: Drawn) -> list[str]:
    """Return a table with pipes, its numbers to the right, and below it what was said beside it."""
    rows = zip(table.labels, *(column.cells for column in table.columns), strict=True)
    sides = "".join("---:|" if column.numbers else ":---|" for column in table.columns)
    head, *body = (
        f"| {' | '.join(map(code, cells))} |" for cells in (["", *(one.heading for one in table.columns)], *rows)
    )
    return [head, f"|:---|{sides}", *body, *escaped_remarks(table.remarks)]


def escaped_remarks(remarks: Iterable[Remark]) -> Iterator[str]:
    """Yield what is said beside a table."""
    for remark in remarks:
        yield from ("", escaped(remark.text))


def code(text: str) -> str:
    """Return a text as code inside of a line of a table, which a pipe would end."""
    if not text.strip():
        return " "
    fence = "`" * (1 + longest_run(text))
    inside = text.strip().replace("|", "\\|")
    space = " " if "`" in (inside[0], inside[-1]) else ""
    return f"{fence}{space}{inside}{space}{fence}"


def escaped(text: str) -> str:
    """Return a text that Markdown shows as it stands: a backslash before signs, or behind a number where it begins."""
    return SPECIAL.sub(lambda sign: f"{sign[0]}\\" if sign[0].isdigit() else f"\\{sign[0]}", " ".join(text.split()))


def html(document: Document, layout: Layout) -> str:
    """Return an answer as one element of HTML: tables that are tables, with colours by row."""
    settings = document.settings
    voice = Voice(
        prose=lambda part: [paragraph(sentence, part.tone) for sentence in part.sentences],
        verbatim=lambda lines: [pre(lines)],
        equations=lambda part: [pre(line.plain.rstrip() for line in equation_lines(part, settings, layout.width))],
        table=table_html,
        stacked=lambda part: [pre(text for text, _ in part.rows), *remarks_html(part.remarks)],
        title=lambda title: [f'<p style="font-weight:bold;margin:1em 0 .2em">{escape(title)}</p>'],
    )
    inside = "".join(written_document(document, voice, layout))
    return f'<div class="gradcli" style="font-size:1em;line-height:1.45">{inside}</div>'


def paragraph(text: str, tone: str) -> str:
    """Return a sentence in the colour of its tone."""
    return f'<p style="{css(TONES.get(tone, ""))}margin:.1em 0">{escape(text)}</p>'


def remarks_html(remarks: Iterable[Remark]) -> Iterator[str]:
    """Yield what is said beside a table."""
    yield from (paragraph(remark.text, remark.tone) for remark in remarks)


def pre(lines: Iterable[str]) -> str:
    """Return lines that keep their columns."""
    inside = escape("\n".join(lines))
    return f'<pre style="margin:.2em 0;overflow-x:auto;background:none;padding:0">{inside}</pre>' if inside else ""


def table_html(table: Drawn) -> Iterator[str]:
    """Yield a table, each row in its colour and a line at the left of each block, with what is said beside it below."""
    bars = [k == 0 and b > 0 for b, block in enumerate(table.blocks) for k in range(len(block))]
    columns = [
        (column, f"{CELL};text-align:{'right' if column.numbers else 'left'}{BAR if bar else ''}")
        for column, bar in zip(table.columns, bars, strict=True)
    ]
    head = "".join(f'<th scope="col" style="{style}">{escape(column.heading)}</th>' for column, style in columns)
    cells = [aligned(column.cells) if column.numbers else column.cells for column in table.columns]
    rows = []
    for number, (label, tone) in enumerate(zip(table.labels, table.styles, strict=True)):
        line = "border-top:1px solid currentColor;" if number in table.ruled else ""
        inside = "".join(
            f'<td style="{style}">{escape(texts[number])}</td>'
            for texts, (_, style) in zip(cells, columns, strict=True)
        )
        first = f'<th scope="row" style="{CELL};text-align:left">{escape(label)}</th>'
        rows.append(f'<tr style="{line}{css(tone)}background:none">{first}{inside}</tr>')
    has_head = any(column.heading for column in table.columns)
    body = f"{f'<thead><tr><td></td>{head}</tr></thead>' if has_head else ''}<tbody>{''.join(rows)}</tbody>"
    whole = f'<table style="border-collapse:collapse;margin:.4em 0">{body}</table>'
    yield f'<div style="overflow-x:auto">{whole}</div>'
    yield from remarks_html(table.remarks)


def css(style: str) -> str:
    """Return a style of the terminal for the web: ``bold red``."""
    words = style.split()
    bold = "font-weight:bold;" if "bold" in words else ""
    return bold + "".join(f"color:{COLOURS[word]};" for word in words if word in COLOURS)


# ---- the answer in LaTeX

GREEK = frozenset((
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lam", "mu", "nu", "xi",
    "pi", "rho", "sigma", "tau", "phi", "chi", "psi", "omega",
))  # fmt: skip
OPERATORS = ("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh", "max", "min", "det", "arg", "gcd")
OWN = {name: rf"\{name}" for name in OPERATORS}
SIGNS: dict[type[ast.AST], str] = {
    ast.Lt: "<", ast.LtE: r"\le", ast.Gt: ">", ast.GtE: r"\ge", ast.Eq: "=", ast.NotEq: r"\ne",
    ast.BitAnd: r"\wedge", ast.BitOr: r"\vee", ast.BitXor: r"\oplus", ast.And: r"\wedge", ast.Or: r"\vee",
    ast.Add: "+", ast.Sub: "-", ast.Mod: r"\bmod",
}  # fmt: skip
TEXT = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "^": r"\textasciicircum{}", "~": r"\textasciitilde{}", "<": r"\ensuremath{<}", ">": r"\ensuremath{>}",
    "|": r"\ensuremath{|}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}", "-": "{-}", "'": "{'}",
    "∂": r"\ensuremath{\partial}", "ᵀ": r"\ensuremath{^{\top}}", "·": r"\ensuremath{\cdot}",
    "→": r"\ensuremath{\to}", "≈": r"\ensuremath{\approx}", "×": r"\ensuremath{\times}", "…": r"\dots{}",
    "✓": r"\ensuremath{\surd}", "✗": r"\ensuremath{\times}", "⋮": r"\ensuremath{\vdots}", "≤": r"\ensuremath{\le}",
    "≥": r"\ensuremath{\ge}", "≠": r"\ensuremath{\ne}", "─": "{-}", "⁻": r"\ensuremath{^{-}}", "²": r"\ensuremath{^2}",
    "█": r"\rule{.5em}{1.2ex}",
}  # fmt: skip
MODULES = {"torch", "np", "numpy", "jnp", "math", "F", "nn", "linalg", "special", "jax", "scipy"}
"""Names that stand for a library before a function."""
SUM, PRODUCT, POWER, ATOM = 10, 20, 30, 40


class Piece(NamedTuple):
    """A part of a formula, and how tightly it holds together."""

    text: str
    holds: int = ATOM

    def inside(self, least: int) -> str:
        """Return the text, in parentheses where it would fall apart beside something that holds ``least``."""
        return self.text if self.holds >= least else rf"\left({self.text}\right)"


def escaped_in_latex(text: str) -> str:
    """Return a text that LaTeX prints as it stands, whatever stands in it; what it cannot print is a question mark."""
    return "".join(TEXT.get(sign, sign if " " <= sign <= "\x7e" else "?") for sign in text)


def formula(text: str, axes: Axes = lambda _: None) -> str:
    """Return an expression of the language as mathematics; what is none is printed as it stands.

    ``axes`` gives the shape of a part. Vectors are columns: where ``x`` has one axis, ``x @ W`` is the transpose of W
    times x, and ``W + x`` adds 1 times its transpose to W, which has x in every row; a product of entries is ⊙ where
    both sides have axes, and so is a power of a matrix.
    """
    try:
        return piece(Columns(axes).visit(ast.parse(text.strip(), mode="eval")).body).text
    except (SyntaxError, ValueError, RecursionError):
        return rf"\texttt{{{escaped_in_latex(text)}}}"


class Entrywise(ast.Mult):
    """The operator of a product of entries."""


class EntrywisePower(ast.Pow):
    """The operator of a power of a matrix entry by entry."""


class Sign(ast.Name):
    """A name as LaTeX prints it."""


class Columns(ast.NodeTransformer):
    """Writes vectors, which have one axis, as columns, products of entries apart, and no two names as one."""

    def __init__(self, axes: Axes) -> None:
        self.axes = axes

    def visit_BinOp(self, node: ast.BinOp) -> ast.BinOp:
        """Return x @ W as W.T @ x, x @ y as x.T @ y, A + x as A + 1 @ x.T, x * y and A**2 as made entry by entry."""
        left, right = self.axes_of(node.left), self.axes_of(node.right)
        entrywise = isinstance(node.op, ast.Mult) and self.has_axes(node.left) and self.has_axes(node.right)
        shapes = [self.axes(ast.unparse(side)) or () for side in (node.left, node.right)]
        self.generic_visit(node)
        if not isinstance(node.op, ast.MatMult) and {1, 2} >= {*map(len, shapes)} != {1}:
            whole = [max(lengths) for lengths in zip(*[(1, *shape)[-2:] for shape in shapes], strict=True)]
            sides = [spread(side, shape, whole) for side, shape in zip((node.left, node.right), shapes, strict=True)]
            node = ast.BinOp(sides[0], node.op, sides[1])
        if entrywise:
            return ast.BinOp(node.left, Entrywise(), node.right)
        if isinstance(node.op, ast.Pow) and (left or 0) > 1:
            return ast.BinOp(node.left, EntrywisePower(), node.right)
        if not isinstance(node.op, ast.MatMult) or left != 1 or right not in (1, 2):
            return node
        row, other = (node.left, node.right) if right == 1 else (node.right, node.left)
        return ast.BinOp(transposed(row), ast.MatMult(), other)

    def visit_Name(self, node: ast.Name) -> ast.Name:
        """Return ``x1`` as it stands where ``x_1`` would look the same, or an entry of an array x."""
        stem, line, digits = re.fullmatch(r"(.*?)(_?)(\d*)", node.id).groups()  # type: ignore[union-attr]
        other = stem + digits if line else f"{stem}_{digits}"
        clash = stem and digits and (self.axes(stem) or self.axes(other) is not None)
        return Sign(rf"\mathrm{{{escaped_in_latex(node.id)}}}", ast.Load()) if clash else node

    def has_axes(self, node: ast.expr) -> bool:
        """Return whether an expression surely has axes, however many."""
        if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
            return self.has_axes(node.left) or self.has_axes(node.right)
        return bool(self.axes_of(node))

    def axes_of(self, node: ast.expr) -> int | None:
        """Return how many axes an expression has; None where that is not sure."""
        match node:
            case ast.Constant(int() | float()):
                return 0
            case ast.UnaryOp(operand=part):
                return self.axes_of(part)
            case ast.Attribute(value=matrix, attr="T"):
                return 2 if self.axes_of(matrix) == 2 else None
            case ast.BinOp(left, operator, right) | ast.Compare(left, [operator], [right]):
                sides = [axes for side in (left, right) if (axes := self.axes_of(side)) is not None]
                is_product = isinstance(operator, ast.MatMult)
                return max(sides) - (is_product and 1 in sides) if len(sides) == 2 else None
            case ast.Subscript(array, place):
                axes, places = self.axes_of(array), place.elts if isinstance(place, ast.Tuple) else [place]
                new = sum(isinstance(one, ast.Constant) and one.value is None for one in places)
                picked = [self.axes_of(one) for one in places if not isinstance(one, ast.Slice)]
                if axes is None or picked.count(0) + new < len(picked):
                    return None
                return axes + 2 * new - len(picked)
            case ast.Name() | ast.Call() | ast.Attribute():
                shape = self.axes(ast.unparse(node))
                return None if shape is None else len(shape)
        return None


def spread(node: ast.expr, shape: Sequence[int], whole: Sequence[int]) -> ast.expr:
    """Return a vector, or what has one row or one column, as the matrix that has it in every row or column."""
    if len(shape) == 1:
        node, shape = transposed(node), (1, *shape)
    ones = Sign(r"\mathbf{1}", ast.Load())
    if shape[1] != whole[1]:
        node = ast.BinOp(node, ast.MatMult(), transposed(ones))
    return ast.BinOp(ones, ast.MatMult(), node) if shape[0] != whole[0] else node


def transposed(node: ast.expr) -> ast.expr:
    """Return the transpose of a matrix, or of a column; of a product that of its sides, the last one first."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        return ast.BinOp(transposed(node.right), node.op, transposed(node.left))
    return node.value if isinstance(node, ast.Attribute) and node.attr == "T" else ast.Attribute(node, "T", ast.Load())


def name(text: str) -> str:
    """Return a name: ``W1`` as W with an index, one letter in italics, a longer one upright."""
    letters, digits = re.fullmatch(r"(.*?)(?:_?(\d+))?", text, re.DOTALL).groups()  # type: ignore[union-attr]
    greek = letters in GREEK and letters.replace("lam", "lambda")
    base = rf"\{greek}" if greek else letters if len(letters) == 1 and letters.isalpha() else ""
    base = base or rf"\mathrm{{{escaped_in_latex(letters or text)}}}"
    return rf"{base}_{{{digits}}}" if digits and letters else base


def piece(node: ast.expr) -> Piece:
    """Return one expression; what mathematics has no sign for is printed as it stands."""
    match node:
        case ast.Constant(value):
            return constant(value)
        case ast.Name(word):
            return Piece(word if isinstance(node, Sign) else name(word))
        case ast.Attribute(value, "T" | "mT" | "H" | "mH"):
            return Piece(f"{{{piece(value).inside(ATOM)}}}^{{\\top}}", POWER)
        case ast.Attribute(value, "grad"):
            return Piece(rf"\bar{{{piece(value).text}}}")
        case ast.Attribute():
            return Piece(rf"\mathrm{{{escaped_in_latex(ast.unparse(node))}}}")
        case ast.Subscript(value, place):
            return Piece(f"{{{piece(value).inside(ATOM)}}}_{{{index(place)}}}")
        case ast.List(items) | ast.Tuple(items):
            rows = [getattr(item, "elts", [item]) for item in items]
            if any(hasattr(entry, "elts") for row in rows for entry in row):
                rows = [[item] for item in items]  # as arrays of more than two axes are shown
            return Piece(matrix([[piece(entry).text for entry in row] for row in rows]))
        case ast.Call():
            return call(node)
    return operation(node)


def operation(node: ast.expr) -> Piece:
    """Return what operators make of expressions."""
    match node:
        case ast.BinOp():
            return binary(node)
        case ast.UnaryOp(op, operand):
            sign = {ast.USub: "-", ast.UAdd: "+"}.get(type(op), r"\neg ")
            return Piece(sign + piece(operand).inside(PRODUCT), SUM)
        case ast.Compare():
            rest = [(SIGNS.get(type(op), "?"), side) for op, side in zip(node.ops, node.comparators, strict=True)]
            parts = [piece(node.left).inside(SUM), *(f"{sign} {piece(side).inside(SUM)}" for sign, side in rest)]
            return Piece(" ".join(parts), 0)
        case ast.BoolOp(op, sides):
            return Piece(f" {SIGNS[type(op)]} ".join(piece(side).inside(SUM) for side in sides), 0)
        case ast.IfExp():
            return cases(node.test, node.body, node.orelse)
    return Piece(rf"\texttt{{{escaped_in_latex(ast.unparse(node))}}}")


def matrix(rows: Sequence[Sequence[str]]) -> str:
    """Return entries as a column or a matrix."""
    inner = r" \\ ".join(" & ".join(row) for row in rows)
    return rf"\begin{{pmatrix}} {inner} \end{{pmatrix}}"


def constant(value: object) -> Piece:
    """Return a number as people write it, or a text."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Piece(rf"\text{{{escaped_in_latex(str(value))}}}")
    digits, e, power = repr(value).removesuffix(".0").partition("e")
    return Piece(rf"{digits} \cdot 10^{{{int(power)}}}", PRODUCT) if e else Piece(digits)


def index(node: ast.expr) -> str:
    """Return what stands between brackets, as an index."""
    match node:
        case ast.Tuple():
            return ",".join(map(index, node.elts))
        case ast.Slice():
            ends = [node.lower, node.upper, *([node.step] if node.step else [])]
            return ":".join("" if end is None else piece(end).text for end in ends)
    return piece(node).text


def binary(node: ast.BinOp) -> Piece:
    """Return a sum, a product, a fraction or a power."""
    left, right = piece(node.left), piece(node.right)
    match node.op:
        case ast.Add() | ast.Sub():
            last = SUM + isinstance(node.op, ast.Sub)
            return Piece(f"{left.inside(SUM)} {SIGNS[type(node.op)]} {signed(right, last)}", SUM)
        case ast.Mult() | ast.MatMult():
            first, factor = left.inside(least_beside(node, node.left)), right.inside(least_beside(node, node.right))
            digits = isinstance(node.op, ast.Mult) and factor.lstrip("{")[:1].isdigit()
            times = r" \odot " if isinstance(node.op, Entrywise) else r" \cdot " if digits else r"\,"
            return Piece(first + times + factor, PRODUCT)
        case ast.Div():
            return Piece(rf"\frac{{{left.text}}}{{{right.text}}}", PRODUCT)
        case ast.FloorDiv():
            return Piece(rf"\left\lfloor\frac{{{left.text}}}{{{right.text}}}\right\rfloor")
        case ast.Pow():
            ring = r"\circ " if isinstance(node.op, EntrywisePower) else ""
            return Piece(f"{{{left.inside(ATOM)}}}^{{{ring}{right.text}}}", POWER)
    return Piece(f"{left.inside(PRODUCT)} {SIGNS.get(type(node.op), '?')} {right.inside(PRODUCT)}", SUM)


def least_beside(product: ast.BinOp, side: ast.expr) -> int:
    """Return how tightly a side of a product must hold: entries and matrices multiply in no common order."""
    if not isinstance(side, ast.BinOp) or isinstance(product.op, ast.MatMult) == isinstance(side.op, ast.MatMult):
        return PRODUCT
    return PRODUCT if isinstance(product.left, ast.Constant) else POWER


def signed(right: Piece, least: int) -> str:
    """Return what follows a plus or a minus: no two signs stand side by side."""
    return right.inside(least if right.text[:1] not in "+-" else PRODUCT)


def cases(condition: ast.expr, chosen: ast.expr, other: ast.expr) -> Piece:
    """Return a choice."""
    parts = (piece(chosen).text, piece(condition).text, piece(other).text)
    return Piece(r"\begin{{cases}} {} & {} \\ {} & \text{{else}} \end{{cases}}".format(*parts))


def call(node: ast.Call) -> Piece:
    """Return a call of a function; a method is one of what stands before it."""
    arguments, word = list(node.args), ast.unparse(node.func)
    if isinstance(node.func, ast.Attribute):
        word = node.func.attr
        if ast.unparse(node.func).partition(".")[0] not in MODULES:
            arguments.insert(0, node.func.value)
    if word == "where" and len(arguments) == 3:
        return cases(*arguments)
    inside = [piece(one) for one in arguments]
    if word == "sqrt" and len(inside) == 1:
        return Piece(rf"\sqrt{{{inside[0].text}}}")
    if word in ("abs", "absolute") and len(inside) == 1:
        return Piece(rf"\left|{inside[0].text}\right|")
    options = [(escaped_in_latex(option.arg or ""), piece(option.value).text) for option in node.keywords]
    texts = [*(one.text for one in inside), *(rf"\mathrm{{{option}}}={text}" for option, text in options)]
    operator = OWN.get(word) or rf"\operatorname{{{escaped_in_latex(word)}}}"
    return Piece(rf"{operator}\left({', '.join(texts)}\right)")


MOST_ENTRIES = 12
"""Entries of a value that stand beside its formula."""
MOST_OF_J = 1_000_000
WIDTH = 100
"""Small typewriter letters in a line of the page, and what a formula has of signs that takes no more of it."""
MARKS = {
    Mark.ZERO: r"\cdot",
    Mark.ROW_GAP: r"\vdots",
    Mark.COLUMN_GAP: r"\cdots",
    Mark.ROUNDED: r"\approx 0",
    Mark.OPEN: "?",
}
WORDS = {Mark.ROW_GAP.value: r"\vdots", Mark.COLUMN_GAP.value: r"\cdots", "vᵀ·J": r"v^{\top} J"}
NOT_FINITE = {"nan": r"\text{nan}", "inf": r"\infty", "-inf": r"-\infty"}
DOCUMENT = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage{textcomp}
\usepackage{amsmath}
\usepackage[margin=2cm]{geometry}
\setlength{\parindent}{0pt}
\allowdisplaybreaks
\begin{document}
"""


def latex(document: Document, layout: Layout) -> str:
    """Return a whole LaTeX document that says what the tables say."""

    def stacked(piece: Stacked) -> Iterator[str]:
        yield from typewriter(text for text, _ in piece.rows)
        yield from (escaped_in_latex(remark.text) for remark in piece.remarks)

    def table(piece: Drawn) -> Iterator[str]:
        yield f"\\[\n{array(piece, document)}\n\\]"
        yield from (escaped_in_latex(remark.text) for remark in piece.remarks)

    def displayed(part: Equations) -> Iterable[str]:
        sides = [side_text(side).plain for row in part.rows if isinstance(row, Equation) for side in row.sides]
        if any(len(side) > WIDTH for side in sides):  # no formula is broken
            return typewriter(line.plain.rstrip() for line in equation_lines(part, document.settings, WIDTH))
        return [f"\\[\n{aligned_rows(part, document)}\n\\]"]

    voice = Voice(
        prose=lambda part: [escaped_in_latex(" ".join(sentence.split())) for sentence in part.sentences],
        verbatim=typewriter,
        equations=displayed,
        table=table,
        stacked=stacked,
        title=lambda title: [rf"\medskip\textbf{{{escaped_in_latex(title)}}}"],
    )
    body = "\n\n".join(written_document(document, voice, layout))
    return f"{DOCUMENT}{body}\n\\end{{document}}"


def equations(document: Document, layout: Layout) -> str:
    """Return the equations of an answer alone, for a notebook."""
    parts = []
    for section in document.sections:
        for part in section.parts if section.name in ("gradient", "forward", "backward", "jacobian") else ():
            if isinstance(part, Equations):
                parts.append(aligned_rows(part, document))
            elif isinstance(part, Table):
                pieces = fitted(part, document.settings, layout)
                parts += [array(piece, document) for piece in pieces if isinstance(piece, Drawn)]
    return "\n".join(f"$$\n{part}\n$$" for part in parts if part)


def refuse_numbers(answer: Explained) -> None:
    """Raise ``format`` where J has no formula, or more entries than anybody reads."""
    for variable, jacobian in answer.jacobian.items():
        rows, columns = jacobian.matrix_shape
        name, size = f"d{answer.name}/d{variable}", f"{rows:,} by {columns:,}"
        message = ""
        if rows * columns > MOST_OF_J:
            message = f"{name} has {size} entries, and LaTeX takes {MOST_OF_J:,}"
        if rows * columns and not jacobian.rules and jacobian.formulas is None:
            message = f"LaTeX is for formulas, and {name} is {size} numbers alone"
        if message:
            raise GradcliError("format", message, hint="-o answer.json holds the numbers")


def typewriter(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines in typewriter letters, each blank kept."""
    for line in lines:
        for piece in fold(line, WIDTH, "") if line.strip() else []:
            yield rf"{{\small\ttfamily {escaped_in_latex(piece.plain).replace(' ', '~')}\par}}"


def aligned_rows(part: Equations, document: Document) -> str:
    """Return equations, their signs under each other."""
    lines = [
        equation(row, document) if isinstance(row, Equation) else rf"&\;\;\text{{{escaped_in_latex(row.strip())}}}"
        for row in part.rows
    ]
    inner = " \\\\\n".join(lines)
    return f"\\begin{{aligned}}\n{inner}\n\\end{{aligned}}" if inner else ""


def equation(row: Equation, document: Document) -> str:
    """Return one equation."""
    axes = document.axes
    rule = rf"\text{{{escaped_in_latex(row.rule)}}}\quad " if row.rule else ""
    sides = [side(one, axes) for one in row.sides]
    near = r"\approx" if row.near else "="
    value = ""
    if row.value is not None and (np.size(row.value) <= MOST_ENTRIES or not sides):
        whole = rf"\quad {word(row.whole, axes)}" if row.whole else ""
        value = f"{whole} {near} {number(row.value, document.settings)}"
    remark = rf"\quad\text{{{escaped_in_latex(row.remark)}}}" if row.remark else ""
    right = " = ".join(sides) + (value if sides else value.strip().removeprefix(near).strip())
    left = word(row.left, axes) if isinstance(row.left, str) else fraction(row.left, axes)
    return f"{rule}{left} &{near if not sides else '='} {right}{remark}"


def fraction(derivative: Derivative, axes: Axes) -> str:
    """Return a derivative as a fraction, with the parentheses that its names have."""

    def in_brackets(text: str) -> str:
        inside = formula(text, axes)
        return rf"\left({inside}\right)" if text.startswith("(") else inside

    power = "" if len(derivative.by) == 1 else "^2"
    below = r"\,".join(rf"\partial {in_brackets(name)}" for name in derivative.by)
    return rf"\frac{{\partial{power} {in_brackets(derivative.of)}}}{{{below}}}"


def side(one: Side, axes: Axes) -> str:
    """Return a side of an equation."""
    if isinstance(one, str):
        text = greek_spelled(one)
        return formula(text, axes) if text.isascii() else rf"\text{{{escaped_in_latex(one)}}}"
    return " + ".join(r" \cdot ".join(map(factor, term.text.split("·"))) for term in one)


def factor(text: str) -> str:
    """Return a factor of a term, one with a sign in parentheses."""
    result = word(text)
    return rf"\left({result}\right)" if result.startswith("-") else result


def word(text: str, axes: Axes = lambda _: None) -> str:
    """Return a number, a name or a short formula; what is no formula stands as it is."""
    if text in WORDS:
        return WORDS[text]
    text = greek_spelled(text)
    return formula(text, axes) if text.isascii() and "  " not in text else rf"\text{{{escaped_in_latex(text)}}}"


def greek_spelled(text: str) -> str:
    """Return a text with its Greek letters spelled out as the language does: ``theta`` for θ, ``lam`` for λ."""
    return re.sub("[α-ω]", lambda c: greek_name(c[0]), text)


def number(value: Any, settings: Settings) -> str:
    """Return numbers as mathematics: a column, a matrix, or one line of more."""
    numbers = np.asarray(value, dtype=np.float64)
    if numbers.ndim == 0:
        return digits(float(numbers), settings)
    if numbers.size > MOST_ENTRIES or not numbers.size:
        return rf"\text{{{escaped_in_latex(array_text(numbers, settings.precision))}}}"
    if numbers.ndim > 2:
        return matrix([[number(part, settings)] for part in numbers])
    rows = numbers.reshape(numbers.shape[0], -1)
    return matrix([[digits(entry, settings) for entry in row] for row in rows.tolist()])


def digits(value: float, settings: Settings) -> str:
    """Return one number."""
    text = short(value, settings.precision)
    return NOT_FINITE.get(text) or formula(text)


def array(table: Drawn, document: Document) -> str:
    """Return a table as an array, with its bars and rules."""
    bars = "|".join("".join("r" if column.numbers else "l" for column in block) for block in table.blocks)
    head = " & ".join(["", *(word(one.heading, document.axes) if one.heading else "" for one in table.columns)])
    lines = [f"\\begin{{array}}{{r{bars}}}", *([head + r" \\"] if head.strip(" &") else [])]
    for k, label in enumerate(table.labels):
        rule = r"\hline " if k in table.ruled else ""
        cells = [cell(column, k, document) for column in table.columns]
        lines.append(rule + " & ".join([word(label, document.axes) if label else "", *cells]) + r" \\")
    return "\n".join([*lines, r"\end{array}"])


def cell(column: Texts, k: int, document: Document) -> str:
    """Return what stands in a cell: a number, a formula with its number, a text, or a mark."""
    source: Cell = column.source[k]
    if source.text:
        return rf"\text{{{escaped_in_latex(source.text)}}}"
    before = f"{formula(source.formula, document.axes)} " if column.formulas and source.formula else ""
    if source.mark is not Mark.NONE:
        return before + MARKS[source.mark]
    if source.value is None:
        return ""
    return (f"{before}= " if before else "") + number(source.value, document.settings)
