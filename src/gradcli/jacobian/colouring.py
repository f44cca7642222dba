"""How many calls of backward give all of J: rows that share no column go together."""

from __future__ import annotations

import numpy as np

from gradcli.ops.links import Indices

MOST_ENTRIES = 5_000
"""Entries up to which rows are coloured one by one."""


def count_passes(rows: Indices, columns: Indices) -> int | None:
    """Return how many reverse passes give every entry of a matrix, from the places that can be non-zero.

    Each pass sends back a v with ones in rows that share no column. Rows take the first colour that is free, in order,
    so that this is an upper bound; None where there are too many entries to colour and nothing else tells.
    """
    if not len(rows):
        return 0
    # No colouring has fewer passes than a column has entries, and none needs more than there are rows in use.
    fewest, most = int(np.max(np.bincount(columns))), int(np.count_nonzero(np.bincount(rows)))
    if fewest in (1, most):
        return fewest
    return None if len(rows) > MOST_ENTRIES else colour(rows, columns)


def colour(rows: Indices, columns: Indices) -> int:
    """Return the colours of a greedy colouring of rows; each column holds those of its rows as bits."""
    of_rows: dict[int, list[int]] = {}
    for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
        of_rows.setdefault(row, []).append(column)
    taken: dict[int, int] = {}
    used = 0
    for own in of_rows.values():
        met = 0
        for column in own:
            met |= taken.get(column, 0)
        free = ~met & (met + 1)
        used |= free
        for column in own:
            taken[column] = taken.get(column, 0) | free
    return used.bit_length()
