"""Lines of an answer evaluated by the language itself, with ``h.grad`` read as a name.

One entry of a line of the backward pass: ``z.grad[i]*x[j]`` for ``outer(z.grad, x)``.
Formulas that keep their digits where an activation is saturated: longer ones, for points that need them.
Numbers in the place of names: ``h*h + x[0]`` as ``0.5*0.5 + 2``.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from gradcli.errors import Budget, GivenUp, GradcliError
from gradcli.formulas.expression import read_node
from gradcli.language.program import Program, compile_program
from gradcli.ops import RESERVED
from gradcli.ops.declare import Array, value_of
from gradcli.ops.links import Shape
from gradcli.ops.making import CONSTANTS

COTANGENT = re.compile(r"\b([A-Za-z_]\w*)\.grad\b")
NAME = re.compile(r"[^\W\d]\w*")
"""A name in a formula, of a variable or of a function."""
BUDGET = Budget(text=64_000, syntax=100_000)


@lru_cache(maxsize=1024)
def compiled(text: str, given: frozenset[str]) -> Program | None:
    """Return a line as a program; None for what is none."""
    try:
        return compile_program(text, BUDGET, given)
    except GradcliError:
        return None


@lru_cache(maxsize=1024)
def with_plain_names(text: str, ending: str) -> tuple[str, frozenset[str]]:
    """Return a line in which ``NAME.grad`` is the name with an ending, and the names that it uses."""
    plain = COTANGENT.sub(lambda found: found[1] + ending, text)
    return plain, frozenset(NAME.findall(plain))


class Reader:
    """Evaluates lines in which the names of ``values`` stand for them, and ``NAME.grad`` for their ``cotangents``.

    ``shapes`` has the shape of each by its name in a line.
    """

    def __init__(self, values: Mapping[str, Array], cotangents: Mapping[str, Array]) -> None:
        self.ending = "_grad"
        while any(name + self.ending in values for name in cotangents):
            self.ending += "_"
        self.shapes = {name: np.shape(value) for name, value in values.items()}
        self.shapes |= {f"{name}.grad": np.shape(value) for name, value in cotangents.items()}
        self.names = {**values, **{name + self.ending: value for name, value in cotangents.items()}}

    def add(self, name: str, value: Array) -> None:
        """Let a name stand for a value in the lines that follow."""
        self.names[name] = value
        self.shapes[name] = np.shape(value)

    def evaluate(self, text: str) -> Array | None:
        """Return what a line gives; None where the language refuses it."""
        plain, used = with_plain_names(text, self.ending)
        given = frozenset(name for name in used if name in self.names and (name in RESERVED or name in CONSTANTS))
        program = compiled(plain, given)
        if program is None or any(name not in self.names for name in program.inputs):
            return None
        try:
            run = program.evaluate({name: self.names[name] for name in program.inputs}, frozenset(), record=False)
        except GivenUp:
            raise
        except GradcliError:
            return None
        return np.asarray(value_of(run[1]))


# ---- One entry of a line of the backward pass: ``z.grad[i]*x[j]`` for ``outer(z.grad, x)``

LETTERS = "ijkl"


def entry_of(text: str, shape: Shape, shapes: Mapping[str, Shape]) -> str | None:
    """Return the text of entry [i,j,…] of an array that ``text`` makes; None where it is no plain function of entries.

    ``shape`` is that of the array, ``shapes`` has those of the names in the text, cotangents as ``h.grad``. Such are
    products of an ``outer``, and sums, products, quotients and powers of numbers and of arrays of one shape.

    >>> entry_of("outer(z.grad, x)", (2, 3), {"z.grad": (2,), "x": (3,)})
    'z.grad[i]*x[j]'
    """
    letters = LETTERS[: len(shape)]
    if not 0 < len(letters) == len(shape) or not text.isascii() or not shapes.keys().isdisjoint(letters):
        return None
    tree = ast.parse(text, mode="eval").body
    if not (isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name) and tree.func.id == "outer"):
        return indexed(text, tree, shape, letters, shapes)
    if len(tree.args) != 2 or len(shape) != 2:
        return None
    sides = [
        factor(text, side, (length,), letter, shapes)
        for side, length, letter in zip(tree.args, shape, letters, strict=True)
    ]
    return None if None in sides else "*".join(map(str, sides))


def factor(text: str, node: ast.expr, shape: Shape, letters: str, shapes: Mapping[str, Shape]) -> str | None:
    """Return one side of a product, in brackets where it needs them."""
    found = indexed(text, node, shape, letters, shapes)
    return found if found is None or named(node) is not None else f"({found})"


def indexed(text: str, node: ast.expr, shape: Shape, letters: str, shapes: Mapping[str, Shape]) -> str | None:
    """Return a part of a text with indices behind every array of this shape; None where it has anything else."""
    found: list[int] = []
    waiting = [node]
    while waiting:
        part = waiting.pop()
        name = named(part)
        if name is not None:
            if shapes.get(name) not in ((), shape):
                return None
            if shapes[name]:
                found.append(part.end_col_offset or 0)
        elif isinstance(part, ast.BinOp) and not isinstance(part.op, ast.MatMult):
            waiting += [part.left, part.right]
        elif isinstance(part, ast.UnaryOp):
            waiting.append(part.operand)
        elif not isinstance(part, ast.Constant):
            return None
    if not found:
        return None
    start, end = node.col_offset, node.end_col_offset
    index = f"[{','.join(letters)}]"
    whole = text[start:end]
    for place in sorted(found, reverse=True):
        whole = whole[: place - start] + index + whole[place - start :]
    return whole


def named(node: ast.expr) -> str | None:
    """Return the name that a part of a text is, a cotangent's as ``h.grad``."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr == "grad":
        return f"{node.value.id}.grad"
    return None


# ---- Formulas that keep their digits where an activation is saturated: longer ones, for points that need

INDEX = re.compile(r"\[[\d, ]+\]")


def saturated(formula: str, definitions: Mapping[str, str]) -> str:
    """Return a formula without the differences that lose all digits in saturation; itself where it has none.

    ``definitions`` are the names that it may use.

    >>> saturated("W[0,1]*(1 - tanh(x[1])**2)", {})
    'W[0,1]/cosh(x[1])**2'
    >>> saturated("s[0]*(1 - s[0])", {"s": "sigmoid(z)"})
    's[0]*sigmoid(-z[0])'
    """
    tree = ast.parse(formula, mode="eval").body
    exchange = Complements({name: ast.parse(text, mode="eval").body for name, text in definitions.items()})
    other = exchange.visit(tree)
    if not exchange.found:
        return formula
    return INDEX.sub(lambda index: index[0].replace(" ", ""), read_node(other, {}).text)


class Complements(ast.NodeTransformer):
    """Writes what is left of 1 beside tanh(x)**2 or sigmoid(x) without a difference; ``found`` says whether any was."""

    def __init__(self, definitions: Mapping[str, ast.expr]) -> None:
        self.definitions = definitions
        self.found = False

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        """Return ``1/cosh(x)**2`` for ``1 - tanh(x)**2``, and ``sigmoid(-x)`` for ``1 - sigmoid(x)``."""
        self.generic_visit(node)
        if not (isinstance(node.op, ast.Sub) and is_number(node.left, 1)):
            return node
        right = node.right
        squared = isinstance(right, ast.BinOp) and isinstance(right.op, ast.Pow) and is_number(right.right, 2)
        inner = right.left if squared and isinstance(right, ast.BinOp) else right
        x = self.argument_of("tanh" if squared else "sigmoid", inner)
        if x is None:
            return node
        self.found = True
        if not squared:
            return call("sigmoid", ast.UnaryOp(ast.USub(), x))
        return ast.BinOp(ast.Constant(1), ast.Div(), ast.BinOp(call("cosh", x), ast.Pow(), ast.Constant(2)))

    def argument_of(self, function: str, node: ast.expr) -> ast.expr | None:
        """Return what a function is applied to, there or in the definition of a name or of its entries."""
        if isinstance(node, ast.Subscript):
            whole = self.argument_of(function, node.value)
            return None if whole is None else ast.Subscript(whole, node.slice, ast.Load())
        if isinstance(node, ast.Name) and node.id in self.definitions:
            node = self.definitions[node.id]
        named = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function
        return copy.deepcopy(node.args[0]) if named and isinstance(node, ast.Call) and len(node.args) == 1 else None


def call(function: str, argument: ast.expr) -> ast.Call:
    """Return a function of one argument."""
    return ast.Call(ast.Name(function, ast.Load()), [argument], [])


def is_number(node: ast.expr, number: int) -> bool:
    """Return whether a part of a formula is this number."""
    return isinstance(node, ast.Constant) and node.value == number


# ---- Numbers in the place of names: ``h*h + x[0]`` as ``0.5*0.5 + 2``

SYMBOL = re.compile(
    r"""(?P<text>"[^"\n]*"|'[^'\n]*')|(?<![\w.])(?P<name>[A-Za-z_]\w*(?:\.grad\b)?)(?!\w|\s*(\(|=(?!=)))"""
)
"""A name or a cotangent, unless it is the name of a function or of a keyword, or in quotes."""
PLACE = re.compile(r"\[(-?\d+(?:, ?-?\d+)*)\]")


def put_in(formula: str, values: Mapping[str, Any], write: Callable[[float], str]) -> str:
    """Return a formula with numbers in the place of names and their entries; nothing where one is no number.

    ``write`` gives the text of a number; a negative one stands in parentheses, unless it is an argument of a function.

    >>> put_in("y.grad*cos(x[0])", {"y.grad": np.float64(-1.0), "x": np.array([-0.7])}, repr)
    '(-1.0)*cos(-0.7)'
    """
    parts, start = [], 0
    for match in SYMBOL.finditer(formula):
        if match["text"] or match["name"] not in values or match.start() < start:
            continue
        index = PLACE.match(formula, match.end())
        end = index.end() if index else match.end()
        number = entry_at(values[match["name"]], index)
        if number is None or formula[end : end + 1] in (".", "["):
            return ""
        text = write(number)
        alone = formula[: match.start()].endswith(("(", ", ")) and formula[end : end + 1] in (")", ",")
        parts += [formula[start : match.start()], f"({text})" if text.startswith("-") and not alone else text]
        start = end
    return "".join([*parts, formula[start:]]) if parts else ""


def entry_at(value: Any, index: re.Match[str] | None) -> float | None:
    """Return a number, or an entry of an array, as a float; None for all else."""
    array = np.asarray(value)
    place = tuple(int(part) for part in index[1].split(",")) if index else ()
    if len(place) != array.ndim or array.dtype == bool:
        return None
    try:
        entry = float(array[place])
    except IndexError:
        return None
    return entry if np.isfinite(entry) else None
