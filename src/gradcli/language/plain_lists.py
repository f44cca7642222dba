"""Lists with a name in a program that is no snippet: arrays here, and a note where Python's list would differ."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

from gradcli.errors import GradcliError
from gradcli.language.names import MODULES
from gradcli.language.snippets.lines import changed_by, root_of
from gradcli.language.snippets.lists import Entries, as_operation, entries_in, joins_lists, pairs_in
from gradcli.language.snippets.scopes import identifiers

AS_ARRAY = (
    "'{}' is an array here, as torch.stack([...]) makes it, and not a list of Python's: {}. With 'import torch' as the "
    "first line it is read as Python has it, or refused."
)

CONSTANTS = MODULES | {"pi", "e", "inf", "nan"}


def list_remarks(tree: ast.Module) -> tuple[tuple[str, str], ...]:
    """Return the notes, as kinds and sentences, on lists that Python would treat otherwise."""
    assigned = [node for node in ast.walk(tree) if isinstance(node, ast.Assign)]
    lists = {name for node in assigned for name in named_list(node)}
    if not lists:
        return ()
    found = dict(differences(tree, lists))
    return tuple(("list-as-array", AS_ARRAY.format(name, what)) for name, what in found.items())


def named_list(node: ast.Assign) -> Iterator[str]:
    """Yield the variables that an assignment makes lists or tuples of what are not all numbers."""
    for one, part in [*pairs_in(node)] or [(node.targets[0], node.value)]:
        holds = any(isinstance(each, ast.Name) and each.id not in CONSTANTS for each in ast.walk(part))
        if isinstance(one, ast.Name) and isinstance(part, ast.List | ast.Tuple | ast.ListComp) and holds:
            yield one.id


def differences(tree: ast.Module, lists: Set[str]) -> Iterator[tuple[str, str]]:
    """Yield lists, each with what is otherwise than in Python."""
    entries = Entries(tree, lists)
    for node in ast.walk(tree):
        match node:
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add()) if joins_lists(as_operation(node), lists):
                yield name, "+= adds to its entries, and appends none"
            case ast.BinOp(op=ast.Add()) if joins_lists(node, lists) and not lists.isdisjoint(identifiers(node)):
                yield min(lists & set(identifiers(node))), "+ adds entries, and joins none"
            case ast.Assign() | ast.AugAssign() | ast.Expr():
                try:
                    entries.refuse_shared_writes(node)
                except GradcliError:
                    yield holder(node, entries, lists), "it has copies of what it was made of"
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            for name in lists & set(entries_in(node.targets)) & set(identifiers(node.value)):
                yield name, "the first of these assignments changes what the next one reads"
    for name, of in entries.taken.items():
        if of in entries.stored:
            yield of, f"'{name}' shows its entry, and changes with it"


def holder(node: ast.stmt, entries: Entries, lists: Set[str]) -> str:
    """Return the list that a statement writes to, or one that holds what it writes to."""
    written = {name for part in filter(None, map(changed_by, ast.walk(node))) for name in root_of(part)}
    written |= {other for name in written for other in entries.memory.shared_with(name)}
    holding = {name for name, values in entries.held.items() if written & entries.memory.of_all(values)}
    return min(written & lists or holding or lists)
