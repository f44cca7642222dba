"""Derivatives without a rule: right to 20 digits where there is one; kinks, jumps and steep places told apart."""

from decimal import Decimal, localcontext

import mpmath
import numpy as np
import pytest

from gradcli.errors import Budget, GradcliError
from gradcli.exact.slopes import Exact
from gradcli.exact.work import Spent
from gradcli.language.program import compile_program
from oracles import cases


def slope(program, x, scale=1.0, **others):
    """Return the derivative by the one entry of x, what y does on both sides, and the whole of what was asked."""
    exact = Exact(compile_program(program), {"x": x, **others}, ["x"])
    found = exact.along({"x": np.asarray(1.0 if x == 0 else abs(x))}, [Decimal(scale)])
    with mpmath.workdps(60):
        return mpmath.mpf(str(found.values[0])) / mpmath.mpf(1.0 if x == 0 else abs(x)), found.sides[0], exact


SMOOTH = [  # program, x, the derivative in mpmath
    ("x**2", 1e-160, lambda x: 2 * x),
    ("x**4", 1e-100, lambda x: 4 * x**3),
    ("x**2/(x**2 + 1)", 1e9, lambda x: 2 * x / (x * x + 1) ** 2),
    ("sinc(x)", 1e-150, lambda x: -(mpmath.pi**2) * x / 3),
    ("sin(x)/x", 1e-150, lambda x: -x / 3),
    ("tanh(x)", 60.0, lambda x: mpmath.sech(x) ** 2),
    ("tanh(x)", 300.0, lambda x: mpmath.sech(x) ** 2),
    ("((x + 1e16) - 1e16)**2", 1.3, lambda x: 2 * x),
    ("x + 1e12*x - 1e12*x", 1.0, lambda x: mpmath.mpf(1)),
    ("sin(1e22*x)", 0.1, lambda x: 10**22 * mpmath.cos(mpmath.mpf(10) ** 22 * x)),
    ("asin(x)", 0.99999999999999, lambda x: 1 / mpmath.sqrt(1 - x * x)),
    ("atan(x - cos(x))", 1.099e8, lambda x: (1 + mpmath.sin(x)) / (1 + (x - mpmath.cos(x)) ** 2)),
    ("tanh(1e160*x)", 0.0, lambda x: mpmath.mpf(1e160)),
    ("x**3", 0.0, lambda x: mpmath.mpf(0)),
    ("x*abs(x)", 0.0, lambda x: mpmath.mpf(0)),
    ("exp(x) - exp(x)", 700.0, lambda x: mpmath.mpf(0)),
    ("sin(x) + x", float(np.pi), lambda x: mpmath.mpf(0)),
    ("logaddexp(x, 0) - x + 1", 70.0, lambda x: -1 / (1 + mpmath.exp(x))),
    ("x*3 + 1e-30*x - x*3", 2.0, lambda x: mpmath.mpf(1e-30)),
    ("exp(x)/3*3 - exp(x)", 700.0, lambda x: mpmath.mpf(0)),
    ("cos(x)", 1e-300, lambda x: -mpmath.sin(x)),
    ("hypot(x, 1e300)", 0.3, lambda x: x / mpmath.mpf(1e300)),
    ("sin(x)", 1e300, mpmath.cos),
    ("x % 0.3", 1e300, lambda x: mpmath.mpf(1)),
    ("norm([x, 1e300], 100)", 1e300, lambda x: mpmath.mpf(2) ** (mpmath.mpf(1) / 100 - 1)),
    ("x*x.detach()", 3.0, lambda x: x),
    ("x*(1/3)", 2.0, lambda x: mpmath.mpf(1) / 3),
    ("x*log(2)", 2.0, lambda x: mpmath.log(2)),
    ("x*sin(pi)", 2.0, lambda x: mpmath.sin(mpmath.mpf(float(np.pi)))),
    ("y = x\ni = 0\nwhile i < 3:\n    y = y*2\n    i += 1\ny", 1.0, lambda x: mpmath.mpf(8)),
]


@pytest.mark.parametrize(("program", "x", "truth"), SMOOTH)
def test_a_derivative_has_twenty_digits(program, x, truth):
    found, side, _ = slope(program, x)
    with mpmath.workdps(400):
        want = truth(mpmath.mpf(x))
        assert abs(found - want) <= mpmath.mpf(10) ** -20 * abs(want)
    assert side.kind == ""


def test_seven_hundred_digits_are_found_where_they_are_needed():
    exact = Exact(compile_program("cos(x**3*sinh(y))"), {"x": 903.0, "y": -456.0}, ["x"])
    found = exact.along({"x": np.asarray(1.0)}, [Decimal("1e205")]).values[0]
    with mpmath.workdps(900):
        x, y = mpmath.mpf(903), mpmath.mpf(-456)
        truth = -mpmath.sin(x**3 * mpmath.sinh(y)) * 3 * x**2 * mpmath.sinh(y)
        assert abs(mpmath.mpf(str(found)) / truth - 1) < 1e-19


TABLES = cases("slopes.json")
BENT = TABLES["BENT"]


@pytest.mark.parametrize(("program", "x", "kind", "taken"), BENT)
def test_a_kink_a_jump_and_a_steep_place_are_told_apart(program, x, kind, taken):
    found, side, _ = slope(program, x)
    assert side.kind == kind
    if taken is None:
        assert mpmath.isnan(found)
    else:
        assert float(found) == pytest.approx(taken, rel=1e-15, abs=1e-15)


def test_slopes_on_both_sides_are_given():
    _, side, _ = slope("where(x > 0, 3*x, -2*x)", 0.0)
    assert (float(side.left), float(side.right)) == (-2, 3)


LED = [  # what doubles decide otherwise than exact numbers
    ("t = 0\ny = x\nwhile t < 1:\n    t = t + 0.1\n    y = 2*y\ny", 1.0, 2048),
    ("where((0.1 + 0.5)*x == 0.6*x, x, 5*x)", 1.0, 1),
    ("x*floor(0.3*10)", 1.0, 3),
    ("relu((x + 0.1) - 0.4)", 0.3, 0),
]


@pytest.mark.parametrize(("program", "x", "truth"), LED)
def test_a_program_that_rounding_led_is_led_as_it_went(program, x, truth):
    found, _, exact = slope(program, x)
    assert exact.rounded is not None
    assert float(found) == pytest.approx(truth, rel=1e-15)


def test_a_program_that_rounding_does_not_lead_decides_for_itself():
    assert slope("y = x\nwhile y < 8:\n    y = 2*y\ny", 1.5)[2].rounded is None


def test_values_are_those_of_the_doubles_that_were_given():
    exact = Exact(compile_program("x + 0.1"), {"x": 0.2}, ["x"])
    with localcontext(prec=60):
        assert exact.values() == [sum(map(Decimal, (0.2, 0.1)))]


@pytest.mark.parametrize(
    "program", ["log(exp(x)) - x", "sin(x)**2 + cos(x)**2 - 1", "tan(x)*cos(x) - sin(x)", "x/7*7 - x"]
)
def test_what_rounding_leaves_of_a_sum_is_0(program):
    assert Exact(compile_program(program), {"x": 0.7}, ["x"]).values() == [0]


@pytest.mark.parametrize(("program", "truth"), [
    ("1 - tanh(x)", 5.3e-261), ("x - tanh(x) - x + 1", 5.3e-261), ("cos(x)*0.5 + (1 - tanh(x))*exp(2*x)", 1.98895),
    ("sum([1, -erf(x/20)])*exp(x**2/400)", 0.03753),
])  # fmt: skip
def test_a_small_value_is_not_taken_for_rounding(program, truth):
    assert float(Exact(compile_program(program), {"x": 300.0}, ["x"]).values()[0]) == pytest.approx(truth, rel=1e-2)


def test_what_costs_too_much_is_given_up():
    exact = Exact(compile_program("sum(sin(x)*x)", Budget(work=100)), {"x": np.ones(1000)}, ["x"])
    with pytest.raises(Spent):
        exact.along({"x": np.ones(1000)})


def test_a_program_without_a_value_beside_x_has_no_derivative_there():
    exact = Exact(compile_program("log(x)"), {"x": -1.0}, ["x"])
    assert exact.along({"x": np.asarray(1.0)}).values[0].is_nan()
    with pytest.raises(GradcliError):
        compile_program("log(")


@pytest.mark.parametrize("program", ["floor(cos(x))", "floor(1 - x**2)", "ceil(x**2)", "x*2 + floor(2 - cosh(x))"])
def test_a_jump_where_an_integer_is_touched_is_found(program):
    exact = Exact(compile_program(program), {"x": 0.0}, ["x"])
    assert exact.along({"x": np.asarray(1.0)}).sides[0].kind == "jump"
