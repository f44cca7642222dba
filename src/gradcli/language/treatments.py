"""What functions make of masks and of integers, as PyTorch and NumPy have it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from gradcli.engine.graph import Graph, Node
from gradcli.language.arithmetic import FLOAT, INTEGER, MASK, NAMES, neither
from gradcli.ops import Function
from gradcli.ops.arithmetic import only_numpy
from gradcli.ops.declare import Pair, Parts, value_of
from gradcli.ops.further.casting import as_kind
from gradcli.ops.vocabulary import Made


def treated(f: Graph, function: Function, kinds: Iterable[str]) -> str | None:
    """Return the kind of the result of a function whose arguments are of these kinds, None for floats.

    Raises ``type`` where both libraries refuse.
    """
    found = list(kinds)
    own = function.kinds
    if own.beside == "first":
        return None if found[0] == FLOAT else found[0]
    what = f"{function.name} of {' and '.join(NAMES[kind] for kind in dict.fromkeys(found))}"
    if FLOAT in found:
        beside_floats(f, what, found, own.beside)
        return None
    mixed = len(set(found)) > 1
    if mixed and own.beside == "no":
        raise neither(what)
    if mixed and own.beside == "floats":
        only_numpy(f, what)
        return None
    rule = own.integers if INTEGER in found else own.masks
    if mixed and own.beside == "numpy":
        rule = Made(f"numpy-{rule.rpartition('-')[2]}")
    return alone(f, what, rule, INTEGER if INTEGER in found else MASK)


def beside_floats(f: Graph, what: str, kinds: list[str], beside: str) -> None:
    """Refuse or remark on a function of floats and others, as its column says."""
    first = beside in ("target", "integers") and kinds[0] != FLOAT
    masked = beside in ("integers", "unmasked") and MASK in kinds
    if beside == "no" or first or masked:
        raise neither(what)
    if beside in ("numpy", "floats"):
        only_numpy(f, what)


def alone(f: Graph, what: str, rule: str, own: str) -> str | None:
    """Return the kind that a rule of the table makes of ``own``, with a remark where one library refuses or differs."""
    side, _, kind = rule.rpartition("-")
    if kind == "no":
        raise neither(what)
    if side == "numpy":
        only_numpy(f, what)
    elif side == "torch":
        f.remark("torch-only", f"{what}: this is PyTorch's answer, NumPy refuses.")
    elif side == "other":
        f.remark("numpy-differs", f"{what}: this is PyTorch's answer; NumPy computes in half precision or in integers.")
    return own if kind == "same" else None if kind == FLOAT else kind


def is_view(value: object) -> bool:
    """Return whether a result, or the first of several, shows entries of another array."""
    first = value[0] if type(value) is tuple and value else value
    return isinstance(first, np.ndarray) and first.base is not None


def shows(value: object, given: list[Any]) -> bool:
    """Return whether a result, or each of several, shows entries of masks or integers that a function was given."""
    parts = value if type(value) is tuple else (value,)
    arrays = [raw for raw in map(value_of, given) if isinstance(raw, np.ndarray)]
    return all(
        isinstance(part, np.ndarray)
        and any(part.dtype == array.dtype and np.may_share_memory(part, array) for array in arrays)
        for part in parts
    )


def cast_part(f: Graph, value: Parts, position: int, kind: str) -> Any:
    """Return one of several arrays as a mask or as integers."""
    return cast(f, value[position], kind)


def cast(f: Graph, value: object, kind: str | None) -> Any:
    """Return a result as a mask or as integers; None leaves it as it is."""
    if kind is None:
        return value
    if isinstance(value, Node) and value.active:
        return as_kind(f, value, kind)
    if type(value) is tuple:
        return tuple(cast(f, item, kind) for item in value)
    if type(value) is Pair:
        return Pair(cast(f, value.values, kind), value.indices)
    if type(value) is Parts:
        count = len(value.names)
        return Parts(value.names, tuple(partial(cast_part, f, value, position, kind) for position in range(count)))
    numbers = np.asarray(value_of(value), dtype=np.float64)
    return numbers.astype(np.bool_ if kind == MASK else np.int64)[()]
