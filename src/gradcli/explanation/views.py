"""What an answer holds only where it was asked for: parts of J, J·u, second derivatives, descent."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gradcli.engine.graph import Node, Operation, reaches
from gradcli.engine.naming import label_entries
from gradcli.errors import GivenUp, GradcliError, over_budget
from gradcli.errors.hints import counted, index_of
from gradcli.exact.real import digits
from gradcli.exact.slopes import Exact, finite
from gradcli.exact.work import Spent
from gradcli.explanation.confirmation import Confirmation, unasked
from gradcli.explanation.evaluation import Run, Source
from gradcli.explanation.explained import Explained
from gradcli.explanation.jacobians import Jacobian, agrees, one_hot, weighted_sums
from gradcli.explanation.notes import tell_bend
from gradcli.explanation.results import Note, Proof
from gradcli.explanation.suspicion import RUNS, count_work
from gradcli.jacobian.passes import Passes
from gradcli.jacobian.sparse import Pattern, count_passes
from gradcli.language.values import as_input
from gradcli.ops.declare import Array


@dataclass(frozen=True, slots=True)
class Slice:
    """A row or a column of J that was asked for: ``kind`` says which, ``index`` where it stands in y or the variable.

    ``label`` is what the entry there is called. ``values`` are arrays by variable: a row has one for each, in its
    shape, a column one in the shape of y.
    """

    kind: str
    label: str
    index: tuple[int, ...]
    values: dict[str, Array]

    def title(self, output: str, variable: str, d: str = "d") -> str:
        """Return what the array of a variable is: ``dy[3]/dW`` or ``dy/dW[0,5]``."""
        return f"{d}{self.label}/{d}{variable}" if self.kind == "row" else f"{d}{output}/{d}{self.label}"


@dataclass(frozen=True, slots=True)
class OneHot:
    """One call of backward with a v that is 1 in the entry of y at ``index`` alone, and what it leaves in ``.grad``."""

    index: tuple[int, ...]
    grad: dict[str, Array]


@dataclass(frozen=True, slots=True)
class Rows:
    """All of J by calls of backward with one-hot v, ``.grad`` set to zero before each: each call leaves a row of J.

    - ``calls``: in the order of the entries of y.
    - ``colouring``: how many calls are enough where rows that share no column go together; None where not known.
    - ``proof``: whether they are the rows of the symbolic J.

    >>> rows = gradcli.explain("x**2", x=[1.0, 2.0], v=[1, 1]).rows()
    >>> [call.grad["x"].tolist() for call in rows.calls], rows.colouring
    ([[2.0, 0.0], [0.0, 4.0]], 1)
    """

    calls: list[OneHot]
    colouring: int | None
    proof: Proof


@dataclass(frozen=True, slots=True)
class Moved:
    """A value of the program on both passes.

    - ``tangent``: how fast it moves with u, what the forward pass carries.
    - ``cotangent``: how fast v·y moves with it, what the backward pass carries; None where that does not reach it.
    """

    name: str
    tangent: Array
    cotangent: Array | None


@dataclass(frozen=True, slots=True)
class Tangent:
    """J·u, the derivative of y along u, by one forward pass.

    - ``u``: the direction, an array for each differentiated variable.
    - ``jvp``: J·u in the shape of y.
    - ``passes``: what both passes carry, in the order of the program: inputs, values with a name, y.
    - ``number``: v·(J·u), which is (vᵀ·J)·u.
    - ``forward``, ``backward``: how many passes each way give all of J: entries of the inputs, entries of y.
    - ``proof``: how far J·u is right.

    >>> tangent = gradcli.explain("x**2", x=[1.0, 2.0], v=[1, 1]).jvp([1, 10])
    >>> tangent.jvp.tolist(), tangent.number, tangent.proof.digits
    ([2.0, 40.0], 42.0, 16.0)
    """

    u: dict[str, Array]
    jvp: Array
    passes: list[Moved]
    number: float
    forward: int
    backward: int
    proof: Proof


@dataclass(frozen=True, slots=True)
class Hessian:
    """The second derivative of y, or of v·y where y has several entries: the Jacobian of the gradient.

    - ``name``, ``value``: what the gradient is called as an output of its own, and its numbers: by one variable in its
      shape, by several flat, one after the other.
    - ``formulas``: a text for each entry of it; None where they are too many or too long.
    - ``whole``: its Jacobian by each variable: H.
    - ``definitions``: the names that formulas use beyond the variables, in an order in which they can be run.
    - ``source``: what all else is computed from when it is read.
    - ``u``, ``product``: a direction, and H·u in the shapes of the variables; None where no u was given.
    - ``symmetric``: whether H is its own transpose, but for rounding; None where its entries are not held.
    - ``proof``: how far H and H·u are right.

    >>> found = gradcli.explain("x**3", x=2.0).hessian()
    >>> block = found.blocks["x", "x"]
    >>> block.formulas, block.values.tolist(), found.symmetric
    (['6*x'], [12.0], True)
    """

    name: str
    value: Array
    formulas: list[str] | None
    whole: dict[str, Jacobian]
    definitions: dict[str, str]
    source: Source = field(repr=False)
    u: dict[str, Array] | None
    product: dict[str, Array] | None
    symmetric: bool | None
    proof: Proof

    @property
    def spans(self) -> dict[str, slice]:
        """Which entries of the gradient, in flat order, belong to each variable."""
        spans, start = {}, 0
        for name, jacobian in self.whole.items():
            stop = start + jacobian.matrix_shape[1]
            spans[name] = slice(start, stop)
            start = stop
        return spans

    @property
    def gradient(self) -> dict[str, list[str]] | None:
        """The formulas of the gradient by each variable, in flat order; None where they are too many or too long."""
        texts = self.formulas
        return None if texts is None else {name: texts[span] for name, span in self.spans.items()}

    @property
    def blocks(self) -> dict[tuple[str, str], Jacobian]:
        """By the names of two variables, the derivative of the gradient by the first by the second."""
        whole = self.whole
        if len(whole) == 1:
            return {(name, name): jacobian for name, jacobian in whole.items()}
        return {
            (one, other): rows_of(jacobian, span, whole[one].input_shape)
            for one, span in self.spans.items()
            for other, jacobian in whole.items()
        }


def rows_of(whole: Jacobian, span: slice, shape: tuple[int, ...]) -> Jacobian:
    """Return the rows of a Jacobian by a stretch of its output, which has this shape of its own."""
    if not whole.held:
        return replace(whole, output_shape=shape, index_rules=[])
    inside = np.flatnonzero((whole.rows >= span.start) & (whole.rows < span.stop))
    size = (span.stop - span.start, whole.matrix_shape[1])
    pattern = Pattern(whole.rows[inside] - span.start, whole.columns[inside], size)
    formulas = None if whole.formulas is None else [whole.formulas[k] for k in inside.tolist()]
    return Jacobian(shape, whole.input_shape, pattern, whole.values[inside], whole.sizes[inside], formulas)


@dataclass(frozen=True, slots=True)
class DescentStep:
    """One step of gradient descent, from ``inputs``, where v·y is ``value`` and its gradient ``grad``.

    - ``predicted``: how far v·y moves by the gradient, -lr·|grad|².
    - ``actual``: how far it moves.
    """

    inputs: dict[str, Array]
    value: float
    grad: dict[str, Array]
    predicted: float
    actual: float


@dataclass(frozen=True, slots=True)
class Descent:
    """Gradient descent on y, or on v·y where y has several entries.

    - ``lr``: how far each step goes: x becomes x - lr·x.grad.
    - ``steps``: the steps that were taken.
    - ``inputs``, ``value``: where it ended.
    - ``asked``: how many steps were asked for.
    - ``ending``: why there are fewer, empty where there are not.
    - ``remarks``: whether it diverges.
    """

    lr: float
    steps: list[DescentStep]
    inputs: dict[str, Array]
    value: float
    asked: int
    ending: str
    remarks: list[Note]

    @property
    def proof(self) -> Proof:
        """That its numbers are compared with nothing, and the remarks."""
        return Proof(remarks=self.remarks)


COLUMN = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:\[([^\]]*)\])?\s*\Z")
MOST_SLICES = 1_000
"""Rows and columns that one answer gives."""


def slices_at(answer: Explained, rows: Sequence[str], columns: Sequence[str]) -> list[Slice]:
    """Return these rows and columns of J; raises ``option`` for a place that is none."""
    if len(rows) + len(columns) > MOST_SLICES:
        raise GradcliError("option", f"{len(rows) + len(columns):,} rows and columns are more than {MOST_SLICES:,}")
    return [*(row_at(answer, text) for text in rows), *(column_at(answer, text) for text in columns)]


def row_at(answer: Explained, text: str) -> Slice:
    """Return the row of an entry of y, by each variable."""
    index = read_index(text, answer.output.shape, f"--row '{text[:40]}'", answer.name)
    values = {name: jacobian.row(index) for name, jacobian in answer.jacobian.items()}
    return Slice("row", answer.name + index_text(index), index, values)


def column_at(answer: Explained, text: str) -> Slice:
    """Return the column of an entry of one variable."""
    option = f"--column '{text[:40]}'"
    match = COLUMN.match(text)
    if match is None:
        raise GradcliError("option", f"{option} is not NAME[INDEX]", hint="for example --column 'W[0,5]'")
    name, inside = match.groups()
    if name not in answer.jacobian:
        hint = f"one of {', '.join(answer.jacobian)}"
        raise GradcliError("option", f"{option}: {name} is not differentiated", hint=hint)
    jacobian = answer.jacobian[name]
    index = read_index(inside or "", jacobian.input_shape, option, name)
    return Slice("column", name + index_text(index), index, {name: jacobian.column(index)})


def read_index(text: str, shape: tuple[int, ...], option: str, name: str) -> tuple[int, ...]:
    """Return an index with one number for each axis, counted from the end where it is negative; raises ``option``."""
    words = [word.strip() for word in text.split(",")] if text.strip() else []
    numbers = [int(word) for word in words if re.fullmatch(r"[+-]?[0-9]{1,9}", word)]
    if len(numbers) != len(words) or len(numbers) != len(shape):
        example = ",".join("0" * len(shape))
        place = f"'{name}[{example}]'" if option.startswith("--column") else example
        hint = f"for example {option.split(maxsplit=1)[0]} {place}" if shape else "it needs no index"
        message = f"{option}: {name} has shape {shape}, and its index is a number for each axis"
        raise GradcliError("option", message, hint=hint)
    if not all(-n <= number < n for number, n in zip(numbers, shape, strict=True)):
        last = ",".join(str(n - 1) for n in shape)
        ends = f"the last entry is {last}" if all(shape) else None
        raise GradcliError("option", f"{option}: {name} has shape {shape}, and no entry there", hint=ends)
    return tuple(number % n for number, n in zip(numbers, shape, strict=True))


def index_text(index: tuple[int, ...]) -> str:
    """Return an index in brackets, nothing for that of a number."""
    return f"[{','.join(map(str, index))}]" if index else ""


MOST_CALLS = 10_000
"""Calls of backward that one answer makes."""
MOST_NUMBERS = 1_000_000
"""Entries of J that they may leave, and of inputs and gradients that steps of descent hold."""


def call_rows(run: Run, jacobians: Mapping[str, Jacobian]) -> Rows:
    """Return what a call of backward leaves for each entry of y; raises ``option`` where these are too many."""
    shape, count = run.value.shape, run.value.size
    numbers = count * sum(leaf.value.size for leaf in run.leaves.values())
    if count > MOST_CALLS or numbers > MOST_NUMBERS:
        raise GradcliError(
            "option",
            f"--rows: {run.name} has {count:,} entries, and J {numbers:,}; it makes at most {MOST_CALLS:,} calls "
            f"for {MOST_NUMBERS:,} entries",
            hint="--row INDEX shows one row",
        )
    calls, within, finite = [], True, True
    for place in range(count):
        run.graph.meter.watch()
        v = one_hot(shape, place)
        grad = run.gradients(v)
        calls.append(OneHot(index_of(place, shape), grad))
        for name, jacobian in jacobians.items():
            within = within and agrees(grad[name], jacobian.vjp(v), jacobian.scale(v))
            finite = finite and bool(np.isfinite(grad[name]).all())
    notes = [] if within else [Note("rows-differ", "A row by reverse mode is not the row of the symbolic J.")]
    return Rows(calls, colours(jacobians), Proof("agree" if within else "differ", finite, None, notes))


def colours(jacobians: Mapping[str, Jacobian]) -> int | None:
    """Return how many calls give all of J by all variables; None where that is not known."""
    if not all(jacobian.held for jacobian in jacobians.values()):
        return None
    if not jacobians:
        return 0
    starts = np.cumsum([0, *(jacobian.matrix_shape[1] for jacobian in jacobians.values())])
    rows = np.concatenate([jacobian.rows for jacobian in jacobians.values()])
    columns = np.concatenate([j.columns + start for j, start in zip(jacobians.values(), starts, strict=False)])
    order = np.argsort(rows, kind="stable")
    return count_passes(rows[order], columns[order])


def move(run: Run, jacobians: Mapping[str, Jacobian], u: Mapping[str, Array], grad: Mapping[str, Array]) -> Tangent:
    """Return J·u, and what the passes carry in both directions. ``grad`` is what v leaves in ``.grad``."""
    output, names, shape = run.output, run.named, run.value.shape
    tangents, sizes = carry(run, u)
    index = output.index if isinstance(output, Node) else -1
    jvp, kept = tangents.get(index, np.zeros(shape)), run.cotangents()
    moved = [
        Moved(names[node.index], tangents.get(node.index, np.zeros(np.shape(node.value))), kept.get(node.index))
        for node in (reaches(output) if isinstance(output, Node) else run.leaves.values())
        if node.index in names and (node.active or node.index == index)
    ]
    with np.errstate(all="ignore"):
        number = float(np.sum(run.seed * jvp))
        back = sum(float(np.sum(grad[name] * u[name])) for name in u)
        same = agrees(np.asarray(number), np.asarray(back), np.asarray(np.sum(np.abs(run.seed) * sizes)))
        if not (math.isfinite(number) and math.isfinite(back)):
            same = True
        if all(jacobian.held for jacobian in jacobians.values()):
            parts = [
                weighted_sums(np.ravel(u[name]), j.columns, j.rows, j.values, j.matrix_shape[0]).reshape(shape)
                for name, j in jacobians.items()
            ]
            same = same and agrees(jvp, np.asarray(sum(parts[1:], parts[0])), sizes)
    proof = confirm_along(run, u, jvp, sizes)
    if not same:
        note = Note("jvp-differs", "J·u by the forward pass is not what J, or reverse mode, makes of u.")
        proof = Proof("differ", proof.finite, proof.digits, [*proof.remarks, note])
    entries = sum(step.size for step in u.values())
    return Tangent(dict(u), jvp, moved, number, entries, run.value.size, proof)


def carry(run: Run, u: Mapping[str, Array]) -> tuple[dict[int, Array], Array]:
    """Return how fast each value moves with u, by node index, and the sizes of the terms that J·u adds up."""
    output, still = run.output, np.zeros(run.value.shape)
    if not isinstance(output, Operation) or not output.active:
        steps = {leaf.index: u[name] for name, leaf in run.leaves.items()}
        return steps, np.abs(steps.get(getattr(output, "index", -1), still))
    passes = Passes(output, list(run.leaves.values()), run.graph)
    moved = passes.tangents({leaf.index: np.reshape(u[name], (1, -1)) for name, leaf in run.leaves.items()})
    nodes = run.graph.nodes
    tangents = {index: part.values.reshape(np.shape(nodes[index].value)) for index, part in moved.items()}
    return tangents, moved[output.index].sizes.reshape(still.shape) if output.index in moved else still


def confirm_along(run: Run, u: Mapping[str, Array], jvp: Array, sizes: Array) -> Proof:
    """Hold J·u against the derivative along u in many digits."""
    judged = Confirmation("direction")
    finite_all = bool(np.all(np.isfinite(jvp)))
    if not jvp.size or not any(np.any(step) for step in u.values()):
        return Proof("agree", finite_all)
    most = run.graph.budget.work
    if RUNS * count_work(run.graph) > most:
        return unasked(finite_all, most)
    label, flat, terms = label_entries(run.name, jvp.shape), np.ravel(jvp), np.ravel(sizes).tolist()
    slope = None
    try:
        with digits(60):
            exact = Exact(run.function.program, run.inputs, run.names)
            slope = exact.along(u, list(map(finite, terms)), [list(map(finite, flat.tolist()))])
    except Spent:
        return unasked(finite_all, most)
    except GivenUp:
        raise
    except GradcliError as error:
        judged.unknown = error.message
        return judged.proof(finite_all, "J·u")
    for i, (true, side) in enumerate(zip(slope.values, slope.sides, strict=True)):
        place = f"J·u for {label(i)}"
        tell_bend(judged.bends, side, label(i), "u", f" J·u takes {flat[i]:.6g}.")
        if np.isfinite(flat[i]) and true.is_nan():
            judged.leave(place, side.kind)
        elif np.isfinite(flat[i]):
            judged.judge("jvp", float(flat[i]), true, float(terms[i]), place)
    return judged.proof(finite_all, "J·u")


def read_u(parts: Mapping[str, object], shapes: Mapping[str, tuple[int, ...]]) -> tuple[dict[str, Array], list[Note]]:
    """Return u by variable, in its shape, and notes on what was reshaped; variables that are not given do not move.

    ``parts`` has values by name; the name ``""`` stands for the only variable. Raises ``option``, ``shape``, ``value``.
    """
    ways = " ".join(f"--jvp {name}=..." for name in list(shapes)[:3])
    result = {name: np.zeros(shape) for name, shape in shapes.items()}
    notes = []
    for key, value in parts.items():
        if not key and len(shapes) != 1:
            message = f"--jvp: there are {len(shapes)} variables, and u has a part for each"
            hint = f"name the one that moves: {ways}; the others stay where they are"
            raise GradcliError("option", message, hint=hint)
        name = key or next(iter(shapes))
        if name not in shapes:
            raise GradcliError("option", f"--jvp: {name} is not differentiated", hint=f"one of {', '.join(shapes)}")
        u = np.asarray(as_input("u", value))
        if u.size != math.prod(shapes[name]):
            hint = f"give {counted(math.prod(shapes[name]), 'number')}, one for each entry of {name}"
            raise GradcliError("shape", f"u has shape {u.shape}, {name} has shape {shapes[name]}", hint=hint)
        if u.shape != shapes[name]:
            text = f"u came in shape {u.shape} and is read in that of {name}, {shapes[name]}."
            notes.append(Note("u-reshaped", text))
        result[name] = u.reshape(shapes[name])
    return result, notes


TRIED = 12
"""Smaller steps that are tried where one is too large, each a tenth of the one before."""
MOST_COST = 10
"""How often all steps together may cost what the budget allows one run."""
MOST_TRIED = 20
"""Steps that each of them takes."""


def descend(run: Run, lr: float, count: int) -> Descent:
    """Return ``count`` steps x ← x - lr·x.grad on v·y, fewer where y is no longer finite, or they cost too much.

    Raises ``budget`` for more steps than the turns of a loop, or than can be held, and ``option`` for a y that is not
    finite.
    """
    budget = run.function.program.budget
    if count > budget.turns:
        raise over_budget("turns", budget.turns, f"--iterations {count:,}")
    numbers = 2 * sum(leaf.value.size for leaf in run.leaves.values()) * count
    if numbers > MOST_NUMBERS:
        message = f"--iterations {count:,} would hold {numbers:,} numbers, more than {MOST_NUMBERS:,}"
        raise GradcliError("budget", message, hint="take fewer steps, or fewer variables with --wrt")
    steps = take_descent(run, lr, count)
    return replace(steps, remarks=diverges(run, steps))


def take_descent(run: Run, lr: float, count: int) -> Descent:
    """Return at most ``count`` steps with ``lr``, and why there are no more."""

    def moving(inputs: Mapping[str, Array]) -> dict[str, Array]:
        return {name: np.asarray(inputs[name]) for name in run.names}

    inputs, ending = dict(run.inputs), ""
    y, grad, cost = evaluated(run, inputs)
    steps: list[DescentStep] = []
    with np.errstate(all="ignore"):
        while len(steps) < count:
            ending = why_stopped(y, grad) or ("more would cost too much" if cost > MOST_COST else "")
            if ending:
                break
            further = {**inputs, **{name: inputs[name] - lr * grad[name] for name in run.names}}
            try:
                after, next_grad, step_cost = evaluated(run, further)
            except GivenUp:
                raise
            except GradcliError as error:
                ending = f"the next step leads where the program has no value: {error.message}"
                break
            if after.shape != y.shape:
                ending = f"the next step leads to a {run.name} of another shape"
                break
            predicted = -lr * sum(float(np.sum(g * g)) for g in grad.values())
            here, actual = float(np.sum(run.seed * y)), float(np.sum(run.seed * (after - y)))
            steps.append(DescentStep(moving(inputs), here, grad, predicted, actual))
            inputs, y, grad, cost = further, after, next_grad, cost + step_cost
        return Descent(lr, steps, moving(inputs), float(np.sum(run.seed * y)), count, ending, [])


def evaluated(run: Run, inputs: Mapping[str, Array]) -> tuple[Array, dict[str, Array], float]:
    """Return y at a point, the gradient of v·y there, and which part of the budget of one run that took.

    There is no gradient where y has another shape than v.
    """
    there, budget = run.function.evaluate(dict(inputs), record=False), run.function.program.budget
    cost = max(len(there.graph.nodes) / budget.nodes, there.graph.meter.elements / budget.total)
    return there.value, there.gradients(run.seed) if there.value.shape == run.seed.shape else {}, cost


def why_stopped(y: Array, grad: Mapping[str, Array]) -> str:
    """Return why there is no next step; empty where there is one."""
    if not np.all(np.isfinite(y)):
        return "the value is not finite"
    if not all(np.all(np.isfinite(g)) for g in grad.values()):
        return "the gradient is not finite"
    return "" if any(np.any(g) for g in grad.values()) else "the gradient is 0"


def diverges(run: Run, descent: Descent) -> list[Note]:
    """Return what is to be said where v·y grows, or is lost, although each step was to lower it."""
    steps, last = descent.steps, descent.value
    if not steps or (math.isfinite(last) and last <= steps[0].value):
        return []
    late = steps[-min(3, len(steps)) :]
    if not all(step.actual > 0 or not math.isfinite(step.actual) for step in late) or not any(
        s.predicted for s in late
    ):
        return []
    went = f"to {last:.6g}" if math.isfinite(last) else "where it is nan" if math.isnan(last) else "beyond all numbers"
    smaller = (float(f"{descent.lr / 10**k:.6g}") for k in range(1, TRIED + 1))
    # No more steps are tried with each than are shown.
    trials = (take_descent(run, lr, min(descent.asked, MOST_TRIED)) for lr in smaller)
    lower = (one.lr for one in trials if one.steps and math.isfinite(one.value) and one.value < one.steps[0].value)
    better = next(lower, None)
    hint = "No smaller step that was tried comes down." if better is None else f"Try --lr {better:g}."
    text = f"It diverges: each step was to lower the value, and it went from {steps[0].value:.6g} {went}. "
    why = f"--lr {descent.lr:g} is too large a step here: the slope changes on the way. {hint}"
    return [Note("diverges", text + why)]
