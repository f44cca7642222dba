"""What the vector-Jacobian products of an op read: the values that a tape must keep until the sweep back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from types import FunctionType
from typing import Any

from gradcli.ops.declare import Op, Vjp


@dataclass(frozen=True, slots=True)
class Reads:
    """Which values the rules of an op read: those of its arguments, one flag each, and that of its output."""

    arguments: tuple[bool, ...]
    output: bool


@cache
def saved(op: Op, active: tuple[bool, ...]) -> Reads:
    """Return which arguments, and whether the output, is read for more than its shape on the way back.

    ``active`` says for each argument whether it is differentiated: the rules of others are not called.

    >>> from gradcli.ops import OPS
    >>> saved(OPS["mul"], (True, False))
    Reads(arguments=(False, True), output=False)
    """
    count = len(active)
    if op.by_shape:
        return Reads((False,) * count, output=False)
    rules = [rule for k in range(count) if active[k] and (rule := op.vjp(k)) is not None]
    read = [values_read(rule, count) for rule in rules]
    return Reads(tuple(any(one[1 + k] for one in read) for k in range(count)), any(one[0] for one in read))


def values_read(rule: Vjp, count: int) -> tuple[bool, ...]:
    """Return whether a rule ``(g, out, *arguments)`` reads its output, and then each argument.

    A parameter is read where the code of the rule loads it. What is not plainly visible counts as read.
    """
    code = getattr(rule, "__code__", None)
    if type(rule) is not FunctionType or code is None or code.co_flags & VARIADIC:
        return (True,) * (1 + count)
    loaded = names_loaded(code) | set(code.co_cellvars)
    return tuple(name in loaded for name in code.co_varnames[1 : 2 + count])


VARIADIC = 0x04
"""The flag of a code object that takes ``*args``."""


def names_loaded(code: Any) -> set[str]:
    """Return the local variables that a code object loads; one instruction may load two."""
    import dis  # noqa: PLC0415

    found: set[str] = set()
    for instruction in dis.get_instructions(code):
        if instruction.opname.startswith("LOAD_FAST"):
            found.update([instruction.argval] if isinstance(instruction.argval, str) else instruction.argval)
    return found


@cache
def kept(op: Op, active: tuple[bool, ...], arrays: tuple[bool, ...]) -> Reads:
    """Return which arguments, and whether the output, PyTorch keeps for the derivatives by the active arguments.

    That is what our own rules read, except where the op says otherwise; ``arrays`` are the arguments that are not plain
    numbers.
    """
    if op.torch_saves is None:
        return saved(op, active)
    count = len(active)
    said = op.torch_saves * count if len(op.torch_saves) == 1 else op.torch_saves
    told = [text.replace("arrays:", "") if all(arrays) else text.partition("arrays:")[0] for text in said[:count]]
    words = {(k, word) for k, text in enumerate(told) if active[k] for word in text.split()}
    others = {j for k, word in words if word == "others" for j in range(count) if j != k}
    named = {word for _, word in words}
    return Reads(tuple(str(k) in named or k in others for k in range(count)), output="output" in named)
