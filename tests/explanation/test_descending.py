"""Gradient descent: each step against the formula, where it ends, and when it diverges."""

import numpy as np
import pytest

import gradcli


def test_each_step_is_what_it_says():
    found = gradcli.explain("x**2", x=3.0).descend(0.1, 4)
    x = 3.0
    for step in found.steps:
        after = x - 0.1 * 2 * x
        assert float(step.inputs["x"]) == pytest.approx(x, rel=1e-14)
        assert (step.value, step.predicted) == pytest.approx((x * x, -0.1 * (2 * x) ** 2), rel=1e-14)
        assert step.actual == pytest.approx(after * after - x * x, rel=1e-12)
        x = after
    assert (float(found.inputs["x"]), found.value) == pytest.approx((x, x * x), rel=1e-14)
    assert (len(found.steps), found.ending, found.remarks) == (4, "", [])


def test_v_weighs_the_outputs_and_constants_stay():
    found = gradcli.explain("[x*w, x**2]", x=2.0, w=3.0, v=[1, 10], wrt=["x"]).descend(0.01, 1)
    [step] = found.steps
    assert (step.value, float(step.grad["x"]), list(step.inputs)) == (46.0, 43.0, ["x"])
    assert float(found.inputs["x"]) == pytest.approx(2 - 0.43)


def test_a_network_learns():
    found = gradcli.explain(
        "sum((W @ x - t)**2)", W=[[1.0, 0.0], [0.0, 1.0]], x=[1.0, 2.0], t=[0.0, 1.0], wrt=["W"]
    ).descend(0.05, 50)
    assert found.value < 1e-12 * found.steps[0].value


TRIED = [("x**2", 1.0, 1.5, 0.15), ("x**4", 10.0, 1.0, 0.001), ("sqrt(x)", 0.01, 0.1, 1e-4)]


@pytest.mark.parametrize(("program", "x", "lr", "smaller"), TRIED)
def test_the_smaller_step_that_is_offered_comes_down(program, x, lr, smaller):
    (remark,) = gradcli.explain(program, x=x).descend(lr, 6).remarks
    assert remark.message.endswith(f"Try --lr {smaller:g}.")
    steps = gradcli.explain(program, x=x).descend(smaller, 6)
    assert steps.value < steps.steps[0].value
    tenfold = gradcli.explain(program, x=x).descend(10 * smaller, 6)
    assert not tenfold.value < tenfold.steps[0].value
    assert ("where it is nan" in remark.message) == (program == "sqrt(x)")


@pytest.mark.parametrize(("program", "x", "lr", "diverges"), [
    ("x**2", 3.0, 1.1, True), ("x**2", 3.0, 0.9, False), ("x**4", 2.0, 1.0, True), ("-x**2", 1.0, 0.1, False),
    ("exp(x)", 5.0, 10.0, False),
])  # fmt: skip
def test_divergence_is_told(program, x, lr, diverges):
    found = gradcli.explain(program, x=x).descend(lr, 8)
    assert ([remark.kind for remark in found.remarks] == ["diverges"]) == diverges


@pytest.mark.parametrize(("program", "x", "lr", "count", "ending"), [
    ("x**2", 0.0, 0.1, 5, "the gradient is 0"), ("log(x)", 1.0, 2.0, 5, "not finite"),
    ("x**4", 10.0, 1.0, 20, "finite"), ("sqrt(x)", 0.0, 1.0, 5, "the gradient is not finite"),
    ("y = x\nwhile norm(y) > 3:\n    y = y[1:]\ny.sum()", [3.0, 1.0], 1.0, 5, ""),
])  # fmt: skip
def test_where_it_ends(program, x, lr, count, ending):
    found = gradcli.explain(program, x=x).descend(lr, count)
    assert ending in found.ending
    assert (len(found.steps) < count) == bool(found.ending)


@pytest.mark.parametrize(("count", "x", "kind"), [(100_001, 1.0, "budget"), (50_000, np.ones(20), "budget")])
def test_too_many_steps_are_refused(count, x, kind):
    with pytest.raises(gradcli.GradcliError) as raised:
        gradcli.explain("sum(x**2)", x=x).descend(0.1, count)
    assert raised.value.kind == kind


def test_what_all_steps_cost_is_bounded_and_counted():
    """A run has three nodes of thirty: ten times what is allowed are a hundred runs."""
    found = gradcli.explain("sum(x**2)", x=np.ones(3), budget=gradcli.Budget(nodes=30)).descend(1e-3, 500)
    assert found.ending == "more would cost too much"
    assert len(found.steps) == 100
