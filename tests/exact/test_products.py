"""Products of matrices in many digits, entry by entry and by limbs, beside sums of fractions."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import gradcli
from gradcli.exact.real import digits, lifted, multiply
from gradcli.ops.linear_algebra import count_terms, pays_in_limbs

RNG = np.random.default_rng(0)


def decimals(shape, count, spread=0):
    """Return random decimals with all digits of the context, of sizes that are ``spread`` orders of magnitude apart."""
    with digits(count):
        numbers = RNG.normal(size=shape) * 10.0 ** RNG.uniform(-spread, spread, shape)
        return np.array([Decimal(x) / 3 for x in numbers.ravel().tolist()], dtype=object).reshape(shape)


def true_product(a, b):
    """Return the product of two arrays of decimals as fractions."""
    return np.matmul(*(np.array([Fraction(x) for x in m.ravel()], dtype=object).reshape(m.shape) for m in (a, b)))


@pytest.mark.parametrize("spread", [0, 9])
@pytest.mark.parametrize("count", [50, 100, 200])
@pytest.mark.parametrize("shapes", [((40, 30), (30, 40)), ((2, 40, 30), (30, 40)), ((90, 90), (90, 9))])
def test_limbs_give_all_digits_of_each_sum(shapes, count, spread):
    a, b = (decimals(shape, count, spread) for shape in shapes)
    assert pays_in_limbs(a, b, count_terms(a, b))
    with digits(count):
        found, terms = multiply(a, b), multiply(abs(a), abs(b))
    true = true_product(a, b)
    assert found.shape == true.shape
    for value, exact, size in zip(found.ravel(), true.ravel(), terms.ravel(), strict=True):
        assert abs(Fraction(value) - exact) <= Fraction(size) / 10 ** (count - 1)


@pytest.mark.parametrize("entry", ["Infinity", "NaN", "1e-60", "1e80"])
def test_what_has_no_limbs_is_multiplied_entry_by_entry(entry):
    a, b = decimals((60, 60), 50), decimals((60, 60), 50)
    a[0, 0] = Decimal(entry)
    with digits(50):
        assert list(map(str, multiply(a, b).ravel())) == list(map(str, np.matmul(a, b).ravel()))


def test_zeros_and_large_integers():
    a = np.array([Decimal(0)] * 3600, dtype=object).reshape(60, 60)
    a[3, 5] = Decimal(10) ** 20
    with digits(50):
        found = multiply(a, a.T)
    assert found[3, 3] == Decimal(10) ** 40
    assert np.count_nonzero(found) == 1


def test_a_program_multiplies_numbers_masks_and_integers():
    with digits(50):
        x = lifted(np.array([0.5, 0.25]))
        assert float(x[0].matmul(x, x)) == 0.3125
    assert gradcli.check("(x > 0.3) @ x", x=[0.5, 0.25]).verdict == gradcli.check("x @ x", x=[0.5, 0.25]).verdict
