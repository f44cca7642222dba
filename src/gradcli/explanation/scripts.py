"""Scripts: which of their derivative calls is answered, and that call as a function with its inputs and v."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from gradcli.errors import Budget, GradcliError, Place
from gradcli.errors.hints import did_you_mean
from gradcli.explanation.timeline import DERIVATIVE
from gradcli.ops import spellings
from gradcli.records import dataclass
from gradcli.runner.events import Event
from gradcli.runner.reading import LOSSES
from gradcli.runner.replay import ScriptProgram, program_of
from gradcli.runner.script import LAST, Ended, ScriptError, compile_text, read_given, run_script
from gradcli.runner.state import BOUNDS
from gradcli.runner.values import Code, Instance, Tensor

Running = dict[str, Any]
"""How a script is run: its ``seed`` and ``budget``, values that are ``given`` to it, and ``others`` of its leaves."""


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


def read_script(
    text: str, names: Iterable[str], asked: Asked, wrt: Sequence[str] | None, budget: Budget = BOUNDS
) -> Any:
    """Run a script and return the call that is answered as a program, or its last value where it makes no such call.

    ``names`` are the names that have values from outside, with the values where it is a mapping. Raises what is
    refused, and the exception that ends the script as a ``ScriptError``.
    """
    values = names if isinstance(names, Mapping) else {}
    code, place = compile_text(text, budget=budget, last=LAST)
    free = code.text.free(values)
    refuse_others(values.keys() - free.keys(), code)
    missing = [name for name in free if name not in values]
    settings = read_given(text, values, wrt or (), last=LAST, seed=asked.seed, budget=budget)
    refuse_unknown_functions(code, place, {name: free[name] for name in missing})
    traced = frozenset(wrt or ()) - free.keys() if asked.of is not None else frozenset()
    if missing or asked.of is not None:
        program = program_of(text, -1, [], [], of=asked.of, traced=traced, **settings)
        if not missing:
            program.ended = run_script(text, **settings)
            if not program.inputs and not wrt:
                raise no_derivative(text, program.ended, asked, settings)
        return program
    ended = run_script(text, last=LAST, **settings)
    if ended.refused is not None:
        raise ended.refused
    if ended.raised is not None and asked.at is None and asked.turn is None:
        raise ScriptError(ended)
    if not derivative_calls(ended):
        return last_value_of(text, ended, asked, settings)
    calls = choose(ended, asked.at, asked.turn)
    events = ended.run.log.events
    resets = [False] * len(calls)
    for k, (one, other) in enumerate(pairwise(calls), 1):
        between = events[events.index(one) : events.index(other)]
        resets[k] = any(event.kind == "zero" for event in between) or other.kind == "grad"
    vs = [event.v for event in calls]
    program = program_of(
        text, calls[0].sweep, vs, resets, traced=frozenset(wrt or (calls[0].of if calls[0].inner else ())),
        changing=frozenset(ended.run.changing), failed=ended.run.log.failed, **settings,
    )  # fmt: skip
    program.ended, program.explained, program.calls = ended, events.index(calls[-1]), calls
    return program


def is_whole_script(program: Any) -> bool:
    """Return whether a program is a script with variables of its own, and no function of Python's."""
    return type(program) is ScriptProgram


def refuse_unknown_functions(code: Code, place: Place, missing: Mapping[str, tuple[int, int]]) -> None:
    """Refuse a script that calls a function which no line defines: no value from outside could stand for it."""
    for name in missing:
        if name in code.text.called:
            near = did_you_mean(name, [*(code.places.keys() - missing.keys()), *spellings()])
            raise GradcliError(
                "unknown-name",
                f"no line of the script defines the function '{name}'",
                span=missing[name],
                place=place,
                hint=near or "give the script with its definition or its import",
            )


def last_value_of(text: str, ended: Ended, asked: Asked, settings: Running) -> Any:
    """Return the last value of a script without a derivative call as a program; raises ``no-derivative`` for none."""
    try:
        program = program_of(text, -1, [], [], **settings)
    except GradcliError as error:
        if error.kind not in ("unknown-name", "type", "exact"):
            raise
        program = None
    if program is None or not program.inputs:
        raise no_derivative(text, ended, asked, settings)
    program.ended = ended
    return program


def numbers_of(variables: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the variables that are numbers or arrays of floats, and the numbers that objects hold, by their ways."""
    for name, value in variables.items():
        if isinstance(value, Instance):
            yield from ((f"{name}.{field}", part) for field, part in value.fields.items() if field in ("data", "value"))
        elif type(value) is float:
            yield name, value
        elif isinstance(value, Tensor) and value.dtype.startswith("float"):
            yield name, value.value


def first_ones(text: str, of: str, names: list[str], settings: Running) -> list[str]:
    """Return those of several variables that are computed from none of the others."""
    try:
        program = program_of(text, -1, [], [], of=of, traced=frozenset(names), **settings)
    except (GradcliError, ScriptError):
        return names
    return [name for name in names if name not in program.computed]


def no_derivative(text: str, ended: Ended, asked: Asked, settings: Running) -> GradcliError:
    """Return the error for a script that asks for no derivative: what could be asked for."""
    numbers = dict(numbers_of(ended.variables))
    scalars = [name for name, value in numbers.items() if np.size(value) == 1]
    likely = next((name for name in scalars if name.split(".")[0] in LOSSES), scalars[-1] if scalars else "NAME")
    of = asked.of or likely
    others = [name for name in numbers if name not in scalars] or [name for name in scalars if name != of]
    wrt = ",".join(first_ones(text, of, others, settings)) or "NAME"
    error = GradcliError(
        "no-derivative",
        f"'{of}' is computed from no leaf" if asked.of else "the script asks for no derivative",
        hint=f"--of {of} --wrt {wrt} names what to differentiate by what",
    )
    error.ended = ended
    return error


def refuse_others(others: Iterable[str], code: Code) -> None:
    """Refuse values for names that the script does not have."""
    for name in others:
        if name not in code.places:
            has = f"the script has {', '.join(list(code.places)[:6])}" if code.places else "the script has no variables"
            raise GradcliError(
                "unknown-input", f"the script has no variable '{name}'", hint=did_you_mean(name, code.places) or has
            )


@dataclass(frozen=True, slots=True)
class Asked:
    """What of a script is answered: the call ``at`` a line and ``turn``, variable ``of`` by those of ``wrt``; draws."""

    at: int | None = None
    turn: int | None = None
    of: str | None = None
    wrt: tuple[str, ...] = ()
    seed: int = 0
