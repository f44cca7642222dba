"""``format``, f-strings, ``%`` and ``str.format`` over a script's values: Python's own formatting does them.

What it is given are stand-ins, which ask the run for texts, items and attributes: it sees no value of the script but
exact numbers and strings, and walks no attribute of the host. A stand-in's class is called as the script's value is, so
that errors are Python's own, type and words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.runner.containers import subscript
from gradcli.runner.cuts import note_text
from gradcli.runner.hosted import plain_value
from gradcli.runner.numpy_values import FloatKey, WholeKey
from gradcli.runner.objects import UNBOUND, Hosted, own
from gradcli.runner.operators import plain
from gradcli.runner.printing import bounded
from gradcli.runner.state import Run
from gradcli.runner.strings import plain_number, to_repr, to_str
from gradcli.runner.values import Tensor

LONGEST = 10_000_000
"""Characters that one call may write."""
PYTHONS = frozenset({int, float, bool, str, complex})
"""What Python formats itself: exact types alone, a subclass could bring a ``__format__`` of its own."""
ENTERED = (int, float, complex, str, set, type(None))
"""What ``%`` takes for one value; anything else may have items, and Python lets some of them be left over."""
CONVERSION = re.compile(r"%(?:\(.*?\)+)?[#0\- +]*(\*|\d*)(?:\.(\*|\d*))?[hlL]?(.?)", re.DOTALL)


class Written:
    """One call of formatting: for whom, and how many characters it has written."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.length = 0

    def counted(self, text: str) -> str:
        """Return a piece of the text, no longer with the others than is allowed."""
        self.length += len(text)
        if self.length > LONGEST:
            raise GradcliError("budget", f"a text of more than {LONGEST:,} characters is formatted")
        return text


class Shown:
    """What stands for a value of a script; ``parts`` are the call that it is shown by, and the value."""

    __slots__ = ("parts",)

    def __init__(self, written: Written, value: Any) -> None:
        self.parts = written, value

    def __str__(self) -> str:
        written, value = PARTS(self)
        return shown_as(written, written.counted(to_str(written.run, value)))

    def __repr__(self) -> str:
        written, value = PARTS(self)
        return shown_as(written, written.counted(to_repr(written.run, value)))

    def __format__(self, spec: str) -> str:
        written, value = PARTS(self)
        for digits in re.findall(r"\d+", spec):
            bounded(int(digits.lstrip("0")[:9] or 0), "width or precision")
        if (member := own(value, "__format__")) is not UNBOUND:
            return written.counted(str(written.run.call(member, [value, spec])))
        value = as_python(value, spec)
        if type(value) in PYTHONS:
            return written.counted(format(value, spec))
        if spec:
            raise TypeError(f"unsupported format string passed to {type(self).__name__}.__format__")
        return written.counted(to_str(written.run, value))


PARTS: Callable[[Shown], tuple[Written, Any]] = Shown.__dict__["parts"].__get__


class Piece(str):
    """A text that ``!r`` and ``!s`` gave: its width is bounded and counted as that of others is."""

    __slots__ = ("written",)
    written: Written

    def __format__(self, spec: str) -> str:
        return format(Shown(self.written, str(self)), spec)


def shown_as(written: Written, text: str) -> Piece:
    """Return a text with the call that it is written by."""
    piece = Piece(text)
    piece.written = written
    return piece


class WithItems(Shown):
    """What stands for a value that a template may take items and attributes of."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        written, value = PARTS(self)
        return stand_in(written, written.run.attribute(value, name), WithItems)

    def __getitem__(self, key: int | str) -> Any:
        written, value = PARTS(self)
        return stand_in(written, subscript(written.run, value, key), WithItems)


class Number(Shown):
    """What stands for a tensor of one entry, or a number of a class that is derived from Python's."""

    __slots__ = ()

    def __float__(self) -> float:
        return float(number_of(PARTS(self)[1]))

    def __int__(self) -> int:
        return int(number_of(PARTS(self)[1]))

    def __index__(self) -> int:
        number = number_of(PARTS(self)[1])
        if not isinstance(number, int):
            raise TypeError
        return number


def number_of(value: Any) -> Any:
    """Return the number that ``%d`` or ``%f`` writes of a value."""
    return plain_number(value) if isinstance(value, Tensor) else plain_value(value)


def as_python(value: Any, spec: str) -> Any:
    """Return what a value is formatted as: the number of a tensor without axes, what a class of Python's own has."""
    value = plain(value)
    if isinstance(value, Tensor):
        single = not value.shape or (bool(spec) and value.library == "jax" and np.size(value.value) == 1)
        return plain_number(value) if single and (spec or value.library != "numpy") else value
    if isinstance(value, WholeKey | FloatKey):
        return value.real
    return plain_value(value) if isinstance(value, Hosted) else value


@cache
def called(kind: type[Shown], name: str) -> type[Shown]:
    """Return the class of stand-ins for values of a type of this name."""
    return type(name, (kind,), {"__slots__": ()})


def stand_in(written: Written, value: Any, kind: type[Shown] = Shown) -> Shown:
    """Return what stands for a value."""
    return called(kind, written.run.type_name(value))(written, value)  # type: ignore[arg-type]


def guarded(run: Run, work: Callable[[], str]) -> str:
    """Format, with the errors of Python's own formatting as exceptions of the script."""
    try:
        return work()
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError) as error:
        return run.fail(type(error).__name__, str(error.args[0]) if error.args else "")  # type: ignore[no-any-return]


def format_value(run: Run, value: Any, spec: str = "") -> str:
    """Return ``format(value, spec)``, which is what an f-string writes too."""
    if not spec and type(value) is str:
        return value
    return note_text(run, guarded(run, lambda: str(format(stand_in(Written(run), value), spec))), [value])


def format_template(run: Run, template: str, arguments: Sequence[Any], named: Mapping[str, Any]) -> str:
    """Return ``template.format(*arguments, **named)``."""
    if re.search(r"![a][^}]*\{", template):
        raise run.refuse("a width that is computed beside !a is not part of gradcli")
    for digits in re.findall(r"!a:\D*(\d+)", template):
        bounded(int(digits.lstrip("0")[:9] or 0), "width or precision")
    written = Written(run)
    places = [stand_in(written, value, WithItems) for value in arguments]
    by_name = {name: stand_in(written, value, WithItems) for name, value in named.items()}
    made = guarded(run, lambda: template.format(*places, **by_name))
    return note_text(run, made, [*arguments, *named.values()])


def percent(run: Run, template: str, values: Any) -> str:
    """Return ``template % values``."""
    written = Written(run)

    def entered(value: Any) -> Any:
        value = plain(value)
        if type(value) in PYTHONS:
            return value
        single = isinstance(value, Tensor) and np.size(value.value) == 1
        return stand_in(written, value, Number if single or isinstance(value, int | float) else Shown)

    parts: Any = tuple(map(entered, values)) if isinstance(values, tuple) else entered(values)
    if isinstance(values, dict) and "%(" in template:
        parts = {key: entered(value) for key, value in values.items()}
    elif not isinstance(values, (*ENTERED, tuple)):
        parts = parts if isinstance(parts, Number) else stand_in(written, values, WithItems)
    bound_widths(written, template, values if isinstance(values, tuple) else (values,))
    made = guarded(run, lambda: written.counted(template % parts))
    return note_text(run, made, values if isinstance(values, tuple) else [values])


def bound_widths(written: Written, template: str, values: tuple[Any, ...]) -> None:
    """Raise ``budget`` where a width, or all widths together, are beyond the bounds."""
    place = 0
    for match in CONVERSION.finditer(template):
        for size in match.groups()[:2]:
            digits = size
            if size == "*":
                digits = str(values[place]) if place < len(values) and type(values[place]) is int else ""
                place += 1
            if digits:
                bounded(int(digits.lstrip("-0")[:9] or 0), "width or precision")
                written.counted(" " * int(digits.lstrip("-")))
        place += match[3] != "%"
