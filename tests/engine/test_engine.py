"""The engine: what a tape keeps, what is added in place, and that neither shows in a gradient."""

import itertools
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

import gradcli
from gradcli.engine import graph
from gradcli.engine.graph import StandIn
from gradcli.engine.reverse import cotangents
from gradcli.errors import Budget, GradcliError
from gradcli.ops.declare import Kept, saved_here
from oracles import portion
from programs import PROGRAMS, inputs_of
from records import OPS

CALLS = [program for programs in PROGRAMS.values() for program in programs]
YES, NO = True, False
# fmt: off
KEPT = [
    ("add",     (YES, YES),      (NO, NO),      NO),
    ("mul",     (YES, YES),      (YES, YES),    NO),
    ("mul",     (YES, NO),       (NO, YES),     NO),
    ("div",     (NO, YES),       (YES, YES),    NO),
    ("exp",     (YES,),          (NO,),         YES),
    ("sin",     (YES,),          (YES,),        NO),
    ("sigmoid", (YES,),          (YES,),        YES),
    ("sum",     (YES,),          (NO,),         NO),
    ("amax",    (YES,),          (YES,),        YES),
    ("reshape", (YES,),          (NO,),         NO),
    ("stack",   (YES, NO, YES),  (NO, NO, NO),  NO),
    ("where",   (NO, YES, YES),  (YES, NO, NO), NO),
    ("matmul",  (YES, YES),      (YES, YES),    NO),
    ("prod",    (YES,),          (YES,),        YES),
]
# fmt: on


@pytest.mark.parametrize(("name", "active", "arguments", "output"), KEPT)
def test_what_the_rules_of_an_op_read(name, active, arguments, output):
    assert saved_here(OPS[name], active) == Kept(arguments, output)


def test_a_stand_in_has_a_shape_and_no_number():
    found = StandIn((3, 4))
    assert (np.shape(found), np.ndim(found), np.size(found)) == ((3, 4), 2, 12)
    for read in (
        *(lambda: found + 1.0, lambda: np.ones(4) * found, lambda: np.sin(found), lambda: np.sum(found)),
        *(lambda: np.asarray(found), lambda: np.ravel(found), lambda: np.array([found])),
    ):
        with pytest.raises(TypeError):
            read()


def test_nodes_say_what_they_are():
    run = gradcli.function("sum(x*x)").evaluate({"x": [1.0, 2.0]})
    assert repr(run.graph.nodes) == "[<Input 0 x (2,)>, <Operation 1 mul (2,)>, <Operation 2 sum ()>]"


@pytest.mark.parametrize(("spent", "over"), [(9.5, False), (10.5, True)])
def test_seconds_are_those_of_the_processor(monkeypatch, spent, over):
    """A machine that is busy with other things moves the clock on the wall alone."""
    walls, processor = iter([0.0, 1.0, 1000.0]), iter([5.0, 5.0, 5.0 - graph.SHORT + spent])
    monkeypatch.setattr(graph, "time", SimpleNamespace(monotonic=walls.__next__, thread_time=processor.__next__))
    counted = graph.Meter(Budget(seconds=10.0))
    counted.watch()
    if over:
        with pytest.raises(GradcliError, match="more than the budget 'seconds'"):
            counted.watch()
    else:
        counted.watch()
    assert [*walls, *processor] == []


def both_ways(program, v=None):
    """Return the gradients by the tape of ``grad`` and those by the graph that keeps every value."""
    function = gradcli.function(program)
    values = inputs_of(program, function.inputs)
    run = function.evaluate(values)
    seed = np.ones(run.value.shape) if v is None else v
    return function.grad(v=seed, **values), run.gradients(seed, function.inputs)


@pytest.mark.parametrize("program", portion(CALLS, 4))
def test_a_tape_that_keeps_only_what_is_read_gives_the_same_gradient(program, monkeypatch):
    monkeypatch.setattr(graph, "LARGE", 1)
    spared, full = both_ways(program)
    for name, gradient in full.items():
        assert np.array_equal(spared[name], gradient, equal_nan=True)


def test_a_value_that_a_rule_reads_unnoticed_would_show(monkeypatch):
    monkeypatch.setattr(graph, "LARGE", 1)
    monkeypatch.setattr(graph, "saved_here", lambda _op, active: Kept((False,) * len(active), output=False))
    with pytest.raises(TypeError):
        both_ways("y = x + 0; sum(y*y)")


@pytest.mark.parametrize("program", portion(CALLS, 4))
def test_gradients_belong_to_the_caller_alone(program):
    function = gradcli.function(program)
    values = {name: np.array(value) for name, value in inputs_of(program, function.inputs).items()}
    v = np.ones(function.value(**values).shape)
    first, second = function.grad(v=v, **values), function.grad(v=v, **values)
    arrays = [*first.values(), *second.values(), *values.values(), v]
    assert not any(np.shares_memory(a, b) for a, b in itertools.combinations(arrays, 2))
    for name, gradient in first.items():
        assert np.array_equal(gradient, second[name], equal_nan=True)
        gradient[...] = 7.0
    assert np.array_equal(v, np.ones(v.shape))


USES = [
    "x + x",
    "x*2 + x*3 + x*5 + x*7",
    "y = x + 0; y + y*x + y",
    "a = x*2; b = a; a*b + b + a",
    "[x, x, 2*x]",
    "x[0]*x + x[1]*x + x[0]",
    "sum(x)*x + x.reshape(3, 1)[:, 0]",
    "x.expand(2, 3) + x + x.expand(2, 3)*2",
]


@pytest.mark.parametrize("program", USES)
def test_what_is_added_in_place_is_no_part_of_another_cotangent(program):
    x = np.array([0.5, -1.25, 2.0])
    function = gradcli.function(program)
    v = np.arange(1.0, 1.0 + function.value(x=x).size).reshape(function.value(x=x).shape)
    dense = np.tensordot(v, function.jacobian(x=x)["x"], v.ndim)
    assert np.allclose(function.grad(v=v, x=x)["x"], dense, rtol=1e-14)
    assert np.array_equal(v.ravel(), np.arange(1.0, 1.0 + v.size))


def peak(function, **values):
    """Return the bytes that a gradient takes at its most."""
    function.grad(**values)
    tracemalloc.start()
    function.grad(**values)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


SMALL, LARGE = "for i in range(5):\n    y = {}\nsum(y)", "for i in range(200):\n    y = {}\nsum(y)"


@pytest.mark.parametrize("turn", ["y + 1", "y*2", "-y", "3 - y/2"])
def test_values_that_no_rule_reads_do_not_outlive_their_use(turn):
    x = np.ones(100_000)
    few, many = (gradcli.function("y = x\n" + text.format(turn)) for text in (SMALL, LARGE))
    assert peak(many, x=x) < 2 * peak(few, x=x)


def test_values_that_a_rule_reads_are_kept():
    x = np.ones(100_000)
    few, many = (gradcli.function("y = x\n" + text.format("sin(y)")) for text in (SMALL, LARGE))
    assert peak(many, x=x) > 10 * peak(few, x=x)


@pytest.mark.parametrize("word", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("program", ["sum(W @ x)", "W[0, 0]*x[0]", "sum(exp(-W)) + x[0]", "(W @ x)[1000]"])
def test_a_large_input_that_is_not_finite_is_the_first_thing_to_be_said(program, word):
    W = np.ones((300, 300))
    W[299, 5] = word
    with pytest.raises(gradcli.GradcliError, match="W must be finite"):
        gradcli.function(program).grad(W=W, x=np.ones(300))


@pytest.mark.parametrize(("program", "want"), [("exp(x > 0)*x", [1.0, np.e]), ("sqrt(sort(x)[1])*x", [0.0, 1.0])])
def test_what_is_no_float_has_no_derivative_and_is_a_number(program, want):
    """A mask or a position that stands in the record of an explanation is read as numbers by what is applied to it."""
    found = gradcli.explain(program, x=[-1.0, 2.0], v=[1.0, 1.0])
    np.testing.assert_allclose(found.grad["x"], want, rtol=1e-15)
    assert found.agreement.agree


class Watched(list):
    """A list that counts its items that are looked at."""

    seen = 0

    def __getitem__(self, place):
        item = list.__getitem__(self, place)
        self.seen += len(item) if isinstance(place, slice) else 1
        return item


def many_steps(count, of_step):
    """Return a graph of so many steps, w that all of them use, 2*w, and the output of the last."""
    run, sin, add = graph.Graph(), OPS["sin"], OPS["add"]
    run.nodes = Watched()
    w = run.input("w", np.float64(0.5), active=True)
    double = run(add, w, w)
    for place in range(count):
        y = of_step(w, double, lambda: run.input(f"x{place}", np.float64(place), active=True))  # noqa: B023
        for _ in range(30):
            y = run(sin, y)
    return run, w, y


STEPS = {
    "separate": lambda _w, _double, fresh: fresh(),
    "from one input": lambda w, _double, _fresh: w,
    "from one operation": lambda _w, double, _fresh: double,
}


@pytest.mark.parametrize("of_step", STEPS.values(), ids=STEPS)
def test_a_sweep_visits_what_its_output_depends_on_however_much_ran_before(of_step):
    visited = []
    for count in (10, 100, 1_000):
        run, _w, y = many_steps(count, of_step)
        cotangents(run, y, np.array(1.0))
        visited.append(run.nodes.seen)
    assert visited[0] == visited[1] == visited[2] <= 200


def test_a_sweep_over_what_is_far_apart_gives_the_gradient():
    """What is reached is at the end, past a gap, and next to it: each way of the walk, and the change between them."""
    for apart in (1, 63, 64, 65, 200):
        run = graph.Graph()
        w = run.input("w", np.float64(0.5), active=True)
        y = w
        for _ in range(5):
            early = run(OPS["mul"], y, w)
            for _ in range(apart):
                run(OPS["sin"], w)
            y = run(OPS["add"], run(OPS["mul"], early, y), w)
        end = len(run.nodes)
        plain = accumulate_all(run, y)
        assert cotangents(run, y, np.array(1.0))[w.index] == plain
        assert len(run.nodes) == end


def accumulate_all(run, output):
    """Return the gradient by the one input, by a walk over all nodes in turn."""
    totals = {output.index: 1.0}
    for node in reversed(run.nodes):
        if node.op is not None and node.index in totals:
            total, values = totals.pop(node.index), [a.value for a in node.arguments]
            for k, argument in enumerate(node.arguments):
                part = node.op.vjp(k)(total, node.value, *values)
                totals[argument.index] = totals.get(argument.index, 0.0) + part
    return totals[0]
