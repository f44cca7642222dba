"""What users call for singular values and vectors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.declare import Apply, Parts, value_of
from gradcli.ops.further.linear_singular import SINGULAR_VALUES, require_matrix, singular_values, vectors
from gradcli.ops.joining import CAT
from gradcli.ops.making import DETACH
from gradcli.ops.parts import Piecewise
from gradcli.ops.shaping import transpose_matrices
from gradcli.ops.signatures import Static, Tensor
from gradcli.ops.vocabulary import function

FAMILY = "linear algebra"


@function("svdvals", "linalg", FAMILY, op=SINGULAR_VALUES)
def build_svdvals(f: Apply, x: Tensor, driver: Static = None) -> Tensor:
    """the singular values of a matrix, the largest first"""
    del driver
    require_matrix(x, "svdvals")
    return singular_values(f, x)


@function("svd torch.svd", "method", FAMILY)
def build_svd(f: Apply, x: Tensor, some: Static = True, compute_uv: Static = True) -> Parts:
    """U, the singular values S and V with A = U @ diag(S) @ V.T"""
    require_matrix(x, "svd")
    if not compute_uv or not some:
        raise GradcliError("value", "svd has U and V in their short form alone", hint="leave some and compute_uv out")
    makers = (lambda: vectors(f, x, "U"), lambda: singular_values(f, x), lambda: vectors(f, x, "V"))
    return Parts(("U", "S", "V"), makers)


@function("linalg.svd torch.linalg.svd np.linalg.svd numpy.linalg.svd", "", FAMILY)
def build_linalg_svd(
    f: Apply,
    x: Tensor,
    full_matrices: Static = True,
    compute_uv: Static = True,
    driver: Static = None,
) -> Parts | Tensor:
    """U, the singular values S and Vh with A = U @ diag(S) @ Vh"""
    del driver
    require_matrix(x, "svd")
    if not compute_uv:
        return singular_values(f, x)
    all_of = completed if full_matrices and x.shape[-2] != x.shape[-1] else vectors
    makers = (
        lambda: all_of(f, x, "U"),
        lambda: singular_values(f, x),
        lambda: transpose_matrices(f, all_of(f, x, "V")),
    )
    return Parts(("U", "S", "Vh"), makers)


def completed(f: Apply, x: Tensor, side: str) -> Tensor:
    """Return U or V with columns added until it is square: constants, as PyTorch has them."""
    found, count = vectors(f, x, side), min(x.shape[-2:])
    if found.shape[-2] == count:
        return found
    f.remark(
        "arbitrary-vectors",
        "svd with full_matrices: the vectors beyond the singular values are any that complete the others, and no "
        "gradient flows through them, as in PyTorch.",
    )
    left, _, right = np.linalg.svd(np.asarray(value_of(x), dtype=np.float64))
    whole = left if side == "U" else np.swapaxes(right, -1, -2)
    return f(CAT, found, f(ARBITRARY, whole[..., count:]), dim=x.ndim - 1)


ARBITRARY = replace(
    DETACH,
    view=False,
    write=lambda call: call.texts[0],
    pieces=Piecewise(lambda x: x, lambda piece, x: piece, open=True),
)
"""Constants of which an algorithm in doubles chose one of several right ones."""
