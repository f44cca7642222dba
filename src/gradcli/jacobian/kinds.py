"""What nodes have in common where they differ in their numbers alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES, Operation

Constant = float | None
"""A plain number among the arguments of an op, which stands in its formulas as it is; None for a node or an array."""


def constant_of(argument: Any) -> Constant:
    """Return the one number that an argument is, None for a node or an array."""
    if isinstance(argument, float | int):  # most are; numpy's double is a float too
        number = float(argument)
    elif type(argument) in NODES or np.size(argument) != 1:
        return None
    else:
        number = float(np.reshape(argument, ()))
    return number if math.isfinite(number) else None


def kind_of(node: Operation, of: Callable[[Any], Hashable] | None = None) -> Hashable:
    """Return what the local Jacobians of a node depend on, but for the numbers of nodes and arrays.

    ``of`` says what they depend on of an argument; ``argument_kind`` where nothing is given.
    """
    op = node.op
    arguments = tuple([(of or argument_kind)(a) for a in node.arguments])
    return op.local, op.digits, node.value.shape, arguments, frozen(node.static) if node.static else ()


def argument_kind(argument: Any) -> Hashable:
    """Return the shape of an argument, or the constant that it is; the two zeros are told apart."""
    if type(argument) in NODES:
        return argument.value.shape  # type: ignore[no-any-return]
    constant = constant_of(argument)
    return np.shape(argument) if constant is None else constant or str(constant)


def free_kind(argument: Any) -> Hashable:
    """Return the shape of an argument, a constant as an array of one, or the zero that it is."""
    kind = argument_kind(argument)
    return np.shape(argument) if isinstance(kind, float) else kind


def frozen(value: Any) -> Hashable:
    """Return a plain argument of an op as a key: equal ones have equal keys, and others have others."""
    if isinstance(value, dict):
        return tuple([(name, frozen(item)) for name, item in value.items()])
    if isinstance(value, tuple | list):
        return tuple([frozen(item) for item in value])
    if isinstance(value, slice):
        return slice, frozen((value.start, value.stop, value.step))
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    return type(value), value
