"""How many digits of an expected derivative must be right: those that are asked for, or those of its type."""

import numpy as np
import pytest

import gradcli

X = np.random.default_rng(0).normal(size=(64, 5))
T = np.random.default_rng(1).normal(size=64)
AT = np.random.default_rng(2).normal(size=5)
LOSS = "sum((X @ w - t)**2)"


def computed(dtype):
    """Return the gradient of the loss by w, computed in a type of few digits."""
    x, w, t = X.astype(dtype), AT.astype(dtype), T.astype(dtype)
    return 2 * x.T @ (x @ w - t)


def checked(expect, **more):
    return gradcli.check(LOSS, X=X, w=AT, t=T, wrt=["w"], expect=expect, **more)


TYPES = [  # the type, a factor, whether the gradient is right
    (np.float64, 1.0, True), (np.float64, 1 + 1e-7, False),
    (np.float32, 1.0, True), (np.float32, 1 + 1e-6, True), (np.float32, 1 + 1e-4, False), (np.float32, -1.0, False),
    (np.float16, 1.0, True), (np.float16, 1.004, True), (np.float16, 1.05, False), (np.float16, 2.0, False),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "factor", "right"), TYPES)
def test_an_array_is_held_to_the_digits_of_its_type(dtype, factor, right):
    expect = (computed(dtype) * factor).astype(dtype)
    found = checked(expect)
    assert found.agree is right, found
    assert (f"held to the digits of {np.dtype(dtype).name}" in str(found)) is (dtype is not np.float64)
    assert str(checked({"w": expect})) == str(found), "under its name as alone"


@pytest.mark.parametrize("place", range(5))
def test_one_wrong_entry_of_a_float32_array_is_found(place):
    expect = computed(np.float32)
    expect[place] *= np.float32(1.0003)
    found = checked(expect)
    assert found.comparisons[-1].wrong == 1
    assert found.comparisons[-1].worst.place == f"dy/dw[{place}]"


def test_doubles_that_hold_numbers_of_float32_are_held_as_doubles():
    assert not checked(computed(np.float32).astype(np.float64)).agree


DIGITS = [  # what is expected of the derivative of x**3 at 2, digits, whether it is right
    ("3.001*x**2", 3, True), ("3.001*x**2", 4, False), ("3*x**2*(1 + 1e-9)", 8, True), ("3*x**2*(1 + 1e-9)", 10, False),
    ("12.01", 3, True), ("12.01", 4, False), ("12.0", 15, True), ("12", 1, True), ("13", 1, True), ("14", 1, False),
    ("24", 1, False), ("-12", 1, False), ("0", 1, False), (12.0 * (1 + 1e-7), 6, True), (12.0 * (1 + 1e-7), 8, False),
    ("3.0001*x**2", 4.3, True), ("3.0002*x**2", 4.3, False),
]  # fmt: skip


@pytest.mark.parametrize(("expect", "digits", "right"), DIGITS)
def test_so_many_digits_are_asked_for(expect, digits, right):
    found = gradcli.check("x**3", x=2.0, expect=expect, digits=digits)
    assert found.agree is right, found
    words = "1 digit" if digits == 1 else f"{digits} digits"
    assert f"(held to {words})" in str(found)
    assert found.to_dict()["check"]["comparisons"][-1]["standard"] == words


@pytest.mark.parametrize(
    ("dtype", "digits", "right"), [(np.float32, 10, False), (np.float32, 4, True), (None, 4, True)]
)
def test_digits_that_are_asked_for_stand_in_for_those_of_a_type(dtype, digits, right):
    assert checked(computed(dtype or np.float64), digits=digits).agree is right


def test_an_entry_that_cancels_is_held_by_its_own_terms():
    program, x = "(x[0]*3 + x[1] - x[0]*3)*x[0] + x[0]", [1000.0, 1e-3]
    assert gradcli.check(program, x=x, expect=[1.001, 1000.0], digits=5).agree
    assert gradcli.check(program, x=x, expect=[1.004, 1000.0], digits=5).agree, "its terms are some 3000"
    assert not gradcli.check(program, x=x, expect=[1.031, 1000.0], digits=5).agree
    assert not gradcli.check("(x*3 + 1e-3 - x*3)*x", x=1000.0, expect=1.2e-3, digits=5).agree, "alone, it is its own"


@pytest.mark.long
def test_along_a_direction_one_wrong_entry_shows():
    x = np.random.default_rng(3).normal(size=(200, 100))
    w, t = np.linspace(-1, 1, 100), np.ones(200)
    right = (2 * x.T @ (x @ w - t)).astype(np.float32)
    for factor, agrees in ((1.0, True), (-1.0, False), (1.1, False)):
        expect = right.copy()
        expect[7] *= factor
        assert gradcli.check(LOSS, X=x, w=w, t=t, wrt=["w"], expect=expect).agree is agrees


OUT_OF_RANGE = [0, 16, -3, 0.5, "5", True, float("nan"), float("inf")]


@pytest.mark.parametrize("digits", OUT_OF_RANGE)
def test_digits_out_of_range_are_refused(digits):
    with pytest.raises(gradcli.GradcliError) as raised:
        gradcli.check("x**2", x=3.0, expect="2*x", digits=digits)
    assert (raised.value.kind, "from 1 to 15" in raised.value.message) == ("option", True)


def test_digits_of_nothing_are_refused():
    with pytest.raises(gradcli.GradcliError, match="nothing is"):
        gradcli.check("x**2", x=3.0, digits=5)
