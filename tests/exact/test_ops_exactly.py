"""Every op computed in many digits beside its definition in mpmath, and on the pieces that it decides for."""

import math
from decimal import Decimal
from itertools import product
from math import inf, nan

import numpy as np
import pytest
from mpmath import mp

from definitions import value
from gradcli.errors import GradcliError
from gradcli.exact.real import Real, digits, lifted
from mutation.table import is_elementwise
from op_cases import CASES
from oracles import portion
from records import OPS, RECORDS

ENOUGH = mp.mpf(10) ** -44


def computed(op, values, static):
    """Return the value of an op in 50 digits, on the pieces that it decides for itself."""
    with digits(50):
        arrays = [x if type(x) is int else np.asarray(x) for x in values]
        reals = [x if type(x) is int or x.dtype == np.bool_ else lifted(x.astype(np.float64)) for x in arrays]
        parts = op.exact.pieces
        if parts is None:
            return lifted(np.asarray((op.exact.value or op.forward)(*reals, **static)))
        return lifted(np.asarray(parts.on(parts.piece(*reals, **static), *reals, **static)))


@pytest.mark.parametrize(
    ("op", "values", "static"),
    [*portion(CASES, 2), *((OPS[name], *row) for name, known in RECORDS.items() for row in known.pieces)],
)
def test_an_op_has_the_digits_of_its_definition(op, values, static):
    found = computed(op, values, static)
    truth = value(op.name, [x if type(x) is int else np.asarray(x) for x in values], static)
    assert found.shape == truth.shape
    largest = max((abs(entry) for entry in np.ravel(truth)), default=0)
    for place in np.ndindex(truth.shape):
        entry = found[place]
        got = mp.mpf(str(entry.d)) if isinstance(entry, Real) else mp.mpf(int(entry))
        assert abs(got - truth[place]) <= ENOUGH * (abs(truth[place]) + largest), f"{op.name}{list(place)}"


def numbers(op, *values):
    return [entry if type(entry) is int else entry.d for entry in np.ravel(computed(OPS[op], values, {}))]


@pytest.mark.parametrize(("a", "wanted"), [
    ([[1.0, 2.0], [2.0, 4.0]], [["0.04", "0.08"], ["0.08", "0.16"]]),
    ([[3.0, 0.0], [0.0, 0.0], [4.0, 0.0]], [["0.12", "0", "0.16"], ["0", "0", "0"]]),
    ([[0.0, 0.0]], [["0"], ["0"]]),
])  # fmt: skip
def test_a_pseudo_inverse_of_lower_rank_is_that_of_its_range(a, wanted):
    found = computed(OPS["pinv"], [np.array(a)], {"atol": 0.0, "rtol": 1e-12})
    assert found.shape == np.shape(wanted)
    for got, want in zip(found.flat, np.ravel(wanted), strict=True):
        assert abs(got.d - Decimal(str(want))) < Decimal("1e-40")


def test_a_cross_entropy_has_a_logarithm_of_minus_100_at_its_ends_as_in_pytorch():
    assert numbers("bce", [0.0, 1.0], [0.25, 0.5]) == [25, 50]


def test_the_angle_on_its_cut_has_the_sign_of_a_zero():
    above, below, over, under = numbers("atan2", [0.0, -0.0, 1e-300, -1e-300], [-1.0, -2.0, -1.0, -1.0])
    assert below == above.copy_negate()
    assert above > 3.14159
    assert above - over < 1e-27
    assert under - below < 1e-27


TAKES = {op.name: len(values) for op, values, static in (case.values for case in CASES) if not static and op.formula}
TAKES |= {name: len(op.vjps) for name, op in OPS.items() if op.step and name != "rounded_div"}  # which wants a mode
OF_NUMBERS = [name for name, takes in TAKES.items() if takes < 3 and (OPS[name].step or is_elementwise(OPS[name]))]
LINE = (0.0, -0.0, 0.5, -0.5, 0.9, 1.0, -1.0, 2.0, -2.5, -3.0, 7.25, 40.0, -40.0, inf, -inf, nan)
FINITE = LINE[:-3]
ENDS = {"hardswish", "hypot", "pow", "bce_with_logits", "floor_divide"}
"""Ops of which doubles have nan at some infinity and many digits have a limit, or the other way round."""


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_an_op_has_its_doubles_at_the_edges_of_its_domain_and_beyond(name):
    op = OPS[name]
    line = FINITE if name in ENDS else LINE
    domains = (op.domain * 2)[: TAKES[name]]
    points = list(product(*((low,) if low == high else line for low, high in domains)))
    with np.errstate(all="ignore"):
        wanted = [float(op.forward(*map(np.float64, point))) for point in points]
    found = [float(computed(op, [np.float64(x) for x in point], {}).item()) for point in points]
    poles = [
        math.isinf(want) and not math.isfinite(got) and all(map(math.isfinite, point))
        for point, want, got in zip(points, wanted, found, strict=True)
    ]
    for point, want, got, pole in zip(points, wanted, found, poles, strict=True):
        assert pole or got == pytest.approx(want, rel=1e-12, abs=1e-40, nan_ok=True), f"{name}{point}"
    assert not all(poles)


@pytest.mark.parametrize("name", ["lgamma", "digamma"])
def test_the_gamma_function_is_refused_in_digits_that_take_many_seconds(name):
    """An input of 1e308 anywhere in a program asks for thousands of digits; mpmath makes Bernoulli numbers for them."""
    with digits(800):
        OPS[name].exact.value(lifted(np.array([0.3, 2.5])))
    with digits(3000), pytest.raises(GradcliError, match="takes too long"):
        OPS[name].exact.value(lifted(np.array([0.3, 2.5])))
