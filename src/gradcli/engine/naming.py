"""What to call the values of a run and their entries: the program's own names, numbered where one has several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import chain, count

import numpy as np

from gradcli.engine.graph import Graph, Input, Operation


def numbered(graph: Graph) -> list[tuple[str, Operation]]:
    """Return what the program computed under a name, in order; a name that has several meanings is numbered.

    ``y1, y2 …`` are the values of a name that is assigned again, or is an input's; numbers skip names that are taken.
    """
    made = [(name, node) for name, node in graph.bindings if isinstance(node, Operation)]
    inputs = {node.name for node in graph.nodes if isinstance(node, Input)}
    taken = inputs | {name for name, _ in made}
    times = Counter(name for name, _ in made)
    turn: dict[str, int] = {}
    found = []
    for name, node in made:
        if times[name] == 1 and name not in inputs:
            found.append((name, node))
            continue
        turn[name] = next(n for n in count(turn.get(name, 0) + 1) if f"{name}{n}" not in taken)
        found.append((f"{name}{turn[name]}", node))
    return found


def output_name(graph: Graph, output: object) -> str:
    """Return what to call the output: the program's own last name for it, else ``y``, else ``f`` where y is taken."""
    own = [name for name, node in graph.bindings if node is output]
    if own:
        return own[-1]
    taken = {*(node.name for node in graph.nodes if isinstance(node, Input)), *(name for name, _ in graph.bindings)}
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
