"""Which variables of a snippet may have one memory, by its text alone: views, casts and second names."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Set
from operator import attrgetter

from gradcli.language.names import MODULES
from gradcli.language.snippets.lines import UNARY, root_of
from gradcli.language.snippets.scopes import stored

FRESH = frozenset(
    f"{UNARY} clone copy item tolist sum mean prod max min amax amin norm var std dot mm bmm mv matmul outer "
    "softmax log_softmax sigmoid relu leaky_relu gelu silu softplus linear conv1d conv2d mse_loss cross_entropy tensor "
    "zeros ones full zeros_like ones_like full_like arange linspace eye stack cat concatenate hstack vstack where "
    "cumsum cumprod sort pow add mul sub div maximum minimum clamp index_select gather len range int float bool".split()
)
"""Functions and methods whose result has memory of its own; any other may show its arguments."""
Definition = ast.FunctionDef | ast.Lambda


class SharedMemory:
    """The variables of a snippet but its lists, joined where one may get the memory of another.

    ``own`` says of each function of the snippet whether its result may show what it is given, and which variables from
    outside.
    """

    def __init__(self, tree: ast.AST, lists: Set[str]) -> None:
        self.lists = lists
        self.beside: dict[str, set[str]] = defaultdict(set)
        self.own: dict[str, tuple[bool, set[str]]] = {}
        for name, function in definitions(tree):
            self.own[name] = self.result_of(function)
        self.join_all(tree)

    def join_all(self, tree: ast.AST) -> None:
        """Join what the assignments and loops of a tree may give one memory."""
        for target, value in given(tree):
            for one in set(stored(target)) - self.lists:
                for other in self.of(value) - self.lists:
                    self.beside[one].add(other)
                    self.beside[other].add(one)

    def result_of(self, function: Definition) -> tuple[bool, set[str]]:
        """Return whether the result of a function may show its arguments, and which other variables."""
        inner = SharedMemory(ast.Module([], []), frozenset())
        inner.own = self.own
        inner.join_all(function)
        results = [function.body] if isinstance(function, ast.Lambda) else returned(function)
        shown = {name for result in results for one in inner.of(result) for name in inner.shared_with(one)}
        parameters = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
        inside = {name for target, _ in given(function) for name in stored(target)}
        return bool(shown & parameters), shown - parameters - inside

    def shared_with(self, name: str) -> set[str]:
        """Return the variables that may have the memory of one, itself included."""
        found, left = {name}, [name]
        while left:
            new = self.beside.get(left.pop(), set()) - found
            found |= new
            left += new
        return found

    def of(self, node: ast.expr) -> set[str]:
        """Return the variables whose memory a value may have.

        >>> memory = SharedMemory(ast.parse(""), frozenset())
        >>> sorted(memory.of(ast.parse("(a.view(2) if s else torch.chunk(b, 2)[0], c*2)", mode="eval").body))
        ['a', 'b']
        """
        match node:
            case ast.Name(id=name):
                return {name} - MODULES
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return self.of_all(parts)
            case ast.IfExp(body=one, orelse=other):
                return self.of_all([one, other])
            case ast.BoolOp(values=parts):
                return self.of_all(parts)
            case ast.Attribute(value=inner) | ast.Subscript(value=inner) | ast.Starred(value=inner):
                return self.of(inner)
            case ast.NamedExpr(value=inner) | ast.UnaryOp(op=ast.UAdd(), operand=inner):
                return self.of(inner)
            case ast.Call():
                return self.of_call(node)
        return set()

    def of_all(self, nodes: Iterable[ast.expr]) -> set[str]:
        """Return the variables whose memory one of several values may have."""
        return set().union(*map(self.of, nodes))

    def of_call(self, call: ast.Call) -> set[str]:
        """Return the variables whose memory the result of a call may have."""
        arguments = self.of_all([*call.args, *(item.value for item in call.keywords)])
        if isinstance(call.func, ast.Name) and call.func.id in self.own:
            shows, outside = self.own[call.func.id]
            return outside | arguments if shows else outside
        if getattr(call.func, "attr", getattr(call.func, "id", "")) in FRESH:
            return set()
        of_method = isinstance(call.func, ast.Attribute) and not root_of(call.func) & MODULES
        return arguments | self.of(call.func) if of_method else arguments


def definitions(tree: ast.AST) -> Iterator[tuple[str, Definition]]:
    """Yield the functions of a snippet with their names, from the first line on."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Assign)]
    for node in sorted(nodes, key=attrgetter("lineno")):
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node.value, ast.Lambda) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value


def returned(function: ast.FunctionDef) -> list[ast.expr]:
    """Return what a function returns."""
    return [part.value for part in ast.walk(function) if isinstance(part, ast.Return) and part.value is not None]


def given(tree: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield what gets a value, with the value: of assignments, and of loops what they run over."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            yield from ((target, node.value) for target in node.targets)
            yield from zip(node.targets, node.targets[1:], strict=False)
        elif isinstance(node, ast.AnnAssign | ast.NamedExpr) and node.value is not None:
            yield node.target, node.value
        elif isinstance(node, ast.For):
            yield node.target, node.iter
