"""What a declaration of an op says, and the register that declarations fill.

An *op* is a node of the graph: a forward rule in numpy, one hand-written vector-Jacobian product (vjp) for each
argument, and a ``local_jacobian`` that lists its links, which ``jacobian`` multiplies by another route. All that is
particular to an op stands in its ``Op``: no other room asks for an op by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from enum import Enum
from functools import cache, wraps
from inspect import signature
from typing import Any, NamedTuple, Protocol, TypeVar, cast

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops import links
from gradcli.ops.links import OUT, At, Formula, Links, Local, Options, Rounding, Rule, Tensor, Test, Vjp
from gradcli.ops.writing import Call, function_call
from gradcli.records import dataclass, field, replace

F = TypeVar("F", bound=Callable[..., Any])
RULES: dict[Any, Any] = {}
"""By function, of numpy's or ours: the op that it is, or ``rule(f, *arguments, **options)``."""


def in_one_step(function: F) -> F:
    """Let an array that traces what is done with it take a function as one step, as it takes numpy's own functions."""

    @wraps(function)
    def called(*arguments: Any, **options: Any) -> Any:
        for x in arguments:
            if hasattr(x, "in_one_step"):
                return x.in_one_step(called, arguments, options)
        return function(*arguments, **options)

    return called  # type: ignore[return-value]


def rule_for(*functions: Any) -> Callable[[F], F]:
    """Enter the rule of functions for arrays that are traced."""

    def entered(rule: F) -> F:
        RULES.update(dict.fromkeys(functions, rule))
        return rule

    return entered


# --- what a record says where one word is not enough ---


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


# --- the record and its register ---

Array = links.Array
Indices = links.Indices


class Symmetry(Enum):
    """What a function of one number is where its argument turns its sign."""

    ODD = "f(-x) = -f(x)"
    EVEN = "f(-x) = f(x)"


class Keeps(Enum):
    """What PyTorch keeps for a derivative, beside arguments, which stand by their numbers."""

    OUTPUT = "the output"
    OTHERS = "all arguments but its own"
    OWN = "what is neither of them, such as the places of the largest entries"


@dataclass(frozen=True, slots=True, eq=False)
class Exactly:
    """How an op is computed in many digits, where its forward as it stands is not how.

    ``value(*values, **static)`` is that of arrays of exact numbers. ``pieces`` are those of an op in pieces; None: it
    is one formula everywhere. ``work(out, *values, **static)`` is about how many operations on single numbers it takes;
    None: as many as the largest array has entries.
    """

    value: Rule | None = None
    pieces: Piecewise | None = None
    work: Callable[..., int] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Torch:
    """What PyTorch does otherwise.

    ``differs(out, *values)`` is true where its gradient, and so the vjp, is not the mathematical one; ``says`` how.
    ``oddity`` says so of single nodes. ``saves`` is what it keeps for the derivative by each argument, one for all or
    None: what the vjps read; ``saves_of_arrays`` what it keeps beside where no argument is a plain number.
    ``rounding(out, *values, **static)`` are its own value and slope where these have fewer digits than ours, None for
    one that has as many. ``raises`` says that it has no derivative; ``several`` that the result is one of several views
    that it gives at once, none of which it lets anything be written to.
    """

    differs: Test | None = None
    says: str = ""
    oddity: Oddity | None = None
    saves: tuple[tuple[int | Keeps, ...], ...] | None = None
    saves_of_arrays: tuple[tuple[int | Keeps, ...], ...] = ()
    rounding: Rounding | None = None
    raises: bool = False
    several: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """How the entries of the output stand to those of the arguments.

    ``moves`` marks ops that only rearrange entries, ``view`` those whose result shares memory in PyTorch; ``by_shape``
    those whose vjps read no value but g, only shapes; ``shaped`` those whose local reading is the same for all numbers,
    but for zeros by ``zero_at``. ``spec(*values, **static)`` are the subscripts of a sum of products. ``folds(s,
    entries)`` makes an entry of the output of those that it is linked to, as formulas; None: it is written by
    ``formula``, ``spec`` or where it moves, and else by a symbol. ``index`` is the index rule; None: that of
    ``formula``, ``spec`` or where it moves. ``mentions(k, active)`` says whether the derivatives by the active
    arguments mention argument k.
    """

    moves: bool = False
    view: bool = False
    by_shape: bool = False
    shaped: bool = False
    spec: Callable[..., str] | None = None
    folds: Formula | None = None
    index: IndexTemplate | None = None
    mentions: Callable[[int, Sequence[int]], bool] = on_all


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """How an op and its vjps are written in the language.

    ``operator`` is its sign; empty: it is called as a function, as ``write`` has it. ``template`` with a
    ``precedence`` below 100 is how an operator stands in a formula, from the right where ``right``. ``listed`` marks an
    op that is written entry by entry, since the language has no expression for it. ``spelled`` is the function that it
    is called by, ``{kind}`` the one that an option names; empty: its name. ``defaults`` are the options that the
    function takes where none are given, ``words`` what options are called in the language, where that is another name.
    ``cancels`` is what an op is called of which little is left where its two sides cancel. ``rule`` is what people call
    the rule of its derivative by the arguments that are active; empty: the function's name.

    ``backward`` has for each argument the vjp as people write it, with ``{g}`` for the cotangent, ``{0}`` for argument
    0, ``{y}`` for the output, ``{G}`` and ``{Y}`` for g and y with the axes back that a reduction took away, ``{C}``
    for g as a column, and ``{dim}`` for an option. It is a text, or a tuple of texts where the first does not hold for
    all numbers; one function ``backward(k, out, *values, **static)`` may give them, by shapes and options alone. Empty:
    the vjp writes itself, as it does where no text holds.
    """

    operator: str = ""
    template: str | None = None
    precedence: int = 100
    right: bool = False
    listed: bool = False
    write: Callable[[Call], str] = function_call
    spelled: str = ""
    defaults: Options = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    cancels: str = ""
    rule: str | Callable[[Collection[int]], str] = ""
    backward: tuple[str | tuple[str, ...], ...] | Callable[..., str | tuple[str, ...]] = ()


NO_EXACT, NO_TORCH, NO_ENTRIES, NO_TEXT = Exactly(), Torch(), Entries(), Text()


@dataclass(frozen=True, slots=True, eq=False)
class Op:
    """All that is particular to an operation. What is left out means what is said here."""

    name: str
    forward: Rule
    """``forward(*values, **static)`` computes the output."""
    vjps: tuple[Vjp | None, ...] | Callable[[int], Vjp]
    """``vjps[k](g, out, *values, **static)``: the cotangent of argument k; None where no derivative flows.

    An op with any number of arguments gives one function ``vjps(k)``. A parameter that a vjp does not read begins with
    ``_``, and the tape keeps no numbers for it. The engine undoes broadcasting.
    """
    local_jacobian: Local
    """Gives the links of the local Jacobian."""
    formula: Formula | None = None
    """``formula(s, *symbols)`` is an elementwise op's scalar formula; None: it is not elementwise."""
    derivatives: Formula | None = None
    """Those of a call of the function, one for each argument, where it is a function of formulas, ``s.NAME``."""
    symmetry: Symmetry | None = None
    """That of such a function's sign."""
    double_vjps: tuple[Vjp | None, ...] | None = None
    """The vjps written so that they can be differentiated; None: the vjps are."""
    digits: Rule | None = None
    """``digits(out, *values)`` is the size of the terms whose difference is the derivative, where the vjp subtracts."""
    size: Callable[..., int] | None = None
    """``size(*values)`` bounds the elements of the output beforehand; None: those of the arguments, broadcast."""
    steps: Callable[..., int] | None = None
    """``steps(*values)`` is about how many numbers numpy goes through, where these are more than the entries."""
    terms: Callable[..., int] | None = None
    """What it costs to read the links; None: as much as there are."""

    # conventions
    kink: Kink | None = None
    """Where there is no derivative; None: nowhere."""
    edge: Test | None = None
    """``edge(*values, **static)``: a number may be wrong although there is no kink; None: another piece is near."""
    zero_at: Test | None = None
    """``zero_at(argument, *values)``: the derivative is 0 by convention although the formula says otherwise."""
    zero_text: tuple[str, ...] = ()
    """``zero_at`` of each argument in the language, with ``{0}`` for argument 0 and ``{y}`` for the output."""
    splits_zero: Test | None = None
    """``splits_zero(argument, *values)``: 0 and -0 of an argument give different values."""
    flat: bool = False
    """No gradient flows."""
    step: bool = False
    """It is flat wherever it has a derivative, and sends zeros back."""
    chooses: bool = False
    """It leaves entries of its arguments out by a condition."""
    domain: tuple[tuple[float, float], ...] = ((-2.0, 2.0),)
    """The numbers that tests draw from, for each argument or one for all."""

    # arrays
    require: Callable[..., None] | None = None
    """``require(*values)`` refuses what numpy takes for something else; operands become arrays. None: by entries."""
    whole: Whole | None = None
    """What an operator makes of masks and integers."""
    bits: Bits | None = None
    """What an operator on masks and integers alone does."""

    # how it is computed in many digits, differs in PyTorch, links entries and is written
    exact: Exactly = NO_EXACT
    torch: Torch = NO_TORCH
    entries: Entries = NO_ENTRIES
    text: Text = NO_TEXT

    def __post_init__(self) -> None:
        """Refuse a record that leaves out what it cannot do without."""
        missing = self.missing()
        if missing:
            raise ValueError(f"op {self.name!r} needs {missing}")

    def missing(self) -> str:
        """Return the field without which the others cannot be read, and why; empty where none is missing."""
        bends = self.step or (self.kink is not None and not self.kink.steep)
        if bends and self.exact.pieces is None:
            return "pieces: it has a kink or a step"
        if self.zero_at is not None and not self.zero_text:
            return "zero_text, which says what zero_at does"
        if self.torch.differs is not None and not self.torch.says:
            return "says: how PyTorch differs"
        differentiable = callable(self.vjps) or any(self.vjps)
        named = self.entries.spec or self.entries.moves or self.entries.index
        if differentiable and not (self.step or self.formula or named):
            return "index: an index rule, or Said() for none"
        for name in ("zero_text", "double_vjps", "domain"):
            count = len(getattr(self, name) or ())
            if count > (name == "domain") and isinstance(self.vjps, tuple) and count != len(self.vjps):
                return f"{name} for each argument: {count} for {len(self.vjps)}"
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


def declare(
    name: str,
    *rules: Any,
    exactly: Rule | None = None,
    pieces: Piecewise | None = None,
    work: Callable[..., int] | None = None,
    **record: Any,
) -> Op:
    """Enter an op in the table by the fields of its record, and of ``Exactly``, whose value is ``exactly`` here."""
    if name in OPS:
        raise ValueError(f"op {name!r} is declared twice")
    record["exact"] = Exactly(exactly, pieces, work)
    op = OPS[name] = Op(name, *rules, **record)
    if op.text.operator:
        OPERATORS[op.text.operator, len(op.vjps) if isinstance(op.vjps, tuple) else 0] = op
    return op


def variant(op: Op, key: str, **fields: Any) -> Op:
    """Enter an op of the same name that is another but for some fields, by a key of its own."""
    OPS[key] = result = replace(op, **fields)
    return result


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


def holds_somewhere(test: Any) -> bool:
    """Return whether a test holds in any entry; ``any`` of numpy takes ten times as long for one truth value."""
    return bool(test) if type(test) in (bool, np.bool_) else bool(np.asarray(test).any())


def no_links(_at: At) -> list[Links]:
    """Return no link at all: the output is flat or not differentiable."""
    return []


# --- what is kept for the way back ---


@dataclass(frozen=True, slots=True)
class Kept:
    """Which values are kept for the way back: those of the arguments, one flag each, and that of the output."""

    arguments: tuple[bool, ...]
    output: bool


@cache
def saved_here(op: Op, active: tuple[bool, ...]) -> Kept:
    """Return which arguments, and whether the output, is read for more than its shape on the way back.

    ``active`` says for each argument whether it is differentiated: the rules of others are not called.

    >>> from gradcli.ops import OPS
    >>> saved_here(OPS["mul"], (True, False))
    Kept(arguments=(False, True), output=False)
    """
    if op.entries.by_shape:
        return Kept((False,) * len(active), output=False)
    rules = [op.vjp(k) for k, flows in enumerate(active) if flows]
    read = {slot for rule in rules if rule is not None for slot in read_by(rule, len(active))}
    return Kept(tuple(k in read for k in range(len(active))), OUT in read)


def read_by(vjp: Vjp, count: int) -> set[int]:
    """Return the arguments, of so many, and ``OUT``, that a vjp reads: no ``_`` begins the name of their parameter."""
    names = [p.name for p in signature(vjp).parameters.values() if p.kind < p.KEYWORD_ONLY]
    slots = enumerate((OUT, *range(count)), start=1)
    return {slot for place, slot in slots if not names[min(place, len(names) - 1)].startswith("_")}


@cache
def saved_by_torch(op: Op, active: tuple[bool, ...], arrays: tuple[bool, ...]) -> Kept:
    """Return which arguments, and whether the output, PyTorch keeps for the derivatives by the active arguments.

    That is what our own rules read, except where the op says otherwise; ``arrays`` are the arguments that are not plain
    numbers.
    """
    if op.torch.saves is None:
        return saved_here(op, active)
    parts, places = parts_kept(op, active, arrays), range(len(active))
    others = {j for k, part in parts if part is Keeps.OTHERS for j in places if j != k}
    named = {part for _, part in parts}
    return Kept(tuple(k in named or k in others for k in places), Keeps.OUTPUT in named)


def keeps_own(op: Op, active: tuple[bool, ...], arrays: tuple[bool, ...]) -> bool:
    """Return whether PyTorch keeps what is neither argument nor output, such as the places of the largest entries."""
    return any(part is Keeps.OWN for _, part in parts_kept(op, active, arrays))


def parts_kept(op: Op, active: tuple[bool, ...], arrays: tuple[bool, ...]) -> list[tuple[int, int | Keeps]]:
    """Return what PyTorch keeps by the record of an op, each with the number of the argument that it is for."""
    parts = []
    for saves in (op.torch.saves or (), op.torch.saves_of_arrays if all(arrays) else ()):
        each = saves * len(active) if len(saves) == 1 else saves
        parts += [(k, part) for k, some in enumerate(each[: len(active)]) if active[k] for part in some]
    return parts


# --- what rules are called ---


def op_name(op: Op, static: Options) -> str:
    """Return what an operation is called: the function that it is spelled as, else its op."""
    return op.text.spelled.format(**static) or op.name


def rule_of(op: Op, active: Collection[int], static: Options) -> str:
    """Return what the rule of an operation is called where derivatives flow to the arguments ``active``.

    >>> from gradcli.ops import OPS
    >>> [rule_of(OPS[op], active, {}) for op, active in (("mul", [0, 1]), ("mul", [1]), ("pow", [1]), ("tanh", [0]))]
    ['product', 'constant factor', 'exponential', 'tanh']
    """
    rule = op.text.rule(active) if callable(op.text.rule) else op.text.rule
    return rule or op_name(op, static)
