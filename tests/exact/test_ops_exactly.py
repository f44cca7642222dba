"""Every op computed in many digits beside its definition in mpmath, and on the pieces that it decides for."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp

from definitions import value
from gradcli.exact.decimals import digits
from gradcli.exact.real import Real, lifted
from gradcli.ops import OPS
from gradcli.ops.exactly import EXACT, PIECEWISE
from oracles import portion
from test_ops_generic import CASES

ENOUGH = mp.mpf(10) ** -44


def computed(op, values, static):
    """Return the value of an op in 50 digits, on the pieces that it decides for itself."""
    with digits(50):
        reals = [lifted(np.asarray(x, dtype=np.float64)) if np.asarray(x).dtype.kind in "iuf" else x for x in values]
        parts = PIECEWISE.get(op.name)
        if parts is None:
            return lifted(np.asarray(EXACT.get(op.name, op.forward)(*reals, **static)))
        return lifted(np.asarray(parts.on(parts.piece(*reals, **static), *reals, **static)))


@pytest.mark.parametrize(("op", "values", "static"), portion(CASES, 2))
def test_an_op_has_the_digits_of_its_definition(op, values, static):
    found = computed(op, values, static)
    truth = value(op.name, [x if type(x) is int else np.asarray(x) for x in values], static)
    assert found.shape == truth.shape
    largest = max((abs(entry) for entry in np.ravel(truth)), default=0)
    for place in np.ndindex(truth.shape):
        entry = found[place]
        got = mp.mpf(str(entry.d)) if isinstance(entry, Real) else mp.mpf(int(entry))
        assert abs(got - truth[place]) <= ENOUGH * (abs(truth[place]) + largest), f"{op.name}{list(place)}"


def test_what_is_said_of_ops_is_said_of_ops_that_there_are():
    assert set(EXACT) <= set(OPS)
    assert set(PIECEWISE) <= set(OPS)
    assert not set(EXACT) & set(PIECEWISE)


def test_every_op_with_a_kink_at_a_comparison_says_its_pieces():
    smooth_at_the_kink = {"norm", "sqrt0"}  # no comparison: a root, whose slope has no limit at 0
    assert {name for name, op in OPS.items() if op.kink or op.step} - set(PIECEWISE) == smooth_at_the_kink
