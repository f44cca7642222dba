"""``check``: three routes to one derivative, and what becomes of a rule that is wrong."""

from __future__ import annotations

import numpy as np
import pytest

import gradcli
from gradcli.checking.replay import HOLOMORPHIC
from gradcli.ops import FUNCTIONS, OPS
from gradcli.ops.entrywise import elementwise_local
from oracles import cases, numbers, tampered
from programs import PROGRAMS, inputs_of

NUMBERS = ("complex step", "central differences")
EVERY = [program for programs in PROGRAMS.values() for program in programs]


def unclear(found):
    return sum(c.unclear for c in found.comparisons if c.routes[0] == "symbols")


def confirmed(program, **inputs):
    """Return a check that must have found nothing wrong, and had something to say about every entry."""
    found = gradcli.check(program, inputs=inputs)
    assert found.agree, found
    assert found.finite, found
    assert unclear(found) == 0, found
    return found


@pytest.mark.parametrize("program", EVERY)
def test_every_function_is_confirmed_by_numbers_alone(program):
    found = confirmed(program, **inputs_of(program, gradcli.function(program).inputs))
    assert found.routes[:2] == ["symbols", "reverse mode"]
    assert found.routes[2] in NUMBERS


@pytest.mark.parametrize("case", cases("torch_cases.jsonl"), ids=lambda case: case["expr"][:60])
def test_random_expressions_are_confirmed(case):
    confirmed(case["expr"], x=numbers(case["x"]))


def test_the_complex_step_is_taken_by_ops_of_the_table_and_by_most_of_them():
    assert set(OPS) >= HOLOMORPHIC
    smooth = {name for name, op in OPS.items() if op.formula is not None and op.kink is None}
    assert len(smooth & HOLOMORPHIC) > len(smooth) / 2


@pytest.mark.parametrize("name", sorted(HOLOMORPHIC & set(FUNCTIONS)))
def test_an_op_that_takes_complex_numbers_is_confirmed_by_them_to_the_last_digits(name):
    program = PROGRAMS[name][0]
    found = confirmed(program, **inputs_of(program, gradcli.function(program).inputs))
    if found.routes[2] == "complex step":
        worst = [c.worst for c in found.comparisons if c.routes == ("symbols", "complex step")]
        assert all(w.tolerance <= 1e-11 * max(1.0, abs(w.values[0])) for w in worst), (
            "a loose tolerance confirms nothing"
        )
    else:
        assert {node.op.name for node in recorded(program) if node.op} - HOLOMORPHIC, "another op stands in the way"


def recorded(program):
    f = gradcli.function(program)
    return f.evaluate(inputs_of(program, f.inputs)).graph.nodes


SLIGHTLY = 1 + 1e-6


def scaled(rule):
    return lambda *values, **static: rule(*values, **static) * SLIGHTLY


def wrong_formula(op):
    right = op.formula
    return lambda s, *symbols, **static: s.as_expression(right(s, *symbols, **static)) * s.number(SLIGHTLY)


ELEMENTWISE = sorted(
    name for name, f in FUNCTIONS.items() if f.op is not None and f.op.formula is not None and f.op.name == name
)


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_a_mistake_that_both_exact_routes_share_is_found_by_numbers_alone(name):
    op, program = OPS[name], PROGRAMS[name][0]
    inputs = inputs_of(program, gradcli.function(program).inputs)
    formula = wrong_formula(op)
    with tampered(op, formula=formula, local=elementwise_local(formula, op.zero_at), vjps=tuple(map(scaled, op.vjps))):
        found = gradcli.check(program, inputs=inputs)
    assert not found.agree
    wrong = {c.routes for c in found.comparisons if c.wrong}
    assert {route for routes in wrong for route in routes} & set(NUMBERS)
    assert ("symbols", "reverse mode") not in wrong


@pytest.mark.parametrize("name", ["sin", "exp", "sigmoid", "matmul", "sum"])
def test_a_wrong_reverse_rule_is_found_by_the_formula(name):
    program = PROGRAMS[name][0]
    inputs = inputs_of(program, gradcli.function(program).inputs)
    with tampered(OPS[name], vjps=tuple(map(scaled, OPS[name].vjps))):
        found = gradcli.check(program, inputs=inputs)
    assert ("symbols", "reverse mode") in {c.routes for c in found.comparisons if c.wrong}


def test_a_value_that_the_graph_lost_is_found_by_running_the_program_again():
    with tampered(OPS["erf"], flat=True):
        found = gradcli.check("x*erf(x)", x=[0.4, 0.7])
    assert not found.agree
    assert found.comparisons[0].wrong == 0, "symbols and reverse mode read the same graph"


def test_what_was_detached_on_purpose_is_no_mistake():
    assert gradcli.check("x.detach()*abs(x)", x=[0.4, -0.7]).agree


def test_a_check_keeps_its_numbers_when_the_caller_writes_to_them():
    x = np.array([1.0, 2.0])
    found = gradcli.check("x**2", x=x)
    before = found.to_dict()
    x[:] = 7.0
    assert found.to_dict() == before


AT_KINKS = [("relu(x)", [1.0, 0.0, -1.0], 1), ("abs(x)", [0.0], 1), ("maximum(x, 1)", [1.0, 2.0], 1),
            ("floor(x)", [2.0, 2.5], 2), ("x**1.5", [0.0, 1.0], 1), ("norm(x)", [0.0, 0.0], 2),
            ("where(x > 1, x, 2*x)", [1.0, 3.0], 0), ("amax(x)", [1.0, 2.0, 2.0], 2)]  # fmt: skip


@pytest.mark.parametrize(("program", "x", "count"), AT_KINKS)
def test_at_a_kink_numbers_alone_say_nothing(program, x, count):
    found = gradcli.check(program, x=x)
    assert found.agree
    assert unclear(found) == count, found
    assert ("say nothing" in str(found)) == bool(count)


FAST = ["sin(1e9*x)", "exp(x)", "sin(exp(10*x))", "log(x*1e-8)", "(x + 1e8) - x", "1/x", "x**30", "tanh(20*x)",
        "sin(x*1e5)*abs(x)", "erf(3*x)", "sqrt(abs(x) + 1e-12)", "abs(x)*1e300", "abs(x)*1e-300",
        "cbrt(x)*1e5"]  # fmt: skip

NOT_FINITE_THERE = {("log(x*1e-8)", -3.0), ("exp(x)", 1e5), ("sin(exp(10*x))", 1e5)}


@pytest.mark.parametrize("program", FAST)
@pytest.mark.parametrize("x", [1.2, 1e-6, -3.0, 37.0, 1e5])
def test_steep_flat_and_fast_functions_raise_no_false_alarm(program, x):
    found = gradcli.check(program, x=x)
    assert found.agree
    assert found.finite == ((program, x) not in NOT_FINITE_THERE)


MANY = [("sin(x)", "sin", 150), ("sin(x)", "sin", 3000), ("abs(x - 9)*x", "mul", 150), ("abs(x - 9)*x", "mul", 3000),
        ("x[::-1]*x", "mul", 150), ("x[::-1]*x", "mul", 3000), ("sum(x*x)", "mul", 150), ("sum(x*x)", "mul", 3000),
        ("outer(x, x)[-3:]", "einsum", 150), ("outer(x, x)[-3:]", "einsum", 1000)]  # fmt: skip


@pytest.mark.parametrize(("program", "op", "n"), MANY)
def test_many_rows_and_columns_are_checked_in_sums(program, op, n):
    x = np.random.default_rng(0).uniform(0.5, 1.5, n)
    assert gradcli.check(program, x=x).agree
    rules = [OPS[op].vjp(k) for k in range(1 if op == "sin" else 2)]
    wrong = [lambda *a, rule=rule, **static: one_wrong(rule(*a, **static)) for rule in rules]
    with tampered(OPS[op], vjps=wrong.__getitem__ if callable(OPS[op].vjps) else tuple(wrong)):
        assert not gradcli.check(program, x=x).agree, "one entry that is wrong shows in every sum"


@pytest.mark.parametrize("n", [7, 8, 9])
def test_sums_of_rows_are_never_taken_for_rows(n, monkeypatch):
    monkeypatch.setattr("gradcli.checking.routes.MOST_WORK", 500)  # as for a program of many operations
    found = gradcli.check(f"sin(x)*arange(1, {n + 1})", x=0.5)
    assert found.agree, found
    assert [c.compared for c in found.comparisons if c.routes == ("symbols", "reverse mode")] == [8]
    assert [c for c in found.comparisons if c.routes == ("reverse mode", "complex step")] == []


@pytest.mark.parametrize("n", [64, 65, 150])
def test_sums_that_leave_double_precision_are_quiet(n):
    found = gradcli.check(f"x*ones({n})*1e308", x=1e-10, v=np.ones(n), expect="1e308")
    assert not found.agree, "the gradient is inf"


def one_wrong(g):
    g = np.array(g)
    if g.size:
        g.flat[-1] *= SLIGHTLY
    return g


@pytest.mark.parametrize("program", ["x*2", "sum(x)", "x[0:0]", "cat([x, x])", "x[None]*x", "5.0", "zeros(3)"])
def test_nothing_to_check_is_in_order(program):
    given = {"x": np.zeros(0)} if "x" in program else {}
    found = gradcli.check(program, inputs=given)
    assert found.agree
    assert str(found).startswith("ok: ")


NOT_FINITE = [("sqrt(x)", 0.0), ("sqrt(x)", [0.0, 4.0]), ("log(x)", 0.0), ("log(x)", -1.0), ("1/x", 0.0),
              ("cbrt(x)", 0.0)]  # fmt: skip


@pytest.mark.parametrize(("program", "x"), NOT_FINITE)
def test_where_nothing_is_finite_the_check_says_so(program, x):
    found = gradcli.check(program, x=x)
    assert found.agree
    assert not found.finite
    assert str(found).startswith("not finite: ")


@pytest.mark.parametrize(
    ("program", "x", "why"),
    [("where(x > 0, sqrt(x), x)", [-4.0, 1.0], "multiplies 0 by inf"), ("det(x)", [[1.0, 2], [2, 4]], "PyTorch")],
)
def test_where_pytorch_leaves_the_mathematics_the_check_says_why(program, x, why):
    found = gradcli.check(program, x=x)
    assert not found.agree
    assert any(why in note.message for note in found.notes)
