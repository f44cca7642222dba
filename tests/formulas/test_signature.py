"""Two runs with one signature have one set of formulas, and runs that took another way have another signature."""

import itertools
import random

import numpy as np
import pytest

import gradcli
from generator.programs import random_program
from gradcli.formulas.derivation import LONG_ARRAY, MOST_NODES, found_formulas, refreshed, signature
from gradcli.jacobian.composition import compose
from oracles import cases, portion
from programs import GROWING, NAMED, PROGRAMS, inputs_of

TEXTS = ("output", "jacobians", "definitions", "rules")
FUNCTIONS = sorted({program for programs in PROGRAMS.values() for program in programs})


def read(program, inputs, wrt=None):
    """Return the signature of a run, its formulas, and what refreshes them."""
    f = gradcli.function(program, wrt=wrt)
    run = f.evaluate(inputs)
    leaves = {name: run.leaves[name] for name in f.differentiated}
    composition = compose(run.output, list(leaves.values()), 10**6, run.graph)
    return (
        signature(run.graph, run.output, leaves, composition),
        refreshed(found_formulas(run.graph, run.output, leaves, composition), composition),
        composition,
    )


def texts(found):
    return {name: getattr(found, name) for name in TEXTS}


def assert_refreshed(old, new, composition):
    """Hold the formulas of one run with the numbers of another against those of the other."""
    got = refreshed(old, composition)
    assert texts(got) == texts(new)
    assert list(got.values) == list(new.values)
    for name, value in new.values.items():
        np.testing.assert_array_equal(got.values[name], value)


def hold(program, points, wrt=None):
    """Return how many pairs of runs have one signature; fail where their formulas are not the same."""
    runs = [read(program, point, wrt) for point in points]
    alike = 0
    for (a, old, _), (b, new, composition) in itertools.combinations(runs, 2):
        if a is not None and a == b:
            alike += 1
            assert hash(a) == hash(b)
            assert_refreshed(old, new, composition)
    return alike


def moved(inputs, factor, shift):
    """Return inputs elsewhere: scaled and shifted where they are no whole numbers, which may be places or classes."""
    return {name: np.asarray(x) * factor + shift if np.any(np.asarray(x) % 1) else x for name, x in inputs.items()}


@pytest.mark.parametrize("program", portion([*NAMED, *GROWING.values(), *FUNCTIONS], 80))
def test_one_signature_means_one_set_of_formulas(program):
    inputs = NAMED.get(program) or inputs_of(program, gradcli.function(program).inputs)
    near = [inputs, inputs, moved(inputs, 1 + 2e-3, 0.0), moved(inputs, 0.9, 0.01)]
    assert hold(program, near) >= 1 or read(program, inputs)[0] is None


@pytest.mark.parametrize("number", portion(range(60), 60))
def test_one_signature_means_one_set_of_formulas_in_random_programs(number):
    program, rng = random_program(3, number), random.Random(number)  # noqa: S311 - the same numbers at every run
    factor, shift = rng.choice([1.0, 1.001, 0.5, -1.0]), rng.choice([0.0, 1e-6])
    points = [program.inputs, {name: x * factor + shift for name, x in program.inputs.items()}]
    try:
        gradcli.function(program.text, program.wrt).evaluate(points[1])
    except gradcli.GradcliError:  # the program stops elsewhere: a singular matrix, a loop without end
        return
    hold(program.text, points, program.wrt)


OTHERS = cases("signatures.toml")["OTHERS"]  # program, two points at which it goes another way


@pytest.mark.parametrize("what", OTHERS)
def test_another_way_through_the_program_has_another_signature(what):
    program, here, there = OTHERS[what].values()
    (a, old, _), (b, new, _) = read(program, here), read(program, there)
    assert None not in (a, b)
    assert a != b
    assert hold(program, [here, here, there, there]) == 2
    assert what in {"a number of the program", "a name", "an order of events"} or texts(old) != texts(new)


def test_long_constants_go_by_a_digest():
    long = [f"x*{[0.1 * k for k in range(LONG_ARRAY // 8 + 1)]}[{k}]" for k in (0, 0, 1)]
    wide = [f"x + sum({[0.1 * k for k in range(LONG_ARRAY // 8 + n)]})" for n in (0, 1, 1)]
    for same in (long, wide):
        a, b, c = (read(program, {"x": 2.0})[0] for program in same)
        assert len({a, b, c}) == 2


def test_large_runs_and_constants_have_none():
    loop = f"y = x\nfor i in range({MOST_NODES}):\n    y = sin(y)\ny"
    assert read(loop, {"x": 0.5})[0] is None
    assert read("x*x", {"x": np.ones(2000)})[0] is None
    assert read("x*0 + 1 if x > 5 else 2", {"x": 1.5})[0] is None
