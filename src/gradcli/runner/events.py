"""What a script did, in order: what it printed, its derivative calls with their numbers, draws, updates, errors.

What the script calls a value: the variable that has it, else the way to it.
What a script's lines do to its leaves besides derivative calls: numbers drawn, gradients zeroed, numbers updated.
One line is one event, also where a library's code does it to many tensors. Draws have their names only once the line is
through, so that they are asked for at the next event of another kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary, ref

from numpy import ndarray

from gradcli.records import dataclass, field
from gradcli.runner.values import Class, Closure, Code, Frame, Instance, Tensor, extra_of

MOST = 1000
"""Derivative calls of which all are kept; of more the first and the last half."""
LARGEST = 100_000_000
"""Bytes of events, beyond which fewer calls are kept."""
BARE = 500
"""Bytes of an event without arrays and text."""
FEWEST = 4
"""Derivative calls that are kept in any case."""


@dataclass(slots=True)
class Event:
    """One thing that a line of the script did.

    ``kind`` is ``print``, ``backward``, ``grad``, ``zero``, ``update``, ``draw`` or ``error``. ``turn`` counts the
    calls of one line. Of a derivative call: ``output`` is what the script calls the output, ``v`` its cotangent or
    None for the default, ``grad`` and ``adds`` are what each leaf has after it and what it added, by the leaf's name,
    ``returns`` what it returned, ``of`` the names of these, of draws ``values`` by ``names``, ``call`` its number in
    the run, ``sweep`` that of its walk back, ``node`` the index of the output's node. ``inner`` says that it asks for
    the gradient of one value that the script computes, ``tangents`` are those along which a jvp goes, in the order of
    ``of``. Arrays are numpy's.
    """

    kind: str
    line: int
    turn: int = 1
    text: str = ""
    output: str | None = None
    value: Any = None
    v: Any = None
    grad: dict[str, Any] = field(default_factory=dict)
    adds: dict[str, Any] = field(default_factory=dict)
    returns: list[Any] = field(default_factory=list)
    of: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)
    type: str = ""
    caught: bool = False
    call: int = -1
    sweep: int = -1
    node: int = -1
    finite: bool = True
    inner: bool = False
    tangents: list[Any] = field(default_factory=list)

    @property
    def size(self) -> int:
        """How many bytes it takes, its arrays and its text with it."""
        arrays = (self.value, self.v, *self.grad.values(), *self.adds.values(), *self.returns, *self.values.values())
        return BARE + len(self.text) + sum(array.nbytes for array in arrays if type(array) is ndarray)


class Log:
    """The events of a run; of very many derivative calls and errors those in the middle are let go.

    ``kept`` is how many of them stay, and ``large`` how many bytes all events take.
    ``aside`` are calls for the entries of a batch, each with the number of events before it.
    """

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.failed: dict[int, tuple[str, str]] = {}
        self.aside: list[tuple[int, Event]] = []
        self.turns: dict[tuple[str, int], int] = {}
        self.calls = 0
        self.kept = MOST
        self.most = 8 * MOST
        self.large = 0

    def add(self, event: Event) -> None:
        """Note an event, with its turn."""
        key = event.kind, event.line
        event.turn = self.turns[key] = self.turns.get(key, 0) + 1
        if event.kind in ("backward", "grad"):
            event.call = self.calls
            self.calls += 1
        self.events.append(event)
        self.large += event.size
        if self.large > LARGEST:
            self.kept = max(FEWEST, self.kept // 4)
            self.thin()
        elif len(self.events) > self.most:
            self.thin()
            self.most = max(8 * MOST, 2 * len(self.events))

    def beside(self, event: Event) -> None:
        """Note a call for one entry of a batch, which counts where the script makes no other."""
        if len(self.aside) < MOST:
            self.aside.append((len(self.events), event))

    def end(self) -> None:
        """Take the calls for the entries of batches where there are no others."""
        if self.calls:
            return
        events, self.events, start = self.events, [], 0
        for place, event in self.aside:
            self.events += events[start:place]
            self.add(event)
            start = place
        self.events += events[start:]

    def thin(self) -> None:
        """Let go of the events in the middle: derivative calls beyond the bound, and what happens there besides."""
        derivative = [k for k, event in enumerate(self.events) if event.kind in ("backward", "grad", "error")]
        half = self.kept // 2
        if len(derivative) > self.kept:
            first, last = derivative[half], derivative[-half]
            between = [event for event in self.events[first:last] if not event.finite][:half]
        else:
            first, last = 4 * half, max(len(self.events) - 4 * half, 4 * half)
            between = [self.events[k] for k in derivative if first <= k < last]
        self.events = [*self.events[:first], *between, *self.events[last:]]
        self.large = sum(event.size for event in self.events)


# ---- what the script calls a value

DEEPEST = 5
"""Dots and brackets of a name."""
WIDEST = 400
"""Items of a list or an object that are looked at."""


def name_of(run: Any, value: Any) -> str | None:
    """Return what the script calls a value: a variable of the functions that run or of the module, or the way to it.

    A variable of a loop, which has another value in the next turn, names it where nothing else does.
    """
    frames = [(code, frame) for code, frame in run.frames if code.listed]
    passing = None
    for code, frame in reversed(frames):
        for name, item in variables(code, frame):
            if item is value:
                if name not in code.loops:
                    return name
                passing = passing or name
    if not isinstance(value, Tensor):
        return passing
    if value.extra is not None and value.extra.name is not None:
        return value.extra.name
    for code, frame in [*frames[:1], *reversed(frames[1:])]:
        for name, item in variables(code, frame):
            way = None if item is value else way_to(item, value, DEEPEST, set())
            if way is not None:
                extra_of(value).name = f"{name}{way}"
                return f"{name}{way}"
    return passing


def variables(code: Code, frame: Frame) -> Iterator[tuple[str, Any]]:
    """Yield the variables of a frame with their values; those that inner functions share are in cells."""
    for name, place in code.places.items():
        item = frame[place]
        yield name, item[0] if place in code.cells and isinstance(item, list) and item else item


def way_to(base: Any, value: Any, depth: int, seen: set[int]) -> str | None:
    """Return how a value is reached from another, None where it is not."""
    if base is value:
        return ""
    if not depth or id(base) in seen or not isinstance(base, Instance | list | tuple | dict):
        return None
    seen.add(id(base))
    parts = parts_of(base)
    for step, item in parts:  # the short ways first
        if item is value:
            return step
    for step, item in parts:
        rest = way_to(item, value, depth - 1, seen)
        if rest is not None:
            return step + rest
    return None


def parts_of(base: Any) -> list[tuple[str, Any]]:
    """Return what is in a container or an object, each with the step to it; modules are in no table."""
    if isinstance(base, list | tuple):
        return [(f"[{k}]", item) for k, item in enumerate(base[:WIDEST])]
    if isinstance(base, dict):
        return [(f"[{key!r}]", item) for key, item in list(base.items())[:WIDEST] if isinstance(key, str | int)]
    parts: list[tuple[str, Any]] = []
    for name, item in list(base.fields.items())[:WIDEST]:
        is_table = name in ("_modules", "_parameters", "_buffers") and isinstance(item, dict)
        items = item if is_table else {} if isinstance(item, Class | Closure) else {name: item}
        parts += [(f"[{key}]" if str(key).isdigit() else f".{key}", one) for key, one in items.items()]
    return parts


# ---- what a script's lines do to its leaves besides derivative calls

MOST_NAMED = 400
"""Tensors of one line that are named."""
OFTEN = 2_000
"""Turns of a line that draws after which its draws are noted no more: a search for names takes time."""
BY_LIBRARY = {"update": ("step", "load_state_dict"), "zero": ("zero_grad", "step")}
"""Functions of a library that do it as the line that calls them asks."""
ASSIGNED = re.compile(
    r"\s*([A-Za-z_][\w.]*(?:\[[^\]=]*\])?)\s*(?::[^=]*)?=(?!=)\s*(?:[\d.]+\s*\*\s*)?(?:torch\.(?!nn\.(?!P))|np\.|nn\.P)"
)
"""A line that gives a variable what it has drawn and worked on."""


class Noting:
    """What was noted since the last event, in order; ``called`` are the names that leaves had at the last call.

    ``inner`` are the names of computed values whose ``.grad`` the script reads and finds None, ``constant`` gradients
    that ``create_graph=True`` gave without a graph, each with the line of its call.
    """

    def __init__(self) -> None:
        self.draws: list[tuple[Event, list[ref[Tensor]]]] = []
        self.pending: Event | None = None
        self.within: Frame | None = None
        self.called: WeakKeyDictionary[Tensor, str] = WeakKeyDictionary()
        self.drawn: dict[int, int] = {}
        self.inner: dict[str, None] = {}
        self.constant: WeakKeyDictionary[Tensor, int] = WeakKeyDictionary()


def entry(run: Any) -> tuple[str, Frame | None]:
    """Return the function of a library that the script's line has called, and its frame; empty in its own code."""
    name, within = "", None
    for code, frame in reversed(run.frames):
        if code.listed:
            break
        name, within = code.name, frame
    return name, within


def note(run: Any, kind: str, leaf: Tensor) -> None:
    """Note that the line zeroes the gradient of a leaf, or writes its numbers anew."""
    function, within = entry(run)
    if run.replay is not None or (run.quiet and function not in BY_LIBRARY[kind]):
        return
    noting: Noting = run.noting
    if kind == "update" and noting.draws and any(one() is leaf for one in noting.draws[-1][1]):
        return
    name = noting.called.get(leaf) or run.name_of(leaf) or ""
    before = noting.pending
    again = name in before.names if before is not None else False
    one_step = within is not None and within is noting.within  # an optimizer may write a leaf in several statements
    if before is not None and (before.kind, before.line) == (kind, run.line) and (one_step or not again):
        if name and not again and len(before.names) < MOST_NAMED:
            before.names.append(name)
        return
    settle(run)
    noting.within = within
    noting.pending = Event(kind, run.line, names=[name] if name else [])


def note_draw(run: Any, tensor: Tensor) -> None:
    """Note that the line draws the numbers of a tensor."""
    if run.replay is not None:
        return
    noting: Noting = run.noting
    if noting.pending is not None:
        settle(run)
    if noting.draws and noting.draws[-1][0].line == run.line:
        tensors = noting.draws[-1][1]
        tensors.append(ref(tensor))
        del tensors[:-MOST_NAMED]
        return
    count = noting.drawn[run.line] = noting.drawn.get(run.line, 0) + 1
    if count > OFTEN:
        return
    if len(noting.draws) > MOST_NAMED:
        settle(run)
    noting.draws.append((Event("draw", run.line), [ref(tensor)]))


def settle(run: Any) -> None:
    """Enter what was noted into the log, before another event."""
    noting: Noting = run.noting
    draws, noting.draws = noting.draws, []
    for event, tensors in draws:
        values = [tensor for one in tensors if (tensor := one()) is not None]
        names = [run.name_of(value) for value in values]
        event.names = list(dict.fromkeys(name for name in names if name)) or assigned(run, event.line)
        event.values = {name: value.value for name, value in zip(names, values, strict=True) if name}
        if event.names:
            run.log.add(event)
    pending, noting.pending = noting.pending, None
    if pending is not None:
        run.log.add(pending)


def assigned(run: Any, line: int) -> list[str]:
    """Return the variable that a line gives what it has drawn, where what was drawn has no name itself."""
    lines = run.place.text.split("\n")
    target = ASSIGNED.match(lines[line - 1]) if 0 < line <= len(lines) else None
    return [target[1]] if target else []
