"""The values that a snippet gives its inputs and its v, computed when they are asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.errors.facts import MissingInputs
from gradcli.language.program import Program
from gradcli.language.snippets.building import evaluated


def start_values(program: Program, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of all inputs, where a snippet gives those that are not given; raises ``random``."""
    known = dict(given)
    for start in program.starts:
        if start.name in known and start.settles:
            message = f"line {start.settles} decides by '{start.name}' which lines run: change its value there"
            raise GradcliError("unknown-input", message)
        if start.name in known:
            continue
        if start.program is None:
            if start.name in program.inputs and start.error is not None:
                drawn = [one.name for one in program.starts if one.error and one.name not in known]
                raise start.error.about(MissingInputs(tuple(name for name in drawn if name in program.inputs)))
            continue
        if all(name in known for name in start.program.inputs):
            value = evaluated(start.program, {name: known[name] for name in start.program.inputs})
            known[start.name] = np.asarray(value, np.int64)[()] if start.integers else value
    return {name: value for name, value in known.items() if name in given or name in program.inputs}


def v_values(program: Program, values: Mapping[str, Any]) -> list[Any]:
    """Return the v of every call of backward, None for the default; raises ``random`` for one that is drawn."""
    found: list[Any] = []
    for call in program.calls:
        if call.error is not None:
            message = "v is drawn at random, and a program has the same value at every run"
            raise GradcliError("random", message, span=call.error.span, place=call.error.place, hint="give v")
        found.append(None if call.v is None else evaluated(call.v, {name: values[name] for name in call.v.inputs}))
    return found


def total_v(program: Program, values: Mapping[str, Any]) -> Any:
    """Return v added up over the calls of a snippet that count; None for the default of one call."""
    resets = [place for place, call in enumerate(program.calls) if call.alone]
    found = v_values(program, values)[max(resets, default=0) :]
    return found[0] if len(found) == 1 else sum(1.0 if v is None else v for v in found)
