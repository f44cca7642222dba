"""Where a program has no derivative: kinks of its operations, ties, jumps, edges of the domain, and what is said."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.engine.graph import Graph, Node, Operation
from gradcli.engine.naming import called_by, flat_by, place_text
from gradcli.errors.hints import listed
from gradcli.explanation.results import Note
from gradcli.ops.declare import Indices, holds_somewhere, value_of

if TYPE_CHECKING:
    from gradcli.exact.slopes import Side
    from gradcli.ops.declare import Piecewise

SHOWN = 3
"""Entries that a note names."""
NOTHING = 1e-20
"""A slope that is smaller than this beside the other side's is 0."""


def entries_text(positions: Indices, shape: tuple[int, ...]) -> str:
    """Return `` in entry [0]`` or `` in entries [0], [1] and 3 others``; nothing for a single number."""
    if not shape:
        return ""
    first = [place_text(int(i), shape) for i in positions[:SHOWN]]
    return f" in {'entry' if len(positions) == 1 else 'entries'} {listed(first, len(positions))}"


def note_kink(graph: Graph, node: Operation) -> list[Note]:
    """Say where an operation has no derivative at this point and which number is taken, and whether it is flat."""
    notes, kink = [], node.op.kink
    if node.op.step and any(isinstance(a, Node) and a.active for a in node.arguments):
        notes.append(Note("flat", f"{flat_by(graph, node)} is flat: its derivative is 0 wherever it has one."))
    if kink is None or not node.active:
        return notes
    with np.errstate(all="ignore"):
        where = np.asarray(kink.at(*map(value_of, node.arguments), **node.static))
    if where.any():
        shape = np.shape(node.value)
        where = where.reshape(shape) if where.size == np.size(node.value) else np.broadcast_to(where, shape)
        at = entries_text(np.flatnonzero(np.ravel(where)), shape)
        whose = "" if "PyTorch" in kink.says else ", as in PyTorch"
        notes.append(Note("kink", f"{called_by(graph, node)} has a kink{at} at this point; there {kink.says}{whose}."))
    return notes


def tell_bend(bends: dict[str, str], side: Side, row: str, at: str, takes: str) -> None:
    """Note a kink, a jump, an infinite slope or an edge of the domain, the first of its kind.

    ``takes`` is a sentence, or none, that says which slope is printed.
    """
    if not side.kind or side.kind in bends:
        return
    left, right = slope_text(side.left, side.right), slope_text(side.right, side.left)
    edge = "left" if side.left.is_nan() else "right"
    bends[side.kind] = {
        "kink": f"{row} has a kink at this point: by {at} its slope is {left} on the left and {right} on the right.",
        "jump": f"{row} jumps at this point, as {at} passes it.",
        "infinite-slope": f"{row} is infinitely steep at this point, by {at}.",
        "edge": f"{row} has no value on the {edge} of this point, by {at}: this is an edge of its domain.",
    }[side.kind] + takes


def slope_text(slope: Any, other: Any) -> str:
    """Return a slope to read: 0 where it is what a step leaves of 0, next to that of the other side."""
    return "0" if abs(float(slope)) < NOTHING * abs(float(other)) < math.inf else f"{float(slope) + 0.0:.6g}"


def is_edgy(operations: Sequence[Operation]) -> bool:
    """Return whether pieces of the program may meet here: kinks and ties, and sides of comparisons that are equal."""
    with np.errstate(all="ignore"):
        return any(map(stands_on_an_edge, operations))


def stands_on_an_edge(node: Operation) -> bool:
    """Return whether an operation stands at a kink, a step, a tie or a power of 0, or takes a wave of a large x."""
    op = node.op
    at, pieces = op.edge if op.kink is None else op.kink.at, op.exact.pieces
    if at is not None:
        return holds_somewhere(at(*map(value_of, node.arguments), **node.static))
    if pieces is None or pieces.held or pieces.open or op.chooses:
        return False
    return differs_nearby(pieces, [value_of(argument) for argument in node.arguments], node.static)


def differs_nearby(parts: Piecewise, values: Sequence[Any], static: Mapping[str, Any]) -> bool:
    """Return whether a piecewise op is on another piece where each entry is moved by about a billionth; ties break."""
    from gradcli.exact.run import same

    def moved(value: Any, share: float) -> Any:
        x = np.asarray(value, dtype=np.float64)
        shares = share * np.cos(np.arange(x.size)).reshape(x.shape)
        return x + shares * (1e-9 * np.abs(x) + 1e-100)

    here = parts.piece(*map(np.asarray, values), **static)
    around = [[moved(value, sign * (0.5 + 0.3 * k)) for k, value in enumerate(values)] for sign in (1.0, -1.0)]
    return any(not same(here, parts.piece(*beside, **static)) for beside in around)
