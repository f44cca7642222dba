"""What to call the values of a run and their entries: the program's own names, numbered where one has several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import chain, count
from typing import Any

import numpy as np

from gradcli.engine.graph import Graph, Input, Operation
from gradcli.ops import SPELLINGS


def call_assigned(graph: Graph) -> list[str]:
    """Return what to call the value of each assignment of a run, in order.

    ``y1, y2 …`` are the values of a name that is assigned again, or is an input's; numbers skip names that are taken.
    """
    names = [name for name, _ in graph.bindings]
    inputs = {node.name for node in graph.nodes if isinstance(node, Input)}
    taken = inputs.union(names, graph.variables, SPELLINGS)
    times, turn = Counter(names), dict[str, int]()
    found = []
    for name in names:
        if times[name] == 1 and name not in inputs:
            found.append(name)
            continue
        turn[name] = next(n for n in count(turn.get(name, 0) + 1) if f"{name}{n}" not in taken)
        found.append(f"{name}{turn[name]}")
    return found


def numbered(graph: Graph) -> list[tuple[str, Operation]]:
    """Return what the program computed from its inputs under a name, in order, as ``call_assigned`` calls it."""
    called = zip(call_assigned(graph), graph.bindings, strict=True)
    return [(name, node) for name, (_, node) in called if isinstance(node, Operation)]


def taken_names(graph: Graph) -> set[str]:
    """Return the names that no helper may have: those of inputs and variables, and what values are called."""
    inputs = (node.name for node in graph.nodes if isinstance(node, Input))
    return {*inputs, *graph.variables, *(name for name, _ in graph.bindings), *call_assigned(graph)}


def output_name(graph: Graph, output: Any) -> str:
    """Return what to call the output: the program's own name for it, else ``y``, else ``f`` where y is taken."""
    called = reversed(list(zip(call_assigned(graph), graph.bindings, strict=True)))
    inputs = {node.name for node in graph.nodes if isinstance(node, Input)}
    own = next((name for name, (given, node) in called if given == graph.result or node is output), graph.result)
    if own is not None and own not in inputs:
        return own
    taken = taken_names(graph)
    return next(name for name in chain(("y", "f", "out", "y_"), map("y_{}".format, count(1))) if name not in taken)


def place_text(position: int, shape: tuple[int, ...]) -> str:
    """Return the index of an entry given its place in flat order: ``[1,0]``, and nothing for a scalar."""
    if not shape:
        return ""
    return f"[{','.join(str(int(i)) for i in np.unravel_index(position, shape))}]"


Label = Callable[[int], str]
"""What to call an entry, from its place in flat order."""


def label_entries(name: str, shape: tuple[int, ...]) -> Label:
    """Return what calls each entry of an array by the array's name and its place."""
    return lambda position: name + place_text(position, shape)
