"""Every op and every function has its record: what is missing there fails here, by its name and the field."""

from __future__ import annotations

import pytest

from gradcli.ops import FUNCTIONS, OPS
from records import RECORDS, Record, missing_of_function, missing_of_op
from torch_rows import EDGES, FLAT, MORE_EXACT, OF_NUMPY, SAMPLE, functions_called

ASKED = functions_called(SAMPLE.values()) | FLAT | OF_NUMPY


def missing_of(name):
    known = RECORDS.get(OPS[name].name if name in OPS else name)
    of_op = missing_of_op(OPS[name], known) if name in OPS else []
    of_function = missing_of_function(FUNCTIONS[name], known, ASKED) if name in FUNCTIONS else []
    return list(dict.fromkeys([*of_op, *of_function]))


def test_every_op_and_function_has_a_whole_record():
    names = dict.fromkeys([*OPS, *FUNCTIONS])
    assert {name: fields for name in names if (fields := missing_of(name))} == {}, "tests/records lacks these fields"


def test_a_record_is_of_an_op_or_a_function():
    assert set(RECORDS) <= {*OPS, *FUNCTIONS}


def test_what_is_more_exact_than_pytorch_is_a_row_that_it_is_asked():
    assert set(MORE_EXACT) <= {case.program for case in EDGES}


STRAIGHT = {"definition": abs, "straight": True}


@pytest.mark.parametrize(("op", "fields", "missing"), [
    ("sin", {}, ["definition", "derivatives"]), ("sum", {}, ["definition", "cases"]),
    ("floor", {}, ["definition", "flat"]),
    ("elu", STRAIGHT, ["options", "kink_options"]), ("sin", STRAIGHT, []),
    ("elu", STRAIGHT | {"options": [{"alpha": 1.0}]}, ["kink_options"]),
    ("elu", STRAIGHT | {"options": [{"alpha": 1.0}], "kink_options": {"alpha": 1.0}}, ["kink"]),
])  # fmt: skip
def test_what_a_record_of_an_op_needs(op, fields, missing):
    assert missing_of_op(OPS[op], Record(op, **fields)) == missing


def test_what_a_record_of_a_function_needs():
    assert missing_of_function(FUNCTIONS["sum"], Record("sum"), set()) == ["oracle", "recipes", "programs", "torch"]
    assert missing_of_function(FUNCTIONS["sin"], Record("sin"), {"sin"}) == ["oracle"]
    assert missing_of_function(FUNCTIONS["sin"], None, set()) == missing_of_op(OPS["sin"], None) == ["record"]
