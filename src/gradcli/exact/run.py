"""A program evaluated once more: in many digits, and with a record of what it decided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from decimal import Decimal, getcontext
from typing import Any, NamedTuple, cast

import numpy as np

from gradcli.engine.graph import TENSORS, Graph, Node, misfit
from gradcli.errors import GradcliError
from gradcli.exact.real import as_doubles, decimal, lifted
from gradcli.exact.work import CALL, at_digits, charge
from gradcli.language.program import Program
from gradcli.ops.declare import Array, Op, Piecewise, value_of
from gradcli.ops.links import Options
from gradcli.records import dataclass, field


def refuse_as_doubles(op: Op, values: Sequence[object], static: Options) -> None:
    """Raise what double precision raises too: shapes that do not fit are the program's own error."""
    doubles = [as_doubles(value) for value in values]
    try:
        op.forward(*doubles, **static)
    except (ValueError, IndexError, TypeError) as error:
        raise misfit(op, doubles, error) from None


class Decision(NamedTuple):
    """Which piece of a piecewise op a run was on: the side of a comparison, a whole part, the position of a maximum."""

    op: Op
    piece: Any
    values: Sequence[Any]
    static: Options

    @property
    def held(self) -> bool:
        """Whether the piece is none that the program chose: what is detached, and what an algorithm leaves open."""
        return self.op.exact.pieces is not None and (self.op.exact.pieces.held or self.op.exact.pieces.open)

    def but_for_rounding(self, beside: Any) -> Any:
        """Return the piece ``beside`` that a run beside x would take, but this one where rounding alone had made it.

        That is where the run at x, led by what doubles had decided, would have decided otherwise in many digits.
        """
        then = cast("Piecewise", self.op.exact.pieces).piece(*self.values, **self.static)
        if same(self.piece, then):
            return beside
        if not np.shape(self.piece) == np.shape(then) == np.shape(beside) or self.op.exact.work is not None:
            return self.piece
        made = np.asarray(self.piece != then)
        axes = self.static.get("dim")
        if axes is not None and made.ndim == np.ndim(value_of(self.values[0])):  # what is ordered is so along these
            made = np.any(made, axes, keepdims=True)
        return np.where(made, self.piece, beside)


@dataclass(slots=True)
class Deciding(Graph):
    """A graph that notes what a run decides, in order, and can be made to decide as another run did.

    ``exact`` computes in the digits of the context, otherwise in doubles. ``base`` are the decisions of another run;
    ``follow`` says to take them all, else only those that are held, and where doubles had ``led`` that run, those that
    rounding had made. ``doubles`` are the decisions of a run in doubles, of which those that are open are taken.
    ``aside`` says that what is decided now is none of the answer's. ``cancels`` tells whether a sum of rounded numbers
    came to 0, of which more digits may leave something.
    """

    exact: bool = True
    base: Sequence[Decision] = ()
    follow: bool = False
    led: bool = False
    doubles: Sequence[Decision] = ()
    decisions: list[Decision] = field(default_factory=list)
    cancels: bool = False
    aside: bool = False
    _ahead: dict[int, Iterator[Decision]] = field(default_factory=dict)

    def apply(
        self, op: Op, arguments: tuple[Any, ...], static: Options, values: Sequence[object], links: tuple[int, ...] = ()
    ) -> Any:
        """Apply an op as a graph does, by its pieces and in many digits."""
        if not self.exact or self.is_earlier(arguments):
            return Graph.apply(self, op, arguments, static, values, links)
        exact = [value if is_lifted(value) else lifted(value) for value in values]
        try:
            value = self._lifted_value(op, arguments, exact, static)
        except (ValueError, IndexError, TypeError) as error:
            refuse_as_doubles(op, exact, static)
            raise GradcliError("exact", f"{op.name} cannot be computed in many digits here: {error}") from error
        self.cancels = self.cancels or cancels(op, exact, value)
        charge(at_digits(CALL + operations(op, exact, static, value), getcontext().prec))
        self.meter.watch()
        return Graph.enter(self, op, arguments, static, value, links)

    @staticmethod
    def is_earlier(arguments: tuple[Any, ...]) -> bool:
        """Return whether a value is computed from inputs alone that are none of the answer's.

        These are what a training script updates before: they are the doubles that they were.
        """
        active = [a for a in arguments if isinstance(a, Node) and a.active]
        return bool(active) and not any(is_lifted(a.value) for a in active)

    def enter(
        self, op: Op, arguments: tuple[Any, ...], static: Options, value: object, links: tuple[int, ...] = ()
    ) -> Any:
        """Note what an operation in doubles decides, and enter it; a run in many digits has such of earlier calls."""
        self._note(op, [value_of(a) for a in arguments], static)
        return Graph.enter(self, op, arguments, static, value, links)

    def piece(self, op: Op, x: object, **static: Any) -> Any:
        """Return the piece that was taken, which may be that of another run."""
        del x, static
        decision = next((one for one in self.decisions[:-3:-1] if one.op is op), None)  # what is held was held since
        if decision is None:
            raise GradcliError("exact", f"{op.name} has decided nothing just now")
        return decision.piece

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Let a run decide for itself, and forget what."""
        before, length = self.aside, len(self.decisions)
        self.aside = True
        try:
            yield
        finally:
            self.aside = before
            del self.decisions[length:]

    def _note(self, op: Op, values: Sequence[object], static: Options) -> None:
        parts = op.exact.pieces
        if parts is not None:
            with np.errstate(all="ignore"):
                self.decisions.append(Decision(op, parts.piece(*map(np.asarray, values), **static), values, static))

    def _lifted_value(self, op: Op, arguments: tuple[Any, ...], values: Sequence[Any], static: Options) -> Any:
        """Return the value of an op as exact numbers; a view shows the memory of its argument, as in doubles.

        One number that is made of plain numbers alone is told from a tensor by its type, but for what is given a shape.
        """
        made = self._value(op, values, static)
        value = made if op.entries.view and is_lifted(made) else lifted(np.asarray(made))
        if op.entries.view and type(arguments[0]) is np.ndarray:
            return op.forward(arguments[0], **static)
        shaped = op.entries.view and not op.flat
        plain = TENSORS.isdisjoint(map(type, arguments)) and np.ndim(value) == 0 and is_lifted(value) and not shaped
        return value.view(PlainNumber) if plain else value

    def _value(self, op: Op, values: Sequence[object], static: Options) -> Any:
        parts = op.exact.pieces
        if parts is None:
            return (op.exact.value or op.forward)(*values, **static)
        if self.aside:
            piece = parts.piece(*values, **static)
        elif self.follow or (parts.held and self.base):
            piece = self._taken(op)
        else:
            piece = parts.piece(*values, **static)
            there = next(self._those_of(op), None) if self.led or parts.open else None
            if there is not None:
                piece = there.piece if parts.open else there.but_for_rounding(piece)
        self.decisions.append(Decision(op, piece, values, static))
        return parts.on(piece, *values, **static)

    def _those_of(self, op: Op) -> Iterator[Decision]:
        """Return what the other run decided by an op and has not been asked for: beside x, others may come between."""
        if id(op) not in self._ahead:
            others = self.doubles if op.exact.pieces is not None and op.exact.pieces.open else self.base
            self._ahead[id(op)] = iter([decision for decision in others if decision.op is op])
        return self._ahead[id(op)]

    def _taken(self, op: Op) -> Any:
        """Return what the other run decided at this place; raises ``exact`` where it ran another way."""
        place = len(self.decisions)
        if place >= len(self.base) or self.base[place].op is not op:
            raise GradcliError("exact", "the program decides otherwise in many digits, and cannot be led back")
        return self.base[place].piece


def cancels(op: Op, values: Sequence[Any], value: Any) -> bool:
    """Return whether an op gives a 0 of which more digits may leave something: a sum of terms with all digits does."""
    if op.exact.pieces is not None or op.entries.moves or all(value.flat):
        return False
    if op.formula is not None:
        columns = [np.broadcast_to(each, value.shape).flat for each in values]
        terms = [column for y, *column in zip(value.flat, *columns, strict=True) if not y and all(column)]
    else:
        terms = [each.flat for each in values if is_lifted(each)]
    entries = (decimal(entry) for column in terms for entry in column)
    return any(len(entry.as_tuple().digits) >= getcontext().prec for entry in entries)


class PlainNumber(np.ndarray):
    """A number in many digits that is no tensor: no write changes it."""


def is_lifted(value: object) -> bool:
    """Return whether a value is one that this run has made, or an input: entries need not be looked at again."""
    return isinstance(value, np.ndarray) and value.dtype.kind == "O"


def operations(op: Op, values: Sequence[Any], static: Options, value: Any) -> int:
    """Return how many operations on single numbers an op takes, roughly."""
    if op.exact.work is not None:
        return op.exact.work(value, *values, **static)
    return max([np.size(value), *map(np.size, values)])


class Run(NamedTuple):
    """The output of a run, its decisions, and whether sums cancelled."""

    output: Array
    decisions: list[Decision]
    cancels: bool

    @property
    def numbers(self) -> list[Decimal]:
        """The entries of the output in flat order; a truth value is 0 or 1."""
        return [decimal(entry) for entry in self.output.ravel().tolist()]


def run(
    program: Program,
    values: Mapping[str, object],
    wrt: frozenset[str],
    base: Sequence[Decision] = (),
    follow: bool = False,
    led: bool = False,
    doubles: Sequence[Decision] = (),
) -> Run:
    """Evaluate a program in the digits of the context; ``values`` are arrays of Reals."""
    graph = Deciding(program.budget, exact=True, base=base, follow=follow, led=led, doubles=doubles)
    _, output, _ = program.evaluate(values, wrt, graph=graph)
    return Run(lifted(np.asarray(value_of(output))), graph.decisions, graph.cancels)


def decisions_in_doubles(program: Program, values: Mapping[str, object], wrt: frozenset[str]) -> list[Decision]:
    """Return what a run in double precision decides."""
    graph = Deciding(program.budget, exact=False)
    program.evaluate(values, wrt, graph=graph)
    return graph.decisions


def first_difference(left: Sequence[Decision], right: Sequence[Decision]) -> tuple[Decision, Decision] | None:
    """Return the first place at which two runs decided differently, None where they never did.

    What is held is no choice.
    """
    for one, other in zip(left, right, strict=False):
        if one.op is not other.op or (not one.held and not same(one.piece, other.piece)):
            return one, other
    if len(left) == len(right):
        return None
    extra = max(left, right, key=len)[min(len(left), len(right))]
    return extra, extra


def same(left: object, right: object) -> bool:
    """Return whether two pieces are the same numbers; nan is the same as nan."""
    a, b = np.asarray(left), np.asarray(right)
    if a.shape != b.shape:
        return False
    if a.dtype == b.dtype == object:
        return all(x == y or (x != x and y != y) for x, y in zip(a.ravel(), b.ravel(), strict=True))  # noqa: PLR0124
    if object in (a.dtype, b.dtype):
        a, b = as_doubles(a), as_doubles(b)
    return bool(np.array_equal(a, b, equal_nan="f" in (a.dtype.kind, b.dtype.kind)))
