"""The numbers of the exact route beside mpmath's, to all digits; their nan, infinities and zeros beside numpy's."""

import math
from decimal import Decimal
from itertools import product

import mpmath
import numpy as np
import pytest

import gradcli
from gradcli.errors import GradcliError
from gradcli.exact.real import Real, digits, lifted
from gradcli.ops.further.pointwise import log_gamma, psi
from oracles import slow

POINTS = [1e-200, -1e-200, 1e-20, 0.3, -0.7, 0.99999999999, 1.0, 1.5, -3.2, 17.0, 300.0, -50.0, 1e22, 1e100]
FUNCTIONS = {
    "sin": mpmath.sin, "cos": mpmath.cos, "tan": mpmath.tan, "arcsin": mpmath.asin, "arccos": mpmath.acos,
    "arctan": mpmath.atan, "sinh": mpmath.sinh, "cosh": mpmath.cosh, "tanh": mpmath.tanh, "arcsinh": mpmath.asinh,
    "arccosh": mpmath.acosh, "arctanh": mpmath.atanh, "exp": mpmath.exp, "expm1": mpmath.expm1, "log": mpmath.ln,
    "log1p": mpmath.log1p, "log10": mpmath.log10, "sqrt": mpmath.sqrt, "erf": mpmath.erf, "sinc": mpmath.sincpi,
    "exp2": lambda x: mpmath.mpf(2) ** x, "log2": lambda x: mpmath.log(x) / mpmath.log(2),
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
}  # fmt: skip
STEEP = {"exp", "exp2", "expm1", "sinh", "cosh"}


def of(name, x, count):
    with digits(count):
        return getattr(Real(Decimal(x)), name)().d


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_has_all_the_digits_of_the_context(name):
    for x in POINTS:
        hold(name, x)


def hold(name, x):
    if name in STEEP and x > 1e4:
        assert of(name, x, 50) == Decimal("Infinity")
        return
    with mpmath.workdps(400):
        try:
            truth = FUNCTIONS[name](mpmath.mpf(x))
        except (ValueError, ZeroDivisionError):
            truth = mpmath.nan
        found = of(name, x, 50)
        if isinstance(truth, mpmath.mpc) or mpmath.isnan(truth):
            assert found.is_nan()
        elif mpmath.isinf(truth):
            assert found.is_infinite()
        else:
            size = abs(truth) + (1 if name == "sinc" else 0)  # whose zeros are those of a π with as many digits
            assert abs(mpmath.mpf(str(found)) - truth) <= 1e-47 * size


def test_erfc_has_all_the_digits_far_out():
    for x in (-40.0, -3.2, -1e-20, 0.0, 1e-200, 0.7, 21.3, 60.0, 140.0):
        with mpmath.workdps(80):
            truth = mpmath.erfc(mpmath.mpf(x))
            assert abs(mpmath.mpf(str(of("erfc", x, 50))) - truth) <= 1e-47 * truth
    assert [of("erfc", x, 50) for x in ("Infinity", "-Infinity")] == [0, 2]
    assert of("erfc", "NaN", 50).is_nan()


SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, math.inf, -math.inf, math.nan]
BINARY = {"+": "__add__", "-": "__sub__", "*": "__mul__", "/": "__truediv__", "**": "__pow__", "atan2": "arctan2"}
NUMPY = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "**": np.power, "atan2": np.arctan2}


def same(found, truth):
    """Return whether two doubles are the same, their signs and nan too, but for the last bit of a power."""
    if math.isnan(truth):
        return math.isnan(found)
    return found == pytest.approx(truth, rel=1e-15, abs=0) and math.copysign(1, found) == math.copysign(1, truth)


ODD = {("**", 1.0, math.nan), ("**", -0.0, 0.5), ("**", -math.inf, 0.5)}
"""1**nan is 1 for C's pow, and numpy takes x**0.5 for sqrt: neither is met where a derivative is taken."""


@pytest.mark.parametrize("symbol", BINARY)
def test_nan_infinities_and_zeros_are_those_of_double_precision(symbol):
    for a, b in product(SPECIAL, SPECIAL):
        hold_pair(symbol, a, b)


def hold_pair(symbol, a, b):
    with np.errstate(all="ignore"), digits(40):
        truth = float(NUMPY[symbol](np.float64(a), np.float64(b)))
        found = float(getattr(Real(Decimal(a)), BINARY[symbol])(Real(Decimal(b))))
    if str((symbol, a, b)) not in {str(odd) for odd in ODD}:
        assert same(found, truth), f"{a} {symbol} {b}"


@pytest.mark.parametrize("x", SPECIAL)
@pytest.mark.parametrize("name", ["floor", "ceil", "trunc", "rint", "sqrt", "exp", "log", "tanh", "arctan", "negative"])
def test_special_numbers_pass_through_functions_as_in_numpy(x, name):
    method = {"floor": "__floor__", "ceil": "__ceil__", "trunc": "__trunc__", "negative": "__neg__"}.get(name, name)
    with np.errstate(all="ignore"), digits(40):
        truth = float(getattr(np, name)(np.float64(x)))
        found = float(getattr(Real(Decimal(x)), method)())
    assert math.isnan(found) if math.isnan(truth) else found == pytest.approx(truth, rel=1e-15)


def test_arrays_are_added_multiplied_and_compared_entry_by_entry():
    with digits(40):
        x = lifted(np.array([[1.0, 2.0], [3.0, 4.0]]))
        assert np.array_equal(x @ x, [[7, 10], [15, 22]])
        assert np.array_equal(Real(Decimal(2)) * x, x + x)
        assert (x > 2).tolist() == [[False, False], [True, True]]
        assert np.cumsum(x).tolist() == [1, 3, 6, 10]
        third = lifted(np.float64(1.0)) / 3
        assert str(third[()].d if isinstance(third, np.ndarray) else third.d) == "0." + "3" * 40


def test_masks_and_integers_stay_what_they_are():
    mask, places = np.array([True, False]), np.array([0, 1])
    assert lifted(mask) is mask
    assert lifted(places) is places


@pytest.mark.parametrize(("program", "value"), [
    ("erfc(x**20)", 0.0), ("erfc(-x**20)", 2.0), ("torch.special.ndtr(-x**20)", 0.0),
])  # fmt: skip
def test_a_number_beyond_all_exponents_is_0_or_infinite(program, value):
    found = gradcli.explain(program, x=20.0)
    assert found.output == value
    gradcli.check(program, x=20.0)


@pytest.mark.parametrize("name", ["cross_entropy", "nll_loss"])
def test_one_constant_of_an_array_has_no_axes_in_many_digits_either(name):
    program = f"F.{name}(x, torch.tensor(2), torch.tensor([0.75, 2., 0.25]), ignore_index=1)"
    assert gradcli.check(program, x=[0.25, 0.5, -0.75]).agree


@pytest.mark.parametrize("order", [0, 1, 2, 7, 30])
@pytest.mark.parametrize("x", [0.3, -0.3, -1.7, -29.25, -50.75, -300.1, 1e-20, -1e-20, 5.5, 40.2])
def test_derivatives_of_psi_are_those_of_mpmath(order, x):
    with mpmath.workdps(60):
        wanted = mpmath.psi(order, mpmath.mpf(x))
        assert abs(psi(mpmath, order, mpmath.mpf(x)) - wanted) <= mpmath.mpf(10) ** -45 * abs(wanted)


@pytest.mark.long
@pytest.mark.parametrize(("program", "x", "verdict"), [
    ("torch.polygamma(1, x)", -1e16, "not-finite"), ("torch.polygamma(1, x)", -1e12 - 0.3, "right"),
    ("torch.polygamma(3, x)", -1e9 - 0.25, "right"), ("torch.digamma(x)", -1e15 + 0.5, "right"),
    ("torch.lgamma(x)", -1e9 - 0.3, "right"), ("torch.lgamma(x)", 5e-324, "not-finite"),
])  # fmt: skip
def test_functions_of_gamma_take_no_step_for_each_integer(program, x, verdict):
    """mpmath's own would not end within hours."""
    assert gradcli.check(program, x=x).verdict == verdict


def test_a_special_function_in_thousands_of_digits_is_beyond_the_time():
    with digits(9_000), pytest.raises(GradcliError, match="takes many seconds"):
        Real(Decimal(4865)).in_mpmath(lambda mp, x: mp.besseli(0, x))


@pytest.mark.parametrize("x", ["1", "2", "0.3", slow("1e-300"), "2.5", "-0.5", "-7.25", "3.5", "1e10"])
@pytest.mark.parametrize("near", ["0", "1e-260"])
def test_the_logarithm_of_gamma_has_all_digits_around_its_zeros(x, near):
    with digits(300):
        moved = Decimal(x) + Decimal(near)
        found = gamma_in_digits_of(moved)
        with mpmath.workdps(700):
            wanted = mpmath.log(abs(mpmath.gamma(mpmath.mpf(str(moved)))))
            assert abs(mpmath.mpf(str(found)) - wanted) <= mpmath.mpf(10) ** -290 * max(abs(wanted), 1)


def gamma_in_digits_of(x):
    return Real(x).in_mpmath(log_gamma).d
