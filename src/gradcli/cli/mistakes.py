"""What may stand on a command line: completion of words, and what one that cannot be read was meant to say.

The scripts of completion are typer's (``gradcli --install-completion``): they call gradcli with the line in variables
of the environment. Nothing of it prints an error, since it would land in a prompt.
"""

from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple

from gradcli.cli.options import (
    COMMANDS,
    EXAMPLES,
    OPTIONS,
    SUFFIXES,
    WITH_PROGRAM,
    Option,
    flags_of,
    needs_value,
    sort,
    typed_program,
)
from gradcli.errors import Budget, GradcliError
from gradcli.errors.hints import did_you_mean, listed

TOLERANCES = ("--tol", "--rtol", "--atol", "--eps", "--epsilon")
OF_RECORDS = """each record has its own: {"program": "x**2", "inputs": {"x": 3}, "v": 1}"""
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?,?\Z")
VALUE = re.compile(r"[-+]?\.?\d[-+\d.,;eE]*|[\[@].*", re.DOTALL)
"""What stands as a value and not as a program."""
WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
GIVEN = re.compile(r"-?([A-Za-z_]\w*)=(.+)", re.DOTALL)
JOINED = re.compile(r"([A-Za-z_]+)[:=]?([-+]?[\d.][\d.,;eE+-]*)")
"""A variable and its value in one word."""
SIGNS = ("+", "-", "*", "/", "@", "%", "**")
CALLED = {
    "explain": ("show", "jacobian", "jac", "backward", "autograd", "vjp", "eval", "trace", "plot", "print"),
    "run": ("execute", "exec", "python", "script"),
    "grad": ("diff", "gradient", "derivative", "derive", "differentiate", "compute", "autodiff", "d"),
    "check": ("verify", "test", "gradcheck", "compare", "confirm", "validate", "assert"),
    "repl": ("shell", "interactive", "console", "session"),
    "doctor": ("info", "diagnose", "environment", "about"),
    "functions": ("list", "ops", "operations", "doc", "docs", "function", "vocabulary", "ls"),
}
"""What the commands are called elsewhere."""


def is_file(word: str) -> bool:
    """Return whether there is a file of this name."""
    with contextlib.suppress(OSError, ValueError):
        return Path(word).exists()
    return False


def no_option(flag: str, value: str | None, command: str, program: str | None) -> GradcliError | None:
    """Return the error for a flag that is no option of a command and no name in its program; None where it is one.

    What is meant is an option of this command, one of another, or a variable that the program does not have.
    ``value`` is what stands after the flag; ``program`` is empty where there is none, None where it is not known.
    """
    name = flag.lstrip("-")
    words = set(WORD.findall(name if program is None else program))
    if name.isidentifier() and (name in words or did_you_mean(name, words)):
        return None
    elsewhere = [other for other in COMMANDS if other != command and flag in dict(flags_of(other))]
    hint = None
    if flag in TOLERANCES:
        hint = "check counts how many digits are right; --tolerance 1e-5 is for what --expect has"
    elif command in ("batch", "schema") and flag in ("--json", "--format", "-F"):
        hint = "leave it out: what it prints is JSON already"
    elif elsewhere and not synonym(name, command):
        hint = have_it(elsewhere)
    if hint is not None:
        return GradcliError("option", f"{command} has no {flag}", hint=hint)
    others = [flag for other in WITH_PROGRAM for flag, _ in flags_of(other) if flag.startswith("--")]
    near = did_you_mean(flag, dict(flags_of(command))) or did_you_mean(flag, others)
    joined = JOINED.fullmatch(name)
    if joined and joined[1] in words:
        return no_such(flag, command, f"write --{joined[1]} {joined[2]}")
    meant = synonym(name, command) or near
    is_word = value is not None and WORD.fullmatch(value) is not None and value not in ("pi", "e")
    return no_such(flag, command, meant) if meant or is_word or not name.isidentifier() else None


def have_it(commands: Iterable[str]) -> str:
    """Return that commands have what another lacks."""
    *others, last = commands
    return f"{', '.join(others)} and {last} have it" if others else f"{last} has it"


def synonym(name: str, command: str) -> str | None:
    """Return what to write in place of an option that has another name elsewhere."""
    keys = [key for key, option in OPTIONS.items() if name in option.called]
    if command == "check" and "expect" in keys:
        return OPTIONS["expect"].meant
    key = next((key for key in keys if key != "expect"), None)
    if key is None:
        return None
    if command == "batch" and key in ("program", "set_values", "v"):
        return OF_RECORDS
    meant, (_, _, owner) = OPTIONS[key].meant, key.partition(":")
    if owner and command != owner:
        return have_it([owner])
    owners = WITH_PROGRAM if key == "set_values" else [other for other, names in COMMANDS.items() if key in names]
    if owner or command in owners or "{command}" in meant:
        return meant.format(SUFFIXES.get(name, name), command=command if command in WITH_PROGRAM else "explain")
    flag = re.findall(r"(?<!\S)--?[a-z]+", meant)[-1]
    return f"{flag} is an option of {listed(owners, len(owners))}"


def no_such(flag: str, command: str | None, near: str | None = None) -> GradcliError:
    """Return the error for a flag that nothing has."""
    return GradcliError("option", f"no such option {flag}", hint=near or listed_by(command))


def listed_by(command: str | None) -> str:
    """Return where the options of a command stand, or the commands for None."""
    return f"gradcli {command} --help lists what there is" if command else "gradcli --help lists what there is"


def refuse_taken(before: Mapping[int, tuple[str, str]]) -> None:
    """Raise ``option`` where there is no program, and the last option has what looks like one as its value."""
    flag, value = before.get(0, ("", ""))
    if re.search(r"[A-Za-z]\w*(?:\W|\Z)", value) and re.search(r"[-+*/(@]|\s", value) and value[0] not in "@[":
        hint = f"{flag} has taken {value!r:.60} as its value: give it one before the program"
        raise GradcliError("option", "no program is given", hint=hint)


def refuse_operands(command: str, operands: list[str], before: Mapping[int, tuple[str, str]]) -> None:
    """Raise ``usage`` where several words stand for the program, or one that asks for help.

    ``before`` has the flag and the value that stand before a word, by its place among the operands.
    """
    if len(operands) == 1 and operands[0].lstrip("-") in ("help", "?", "/?"):
        hint = f"gradcli {command} --help shows its options"
        raise GradcliError("usage", f"{operands[0]!r} is no program", hint=hint)
    if len(operands) > 1:
        message, hint = too_many(command, operands, before)
        raise GradcliError("usage", message, hint=hint)


def refuse_values(
    switches: Mapping[str, str | None], operands: list[str], before: Mapping[int, tuple[str, str]]
) -> None:
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


def too_many(command: str, operands: list[str], before: Mapping[int, tuple[str, str]]) -> tuple[str, str]:
    """Return what is wrong with words that are neither options nor the one program, and what they may have been."""
    for place, (flag, value) in before.items():
        whole = uncut(flag, value, operands[place:]) if place < len(operands) else None
        if whole:
            return f"the shell has cut the value of {flag} at a blank", f"write {flag} {whole}"
    program, *others = operands
    if program in COMMANDS:
        message = f"{program} is a command, which stands once, before all options"
        return message, f"begin with gradcli {program}, and its options after that"
    short = next((word for word in operands if re.fullmatch(r"-[A-Za-z]\w*", word)), None)
    if short:
        return f"{short} is no option", instead_of_short(short, command, operands)
    given = given_among(program, others)
    if given:
        return f"{given[0]} is no option", f"write --{given[1]} {given[2]}"
    files = sum(map(is_file, operands))
    if files == len(operands):
        many = "a file of checks, checks.toml, has many: [[check]] and program = 'NAME.py' for each"
        return "one program at a time is answered", many if command == "check" else "batch answers many"
    if files > 1 or not set(operands).isdisjoint(SIGNS):
        message = "the program comes in several words: the shell has cut it, or made file names of its *"
        return message, f"put it in single quotes: '{quoted(operands)}'"
    if VALUE.fullmatch(others[0]):
        hint = f"give it to a variable: --{variable_of(program)} {shlex.quote(others[0])}"
        return f"{others[0]!r:.60} is a value without a name", hint
    hint = "give one: as '[x**2, 3*x]' for several outputs, or with all of its lines in one pair of quotes"
    if command == "check":
        hint = f"--expect {shlex.quote(others[0])} holds it against the derivative, if that is what it is"
    return f"{others[0]!r:.60} is a second program, after {program!r:.60}", hint


def given_among(program: str, others: list[str]) -> re.Match[str] | None:
    """Return the first word that gives a variable a value, as ``x=3`` or ``x = 3``; None where there is none."""
    first = GIVEN.fullmatch(program)
    if first and VALUE.fullmatch(first[2]):
        return first
    triples = zip(others, others[1:], others[2:], strict=False)
    apart = [name + sign + value for name, sign, value in triples if sign == "="]
    return next(filter(None, map(GIVEN.fullmatch, [*apart, *others])), None)


def uncut(flag: str, value: str, words: list[str]) -> str | None:
    """Return the whole value of an option that the shell may have cut, of which ``words`` are the rest, or None."""
    if flag == "--expect":
        signs = any(word in SIGNS or is_file(word) for word in words)
        return f"'{quoted([value, *words])}'" if signs else None
    listed_value = value.startswith(("[", "("))
    if not listed_value and not (NUMBER.match(value) and NUMBER.match(words[0])):
        return None
    count = next((k for k, one in enumerate(words) if not re.fullmatch(r"[-+\d.,eE\])]+", one)), len(words))
    cut = [value, *words[: max(count, 1)]]
    return f"'{' '.join(cut)}'" if listed_value else ",".join(word.rstrip(",") for word in cut)


def instead_of_short(short: str, command: str, operands: list[str]) -> str:
    """Return what to write in place of a letter after one dash that no option has."""
    elsewhere = [other for other in COMMANDS if other != command and short in dict(flags_of(other))]
    if short in ("-e", "-c", "-p") and operands[0] == short:
        return f"leave out {short}: the program stands by itself" if command in WITH_PROGRAM else OF_RECORDS
    return have_it(elsewhere) if elsewhere and short != "-v" else f"inputs have two dashes: -{short}"


def variable_of(program: str) -> str:
    """Return the one name in a program that may be a variable, or what stands for any."""
    from gradcli.ops import spellings

    words = {name for name in WORD.findall(program) if name not in ("pi", "e")}
    names = {name for name in words if len(name) == 1 or name not in spellings()}
    return names.pop() if len(names) == 1 else "NAME"


def quoted(operands: list[str]) -> str:
    """Return the program that words may have been: file names in a row stood for ``*``."""
    words: list[str] = []
    for word in operands:
        sign = "*" if is_file(word) else word
        if sign != "*" or words[-1:] != ["*"]:
            words.append(sign)
    return " ".join(words)


def no_command(word: str, function: bool, file: bool) -> GradcliError:
    """Return the error for a first word that is no command; it may be the name of a ``function``, or of a ``file``."""
    command = next((command for command, words in CALLED.items() if word.lower() in (command, *words)), None)
    if word == "version":
        hint = "gradcli --version prints it"
    elif command is not None:
        hint = f"did you mean '{command}'?"
    elif file:
        hint = f"there is such a file: gradcli explain -f {shlex.quote(word)}"
    elif function:
        hint = f"gradcli functions {word} describes the function"
    else:
        hint = did_you_mean(word, COMMANDS) or listed_by(None)
    return GradcliError("usage", f"no such command '{word}'", hint=hint)


def refused_by_typer(error: Exception, command: str | None) -> GradcliError:
    """Return typer's complaint about the command line as one of ours; ``command`` is the one that was given."""
    flag = getattr(error, "option_name", None)
    formatted = getattr(error, "format_message", None)
    message = str(formatted() if formatted else error).strip().rstrip(".")
    if flag and "requires an argument" in message:
        return needs_value(flag)
    if flag and "No such" in message:
        near = did_you_mean(flag, ("--help", "--version"))
        return (no_option(flag, "", command, "") if command else None) or no_such(flag, command, near)
    extra = re.search(r"extra arguments?\(?s?\)? \((\S+)", message)
    if extra:
        return GradcliError("usage", f"{extra[1].rstrip(')')!r:.60} is one word too many", hint=listed_by(command))
    number = re.match(r"Invalid value for .*'(--[\w-]+)'.*valid (integer|number)", message, re.DOTALL)
    if number:
        what = f"{number[1]} needs {'an' if number[2] == 'integer' else 'a'} {number[2]}"
        return GradcliError("option", what, hint=f"for example {number[1]} {EXAMPLES.get(number[1], '10')}")
    return GradcliError("usage", message[:1].lower() + message[1:], hint=listed_by(command))


POWERSHELL = ("powershell", "pwsh")
ROOT = {"--version": "Print the version.", "--help": "Show the commands."}


class Candidate(NamedTuple):
    """A word that may stand at the cursor, with a line on it."""

    value: str
    help: str = ""


def reply(shell: str, variables: Mapping[str, str], commands: Mapping[str, str]) -> tuple[str, int]:
    """Return what a shell's script is answered, and the exit code.

    ``variables`` are those of the environment, ``commands`` the commands with a line on each.
    """
    words, incomplete = line_of(shell, variables)
    try:
        result = [one for one in candidates(words, incomplete, commands) if one.value.startswith(incomplete)]
    except Exception:  # noqa: BLE001 - a prompt is no place for a traceback, and a shell can do without an answer
        result = []
    if shell == "bash":  # without what stands before =, which it takes for another word
        flag, equals, _ = incomplete.partition("=")
        lead = flag + equals if equals and flag.startswith("--") else ""
        return "\n".join(one.value.removeprefix(lead) for one in result), 0
    if shell == "zsh":
        return zsh(result, incomplete), 0
    if shell in POWERSHELL:  # which takes no empty text for the line on a word
        return "\n".join(f"{value}:::{text or ' '}" for value, text in result), 0
    if variables.get("_TYPER_COMPLETE_FISH_ACTION") == "is-args":
        return "", 0 if result else 1
    return "\n".join(f"{value}\t{text}" if text else value for value, text in result), 0


def line_of(shell: str, variables: Mapping[str, str]) -> tuple[list[str], str]:
    """Return the words before the cursor, the program's own left out, and the one that it is in."""
    if shell == "bash":
        count = int(variables.get("COMP_CWORD", "0") or 0)
        # Words that still have their quotes, with a newline between them.
        given = [" ".join(split(word)) if word else "" for word in variables.get("COMP_WORDS", "").split("\n")]
        *words, last = joined([*given[:count], given[count] if count < len(given) else ""])
        return words[1:], last
    line = variables.get("_TYPER_COMPLETE_ARGS", "")
    if shell in POWERSHELL:  # it says which word is not complete, and a backslash is one
        words = split(line.replace("\\", "\\\\"))[1:]
        incomplete = variables.get("_TYPER_COMPLETE_WORD_TO_COMPLETE", "")
        return (words[:-1], words[-1]) if incomplete and words else (words, "")
    given = split(line)
    if line.endswith((" ", "\n")) or len(given) < 2:
        return given[1:], ""
    return given[1:-1], given[-1]


def split(line: str) -> list[str]:
    """Return the words of a line as its shell reads them; a quote that is open ends with the line."""
    for end in ("", "'", '"'):
        try:
            return shlex.split(line + end)
        except ValueError:
            continue
    return line.split()


def joined(words: list[str]) -> list[str]:
    """Return words that bash has parted at ``=`` and ``@`` as they were typed."""
    result: list[str] = []
    for word in words:
        if result and (word[:1] == "=" or result[-1][-1:] in ("=", "@")) and result[-1][:1] in ("-", "@"):
            result[-1] += word
        else:
            result.append(word)
    return result


def candidates(words: list[str], incomplete: str, commands: Mapping[str, str]) -> list[Candidate]:
    """Return what may stand after ``words`` in place of a word that is ``incomplete``."""
    name = next((word for word in words if word in COMMANDS), None)
    if name is None and words and not re.fullmatch(r"-*[A-Za-z][A-Za-z_-]*", words[0]):  # a program stands first
        name, words = "explain", ["explain", *words]
    if name is None:
        return [Candidate(*one) for one in (ROOT if incomplete.startswith("-") else commands).items()]
    options = dict(flags_of(name))
    given, equals, value = incomplete.partition("=")
    if equals and given.startswith("--"):
        return [Candidate(f"{given}={one.value}", one.help) for one in candidates([*words, given], value, commands)]
    flag = words[-1]
    if flag == name == "functions" and not incomplete.startswith("-"):
        from gradcli.explanation.vocabulary import all_functions

        return [Candidate(function.name, function.summary) for function in all_functions()]
    if flag in options and options[flag].kind is not bool:
        return values_of(options[flag], words, incomplete)
    if flag.startswith("--") and flag[2:].isidentifier() and flag not in options:
        return paths(incomplete)
    if not incomplete.startswith("-"):
        return []
    own = [Candidate(one, option.help) for one, option in options.items() if one.startswith("--")]
    free = (variables_of(program_of(name, words)) or []) if name in WITH_PROGRAM else []
    flags = [f"--{variable}" for variable in free if f"--{variable}" not in (*options, *words)]
    return [*own, *(Candidate(one, "a variable of the program") for one in flags)]


def values_of(option: Option, words: list[str], incomplete: str) -> list[Candidate]:
    """Return what may be the value of an option."""
    match option.values:
        case "bounds":
            return [Candidate(f"{entry.name}=", f"{getattr(Budget(), entry.name):,}") for entry in fields(Budget)]
        case "fields":
            from gradcli.batch.records import FIELDS

            return listed_names(FIELDS, incomplete)
        case "variables":
            name = next(word for word in words if word in COMMANDS)
            return listed_names(variables_of(program_of(name, words[:-1])) or (), incomplete)
        case "files":
            return files(incomplete)
        case "paths":
            return paths(incomplete)
    return [Candidate(value) for value in option.values]


def listed_names(names: Iterable[str], incomplete: str) -> list[Candidate]:
    """Return names that may go on a list with commas, of which some may be typed."""
    before, comma, _ = incomplete.rpartition(",")
    given = before.split(",")
    return [Candidate(f"{before}{comma}{name}") for name in names if name not in given]


def program_of(command: str, words: list[str]) -> str:
    """Return the program that is typed already; empty where there is none, or its file cannot be read."""
    try:
        return typed_program(sort(words[words.index(command) + 1 :], command)) or ""
    except GradcliError:
        return ""


def variables_of(program: str) -> list[str] | None:
    """Return the variables that a program leaves open; None where it cannot be read."""
    from gradcli.language.program import compile_program
    from gradcli.runner.reading import is_script

    try:
        if is_script(program):
            from gradcli.runner.script import LAST, compile_text  # most programs are formulas

            return list(compile_text(program, last=LAST)[0].text.free())
        return list(compile_program(program, Budget()).inputs)
    except GradcliError:
        return None


def paths(incomplete: str) -> list[Candidate]:
    """Return the files that ``@`` may name; none for a value that is typed."""
    return [Candidate(f"@{one.value}") for one in files(incomplete[1:])] if incomplete.startswith("@") else []


def files(incomplete: str) -> list[Candidate]:
    """Return files and folders whose names begin as typed."""
    folder, slash, start = incomplete.rpartition("/")
    where = Path(folder + slash or ".").expanduser()
    try:
        result = sorted(where.iterdir())
    except (OSError, ValueError):
        return []
    return [
        Candidate(f"{folder}{slash}{one.name}{'/' if one.is_dir() else ''}")
        for one in result
        if one.name.startswith(start) and (start or not one.name.startswith("."))
    ]


def zsh(found: list[Candidate], incomplete: str) -> str:
    """Return candidates for zsh, as a call that it evaluates; files where there are none."""
    if not found:
        return "compset -P '@'; _files" if incomplete.startswith("@") else "_files"
    texts = [value.replace("\\", "\\\\").replace(":", "\\:") + (f":{text}" if text else "") for value, text in found]
    described = " ".join("'" + text.replace("'", "'\\''") + "'" for text in texts)
    goes_on = all(one.value.endswith(("/", "=")) for one in found)  # what follows is typed without a blank
    return f"typeset -a found; found=({described}); _describe gradcli found{' -S ' + repr('') if goes_on else ''}"
