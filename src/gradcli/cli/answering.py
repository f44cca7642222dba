"""Where a v is still to be chosen: J with an open column for it, and what the usual choices would leave.

Scripts on the command line: the answers of other lines for ``--all``, and what was done before an error.
A lecture at a terminal: the answer part by part, each after the Enter key.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from gradcli.cli.environment import is_terminal
from gradcli.cli.output import (
    layout_of,
    on_terminal,
    settings_of,
    terminal_width,
    to_stdout,
    write,
    write_explanation,
    write_open,
    write_text,
)
from gradcli.errors import GradcliError
from gradcli.errors.hints import MissingV

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcli.cli.environment import Environment
    from gradcli.cli.request import Printing, Request, ScriptOptions
    from gradcli.explanation.explained import Explained


def offer_v(
    env: Environment, asked: Request, how: Printing, error: GradcliError, explained: Callable[[Request], Explained]
) -> GradcliError:
    """Return the error of a missing v, with what each choice would leave, after showing J to a person at a terminal.

    ``explained`` answers a request, here that with ones. Anywhere else nothing is printed, and the error is the one
    that came.
    """
    facts = error.facts
    if not isinstance(facts, MissingV) or how.format != "table" or how.output or how.quiet or not on_terminal(env):
        return error
    import numpy as np

    from gradcli.document.effects import worth_of

    try:
        found = explained(replace(asked, calls=[np.ones(facts.shape)]))
    except GradcliError:
        return error
    write_open(env, found, how)
    return error.about(MissingV(facts.shape, found.name, found.effect.row, worth_of(found.effect, settings_of(how))))


# ---- Scripts on the command line: the answers of other lines for ``--all``, and what was done before an e

MOST = 30
"""Lines whose calls are answered."""


def write_others(
    env: Environment, asked: Request, found: Explained, how: Printing, explained: Callable[[Request], Explained]
) -> None:
    """Write the answers of the other lines that make a call, each at its first turn, without the timeline."""
    if found.timeline is None or how.format not in ("table", "plain", "markdown") or how.output:
        hint = "it is for a script, and for a person; the events of --json have all calls"
        raise GradcliError("option", "--all has nothing to add here", hint=hint)
    place = found.timeline.explained
    own = None if place is None else found.timeline.events[place].line
    lines = dict.fromkeys(event.line for event in found.timeline.events if event.kind in ("backward", "grad"))
    for line in [line for line in lines if line != own][:MOST]:
        other = explained(replace(asked, script=asked.script._replace(at=line, turn=None)))
        if other.timeline is not None:
            write_explanation(env, replace(other, timeline=other.timeline.alone()), how)


def write_before(env: Environment, error: GradcliError, options: ScriptOptions, how: Printing) -> None:
    """Write what a script did before it came to an error, for people, where there is more to it than a line."""
    from rich.text import Text

    from gradcli.explanation.timeline import timeline
    from gradcli.render.events import event_lines, timeline_lines

    told = timeline(error.ended, name=options.name)
    if how.quiet or how.output or not (told.rows or told.prints):
        return
    if how.format == "plain":
        write(env, "\n".join(timeline_lines(told)))
    elif how.format == "table":
        layout = layout_of(env, how, how.width or terminal_width(env))
        head = [Text(f" {told.head}", "bold")] if told.rows else []
        write_text(env, Text("\n").join([*head, *event_lines(told, settings_of(how), layout)]), how)


# ---- A lecture at a terminal: the answer part by part, each after the Enter key

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

    from gradcli.document.sections import document_of, steps_of
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
