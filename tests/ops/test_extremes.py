"""Answers at the edge of double precision, held against definitions in mpmath that share nothing with gradcli.

All numbers are right to six digits, and the answer exits with 0 and says nothing: a false alarm is a fault too.
"""

import json

import numpy as np
import pytest
from mpmath import mp, mpf

from oracles import ask, numbers, portion

LARGEST = mpf(float(np.finfo(np.float64).max))
ALARMS = {"digits-lost", "unclear", "not-finite", "kink", "jump", "infinite-slope", "edge", "rounding-decides"}


def mean(x):
    return mp.fsum(x) / len(x)


def variance(x, less=0):
    return mp.fsum((a - mean(x)) ** 2 for a in x) / (len(x) - less)


def norm(x, p=2):
    return mp.fsum(abs(a) ** mpf(p) for a in x) ** (1 / mpf(p))


def logsumexp(x):
    return max(x) + mp.log(mp.fsum(mp.exp(a - max(x)) for a in x))


def standard(x, eps):
    return [(a - mean(x)) / mp.sqrt(variance(x) + mpf(eps)) for a in x]


ONE = {  # of one number
    "cos(x)": mp.cos,
    "sin(x)": mp.sin,
    "tan(x)": mp.tan,
    "cosh(x)": mp.cosh,
    "sinc(x)": lambda x: mp.sin(mp.pi * x) / (mp.pi * x),
    "asinh(x)": mp.asinh,
    "expm1(x)": mp.expm1,
    "log1p(x)": lambda x: mp.log(1 + x),
    "sigmoid(x)": lambda x: 1 / (1 + mp.exp(-x)),
    "tanhshrink(x)": lambda x: x - mp.tanh(x),
    "1/(1 + x)": lambda x: 1 / (1 + x),
}
TWO = {  # of two numbers
    "x + y": lambda x, y: x + y,
    "hypot(x, y)": lambda x, y: mp.sqrt(x * x + y * y),
    "stack([x, y]).norm()": lambda x, y: mp.sqrt(x * x + y * y),
    "atan2(x, y)": mp.atan2,
    "logaddexp(x, y)": lambda x, y: logsumexp([x, y]),
    "softmax([x, y], 0)[0]": lambda x, y: 1 / (1 + mp.exp(y - x)),
    "torch.ldexp(x, y)": lambda x, y: x * mpf(2) ** y,
    "sin(x)*cos(y)": lambda x, y: mp.sin(x) * mp.cos(y),
}
SEVERAL = {  # of a vector
    "sum(x)": lambda x: [mp.fsum(x)],
    "x - mean(x)": lambda x: [a - mean(x) for a in x],
    "np.std(x)": lambda x: [mp.sqrt(variance(x))],
    "var(x)": lambda x: [variance(x, 1)],
    "norm(x)": lambda x: [norm(x)],
    "norm(x, 10)": lambda x: [norm(x, 10)],
    "norm(x, 100)": lambda x: [norm(x, 100)],
    "norm(x, -1)": lambda x: [norm(x, -1)],
    "norm(x, 0.5)": lambda x: [norm(x, 0.5)],
    "logcumsumexp(x, 0)": lambda x: [logsumexp(x[: k + 1]) for k in range(len(x))],
    "F.instance_norm(x[None, None])[0, 0]": lambda x: standard(x, 1e-5),
}
TINY, HUGE = (1e-300, -1e-160, 1e-20), (1e300, -1e160, 1e22)
ROWS = [
    *((program, (x,), f) for program, f in ONE.items() for x in TINY),
    *(
        (f"polygamma({n}, x)", (x,), lambda x, n=n: mp.psi(n, x))
        for n, x in ((120, 1000.0), (150, 3.0), (170, 2.5), (170, 1e6), (3, -40.3))
    ),
    *((program, (x,), ONE[program]) for program in ("cos(x)", "sin(x)", "tan(x)", "sinc(x)") for x in HUGE),
    *(
        (program, pair, TWO[program])
        for program, pairs in {
            "x + y": [(1e300, 1e-300), (-1e-160, 1e300)],
            "hypot(x, y)": [(1e300, 1e-300), (0.3, -1e300), (1e-300, 1e-8)],
            "stack([x, y]).norm()": [(1e-20, 1e300), (1e8, 1e-300)],
            "atan2(x, y)": [(1e300, 1e-300), (1e-300, 3.0)],
            "logaddexp(x, y)": [(700.0, -1e-160), (-1e-300, 700.0)],
            "softmax([x, y], 0)[0]": [(700.0, -1e-160), (3.0, 1e-300)],
            "torch.ldexp(x, y)": [(1.5, 2.0), (1e-300, 3.0), (2.0, 1.0)],
            "sin(x)*cos(y)": [(1e300, 2.5), (1e-300, -1e160)],
        }.items()
        for pair in pairs
    ),
    *(
        (program, x, SEVERAL[program])
        for program, points in {
            "sum(x)": [[1e300, 1e-300, 1.0]],
            "x - mean(x)": [[1e300, 1e-300, 1.0], [1e-200, 1.0, 4.0]],
            "np.std(x)": [[1e100, 1e-100, 1.0]],
            "var(x)": [[1e154, 2e154, -3e153]],
            "norm(x)": [[1e-300, 1.0, 1e300]],
            "norm(x, 10)": [[1e-20, 1.0, 1e20]],
            "norm(x, 100)": [[1e300, -2e300, 5e299], [5e-310, 1e-310, 1e-308]],
            "norm(x, -1)": [[1e-300, 2e-300, -3e-300], [1e-160, 3e-160, -2e-160], [1e200, 1.0, 2.0]],
            "norm(x, 0.5)": [[1e-300, 2e-300, 1e-299], [1e300, 2e295, -1e298]],
            "logcumsumexp(x, 0)": [[1e5, 100001.0, 100003.0]],
            "F.instance_norm(x[None, None])[0, 0]": [[1e154, 2e154, -3e153]],
        }.items()
        for x in points
    ),
]


def truth(f, values):
    """Return y and the rows of J, by differences in so many digits that the widest numbers of a problem leave some."""
    orders = [abs(float(mp.log10(abs(mpf(x))))) for x in values if x]
    fine = int(60 + 2 * max(orders, default=0))
    with mp.workdps(4 * fine + 600):
        x = [mpf(value) for value in values]
        y, columns = f(x), []
        for k, each in enumerate(x):
            h = abs(each or min((abs(a) for a in x if a), default=mpf(1))) * mpf(10) ** -fine
            above, below = (f([*x[:k], each + move, *x[k + 1 :]]) for move in (h, -h))
            columns.append([(a - b) / (2 * h) for a, b in zip(above, below, strict=True)])
        return y, [list(row) for row in zip(*columns, strict=True)]


def assert_right(got, want, what):
    """Raise AssertionError where a number is off by more than 10⁻⁶ of the true one, or of the smallest double."""
    for number, true in zip(np.ravel(got).tolist(), want, strict=True):
        assert abs(mpf(number) - true) <= mpf("1e-6") * abs(true) + mpf("1.5e-323"), f"{what}: {number!r}, not {true}"


@pytest.mark.parametrize(("program", "values", "f"), portion([pytest.param(*row) for row in ROWS], 9))
def test_numbers_at_the_edge_of_doubles_are_right_and_raise_no_alarm(program, values, f):
    y, rows = truth(f if program in SEVERAL else lambda x: [f(*x)], values)
    assert all(abs(entry) < LARGEST for row in [y, *rows] for entry in row)
    inputs = {"x": list(values)} if program in SEVERAL else dict(zip("xy", values, strict=False))
    v = [float(k + 1) for k in range(len(y))]
    given = [word for name, value in inputs.items() for word in ("--set", f"{name}={json.dumps(value)}")]
    answer = ask("explain", program, *given, *(["--v", json.dumps(v)] if len(y) > 1 else []), "--json")
    document = json.loads(answer.out)
    assert answer.code == 0, [note["message"] for note in document["notes"]]
    assert {note["kind"] for note in document["notes"]} & ALARMS == set()
    assert_right(numbers(document["output"]["value"]), y, "y")
    J = np.array(rows, dtype=object).reshape(len(y), -1)
    for k, name in enumerate(inputs):
        columns = J if program in SEVERAL else J[:, k : k + 1]
        assert_right(numbers(document["jacobian"][name]["numeric"]), columns.ravel(), f"J by {name}")
        total = [mp.fsum(weight * entry for weight, entry in zip(v, column, strict=True)) for column in columns.T]
        size = mp.fsum(abs(entry) for entry in columns.ravel())
        for what in ("vjp", "grad"):
            for number, true in zip(np.ravel(numbers(document[what][name])).tolist(), total, strict=True):
                assert abs(mpf(number) - true) <= mpf("1e-6") * abs(true) + mpf("1e-14") * size + mpf("1.5e-323"), what
