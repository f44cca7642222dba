"""A graph of a run that goes on: a node lives as long as something refers to it, and no list holds them all.

A training loop makes as many nodes in each turn as in the one before; those of a loss that no variable has any more are
let go with it.
"""

from __future__ import annotations

from typing import Any

from gradcli.engine.graph import NODES, TENSORS, Graph, Input, Node, Operation, links_of
from gradcli.ops.declare import Op, tensor
from gradcli.ops.signatures import Options
from gradcli.records import dataclass


@dataclass(slots=True)
class LiveGraph(Graph):
    """A graph that counts its nodes and keeps none."""

    count: int = 0

    def input(self, name: str, value: object, active: bool) -> Input:
        """Enter a leaf."""
        node = Input(self.count, name, value, active)
        self.count += 1
        return node

    def enter(
        self, op: Op, arguments: tuple[Any, ...], static: Options, value: object, links: tuple[int, ...] = ()
    ) -> Any:
        """Enter an operation and return its node, or the value where no derivative flows to it."""
        if not links:
            kinds = {*map(type, arguments)}
            links = () if kinds.isdisjoint(NODES) else links_of(op, arguments)
            if not links and op.torch_raises and any(type(a) in NODES and a.active for a in arguments):
                return self.without_derivative(op, arguments, static, value)
            if not links:
                return value if kinds.isdisjoint(TENSORS) else tensor(value)
        index = self.count
        self.count = index + 1
        if index >= self.meter.look:
            self.meter.count(index)
        return Operation(index, op, arguments, static, value, links)

    def without_derivative(self, op: Op, arguments: tuple[Any, ...], static: Options, value: object) -> Operation:
        """Return a node that asks for a gradient and has none: a sweep that comes to it is refused."""
        node = Operation(self.count, op, arguments, static, value, ())
        self.count += 1
        node.active = True
        return node

    def bind(self, name: str, value: object, told: Any = None) -> None:
        """Note nothing: names are read of a run that is recorded."""


def swept(output: Node) -> list[Node]:
    """Return the nodes that a sweep from ``output`` visits, the last first."""
    seen: dict[int, Node] = {output.index: output}
    waiting = [output]
    while waiting:
        node = waiting.pop()
        if type(node) is Operation:
            arguments = node.arguments
            for k in node.links:
                argument = arguments[k]
                if argument.index not in seen:
                    seen[argument.index] = argument
                    waiting.append(argument)
    return [seen[index] for index in sorted(seen, reverse=True)]
