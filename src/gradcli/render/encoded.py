"""A large document as text, without its lists: most of its arrays are the same few numbers again."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from gradcli.render.document import document
from gradcli.render.dump import dump
from gradcli.render.numbers import nested

if TYPE_CHECKING:
    from gradcli.explanation import Explanation
    from gradcli.ops.declare import Array

LONG = 10_000
"""Entries from which the text of an array is kept for the next one with the same numbers."""


def encoded(found: Explanation) -> str:
    """Return the JSON document of an explanation: the text of ``to_dict()``, strict, in ASCII and on one line.

    Numbers are dear to write, and an elementwise gradient under v = 1 stands in its document six times: in J, as vᵀ·J,
    as x.grad, and three times in the call of backward. What is long is written once, and put where it belongs at last.
    """
    mark = os.urandom(16).hex()
    texts: list[str] = []
    places: dict[tuple[Any, ...], int] = {}

    def form(array: Array) -> Any:
        if array.size < LONG:
            return nested(array)
        numbers = (array.dtype.kind, array.shape, array.tobytes())
        if numbers not in places:
            places[numbers] = len(texts)
            texts.append(dump(nested(array)))
        return f"{mark}{places[numbers]}"

    skeleton = dump(document(found, form))
    return re.sub(f'"{mark}([0-9]+)"', lambda place: texts[int(place[1])], skeleton)
