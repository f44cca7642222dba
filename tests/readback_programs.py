"""Random programs whose every printed formula is read back by gradcli's own language."""

import re
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TextIO

import numpy as np

import gradcli
from generator.scripts import LARGE, MORE, Script, random_script
from gradcli.document.verdicts import with_true_formulas
from gradcli.errors import Budget
from gradcli.formulas.readback import read_back
from gradcli.language.program import compile_program
from gradcli.ops.declare import value_of

REFUSED = re.compile("shape|type|index|value|unused|unbound|unknown|not-diff|arguments|missing-input|no-var|in-place")
"""What a random program may be refused for."""


def program(seed: int) -> Script:
    """Return the program of a seed: small for formulas of every entry, or large for index rules."""
    return random_script(0, seed, LARGE, MORE)


def as_given(value) -> np.ndarray:
    """Return a value as an array of floats, a condition as it is."""
    found = np.asarray(value)
    return found if found.dtype == np.bool_ else found.astype(np.float64)


def in_doubles(formula: str, names) -> np.ndarray:
    """Return what gradcli's own language makes of a formula, with names that may not be finite."""
    program = replace(compile_program(formula, Budget(), frozenset(names)), truths=True)
    values = {name: as_given(names[name]) for name in program.inputs}
    return np.asarray(value_of(program.evaluate(values, frozenset())[1]))


def findings(given: Script) -> tuple[int, list]:
    """Return how many formulas the answer to a program prints, and those that are not their numbers.

    -1 formulas where the program is none: shapes that do not fit, or numbers too large to be compared.
    """
    try:
        y = gradcli.function(given.text).value(**given.inputs)
        v = np.cos(np.arange(y.size) + 1.0).reshape(y.shape)
        found = gradcli.explain(given.text, v=v, inputs=given.inputs)
    except gradcli.GradcliError as error:
        if REFUSED.match(error.kind):
            return -1, []
        raise
    numbers = [found.output, *(j.values for j in found.jacobian.values())]
    if not all(np.all(np.abs(array) < 1e6) for array in numbers):
        return -1, []
    return read_back(with_true_formulas(found), in_doubles, tolerance=1e-7, least=1e-2)


def night(seed: int, numbers: Sequence[int], out: TextIO = sys.stdout) -> int:
    """Run many programs, print those whose formulas are wrong, and return how many those are."""
    formulas = ran = failed = 0
    for number in numbers:
        given = program(seed + number)
        count, wrong = findings(given)
        ran += count > 0
        formulas += max(count, 0)
        if wrong:
            failed += 1
            shapes = [v.shape for v in given.inputs.values()]
            print(f"seed {seed + number}: {given.text!r} {shapes}\n    {wrong[0]}", file=out)
    print(f"{ran} of {len(numbers)} programs, {formulas} formulas, {failed} programs with a wrong one", file=out)
    return failed
