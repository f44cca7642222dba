"""``--row`` and ``--column``: parts of J by the place of an entry, held or not."""

import json

import numpy as np
import pytest

from oracles import ask, cases

TABLES = cases("slices.toml")

A, B = np.arange(1.0, 7).reshape(2, 3), np.arange(1.0, 10).reshape(3, 3) ** 2
GIVEN = ["explain", "A @ B", "--A", json.dumps(A.tolist()), "--B", json.dumps(B.tolist()), "--v", "ones(2,3)"]
HELD = [[], ["--budget", "jacobian=1"]]
ROW = np.array([[0, 0, 0], B[:, 1]])
COLUMN = np.array([[0, 0, A[0, 1]], [0, 0, A[1, 1]]])


@pytest.mark.parametrize("budget", HELD, ids=["held", "by passes"])
def test_a_row_and_a_column_are_parts_of_j(budget):
    found = ask(*GIVEN, *budget, "--row", "1,1", "--column", "B[1,2]", "--row=-1, 1", "--json")
    assert found.code == 0
    document = json.loads(found.out)
    first, second = document["rows"]
    assert first == second
    assert (first["index"], sorted(first["values"])) == ([1, 1], ["A", "B"])
    np.testing.assert_array_equal(first["values"]["A"], ROW)
    assert document["columns"] == [{"index": [1, 2], "values": {"B": COLUMN.tolist()}}]


@pytest.mark.parametrize(("form", "lines"), [
    ("plain", ["dy[1,1]/dA = 0,0,0;4,25,64", "dy/dB[1,2] = 0,0,2;0,0,5"]),
    ("table", ["dy[1,1]/dA = [[0, 0, 0], [4, 25, 64]]", "dy/dB[1,2] = [[0, 0, 2], [0, 0, 5]]"]),
])  # fmt: skip
def test_they_are_shown(form, lines):
    out = ask(*GIVEN, "--row", "1,1", "--column", "B[1,2]", "-F", form).out
    assert [line for line in lines if line not in out] == []


def test_a_number_has_a_row_and_a_column_without_an_index():
    document = json.loads(ask("explain", "x**2", "--x", "3", "--row", "", "--column", "x", "--json").out)
    assert document["rows"] == document["columns"] == [{"index": [], "values": {"x": 6.0}}]


@pytest.mark.parametrize(("option", "words"), TABLES["a_place_that_is_none_is_an_error"])
def test_a_place_that_is_none_is_an_error(option, words):
    found = ask(*GIVEN, *option)
    assert found.code == 2
    assert words in found.err


@pytest.mark.parametrize("name", ["row", "column"])
def test_a_variable_that_is_called_so_is_given_by_set(name):
    refused = ask("explain", f"{name}**2", f"--{name}", "3")
    assert refused.code == 2
    assert f"--set {name}=" in refused.err
    assert ask("explain", f"{name}**2", "--set", f"{name}=3").code == 0
