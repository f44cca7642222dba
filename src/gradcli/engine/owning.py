"""Gradients in arrays of their own: what a sweep leaves may be shared, and is not the caller's to write to."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradcli.ops.declare import Array


def each_its_own(found: list[Any]) -> list[Array]:
    """Return gradients in arrays that nothing else holds.

    A vjp may have handed on what it was given, or a view of it: such gradients are copied.
    """
    gradients: list[Array] = []
    for g in found:
        alone = type(g) is np.ndarray and g.flags.owndata and not any(g is other for other in gradients)
        gradients.append(g if alone else np.array(g, dtype=np.float64))
    return gradients
