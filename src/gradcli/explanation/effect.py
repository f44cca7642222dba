"""What v did, what other v and each sample of a mean would leave, and a line for each question that beginners ask."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.engine.graph import Node, Operation
from gradcli.engine.reverse import backward
from gradcli.errors.hints import counted, index_of, listed, short_array
from gradcli.exact.work import ROUNDING
from gradcli.explanation.jacobians import Jacobian
from gradcli.explanation.notes import chooses_by_value
from gradcli.explanation.rereading import NAME
from gradcli.explanation.results import Backward, Dust, Note
from gradcli.language.torch_refusals import saved_places
from gradcli.ops.arithmetic import ADD, DIV, MUL, NEG, SUB
from gradcli.ops.links import Array, Mask
from gradcli.ops.reductions import MEAN, SUM
from gradcli.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gradcli.explanation.evaluation import Run
    from gradcli.explanation.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Nudge:
    """One entry of an input moved by a little, and how far L = v·y moves with it.

    - ``name``, ``index``: the variable, and the indices of the entry.
    - ``step``: how far it is moved.
    - ``slope``: the gradient there; ``predicted`` is its product with the step.
    - ``measured``: how far L moves when the program is run again; None where it has no value there, or rounding hides
      the move.
    """

    name: str
    index: tuple[int, ...]
    step: float
    slope: float
    predicted: float
    measured: float | None


@dataclass(frozen=True, slots=True)
class Weighted:
    """The gradients that another v would leave, by variable and in its shape.

    - ``grad``: the numbers.
    - ``dust``: where a number is no more than what rounding leaves of the terms that it is a sum of.
    """

    grad: dict[str, Array]
    dust: dict[str, Mask]


@dataclass(frozen=True, slots=True)
class Shared:
    """An entry of an input, by ``name`` and ``index``, on which several entries of y depend: ``rows``, in flat order.

    A dependence whose slope is 0 at this point does not count.
    """

    name: str
    index: tuple[int, ...]
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Broadcast:
    """An input that an operation repeats to another shape, so that its gradient adds a term for each use.

    - ``name``, ``shape``: the variable.
    - ``to``: the first shape that it is repeated to.
    - ``times``: how often each of its entries is used, in all operations together.

    >>> gradcli.explain("sum((x + b)**2)", x=[1.0, 2.0, 3.0], b=0.5).broadcasts
    [Broadcast(name='b', shape=(), to=(3,), times=3)]
    """

    name: str
    shape: tuple[int, ...]
    to: tuple[int, ...]
    times: int


@dataclass(frozen=True, slots=True)
class Passes:
    """How many passes give all of J: forward mode takes one for each input, reverse mode one for each output.

    - ``inputs``, ``outputs``: the entries of the differentiated variables, and of y.
    - ``coloured``: the reverse passes that are enough where rows which share no column go together; None where there
      are several variables, or the entries of J are not held.

    >>> gradcli.explain("sum(x**2)", x=[1.0, 2.0, 3.0]).passes.sentence
    'One reverse pass gives the gradient; forward mode takes 3, one for each input.'
    """

    inputs: int
    outputs: int
    coloured: int | None

    @property
    def sentence(self) -> str:
        """What both ways take, and why."""
        if self.outputs == 1:
            forward = f"takes {self.inputs:,}, one for each input" if self.inputs > 1 else "takes one too"
            return f"One reverse pass gives the gradient; forward mode {forward}."
        fewer = self.coloured is not None and self.coloured < self.outputs
        merged = f" ({self.coloured:,} if rows without a common column share a pass)" if fewer else ""
        reverse = f"{self.outputs:,} reverse passes, one for each output{merged}"
        return f"J: {reverse}, or {self.inputs:,} forward, one for each input."


@dataclass(frozen=True, slots=True)
class Trial:
    """The gradient of L = v·y in one entry beside the difference quotient (L(x + h) - L(x - h))/(2*h).

    - ``name``, ``index``: the variable, and the indices of the entry.
    - ``step``: h.
    - ``gradient``, ``quotient``: both numbers.
    - ``routes``: the largest distance between vᵀ·J and reverse mode, over all entries.
    - ``digits``: how many digits the quotient shares with the gradient; ``single``: how many rounding would leave of
      the best quotient in float32.

    >>> trial = gradcli.explain("x**3", x=1.5).trial
    >>> trial.gradient, round(trial.quotient, 8), trial.routes, trial.digits > 8
    (6.75, 6.75, 0.0, True)
    """

    name: str
    index: tuple[int, ...]
    step: float
    gradient: float
    quotient: float
    routes: float
    digits: int
    single: int

    @property
    def sentence(self) -> str:
        """What the quotient and the distance of the routes say of the gradient, and what says more."""
        entry = f"{self.name}[{','.join(map(str, self.index))}]" if self.index else self.name
        right = f"right to {counted(self.digits, 'digit')} (in float32 to {self.single})"
        return (
            f"The difference quotient by {entry} is {self.quotient:.6g}, {right}; J and reverse mode differ by "
            f"{self.routes:.2g}; gradcli check shows how many digits of each entry are right."
        )


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample, by its ``index`` along the first axis.

    - ``loss``: its own loss, of which the output is the mean.
    - ``grad``: what it adds to the gradient, by variable: already divided by the number of samples.
    """

    index: int
    loss: float
    grad: dict[str, Array]


@dataclass(frozen=True, slots=True)
class Samples:
    """The terms of the gradient of a mean over samples.

    - ``count``: how many samples there are.
    - ``shown``: a few of them, in order.
    - ``rest``: what reaches the gradient past the mean, such as that of a penalty on weights; empty where nothing does.

    >>> samples = gradcli.explain("mean((x*w - t)**2)", x=[1.0, 2.0], t=[1.0, 1.0], w=3.0, wrt=["w"]).samples
    >>> [(sample.loss, sample.grad["w"].item()) for sample in samples.shown]
    [(4.0, 2.0), (25.0, 10.0)]
    """

    count: int
    shown: list[Sample]
    rest: dict[str, Array]


@dataclass(frozen=True, slots=True)
class Effect:
    """What v did.

    - ``total``: L = v·y, the number that backward differentiates.
    - ``nudge``: an entry of an input moved by a little; None where no gradient is finite and other than 0.
    - ``sum``, ``mean``: what v = ones and v = 1/n would leave, the gradients of ``y.sum()`` and ``y.mean()``.
    - ``row``, ``of_row``: an entry of y in flat order, and what a v that is 1 there alone would leave: this row of J.
    - ``one_hot``: the row that v itself takes out of J; None where v is not 1 in one entry and 0 in all others.
    - ``usual``: ``sum`` or ``mean`` where v is one of these itself, empty where it is not.
    - ``shared``: why ones does not give the derivative of each output; None where each input moves one output at most.

    >>> effect = gradcli.explain("[x[0], x[0]*x[1]]", x=[2.0, 3.0], v=[1, 10]).effect
    >>> effect.total, effect.sum.grad["x"].tolist(), effect.shared
    (62.0, [4.0, 2.0], Shared(name='x', index=(0,), rows=(0, 1)))
    """

    total: float
    nudge: Nudge | None
    sum: Weighted
    mean: Weighted
    row: int
    of_row: Weighted
    one_hot: int | None
    usual: str
    shared: Shared | None


STEP = 0.001
"""How far an entry of about 1 is moved."""
DOUBLE_STEP, SINGLE_STEP = 6e-6, 5e-3
"""How far a quotient on both sides goes best from an entry of about 1, in float64 and in float32."""
EPS_SINGLE = 2.0**-24
"""Relative distance to which float32 rounds."""
SMALL = 0.01
"""Of the largest slope: entries with less are not worth a move."""


def weigh(
    run: Run, jacobians: Mapping[str, Jacobian], summed_grad: Mapping[str, Array], marks: Mapping[str, Dust]
) -> Effect:
    """Return what v did; ``summed_grad`` is what it left, ``marks`` say what is left of 0. Numbers may overflow."""
    v, y = np.ravel(run.seed), np.ravel(run.value)
    dust = {name: mark.entries for name, mark in marks.items()}
    grad = {name: np.where(marks[name].grad, 0.0, g) for name, g in summed_grad.items()}
    with np.errstate(all="ignore"):
        total, size, hot = float(v @ y), max(v.size, 1), np.flatnonzero(v)
        row, ones = other_row(v, jacobians), weighted(np.ones(run.value.shape), jacobians, dust)
        return Effect(
            total,
            nudge(run, grad, v, y) if math.isfinite(total) else None,
            ones,
            Weighted({name: g / size for name, g in ones.grad.items()}, ones.dust),
            row,
            weighted(np.eye(v.size, 1, -row).reshape(run.value.shape), jacobians, dust),
            int(hot[0]) if len(hot) == 1 and v[hot[0]] == 1 else None,
            "sum" if (v == 1).all() else "mean" if (v == 1 / size).all() else "",
            find_shared(jacobians),
        )


def weighted(v: Array, jacobians: Mapping[str, Jacobian], dust: Mapping[str, Mask]) -> Weighted:
    """Return what another v, in the shape of y, leaves; ``dust`` marks the entries of J that rounding has left of 0."""
    grad, lost = {name: jacobian.vjp(v) for name, jacobian in jacobians.items()}, {}
    for name, j in jacobians.items():
        used, count = np.ravel(v)[j.rows] != 0, j.matrix_shape[1]
        some = np.bincount(j.columns[used & dust[name]], minlength=count) > 0
        more = np.bincount(j.columns[used & (j.values != 0) & ~dust[name]], minlength=count) > 0
        lost[name] = dust_of(np.ravel(v), j, grad[name]) | (some & ~more).reshape(j.input_shape)
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
    left = dust_of(v, jacobian, vjp)
    right = left if np.array_equal(vjp, grad) else dust_of(v, jacobian, grad)
    return Dust(np.zeros(len(jacobian.values), dtype=bool), left, right)


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


def find_shared(jacobians: Mapping[str, Jacobian]) -> Shared | None:
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


def nudge(run: Run, grad: Mapping[str, Array], v: Array, y: Array) -> Nudge | None:
    """Move the first entry that has a slope worth a look, and measure how far L moves with it."""
    for name, g in grad.items():
        slopes = np.ravel(g)
        sizes = np.where(np.isfinite(slopes), np.abs(slopes), 0.0)
        usable = np.flatnonzero((sizes > 0) & (sizes >= SMALL * sizes.max(initial=0)))
        if len(usable):
            place = int(usable[0])
            slope, step = float(slopes[place]), step_at(float(np.ravel(run.inputs[name])[place]))
            measured = measure(v, y, run.moved(name, place, step), slope * step)
            return Nudge(name, index_of(place, g.shape), step, slope, slope * step, measured)
    return None


def try_quotient(run: Run, backward: Sequence[Backward], at: Nudge | None) -> Trial | None:
    """Return the gradient beside a difference quotient, in the entry that a nudge moves; None without a value there.

    The quotient is taken on both sides, so that the steps that suit it are the cube roots of the last digits.
    """
    if at is None:
        return None
    v, shape = np.ravel(run.seed), run.inputs[at.name].shape
    place = int(np.ravel_multi_index(at.index, shape)) if at.index else 0
    size = max(abs(float(np.ravel(run.inputs[at.name])[place])), 1.0)
    pairs = [(call.vjp[name], g) for call in backward for name, g in call.grad.items()]
    with np.errstate(all="ignore"):
        routes = max((float(np.max(np.abs(vjp - g), initial=0.0)) for vjp, g in pairs), default=0.0)
        moved = [run.moved(at.name, place, way * DOUBLE_STEP * size) for way in (1, -1)]
        if any(y is None or y.size != v.size or not np.isfinite(y).all() for y in moved):
            return None
        after, before = (np.ravel(y) for y in moved if y is not None)
        quotient = float(v @ (after - before)) / (2 * DOUBLE_STEP * size)
        rounding = EPS_SINGLE * float(np.abs(v) @ np.abs(after)) / (SINGLE_STEP * size)
    digits = shared_digits(abs(quotient - at.slope), at.slope, 15)
    single = shared_digits(rounding, at.slope, 7)
    return Trial(at.name, at.index, DOUBLE_STEP * size, at.slope, quotient, routes, digits, single)


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
    distance = float(v @ (after - y))
    noise = ROUNDING * float(np.abs(v) @ (np.abs(y) + np.abs(after)))
    return distance if math.isfinite(distance) and noise <= 1e-3 * abs(predicted) else None


MOST_SAMPLES = 8
"""Samples that are shown; of more the first seven and the last."""
FEWEST = 2
"""Samples that there are at least."""
NEAR = 1e-12
"""Relative distance below which a factor is 1/n."""


def find_samples(run: Run) -> Samples | None:
    """Return the terms of each sample; None where the output is no mean, or no entry gets terms from two samples.

    Of several means, such as a loss and a penalty, the first one whose rows share an entry counts.
    """
    if run.value.size != 1 or not isinstance(run.output, Operation) or not run.active:
        return None
    kept = run.cotangents()
    means = (node for node, is_mean in means_behind(run.output) if is_average(node, is_mean, kept, run))
    return next((samples for samples in (terms_of(of, kept, run) for of in means) if samples is not None), None)


def terms_of(of: Node, kept: Mapping[int, Any], run: Run) -> Samples | None:
    """Return the terms by the rows of what a mean is of; None where no entry of a gradient has terms of two."""

    def gradients(node: Node, g: Array) -> dict[str, Array]:
        return dict(zip(run.names, backward(run.graph, node, g, [*run.leaves.values()]), strict=True))

    g, count = np.asarray(kept[of.index]), of.shape[0]
    places = range(count) if count <= MOST_SAMPLES else [*range(MOST_SAMPLES - 1), count - 1]
    weight = float(g.flat[0]) / float(np.ravel(run.seed)[0])
    losses = np.asarray(of.value).reshape(count, -1).sum(axis=1) * weight * count
    shown = []
    for i in places:
        alone = np.zeros_like(g)
        alone[i] = g[i]
        shown.append(Sample(i, float(losses[i]), gradients(of, alone)))
    uses = {name: sum((sample.grad[name] != 0).astype(int) for sample in shown) for name in run.names}
    if not any(np.any(count > 1) for count in uses.values()):
        return None
    through, whole = gradients(of, g), gradients(run.output, run.seed)
    passed = any(not np.allclose(whole[name], through[name], rtol=NEAR, atol=0.0) for name in run.names)
    return Samples(count, shown, {name: whole[name] - through[name] for name in run.names} if passed else {})


def means_behind(output: Node) -> Iterator[tuple[Node, bool]]:
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


def is_average(node: Node, is_mean: bool, kept: Mapping[int, Any], run: Run) -> bool:
    """Return whether a value has samples along its first axis, and an output is a mean over them: of a sum, over n."""
    if node.index not in kept or node.shape[0] < FEWEST or not np.any(run.seed):
        return False
    weight = float(np.ravel(kept[node.index])[0]) / float(np.ravel(run.seed)[0])
    return is_mean or math.isclose(abs(weight) * node.shape[0], 1.0, rel_tol=NEAR)


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
    run: Run,
    nodes: Sequence[Node],
    jacobians: Mapping[str, Jacobian],
    definitions: Collection[str],
    notes: Sequence[Note],
) -> list[Note]:
    """Return the lines that a beginner most likely needs, two at the most; ``notes`` are those that come before them.

    ``nodes`` are those that y depends on, ``definitions`` the names that formulas use beyond the variables.
    """
    bends = len(nodes) > MOST_NODES or any(note.kind in BENDS for note in notes)
    said = [
        *note_inner(run),
        *note_call(run.timeline),
        *note_broadcasts(find_broadcasts(nodes, run.leaves)),
        *note_shape(run),
        *([] if bends else note_linear(run, nodes, jacobians, definitions)),
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


def note_broadcasts(broadcasts: Sequence[Broadcast]) -> list[Note]:
    """Say how often the entries of repeated inputs are used, and so how many terms their gradients are sums of."""
    if not broadcasts:
        return []
    first = broadcasts[0]
    same = [one.name for one in broadcasts if one.times == first.times]
    once = first.times * math.prod(first.shape) == math.prod(first.to)
    shape = f" to {first.to}" if len(same) == 1 and once else ""
    subject = f"{listed(same[:MOST_NAMED], len(same))} {'is' if len(same) == 1 else 'are'} broadcast{shape}"
    whole = len(same) == 1 and first.shape == ()
    used = f"used {first.times:,} times" if whole else f"each entry is used {first.times:,} times"
    grad = f"{same[0]}.grad adds" if len(same) == 1 else "its gradient adds"
    return [Note("broadcast", f"{subject}: {used}, so {grad} {first.times:,} terms.")]


def note_shape(run: Run) -> list[Note]:
    """Say that the gradient of a single output is a column, or a row, where its input is one."""
    if run.value.size != 1:
        return []
    for name, leaf in run.leaves.items():
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
    text = f"torch.autograd.grad returns a tuple with what is {grads} here; in PyTorch {grads} {after}."
    return [Note("grad-returns", text)]


AUTOGRAD = re.compile(r"autograd\.grad\(|(?<![.\w])grad\(")
"""A call of ``torch.autograd.grad``, under its whole name or imported."""


def note_inner(run: Run) -> list[Note]:
    """Say why a script finds None in ``h.grad`` of a value that it computes, and what would stand there."""
    program = run.function.program
    asked = program.ended.run.noting.inner if program.is_script and program.ended is not None else ()
    for name in asked:
        node = dict(run.graph.bindings).get(program.identifier(name))
        g = run.cotangents().get(node.index) if isinstance(node, Operation) else None
        if g is not None:
            g = np.asarray(g, dtype=np.float64)
            text = short_array(g) if g.size <= MOST_ENTRIES else f"an array of shape {g.shape}"
            why = f"{name}.grad is None, as {name} is computed and no leaf: after {name}.retain_grad() it is {text}."
            return [Note("inner-grad", why)]
    return []


def note_linear(
    run: Run, nodes: Sequence[Node], jacobians: Mapping[str, Jacobian], definitions: Collection[str]
) -> list[Note]:
    """Say what PyTorch does where a function without a second derivative is differentiated twice."""
    if run.value.size != 1 or not is_linear(jacobians, definitions) or keeps_variables(nodes):
        return []
    names = [name for name, j in jacobians.items() if np.any(j.values)]
    by = listed([*names[:MOST_NAMED]], len(names))
    here = " around this point" if chooses_by_value(run.graph) else ""
    raises = f"differentiating {names[0]}.grad raises in PyTorch"
    return [Note("linear", f"{run.name} is linear in {by}{here}: second derivatives are 0, and {raises}.")]


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
