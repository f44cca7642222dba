"""Functions that arrays which trace a rule take in one step, and the rules by which they do."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])
RULES: dict[Any, Any] = {}
"""By function, of numpy's or ours: the op that it is, or ``rule(f, *arguments, **options)``."""


def in_one_step(function: F) -> F:
    """Let an array that traces what is done with it take a function as one step, as it takes numpy's own functions."""

    @wraps(function)
    def called(*arguments: Any, **options: Any) -> Any:
        for x in arguments:
            if hasattr(x, "in_one_step"):
                return x.in_one_step(called, arguments, options)
        return function(*arguments, **options)

    return called  # type: ignore[return-value]


def rule_for(*functions: Any) -> Callable[[F], F]:
    """Enter the rule of functions for arrays that are traced."""

    def entered(rule: F) -> F:
        RULES.update(dict.fromkeys(functions, rule))
        return rule

    return entered
