"""Every op and every function has its record: what is missing there fails here, by its name and the field."""

import pytest

from gradcli.ops import FUNCTIONS, OPS
from programs import OWN
from records import RANGES, RECIPES, RECORDS, Record, missing_of_function, missing_of_op
from torch_rows import MORE_EXACT, ROWS, functions_called

FLAT = {"argmax", "argmin", "any", "all", "isnan", "heaviside"}
FLAT |= {"zeros", "ones", "eye", "arange", "linspace", "ones_like", "tensor"}
"""Functions that PyTorch is not asked about: they have no derivative."""
OF_NUMPY = {"astype"}
"""Methods of arrays that PyTorch's tensors lack."""


def missing_of(name):
    of_op = missing_of_op(OPS[name], RECORDS.get(OPS[name].name)) if name in OPS else []
    return of_op + (missing_of_function(FUNCTIONS[name], RECIPES.get(name, ())) if name in FUNCTIONS else [])


def test_every_op_and_function_has_a_whole_record():
    names = dict.fromkeys([*OPS, *FUNCTIONS])
    assert {name: fields for name in names if (fields := missing_of(name))} == {}, "tests/records, data/recipes.toml"


def test_a_record_is_of_an_op_and_a_recipe_of_a_function():
    assert set(RECORDS) <= set(OPS)
    assert {*RECIPES, *RANGES} <= set(FUNCTIONS)


def test_every_function_is_called_by_a_row_that_pytorch_is_asked():
    assert set(FUNCTIONS) - functions_called(ROWS) - FLAT - OF_NUMPY == set(), "add a row to data/torch_edges.jsonl"


def test_every_function_has_a_program_with_its_value():
    plain = {
        name
        for name, one in FUNCTIONS.items()
        if one.op and not one.op.text.defaults and (one.op.formula or one.op.step)
    }
    assert {name for name in FUNCTIONS if not OWN[name]} <= plain, "add a row to data/function_programs.jsonl"


def test_what_is_more_exact_than_pytorch_is_a_row_that_it_is_asked():
    assert set(MORE_EXACT) <= {case.program for case in ROWS}


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


def test_what_a_function_needs():
    assert missing_of_function(FUNCTIONS["sum"], []) == ["recipes"]
    assert missing_of_function(FUNCTIONS["sin"], []) == []
    assert missing_of_op(OPS["sin"], None) == ["record"]
