"""What deserves a sentence about a script: what was left out, what its own derivatives and hooks do, what float32 has not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gradcli.engine.graph import Node
from gradcli.errors.counting import listed
from gradcli.explanation.explained import Note
from gradcli.ops import OPS
from gradcli.ops.declare import Array

LARGEST, SMALLEST = 3.4028235e38, 7e-46
"""What float32 has no number beyond, and no number but 0 below."""
NEAR = 1e-6
"""How far what a sweep of the script added may be from the answer, of the largest: its numbers went through float32."""


def own_derivatives(nodes: Sequence[Node]) -> list[str]:
    """Return the names of operations whose derivative the script itself has written."""
    return list(dict.fromkeys(node.op.name for node in nodes if node.op is not None and is_own(node)))


def is_own(node: Node) -> bool:
    """Return whether an operation is one that the script made."""
    return node.op is not None and getattr(node.op.forward, "__self__", None) is not None and node.op.name not in OPS


def note_script(program: Any, nodes: Sequence[Node], grad: Mapping[str, Array], bent: bool) -> list[Note]:
    """Return the notes on a call of a script; ``grad`` is what the answer says that its calls add.

    ``bent`` says that the script's own backward is not linear.
    """
    notes = [Note(kind, message) for kind, message in (program.ended.run.notes if program.ended is not None else ())]
    own = own_derivatives(nodes)
    if own:
        names = listed(own, len(own))
        notes.append(
            Note(
                "custom-backward",
                f"The script wrote the backward of {names} itself: both routes follow it, and nothing here holds it against "
                "the derivative of its forward."
                + (" It is not linear in what it is given, so that no J has its numbers." if bent else ""),
            )
        )
    notes += note_float32(program, nodes)
    return notes + note_hooks(program, grad)


def note_float32(program: Any, nodes: Sequence[Node]) -> list[Note]:
    """Say where a value leaves the range of float32."""
    if not program.single:
        return []
    for node in nodes:
        sizes = np.abs(np.asarray(node.value, dtype=np.float64))
        finite = sizes[np.isfinite(sizes)]
        beyond = "inf" if np.any(finite > LARGEST) else "0" if np.any((finite > 0) & (finite < SMALLEST)) else ""
        if beyond and node.op is not None:
            word = node.op.spelled or node.op.name
            return [
                Note(
                    "float32",
                    f"In float32 {word} is {beyond} here: the numbers of this answer are those of doubles, and PyTorch's "
                    "may be inf, nan or 0.",
                )
            ]
    return []


def note_hooks(program: Any, grad: Mapping[str, Array]) -> list[Note]:
    """Say where hooks of the script make other gradients of those that the answer has."""
    ended = program.ended
    if ended is None or not ended.run.all_hooks or program.explained < 0:
        return []
    adds = {as_word(name): value for name, value in ended.run.log.events[program.explained].adds.items()}
    other = [name for name, g in grad.items() if name in adds and not close(adds[name], g)]
    if not other:
        return []
    names = listed([f"{name}.grad" for name in other], len(other))
    return [
        Note(
            "hook",
            f"Hooks of the script change gradients on the way: it adds other numbers to {names} than vᵀ·J, which is shown "
            "here without them.",
        )
    ]


def as_word(name: str) -> str:
    """Return the way to a leaf as one word."""
    from gradcli.runner.replay import as_identifier

    return as_identifier(name, {})


def close(left: Array, right: Array) -> bool:
    """Return whether two gradients are the same but for rounding."""
    a, b = np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
    return a.shape == b.shape and bool(
        np.allclose(
            a,
            b,
            rtol=NEAR,
            atol=NEAR * max(np.max(np.abs(b), initial=0.0, where=np.isfinite(b)), 1e-300),
            equal_nan=True,
        )
    )
