"""Answers to records: documents, and the lines that they are printed in; what one answer keeps for the next."""

from __future__ import annotations

import gc
import json
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum, unique
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from gradcli.batch.records import LONGEST_LINE, Line, Record, Wanted, fields_of, known_id, read_object, record_of
from gradcli.errors import Budget, GradcliError, Place
from gradcli.errors.hints import WAYS, Facts, MisshapenV, MissingInputs, MissingV, NoValue, hint_of
from gradcli.explanation.evaluation import Function, Run, gather_gradient, read_gradient, stand
from gradcli.explanation.jacobians import call_backward, compare, read_jacobians
from gradcli.render.data import document, error_document, gradient_document, inputs_document, numbers_document

if TYPE_CHECKING:
    from gradcli.formulas.derivation import Formulas
    from gradcli.jacobian.composition import Composition


T = TypeVar("T")


class Recent(Generic[T]):
    """Values by key, at most ``most`` of them and together no heavier than ``heaviest``.

    A value that is heavier than that by itself is not kept.
    """

    def __init__(self, most: int, heaviest: int) -> None:
        self.most = most
        self.heaviest = heaviest
        self.weight = 0
        self._kept: OrderedDict[Hashable, tuple[T, int]] = OrderedDict()
        self._latest: tuple[T, int] | None = None

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Hashable) -> T | None:
        """Return the value of a key, which makes it the last one used; None where it is not kept."""
        entry = self._kept.get(key)
        if entry is None:
            return None
        if entry is not self._latest:  # to hash a long key once more takes as long as to find it
            self._kept.move_to_end(key)
            self._latest = entry
        return entry[0]

    def keep(self, key: Hashable, value: T, weight: int = 1) -> None:
        """Keep a value, and let go of the oldest where there are too many or they are too heavy."""
        if key in self._kept:
            self.weight -= self._kept.pop(key)[1]
        if weight > self.heaviest:
            return
        self._kept[key] = self._latest = (value, weight)
        self.weight += weight
        while len(self._kept) > self.most or self.weight > self.heaviest:
            self.weight -= self._kept.popitem(last=False)[1][1]


MOST_SHARED = 20_000
"""Products of entries in a composition up to which its formulas are kept: what tells runs apart grows with them."""
ENTRY = 64
"""Characters that tell one product of entries from another, roughly."""
MOST_FORMULAS, HEAVIEST_FORMULAS = 1024, 2**26
"""Sets of formulas that are kept, and the characters of all together."""


class Memory:
    """Formulas that were derived, for runs of the same program that would derive the same."""

    def __init__(self) -> None:
        self._kept: Recent[Formulas] = Recent(MOST_FORMULAS, HEAVIEST_FORMULAS)

    def __len__(self) -> int:
        return len(self._kept)

    def derive(self, run: Run, composition: Composition) -> Formulas:
        """Return the formulas of a run: those of an earlier one with the same signature, else newly derived.

        The numbers of their names are missing, or those of the earlier run: ``refreshed`` gives those of this one.
        """
        from gradcli.formulas.derivation import found_formulas, signature

        function, leaves = run.function, run.leaves
        signed = signature(run.graph, run.output, leaves, composition) if composition.work <= MOST_SHARED else None
        key: Hashable = (function.place.text, function.wrt, signed)
        earlier = None if signed is None else self._kept.get(key)
        if earlier is not None:
            return earlier
        result = found_formulas(run.graph, run.output, leaves, composition)
        if signed is not None:
            self._kept.keep(key, result, ENTRY * composition.work + count_characters(result))
        return result


def count_characters(formulas: Formulas) -> int:
    """Return how many characters all formulas have together."""
    rules = [[rule.text for rule in rules] for rules in formulas.rules.values()]
    lists = [formulas.output or [], *formulas.jacobians.values(), *rules]
    return sum(map(len, formulas.definitions.values())) + sum(len(text) for texts in lists for text in texts)


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

    def of(self, entries: Mapping[str, object]) -> Answer:
        """Return the answer to a record; whatever is wrong with it is said in the document, and nothing is raised."""
        try:
            record = record_of(entries, self.asked.budget)
            fields, verdict = self._answered(record)
        except Exception as error:
            if self.asked.debug and not isinstance(error, GradcliError | MemoryError):
                raise
            return failure(error, known_id(entries))
        return Answer(with_id(fields, record.id), verdict)

    def to(self, line: Line) -> Answer:
        """Return the answer to a record on a line."""
        if line.text is None:
            message = f"the line is longer than {LONGEST_LINE // 2**20} MiB"
            return failure(GradcliError("budget", message, hint="a record of that size is a call of gradcli explain"))
        try:
            entries = read_object(line.text, self.asked.budget)
        except GradcliError as error:
            error.place = Place(line.text.decode("utf-8", "replace"), f"line {line.number}")
            return failure(error)
        return self.of(entries)

    def _answered(self, record: Record) -> tuple[dict[str, Any], Verdict]:
        asked = self.asked
        strict = asked.strict or record.strict
        run = stand(self._function(record), record.inputs, record.calls, strict, record=not asked.reverse_alone)
        if asked.reverse_alone:
            return reverse_alone(run, asked)
        if asked.only is not None and asked.numbers_do:
            return by_numbers(run, asked.only)
        from gradcli.explanation.explained import Explained
        from gradcli.explanation.explaining import Ask, explain_run

        explained = explain_run(run, Ask.WHERE_DOUBTFUL, Explained, self._memory.derive)
        verdict = verdict_of(explained.agreement.verdict, explained.agreement.finite)
        full = document(explained, only=asked.only)
        return (full if asked.only is None else partial(run, full, asked.only, BOTH)), verdict

    def _function(self, record: Record) -> Function:
        key = (record.program, record.wrt, frozenset(record.inputs))
        function = self._programs.get(key)
        if function is None:
            function = Function(record.program, record.wrt, self.asked.budget, record.inputs)
            self._programs.keep(key, function, len(record.program))
        return function


BOTH, ONE = ["symbols", "reverse mode"], ["reverse mode"]
ALWAYS = {"schema", "version", "routes", "agreement", "error"}
"""Fields of every answer that is not whole, beside those that were chosen."""


def reverse_alone(run: Run, asked: Wanted) -> tuple[dict[str, Any], Verdict]:
    """Return the answer of reverse mode, and whether it is finite: there is nothing to hold it against."""
    gradient = read_gradient(run)
    full = gradient_document(gradient) | {"agreement": None}
    only = frozenset(full) if asked.only is None else asked.only
    return partial(run, full, only, ONE), verdict_of("agree", gradient.finite)


def by_numbers(run: Run, only: frozenset[str]) -> tuple[dict[str, Any], Verdict]:
    """Return the answer of both routes without a formula."""
    jacobians = read_jacobians(run, run.compose())
    backward = call_backward(run, jacobians)
    agreement = compare(jacobians, backward, run.value)
    full = gradient_document(gather_gradient(run, backward[-1].accumulated)) | numbers_document(backward, agreement)
    return partial(run, full, only, BOTH), verdict_of(agreement.verdict, agreement.finite)


def partial(run: Run, full: Mapping[str, object], only: frozenset[str], routes: list[str]) -> dict[str, Any]:
    """Return the chosen fields of a document, which may lack the inputs, and which routes gave them."""
    if "inputs" in only and "inputs" not in full:
        full = {**full, "inputs": inputs_document(run.inputs, run.names)}
    kept = {key: value for key, value in full.items() if key in only or key in ALWAYS}
    error = kept.pop("error")
    return {**kept, "routes": routes, "error": error}


def with_id(fields: dict[str, Any], identity: object) -> dict[str, Any]:
    """Return a document with the id of its record, in front."""
    return {"schema": fields.pop("schema"), "version": fields.pop("version"), "id": identity, **fields}


def verdict_of(verdict: str, finite: bool) -> Verdict:
    """Return how good numbers are."""
    if verdict == "agree":
        return Verdict.AGREE if finite else Verdict.NOT_FINITE
    return Verdict.UNCLEAR if verdict == "unclear" else Verdict.DISAGREE


def failure(error: Exception, identity: object = None) -> Answer:
    """Return the answer to a record that has none: what is wrong with it, or that gradcli has failed."""
    if isinstance(error, GradcliError):
        return refused(error.worded(record_hint), identity)
    if isinstance(error, MemoryError):
        return refused(GradcliError("budget", "there is not enough memory for this", hint="make it smaller"), identity)
    message = f"sorry, gradcli failed on this record ({type(error).__name__})"
    internal = GradcliError("internal", message, hint="please report the record; --debug shows where it failed")
    return Answer(refused(internal, identity).document, Verdict.FAILED)


def refused(error: GradcliError, identity: object) -> Answer:
    """Return an error as an answer."""
    return Answer(with_id(error_document(error), identity), Verdict.REFUSED)


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
            return hint_of(
                facts, lambda name, value: f'"{name}"' if value is None else f'"{name}": {value or "..."} in "inputs"'
            )


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


_ENCODER = json.JSONEncoder(allow_nan=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """The line that answers a line, without its newline, and how good the answer is."""

    text: bytes
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Records:
    """The task of answering records, all of them with the same parts."""

    asked: Wanted

    def answering(self) -> Callable[[Line], Reply]:
        """Load what an answer needs, as a worker does before its memory is bound, and return what replies to a line."""
        if not self.asked.reverse_alone:
            import gradcli.explanation.explaining
            import gradcli.formulas.derivation  # noqa: F401
        return self.loading()

    def loading(self) -> Callable[[Line], Reply]:
        """Return what replies to a line, and loads what an answer needs with the first.

        Nothing is raised but interrupts, and with ``debug`` faults of gradcli.
        """
        answers = Answers(self.asked)

        def reply(line: Line) -> Reply:
            try:
                return encoded(answers.to(line), line.number)
            except Exception as error:
                if self.asked.debug and not isinstance(error, MemoryError):
                    raise
                return encoded(failure(error), line.number)

        return reply

    def lost(self, line: Line, error: GradcliError) -> Reply:
        """Return the reply to a line whose worker has ended."""
        identity = None
        with suppress(GradcliError):
            identity = known_id(read_object(line.text or b"", self.asked.budget))
        return encoded(failure(error, identity), line.number)


def freeze_loaded() -> None:
    """Let the collector pass over what was loaded so far: it stays until the end, and is much more than a record."""
    gc.collect()
    gc.freeze()


def encoded(answer: Answer, number: int) -> Reply:
    """Return an answer as a line; one that is an error also says which line it answers."""
    document = answer.document
    if answer.verdict >= Verdict.REFUSED:
        document = with_line(document, number)
    return Reply(_ENCODER.encode(document).encode("ascii"), answer.verdict)


def with_line(document: dict[str, Any], number: int) -> dict[str, Any]:
    """Return an error with the number of its line, before the error itself."""
    return {**{key: value for key, value in document.items() if key != "error"}, "line": number, **document}
