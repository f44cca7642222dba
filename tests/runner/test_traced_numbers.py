"""Numbers that leave NumPy's arrays and Python's variables: --of and --wrt beside finite differences.

Each row is mixed with a term that stays traced, so that a cut is a wrong number. What has no derivative is refused.
"""

import warnings

import numpy as np
import pytest

import gradcli
from gradcli.errors import GradcliError
from oracles import cases

HEAD = (
    "import collections, copy, functools, heapq, itertools, json, math, random, statistics\nimport numpy as np\n"
    "random.seed(0); np.random.seed(0)\n"
)
POINT = {"x": 0.73, "a": [0.31, 0.92, 0.24]}
STEP = 1e-6
TABLES = cases("traced_numbers.toml")
ROWS = [*(f"r = {row}" for row in (*TABLES["NUMBERS"], *TABLES["ARRAYS"])), *TABLES["WRITES"]]


def script(body, point):
    return f"{HEAD}x = {point['x']!r}\na = np.array({point['a']!r})\n{body}\ny = np.sum(a)*2 + x*2 + np.sum(r)*1.0\n"


def differences(body, name):
    """Return the finite differences of Python's and NumPy's own values."""

    def value(moved, place):
        numbers = [POINT["x"]] if name == "x" else list(POINT["a"])
        numbers[place] += moved
        variables = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(script(body, POINT | {name: numbers[0] if name == "x" else numbers}), variables)  # noqa: S102
        return float(variables["y"])

    places = range(1 if name == "x" else len(POINT["a"]))
    return [(value(STEP, k) - value(-STEP, k)) / (2 * STEP) for k in places]


@pytest.mark.parametrize("name", ["x", "a"])
@pytest.mark.parametrize("body", ROWS)
def test_a_number_that_leaves_an_array_stays_traced(body, name):
    got = gradcli.run(script(body, POINT)).explain(of="y", wrt=[name]).grad[name]
    np.testing.assert_allclose(np.ravel(got), differences(body, name), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("row", TABLES["CUT"])
def test_what_leaves_the_trace_is_refused_by_name_where_the_answer_needs_it(row):
    name = "a" if "a[" in row or "(a" in row else "x"
    with pytest.raises(GradcliError, match="takes the number out of the trace") as caught:
        gradcli.run(script(f"r = {row}", POINT)).explain(of="y", wrt=[name])
    assert caught.value.place.text[slice(*caught.value.span)] == f"r = {row}"
    shown = gradcli.run(script(f"r = x*3; q = {row}; print(q > 0, q)", POINT)).explain(of="y", wrt=["x"])
    np.testing.assert_allclose(shown.grad["x"], 5.0)
