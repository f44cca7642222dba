"""When an answer is confirmed, and where its numbers have lost their digits or are not finite any more."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.engine.graph import Graph, Node, Operation
from gradcli.engine.naming import called_by, numbered, place_text
from gradcli.errors import GradcliError
from gradcli.exact.run import operations
from gradcli.exact.work import CALL, EPS, VISIBLE
from gradcli.explanation.jacobians import Jacobian
from gradcli.explanation.results import Note
from gradcli.formulas.texts import Texts, TooLarge
from gradcli.jacobian.composition import Composition
from gradcli.jacobian.local import Part, PartNumbers, side_by_side
from gradcli.jacobian.sparse import FEW
from gradcli.ops.declare import Array, Indices, value_of

if TYPE_CHECKING:
    from gradcli.explanation.evaluation import Run

CHEAP = 115
"""Which part of the budget's work an answer spends on confirming itself unasked: 13,000 units, about 20 ms."""
RUNS = 6
"""Runs that one direction takes where two settings of digits agree: y at x, x + h and x - h in each."""
MORE_RUNS = 4
"""Runs that one more direction takes."""
DEAR = 10
"""How many times as much it spends on every entry where digits may be lost, before it asks along one direction."""


def largest(value: Any) -> float:
    """Return the size of the largest entry."""
    return float(np.max(np.abs(value), initial=0.0))


def count_work(graph: Graph, entry: int = 1) -> int:
    """Return what one run in many digits costs: operations on single numbers, and calls that cost as much as some.

    ``entry`` are the units of a number that an op goes through entry by entry; an exponential takes several.
    """
    total = 0
    for node in graph.nodes:
        if node.op is None:
            continue
        if node.op.formula is not None and node.op.exact.work is None:  # entry by entry: most nodes of a loop
            total += CALL + entry * getattr(node.value, "size", 1)
            continue
        values = [value_of(a) for a in node.arguments]
        total += CALL + operations(node.op, values, node.static, node.value)
    return total


ELEMENTARY = 8
"""Units of an exponential or a sine in 100 digits."""


def enough_work(graph: Graph, formulas: int) -> int:
    """Return work that is enough for one direction, and to evaluate so many formulas of derivatives, rounded up."""
    needed = count_work(graph, ELEMENTARY) * (RUNS + MORE_RUNS) * (1 + formulas)
    unit = int("1".ljust(len(str(needed)) - 1, "0"))
    return -(-needed // unit) * unit


def affordable(graph: Graph, jacobians: Mapping[str, Jacobian], dear: bool) -> str:
    """Return how much can be asked: ``entries``, ``direction``, or nothing; ``dear`` where it may take seconds."""
    cheap = graph.budget.work // CHEAP
    most, furthest = (DEAR * cheap, graph.budget.work) if dear else (cheap, cheap)
    if RUNS * CALL * len(graph.nodes) > furthest:
        return ""
    work, links = count_work(graph), sum(len(jacobian.rows) for jacobian in jacobians.values())
    if links <= most and all(jacobian.held for jacobian in jacobians.values()):
        # every column is asked for by as many directions at least as the fullest row has entries
        directions = sum(int(jacobian.pattern.by_row.max(initial=1)) for jacobian in jacobians.values())
        if (RUNS + 4 * directions) * work + links <= most:
            return "entries"
    return "direction" if RUNS * work + links <= furthest else ""


def fits_a_check(graph: Graph, variables: int) -> bool:
    """Return whether ``check``, which takes a direction for each variable, can evaluate the program so often."""
    often = RUNS * variables
    most = graph.budget.work
    return often * CALL * len(graph.nodes) <= most and often * count_work(graph) <= most


def list_operations(nodes: Sequence[Node]) -> list[Operation]:
    """Return the nodes that are operations."""
    return [node for node in nodes if isinstance(node, Operation)]


def is_beyond_doubles(done: Sequence[Operation]) -> bool:
    """Return whether numbers beyond doubles were met, or digits may be lost in a value.

    What is looked for: values that are not finite, or so large or small that a product of two leaves double precision;
    zeros that are left of numbers that are not 0.
    """
    with np.errstate(all="ignore"):
        return any(map(leaves_doubles, find_far_away(done)))


def find_far_away(nodes: Sequence[Operation]) -> list[Operation]:
    """Return the nodes with an entry that is not finite, or so large or small that its square leaves doubles."""
    single = [node for node in nodes if type(node.value) is np.float64]
    several = [node for node in nodes if type(node.value) is np.ndarray and node.value.dtype == np.float64]
    odd = np.flatnonzero(outside(np.array([node.value for node in single])))
    return [*(single[k] for k in odd.tolist()), *(node for node in several if outside(node.value).any())]


def outside(values: Array) -> Any:
    """Return where a number is not finite, or its square no normal double."""
    size = np.abs(values)
    return ~((size > 1e-150) & (size < 1e150))


def leaves_doubles(node: Operation) -> bool:
    """Return whether a value is beyond doubles and no plain 0.

    A smooth op that makes 0 of numbers that are not 0 has a product beyond doubles, a sum that cancels, or is at a root
    (sinc at 1), where its argument's rounding is all that there is.
    """
    op = node.op
    zero = node.value == 0
    if np.any(outside(node.value) & ~zero):
        return True
    if op.exact.pieces is not None:
        return False
    sizes = [np.abs(value) if np.asarray(value).dtype.kind == "f" else value for value in map(value_of, node.arguments)]
    if op.formula is None:
        try:
            return bool(np.any(zero & (op.forward(*sizes, **node.static) != 0)))
        except GradcliError:  # a matrix is taken apart, and that of the sizes is singular
            return bool(np.any(zero))
    return bool(np.any(zero & reduce(np.logical_and, [np.asarray(size) != 0 for size in sizes])))


def note_digits(run: Run, composition: Composition, jacobians: Mapping[str, Jacobian]) -> list[Note]:
    """Say which derivative of an operation, else which entry of J, and which value is left of numbers that cancel."""
    if not isinstance(run.output, Node):
        return []
    derivatives = note_saturation(composition) or note_cancelled_paths(run.name, jacobians)
    return [*derivatives, *note_cancelled_values(composition.nodes)]


def at_entry(entry: int, shape: tuple[int, ...]) -> str:
    """Return `` in entry [0]``; nothing for a single number."""
    place = place_text(entry, shape)
    return f" in entry {place}" if place else ""


def note_saturation(composition: Composition) -> list[Note]:
    """Name the first operation whose derivative is a difference of nearly equal numbers."""
    lost = [*saturated_nodes(composition)]
    for batch in composition.batches:
        if can_cancel(batch.nodes[0], batch.local.part):
            entries = lost_entries(batch.local.values, batch.local.sizes)
            if len(entries):
                row = int(entries[-1]) // batch.width  # the last row is the first node
                entry = int(entries[entries >= row * batch.width][0]) % batch.width
                lost.append((batch.nodes[row], batch.argument, entry))
    if not lost:
        return []
    node, _, entry = min(lost, key=lambda item: (item[0].index, item[1]))
    text = f"{node.op.name} is saturated{at_entry(entry, node.shape)}: its derivative there is a difference of nearly"
    return [Note("digits-lost", f"{text} equal numbers, and rounding has cost its digits.")]


Lost = tuple[Operation, int, int]
"""A node, the number of the argument by which its derivative has lost its digits, and the entry of the node."""


def saturated_nodes(composition: Composition) -> Iterator[Lost]:
    """Yield the first of all others whose derivative has lost its digits."""
    nodes = {node.index: node for node in composition.nodes if isinstance(node, Operation)}
    links = [(nodes[index], k, parts) for (index, k), parts in composition.links.items()]
    links = [(node, k, parts) for node, k, parts in links if any(can_cancel(node, part) for part in parts)]
    for node, k, _ in sorted(links, key=lambda link: (link[0].index, link[1])):
        for link in composition.read(node, k):
            lost = lost_entries(link.values, link.sizes) if can_cancel(node, link.part) else link.part.rows[:0]
            if len(lost):
                yield node, k, int(link.part.rows[lost[0]])
                return


def can_cancel(node: Operation, part: Part | PartNumbers) -> bool:
    """Return whether a derivative is a difference at all."""
    return node.op.digits is not None or (part.part if isinstance(part, PartNumbers) else part).template.adds


def lost_entries(values: Array, sizes: Array) -> Indices:
    """Return the entries of which rounding alone makes up more than a billionth part."""
    with np.errstate(all="ignore"):
        return np.flatnonzero(np.isfinite(sizes) & (EPS * sizes > VISIBLE * np.abs(values)) & (sizes > 0))


def note_cancelled_paths(called: str, jacobians: Mapping[str, Jacobian]) -> list[Note]:
    """Name the first entry of J, for the output that is ``called`` so, that is what rounding left of a sum."""
    for name, jacobian in jacobians.items():
        lost = lost_entries(jacobian.values, jacobian.sizes)
        lost = lost[jacobian.values[lost] != 0]
        if len(lost):
            row = place_text(int(jacobian.rows[lost[0]]), jacobian.output_shape)
            column = place_text(int(jacobian.columns[lost[0]]), jacobian.input_shape)
            entry = f"d{called}{row}/d{name}{column}"
            return [Note("digits-lost", f"{entry} is a sum of terms that cancel: rounding has cost its digits.")]
    return []


def note_cancelled_values(nodes: list[Node]) -> list[Note]:
    """Name the first difference of computed numbers that are nearly equal."""
    cancelled = [lost for group in by_shape(nodes).values() if (lost := first_cancelled(group)) is not None]
    if not cancelled:
        return []
    node, entry = min(cancelled, key=lambda item: item[0].index)
    sides = f"The two sides of a {node.op.text.cancels} cancel{at_entry(entry, node.shape)}"
    return [Note("digits-lost", f"{sides}: the result is mostly rounding, and so is what depends on it.")]


def by_shape(nodes: list[Node]) -> dict[Hashable, list[Operation]]:
    """Return the sums and differences of computed numbers: those of a few entries by shape, others one by one."""
    groups: dict[Hashable, list[Operation]] = {}
    for node in nodes:
        if isinstance(node, Operation) and node.op.text.cancels and any(map(computed, node.arguments)):
            shapes = tuple([np.shape(value_of(a)) for a in node.arguments])
            groups.setdefault(shapes if node.value.size <= FEW else node.index, []).append(node)
    return groups


def first_cancelled(nodes: list[Operation]) -> tuple[Operation, int] | None:
    """Return the first of these nodes, all of the same shapes, whose two sides cancel, and in which entry."""
    columns = zip(*[(node.value, *map(value_of, node.arguments)) for node in nodes], strict=True)
    out, a, b = (np.abs(side_by_side(list(column), nodes[0].ndim)) for column in columns)
    with np.errstate(all="ignore"):
        lost = np.flatnonzero((out > 0) & (VISIBLE * out < EPS * np.maximum(a, b)) & np.isfinite(out))
    if not len(lost):
        return None
    row, entry = divmod(int(lost[0]), nodes[0].value.size)
    return nodes[row], entry


def computed(argument: Any) -> bool:
    """Return whether a value was rounded: whether it is more than an input, moved at most."""
    return isinstance(argument, Operation) and not argument.op.entries.moves


MOST_STEPS = 2_000
"""Operations up to which a step is shown as it is written."""
LONGEST = 60
"""Characters of a step that are shown."""


def note_nonfinite(run: Run, nodes: list[Node], finite: bool) -> list[Note]:
    """Say which value, and going back which derivative, is the first that is not finite.

    ``nodes`` are those that the output depends on. Where the answer is ``finite``, a value can be otherwise only behind
    a choice.
    """
    if not isinstance(run.output, Node):
        return []
    if finite and not any(isinstance(node, Operation) and node.op.chooses for node in nodes):
        return []
    return [*note_values(run.graph, nodes), *note_cotangents(run, nodes)]


def note_values(graph: Graph, nodes: list[Node]) -> list[Note]:
    """Say which operation first gives inf or nan out of finite numbers."""
    node = next((node for node in nodes if not np.all(np.isfinite(node.value))), None)
    if node is None:
        return []
    unused = "" if not np.all(np.isfinite(nodes[-1].value)) else ", though y is finite"
    first = first_of(node.value, ~np.isfinite(node.value))
    return [
        Note("not-finite", f"{step_text(graph, nodes, node)} is the first value that is not finite: {first}{unused}.")
    ]


def note_cotangents(run: Run, nodes: list[Node]) -> list[Note]:
    """Say in which operation a finite cotangent first becomes inf or nan on the way back, and whether by 0·inf."""
    kept = run.cotangents(run.seeds[0].seed)
    for node in reversed(nodes):
        if not isinstance(node, Operation) or node.index not in kept or not np.all(np.isfinite(kept[node.index])):
            continue
        g, values = kept[node.index], [value_of(a) for a in node.arguments]
        for vjp in filter(None, map(node.op.vjp, node.links)):
            with np.errstate(all="ignore"):
                part = np.asarray(vjp(g, node.value, *values, **node.static))
            if np.all(np.isfinite(part)):
                continue
            step = step_text(run.graph, nodes, node)
            if np.any(np.isnan(part)) and np.any(np.asarray(g) == 0):
                nan = f"Going back, {step} is the first to give {first_of(part, np.isnan(part))}: 0 times its infinite "
                way = "Keep the argument away from that point, by a where inside of the call, and not around it."
                return [Note("zero-times-infinity", f"{nan}derivative, as PyTorch has it. {way}")]
            first = first_of(part, ~np.isfinite(part))
            return [Note("not-finite", f"Going back, {step} is the first whose derivative is not finite: {first}.")]
    return []


def first_of(value: Any, chosen: Array) -> str:
    """Return the first of the chosen entries, and in which entry it stands."""
    position = int(np.flatnonzero(chosen)[0])
    return f"{float(np.ravel(value)[position])}{at_entry(position, np.shape(chosen))}"


def step_text(graph: Graph, nodes: list[Node], wanted: Node) -> str:
    """Return a step of the program as the reader knows it: ``z = log(y)``, or one of the two where that is all."""
    if not isinstance(wanted, Operation):
        return str(wanted.name)
    name = next((name for name, node in numbered(graph) if node is wanted), "")
    text = step_formula(graph, nodes, wanted)
    return f"{name} = {text}" if name and text else name or text or called_by(graph, wanted)


def step_formula(graph: Graph, nodes: list[Node], wanted: Node) -> str | None:
    """Return the operation as the language writes it, None where it is long."""
    if len(nodes) > MOST_STEPS:
        return None
    texts = Texts(graph, nodes)
    try:
        for node in nodes:
            texts.describe(node)
            if node is wanted:
                break
    except (TooLarge, RecursionError):
        return None
    text = texts.definitions.get(texts.of(wanted), texts.of(wanted))
    return text if len(text) <= LONGEST else None
