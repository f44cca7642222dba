"""Programs on which backward is called twice: PyTorch raises where a value that it kept was freed by the first call.

``python tests/second_rows.py`` asks PyTorch and writes ``data/torch_second.json``. The rows are those of
``backward_rows`` before anything is written, and others, in Python with PyTorch's names.
"""

# ruff: noqa: E501 - a row is a line

from __future__ import annotations

import json
import warnings
from typing import Any

from backward_rows import AFTER, BEFORE, programs_in, torch_names
from oracles import DATA

RECORDED = "torch_second.json"
ALONE = """
y = x | y = x + 1 | y = x - c | y = -x | y = x*2 | y = 2*x | y = x/2 | y = 2/x | y = x*c | y = x + x | y = x**1 | y = x**0 | y = 2**x
y = x.sum() | y = x.mean() | y = x[0] | y = x[1:] | y = x[[0, 2]] | y = x[x > 2] | y = x.reshape(3, 1) | y = M.T | y = M.sum(dim=1)
y = M.mean(dim=0, keepdim=True) | y = x.clone() | y = x.flip(0) | y = x.roll(1) | y = x.expand(2, 3) | y = x.repeat(2) | y = x.cumsum(0)
y = x.unsqueeze(0).squeeze(0) | y = cat([x, x]) | y = stack([x, c]) | y = M.tril() | y = M.triu() | y = M.diag() | y = x.diag() | y = M.trace()
y = M.permute(1, 0) | y = M.flatten() | y = M @ M | y = M @ c[:2] | y = c @ x | y = M.det() | y = linalg.inv(M) | y = linalg.solve(M, c[:2])
y = linalg.solve(M, x[:2]) | y = x.max() | y = x.max(dim=0).values | y = x.sort().values | y = x.median() | y = x.amax() | y = x.floor() | y = x.sign()
y = x.round() + x | y = x.clamp(min=2) | y = clamp(x, 0, 9) | y = relu(x) | y = F.relu(x) + x | y = abs(x) | y = where(c > 1, x, c) | y = where(x > 2, x, -x)
y = x.norm() | y = x.var() | y = x.std() | y = x.prod() | y = softmax(x, dim=0) | y = logsumexp(x, dim=0) | y = F.mse_loss(x, c) | y = F.l1_loss(x, c)
y = F.huber_loss(x, c) | y = F.cross_entropy(M, tensor([0, 1])) | y = F.nll_loss(M, tensor([0, 1])) | y = F.layer_norm(x, (3,)) | y = x.detach()*x
y = x % 2 | y = x % c | y = c % x | y = maximum(x, c) | y = minimum(x, x) | y = F.linear(x, c) | y = outer(x, c) | y = einsum('i,i->', x, c) | y = einsum('ij->ji', M)
y = einsum('ij->', M) | y = s*2 + 1 | y = s + s | y = x + s | y = x*s | y = x/s | h = x + 1; y = h - c | h = tanh(x); y = h.sum() | h = x*x; y = h.detach() + x
y = x - x.mean() | y = x.cumprod(0) | y = F.softplus(x) | y = F.leaky_relu(x) | y = F.elu(x) | y = F.gelu(x) | y = F.silu(x) | y = sigmoid(x).sum() | y = x.repeat_interleave(2)
y = x*1; y += c | y = x*1; y[0] = 5 | y = x + 0; y[0] = s | y = x + 0; y[:2] += 1 | y = x + 1 if x[0] > 1 else x*x | y = x[0] + x[1] | y = x[0]*x[1] | y = x[None] + M.sum()
y = F.binary_cross_entropy(sigmoid(x), c/4) | y = F.binary_cross_entropy_with_logits(x, c/4) | y = M.mv(c[:2]) | y = M.mm(M) | y = x.dot(c) | y = x.inner(c)
y = x*1; y[:] = 5 | y = x + 0; y[...] = 5 | y = x + 0; y[0:3] = c | y = x + 0; y[[0, 1]] = s | y = x + 0; y[y > 2] = 0 | y = M + 0; y[:, :] = 5
y = M + 0; y[:, 0:2] = 5 | y = M + 0; y[:, 0] = 5 | y = x + 0; y[:] += 1 | y = x + 0; y[-3:] = 5 | y = M + 0; y[0, ...] = 5 | y = s + 0; y[...] = x[0]
y = logaddexp(x, x) | y = hypot(x, c) | y = atan2(x, c) | y = xlogy(x, c) | y = xlogy(c, x) | y = F.softsign(x) | y = F.logsigmoid(x) | y = x.square() | y = x.reciprocal()
"""


def rows() -> list[str]:
    """Return the programs; each leaves its output in ``y``."""
    found = [f"w = x + 2\na = x + 1\ny = {text}" for text in BEFORE]
    found += [f"w = x + 2\ny = {text}" for text in AFTER]
    return list(dict.fromkeys(found + programs_in(ALONE)))


def ours(text: str) -> str:
    """Return a program of ours for a row."""
    return f"{text.replace('tensor(', '(')}\ny"


def raises_twice(text: str) -> bool:
    """Return whether PyTorch raises when backward is called a second time, and not at the first."""
    import torch  # it may not be installed

    names = torch_names()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(text, names)  # noqa: S102 - constants of the tests
        y: Any = names["y"]
        y.backward(torch.ones_like(y))
        try:
            y.backward(torch.ones_like(y))
        except RuntimeError:
            return True
    return False


def recorded() -> dict[str, bool]:
    """Return what PyTorch did with each row."""
    return json.loads((DATA / RECORDED).read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def main() -> None:
    """Record at which rows PyTorch raises."""
    lines = [f" {json.dumps(text)}: {json.dumps(raises_twice(text))}" for text in rows()]
    (DATA / RECORDED).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
