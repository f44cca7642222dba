"""What deserves a sentence beside the numbers: kinks, shapes made to fit, inputs that do not matter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from gradcli.engine.graph import Graph, Node, Operation, reaches
from gradcli.engine.naming import place_text
from gradcli.explanation.explained import Note
from gradcli.language.inputs import Cotangent
from gradcli.ops.declare import Op, value_of


def note_v(v: Cotangent) -> list[Note]:
    """Say how a v was made to fit."""
    if v.source == "reshaped":
        message = f"v was reshaped from {v.came} to {v.seed.shape}, the shape of y; PyTorch wants it in that shape."
        return [Note("v-reshaped", message)]
    if v.source == "broadcast":
        return [
            Note(
                "v-broadcast",
                f"y has one entry and v has {v.shown.size}: J is taken once for each, so x.grad is sum(v)*J. "
                'PyTorch today raises "Mismatch in shape" here.',
            )
        ]
    return []


def note_run(graph: Graph) -> list[Note]:
    """Return what the run itself remarked: where PyTorch and NumPy do not answer alike."""
    return [Note(kind, message) for kind, message in graph.remarks]


def note_integers(names: list[str]) -> list[Note]:
    """Say which inputs were given in integers."""
    if not names:
        return []
    given = f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} given in integers"
    return [Note("integers-as-floats", f"{given}, read as floats; torch.tensor([1, 2]) has no gradient.")]


def note_graph(output: Any, leaves: Mapping[str, Node], differentiated: tuple[str, ...]) -> list[Note]:
    """Say where the graph has a kink or a flat op, and which inputs the output does not depend on."""
    if not isinstance(output, Node) or not output.active:
        return [Note("constant-output", "y does not depend on any differentiated variable: every gradient is 0.")]
    nodes = reaches(output)
    used = {node.index for node in nodes}
    notes = [
        Note("unused-input", f"y does not depend on {name}: its gradient is 0.")
        for name in differentiated
        if leaves[name].index not in used
    ]
    for node in nodes:
        notes.extend(note_node(node))
    return list(dict.fromkeys(notes))


def note_node(node: Node) -> list[Note]:
    """Say whether an op stands at a kink, or is flat although it depends on a differentiated variable."""
    if not isinstance(node, Operation):
        return []
    op = node.op
    depends = any(isinstance(a, Node) and a.active for a in node.arguments)
    flat = [Note("flat", f"{op.name} is flat: its derivative is 0 wherever it has one.")] if op.step and depends else []
    return [*flat, *note_kink(node, op)]


def note_kink(node: Operation, op: Op) -> list[Note]:
    """Say where an op has no derivative at this point, and which number is taken."""
    if op.kink is None or not node.active:
        return []
    values = [value_of(a) for a in node.arguments]
    with np.errstate(all="ignore"):
        where = np.asarray(op.kink.at(*values, **node.static))
    if not where.any():
        return []
    shape = np.shape(node.value)
    where = where.reshape(shape) if where.size == np.size(node.value) else np.broadcast_to(where, shape)
    place = place_text(int(np.flatnonzero(np.ravel(where))[0]), np.shape(node.value))
    more = int(np.sum(where)) - 1
    at = f" in entry {place}" if place else ""
    rest = f" and {more} more" if more else ""
    return [Note("kink", f"{op.name} has a kink{at}{rest} at this point; there {op.kink.says}, as in PyTorch.")]


def note_jacobian(name: str, columns_used: Any, shape: tuple[int, ...]) -> list[Note]:
    """Name the entries of an input that no output depends on."""
    idle = np.flatnonzero(~np.asarray(columns_used))
    if not len(idle) or len(idle) == len(columns_used):
        return []
    shown = ", ".join(f"{name}{place_text(int(i), shape)}" for i in idle[:3]) + (
        f" and {len(idle) - 3} more" if len(idle) > 3 else ""
    )
    return [Note("unused-input", f"y does not depend on {shown}.")]


def note_unheld(name: str, shape: tuple[int, int]) -> Note:
    """Say that the entries of J by a variable are too many, and what was taken instead."""
    rows, columns = shape
    return Note(
        "rows-alone",
        f"J by {name} has {rows:,} rows and {columns:,} columns, and the products of its local derivatives are too "
        "many to be held: the symbolic route took v through them, in one pass. Any row or column can be asked for.",
    )


def oddities(nodes: Iterable[Node]) -> Iterator[Note]:
    """Yield what PyTorch's backward does at single nodes that is not the derivative."""
    for node in nodes:
        if isinstance(node, Operation) and node.op.oddity is not None and node.active:
            active = tuple(isinstance(a, Node) and a.active for a in node.arguments)
            said = node.op.oddity.says(active, node.value, *map(value_of, node.arguments), **node.static)
            if said:
                yield Note(node.op.oddity.kind, said)


def note_backward(nodes: Iterable[Node], output: Any) -> list[Note]:
    """Say where reverse mode alone, over the recorded ``nodes``, is not the derivative, as PyTorch's is not."""
    if not isinstance(output, Node) or not any(isinstance(node, Operation) and node.op.oddity for node in nodes):
        return []
    return [
        Note(note.kind, f"The gradient is PyTorch's, and not the derivative: {note.message}.")
        for note in dict.fromkeys(oddities(reaches(output)))
    ]


def note_disagreement(output: Any, infinite: str) -> Note:
    """Say why the routes differ; ``infinite`` is which of them is not finite where they do: grad, J, or neither."""
    return Note("routes-differ", reason(reaches(output) if isinstance(output, Node) else [], infinite))


def reason(nodes: list[Node], infinite: str) -> str:
    """Return why the routes differ on a graph."""
    odd = next(oddities(nodes), None)
    if odd is not None:
        return f"J and reverse mode differ as PyTorch does from the mathematics: {odd.message}."
    for node in nodes:
        if not isinstance(node, Operation) or node.op.differs is None:
            continue
        if np.any(node.op.differs(node.value, *map(value_of, node.arguments))):
            return f"J and reverse mode differ as PyTorch does from the mathematics: {node.op.says}."
    if infinite == "grad":
        return (
            "J is finite but reverse mode gives nan: it multiplies 0 by inf, as PyTorch does, in a part of the graph "
            "that has no influence here, such as the branch that where did not take."
        )
    if any(not np.all(np.isfinite(node.value)) for node in nodes):
        return (
            "A value on the way is not finite, and J and reverse mode carry it on to different entries: neither is a "
            "derivative there."
        )
    return "J and reverse mode differ by more than rounding explains. Please report this."
