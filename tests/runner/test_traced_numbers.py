"""Numbers that leave NumPy's arrays and Python's variables: --of and --wrt beside finite differences.

Each row is mixed with a term that stays traced, so that a cut is a wrong number. What has no derivative is refused.
"""

import warnings

import numpy as np
import pytest

import gradcli
from gradcli.errors import GradcliError

HEAD = (
    "import collections, copy, functools, heapq, itertools, json, math, random, statistics\nimport numpy as np\n"
    "random.seed(0); np.random.seed(0)\n"
)
POINT = {"x": 0.73, "a": [0.31, 0.92, 0.24]}
STEP = 1e-6
NUMBERS = """
float(x)*3 | float(np.float64(x)) | x.real*x.conjugate() | np.exp(x).item() | np.asarray(x).item()
np.array([x, 1]).tolist()[0] | math.gamma(x) | math.lgamma(x) | math.ldexp(x, 2) | math.frexp(x)[0]
math.modf(x)[0] | math.remainder(x, 0.4) | math.nextafter(x, 2) | math.hypot(x, 2, x) | math.dist([x, 1], [2, x])
math.fsum([x, x*x]) | math.log(3, x) | math.floor(x) | math.exp(-float(np.dot([x, 1], [x, 1])))
statistics.stdev([x, 1, 4]) | statistics.median([x, 1, 4]) | sum(map(float, [x, x])) | list({x: 1})[0]*3
sum({x, 2}) | max({x, .1}) | list(collections.Counter([x, x]))[0] | {x: x*2}[x] | int(x*10) | round(x*10)
np.full_like(np.ones(3), x).sum() | np.linspace(0, x, 5)[3] | np.linspace(x, 2, 5, endpoint=False)[3]
np.arange(x, 2)[1] | np.logspace(0, x, 3)[1] | np.geomspace(x, 2, 3)[1] | np.random.choice([x, x*2])
np.random.permutation([x, x*2])[0] | np.interp(.5, [0, x, 2], [0, 2, 5]) | np.interp(.5, [0, 1, 2], [0, x, 5])
np.polyval([1, x, 2], 2.) | np.ldexp(x, 2) | np.vectorize(math.sin)(np.array([x, 1]))[0] | copy.deepcopy([x])[0]*3
heapq.nlargest(1, [x, .1])[0] | np.nextafter(x, 2)
"""
ARRAYS = """
float(a[0])*3 | a[0].item()*3 | a.item(1) | sum(a.tolist()) | np.outer(a, a).tolist()[1][0] | a.sum().tolist()
math.sin(a[0]) | math.exp(-np.dot(a, a)) | math.sqrt(a[0]) | math.hypot(*a) | math.dist(a, [1, 2, 3])
statistics.mean(a) | a.view()[0]*2 | np.linspace(a, 2, 4).sum() | np.unique(a)[0]
np.unique(a, return_inverse=True)[0][1] | np.bincount([0, 1, 1], weights=a)[1] | np.random.choice(a)
np.random.choice(a, 2).sum() | np.random.default_rng(1).choice(a) | np.random.permutation(a)[0]
np.partition(a, 1)[1] | np.modf(a)[0].sum() | np.frexp(a)[0].sum() | np.extract(a > .5, a).sum()
np.choose([0, 1, 0], [a, a*2]).sum() | np.sum(a, where=[True, False, True])
np.mean(a, where=np.array([True, False, True])) | np.sum(a, initial=2) | np.max(a, initial=.1)
np.prod(a, initial=2.) | a.compress([1, 0, 1])[1] | np.divmod(a, .4)[1][0] | np.shares_memory(a, a)*a[0]
np.array([float(a[0]), 2])[0] | sum(v*v for v in np.nditer(a)) | sum(float(v) for v in a.flat)
list(itertools.accumulate(a.tolist()))[2] | a.flatten()[1]*2
""".replace("\n", " | ")
WRITES = [
    "r = np.zeros(3); r.fill(x)",
    "r = np.zeros(3); r.flat = a",
    "r = np.zeros(3); r.flat[1] = x",
    "r = np.zeros(3); np.copyto(r, a)",
    "r = np.zeros(3); np.put(r, [0, 1], a[:2])",
    "r = np.zeros(3); np.place(r, [1, 0, 1], a)",
    "r = np.zeros(3); np.putmask(r, [True, False, True], a)",
    "r = np.eye(3); np.fill_diagonal(r, x)",
    "r = np.zeros(3); v = r.view(); v[:] = a*a",
    "r = a.copy(); r.sort(); r = r[0]",
    "r = a.copy(); r.partition(1); r = r[0]",
    "np.random.shuffle(a); r = a[0]*3",
    "a.sort(); r = a[0]*3",
    "r = a.tolist(); random.shuffle(r); r = r[0]",
    "p, *q = a.tolist(); r = p*q[0]",
    "it = np.nditer(a, flags=['multi_index']); r = 0\nwhile not it.finished:\n    r += it[0]*a[it.multi_index]\n"
    "    it.iternext()",
    "class A:\n    def __init__(s, v): s.v = float(v)\n    def __float__(s): return s.v\nr = float(A(x))*2",
    *(
        f"try:\n    r = {text}\nexcept {kind}:\n    r = x**3"
        for kind, text in (
            ("ZeroDivisionError", "x/0"),
            ("ZeroDivisionError", "x**2 // (x - x)"),
            ("ZeroDivisionError", "x % 0"),
            ("ZeroDivisionError", "(x*0)**-1"),
            ("ZeroDivisionError", "divmod(x, x - x)[0]"),
            ("OverflowError", "(x*1e200)**4"),
            ("OverflowError", "math.exp(x*10000)"),
            ("ValueError", "math.log(x - x)"),
            ("ValueError", "math.sqrt(-x)"),
            ("ValueError", "math.acos(x + 5)"),
        )
    ),
]
ROWS = [
    f"r = {row.strip()}" for text in (NUMBERS.replace("\n", " | "), ARRAYS) for row in text.split("|") if row.strip()
]
CUT = """
float(str(x)) | float(f"{x}") | float(f"{x:.6f}") | float("%r" % x) | float("{}".format(x)) | float("1" + str(x))
float(x.hex()[:0] + repr(x)) | float(str([x])[1:-1]) | json.loads(json.dumps([x]))[0] | np.float64(str(x))
np.array([str(x)], dtype=float)[0] | float.fromhex(x.hex()) | float(np.array2string(a[0]))
sum(float(t) for t in str(a)[1:-1].split()) | np.random.normal(x) | np.random.uniform(0, x)
np.random.default_rng(0).normal(a).sum() | random.gauss(x, 1) | statistics.harmonic_mean([x, 1])
np.histogram(a, bins=3)[1][1]
""".replace("\n", " | ")


def script(body, point):
    return f"{HEAD}x = {point['x']!r}\na = np.array({point['a']!r})\n{body}\ny = np.sum(a)*2 + x*2 + np.sum(r)*1.0\n"


def differences(body, name):
    """Return the finite differences of Python's and NumPy's own values."""

    def value(moved, place):
        numbers = [POINT["x"]] if name == "x" else list(POINT["a"])
        numbers[place] += moved
        variables = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(script(body, POINT | {name: numbers[0] if name == "x" else numbers}), variables)  # noqa: S102
        return float(variables["y"])

    places = range(1 if name == "x" else len(POINT["a"]))
    return [(value(STEP, k) - value(-STEP, k)) / (2 * STEP) for k in places]


@pytest.mark.parametrize("name", ["x", "a"])
@pytest.mark.parametrize("body", [*ROWS, *WRITES])
def test_a_number_that_leaves_an_array_stays_traced(body, name):
    got = gradcli.run(script(body, POINT)).explain(of="y", wrt=[name]).grad[name]
    np.testing.assert_allclose(np.ravel(got), differences(body, name), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("row", [row.strip() for row in CUT.split("|") if row.strip()])
def test_what_leaves_the_trace_is_refused_by_name_where_the_answer_needs_it(row):
    name = "a" if "a[" in row or "(a" in row else "x"
    with pytest.raises(GradcliError, match="takes the number out of the trace") as caught:
        gradcli.run(script(f"r = {row}", POINT)).explain(of="y", wrt=[name])
    assert caught.value.place.text[slice(*caught.value.span)] == f"r = {row}"
    shown = gradcli.run(script(f"r = x*3; q = {row}; print(q > 0, q)", POINT)).explain(of="y", wrt=["x"])
    np.testing.assert_allclose(shown.grad["x"], 5.0)
