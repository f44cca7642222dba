"""What v did: the one number that backward differentiates, what another v would have left. Plain records."""

from __future__ import annotations

from gradcli.errors.hints import counted
from gradcli.ops.links import Array, Mask
from gradcli.records import dataclass


@dataclass(frozen=True, slots=True)
class Nudge:
    """One entry of an input moved by a little, and how far L = v·y moves with it.

    - ``name``, ``index``: the variable, and the indices of the entry.
    - ``step``: how far it is moved.
    - ``slope``: the gradient there; ``predicted`` is its product with the step.
    - ``measured``: how far L moves when the program is run again; None where it has no value there, or rounding hides
      the move.
    """

    name: str
    index: tuple[int, ...]
    step: float
    slope: float
    predicted: float
    measured: float | None


@dataclass(frozen=True, slots=True)
class Weighted:
    """The gradients that another v would leave, by variable and in its shape.

    - ``grad``: the numbers.
    - ``dust``: where a number is no more than what rounding leaves of the terms that it is a sum of.
    """

    grad: dict[str, Array]
    dust: dict[str, Mask]


@dataclass(frozen=True, slots=True)
class Shared:
    """An entry of an input, by ``name`` and ``index``, on which several entries of y depend: ``rows``, in flat order.

    A dependence whose slope is 0 at this point does not count.
    """

    name: str
    index: tuple[int, ...]
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Broadcast:
    """An input that an operation repeats to another shape, so that its gradient adds a term for each use.

    - ``name``, ``shape``: the variable.
    - ``to``: the first shape that it is repeated to.
    - ``times``: how often each of its entries is used, in all operations together.

    >>> gradcli.explain("sum((x + b)**2)", x=[1.0, 2.0, 3.0], b=0.5).broadcasts
    [Broadcast(name='b', shape=(), to=(3,), times=3)]
    """

    name: str
    shape: tuple[int, ...]
    to: tuple[int, ...]
    times: int


@dataclass(frozen=True, slots=True)
class Passes:
    """How many passes give all of J: forward mode takes one for each input, reverse mode one for each output.

    - ``inputs``, ``outputs``: the entries of the differentiated variables, and of y.
    - ``coloured``: the reverse passes that are enough where rows which share no column go together; None where there
      are several variables, or the entries of J are not held.

    >>> gradcli.explain("sum(x**2)", x=[1.0, 2.0, 3.0]).passes.sentence
    'One reverse pass gives the gradient; forward mode takes 3, one for each input.'
    """

    inputs: int
    outputs: int
    coloured: int | None

    @property
    def sentence(self) -> str:
        """What both ways take, and why."""
        if self.outputs == 1:
            forward = f"takes {self.inputs:,}, one for each input" if self.inputs > 1 else "takes one too"
            return f"One reverse pass gives the gradient; forward mode {forward}."
        fewer = self.coloured is not None and self.coloured < self.outputs
        merged = f" ({self.coloured:,} if rows without a common column share a pass)" if fewer else ""
        reverse = f"{self.outputs:,} reverse passes, one for each output{merged}"
        return f"J: {reverse}, or {self.inputs:,} forward, one for each input."


@dataclass(frozen=True, slots=True)
class Trial:
    """The gradient of L = v·y in one entry beside the difference quotient (L(x + h) - L(x - h))/(2*h).

    - ``name``, ``index``: the variable, and the indices of the entry.
    - ``step``: h.
    - ``gradient``, ``quotient``: both numbers.
    - ``routes``: the largest distance between vᵀ·J and reverse mode, over all entries.
    - ``digits``: how many digits the quotient shares with the gradient; ``single``: how many rounding would leave of
      the best quotient in float32.

    >>> trial = gradcli.explain("x**3", x=1.5).trial
    >>> trial.gradient, round(trial.quotient, 8), trial.routes, trial.digits > 8
    (6.75, 6.75, 0.0, True)
    """

    name: str
    index: tuple[int, ...]
    step: float
    gradient: float
    quotient: float
    routes: float
    digits: int
    single: int

    @property
    def sentence(self) -> str:
        """What the quotient and the distance of the routes say of the gradient, and what says more."""
        entry = f"{self.name}[{','.join(map(str, self.index))}]" if self.index else self.name
        right = f"right to {counted(self.digits, 'digit')} (in float32 to {self.single})"
        return (
            f"The difference quotient by {entry} is {self.quotient:.6g}, {right}; J and reverse mode differ by "
            f"{self.routes:.2g}; gradcli check shows how many digits of each entry are right."
        )


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample, by its ``index`` along the first axis.

    - ``loss``: its own loss, of which the output is the mean.
    - ``grad``: what it adds to the gradient, by variable: already divided by the number of samples.
    """

    index: int
    loss: float
    grad: dict[str, Array]


@dataclass(frozen=True, slots=True)
class Samples:
    """The terms of the gradient of a mean over samples.

    - ``count``: how many samples there are.
    - ``shown``: a few of them, in order.
    - ``rest``: what reaches the gradient past the mean, such as that of a penalty on weights; empty where nothing does.

    >>> samples = gradcli.explain("mean((x*w - t)**2)", x=[1.0, 2.0], t=[1.0, 1.0], w=3.0, wrt=["w"]).samples
    >>> [(sample.loss, sample.grad["w"].item()) for sample in samples.shown]
    [(4.0, 2.0), (25.0, 10.0)]
    """

    count: int
    shown: list[Sample]
    rest: dict[str, Array]


@dataclass(frozen=True, slots=True)
class Effect:
    """What v did.

    - ``total``: L = v·y, the number that backward differentiates.
    - ``nudge``: an entry of an input moved by a little; None where no gradient is finite and other than 0.
    - ``sum``, ``mean``: what v = ones and v = 1/n would leave, the gradients of ``y.sum()`` and ``y.mean()``.
    - ``row``, ``of_row``: an entry of y in flat order, and what a v that is 1 there alone would leave: this row of J.
    - ``one_hot``: the row that v itself takes out of J; None where v is not 1 in one entry and 0 in all others.
    - ``usual``: ``sum`` or ``mean`` where v is one of these itself, empty where it is not.
    - ``shared``: why ones does not give the derivative of each output; None where each input moves one output at most.

    >>> effect = gradcli.explain("[x[0], x[0]*x[1]]", x=[2.0, 3.0], v=[1, 10]).effect
    >>> effect.total, effect.sum.grad["x"].tolist(), effect.shared
    (62.0, [4.0, 2.0], Shared(name='x', index=(0,), rows=(0, 1)))
    """

    total: float
    nudge: Nudge | None
    sum: Weighted
    mean: Weighted
    row: int
    of_row: Weighted
    one_hot: int | None
    usual: str
    shared: Shared | None


@dataclass(frozen=True, slots=True)
class Dust:
    """Where numbers by one variable are what rounding has left of 0, and are shown so.

    - ``entries``: of J, in the order of ``Jacobian.values``.
    - ``vjp``, ``grad``: of vᵀ·J and of ``x.grad``, in the shape of the variable.

    >>> gradcli.explain("softmax(x)", x=[0.1, 0.2], v=[1, 1]).dust["x"].grad.dtype
    dtype('bool')
    """

    entries: Mask
    vjp: Mask
    grad: Mask
