"""The parts of an op's record that say more than one thing: pieces, kinks, index rules, masks and integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gradcli.errors import GradcliError
from gradcli.ops.signatures import Rule, Test
from gradcli.records import dataclass


class Piecewise(NamedTuple):
    """``piece(*values, **static)`` tells pieces apart, entry by entry; ``on(piece, *values, **static)`` is the value.

    A piece that is ``held`` is that of x at x ± h too: what is detached does not move. One that is ``open`` is the one
    of several right ones that an algorithm in doubles took, as the sign of a singular vector: all other runs take it.
    """

    piece: Rule
    on: Rule
    held: bool = False
    open: bool = False


@dataclass(frozen=True, slots=True)
class Kink:
    """Where a function has no derivative: ``at(*values, **static)`` is true there; ``says`` names the choice made.

    At a ``steep`` one no two pieces meet: the slope has no limit there, as that of a root at 0.
    """

    at: Test
    says: str
    steep: bool = False


@dataclass(frozen=True, slots=True)
class Oddity:
    """Where PyTorch's backward, and so the vjp, is not the derivative by its nature, and not by rounding.

    ``says(active, out, *values, **static)`` is the sentence for these numbers, and empty where there is nothing to
    say; ``active`` has for each argument whether it is differentiated. ``kind`` is the word for scripts.
    """

    kind: str
    says: Callable[..., str]


class Reduced(NamedTuple):
    """The index rule of an output y that is reduced from n entries, by one of them, x: ``exp({x} - {y})``.

    It holds for the options for which ``holds(**static)``.
    """

    text: str
    holds: Callable[..., bool] = lambda **static: True


class Paired(NamedTuple):
    """The index rule of output i of an op on a vector x by entry j: ``where({j} <= {i}, 1, 0)``, y the output."""

    text: str


class Chosen(NamedTuple):
    """The index rules of an op by each argument, where entries of them become the output: ``where({0}, 1, 0)``.

    ``{0}`` is an entry of argument 0; an empty text stands for an argument without a derivative.
    """

    texts: tuple[str, ...]


class Picked(NamedTuple):
    """The index rule of an op that picks entries along ``dim``: 1 at the places that ``places(x, **static)`` writes.

    ``kept(**static)`` says whether the output has as many axes as its argument, ``whole`` whether as many entries.
    """

    places: Callable[..., str]
    kept: Callable[..., bool]
    whole: Callable[..., bool]


class Said:
    """No index rule: in chains of rules the derivative is said in words."""


IndexTemplate = Reduced | Paired | Chosen | Picked | Said


class Whole(NamedTuple):
    """What an operator makes of masks and integers alone.

    ``plain(a, b)`` is the result of two plain integers, None where it is not taken as an exact integer. ``rule(f, x,
    y)`` is that of arrays of truth values or integers: a mask, integers or, of a division, floats.
    ``masks`` says who answers for two masks, ``mixed`` for a mask and integers, ``beside`` for a mask and floats and
    ``beside_integers`` for integers and floats: ``both`` libraries, ``numpy`` alone or ``neither``.
    ``in_place`` is the sentence where NumPy makes integers of two truth values, and so cannot write them in place.
    """

    plain: Callable[[int, int], int | None] | None
    rule: Rule
    masks: str = "both"
    mixed: str = "both"
    beside: str = "both"
    beside_integers: str = "both"
    in_place: str = ""


class Bits(NamedTuple):
    """What an operator on masks and integers alone makes of ``plain`` ones, and the error for floats.

    ``of_integers`` says whether it takes two plain integers.
    """

    plain: Callable[[int, int], int]
    refusal: tuple[str, str, str]
    of_integers: bool = True

    def error(self) -> GradcliError:
        """Return the error for floats."""
        kind, message, hint = self.refusal
        return GradcliError(kind, message, hint=hint)


def on_all(k: int, active: Sequence[int]) -> bool:
    """Return True: any derivative of the op may mention any argument."""
    del k, active
    return True


def on_none(k: int, active: Sequence[int]) -> bool:
    """Return False: the op is linear in all its arguments together."""
    del k, active
    return False


def on_others(k: int, active: Sequence[int]) -> bool:
    """Return whether one of the ``active`` arguments is another: the op is linear in each, as a product is."""
    return any(j != k for j in active)
