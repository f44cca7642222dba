"""The functions of the language in PyTorch: most are its own, by the same names."""

from __future__ import annotations

from gradcli.ops import Function
from gradcli.scripts.dialect import Dialect

KEYWORDS = {"axis": "dim"}
TEMPLATES = {
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
ATTRIBUTES = {name: f"x.{name}" for name in ("T", "mT", "H", "mH", "data", "real", "values", "indices", "U", "S", "V",
    "Vh", "Q", "R", "eigenvalues", "eigenvectors", "sign", "logabsdet", "solution")}  # fmt: skip


def spelled(function: Function) -> str | None:
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
    TEMPLATES,
    spelled,
    KEYWORDS,
    ATTRIBUTES,
    wraps=True,
    array="torch.tensor(x)",
    stacked="torch.stack(x)",
    integers="x.long()",
    lacks=frozenset(("meshgrid", "floor_divide", "FloatTensor", "LongTensor", "BoolTensor")),
)
