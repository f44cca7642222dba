"""What a v does to y and J: the number that it makes of y, and the gradients that others would leave.

What each sample of a batch adds to the gradient of a mean loss: the terms of the sum, a row for each sample.
One line for each question that beginners ask of a gradient: why a sum, which shape, where it goes, why none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.engine.graph import Node, Operation
from gradcli.engine.reverse import backward, cotangents
from gradcli.errors.hints import index_of, listed, short_array
from gradcli.exact.thresholds import ROUNDING
from gradcli.explanation.effect import Broadcast, Dust, Effect, Nudge, Sample, Samples, Shared, Trial, Weighted
from gradcli.explanation.explained import Note
from gradcli.explanation.jacobians import Jacobian
from gradcli.explanation.notes import chooses_by_value
from gradcli.explanation.rereading import NAME
from gradcli.language.torch_refusals import saved_places
from gradcli.ops.arithmetic import ADD, DIV, MUL, NEG, SUB
from gradcli.ops.links import Array, Mask
from gradcli.ops.reductions import MEAN, SUM

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gradcli.explanation.evaluation import Point
    from gradcli.explanation.timeline import Timeline


Move = Callable[[str, int, float], Array | None]
"""Gives y where one entry of a variable is moved: its name, the entry's place in flat order, and how far."""
STEP = 0.001
"""How far an entry of about 1 is moved."""
DOUBLE_STEP, SINGLE_STEP = 6e-6, 5e-3
"""How far a quotient on both sides goes best from an entry of about 1, in float64 and in float32."""
EPS_SINGLE = 2.0**-24
"""Relative distance to which float32 rounds."""
SMALL = 0.01
"""Of the largest slope: entries with less are not worth a move."""


def weigh(
    seed: Array,
    output: Array,
    inputs: Mapping[str, Array],
    jacobians: Mapping[str, Jacobian],
    grad: Mapping[str, Array],
    move: Move,
    dust: Mapping[str, Mask],
) -> Effect:
    """Return what v did; ``seed`` is v in the shape of y, ``grad`` what it left, ``move`` runs the program again.

    ``dust`` says which entries of J are what rounding has left of 0. Numbers may overflow: numpy is to be told not to
    warn.
    """
    v, y = np.ravel(seed), np.ravel(output)
    total = float(v @ y)
    size = max(v.size, 1)
    hot = np.flatnonzero(v)
    row = other_row(v, jacobians)
    ones = summed(jacobians, dust)
    return Effect(
        total,
        nudge(v, y, inputs, grad, move) if math.isfinite(total) else None,
        ones,
        Weighted({name: g / size for name, g in ones.grad.items()}, ones.dust),
        row,
        taken(row, jacobians, dust),
        int(hot[0]) if len(hot) == 1 and v[hot[0]] == 1 else None,
        "sum" if (v == 1).all() else "mean" if (v == 1 / size).all() else "",
        shared(jacobians),
    )


def summed(jacobians: Mapping[str, Jacobian], dust: Mapping[str, Mask]) -> Weighted:
    """Return what v = ones leaves: the sums of the columns of J."""
    grad = {
        name: j.pattern.sum_columns(j.values).reshape(j.input_shape) if j.held else j.vjp(np.ones(j.output_shape))
        for name, j in jacobians.items()
    }
    ones = {name: np.ones(j.matrix_shape[0]) for name, j in jacobians.items()}
    lost = {name: dust_of(ones[name], j, grad[name]) | only_dust(j, dust[name]) for name, j in jacobians.items()}
    return Weighted(grad, lost)


def only_dust(jacobian: Jacobian, dust: Mask) -> Mask:
    """Return for which entries of x the column of J has ``dust``, and nothing else that is not 0."""
    count = jacobian.matrix_shape[1]
    if not dust.any():
        return np.zeros(jacobian.input_shape, dtype=bool)
    some = np.bincount(jacobian.columns[dust], minlength=count) > 0
    more = np.bincount(jacobian.columns[(jacobian.values != 0) & ~dust], minlength=count) > 0
    return (some & ~more).reshape(jacobian.input_shape)


def taken(row: int, jacobians: Mapping[str, Jacobian], dust: Mapping[str, Mask]) -> Weighted:
    """Return what a v that is 1 in one entry alone leaves: this row of J."""
    grad, lost = {}, {name: np.zeros(jacobian.input_shape, dtype=bool) for name, jacobian in jacobians.items()}
    for name, jacobian in jacobians.items():
        if not jacobian.held:
            grad[name] = jacobian.row(row)
            continue
        start, stop = np.searchsorted(jacobian.rows, [row, row + 1])
        flat = np.zeros(jacobian.matrix_shape[1])
        flat[jacobian.columns[start:stop]] = jacobian.values[start:stop]
        grad[name] = flat.reshape(jacobian.input_shape)
        lost[name].flat[jacobian.columns[start:stop]] = dust[name][start:stop]
    return Weighted(grad, lost)


def dust_of(v: Array, jacobian: Jacobian, grad: Array) -> Mask:
    """Return where a sum is not 0 and yet no more than rounding leaves of its terms, in the shape of the variable."""
    if jacobian.pattern.fullest_column <= 1:
        return np.zeros(grad.shape, dtype=bool)
    small = np.abs(grad) <= ROUNDING * jacobian.summed(np.abs(v), np.abs(jacobian.values))
    return np.asarray(np.isfinite(grad) & (grad != 0) & small, dtype=bool)


def dust_in(seed: Array, jacobian: Jacobian, vjp: Array, grad: Array) -> Dust:
    """Return what rounding leaves of 0 where the sums over the rows of J cancel; its entries are taken as they are."""
    v = np.ravel(seed)
    entries = np.zeros(len(jacobian.values), dtype=bool)
    left = dust_of(v, jacobian, vjp)
    return Dust(entries, left, left if np.array_equal(vjp, grad) else dust_of(v, jacobian, grad))


def other_row(v: Array, jacobians: Mapping[str, Jacobian]) -> int:
    """Return a row of J worth showing: the first with the most entries, among those that v does not take out itself."""
    if not v.size:
        return 0
    counts = np.zeros(v.size, dtype=np.intp)
    for jacobian in jacobians.values():
        counts += jacobian.pattern.by_row
    hot = np.flatnonzero(v)
    if len(hot) == 1 and v.size > 1:
        counts[hot[0]] = -1
    return int(np.argmax(counts))


def shared(jacobians: Mapping[str, Jacobian]) -> Shared | None:
    """Return the first entry of an input on which several entries of y depend."""
    for name, jacobian in jacobians.items():
        used = jacobian.values != 0
        several = np.bincount(jacobian.columns[used], minlength=1) > 1
        if several.any():
            place = int(np.argmax(several))
            return Shared(
                name,
                index_of(place, jacobian.input_shape),
                tuple(jacobian.rows[used & (jacobian.columns == place)].tolist()),
            )
    return None


def nudge(v: Array, y: Array, inputs: Mapping[str, Array], grad: Mapping[str, Array], move: Move) -> Nudge | None:
    """Move the first entry that has a slope worth a look, and measure how far L moves with it."""
    for name, g in grad.items():
        slopes = np.ravel(g)
        sizes = np.where(np.isfinite(slopes), np.abs(slopes), 0.0)
        usable = np.flatnonzero((sizes > 0) & (sizes >= SMALL * sizes.max(initial=0)))
        if len(usable):
            place = int(usable[0])
            slope, step = float(slopes[place]), step_at(float(np.ravel(inputs[name])[place]))
            measured = measure(v, y, move(name, place, step), slope * step)
            return Nudge(name, index_of(place, g.shape), step, slope, slope * step, measured)
    return None


def try_quotient(
    v: Array, inputs: Mapping[str, Array], grad: Mapping[str, Array], move: Move, at: Nudge, routes: float
) -> Trial | None:
    """Return the gradient beside a difference quotient, in the entry that a nudge moves; None without a value there.

    The quotient is taken on both sides, so that the steps that suit it are the cube roots of the last digits.
    """
    place = int(np.ravel_multi_index(at.index, grad[at.name].shape)) if at.index else 0
    size = max(abs(float(np.ravel(inputs[at.name])[place])), 1.0)
    moved = [move(at.name, place, way * DOUBLE_STEP * size) for way in (1, -1)]
    if any(y is None or y.size != v.size or not np.isfinite(y).all() for y in moved):
        return None
    after, before = (np.ravel(y) for y in moved if y is not None)
    quotient = float(v @ (after - before)) / (2 * DOUBLE_STEP * size)
    rounding = EPS_SINGLE * float(np.abs(v) @ np.abs(after)) / (SINGLE_STEP * size)
    return Trial(
        at.name, at.index, DOUBLE_STEP * size, at.slope, quotient, routes,
        shared_digits(abs(quotient - at.slope), at.slope, 15), shared_digits(rounding, at.slope, 7),
    )  # fmt: skip


def shared_digits(error: float, number: float, most: int) -> int:
    """Return how many digits an error leaves of a number, ``most`` at the most."""
    if not error:
        return most
    return min(most, max(0, math.floor(-math.log10(error / abs(number)))))


def step_at(value: float) -> float:
    """Return how far an entry is moved: 0.001, and a thousandth of its size where that is far from 1."""
    if value == 0 or 0.1 <= abs(value) < 10_000:
        return STEP
    return float(f"1e{math.floor(math.log10(abs(value))) - 3}")


def measure(v: Array, y: Array, moved: Array | None, predicted: float) -> float | None:
    """Return how far L = v·y moves with y; None where y has no value there, or rounding hides the move."""
    if moved is None or moved.size != y.size or not np.isfinite(moved).all():
        return None
    after = np.ravel(moved)
    found = float(v @ (after - y))
    noise = ROUNDING * float(np.abs(v) @ (np.abs(y) + np.abs(after)))
    return found if math.isfinite(found) and noise <= 1e-3 * abs(predicted) else None


# ---- What each sample of a batch adds to the gradient of a mean loss: the terms of the sum, a row for eac

MOST_SAMPLES = 8
"""Samples that are shown; of more the first seven and the last."""
FEWEST = 2
"""Samples that there are at least."""
NEAR = 1e-12
"""Relative distance below which a factor is 1/n."""


def find_samples(point: Point) -> Samples | None:
    """Return the terms of each sample; None where the output is no mean, or no entry gets terms from two samples.

    Of several means, such as a loss and a penalty, the first one whose rows share an entry counts.
    """
    output = point.run.output
    if point.value.size != 1 or not isinstance(output, Operation) or not output.active:
        return None
    kept: dict[int, Any] = {}
    cotangents(point.run.graph, output, point.seed, kept)
    means = (node for node, is_mean in averaged(output) if is_average(node, is_mean, kept, point))
    return next((samples for samples in (terms_of(of, kept, point) for of in means) if samples is not None), None)


def terms_of(of: Node, kept: Mapping[int, Any], point: Point) -> Samples | None:
    """Return the terms by the rows of what a mean is of; None where no entry of a gradient has terms of two."""
    output = point.run.output
    g, count = np.asarray(kept[of.index]), of.shape[0]
    places = range(count) if count <= MOST_SAMPLES else [*range(MOST_SAMPLES - 1), count - 1]
    weight = float(g.flat[0]) / float(np.ravel(point.seed)[0])
    losses = np.asarray(of.value).reshape(count, -1).sum(axis=1) * weight * count
    shown = [Sample(i, float(losses[i]), gradients_from(point, of, masked(g, i))) for i in places]
    if not any(is_shared(shown, name) for name in point.names):
        return None
    through = gradients_from(point, of, g)
    whole = gradients_from(point, output, point.seed)
    rest = {name: whole[name] - through[name] for name in point.names}
    passed = any(not np.allclose(whole[name], through[name], rtol=NEAR, atol=0.0) for name in point.names)
    return Samples(count, shown, rest if passed else {})


def averaged(output: Node) -> Iterator[tuple[Node, bool]]:
    """Yield what an output is a mean of, or a sum, with whether it is a mean: by sums, constants and reshapes alone."""
    stack, seen = [output], {output.index}
    while stack:
        node = stack.pop()
        if not isinstance(node, Operation):
            continue
        active = [a for a in node.arguments if isinstance(a, Node) and a.active]
        if not active:  # the output is a constant here
            continue
        if node.op in (SUM, MEAN) and node.value.size == 1 and active[0].value.size > 1:
            yield active[0], node.op is MEAN
        elif (
            node.op in (SUM, MEAN, ADD, SUB, NEG)
            or node.op.entries.moves
            or (node.op in (MUL, DIV) and len(active) == 1)
        ):
            stack += [a for a in active if a.index not in seen and a.value.size == 1]
            seen |= {a.index for a in active}


def is_average(node: Node, is_mean: bool, kept: Mapping[int, Any], point: Point) -> bool:
    """Return whether a value has samples along its first axis, and an output is a mean over them: of a sum, over n."""
    if node.index not in kept or node.shape[0] < FEWEST or not np.any(point.seed):
        return False
    weight = float(np.ravel(kept[node.index])[0]) / float(np.ravel(point.seed)[0])
    return is_mean or math.isclose(abs(weight) * node.shape[0], 1.0, rel_tol=NEAR)


def masked(g: Array, i: int) -> Array:
    """Return a cotangent with 0 for all samples but one."""
    alone = np.zeros_like(g)
    alone[i] = g[i]
    return alone


def gradients_from(point: Point, node: Node, g: Array) -> dict[str, Array]:
    """Return what a cotangent of a value on the way adds to the gradient of each variable."""
    found = backward(point.run.graph, node, g, [*point.leaves.values()])
    return dict(zip(point.names, found, strict=True))


def is_shared(samples: list[Sample], name: str) -> bool:
    """Return whether an entry of a gradient has terms of several samples."""
    return bool(np.any(sum((sample.grad[name] != 0).astype(int) for sample in samples) > 1))


# ---- One line for each question that beginners ask of a gradient: why a sum, which shape, where it goes,

MOST = 2
"""Lines of this kind that one answer has."""
MOST_NAMED = 3
"""Variables that a line names."""
MOST_ENTRIES = 6
"""Numbers of an array that a line spells out."""
MOST_NODES = 500
"""Operations that are looked at."""
MOST_READ = 200
"""Entries of J whose formulas are searched for a variable."""
BENDS = {"kink", "jump", "infinite-slope", "edge", "custom-backward", "hook"}
"""Kinds of notes on points and functions whose formulas do not hold around them."""


def note_questions(
    point: Point, nodes: Sequence[Node], jacobians: Mapping[str, Jacobian], definitions: Collection[str],
    notes: Sequence[Note],
) -> list[Note]:  # fmt: skip
    """Return the lines that a beginner most likely needs, two at the most; ``notes`` are those that come before them.

    ``nodes`` are those that y depends on, ``definitions`` the names that formulas use beyond the variables.
    """
    said = [
        *note_inner(point),
        *note_call(point.timeline),
        *note_broadcasts(find_broadcasts(nodes, point.leaves)),
        *note_shape(point),
        *note_linear(point, nodes, jacobians, definitions, notes),
    ]
    return said[:MOST]


def find_broadcasts(nodes: Sequence[Node], leaves: Mapping[str, Node]) -> list[Broadcast]:
    """Return the differentiated inputs that an elementwise operation repeats, with all uses of each counted.

    An input counts under what it became entry by entry, as ``-b``. One that is used in any other way is left out, as
    nobody can say how many terms that adds, and so is a long run.
    """
    behind = {leaf.index: (name, leaf) for name, leaf in leaves.items()}
    uses: dict[str, list[Operation]] = {}
    uncounted: set[str] = set()
    operations = [node for node in nodes if isinstance(node, Operation)] if len(nodes) <= MOST_NODES else []
    for node in operations:
        for k in node.links:
            one = behind.get(node.arguments[k].index)
            if one is None:
                continue
            name, leaf = one
            is_entrywise = node.op.formula is not None
            if (is_entrywise or node.op.entries.moves) and len(node.links) == 1 and leaf.value.size == node.value.size:
                behind[node.index] = one
            elif is_entrywise and 0 < leaf.value.size <= node.value.size:
                uses.setdefault(name, []).append(node)
            else:
                uncounted.add(name)
    return [
        Broadcast(name, leaf.shape, wider[0].shape, sum(node.value.size // leaf.value.size for node in uses[name]))
        for name, leaf in leaves.items()
        if name in uses
        and name not in uncounted
        and (wider := [node for node in uses[name] if node.value.size > leaf.value.size])
    ]


def note_broadcasts(found: Sequence[Broadcast]) -> list[Note]:
    """Say how often the entries of repeated inputs are used, and so how many terms their gradients are sums of."""
    if not found:
        return []
    first = found[0]
    same = [one.name for one in found if one.times == first.times]
    once = first.times * math.prod(first.shape) == math.prod(first.to)
    shape = f" to {first.to}" if len(same) == 1 and once else ""
    subject = f"{listed(same[:MOST_NAMED], len(same))} {'is' if len(same) == 1 else 'are'} broadcast{shape}"
    whole = len(same) == 1 and first.shape == ()
    used = f"used {first.times:,} times" if whole else f"each entry is used {first.times:,} times"
    grad = f"{same[0]}.grad adds" if len(same) == 1 else "its gradient adds"
    return [Note("broadcast", f"{subject}: {used}, so {grad} {first.times:,} terms.")]


def note_shape(point: Point) -> list[Note]:
    """Say that the gradient of a single output is a column, or a row, where its input is one."""
    if point.value.size != 1:
        return []
    for name, leaf in point.leaves.items():
        if len(leaf.shape) == 2 and 1 in leaf.shape and leaf.value.size > 1:
            kind = "column" if leaf.shape[1] == 1 else "row"
            return [Note("grad-shape", f"{name}.grad has the shape of {name}, {leaf.shape}: it is a {kind} too.")]
    return []


def note_call(timeline: Timeline | None) -> list[Note]:
    """Say what ``torch.autograd.grad`` returns, and what ``.grad`` is after it."""
    if timeline is None or timeline.explained is None:
        return []
    event = timeline.events[timeline.explained]
    if event.kind != "grad" or not AUTOGRAD.search(timeline.title) or not any(event.of):
        return []
    names = [name for name in event.of if name][:MOST_NAMED]
    grads = listed([f"{name}.grad" for name in names], sum(map(bool, event.of)))
    added = {name for before in timeline.events[: timeline.explained] for name in before.grad}
    verb = "stays" if len(names) == 1 else "stay"
    after = f"{verb} None" if added.isdisjoint(names) else f"{verb} as before"
    return [
        Note(
            "grad-returns",
            f"torch.autograd.grad returns a tuple with what is {grads} here; in PyTorch {grads} {after}.",
        )
    ]


AUTOGRAD = re.compile(r"autograd\.grad\(|(?<![.\w])grad\(")
"""A call of ``torch.autograd.grad``, under its whole name or imported."""


def note_inner(point: Point) -> list[Note]:
    """Say why a script finds None in ``h.grad`` of a value that it computes, and what would stand there."""
    program = point.function.program
    asked = program.ended.run.noting.inner if program.is_script and program.ended is not None else ()
    found = []
    for name in asked:
        node = dict(point.run.graph.bindings).get(program.identifier(name))
        if not isinstance(node, Operation):
            continue
        here = cotangent_at(point, node)
        if here is not None:
            kept = f"after {name}.retain_grad() it is {numbers_text(here)}"
            found.append(Note("inner-grad", f"{name}.grad is None, as {name} is computed and no leaf: {kept}."))
    return found[:1]


def cotangent_at(point: Point, node: Operation) -> Array | None:
    """Return the cotangent of a value on the way for the v of an answer; None where none reaches it."""
    run, kept = point.run, dict[int, Any]()
    if isinstance(run.output, Node) and run.output.active:
        cotangents(run.graph, run.output, point.seed, kept)
    return None if node.index not in kept else np.asarray(kept[node.index], dtype=np.float64)


def numbers_text(array: Array) -> str:
    """Return a small array as a list, and of a large one its shape."""
    return short_array(array) if array.size <= MOST_ENTRIES else f"an array of shape {array.shape}"


def note_linear(
    point: Point, nodes: Sequence[Node], jacobians: Mapping[str, Jacobian], definitions: Collection[str],
    notes: Sequence[Note],
) -> list[Note]:  # fmt: skip
    """Say what PyTorch does where a function without a second derivative is differentiated twice."""
    bends = len(nodes) > MOST_NODES or any(note.kind in BENDS for note in notes)
    if point.value.size != 1 or bends or not is_linear(jacobians, definitions) or keeps_variables(nodes):
        return []
    names = [name for name, j in jacobians.items() if np.any(j.values)]
    by = listed([*names[:MOST_NAMED]], len(names))
    here = " around this point" if chooses_by_value(point.run.graph) else ""
    raises = f"differentiating {names[0]}.grad raises in PyTorch"
    return [Note("linear", f"{point.name} is linear in {by}{here}: second derivatives are 0, and {raises}.")]


def is_linear(jacobians: Mapping[str, Jacobian], definitions: Collection[str]) -> bool:
    """Return whether no entry of J, which is not 0 everywhere, has a variable in its formula."""
    moves, entries = {*jacobians, *definitions}, [j.values for j in jacobians.values()]
    if sum(map(len, entries)) > MOST_READ or not any(map(np.any, entries)):
        return False
    return all(
        j.formulas is not None and all(moves.isdisjoint(NAME.findall(formula)) for formula in j.formulas)
        for j in jacobians.values()
    )


def keeps_variables(nodes: Sequence[Node]) -> bool:
    """Return whether PyTorch keeps a value that depends on a variable, so that the gradient has a graph of its own."""
    return any(
        k < 0 or (isinstance(node.arguments[k], Node) and node.arguments[k].active)
        for node in nodes
        if isinstance(node, Operation) and node.active
        for k in saved_places(node)
    )
