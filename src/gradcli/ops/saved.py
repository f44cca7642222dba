"""What the vector-Jacobian products of an op read: the values that a tape must keep until the sweep back."""

from __future__ import annotations

import inspect
from functools import cache

from gradcli.ops.declare import Op
from gradcli.ops.signatures import Vjp
from gradcli.records import dataclass


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
    """Return whether a rule ``(g, out, *arguments)`` reads its output, and then each argument, by its signature.

    What it does not read has a name that begins with ``_``; all that ``*values`` takes is read, or not, together.
    """
    flags: list[bool] = []
    for parameter in inspect.signature(rule).parameters.values():
        takes_rest = parameter.kind is parameter.VAR_POSITIONAL
        flags += [not parameter.name.startswith("_")] * (2 + count - len(flags) if takes_rest else 1)
    return tuple(flags[1 : 2 + count])


@cache
def kept(op: Op, active: tuple[bool, ...], arrays: tuple[bool, ...]) -> Reads:
    """Return which arguments, and whether the output, PyTorch keeps for the derivatives by the active arguments.

    That is what our own rules read, except where the op says otherwise; ``arrays`` are the arguments that are not plain
    numbers.
    """
    if op.torch_saves is None:
        return saved(op, active)
    words = words_kept(op, active, arrays)
    count = len(active)
    others = {j for k, word in words if word == "others" for j in range(count) if j != k}
    named = {word for _, word in words}
    return Reads(tuple(str(k) in named or k in others for k in range(count)), output="output" in named)


def keeps_own(op: Op, active: tuple[bool, ...], arrays: tuple[bool, ...]) -> bool:
    """Return whether PyTorch keeps what is neither argument nor output, such as the places of the largest entries."""
    return any(word == "own" for _, word in words_kept(op, active, arrays))


def words_kept(op: Op, active: tuple[bool, ...], arrays: tuple[bool, ...]) -> set[tuple[int, str]]:
    """Return the words of ``torch_saves`` that hold here, each with the number of the argument that it is for."""
    if op.torch_saves is None:
        return set()
    count = len(active)
    said = op.torch_saves * count if len(op.torch_saves) == 1 else op.torch_saves
    told = [text.replace("arrays:", "") if all(arrays) else text.partition("arrays:")[0] for text in said[:count]]
    return {(k, word) for k, text in enumerate(told) if active[k] for word in text.split()}
