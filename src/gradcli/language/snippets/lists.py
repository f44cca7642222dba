"""Lists of Python in a snippet, which the language has as arrays: what that would make of them, and is refused."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator, Sequence, Set
from typing import cast

from gradcli.errors import GradcliError
from gradcli.language.names import MODULES
from gradcli.language.snippets.lines import ChangedList, changed_by, root_of
from gradcli.language.snippets.memory import SharedMemory
from gradcli.language.snippets.scopes import START, identifiers, is_list, parts, position, stored, whole_of


def joins_lists(node: ast.BinOp, lists: Container[str]) -> bool:
    """Return whether + joins two lists, or * repeats one."""
    left, right = is_sequence(node.left, lists), is_sequence(node.right, lists)
    if isinstance(node.op, ast.Add):
        return left and right
    other = node.right if left else node.left
    return left != right and isinstance(other, ast.Constant) and isinstance(other.value, int)


def is_sequence(node: ast.expr, lists: Container[str]) -> bool:
    """Return whether an expression is a list, a tuple or a part of one: of what Python's + joins."""
    whole = whole_of(node)
    if whole is not None:
        return is_sequence(whole, lists)
    match node:
        case ast.Attribute(attr="shape") | ast.Call(func=ast.Name(id="list" | "tuple" | "sorted")):
            return True
    return is_list(node, lists)


def as_operation(node: ast.AugAssign) -> ast.BinOp:
    """Return the operation of an augmented assignment."""
    return ast.BinOp(cast("ast.expr", node.target), node.op, node.value)


def joined_lists() -> GradcliError:
    """Return the error for lists that Python joins or repeats."""
    message = "Python joins lists by + and repeats them by *, and here they are arrays"
    return GradcliError(
        "not-allowed", message, hint="write the entries out, or torch.tensor([...]) to add and to scale"
    )


class Entries:
    """The lists of a snippet whose entries get other values, or are written to: Python's entries are names of tensors.

    An array's entries are numbers of its own, so that three things would come out otherwise, and are told apart here:

    - an entry that is read, and then gets another value: each read of the lists ``stored`` to is of a copy;
    - an entry that is written to in place, while the tensor has another name;
    - a variable that is written to in place after a list took it up.
    """

    def __init__(self, tree: ast.AST, lists: Set[str]) -> None:
        self.held: dict[str, list[ast.expr]] = {}
        self.first: dict[str, tuple[int, int]] = {}
        self.sliced: set[str] = set()
        self.displayed: set[str] = set()
        self.taken: dict[str, str] = {}
        assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign)]
        self.sources = {name: position(node) for node in assigned for name in sources_of(node)}
        self.memory = SharedMemory(tree, lists)
        for node in assigned:
            for target in node.targets:
                self.take(target, node.value, lists)
            part = node.value
            of_list = bool(root_of(part)) and root_of(part) <= lists
            if of_list and (isinstance(part, ast.Name) or is_entry(part) or is_entry(entry_under(part))):
                self.taken |= dict.fromkeys(taking(node, part), min(root_of(part)))
            if of_list and whole_of(part) is not None:
                self.sliced |= root_of(part) | {one.id for one in node.targets if isinstance(one, ast.Name)}
            for one, value in pairs_in(node):
                if isinstance(one, ast.Name) and root_of(value) & lists and is_entry(entry_under(value)):
                    self.taken[one.id] = min(root_of(value) & lists)
        for loop, call in appending(tree):
            self.take_appended(loop, call, lists)
        of_tensors = {
            name for name, values in self.held.items() if not all(isinstance(value, ast.Constant) for value in values)
        }
        self.stored = {name for node in assigned for name in entries_in(node.targets)} & of_tensors

    def changes(self, node: ast.expr) -> bool:
        """Return whether an expression is a list, or a part of one, whose entries get other values."""
        return not root_of(node).isdisjoint(self.stored)

    def take(self, target: ast.expr, value: ast.expr, lists: Container[str]) -> None:
        """Take what a list holds from an assignment to it, or to an entry of it."""
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for one, part in zip(target.elts, value.elts, strict=False):
                self.take(one, part, lists)
        elif isinstance(target, ast.Name) and target.id in lists and isinstance(value, ast.List | ast.Tuple):
            self.held.setdefault(target.id, []).extend(value.elts)
            self.displayed |= {target.id} if isinstance(value, ast.List) else set()
            self.take_up(self.memory.of(value), position(value))
        elif isinstance(target, ast.Name) and target.id in lists and isinstance(value, ast.ListComp | ast.Call):
            self.held.setdefault(target.id, []).append(entry_of(value))
            self.take_up(identifiers(value), position(value))
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and target.value.id in lists:
            self.held.setdefault(target.value.id, []).append(value)
            self.take_up(self.memory.of(value) - self.memory.lists, position(value))

    def take_appended(self, loop: ast.AST | None, call: ast.Call, lists: Container[str]) -> None:
        """Take what is appended to a list: in each turn of a loop another tensor, or the same one again."""
        name, entry = next(iter(root_of(call.func)), ""), call.args[0]
        if name not in lists:
            return
        self.held.setdefault(name, []).append(entry)
        variables = self.memory.of(entry)
        if isinstance(loop, ast.For) and variables & set(stored(loop.target)):
            variables |= set(identifiers(loop.iter))
        for variable in variables:
            again = loop is not None and variable not in assigned_in(loop)
            self.take_up([variable], START if again else position(call))

    def take_up(self, variables: Iterable[str | None], since: tuple[int, int]) -> None:
        """Note from where on a list holds variables."""
        for name in filter(None, variables):
            self.first[name] = min(since, self.first.get(name, since))

    def tensors_of(self, value: ast.expr) -> Set[str]:
        """Return the variables that an entry of a list may be; a list within a list is told by its own entries."""
        return frozenset() if isinstance(value, ast.List) else self.memory.of(value)

    def written_sources(self, node: ast.stmt) -> Iterator[GradcliError]:
        """Yield the errors for a statement that writes to tensors whose memory inputs have."""
        for changed in filter(None, map(changed_by, ast.walk(node))):
            for name in root_of(changed):
                if position(node) > self.sources.get(name, position(node)):
                    yield shared_entry(f"'{name}', which an input was made of,")

    def refuse_shared_writes(self, node: ast.stmt) -> None:
        """Refuse a statement that writes to a tensor which a list holds, and which has another name."""
        if not isinstance(node, ast.Assign | ast.AugAssign | ast.Expr):
            return
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", node)]
        copied = self.sliced & set(entries_in(targets))
        if copied:
            message = f"a slice or copy of a list is a list of its own, and '{min(copied)}' is changed here with it"
            raise GradcliError("not-allowed", message, hint="write the entries out")
        for changed in filter(None, map(changed_by, ast.walk(node))):
            for name in root_of(changed):
                of_entry = name in self.held and not isinstance(changed, ast.Name)
                if of_entry and (name in self.stored or any(map(self.tensors_of, self.held[name]))):
                    raise shared_entry(f"an entry of the list '{name}'")
                shared = sorted(self.memory.shared_with(name))
                for taken in (other for other in shared if other in self.taken):
                    of = self.taken[taken]
                    entries = self.held.get(of, [])
                    shown = any(isinstance(value, ast.List) or self.memory.of(value) for value in entries)
                    if of in self.stored or shown:
                        raise shared_entry(f"'{name}', an entry of the list '{of}',")
                for other in shared:
                    if other in self.first and position(node) > self.first[other]:
                        held = "which a list holds" if other == name else f"which may be one with '{other}' of a list"
                        raise shared_entry(f"'{name}', {held},")


def entry_of(node: ast.expr) -> ast.expr:
    """Return what a comprehension makes of each turn; a call of ``list`` of one is its list."""
    while isinstance(node, ast.Call) and node.args:
        node = node.args[0]
    return node.elt if isinstance(node, ast.ListComp | ast.GeneratorExp) else node


def refuse_changes_to(lists: Set[str], body: Sequence[ast.AST]) -> None:
    """Refuse a function that changes a list which it is given: what the list holds may have other names."""
    for changed in filter(None, map(changed_by, parts(body))):
        for name in root_of(changed) & lists:
            raise given_list(name)


def given_list(name: str) -> ChangedList:
    """Return the error for a function that changes a list which it is given."""
    message = f"'{name}' is a list that the function is given, and is changed in it"
    return ChangedList("not-allowed", message, hint="return the new values")


def is_entry(node: ast.expr) -> bool:
    """Return whether an expression is one entry of something."""
    return isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice)


def pairs_in(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield what gets a value with the value, where several of each stand on both sides."""
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from zip(target.elts, node.value.elts, strict=False)


def entry_under(node: ast.expr) -> ast.expr:
    """Return the entry of a variable that an index, an attribute or a method is of, or the expression itself."""
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Call):
        inner = node.func if isinstance(node, ast.Call) else node.value
        if isinstance(node, ast.Subscript) and isinstance(inner, ast.Name):
            return node
        node = inner
    return node


def taking(node: ast.Assign, value: ast.expr) -> Iterator[str]:
    """Yield the variables that an assignment gives entries of a list: of an entry, or of the list unpacked."""
    for target in node.targets:
        unpacks = isinstance(target, ast.Tuple | ast.List)
        if unpacks is isinstance(value, ast.Name):
            yield from stored(target)


def sources_of(node: ast.Assign) -> Iterator[str]:
    """Yield the variables whose memory an input has that a statement makes."""
    for call in (part for part in ast.walk(node.value) if isinstance(part, ast.Call) and part.args):
        name, source = getattr(call.func, "attr", getattr(call.func, "id", "")), call.args[0]
        wanted = name == "Parameter" or (name in SHARING and "requires_grad" in ast.unparse(node.value))
        yield from filter(None, [variable_of(source)] if wanted and not copies(source) else [])
    method = node.value.func if isinstance(node.value, ast.Call) else None
    if isinstance(method, ast.Attribute) and method.attr == "requires_grad_" and not copies(method.value):
        yield from filter(None, [variable_of(method.value)] if not isinstance(method.value, ast.Name) else [])


def copies(node: ast.expr) -> bool:
    """Return whether an expression is of a copy."""
    return any(isinstance(part, ast.Attribute) and part.attr in ("clone", "copy") for part in ast.walk(node))


GROWS = ("append", "extend", "insert", "pop", "remove", "clear")
"""Methods that change how many entries a list has."""
SHARING = ("from_numpy", "as_tensor")
"""Functions whose result has the memory of what they are given."""


def appending(tree: ast.AST) -> Iterator[tuple[ast.AST | None, ast.Call]]:
    """Yield the calls of ``append`` with one argument, each with the innermost loop round it."""
    left: list[tuple[ast.AST, ast.AST | None]] = [(tree, None)]
    while left:
        node, loop = left.pop()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
            yield from [(loop, node)] if len(node.args) == 1 else []
        inner = node if isinstance(node, ast.For | ast.While) else loop
        left.extend((part, inner) for part in ast.iter_child_nodes(node))


def assigned_in(loop: ast.AST) -> set[str]:
    """Return the variables that plain assignments of a loop give another value."""
    assigned = (part for part in ast.walk(loop) if isinstance(part, ast.Assign))
    return {name for part in assigned for target in part.targets for name in stored(target)}


def entries_in(targets: Sequence[ast.AST]) -> Iterator[str]:
    """Yield the variables to whose entries an assignment gives values."""
    for target in targets:
        for one in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
            if isinstance(one, ast.Subscript) and isinstance(one.value, ast.Name):
                yield one.value.id


def variable_of(node: ast.expr) -> str | None:
    """Return the variable whose memory a value may be: itself, a part of it, what a method of it gives."""
    return next(iter(root_of(node) - MODULES), None)


def shared_entry(what: str) -> GradcliError:
    """Return the error for a write in place to a tensor that a list has in common with a name."""
    message = f"{what} is written to in place: it and what has its memory are one tensor in Python, and two here"
    return GradcliError(
        "not-allowed", message, hint="give the tensor one name, and write name = ... with its new value"
    )


def refuse_writes_to_rows(node: ast.For, lists: Container[str]) -> None:
    """Refuse a loop over a list that writes to what the list holds: tensors that have other names too."""
    rows = node.iter.args if isinstance(node.iter, ast.Call) else [node.iter]
    if not any(is_list(row, lists) for row in rows):
        return
    memory = SharedMemory(ast.Module(node.body, []), frozenset())
    names = {one for name in stored(node.target) for one in memory.shared_with(name)}
    changed = filter(None, map(changed_by, parts(node.body)))
    if any(root_of(target) <= names and root_of(target) for target in changed):
        message = "a loop over a list writes to what the list holds"
        raise GradcliError("not-allowed", message, hint="write to each of them on a line of its own")
    looped = {row.id for row in rows if isinstance(row, ast.Name)}
    grown = [part for part in parts(node.body) if isinstance(part, ast.Call) and is_growth(part)]
    if any(root_of(part.func) & looped for part in grown):
        message = "a list changes its length while a loop runs over it"
        raise GradcliError("not-allowed", message, hint="count with while i < len(L), or run over a copy, L[:]")


def is_growth(call: ast.Call) -> bool:
    """Return whether a call may change how many entries a list has."""
    return isinstance(call.func, ast.Attribute) and call.func.attr in GROWS


def does_nothing(node: ast.stmt) -> bool:
    """Return whether a statement changes no value: ``del`` of names does not, and of an entry makes others move up."""
    if isinstance(node, ast.Delete):
        return all(isinstance(target, ast.Name) for target in node.targets)
    return isinstance(node, ast.Pass | ast.Assert)
