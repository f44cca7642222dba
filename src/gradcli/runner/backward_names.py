"""What PyTorch calls the ``grad_fn`` of a result, by the function that made it and the kinds of its arguments.

The names are PyTorch 2.13's. Most say the function itself. ``backward_names.toml`` has those that say another one, by
rules where the arguments decide; ``NotImplemented`` stands where PyTorch has no derivative, which it says when backward
comes there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from gradcli.records import dataclass

OPERATORS = dict(zip("+-*/@%", ("add", "sub", "mul", "div", "matmul", "remainder"), strict=True))
OPERATORS |= {"**": "pow", "//": "floor_divide"}
KEYWORDS = (("input", "x", "input1", "query"), ("other", "weight", "target", "mat2", "vec"))
"""What the first two arguments are called."""
KINDS: dict[str, Any] = {"tensor": int, "text": str, "several": (tuple, list)}
"""What arguments of a kind are written as."""
Argument = int | str | Collection[int] | None
"""The ndim of a tensor, a text or a tuple as it stands, None for any other value."""


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of a call."""

    ranks: Sequence[Argument]
    named: Mapping[str, Argument]
    copied: bool

    def rank(self, place: int, *names: str) -> Argument:
        """Return the argument at a place, or by the first of the names that is there."""
        if place < len(self.ranks):
            return self.ranks[place]
        return next((self.named[name] for name in names if name in self.named), None)

    def axes(self, place: int = 0) -> int:
        """Return the number of axes of an argument that is a tensor, 0 where it is none."""
        rank = self.rank(place, *KEYWORDS[place])
        return rank if isinstance(rank, int) else 0

    def holds(self, condition: str) -> bool:
        """Return whether a condition of the table holds, such as ``tensor 1 other`` or ``not axes 0 2``."""
        word, *rest = condition.split()
        match word:
            case "not":
                return not self.holds(" ".join(rest))
            case "tensor" | "text" | "several":
                return isinstance(self.rank(int(rest[0]), *rest[1:]), KINDS[word])
            case "number":
                return bool(self.ranks) and self.ranks[0] is None
            case "is":
                return self.rank(int(rest[1]), *rest[2:]) == rest[0]
            case "named":
                return rest[0] in self.named
            case "passed":
                return len(self.ranks) > int(rest[0]) or not self.named.keys().isdisjoint(rest[1:])
            case "axes":
                return self.axes(int(rest[0])) in map(int, rest[1:])
            case "alike":
                return self.axes(0) == self.axes(1)
            case "reduction":
                return str(self.named.get("reduction") or "mean") == rest[0]
        return self.copied


def _einsum(call: Call) -> str:
    spec = call.rank(0, "equation", "spec")
    inputs, arrow, output = str(spec).replace(" ", "").partition("->")
    letters = set(inputs) - set(",.")
    kept = set(output) if arrow else {one for one in letters if inputs.count(one) == 1}
    if "," in inputs:
        return "MulBackward0" if letters <= kept else "ViewBackward0"
    return "PermuteBackward0" if letters <= kept else "SumBackward1"


def _interpolate(call: Call) -> str:
    axes = call.axes() - 2
    mode = str(call.rank(3, "mode") or "nearest")
    if mode == "area":
        return "SqueezeBackward1" if axes == 1 else f"AdaptiveAvgPool{axes}DBackward0"
    return f"Upsample{''.join(map(str.capitalize, mode.split('-')))}{axes}DBackward0"


def _pad(call: Call) -> str:
    mode, widths = str(call.rank(2, "mode") or "constant"), call.rank(1, "pad")
    if mode in ("constant", "circular"):
        return "ConstantPadNdBackward0" if mode == "constant" else "CopySlices"
    axes = len(widths) // 2 if isinstance(widths, tuple | list) else max(call.axes() - 2, 1)
    return f"{'Reflection' if mode == 'reflect' else 'Replication'}Pad{axes}DBackward0"


CASES: dict[str, Callable[[Call], str]] = {"einsum": _einsum, "interpolate": _interpolate, "pad": _pad}
"""Names that are put together from a text of the call."""


@cache
def table() -> dict[str, str | list[str]]:
    """Return the names by functions, or the rules that say which: ``conditions -> name``, the first that holds."""
    import tomllib  # only what is printed is named

    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def second_names() -> dict[str, str]:
    """Return what the derivative of a function's own derivative is called, where that is one function."""
    return table()["second"]  # type: ignore[return-value]


def name_by(rules: str | list[str], call: Call) -> str:
    """Return the name that rules give a call; ``= other`` stands for the rules of another function."""
    for rule in [rules] if isinstance(rules, str) else rules:
        conditions, _, name = rule.rpartition("->")
        if all(map(call.holds, filter(None, conditions.split(",")))):
            return name_by(table()[name.strip()[2:]], call) if name.strip().startswith("=") else name.strip()
    return ""


def backward_name(
    name: str, ranks: Sequence[Argument], named: Collection[str] | Mapping[str, Argument] = (), *, copied: bool = False
) -> str:
    """Return the name of the ``grad_fn`` that a call leaves, "" where it gives back its argument itself.

    ``name`` is a function of gradcli's table, a method with or without its final ``_``, or an operator. ``ranks`` has
    the ndim of each positional tensor and None for any other value; a text (``einsum``'s, a ``mode``) and a tuple
    stand for themselves. ``named`` has the keywords that are not None, with their values written likewise where they
    are known. ``copied`` says that a view could not be had.

    >>> backward_name("sub", [None, 1]), backward_name("sum", [2], {"dim"}), backward_name("log1p_", [1])
    ('RsubBackward1', 'SumBackward1', 'Log1PBackward0')
    """
    call = Call(tuple(ranks), named if isinstance(named, Mapping) else dict.fromkeys(named), copied)
    name = OPERATORS.get(name, name)
    last = name.rpartition(".")[2]
    functional = f"F.{last}" if name.startswith("torch.nn.functional.") else name
    for one in dict.fromkeys((name, functional, name.removesuffix("_"), last, last.removesuffix("_"))):
        if one in CASES:
            return CASES[one](call)
        if one in table():
            return name_by(table()[one], call)
    words = "".join(word[:1].upper() + word[1:] for word in last.removesuffix("_").split("_"))
    return re.sub(r"(?<=\d)[a-z]", lambda match: match[0].upper(), words) + "Backward0"


# --- indices ---


def index_name(index: object, shape: Sequence[int]) -> str:
    """Return the name of the ``grad_fn`` of ``x[index]``: PyTorch takes it step by step, and the last step counts.

    In an index a tensor of integers without axes is an int, and one with axes, a list, or a mask is any other object.

    >>> index_name((0, slice(1, None)), (2, 3)), index_name([0, 1], (2,)), index_name(None, (2,))
    ('SliceBackward0', 'IndexBackward0', 'UnsqueezeBackward0')
    """
    if isinstance(index, slice):
        return "SliceBackward0"
    steps = _steps(index, shape)
    return steps[-1] if steps else "AliasBackward0"


def write_name(index: object, shape: Sequence[int], rank: int | None) -> str:
    """Return the name of the ``grad_fn`` of x after ``x[index] = value``; ``rank`` is the value's, None of a number."""
    steps = _steps(index, shape)
    if not steps:
        return "CopyBackwards" if rank or not shape else "FillBackward3"
    return "IndexPutBackward0" if steps == ["IndexBackward0"] and not _is_bool(index) else "CopySlices"


def _is_bool(part: object) -> bool:
    return isinstance(part, bool)


def _steps(index: object, shape: Sequence[int]) -> list[str]:
    """Return the names of the steps that an index takes; a slice of all there is takes none."""
    parts = index if isinstance(index, tuple) else (index,)
    taken = sum(not (part is None or part is Ellipsis or _is_bool(part)) for part in parts)
    steps, axis, picks = [], 0, False
    for part in parts:
        if part is None:
            steps.append("UnsqueezeBackward0")
        elif part is Ellipsis:
            axis += len(shape) - taken
        elif _is_bool(part):
            picks = True
        elif isinstance(part, slice):
            length = shape[axis] if axis < len(shape) else 0
            if part.indices(length) != (0, length, 1):
                steps.append("SliceBackward0")
            axis += 1
        elif isinstance(part, int):
            steps.append("SelectBackward0")
            axis += 1
        else:
            picks = True
            axis += 1
    return steps + ["IndexBackward0"] * picks
