"""Values and gradients worked out by hand, in numbers that doubles hold: held to the last digit."""

from dataclasses import dataclass

import numpy as np
import pytest

import gradcli
from oracles import cases

TABLES = cases("by_hand.toml")

ROWS = TABLES["ROWS"]


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_it_is_what_it_is_by_hand(row):
    found = gradcli.explain(row["program"], v=row.get("v"), inputs=row["inputs"])
    assert np.asarray(found.output).tolist() == row["y"]
    for name, wanted in row["grad"].items():
        assert found.grad[name].tolist() == wanted
        assert found.vjp[name].tolist() == wanted


@dataclass(frozen=True)
class Tracked:
    """A stand-in for a tensor that requires a gradient, and gives its numbers without it alone."""

    numbers: list[float]
    requires_grad: bool = True

    def detach(self):
        return np.array(self.numbers)


def test_a_tensor_that_requires_a_gradient_is_read_without_it():
    triple = gradcli.function("3*x")
    assert triple.value(x=Tracked([1.0, 2.0])).tolist() == [3.0, 6.0]
    assert triple.grad(x=Tracked([1.0, 2.0]), v=[1.0, 1.0])["x"].tolist() == [3.0, 3.0]


def test_rows_and_columns_of_a_jacobian_are_those_of_its_entries():
    found = gradcli.explain("[x[0]*x[1], 3*x[0], x[1]**2]", x=[2.0, 5.0], v=[1.0, 1.0, 1.0]).jacobian["x"]
    wanted = [[5.0, 2.0], [3.0, 0.0], [0.0, 10.0]]
    assert found.numeric.tolist() == wanted
    assert [found.row(i).tolist() for i in range(3)] == wanted
    assert [found.column(j).tolist() for j in range(2)] == np.transpose(wanted).tolist()
    assert found.column((1,)).tolist() == [2.0, 0.0, 10.0]


def test_rows_and_columns_of_a_jacobian_that_is_not_held():
    found = gradcli.explain("2*x", x=np.ones(5000), v=np.ones(5000), budget=gradcli.Budget(jacobian=100)).jacobian["x"]
    assert not found.held
    assert np.flatnonzero(found.row(7)).tolist() == np.flatnonzero(found.column(7)).tolist() == [7]
    assert found.row(7)[7] == found.column(7)[7] == 2.0


def test_a_product_of_others_through_a_jacobian_that_is_not_held():
    x = [[2.0, 3.0], [4.0, 5.0], [6.0, 7.0]]
    found = gradcli.explain("prod(x, dim=0)", x=x, v=[1.0, 1.0], budget=gradcli.Budget(jacobian=2))
    assert not found.jacobian["x"].held
    assert found.vjp["x"].tolist() == found.grad["x"].tolist() == [[24.0, 35.0], [12.0, 21.0], [8.0, 15.0]]
