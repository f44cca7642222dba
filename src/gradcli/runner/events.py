"""What a script did, in order: what it printed, its derivative calls with their numbers, draws, updates, errors."""

from __future__ import annotations

from typing import Any

from numpy import ndarray

from gradcli.records import dataclass, field

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

    def printed(self, line: int, text: str) -> None:
        """Note a print; the prints of one line that follow each other are separate events."""
        self.add(Event("print", line, text=text))

    def thin(self) -> None:
        """Let go of the events in the middle: derivative calls beyond the bound, and what happens there besides."""
        derivative = [k for k, event in enumerate(self.events) if event.kind in ("backward", "grad", "error")]
        half = self.kept // 2
        if len(derivative) > self.kept:
            first, last = derivative[half], derivative[-half]
            strange = [e for e in self.events[first:last] if not e.finite]
            self.events = [*self.events[:first], *strange[:half], *self.events[last:]]
        else:
            between = self.events[4 * half : -4 * half]
            self.events = [
                *self.events[: 4 * half],
                *[event for event in between if event.kind in ("backward", "grad", "error")],
                *self.events[-4 * half :],
            ]
        self.large = sum(event.size for event in self.events)
