"""What a script did, line by line, as a person reads it: plain records, which ``render/events.py`` shows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.errors.hints import counted, listed
from gradcli.errors.inert import printed
from gradcli.records import dataclass, field, replace
from gradcli.runner.script import LAST

if TYPE_CHECKING:
    from gradcli.ops.declare import Array
    from gradcli.runner.events import Event as Event  # noqa: PLC0414 - voices read it here
    from gradcli.runner.events import Log
    from gradcli.runner.script import Ended

DERIVATIVE = ("backward", "grad")
FEW = 3
"""Turns of a line, lines of a print and names that are all shown."""
MOST_ROWS = 40
"""Rows that are shown: of more, the first and the last."""
MOST_CALLS = 1000
"""Derivative calls whose events are all kept: of more, the first and the last half, and those that are not finite."""
RETURNS = "returns"
LONG_WORDS = 80
"""Characters of an error's words that are shown in any case."""
MANUAL_SEED = re.compile(
    r"^[^#\n]*?\b((?:[\w.]+\.)?(?:manual_seed|seed|default_rng|RandomState|PRNGKey)\([^()\n]*\))", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Left:
    """One thing that a line left: a text, or numbers under a name, of which the last call may have ``added`` a part."""

    text: str
    value: Array | None = None
    added: Array | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a script, as one of its turns: ``what`` it is and what it left.

    A row without a line goes on with the one above it; ``skipped`` says how many turns are not shown here.
    """

    line: int
    what: str
    turn: str = ""
    left: tuple[Left, ...] = ()
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class Timeline:
    """The lines that a run went through.

    - ``name``: what the script is called: its file, or ``script``.
    - ``summary``: ``24 lines, ran to its end: 100 calls of backward``.
    - ``rows``: what is shown, in order; none where there is little to tell.
    - ``prints``: where there are no rows, the lines that the script printed.
    - ``title``: the call that is answered: ``Line 14, turn 1 of 100: loss.backward()``; empty for none.
    - ``more``: options that answer other calls.
    - ``events``: all events that are kept, in order, ``explained`` the place of the one that is answered.
    """

    name: str
    summary: str
    rows: list[Row] = field(default_factory=list)
    prints: list[str] = field(default_factory=list)
    title: str = ""
    more: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    explained: int | None = None

    def alone(self) -> Timeline:
        """Return the same call without what the script did beside it."""
        return replace(self, summary="", rows=[], prints=[], more=[])

    @property
    def last_error(self) -> int | None:
        """The place of the event of the error that ended the script; None where none did."""
        place = len(self.events) - 1
        return place if place >= 0 and self.events[place].kind == "error" and not self.events[place].caught else None

    @property
    def head(self) -> str:
        """The script in one line."""
        return f"{self.name}, {self.summary}"


def timeline_of(program: Any) -> Timeline | None:
    """Return the timeline of the script that a program is a call of, where it was run as a whole."""
    if program.ended is None:
        return None
    events = program.ended.run.log.events
    if program.explained >= 0:
        return timeline(program.ended, events[program.explained])
    by = ", ".join(program.labels.get(name, name) for name in program.wrt or ())
    named = program.of and program.of != LAST
    return replace(timeline(program.ended), title=f"{program.of} by {by}" if named else "")


def timeline(ended: Ended, explained: Event | None = None, name: str = "script", whole: bool = False) -> Timeline:
    """Return the timeline of a run; ``explained`` is the call that is answered, ``whole`` asks for every turn."""
    log, lines = ended.run.log, ended.place.text.rstrip("\n").split("\n")
    events = kept(log)
    calls = [event for event in events if event.kind in DERIVATIVE]
    summary = f"{counted(len(lines), 'line')}, {ending(ended)}: {calls_text(log)}"
    place = next((k for k, event in enumerate(events) if event is explained), None)
    title = "" if explained is None else title_of(explained, lines, log)
    more = others(calls, explained, log)
    if is_brief(log.events):
        return Timeline(name, summary, [], printed_lines(log.events), title, more, events, place)
    rows = list(Reader(ended, lines, explained, whole).rows())
    return Timeline(name, summary, rows, [], title, more, events, place)


def ending(ended: Ended) -> str:
    """Return how a run ended, in words."""
    if ended.raised is not None:
        at = f" on line {ended.raised.line}" if ended.raised.line else ""
        return f"ended with {ended.raised.name}{at}"
    if ended.refused is not None:
        return "was not run to its end"
    return "ended by sys.exit" if ended.status else "ran to its end"


def calls_text(log: Log) -> str:
    """Return how many derivative calls there were, in words."""
    counts = {kind: sum(n for (other, _), n in log.turns.items() if other == kind) for kind in DERIVATIVE}
    words = [counted(count, f"call of {kind}") for kind, count in counts.items() if count]
    return listed(words, len(words)) if words else "no derivative call"


def title_of(event: Event, lines: Sequence[str], log: Log) -> str:
    """Return the line of a call and its turn."""
    total = log.turns.get((event.kind, event.line), 1)
    turn = f", turn {event.turn:,} of {total:,}" if total > 1 else ""
    return f"Line {event.line}{turn}: {source(lines, event.line)}"


def source(lines: Sequence[str], number: int) -> str:
    """Return a line of the script without indentation and comment."""
    text = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    return re.sub(r"\s*#(?![^'\"]*['\"]).*$", "", text).expandtabs(4) or text


def others(calls: Sequence[Event], explained: Event | None, log: Log) -> list[str]:
    """Return the options that answer other calls than the one that is answered."""
    if explained is None or len(calls) < 2:
        return []
    total = log.turns.get((explained.kind, explained.line), 1)
    turn = [f"--turn {1 if explained.turn == total else total}"] if total > 1 else []
    numbers = dict.fromkeys(call.line for call in calls if call.line != explained.line)
    return [*turn, *(f"--at {number}" for number in [*numbers][-2:]), "--all"]


def is_brief(events: Sequence[Event]) -> bool:
    """Return whether a script makes one derivative call at most and prints little: that needs no timeline."""
    calls = sum(event.kind in DERIVATIVE for event in events)
    return (
        calls < 2
        and not any(event.kind in ("error", "update") for event in events)
        and len(printed_lines(events)) <= FEW
    )


def printed_lines(events: Sequence[Event]) -> list[str]:
    """Return the lines that a script printed, safe to show."""
    text = "".join(event.text for event in events if event.kind == "print")
    return [shown(line) for line in text.rstrip("\n").split("\n")] if text.strip() else []


def shown(line: str) -> str:
    """Return a printed line without tabs and returns."""
    return printed(line.expandtabs(8)).replace("\r", "\\r")


def kept(log: Log) -> list[Event]:
    """Return the events of a run: of many derivative calls the first and the last, and those that are not finite."""
    if log.calls <= MOST_CALLS:
        return log.events
    half = MOST_CALLS // 2
    after = next(k for k, event in enumerate(log.events) if event.call >= half)
    before = next(k for k, event in enumerate(log.events) if event.call >= log.calls - half)
    middle = [event for event in log.events[after:before] if not event.finite or event.kind == "error"]
    return [*log.events[:after], *middle, *log.events[before:]]


class Reader:
    """Reads the events of a run as rows: of many turns of a line the first two and the last."""

    def __init__(self, ended: Ended, lines: Sequence[str], explained: Event | None, whole: bool) -> None:
        self.log, self.lines, self.explained, self.whole = ended.run.log, lines, explained, whole
        self.text, self.first_seed = ended.place.text, ended.run.seed

    def rows(self) -> list[Row]:
        """Return the rows, those in the middle left out where they are many."""
        rows = list(self.all_rows())
        if len(rows) <= MOST_ROWS or self.whole:
            return rows
        half = MOST_ROWS // 2
        return [
            *rows[:half],
            Row(0, f"{len(rows) - 2 * half:,} rows more", skipped=len(rows) - 2 * half),
            *rows[-half:],
        ]

    def all_rows(self) -> Iterator[Row]:
        """Yield a row for each event that is shown, and one for what is left out between two of them."""
        left_out: dict[int, int] = {}
        line = 0
        for event in self.log.events:
            total = self.log.turns.get((event.kind, event.line), 1)
            if not self.is_shown(event, total):
                if event.kind in (*DERIVATIVE, "print"):
                    left_out[event.line] = left_out.get(event.line, 0) + 1
                continue
            if left_out:
                most = max(left_out.values())
                yield Row(0, f"{counted(most, 'turn')} more", skipped=most)
                left_out, line = {}, 0
            yield self.row(event, total, same=event.line == line and event.kind in DERIVATIVE)
            line = event.line if event.kind in DERIVATIVE else 0

    def is_shown(self, event: Event, total: int) -> bool:
        """Return whether an event has a row of its own."""
        if self.whole or event is self.explained or event.kind == "error" or event.turn == 1:
            return True
        if event.kind not in (*DERIVATIVE, "print"):
            return False
        return total <= FEW or event.turn in (2, total) or not event.finite

    def row(self, event: Event, total: int, same: bool) -> Row:
        """Return the row of an event; ``same`` says that the row above is of the same line."""
        what = self.what(event)
        turn = "" if total == 1 or event.kind not in DERIVATIVE else f"turn {event.turn:,}"
        turn += f" of {total:,}" if turn and event.turn == 1 else ""
        return Row(0 if same else event.line, "" if same else what, turn, tuple(self.left(event, total)))

    def what(self, event: Event) -> str:
        """Return what a line is called: its text, or what it does where that says more."""
        if event.kind == "draw" and len(event.names) == 1:
            return f"{event.names[0]} drawn, {self.seed(event)}"
        return "print" if event.kind == "print" else source(self.lines, event.line)

    def seed(self, event: Event) -> str:
        """Return the words for the seed that a draw goes on from."""
        line = self.lines[event.line - 1]
        if line[:1].isspace():  # a function or a class, which stands above the seed that it goes on from
            seeds = [*MANUAL_SEED.finditer(self.text)][:1]
        else:
            seeds = [*MANUAL_SEED.finditer("\n".join(self.lines[: event.line]))]
        return seeds[-1][1] if seeds else f"seed {self.first_seed}"

    def left(self, event: Event, total: int) -> Iterator[Left]:
        """Yield what an event left."""
        turns = f", {total:,} turns" if total > 1 and not self.whole else ""
        if event.kind == "draw":
            if len(event.values) == 1:
                yield from (Left(name, as_floats(value)) for name, value in event.values.items())
            elif event.values:
                yield Left(short_list([f"{name} {np.shape(value)}" for name, value in event.values.items()]))
            if len(event.names) > 1:
                yield Left(f"drawn, {self.seed(event)}")
        elif event.kind == "print":
            yield from map(Left, few_lines(event.text))
        elif event.kind == "zero":
            yield Left(f"{short_list([f'{name}.grad' for name in event.names])} zeroed{turns}")
        elif event.kind == "update":
            yield Left(f"{short_list(event.names) or 'a leaf'} updated{turns}")
        elif event.kind == "error":
            yield Left(f"{event.type}: {words_of(event.text)}{', caught' if event.caught else ''}")
        else:
            yield from self.left_by_call(event, brief=event.turn > 1 and event is not self.explained and total > FEW)

    def left_by_call(self, event: Event, brief: bool) -> Iterator[Left]:
        """Yield the output of a derivative call where that is one number, and the gradients unless ``brief``."""
        output = np.asarray(event.value) if event.value is not None else np.zeros(0)
        if output.size == 1 and event.output:
            yield Left(event.output, output.reshape(()))
            if brief and event.finite and not accumulates(event):
                return
        if event.kind == "grad":
            yield from returned(event)
            if ".grad(" in self.what(event) and "torch" in self.text:
                yield Left("leaves .grad alone")
            return
        if len(event.grad) > FEW:
            before = ", which earlier calls have left" if event.turn > 1 and accumulates(event) else ""
            yield Left(f"{short_list([f'{name}.grad' for name in event.grad])} added to{before}")
            return
        for name, grad in event.grad.items():
            added = event.adds.get(name)
            yield Left(f"{name}.grad", as_floats(grad), as_floats(added) if has_more(grad, added) else None)


def accumulates(event: Event) -> bool:
    """Return whether a call adds to what earlier calls have left in a ``.grad``."""
    return any(has_more(grad, event.adds.get(name)) for name, grad in event.grad.items())


def has_more(grad: Any, added: Any) -> bool:
    """Return whether a ``.grad`` is more than what one call added."""
    if grad is None or added is None:
        return False
    return not np.array_equal(as_floats(added), as_floats(grad), equal_nan=True)


def returned(event: Event) -> Iterator[Left]:
    """Yield what a call returned."""
    names = event.of if len(event.of) == len(event.returns) else [""] * len(event.returns)
    for name, value in [*zip(names, event.returns, strict=True)][:FEW]:
        label = RETURNS if len(event.returns) == 1 or not name else f"{RETURNS} by {name}"
        yield Left(f"{label} None") if value is None else Left(label, as_floats(value))
    if len(event.returns) > FEW:
        yield Left(f"and {len(event.returns) - FEW:,} more")


def words_of(text: str) -> str:
    """Return the first sentence of an error, without what stands in parentheses where it is long."""
    first = shown(re.split(r"(?<=[a-z)])\. |\n", text)[0])
    return first if len(first) <= LONG_WORDS else re.sub(r" \([^()]{20,}\)", "", first)[: 2 * LONG_WORDS]


def short_list(names: Sequence[str]) -> str:
    """Return a few names, of more the first and how many others there are."""
    first = [*names] if len(names) <= FEW else [*names][:1]
    return listed(first, len(names)) if names else ""


def few_lines(text: str) -> list[str]:
    """Return the first lines of a print, and how many there are beside them."""
    lines = [shown(line) for line in text.rstrip("\n").split("\n")]
    if len(lines) <= FEW + 1:
        return lines
    return [*lines[:FEW], f"and {len(lines) - FEW:,} lines more"]


def as_floats(value: Any) -> Array:
    """Return numbers as an array of doubles."""
    return np.asarray(value, dtype=np.float64)
