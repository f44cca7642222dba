"""Numbers as they were typed, each held to the digits that it has."""

from __future__ import annotations

import ast
from collections.abc import Container
from dataclasses import dataclass
from decimal import Decimal

from gradcli.language.names import MODULES

THREE = Decimal("0.0005")
"""Relative distance that three digits leave."""
OF_DOUBLES = 15
"""Digits from which a number was printed by a program, which computed it in double precision."""
MOST = 1e300
"""Size of a typed number from which it is read as any formula is: no derivative in double precision is as large."""


@dataclass(frozen=True, slots=True)
class ExpectedNumbers:
    """Expected numbers in their shape, and how far each may be from the truth; a bound below 0 asks for 15 digits.

    ``measured`` says that they were computed in double precision, with rounding of their own.
    """

    values: list[Decimal]
    bounds: list[Decimal]
    shape: tuple[int, ...]
    measured: bool = False


def read_numbers(text: str) -> ExpectedNumbers | None:
    """Return a number, or nested lists of numbers, as they were typed; None for anything else.

    A number with a point or an exponent is held to half a unit of its last digit and to at least three digits, an
    integer exactly; one with all digits of a double may have the rounding of one.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    level, shape = [tree], []
    while any(isinstance(node, ast.List | ast.Tuple) for node in level):
        lengths = {len(node.elts) if isinstance(node, ast.List | ast.Tuple) else -1 for node in level}
        if len(lengths) != 1:
            return None
        shape.append(lengths.pop())
        level = [item for node in level for item in node.elts]  # type: ignore[attr-defined]
    found = [read_number(text.strip(), node) for node in level]
    if any(number is None for number in found):
        return None
    pairs = [number for number in found if number is not None]
    printed = any(bound and len(value.as_tuple().digits) >= OF_DOUBLES for value, bound in pairs)
    return ExpectedNumbers([value for value, _ in pairs], [bound for _, bound in pairs], tuple(shape), printed)


def read_number(text: str, node: ast.expr) -> tuple[Decimal, Decimal] | None:
    """Return a number and how far it may be from the truth, None for what is no number."""
    digits_of = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd) else node
    if not isinstance(digits_of, ast.Constant) or type(digits_of.value) not in (int, float):
        return None
    if not -MOST < digits_of.value < MOST:  # type: ignore[operator]
        return None
    whole = type(digits_of.value) is int
    written = str(digits_of.value) if whole else (ast.get_source_segment(text, digits_of) or "0").replace("_", "")
    size, bound = Decimal(written), Decimal(0)
    if size and not whole:
        half = Decimal(10) ** int(size.as_tuple().exponent) / 2
        bound = min(half, THREE * Decimal(10) ** (size.adjusted() + 1))
    return (-size if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else size), bound


MEANT = {"pi": "4*atan(1)", "e": "exp(1)"}
"""Constants as they are in mathematics: in the language they are doubles."""


class AllDigits(ast.NodeTransformer):
    """Writes constants so that they have all digits, but for names that are variables."""

    def __init__(self, variables: Container[str]) -> None:
        self.variables = variables

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Write a constant out."""
        meant = MEANT.get(node.id)
        return node if meant is None or node.id in self.variables else ast.parse(meant, mode="eval").body

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """Write a constant of a module out, as ``math.pi``."""
        of_module = isinstance(node.value, ast.Name) and node.value.id in MODULES
        meant = MEANT.get(node.attr) if of_module else None
        return self.generic_visit(node) if meant is None else ast.parse(meant, mode="eval").body


def with_all_digits(text: str, variables: Container[str]) -> str:
    """Return a formula with π and e as the functions that give them, and as it stands where it has neither.

    >>> with_all_digits("2*pi*x", {"x"})
    '2 * (4 * atan(1)) * x'
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text
    before = ast.dump(tree)
    changed = AllDigits(variables).visit(tree)
    return text if ast.dump(changed) == before else ast.unparse(changed)
