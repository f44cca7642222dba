"""Write src/gradcli/runner/prelude/index.json: which text has each class and function of PyTorch's library.

A row is a dotted name with the text that has it, its name there, and the module that PyTorch says it is of; PyTorch is
asked for that, and for which definitions of a text are public: those that it has under the same name.
"""

from __future__ import annotations

import ast
import importlib
import json
import sys
from pathlib import Path

PRELUDE = Path(__file__).parent.parent / "src" / "gradcli" / "runner" / "prelude"
INDEX = PRELUDE / "index.json"


def definitions(tree: ast.Module) -> list[str]:
    """Return what a text defines: its functions, classes, and second names of those."""
    names: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            names.extend(target.id for target in node.targets if isinstance(target, ast.Name))
    return names


def rows() -> dict[str, list[str]]:
    """Return the text, the name there and PyTorch's module of each dotted name, those of PyTorch's modules included."""
    made: dict[str, list[str]] = {}
    for path in sorted(PRELUDE.glob("*.py.txt")):
        text = path.read_text(encoding="utf-8")
        package = text.partition("\n")[0].removeprefix("# ")
        library = importlib.import_module(package)
        for name in definitions(ast.parse(text)):
            theirs = getattr(library, name, None)
            if theirs is None:
                continue
            row = [path.name.removesuffix(".py.txt"), name, theirs.__module__]
            made[f"{package}.{name}"] = made[f"{theirs.__module__}.{theirs.__name__}"] = row
    return dict(sorted(made.items()))


def index() -> str:
    """Return the index as JSON, a name a line."""
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows().items()) + "\n}\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["-"]:
        sys.stdout.write(index())
    else:
        INDEX.write_text(index(), encoding="utf-8")
