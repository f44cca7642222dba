"""The graph of a run as it is drawn, with the derivatives between its values, and the paths over single numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np

from gradcli.engine.graph import Input, Node, Operation, reaches
from gradcli.engine.naming import place_text
from gradcli.engine.reverse import accumulate
from gradcli.explanation.backward import CHOICES, Arrived, handed_on, plus_arrived
from gradcli.explanation.evaluation import Run, Source
from gradcli.explanation.jacobians import Jacobian
from gradcli.explanation.parts import Edge, Path, Picture, Vertex
from gradcli.explanation.rereading import NAME, Reader
from gradcli.explanation.results import Dust
from gradcli.explanation.tape import Recorded
from gradcli.formulas.vjps import lift, write
from gradcli.ops.declare import Array
from gradcli.ops.values import unbroadcast

MOST_VERTICES = 200
"""Computed values that are looked at; of a longer program the first and the last ones."""
MOST_ENTRIES = 8
"""Entries of y, and of all inputs together, up to which a picture is drawn entry by entry."""
GAP = "…"
"""The name of the vertex that stands for values left out."""


def picture_of(run: Recorded) -> Picture:
    """Return the picture of a run: its named values; one whose text is too long to stand in another's has a name."""
    inner = [node for node in run.nodes if isinstance(node, Operation)]
    computed = [node for node in inner if run.texts.of(node) == run.names[node.index] or node is run.run.output]
    half = MOST_VERTICES // 2
    hidden = computed[half:-half] if len(computed) > MOST_VERTICES else []
    out = {node.index for node in hidden}
    inputs = [node for node in run.nodes if isinstance(node, Input)]
    shown = {node.index for node in [*inputs, *computed]} - out
    vertices = [
        Vertex(
            run.names[node.index],
            run.role(node),
            run.operation(node) if isinstance(node, Operation) else None,
            np.asarray(node.value),
            run.cotangent(node),
        )
        for node in [*inputs, *computed]
        if node.index in shown
    ]
    if hidden:
        vertices.insert(len(inputs) + half, Vertex(GAP, "gap", None, np.zeros(())))
    names = {index: GAP if index in out else run.names[index] for index in shown | out}
    edges: dict[tuple[str, str], Edge] = {}
    with np.errstate(all="ignore"):
        for node in computed:
            for edge in edges_below(node, run, names):
                edges.setdefault((edge.below, edge.above), edge)
    return Picture(vertices, [edge for (below, above), edge in edges.items() if below != above], len(hidden))


def picture_by_entry(
    source: Source, jacobians: Mapping[str, Jacobian], dust: Mapping[str, Dust], grad: Mapping[str, Array]
) -> Picture | None:
    """Return the entries of y by those of the inputs; None where they are many."""
    run, formulas = source.run, source.formulas
    columns = sum(int(np.prod(jacobian.input_shape)) for jacobian in jacobians.values())
    if not (0 < run.value.size <= MOST_ENTRIES and 0 < columns <= MOST_ENTRIES):
        return None
    if not all(jacobian.held for jacobian in jacobians.values()):
        return None
    above = vertices_of(run.name, "output", run.value, run.seed, formulas.output)
    below = {
        name: vertices_of(name, "leaf", run.inputs[name], np.where(dust[name].grad, 0.0, grad[name]))
        for name in jacobians
    }
    values = {**run.inputs, run.name: run.value}

    def text_of(formula: str, number: float) -> str | None:
        if not formula or not formulas.definitions.keys().isdisjoint(NAME.findall(formula)):
            return None
        return formula if Reader(values, {}).gives(formula, np.asarray(number)) else None

    edges = []
    for name, jacobian in jacobians.items():
        places = zip(jacobian.rows.tolist(), jacobian.columns.tolist(), jacobian.values.tolist(), strict=True)
        texts = jacobian.formulas or [""] * len(jacobian.values)
        for (row, column, value), text in zip(places, texts, strict=True):
            edges.append(Edge(below[name][column].name, above[row].name, text_of(text, value), value=value))
    return Picture([*(vertex for entries in below.values() for vertex in entries), *above], edges, by_entry=True)


def vertices_of(
    name: str, role: str, value: Array, cotangent: Array, texts: Sequence[str] | None = None
) -> list[Vertex]:
    """Return a vertex for each entry of an array."""
    return [
        Vertex(f"{name}{place_text(k, value.shape)}", role, texts[k] if texts else None, *map(np.asarray, numbers))
        for k, numbers in enumerate(zip(np.ravel(value), np.ravel(cotangent), strict=True))
    ]


def edges_below(top: Operation, run: Recorded, names: Mapping[int, str]) -> Iterator[Edge]:
    """Yield the edges from the named values that ``top`` is computed from, over those without a name."""
    region, below = reach(top, names)
    above = names[top.index]
    texts = {} if above == GAP else derivatives(top, region, run)
    for node in below:
        flows = node.active and node.index in texts if above != GAP else node.active
        yield Edge(names[node.index], above, texts.get(node.index), flows)


def reach(top: Operation, names: Mapping[int, str]) -> tuple[list[Operation], list[Node]]:
    """Return ``top`` with the operations without a name below it, the last one first, and the named values below."""
    region, ends, stack = {top.index: top}, {}, [top]
    while stack:
        for argument in stack.pop().arguments:
            if not isinstance(argument, Node) or argument.index in region:
                continue
            if argument.index in names or not isinstance(argument, Operation):
                ends[argument.index] = argument
            else:
                region[argument.index] = argument
                stack.append(argument)
    return [region[index] for index in sorted(region, reverse=True)], [ends[index] for index in sorted(ends)]


def derivatives(top: Operation, region: list[Operation], run: Recorded) -> dict[int, str | None]:
    """Return the derivatives of ``top`` by the values below its region, by node index; None for one without a text.

    They are those of a cotangent of ones where entries go by their own entries, or ``top`` is one number. All others
    say what becomes of the cotangent that ``top`` has.
    """
    if top.index not in run.kept:
        return {}
    ones, own = lift(np.ones(top.shape)[()]), write(f"{run.names[top.index]}.grad", run.kept[top.index])
    texts: dict[int, str | None] = {}
    for seed, choice in product((ones, own), range(CHOICES)):
        entrywise = seed is ones and top.shape != ()

        def along(
            node: Operation, k: int, arrived: Arrived, choice: int = choice, whole: bool = not entrywise
        ) -> Arrived:
            if arrived.written is None or not (whole or is_entrywise(node, top.shape)):
                return Arrived(None)
            return Arrived(handed_on(node, k, arrived.written, run.value_text, choice))

        for index, part in accumulate({top.index: Arrived(seed)}, region, along, plus_arrived).items():
            if texts.get(index) is None:
                text = None if part.written is None else part.written.expression.text
                true = part.written is not None and run.reader.gives(part.written.expression.text, part.written.value)
                texts[index] = text if true else None
        if None not in texts.values():
            break
    return texts


def is_entrywise(node: Operation, shape: tuple[int, ...]) -> bool:
    """Return whether an operation works entry by entry on arguments of one shape."""
    return node.op.formula is not None and all(node.arguments[k].shape == node.shape == shape for k in node.links)


MOST_PATHS = 6
"""Paths from one input up to which they are told."""
MOST_NAMED = 40
"""Values with a name up to which paths are looked for."""
Edges = Mapping[int, Mapping[int, float]]


def find_paths(run: Run) -> dict[str, list[Path]]:
    """Return the paths from each of the leaves that few lead from, shortest last; those of one link alone are none.

    The derivatives along a path are those of one named value by the one before it, all others fixed: their products,
    summed over all paths, are the derivative of the output.
    """
    output, names = run.output, run.named
    if not isinstance(output, Operation) or not output.active:
        return {}
    nodes = [node for node in reaches(output) if node.active]
    named = [node for node in nodes if node.index in names]
    if len(named) > MOST_NAMED or any(node.shape for node in named):
        return {}
    edges = {node.index: links_below(node, nodes, names) for node in named if isinstance(node, Operation)}
    found = {}
    for name, leaf in run.leaves.items():
        if leaf.index in names and 0 < count_paths(edges, output.index, leaf.index) <= MOST_PATHS:
            paths = [path_of(way, edges, names) for way in ways(edges, output.index, leaf.index)]
            paths = sorted(paths, key=lambda path: -len(path.factors))
            if len(paths[0].factors) > 1 and all(np.isfinite(path.product) for path in paths):
                found[name] = paths
    return found


def links_below(top: Operation, nodes: Sequence[Node], names: Mapping[int, str]) -> dict[int, float]:
    """Return the derivatives of one named number by the named numbers next below it."""
    found: dict[int, float] = {}

    def along(node: Operation, k: int, total: Any) -> Any:
        if node is not top and node.index in names:
            found[node.index] = float(total)
            return None
        values = [getattr(x, "value", x) for x in node.arguments]
        part = node.op.vjp_along(k)(total, node.value, *values, **node.static)
        return unbroadcast(np.asarray(part)[()], np.shape(values[k]))

    below = [node for node in reversed(nodes) if node.index <= top.index]
    with np.errstate(all="ignore"):
        reached = accumulate({top.index: np.float64(1.0)}, below, along, lambda total, part, _own: total + part)
    return found | {index: float(total) for index, total in reached.items() if index in names}


def count_paths(edges: Edges, top: int, leaf: int) -> int:
    """Return how many paths lead from a leaf to the top, nodes being in the order of their indices."""
    counts = {leaf: 1}
    for index in sorted(edges):
        counts[index] = sum(counts.get(below, 0) for below in edges[index])
    return counts.get(top, 0)


def ways(edges: Edges, top: int, leaf: int) -> Iterator[list[int]]:
    """Yield each way from a leaf up to the top."""
    if top == leaf:
        yield [leaf]
        return
    for below in edges.get(top, {}):
        yield from ([*way, top] for way in ways(edges, below, leaf))


def path_of(way: Sequence[int], edges: Edges, names: Mapping[int, str]) -> Path:
    """Return a way with its names and derivatives."""
    factors = [edges[above][below] for below, above in pairwise(way)]
    return Path(tuple(names[index] for index in way), tuple(factors))
