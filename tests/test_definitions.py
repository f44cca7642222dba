"""Values and derivatives beside their definitions in mpmath, to the last digits that double precision can hold."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp

from definitions import DEFINITIONS, jacobian, value
from gradcli.ops import OPS
from op_cases import CASES, DIFFERENTIABLE, GONE, LONG, OVERFLOWING
from oracles import applied, differentiated, portion, reverse_jacobians, symbolic_jacobians

ULPS = 64
"""Roundings that an op may make of a number that its inputs' last bits move by less than that number's."""
EPSILON = 2.0**-52
NEARLY_SINGULAR = np.array([[1.0, 2, 3, 4], [4, 3, 1, 2], [5, 5, 4, 6 + 1e-7], [2, 0, 1, 3]])


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


@pytest.mark.parametrize(("op", "values", "static"), portion(CASES, 2))
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


POINTS = {  # where no case of the generic tests goes
    "huber": [([[-0.9, -0.2, 0.1, 0.7], [0.6, 0.5, 0.4, 0.3]], {})],
    "div": [([n, [0.5, -1.5, 3.0]], {}) for n in (1, 3)],
    "remainder": [([[2.3, -2.3, 0.4, -0.4, 5.5], [0.7, 0.7, -0.9, -0.9, -2.5]], {})],
    "sigmoid": [([[-30.0, -2.0, 2.0, 5.0]], {})], "silu": [([[-30.0, -5.0, 5.0, 30.0]], {})],
    "logsigmoid": [([[-30.0, -5.0, 5.0, 30.0]], {})], "logaddexp": [([[-30.0, 3.0, 30.0], [1.0, -2.0, 1.0]], {})],
    "softplus": [([[-30.0, -5.0, 5.0, 19.0, 21.0]], {"beta": 1.0, "threshold": 20.0})],
    "pow": [([[2.5, 0.7, 3.0], np.float64(p)], {}) for p in (0.5, -0.5, -1.0, -2.0, 3.0)],
    "prod": [([[*LONG, 0.0]], {"dim": (0,), **GONE}), ([[[2.0, 0.0], [3.0, 1.5]]], {"dim": (1,), **GONE})],
    "cumprod": [([[*LONG, 0.0, 2.0]], {"dim": 0}), ([[2.0, 0.0, 3.0]], {"dim": 0})],
    "det": [([NEARLY_SINGULAR], {}), ([[NEARLY_SINGULAR, NEARLY_SINGULAR.T]], {})],
}  # fmt: skip


@pytest.mark.parametrize(("name", "values", "static"), [(n, *row) for n, rows in POINTS.items() for row in rows])
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


HALVES = np.array([-2.5, -2.0, -1.5, -0.5, -0.3, 0.0, 0.3, 0.5, 1.5, 2.0, 2.5])
PAIR = [np.array([[1.0, -2.0, 0.0]]), np.array([[0.0], [1.0], [-2.0]])]
TRUTHS = [np.array([[True, False]]), np.array([[True], [False]])]
GRID = np.array([[0.0, 2.0, 1.0], [0.0, 0.0, -1.0], [0.0, 0.0, 0.0], [3.0, 1.0, 2.0]])
DIMS = {"dim": (1,), "keepdim": False}
FLAT = {
    **{name: [([HALVES], {})] for name in ("sign", "floor", "ceil", "trunc", "round", "detach")},
    "heaviside": [(PAIR, {})], "floor_divide": [([HALVES[:, None], np.array([0.7, -1.3])], {})],
    "isnan": [([np.array([0.0, np.nan, 1.0])], {})],
    **{name: [(PAIR, {})] for name in ("<", "<=", ">", ">=", "==", "!=")},
    "&": [(TRUTHS, {})], "|": [(TRUTHS, {})], "^": [(TRUTHS, {})], "~": [(TRUTHS[:1], {})],
    "any": [([GRID], DIMS), ([GRID], {"dim": (0, 1), "keepdim": True})], "all": [([GRID], DIMS), ([GRID > 5], DIMS)],
    "argmax": [([GRID], {"dim": 1, "keepdim": False}), ([GRID], {"dim": None, "keepdim": False})],
    "argmin": [([GRID], {"dim": 0, "keepdim": True}), ([GRID], {"dim": None, "keepdim": False})],
}  # fmt: skip


def test_every_op_is_compared_with_its_definition():
    assert DIFFERENTIABLE | set(FLAT) == set(OPS) == set(DEFINITIONS)
    assert not DIFFERENTIABLE & set(FLAT)


@pytest.mark.parametrize(("name", "values", "static"), [(name, *row) for name, rows in FLAT.items() for row in rows])
def test_a_step_a_comparison_or_a_position_is_exactly_that_of_its_definition(name, values, static):
    got = np.asarray(OPS[name].forward(*values, **static), dtype=np.float64)
    np.testing.assert_array_equal(got, value(name, values, static).astype(np.float64))


@pytest.mark.parametrize("name", ["clamp_min", "clamp_max", "maximum", "minimum", "fmax", "fmin"])
def test_of_two_equal_numbers_either_is_the_larger(name):
    np.testing.assert_array_equal(OPS[name].forward(HALVES, HALVES), HALVES)
