"""Functions with a backward of the script's own: each held against its forward, and the script's gradient with them.

``explain`` follows such a backward. Here the script is run with its forward passes recorded in its place, so that all
routes give the derivative of the output, and what the script's own calls added is one more number that is expected.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np

from gradcli.checking.expected import Expected, OwnBackward
from gradcli.engine.graph import NODES, Graph, Operation, swept
from gradcli.engine.reverse import cotangents
from gradcli.errors import GradcliError
from gradcli.exact.work import ROUNDING, WRONG
from gradcli.explanation.checked import FunctionVerdict
from gradcli.explanation.evaluation import Function, Run
from gradcli.explanation.notes import added_together
from gradcli.explanation.results import Note
from gradcli.jacobian.passes import Passes
from gradcli.language.values import read_v
from gradcli.ops.declare import Array, value_of
from gradcli.runner.exceptions import Raised
from gradcli.runner.libraries.torch_function import NOT_RECORDED, Aside, Call
from gradcli.runner.python.operators import CUT
from gradcli.runner.script import ScriptError

HOOK = "A hook of the script changes the gradient on the way: what its calls gave is not compared with the derivative."


def judge_functions(function: Function, values: dict[str, Any], v: object) -> OwnBackward:
    """Hold each backward of the script's own against its forward, and leave the program with its forwards recorded."""
    program = function.program
    changing = bool(program.changing)
    if program.free:  # it was not run before its values came
        function.evaluate(values)
    if not program.customs and not changing:
        return OwnBackward()
    result = OwnBackward(notes=[Note("hook", HOOK)] if changing else [])
    program.forwards = True
    try:
        run = function.evaluate(values)
        verdicts = list(map(unrecorded, program.customs))
    except (GradcliError, ScriptError) as error:
        program.forwards, result.followed = False, True
        result.unknown = f"a forward pass of the script leaves the record: {error.message}"
        return result
    if any(verdicts):
        program.forwards, result.followed = False, True
    else:
        seed = read_v(v, run.value.shape, False).seed
        with np.errstate(all="ignore"):
            verdicts = [judge(call, seeds_of(run, seed, call)) for call in program.customs]
    result.functions = worst_of_calls([verdict for verdict in verdicts if verdict is not None])
    result.notes += [note for f in result.functions.values() for note in note_right(f)]
    unclear = [f.sentence for f in result.functions.values() if f.verdict == "unclear"]
    result.unknown = "; ".join(unclear)
    as_it_ran = all(np.array_equal(values[name], value) for name, value in program.values.items())
    sure = not unclear and not any(f.kink for f in result.functions.values())
    if result.functions and as_it_ran and sure and not changing:
        result.expected = gradients_of_calls(function)
    return result


def note_right(verdict: FunctionVerdict) -> list[Note]:
    """Return what is to be said of a backward that is right, but not everywhere, or by a choice of its own."""
    if verdict.verdict != "right" or not (verdict.right_here or verdict.kink):
        return []
    rest = (
        ": for others it is not the derivative."
        if verdict.right_here
        else ": what the script's calls gave is not held."
    )
    return [Note("custom-backward", f"{verdict.sentence[0].upper()}{verdict.sentence[1:]}{rest}")]


def gradients_of_calls(function: Function) -> list[Expected]:
    """Return what the calls of a script gave by each leaf as what is expected: None of a leaf of ``backward`` is 0."""
    program = function.program
    start = max((k for k, reset in enumerate(program.resets) if reset), default=0)
    calls = program.calls[start:]
    shapes = {name: np.shape(program.values[name]) for name in program.inputs if name in program.values}
    gave = by_input({program.identifier(label): g for label, g in added_together(calls).items()}, shapes)
    if gave.keys() <= shapes.keys() and calls and not any(event.of or event.tangents for event in calls):
        gave = {name: np.zeros(shape) for name, shape in shapes.items()} | gave
    return [
        Expected(name, None, np.asarray(gave[name], dtype=np.float64), called=f"{name}.grad")
        for name in function.differentiated
        if name in gave and np.shape(gave[name]) == shapes.get(name)
    ]


def by_input(gave: dict[str, Array], shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
    """Return gradients by the names of inputs; the only one of another name is that by the only input without one."""
    unnamed, without = [name for name in gave if name not in shapes], [name for name in shapes if name not in gave]
    if len(unnamed) != 1 or len(without) != 1:
        return gave
    return {without[0] if name == unnamed[0] else name: g for name, g in gave.items()}


def seeds_of(run: Run, v: Array, call: Call) -> tuple[list[Array], list[Array]]:
    """Return cotangents of the outputs of a call: those that reach it from the output of the run, and random ones.

    The first are without what one output hands on to another within the function.
    """
    outputs, end, totals = call.forward.outputs, call.forward.end, {}
    if type(run.output) in NODES and run.output.active:
        after = [node for node in swept(run.output) if node.index >= end]
        totals = cotangents(run.graph, run.output, v, visit=lambda _: after)
    come = [np.broadcast_to(totals.get(y.index, 0.0) if type(y) in NODES else 0.0, value_of(y).shape) for y in outputs]
    rng = np.random.default_rng(0)
    return come, [rng.standard_normal(g.shape) for g in come]


def unrecorded(call: Call) -> FunctionVerdict | None:
    """Return the verdict on a function whose forward leaves the record, None for one whose forward is there."""
    if call.forward is NOT_RECORDED:
        return FunctionVerdict(call.name, "unclear", reason="the script went another way where its forward is recorded")
    for node in call.run.graph.nodes[call.forward.start : call.forward.end]:
        if node.op is CUT:
            return FunctionVerdict(call.name, "unclear", reason=node.static["why"])
    return None


def judge(call: Call, seeds: tuple[list[Array], list[Array]]) -> FunctionVerdict:
    """Return whether a backward is the derivative of its forward, for the cotangents of the run and for random ones.

    A function of one number that is called with the cotangent 1, such as a loss, may leave it out.
    """
    forward = forward_alone(call)
    truths = [true_products(forward, gs) for gs in seeds]
    if not all(np.all(np.isfinite(values)) for truth in truths for values, _ in truth.values()):
        return FunctionVerdict(call.name, "unclear", reason="the derivative of its forward is not finite here")
    try:
        made = [by_script(call, seeds[0])]
        with suppress(Raised):  # it may ask what it is called with
            made.append(by_script(call, seeds[1]))
    except Raised as error:
        return FunctionVerdict(call.name, "unclear", reason=f"its backward raises {error.name}: {error.text}")
    except GradcliError as error:
        return FunctionVerdict(call.name, "unclear", reason=error.message)
    wrong = [arguments_outside(call, gs, [truth], parts) for gs, truth, parts in zip(seeds, truths, made, strict=False)]
    names = tuple(name for name in dict.fromkeys(call.forward.names) if any(name in each for each in wrong))
    if not names:
        return FunctionVerdict(call.name, "right")
    around = moved_forwards(call)
    beside = [[true_products(moved, gs) for moved in around] for gs in seeds]
    if not any(arguments_outside(call, *each) for each in zip(seeds, beside, made, strict=False)):
        return FunctionVerdict(call.name, "right", names, kink=True)
    only_one = not wrong[0] and [g.ravel().tolist() for g in seeds[0]] == [[1.0]]
    right_here = not wrong[0] and any(map(np.any, seeds[0]))
    return FunctionVerdict(call.name, "right" if only_one else "wrong", names, right_here=right_here)


Products = Mapping[int, tuple[Array, Array]]
"""vᵀ·J with the sizes of its terms, by the index of each argument."""


def arguments_outside(
    call: Call, gs: Sequence[Array], truths: Sequence[Products], parts: Mapping[int, Array]
) -> list[str]:
    """Return the names of the arguments whose gradient is not between those of several.

    So must be the sum of its entries: of two that are the largest together, both cannot have all of the cotangent.
    """
    result = []
    for node, name in zip(call.forward.inputs, call.forward.names, strict=True):
        values = with_sum([truth[node.index][0] for truth in truths])
        sizes = with_sum([np.maximum(truth[node.index][1], usual_size(call, gs, node)) for truth in truths]).max(axis=0)
        least, most = values.min(axis=0), values.max(axis=0)
        bounds = np.maximum(WRONG * np.maximum(np.abs(least), np.abs(most)), ROUNDING * sizes)
        part = with_sum([parts[node.index]])[0]
        within = (part >= least - bounds) & (part <= most + bounds)
        if not np.all(within):  # what is not finite is wrong too
            result.append(name)
    return result


def with_sum(rows: Sequence[Array]) -> Array:
    """Return arrays as the rows of a matrix, with the sum of each in one more column."""
    stacked = np.array(rows)
    return np.column_stack([stacked, stacked.sum(axis=1)])


def usual_size(call: Call, gs: Sequence[Array], node: Any) -> float:
    """Return the size that vᵀ·J has where no digits cancel: 1 - tanh² is 0 beside 1, and that is rounding."""
    largest = float(np.max(np.abs(node.value), initial=0.0))
    terms = [
        np.abs(g) * np.max(np.abs(value_of(y)), initial=0.0) for g, y in zip(gs, call.forward.outputs, strict=True)
    ]
    return max(float(np.max(term, initial=0.0)) for term in terms) / largest if largest else 0.0


def by_script(call: Call, gs: list[Array]) -> dict[int, Array]:
    """Return what the script's backward gives, by the index of each argument: summed where one stands twice."""
    run, replay = call.run, call.run.replay
    run.replay = None
    try:
        with Aside(run):
            whole = gs[0] if len(gs) == 1 else np.concatenate([np.ravel(g) for g in gs])
            parts = call.gradients(whole, again=False)
    finally:
        run.replay = replay
    result: dict[int, Array] = {}
    for node, part in zip(call.forward.inputs, parts, strict=True):
        g = np.zeros(np.size(node.value)) if part is None else np.ravel(np.asarray(part, dtype=np.float64))
        result[node.index] = result.get(node.index, 0.0) + g
    return result


@dataclass(frozen=True, slots=True)
class Standing:
    """A forward pass as a graph of its own: its arguments by their index in the run, and its outputs."""

    graph: Graph
    leaves: dict[int, Any]
    outputs: list[Any]


def forward_alone(call: Call, moves: Iterable[float] | None = None) -> Standing:
    """Return the forward pass of a call as a graph of its own, computed anew where each entry ``moves`` a little."""
    run, forward = call.run, call.forward
    graph = Graph(run.graph.budget)
    there: dict[int, Any] = {}
    for node in forward.inputs:
        if node.index not in there:
            value = node.value
            if moves is not None:  # by the next of them, from -1 to 1
                steps = np.fromiter(moves, np.float64, np.size(value)).reshape(np.shape(value))
                value = value + NEAR * np.maximum(np.abs(value), 1.0) * steps
            there[node.index] = graph.input(f"x{node.index}", value, True)
    leaves = dict(there)

    def copied(value: Any) -> Any:
        return value if type(value) not in NODES else there.get(value.index, value.value)

    for node in run.graph.nodes[forward.start : forward.end]:
        if isinstance(node, Operation):
            arguments = tuple([copied(a) for a in node.arguments])
            if moves is None:
                there[node.index] = graph.enter(node.op, arguments, node.static, node.value)
            else:
                there[node.index] = graph(node.op, *arguments, **node.static)
    return Standing(graph, leaves, [copied(y) for y in forward.outputs])


NEAR = 1e-13
"""How far beside a kink the slopes are looked at: so near that a smooth derivative is the same there."""


def moved_forwards(call: Call) -> list[Standing]:
    """Return the forward pass beside the point on several sides: below and above in all entries, and at random."""
    rng = np.random.default_rng(1)
    sides = [repeat(-1.0), repeat(1.0), *[iter(lambda: float(rng.uniform(-1, 1)), None) for _ in range(6)]]
    return [forward_alone(call, side) for side in sides]


def true_products(forward: Standing, gs: list[Array]) -> dict[int, tuple[Array, Array]]:
    """Return vᵀ·J of a forward pass with the sizes of its terms, by the index of each argument."""
    result = {index: (np.zeros(leaf.value.size), np.zeros(leaf.value.size)) for index, leaf in forward.leaves.items()}
    for output, g in zip(forward.outputs, gs, strict=True):
        if type(output) not in NODES or not output.active:
            continue
        passed = Passes(output, list(forward.leaves.values()), forward.graph).back(np.reshape(g, (1, -1)))
        for index, leaf in forward.leaves.items():
            (values, sizes), more = result[index], passed[leaf.index]
            result[index] = values + more.values[0], sizes + more.sizes[0]
    return result


ORDER = ("wrong", "unclear", "right")


def worst_of_calls(verdicts: Iterable[FunctionVerdict]) -> dict[str, FunctionVerdict]:
    """Return one verdict for each function, the worst of its calls, and of right ones that of which more is said."""
    result: dict[str, FunctionVerdict] = {}
    for verdict in sorted(verdicts, key=lambda one: (ORDER.index(one.verdict), not one.kink, not one.right_here)):
        result.setdefault(verdict.name, verdict)
    return result
