"""Scripts on the command line: the answers of other lines for ``--all``, and what was done before an error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from gradcli.cli.output import layout_of, settings_of, terminal_width, write, write_explanation, write_text
from gradcli.errors import GradcliError

if TYPE_CHECKING:
    from gradcli.cli.environment import Environment
    from gradcli.cli.request import Printing, Request, ScriptOptions
    from gradcli.explanation.explained import Explained

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
