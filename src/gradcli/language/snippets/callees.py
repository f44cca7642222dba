"""What the calls of a snippet are, as far as their syntax says."""

from __future__ import annotations

import ast
from collections.abc import Container

from gradcli.errors import GradcliError, Span
from gradcli.language.snippets.pieces import Source
from gradcli.language.snippets.scopes import is_list


def is_of_math(full: str) -> bool:
    """Return whether a function is one of Python's math that gives a float: no gradient flows through it."""
    module, _, name = full.partition(".")
    return module == "math" and name not in ("floor", "ceil", "trunc", "isqrt", "factorial", "comb", "gcd", "prod")


def makes_input(node: ast.Call) -> bool:
    """Return whether a call has ``requires_grad=True``, or another value that is not False."""
    given = [item.value for item in node.keywords if item.arg == "requires_grad"]
    return any(not (isinstance(value, ast.Constant) and not value.value) for value in given)


def is_own_sum(node: ast.Call) -> bool:
    """Return whether a call is of Python's own sum, which adds up along the first axis: that of the language all."""
    return isinstance(node.func, ast.Name) and node.func.id == "sum" and not node.keywords


def is_of_rows(node: ast.expr) -> bool:
    """Return whether a loop runs over ``enumerate`` or ``zip``."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("enumerate", "zip")


def is_truth(node: ast.expr) -> bool:
    """Return whether an expression is true or false, as far as its syntax says."""
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    return isinstance(node, ast.Compare) or (isinstance(node, ast.Constant) and isinstance(node.value, bool))


def of_turns(node: ast.Call) -> bool:
    """Return whether a call is of what a comprehension gives."""
    return any(isinstance(argument, ast.ListComp | ast.GeneratorExp) for argument in node.args)


def says_nothing(item: ast.keyword, func: ast.expr) -> bool:
    """Return whether a keyword changes no value: a device, a gradient that is wanted; a copy, but where a cast is."""
    casts = getattr(func, "attr", "") in ("to", "astype")
    return item.arg in ("device", "requires_grad", "pin_memory") or (item.arg == "copy" and not casts)


def all_gone(node: ast.Call) -> bool:
    """Return whether no keyword of a call changes a value."""
    return all(says_nothing(item, node.func) for item in node.keywords)


def keyword_span(source: Source, node: ast.Call, item: ast.keyword, gone: list[ast.keyword]) -> Span:
    """Return what to leave out of a call with one of its keywords: a comma too. All that go are ``gone``."""
    start, end = source.span(item)
    comma = source.code.rfind(",", source.span(node.func)[1], start)
    if comma >= 0:
        return (comma, end)
    after = node.keywords[1:2]
    return (start, source.span(after[0])[0] if after and after[0] not in gone else end)


def may_be_given(node: ast.expr, lists: Container[str]) -> bool:
    """Return whether an expression may be one of the values in it, and no new one."""
    if isinstance(node, ast.IfExp):
        return any(isinstance(part, ast.Name) or may_be_given(part, lists) for part in (node.body, node.orelse))
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.UAdd)
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr in SAME
    return isinstance(node, ast.Subscript) and is_list(node.value, lists)


SAME = ("contiguous", "cpu", "cuda", "to", "type", "double", "float", "type_as", "requires_grad_")
"""Methods that give the tensor itself where nothing is to be done."""


def random_draw(name: str) -> GradcliError:
    """Return the error for numbers that are drawn at random."""
    return GradcliError(
        "random",
        f"{name} draws numbers at random: a program has the same value at every run",
        hint="write the numbers, or give this value a name and the numbers with that name",
    )
