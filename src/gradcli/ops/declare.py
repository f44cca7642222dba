"""What a declaration of an op says, and the registers that declarations fill.

An *op* is a node of the graph: a forward rule in numpy, one hand-written vector-Jacobian product (vjp) for each
argument, and a ``local`` reading from which ``symbolic`` builds the local Jacobian by another route.
A *function* is what users write: it has spellings and a signature, and applies one or several ops.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Indices = npt.NDArray[np.intp]
Vjp = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Partial:
    """The derivative of ``formula`` by its argument number ``argument``; sympy takes it."""

    formula: Callable[..., Any]
    argument: int = 0


@dataclass(frozen=True, slots=True)
class Implicit:
    """The derivative of y by x where ``outer(y)`` is a sum of ``inner(x)``: inner'(x) / outer'(y); sympy takes both."""

    inner: Callable[..., Any]
    outer: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Explicit:
    """A coefficient that is a formula as it stands, such as the other factor of a product."""

    formula: Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Links:
    """A part of a local Jacobian: ``d out[rows] / d argument[columns] = weight * factor(bound values)``.

    ``rows`` and ``columns`` are flat indices. ``factor`` takes one symbol for each item of ``bound``, and an item is
    ``(slot, flat indices)`` with slot ``k`` for argument k, ``-1`` for the output and ``-2`` for ``auxiliary``.
    A weight of 0 says that the derivative is 0 here by convention, whatever the factor.
    """

    rows: Indices
    columns: Indices
    weight: Array | float = 1.0
    factor: Partial | Implicit | Explicit | None = None
    bound: tuple[tuple[int, Indices], ...] = ()
    auxiliary: tuple[str, Array] | None = None


Local = Callable[..., list[Links]]
"""``local(argument, out, values, static)``: the links from argument number ``argument`` to ``out``."""


@dataclass(frozen=True, slots=True)
class Kink:
    """Where a function has no derivative: ``at(*values, **static)`` is true there; ``says`` names the choice made."""

    at: Callable[..., Any]
    says: str


@dataclass(frozen=True, slots=True)
class Oddity:
    """Where PyTorch's backward, and so the vjp, is not the derivative by its nature, and not by rounding.

    ``says(active, out, *values, **static)`` is the sentence for these numbers, and empty where there is nothing to
    say; ``active`` has for each argument whether it is differentiated. ``kind`` is the word for scripts.
    """

    kind: str
    says: Callable[..., str]


@dataclass(frozen=True, slots=True)
class Op:
    """One row of the table.

    ``forward(*values, **static)`` computes the output; ``vjps[k](g, out, *values, **static)`` the cotangent of
    argument k (the engine undoes broadcasting); None where no derivative flows. An op with any number of arguments
    gives one function ``vjps(k)``. ``formula(s, *symbols)`` is an elementwise op's scalar formula. ``digits(out,
    *values)`` is the size of the terms whose difference is the derivative, where the vjp subtracts.
    ``size(*values)`` bounds the elements of the output before they are made, ``terms`` the links of the local reading.
    ``zero_at(argument, *values)`` is true where the derivative is 0 by convention although the formula says otherwise,
    and ``zero_text`` says so for each argument in the language.
    ``splits_zero(argument, *values)`` is true where 0 and -0 of an argument give different values.
    ``differs(out, *values)`` is true where PyTorch's gradient, and so the vjp, is not the mathematical one; ``says`` how.
    ``oddity`` says so of single nodes. ``flat`` says that no gradient flows; a ``step`` is flat wherever it has a derivative, and sends zeros back.
    ``moves`` marks ops that only rearrange entries, ``view`` those whose result shares memory in PyTorch; ``by_shape``
    those whose vjps read no value but g, only shapes; ``shaped`` those whose local reading is the same for all numbers,
    but for zeros by ``zero_at``.
    ``torch_saves`` says for each argument what PyTorch keeps for its derivative, where that is not what the vjp
    reads: words such as ``"output"``, ``"0 1"`` (numbers of arguments) or ``"others"``, and after ``arrays:`` what it
    keeps where no argument is a plain number; one text holds for all arguments. ``torch_raises`` says that PyTorch has no derivative.
    """

    name: str
    forward: Callable[..., Any]
    vjps: tuple[Vjp | None, ...] | Callable[[int], Vjp]
    local: Local | None = None
    formula: Callable[..., Any] | None = None
    text: str | None = None
    precedence: int = 100
    domain: tuple[tuple[float, float], ...] = ((-2.0, 2.0),)
    kink: Kink | None = None
    digits: Callable[..., Any] | None = None
    size: Callable[..., int] | None = None
    terms: Callable[..., int] | None = None
    zero_at: Callable[..., Any] | None = None
    zero_text: tuple[str, ...] = ()
    splits_zero: Callable[..., Any] | None = None
    differs: Callable[..., Any] | None = None
    says: str = ""
    oddity: Oddity | None = None
    flat: bool = False
    step: bool = False
    moves: bool = False
    view: bool = False
    by_shape: bool = False
    shaped: bool = False
    torch_saves: tuple[str, ...] | None = None
    torch_raises: bool = False

    def vjp(self, argument: int) -> Vjp | None:
        """Return the rule for one argument."""
        if isinstance(self.vjps, tuple):
            return self.vjps[argument]
        return self.vjps(argument)

    def has_signed_zero(self, argument: int, arguments: tuple[Any, ...]) -> bool:
        """Return whether an entry of one argument is a zero whose sign counts."""
        if self.splits_zero is None:
            return False
        found = self.splits_zero(argument, *[value_of(a) for a in arguments])
        return found if type(found) is bool else bool(found.any())


class Apply(Protocol):
    """Applies an op to values of a program and returns the value of the result."""

    def __call__(self, op: Op, *arguments: Any, **static: Any) -> Any:
        """Return the value of ``op`` at the arguments."""

    def charge(self, elements: int) -> None:
        """Refuse an array of so many elements, before it is made, if it would pass the budget."""

    def remark(self, kind: str, message: str) -> None:
        """Leave a note on this run."""


@dataclass(frozen=True, slots=True)
class Function:
    """What users write: ``build(apply, ...)`` with an annotated signature, under every name in ``spellings``.

    Without a builder it is ``op`` of each entry of its one argument.
    """

    name: str
    build: Callable[..., Any] | None
    spellings: tuple[str, ...]
    methods: tuple[str, ...]
    summary: str
    family: str
    op: Op | None = field(default=None)


OPS: dict[str, Op] = {}
FUNCTIONS: dict[str, Function] = {}
SPELLINGS: dict[str, Function] = {}
METHODS: dict[str, Function] = {}

LIBRARIES = {
    "t": ("torch",),
    "n": ("np", "numpy", "jnp"),
    "m": ("math",),
    "f": ("F", "nn.functional", "torch.nn.functional"),
    "l": ("linalg", "torch.linalg", "np.linalg", "numpy.linalg"),
    "s": ("special", "torch.special"),
}


def declare(op: Op) -> Op:
    """Enter an op in the table."""
    if op.name in OPS:
        raise ValueError(f"op {op.name!r} is declared twice")
    OPS[op.name] = op
    return op


def spellings(names: Iterable[str], libraries: str) -> tuple[str, ...]:
    """Return every way to write ``names``: bare (unless ``-``) and under each library of ``libraries``."""
    prefixes = [prefix for letter in libraries if letter in LIBRARIES for prefix in LIBRARIES[letter]]
    bare = [] if "-" in libraries else [name for name in names if "." not in name]
    dotted = [name for name in names if "." in name]
    return (*bare, *dotted, *(f"{prefix}.{name}" for name in names if "." not in name for prefix in prefixes))


def register(function: Function) -> None:
    """Enter a function in the vocabulary."""
    FUNCTIONS[function.name] = function
    for spelling in function.spellings:
        if SPELLINGS.setdefault(spelling, function) is not function:
            raise ValueError(f"{spelling!r} is spelled twice")
    for method in function.methods:
        if METHODS.setdefault(method, function) is not function:
            raise ValueError(f".{method}() is spelled twice")


def enter(
    names: str, of: str, family: str, summary: str, *, op: Op | None = None, build: Callable[..., Any] | None = None
) -> None:
    """Enter a function under ``names`` (the first is its own) and the libraries ``of``; ``.`` is methods."""
    own, *others = names.split()
    plain = [name for name in (own, *others) if "." not in name]
    methods = tuple(plain) if "." in of else ()
    register(Function(own, build, spellings((own, *others), of), methods, summary, family, op))


def function(
    names: str, of: str, family: str, *, op: Op | None = None
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter the decorated builder as ``enter`` does, with the first line of its docstring."""

    def decorate(build: Callable[..., Any]) -> Callable[..., Any]:
        lines = (build.__doc__ or names).strip().splitlines()
        enter(names, of, family, lines[0], op=op, build=build)
        return build

    return decorate


BEYOND = "numbers as large or small as here leave double precision on the way, each route at another step"


def beyond(out: Any, *values: Any) -> bool:
    """Return whether the square of an argument is no double any more: there an order of multiplication matters."""
    del out
    sizes = [np.abs(np.asarray(value, dtype=np.float64)) for value in values]
    return any(bool(np.any((size > 1e150) | ((size > 0) & (size < 1e-150)))) for size in sizes)


@dataclass(frozen=True, slots=True)
class Pair:
    """What ``max``, ``min``, ``median`` and ``sort`` give along an axis: values, and where they stood."""

    values: Any
    indices: Array


def value_of(x: Any) -> Any:
    """Return the numbers of a value of a program, whether it is a node of the graph or a plain array."""
    return getattr(x, "value", x)


Tensor = Any
"""A parameter that takes an array of a program; a number becomes one."""
Tensors = Any
"""A parameter that takes a list of arrays, not stacked."""
Static = Any
"""A parameter that takes plain integers, flags, texts or None, known when the program runs."""


Library = str
"""A parameter that no user gives: the library whose name was used, ``np``, ``F``, or else ``torch``."""


def no_links(argument: int, out: Any, values: tuple[Any, ...], static: dict[str, Any]) -> list[Links]:
    """Return no link at all: the output is flat or not differentiable."""
    del argument, out, values, static
    return []
