"""Scripts: which of their derivative calls is answered, and that call as a function with its inputs and v."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.records import dataclass
from gradcli.runner.events import Event
from gradcli.runner.script import Ended, run_script

DERIVATIVE = ("backward", "grad")


def derivative_calls(ended: Ended) -> list[Event]:
    """Return the derivative calls of a run, in order."""
    return [event for event in ended.run.log.events if event.kind in DERIVATIVE]


def choose(ended: Ended, at: int | None = None, turn: int | None = None) -> list[Event]:
    """Return the calls that are answered together: of one output at one point, in a row.

    That is the call before an error, or the first whose numbers are not finite, else the last group, of a loop's turns
    the first. ``at`` is a line, ``turn`` a turn of its loop. Raises ``no-derivative``, ``option``.
    """
    calls = derivative_calls(ended)
    if at is not None:
        calls = [event for event in calls if event.line == at]
        if not calls:
            raise GradcliError("option", f"line {at} of the script makes no derivative call")
    if not calls:
        raise GradcliError("no-derivative", "the script asks for no derivative", hint="--of NAME and --wrt NAME do")
    if turn is not None:
        chosen = next((event for event in calls if event.turn == turn), None)
        if chosen is None:
            raise GradcliError("option", f"there is no turn {turn}: the last is {calls[-1].turn}")
        return group_of(ended, chosen)
    strange = next((event for event in calls if not event.finite), None)
    last = calls[-1]
    first = next(event for event in calls if event.line == last.line and event.kind == last.kind)
    group = group_of(ended, last)
    return group_of(ended, strange or (last if len(group) > 1 else first))


def group_of(ended: Ended, chosen: Event) -> list[Event]:
    """Return the calls in a row that have the output of this one."""
    calls = derivative_calls(ended)
    place = calls.index(chosen)
    first = last = place
    while first > 0 and together(calls[first - 1], chosen):
        first -= 1
    while last + 1 < len(calls) and together(calls[last + 1], chosen):
        last += 1
    return calls[first : last + 1]


def together(one: Event, other: Event) -> bool:
    """Return whether two calls are of one output by the same means."""
    same = one.node == other.node >= 0 and one.kind == other.kind
    return same and set(one.grad) == set(other.grad) and one.of == other.of


def read_script(text: str, given: Iterable[str], values: Mapping[str, Any] | None = None, asked: Asked | None = None) -> Any:
    """Run a script and return the call that is answered as a program; raises the error that the script ends with.

    ``given`` are the names that have values from outside, ``values`` those that are known already.
    """
    from gradcli.runner.replay import program_of

    how = asked or Asked()
    free = {name: value for name, value in (values or dict.fromkeys(given, 0.0)).items()}
    ended = run_script(text, given=None, seed=how.seed)
    if ended.refused is not None:
        raise ended.refused
    calls = choose(ended, how.at, how.turn)
    events = ended.run.log.events
    resets = [False] * len(calls)
    for k, (one, other) in enumerate(zip(calls, calls[1:], strict=False), 1):
        between = events[events.index(one) : events.index(other)]
        resets[k] = any(event.kind == "zero" for event in between) or other.kind == "grad"
    del free
    program = program_of(text, calls[0].sweep, [event.v for event in calls], resets, how.seed)
    program.ended, program.explained = ended, events.index(calls[-1])
    return program


@dataclass(frozen=True, slots=True)
class Asked:
    """What of a script is answered: the call ``at`` a line, at a ``turn``, the variable ``of`` by those of ``wrt``; draws."""

    at: int | None = None
    turn: int | None = None
    of: str | None = None
    wrt: tuple[str, ...] = ()
    seed: int = 0


__all__ = ["choose", "np", "read_script", "run_script"]
