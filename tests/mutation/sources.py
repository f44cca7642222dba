"""Where a rule is written, with all that it calls, and whether its lines have changed."""

import ast
import functools
import subprocess
from pathlib import Path
from types import CodeType, FunctionType

ROOT = Path(__file__).parent.parent.parent
FUNCTIONS = (ast.FunctionDef, ast.Lambda)


@functools.cache
def text_of(module):
    with open(module.__file__, encoding="utf-8") as file:  # noqa: PTH123 - the path of an imported module
        return file.read()


@functools.cache
def tree_of(module):
    return ast.parse(text_of(module))


def nested(code):
    """Yield a code object and those inside of it."""
    yield code
    for item in code.co_consts:
        if isinstance(item, CodeType):
            yield from nested(item)


def ours(value):
    return isinstance(value, FunctionType) and value.__module__.startswith("gradcli.")


def reached_code(*rules):
    """Return the code objects of the project that rules reach: helpers, closures, and what is in tuples and dicts."""
    seen, waiting = set(), list(rules)
    while waiting:
        value = waiting.pop()
        value = getattr(value, "__wrapped__", value)
        if isinstance(value, type):
            value = getattr(value, "rules", None)
        if isinstance(value, tuple | dict):
            waiting += value if isinstance(value, tuple) else value.values()
        elif ours(value) and value.__code__ not in seen:
            seen.add(value.__code__)
            names = {name for code in nested(value.__code__) for name in code.co_names}
            waiting += [value.__globals__[name] for name in names if name in value.__globals__]
            waiting += [cell.cell_contents for cell in value.__closure__ or ()]
    return seen


def stands_on(rules, lines):
    """Return whether what rules reach stands on one of some lines, given by file below the package."""
    for code in reached_code(*rules):
        places = [line for inner in nested(code) for _, _, line in inner.co_lines() if line is not None]
        if not lines.get(below(code.co_filename), set()).isdisjoint(range(min(places), max(places) + 1)):
            return True
    return False


def below(path):
    """Return the path of a file of the package below it, wherever it is installed."""
    return path.replace("\\", "/").rpartition("/gradcli/")[2]


def lines_since(commit):
    """Return by file the lines of the package that differ from a commit."""
    words = ["git", "diff", "--unified=0", "--no-renames", "--no-color", "--no-ext-diff", commit, "--", "src/gradcli"]
    return lines_of(subprocess.run(words, cwd=ROOT, capture_output=True, encoding="utf-8", check=True).stdout)


def lines_of(diff):
    """Return by file the lines that a diff adds, and those beside what it takes away."""
    found, path = {}, ""
    for line in diff.splitlines():
        if line.startswith("+++ "):
            path = below(line)
        elif line.startswith("@@ "):
            first, _, count = line.split()[2].removeprefix("+").partition(",")
            length = int(count or 1)
            found.setdefault(path, set()).update(range(int(first), int(first) + max(length, 2 - length)))
    return found
