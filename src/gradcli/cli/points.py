"""Several points of one check: values that are given again, and the command that checks the failing point alone."""

from __future__ import annotations

import shlex
from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.cli.inputs import assignment, file_error
from gradcli.errors import GradcliError
from gradcli.records import dataclass

if TYPE_CHECKING:
    import typer

    from gradcli.interface import Check

MOST_POINTS = 1_000
LONGEST = 400
"""Characters of a value that are typed again; a larger array is named by its file, or by the seed that chose it."""
ONE_POINT = ("set_values", "samples", "seed")
"""Parameters that say at which points a check is made."""
PRINTING = ("json", "format", "output", "quiet", "debug", "jobs")
"""Parameters that do not change what is found."""


def points_of(items: Sequence[str]) -> list[list[str]]:
    """Return the ``NAME=VALUE`` items of each point: the first has all, the others those that are given again.

    A variable that is given once has that value at all points. Raises ``option`` for variables that are given again
    unequally often.
    """
    by_name: dict[str, list[str]] = {}
    for item in items:
        by_name.setdefault(assignment(item)[0], []).append(item)
    several = {name: items_of for name, items_of in by_name.items() if len(items_of) > 1}
    if not several:
        return [list(items)]
    count = max(map(len, several.values()))
    uneven = next((name for name, items_of in several.items() if len(items_of) != count), None)
    if uneven is not None:
        most = next(name for name, items_of in several.items() if len(items_of) == count)
        raise GradcliError(
            "option", f"{most} is given {count} times and {uneven} {len(several[uneven])} times",
            hint="give a variable once for all points, or once for each",
        )  # fmt: skip
    if count > MOST_POINTS:
        raise GradcliError("option", f"{count:,} points are more than {MOST_POINTS:,}", hint="make them several checks")
    if any(assignment(item)[1] == "-" for items_of in several.values() for item in items_of):
        raise file_error("standard input is one value, and not one for each point", f"--{next(iter(several))}")
    first = [items_of[0] for items_of in by_name.values()]
    return [first, *([items_of[k] for items_of in several.values()] for k in range(1, count))]


@dataclass(frozen=True, slots=True)
class TypedCheck:
    """A check as it was typed: the words that do not depend on the point, and the texts of each point by variable.

    ``program`` and ``words`` stand before and after the values; ``sampling`` are the words that choose random points,
    ``flags`` those that are no variables.
    """

    program: list[str]
    words: list[str]
    sampling: list[str]
    points: list[dict[str, str]]
    flags: set[str]


def typed_check(ctx: typer._click.Context, points: Sequence[Sequence[str]], program: str) -> TypedCheck:
    """Return what was typed; ``program`` is the text that was read, which stands for standard input."""
    first: list[str] = []
    words: list[str] = []
    sampling: list[str] = []
    flags: set[str] = set()
    for parameter in ctx.command.params:
        name, value = str(parameter.name), ctx.params.get(str(parameter.name))
        flags.update(parameter.opts)
        if name in {"program", "file"}:
            first += program_words(parameter.opts, value, program)
        elif name not in (*PRINTING, "set_values") and value and value != parameter.default:
            typed = option_words(parameter.opts[0], value)
            words, sampling = (words, sampling + typed) if name in ONE_POINT else (words + typed, sampling)
    values = dict(map(assignment, points[0]))
    return TypedCheck(first, words, sampling, [values | dict(map(assignment, point)) for point in points], flags)


def program_words(flags: Sequence[str], value: str | None, program: str) -> list[str]:
    """Return the words that give the program: a file by its name, what came by standard input by its text."""
    if value is None:
        return []
    if value == "-":
        return [program.strip()]
    return [value] if flags[0] == "program" else [flags[0], value]


def option_words(flag: str, value: Any) -> list[str]:
    """Return an option as words: a switch alone, one that was given again with each of its values."""
    if value is True:
        return [flag]
    return [word for one in (value if isinstance(value, list | tuple) else [value]) for word in (flag, str(one))]


def reproducing(typed: TypedCheck, answer: Check, values_typed: Sequence[Mapping[str, Any]]) -> str:
    """Return the command that checks the failing point alone; empty where nothing is wrong.

    ``values_typed`` are the values of each point that was typed. A random point of large arrays is named by its seed.
    """
    from gradcli.render.checked import failing_entry

    if answer.verdict != "wrong":
        return ""
    worst = failing_entry(answer)
    if worst is None:
        return command_text(typed, typed.points[0])
    for texts, values in zip(typed.points, values_typed, strict=True):
        point = {**answer.inputs, **values}
        if not point.keys() <= worst.point.keys():  # of a script that has more values than it is differentiated by
            return command_text(typed, typed.points[0], typed.sampling)
        if all(np.array_equal(worst.point[name], value) for name, value in point.items()):
            return command_text(typed, {name: restored(text, worst.point[name]) for name, text in texts.items()})
    texts = {**typed.points[0], **{name: restored("-", worst.point[name]) for name in answer.differentiated}}
    if "-" in texts.values() or answer.labels:
        return command_text(typed, typed.points[0], typed.sampling)
    return command_text(typed, texts)


def restored(text: str, value: Any) -> str:
    """Return the text of a value, which is written out where standard input had it and where it is short."""
    from gradcli.document.numbers import input_text

    written = input_text(value) if text == "-" and np.size(value) < LONGEST else text
    return written if len(written) <= LONGEST else text


def command_text(typed: TypedCheck, values: Mapping[str, str], sampling: Sequence[str] = ()) -> str:
    """Return a command line for a shell, with values by variable."""
    words = list(typed.program)
    for name, text in values.items():
        words += value_words(name, text, typed.flags)
    return shlex.join(["gradcli", "check", *words, *typed.words, *sampling])


def value_words(name: str, text: str, flags: Container[str]) -> list[str]:
    """Return the words that give a variable a value; ``flags`` are those that are no variables."""
    return ["--set", f"{name}={text}"] if f"--{name}" in flags else [f"--{name}", text]
