"""What a library has in the place of the language's functions, displays and attributes.

The functions of the language in numpy, and in jax.numpy, which has the same words for most.
The functions of the language in jax: those of numpy, under its name, and what jax.nn and jax.scipy have besides.
The functions of the language in PyTorch: most are its own, by the same names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np

from gradcli.ops import Function
from gradcli.scripts import helpers


@dataclass(frozen=True, slots=True)
class Dialect:
    """The words of a library.

    - ``library``: its name on the command line; ``module``: how a script calls it.
    - ``imports``: the first lines of a script.
    - ``templates``: calls by the name of the language's function, in which its parameters stand for its arguments:
      ``"np.linalg.norm(x, ord=p)"``. One that takes all the rest is a tuple.
    - ``spelled``: the library's own name of any other function, None where it has none.
    - ``keywords``: parameters that the library calls otherwise; ``attributes``: as templates of ``x``.
    - ``wraps``: whether functions refuse plain numbers.
    - ``array``, ``stacked``, ``integers``: templates for numbers, for items that are computed, for positions.
    - ``listed``: whether an index may be a list.
    - ``options``: keywords that its functions have; empty: all that the language has.
    - ``lacks``: functions that it has under this name, and that mean something else there.
    """

    library: str
    module: str
    imports: tuple[str, ...]
    templates: Mapping[str, str]
    spelled: Callable[[Function], str | None]
    keywords: Mapping[str, str] = field(default_factory=dict)
    attributes: Mapping[str, str] = field(default_factory=dict)
    wraps: bool = False
    array: str = "np.array(x)"
    stacked: str = "np.array(x)"
    integers: str = "x.astype(int)"
    listed: bool = True
    options: frozenset[str] = frozenset()
    lacks: frozenset[str] = frozenset()


def expression(text: str) -> ast.expr:
    """Return the syntax of an expression of our own."""
    return ast.parse(text, mode="eval").body


class Fill(ast.NodeTransformer):
    """Puts arguments in the place of the names of parameters."""

    def __init__(self, arguments: Mapping[str, ast.expr]) -> None:
        self.arguments = arguments

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return the argument of a name; any other name is one of the library's."""
        return self.arguments.get(node.id, node)


def filled(template: str, **arguments: ast.expr) -> ast.expr:
    """Return a template with arguments in the place of its names."""
    return Fill(arguments).visit(expression(template))  # type: ignore[no-any-return]


PLAIN_SYNTAX = (ast.Constant, ast.UnaryOp, ast.BinOp, ast.IfExp, ast.Compare, ast.operator, ast.unaryop, ast.cmpop,
    ast.Name, ast.Load, ast.expr_context)  # fmt: skip
"""What plain numbers of Python are made of."""
DEFAULT = "default "
"""Marks the default of a parameter, whose name follows: nobody gave it."""


def names_of(template: str) -> set[str]:
    """Return the names in a template, those of parameters among them."""
    return {node.id for node in ast.walk(expression(template)) if isinstance(node, ast.Name)}


def without_defaults(node: ast.expr) -> ast.expr:
    """Return an expression whose calls leave out what nobody gave and the library takes for granted, too.

    That is None and False, an option of the same name, and any default of a function that the script brings along.
    """
    for call in [part for part in ast.walk(node) if isinstance(part, ast.Call)]:
        own = isinstance(call.func, ast.Name)
        call.keywords = [word for word in call.keywords if not is_left_out(word.value, own, word.arg)]
        while call.args and is_left_out(call.args[-1], own):
            call.args.pop()
    return node


def is_left_out(node: ast.expr, own: bool, name: str | None = None) -> bool:
    """Return whether nobody gave an argument, and the function called has the same default."""
    if not isinstance(node, ast.Constant) or not (node.kind or "").startswith(DEFAULT):
        return False
    return own or node.value is None or node.value is False or node.kind == f"{DEFAULT}{name}"


def leaves_of(node: ast.List | ast.Tuple) -> Iterator[ast.expr]:
    """Yield the items of a display that are no displays."""
    for item in node.elts:
        if isinstance(item, ast.List | ast.Tuple):
            yield from leaves_of(item)
        else:
            yield item


def as_list(node: ast.expr) -> ast.expr:
    """Return a display as lists."""
    if isinstance(node, ast.List | ast.Tuple):
        return ast.List([as_list(item) for item in node.elts], ast.Load())
    return node


def floats(node: ast.expr) -> ast.expr:
    """Return numbers with every integer as the double that it is in the language."""
    if isinstance(node, ast.List | ast.Tuple):
        return ast.List([floats(item) for item in node.elts], ast.Load())
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return ast.Constant(float(node.value))
    if isinstance(node, ast.UnaryOp):
        return ast.UnaryOp(node.op, floats(node.operand))
    return node


# ---- The functions of the language in numpy, and in jax.numpy, which has the same words for most

NUMPY_KEYWORDS = {"dim": "axis", "keepdim": "keepdims", "correction": "ddof", "diagonal": "k", "dim1": "axis1",
    "dim2": "axis2", "steps": "num", "dims": "axes"}  # fmt: skip
NUMPY_TEMPLATES = {
    # Shapes.
    "reshape": "np.reshape(x, shape)", "view_as": "np.reshape(x, np.shape(other))",
    "flatten": "flatten(x, start_dim, end_dim)", "ravel": "np.ravel(x)",
    "expand": "expand(x, shape)", "expand_as": "np.broadcast_to(x, np.shape(other))",
    "squeeze": "np.squeeze(x, dim)", "unsqueeze": "np.expand_dims(x, dim)",
    "permute": "np.transpose(x, dims)", "t": "np.transpose(x)", "adjoint": "np.swapaxes(x, -2, -1)",
    "transpose": "np.transpose(x) | np.swapaxes(x, dim0, dim1)", "swapdims": "np.swapaxes(x, dim0, dim1)",
    "np.transpose": "np.transpose(x, axes)", "flip": "np.flip(x, dims or None)", "clone": "np.copy(x)",
    "roll": "np.roll(x, shifts, dim)", "repeat": "np.tile(x, reps)", "cat": "np.concatenate(tensors, dim)",
    "stack": "np.stack(tensors, dim)", "movedim": "np.moveaxis(x, source, destination)", "contiguous": "x",
    "narrow": "np.take(x, np.arange(start, start + length), axis=dim)", "select": "np.take(x, index, axis=dim)",
    "repeat_interleave": "np.repeat(x, repeats, axis=dim)",
    # Making.
    "zeros": "np.zeros(shape)", "ones": "np.ones(shape)", "full": "np.full(shape, fill_value, dtype=float)",
    "eye": "np.eye(n, m)", "arange": "np.arange(start) | np.arange(start, end) | np.arange(start, end, step)",
    "linspace": "np.linspace(start, end, steps)",
    "zeros_like": "np.zeros_like(x, dtype=float)", "ones_like": "np.ones_like(x, dtype=float)",
    "full_like": "np.full_like(x, fill_value, dtype=float)", "tensor": "np.array(data)",
    "as_tensor": "np.asarray(data)", "float": "x", "np.ascontiguousarray": "x", "double": "x", "cpu": "x",
    "detach": "x",
    # Reductions.
    "sum": "np.sum(x, axis=dim, keepdims=keepdim)", "mean": "np.mean(x, axis=dim, keepdims=keepdim)",
    "prod": "np.prod(x, axis=dim, keepdims=keepdim)", "amax": "np.max(x, axis=dim, keepdims=keepdim)",
    "amin": "np.min(x, axis=dim, keepdims=keepdim)", "max": "np.max(x) | max_along(x, dim, keepdim)",
    "min": "np.min(x) | min_along(x, dim, keepdim)", "sort": "sort(x, dim, descending)",
    "max of two": "np.maximum(x, dim)", "min of two": "np.minimum(x, dim)",
    "argsort": "sort(x, dim, descending).indices", "msort": "np.sort(x, axis=0)",
    "argmax": "np.argmax(x, axis=dim, keepdims=keepdim)", "argmin": "np.argmin(x, axis=dim, keepdims=keepdim)",
    "any": "np.any(x, axis=dim, keepdims=keepdim)", "all": "np.all(x, axis=dim, keepdims=keepdim)",
    "var": "var(x, dim, unbiased, keepdim, correction)", "std": "std(x, dim, unbiased, keepdim, correction)",
    "np.var": "np.var(x, axis=dim, ddof=ddof, keepdims=keepdim)", "np.median": "np.median(x, axis=dim)",
    "np.std": "np.std(x, axis=dim, ddof=ddof, keepdims=keepdim)", "np.sort": "np.sort(x, axis=dim)",
    "norm": "norm(x, p, dim, keepdim)", "linalg.norm": "np.linalg.norm(x, ord, dim, keepdim)",
    "linalg.vector_norm": "norm(x, ord, dim, keepdim)", "logsumexp": "logsumexp(x, dim, keepdim)",
    "median": "np.sort(np.ravel(x))[(np.size(x) - 1)//2]", "trace": "np.trace(x)",
    "cumsum": "np.cumsum(x, axis=dim)", "cumprod": "np.cumprod(x, axis=dim)", "np.cumsum": "np.cumsum(x, axis=dim)",
    "np.cumprod": "np.cumprod(x, axis=dim)", "diff": "np.diff(x, n, dim)",
    # Products.
    "matmul": "x @ other", "mm": "x @ other", "mv": "x @ other", "bmm": "x @ other", "torch.dot": "x @ other",
    "dot": "np.dot(x, other)", "vdot": "np.vdot(x, other)", "outer": "np.outer(x, other)",
    "addmm": "beta*x + alpha*(mat1 @ mat2)", "addmv": "beta*x + alpha*(mat @ vec)",
    "dist": "norm(x - other, p)",
    # Entry by entry.
    "rsqrt": "1/np.sqrt(x)", "xlogy": "xlogy(x, other)", "clamp_min": "np.maximum(x, other)",
    "clamp_max": "np.minimum(x, other)", "clip": "np.maximum(x, min) | np.minimum(x, max) | np.clip(x, min, max)",
    "sigmoid": "sigmoid(x)", "relu": "relu(x)",
    "relu6": "np.clip(x, 0, 6)", "hardtanh": "np.clip(x, min_val, max_val)", "logsigmoid": "logsigmoid(x)",
    "silu": "silu(x)", "softsign": "softsign(x)", "leaky_relu": "leaky_relu(x, negative_slope)",
    "elu": "elu(x, alpha)", "softplus": "softplus(x, beta, threshold)", "gelu": "gelu(x, approximate)",
    "erf": "erf(x)", "erfc": "1 - erf(x)", "tanhshrink": "x - np.tanh(x)", "mish": "x*np.tanh(softplus(x))",
    "hardsigmoid": "np.clip(x + 3, 0, 6)/6", "hardswish": "x*np.clip(x + 3, 0, 6)/6", "frac": "x - np.trunc(x)",
    "rsub": "other - alpha*x", "add": "x + other | x + alpha*other",
    "sub": "x - other | x - alpha*other",
    "lerp": "x + weight*(end - x)", "addcmul": "x + value*tensor1*tensor2", "addcdiv": "x + value*tensor1/tensor2",
    "masked_fill": "np.where(mask, value, x)", "Tensor.where": "np.where(mask, x, other)",
    "where": "np.where(condition, x, other)", "round": "np.round(x, decimals)",
    "hardshrink": "np.where(np.abs(x) > lambd, x, 0.0)", "threshold": "np.where(x > threshold, x, value)",
    "softshrink": "np.sign(x)*np.maximum(np.abs(x) - lambd, 0)",
    "celu": "np.where(x > 0, x, alpha*np.expm1(np.minimum(x, 0)/alpha))",
    "jax.nn.softplus": "np.logaddexp(0, x)",
    "one_hot": "one_hot(tensor, num_classes)", "gather": "np.take_along_axis(x, index, axis=dim)",
    "index_select": "np.take(x, index, axis=dim)",
    "masked_select": "x[mask]", "diagflat": "np.diagflat(x, offset)", "logdet": "np.linalg.slogdet(x)[1]",
    # Neural networks.
    "jax.nn.softmax": "softmax(x, axis)", "jax.nn.log_softmax": "log_softmax(x, axis)",
    "jax.nn.logsumexp": "logsumexp(x, axis, keepdims)",
    "linear": "x @ np.transpose(weight) | x @ np.transpose(weight) + bias",
    "layer_norm": "layer_norm(x, normalized_shape, weight, bias, eps)",
    "nll_loss": "reduced(nll_loss(x, target), reduction)",
    "cross_entropy": "reduced(cross_entropy(x, target), reduction)",
    "softmax": "softmax(x, dim)", "log_softmax": "log_softmax(x, dim)", "softmin": "softmax(-x, dim)",
    "mse_loss": "reduced((x - target)**2, reduction)", "l1_loss": "reduced(np.abs(x - target), reduction)",
    "huber_loss": "reduced(huber_loss(x, target, delta), reduction)",
    "bce": "reduced(-(xlogy(target, x) + xlogy(1 - target, 1 - x)), reduction)",
    "binary_cross_entropy_with_logits": "reduced(np.logaddexp(0, x) - x*target, reduction)",
}  # fmt: skip


@cache
def helper_texts(module: str = "np") -> dict[str, str]:
    """Return the text of each helper by its name, with ``module`` in the place of ``np``."""
    source = Path(helpers.__file__).read_text(encoding="utf-8")
    found = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            text = ast.get_source_segment(source, node) or ""
            text = re.sub(r"(\w+): (?:Any|Array|int|bool|str|float)\b(?: (=) )?", r"\1\2", text)
            found[node.name] = re.sub(r"\) -> \w+:", "):", text)
    found["Pair"] = 'Pair = namedtuple("Pair", "values indices")'
    return {name: re.sub(r"\bnp\.", f"{module}.", text) for name, text in found.items()}


def spelled_in_numpy(function: Function) -> str | None:
    """Return the name that numpy has for a function; the table of spellings holds what jax and PyTorch have, too."""
    for name in function.spellings:
        parts = name.split(".")
        if parts[0] == "np" and all(part.isidentifier() for part in parts):
            home = np.linalg if parts[1:-1] == ["linalg"] else np
            if len(parts) == 2 + (home is np.linalg) and hasattr(home, parts[-1]):
                return name
    return None


NUMPY_ATTRIBUTES = {
    "T": "x.T", "mT": "x.mT", "H": "x.T", "mH": "x.mT", "data": "x", "real": "x", "values": "x.values",
    "indices": "x.indices", "eigenvalues": "x.eigenvalues", "eigenvectors": "x.eigenvectors", "U": "x.U", "S": "x.S",
    "Vh": "x.Vh", "Q": "x.Q", "R": "x.R", "sign": "x.sign", "logabsdet": "x.logabsdet",
}  # fmt: skip
OPTIONS = frozenset((
    "axis", "axes", "keepdims", "k", "ddof", "decimals", "axis1", "axis2", "n", "m", "offset", "rtol", "atol",
    "equal_nan", "bins", "prepend", "append", "UPLO", "dx", "ord", "num", "right", "side", "nan", "posinf", "neginf",
    "mode", "method", "weights", "indices_or_sections", "hermitian", "rcond", "constant_values",
))  # fmt: skip
LACKS = frozenset(("meshgrid", "ldexp", "np.gradient", "pinv", "lstsq"))
NUMPY = Dialect(
    "numpy",
    "np",
    ("import numpy as np",),
    NUMPY_TEMPLATES,
    spelled_in_numpy,
    NUMPY_KEYWORDS,
    NUMPY_ATTRIBUTES,
    options=OPTIONS,
    lacks=LACKS,
)


# ---- The functions of the language in jax: those of numpy, under its name, and what jax.nn and jax.scipy

OWN = {
    "relu": "jax.nn.relu(x)", "sigmoid": "jax.nn.sigmoid(x)", "softplus": "softplus(x, beta, threshold)",
    "erf": "jax.scipy.special.erf(x)", "erfc": "jax.scipy.special.erfc(x)", "silu": "jax.nn.silu(x)",
    "lgamma": "jax.scipy.special.gammaln(x)", "digamma": "jax.scipy.special.digamma(x)",
    "xlogy": "jax.scipy.special.xlogy(x, other)", "logit": "jax.scipy.special.logit(x)",
    "detach": "jax.lax.stop_gradient(x)", "gelu": "jax.nn.gelu(x, approximate=approximate == 'tanh')",
    "rsqrt": "jax.lax.rsqrt(x)", "elu": "jax.nn.elu(x, alpha)", "celu": "jax.nn.celu(x, alpha)",
    "bce": "reduced(-(jax.scipy.special.xlogy(target, x) + jax.scipy.special.xlogy(1 - target, 1 - x)), reduction)",
    "where": "jnp.where(condition, x, other)",
}  # fmt: skip


def in_jax(text: str) -> str:
    """Return a text of numpy's with the name that jax has for it."""
    return re.sub(r"\bnp\.", "jnp.", text)


def spelled_in_jax(function: Function) -> str | None:
    """Return the name that jax.numpy has for a function."""
    own = spelled_in_numpy(function)
    return None if own is None else in_jax(own)


JAX_TEMPLATES = {name: in_jax(text) for name, text in NUMPY_TEMPLATES.items()} | OWN
JAX = Dialect(
    "jax",
    "jnp",
    ("import jax", "import jax.numpy as jnp"),
    JAX_TEMPLATES,
    spelled_in_jax,
    NUMPY_KEYWORDS,
    NUMPY_ATTRIBUTES,
    array="jnp.array(x)",
    stacked="jnp.array(x)",
    listed=False,
    options=OPTIONS,
    lacks=LACKS | {"linalg.svd", "svd"},
)


# ---- The functions of the language in PyTorch: most are its own, by the same names

TORCH_KEYWORDS = {"axis": "dim"}
TORCH_TEMPLATES = {
    "np.transpose": "x.permute(tuple(reversed(range(x.dim())))) | x.permute(axes)",
    "cbrt": "torch.sign(x)*torch.abs(x)**(1/3)", "dot": "x*other if x.dim() == 0 or other.dim() == 0 else x @ other",
    **{name: f"torch.{name.removeprefix('np.')}(x.flatten(), 0) | torch.{name.removeprefix('np.')}(x, dim)"
       for name in ("cumsum", "cumprod", "np.cumsum", "np.cumprod")},
    "logsumexp": "torch.logsumexp(x.flatten(), 0) | torch.logsumexp(x, dim, keepdim)",
    "np.sort": "torch.sort(x, dim).values",
    "np.argsort": "torch.argsort(x, dim)", "np.var": "torch.var(x, dim, correction=ddof, keepdim=keepdim)",
    "np.std": "torch.std(x, dim, correction=ddof, keepdim=keepdim)", "np.ascontiguousarray": "x",
    "np.trace": "torch.trace(x)",
    "np.take": "torch.take(x, indices)", "float": "x", "double": "x", "cpu": "x", "contiguous": "x.contiguous()",
    "detach": "x.detach()", "view_as": "x.view_as(other)", "expand_as": "x.expand_as(other)",
    "expand": "torch.broadcast_to(x, shape)", "reshape": "torch.reshape(x, shape)",
    "unfold": "x.unfold(dimension, size, step)", "Tensor.where": "x.where(mask, other)", "repeat": "x.repeat(reps)",
    "permute": "x.permute(dims)", "flip": "torch.flip(x, dims or tuple(range(x.dim())))", "t": "x.t()",
    "unsqueeze": "x.unsqueeze(dim)",
    "transpose": "torch.transpose(x, dim0, dim1)",
    "softmax": "torch.softmax(x, 0 if x.dim() in (0, 1, 3) else 1) | torch.softmax(x, dim)",
    "log_softmax": "torch.log_softmax(x, 0 if x.dim() in (0, 1, 3) else 1) | torch.log_softmax(x, dim)",
    "jax.nn.softplus": "F.softplus(x)",
    "jax.nn.softmax": "torch.softmax(x, dim=axis)", "jax.nn.log_softmax": "torch.log_softmax(x, dim=axis)",
    "tensor": "torch.as_tensor(data)",
    "as_tensor": "torch.as_tensor(data)", "max": "torch.max(x, dim, keepdim)", "min": "torch.min(x, dim, keepdim)",
    "roll": "torch.roll(x, shifts, dim)", "full": "fill_value*torch.ones(shape)",
    "full_like": "fill_value*torch.ones_like(x)", "cond": "torch.linalg.cond(x)",
    "vdot": "x.flatten() @ other.flatten()",
    "linalg.cross": "torch.linalg.cross(*torch.broadcast_tensors(x, other), dim=dim)",
    "solve_triangular": "torch.linalg.solve_triangular(A, B, upper=upper, left=left, unitriangular=unitriangular)",
    "nll_loss": "F.nll_loss(x, target.long(), weight=weight, ignore_index=ignore_index, reduction=reduction)",
    "cross_entropy": "F.cross_entropy(x, target if target.shape == x.shape else target.long(), weight=weight, "
    "ignore_index=ignore_index, reduction=reduction, label_smoothing=label_smoothing)",
    "multi_margin_loss": "F.multi_margin_loss(x, target.long(), p=p, margin=margin, weight=weight, "
    "reduction=reduction)",
    "multilabel_margin_loss": "F.multilabel_margin_loss(x, target.long(), reduction=reduction)",
    "max of two": "torch.maximum(x, dim)", "min of two": "torch.minimum(x, dim)",
    "linalg.qr": "torch.linalg.qr(x)", "linalg.svd": "torch.linalg.svd(x, full_matrices=full_matrices)",
    "vander": "torch.linalg.vander(x, N=N).flip(1) | torch.linalg.vander(x, N=N).flip(1) | "
    "(torch.linalg.vander(x, N=N) if increasing else torch.linalg.vander(x, N=N).flip(1))",
    "clone": "x.clone()", "one_hot": "F.one_hot(tensor, num_classes).double()",
    "arange": "torch.arange(start) | torch.arange(start, end) | torch.arange(start, end, step)",
}  # fmt: skip
NAMES = {"bce": "F.binary_cross_entropy", "inv": "torch.linalg.inv", "vecdot": "torch.linalg.vecdot",
    "dropout": "F.dropout"}  # fmt: skip
FIRST = ("torch.", "F.")
TORCH_ATTRIBUTES = {name: f"x.{name}" for name in ("T", "mT", "H", "mH", "data", "real", "values", "indices", "U", "S",
    "V", "Vh", "Q", "R", "eigenvalues", "eigenvectors", "sign", "logabsdet", "solution")}  # fmt: skip


def spelled_in_torch(function: Function) -> str | None:
    """Return the name that PyTorch has for a function, the shortest there is."""
    if function.name in NAMES:
        return NAMES[function.name]
    first = ("F.", *FIRST) if function.family == "neural" else FIRST
    own = [name for prefix in first for name in function.spellings if name.startswith(prefix)]
    return next(iter(own), None)


TORCH = Dialect(
    "torch",
    "torch",
    ("import torch", "import torch.nn.functional as F"),
    TORCH_TEMPLATES,
    spelled_in_torch,
    TORCH_KEYWORDS,
    TORCH_ATTRIBUTES,
    wraps=True,
    array="torch.tensor(x)",
    stacked="torch.stack(x)",
    integers="x.long()",
    lacks=frozenset(("meshgrid", "floor_divide", "FloatTensor", "LongTensor", "BoolTensor")),
)
