"""Lists, generators and numbers that have a second name in a snippet: what that would not see here, and is refused.

The language has a copy for each name of a list, a generator's values from the line that it stands in, of a tensor that
is written past its gradient the numbers that backward kept, and doubles alone: a cast to the dtype that a tensor has is
that tensor, and to another one a copy.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Container, Iterator

from gradcli.errors import GradcliError
from gradcli.language.snippets.lines import base_of, changed_by, root_of
from gradcli.language.snippets.lists import ONE_NAME, SHARING, is_growth, pairs_in
from gradcli.language.snippets.scopes import START, identifiers, position, stored
from gradcli.language.snippets.tables import SHOWING

CASTS = ("double", "float", "half", "int", "long", "short", "type", "type_as")
"""Methods that give the tensor itself where it has that dtype."""


class SecondNames:
    """The names of a snippet, and what each of them has in common with another one."""

    def __init__(self, tree: ast.Module, lists: Container[str]) -> None:
        self.lists = lists
        blocks = [part for node in tree.body if hasattr(node, "body") for part in ast.walk(node)]
        self.growing = {name for part in blocks for name in grown_by(part)}
        written = filter(None, map(changed_by, blocks))
        self.changing = self.growing | {name for part in written for name in root_of(part)}
        assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign)]
        self.aliases = {name for node in assigned for name in alias_in(node, lists)}
        kinds = Counter(name for node in assigned for target in node.targets for name in stored(target))
        tuples = Counter(node.targets[0].id for node in assigned if is_tuple(node))  # type: ignore[attr-defined]
        self.tuples = {name for name, count in tuples.items() if count == kinds[name]}
        self.stores = {name: position(node) for node in assigned for name in changed_in(node)}
        unkept = {id(name) for part in ast.walk(tree) if keeps_nothing(part) for name in ast.walk(part)}
        self.reads = [
            (part.id, position(part))
            for part in ast.walk(tree)
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load) and id(part) not in unkept
        ]
        self.count = Counter(name for name, _ in self.reads)
        self.numbers = dict(pair for node in assigned for pair in numbers_in(node))
        self.casts = [pair for node in assigned for pair in casts_in(node)]

    def refuse(self, node: ast.stmt) -> None:
        """Refuse a statement after which one of two names would not hold what it holds in Python."""
        if isinstance(node, ast.Assign | ast.AugAssign | ast.Expr):
            self.refuse_lists(node)
            self.refuse_numbers(node)
            self.refuse_casts(node)

    def refuse_lists(self, node: ast.Assign | ast.AugAssign | ast.Expr) -> None:
        """Refuse a list of two names that grows, entries that move up, and generators that see later values."""
        for part in ast.walk(node):
            changed = changed_by(part)
            if changed is not None and not root_of(changed) and isinstance(base_of(changed), ast.List | ast.Tuple):
                raise GradcliError("not-allowed", "a tensor is written to in a list without a name", hint=ONE_NAME)
            fixed = self.tuples & (grown_by(part) | entry_of(part))
            if fixed:
                raise GradcliError(
                    "not-allowed", f"'{min(fixed)}' is a tuple, which Python does not change", hint="[...]"
                )
            both = grown_by(part) & self.aliases
            if both:
                raise two_names(f"'{min(both)}' is one list with another name, and grows here")
        for target in node.targets if isinstance(node, ast.Assign) else []:
            if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Slice):
                if isinstance(target.value, ast.Name) and target.value.id in self.lists:
                    raise two_names("a slice of a list is assigned, which may have another length then")
            elif isinstance(target, ast.Name) and isinstance(node.value, ast.GeneratorExp):
                later = [name for name in identifiers(node.value) if self.stores.get(name, START) > position(node)]
                if later or self.count[target.id] > 1:
                    what = f"'{later[0]}' changes before it runs" if later else "it runs once, and is read again"
                    raise GradcliError("not-allowed", f"a generator with a name: {what}", hint="write a list, [...]")

    def refuse_numbers(self, node: ast.stmt) -> None:
        """Refuse a write past the gradient of what was read before: backward takes the new numbers there."""
        for changed in filter(None, map(changed_by, ast.walk(node))):
            for name in root_of(changed):
                other = name if is_past(changed) else self.numbers.get(name)
                if any(read == other and before < position(node) for read, before in self.reads):
                    message = f"the numbers of '{other}' are written to past its gradient, after it was read"
                    raise GradcliError("not-allowed", message, hint=f"write to it before, or give '{other}' a copy")

    def refuse_casts(self, node: ast.stmt) -> None:
        """Refuse a write to a tensor, or to its cast, where the other one is read later."""
        for changed in filter(None, map(changed_by, ast.walk(node))):
            roots = root_of(changed)
            others = {b if a in roots else a for a, b in self.casts if {a, b} & roots and a != b}
            others |= roots if any(map(is_cast, ast.walk(changed))) else set()
            later = next((read for read, at in self.reads if read in others and at > position(node)), None)
            if later is not None:
                message = f"whether this changes '{later}' too depends on the dtypes: a cast may be a copy, or not"
                raise GradcliError("not-allowed", message, hint="write .clone() where a copy is meant")


def casts_in(node: ast.Assign) -> Iterator[tuple[str, str]]:
    """Yield the name of a cast with that of what it is cast from."""
    for target in node.targets:
        if isinstance(target, ast.Name) and is_cast(node.value):
            given = node.value.args[:1] if isinstance(node.value, ast.Call) else []
            yield from ((target.id, name) for part in (node.value, *given) for name in root_of(part))


def is_cast(node: ast.AST) -> bool:
    """Return whether an expression may be its argument or a copy of it, which its dtype decides."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    method, given = node.func.attr, [*node.args, *(item.value for item in node.keywords)]
    if any(item.arg == "copy" and ast.unparse(item.value) == "True" for item in node.keywords):
        return False
    if method == "to":
        return any(not isinstance(each, ast.Constant) and "device" not in ast.unparse(each) for each in given)
    if method in ("asarray", "as_tensor", "astype"):
        return any(item.arg == ("copy" if method == "astype" else "dtype") for item in node.keywords)
    return method in CASTS


def is_tuple(node: ast.Assign) -> bool:
    """Return whether an assignment gives one variable a tuple as it is written."""
    return len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.Tuple)


def entry_of(node: ast.AST) -> set[str]:
    """Return the variable to an entry of which a syntax node gives another value."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
            return {name}
    return set()


def grown_by(node: ast.AST) -> set[str]:
    """Return the variable of the list that a syntax node makes longer or shorter."""
    return root_of(node.func) if isinstance(node, ast.Call) and is_growth(node) else set()


def alias_in(node: ast.Assign, lists: Container[str]) -> Iterator[str]:
    """Yield the names that one list has after ``a = b``, ``a = b = []`` and ``a, b = c, d``."""
    for target, value in (*((target, node.value) for target in node.targets), *pairs_in(node)):
        if isinstance(target, ast.Name) and isinstance(value, ast.Name) and value.id in lists:
            yield from (target.id, value.id)
    if len(node.targets) > 1:
        yield from (name for target in node.targets for name in stored(target))


def changed_in(node: ast.Assign) -> Iterator[str]:
    """Yield the variables that an assignment gives a value, or an entry."""
    for target in node.targets:
        yield from stored(target)
        yield from root_of(target) if isinstance(target, ast.Subscript) else ()


def numbers_in(node: ast.Assign) -> Iterator[tuple[str, str]]:
    """Yield an array with the tensor that has its numbers."""
    call, target = node.value, node.targets[0]
    gives = isinstance(call, ast.Call) and getattr(call.func, "attr", "") in SHARING
    if gives and isinstance(call, ast.Call) and isinstance(target, ast.Name):
        yield from ((source.id, target.id) for source in call.args[:1] if isinstance(source, ast.Name))


def keeps_nothing(node: ast.AST) -> bool:
    """Return whether backward needs nothing of what a syntax node reads: it is shown, written to, or numbers alone."""
    shows = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SHOWING
    writes = isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store)
    return shows or writes or (isinstance(node, ast.Attribute) and node.attr == "data")


def is_past(node: ast.expr) -> bool:
    """Return whether an expression is of the numbers of a tensor without its history: ``.data``, ``.numpy()``."""
    return any(isinstance(part, ast.Attribute) and part.attr in ("data", "numpy") for part in ast.walk(node))


def two_names(message: str) -> GradcliError:
    """Return the error for a list that is no array."""
    return GradcliError("not-allowed", message, hint="write the entries out, L = [...]")
