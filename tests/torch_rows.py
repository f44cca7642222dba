"""Points at the edge, and what PyTorch gives there: kinks, ties, 0·inf, overflow, -0, nan, no entries.

A row is a program, PyTorch's text for it where that is not the same, the inputs and v. ``python torch_rows.py`` asks
PyTorch for a sample of the rows and writes ``data/torch_edges.jsonl``, so that they are tested where it is not
installed. The texts of PyTorch are evaluated by Python: they are constants of the tests.
"""

# ruff: noqa: E501, SIM905 - a row is a line
# fmt: off

from __future__ import annotations

import json
import math
import re
import warnings
import zlib
from dataclasses import dataclass, field
from itertools import product
from math import inf, nan
from typing import Any

import numpy as np
from mpmath import mp

import form_rows
import linear_rows
import neural_rows
import notebook_rows
import pointwise_rows
import shape_rows
from exactly import derivative, value
from gradcli.engine.reverse import backward
from gradcli.language.program import compile_program
from gradcli.ops import METHODS, SPELLINGS
from oracles import DATA
from records import RECORDS
from records.constants import CANCELS, SIGNED, WITH_NAN

RTOL = 1e-12
RECORDED = "torch_edges.jsonl"


@dataclass(frozen=True)
class Row:
    program: str
    torch: str
    inputs: dict[str, Any]
    v: Any = None
    rtol: float = RTOL
    atol: float = 0.0


@dataclass
class Table:
    rows: list[Row] = field(default_factory=list)

    def __call__(self, program, torch=None, /, *, v=None, rtol=RTOL, atol=0.0, **inputs):
        self.rows.append(Row(program, torch or program, inputs, v, rtol, atol))

    def each(self, programs, /, *, vs=(None,), **options):
        for program, v in product(programs.split(" | "), vs):
            self(*program.strip().split(" => "), v=v, **options)


def seed_of(v, shape):
    return np.array(np.broadcast_to(np.asarray(1.0 if v is None else v, dtype=np.float64), shape))


def ours(case):
    """Return y and the gradients of a row; the inputs may be infinite or nan, as intermediate values are."""
    program = compile_program(case.program, given=frozenset(case.inputs))
    values = {name: np.asarray(x, dtype=np.float64)[()] for name, x in case.inputs.items()}
    graph, output, leaves = program.evaluate(values, frozenset(values))
    value = np.asarray(getattr(output, "value", output))
    return [value, *backward(graph, output, seed_of(case.v, value.shape), [leaves[name] for name in values])]


def theirs(case):
    import torch  # it may not be installed

    tensors = {name: torch.tensor(x, dtype=torch.float64, requires_grad=True) for name, x in case.inputs.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch warns of too few degrees of freedom, of .T, of broadcasting
        output = eval(case.torch, {"torch": torch, "F": torch.nn.functional, "math": math}, tensors)  # noqa: S307 - constants
        output.backward(torch.tensor(seed_of(case.v, tuple(output.shape)), dtype=torch.float64))
    return [output.detach().numpy(), *(np.zeros(x.shape) if x.grad is None else x.grad.numpy() for x in tensors.values())]


MORE_EXACT = {
    call.strip(): (known.name, more) for known in RECORDS.values() for more in known.more_exact for call in more.calls.split(" | ")
}
"""The op that a program is, and what its record says of PyTorch's digits there."""
NO_BETTER = "where PyTorch has fewer digits, the op's record says so: more_exact"
SMALLEST = 1000 * 2.0**-1074
"""Rounding of what is no normal double any more, such as exp(x) below -708, times numbers such as x."""


def is_exact(case, what, place, found):
    """Return whether an entry is the true one, by the definition of the op that a row is, in mpmath's digits."""
    name, more = MORE_EXACT[case.program]
    if more.figure is not None:
        return near(found, more.figure(case, what, place, **more.options), case, what, place)
    point = tuple(map(float, [*more.before, *(np.asarray(x)[place] for x in case.inputs.values())]))
    if what == "y":
        return near(found, value(name, point, **more.options), case, what, place)
    slope = derivative(name, len(more.before) + list(case.inputs).index(what), point, **more.options)
    return near(found, slope, case, what, place)


def near(found, exact, case, what, place):
    """Return whether a figure is the value, or v times the derivative, to 12 digits; an infinite v has signs alone."""
    v = 1.0 if what == "y" else float(seed_of(case.v, np.shape(case.inputs[what]))[place])
    if not np.isfinite(v):
        return bool(np.array_equal(found, v * float(exact), equal_nan=True))
    return bool(abs(mp.mpf(float(found)) - v * exact) <= RTOL * abs(v * exact) + abs(v) * SMALLEST)


def check(case, expected):
    """Raise AssertionError unless y and all gradients of a row are as expected, or known to be more exact."""
    for what, found, want in zip(["y", *case.inputs], ours(case), expected, strict=True):
        right = np.array(want)
        if case.program in MORE_EXACT:
            differ = ~np.isclose(found, want, case.rtol, case.atol, equal_nan=True)
            for place in map(tuple, np.argwhere(differ)):
                if is_exact(case, what, place, np.asarray(found)[place]):
                    right[place] = np.asarray(found)[place]
        np.testing.assert_allclose(found, right, case.rtol, case.atol, err_msg=f"{what} of {case}; {NO_BETTER}")


def functions_called(rows):
    """Return the names of the functions that a program of the rows calls."""
    called = {name for case in rows for name in re.findall(r"[\w.]+(?=\()", case.program)}
    return {f.name for name in called for f in (SPELLINGS.get(name), METHODS.get(name.rpartition(".")[2])) if f}


FLAT = set("argmax argmin any all isnan heaviside zeros ones eye arange linspace ones_like tensor".split())
"""Functions that PyTorch is not asked about: they have no derivative."""
OF_NUMPY = {"astype"}
"""Methods of arrays that PyTorch's tensors lack."""


row = Table()
SEEDS = (None, 0.0, inf, 1e300)
TIES, NANS = [[0.0, -0.0, 1.0], [3.0, 1.0, 3.0], [2.0, 2.0, 2.0]], [[2.0, nan, 1.0], [nan, nan, 0.0]]
FAR = [[1e200, 1e200, 1e-200], [1e-200, 1e-200, 0.0], [1e155, -1e155, 1.0], [1.7e308, 1.7e308, 2.0], [inf, 0.0, 2.0], [-inf, inf, 1.0]]
ZEROS = [[2.0, 0.0, 3.0, 4.0], [2.0, 0.0, 3.0, 0.0], [0.0, 0.0, 0.0, 5.0], [0.0, inf, 2.0, 3.0], [1.0, 2.0, nan, 0.0]]
ONE, NONE = [[2.5], [0.0], [-0.0], [inf], [nan], [1e200]], []

# --- functions of one number, over the whole range of doubles ---
for known in RECORDS.values():
    if known.torch is not None:
        row.each(known.torch.calls, vs=SEEDS, x=list(known.torch.line), atol=known.torch.atol)
row.each("torch.clamp(x, 0., 1.) | torch.clamp(x, 1., 1.) | torch.clamp(x, 1., -1.) | torch.clip(x, -1, 1) | torch.clamp_min(x, 0.5) | torch.clamp_max(x, 1.)", vs=SEEDS, x=WITH_NAN)
row.each("x**2 | x**3 | x**0 | x**1 | x**-1 | x**-2 | x**-3 | x**0.5 | x**-0.5 | x**1.5 | 2**x | 0**x | x/x | 0/x | 1/x | 2/x | -3/x | x/3 | x*0 | x%3 | x%-3 | x%0", vs=SEEDS, x=WITH_NAN)
row.each("1/torch.relu(x) | 1/torch.clamp(x, 0., 1.) | 1/F.elu(x) | 1/(x%3) | 1/torch.cumsum(x, 0) | 1/F.logsigmoid(800*x) | 1/x**0.5 | torch.atan2(x, x) | torch.exp(-1/x)", x=[-0.0, 0.0, -3.0, 3.0, 1.0])
row.each("torch.where(x > 0, torch.sqrt(x), 0.) | torch.where(x == 0, 0., 1/x) | torch.log(torch.sigmoid(x)) | torch.exp(1000*x)*0 | torch.log(torch.exp(x)) | torch.tanh(1/x)", vs=SEEDS, x=SIGNED)
row("cbrt(x)", "torch.pow(x, 1/3)", x=[1e-300, 0.5, 8.0, 1e300])  # PyTorch has no cbrt; a power is right above 0 alone

# --- functions of two numbers ---
PAIRS = [-inf, -1e160, -2.0, -0.5, -0.0, 0.0, 1e-160, 0.5, 1.0, 1e160, inf, nan]
LEFT, RIGHT = (list(side) for side in zip(*product(PAIRS, PAIRS), strict=True))
BINARY = "a + b | a - b | a * b | a / b | a ** b | torch.maximum(a, b) | torch.minimum(a, b) | torch.fmax(a, b) | torch.fmin(a, b) | torch.hypot(a, b) | torch.atan2(a, b) | torch.xlogy(a, b) | torch.logaddexp(a, b) | torch.where(a < b, a, b) | torch.clamp(a, min=b) | torch.clamp(a, max=b)"
row.each(BINARY, vs=(None, -2.0, 1e300), a=LEFT, b=RIGHT)
row.each("torch.add(a, b) | torch.sub(a, b) | torch.mul(a, b) | torch.div(a, b) | torch.remainder(a, b) | torch.pow(a, b) | a % b", a=[3.0, -3.0, 0.3, inf, -0.0], b=[2.0, 2.0, -0.1, 2.0, 3.0])
for name in ("mse_loss", "l1_loss", "huber_loss"):
    row.each(f'F.{name}(a, b, reduction="none") | F.{name}(a, b)', vs=(None, inf), a=LEFT, b=RIGHT)
row.each('F.huber_loss(a, b, reduction="none", delta=0.5) | F.huber_loss(a, b, reduction="none", delta=1e300)', vs=SEEDS, a=LEFT, b=RIGHT)
row.each('F.binary_cross_entropy_with_logits(a, b, reduction="none")', vs=SEEDS, a=[-800.0, -710.0, -1e-16, 0.0, 40.0, 800.0, inf, nan], b=[0.0, 1e-300, 0.5, 0.5, 1.0, 1.0, 0.0, 1.0], atol=CANCELS)
row.each('F.binary_cross_entropy(a, b, reduction="none")', vs=SEEDS, a=[0.0, 0.0, 5e-324, 1e-12, 1.0, 1.0, 1 - 1e-16, 0.3], b=[0.0, 1.0, 0.5, 1.0, 0.0, 1.0, 0.5, 0.3])
BOUNDS = list(product([-1.0, 0.5, 2.0], [-1.0, 0.5, 2.0, inf], [-1.0, 0.5, 2.0, inf]))
row.each("torch.clamp(x, a, b)", vs=SEEDS, **{name: [bound[k] for bound in BOUNDS] for k, name in enumerate("xab")})
row.each("torch.clamp(x, a, b)", vs=SEEDS, x=[0.0, 1.0, 2.0, nan], a=1.0, b=1.0)

# --- reductions ---
for x in (*TIES, *NANS, *FAR, *ZEROS, *ONE, [TIES[1], TIES[0]], 1e200, 0.0):
    named = ", 0" if np.ndim(x) else ""
    for v in (None, inf):
        row.each("torch.sum(x) | torch.mean(x) | torch.prod(x) | torch.max(x) | torch.min(x) | torch.amax(x) | torch.amin(x) | torch.median(x) | torch.norm(x) | torch.norm(x, 1) | torch.norm(x, 3) | torch.norm(x, 0.5) | torch.norm(x, torch.inf) | torch.var(x) | torch.std(x) | torch.var(x, correction=2) | torch.linalg.norm(x) | torch.logsumexp(x, 0)", vs=(v,), x=x, atol=CANCELS)
        if named:
            row.each("torch.prod(x, 0) | torch.var(x, 0, correction=2) | torch.std(x, 0) | torch.amax(x, 0) | torch.max(x, 0).values | torch.median(x, 0).values | torch.sort(x, 0).values | torch.sort(x, 0, descending=True).values | torch.cumsum(x, 0) | torch.cumprod(x, 0) | torch.norm(x, torch.inf, 0)", vs=(v,), x=x, atol=CANCELS)
row.each("torch.log(torch.prod(x)) | torch.log(torch.prod(x, 0)) | torch.cumprod(1/x, 0)[1] | torch.prod(torch.sqrt(x)) | torch.cumprod(torch.sqrt(x), 0) | torch.sort(torch.sqrt(x), descending=True).values | torch.median(torch.log(-x))", x=[2.0, 0.0, 3.0, 0.0])
row.each("torch.cumprod(x, 1) | torch.cumprod(x, 0) | torch.prod(x, 1) | torch.prod(x, 0, keepdim=True)", vs=SEEDS, x=ZEROS)
row.each("torch.sum(x) | torch.prod(x) | torch.norm(x) | torch.cumsum(x, 0) | torch.cumprod(x, 0) | x[1:]", x=NONE)
row.each("torch.norm(x, dim=1) | torch.norm(x, 3, 1) | torch.sum(x, 1, keepdim=True)", x=[[1e200], [-0.0], [inf]])
row.each("np.var(x) => torch.var(x, correction=0) | np.std(x) => torch.std(x, correction=0) | np.cumsum(x) => torch.cumsum(x, 0) | np.sort(x) => x.sort().values | np.median(x) => torch.quantile(x, 0.5)", x=[2.0, 2.0, 2.0])

# --- shaping: a cotangent of inf or nan goes where its entry came from, and nowhere else ---
for x in ([0.0, 1.0, 4.0, 0.0], [1e-300, -1.0, 1e300, inf]):
    row.each("torch.sqrt(x)[[0, 0, 1, -1]] | torch.sqrt(x)[1:] | torch.sqrt(x)[x > 0.5] | torch.flip(torch.sqrt(x), [0])[:2] | torch.roll(1/x, 1)[1:] | torch.tril(torch.outer(1/x, x)) | torch.triu((1/x)[None]*x[:, None]) | torch.diag(1/x)[1] | torch.diagonal(torch.outer(x, x)) | torch.cat([1/x, x])[3:] | torch.stack([1/x, x])[1] | (1/x).expand(3, 4)[0] | (1/x).repeat(2)[3:] | torch.repeat_interleave(1/x, 2)[2:] | (1/x).reshape(2, 2)[1] | torch.ravel(1/x)[2:] | (1/x).flatten()[2:] | (1/x).unsqueeze(0)[:, 1] | torch.squeeze((1/x)[None])[1] | (1/x).clone()[1] | (1/x).double()[1] => (1/x)[1] | (1/x).detach()*x | torch.full((4,), 2.)*x | torch.full_like(x, 3.)/x | torch.zeros_like(x)/x | torch.trace(torch.outer(x, x)) | (1/x).reshape(2, 2).T[0] | (1/x).reshape(2, 2).t()[0] | (1/x).reshape(2, 2).transpose(0, 1)[0] | torch.permute((1/x).reshape(2, 2), (1, 0))[0] | x.float() => x.double() | torch.as_tensor([1., 0., 2., 1.])*x => torch.tensor([1., 0., 2., 1.])*x", x=x)
    row("np.transpose((1/x).reshape(2, 2))[0]", "(1/x).reshape(2, 2).T[0]", x=x)

# --- linear algebra, softmax, layers ---
A, SINGULAR = [[2.0, 1.0, 0.5], [0.3, 3.0, -1.0], [0.7, -0.2, 1.5]], [[1.0, 2.0], [2.0, 4.0]]
row.each("a @ b | torch.dot(a, b) | torch.inner(a, b) | torch.outer(a, b) | torch.einsum('i,i->', a, b) | torch.einsum('i,j->j', a, b)", vs=SEEDS, a=[0.0, 0.0, 1e200], b=[inf, 1.0, 1e200])
row.each("a @ b | torch.mm(a, b) | torch.einsum('ij,jk->k', a, b) | torch.matmul(a, b)", vs=SEEDS, a=[[0.0, inf, 1.0], [1.0, 0.0, 2.0]], b=[[0.0, 1.0], [0.0, 0.0], [1.0, 1.0]])
row.each("torch.einsum('bij,bjk->', a, b) | torch.bmm(a, b) | a @ b", vs=(None, inf), a=[A, A], b=[[*SINGULAR, [0.0, 0.0]]] * 2)
row.each("torch.mv(a, b) | F.linear(b, a) | torch.linalg.solve(a, b)", vs=(None, 0.0, -2.0), a=A, b=[1.0, 0.0, -1.0])
for a, b in (([A, A], [[1.0, 2.0, 3.0], [0.0, 1.0, -1.0]]), ([A, A], [1.0, 2.0, 3.0]), (A, [[1.0, 0.5], [2.0, -1.0], [0.0, 3.0]]), ([[A], [A]], [[[1.0], [0.0], [2.0]]] * 3), ([[1e-200]], [1e200])):
    row.each("torch.linalg.solve(a, b)", vs=(None, 0.0), a=a, b=b)
for a in (SINGULAR, [[0.0, 0.0], [0.0, 5.0]], [[0.0]], [[3.0]], [[1e200, 0.0], [0.0, 1e200]], [[1e-200, 0.0], [0.0, 1e-200]], [[0.0, 1.0], [1.0, 0.0]], [SINGULAR, [[1.0, 0.0], [0.0, 1.0]]]):
    row.each("torch.det(a)", vs=(None, 0.0, inf), a=a)
row.each("torch.inverse(a) | torch.linalg.inv(a) | torch.trace(a)", vs=(None, 0.0), a=A)
for x in ([800.0, -800.0, 799.0], [-inf, 0.0, 1.0], [inf, 0.0, 1.0], [-inf, -inf, -inf], [nan, 1.0, 2.0], [0.0, 0.0, 0.0]):
    row.each("torch.softmax(x, 0) | torch.log_softmax(x, 0) | torch.log(torch.softmax(x, 0))", vs=(None, [1.0, -2.0, 3.0], inf), x=x, atol=CANCELS)
    row("F.cross_entropy(x, 1)", "F.cross_entropy(x, torch.tensor(1))", x=x, atol=CANCELS)
    row("F.nll_loss(x, 1)", "F.nll_loss(x, torch.tensor(1))", x=x)
row.each("F.layer_norm(x, (3,))", vs=(None, [1.0, -2.0, 3.0], inf), x=[2.0, 2.0, 2.0])
row.each("F.layer_norm(x, (3,))", vs=([1.0, -2.0, 3.0],), x=[1.0, -2.0, 4.0], rtol=1e-10, atol=CANCELS)

# --- the classes of a loss are on axis 1, and the empty tuple names all axes, none, or is refused ---
SCORES, PLACES = np.sin(np.arange(24.0)).reshape(2, 3, 4).tolist(), [[0.0, 2.0, 1.0, 1.0], [2.0, 2.0, 0.0, 1.0]]
SHARES = (np.cos(np.arange(24.0)) ** 2).reshape(2, 3, 4).tolist()
for how in ("", ', reduction="sum"', ', reduction="none"'):
    row(f"F.cross_entropy(x, {PLACES}{how})", f"F.cross_entropy(x, torch.tensor({PLACES}).long(){how})", x=SCORES, atol=CANCELS)
    row(f"F.nll_loss(x, {PLACES}{how})", f"F.nll_loss(x, torch.tensor({PLACES}).long(){how})", x=SCORES)
    row(f"F.nll_loss(x, {[PLACES, PLACES]}{how})", f"F.nll_loss(x, torch.tensor({[PLACES, PLACES]}).long(){how})", x=np.swapaxes([SCORES, SCORES], 1, 2).tolist())
    row(f"F.cross_entropy(x, p{how})", x=SCORES, p=SHARES, atol=CANCELS)
for empty in ("()", "[]"):
    row.each(" | ".join(f"torch.{name}(x, dim={empty})" for name in "sum mean amax amin norm squeeze".split()), x=A)
    row.each(" | ".join(f"torch.{name}(x, dim={empty}, keepdim=True)" for name in "sum mean amax logsumexp".split()), x=A)
    row.each(f"torch.flip(x, {empty}) | torch.roll(x, 1, {empty}) | x.sum({empty}) | torch.norm(x, 1, {empty}) | torch.tile(x, {empty})", x=A)
row.each("np.sum(x, ()) => x*1 | np.mean(x, axis=()) => x*1 | np.max(x, axis=()) => x*1 | np.prod(x, axis=[]) => x*1 | np.var(x, axis=()) => x*0 | np.roll(x, 1, ()) => x*1 | np.median(x, axis=()) => x*1", x=A)
row.each("torch.einsum('i,->i', x, s) | torch.einsum(',i->i', s, x) | torch.einsum('i,i,->', x, x, s)", x=[0.5, -1.0, 2.0], s=3.0)
linear_rows.add(row)
form_rows.add(row)

shape_rows.add(row)
pointwise_rows.add(row)
neural_rows.add(row)
notebook_rows.add(row)

EDGES = row.rows
SHARE = 9
"""One row of so many with a v is recorded, and all without."""


def key_of(case):
    """Return what tells a row from all others: its program, and a number for its inputs and v."""
    return f"{case.program} #{zlib.crc32(repr((case.inputs, case.v, case.torch)).encode()):08x}"


SAMPLE = {key_of(case): case for case in EDGES if case.v is None or zlib.crc32(key_of(case).encode()) % SHARE == 0}
"""The rows whose figures are recorded."""


def as_words(array):
    """Return an array as nested lists that JSON holds: what is not finite as a word."""
    if isinstance(array, list):
        return [as_words(item) for item in array]
    return array if np.isfinite(array) else str(float(array))


def record():
    """Write what PyTorch gives for each row of the sample."""
    lines = [json.dumps({"row": key, "figures": [as_words(figure.tolist()) for figure in theirs(case)]}) for key, case in SAMPLE.items()]
    (DATA / RECORDED).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record()
