"""Forward says what ran: a line for each name of the program, with its value, as the user wrote it."""

import re

import numpy as np
import pytest

import gradcli
from generator.programs import random_program
from gradcli.errors import GradcliError
from gradcli.explanation.evaluation import Function
from oracles import cases, portion
from shown import lines_of

TABLES = cases("forward.toml")

X = {"x": [1.0, 2.0]}
PROGRAMS = TABLES["PROGRAMS"]  # each with its values, and its lines at 80 columns


def explained(program, values):
    shape = Function(program, given=values).value(**values).shape
    return gradcli.explain(program, **values, calls=[np.ones(shape)])


def squeezed(lines):
    """Return lines without what alignment adds."""
    return [re.sub(" +", " ", line) for line in lines]


@pytest.mark.parametrize("name", PROGRAMS)
def test_forward_says_what_ran(name):
    program, values, lines = PROGRAMS[name].values()
    assert squeezed(lines_of(explained(program, values), "forward")) == squeezed(lines)


@pytest.mark.parametrize("name", ["a list", "straight code", "a network", "a while", "indexed writes"])
def test_columns_are_aligned(name):
    program, values, lines = PROGRAMS[name].values()
    assert lines_of(explained(program, values), "forward") == lines


NAMES = TABLES["NAMES"]  # program: names of its values in order, the last that of the output


@pytest.mark.parametrize("program", NAMES)
def test_a_value_has_one_name(program):
    found = explained(program, dict.fromkeys(Function(program).inputs, X["x"]))
    names = [value.name for value in found.values]
    assert sorted(names) == sorted(NAMES[program])
    assert names[-1] == found.name == NAMES[program][-1]
    assert [value.role for value in found.values].count("output") == 1
    assert not set(found.definitions) - set(names) & set(re.findall(r"\w+", program))


def test_forward_and_formulas_number_a_name_alike():
    found = explained("y = x\nfor i in range(30): y = sin(y)\ny", {"x": 1.0})
    values = {value.name: value.value for value in found.values}
    known = {name: found.definition_values[name] for name in found.definitions if name in values}
    assert len(known) > 5
    for name, number in known.items():
        assert number == values[name], name


def test_a_long_loop_keeps_its_first_and_last_turns():
    found = explained("y = x\nfor i in range(5000): y = y*0.999\ny", {"x": 1.0})
    assert found.name == "y5001"
    assert len(found.forward) < 300
    lines = lines_of(found, "forward")
    assert lines[3:] == ["y2    = y1*0.999    = 1*0.999          = 0.999",
                         "…   5,000 turns of the loop over i; the last, i = 4999:",
                         "y5001 = y5000*0.999 = 0.00672784*0.999 = 0.00672111"]  # fmt: skip


def test_a_run_for_the_gradient_alone_tells_nothing():
    run = Function("y = x\nfor i in range(9): y = y*2 if y < 5 else y\ny").evaluate({"x": 1.0}, record=False)
    assert run.graph.story is None
    assert run.graph.bindings == []


def test_a_computed_name_is_not_unknown():
    with pytest.raises(GradcliError, match="'h' is computed by the program, and no input"):
        gradcli.explain("h = x*2\nh**2", x=1.0, wrt=["h"])


WIDTHS = (40, 60, 80, 120, 200)
SEEDS = [(case["id"], case["expression"], case["inputs"]) for case in cases("seed_cases.json")]


def hold(program, values):
    """Every value has a name of its own and is what its formula gives; every name that ran is shown; no line is cut."""
    try:
        found = explained(program, values)
    except GradcliError as error:
        joins = "] + [" in program  # lists joined as Python's make a script, in which a list is no array
        assert error.kind in ("no-variables", "budget", *(["script"] if joins else [])), error  # noqa: PT017
        return
    known = {}
    for value in found.values:
        assert value.name not in known
        if value.formula is not None:
            given = {name: np.asarray(known[name], dtype=float) for name in known}
            read = Function(value.formula, given=given)
            got = read.value(**{name: given[name] for name in read.inputs})
            assert got.shape == value.value.shape, value
            np.testing.assert_allclose(got, np.asarray(value.value, float), rtol=1e-9, atol=1e-300, err_msg=value.name)
        known[value.name] = value.value
    assert np.array_equal(known[found.name], found.output, equal_nan=True)
    for width in WIDTHS:
        for unicode in (True, False):
            lines = lines_of(found, "forward", width, unicode=unicode)
            assert [line for line in lines if len(line) > width - 3 and not has_long_name(line, width)] == []
            text = "\n".join(lines)
            assert unicode or text.isascii()
            for name in names_outside_of_loops(found):
                assert re.search(rf"(?<!\w){name}(?!\w)", text), name


def has_long_name(line, width):
    """Return whether one name in a line leaves no room for the indent of a line that goes on and a sign."""
    return max(map(len, re.findall(r"[\w.]+(?:\[[^]]*\]\*\*[\w.]+|=\"\w+\"\)\.\w+)?", line))) > width - 16


def names_outside_of_loops(found):
    """Return the names of values outside of loops, all of which are shown."""
    return [value.name for value in found.values if not value.turns and value.role != "input"]


@pytest.mark.parametrize("case", SEEDS, ids=lambda case: case[0])
def test_values_of_the_first_examples(case):
    _, program, inputs = case
    hold(program, {name: np.asarray(value, dtype=float) for name, value in inputs.items()})


@pytest.mark.long
@pytest.mark.parametrize("number", portion(range(300), 150))
def test_values_of_random_programs(number):
    made = random_program(11, number)
    hold(made.text, made.inputs)
