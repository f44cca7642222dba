"""Lines and formulas of an answer read again by the language: what they give, by entry, in forms that keep digits."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from gradcli.errors import Budget, GivenUp, GradcliError
from gradcli.exact.work import ROUNDING
from gradcli.explanation.results import agree_within
from gradcli.language.program import Program, compile_program
from gradcli.ops import RESERVED
from gradcli.ops.declare import Array, value_of
from gradcli.ops.links import Shape
from gradcli.ops.making import CONSTANTS
from gradcli.records import replace

COTANGENT = re.compile(r"\b([^\W\d]\w*)\.grad\b")
NAME = re.compile(r"[^\W\d]\w*")
"""A name in a formula, of a variable or of a function."""
BUDGET = Budget(text=64_000, syntax=100_000)
NEAR = 1e-9
"""How far the number of a line may be from the engine's, relative to that."""
NO_TERMS = np.zeros(())


@lru_cache(maxsize=1024)
def compiled(text: str, names: frozenset[str]) -> Program | None:
    """Return a line as a program, which may give a mask: a derivative may be one; None for what is none."""
    try:
        return replace(compile_program(text, BUDGET, names), truths=True)
    except GradcliError:
        return None


@lru_cache(maxsize=1024)
def with_plain_names(text: str, ending: str) -> tuple[str, frozenset[str]]:
    """Return a line in which ``NAME.grad`` is the name with an ending, and the names that it uses."""
    plain = ascii_alias(COTANGENT.sub(lambda match: match[1] + ending, text))
    return plain, frozenset(NAME.findall(plain))


def ascii_alias(text: str) -> str:
    """Return a text in the letters that the language reads: a script may call a weight θ."""
    return text if text.isascii() else text.encode("ascii", "backslashreplace").decode().replace("\\", "_")


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
        named = {**values, **{name + self.ending: value for name, value in cotangents.items()}}
        self.names = {ascii_alias(name): value for name, value in named.items()}

    def add(self, name: str, value: Array) -> None:
        """Let a name stand for a value in the lines that follow."""
        self.names[ascii_alias(name)] = value
        self.shapes[name] = np.shape(value)

    def evaluate(self, text: str) -> Array | None:
        """Return what a line gives; None where the language refuses it."""
        plain, used = with_plain_names(text, self.ending)
        reserved = frozenset(name for name in used if name in self.names and (name in RESERVED or name in CONSTANTS))
        program = compiled(plain, reserved)
        if program is None or any(name not in self.names for name in program.inputs):
            return None
        try:
            run = program.evaluate({name: self.names[name] for name in program.inputs}, frozenset(), record=False)
        except GivenUp:
            raise
        except GradcliError:
            return None
        return np.asarray(value_of(run[1]), dtype=np.float64)

    def gives(self, text: str, wanted: Array, sizes: Array = NO_TERMS) -> bool:
        """Return whether a line is the engine's number; ``sizes`` are those of the terms that it adds up."""
        result = self.evaluate(text)
        return result is not None and is_same(result, np.asarray(wanted), sizes)


def evaluate(text: str, names: Mapping[str, Any], cotangents: Mapping[str, Any] | None = None) -> Array | None:
    """Return what a text of the language gives, ``NAME.grad`` in it too; None for what is not read."""
    return Reader(names, cotangents or {}).evaluate(text)


def is_same(result: Array, wanted: Array, sizes: Array = NO_TERMS) -> bool:
    """Return whether a number is the engine's, after broadcasting; where that is not finite, nor may it be.

    ``sizes`` are those of the terms that it is a sum of.
    """
    try:
        got = result if result.shape == wanted.shape else np.broadcast_to(result, wanted.shape)
    except ValueError:
        return False
    return agree_within(got, wanted, NEAR * np.abs(wanted) + ROUNDING * np.where(np.isfinite(sizes), sizes, 0.0))


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
    sides = []
    for side, length, letter in zip(tree.args, shape, letters, strict=True):
        part = indexed(text, side, (length,), letter, shapes)
        if part is None:
            return None
        sides.append(part if named(side) is not None else f"({part})")
    return "*".join(sides)


def indexed(text: str, node: ast.expr, shape: Shape, letters: str, shapes: Mapping[str, Shape]) -> str | None:
    """Return a part of a text with indices behind every array of this shape; None where it has anything else."""
    ends: list[int] = []
    waiting = [node]
    while waiting:
        part = waiting.pop()
        name = named(part)
        if name is not None:
            if shapes.get(name) not in ((), shape):
                return None
            if shapes[name]:
                ends.append(part.end_col_offset or 0)
        elif isinstance(part, ast.BinOp) and not isinstance(part.op, ast.MatMult):
            waiting += [part.left, part.right]
        elif isinstance(part, ast.UnaryOp):
            waiting.append(part.operand)
        elif not isinstance(part, ast.Constant):
            return None
    if not ends:
        return None
    start, end = node.col_offset, node.end_col_offset
    index = f"[{','.join(letters)}]"
    whole = text[start:end]
    for place in sorted(ends, reverse=True):
        whole = whole[: place - start] + index + whole[place - start :]
    return whole


def named(node: ast.expr) -> str | None:
    """Return the name that a part of a text is, a cotangent's as ``h.grad``."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr == "grad":
        return f"{node.value.id}.grad"
    return None


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
