"""What functions of notebooks refuse: an argument or a shape that has no meaning, told by name.

PyTorch, where it is installed and has the function, refuses each of them too.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import gradcli
from gradcli.errors import GradcliError
from oracles import needs_torch
from torch_rows import Row, theirs

INPUTS = {
    "s": 1.5,
    "u": [1.0, 2.0],
    "w": [1.0, 2.0, 3.0],
    "A": [[1.0, 2.0], [3.0, 4.0]],
    "M": [[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]],
    "C": [[[1.0, 2.0, 4.0, 3.0], [0.5, 1.0, -1.0, 2.0]]],
    "P": [[[[1.0, 2.0, 4.0], [3.0, 0.5, 1.0], [2.0, 1.0, 0.0]]]],
    "V": [[[0.3, 0.7]]],
    "n": [],
}
"""The point at which every row is read; each gets the variables that it names."""

LAYERS = [
    ("F.hardtanh(w, 2., 1.)", "max_val is less"),
    ("F.celu(w, alpha=0.)", "alpha cannot be 0"),
    ("F.rrelu(w, 0.5, 0.1)", "upper is less"),
    ("F.conv1d(C, V, groups=0)", "groups is an integer from 1"),
    ("F.conv1d(C, torch.ones(3, 2, 1), bias=u)", "there are 3 outputs"),
    ("F.conv1d(C, torch.ones(3, 2, 1), padding='same', stride=2)", "goes with a stride of 1"),
    ("F.conv_transpose1d(C, torch.ones(2, 1, 3), output_padding=1)", "less than the stride"),
    ("F.conv1d(C, torch.ones(3, 2, 9))", "does not fit into"),
    ("F.conv_transpose1d(C, torch.ones(2, 1, 2), padding=9)", "has none left"),
    ("F.batch_norm(M, None, None, weight=u, training=True)", "weight"),
    ("F.batch_norm(M, None, None)", "needs running_mean and running_var"),
    ("F.batch_norm(w, u, u)", "channels on axis 1"),
    ("F.batch_norm(M[:1], None, None, training=True)", "two numbers or more"),
    ("F.dropout(w, p=1.5, training=False)", "from 0 to 1"),
    ("F.scaled_dot_product_attention(A, A, A, A > 1, is_causal=True)", "not both"),
    ("F.scaled_dot_product_attention(A, M, A)", "do not fit"),
    ("F.max_pool1d(C, 2, padding=2)", "at most half of the kernel"),
    ("F.avg_pool2d(P, 2, divisor_override=0)", "divisor_override cannot be 0"),
    ("F.adaptive_max_pool1d(C[:, :, :0], 1)", "no entries"),
    ("F.lp_pool1d(C, 0, 2)", "other than 0"),
    ("F.interpolate(C)", "one of them"),
    ("F.interpolate(C, size=2, recompute_scale_factor=True)", "goes with scale_factor"),
    ("F.interpolate(C, scale_factor=[2., 2.])", "one for each of 1 axes"),
    ("F.interpolate(C, scale_factor=0.1)", "nothing is left"),
    ("F.interpolate(C, size=2, mode='bicubic')", "is no mode for 1 axes"),
    ("F.interpolate(C, size=2, align_corners=True)", "does not go with mode"),
    ("F.pixel_unshuffle(P, 2)", "does not divide"),
    ("F.pad(w, (1, 1, 1))", "pairs of counts"),
    ("F.pad(w, (-2, -2))", "more is cut off"),
    ("F.pad(C, (1, 1), mode='reflect', value=1.)", "is not supported"),
    ("F.pad(w, (1, 1), mode='reflect')", "is not supported by PyTorch"),
    ("F.pad(C, (4, 4), mode='reflect')", "beyond the other end"),
    ("F.unfold(P, 5)", "do not fit into a length"),
    ("F.fold(C, (3, 3), (2, 2))", "windows of 4 entries"),
    ("F.fold(torch.ones(1, 4, 3), (3, 3), (2, 2))", "for windows that make up"),
    ("F.embedding([0, 1], A, padding_idx=7)", "padding_idx is a row"),
    ("F.one_hot([0, 5], 3)", "integers from 0 to 2"),
    ("F.softshrink(w, -1.)", "lambd cannot be negative"),
    ("F.prelu(w, A)", "a number or a vector"),
    ("F.glu(s)", "an axis to halve"),
    ("F.glu(w)", "an even number fits"),
    ("F.conv1d(C, V)", "2 channels, 1 by the weight"),
    ("F.scaled_dot_product_attention(w, w, w)", "takes matrices"),
    ("F.interpolate(w, size=2)", "a batch of channels"),
    ("F.pixel_shuffle(C, 2)", "does not divide the channels"),
    ("F.pad(w, (1, 1), value=u)", "a plain number as its value"),
    ("F.unfold(P, (1, 2, 3))", "one number or two"),
    ("F.embedding(torch.tensor([0, 1]), w)", "the weight is a matrix"),
    ("F.one_hot(torch.tensor([], dtype=torch.long))", "needs num_classes"),
]

LOSSES = [
    ("F.smooth_l1_loss(w, w + 1, beta=-1.)", "beta cannot be negative"),
    ("F.gaussian_nll_loss(M, M, w)", "var has shape"),
    ("F.triplet_margin_loss(w, w + 1, w - 1, margin=0.)", "margin must be above 0"),
    ("F.cosine_embedding_loss(M, A, [1., 1.])", "do not fit"),
    ("F.multi_margin_loss(M, [0, 1], p=3)", "p is 1 or 2"),
    ("F.multi_margin_loss(C, [0])", "a vector or a matrix of scores"),
    ("F.multilabel_margin_loss(w, [0, 7, -1])", "from -1 to 2"),
    ("F.huber_loss(w, w + 1, delta=0.)", "delta must be above 0"),
    ("F.cross_entropy(w, 1, label_smoothing=1.5)", "from 0 to 1"),
    ("F.cross_entropy(w, torch.tensor([0.2, 0.3, 0.5]), ignore_index=1)", "not with probabilities"),
    ("F.cross_entropy(s, torch.tensor(0))", "scores for each class"),
    ("F.gaussian_nll_loss(w, w + 1, -w)", "cannot be negative"),
    ("F.multilabel_soft_margin_loss(s, s)", "scores for each label"),
]

ALGEBRA = [
    ("torch.tensordot(A, A, dims=([0], [0], [0]))", "two lists of axes"),
    ("torch.linalg.matrix_norm(A, dim=(0,))", "over two axes"),
    ("torch.cdist(A, A, p=-1.)", "p cannot be negative"),
    ("F.cosine_similarity(w, u)", "do not broadcast"),
    ("torch.addmm(w, A, A)", "does not broadcast to that of the product"),
    ("torch.bmm(C, torch.ones(2, 4, 1))", "batches"),
    ("torch.einsum('...ijk,i', A, u)", "names more axes"),
    ("torch.cholesky_solve(u, A)", "takes a matrix B"),
    ("torch.linalg.solve(A, u, left=False)", "takes a matrix B with left=False"),
    ("torch.linalg.cross(u, u)", "takes 3 entries"),
    ("torch.linalg.multi_dot([M, w, M])", "vectors at its ends"),
    ("torch.einsum('ij,jk', A)", "names 2 arrays, 1 given"),
    ("torch.einsum('...,...', A)", "may hold letters"),
    ("torch.inner(u, w)", "differ in length"),
    ("torch.linalg.lstsq(M.T, torch.ones(3, 1), driver='qr')[0]", "driver is one of"),
    ("torch.linalg.svd(A)[5]", "there are 3 arrays"),
]

PLACES = [
    ("torch.meshgrid(u, w, indexing='xyz')", "'ij' or 'xy'"),
    ("torch.topk(w, 5)", "is not between"),
    ("torch.gather(M, 0, [0, 1])", "the index has shape"),
    ("torch.gather(A, 1, [[0], [1], [0]])", "is larger than the array"),
    ("torch.take_along_dim(M, torch.zeros(3, 1).long(), dim=1)", "do not fit"),
    ("torch.index_select(s, 0, torch.tensor([0, 0]))", "in one number"),
    ("torch.isclose(w, w, rtol=-1.)", "cannot be negative"),
    ("torch.histc(w, 0)", "bins is 1 or more"),
    ("torch.histc(w, 3, 0, math.inf)", "no finite stretch"),
    ("torch.diff(w, n=-1)", "n is 0 or more"),
    ("torch.gradient(w[:1])[0]", "gradient"),
    ("torch.scatter_reduce(w, 0, torch.tensor([0, 1, 0]), w, 'median')", "reduce is one of"),
    ("torch.scatter(M, 1, torch.tensor([0, 1]), 2.)", "the index (2,)"),
    ("torch.scatter_add(w, 0, torch.tensor([0, 1, 0]), u)", "is larger than"),
    ("torch.index_add(w, 0, torch.tensor([[0, 1]]), A)", "the index is a vector"),
    ("torch.index_add(w, 0, torch.tensor([0, 1]), w)", "the source has shape"),
    ("torch.movedim(M, (0, 1), (0,))", "cannot move"),
    ("torch.unflatten(s, 0, (1, 1))", "not one number"),
    ("torch.rot90(M, 1, [0])", "a plane of two axes"),
    ("torch.diag_embed(s)", "takes vectors"),
    ("w.unfold(0, 5, 1)", "there are none"),
    ("torch.broadcast_tensors(u, w)[0]", "do not broadcast to one"),
    ("torch.chunk(w, 0)[0]", "1 part or more"),
    ("torch.split(w, -1)[0]", "length of a part"),
    ("torch.split(w, [1, 1])[0]", "do not make up"),
    ("torch.narrow(w, 0, 4, 1)", "is out of range"),
    ("torch.narrow(w, 0, 2, 2)", "entries from place 2 on"),
    ("w.index_put((torch.tensor([7]),), torch.tensor(1.))", "index"),
    ("w.index_put((torch.tensor([0, 1]),), w)", "index_put"),
    ("torch.repeat_interleave(w, torch.tensor([1, -1, 1]))", "a count of 0 or more"),
    ("torch.flatten(M, 1, 0)", "comes after end_dim"),
    ("torch.cat([s, s])", "use stack for scalars"),
    ("torch.cat([A, M])", "needs equal other lengths"),
    ("torch.block_diag(P, u)", "matrices, vectors and numbers"),
    ("torch.quantile(w, 1.5)", "between 0 and 1"),
    ("torch.bucketize(w, A)", "the boundaries are a vector"),
    ("torch.trapezoid(w, w, dx=2.)", "x or dx, not both"),
    ("torch.trapezoid(w, u)", "does not fit y"),
    ("torch.index_fill(w, 0, torch.tensor([0]), u)", "takes one number"),
    ("w.index_put((torch.tensor([0, 1]),), A)", "for (2,) entries"),
    ("w.put(torch.tensor([0, 1]), w)", "2 positions for a source"),
    ("w.item()", "is not one number"),
]

ONLY_HERE = [
    ("np.nanmax(w/0 - w/0)", "all entries are nan"),
    ("torch.linalg.eigvalsh(A/0)", "finite numbers"),
    ("torch.gradient(w, spacing=(u,))[0]", "2 places for an axis of length 3"),
    ("F.rrelu(w, training=True)", "draws its slopes at random"),
    ("torch.polygamma(10**9, w)", "from 0 to 170"),
    ("F.embedding(torch.tensor([0, 1]), A, max_norm=1.)", "not part of the language"),
    ("torch.searchsorted(torch.tensor([3., 1.]), w)", "not in rising order"),
    ("F.triplet_margin_loss(s, s, s)", "vectors or batches"),
    ("F.scaled_dot_product_attention(A, A, A, dropout_p=0.5)", "draws at random"),
    ("np.pad(w, -1)", "cannot be negative"),
    ("np.pad(w, 1, mode='linear_ramp')", "is not supported"),
    ("np.pad(n, 1, mode='edge')", "nothing of shape"),
    ("np.pad(w, ((1, 1), (1, 1)))", "a width, a pair"),
    ("F.interpolate(P, size=2, mode='bilinear', antialias=True)", "antialias is not supported"),
    ("torch.svd(A, some=False)[1]", "short form"),
    ("torch.linalg.qr(M.T, mode='complete')[0]", "complete"),
    ("torch.einsum(A, A)", "subscripts as text"),
    ("F.interpolate(C, scale_factor=math.inf)", "must be finite"),
]
"""What PyTorch or NumPy has, and gradcli tells that it has not; or what only NumPy refuses."""


def given(program):
    """Return the inputs that a program names, a value for each."""
    return {name: np.asarray(INPUTS[name], dtype=float) for name in gradcli.function(program).inputs}


def refused(program):
    """Return the error of a program, which must raise one."""
    with pytest.raises(GradcliError) as caught:
        gradcli.function(program)(**given(program))
    return caught.value


@pytest.mark.parametrize(("program", "words"), [*LAYERS, *LOSSES, *ALGEBRA, *PLACES, *ONLY_HERE])
def test_a_misuse_is_told(program, words):
    error = refused(program)
    assert words in f"{error.message} {error.hint or ''}"
    assert error.span is not None


@needs_torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", [program for program, _ in (*LAYERS, *LOSSES, *ALGEBRA, *PLACES)])
def test_pytorch_refuses_it_too(program):
    import torch

    names = {name: torch.tensor(value, dtype=torch.float64) for name, value in INPUTS.items()}
    with pytest.raises((RuntimeError, ValueError, TypeError, IndexError, AssertionError, ArithmeticError)):
        eval(program, {"torch": torch, "F": torch.nn.functional, "math": math, **names})  # noqa: S307 - our own rows


EDGES = [
    "torch.index_select(s, 0, torch.tensor([0]))*2",
    "torch.gather(s, 0, torch.tensor(0))*2",
    "torch.take_along_dim(w, torch.tensor([2, 0]), dim=0)",
    "torch.scatter(s, 0, torch.tensor(0), 2.)*s",
    "torch.scatter_add(s, 0, torch.tensor(0), s*2)",
    "torch.scatter(w, 0, torch.tensor([0, 1]), w.detach()*5)",
    "torch.scatter_reduce(w, 0, torch.tensor([0, 1, 1]), w*0.5, 'amax', include_self=False)",
    "torch.index_add(s, 0, torch.tensor([0]), s*3)",
    "torch.index_fill(s, 0, torch.tensor([0]), 3.)*s",
    "torch.index_fill(s, 0, torch.tensor([], dtype=torch.long), 3.)",
    "s.unfold(0, 1, 1)*2",
    "torch.special.polygamma(0, w)",
    "torch.histc(w, 3, 2, 2)*w",
    "F.multi_margin_loss(w, torch.tensor([1]))",
    "F.multi_margin_loss(M, torch.tensor([1, 0]), p=2, margin=2.)",
    "F.lp_pool1d(C, math.inf, 2)",
    "F.instance_norm(C, (u*0.1).detach(), u.detach(), use_input_stats=False)",
    "torch.chunk(n, 2)[0]",
    "torch.split(n, 0)[0]",
    "torch.linalg.solve(torch.stack([A, A + 1]), A)",
    "F.interpolate(C, size=3, mode='area')",
    "F.interpolate(P, scale_factor=1.7)",
    "torch.block_diag(s, u)",
    "torch.linalg.svd(M, full_matrices=False)[1]",
    "torch.cdist(A, A + u, p=0.5)",
    "torch.rot90(M, -1, [1, 0])",
    "torch.isclose(w, w + 1e-9)*w",
    "torch.einsum(A, [0, 1], u, [1], [0])",
    "torch.linalg.matrix_norm(A, 1)",
    "F.hardtanh(w, 1., 1.)*w",
    "torch.diff(w, n=0)",
    "torch.repeat_interleave(w, torch.tensor([2]))",
    "torch.cartesian_prod(w)*w",
    "torch.histc(w*0 + 2, 3)*w",
    "torch.gradient(w**3, spacing=(w*w,), edge_order=2)[0]",
    "torch.gradient(w, spacing=(w,))[0]",
    "torch.gradient(w, spacing=((w*w).detach(),))[0]",
    "torch.logcumsumexp(w*300, 0)",
    "torch.logcumsumexp(torch.stack([w*300, w*-2]), 0)",
    "torch.index_copy(s, 0, torch.tensor([0]), s*3)",
    "torch.index_copy(w, 0, torch.tensor(1), s*3)",
    "w.index_put((torch.tensor([0, 1]),), u[:1])",
    "F.binary_cross_entropy_with_logits(w, (w/3).detach(), pos_weight=w.detach())",
    "F.binary_cross_entropy_with_logits(-w*800, (w/3).detach(), pos_weight=w.detach())",
    "F.cross_entropy(M, torch.tensor([0, -100]), label_smoothing=0.1)",
    "F.cross_entropy(w, torch.tensor(2), label_smoothing=0.2, weight=w.detach())",
    "torch.cumsum(s, 0)",
    "torch.cumprod(s*2, 0)",
    "w.std(False)",
    "torch.linalg.pinv(torch.stack([u, u*2]))",
    "torch.linalg.lstsq(M.T, w[:, None]).residuals*1.",
    "torch.linalg.lstsq(M.T, w[:, None]*w[:, None], driver='gels').residuals",
    "torch.linalg.lstsq(M.T, w[:, None], driver='gelss').singular_values*s",
    "s.item()*s",
    "(s > 1).item()*s",
    "len((1, 2))*w",
]
"""Calls at the edge of what has a meaning, which PyTorch answers."""


@pytest.mark.parametrize("part", [0, 1])
def test_a_factor_of_a_singular_matrix_has_no_derivative(part):
    with pytest.raises(GradcliError, match="no derivative"):
        gradcli.explain(f"torch.linalg.qr(A)[{part}]", A=[[1.0, 1.0], [1.0, 1.0]], v=[[1.0, 2.0], [3.0, 4.0]])


def test_an_integer_apart_from_a_list_of_places_is_told():
    T = np.arange(24.0).reshape(2, 3, 4)
    found = gradcli.explain("T[0, :, [0, 1]]", T=T, v=np.ones((2, 3)))
    assert "torch-differs" in [note.kind for note in found.notes]
    for same in ("T[0][:, [0, 1]]", "T[[0, 1], :, 0]", "T[:, 0, [0, 1]]"):
        y = gradcli.function(same).value(T=T)
        assert "torch-differs" not in [note.kind for note in gradcli.explain(same, T=T, v=np.ones(y.shape)).notes]


@needs_torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", EDGES)
def test_an_edge_is_what_pytorch_has(program):
    point = given(program)
    y, *gradients = theirs(Row(program, program, point))
    answer = gradcli.explain(program, inputs=point, v=np.ones(y.shape))
    np.testing.assert_allclose(answer.output, y, rtol=1e-12)
    for name, gradient in zip(point, gradients, strict=True):  # PyTorch's trigamma has ten digits
        np.testing.assert_allclose(answer.grad[name], gradient, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize(("dtype", "end"), [("uint8", "255, and as an index they are a mask"), ("int8", "127")])
def test_integers_that_wrap_around_in_pytorch_are_told(dtype, end):
    found = gradcli.explain(f"a = torch.tensor([1, 2], dtype=torch.{dtype})\na*x", x=np.ones(2), v=np.ones(2))
    assert [note.kind for note in found.notes if f"beyond {end}" in note.message] == ["torch-differs"]
    for plain in ("int32", "long", "float64"):
        assert not gradcli.explain(f"torch.tensor([1, 2], dtype=torch.{plain})*x", x=np.ones(2), v=np.ones(2)).notes
