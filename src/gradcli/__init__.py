"""gradcli explains ``y.backward(v)``: the Jacobian J, the product vᵀ·J, and the gradient that reverse mode leaves.

>>> import gradcli
>>> gradcli.explain("3*x**2", x=[1, 2], v=[1, 10]).grad["x"].tolist()
[6.0, 120.0]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gradcli.batch.answers import answer
    from gradcli.errors import Budget, GradcliError
    from gradcli.evaluation import Function
    from gradcli.interface import Check, Explanation, check, explain

__all__ = [
    "Budget",
    "Check",
    "Explanation",
    "Function",
    "GradcliError",
    "__version__",
    "answer",
    "check",
    "explain",
    "function",
]

_HOMES = {
    "Budget": "gradcli.errors",
    "Check": "gradcli.interface",
    "Explanation": "gradcli.interface",
    "Function": "gradcli.evaluation",
    "GradcliError": "gradcli.errors",
    "answer": "gradcli.batch.answers",
    "check": "gradcli.interface",
    "explain": "gradcli.interface",
}


def function(program: str, wrt: Iterable[str] | None = None, budget: Budget | None = None) -> Function:
    """Return a program as a function with ``.value()``, ``.grad()`` and ``.jacobian()``; see ``Function``."""
    from gradcli.evaluation import Function as Found  # noqa: PLC0415

    return Found(program, wrt, budget)


def __getattr__(name: str) -> Any:
    """Import the parts of the interface when they are first used: numpy and sympy cost time."""
    if name not in _HOMES:
        raise AttributeError(f"module 'gradcli' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415

    return getattr(import_module(_HOMES[name]), name)
