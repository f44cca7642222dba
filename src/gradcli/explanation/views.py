"""What an answer holds only where it was asked for: parts of J, J·u, second derivatives, descent. Plain records."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from gradcli.explanation.explained import Note, Proof
from gradcli.explanation.jacobians import Jacobian
from gradcli.ops.links import Array

if TYPE_CHECKING:
    from gradcli.explanation.lookup import Lookup


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
    - ``lookup``: what is computed only when it is read, such as the numbers of these names.
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
    lookup: Lookup = field(repr=False)
    u: dict[str, Array] | None
    product: dict[str, Array] | None
    symmetric: bool | None
    proof: Proof

    @property
    def spans(self) -> dict[str, slice]:
        """Which entries of the gradient, in flat order, belong to each variable."""
        found, start = {}, 0
        for name, jacobian in self.whole.items():
            stop = start + jacobian.matrix_shape[1]
            found[name] = slice(start, stop)
            start = stop
        return found

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
    from gradcli.jacobian.sparse import Pattern

    if not whole.held:
        return replace(whole, output_shape=shape, index_rules=[])
    own = np.flatnonzero((whole.rows >= span.start) & (whole.rows < span.stop))
    rows, columns, values, sizes = whole.rows[own] - span.start, whole.columns[own], whole.values[own], whole.sizes[own]
    formulas = None if whole.formulas is None else [whole.formulas[k] for k in own.tolist()]
    pattern = Pattern(rows, columns, (span.stop - span.start, whole.matrix_shape[1]))
    return Jacobian(shape, whole.input_shape, pattern, values, sizes, formulas)


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
