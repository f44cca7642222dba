"""What the calls of a snippet are, as far as their syntax says."""

from __future__ import annotations

import ast

from gradcli.errors import GradcliError


def is_of_math(full: str) -> bool:
    """Return whether a function is one of Python's math that gives a float: no gradient flows through it."""
    module, _, name = full.partition(".")
    return module == "math" and name not in ("floor", "ceil", "trunc", "isqrt", "factorial", "comb", "gcd", "prod")


def makes_input(node: ast.Call) -> bool:
    """Return whether a call has ``requires_grad=True``, or another value that is not False."""
    given = [item.value for item in node.keywords if item.arg == "requires_grad"]
    return any(not (isinstance(value, ast.Constant) and not value.value) for value in given)


def is_own_sum(node: ast.Call) -> bool:
    """Return whether a call is of Python's own sum, which adds up along the first axis: that of the language all."""
    return isinstance(node.func, ast.Name) and node.func.id == "sum" and not node.keywords


def random_draw(name: str) -> GradcliError:
    """Return the error for numbers that are drawn at random."""
    return GradcliError(
        "random",
        f"{name} draws numbers at random: a program has the same value at every run",
        hint="write the numbers, or give this value a name and the numbers with that name",
    )
