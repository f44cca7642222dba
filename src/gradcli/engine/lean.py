"""A graph for one sweep back, as ``grad`` takes it: what the sweep does not read is let go while the program runs."""

from __future__ import annotations

from math import prod
from typing import Any, NoReturn

from gradcli.engine.graph import Graph, Node, Operation
from gradcli.ops.declare import Op
from gradcli.ops.saved import saved


class StandIn:
    """What a lean graph holds in place of a value that no vjp reads: its shape and the layout of its memory.

    To read numbers of it is an error.
    """

    __slots__ = ("shape", "strides")
    __array_ufunc__ = None

    def __init__(self, shape: tuple[int, ...], strides: tuple[int, ...] = ()) -> None:
        self.shape = shape
        self.strides = strides

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of entries."""
        return prod(self.shape)

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError("a value that was let go is read")


class LeanGraph(Graph):
    """A graph without names, without operations that no derivative flows through, and with large values only if read.

    The program holds a node with its value while it uses it; the graph holds one of the same index with a stand-in.
    """

    __slots__ = ()

    def keeps(self, op: Op, arguments: tuple[Any, ...]) -> bool:
        """Return whether a node without derivative is needed.

        A view still shows the memory of its argument: a write to either is seen in both. Where the graph is broken,
        what reaches the output must be known.
        """
        return (op.view or op.torch_raises or self.broken) and Graph.keeps(self, op, arguments)

    def spare(self, node: Operation) -> None:
        """Let go of those large values that no vjp of the last node reads; others live while they are used."""
        reads = saved(node.op, tuple(isinstance(a, Node) and a.active for a in node.arguments))
        node.arguments = tuple(
            argument if read or not isinstance(argument, Node) else self.nodes[argument.index]
            for argument, read in zip(node.arguments, reads.arguments, strict=True)
        )
        if not reads.output:
            shape = StandIn(node.shape, node.value.strides)
            self.nodes[-1] = Operation(node.index, node.op, node.arguments, node.static, shape, node.links)

    def bind(self, name: str, value: object, told: Any = None) -> None:
        """Note nothing: no reader asks for names."""
