"""The size of the house: figures that may only fall. ``python tests/ratchet.py`` lowers them to what is measured."""

import ast
import functools
import json
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
VAGUE = {"found", "held", "told", "known", "given", "own"}
"""Names for whatever is at hand: a reader learns nothing from them."""
FIGURES = ROOT / "tests" / "data" / "ratchet.json"


def figures() -> dict[str, int]:
    """Return the figures that hold."""
    return dict(json.loads(FIGURES.read_text(encoding="utf-8")))


@functools.cache
def tree_of(path: Path) -> ast.Module:
    """Return the syntax of a module."""
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def measured() -> dict[str, int]:
    """Return each figure as the tree stands.

    Names are doubled that two modules or more give to a function of their own: what they count are those functions.
    """
    source, tests = (sorted((ROOT / folder).rglob("*.py")) for folder in ("src", "tests"))
    trees = [tree_of(path) for path in source]
    words = [getattr(n, "id", getattr(n, "arg", getattr(n, "attr", ""))) for tree in trees for n in ast.walk(tree)]
    functions = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    names = Counter(node.name for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef))
    return {
        "lines of src": sum(map(lines_of, source)),
        "modules of src": len(source),
        "functions of src": len(functions),
        "functions of src whose name another module has too": sum(n for n in names.values() if n > 1),
        "names in src that say little": sum(word in VAGUE for word in words),
        "lines of tests": sum(map(lines_of, tests)),
    }


def lines_of(path: Path) -> int:
    """Return how many lines a file has."""
    return path.read_text(encoding="utf-8").count("\n")


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
