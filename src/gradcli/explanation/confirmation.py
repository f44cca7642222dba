"""Whether the numbers of an answer are right: y, J and x.grad held against arithmetic with digits to spare."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from decimal import Decimal
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from gradcli.engine.graph import Node, Operation
from gradcli.engine.naming import Label, label_entries, place_text
from gradcli.errors import GivenUp, GradcliError
from gradcli.errors.hints import listed
from gradcli.exact.judge import (
    Entry,
    Places,
    TermSizes,
    add_products,
    is_dust,
    random_direction,
    right_digits,
    true_entries,
    turned_direction,
    weighed,
)
from gradcli.exact.real import digits, lifted
from gradcli.exact.run import Decision
from gradcli.exact.slopes import Exact, Slope, finite
from gradcli.exact.work import FEWEST, ROUNDING, SAME, TOLD, VISIBLE, Spent
from gradcli.explanation.evaluation import Run
from gradcli.explanation.jacobians import Jacobian
from gradcli.explanation.notes import tell_bend
from gradcli.explanation.results import Backward, Dust, Note, Proof, sum_vjps
from gradcli.explanation.suspicion import largest
from gradcli.jacobian.composition import sizes_of_output, sizes_with_rounding
from gradcli.jacobian.sparse import Sparse
from gradcli.ops.declare import Array, Indices, value_of
from gradcli.ops.links import Mask
from gradcli.records import dataclass, field

FAR = 7
"""How many times as far as a random direction the input lies at which a sum is looked at once more."""
MOST_AROUND = 24
"""Random directions that are tried where pieces meet."""
DEAR_RUN = 16
"""Which part of the work a run takes at least that is dear."""
SPENT_AROUND = 200_000
"""Units of work after which no more of them are tried: about 0.3 seconds."""


NAMED = 2
"""Wrong numbers of a kind that are named."""
ANY = "a random direction"


def spent_text(work: int) -> str:
    """Return why something was not decided where the work is used up."""
    return f"it takes more than the budget 'work' of {work:,}"


def too_large_text(work: int) -> str:
    """Return why nothing was asked of a program whose runs alone take more than the work."""
    return f"in higher precision the program takes more than the budget 'work' of {work:,}"


def undecided_text(why: str) -> str:
    """Return the sentence that nothing is said of whether the numbers are right, and why."""
    return f"gradcli could not decide whether these numbers are right: {why}."


class Sums(NamedTuple):
    """vᵀ·J and ``x.grad`` for each variable after the last call of backward."""

    vjp: Mapping[str, Array]
    grad: Mapping[str, Array]

    @classmethod
    def of(cls, backward: Sequence[Backward]) -> Sums:
        """Return what these calls have added up."""
        return cls(sum_vjps(backward), backward[-1].accumulated)


@dataclass(slots=True)
class Confirmation:
    """What arithmetic with digits to spare says of an answer.

    ``asked`` is ``entries`` where every entry of J was asked for, ``direction`` where J was along one random
    direction, else empty. ``digits`` are the fewest right digits of ``y``, ``jacobian`` and ``grad``; ``wrong`` says
    what is printed and what is true; ``unknown`` why something could not be decided. ``bends`` are kinks and jumps by
    kind, ``dust`` what rounding has left where the truth is 0. ``slopes`` are those of v·y that were asked for, and
    ``still`` says what it means that all are 0. ``skipped`` is the sentence for that nothing was asked, else empty.
    """

    asked: str = ""
    digits: dict[str, float] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    unknown: str = ""
    bends: dict[str, str] = field(default_factory=dict)
    rounded: str = ""
    dust: dict[str, Dust] = field(default_factory=dict)
    slopes: list[Decimal] = field(default_factory=list)
    still: str = ""
    skipped: str = ""

    @property
    def verdict(self) -> str:
        """``agree``, ``digits-lost`` or ``unclear``."""
        if any(count < FEWEST for count in self.digits.values()):
            return "digits-lost"
        return "unclear" if self.unknown else "agree"

    @property
    def examples(self) -> str:
        """The wrong numbers that are named, as sentences."""
        return "".join(f" {sentence}." for sentence in self.wrong)

    def judge(self, what: str, value: float, truth: Any, size: float, place: str) -> None:
        """Count the right digits of one number."""
        count = right_digits(value, truth, size)
        if count < self.digits.get(what, math.inf):
            self.digits[what] = count
        if count < FEWEST and sum(text.startswith(place[:1]) for text in self.wrong) < NAMED:
            self.wrong.append(f"{place} is {value!r} here and truly {float(truth):.10g}")

    def leave(self, place: str, bent: object, *numbers: float) -> None:
        """Say that the truth of finite ``numbers`` was not found, where no kink or jump is the reason."""
        if not bent and not self.unknown and all(map(math.isfinite, numbers)):
            self.unknown = f"{place} changes with every digit that is added"

    @contextmanager
    def asking(self, work: int, only: str = "") -> Iterator[None]:
        """Note why the truth was not found: the work is used up, or the program has no value in many digits.

        Errors of the kind ``only`` say so, where one is given.
        """
        try:
            yield
        except Spent:
            self.unknown = self.unknown or spent_text(work)
        except GivenUp:
            raise
        except GradcliError as error:
            if only and error.kind != only:
                raise
            self.unknown = self.unknown or error.message

    def notes(self, run: Run, kinks: Sequence[Note], causes: Sequence[Note]) -> list[Note]:
        """Return the notes of a confirmed answer.

        ``kinks`` are what ops say of their own kinks, which stand where y bends; ``causes`` why digits may be lost.
        """
        notes = []
        for kind, message in self.bends.items():
            notes += [*kinks] if kind == "kink" and kinks else [Note(kind, message)]
        if self.still:
            notes.append(Note("zero-gradient", self.still))
        if self.rounded:
            notes.append(Note("rounding-decides", self.rounded))
        if any(count < TOLD for count in self.digits.values()):
            grad = f"{run.names[0]}.grad" if len(run.names) == 1 else "the gradient"
            named = {"y": run.name, "jacobian": "J", "grad": grad}
            first, *rest = (f"of {named[what]} {int(count)}" for what, count in self.digits.items())
            why = f" {causes[0].message}" if causes and not self.wrong else ""
            counts = ", ".join([f"{first} are right", *rest])
            notes.append(Note("digits-lost", f"Rounding has cost digits: {counts}.{self.examples}{why}"))
        return notes + self.doubts

    @property
    def doubts(self) -> list[Note]:
        """The note on what could not be decided, where that is the verdict."""
        return [Note("unclear", undecided_text(self.unknown))] if self.verdict == "unclear" else []

    def proof(self, finite: bool, what: str) -> Proof:
        """Return what the computation in higher precision says of ``what``, as the proof of a view."""
        notes = [Note(kind, message) for kind, message in self.bends.items()]
        fewest = min(self.digits.values(), default=None)
        if fewest is not None and fewest < FEWEST:
            lost = f"Rounding has cost digits: of {what} {int(fewest)} are right.{self.examples}"
            notes.append(Note("digits-lost", lost))
        return Proof(self.verdict, finite, fewest, notes + self.doubts)


def unasked(finite: bool, work: int) -> Proof:
    """Return the proof of numbers that were held against nothing: many digits take more than the ``work``."""
    message = f"These numbers are not compared with a computation in higher precision: {too_large_text(work)}."
    return Proof("agree", finite, None, [Note("not-confirmed", message)])


def rounding_text(pair: tuple[Decision, Decision]) -> str:
    """Return which decision rounding made, at the first entry where the two runs part."""
    doubles, exact = pair
    place = parting(doubles, exact)
    shown = [compared_text(value, 17, place) for value in doubles.values]
    op = doubles.op
    what = (
        op.text.template.format(*shown)
        if op.text.template and len(shown) == op.text.template.count("{}")
        else f"{op.name}({', '.join(shown)})"
    )
    at = f" in entry {place_text(*place)}" if place is not None and place[1] else ""
    side = f" ({', '.join(compared_text(value, 20, place) for value in exact.values)} with more digits)"
    decides = f"Rounding decides {what}{at}{side}: exact numbers would take another way"
    return f"{decides}. This answer takes that of double precision."


Place = tuple[int, tuple[int, ...]]
"""An entry by its number in flat order, and the shape that it is one of."""


def parting(doubles: Decision, exact: Decision) -> Place | None:
    """Return the first entry that two runs decide differently; None where a decision is not one for each entry."""
    one, other = np.asarray(doubles.piece), np.asarray(exact.piece)
    if (doubles.op.entries.moves and not doubles.op.chooses) or one.shape != other.shape:
        return None
    try:
        shape = np.broadcast_shapes(*(np.shape(value) for value in doubles.values))
    except ValueError:  # such as a table that each number is looked up in
        return None
    if one.shape != shape:
        return None
    parted = np.flatnonzero(np.ravel(one != other))
    return (int(parted[0]), shape) if len(parted) else None


def compared_text(value: Any, count: int, place: Place | None) -> str:
    """Return a value that is compared: its number at a place, else its first of several."""
    entries = np.asarray(value_of(value))
    flat = np.ravel(entries if place is None else np.broadcast_to(entries, place[1])).tolist()
    if not flat:
        return "[]"
    number = flat[0 if place is None else place[0]]
    text = f"{number.d or 0:.{count}g}" if hasattr(number, "d") else f"{number:.{count}g}"
    return text if place is not None or len(flat) == 1 else f"[{text}, ...]"


def confirm(
    exact: Exact, run: Run, jacobians: Mapping[str, Jacobian], sums: Sums, whole: bool, edgy: bool
) -> Confirmation:
    """Hold y, J and the gradients after the last call against the program in many digits.

    They are held entry by entry where ``whole`` says so, else along one random direction. ``edgy`` says that pieces of
    the program may meet here, where only one direction may show a kink.
    """
    judged = Confirmation("entries" if whole else "direction")
    with digits(60), judged.asking(exact.work.most):
        confirm_value(exact, run, judged)
        if whole:
            confirm_whole(exact, run, jacobians, sums, judged, edgy)
        else:
            confirm_direction(exact, run, jacobians, sums.grad, judged)
        with suppress(Spent):
            tell_still(exact, run, jacobians, sums.grad, judged)
    judged.rounded = "" if exact.rounded is None else rounding_text(exact.rounded)
    return judged


def confirm_whole(
    exact: Exact, run: Run, jacobians: Mapping[str, Jacobian], sums: Sums, judged: Confirmation, edgy: bool
) -> None:
    """Hold every entry against the truth; where that takes too long, J along one random direction."""
    try:
        for name, jacobian in jacobians.items():
            sizes = sizes_of_terms(run, run.leaves[name], jacobian)
            truths, dust = confirm_jacobian(exact, run, name, jacobian, sizes, judged, edgy)
            judged.dust[name] = Dust(dust, *confirm_gradient(run, name, jacobian, sums, sizes, truths, judged))
    except Spent:
        exact.renew()
        confirm_direction(exact, run, jacobians, sums.grad, judged)
        return
    if edgy and not judged.bends:
        look_around(exact, jacobians, label_entries(run.name, run.value.shape), judged.bends, edgy)


def tell_still(
    exact: Exact, run: Run, jacobians: Mapping[str, Jacobian], grad: Mapping[str, Array], judged: Confirmation
) -> None:
    """Say that v·y stands still where its slopes are all 0 and their terms are not: x.grad is 0, rounding aside.

    A run far away tells whether v·y is the same there: the sum of a softmax is 1 for every x. Raises ``Spent``.
    """
    terms = np.concatenate([np.zeros(0), *(j.sizes for j in jacobians.values() if j.held)])
    finite_all = np.all(np.isfinite(run.value)) and np.all(np.isfinite(terms))
    certain = judged.verdict == "agree" and not judged.bends and not any(judged.slopes)
    if not (certain and finite_all and np.any(terms) and np.any(run.seed)):
        return
    away = random_direction(exact.point, list(jacobians), seed=1)
    elsewhere = {name: exact.inputs[name] + lifted(FAR * step) for name, step in away.items()}
    here, there = exact.values(), exact.at(elsewhere)
    seed, sizes = np.ravel(run.seed), [Decimal(largest(leaf.value)) for leaf in run.leaves.values()]
    total, gap = weighed(seed, here), weighed(np.append(seed, -seed), [*there, *here])
    stops = any(
        isinstance(node, Operation) and node.op.exact.pieces and node.op.exact.pieces.held for node in run.graph.nodes
    )
    constant = total.is_finite() and abs(gap) <= SAME * max(abs(total), *sizes) and not stops
    what = f"is {float(total):.6g} here and at a random other input" if constant else "stands still here"
    gradients = listed([f"{name}.grad" for name in jacobians], len(jacobians))
    left = ", and ≈0 marks what rounding leaves" if any(map(np.any, grad.values())) else ""
    judged.still = (
        f"{'v·' if seed.size > 1 else ''}{run.name} {what}: the terms of {gradients} cancel, so that "
        f"{'they are' if len(jacobians) > 1 else 'it is'} truly 0{left}."
    )


def walk_entries(
    exact: Exact,
    variable: str,
    places: Places,
    groups: Sequence[Sequence[int]],
    labels: tuple[Label, Label],
    bends: dict[str, str],
    takes: Callable[[Entry], str],
) -> Iterator[Entry]:
    """Yield the true entries of ∂y/∂x that can be other than 0, and note kinks and jumps on the way.

    ``labels`` call the entries of y and of x, ``takes`` says which slope is printed at a kink. Raises ``Spent``.
    """
    row, column = labels
    for entry in true_entries(exact, variable, places, groups):
        if entry.side.kind:
            at = column(entry.column) if entry.alone else ANY
            tell_bend(bends, entry.side, row(entry.row), at, takes(entry))
        yield entry


def walk_direction(
    exact: Exact,
    direction: Mapping[str, Array],
    row: Label,
    along: str,
    bends: dict[str, str],
    sizes: Sequence[Decimal] = (),
    sought: Sequence[Sequence[Decimal]] = (),
) -> Slope:
    """Return the derivative along a direction, and note kinks and jumps of y there. Raises ``Spent``."""
    slope = exact.along(direction, sizes, sought)
    for i, side in enumerate(slope.sides):
        tell_bend(bends, side, row(i), along, "")
    return slope


def look_around(
    exact: Exact, jacobians: Mapping[str, Jacobian | Sparse], row: Label, bends: dict[str, str], edgy: bool
) -> None:
    """Look for kinks along random directions that move all variables at once, the second one the first half turned.

    Where pieces of the program meet more are tried: a tie of three has six pieces. Where they do not, and a run is
    dear, one is enough.
    """
    names = list(jacobians)
    d, turned = random_direction(exact.point, names), turned_direction(exact.point, names)
    more = (random_direction(exact.point, names, seed) for seed in range(1, MOST_AROUND) if edgy)
    left = exact.work.left - SPENT_AROUND
    for k, direction in enumerate(chain((d, turned), more)):
        if k > 1 and (bends or exact.work.left < left):
            return
        if k == 1 and is_dear(exact) and not edgy:
            return
        sizes = sizes_along(jacobians, direction, exact.rows)
        walk_direction(exact, direction, row, ANY, bends, list(map(finite, sizes.tolist())))


def is_dear(exact: Exact) -> bool:
    """Return whether a run takes so much of the work that one direction has to do where no pieces meet."""
    return DEAR_RUN * exact.cost > exact.work.most


def sizes_along(jacobians: Mapping[str, Jacobian | Sparse], direction: Mapping[str, Array], rows: int) -> Array:
    """Return how large the terms of each row of J·d are."""
    sizes = np.zeros(rows)
    with np.errstate(all="ignore"):
        for name, jacobian in jacobians.items():
            terms = np.asarray(jacobian.sizes) * np.abs(np.ravel(direction[name])[jacobian.columns])
            np.add.at(sizes, jacobian.rows, terms)
    return sizes


def confirm_value(exact: Exact, run: Run, judged: Confirmation) -> None:
    """Hold y against its value in many digits."""
    sizes = TermSizes(np.full(np.size(run.value), run.scale), lambda: terms_of_value(run))
    label = label_entries(run.name, run.value.shape)
    for i, (value, truth) in enumerate(zip(np.ravel(run.value).tolist(), exact.values(), strict=True)):
        if math.isfinite(value):
            judged.judge("y", value, truth, sizes.at(i, value, truth), label(i))


def sizes_of_terms(run: Run, leaf: Node, jacobian: Jacobian | Sparse) -> TermSizes:
    """Return the sizes of the terms of the entries of J by an input: of their last digits, or with all rounding."""
    plain = np.asarray(jacobian.sizes)

    def rounded() -> Array:
        scale = max((largest(other.value) for other in run.variables.values()), default=0.0)
        sizes = sizes_with_rounding(run.graph, run.output, leaf, plain)
        return small_beside(sizes, plain, jacobian.rows, scale)

    return TermSizes(plain, rounded)


def terms_of_value(run: Run) -> Array:
    """Return the sizes of the terms of each entry of y, in flat order, those of the inputs at the least."""
    if not isinstance(run.output, Node):
        return np.full(np.size(run.value), run.scale)
    plain, sizes = sizes_of_output(run.graph, run.output)
    return small_beside(sizes, np.maximum(plain, run.scale), np.arange(plain.size), run.scale)


def small_beside(sizes: Array, plain: Array, rows: Indices, scale: float) -> Array:
    """Return sizes of terms whose rounding is small beside the numbers that are there, ``plain`` at the least.

    A number that shows beside the largest ``plain`` terms of its row, or that the rounding of the inputs (``scale`` is
    the largest of them) does not reach, is a wrong one to whoever reads it, whatever was lost on the way.
    """
    most = np.full(int(np.max(rows, initial=-1)) + 1, scale * ROUNDING / VISIBLE)
    np.maximum.at(most, rows, np.where(np.isfinite(plain), plain, 0.0))
    return np.maximum(plain, np.minimum(sizes, VISIBLE / ROUNDING * most[rows]))


Truths = list[list[tuple[float, Decimal]]]
"""For each entry of an input: the true entries in its column of J, each with that of v beside its row."""


def confirm_jacobian(
    exact: Exact, run: Run, name: str, jacobian: Jacobian, sizes: TermSizes, judged: Confirmation, edgy: bool
) -> tuple[Truths, Mask]:
    """Hold the entries of J by one variable against the true ones; return these, and which are what rounding left."""
    y, seed = map(np.ravel, (run.value, run.seed))
    row, column = label_entries(run.name, jacobian.output_shape), label_entries(name, jacobian.input_shape)
    places = list_places(jacobian, jacobian.matrix_shape)
    index_of = {(i, j): k for k, (i, j) in enumerate(zip(places.rows.tolist(), places.columns.tolist(), strict=True))}
    truths: Truths = [[] for _ in range(jacobian.matrix_shape[1])]
    dust = np.zeros(len(jacobian.values), dtype=bool)

    def value_at(entry: Entry) -> float:
        k = index_of.get((entry.row, entry.column))
        return 0.0 if k is None else float(jacobian.values[k])

    def takes(entry: Entry) -> str:
        return f" J takes {value_at(entry):.6g}."

    for entry in walk_entries(exact, name, places, places.grouped(edgy), (row, column), judged.bends, takes):
        value, k = value_at(entry), index_of.get((entry.row, entry.column))
        place = f"d{row(entry.row)}/d{column(entry.column)}"
        if entry.value.is_nan():
            judged.leave(place, entry.side.kind, value, y[entry.row])
        elif math.isfinite(value):
            size = 0.0 if k is None else sizes.at(k, value, entry.value)
            judged.judge("jacobian", value, entry.value, size, place)
            if k is not None:
                dust[k] = is_dust(value, entry.value, size)
        truths[entry.column].append((float(seed[entry.row]), entry.value))
    return truths, dust


def confirm_gradient(
    run: Run, name: str, jacobian: Jacobian, sums: Sums, sizes: TermSizes, truths: Truths, judged: Confirmation
) -> Mask:
    """Hold a gradient against the true sums; return where vᵀ·J and it are what rounding left, in the input's shape."""
    grad, vjp = np.ravel(sums.grad[name]), np.ravel(sums.vjp[name])
    scale = TermSizes(
        np.ravel(jacobian.scale(run.seed)), lambda: np.ravel(replace(jacobian, sizes=sizes.rounded).scale(run.seed))
    )
    dust = np.zeros((2, grad.size), dtype=bool)
    for j, terms in enumerate(truths):
        total = weighed(np.array([v for v, _ in terms]), [value for _, value in terms])
        judged.slopes.append(total)
        if total.is_finite() and math.isfinite(grad[j]):
            size = max(scale.at(j, float(number[j]), total) for number in (vjp, grad))
            place = f"{name}.grad{place_text(j, jacobian.input_shape)}"
            judged.judge("grad", float(grad[j]), total, size, place)
            dust[:, j] = [is_dust(float(number[j]), total, size) for number in (vjp, grad)]
    return dust.reshape(2, *jacobian.input_shape)


def list_places(jacobian: Jacobian | Sparse, shape: tuple[int, int], *others: Array) -> Places:
    """Return where a Jacobian can be other than 0, with its numbers there and those of ``others``."""
    return Places(jacobian.rows, jacobian.columns, np.asarray(jacobian.sizes), [jacobian.values, *others], shape)


def confirm_direction(
    exact: Exact, run: Run, jacobians: Mapping[str, Jacobian], grad: Mapping[str, Array], judged: Confirmation
) -> None:
    """Hold J·d, and the gradients times d, against the derivative along a random direction d; look for kinks there."""
    d = random_direction(exact.point, list(jacobians))
    rows = np.size(run.value)
    sizes, parts = np.zeros(rows), []
    for name, jacobian in jacobians.items():
        if jacobian.applied is not None and jacobian.leaf is not None and not jacobian.held:
            moved, grown = jacobian.applied.forth(jacobian.leaf, d[name])
            sizes += grown.ravel()
            parts.append((np.arange(rows), moved.ravel(), np.ones(rows)))
            continue
        sizes += sizes_along({name: jacobian}, d, rows)
        parts.append((jacobian.rows, jacobian.values, d[name].ravel()[jacobian.columns]))
    places, values, steps = (np.concatenate(column) for column in zip(*parts, strict=True))
    along = add_products(places, values, steps, rows)
    row = label_entries(run.name, np.shape(run.value))
    terms, sought = list(map(finite, sizes.tolist())), [list(map(finite, along))]
    slope = walk_direction(exact, d, row, ANY, judged.bends, terms, sought)
    seed = np.ravel(run.seed)
    for i, true in enumerate(slope.values):
        place = f"J for {row(i)} along a random direction"
        if true.is_nan():
            judged.leave(place, slope.sides[i].kind, along[i], float(np.ravel(run.value)[i]))
        elif math.isfinite(along[i]):
            judged.judge("jacobian", along[i], true, float(sizes[i]), place)
    total = weighed(seed, slope.values)
    judged.slopes.append(total)
    g, steps = (np.concatenate([np.ravel(each[name]) for name in jacobians]) for each in (grad, d))
    if total.is_finite() and np.all(np.isfinite(g)):
        size = float(np.sum(np.abs(seed) * sizes))
        slope_of_sum = add_products(np.zeros(g.size, dtype=np.intp), g, steps, 1)[0]
        judged.judge("grad", slope_of_sum, total, size, "x.grad along a random direction")
