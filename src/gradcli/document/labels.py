"""What the script calls a variable, put in the place of the identifier that formulas have for it.

Formulas have one word for each variable, so that they can be read again: ``net_fc1_weight`` for ``net.fc1.weight``, and
``params__W1__`` for ``params['W1']``. An identifier is as long as its label, so that columns stay where they are, and
stands nowhere else in the script.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Labels = Mapping[str, str]


def with_labels(text: str, labels: Labels) -> str:
    """Return a text with labels in the place of identifiers.

    >>> with_labels("dloss/dnet_fc1_bias[0]", {"net_fc1_bias": "net.fc1.bias"})
    'dloss/dnet.fc1.bias[0]'
    """
    if not labels:
        return text
    words = "|".join(map(re.escape, sorted(labels, key=len, reverse=True)))
    return re.sub(rf"(?:{words})(?!\w)", lambda word: labels[word[0]], text)


def relabelled(document: dict[str, Any], labels: Labels) -> dict[str, Any]:
    """Return a JSON document with labels in the place of identifiers."""

    def changed(part: Any) -> Any:
        if isinstance(part, str):
            return with_labels(part, labels)
        if isinstance(part, dict):
            return {with_labels(key, labels): changed(item) for key, item in part.items()}
        if isinstance(part, list) and part and isinstance(part[0], str | dict | list):
            return [changed(item) for item in part]
        return part

    return changed(document) if labels else document
