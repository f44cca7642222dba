"""``match``: what a pattern tests and binds."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from gradcli.runner.containers import subscript, take
from gradcli.runner.objects import UNBOUND, Class, Evaluate, Frame, Instance
from gradcli.runner.operators import equal
from gradcli.runner.values import Tensor

Test = Callable[[Frame, Any], bool]
"""Whether a value fits a pattern; names of the pattern are bound on the way."""
BY_VALUE = ("bool", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple")
"""Classes whose one positional pattern is the value itself."""


def pattern(scope: Any, node: ast.pattern) -> Test:
    """Return what tests a pattern."""
    match node:
        case ast.MatchValue():
            value = scope.expression(node.value)
            return lambda regs, x: equal(regs[0], x, value(regs))
        case ast.MatchSingleton():
            return lambda regs, x: x is node.value
        case ast.MatchSequence():
            return sequence(scope, node.patterns)
        case ast.MatchMapping():
            return mapping(scope, node)
        case ast.MatchClass():
            return of_class(scope, node)
        case ast.MatchOr():
            parts = [pattern(scope, part) for part in node.patterns]
            return lambda regs, x: any(part(regs, x) for part in parts)
    return named(scope, node)


def named(scope: Any, node: Any) -> Test:
    """Return a pattern that binds a name, or nothing."""
    inner = pattern(scope, node.pattern) if isinstance(node, ast.MatchAs) and node.pattern is not None else None
    store = scope.store(node.name) if node.name is not None else None

    def run(regs: Frame, x: Any) -> bool:
        if inner is not None and not inner(regs, x):
            return False
        if store is not None:
            store(regs, x)
        return True

    return run


def sequence(scope: Any, nodes: list[ast.pattern]) -> Test:
    """Return a pattern of items, one of which may stand for any number."""
    star = next((k for k, node in enumerate(nodes) if isinstance(node, ast.MatchStar)), None)
    parts = [pattern(scope, node) for node in nodes]

    def run(regs: Frame, x: Any) -> bool:
        if not isinstance(x, list | tuple | range | Tensor):
            return False
        items = take(regs[0], x)
        if star is None:
            return len(items) == len(parts) and all(part(regs, item) for part, item in zip(parts, items, strict=True))
        end = len(parts) - star - 1
        if len(items) < len(parts) - 1:
            return False
        items = [*items[:star], items[star : len(items) - end], *items[len(items) - end :]]
        return all(part(regs, item) for part, item in zip(parts, items, strict=True))

    return run


def mapping(scope: Any, node: ast.MatchMapping) -> Test:
    """Return a pattern of entries; others are left, or bound together."""
    pairs = [(scope.expression(key), pattern(scope, part)) for key, part in zip(node.keys, node.patterns, strict=True)]
    rest = scope.store(node.rest) if node.rest is not None else None

    def run(regs: Frame, x: Any) -> bool:
        if not isinstance(x, dict):
            return False
        keys = [key(regs) for key, _ in pairs]
        if not all(key in x for key in keys):
            return False
        if not all(part(regs, subscript(regs[0], x, key)) for key, (_, part) in zip(keys, pairs, strict=True)):
            return False
        if rest is not None:
            rest(regs, {key: value for key, value in x.items() if key not in keys})
        return True

    return run


def of_class(scope: Any, node: ast.MatchClass) -> Test:
    """Return a pattern of an object and its attributes."""
    kind = scope.expression(node.cls)
    by_place = [pattern(scope, part) for part in node.patterns]
    by_name = [(name, pattern(scope, part)) for name, part in zip(node.kwd_attrs, node.kwd_patterns, strict=True)]

    def run(regs: Frame, x: Any) -> bool:
        from gradcli.runner.builtins import is_kind

        of = kind(regs)
        if not is_kind(regs[0], x, of):
            return False
        if by_place and isinstance(of, Class) and of.name in BY_VALUE:
            return len(by_place) == 1 and by_place[0](regs, x)
        names: Any = of.find("__match_args__") if isinstance(of, Class) else UNBOUND
        if names is UNBOUND:
            names = getattr(x, "fields", ()) if not isinstance(x, Instance) else ()
        if not isinstance(names, tuple):
            regs[0].fail("TypeError", f"{of.name}.__match_args__ must be a tuple")
        if len(by_place) > len(names):
            regs[0].fail(
                "TypeError", f"{of.name}() accepts {len(names)} positional sub-patterns ({len(by_place)} given)"
            )
        pairs = [*zip(names, by_place, strict=False), *by_name]
        return all(has(regs, x, name) and part(regs, regs[0].attribute(x, name)) for name, part in pairs)

    return run


def has(regs: Frame, x: Any, name: str) -> bool:
    """Return whether an object has an attribute."""
    return bool(regs[0].call(regs[0].builtin("hasattr"), [x, name]))


def cases(
    scope: Any, node: ast.Match, block: Callable[[list[ast.stmt]], Any]
) -> list[tuple[Test, Evaluate | None, Any]]:
    """Return the cases of a statement: the pattern, what guards it, and its body."""
    return [
        (
            pattern(scope, case.pattern),
            scope.expression(case.guard) if case.guard is not None else None,
            block(case.body),
        )
        for case in node.cases
    ]
