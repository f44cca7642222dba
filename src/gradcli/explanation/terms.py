"""How large the terms are that a printed number is a sum of, the rounding inside of values counted where it matters."""

from __future__ import annotations

import numpy as np

from gradcli.engine.graph import Node
from gradcli.exact.thresholds import ROUNDING, VISIBLE
from gradcli.explanation.evaluation import Evaluation
from gradcli.explanation.suspicion import largest
from gradcli.jacobian.rounding import sizes_of_output, sizes_with_rounding
from gradcli.ops.declare import Array, Indices


def terms_of_entries(run: Evaluation, leaf: Node, plain: Array, rows: Indices) -> Array:
    """Return the sizes of the terms of the entries of J by an input; ``plain`` are those of their last digits alone."""
    scale = max((largest(other.value) for other in run.leaves.values()), default=0.0)
    return small_beside(sizes_with_rounding(run.graph, run.output, leaf, plain), plain, rows, scale)


def terms_of_value(run: Evaluation, scale: float) -> Array:
    """Return the sizes of the terms of each entry of y, in flat order, ``scale`` at the least."""
    if not isinstance(run.output, Node):
        return np.full(np.size(run.value), scale)
    plain, found = sizes_of_output(run.graph, run.output)
    return small_beside(found, np.maximum(plain, scale), np.arange(plain.size), scale)


def small_beside(sizes: Array, plain: Array, rows: Indices, scale: float) -> Array:
    """Return sizes of terms whose rounding is small beside the numbers that are there, ``plain`` at the least.

    A number that shows beside the largest ``plain`` terms of its row, or that the rounding of the inputs (``scale`` is
    the largest of them) does not reach, is a wrong one to whoever reads it, whatever was lost on the way.
    """
    most = np.full(int(np.max(rows, initial=-1)) + 1, scale * ROUNDING / VISIBLE)
    np.maximum.at(most, rows, np.where(np.isfinite(plain), plain, 0.0))
    return np.maximum(plain, np.minimum(sizes, VISIBLE / ROUNDING * most[rows]))
