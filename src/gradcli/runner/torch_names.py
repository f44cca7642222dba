"""The names that PyTorch has: what it has and gradcli has not is refused, and what it has not is an AttributeError."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from gradcli.runner.state import Run
from gradcli.runner.values import Instance, Tensor


@cache
def names() -> dict[str, frozenset[str]]:
    """Return the names that modules and classes of PyTorch's have, by their full names."""
    import json  # a script that asks for no unknown name reads none

    text = Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
    return {owner: frozenset(row.split()) for owner, row in json.loads(text).items()}


def lacks(owner: str, name: str) -> bool:
    """Return whether PyTorch itself has no such name in a module or a class, as far as its names are listed."""
    return owner in names() and name not in names()[owner]


def refuse_theirs(run: Run, owner: Any, name: str) -> None:
    """Refuse an attribute that PyTorch's tensors, modules or optimizers have and gradcli's have not."""
    kind = class_of(run, owner)
    if kind is not None and name in names()[kind]:
        raise run.refuse(f"'{kind}.{name}' is not part of gradcli")


def class_of(run: Run, owner: Any) -> str | None:
    """Return which of PyTorch's classes a value is of, None for none whose names are listed."""
    if isinstance(owner, Tensor):
        return "torch.Tensor" if owner.library == "torch" else None
    for text, own, kind in (("nn", "Module", "torch.nn.Module"), ("optim", "Optimizer", "torch.optim.Optimizer")):
        if isinstance(owner, Instance) and run.modules.get(text, {}).get(own) in owner.kind.order:
            return kind
    return None
