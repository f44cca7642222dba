"""``explain`` and ``check``, and what they return with the ways to show it; docs/interface.md lists all that is public.

The work is done in ``explaining`` and ``checking``, the showing in ``render``: each is loaded when it is used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gradcli.checked import Checked
from gradcli.errors import Budget
from gradcli.evaluation import Function
from gradcli.explained import Explained
from gradcli.readings import stand

if TYPE_CHECKING:
    from gradcli.checking.expected import Expected


@dataclass(frozen=True, slots=True)
class Explanation(Explained):
    """What ``explain`` returns: every number and formula of the answer, and the ways to show them.

    ``print`` and ``str`` give lines of ``name = value`` with all digits; ``rich.print`` and notebooks give tables.

    >>> found = explain("x**2", x=3)
    >>> print(found)
    program: x**2
    x = 3
    y = 9
    dy/dx: 1 by 1, dense, 1 entries
    dy/dx = 2*x = 6
    v = 1
    v.J x = 6
    x.grad = 6
    agree = yes
    note: x is given in integers, read as floats; torch.tensor([1, 2]) has no gradient.
    """

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document, schema 1, which ``gradcli schema`` describes."""
        from gradcli.render.document import document  # noqa: PLC0415

        return document(self)

    def __rich__(self) -> Any:
        from gradcli.render.tables import Layout, tables  # noqa: PLC0415

        return tables(self, Layout())

    def _repr_html_(self) -> str:
        from gradcli.render.console import html  # noqa: PLC0415

        return html(self)

    def __str__(self) -> str:
        from gradcli.render.plain import plain  # noqa: PLC0415

        return plain(self)


@dataclass(frozen=True, slots=True)
class Check(Checked):
    """What ``check`` returns: how far each route is right, and the ways to show it."""

    def __str__(self) -> str:
        from gradcli.render.verdict import verdict  # noqa: PLC0415

        return verdict(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON document, schema 1, which ``gradcli schema`` describes."""
        from gradcli.render.verdict import document  # noqa: PLC0415

        return document(self)


def explain(
    program: str,
    /,
    *,
    v: Any = None,
    calls: Sequence[Any] | None = None,
    wrt: Sequence[str] | None = None,
    strict: bool = False,
    budget: Budget | None = None,
    inputs: Mapping[str, Any] | None = None,
    **variables: Any,
) -> Explanation:
    """Explain ``y.backward(v)`` for the function that ``program`` describes.

    ``variables`` (or ``inputs``, for names that clash with a parameter) give every variable; ``wrt`` names those to
    differentiate, all by default. ``calls`` gives several v in turn, whose gradients accumulate.
    Raises ``GradcliError`` for anything that its caller can mend.
    """
    from gradcli.explaining import Ask, explain_run  # noqa: PLC0415

    values = {**(inputs or {}), **variables}
    point = stand(Function(program, wrt, budget, values), values, [v] if calls is None else list(calls), strict)
    return explain_run(point, Ask.WHERE_CHEAP, Explanation)


def check(
    program: str,
    /,
    *,
    v: Any = None,
    expect: Sequence[Expected] | str | Mapping[str, Any] = (),
    wrt: Sequence[str] | None = None,
    samples: int = 0,
    seed: int = 0,
    strict: bool = False,
    budget: Budget | None = None,
    inputs: Mapping[str, Any] | None = None,
    **variables: Any,
) -> Check:
    """Check the derivative of ``program`` at a point, and at ``samples`` random points of its domain.

    ``expect`` is a derivative written by hand: a formula, or formulas or arrays by the name of a variable. It is J, or
    with ``v`` the gradient vᵀ·J. The search of random points ends with the budget's seconds; ``Check.samples`` says how
    many were looked at. Raises ``GradcliError`` for anything that its caller can mend.
    """
    from gradcli.checking.confirm import check_function  # noqa: PLC0415

    values = {**(inputs or {}), **variables}
    return check_function(Function(program, wrt, budget, values), values, v, expect, samples, seed, strict, Check)
