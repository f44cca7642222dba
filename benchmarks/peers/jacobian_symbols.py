"""The Jacobian of a case by ``Matrix.jacobian``: ``jacobian_symbols.py sympy|symengine CASE N [--check]``."""

import importlib
import sys

import numpy as np
from inputs import arguments, differentiated, seed, shapes, wanted

lib = importlib.import_module(sys.argv.pop(1))
case, n, check = wanted()
given = arguments(case, n)


def named(name, array):
    """Return an object array of one symbol an entry."""
    found = np.empty(np.shape(array), dtype=object)
    for place in np.ndindex(found.shape):
        found[place] = lib.Symbol(name + "".join(f"_{k}" for k in place), real=True)
    return found


def each(function):
    """Return a function of one symbol as one of all entries of an array."""
    return lambda array: np.array([function(entry) for entry in np.ravel(array)], dtype=object)


def softmax(z):
    """Return the softmax, as sums and powers."""
    powers = each(lib.exp)(z)
    return powers / powers.sum()


def repeated(step):
    """Return a case that does one step n times."""

    def run(x):
        y = x[()]
        for _ in range(n):
            y = step(y)
        return y

    return run


sigmoid = each(lambda z: 1 / (1 + lib.exp(-z)))
CASES = {
    "elementwise": each(lambda x: lib.sin(x) * x**2 + lib.exp(-x)),
    "softmax": lambda x, W: softmax(W @ x),
    "both": lambda W, x: softmax(W @ x),
    "network": lambda x, W, V, b, c: sigmoid(V @ sigmoid(W @ x + b) + c),
    "loop": repeated(lambda y: y * 0.9999 + 0.001),
    "euler": repeated(lambda y: y + lib.sin(y) * 0.001),
}
symbols = [named(name, array) for name, array in zip(shapes(case, n), given, strict=True)]
outputs = [lib.sympify(entry) for entry in np.ravel(CASES[case](*symbols))]
by = [entry for array in differentiated(case, symbols) for entry in np.ravel(array)]
J = lib.Matrix(outputs).jacobian(lib.Matrix(by))
if check:
    flat = [entry for array in symbols for entry in np.ravel(array)]
    at = dict(zip(flat, [float(number) for array in given for number in np.ravel(array)], strict=True))
    numbers = [[float(J[i, j].subs(at)) for j in range(len(by))] for i in range(len(outputs))]
    print((seed(len(outputs)) @ np.array(numbers)).tolist())
