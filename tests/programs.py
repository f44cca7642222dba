"""Short programs for every function of the language, with values for their variables."""

import numpy as np

from oracles import cases
from records import FUNCTIONS

VALUES = {
    "x": np.array([0.3, -1.2, 0.8]),
    "p": np.array([0.2, 0.5, 0.7]),
    "t": np.array([0.0, 1.0, 1.0]) * 0.9 + 0.05,
    "A": np.array([[0.5, -1.0, 2.0], [1.5, 0.7, -0.4]]),
    "B": np.array([[1.1, 0.2], [-0.6, 0.9], [0.4, -0.3]]),
    "S": np.array([[2.0, 0.3, -0.5], [0.1, 1.5, 0.4], [-0.7, 0.2, 1.8]]),
    "T": np.array([[[1.0, 2.0], [3.0, 4.5]], [[0.5, -1.0], [1.5, 0.2]]]),
    "b": np.array([0.1, -0.2]),
    "s": np.float64(0.7),
}
"""Far from kinks and ties, so that differences are smooth."""
ROWS = cases("function_programs.jsonl")
"""By function: a program, its value at these numbers by NumPy, and whether a derivative is none of its business."""
OWN = {
    name: [row["program"] for row in ROWS if row["function"] == name and "value_only" not in row] for name in FUNCTIONS
}


def elementwise(function):
    """Return the calls of an elementwise function with one or two arguments, as a call and as a method."""
    op = function.op
    if len(op.vjps) == 2:
        return [f"{function.name}(u, w)", f"{function.name}(u, w[0])"]
    return [f"{function.name}(u)"] if not op.flat else [f"{function.name}(u) + u"]


PROGRAMS = {name: OWN[name] or elementwise(FUNCTIONS[name]) for name in FUNCTIONS}
NAMED = {  # what is named, what loops, and names that gradcli might choose for itself
    "z = x**2 + 1; y = tanh(z)*exp(-z); y*y + z": {"x": [0.3, -0.7]},
    "y = x\nfor i in range(4):\n    y = sin(y) + x*y\ny": {"x": 0.4},
    "y = x*2\nwhile norm(y) < 10:\n    y = y*2\ny": {"x": [0.5, -0.2, 0.1]},
    "h0 = tanh(x*w)\nh1 = tanh(h0*w + x)\nh2 = tanh(h1*w + h0)\nh2*h2": {"x": [0.2, 0.4], "w": [1.5, -0.5]},
    "a = tanh(h0*x + 1)\nb = tanh(a*h1 + h0)\ntanh(b*b*a + x)*a": {"x": [0.2, 0.4], "h0": [1.0, 2.0], "h1": 0.5},
    "x = x*x + 1\nx = tanh(x)*x\nx = exp(-x*x)*x\nx": {"x": [0.2, 1.4]},
    "x = tanh(x*x1)\nx = tanh(x*x + x1)*x\nx = exp(-x*x)*x\nx": {"x": [0.2, 1.4], "x1": [0.7, 0.3]},
    "dy_dh = tanh(x)\ny = dy_dh\nfor i in range(6):\n    y = tanh(y*y + dy_dh)*y\ny": {"x": [0.9, 1.4]},
    "E = exp(S)\nN = E/sum(E)\nsin(N*N)@N": {"S": [0.1, 0.2, 0.3]},
    "mean = x.mean()\nsigma = std(x)\nn = (x - mean)/sigma\nn*n*n": {"x": [0.1, 0.5, -0.7]},
    "sum = x[0]*x[1]\nsum*sum": {"x": [2.0, 3.0]},
    "s = softmax(W @ tanh(V @ x + b) + c)\ns": {"W": [[1.0, -0.5], [0.3, 0.8]], "V": [[0.2, 0.6], [-1.0, 0.4]],
                                              "x": [0.5, -0.3], "b": [0.1, 0.2], "c": [0.0, 0.4]},
    "a, b = x[0], x[1]; [a if a > b else b, a**b, b**a]": {"x": [0.7, 1.9]},
    "y = zeros(3)\nfor i in range(3):\n    y[i] = x[i]**(i + 1) + (y[i - 1] if i > 0 else 0)\ny": {"x": [1.5, 0.5,
        -2.0]},
    "1e-20*x + 123456789.125*x**3 - x/3": {"x": [0.7, 2.0]},
    "einsum(\"ij,j->i\", inv(A), tanh(A @ x))": {"A": [[2.0, 0.5], [-0.3, 1.0]], "x": [0.4, 0.6]},
    "x**-2 + (-x)**3 - -x + 2**x + (x**2)**3 + x**(2**3)": {"x": 0.8},
}  # fmt: skip
GROWING = {
    "fifteen squares": "for i in range(15):\n    x = x*x/2 + x/2\nx",
    "doublings": "for i in range(64):\n    x = x + x\nx",
    "a hundred layers": "for i in range(100):\n    x = tanh(x*x + x)\nx",
    "powers of powers": "for i in range(20):\n    x = (x**2 + 1)**0.5*x/2\nx",
    "products of sums": "for i in range(12):\n    x = (x + 1)*(x - 1)/(x*x + 1)\nx",
}


def inputs_of(program, names):
    """Return values for the variables of a program; ``u`` and ``w`` lie in the domain of the function called first."""
    function = FUNCTIONS.get(program.partition("(")[0])
    domain = ((-2.0, 2.0),) if function is None or function.op is None else function.op.domain
    inside = {}
    for k, name in enumerate(("u", "w")):
        low, high = domain[min(k, len(domain) - 1)]
        inside[name] = low + (high - low) * np.array([[0.13, 0.78, 0.41], [0.29, 0.93, 0.57]])[k]
    return {name: inside[name] if name in inside else VALUES[name] for name in names}
