"""What an answer is asked for beyond itself, computed from the run that it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from gradcli.explanation.explained import Explained, Note
from gradcli.explanation.run_lookup import RunLookup, name_values
from gradcli.explanation.views import Descent, Hessian, Remark, Rows, Tangent, Views
from gradcli.ops.signatures import Array

Kind = TypeVar("Kind", bound=Explained)
Given = Mapping[str, object]
"""u by the names of variables; ``""`` stands for the only one."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an answer is asked for: all ``rows``, J·u and H·u along ``u``, the ``hessian``, descent with ``lr``."""

    rows: bool = False
    u: Given | None = None
    hessian: bool = False
    lr: float | None = None
    iterations: int = 10

    @property
    def nothing(self) -> bool:
        """Whether it is nothing."""
        return not (self.rows or self.hessian) and self.u is None and self.lr is None


def with_views(found: Kind, wanted: Wanted) -> Kind:
    """Return an answer with what it is asked for, and what deserves a sentence about that among its notes.

    Raises ``option``, ``shape`` and ``value`` for a u that does not fit, ``second`` and ``budget``.
    """
    u, remarks = (None, []) if wanted.u is None else direction(found, wanted.u)
    views = Views(
        find_rows(found) if wanted.rows else None,
        find_tangent(found, u) if u is not None else None,
        find_hessian(found, u) if wanted.hessian else None,
        find_descent(found, wanted.lr, wanted.iterations) if wanted.lr is not None else None,
    )
    notes = [*found.notes, *(Note(*remark) for remark in [*remarks, *views.remarks])]
    return replace(found, views=views, notes=list(dict.fromkeys(notes)))


def run_of(found: Explained) -> RunLookup:
    """Return the run that an answer came from."""
    assert isinstance(found.lookup, RunLookup)  # noqa: S101
    return found.lookup


def direction(found: Explained, given: Given) -> tuple[dict[str, Array], list[Remark]]:
    """Return u by variable, in its shape, and what is to be said of it."""
    from gradcli.explanation.tangents import read_u  # noqa: PLC0415 - each view loads what fills it

    return read_u(given, {name: jacobian.input_shape for name, jacobian in found.jacobian.items()})


def find_rows(found: Explained) -> Rows:
    """Return all of J by calls of backward with one-hot v."""
    from gradcli.explanation.tangents import call_rows  # noqa: PLC0415

    run = run_of(found)
    return call_rows(run.point, run.jacobians)


def find_tangent(found: Explained, u: Mapping[str, Array]) -> Tangent:
    """Return J·u, and what both passes carry."""
    from gradcli.explanation.tangents import move  # noqa: PLC0415

    run = run_of(found)
    return move(run.point, run.jacobians, u, found.grad, name_values(run.point))


def find_hessian(found: Explained, u: Mapping[str, Array] | None) -> Hessian:
    """Return the second derivative of v·y, and its product with u where there is one."""
    from gradcli.explanation.hessians import differentiate_twice  # noqa: PLC0415

    run = run_of(found)
    told = {*found.definitions, *run.recorded.names.values(), *run.recorded.constants}
    return differentiate_twice(run.point, u, told)


def find_descent(found: Explained, lr: float, iterations: int) -> Descent:
    """Return steps of gradient descent on v·y."""
    from gradcli.explanation.descending import descend  # noqa: PLC0415

    return descend(run_of(found).point, lr, iterations)
