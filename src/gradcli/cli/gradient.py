"""The ``grad`` command's work: reverse mode alone, so that sympy is never imported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.cli.output import complain, write_parts
from gradcli.cli.request import Printing, Request, with_v_place
from gradcli.errors import GradcliError
from gradcli.evaluation import Function
from gradcli.readings import accumulated, stand
from gradcli.render.numbers import exact

if TYPE_CHECKING:
    from gradcli.cli.environment import Environment
    from gradcli.readings import Point


def answer(env: Environment, asked: Request, how: Printing) -> bool:
    """Print the gradients, accumulated over all calls, and return whether everything is finite."""
    function = Function(asked.program, asked.wrt, asked.budget, asked.values)
    try:
        point = stand(function, asked.values, asked.calls, asked.strict, record=False)
    except GradcliError as error:
        raise with_v_place(error, asked.v_texts) from None
    total = accumulated(point)
    if not how.quiet or how.output:
        parts = written(point, total) if how.format == "json" else [bare(total), "\n"]
        write_parts(env, parts, how.output)
    if not how.quiet:
        for _, message in point.run.graph.remarks:
            complain(env, f"note: {message}")
    return bool(np.all(np.isfinite(point.run.value)) and all(np.all(np.isfinite(g)) for g in total.values()))


def written(point: Point, total: dict[str, Any]) -> list[str]:
    """Return the JSON document of gradients, in parts."""
    from gradcli.render.document import gradient_document  # noqa: PLC0415
    from gradcli.render.encoded import encoded  # noqa: PLC0415

    return encoded(lambda form: gradient_document(point, total, form))


def bare(total: dict[str, Any]) -> str:
    """Return one gradient as numbers, several as ``name=numbers`` lines for ``--set``."""
    if len(total) == 1:
        return exact(next(iter(total.values())))
    return "\n".join(f"{name}={exact(g)}" for name, g in total.items())
