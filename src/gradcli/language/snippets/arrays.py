"""Values of a snippet that are arrays of NumPy or JAX: four of their methods mean something else than PyTorch's."""

from __future__ import annotations

import ast
from collections import Counter
from contextlib import suppress

from gradcli.errors import GradcliError
from gradcli.language.snippets.imports import Names
from gradcli.language.snippets.scopes import stored

OWN_METHODS = ("std", "var", "repeat", "nonzero")
"""Methods with a meaning of their own: the language has that of PyTorch, and these as functions of NumPy."""
ARRAY_MODULES = ("numpy", "jax.numpy")


class Arrays:
    """Tells the arrays of a snippet: what NumPy's and JAX's functions give, and the variables that hold nothing else.

    A snippet that imports one of them, and no PyTorch, has nothing else at all.
    """

    def __init__(self, tree: ast.AST) -> None:
        self.names = Names()
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                with suppress(GradcliError):  # that is told where the statement is read
                    self.names.add(node)
        libraries = {meaning.partition(".")[0] for meaning in self.names.meanings.values()}
        self.alone = "torch" not in libraries and bool(libraries & {"numpy", "jax"})
        self.variables: set[str] = set()
        self.find_variables(tree)

    def find_variables(self, tree: ast.AST) -> None:
        """Find the variables each of whose values is an array."""
        assigned: dict[str, list[ast.expr]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        assigned.setdefault(target.id, []).append(node.value)
        times = Counter(stored(tree))
        of_one_kind = {name: values for name, values in assigned.items() if len(values) == times[name]}
        while found := {name for name, values in of_one_kind.items() if all(map(self.is_array, values))}:
            self.variables |= found
            of_one_kind = {name: values for name, values in of_one_kind.items() if name not in found}

    def is_array(self, node: ast.expr) -> bool:
        """Return whether an expression is an array, as far as its text tells."""
        if self.alone:
            return True
        match node:
            case ast.Name(id=name):
                return name in self.variables
            case ast.BinOp(left=left, right=right):
                return self.is_array(left) or self.is_array(right)
            case ast.UnaryOp(operand=inner) | ast.Subscript(value=inner) | ast.Attribute(value=inner):
                return self.is_array(inner)
            case ast.Call(func=func):
                module = (self.names.full(func) or "").rpartition(".")[0]
                if module or not isinstance(func, ast.Attribute):
                    return module in ARRAY_MODULES
                return func.attr == "numpy" or self.is_array(func.value)
        return False

    def own_method(self, node: ast.Call) -> str | None:
        """Return the function of NumPy that a method of an array is; None where PyTorch's method is the same."""
        func = node.func
        if not isinstance(func, ast.Attribute) or func.attr not in OWN_METHODS or not self.is_array(func.value):
            return None
        return None if self.names.full(func) else f"np.{func.attr}"
