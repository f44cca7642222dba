"""What a test report shows of a gradient that is not right: the sentence, the place with both numbers, a command."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.document.numbers import input_text, list_text
from gradcli.errors import Budget
from gradcli.render.checked import failing_entry

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcli.explanation.checked import Checked

MOST_TYPED = 64
"""Entries of an array that a command has in it; a larger one is named by a file."""
BY_POINT = ("samples", "seed", "points", "inputs")
"""Options that are not needed to ask again at the failing point."""


def assertion_text(check: Checked, sentence: str, program: str | Callable[..., Any], asked: Mapping[str, Any]) -> str:
    """Return the lines of an assertion; ``asked`` are the keywords with which the check was called."""
    lines = [sentence]
    worst = failing_entry(check)
    if worst is not None:
        width = max(map(len, worst.routes))
        rows = [
            f"  {route:<{width}}  {value!r}" for route, value in zip(named(worst.routes), worst.values, strict=True)
        ]
        lines += [f"  {worst.place}:", *rows]
    lines += [f"  note: {note.message}" for note in check.notes]
    point = check.inputs if worst is None else worst.point
    if check.labels:  # of a script, whose values have names that no option has
        point = {}
    options = {key: value for key, value in asked.items() if key not in check.inputs and key not in BY_POINT}
    large = [name for name, value in point.items() if np.size(value) > MOST_TYPED]
    if callable(program):
        return "\n".join([*lines, f"  {call_text(program, point, options, large)}"])
    saved = [f'  np.save("{name}.npy", {name})' for name in large]
    return "\n".join([*lines, *saved, f"  {command_text(check.program, point, options)}"])


def named(routes: tuple[str, str]) -> list[str]:
    """Return what the two numbers are called where nobody has typed an option."""
    names = {"--expect": "expected", "many digits": "truly"}
    return [names.get(route, route) for route in routes]


def command_text(program: str, point: Mapping[str, Any], options: Mapping[str, Any]) -> str:
    """Return the command line that checks a program at a point."""
    words = ["gradcli", "check", program.strip()]
    for name, value in point.items():
        text = f"@{name}.npy" if np.size(value) > MOST_TYPED else input_text(value)
        words += [f"--{name}", text] if len(name) == 1 and name != "v" else ["--set", f"{name}={text}"]
    for key, value in options.items():
        words += option_words(f"--{key}", value)
    return shlex.join(words)


def option_words(flag: str, value: Any) -> list[str]:
    """Return an option of ``check`` as words of the command line, none where it says nothing."""
    if value is None or value is False:
        return []
    if value is True:
        return [flag]
    if isinstance(value, Budget):
        changed = {name: getattr(value, name) for name in Budget.__slots__}
        return [
            word
            for name, bound in changed.items()
            if bound != getattr(Budget(), name)
            for word in (flag, f"{name}={bound:.0f}")
        ]
    if isinstance(value, Mapping):
        return [word for name, one in value.items() for word in (flag, f"{name}={text_of(one)}")]
    if isinstance(value, list | tuple) and value and all(isinstance(one, str) for one in value):
        return [flag, ",".join(value)]
    return [flag, text_of(value)]


def text_of(value: Any) -> str:
    """Return a formula, a number or an array as it is typed."""
    return value if isinstance(value, str) else list_text(np.asarray(value, dtype=np.float64))


def call_text(
    function: Callable[..., Any], point: Mapping[str, Any], options: Mapping[str, Any], large: list[str]
) -> str:
    """Return the call of ``check`` that asks for a Python function at a point; large arrays stand by their names."""
    values = {name: name if name in large else list_text(value) for name, value in point.items()}
    others = {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in options.items()}
    taken = [f"{name}={text}" for name, text in values.items()] + [f"{key}={value!r}" for key, value in others.items()]
    return f"gradcli.check({', '.join([getattr(function, '__name__', repr(function)), *taken])})"
