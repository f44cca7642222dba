"""The values that a snippet gives its inputs and its v, computed when they are asked for."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from gradcli.errors import GradcliError
from gradcli.errors.facts import MissingInputs
from gradcli.language.inputs import read_v
from gradcli.language.program import Program
from gradcli.language.snippets.building import evaluated


def start_values(program: Program, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of all inputs, where a snippet gives those that are not given.

    Raises ``random`` for numbers that are drawn, and ``unknown-input`` for a value that decides which lines run.
    """
    settled = next((start for start in program.starts if start.settles and start.name in given), None)
    if settled is not None:
        message = f"line {settled.settles} decides by '{settled.name}' which lines run: change its value there"
        raise GradcliError("unknown-input", message)
    known = known_values(program, given)
    drawn = [one for one in program.starts if one.error and one.name in program.inputs and one.name not in known]
    if drawn and drawn[0].error is not None:
        values = tuple(example_of(one.error) for one in drawn if one.error is not None)
        raise drawn[0].error.about(MissingInputs(tuple(one.name for one in drawn), values=values))
    settings = {start.name for start in program.starts if start.setting}
    wanted = (given.keys() | program.inputs.keys()) - settings
    return {name: value for name, value in known.items() if name in wanted}


DRAWN = re.compile(r"\b(?:randn?|normal|uniform|standard_normal)\(\s*[(\[]?((?:\d+\s*,\s*)*\d+)\s*[,)\]]")
"""A call that draws numbers, with the shape that it gives them."""


OTHER_SHAPE = re.compile(r"\]?\[|\.(?:T|t|mT|view|reshape|unsqueeze|squeeze|flatten|permute|transpose|sum|mean|norm)\b")
"""What gives the numbers of a call another shape."""


def example_of(error: GradcliError) -> str:
    """Return numbers in the shape of those that a statement draws; empty where its shape is not written out."""
    text = "" if error.place is None or error.span is None else error.place.text[slice(*error.span)]
    found = DRAWN.search(text)
    if found is None or OTHER_SHAPE.search(text):
        return ""
    shape = [int(size) for size in found[1].split(",")]
    numbers = f"np.linspace(0.1, 1, {math.prod(shape)})"
    return numbers if len(shape) == 1 else f"{numbers}.reshape({', '.join(map(str, shape))})"


def known_values(program: Program, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that are given, and those of a snippet as far as they are known then."""
    known = dict(given)
    for start in program.starts:
        made = start.program
        if start.held is not None:
            known.setdefault(start.name, start.held)
        if start.name not in known and made is not None and all(name in known for name in made.inputs):
            value = evaluated(made, {name: known[name] for name in made.inputs})
            known[start.name] = np.asarray(value, np.int64)[()] if start.integers else value
    return known


def v_values(program: Program, values: Mapping[str, Any]) -> list[Any]:
    """Return the v of every call of backward, None for the default; raises ``random`` for one that is drawn."""
    known, found = known_values(program, values), []
    for call in program.calls:
        if call.error is not None:
            message = "v is drawn at random, and a program has the same value at every run"
            raise GradcliError("random", message, span=call.error.span, place=call.error.place, hint="give v")
        for name, span in call.v.inputs.items() if call.v else ():
            if name not in known:
                message = f"no value for '{name}', which v is made of"
                raise GradcliError("missing-input", message, span=span, place=program.place, hint="give v")
        found.append(None if call.v is None else evaluated(call.v, {name: known[name] for name in call.v.inputs}))
    return found


def total_v(program: Program, values: Mapping[str, Any], shape: tuple[int, ...]) -> Any:
    """Return v for an output of ``shape``, added up over the calls of a snippet that count."""
    resets = [place for place, call in enumerate(program.calls) if call.alone]
    found = v_values(program, values)[max(resets, default=0) :]
    return found[0] if len(found) == 1 else sum(read_v(v, shape, strict=False).seed for v in found)
