"""The rules that stand for the formulas of a large Jacobian are true for every entry."""

import numpy as np
import pytest

import gradcli
from formula_reading import jacobian_of, python
from oracles import assert_close, cases, portion

LONG, SHORT = np.linspace(-1.5, 1.5, 121), np.linspace(0.2, 1.5, 36)
WIDE = np.cos(np.arange(36 * 36)).reshape(36, 36)
PROGRAMS = {
    "x**2 + sin(x)": {"x": LONG},
    "a*tanh(x) + b": {"x": LONG, "a": np.float64(2.0), "b": LONG[::-1]},
    "X*w + b": {"X": WIDE, "w": SHORT, "b": SHORT[:, None]},
    "x**p + p": {"x": np.abs(LONG), "p": LONG + 2},
    "x**p": {"x": np.where(LONG > 1, 0.0, np.abs(LONG)), "p": np.maximum(np.round(LONG), -1.0)},
    "atan2(y, x)": {"y": np.where(np.abs(LONG) < 0.5, 0.0, LONG), "x": np.where(np.abs(LONG) < 1, 0.0, LONG)},
    "xlogy(x, y)": {"x": np.maximum(LONG, 0.0), "y": np.maximum(LONG, 0.0)},
    "where(x > w, x, w)": {"x": LONG, "w": LONG[::-1]},
    "outer(x, x)": {"x": SHORT},
    "tanh(W @ x)": {"W": WIDE, "x": SHORT},
    "A @ B": {"A": WIDE[:6], "B": WIDE[:, :5]},
    "softmax(x)": {"x": LONG},
    "cumsum(x)*s": {"x": LONG, "s": np.float64(2.0)},
    "X.sum(dim=1)**2": {"X": WIDE},
    "X.mean(dim=1, keepdim=True)": {"X": WIDE},
    "logsumexp(X, dim=1)": {"X": WIDE},
    'einsum("ij,jk,k->i", W, V, x)': {"W": WIDE[:4], "V": WIDE, "x": SHORT},
    'einsum("ij,ij->i", X, X)': {"X": WIDE},
    "amax(X, dim=1)": {"X": WIDE},
    "torch.norm(X, dim=1)": {"X": np.where(np.arange(36)[:, None] % 3, WIDE, 0.0)},
}


@pytest.mark.parametrize(
    "case", portion([(program, name) for program, given in PROGRAMS.items() for name in given], 50)
)
def test_rules_are_true(case):
    program, name = case
    inputs = PROGRAMS[program]
    y = gradcli.function(program).value(**inputs)
    found = gradcli.explain(program, v=np.ones(y.shape), inputs=inputs, wrt=[name])
    document = found.to_dict()["jacobian"][name]
    if document["symbolic"] is not None:
        return
    rules, names = document["entries"]["formulas"], dict(inputs)
    assert rules, "a large Jacobian has rules in place of formulas"
    for other, text in document["definitions"].items():
        names[other] = python(text, names)
    names[found.name] = y
    j = found.jacobian[name]
    true = np.zeros(j.matrix_shape)
    true[j.rows, j.columns] = j.values
    with np.errstate(all="ignore"):  # where works out both of its branches, also the one that it does not take
        assert_close(jacobian_of(rules, names), true, 1e-11, f"{rules}")


def test_the_root_of_a_variance_of_0_has_no_slope():
    rows = np.where(np.arange(36)[:, None] % 3, WIDE, 2.0)
    found = gradcli.explain("X.std(dim=1)", v=np.ones(36), inputs={"X": rows})
    assert "dy[i]/dh0[i] = where(y[i] == 0, 0, 1/(2*y[i]))" in found.to_dict()["jacobian"]["X"]["entries"]["formulas"]


LONG = np.cos(np.arange(108.0))
TABLE = np.arange(432.0).reshape(18, 24) * 1.1 + 0.3
TABLES = cases("index_rules.json")
READS = TABLES["READS"]


@pytest.mark.parametrize("program", READS)
def test_the_rule_of_what_moves_entries_reads_so(program):
    inputs = {"X": TABLE} if "X" in program else {"x": LONG}
    y = gradcli.function(program).value(**inputs)
    [jacobian] = gradcli.explain(program, v=np.ones(y.shape), inputs=inputs).to_dict()["jacobian"].values()
    assert jacobian["entries"]["formulas"] == READS[program]
