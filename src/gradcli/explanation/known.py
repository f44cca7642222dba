"""What is known of a function of the language: a plain record, which ``vocabulary`` fills and ``render`` shows."""

from __future__ import annotations

from dataclasses import dataclass, field

from gradcli.ops.declare import Array


@dataclass(frozen=True, slots=True)
class Example:
    """A program to try, as words of a command line, and what it leaves in ``.grad`` by variable."""

    words: tuple[str, ...]
    grad: dict[str, Array]


@dataclass(frozen=True, slots=True)
class Known:
    """A function or an operator.

    - ``name``, ``signature``, ``summary``, ``family``: what it is called, how, what it does, and among which it stands.
    - ``spellings``, ``methods``: all ways to write it.
    - ``formula``: an entry of the result, as an equation or in words; empty where it is not looked up.
    - ``derivatives``: equations, or why there is none.
    - ``vjp``: what reverse mode leaves at the example's point, a line for each value: ``x.grad = y.grad*cos(x)``.
    - ``kink``: what is taken where it has no derivative; empty where it has one everywhere.
    - ``example``: None where it is not looked up.
    """

    name: str
    signature: str
    summary: str
    family: str
    spellings: tuple[str, ...]
    methods: tuple[str, ...] = ()
    formula: str = ""
    derivatives: tuple[str, ...] = ()
    vjp: tuple[str, ...] = ()
    kink: str = ""
    example: Example | None = field(default=None, repr=False)
