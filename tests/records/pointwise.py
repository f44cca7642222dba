"""Functions of numbers that few programs call, comparisons, logic and tests of entries by their names."""

import math
import operator

import numpy as np
from mpmath import mp

from records import constants as c
from records import mathematics as m
from records.record import calls, record


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
    ranges=("-3,3", "0.5,2"),
    recipes=["{E}, {c}"],
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
    ranges=("-3,3", "-3,3"),
)

record(
    "lerp",
    definition=lambda x, end, w: x + w * (end - x),
    cases=[([(3,), (3,), (3,)], {}), ([(2, 3), (3,), ()], {}), ([(), (3,), (2, 1)], {})],
    further=[([[1e3, 1.0], [2.0, -5.0], [0.3, 0.9]], {})],
    recipes=["{V}, {V}, 0.3", "{M}, {V}, {c}", "{E}, {E}, {E}"],
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

for _name in ("deg2rad", "rad2deg", "frac"):
    record(_name, recipes=["{E}", "{V}*{f}({V})"])

# --- comparisons and logic ---

for _name, _rule in (
    ("eq", operator.eq),
    ("ne", operator.ne),
    ("gt", operator.gt),
    ("ge", operator.ge),
    ("lt", operator.lt),
    ("le", operator.le),
):
    record(_name, recipes=["where({f}({V}, {V}), {V}, {S})", "{f}({M}, {c})*{V}"])

for _name, _rule in (
    ("logical_and", np.logical_and),
    ("logical_or", np.logical_or),
    ("logical_xor", np.logical_xor),
    ("bitwise_and", np.logical_and),
    ("bitwise_or", np.logical_or),
    ("bitwise_xor", np.logical_xor),
):
    record(
        _name,
        definition=lambda a, b, rule=_rule: bool(rule(mp.re(a) != 0, mp.re(b) != 0)),
        flat=[(c.TRUTHS, {})],
        recipes=["where({f}({V} > {c}, {V} < 1), {V}, {S})", "{f}({M} > {c}, {V} > 0)*{V}"],
    ) if _name.startswith("logical") else record(_name, recipes=["where({f}({V} > {c}, {V} < 1), {V}, {S})"])

record(
    "logical_not",
    definition=lambda a: mp.re(a) == 0,
    flat=[(c.TRUTHS[:1], {})],
    recipes=["where({f}({V} > {c}), {V}, {S})"],
)

for _name, _rule, _truth in (
    ("isfinite", lambda x: mp.isfinite(mp.re(x)), True),
    ("isinf", lambda x: mp.isinf(mp.re(x)), False),
    ("isposinf", lambda x: mp.re(x) == mp.inf, False),
    ("isneginf", lambda x: mp.re(x) == -mp.inf, False),
):
    record(_name, definition=_rule, flat=[(TESTED, {})], recipes=["where({f}({V}), 0, {V})"])

record(
    "signbit",
    definition=lambda x: mp.re(x) < 0,
    flat=[([np.array([1.0, -2.0, 0.0, math.inf, -math.inf])], {})],
    recipes=["where({f}({V}), 0, {V})"],
)

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
    recipes=["where({f}({V}, {V}, rtol=0.5), {V}, {S})"],
)

record(
    "count_nonzero",
    of_arrays=m.reducing(lambda g: sum(mp.re(x) != 0 for x in g)),
    flat=[([c.GRID], c.DIMS), ([c.GRID], {"dim": (0, 1), "keepdim": True})],
    recipes=["{V}*{f}({V} > {c})", "{f}({M} > {c}, dim=0)*{V}"],
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
    recipes=["{f}({V}, 4, -4, 4)*{S}"],
)

calls(
    {
        "positive": ["{E}", "{V}*{f}({V})"],
        "rsub": ["{E}, {E}", "{M}, {V}, alpha={c}"],
        "ldexp": ["{E}, {E:-2,2}", "{M}, {V:-2,2}"],
        "addcmul": ["{V}, {V}, {V}", "{M}, {V}, {S}, value={c}"],
        "addcdiv": ["{V}, {V}, {V:0.4,2}", "{M}, {V}, {S:0.4,2}, value={c}"],
        "nan_to_num": ["{E}", "{V}, nan={c}"],
        "np.nan_to_num": ["{E}", "{V}, nan={c}", "{V}, True, {c}"],
        "bitwise_not": ["where({f}({V} > {c}), {V}, {S})"],
        "allclose": ["{V}*2 if {f}({V}, {V}, rtol=0.5) else {V}"],
        "equal": ["{V}*2 if {f}({V}, {M}) else {V}"],
    }
)
