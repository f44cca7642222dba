"""Lines of an answer evaluated by the language itself, with ``h.grad`` read as a name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from gradcli.errors import Budget, GivenUp, GradcliError
from gradcli.language.program import Program, compile_program
from gradcli.ops import RESERVED
from gradcli.ops.declare import Array, value_of
from gradcli.ops.making import CONSTANTS

COTANGENT = re.compile(r"\b([A-Za-z_]\w*)\.grad\b")
NAME = re.compile(r"[^\W\d]\w*")
"""A name in a formula, of a variable or of a function."""
BUDGET = Budget(text=64_000, syntax=100_000)


@lru_cache(maxsize=1024)
def compiled(text: str, given: frozenset[str]) -> Program | None:
    """Return a line as a program; None for what is none."""
    try:
        return compile_program(text, BUDGET, given)
    except GradcliError:
        return None


@lru_cache(maxsize=1024)
def with_plain_names(text: str, ending: str) -> tuple[str, frozenset[str]]:
    """Return a line in which ``NAME.grad`` is the name with an ending, and the names that it uses."""
    plain = COTANGENT.sub(lambda found: found[1] + ending, text)
    return plain, frozenset(NAME.findall(plain))


class Reader:
    """Evaluates lines in which the names of ``values`` stand for them, and ``NAME.grad`` for their ``cotangents``.

    ``shapes`` has the shape of each by its name in a line.
    """

    def __init__(self, values: Mapping[str, Array], cotangents: Mapping[str, Array]) -> None:
        self.ending = "_grad"
        while any(name + self.ending in values for name in cotangents):
            self.ending += "_"
        self.shapes = {name: np.shape(value) for name, value in values.items()}
        self.shapes |= {f"{name}.grad": np.shape(value) for name, value in cotangents.items()}
        self.names = {**values, **{name + self.ending: value for name, value in cotangents.items()}}

    def add(self, name: str, value: Array) -> None:
        """Let a name stand for a value in the lines that follow."""
        self.names[name] = value
        self.shapes[name] = np.shape(value)

    def evaluate(self, text: str) -> Array | None:
        """Return what a line gives; None where the language refuses it."""
        plain, used = with_plain_names(text, self.ending)
        given = frozenset(name for name in used if name in self.names and (name in RESERVED or name in CONSTANTS))
        program = compiled(plain, given)
        if program is None or any(name not in self.names for name in program.inputs):
            return None
        try:
            run = program.evaluate({name: self.names[name] for name in program.inputs}, frozenset(), record=False)
        except GivenUp:
            raise
        except GradcliError:
            return None
        return np.asarray(value_of(run[1]))
