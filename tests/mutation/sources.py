"""Where a rule is written: its text without comments and blanks, with all that it calls."""

from __future__ import annotations

import ast
import functools
import hashlib
import io
import sys
import tokenize
from types import CodeType, FunctionType

import numpy as np

FUNCTIONS = (ast.FunctionDef, ast.Lambda)


@functools.cache
def text_of(module):
    with open(module.__file__, encoding="utf-8") as file:  # noqa: PTH123 - the path of an imported module
        return file.read()


@functools.cache
def tree_of(module):
    return ast.parse(text_of(module))


@functools.cache
def functions_of(module):
    """Return the functions of a module by the line in which each begins, decorators included."""
    found = {}
    for node in ast.walk(tree_of(module)):
        if isinstance(node, FUNCTIONS):
            lines = [node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))]
            found.setdefault(min(lines), []).append(node)
    return found


def node_of(code, module):
    """Return the syntax of a code object; lambdas of one line are told apart by where their bodies stand."""
    nodes = functions_of(module).get(code.co_firstlineno, ())
    if code.co_name != "<lambda>":
        return next((node for node in nodes if getattr(node, "name", None) == code.co_name), None)
    places = [place for place in code.co_positions() if place[0] is not None and place[2:] != (0, 0)]
    start = min((line, column) for line, _, column, _ in places)
    end = max((line, column) for _, line, _, column in places)
    bodies = [node for node in nodes if isinstance(node, ast.Lambda) and holds(node.body, start, end)]
    return min(bodies, key=lambda node: node.end_col_offset - node.col_offset, default=None)


def holds(body, start, end):
    """Return whether an expression begins and ends where some code does, parentheses aside."""
    return (body.lineno, body.col_offset) <= start and end <= (body.end_lineno, body.end_col_offset)


def normalised(node, module):
    """Return the text of a function without comments, docstring and blanks: the same in every version of Python."""
    segment = ast.get_source_segment(text_of(module), node)
    doc = ast.get_docstring(node, clean=False) if isinstance(node, ast.FunctionDef) else None
    if doc is not None:
        segment = segment.replace(ast.get_source_segment(text_of(module), node.body[0]), "", 1)
    lines = segment.splitlines()
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(segment).readline))
    except (tokenize.TokenError, IndentationError):
        tokens = []
    for token in reversed(tokens):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    return "".join("".join(lines).split())


def nested(code):
    """Yield a code object and those inside of it."""
    yield code
    for item in code.co_consts:
        if isinstance(item, CodeType):
            yield from nested(item)


def ours(value):
    return isinstance(value, FunctionType) and value.__module__.startswith("gradcli.")


def parts(value, seen):
    """Yield the texts of a rule and of everything of the project that it reaches: helpers, constants, closures."""
    value = getattr(value, "__wrapped__", value)
    if isinstance(value, type) and ours(getattr(value, "rules", None)):
        value = value.rules
    if isinstance(value, np.ufunc) or (callable(value) and not ours(value)):
        yield getattr(value, "__name__", type(value).__name__)
    elif isinstance(value, int | float | str):
        yield repr(value)
    elif isinstance(value, tuple | dict):
        yield str(len(value))
        for item in value if isinstance(value, tuple) else value.values():
            yield from parts(item, seen)
    elif ours(value) and value.__code__ not in seen:
        seen.add(value.__code__)
        module = sys.modules[value.__module__]
        node = node_of(value.__code__, module)
        yield value.__qualname__ if node is None else normalised(node, module)
        names = {name for code in nested(value.__code__) for name in code.co_names}
        reached = [value.__globals__[name] for name in sorted(names) if name in value.__globals__]
        reached += [cell.cell_contents for cell in value.__closure__ or ()]
        for item in reached:
            yield from parts(item, seen)


def fingerprint(rules):
    """Return a short hash of rules and of all that they reach."""
    seen = set()
    text = "\n".join(sorted(part for rule in rules for part in parts(rule, seen)))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def reached_code(rule):
    """Return the code objects that a rule reaches."""
    seen = set()
    for _ in parts(rule, seen):
        pass
    return seen
