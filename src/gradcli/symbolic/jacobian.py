"""The numeric Jacobian by the symbolic route: local derivatives, evaluated and multiplied along the graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradcli.errors import over_budget
from gradcli.graph import Graph, Node, reaches
from gradcli.symbolic.local import Local, local_jacobian
from gradcli.symbolic.sparse import Sparse, gathered, identity, product


@dataclass(frozen=True, slots=True)
class Composition:
    """Jacobians of the output by nodes (``of``, by node index), and the local Jacobians they were composed from.

    ``work`` counts the products of entries that the composition took.
    """

    of: dict[int, Sparse]
    locals: dict[tuple[int, int], list[Local]]
    work: int


def as_sparse(parts: list[Local], rows: int, columns: int) -> Sparse:
    """Return a local Jacobian as one sparse matrix of numbers."""
    if not parts:
        nothing = np.zeros(0, dtype=np.intp)
        return Sparse(nothing, nothing, np.zeros(0), np.zeros(0), (rows, columns))
    found = [Sparse(part.rows, part.columns, part.values, part.sizes, (rows, columns)) for part in parts]
    return gathered(found, (rows, columns))


KEPT = 4
"""Elements of an entry that is kept: its row, its column, its value, its size."""
SHARE = 2
"""Elements that local Jacobians may hold for each element that the values of the program may have."""


def charge(graph: Graph, held: int) -> None:
    """Refuse so many elements of local Jacobians where they pass the graph's budget, or its time is over."""
    graph.watch()
    if held > SHARE * graph.budget.total:
        raise over_budget("total", graph.budget.total, f"{held:,} numbers of local Jacobians")


def elements_of(parts: list[Local]) -> int:
    """Return how many elements the arrays of a local Jacobian hold, those that it shares counted once."""
    arrays = {
        id(array): np.size(array)
        for part in parts
        for array in (part.rows, part.columns, part.values, part.sizes, *(where for _, where in part.bound))
    }
    return sum(arrays.values())


def compose(output: Any, wrt: Sequence[Node], bound: int, graph: Graph | None = None) -> Composition:
    """Return the Jacobian of ``output`` by every active node between it and ``wrt``.

    Row i of a Jacobian belongs to entry i of the output in flat order, column j to entry j of the node. Entries that
    are kept are those that can be non-zero; one that is zero at this point is kept with the value 0.
    Raises ``budget`` where a product of two Jacobians has more than ``bound`` terms, and, with a ``graph``, where all
    entries together take more memory than its values may, or its time is over.
    """
    first = min((leaf.index for leaf in wrt), default=0)
    size = int(np.size(output.value)) if isinstance(output, Node) else int(np.size(output))
    found: dict[int, Sparse] = {}
    kept: dict[tuple[int, int], list[Local]] = {}
    work, held = 0, 0
    if isinstance(output, Node) and output.active:
        found[output.index] = identity(size, 1.0, np.float64)
        with np.errstate(all="ignore"):
            for node in reversed(reaches(output)):
                outer = found.get(node.index)
                if outer is None or node.op is None or node.index < first:
                    continue
                for k, argument in enumerate(node.arguments):
                    if type(argument) is not Node or not argument.active or node.op.vjp(k) is None:
                        continue
                    kept[node.index, k] = local_jacobian(node, k, bound)
                    inner = as_sparse(kept[node.index, k], np.size(node.value), np.size(argument.value))
                    part = product(outer, inner, bound)
                    work += len(part.rows) + len(inner.rows)
                    held += elements_of(kept[node.index, k]) + KEPT * len(part.rows)
                    if graph is not None:
                        charge(graph, held)
                    earlier = found.get(argument.index)
                    found[argument.index] = part if earlier is None else gathered([earlier, part], part.shape)
    nothing = np.zeros(0, dtype=np.intp)
    for leaf in wrt:
        empty = Sparse(nothing, nothing, np.zeros(0), np.zeros(0), (size, int(np.size(leaf.value))))
        found.setdefault(leaf.index, empty)
    return Composition(found, kept, work)
