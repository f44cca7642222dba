"""What an answer was asked for beside the rest: each view is a function that makes sections, which each voice prints.

A new view is a record in ``explanation/views.py``, a function here with its row in ``VIEWS``, and its keys in
``render/data.py``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from gradcli.document.effects import listing, scalar_name
from gradcli.document.jacobian import limited, matrix_columns, matrix_formulas, rule_rows
from gradcli.document.model import Cell, Column, Derivative, Equation, Equations, Mark, Prose, Section, Settings, Table
from gradcli.document.passes import is_shown
from gradcli.document.texts import ends, number_in, short, shortened, unnumbered
from gradcli.document.verdicts import evaluate, proof_text, with_true_formulas
from gradcli.engine.naming import place_text
from gradcli.errors.hints import counted

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained
    from gradcli.explanation.jacobians import Jacobian
    from gradcli.explanation.parts import Step, Tape, Taped
    from gradcli.explanation.views import Descent, Hessian, Rows, Slice, Tangent

MOST_ENTRIES = 8
"""Entries of an array in a cell that are all shown."""
MOST_CALLS = MOST_VALUES = 16
MOST_ROWS_OF_H = 8
MOST_COLUMNS_OF_H = 60
MOST_STEPS_DOWN = 20
MOST_STEPS = 80
MOST_TAPED = 60


def array_column(heading: str, values: Sequence[Any], optional: bool = False) -> Column:
    """Return a column of arrays, of which some may be missing, aligned at their points where all are numbers."""
    cells = tuple(Cell() if value is None else Cell(np.asarray(value)) for value in values)
    return Column(heading, cells, all(np.ndim(value) == 0 for value in values if value is not None), optional)


def text_column(heading: str, texts: Sequence[str], optional: bool = False) -> Column:
    """Return a column of texts."""
    return Column(heading, tuple(Cell(text=text) for text in texts), numbers=False, optional=optional)


def first_and_last(items: Sequence[Any], most: int, word: str) -> tuple[list[Any], str]:
    """Return items, None for those in the middle beyond ``most``, and the label that counts these."""
    places = ends(len(items), most)
    return [None if k is None else items[k] for k in places], f"… {counted(len(items) - len(places) + 1, word)}"


def slices(answer: Explained, content: Sequence[Slice], _settings: Settings) -> Iterator[Section]:
    """Yield rows and columns of J, an equation for each by each variable."""
    rows = [
        Equation(part.title(answer.name, name, "∂"), (), value)
        for part in content
        for name, value in part.values.items()
    ]
    yield Section("slices", "Rows and columns of J", (Equations(tuple(rows)),))


def one_hot(answer: Explained, rows: Rows, settings: Settings) -> Iterator[Section]:
    """Yield what each call of backward with a one-hot v leaves, and how few calls are enough."""
    calls, gap = first_and_last(list(enumerate(rows.calls)), settings.most(MOST_CALLS), "more call")
    shape = answer.output.shape
    labels = [gap if call is None else f"v one-hot at {answer.name}{place_text(call[0], shape)}" for call in calls]
    columns = [
        array_column(f"{name}.grad", [call and call[1].grad[name] for call in calls]) for name in answer.differentiated
    ]
    count, fewer = len(rows.calls), rows.colouring
    says = [f"All of J: {counted(count, 'call')} of backward, one for each row."]
    if fewer is not None and fewer < count:
        enough = "is" if fewer == 1 else "are"
        says[0] += f" Rows that share no column go together in one v: {counted(fewer, 'call')} {enough} enough."
    says += [] if rows.proof.verdict == "agree" else [proof_text(rows.proof)]
    title = "Rows of J: .grad after backward with each one-hot v, set to zero before"
    yield Section("one_hot", title, (Table(tuple(labels), (tuple(columns),)), Prose(tuple(says))))


def jvp(answer: Explained, tangent: Tangent, settings: Settings) -> Iterator[Section]:
    """Yield the forward pass beside the backward pass, J·u, and which of them is cheaper for all of J."""
    values, gap = first_and_last(tangent.passes, settings.most(MOST_VALUES), "more value")
    forward = array_column("forward, along u", [one and one.tangent for one in values])
    backward = array_column("backward, from v", [one and one.cotangent for one in values])
    table = Table(tuple(gap if one is None else one.name for one in values), ((forward, backward),))
    product = Equations((Equation("J·u", (), tangent.jvp, remark=proof_text(tangent.proof)),))
    lines = []
    if np.isfinite(tangent.number):
        number = short(tangent.number, settings.precision)
        lines.append(f"v·(J·u) = (vᵀ·J)·u = {number}: both passes give this one number.")
    title = "J·u, the forward pass, beside vᵀ·J, the backward pass"
    yield Section("jvp", title, (table, product, Prose((*lines, cheaper_text(answer, tangent)))))


def cheaper_text(answer: Explained, tangent: Tangent) -> str:
    """Return how many passes all of J takes each way."""
    forward, backward = tangent.forward, tangent.backward
    words = ("forward is cheaper", "both cost the same", "backward is cheaper")
    least = words[1 + (forward > backward) - (forward < backward)]
    names = [*answer.differentiated]
    return (
        f"All of J takes {counted(forward, 'forward pass')}, one for each entry of "
        f"{listing(names) if len(names) <= 3 else 'all variables'}, or {counted(backward, 'backward pass')}, "
        f"one for each entry of {answer.name}: {least} here."
    )


def hessian(answer: Explained, content: Hessian, settings: Settings) -> Iterator[Section]:
    """Yield the formulas of the gradient, H in a table for each pair of variables, and H·u."""
    content = true_hessian(answer, content)
    name, blocks, variables = scalar_name(answer), content.blocks, list(content.whole)
    above = [f"{name} = v·{answer.name}"] if name != answer.name else []
    below: list[Equation | str] = []
    for one, product in (content.product or {}).items():
        of = f" of {one}" if len(content.product or {}) > 1 else ""
        below += [Equation(f"u{of}", (), (content.u or {})[one]), Equation(f"H·u{of}", (), product)]
    below.append(proof_text(content.proof))
    title = "H, the second derivative: the Jacobian of the gradient"
    if all(block.held and not np.any(block.values) and not len(block.rows) for block in blocks.values()):
        why = f"the gradient does not depend on {' and '.join(variables)} here; a linear function has no other H"
        if any(remark.kind == "kink" for remark in content.proof.remarks):
            why = "that of the piece on which the first derivative is taken"
        yield Section("hessian", title, (Equations((*above, f"H = 0: {why}.", *below)),))
        return
    rows: list[Equation | str] = [
        Equation(Derivative(name, (f"{one}{place_text(k, content.whole[one].input_shape)}",)), (text,))
        for one, texts in (content.gradient or {}).items()
        for k, text in enumerate(texts)
    ]
    gradient = (*above, *limited(rows, settings.most(MOST_ENTRIES), "entry"))
    yield Section("hessian", title, (Equations(gradient),) if gradient else ())
    shown = 0
    for (one, other), block in blocks.items():
        if not content.symmetric or variables.index(one) <= variables.index(other):
            shown += 1
            yield block_section(content, name, (one, other), block, settings)
    if shown < len(blocks):
        below.insert(0, "The other blocks are the transposes of these: H is symmetric.")
    elif content.symmetric is False:
        below.insert(0, "H is not symmetric here: the derivatives that it is made of are taken by convention.")
    shown_names = {value.name for value in answer.values} | answer.definitions.keys()
    names = {} if content.formulas is None else content.definitions
    new = [Equation(one, (text,)) for one, text in names.items() if one not in shown_names]
    yield Section("hessian", "", (Equations((*new, *below)),) if new or below else ())


def true_hessian(answer: Explained, content: Hessian) -> Hessian:
    """Return H with formulas that equal the numbers beside them."""
    gradient = replace(
        answer, name=content.name, output=content.value, output_formulas=content.formulas,
        definitions=content.definitions, jacobian=content.whole, source=content.source,
    )  # fmt: skip
    true = with_true_formulas(gradient)
    return replace(content, formulas=true.output_formulas, definitions=true.definitions, whole=true.jacobian)


def block_section(content: Hessian, name: str, pair: tuple[str, str], block: Jacobian, settings: Settings) -> Section:
    """Return one block of H: its size and structure, its rule, and its table."""
    left = f"{'H = ' if len(content.whole) == 1 else ''}{Derivative(name, pair)}"
    rows, columns = block.matrix_shape
    facts = [f"{rows}×{columns} {block.structure}"] if block.held else [f"{rows}×{columns}, its entries are not held"]
    if block.held and block.structure not in ("dense", "zero") and rows * columns > len(block.rows):
        facts.append(f"{len(block.rows):,} of {counted(rows * columns, 'entry')}")
    facts += ["symmetric"] if pair[0] == pair[1] and content.symmetric else []
    title = left if rows == columns == 1 and block.held else f"{left}    {', '.join(facts)}"
    rule = rule_of(block, name, pair)
    if not block.held or not len(block.rows):
        return Section("hessian", title, (Equations((rule,)),) if rule else ())
    places, across = ends(rows, settings.most(MOST_ROWS_OF_H)), ends(columns, settings.most(MOST_COLUMNS_OF_H))
    labels = tuple(Mark.ROW_GAP.value if i is None else f"{pair[0]}{place_text(i, block.output_shape)}" for i in places)
    otherwise = [rule] if rule else matrix_formulas(name, pair, block, settings)
    cells = matrix_columns(pair[1], block, places, across)
    return Section("hessian", title, (Table(labels, (cells,), (), (0,), (), (tuple(otherwise),)),))


def rule_of(block: Jacobian, name: str, pair: tuple[str, str]) -> Equation | None:
    """Return the one rule that all entries have; None where there is none that names the inputs alone."""
    rules = rule_rows(block)
    if len(rules) != 1 or not isinstance(rules[0], Equation):
        return None
    [rule] = block.index_rules
    places = [f"{one}[{','.join(indices)}]" for one, indices in zip(pair, (rule.rows, rule.columns), strict=True)]
    return replace(rules[0], left=Derivative(name, tuple(places)))


WIDEST_BAR = 20
FAR_APART = 1e3
"""Times the smallest value that the largest may be where bars are in proportion; beyond, they show its logarithm."""


def descent(answer: Explained, content: Descent, settings: Settings) -> Iterator[Section]:
    """Yield gradient descent: a line a step with what it was to change and what it changed, and a bar for the value."""
    name = scalar_name(answer)
    moved = [*((step.inputs, step.value) for step in content.steps), (content.inputs, content.value)]
    changes = [(None, None), *((step.predicted, step.actual) for step in content.steps)]
    points = [(k, *end, *change) for k, (end, change) in enumerate(zip(moved, changes, strict=True))]
    shown, gap = first_and_last(points, settings.most(MOST_STEPS_DOWN), "more step")
    bars = iter(bars_of([point[2] for point in shown if point is not None]))
    columns = [
        array_column(one, [point and point[1][one] for point in shown], optional=True) for one in answer.differentiated
    ]
    columns += [
        Column(heading, tuple(Cell(point and point[place]) for point in shown))
        for place, heading in ((2, name), (3, "predicted"), (4, "actual"))
    ]
    columns.append(text_column("", ["" if point is None else next(bars) for point in shown], optional=True))
    says = [f"predicted: -lr·|grad|², how far the slope alone would take {name}."]
    if content.ending:
        says.append(f"It ends after {counted(len(content.steps), 'step')} of {content.asked:,}: {content.ending}.")
    labels = tuple(gap if point is None else str(point[0]) for point in shown)
    title = f"Gradient descent from here, lr = {content.lr:g}"
    yield Section("descent", title, (Table(labels, (tuple(columns),)), Prose(tuple(says))))


def bars_of(values: Sequence[float]) -> list[str]:
    """Return a bar for each value, in proportion, or to its logarithm where the values are far apart."""
    finite = [value for value in values if math.isfinite(value)]
    if not finite or max(finite) == min(finite):
        return [""] * len(values)
    low, high = min(finite), max(finite)
    logs = low > 0 and high / low > FAR_APART
    scaled = [math.log(value) if logs and math.isfinite(value) else value for value in values]
    low, high = (math.log(low), math.log(high)) if logs else (min(low, 0.0), high)
    lengths = [max(1, round(WIDEST_BAR * (x - low) / (high - low))) if math.isfinite(x) else 0 for x in scaled]
    return ["█" * length for length in lengths]


def steps(answer: Explained, content: Sequence[Step], settings: Settings) -> Iterator[Section]:
    """Yield how each derivative is found: what names stand for, the rules of the operations, the chain rule back."""
    titles = {
        "names": "Steps: what names stand for",
        "rules": "Steps: the derivative of each operation, entry by entry, all else fixed",
        "chain": f"Steps: the chain rule, from {answer.name} back",
    }
    for kind, title in titles.items():
        distinct = {(step.of, step.by, step.formula): step for step in content if step_kind(step) == kind}
        rows = tuple(step_rows(steps_with_gap([*distinct.values()], kind, answer.tape), settings))
        yield Section("steps", title, (Equations(rows),)) if rows else Section("steps")


def step_kind(step: Step) -> str:
    """Return what a step says: a derivative, a cotangent, or what a name stands for."""
    return "rules" if step.by else "chain" if step.of.endswith(".grad") else "names"


def step_rows(part: Sequence[Step | str], settings: Settings) -> Iterator[Equation | str]:
    """Yield an equation for each step, those of the middle turns of loops counted."""

    def pattern(step: Step) -> tuple[str, ...]:
        return step.rule, unnumbered(step.of), unnumbered(step.by), unnumbered(step.formula or "")

    shown = shortened(part, pattern, "line", settings.most(MOST_STEPS))
    texts = {id(step): numbers_text(step, settings.precision) for step in shown if not isinstance(step, str)}
    distinct = list(dict.fromkeys(texts.values()))
    values = dict(zip(distinct, evaluate([text or "0" for text in distinct], {}), strict=True))
    for step in shown:
        if isinstance(step, str):
            yield step
            continue
        left = Derivative(name_after_d(step.of), (name_after_d(step.by),)) if step.by else step.of
        kind, text = step_kind(step), texts[id(step)]
        without = {"chain": "what its uses send", "names": f"{step.rule}(…)", "rules": "(no text)"}
        formula = step.formula or without[kind]
        number = number_in(step.formula or "") if step.value.size else None
        is_said = number is not None and number == step.value.flat[0] and np.ptp(step.value) == 0
        near = bool(text) and not is_shown(values[text], step.value, settings.precision)
        yield Equation(
            left,
            (formula, *([text] if text else [])),
            None if is_said else step.value,
            near=near,
            rule="" if kind == "names" else step.rule,
        )


def steps_with_gap(part: Sequence[Step], kind: str, tape: Tape) -> list[Step | str]:
    """Return steps of a kind, with a line that counts where the operations of a long program are missing."""
    if not tape.left_out:
        return list(part)
    first, last = tape.rows[: tape.gap], tape.rows[tape.gap :]
    if kind == "chain":
        beyond = {f"{row.name}.grad" for row in last}
    else:
        beyond = {text for row in first for text in (row.name, row.label)} - {row.label for row in last}
    place = next((k for k, step in enumerate(part) if step.of in beyond), len(part))
    return [*part[:place], f"…   {tape.left_out:,} operations more", *part[place:]]


TIGHT = re.compile(r"[\w.\[\],:]+")
NUMBER = re.compile(r"(?<![\w.])\d[\d.]*(?:e[-+]?\d+)?")
RESULT = re.compile(r"\(?-?[\d.e+-]+\)?")


def name_after_d(text: str) -> str:
    """Return a text as it stands after a ``∂``."""
    return text if TIGHT.fullmatch(text) else f"({text})"


def numbers_text(step: Step, precision: int) -> str:
    """Return a step of single numbers with these put in, as they are shown; nothing where that is the result alone."""
    text = step.numbers or ""
    if step.value.ndim or RESULT.fullmatch(text):
        return ""
    return NUMBER.sub(lambda number: short(float(number[0]), precision), text)


def tape(_answer: Explained, content: Tape, settings: Settings) -> Iterator[Section]:
    """Yield the recorded graph as a table: what each operation keeps, what arrives, and what it sends on."""
    gap = [f"…   {content.left_out:,} operations more"] if content.left_out else []
    rows: list[Taped | str] = [*content.rows[: content.gap], *gap, *content.rows[content.gap :]]
    shown = shortened(rows, taped_pattern, "row", settings.most(MOST_TAPED))
    lines = [line for row in shown for line in taped_lines(row)]
    columns = (
        array_column("value", [line.value for line in lines]),
        array_column("arrives", [line.arrives for line in lines]),
        text_column("keeps", [line.keeps for line in lines]),
        text_column("sends", [line.sends for line in lines]),
        array_column("", [line.term for line in lines]),
        text_column("", [line.remark for line in lines]),
    )
    table = Table(tuple(line.name for line in lines), (columns,))
    yield Section("tape", "Tape: the recorded graph, in the order of the sweep", (table,))


class Line(NamedTuple):
    """One line of the tape: a value, or a further term that it sends on."""

    name: str
    value: Any = None
    arrives: Any = None
    keeps: str = ""
    sends: str = ""
    term: Any = None
    remark: str = ""


def taped_pattern(row: Taped) -> tuple[Any, ...] | None:
    """Return what the rows of a loop's turns have in common; None for an input and the output."""
    if row.role not in ("inner", "constant") or not row.operation:
        return None
    texts = unnumbered(row.name), unnumbered(row.text or ""), *(unnumbered(sent.to) for sent in row.sent)
    return (row.operation, row.role, *texts)


def taped_lines(row: Taped | str) -> Iterator[Line]:
    """Yield the lines of a row, one for each term that is sent on."""
    if isinstance(row, str):
        yield Line(row)
        return
    name = f"{row.name} = {row.text or row.operation}" if row.operation else row.name
    role = f"{row.role}: {row.name}.grad" if row.role == "leaf" else row.role
    first = Line(name, row.value, row.cotangent, ", ".join(row.saved), "" if row.sent else role)
    for sent in row.sent:
        summed = "" if sent.summed is None else f"summed from {sent.summed}"
        sends = f"{sent.to} {'+=' if sent.adds else '='} {sent.text or sent.rule}"
        yield first._replace(sends=sends, term=sent.value, remark=summed)
        first = Line("")
    if not row.sent:
        yield first


Anchor = Literal["backward", "J", "v"]
"""A part of the answer that views follow: the backward pass, the tables of J, what v did."""
VIEWS: dict[str, tuple[Anchor, Callable[[Explained, Any, Settings], Iterator[Section]]]] = {
    "slices": ("J", slices),
    "tape": ("backward", tape),
    "steps": ("backward", steps),
    "one_hot": ("v", one_hot),
    "jvp": ("v", jvp),
    "hessian": ("v", hessian),
    "descent": ("v", descent),
}
