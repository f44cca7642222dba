"""An answer in one line, for the prompt of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.errors.inert import inert

if TYPE_CHECKING:
    from gradcli.explanation.explained import Explained

LONGEST = 40
"""Characters of a program; and entries of an array fit in as many."""


def explanation_line(found: Explained) -> str:
    """Return the function, where it is explained, its value, its gradients and the verdict.

    >>> explanation_line(gradcli.explain("x**2", x=3.0))
    '<gradcli explanation of x**2 at x = 3: y = 9, x.grad = 6, agree>'
    """
    lines = [line.strip() for line in found.program_lines]
    program = shortened(inert("; ".join(filter(None, lines)).replace(":; ", ": "), keep=""))
    point = ", ".join(f"{name} = {brief(value)}" for name, value in found.inputs.items())
    gradients = ", ".join(f"{name}.grad = {brief(value)}" for name, value in found.grad.items())
    return (
        f"<gradcli explanation of {program} at {point}: {found.name} = {brief(found.output)}, {gradients}, "
        f"{found.agreement.verdict}>"
    )


def brief(value: Any) -> str:
    """Return an array in few characters: its entries where they are few, else its shape."""
    array = np.asarray(value)
    if not array.ndim:
        return f"{array:.6g}"
    text = np.array2string(array, precision=6, separator=", ", threshold=8, formatter={"float_kind": "{:.6g}".format})
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"array of shape {array.shape}"


def shortened(text: str) -> str:
    """Return a text that fits in a line with others."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."
