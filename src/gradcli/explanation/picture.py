"""The graph of an answer as it is drawn: values with a name, and the derivatives between them, as plain records."""

from __future__ import annotations

from dataclasses import dataclass, field

from gradcli.ops.declare import Array


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
