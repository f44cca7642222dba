"""What every op and every function must fulfil, read off the table: a new one is tested once it is declared."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradcli
from gradcli.engine.reverse import unbroadcast
from gradcli.language.values import read_v
from gradcli.ops.declare import saved_here
from op_cases import CASES, DIFFERENTIABLE, STRUCTURAL, bounds_of
from oracles import (
    EXACT,
    NUMERIC,
    applied,
    assert_close,
    check_op,
    difference,
    portion,
    reverse_jacobians,
    symbolic_jacobians,
)
from programs import PROGRAMS, inputs_of
from records import FUNCTIONS, OPS, RECORDS, Record
from records.constants import AXES, GONE, LONG

# fmt: off
POLYNOMIALS_AT_ZEROS = [  # each is smooth there, but a rule that divides would fail
    ("prod", [[2.0, 0.0, 3.0]], {"dim": (0,), **GONE}), ("prod", [[2.0, 0.0, 0.0]], {"dim": (0,), **GONE}),
    ("prod", [[*LONG, 0.0]], {"dim": (0,), **GONE}), ("prod", [[0.0, *LONG, 0.0]], {"dim": (0,), **GONE}),
    ("prod", [[[2.0, 0.0, 0.5], [3.0, 1.5, 0.7]]], {"dim": (1,), **GONE}), ("cumprod", [[*LONG, 0.0, 2.0]], {"dim": 0}),
    ("cumprod", [[2.0, 0.0, 3.0, 4.0]], {"dim": 0}), ("cumprod", [[0.0, 0.0, 3.0]], {"dim": 0}),
    ("sinc", [[0.0, 1.0]], {}), ("pow", [[0.0, -2.0], np.array([2.0, 3.0])], {}),
]
# fmt: on


def test_no_op_is_left_out():
    assert {case.values[0].name for case in CASES} == DIFFERENTIABLE
    assert all(OPS[name].formula is not None for name in DIFFERENTIABLE - set(STRUCTURAL))
    assert all(len(op.vjps) in (1, 2) for op in (OPS[name] for name in DIFFERENTIABLE - set(STRUCTURAL)))


@pytest.mark.parametrize(("op", "values", "static"), portion(CASES, 2))
def test_vjp_formula_and_forward_agree(op, values, static):
    check_op(op, values, static)


@pytest.mark.parametrize(("op", "values", "static"), portion(CASES, 2))
def test_a_vjp_reads_the_numbers_that_its_record_names(op, values, static):
    """``grad`` has a stand-in in the place of every other number, and the tape says what is kept."""
    y = op.forward(*values, **static)
    for k in [k for k in range(len(values)) if op.vjp(k) is not None]:
        needed = saved_here(op, tuple(j == k for j in range(len(values))))
        there = [
            value if read else np.full_like(value, np.nan) for value, read in zip(values, needed.arguments, strict=True)
        ]
        out = y if needed.output else np.full_like(y, np.nan)
        want = op.vjp_along(k)(np.ones_like(y), y, *values, **static)
        got = op.vjp_along(k)(np.ones_like(y), out, *there, **static)
        np.testing.assert_array_equal(got, want, err_msg=f"{op.name}, by argument {k}")


@pytest.mark.parametrize(("name", "values", "static"), POLYNOMIALS_AT_ZEROS)
def test_no_rule_divides_by_zero(name, values, static):
    op = OPS[name]
    if name == "pow":  # only the base: the exponent of a negative number must stay whole
        exponent = values[1]
        f = gradcli.function("x**p", wrt=["x"])
        got = f.grad(v=[1.0, 1.0], x=values[0], p=exponent)["x"]
        assert_close(got, exponent * np.array(values[0]) ** (exponent - 1), EXACT)
    else:
        check_op(op, values, static)


@pytest.mark.parametrize(
    "op", [OPS[name] for name in sorted(DIFFERENTIABLE) if OPS[name].kink and OPS[name].formula], ids=lambda op: op.name
)
def test_both_routes_make_the_same_choice_at_a_kink(op):
    arguments = len(op.vjps)
    for point in (0.0, 0.75) if arguments == 2 else (0.0,):
        for static in RECORDS[op.name].options:
            check_op(
                op,
                [np.array([point, point + 1])] + [np.array([point, point - 1])] * (arguments - 1),
                static,
                numeric=False,
            )


AT_ZERO = [0.0, 1.0], [1.0, -2.0]


@pytest.mark.parametrize("op", [op for op in OPS.values() if op.kink], ids=lambda op: op.name)
def test_an_op_knows_where_its_kink_is(op):
    known = RECORDS.get(op.name, Record(op.name))
    static = known.kink_options or (AXES if op.entries.moves else {})
    if len(op.vjps) == 2 and known.kink is None:
        assert np.all(op.kink.at(np.array([1.0, -2.0]), np.array([1.0, -2.0]), **static))
        assert not np.any(op.kink.at(np.array([1.0, -2.0]), np.array([2.0, 1.0]), **static))
        return
    there, beside = known.kink or AT_ZERO
    there, beside = (side if len(op.vjps) == 2 else [side] for side in (there, beside))
    assert np.any(op.kink.at(*map(np.array, there), **static))
    assert not np.any(op.kink.at(*map(np.array, beside), **static))


def differs_somewhere(op, factor):
    """Return whether an op says that PyTorch differs, at any of its points with all numbers times a factor."""
    found = False
    for tried, values, static in (case.values for case in CASES):
        if tried is op:
            moved = [np.asarray(x) * factor if np.asarray(x).dtype.kind == "f" else x for x in values]
            with np.errstate(all="ignore"):
                found |= bool(np.any(op.torch.differs(op.forward(*moved, **static), *moved)))
    return found


@pytest.mark.parametrize("op", [op for op in OPS.values() if op.torch.differs], ids=lambda op: op.name)
def test_an_op_knows_where_pytorch_differs(op):
    assert not differs_somewhere(op, 1.0)
    assert any(differs_somewhere(op, factor) for factor in (0.0, -1.0, 1e200, 1e-200))


@pytest.mark.parametrize("name", ["max", "min", "median"])
def test_the_gradient_of_an_extreme_that_is_nan_is_shared_among_the_nans(name):
    x = np.array([2.0, np.nan, 1.0, np.nan])
    found = OPS[name].vjp(0)(np.float64(3.0), np.float64(np.nan), x, dim=(0,), **GONE)
    np.testing.assert_array_equal(found, [0.0, 1.5, 0.0, 1.5])


def test_the_median_of_what_holds_a_nan_is_nan():
    x = np.array([[2.0, np.nan, 1.0], [np.nan, 5.0, 4.0]])
    assert np.all(np.isnan(OPS["pick"].forward(x, kind="median", dim=1, keepdim=False)))


@pytest.mark.parametrize(("g", "shape", "want"), [
    (2.0, (3,), [2.0, 2.0, 2.0]), (2.0, (), 2.0), ([1.0, 2.0], (2, 2), [[1.0, 2.0], [1.0, 2.0]]), ([1.0, 2.0], (), 3.0),
    ([[1.0, 2.0], [3.0, 5.0]], (2,), [4.0, 7.0]), ([[1.0, 2.0], [3.0, 5.0]], (2, 1), [[3.0], [8.0]]),
])  # fmt: skip
def test_a_cotangent_is_summed_over_what_was_broadcast(g, shape, want):
    np.testing.assert_array_equal(unbroadcast(np.array(g)[()], shape), want)


@pytest.mark.parametrize("shape", [(3,), (1, 3), (1, 1), ()])
def test_a_sum_over_a_million_rows_loses_no_more_than_a_few_units(shape):
    g = np.random.default_rng(0).normal(size=(1_000_003, 3)) + 1
    want = [math.fsum(column) for column in g.T]
    want = want if shape[-1:] == (3,) else [math.fsum(want)]
    np.testing.assert_allclose(np.ravel(unbroadcast(g, shape)), want, rtol=4e-15)


@pytest.mark.parametrize(("v", "shape", "seed"), [
    (None, (), 1.0), (None, (1,), [1.0]), ([2.0, 3.0], (2,), [2.0, 3.0]), ([2.0, 3.0], (2, 1), [[2.0], [3.0]]),
    ([2.0, 3.0], (1,), [5.0]),
])  # fmt: skip
def test_v_counts_as_it_was_given_or_as_its_sum(v, shape, seed):
    np.testing.assert_array_equal(read_v(v, shape, strict=False).seed, seed)


FLAT_BY_CONVENTION = [  # op, point, the argument whose derivative is 0 there although its formula is not
    ("pow", (3.0, 0.0), 0), ("pow", (0.0, 0.0), 0), ("pow", (0.0, 2.0), 1), ("pow", (0.0, 0.0), 1), ("sinc", (0.0,), 0),
    ("atan2", (0.0, 0.0), 0), ("atan2", (0.0, 0.0), 1), ("xlogy", (0.0, 0.0), 0), ("xlogy", (0.0, -1.0), 0),
    ("sqrt0", (0.0,), 0),
]  # fmt: skip


@pytest.mark.parametrize(("name", "point", "argument"), FLAT_BY_CONVENTION)
def test_both_routes_give_0_where_pytorch_does(name, point, argument):
    graph, output, leaves = applied(OPS[name], [np.array([x]) for x in point], {})
    assert reverse_jacobians(graph, output, leaves)[argument] == 0
    assert symbolic_jacobians(output, leaves)[argument][0] == 0


def test_every_convention_has_a_point():
    assert {op.name for op in OPS.values() if op.zero_at} <= {name for name, *_ in FLAT_BY_CONVENTION}


@pytest.mark.parametrize("op", [op for op in OPS.values() if op.step and any(op.vjps)], ids=lambda op: op.name)
def test_a_step_sends_zeros_back(op):
    divisors = [np.array([0.7, -1.1, 0.9])] * (len(op.vjps) - 1)
    check_op(op, [np.array([[-1.3, 0.2, 1.7], [0.4, -0.4, 2.9]]), *divisors], RECORDS[op.name].options[0])


@pytest.mark.parametrize("name", ["amax", "amin", "median", "norm"])
def test_both_routes_make_the_same_choice_among_ties_and_at_zero(name):
    order = {"p": 2.0} if name == "norm" else {}
    for values in ([3.0, 1.0, 3.0], [1.0, 1.0, 2.0, 1.0], [0.0, 0.0]):
        check_op(OPS[name], [np.array(values)], {"dim": (0,), **GONE, **order}, numeric=False)


@pytest.mark.long
@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.data())
def test_anywhere_in_its_domain_an_elementwise_op_agrees_with_its_formula(data):
    op = OPS[data.draw(st.sampled_from(sorted(DIFFERENTIABLE - set(STRUCTURAL))))]
    static = data.draw(st.sampled_from(RECORDS[op.name].options))
    bounds = [bounds_of(op, k) for k in range(len(op.vjps))]
    values = [np.array([data.draw(st.floats(low, high, allow_subnormal=False))]) for low, high in bounds]
    check_op(op, values, static, numeric=False, exact=0.0)


def test_no_function_is_left_out():
    assert set(PROGRAMS) == set(FUNCTIONS)


@pytest.mark.parametrize("program", portion([program for programs in PROGRAMS.values() for program in programs], 6))
def test_functions_have_the_derivative_of_their_values(program):
    f = gradcli.function(program)
    inputs = inputs_of(program, f.inputs)
    jacobians = f.jacobian(**inputs)
    y = f.value(**inputs)
    for name in f.inputs:
        by_value = difference(lambda x, name=name: f.value(**{**inputs, name: x}), np.array(inputs[name]))
        matrix = jacobians[name].reshape(y.size, -1)
        assert_close(matrix, by_value.reshape(matrix.shape), NUMERIC, f"{program} by {name}")
        v = np.random.default_rng(0).uniform(0.5, 1.5, y.shape)
        assert_close(
            f.grad(v=v, **inputs)[name], (v.ravel() @ matrix).reshape(jacobians[name].shape[y.ndim :]), 1e-10, name
        )
