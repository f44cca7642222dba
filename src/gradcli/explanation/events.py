"""What a program did, as plain records: its values, and the branches, turns and ends of loops between them."""

from __future__ import annotations

from dataclasses import dataclass

from gradcli.ops.declare import Array


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a program.

    - ``name``: what the answer calls it, which nothing else is called.
    - ``text``: as the user wrote it, with the names of this answer; None for an input, and for a value of a turn of a
      long loop that is known only because a later line mentions it.
    - ``formula``: the same in the language and in earlier names, where each is an array of doubles.
    - ``value``: an array of doubles, integers or truth values.
    - ``role``: ``input``, ``constant`` (it depends on no input), ``inner`` or ``output``.
    - ``target``: what stands before the ``=``, which is ``y2[0]`` where an entry is written.
    - ``turns``: the turn of each loop that it is in, the outermost first.

    >>> [(v.name, v.text, v.role) for v in gradcli.explain("h = x**2; sin(h)*h", x=1.0).values]
    [('x', None, 'input'), ('h', 'x**2', 'inner'), ('y', 'sin(h)*h', 'output')]
    """

    name: str
    text: str | None
    formula: str | None
    value: Array
    role: str
    target: str = ""
    turns: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """A condition that was decided, of a branch, of a conditional expression or at the end of a loop.

    - ``text``: the condition; ``held`` says whether it was true.
    - ``sides``, ``values``: the texts between the comparisons, and their numbers; empty where it is no comparison.
    - ``signs``: the comparisons.
    """

    text: str
    held: bool
    sides: tuple[str, ...] = ()
    values: tuple[Array, ...] = ()
    signs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BranchTaken:
    """Which branch ran: ``word`` is ``if`` or ``elif``, or empty for a conditional expression with its ``choices``.

    ``other`` is the word of the branch that follows: ``elif``, ``else`` or nothing.
    """

    word: str
    decision: Decision
    other: str
    choices: tuple[str, ...]
    turns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TurnBegun:
    """The beginning of one of ``count`` turns of a loop; ``turns`` ends with its number.

    ``variable`` is that of a ``for``, and ``item`` the integer that it is.
    """

    variable: str
    item: int | None
    turns: tuple[int, ...]
    count: int


@dataclass(frozen=True, slots=True)
class LoopEnded:
    """The end of a loop after ``count`` turns: by ``break``, or with the ``decision`` that its condition fails."""

    count: int
    broken: bool
    decision: Decision | None
    turns: tuple[int, ...]
    variable: str


Event = Value | BranchTaken | TurnBegun | LoopEnded
