"""Write src/gradcli/language/torch_names.json: the names that PyTorch's modules, tensors, nn.Module and Optimizer have.

What PyTorch has and gradcli has not is refused by its name; what PyTorch has not either is an AttributeError. Names such
as ``__len__`` are left out: what an object has of them depends on more than its class.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

from gradcli.runner.names import MODULES

NAMES = Path(__file__).parent.parent / "src" / "gradcli" / "language" / "torch_names.json"
CLASSES = ("torch.Tensor", "torch.nn.Module", "torch.optim.Optimizer")


def owner(name: str) -> Any:
    """Return a module or a class of PyTorch's, None for none."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        module, _, last = name.rpartition(".")
        return getattr(importlib.import_module(module), last, None)


def rows() -> dict[str, str]:
    """Return the names that each module and class has, with spaces between them."""
    owners = [name for name in (*MODULES, *CLASSES) if name.partition(".")[0] == "torch" and owner(name) is not None]
    made = {name: {one for one in dir(owner(name)) if not one.startswith("__")} for name in owners}
    made["torch.nn.Module"] |= set(vars(owner("torch.nn.Module")()))
    return {name: " ".join(sorted(made[name])) for name in sorted(made)}


def text() -> str:
    """Return the rows as JSON, a module or class a line."""
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows().items()) + "\n}\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["-"]:
        sys.stdout.write(text())
    else:
        NAMES.write_text(text(), encoding="utf-8")
