"""Forms of calls that no other row has: batches, axes, drivers, reductions, ends of ranges."""

# ruff: noqa: E501 - a row is a line
# fmt: off

from __future__ import annotations

from math import nan

from records.constants import CANCELS

A, B = [[2.0, 1.0], [0.5, 3.0], [-1.0, 0.7]], [[1.0, 2.0], [0.0, -1.0], [3.0, 0.5]]
Q = [[2.0, 1.0, 0.5], [1.0, 3.0, -0.2], [0.5, -0.2, 1.5]]
X = [[[0.5, -1.0, 2.0, 0.3], [1.5, 0.2, -0.7, 1.1]], [[0.1, 0.9, -1.3, 0.4], [2.2, -0.6, 0.8, -0.1]]]
W = [[[0.3, -0.2, 0.5], [1.0, 0.4, -0.6]]]
SCORES = [[0.5, -1.0, 2.0], [1.5, 0.0, 0.3]]


def add(row):
    """Add the rows to a table."""
    row.each("torch.linalg.lstsq(a, b).solution | torch.linalg.lstsq(a, b, driver='gelsd').residuals | torch.linalg.lstsq(a, b, driver='gelsd').singular_values*a[0] | np.linalg.lstsq(a, b)[3] => torch.linalg.svdvals(a)", a=A, b=B, atol=CANCELS)
    row.each("torch.linalg.lstsq(a, b, driver='gelsd').residuals", a=Q, b=Q, atol=CANCELS)
    row.each("torch.linalg.svd(a, full_matrices=True)[0][:, 2]**2", a=A, atol=CANCELS)
    row.each("torch.cholesky_solve(b, torch.tril(q))", b=B, q=Q, atol=CANCELS)
    row.each("F.gaussian_nll_loss(x, t, s) | F.gaussian_nll_loss(x, t, s, full=True, reduction='none')", x=A, t=B, s=[0.5, 1.5, 2.0], atol=CANCELS)
    row.each("F.gaussian_nll_loss(x, t, s)", x=A, t=B, s=[[0.5], [1.5], [2.0]], atol=CANCELS)
    row.each("F.max_pool1d(x, 2, return_indices=True)[1]*x[..., :2] | F.max_pool2d(x, 2, return_indices=True)[1]*x[:, :1, :2] | F.avg_pool1d(x, 2) | F.avg_pool1d(x, 2, padding=1, count_include_pad=False) | F.avg_pool2d(x, 2, divisor_override=3) | torch.quantile(x, torch.tensor([0.25, 0.75]).double(), dim=2) | torch.quantile(x, 0.3, dim=1, keepdim=True) | torch.quantile(x, 0.5, interpolation='midpoint') | torch.quantile(x, 0.4, dim=0, interpolation='nearest') | torch.quantile(x, 0.4, dim=0, interpolation='lower') | torch.quantile(x, 0.4, dim=2, interpolation='higher') | torch.nanquantile(x, 0.4, dim=1) | F.interpolate(x, size=7, mode='linear') | F.interpolate(x[None], size=(3, 5), mode='bicubic')", x=X, atol=CANCELS)
    row.each("F.conv1d(x, w) | F.conv1d(x, w, padding=1) | F.conv1d(x[0], w)", x=X, w=W, atol=CANCELS)
    row.each("torch.take_along_dim(x, torch.tensor([3, 0, 5])) | torch.take_along_dim(x, torch.tensor([[1], [0], [-1]]), 1) | torch.gather(x, 1, torch.tensor([[1], [0]])) | torch.logcumsumexp(x, 1) | torch.logcumsumexp(1000*x, 1) | torch.logcumsumexp(-2000*x, 0) | torch.nanmedian(x) | x.T.contiguous().view(-1)[1]*x | x.T.reshape(-1)", x=A, atol=CANCELS)
    row.each("torch.gather(s, 0, torch.tensor(0)) | torch.softmax(s, 0)*s | torch.log_softmax(s, 0) + s | torch.median(s, 0).values*2 | torch.max(s, 0).values*3", s=2.5, atol=CANCELS)
    row.each("x.where(x > 0.6, y) | x.index_add(0, torch.tensor([0, 2]), y[:2]) | x.index_copy(0, torch.tensor([1]), y[:1]) | x.put(torch.tensor([1, 4]), y[0])", x=A, y=B, atol=CANCELS)
    row.each("x.scatter_reduce(0, torch.tensor([0, 0, 2]), y, reduce='amax') | x.scatter_reduce(0, torch.tensor([0, 0, 2]), y, reduce='mean', include_self=False)", x=[1.0, 2.0, 3.0], y=[4.0, 0.5, 7.0], atol=CANCELS)
    row.each("x.scatter_reduce(1, torch.tensor([[0, 1], [1, 1]]), y, reduce='prod')", x=A, y=[[4.0, 0.5], [2.0, 3.0]], atol=CANCELS)
    row.each("torch.nanmedian(x)", x=[1.0, nan, 3.0, nan], atol=CANCELS)
    row.each("torch.nanmedian(x)", x=[nan, nan], atol=CANCELS)
    row.each("np.pad(x, 2, mode='symmetric') => torch.cat([x[1:2], x[0:1], x, x[-1:], x[-2:-1]]) | torch.cumprod(x*1e-200, 0)", x=[1.0, 2.0, 4.0], atol=CANCELS)
    row.each("torch.cummax(x, 0).values", x=[1.0, 3.0, 3.0, 2.0], atol=CANCELS)
    row.each("F.mish(x)", x=[800.0, -800.0, 2.0], atol=CANCELS)
    row.each("F.hardswish(x)", x=[-4.0, -3.0, 0.5, 3.0, 4.0], atol=CANCELS)
    row.each("F.cross_entropy(x, torch.tensor([0, 1]), label_smoothing=0.2) | F.cross_entropy(x, torch.tensor([0, -100])) | F.multilabel_margin_loss(x, torch.tensor([[2, 0, -1], [1, -1, 0]]))", x=SCORES, atol=CANCELS)
    row.each("F.mse_loss(x, y, weight=w)", x=A, y=B, w=B, atol=CANCELS)
    row.each("F.l1_loss(x, y, weight=w, reduction='sum') | F.mse_loss(x, y, weight=w)", x=A, y=B, w=[[1.0, 2.0], [0.5, 3.0], [1.0, 1.0]], atol=CANCELS)
    row.each("torch.digamma(x)", x=[1.4616321, -0.504, 3.0], atol=CANCELS)
    row.each("np.average(x, weights=w) => (x*w).sum()/w.sum()", x=A, w=B, atol=CANCELS)
    row.each("np.average(x, axis=0, weights=w) => (x*w[:, None]).sum(0)/w.sum()", x=A, w=[1.0, 2.0, 0.5], atol=CANCELS)
    row.each("F.cross_entropy(x, torch.tensor([0, 1]), weight=torch.tensor([1., 2., 0.5]).double(), label_smoothing=0.2) | F.nll_loss(x, torch.tensor([2, 1]), weight=torch.tensor([1., 2., 0.5]).double())", x=SCORES, atol=CANCELS)
