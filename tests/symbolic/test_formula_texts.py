"""What formulas and rules look like: as a person writes them, in the program's order, with its factors and names."""

from __future__ import annotations

import numpy as np
import pytest

import gradcli
from gradcli.formulas.readback import read_back
from readback_programs import in_doubles

GIVEN = {
    "x": 0.5, "s": 1.0, "t": 2.0, "p": 2.0, "m": 1.0, "a": 0.7, "b": 2.0, "c": 3.0, "w": 1.2, "y": 0.4, "k": 0.3,
    "v": [0.3, 0.5, 0.9], "u": [0.7, 0.2, 0.4], "M": [[0.5, -0.3], [0.2, 0.8]], "w2": [0.4, 0.9], "t2": [0.1, 0.6],
}  # fmt: skip
TEXTS = [  # a program, one of its variables, and the rule of J by it or else its different entries
    ("(x - 3)**2", "x", ["2*(x - 3)"]),
    ("(3 - x)**2", "x", ["2*(x - 3)"]),
    ("(s - t)**2", "s", ["2*(s - t)"]),
    ("(s - t)**2", "t", ["2*(t - s)"]),
    ("(t - s)**2", "t", ["2*(t - s)"]),
    ("(t - s)**2", "s", ["2*(s - t)"]),
    ("x**x", "x", ["x**x*(log(x) + 1)"]),
    ("x**p", "x", ["p*x**(p - 1)"]),
    ("x**p", "p", ["x**p*log(x)"]),
    ("2**x", "x", ["2**x*log(2)"]),
    ("e**x", "x", ["e**x"]),
    ("sin(pi*x)", "x", ["pi*cos(pi*x)"]),
    ("exp(2*pi*x)/pi", "x", ["2*exp(2*pi*x)"]),
    ("x/(2*pi)", "x", ["1/(2*pi)"]),
    ("tanh(x)", "x", ["1 - tanh(x)**2"]),
    ("tanh(x)**2", "x", ["2*tanh(x)*(1 - tanh(x)**2)"]),
    ("sigmoid(x)", "x", ["sigmoid(x)*(1 - sigmoid(x))"]),
    ("log(sigmoid(x))", "x", ["1 - sigmoid(x)"]),
    ("-(t*log(sigmoid(x)) + (1 - t)*log(1 - sigmoid(x)))", "t", ["log(1 - sigmoid(x)) - log(sigmoid(x))"]),
    ("-(t*log(sigmoid(x)) + (1 - t)*log(1 - sigmoid(x)))", "x", ["sigmoid(x) - t"]),
    ("binary_cross_entropy_with_logits(x, t)", "x", ["sigmoid(x) - t"]),
    ("binary_cross_entropy_with_logits(x, t)", "t", ["-x"]),
    ("x/(x + 1)", "x", ["1/(x + 1)**2"]),
    ("(a - b)/(a + b)", "a", ["2*b/(a + b)**2"]),
    ("(a - b)/(a + b)", "b", ["-2*a/(a + b)**2"]),
    ("1/(1 + exp(-x))", "x", ["exp(-x)/(1 + exp(-x))**2"]),
    ("log(1 + exp(x))", "x", ["exp(x)/(1 + exp(x))"]),
    ("x*exp(-x)", "x", ["(1 - x)*exp(-x)"]),
    ("exp(-x**2/2)", "x", ["-x*exp(-x**2/2)"]),
    ("exp(-(x - m)**2/2)", "x", ["(m - x)*exp(-(x - m)**2/2)"]),
    ("exp(-(x - m)**2/2)", "m", ["(x - m)*exp(-(x - m)**2/2)"]),
    ("sqrt(x**2 + 1)", "x", ["x/sqrt(x**2 + 1)"]),
    ("1/(x**2 + 1)", "x", ["-2*x/(x**2 + 1)**2"]),
    ("log(x)/x", "x", ["(1 - log(x))/x**2"]),
    ("x*log(x)", "x", ["log(x) + 1"]),
    ("sin(x)*cos(x)", "x", ["cos(x)**2 - sin(x)**2"]),
    ("sin(x)**2", "x", ["2*sin(x)*cos(x)"]),
    ("tan(x)", "x", ["tan(x)**2 + 1"]),
    ("x**3 - 2*x**2 + x - 1", "x", ["3*x**2 - 4*x + 1"]),
    ("c*b*a", "c", ["b*a"]),
    ("c*b*a", "b", ["c*a"]),
    ("c*b*a", "a", ["c*b"]),
    ("a/b", "a", ["1/b"]),
    ("a/b", "b", ["-a/b**2"]),
    ("(x*w - t)**2", "x", ["2*(x*w - t)*w"]),
    ("(x*w - t)**2", "w", ["2*(x*w - t)*x"]),
    ("(x*w - t)**2", "t", ["2*(t - x*w)"]),
    ("0.5*(w*x + b - y)**2", "w", ["(w*x + b - y)*x"]),
    ("0.5*(w*x + b - y)**2", "x", ["(w*x + b - y)*w"]),
    ("0.5*(w*x + b - y)**2", "b", ["w*x + b - y"]),
    ("0.5*(w*x + b - y)**2", "y", ["y - w*x - b"]),
    ("abs(x - t)", "x", ["sign(x - t)"]),
    ("abs(x - t)", "t", ["-sign(x - t)"]),
    ("relu(x)", "x", ["where(x > 0, 1, 0)"]),
    ("silu(x)", "x", ["sigmoid(x)*(x*(1 - sigmoid(x)) + 1)"]),
    ("softplus(x)", "x", ["where(x > 20, 1, sigmoid(x))"]),
    ("clip(x, 0, 1)", "x", ["where((x >= 0) & (x <= 1), 1, 0)"]),
    ("huber_loss(x, 0)", "x", ["x"]),
    ("atan2(y, x)", "y", ["x/(y**2 + x**2)"]),
    ("atan2(y, x)", "x", ["-y/(y**2 + x**2)"]),
    ("hypot(x, y)", "x", ["x/hypot(x, y)"]),
    ("hypot(x, y)", "y", ["y/hypot(x, y)"]),
    ("logaddexp(a, b)", "a", ["sigmoid(a - b)"]),
    ("logaddexp(a, b)", "b", ["sigmoid(b - a)"]),
    ("maximum(a, b)", "a", ["heaviside(a - b, 1/2)"]),
    ("maximum(a, b)", "b", ["heaviside(b - a, 1/2)"]),
    ("mean(v)", "v", ["1/3"]),
    ("mean(v)**2", "v", ["2*(v[0] + v[1] + v[2])/9"]),
    ("var(v)", "v", ["v[0] - mean(v)", "v[1] - mean(v)", "v[2] - mean(v)"]),
    ("std(v)", "v", ["(v[0] - mean(v))/(2*std(v))", "(v[1] - mean(v))/(2*std(v))", "(v[2] - mean(v))/(2*std(v))"]),
    ("sum((v - mean(v))**2)", "v", ["2*(v[0] - mean(v))", "2*(v[1] - mean(v))", "2*(v[2] - mean(v))"]),
    ("v - mean(v)", "v", ["dy[i]/dv[j] = where(i == j, 2/3, -1/3)"]),
    ("norm(v)", "v", ["v[0]/norm(v)", "v[1]/norm(v)", "v[2]/norm(v)"]),
    ("v/norm(v)", "v", ["dy[i]/dv[j] = where(i == j, 1/norm(v) - v[i]**2/norm(v)**3, -v[i]*v[j]/norm(v)**3)"]),
    ("sum(v*u)", "v", ["u[0]", "u[1]", "u[2]"]),
    ("sum(v*u)", "u", ["v[0]", "v[1]", "v[2]"]),
    ("dot(v, u)", "v", ["u[0]", "u[1]", "u[2]"]),
    ("dot(v, u)", "u", ["v[0]", "v[1]", "v[2]"]),
    ("mse_loss(v, u)", "v", ["2*(v[0] - u[0])/3", "2*(v[1] - u[1])/3", "2*(v[2] - u[2])/3"]),
    ("mse_loss(v, u)", "u", ["2*(u[0] - v[0])/3", "2*(u[1] - v[1])/3", "2*(u[2] - v[2])/3"]),
    ("mean((v - u)**2)", "v", ["2*(v[0] - u[0])/3", "2*(v[1] - u[1])/3", "2*(v[2] - u[2])/3"]),
    ("mean((v - u)**2)", "u", ["2*(u[0] - v[0])/3", "2*(u[1] - v[1])/3", "2*(u[2] - v[2])/3"]),
    ("mean(abs(v - u))", "v", ["sign(v[0] - u[0])/3", "sign(v[1] - u[1])/3", "sign(v[2] - u[2])/3"]),
    ("mean(abs(v - u))", "u", ["-sign(v[0] - u[0])/3", "-sign(v[1] - u[1])/3", "-sign(v[2] - u[2])/3"]),
    ("sum(v)**2", "v", ["2*(v[0] + v[1] + v[2])"]),
    ("sum(v**2)", "v", ["2*v[0]", "2*v[1]", "2*v[2]"]),
    ("prod(v)", "v", ["v[1]*v[2]", "v[0]*v[2]", "v[0]*v[1]"]),
    ("v[0]*v[1] + v[2]", "v", ["v[1]", "v[0]", "1"]),
    ("sqrt(v[0]**2 + v[1]**2)", "v", ["v[0]/sqrt(v[0]**2 + v[1]**2)", "v[1]/sqrt(v[0]**2 + v[1]**2)"]),
    ("softmax(v)", "v",
     ["dy[i]/dv[j] = where(i == j, softmax(v)[i]*(1 - softmax(v)[i]), -softmax(v)[i]*softmax(v)[j])"]),
    ("cross_entropy(v, 2)", "v", ["softmax(v)[0]", "softmax(v)[1]", "softmax(v)[2] - 1"]),
    ("-log_softmax(v)[2]", "v", ["softmax(v)[0]", "softmax(v)[1]", "softmax(v)[2] - 1"]),
    ("log(softmax(v)[2])", "v", ["-softmax(v)[0]", "-softmax(v)[1]", "1 - softmax(v)[2]"]),
    ("logsumexp(v)", "v", ["exp(v[0] - logsumexp(v))", "exp(v[1] - logsumexp(v))", "exp(v[2] - logsumexp(v))"]),
    ("sum(v*log(v/u))", "v", ["log(v[0]/u[0]) + 1", "log(v[1]/u[1]) + 1", "log(v[2]/u[2]) + 1"]),
    ("sum(v*log(v/u))", "u", ["-v[0]/u[0]", "-v[1]/u[1]", "-v[2]/u[2]"]),
    ("cumsum(v)", "v", ["1"]),
    ("outer(v, u)", "v", ["dy[i,j]/dv[i] = u[j]"]),
    ("outer(v, u)", "u", ["dy[i,j]/du[j] = v[i]"]),
    ("[3*v[0]**2, v[0]**2 + 2*v[1]**3, 10*v[2]]", "v", ["6*v[0]", "2*v[0]", "6*v[1]**2", "10"]),
    ("M @ w2", "M", ["dy[i]/dM[i,j] = w2[j]"]),
    ("M @ w2", "w2", ["dy[i]/dw2[j] = M[i,j]"]),
    ("sigmoid(M @ w2)", "M", ["dy[i]/dM[i,j] = w2[j]*y[i]*(1 - y[i])"]),
    ("sigmoid(M @ w2)", "w2", ["dy[i]/dw2[j] = M[i,j]*y[i]*(1 - y[i])"]),
    ("w2 @ M @ w2", "w2",
     ["2*w2[0]*M[0,0] + w2[1]*M[0,1] + w2[1]*M[1,0]", "w2[0]*M[0,1] + w2[0]*M[1,0] + 2*w2[1]*M[1,1]"]),
    ("w2 @ M @ w2", "M", ["dy/dM[i,j] = w2[i]*w2[j]"]),
    ("M @ M", "M", ["2*M[0,0]", "M[1,0]", "M[0,1]", "M[0,0] + M[1,1]", "2*M[1,1]"]),
    ("det(M)", "M", ["M[1,1]", "-M[1,0]", "-M[0,1]", "M[0,0]"]),
    ("h = tanh(x); h*h + x", "x", ["2*tanh(x)*(1 - tanh(x)**2) + 1"]),
    ("h = tanh(x*k + 1); h*h*k", "x", ["2*h*(1 - h**2)*k**2"]),
    ("h = tanh(x*k + 1); h*h*k", "k", ["h*(h + 2*(1 - h**2)*x*k)"]),
    ("z = M @ w2; h = tanh(z); sum(h*h)", "M", ["dy/dM[i,j] = 2*w2[j]*h[i]*(1 - h[i]**2)"]),
    ("z = M @ w2; h = tanh(z); sum(h*h)", "w2",
     ["2*(M[0,0]*h[0]*(1 - h[0]**2) + M[1,0]*h[1]*(1 - h[1]**2))", "2*(M[0,1]*h[0]*(1 - h[0]**2) + M[1,1]*h[1]*(1 - h[1]**2))"]),
    ("p = softmax(v); -log(p[2])", "v", ["softmax(v)[0]", "softmax(v)[1]", "softmax(v)[2] - 1"]),
    ("r = M @ w2 - t2; sum(r**2)", "M", ["dy/dM[i,j] = 2*r[i]*w2[j]"]),
    ("r = M @ w2 - t2; sum(r**2)", "w2", ["2*(r[0]*M[0,0] + r[1]*M[1,0])", "2*(r[0]*M[0,1] + r[1]*M[1,1])"]),
    ("r = M @ w2 - t2; sum(r**2)", "t2", ["-2*r[0]", "-2*r[1]"]),
]  # fmt: skip


def answer(text, **inputs):
    program = text.replace("; ", "\n")
    function = gradcli.function(program)
    values = {name: np.array({**GIVEN, **inputs}[name]) for name in function.inputs}
    y = function.value(**values)
    return gradcli.explain(program, v=np.cos(np.arange(y.size) + 1.0).reshape(y.shape), inputs=values)


@pytest.mark.parametrize(("text", "name", "wanted"), TEXTS)
def test_a_formula_is_written_as_a_person_writes_it(text, name, wanted):
    found = answer(text)
    jacobian = found.jacobian[name]
    assert (jacobian.rules or list(dict.fromkeys(jacobian.formulas))) == wanted
    count, wrong = read_back(found, in_doubles)
    assert (count >= len(jacobian.formulas), wrong) == (True, [])
