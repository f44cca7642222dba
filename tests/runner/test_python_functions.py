"""Python functions in place of a text: read from their source and never called; values and gradients are PyTorch's."""

import dataclasses
import functools
import math
import time

import numpy as np
import pytest

import gradcli
from oracles import portion

torch = pytest.importorskip("torch")
F, nn = torch.nn.functional, torch.nn
from math import tanh as math_tanh  # noqa: E402

from torch import relu as rectify  # noqa: E402

W = torch.tensor([[1.0, -2.0, 0.5], [0.25, 3.0, -1.0]], dtype=torch.float64)
TRAINED = torch.tensor([0.5, 1.5, -1.0], dtype=torch.float64, requires_grad=True)
RATE, TURNS, MODE, WIDTHS = 0.1, 3, "sum", [0.5, 2.0]
DOWN, BIG, PAIRS, SHIFTS, SWITCH = -2, np.int64(3), (-3, 1), [0.5, -0.25], np.bool_(True)
MASK, PLACES = np.array([True, False, True]), torch.tensor([2, 0])
MODEL = nn.Linear(3, 2)


def square(x):
    return x**2


def scaled(x, by=RATE, times=TURNS):
    """Call another function, and have defaults from outside."""
    return square(x) * by * times


def plain_def(x):
    return (x**2).sum()


def of_array(x):
    y = W @ x
    return torch.tanh(y).sum()


def of_helpers(x):
    return scaled(x).sum() + scaled(x, by=2.0).sum() + rectify(x).sum()


def of_settings(x, times=2, by=2.0, mode="mean"):
    for _ in range(times):
        x = x * by
    return F.mse_loss(x, torch.zeros(3, dtype=torch.float64), reduction=mode)


def of_outer_settings(x):
    for k in range(TURNS):
        x = x * (k + RATE)
    return F.mse_loss(x, 2 * x.detach(), reduction=MODE) * WIDTHS[1]


def of_choices(x):
    return x[MASK].sum() + (x[PLACES] ** 2)[0] + torch.where(torch.as_tensor(MASK), x, 0.0).sum()


def of_powers(x):
    return (x + DOWN**2 * BIG - PAIRS[0] ** 2 + SHIFTS[1]).sum() if SWITCH else x.sum()


def of_tuples(x):
    a, b, c = x
    y = torch.stack([a * b, b * c])
    for k, row in enumerate(y):
        a = a + row * k
    return a * BIG


def of_branches(x):
    if x.sum() > 0:
        return (x * 2).sum()
    return (x**3).sum()


def of_nested(x):
    def inner(y, k=2.0):
        return y * k + RATE

    return inner(x).sum() * inner(x[0], k=3.0)


def of_prints(x):
    # what a function shows and measures has no part in its value
    start = time.time()
    y = x.exp()
    print(f"after {time.time() - start}", y)  # noqa: T201
    assert y.sum() > 0
    return y.sum()


def of_names(x, e, sin):
    return (x * e + sin).sum()


def of_keywords(x, /, w, *, power=2.0):
    return (w * x**power).sum()


def of_pythons_sum(x):
    return sum(torch.outer(x, x))[1]


def annotated(x, by=1.5):
    """Multiply.

    Text at the margin.
    """
    y = x * by
    return y.sum()


@functools.lru_cache
def cached(x):
    return (x**4).sum()


def outer(a, power):
    def inner(x):
        return (a * x**power).sum()

    return inner


class Holder:
    """Functions that are no methods."""

    @staticmethod
    def still(x):
        return (x - 1).prod()


@functools.lru_cache
def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def of_recursion(x, n=4):
    return (x ** fibonacci(5)).sum() if n <= 1 else x.sum() * of_recursion(x, n - 1)


class Scaled(nn.Module):
    """A module of the user's own, with a parameter that its function makes."""

    def __init__(self, by=2.0):
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([by, 1.0, -1.0], dtype=torch.float64))

    def forward(self, x):
        return (self.weight * square(x)).sum()


@dataclasses.dataclass
class Line:
    """A class with an operator."""

    slope: torch.Tensor

    def __add__(self, other):
        return Line(self.slope + other.slope)


def of_a_module(x):
    return Scaled()(x)


def of_objects(x):
    return ((Line(x) + Line(x * x)).slope ** 2).sum()


def of_a_gradient(x):
    y = (x**3).sum()
    (g,) = torch.autograd.grad(y, x, create_graph=True)
    return (g * g).sum()


in_brackets = (lambda x: x.sum() ** 2, lambda x: x.prod() ** 2)
X = {"x": [0.3, -0.4, 1.2]}
FUNCTIONS = [
    (plain_def, {}), (of_array, {}), (of_helpers, {}), (of_settings, {}), (of_settings, {"by": 0.5}),
    (of_outer_settings, {}), (of_choices, {}), (of_powers, {}), (of_tuples, {}),
    (of_branches, {}), (of_nested, {}), (of_prints, {}),
    (of_names, {"e": 1.25, "sin": [1.0, 2.0, 3.0]}), (of_pythons_sum, {}), (annotated, {}),
    (cached, {}), (outer(2.0, 3), {}), (outer(W[0], 2.0), {}), (Holder.still, {}),
    (in_brackets[0], {}), (in_brackets[1], {}), (lambda x: (x * RATE).sum(), {}),
    (lambda x, w=TRAINED: (x * w).sum(), {}), (lambda x, *, w: math_tanh(1.0) * (x * w).sum(), {"w": 2.0}),
    (of_recursion, {}), (of_a_module, {}), (of_objects, {}), (of_a_gradient, {}),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Using a target size")
@pytest.mark.parametrize(("function", "more"), FUNCTIONS)
def test_a_function_is_what_it_is_in_pytorch(function, more):
    given = X | more
    leaves = {name: torch.tensor(value, dtype=torch.float64, requires_grad=True) for name, value in given.items()}
    y = function(**leaves)
    y.backward()
    found = gradcli.explain(function, inputs=given)
    assert found.agreement.agree
    assert found.output == pytest.approx(y.item(), rel=1e-12)
    for name, leaf in leaves.items():
        np.testing.assert_allclose(found.grad[name], leaf.grad.numpy(), rtol=1e-10, atol=1e-14)


def power(x, count):
    y = 1.0
    for _ in range(count):
        y = y * x
    return y


@pytest.mark.parametrize(("function", "given", "value", "inputs"), [
    (power, {"x": 2.0, "count": 3}, 8.0, ["x"]),
    (of_settings, {"x": [1.0, 2.0, 3.0], "times": 1, "mode": "sum"}, 56.0, ["x", "by"]),
    (of_settings, {"x": [1.0, 2.0, 3.0], "times": 1, "mode": "sum", "by": 1}, 14.0, ["x", "by"]),
    (scaled, {"x": 2.0, "times": 1}, 0.4, ["x", "by"]), (scaled, {"x": 2.0, "times": 2.0}, 0.8, ["x", "by", "times"]),
])  # fmt: skip
def test_a_value_that_says_how_a_function_works_is_no_input(function, given, value, inputs):
    found = gradcli.explain(function, **given)
    assert (found.output, list(found.grad)) == (pytest.approx(value), inputs)
    assert gradcli.check(function, **given).agree


def test_positional_only_parameters_and_those_of_keywords_are_inputs():
    found = gradcli.explain(of_keywords, x=[2.0, 3.0], w=10.0)
    assert {name: grad.tolist() for name, grad in found.grad.items()}["x"] == [40.0, 60.0]
    assert gradcli.explain(of_keywords, x=[2.0, 3.0], w=10.0, power=1.0).output == 50.0


def test_every_way_to_ask_reads_a_function():
    function = gradcli.function(scaled)
    assert function.inputs == ("x", "by")
    assert function(x=2.0) == pytest.approx(1.2)
    assert function.grad(x=2.0)["x"] == pytest.approx(1.2)
    assert gradcli.check(scaled, x=2.0, expect={"x": "2*x*by*3", "by": "3*x**2"}).agree
    assert not gradcli.check(scaled, x=2.0, expect={"x": "2*x*by*4"}).agree
    assert repr(gradcli.explain(plain_def, **X)).startswith("<gradcli explanation of def plain_def(x): return (x**2)")


def test_what_comes_from_outside_is_constant_unless_it_asks_for_a_gradient():
    def fixed(x):
        return x * RATE * W[0, 1]

    def trained(x):
        return (x * TRAINED).sum()

    found = gradcli.explain(fixed, x=2.0)
    assert (list(found.grad), found.inputs["RATE"]) == (["x"], 0.1)
    found = gradcli.explain(trained, x=2.0)
    assert (found.grad["TRAINED"].tolist(), found.grad["x"]) == ([2.0, 2.0, 2.0], 1.0)


def test_a_parameter_hides_what_another_function_has_from_outside():
    def hiding(RATE, TURNS):
        return scaled(RATE, times=2) * TURNS

    assert gradcli.explain(hiding, RATE=2.0, TURNS=5.0).grad["RATE"] == pytest.approx(2 * 2.0 * 0.1 * 2 * 5)


def timed(function):
    @functools.wraps(function)
    def wrapper(x):
        return 2 * function(x)

    return wrapper


@timed
def wrapped(x):
    return x**2


def of_a_model(x):
    y = x * 2
    return MODEL(y).sum()


def of_unknown_changes(x):
    y = x * 1
    change(y)
    return y.sum()


def change(y, *others):
    y.mul_(others)


def of_itself(x):
    return of_itself(x) + x


async def later(x):
    return x


def of_v(x, v):
    return x * v


def first_of_two(k):
    def second(x):
        return x * k

    return second


OTHERS, WRONG, WAVES = (first_of_two(2.0), first_of_two(3.0)), [{"a": 1}], np.array([1j])
ONE, TWO = OTHERS


def of_two_meanings(x):
    return ONE(x) + TWO(x)


def of_wrong_values(x):
    return x * WRONG[0]


def of_complex(x):
    return x * WAVES


namespace = {}
exec("def typed(x): return x**2", namespace)  # noqa: S102 - a function without a file

ERRORS = [
    (math.sin, {}, "no-source", "math.sin is a function of a library", '"math.sin(x)"'),
    (F.relu, {}, "no-source", "torch.nn.functional.relu is a function", '"torch.nn.functional.relu(x)"'),
    (MODEL, {}, "no-source", "a torch.nn.modules.linear.Linear has no source", "give a text"),
    (Holder, {}, "no-source", "the class Holder has no source", "give a text"),
    (Holder().still.__get__(1), {}, "no-source", "Holder.still is a method, and what its object", "give a text"),
    (3, {}, "no-source", "an int is no program", "give a text"),
    (namespace["typed"], {}, "no-source", "Python has no source of 'typed'", "give a text"),
    (wrapped, {}, "no-source", "'wrapped' is wrapped by a decorator", "wrapped.__wrapped__"),
    (of_a_model, {}, "not-allowed", "'MODEL' is a torch", "3 |     return MODEL(y).sum()\n  |            ^^^^^"),
    (of_unknown_changes, {}, "script", "TypeError: argument 'other' must be Tensor, not tuple", "y.mul_(others)"),
    (lambda *values: values[0], {}, "arguments", "the lambda takes any arguments", "lambda"),
    (of_itself, {}, "script", "RecursionError: maximum recursion depth exceeded", "of_itself"),
    (later, {}, "not-allowed", "'async' is not part of the language", "async def later"),
    (of_two_meanings, {}, "not-allowed", "'k' means one thing", "return x * k"),
    (of_wrong_values, {}, "script", "TypeError: unsupported operand type(s) for *: 'Tensor' and 'dict'", "WRONG[0]"),
    (of_complex, {}, "not-allowed", "'WAVES' is an array of complex128", "x * WAVES"),
    (of_v, {"v": 2.0}, "missing-input", "no value for the variable v", 'add inputs={"v": ...}'),
    (plain_def, {"z": 2.0}, "unknown-input", "the program has no variable 'z'", "the program has x"),
]  # fmt: skip


@pytest.mark.parametrize("ask", [gradcli.explain, gradcli.check], ids=["explain", "check"])
@pytest.mark.parametrize(("function", "more", "kind", "message", "shown"), ERRORS)
def test_what_cannot_be_read_is_one_error(ask, function, more, kind, message, shown):
    with pytest.raises(gradcli.GradcliError) as caught:
        ask(function, x=2.0, **more)
    assert (caught.value.kind, message in caught.value.message) == (kind, True), caught.value
    assert shown in str(caught.value)


SOURCES = {
    "def f(x):\n    return x*2.5": ("def f(x):\n    return x*3.5", "is not that of the function any more"),
    "f = lambda x: x + 1": ("f = lambda x: x.sum() + 1", "is not that of the function any more"),
    "def f(y):\n    return y": ("def f(x):\n    return x", "is not that of the function any more"),
    "def f(x):\n    return x": ("def f(x:\n", "is not that of the function any more"),
}


@pytest.mark.parametrize("text", SOURCES)
def test_a_file_that_was_changed_is_not_read(text, tmp_path):
    path, (changed, message) = tmp_path / "own.py", SOURCES[text]
    path.write_text(text)
    names = {}
    exec(compile(text, str(path), "exec"), names)  # noqa: S102 - as an import does
    assert gradcli.explain(names["f"], inputs={"y" if "(y)" in text else "x": 2.0}).agreement.agree
    path.write_text(changed + "\n# longer\n")
    with pytest.raises(gradcli.GradcliError, match=message):
        gradcli.explain(names["f"], x=2.0)


def nll(Z, k):
    e = np.exp(Z - Z.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    return -np.mean(np.log(p[np.arange(len(k)), k]))


def nll_by_another(Z, targets):
    return nll(Z, targets)


def torch_nll(Z, k):
    return sum(F.cross_entropy(Z[j], k[j]) for j in range(len(k))) / len(k)


@pytest.mark.parametrize("labels", portion([np.array([1, 2]), [1, 2], np.array([1, 2], dtype=np.int32)], 3))
@pytest.mark.parametrize(("function", "name"), [(nll, "k"), (nll_by_another, "targets"), (torch_nll, "k")])
def test_labels_of_integers_are_indices(function, name, labels):
    z = np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]])
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    truth = (p - np.eye(3)[[1, 2]]) / 2
    for wrt in (None, ["Z"]):
        values = {"Z": z, name: labels}
        for grad in (gradcli.explain(function, wrt=wrt, inputs=values).grad, gradcli.function(function).grad(**values)):
            assert np.allclose(grad["Z"], truth)
        assert gradcli.check(function, wrt=wrt, inputs=values, expect=truth, samples=2).verdict == "right"
