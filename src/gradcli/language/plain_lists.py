"""Lists with a name in a program that is no snippet: arrays here, and a note where Python's list would differ."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from gradcli.language.lists import AS_ARRAY
from gradcli.language.names import MODULES
from gradcli.language.snippets.lists import as_operation, joins_lists, pairs_in
from gradcli.language.snippets.scopes import identifiers

CONSTANTS = MODULES | {"pi", "e", "inf", "nan"}


def list_remarks(tree: ast.Module) -> tuple[tuple[str, str], ...]:
    """Return the notes, as kinds and sentences, on lists that Python would treat otherwise."""
    assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign)]
    lists = {name for node in assigned for name in named_list(node)}
    if not lists:
        return ()
    found = dict(differences(tree, lists))
    return tuple(("list-as-array", AS_ARRAY.format(f"'{name}'", what)) for name, what in found.items())


def named_list(node: ast.Assign) -> Iterator[str]:
    """Yield the variables that an assignment makes lists or tuples of what are not all numbers."""
    for one, part in [*pairs_in(node)] or [(node.targets[0], node.value)]:
        holds = any(isinstance(each, ast.Name) and each.id not in CONSTANTS for each in ast.walk(part))
        if isinstance(one, ast.Name) and isinstance(part, ast.List | ast.Tuple | ast.ListComp) and holds:
            yield one.id


def differences(tree: ast.Module, lists: Set[str]) -> Iterator[tuple[str, str]]:
    """Yield lists, each with what is otherwise than in Python."""
    for node in ast.walk(tree):
        match node:
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add()) if joins_lists(as_operation(node), lists):
                yield name, "+= adds to its entries, and appends none"
            case ast.BinOp(op=ast.Add()) if joins_lists(node, lists) and not lists.isdisjoint(identifiers(node)):
                yield min(lists & set(identifiers(node))), "+ adds entries, and joins none"
