"""The graph of one evaluation: what was computed, in the order in which it ran.

A program is evaluated once, at the point. Each op that depends on an input leaves a node, so that loops and branches
are gone: the list holds what was done, parents before children. Readers keep their results beside the graph.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from gradcli.errors import Budget, GradcliError, Span, over_budget
from gradcli.ops.declare import Array, Op
from gradcli.ops.saved import saved, stand_in
from gradcli.ops.shaping import MOST_AXES

LARGE = 4096
"""Entries from which a value is worth letting go, and from which the clock is looked at for it alone."""
TURNS = 64
"""Small operations, or turns of a loop, after which the clock is looked at."""
SHORT = 0.25
"""Seconds after which a run is long enough to ask for the time of the processor."""
ONE_SIDED = {
    "numpy-only": "NumPy gives this answer and PyTorch refuses",
    "torch-only": "PyTorch gives this answer and NumPy refuses",
    "torch-refuses": "PyTorch refuses",
}
"""Kinds of remarks on what one library answers and the other does not: ``strict`` refuses them."""
NO_OPTIONS: dict[str, Any] = {}
"""What an operation without options has for them; nobody writes to it."""


class Node:
    """One value of a program: the op that made it, its arguments (nodes or numbers), and the numbers themselves.

    ``op`` is None for an input, which has a ``name``. ``active`` says that it depends on a variable that is
    differentiated.
    """

    __slots__ = ("active", "arguments", "index", "name", "op", "static", "value")

    def __init__(
        self,
        index: int,
        op: Op | None,
        arguments: tuple[Any, ...],
        static: dict[str, Any],
        value: Any,
        active: bool,
        name: str | None = None,
    ) -> None:
        self.index = index
        self.op = op
        self.arguments = arguments
        self.static = static
        self.value = value
        self.active = active
        self.name = name

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return self.value.shape  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.value.ndim  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        made = self.name or (self.op.name if self.op else "?")
        return f"<Node {self.index} {made} {self.shape}>"


class Write(NamedTuple):
    """A write in place to the value ``before`` of a variable, after the first ``mark`` nodes.

    ``inplace`` is the index of the operation of an augmented assignment, -1 where there is none.
    """

    before: Any
    name: str
    span: Span
    mark: int
    inplace: int = -1


@dataclass(slots=True)
class Graph:
    """The nodes of one evaluation, with what they may cost.

    ``record`` keeps every value and name, for formulas. Without it the graph is a tape for one sweep back: an
    operation that depends on no differentiated input leaves no node, and a large value that no vjp reads is let go.
    ``remarks`` are the kinds and sentences that the run leaves for the answer's notes, each once; ``strict`` refuses
    those of ``ONE_SIDED``. ``writes`` are the writes in place. ``broken`` says that PyTorch has no derivative for an
    operation on something differentiated: from there on a tape keeps all nodes, to know what reaches the output.
    """

    budget: Budget = field(default_factory=Budget)
    record: bool = True
    strict: bool = False
    remarks: dict[tuple[str, str], None] = field(default_factory=dict)
    writes: list[Write] = field(default_factory=list)
    broken: bool = False
    nodes: list[Node] = field(default_factory=list)
    bindings: list[tuple[str, Node]] = field(default_factory=list)
    turns: int = 0
    elements: int = 0
    most: int = field(default=0)
    look: int = field(default=0)
    deadline: float = field(default=0.0)
    started: float | None = field(default=None)

    def __post_init__(self) -> None:
        self.most = self.budget.total
        self.deadline = time.monotonic() + min(SHORT, self.budget.seconds)

    def input(self, name: str, value: Any, active: bool) -> Node:
        """Enter a variable that the user gave."""
        node = Node(len(self.nodes), None, (), NO_OPTIONS, value, active, name)
        self.nodes.append(node)
        return node

    def __call__(self, op: Op, *arguments: Any, **static: Any) -> Any:
        """Apply ``op`` and return a node, or plain numbers where nothing depends on an input.

        Raises ``shape`` for shapes or indices that do not fit, ``budget`` for what costs too much.
        """
        values = [a.value if type(a) is Node else a for a in arguments]
        if op.size is not None:
            self.charge(op.size(*values, **static))
        elif len(values) > 1:
            self._charge_broadcast(values)
        return self.apply(op, arguments, static, values)

    def apply(self, op: Op, arguments: tuple[Any, ...], static: dict[str, Any], values: Sequence[Any]) -> Any:
        """Apply ``op`` as a call does, where ``values`` are the arguments' numbers and the result is no larger."""
        try:
            value = op.forward(*values, **static)
        except (ValueError, IndexError, TypeError) as error:
            raise misfit(op, values, error) from None
        if type(value) is np.ndarray:
            self.elements += value.size
            if value.size >= LARGE or self.elements > self.most or value.ndim > MOST_AXES:
                self._weigh(value)
        return self.enter(op, arguments, static, value)

    def enter(self, op: Op, arguments: tuple[Any, ...], static: dict[str, Any], value: Any) -> Any:
        """Note an operation and its value, and return a node, or the value where no reader needs a node."""
        active = node = False
        rules = op.vjps
        for k, argument in enumerate(arguments):
            if type(argument) is Node:
                node = True
                if argument.active and not op.flat and (type(rules) is not tuple or rules[k] is not None):
                    active = True
                    break
        # A view that is not differentiated still shows the memory of its argument: a write to either is seen in both.
        if not (active or (node and (self.record or op.view or op.torch_raises or self.broken))):
            return value
        if op.torch_raises:
            self.broken = True
        index = len(self.nodes)
        if index >= self.look:
            self._look()
        if self.record or value.size < LARGE:
            entered = Node(index, op, arguments, static, value, active)
            self.nodes.append(entered)
            return entered
        return self._lend(Node(index, op, arguments, static, value, active))

    def single(self, op: Op, arguments: tuple[Any, ...], value: Any) -> Node:
        """Enter an operation on single numbers, one of them differentiated, and return its node."""
        index = len(self.nodes)
        if index >= self.look:
            self._look()
        node = Node(index, op, arguments, NO_OPTIONS, value, True)
        self.nodes.append(node)
        return node

    def _look(self) -> None:
        """Look at the clock, and at what the nodes hold; raises ``budget`` or ``seconds``."""
        if len(self.nodes) >= self.budget.nodes:
            raise over_budget("nodes", self.budget.nodes, "the program runs too many operations")
        if self.elements > self.most:
            raise over_budget("total", self.most, "all arrays of the program together")
        self.watch()
        self.look = min(self.budget.nodes, len(self.nodes) + TURNS)

    def _lend(self, node: Node) -> Node:
        """Enter a node with only those large values on the tape that a vjp reads; others live while they are used."""
        assert node.op is not None  # noqa: S101
        reads = saved(node.op, tuple(type(argument) is Node and argument.active for argument in node.arguments))
        node.arguments = tuple(
            argument if type(argument) is not Node or read else self.nodes[argument.index]
            for argument, read in zip(node.arguments, reads.arguments, strict=True)
        )
        kept = node
        if not reads.output:
            kept = Node(node.index, node.op, node.arguments, node.static, stand_in(node.value), node.active)
        self.nodes.append(kept)
        return node

    def _weigh(self, value: Array) -> None:
        """Look at the clock, and at what a large array adds to; raises ``budget``, ``seconds`` or ``shape``."""
        if value.ndim > MOST_AXES:
            raise GradcliError("shape", f"an array has at most {MOST_AXES} axes, not {value.ndim}")
        self._look()

    def _charge_broadcast(self, values: list[Any]) -> None:
        shapes = [value.shape for value in values if type(value) is np.ndarray]
        if len(shapes) < 2 or shapes.count(shapes[0]) == len(shapes):
            return
        try:
            shape = np.broadcast_shapes(*shapes)
        except ValueError:
            return
        self.charge(math.prod(shape))

    def charge(self, elements: int) -> None:
        """Refuse an array of so many elements, before it is made, if it would pass the budget."""
        if elements > self.budget.elements:
            raise over_budget("elements", self.budget.elements, f"an array of {elements:,} elements")
        if self.elements + elements > self.budget.total:
            raise over_budget("total", self.budget.total, "all arrays of the program together")

    def turn(self) -> None:
        """Count one turn of a loop; raises ``budget`` for too many, or when the time is over."""
        self.turns += 1
        if self.turns > self.budget.turns:
            raise over_budget("turns", self.budget.turns, "the loop does not end")
        if not self.turns % TURNS:
            self.watch()

    def watch(self) -> None:
        """Look at the clock; raises ``seconds`` when the time for this run and its derivatives is over.

        What counts is the time of the processor, so that a busy machine does not refuse what an idle one answers. To
        ask for it is dear where a machine is busy, and most runs are over before: the clock on the wall says when.
        """
        now = time.monotonic()
        if now <= self.deadline:
            return
        if self.started is None:
            self.started = time.thread_time() - min(SHORT, self.budget.seconds)
        spent = time.thread_time() - self.started
        if spent > self.budget.seconds:
            raise over_budget("seconds", self.budget.seconds, "the program takes too long")
        self.deadline = now + self.budget.seconds - spent

    def remark(self, kind: str, message: str, span: Span | None = None) -> None:
        """Leave a note on this run; raises what ``strict`` refuses."""
        if self.strict and kind in ONE_SIDED:
            raise GradcliError(
                kind, message, span=span, hint="--strict refuses it; without, the answer comes with a note"
            )
        self.remarks[kind, message] = None

    def wrote(self, before: Any, name: str, span: Span, result: Any = None) -> None:
        """Note a write in place that is about to be done, or is done with this ``result``."""
        inplace = result.index if type(result) is Node else -1
        self.writes.append(Write(before, name, span, len(self.nodes), inplace))

    def bind(self, name: str, value: Any) -> None:
        """Note that the program called a node ``name``, for readers that show it."""
        if self.record and type(value) is Node:
            self.bindings.append((name, value))


def misfit(op: Op, values: Sequence[Any], error: Exception) -> GradcliError:
    """Return the error for arguments that numpy refused: both shapes for a pair, the index for an index."""
    shapes = [np.shape(value) for value in values]
    if isinstance(error, IndexError):
        return GradcliError("index", f"{error}; the array has shape {shapes[0]}")
    if len(shapes) > 1:
        named = " and ".join(str(shape) for shape in shapes)
        what = op.text.replace("{}", "").strip() if op.text else op.name
        return GradcliError(
            "shape",
            f"{what}: shapes {named} do not fit",
            hint="lengths must be equal, or 1, counted from the last axis",
        )
    return GradcliError("value", f"{op.name} of shape {shapes[0] if shapes else ()}: {error}")


def reaches(output: Node) -> list[Node]:
    """Return the nodes that ``output`` depends on, itself included, in the order in which they ran."""
    seen: dict[int, Node] = {}
    stack = [output]
    while stack:
        node = stack.pop()
        if node.index not in seen:
            seen[node.index] = node
            stack.extend(argument for argument in node.arguments if type(argument) is Node)
    return [seen[index] for index in sorted(seen)]
