"""Sweeps that leave a graph: what they give is the engine's gradient, and has derivatives of its own, to any order."""

import numpy as np
import pytest

from gradcli.engine.again import differentiable_cotangents
from gradcli.engine.graph import Graph, Node
from gradcli.engine.reverse import backward, cotangents
from gradcli.errors import GradcliError
from gradcli.exact.real import digits, lifted
from gradcli.exact.run import Deciding
from gradcli.exact.work import Work, paid_from
from gradcli.jacobian.composition import compose
from gradcli.language.program import compile_program
from gradcli.ops import OPS
from gradcli.ops.arithmetic import ADD, DIV, MUL
from gradcli.ops.declare import value_of
from gradcli.ops.linear_algebra import MATMUL
from gradcli.ops.reductions import SUM
from gradcli.ops.shaping import EXPAND, TRANSPOSE
from op_cases import CASES
from oracles import assert_close, cases, difference, differentiated, needs_torch, portion, portion_of_rows, tampered
from programs import NAMED, PROGRAMS, inputs_of

ONE = np.float64(1.0)
SYMMETRIC = {"eigvalsh", "eigenvectors"}
"""Ops that read one triangle of a matrix: their second derivative is that by a matrix that stays symmetric."""


def summed(graph, x):
    return graph(SUM, x, dim=tuple(range(x.ndim)), keepdim=False) if x.ndim else x


def weighed(graph, parts):
    """Return the sum of all entries of some arrays, each times a weight, as a value of the graph, and the weights."""
    rng, total, weights = np.random.default_rng(5), None, []
    for part in parts:
        weights.append(rng.uniform(0.5, 1.5, np.shape(value_of(part))))
        term = summed(graph, graph(MUL, part, weights[-1]))
        total = term if total is None else graph(ADD, total, term)
    return total, weights


def slopes(graph, y, leaves, v=ONE):
    """Return the gradients of ``y`` as values of the graph; zeros where it depends on a leaf no more."""
    if not (isinstance(y, Node) and y.active):
        return [np.zeros(leaf.shape) for leaf in leaves]
    found = differentiable_cotangents(graph, y, v)
    return [found.get(leaf.index, np.zeros(leaf.shape)) for leaf in leaves]


def numbers(parts):
    return [np.asarray(value_of(part), dtype=np.float64) for part in parts]


def assert_equals_cotangents(found, output, v, graph, leaves):
    want = cotangents(graph, output, v)
    for leaf in leaves:
        if leaf.index in want:
            assert_close(value_of(found[leaf.index]), want[leaf.index], 1e-12, "the first derivative")


# --- every op, and every function ---


def at_points(op, values, static):
    """Return a function from the differentiated arguments, and v, to a graph of the op at them."""
    moved = differentiated(op, values)

    def build(points):
        graph, given = Graph(), iter(points)
        arguments = [
            graph.input(f"x{k}", np.asarray(next(given), dtype=np.float64)[()], active=True) if k in moved else value
            for k, value in enumerate(values)
        ]
        v = graph.input("v", np.asarray(next(given))[()], active=True)
        with np.errstate(all="ignore"):
            output = graph(op, *arguments, **static)
        return graph, output, [leaf for leaf in arguments if isinstance(leaf, Node)], v

    return build, [values[k] for k in moved]


@pytest.mark.parametrize(("op", "values", "static"), portion(CASES, 2))
def test_every_op_twice(op, values, static):
    """The second derivative by all arguments and by v is the difference of the first."""
    values = [np.asarray(value) for value in values]
    build, points = at_points(op, values, static)
    with np.errstate(all="ignore"):
        points = [*points, np.random.default_rng(3).uniform(0.5, 1.5, np.shape(op.forward(*values, **static)))]
    graph, output, leaves, v = build(points)
    found = differentiable_cotangents(graph, output, v)
    assert_equals_cotangents(found, output, v.value, graph, leaves)
    total, weights = weighed(graph, [found[leaf.index] for leaf in leaves])
    second = numbers(slopes(graph, total, [*leaves, v]))

    def gradient(*moved):
        graph, output, leaves, v = build(moved)
        found = cotangents(graph, output, np.asarray(v.value))
        return sum(np.sum(weight * found[leaf.index]) for weight, leaf in zip(weights, leaves, strict=True))

    for k, (point, by_sweep) in enumerate(zip(points, second, strict=True)):
        by_difference = difference(
            lambda x, k=k: gradient(*[x if j == k else other for j, other in enumerate(points)]),
            np.asarray(point, dtype=np.float64),
        ).reshape(np.shape(point))
        if op.name in SYMMETRIC and k == 0:
            by_difference = (by_difference + np.swapaxes(by_difference, -1, -2)) / 2
        assert_close(by_sweep, by_difference, 2e-7, f"{op.name} by argument {k}", 2e-10)


ALL = [(text, None) for texts in PROGRAMS.values() for text in texts] + list(NAMED.items())
NO_SECOND = {"F.normalize(x*0, dim=0)", "torch.linalg.svdvals(eye(2)*x[0])"}
"""Programs whose second derivative is nan, in PyTorch too: a norm at 0, and singular values that are equal."""


@pytest.mark.parametrize(("text", "inputs"), portion_of_rows([row for row in ALL if row[0] not in NO_SECOND], 8))
def test_every_function_twice(text, inputs):
    """The second derivatives by the engine are those by local Jacobians, and those of the same sweeps in 40 digits."""
    program = compile_program(text)
    values = {name: np.asarray(value, dtype=np.float64)[()] for name, value in (
        inputs or inputs_of(text, program.inputs)).items() if name in program.inputs}  # fmt: skip
    graph, output, _ = program.evaluate(values, frozenset(values))
    if not (isinstance(output, Node) and output.active):
        return
    leaves = [graph.inputs[name] for name in values]
    v = np.random.default_rng(3).uniform(0.5, 1.5, output.shape)
    found = differentiable_cotangents(graph, output, v[()])
    assert_equals_cotangents(found, output, v, graph, leaves)
    reached = [leaf.name for leaf in leaves if leaf.index in found]
    total, _ = weighed(graph, [found[graph.inputs[name].index] for name in reached])
    active = isinstance(total, Node) and total.active
    second = backward(graph, total, ONE, leaves) if active else [np.zeros(leaf.shape) for leaf in leaves]
    if active:
        jacobians = compose(total, leaves, 10**7).of
        for leaf, gradient in zip(leaves, second, strict=True):
            assert_close(jacobians[leaf.index].dense().reshape(leaf.shape), gradient, 1e-8, leaf.name, 1e-13)
    with digits(40), paid_from(Work(10**12)):
        exact = Deciding(program.budget, exact=True)
        _, output, _ = program.evaluate(
            {name: lifted(np.asarray(x)) for name, x in values.items()}, frozenset(values), graph=exact
        )
        found = differentiable_cotangents(exact, output, lifted(v))
        total, _ = weighed(exact, [found[exact.inputs[name].index] for name in reached])
        truth = numbers(slopes(exact, total, [exact.inputs[name] for name in values], lifted(np.asarray(1.0))))
    for name, gradient, right in zip(values, second, truth, strict=True):
        assert_close(gradient, right, 1e-9, name, 1e-13)


# --- PyTorch ---

POINTS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, 0.3, -0.75246, -1.27846, 6.0, 20.0, -20.0, 300.0, -800.0]
POINTWISE = """
sin cos tan asin acos atan sinh cosh tanh asinh exp expm1 exp2 log log2 log10 log1p sqrt rsqrt
square reciprocal erf sigmoid relu logsigmoid softsign elu softplus gelu leaky_relu hardtanh hardswish
hardshrink softshrink tanhshrink celu erfc erfinv ndtr logit
"""


@needs_torch
@pytest.mark.parametrize("name", POINTWISE.split())
def test_three_derivatives_at_kinks_and_far_out(name):
    import torch

    rule = next(
        getattr(home, name) for home in (torch, torch.special, torch.nn.functional) if callable(getattr(home, name, 0))
    )
    graph, x = Graph(), torch.tensor(POINTS, dtype=torch.float64, requires_grad=True)
    leaf = graph.input("x", np.array(POINTS), active=True)
    with np.errstate(all="ignore"):
        ours = graph(OPS[name], leaf, **OPS[name].text.defaults)
    theirs = rule(x)
    for order in (1, 2, 3):
        [ours] = slopes(graph, ours, [leaf], np.ones(len(POINTS)))
        if theirs.requires_grad:
            [theirs] = torch.autograd.grad(theirs, x, torch.ones_like(x), create_graph=True, allow_unused=True)
            theirs = torch.zeros_like(x) if theirs is None else theirs
        else:
            theirs = torch.zeros_like(x)
        want, got = theirs.detach().numpy(), np.asarray(value_of(ours))
        np.testing.assert_allclose(got, want, 1e-9, 1e-15, err_msg=f"{name}, derivative {order}")


AT = [
    ([0.7, -0.4, 1.3, 2.1], [0.3, 1.1, -0.6, 0.9]), ([0.0, 1.0, -1.0, 2.0], [0.0, 1.0, 1.0, -2.0]),
    ([1.0, 1.0, 0.0, 0.0], [1.0, 2.0, 0.0, -0.5]), ([0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 2.0, 3.0]),
]  # fmt: skip

ROWS = cases("again.toml")["EDGES"]


@needs_torch
@pytest.mark.parametrize("text", portion(ROWS, 2))
def test_hessians_times_a_vector_where_functions_bend(text):
    import torch

    program = compile_program(text)
    for x, z in AT:
        values = {"x": np.array(x), "z": np.array(z)}
        graph, y, _ = program.evaluate({name: values[name] for name in program.inputs}, frozenset("x"))
        weights, u = np.cos(np.arange(np.size(value_of(y)))).reshape(np.shape(value_of(y))) + 1.5, [1.0, 2.0, -1.0, 0.5]
        [first] = slopes(graph, y, [graph.inputs["x"]], weights[()])
        [second] = slopes(graph, first, [graph.inputs["x"]], np.array(u))
        a, b = (torch.tensor(part, dtype=torch.float64) for part in (x, z))
        a.requires_grad_()
        names = {"torch": torch, "F": torch.nn.functional, "x": a, "z": b}
        with torch.enable_grad():
            theirs = eval(text, names)  # noqa: S307 - constants of the tests
        [one] = torch.autograd.grad(theirs, a, torch.tensor(weights), create_graph=True)
        two = None
        if one.requires_grad:
            [two] = torch.autograd.grad(one, a, torch.tensor(u, dtype=torch.float64), allow_unused=True)
        for got, want in ((first, one), (second, torch.zeros(4) if two is None else two)):
            right = want.detach().numpy()
            scale = np.max(np.abs(right[np.isfinite(right)]), initial=1e-9)
            np.testing.assert_allclose(value_of(got), right, 1e-8, 1e-8 * scale, err_msg=f"{text} at {x}, {z}")


# --- by hand ---


def test_where_pytorch_has_none_the_second_derivative_is_the_mathematical_one():
    graph = Graph()
    x = graph.input("x", np.zeros(1), active=True)
    [first] = slopes(graph, graph(OPS["sinc"], x), [x], np.ones(1))
    [second] = slopes(graph, first, [x], np.ones(1))
    assert value_of(second) == pytest.approx(-(np.pi**2) / 3, rel=1e-14)


DERIVATIVES = {  # the first four of a function of one number, at 0.7
    "x**3": (3 * 0.7**2, 6 * 0.7, 6.0, 0.0),
    "sin(x)": (np.cos(0.7), -np.sin(0.7), -np.cos(0.7), np.sin(0.7)),
    "exp(2*x)": tuple(2**k * np.exp(1.4) for k in (1, 2, 3, 4)),
    "1/x": tuple((-1) ** k * f / 0.7 ** (k + 1) for k, f in ((1, 1), (2, 2), (3, 6), (4, 24))),
    "tanh(x)": tuple(
        (1 - t * t) * part
        for t in [np.tanh(0.7)]
        for part in (1, -2 * t, 6 * t * t - 2, t * (16 - 24 * t * t))
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", DERIVATIVES)
def test_four_derivatives(text):
    graph, y, _ = compile_program(text).evaluate({"x": np.float64(0.7)}, frozenset("x"))
    for order, want in enumerate(DERIVATIVES[text], 1):
        [y] = slopes(graph, y, [graph.inputs["x"]])
        assert value_of(y) == pytest.approx(want, rel=1e-12), order


def test_a_cubic_form_three_times():
    """Of y = (xᵀ·A·x)·(b·x) the third derivative along u, v and w is that of a form of three vectors."""
    rng = np.random.default_rng(0)
    (A, b), (u, v, w) = (rng.normal(size=(3, 3)), rng.normal(size=3)), rng.normal(size=(3, 3))
    graph = Graph()
    x = graph.input("x", rng.normal(size=3), active=True)
    y = graph(MUL, graph(MATMUL, graph(MATMUL, x, A), x), graph(MATMUL, x, b))
    for along in (u, v, w):
        [gradient] = slopes(graph, y, [x])
        y = graph(MATMUL, gradient, along)
    S = A + A.T
    assert value_of(y) == pytest.approx(u @ S @ v * (b @ w) + v @ S @ w * (b @ u) + u @ S @ w * (b @ v), rel=1e-12)


# --- what a sweep takes and gives ---


def test_v_may_be_a_value_of_the_graph_and_what_depends_on_nothing_is_plain():
    graph = Graph()
    x, v = (graph.input(name, np.array([1.0, 2.0]), active=True) for name in "xv")
    y = graph(MUL, x, np.array([3.0, 4.0]))
    plain = differentiable_cotangents(graph, y, np.ones(2))[x.index]
    assert type(plain) is np.ndarray
    assert plain.tolist() == [3.0, 4.0]
    gradient = differentiable_cotangents(graph, y, v)[x.index]
    assert backward(graph, gradient, np.ones(2), [v])[0].tolist() == [3.0, 4.0]


def test_a_sweep_goes_over_the_nodes_that_it_is_told_and_keeps_what_comes_by():
    graph = Graph()
    x = graph.input("x", np.float64(0.5), active=True)
    h = graph(OPS["sin"], x)
    y = graph(OPS["exp"], h)
    kept = {}
    assert differentiable_cotangents(graph, y, ONE, kept=kept).keys() == {x.index}
    assert kept.keys() == {h.index, y.index}
    inner = differentiable_cotangents(graph, y, ONE, nodes=[y])
    assert inner.keys() == {h.index}
    assert value_of(inner[h.index]) == np.exp(np.sin(0.5))


def test_a_cotangent_is_summed_over_what_was_broadcast_by_ops():
    graph = Graph()
    b, x = graph.input("b", np.ones((2, 1)), active=True), graph.input("x", np.arange(6.0).reshape(2, 3), active=True)
    v = graph.input("v", np.full((4, 2, 3), 2.0), active=True)
    y = graph(EXPAND, graph(MUL, graph(TRANSPOSE, b, dims=(0, 1)), x), shape=(4, 2, 3))
    found = differentiable_cotangents(graph, y, v)
    assert value_of(found[b.index]).tolist() == [[24.0], [96.0]]
    assert backward(graph, found[b.index], np.ones((2, 1)), [v])[0].tolist() == [x.value.tolist()] * 4


def test_a_rule_that_cannot_be_traced_is_refused_and_no_number_is_made_up():
    with tampered(OPS["sin"], vjps=(lambda g, _y, x: g * np.frexp(x)[0],)):
        graph = Graph()
        x = graph.input("x", np.float64(0.5), active=True)
        y = graph(OPS["sin"], x)
        with pytest.raises(GradcliError, match="sin has no second derivative") as caught:
            differentiable_cotangents(graph, y, ONE)
    assert caught.value.kind == "not-allowed"


def test_a_long_chain_leaves_few_nodes_for_each_operation():
    graph = Graph()
    x = graph.input("x", np.float64(0.7), active=True)
    y = x
    for k in range(10_000):
        y = graph(DIV, y, 1.5) if k % 4 == 3 else graph(OPS[("sin", "cos", "tanh")[k % 4]], y)
    before = len(graph.nodes)
    found = differentiable_cotangents(graph, y, ONE)
    assert value_of(found[x.index]) == cotangents(graph, y, ONE)[x.index]
    assert len(graph.nodes) - before < 25_000
