"""The names of a snippet: which are free, which hold lists of Python's, and which may."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Set
from itertools import count

from gradcli.language.snippets.imports import known
from gradcli.language.snippets.scopes import Scope, identifiers, is_list, pairs_in, stored


class Fresh:
    """Gives names that no other part of a snippet has."""

    def __init__(self, tree: ast.AST) -> None:
        self.used = Counter(identifiers(tree))
        self.stored = Counter(stored(tree))
        self.lists = names_of_lists(tree)
        self.maybe_lists = names_of_maybe(tree, self.lists)
        self.made: set[str] = set()

    def lists_in(self, scope: Scope) -> Set[str]:
        """Return the names that hold lists in a scope."""
        return {name for name in self.lists if scope.written(name) is None} | scope.lists

    def local(self, name: str, function: ast.AST) -> str:
        """Return how a local name of a function is written: as it is, unless another part of the snippet has it."""
        outside = self.used[name] - Counter(identifiers(function))[name]
        return self.take(name, free=not outside and not known(name))

    def result(self, name: str) -> str:
        """Return the name of what a function returned: that of the function, where no variable has it."""
        return self.take(name, free=name not in self.stored and not known(name))

    def take(self, name: str, free: bool) -> str:
        """Return the name itself if it is free and nobody took it, else with the first number that makes it so."""
        found = name
        if not free or name in self.made:
            numbered = (f"{name}{number}" for number in count(1))
            found = next(n for n in numbered if n not in self.made and not self.used[n] and not known(n))
        self.made.add(found)
        return found


def names_of_lists(tree: ast.AST) -> set[str]:
    """Return the variables that are assigned lists or tuples alone: displays, other such variables, and joined ones.

    Parameters are of the same name at most: what they are given, each call says.
    """
    assigned: dict[str, list[ast.expr]] = {}
    times = Counter(
        part.id for part in ast.walk(tree) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    )
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                for one, value in pairs_in(target, node.value):
                    assigned.setdefault(one.id, []).append(value)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            times.subtract([node.target.id])
    lists: set[str] = set()
    left = {name: values for name, values in assigned.items() if len(values) == times[name]}
    while found := {name for name, values in left.items() if all(is_list(value, lists | {name}) for value in values)}:
        lists |= found
        left = {name: values for name, values in left.items() if name not in found}
    return lists


def names_of_maybe(tree: ast.AST, lists: Set[str]) -> set[str]:
    """Return the variables that may hold lists: ``lists``, what functions and choices give, and entries of such."""
    found = set(lists)
    stores = [
        ({name for target in targets for name in stored(target)}, value)
        for targets, value in map(given_by, ast.walk(tree))
        if value is not None
    ]
    while new := {name for names, value in stores if may_hold(value, found) for name in names} - found:
        found |= new
    return found


def given_by(node: ast.AST) -> tuple[list[ast.expr], ast.expr | None]:
    """Return what a statement assigns to, and the value, or that whose entries it is."""
    match node:
        case ast.Assign(targets=targets, value=value):
            return targets, value
        case ast.For(target=target, iter=rows):
            return [target], rows
    return [], None


def may_hold(node: ast.expr, names: Set[str]) -> bool:
    """Return whether a value may be a list, or an entry of one, where the variables ``names`` may be lists."""
    match node:
        case ast.Name(id=name):
            return name in names
        case ast.Subscript(value=part):
            return may_hold(part, names)
        case ast.IfExp(body=one, orelse=other):
            return may_hold(one, names) or may_hold(other, names)
        case ast.Call(func=ast.Name(id=name), args=given):
            return name != "range" and (
                name not in ("zip", "enumerate") or any(may_hold(each, names) for each in given)
            )
    return is_list(node, names)
