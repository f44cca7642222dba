"""Which of the two dialects a text is: a formula, or a script, which is Python as it is."""

from __future__ import annotations

import ast
import re
import textwrap

WORDS = re.compile(
    r"\b(?:import|def|class|print|backward|requires_grad\w*|autograd|no_grad|lambda|with|try|assert|return|del|raise|"
    r"jacrev|jacfwd|vjp|jvp|Variable|Parameter|manual_seed|append|grad|hessian|jacobian|value_and_grad|vmap|global|"
    r"lr_scheduler|optim)\b"
    r"|[{]|\bf[\"']|>>>|In \[|```|:=|\bfor\b.*\bin\b|\w: *\w+ *="
    r"|\bnn\.[A-Z]|=\s*[\[(]"
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
    if isinstance(node, STATEMENTS):
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
    listed = [(name, value) for name, value in pairs if isinstance(value, ast.List | ast.Tuple) and own_names(value)]
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
    first = min(begin_of(value, loops) for _, value in listed)
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


def begin_of(value: ast.expr, loops: list[ast.For | ast.While]) -> int:
    """Return the line from which a value may be there: of the outermost loop that makes it."""
    around = [loop.lineno for loop in loops if loop.lineno <= value.lineno <= (loop.end_lineno or 0)]
    return min([value.lineno, *around])


def own_names(value: ast.expr) -> set[str]:
    """Return the names in a list that are no constants."""
    return names_in(value) - CONSTANTS


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
