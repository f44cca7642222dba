"""The size of the house: figures that may only fall. ``python tests/ratchet.py`` lowers them to what is measured."""

from __future__ import annotations

import ast
import functools
import json
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
FIGURES = ROOT / "tests" / "data" / "ratchet.json"


def figures() -> dict[str, int]:
    """Return the figures that hold."""
    return dict(json.loads(FIGURES.read_text(encoding="utf-8")))


@functools.cache
def measured() -> dict[str, int]:
    """Return each figure as the tree stands.

    Names are doubled that two modules or more give to a function of their own: what they count are those functions.
    """
    source = {path: path.read_text(encoding="utf-8") for path in sorted((ROOT / "src").rglob("*.py"))}
    tests = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "tests").rglob("*.py"))]
    trees = [ast.parse(text) for text in source.values()]
    functions = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    names = Counter(node.name for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef))
    return {
        "lines of src": sum(text.count("\n") for text in source.values()),
        "modules of src": len(source),
        "functions of src": len(functions),
        "functions of src whose name another module has too": sum(n for n in names.values() if n > 1),
        "lines of tests": sum(text.count("\n") for text in tests),
    }


def lowered(figures: dict[str, int], found: dict[str, int]) -> dict[str, int]:
    """Return the figures, each no higher than what is measured."""
    return {name: min(figures.get(name, number), number) for name, number in found.items()}


def main() -> None:
    """Lower the figures, and say what they are."""
    lower = lowered(figures(), measured())
    FIGURES.write_text(json.dumps(lower, indent=2) + "\n", encoding="utf-8")
    sys.stdout.write("".join(f"{number:7,} {name}\n" for name, number in lower.items()))


if __name__ == "__main__":
    main()
