"""A file of checks, TOML or NDJSON: each of its checks as a command line of ``gradcli check``.

A key is an option by its name, so that a check of a file can say whatever a command line can, and no option is
described a second time. ``program``, ``inputs`` and ``name`` are those that are no options.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradcli.cli.inputs import plain_text, read_bytes, suffix_of
from gradcli.cli.points import PRINTING
from gradcli.errors import Budget, GradcliError, Place, Span
from gradcli.errors.suggest import did_you_mean
from gradcli.records import dataclass

if TYPE_CHECKING:
    import typer

    from gradcli.cli.environment import Environment

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


@dataclass(frozen=True, slots=True)
class Key:
    """An option as a key of a check: its flag, whether it takes no value, and whether it may be given again."""

    flag: str
    switch: bool
    repeats: bool


def keys_of(command: typer._click.Command) -> dict[str, Key]:
    """Return the options that a check of a file may have, by the names of its keys."""
    return {
        parameter.opts[0].removeprefix("--"): Key(
            parameter.opts[0], bool(getattr(parameter, "is_flag", False)), bool(getattr(parameter, "multiple", False))
        )
        for parameter in command.params
        if parameter.name not in {"program", "set_values", "help", *PRINTING}
    }


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


def read_checks(
    env: Environment, path: str, keys: Mapping[str, Key], typed: Mapping[str, Any], budget: Budget
) -> list[ListedCheck]:
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
    defaults, written = read_toml(text, path, keys) if suffix == TOML else ({}, list(read_lines(text, path, budget)))
    if not written:
        raise GradcliError("checks", f"{path} has no checks", hint=EXAMPLE if suffix == TOML else None)
    if len(written) > MOST_CHECKS:
        raise GradcliError("budget", f"{path} has more than {MOST_CHECKS:,} checks", hint="make it several files")
    reader = Reader(path, keys, over(defaults, typed))
    return [reader.listed(one, number) for number, one in enumerate(written, 1)]


def read_toml(text: str, path: str, keys: Mapping[str, Key]) -> tuple[dict[str, Any], list[Written]]:
    """Return the keys before the first check, which all checks share, and the checks of a TOML file."""
    import tomllib

    if DEEP_KEY.search(text):
        raise GradcliError("budget", f"{path}: a key has more than {MOST_PARTS} parts")
    try:
        document = tomllib.loads(text, parse_float=Decimal)  # which keeps the digits that were typed
    except tomllib.TOMLDecodeError as error:
        raise not_toml(str(error), text, path) from None
    except RecursionError:
        raise GradcliError("budget", f"{path}: brackets are nested too deeply") from None
    table = next((name for name in TABLES if name in document), None)
    listed = document.pop(table) if table else []
    for key in document:
        if key not in keys and key != "inputs":
            hint = did_you_mean(key, (*TABLES[:1], *keys)) or "each check begins with a line [[check]]"
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


def not_toml(message: str, text: str, path: str) -> GradcliError:
    """Return the error for a text that is no TOML, with its place where the reader of TOML has one."""
    at = AT_LINE.search(message)
    what = message[: at.start()] if at else message.removesuffix(" (at end of document)")
    error = GradcliError("toml", f"{path} is not TOML: {what[:1].lower()}{what[1:]}")
    if at is None:
        return error
    line, column = int(at[1]), int(at[2])
    return error.at((column - 1, column), Place(text.split("\n")[line - 1], f"{path}:{line}"))


def read_lines(text: str, path: str, budget: Budget) -> Iterator[Written]:
    """Yield the checks of an NDJSON file, one from each line that is not blank."""
    from gradcli.batch.strict import read_object

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
    keys: Mapping[str, Key]
    defaults: Mapping[str, Any]

    def listed(self, written: Written, number: int) -> ListedCheck:
        """Return a check with its words, or with what is wrong with it."""
        name = name_of(written.keys, number)
        if written.error is not None:
            return ListedCheck(name, written.line, [], written.error)
        try:
            return ListedCheck(name, written.line, self.words(written))
        except GradcliError as error:
            return ListedCheck(name, written.line, [], error)
        except RecursionError:
            return ListedCheck(name, written.line, [], GradcliError("budget", "brackets are nested too deeply"))

    def words(self, written: Written) -> list[str]:
        """Return the words of a check; raises ``checks`` for a key that there is not, or a value of no use to it."""
        if not isinstance(written.keys, dict):
            raise GradcliError("checks", "a check is a table", hint=EXAMPLE)
        for key in written.keys:
            if key not in self.keys and key not in {"name", "program", "inputs"}:
                all_keys = ("name", "program", "inputs", *self.keys)
                raise self.wrong(
                    written, key, f"a check has no key '{key[:40]}'",
                    did_you_mean(key, all_keys) or f"it may have {', '.join(all_keys)}",
                )  # fmt: skip
        asked = self.asked(written.keys)
        shared, inputs = self.defaults.get("inputs"), written.keys.get("inputs")
        if isinstance(shared, dict) and isinstance(inputs, dict):
            asked["inputs"] = {**shared, **inputs}
        words: list[str] = []
        for key, value in sorted(asked.items(), key=lambda item: item[0] != "inputs"):
            try:
                words += self.words_of(key, value)
            except GradcliError as error:
                raise self.wrong(written, key, error.message, error.hint) from None
        return [*words, *self.program(written, asked)]

    def asked(self, keys: Mapping[str, Any]) -> dict[str, Any]:
        """Return the keys of a check with those of all checks: no digits where a formula has nothing expected."""
        asked = over(self.defaults, keys)
        if "expect" in asked or "file" in asked or suffix_of(str(asked.get("program"))):
            return asked
        return {key: value for key, value in asked.items() if key in keys or key not in STANDARDS}

    def words_of(self, key: str, value: Any) -> list[str]:
        """Return the words of one key, none for those that are no options; raises ``checks`` without a place."""
        if key == "inputs":
            if not isinstance(value, dict):
                raise GradcliError("checks", "inputs is a table of values", hint="for example inputs = {x = [1, 2]}")
            return [word for name, one in value.items() for word in self.values("--set", name, one)]
        return self.option(self.keys[key], key, value) if key in self.keys else []

    def wrong(self, written: Written, key: str, message: str, hint: str | None) -> GradcliError:
        """Return the error for a key of a check, with its place in the file where that is seen."""
        error = GradcliError("checks", message, hint=hint)
        return error if written.line is None else error.at(*place_of(key, written.text, self.path, written.line))

    def program(self, written: Written, asked: Mapping[str, Any]) -> list[str]:
        """Return the program as it stands last, or nothing where ``file`` names it."""
        program = asked.get("program")
        if "file" in asked and program is None:
            return []
        if not isinstance(program, str) or not program.strip() or program == "-":
            what = "the program is missing" if program is None else "program must be a formula, or the name of a file"
            hint = 'for example program = "x**2", or program = "net.py"'
            raise self.wrong(written, "program", what, hint)
        return ["--", self.beside(program) if suffix_of(program) else program]

    def option(self, key: Key, name: str, value: Any) -> list[str]:
        """Return the words of an option."""
        if key.switch:
            if not isinstance(value, bool):
                raise GradcliError("checks", f"{name} must be true or false")
            return [key.flag] if value else []
        if name == "file":
            return [key.flag, self.beside(text_of(value, name))]
        if isinstance(value, dict):
            if not key.repeats:
                raise GradcliError("checks", f"{name} is one value, and no table")
            return [word for k, one in value.items() for word in self.values(key.flag, k, one)]
        if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
            if key.repeats:
                return [word for one in value for word in (key.flag, self.read(one))]
            return [key.flag, ",".join(value)]
        return [key.flag, self.read(text_of(value, name))]

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
