"""The gradient as values of the graph: the sweep back carried out by operations, to be differentiated once more.

The second derivative: the Jacobian of the gradient, by its formulas, by reverse mode, and in many digits.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from itertools import chain, combinations_with_replacement, count, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gradcli.engine.graph import Graph, Node, Operation, reaches
from gradcli.engine.naming import call_assigned, place_text, taken_names
from gradcli.engine.reverse import accumulate
from gradcli.errors import GivenUp, GradcliError
from gradcli.exact.judge import random_direction, right_digits, units
from gradcli.exact.real import digits
from gradcli.exact.slopes import Curvature, Direction, Exact, curvature
from gradcli.exact.thresholds import FEWEST, ROUNDING
from gradcli.exact.work import Spent
from gradcli.explanation.agreement import Difference, compare
from gradcli.explanation.backward import CHOICES
from gradcli.explanation.confirmation import Confirmation
from gradcli.explanation.evaluation import Evaluation, Point, call_backward, compose_at, read_jacobians
from gradcli.explanation.explained import Backward, Note, Proof
from gradcli.explanation.jacobians import Jacobian
from gradcli.explanation.rereading import compiled
from gradcli.explanation.run_lookup import RunLookup
from gradcli.explanation.suspicion import count_work
from gradcli.explanation.tangents import proof_of, unasked
from gradcli.explanation.views import Hessian
from gradcli.formulas.vjps import Unwritable, Written, lift, settle, undo_broadcast, write, write_vjp
from gradcli.language.arithmetic import as_tensor
from gradcli.language.values import Cotangent
from gradcli.ops.arithmetic import ADD
from gradcli.ops.declare import value_of
from gradcli.ops.links import Array
from gradcli.ops.values import unbroadcast

if TYPE_CHECKING:
    from gradcli.formulas.derivation import Formulas
    from gradcli.jacobian.composition import Composition


NEAR_ENGINE = 1e-9
"""How far what a text gives may be from the engine's number, relative to the largest of its array."""
UNITS = 1e-12
"""How far it may be, relative to the sizes of what a rule multiplies and adds up."""
GIVEN = "g", "y", "x"
"""What the texts of rules call the cotangent and the value of an operation, and, with numbers, its arguments."""


def record_gradient(graph: Graph, output: Operation, seed: Array) -> dict[int, Any]:
    """Return ∂(seed·output)/∂x for the inputs that derivatives reach, by node index: nodes, or numbers.

    The nodes are entered in ``graph``. Raises ``second`` where an operation's rule cannot be written.
    """
    nodes = [node for node in reversed(reaches(output)) if node.active]
    with np.errstate(all="ignore"):
        return accumulate(
            {output.index: np.asarray(seed)[()]}, nodes, along(graph), lambda a, b, _own: graph(ADD, a, b)
        )


def along(graph: Graph):  # type: ignore[no-untyped-def]
    """Return what hands a cotangent on to one argument of an operation, as an operation."""

    def handed_on(node: Operation, k: int, g: Any) -> Any:
        graph.meter.watch()
        wanted, slack = numbers(node, k, value_of(g))
        for choice, short in product(range(CHOICES), (True, False)):
            found = write_on(graph, node, k, g, choice, short)
            if found is not None and is_near(np.asarray(value_of(found)), wanted, slack):
                return found
        raise GradcliError(
            "second",
            f"the derivative of {node.op.name} cannot be differentiated once more: its rule is not written in the "
            "language",
        )

    return handed_on


def numbers(node: Operation, k: int, g: Array) -> tuple[Array, float]:
    """Return what the engine hands on, and how far rounding may move it: its sums may cancel."""
    values = [value_of(a) for a in node.arguments]
    part = np.asarray(node.op.vjp_along(k)(g, node.value, *values, **node.static))
    sizes = [np.max(np.abs(x), initial=0.0) for x in (part, g, *values) if np.asarray(x).dtype.kind == "f"]
    slack = UNITS * max([float(sizes[0]), float(np.prod(sizes[1:]))])
    return np.asarray(unbroadcast(part, node.arguments[k].shape)), slack if np.isfinite(slack) else 0.0


def write_on(graph: Graph, node: Operation, k: int, g: Any, choice: int, short: bool) -> Any:
    """Return what the text of a rule gives on the graph, in the shape of the argument; None where there is none.

    With ``short`` a constant of equal entries stands in the text as one number, which few rules cannot take.
    """
    bound: dict[str, Any] = {}

    def written(name: str, value: Any) -> Any:
        if not isinstance(value, Node) and (np.ndim(value) == 0 or (short and is_uniform(value))):
            return value
        bound[name] = value
        return write(name, value_of(value))

    of_g, of_y = GIVEN[:2]
    try:
        arguments = [written(f"{GIVEN[2]}{k}", value) for k, value in enumerate(node.arguments)]
        part = write_vjp(node, k, lift(written(of_g, g)), written(of_y, node), arguments, choice)
        part = undo_broadcast(part, node.arguments[k].shape)
        return run_text(graph, settled(part), bound)
    except GivenUp:
        raise
    except (Unwritable, GradcliError):
        return None


def is_uniform(value: Any) -> bool:
    """Return whether an array of doubles has one entry many times."""
    array = np.asarray(value)
    return array.dtype == np.float64 and bool(array.size) and bool(np.all(array == array.flat[0]))


def settled(part: Written) -> str:
    """Return the text that gives an array in its whole shape."""
    return settle(part).text


def run_text(graph: Graph, text: str, bound: Mapping[str, Any]) -> Any:
    """Return what an expression gives where its names stand for these nodes and arrays; None for what is none."""
    program = compiled(text, frozenset(bound))
    if program is None or not program.inputs.keys() <= bound.keys():
        return None
    frame = program.frame(graph)
    for name in program.inputs:
        frame[program.variables[name]] = bound[name]
    return as_tensor(program.run(frame))


def is_near(found: Array, wanted: Array, slack: float) -> bool:
    """Return whether numbers are the engine's, but for rounding; where that is not finite, nor may they be."""
    if found.shape != wanted.shape:
        return False
    finite = np.isfinite(wanted)
    largest = np.max(np.abs(wanted), initial=0.0, where=finite)
    near = np.abs(found - wanted) <= NEAR_ENGINE * largest + slack
    return bool(np.all(np.where(finite, near, ~np.isfinite(found))))


# ---- The second derivative: the Jacobian of the gradient, by its formulas, by reverse mode, and in many d

RUNS = 8
"""Runs that the curvature along two directions takes where two settings of digits agree."""
BENDS = "the gradient bends or jumps at this point, and H is that of the side from which the gradient is taken"
CHOSEN = "Parts of {} have a kink at this point, and H follows PyTorch's conventions: {} is {!r} and truly {:.10g}."

AFFORDABLE = 8
"""Which part of the budget's work may go into holding every entry of H, and of H·u, against the truth."""


class Second(NamedTuple):
    """The gradient as an output of its own, which stands at the same point, with its Jacobian by both routes, and uᵀ·H.

    ``whole`` is the Jacobian by each variable, its rows those of all gradients in turn.
    """

    point: Point
    whole: dict[str, Jacobian]
    formulas: Formulas
    composition: Composition
    backward: list[Backward]
    difference: Difference


def differentiate_twice(point: Point, u: Direction | None, taken: Collection[str]) -> Hessian:
    """Return the Hessian of v·y at a point, and its product with ``u``.

    ``taken`` are names that no helper of its formulas may have. Raises ``second`` where the rule of an operation
    cannot be differentiated, and ``budget``.
    """
    if not point.names:
        raise GradcliError("option", "--hessian: the program has no variable to differentiate by")
    run = point.function.evaluate(point.inputs)
    call_gradient(run.graph, {*taken, point.name})
    gradient = gradient_of(run, point)
    seed = u if u is not None else random_direction(point.inputs, point.names)
    found = stand_on(point, Evaluation(run.graph, gradient, run.leaves), seed)
    formulas = found.formulas
    lookup = RunLookup(formulas, found.composition, found.point, found.whole, found.backward, {}, {})
    hessian = Hessian(
        found.point.name, found.point.value, formulas.output, found.whole, formulas.definitions, lookup,
        None if u is None else dict(u), None, None, Proof(),
    )  # fmt: skip
    blocks = hessian.blocks
    return replace(
        hessian,
        product=None if u is None else found.backward[0].vjp,
        symmetric=is_symmetric(blocks),
        proof=prove(point, found, blocks, u),
    )


def call_gradient(graph: Graph, taken: Collection[str]) -> None:
    """Call the gradient ``g``, or ``g1``, and leave the program's values the names that they have in the answer."""
    call_assigned(graph)  # before the names are taken, which would number them anew
    graph.variables = {*graph.variables, *taken}
    known = taken_names(graph)
    graph.result = next(name for name in chain(["g"], map("g{}".format, count(1))) if name not in known)


def gradient_of(run: Evaluation, point: Point) -> Any:
    """Return the gradient of v·y by all variables as one value: in the shape of the only one, else flat, in turn."""
    found = record_gradient(run.graph, run.output, point.seed) if is_active(run.output) else {}
    parts = {}
    for name in point.names:
        leaf = run.leaves[name]
        parts[name] = found.get(leaf.index, np.zeros(leaf.shape))
    if len(parts) == 1:
        return next(iter(parts.values()))
    names = {f"g{k}": part for k, part in enumerate(parts.values())}
    return run_text(run.graph, f"cat([{', '.join(f'reshape({name}, -1)' for name in names)}])", names)


def is_active(output: Any) -> bool:
    """Return whether a derivative flows to an output."""
    return isinstance(output, Node) and output.active


def stand_on(point: Point, run: Evaluation, u: Direction) -> Second:
    """Return the gradient, which is the output of ``run``, with its Jacobian by both routes, and uᵀ·H."""
    from gradcli.formulas.derivation import found_formulas

    shape = np.shape(run.value)
    flat = np.concatenate([np.ravel(u[name]) for name in point.names]).reshape(shape)
    at = Point(point.function, run, point.names, [Cotangent(flat, flat, "given", shape)], [])
    composition = compose_at(run, point.function)
    formulas = found_formulas(run.graph, run.output, at.leaves, composition)
    whole = read_jacobians(at, composition, formulas)
    backward = call_backward(at, whole)
    return Second(at, whole, formulas, composition, backward, compare(whole, backward, at.value))


def is_symmetric(blocks: Mapping[tuple[str, str], Jacobian]) -> bool | None:
    """Return whether each block is the transpose of the one across, but for rounding; None where it is not held."""
    for (one, other), own in blocks.items():
        across = blocks[other, one]
        if not own.held:
            return None
        left = dict(zip(zip(own.rows.tolist(), own.columns.tolist(), strict=True), own.values.tolist(), strict=True))
        right = dict(
            zip(zip(across.columns.tolist(), across.rows.tolist(), strict=True), across.values.tolist(), strict=True)
        )
        sizes = np.concatenate([own.sizes, across.sizes])
        bound = ROUNDING * float(np.max(sizes, initial=0.0, where=np.isfinite(sizes)))
        for place in left.keys() | right.keys():
            a, b = left.get(place, 0.0), right.get(place, 0.0)
            if math.isfinite(a) and math.isfinite(b) and abs(a - b) > bound + 1e-12 * abs(a):
                return False
    return True


def prove(point: Point, found: Second, blocks: Mapping[tuple[str, str], Jacobian], u: Direction | None) -> Proof:
    """Hold H and H·u against each other, and against the curvature of v·y in many digits."""
    values = [one.values for one in blocks.values() if one.held]
    product = found.backward[0].vjp.values()
    all_finite = all(bool(np.isfinite(part).all()) for part in [found.point.value, *values, *product])
    held = Confirmation(asked="entries")
    bends = Bends(point.name)
    work, most = RUNS * (count_work(point.run.graph) + 1), point.run.graph.budget.work
    size = sum(leaf.value.size for leaf in point.leaves.values())
    whole = all(one.held for one in blocks.values()) and work * size * (size + 1) // 2 <= most // AFFORDABLE
    if not np.all(np.isfinite(point.value)):  # which is no derivative of anything, whatever its entries are
        return Proof("agree", finite=False)
    if not size or work > most:
        proof = unasked(all_finite, most) if size else Proof()
    else:
        try:
            exact = Exact(point.function.program, point.inputs, point.names)
            with digits(60):
                if whole:
                    judge_entries(exact, point, blocks, held, bends)
                judge_product(exact, point, found, u if work * size <= most // AFFORDABLE else None, held, bends)
            proof = proof_of(held, all_finite, "H")
        except Spent:
            proof = proof_of(held, all_finite, "H") if held.digits else unasked(all_finite, most)
        except GivenUp:
            raise
        except GradcliError as error:
            held.unknown = error.message
            proof = proof_of(held, all_finite, "H")
    notes = [*bends.remarks, *proof.remarks]
    if not found.difference.within and (proof.digits is None or proof.verdict != "agree"):
        notes.append(Note("hessian-differs", "H by its formulas is not what reverse mode makes of the gradient."))
        return Proof("differ", all_finite, proof.digits, notes)
    return replace(proof, remarks=notes)


def judge_entries(
    exact: Exact, point: Point, blocks: Mapping[tuple[str, str], Jacobian], held: Confirmation, bends: Bends
) -> None:
    """Hold every entry of H against the truth. Raises ``Spent``."""
    places = [(name, k) for name in point.names for k in range(point.leaves[name].value.size)]
    known = {key: entries_of(one) for key, one in blocks.items()}
    steps = {name: np.ravel(units(point.inputs[name])) for name in point.names}
    for (one, i), (other, j) in combinations_with_replacement(places, 2):
        a, b = one_step(point, one, i, steps[one]), one_step(point, other, j, steps[other])
        unit = steps[one][i] * steps[other][j]
        pairs = {known[one, other].get((i, j), (0.0, 0.0)), known[other, one].get((j, i), (0.0, 0.0))}
        truth = curvature(exact, point.seed, a, b, next(iter(pairs))[0])
        names = [f"{name}{place_text(k, point.leaves[name].shape)}" for name, k in ((one, i), (other, j))]
        for value, grown in pairs:
            judge(held, "jacobian", value, truth, unit, grown, f"H by {names[0]} and {names[1]}", bends)


def judge_product(
    exact: Exact, point: Point, found: Second, u: Direction | None, held: Confirmation, bends: Bends
) -> None:
    """Hold H·u against the truth: entry by entry where u was given and they are few, else along a random direction."""
    call = found.backward[0]
    ends = np.cumsum([leaf.value.size for leaf in point.leaves.values()])[:-1]
    parts = np.split(np.ravel(call.v.seed), ends)
    along = {name: part.reshape(leaf.shape) for (name, leaf), part in zip(point.leaves.items(), parts, strict=True)}
    if not any(np.any(part) for part in along.values()):
        return
    few = u is not None
    scale = {name: found.whole[name].scale(call.v.seed) for name in point.names}
    if few:
        for name in point.names:
            steps = np.ravel(units(point.inputs[name]))
            for i, value in enumerate(np.ravel(call.vjp[name]).tolist()):
                truth = curvature(exact, point.seed, along, one_step(point, name, i, steps), value)
                place = f"H·u for {name}{place_text(i, point.leaves[name].shape)}"
                judge(held, "grad", value, truth, float(steps[i]), float(np.ravel(scale[name])[i]), place, bends)
        return
    other = random_direction(point.inputs, point.names)
    with np.errstate(all="ignore"):
        value = math.fsum(float(np.sum(call.vjp[name] * other[name])) for name in point.names)
        size = sum(float(np.sum(scale[name] * np.abs(other[name]))) for name in point.names)
    truth = curvature(exact, point.seed, along, other, value)
    judge(held, "grad", value, truth, 1.0, size, "H along a random direction", bends)


@dataclass
class Bends:
    """What is to be said of kinks: that ``name`` has no second derivative, or that H takes another by convention."""

    name: str
    has_none: bool = False
    by_convention: str = ""

    @property
    def remarks(self) -> list[Note]:
        """The one note of them."""
        if self.has_none:
            return [Note("kink", f"{self.name} has no second derivative here, or one by convention: {BENDS}.")]
        return [Note("kink", self.by_convention)] if self.by_convention else []


def judge(
    held: Confirmation, what: str, value: float, truth: Curvature, unit: float, size: float, place: str, bends: Bends
) -> None:
    """Count the right digits of a number that is finite, on the pieces of x; say where the truth was not found.

    ``unit`` is the length of the directions, by which the truth is divided.
    """
    if truth.bends and truth.across.is_nan():
        bends.has_none = True
    if not math.isfinite(value):
        return
    if truth.value.is_nan():
        held.unknown = held.unknown or ("" if truth.bends else f"{place} changes with every digit that is added")
        return
    held.judge(what, value, truth.value / exact_number(unit), size, place)
    across = truth.across / exact_number(unit)
    if truth.bends and not across.is_nan() and right_digits(value, across, size) < FEWEST:
        bends.by_convention = bends.by_convention or CHOSEN.format(bends.name, place, value, float(across))


def exact_number(value: float) -> Any:
    """Return a double as a decimal."""
    from decimal import Decimal

    return Decimal(float(value))


def one_step(point: Point, name: str, place: int, steps: Array) -> dict[str, Array]:
    """Return the direction that moves one entry of a variable by its size."""
    found = np.zeros(steps.size)
    found[place] = steps[place]
    return {name: found.reshape(point.leaves[name].shape)}


def entries_of(one: Jacobian) -> dict[tuple[int, int], tuple[float, float]]:
    """Return the entries of a block with their sizes by their place."""
    places = zip(one.rows.tolist(), one.columns.tolist(), strict=True)
    return dict(zip(places, zip(one.values.tolist(), one.sizes.tolist(), strict=True), strict=True))
