"""Values from outside: inputs and v as arrays of double precision, checked.

Values as text: what ``--x``, ``--v`` and files hold, read into arrays.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Container, Mapping
from itertools import combinations, islice
from typing import Any, NamedTuple

import numpy as np

from gradcli.engine.graph import Meter
from gradcli.errors import Budget, GradcliError, Place, Span, over_budget
from gradcli.errors.hints import MisshapenV, MissingV, NoValue, counted
from gradcli.language.program import compile_program
from gradcli.language.source import refuse_characters, refuse_depth
from gradcli.ops.declare import Array
from gradcli.ops.links import Given
from gradcli.ops.shaping import MOST_AXES
from gradcli.records import dataclass


def as_input(name: str, value: object) -> Array:
    """Return a value as an array of finite real numbers, the same one if it is that; raises ``value`` otherwise."""
    array = as_array(name, value)
    require_finite(name, array)
    return array


def doubles(array: object) -> Array:
    """Return an array of numbers in double precision, the same one if it is that."""
    return np.asarray(array, dtype=np.float64)[()]


def as_array(name: str, value: object) -> Array:
    """Return a value as an array of real numbers in double precision; raises ``value`` for anything else."""
    if type(value) is np.ndarray and value.dtype == np.float64 and value.ndim and value.size:
        return value
    try:
        result = np.asarray(detached(value))
    except (TypeError, ValueError, OverflowError):
        raise GradcliError("value", f"{name} is not an array of real numbers") from None
    if result.dtype.kind not in "iuf":
        raise GradcliError("value", f"{name} is not an array of real numbers")
    if not result.size:
        Meter(Budget()).charge_empty(result.shape)
    with np.errstate(over="ignore"):  # of a longer double: inf, which is refused
        return result.astype(np.float64)[()]


WANTS_INTEGERS = r"integer|\bint(?:s|32|64)?\b|\blong\b|Long|format code '[bdox]'|out of range in self|shape '\[<"
MISREAD = rf"{WANTS_INTEGERS}|require grad"
"""What exceptions say of a float in the place of an index, a label or a count, and where all floats were taken so."""
MOST_TRIED = 40
"""Ways to read inputs as integers that are tried."""


def settle_integers(
    values: Mapping[str, Any], wrt: Container[str], attempt: Callable[[dict[str, Any]], str | None],
    typed: Container[str] = (),
) -> dict[str, Any]:  # fmt: skip
    """Return values as doubles, but those as integers that a script takes as such alone: indices, labels, counts.

    ``attempt`` runs the script with values, and returns what ends it. The fewest integers with which it does not miss
    any, and none of ``wrt``. Those of ``typed`` stay integers where the script does not miss floats.
    """
    doubles = {name: as_array(name, value) for name, value in values.items()}
    arrays = {name: np.asarray(detached(value)) for name, value in values.items() if name not in wrt}
    integers = {name: array.astype(np.int64)[()] for name, array in arrays.items() if array.dtype.kind in "iu"}
    first = doubles | {name: array for name, array in integers.items() if name in typed}
    if integers and typed and not re.search(MISREAD, attempt(first) or ""):
        return first
    if not integers or not re.search(WANTS_INTEGERS, attempt(doubles) or ""):
        return doubles
    ways = (chosen for count in range(len(integers)) for chosen in combinations(integers, count + 1))
    tried = (doubles | {name: integers[name] for name in chosen} for chosen in islice(ways, MOST_TRIED))
    return next((settled for settled in tried if not re.search(MISREAD, attempt(settled) or "")), doubles)


def detached(value: Any) -> Any:
    """Return a tensor of PyTorch's that requires a gradient without it, and any other value as it is."""
    return value.detach() if getattr(value, "requires_grad", False) else value


def require_finite(name: str, array: Array) -> None:
    """Raise ``value`` where an entry is inf or nan."""
    if not all_finite(array):
        numbers = np.asarray(array)
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(numbers))[0]) if numbers.ndim else ()
        shown = f"{numbers[place]} at {list(place)}" if place else str(numbers)
        raise GradcliError("value", f"{name} must be finite: it has {shown}")


def all_finite(array: Array) -> bool:
    """Return whether every entry is finite; their sum of squares says yes with one pass over the memory."""
    return math.isfinite(np.vdot(array, array)) or bool(np.all(np.isfinite(array)))


class Cotangent(NamedTuple):
    """One v: as it counts (``seed``, in the shape of y), as it is shown, and how it came about.

    - ``seed``: v in the shape of y.
    - ``shown``: v as an answer shows it: several entries for a y with one are shown as they came.
    - ``source``: ``given``, ``default``, ``reshaped`` or ``broadcast``.
    - ``came``: the shape in which it was given.

    >>> gradcli.explain("x**2", x=[1.0, 2.0], v=[[1], [10]]).backward[0].v.source
    'reshaped'
    """

    seed: Array
    shown: Array
    source: str
    came: tuple[int, ...] = ()


MOST_CALLS = 1_000
"""Entries of y up to which an identity in the place of v is a call for each."""


def each_call(value: object, shape: tuple[int, ...]) -> list[object]:
    """Return the calls that a v stands for: itself, or one with each row of the identity of n×n for n entries of y."""
    size = math.prod(shape)
    if not 1 < size <= MOST_CALLS or np.shape(detached(value)) != (size, size):
        return [value]
    rows = np.asarray(detached(value))
    return [row.reshape(shape) for row in rows] if np.array_equal(rows, np.eye(size)) else [value]


def read_v(value: object, shape: tuple[int, ...], strict: bool, name: str = "y") -> Cotangent:
    """Return v for an output of ``shape``, which errors call by its ``name``.

    A missing v is 1 for an output with one entry. As many entries in another shape are reshaped. Several entries for
    a single output mean J once for each of them, as in early PyTorch: the seed is their sum. ``strict`` refuses both.
    Raises ``missing-v`` or ``shape``.
    """
    size = math.prod(shape)
    if value is None:
        if size != 1:
            raise GradcliError(
                "missing-v",
                f"{name} has shape {shape}, so backward() needs a v of that shape: a weight for each of the "
                f"{counted(size, 'entry')}",
                facts=MissingV(shape, name),
            )
        one = np.ones(shape)
        return Cotangent(one, one, "default")
    v = np.asarray(as_input("v", value))
    if v.shape == shape:
        return Cotangent(v, v, "given", v.shape)
    mismatch = MisshapenV(v.shape, shape, name)
    if v.size == size and not strict:
        return Cotangent(v.reshape(shape), v.reshape(shape), "reshaped", v.shape)
    if size == 1 and v.size > 1 and not strict:
        with np.errstate(all="ignore"):
            return Cotangent(np.full(shape, np.sum(v)), v, "broadcast", v.shape)
    raise GradcliError("shape", f"v has shape {v.shape}, {name} has shape {shape}", facts=mismatch)


NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_DIGITS = "[0-9](?:_?[0-9])*"
_WITH_UNDERSCORES = rf"[+-]?({_DIGITS}\.?({_DIGITS})?|\.{_DIGITS})([eE][+-]?{_DIGITS})?"
MARKS = re.compile(r"[()\[\],;\s]")
BLANKS = " \t\r\f\v"
OPERATOR = re.compile(r"[*/%@<>=&|^].*|.*[-+*/%@<>=&|^~!]|and|or|not|if|else")
"""A word of an expression that blanks do not part into numbers."""
POINTS = frozenset(".eE")
"""Characters of a number that is not typed as an integer."""
SUM = frozenset("+-_0123456789,[] \t\n")
"""Characters of an expression that is typed in integers alone: sums and lists of them."""
EXACT = 2.0**53
"""The integers below are doubles."""
FILE = r"\.(csv|txt|json|npy|npz|tsv)\s*$"


@dataclass(frozen=True, slots=True)
class Bounds:
    """What reading one value may cost, and when the time for it is over."""

    budget: Budget
    deadline: float


def refuse_entries(text: str, budget: Budget) -> None:
    """Refuse a text with more entries than one array may have, before they are read."""
    entries = text.count(",") + text.count(";") + 1
    if entries > budget.elements:
        raise over_budget("elements", budget.elements, f"the text holds {counted(entries, 'number')}")


def read_value(text: str, name: str, budget: Budget, lines: bool = False) -> Given:
    """Return the array that ``text`` stands for; ``name`` is what the user calls it (``--x``).

    A number, a comma-separated vector (``1,`` for one entry), rows separated by ``;``, JSON, or constant expressions
    in any of these places. What is typed in integers alone is an array of integers, as far as doubles hold them.
    ``lines`` says that the text is a file or a stream: its lines are rows too, blanks may part the numbers of a line,
    and one number on each line is a vector. Raises ``value`` and the like with the place in the text.

    >>> read_value("1;2;3", "--x", Budget()).shape, read_value("1\\n2\\n3", "--x", Budget(), lines=True).shape
    ((3, 1), (3,))
    """
    place = Place(text, name)
    try:
        if len(text) > budget.text * 1024:
            raise over_budget("text", budget.text * 1024, "the value has too many characters")
        refuse_entries(text, budget)
        refuse_characters(text, "a value")
        refuse_depth(text, budget)
        refuse_comments(text)
        if not lines:
            refuse_lines(text)
        return _read(text, name, Bounds(budget, time.thread_time() + budget.seconds), lines)
    except GradcliError as error:
        from gradcli.language.misread import meant_value  # an error alone needs it

        raise meant_value(text, error).at(error.span or (0, len(text)), place) from None


def refuse_comments(text: str) -> None:
    """Refuse what Python would pass over."""
    comment = text.find("#")
    if comment >= 0:
        raise GradcliError("value", "a value has no comments", span=(comment, len(text)), facts=NoValue())


def refuse_lines(text: str) -> None:
    """Refuse a second line outside of brackets, which could be an entry, a row, or a mistake.

    Lines may end a row, with ``;``.
    """
    before = ""
    for start, end in _split(text, "\n") if "\n" in text else ():
        line = text[start:end].strip()
        if line and before and before[-1] != ";" and line[0] != ";":
            raise GradcliError(
                "value",
                "a value is one expression, and this is a second line",
                span=(start, end),
                hint="write 1,2 for two entries, or 1;2 for two rows",
            )
        before = line or before


def _read(text: str, name: str, bounds: Bounds, lines: bool) -> Given:
    stripped = text.strip()
    if not stripped:
        raise GradcliError("value", f"the value of {name} is empty", facts=NoValue())
    if stripped.startswith("["):
        words = re.sub(r"\d[eE][+-]?\d|NaN|Infinity|null|true|false", "", stripped)
        plain = not re.search(r"[A-Za-z_*/(]|(?<!\d)\.|\.(?!\d)|\+", words)  # [.5, 1/3] is a constant expression
        return read_json(stripped) if plain else _constant(text, (0, len(text)), bounds)
    spans = _split(text, ";\n" if lines else ";")
    # Not a blank line: nothing between two marks, one of which ends a line.
    rows = [
        (start, stop)
        for start, stop in spans
        if text[start:stop].strip() or "\n" not in (text[start - 1 : start], text[stop : stop + 1])
    ]
    if len(rows) == 1:
        return _row(text, rows[0], bounds, lines)
    result = [np.atleast_1d(_row(text, span, bounds, lines)) for span in rows]
    for row, span in zip(result, rows, strict=True):
        if row.shape != result[0].shape:
            raise GradcliError(
                "value",
                f"a row with {counted(row.size, 'number')} under one with {result[0].size:,}",
                span=span,
                facts=NoValue(),
            )
    parted = any(text[stop : stop + 1] == ";" for _, stop in rows)
    return np.stack(result) if parted or not lines else of_lines(np.stack(result))


def of_lines(rows: Given) -> Given:
    """Return lines of numbers as an array: one row or one column is a vector, one number is a number."""
    if rows.size == 1:
        return rows.reshape(())[()]
    return rows.ravel() if 1 in rows.shape else rows


def _split(text: str, separators: str, start: int = 0, end: int | None = None) -> list[Span]:
    """Return the spans between separators that are outside of brackets."""
    spans, depth, first = [], 0, start
    stop = len(text) if end is None else end
    for mark in MARKS.finditer(text, start, stop):
        depth += (mark[0] in "([") - (mark[0] in ")]")
        if mark[0] in separators and depth == 0:
            spans.append((first, mark.start()))
            first = mark.end()
    return [*spans, (first, stop)]


def _row(text: str, span: Span, bounds: Bounds, lines: bool) -> Given:
    items = _split(text, ",", *span)
    if len(items) == 1:
        words = _words(text, items[0]) if lines else items
        if len(words) == 1:
            return np.asarray(_item(text, items[0], bounds))[()]
        items = words
    if not text[slice(*items[-1])].strip():
        items.pop()
    result = [_item(text, item, bounds) for item in items]
    for value, item in zip(result, items, strict=True):
        if isinstance(value, np.ndarray):
            raise GradcliError("value", f"an array of shape {value.shape} among numbers", span=item, facts=NoValue())
    return np.array(result)


def _words(text: str, span: Span) -> list[Span]:
    """Return the spans that blanks part; those of an expression, such as ``1 + 2``, are one."""
    words = [word for word in _split(text, BLANKS, *span) if word[0] < word[1]]
    return [span] if not words or any(OPERATOR.fullmatch(text, *word) for word in words) else words


def _item(text: str, span: Span, bounds: Bounds) -> int | float | Given:
    item = text[slice(*span)].strip()
    if not item:
        raise GradcliError("value", "a number is missing here", span=span, facts=NoValue())
    if is_number_text(item):
        return _number(item, span)
    if re.match(r"[+-]\s*[+-]", item):
        raise GradcliError("value", f"'{item}' is not a number", span=span, facts=NoValue())
    words = item.split()
    if len(words) > 1 and all(map(is_number_text, words)):
        short = words if len(words) < 9 else [*words[:4], "...", words[-1]]
        raise GradcliError("value", "numbers need commas between them", span=span, hint=f"write {','.join(short)}")
    return _constant(text, span, bounds)


def is_number_text(text: str) -> bool:
    """Return whether a text is a number as Python writes it, ``1_000`` too; zeros may lead."""
    return bool(NUMBER.fullmatch(text) or ("_" in text and re.fullmatch(_WITH_UNDERSCORES, text)))


def _number(text: str, span: Span) -> int | float:
    """Return a number: an integer where it is typed as one, which is below 2**53 and not -0."""
    if len(text) < 16 and text.isdigit():
        return int(text)
    result = float(text)
    if result.is_integer() and abs(result) < EXACT and POINTS.isdisjoint(text) and (result or text[0] != "-"):
        return int(result)
    return float(_finite(result, span))


def _finite(value: Any, span: Span) -> Array:
    if not (math.isfinite(value) if type(value) is float else np.all(np.isfinite(value))):
        raise GradcliError("value", "the value is not finite in double precision (beyond 1.8e308, or 0/0)", span=span)
    return value if isinstance(value, np.ndarray) else np.float64(value)  # type: ignore[return-value]


def _constant(text: str, span: Span, bounds: Bounds) -> Given:
    """Evaluate a constant expression such as ``pi/2`` or ``linspace(0, 1, 5)``."""
    if time.thread_time() > bounds.deadline:
        raise over_budget("seconds", bounds.budget.seconds, "the value takes too long")
    piece = text[slice(*span)]
    lead = span[0] + len(piece) - len(piece.lstrip())
    try:
        output = _constant_value(piece.strip(), bounds.budget)
    except GradcliError as error:
        error.place = None
        if re.search(FILE, piece):
            error.about(NoValue(piece.strip()))
        elif error.hint is None:
            error.about(NoValue())
        error.span = span if error.span is None else (lead + error.span[0], lead + error.span[1])
        raise
    result = _finite(np.asarray(output)[()], span)
    if SUM.issuperset(piece) and np.all((np.abs(result) < EXACT) & ~(np.signbit(result) & (result == 0))):
        return np.asarray(result).astype(np.int64)[()]
    return result


def _constant_value(text: str, budget: Budget) -> Any:
    program = compile_program(text, budget, expression=True)
    if program.inputs:
        name, where = next(iter(program.inputs.items()))
        raise GradcliError("value", f"'{name}' is not a number", span=where, facts=NoValue())
    return program.evaluate({}, frozenset())[1]


def read_json(text: str, key: str | None = None) -> Given:
    """Return a JSON array of numbers, or that under a key of an object.

    Raises ``value`` for ragged ones, words, and what is not finite.
    """
    import json

    def refuse(word: str) -> float:
        raise GradcliError("value", f"{word} is not a finite number")

    def number(digits: str) -> int | float:
        return _number(digits, (0, len(text)))

    try:
        data = json.loads(text, parse_constant=refuse, parse_int=number, parse_float=number)
    except json.JSONDecodeError as error:
        raise GradcliError(
            "value",
            f"this is not JSON: {error.msg.lower()}",
            span=(error.pos, min(error.pos + 1, len(text))),
            facts=NoValue(),
        ) from None
    except RecursionError:
        raise GradcliError("value", "the lists are nested too deeply") from None
    return array_of_lists(json_entry(data, key), None)


def json_entry(data: Any, key: str | None) -> Any:
    """Return what a JSON object has under a key, or what is no object as it stands; raises ``value``."""
    if not isinstance(data, dict):
        if key is not None:
            raise GradcliError("value", f"there is no object that could have the key {key[:40]!r}")
        return data
    if key in data:
        return data[key]
    keys = ", ".join(str(one)[:40] for one in list(data)[:8]) + (", ..." if len(data) > 8 else "")
    what = "an object where an array of numbers belongs" if key is None else f"no key {key[:40]!r}"
    first = str(next(iter(data), "KEY"))[:40]
    raise GradcliError(
        "value", f"{what}; its keys are {keys or 'none'}", hint=f"@FILE.json:{first} reads what is under {first}"
    )


def array_of_lists(data: Any, dtype: Any = np.float64) -> Given:
    """Return nested lists of numbers as an array; raises ``value`` for anything else."""
    shape = _shape(data)
    array = np.array(data, dtype=dtype).reshape(shape)
    return _finite(array[()], (0, 0))


def _shape(data: Any) -> tuple[int, ...]:
    """Return the shape of nested lists, level by level; raises ``value`` where they are ragged."""
    shape: list[int] = []
    level = [data]
    while any(isinstance(item, list) for item in level):
        if len(shape) == MOST_AXES:
            raise GradcliError("value", f"the lists are nested deeper than {MOST_AXES} levels")
        lengths = {len(item) if isinstance(item, list) else -1 for item in level}
        if len(lengths) != 1:
            words = " and ".join(str(n) if n >= 0 else "a number" for n in sorted(lengths))
            raise GradcliError("value", f"the lists are ragged: {words} entries side by side")
        shape.append(lengths.pop())
        level = [entry for item in level for entry in item]
    for entry in level:
        if isinstance(entry, bool) or not isinstance(entry, int | float) or not math.isfinite(entry):
            raise GradcliError("value", "every entry must be a finite number", facts=NoValue())
    return tuple(shape)
