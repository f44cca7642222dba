"""Values of a snippet that are arrays of NumPy or JAX: four of their methods mean something else than PyTorch's."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from gradcli.errors import GradcliError
from gradcli.language.snippets.imports import Names
from gradcli.language.snippets.pieces import Edit, Piece, Source
from gradcli.language.snippets.scopes import stored

OWN_METHODS = ("std", "var", "repeat", "nonzero")
"""Methods with a meaning of their own: the language has that of PyTorch, and these as functions of NumPy."""


@dataclass
class Kind:
    """What tells values of one kind: the variables that hold nothing else, and the functions that give them."""

    makes: Callable[[str], bool]
    variables: set[str] = field(default_factory=set)


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
        self.immutable = self.alone and "jax" in libraries
        self.arrays = Kind(lambda full: full.rpartition(".")[0] in ("numpy", "jax.numpy"))
        self.tensors = Kind(lambda full: full.startswith("torch."))
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        self.some = not self.alone and any(self.holds(self.arrays, call) for call in calls)
        self.find_variables(tree)

    def find_variables(self, tree: ast.AST) -> None:
        """Find the variables each of whose values is an array, and those of tensors."""
        assigned: dict[str, list[ast.expr]] = {}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        assigned.setdefault(target.id, []).append(node.value)
        times = Counter(stored(tree))
        of_one_kind = {name: values for name, values in assigned.items() if len(values) == times[name]}
        for kind in (self.arrays, self.tensors):
            left = dict(of_one_kind)
            while found := {name for name, values in left.items() if all(self.holds(kind, value) for value in values)}:
                kind.variables |= found
                left = {name: values for name, values in left.items() if name not in found}

    def holds(self, kind: Kind, node: ast.expr) -> bool:
        """Return whether an expression is a value of a kind, as far as its text tells."""
        match node:
            case ast.Name(id=name):
                return name in kind.variables
            case ast.BinOp(left=left, right=right):
                return self.holds(kind, left) or self.holds(kind, right)
            case ast.UnaryOp(operand=inner) | ast.Subscript(value=inner) | ast.Attribute(value=inner):
                return self.holds(kind, inner)
            case ast.Call(func=func):
                full = self.names.full(func)
                if full or not isinstance(func, ast.Attribute):
                    return kind.makes(full or "")
                return kind is self.arrays if func.attr == "numpy" else self.holds(kind, func.value)
        return False

    def holds_array(self, node: ast.expr) -> bool:
        """Return whether an expression is known to be an array of NumPy or JAX."""
        return self.alone or self.holds(self.arrays, node)

    def flattens(self, node: ast.Call) -> bool:
        """Return whether a call is of ``flatten`` of an array, which is a copy, and of a tensor may be none."""
        func = node.func
        return isinstance(func, ast.Attribute) and func.attr == "flatten" and self.holds_array(func.value)

    def own_method(self, node: ast.Call) -> str | None:
        """Return the function of NumPy that a method of an array is; None where PyTorch's method is the same.

        Raises ``not-allowed`` where arrays stand beside tensors, and the text does not tell which of them this is.
        """
        func = node.func
        if not isinstance(func, ast.Attribute) or func.attr not in OWN_METHODS or self.names.full(func):
            return None
        if self.holds_array(func.value):
            return f"np.{func.attr}"
        if self.some and not self.holds(self.tensors, func.value):
            value = ast.unparse(func.value)
            what = f"whether '{value}' is an array or a tensor is not known here, and .{func.attr}() differs"
            raise GradcliError("not-allowed", what, hint=f"write np.{func.attr}({value}) or torch.{func.attr}({value})")
        return None


def as_function(source: Source, node: ast.Call, function: str) -> list[Edit]:
    """Return how a method of an array is written as a function of NumPy."""
    (start, end), name = source.span(node), source.span(node.func)[1]
    dot, bracket = source.code.rfind(".", 0, name), source.code.index("(", name)
    comma = Piece.instead(", " if node.args or node.keywords else "", (dot, name))
    return [((start, start), Piece.instead(f"{function}(", (start, end))), ((dot, bracket + 1), comma)]


def of_copy(source: Source, node: ast.Call) -> list[Edit]:
    """Return how a method of an array is written as one of its copy."""
    assert isinstance(node.func, ast.Attribute)  # noqa: S101
    start, end = span = source.span(node.func.value)
    return [((start, start), Piece.instead("np.copy(", span)), ((end, end), Piece.instead(")", span))]
