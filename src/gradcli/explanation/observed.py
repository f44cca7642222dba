"""What the calls of a script added when it ran, beside vᵀ·J: another number came past the record, and is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.errors.hints import listed
from gradcli.explanation.explained import Backward, Note
from gradcli.ops.declare import Array

if TYPE_CHECKING:
    from gradcli.explanation.evaluation import Point

NEAR = 1e-5
"""How far what a sweep of the script added may be from the answer, of the largest: its numbers went through float32."""


def observed_calls(point: Point) -> list[Mapping[str, Array]]:
    """Return what each call of the run gave by the name of each leaf; none where other v or values are asked for."""
    program = point.function.program
    if not program.is_script or not point.as_run or len(program.calls) != len(point.seeds):
        return []
    return [{program.identifier(label): g for label, g in given(event).items()} for event in program.calls]


def given(event: Any) -> dict[str, Array]:
    """Return what a call added, or what it returned; a jvp gives J·u, and no gradient."""
    if event.tangents:
        return {}
    if event.kind == "backward":
        return dict(event.adds)
    return {name: g for name, g in zip(event.of, event.returns, strict=False) if name and g is not None}


def added_together(calls: Sequence[Any]) -> dict[str, Array]:
    """Return what calls gave by the label of each leaf, added up."""
    total: dict[str, Array] = {}
    for event in calls:
        for label, g in given(event).items():
            total[label] = np.asarray(g) if label not in total else total[label] + np.asarray(g)
    return total


def follow_run(point: Point, backward: Sequence[Backward]) -> tuple[list[Backward], list[Note]]:
    """Return the calls with what the run really gave where that is not vᵀ·J, and what is to be said of them."""
    calls = observed_calls(point)
    changed: dict[str, tuple[Array, Array]] = {}
    followed: list[Backward] = []
    for call, gave in zip(backward, calls, strict=False):
        other = {
            name: np.asarray(gave[name], dtype=np.float64)
            for name, g in call.grad.items()
            if name in gave and np.shape(gave[name]) == g.shape and not close(gave[name], g)
        }
        changed |= {name: (g, call.grad[name]) for name, g in other.items()}
        grad = {**call.grad, **other}
        total = grad if call.alone or not followed else added(followed[-1].accumulated, grad)
        followed.append(Backward(call.v, call.vjp, grad, total, call.alone))
    notes = note_before(point) if calls else []
    if not changed:
        return list(backward), notes
    return followed, [note_past(point, changed), *notes]


def added(before: Mapping[str, Array], grad: Mapping[str, Array]) -> dict[str, Array]:
    """Return gradients added to those before."""
    return {name: before[name] + g for name, g in grad.items()}


def note_before(point: Point) -> list[Note]:
    """Say what had a gradient of earlier calls, which this answer is without."""
    first = point.function.program.calls[0]
    names = [
        name for name, g in first.adds.items() if first.grad.get(name) is not None and not close(first.grad[name], g)
    ]
    if not names:
        return []
    listing = listed([f"{name}.grad" for name in names], len(names))
    message = (
        f"Earlier calls had left numbers in {listing}, and this answer is without them: it is what this call adds."
    )
    return [Note("accumulated", message)]


def note_past(point: Point, changed: Mapping[str, Any]) -> Note:
    """Return the note on gradients that are not vᵀ·J: what has changed them."""
    names = listed([f"{name}.grad" for name in changed], len(changed))
    if point.function.program.ended.run.changing:
        why = "A hook of the script changes the gradient on the way."
        return Note("hook", f"{why} What the call added to {names} is shown, and is not vᵀ·J.")
    return Note(
        "past-the-record",
        f"What the call added to {names} is shown, and is not vᵀ·J: between the forward pass and this call the script "
        "wrote to a value that backward still needed, past the record (.data, .detach() or .numpy()), and backward "
        "took the new numbers.",
    )


def close(left: Any, right: Array) -> bool:
    """Return whether two gradients are the same but for rounding."""
    a, b = np.asarray(left, dtype=np.float64), np.asarray(right, dtype=np.float64)
    largest = float(np.max(np.abs(b), initial=0.0, where=np.isfinite(b)))
    return bool(np.allclose(a, b, rtol=NEAR, atol=NEAR * max(largest, 1e-300), equal_nan=True))
