"""Lists with a name in a program that is no snippet: arrays here, and a note where Python's list would differ."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from gradcli.errors import GradcliError
from gradcli.language.snippets.lines import root_of
from gradcli.language.snippets.lists import Entries, entries_in
from gradcli.language.snippets.scopes import identifiers

AS_ARRAY = (
    "'{}' is an array here, as torch.stack([...]) makes it, and not a list of Python's: {}. With 'import torch' as the "
    "first line it is read as Python has it."
)


def list_remarks(tree: ast.Module) -> tuple[tuple[str, str], ...]:
    """Return the notes, as kinds and sentences, on lists that Python would treat otherwise."""
    assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign)]
    lists = {name for node in assigned for name in named_list(node)}
    if not lists:
        return ()
    found = dict(differences(tree, lists))
    return tuple(("list-as-array", AS_ARRAY.format(name, what)) for name, what in found.items())


def named_list(node: ast.Assign) -> Iterator[str]:
    """Yield the variable that an assignment makes a list of what are not all numbers."""
    value, target = node.value, node.targets[0]
    holds = isinstance(value, ast.List | ast.Tuple | ast.ListComp) and any(
        isinstance(part, ast.Name) for part in ast.walk(value)
    )
    if isinstance(target, ast.Name) and holds:
        yield target.id


def differences(tree: ast.Module, lists: Set[str]) -> Iterator[tuple[str, str]]:
    """Yield lists, each with what is otherwise than in Python."""
    entries = Entries(tree, lists)
    for node in ast.walk(tree):
        match node:
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=ast.List()) if name in lists:
                yield name, "+= adds to its entries, and appends none"
            case ast.BinOp(left=ast.Name(id=name), op=ast.Add(), right=ast.List()) if name in lists:
                yield name, "+ adds entries, and joins none"
            case ast.Assign() | ast.AugAssign() | ast.Expr():
                try:
                    entries.refuse_shared_writes(node)
                except GradcliError:
                    yield shared_list(node, lists), "it has copies of what it was made of"
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            for name in lists & set(entries_in(node.targets)) & set(identifiers(node.value)):
                yield name, "the first of these assignments changes what the next one reads"
    for name, of in entries.taken.items():
        if of in entries.stored:
            yield of, f"'{name}' shows its entry, and changes with it"


def shared_list(node: ast.stmt, lists: Set[str]) -> str:
    """Return the list that a statement writes to, or the first that there is."""
    written = {name for part in ast.walk(node) if isinstance(part, ast.expr) for name in root_of(part)}
    return min(written & lists or lists)
