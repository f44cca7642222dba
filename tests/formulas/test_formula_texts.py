"""What formulas and rules look like: as a person writes them, in the program's order, with its factors and names."""

from __future__ import annotations

import numpy as np
import pytest

import gradcli
from gradcli.formulas.readback import read_back
from oracles import portion_of_rows
from readback_programs import in_doubles

GIVEN = {
    "x": 0.5, "s": 1.0, "t": 2.0, "p": 2.0, "m": 1.0, "a": 0.7, "b": 2.0, "c": 3.0, "w": 1.2, "y": 0.4, "k": 0.3,
    "v": [0.3, 0.5, 0.9], "u": [0.7, 0.2, 0.4], "M": [[0.5, -0.3], [0.2, 0.8]], "w2": [0.4, 0.9], "t2": [0.1, 0.6],
    "q": [0.1, 0.2, 0.3, 0.4], "r": [0.5, 0.1, 0.9, 0.2], "D": np.arange(16.0).reshape(4, 4) / 10 - 0.7,
    "E": [[0.5, -0.3, 0.2]], "X2": [[0.1, 0.2, 0.3], [0.4, 0.6, 0.8]], "T2": [[0.0, 1.0]],
}  # fmt: skip
TEXTS = [  # a program, one of its variables, and the rule of J by it or else its different entries
    ("(x - 3)**2", "x", ["2*(x - 3)"]),
    ("(s - t)**2", "s", ["2*(s - t)"]),
    ("x**x", "x", ["x**x*(log(x) + 1)"]),
    ("x**p", "p", ["x**p*log(x)"]),
    ("2**x", "x", ["2**x*log(2)"]),
    ("sin(pi*x)", "x", ["pi*cos(pi*x)"]),
    ("x/(2*pi)", "x", ["1/(2*pi)"]),
    ("tanh(x)", "x", ["1 - tanh(x)**2"]),
    ("sigmoid(x)", "x", ["sigmoid(x)*(1 - sigmoid(x))"]),
    ("-(t*log(sigmoid(x)) + (1 - t)*log(1 - sigmoid(x)))", "t", ["log(1 - sigmoid(x)) - log(sigmoid(x))"]),
    ("-(t*log(sigmoid(x)) + (1 - t)*log(1 - sigmoid(x)))", "x", ["sigmoid(x) - t"]),
    ("binary_cross_entropy_with_logits(x, t)", "x", ["sigmoid(x) - t"]),
    ("x/(x + 1)", "x", ["1/(x + 1)**2"]),
    ("(a - b)/(a + b)", "a", ["2*b/(a + b)**2"]),
    ("1/(1 + exp(-x))", "x", ["exp(-x)/(1 + exp(-x))**2"]),
    ("x*exp(-x)", "x", ["(1 - x)*exp(-x)"]),
    ("exp(-(x - m)**2/2)", "x", ["(m - x)*exp(-(x - m)**2/2)"]),
    ("sin(x)*cos(x)", "x", ["cos(x)**2 - sin(x)**2"]),
    ("tan(x)", "x", ["tan(x)**2 + 1"]),
    ("x**3 - 2*x**2 + x - 1", "x", ["3*x**2 - 4*x + 1"]),
    ("c*b*a", "c", ["b*a"]),
    ("a/b", "b", ["-a/b**2"]),
    ("(x*w - t)**2", "x", ["2*(x*w - t)*w"]),
    ("0.5*(w*x + b - y)**2", "w", ["(w*x + b - y)*x"]),
    ("0.5*(w*x + b - y)**2", "y", ["y - w*x - b"]),
    ("abs(x - t)", "t", ["-sign(x - t)"]),
    ("silu(x)", "x", ["sigmoid(x)*(x*(1 - sigmoid(x)) + 1)"]),
    ("softplus(x)", "x", ["where(x > 20, 1, sigmoid(x))"]),
    ("clip(x, 0, 1)", "x", ["where((x >= 0) & (x <= 1), 1, 0)"]),
    ("atan2(y, x)", "y", ["x/(y**2 + x**2)"]),
    ("logaddexp(a, b)", "a", ["sigmoid(a - b)"]),
    ("maximum(a, b)", "a", ["heaviside(a - b, 1/2)"]),
    ("mean(v)", "v", ["1/3"]),
    ("mean(v)**2", "v", ["2*(v[0] + v[1] + v[2])/9"]),
    ("var(v)", "v", ["v[0] - mean(v)", "v[1] - mean(v)", "v[2] - mean(v)"]),
    ("std(v)", "v", ["(v[0] - mean(v))/(2*std(v))", "(v[1] - mean(v))/(2*std(v))", "(v[2] - mean(v))/(2*std(v))"]),
    ("v - mean(v)", "v", ["dy[i]/dv[j] = where(i == j, 2/3, -1/3)"]),
    ("v/norm(v)", "v", ["dy[i]/dv[j] = where(i == j, 1/norm(v) - v[i]**2/norm(v)**3, -v[i]*v[j]/norm(v)**3)"]),
    ("dot(v, u)", "v", ["u[0]", "u[1]", "u[2]"]),
    ("mse_loss(v, u)", "v", ["2*(v[0] - u[0])/3", "2*(v[1] - u[1])/3", "2*(v[2] - u[2])/3"]),
    ("mean(abs(v - u))", "u", ["-sign(v[0] - u[0])/3", "-sign(v[1] - u[1])/3", "-sign(v[2] - u[2])/3"]),
    ("sum(v)**2", "v", ["2*(v[0] + v[1] + v[2])"]),
    ("prod(v)", "v", ["v[1]*v[2]", "v[0]*v[2]", "v[0]*v[1]"]),
    ("sqrt(v[0]**2 + v[1]**2)", "v", ["v[0]/sqrt(v[0]**2 + v[1]**2)", "v[1]/sqrt(v[0]**2 + v[1]**2)"]),
    ("softmax(v)", "v",
     ["dy[i]/dv[j] = where(i == j, softmax(v)[i]*(1 - softmax(v)[i]), -softmax(v)[i]*softmax(v)[j])"]),
    ("cross_entropy(v, 2)", "v", ["softmax(v)[0]", "softmax(v)[1]", "softmax(v)[2] - 1"]),
    ("logsumexp(v)", "v", ["exp(v[0] - logsumexp(v))", "exp(v[1] - logsumexp(v))", "exp(v[2] - logsumexp(v))"]),
    ("sum(v*log(v/u))", "v", ["log(v[0]/u[0]) + 1", "log(v[1]/u[1]) + 1", "log(v[2]/u[2]) + 1"]),
    ("cumsum(v)", "v", ["1"]),
    ("outer(v, u)", "v", ["dy[i,j]/dv[i] = u[j]"]),
    ("[3*v[0]**2, v[0]**2 + 2*v[1]**3, 10*v[2]]", "v", ["6*v[0]", "2*v[0]", "6*v[1]**2", "10"]),
    ("M @ w2", "w2", ["dy[i]/dw2[j] = M[i,j]"]),
    ("sigmoid(M @ w2)", "M", ["dy[i]/dM[i,j] = y[i]*(1 - y[i])*w2[j]"]),
    ("w2 @ M @ w2", "w2",
     ["2*w2[0]*M[0,0] + w2[1]*M[0,1] + w2[1]*M[1,0]",
      "w2[0]*M[0,1] + w2[0]*M[1,0] + 2*w2[1]*M[1,1]"]),
    ("M @ M", "M", ["2*M[0,0]", "M[1,0]", "M[0,1]", "M[0,0] + M[1,1]", "2*M[1,1]"]),
    ("det(M)", "M", ["M[1,1]", "-M[1,0]", "-M[0,1]", "M[0,0]"]),
    ("h = tanh(x*k + 1); h*h*k", "k", ["h*(h + 2*(1 - h**2)*x*k)"]),
    ("z = M @ w2; h = tanh(z); sum(h*h)", "M", ["dy/dM[i,j] = 2*w2[j]*h[i]*(1 - h[i]**2)"]),
    ("z = M @ w2; h = tanh(z); sum(h*h)", "w2",
     ["2*(M[0,0]*h[0]*(1 - h[0]**2) + M[1,0]*h[1]*(1 - h[1]**2))",
      "2*(M[0,1]*h[0]*(1 - h[0]**2) + M[1,1]*h[1]*(1 - h[1]**2))"]),
    ("r = M @ w2 - t2; sum(r**2)", "w2", ["2*(r[0]*M[0,0] + r[1]*M[1,0])", "2*(r[0]*M[0,1] + r[1]*M[1,1])"]),
    ("sum((q - mean(q))**2)", "q", ["dy/dq[i] = 2*(q[i] - mean(q))"]),
    ("mean((q - r)**2)", "q", ["dy/dq[i] = (q[i] - r[i])/2"]),
    ("D @ q", "q", ["dy[i]/dq[j] = D[i,j]"]),
    ("tanh(D @ q)", "q", ["dy[i]/dq[j] = D[i,j]*(1 - tanh(dot(D[i,:], q))**2)"]),
    ("h = tanh(D @ q); g = h*2 + 1; sum(g*g*h)", "q", ["dy/dq[i] = sum((1 - h**2)*(4*h*g + g**2)*D[:,i])"]),
    ("z = D @ q; h = tanh(z); loss = sum((h - r)**2)", "D", ["dloss/dD[i,j] = 2*q[j]*(h[i] - r[i])*(1 - h[i]**2)"]),
    ("z = D @ q; h = tanh(z); loss = sum((h - r)**2)", "q", ["dloss/dq[i] = 2*sum(D[:,i]*(h - r)*(1 - h**2))"]),
    ("s = sigmoid(E @ X2.T); losses = (T2 - s)**2", "E",
     ["dlosses[0,i]/dE[0,j] = 2*(s[0,i] - T2[0,i])*s[0,i]*(1 - s[0,i])*X2[i,j]"]),
    ("outer(q, q)", "q", ["2*q[0]", "q[1]", "q[0]", "q[2]", "q[3]", "2*q[1]", "2*q[2]", "2*q[3]"]),
    ("(2*x)**100", "x", ["1.2676506002282294e+32*x**99"]),
    ("sin(q)*r", "q", ["dy[i]/dq[i] = cos(q[i])*r[i]"]),
]  # fmt: skip


def answer(text, **inputs):
    program = text.replace("; ", "\n")
    function = gradcli.function(program)
    values = {name: np.array({**GIVEN, **inputs}[name]) for name in function.inputs}
    y = function.value(**values)
    return gradcli.explain(program, v=np.cos(np.arange(y.size) + 1.0).reshape(y.shape), inputs=values)


@pytest.mark.parametrize(("text", "name", "wanted"), portion_of_rows(TEXTS, 3))
def test_a_formula_is_written_as_a_person_writes_it(text, name, wanted):
    found = answer(text)
    jacobian = found.jacobian[name]
    assert (jacobian.rules or list(dict.fromkeys(jacobian.formulas))) == wanted
    count, wrong = read_back(found, in_doubles)
    assert (count >= len(jacobian.formulas), wrong) == (True, [])


OUTPUTS = {  # a program, and what its output is written as
    "clip(x, 0, 1)": ["clip(x, 0, 1)"],
    "huber_loss(x, 0)": ["where(abs(x) < 1, x**2/2, abs(x) - 1/2)"],
    "e**x + pi": ["e**x + pi"],
    "exp(2*pi*x)/pi": ["exp(2*pi*x)/pi"],
    "1/(1 + exp(-x))": ["1/(1 + exp(-x))"],
    "-x*log(x) - (1 - x)*log(1 - x)": ["-x*log(x) - (1 - x)*log(1 - x)"],
    "softplus(x)": ["softplus(x)"],
    "mean(v)": ["(v[0] + v[1] + v[2])/3"],
    "v - mean(v)": ["v[0] - mean(v)", "v[1] - mean(v)", "v[2] - mean(v)"],
    "mean(q**2)": ["mean(q**2)"],
    "D @ q": ["dot(D[0,:], q)", "dot(D[1,:], q)", "dot(D[2,:], q)", "dot(D[3,:], q)"],
}


@pytest.mark.parametrize("text", OUTPUTS)
def test_an_output_is_written_in_the_order_of_the_program(text):
    assert answer(text).output_formulas == OUTPUTS[text]


DEFINITIONS = {  # a program in whose formulas names stand, and what these are
    "h = outer(q, r); sum(sin(h)*h*cos(h))": {"h": "outer(q, r)"},
    "h = clip(D @ q, 0, 1); sum(h*h*tanh(h))": {"h": "clip(D @ q, 0, 1)"},
    "h = sin(pi*x + 1); h*h*tanh(h)*x": {"h": "sin(pi*x + 1)"},
    "sigmoid(D @ q)": {"y": "sigmoid(D @ q)"},
    "z = D @ q; h = tanh(z); loss = sum((h - r)**2)": {"z": "D @ q", "h": "tanh(z)"},
}


@pytest.mark.parametrize("text", DEFINITIONS)
def test_names_in_formulas_are_those_of_the_program(text):
    found = answer(text)
    wanted = DEFINITIONS[text]
    assert {name: body for name, body in found.definitions.items() if name in wanted} == wanted
    assert not [name for name in found.definitions if name.startswith("h") and name not in wanted], "none is made"
    assert read_back(found, in_doubles)[1] == []


@pytest.mark.parametrize(
    ("text", "name"), [("sort(x).values", "sort"), ("max(x, dim=0).values", "max"), ("relu(x)", "relu")]
)
def test_a_kink_goes_by_the_name_of_its_function(text, name):
    [note] = [note for note in answer(text, x=[0.0, 0.0, -1.0]).notes if note.kind == "kink"]
    assert note.message.startswith(f"{name} has a kink")
