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
