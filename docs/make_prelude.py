"""Write src/gradcli/runner/prelude/index.json: which text has each class and function of PyTorch's library.

A row is a text, a package, the module that PyTorch says its names are of, and these names; PyTorch is asked for that,
and for which definitions of a text are public: those that it has under the same name. Of scikit-learn and SciPy, which
are not asked, all are.
"""

from __future__ import annotations

import ast
import importlib
import json
import sys
import textwrap
from pathlib import Path
from typing import Any

PRELUDE = Path(__file__).parent.parent / "src" / "gradcli" / "runner" / "prelude"
INDEX = PRELUDE / "index.json"
SHORT = ("Parameter",)
"""Short names of a text for what PyTorch has and gradcli too."""


def definitions(tree: ast.Module) -> list[str]:
    """Return what a text defines: its functions, classes, and what it assigns to a name."""
    names: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign):
            names.extend(
                name.id for name in ast.walk(node) if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
            )
    return names


def rows() -> list[list[Any]]:
    """Return a row for each module of PyTorch's that a text has names of: text, package, module, and the names."""
    made: dict[tuple[str, str, str], list[str]] = {}
    for path in sorted(PRELUDE.glob("*.py.txt")):
        text = path.read_text(encoding="utf-8")
        package = text.partition("\n")[0].removeprefix("# ")
        library = None if package.startswith(("sklearn.", "scipy.stats.")) else importlib.import_module(package)
        for name in definitions(ast.parse(text)):
            theirs = getattr(library, name, None)
            if name.startswith("_") or library is None or (theirs is not None and name not in SHORT):
                module = getattr(theirs, "__module__", package)
                made.setdefault((path.name.removesuffix(".py.txt"), package, module), []).append(name)
    return [[*places, names] for places, names in sorted(made.items())]


def index() -> str:
    """Return the index as JSON."""
    return "[\n" + ",\n".join(textwrap.fill(json.dumps(row), 119) for row in rows()) + "\n]\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["-"]:
        sys.stdout.write(index())
    else:
        INDEX.write_text(index(), encoding="utf-8")
