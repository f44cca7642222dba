"""What is known of a function of the language: a plain record, which ``vocabulary`` fills and ``render`` shows.

The backward pass as plain records: a rule for each named value, and the paths over single numbers.
What a program did, as plain records: its values, and the branches, turns and ends of loops between them.
The recorded graph as plain records: what each operation was, what it kept, what reached it, what it sent on.
The graph of an answer as it is drawn: values with a name, and the derivatives between them, as plain records.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from gradcli.ops.declare import Array
from gradcli.records import dataclass, field


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


# ---- the backward pass as plain records


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of the backward pass: the cotangent of a named value, vᵀ·∂y/∂name, and the rule that made it.

    - ``name``: the value's, as in ``Forward``.
    - ``text``: the rule in the language, in which ``h.grad`` is the cotangent of h; None where it has no text.
    - ``value``: what reverse mode has there, in the value's shape.
    - ``uses``: how many uses of the value handed on a part of it.
    - ``is_input``: whether the value is an input.
    - ``base``: the program's own name for it, of which ``name`` may be one of several: y of y1, y2 …
    - ``made``: the formula of a value that the program does not name; None for others.
    - ``on_every_path``: whether every path from the inputs to y runs through the value.

    >>> [(rule.name, rule.text) for rule in gradcli.explain("h = x**2; sin(h)*h", x=1.0).rules]
    [('y', 'v'), ('h', 'sin(h) + h*cos(h)'), ('x', 'h.grad*2*x')]
    """

    name: str
    text: str | None
    value: Array
    uses: int = 1
    is_input: bool = False
    base: str = ""
    made: str | None = None
    on_every_path: bool = False


@dataclass(frozen=True, slots=True)
class BackwardPass:
    """The ``rules`` of the backward pass, and the long arrays that they use and the program does not name.

    Of a long program ``left_out`` rules are missing, those before number ``gap``. ``shapes`` has the shape of what
    stands in a rule, by its name there, ``names`` what rules call each node, by its index.
    """

    rules: list[Rule]
    constants: dict[str, Array]
    left_out: int = 0
    gap: int = 0
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    names: Mapping[int, str] = field(default_factory=dict)

    def input_rule(self, name: str) -> Rule | None:
        """Return the rule of an input."""
        return next((rule for rule in self.rules if rule.is_input and rule.name == name), None)

    def entry(self, name: str) -> str | None:
        """Return the rule of entry [i,j,…] of an input, where that is a plain function of entries; None elsewhere."""
        from gradcli.explanation.rereading import entry_of

        rule = self.input_rule(name)
        return None if rule is None or rule.text is None else entry_of(rule.text, rule.value.shape, self.shapes)


@dataclass(frozen=True, slots=True)
class Path:
    """One way from an input to the output, over values that are single numbers.

    - ``names``: those of the values on the way, the input first.
    - ``factors``: the derivative of each value by the one before it, with all others fixed.

    >>> [(path.names, path.product) for path in gradcli.explain("h = 3*x; h*h + x", x=1.0).paths["x"]]
    [(('x', 'h', 'y'), 18.0), (('x', 'y'), 1.0)]
    """

    names: tuple[str, ...]
    factors: tuple[float, ...]

    @property
    def product(self) -> float:
        """What the path adds to the derivative."""
        return math.prod(self.factors)


# ---- what a program did


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


# ---- the recorded graph as plain records


@dataclass(frozen=True, slots=True)
class Sent:
    """What an operation sends back to one of its arguments: its cotangent times one local derivative.

    - ``to``: the name of the value that it goes to.
    - ``rule``: what the derivative is called: ``power``, ``product``, ``matrix product`` …
    - ``text``: the rule in the language, in which ``h.grad`` is the cotangent of h; None where it has no text.
    - ``value``: the number, in the shape of ``to``.
    - ``local``: of an operation entry by entry, the derivative of each entry by its own entry of ``to``, in the
      language; None for others.
    - ``slope``: the numbers of ``local``.
    - ``summed``: where the argument was broadcast, the shape whose repeated axes are summed; else None.
    - ``adds``: whether something else has reached ``to`` before, so that this is added to it.

    >>> sent = gradcli.explain("h = sin(x); h*h", x=1.0).tape.rows[0].sent
    >>> [(part.to, part.rule, part.text, part.local, part.adds) for part in sent]
    [('h', 'product', 'y.grad*h', 'h', False), ('h', 'product', 'y.grad*h', 'h', True)]
    """

    to: str
    rule: str
    text: str | None
    value: Array
    local: str | None = None
    slope: Array | None = None
    summed: tuple[int, ...] | None = None
    adds: bool = False


@dataclass(frozen=True, slots=True)
class Taped:
    """One value of the recorded graph.

    - ``name``: what the answer calls it; one that the program does not name gets a name.
    - ``role``: ``leaf`` (an input that is differentiated), ``inner``, ``output`` or ``constant``, to which nothing is
      sent.
    - ``text``: the operation in the language and in names, None for an input, and where the language has no text.
    - ``operation``: the name of the operation, empty for an input.
    - ``value``: its value.
    - ``saved``: what the operation keeps for the way back: the texts of its arguments, and its own name.
    - ``cotangent``: what arrives, vᵀ·∂y/∂value, all uses added up; None where nothing does.
    - ``uses``: how many parts that is the sum of.
    - ``sent``: what goes on to each argument, in the order in which it is sent.
    - ``label``: what stands for it in the texts of others: the program's name, a short text, or ``name``.

    >>> [(row.name, row.text, row.role, row.saved) for row in gradcli.explain("3*sin(x)", x=1.0).tape.rows]
    [('y', '3*sin(x)', 'output', ()), ('h0', 'sin(x)', 'inner', ('x',)), ('x', None, 'leaf', ())]
    """

    name: str
    role: str
    text: str | None
    operation: str
    value: Array
    saved: tuple[str, ...] = ()
    cotangent: Array | None = None
    uses: int = 0
    sent: tuple[Sent, ...] = ()
    label: str = ""


@dataclass(frozen=True, slots=True)
class Tape:
    """The recorded graph: ``rows`` in the order of the sweep, operations from the output back, then the inputs.

    ``output`` is the name of the row at which it begins, None where nothing leads back from it. Of a long program
    ``left_out`` operations are missing, those before row number ``gap``.

    >>> [row.name for row in gradcli.explain("h = x**2; h + w", x=1.0, w=2.0).tape.rows]
    ['y', 'h', 'x', 'w']
    """

    rows: list[Taped] = field(default_factory=list)
    output: str | None = None
    left_out: int = 0
    gap: int = 0


@dataclass(frozen=True, slots=True)
class Step:
    """One line on how a derivative is found: a rule, what it gives here, and the number.

    - ``rule``: its name.
    - ``of``, ``by``: the derivative of what by what, entry by entry; where ``by`` is empty, ``of`` is a cotangent such
      as ``h.grad``.
    - ``formula``: what it is, in the language.
    - ``numbers``: the formula with numbers in the place of names; None where they are arrays, or nothing is to be
      worked out.
    - ``value``: the result.

    >>> [(step.rule, step.of, step.formula, step.numbers) for step in gradcli.explain("x**2", x=3.0).steps]
    [('power', 'y', '2*x', '2*3'), ('start', 'y.grad', 'v', None), ('chain', 'x.grad', 'y.grad*2*x', '1*2*3')]
    """

    rule: str
    of: str
    by: str
    formula: str | None
    numbers: str | None
    value: Array


# ---- the graph of an answer as it is drawn


@dataclass(frozen=True, slots=True)
class Vertex:
    """One value of the picture.

    - ``name``: what the answer calls it.
    - ``role``: ``leaf``, ``constant``, ``inner`` or ``output`` as in ``Taped``, or ``gap`` for values left out.
    - ``text``: how it is computed, in the language; None for an input, and where the language has no text.
    - ``value``: its value.
    - ``cotangent``: what arrives there; None where nothing does.

    >>> [(vertex.name, vertex.role) for vertex in gradcli.explain("h = sin(x); h*h", x=1.0).picture.vertices]
    [('x', 'leaf'), ('h', 'inner'), ('y', 'output')]
    """

    name: str
    role: str
    text: str | None
    value: Array
    cotangent: Array | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    """One value that another is computed from, with the derivative of that by this, all else fixed.

    - ``below``: the name of the value that is used.
    - ``above``: the name of the value that is computed from it.
    - ``text``: the derivative in the language: an array where entries go by their own entries, or where ``above`` is a
      single number; else what ``above`` sends back, in which ``above.grad`` is its cotangent. None where no derivative
      flows, or the language has no text.
    - ``flows``: whether a derivative flows.
    - ``value``: the number of the derivative, where it is an entry of J.

    >>> [(edge.below, edge.above, edge.text) for edge in gradcli.explain("h = sin(x); h*h + x", x=1.0).picture.edges]
    [('x', 'h', 'cos(x)'), ('x', 'y', '1'), ('h', 'y', 'h + h')]
    """

    below: str
    above: str
    text: str | None
    flows: bool = True
    value: float | None = None


@dataclass(frozen=True, slots=True)
class Picture:
    """The ``vertices`` in the order in which they were computed, and the ``edges`` between them.

    A value whose text is too long to stand in that of another is among them without a name in the program. Where no
    value between the inputs and the output has a name, the vertices are the entries of both, while these are few, and
    the edges those of J: ``by_entry``. Of a long program ``left_out`` values are missing, for which a vertex of role
    ``gap`` stands.

    >>> [(edge.below, edge.above, edge.text, edge.value) for edge in gradcli.explain("x**2", x=3.0).picture.edges]
    [('x', 'y', '2*x', 6.0)]
    """

    vertices: list[Vertex] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    left_out: int = 0
    by_entry: bool = False
