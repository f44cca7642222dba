"""The second derivative: the gradient as values of the graph, its Jacobian by both routes, and in many digits.

The sweep back is carried out by operations, to be differentiated once more: each hands on what the text of its vjp says
(``formulas/vjps.py``), evaluated by the language on the graph itself. What a text gives is held against the number that
the engine's own rule gives there, and where it is another, the next way to write the rule is tried.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from decimal import Decimal
from itertools import chain, combinations_with_replacement, count, product
from typing import Any

import numpy as np

from gradcli.engine.graph import Graph, Node, Operation, reaches
from gradcli.engine.naming import call_assigned, place_text, taken_names
from gradcli.engine.reverse import accumulate
from gradcli.errors import GivenUp, GradcliError
from gradcli.exact.judge import random_direction, right_digits, units
from gradcli.exact.real import digits
from gradcli.exact.slopes import Curvature, Direction, Exact, curvature
from gradcli.exact.work import FEWEST, ROUNDING, Spent
from gradcli.explanation.backward import CHOICES, handed_on
from gradcli.explanation.confirmation import Confirmation, unasked
from gradcli.explanation.evaluation import Run, Source
from gradcli.explanation.jacobians import Jacobian, call_backward, compare, read_jacobians
from gradcli.explanation.rereading import NEAR, compiled
from gradcli.explanation.results import Backward, Note, Proof
from gradcli.explanation.suspicion import count_work
from gradcli.explanation.views import Hessian
from gradcli.formulas.vjps import grown, lift, write
from gradcli.language.arithmetic import as_tensor
from gradcli.language.values import Cotangent
from gradcli.ops.arithmetic import ADD
from gradcli.ops.declare import Array, value_of
from gradcli.ops.values import unbroadcast
from gradcli.records import dataclass, replace

UNITS = 1e-12
"""How far what a text gives may be from the engine's number, relative to the sizes of what a rule multiplies."""
RUNS = 8
"""Runs that the curvature along two directions takes where two settings of digits agree."""
AFFORDABLE = 8
"""Which part of the budget's work may go into holding every entry of H, and of H·u, against the truth."""
BENDS = "the gradient bends or jumps at this point, and H is that of the side from which the gradient is taken"
CHOSEN = "Parts of {} have a kink at this point, and H follows PyTorch's conventions: {} is {!r} and truly {:.10g}."
UNWRITTEN = "the derivative of {} cannot be differentiated once more: its rule is not written in the language"


def differentiate_twice(run: Run, u: Direction | None, taken: Collection[str]) -> Hessian:
    """Return the Hessian of v·y of a run, and its product with ``u``.

    ``taken`` are names that no helper of its formulas may have. Raises ``second`` where the rule of an operation
    cannot be differentiated, and ``budget``.
    """
    from gradcli.formulas.derivation import found_formulas

    if not run.names:
        raise GradcliError("option", "--hessian: the program has no variable to differentiate by")
    again = run.function.evaluate(run.inputs)
    call_gradient(again.graph, {*taken, run.name})
    gradient = replace(again, output=gradient_of(again, run.seed))
    shape, seed = gradient.value.shape, u if u is not None else random_direction(run.inputs, run.names)
    flat = np.concatenate([np.ravel(seed[name]) for name in run.names]).reshape(shape)
    gradient = replace(gradient, seeds=[Cotangent(flat, flat, "given", shape)])
    composition = gradient.compose()
    formulas = found_formulas(gradient.graph, gradient.output, gradient.leaves, composition)
    whole = read_jacobians(gradient, composition, formulas)
    [call] = calls = call_backward(gradient, whole)
    hessian = Hessian(
        gradient.name,
        gradient.value,
        formulas.output,
        whole,
        formulas.definitions,
        Source(gradient, formulas, composition),
        None if u is None else dict(u),
        None if u is None else call.vjp,
        None,
        Proof(),
    )
    blocks, within = hessian.blocks, compare(whole, calls, gradient.value).agree
    proof = prove(run, hessian, blocks, call, within)
    return replace(hessian, symmetric=is_symmetric(blocks), proof=proof)


def call_gradient(graph: Graph, taken: Collection[str]) -> None:
    """Call the gradient ``g``, or ``g1``, and leave the program's values the names that they have in the answer."""
    call_assigned(graph)  # before the names are taken, which would number them anew
    graph.variables = {*graph.variables, *taken}
    names = taken_names(graph)
    graph.result = next(name for name in chain(["g"], map("g{}".format, count(1))) if name not in names)


def record_gradient(graph: Graph, output: Operation, seed: Array) -> dict[int, Any]:
    """Return ∂(seed·output)/∂x for the inputs that derivatives reach, by node index: nodes, or numbers.

    The nodes are entered in ``graph``. Raises ``second`` where an operation's rule cannot be written.
    """

    def along(node: Operation, k: int, g: Any) -> Any:
        return differentiable(graph, node, k, g)

    def plus(left: Any, right: Any, _own: bool) -> Any:
        return graph(ADD, left, right)

    nodes = [node for node in reversed(reaches(output)) if node.active]
    with np.errstate(all="ignore"):
        return accumulate({output.index: np.asarray(seed)[()]}, nodes, along, plus)


def gradient_of(run: Run, seed: Array) -> Any:
    """Return the gradient of v·y by all variables as one value: in the shape of the only one, else flat, in turn."""
    parts = record_gradient(run.graph, run.output, seed) if run.active else {}
    gradients = [parts.get(leaf.index, np.zeros(leaf.shape)) for leaf in run.leaves.values()]
    if len(gradients) == 1:
        return gradients[0]
    names = {f"g{k}": part for k, part in enumerate(gradients)}
    return run_text(run.graph, f"cat([{', '.join(f'reshape({name}, -1)' for name in names)}])", names)


def differentiable(graph: Graph, node: Operation, k: int, g: Any) -> Any:
    """Return what a cotangent hands on to one argument of an operation, as an operation of the graph."""
    graph.meter.watch()
    values, cotangent = [value_of(a) for a in node.arguments], value_of(g)
    part = np.asarray(node.op.vjp_along(k)(cotangent, node.value, *values, **node.static))
    wanted = np.asarray(unbroadcast(part, node.arguments[k].shape))
    sizes = [np.max(np.abs(x), initial=0.0) for x in (part, cotangent, *values) if np.asarray(x).dtype.kind == "f"]
    slack = UNITS * max([float(sizes[0]), float(np.prod(sizes[1:]))])  # its sums may cancel
    for choice, short in product(range(CHOICES), (True, False)):
        result = write_on(graph, node, k, g, choice, short)
        if result is not None and is_near(np.asarray(value_of(result)), wanted, slack if np.isfinite(slack) else 0.0):
            return result
    raise GradcliError("second", UNWRITTEN.format(node.op.name))


def write_on(graph: Graph, node: Operation, k: int, g: Any, choice: int, short: bool) -> Any:
    """Return what the text of a rule gives on the graph, in the shape of the argument; None where there is none.

    With ``short`` a constant of equal entries stands in the text as one number, which few rules cannot take.
    """
    names = {id(node): "y"} | {id(x): f"x{number}" for number, x in enumerate(node.arguments)}
    bound: dict[str, Any] = {}

    def written(value: Any, name: str = "") -> Any:
        if not isinstance(value, Node):
            array = np.asarray(value)
            uniform = array.dtype == np.float64 and array.size and bool(np.all(array == array.flat[0]))
            if array.ndim == 0 or (short and uniform):
                return value
        name = name or names[id(value)]
        bound[name] = value
        return write(name, value_of(value))

    try:
        part = handed_on(node, k, lift(written(g, "g")), written, choice)
        return None if part is None else run_text(graph, grown(part).text, bound)
    except GivenUp:
        raise
    except GradcliError:
        return None


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
    """Return whether numbers are the engine's, beside the largest; where that is not finite, nor may they be."""
    if found.shape != wanted.shape:
        return False
    finite = np.isfinite(wanted)
    largest = np.max(np.abs(wanted), initial=0.0, where=finite)
    return bool(np.all(np.where(finite, np.abs(found - wanted) <= NEAR * largest + slack, ~np.isfinite(found))))


def is_symmetric(blocks: Mapping[tuple[str, str], Jacobian]) -> bool | None:
    """Return whether each block is the transpose of the one across, but for rounding; None where it is not held."""
    for (one, other), block in blocks.items():
        across = blocks[other, one]
        if not block.held:
            return None
        left, right = entries_of(block), {(j, i): pair for (i, j), pair in entries_of(across).items()}
        sizes = np.concatenate([block.sizes, across.sizes])
        bound = ROUNDING * float(np.max(sizes, initial=0.0, where=np.isfinite(sizes)))
        for place in left.keys() | right.keys():
            a, b = left.get(place, (0.0,))[0], right.get(place, (0.0,))[0]
            if math.isfinite(a) and math.isfinite(b) and abs(a - b) > bound + 1e-12 * abs(a):
                return False
    return True


def entries_of(block: Jacobian) -> dict[tuple[int, int], tuple[float, float]]:
    """Return the entries of a block with their sizes by their place."""
    places = zip(block.rows.tolist(), block.columns.tolist(), strict=True)
    return dict(zip(places, zip(block.values.tolist(), block.sizes.tolist(), strict=True), strict=True))


def prove(
    run: Run, hessian: Hessian, blocks: Mapping[tuple[str, str], Jacobian], call: Backward, within: bool
) -> Proof:
    """Hold H and H·u against each other, and against the curvature of v·y in many digits.

    ``call`` has H·u by both routes, ``within`` says whether they agree.
    """
    values = [block.values for block in blocks.values() if block.held]
    finite = all(bool(np.isfinite(part).all()) for part in [hessian.value, *values, *call.vjp.values()])
    held = Curved(run, Confirmation("entries"))
    work, most = RUNS * (count_work(run.graph) + 1), run.graph.budget.work
    size = sum(leaf.value.size for leaf in run.leaves.values())
    if not np.all(np.isfinite(run.value)):  # which is no derivative of anything, whatever its entries are
        return Proof("agree", finite=False)
    if not size or work > most:
        proof = unasked(finite, most) if size else Proof()
    else:
        whole = all(block.held for block in blocks.values()) and work * size * (size + 1) // 2 <= most // AFFORDABLE
        few = hessian.u is not None and work * size <= most // AFFORDABLE
        try:
            exact = Exact(run.function.program, run.inputs, run.names)
            with digits(60):
                if whole:
                    held.judge_entries(exact, blocks)
                held.judge_product(exact, hessian.whole, call, few)
            proof = held.confirmation.proof(finite, "H")
        except Spent:
            proof = held.confirmation.proof(finite, "H") if held.confirmation.digits else unasked(finite, most)
        except GivenUp:
            raise
        except GradcliError as error:
            held.confirmation.unknown = error.message
            proof = held.confirmation.proof(finite, "H")
    notes = [*held.remarks, *proof.remarks]
    if not within and (proof.digits is None or proof.verdict != "agree"):
        notes.append(Note("hessian-differs", "H by its formulas is not what reverse mode makes of the gradient."))
        return Proof("differ", finite, proof.digits, notes)
    return replace(proof, remarks=notes)


@dataclass
class Curved:
    """What the curvature of v·y says of H: digits, that y has no second derivative, or H another by convention."""

    run: Run
    confirmation: Confirmation
    has_none: bool = False
    by_convention: str = ""

    @property
    def remarks(self) -> list[Note]:
        """The one note on kinks."""
        if self.has_none:
            return [Note("kink", f"{self.run.name} has no second derivative here, or one by convention: {BENDS}.")]
        return [Note("kink", self.by_convention)] if self.by_convention else []

    def judge_entries(self, exact: Exact, blocks: Mapping[tuple[str, str], Jacobian]) -> None:
        """Hold every entry of H against the truth. Raises ``Spent``."""
        run = self.run
        places = [(name, k) for name in run.names for k in range(run.leaves[name].value.size)]
        entries = {key: entries_of(block) for key, block in blocks.items()}
        for (one, i), (other, j) in combinations_with_replacement(places, 2):
            (a, by_a), (b, by_b) = self.step(one, i), self.step(other, j)
            pairs = {entries[one, other].get((i, j), (0.0, 0.0)), entries[other, one].get((j, i), (0.0, 0.0))}
            truth = curvature(exact, run.seed, a, b, next(iter(pairs))[0])
            names = [f"{name}{place_text(k, run.leaves[name].shape)}" for name, k in ((one, i), (other, j))]
            for value, size in pairs:
                self.judge("jacobian", value, truth, by_a * by_b, size, f"H by {names[0]} and {names[1]}")

    def judge_product(self, exact: Exact, whole: Mapping[str, Jacobian], call: Backward, few: bool) -> None:
        """Hold H·u against the truth: entry by entry where they are ``few``, else along a random direction."""
        run, u = self.run, call.v.seed
        ends = np.cumsum([leaf.value.size for leaf in run.leaves.values()])[:-1]
        parts = zip(run.leaves.items(), np.split(np.ravel(u), ends), strict=True)
        along = {name: part.reshape(leaf.shape) for (name, leaf), part in parts}
        if not np.any(u):
            return
        scale = {name: whole[name].scale(u) for name in run.names}
        if few:
            for name in run.names:
                for i, value in enumerate(np.ravel(call.vjp[name]).tolist()):
                    step, unit = self.step(name, i)
                    truth = curvature(exact, run.seed, along, step, value)
                    place = f"H·u for {name}{place_text(i, run.leaves[name].shape)}"
                    self.judge("grad", value, truth, unit, float(np.ravel(scale[name])[i]), place)
            return
        other = random_direction(run.inputs, run.names)
        with np.errstate(all="ignore"):
            value = math.fsum(float(np.sum(call.vjp[name] * other[name])) for name in run.names)
            size = sum(float(np.sum(scale[name] * np.abs(other[name]))) for name in run.names)
        truth = curvature(exact, run.seed, along, other, value)
        self.judge("grad", value, truth, 1.0, size, "H along a random direction")

    def step(self, name: str, place: int) -> tuple[dict[str, Array], float]:
        """Return the direction that moves one entry of a variable by its size, and that size."""
        steps = np.ravel(units(self.run.inputs[name]))
        alone = np.where(np.arange(steps.size) == place, steps, 0.0)
        return {name: alone.reshape(self.run.leaves[name].shape)}, float(steps[place])

    def judge(self, what: str, value: float, truth: Curvature, unit: float, size: float, place: str) -> None:
        """Count the right digits of a number that is finite, on the pieces of x; say where the truth was not found.

        ``unit`` is the length of the directions, by which the truth is divided.
        """
        self.has_none = self.has_none or (truth.bends and truth.across.is_nan())
        if not math.isfinite(value):
            return
        if truth.value.is_nan():
            self.confirmation.leave(place, truth.bends)
            return
        self.confirmation.judge(what, value, truth.value / Decimal(unit), size, place)
        across = truth.across / Decimal(unit)
        if truth.bends and not across.is_nan() and right_digits(value, across, size) < FEWEST:
            self.by_convention = self.by_convention or CHOSEN.format(self.run.name, place, value, float(across))
