"""The one error that gradcli raises for anything that its user can mend."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from gradcli.errors.hints import Facts, MissingV, OverBudget, hint_of
from gradcli.records import dataclass, replace

Span = tuple[int, int]
"""A half-open range of characters, counted from 0 in the text that ``Place.text`` holds."""


@dataclass(frozen=True, slots=True)
class Place:
    """The text that an error points into and the name under which the user gave it (``program``, ``--x``)."""

    text: str
    name: str = "program"


WHOLE = ("program", "script")
"""Names of texts that are shown with the number of the line."""


class GradcliError(Exception):
    """What is wrong, where, and the way out.

    ``kind`` is a stable word for scripts (``unknown-name``, ``shape``, ``budget`` …), ``span`` the characters at
    fault in ``place.text``, ``hint`` what to do about it. Where that depends on how gradcli was called, ``facts`` say
    what the error is about, and each front end words the hint from them. An inner layer that knows the span but not
    the text leaves ``place`` empty, and the layer that holds the text adds it. ``ended`` is the run of the script that
    came to it, whose events the document has.

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
        facts: Facts | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.span = span
        self.hint = hint_of(facts) if hint is None and facts is not None else hint
        self.place = place
        self.facts = facts
        self.ended: Any = None

    def __str__(self) -> str:
        """Return what ``diagnostic`` does, in ASCII."""
        return self.diagnostic()

    def diagnostic(self, encoding: str = "ascii", width: int | None = None) -> str:
        """Return the message, the line at fault with a caret under the place, and the way out, without a final newline.

        Characters that ``encoding`` lacks or a terminal obeys are escaped. The line at fault fits ``width``.
        """
        from gradcli.errors.inert import excerpt, inert, shortened  # most runs end without an error

        lines = [f"error: {inert(shortened(self.message), '', encoding)}"]
        if self.span is not None and self.place is not None and self.place.text:
            label = "" if self.place.name in WHOLE else self.place.name
            lines += excerpt(self.place.text, self.span, label, encoding, width)
        if self.hint:
            choices = self.hint.split("\n") if isinstance(self.facts, MissingV) else [self.hint]
            leads = ["help: ", *[" " * 6] * (len(choices) - 1)]
            lines += [
                lead + inert(shortened(choice), "", encoding) for lead, choice in zip(leads, choices, strict=True)
            ]
        return "\n".join(lines)

    def at(self, span: Span | None, place: Place | None = None) -> GradcliError:
        """Return this error with a span and a place, where it has none yet."""
        if self.span is None:
            self.span = span
        if self.place is None:
            self.place = place
        return self

    def about(self, facts: Facts) -> GradcliError:
        """Return this error with other facts, and the hint that they give."""
        self.facts, self.hint = facts, hint_of(facts)
        return self

    def worded(self, wording: Callable[[Facts], str]) -> GradcliError:
        """Return this error with its hint in the words of a front end, where they depend on it."""
        if self.facts is not None:
            self.hint = wording(self.facts)
        return self

    def under(self, name: str) -> GradcliError:
        """Return this error without its place, as one about what the user knows by ``name``."""
        return type(self)(self.kind, f"{name}: {self.message}", hint=self.hint, facts=self.facts)


class GivenUp(GradcliError):
    """A run that was given up for want of seconds or memory: another machine may have them, so no verdict is drawn."""


@dataclasses.dataclass(frozen=True, slots=True)
class Budget:
    """Bounds on what one program may cost; what passes one is refused by its name, but for ``jacobian`` and ``work``.

    - ``text``: characters of the program.
    - ``depth``: nesting of brackets.
    - ``syntax``: nodes of its syntax tree.
    - ``digits``: digits of a number in it.
    - ``turns``: turns of all loops, and in a script calls of its functions, together.
    - ``nodes``: operations of one run.
    - ``elements``, ``total``: entries of one array, and of all arrays together.
    - ``steps``: numbers that NumPy goes through in sorts, products and decompositions, about a nanosecond each.
    - ``jacobian``: entries of one Jacobian that are held; where it has more, ``explain`` takes v and rows through it.
    - ``work``: operations on numbers of 200 digits that may go into finding out what is true; beyond it an answer is
      ``unclear``.
    - ``items``, ``bits``: items of a list or characters of a text, and bits of an integer, of a script.
    - ``printed``: characters that a script prints.
    - ``memory``: bytes of arrays that are held at once; the whole process may take twice as many.
    - ``seconds``: time of the processor after which a run is given up.

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
    steps: int = 20_000_000_000
    jacobian: int = 4_000_000
    work: int = 1_500_000
    items: int = 10_000_000
    bits: int = 40_000
    printed: int = 100_000_000
    memory: int = 1_000_000_000
    seconds: float = 9.0

    def changed(self, name: str, value: float) -> Budget:
        """Return the same budget with one bound set to ``value``."""
        return replace(self, **{name: type(getattr(self, name))(value)})


def over_budget(name: str, bound: float, what: str, span: Span | None = None) -> GradcliError:
    """Return the error that refuses ``what`` because it passes the bound ``name``."""
    return (GivenUp if name in ("seconds", "memory") else GradcliError)(
        "budget", f"{what}: more than the budget '{name}' of {bound:,}", span=span, facts=OverBudget(name, bound)
    )
