"""Whose a name is: which variables a function, a class or a module assigns, and which it reads from round it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gradcli.records import dataclass, field

FUNCTIONS = (ast.FunctionDef, ast.Lambda, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SCOPES = (*FUNCTIONS, *COMPREHENSIONS, ast.ClassDef)


@dataclass(slots=True)
class Names:
    """What one scope does with names: ``free`` are those that it or a scope in it reads from round it.

    ``outward`` are those that ``:=`` of a comprehension assigns in the scope round it.
    """

    assigned: set[str] = field(default_factory=set)
    read: set[str] = field(default_factory=set)
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    free: set[str] = field(default_factory=set)
    shared: set[str] = field(default_factory=set)
    outward: set[str] = field(default_factory=set)


def parameters_of(arguments: ast.arguments) -> list[str]:
    """Return the names of all parameters."""
    parts = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [a.arg for a in (*parts, arguments.vararg, arguments.kwarg) if a is not None]


def inside(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that belong to a scope itself, and the scopes in it; what is evaluated round it is left out."""
    waiting = list(body_of(node))
    while waiting:
        part = waiting.pop()
        yield part
        if isinstance(part, SCOPES):
            waiting.extend(around(part))
        else:
            waiting.extend(ast.iter_child_nodes(part))


def body_of(node: ast.AST) -> list[ast.AST]:
    """Return what is evaluated in a scope."""
    if isinstance(node, ast.Lambda):
        return [node.body]
    if isinstance(node, COMPREHENSIONS):
        first, *rest = node.generators
        values = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        return [first.target, *first.ifs, *rest, *values]
    return list(node.body)  # type: ignore[attr-defined]


def around(node: ast.AST) -> list[ast.AST]:
    """Return what of a scope is evaluated in the one round it: defaults, decorators, bases, the first iterable."""
    if isinstance(node, COMPREHENSIONS):
        return [node.generators[0].iter]
    found: list[ast.AST] = []
    if isinstance(node, FUNCTIONS):
        found += [*node.args.defaults, *[d for d in node.args.kw_defaults if d is not None]]
    if isinstance(node, ast.ClassDef):
        found += [*node.bases, *[k.value for k in node.keywords]]
    return [*found, *getattr(node, "decorator_list", [])]


def names_of(node: ast.AST) -> Names:
    """Return what a scope does with names; a node keeps it, as each scope is asked for by those round it too."""
    names: Names | None = getattr(node, "names_of_scope", None)
    if names is not None:
        return names
    names = Names()
    node.names_of_scope = names  # type: ignore[attr-defined]
    if isinstance(node, FUNCTIONS):
        names.assigned |= set(parameters_of(node.args))
    inner: list[Names] = []
    outward: set[str] = set()
    for part in inside(node):
        note(names, part)
        if isinstance(part, SCOPES):
            inner.append(names_of(part))
            outward |= inner[-1].outward
        if isinstance(part, ast.NamedExpr) and isinstance(node, COMPREHENSIONS):
            outward.add(part.target.id)
    if isinstance(node, COMPREHENSIONS):
        names.outward, names.read = outward, names.read | outward
        names.assigned -= outward
    else:
        names.assigned |= outward
    names.assigned -= names.globals | names.nonlocals
    own = set() if isinstance(node, ast.ClassDef) else names.assigned
    for one in inner:
        names.shared |= one.free & own
        names.free |= one.free - own
    names.free |= (names.read | names.nonlocals) - names.assigned - names.globals
    return names


def note(names: Names, part: ast.AST) -> None:  # noqa: C901 - one case for each kind of node
    """Note what one node does with names."""
    match part:
        case ast.Name(id=name, ctx=ast.Load()):
            names.read.add(name)
        case ast.Name(id=name):
            names.assigned.add(name)
            if isinstance(part.ctx, ast.Del):
                names.read.add(name)
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            names.assigned.add(name)
        case ast.Import() | ast.ImportFrom():
            names.assigned |= {(item.asname or item.name.partition(".")[0]) for item in part.names}
        case ast.ExceptHandler(name=str(name)):
            names.assigned.add(name)
        case ast.Global():
            names.globals |= set(part.names)
        case ast.Nonlocal():
            names.nonlocals |= set(part.names)
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            names.assigned.add(name)
        case ast.MatchMapping(rest=str(name)):
            names.assigned.add(name)


NAMED: dict[type, str] = {ast.Name: "id", ast.Attribute: "attr", ast.FunctionDef: "name", ast.arg: "arg"}
"""Nodes whose name may be private to a class, with the field that has it."""


def make_private(node: ast.AST, kind: str) -> None:
    """Give names within a class that begin with two underscores the name of their class, as Python does."""
    for part in ast.iter_child_nodes(node):
        field = NAMED.get(type(part))
        name = getattr(part, field) if field else ""
        if field and name.startswith("__") and not name.endswith("__"):
            setattr(part, field, f"_{kind.lstrip('_')}{name}")
        make_private(part, part.name if isinstance(part, ast.ClassDef) else kind)


def with_private_names(tree: ast.Module) -> ast.Module:
    """Return a module in whose classes private names are those of the class."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            make_private(node, node.name)
    return tree


def yields(node: ast.AST) -> bool:
    """Return whether a node has a ``yield`` of its own scope."""
    waiting: list[ast.AST] = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Yield | ast.YieldFrom):
            return True
        if part is node or not isinstance(part, (*FUNCTIONS, ast.ClassDef, *COMPREHENSIONS)):
            waiting.extend(ast.iter_child_nodes(part))
    return False


class Yields(ast.NodeTransformer):
    """Takes the yields out of an expression: each is a statement of its own before it, that names what it is sent."""

    def __init__(self, names: set[str], steps: list[ast.stmt]) -> None:
        self.names, self.steps = names, steps

    def visit_Yield(self, node: ast.Yield | ast.YieldFrom) -> ast.expr:
        """Name what is sent."""
        self.generic_visit(node)
        name = f"sent {len(self.names)}"
        self.names.add(name)
        self.steps.append(ast.Assign([ast.Name(name, ast.Store())], node))
        return ast.Name(name, ast.Load())

    visit_YieldFrom = visit_Yield  # noqa: N815

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        """Leave the scopes in it."""
        return node
