"""The functions of the language in numpy, and in jax.numpy, which has the same words for most."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import numpy as np

from gradcli.ops import Function
from gradcli.scripts import helpers
from gradcli.scripts.dialect import Dialect

KEYWORDS = {"dim": "axis", "keepdim": "keepdims", "correction": "ddof", "diagonal": "k", "dim1": "axis1",
    "dim2": "axis2", "steps": "num", "dims": "axes"}  # fmt: skip
TEMPLATES = {
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


def spelled(function: Function) -> str | None:
    """Return the name that numpy has for a function; the table of spellings holds what jax and PyTorch have, too."""
    for name in function.spellings:
        parts = name.split(".")
        if parts[0] == "np" and all(part.isidentifier() for part in parts):
            home = np.linalg if parts[1:-1] == ["linalg"] else np
            if len(parts) == 2 + (home is np.linalg) and hasattr(home, parts[-1]):
                return name
    return None


ATTRIBUTES = {
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
    "numpy", "np", ("import numpy as np",), TEMPLATES, spelled, KEYWORDS, ATTRIBUTES, options=OPTIONS, lacks=LACKS
)
