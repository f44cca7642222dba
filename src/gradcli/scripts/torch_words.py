"""The functions of the language in PyTorch: most are its own, by the same names."""

from __future__ import annotations

from gradcli.ops import Function
from gradcli.scripts.dialect import Dialect

KEYWORDS = {"axis": "dim"}
TEMPLATES = {
    "np.transpose": "x.permute(axes)", "cbrt": "torch.sign(x)*torch.abs(x)**(1/3)", "dot": "torch.matmul(x, other)",
    "np.cumsum": "torch.cumsum(x, dim)", "np.cumprod": "torch.cumprod(x, dim)", "np.sort": "torch.sort(x, dim).values",
    "np.argsort": "torch.argsort(x, dim)", "np.var": "torch.var(x, dim, correction=ddof, keepdim=keepdim)",
    "np.std": "torch.std(x, dim, correction=ddof, keepdim=keepdim)", "np.ascontiguousarray": "x",
    "np.take": "torch.take(x, indices)", "float": "x", "double": "x", "cpu": "x", "contiguous": "x.contiguous()",
    "detach": "x.detach()", "view_as": "x.view_as(other)", "expand_as": "x.expand_as(other)",
    "expand": "torch.broadcast_to(x, shape)", "reshape": "torch.reshape(x, shape)",
    "unfold": "x.unfold(dimension, size, step)", "Tensor.where": "x.where(mask, other)", "repeat": "x.repeat(reps)",
    "permute": "x.permute(dims)", "flip": "torch.flip(x, dims)", "t": "x.t()", "unsqueeze": "x.unsqueeze(dim)",
    "transpose": "torch.transpose(x, dim0, dim1)", "softmax": "torch.softmax(x, 0 if x.dim() in (0, 1, 3) else 1) | torch.softmax(x, dim)",
    "log_softmax": "torch.log_softmax(x, 0 if x.dim() in (0, 1, 3) else 1) | torch.log_softmax(x, dim)",
    "jax.nn.softplus": "F.softplus(x)",
    "jax.nn.softmax": "torch.softmax(x, axis)", "jax.nn.log_softmax": "torch.log_softmax(x, axis)",
    "jax.nn.squareplus": "(x + torch.sqrt(x**2 + b))/2", "tensor": "torch.as_tensor(data)",
    "as_tensor": "torch.as_tensor(data)", "max": "torch.max(x, dim, keepdim)", "min": "torch.min(x, dim, keepdim)",
    "clone": "x.clone()", "arange": "torch.arange(start, end, step)",
}  # fmt: skip
NAMES = {"bce": "F.binary_cross_entropy", "inv": "torch.linalg.inv", "vecdot": "torch.linalg.vecdot"}
FIRST = ("torch.", "torch.linalg.", "torch.special.", "F.")
ATTRIBUTES = {name: f"x.{name}" for name in ("T", "mT", "H", "mH", "data", "real", "values", "indices", "U", "S", "V",
    "Vh", "Q", "R", "eigenvalues", "eigenvectors", "sign", "logabsdet", "solution")}  # fmt: skip


def spelled(function: Function) -> str | None:
    """Return the name that PyTorch has for a function, the shortest there is."""
    if function.name in NAMES:
        return NAMES[function.name]
    own = [name for prefix in FIRST for name in function.spellings if name.startswith(prefix)]
    return min(own, key=lambda name: (name.count("."), function.spellings.index(name)), default=None)


TORCH = Dialect(
    "torch",
    "torch",
    ("import torch", "import torch.nn.functional as F"),
    TEMPLATES,
    spelled,
    KEYWORDS,
    ATTRIBUTES,
    wraps=True,
    array="torch.tensor(x)",
    stacked="torch.stack(x)",
    integers="x.long()",
)
