"""Answers to records: the document that is printed for one, errors included, and how good it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum, unique
from functools import lru_cache
from typing import Any

import numpy as np

from gradcli.batch.memory import Memory, Recent
from gradcli.batch.records import Record, Wanted, fields_of, known_id, record_of
from gradcli.errors import Budget, GradcliError
from gradcli.errors.facts import WAYS, Facts, MisshapenV, MissingInputs, MissingV, NoValue, hint_of
from gradcli.explanation.evaluation import Function
from gradcli.explanation.readings import (
    Point,
    call_backward,
    compose_at,
    gather_gradient,
    read_gradient,
    read_jacobians,
    stand,
)
from gradcli.render.data import document, error_document, gradient_document, inputs_document, numbers_document

MOST_PROGRAMS, HEAVIEST = 1024, 2**22
"""Checked programs that are kept, and the characters of all together."""


@unique
class Verdict(IntEnum):
    """How good an answer is; the larger, the worse."""

    AGREE = 0
    NOT_FINITE = 1
    UNCLEAR = 2
    DISAGREE = 3
    REFUSED = 4
    FAILED = 5


@dataclass(frozen=True, slots=True)
class Answer:
    """The document for one record, and how good it is."""

    document: dict[str, Any]
    verdict: Verdict


class Answers:
    """Answers records in turn, and reuses what does not depend on the point: checked programs, and formulas."""

    def __init__(self, asked: Wanted) -> None:
        self.asked = asked
        self._programs: Recent[Function] = Recent(MOST_PROGRAMS, HEAVIEST)
        self._memory = Memory()

    def of(self, given: Mapping[str, object]) -> Answer:
        """Return the answer to a record; whatever is wrong with it is said in the document, and nothing is raised."""
        try:
            record = record_of(given, self.asked.budget)
            found, verdict = self._answered(record)
        except Exception as error:
            if self.asked.debug and not isinstance(error, GradcliError | MemoryError):
                raise
            return failure(error, known_id(given))
        return Answer(with_id(found, record.id), verdict)

    def _answered(self, record: Record) -> tuple[dict[str, Any], Verdict]:
        asked = self.asked
        strict = asked.strict or record.strict
        point = stand(self._function(record), record.inputs, record.calls, strict, record=not asked.reverse_alone)
        if asked.reverse_alone:
            return reverse_alone(point, asked)
        if asked.only is not None and asked.numbers_do:
            return by_numbers(point, asked.only)
        from gradcli.explanation.explained import Explained
        from gradcli.explanation.explaining import Ask, explain_run

        found = explain_run(point, Ask.WHERE_DOUBTFUL, Explained, self._memory.derive)
        verdict = verdict_of(found.agreement.verdict, found.agreement.finite)
        full = document(found, only=asked.only)
        return (full if asked.only is None else partial(full, asked.only, BOTH)), verdict

    def _function(self, record: Record) -> Function:
        key = (record.program, record.wrt, frozenset(record.inputs))
        found = self._programs.get(key)
        if found is None:
            found = Function(record.program, record.wrt, self.asked.budget, record.inputs)
            self._programs.keep(key, found, len(record.program))
        return found


BOTH, ONE = ["symbols", "reverse mode"], ["reverse mode"]
ALWAYS = {"schema", "version", "routes", "agreement", "error"}
"""Fields of every answer that is not whole, beside those that were chosen."""


def reverse_alone(point: Point, asked: Wanted) -> tuple[dict[str, Any], Verdict]:
    """Return the answer of reverse mode, and whether it is finite: there is nothing to hold it against."""
    found = read_gradient(point)
    finite = bool(np.isfinite(found.output).all() and all(np.isfinite(g).all() for g in found.grad.values()))
    full = gradient_document(found)
    full["agreement"] = None
    if asked.only is None:
        return partial(full, frozenset(full), ONE), verdict_of("agree", finite)
    if "inputs" in asked.only:
        full["inputs"] = inputs_document(point.inputs, point.names)
    return partial(full, asked.only, ONE), verdict_of("agree", finite)


def by_numbers(point: Point, only: frozenset[str]) -> tuple[dict[str, Any], Verdict]:
    """Return the answer of both routes without a formula."""
    from gradcli.explanation.agreement import compare

    jacobians = read_jacobians(point, compose_at(point.run, point.function))
    backward = call_backward(point, jacobians)
    agreement = compare(jacobians, backward, point.value).alone
    full = gradient_document(gather_gradient(point, backward[-1].accumulated)) | numbers_document(backward, agreement)
    if "inputs" in only:
        full["inputs"] = inputs_document(point.inputs, point.names)
    return partial(full, only, BOTH), verdict_of(agreement.verdict, agreement.finite)


def partial(full: Mapping[str, object], only: frozenset[str], routes: list[str]) -> dict[str, Any]:
    """Return the chosen fields of a document, and which routes gave them."""
    kept = {key: value for key, value in full.items() if key in only or key in ALWAYS}
    error = kept.pop("error")
    return {**kept, "routes": routes, "error": error}


def with_id(found: dict[str, Any], known: object) -> dict[str, Any]:
    """Return a document with the id of its record, in front."""
    return {"schema": found.pop("schema"), "version": found.pop("version"), "id": known, **found}


def verdict_of(verdict: str, finite: bool) -> Verdict:
    """Return how good numbers are."""
    if verdict == "agree":
        return Verdict.AGREE if finite else Verdict.NOT_FINITE
    return Verdict.UNCLEAR if verdict == "unclear" else Verdict.DISAGREE


def failure(error: Exception, known: object = None) -> Answer:
    """Return the answer to a record that has none: what is wrong with it, or that gradcli has failed."""
    if isinstance(error, GradcliError):
        return refused(error.worded(record_hint), known)
    if isinstance(error, MemoryError):
        return refused(GradcliError("budget", "there is not enough memory for this", hint="make it smaller"), known)
    message = f"sorry, gradcli failed on this record ({type(error).__name__})"
    internal = GradcliError("internal", message, hint="please report the record; --debug shows where it failed")
    return Answer(refused(internal, known).document, Verdict.FAILED)


def refused(error: GradcliError, known: object) -> Answer:
    """Return an error as an answer."""
    return Answer(with_id(error_document(error), known), Verdict.REFUSED)


def in_record(name: str, value: str | None) -> str:
    """Return how a record gives an input."""
    return f'"{name}"' if value is None else f'"{name}": {value or "..."} in "inputs"'


def record_hint(facts: Facts) -> str:
    """Return what to do about an error for one who writes records, and not options."""
    match facts:
        case MissingV() | MisshapenV(lenient=False):
            return '"v" is an array in the shape of y: ones give the gradient of the sum'
        case MissingInputs(function=None, near=None):
            return 'give its value in "inputs"'
        case NoValue(path):
            return WAYS if path is None else "a record names no file: write the numbers themselves"
        case _:
            return hint_of(facts, in_record)


def answer(
    record: Mapping[str, object],
    *,
    symbolic: bool = True,
    only: Iterable[str] | None = None,
    budget: Budget | None = None,
) -> dict[str, Any]:
    """Return the document that ``gradcli batch`` prints for a record.

    - ``record``: a dictionary with ``program``, and where they are needed ``inputs``, ``v`` or ``calls``, ``wrt``,
      ``strict`` and ``id``, as docs/batch.md has them.
    - ``symbolic``: False leaves the symbolic route out.
    - ``only``: the fields to compute, all by default.
    - ``budget``: what one answer may cost.

    An error is a document too, and never raised: ``error`` is None in an answer. What does not depend on the point is
    reused by the next record of this process. Raises ``option`` for fields that there are not.

    >>> gradcli.answer({"id": 7, "program": "x**2", "inputs": {"x": 3}}, only=["grad"])["grad"]
    {'x': 6.0}
    """
    return _answers(Wanted(symbolic, fields_of(only, symbolic), budget=budget or Budget())).of(record).document


@lru_cache(maxsize=8)
def _answers(asked: Wanted) -> Answers:
    return Answers(asked)
