"""Which values of a script go together by their names: a value, and what the script calls the derivative by it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gradcli.ops.declare import Array
from gradcli.records import dataclass
from gradcli.runner.objects import Instance
from gradcli.runner.values import Tensor

MOST_WAYS = 2_000
"""Values of a script among which pairs are looked for."""
DEEPEST = 3
"""Dots and brackets of their names."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A value of the script, and what the script says is the derivative by it: both as the script names them.

    ``whole`` is the pair that it is an entry of, where these are nested lists.
    """

    value: str
    gradient: str
    whole: Pair | None = None


STEMS = tuple(
    re.compile(pattern)
    for pattern in (
        r"d_?(?:L|J|E|C|loss|cost)_?d_?(\w+)", r"d_?(\w+)", r"grad_(?:of_|wrt_)?(\w+)", r"(\w+)_grad(?:ient)?",
        r"nabla_(\w+)", r"g_(\w+)", r"(\w+)_bar", r"(\w+)grad",
    )
)  # fmt: skip
"""What people call the derivative by a value, with the value's name."""
HOLDERS = re.compile(r"(?:.*_)?(?:d_?)?(?:g|grad|grads|gradients|nabla|derivatives|d_?params)(?:_.*)?", re.IGNORECASE)
"""What they call the table of all of them."""
LAST_STEP = re.compile(r"(.*?)(?:\.(\w+)|\[['\"](\w+)['\"]\])\Z", re.DOTALL)
WAY = re.compile(r"[A-Za-z_]\w*(?:\.\w+|\[(?:\d+|'\w+'|\"\w+\")\])*")
"""A variable, or what is in it."""
INDEX = re.compile(r"(?:\[\d+\])*\Z")
"""Which of a list's arrays a way leads to."""
PLURALS = {"w": "weights", "b": "biases", "W": "weights"}
"""What lists of values are called whose gradients have a short name: ``nabla_w`` is by ``weights``."""


def numbers_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is a number or an array of floats among variables, and in what they hold, each by its way.

    Nested lists of floats are arrays.
    """
    return dict(pair for _, pair in zip(range(MOST_WAYS), walk(values.items(), DEEPEST, set()), strict=False))


def walk(items: Iterable[tuple[str, Any]], depth: int, seen: set[int]) -> Iterator[tuple[str, Any]]:
    """Yield the numbers among named values, then those in what these hold, each object once."""
    holders: list[tuple[str, Any]] = []
    for way, value in items:
        if is_number(value):
            yield way, value
            if isinstance(value, Tensor) and value.leaf and value.grad is not None:
                yield f"{way}.grad", value.grad
        elif isinstance(value, Instance | dict | list) and id(value) not in seen:
            seen.add(id(value))
            holders.append((way, value))
    for way, holder in holders if depth else ():
        yield from walk(parts_of(way, holder), depth - 1, seen)


def parts_of(way: str, holder: Any) -> list[tuple[str, Any]]:
    """Return what an object, a dictionary or a list holds, each by its way."""
    if isinstance(holder, Instance):
        fields = holder.fields.items()
        return [(f"{way}.{name}", part) for name, part in fields if name.isidentifier() and not name.startswith("_")]
    if isinstance(holder, dict):
        return [(f"{way}[{key!r}]", part) for key, part in holder.items() if isinstance(key, str)]
    return [(f"{way}[{k}]", part) for k, part in enumerate(holder)]


def is_number(value: Any) -> bool:
    """Return whether a value is a float, an array of floats, or nested lists of floats."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, list | float) and is_number(item) for item in value)
    return type(value) is float or (isinstance(value, Tensor) and value.dtype.startswith(("float", "bfloat")))


def entries_of(pair: Pair, value: Any) -> list[Pair]:
    """Return a pair of nested lists as the pairs of their entries, any other as it is."""
    if not isinstance(value, list):
        return [pair]
    places = ["".join(f"[{k}]" for k in place) for place in np.ndindex(np.shape(as_doubles(value)))]
    gradient = pair.gradient if WAY.fullmatch(pair.gradient) else f"({pair.gradient})"
    return [Pair(f"{pair.value}{place}", f"{gradient}{place}", pair) for place in places]


@dataclass(frozen=True, slots=True)
class Stem:
    """By which value a way is the derivative, as far as its name says: what holds that, its name, and an index."""

    holder: str
    name: str
    index: str = ""


def stem_of(way: str) -> Stem | None:
    """Return by which value a way is the derivative; None where its name says nothing.

    >>> [str(stem_of(way)) for way in ("dW1", "grads['W1']", "layer.dW")]
    ["Stem(holder='', name='W1', index='')", "Stem(holder='', name='W1', index='')", \
"Stem(holder='layer.', name='W', index='')"]
    >>> stem_of("x.grad"), stem_of("nabla_w[0]"), stem_of("scores")
    (Stem(holder='x.', name='data', index=''), Stem(holder='', name='w', index='[0]'), None)
    """
    index = way[INDEX.search(way).start() :]  # type: ignore[union-attr] # it matches at the end
    step = LAST_STEP.match(way.removesuffix(index))
    holder, name = (step[1], step[2] or step[3]) if step else ("", way.removesuffix(index))
    if step is not None and step[2] == "grad":
        return Stem(f"{holder}.", "data", index)
    stem = next((match[1] for pattern in STEMS if (match := pattern.fullmatch(name))), None)
    if step is not None and step[3] and HOLDERS.fullmatch(holder.rpartition(".")[2]):
        return Stem("", stem or name, index)
    return None if stem is None else Stem(f"{holder}." if step is not None and step[2] else "", stem, index)


def find_pairs(ways: Sequence[str], numbers: Mapping[str, Any]) -> list[Pair]:
    """Return the pairs of values whose names say that one is the derivative by the other.

    Of several ways to a value of one name the first counts. The same two values by other names, as a loop's variables
    are, count once.
    """
    by_name = by_last_step(ways)
    pairs: dict[str, Pair] = {}
    for way in ways:
        stem = stem_of(way)
        value = None if stem is None else value_of_stem(stem, by_name, numbers)
        if value is not None and value != way:
            pairs.setdefault(value, Pair(value, way))
    first: dict[tuple[int, int], Pair] = {}
    for pair in sorted(pairs.values(), key=lambda pair: ways.index(pair.value)):
        first.setdefault((id(numbers[pair.value]), id(numbers[pair.gradient])), pair)
    return list(first.values())


def by_last_step(ways: Iterable[str]) -> dict[str, list[str]]:
    """Return ways by the name at their end, with the index behind it."""
    by_name: dict[str, list[str]] = {}
    for way in ways:
        index = way[INDEX.search(way).start() :]  # type: ignore[union-attr] # it matches at the end
        step = LAST_STEP.match(way.removesuffix(index))
        by_name.setdefault(f"{step[2] or step[3]}{index}" if step else way, []).append(way)
    return by_name


def ways_beside(stem: Stem) -> tuple[str, ...]:
    """Return what an attribute may be the gradient by: ``layer.W``, and of ``x.grad`` the tensor itself or its data."""
    whole = f"{stem.holder}{stem.name}{stem.index}"
    return (whole, f"{stem.holder}value", stem.holder[:-1]) if stem.name == "data" else (whole,)


def value_of_stem(stem: Stem, by_name: Mapping[str, list[str]], numbers: Mapping[str, Any]) -> str | None:
    """Return the value that a gradient is by: beside it, else the first way to one of its name."""
    if stem.holder:
        return next((way for way in ways_beside(stem) if way in numbers), None)
    names = (stem.name, stem.name.swapcase() if len(stem.name) == 1 else "", PLURALS.get(stem.name, ""))
    ways = (way for name in names for way in by_name.get(f"{name}{stem.index}", ()))
    return next((way for way in ways if stem_of(way) is None), None)


def as_doubles(value: Any) -> Array:
    """Return a number, an array of a script or nested lists as doubles."""
    return np.asarray(value.value if isinstance(value, Tensor) else value, dtype=np.float64)
