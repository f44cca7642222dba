"""Strict JSON: keys given twice, NaN, lone surrogates and the like are errors with the characters at fault."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from gradcli.errors import Budget, GradcliError, Span, over_budget

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
    found = decoded(text)
    if type(found) is not dict:
        raise GradcliError("json", f"a record is a JSON object, not {named(found)}", hint=EXAMPLE)
    if _ESCAPED.search(text):
        refuse_surrogates(found)
    return found


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
        raise GradcliError("json", what, span=one_character(error.pos, text), hint=hint) from None
    except _Refused as error:
        raise GradcliError("json", str(error)) from None
    except RecursionError:
        raise GradcliError("budget", "brackets are nested too deeply") from None


def one_character(position: int, text: str) -> Span:
    """Return the span of one character, empty at the end of the text."""
    return position, min(position + 1, len(text))


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the pairs of an object; a key that is given twice is refused."""
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _Refused(f"the key {json.dumps(twice[:40])} is given twice")
    return found


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


def refuse_surrogates(found: object) -> None:
    """Refuse half of a surrogate pair, which is no character."""
    for text in strings(found):
        alone = _SURROGATE.search(text)
        if alone:
            raise GradcliError("json", f"a string holds \\u{ord(alone[0]):04x}, half of a surrogate pair")


def strings(found: object) -> Iterator[str]:
    """Yield every string of a document, keys among them."""
    left = [found]
    while left:
        item = left.pop()
        if type(item) is str:
            yield item
        elif type(item) is dict:
            left.extend(item)
            left.extend(item.values())
        elif type(item) is list:
            left.extend(item)


def named(found: object) -> str:
    """Return what kind of JSON value something is."""
    words = {list: "an array", str: "a string", bool: "true or false", type(None): "null"}
    return words.get(type(found), "a number")
