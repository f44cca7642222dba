"""Functions that notebooks know from NumPy and SciPy: what they refuse, and their derivatives in many digits."""

import pytest

import gradcli
from gradcli.errors import GradcliError
from oracles import cases, portion

TABLES = cases("notebook_words.json")
INPUTS = TABLES["INPUTS"]
REFUSED = TABLES["REFUSED"]
CHECKED = TABLES["CHECKED"]


def given(program):
    """Return the inputs of a program."""
    return {name: INPUTS[name] for name in gradcli.function(program).inputs}


@pytest.mark.parametrize(("program", "kind", "message"), REFUSED)
def test_what_does_not_fit_is_refused_with_its_reason(program, kind, message):
    with pytest.raises(GradcliError) as raised:
        gradcli.function(program).value(**given(program))
    assert (raised.value.kind, raised.value.message) == (kind, message)


@pytest.mark.parametrize("program", portion(CHECKED, 6))
def test_derivatives_and_formulas_hold_in_many_digits(program):
    total = program if program.startswith("y = ") else f"sum(exp({program}/9))"
    found = gradcli.check(total, **given(total))
    assert found.agree, str(found)
