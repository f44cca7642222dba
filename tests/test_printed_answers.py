"""What an answer prints, read as a reader reads it and evaluated by PyTorch; and faults planted in it are found."""

import numpy as np
import pytest

pytest.importorskip("torch")

from generator.scripts import Script
from oracles import cases, portion
from printed.held import hold
from printed.truth import Truth
from printed_answers import answers, findings, known_scripts, random_one

TABLES = cases("printed_answers.toml")

SEED, PROGRAMS = 7, 120
POINT = {"x": np.array([0.5, -1.25]), "w": np.array([2.0, 3.0])}
NETWORK = Script("h = tanh(x*w)\ny = h*h + x\ny = y*[1.0, 2.0]\ny", POINT, np.array([1.0, 10.0]))
SCALARS = Script("h = tanh(x)\ny = h*h + x\nz = y*w*2", {"x": np.array(0.7), "w": np.array(-1.5)}, None)
KNOWN = known_scripts()
SCRIPTS = {
    "a name that is assigned again": NETWORK,
    "an output that is an input": Script("y = x", {"x": np.array([1.5, 2.0])}, np.array([1.0, 3.0])),
    "wide numbers": Script("h = -x*1e-5\nh*h*1e-9 + h", {"x": np.arange(12.0).reshape(3, 4) / 7}, np.ones((3, 4)) / 3),
    "numbers alone": SCALARS,
    "one entry": Script("x**2", {"x": np.array([3.0])}, np.array([1.0])),
    "no entry": Script("h = x*2\nh*h", {"x": np.zeros(0)}, np.zeros(0)),
    "zeros with a sign": Script("h = -x\nh*x", {"x": np.array([-0.0, 0.0, 1.0])}, np.array([1.0, -1.0, -0.0])),
    "inf and nan": Script("h = exp(x)\nh*x", {"x": np.array([800.0, -800.0, 1.0])}, np.ones(3)),
    "an infinite slope": Script("h = sqrt(x)\nh*2", {"x": np.array([0.0, 4.0])}, np.ones(2)),
    "a loop that breaks": Script(
        "y = x\nfor r in w:\n    if r > 2.5:\n        break\n    y = y*r\ny", POINT, np.ones(2)
    ),
    "a pair": Script("m, k = w.max(dim=0)\na, b = x\na*m + b", POINT, None),
    "long names": Script(
        "n_of_the_first_layer = x*w\nsum(n_of_the_first_layer**2)/n_of_the_first_layer[0]", POINT, None
    ),
    "a long factor that is detached": Script(
        "n_of_the_first_layer = erf(x)\n"
        "(-(n_of_the_first_layer*cos(x) - w)**2*n_of_the_first_layer).detach()*sqrt(n_of_the_first_layer**2 + 1)",
        POINT, np.ones(2),
    ),
    "a Jacobian by a value that has a name": Script(
        "c0 = 1 - x_grad\ns = 0.0\nfor r in c0:\n    s = s*0.5 + r\nh0 = c0*sum(s)\ns = 0.0\nfor r in h0:\n"
        "    s = s*0.5 + r\nh0 = x_grad*sum(s)\n((x_grad - h0.mean())) @ (where(h0 > c0, h0, h0)).T",
        {"x_grad": np.array([[-0.1, -0.2, -0.3], [0.1, -0.3, -0.5]])}, np.array([[-0.02, -0.73], [0.63, 0.28]]),
    ),
    "many names": Script("\n".join(["h = x", *(f"h = h*w + {k}.0" for k in range(60)), "h"]),
                         {"x": np.array(0.5), "w": np.array(0.9)}, None),
}  # fmt: skip
PLANTED = TABLES["PLANTED"]
"""What stands in the answer to NETWORK at 80 columns, or to SCALARS at 120, and what is put there."""


@pytest.mark.parametrize("name", portion(SCRIPTS, 3))
@pytest.mark.parametrize("precision", [6, 17, 1])
def test_what_these_answers_print_is_so(name, precision):
    count, wrong = findings(SCRIPTS[name], precision)
    assert wrong == []
    assert count > 10


@pytest.mark.parametrize("name", portion(list(KNOWN), 30))
def test_what_answers_to_known_programs_print_is_so(name):
    counts, wrong = zip(*(findings(KNOWN[name], precision) for precision in (6, 17, 1)), strict=True)
    assert [fault for faults in wrong for fault in faults] == []
    assert min(counts) > 10


@pytest.mark.parametrize("number", portion(list(range(PROGRAMS)), 10))
def test_what_answers_to_random_programs_print_is_so(number):
    _, wrong = findings(random_one(SEED, number))
    assert wrong == []


def test_most_random_programs_are_read():
    counts = [Truth.of(random_one(SEED, number)) is not None for number in range(60)]
    assert sum(counts) > 45


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_found(fault):
    script, width = (SCALARS, 120) if fault.endswith("of a cotangent") else (NETWORK, 80)
    layout, text = next((layout, text) for layout, text in answers(script) if layout.width == width)
    before, after = PLANTED[fault]
    assert before in text
    assert hold(text, Truth.of(script), layout)[1] == []
    assert hold(text.replace(before, after), Truth.of(script), layout)[1] != []
