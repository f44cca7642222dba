"""Which variables of a snippet may have one memory, by its text alone: views, casts and second names."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator, Set

from gradcli.language.names import MODULES
from gradcli.language.snippets.lines import UNARY, root_of
from gradcli.language.snippets.scopes import stored

FRESH = frozenset(
    f"{UNARY} clone copy item tolist sum mean prod max min amax amin norm var std dot mm bmm matmul einsum outer "
    "softmax log_softmax sigmoid relu gelu silu softplus linear conv1d conv2d mse_loss cross_entropy dropout tensor "
    "zeros ones full zeros_like ones_like full_like arange linspace eye stack cat concatenate hstack vstack where "
    "cumsum cumprod sort pow add mul sub div maximum minimum clamp index_select gather".split()
)
"""Functions and methods whose result has memory of its own."""


VIEWS = (
    "chunk split tensor_split array_split hsplit vsplit dsplit unbind reshape view view_as transpose permute t adjoint "
    "squeeze unsqueeze flatten unflatten ravel narrow select swapaxes swapdims moveaxis movedim diagonal expand "
    "broadcast_to as_strided unfold atleast_1d atleast_2d atleast_3d as_tensor asarray from_numpy detach real "
    "enumerate zip reversed iter Parameter Variable"
)
VIEWING = frozenset(VIEWS.split())
"""Functions whose result may have the memory of their arguments."""


class Memory:
    """The variables of a snippet but its lists, joined where one may get the memory of another."""

    def __init__(self, tree: ast.AST, lists: Set[str]) -> None:
        self.lists = lists
        self.beside: dict[str, set[str]] = defaultdict(set)
        viewing = VIEWING | {name for node in ast.walk(tree) for name in viewing_function(node)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign):
                self.join({name for target in node.targets for name in stored(target)}, memory_of(node.value, viewing))
            elif isinstance(node, ast.For):
                self.join(set(stored(node.target)), memory_of(node.iter, viewing))

    def join(self, targets: set[str], sources: set[str]) -> None:
        """Note that targets may have the memory of sources."""
        for target in targets - self.lists:
            for source in sources - self.lists:
                self.beside[target].add(source)
                self.beside[source].add(target)

    def shared_with(self, name: str) -> set[str]:
        """Return the variables that may have the memory of one, itself included."""
        found, left = {name}, [name]
        while left:
            new = self.beside[left.pop()] - found
            found |= new
            left += new
        return found


def viewing_function(node: ast.AST) -> Iterator[str]:
    """Yield the name of a function that may return the memory of what it is given: it computes no new result."""
    match node:
        case ast.FunctionDef(name=name):
            results = [part.value for part in ast.walk(node) if isinstance(part, ast.Return) and part.value]
        case ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda(body=result)):
            results = [result]
        case _:
            return
    if any(memory_of(result, VIEWING) for result in results):
        yield name


def memory_of(node: ast.expr, viewing: Set[str] = VIEWING) -> set[str]:
    """Return the variables whose memory a value may have; ``viewing`` are functions that show their arguments'.

    >>> sorted(memory_of(ast.parse("(a.view(2) if s else torch.chunk(b, 2)[0], c*2)", mode="eval").body))
    ['a', 'b']
    """
    match node:
        case ast.Name(id=name):
            return {name} - MODULES
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return set().union(*(memory_of(part, viewing) for part in parts))
        case ast.IfExp(body=one, orelse=other):
            return memory_of(one, viewing) | memory_of(other, viewing)
        case ast.Attribute(value=inner) | ast.Subscript(value=inner):
            return memory_of(inner, viewing)
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in FRESH:
            return set()
        case ast.Call(func=ast.Attribute(value=inner) as method) if not root_of(method) & MODULES:
            return memory_of(inner, viewing)
        case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=given) if name in viewing:
            return set().union(*(memory_of(part, viewing) for part in given))
    return set()
