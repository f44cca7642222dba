"""The one error that gradcli raises for anything that its user can mend."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

Span = tuple[int, int]
"""A half-open range of characters, counted from 0 in the text that ``Place.text`` holds."""


@dataclass(frozen=True, slots=True)
class Place:
    """The text that an error points into and the name under which the user gave it (``program``, ``--x``)."""

    text: str
    name: str = "program"


class GradcliError(Exception):
    """What is wrong, where, and the way out.

    ``kind`` is a stable word for scripts (``unknown-name``, ``shape``, ``budget`` …), ``span`` the characters at
    fault in ``place.text``, ``hint`` what to do about it. An inner layer that knows the span but not the text
    leaves ``place`` empty, and the layer that holds the text adds it.

    >>> try:
    ...     gradcli.explain("sine(x)", x=1.0)
    ... except gradcli.GradcliError as error:
    ...     print(error.kind, error.span, error.hint)
    unknown-function (0, 4) did you mean 'sin'?
    """

    def __init__(
        self,
        kind: str,
        message: str,
        *,
        span: Span | None = None,
        hint: str | None = None,
        place: Place | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.span = span
        self.hint = hint
        self.place = place

    def at(self, span: Span | None, place: Place | None = None) -> GradcliError:
        """Return this error with a span and a place, where it has none yet."""
        if self.span is None:
            self.span = span
        if self.place is None:
            self.place = place
        return self


Word = Callable[[str, str | None], str]
"""How an input is given, from its name and its value: ``None`` for the name alone, empty where any value does."""


def python_word(name: str, value: str | None) -> str:
    """Return how a caller in Python gives an input."""
    return name if value is None else f"{name}={value or '...'}"


class InputError(GradcliError):
    """An input that is missing or too many; ``wording`` is the hint, once it is known how inputs are given."""

    def __init__(
        self,
        kind: str,
        message: str,
        wording: Callable[[Word], str],
        *,
        span: Span | None = None,
        place: Place | None = None,
    ) -> None:
        super().__init__(kind, message, span=span, hint=wording(python_word), place=place)
        self.wording = wording

    def worded(self, word: Word) -> InputError:
        """Return this error with its hint in the words of an interface."""
        self.hint = self.wording(word)
        return self


@dataclass(frozen=True, slots=True)
class Budget:
    """Bounds on what one program may cost; each is refused by its name.

    - ``text``: characters of the program.
    - ``depth``: nesting of brackets.
    - ``syntax``: nodes of its syntax tree.
    - ``digits``: digits of a number in it.
    - ``turns``: turns of all loops together.
    - ``nodes``: operations of one run.
    - ``elements``, ``total``: entries of one array, and of all arrays together.
    - ``jacobian``: entries of one Jacobian that can be non-zero.
    - ``seconds``: time of the processor.

    >>> try:
    ...     gradcli.explain("ones(9)*x", x=1, v=[1] * 9, budget=gradcli.Budget(elements=5))
    ... except gradcli.GradcliError as error:
    ...     print(error.kind)
    budget
    """

    text: int = 65_536
    depth: int = 100
    syntax: int = 5_000
    digits: int = 300
    turns: int = 100_000
    nodes: int = 100_000
    elements: int = 5_000_000
    total: int = 50_000_000
    jacobian: int = 4_000_000
    seconds: float = 9.0

    def changed(self, name: str, value: float) -> Budget:
        """Return the same budget with one bound set to ``value``."""
        return replace(self, **{name: type(getattr(self, name))(value)})


def over_budget(name: str, bound: float, what: str, span: Span | None = None) -> GradcliError:
    """Return the error that refuses ``what`` because it passes the bound ``name``."""
    return GradcliError(
        "budget",
        f"{what}: more than the budget '{name}' of {bound:,}",
        span=span,
        hint=f"make it smaller, or raise the bound with --budget {name}=NUMBER",
    )
