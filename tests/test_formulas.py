"""Every formula in an answer is true: Python evaluates it to the number beside it, and so does gradcli."""

from __future__ import annotations

import ast
import math

import numpy as np
import pytest

import gradcli
from counting import calls
from oracles import assert_close, cases, numbers, portion
from programs import PROGRAMS, inputs_of

TOLERANCE = 1e-11
"""Formulas may cancel where the engine's rules do not; a wrong one is off by far more."""


def single(values):
    """Return values as numpy takes ``dim``, which formulas write where numpy says ``axis``."""
    return {("axis" if k == "dim" else "keepdims" if k == "keepdim" else k): v for k, v in values.items()}


def reducing(f):
    return lambda x, **options: f(x, **single(options))


def norm(x, p=2.0, **options):
    return np.sum(np.abs(x) ** p, **single(options)) ** (1 / p)


def softmax(x, dim=-1):
    return np.exp(x) / np.sum(np.exp(x), axis=dim, keepdims=True)


def logsumexp(x, **options):
    return np.log(np.sum(np.exp(x), **single(options)))


def var(x, correction=1.0, **options):
    return np.var(x, ddof=correction, **single(options))


def median(x, dim=None, keepdim=False):
    return np.quantile(x, 0.5, axis=dim, keepdims=keepdim, method="lower")


def ordered(x, dim=-1, descending=False):
    return -np.sort(-x, axis=dim) if descending else np.sort(x, axis=dim)


def gelu(x, approximate="none"):
    inner = np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)) if approximate == "tanh" else erf(x / math.sqrt(2))
    return x * (1 + inner) / 2


erf = np.vectorize(math.erf)
sigmoid = lambda x: 1 / (1 + np.exp(-x))  # noqa: E731
OWN_NAMES = ["sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "expm1", "exp2", "log", "log2", "log10", "log1p",
             "sqrt", "cbrt", "square", "reciprocal", "sinc", "hypot", "logaddexp", "abs", "sign", "floor", "ceil",
             "trunc", "round", "heaviside", "maximum", "minimum", "where", "pi", "isnan", "float64"]  # fmt: skip
WORDS = {name: getattr(np, name) for name in OWN_NAMES} | {
    "array": lambda items: np.array(items, dtype=np.float64),
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2, "asinh": np.arcsinh,
    "acosh": np.arccosh, "atanh": np.arctanh, "erf": erf, "rsqrt": lambda x: 1 / np.sqrt(x), "e": math.e,
    "xlogy": lambda x, y: x * np.log(y), "sigmoid": sigmoid, "relu": lambda x: np.maximum(x, 0), "gelu": gelu,
    "logsigmoid": lambda x: np.log(sigmoid(x)), "silu": lambda x: x * sigmoid(x),
        "softsign": lambda x: x / (1 + np.abs(x)),
    "leaky_relu": lambda x, slope=0.01: np.where(x > 0, x, slope * x),
    "elu": lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(x)),
    "softplus": lambda x, beta=1.0, threshold=20.0: np.where(beta * x > threshold, x,
        np.log1p(np.exp(beta * x)) / beta),
    "clamp_min": np.maximum, "clamp_max": np.minimum, "remainder": lambda a, b: a - b * np.floor(a / b),
    "sum": reducing(np.sum), "mean": reducing(np.mean), "prod": reducing(np.prod), "amax": reducing(np.max),
    "amin": reducing(np.min), "max": reducing(np.max), "min": reducing(np.min), "any": reducing(np.any),
    "all": reducing(np.all), "argmax": reducing(np.argmax), "argmin": reducing(np.argmin), "median": median, "var": var,
    "norm": norm, "logsumexp": logsumexp, "softmax": softmax, "log_softmax": lambda x, dim=-1: np.log(softmax(x, dim)),
    "cumsum": lambda x, dim=-1: np.cumsum(x, axis=dim), "cumprod": lambda x, dim=-1: np.cumprod(x, axis=dim),
    "sort": ordered, "einsum": np.einsum, "det": np.linalg.det, "inv": np.linalg.inv, "solve": np.linalg.solve,
    "reshape": lambda x, shape: np.reshape(x, shape), "permute": lambda x, dims: np.transpose(x, dims),  # noqa: PLW0108
    "expand": lambda x, shape: np.broadcast_to(x, shape), "flip": lambda x, dims: np.flip(x, dims),  # noqa: PLW0108
    "roll": lambda x, shifts, dim: np.roll(x, shifts, dim), "tile": lambda x, reps: np.tile(x, reps),  # noqa: PLW0108
    "repeat_interleave": lambda x, repeats, dim=None: np.repeat(x, repeats, dim),
    "diagonal": lambda x, offset=0: np.diagonal(x, offset),
    "diag": lambda x, diagonal=0: np.diag(x, diagonal), "tril": lambda x, diagonal=0: np.tril(x, diagonal),
    "triu": lambda x, diagonal=0: np.triu(x, diagonal), "clone": np.array, "stack": lambda xs,
        dim: np.stack(list(xs), dim),
}  # fmt: skip


class AsArrays(ast.NodeTransformer):
    """Lets Python read lists as arrays and numbers as doubles; indices, options and lists of arrays stay."""

    def visit_List(self, node):
        return ast.Call(ast.Name("array", ast.Load()), [self.generic_visit(node)], [])

    def visit_Constant(self, node):
        return ast.Call(ast.Name("float64", ast.Load()), [node], []) if type(node.value) in (int, float) else node

    def visit_Subscript(self, node):
        return ast.Subscript(self.visit(node.value), node.slice, ast.Load())

    def visit_keyword(self, node):
        return node


def python(text, names):
    """Return what Python makes of a formula."""
    tree = ast.fix_missing_locations(AsArrays().visit(ast.parse(text, mode="eval")))
    with np.errstate(all="ignore"):
        return np.asarray(eval(compile(tree, text, "eval"), {"__builtins__": {}}, {**WORDS, **names}))  # noqa: S307


def pasted(definitions, text, inputs):
    """Return what gradcli makes of a formula, its definitions written before it."""
    f = gradcli.function("\n".join([*(f"{name} = {body}" for name, body in definitions.items()), text]))
    return f.value(**{name: inputs[name] for name in f.inputs})


def leaves(nested):
    return [leaf for item in nested for leaf in leaves(item)] if isinstance(nested, list) else [nested]


def check_formulas(document, paste=True):
    """Evaluate every formula of a document both ways; return how many there were."""
    inputs = {name: numbers(value["value"]) for name, value in document["inputs"].items()}
    output, jacobians = document["output"], document["jacobian"]
    definitions = {name: text for j in jacobians.values() for name, text in j["definitions"].items()}
    names = dict(inputs)
    for name, text in definitions.items():
        assert name not in inputs
        names[name] = python(text, names)
    blocks = [("y", output["symbolic"], output["value"])]
    blocks += [
        (f"J by {name}", j["symbolic"], j["numeric"]) for name, j in jacobians.items() if j["symbolic"] is not None
    ]
    count = 0
    for what, formulas, values in blocks:
        if formulas is None:
            continue
        texts, wanted = leaves(formulas), numbers(values).ravel()
        assert_close(np.array([python(text, names) for text in texts]).ravel(), wanted, TOLERANCE, f"{what}: {texts}")
        if paste:
            got = np.array([pasted(definitions, text, inputs) for text in texts]).ravel()
            assert_close(got, wanted, TOLERANCE, f"{what}, pasted: {texts}")
        count += len(texts)
    return count


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


def answer(program, inputs):
    y = gradcli.function(program).value(**inputs)
    return gradcli.explain(program, v=np.ones(y.shape), inputs=inputs).to_dict()


@pytest.mark.parametrize("program", NAMED)
def test_named_intermediates(program):
    document = answer(program, NAMED[program])
    assert check_formulas(document) > 0
    assert document["agreement"]["agree"]
    assert all(j["symbolic"] is not None for j in document["jacobian"].values())


@pytest.mark.parametrize("case", cases("seed_cases.json"), ids=lambda case: case["id"])
def test_the_first_examples(case):
    document = gradcli.explain(
        case["expression"], calls=[c["v"] for c in case["calls"]], wrt=case["wrt"], inputs=case["inputs"]
    ).to_dict()
    assert document["output"]["symbolic"] is not None
    assert check_formulas(document) > 1


@pytest.mark.parametrize(
    "row", portion(cases("torch_cases.jsonl"), 4), ids=lambda row: f"{row['id']}: {row['expr']}"[:60]
)
def test_random_programs(row):
    document = gradcli.explain(row["expr"], v=row["v"], inputs={"x": row["x"]}).to_dict()
    assert document["jacobian"]["x"]["symbolic"] is not None
    check_formulas(document)


@pytest.mark.parametrize("program", portion([program for programs in PROGRAMS.values() for program in programs], 2))
def test_every_function(program):
    document = answer(program, inputs_of(program, gradcli.function(program).inputs))
    assert document["agreement"]["agree"]
    check_formulas(document)


GROWING = {
    "fifteen squares": "for i in range(15):\n    x = x*x/2 + x/2\nx",
    "doublings": "for i in range(64):\n    x = x + x\nx",
    "a hundred layers": "for i in range(100):\n    x = tanh(x*x + x)\nx",
    "powers of powers": "for i in range(20):\n    x = (x**2 + 1)**0.5*x/2\nx",
    "products of sums": "for i in range(12):\n    x = (x + 1)*(x - 1)/(x*x + 1)\nx",
}


@pytest.mark.parametrize("program", GROWING.values(), ids=GROWING)
@pytest.mark.parametrize("x", [0.9, [0.9, -0.4, 0.2]], ids=["scalar", "vector"])
def test_formulas_that_would_explode_stay_short_and_cheap(program, x):
    found = []
    assert calls(lambda: found.append(answer(program, {"x": x}))) < 1_000_000
    [document] = found
    j = document["jacobian"]["x"]
    texts = [*leaves(j["symbolic"] or []), *leaves(document["output"]["symbolic"] or []), *j["definitions"].values()]
    assert max(map(len, texts), default=0) < 700 * np.size(x)
    assert document["agreement"]["verdict"] in ("agree", "digits-lost")  # twelve turns in doubles may end at -1
    check_formulas(document, paste=sum(map(len, texts)) < 5000)  # more is over the budget of one program
