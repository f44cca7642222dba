"""What deserves a sentence about a script: what was left out, what derivatives and hooks do, what float32 has not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.engine.graph import Node
from gradcli.errors.counting import listed
from gradcli.explanation.explained import Note

LARGEST, SMALLEST = 3.4028235e38, 7e-46
"""What float32 has no number beyond, and no number but 0 below."""


HOOK = "hook"
"""What a hook that changes gradients is called among functions with a backward pass of their own."""


CURVED = " It is not linear in the gradient that arrives, so that no J gives its numbers."


def own_derivatives(nodes: Sequence[Node]) -> list[str]:
    """Return the names of functions whose derivative the script itself has written."""
    return list(dict.fromkeys(node.static["call"].name for node in nodes if node.op is not None and is_own(node)))


def is_own(node: Node) -> bool:
    """Return whether an operation is a call of a function with a backward pass of the script's own."""
    return "call" in node.static


def note_script(program: Any, nodes: Sequence[Node], bent: bool) -> list[Note]:
    """Return the notes on a call of a script.

    ``bent`` says that the script's own backward is not linear.
    """
    notes = [Note(kind, message) for kind, message in (program.ended.run.notes if program.ended is not None else ())]
    return notes + note_own(program, nodes, bent) + note_float32(program, nodes)


def note_own(program: Any, nodes: Sequence[Node], bent: bool = False) -> list[Note]:
    """Say which backward passes of the script's own, and hooks, an answer follows: in earlier derivatives too."""
    notes = []
    followed = [] if program.forwards else [call.name for call in program.customs]
    own = list(dict.fromkeys([*own_derivatives(nodes), *followed]))
    if HOOK in own:
        own.remove(HOOK)
        said = "A hook of the script changes the gradient on the way: both routes follow it."
        notes.append(Note("hook", said + (CURVED if bent and not own else "")))
    if own:
        names = listed(own, len(own))
        notes.append(
            Note(
                "custom-backward",
                f"The backward of {names} is used as the script wrote it: gradcli check compares it with the "
                "derivative of its forward." + (CURVED if bent else ""),
            )
        )
    return notes


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
                    f"In float32 {word} is {beyond} here: this answer is computed in float64, and PyTorch may give "
                    "inf, nan or 0.",
                )
            ]
    return []
