"""The ``check`` command's work: what is expected, read from texts and files, and the verdict, written."""

from __future__ import annotations

import re
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradcli.checking.expected import Expected, only
from gradcli.cli.files import read_array
from gradcli.cli.inputs import read_text
from gradcli.cli.output import complain, say, write
from gradcli.cli.request import Printing, Request
from gradcli.errors import Budget, GradcliError, Place, Span
from gradcli.errors.suggest import did_you_mean
from gradcli.explanation.evaluation import Function
from gradcli.interface import Check, check
from gradcli.language.values import FILE, read_value
from gradcli.render.dump import dump

if TYPE_CHECKING:
    from gradcli.cli.environment import Environment

MOST_SAMPLES = 1_000_000
MOST_WORK = 100_000_000
"""Work that takes minutes."""
PER_SECOND = 100_000
"""Work that any machine does in a second, beside what else it is busy with."""
TABLES = (".npy", ".npz", ".json", ".csv")
"""Suffixes of files that hold numbers; any other file holds a formula, or numbers if it has nothing else."""
BY_NAME = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)")
NUMBERS_ALONE = re.compile(r"[-+\d.eE,;\s\[\]]*\Z")


def answer(env: Environment, asked: Request, expect: list[str], samples: int, seed: int, how: Printing) -> Check:
    """Check the request, print one line or a document, and return what was found."""
    if not 0 <= samples <= MOST_SAMPLES:
        raise GradcliError("option", f"--samples {samples} is not from 0 to {MOST_SAMPLES:,}")
    if not 0 <= seed < 2**63:
        raise GradcliError("option", f"--seed {seed} is not from 0 to 2**63 - 1")
    if len(asked.calls) > 1:
        raise GradcliError("option", "check takes one --v", hint="explain shows several calls of backward")
    with np.errstate(all="ignore"):  # what is expected may be beyond double precision, which numpy warns of
        found = check(
            asked.program,
            v=asked.calls[0],
            expect=expectations(env, asked, expect),
            wrt=asked.wrt,
            samples=samples,
            seed=seed,
            strict=asked.strict,
            budget=asked.budget,
            inputs=asked.values,
        )
    found = replace(found, notes=[*found.notes, *asked.notes])
    if not how.quiet or how.output:
        if how.format == "json" or how.output:
            write(env, dump(found.to_dict()) if how.format == "json" else str(found), how.output)
        else:
            say(env, str(found))
    if not how.quiet:
        for note in found.notes:
            complain(env, f"note: {note.message}")
        if found.verdict == "unclear":
            complain(env, f"help: {advice(found, asked.budget)}")
    return found


def advice(found: Check, budget: Budget) -> str:
    """Return what would decide what is unclear: a budget that is enough where that is known, else ten times as much."""
    work = found.needed or 10 * budget.work
    options = f"--budget work={work}"
    if work // PER_SECOND > budget.seconds:
        options += f" --budget seconds={work // PER_SECOND}"
    if work > MOST_WORK:
        return f"smaller shapes or fewer turns of a loop decide it; as it stands it takes {options}"
    return f"{options} {'is enough to decide it' if found.needed else 'allows ten times as much'}"


def expectations(env: Environment, asked: Request, texts: list[str]) -> list[Expected]:
    """Return what ``--expect`` says, by variable; raises ``option`` where the variable is not clear."""
    if not texts:
        return []
    function = Function(asked.program, asked.wrt, asked.budget, asked.values)
    return [expectation(env, asked, text, function.differentiated) for text in texts]


def expectation(env: Environment, asked: Request, text: str, names: tuple[str, ...]) -> Expected:
    """Return one expected derivative from ``FORMULA``, ``@file`` or ``-``, with ``NAME=`` before it or without."""
    refuse_sides(text, names)
    match = BY_NAME.match(text)
    if match is not None and match[1] in names:
        name, body = match[1], text[match.end() :].strip()
    elif match is None or is_program(text, match):
        name, body = only(names), text.strip()
    else:
        raise not_differentiated(match, names)
    if not body.startswith("@") and body != "-":
        return Expected(name, as_formula(body, asked.budget), None)
    if body != "-" and not body.lower().endswith(TABLES):
        formula = read_text(env, body[1:], "--expect")
        if not NUMBERS_ALONE.match(formula):
            return Expected(name, formula, None)
    return Expected(name, None, read_array(env, body, "--expect", asked.budget, asked.notes))


LEFT = re.compile(
    r"\s*(?:d\w*\s*/\s*d(?P<by>[A-Za-z_]\w*)|(?P<of>[A-Za-z_]\w*)\.grad|[A-Za-z_]\w*'(?:\(\w*\))?"
    r"|grad|gradient|derivative|jacobian|J|dy|df)\s*:?=(?!=)\s*"
)
"""What stands on the left of a derivative on paper."""


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


def not_differentiated(match: re.Match[str], names: tuple[str, ...]) -> GradcliError:
    """Return the error for ``NAME=FORMULA`` with a name that is no variable, or not one to differentiate by."""
    hint = did_you_mean(match[1], names) or f"there is {', '.join(names) or 'nothing'}"
    return expectation_error(f"'{match[1]}' is not differentiated", match.span(1), match.string, hint)


def as_formula(text: str, budget: Budget) -> str:
    """Return what is expected as a formula: rows of numbers, ``1,2;3,4``, as lists; raises what a value raises."""
    if not (NUMBERS_ALONE.match(text) and re.search(r"[;\n]", text)):
        return text
    read_value(text, "--expect", budget)
    return text if "[" in text else "[" + ", ".join(f"[{row.strip().rstrip(',')}]" for row in text.split(";")) + "]"
