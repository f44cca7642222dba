"""The registers of ops and functions: a name stands for one thing, and a second declaration of it is refused."""

import inspect
from dataclasses import replace
from unittest import mock

import pytest

from gradcli.ops import FUNCTIONS, METHODS, OPS, SPELLINGS
from gradcli.ops.declare import Kink, Op, Torch, beyond, declare
from gradcli.ops.vocabulary import elementwise, register


@pytest.fixture(autouse=True)
def _registers_as_they_were():
    with mock.patch.dict(OPS), mock.patch.dict(FUNCTIONS), mock.patch.dict(SPELLINGS), mock.patch.dict(METHODS):
        yield


def another(**names):
    """Return a function of its own with these names."""
    return replace(FUNCTIONS["sin"], name="another", **{"spellings": (), "methods": (), **names})


def test_an_op_is_declared_once():
    sine = OPS["sin"]
    with pytest.raises(ValueError, match="op 'sin' is declared twice"):
        declare("sin", sine.forward, sine.vjps, sine.local_jacobian, sine.formula)
    assert OPS["sin"] is sine


def test_an_elementwise_op_has_one_declaration_too():
    with pytest.raises(ValueError, match="op 'exp' is declared twice"):
        elementwise("exp", abs, lambda g, _y, _x: g, spelled=None)


@pytest.mark.parametrize("spelling", ["sin", "torch.sin", "np.sin", "math.sin", "softmax"])
def test_a_spelling_means_one_function(spelling):
    before = SPELLINGS[spelling]
    with pytest.raises(ValueError, match=f"'{spelling}' is spelled twice"):
        register(another(spellings=("another", spelling)))
    assert SPELLINGS[spelling] is before


@pytest.mark.parametrize("method", ["sin", "sum", "clone"])
def test_a_method_means_one_function(method):
    before = METHODS[method]
    with pytest.raises(ValueError, match=rf"\.{method}\(\) is spelled twice"):
        register(another(methods=("another", method)))
    assert METHODS[method] is before


def test_a_function_may_be_entered_again_as_it_is():
    register(FUNCTIONS["sin"])
    assert SPELLINGS["torch.sin"] is METHODS["sin"] is FUNCTIONS["sin"]


def record(**fields):
    """Return the record of a sine with other fields."""
    sine = OPS["sin"]
    return Op("another", sine.forward, sine.vjps, sine.local_jacobian, **{"formula": sine.formula, **fields})


@pytest.mark.parametrize(("fields", "missing"), [
    ({"kink": Kink(lambda x: x == 0, "0 is taken")}, "pieces"), ({"step": True}, "pieces"),
    ({"zero_at": lambda k, x: x == 0}, "zero_text"), ({"torch": Torch(beyond)}, "says"), ({"formula": None}, "index"),
    ({"domain": ((0.2, 3.0),) * 2}, "domain for each argument"), ({"double_vjps": (None,) * 2}, "double_vjps"),
])  # fmt: skip
def test_a_record_without_what_it_needs_is_refused_by_the_name_of_op_and_field(fields, missing):
    with pytest.raises(ValueError, match=f"op 'another' needs {missing}"):
        record(**fields)


@pytest.mark.parametrize("op", [op for op in OPS.values() if op.formula is not None], ids=lambda op: op.name)
def test_an_elementwise_op_has_a_default_for_each_option_of_its_formula(op):
    assert op.formula is not None
    options = [*inspect.signature(op.formula).parameters][1 + len(op.vjps) :]
    assert options == [*op.text.defaults], f"op {op.name!r} needs defaults for its options"
