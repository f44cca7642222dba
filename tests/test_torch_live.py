"""Values and gradients beside PyTorch's own, at regular points and where they part: kinks, ties, 0·inf, no entries.

``torch_rows`` says what a row is and has those at the edge of the range of doubles.
"""

# ruff: noqa: E501, SIM905 - a row is a line
# fmt: off

from __future__ import annotations

import re
from itertools import product
from math import inf, nan

import numpy as np
import pytest

from oracles import TORCH
from records import FUNCTIONS
from records.constants import CANCELS
from torch_rows import EDGES, FLAT, OF_NUMPY, Table, check, functions_called, theirs

pytestmark = pytest.mark.slow
if not TORCH:
    pytest.skip("PyTorch is not installed", allow_module_level=True)

row = Table()
SEEDS = (None, -2.0, 0.0, inf, nan)
EDGE = [-inf, -800.0, -40.0, -20.0, -18.0, -1.0, -0.5, -1e-9, -0.0, 0.0, 1e-9, 0.5, 1.0, 18.0, 20.0, 40.0, 800.0, inf]
WITH_NAN, PLAIN = [*EDGE, nan], [-3.0, -1.0, -0.5, 0.25, 0.75, 2.0]
V, W, ROOTS = [2.0, -1.0, 3.0, 0.5], [0.5, 2.0, -3.0, 1.0], [0.0, 1.0, 4.0, 0.0]
M, TIES = [[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]], [[1.0, 2.0, 2.0], [3.0, 3.0, 3.0]]
ZEROS, SAME = [[0.0, 0.0, 0.0], [3.0, 0.0, 4.0]], [[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]
B = (np.arange(24.0).reshape(2, 3, 4) * 0.37 % 1 - 0.4).tolist()
A = [[2.0, 1.0, 0.5], [0.3, 3.0, -1.0], [0.7, -0.2, 1.5]]
NONE, NONE3 = np.zeros(0), np.zeros((0, 3))

# --- functions of one number ---
SMOOTH = "sin cos tan asin acos atan sinh cosh asinh acosh atanh exp expm1 exp2 log log2 log10 log1p sqrt rsqrt square"
KINKED = "abs relu reciprocal erf sinc neg sign floor ceil trunc round"
for name in f"{SMOOTH} {KINKED}".split():
    for v in SEEDS:
        row(f"torch.{name}(x)", v=v, x=WITH_NAN)
    between = [0.25] * (name == "sinc")  # where PyTorch's sinc is not 0, as sin(πx) is at integers
    row(f"torch.{name}(torch.sqrt(x))", x=[0.0, 0.3, 5.5, 0.0] if between else ROOTS)
    row(f"torch.sqrt(torch.{name}(x))", x=between or PLAIN)
    row(f"torch.log(torch.{name}(x))", x=between or PLAIN)
    row(f"{name}(x)", f"torch.{name}(x)", x=0.5)
    row(f"x.{name}()", x=NONE)
for name in ("torch.tanh", "torch.sigmoid", "F.softsign", "F.logsigmoid", "F.silu", "F.gelu", "F.softplus"):
    for v in SEEDS:
        row(f"{name}(x)", v=v, x=WITH_NAN, atol=CANCELS)
    row(f"{name}(torch.sqrt(x))", x=ROOTS)
    row(f"{name}(x)", x=NONE)
row.each("torch.sinc(x) | torch.reciprocal(x) | 1/x", vs=SEEDS, x=[1e-300, -1e-300, 1e-160, 1e160, 1e300])
row("cbrt(x)", "torch.pow(x, 1/3)", x=[0.5, 1.0, 8.0])  # PyTorch has no cbrt; a power is right above 0 alone
row.each("F.leaky_relu(x) | F.leaky_relu(x, 0.2) | F.leaky_relu(x, negative_slope=-0.5) | F.leaky_relu(x, 0.)", vs=SEEDS, x=WITH_NAN)
row.each("F.elu(x) | F.elu(x, 2.) | F.elu(x, alpha=-1.)", vs=SEEDS, x=EDGE)  # at nan PyTorch's own paths differ by size
row.each("F.softplus(x, 2.) | F.softplus(x, beta=0.5, threshold=3.) | F.softplus(-x) | F.logsigmoid(-x)", vs=SEEDS, x=WITH_NAN)
row.each('F.gelu(x, approximate="tanh")', vs=SEEDS, x=WITH_NAN, atol=CANCELS)
row.each("x**2 | x**3 | x**0 | x**1 | x**-1 | x**-2 | 2**x | 0.5**x | 1**x | (-2)**x => (-2.)**x | 0**x | -x | x*0 | x/x | x-x | x/0 | x%3 | x%-3 | x%0", vs=SEEDS, x=WITH_NAN)
row.each("x**0.5 | x**1.5 | x**-0.5 | torch.sqrt(x)**2 | torch.exp(torch.log(x)) | torch.sqrt(x*x)", vs=SEEDS, x=EDGE[9:])
row.each("torch.clamp(x, 0., 1.) | torch.clamp(x, min=0.) | torch.clamp(x, max=1.) | torch.clamp(x, 1., -1.) | torch.clip(x, -1, 1) | torch.clamp_min(x, 0.5) | torch.clamp_max(x, 1.)", vs=SEEDS, x=WITH_NAN)
row.each("torch.where(x > 0, torch.sqrt(x), 0.) | torch.where(x > 0, x, -x) | torch.where(x == 0, 0., 1/x)", vs=SEEDS, x=WITH_NAN)
row.each("torch.as_tensor([1., 0.])*x => torch.tensor([1., 0.])*x", vs=(None, inf), x=[2.0, 0.0])
row.each("x.shape.numel()*x | x.numel()*x | x.clone() | x.double() | x.float() => x.double() | x.detach()*x", vs=(None, inf), x=WITH_NAN)

# --- functions of two numbers ---
PAIRS = [-inf, -800.0, -2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, 3.0, 40.0, inf, nan]
LEFT, RIGHT = (list(side) for side in zip(*product(PAIRS, PAIRS), strict=True))
BINARY = (
    "a + b | a - b | a * b | a / b | a % b | a ** b | torch.maximum(a, b) | torch.minimum(a, b) | torch.fmax(a, b) | torch.fmin(a, b)"
    " | torch.hypot(a, b) | torch.atan2(a, b) | torch.xlogy(a, b) | torch.logaddexp(a, b) | torch.where(a < b, a, b)"
    " | torch.clamp(a, min=b) | torch.clamp(a, max=b) | torch.max(a, b) | torch.min(a, b)"
)
SPELLED = "torch.add(a, b) | torch.sub(a, b) | torch.mul(a, b) | torch.div(a, b) | torch.remainder(a, b) | torch.pow(a, b)"
row.each(BINARY, vs=(None, -2.0, 0.0, inf), a=LEFT, b=RIGHT)
row.each(SPELLED, a=LEFT, b=RIGHT)
for a, b in ((1.5, V), ([1.5], V), ([[1.5], [2.5]], W), ([[1.5], [2.5]], [[1.0, 2.0, 3.0]]), (np.full((2, 1, 3), 1.5), np.full((4, 1), 2.0)), (1.5, 2.0), ([1.5], 2.0), (np.zeros((0, 1)), np.ones((1, 3)))):
    row.each(BINARY, vs=(None, inf), a=a, b=b)
row("a % b", a=[1.0, 6.0, 0.3, -0.3, 4.35], b=[0.1, 0.1, 0.1, 0.1, 0.01])  # floor(a / b) is one more than a // b
row("torch.hypot(a, b)", v=1e300, a=[1e300, 3.0], b=[1.0, 4.0])
for text in BINARY.split(" | "):
    row(re.sub(r"\ba\b", "torch.sqrt(x)", text), x=ROOTS, b=W)

# --- reductions ---
for x in (V, M, TIES, ZEROS, SAME, B, [2.5], [0.0], [[3.0]], 2.5, 0.0):
    dims = ["", *(f", dim={d}" for d in range(-np.ndim(x), np.ndim(x)))]
    several = [", dim=(0, 1)", ", dim=(0, -1)"] if np.ndim(x) > 1 else []
    kept = [f"{d}, keepdim=True" for d in dims[1:]]
    for name, v in product("sum mean amax amin norm var std".split(), (None, 0.0, inf)):
        for d in (*dims, *kept, *several):
            row(f"torch.{name}(x{d})", v=v, x=x, atol=CANCELS * (name in ("var", "std")))
    for d, v in product((*dims[1:], *kept, *several), (None, 0.0, inf)):
        row(f"torch.logsumexp(x{d})", v=v, x=x)
    for name, d in product(("max", "min", "median"), (*dims, *kept)):
        row(f"torch.{name}(x{d}){'.values' if d else ''}", x=x)
    for d in (*dims, *kept):
        row(f"torch.prod(x{d})", x=x)
    for name, d in product("cumsum cumprod".split(), dims[1:]):
        row(f"torch.{name}(x{d})", x=x)
    for d in dims:
        row(f"torch.sort(x{d}).values", x=x)
        row(f"torch.sort(x{d}, descending=True)[0]", x=x)
row.each("torch.max(x) | torch.min(x) | torch.median(x) | torch.prod(x) | torch.cumsum(x, 0) | torch.max(x, 0)[0]", vs=(0.0, inf), x=V)
row.each("torch.sum(x) | torch.prod(x) | torch.cumsum(x, 0) | torch.cumprod(x, 0) | torch.norm(x)", x=NONE)
row.each("torch.sum(x, 0) | torch.sum(x, 1) | torch.mean(x, 1) | torch.prod(x, 0) | torch.prod(x, 1) | torch.amax(x, 1) | torch.norm(x, dim=1) | torch.var(x, 1) | torch.logsumexp(x, 1)", x=NONE3)
row.each("torch.var(x, correction=0) | torch.var(x, unbiased=False) | torch.std(x, correction=0) | torch.std(x, dim=0, correction=2) | torch.var(x, correction=4)", vs=(None, inf), x=V)
row.each("np.var(x) => torch.var(x, correction=0) | np.std(x, ddof=1) => torch.std(x) | np.cumsum(x) => torch.cumsum(x, 0) | np.sort(x) => x.sort().values | np.median(x) => torch.quantile(x, 0.5)", x=V)
for p in ("0.5", "1", "1.5", "2", "3", "torch.inf"):
    for x in (V, M, ZEROS, TIES, [0.0]):
        row.each(f"torch.norm(x, {p}) | torch.linalg.vector_norm(x, {p}) | torch.norm(x, p={p}, dim=0)", vs=(None, inf), x=x)
row.each("torch.linalg.norm(x) | torch.linalg.norm(x, dim=1) | torch.norm(x, p='fro') | torch.norm(x, 2, 1, True)", x=ZEROS)
row.each("torch.sqrt(torch.norm(x)) | torch.log(torch.norm(x)) | x/torch.norm(x) | torch.sqrt(torch.amax(x)) | torch.sqrt(torch.max(x)) | torch.sqrt(torch.prod(x)) | torch.sqrt(torch.std(x)) | torch.sqrt(torch.median(x)) | torch.sqrt(x.sum())", x=[0.0, 0.0])
row.each("torch.sqrt(torch.amax(x)) | torch.sqrt(torch.max(x)) | torch.sqrt(torch.max(x, 0).values) | torch.sqrt(torch.sort(x).values)", x=[0.0, -1.0])
row.each("torch.prod(x) | torch.logsumexp(x, 0) | torch.norm(x)", x=[1e200, 1e200, 1e-200])
row.each("torch.logsumexp(x, 0) | torch.max(x) | torch.amin(x) | torch.sum(x) | torch.mean(x) | torch.prod(x)", x=[[-inf, 1.0], [-inf, inf]])
row.each("torch.max(x) | torch.amax(x) | torch.min(x) | torch.amin(x) | torch.prod(x) | torch.logsumexp(x, 0) | torch.max(x, 0).values", x=[2.0, nan, 1.0, nan])
row.each("torch.logsumexp(x, 0)", x=[800.0, -800.0, 799.0])

# --- shaping ---
CHAINS = (
    "x[1:] | x[-1] | x[::2] | x[None] | x[:, None] | x[[1, 1, 2]] | x[x > 0] | x[x > 99] | x[...] | x[1:1] | torch.flip(x, [0])[:2] | torch.roll(x, 1)[2:]"
    " | torch.tril(torch.outer(x, x)) | torch.triu(torch.outer(x, x), 1) | torch.diag(x)[1] | torch.diag(x, 1) | torch.diag(x, -1) | torch.diagonal(torch.outer(x, x))"
    " | torch.cat([x, x])[3:] | torch.stack([x, 2*x])[1] | torch.stack([x, x], dim=-1)[2:] | x.expand(3, 4)[0] | x.repeat(2, 2) | torch.repeat_interleave(x, 2)[4:]"
    " | x.reshape(2, 2)[1] | x.view(-1, 2) | torch.ravel(x) | x.flatten() | x.unsqueeze(0) | torch.squeeze(x[None])"
    " | torch.cumsum(x, 0)[0] | torch.sum(x)*0 | x*0 | torch.trace(torch.outer(x, x)) | torch.full((4,), 2.)*x | torch.zeros_like(x) + x | torch.full_like(x, 3.)*x"
).replace("", "")
for text in CHAINS.split(" | "):
    row(text.strip(), x=V)
    row(re.sub(r"\bx\b", "torch.sqrt(x)", text.strip()), x=ROOTS)
row.each(
    "x.T | x.t() | x.transpose(0, 1) | x.transpose(-1, -2) | torch.permute(x, (1, 0)) | x.mT | torch.diag(x) | torch.diagonal(x, 1) | torch.tril(x) | torch.tril(x, -1) | torch.triu(x, diagonal=1)"
    " | torch.flip(x, [0, 1]) | x.flip(1) | torch.roll(x, 1) | torch.roll(x, (1, 1), (0, 1)) | torch.roll(x, 1, -1) | x.repeat(1, 2) | x.repeat(2, 1, 1) | torch.tile(x, (2,))"
    " | torch.repeat_interleave(x, 2) | torch.repeat_interleave(x, 2, dim=1) | torch.flatten(x) | x.reshape(3, 2) | x.unsqueeze(-1) | torch.stack([x, x], dim=2) | torch.cat([x, x], 1) | torch.cat([x, x], dim=-2)"
    " | x[0] | x[:, 0] | x[0, 1] | x[..., 0] | x[[0, 1, 1]] | x[[0, 1], [2, 0]] | x[:, [0, 0]] | x[x > 0] | x[1:, :2] | x[None, :, 0] | x - x.mean(1, keepdim=True) | (x - x.mean(0))/x.std(0) | x/x.sum(1, keepdim=True)",
    vs=(None, inf), x=M, atol=CANCELS)
row.each("np.transpose(x) => x.T | np.transpose(x, (1, 0)) => x.T", x=M)
row.each(
    "x.transpose(0, 2) | x.permute(2, 0, 1) | x.flatten(1) | x.flatten(0, 1) | x.mT | x[..., 1] | x[:, [0, 0], :] | x[[0, 1], [0, 1]] | x[[0, 1], :, [0, 1]] | torch.tril(x) | torch.triu(x, 1)"
    " | torch.flip(x, [1, 2]) | torch.roll(x, (1, 2), (0, 2)) | x.repeat_interleave(2, 1) | x.amax((0, 2), keepdim=True) | x.std((0, 1)) | x.logsumexp((0, 1)) | x.unsqueeze(1).expand(2, 5, 3, 4) | torch.cat([x, x], 1)",
    x=B, atol=CANCELS)
row.each("x.reshape(1) | x.expand(3) | x.repeat(3) | x.t() | x.flip(0) => torch.flip(x, (0,)) | torch.stack([x, x]) | x[...] | x[None] | x.ravel() | x.squeeze() | torch.roll(x, 1)", x=2.5)

# --- linear algebra ---
L3, R3, L23, R32 = [1.0, -1.0, 2.0], [0.5, 2.0, -3.0], M, [[1.0, 0.5], [2.0, -1.0], [0.0, 3.0]]
B43 = (np.arange(24.0).reshape(2, 4, 3) * 0.53 % 1 - 0.4).tolist()
for v in (None, 0.0, inf):
    row.each("a @ b | torch.dot(a, b) | torch.inner(a, b) | torch.outer(a, b) | torch.einsum('i,i', a, b) | torch.einsum('i,j->ij', a, b)", vs=(v,), a=L3, b=R3)
    row.each("a @ b | torch.outer(a, b) | torch.dot(a, b)", vs=(v,), a=[0.0, 0.0, 0.0], b=[inf, 1.0, 0.0])
    row.each("a @ b | torch.mv(a, b) | torch.einsum('ij,j->i', a, b) | F.linear(b, a)", vs=(v,), a=L23, b=R3)
    row.each("a @ b | torch.mm(a, b) | torch.matmul(a, b) | torch.einsum('ij,jk->ik', a, b) | torch.einsum('ij,ji->', a, b)", vs=(v,), a=L23, b=R32)
    row.each("a @ b | torch.bmm(a, b) | torch.einsum('bij,bjk->bik', a, b)", vs=(v,), a=B, b=B43)
    row.each("torch.sqrt(a) @ b | torch.sqrt(a) * b @ b", vs=(v,), a=[0.0, 1.0, 4.0], b=[0.0, 0.0, 1.0])
for a, b in ((L3, R32), (B, B43[0]), (B[0], B43), (B, [1.0, 2.0, 3.0, 4.0]), (L3, B), ([B[0]], B43), (NONE, NONE), (NONE3, R32), (np.zeros((2, 0)), np.zeros((0, 2)))):
    row("a @ b", a=a, b=b)
row.each("torch.trace(a) | torch.einsum('ii', a) | torch.einsum('ij->ji', a) | torch.einsum('ij->', a)", vs=(None, inf), a=A)
row.each("torch.det(a) | torch.inverse(a) | torch.linalg.inv(a) | a.det()", a=A)
row.each("torch.det(a) | torch.inverse(a)", a=[A, [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 2.0]]])
row.each("torch.det(a)", a=[[3.0]])
row.each("torch.det(a)", a=[[0.0]])
for a in ([[1.0, 2.0], [2.0, 4.0]], [[0.0, 0.0], [0.0, 5.0]], [[0.0, 0.0], [0.0, 0.0]]):
    row("torch.det(a)", a=a)  # PyTorch gives 0 there, not the cofactors
for b in (L3, R32):
    row("torch.linalg.solve(a, b)", a=A, b=b)
row("torch.linalg.solve(a, b)", a=[A, A], b=[R32, R32])
for x in (L3, [L3, R3], [[L3, R3]]):
    row.each("F.linear(x, w, b)", vs=(None, inf), x=x, w=M, b=[1.0, -2.0])

# --- softmax, layers and losses ---
for name, x in product(("torch.softmax", "torch.log_softmax"), (V, [800.0, -800.0, 799.0, 0.0], [0.0] * 4, [-inf, 0.0, 1.0, 2.0], [inf, 0.0, 1.0, 2.0], [-inf] * 4, [nan, 1.0, 2.0, 3.0], [2.5], 2.5)):
    for v in (None, 0.0, inf, [1.0, -2.0, 3.0, 0.5] if np.size(x) == 4 else 3.0):
        row(f"{name}(x, dim=-1)", v=v, x=x, atol=CANCELS)
row.each("F.softmax(x, dim=0) | F.softmax(x, dim=1) | F.log_softmax(x, dim=0) | F.log_softmax(x, dim=-1)", vs=(None, M), x=M, atol=CANCELS)
row.each("F.softmax(x, dim=1) | F.log_softmax(x, dim=0)", vs=(None, B), x=B, atol=CANCELS)
row.each("torch.log(torch.softmax(x, 0)) | torch.softmax(torch.log(x), 0) | torch.log_softmax(torch.sqrt(x), 0)", x=[1.0, 0.0, 800.0], atol=CANCELS)
HALF = ([1.5, -1.5, 0.5, -0.5], [0.5, -0.5, 0.5, -0.5])
FAR = ([40.0, -40.0, 18.0, -18.0, 800.0, -800.0, 0.0], [0.0, 0.0, 1.0, 0.0, 0.5, 1.0, 0.5])
BITS = ([0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.3, 1e-9, 1 - 1e-9], [0.0, 1.0, 0.5, 0.0, 1.0, 0.5, 0.3, 1.0, 1.0])
for reduction, v in product(("", ', reduction="sum"', ', reduction="none"'), (None, 0.0, inf)):
    for x, y in ((V, W), (V, V), HALF, FAR, ([], []), ([2.0], [1.0]), (2.0, 1.0), (M, TIES)):
        for name in ("mse_loss", "l1_loss", "huber_loss", "binary_cross_entropy_with_logits"):
            row(f"F.{name}(x, y{reduction})", v=v, x=x, y=y, atol=CANCELS * (name[0] == "b"))
        row(f"F.huber_loss(x, y, delta=0.5{reduction})", v=v, x=x, y=y)
    for x, y in zip(*BITS, strict=True):
        row(f"F.binary_cross_entropy(x, y{reduction})", v=v, x=[x, 0.5], y=[y, 0.25])
    for text in ("nll_loss", "cross_entropy"):
        row(f"F.{text}(x, [2, 0]{reduction})", f"F.{text}(x, torch.tensor([2, 0]){reduction})", v=v, x=M, atol=CANCELS)
        row(f"F.{text}(x, 1{reduction})", f"F.{text}(x, torch.tensor(1){reduction})", v=v, x=V, atol=CANCELS)
    row(f"F.cross_entropy(x, [2, 0]{reduction})", f"F.cross_entropy(x, torch.tensor([2, 0]){reduction})", v=v, x=[[800.0, -800.0, 0.0], [-inf, 0.0, 1.0]])
    row(f"F.cross_entropy(x, y{reduction})", v=v, x=M, y=[[0.2, 0.3, 0.5], [0.0, 1.0, 0.0]], atol=CANCELS)
    row(f"F.cross_entropy(x, y{reduction})", v=v, x=[[-inf, 0.0, 1.0]], y=[[0.0, 1.0, 0.0]])
for x, shape in ((V, "(4,)"), ([2.0] * 4, "(4,)"), ([2.0], "(1,)"), (M, "(3,)"), (M, "(2, 3)"), (B, "(3, 4)")):
    for v in (None, 0.0, np.cos(np.arange(np.size(x))).reshape(np.shape(x))):
        row(f"F.layer_norm(x, {shape})", v=v, x=x, rtol=1e-10, atol=CANCELS)  # a difference of means, in another order
row("F.layer_norm(x, (3,), w, b)", v=TIES, x=M, w=[1.0, 2.0, 3.0], b=[0.1, 0.2, 0.3], rtol=1e-10, atol=CANCELS)
row("F.layer_norm(x, (3, 4), w, b, 1e-3)", v=B, x=B, w=B[0], b=B[1], rtol=1e-10, atol=CANCELS)

ROWS = [*row.rows, *EDGES]


@pytest.mark.parametrize("case", ROWS, ids=[f"{k}-{case.program}" for k, case in enumerate(ROWS)])
def test_as_pytorch(case):
    check(case, theirs(case))


def test_every_differentiable_function_has_a_row():
    assert set(FUNCTIONS) - functions_called((*row.rows, *EDGES)) - FLAT - OF_NUMPY == set()
