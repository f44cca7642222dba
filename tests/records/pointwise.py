"""Functions of numbers that few programs call, comparisons, logic and tests of entries by their names."""

import math

import numpy as np
from mpmath import mp

from records import constants as c
from records import mathematics as m
from records.record import record


def towards_zero(a, b):
    """Return the quotient without its fraction."""
    quotient = mp.re(a) / mp.re(b)
    return mp.floor(quotient) if quotient > 0 else mp.ceil(quotient)


def rounded_quotient(a, b, rounding_mode):
    """Return a quotient rounded down or towards 0."""
    return m.floored(a, b) if rounding_mode == "floor" else towards_zero(a, b)


TESTED = [np.array([0.0, -0.0, 1.0, -2.0, math.inf, -math.inf, math.nan])]

record(
    "fmod",
    definition=lambda a, b: a - b * towards_zero(a, b),
    straight=True,
    domain=((2.2, 2.8), (0.97, 1.03)),
    further=[([[2.3, -2.3, 0.4, -0.4, 5.5], [0.7, 0.7, -0.9, -0.9, -2.5]], {})],
)

record(
    "copysign",
    definition=lambda x, other: m.absolute(x) * (1 if m.above(other) else -1),
    straight=True,
    domain=((0.3, 2), (-2, -0.3)),
    kink=([[0.0, 1.0], [1.0, 0.0]], [[1.0, -2.0], [1.0, 2.0]]),
    further=[([[2.3, -2.3, 0.4, -0.4], [0.7, 0.7, -0.9, -0.9]], {})],
)

record(
    "logaddexp2",
    definition=lambda a, b: mp.log(mp.mpf(2) ** a + mp.mpf(2) ** b) / mp.log(2),
    derivatives=(
        lambda a, b: 1 / (1 + mp.mpf(2) ** (b - a)) if abs(b - a) < m.FAR else mp.mpf(a > b),
        lambda a, b: 1 / (1 + mp.mpf(2) ** (a - b)) if abs(b - a) < m.FAR else mp.mpf(b > a),
    ),
    value=lambda a, b: max(a, b) + mp.log1p(mp.mpf(2) ** -abs(a - b)) / mp.log(2),
    hard_pairs=(c.SCORES, c.SCORES),
)

record(
    "lerp",
    definition=lambda x, end, w: x + w * (end - x),
    cases=[([(3,), (3,), (3,)], {}), ([(2, 3), (3,), ()], {}), ([(), (3,), (2, 1)], {})],
    further=[([[1e3, 1.0], [2.0, -5.0], [0.3, 0.9]], {})],
)

record(
    "rounded_div",
    definition=rounded_quotient,
    flat=[([c.HALVES[:, None], np.array([0.7, -1.3])], {"rounding_mode": mode}) for mode in ("floor", "trunc")],
    options=[{"rounding_mode": "floor"}, {"rounding_mode": "trunc"}],
    kink=([[1.0, 3.0], [2.0, 1.5]], [[1.0, -2.5], [2.0, 1.0]]),
    kink_options={"rounding_mode": "floor"},
    called=["div"],
)

for _rule in (np.logical_and, np.logical_or, np.logical_xor):
    record(
        _rule.__name__,
        definition=lambda a, b, rule=_rule: bool(rule(mp.re(a) != 0, mp.re(b) != 0)),
        flat=[(c.TRUTHS, {})],
    )

record("logical_not", definition=lambda a: mp.re(a) == 0, flat=[(c.TRUTHS[:1], {})])

record("isfinite", definition=lambda x: mp.isfinite(mp.re(x)), flat=[(TESTED, {})])

record("isinf", definition=lambda x: mp.isinf(mp.re(x)), flat=[(TESTED, {})])

record("isposinf", definition=lambda x: mp.re(x) == mp.inf, flat=[(TESTED, {})])

record("isneginf", definition=lambda x: mp.re(x) == -mp.inf, flat=[(TESTED, {})])

record("signbit", definition=lambda x: mp.re(x) < 0, flat=[([np.array([1.0, -2.0, 0.0, math.inf, -math.inf])], {})])

record(
    "isclose",
    definition=lambda x, other, rtol, atol, equal_nan: (
        abs(mp.re(x - other)) <= mp.mpf(atol) + abs(mp.mpf(rtol) * mp.re(other))
    ),
    flat=[
        (
            [np.array([1.0, 1.0, 2.0, -3.0]), np.array([1.0, 1.5, 2.1, 3.0])],
            {"rtol": rtol, "atol": 0.01, "equal_nan": False},
        )
        for rtol in (0.0, 0.4)
    ],
    options=[{"rtol": 1e-5, "atol": 1e-8, "equal_nan": False}],
)

record(
    "count_nonzero",
    of_arrays=m.reducing(lambda g: sum(mp.re(x) != 0 for x in g)),
    flat=[([c.GRID], c.DIMS), ([c.GRID], {"dim": (0, 1), "keepdim": True})],
)

record(
    "histc",
    of_arrays=lambda x, bins, low, high: np.array(
        [
            sum(
                mp.mpf(low) + (mp.mpf(high) - low) * k / bins <= mp.re(e)
                and (
                    mp.re(e) < mp.mpf(low) + (mp.mpf(high) - low) * (k + 1) / bins
                    or (k + 1 == bins and mp.re(e) == high)
                )
                for e in x
            )
            for k in range(bins)
        ],
        dtype=object,
    ),
    flat=[([c.HALVES], {"bins": 4, "low": -2.5, "high": 2.5}), ([c.HALVES], {"bins": 3, "low": 0.0, "high": 1.5})],
)
