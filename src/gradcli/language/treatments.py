"""What functions make of masks and of integers, as PyTorch and NumPy have it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gradcli.graph import Graph, Node
from gradcli.language.kinds import FLOAT, INTEGER, MASK, NAMES, neither, only_numpy
from gradcli.ops.declare import Pair, value_of

# The columns: masks, integers, and either beside floats. "same" is the kind that came; "numpy" says that PyTorch
# refuses, "torch" that NumPy does; "no" that both do, where NumPy may not have the function; "other" that the number of
# NumPy is another one; "target" that the first argument has to be floats, "integers" that it has, and "unmasked"
# that none is a mask; "floats" is "numpy" with floats for masks beside integers.
TABLE = """
same          same           yes      maximum minimum fmax fmin reshape ravel squeeze unsqueeze expand flip roll
same          same           yes      repeat_interleave repeat diag diagonal clone stack cat where clip amax amin
same          same           yes      flatten permute transpose np.transpose t detach clamp_min clamp_max max min sort
same          same           yes      np.sort tril triu zeros_like ones_like full_like outer tensor as_tensor
mask          mask           yes      any all isnan
integer       integer        yes      sum prod cumsum cumprod np.cumsum square
numpy-integer integer        yes      argmax argmin trace
numpy-same    same           numpy    matmul inner dot einsum
numpy-same    same           yes      abs floor ceil trunc
torch-same    same           yes      sign
numpy-float   same           yes      round
same          same           floats   heaviside
no            same           no       mm mv bmm linear torch.dot
no            same           yes      relu median
no            float          yes      softsign
other-float   float          yes      sin cos tan asin acos atan sinh cosh tanh asinh exp expm1 log1p atan2
float         float          yes      acosh atanh exp2 log log2 log10 sqrt rsqrt erf xlogy logsumexp sigmoid sinc cbrt
float         float          yes      float double
other-float   other-float    yes      reciprocal
numpy-float   numpy-float    yes      hypot logaddexp mean np.median np.var np.std linalg.norm det inv
numpy-float   numpy-float    numpy    solve
no            no             yes      logsigmoid silu leaky_relu elu softplus gelu var std norm softmax log_softmax
no            no             yes      mse_loss
no            no             target   huber_loss
no            no             unmasked l1_loss
no            no             integers nll_loss cross_entropy
no            no             no       bce binary_cross_entropy_with_logits layer_norm
"""
TREATMENTS = {
    name: (masks, integers, beside)
    for masks, integers, beside, *names in map(str.split, TABLE.strip().splitlines())
    for name in names
}


def treated(f: Graph, name: str, kinds: Iterable[str]) -> str | None:
    """Return the kind of the result of a function whose arguments are of these kinds, None for floats.

    Raises ``type`` where both libraries refuse.
    """
    found = list(kinds)
    masks, integers, beside = TREATMENTS.get(name, ("float", "float", "yes"))
    what = f"{name} of {' and '.join(NAMES[kind] for kind in dict.fromkeys(found))}"
    if FLOAT in found:
        beside_floats(f, what, found, beside)
        return None
    mixed = len(set(found)) > 1
    if mixed and beside == "no":
        raise neither(what)
    if mixed and beside == "floats":
        only_numpy(f, what)
        return None
    rule = integers if INTEGER in found else masks
    if mixed and beside == "numpy":
        rule = f"numpy-{rule.rpartition('-')[2]}"
    return alone(f, what, rule, INTEGER if INTEGER in found else MASK)


def beside_floats(f: Graph, what: str, kinds: list[str], beside: str) -> None:
    """Refuse or remark on a function of floats and others, as its column says."""
    first = beside in ("target", "integers") and kinds[0] != FLOAT
    masked = beside in ("integers", "unmasked") and MASK in kinds
    if beside == "no" or first or masked:
        raise neither(what)
    if beside in ("numpy", "floats"):
        only_numpy(f, what)


def alone(f: Graph, what: str, rule: str, own: str) -> str | None:
    """Return the kind that a rule of the table makes of ``own``, with a remark where one library refuses or differs."""
    side, _, kind = rule.rpartition("-")
    if kind == "no":
        raise neither(what)
    if side == "numpy":
        only_numpy(f, what)
    elif side == "torch":
        f.remark("torch-only", f"{what}: this is PyTorch's answer, NumPy refuses.")
    elif side == "other":
        f.remark("numpy-differs", f"{what}: this is PyTorch's answer; NumPy computes in half precision or in integers.")
    return own if kind == "same" else None if kind == FLOAT else kind


def cast(value: Any, kind: str | None) -> Any:
    """Return a result as a mask or as integers; None leaves it as it is."""
    if kind is None or (isinstance(value, Node) and value.active):
        return value
    if type(value) is Pair:
        return Pair(cast(value.values, kind), value.indices)
    numbers = np.asarray(value_of(value), dtype=np.float64)
    return numbers.astype(np.bool_ if kind == MASK else np.int64)[()]
