"""Distances of the rows of one matrix, and layers that are made no longer than a bound."""

from __future__ import annotations

import math

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import ADD, DIV, MUL, SUB
from gradcli.ops.axes import number, one_axis
from gradcli.ops.declare import Apply, value_of
from gradcli.ops.further.linear_norms import refuse_ties
from gradcli.ops.indexing import INDEX
from gradcli.ops.piecewise import WHERE
from gradcli.ops.signatures import Static, Tensor
from gradcli.ops.spread import vector_norm
from gradcli.ops.vocabulary import function


@function("pdist", "torch functional", "linear algebra", kinds="no no no")
def build_pdist(f: Apply, x: Tensor, p: Static = 2.0) -> Tensor:
    """the distances of each two rows of a matrix, by the norm of order p"""
    if x.ndim != 2:
        raise GradcliError("shape", f"pdist takes a matrix, not shape {x.shape}")
    if number(p, "p") < 0:
        raise GradcliError("value", f"pdist: p cannot be negative: {p!r}")
    count = x.shape[0]
    if count < 2:
        return np.zeros(0)
    f.charge(count * (count - 1) // 2 * x.shape[1])
    first, second = np.triu_indices(count, 1)
    apart = f(SUB, f(INDEX, x, key=first), f(INDEX, x, key=second))
    if p == math.inf:
        refuse_ties(np.abs(np.asarray(value_of(apart), dtype=np.float64)))
    return vector_norm(f, apart, p, 1, False)


@function("renorm", "torch method", "linear algebra", kinds="no no no")
def build_renorm(f: Apply, x: Tensor, p: Static, dim: Static, maxnorm: Static) -> Tensor:
    """an array whose layers along dim are made as long as maxnorm where they are longer, by the norm of order p"""
    if x.ndim < 2:
        raise GradcliError("shape", f"renorm takes an array of two axes or more, not shape {x.shape}")
    axis, most = one_axis(dim, x.ndim), number(maxnorm, "maxnorm")
    if number(p, "p") <= 0 or most < 0:
        raise GradcliError("value", "renorm: p is above 0, and maxnorm not below")
    norms = vector_norm(f, x, p, tuple(k for k in range(x.ndim) if k != axis), True)
    shorter = f(MUL, x, f(DIV, np.float64(most), f(ADD, norms, np.float64(1e-7))))
    return f(WHERE, np.asarray(value_of(norms)) > most, shorter, x)
