"""What a command line that cannot be read was meant to say: options misspelled, values cut by the shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Mapping

from gradcli.cli.declared import COMMANDS, WITH_PROGRAM, options_of
from gradcli.cli.request import FORMATS
from gradcli.errors import GradcliError
from gradcli.errors.hints import did_you_mean, listed

EXAMPLES = {
    "--format": "json", "-F": "json", "--color": "never", "--precision": "12", "--width": "100", "--wrt": "W,b",
    "--output": "answer.txt", "-o": "answer.txt", "--file": "program.py", "-f": "program.py", "--samples": "100",
    "--budget": "turns=1000000", "--seed": "7", "--row": "0", "--column": "x[0]", "--expect": "'2*x'", "--set": "x=1,2",
    "--jobs": "4", "-j": "4", "--timeout": "10", "--memory": "4096", "--only": "grad,vjp",
    "--lr": "0.1", "--iterations": "20", "--digits": "5", "--tolerance": "1e-5", "--of": "loss",
}  # fmt: skip
"""A value of each option that takes one; a variable takes numbers."""
TOLERANCES = ("--tol", "--rtol", "--atol", "--eps", "--epsilon")
SYNONYMS = {
    "write --format {0}": FORMATS,
    "write --color never": ("no-color", "nocolor", "no-colour", "monochrome"),
    "write --precision 12": ("digits", "decimals"),
    "write --width 100": ("columns", "cols"),
    "write -q, and look at the exit code": ("silent",),
    "--v gives the vector of y.backward(v)": ("vector", "cotangent", "grad-output", "grad_output", "grad_outputs"),
    "each variable has an option of its own: --x 1,2": ("input", "inputs", "values", "params", "data", "at", "point"),
    "the program stands by itself: gradcli {command} 'x**2' --x 3": (
        "program", "expr", "expression", "function", "func", "formula", "explain", "eval",
    ),
}  # fmt: skip
"""What to write, by what an option is called elsewhere."""
OF_CHECK = (
    "grad",
    "gradient",
    "derivative",
    "jacobian",
    "expected",
    "want",
    "analytic",
    "formula",
    "answer",
    "against",
)
"""What ``--expect`` may be called."""
FLAG = re.compile(r"(?<!\S)--?[a-z]+")
OF_RECORDS = """each record has its own: {"program": "x**2", "inputs": {"x": 3}, "v": 1}"""
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?,?\Z")
VALUE = re.compile(r"[-+]?\.?\d[-+\d.,;eE]*|[\[@].*", re.DOTALL)
"""What stands as a value and not as a program."""
WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
GIVEN = re.compile(r"-?([A-Za-z_]\w*)=(.+)", re.DOTALL)
JOINED = re.compile(r"([A-Za-z_]+)[:=]?([-+]?[\d.][\d.,;eE+-]*)")
"""A variable and its value in one word."""


def needs_value(flag: str) -> GradcliError:
    """Return the error for a flag with nothing after it."""
    return GradcliError("option", f"{flag} needs a value", hint=f"for example {flag} {EXAMPLES.get(flag, '1,2')}")


def no_option(flag: str, value: str | None, command: str, program: str | None) -> GradcliError | None:
    """Return the error for a flag that is no option of a command and no name in its program; None where it is one.

    What is meant is an option of this command, one of another, or a variable that the program does not have.
    ``value`` is what stands after the flag; ``program`` is empty where there is none, None where it is not known.
    """
    name = flag.lstrip("-")
    words = set(WORD.findall(name if program is None else program))
    if name.isidentifier() and (name in words or did_you_mean(name, words)):
        return None
    if flag in TOLERANCES:
        hint = "check counts how many digits are right; --tolerance 1e-5 is for what --expect has"
        return GradcliError("option", f"{command} has no {flag}", hint=hint)
    if command in ("batch", "schema") and flag in ("--json", "--format", "-F"):
        return GradcliError("option", f"{command} has no {flag}", hint="leave it out: what it prints is JSON already")
    elsewhere = [other for other in COMMANDS if other != command and flag in flags_of(other)]
    if elsewhere:
        return GradcliError("option", f"{command} has no {flag}", hint=have_it(elsewhere))
    others = {flag: command for command in WITH_PROGRAM for flag in flags_of(command) if flag.startswith("--")}
    near = did_you_mean(flag, flags_of(command)) or did_you_mean(flag, others)
    joined = JOINED.fullmatch(name)
    if joined and joined[1] in words:
        return no_such(flag, command, f"write --{joined[1]} {joined[2]}")
    meant = synonym(name, command) or near
    no_name = not name.isidentifier() or (value is not None and is_word(value))
    return no_such(flag, command, meant) if meant or no_name else None


def have_it(commands: Iterable[str]) -> str:
    """Return that commands have what another lacks."""
    *others, last = commands
    return f"{', '.join(others)} and {last} have it" if others else f"{last} has it"


def flags_of(command: str) -> list[str]:
    """Return the flags of a command."""
    return [flag for option in options_of(COMMANDS[command]) for flag in option.flags]


def synonym(name: str, command: str) -> str | None:
    """Return what to write in place of an option that has another name elsewhere."""
    if command == "check" and name in OF_CHECK:
        return "--expect '2*x' holds a derivative of your own against the true one"
    found = next((hint for hint, known in SYNONYMS.items() if name in known), None)
    if found is None:
        return None
    flag = FLAG.findall(found)[-1]
    owners = [other for other in COMMANDS if flag in flags_of(other) or (flag == "--x" and other in WITH_PROGRAM)]
    if command == "batch" and flag in ("--x", "--v"):
        return OF_RECORDS
    if command in owners or "{command}" in found:
        return found.format(name, command=command if command in WITH_PROGRAM else "explain")
    return f"{flag} is an option of {listed(owners, len(owners))}"


def is_word(value: str) -> bool:
    """Return whether a value is a word, as options take, and no number."""
    return WORD.fullmatch(value) is not None and value not in ("pi", "e")


def no_such(flag: str, command: str | None, near: str | None = None) -> GradcliError:
    """Return the error for a flag that nothing has."""
    return GradcliError("option", f"no such option {flag}", hint=near or listed_by(command))


def listed_by(command: str | None) -> str:
    """Return where the options of a command stand, or the commands for None."""
    return f"gradcli {command} --help lists what there is" if command else "gradcli --help lists what there is"


def refuse_taken(before: dict[int, tuple[str, str]]) -> None:
    """Raise ``option`` where there is no program, and the last option has what looks like one as its value."""
    flag, value = before.get(0, ("", ""))
    if re.search(r"[A-Za-z]\w*(?:\W|\Z)", value) and re.search(r"[-+*/(@]|\s", value) and value[0] not in "@[":
        hint = f"{flag} has taken {value!r:.60} as its value: give it one before the program"
        raise GradcliError("option", "no program is given", hint=hint)


def refuse_operands(
    command: str, operands: list[str], before: dict[int, tuple[str, str]], exists: Callable[[str], bool]
) -> None:
    """Raise ``usage`` where several words stand for the program, or one that asks for help."""
    if len(operands) == 1 and operands[0].lstrip("-") in ("help", "?", "/?"):
        hint = f"gradcli {command} --help shows its options"
        raise GradcliError("usage", f"{operands[0]!r} is no program", hint=hint)
    if len(operands) > 1:
        raise too_many(command, operands, before, exists)


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


def too_many(
    command: str, operands: list[str], before: dict[int, tuple[str, str]], exists: Callable[[str], bool]
) -> GradcliError:
    """Return the error for words that are neither options nor the one program, with what they may have been.

    ``before`` has the flag and the value that stand before a word, by its place among the operands; ``exists`` tells
    whether there is such a file.
    """
    pieces = [(flag, value, operands[place:]) for place, (flag, value) in before.items() if place < len(operands)]
    for flag, value, rest in pieces:
        whole = uncut(flag, value, rest, exists)
        if whole:
            return GradcliError(
                "usage", f"the shell has cut the value of {flag} at a blank", hint=f"write {flag} {whole}"
            )
    program, *others = operands
    if program in COMMANDS:
        hint = f"begin with gradcli {program}, and its options after that"
        return GradcliError("usage", f"{program} is a command, which stands once, before all options", hint=hint)
    short = next((word for word in operands if re.fullmatch(r"-[A-Za-z]\w*", word)), None)
    if short:
        return no_short(short, command, operands)
    given = given_among(program, others)
    if given:
        return GradcliError("usage", f"{given[0]} is no option", hint=f"write --{given[1]} {given[2]}")
    if all(map(exists, operands)):
        return GradcliError("usage", "one program at a time is answered", hint="batch answers many")
    if sum(map(exists, operands)) > 1 or any(is_sign(word) for word in operands):
        return GradcliError(
            "usage", "the program comes in several words: the shell has cut it, or made file names of its *",
            hint=f"put it in single quotes: '{quoted(operands, exists)}'",
        )  # fmt: skip
    if VALUE.fullmatch(others[0]):
        hint = f"give it to a variable: --{variable_of(program)} {shlex.quote(others[0])}"
        return GradcliError("usage", f"{others[0]!r:.60} is a value without a name", hint=hint)
    hint = "give one: as '[x**2, 3*x]' for several outputs, or with all of its lines in one pair of quotes"
    if command == "check":
        hint = f"--expect {shlex.quote(others[0])} holds it against the derivative, if that is what it is"
    return GradcliError("usage", f"{others[0]!r:.60} is a second program, after {program!r:.60}", hint=hint)


def given_among(program: str, others: list[str]) -> re.Match[str] | None:
    """Return the first word that gives a variable a value, as ``x=3`` or ``x = 3``; None where there is none."""
    first = GIVEN.fullmatch(program)
    if first and VALUE.fullmatch(first[2]):
        return first
    apart = [
        name + sign + value for name, sign, value in zip(others, others[1:], others[2:], strict=False) if sign == "="
    ]
    return next((found for word in [*apart, *others] if (found := GIVEN.fullmatch(word))), None)


def uncut(flag: str, value: str, words: list[str], exists: Callable[[str], bool]) -> str | None:
    """Return the whole value of an option that the shell may have cut, of which ``words`` are the rest, or None."""
    if flag == "--expect":
        signs = any(is_sign(word) or exists(word) for word in words)
        return f"'{quoted([value, *words], exists)}'" if signs else None
    if not value.startswith(("[", "(")) and not (NUMBER.match(value) and NUMBER.match(words[0])):
        return None
    cut = [value, *following(words)]
    return f"'{' '.join(cut)}'" if value.startswith(("[", "(")) else ",".join(word.rstrip(",") for word in cut)


def no_short(short: str, command: str, operands: list[str]) -> GradcliError:
    """Return the error for a letter after one dash that no option has."""
    elsewhere = [other for other in COMMANDS if other != command and short in flags_of(other)]
    if short in ("-e", "-c", "-p") and operands[0] == short:
        hint = f"leave out {short}: the program stands by itself"
        hint = hint if command in WITH_PROGRAM else OF_RECORDS
    elif elsewhere and short != "-v":
        hint = have_it(elsewhere)
    else:
        hint = f"inputs have two dashes: -{short}"
    return GradcliError("usage", f"{short} is no option", hint=hint)


def is_sign(word: str) -> bool:
    """Return whether a word is the sign of an operation."""
    return word in ("+", "-", "*", "/", "@", "%", "**")


def variable_of(program: str) -> str:
    """Return the one name in a program that may be a variable, or what stands for any."""
    from gradcli.ops import spellings

    words = {name for name in WORD.findall(program) if name not in ("pi", "e")}
    names = {name for name in words if len(name) == 1 or name not in spellings()}
    return names.pop() if len(names) == 1 else "NAME"


def following(words: list[str]) -> list[str]:
    """Return the first word and those after it that look like the rest of a value."""
    count = next((k for k, one in enumerate(words) if not re.fullmatch(r"[-+\d.,eE\])]+", one)), len(words))
    return words[: max(count, 1)]


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
    from gradcli.language.misread import spelled

    if not flag.isascii() and flag[2:].isidentifier():
        hint = f"call it --{spelled(flag[2:])}, in the program too"
        raise GradcliError("option", f"variables have ASCII names, not {flag}", hint=hint)


SAID_FOR = {
    "explain": ("show", "jacobian", "jac", "backward", "autograd", "vjp", "eval", "trace", "plot", "print"),
    "run": ("execute", "exec", "python", "script"),
    "grad": ("diff", "gradient", "derivative", "derive", "differentiate", "compute", "autodiff", "d"),
    "check": ("verify", "test", "gradcheck", "compare", "confirm", "validate", "assert"),
    "functions": ("list", "ops", "operations", "doc", "docs", "function", "vocabulary", "ls"),
}
"""What the commands may be called."""


def no_command(word: str, function: bool, file: bool) -> GradcliError:
    """Return the error for a first word that is no command; it may be the name of a ``function``, or of a ``file``."""
    found = next((command for command, words in SAID_FOR.items() if word.lower() in (command, *words)), None)
    if word == "version":
        hint = "gradcli --version prints it"
    elif found is not None:
        hint = f"did you mean '{found}'?"
    elif file:
        hint = f"there is such a file: gradcli explain -f {shlex.quote(word)}"
    elif function:
        hint = f"gradcli functions {word} describes the function"
    else:
        hint = did_you_mean(word, COMMANDS) or "gradcli --help lists what there is"
    return GradcliError("usage", f"no such command '{word}'", hint=hint)


def refused_by_typer(error: Exception, command: str | None) -> GradcliError:
    """Return typer's complaint about the command line as one of ours; ``command`` is the one that was given."""
    flag = getattr(error, "option_name", None)
    help_text = listed_by(command)
    formatted = getattr(error, "format_message", None)
    message = str(formatted() if formatted else error).strip().rstrip(".")
    if flag and "requires an argument" in message:
        return needs_value(flag)
    if flag and "No such" in message:
        near = did_you_mean(flag, ("--help", "--version"))
        return (no_option(flag, "", command, "") if command else None) or no_such(flag, command, near)
    extra = re.search(r"extra arguments?\(?s?\)? \((\S+)", message)
    if extra:
        return GradcliError("usage", f"{extra[1].rstrip(')')!r:.60} is one word too many", hint=help_text)
    number = re.match(r"Invalid value for .*'(--[\w-]+)'.*valid (integer|number)", message, re.DOTALL)
    if number:
        hint = f"for example {number[1]} {EXAMPLES.get(number[1], '10')}"
        return GradcliError(
            "option", f"{number[1]} needs {'an' if number[2] == 'integer' else 'a'} {number[2]}", hint=hint
        )
    return GradcliError("usage", message[:1].lower() + message[1:], hint=help_text)
