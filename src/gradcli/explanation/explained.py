"""What an answer of ``explain`` holds: plain records, which the modules above fill and ``render`` reads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gradcli.explanation.events import Event, Value
from gradcli.explanation.rules import Path, Rule
from gradcli.jacobian.sparse import DENSE_ENTRIES, times
from gradcli.language.inputs import Cotangent
from gradcli.ops.declare import Array

if TYPE_CHECKING:
    from gradcli.explanation.effect import Effect
    from gradcli.explanation.lookup import Lookup

FEW = 64
"""Terms that are added up one by one; numpy adds more of them pairwise, as the engine's rules do."""


@dataclass(frozen=True, slots=True)
class Note:
    """One thing worth knowing.

    - ``kind``: a stable word for scripts.
    - ``message``: a sentence or several.

    >>> [note.kind for note in gradcli.explain("abs(x)", x=0.0).notes]
    ['kink']
    """

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Jacobian:
    """∂y/∂x for one variable: the entries that can be non-zero, in flat order of y (rows) and x (columns).

    - ``output_shape``, ``input_shape``: the shapes of y and of x.
    - ``rows``, ``columns``: where each entry stands, in y and in x, both flattened by rows: arrays of integers.
    - ``values``: the derivative in each of these places.
    - ``sizes``: the sum of the absolute terms that each of these derivatives is a sum of.
    - ``formulas``: a text for each of these entries; None where they are too many or too long.
    - ``structure``: ``zero``, ``diagonal``, ``permutation``, ``block-diagonal``, ``triangular``, ``banded``, ``dense``
      or ``sparse``.
    - ``rules``: what formulas have in common, or what stands in their place, as lines such as ``dy[i]/dx[i] = 2*x[i]``;
      there may be none.

    >>> J = gradcli.explain("x**2", x=[1, 2], v=[1, 1]).jacobian["x"]
    >>> J.shape, J.matrix_shape, J.structure
    ((2, 2), (2, 2), 'diagonal')
    >>> J.formulas, J.values.tolist()
    (['2*x[0]', '2*x[1]'], [2.0, 4.0])
    """

    output_shape: tuple[int, ...]
    input_shape: tuple[int, ...]
    rows: Array
    columns: Array
    values: Array
    sizes: Array
    formulas: list[str] | None
    structure: str
    rules: list[str] = field(default_factory=list)

    @property
    def shape(self) -> tuple[int, ...]:
        """``y.shape + x.shape``."""
        return self.output_shape + self.input_shape

    @property
    def matrix_shape(self) -> tuple[int, int]:
        """Entries of y by entries of x."""
        return math.prod(self.output_shape), math.prod(self.input_shape)

    @property
    def passes(self) -> int | None:
        """How many calls of backward give all of J, rows that share no column in one; None where that is not known."""
        from gradcli.jacobian.colouring import count_passes  # noqa: PLC0415

        return count_passes(self.rows, self.columns)

    @property
    def numeric(self) -> Array | None:
        """All entries as an array of ``shape``; None for a Jacobian with more than 10,000 of them."""
        if self.matrix_shape[0] * self.matrix_shape[1] > DENSE_ENTRIES:
            return None
        full = np.zeros(self.matrix_shape)
        full[self.rows, self.columns] = self.values
        return full.reshape(self.shape)

    def vjp(self, seed: Array) -> Array:
        """Return vᵀ·J in the shape of x, for a v in the shape of y."""
        count = self.matrix_shape[1]
        return weighted_sums(np.ravel(seed), self.rows, self.columns, self.values, count).reshape(self.input_shape)

    def scale(self, seed: Array) -> Array:
        """Return the sizes of the terms that vᵀ·J adds up, in the shape of x."""
        v, count = np.abs(np.ravel(seed)), self.matrix_shape[1]
        return weighted_sums(v, self.rows, self.columns, self.sizes, count).reshape(self.input_shape)


def weighted_sums(v: Array, rows: Array, columns: Array, values: Array, count: int) -> Array:
    """Return vᵀ times the entries of a matrix with ``count`` columns; a zero wins over inf and nan."""
    with np.errstate(all="ignore"):
        return column_sums(times(v[rows], values), columns, count)


def column_sums(terms: Array, columns: Array, count: int) -> Array:
    """Return the sums of the terms of each column: pairwise where they are many, so that rounding does not add up."""
    if np.max(np.bincount(columns), initial=0) <= FEW:
        return np.bincount(columns, weights=terms, minlength=count)
    order = np.argsort(columns, kind="stable")
    found, starts = np.unique(columns[order], return_index=True)
    total = np.zeros(count)
    total[found] = np.add.reduceat(terms[order], starts)
    return total


@dataclass(frozen=True, slots=True)
class Backward:
    """One call of ``y.backward(v)``; each dictionary has an array for each variable, in the variable's shape.

    - ``v``: the v of this call, a ``Cotangent``.
    - ``vjp``: vᵀ·J by the symbolic route.
    - ``grad``: the gradient by reverse mode.
    - ``accumulated``: what ``x.grad`` is after this call, which adds to those before it.

    >>> first, second = gradcli.explain("x**2", x=3.0, calls=[1, 10]).backward
    >>> second.grad["x"].item(), second.accumulated["x"].item()
    (60.0, 66.0)
    """

    v: Cotangent
    vjp: dict[str, Array]
    grad: dict[str, Array]
    accumulated: dict[str, Array]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Whether vᵀ·J and reverse mode give the same numbers, and the right ones.

    - ``agree``: whether ``verdict`` is ``agree``.
    - ``max_abs_error``: the largest distance between the two, over all entries, variables and calls.
    - ``finite``: whether y and all gradients are finite.
    - ``verdict``: ``agree``, ``differ``, ``digits-lost`` or ``unclear``.
    - ``digits``: the fewest right digits of ``y``, ``jacobian`` and ``grad``, 16 at most; None where no arithmetic with
      digits to spare was asked.

    >>> found = gradcli.explain("x**2", x=3.0).agreement
    >>> found.agree, found.max_abs_error, found.digits
    (True, 0.0, {'y': 16.0, 'jacobian': 16.0, 'grad': 16.0})
    """

    agree: bool
    max_abs_error: float
    finite: bool
    verdict: str = "agree"
    digits: dict[str, float] | None = None


@dataclass(frozen=True, slots=True)
class Gradient:
    """What reverse mode alone answers: y, v as it is shown and where it comes from, and ``x.grad`` by variable."""

    program: str
    output: Array
    v: Array
    v_source: str
    grad: dict[str, Array]
    notes: list[Note]


@dataclass(frozen=True, slots=True)
class Explained:
    """All that an answer of ``explain`` holds, without the ways to show it, which ``Explanation`` adds.

    - ``program``: the text.
    - ``name``: what y is called: the program's own last name for it, else ``y`` or another that is free.
    - ``inputs``: the value of every variable, by its name.
    - ``differentiated``: the names of those that J and gradients are by.
    - ``output``: y.
    - ``output_formulas``: a text for each entry of y in flat order; None where they are too many or too long.
    - ``definitions``: the names that formulas use beyond the variables, in an order in which they can be run.
    - ``jacobian``: J by each differentiated variable.
    - ``backward``: the calls of backward, in turn.
    - ``agreement``: whether the two routes agree, and how many digits are right.
    - ``notes``: what deserves a sentence.
    - ``lookup``: what is computed only when it is read, such as ``definition_values``.
    - ``forward``: what ran, in order: every value of the program, and the branches and turns that they stand in.
    - ``zeros``: where an entry of ``grad`` is what rounding has left of a true 0, by variable and in its shape.
    """

    program: str
    name: str
    inputs: dict[str, Array]
    differentiated: tuple[str, ...]
    output: Array
    output_formulas: list[str] | None
    definitions: dict[str, str]
    jacobian: dict[str, Jacobian]
    backward: list[Backward]
    agreement: Agreement
    notes: list[Note]
    lookup: Lookup = field(repr=False)
    zeros: dict[str, Array] = field(default_factory=dict)
    forward: list[Event] = field(default_factory=list)

    @property
    def values(self) -> list[Value]:
        """The values of the program in order, without the branches and turns between them."""
        return [event for event in self.forward if isinstance(event, Value)]

    @property
    def definition_values(self) -> dict[str, Array]:
        """The numbers of ``definitions`` at this point."""
        return {name: self.lookup.values[name] for name in self.definitions}

    @property
    def effect(self) -> Effect:
        """What v did: the number that backward differentiates, and what another v would have left."""
        return self.lookup.effect

    @property
    def has_steps(self) -> bool:
        """Whether the program names a value between the inputs and y, or uses an input as a whole twice."""
        return self.lookup.has_steps

    @property
    def rules(self) -> list[Rule]:
        """The backward pass for the sum of all v, a rule for each named value, in the order of the sweep.

        Of a program with more than 200 of them there are the first and the last.
        """
        return self.lookup.backward_pass.rules

    @property
    def constants(self) -> dict[str, Array]:
        """The long arrays that rules use and the program does not name, by the names that they have there."""
        return self.lookup.backward_pass.constants

    @property
    def paths(self) -> dict[str, list[Path]]:
        """The paths from each input to y, where they lead over single numbers and at most six from an input."""
        return self.lookup.paths

    @property
    def stages(self) -> list[Rule]:
        """The rules of the program's own variables that every path from the inputs to y runs through, and the inputs'.

        Empty where there is no such variable.
        """
        inner = [rule for rule in self.rules[1:] if rule.on_every_path and rule.made is None and not rule.is_input]
        return inner + [rule for rule in self.rules if rule.is_input] if inner else []

    @property
    def vjp(self) -> dict[str, Array]:
        """vᵀ·J by the symbolic route for each variable, in its shape, added up over all calls."""
        return sum_vjps(self.backward)

    @property
    def grad(self) -> dict[str, Array]:
        """``x.grad`` for each variable, in its shape, after the last call."""
        return self.backward[-1].accumulated

    @property
    def v(self) -> Array:
        """v as it is shown, added up over all calls where there are several."""
        return self.backward[0].v.shown if len(self.backward) == 1 else self.seed

    @property
    def seed(self) -> Array:
        """v as it counts, in the shape of y, added up over all calls."""
        return sum_of([call.v.seed for call in self.backward])

    @property
    def v_source(self) -> str:
        """Where v comes from: ``given``, ``default``, ``reshaped``, ``broadcast`` or ``accumulated``."""
        return self.backward[0].v.source if len(self.backward) == 1 else "accumulated"


def sum_vjps(backward: Sequence[Backward]) -> dict[str, Array]:
    """Return vᵀ·J for each variable, added up over all calls."""
    return {name: sum_of([call.vjp[name] for call in backward]) for name in backward[0].vjp}


def sum_of(arrays: Sequence[Array]) -> Array:
    """Return the sum, left to right as repeated calls add it up."""
    total = arrays[0]
    with np.errstate(all="ignore"):
        for array in arrays[1:]:
            total = total + array
    return total
