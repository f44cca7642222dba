"""J from its two sides: rows by calls of backward with one-hot v, and J·u by a forward pass."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.engine.graph import Node, Operation
from gradcli.engine.naming import label_entries
from gradcli.engine.reach import reaches
from gradcli.engine.reverse import cotangents
from gradcli.errors import GivenUp, GradcliError
from gradcli.errors.counting import counted
from gradcli.errors.facts import index_of
from gradcli.exact.decimals import digits
from gradcli.exact.limits import finite
from gradcli.exact.slopes import Exact
from gradcli.exact.thresholds import FEWEST
from gradcli.exact.work import Spent
from gradcli.explanation.agreement import tolerance
from gradcli.explanation.evaluation import gradients
from gradcli.explanation.explained import Note, Proof
from gradcli.explanation.jacobians import Jacobian, one_hot, weighted_sums
from gradcli.explanation.suspicion import RUNS, count_work
from gradcli.explanation.views import Moved, OneHot, Rows, Tangent
from gradcli.explanation.words import Confirmation, tell_bend, too_large_text, undecided_text
from gradcli.language.inputs import as_input
from gradcli.ops.signatures import Array

if TYPE_CHECKING:
    from gradcli.explanation.readings import Point

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
    from gradcli.jacobian.colouring import count_passes

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
    from gradcli.jacobian.large import Passes

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
