"""``format``, f-strings, ``%`` and ``str.format`` over a script's values, with bounded widths and no attribute walked.

Python's own formatting sees nothing but its exact numbers and strings. What else there is to show, and to look up by
``.name`` or ``[key]``, the run is asked for through ``Showing``. Errors are Python's own, type and words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from string import Formatter
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.runner.printing import bounded, scalar

LONGEST = 10_000_000
"""Characters that one call may write."""
PYTHONS = frozenset({int, float, bool, str, complex})
"""What Python formats itself: exact types alone, a subclass could bring a ``__format__`` of its own."""
_CONVERSION = re.compile(r"([#0\- +]*)(\*|\d*)(?:\.(\*|\d*))?[hlL]?(.?)", re.DOTALL)
_STEP = re.compile(r"\.([^.\[]*)|\[([^\]]*)(\])?")


class Showing:
    """What formatting asks a run about values that are not Python's numbers and strings; a run has its own answers."""

    def text(self, value: object) -> str:
        """Return ``str`` of a value."""
        return str(value)

    def quoted(self, value: object) -> str:
        """Return ``repr`` of a value."""
        return repr(value)

    def kind(self, value: object) -> str:
        """Return the name of a value's type."""
        return type(value).__name__

    def formatted(self, value: object, spec: str) -> str:
        """Return ``format`` of a value: its text, since most types know no spec."""
        if spec:
            raise TypeError(f"unsupported format string passed to {self.kind(value)}.__format__")
        return self.text(value)

    def number(self, value: object, conversion: str) -> float:
        """Return the number that ``%d`` or ``%f`` writes of a value."""
        if conversion in "diu":
            raise TypeError(f"%{conversion} format: a real number is required, not {self.kind(value)}")
        if conversion in "xXo":
            raise TypeError(f"%{conversion} format: an integer is required, not {self.kind(value)}")
        raise TypeError(f"must be real number, not {self.kind(value)}")

    def attribute(self, value: object, name: str) -> object:
        """Return the attribute of a value that ``{0.name}`` names."""
        raise AttributeError(f"'{self.kind(value)}' object has no attribute '{name}'")

    def item(self, value: object, key: int | str) -> object:
        """Return the item of a value that ``{0[key]}`` names."""
        if isinstance(value, dict | list | tuple | str | range):
            return value[key]  # type: ignore[index]  # a key of another type is Python's own error
        raise TypeError(f"'{self.kind(value)}' object is not subscriptable")


PLAIN = Showing()


def format_value(value: object, spec: str = "", showing: Showing = PLAIN) -> str:
    """Return ``format(value, spec)``, which is what an f-string writes too."""
    for digits in re.findall(r"\d+", spec):
        bounded(int(digits[:9]), "width or precision")
    return format(value, spec) if type(value) in PYTHONS else showing.formatted(value, spec)


def format_array(
    array: object, dtype: str, spec: str, text: Callable[[], str], *, library: str = "torch", parameter: bool = False
) -> str:
    """Return ``format`` of an array: a single number as Python's, several as their text, with no spec at all.

    So a single float32 is shown without a spec by all digits of the double that it is, by NumPy and JAX too.
    """
    values = np.asarray(array)
    if values.ndim == 0 and not parameter:
        return format_value(scalar(values, dtype), spec)
    if not spec:
        return text()
    kind = ("Parameter" if parameter else "Tensor") if library == "torch" else "numpy.ndarray"
    raise TypeError(f"unsupported format string passed to {kind}.__format__")


def converted(value: object, conversion: str | None, showing: Showing = PLAIN) -> object:
    """Return a value as ``!s``, ``!r`` or ``!a`` makes it."""
    if not conversion:
        return value
    if conversion == "s":
        return showing.text(value)
    if conversion not in ("r", "a"):
        raise ValueError(f"Unknown conversion specifier {conversion}")
    text = showing.quoted(value)
    return text if conversion == "r" else text.encode("ascii", "backslashreplace").decode()


def _joined(parts: Iterator[str]) -> str:
    """Return the parts as one text, no longer than is allowed."""
    pieces, length = [], 0
    for part in parts:
        pieces.append(part)
        length += len(part)
        if length > LONGEST:
            raise GradcliError("budget", f"a text of more than {LONGEST:,} characters is formatted")
    return "".join(pieces)


# --- str.format ---


def format_text(template: str, args: Sequence[object], named: Mapping[str, object], showing: Showing = PLAIN) -> str:
    """Return ``template.format(*args, **named)``.

    >>> format_text("{0[1]:.{digits}f} {1!r}", [[1, 2.5], "a"], {"digits": 2})
    "2.50 'a'"
    """
    return _joined(_Fields(args, named, showing).written(template, depth=2))


class _Fields:
    """The fields of one call of ``str.format``, which are numbered as they come or by hand, never both."""

    def __init__(self, args: Sequence[object], named: Mapping[str, object], showing: Showing) -> None:
        self.args = args
        self.named = named
        self.showing = showing
        self.counted = 0
        self.by_hand = False

    def written(self, template: str, depth: int) -> Iterator[str]:
        """Yield the parts of a template; a spec has fields of its own, one level deep."""
        if depth == 0:
            raise ValueError("Max string recursion exceeded")
        for text, name, spec, conversion in Formatter().parse(template):
            yield text
            if name is None:
                continue
            value = converted(self.looked_up(name), conversion, self.showing)
            inner = _joined(self.written(spec, depth - 1)) if spec and "{" in spec else spec or ""
            yield format_value(value, inner, self.showing)

    def looked_up(self, field: str) -> object:
        """Return the value that a field names: ``0``, ``name``, ``0[key]``, ``name.attribute``."""
        match = re.match(r"[^.\[]*", field)
        first = match[0] if match else ""
        steps = list(_steps(field[len(first) :]))
        value = self.first(first)
        for is_item, key in steps:
            value = self.item(value, key) if is_item else self.showing.attribute(value, key)
        return value

    def first(self, name: str) -> object:
        """Return the argument that a field begins with."""
        if name and not name.isdecimal():
            return self.named[name]
        if name:
            if self.counted:
                raise ValueError("cannot switch from automatic field numbering to manual field specification")
            self.by_hand = True
            place = _number(name)
        else:
            if self.by_hand:
                raise ValueError("cannot switch from manual field specification to automatic field numbering")
            place = self.counted
            self.counted += 1
        if place >= len(self.args):
            raise IndexError(f"Replacement index {place} out of range for positional args tuple")
        return self.args[place]

    def item(self, value: object, key: str) -> object:
        """Return an item: digits are a number, all else is a text."""
        return self.showing.item(value, _number(key) if key.isdecimal() else key)


def _number(digits: str) -> int:
    if len(digits) > 18:
        raise ValueError("Too many decimal digits in format string")
    return int(digits)


def _steps(text: str) -> Iterator[tuple[bool, str]]:
    """Yield what follows the first name of a field: whether it is an item, and its key."""
    place = 0
    while place < len(text):
        step = _STEP.match(text, place)
        if step is None:
            raise ValueError("Only '.' or '[' may follow ']' in format field specifier")
        if text[place] == "[" and not step[3]:
            raise ValueError("Missing ']' in format string")
        key = step[1] if text[place] == "." else step[2]
        if not key:
            raise ValueError("Empty attribute in format string")
        yield text[place] == "[", key
        place = step.end()


# --- the % operator ---


def percent(template: str, args: object, showing: Showing = PLAIN) -> str:
    """Return ``template % args``.

    >>> percent("%s: %.2f%%, %-4d|", ("a", 12.345, 7))
    'a: 12.35%, 7   |'
    """
    return _joined(_percented(template, _Arguments(args, showing), showing))


class _Arguments:
    """What the right side of ``%`` holds: a tuple's items one by one, a mapping's by key, or the one value."""

    def __init__(self, args: object, showing: Showing) -> None:
        self.is_tuple = isinstance(args, tuple)
        self.args: Any = args
        self.values: tuple[object, ...] = args if isinstance(args, tuple) else (args,)
        self.used = 0
        self.showing = showing

    def next(self) -> object:
        """Return the next value."""
        if self.used >= len(self.values):
            raise TypeError("not enough arguments for format string")
        self.used += 1
        return self.values[self.used - 1]

    def take(self, key: str) -> None:
        """Let the value of a key be the next."""
        self.values, self.used = (self.args[key],), 0

    def size(self, text: str | None, what: str) -> str:
        """Return a width or a precision; ``*`` takes it from the values."""
        if text == "*":
            value = self.next()
            if not isinstance(value, int):
                raise TypeError("* wants int")
            bounded(abs(value), what)
            return str(int(value))
        if text:
            bounded(int(text[:9]), what)
        return text or ""

    def end(self) -> None:
        """Raise where values are left over. Python asks nothing of one that has items: ``"" % [1]`` passes."""
        plain = self.is_tuple or self.args is None or isinstance(self.args, int | float | complex | str | set)
        if plain and self.used < len(self.values):
            raise TypeError("not all arguments converted during string formatting")


def _percented(template: str, arguments: _Arguments, showing: Showing) -> Iterator[str]:
    place = 0
    while (mark := template.find("%", place)) >= 0:
        yield template[place:mark]
        place = mark + 1
        if template[place : place + 1] == "%":
            yield "%"
            place += 1
            continue
        if template[place : place + 1] == "(":
            end = _closing(template, place, arguments)
            arguments.take(template[place + 1 : end])
            place = end + 1
        match = _CONVERSION.match(template, place)
        flags, width, precision, conversion = match.groups() if match else ("", "", None, "")
        width = arguments.size(width, "width")
        if width.startswith("-"):
            flags, width = flags + "-", width[1:]
        if precision is not None:
            precision = arguments.size(precision, "precision")
            width += ".0" if precision.startswith("-") else "." + precision
        if not conversion:
            raise ValueError("incomplete format")
        place = match.end() if match else place
        value = arguments.next()
        if conversion not in "diouxXeEfFgGcrsa":
            character = f"'{conversion}' (0x{ord(conversion):x})"
            raise ValueError(f"unsupported format character {character} at index {place - 1}")
        yield _written(f"%{flags}{width}", conversion, value, showing)
    yield template[place:]
    arguments.end()


def _closing(template: str, place: int, arguments: _Arguments) -> int:
    """Return where the bracket that opens at a place closes; a key in it asks for what has keys."""
    if not isinstance(arguments.args, dict | list | range):
        raise TypeError("format requires a mapping")
    depth = 0
    for k in range(place, len(template)):
        depth += {"(": 1, ")": -1}.get(template[k], 0)
        if depth == 0:
            return k
    raise ValueError("incomplete format key")


def _written(spec: str, conversion: str, value: object, showing: Showing) -> str:
    """Return one value as a conversion writes it."""
    if conversion in "sra":
        return (spec + "s") % converted(value, conversion, showing)
    if type(value) not in PYTHONS:
        if conversion == "c":
            raise TypeError("%c requires int or char")
        value = showing.number(value, conversion)
    return (spec + conversion) % value
