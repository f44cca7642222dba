"""What is said of a confirmed answer: kinks and jumps, decisions that rounding made, digits that are lost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np

from gradcli.engine.naming import place_text
from gradcli.exact.judge import right_digits
from gradcli.exact.limits import Side
from gradcli.exact.run import Decision
from gradcli.exact.thresholds import FEWEST, TOLD
from gradcli.explanation.effect import Dust
from gradcli.explanation.explained import Note
from gradcli.ops.declare import value_of
from gradcli.records import dataclass, field

NOTHING = 1e-20
"""A slope that is smaller than this beside the other side's is 0."""
SHOWN = 2
"""Wrong numbers of a kind that are named."""


def spent_text(work: int) -> str:
    """Return why something was not decided where the work is used up."""
    return f"it takes more than the budget 'work' of {work:,}"


def too_large_text(work: int) -> str:
    """Return why nothing was asked of a program whose runs alone take more than the work."""
    return f"in higher precision the program takes more than the budget 'work' of {work:,}"


def undecided_text(why: str) -> str:
    """Return the sentence that nothing is said of whether the numbers are right, and why."""
    return f"gradcli could not decide whether these numbers are right: {why}."


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
        if any(found < FEWEST for found in self.digits.values()):
            return "digits-lost"
        return "unclear" if self.unknown else "agree"

    def judge(self, what: str, value: float, truth: Any, size: float, place: str) -> float:
        """Count the right digits of one number, and return them."""
        found = right_digits(value, truth, size)
        if found < self.digits.get(what, math.inf):
            self.digits[what] = found
        if found < FEWEST and sum(text.startswith(place[:1]) for text in self.wrong) < SHOWN:
            self.wrong.append(f"{place} is {value!r} here and truly {float(truth):.10g}")
        return found


def tell_undecided(found: Confirmation, value: float, y: float, side: Side, place: str) -> None:
    """Say that the truth of a finite number was not found, where y has a value and no kink or jump is the reason."""
    if math.isfinite(value) and math.isfinite(y) and not side.kind and not found.unknown:
        found.unknown = f"{place} changes with every digit that is added"


def tell_bend(found: dict[str, str], side: Side, row: str, at: str, takes: str) -> None:
    """Note a kink, a jump, an infinite slope or an edge of the domain, the first of its kind.

    ``takes`` is a sentence, or none, that says which slope is printed.
    """
    if not side.kind or side.kind in found:
        return
    left, right = (text(slope, other) for slope, other in ((side.left, side.right), (side.right, side.left)))
    told = {
        "kink": f"{row} has a kink at this point: by {at} its slope is {left} on the left and {right} on the right.",
        "jump": f"{row} jumps at this point, as {at} passes it.",
        "infinite-slope": f"{row} is infinitely steep at this point, by {at}.",
        "edge": f"{row} has no value on the {'left' if side.left.is_nan() else 'right'} of this point, by {at}: this "
        "is an edge of its domain.",
    }
    found[side.kind] = told[side.kind] + takes


def text(slope: Any, other: Any) -> str:
    """Return a slope to read: 0 where it is what a step leaves of 0, next to that of the other side."""
    return "0" if abs(float(slope)) < NOTHING * abs(float(other)) < math.inf else f"{float(slope) + 0.0:.6g}"


def rounding_text(pair: tuple[Decision, Decision]) -> str:
    """Return which decision rounding made, at the first entry where the two runs part."""
    doubles, exact = pair
    place = parting(doubles, exact)
    shown = [value_text(value, 17, place) for value in doubles.values]
    op = doubles.op
    what = op.text.format(*shown) if op.text and len(shown) == op.text.count("{}") else f"{op.name}({', '.join(shown)})"
    at = f" in entry {place_text(*place)}" if place is not None and place[1] else ""
    side = f" ({', '.join(value_text(value, 20, place) for value in exact.values)} with more digits)"
    decides = f"Rounding decides {what}{at}{side}: exact numbers would take another way"
    return f"{decides}. This answer takes that of double precision."


Place = tuple[int, tuple[int, ...]]
"""An entry by its number in flat order, and the shape that it is one of."""


def parting(doubles: Decision, exact: Decision) -> Place | None:
    """Return the first entry that two runs decide differently; None where a decision is not one for each entry."""
    one, other = np.asarray(doubles.piece), np.asarray(exact.piece)
    if (doubles.op.moves and not doubles.op.chooses) or one.shape != other.shape:
        return None
    try:
        shape = np.broadcast_shapes(*(np.shape(value) for value in doubles.values))
    except ValueError:  # such as a table that each number is looked up in
        return None
    if one.shape != shape:
        return None
    parted = np.flatnonzero(np.ravel(one != other))
    return (int(parted[0]), shape) if len(parted) else None


def value_text(value: Any, count: int, place: Place | None) -> str:
    """Return a value that is compared: its number at a place, else its first of several."""
    entries = np.asarray(value_of(value))
    flat = np.ravel(entries if place is None else np.broadcast_to(entries, place[1])).tolist()
    if not flat:
        return "[]"
    number = flat[0 if place is None else place[0]]
    text = f"{number.d or 0:.{count}g}" if hasattr(number, "d") else f"{number:.{count}g}"
    return text if place is not None or len(flat) == 1 else f"[{text}, ...]"


def note_confirmation(
    found: Confirmation, names: tuple[str, Sequence[str]], kinks: Sequence[Note], causes: Sequence[Note]
) -> list[Note]:
    """Return the notes of a confirmed answer.

    ``names`` are what the output is called and the differentiated inputs.
    ``kinks`` are what ops say of their own kinks, which stand where y bends; ``causes`` why digits may be lost.
    """
    notes = []
    for kind, message in found.bends.items():
        notes += [*kinks] if kind == "kink" and kinks else [Note(kind, message)]
    if found.still:
        notes.append(Note("zero-gradient", found.still))
    if found.rounded:
        notes.append(Note("rounding-decides", found.rounded))
    if any(count < TOLD for count in found.digits.values()):
        output, inputs = names
        named = {"y": output, "jacobian": "J", "grad": f"{inputs[0]}.grad" if len(inputs) == 1 else "the gradient"}
        first, *rest = (f"of {named[what]} {int(count)}" for what, count in found.digits.items())
        told = "".join(f" {sentence}." for sentence in found.wrong)
        why = f" {causes[0].message}" if causes and not told else ""
        notes.append(
            Note("digits-lost", f"Rounding has cost digits: {', '.join([f'{first} are right', *rest])}.{told}{why}")
        )
    if found.unknown and found.verdict == "unclear":
        notes.append(Note("unclear", undecided_text(found.unknown)))
    return notes
