"""A file of checks, TOML or NDJSON: each of its checks as a command line of ``gradcli check``, and what is said of all.

A key is an option by its name, so that a check of a file can say whatever a command line can, and no option is
described a second time. ``program``, ``inputs`` and ``name`` are those that are no options.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from gradcli import __version__
from gradcli.batch.answers import Reply, Verdict, freeze_loaded
from gradcli.batch.records import Line
from gradcli.cli.batch import MEMORY, STATUS, same_file
from gradcli.cli.checking import value_words
from gradcli.cli.options import Option, options_of, refuse_both, suffix_among, suffix_of
from gradcli.cli.output import Environment, ExitStatus, require_folder, say, write
from gradcli.cli.request import Typed, budget_from, plain_text, read_bytes
from gradcli.errors import Budget, GradcliError, Place, Span
from gradcli.errors.hints import counted, did_you_mean
from gradcli.errors.inert import inert
from gradcli.records import dataclass
from gradcli.render.data import dump, error_document

OPTIONS = options_of("check")
KEYS = {
    option.key: option
    for name, option in OPTIONS.items()
    if not option.prints and name not in ("program", "set_values")
}
"""The options that a check of a file may have, by the names of its keys."""
FLAGS = {flag for option in OPTIONS.values() for flag in option.flags}
ALL_KEYS = ("name", "program", "inputs", *KEYS)
TOML = ".toml"
MOST_CHECKS = 100_000
MOST_BYTES = {".toml": 2**22, ".ndjson": 2**26, ".jsonl": 2**26}
"""Bytes of a file by its suffix: Python reads TOML slowly, and the lines of the others one at a time."""
LONGEST_NAME = 60
TABLES = ("check", "checks")
"""What the array of tables in TOML may be called."""
EXAMPLE = 'for example: [[check]]\nprogram = "x**2"\ninputs = {x = 3}\nexpect = "2*x"'
STANDARDS = ("digits", "tolerance")
"""Keys that say how many digits what is expected must have."""
WITH_NAME = re.compile(r"([A-Za-z_]\w*\s*=\s*)?@(.+)", re.DOTALL)
"""A file that has a value, and the variable before it that it may be for."""
MOST_PARTS = 100
DEEP_KEY = re.compile(rf"""(?<![\w."'-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){{{MOST_PARTS}}}""")
"""A key of so many parts, ``a.a.a``, that Python's reader of TOML would take the square of their number for it."""
AT_LINE = re.compile(r" \(at line (\d+), column (\d+)\)$")
OF_CODE = {code: verdict for verdict, code in STATUS.items()}
REPORTS = (".xml", ".json", ".ndjson", ".jsonl", ".txt")
LONGEST_CHECK = 3600.0
"""Seconds on the wall after which a worker is taken for hung; a budget bounds what a check may cost."""
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
class ListedCheck:
    """A check of a file: its name, the line where it begins, and the words of its command line or what is wrong."""

    name: str
    line: int | None
    words: list[str]
    error: GradcliError | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """A check as it stands in the file: its keys, the line where it begins, and its part of the file from there on.

    The line is None, and the text empty, where that is not seen.
    """

    keys: Any
    line: int | None = None
    text: str = ""
    error: GradcliError | None = None


def read_checks(env: Environment, path: str, typed: Mapping[str, Any], budget: Budget) -> list[ListedCheck]:
    """Return the checks of a file; ``typed`` are the keys of those that do not have their own.

    What is wrong with one check is kept in it. Raises ``file``, ``toml`` or ``budget`` for the file as a whole.
    """
    suffix = Path(path).suffix.lower()
    data = read_bytes(env, path, "PROGRAM")
    if len(data) > MOST_BYTES[suffix]:
        hint = "make it several files" if suffix != TOML else "make it several files, or .ndjson"
        raise GradcliError("budget", f"{path} is larger than {MOST_BYTES[suffix] // 2**20} MiB", hint=hint)
    try:
        text = plain_text(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise GradcliError("file", f"PROGRAM: {path} is not a text file") from None
    defaults, written = read_toml(text, path) if suffix == TOML else ({}, list(read_lines(text, path, budget)))
    if not written:
        raise GradcliError("checks", f"{path} has no checks", hint=EXAMPLE if suffix == TOML else None)
    if len(written) > MOST_CHECKS:
        raise GradcliError("budget", f"{path} has more than {MOST_CHECKS:,} checks", hint="make it several files")
    reader = Reader(path, over(defaults, typed))
    return [reader.listed(one, number) for number, one in enumerate(written, 1)]


def read_toml(text: str, path: str) -> tuple[dict[str, Any], list[Written]]:
    """Return the keys before the first check, which all checks share, and the checks of a TOML file."""
    import tomllib

    if DEEP_KEY.search(text):
        raise GradcliError("budget", f"{path}: a key has more than {MOST_PARTS} parts")
    try:
        document = tomllib.loads(text, parse_float=Decimal)  # which keeps the digits that were typed
    except tomllib.TOMLDecodeError as error:
        message = str(error)
        at = AT_LINE.search(message)
        what = message[: at.start()] if at else message.removesuffix(" (at end of document)")
        wrong = GradcliError("toml", f"{path} is not TOML: {what[:1].lower()}{what[1:]}")
        if at is not None:
            line, column = int(at[1]), int(at[2])
            wrong.at((column - 1, column), Place(text.split("\n")[line - 1], f"{path}:{line}"))
        raise wrong from None
    except RecursionError:
        raise GradcliError("budget", f"{path}: brackets are nested too deeply") from None
    table = next((name for name in TABLES if name in document), None)
    listed = document.pop(table) if table else []
    for key in document:
        if key not in KEYS and key != "inputs":
            hint = did_you_mean(key, (*TABLES[:1], *KEYS)) or "each check begins with a line [[check]]"
            unknown = GradcliError("checks", f"a file of checks has no key '{key[:40]}'", hint=hint)
            raise unknown.at(*place_of(key, text, path, 1))
    if not isinstance(listed, list):
        raise GradcliError("checks", f"{path}: {table} is not an array of tables", hint=EXAMPLE)
    parts = re.split(rf"(?m)^(?=[ \t]*\[\[[ \t]*{table}[ \t]*\]\])", text)
    if len(parts) != 1 + len(listed):  # they stand in an array, or a text of several lines has such a line as well
        return document, [Written(one) for one in listed]
    lines = itertools.accumulate((part.count("\n") for part in parts), initial=1)
    return document, [
        Written(one, line, part) for one, line, part in zip(listed, [*lines][1:-1], parts[1:], strict=True)
    ]


def read_lines(text: str, path: str, budget: Budget) -> Iterator[Written]:
    """Yield the checks of an NDJSON file, one from each line that is not blank."""
    from gradcli.batch.records import read_object

    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield Written(read_object(line.encode(), budget), number, line)
            except GradcliError as error:
                error.place = Place(line, f"{path}:{number}")
                yield Written({}, number, error=error)


def place_of(key: str, text: str, path: str, first: int) -> tuple[Span | None, Place | None]:
    """Return where a key stands in a text whose ``first`` line has that number; None for both where it is not seen."""
    match = re.search(rf"(?m)(?:^|[{{,])[ \t]*\"?({re.escape(key)})\"?[ \t]*[=.:\]]", text)
    if match is None:
        return None, None
    start = text.rfind("\n", 0, match.start(1)) + 1
    line = text[start:].partition("\n")[0]
    span = match.start(1) - start, match.end(1) - start
    return span, Place(line, f"{path}:{first + text.count(chr(10), 0, start)}")


@dataclass(frozen=True, slots=True)
class Reader:
    """What turns the keys of a check into words; ``defaults`` are the keys of checks that do not have their own."""

    path: str
    defaults: Mapping[str, Any]

    def listed(self, written: Written, number: int) -> ListedCheck:
        """Return a check with its words, or with what is wrong with it."""
        name, error, words = name_of(written.keys, number), written.error, []
        if error is None:
            try:
                words = self.words(written)
            except GradcliError as wrong:
                error = wrong
            except RecursionError:
                error = GradcliError("budget", "brackets are nested too deeply")
        return ListedCheck(name, written.line, words, error)

    def words(self, written: Written) -> list[str]:
        """Return the words of a check; raises ``checks`` for a key that there is not, or a value of no use to it."""
        keys = written.keys
        if not isinstance(keys, dict):
            raise GradcliError("checks", "a check is a table", hint=EXAMPLE)
        for key in keys:
            if key not in ALL_KEYS:
                hint = did_you_mean(key, ALL_KEYS) or f"it may have {', '.join(ALL_KEYS)}"
                raise self.wrong(written, key, f"a check has no key '{key[:40]}'", hint)
        asked = over(self.defaults, keys)
        if not ("expect" in asked or "file" in asked or suffix_of(str(asked.get("program")))):
            # A formula has nothing expected that could have digits.
            asked = {key: value for key, value in asked.items() if key in keys or key not in STANDARDS}
        shared, inputs = self.defaults.get("inputs"), keys.get("inputs")
        if isinstance(shared, dict) and isinstance(inputs, dict):
            asked["inputs"] = {**shared, **inputs}
        words: list[str] = []
        for key, value in sorted(asked.items(), key=lambda item: item[0] != "inputs"):
            try:
                words += self.words_of(key, value)
            except GradcliError as error:
                raise self.wrong(written, key, error.message, error.hint) from None
        program = asked.get("program")
        if "file" in asked and program is None:
            return words
        if not isinstance(program, str) or not program.strip() or program == "-":
            what = "the program is missing" if program is None else "program must be a formula, or the name of a file"
            hint = 'for example program = "x**2", or program = "net.py"'
            raise self.wrong(written, "program", what, hint)
        return [*words, "--", self.beside(program) if suffix_of(program) else program]

    def wrong(self, written: Written, key: str, message: str, hint: str | None) -> GradcliError:
        """Return the error for a key of a check, with its place in the file where that is seen."""
        error = GradcliError("checks", message, hint=hint)
        return error if written.line is None else error.at(*place_of(key, written.text, self.path, written.line))

    def words_of(self, key: str, value: Any) -> list[str]:
        """Return the words of one key, none for those that are no options; raises ``checks`` without a place."""
        if key == "inputs":
            if not isinstance(value, dict):
                raise GradcliError("checks", "inputs is a table of values", hint="for example inputs = {x = [1, 2]}")
            return [word for name, one in value.items() for word in self.values("--set", name, one)]
        return self.option(KEYS[key], key, value) if key in KEYS else []

    def option(self, option: Option, key: str, value: Any) -> list[str]:
        """Return the words of an option."""
        flag, repeats = option.flags[0], option.kind is list
        if option.kind is bool:
            if not isinstance(value, bool):
                raise GradcliError("checks", f"{key} must be true or false")
            return [flag] if value else []
        if key == "file":
            return [flag, self.beside(text_of(value, key))]
        if isinstance(value, dict):
            if not repeats:
                raise GradcliError("checks", f"{key} is one value, and no table")
            return [word for name, one in value.items() for word in self.values(flag, name, one)]
        if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
            return [word for one in value for word in (flag, self.read(one))] if repeats else [flag, ",".join(value)]
        return [flag, self.read(text_of(value, key))]

    def values(self, flag: str, name: str, value: Any) -> list[str]:
        """Return the words of ``NAME=VALUE``, once for each text of a list: one for each point."""
        several = isinstance(value, list) and value and all(isinstance(one, str) for one in value)
        texts = [text_of(one, name) for one in (value if several else [value])]
        return [word for text in texts for word in (flag, f"{name}={self.read(text)}")]

    def read(self, text: str) -> str:
        """Return the text of a value, in which the name of a file is one beside the file of checks."""
        if text.strip() == "-":
            raise GradcliError("checks", "a check of a file reads no standard input", hint="name a file: @x.npy")
        file = WITH_NAME.fullmatch(text)
        return text if file is None else f"{file[1] or ''}@{self.beside(file[2])}"

    def beside(self, name: str) -> str:
        """Return the name of a file as it is found from here, which the checks name from their own folder."""
        name = name.removeprefix("@")
        return name if name.startswith("~") else str(Path(self.path).parent / name)


def over(shared: Mapping[str, Any], keys: Mapping[str, Any]) -> dict[str, Any]:
    """Return keys beside those that are shared, of which they replace any that say the same."""
    same = STANDARDS if keys.keys() & set(STANDARDS) else ()
    return {**{key: value for key, value in shared.items() if key not in same}, **keys}


def name_of(keys: Any, number: int) -> str:
    """Return what a check is called: its name, a program that is short, or its number."""
    name, program = (keys.get("name"), keys.get("program")) if isinstance(keys, dict) else (None, None)
    if isinstance(name, str) and name.strip():
        return " ".join(name.split())
    short = isinstance(program, str) and 0 < len(program.strip()) <= LONGEST_NAME and "\n" not in program.strip()
    return str(program).strip() if short else f"check {number}"


def text_of(value: Any, name: str) -> str:
    """Return a value of TOML or JSON as it is typed on a command line; raises ``checks`` for what is no value there."""
    if isinstance(value, str):
        return value
    if is_row(value):
        return ",".join(map(str, value)) + ("," if len(value) == 1 else "")
    if isinstance(value, list) and len(value) > 1 and all(map(is_row, value)):
        return ";".join(",".join(map(str, row)) for row in value)
    return nested_text(value, name)


def nested_text(value: Any, name: str) -> str:
    """Return a number, or nested arrays of numbers, as JSON."""
    if is_number(value):
        return str(value)
    if isinstance(value, list):
        return f"[{', '.join(nested_text(one, name) for one in value)}]"
    raise GradcliError("checks", f"{name} must be a number, an array of numbers or a text")


def is_row(value: Any) -> bool:
    """Return whether a value is an array of numbers alone."""
    return isinstance(value, list) and len(value) > 0 and all(map(is_number, value))


def is_number(value: Any) -> bool:
    """Return whether a value of TOML or JSON is a number."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


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

    def lines(self, env: Environment, path: str) -> list[str]:
        """Return what is printed of a check: its line, and below it how to see what is not right.

        A command keeps the lines of its program as they are, so that it can be pasted.
        """
        error = self.document["error"]
        first, *rest = self.sentences if self.verdict is not Verdict.AGREE else ["; ".join(self.sentences)]
        place = f" ({Path(path).name}, line {self.check.line})" if error and self.check.line else ""
        if error:
            rest = self.diagnostic.split("\n")[1 + str(error["message"]).count("\n") :]
        elif self.reproduce:
            rest = [*rest, self.reproduce]
        lines = [f"{self.word:<5}  {self.check.name}: {first}{place}", *(f"       {line}" for line in rest)]
        return [inert(line, "\n\t", env.encoding(env.stdout)) for line in lines]


def last_line(counts: Counter[Verdict]) -> str:
    """Return how many checks there were, and how many by verdict."""
    words = by_word(counts).items()
    parts = [counted(count, word) if word == "error" else f"{count:,} {word}" for word, count in words if count]
    return f"{counted(counts.total(), 'check')}: {', '.join(parts)}"


def by_word(counts: Counter[Verdict]) -> dict[str, int]:
    """Return how many checks there are of each verdict."""
    sums = dict.fromkeys(WORDS.values(), 0)
    for verdict, count in counts.items():
        sums[WORDS[verdict]] += count
    return sums


def document_of(counts: Counter[Verdict], answers: Sequence[Answered]) -> dict[str, Any]:
    """Return the JSON document of all checks."""
    words = {word.replace(" ", "-"): count for word, count in by_word(counts).items()}
    return {
        "schema": 1,
        "version": __version__,
        "checks": [one.to_dict() for one in answers],
        "counts": {"checks": counts.total(), **words},
        "verdict": WORDS[max(counts)].replace(" ", "-"),
        "error": None,
    }


def report_text(env: Environment, suffix: str, path: str, counts: Counter[Verdict], answers: Sequence[Answered]) -> str:
    """Return the report by the suffix of its file."""
    if suffix == ".xml":
        return junit(path, answers)
    if suffix == ".txt":
        return "\n".join([*(line for one in answers for line in one.lines(env, path)), last_line(counts)])
    if suffix == ".json":
        return dump(document_of(counts, answers))
    return "\n".join(dump(one.to_dict()) for one in answers)


def junit(path: str, answers: Sequence[Answered]) -> str:
    """Return a suite with a case for each check.

    A verdict other than right is a failure whose type is the verdict. A check that has no answer is an error whose type
    is the kind of the error. No time is said: the report of a check stays the same.
    """
    from xml.etree import ElementTree as ET  # few answers are a report

    errors = sum(one.word == "error" for one in answers)
    failures = sum(one.word != "right" for one in answers) - errors
    counts = {"tests": str(len(answers)), "failures": str(failures), "errors": str(errors)}
    suites = ET.Element("testsuites", counts)
    suite = ET.SubElement(suites, "testsuite", {"name": xml_text(Path(path).name), **counts, "skipped": "0"})
    for one in answers:
        names = {"classname": xml_text(Path(path).stem), "name": xml_text(one.check.name)}
        case = ET.SubElement(suite, "testcase", names)
        if one.word != "right":
            tag, kind, text = reason(one)
            about = {"type": xml_text(kind), "message": xml_text("; ".join(one.sentences))}
            ET.SubElement(case, tag, about).text = xml_text(text)
    ET.indent(suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(suites, encoding="unicode")}\n'


def reason(one: Answered) -> tuple[str, str, str]:
    """Return whether a check fails or has an error, its kind, and the sentence with what shows it again."""
    error = one.document["error"]
    failed = one.word != "error"
    kind = one.word.replace(" ", "-") if failed or error is None else error["kind"]
    lines = [one.document["sentence"]] if error is None else one.diagnostic.split("\n")
    lines += [note["message"] for note in one.document.get("notes", ())]
    text = "\n".join([*lines, *([one.reproduce] if one.reproduce else [])])
    return "failure" if failed else "error", kind, text


def xml_text(words: str) -> str:
    """Return words without the characters that XML has no way to write."""
    return inert(words, "\n\t", "utf-8")


@dataclass(frozen=True, slots=True)
class Checks:
    """The task of answering command lines of ``gradcli check``, each a line with its words in JSON."""

    run: Callable[[Sequence[str], Environment], int]
    debug: bool

    def answering(self) -> Callable[[Line], Reply]:
        """Load what an answer needs, and return what replies to a line."""
        import gradcli.checking.check  # noqa: F401

        return self.reply

    def reply(self, line: Line) -> Reply:
        """Return the document of a check with what standard error says of it."""
        words = json.loads(line.text or b"[]")
        env = Environment(io.StringIO(), io.StringIO(), io.StringIO(), {})
        code = self.run(["check", "--json", *(["--debug"] if self.debug else []), *words], env)
        if code == ExitStatus.INTERRUPTED:
            raise KeyboardInterrupt
        document, said = env.stdout.getvalue(), env.stderr.getvalue()  # type: ignore[attr-defined]
        return Reply(json.dumps([json.loads(document), said]).encode(), OF_CODE[ExitStatus(code)])

    def lost(self, line: Line, error: GradcliError) -> Reply:
        """Return the reply to a check whose worker has ended."""
        del line
        ended = GradcliError("worker", "the worker process ended with this check in hand", hint=error.hint)
        return Reply(json.dumps([error_document(ended), ended.diagnostic()]).encode(), Verdict.REFUSED)


def answer_all(env: Environment, typed: Typed, path: str) -> ExitStatus:
    """Answer the checks of a file, and return the exit code of the worst answer."""
    output, jobs, quiet = typed["output"], typed["jobs"], typed["quiet"]
    as_json = typed["json"] or typed["format"] == "json"
    refuse_both(("a file of checks", path == typed["program"]), ("-f FILE", typed["file"]))
    report = report_suffix(output, path, as_json or typed["format"] is not None)
    require_folder(output)
    checks = read_checks(env, path, typed_keys(typed), budget_from(typed["budget"]))
    if env.run is None:
        raise GradcliError("usage", "a file of checks is read from the command line alone")
    counts: Counter[Verdict] = Counter()
    answers = []
    for one in answers_of(checks, Checks(env.run, typed["debug"]), jobs):
        counts[one.verdict] += 1
        if as_json or report:
            answers.append(one)
        if not quiet and not as_json:
            first, *rest = one.lines(env, path)
            say(env, first)
            for line in rest:  # a command that is broken between words cannot be pasted
                write(env, line)
    if report:
        write(env, report_text(env, report, path, counts, answers), output)
    if not quiet:
        write(env, dump(document_of(counts, answers)) if as_json else last_line(counts))
    return STATUS[max(counts)]


def report_suffix(output: str | None, path: str, formatted: bool) -> str:
    """Return the suffix of the report, empty for none; raises ``option`` and ``file``."""
    if output is None or (output == "-" and formatted):
        return ""
    suffix = suffix_among(REPORTS, output)
    if Path(output).resolve() == Path(path).resolve():
        raise same_file(output)
    return suffix


def typed_keys(typed: Typed) -> dict[str, Any]:
    """Return what was typed beside the file, as keys of every check; raises ``option`` for what a check has itself."""
    keys = {}
    for name, option in OPTIONS.items():
        value = typed[name]
        if name in ("program", "file") or option.prints or not value or value == option.default:
            continue
        if option.alone:
            message = f"{option.flags[0]} is for one check, and not for a file of checks"
            raise GradcliError("option", message, hint="write it into the file")
        keys[option.key] = list(value) if isinstance(value, tuple) else value
    return keys


def answers_of(checks: Sequence[ListedCheck], task: Checks, jobs: int) -> Iterator[Answered]:
    """Yield each check with its answer, in the order of the file."""
    replies = replies_to([json.dumps(one.words).encode() for one in checks if one.error is None], task, jobs)
    for check in checks:
        if check.error is not None:
            yield Answered(check, Verdict.REFUSED, error_document(check.error), check.error.diagnostic(), "")
            continue
        reply = next(replies)
        document, said = json.loads(reply.text)
        yield Answered(check, reply.verdict, document, said.strip(), command_of(check.words))


def replies_to(lines: Sequence[bytes], task: Checks, jobs: int) -> Iterator[Reply]:
    """Yield the reply to the words of each check: from this process, or from workers."""
    if jobs == 1:
        reply = task.answering() if lines else task.reply
        freeze_loaded()
        yield from (reply(Line(number, line, len(line))) for number, line in enumerate(lines, 1))
        return
    from gradcli.batch.pool import Feed, Limits, Pool

    stream = io.BytesIO(b"".join(line + b"\n" for line in lines))
    limits = Limits(LONGEST_CHECK, MEMORY)
    with Pool(min(jobs, max(len(lines), 1)), task, limits) as pool, contextlib.closing(Feed(stream.read)) as feed:
        yield from (reply for _, reply in pool.replies(feed))


def command_of(words: Sequence[str]) -> str:
    """Return the command line of a check as it is typed: the program first, and each variable by its name."""
    options, program = (words[:-2], [words[-1]]) if words[-2:-1] == ["--"] else (words, [])
    typed: list[str] = []
    rest = iter(options)
    for word in rest:
        name, _, text = next(rest).partition("=") if word == "--set" else (word, "", "")
        typed += value_words(name, text, FLAGS) if word == "--set" else [word]
    return shlex.join(["gradcli", "check", *program, *typed])
