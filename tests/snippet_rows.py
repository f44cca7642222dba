"""Snippets as they stand in tutorials and questions, and what PyTorch leaves in ``.grad`` after each.

``tests/data/snippets.txt`` has them. A title may say ``stop=LINE``: what is explained is what PyTorch has done by then.
Where PyTorch cannot run the text, one with the same derivative stands below ``--- torch``. The figures of
``tests/data/snippets.json`` are PyTorch's own; ``python tests/snippet_rows.py`` asks for them again.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import gradcli

DATA = Path(__file__).parent / "data"
RECORDED = DATA / "snippets.json"
DOUBLES = {"torch.FloatTensor": "torch.DoubleTensor", "torch.Tensor(": "torch.DoubleTensor(", "float32": "float64"}
"""What is written with fewer digits in tutorials, and what PyTorch is asked instead."""


class Snippet(NamedTuple):
    """A snippet, and the text that PyTorch runs."""

    title: str
    text: str
    torch: str


def snippets() -> list[Snippet]:
    """Return all snippets."""
    found = []
    for part in (DATA / "snippets.txt").read_text(encoding="utf-8").split("=== ")[1:]:
        head, _, body = part.partition("\n")
        title, _, options = head.partition(" | ")
        text, _, other = body.partition("--- torch\n")
        stop = re.match(r"stop=(\d+)", options)
        lines = text.splitlines()[: int(stop[1]) if stop else None]
        found.append(Snippet(title, text, other or "\n".join(lines)))
    return found


def theirs(text: str) -> dict[str, Any]:
    """Return what PyTorch leaves in ``.grad`` of each tensor that has a gradient, in double precision."""
    import torch  # where it is not installed, the recorded figures are read

    for short, long in DOUBLES.items():
        text = text.replace(short, long)
    names: dict[str, Any] = {"__name__": "__main__"}
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(text, names)  # noqa: S102 - our own snippets
    finally:
        torch.set_default_dtype(before)
    leaves = {name: value for name, value in names.items() if isinstance(value, torch.Tensor) and value.is_leaf}
    first = {id(value): name for name, value in reversed(leaves.items())}
    return {name: leaves[name].grad.tolist() for name in reversed(first.values()) if leaves[name].grad is not None}


def assert_as_pytorch(text: str) -> None:
    """Raise AssertionError unless a snippet leaves the gradients that PyTorch leaves, one at least."""
    left, found = theirs(text), gradcli.explain(text)
    assert left
    for name, grad in left.items():
        np.testing.assert_allclose(found.grad[name], grad, rtol=1e-12)


def record() -> None:
    """Ask PyTorch for the figures of every snippet."""
    lines = [f"{json.dumps(one.title)}: {json.dumps(theirs(one.torch))}" for one in snippets()]
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    record()
