"""Where numbers stop to be finite: forward, and on the way back."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.engine.graph import Graph, Node, Operation
from gradcli.engine.naming import called_by, numbered, place_text
from gradcli.engine.reverse import cotangents
from gradcli.explanation.explained import Note
from gradcli.formulas.texts import Texts, TooLarge
from gradcli.ops.declare import Array, value_of

MOST_STEPS = 2_000
"""Operations up to which a step is shown as it is written."""
LONGEST = 60
"""Characters of a step that are shown."""


def note_nonfinite(graph: Graph, output: Any, nodes: list[Node], seed: Array, finite: bool) -> list[Note]:
    """Say which value, and going back which derivative, is the first that is not finite.

    ``nodes`` are those that the output depends on. Where the answer is ``finite``, a value can be otherwise only behind
    a choice.
    """
    if not isinstance(output, Node):
        return []
    if finite and not any(isinstance(node, Operation) and node.op.chooses for node in nodes):
        return []
    return [*note_values(graph, nodes), *note_cotangents(graph, output, nodes, seed)]


def note_values(graph: Graph, nodes: list[Node]) -> list[Note]:
    """Say which operation first gives inf or nan out of finite numbers."""
    node = next((node for node in nodes if not np.all(np.isfinite(node.value))), None)
    if node is None:
        return []
    value, place = first_of(node.value, ~np.isfinite(node.value))
    step = step_text(graph, nodes, node)
    unused = "" if not np.all(np.isfinite(nodes[-1].value)) else ", though y is finite"
    return [Note("not-finite", f"{step} is the first value that is not finite: {value}{place}{unused}.")]


def note_cotangents(graph: Graph, output: Node, nodes: list[Node], seed: Array) -> list[Note]:
    """Say in which operation a finite cotangent first becomes inf or nan on the way back, and whether by 0·inf."""
    if not output.active:
        return []
    found: dict[int, Any] = {}
    cotangents(graph, output, seed, found)
    for node in reversed(nodes):
        if not isinstance(node, Operation) or node.index not in found or not np.all(np.isfinite(found[node.index])):
            continue
        g, values = found[node.index], [value_of(a) for a in node.arguments]
        for vjp in filter(None, map(node.op.vjp, node.links)):
            with np.errstate(all="ignore"):
                part = np.asarray(vjp(g, node.value, *values, **node.static))
            if not np.all(np.isfinite(part)):
                return [spoiled(step_text(graph, nodes, node), np.asarray(g), part)]
    return []


def spoiled(step: str, g: Array, part: Array) -> Note:
    """Return the note for an operation whose cotangents are finite above and not below."""
    value, place = first_of(part, ~np.isfinite(part))
    if np.any(np.isnan(part)) and np.any(g == 0):
        value, place = first_of(part, np.isnan(part))
        return Note(
            "zero-times-infinity",
            f"Going back, {step} is the first to give nan{place}: 0 times its infinite derivative, as PyTorch has it. "
            "Keep the argument away from that point, by a where inside of the call, and not around it.",
        )
    return Note("not-finite", f"Going back, {step} is the first whose derivative is not finite: {value}{place}.")


def first_of(value: Any, chosen: Array) -> tuple[str, str]:
    """Return the first of the chosen entries as text, and in which entry it stands."""
    position = int(np.flatnonzero(chosen)[0])
    place = place_text(position, np.shape(chosen))
    return f"{float(np.ravel(value)[position])}", f" in entry {place}" if place else ""


def step_text(graph: Graph, nodes: list[Node], wanted: Node) -> str:
    """Return a step of the program as the reader knows it: ``z = log(y)``, or one of the two where that is all."""
    if not isinstance(wanted, Operation):
        return str(wanted.name)
    name = next((name for name, node in numbered(graph) if node is wanted), "")
    text = written(graph, nodes, wanted)
    return f"{name} = {text}" if name and text else name or text or called_by(graph, wanted)


def written(graph: Graph, nodes: list[Node], wanted: Node) -> str | None:
    """Return the operation as the language writes it, None where it is long."""
    if len(nodes) > MOST_STEPS:
        return None
    texts = Texts(graph, nodes)
    try:
        for node in nodes:
            texts.describe(node)
            if node is wanted:
                break
    except (TooLarge, RecursionError):
        return None
    text = texts.definitions.get(texts.of(wanted), texts.of(wanted))
    return text if len(text) <= LONGEST else None
