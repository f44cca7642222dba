"""Where on the tape numbers stop to be finite: forward, and on the way back."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.engine.graph import Graph, Node, Operation, reaches
from gradcli.engine.naming import place_text
from gradcli.engine.reverse import cotangents
from gradcli.explanation.explained import Note
from gradcli.formulas.texts import Texts, TooLarge
from gradcli.ops.declare import Array, value_of

MOST_LINES = 2_000
"""Lines of a tape up to which a line is also shown as it is written."""
LONGEST = 60
"""Characters of a line that are shown."""


def about_tape(graph: Graph, output: Any, seed: Array, finite: bool) -> list[Note]:
    """Say in which line of the tape the first value, and going back the first cotangent, is not finite.

    The tape has a line for each operation that y depends on, in the order in which they ran. Where the answer is
    ``finite``, a value can be otherwise only behind a choice.
    """
    if not isinstance(output, Node):
        return []
    nodes = reaches(output)
    if finite and not any(isinstance(node, Operation) and node.op.chooses for node in nodes):
        return []
    return [*about_values(graph, nodes), *about_cotangents(graph, output, nodes, seed)]


def about_values(graph: Graph, nodes: list[Node]) -> list[Note]:
    """Say which operation first gives inf or nan out of finite numbers."""
    node = next((node for node in nodes if not np.all(np.isfinite(node.value))), None)
    if node is None:
        return []
    value, place = first_of(node.value, ~np.isfinite(node.value))
    line = line_text(graph, nodes, node)
    unused = "" if not np.all(np.isfinite(nodes[-1].value)) else ", though y is finite"
    return [Note("not-finite", f"{line} is the first value that is not finite: {value}{place}{unused}.")]


def about_cotangents(graph: Graph, output: Node, nodes: list[Node], seed: Array) -> list[Note]:
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
                return [spoiled(line_text(graph, nodes, node), np.asarray(g), part)]
    return []


def spoiled(line: str, g: Array, part: Array) -> Note:
    """Return the note for an operation whose cotangents are finite above and not below."""
    value, place = first_of(part, ~np.isfinite(part))
    if np.any(np.isnan(part)) and np.any(g == 0):
        value, place = first_of(part, np.isnan(part))
        return Note(
            "zero-times-infinity",
            f"Going back, {line} is the first to give nan{place}: 0 times its infinite derivative, as PyTorch has it. "
            "Keep the argument away from that point, by a where inside of the call, and not around it.",
        )
    return Note("not-finite", f"Going back, {line} is the first whose derivative is not finite: {value}{place}.")


def first_of(value: Any, chosen: Array) -> tuple[str, str]:
    """Return the first of the chosen entries as text, and in which entry it stands."""
    position = int(np.flatnonzero(chosen)[0])
    place = place_text(position, np.shape(chosen))
    return f"{float(np.ravel(value)[position])}", f" in entry {place}" if place else ""


def line_text(graph: Graph, nodes: list[Node], wanted: Node) -> str:
    """Return the number of a node's line on the tape, and the line."""
    lines = [node for node in nodes if isinstance(node, Operation)]
    number = next((n for n, node in enumerate(lines, 1) if node is wanted), 0)
    name = wanted.op.name if isinstance(wanted, Operation) else str(wanted.name)
    return f"line {number} of the tape ({written(graph, nodes, wanted) or name})"


def written(graph: Graph, nodes: list[Node], wanted: Node) -> str | None:
    """Return the operation as the language writes it, None where it is long."""
    if len(nodes) > MOST_LINES:
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
