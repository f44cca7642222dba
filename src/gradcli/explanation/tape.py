"""The recorded graph with all that the sweep back did, and how each derivative is found, read off it rule by rule.

The graph of a run as it is drawn, with the derivatives between its values, and the paths over single numbers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise, product
from typing import Any

import numpy as np

from gradcli.engine.graph import NODES, Input, Node, Operation, reaches
from gradcli.engine.naming import place_text, taken_names
from gradcli.engine.reverse import accumulate
from gradcli.explanation.backward import (
    CHOICES,
    Arrived,
    ConstantTexts,
    constants_of,
    handed_on,
    names_of_places,
    plus_arrived,
    seed_text,
    sizes_of,
)
from gradcli.explanation.evaluation import Run, Source
from gradcli.explanation.jacobians import Jacobian
from gradcli.explanation.parts import BackwardPass, Edge, Path, Picture, Sent, Step, Tape, Taped, Vertex
from gradcli.explanation.rereading import NAME, NO_TERMS, Reader, is_same, put_in
from gradcli.explanation.results import Dust
from gradcli.formulas.expression import read_expression
from gradcli.formulas.texts import ATOM, LONG, TooLarge
from gradcli.formulas.vjps import Written, lift, write
from gradcli.ops import RESERVED
from gradcli.ops.declare import Array, op_name, rule_of, saved_here, value_of
from gradcli.ops.values import unbroadcast
from gradcli.ops.writing import number_text
from gradcli.records import dataclass, field

MOST_ROWS = 200
"""Operations that have rows; of a longer program the first and the last ones."""


@dataclass(frozen=True)
class Recorded:
    """One run with a name for every node.

    ``given`` are the names that nodes have, by their indices, ``taken`` those that no other may get. ``constants`` are
    the long arrays that have a name. ``spare`` are the names of nodes that stand as texts where these have at
    most ``longest`` characters.
    """

    run: Run
    given: Mapping[int, str]
    taken: Collection[str]
    constants: Mapping[str, Array]
    spare: Mapping[int, str] = field(default_factory=dict)
    longest: int = LONG

    @cached_property
    def names(self) -> dict[int, str]:
        """A name for every node: the one that it has, or the next ``h`` that is free."""
        fixed = {**self.spare, **self.given}
        names, used, number = {}, {*self.taken, *fixed.values()}, 0
        for node in self.nodes:
            name = fixed.get(node.index) or node.name
            while name is None or (name in used and node.index not in fixed and node.name is None):
                name, number = f"h{number}", number + 1
            names[node.index] = name
        return names

    @cached_property
    def nodes(self) -> list[Node]:
        """The nodes that the output depends on, in the order in which they ran; inputs that it does not need too."""
        reached = reaches(self.run.output) if isinstance(self.run.output, Operation) else []
        by_index = {node.index: node for node in [*self.run.graph.inputs.values(), *reached]}
        return [by_index[index] for index in sorted(by_index)]

    @cached_property
    def kept(self) -> dict[int, Any]:
        """The engine's cotangents by node index; 0 for a differentiated input that nothing reaches."""
        inputs = (node for node in self.nodes if isinstance(node, Input) and node.active)
        return {node.index: np.zeros(node.shape) for node in inputs} | self.run.cotangents()

    @cached_property
    def texts(self) -> ConstantTexts:
        """The text of every node: in the program's names while that is short, else in those of its arguments."""
        texts = ConstantTexts(self.run.graph, self.nodes, self.constants)
        for node in self.nodes:
            texts.text[node.index] = (self.names[node.index], ATOM)
            if isinstance(node, Operation) and node.index not in self.given:
                written = self.written(texts, node)
                if written is not None and len(written[0]) <= self.longest:
                    texts.text[node.index] = written
        return texts

    @staticmethod
    def written(texts: ConstantTexts, node: Operation) -> tuple[str, int] | None:
        """Return an operation in the texts of its arguments; None where the language has none for it."""
        try:
            return texts.written(node, node.op)
        except (TooLarge, KeyError):
            return None

    @cached_property
    def places(self) -> dict[str, str]:
        """What the program calls positions, by their texts."""
        return names_of_places(self.run.graph, self.constants)

    @cached_property
    def reader(self) -> Reader:
        """What evaluates texts at this point."""
        values = {self.names[node.index]: node.value for node in self.nodes}
        values |= {name: leaf.value for name, leaf in self.run.graph.inputs.items()}
        return Reader({**self.constants, **values}, {self.names[index]: value for index, value in self.kept.items()})

    def role(self, node: Node) -> str:
        """Return the role of a node."""
        if isinstance(node, Input):
            return "leaf" if node.active else "constant"
        return "output" if node is self.run.output else "inner" if node.active else "constant"

    def cotangent(self, node: Node) -> Array | None:
        """Return what reaches a node, None where nothing does."""
        return np.asarray(self.kept[node.index]) if node.index in self.kept else None

    def value_text(self, x: Any) -> Any:
        """Return a value as a written array; a constant that no name leads to as it is."""
        if isinstance(x, Node):
            return Written(read_expression(self.texts.text[x.index][0], {}), x.value, np.shape(x.value))
        text = self.texts.expression(x)
        return x if text is None else Written(read_expression(text[0], {})._replace(shape=x.shape), x, x.shape)

    def operation(self, node: Operation) -> str | None:
        """Return an operation as text; None where the language has none, or finds another value in it."""
        written = self.written(self.texts, node)
        if written is None:
            return None
        is_mask = np.asarray(node.value).dtype == bool  # which is no output of a program
        value = self.reader.evaluate(f"where({written[0]}, 1, 0)" if is_mask else written[0])
        true = value is not None and is_same(value.astype(np.float64), np.asarray(node.value, dtype=np.float64))
        return written[0] if true else None


def recorded_run(source: Source, back: BackwardPass) -> Recorded:
    """Return the run of an answer with a name for every node, the same as elsewhere in the answer."""
    run = source.run
    run.graph.meter.restart()
    given = {**source.spare, **back.names, **run.named}
    taken = {*taken_names(run.graph), *RESERVED, *source.formulas.sources, *back.names.values()}
    return Recorded(run, given, taken, {**constants_of(run.graph), **back.constants})


def record_tape(run: Recorded) -> Tape:
    """Return the tape of a run."""
    inner = [node for node in reversed(run.nodes) if isinstance(node, Operation)]
    half = MOST_ROWS // 2
    middle = range(half, len(inner) - half) if len(inner) > MOST_ROWS else range(0)
    uses: dict[int, int] = {}
    rows: list[Taped] = []
    with np.errstate(all="ignore"):
        for place, node in enumerate(inner):
            if place not in middle:
                rows.append(row_of(node, run, uses))
                continue
            for k in node.links if node.index in run.kept else ():
                uses[node.arguments[k].index] = uses.get(node.arguments[k].index, 0) + 1
    rows += [row_of(node, run, uses) for node in run.nodes if isinstance(node, Input)]
    output = run.run.output
    return Tape(rows, run.names[output.index] if run.run.active else None, len(middle), half if middle else 0)


def row_of(node: Node, run: Recorded, uses: dict[int, int]) -> Taped:
    """Return the row of a node; ``uses`` counts what reaches each value, and what this one sends on is added to it."""
    sent = []
    if isinstance(node, Operation) and node.index in run.kept:
        for k in node.links:
            one, target = send(node, k, run, uses), node.arguments[k].index
            if one is not None:
                sent.append(one)
                uses[target] = uses.get(target, 0) + 1
    begins = node is run.run.output and (node.active or not isinstance(node, Operation))
    return Taped(
        run.names[node.index],
        run.role(node),
        run.operation(node) if isinstance(node, Operation) else None,
        op_name(node.op, node.static) if isinstance(node, Operation) else "",
        np.asarray(node.value),
        tuple(dict.fromkeys(kept_texts(node, run))) if isinstance(node, Operation) and node.active else (),
        run.cotangent(node),
        uses.get(node.index, int(begins)),
        tuple(sent),
        run.texts.of(node),
    )


def kept_texts(node: Operation, run: Recorded) -> Iterable[str]:
    """Yield what the vjps of an operation read on the way back: arrays among its arguments, and its own value.

    A function of the user's keeps what its forward has saved.
    """
    by_user = node.static["call"].saved() if "call" in node.static else None
    for value in by_user or ():
        shown = value is node or any(value is argument for argument in node.arguments)
        yield run.texts.of(value) if shown else f"a tensor {np.shape(value_of(value))}"
    if by_user is not None:
        return
    reads = saved_here(node.op, tuple(k in node.links for k in range(len(node.arguments))))
    for argument, read in zip(node.arguments, reads.arguments, strict=True):
        if read and type(argument) in NODES:
            yield run.texts.of(argument)
        elif read and np.ndim(argument):
            named = (name for name, constant in run.constants.items() if constant is argument)
            yield next(named, f"a constant {np.shape(argument)}")
    if reads.output:
        yield run.names[node.index]


def send(node: Operation, k: int, run: Recorded, arrived: Collection[int]) -> Sent | None:
    """Return what an operation sends to argument ``k``, None for nothing.

    The derivative of one that works entry by entry is what the argument gets of a cotangent of ones, before any
    broadcasting is undone.
    """
    target = node.arguments[k]
    g, values = run.kept[node.index], [value_of(argument) for argument in node.arguments]
    part = node.op.vjp_along(k)(g, node.value, *values, **node.static)
    if part is None:
        return None
    value = np.asarray(unbroadcast(np.asarray(part)[()], target.shape))
    local, slope = None, None
    if node.op.formula is not None:
        ones = np.ones(node.shape)[()]
        slope = np.asarray(node.op.vjp_along(k)(ones, node.value, *values, **node.static))
        local = true_text(node, k, run, lift(ones), slope, broadcast=True)
    return Sent(
        run.names[target.index],
        rule_of(node.op, node.links, node.static),
        true_text(node, k, run, write(f"{run.names[node.index]}.grad", g), value),
        value,
        local,
        slope,
        np.shape(part) if np.shape(part) != target.shape else None,
        target.index in arrived,
    )


def true_text(node: Operation, k: int, run: Recorded, g: Written, value: Array, broadcast: bool = False) -> str | None:
    """Return what argument ``k`` gets of the cotangent ``g``, by the plainest text that gives the engine's number.

    ``broadcast`` leaves it in the shape of the operation. None where no text does.
    """
    for choice in range(CHOICES):
        part = handed_on(node, k, g, run.value_text, choice, run.places, undo=not broadcast)
        sizes = NO_TERMS if broadcast or part is None else sizes_of(node, k, np.abs(g.value))
        if part is not None and run.reader.gives(part.expression.text, value, sizes):
            return part.expression.text
    return None


def take_steps(tape: Tape, shown: Collection[str] = ()) -> list[Step]:
    """Return the lines: names of values, but of those ``shown`` elsewhere; the operations' rules; the chain rule back.

    The first two are in the order in which they ran. An operation that does not work entry by entry has no derivative
    of an entry by its own: the chain rule alone tells of it, under the name of its rule.
    """
    reaching = [(row, row.cotangent) for row in tape.rows if row.cotangent is not None]
    numbers = {row.name: row.value for row in tape.rows}
    numbers |= {f"{row.name}.grad": cotangent for row, cotangent in reaching}
    labels = {row.name: row.label for row in tape.rows}
    reached: dict[str, list[Sent]] = {}
    for row, _ in reaching:
        for sent in row.sent:
            reached.setdefault(sent.to, []).append(sent)
    rules = [step for row, _ in reversed(reaching) for step in rule_steps(row, labels, numbers)]
    start = [
        Step("start", f"{row.name}.grad", "", seed_text(g, numbers), None, g)
        for row, g in reaching
        if row.name == tape.output
    ]
    chain = [chain_step(row, g, reached.get(row.name, []), numbers) for row, g in reaching if row.name != tape.output]
    lines = [*rules, *start, *chain]
    mentioned = set(NAME.findall(" ".join(f"{step.of} {step.by} {step.formula}" for step in lines)))
    names: list[Step] = []
    for row in tape.rows:  # the last one that ran is the first
        if row.operation and row.name in mentioned and row.name not in shown:
            names.insert(0, Step(row.operation, row.name, "", row.text, with_numbers(row.text, numbers), row.value))
            mentioned.update(NAME.findall(row.text or ""))
    return [*names, *lines]


def rule_steps(row: Taped, labels: Mapping[str, str], numbers: Mapping[str, Array]) -> Iterator[Step]:
    """Yield the derivatives of an operation that works entry by entry, by each value that it is of.

    A value that it uses twice has both of its parts in one line.
    """
    for to in dict.fromkeys(sent.to for sent in row.sent):
        parts = [(sent.local, sent.slope) for sent in row.sent if sent.to == to]
        slopes = [slope for _, slope in parts if slope is not None]
        if len(slopes) == len(parts):
            with np.errstate(all="ignore"):
                value = np.asarray(sum(slopes[1:], start=slopes[0]))
            formula = joined_terms([text for text, _ in parts])
            yield Step(row.sent[0].rule, row.label, labels.get(to, to), formula, with_numbers(formula, numbers), value)


def chain_step(row: Taped, g: Array, reached: Sequence[Sent], numbers: Mapping[str, Array]) -> Step:
    """Return how the cotangent ``g`` of a value is found from those of the values that it is used in."""
    formula = joined_terms([sent.text for sent in reached]) if len(reached) == row.uses else None
    rule = "chain" if not reached or reached[0].local is not None else reached[0].rule
    if not row.uses:
        rule, formula = "unused", "0"
    elif row.uses > 1:
        rule = "sum of uses"
    return Step(rule, f"{row.name}.grad", "", formula, with_numbers(formula, numbers), g)


def joined_terms(texts: Sequence[str | None]) -> str | None:
    """Return the sum of texts, a minus before a product as its sign; None where one is missing."""
    terms = [text for text in texts if text is not None]
    if not terms or len(terms) < len(texts):
        return None
    minus = [text.startswith("-") and not re.search(r" [+-] ", text) for text in terms]
    rest = zip(terms[1:], minus[1:], strict=True)
    return terms[0] + "".join(f" - {text[1:]}" if negative else f" + {text}" for text, negative in rest)


def with_numbers(formula: str | None, numbers: Mapping[str, Array]) -> str | None:
    """Return a formula with numbers in the place of names; None where there is none, or one is no number."""
    return put_in(formula, numbers, number_text) or None if formula is not None else None


# ---- the graph of a run as it is drawn

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
    values = {**run.inputs, run.name: run.value}

    def text_of(formula: str, number: float) -> str | None:
        """Return a formula in the names of boxes alone, if it gives the number; None for any other."""
        if not formula or not formulas.definitions.keys().isdisjoint(NAME.findall(formula)):
            return None
        return formula if Reader(values, {}).gives(formula, np.asarray(number)) else None

    texts = list(map(text_of, formulas.output or [""] * run.value.size, np.ravel(run.value).tolist()))
    above = vertices_of(run.name, "output", run.value, run.seed, texts)
    below = {
        name: vertices_of(name, "leaf", run.inputs[name], np.where(dust[name].grad, 0.0, grad[name]))
        for name in jacobians
    }
    edges = []
    for name, jacobian in jacobians.items():
        places = zip(jacobian.rows.tolist(), jacobian.columns.tolist(), jacobian.values.tolist(), strict=True)
        entries = jacobian.formulas or [""] * len(jacobian.values)
        for (row, column, value), text in zip(places, entries, strict=True):
            edges.append(Edge(below[name][column].name, above[row].name, text_of(text, value), value=value))
    return Picture([*(vertex for entries in below.values() for vertex in entries), *above], edges, by_entry=True)


def vertices_of(
    name: str, role: str, value: Array, cotangent: Array, texts: Sequence[str | None] | None = None
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
    ones, arriving = lift(np.ones(top.shape)[()]), write(f"{run.names[top.index]}.grad", run.kept[top.index])
    texts: dict[int, str | None] = {}
    for seed, choice in product((ones, arriving), range(CHOICES)):
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
    result = {}
    for name, leaf in run.leaves.items():
        if leaf.index in names and 0 < count_paths(edges, output.index, leaf.index) <= MOST_PATHS:
            paths = [
                Path(tuple(names[index] for index in way), tuple(edges[above][below] for below, above in pairwise(way)))
                for way in ways(edges, output.index, leaf.index)
            ]
            paths = sorted(paths, key=lambda path: -len(path.factors))
            if len(paths[0].factors) > 1 and all(np.isfinite(path.product) for path in paths):
                result[name] = paths
    return result


def links_below(top: Operation, nodes: Sequence[Node], names: Mapping[int, str]) -> dict[int, float]:
    """Return the derivatives of one named number by the named numbers next below it."""
    result: dict[int, float] = {}

    def along(node: Operation, k: int, total: Any) -> Any:
        if node is not top and node.index in names:
            result[node.index] = float(total)
            return None
        values = [getattr(x, "value", x) for x in node.arguments]
        part = node.op.vjp_along(k)(total, node.value, *values, **node.static)
        return None if part is None else unbroadcast(np.asarray(part)[()], np.shape(values[k]))

    below = [node for node in reversed(nodes) if node.index <= top.index]
    with np.errstate(all="ignore"):
        reached = accumulate({top.index: np.float64(1.0)}, below, along, lambda total, part, _own: total + part)
    return result | {index: float(total) for index, total in reached.items() if index in names}


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
