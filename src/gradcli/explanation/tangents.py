"""Rows and columns of J that are asked for by their place, such as ``3`` or ``W1[0,5]``.

J from its two sides: rows by calls of backward with one-hot v, and J·u by a forward pass.
Gradient descent from the point of an answer: what each step was to change, and what it changed.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.engine.graph import Node, Operation, reaches
from gradcli.engine.naming import label_entries
from gradcli.engine.reverse import cotangents
from gradcli.errors import GivenUp, GradcliError, over_budget
from gradcli.errors.hints import counted, index_of
from gradcli.exact.real import digits
from gradcli.exact.slopes import Exact, finite
from gradcli.exact.thresholds import FEWEST
from gradcli.exact.work import Spent
from gradcli.explanation.agreement import tolerance
from gradcli.explanation.confirmation import Confirmation, tell_bend, too_large_text, undecided_text
from gradcli.explanation.evaluation import gradients
from gradcli.explanation.explained import Explained, Note, Proof
from gradcli.explanation.jacobians import Jacobian, one_hot, weighted_sums
from gradcli.explanation.suspicion import RUNS, count_work
from gradcli.explanation.views import Descent, DescentStep, Moved, OneHot, Rows, Slice, Tangent
from gradcli.language.values import as_input
from gradcli.ops.links import Array

if TYPE_CHECKING:
    from gradcli.explanation.evaluation import Point


COLUMN = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:\[([^\]]*)\])?\s*\Z")
MOST = 1_000
"""Rows and columns that one answer gives."""


def slices_at(found: Explained, rows: Sequence[str], columns: Sequence[str]) -> list[Slice]:
    """Return these rows and columns of J; raises ``option`` for a place that is none."""
    if len(rows) + len(columns) > MOST:
        raise GradcliError("option", f"{len(rows) + len(columns):,} rows and columns are more than {MOST:,}")
    return [*(row_at(found, text) for text in rows), *(column_at(found, text) for text in columns)]


def row_at(found: Explained, text: str) -> Slice:
    """Return the row of an entry of y, by each variable."""
    index = read_index(text, found.output.shape, f"--row '{text[:40]}'", found.name)
    values = {name: jacobian.row(index) for name, jacobian in found.jacobian.items()}
    return Slice("row", found.name + shown(index), index, values)


def column_at(found: Explained, text: str) -> Slice:
    """Return the column of an entry of one variable."""
    option = f"--column '{text[:40]}'"
    match = COLUMN.match(text)
    if match is None:
        raise GradcliError("option", f"{option} is not NAME[INDEX]", hint="for example --column 'W[0,5]'")
    name, inside = match.groups()
    if name not in found.jacobian:
        raise GradcliError(
            "option", f"{option}: {name} is not differentiated", hint=f"one of {', '.join(found.jacobian)}"
        )
    jacobian = found.jacobian[name]
    index = read_index(inside or "", jacobian.input_shape, option, name)
    return Slice("column", name + shown(index), index, {name: jacobian.column(index)})


def read_index(text: str, shape: tuple[int, ...], option: str, name: str) -> tuple[int, ...]:
    """Return an index with one number for each axis, counted from the end where it is negative; raises ``option``."""
    words = [word.strip() for word in text.split(",")] if text.strip() else []
    numbers = [int(word) for word in words if re.fullmatch(r"[+-]?[0-9]{1,9}", word)]
    if len(numbers) != len(words) or len(numbers) != len(shape):
        example = ",".join("0" * len(shape))
        given = f"'{name}[{example}]'" if option.startswith("--column") else example
        hint = f"for example {option.split(maxsplit=1)[0]} {given}" if shape else "it needs no index"
        message = f"{option}: {name} has shape {shape}, and its index is a number for each axis"
        raise GradcliError("option", message, hint=hint)
    if not all(-n <= number < n for number, n in zip(numbers, shape, strict=True)):
        last = ",".join(str(n - 1) for n in shape)
        ends = f"the last entry is {last}" if all(shape) else None
        raise GradcliError("option", f"{option}: {name} has shape {shape}, and no entry there", hint=ends)
    return tuple(number % n for number, n in zip(numbers, shape, strict=True))


def shown(index: tuple[int, ...]) -> str:
    """Return an index in brackets, nothing for that of a number."""
    return f"[{','.join(map(str, index))}]" if index else ""


# ---- J from its two sides: rows by calls of backward with one-hot v, and J·u by a forward pass

MOST_CALLS = 10_000
"""Calls of backward that one answer makes."""
MOST_NUMBERS = 1_000_000
"""Entries of J that they may leave."""


def call_rows(point: Point, jacobians: Mapping[str, Jacobian]) -> Rows:
    """Return what a call of backward leaves for each entry of y; raises ``option`` where these are too many."""
    shape, count = point.value.shape, point.value.size
    numbers = count * sum(leaf.value.size for leaf in point.leaves.values())
    if count > MOST_CALLS or numbers > MOST_NUMBERS:
        raise GradcliError(
            "option",
            f"--rows: {point.name} has {count:,} entries, and J {numbers:,}; it makes at most {MOST_CALLS:,} calls "
            f"for {MOST_NUMBERS:,} entries",
            hint="--row INDEX shows one row",
        )
    calls, within, all_finite = [], True, True
    for place in range(count):
        point.run.graph.meter.watch()
        v = one_hot(shape, place)
        grad = gradients(point.run, v, jacobians)
        calls.append(OneHot(index_of(place, shape), grad))
        for name, jacobian in jacobians.items():
            within = within and agrees(grad[name], jacobian.vjp(v), jacobian.scale(v))
            all_finite = all_finite and bool(np.isfinite(grad[name]).all())
    notes = [] if within else [Note("rows-differ", "A row by reverse mode is not the row of the symbolic J.")]
    return Rows(calls, colours(jacobians), Proof("agree" if within else "differ", all_finite, None, notes))


def agrees(left: Array, right: Array, sizes: Array) -> bool:
    """Return whether rounding explains how far numbers of two routes are apart; both or neither are finite."""
    both = np.isfinite(left) & np.isfinite(right)
    with np.errstate(all="ignore"):
        near = np.abs(left - right) <= tolerance(sizes)
    return bool(np.all(np.where(both, near, ~(np.isfinite(left) | np.isfinite(right)))))


def colours(jacobians: Mapping[str, Jacobian]) -> int | None:
    """Return how many calls give all of J by all variables; None where that is not known."""
    if not all(jacobian.held for jacobian in jacobians.values()):
        return None
    from gradcli.jacobian.sparse import count_passes

    start, rows, columns = 0, [], []
    for jacobian in jacobians.values():
        rows.append(jacobian.rows)
        columns.append(jacobian.columns + start)
        start += jacobian.matrix_shape[1]
    if not rows:
        return 0
    order = np.argsort(np.concatenate(rows), kind="stable")
    return count_passes(np.concatenate(rows)[order], np.concatenate(columns)[order])


def move(
    point: Point, jacobians: Mapping[str, Jacobian], u: Mapping[str, Array], grad: Mapping[str, Array],
    names: Mapping[int, str],
) -> Tangent:  # fmt: skip
    """Return J·u, and what the passes carry in both directions; ``names`` are those of nodes, by their index.

    ``grad`` is what v leaves in ``.grad``.
    """
    output = point.run.output
    tangents, sizes = carry(point, u)
    index = output.index if isinstance(output, Node) else -1
    jvp = tangents.get(index, np.zeros(point.value.shape))
    kept: dict[int, Any] = {}
    if isinstance(output, Node) and output.active:
        kept |= cotangents(point.run.graph, output, point.seed, kept)
    moved = [
        Moved(names[node.index], tangents.get(node.index, np.zeros(np.shape(node.value))), kept.get(node.index))
        for node in (reaches(output) if isinstance(output, Node) else point.leaves.values())
        if node.index in names and (node.active or node.index == index)
    ]
    with np.errstate(all="ignore"):
        number = float(np.sum(point.seed * jvp))
        back = sum(float(np.sum(grad[name] * u[name])) for name in u)
        bound = float(tolerance(np.asarray(np.sum(np.abs(point.seed) * sizes))))
    entries = sum(step.size for step in u.values())
    proof = confirm_along(point, u, jvp, sizes)
    by_rows = [jacobian for jacobian in jacobians.values() if jacobian.held]
    same = not (math.isfinite(number) and math.isfinite(back)) or abs(number - back) <= bound
    if not same or (len(by_rows) == len(jacobians) and not agrees(jvp, by_entries(jacobians, u), sizes)):
        note = Note("jvp-differs", "J·u by the forward pass is not what J, or reverse mode, makes of u.")
        proof = Proof("differ", proof.finite, proof.digits, [*proof.remarks, note])
    return Tangent(dict(u), jvp, moved, number, entries, point.value.size, proof)


def carry(point: Point, u: Mapping[str, Array]) -> tuple[dict[int, Array], Array]:
    """Return how fast each value moves with u, by node index, and the sizes of the terms that J·u adds up."""
    output = point.run.output
    if not isinstance(output, Operation) or not output.active:
        found = {leaf.index: u[name] for name, leaf in point.leaves.items()}
        return found, np.abs(found.get(getattr(output, "index", -1), np.zeros(point.value.shape)))
    from gradcli.jacobian.passes import Passes

    passes = Passes(output, list(point.leaves.values()), point.run.graph)
    moved = passes.tangents({leaf.index: np.reshape(u[name], (1, -1)) for name, leaf in point.leaves.items()})
    nodes = point.run.graph.nodes
    tangents = {index: found.values.reshape(np.shape(nodes[index].value)) for index, found in moved.items()}
    if output.index not in moved:
        return tangents, np.zeros(point.value.shape)
    return tangents, moved[output.index].sizes.reshape(point.value.shape)


def by_entries(jacobians: Mapping[str, Jacobian], u: Mapping[str, Array]) -> Array:
    """Return J·u from the entries of J."""
    parts = [
        weighted_sums(np.ravel(u[name]), j.columns, j.rows, j.values, j.matrix_shape[0]).reshape(j.output_shape)
        for name, j in jacobians.items()
    ]
    with np.errstate(all="ignore"):
        return np.asarray(sum(parts[1:], parts[0]))


def confirm_along(point: Point, u: Mapping[str, Array], jvp: Array, sizes: Array) -> Proof:
    """Hold J·u against the derivative along u in many digits."""
    found = Confirmation(asked="direction")
    all_finite = bool(np.all(np.isfinite(jvp)))
    if not jvp.size or not any(np.any(step) for step in u.values()):
        return Proof("agree", all_finite)
    most = point.run.graph.budget.work
    if RUNS * count_work(point.run.graph) > most:
        return unasked(all_finite, most)
    label, flat = label_entries(point.name, jvp.shape), np.ravel(jvp)
    try:
        exact = Exact(point.function.program, point.inputs, point.names)
        with digits(60):
            terms = [finite(size) for size in np.ravel(sizes).tolist()]
            slope = exact.along(u, terms, [list(map(finite, flat.tolist()))])
    except Spent:
        return unasked(all_finite, most)
    except GivenUp:
        raise
    except GradcliError as error:
        found.unknown = error.message
        return proof_of(found, all_finite, "J·u")
    for i, (true, side) in enumerate(zip(slope.values, slope.sides, strict=True)):
        tell_bend(found.bends, side, label(i), "u", f" J·u takes {flat[i]:.6g}.")
        if not np.isfinite(flat[i]):
            continue
        if true.is_nan():
            found.unknown = found.unknown or (
                "" if side.kind else f"J·u for {label(i)} changes with every digit that is added"
            )
        else:
            found.judge("jvp", float(flat[i]), true, float(np.ravel(sizes)[i]), f"J·u for {label(i)}")
    return proof_of(found, all_finite, "J·u")


def unasked(all_finite: bool, work: int) -> Proof:
    """Return the proof of numbers that were held against nothing: many digits take more than the ``work``."""
    message = f"These numbers are not compared with a computation in higher precision: {too_large_text(work)}."
    return Proof("agree", all_finite, None, [Note("not-confirmed", message)])


def proof_of(found: Confirmation, all_finite: bool, what: str) -> Proof:
    """Return what the computation in higher precision says, as a proof."""
    notes = [Note(kind, message) for kind, message in found.bends.items()]
    fewest = min(found.digits.values(), default=None)
    if fewest is not None and fewest < FEWEST:
        told = "".join(f" {sentence}." for sentence in found.wrong)
        notes.append(Note("digits-lost", f"Rounding has cost digits: of {what} {int(fewest)} are right.{told}"))
    if found.unknown and found.verdict == "unclear":
        notes.append(Note("unclear", undecided_text(found.unknown)))
    return Proof(found.verdict, all_finite, fewest, notes)


def read_u(given: Mapping[str, object], shapes: Mapping[str, tuple[int, ...]]) -> tuple[dict[str, Array], list[Note]]:
    """Return u by variable, in its shape, and notes on what was reshaped; variables that are not given do not move.

    ``given`` has values by name; the name ``""`` stands for the only variable. Raises ``option``, ``shape``, ``value``.
    """
    ways = " ".join(f"--jvp {name}=..." for name in list(shapes)[:3])
    found = {name: np.zeros(shape) for name, shape in shapes.items()}
    notes = []
    for key, value in given.items():
        if not key and len(shapes) != 1:
            message = f"--jvp: there are {len(shapes)} variables, and u has a part for each"
            raise GradcliError(
                "option", message, hint=f"name the one that moves: {ways}; the others stay where they are"
            )
        name = key or next(iter(shapes))
        if name not in shapes:
            raise GradcliError("option", f"--jvp: {name} is not differentiated", hint=f"one of {', '.join(shapes)}")
        u = np.asarray(as_input("u", value))
        if u.size != math.prod(shapes[name]):
            hint = f"give {counted(math.prod(shapes[name]), 'number')}, one for each entry of {name}"
            raise GradcliError("shape", f"u has shape {u.shape}, {name} has shape {shapes[name]}", hint=hint)
        if u.shape != shapes[name]:
            notes.append(
                Note("u-reshaped", f"u came in shape {u.shape} and is read in that of {name}, {shapes[name]}.")
            )
        found[name] = u.reshape(shapes[name])
    return found, notes


# ---- Gradient descent from the point of an answer: what each step was to change, and what it changed

"""Entries of inputs and gradients that the steps hold."""
TRIED = 12
"""Smaller steps that are tried where one is too large, each a tenth of the one before."""
MOST_COST = 10
"""How often all steps together may cost what the budget allows one run."""
MOST_TRIED = 20
"""Steps that each of them takes."""


def descend(point: Point, lr: float, count: int) -> Descent:
    """Return ``count`` steps x ← x - lr·x.grad on v·y, fewer where y is no longer finite, or they cost too much.

    Raises ``budget`` for more steps than the turns of a loop, or than can be held, and ``option`` for a y that is not
    finite.
    """
    budget = point.function.program.budget
    if count > budget.turns:
        raise over_budget("turns", budget.turns, f"--iterations {count:,}")
    held = 2 * sum(leaf.value.size for leaf in point.leaves.values()) * count
    if held > MOST_NUMBERS:
        raise GradcliError(
            "budget", f"--iterations {count:,} would hold {held:,} numbers, more than {MOST_NUMBERS:,}",
            hint="take fewer steps, or fewer variables with --wrt",
        )  # fmt: skip
    found = walk(point, lr, count)
    return replace(found, remarks=diverges(point, found))


def walk(point: Point, lr: float, count: int) -> Descent:
    """Return at most ``count`` steps with ``lr``, and why there are no more."""
    inputs, ending = dict(point.inputs), ""
    y, grad, cost = evaluated(point, inputs)
    steps: list[DescentStep] = []
    while len(steps) < count and not ending:
        ending = stopped(y, grad) or ("more would cost too much" if cost > MOST_COST else "")
        if ending:
            break
        moved, here = stepped(point, inputs, grad, lr), worth(point, y)
        try:
            after, next_grad, step_cost = evaluated(point, moved)
        except GivenUp:
            raise
        except GradcliError as error:
            ending = f"the next step leads where the program has no value: {error.message}"
            break
        if after.shape != y.shape:
            ending = f"the next step leads to a {point.name} of another shape"
            break
        with np.errstate(all="ignore"):
            predicted = -lr * sum(float(np.sum(g * g)) for g in grad.values())
            actual = float(np.sum(point.seed * (after - y)))
        steps.append(DescentStep(own(point, inputs), here, grad, predicted, actual))
        inputs, y, grad, cost = moved, after, next_grad, cost + step_cost
    return Descent(lr, steps, own(point, inputs), worth(point, y), count, ending, [])


def evaluated(point: Point, inputs: Mapping[str, Array]) -> tuple[Array, dict[str, Array], float]:
    """Return y at a point, the gradient of v·y there, and which part of the budget of one run that took.

    There is no gradient where y has another shape than v.
    """
    run, budget = point.function.evaluate(dict(inputs), record=False), point.function.program.budget
    y, graph = np.asarray(run.value), run.graph
    cost = max(len(graph.nodes) / budget.nodes, graph.meter.elements / budget.total)
    return y, gradients(run, point.seed, point.names) if y.shape == point.seed.shape else {}, cost


def own(point: Point, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """Return the inputs that are differentiated."""
    return {name: np.asarray(inputs[name]) for name in point.names}


def worth(point: Point, y: Array) -> float:
    """Return v·y."""
    with np.errstate(all="ignore"):
        return float(np.sum(point.seed * y))


def stepped(point: Point, inputs: Mapping[str, Array], grad: Mapping[str, Array], lr: float) -> dict[str, Array]:
    """Return the inputs one step further."""
    with np.errstate(all="ignore"):
        return {**inputs, **{name: inputs[name] - lr * grad[name] for name in point.names}}


def stopped(y: Array, grad: Mapping[str, Array]) -> str:
    """Return why there is no next step; empty where there is one."""
    if not np.all(np.isfinite(y)):
        return "the value is not finite"
    if not all(np.all(np.isfinite(g)) for g in grad.values()):
        return "the gradient is not finite"
    return "" if any(np.any(g) for g in grad.values()) else "the gradient is 0"


def diverges(point: Point, found: Descent) -> list[Note]:
    """Return what is to be said where v·y grows, or is lost, although each step was to lower it."""
    if not is_divergent(found):
        return []
    first, last = found.steps[0].value, found.value
    went = f"to {last:.6g}" if math.isfinite(last) else "where it is nan" if math.isnan(last) else "beyond all numbers"
    smaller = next((lr for lr in smaller_steps(found.lr) if comes_down(point, lr, found.asked)), None)
    hint = "No smaller step that was tried comes down." if smaller is None else f"Try --lr {smaller:g}."
    return [
        Note(
            "diverges",
            f"It diverges: each step was to lower the value, and it went from {first:.6g} {went}. --lr {found.lr:g} "
            f"is too large a step here: the slope changes on the way. {hint}",
        )
    ]


def is_divergent(found: Descent) -> bool:
    """Return whether v·y is higher than at the start, or no number, and the last steps took it there."""
    steps, last = found.steps, found.value
    if not steps or not (not math.isfinite(last) or last > steps[0].value):
        return False
    late = steps[-min(3, len(steps)) :]
    return all(step.actual > 0 or not math.isfinite(step.actual) for step in late) and any(s.predicted for s in late)


def smaller_steps(lr: float) -> list[float]:
    """Return the steps that are tried in the place of one that is too large."""
    return [float(f"{lr / 10**k:.6g}") for k in range(1, TRIED + 1)]


def comes_down(point: Point, lr: float, count: int) -> bool:
    """Return whether some steps with ``lr`` lower v·y, and no more of them than are shown."""
    found = walk(point, lr, min(count, MOST_TRIED))
    return bool(found.steps) and math.isfinite(found.value) and found.value < found.steps[0].value
