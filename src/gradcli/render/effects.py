"""What v did: the number that backward differentiates, a nudge, what another v would leave, and repeated calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from gradcli.engine.naming import place_text
from gradcli.errors.counting import counted
from gradcli.render.entries import entry_name, indexed
from gradcli.render.equalities import is_same
from gradcli.render.numbers import array_text, in_brackets, short

if TYPE_CHECKING:
    from gradcli.explanation.effect import Effect, Nudge, Shared, Weighted
    from gradcli.explanation.explained import Backward, Explained
    from gradcli.ops.signatures import Array, Mask
    from gradcli.render.glyphs import Layout

MOST_TERMS = 6
"""Terms of L; of more the first three and the last stand for all."""
MOST_NAMED = 3
"""Entries of y that are named as depending on one input."""
MOST_CALLS = 12
MOST_COUNTED = 12
"""Entries of y up to which the calls are counted that all of J takes: beyond, J is headed by its passes."""
VISIBLE = 2e-3
"""Relative distance from which what was measured is told beside what was predicted."""


def v_lines(found: Explained, layout: Layout) -> list[str]:
    """Return what v did; nothing where there is no choice: one output and v = 1."""
    if found.output.size == 1:
        return [f"{weighted_sum(found, layout)}, and {all_grads(found)}."] if found.seed.item() != 1 else []
    if not found.output.size:
        return []
    lines = [f"{weighted_sum(found, layout)}, and {all_grads(found)}."]
    if not found.agreement.finite:
        return lines
    effect = found.effect
    if effect.nudge is not None:
        lines.append(nudge_line(found, effect.nudge, layout))
    lines += other_lines(found, effect, layout)
    lines += shared_lines(found, effect.shared)
    return lines + flattened_lines(found)


def all_grads(found: Explained) -> str:
    """Return what the gradients are: ``x.grad = ∂L/∂x``."""
    letter = free_letter(found)
    each = [f"{name}.grad = ∂{letter}/∂{name}" for name in found.differentiated]
    return ", ".join(each) if len(each) <= MOST_NAMED else f"{each[0]}, and so on for the others"


def free_letter(found: Explained) -> str:
    """Return what to call the number that backward differentiates: L, unless the program has an L."""
    taken = {*found.inputs, *found.definitions, found.name}
    return next(letter for letter in ("L", "loss", "L_", "L__") if letter not in taken)


def weighted_sum(found: Explained, layout: Layout) -> str:
    """Return ``L = v·y = 1·y[0] + 10·y[1] = 173``."""
    seed, shape, precision = np.ravel(found.seed), found.output.shape, layout.precision
    most = layout.most(MOST_TERMS)
    places = list(range(seed.size)) if seed.size <= most else [0, 1, 2, seed.size - 1]
    terms = [f"{in_brackets(short(seed[i], precision))}·{found.name}{place_text(i, shape)}" for i in places]
    if seed.size > most:
        terms.insert(-1, "…")
    whole = [f"v·{found.name}", " + ".join(terms), short(found.effect.total, precision)]
    return f"{free_letter(found)} = {' = '.join(dict.fromkeys(whole))}"


def nudge_line(found: Explained, nudge: Nudge, layout: Layout) -> str:
    """Return how far L moves with an entry: predicted, and measured where that is visibly another number."""
    entry = indexed(nudge.name, nudge.index)
    slope, letter = short(nudge.slope, layout.precision), free_letter(found)
    said = f"Move {entry} by {short(nudge.step)}: {letter} moves by {slope} times as much, {short(nudge.predicted, 4)}"
    if nudge.measured is None:
        return f"{said}."
    if is_same(nudge.predicted, nudge.measured, VISIBLE):
        return f"{said}, and running {found.name} there measures {short(nudge.measured, 4)}."
    return f"{said} by this slope; running {found.name} there measures {short(nudge.measured, 4)}, as it bends."


def other_lines(found: Explained, effect: Effect, layout: Layout) -> list[str]:
    """Return what the usual choices of v leave, and which of them this v is."""
    size, name = found.output.size, found.name
    row = place_text(effect.row, found.output.shape)
    rows = [("ones", f"{name}.sum()", effect.sum), (f"1/{size}", f"{name}.mean()", effect.mean)]
    said = [f"This v is {v}: the gradient of {what}." for v, what, _ in rows if is_own(effect, what)]
    rows = [row for row in rows if not is_own(effect, row[1])]
    rows.append(("one-hot", f"row {name}{row} of J", effect.of_row))
    if effect.one_hot is not None:
        hot = place_text(effect.one_hot, found.output.shape)
        said.append(f"This v is one-hot: {grads_named(found)} row {name}{hot} of J.")
    first, second = aligned_left([v for v, _, _ in rows]), aligned_left([what for _, what, _ in rows])
    heads = [f"v = {v}  {what}  " for v, what in zip(first, second, strict=True)]
    grads = [gradient_texts(weighted, layout) for _, _, weighted in rows]
    if all(len(head + "  ".join(own)) + 3 <= layout.width for head, own in zip(heads, grads, strict=True)):
        return said + [head + "  ".join(own) for head, own in zip(heads, grads, strict=True)]
    return said + [line for head, own in zip(heads, grads, strict=True) for line in (head, *(f"  {g}" for g in own))]


def is_own(effect: Effect, what: str) -> bool:
    """Return whether v is the one that ``y.sum()`` or ``y.mean()`` stands for."""
    return bool(effect.usual) and what.endswith(f".{effect.usual}()")


def grads_named(found: Explained) -> str:
    """Return the gradients as the subject of a sentence."""
    names = [f"{name}.grad" for name in found.differentiated]
    return f"{names[0]} is" if len(names) == 1 else "the gradients are"


def aligned_left(texts: Sequence[str]) -> list[str]:
    """Return texts of one length."""
    wide = max(map(len, texts))
    return [text.ljust(wide) for text in texts]


def gradient_texts(weighted: Weighted, layout: Layout) -> list[str]:
    """Return the gradients that another v would leave, with their names where there are several."""
    texts = {name: settled_text(grad, weighted.dust[name], layout) for name, grad in weighted.grad.items()}
    return list(texts.values()) if len(texts) == 1 else [f"{name}.grad {text}" for name, text in texts.items()]


def settled_text(grad: Array, dust: Mask, layout: Layout) -> str:
    """Return an array on one line, rounding dust as 0: marked where none of it is anything else."""
    if np.size(dust) and np.all(dust | (grad == 0)) and np.any(dust):
        return f"{layout.glyphs.near} {array_text(np.where(dust, 0.0, grad), layout.precision, layout.most(6))}"
    return array_text(np.where(dust, 0.0, grad), layout.precision, layout.most(6))


def worth_of(effect: Effect, layout: Layout) -> tuple[str, ...]:
    """Return what the sum, the mean and a row of J would leave, each as one text."""
    return tuple("  ".join(gradient_texts(weighted, layout)) for weighted in (effect.sum, effect.mean, effect.of_row))


def shared_lines(found: Explained, shared: Shared | None) -> list[str]:
    """Return whether ones gives the derivative of each output, what tells that it does not, and what all of J takes."""
    if all(jacobian.structure == "zero" for jacobian in found.jacobian.values()):
        return ["No input moves an output at this point: every v gives 0."]
    if shared is None:
        return ['Each input moves one output at most: ones gives "the derivatives", all of J.']
    entry = indexed(shared.name, shared.index)
    named = [entry_name(found.name, row, found.output.shape) for row in shared.rows[:MOST_NAMED]]
    rest = len(shared.rows) - len(named)
    depends = listing([*named, *([f"{rest:,} more"] if rest else [])])
    both = "both" if len(shared.rows) == 2 else "all"
    lines = [
        f'ones does not give "the derivatives": {depends} {both} depend on {entry}, and {shared.name}.grad adds them.'
    ]
    if found.output.size > MOST_COUNTED:
        return lines
    inputs = sum(jacobian.matrix_shape[1] for jacobian in found.jacobian.values())
    calls, passes = counted(found.output.size, "call"), counted(inputs, "pass")
    return [*lines, f"All of J takes {calls}, with one-hot v; forward mode takes {passes}."]


def flattened_lines(found: Explained) -> list[str]:
    """Return which arrays J flattens, and that gradients come back in the shape of their variable."""
    shapes = {found.name: found.output.shape} | {name: j.input_shape for name, j in found.jacobian.items()}
    deep = {name: shape for name, shape in shapes.items() if len(shape) > 1}
    if not deep:
        return []
    back = [f"{name}.grad has the shape of {name}" for name in deep if name in found.jacobian]
    flat = f"J flattens {listing([f'{name} {shape}' for name, shape in deep.items()])} row by row"
    return [f"{flat}; {back[0]}{', and so on' if len(back) > 1 else ''}." if back else f"{flat}."]


def listing(texts: Sequence[str]) -> str:
    """Return ``a, b and c``."""
    return " and ".join([", ".join(texts[:-1]), texts[-1]]) if len(texts) > 1 else texts[0]


def calls_lines(found: Explained, layout: Layout) -> list[str]:
    """Return each call of backward: its v, what it adds, and what the gradient is then."""
    calls, most = found.backward, layout.most(MOST_CALLS)
    if len(calls) < 2:
        return []
    shown = calls if len(calls) <= most else [*calls[:6], *calls[-2:]]
    lines = []
    for name in found.differentiated:
        columns = [call_texts(call, name, layout) for call in shown]
        parts = [aligned_left(texts) for texts in zip(*columns, strict=True)]
        own = [f"{v}  adds {added}  {name}.grad = {total}" for v, added, total in zip(*parts, strict=True)]
        if len(calls) > most:
            own.insert(6, f"… {counted(len(calls) - 8, 'more call')}")
        lines += own
    return [*lines, "torch.autograd.grad returns what a call adds, and leaves .grad alone."]


def call_texts(call: Backward, name: str, layout: Layout) -> tuple[str, str, str]:
    """Return one call of backward as texts."""
    v, added, total = call.v.shown, call.grad[name], call.accumulated[name]
    return (
        f"v = {array_text(v, layout.precision, layout.most(6))}",
        array_text(added, layout.precision, layout.most(6)),
        array_text(total, layout.precision, layout.most(6)),
    )


def scalar_name(found: Explained) -> str:
    """Return what is differentiated twice: y, or L = v·y where that is another number."""
    return found.name if found.output.size == 1 and found.seed.item() == 1 else free_letter(found)
