"""gradcli explains ``y.backward(v)``: the Jacobian J, the product vᵀ·J, and the gradient that reverse mode leaves.

>>> import gradcli
>>> gradcli.explain("3*x**2", x=[1, 2], v=[1, 10]).grad["x"].tolist()
[6.0, 120.0]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gradcli.batch.answers import answer
    from gradcli.errors import Budget, GradcliError
    from gradcli.explanation.checked import Comparison, Entry
    from gradcli.explanation.evaluation import Function
    from gradcli.explanation.jacobians import Jacobian
    from gradcli.explanation.parts import (
        BranchTaken,
        Decision,
        Edge,
        LoopEnded,
        Path,
        Picture,
        Rule,
        Sent,
        Step,
        Tape,
        Taped,
        TurnBegun,
        Value,
        Vertex,
    )
    from gradcli.explanation.ran import Ran
    from gradcli.explanation.results import Agreement, Backward, Note
    from gradcli.interface import Check, Explanation, assert_gradient, check, explain, run
    from gradcli.language.values import Cotangent

__all__ = [
    "Agreement",
    "Backward",
    "BranchTaken",
    "Budget",
    "Check",
    "Comparison",
    "Cotangent",
    "Decision",
    "Edge",
    "Entry",
    "Explanation",
    "Function",
    "GradcliError",
    "Jacobian",
    "LoopEnded",
    "Note",
    "Path",
    "Picture",
    "Ran",
    "Rule",
    "Sent",
    "Step",
    "Tape",
    "Taped",
    "TurnBegun",
    "Value",
    "Vertex",
    "__version__",
    "answer",
    "assert_gradient",
    "check",
    "explain",
    "function",
    "run",
]

_HOMES = {
    "gradcli.batch.answers": ("answer",),
    "gradcli.explanation.checked": ("Comparison", "Entry"),
    "gradcli.errors": ("Budget", "GradcliError"),
    "gradcli.explanation.evaluation": ("Function",),
    "gradcli.explanation.parts": (
        "BranchTaken", "Decision", "Edge", "LoopEnded", "Path", "Picture", "Rule", "Sent", "Step", "Tape", "Taped",
        "TurnBegun", "Value", "Vertex",
    ),
    "gradcli.explanation.explained": ("Agreement", "Backward", "Note"),
    "gradcli.explanation.jacobians": ("Jacobian",),
    "gradcli.language.values": ("Cotangent",),
    "gradcli.explanation.ran": ("Ran",),
    "gradcli.interface": ("Check", "Explanation", "assert_gradient", "check", "explain", "run"),
}  # fmt: skip


def function(
    program: str | Callable[..., Any], wrt: Iterable[str] | None = None, budget: Budget | None = None
) -> Function:
    """Return a program as a function with ``.value()``, ``.grad()`` and ``.jacobian()``; see ``Function``.

    - ``program``: a text, or a Python function whose source is read, see ``explain``.
    - ``wrt``: the names to differentiate by, all variables by default.
    - ``budget``: what one run may cost.

    Raises ``GradcliError`` for a program that is none.

    >>> gradcli.function("x**2").grad(x=3.0)["x"].item()
    6.0
    """
    from gradcli.explanation.evaluation import Function as Found

    return Found(program, wrt, budget)


def load_ipython_extension(shell: Any) -> None:
    """Enter the magics ``%gradcli`` and ``%%gradcli``: what ``%load_ext gradcli`` calls in a notebook."""
    from gradcli.magic import load

    load(shell)


def __getattr__(name: str) -> Any:
    """Import the parts of the interface when they are first used: numpy and sympy cost time."""
    home = next((module for module, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'gradcli' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(home), name)
