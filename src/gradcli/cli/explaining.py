"""From a request to its explanation, with what else the command line asks for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gradcli.errors import GradcliError
from gradcli.interface import explain

if TYPE_CHECKING:
    from gradcli.cli.environment import Environment
    from gradcli.cli.request import Printing, Request, Views
    from gradcli.explanation.explained import Explained


def explanation(env: Environment, asked: Request, how: Printing, views: Views) -> Explained:
    """Return the explanation of a request with the views that are asked for."""
    if not views.asked:
        return explained_or_offered(env, asked, how, every_row=False)
    from gradcli.cli.views import read_wanted  # noqa: PLC0415 - few answers are asked for more
    from gradcli.explanation.asking import with_views  # noqa: PLC0415

    found = explained_or_offered(env, asked, how, every_row=views.rows)
    return with_views(found, read_wanted(env, asked, views))


def explained_or_offered(env: Environment, asked: Request, how: Printing, every_row: bool) -> Explained:
    """Return the explanation of a request; a missing v is raised with J beside it, where a person looks on.

    With ``every_row`` each one-hot v in turn stands for a missing one.
    """
    try:
        return explained(asked)
    except GradcliError as error:
        if error.kind == "missing-v" and every_row:
            from gradcli.cli.views import each_one_hot  # noqa: PLC0415

            return explained(each_one_hot(asked, error))
        if error.kind == "missing-v":
            from gradcli.cli.choosing import offer_v  # noqa: PLC0415

            raise offer_v(env, asked, how, error, explained) from None
        raise


def explained(asked: Request) -> Explained:
    """Return the explanation of a request."""
    found = explain(
        asked.program,
        calls=asked.calls,
        wrt=asked.wrt,
        strict=asked.strict,
        budget=asked.budget,
        inputs=asked.values,
    )
    return replace(found, notes=[*found.notes, *asked.notes]) if asked.notes else found
