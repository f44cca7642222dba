"""Which of the two dialects a text is: a formula, or a script, which is Python as it is.

What stands round the code of a paste: prompts, what an interpreter answered, fences, lines of a notebook.
From the text of a script to its syntax tree: what is refused before anything runs.
"""

from __future__ import annotations

import ast
import re
import textwrap
from itertools import pairwise

from gradcli.errors import Budget, GradcliError, Place, over_budget
from gradcli.language.source import Spans, python_tree, refuse_depth, with_comments
from gradcli.language.source import empty_comment as blank_comment

WORDS = re.compile(
    r"\b(?:import|def|class|print|backward|requires_grad\w*|autograd|no_grad|lambda|with|try|assert|return|del|raise|"
    r"jacrev|jacfwd|vjp|jvp|Variable|Parameter|manual_seed|append|grad|hessian|jacobian|value_and_grad|vmap|global|"
    r"lr_scheduler|optim)\b"
    r"|[{]|\bf[\"']|>>>|In \[|```|:=|\bfor\b.*\bin\b|\w: *\w+ *="
    r"|\bnn\.[A-Z]|=\s*[\[(]|=\s*\w+\s*="
)
"""What a script may hold. A text with none of it is a formula, and no parser looks at it for that."""
PASTED = r"^\s*(?:import|from|def|class)\s|\.backward\(|^\s*>>> |^In \[\d*\]|^\s*```"
"""What begins a line of a pasted text that is no Python as it stands: the code of a script, prompts, fences."""
STATEMENTS = (
    ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.With, ast.Try, ast.Assert, ast.Delete, ast.Raise,
    ast.Lambda, ast.Dict, ast.DictComp, ast.Set, ast.JoinedStr, ast.GeneratorExp, ast.ListComp,
    ast.NamedExpr, ast.AnnAssign,
)  # fmt: skip
TRANSFORMS = {"grad", "value_and_grad", "vjp", "jvp", "hvp", "vhp", "jacobian", "hessian", "jacrev", "jacfwd", "vmap"}
"""What is called on a function. A lone expression that has no function for it is a formula with a call too many."""
CALLS = {
    "backward", "grad", "print", "requires_grad_", "append", "vjp", "jacobian", "hessian", "jvp", "jacrev", "jacfwd",
    "vmap", "value_and_grad", "manual_seed", "Variable", "Parameter", "no_grad",
}  # fmt: skip
LOSSES = ("loss", "cost", "L", "J", "error", "nll", "total_loss", "objective", "E")
"""What people call the value that they differentiate."""


def is_script(text: str) -> bool:
    """Return whether a text is a script: what imports, defines, prints, or makes a derivative call."""
    if WORDS.search(text) is None:
        return False
    try:
        tree = ast.parse(textwrap.dedent(text).strip("\n"), filename="")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return bool(re.search(PASTED, text, re.MULTILINE))
    nodes = list(ast.walk(tree))
    alone = len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr)
    return any(marks(node) for node in nodes if not (alone and lacks_function(node))) or tells_lists(nodes)


def lacks_function(node: ast.AST) -> bool:
    """Return whether a part of a lone expression is a set, or a transform of what the text does not define."""
    if not isinstance(node, ast.Call):
        return isinstance(node, ast.Set)
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in TRANSFORMS and not (name == "grad" and len(node.args) > 1)


def marks(node: ast.AST) -> bool:
    """Return whether a part of a text is none of a formula."""
    if isinstance(node, STATEMENTS) or (isinstance(node, ast.Assign) and len(node.targets) > 1):
        return True
    if isinstance(node, ast.keyword):
        return node.arg == "requires_grad"
    if isinstance(node, ast.Attribute):
        return node.attr in ("grad", "requires_grad", "backward")
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        base = node.func.value if isinstance(node.func, ast.Attribute) else None
        if name == "append":  # to a list, and not NumPy's
            return getattr(base, "id", "np") not in ("np", "numpy", "jnp")
        return name in CALLS or (name[:1].isupper() and getattr(base, "attr", getattr(base, "id", "")) == "nn")
    return False


def tells_lists(nodes: list[ast.AST]) -> bool:
    """Return whether a text tells lists from arrays: it joins lists that have a name, or writes to what they hold.

    Such a list is Python's own, with other names for its entries. Any other is an array in a formula, and so is one
    that is made after the writes.
    """
    pairs = [pair for node in nodes if isinstance(node, ast.Assign) for pair in pairs_of(node.targets[0], node.value)]
    listed = [
        (name, value)
        for name, value in pairs
        if isinstance(value, ast.List | ast.Tuple) and names_in(value) - CONSTANTS
    ]
    if not listed:
        return False
    lists = {name for name, _ in listed}
    arrays = {name for name, value in pairs if isinstance(value, ast.BinOp)}  # a list that is computed with is none
    if any(joins(node, lists - arrays) for node in nodes):
        return True
    shared = lists.union(*(names_in(value) for name, value in pairs if name in lists))
    shared |= {
        name
        for name, value in pairs
        if not isinstance(value, ast.BinOp | ast.Call) and not names_in(value).isdisjoint(shared)
    }
    loops = [node for node in nodes if isinstance(node, ast.For | ast.While)]
    lines = [value.lineno for _, value in listed]  # from which a list may be there: of the loop that makes it
    first = min(
        [*lines, *(loop.lineno for loop in loops for line in lines if loop.lineno <= line <= (loop.end_lineno or 0))]
    )
    return any(target.lineno >= first and root(target) in shared for node in nodes for target in written_by(node))


def joins(node: ast.AST, lists: set[str]) -> bool:
    """Return whether a part of a text is a sum of lists alone."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add)):
        return False
    return all(
        isinstance(side, ast.List) or (isinstance(side, ast.Name) and side.id in lists)
        for side in (node.left, node.right)
    )


def written_by(node: ast.AST) -> list[ast.expr]:
    """Return what a part of a text writes to in place: an item, the target of ``+=``, what ``add_`` is called of."""
    if isinstance(node, ast.AugAssign):
        return [node.target]
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        return [node]
    if isinstance(node, ast.Attribute) and node.attr.endswith("_") and not node.attr.startswith("_"):
        return [node]
    return []


CONSTANTS = {"torch", "np", "jnp", "math", "pi", "e", "inf", "nan"}


def pairs_of(target: ast.expr, value: ast.expr) -> list[tuple[str, ast.expr]]:
    """Return the variables of an assignment, each with what it is given."""
    if isinstance(target, ast.Tuple | ast.List):
        values = value.elts if isinstance(value, ast.Tuple | ast.List) else [value] * len(target.elts)
        return [pair for one, part in zip(target.elts, values, strict=False) for pair in pairs_of(one, part)]
    return [(target.id, value)] if isinstance(target, ast.Name) else []


def names_in(node: ast.AST) -> set[str]:
    """Return the names in a part of a text."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def root(node: ast.AST) -> str:
    """Return the variable that an entry, a view or an attribute is of."""
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


# ---- what stands round the code of a paste

PROMPTS = (
    (re.compile(r"\s*>>> "), re.compile(r"(?:>>>|\.\.\.)(?: |$)")),
    (re.compile(r"\s*In \[\d*\]: "), re.compile(r"(?:In \[\d*\]:|\s*\.\.\.+:)(?: |$)")),
)
"""How a session of Python and of IPython begins, and what stands before each line that was typed."""
FOREIGN = re.compile(r"^(?:%%?[a-z]|![a-z]|```).*$", re.MULTILINE)
MAGIC = re.compile(r"^([ \t]*)(?:%%?|!)[A-Za-z_./~].*$", re.MULTILINE)
"""Lines of a notebook that are no Python; in a block they may be all that it has."""
RAISED = re.compile(
    r"""
    ^-{20,}\n\w+\ +Traceback\ \(most\ recent[^\n]*\n(?:(?!\w+:\ )[^\n]*\n)*\w+:\ [^\n]*$
    | ^Traceback\ \(most\ recent[^\n]*\n(?:[ \t][^\n]*\n)*[\w.]+(?::\ [^\n]*)?$
    | ^[A-Za-z_.]*(?:Error|Exception|Warning):\ [^\n]*$
    """,
    re.MULTILINE | re.VERBOSE,
)
"""What an interpreter prints of an error: with its traceback, in IPython, and the last line alone."""
FENCE = re.compile(r"^[ \t]*(?:```+|~~~+)[ \t]*(\w*)[^\n]*$", re.MULTILINE)
PYTHON = ("python", "py", "python3", "pycon", "ipython")
"""What Markdown calls a fenced block of Python."""
CELL = re.compile(r"^(In|Out) ?\[[\d* ]*\]:[ \t]*$", re.MULTILINE)
"""What stands above the lines of a cell, and of its output, in a notebook that was copied from a page."""
SHOWN = re.compile(r"^(?:Out\[\d*\]: ?)?tensor\((?:[^()\n]|\([^()]*\)|\n[ \t]+|\n(?=[ \t]*$))*\)[ \t]*$", re.MULTILINE)
"""A tensor as it was shown: as a statement it would do nothing."""


def script_of_paste(text: str) -> str:
    """Return the code of a paste that is no Python as it stands; lines keep their numbers."""
    text = within_fences(text)
    for begins, prompt in PROMPTS:
        if any(map(begins.match, text.split("\n"))):
            typed = [prompt.sub("", line, count=1) if prompt.match(line) else "" for line in text.split("\n")]
            return MAGIC.sub(r"\1pass", "\n".join(typed))
    text = within_cells(text)
    without = RAISED.sub(blank, text)  # what is an error alone stays as it is
    text = without if without.strip() else text
    return MAGIC.sub(r"\1pass", SHOWN.sub(blank, text))


def within_fences(text: str) -> str:
    """Return the fenced blocks of a text, of several kinds those that say they are Python; the text where none is."""
    fences = list(FENCE.finditer(text))
    if len(fences) < 2 or len(fences) % 2:
        return FENCE.sub("", text)
    blocks = [
        (first[1].lower(), first.end(), last.start()) for first, last in zip(fences[::2], fences[1::2], strict=True)
    ]
    named = [block for block in blocks if block[0] in PYTHON] or [block for block in blocks if not block[0]]
    return kept_parts(text, [(start, end) for _, start, end in named or blocks])


def within_cells(text: str) -> str:
    """Return the cells of a notebook that was copied with their headings, without their outputs."""
    heads = list(CELL.finditer(text))
    if not any(head[1] == "In" for head in heads):
        return text
    ends = [*(head.start() for head in heads), len(text)]
    parts = [(head.end(), end) for head, (_, end) in zip(heads, pairwise(ends), strict=True) if head[1] == "In"]
    return kept_parts(text, parts)


def kept_parts(text: str, parts: list[tuple[int, int]]) -> str:
    """Return a text of which nothing but its line breaks is left outside of some parts."""
    done, pieces = 0, []
    for start, end in parts:
        pieces += ["\n" * text.count("\n", done, start), text[start:end]]
        done = end
    return "".join([*pieces, "\n" * text.count("\n", done)])


def blank(piece: re.Match[str]) -> str:
    """Return the line breaks of a piece of text."""
    return "\n" * piece[0].count("\n")


# ---- from the text of a script to its syntax tree

CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def read_script(text: str, budget: Budget) -> tuple[ast.Module, Place]:
    """Return the syntax tree of a script and its text; lines keep their numbers.

    What is no Python as it stands is read as a paste: without prompts, fences, output and lines of a notebook.
    Raises ``character``, ``budget`` or ``syntax``, each with its place.
    """
    clean = dedented(text.replace("\r\n", "\n").replace("\ufeff", ""))
    place = Place(clean, "script")
    try:
        return checked_tree(clean, budget), place
    except GradcliError as error:
        typed = dedented(script_of_paste(clean)) if error.kind == "syntax" else clean
        if not typed.strip() or typed == clean:
            raise error.at(error.span, place) from None
        place = Place(typed, "script")
    try:
        return checked_tree(typed, budget), place
    except GradcliError as error:
        raise error.at(error.span, place) from None


def dedented(text: str) -> str:
    """Return a text without the indentation that all of its lines have, ended by one newline."""
    return textwrap.dedent(text).rstrip() + "\n"


def checked_tree(text: str, budget: Budget) -> ast.Module:
    """Return the syntax tree of a text; raises ``character``, ``budget`` or ``syntax``."""
    if len(text) > budget.text:
        what = "the script has too many characters"
        raise over_budget("text", budget.text, what).at((budget.text, budget.text + 1))
    control = CONTROL.search(text)
    if control is not None:
        what = f"the script holds a control character, U+{ord(control[0]):04X}"
        raise GradcliError("character", what, span=control.span())
    if not text.isascii():
        surrogate = next((k for k, character in enumerate(text) if "\ud800" <= character <= "\udfff"), None)
        if surrogate is not None:
            what = f"the script holds half a character, U+{ord(text[surrogate]):04X}"
            raise GradcliError("character", what, span=(surrogate, surrogate + 1))
    refuse_depth(with_comments(text, blank_comment), budget)
    tree = python_tree(text, "script")
    parts = 0
    for statement in tree.body:
        parts += sum(1 for _ in ast.walk(statement))
        if parts > budget.syntax:
            span = Spans(text).of(statement)
            raise over_budget("syntax", budget.syntax, "the script has too many parts").at(span)
    return tree
