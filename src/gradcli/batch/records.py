"""Records: lines of a stream as they come, strict JSON on each, and a program with its point and v, checked."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradcli.errors import Budget, GradcliError, over_budget
from gradcli.errors.hints import counted, did_you_mean
from gradcli.language.values import array_of_lists, doubles, read_value

CHUNK = 2**16
LONGEST_LINE = 2**24
"""Bytes that one record may have."""
MARK = b"\xef\xbb\xbf"
"""What some editors of Windows write before the first character of a file."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line with its number, counted from 1; ``text`` is None where it was too long, ``read`` counts its bytes."""

    number: int
    text: bytes | None
    read: int


def lines(read: Callable[[int], bytes], longest: int = LONGEST_LINE) -> Iterator[Line]:
    """Yield every line, without its end; ``read(n)`` gives up to n bytes, none at the end.

    Raises ``record`` where the first line shows that records do not stand one on a line.
    """
    for number, (text, size) in enumerate(pieces(read, longest), 1):
        if number == 1 and text is not None:
            refuse_other_forms(text.removeprefix(MARK).strip())
        yield Line(number, text.removeprefix(MARK) if number == 1 and text is not None else text, size)


def refuse_other_forms(first: bytes) -> None:
    """Raise ``record`` for a first line that begins a document over several lines, an array, or a table."""
    form, hint = (
        ("a document over several lines", ONE) if first == b"{" else
        ("an array of records", EACH) if first in (b"[", b"[{") or first.startswith(b'[{"') else
        ("a table", ROWS) if b"program" in (cell.strip(b" \"'") for cell in re.split(b"[,;\t]", first)) else
        ("", "")
    )  # fmt: skip
    if form:
        raise GradcliError("record", f"one record a line is read, and this is {form}", hint=hint)


ONE = "make it one line: python -m json.tool --no-indent FILE"
EACH = "make it lines: python -c 'import json, sys; [print(json.dumps(one)) for one in json.load(sys.stdin)]' < FILE"
ROWS = (
    'make it lines: python -c \'import csv, json, sys; [print(json.dumps(dict(program=row.pop("program"), '
    "inputs=row))) for row in csv.DictReader(sys.stdin)]' < FILE"
)


def pieces(read: Callable[[int], bytes], longest: int) -> Iterator[tuple[bytes | None, int]]:
    """Yield what stands before each newline, None for more than ``longest`` bytes, and how many bytes were read."""
    parts: list[bytes] = []
    kept, dropped = 0, 0
    while chunk := read(CHUNK):
        *ended, rest = chunk.split(b"\n")
        for end in ended:
            text = b"".join((*parts, end)) if parts else end
            size = kept + dropped + len(end) + 1
            yield (None if dropped or len(text) > longest else text), size
            parts, kept, dropped = [], 0, 0
        if dropped or kept + len(rest) > longest:
            parts, kept, dropped = [], 0, kept + dropped + len(rest)
        elif rest:
            parts.append(rest)
            kept += len(rest)
    if parts or dropped:
        yield (None if dropped else b"".join(parts)), kept + dropped


_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'
"""A string, also one that is not closed: without that, each quote in it would be tried again, to the end."""
_IN_QUOTES = re.compile(_STRING, re.DOTALL)
_RUN = re.compile(rf"{_STRING}|[0-9]{{64,}}", re.DOTALL)
_LONG = re.compile(r"[0-9]{64}")
_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED = re.compile(r"\\u[dD][89a-fA-F]")


class _Refused(Exception):
    """What a hook of the decoder refuses; it does not know the place."""


def read_object(line: bytes, budget: Budget) -> dict[str, Any]:
    """Return the JSON object on a line; raises ``json`` or ``budget`` with the characters at fault.

    Refused beside what is no JSON: keys given twice, NaN and Infinity, lone surrogates, bytes that are no UTF-8,
    brackets nested deeper and numbers longer than the budget allows.
    """
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise GradcliError("json", f"byte {error.start + 1} of the line is not UTF-8") from None
    if not text.strip():
        raise GradcliError("json", "the line is empty", hint=EXAMPLE)
    refuse_depth(text, budget)
    if budget.digits < 64 or _LONG.search(text):
        refuse_digits(text, budget)
    result = decoded(text)
    if type(result) is not dict:
        raise GradcliError("json", f"a record is a JSON object, not {named(result)}", hint=EXAMPLE)
    if _ESCAPED.search(text):
        refuse_surrogates(result)
    return result


EXAMPLE = 'for example {"id": 1, "program": "x**2", "inputs": {"x": 3}}'


def decoded(text: str) -> Any:
    """Return what the text says; raises ``json``."""
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        message = error.msg.removesuffix(" at").removesuffix(" starting")
        what = f"column {error.pos + 1}: this is not JSON: {message[:1].lower() + message[1:]}"
        quotes = "JSON has double quotes" if text[error.pos : error.pos + 1] == "'" else None
        hint = quotes or (None if text.lstrip().startswith("{") else EXAMPLE)
        raise GradcliError("json", what, span=(error.pos, min(error.pos + 1, len(text))), hint=hint) from None
    except _Refused as error:
        raise GradcliError("json", str(error)) from None
    except RecursionError:
        raise GradcliError("budget", "brackets are nested too deeply") from None


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs of an object; a key that is given twice is refused."""
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _Refused(f"the key {json.dumps(twice[:40])} is given twice")
    return result


def refuse_word(word: str) -> Any:
    """Refuse what Python writes for numbers that JSON does not have."""
    raise _Refused(f"{word} is not JSON: numbers must be finite")


_DECODER = json.JSONDecoder(object_pairs_hook=unique, parse_constant=refuse_word)


def refuse_depth(text: str, budget: Budget) -> None:
    """Refuse brackets nested deeper than the budget, before the decoder follows them."""
    if text.count("[") + text.count("{") <= budget.depth:
        return
    bare = np.frombuffer(_IN_QUOTES.sub("", text).encode(), dtype=np.uint8)
    steps = sum(sign * (bare == ord(mark)).astype(np.int8) for mark, sign in {"[": 1, "{": 1, "]": -1, "}": -1}.items())
    if np.max(np.cumsum(steps), initial=0) > budget.depth:
        raise over_budget("depth", budget.depth, "brackets are nested")


def refuse_digits(text: str, budget: Budget) -> None:
    """Refuse numbers with more digits than the budget allows, before the decoder reads them; strings may hold any."""
    runs = _RUN if budget.digits >= 64 else re.compile(rf"{_STRING}|[0-9]+", re.DOTALL)
    for run in runs.finditer(text):
        if len(run[0]) > budget.digits and run[0][0] != '"':
            raise over_budget("digits", budget.digits, "a number has too many digits", run.span())


def refuse_surrogates(document: object) -> None:
    """Refuse half of a surrogate pair, which is no character."""
    for text in strings(document):
        alone = _SURROGATE.search(text)
        if alone:
            raise GradcliError("json", f"a string holds \\u{ord(alone[0]):04x}, half of a surrogate pair")


def strings(document: object) -> Iterator[str]:
    """Yield every string of a document, keys among them."""
    left = [document]
    while left:
        item = left.pop()
        if type(item) is str:
            yield item
        elif type(item) is dict:
            left.extend(item)
            left.extend(item.values())
        elif type(item) is list:
            left.extend(item)


def named(value: object) -> str:
    """Return what kind of JSON value something is."""
    words = {list: "an array", str: "a string", bool: "true or false", type(None): "null"}
    return words.get(type(value), "a number")


KEYS = ("id", "program", "inputs", "v", "calls", "wrt", "strict")


@dataclass(frozen=True, slots=True)
class Record:
    """What one line asks for; ``calls`` has one v for each call of backward, None for the default."""

    id: Any
    program: str
    inputs: dict[str, Any]
    calls: list[Any]
    wrt: tuple[str, ...] | None
    strict: bool


def record_of(entries: Mapping[str, object], budget: Budget) -> Record:
    """Return a checked record; raises ``record`` for what it may not hold, ``value`` for what is no array."""
    if not isinstance(entries, Mapping):
        raise wrong("a record is an object, or a dictionary in Python")
    for key in entries:
        if key not in KEYS:
            hint = did_you_mean(str(key), KEYS) or f"it may have {', '.join(KEYS)}"
            raise wrong(f"a record has no key {shown(key)}", hint)
    program = entries.get("program")
    if type(program) is not str:
        hint = 'for example {"program": "x**2", "inputs": {"x": 3}}'
        raise wrong("the program is missing" if program is None else "program must be a string", hint)
    inputs = entries.get("inputs")
    if not isinstance(inputs, Mapping | None):
        raise wrong("inputs must be an object", 'for example "inputs": {"x": [1, 2]}')
    values = {name: array_in(value, f"inputs.{name}", budget) for name, value in (inputs or {}).items()}
    if sum(int(np.size(value)) for value in values.values()) > budget.total:
        raise over_budget("total", budget.total, "all inputs together")
    identity, calls, wrt = identifier(entries), calls_of(entries, budget), wrt_of(entries.get("wrt"))
    strict = entries.get("strict", False)
    if type(strict) is not bool:
        raise wrong("strict must be true or false")
    return Record(identity, program, values, calls, wrt, strict)


def wrong(message: str, hint: str | None = None) -> GradcliError:
    """Return the error for a record that does not say what it should."""
    return GradcliError("record", message, hint=hint)


def shown(key: object) -> str:
    """Return the beginning of a key as JSON has it."""
    return json.dumps(str(key)[:40])


def known_id(entries: object) -> Any:
    """Return the id of a record that may be spoiled otherwise, None where it has none that can be repeated."""
    name = entries.get("id") if isinstance(entries, Mapping) else None
    return name if type(name) in (str, int, bool) or (type(name) is float and math.isfinite(name)) else None


def identifier(entries: Mapping[str, object]) -> Any:
    """Return the id, which the answer repeats; raises ``record`` for a list, an object, or what is not finite."""
    result = known_id(entries)
    if result is None and entries.get("id") is not None:
        raise wrong("id must be a string, a finite number, true, false or null")
    return result


def calls_of(entries: Mapping[str, object], budget: Budget) -> list[Any]:
    """Return the v of every call of backward."""
    v, calls = entries.get("v"), entries.get("calls")
    if calls is None:
        return [None if v is None else array_in(v, "v", budget)]
    if v is not None:
        raise wrong("v and calls are both given", "calls has one v for each call of backward")
    if type(calls) is not list or not calls:
        raise wrong("calls must be an array with one v for each call of backward", 'for example "calls": [1, 10]')
    if len(calls) > budget.depth:
        raise over_budget("depth", budget.depth, f"{counted(len(calls), 'call of backward')}")
    return [None if item is None else array_in(item, f"calls[{k}]", budget) for k, item in enumerate(calls)]


def wrt_of(names: Any) -> tuple[str, ...] | None:
    """Return the names to differentiate by, None for all."""
    if names is None:
        return None
    good = type(names) in (list, tuple) and names and all(type(name) is str for name in names)
    if not good or len(set(names)) != len(names):
        example = ["W", "b"] if not isinstance(names, str) else re.findall(r"[^,\s]+", names)
        hint = f'for example "wrt": {json.dumps(example)}'
        raise wrong("wrt must be an array of names of variables, each once", hint)
    return tuple(names)


def array_in(value: Any, name: str, budget: Budget) -> Any:
    """Return a value that ``as_input`` takes: numbers and nested lists as they are, a text by the syntax of ``--x``.

    No text names a file. Raises ``value`` or ``budget``.
    """
    if type(value) is str:
        if value.lstrip().startswith("@") or value.strip() == "-":
            raise GradcliError("value", f"{name}: a record names no file", hint="write the numbers themselves")
        return doubles(read_value(value, name, budget))
    if type(value) in (float, int, np.ndarray) and np.size(value) <= budget.elements:
        return value
    try:
        return from_list(value, name, budget)
    except GradcliError as error:
        hint = "write a number, or nested arrays of numbers"
        raise GradcliError(error.kind, f"{name}: {error.message}", span=error.span, hint=hint) from None


def from_list(value: object, name: str, budget: Budget) -> Any:
    """Return nested lists of numbers as an array, integers as integers where they fit."""
    try:
        result = np.asarray(value)
    except (ValueError, OverflowError, TypeError):
        result = None
    if result is not None and result.size > budget.elements:
        raise over_budget("elements", budget.elements, f"{name} holds {counted(result.size, 'number')}")
    if result is None or result.dtype.kind not in "iuf":
        return checked_by_entry(value)
    return checked_by_entry(value) if has_truth_values(value) else result


def checked_by_entry(value: object) -> Any:
    """Return nested lists as an array, looking at each entry; raises ``value`` for the one that is no number."""
    try:
        return array_of_lists(value)
    except OverflowError:
        raise GradcliError("value", "a number is beyond double precision (1.8e308)") from None


def has_truth_values(value: Any) -> bool:
    """Return whether nested lists hold true or false, which numpy takes for 1 and 0."""
    if type(value) not in (list, tuple):
        return type(value) is bool
    kinds = set(map(type, value))
    return not kinds <= {int, float} and any(map(has_truth_values, value))


BY_REVERSE_MODE = ("program", "inputs", "v", "grad")
"""Fields that reverse mode alone can answer, and ``output`` where its formulas are left out."""
BY_NUMBERS = ("vjp", "backward", "agreement")
"""Fields that need J by its numbers."""
FIELDS = (
    *("program", "inputs", "output", "forward", "v", "jacobian", "vjp", "grad"),
    *("backward", "stages", "reverse", "constants", "effect", "agreement", "notes"),
)
"""The fields of an answer that can be chosen, in its order."""
WITHOUT_SYMBOLS = ("program", "inputs", "output", "v", "grad")
"""The fields that there are without the symbolic route."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What every answer of a batch has: ``only`` these fields, all where it is None.

    ``debug`` lets a fault of gradcli end the batch with its traceback.
    """

    symbolic: bool = True
    only: frozenset[str] | None = None
    strict: bool = False
    budget: Budget = field(default_factory=Budget)
    debug: bool = False

    @property
    def reverse_alone(self) -> bool:
        """Whether the symbolic route is not needed."""
        return not self.symbolic or (self.only is not None and self.only <= set(BY_REVERSE_MODE))

    @property
    def numbers_do(self) -> bool:
        """Whether J is needed by its numbers at most."""
        return self.only is not None and self.only <= {*BY_REVERSE_MODE, *BY_NUMBERS}


def fields_of(only: Iterable[str] | None, symbolic: bool) -> frozenset[str] | None:
    """Return the chosen fields, None for all; raises ``option`` for one that there is not, or not without symbols."""
    if only is None:
        return None
    chosen = frozenset(only)
    for name in sorted(chosen):
        if name not in FIELDS:
            hint = did_you_mean(name, FIELDS) or f"there is {', '.join(FIELDS)}"
            raise GradcliError("option", f"an answer has no field '{name[:40]}' to choose", hint=hint)
        if not symbolic and name not in WITHOUT_SYMBOLS:
            raise GradcliError(
                "option",
                f"{name} needs the symbolic route, which --no-symbolic leaves out",
                hint=f"without it there is {', '.join(WITHOUT_SYMBOLS)}",
            )
    if not chosen:
        raise GradcliError("option", "no field is chosen", hint=f"there is {', '.join(FIELDS)}")
    return chosen
