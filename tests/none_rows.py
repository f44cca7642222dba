"""Programs after whose backward PyTorch leaves ``.grad`` None, or which have no gradient at all.

``python tests/none_rows.py`` asks PyTorch and writes ``data/torch_none.json``: the inputs whose ``.grad`` is None, or
null where backward raises. The rows are Python with PyTorch's names.
"""

# ruff: noqa: E501 - a row is a line

from __future__ import annotations

import json
import warnings
from typing import Any

from backward_rows import INPUTS, programs_in, torch_functions
from oracles import DATA

RECORDED = "torch_none.json"
ROWS = """
y = x*2 | a = s*2; y = x**2 | a = M @ M; y = x + s | y = x*0 | y = x + 0*s | y = s*x.detach() | y = x.detach() | y = x.detach() + 1 | y = x[:0].sum() + s
y = x[0] + s | y = x[1:].sum()*s | y = where(x > 2, s, 1) | y = where(x > 2, x, s) | y = where(x > 99, x, s) | y = (x > 2)*s | y = (x > 2)*2.0
y = s*argmax(x) | y = argmax(x)*2.0 | y = max(x)*s | y = x.max(dim=0).values | y = s*x.max(dim=0).indices | y = x.sort().values | y = floor(x) | y = floor(x)*s
y = sign(x) + s | y = round(x) | y = trunc(x) + x | y = ceil(s)*x | y = relu(x - 9) + s | y = clamp(x, 5, 9) | y = maximum(x, s) | y = minimum(x, x)
y = x if x[0] > 1 else s | y = s if x[0] > 1 else x | y = x*1; y[:] = s | y = x*1; y[0] = s | y = x*1; y[...] = 5; y = y + s | y = zeros(3); y[0] = s
y = zeros(3); y[0] = s; y = y + x.detach() | y = ones(3)*s | y = full((2,), 3.0) + s | y = zeros_like(x) | y = ones_like(x)*s | y = x.detach()*x
y = (x.detach()*s).detach() + M.sum() | h = tanh(x); y = h.sum() + s | h = tanh(x); y = s*3 | h = x*s; h = M.sum(); y = h*2 | y = x.numel()*s | y = x.shape[0]*s
y = x[x > 2].sum() + s | y = x[x > 99].sum() + s | y = s*(x > 2).sum() | y = M[0] @ c[:2] + s | y = x.sum() if s > 0 else M.sum() | y = x - x | y = x*s - x*s
y = heaviside(x.detach(), c.detach())*s | y = x ** 0 | y = 0*x | y = s*(x == x) | y = where(x > 2, 1.0, 2.0) | y = where(x > 2, 1.0, 2.0)*s | y = isnan(x)*s | y = c*2 | y = c*s
"""


def rows() -> list[str]:
    """Return the programs; each leaves its output in ``y``."""
    return programs_in(ROWS)


def names_of(text: str) -> list[str]:
    """Return the inputs that a row mentions."""
    import re

    return [name for name in INPUTS if re.search(rf"\b{name}\b", text)]


def left_none(text: str) -> list[str] | None:
    """Return the inputs whose ``.grad`` PyTorch leaves None, or None where its backward raises."""
    import torch  # it may not be installed

    inputs = {name: torch.tensor(INPUTS[name], dtype=torch.float64, requires_grad=True) for name in names_of(text)}
    names = torch_functions() | inputs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(text, names)  # noqa: S102 - constants of the tests
        y: Any = names["y"]
        try:
            y.backward(torch.ones_like(y))
        except RuntimeError:
            return None
    return [name for name, x in inputs.items() if x.grad is None]


def recorded() -> dict[str, list[str] | None]:
    """Return what PyTorch did with each row."""
    return json.loads((DATA / RECORDED).read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def main() -> None:
    """Record what PyTorch leaves None."""
    lines = [f" {json.dumps(text)}: {json.dumps(left_none(text))}" for text in rows()]
    (DATA / RECORDED).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
