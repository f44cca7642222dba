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
NAMED = {row["program"]: row["inputs"] for row in cases("named_programs.toml")["NAMED"]}
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
