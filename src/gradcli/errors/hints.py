"""The way out of an error: what it is about in plain fields, and the hint that is worded from them.

Front ends differ in how an input is given (``Word``) and in what they can read. The Python interface has the wording of
this module as it stands, the command line gives flags for names, a batch words what a record does otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

PLURALS = {"entry": "entries", "axis": "axes", "index": "indices", "pass": "passes"}
"""Those that are not the noun with an s."""
DIGITS = 6
"""Digits of a number in a sentence."""


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, in the plural unless there is one: the last word before an ``of`` is its head.

    >>> counted(1, "entry"), counted(2000, "entry of J"), counted(0, "random point")
    ('1 entry', '2,000 entries of J', '0 random points')
    """
    if count == 1:
        return f"1 {noun}"
    head, of, rest = noun.partition(" of ")
    before, space, last = head.rpartition(" ")
    return f"{count:,} {before}{space}{PLURALS.get(last, last + 's')}{of}{rest}"


def listed(words: Sequence[str], count: int) -> str:
    """Return the first words of a list of ``count`` things, and how many others there are.

    >>> listed(["x[0]"], 1), listed(["x[0]", "x[1]"], 2), listed(["x[0]", "x[1]", "x[2]"], 1003)
    ('x[0]', 'x[0] and x[1]', 'x[0], x[1], x[2] and 1,000 others')
    """
    rest = count - len(words)
    parts = [*words, counted(rest, "other")] if rest else [*words]
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def short_array(array: Any) -> str:
    """Return a number or a small array on one line, with six digits.

    >>> import numpy as np
    >>> short_array(np.array([[1.0, 2 / 3], [-0.0, 1e9]]))
    '[[1, 0.666667], [0, 1e+09]]'
    """

    def text(value: Any) -> str:
        inside = isinstance(value, list)
        return f"[{', '.join(map(text, value))}]" if inside else f"{value + 0.0:.{DIGITS}g}"

    return text(array.tolist())


Shape = tuple[int, ...]

Word = Callable[[str, str | None], str]
"""How an input is given, from its name and its value: ``None`` for the name alone, empty where any value does."""


class MissingInputs(NamedTuple):
    """Variables without a value.

    ``function`` is one of them that has the name of a function, ``near`` a name that was given and one it resembles,
    ``compared`` what the first of them is held against by ``==``. ``joined`` is a function and a variable that was
    given, written as one word; ``numbered`` one that was given, where its entries have names of their own.
    """

    names: tuple[str, ...]
    function: str | None = None
    near: tuple[str, str] | None = None
    compared: str | None = None
    joined: tuple[str, str] | None = None
    numbered: str | None = None


class OwnInput(NamedTuple):
    """A variable to which the program assigns a constant: statement, line, and the value, empty where it is long."""

    name: str
    statement: str
    line: int
    value: str
    span: tuple[int, int]

    @property
    def where(self) -> str:
        """The statement with its line, to be found."""
        return f"line {self.line}, '{self.statement}'"


class OwnInputs(NamedTuple):
    """Variables that a program assigns itself, and without which it has none."""

    inputs: tuple[OwnInput, ...]


class MissingV(NamedTuple):
    """An output with several entries and no v.

    ``shape`` is that of y. Where J is known, ``worth`` has what each of the usual choices would leave: the sum, the
    mean, and the row at this place in flat order; ``name`` is what y is called.
    """

    shape: Shape
    name: str = "y"
    row: int = 0
    worth: tuple[str, ...] = ()


class MisshapenV(NamedTuple):
    """A v in another shape than y.

    ``name`` is what y is called. Of one number for several entries, ``worth`` has what the sum and the mean of y would
    leave, where they are short.
    """

    given: Shape
    output: Shape
    name: str = "y"
    worth: tuple[str, ...] = ()

    @property
    def lenient(self) -> bool:
        """Whether it counts where nothing is strict: reshaped, or with J once for each of its entries."""
        size = math.prod(self.output)
        return size == 1 or math.prod(self.given) == size


class NoValue(NamedTuple):
    """A text that is no number and no array; ``path`` is it where it looks like the name of a file."""

    path: str | None = None


class OverBudget(NamedTuple):
    """A bound of the budget that was passed, by its name."""

    name: str
    bound: float


Facts = MissingInputs | OwnInputs | MissingV | MisshapenV | NoValue | OverBudget


PARAMETERS = ("v", "calls", "wrt", "strict", "budget", "inputs", "expect", "samples", "seed")
"""Parameters of the Python interface, which no variable can be given as."""


def in_python(name: str, value: str | None) -> str:
    """Return how a caller in Python gives an input, whose name may be that of a parameter."""
    if name in PARAMETERS:
        return "inputs=" if value is None else f'inputs={{"{name}": {value or "..."}}}'
    return name if value is None else f"{name}={value or '...'}"


def missing(facts: MissingInputs, word: Word) -> str:
    """Return what to do about variables without a value."""
    if facts.compared is not None:
        return f"== compares: write {facts.compared} alone, or {facts.names[0]} = {facts.compared}"
    if facts.function is not None:
        return f"'{facts.function}' is a function: call it, {facts.function}(x)"
    if facts.joined is not None:
        name, argument = facts.joined
        return f"write {name}({argument})"
    if facts.numbered is not None:
        typed = facts.numbered
        return f"{word(typed, None)} was given: its entries are {typed}[0], {typed}[1]"
    if facts.near is not None:
        typed, meant = facts.near
        return f"{word(typed, None)} was given: did you mean {word(meant, None)}?"
    return "add " + " ".join(word(name, "") for name in facts.names)


def hint_of(facts: Facts, word: Word = in_python) -> str:
    """Return what to do about an error, with inputs as ``word`` gives them."""
    match facts:
        case MissingInputs():
            return missing(facts, word)
        case OwnInputs(inputs):
            ways = [f"write requires_grad=True in line {inputs[0].line}"] if "tensor(" in inputs[0].statement else []
            ways += [f"leave out {one.where}, and give {word(one.name, one.value)}" for one in inputs]
            return "; or ".join(ways)
        case MissingV():
            return usual_v(facts)
        case MisshapenV():
            return fitting_v(facts)
        case NoValue(path):
            return f"{WAYS}, or @FILE" if path is None else f"write @{path} to read a file"
        case OverBudget(name):
            return f"make it smaller, or raise the bound with --budget {name}=NUMBER"


WAYS = "write 3, or 1,2,3, or 1,2;3,4, or [[1,2],[3,4]]"
"""How numbers and arrays are written."""


def usual_v(facts: MissingV) -> str:
    """Return the usual choices of v, each on a line with what it leaves where that is known."""
    shape, size = facts.shape, math.prod(facts.shape)
    flags = [f"--v '{text}'" for text in usual_texts(shape, facts.row)]
    row = f"[{','.join(map(str, index_of(facts.row, shape)))}]"
    calls = [f"{facts.name}{what}.backward()" for what in (".sum()", ".mean()", row)]
    if not facts.worth:
        said = [f"{flag} is {call}" for flag, call in zip(flags, calls, strict=True)]
        return ", ".join(said[: 3 if size > 1 else 1])
    means = [*calls[:2], f"{calls[2]}, a row of J"]
    first, second = (max(map(len, texts)) for texts in (flags, means))
    rows = zip(flags, means, facts.worth, strict=True)
    return "\n".join(f"{flag:<{first}}  {what:<{second}}  {worth}".rstrip() for flag, what, worth in rows)


def index_of(place: int, shape: Shape) -> tuple[int, ...]:
    """Return the index of an entry, given its place in flat order; an empty one where there are no entries."""
    result: list[int] = []
    for length in reversed(shape) if all(shape) else ():
        place, index = divmod(int(place), length)
        result.insert(0, index)
    return tuple(result)


def usual_texts(shape: Shape, row: int) -> tuple[str, str, str]:
    """Return ones, 1/n, and 1 in one entry alone, written out where there are few entries."""
    size, ones = math.prod(shape), f"ones({', '.join(map(str, shape))})"
    if not 1 < size <= 8 or len(shape) > 2 or (len(shape) == 2 and shape[0] == 1):
        hot = f"eye({size})[{row}]" if len(shape) == 1 else f"eye({size})[{row}].reshape{shape}"
        return ones, f"{ones}/{size}", hot
    wide = shape[-1]
    tail = "," if wide == 1 else ""
    rows = [",".join([entry] * wide) + tail for entry in ("1", f"1/{size}")]
    one, mean = (";".join([row] * (size // wide)) for row in rows)
    entries = ["1" if k == row else "0" for k in range(size)]
    return one, mean, ";".join(",".join(entries[k : k + wide]) for k in range(0, size, wide))


def fitting_v(facts: MisshapenV) -> str:
    """Return what to do about a v in another shape than y."""
    size = math.prod(facts.output)
    if math.prod(facts.given) == size:
        return "without --strict it is reshaped"
    if size == 1:
        return "without --strict J is taken once for each entry of v"
    if facts.given[1:] == facts.output:
        row = usual_texts(facts.output, 0)[2]
        return f"give one row of it at a time: --v '{row}' is row 0 of J, and any v shows all of J in its table"
    ones = f"ones({', '.join(map(str, facts.output))})"
    if facts.worth:
        ways = zip(("sum", "mean"), (ones, f"{ones}/{size}"), facts.worth, strict=True)
        said = [f"{facts.name}.{way}().backward(), which is --v '{v}', gives {grad}" for way, v, grad in ways]
        return f"one number does not say which gradient is meant: {', and '.join(said)}"
    return (
        f"give {counted(size, 'number')}, one for each entry of y: --v '{ones}' for the sum, '{ones}/{size}' the mean"
    )


def instead_of(kind: str, name: str) -> str | None:
    """Return what to write in place of something that the language lacks, by the table of ``hints.toml``; else None."""
    return tables()[kind].get(name)


@cache
def tables() -> dict[str, dict[str, str]]:
    """Return what to write in place of calls, keywords, attributes and words, by kind."""
    import tomllib  # an error alone needs it

    return tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def did_you_mean(name: str, names: Iterable[str]) -> str | None:
    """Return a question with the nearest known name, or None where none is near."""
    import difflib

    candidates = sorted(set(names))
    lowered = {candidate.lower(): candidate for candidate in reversed(candidates)}
    if name.lower() in lowered and lowered[name.lower()] != name:
        return f"did you mean '{lowered[name.lower()]}'?"
    if len(name) < 3:
        return None
    near = difflib.get_close_matches(name, candidates, n=1, cutoff=0.7)
    return f"did you mean '{near[0]}'?" if near else None
