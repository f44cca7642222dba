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
PROGRAMS = {  # program, values, lines at 80 columns
    "one expression": ("sin(x)*2", X, ["x = [1, 2]", "y = sin(x)*2   [1.68294, 1.81859]"]),
    "a list": (
        "[3*x[0]**2, x[0]**2 + 2*x[1]**3]", X,
        ["x    = [1, 2]",
         "y[0] = 3*x[0]**2           = 3*1**2        =  3",
         "y[1] = x[0]**2 + 2*x[1]**3 = 1**2 + 2*2**3 = 17"],
    ),
    "a matrix": ("[[x[0], 1], [0, x[1]]]", X,
                 ["x      = [1, 2]", "y[0,0] = x[0] = 1", "y[0,1] = 1", "y[1,0] = 0", "y[1,1] = x[1] = 2"]),
    "straight code": (
        "h = tanh(x)\ny = h*h + x", {"x": 0.7},
        ["x = 0.7",
         "h = tanh(x) = tanh(0.7)               = 0.604368",
         "y = h*h + x = 0.604368*0.604368 + 0.7 = 1.06526"],
    ),
    "a network": (
        "z = W1 @ x + b1\nh = tanh(z)\nloss = sum((h - t)**2)",
        {"W1": [[1, 0], [0, 2.0]], "x": [1, 2.0], "b1": [0.5, -4], "t": [1, 0.0]},
        ["z    = W1 @ x + b1       (2,)   [1.5, 0]",
         "h    = tanh(z)           (2,)   [0.905148, 0]",
         "loss = sum((h - t)**2)          0.00899685"],
    ),
    "constants": (
        "k = 3.0\nt = torch.tensor([1., 5.])\ny = k*x - t", X,
        ["x = [1, 2]", "k = 3", "t = torch.tensor([1., 5.])   [1, 5]", "y = k*x - t                  [2, 1]"],
    ),
    "the order of terms and the brackets of the user": (
        "y = (b + a)*2 - (a)", {"a": 1.0, "b": 4.0},
        ["b = 4", "a = 1", "y = (b + a)*2 - (a) = (4 + 1)*2 - (1) = 9"],
    ),
    "several lines in brackets": ("y = (x +\n     sum(x,  # all\n  dim=0))", X,
                                  ["x = [1, 2]", "y = x + sum(x, dim=0)   [4, 5]"]),
    "a while": (
        "y = x*2\nwhile y.norm() < 1000:\n    y = y*2\ny", {"x": [0.3, -0.9, 0.55]},
        ["x   = [0.3, -0.9, 0.55]",
         "y1  = x*2    [0.6, -1.8, 1.1]",
         "y2  = y1*2   [1.2, -3.6, 2.2]",
         "…   9 turns of the loop; the last:",
         "y10 = y9*2   [307.2, -921.6, 563.2]",
         "it ended because y10.norm() = 1122.9 ≥ 1000"],
    ),
    "a while that makes no turn": (
        "y = x*2\nwhile y < 1:\n    y = y*2\ny", {"x": 3.0},
        ["x = 3", "y = x*2 = 3*2 = 6", "the loop made no turn because y = 6 ≥ 1"],
    ),
    "a while of one turn": (
        "y = x*1\nwhile not y > 3:\n    y += 2\ny", {"x": 2.0},
        ["x  = 2", "y1 = x*1    = 2*1   = 2", "y2 = y1 + 2 = 2 + 2 = 4", "it ended because not y2 > 3 is false"],
    ),
    "a for": (
        "s = 0.\nfor i in range(3):\n    s += x[i]**i\ns", {"x": [1.0, 2, 3]},
        ["x  = [1, 2, 3]", "s1 = 0", "i = 0:", "s2 = s1 + x[0]**0 = 0 + 1**0 =  1",
         "…   3 turns of the loop over i; the last, i = 2:", "s4 = s3 + x[2]**2 = 3 + 3**2 = 12"],
    ),
    "a for over rows, with break": (
        "t = 0.\nfor r in A:\n    if r[0] > 3:\n        break\n    t = t + r.sum()\nt",
        {"A": [[1.0, 2], [4, 3], [7, 7]]},
        ["A  = [[1, 2], [4, 3], [7, 7]]",
         "t1 = 0",
         "r1 = A[0]           (2,)   [1, 2]",
         "r1[0] = 1 ≤ 3: the if branch did not run and contributes nothing",
         "t2 = t1 + r1.sum()          3",
         "…   2 turns of the loop over r; the last:",
         "r2 = A[1]           (2,)   [4, 3]",
         "r2[0] = 4 > 3: the if branch ran",
         "it ended with break"],
    ),
    "nested loops, with continue": (
        "s = 0.\nfor i in range(3):\n    for j in range(2):\n        if j > i:\n            continue\n"
        "        s = s + x[i]*x[j]\ns", {"x": [1.0, 2, 3]},
        ["x  = [1, 2, 3]", "s1 = 0", "i = 0:", "j = 0:",
         "j = 0 ≤ 0 = i: the if branch did not run and contributes nothing",
         "s2 = s1 + x[0]*x[0] = 0 + 1*1  =  1",
         "…   2 turns of the loop over j; the last, j = 1:",
         "j = 1 > 0 = i: the if branch ran",
         "…   3 turns of the loop over i; the last, i = 2:", "j = 0:",
         "j = 0 ≤ 2 = i: the if branch did not run and contributes nothing",
         "s5 = s4 + x[2]*x[0] = 7 + 3*1  = 10",
         "…   2 turns of the loop over j; the last, j = 1:",
         "j = 1 ≤ 2 = i: the if branch did not run and contributes nothing",
         "s6 = s5 + x[2]*x[1] = 10 + 3*2 = 16"],
    ),
    "an if that holds": (
        "if x > 1:\n    y = x*2\nelse:\n    y = x*3\ny", {"x": 2.0},
        ["x = 2", "x = 2 > 1: the if branch ran; else contributes nothing", "y = x*2 = 2*2 = 4"],
    ),
    "an else": (
        "if x > 1:\n    y = x*2\nelse:\n    y = x*3\ny", {"x": 1.0},
        ["x = 1", "x = 1 ≤ 1: else ran; the if branch contributes nothing", "y = x*3 = 1*3 = 3"],
    ),
    "an elif": (
        "y = x\nif x > 1:\n    y = x*2\nelif x != 0:\n    y = x*3\ny", {"x": 1.0},
        ["x  = 1", "y1 = x          = 1", "x = 1 ≤ 1: the if branch did not run and contributes nothing",
         "x = 1 ≠ 0: the elif branch ran", "y2 = x*3 = 1*3 = 3"],
    ),
    "equal sides": (
        "for i in range(1):\n    y = x*2 if i == 0 else x\n    if i != k:\n        y = x\ny", {"x": 2.0, "k": 0.0},
        ["x = 2", "k = 0", "i = 0:", "i = 0: x*2 is taken; the other choice, x, contributes nothing",
         "y = x*2 if 0 == 0 else x = 2*2 if 0 == 0 else 2 = 4",
         "i = k = 0: the if branch did not run and contributes nothing"],
    ),
    "a choice": (
        "y = x if x > 0 else -x", {"x": -2.0},
        ["x = -2", "x = -2 ≤ 0: -x is taken; the other choice, x, contributes nothing",
         "y = x if x > 0 else -x = (-2) if (-2) > 0 else -(-2) = 2"],
    ),
    "unpacking": (
        "a, b = x\na, b = b*2, a*3\nm, k = x.max(dim=0)\na + b*m", X,
        ["x  = [1, 2]", "a1 = x[0]                    =  1", "b1 = x[1]                    =  2",
         "a2 = b1*2          = 2*2     =  4", "b2 = a1*3          = 1*3     =  3",
         "m  = x.max(dim=0)[0]         =  2", "k  = x.max(dim=0)[1]         =  1", "y  = a2 + b2*m     = 4 + 3*2 = 10"],
    ),
    "augmented assignments": (
        "y = x*1.0\ny *= 2 + x\ny -= 3*x\ny", {"x": 2.0},
        ["x  = 2", "y1 = x*1.0      = 2*1.0     = 2", "y2 = y1*(2 + x) = 2*(2 + 2) = 8",
         "y3 = y2 - 3*x   = 8 - 3*2   = 2"],
    ),
    "indexed writes": (
        "y = zeros(3)\ny[0] = x[0]*2\ny[1:] = x\ny[0] += 1\ny", X,
        ["x      = [1, 2]",
         "y1     = zeros(3)    [0, 0, 0]",
         "y2[0]  = x[0]*2      y2 = [2, 0, 0]",
         "y3[1:] = x           y3 = [2, 1, 2]",
         "y4[0]  = y3[0] + 1   y4 = [3, 1, 2]"],
    ),
    "numbers that are taken": (
        "y2 = x*2\ny = y2 + 1\ny = y*y2", {"x": 1.0},
        ["x  = 1", "y2 = x*2    = 1*2   = 2", "y1 = y2 + 1 = 2 + 1 = 3", "y3 = y1*y2  = 3*2   = 6"],
    ),
    "an input that is assigned": (
        "x = x*2\nx", {"x": 3.0}, ["x  = 3", "x1 = x*2 = 3*2 = 6"],
    ),
    "an output without a name where y is taken": (
        "y = x*1.0\ny[0]", X, ["x = [1, 2]", "y = x*1.0   (2,)   [1, 2]", "f = y[0]           1"],
    ),
    "names that are a part of others": (
        "su = x[0]\nsu = su*2\ndi = 0\ndi = di + 1\nsum(x, dim=0)*su - di", X,
        ["x  = [1, 2]", "su1 = x[0] = 1", "su2 = su1*2 = 1*2 = 2",
         "di1 = 0", "di2 = di1 + 1 = 0 + 1 = 1", "y  = sum(x, dim=0)*su2 - di2 = 5"],
    ),
    "masks": (
        "m = x > 1\nwhere(m, x, -x)", X,
        ["x = [1, 2]", "m = x > 1             [False, True]", "y = where(m, x, -x)   [-1, 2]"],
    ),
}  # fmt: skip


def explained(program, values):
    shape = Function(program, given=values).value(**values).shape
    return gradcli.explain(program, **values, calls=[np.ones(shape)])


def squeezed(lines):
    """Return lines without what alignment adds."""
    return [re.sub(" +", " ", line) for line in lines]


@pytest.mark.parametrize("name", PROGRAMS)
def test_forward_says_what_ran(name):
    program, values, lines = PROGRAMS[name]
    assert squeezed(lines_of(explained(program, values), "forward")) == squeezed(lines)


@pytest.mark.parametrize("name", ["a list", "straight code", "a network", "a while", "indexed writes"])
def test_columns_are_aligned(name):
    program, values, lines = PROGRAMS[name]
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
