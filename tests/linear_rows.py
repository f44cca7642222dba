"""What PyTorch is asked of linear algebra: rows of ``torch_rows``, kept apart since they are many."""

# ruff: noqa: E501 - a row is a line

from __future__ import annotations

from math import inf, nan

M = [[2.0, 1.0, 0.5], [0.3, 3.0, -1.0], [0.7, -0.2, 1.5]]
PART, WIDE = [[2.0, 0.0, 0.5], [0.0, inf, -1.0]], [[0.0, 1.0], [2.0, -1.0], [0.5, 0.0]]


def add(row):
    """Add the rows of linear algebra to a table."""
    products(row)


def products(row):
    """Add products of arrays: an infinite entry, a factor of 0, and a beta of 0, which leaves even nan out."""
    for options in ("", ", beta=0", ", alpha=0", ", beta=-2, alpha=0.5"):
        row.each(f"torch.addmm(x, a, b{options})", vs=(None, inf), x=[[1.0, nan], [0.0, 2.0]], a=PART, b=WIDE)
        row.each(f"torch.addmv(x, a, b{options})", vs=(None, inf), x=[nan, 2.0], a=PART, b=[0.0, 1.0, 2.0])
        row.each(f"torch.addr(x, a, b{options})", vs=(None, inf), x=[nan, 2.0, 1.0], a=[0.0, inf], b=[0.0, 1.0, 2.0])
        row.each(
            f"torch.baddbmm(x, a, b{options}) | torch.addbmm(x, a, b{options})",
            vs=(None, inf),
            x=[nan, 2.0],
            a=[PART, PART],
            b=[WIDE, WIDE],
        )
    row.each(
        "torch.linalg.multi_dot([a, b]) | torch.chain_matmul(a, b) | torch.tensordot(a, b, 1) | torch.tensordot(a, b, ([0, 1], [1, 0])) | torch.kron(a, b)",
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
        "torch.inner(a, b) | torch.einsum('...j,kj->...k', a, b) | torch.einsum('ij,ij->i', a, b[:1])",
        vs=(None, inf),
        a=PART,
        b=PART,
    )
