"""Polynomials by their coefficients, the highest power first as numpy has them, and convolutions of vectors."""

from __future__ import annotations

import math

import numpy as np

from gradcli.errors import GradcliError
from gradcli.ops.arithmetic import ADD, MUL, OF_TWO
from gradcli.ops.declare import Apply
from gradcli.ops.indexing import INDEX
from gradcli.ops.joining import STACK, build_cat
from gradcli.ops.reductions import SUM
from gradcli.ops.shaping import EXPAND, whole
from gradcli.ops.signatures import Library, Static, Tensor
from gradcli.ops.vocabulary import function

POW = OF_TWO["pow"]


def powers(f: Apply, x: Tensor, count: int, increasing: bool) -> Tensor:
    """Return x to the powers from 0 up to ``count`` - 1, or down to 0, along a new last axis."""
    f.charge(math.prod(x.shape) * count)
    found = [np.ones(x.shape), x, *(f(POW, x, np.float64(k)) for k in range(2, count))][:count]
    if not found:
        return np.zeros((*x.shape, 0))
    return f(STACK, *(found if increasing else found[::-1]), dim=x.ndim)


def powers_wanted(x: Tensor, n: Static) -> int:
    """Return how many powers there are: as many as entries unless said otherwise."""
    count = x.shape[-1] if n is None else whole(n, "N")
    if count < 0:
        raise GradcliError("value", f"vander: N is 0 or more, not {count}")
    return count


@function("vander", "torch numpy", "making", kinds="no no yes")
def build_vander(
    f: Apply, x: Tensor, N: Static = None, increasing: Static = False, library: Library = "torch"
) -> Tensor:
    """the powers of each entry as rows, from N - 1 down to 0, or up with increasing=True"""
    if x.ndim != 1:
        raise GradcliError("shape", f"vander takes a vector, not shape {x.shape}")
    if library == "torch" and getattr(x, "active", False):
        f.remark("torch-refuses", "vander: PyTorch writes its powers in place and refuses backward; linalg.vander is "
                 "the same in the order of increasing powers.")  # fmt: skip
    return powers(f, x, powers_wanted(x, N), bool(increasing))


@function("linalg.vander torch.linalg.vander", "", "making", kinds="no no yes")
def build_linalg_vander(f: Apply, x: Tensor, *, N: Static = None) -> Tensor:
    """the powers of each entry along a new last axis, from 0 up to N - 1"""
    if not x.ndim:
        raise GradcliError("shape", "linalg.vander takes an array with an axis, not one number")
    count = powers_wanted(x, N)
    if count < 2:
        raise GradcliError("value", f"linalg.vander: N is more than 1, not {count}")
    return powers(f, x, count, increasing=True)


def row(x: Tensor, name: str) -> Tensor:
    """Return a vector with an entry; raises ``shape`` for anything else."""
    if x.ndim != 1 or not x.shape[0]:
        raise GradcliError("shape", f"{name} takes a vector of one number or more, not shape {x.shape}")
    return x


@function("polyval", "numpy not-bare", "elementwise", kinds="no no yes")
def build_polyval(f: Apply, p: Tensor, x: Tensor) -> Tensor:
    """the polynomial with these coefficients at x, the highest power first"""
    own = row(p, "polyval")
    parts = [f(INDEX, own, key=k) for k in range(own.shape[0])]
    found = parts[0]
    for part in parts[1:]:
        found = f(ADD, f(MUL, found, x), part)
    return found if found.shape == x.shape else f(EXPAND, found, shape=x.shape)


# --- convolutions ---


def slid(f: Apply, a: Tensor, b: Tensor) -> Tensor:
    """Return Σ a[n - k]·b[k] for each n that has a term."""
    length, own = a.shape[0] + b.shape[0] - 1, b.shape[0]
    f.charge(length * own)
    wide = build_cat(f, [part for part in (np.zeros(own - 1), a, np.zeros(own - 1)) if part.shape[0]], 0)
    places = np.arange(length)[:, None] + np.arange(own - 1, -1, -1)
    return f(SUM, f(MUL, f(INDEX, wide, key=places), b), dim=(1,), keepdim=False)


def within(f: Apply, found: Tensor, lengths: tuple[int, int], mode: Static, name: str) -> Tensor:
    """Return the part of a whole convolution that a mode names."""
    most, least = max(lengths), min(lengths)
    if mode == "full":
        return found
    if mode not in ("same", "valid"):
        raise GradcliError("value", f"{name}: mode is 'full', 'same' or 'valid', not {mode!r}")
    start, count = (least - 1 - least // 2, most) if mode == "same" else (least - 1, most - least + 1)
    return f(INDEX, found, key=slice(start, start + count))


@function("convolve", "numpy not-bare", "making", kinds="no no yes")
def build_convolve(f: Apply, a: Tensor, v: Tensor, mode: Static = "full") -> Tensor:
    """the convolution of two vectors: all of it, as long as the longer, or where they overlap wholly"""
    a, v = (row(part, "convolve") for part in (a, v))
    first, second = (a, v) if a.shape[0] >= v.shape[0] else (v, a)
    return within(f, slid(f, first, second), (a.shape[0], v.shape[0]), mode, "convolve")
