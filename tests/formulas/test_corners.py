"""Formulas and rules in the corners: named constants, conventions, pieces, and what has no formula at all."""

import numpy as np
import pytest

import gradcli
from formula_reading import CHAIN, check_formulas, evaluated, python
from gradcli.jacobian import functions as s
from oracles import EXACT, assert_close, cases, portion_of_rows

TABLES = cases("corners.json")

LONG = np.linspace(-1.5, 1.5, 150)
WITH_ZEROS = np.where(LONG > 1, 0.0, np.abs(LONG))
WIDE = np.cos(np.arange(36 * 36)).reshape(36, 36)
BATCH = np.cos(np.arange(12 * 36)).reshape(12, 6, 6)
LIST = [round(float(t), 2) for t in np.linspace(0.5, 2.0, 150)]


def explained(program, inputs, wrt=None, **options):
    y = gradcli.function(program).value(**inputs)
    return gradcli.explain(program, v=np.ones(y.shape), inputs=inputs, wrt=wrt, **options)


def kinds(found):
    return {note.kind for note in found.notes}


FORMULAS = TABLES["FORMULAS"]


@pytest.mark.parametrize("program", FORMULAS)
def test_formulas_are_true(program):
    found = explained(program, FORMULAS[program])
    assert found.output_formulas is not None
    assert check_formulas(found.to_dict()) > 1
    assert found.agreement.agree


BEYOND_DOUBLES = {  # products of constants that are no double, though each factor is one
    "1e200*(1e200*x)": [np.inf],
    "[(x*0 + 1e200)*1e200, x]": [0.0, 1.0],
}


@pytest.mark.parametrize("program", BEYOND_DOUBLES)
def test_no_formula_holds_a_number_that_is_no_double(program):
    found = explained(program, {"x": 1.5})
    j = found.jacobian["x"]
    assert (found.output_formulas, j.formulas) == (None, None)
    assert j.values.tolist() == BEYOND_DOUBLES[program]
    assert not any("inf" in text or "e+400" in text for text in [*j.rules, *found.definitions.values()])
    assert "not-finite" in kinds(found)


RULES = {
    "x**p": {"x": WITH_ZEROS, "p": np.float64(2.0)},
    "x**p*sum(x)": {"x": WITH_ZEROS, "p": LONG},
    "y = x\nfor i in range(3):\n    y = sin(y*y + x)\ny": {"x": LONG},
    "x/norm(x)": {"x": LONG},
    "norm(X, dim=0)": {"X": np.where(np.arange(36) == 3, 0.0, WIDE)},
    "X.norm(dim=1, keepdim=True)": {"X": np.where(np.arange(36)[:, None] == 3, 0.0, WIDE)},
    'huber_loss(x, t, reduction="none")': {"x": 2 * LONG, "t": LONG[::-1] / 4},
    'huber_loss(x, t, reduction="none", delta=0.5)*s': {"x": 2 * LONG, "t": LONG[::-1] / 4, "s": np.float64(3.0)},
    f"x*{LIST}*c": {"x": LONG, "c": np.float64(2.0)},
    f"h = {LIST}\nsin(x*h) + w*h": {"x": LONG, "w": LONG[::-1]},
    f"{np.round(WIDE[:6], 2).tolist()} @ X": {"X": WIDE},
}
GIVEN = {  # t, s and W are not differentiated: rules hold their expressions
    "x*(t + 1)*sum(x)": {"x": LONG, "t": LONG + 3},
    "x**(t - 1)*sum(x)": {"x": WITH_ZEROS, "t": np.maximum(np.round(LONG), 0.0) + 1},
    "x*(t // 2)*sum(x)": {"x": LONG, "t": 4 * LONG},
    "(W + 1) @ x": {"x": LONG[:36], "W": WIDE},
    "tanh(x @ (-W))": {"x": LONG[:36], "W": WIDE},
}


def composed(rules, names, variable):
    """Return the Jacobian that the rules of all ops make, summed over every path."""
    blocks = {}
    for rule in rules:
        if not CHAIN.fullmatch(rule) and ": the sum" not in rule:
            ends, block = evaluated(rule, names)
            blocks[ends] = blocks.get(ends, 0) + block

    def by_variable(name):
        if name == variable:
            return np.eye(np.size(names[variable]))
        return sum(block @ by_variable(below) for (above, below), block in blocks.items() if above == name)

    return by_variable(next(iter(blocks))[0])


def names_of(found, inputs):
    names = {**inputs, found.name: found.output}
    for name, text in found.definitions.items():
        assert name not in inputs, "a definition hides a variable of the program"
        names[name] = python(text, names)
    return names


def check_rules(found, inputs, name):
    j = found.jacobian[name]
    assert j.formulas is None
    names = names_of(found, inputs)
    true = np.zeros(j.matrix_shape)
    true[j.rows, j.columns] = j.values
    with np.errstate(all="ignore"):  # where works out both of its branches
        assert_close(composed(j.rules, names, name), true, EXACT, f"{j.rules}")
    assert found.agreement.verdict in ("agree", "digits-lost")  # y may be what rounding leaves of a sum


@pytest.mark.parametrize(
    ("program", "name"), portion_of_rows([(program, name) for program, given in RULES.items() for name in given], 8)
)
def test_rules_are_true(program, name):
    check_rules(explained(program, RULES[program]), RULES[program], name)


@pytest.mark.parametrize("program", GIVEN)
def test_rules_with_expressions_of_what_is_given_are_true(program):
    check_rules(explained(program, GIVEN[program], ["x"]), GIVEN[program], "x")


def test_a_long_constant_has_one_name_that_is_nobody_elses():
    program = f"h = {LIST}\nsin(x*h) + w*h + c"
    found = explained(program, {"x": LONG, "w": LONG, "c": np.float64(1.0)}, ["x", "w"])
    named = [name for name, text in found.definitions.items() if text.startswith("[")]
    assert len(named) == 1
    assert named != ["c"]
    assert found.definition_values[named[0]].tolist() == LIST
    assert sum(f" = {named[0]}[i]" in rule for j in found.jacobian.values() for rule in j.rules) == 2


@pytest.mark.parametrize(("constant", "wanted"), [("-1", np.nan), ("0", -np.inf)])
@pytest.mark.parametrize("x", [np.array([0.5, 0.2]), np.abs(LONG) + 1], ids=["short", "long"])
def test_a_derivative_that_is_no_real_number_has_no_formula(constant, wanted, x):
    found = explained(f"xlogy(x, {constant})", {"x": x})
    j = found.jacobian["x"]
    assert not np.any(np.isfinite(j.values))
    np.testing.assert_array_equal(found.grad["x"], np.full(x.shape, wanted))
    assert (j.formulas, j.rules, found.output_formulas) == (None, [], None)
    assert not found.agreement.finite
    assert kinds(found) == {"numeric-only", "not-finite"}
    check_formulas(found.to_dict())


@pytest.mark.parametrize(
    "slope", [lambda x: s.where_ge(x, 0, x, 2 * x), lambda x: s.sigmoid(x).diff(x), lambda x: s.silu(x).diff(x)]
)
def test_a_function_that_only_derivatives_hold_has_none_itself(slope):
    x = s.symbol("x")
    with pytest.raises(NotImplementedError):
        slope(x).diff(x)


def test_names_in_formulas_have_the_numbers_of_the_point():
    x = np.array([0.3, 0.7])
    text = "h = tanh(x*x + 1)\nfor i in range(3):\n    h = tanh(h*h + x)*h\nsum(h)"
    found = gradcli.explain(text, x=x)
    assert len(found.definitions) > 3
    known = {"x": x}
    for name, formula in found.definitions.items():
        known[name] = python(formula, known)
        assert found.definition_values[name] == pytest.approx(known[name], rel=1e-13)


@pytest.mark.parametrize(("program", "size"), [
    ("tanh(x)", lambda x: 1 / np.cosh(x) ** 2),
    ("sigmoid(x)", lambda x: np.exp(-x) / (1 + np.exp(-x)) ** 2),
    ("x*x - 3*x", lambda x: 2*np.abs(x) + 3),
    ("sin(x)", lambda x: np.abs(np.cos(x))),
    ("-3*x", lambda x: np.full(x.shape, 3.0)),
])  # fmt: skip
def test_the_size_of_an_entry_is_that_of_the_terms_it_is_left_of(program, size):
    x = np.array([0.3, -0.7, 1.1])
    found = gradcli.explain(program, x=x, v=np.ones(3)).jacobian["x"]
    assert found.sizes == pytest.approx(size(x), rel=1e-13)


@pytest.mark.parametrize(("program", "x"), portion_of_rows([
    ("polygamma(1, x)", [0.0, -1.0, -0.3, 2.0]),
    ("special.digamma(x)", [0.0, -1.0, -2.5, 3.0]),
    ("special.erfinv(x)", [-1.0, -0.3, 0.9, 2.0]), ("lgamma(x)", [0.0, -1.0, -1.5, 0.3, 2.0]),
], 4))  # fmt: skip
def test_symbols_have_the_slopes_of_the_engine_at_ends_and_poles(program, x):
    found = gradcli.explain(program, x=x, v=np.ones(len(x)))
    np.testing.assert_allclose(found.vjp["x"], found.grad["x"], rtol=1e-12)
