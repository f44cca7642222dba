"""The formulas of the courses: each as a textbook has it, and equal to what PyTorch's autograd finds."""

import re
from typing import NamedTuple

import numpy as np
import pytest

import gradcli
from gradcli.explanation.rereading import Reader, evaluate
from oracles import TORCH, needs_torch

if TORCH:
    import torch
    import torch.nn.functional as F  # noqa: N812 - its name everywhere

R = np.random.default_rng(3)
X, Z = np.round(R.normal(size=(4, 2)), 2), np.round(R.normal(size=(4, 3)), 2)
A, B = np.array([[2.0, 0.5], [1.0, 3.0]]), np.array([[1.0, 2.0], [-1.0, 0.5]])
ROWS = np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]])
SCORES, HOT, THREE = [2.0, 1.0, 0.1], [0.0, 1.0, 0.0], [1.0, 2.0, -0.5]
P, GAMMA, BETA = [0.3, 0.6, 0.9], [1.0, 0.5, 2.0], [0.0, 0.1, 0.2]


class Formula(NamedTuple):
    """A program in the language and in PyTorch, its inputs, and the lines of Backward by the names that they are of."""

    program: str
    torch: str
    inputs: dict
    lines: dict[str, str]


SOFTMAX_BY_HAND = "e = exp(z)\ns = e/sum(e)\nloss = -sum(t*log(s))"
STANDARDISED = (
    "mu = mean(x)\nxc = x - mu\nsd = sqrt(mean(xc**2) + 1e-5)\nxhat = xc/sd\ny = gamma*xhat + beta\nloss = sum(y**3)"
)
OVER_SAMPLES = (
    "mu = mean(x, dim=0)\nxc = x - mu\nvar = mean(xc**2, dim=0)\nsd = sqrt(var + 1e-5)\nxhat = xc/sd\n"
    "y = gamma*xhat + beta\nloss = sum(y**3)"
)
NORMALISED = {
    "y": "3*y**2", "gamma": "y.grad*xhat", "beta": "y.grad", "xhat": "y.grad*gamma",
    "sd": "-sum(xhat.grad*xc)/sd**2", "xc": "xhat.grad/sd + sd.grad*xc/(3*sd)", "mu": "-sum(xc.grad)",
    "x": "xc.grad + mu.grad/3",
}  # fmt: skip
NORMALISED_OVER_SAMPLES = {
    "gamma": "sum(y.grad*xhat, dim=0)", "beta": "sum(y.grad, dim=0)", "xhat": "y.grad*gamma",
    "sd": "-sum(xhat.grad*xc, dim=0)/sd**2", "var": "sd.grad/(2*sd)", "xc": "xhat.grad/sd + var.grad*xc/2",
    "mu": "-sum(xc.grad, dim=0)", "x": "xc.grad + mu.grad/4",
}  # fmt: skip
ATTENTION = "S = Q @ K.T/sqrt(2)\nP = softmax(S, dim=1)\nO = P @ V\nloss = sum(O*G)"
LOGISTIC = "z = X @ w + b\np = sigmoid(z)\nloss = -mean(t*log(p) + (1 - t)*log(1 - p))"
COURSES = {
    "cross entropy of scores": Formula(
        "loss = cross_entropy(z, t)", "loss = F.cross_entropy(z, t.long())", {"z": SCORES, "t": 1},
        {"z": "softmax(z) - one_hot(t, 3)"},
    ),
    "cross entropy of a batch": Formula(
        "loss = cross_entropy(z, t)", "loss = F.cross_entropy(z, t.long())", {"z": Z, "t": [1, 0, 2, 1]},
        {"z": "(softmax(z, dim=1) - one_hot(t, 3))/4"},
    ),
    "cross entropy through a layer": Formula(
        "z = X @ W + b\nloss = cross_entropy(z, t)", "z = X @ W + b\nloss = F.cross_entropy(z, t.long())",
        {"X": X, "W": [[0.1, -0.2, 0.3], [0.4, 0.5, -0.6]], "b": BETA, "t": [1, 0, 2, 1]},
        {"z": "(softmax(z, dim=1) - one_hot(t, 3))/4", "W": "X.T @ z.grad", "b": "sum(z.grad, dim=0)"},
    ),
    "cross entropy with shares": Formula(
        "loss = cross_entropy(z, t)", "loss = F.cross_entropy(z, t)", {"z": SCORES, "t": [0.2, 0.5, 0.3]},
        {"z": "softmax(z) - t", "t": "-log_softmax(z)"},
    ),
    "cross entropy by a logarithm of a sum": Formula(
        "loss = logsumexp(z) - z[1]", "loss = torch.logsumexp(z, 0) - z[1]", {"z": SCORES},
        {"z": "softmax(z) - one_hot(1, 3)"},
    ),
    "softmax, then cross entropy": Formula(
        "p = softmax(z)\nloss = -sum(t*log(p))", "p = torch.softmax(z, 0)\nloss = -(t*torch.log(p)).sum()",
        {"z": SCORES, "t": HOT}, {"p": "-t/p", "z": "p*(p.grad - sum(p.grad*p))", "t": "-log(p)"},
    ),
    "softmax by hand": Formula(
        SOFTMAX_BY_HAND, SOFTMAX_BY_HAND.replace("sum(e)", "e.sum()"), {"z": SCORES, "t": HOT},
        {"s": "-t/s", "e": "s.grad/sum(e) - sum(s.grad*e)/sum(e)**2", "z": "e.grad*e"},
    ),
    "binary cross entropy": Formula(
        "loss = bce(p, t)", "loss = F.binary_cross_entropy(p, t)", {"p": P, "t": HOT},
        {"p": "(p - t)/(3*p*(1 - p))"},
    ),
    "binary cross entropy by hand": Formula(
        "loss = -(t*log(p) + (1 - t)*log(1 - p))", "", {"p": 0.3, "t": 1.0},
        {"p": "(p - t)/(p*(1 - p))", "t": "log(1 - p) - log(p)"},
    ),
    "binary cross entropy of scores": Formula(
        "loss = bce_with_logits(z, t)", "loss = F.binary_cross_entropy_with_logits(z, t)", {"z": 0.3, "t": 1.0},
        {"z": "sigmoid(z) - t"},
    ),
    "logistic regression": Formula(
        LOGISTIC, LOGISTIC.replace("mean(", "torch.mean("), {"X": X, "w": [0.1, -0.2], "b": 0.05, "t": [1.0, 0, 1, 1]},
        {"p": "(p - t)/(4*p*(1 - p))", "z": "p.grad*p*(1 - p)", "w": "X.T @ z.grad", "b": "sum(z.grad)"},
    ),
    "mean squared error": Formula(
        "loss = mse_loss(p, t)", "loss = F.mse_loss(p, t)", {"p": THREE, "t": HOT},
        {"p": "2*(p - t)/3", "t": "2*(t - p)/3"},
    ),
    "sum of squares, and a half": Formula(
        "loss = 0.5*sum((p - t)**2)", "loss = 0.5*((p - t)**2).sum()", {"p": THREE, "t": HOT},
        {"p": "p - t", "t": "t - p"},
    ),
    "mean absolute error": Formula(
        "loss = l1_loss(p, t)", "loss = F.l1_loss(p, t)", {"p": THREE, "t": HOT}, {"p": "sign(p - t)/3"},
    ),
    "huber": Formula(
        "loss = huber_loss(p, t)", "loss = F.huber_loss(p, t)", {"p": THREE, "t": [0.0, 1.7, 4.0]},
        {"p": "where(abs(p - t) < 1, p - t, sign(p - t))/3"},
    ),
    "hinge": Formula(
        "loss = sum(relu(1 - t*s))", "loss = torch.relu(1 - t*s).sum()", {"t": [1.0, -1.0], "s": [0.3, 0.4]},
        {"s": "-t*where(1 - t*s > 0, 1, 0)"},
    ),
    "softmax": Formula(
        "s = softmax(x)\nloss = sum(w*s)", "s = torch.softmax(x, 0)\nloss = (w*s).sum()", {"x": THREE, "w": GAMMA},
        {"s": "w", "x": "s*(s.grad - sum(s.grad*s))"},
    ),
    "log_softmax": Formula(
        "y = log_softmax(x)\nloss = sum(w*y)", "y = torch.log_softmax(x, 0)\nloss = (w*y).sum()",
        {"x": THREE, "w": GAMMA}, {"x": "y.grad - softmax(x)*sum(y.grad)"},
    ),
    "logsumexp": Formula("loss = logsumexp(x)", "loss = torch.logsumexp(x, 0)", {"x": THREE}, {"x": "softmax(x)"}),
    "sigmoid": Formula("s = sigmoid(x)", "s = torch.sigmoid(x)", {"x": 0.5}, {"x": "s*(1 - s)"}),
    "tanh": Formula("h = tanh(z)", "h = torch.tanh(z)", {"z": 0.5}, {"z": "1 - h**2"}),
    "relu": Formula(
        "loss = sum(relu(z))", "loss = torch.relu(z).sum()", {"z": THREE}, {"z": "where(z > 0, 1, 0)"},
    ),
    "softplus": Formula(
        "loss = sum(softplus(x))", "loss = F.softplus(x).sum()", {"x": THREE}, {"x": "sigmoid(x)"},
    ),
    "silu": Formula(
        "loss = sum(x*sigmoid(x))", "loss = (x*torch.sigmoid(x)).sum()", {"x": THREE},
        {"x": "sigmoid(x)*(1 + x*(1 - sigmoid(x)))"},
    ),
    "gelu": Formula(
        "loss = sum(gelu(x))", "loss = F.gelu(x).sum()", {"x": THREE},
        {"x": "(1 + erf(x/sqrt(2)))/2 + x*exp(-x**2/2)/sqrt(2*pi)"},
    ),
    "layer norm": Formula(
        STANDARDISED, re.sub(r"\b(mean|sum|sqrt)\(", r"torch.\1(", STANDARDISED),
        {"x": THREE, "gamma": GAMMA, "beta": BETA}, NORMALISED,
    ),
    "batch norm": Formula(
        OVER_SAMPLES, re.sub(r"\b(mean|sum|sqrt)\(", r"torch.\1(", OVER_SAMPLES),
        {"x": X, "gamma": GAMMA[:2], "beta": BETA[:2]}, NORMALISED_OVER_SAMPLES,
    ),
    "layer norm, as a function": Formula(
        "y = layer_norm(x, 3)\nloss = sum(w*y)", "y = F.layer_norm(x, (3,))\nloss = (w*y).sum()",
        {"x": THREE, "w": GAMMA}, {"y": "w", "h1": "y.grad/h2", "h2": "-sum(y.grad*h1)/h2**2"},
    ),
    "a layer": Formula(
        "y = W @ x + b\nloss = sum(y**2)/2", "y = W @ x + b\nloss = (y**2).sum()/2",
        {"W": A, "x": [1.0, 2.0], "b": [0.0, 1.0]},
        {"y": "y", "W": "outer(y.grad, x)", "x": "W.T @ y.grad", "b": "y.grad"},
    ),
    "a layer of a batch": Formula(
        "y = linear(x, W, b)\nloss = sum(y**2)/2", "y = F.linear(x, W, b)\nloss = (y**2).sum()/2",
        {"W": A, "x": X, "b": [0.0, 1.0]}, {"x": "y.grad @ W", "W": "y.grad.T @ x", "b": "sum(y.grad, dim=0)"},
    ),
    "least squares": Formula(
        "loss = sum((X @ w - t)**2) + lam*sum(w**2)", "loss = ((X @ w - t)**2).sum() + lam*(w**2).sum()",
        {"X": X, "w": [0.1, -0.2], "t": [1.0, 0, 1, 1], "lam": 0.1},
        {"w": "2*lam*w + 2*X.T @ (X @ w - t)", "t": "2*(t - X @ w)"},
    ),
    "a regulariser": Formula(
        "loss = lam*sum(w**2)", "loss = lam*(w**2).sum()", {"w": [0.1, -0.2], "lam": 0.1}, {"w": "2*lam*w"},
    ),
    "mean": Formula("loss = mean(x)", "loss = x.mean()", {"x": THREE}, {"x": "1/3"}),
    "variance": Formula("loss = var(x)", "loss = x.var()", {"x": THREE}, {"x": "x - mean(x)"}),
    "norm": Formula("n = norm(x)", "n = torch.linalg.norm(x)", {"x": THREE}, {"x": "x/n"}),
    "quadratic form": Formula(
        "loss = x @ A @ x", "", {"x": [1.0, 2.0], "A": A}, {"x": "(A + A.T) @ x", "A": "outer(x, x)"},
    ),
    "quadratic form, a half of it": Formula(
        "loss = 0.5*x @ A @ x - b @ x", "", {"x": [1.0, 2.0], "A": A, "b": [1.0, -1.0]},
        {"x": "0.5*(A + A.T) @ x - b", "A": "0.5*outer(x, x)", "b": "-x"},
    ),
    "logarithm of a determinant": Formula(
        "loss = log(det(A))", "loss = torch.log(torch.det(A))", {"A": A}, {"A": "inv(A).T"},
    ),
    "trace of a product": Formula(
        "loss = trace(A @ B)", "loss = torch.trace(A @ B)", {"A": A, "B": B}, {"A": "B.T", "B": "A.T"},
    ),
    "Kullback-Leibler": Formula(
        "loss = sum(p*log(p/q))", "loss = (p*torch.log(p/q)).sum()", {"p": [0.2, 0.3, 0.5], "q": [0.3, 0.3, 0.4]},
        {"p": "log(p/q) + 1", "q": "-p/q"},
    ),
    "attention": Formula(
        ATTENTION, re.sub(r"sqrt\(2\)", "2**0.5", ATTENTION).replace("softmax(", "torch.softmax(").replace(
            "sum(", "torch.sum("),
        {"Q": X, "K": X + 0.1, "V": X - 0.2, "G": X},
        {"V": "P.T @ O.grad", "P": "O.grad @ V.T", "S": "P*(P.grad - sum(P.grad*P, dim=1, keepdim=True))",
         "Q": "S.grad @ K/sqrt(2)"},
    ),
    "rows of a table": Formula(
        "loss = sum(E[i]**2)", "loss = (E[i.long()]**2).sum()", {"E": X, "i": [0, 2, 2]},
        {"E": "2*one_hot(i, 4).T @ E[i]"},
    ),
    "cosine similarity": Formula(
        "loss = dot(a, b)/(norm(a)*norm(b))", "loss = a @ b/(torch.linalg.norm(a)*torch.linalg.norm(b))",
        {"a": [1.0, 2.0], "b": [3.0, -1.0]}, {"a": "(b - (a @ b)*a/norm(a)**2)/(norm(a)*norm(b))"},
    ),
    "constants": Formula(
        "loss = mean(sin(2*pi*x))", "loss = torch.sin(2*torch.pi*x).mean()", {"x": THREE}, {"x": "2*pi*cos(2*pi*x)/3"},
    ),
    "a density": Formula(
        "loss = sum(exp(-x**2/2)/sqrt(2*pi))", "loss = (torch.exp(-x**2/2)/(2*torch.pi)**0.5).sum()", {"x": THREE},
        {"x": "-x*exp(-x**2/2)/sqrt(2*pi)"},
    ),
}  # fmt: skip


def answer(course, **options):
    """Return gradcli's answer by all inputs that are no classes."""
    wrt = [name for name, value in course.inputs.items() if np.asarray(value).dtype.kind == "f"]
    return gradcli.explain(course.program, wrt=wrt, inputs=course.inputs, **options)


def autograd(course, v=1.0):
    """Return PyTorch's cotangents of the inputs and of every value that the program names."""
    text = course.torch or course.program
    names = {
        name: torch.tensor(value, dtype=torch.float64, requires_grad=True) for name, value in course.inputs.items()
    }
    functions = {"torch": torch, "F": F, "exp": torch.exp, "log": torch.log, "sigmoid": torch.sigmoid, "sum": torch.sum}
    for line in text.splitlines():
        name, _, right = line.partition(" = ")
        names[name] = eval(right, functions, names)  # noqa: S307 - of this file
        names[name].retain_grad()
    names[name].backward(torch.tensor(v, dtype=torch.float64))
    return {name: value.grad.numpy() for name, value in names.items() if value.grad is not None}


@pytest.mark.parametrize("name", COURSES)
def test_a_line_is_what_a_textbook_has(name):
    course = COURSES[name]
    lines = {rule.name: rule.text for rule in answer(course).rules}
    assert {of: lines.get(of) for of in course.lines} == course.lines


@needs_torch
@pytest.mark.parametrize("v", [1.0, 0.7])
@pytest.mark.parametrize("name", COURSES)
def test_every_line_is_the_number_of_autograd(name, v):
    """With another v the lines have its factor, and no less are they true."""
    course = COURSES[name]
    found, wanted = answer(course, v=v), autograd(COURSES[name], v)
    values = {**found.inputs, **{value.name: value.value for value in found.values}, "v": found.seed}
    for rule in [rule for rule in reversed(found.rules) if rule.made]:
        values[rule.name] = Reader(values, {}).evaluate(rule.made)
    reader = Reader(values, {rule.name: rule.value for rule in found.rules})
    for rule in found.rules:
        read = np.broadcast_to(reader.evaluate(rule.text), rule.value.shape)
        np.testing.assert_allclose(read, rule.value, rtol=1e-9, atol=1e-12, err_msg=rule.name)
        if rule.name in wanted:
            np.testing.assert_allclose(read, wanted[rule.name], rtol=1e-9, atol=1e-12, err_msg=rule.name)


def test_a_factor_of_v_stays_where_it_is_not_1():
    lines = {rule.name: rule.text for rule in answer(COURSES["mean squared error"], v=0.7).rules}
    assert lines == {"loss": "v", "p": "loss.grad*2*(p - t)/3", "t": "loss.grad*2*(t - p)/3"}


@needs_torch
def test_softmax_is_written_in_its_own_name():
    """J is diag(s) - outer(s, s), entry by entry."""
    found = gradcli.explain("s = softmax(x)", x=THREE, v=[1.0, 0.0, 0.0]).jacobian["x"]
    s, wanted = (
        gradcli.function("softmax(x)").value(x=THREE),
        torch.autograd.functional.jacobian(
            lambda x: torch.softmax(x, 0), torch.tensor(THREE, dtype=torch.float64)
        ).numpy(),
    )
    assert found.formulas[:3] == ["s[0]*(1 - s[0])", "-s[0]*s[1]", "-s[0]*s[2]"]
    np.testing.assert_allclose(np.diag(s) - np.outer(s, s), wanted, rtol=1e-12)
    np.testing.assert_allclose(found.numeric, wanted, rtol=1e-12)


@pytest.mark.parametrize("shares", [[0.2, 0.5, 0.3], [2.0, 1.0, 0.5]])
def test_a_target_whose_sum_is_not_1_keeps_its_sum(shares):
    found = gradcli.explain("cross_entropy(z, t)", z=SCORES, t=shares, wrt=["z"])
    assert found.rules[-1].text is not None
    assert (found.rules[-1].text == "softmax(z) - t") is (sum(shares) == 1)


def test_a_value_of_0_over_0_is_not_cancelled():
    """The slope of x/x is 0 but at 0: the line there is in the order of its operations."""
    texts = [gradcli.explain("y = sum(x/x)", x=[start, 0.5]).rules[-1].text for start in (1.0, 0.0)]
    assert texts == ["0", "1/x - x/x/x"]


WHOLE = {  # of a program that names no value: J of one row as one formula
    "F.cross_entropy(z, t)": ({"z": [[2.0, 1.0, 0.1], [0.0, 1.0, 2.0]], "t": [1.0, 0.0]}, "z",
                              "(softmax(z, dim=1) - one_hot(t, 3))/2"),
    "F.binary_cross_entropy(p, t)": ({"p": [0.2, 0.7], "t": [0.0, 1.0]}, "p", "(p - t)/(2*p*(1 - p))"),
    "F.mse_loss(p, t)": ({"p": [0.2, 0.7, 0.4], "t": [0.0, 1.0, 3.0]}, "p", None),
    "round(p)*2": ({"p": 1.3}, "p", None),
}  # fmt: skip


@pytest.mark.parametrize("program", WHOLE)
def test_j_of_one_row_is_written_as_in_a_textbook(program):
    inputs, name, text = WHOLE[program]
    found = gradcli.explain(program, inputs=inputs, wrt=[name])
    [part] = found.document().section("jacobian").parts
    assert part.rows
    if text is not None:
        assert [row.sides for row in part.rows] == [(text,)]
        np.testing.assert_allclose(evaluate(text, inputs), found.grad[name], rtol=1e-12)
