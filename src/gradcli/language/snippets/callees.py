"""What the calls of a snippet are, as far as their syntax says."""

from __future__ import annotations

import ast
from collections.abc import Container

from gradcli.errors import GradcliError, Span
from gradcli.language.names import MODULES
from gradcli.language.snippets.pieces import Source
from gradcli.language.snippets.scopes import is_list, whole_of


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
    """Return whether an expression may be one of the values in it, or hold one, and not be all new."""
    if (whole := whole_of(node)) is not None and is_list(whole, lists):
        return True
    parts: list[ast.expr] = []
    match node:
        case ast.IfExp(body=one, orelse=other):
            parts = [one, other]
        case ast.UnaryOp(op=ast.UAdd(), operand=part) | ast.Attribute(attr="real", value=part):
            parts = [part]
        case ast.List(elts=entries) | ast.Tuple(elts=entries):
            parts = entries
        case ast.Subscript(value=part):
            return is_list(part, lists) or (isinstance(part, ast.Subscript | ast.Call) and may_be_given(part, lists))
        case ast.Call(func=func, args=given):
            name = callee_of(func)
            own = isinstance(func, ast.Name) and name in ("max", "min")
            if own or name in SAME or "dropout" in name.lower():
                parts = [*given, *([func.value] if isinstance(func, ast.Attribute) else [])]
    return any(is_value(part) or may_be_given(part, lists) for part in parts)


def is_value(node: ast.expr) -> bool:
    """Return whether an expression is a variable."""
    return isinstance(node, ast.Name) and node.id not in MODULES


def callee_of(func: ast.expr) -> str:
    """Return the name of what is called, that of its class for a layer: ``Identity`` of ``nn.Identity()(x)``."""
    while isinstance(func, ast.Call) or (isinstance(func, ast.Attribute) and func.attr in ("eval", "train")):
        func = func.func if isinstance(func, ast.Call) else func.value
    return func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")


SAME = (
    "contiguous", "cpu", "cuda", "to", "type", "double", "float", "type_as", "requires_grad_", "flatten", "Flatten",
    "conj", "resolve_conj", "resolve_neg", "real", "positive", "atleast_1d", "atleast_2d", "atleast_3d", "Identity",
    "broadcast_tensors", "sum_to_size",
)  # fmt: skip
"""Functions, methods and layers that give the tensor itself where nothing is to be done."""


def random_draw(name: str) -> GradcliError:
    """Return the error for numbers that are drawn at random."""
    return GradcliError(
        "random",
        f"{name} draws numbers at random: a program has the same value at every run",
        hint="write the numbers, or give this value a name and the numbers with that name",
    )
