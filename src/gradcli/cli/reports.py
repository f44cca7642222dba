"""What is said of the answers to a file of checks: lines, one JSON document, NDJSON, and JUnit XML."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradcli.batch.answers import Verdict
from gradcli.errors.counting import counted
from gradcli.errors.inert import inert
from gradcli.records import dataclass, field
from gradcli.render.data import dump

if TYPE_CHECKING:
    from xml.etree import ElementTree as ET

    from gradcli.cli.checks import ListedCheck
    from gradcli.cli.environment import Environment

WORDS = {
    Verdict.AGREE: "right",
    Verdict.DISAGREE: "wrong",
    Verdict.UNCLEAR: "unclear",
    Verdict.NOT_FINITE: "not finite",
    Verdict.REFUSED: "error",
    Verdict.FAILED: "error",
}
"""What is said of a check, in the order in which the last line counts them."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A check of a file with its answer: the JSON document, and the diagnostic where it is an error."""

    check: ListedCheck
    verdict: Verdict
    document: dict[str, Any]
    diagnostic: str
    command: str

    @property
    def word(self) -> str:
        """The verdict in one word, or two."""
        return WORDS[self.verdict]

    @property
    def sentences(self) -> list[str]:
        """What is said with the verdict of the check, or what is wrong with it, without the verdict before it."""
        if self.document["error"] is not None:
            return [str(self.document["error"]["message"]).partition("\n")[0].rstrip(",")]
        lines = self.document["sentence"].split("\n")
        return [line.partition(": ")[2] for line in lines if line.startswith(f"{self.word}: ")] or lines

    @property
    def reproduce(self) -> str | None:
        """The command line that asks the same again, of a wrong check at its failing point; None where all is well."""
        return None if self.verdict is Verdict.AGREE else self.document.get("reproduce") or self.command or None

    def to_dict(self) -> dict[str, Any]:
        """Return the document of the check, with its name, its line in the file and its verdict."""
        head = {key: self.document[key] for key in ("schema", "version")}
        about = {"name": self.check.name, "line": self.check.line, "verdict": self.word.replace(" ", "-")}
        return {**head, **about, **self.document, **about, "reproduce": self.reproduce}


@dataclass(slots=True)
class Tally:
    """How many checks of a file came out how."""

    counts: Counter[Verdict] = field(default_factory=Counter)

    @property
    def worst(self) -> Verdict:
        """The worst verdict."""
        return max(self.counts)

    @property
    def by_word(self) -> dict[str, int]:
        """How many there are of each verdict."""
        sums = dict.fromkeys(WORDS.values(), 0)
        for verdict, count in self.counts.items():
            sums[WORDS[verdict]] += count
        return sums

    def line(self) -> str:
        """Return the last line: how many checks there were, and how many by verdict."""
        parts = [
            counted(count, word) if word == "error" else f"{count:,} {word}"
            for word, count in self.by_word.items()
            if count
        ]
        return f"{counted(self.counts.total(), 'check')}: {', '.join(parts)}"

    def document(self, answers: Sequence[Answered]) -> dict[str, Any]:
        """Return the JSON document of all checks."""
        from gradcli import __version__

        counts = {word.replace(" ", "-"): count for word, count in self.by_word.items()}
        return {
            "schema": 1,
            "version": __version__,
            "checks": [one.to_dict() for one in answers],
            "counts": {"checks": self.counts.total(), **counts},
            "verdict": WORDS[self.worst].replace(" ", "-"),
            "error": None,
        }


def lines_of(env: Environment, one: Answered, path: str) -> list[str]:
    """Return what is printed of a check: its line, and below it how to see what is not right.

    A command keeps the lines of its program as they are, so that it can be pasted.
    """
    encoding = getattr(env.stdout, "encoding", None) or "ascii"
    first, *rest = one.sentences if one.verdict is not Verdict.AGREE else ["; ".join(one.sentences)]
    place = f" ({Path(path).name}, line {one.check.line})" if one.document["error"] and one.check.line else ""
    if one.document["error"]:
        rest = one.diagnostic.split("\n")[1 + str(one.document["error"]["message"]).count("\n") :]
    elif one.reproduce:
        rest = [*rest, one.reproduce]
    lines = [f"{one.word:<5}  {one.check.name}: {first}{place}", *(f"       {line}" for line in rest)]
    return [inert(line, "\n\t", encoding) for line in lines]


def reported(env: Environment, suffix: str, path: str, tally: Tally, answers: Sequence[Answered]) -> str:
    """Return the report by the suffix of its file."""
    if suffix == ".xml":
        return junit(path, answers)
    if suffix == ".txt":
        return "\n".join([*(line for one in answers for line in lines_of(env, one, path)), tally.line()])
    if suffix == ".json":
        return dump(tally.document(answers))
    return "\n".join(dump(one.to_dict()) for one in answers)


def junit(path: str, answers: Sequence[Answered]) -> str:
    """Return a suite with a case for each check.

    A verdict other than right is a failure whose type is the verdict, also that of a script which raises. A check that
    has no answer is an error whose type is the kind of the error. No time is said: the report of a check stays the
    same.
    """
    from xml.etree import ElementTree as ET  # few answers are a report

    errors = sum(one.word == "error" for one in answers)
    failures = sum(one.word != "right" for one in answers) - errors
    counts = {"tests": str(len(answers)), "failures": str(failures), "errors": str(errors)}
    suites = ET.Element("testsuites", counts)
    suite = ET.SubElement(suites, "testsuite", {"name": text(Path(path).name), **counts, "skipped": "0"})
    for one in answers:
        case = ET.SubElement(suite, "testcase", {"classname": text(Path(path).stem), "name": text(one.check.name)})
        if one.word != "right":
            add_reason(case, one)
    ET.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'


def add_reason(case: ET.Element, one: Answered) -> None:
    """Add to a case why it is not right: the sentence, and below it the place or the command that shows it again."""
    from xml.etree import ElementTree as ET

    error = one.document["error"]
    failed = one.word != "error"
    kind = one.word.replace(" ", "-") if failed or error is None else error["kind"]
    reason = ET.SubElement(
        case, "failure" if failed else "error", {"type": text(kind), "message": text("; ".join(one.sentences))}
    )
    lines = [one.document["sentence"]] if error is None else one.diagnostic.split("\n")
    lines += [note["message"] for note in one.document.get("notes", ())]
    reason.text = text("\n".join([*lines, *([one.reproduce] if one.reproduce else [])]))


def text(words: str) -> str:
    """Return words without the characters that XML has no way to write."""
    return inert(words, "\n\t", "utf-8")
