"""Words for the pattern of a Jacobian, from the places that can be non-zero."""

from __future__ import annotations

import numpy as np

from gradcli.jacobian.sparse import Sparse


def structure(jacobian: Sparse) -> str:
    """Return one word: zero, diagonal, permutation, block-diagonal, triangular, banded, dense or sparse."""
    rows, columns = jacobian.shape
    count = len(jacobian.rows)
    if not count:
        return "zero"
    if count == rows * columns:
        return "dense"
    offsets = jacobian.columns - jacobian.rows
    if rows == columns and not np.any(offsets):
        return "diagonal"
    # Not np.unique: it loads numpy.ma, which nothing else here needs.
    once = np.max(np.bincount(jacobian.rows)) == 1 == np.max(np.bincount(jacobian.columns))
    if rows == columns == count and once:
        return "permutation"
    if blocks(jacobian):
        return "block-diagonal"
    if rows == columns and (np.all(offsets <= 0) or np.all(offsets >= 0)):
        return "triangular"
    if rows == columns > 4 and np.max(np.abs(offsets)) <= max(rows // 4, 1):
        return "banded"
    return "sparse"


def blocks(jacobian: Sparse) -> int:
    """Return how many equal dense blocks along the diagonal make up the whole, 0 if none do."""
    rows, columns = jacobian.shape
    count = len(jacobian.rows)
    pieces = rows * columns // count
    if pieces < 2 or pieces * count != rows * columns or rows % pieces or columns % pieces:
        return 0
    same = jacobian.rows // (rows // pieces) == jacobian.columns // (columns // pieces)
    return pieces if bool(np.all(same)) else 0
