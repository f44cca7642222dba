"""Commands that there are not, and what typer refuses: in the words of all other errors."""

from __future__ import annotations

import re
import shlex

from gradcli.cli.declared import COMMANDS
from gradcli.cli.mistakes import EXAMPLES, listed_by, needs_value, no_option, no_such
from gradcli.errors import GradcliError
from gradcli.errors.suggest import did_you_mean

SAID_FOR = {
    "explain": ("run", "show", "jacobian", "jac", "backward", "autograd", "vjp", "eval", "trace", "plot", "print"),
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
