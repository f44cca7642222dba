"""A function's own backward, held by ``check`` against the derivative of its forward, and followed by ``explain``."""

import pytest

import gradcli
from gradcli.runner.script import run_script
from oracles import cases, named

TABLES = cases("functions.toml")

HEAD = """import math
import numpy as np
import torch
import torch.nn.functional as F
from torch.autograd import Function
from torch.autograd.function import once_differentiable
x = torch.tensor([[0.5, -1.2, 0.8], [1.5, 0.3, -0.7]], dtype=torch.float64, requires_grad=True)
w = torch.tensor([0.4, -0.9, 1.1], dtype=torch.float64, requires_grad=True)
b = torch.tensor(0.25, dtype=torch.float64, requires_grad=True)
"""


def function(forward, backward, more="", name="Own"):
    """Return a class of a forward and a backward, as their lines, with their parameters before a colon."""

    def method(kind, text):
        parameters, _, lines = text.partition(":")
        body = "".join(f"        {line.strip(' ')}\n" for line in lines.strip().split(";"))
        return f"    @staticmethod\n    def {kind}({parameters.strip()}):\n{body}"

    return f"class {name}(Function):\n{method('forward', forward)}{more}{method('backward', backward)}"


SAVE = "ctx, x: ctx.save_for_backward(x); "
TAKE = "ctx, g: x, = ctx.saved_tensors; "
RIGHT = TABLES["RIGHT"]
WRONG = TABLES["WRONG"]


def script(function, loss, **_):
    return f"{HEAD}{function}loss = {loss}\n" + ("" if "backward(" in loss else "loss.backward()\n")


@pytest.mark.parametrize(("text", "loss"), named(RIGHT))
def test_a_right_backward(text, loss):
    found = gradcli.check(script(text, loss))
    assert found.verdict == "right", str(found)
    assert {one.verdict for one in found.functions.values()} == {"right"}
    assert min(one.digits for one in found.expected) > 13


@pytest.mark.parametrize(("text", "loss", "wrong"), named(WRONG))
def test_a_wrong_backward(text, loss, wrong):
    found = gradcli.check(script(text, loss))
    assert found.verdict == "wrong", str(found)
    assert {name: (one.verdict, one.inputs) for name, one in found.functions.items() if one.verdict != "right"} == {
        "Own": ("wrong", (wrong,))
    }
    assert f"the backward of Own is not the derivative of its forward (input {wrong})" in str(found)
    assert gradcli.explain(script(text, loss)).verdict == "agree"


JAX = """import jax, jax.numpy as jnp
@jax.custom_vjp
def f(x, y):
    return jnp.sin(x)*y
def forward(x, y):
    return f(x, y), (jnp.cos(x), jnp.sin(x), y)
def backward(kept, g):
    c, s, y = kept
    return {}
f.defvjp(forward, backward)
g = jax.grad(lambda x, y: f(x, y).sum()**2, argnums=(0, 1))(jnp.array([1., 2.]), jnp.array([3., 4.]))
"""
JVP = """import jax, jax.numpy as jnp
@jax.custom_jvp
def f(x):
    return jnp.log1p(jnp.exp(x))
@f.defjvp
def push(primals, tangents):
    x, = primals
    t, = tangents
    return f(x), {}
g = jax.grad(lambda x: f(x).sum()**2)(jnp.array([1., 2.]))
"""
HIPS = """import autograd.numpy as np
from autograd import grad
from autograd.extend import primitive, defvjp
@primitive
def f(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))
defvjp(f, lambda ans, x: lambda g: {})
g = grad(lambda x: f(x)**2)(np.array([1., 2., 3.]))
"""
LIBRARIES = [
    (JAX, "c*g*y, s*g", ()), (JAX, "c*g*y, s*g*y", ("y",)), (JAX, "c*g, s*g", ("x",)), (JAX, "g*y, g", ("x", "y")),
    (JVP, "t*(1 - 1/(1 + jnp.exp(x)))", ()), (JVP, "t/(1 + jnp.exp(x))", ("x",)),
    (HIPS, "g*np.exp(x - ans)", ()), (HIPS, "g*np.exp(x)", ("x",)),
]  # fmt: skip


@pytest.mark.parametrize(("text", "rule", "wrong"), LIBRARIES)
def test_a_rule_of_other_libraries(text, rule, wrong):
    found = gradcli.check(text.replace("{}", rule))
    assert found.verdict == ("wrong" if wrong else "right"), str(found)
    assert found.functions["f"].inputs == wrong
    assert gradcli.explain(text.replace("{}", rule)).verdict == "agree"


RELU = "(Own.apply(torch.tensor([1., 0., -0.5], dtype=torch.float64, requires_grad=True))*w).sum()"
KINKS = TABLES["KINKS"]


@pytest.mark.parametrize(("text", "loss", "verdict"), named(KINKS))
def test_at_a_kink_every_slope_between_is_right(text, loss, verdict):
    found = gradcli.check(script(text, loss))
    assert (found.verdict, found.functions["Own"].verdict) == (verdict, verdict), str(found)


def test_a_kink_in_one_of_several_calls():
    text = script(function(SAVE + "return x.relu()", TAKE + "return g*(x >= 0)"), f"Own.apply(x).sum() + {RELU}")
    assert gradcli.check(text).verdict == "right"


UNCLEAR = [
    ("a text", "ctx, x: return x*float(f'{x[0, 0].item():.3f}')", "ctx, g: return g", "a number that is read"),
    ("a draw by a value", "ctx, x: import random; return x*random.gauss(x[0, 0].item(), 1)", "ctx, g: return g",
     "random.gauss"),
]  # fmt: skip


@pytest.mark.parametrize(("forward", "backward", "why"), [row[1:] for row in UNCLEAR], ids=[r[0] for r in UNCLEAR])
def test_a_forward_that_leaves_the_record_is_unclear(forward, backward, why):
    found = gradcli.check(script(function(forward, backward), "(Own.apply(x)*w).sum()"))
    assert found.verdict == "unclear" == found.functions["Own"].verdict
    assert why in found.reason


def test_functions_of_earlier_turns_and_of_both_derivatives():
    square = function(SAVE + "return x**2", TAKE + "return {}*g*x")
    loop = "opt = torch.optim.SGD([x, w], lr=0.1)\nfor i in range(4):\n    opt.zero_grad()\n    loss = (Own.apply(x)*w)"
    loop += ".sum()\n    loss.backward()\n    opt.step()\n"
    twice = "g, = torch.autograd.grad((Own.apply(x)*w).sum(), x, create_graph=True)\n(g**2).sum().backward()\n"
    for rest in (loop, twice):
        assert gradcli.check(HEAD + square.replace("{}", "2") + rest).verdict == "right"
        found = gradcli.check(HEAD + square.replace("{}", "3") + rest)
        assert (found.verdict, found.functions["Own"].inputs) == ("wrong", ("x",))


def test_a_backward_that_is_right_for_the_cotangents_of_its_run_alone():
    wrong = gradcli.check(script(**WRONG["no cotangent, and that is 1"]))
    assert str(wrong).endswith("(input x), though it is for the gradient that arrives in this call")
    right = gradcli.check(script(**RIGHT["a loss without its cotangent"]))
    assert [note.kind for note in right.notes] == ["custom-backward"]


HOOKS = [
    ("x.register_hook(lambda g: g.clamp(max=0.1))\n", {"hook"}),
    ("h = x*w\nh.register_hook(lambda g: 2*g)\nx = h\n", {"hook"}),
    ("x.register_hook(lambda g: print(g.shape))\n", set()),
]


@pytest.mark.parametrize(("hook", "kinds"), HOOKS)
def test_a_hook_that_changes_gradients_is_told_and_not_held(hook, kinds):
    text = f"{HEAD}{hook}loss = (x**2).sum()\nloss.backward()\n"
    found = gradcli.check(text)
    assert (found.verdict, found.expected) == ("right", [])
    assert {note.kind for note in found.notes} & {"hook"} == kinds
    answer = gradcli.explain(text)
    assert answer.verdict == "agree"
    assert {note.kind for note in answer.notes} & {"hook"} == kinds


def test_explain_and_grad_say_that_they_follow_a_backward():
    text = script(**WRONG["a sign"])
    [message] = [note.message for note in gradcli.explain(text).notes if note.kind == "custom-backward"]
    assert "The backward of Own is used as the script wrote it" in message
    assert "gradcli check compares it" in message


def test_gradcheck_tells_where_the_derivative_decides_otherwise():
    square = function("ctx, x, k: ctx.save_for_backward(x); ctx.k = k; return x*x", TAKE + "return ctx.k*g*x, None")
    lines = {
        "gradcheck(lambda x: Own.apply(x, 2), (x,))": "",
        "gradcheck(lambda x: Own.apply(x, 2.0002), (x,))": "passes by its tolerances",
        "gradcheck(lambda x: Own.apply(x, 2), (x.detach().float().requires_grad_(),), raise_exception=False)": "digits",
        "gradcheck(torch.relu, (torch.zeros(2, dtype=x.dtype, requires_grad=True),), raise_exception=False)": "a kink",
        "gradcheck(lambda x: Own.apply(x, 3), (x,), raise_exception=False)": "",
    }
    for line, said in lines.items():
        ended = run_script(f"{HEAD}from torch.autograd import gradcheck\n{square}print({line})\n")
        notes = [message for kind, message in ended.run.notes if kind == "gradcheck"]
        assert [said in message for message in notes] == ([True] if said else []), line


def test_a_gradcheck_is_run_once_and_costs_no_digits():
    text = function(SAVE + "return x.exp()", TAKE + "return g*x.exp()")
    text += "assert torch.autograd.gradcheck(Own.apply, torch.rand(8, 8, dtype=x.dtype, requires_grad=True))\n"
    found = gradcli.check(script(text + "d = torch.rand(3, dtype=x.dtype)\n", "(Own.apply(x)*w*d).sum()"))
    assert (found.verdict, found.functions["Own"].verdict) == ("right", "right"), str(found)


def test_what_is_expected_at_several_points_beside_a_function():
    text = script(function(SAVE + "return x**2", TAKE + "return 2*g*x"), "(Own.apply(x)*w).sum()")
    found = gradcli.check(text, expect={"x": "2*x*w", "w": "[sum(x[:, k]**2) for k in range(3)]"}, samples=2)
    assert found.verdict == "right", str(found)
    assert ([one.compared for one in found.expected], found.functions["Own"].verdict) == ([18, 9], "right")
