"""Which command a command line means that names none, and where the text of a program comes from."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from gradcli.cli.inputs import file_error, read_text
from gradcli.errors import GradcliError

if TYPE_CHECKING:
    from gradcli.cli.environment import Environment

WORD = re.compile(r"[A-Za-z][A-Za-z_-]*")
"""What may be a command, or one misspelled."""
OWN = ("-h", "--help", "-V", "--version", "--install-completion", "--show-completion")
"""Options that stand without a command."""
TEXTS = (".py", ".txt")
DATA = (".csv", ".tsv", ".npy", ".npz", ".json")
PATH = re.compile(r"@?[^\n\"'()\[\]=*]*(\.[a-z]+)", re.IGNORECASE)
"""A name with a suffix, and nothing else that a program has."""


def with_command(words: list[str], commands: Collection[str]) -> list[str]:
    """Return a command line with its command: ``explain`` where a program, or an option of it, stands first."""
    if not words or words[0] in commands or words[0].startswith(OWN):
        return words
    first, *rest = words
    if first == "help":
        return [*(word for word in rest[:1] if word in commands), "--help"]
    given = any(word == f"--{first}" or word.startswith(f"--{first}=") for word in rest)
    return words if WORD.fullmatch(first) and not given else ["explain", *words]


def suffix_of(program: str) -> str:
    """Return the suffix of what may be the name of a file, empty for a program."""
    found = PATH.fullmatch(program)
    suffix = found[1].lower() if found else ""
    return suffix if suffix in (*TEXTS, *DATA, ".ipynb") else ""


def program_text(env: Environment, program: str | None, file: str | None) -> str:
    """Return the program from the argument or the file that it names, from ``-f FILE``, or from standard input.

    Raises ``option`` where there is none, or numbers in its place, and ``file``.
    """
    if program is not None and file is not None:
        raise GradcliError("option", "a program and -f FILE are both given", hint="give one of them")
    if file is not None:
        return read_text(env, file, "-f")
    if program is None:
        raise GradcliError("option", "no program is given", hint="for example: gradcli explain 'x**2' --x 3")
    if program == "-":
        return read_text(env, "-", "PROGRAM")
    suffix = suffix_of(program)
    return text_of_file(env, program.removeprefix("@"), suffix) if suffix else program


def text_of_file(env: Environment, path: str, suffix: str) -> str:
    """Return the program in a file that is named where a program stands."""
    path = str(Path(path).expanduser()) if path.startswith("~") else path
    if suffix in TEXTS:
        return read_text(env, path, "PROGRAM")
    if suffix == ".ipynb":
        raise file_error(f"{path} is a notebook: save it as a script, and give that", "PROGRAM")
    hint = f"give them to a variable: gradcli explain 'sum(x**2)' --x @{path}"
    raise GradcliError("option", f"{path} holds numbers, and no program", hint=hint)
