"""What PyTorch keeps for backward, and frees in it: a second backward raises where any of it is needed again."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import numpy as np

from gradcli.engine.graph import Graph, Input, Node, Operation
from gradcli.engine.naming import called_by, numbered
from gradcli.errors.counting import listed
from gradcli.language.versions import differentiated
from gradcli.language.writes import saved_places
from gradcli.ops.saved import keeps_own

MOST_NAMED = 3
"""Operations that the remark names."""


def remark_second_backward(graph: Graph, output: object) -> None:
    """Remark on values that the first backward frees, and which a second one needs: what is kept, and for what."""
    names = {node.index: name for name, node in numbered(graph)}
    changed = {index for write in graph.writes for index in write.inplace}
    kept_by: dict[str, str] = {}
    for node in differentiated(output):
        found = kept_for(node, changed)
        if found:
            kept_by.setdefault(called_by(graph, node), kept_text(node, found, names))
    if not kept_by:
        return
    words = [f"{word} saves {what}" for word, what in kept_by.items()]
    graph.remark(
        "torch-refuses",
        "A second backward raises in PyTorch without retain_graph=True, since the first one frees the values saved for "
        f"it: {listed(words[:MOST_NAMED], len(words))}.",
    )


OUTPUT, OWN = -1, -2
"""What is kept beside arguments, which have their numbers."""


def kept_for(node: Operation, changed: Set[int]) -> list[int]:
    """Return what PyTorch keeps for the derivative of an operation: numbers of arguments, ``OUTPUT`` and ``OWN``.

    ``changed`` are the operations of augmented assignments.
    """
    active = tuple([isinstance(argument, Node) and argument.active for argument in node.arguments])
    arrays = tuple([isinstance(argument, Node | np.ndarray) for argument in node.arguments])
    found = [*saved_places(node)]
    key = node.static.get("key", ())
    if any(isinstance(part, np.ndarray) for part in (key if isinstance(key, tuple) else (key,))):
        return [*found, OWN]
    if keeps_own(node.op, active, arrays) and not (key != () and is_whole_write(node, key, changed)):
        return [*found, OWN]
    return found


def is_whole_write(node: Operation, key: Any, changed: Set[int]) -> bool:
    """Return whether a write is to a whole array by its own name, which PyTorch takes for one without a view."""
    x, value = node.arguments
    if isinstance(value, Node) and value.index in changed:
        return False
    parts = key if isinstance(key, tuple) else (key,)
    return all(part is Ellipsis or is_whole_slice(part, length) for part, length in zip(parts, x.shape, strict=False))


def is_whole_slice(part: object, length: int) -> bool:
    """Return whether a part of an index is a slice that PyTorch sees to take the whole axis; it counts no ``-3:``."""
    return (
        isinstance(part, slice)
        and part.start in (None, 0)
        and part.step in (None, 1)
        and (part.stop is None or part.stop >= length)
    )


def kept_text(node: Operation, found: list[int], names: dict[int, str]) -> str:
    """Return what is kept, by the names of the program where it has any."""
    own = {OUTPUT: names.get(node.index, "its result"), OWN: "what it needs"}
    values = [k for k in found if k < 0 or isinstance(node.arguments[k], Node)]
    words = list(dict.fromkeys(own.get(k) or name_of(node.arguments[k], names) for k in values or found))
    return listed(words, len(words))


def name_of(value: Any, names: dict[int, str]) -> str:
    """Return what the program calls a value that an operation was given."""
    if isinstance(value, Input):
        return value.name
    if isinstance(value, Node):
        return names.get(value.index, "an inner value")
    return "a constant" if np.ndim(value) else f"{float(value):g}"
