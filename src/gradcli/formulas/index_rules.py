"""What is said of a Jacobian as a whole: one formula for all entries, the chain rule by its links, or words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gradcli.records import dataclass

WORD = re.compile(r"\"[^\"]*\"|[A-Za-z_]\w*")
"""A name in a formula, or a text in quotes, in which nothing is a name."""


class Factor(NamedTuple):
    """A link of the chain rule, ``dabove/dbelow`` with the values that are ``fixed``."""

    above: str
    below: str
    fixed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexRule:
    """``dabove[rows]/dbelow[columns] = formula``, true for all letters for which the indices exist.

    - ``above``, ``below``: the names of the value that is differentiated and of that by which it is.
    - ``rows``, ``columns``: an index for each axis of these; a letter that stands alone runs along that axis.
    - ``formula``: what an entry is, in the language; empty where ``paths`` or ``words`` stand in its place.
    - ``fixed``: the names of values that stay as they are while ``below`` moves.
    - ``words``: what the derivative is, where no formula says it.
    - ``paths``: the ways from ``above`` to ``below``: J is the sum over them of the products of their factors.
    - ``whole``: whether J itself is said, rather than a link on the way.
    """

    above: str
    rows: tuple[str, ...]
    below: str
    columns: tuple[str, ...]
    formula: str = ""
    fixed: tuple[str, ...] = ()
    words: str = ""
    paths: tuple[tuple[Factor, ...], ...] = ()
    whole: bool = False

    @property
    def left(self) -> str:
        """The derivative, without what it is."""
        return derivative(entry(self.above, self.rows), entry(self.below, self.columns), self.fixed)

    @property
    def text(self) -> str:
        """The rule as one line."""
        if self.words:
            return f"{self.left}: {self.words}"
        products = [" @ ".join([derivative(*factor) for factor in path]) for path in self.paths]
        return f"{self.left} = {' + '.join(products) or self.formula}"


def renamed(formula: str, names: Mapping[str, object]) -> str:
    """Return a formula with other names, or with numbers in the place of its index letters."""
    return WORD.sub(lambda word: str(names.get(word[0], word[0])), formula) if names else formula


def derivative(above: str, below: str, fixed: Sequence[str] = ()) -> str:
    """Return ``dh1[i]/dh0[i]``, with what is held fixed."""
    return f"d{above}/d{below}" + (f" ({', '.join(fixed)} fixed)" if fixed else "")


def entry(name: str, indices: Sequence[str]) -> str:
    """Return ``name[i,j]``, and a scalar as it is."""
    return f"{name}[{','.join(indices)}]" if indices else name
