"""Formulas as texts, taken apart outside of their brackets."""

from __future__ import annotations


def split_outside(text: str, marks: tuple[str, ...]) -> list[str]:
    """Return the pieces of a text, each but the first beginning with a mark that stands outside of all brackets.

    Nothing where a bracket closes that was not opened, as between ``[a]`` and ``[b]`` without their outer ones.

    >>> split_outside("a*(b + c) - f(d - e)", (" + ", " - "))
    ['a*(b + c)', ' - f(d - e)']
    >>> split_outside("a] + [b", (" + ",))
    []
    """
    depth, start, pieces = 0, 0, []
    for place, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if depth < 0:
            return []
        if not depth and text.startswith(marks, place):
            pieces.append(text[start:place])
            start = place
    return [*pieces, text[start:]]
