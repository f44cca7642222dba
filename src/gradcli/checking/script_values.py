"""Variables of a script in a formula of the user's: each is computed by running the script again, in many digits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gradcli.exact.real import Real, array
from gradcli.exact.slopes import Exact
from gradcli.language.names import MODULES
from gradcli.language.program import compile_program
from gradcli.ops.declare import Array, value_of
from gradcli.ops.making import CONSTANTS


@dataclass(frozen=True, slots=True)
class ScriptValue:
    """What a variable of a script is at the end, at one point: in doubles, and in the digits that are asked for."""

    doubles: Array
    exact: Exact

    def at(self, count: int) -> Array:
        """Return the value in so many digits."""
        return array([Real(entry) for entry in self.exact.base(count)[0]], self.doubles.shape)


def variables_of(program: Any) -> list[str]:
    """Return the variables of a script, which a formula may use; a formula and a function of Python's have none."""
    if not program.is_script:
        return []
    from gradcli.explanation.scripts import is_whole_script  # a formula has none

    return [name for name in program.variables if name not in MODULES] if is_whole_script(program) else []


def values_in(exact: Exact, formula: str, given: Mapping[str, object]) -> dict[str, ScriptValue]:
    """Return the variables of a script that a formula uses beside those that are given.

    Raises what is wrong with the formula, and ``type`` for a variable that is no number.
    """
    variables = set(variables_of(exact.program)) - given.keys()
    if not variables:
        return {}
    names = frozenset(given) | (variables & CONSTANTS.keys())
    used = compile_program(formula, exact.program.budget, names).inputs
    return {name: value_of_variable(exact, name) for name in used if name in variables}


def value_of_variable(exact: Exact, name: str) -> ScriptValue:
    """Return one variable of a script at the point of ``exact``, whose work it takes."""
    script: Any = exact.program
    program = replace(script, of=name, stop=-1, sweeps=list(script.sweeps))
    point = {key: value[()] for key, value in exact.point.items()}
    doubles = np.asarray(value_of(program.evaluate(point, exact.wrt)[1]), dtype=np.float64)
    beside = Exact(program, exact.point, sorted(exact.wrt))
    beside.work = exact.work
    return ScriptValue(doubles, beside)
