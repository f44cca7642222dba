"""Random programs over the whole language: y, J by both routes and vᵀ·J are what an oracle with 40 digits says.

GRADCLI_SEED and GRADCLI_PROGRAMS in the environment change which programs and how many.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from mpmath import mp

import gradcli
from generator.compare import Worst, Wrong, check, ratio
from generator.coverage import features
from generator.duals import ELEMENTARY, Dual, IllPosed, forty_digits
from generator.oracle import exact
from generator.programs import random_program
from generator.vocabulary import RULES, canonical, of_method
from gradcli.ops import METHODS, SPELLINGS
from oracles import portion, tampered
from random_programs import checked, night
from records import FUNCTIONS, OPS

SEED, COUNT = int(os.environ.get("GRADCLI_SEED", "1")), int(os.environ.get("GRADCLI_PROGRAMS", "300"))
ROUND = 450
"""Programs in which everything has had its turn, twice."""
SLIGHTLY = 1 + 1e-9


@cache
def program_of(number):
    """Return a program of the seed; each is grown once."""
    return random_program(SEED, number)


@pytest.mark.parametrize("number", portion(range(COUNT), 30), ids=lambda number: f"seed {SEED}, number {number}")
def test_gradcli_gives_what_the_oracle_gives(number):
    checked(program_of(number))


SPELLED = ["bare", "as a method", *(f"{root}." for root in ("torch", "np", "numpy", "math", "F", "linalg", "special"))]
# fmt: off
LANGUAGE = {
    *(f"{name}()" for name in FUNCTIONS), "len()", "size()", "numel()", *(f"spelled {how}" for how in SPELLED),
    "Add", "Sub", "Mult", "Div", "FloorDiv", "Mod", "Pow", "MatMult", "USub", "UAdd", "Not", "Invert", "BitAnd",
    "BitOr", "And", "Or", "Lt", "LtE", "Gt", "GtE", "Eq", "NotEq", "chain", "IfExp", "List",
    *(f"{op} into a variable" for op in ("Add", "Sub", "Mult", "Div", "Pow", "Mod", "FloorDiv", "MatMult")),
    *(f"{op} into a part" for op in ("Add", "Sub", "Mult", "Div", "Pow")),
    "assign to Name", "assign to Tuple", "assign to List", "assign to Subscript",
    "index", "negative index", "slice", "slice with a negative step", "index None", "index ...", "list of positions",
    "list of truth values", "mask", "computed index", "several parts",
    "If", "else", "elif", "if without else", "While", "Break", "Continue", "Pass",
    "for over a range", "for over an array", "for in for", "for in while",
    "ends with Expr", "ends with Assign", "ends with AugAssign",
}
# fmt: on


@pytest.mark.slow
def test_the_programs_cover_the_language():
    found = set().union(*(features(program_of(number).text) for number in range(ROUND)))
    assert not LANGUAGE - found


@pytest.mark.slow
def test_the_programs_cover_shapes_and_choices_of_variables():
    programs = [program_of(number) for number in range(ROUND)]
    assert {p.truth.value.ndim for p in programs} >= {0, 1, 2}
    assert {np.ndim(x) for p in programs for x in p.inputs.values()} >= {0, 1, 2, 3}
    assert sum(len(p.wrt) < len(p.inputs) for p in programs) > ROUND // 20
    assert sum(len(p.wrt) > 1 for p in programs) > ROUND // 5
    assert sum(bool(np.any(j)) for p in programs for j in p.truth.jacobian.values()) > ROUND


def test_the_oracle_knows_every_name_of_the_language_by_its_own_table():
    assert set(RULES) == set(FUNCTIONS)
    assert {name: canonical(name) for name in SPELLINGS} == {name: f.name for name, f in SPELLINGS.items()}
    assert {name: of_method(name) for name in METHODS} == {name: f.name for name, f in METHODS.items()}


POINTS = {"acosh": [1.5], "atan2": [0.7, -0.4]}


@pytest.mark.parametrize("name", ELEMENTARY)
def test_the_derivatives_of_the_oracle_are_those_of_its_values(name):
    point, rule = POINTS.get(name, [0.6]), ELEMENTARY[name]
    with forty_digits():
        one = [Dual(mp.mpf(x), 0.0, {k: (mp.mpf(1), 1.0, 0.0)}) for k, x in enumerate(point)]
        slopes = rule(*one).slopes
        for k in range(len(point)):
            by_differences = mp.diff(
                lambda *x: rule(*map(Dual, x)).value, point, tuple(int(k == j) for j in range(len(point)))
            )
            assert abs(slopes[k][0] - by_differences) < 1e-15


@pytest.mark.parametrize(("text", "y", "J"), [
    ("x**2", 9.0, 6.0), ("[x, 1/x]", [3.0, 1 / 3], [1.0, -1 / 9]), ("y = zeros(2); y[1] = x*x; y", [0.0, 9.0], [0, 6]),
    ("a = x*1; b = a; a += 1; b", 4.0, 1.0), ("x.detach()*x", 9.0, 3.0), ("b = [x, 2]*2; b[0] + b[1]", 10.0, 2.0),
])  # fmt: skip
def test_the_oracle_by_hand(text, y, J):
    found = exact(text, {"x": 3.0}, ("x",))
    np.testing.assert_allclose(found.value, y, rtol=1e-15)
    np.testing.assert_allclose(found.jacobian["x"], J, rtol=1e-15)


@pytest.mark.parametrize(
    "text", ["log(x)", "abs(x)", "1/x", "x if x > 0 else -x", "floor(x)", "max([x, 0])", "exp(x + 9)"]
)
def test_the_oracle_refuses_what_is_not_well_posed(text):
    with pytest.raises(IllPosed):
        exact(text, {"x": 0.01}, ("x",))


def test_the_same_seed_gives_the_same_programs_in_every_process():
    code = "from generator.programs import random_program\nfor n in range(8): print(random_program(5, n))"
    told = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent,
        env={**os.environ, "PYTHONHASHSEED": "77"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.splitlines() == "\n".join(str(random_program(5, n)) for n in range(8)).splitlines()
    assert str(random_program(6, 0)) != str(random_program(5, 0))


def scaled(rule):
    """Return a rule whose answers are slightly too large."""
    return lambda *values, **static: rule(*values, **static) * SLIGHTLY


def wrong_on_both_routes(op):
    """Return fields of an op with which vjp and local reading agree, and are slightly wrong."""
    right, rules = op.local, op.vjps
    return {
        "vjps": (lambda k: scaled(rules(k))) if callable(rules) else tuple(rule and scaled(rule) for rule in rules),
        "local": lambda *given: [replace(part, weight=np.asarray(part.weight) * SLIGHTLY) for part in right(*given)],
    }


@cache
def ops_of(number):
    """Return the names of the ops of a program through which a gradient flows."""
    program = program_of(number)
    run = gradcli.function(program.text, program.wrt).evaluate(program.inputs)
    return {node.op.name for node in run.graph.nodes if node.op is not None and node.active}


def programs_with(name):
    """Return the first programs whose gradients an op's rules change, the shortest of them first."""
    numbers = (number for number in range(4 * ROUND) if name in ops_of(number) and counts(name, program_of(number)))
    return sorted(map(program_of, islice(numbers, 12)), key=lambda program: len(program.text))


def counts(name, program):
    """Return whether gradients are others where the vjps of an op are slightly wrong: in some they meet zeros."""
    right = gradient_of(program)
    with tampered(OPS[name], vjps=wrong_on_both_routes(OPS[name])["vjps"]):
        wrong = gradient_of(program)
    return any(np.any(np.abs(right[k] - wrong[k]) > 1e-11 * np.abs(right[k])) for k in right)


def gradient_of(program):
    return gradcli.function(program.text, program.wrt).grad(v=program.v, **program.inputs)


DIFFERENTIABLE = sorted(name for name, op in OPS.items() if not op.step and (callable(op.vjps) or any(op.vjps)))
OFTEN = {"add", "mul", "sum"}
"""Ops that are in many programs; all others are sought in hundreds."""


def sought(names):
    return [name if name in OFTEN else pytest.param(name, marks=pytest.mark.slow) for name in names]


def noticed(programs):
    """Return whether the check fails on one of these programs."""
    for program in programs:
        try:
            check(program, whole=False)
        except Wrong:
            return True
    return False


@pytest.mark.parametrize("name", sought(DIFFERENTIABLE))
def test_a_derivative_that_is_wrong_on_both_routes_is_noticed(name):
    programs = programs_with(name)
    with tampered(OPS[name], **wrong_on_both_routes(OPS[name])):
        assert noticed(programs)
    check(programs[0], whole=False)


@pytest.mark.parametrize("name", sought(name for name in DIFFERENTIABLE if not OPS[name].entries.moves))
def test_a_value_that_is_wrong_is_noticed(name):
    programs = programs_with(name)
    with tampered(OPS[name], forward=scaled(OPS[name].forward)):
        assert noticed(programs)


@pytest.mark.parametrize(("got", "want"), [
    (1.0, 1.1), ([1.0], 1.0), (float("nan"), 1.0), (1.0, float("nan")), (float("inf"), 1.0), ([1.0, 2.0], [1.0, 2.1]),
])  # fmt: skip
def test_the_comparison_refuses(got, want):
    with pytest.raises(Wrong):
        ratio(got, want, 0.01, "")


def test_the_comparison_measures_in_units_of_the_tolerance():
    assert ratio([1.0, 2.0], [1.0, 2.25], 0.5, "") == 0.5
    assert Worst(1, 2, 3, 4).joined(Worst(4, 3, 2, 1)) == Worst(4, 3, 3, 4)


def test_the_run_of_a_night_prints_what_reproduces_a_failure():
    out = io.StringIO()
    assert night(SEED, [0, 1], out) == 0
    assert "2 programs, 0 failures" in out.getvalue()
    with tampered(OPS["mul"], vjps=tuple(map(scaled, OPS["mul"].vjps))):
        # A product whose uses cancel shows no fault: another one does.
        first = next(found for found in programs_with("mul") if night(SEED, [found.number], out))
    assert f"python tests/random_programs.py --seed {SEED} --only {first.number}\n" in out.getvalue()
    assert first.text in out.getvalue()
