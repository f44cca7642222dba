"""Where a traced number leaves the trace: as a text, as a draw, or through what has no derivative of it.

What is made of it is refused by name where the answer comes to it, and nowhere else: a text that is only printed is
none of the answer's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.declare import Op
from gradcli.ops.parts import Piecewise, Said
from gradcli.runner.state import Run, span_of
from gradcli.runner.values import Tensor, category

CUT = Op(
    "cut",
    lambda *_values, made, **_static: made,
    lambda _k: lambda *_values, refuse, **_static: refuse(),
    lambda _k, _out, _values, static: static["refuse"](),
    index=Said(),
    pieces=Piecewise(lambda *_values, made, **_static: made, lambda piece, *_values, **_static: piece, held=True),
)
"""Floats that were made outside of the trace, beside what they were made of."""


class TracedKey(float):
    """A traced number as a key of a dictionary or a set: equal to Python's, and traced again when it is read."""

    tensor: Tensor


def traced(x: Any) -> bool:
    """Return whether a value is a traced number or array, and none of PyTorch's, which cuts its own graph."""
    return isinstance(x, Tensor) and x.library != "torch" and x.active


def as_key(x: Tensor) -> TracedKey:
    """Return a traced number as a key."""
    key = TracedKey(float(np.asarray(x.value).reshape(())[()]))
    key.tensor = x
    return key


def read_keys(items: Any) -> Any:
    """Return the items of a dictionary or a set with its keys traced again."""
    if not any(type(part) is TracedKey for item in items for part in (item if type(item) is tuple else (item,))):
        return items
    return [tuple(map(read_key, item)) if type(item) is tuple else read_key(item) for item in items]


def read_key(key: Any) -> Any:
    """Return the number that a key was made of."""
    return key.tensor if type(key) is TracedKey else key


def cut(run: Run, what: str, sources: Iterable[Any], made: Any) -> Any:
    """Return floats that were made of ``sources`` outside of the trace: a derivative of them is refused as ``what``."""
    leaves = [x for x in sources if traced(x)]
    if not leaves:
        return made
    if isinstance(made, list | tuple):
        return type(made)([cut(run, what, leaves, part) for part in made])
    if type(made) is float:
        made = Tensor(np.asarray(made), "float64", "python")
    if not isinstance(made, Tensor) or category(made.dtype) < 2:
        return made
    text = f"{what} takes the number out of the trace: the answer needs its derivative, and it has none"
    line, place = run.line, run.place

    def refuse() -> Any:
        raise GradcliError("not-differentiable", text, span=span_of(place, line), place=place)

    number = np.asarray(made.value)[()]
    static = {"made": number, "refuse": refuse, "why": f"{what} takes a number out of the record"}
    return Tensor(
        run.graph.apply(CUT, tuple([x.node for x in leaves]), static, [x.value for x in leaves]),
        made.dtype,
        made.library,
    )


def note_text(run: Run | None, text: str, sources: Iterable[Any]) -> str:
    """Return a text, noted with the traced numbers that it shows."""
    if run is not None and run.story is not None:
        for x in sources:
            if traced(x):
                run.story.texts[text] = x
    return text


def read_number(run: Run, text: str, made: Any) -> Any:
    """Return a number that was read from a text; one that shows a traced number is cut off from it."""
    if run.story is None or not any(letter.isdigit() for letter in text):
        return made
    shown = text.strip()
    sources = [x for written, x in run.story.texts.items() if shown in written or written in shown]
    return cut(run, f"a number that is read from the text {shown[:40]!r}", sources, made)


def rearrange(run: Run, x: Tensor, made: Tensor) -> None:
    """Give an array its own entries in another order in place: an input stays the one that it was."""
    x.leaf = False
    run.write(x, made.node)
