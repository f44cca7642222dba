"""A lecture at a terminal: the answer part by part, each after the Enter key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gradcli.cli.environment import is_terminal
from gradcli.cli.output import layout_of, on_terminal, settings_of, terminal_width, to_stdout, write_text
from gradcli.errors import GradcliError

if TYPE_CHECKING:
    from gradcli.cli.environment import Environment
    from gradcli.cli.request import Printing
    from gradcli.explanation.explained import Explained

PROMPT = "   Enter goes on, q ends "
GONE = "\x1b[1A\x1b[2K\r"
"""Moves a terminal up by a line, which it clears: a prompt that was answered is no part of the answer."""


def refuse_reveal(env: Environment, how: Printing, beside: Mapping[str, object]) -> None:
    """Raise ``option`` where nobody looks on, where the answer goes elsewhere, or beside an option of those named."""
    written = how.output or how.quiet or how.format != "table"
    given = [name for name, value in beside.items() if value]
    if given or written:
        what = given[0] if given else f"-o {how.output}" if how.output else "another format, or --quiet,"
        hint = f"leave out {given[0]}" if given else "-o page.html has a lecture too: its button next"
        raise GradcliError("option", f"--reveal and {what} do not go together", hint=hint)
    if env.stdin is None or env.stdin_used or not is_terminal(env.stdin) or not on_terminal(env):
        hint = "leave it out here; -o page.html has a lecture too: its button next"
        raise GradcliError("option", "--reveal waits for a person at a terminal, and here is none", hint=hint)


def reveal(env: Environment, found: Explained, how: Printing) -> None:
    """Write the parts of an answer, each but the first after the Enter key; q ends, and so does the end of input."""
    from rich.text import Text

    from gradcli.document.lecture import steps_of
    from gradcli.document.sections import document_of
    from gradcli.render.terminal import tables

    layout = layout_of(env, how, how.width or terminal_width(env))
    for k, step in enumerate(steps_of(document_of(found, settings_of(how)))):
        if k and not goes_on(env):
            return
        lines = tables(step, layout)
        write_text(env, Text("\n").append_text(lines) if k else lines, how)


def goes_on(env: Environment) -> bool:
    """Return whether a person asks for more; the prompt is gone then from a screen that can move up."""
    with to_stdout(env):
        env.stdout.write(PROMPT)
        env.stdout.flush()
        answer = env.stdin.readline()
        env.stdout.write(GONE if answer.endswith("\n") and env.variables.get("TERM") != "dumb" else "\n")
        env.stdout.flush()
    return answer != "" and not answer.strip().lower().startswith("q")
