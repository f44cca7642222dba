"""Which of the two dialects a text is: a formula, or a script, which is Python as it is."""

from __future__ import annotations

import ast
import re
import textwrap

WORDS = re.compile(
    r"\b(?:import|def|class|print|backward|requires_grad\w*|autograd|no_grad|lambda|with|try|assert|return|del|raise|jacrev|"
    r"jacfwd|vjp|jvp|Variable|Parameter|manual_seed|append|grad|hessian|jacobian|value_and_grad|vmap|global|lr_scheduler|optim)\b"
    r"|[{]|\bf[\"']|>>>|In \[|```|:=|\bfor\b.*\bin\b|\w: *\w+ *="
    r"|\b[A-Z]\w*[a-z]\w*\s*\("
)
"""What a script may hold. A text with none of it is a formula, and no parser looks at it for that."""
PASTED = r"^\s*(?:import|from|def|class)\s|\.backward\(|^\s*>>> |^In \[\d*\]|^\s*```"
"""What begins a line of a text that is no Python as it stands, and was pasted: the code of a script, prompts, fences."""
STATEMENTS = (
    ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.With, ast.Try, ast.Assert, ast.Delete, ast.Raise, ast.Lambda,
    ast.Dict, ast.DictComp, ast.Set, ast.JoinedStr, ast.GeneratorExp, ast.Global, ast.ListComp, ast.NamedExpr, ast.AnnAssign,
)  # fmt: skip
TRANSFORMS = {"grad", "value_and_grad", "vjp", "jvp", "hvp", "vhp", "jacobian", "hessian", "jacrev", "jacfwd", "vmap"}
"""What is called on a function. A lone expression that has no function for it is a formula with a call too many."""
CALLS = {"backward", "grad", "print", "requires_grad_", "append", "vjp", "jacobian", "hessian", "jvp", "jacrev", "jacfwd", "vmap",
         "value_and_grad", "manual_seed", "Variable", "Parameter", "no_grad"}  # fmt: skip


def is_script(text: str) -> bool:
    """Return whether a text is a script: what imports, defines, prints, or makes a derivative call."""
    if WORDS.search(text) is None:
        return False
    try:
        tree = ast.parse(textwrap.dedent(text).strip("\n"), filename="")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return bool(re.search(PASTED, text, re.MULTILINE))
    alone = len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr)
    return any(marks(node) for node in ast.walk(tree) if not (alone and lacks_function(node)))


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
        return name in CALLS or (name[:1].isupper() and is_layer(node.func, name))
    return False


def is_layer(function: ast.expr, name: str) -> bool:
    """Return whether what is called is a class of ``torch.nn``."""
    from gradcli.runner.preludes import index  # few formulas call what begins with a capital

    base = function.value if isinstance(function, ast.Attribute) else None
    return (base is None and f"torch.nn.{name}" in index()) or getattr(base, "attr", getattr(base, "id", "")) == "nn"
