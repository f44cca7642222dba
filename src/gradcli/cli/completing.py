"""Completion in bash, zsh and fish: what may stand where the cursor is.

The scripts are typer's (``gradcli --install-completion``): they call gradcli with the line in variables of the
environment. Nothing here prints an error, since it would land in a prompt.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple

from gradcli.cli.options import COMMANDS, WITH_PROGRAM, Option, flags_of
from gradcli.errors import Budget, GradcliError

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
        found = [one for one in candidates(words, incomplete, commands) if one.value.startswith(incomplete)]
    except Exception:  # noqa: BLE001 - a prompt is no place for a traceback, and a shell can do without an answer
        found = []
    if shell == "bash":  # without what stands before =, which it takes for another word
        flag, equals, _ = incomplete.partition("=")
        lead = flag + equals if equals and flag.startswith("--") else ""
        return "\n".join(one.value.removeprefix(lead) for one in found), 0
    if shell == "zsh":
        return zsh(found, incomplete), 0
    if variables.get("_TYPER_COMPLETE_FISH_ACTION") == "is-args":
        return "", 0 if found else 1
    return "\n".join(f"{value}\t{text}" if text else value for value, text in found), 0


def line_of(shell: str, variables: Mapping[str, str]) -> tuple[list[str], str]:
    """Return the words before the cursor, the program's own left out, and the one that it is in."""
    if shell == "bash":
        count = int(variables.get("COMP_CWORD", "0") or 0)
        # Words that still have their quotes, with a newline between them.
        given = [" ".join(split(word)) if word else "" for word in variables.get("COMP_WORDS", "").split("\n")]
        *words, last = joined([*given[:count], given[count] if count < len(given) else ""])
        return words[1:], last
    line = variables.get("_TYPER_COMPLETE_ARGS", "")
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
    found: list[str] = []
    for word in words:
        if found and (word[:1] == "=" or found[-1][-1:] in ("=", "@")) and found[-1][:1] in ("-", "@"):
            found[-1] += word
        else:
            found.append(word)
    return found


def candidates(words: list[str], incomplete: str, commands: Mapping[str, str]) -> list[Candidate]:
    """Return what may stand after ``words`` in place of a word that is ``incomplete``."""
    name = next((word for word in words if word in COMMANDS), None)
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
    free = variables_of(program_of(words, options)) if name in WITH_PROGRAM else []
    flags = [f"--{variable}" for variable in free if f"--{variable}" not in (*options, *words)]
    return [*own, *(Candidate(one, "a variable of the program") for one in flags)]


def values_of(option: Option, words: list[str], incomplete: str) -> list[Candidate]:
    """Return what may be the value of an option."""
    match option.values:
        case "bounds":
            return [Candidate(f"{entry.name}=", f"{getattr(Budget(), entry.name):,}") for entry in fields(Budget)]
        case "fields":
            from gradcli.batch.records import FIELDS

            return listed(FIELDS, incomplete)
        case "variables":
            name = next(word for word in words if word in COMMANDS)
            return listed(variables_of(program_of(words, dict(flags_of(name)))), incomplete)
        case "files":
            return files(incomplete)
        case "paths":
            return paths(incomplete)
    return [Candidate(value) for value in option.values]


def listed(names: Iterable[str], incomplete: str) -> list[Candidate]:
    """Return names that may go on a list with commas, of which some may be typed."""
    before, comma, _ = incomplete.rpartition(",")
    given = before.split(",")
    return [Candidate(f"{before}{comma}{name}") for name in names if name not in given]


def program_of(words: list[str], options: Mapping[str, Option]) -> str:
    """Return the program that is typed already; empty where there is none, or its file cannot be read."""
    rest = iter(words[1 + next(k for k, word in enumerate(words) if word in COMMANDS) :])
    for word in rest:
        option = options.get(word)
        if option is not None and option.kind is bool:
            continue
        if option is None and not (word.startswith("--") and word[2:].isidentifier()):
            if not word.startswith("--"):
                return word
            continue
        value = next(rest, "")
        if word in ("-f", "--file"):
            try:
                return Path(value).read_text(encoding="utf-8")[: Budget().text]
            except (OSError, ValueError):
                return ""
    return ""


def variables_of(program: str) -> list[str]:
    """Return the variables that a program leaves open; none where it cannot be read."""
    from gradcli.language.program import compile_program

    try:
        return list(compile_program(program, Budget()).inputs)
    except GradcliError:
        return []


def paths(incomplete: str) -> list[Candidate]:
    """Return the files that ``@`` may name; none for a value that is typed."""
    return [Candidate(f"@{one.value}") for one in files(incomplete[1:])] if incomplete.startswith("@") else []


def files(incomplete: str) -> list[Candidate]:
    """Return files and folders whose names begin as typed."""
    folder, slash, start = incomplete.rpartition("/")
    where = Path(folder + slash or ".").expanduser()
    try:
        found = sorted(where.iterdir())
    except (OSError, ValueError):
        return []
    return [
        Candidate(f"{folder}{slash}{one.name}{'/' if one.is_dir() else ''}")
        for one in found
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
