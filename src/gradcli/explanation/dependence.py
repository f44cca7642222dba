"""Which inputs do not matter: those that no derivative comes from, always or at this point alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from gradcli.engine.graph import Graph, Node, Operation
from gradcli.engine.naming import called_by, flat_by, place_text
from gradcli.engine.reach import reaches
from gradcli.errors.counting import listed
from gradcli.explanation.explained import Note
from gradcli.ops.declare import Indices, Op

SHOWN = 3
"""Entries, or operations, that a note names."""


def note_dependence(
    graph: Graph, output: object, called: str, leaves: Mapping[str, Node], columns: Mapping[str, Indices]
) -> list[Note]:
    """Say which differentiated inputs, or which entries of one, the output that is ``called`` so does not depend on.

    ``columns`` are the entries of each that J has derivatives by, in flat order; an input that is left out is
    looked at as a whole.
    Where the program chooses by values, what is not used here may be used elsewhere. PyTorch leaves ``.grad`` None
    where no operation with a derivative leads to an input, and gives zeros where one does.
    """
    if not isinstance(output, Node) or not output.active:
        return []
    reached = reached_backward(output)
    idle = {name: idle_entries(leaf, columns[name]) for name, leaf in leaves.items() if name in columns}
    unused = [name for name, leaf in leaves.items() if leaf.index not in reached or len(idle.get(name, ()))]
    if not unused:
        return []
    nodes = reaches(output)
    here = " at this point" if chooses_by_value(graph) else ""
    notes = []
    for name in unused:
        leaf = leaves[name]
        if leaf.index in reached:
            text = unused_entries(called, name, leaf.shape, idle[name], Flat.of(graph, nodes), here)
        elif leaf in nodes:
            text = (
                f"{called} depends on {name} only through {stopped_at(graph, nodes, leaf)}, which passes no gradient "
                f"on: PyTorch leaves {name}.grad None, and it counts as 0 here."
            )
        else:
            text = (
                f"{called} does not depend on {name}{here}: its gradient is 0, and PyTorch leaves {name}.grad None; "
                "grad() raises there without allow_unused=True."
            )
        notes += [Note("unused-input", text)] if text else []
    return notes


class Flat(NamedTuple):
    """Through what an input may still count that passes no derivative on.

    - ``words``: operations by name, after a comma; empty where there is none.
    - ``noted``: whether each of them has a note of its own, as a step has.
    """

    words: str
    noted: bool

    @classmethod
    def of(cls, graph: Graph, nodes: Sequence[Node]) -> Flat:
        """Return the flat operations among those that lead to an output."""
        flat = [node for node in nodes if isinstance(node, Operation) and (node.op.step or is_held(node.op))]
        names = dict.fromkeys(flat_by(graph, node) for node in flat)
        arbitrary = any(kind == "arbitrary-vectors" for kind, _ in graph.remarks)
        names |= {"vectors without a derivative": None} if arbitrary else {}
        words = f", or only through {' and '.join(names)}" if names else ""
        return cls(words, bool(flat) and not arbitrary and all(node.op.step for node in flat))


def is_held(op: Op) -> bool:
    """Return whether an op gives its argument's numbers without their derivative, as ``detach`` does."""
    return op.pieces is not None and op.pieces.held


def idle_entries(leaf: Node, columns: Indices) -> Indices:
    """Return the entries of an input that are not among ``columns``, in flat order."""
    idle = np.ones(leaf.value.size, dtype=bool)
    idle[columns] = False
    return np.flatnonzero(idle)


def unused_entries(called: str, name: str, shape: tuple[int, ...], idle: Indices, flat: Flat, here: str) -> str:
    """Return the sentence on the ``idle`` entries of an input of this shape; ``here``: they may count elsewhere."""
    if len(idle) == math.prod(shape):
        return "" if flat.noted else f"{called} does not depend on {name}{flat.words or here}: its gradient is 0."
    first = [f"{name}{place_text(int(i), shape)}" for i in idle[:SHOWN]]
    return f"{called} does not depend on {listed(first, len(idle))}{flat.words or here}."


def chooses_by_value(graph: Graph) -> bool:
    """Return whether values decide what is used: by a branch, a comparison, a choice, or an order of entries."""
    return graph.branches or any(isinstance(node, Operation) and is_choice(node) for node in graph.nodes)


def is_choice(node: Operation) -> bool:
    """Return whether values are picked by numbers of this run, or told to what picks by them; a list is always so."""
    op = node.op
    if op.chooses:
        return isinstance(node.arguments[0], Node)
    picks = op.moves or (isinstance(op.vjps, tuple) and not any(op.vjps))
    return op.pieces is not None and not op.pieces.held and picks


def reached_backward(output: Node) -> set[int]:
    """Return the indices of the nodes that a cotangent of the output is handed to."""
    found = {output.index}
    stack: list[Node] = [output]
    while stack:
        node = stack.pop()
        for k in node.links if isinstance(node, Operation) else ():
            argument = node.arguments[k]
            if argument.index not in found:
                found.add(argument.index)
                stack.append(argument)
    return found


def stopped_at(graph: Graph, nodes: Sequence[Node], leaf: Node) -> str:
    """Return the operations at which every way back to an input ends."""
    below, ends = {leaf.index}, []
    for node in nodes:
        if not isinstance(node, Operation):
            continue
        if any(isinstance(argument, Node) and argument.index in below for argument in node.arguments):
            if any(node.arguments[k].index in below for k in node.links):
                below.add(node.index)
            else:
                ends.append(called_by(graph, node))
    return " and ".join(list(dict.fromkeys(ends))[:SHOWN])
