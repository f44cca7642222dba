"""J where its entries are too many to be composed: applied by passes over the graph, and held where that is cheap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradcli.engine.graph import Graph, Node, Operation
from gradcli.engine.reach import reaches
from gradcli.errors import GradcliError
from gradcli.errors.facts import OverBudget
from gradcli.jacobian.composition import Composition, compose, links_between
from gradcli.jacobian.factors import template_of
from gradcli.jacobian.kinds import constant_of
from gradcli.jacobian.local import Part, PartNumbers, links_of, part_of, reading_of, worked_out
from gradcli.jacobian.sparse import Sparse
from gradcli.ops.declare import value_of
from gradcli.ops.links import Contraction, Links
from gradcli.records import dataclass, field

MOST_PASSED = 20_000_000
"""Numbers that go through the graph, all rows together, up to which every row of J is asked for."""


@dataclass(frozen=True, slots=True)
class Applied(Composition):
    """Jacobians by inputs alone, as far as they are held; local ones are read when they are asked for.

    ``links`` has their names alone. A local Jacobian that subscripts say is not listed.
    """

    refusal: GradcliError = field(kw_only=True)

    def parts(self, node: Operation, argument: int) -> list[Part] | None:
        """Return the parts of the local Jacobian of a node by one argument, None where none took part."""
        if (node.index, argument) not in self.links:
            return None
        constants = tuple([constant_of(a) for a in node.arguments])
        return [outline(links, constants) for links in links_of(reading_of(node), argument)]

    def read(self, node: Operation, argument: int) -> list[PartNumbers]:
        """Return the local Jacobian of a node by one argument with its numbers, as far as it is listed."""
        reading = reading_of(node)
        with np.errstate(all="ignore"):
            return [worked_out(reading, part) for part in self.parts(node, argument) or () if len(part.rows)]

    def link(self, node: Operation, argument: Node) -> Sparse:
        """Refuse the entries of a local Jacobian: they are as many as those of J."""
        del node, argument
        raise self.refusal


def outline(links: Links | Contraction, constants: tuple[Any, ...]) -> Part:
    """Return links with their formula, without a list of those that subscripts say."""
    template = template_of(links, constants)
    if isinstance(links, Links):
        return part_of(links, template)
    none = np.zeros(0, dtype=np.intp)
    return Part(none, none, links.weight, template, (), links.auxiliary, links.second)


def derive(output: Any, wrt: Sequence[Node], most: int, graph: Graph) -> Composition:
    """Return the Jacobian of ``output`` by entries, and where these are more than ``most``, by passes.

    Then ``of`` has the Jacobians by ``wrt`` where ``output`` has one entry, or where all their rows are affordable.
    """
    try:
        return compose(output, wrt, most, graph)
    except GradcliError as error:
        if not isinstance(error.facts, OverBudget) or error.facts.name not in ("jacobian", "total"):
            raise
        refusal = error.with_traceback(None)  # which holds all that was composed
    return apply(output, wrt, most, graph, refusal)


def apply(output: Node, wrt: Sequence[Node], most: int, graph: Graph, refusal: GradcliError) -> Applied:
    """Return the Jacobian of ``output`` by passes; ``refusal`` says why it is not composed."""
    from gradcli.jacobian.passes import Passes  # most Jacobians have few entries

    nodes, passes = reaches(output), Passes(output, wrt, graph)
    first = min(leaf.index for leaf in wrt)
    links = links_between(output, [node for node in reversed(nodes) if node.index >= first])
    rows, columns = int(output.value.size), max(int(leaf.value.size) for leaf in wrt)
    numbers = sum(int(np.size(value_of(node))) for node in nodes)
    cheap = rows * columns <= most and rows * numbers <= MOST_PASSED and rows * passes.listed(links) <= MOST_PASSED
    held = passes.all_rows() if rows == 1 or cheap else {}
    return Applied(held, nodes, 0, {(node.index, k): () for node, k, _ in links}, refusal=refusal)
