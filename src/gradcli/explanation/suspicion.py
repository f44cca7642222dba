"""When an answer is confirmed: wherever that is cheap, and beyond where its numbers look as if digits were lost.

Where an answer has lost its digits: saturated derivatives, and sums whose terms cancel.
Where numbers stop to be finite: forward, and on the way back.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from gradcli.engine.graph import Graph, Node, Operation
from gradcli.engine.naming import called_by, numbered, place_text
from gradcli.engine.reverse import cotangents
from gradcli.errors import GradcliError
from gradcli.exact.run import operations, same
from gradcli.exact.thresholds import EPS, VISIBLE
from gradcli.exact.work import CALL
from gradcli.explanation.explained import Note
from gradcli.explanation.jacobians import Jacobian
from gradcli.formulas.texts import Texts, TooLarge
from gradcli.jacobian.composition import Composition
from gradcli.jacobian.local import Part, PartNumbers, side_by_side
from gradcli.jacobian.sparse import FEW
from gradcli.ops.declare import Array, Indices, Piecewise, holds_somewhere, value_of

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
        directions = sum(count_directions(jacobian) for jacobian in jacobians.values())
        if (RUNS + 4 * directions) * work + links <= most:
            return "entries"
    return "direction" if RUNS * work + links <= furthest else ""


def fits_a_check(graph: Graph, variables: int) -> bool:
    """Return whether ``check``, which takes a direction for each variable, can evaluate the program so often."""
    often = RUNS * variables
    most = graph.budget.work
    return often * CALL * len(graph.nodes) <= most and often * count_work(graph) <= most


def count_directions(jacobian: Jacobian) -> int:
    """Return how many directions ask for every column at least: as many as the fullest row has entries."""
    return int(jacobian.pattern.by_row.max(initial=1))


def list_operations(nodes: Sequence[Node]) -> list[Operation]:
    """Return the nodes that are operations."""
    return [node for node in nodes if isinstance(node, Operation)]


def is_edgy(done: Sequence[Operation]) -> bool:
    """Return whether pieces of the program may meet here: kinks and ties, and sides of comparisons that are equal."""
    with np.errstate(all="ignore"):
        return any(map(stands_on_an_edge, done))


def is_beyond_doubles(done: Sequence[Operation]) -> bool:
    """Return whether numbers beyond doubles were met, or digits may be lost in a value.

    What is looked for: values that are not finite, or so large or small that a product of two leaves double precision;
    zeros that are left of numbers that are not 0.
    """
    with np.errstate(all="ignore"):
        return any(map(leaves_doubles, find_far_away(done)))


def stands_on_an_edge(node: Operation) -> bool:
    """Return whether an operation stands at a kink, a step, a tie or a power of 0, or takes a wave of a large x."""
    op = node.op
    at, pieces = op.edge if op.kink is None else op.kink.at, op.exact.pieces
    if at is not None:
        return holds_somewhere(at(*map(value_of, node.arguments), **node.static))
    if pieces is None or pieces.held or pieces.open or op.chooses:
        return False
    return differs_nearby(pieces, [value_of(argument) for argument in node.arguments], node.static)


def differs_nearby(parts: Piecewise, values: Sequence[Any], static: Mapping[str, Any]) -> bool:
    """Return whether a piecewise op is on another piece a little above or below; ties break."""
    with np.errstate(all="ignore"):
        here = parts.piece(*map(np.asarray, values), **static)
        for sign in (1.0, -1.0):
            moved = [nudge(value, sign * (0.5 + 0.3 * k)) for k, value in enumerate(values)]
            if not same(here, parts.piece(*moved, **static)):
                return True
    return False


def nudge(value: Any, share: float) -> Any:
    """Return numbers moved by about a billionth of themselves, each by its own share of that."""
    x = np.asarray(value, dtype=np.float64)
    shares = share * np.cos(np.arange(x.size)).reshape(x.shape)
    return x + shares * (1e-9 * np.abs(x) + 1e-100)


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


# ---- Where an answer has lost its digits: saturated derivatives, and sums whose terms cancel


def note_digits(output: Any, called: str, composition: Composition, jacobians: Mapping[str, Jacobian]) -> list[Note]:
    """Say which derivative of an operation, else which entry of J, and which value is left of numbers that cancel."""
    if not isinstance(output, Node):
        return []
    return [
        *(note_saturation(composition) or note_cancelled_paths(called, jacobians)),
        *note_cancelled_values(composition.nodes),
    ]


def note_saturation(composition: Composition) -> list[Note]:
    """Name the first operation whose derivative is a difference of nearly equal numbers."""
    lost = [*saturated_batches(composition), *saturated_nodes(composition)]
    if not lost:
        return []
    node, _, entry = min(lost, key=lambda item: (item[0].index, item[1]))
    place = place_text(entry, node.shape)
    at = f" in entry {place}" if place else ""
    message = (
        f"{node.op.name} is saturated{at}: its derivative there is a difference of nearly equal numbers, and "
        "rounding has cost its digits."
    )
    return [Note("digits-lost", message)]


Lost = tuple[Operation, int, int]
"""A node, the number of the argument by which its derivative has lost its digits, and the entry of the node."""


def saturated_batches(composition: Composition) -> Iterator[Lost]:
    """Yield the first node of each batch whose derivative has lost its digits."""
    for batch in composition.batches:
        if can_cancel(batch.nodes[0], batch.local.part):
            lost = lost_entries(batch.local.values, batch.local.sizes)
            if len(lost):
                row = int(lost[-1]) // batch.width  # the last row is the first node
                yield batch.nodes[row], batch.argument, int(lost[lost >= row * batch.width][0]) % batch.width


def saturated_nodes(composition: Composition) -> Iterator[Lost]:
    """Yield the first of all others whose derivative has lost its digits."""
    nodes = {node.index: node for node in composition.nodes if isinstance(node, Operation)}
    links = [(nodes[index], k, parts) for (index, k), parts in composition.links.items()]
    links = [(node, k, parts) for node, k, parts in links if any(can_cancel(node, part) for part in parts)]
    for node, k, _ in sorted(links, key=lambda link: (link[0].index, link[1])):
        for found in composition.read(node, k):
            lost = lost_entries(found.values, found.sizes) if can_cancel(node, found.part) else found.part.rows[:0]
            if len(lost):
                yield node, k, int(found.part.rows[lost[0]])
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
            return [
                Note(
                    "digits-lost",
                    f"d{called}{row}/d{name}{column} is a sum of terms that cancel: rounding has cost its digits.",
                )
            ]
    return []


def note_cancelled_values(nodes: list[Node]) -> list[Note]:
    """Name the first difference of computed numbers that are nearly equal."""
    found = [lost for group in by_shape(nodes).values() if (lost := first_cancelled(group)) is not None]
    if not found:
        return []
    node, entry = min(found, key=lambda item: item[0].index)
    place = place_text(entry, node.shape)
    at = f" in entry {place}" if place else ""
    return [
        Note(
            "digits-lost",
            f"The two sides of a {node.op.text.cancels} cancel{at}: the result is mostly rounding, and so is what "
            "depends on it.",
        )
    ]


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


# ---- Where numbers stop to be finite: forward, and on the way back

MOST_STEPS = 2_000
"""Operations up to which a step is shown as it is written."""
LONGEST = 60
"""Characters of a step that are shown."""


def note_nonfinite(graph: Graph, output: Any, nodes: list[Node], seed: Array, finite: bool) -> list[Note]:
    """Say which value, and going back which derivative, is the first that is not finite.

    ``nodes`` are those that the output depends on. Where the answer is ``finite``, a value can be otherwise only behind
    a choice.
    """
    if not isinstance(output, Node):
        return []
    if finite and not any(isinstance(node, Operation) and node.op.chooses for node in nodes):
        return []
    return [*note_values(graph, nodes), *note_cotangents(graph, output, nodes, seed)]


def note_values(graph: Graph, nodes: list[Node]) -> list[Note]:
    """Say which operation first gives inf or nan out of finite numbers."""
    node = next((node for node in nodes if not np.all(np.isfinite(node.value))), None)
    if node is None:
        return []
    value, place = first_of(node.value, ~np.isfinite(node.value))
    step = step_text(graph, nodes, node)
    unused = "" if not np.all(np.isfinite(nodes[-1].value)) else ", though y is finite"
    return [Note("not-finite", f"{step} is the first value that is not finite: {value}{place}{unused}.")]


def note_cotangents(graph: Graph, output: Node, nodes: list[Node], seed: Array) -> list[Note]:
    """Say in which operation a finite cotangent first becomes inf or nan on the way back, and whether by 0·inf."""
    if not output.active:
        return []
    found: dict[int, Any] = {}
    cotangents(graph, output, seed, found)
    for node in reversed(nodes):
        if not isinstance(node, Operation) or node.index not in found or not np.all(np.isfinite(found[node.index])):
            continue
        g, values = found[node.index], [value_of(a) for a in node.arguments]
        for vjp in filter(None, map(node.op.vjp, node.links)):
            with np.errstate(all="ignore"):
                part = np.asarray(vjp(g, node.value, *values, **node.static))
            if not np.all(np.isfinite(part)):
                return [spoiled(step_text(graph, nodes, node), np.asarray(g), part)]
    return []


def spoiled(step: str, g: Array, part: Array) -> Note:
    """Return the note for an operation whose cotangents are finite above and not below."""
    value, place = first_of(part, ~np.isfinite(part))
    if np.any(np.isnan(part)) and np.any(g == 0):
        value, place = first_of(part, np.isnan(part))
        return Note(
            "zero-times-infinity",
            f"Going back, {step} is the first to give nan{place}: 0 times its infinite derivative, as PyTorch has it. "
            "Keep the argument away from that point, by a where inside of the call, and not around it.",
        )
    return Note("not-finite", f"Going back, {step} is the first whose derivative is not finite: {value}{place}.")


def first_of(value: Any, chosen: Array) -> tuple[str, str]:
    """Return the first of the chosen entries as text, and in which entry it stands."""
    position = int(np.flatnonzero(chosen)[0])
    place = place_text(position, np.shape(chosen))
    return f"{float(np.ravel(value)[position])}", f" in entry {place}" if place else ""


def step_text(graph: Graph, nodes: list[Node], wanted: Node) -> str:
    """Return a step of the program as the reader knows it: ``z = log(y)``, or one of the two where that is all."""
    if not isinstance(wanted, Operation):
        return str(wanted.name)
    name = next((name for name, node in numbered(graph) if node is wanted), "")
    text = written(graph, nodes, wanted)
    return f"{name} = {text}" if name and text else name or text or called_by(graph, wanted)


def written(graph: Graph, nodes: list[Node], wanted: Node) -> str | None:
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
