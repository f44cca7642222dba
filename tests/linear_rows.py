"""What PyTorch is asked of linear algebra: rows of ``torch_rows``, kept apart since they are many."""

# ruff: noqa: E501 - a row is a line

from __future__ import annotations

from math import inf, nan

M = [[2.0, 1.0, 0.5], [0.3, 3.0, -1.0], [0.7, -0.2, 1.5]]
PART, WIDE = [[2.0, 0.0, 0.5], [0.0, inf, -1.0]], [[0.0, 1.0], [2.0, -1.0], [0.5, 0.0]]

SYMMETRIC, DEFINITE = (
    [[2.0, 1.0, 0.5], [1.0, -3.0, 0.2], [0.5, 0.2, 1.5]],
    [[2.0, 0.5, 0.3], [0.5, 1.0, -0.2], [0.3, -0.2, 3.0]],
)
LOW = [[2.0, 0.0, 0.0], [0.3, 3.0, 0.0], [0.7, -0.2, 1.5]]


def add(row):
    """Add the rows of linear algebra to a table."""
    products(row)
    decompositions(row)
    norms(row)


def decompositions(row):
    """Add decompositions of well-placed matrices, and where values are equal, 0, or of a matrix that is not symmetric."""
    for a in (SYMMETRIC, [[2.0]], [SYMMETRIC, DEFINITE]):
        row.each(
            "torch.logdet(a) | torch.slogdet(a)[1] | torch.slogdet(a).sign.sum()*a | torch.linalg.matrix_exp(a) | torch.linalg.svdvals(a) | torch.linalg.svd(a).S | torch.svd(a)[1] | torch.linalg.pinv(a) | torch.pinverse(a) | torch.linalg.eigvalsh(a) | torch.linalg.eigh(a)[0] | torch.linalg.eigh(a)[1]**2 | torch.linalg.qr(a)[0]**2 | torch.linalg.qr(a)[1]**2 | torch.qr(a)[1]**2 | torch.linalg.cond(a)",
            vs=(None, -2.0),
            a=a,
            rtol=1e-10,
            atol=1e-14,
        )
    for a in (DEFINITE, [[2.0]], [DEFINITE, DEFINITE]):
        row.each("torch.linalg.cholesky(a) | torch.cholesky(a, upper=True)", vs=(None, -2.0), a=a)
    row.each(
        "torch.linalg.cholesky(a) | torch.linalg.cholesky(a, upper=True) | torch.linalg.eigvalsh(a, UPLO='U')",
        a=[[2.0, 0.3], [0.5, 1.0]],
        atol=1e-15,
    )
    row.each(
        "torch.linalg.svdvals(a) | torch.linalg.eigvalsh(a) | torch.linalg.norm(a, 2) | torch.linalg.norm(a, -2) | torch.linalg.norm(a, 'nuc')",
        a=[[1.0, 0.0], [0.0, 1.0]],
    )
    row.each(
        "torch.linalg.svdvals(a) | torch.linalg.pinv(a) | torch.linalg.qr(a)[1]**2",
        vs=(None, -2.0),
        a=WIDE,
        rtol=1e-10,
        atol=1e-14,
    )
    row.each("torch.linalg.pinv(a)", a=[[1.0, 2.0], [2.0, 4.0]], atol=1e-14)
    for options in ("upper=False", "upper=True", "upper=True, unitriangular=True"):
        row.each(
            f"torch.linalg.solve_triangular(a, b, {options})",
            vs=(None, -2.0),
            a=M,
            b=WIDE,
        )
    row.each(
        "torch.linalg.solve_triangular(a, b, upper=True, left=False) | torch.linalg.solve(a, b, left=False)",
        a=M,
        b=PART[:1],
    )
    row.each("torch.cholesky_solve(b, a) | torch.cholesky_inverse(a) + 0*b[0, 0]", vs=(None, -2.0), a=LOW, b=WIDE)
    row.each(
        "torch.linalg.lstsq(a, b).solution | torch.linalg.lstsq(a, b)[0] | torch.linalg.lstsq(a, b)[-4]",
        vs=(None, -2.0),
        a=[*M, [1.0, 1.0, -1.0]],
        b=[*WIDE, [2.0, 0.0]],
        rtol=1e-10,
        atol=1e-14,
    )


EQUAL = [[1.0, 1.0], [1.0, -1.0]]
"""A matrix with two equal singular values."""


def norms(row):
    """Add norms of every order at ties and zeros, and distances of equal points."""
    for x in ([2.0, -2.0, 1.0], [0.0, 3.0, -1.0], [0.0, -0.0, 0.0], [[1.0, -1.0], [0.0, 2.0]], 0.0, -3.0):
        for p in ("0", "-1", "-2", "0.5", "1", "3", "torch.inf", "-torch.inf"):
            row.each(f"torch.norm(x, {p}) | torch.linalg.vector_norm(x, {p})", vs=(-2.0,), x=x)
    for x in (PART[:1], EQUAL, [[1.0, 2.0], [3.0, -4.0], [0.5, 0.0]]):
        for p in ("1", "-1", "torch.inf", "-torch.inf", "'fro'", "2", "'nuc'"):
            if p == "2" and x is EQUAL:  # PyTorch's number is that of whichever vectors LAPACK returns
                continue
            row.each(
                f"torch.linalg.norm(x, {p}) | torch.linalg.matrix_norm(x, {p}, keepdim=True)",
                x=x,
                rtol=1e-10,
                atol=1e-14,
            )
    for p in ("1", "2", "3", "0.5"):
        row.each(
            f"torch.dist(a, b, {p}) | torch.cdist(a, b, {p}) | torch.pairwise_distance(a, b, {p})",
            vs=(None, -2.0),
            a=[[1.0, 0.0], [2.0, -1.0]],
            b=[[1.0, 0.0], [2.5, -1.0]],
        )
    near = [[1.0, 0.0], [0.0, 0.0], [1e-10, 0.0]]
    row.each("F.normalize(a) | F.normalize(a, 1., 0)", vs=(None, -2.0), a=near)
    row.each(
        "F.cosine_similarity(a, b) | F.cosine_similarity(a, b, dim=0)",
        vs=(None, -2.0),
        a=near,
        b=[[1.0, 2.0], [1.0, 1.0], [0.5, -1.0]],
    )


def products(row):
    """Add products of arrays: an infinite entry, a factor of 0, and a beta of 0, which leaves even nan out."""
    for options in ("", ", beta=0", ", alpha=0", ", beta=-2, alpha=0.5"):
        seeds = (None, -2.0) if options.endswith("=0") else (None, inf)  # what is left out gets no 0·inf from us
        row.each(f"torch.addmm(x, a, b{options})", vs=seeds, x=[[1.0, nan], [0.0, 2.0]], a=PART, b=WIDE)
        row.each(f"torch.addmv(x, a, b{options})", vs=seeds, x=[nan, 2.0], a=PART, b=[0.0, 1.0, 2.0])
    row.each(
        "torch.linalg.multi_dot([a, b]) | torch.tensordot(a, b, 1) | torch.tensordot(a, b, ([0, 1], [1, 0])) | torch.kron(a, b)",
        vs=(None, inf),
        a=PART,
        b=WIDE,
    )
    row.each(
        "torch.matrix_power(a, 3) | torch.matrix_power(a, -2) | torch.linalg.matrix_power(a, 4)", vs=(None, 0.0), a=M
    )
    row.each(
        "torch.cross(a, b, dim=0) | torch.linalg.cross(a, b) | torch.linalg.vecdot(a, b) | torch.vdot(a, b) | torch.inner(a, b)",
        vs=(None, inf),
        a=[1.0, 0.0, inf],
        b=[2.0, 1e200, 0.0],
    )
    row.each(
        "np.cross(a, b, 0) => torch.linalg.cross(a.T, b) | np.cross(a, b, axisb=0, axisc=0) => torch.linalg.cross(a, b.T).T | np.cross(a, b, axis=0) => torch.linalg.cross(a, b, dim=0)",
        a=[[1.0, 2.0, 0.0], [3.0, -1.0, 1.5], [0.5, 2.5, 2.0]],
        b=[[0.0, 1.0, 2.0], [-1.0, 0.5, 3.0], [2.0, 2.0, -0.5]],
    )
    row.each(
        "np.trace(a, 1) => torch.diagonal(a, 1).sum() | np.trace(a, offset=-1) => torch.diagonal(a, -1).sum()", a=PART
    )
    row.each(
        "torch.inner(a, b) | torch.einsum('...j,kj->...k', a, b) | torch.einsum('ij,ij->i', a, b[:1])",
        vs=(None, inf),
        a=PART,
        b=PART,
    )
