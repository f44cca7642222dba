"""What a node depends on, in the order in which it ran, and what a sweep from it visits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, KeysView
from itertools import chain
from typing import Any

from gradcli.engine.graph import NODES, Node, Operation

Totals = dict[int, Any]
"""What has reached the nodes of a graph, by node index."""
Visit = Callable[[Totals], Iterable[Node]]
"""Gives the nodes that a sweep visits, the last first, while it fills the totals: those of the graph by default."""
STRETCH = 64
"""Nodes of a run that a sweep walks over, reached or not: to find out which are costs more."""


def reaches(output: Node) -> list[Node]:
    """Return the nodes that ``output`` depends on, itself included, in the order in which they ran."""
    seen: dict[int, Node] = {}
    stack = [output]
    while stack:
        node = stack.pop()
        if node.index not in seen:
            seen[node.index] = node
            if type(node) is Operation:
                stack += [argument for argument in node.arguments if type(argument) in NODES]
    return [seen[index] for index in sorted(seen)]


def visits(nodes: list[Node], top: int, reached: KeysView[int]) -> Iterator[Node]:
    """Return the nodes that a sweep from number ``top`` visits, the last first, while it fills ``reached``.

    They are all that ran for as long as one of the next ``STRETCH`` is reached. Where none is, the sweep is at its end,
    or leaves much out: then they are those that derivatives flow to, however many others ran in between.
    """
    return chain.from_iterable(_stretches(nodes, top, reached))


def _stretches(nodes: list[Node], top: int, reached: KeysView[int]) -> Iterator[list[Node]]:
    while not reached.isdisjoint(range(top, top - STRETCH, -1)):
        low = max(top - STRETCH + 1, 0)
        yield nodes[low : top + 1][::-1]
        top = low - 1
    waiting, seen = [index for index in reached if index <= top], set()
    while waiting:
        index = waiting.pop()
        if index not in seen:
            seen.add(index)
            node = nodes[index]
            if type(node) is Operation:
                waiting += [node.arguments[k].index for k in node.links]
    yield [nodes[index] for index in sorted(seen, reverse=True)]
