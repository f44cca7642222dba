"""What a run has cost so far, and what it may cost: elements, operations, turns, memory and seconds.

The graph of one evaluation: what was computed, in the order in which it ran.
A graph for one sweep back, as ``grad`` takes it: what the sweep does not read is let go while the program runs.
A graph of a run that goes on: a node lives as long as something refers to it, and no list holds them all.
A training loop makes as many nodes in each turn as in the one before; those of a loss that no variable has any more are
let go with it.
What a node depends on, in the order in which it ran, and what a sweep from it visits.
Gradients in arrays of their own: what a sweep leaves may be shared, and is not the caller's to write to.
"""

from __future__ import annotations

import gc
import math
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, KeysView, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import chain
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, cast
from weakref import ref

import numpy as np

from gradcli.errors import Budget, GradcliError, Span, over_budget
from gradcli.errors.hints import counted
from gradcli.ops.declare import Array, Op, Piecewise, saved_here, tensor, value_of
from gradcli.ops.links import Options
from gradcli.ops.shaping import MOST_AXES, too_many_axes
from gradcli.records import dataclass, field

if TYPE_CHECKING:
    from gradcli.ops import Function


LARGE = 4096
"""Entries of an array from which the clock is looked at for it alone."""
TURNS = 64
"""Small operations, or turns of a loop, after which the clock is looked at."""
SHORT = 0.25
"""Seconds after which a run is long enough to ask for the time of the processor."""
GLANCE = 0.1
"""Seconds from one look at the memory to the next, unless much is made in between."""
ROOM = 1024
"""How much may be made between two looks at the memory, in units of some thousand items."""
BESIDE = 2
"""Bytes of the process for each byte that arrays may have: Python's own objects count there too."""

try:
    import resource
except ImportError:  # Windows has no such module

    def peak() -> int:
        """Return nothing where the system does not tell what a process holds."""
        return 0
else:
    UNIT = 1 if sys.platform == "darwin" else 1024

    def peak() -> int:
        """Return the most bytes that this process ever held."""
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT


class Share(ref["np.ndarray[Any, Any]"]):
    """Tells of the end of an array how many bytes it had."""

    __slots__ = ("key", "size")
    key: int
    size: int


@dataclass(slots=True)
class Meter:
    """What one run and its derivatives cost, held against a budget.

    ``elements`` counts those of all arrays, ``turns`` those of all loops, ``steps`` what numpy goes through beside the
    entries that it makes; ``look`` is the number of operations at which
    the clock is looked at next, ``halt`` that of turns, and until ``deadline`` the time is known not to be over.
    ``live`` counts the bytes of large arrays that something still refers to, by their ``shares``, and ``ceiling`` is
    what the process may hold; it is looked at after ``glance``, or where there is no ``room`` before.
    """

    budget: Budget
    turns: int = 0
    elements: int = 0
    steps: int = 0
    look: int = 0
    deadline: float = field(init=False)
    started: float | None = None
    live: int = 0
    shares: dict[int, Share] = field(default_factory=dict)
    ceiling: int = field(init=False)
    room: int = ROOM
    halt: int = 0
    glance: float = field(init=False)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Begin the time anew: what is read of a run later has nothing to do with what was done since."""
        now = time.monotonic()
        self.deadline, self.started = now + min(SHORT, self.budget.seconds), None
        self.glance = now + GLANCE
        self.ceiling = peak() + BESIDE * self.budget.memory

    def hold(self, array: np.ndarray[Any, Any]) -> None:
        """Count the memory of a large array for as long as it lives; raises ``memory``."""
        while type(array.base) is np.ndarray:
            array = array.base
        key = id(array)
        if key in self.shares:
            return
        share = self.shares[key] = Share(array, self.let_go)
        share.key, share.size = key, array.nbytes
        self.live += share.size
        if self.live > self.budget.memory:
            gc.collect()  # what refers to itself in a ring is let go of now and then alone
            if self.live > self.budget.memory:
                raise over_budget("memory", self.budget.memory, f"arrays of {counted(self.live, 'byte')} at once")

    def let_go(self, share: Share) -> None:
        """Take an array off that is gone."""
        self.shares.pop(share.key, None)
        self.live -= share.size

    def charge(self, elements: int) -> None:
        """Refuse an array of so many elements, before it is made, if it would pass the budget."""
        if elements > self.budget.elements:
            raise over_budget("elements", self.budget.elements, f"an array of {counted(elements, 'element')}")
        if self.elements + elements > self.budget.total:
            raise over_budget("total", self.budget.total, "all arrays of the program together")

    def spend(self, steps: int) -> None:
        """Count what numpy goes through in a call, before it does; raises ``steps``."""
        self.steps += steps
        if self.steps > self.budget.steps:
            raise over_budget("steps", self.budget.steps, "numpy would go through too many numbers")

    def charge_empty(self, shape: tuple[int, ...]) -> int:
        """Charge for an array without entries as for its other axes, along which it is written; return for how much."""
        rows = math.prod(length for length in shape if length)
        self.charge(rows)
        return rows

    def count(self, operations: int) -> None:
        """Look at the clock, and at what so many operations hold; raises ``budget`` or ``seconds``."""
        if operations >= self.budget.nodes:
            raise over_budget("nodes", self.budget.nodes, "the program runs too many operations")
        if self.elements > self.budget.total:
            raise over_budget("total", self.budget.total, "all arrays of the program together")
        self.watch()
        self.look = min(self.budget.nodes, operations + TURNS)

    def turn(self, count: int = 1, what: str = "the loop does not end") -> None:
        """Count one turn of a loop, or several; raises ``budget`` for too many, or when the time is over."""
        self.turns += count
        if self.turns >= self.halt:
            if self.turns > self.budget.turns:
                raise over_budget("turns", self.budget.turns, what)
            self.halt = min(self.budget.turns + 1, self.turns + TURNS)
            self.watch()

    def watch(self, much: int = 0) -> None:
        """Look at the clock, and now and then, or after ``much``, at the memory, which is dear.

        Raises ``memory``, or ``seconds`` when the time for this run and its derivatives is over.
        What counts is the time of the processor, so that a busy machine does not refuse what an idle one answers. To
        ask for it is dear where a machine is busy, and most runs are over before: the clock on the wall says when.
        """
        now = time.monotonic()
        self.room -= much
        if now > self.glance or self.room < 0:
            self.glance, self.room = now + GLANCE, ROOM
            if peak() > self.ceiling > 0:
                raise over_budget("memory", self.budget.memory, "too many values are held at once")
        if now <= self.deadline:
            return
        if self.started is None:
            self.started = time.thread_time() - min(SHORT, self.budget.seconds)
        spent = time.thread_time() - self.started
        if spent > self.budget.seconds:
            raise over_budget("seconds", self.budget.seconds, "the program takes too long")
        self.deadline = now + self.budget.seconds - spent


# ---- the graph of one evaluation

ONE_SIDED = {
    "numpy-only": "NumPy gives this answer and PyTorch refuses",
    "torch-only": "PyTorch gives this answer and NumPy refuses",
    "torch-refuses": "PyTorch refuses",
    "constant-output": "PyTorch refuses",
}
"""Kinds of remarks on what one library answers and the other does not: ``strict`` refuses them."""
NO_OPTIONS: Options = {}
"""What an operation without options has for them; nobody writes to it."""


class Node:
    """One value of a program that depends on its inputs: an ``Input`` or an ``Operation``.

    ``active`` says that it depends on a variable that is differentiated.
    """

    __slots__ = ("__weakref__", "active", "index", "value")

    index: int
    value: Any
    active: bool
    op: Op | None = None
    arguments: tuple[Any, ...] = ()
    static: Options = NO_OPTIONS
    name: str | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of the axes."""
        return self.value.shape  # type: ignore[no-any-return]

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return self.value.ndim  # type: ignore[no-any-return]


class Input(Node):
    """A variable that the user gave; ``owner`` is the tensor of a script that it belongs to, which lives as long."""

    __slots__ = ("name", "owner")

    name: str
    owner: Any

    def __init__(self, index: int, name: str, value: object, active: bool) -> None:
        self.owner = None
        self.index = index
        self.name = name
        self.value = value
        self.active = active

    def __repr__(self) -> str:
        return f"<Input {self.index} {self.name} {self.shape}>"


class Operation(Node):
    """An op at its arguments, nodes or numbers, with its value.

    ``links`` are the numbers of the arguments that derivatives flow to; where there are none, it is not ``active``.
    """

    __slots__ = ("arguments", "links", "op", "static")

    op: Op

    def __init__(
        self, index: int, op: Op, arguments: tuple[Any, ...], static: Options, value: object, links: tuple[int, ...]
    ) -> None:
        self.index = index
        self.op = op
        self.arguments = arguments
        self.static = static
        self.value = value
        self.links = links
        self.active = links != ()

    def __repr__(self) -> str:
        return f"<Operation {self.index} {self.op.name} {self.shape}>"


NODES = (Operation, Input)
"""The types of nodes, for places that are passed so often that ``isinstance`` counts."""
TENSORS = {np.ndarray, *NODES}


class Write(NamedTuple):
    """A write to ``before`` after ``mark`` nodes; ``inplace`` are those that compute it in place, as in ``y += 1``."""

    before: Any
    name: str
    span: Span
    mark: int
    inplace: range


class Origin(NamedTuple):
    """The operation that an array which depends on no input was computed by; while it is kept, nothing has its id."""

    value: Any
    op: Op
    arguments: tuple[Any, ...]
    static: Options


class Called(NamedTuple):
    """A call of a function that is several operations: its arguments, those given by name, and its first node."""

    function: Function
    arguments: tuple[Any, ...]
    named: Mapping[str, Any]
    first: int


MOST_ORIGINS, LARGEST_ORIGIN = 4_096, 4_096
"""Constants whose operations are kept, and the entries of one of them."""


@dataclass(slots=True)
class Graph:
    """The nodes of one evaluation, with every value and every name that the program gave one.

    ``meter`` counts what the run costs. ``remarks`` are the kinds and sentences of notes; ``strict`` refuses those of
    ``ONE_SIDED``. ``writes`` are the writes in place, ``windows`` what values show of a storage
    (``language/memory.py``), ``torn`` views that PyTorch lets nobody read any more. ``broken`` says that PyTorch has
    no derivative for an operation on something differentiated. ``bindings`` are the assignments in order, without the
    values that depend on no input; ``story`` has what statements tell of the run (``language/compiling.py``), None
    where nobody reads it. ``inputs`` are the nodes of inputs by name, ``variables`` all names of the program, and
    ``result`` is its own name for the output. ``called`` is what ``naming`` calls the bindings. ``functions`` are the
    calls of functions: the name as it was written, the first node that each has made and the one after the last.
    ``branches`` says that the program takes one way or another by values.
    ``constants`` are arrays that a script gave a name and that depend on no input. ``origins`` has by id how such
    arrays were computed, ``calls`` the calls of functions by the number of the node that each gave; where ``origins``
    is None, neither is kept.
    """

    budget: Budget = field(default_factory=Budget)
    strict: bool = False
    remarks: dict[tuple[str, str], None] = field(default_factory=dict)
    writes: list[Write] = field(default_factory=list)
    windows: dict[Any, Any] = field(default_factory=dict)
    torn: set[int] = field(default_factory=set)
    broken: bool = False
    nodes: list[Node] = field(default_factory=list)
    bindings: list[tuple[str, Node | None]] = field(default_factory=list)
    story: list[tuple[Any, Any, int]] | None = None
    inputs: dict[str, Input] = field(default_factory=dict)
    variables: Collection[str] = ()
    result: str | None = None
    called: list[str] = field(default_factory=list)
    functions: list[tuple[str, int, int]] = field(default_factory=list)
    branches: bool = False
    constants: dict[str, Any] = field(default_factory=dict)
    origins: dict[int, Origin] | None = None
    calls: dict[int, Called] = field(default_factory=dict)
    meter: Meter = field(init=False)

    def __post_init__(self) -> None:
        self.meter = Meter(self.budget)

    def input(self, name: str, value: object, active: bool) -> Input:
        """Enter a variable that the user gave."""
        node = self.inputs[name] = Input(len(self.nodes), name, value, active)
        self.nodes.append(node)
        return node

    def __call__(self, op: Op, *arguments: Any, **static: Any) -> Any:
        """Apply ``op`` and return a node, or plain numbers where nothing depends on an input.

        Raises ``shape`` for shapes or indices that do not fit, ``budget`` for what costs too much.
        """
        values = [a.value if type(a) in NODES else a for a in arguments]
        if op.steps is not None:
            self.meter.spend(op.steps(*values, **static))
        if op.size is not None:
            self.charge(op.size(*values, **static))
        elif len(values) > 1:
            self._charge_broadcast(values)
        return self.apply(op, arguments, static, values)

    def apply(
        self, op: Op, arguments: tuple[Any, ...], static: Options, values: Sequence[object], links: tuple[int, ...] = ()
    ) -> Any:
        """Apply ``op`` as a call does, where ``values`` are the arguments' numbers and the result is no larger."""
        try:
            value = op.forward(*values, **static)
        except (ValueError, IndexError, TypeError, OverflowError) as error:
            raise misfit(op, values, error) from None
        if type(value) is not np.ndarray:
            return self.enter(op, arguments, static, value, links)
        meter, size = self.meter, value.size or self.meter.charge_empty(value.shape)
        meter.elements += size
        if value.ndim > MOST_AXES:
            raise too_many_axes(value.ndim)
        if size >= LARGE or meter.elements > meter.budget.total:
            meter.count(len(self.nodes))
            meter.hold(value)
        entered = self.enter(op, arguments, static, value, links)
        if size >= LARGE and entered is not value:
            self.spare(entered)
        return entered

    def enter(
        self, op: Op, arguments: tuple[Any, ...], static: Options, value: object, links: tuple[int, ...] = ()
    ) -> Any:
        """Enter an operation with its value and return its node, or the value where no reader needs a node.

        What is made of plain numbers alone is a plain number, and a tensor otherwise. ``links`` are the numbers of the
        arguments that derivatives flow to, looked up where there are none.
        """
        if not links:
            kinds = {*map(type, arguments)}
            links = () if kinds.isdisjoint(NODES) else links_of(op, arguments)
            if not links and not self.keeps(op, arguments):
                made = value if kinds.isdisjoint(TENSORS) else tensor(value)
                if self.origins is not None:
                    self.note_origin(made, op, arguments, static)
                return made
            self.broken = self.broken or op.torch.raises
        index = len(self.nodes)
        if index >= self.meter.look:
            self.meter.count(index)
        node = Operation(index, op, arguments, static, value, links)
        self.nodes.append(node)
        return node

    def note_origin(self, value: object, op: Op, arguments: tuple[Any, ...], static: Options) -> None:
        """Note how an array was computed that depends on no input, for readers that write it so."""
        if self.origins is None or type(value) is not np.ndarray or not value.ndim:
            return
        if value.size <= LARGEST_ORIGIN and len(self.origins) < MOST_ORIGINS:
            self.origins[id(value)] = Origin(value, op, arguments, static)

    def piece(self, op: Op, x: object, **static: Any) -> Any:
        """Return the piece that ``op`` was on at ``x``, where it was applied just now."""
        return cast("Piecewise", op.exact.pieces).piece(value_of(x), **static)

    def apart(self) -> AbstractContextManager[None]:
        """Enter a computation whose derivative is not its own, so that no decision in it is one of the answer's."""
        return nullcontext()

    def keeps(self, op: Op, arguments: tuple[Any, ...]) -> bool:
        """Return whether a reader needs the node of an operation that no derivative flows through.

        What detaches a constant shows its memory, and stays without derivative whatever is written there.
        """
        detaches = op.entries.view and op.flat and type(arguments[0]) is np.ndarray
        return detaches or any(isinstance(argument, Node) for argument in arguments)

    def spare(self, node: Operation) -> None:
        """Let go of what need not be kept for the last node, which is large: nothing here."""

    def charge(self, elements: int) -> None:
        """Refuse an array of so many elements, before it is made, if it would pass the budget."""
        self.meter.charge(elements)

    def _charge_broadcast(self, values: list[Any]) -> None:
        shapes = [value.shape for value in values if type(value) is np.ndarray and value.ndim]
        if len(shapes) < 2 or shapes.count(shapes[0]) == len(shapes):
            return
        try:
            self.charge(math.prod(np.broadcast_shapes(*shapes)))
        except (ValueError, RuntimeError):  # too many axes are an error of the operation too
            return

    def is_input(self, value: object) -> bool:
        """Return whether a value is an input; one that is not differentiated may come as its numbers alone."""
        return any(value is leaf or value is leaf.value for leaf in self.inputs.values())

    def remark(self, kind: str, message: str, span: Span | None = None) -> None:
        """Leave a note on this run; raises what ``strict`` refuses."""
        if self.strict and kind in ONE_SIDED:
            raise GradcliError(kind, message, span=span, hint="without --strict the answer comes with a note")
        self.remarks[kind, message] = None

    def wrote(self, before: object, name: str, span: Span, first: int | None = None) -> None:
        """Note a write in place: of what the nodes from ``first`` on compute in place, None for one of a value."""
        end = len(self.nodes)
        self.writes.append(Write(before, name, span, end, range(end if first is None else first, end)))

    def note_call(self, name: str, before: int) -> None:
        """Note that a call of ``name`` has made the nodes from number ``before`` on, for readers that say so."""
        if len(self.nodes) > before:
            self.functions.append((name, before, len(self.nodes)))

    def bind(self, name: str, value: Any, event: Any = None) -> None:
        """Note that the program called a value ``name``, for readers that show it; ``event`` is the assignment."""
        if self.story is not None:
            self.story.append((event, value, len(self.bindings)))
        self.bindings.append((name, value if type(value) in NODES else None))


def links_of(op: Op, arguments: tuple[Any, ...]) -> tuple[int, ...]:
    """Return the numbers of the arguments that derivatives flow to through an op."""
    active = [k for k, argument in enumerate(arguments) if type(argument) in NODES and argument.active]
    if not active or op.flat:
        return ()
    return tuple([k for k in active if type(op.vjps) is not tuple or op.vjps[k] is not None])


def misfit(op: Op, values: Sequence[Any], error: Exception) -> GradcliError:
    """Return the error for arguments that numpy refused: both shapes for a pair, the index for an index."""
    shapes = [np.shape(value) for value in values]
    if isinstance(error, IndexError):
        return GradcliError("index", f"{error}; the array has shape {shapes[0]}")
    if len(shapes) > 1:
        what = op.text.template.replace("{}", "").strip() if op.text.template else op.name
        hint = "lengths must be equal, or 1, counted from the last axis"
        return GradcliError("shape", f"{what}: shapes {' and '.join(map(str, shapes))} do not fit", hint=hint)
    return GradcliError("value", f"{op.name} of shape {shapes[0] if shapes else ()}: {error}")


# ---- a graph for one sweep back


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
        return (op.entries.view or op.torch.raises or self.broken) and Graph.keeps(self, op, arguments)

    def spare(self, node: Operation) -> None:
        """Let go of those large values that no vjp of the last node reads; others live while they are used."""
        reads = saved_here(node.op, tuple(isinstance(a, Node) and a.active for a in node.arguments))
        node.arguments = tuple(
            argument if read or not isinstance(argument, Node) else self.nodes[argument.index]
            for argument, read in zip(node.arguments, reads.arguments, strict=True)
        )
        if not reads.output:
            shape = StandIn(node.shape, node.value.strides)
            self.nodes[-1] = Operation(node.index, node.op, node.arguments, node.static, shape, node.links)

    def bind(self, name: str, value: object, event: Any = None) -> None:
        """Note nothing: no reader asks for names."""


# ---- a graph of a run that goes on


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
            lost = not links and op.torch.raises and any(type(a) in NODES and a.active for a in arguments)
            if not links and not lost:
                return value if kinds.isdisjoint(TENSORS) else tensor(value)
        index = self.count
        self.count = index + 1
        if index >= self.meter.look:
            self.meter.count(index)
        node = Operation(index, op, arguments, static, value, links)
        node.active = True  # where it has no derivative, a sweep that comes to it is refused
        return node

    def bind(self, name: str, value: object, event: Any = None) -> None:
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


# ---- what a node depends on

Totals = dict[int, Any]
"""What has reached the nodes of a graph, by node index."""
Visit = Callable[[Totals], Iterable[Node]]
"""Gives the nodes that a sweep visits, the last first, while it fills the totals: those of the graph by default."""
STRETCH = 64
"""Nodes of a run that a sweep walks over, reached or not: to find out which are costs more."""


def reaches(output: Node) -> list[Node]:
    """Return the nodes that ``output`` depends on, itself included, in the order in which they ran."""
    seen: dict[int, Node] = {}
    stack = [output]
    while stack:
        node = stack.pop()
        if node.index not in seen:
            seen[node.index] = node
            if type(node) is Operation:
                stack += [argument for argument in node.arguments if type(argument) in NODES]
    return [seen[index] for index in sorted(seen)]


def visits(nodes: list[Node], top: int, reached: KeysView[int]) -> Iterator[Node]:
    """Return the nodes that a sweep from number ``top`` visits, the last first, while it fills ``reached``.

    They are all that ran for as long as one of the next ``STRETCH`` is reached. Where none is, the sweep is at its end,
    or leaves much out: then they are those that derivatives flow to, however many others ran in between.
    """
    return chain.from_iterable(_stretches(nodes, top, reached))


def _stretches(nodes: list[Node], top: int, reached: KeysView[int]) -> Iterator[list[Node]]:
    while not reached.isdisjoint(range(top, top - STRETCH, -1)):
        low = max(top - STRETCH + 1, 0)
        yield nodes[low : top + 1][::-1]
        top = low - 1
    waiting, seen = [index for index in reached if index <= top], set()
    while waiting:
        index = waiting.pop()
        if index not in seen:
            seen.add(index)
            node = nodes[index]
            if type(node) is Operation:
                waiting += [node.arguments[k].index for k in node.links]
    yield [nodes[index] for index in sorted(seen, reverse=True)]


# ---- gradients in arrays of their own


def each_its_own(shared: list[Any]) -> list[Array]:
    """Return gradients in arrays that nothing else holds.

    A vjp may have handed on what it was given, or a view of it: such gradients are copied.
    """
    gradients: list[Array] = []
    for g in shared:
        alone = type(g) is np.ndarray and g.flags.owndata and not any(g is other for other in gradients)
        gradients.append(g if alone else np.array(g, dtype=np.float64))
    return gradients
