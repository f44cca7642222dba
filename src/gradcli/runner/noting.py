"""What a script's lines do to its leaves besides derivative calls: numbers drawn, gradients zeroed, numbers updated.

One line is one event, also where a library's code does it to many tensors. Draws have their names only once the line is
through, so that they are asked for at the next event of another kind.
"""

from __future__ import annotations

import re
from typing import Any
from weakref import WeakKeyDictionary, ref

from gradcli.runner.events import Event
from gradcli.runner.values import Tensor

MOST = 400
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
        self.called: WeakKeyDictionary[Tensor, str] = WeakKeyDictionary()
        self.drawn: dict[int, int] = {}
        self.inner: dict[str, None] = {}
        self.constant: WeakKeyDictionary[Tensor, int] = WeakKeyDictionary()


def entry(run: Any) -> str:
    """Return the function of a library that the script's line has called; empty where its own code runs."""
    name = ""
    for code, _ in reversed(run.frames):
        if code.listed:
            return name
        name = code.name
    return name


def note(run: Any, kind: str, leaf: Tensor) -> None:
    """Note that the line zeroes the gradient of a leaf, or writes its numbers anew."""
    if run.replay is not None or (run.quiet and entry(run) not in BY_LIBRARY[kind]):
        return
    noting: Noting = run.noting
    if kind == "update" and noting.draws and any(one() is leaf for one in noting.draws[-1][1]):
        return
    name = noting.called.get(leaf) or run.name_of(leaf) or ""
    before = noting.pending
    if before is not None and (before.kind, before.line) == (kind, run.line) and name not in before.names:
        if name and len(before.names) < MOST:
            before.names.append(name)
        return
    settle(run)
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
        del tensors[:-MOST]
        return
    count = noting.drawn[run.line] = noting.drawn.get(run.line, 0) + 1
    if count > OFTEN:
        return
    if len(noting.draws) > MOST:
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
