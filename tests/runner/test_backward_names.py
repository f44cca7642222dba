"""What a grad_fn is called, beside PyTorch: recorded calls, asked again where it is installed.

``python test_backward_names.py`` asks PyTorch for the names of the calls below and writes them.
"""

# ruff: noqa: E501 - a call is a line
# fmt: off

import ast
import json
import re
import warnings

import numpy as np
import pytest

from gradcli.ops.vocabulary import rows
from gradcli.runner.backward_names import backward_name, index_name, write_name
from oracles import DATA, needs_torch

RECORDED = "torch_backward_names.json"
LENGTHS = {"s": (), "x": (3,), "z": (3,), "M": (3, 3), "A": (2, 3), "T": (2, 3, 3), "I": (2, 3, 4, 4)}
"""Tensors that want a gradient; i, j, m and c are indices and a mask, W and b weights, k a target."""
OTHERS = {"i": ("int", [0, 1]), "j": ("int", 1), "m": ("bool", [True, False, True]), "k": ("int", [0, 2, 1]), "n": ("int", [0, 2]), "K": ("int", np.zeros((2, 3))), "L": ("int", np.zeros((2, 4, 4))), "P": ("float", np.full((3, 3), 1/3)), "W": ("float", np.ones((5, 3))), "b": ("float", np.ones(5)), "e": ("float", np.ones(3))}
CALLS = """
2 - x | x - 2 | x - s | 1/x | 2/x | x/2 | x/s | 2**x | x**2 | x**s | s**x | x % 2 | x % s | 2 % x | x//2 | -x | x + 1 | 1 + x | x*2 | 2*x
x @ x | M @ x | x @ M | M @ M | T @ M | T @ T | M @ T | T @ x | x @ T | torch.dot(x, z) | M.mm(M) | M.mv(x) | T.bmm(T) | torch.outer(x, x) | torch.inner(M, M) | x.vdot(x) | torch.kron(M, M)
x.sum() | x.sum(0) | x.sum(dim=0) | M.sum((0, 1)) | M.sum(0, True) | x.mean() | x.mean(0) | x.mean(dim=0) | x.prod() | x.prod(0) | x.std() | x.var(0) | x.norm() | x.norm(p=1) | M.norm(dim=1) | x.logsumexp(0) | x.amax() | M.amin(0) | x.nansum() | x.nanmean()
x.max() | x.max(0)[0] | x.max(s) | torch.max(x, s) | M.max(1, True)[0] | M.min(dim=1)[0] | x.min() | torch.min(x, other=z) | x.median() | x.median(0)[0] | x.sort()[0] | x.sort(stable=True)[0] | x.topk(2)[0] | x.kthvalue(1)[0] | x.cumsum(0) | x.cumprod(0) | x.cummax(0)[0] | torch.diff(x) | torch.quantile(x, 0.5)
x.exp() | x.log1p() | x.expm1() | torch.atan2(x, s) | x.sqrt() | x.rsqrt() | x.reciprocal() | x.square() | x.abs() | x.sign() | x.round() | x.round(decimals=1) | x.erf() | torch.xlogy(x, z) | torch.xlogy(x, 2.) | torch.xlogy(2., x) | torch.float_power(x, 2) | torch.pow(2, x) | torch.deg2rad(x) | x.sigmoid() | torch.special.ndtr(x) | torch.hypot(x, s)
x.clamp(0, 1) | x.clamp(min=0) | x.clamp(min=s) | x.clamp(s, s) | x.clip(max=1) | x.clamp_min(0) | x.clamp_min(s) | x.clamp_max(s) | torch.where(m, x, s) | torch.lerp(x, z, 0.5) | torch.lerp(x, z, s) | torch.fmod(x, 2) | torch.fmod(x, s) | torch.rsub(x, 2) | torch.rsub(x, s) | torch.div(x, 2, rounding_mode="floor") | torch.maximum(x, z) | torch.addcmul(x, x, x) | torch.copysign(x, 2.) | torch.nan_to_num(x) | torch.heaviside(x, s)
x.reshape(3, 1) | x.view(1, 3) | M.flatten() | I.flatten(1) | s.flatten() | M.ravel() | x.unsqueeze(0) | M.squeeze() | M.squeeze(0) | T.squeeze((0, 1)) | M.t() | M.transpose(0, 1) | T.permute(2, 0, 1) | M.expand(2, 3, 3) | x.expand_as(M) | x.repeat(2) | x.tile(2) | x.repeat_interleave(2) | x.movedim(0, 0) | M.swapaxes(0, 1) | x.unflatten(0, (3, 1)) | x.unfold(0, 2, 1) | x.flip(0) | M.fliplr() | M.rot90() | x.roll(1) | x.clone() | x.double() | x.to(torch.float64) | x.type(torch.float64) | torch.broadcast_to(x, (3, 3)) | torch.atleast_2d(x) | torch.atleast_1d(s)
torch.stack([x, x]) | torch.cat([x, x]) | torch.vstack([x, x]) | torch.hstack([x, x]) | torch.column_stack([x, x]) | torch.meshgrid(x, x)[0] | M.chunk(3)[0] | M.split(1)[0] | M.split([1, 2])[0] | M.unbind()[0] | M.narrow(0, 0, 1) | M.select(0, 0) | M.diagonal() | M.diag() | x.diag() | x.diag_embed() | M.tril() | M.trace() | M.gather(0, i[None]) | M.index_select(0, i) | x.take(i) | x.masked_select(m) | x.masked_fill(m, 0.) | x.masked_fill(m, s) | x.scatter(0, i, 1.) | x.scatter(0, i, e) | x.scatter_add(0, i, e) | x.index_add(0, i, e[:2]) | x.index_fill(0, i, 0.) | x.index_put((i,), e[:2])
torch.einsum("i,i", x, x) | torch.einsum("i,j->ij", x, x) | torch.einsum("ij,jk", M, M) | torch.einsum("ij->ji", M) | torch.einsum("ij->i", M) | torch.einsum("ii", M) | torch.einsum("ij,ij->ij", M, M) | torch.einsum("bij,bjk->bik", T, T) | torch.tensordot(M, M, 1)
torch.det(M) | torch.inverse(M) | torch.linalg.solve(M, x) | torch.linalg.eigvalsh(M) | torch.linalg.eigh(M)[0] | torch.linalg.svd(M)[1] | torch.linalg.qr(M)[0] | torch.linalg.norm(x) | torch.linalg.norm(M) | torch.linalg.norm(M, "nuc") | torch.linalg.norm(M, 2) | torch.linalg.vector_norm(x) | torch.linalg.matrix_norm(M) | M.matrix_power(3) | M.matrix_exp() | M.corrcoef() | M.cov() | torch.trapezoid(x) | torch.cdist(M, M) | M.pinverse()
F.relu(x) | torch.relu(x) | F.leaky_relu(x) | F.elu(x) | F.selu(x) | F.gelu(x) | F.silu(x) | F.softplus(x) | F.softsign(x) | F.tanhshrink(x) | F.relu6(x) | F.hardtanh(x) | F.logsigmoid(x) | F.prelu(x, e[:1]) | F.mish(x) | F.softmax(x, 0) | x.softmax(-1) | F.log_softmax(M, dim=1) | F.softmin(x, 0) | F.normalize(M) | F.dropout(x) | F.cosine_similarity(x, z, 0) | F.pairwise_distance(M, M)
F.linear(M, W) | F.linear(M, W, b) | F.linear(x, W) | F.linear(x, W, bias=b) | F.linear(T, W) | F.linear(T, W, b) | F.embedding(i, M) | F.layer_norm(x, (3,)) | F.group_norm(T, 3) | F.batch_norm(A, e, e) | F.conv2d(I, torch.ones(1, 3, 2, 2)) | F.conv1d(T, torch.ones(1, 3, 2)) | F.conv1d(M, torch.ones(1, 3, 2)) | F.max_pool2d(I, 2) | F.avg_pool2d(I, 2) | F.max_pool1d(T, 2) | F.pad(x, (1, 1)) | F.pad(T, (1, 1), mode="reflect") | F.pad(I, (1, 1, 1, 1), "replicate") | F.interpolate(T, scale_factor=2) | F.interpolate(I, scale_factor=2, mode="bilinear") | F.scaled_dot_product_attention(M, M, M) | F.scaled_dot_product_attention(I, I, I)
F.mse_loss(x, e) | F.mse_loss(x, e, reduction="sum") | F.l1_loss(x, e) | F.l1_loss(x, e, reduction="none") | F.smooth_l1_loss(x, e) | F.huber_loss(x, e) | F.binary_cross_entropy(x.sigmoid(), e) | F.binary_cross_entropy_with_logits(x, e) | F.nll_loss(M, k) | F.nll_loss(I, L) | F.cross_entropy(M, k) | F.cross_entropy(M, k, reduction="none") | F.cross_entropy(x, j) | F.cross_entropy(M, P) | F.cross_entropy(M, P, reduction="sum") | F.cross_entropy(M, k, label_smoothing=0.1) | F.cross_entropy(T, K) | F.kl_div(x, e, reduction="batchmean") | F.kl_div(x, e) | F.hinge_embedding_loss(x, e) | F.margin_ranking_loss(x, z, e, reduction="sum") | F.poisson_nll_loss(x, e) | F.gaussian_nll_loss(x, e, e)
x.clone().add_(1) | x.clone().mul_(s) | x.clone().sub_(1) | x.clone().div_(2) | x.clone().pow_(2) | x.clone().neg_() | x.clone().exp_() | x.clone().clamp_(0, 1) | x.clone().zero_() | x.clone().fill_(1.) | x.clone().fill_(s) | x.clone().copy_(x) | x.clone().relu_() | x.clone().masked_fill_(m, 0.) | M.clone().t_() | x.clone().unsqueeze_(0) | x.clone().uniform_() | x.clone().normal_() | torch.bernoulli(x.sigmoid()) | torch.normal(x, 1.) | torch.normal(x, s)
x[0] | x[0:2] | x[:] | x[...] | x[()] | s[None] | x[None] | x[:, None] | x[True] | x[j] | x[i] | x[m] | x[[0, 1]] | x[::2] | M[0, 1] | M[:, 0] | M[0, 1:] | M[1:, 0] | M[:, :] | M[:, 1:] | M[:3] | M[:, :3] | M[0, :] | M[0, 0:3] | M[i] | M[i, i] | M[0, i] | M[:, i] | M[i, 1:] | M[j, 0] | M[M > 0.5] | M[None, 0] | M[0, None] | M[..., 0] | M[..., None] | M[None, i] | M[0:1, 0] | T[0, :, 1] | T[..., m] | M[0, ...] | M[True, 0] | I[:, :, 1:3, None] | I[:, 0, ..., i]
""".strip().replace("\n", " | ").split(" | ")
WRITES = """
x[0] = 1. | x[0] = s | x[:] = 0. | x[...] = 0. | x[:] = s | x[:] = e | x[m] = 0. | x[m] = s | x[i] = 0. | x[i] = e[:2] | x[None] = 1. | x[0:2] = 1. | x[j] = 1. | x[True] = 1. | x[[0, 1]] = 1. | x[x > 1] = 0. | s[...] = 2. | s[()] = 2. | s[()] = s
M[0, 0] = 1. | M[0] = 1. | M[:, 0] = 1. | M[i] = 0. | M[0, i] = 0. | M[i, 0] = 0. | M[m, m] = 0. | M[:, m] = 0. | M[i, i] = s | M[:, i] = s | M[:] = 0. | M[:, :] = 0. | M[0:3] = 0. | M[:] = e | M[:] = P | M[1:, i] = 0. | M[..., 0] = 1.
""".strip().replace("\n", " | ").split(" | ")


def shape_of(name):
    return LENGTHS[name] if name in LENGTHS else np.shape(OTHERS[name][1])


def is_tensor(node):
    return isinstance(node, ast.Name) and (node.id in LENGTHS or node.id in OTHERS)


def argument(node):
    """Return an argument as the table of names takes it."""
    if is_tensor(node):
        return len(shape_of(node.id))
    if isinstance(node, ast.Call | ast.Subscript) and any(is_tensor(one) for one in ast.walk(node)):
        return len(shape_of(next(one.id for one in ast.walk(node) if is_tensor(one))))
    if isinstance(node, ast.Call) and "ones" in ast.unparse(node):
        return len(node.args)
    if isinstance(node, ast.Constant | ast.Tuple | ast.List):
        try:
            value = ast.literal_eval(node)
        except ValueError:
            return None
        return value if isinstance(value, str | tuple | list) else None
    return None


NAMES = {spelling: row.name for row in rows() for spelling in row.spellings} | {f".{m}": row.name for row in rows() for m in row.methods}


def index_of(node):
    """Return an index as ``index_name`` takes it: arrays for tensors, an int for one without axes."""
    if isinstance(node, ast.Tuple):
        return tuple(map(index_of, node.elts))
    if isinstance(node, ast.Slice):
        return slice(*[part and ast.literal_eval(part) for part in (node.lower, node.upper, node.step)])
    if is_tensor(node) and node.id in OTHERS:
        value = np.array(OTHERS[node.id][1])
        return int(value) if value.ndim == 0 else value
    return np.zeros(1) if isinstance(node, ast.Compare) else ast.literal_eval(node)


def ours(text):
    """Return the name for a call, read from its text."""
    node = ast.parse(text).body[0]
    if isinstance(node, ast.Assign):
        target, = node.targets
        value = argument(node.value)
        return write_name(index_of(target.slice), shape_of(target.value.id), value)
    node = node.value
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Call):
        node = node.value  # the first of several results
    if isinstance(node, ast.Subscript):
        return index_name(index_of(node.slice), shape_of(node.value.id))
    if isinstance(node, ast.UnaryOp):
        return backward_name("neg", [argument(node.operand)])
    if isinstance(node, ast.BinOp):
        symbol = {"Sub": "-", "Div": "/", "Pow": "**", "Mod": "%", "FloorDiv": "//", "Add": "+", "Mult": "*", "MatMult": "@"}
        return backward_name(symbol[type(node.op).__name__], [argument(node.left), argument(node.right)])
    spelled, arguments = ast.unparse(node.func), list(map(argument, node.args))
    if not spelled.startswith(("torch.", "F.")):
        arguments = [argument(node.func.value), *arguments]
        spelled = "." + node.func.attr
    named = {one.arg: argument(one.value) for one in node.keywords}
    return backward_name(NAMES.get(spelled, spelled), arguments, named)


def theirs(text):
    """Return what PyTorch calls it: the text that it prints."""
    import torch  # it may not be installed

    env = {"torch": torch, "F": torch.nn.functional}
    env |= {name: (torch.rand(shape) + 0.1).requires_grad_() for name, shape in LENGTHS.items()}
    env |= {name: torch.tensor(value, dtype=getattr(torch, {"int": "int64", "float": "float32", "bool": "bool"}[kind])) for name, (kind, value) in OTHERS.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if text in WRITES:
            env |= {name: env[name].clone() for name in ("s", "x", "M")}
            exec(text, env)  # noqa: S102 - constants
            return shown(env[text[0]])
        return shown(eval(text, env))  # noqa: S307 - constants


def shown(tensor):
    name = re.search(r"grad_fn=<(\w+)>", repr(tensor))
    return name[1] if name else ""


def recorded():
    return json.loads((DATA / RECORDED).read_text(encoding="utf-8"))


@pytest.mark.parametrize("text", [*CALLS, *WRITES])
def test_a_call_is_named_as_pytorch_names_it(text):
    assert ours(text) == recorded()[text]


@needs_torch
def test_what_is_recorded_is_what_pytorch_says():
    assert {text: theirs(text) for text in [*CALLS, *WRITES]} == recorded()


def test_a_call_that_gives_back_its_argument_has_no_name():
    for name, rank in (("flatten", 1), ("contiguous", 2), ("cpu", 1), ("positive", 1), ("atleast_1d", 1), ("atleast_2d", 3)):
        assert backward_name(name, [rank]) == ""


def test_a_view_that_cannot_be_had_is_a_copy():
    assert backward_name("reshape", [2, None], copied=True) == "UnsafeViewBackward0"
    assert backward_name("flatten", [2], copied=True) == "UnsafeViewBackward0"
    assert backward_name("contiguous", [2], copied=True) == "CloneBackward0"


if __name__ == "__main__":
    (DATA / RECORDED).write_text(json.dumps({text: theirs(text) for text in [*CALLS, *WRITES]}, indent=0) + "\n", encoding="utf-8")
