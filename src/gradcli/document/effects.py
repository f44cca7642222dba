"""What v did: each sum of vᵀ·J, the number that backward differentiates, what another v would leave, repeated calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gradcli.document.jacobian import indexed, is_one_row
from gradcli.document.model import Cell, Column, Equation, Equations, Mark, Part, Prose, Section, Settings, Table, Term
from gradcli.document.texts import MOST_PRECISE, array_text, in_brackets, short
from gradcli.document.verdicts import NEAR, is_same
from gradcli.engine.naming import place_text
from gradcli.errors.hints import counted

if TYPE_CHECKING:
    from gradcli.explanation.effect import Effect, Nudge, Shared, Weighted
    from gradcli.explanation.explained import Explained
    from gradcli.explanation.jacobians import Jacobian
    from gradcli.ops.declare import Array
    from gradcli.ops.links import Mask

MOST_SUMS, FIRST_SUMS = 8, 3
"""Sums up to which all are spelled out, and how many are of more than that."""
MOST_TERMS = 6
"""Terms of a sum; of more the first three and the last stand for all."""
MOST_NAMED = 3
"""Entries of y that are named as depending on one input."""
MOST_CALLS = 12
MOST_COUNTED = 12
"""Entries of y up to which the calls are counted that all of J takes: beyond, J is headed by its passes."""
MOST_ENTRIES = 6
"""Entries of a gradient that another v would leave which are all shown."""
SHORT_NUMBERS = 4
"""Digits of how far L moves."""
VISIBLE = 2e-3
"""Relative distance from which what was measured is told beside what was predicted."""


def sums_section(answer: Explained, settings: Settings) -> Section:
    """Return ``x.grad[j] = v[0]·6 + … = 1·6 + … = 26`` for each entry that is a sum of several terms."""
    if answer.output.size < 2:
        return Section("sums")
    rows: list[Equation | str] = []
    count, most = 0, settings.most(MOST_SUMS)
    for name, jacobian in answer.jacobian.items():
        several = np.flatnonzero(np.bincount(jacobian.columns, minlength=1) > 1)
        count += len(several)
        rows += [sum_of(answer, name, jacobian, int(j), settings) for j in several[: most - len(rows)]]
    if count > most:
        rows = [*rows[:FIRST_SUMS], f"and {counted(count - FIRST_SUMS, 'more sum')} of this kind"]
    return Section("sums", "", (Equations(tuple(rows)),)) if rows else Section("sums")


def sum_of(answer: Explained, name: str, jacobian: Jacobian, j: int, settings: Settings) -> Equation:
    """Return one sum, its terms with as many digits as it takes for them to add up to what is shown."""
    chosen = np.flatnonzero(jacobian.columns == j)
    values, rows = jacobian.values[chosen], jacobian.rows[chosen].tolist()
    v = np.ravel(answer.seed)[rows]
    is_dust = bool(np.ravel(answer.dust[name].vjp)[j])
    total = 0.0 if is_dust else float(np.ravel(answer.vjp[name])[j])

    def added(precision: int) -> float:
        """Return the sum of the terms as they are shown; a zero wins over inf and nan."""
        pairs = [(float(short(a, precision)), float(short(b, precision))) for a, b in zip(v, values, strict=True)]
        return float(sum(0.0 if a == 0 or b == 0 else a * b for a, b in pairs))

    steps = (settings.precision, *(digits for digits in (12, MOST_PRECISE) if digits > settings.precision))
    digits = next((digits for digits in steps if is_same(added(digits), total, NEAR)), settings.precision)
    exact = short(added(digits), settings.precision) == short(total, settings.precision)
    numbers = [in_brackets(short(value, digits)) for value in values]
    names = [f"v{place_text(row, answer.output.shape)}" for row in rows]
    shown = [in_brackets(short(value, digits)) for value in v]
    sides = tuple(
        terms_of_sum([f"{a}·{b}" for a, b in zip(first, numbers, strict=True)], rows, settings)
        for first in (names, shown)
    )
    whole = f"{name}.grad" if answer.agreement.agree else "vᵀ·J"
    left = f"{whole}{place_text(j, jacobian.input_shape)}"
    return Equation(left, sides, total, near=not exact or is_dust)


def terms_of_sum(texts: Sequence[str], rows: Sequence[int], settings: Settings) -> tuple[Term, ...]:
    """Return terms with the rows that they come from; of many the middle is left out."""
    whole = [Term(text, row) for text, row in zip(texts, rows, strict=True)]
    if len(whole) <= settings.most(MOST_TERMS):
        return tuple(whole)
    last = Term(f"{whole[-1].text}  ({counted(len(whole), 'term')})", whole[-1].row)
    return (*whole[:3], Term(Mark.COLUMN_GAP.value), last)


def effect_section(answer: Explained, settings: Settings) -> Section:
    """Return what v did; nothing where there is no choice: one output and v = 1."""
    if is_one_row(answer) or not answer.output.size:
        return Section("effect")
    letter = free_letter(answer)
    each = [f"{name}.grad = ∂{letter}/∂{name}" for name in answer.differentiated]
    grads = ", ".join(each) if len(each) <= MOST_NAMED else f"{each[0]}, and so on for the others"
    first = f"{weighted_sum(answer, settings)}, and {grads}."
    if answer.output.size == 1 or not answer.agreement.finite:
        return Section("effect", "What v did", (Prose((first,)),))
    effect = answer.effect
    nudge = [] if effect.nudge is None else [nudge_text(answer, effect.nudge, settings)]
    above, others = other_choices(answer, effect, settings)
    below = [*shared_texts(answer, effect.shared), *flattened_texts(answer)]
    parts: list[Part] = [Prose((first, *nudge, *above)), others, *([Prose(tuple(below))] if below else [])]
    return Section("effect", "What v did", tuple(parts))


def free_letter(answer: Explained) -> str:
    """Return what to call the number that backward differentiates: L, unless the program has an L."""
    taken = {*answer.inputs, *answer.definitions, answer.name}
    return next(letter for letter in ("L", "loss", "L_", "L__") if letter not in taken)


def scalar_name(answer: Explained) -> str:
    """Return what is differentiated twice: y, or L = v·y where that is another number."""
    return answer.name if answer.output.size == 1 and answer.seed.item() == 1 else free_letter(answer)


def weighted_sum(answer: Explained, settings: Settings) -> str:
    """Return ``L = v·y = 1·y[0] + 10·y[1] = 173``."""
    seed, shape, precision = np.ravel(answer.seed), answer.output.shape, settings.precision
    most = settings.most(MOST_TERMS)
    places = list(range(seed.size)) if seed.size <= most else [0, 1, 2, seed.size - 1]
    parts = [f"{in_brackets(short(seed[i], precision))}·{answer.name}{place_text(i, shape)}" for i in places]
    if seed.size > most:
        parts.insert(-1, "…")
    whole = [f"v·{answer.name}", " + ".join(parts), short(answer.effect.total, precision)]
    return f"{free_letter(answer)} = {' = '.join(dict.fromkeys(whole))}"


def nudge_text(answer: Explained, nudge: Nudge, settings: Settings) -> str:
    """Return how far L moves with an entry: predicted, and measured by running the program there."""
    letter, step = free_letter(answer), short(nudge.step)
    slope = in_brackets(short(nudge.slope, settings.precision))
    entry, predicted = indexed(nudge.name, nudge.index), short(nudge.predicted, min(SHORT_NUMBERS, settings.precision))
    moves = f"With {entry} + {step}, {letter} changes by about {slope}·{step} = {predicted}"
    if nudge.measured is None:
        return f"{moves}."
    bends = "" if is_same(nudge.predicted, nudge.measured, VISIBLE) else ", as it bends"
    return f"{moves}; run there: {short(nudge.measured, SHORT_NUMBERS)}{bends}."


def other_choices(answer: Explained, effect: Effect, settings: Settings) -> tuple[list[str], Table]:
    """Return which of the usual choices this v is, and a table of what the others leave."""
    size, name, grads = answer.output.size, answer.name, list(effect.sum.grad)
    row = place_text(effect.row, answer.output.shape)
    usual = [("ones", "sum", effect.sum), (f"1/{size}", "mean", effect.mean)]
    says = [f"This v is {v}: the gradient of {name}.{what}()." for v, what, _ in usual if what == effect.usual]
    rows = [(f"v = {v}", f"{name}.{what}().backward()", left) for v, what, left in usual if what != effect.usual]
    rows.append(("v = one-hot", f"row {name}{row} of J", effect.of_row))
    if effect.one_hot is not None:
        hot = place_text(effect.one_hot, answer.output.shape)
        are = f"{answer.differentiated[0]}.grad is" if len(answer.differentiated) == 1 else "the gradients are"
        says.append(f"This v is one-hot: {are} row {name}{hot} of J.")
    columns = [Column("", tuple(Cell(text=code) for _, code, _ in rows), numbers=False)]
    for one in grads:
        head = "" if len(grads) == 1 else f"{one}.grad "
        texts = [f"{head}{grad_text(left.grad[one], left.dust[one], settings)}" for _, _, left in rows]
        columns.append(Column("", tuple(Cell(text=text) for text in texts), numbers=False))
    return says, Table(tuple(label for label, _, _ in rows), (tuple(columns),))


def grad_text(grad: Array, dust: Mask, settings: Settings) -> str:
    """Return an array on one line, rounding dust as 0: marked where none of it is anything else."""
    text = array_text(np.where(dust, 0.0, grad), settings.precision, settings.most(MOST_ENTRIES))
    return f"≈ {text}" if np.size(dust) and np.all(dust | (grad == 0)) and np.any(dust) else text


def worth_of(effect: Effect, settings: Settings) -> tuple[str, ...]:
    """Return what the sum, the mean and a row of J would leave, each as one text."""

    def text_of(left: Weighted) -> str:
        texts = {name: grad_text(grad, left.dust[name], settings) for name, grad in left.grad.items()}
        named = [*texts.values()] if len(texts) == 1 else [f"{name}.grad {text}" for name, text in texts.items()]
        return "  ".join(named)

    return tuple(map(text_of, (effect.sum, effect.mean, effect.of_row)))


def shared_texts(answer: Explained, shared: Shared | None) -> list[str]:
    """Return whether ones gives the derivative of each output, what tells that it does not, and what all of J takes."""
    if all(jacobian.structure == "zero" for jacobian in answer.jacobian.values()):
        return ["No input moves an output at this point: every v gives 0."]
    if shared is None:
        return ["Each input moves one output at most, so v = ones leaves every derivative in its own place."]
    entry = indexed(shared.name, shared.index)
    named = [f"{answer.name}{place_text(row, answer.output.shape)}" for row in shared.rows[:MOST_NAMED]]
    rest = len(shared.rows) - len(named)
    users = listing([*named, *([f"{rest:,} more"] if rest else [])])
    texts = [f"{users} use {entry}, so every v adds their rows up in {shared.name}.grad."]
    if answer.output.size > MOST_COUNTED:
        return texts
    inputs = sum(jacobian.matrix_shape[1] for jacobian in answer.jacobian.values())
    calls, passes = counted(answer.output.size, "call"), counted(inputs, "forward pass")
    return [*texts, f"All of J: {calls} of backward (one a row) or {passes} (one a column)."]


def flattened_texts(answer: Explained) -> list[str]:
    """Return how arrays become rows and columns of J, where one has more than one axis."""
    shapes = {answer.name: answer.output.shape} | {name: j.input_shape for name, j in answer.jacobian.items()}
    deep = {name: shape for name, shape in shapes.items() if len(shape) > 1}
    if not deep:
        return []
    back = [f"{name}.grad has the shape of {name}" for name in deep if name in answer.jacobian]
    flat = f"J flattens {listing([f'{name} {shape}' for name, shape in deep.items()])} row by row"
    return [f"{flat}; {back[0]}{', and so on' if len(back) > 1 else ''}." if back else f"{flat}."]


def listing(texts: Sequence[str]) -> str:
    """Return ``a, b and c``."""
    return " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else texts[0]


MOST_ENTRIES_OF_SAMPLES = 6
"""Entries of all gradients together up to which the terms of samples are shown."""


def samples_section(answer: Explained, settings: Settings) -> Section:
    """Return what each sample adds to the gradient of a mean loss, a row for each; nothing where it is no mean."""
    entries = sum(np.size(grad) for grad in answer.grad.values())
    few = is_one_row(answer) and 0 < entries <= settings.most(MOST_ENTRIES_OF_SAMPLES)
    samples = answer.samples if few else None
    if samples is None:
        return Section("samples")
    rows: list[tuple[str, float | None, dict[str, Array]]] = []
    rows += [(f"row {sample.index}", sample.loss, sample.grad) for sample in samples.shown]
    if samples.count > len(rows):
        rows.insert(-1, (f"… {samples.count - len(rows):,} more", None, {}))
    if samples.rest:
        rows.append(("beside them", None, samples.rest))
    rows.append(("together", None, answer.grad))
    labels, losses, grads = zip(*rows, strict=True)
    columns = [Column("its own mean", tuple(map(Cell, losses)))]
    for name in answer.differentiated:
        cells = tuple(Cell(grad.get(name)) for grad in grads)
        columns.append(Column(f"adds to {name}.grad", cells, numbers=answer.grad[name].ndim == 0))
    tones = ("",) * (len(labels) - 1) + ("total",)
    title = f"The mean is over {samples.count} rows (samples): each adds 1/{samples.count} of its own gradient"
    return Section("samples", title, (Table(labels, (tuple(columns),), tones),))


def calls_section(answer: Explained, settings: Settings) -> Section:
    """Return each call of backward: its v, what it adds, and what the gradient is then."""
    if len(answer.backward) < 2:
        return Section("calls")
    tables = tuple(call_tables(answer, settings))
    says = Prose(("torch.autograd.grad returns what one call adds, and .grad stays as it was.",))
    return Section("calls", "Calls of backward without zero_grad", (*tables, says))


def call_tables(answer: Explained, settings: Settings) -> Iterator[Table]:
    """Yield a table of the calls by each variable."""
    calls, most = answer.backward, settings.most(MOST_CALLS)
    shown = [*calls] if len(calls) <= most else [*calls[:6], None, *calls[-2:]]
    labels = [
        f"… {counted(len(calls) - 8, 'more call')}"
        if call is None
        else f"v = {array_text(call.v.shown, settings.precision, settings.most(MOST_ENTRIES))}"
        for call in shown
    ]
    for name in answer.differentiated:
        columns = []
        for heading, key in (("adds", "grad"), (f"{name}.grad", "accumulated")):
            values = [None if call is None else getattr(call, key)[name] for call in shown]
            columns.append(
                Column(
                    heading,
                    tuple(map(Cell, values)),
                    numbers=all(value is None or np.ndim(value) == 0 for value in values),
                )
            )
        yield Table(tuple(labels), (tuple(columns),))
