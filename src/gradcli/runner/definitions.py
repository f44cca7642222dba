"""The source of a Python function or class: the piece of its file that it was made of, found without running anything."""

from __future__ import annotations

import ast
import dis
import inspect
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from types import CodeType
from typing import Any

from gradcli.errors import GradcliError
from gradcli.runner.pasted import FOREIGN

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
NUMBERS = (int, float, complex)
NAMES = (ast.Name, ast.Attribute)
CONSTANT = (ast.BinOp, ast.UnaryOp, ast.Constant, ast.operator, ast.unaryop)
ALWAYS = (0, 1)
"""Numbers that the compiler may leave out: ``while 1``."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or a class of Python's and its text: a ``def`` without its decorators, a ``lambda``, or a ``class``."""

    what: Any
    text: str

    @property
    def is_lambda(self) -> bool:
        """Whether it is a ``lambda``."""
        return self.what.__name__ == "<lambda>" or self.text.startswith(("lambda", "("))


def definition_of(function: Any) -> Definition:
    """Return the source of a function or a class; raises ``no-source`` where Python has none, or another one by now."""
    try:
        lines, first = inspect.findsource(function)
    except (OSError, TypeError, IndexError):
        raise no_source(f"Python has no source of {called(function)}") from None
    text = "".join(lines)
    if isinstance(function, type):
        named = [n for n in ast.walk(tree_of(text)) if isinstance(n, ast.ClassDef) and n.name == function.__name__]
        here = [n for n in named if first + 1 in (n.lineno, *(one.lineno for one in n.decorator_list))]
        if not here:
            raise no_source(f"the source of {called(function)} is not that of the class any more")
        return Definition(function, text_of(here[0], text))
    code = function.__code__
    found = [node for node in ast.walk(tree_of(text)) if isinstance(node, FUNCTIONS) and is_source(node, code)]
    if len({ast.dump(node) for node in found}) != 1:
        what = "is not that of the function any more" if not found else "holds several functions that it may be"
        raise no_source(f"the source of {called(function)} {what}")
    return Definition(function, text_of(found[0], text))


def tree_of(text: str) -> ast.Module:
    """Return the syntax tree of a file, or of a notebook's cell with its commands left out."""
    for way in (text, FOREIGN.sub("", text)):
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            return ast.parse(way)
    return ast.Module([], [])


def called(function: Any) -> str:
    """Return what a message calls a function."""
    return "this lambda" if function.__name__ == "<lambda>" else f"'{function.__qualname__}'"


def no_source(message: str, text: str = "x**2") -> GradcliError:
    """Return the error for a function that cannot be read, with the text that shows what to give."""
    return GradcliError("no-source", message, hint=f'give a text in its place, such as "{text}"')


def text_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda, text: str) -> str:
    """Return the text of a function by itself, from the margin and without its decorators; a class keeps them."""
    if isinstance(node, ast.Lambda):
        own = ast.get_source_segment(text, node) or ""
        return f"({own})" if "\n" in own else own
    first = min([node.lineno, *(one.lineno for one in node.decorator_list if isinstance(node, ast.ClassDef))])
    lines = text.split("\n")[first - 1 : node.end_lineno]
    return "\n".join(line[margin(line, node.col_offset) :].rstrip() for line in lines)


def margin(line: str, column: int) -> int:
    """Return how many characters of a line stand left of a column, at most: those that are blank."""
    return min(column, len(line) - len(line.lstrip()))


def is_source(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, code: CodeType) -> bool:
    """Return whether a piece of syntax is what some code was made of, as far as both show it.

    They have the same line, name, parameters, names and numbers, and the code's places lie in the syntax.
    """
    decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
    first = min([node.lineno, *(one.lineno for one in decorators)])
    if first != code.co_firstlineno or getattr(node, "name", "<lambda>") != code.co_name:
        return False
    given = node.args
    own = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    if tuple(own) != code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        return False
    body = node.body if isinstance(node.body, list) else [node.body]
    if not all(lies_in(node, position) for position in code.co_positions()):
        return False
    names, kept = set(names_of(code)), list(kept_parts(body))
    if any(name.startswith("@py") for name in names):  # pytest writes what is asserted anew
        return True
    known = {*own, *(one.arg for one in (given.vararg, given.kwarg) if one), *names_in(walk(body))}
    numbers = {part.value for part in kept if isinstance(part, ast.Constant) and isinstance(part.value, NUMBERS)}
    read = {part.id if isinstance(part, ast.Name) else part.attr for part in kept if isinstance(part, NAMES)}
    return read <= names <= known and numbers <= {*numbers_of(code), *ALWAYS}


def lies_in(node: ast.stmt | ast.expr, position: tuple[int | None, int | None, int | None, int | None]) -> bool:
    """Return whether a place of some code lies in a piece of syntax, if it is the place of anything."""
    line, end_line, column, end_column = position
    if (
        line is None
        or end_line is None
        or column is None
        or end_column is None
        or (line, column) == (end_line, end_column)
    ):
        return True
    start, end = (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)
    return start <= (line, column) and (end_line, end_column) <= end


def codes_in(code: CodeType) -> Iterator[CodeType]:
    """Yield some code and that of all functions in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_in(constant)


def names_of(code: CodeType) -> Iterator[str]:
    """Yield every name that some code has, but those that Python makes up."""
    for one in codes_in(code):
        found = (*one.co_names, *one.co_varnames, *one.co_cellvars, *one.co_freevars)
        yield from (name for name in found if not name.startswith("."))


def names_in(parts: Iterable[ast.AST]) -> Iterator[str]:
    """Yield every name in the parts of a syntax tree."""
    for part in parts:
        match part:
            case ast.Name(id=name) | ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Attribute(attr=name) | ast.keyword(arg=str(name)) | ast.ExceptHandler(name=str(name)):
                yield name
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from (word for one in names for word in [one.name, *one.name.split("."), one.asname or ""])
                yield getattr(part, "module", None) or ""


def numbers_of(code: CodeType) -> Iterator[object]:
    """Yield every number that some code loads, those in tuples too."""
    left = [step.argval for one in codes_in(code) for step in dis.get_instructions(one) if "CONST" in step.opname]
    left += [step.argval for one in codes_in(code) for step in dis.get_instructions(one) if "SMALL_INT" in step.opname]
    while left:
        value = left.pop()
        if isinstance(value, tuple | frozenset | slice):
            left += [value.start, value.stop, value.step] if isinstance(value, slice) else value
        elif isinstance(value, int | float | complex):
            yield value


def walk(body: Iterable[ast.AST]) -> list[ast.AST]:
    """Return all parts of some syntax."""
    return [part for one in body for part in ast.walk(one)]


def kept_parts(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield the parts of some syntax that the compiler keeps: no annotations, nothing that is computed already."""
    left = [*body]
    while left:
        node = left.pop()
        if isinstance(node, ast.Assert) or (isinstance(node, ast.BinOp | ast.UnaryOp) and is_constant(node)):
            continue
        yield node
        annotations = (getattr(node, "annotation", None), getattr(node, "returns", None))
        left += [child for child in ast.iter_child_nodes(node) if child not in annotations]


def is_constant(node: ast.expr) -> bool:
    """Return whether the compiler may compute an expression: numbers and their operators alone."""
    return all(isinstance(part, CONSTANT) for part in ast.walk(node))
