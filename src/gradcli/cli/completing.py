"""Completion in bash, zsh and fish: what may stand where the cursor is.

The scripts are typer's (``gradcli --install-completion``): they call gradcli with the line in variables of the
environment. Nothing here prints an error, since it would land in a prompt.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple

from gradcli.cli.declared import COMMANDS, WITH_PROGRAM, Option, options_of
from gradcli.cli.request import EXPORTS, GROUNDS, LIBRARIES
from gradcli.errors import Budget

ROOT = {"--version": "Print the version.", "--help": "Show the commands."}
FILES = ("-f", "--file", "-o", "--output")


class Candidate(NamedTuple):
    """A word that may stand at the cursor, with a line on it."""

    value: str
    help: str = ""


def reply(shell: str, variables: Mapping[str, str]) -> tuple[str, int]:
    """Return what a shell's script is answered, and the exit code; ``variables`` are those of the environment."""
    words, incomplete = line_of(shell, variables)
    try:
        found = [one for one in candidates(words, incomplete) if one.value.startswith(incomplete)]
    except Exception:  # noqa: BLE001 - a prompt is no place for a traceback, and a shell can do without an answer
        found = []
    if shell == "bash":
        return bash(found, incomplete), 0
    if shell == "zsh":
        return zsh(found, incomplete), 0
    if variables.get("_TYPER_COMPLETE_FISH_ACTION") == "is-args":
        return "", 0 if found else 1
    return "\n".join(f"{value}\t{text}" if text else value for value, text in found), 0


def line_of(shell: str, variables: Mapping[str, str]) -> tuple[list[str], str]:
    """Return the words before the cursor, the program's own left out, and the one that it is in."""
    if shell == "bash":
        count = int(variables.get("COMP_CWORD", "0") or 0)
        given = split(variables.get("COMP_WORDS", ""), "\n")
        *words, last = joined([*given[:count], given[count] if count < len(given) else ""])
        return words[1:], last
    line = variables.get("_TYPER_COMPLETE_ARGS", "")
    given = split(line)
    if line.endswith((" ", "\n")) or len(given) < 2:
        return given[1:], ""
    return given[1:-1], given[-1]


def split(line: str, between: str = "") -> list[str]:
    """Return the words of a line as its shell reads them; a quote that is open ends with the line.

    bash gives words that still have their quotes, with a newline ``between`` them.
    """
    if between:
        return [" ".join(split(word)) if word else "" for word in line.split(between)]
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


def candidates(words: list[str], incomplete: str) -> list[Candidate]:
    """Return what may stand after ``words`` in place of a word that is ``incomplete``."""
    name = next((word for word in words if word in COMMANDS), None)
    if name is None:
        if incomplete.startswith("-"):
            return [Candidate(flag, text) for flag, text in ROOT.items()]
        return [Candidate(name, first_line(command)) for name, command in COMMANDS.items()]
    options = list(options_of(COMMANDS[name]))
    given, equals, value = incomplete.partition("=")
    if equals and given.startswith("--"):
        return [Candidate(f"{given}={one.value}", one.help) for one in candidates([*words, given], value)]
    flag = words[-1]
    if flag == name and name == "functions" and not incomplete.startswith("-"):
        return names_of_functions()
    if any(flag in option.flags and option.takes_value for option in options):
        return values_of(flag, words, incomplete)
    if flag.startswith("--") and flag[2:].isidentifier() and not any(flag in option.flags for option in options):
        return paths(incomplete)
    if incomplete.startswith("-"):
        own = [Candidate(one, option.help) for option in options for one in option.flags if one.startswith("--")]
        return [*own, *(flags_of_variables(words, options) if name in WITH_PROGRAM else [])]
    return []


def first_line(command: Callable[..., None]) -> str:
    """Return the first line of a docstring."""
    return (command.__doc__ or "").partition("\n")[0]


def values_of(flag: str, words: list[str], incomplete: str) -> list[Candidate]:
    """Return what may be the value of an option."""
    if flag in ("--format", "-F"):
        more = EXPORTS if "explain" in words else ()
        return [Candidate(name) for name in ("table", "json", "plain", *more)]
    if flag == "--code":
        return [Candidate(name) for name in LIBRARIES]
    if flag == "--figure":
        return [Candidate(name) for name in GROUNDS]
    if flag == "--color":
        return [Candidate("auto"), Candidate("always"), Candidate("never")]
    if flag == "--budget":
        return [Candidate(f"{entry.name}=", f"{getattr(Budget(), entry.name):,}") for entry in fields(Budget)]
    if flag == "--only":
        from gradcli.batch.records import FIELDS

        return listed(FIELDS, incomplete)
    if flag == "--wrt":
        return listed(variables_of(program_of(words)), incomplete)
    if flag in FILES:
        return files(incomplete)
    return paths(incomplete)


def listed(names: Iterable[str], incomplete: str) -> list[Candidate]:
    """Return names that may go on a list with commas, of which some may be typed."""
    before, comma, _ = incomplete.rpartition(",")
    given = before.split(",")
    return [Candidate(f"{before}{comma}{name}") for name in names if name not in given]


def flags_of_variables(words: list[str], options: list[Option]) -> list[Candidate]:
    """Return a flag for each variable of the program that has no value yet."""
    taken = {flag for option in options for flag in option.flags}
    return [
        Candidate(f"--{name}", "a variable of the program")
        for name in variables_of(program_of(words))
        if f"--{name}" not in taken and f"--{name}" not in words
    ]


def program_of(words: list[str]) -> str:
    """Return the program that is typed already; empty where there is none."""
    name = next(word for word in words if word in COMMANDS)
    takes = {flag for option in options_of(COMMANDS[name]) if option.takes_value for flag in option.flags}
    rest = iter(words[words.index(name) + 1 :])
    for word in rest:
        if word in takes or (word.startswith("--") and word[2:].isidentifier() and not is_flag(name, word)):
            if word in ("-f", "--file"):
                return text_of(next(rest, ""))
            next(rest, None)
        elif not is_flag(name, word) and not word.startswith("--"):
            return word
    return ""


def is_flag(name: str, word: str) -> bool:
    """Return whether a word is an option without a value."""
    return any(word in option.flags and not option.takes_value for option in options_of(COMMANDS[name]))


def text_of(path: str) -> str:
    """Return the text of a program file; empty where it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8")[: Budget().text]
    except (OSError, ValueError):
        return ""


def variables_of(program: str) -> list[str]:
    """Return the variables that a program leaves open; none where it cannot be read."""
    from gradcli.errors import GradcliError
    from gradcli.language.program import compile_program

    try:
        return list(compile_program(program, Budget()).inputs)
    except GradcliError:
        return []


def names_of_functions() -> list[Candidate]:
    """Return every function by its own name."""
    from gradcli.explanation.vocabulary import all_functions

    return [Candidate(known.name, known.summary) for known in all_functions()]


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


def bash(found: list[Candidate], incomplete: str) -> str:
    """Return candidates for bash, one a line, without what stands before ``=``, which it takes for another word."""
    flag, equals, _ = incomplete.partition("=")
    lead = flag + equals if equals and flag.startswith("--") else ""
    return "\n".join(one.value.removeprefix(lead) for one in found)


def zsh(found: list[Candidate], incomplete: str) -> str:
    """Return candidates for zsh, as a call that it evaluates; files where there are none."""
    if not found:
        return "compset -P '@'; _files" if incomplete.startswith("@") else "_files"
    described = " ".join(
        quoted(value.replace("\\", "\\\\").replace(":", "\\:") + (f":{text}" if text else "")) for value, text in found
    )
    return (
        f"typeset -a found; found=({described}); _describe gradcli found -S ''"
        if folders(found)
        else (f"typeset -a found; found=({described}); _describe gradcli found")
    )


def folders(found: list[Candidate]) -> bool:
    """Return whether what follows a candidate is typed without a blank."""
    return all(one.value.endswith(("/", "=")) for one in found)


def quoted(text: str) -> str:
    """Return a text between single quotes, for a shell."""
    return "'" + text.replace("'", "'\\''") + "'"
