"""The recorded graph as plain records: what each operation was, what it kept, what reached it, what it sent on."""

from __future__ import annotations

from dataclasses import dataclass, field

from gradcli.ops.declare import Array


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
