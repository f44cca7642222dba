"""Lists in formulas are arrays; where Python's would differ, the text is a script, in which they are Python's."""

import numpy as np
import pytest

import gradcli
from gradcli.runner.reading import is_script
from oracles import by_torch, cases

X = [1.0, 2.0, 3.0, 4.0]
TABLES = cases("lists.json")
OF_PYTHON = TABLES["OF_PYTHON"]
ARRAYS = TABLES["ARRAYS"]


@pytest.mark.parametrize("program", OF_PYTHON + ARRAYS)
def test_a_program_with_lists_has_the_gradient_of_pytorch(program):
    found = gradcli.explain(program, x=X)
    assert found.agreement.agree
    np.testing.assert_allclose(found.grad["x"], by_torch(program, {"x": X})[1]["x"], rtol=1e-12)
    assert is_script(program) is (program in OF_PYTHON)


@pytest.mark.parametrize(("program", "grad"), [
    ("M = [[x[0], x[1]], [x[1], x[0]]]\nsum(M @ [1.0, 2.0])", [3, 3, 0, 0]),
    ("w = [x[0], 2*x[1]]\nsum(torch.exp(w) - w)", [1.718281828459045, 107.19630006628847, 0, 0]),
    ("b = jnp.copy([[x, x], [x, x]] - x*x); b += 1; b.sum()", [-4, -12, -20, -28]),
    ("y = [x[0], x[1]]; y @ y", [2, 4, 0, 0]),
])  # fmt: skip
def test_a_list_is_an_array_otherwise(program, grad):
    assert not is_script(program)
    assert gradcli.explain(program, x=X).grad["x"] == pytest.approx(np.array(grad), rel=1e-14)
