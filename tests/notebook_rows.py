"""What PyTorch is asked about functions that notebooks know from NumPy, SciPy and JAX, written in PyTorch's words."""

# ruff: noqa: E501 - a row is a line
# fmt: off

from __future__ import annotations

from math import inf, nan

V, W, B = [1.5, -0.5, 2.0, 0.25], [0.5, 1.0, -2.0, 3.0], [1.0, 2.0]
M, N = [[1.0, 2.0, 0.5], [0.3, -1.0, 3.0]], [[0.5, 1.5, 1.0], [2.0, 0.0, -1.0]]
SQUARE = [[2.0, 0.3], [0.7, 1.5]]


def add(row):
    """Add the rows to a table."""
    row.each("scipy.linalg.cholesky(x @ x.T) => torch.linalg.cholesky(x @ x.T, upper=True) | scipy.linalg.qr(x)[1] => torch.linalg.qr(x)[1] | scipy.linalg.solve_triangular(x, x) => torch.linalg.solve_triangular(x, x, upper=True) | scipy.linalg.expm(x) => torch.linalg.matrix_exp(x) | scipy.linalg.block_diag(x, x) => torch.block_diag(x, x)", x=SQUARE)
    row("scipy.special.logsumexp(x, 1)", "torch.logsumexp(x, 1)", x=M)
    row.each("scipy.special.logsumexp(x, b=2*y) => torch.log((2*y*torch.exp(x)).sum())", x=M, y=[[1.0, 2.0, 3.0]] * 2)
    row.each("torch.cov(x) | torch.cov(x, correction=0) | np.cov(x) => torch.cov(x) | np.cov(x, rowvar=False, bias=True) => torch.cov(x.T, correction=0) | torch.corrcoef(x) | np.corrcoef(x) => torch.corrcoef(x)", x=M)
    row.each("torch.cov(x) | torch.cov(x, correction=4) | torch.cov(x[:1]) | torch.corrcoef(x) | torch.cov(x, fweights=torch.tensor([1, 2, 0, 1])) | torch.cov(x, aweights=torch.tensor([0.5, 1., 0., 2.], dtype=torch.float64))", x=V)
    row.each("np.nanvar(x) => torch.var(x, correction=0) | np.nanstd(x, ddof=1) => torch.std(x)", x=V)
    row.each("np.nanvar(x) => torch.var(x[:3], correction=0) | np.nanstd(x) => torch.std(x[:3], correction=0)", x=[1.5, -0.5, 2.0, nan])
    row.each("np.bincount([0, 2, 1, 2], x) => torch.zeros(3, dtype=torch.float64).index_add(0, torch.tensor([0, 2, 1, 2]), x) | torch.bincount(torch.tensor([0, 1, 1, 3]))*x", x=V)
    row.each("np.vander(x) => torch.linalg.vander(x).flip(1)", x=[*V, 0.0, -0.0])
    row.each("torch.linalg.vander(x, N=3) | np.delete(x, [0, 2]) => x[[1, 3]]", x=V)
    row.each("np.polyval(x, y) => x[0]*y + x[1]", x=B, y=[inf, 0.0, 2.0])
    row.each("np.convolve(x, y) => F.conv1d(x[None, None], y.flip(0)[None, None], padding=1)[0, 0] | np.convolve(x, y, 'valid') => F.conv1d(x[None, None], y.flip(0)[None, None])[0, 0] | np.append(x, y) => torch.cat([x, y]) | np.insert(x, 1, y) => torch.cat([x[:1], y, x[1:]])", x=V, y=B)
    row.each("np.select([x > 1, x < 0], [x**2, torch.sqrt(-x)], 1.5) => torch.where(x > 1, x**2, torch.where(x < 0, torch.sqrt(-x), 1.5*torch.ones_like(x)))", x=V)
    row.each("np.interp(x, [-1., 1., 2.], y) => torch.stack([y[1] + (y[2] - y[1])*(x[0] - 1), y[0] + (y[1] - y[0])*(x[1] + 1)/2, y[1] + (y[2] - y[1])*(x[2] - 1), y[0] + (y[1] - y[0])*(x[3] + 1)/2])", x=V, y=[1.0, 3.0, -2.0])
    row.each("torch.linalg.matrix_rank(x)*x", x=[[1.0, 0.5, 2.0], [3.0, -1.0, 0.3], [0.2, 4.0, 1.0]])
