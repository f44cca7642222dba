"""How PyTorch lays out the memory of what an operation makes, where numpy is known to do the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.engine.graph import NODES, Graph, Node, Operation
from gradcli.language.picking import basic
from gradcli.ops.declare import value_of
from gradcli.ops.indexing import PUT
from gradcli.ops.shaping import CLONE


def is_layout_known(f: Graph, key: Any) -> bool:
    """Return whether PyTorch lays out the owner of a storage as numpy does; arrays without a node lie as they are."""
    stack = [f.nodes[key]] if isinstance(key, int) else []
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if node.index in seen or not isinstance(node, Operation) or sum(length > 1 for length in node.shape) < 2:
            continue
        seen.add(node.index)
        sources = sources_of_layout(node)
        if sources is None:
            return False
        stack += [source for source in sources if type(source) in NODES]
    return True


def sources_of_layout(node: Operation) -> list[Any] | None:
    """Return the arguments whose layout decides on that of an operation, None where what they decide is not known.

    Entrywise operations lay out as their one matrix does, or row by row where all matrices lie so; stacks, joins and
    products row by row from such alone; what lists pick from a matrix lies so whatever that does.
    """
    op, arguments = node.op, node.arguments
    listed = not basic(node.static.get("key"))
    if op in (CLONE, PUT) or (op.view and not listed):
        return [arguments[0]]
    matrices = [a for a in arguments if len(getattr(value_of(a), "shape", ())) > 1]
    if op.view:
        return [] if matrices and matrices[0].ndim == 2 else None
    by_rows = all(map(lies_by_rows, matrices))
    if op.formula is not None and (by_rows or len(matrices) == 1):
        return matrices
    return matrices if by_rows and (op.moves or op.operator == "@") else None


def lies_by_rows(value: Node | np.ndarray[Any, Any]) -> bool:
    """Return whether entries lie in memory in the order of the axes, if with gaps."""
    numbers = value_of(value)
    steps = [step for step, length in zip(numbers.strides, numbers.shape, strict=True) if length > 1]
    return steps == sorted(steps, reverse=True)
