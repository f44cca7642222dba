"""A large document as text, without its lists: most of its arrays are the same few numbers again."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from gradcli.render.dump import dump, dump_numbers
from gradcli.render.numbers import Form, nested

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcli.ops.declare import Array, Indices

LONG = 10_000
"""Entries from which the text of an array is kept for the next one with the same numbers."""


def encoded(document: Callable[[Form], Any]) -> list[str]:
    """Return the parts of the line that holds the document which ``document`` makes with a form for its arrays.

    The line is strict JSON in ASCII, and ends with its newline.

    Numbers are dear to write, and an elementwise gradient under v = 1 stands in its document six times: in J, as vᵀ·J,
    as x.grad, and three times in the call of backward. What is long becomes text once, and its text is a part as
    often as it is needed.
    """
    mark = os.urandom(16).hex()
    texts: list[str] = []
    places: dict[tuple[Any, ...], int] = {}

    def form(array: Array | Indices) -> Any:
        if array.size < LONG:
            return nested(array)
        numbers = (array.dtype.kind, array.shape, array.tobytes())
        if numbers not in places:
            places[numbers] = len(texts)
            texts.append(dump_numbers(nested(array)))
        return f"{mark}{places[numbers]}"

    between = re.split(f'"{mark}([0-9]+)"', dump(document(form)))
    return [texts[int(part)] if i % 2 else part for i, part in enumerate(between)] + ["\n"]
