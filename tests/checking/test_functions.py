"""A function's own backward, held by ``check`` against the derivative of its forward, and followed by ``explain``."""

import pytest

import gradcli
from gradcli.runner.script import run_script

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
LINEAR = "ctx, x, w, b: ctx.save_for_backward(x, w); return x @ w + b"
LINEAR_BACK = "ctx, g: x, w = ctx.saved_tensors; "
SETUP = """    @staticmethod
    def setup_context(ctx, inputs, output):
        x, k = inputs
        ctx.save_for_backward(x)
        ctx.k = k
"""
RIGHT = [
    ("a power", function(SAVE + "return x**3", TAKE + "return 3*g*x**2"), "(Own.apply(x) @ w).pow(2).mean()"),
    ("several inputs", function(LINEAR, LINEAR_BACK + "return torch.outer(g, w), g @ x, g.sum()"),
     "Own.apply(x, w, b).tanh().sum()"),
    ("several outputs", function(SAVE + "return x.sin(), x.cos()",
     "ctx, gs, gc: x, = ctx.saved_tensors; return gs*x.cos() - gc*x.sin()"),
     "(lambda s, c: (s*c*w).sum() + c.sum())(*Own.apply(x))"),
    ("one of several outputs", function(SAVE + "return x.sin(), x.cos()",
     "ctx, gs, gc: x, = ctx.saved_tensors; return gs*x.cos() - gc*x.sin()"), "(Own.apply(x)[1]*w).sum()"),
    ("an argument that is no tensor", function("ctx, x, k: ctx.save_for_backward(x); ctx.k = k; return x**k",
     TAKE + "return g*ctx.k*x**(ctx.k - 1), None"), "(Own.apply(x, 3)*w).sum()"),
    ("needs_input_grad", function(LINEAR, LINEAR_BACK + "dx = torch.outer(g, w) if ctx.needs_input_grad[0] else None; "
     "dw = g @ x if ctx.needs_input_grad[1] else None; return dx, dw, None"), "Own.apply(x, w, 1.5).exp().sum()"),
    ("mark_non_differentiable", function("ctx, x: v, i = x.max(1); ctx.save_for_backward(i); "
     "ctx.mark_non_differentiable(i); ctx.shape = x.shape; return v, i", "ctx, g, gi: i, = ctx.saved_tensors; "
     "z = g.new_zeros(ctx.shape); return z.scatter(1, i[:, None], g[:, None])"), "(Own.apply(x)[0]**2).sum()"),
    ("setup_context", function("x, k: return x**k", TAKE + "return g*ctx.k*x**(ctx.k - 1), None", SETUP),
     "(Own.apply(x, 2)*w).sum()"),
    ("once_differentiable", function(SAVE + "return x.exp()", TAKE + "return g*x.exp()").replace(
     "    @staticmethod\n    def backward", "    @staticmethod\n    @once_differentiable\n    def backward"),
     "(Own.apply(x)*w).sum()"),
    ("a saved output", function("ctx, x: y = torch.sigmoid(x); ctx.save_for_backward(y); return y",
     "ctx, g: y, = ctx.saved_tensors; return g*y*(1 - y)"), "(Own.apply(x)*w).sum()"),
    ("a gradient that is None", function("ctx, x, t: ctx.save_for_backward(x, t); return ((x - t)**2).mean()",
     "ctx, g: x, t = ctx.saved_tensors; return 2*g*(x - t)/x.numel(), None"), "Own.apply(x, torch.ones(2, 3))*b"),
    ("functions that call functions", function(SAVE + "return x*x", TAKE + "return 2*g*x", name="Square")
     + function("ctx, x: y = Square.apply(x); ctx.save_for_backward(x); return Square.apply(y)",
                TAKE + "return 4*g*x**3"), "(Square.apply(Own.apply(x))*w).sum()"),
    ("a view of its input", function("ctx, x: ctx.shape = x.shape; return x.reshape(-1)",
     "ctx, g: return g.reshape(ctx.shape)"), "(Own.apply(x)**2).sum()"),
    ("its input itself", function("ctx, x: return x", "ctx, g: return g"), "(Own.apply(x)*w).sum()"),
    ("its input as a view", function("ctx, x: return x.view_as(x)", "ctx, g: return g.clone()"),
     "(Own.apply(x*w)**2).sum()"),
    ("one tensor twice", function("ctx, a, c: ctx.save_for_backward(a, c); return a*c",
     "ctx, g: a, c = ctx.saved_tensors; return g*c, g*a"), "(Own.apply(x, x)*w).sum()"),
    ("NumPy inside", function("ctx, x: a = x.detach().numpy(); ctx.save_for_backward(x); "
     "return torch.from_numpy(np.sin(a)*a)", "ctx, g: x, = ctx.saved_tensors; a = x.detach().numpy(); "
     "return g*torch.from_numpy(np.cos(a)*a + np.sin(a))"), "(Own.apply(x)*w).sum()"),
    ("a detached input", function("ctx, x: d = x.detach(); ctx.save_for_backward(d); return d.exp()*d",
     TAKE + "return g*x.exp()*(1 + x)"), "(Own.apply(x)*w).sum()"),
    ("numbers of Python's inside", function("ctx, x: ctx.k = x.item(); "
     "return torch.tensor(math.sin(ctx.k), dtype=x.dtype)", "ctx, g: return g*math.cos(ctx.k)"),
     "(Own.apply(b)*w).sum()"),
    ("written in place", function("ctx, x: y = x.clone(); y[y < 0] = 0; ctx.save_for_backward(y); return y",
     "ctx, g: y, = ctx.saved_tensors; d = g.clone(); d[y <= 0] = 0; return d"), "(Own.apply(x)*w).sum()"),
    ("mark_dirty", function("ctx, x: x.mul_(2); ctx.mark_dirty(x); return x", "ctx, g: return 2*g"),
     "(Own.apply(x*w)**2).sum()"),
    ("a buffer that is filled", function("ctx, x: y = torch.empty_like(x); y[0] = x[0]*2; y[1] = x[1]**2; "
     "ctx.save_for_backward(x); return y", TAKE + "d = torch.zeros_like(g); d[0] = 2*g[0]; d[1] = 2*g[1]*x[1]; "
     "return d"), "(Own.apply(x)*w).sum()"),
    ("its derivative by autograd inside", function("ctx, x: ctx.save_for_backward(x); return (x**2).sin()",
     TAKE + "torch.set_grad_enabled(True); a = x.detach().requires_grad_(); y = (a**2).sin(); "
     "d, = torch.autograd.grad(y, a, g); return d"), "(Own.apply(x)*w).sum()"),
    ("softmax", function("ctx, x: y = F.softmax(x, 1); ctx.save_for_backward(y); return y",
     "ctx, g: y, = ctx.saved_tensors; return y*(g - (g*y).sum(1, keepdim=True))"), "(Own.apply(x)*w).sum()"),
    ("a layer norm", function("ctx, x: m = x.mean(1, keepdim=True); s = (x.var(1, unbiased=False, keepdim=True) + "
     "1e-5).rsqrt(); h = (x - m)*s; ctx.save_for_backward(h, s); return h", "ctx, g: h, s = ctx.saved_tensors; "
     "return s*(g - g.mean(1, keepdim=True) - h*(g*h).mean(1, keepdim=True))"), "(Own.apply(x)*w).sum()"),
    ("a loop of calls", function(SAVE + "return x.tanh()", TAKE + "return g*(1 - x.tanh()**2)"),
     "(Own.apply(Own.apply(Own.apply(x)*w)*w)*w).sum()"),
    ("several calls of backward", function(SAVE + "return x**3", TAKE + "return 3*g*x**2"),
     "(Own.apply(x)*w).sum()\nloss.backward(retain_graph=True); loss.backward(retain_graph=True)"),
    ("a loss without its cotangent", function("ctx, x: ctx.save_for_backward(x); return (x**2).sum()",
     TAKE + "return 2*x"), "Own.apply(x)"),
]  # fmt: skip
WRONG = [
    ("a sign", function(SAVE + "return x.cos()", TAKE + "return g*x.sin()"), "(Own.apply(x)*w).sum()", "x"),
    ("a factor", function(SAVE + "return x**2", TAKE + "return g*x"), "(Own.apply(x)*w).sum()", "x"),
    ("no cotangent", function(SAVE + "return x**2", TAKE + "return 2*x"), "(Own.apply(x)*w).sum()", "x"),
    ("no cotangent, and that is 1", function(SAVE + "return x**2", TAKE + "return 2*x"), "Own.apply(x).sum()", "x"),
    ("off by one", function(SAVE + "return x**3", TAKE + "return 3*g*x**3"), "(Own.apply(x)*w).sum()", "x"),
    ("the result for its argument", function("ctx, x: y = x.exp(); ctx.save_for_backward(y); return y",
     TAKE + "return g*x.exp()"), "(Own.apply(x)*w).sum()", "x"),
    ("a missing sum", function(LINEAR, LINEAR_BACK + "return torch.outer(g, w), g @ x, g[0]"),
     "Own.apply(x, w, b).tanh().sum()", "b"),
    ("the second of several inputs", function(LINEAR, LINEAR_BACK + "return torch.outer(g, w), x.sum(0), g.sum()"),
     "Own.apply(x, w, b).tanh().sum()", "w"),
    ("None for an input", function(LINEAR, LINEAR_BACK + "return torch.outer(g, w), None, g.sum()"),
     "Own.apply(x, w, b).tanh().sum()", "w"),
    ("an output forgotten", function(SAVE + "return x.sin(), x.cos()",
     "ctx, gs, gc: x, = ctx.saved_tensors; return gs*x.cos()"),
     "(lambda s, c: (s*c*w).sum() + c.sum())(*Own.apply(x))", "x"),
    ("a wrong axis", function("ctx, x: y = F.softmax(x, 1); ctx.save_for_backward(y); return y",
     "ctx, g: y, = ctx.saved_tensors; return y*(g - (g*y).sum(0, keepdim=True))"), "(Own.apply(x)*w).sum()", "x"),
    ("a term that is detached", function("ctx, x: m = x.mean(1, keepdim=True); ctx.save_for_backward(x); return x - m",
     "ctx, g: return g"), "(Own.apply(x)**2*w).sum()", "x"),
    ("a straight-through rounding", function("ctx, x: return x.round()", "ctx, g: return g"),
     "((Own.apply(x) - w)**2).sum()", "x"),
    ("a straight-through sign, alone", function("ctx, x: return x.sign()", "ctx, g: return g"), "Own.apply(x).sum()",
     "x"),
    ("a reversed gradient", function("ctx, x: return x.view_as(x)", "ctx, g: return -0.5*g"),
     "(Own.apply(x)*w).sum()", "x"),
    ("a clamped cotangent", function("ctx, x: return x.clone()", "ctx, g: return g.clamp(-1, 1)"),
     "(3*Own.apply(x)).sum()", "x"),
    ("a wrong one of two", function(SAVE + "return x*x", TAKE + "return 2*g*x", name="Square")
     + function(SAVE + "return x.sin()", TAKE + "return g*x.sin()"), "(Square.apply(Own.apply(x))*w).sum()", "x"),
    ("another argument's place", function("ctx, k, x: ctx.save_for_backward(x); ctx.k = k; return k*x**2",
     TAKE + "return None, g*x"), "(Own.apply(3, x)*w).sum()", "x"),
    ("setup_context", function("x, k: return x**k", TAKE + "return g*ctx.k*x**ctx.k, None", SETUP),
     "(Own.apply(x, 2)*w).sum()", "x"),
    ("NumPy inside", function("ctx, x: a = x.detach().numpy(); ctx.save_for_backward(x); "
     "return torch.from_numpy(np.sin(a))", TAKE + "return g*x"), "(Own.apply(x)*w).sum()", "x"),
    ("a sixth digit", function(SAVE + "return x**2", TAKE + "return 2.00001*g*x"), "(Own.apply(x)*w).sum()", "x"),
]  # fmt: skip


def script(text, loss):
    return f"{HEAD}{text}loss = {loss}\n" + ("" if "backward(" in loss else "loss.backward()\n")


@pytest.mark.parametrize(("text", "loss"), [row[1:] for row in RIGHT], ids=[row[0] for row in RIGHT])
def test_a_right_backward(text, loss):
    found = gradcli.check(script(text, loss))
    assert found.verdict == "right", str(found)
    assert {one.verdict for one in found.functions.values()} == {"right"}
    assert min(one.digits for one in found.expected) > 13


@pytest.mark.parametrize(("text", "loss", "wrong"), [row[1:] for row in WRONG], ids=[row[0] for row in WRONG])
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
TIE = "Own.apply(torch.tensor([2., 2., -0.5], dtype=torch.float64, requires_grad=True))"
KINKS = [
    ("relu with the slope 1 at 0", function(SAVE + "return x.relu()", TAKE + "return g*(x >= 0)"), RELU, "right"),
    ("relu with the slope 1/2 at 0", function(SAVE + "return x.relu()", TAKE + "return g*(x.sign() + 1)/2"), RELU,
     "right"),
    ("clamp with the slope 0 at 0", function(SAVE + "return x.clamp(min=0)", TAKE + "return g*(x > 0)"), RELU, "right"),
    ("abs with the slope 1 at 0", function(SAVE + "return x.abs()", TAKE + "return g*torch.where(x >= 0, 1., -1.)"),
     RELU, "right"),
    ("abs with the slope 2 at 0", function(SAVE + "return x.abs()", TAKE + "return g*torch.where(x >= 0, 2., -1.)"),
     RELU, "wrong"),
    ("relu with the slope 3 at 0", function(SAVE + "return x.relu()", TAKE + "return g*torch.where(x == 0, 3., x > 0)"),
     RELU, "wrong"),
    ("the cotangent among the largest", function("ctx, x: v = x.max(); ctx.save_for_backward(x, v); return v",
     "ctx, g: x, v = ctx.saved_tensors; m = (x == v).to(x.dtype); return g*m/m.sum()"), TIE, "right"),
    ("the cotangent to each of the largest", function("ctx, x: v = x.amax(); ctx.save_for_backward(x, v); return v",
     "ctx, g: x, v = ctx.saved_tensors; return g*(x == v)"), TIE, "wrong"),
    ("nearly 0 is none", function(SAVE + "return x*x", TAKE + "return g*x"), "(Own.apply(x*1e-9)*w).sum()", "wrong"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "loss", "verdict"), [row[1:] for row in KINKS], ids=[row[0] for row in KINKS])
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
    wrong = gradcli.check(script(*WRONG[3][1:3]))
    assert str(wrong).endswith("(input x), though it is for the gradient that arrives in this call")
    right = gradcli.check(script(*RIGHT[-1][1:]))
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
    text = script(*WRONG[0][1:3])
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
