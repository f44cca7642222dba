"""Where a v is still to be chosen: J with an open column for it, and what the usual choices would leave."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gradcli.cli.output import on_terminal, settings_of, write_open
from gradcli.errors import GradcliError
from gradcli.errors.facts import MissingV

if TYPE_CHECKING:
    from collections.abc import Callable

    from gradcli.cli.environment import Environment
    from gradcli.cli.request import Printing, Request
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
