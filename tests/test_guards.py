"""What must not rot: modules loaded at start-up, calls and memory of the engine and of J. Counted, never timed.

``BOUNDS`` is the one place to change. A bound stands a little above what the code needs, for other versions of numpy
and sympy; who makes something cheaper lowers it. ``python -m benchmarks`` tells what it is worth in seconds.
"""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import gradcli
from counting import below, calls, calls_of, cold, loaded, peak
from oracles import portion_of_rows

BOUNDS = {
    # Calls of functions, in Python and in C.
    "grad: calls for one operation of a chain": 14,
    "grad: calls for an elementwise program": 440,
    "grad: calls for a layer": 360,
    "explain: calls for an elementwise program of any size": 17_200,
    "explain: calls for a softmax of 60": 84_000,
    "explain: calls for one turn of a loop": 222,
    "explain: calls for one turn of a loop over a few entries": 250,
    "explain: calls for one turn of a loop over a vector": 355,
    # Bytes at the worst moment, in numbers of eight bytes for each element of the input, or each entry of J.
    "grad: numbers kept for one element of an elementwise program": 9.02,
    "grad: numbers kept for one weight of a layer": 1.1,
    "explain: numbers kept for one element of an elementwise program": 57,
    "explain: numbers kept for one entry of a softmax of 60": 600,
    # Derivatives that sympy is asked for, in a process that knows none.
    "explain: calls of diff for an elementwise program": 30,
}
EXAMPLE = ("[3*x[0]**2, x[0]**2 + 2*x[1]**3, 10*x[1]]", "--x", "1,2", "--v", "1,10,100")


@dataclass(frozen=True, slots=True)
class Start:
    """What a command may load: modules of gradcli and of sympy at most, and packages that it never needs.

    Modules of gradcli whose names begin with ``but`` do not count.
    """

    words: tuple[str, ...]
    own: int
    never: tuple[str, ...]
    sympy: int = 0
    but: tuple[str, ...] = ()


HEAVY = ("pydantic", "numpy.ma", "scipy", "sympy.physics", "sympy.stats", "prompt_toolkit", "IPython")
STARTS = [
    Start(("--version",), 15, (*HEAVY, "numpy", "rich", "gradcli.language", "gradcli.ops")),
    Start(("--help",), 15, (*HEAVY, "numpy", "rich", "gradcli.language", "gradcli.ops")),
    Start(("grad", *EXAMPLE), 96, (*HEAVY, "rich", "gradcli.checking", "gradcli.explanation.explaining")),
    Start(
        ("functions",),
        63,
        (*HEAVY, "rich", "gradcli.checking", "gradcli.explanation.explaining"),
        but=("gradcli.ops.further",),
    ),
    Start(("explain", *EXAMPLE), 171, (*HEAVY, "gradcli.checking", "gradcli.batch"), sympy=437),
    Start(("explain", *EXAMPLE, "--json"), 165, (*HEAVY, "rich", "gradcli.checking", "gradcli.batch"), sympy=437),
    Start(("check", *EXAMPLE[:3]), 172, (*HEAVY, "rich", "gradcli.batch"), sympy=437),
    Start(("batch", os.devnull), 68, (*HEAVY, "rich", "gradcli.explanation.explaining")),
]


def hold(name, value):
    assert value <= BOUNDS[name], f"{name}: {value:.4g}, no more than {BOUNDS[name]} is allowed"


def chain(steps):
    """Return the gradient of a chain of scalar operations as a piece of work, run once before."""
    function = gradcli.function(f"y = x\nfor i in range({steps // 2}):\n    y = y*1.001 + 0.001\ny")
    return warm(lambda: function.grad(x=0.5))


def warm(work):
    work()
    return work


def elementwise_grad(n):
    function, x = gradcli.function("sum(sin(x)*x**2 + exp(-x))"), np.linspace(0.1, 2, n)
    return warm(lambda: function.grad(x=x))


def layer_grad(n):
    function = gradcli.function("sum((sigmoid(W @ x + b) - t)**2)", wrt=["W", "b"])
    W, x = np.full((n, n), 1 / n), np.linspace(0, 1, n)
    return warm(lambda: function.grad(W=W, x=x, b=x, t=x))


def elementwise(n):
    x, v = np.linspace(0.1, 2, n), np.linspace(1, 2, n)
    return warm(lambda: gradcli.explain("sin(x)*x**2 + exp(-x)", x=x, v=v))


def softmax(n):
    W, x, v = np.sin(np.linspace(0, n * n, n * n)).reshape(n, n) / 10, np.linspace(0.1, 2, n), np.linspace(1, 2, n)
    return warm(lambda: gradcli.explain("softmax(W @ x)", W=W, x=x, v=v, wrt=["x"]))


def loop(turns, width=0):
    program = f"y = x\nn = 0\nwhile n < {turns}:\n    y = y*0.9999 + 0.001\n    n = n + 1\ny"
    x = np.linspace(0, 1, width) if width else 0.5
    return warm(lambda: gradcli.explain(program, x=x, v=np.ones(np.shape(x))))


@pytest.mark.parametrize("start", STARTS, ids=lambda start: " ".join(dict.fromkeys((start.words[0], start.words[-1]))))
def test_a_command_loads_what_it_needs(start):
    modules = loaded(*start.words)
    own = [module for module in below("gradcli", modules) if not module.startswith(start.but)]
    assert len(own) <= start.own
    assert len(below("sympy", modules)) <= start.sympy
    assert {package: found for package in start.never if (found := below(package, modules))} == {}


def test_grad_calls_the_same_for_each_operation_of_a_chain():
    short, middle, long = (calls(chain(n)) for n in (10, 100, 1_000))
    hold("grad: calls for one operation of a chain", (long - middle) / 900)
    assert (long - middle) / 900 <= 1.01 * (middle - short) / 90, "no operation costs more in a longer chain"


@pytest.mark.parametrize(("name", "work", "sizes", "growth"), portion_of_rows([
    ("explain: calls for an elementwise program of any size", elementwise, (20_000, 80_000), 1.03),
    ("explain: calls for a softmax of 60", softmax, (30, 60), 2.01),  # its rows are confirmed one by one
    ("grad: calls for an elementwise program", elementwise_grad, (5_000, 50_000), 1.01),
    ("grad: calls for a layer", layer_grad, (10, 100), 1.01),
], 4))  # fmt: skip
def test_the_calls_for_arrays_grow_with_no_entries(name, work, sizes, growth):
    small, large = (min(calls(work(n)) for _ in range(5)) for n in sizes)  # sympy's order of terms moves a count
    assert large <= growth * small
    hold(name, large)


@pytest.mark.parametrize(("name", "width"), portion_of_rows([
    ("explain: calls for one turn of a loop", 0),
    ("explain: calls for one turn of a loop over a few entries", 3),
    ("explain: calls for one turn of a loop over a vector", 100),
], 3))  # fmt: skip
def test_explain_calls_the_same_for_each_turn_of_a_loop(name, width):
    short, middle, long = (calls(loop(n, width)) for n in (250, 500, 1_000))
    hold(name, (long - middle) / 500)
    assert (long - middle) / 500 <= 1.05 * (middle - short) / 250


@pytest.mark.long
@pytest.mark.parametrize(("name", "work", "n", "elements"), [
    ("grad: numbers kept for one element of an elementwise program", elementwise_grad, 100_000, 100_000),
    ("grad: numbers kept for one weight of a layer", layer_grad, 300, 90_000),
    ("explain: numbers kept for one element of an elementwise program", elementwise, 20_000, 20_000),
    ("explain: numbers kept for one entry of a softmax of 60", softmax, 60, 3_600),
])  # fmt: skip
def test_memory_stays_in_proportion(name, work, n, elements):
    hold(name, peak(work(n)) / (8 * elements))


DIFFERENTIATED = """
import json, sys
import numpy as np
import gradcli
from counting import calls_of
n = int(sys.argv[1])
x, v = np.linspace(0.1, 2, n), np.linspace(1, 2, n)
gradcli.explain("x + 1", x=1.0)
print(json.dumps(calls_of("diff", "sympy", lambda: gradcli.explain("sin(x)*x**2 + exp(-x)", x=x, v=v))))
"""


@pytest.mark.long
def test_sympy_differentiates_an_elementwise_program_once_and_not_each_entry():
    found = [cold(DIFFERENTIATED, n) for n in (10, 1_000)]
    assert found[0] == found[1] > 0
    hold("explain: calls of diff for an elementwise program", found[1])


def nothing():
    pass


@pytest.mark.parametrize(("work", "count"), [
    (nothing, 1), (lambda: nothing(), 2), (lambda: len("x"), 2),  # noqa: PLW0108
    (lambda: [nothing() for _ in range(7)], 9), (lambda: sorted([2, 1], key=lambda k: k), 4),
])  # fmt: skip
def test_calls_are_counted(work, count):
    assert calls(work) == count


def test_calls_of_a_name_are_counted_in_its_package_alone():
    expression, x = cold_symbols()
    assert calls_of("diff", "sympy", lambda: expression.diff(x)) >= 1
    assert calls_of("diff", "numpy", lambda: expression.diff(x)) == 0
    assert calls_of("nothing", "sympy", nothing) == 0


def cold_symbols():
    import sympy

    x = sympy.Symbol("x")
    return sympy.sin(x) ** 3, x


def test_a_profiler_that_was_there_is_there_again():
    before = sys.getprofile()
    with pytest.raises(ZeroDivisionError):
        calls(lambda: 1 / 0)
    assert sys.getprofile() is before


def test_arrays_count_as_memory():
    assert 8_000_000 <= peak(lambda: np.ones(1_000_000)) < 8_100_000
    assert 16_000_000 <= peak(lambda: [np.ones(1_000_000) for _ in range(2)]) < 16_100_000
    assert peak(nothing) < 10_000


def test_modules_are_counted():
    modules = loaded("--version")
    assert below("gradcli", modules)[0] == "gradcli"
    assert "gradcli.errors" in below("gradcli", modules)
    assert below("sympy", ["sympy", "sympy.core", "sympyx", "x.sympy"]) == ["sympy", "sympy.core"]
    assert below("numpy", loaded("grad", "x**2", "--x", "3"))


@pytest.mark.parametrize("words", [("grad", "x**", "--x", "3"), ("no-such-command",)])
def test_what_does_not_end_with_0_is_no_measurement(words):
    with pytest.raises(AssertionError, match="AssertionError: 2"):
        loaded(*words)


def test_a_bound_that_is_passed_is_named():
    name = next(iter(BOUNDS))
    with pytest.raises(AssertionError, match=f"{name}: .*no more than"):
        hold(name, BOUNDS[name] * 1.001)


def test_every_bound_is_held_somewhere():
    text = Path(__file__).read_text(encoding="utf-8")
    assert all(text.count(f'"{name}"') == 2 for name in BOUNDS)
