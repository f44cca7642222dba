"""What an answer is asked for beyond itself, computed from the run that it came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from gradcli.explanation.explained import Explained, Note, Proof, View
from gradcli.explanation.run_lookup import RunLookup, name_values
from gradcli.ops.signatures import Array

if TYPE_CHECKING:
    from gradcli.explanation.views import Descent, Hessian, Rows, Tangent

Kind = TypeVar("Kind", bound=Explained)
Given = Mapping[str, object]
"""u by the names of variables; ``""`` stands for the only one."""


@dataclass(frozen=True, slots=True)
class ViewRequest:
    """What an answer is asked for.

    - ``row``, ``column``: places of rows and columns of J.
    - ``tape``, ``steps``: the recorded graph, and how each derivative is found.
    - ``rows``: all of J by calls of backward.
    - ``u``: a direction, for J·u and H·u.
    - ``hessian``: the second derivative.
    - ``lr``, ``iterations``: gradient descent, where there is a rate.
    """

    row: Sequence[str] = ()
    column: Sequence[str] = ()
    tape: bool = False
    steps: bool = False
    rows: bool = False
    u: Given | None = None
    hessian: bool = False
    lr: float | None = None
    iterations: int = 10


def with_tangents(found: Kind, program: Any) -> Kind:
    """Return the answer of a script's jvp with J·u by the tangents of the script; any other as it is."""
    call = program.calls[-1] if program.is_script and program.calls else None
    if call is None or not call.tangents:
        return found
    u = {program.identifier(label): tangent for label, tangent in zip(call.of, call.tangents, strict=False)}
    return with_views(found, ViewRequest(u={name: tangent for name, tangent in u.items() if name in found.jacobian}))


def with_views(found: Kind, wanted: ViewRequest) -> Kind:
    """Return an answer with what it is asked for, and what deserves a sentence about that among its notes.

    Raises ``option``, ``shape`` and ``value`` for a place or a u that does not fit, ``second`` and ``budget``.
    """
    u, remarks = (None, []) if wanted.u is None else direction(found, wanted.u)
    views = dict(find_views(found, wanted, u))
    passes = [Note("passes", found.passes.sentence)] if views.keys() & {"slices", "one_hot"} else []
    notes = [*found.notes, *remarks, *(note for view in views.values() for note in view.proof.remarks), *passes]
    return replace(found, views=views, notes=list(dict.fromkeys(notes)))


def find_views(found: Explained, wanted: ViewRequest, u: Mapping[str, Array] | None) -> Iterator[tuple[str, View]]:
    """Yield what is asked for by its name, in the order in which documents have it."""
    if wanted.row or wanted.column:
        from gradcli.explanation.slices import slices_at

        yield "slices", View(slices_at(found, wanted.row, wanted.column))
    if wanted.tape:
        yield "tape", View(found.tape)
    if wanted.steps:
        yield "steps", View(found.steps)
    if wanted.rows:
        yield "one_hot", View(rows := find_rows(found), rows.proof)
    if u is not None:
        yield "jvp", View(tangent := find_tangent(found, u), tangent.proof)
    if wanted.hessian:
        yield "hessian", View(hessian := find_hessian(found, u), hessian.proof)
    if wanted.lr is not None:
        descent = find_descent(found, wanted.lr, wanted.iterations)
        yield "descent", View(descent, Proof(remarks=descent.remarks))


def run_of(found: Explained) -> RunLookup:
    """Return the run that an answer came from."""
    assert isinstance(found.lookup, RunLookup)  # noqa: S101
    return found.lookup


def direction(found: Explained, given: Given) -> tuple[dict[str, Array], list[Note]]:
    """Return u by variable, in its shape, and what is to be said of it."""
    from gradcli.explanation.tangents import read_u  # each view loads what fills it

    return read_u(given, {name: jacobian.input_shape for name, jacobian in found.jacobian.items()})


def find_rows(found: Explained) -> Rows:
    """Return all of J by calls of backward with one-hot v."""
    from gradcli.explanation.tangents import call_rows

    run = run_of(found)
    return call_rows(run.point, run.jacobians)


def find_tangent(found: Explained, u: Mapping[str, Array]) -> Tangent:
    """Return J·u, and what both passes carry."""
    from gradcli.explanation.tangents import move

    run = run_of(found)
    return move(run.point, run.jacobians, u, found.grad, name_values(run.point))


def find_hessian(found: Explained, u: Mapping[str, Array] | None) -> Hessian:
    """Return the second derivative of v·y, and its product with u where there is one."""
    from gradcli.explanation.hessians import differentiate_twice

    run = run_of(found)
    told = {*found.definitions, *run.recorded.names.values(), *run.recorded.constants}
    return differentiate_twice(run.point, u, told)


def find_descent(found: Explained, lr: float, iterations: int) -> Descent:
    """Return steps of gradient descent on v·y."""
    from gradcli.explanation.descending import descend

    return descend(run_of(found).point, lr, iterations)
