"""What the tests measure gradcli against, and the ways in which they ask it."""

import ast
import contextlib
import io
import json
import math
import os
import tomllib
import warnings
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from gradcli.cli.app import run
from gradcli.cli.output import Environment
from gradcli.engine.graph import Graph, Node
from gradcli.engine.reverse import backward
from gradcli.jacobian.composition import compose
from gradcli.ops.declare import saved_by_torch, saved_here

DATA = Path(__file__).parent / "data"

STEP = 3e-4
"""The step h of the five-point difference below. Its truncation error is h⁴/30 times the fifth derivative; in the
domains of the ops the steepest is x**p, where that is 6e-11 of the derivative itself. Its rounding error is
1.5·2⁻⁵³/h, below 1e-12, of the function's value. So NUMERIC = 1e-8 of the largest entry leaves two digits to spare,
and a rule that is wrong by one part in a million still stands out a hundredfold."""
NUMERIC = 1e-8
EXACT = 1e-11
"""Both routes of gradcli are exact up to the rounding of a few dozen operations."""
ROUNDING = 64 * 2.0**-52
"""What the design allows, times the terms that were added up, where a derivative is a difference."""


def cases(name):
    """Return the facts of a TOML, JSON or JSON lines file, non-finite numbers as floats."""
    text = (DATA / name).read_text(encoding="utf-8")
    if name.endswith(".toml"):
        return tomllib.loads(text)
    return [json.loads(line) for line in text.splitlines()] if name.endswith("l") else json.loads(text)


TORCH = os.environ.get("GRADCLI_REQUIRE_TORCH") == "1" or find_spec("torch") is not None
"""Whether tests ask PyTorch: with that variable they fail where it is not installed."""
needs_torch = pytest.mark.skipif(not TORCH, reason="PyTorch is not installed")


def by_python(program, names):
    """Return the value of the last line of a program of the tests, which Python runs."""
    *body, last = ast.parse(program.replace("; ", "\n")).body
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names that are going out of use, of .T, of broadcasting
        exec(compile(ast.Module(body, []), "program", "exec"), names)  # noqa: S102
        return eval(compile(ast.Expression(last.value), "program", "eval"), names)  # noqa: S307


def by_torch(program, inputs, v_of=np.ones, wrt=None):
    """Return PyTorch's y, and its gradients, zeros where there is none; ``v_of`` gives v for the shape of y."""
    torch = pytest.importorskip("torch")
    tensors = {name: torch.tensor(value, dtype=torch.float64) for name, value in inputs.items()}
    leaves = {name: tensors[name].requires_grad_() for name in wrt or tensors}
    modules = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "np": np, "math": math}
    y = by_python(program, {**modules, **tensors})
    if y.requires_grad:
        y.backward(torch.tensor(v_of(tuple(y.shape)), dtype=y.dtype))
    found = {name: np.zeros(leaf.shape) if leaf.grad is None else leaf.grad.numpy() for name, leaf in leaves.items()}
    return y.detach().numpy(), found


def named(table):
    """Return the parameters of a test: the fields of each row of a table, which is known by its name."""
    return [pytest.param(*row.values(), id=name) for name, row in table.items()]


def portion(items, every):
    """Return the items, all but one of so many marked as slow: ``.ci/run`` takes them all."""
    return [item if k % every == 0 else slow(item) for k, item in enumerate(items)]


def portion_of_rows(rows, every):
    """Return the same of rows, each of them the values of several parameters."""
    return portion([pytest.param(*row) for row in rows], every)


def slow(item):
    """Return an item, or the parameters that it is, marked as slow."""
    if isinstance(item, type(pytest.param())):
        return pytest.param(*item.values, id=item.id, marks=[*item.marks, pytest.mark.slow])
    return pytest.param(item, marks=pytest.mark.slow)


def numbers(nested):
    """Return nested lists, in which non-finite numbers may be words, as an array."""
    if isinstance(nested, list):
        return np.array([numbers(item) for item in nested], dtype=np.float64)
    return np.float64(nested)


def assert_close(got, want, tolerance, what="", besides=0.0):
    """Compare shapes and entries; the tolerance is relative to the largest finite entry, ``besides`` is absolute."""
    got, want = np.asarray(got, dtype=np.float64), np.asarray(want, dtype=np.float64)
    assert got.shape == want.shape, f"{what}: shape {got.shape}, not {want.shape}"
    finite = np.isfinite(want)
    bound = tolerance * np.max(np.abs(want[finite]), initial=0.0) + besides
    np.testing.assert_array_equal(got[~finite], want[~finite], err_msg=what)
    with np.errstate(invalid="ignore"):
        wrong = ~(np.abs(got - want) <= bound) & finite
    assert not np.any(wrong), f"{what}: {got[wrong]} should be {want[wrong]}"


def strict_json(text):
    """Return a document; a bare NaN or Infinity in it is refused."""

    def refuse(word):
        raise ValueError(f"{word} is not JSON")

    return json.loads(text, parse_constant=refuse)


def ask(*args, stdin=""):
    """Run a command line in process and return its exit code, standard output and standard error."""
    out, err = io.StringIO(), io.StringIO()
    code = run(list(args), Environment(stdin=io.StringIO(stdin), stdout=out, stderr=err, variables={}))
    return SimpleNamespace(code=int(code), out=out.getvalue(), err=err.getvalue())


def flags(inputs, calls=(), wrt=None):
    """Return the options that say on the command line what the Python interface takes as arguments."""
    given = [word for name, value in inputs.items() for word in ("--set", f"{name}={json.dumps(value)}")]
    given += [word for v in calls if v is not None for word in ("--v", json.dumps(v))]
    return given + (["--wrt", ",".join(wrt)] if wrt else [])


@contextlib.contextmanager
def tampered(op, **fields):
    """Let an op of the table have other fields for a while, wherever it is held."""
    before = {name: getattr(op, name) for name in fields}
    try:
        change(op, fields)
        yield op
    finally:
        change(op, before)


def change(op, fields):
    """Give an op of the table other fields, and forget what was remembered of it."""
    for name, value in fields.items():
        object.__setattr__(op, name, value)
    saved_here.cache_clear()
    saved_by_torch.cache_clear()


def differentiated(op, values):
    """Return which arguments of an op are differentiated."""
    return [k for k, value in enumerate(values) if op.vjp(k) is not None and type(value) is not int]


def applied(op, values, static):
    """Return the graph of one op, its output, and its differentiable arguments; a plain integer is a constant."""
    graph, moved = Graph(), differentiated(op, values)
    arguments = [
        graph.input(f"x{k}", value[()], active=True) if k in moved else value for k, value in enumerate(values)
    ]
    with np.errstate(all="ignore"):
        output = graph(op, *arguments, **static)
    return graph, output, [argument for argument in arguments if isinstance(argument, Node)]


def reverse_jacobians(graph, output, leaves):
    """Return the Jacobian by each leaf as a matrix: one sweep with a one-hot v gives one row."""
    rows = [backward(graph, output, v.reshape(output.shape), leaves) for v in np.eye(np.size(output.value))]
    return [
        np.array([np.ravel(row[k]) for row in rows]).reshape(len(rows), np.size(leaf.value))
        for k, leaf in enumerate(leaves)
    ]


def symbolic_jacobians(output, leaves):
    """Return by each leaf the Jacobian as a matrix, by sympy's derivatives, and the size of the terms of each entry."""
    found = [compose(output, leaves, 10**7).of[leaf.index] for leaf in leaves]
    return [(jacobian.dense(), replace(jacobian, values=jacobian.sizes).dense()) for jacobian in found]


def difference(f, x, h=STEP):
    """Return the Jacobian of ``f`` at the array ``x`` by five-point central differences."""
    columns = []
    for i in range(x.size):

        def at(t, i=i):
            moved = x.copy()
            moved.flat[i] += t * h
            return np.ravel(np.asarray(f(moved), dtype=np.float64))

        columns.append((8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h))
    return np.array(columns).T


def moved(op, values, k, static):
    """Return the forward of an op as a function of argument k alone."""
    return lambda x: op.forward(*[(x if j == k else value)[()] for j, value in enumerate(values)], **static)


def check_op(op, values, static=None, numeric=True, exact=EXACT):
    """Raise AssertionError unless the rules of an op, its formulas and its forward agree at a point."""
    static, values = static or {}, [np.asarray(value) for value in values]
    graph, output, leaves = applied(op, values, static)
    assert output.active, op.name
    reverse, symbolic = reverse_jacobians(graph, output, leaves), symbolic_jacobians(output, leaves)
    at = [k for k in range(len(values)) if op.vjp(k) is not None]
    for k, by_vjp, (by_sympy, terms) in zip(at, reverse, symbolic, strict=True):
        what = f"{op.name} by argument {k} at {values}"
        assert_close(by_vjp, by_sympy, exact, f"vjp against formula of {what}", ROUNDING * terms)
        if numeric:
            move = moved(op, values, k, static)
            assert_close(
                by_vjp, difference(move, values[k]).reshape(by_vjp.shape), NUMERIC, f"vjp against forward of {what}"
            )
    v, w = (np.random.default_rng(n).uniform(-1, 1, output.shape) for n in (1, 2))
    together, first, second = (backward(graph, output, u, leaves) for u in (2 * v - 3 * w, v, w))
    for total, a, b, by_vjp, leaf in zip(together, first, second, reverse, leaves, strict=True):
        assert_close(total, 2 * a - 3 * b, 1e-10, f"{op.name} is linear in v")
        assert_close(a, (np.ravel(v) @ by_vjp).reshape(leaf.shape), 1e-10, f"{op.name}: v times the rows")
