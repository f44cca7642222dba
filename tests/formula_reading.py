"""Formulas and index rules as Python and numpy alone read them."""

import ast
import itertools
import math
import re
from functools import partial
from typing import NamedTuple

import numpy as np

import gradcli
from definitions import DEFINITIONS, elementwise
from oracles import assert_close, numbers
from records import OPS

SUBSCRIPT = re.compile(r"([A-Za-z_]\w*)\[([^\]]*)\]")
LEFT = re.compile(r"d(\w+?)(?:\[([^\]]*)\])?/d(\w+)(?:\[([^\]]*)\])?(?: \([^()]* fixed\))?")
FACTOR = r"d\w+/d\w+(?: \([^()]* fixed\))?"
CHAIN = re.compile(rf"d\w+/d\w+ = ({FACTOR}(?: [@+] {FACTOR})*)")
TOLERANCE = 1e-11
"""Formulas may cancel where the engine's rules do not; a wrong one is off by far more."""


def single(values):
    """Return values as numpy takes ``dim``, which formulas write where numpy says ``axis``."""
    return {("axis" if k == "dim" else "keepdims" if k == "keepdim" else k): v for k, v in values.items()}


def reducing(f):
    return lambda x, **options: f(x, **single(options))


def norm(x, p=2.0, **options):
    return np.sum(np.abs(x) ** p, **single(options)) ** (1 / p)


def std(x, correction=1.0, **options):
    return np.std(x, ddof=correction, **single(options))


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


def joined(items):
    """Return a list as an array, and as it is where its parts have shapes of their own, as those of cat may."""
    same = len({np.shape(item) for item in items}) == 1
    return np.array(items, dtype=np.float64) if same else items


def svd(x):
    """Return U, S and V of singular values, as ``torch.svd`` does."""
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    return Parts(u, s, np.swapaxes(vh, -1, -2))


class Parts(NamedTuple):
    """The arrays of a singular value decomposition."""

    U: np.ndarray
    S: np.ndarray
    V: np.ndarray


erf = np.vectorize(math.erf)
sigmoid = lambda x: 1 / (1 + np.exp(-x))  # noqa: E731
OWN_NAMES = ["sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "expm1", "exp2", "log", "log2", "log10", "log1p",
             "sqrt", "cbrt", "square", "reciprocal", "sinc", "hypot", "logaddexp", "abs", "sign", "floor", "ceil",
             "trunc", "round", "heaviside", "maximum", "minimum", "where", "pi", "isnan", "float64"]  # fmt: skip
DEFINED = {OPS[name].text.spelled or name: partial(elementwise, name) for name in DEFINITIONS if name in OPS}
"""Functions by their definitions, where numpy has no shorter way to them."""
WORDS = DEFINED | {name: getattr(np, name) for name in OWN_NAMES} | {
    "array": joined,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2, "asinh": np.arcsinh,
    "acosh": np.arccosh, "atanh": np.arctanh, "erf": erf, "rsqrt": lambda x: 1 / np.sqrt(x), "e": math.e,
    "xlogy": lambda x, y: x * np.log(y), "sigmoid": sigmoid, "relu": lambda x: np.maximum(x, 0), "gelu": gelu,
    "logsigmoid": lambda x: np.log(sigmoid(x)), "silu": lambda x: x * sigmoid(x),
        "softsign": lambda x: x / (1 + np.abs(x)),
    "leaky_relu": lambda x, slope=0.01: np.where(x > 0, x, slope * x),
    "elu": lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(x)),
    "softplus": lambda x, beta=1.0, threshold=20.0: np.where(beta * x > threshold, x,
        np.log1p(np.exp(beta * x)) / beta),
    "clip": np.clip,
    "div": lambda a, b, rounding_mode: np.floor(a / b) if rounding_mode == "floor" else np.trunc(a / b),
    "clamp_min": np.maximum, "clamp_max": np.minimum, "remainder": lambda a, b: a - b * np.floor(a / b),
    "sum": reducing(np.sum), "mean": reducing(np.mean), "prod": reducing(np.prod), "amax": reducing(np.max),
    "amin": reducing(np.min), "max": reducing(np.max), "min": reducing(np.min), "any": reducing(np.any),
    "all": reducing(np.all), "argmax": reducing(np.argmax), "argmin": reducing(np.argmin), "median": median,
    "var": var, "std": std, "norm": norm, "logsumexp": logsumexp, "softmax": softmax,
    "log_softmax": lambda x, dim=-1: np.log(softmax(x, dim)),
    "cumsum": lambda x, dim=-1: np.cumsum(x, axis=dim), "cumprod": lambda x, dim=-1: np.cumprod(x, axis=dim),
    "sort": ordered, "einsum": np.einsum, "outer": np.outer, "dot": np.dot,
    "det": np.linalg.det, "inv": np.linalg.inv, "solve": np.linalg.solve, "math": math, "svd": svd,
    "svdvals": lambda x: np.linalg.svd(x, compute_uv=False), "slogdet": np.linalg.slogdet, "eigh": np.linalg.eigh,
    "eigvalsh": np.linalg.eigvalsh, "qr": np.linalg.qr, "cholesky": np.linalg.cholesky,
    "pinv": lambda x, **_: np.linalg.pinv(x),
    "reshape": lambda x, shape: np.reshape(x, shape), "permute": lambda x, dims: np.transpose(x, dims),  # noqa: PLW0108
    "expand": lambda x, shape: np.broadcast_to(x, shape), "flip": lambda x, dims: np.flip(x, dims),  # noqa: PLW0108
    "roll": lambda x, shifts, dim: np.roll(x, shifts, dim), "tile": lambda x, reps: np.tile(x, reps),  # noqa: PLW0108
    "repeat_interleave": lambda x, repeats, dim=None: np.repeat(x, repeats, dim),
    "diagonal": lambda x, offset=0: np.diagonal(x, offset),
    "diag": lambda x, diagonal=0: np.diag(x, diagonal), "tril": lambda x, diagonal=0: np.tril(x, diagonal),
    "triu": lambda x, diagonal=0: np.triu(x, diagonal), "clone": np.array,
    "stack": lambda xs, dim: np.stack(list(xs), dim), "cat": lambda xs, dim=0: np.concatenate(list(xs), dim),
    "histc": lambda x, bins, min, max: np.histogram(x, bins, (min, max))[0] * 1.0,  # noqa: A006
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


def letters_of(index):
    return [part.strip() for part in index.split(",")] if index else []


def lengths_of(rule, shapes, both):
    """Return how far each letter of a rule runs: the axes that it indexes say so."""
    found = {}
    for name, index in [*SUBSCRIPT.findall(rule), *both]:
        key = name if name in shapes else name.removeprefix("d")
        for letter, length in zip(letters_of(index), shapes.get(key, ()), strict=False):
            if letter.isalpha():
                found[letter] = max(found.get(letter, 1), length)
    return found


def evaluated(rule, names):
    """Return what a rule says of a derivative: the names of its two ends and all its entries."""
    left, _, right = rule.partition(" = ")
    right = re.sub(r"^1 where (.*), else 0$", r"where(\1, 1, 0)", right)
    shapes = {name: np.shape(value) for name, value in names.items()}
    above, rows, below, columns = LEFT.fullmatch(left).groups()
    lengths = lengths_of(right, shapes, [(above, rows), (below, columns)])
    tree = ast.fix_missing_locations(AsArrays().visit(ast.parse(right, mode="eval")))
    code = compile(tree, rule, "eval")
    found = np.zeros(shapes[above] + shapes[below])
    for values in itertools.product(*map(range, lengths.values())):
        at = dict(zip(lengths, values, strict=True))
        place = tuple(at[part] if part in at else int(part) for part in letters_of(rows) + letters_of(columns))
        found[place] += eval(code, {"__builtins__": {}}, {**WORDS, **names, **at})  # noqa: S307
    return (above, below), found.reshape(np.size(names[above]), -1)


def jacobian_of(rules, names):
    """Return the matrix that the rules of one Jacobian make together."""
    chain = CHAIN.fullmatch(rules[0]) if len(rules) > 1 else None
    blocks = {}
    for rule in rules[1:] if chain else rules:
        ends, block = evaluated(rule, names)
        blocks[ends] = blocks.get(ends, 0) + block
    if not chain:
        [block] = blocks.values()
        return block
    factors = [tuple(part[1:].split("/d")) for part in chain[1].split(" @ ")]
    return np.linalg.multi_dot([blocks[ends] for ends in factors]) if len(factors) > 1 else blocks[factors[0]]
