"""The ``check`` command's work: its points, what is expected, the verdict, and the command that shows it again."""

from __future__ import annotations

import re
import shlex
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.checking.check import LEFT_OUT, CheckRequest, check_function, may_say_gradients
from gradcli.checking.expected import Expected, as_expected, digits_of_tolerance, only
from gradcli.cli.options import DATA, Option, options_of, refuse_both
from gradcli.cli.output import complain, require_folder, say, write
from gradcli.cli.request import (
    PICKLED,
    Request,
    Typed,
    assignment,
    file_error,
    function_of,
    key_of,
    printing,
    read_array,
    read_text,
    read_values,
    request,
)
from gradcli.errors import Budget, GradcliError, Place, Span
from gradcli.errors.hints import did_you_mean
from gradcli.errors.inert import inert
from gradcli.explanation.evaluation import Function, without_labels
from gradcli.interface import Check, claims_of
from gradcli.language.values import FILE, read_value
from gradcli.records import dataclass
from gradcli.render.data import dump

if TYPE_CHECKING:
    from gradcli.checking.claims import Claims
    from gradcli.cli.output import Environment, Printing

MOST_POINTS = 1_000
LONGEST = 400
"""Characters of a value that are typed again; a larger array is named by its file, or by the seed that chose it."""
MOST_WORK = 100_000_000
"""Work that takes minutes."""
PER_SECOND = 100_000
"""Work that any machine does in a second, beside what else it is busy with."""
BY_NAME = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)")
NUMBERS_ALONE = re.compile(r"[-+\d.eE,;\s\[\]]*\Z")
CLAIM = re.compile(r"\s*([A-Za-z_]\w*(?:\.\w+|\[[^\[\]]*\])*)\s*=(?!=)\s*(?P<right>.*)", re.DOTALL)
"""A value of a script, and what is expected by it."""
LEFT = re.compile(
    r"\s*(?:d\w*\s*/\s*d(?P<by>[A-Za-z_]\w*)|(?P<of>[A-Za-z_]\w*)\.grad|[A-Za-z_]\w*'(?:\(\w*\))?"
    r"|grad|gradient|derivative|jacobian|J|dy|df)\s*:?=(?!=)\s*"
)
"""What stands on the left of a derivative on paper."""


def answer_check(env: Environment, typed: Typed) -> Check:
    """Check what was asked for, print one line or a document, and return what was found.

    A point that fails among several is printed as a command, in a line of its own.
    """
    how = printing(typed, "check")
    require_folder(how.output)
    digits = read_standard(typed["digits"], typed["tolerance"])
    points = points_of(typed["set_values"] or [])
    asked = request(env, {**typed, "set_values": points[0]})
    samples, seed = typed["samples"], typed["seed"]
    if len(asked.calls) > 1:
        raise GradcliError("option", "check takes one --v", hint="explain shows several calls of backward")
    texts = [dict(map(assignment, point)) for point in points]
    further = [
        read_values(env, [f"{name}={text}" for name, text in point.items() if text != texts[0][name]], asked.budget,
                    asked.notes)
        for point in texts[1:]
    ]  # fmt: skip
    expect = typed["expect"] or []
    claims = claims_asked(env, asked, expect)
    if claims is None:
        function = without_labels(checked_function(asked), asked.values)
        wanted: Any = [expectation(env, asked, text, function.differentiated) for text in expect]
    else:
        function, wanted = claims.function, claims.typed
    with np.errstate(all="ignore"):  # what is expected may be beyond double precision, which numpy warns of
        question = CheckRequest(asked.calls[0], wanted, digits, claims, further, samples, seed, asked.strict)
        answer = check_function(function, asked.values, question, Check)
    again = Again(typed, asked.program, [texts[0] | point for point in texts], answer)
    command = again.command([asked.values, *further])
    answer = replace(answer, notes=[*answer.notes, *asked.notes], reproduce=command)
    write_check(env, how, answer, [command] if command and (samples or further) else [])
    if not how.quiet and answer.verdict == "unclear" and not any(note.kind == LEFT_OUT for note in answer.notes):
        complain(env, f"help: {advice(answer, asked.budget)}")
    return answer


def write_check(env: Environment, how: Printing, answer: Check, more: list[str]) -> None:
    """Write an answer in one line or a document, ``more`` lines as they stand, and the notes."""
    if how.output or (how.format == "json" and not how.quiet):
        write(env, dump(answer.to_dict()) if how.format == "json" else "\n".join([str(answer), *more]), how.output)
    elif not how.quiet:
        say(env, str(answer))
        for line in more:
            write(env, inert(line, "\n\t", env.encoding(env.stdout)))
    for note in answer.notes if not how.quiet else ():
        complain(env, f"note: {note.message}")


def advice(answer: Check, budget: Budget) -> str:
    """Return what would decide what is unclear: a budget that is enough where that is known, else ten times as much."""
    work = answer.needed or 10 * budget.work
    options = f"--budget work={work}"
    if work // PER_SECOND > budget.seconds:
        options += f" --budget seconds={work // PER_SECOND}"
    if work > MOST_WORK:
        return f"smaller shapes or fewer turns of a loop decide it; as it stands it takes {options}"
    return f"{options} {'is enough to decide it' if answer.needed else 'allows ten times as much'}"


def read_standard(digits: int | None, tolerance: float | None) -> float | None:
    """Return the digits of ``--digits``, or those that ``--tolerance`` stands for; raises ``option``."""
    refuse_both(("--digits", digits), ("--tolerance", tolerance))
    if tolerance is not None:
        return digits_of_tolerance(tolerance)
    return None if digits is None else float(digits)


def points_of(items: Sequence[str]) -> list[list[str]]:
    """Return the ``NAME=VALUE`` items of each point: the first has all, the others those that are given again.

    A variable that is given once has that value at all points. Raises ``option`` for variables that are given again
    unequally often.
    """
    by_name: dict[str, list[str]] = {}
    for item in items:
        by_name.setdefault(assignment(item)[0], []).append(item)
    several = {name: items_of for name, items_of in by_name.items() if len(items_of) > 1}
    if not several:
        return [list(items)]
    count = max(map(len, several.values()))
    uneven = next((name for name, items_of in several.items() if len(items_of) != count), None)
    if uneven is not None:
        most = next(name for name, items_of in several.items() if len(items_of) == count)
        message = f"{most} is given {count} times and {uneven} {len(several[uneven])} times"
        raise GradcliError("option", message, hint="give a variable once for all points, or once for each")
    if count > MOST_POINTS:
        raise GradcliError("option", f"{count:,} points are more than {MOST_POINTS:,}", hint="make them several checks")
    if any(assignment(item)[1] == "-" for items_of in several.values() for item in items_of):
        raise file_error("standard input is one value, and not one for each point", f"--{next(iter(several))}")
    first = [items_of[0] for items_of in by_name.values()]
    return [first, *([items_of[k] for items_of in several.values()] for k in range(1, count))]


def checked_function(asked: Request) -> Function:
    """Return the program of a request as a function; raises what a script that computes no gradient is asked for."""
    try:
        return function_of(asked)
    except GradcliError as error:
        if error.kind == "no-derivative" and may_say_gradients(asked.program, asked.script.of):
            error.message = "no gradient that the script computes was found by its name"
            error.hint = f"--expect VALUE=GRADIENT says which it is, such as --expect W=dW; or {error.hint}"
        raise


def claims_asked(env: Environment, asked: Request, texts: list[str]) -> Claims | None:
    """Return what a script says of its own gradients, where these are checked.

    Raises ``option`` where another option chooses a derivative call.
    """
    call = asked.script
    claims = claims_of(
        asked.program, asked.wrt, call.of, call.draws, lambda: expected_of_script(env, asked, texts), asked.values,
        asked.budget,
    )  # fmt: skip
    chosen = [f"--{name} {value}" for name, value in (("at", call.at), ("turn", call.turn)) if value is not None]
    if claims is None or not chosen:
        return claims
    from gradcli.explanation.scripts import derivative_calls  # a formula has none

    calls = derivative_calls(claims.program.ended)
    if calls and not texts and call.of is None:
        return None  # one of them is chosen, and no gradient of the script's own
    why = "its own gradients are what is checked" if calls else "the script makes no derivative call"
    hint = f"leave {chosen[0].split()[0]} out: a script's own gradients are those at its end"
    raise GradcliError("option", f"{chosen[0]} chooses a derivative call, and {why}", hint=hint)


def expected_of_script(env: Environment, asked: Request, texts: list[str]) -> dict[str, Any] | str:
    """Return what is expected by values of a script: expressions, and arrays of files; one text alone as it is."""
    expected: dict[str, Any] = {}
    for text in texts:
        match = CLAIM.match(text)
        if match is None and len(texts) == 1:
            return text
        if match is None:
            hint = f"--expect NAME={shlex.quote(text)}"
            raise expectation_error("--expect must say by which variable", (0, len(text)), text, hint)
        right = match["right"].strip()
        from_file = right.startswith("@") or right == "-"
        expected[match[1]] = expected_array(env, asked, match[1], right) if from_file else right
    return expected


def expectation(env: Environment, asked: Request, text: str, names: tuple[str, ...]) -> Expected:
    """Return one expected derivative from ``FORMULA``, ``@file`` or ``-``, with ``NAME=`` before it or without."""
    refuse_sides(text, names)
    match = BY_NAME.match(text)
    if match is not None and match[1] in names:
        name, body = match[1], text[match.end() :].strip()
    elif match is None or is_program(text, match):
        name, body = only(names), text.strip()
    else:
        hint = did_you_mean(match[1], names) or f"there is {', '.join(names) or 'nothing'}"
        raise expectation_error(f"'{match[1]}' is not differentiated", match.span(1), text, hint)
    if not body.startswith("@") and body != "-":
        return Expected(name, as_formula(body, asked.budget), None)
    path, key = key_of(body)
    if body != "-" and not path.lower().endswith((*DATA, *PICKLED)):
        formula = read_text(env, body[1:], "--expect")
        if not NUMBERS_ALONE.match(formula):
            return Expected(name, formula, None)
    if path.lower().endswith(".npz") and key is None:
        body = f"{body}:{name}"  # of several arrays that of the variable's name
    return expected_array(env, asked, name, body)


def expected_array(env: Environment, asked: Request, name: str, body: str) -> Expected:
    """Return the array of a file, or of standard input, that is expected by a variable."""
    array = read_array(env, body, "--expect", asked.budget, asked.notes, as_stored=True)
    return Expected(name, None, as_expected(name, array), source=body.removeprefix("@").removeprefix("-"))


def refuse_sides(text: str, names: tuple[str, ...]) -> None:
    """Raise ``option`` for a formula with its left side, for several in one text, and for a file without its @."""
    left = LEFT.match(text)
    if left is not None and text[: left.end()].partition("=")[0].strip() not in names:
        name = left["by"] or left["of"]
        lead = f"{name}=" if name in names and len(names) > 1 else ""
        hint = f"write --expect {shlex.quote(lead + text[left.end() :].strip())}"
        raise expectation_error("the right side alone is what is expected", left.span(), text, hint)
    second = re.search(r"(?<=[\w)\] ]),\s*([A-Za-z_]\w*)\s*=(?!=)", text)
    if second is not None and second[1] in names and "(" not in text:
        hint = f"write --expect {shlex.quote(text[: second.start()])} --expect {shlex.quote(text[second.start(1) :])}"
        raise expectation_error("these are several formulas", second.span(1), text, hint)
    if re.search(FILE, text) and not text.rpartition("=")[2].startswith("@"):
        raise expectation_error("this is the name of a file", (0, len(text)), text, f"write --expect @{text.strip()}")


def expectation_error(message: str, span: Span, text: str, hint: str) -> GradcliError:
    """Return the error for what ``--expect`` cannot be."""
    return GradcliError("option", message, span=span, hint=hint, place=Place(text, "--expect"))


def is_program(text: str, match: re.Match[str]) -> bool:
    """Return whether ``h = …`` begins a formula of several statements, which use h."""
    first, _, rest = text.strip().replace("\n", ";").partition(";")
    return match.end() <= len(first) and re.search(rf"\b{match[1]}\b", rest) is not None


def as_formula(text: str, budget: Budget) -> str:
    """Return what is expected as a formula: rows of numbers, ``1,2;3,4``, as lists; raises what a value raises."""
    if not (NUMBERS_ALONE.match(text) and re.search(r"[;\n]", text)):
        return text
    read_value(text, "--expect", budget)
    return text if "[" in text else "[" + ", ".join(f"[{row.strip().rstrip(',')}]" for row in text.split(";")) + "]"


@dataclass(frozen=True, slots=True)
class Again:
    """What is typed to see an answer again; ``points`` are the texts of all variables at each point.

    ``program`` is the text that was read, which stands for standard input.
    """

    typed: Typed
    program: str
    points: list[dict[str, str]]
    answer: Check

    def command(self, values_typed: Sequence[Mapping[str, Any]]) -> str:
        """Return the command that checks the failing point alone; empty where nothing is wrong.

        ``values_typed`` are the values of each point that was typed. A random point of large arrays is named by its
        seed.
        """
        from gradcli.render.checked import failing_entry

        if self.answer.verdict != "wrong":
            return ""
        worst = failing_entry(self.answer)
        if worst is None:
            return self.words(self.points[0])
        for texts, values in zip(self.points, values_typed, strict=True):
            point = {**self.answer.inputs, **values}
            if not point.keys() <= worst.point.keys():  # of a script that has values beside those it is taken by
                return self.words(self.points[0], sampling=True)
            if all(np.array_equal(worst.point[name], value) for name, value in point.items()):
                return self.words({name: restored(text, worst.point[name]) for name, text in texts.items()})
        texts = self.points[0] | {name: restored("-", worst.point[name]) for name in self.answer.differentiated}
        if "-" in texts.values() or self.answer.labels:
            return self.words(self.points[0], sampling=True)
        return self.words(texts)

    def words(self, values: Mapping[str, str], sampling: bool = False) -> str:
        """Return a command line for a shell, with values by variable, and where points are random what chooses them."""
        options = options_of("check")
        program, file = self.typed["program"], self.typed["file"]
        words: list[str] = []
        if program is not None:
            words += [self.program.strip() if program == "-" else program]
        if file is not None:
            words += [self.program.strip()] if file == "-" else ["--file", file]
        for name, text in values.items():
            words += value_words(name, text, {flag for option in options.values() for flag in option.flags})
        chosen = {name: option for name, option in options.items() if name not in ("program", "file", "set_values")}
        for random in (False, True) if sampling else (False,):
            for name, option in chosen.items():
                value = self.typed[name]
                if not option.prints and option.point is random and value and value != option.default:
                    words += option_words(option, value)
        return shlex.join(["gradcli", "check", *words])


def option_words(option: Option, value: Any) -> list[str]:
    """Return an option as words: a switch alone, one that was given again with each of its values."""
    flag = option.flags[0]
    if value is True:
        return [flag]
    return [word for one in (value if isinstance(value, list | tuple) else [value]) for word in (flag, str(one))]


def restored(text: str, value: Any) -> str:
    """Return the text of a value, which is written out where standard input had it and where it is short."""
    from gradcli.document.texts import input_text

    written = input_text(value) if text == "-" and np.size(value) < LONGEST else text
    return written if len(written) <= LONGEST else text


def value_words(name: str, text: str, flags: Container[str]) -> list[str]:
    """Return the words that give a variable a value; ``flags`` are those that are no variables."""
    return ["--set", f"{name}={text}"] if f"--{name}" in flags else [f"--{name}", text]
