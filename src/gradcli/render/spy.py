"""Where a large Jacobian has entries, as a picture of dots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gradcli.explanation.jacobians import Jacobian

WIDEST, HIGHEST = 40, 12
"""Characters of a picture, each two dots wide and four high."""
WORTH_A_LOOK = {"sparse", "banded", "block-diagonal", "permutation"}
"""Structures whose word leaves open where the entries are."""
BRAILLE = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])
"""The bit of each dot of a braille character, by row and column."""
DENSITIES = " .:#"
"""What stands for a character in ASCII, by how many of its dots are set."""


def spy_lines(jacobian: Jacobian, unicode: bool) -> list[str]:
    """Return the picture, none for a structure that a word says whole; a dot is an entry that can be non-zero."""
    if jacobian.structure not in WORTH_A_LOOK:
        return []
    rows, columns = jacobian.matrix_shape
    high, wide = min(rows, 4 * HIGHEST), min(columns, 2 * WIDEST)
    dots = np.zeros((-(-high // 4) * 4, -(-wide // 2) * 2), dtype=bool)
    dots[jacobian.rows * high // rows, jacobian.columns * wide // columns] = True
    cells = dots.reshape(dots.shape[0] // 4, 4, dots.shape[1] // 2, 2).swapaxes(1, 2)
    if unicode:
        return ["".join(map(chr, line)).rstrip("\u2800") for line in 0x2800 + (cells * BRAILLE).sum(axis=(2, 3))]
    levels = -(-cells.sum(axis=(2, 3)) * (len(DENSITIES) - 1) // 8)
    return ["".join(DENSITIES[level] for level in line).rstrip() for line in levels]
