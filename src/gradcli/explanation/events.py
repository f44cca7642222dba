"""What a program did, as plain records: its values, and the branches, turns and ends of loops between them."""

from __future__ import annotations

from gradcli.ops.declare import Array
from gradcli.records import dataclass


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a program.

    - ``name``: what the answer calls it, which nothing else is called.
    - ``text``: as the user wrote it, with the names of this answer; None for an input, and for a value of a turn of a
      long loop that is known only because a later line mentions it.
    - ``formula``: the same in the language and in earlier names, where each is an array of doubles.
    - ``value``: an array of doubles, integers or truth values.
    - ``role``: ``input``, ``constant`` (no derivative flows to it), ``inner`` or ``output``.
    - ``target``: what stands before the ``=`` where entries are written, such as ``y2[0]``, else nothing.
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
    """A condition as it turned out, of a branch, of a conditional expression or at the end of a loop.

    - ``text``: the condition, with the names of the answer.
    - ``held``: whether it was true.
    - ``sides``, ``values``: the texts between the comparisons, and their numbers; empty where it is no comparison.
    - ``signs``: the comparisons.

    >>> decision = gradcli.explain("x if x > 2 else -x", x=1.0).forward[1].decision
    >>> decision.held, decision.sides, decision.signs
    (False, ('x', '2'), ('>',))
    """

    text: str
    held: bool
    sides: tuple[str, ...] = ()
    values: tuple[Array, ...] = ()
    signs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BranchTaken:
    """Which branch ran.

    - ``word``: ``if`` or ``elif``, or nothing for a conditional expression.
    - ``decision``: its condition.
    - ``other``: the word of the branch that follows, ``elif``, ``else`` or nothing.
    - ``choices``: the two texts that a conditional expression chooses from.
    - ``turns``: the turn of each loop that it is in, the outermost first.

    >>> branch = gradcli.explain("x if x > 2 else -x", x=1.0).forward[1]
    >>> branch.choices, branch.decision.held
    (('x', '-x'), False)
    """

    word: str
    decision: Decision
    other: str
    choices: tuple[str, ...]
    turns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TurnBegun:
    """The beginning of a turn of a loop.

    - ``variable``, ``item``: the variable of a ``for``, and the integer that it is; nothing and None without.
    - ``turns``: the turn of each loop round it, the outermost first, and its own number.
    - ``count``: how many turns the loop has.

    >>> found = gradcli.explain("y = x\\nfor i in range(9): y = y*2\\ny", x=1.0)
    >>> found.forward[2].item, found.forward[2].turns, found.forward[2].count
    (0, (1,), 9)
    """

    variable: str
    item: int | None
    turns: tuple[int, ...]
    count: int


@dataclass(frozen=True, slots=True)
class LoopEnded:
    """The end of a loop.

    - ``count``: how many turns it has made.
    - ``broken``: whether ``break`` ended it.
    - ``decision``: that the condition of a ``while`` failed, else None.
    - ``turns``: the turn of each loop round it, the outermost first.
    - ``variable``: that of a ``for``, else nothing.

    >>> end = gradcli.explain("y = x\\nwhile y < 9: y = y*2\\ny", x=1.0).forward[-1]
    >>> end.count, end.decision.text, end.decision.values[0].item()
    (4, 'y5 < 9', 16.0)
    """

    count: int
    broken: bool
    decision: Decision | None
    turns: tuple[int, ...]
    variable: str


Event = Value | BranchTaken | TurnBegun | LoopEnded
