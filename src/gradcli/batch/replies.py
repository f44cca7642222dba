"""From a line to the line that answers it: strict reading, the answer, JSON. What a worker does, and one job alone."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gradcli.batch.answers import Answer, Answers, Verdict, failure
from gradcli.batch.lines import LONGEST_LINE, Line
from gradcli.batch.records import Wanted, known_id
from gradcli.batch.strict import read_object
from gradcli.errors import GradcliError, Place

_ENCODER = json.JSONEncoder(allow_nan=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """The line that answers a line, without its newline, and how good the answer is."""

    text: bytes
    verdict: Verdict


class Replies:
    """Replies to lines in turn."""

    def __init__(self, asked: Wanted) -> None:
        self.asked = asked
        self.answers = Answers(asked)

    def of(self, line: Line) -> Reply:
        """Return the reply to a line; nothing is raised but interrupts, and with ``debug`` faults of gradcli."""
        try:
            return encoded(self._answer(line), line.number)
        except Exception as error:
            if self.asked.debug and not isinstance(error, MemoryError):
                raise
            return encoded(failure(error), line.number)

    def _answer(self, line: Line) -> Answer:
        if line.text is None:
            return too_long()
        try:
            given = read_object(line.text, self.asked.budget)
        except GradcliError as error:
            error.place = Place(line.text.decode("utf-8", "replace"), f"line {line.number}")
            return failure(error)
        return self.answers.of(given)


@dataclass(frozen=True, slots=True)
class Records:
    """The task of answering records, all of them with the same parts."""

    asked: Wanted

    def answering(self) -> Callable[[Line], Reply]:
        """Load what an answer needs, and return what replies to a line."""
        if not self.asked.reverse_alone:
            import gradcli.explanation.explaining
            import gradcli.formulas.derivation  # noqa: F401
        return Replies(self.asked).of

    def lost(self, line: Line, error: GradcliError) -> Reply:
        """Return the reply to a line whose worker has ended."""
        return encoded(failure(error, id_on(line, self.asked)), line.number)


def settle() -> None:
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


def too_long() -> Answer:
    """Return the answer to a line that was not held."""
    message = f"the line is longer than {LONGEST_LINE // 2**20} MiB"
    return failure(GradcliError("budget", message, hint="a record of that size is a call of gradcli explain"))


def id_on(line: Line, asked: Wanted) -> Any:
    """Return the id on a line, None where it cannot be read."""
    try:
        return known_id(read_object(line.text or b"", asked.budget))
    except GradcliError:
        return None
