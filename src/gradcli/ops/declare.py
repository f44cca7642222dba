"""What a declaration of an op says, and the register that declarations fill.

An *op* is a node of the graph: a forward rule in numpy, one hand-written vector-Jacobian product (vjp) for each
argument, and a ``local`` reading from which ``symbolic`` builds the local Jacobian by another route. All that is
particular to an op stands in its ``Op``: no other room asks for an op by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, cast

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops import signatures
from gradcli.ops.links import Links, Local
from gradcli.ops.parts import Bits, IndexTemplate, Kink, Oddity, Piecewise, Whole, on_all
from gradcli.ops.signatures import Doubles, Formula, Options, Rule, Tensor, Test, Vjp
from gradcli.ops.writing import Call, function_call
from gradcli.records import dataclass, field

Array = signatures.Array
Indices = signatures.Indices


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """All that is particular to an operation. What is left out means what is said here.

    Numbers. ``forward(*values, **static)`` computes the output; ``vjps[k](g, out, *values, **static)`` the cotangent of
    argument k (the engine undoes broadcasting); None where no derivative flows. An op with any number of arguments
    gives one function ``vjps(k)``. A parameter that a vjp does not read begins with ``_``: the tape need not keep it.
    ``local`` gives the links of the local Jacobian, ``formula(s, *symbols)`` is an elementwise op's scalar formula;
    None: it is not elementwise. ``digits(out, *values)`` is the size of the terms whose difference is the derivative,
    where the vjp subtracts; None: it does not. ``size(*values)`` bounds the elements of the output before they are
    made; None: they are those of the arguments, broadcast. ``steps(*values)`` is about how many numbers numpy goes
    through, where these are more than the entries; None: they are not. ``terms`` is what it costs to read the links;
    None: as much as there are.

    Many digits. ``exactly(*values, **static)`` is the value of arrays of exact numbers; None: as ``forward`` has it.
    ``pieces`` are those of an op in pieces; None: it is one formula everywhere. ``work(out, *values, **static)`` is
    about how many operations on single numbers it takes; None: as many as the largest array has entries.

    Conventions. ``kink`` is where there is no derivative; None: nowhere. ``edge(*values, **static)`` is true where a
    number may be wrong although there is no kink; None: where another piece is near.
    ``zero_at(argument, *values)`` is true where the derivative is 0 by convention although the formula says otherwise;
    ``zero_text`` says so for each argument in the language, with ``{0}`` for argument 0 and ``{y}`` for the output.
    ``splits_zero(argument, *values)`` is true where 0 and -0 of an argument give different values.
    ``flat`` says that no gradient flows; a ``step`` is flat wherever it has a derivative, and sends zeros back.
    ``chooses`` marks an op that leaves entries of its arguments out by a condition. ``domain`` has for each argument
    the numbers that tests draw from.

    PyTorch. ``differs(out, *values)`` is true where its gradient, and so the vjp, is not the mathematical one; ``says``
    how. ``oddity`` says so of single nodes. ``torch_saves`` says for each argument what PyTorch keeps for its
    derivative: words such as ``"output"``, ``"0 1"`` (numbers of arguments), ``"others"`` or ``"own"`` (neither of
    them), and after ``arrays:`` what it keeps where no argument is a plain number; one text holds for all arguments;
    None: what the vjps read.
    ``torch_doubles(out, *values, **static)`` are PyTorch's own value and slope where these have fewer digits than ours,
    None for one that has as many; None: both have. ``torch_raises`` says that PyTorch has no derivative; ``several``
    that the result is one of several views that PyTorch gives at once, none of which it lets anything be written to.

    Entries. ``moves`` marks ops that only rearrange entries, ``view`` those whose result shares memory in PyTorch;
    ``by_shape`` those whose vjps read no value but g, only shapes; ``shaped`` those whose local reading is the same for
    all numbers, but for zeros by ``zero_at``. ``spec(*values, **static)`` are the subscripts of a sum of products;
    None: it is none. ``folds(s, entries)`` makes an entry of the output of those that it is linked to, as formulas;
    None: it is written by ``formula``, ``spec`` or where it moves, and else by a symbol. ``index`` is the index rule;
    None: that of ``formula``, ``spec`` or where it moves. ``mentions(k, active)`` says whether the derivatives by the
    active arguments mention argument k.

    Text. ``operator`` is how the syntax of the language writes it; empty: it is called as a function, as ``write`` has
    it. ``text`` with a ``precedence`` below 100 is how an operator stands in a formula, from the right where
    ``right``. ``listed`` marks an op that is written entry by entry, since the language has no expression for it.
    ``spelled`` is the function that it is called by; empty: its name. ``defaults`` are the options that the function
    takes where none are given, ``words`` what options are called in the language, where that is another name.
    ``cancels`` is what an op is called of which little is left where its two sides cancel; empty: none is.
    ``backward_text`` has for each argument the vjp as people write it in the language, with ``{g}`` for the cotangent,
    ``{0}`` for argument 0, ``{y}`` for the output, ``{G}`` and ``{Y}`` for g and y with the axes back that a reduction
    took away, ``{C}`` for g as a column, and ``{dim}`` for an option. It is a text, or a tuple of texts where the first
    does not hold for all numbers; one function ``backward_text(k, out, *values, **static)`` may give them, by shapes
    and options alone. Empty: the vjp writes itself, as it does where no text holds.

    Second derivatives. ``again`` are the vjps written so that they can be differentiated; None: the vjps are.

    Arrays. ``require(*values)`` refuses what numpy would take for something else, so that operands become arrays;
    None: it works entry by entry. ``whole`` is what an operator makes of masks and integers, ``bits`` what one of masks
    and integers alone does; None: it is no such operator.
    """

    name: str
    forward: Rule
    vjps: tuple[Vjp | None, ...] | Callable[[int], Vjp]
    local: Local
    formula: Formula | None = None
    digits: Rule | None = None
    size: Callable[..., int] | None = None
    steps: Callable[..., int] | None = None
    terms: Callable[..., int] | None = None
    exactly: Rule | None = None
    pieces: Piecewise | None = None
    work: Callable[..., int] | None = None
    kink: Kink | None = None
    edge: Test | None = None
    zero_at: Test | None = None
    zero_text: tuple[str, ...] = ()
    splits_zero: Test | None = None
    flat: bool = False
    step: bool = False
    chooses: bool = False
    domain: tuple[tuple[float, float], ...] = ((-2.0, 2.0),)
    differs: Test | None = None
    says: str = ""
    oddity: Oddity | None = None
    torch_saves: tuple[str, ...] | None = None
    torch_doubles: Doubles | None = None
    torch_raises: bool = False
    several: bool = False
    moves: bool = False
    view: bool = False
    by_shape: bool = False
    shaped: bool = False
    spec: Callable[..., str] | None = None
    folds: Formula | None = None
    index: IndexTemplate | None = None
    mentions: Callable[[int, Sequence[int]], bool] = on_all
    operator: str = ""
    text: str | None = None
    precedence: int = 100
    right: bool = False
    listed: bool = False
    write: Callable[[Call], str] = function_call
    spelled: str = ""
    defaults: Options = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    cancels: str = ""
    backward_text: tuple[str | tuple[str, ...], ...] | Callable[..., str | tuple[str, ...]] = ()
    require: Callable[..., None] | None = None
    whole: Whole | None = None
    bits: Bits | None = None
    again: tuple[Vjp | None, ...] | None = None

    def __post_init__(self) -> None:
        """Refuse a record that leaves out what it cannot do without."""
        missing = self.missing()
        if missing:
            raise ValueError(f"op {self.name!r} needs {missing}")

    def missing(self) -> str:
        """Return the field without which the others cannot be read, and why; empty where none is missing."""
        bends = self.step or (self.kink is not None and not self.kink.steep)
        if bends and self.pieces is None:
            return "pieces: it has a kink or a step"
        if self.zero_at is not None and not self.zero_text:
            return "zero_text, which says what zero_at does"
        if self.differs is not None and not self.says:
            return "says: how PyTorch differs"
        differentiable = callable(self.vjps) or any(self.vjps)
        if differentiable and not (self.step or self.formula or self.spec or self.moves or self.index):
            return "index: an index rule, or Said() for none"
        return ""

    def vjp(self, argument: int) -> Vjp | None:
        """Return the rule for one argument."""
        if isinstance(self.vjps, tuple):
            return self.vjps[argument]
        return self.vjps(argument)

    def vjp_along(self, link: int) -> Vjp:
        """Return the rule for an argument that derivatives flow to: it has one."""
        return cast("Vjp", self.vjp(link))

    def has_signed_zero(self, argument: int, arguments: tuple[Tensor, ...]) -> bool:
        """Return whether an entry of one argument is a zero whose sign counts."""
        if self.splits_zero is None:
            return False
        return holds_somewhere(self.splits_zero(argument, *[value_of(a) for a in arguments]))


class Apply(Protocol):
    """Applies an op to values of a program and returns the value of the result."""

    def __call__(self, op: Op, *arguments: Tensor | float, **static: Any) -> Tensor:
        """Return the value of ``op`` at the arguments."""

    def piece(self, op: Op, x: Tensor, **static: Any) -> Any:
        """Return the piece that ``op`` was on at ``x``, where it was applied just now."""

    def charge(self, elements: int) -> None:
        """Refuse an array of so many elements, before it is made, if it would pass the budget."""

    def is_input(self, value: object) -> bool:
        """Return whether a value is a variable that the user gave, as it was given."""

    def remark(self, kind: str, message: str) -> None:
        """Leave a note on this run."""


OPS: dict[str, Op] = {}
OPERATORS: dict[tuple[str, int], Op] = {}
"""The op of each operator of the language, by its sign and its number of operands."""


def declare(op: Op) -> Op:
    """Enter an op in the table."""
    if op.name in OPS:
        raise ValueError(f"op {op.name!r} is declared twice")
    OPS[op.name] = op
    if op.operator:
        OPERATORS[op.operator, len(op.vjps) if isinstance(op.vjps, tuple) else 0] = op
    return op


BEYOND = "numbers as large or small as here leave double precision on the way, each route at another step"


def beyond(out: Array, *values: Array) -> bool:
    """Return whether the square of an argument is no double any more: there an order of multiplication matters."""
    del out
    sizes = [np.abs(np.asarray(value, dtype=np.float64)) for value in values]
    return any(bool(np.any((size > 1e150) | ((size > 0) & (size < 1e-150)))) for size in sizes)


@dataclass(frozen=True, slots=True)
class Pair:
    """What ``max``, ``min``, ``median`` and ``sort`` give along an axis: values, and where they stood."""

    values: Tensor
    indices: Indices


@dataclass(frozen=True, slots=True)
class Parts:
    """What a decomposition gives: arrays by their names in PyTorch, in the order in which they are unpacked.

    Each is made when it is first asked for.
    """

    names: tuple[str, ...]
    makers: tuple[Callable[[], Tensor], ...]
    made: dict[int, Tensor] = field(default_factory=dict)

    def __getitem__(self, position: int) -> Tensor:
        """Return the array at a position from 0 on."""
        if position not in self.made:
            made: Any = self.makers[position]()
            self.made[position] = getattr(made, "node", made)
        return self.made[position]

    def part(self, name: str) -> Tensor:
        """Return the array of this name; raises ``not-allowed`` where there is none."""
        if name not in self.names:
            raise GradcliError("not-allowed", f"there is no .{name} here", hint=f"there is .{', .'.join(self.names)}")
        return self[self.names.index(name)]


def value_of(x: object) -> Any:
    """Return the numbers of a value of a program, whether it is a node of the graph or a plain array."""
    return getattr(x, "value", x)


def tensor(value: object) -> Any:
    """Return one number as an array without axes, by which a tensor is told from a plain number."""
    return np.asarray(value) if isinstance(value, np.generic) else value


def holds_somewhere(found: Any) -> bool:
    """Return whether a test holds in any entry; ``any`` of numpy takes ten times as long for one truth value."""
    return bool(found) if type(found) in (bool, np.bool_) else bool(np.asarray(found).any())


def no_links(argument: int, out: Array, values: tuple[Array, ...], static: Options) -> list[Links]:
    """Return no link at all: the output is flat or not differentiable."""
    del argument, out, values, static
    return []
