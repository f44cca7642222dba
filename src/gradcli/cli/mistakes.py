"""What a command line that cannot be read was meant to say: options misspelled, values cut by the shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping

from gradcli.cli.declared import COMMANDS, WITH_PROGRAM, options_of
from gradcli.errors import GradcliError
from gradcli.errors.suggest import did_you_mean

EXAMPLES = {
    "--format": "json", "-F": "json", "--color": "never", "--precision": "12", "--width": "100", "--wrt": "W,b",
    "--output": "answer.txt", "-o": "answer.txt", "--file": "program.py", "-f": "program.py", "--samples": "100",
    "--budget": "turns=1000000", "--seed": "7", "--row": "0", "--column": "x[0]", "--expect": "'2*x'", "--set": "x=1,2",
    "--lr": "0.1", "--iterations": "20",
}  # fmt: skip
"""A value of each option that takes one; a variable takes numbers."""
TOLERANCES = ("--tol", "--rtol", "--atol", "--eps", "--epsilon", "--tolerance")
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?,?\Z")
WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
GIVEN = re.compile(r"([A-Za-z_]\w*)=(.+)", re.DOTALL)


def needs_value(flag: str) -> GradcliError:
    """Return the error for a flag with nothing after it."""
    return GradcliError("option", f"{flag} needs a value", hint=f"for example {flag} {EXAMPLES.get(flag, '1,2')}")


def no_option(flag: str, command: str, known: Iterable[str], program: str | None) -> GradcliError | None:
    """Return the error for a flag that is no option of a command and no name in its program; None where it is one.

    What is meant is an option of this command, one of another, or a variable that the program does not have.
    ``program`` is None where its names are not known.
    """
    name = flag.removeprefix("--")
    words = set(WORD.findall(program or name))
    if name in words or did_you_mean(name, words):
        return None
    if flag in TOLERANCES:
        hint = "check needs none: it counts how many digits are right"
        return GradcliError("option", f"{command} has no {flag}", hint=hint)
    has = [other for other in WITH_PROGRAM if any(flag in option.flags for option in options_of(COMMANDS[other]))]
    if has:
        return GradcliError(
            "option", f"{command} has no {flag}", hint=f"{' and '.join(has)} {'have' if len(has) > 1 else 'has'} it"
        )
    near = did_you_mean(flag, [option for option in known if option.startswith("--")])
    if near:
        return no_such(flag, command, near)
    return None


def no_such(flag: str, command: str, near: str | None = None) -> GradcliError:
    """Return the error for a flag that nothing has."""
    return GradcliError(
        "option", f"no such option {flag}", hint=near or f"gradcli {command} --help lists what there is"
    )


def refuse_values(switches: Mapping[str, str | None], operands: list[str], before: dict[int, tuple[str, str]]) -> None:
    """Raise ``option`` for a value after a flag that takes none: a variable that is called like it was meant.

    ``before`` has the flag that stands before an operand, by its place; what is no value may be the program.
    """
    given = {flag: value for flag, value in switches.items() if value is not None}
    for place, (flag, value) in before.items():
        if flag in switches and not value and place < len(operands):
            rest = [*operands[:place], *operands[place + 1 :]]
            if any(flag.removeprefix("--") in WORD.findall(word) for word in rest):
                given[flag] = operands[place]
    for flag, value in given.items():
        name = flag.removeprefix("--")
        hint = f"for a variable called {name}: --set {name}={shlex.quote(value)}"
        raise GradcliError("option", f"{flag} is an option and takes no value", hint=hint)


def too_many(operands: list[str], after: dict[int, tuple[str, str]], exists: Callable[[str], bool]) -> GradcliError:
    """Return the error for words that are neither options nor the one program, with what they may have been.

    ``after`` has the flag and the value that stand before a word, by its place among the operands; ``exists`` tells
    whether there is such a file.
    """
    pieces = [(flag, value, operands[place]) for place, (flag, value) in after.items() if place < len(operands)]
    for flag, value, word in pieces:
        if value.startswith(("[", "(")) or (NUMBER.match(value) and NUMBER.match(word)):
            cut = [value, *following(operands, word)]
            whole = f"'{' '.join(cut)}'" if value.startswith(("[", "(")) else ",".join(w.rstrip(",") for w in cut)
            return GradcliError(
                "usage", f"the shell has cut the value of {flag} at a blank", hint=f"write {flag} {whole}"
            )
    program, *others = operands
    if re.fullmatch(r"-[A-Za-z]", others[0]):
        return GradcliError("usage", f"{others[0]} is no option", hint=f"inputs have two dashes: -{others[0]}")
    given = next((found for word in others if (found := GIVEN.fullmatch(word))), None)
    if given:
        return GradcliError("usage", f"{given[0]} is no option", hint=f"write --{given[1]} {given[2]}")
    if sum(map(exists, operands)) > 1 or any(word in "+-*/@%" or word == "**" for word in operands):
        return GradcliError(
            "usage", "the program comes in several words: the shell has cut it, or made file names of its *",
            hint=f"put it in single quotes: '{quoted(operands, exists)}'",
        )  # fmt: skip
    return GradcliError(
        "usage", f"{others[0]!r:.60} is a second program, after {program!r:.60}",
        hint="give one: as '[x**2, 3*x]' for several outputs, or with all of its lines in one pair of quotes",
    )  # fmt: skip


def following(operands: list[str], word: str) -> list[str]:
    """Return a word and those after it that look like the rest of a value."""
    rest = operands[operands.index(word) :]
    count = next((k for k, one in enumerate(rest) if not re.fullmatch(r"[-+\d.,eE\])]+", one)), len(rest))
    return rest[: max(count, 1)]


def quoted(operands: list[str], exists: Callable[[str], bool]) -> str:
    """Return the program that words may have been: file names in a row stood for ``*``."""
    words: list[str] = []
    for word in operands:
        sign = "*" if exists(word) else word
        if sign != "*" or words[-1:] != ["*"]:
            words.append(sign)
    return " ".join(words)


def refuse_foreign(flag: str) -> None:
    """Raise ``option`` for a flag whose name is not ASCII, with the name spelled out."""
    from gradcli.language.paper import spelled  # noqa: PLC0415

    if not flag.isascii() and flag[2:].isidentifier():
        hint = f"call it --{spelled(flag[2:])}, in the program too"
        raise GradcliError("option", f"variables have ASCII names, not {flag}", hint=hint)
