"""A function's own backward, held by ``check`` against the derivative of its forward, and followed by ``explain``."""

import pytest

import gradcli

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
    ("numbers of Python's inside", function("ctx, x: ctx.k = x.item(); return torch.tensor(math.sin(ctx.k), dtype=x.dtype)",
     "ctx, g: return g*math.cos(ctx.k)"), "(Own.apply(b)*w).sum()"),
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
