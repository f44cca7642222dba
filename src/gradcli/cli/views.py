"""What ``explain`` is asked for beyond its answer, read from its options."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from gradcli.cli.inputs import GIVEN, read_array
from gradcli.errors import GradcliError
from gradcli.errors.hints import MissingV
from gradcli.explanation.explaining import ViewRequest
from gradcli.language.values import MOST_CALLS

if TYPE_CHECKING:
    from gradcli.cli.environment import Environment
    from gradcli.cli.request import Request, ViewOptions

STEPS = 10
"""Steps of gradient descent where no number of them is given."""


def read_wanted(env: Environment, asked: Request, views: ViewOptions) -> ViewRequest:
    """Return what the options ask for; raises ``option`` and ``value``."""
    lr, iterations = views.lr, views.iterations
    if iterations is not None and lr is None:
        raise GradcliError("option", "--iterations are steps of gradient descent, and need --lr", hint="add --lr 0.1")
    if iterations is not None and iterations < 1:
        hint = "for example --iterations 20"
        raise GradcliError("option", f"--iterations {iterations} is not a positive number of steps", hint=hint)
    u = directions(env, asked, views.jvp) if views.jvp else None
    return ViewRequest(
        views.row or (), views.column or (), views.tape, views.steps, views.rows, u, views.hessian,
        None if lr is None else rate(env, asked, lr), iterations or STEPS,
    )  # fmt: skip


def directions(env: Environment, asked: Request, items: list[str]) -> dict[str, object]:
    """Return u by the names of variables; one without a name is that of the only variable."""
    found: dict[str, object] = {}
    for item in items:
        given = re.fullmatch(GIVEN, item)
        name, text = (given[1], given[2]) if given else ("", item)
        if name in found:
            hint = "give one for each variable that moves: --jvp W=... --jvp b=..."
            raise GradcliError("option", f"two --jvp are given{f' for {name}' if name else ''}", hint=hint)
        found[name] = read_array(env, text, "--jvp", asked.budget, asked.notes)
    return found


def rate(env: Environment, asked: Request, text: str) -> float:
    """Return the step of gradient descent; raises ``option`` where it is none."""
    value = np.asarray(read_array(env, text, "--lr", asked.budget, asked.notes))
    if value.size != 1 or not math.isfinite(value.item()) or value.item() <= 0:
        raise GradcliError("option", f"--lr {text[:40]} is not a positive number", hint="for example --lr 0.1")
    return float(value.item())


def each_one_hot(asked: Request, error: GradcliError) -> Request:
    """Return a request with a call of backward for each entry of y, whose v was missing; of many, one for their sum."""
    if not isinstance(error.facts, MissingV):
        raise error
    size = math.prod(error.facts.shape)
    return replace(asked, calls=[np.eye(size) if size <= MOST_CALLS else np.ones(error.facts.shape)])
