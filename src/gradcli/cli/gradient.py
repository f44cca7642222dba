"""The ``grad`` command's work: reverse mode alone, so that sympy is never imported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gradcli.agreement import sum_of
from gradcli.cli.output import dump, write
from gradcli.cli.request import Printing, Request, with_v_place
from gradcli.errors import GradcliError
from gradcli.evaluation import Evaluation, Function, gradients
from gradcli.inputs import Cotangent, read_v
from gradcli.render.head import head
from gradcli.render.numbers import exact, nested

if TYPE_CHECKING:
    from gradcli.cli.environment import Environment


def answer(env: Environment, asked: Request, how: Printing) -> bool:
    """Print the gradients, accumulated over all calls, and return whether everything is finite."""
    function, run, seeds = evaluated(asked)
    names = function.differentiated
    total: dict[str, Any] = {}
    for seed in seeds:
        for name, g in gradients(run, seed.seed, names).items():
            total[name] = sum_of([total[name], g]) if name in total else g
    finite = bool(np.all(np.isfinite(run.value)) and all(np.all(np.isfinite(g)) for g in total.values()))
    if not how.quiet or how.output:
        text = dump(document(function, run, seeds, total)) if how.format == "json" else bare(total)
        write(env, text, how.output)
    return finite


def evaluated(asked: Request) -> tuple[Function, Evaluation, list[Cotangent]]:
    """Run the program and read every v."""
    function = Function(asked.program, asked.wrt, asked.budget, asked.values)
    try:
        run = function.evaluate(asked.values, record=False)
        return function, run, [read_v(v, run.value.shape, asked.strict) for v in asked.calls]
    except GradcliError as error:
        raise with_v_place(error.at(error.span, function.place), asked.v_texts) from None


def bare(total: dict[str, Any]) -> str:
    """Return one gradient as numbers, several as ``name=numbers`` lines for ``--set``."""
    if len(total) == 1:
        return exact(next(iter(total.values())))
    return "\n".join(f"{name}={exact(g)}" for name, g in total.items())


def document(function: Function, run: Evaluation, seeds: list[Cotangent], total: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON document of a gradient: that of an explanation without J."""
    source = seeds[0].source if len(seeds) == 1 else "accumulated"
    v = seeds[0].shown if len(seeds) == 1 else sum_of([seed.seed for seed in seeds])
    return {
        **head(function.place.text),
        "output": {"shape": list(run.value.shape), "value": nested(run.value)},
        "v": {"shape": list(np.shape(v)), "value": nested(v), "source": source},
        "grad": {name: nested(g) for name, g in total.items()},
        "error": None,
    }
