"""Lists of Python in a snippet, which the language has as arrays: what that would make of them, and is refused."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Sequence
from typing import cast

from gradcli.errors import GradcliError
from gradcli.language.names import MODULES
from gradcli.language.snippets.lines import changed_by, root_of
from gradcli.language.snippets.scopes import grown, is_list, parts, position, whole_of


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


def displays_of(value: ast.expr) -> Iterator[ast.expr]:
    """Yield the displays that are lists in a value: itself, of an entry, of a choice, in a list, appended to one."""
    match value:
        case ast.List(elts=entries) | ast.Tuple(elts=entries):
            yield value
            for entry in entries:
                yield from displays_of(entry)
        case ast.IfExp(body=one, orelse=other):
            yield from (*displays_of(one), *displays_of(other))
        case ast.Subscript(value=display):
            yield from displays_of(display)
        case ast.Call() if grown(value) is not None:
            yield from displays_of(value.args[0].elts[1])  # type: ignore[attr-defined]


def is_tolist(call: ast.Call) -> bool:
    """Return whether a call is of the method that makes a list of a tensor's numbers."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == "tolist"


TWO_TENSORS = "in Python both are one tensor, and here two"
ONE_NAME = "give the tensor one name, and write name = ... with its new value"


class Sources:
    """The variables of a snippet whose memory inputs have, each with the place of the last statement that says so."""

    def __init__(self, tree: ast.AST) -> None:
        assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign)]
        self.since = {name: position(node) for node in assigned for name in sources_of(node)}

    def refusals(self, node: ast.stmt) -> Iterator[GradcliError]:
        """Yield the errors for a statement that writes to tensors whose memory inputs have."""
        for changed in filter(None, map(changed_by, ast.walk(node))):
            for name in root_of(changed):
                if position(node) > self.since.get(name, position(node)):
                    what = (
                        f"'{name}', which an input was made of, is written to in place: in Python both are one tensor"
                    )
                    hint = "give the tensor one name, and write name = ... with its new value"
                    yield GradcliError("not-allowed", f"{what}, and here two", hint=hint)


def displayed(tree: ast.AST) -> set[str]:
    """Return the variables that are assigned lists as they are written."""
    assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign) and isinstance(node.value, ast.List)]
    return {target.id for node in assigned for target in node.targets if isinstance(target, ast.Name)}


def changing(tree: ast.AST, lists: set[str]) -> set[str]:
    """Return the lists whose entries get other values."""
    assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign)]
    return lists & {name for node in assigned for name in entries_in(node.targets)}


def pairs_in(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield what gets a value with the value, where several of each stand on both sides."""
    for target in node.targets:
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            yield from zip(target.elts, node.value.elts, strict=False)


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


def entries_in(targets: Sequence[ast.AST]) -> Iterator[str]:
    """Yield the variables to whose entries an assignment gives values."""
    for target in targets:
        for one in target.elts if isinstance(target, ast.Tuple | ast.List) else [target]:
            if isinstance(one, ast.Subscript) and isinstance(one.value, ast.Name):
                yield one.value.id


def variable_of(node: ast.expr) -> str | None:
    """Return the variable whose memory a value may be: itself, a part of it, what a method of it gives."""
    return next(iter(root_of(node) - MODULES), None)


def refuse_growth_of_rows(node: ast.For, lists: Container[str]) -> None:
    """Refuse a loop over a list that changes how many entries it has."""
    rows = node.iter.args if isinstance(node.iter, ast.Call) else [node.iter]
    looped = {row.id for row in rows if isinstance(row, ast.Name) and row.id in lists}
    grown = [part for part in parts(node.body) if isinstance(part, ast.Call) and is_growth(part)]
    if any(root_of(part.func) & looped for part in grown):
        message = "a list changes its length while a loop runs over it"
        raise GradcliError("not-allowed", message, hint="count with while i < len(L), or run over a copy, L[:]")


def given_list(name: str) -> GradcliError:
    """Return the error for a function that changes the length of a list which it is given."""
    message = f"'{name}' is a list that the function is given, and is changed in it"
    return GradcliError("not-allowed", message, hint="return the new values")


def is_growth(call: ast.Call) -> bool:
    """Return whether a call may change how many entries a list has."""
    return isinstance(call.func, ast.Attribute) and call.func.attr in GROWS


def does_nothing(node: ast.stmt) -> bool:
    """Return whether a statement changes no value: ``del`` of names does not, and of an entry makes others move up."""
    if isinstance(node, ast.Delete):
        return all(isinstance(target, ast.Name) for target in node.targets)
    return isinstance(node, ast.Pass | ast.Assert)
