"""Operators and functions of single entries; two numbers that a loop computes take a short way."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.engine.graph import NO_OPTIONS, NODES, Graph, misfit
from gradcli.errors import GradcliError, Span
from gradcli.language.compiling import Evaluate, Frame
from gradcli.language.kinds import DOUBLE, FLOAT, combined, is_odd, number_kind, signed, with_floats
from gradcli.language.runtime import EXACT, as_operand, as_tensor
from gradcli.ops import Pair
from gradcli.ops.declare import Op, value_of


def integer_arithmetic(f: Graph, op: Op, a: int, b: int) -> int | Any:
    """Return an operation on two plain integers: an integer while it stays exact, a number beyond."""
    result = None if op.whole is None or op.whole.plain is None else op.whole.plain(a, b)
    if result is not None and abs(result) <= EXACT:
        return result
    return f(op, np.float64(a), np.float64(b))


def binary(f: Graph, op: Op, a: object, b: object) -> Any:
    """Apply a binary operator."""
    if isinstance(a, int) and isinstance(b, int) and op.require is None:
        return integer_arithmetic(f, op, int(a), int(b))
    if is_odd(a) or is_odd(b):
        if FLOAT not in (number_kind(a), number_kind(b)):
            try:
                return combined(f, op, a, b)
            except ValueError as error:
                raise misfit(op, [value_of(a), value_of(b)], error) from None
        with_floats(f, op, a, b)
    left, right = as_operand(a), as_operand(b)
    if op.require is not None:
        left, right = as_tensor(left), as_tensor(right)
        op.require(left, right)
    return f(op, left, right)


def negative(f: Graph, op: Op, a: object) -> Any:
    """Apply unary minus."""
    if type(a) is int:
        return -a
    return signed(a, "-") if is_odd(a) else f(op, as_tensor(a))


def positive(a: object) -> Any:
    """Apply unary plus."""
    return signed(a, "+") if is_odd(a) else as_operand(a)


def unary_operator(op: Op, register: int, otherwise: Evaluate) -> Evaluate:
    """Return what applies an op of one argument, entry by entry; ``otherwise`` that for what is no float."""
    forward, flows = op.forward, not op.flat

    def run(regs: Frame) -> Any:
        a = regs[register]
        if type(a) not in NODES:
            return otherwise(regs) if is_odd(a) or type(a) is Pair else regs[0](op, as_tensor(a))
        x = a.value
        if type(x) is Double and a.active and flows:
            return regs[0].enter(op, (a,), NO_OPTIONS, forward(x), LEFT)
        if x.dtype is DOUBLE:
            return regs[0].apply(op, (a,), NO_OPTIONS, (x,), LEFT if a.active and flows else NONE)
        return otherwise(regs)

    return run


Side = tuple[Evaluate | None, int]
"""An operand: what evaluates it, or None and the register that has it."""


def binary_operator(op: Op, first: Side, second: Side, span: Span | None = None) -> Evaluate:
    """Return what applies a binary operator, whose errors have the place ``span``."""
    (left, i), (right, j) = first, second
    forward, flows, general = op.forward, not op.flat, op.require is not None

    def run(regs: Frame) -> Any:
        a = regs[i] if left is None else left(regs)
        b = regs[j] if right is None else right(regs)
        try:
            if general:
                return binary(regs[0], op, a, b)
            x, y, links = a, b, NONE
            if type(a) in NODES:
                x, links = a.value, LEFT if a.active else NONE
            elif type(a) is np.ndarray and not a.ndim:
                x = a[()]
            if type(b) in NODES:
                y = b.value
                if b.active:
                    links = BOTH if links else RIGHT
            elif type(b) is np.ndarray and not b.ndim:
                y = b[()]
            if links and flows and (type(x), type(y)) in NUMBERS:
                return regs[0].enter(op, (a, b), NO_OPTIONS, forward(x, y), links)
            return of_arrays(regs[0], op, (a, b), (x, y), links if flows else NONE)
        except GradcliError as error:
            raise error.at(span) from None

    return run


def of_arrays(f: Graph, op: Op, operands: tuple[Any, Any], values: tuple[Any, Any], links: Links) -> Any:
    """Apply a binary operator where an operand may be an array; floats whose result is no larger go the short way."""
    x, y = values
    if (type(x), type(y)) not in NUMBERS:
        doubles = getattr(x, "dtype", DOUBLE) is DOUBLE and getattr(y, "dtype", DOUBLE) is DOUBLE
        if not doubles or (type(x), type(y)) not in ARRAYS:
            return binary(f, op, *operands)
    if op.size is None and (type(x) is not type(y) or x.shape == y.shape):
        return f.apply(op, operands, NO_OPTIONS, values, links)
    return f(op, *operands)


Links = tuple[int, ...]
NONE: Links = ()
LEFT: Links = (0,)
RIGHT: Links = (1,)
BOTH: Links = (0, 1)
"""Which operands of an operator derivatives flow to."""
Double = np.float64
NUMBERS = {(Double, Double), (Double, int), (int, Double)}
ARRAYS = {
    (np.ndarray, np.ndarray),
    (np.ndarray, Double),
    (Double, np.ndarray),
    (np.ndarray, int),
    (int, np.ndarray),
}
"""Kinds of two operands that make floats."""
