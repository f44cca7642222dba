"""Values and derivatives beside their definitions in mpmath, to the last digits that double precision can hold."""

import numpy as np
import pytest
from mpmath import mp

from definitions import jacobian, value
from op_cases import CASES
from oracles import applied, differentiated, portion, reverse_jacobians, symbolic_jacobians
from records import OPS, RECORDS
from records.constants import HALVES, OVERFLOWING

ULPS = 64
"""Roundings that an op may make of a number that its inputs' last bits move by less than that number's."""
EPSILON = 2.0**-52


def as_given(values):
    """Return values as arrays; a plain integer stays one, as in ``1/x``."""
    return [x if type(x) is int else np.asarray(x) for x in values]


def rounding(exact, name, values, static, of):
    """Return how far rounding may move each entry: by its own last bits, and by those of the inputs."""
    largest = max(map(abs, np.ravel(exact)), default=0)
    bound = np.array([abs(entry) + largest for entry in np.ravel(exact)], dtype=object).reshape(exact.shape)
    for k, x in enumerate(values):
        if np.asarray(x).dtype.kind != "f":
            continue
        moved = [np.asarray(y) * (1 + EPSILON) if j == k else y for j, y in enumerate(values)]
        bound = bound + abs(of(name, moved, static) - exact) / EPSILON
    return np.asarray(ULPS * EPSILON * bound, dtype=object)


def assert_defined(got, exact, bound, what):
    """Compare entry by entry in mpmath's digits; no finite number is as near as another."""
    got = np.asarray(got)
    assert got.shape == exact.shape, what
    for place in np.ndindex(exact.shape):
        error = abs(mp.mpf(float(got[place])) - exact[place])
        assert error <= bound[place], f"{what}{list(place)}: {got[place]!r} should be {mp.nstr(exact[place], 17)}"


@pytest.mark.parametrize(("op", "values", "static"), portion(CASES, 2))
def test_an_op_has_the_value_of_its_definition(op, values, static):
    values = as_given(values)
    got = op.forward(*[x if type(x) is int else x[()] for x in values], **static)
    exact = value(op.name, values, static)
    assert_defined(got, exact, rounding(exact, op.name, values, static, value), op.name)


@pytest.mark.parametrize(("op", "values", "static"), portion(CASES, 16))
def test_both_routes_have_the_derivative_of_the_definition(op, values, static):
    values = as_given(values)
    graph, output, leaves = applied(op, values, static)
    reverse, symbolic = reverse_jacobians(graph, output, leaves), symbolic_jacobians(output, leaves)
    for k, by_vjp, (by_sympy, _) in zip(differentiated(op, values), reverse, symbolic, strict=True):
        of = lambda name, given, static, k=k: jacobian(name, given, static, k)  # noqa: E731
        exact = of(op.name, values, static)
        bound = rounding(exact, op.name, values, static, of)
        assert_defined(by_vjp, exact, bound, f"vjp of {op.name} by argument {k}")
        assert_defined(by_sympy, exact, bound, f"formula of {op.name} by argument {k}")


@pytest.mark.parametrize(
    ("name", "values", "static"), [(name, *row) for name, known in RECORDS.items() for row in known.further]
)
def test_an_op_and_its_derivatives_are_those_of_the_definition_at_further_points(name, values, static):
    test_an_op_has_the_value_of_its_definition(OPS[name], values, static)
    test_both_routes_have_the_derivative_of_the_definition(OPS[name], values, static)


SINGULAR = [[[1.0, 2.0], [2.0, 4.0]], [[1.0, 2, 3], [4, 5, 6], [7, 8, 9]],
            [[1.0, 2, 3, 4], [4, 3, 1, 2], [5, 5, 4, 6], [2, 0, 1, 3]]]  # fmt: skip


@pytest.mark.parametrize("A", SINGULAR, ids=["2", "3", "4"])
def test_the_formula_of_a_singular_determinant_gives_its_cofactors(A):
    A = np.array(A)
    _, output, leaves = applied(OPS["det"], [A], {})
    [(by_sympy, _)] = symbolic_jacobians(output, leaves)
    exact = jacobian("det", [A], {}, 0)
    assert_defined(by_sympy, exact, ULPS * EPSILON * np.full(exact.shape, max(map(abs, exact.ravel()))), "cofactors")


def test_a_determinant_that_overflows_leaves_the_others_of_its_batch_alone():
    det = OPS["det"]
    with np.errstate(all="ignore"):
        found = det.vjp(0)(np.ones(2), det.forward(OVERFLOWING), OVERFLOWING)
    exact = jacobian("det", [OVERFLOWING[0]], {}, 0).reshape(2, 2)
    assert_defined(found[0], exact, np.full((2, 2), ULPS * EPSILON), "vjp of det")
    assert not np.all(np.isfinite(found[1]))


@pytest.mark.parametrize(
    ("name", "values", "static"), [(name, *row) for name, known in RECORDS.items() for row in known.flat]
)
def test_a_step_a_comparison_or_a_position_is_exactly_that_of_its_definition(name, values, static):
    got = np.asarray(OPS[name].forward(*values, **static), dtype=np.float64)
    np.testing.assert_array_equal(got, value(name, values, static).astype(np.float64))


@pytest.mark.parametrize("name", ["clamp_min", "clamp_max", "maximum", "minimum", "fmax", "fmin"])
def test_of_two_equal_numbers_either_is_the_larger(name):
    np.testing.assert_array_equal(OPS[name].forward(HALVES, HALVES), HALVES)
