"""What PyTorch is asked about functions that move, pick and write entries, and about casts."""

# ruff: noqa: E501 - a row is a line
# fmt: off

from __future__ import annotations

from math import inf, nan

V, S, W = [1.5, nan, -0.0, inf], [0.5, 0.0, -2.0, nan], 0.25
M, N = [[1.0, 2.0, inf], [0.0, -0.0, 3.0]], [[0.5, nan], [2.0, 0.0], [-1.0, 4.0]]
T = [[[1.0, 2.0], [nan, 4.0]], [[5.0, 6.0], [7.0, -0.0]]]
IMAGE = [[[1.0, 2.0, inf], [0.0, -1.0, 3.0]]]


def add(row):
    """Add the rows to a table."""
    row.each("torch.movedim(x, 0, 2) | x.moveaxis((0, 1), (2, 0)) | torch.swapdims(x, 0, -1) | torch.adjoint(x) | x.unfold(2, 2, 1) | torch.rot90(x, 1, (0, 2)) | torch.dsplit(x, 2)[1] | torch.atleast_3d(x) | torch.diagonal(x, 0, 1, 2)", x=T)
    row.each("x.view_as(y) | x.reshape_as(y) | torch.hstack([x, y.T]) | torch.vstack([x, y.T]) | torch.dstack([x, y.T]) | torch.column_stack([x, y.T]) | torch.block_diag(x, y)", x=M, y=N)
    row.each("torch.fliplr(x) | torch.flipud(x) | torch.rot90(x, -1) | torch.diag_embed(x, 1) | torch.unbind(x, 1)[2] | torch.select(x, 1, 2) | torch.vsplit(x, 2)[0] | torch.narrow(x, 1, 1, 2) | torch.atleast_2d(x) | torch.atleast_1d(x)", x=M)
    row.each("x.expand_as(torch.ones(2, 4)) | torch.unflatten(x, 0, (2, -1)) | torch.chunk(x, 3)[1] | torch.split(x, [1, 3])[1] | torch.tensor_split(x, 3)[0] | np.split(x, 2)[1] => torch.tensor_split(x, 2)[1] | torch.hsplit(x, 2)[1] | x.unfold(0, 2, 2) | torch.diag_embed(x) | torch.combinations(x) | x.repeat_interleave(torch.tensor([2, 0, 1, 1]))", x=V)
    row.each("torch.broadcast_tensors(x, torch.ones(2, 4))[0] | torch.cartesian_prod(x, x)[:3] | torch.meshgrid(x, x, indexing='ij')[1]", x=V)
    row.each("torch.gather(x, 1, torch.tensor([[2, 2], [0, 1]])) | torch.take_along_dim(x, torch.tensor([[2], [0]]), 1) | torch.index_select(x, 1, torch.tensor([2, 2])) | torch.take(x, torch.tensor([[5, 0]])) | np.take(x, [2, 0], axis=1) => x[:, [2, 0]] | torch.masked_select(x, x > 0) | np.compress([True, False, True], x, 1) => x[:, [True, False, True]] | torch.masked_fill(x, x > 1, 0.) | x.where(x > 1, 0.) | F.embedding(torch.tensor([1, 0, 1]), x) | F.embedding(torch.tensor([1, 0, 1]), x, padding_idx=1) | x[torch.tensor([1, 0]), torch.tensor([2, 2])]", vs=(None, inf), x=M)
    row.each("torch.scatter(x, 0, torch.tensor([2, 0, 1, 3]), s) | torch.scatter_add(x, 0, torch.tensor([2, 0, 2, 2]), s) | torch.index_add(x, 0, torch.tensor([1, 1, 3, 0]), s, alpha=2) | torch.index_copy(x, 0, torch.tensor([3, 1, 0, 2]), s) | torch.index_put(x, (torch.tensor([1, 1, 3, 0]),), s, accumulate=True) | x.put(torch.tensor([3, 1, 0, 2]), s) | torch.index_fill(x, 0, torch.tensor([1, 3]), s[0])", vs=(None, inf), x=V, s=S)
    row("torch.scatter(x, 0, torch.tensor([1, 1]), 2.)", x=V)
    for kind in ("sum", "prod", "mean", "amax", "amin"):
        for own in ("", ", include_self=False"):
            row(f"torch.scatter_reduce(x, 0, torch.tensor([2, 0, 2, 2]), s, '{kind}'{own})", x=[1.5, 0.0, -3.0 if kind == 'amin' else -2.0, 3.0], s=[-2.0, 0.0, -2.0, 4.0])
    row.each("F.pad(x, (1, 2)) | F.pad(x, (-1, 1, 1, 0), value=3.) | F.pad(x, (2, 1), mode='reflect') | F.pad(x, (2, 1), mode='replicate') | F.pad(x, (2, 1), mode='circular') | np.pad(x, 1) => F.pad(x, (1, 1, 1, 1))", x=M)
    row.each("F.unfold(x, 2, padding=1) | F.fold(F.unfold(x, 2), (2, 3), 2)", x=IMAGE)
    row.each("torch.searchsorted(torch.tensor([0., 1.], dtype=torch.float64), x)*w | torch.bucketize(x, torch.tensor([0., 1.], dtype=torch.float64), right=True)*w | np.digitize(x, [0., 1.])*w => torch.bucketize(x, torch.tensor([0., 1.], dtype=torch.float64), right=True)*w | torch.nonzero(x)*w | torch.argwhere(x)*w | np.nonzero(x)[0]*w => torch.nonzero(x)[:, 0]*w", x=V, w=W)
    row.each("torch.diagflat(x, 1) | x.diagflat() | torch.linalg.diagonal(x, offset=1) | torch.put(x, torch.tensor([0, -1]), x[0, :2]) | torch.detach(x)*x | torch.split_with_sizes(x, [1, 2], 1)[1] | np.swapaxes(x, 0, 1) => x.T | np.array(x) => x | np.asarray(x) => x", x=M)
    row("torch.linalg.diagonal(x, dim1=0)", x=T)
    row("jnp.array([x[0], x[1]**2])", "torch.stack([x[0], x[1]**2])", x=[1.5, -2.0])
    row.each("np.searchsorted([1., 2., 2.], x[:1] + 0.5, 'left')*x[:1] => 1.*x[:1] | np.searchsorted([1., 2., 2.], x[:1] + 0.5, 'right')*x[:1] => 3.*x[:1] | np.linspace(0, 1, 2, endpoint=False).sum()*x => 0.5*x", x=[1.5, 2.0])
    row.each("F.one_hot(torch.tensor([1, 0]))*w | torch.tril_indices(2, 2)*w | torch.triu_indices(2, 2)*w | np.tril_indices(2)[0]*w => torch.tril_indices(2, 2)[0]*w | np.triu_indices(2)[0]*w => torch.triu_indices(2, 2)[0]*w", w=W)
    row.each("x.to(torch.float64) | x.type(torch.float64) | x.cpu() | x.contiguous() | np.ascontiguousarray(x) => x | x.detach().numpy()*x => x.detach()*x | x.tolist()*x => x.detach()*x | x[0].item()*x | float(x[0])*x | int(x[0])*x | bool(x[0])*x | x.bool()*x | x.new_zeros(4) + x | x.new_ones(4)*x | x.new_full((4,), 2.)*x | x.new_tensor([1, 2, 3, 4])*x | torch.logspace(0, 1, 4)*x => torch.logspace(0, 1, 4, dtype=torch.float64)*x | np.logspace(0, 1, 4)*x => torch.logspace(0, 1, 4, dtype=torch.float64)*x | torch.FloatTensor([1, 2, 3, 4])*x | torch.LongTensor([1, 2, 3, 4])*x | torch.BoolTensor([1, 0, 1, 0])*x | x.to(torch.device('cpu')) | torch.tensor(range(4))*x", x=V)
    row("x.long()*x", x=[1.5, -2.5, 0.0, -0.0])
