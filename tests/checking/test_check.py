"""``check``: two routes held against arithmetic with digits to spare, and what becomes of a rule that is wrong."""

import numpy as np
import pytest

import gradcli
from gradcli.ops.vocabulary import elementwise_local
from mutation.spoiling import ruled
from oracles import cases, numbers, portion, tampered
from programs import PROGRAMS, inputs_of
from records import FUNCTIONS, OPS

TABLES = cases("check.json")

EVERY = [program for programs in PROGRAMS.values() for program in programs]
SURE = 10.0
"""Right digits of every entry of a program at a point where nothing is lost."""


def unclear(found):
    return sum(c.unclear for c in found.comparisons if c.routes[0] == "symbols")


def confirmed(program, **inputs):
    """Return a check that must have found nothing wrong, and had something to say about every entry."""
    found = gradcli.check(program, inputs=inputs)
    assert found.verdict == "right", found
    assert found.routes == ["symbols", "reverse mode"]
    assert unclear(found) == 0, found
    assert all(count >= SURE for count in found.digits.values()), found
    return found


@pytest.mark.parametrize("program", portion(EVERY, 40))
def test_every_function_is_confirmed_in_many_digits(program):
    confirmed(program, **inputs_of(program, gradcli.function(program).inputs))


@pytest.mark.parametrize("case", portion(cases("torch_cases.jsonl"), 10), ids=lambda case: case["expr"][:60])
def test_random_expressions_are_confirmed(case):
    confirmed(case["expr"], x=numbers(case["x"]))


SLIGHTLY = 1 + 3e-6


ELEMENTWISE = sorted(
    name for name, f in FUNCTIONS.items() if f.op is not None and f.op.formula is not None and f.op.name == name
)


@pytest.mark.long
@pytest.mark.parametrize("name", portion(ELEMENTWISE, 16))
def test_a_mistake_that_both_routes_share_is_found_in_many_digits(name):
    op, program = OPS[name], PROGRAMS[name][0]
    inputs = inputs_of(program, gradcli.function(program).inputs)
    formula, vjps = ruled(op.formula, SLIGHTLY), tuple(ruled(rule, SLIGHTLY) for rule in op.vjps)
    with tampered(op, formula=formula, local_jacobian=elementwise_local(formula, op.zero_at), vjps=vjps):
        found = gradcli.check(program, inputs=inputs)
    assert not found.agree
    wrong = {c.routes for c in found.comparisons if c.wrong}
    assert ("symbols", "many digits") in wrong
    assert ("symbols", "reverse mode") not in wrong


@pytest.mark.parametrize("name", ["sin", "exp", "sigmoid", "matmul", "sum"])
def test_a_wrong_reverse_rule_is_found_by_the_formula(name):
    program = PROGRAMS[name][0]
    inputs = inputs_of(program, gradcli.function(program).inputs)
    with tampered(OPS[name], vjps=tuple(ruled(rule, SLIGHTLY) for rule in OPS[name].vjps)):
        found = gradcli.check(program, inputs=inputs)
    assert ("symbols", "reverse mode") in {c.routes for c in found.comparisons if c.wrong}


def test_a_value_that_the_graph_lost_is_found_by_running_the_program_again():
    with tampered(OPS["erf"], flat=True):
        found = gradcli.check("x*erf(x)", x=[0.4, 0.7])
    assert not found.agree
    assert not any(c.wrong for c in found.comparisons if c.routes == ("symbols", "reverse mode")), "they share a graph"


def test_what_was_detached_on_purpose_is_no_mistake():
    assert gradcli.check("x.detach()*abs(x)", x=[0.4, -0.7]).agree


def test_a_check_keeps_its_numbers_when_the_caller_writes_to_them():
    x = np.array([1.0, 2.0])
    found = gradcli.check("x**2", x=x)
    before = found.to_dict()
    x[:] = 7.0
    assert found.to_dict() == before


AT_KINKS = TABLES["AT_KINKS"]


@pytest.mark.parametrize(("program", "x", "kind", "says"), AT_KINKS)
def test_a_kink_is_told_with_both_slopes_and_what_each_route_takes(program, x, kind, says):
    found = gradcli.check(program, x=x)
    assert found.verdict == "right", found
    assert [note.kind for note in found.notes] == [kind]
    assert says in found.notes[0].message


SMOOTH = TABLES["SMOOTH"]


@pytest.mark.parametrize(("program", "x"), SMOOTH)
def test_where_slopes_are_equal_there_is_no_kink(program, x):
    found = gradcli.check(program, x=x)
    assert found.verdict == "right", found
    assert found.notes == []


def test_what_has_no_limit_is_unclear():
    found = gradcli.check("x**x", x=0.0)
    assert (found.verdict, found.agree) == ("unclear", False)
    assert "infinitely steep" in found.reason
    assert str(found).startswith("unclear: 1 entry of J cannot be decided")


FAST = ["sin(1e9*x)", "exp(x)", "sin(exp(10*x))", "log(x*1e-8)", "(x + 1e8) - x", "1/x", "x**30", "tanh(20*x)",
        "sin(x*1e5)*abs(x)", "erf(3*x)", "sqrt(abs(x) + 1e-12)", "abs(x)*1e300", "abs(x)*1e-300",
        "cbrt(x)*1e5"]  # fmt: skip

NOT_FINITE_THERE = {("log(x*1e-8)", -3.0), ("exp(x)", 1e5), ("sin(exp(10*x))", 1e5)}


@pytest.mark.parametrize("program", FAST)
@pytest.mark.parametrize("x", [1.2, 1e-6, -3.0, 37.0, 1e5])
def test_steep_flat_and_fast_functions_raise_no_false_alarm(program, x):
    found = gradcli.check(program, x=x)
    assert found.finite == ((program, x) not in NOT_FINITE_THERE)
    assert (found.verdict in ("right", "not-finite")) == ((program, x) not in LOST), found


LOST = {("sin(exp(10*x))", 37.0)}


MANY = [("sin(x)", "sin", 150), ("sin(x)", "sin", 3000), ("abs(x - 9)*x", "mul", 150), ("abs(x - 9)*x", "mul", 3000),
        ("x[::-1]*x", "mul", 150), ("x[::-1]*x", "mul", 3000), ("sum(x*x)", "mul", 150), ("sum(x*x)", "mul", 3000),
        ("outer(x, x)[-3:]", "einsum", 150), ("outer(x, x)[-3:]", "einsum", 300)]  # fmt: skip


@pytest.mark.parametrize(
    ("program", "op", "n"),
    [MANY[0], MANY[2], *(pytest.param(*row, marks=pytest.mark.slow) for row in (MANY[1], *MANY[3:]))],
)
def test_many_rows_and_columns_are_checked_in_sums(program, op, n):
    x = np.random.default_rng(0).uniform(0.5, 1.5, n)
    assert gradcli.check(program, x=x).agree
    rules = [OPS[op].vjp(k) for k in range(1 if op == "sin" else 2)]
    wrong = [lambda *a, rule=rule, **static: one_wrong(rule(*a, **static)) for rule in rules]
    with tampered(OPS[op], vjps=wrong.__getitem__ if callable(OPS[op].vjps) else tuple(wrong)):
        assert not gradcli.check(program, x=x).agree, "one entry that is wrong shows in every sum"


@pytest.mark.parametrize("n", [64, 65, 150])
def test_sums_that_leave_double_precision_are_quiet(n):
    found = gradcli.check(f"x*ones({n})*1e308", x=1e-10, v=np.ones(n), expect="1e308")
    assert not found.agree, "the gradient is 64 times as large, and more than a double"


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
    assert str(found).startswith("right: ")


NOT_FINITE = TABLES["NOT_FINITE"]


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


@pytest.mark.parametrize("program", ["(2*x)**1000", "(2*x)**2000", "(2*x)**100", "(x/3)**40", "x**(2**60)"])
def test_a_formula_has_no_number_with_hundreds_of_digits(program):
    """sympy makes 2**1000*x**1000 of the first, with more digits than a program may have."""
    assert gradcli.check(program, x=0.3).verdict == "right"


@pytest.mark.parametrize("program", ["(x + 1e16) - 1e16", "[(x + 1e16) - 1e16, x**2]", "x + 1e20 - 1e20"])
@pytest.mark.parametrize("x", [1.0, 0.3])
def test_a_formula_of_an_output_that_lost_its_digits_is_no_misprint(program, x):
    found = gradcli.check(program, x=x)
    assert found.agree, found
    assert found.misprints == []


@pytest.mark.parametrize(
    ("program", "inputs"), TABLES["formulas_of_conditions_and_of_nothing_but_rounding_are_read_back"]
)
def test_formulas_of_conditions_and_of_nothing_but_rounding_are_read_back(program, inputs):
    found = gradcli.check(program, inputs=inputs, wrt=next(reversed(inputs)))
    assert found.formulas > 2
    assert found.misprints == []


def test_formulas_that_cost_too_much_are_told():
    found = gradcli.check("x**2 + [1., 2., 3.]", x=[1.0, 2.0, 3.0], budget=gradcli.Budget(work=200))
    assert found.formulas == 3
    assert ("unread", "3 formulas were not evaluated again: it takes more than the budget 'work' of 200.") in [
        (note.kind, note.message) for note in found.notes
    ]
