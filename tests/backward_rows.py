"""Programs that PyTorch refuses forward or backward, beside others that it takes: writes in place and flat operators.

``python tests/backward_rows.py`` asks PyTorch and writes ``data/torch_refusals.json``. The texts are Python with
PyTorch's names, and programs of ours: what is read backward is the sum of ``y``.
"""

# ruff: noqa: E501 - a row is a line

from __future__ import annotations

import json
import warnings
from typing import Any

from oracles import DATA
from records import RECORDS

RECORDED = "torch_refusals.json"
INPUTS = {"x": [1.5, 2.5, 3.5], "M": [[1.0, 2.0], [3.0, 4.0]], "c": [1.0, 2.0, 3.0], "s": 0.75}
CONSTANT = ("c",)
ELEMENTWISE = [known.torch.call.removeprefix("torch.") for known in RECORDS.values() if known.torch is not None]
OF_TWO = (
    "a + w", "a - w", "a * w", "a / w", "a % w", "a ** w", "w / a", "w ** a", "w % a", "a * c", "a / c", "a ** c", "c ** a",
    "c / a", "a * 2", "a / 2", "a ** 2", "a ** 2.5", "2 / a", "2 ** a", "maximum(a, w)", "minimum(a, w)", "hypot(a, w)",
    "atan2(a, w)", "atan2(w, a)", "logaddexp(a, w)", "xlogy(a, w)", "fmax(a, w)", "where(w > 2, a, w)", "a @ w", "a @ c",
    "stack([a, w])", "cat([a, w])", "outer(a, w)", "einsum('i,i->i', a, w)", "einsum('i,i->i', a, c)", "F.mse_loss(a, w)",
    "F.l1_loss(a, w)", "F.huber_loss(a, w)", "F.mse_loss(a, c)", "clamp(a, w, w + 1)", "clamp(a, 1, 2)",
)  # fmt: skip
REDUCTIONS = (
    "sum(a)", "mean(a)", "prod(a)", "amax(a)", "max(a)", "max(a, dim=0).values", "median(a)", "a.median(dim=0).values",
    "sort(a).values", "var(a)", "std(a)", "norm(a)", "norm(a, 1)", "norm(a, 3)", "logsumexp(a, dim=0)", "softmax(a, dim=0)",
    "log_softmax(a, dim=0)", "cumsum(a, dim=0)", "cumprod(a, dim=0)", "flip(a, (0,))", "roll(a, 1)", "diag(a)",
    "a[0]*a[1]",  "a[[0, 0, 2]]", "a.clone()", "a.repeat(2)", "F.layer_norm(a, (3,))",  "a + a",
)  # fmt: skip
BEFORE = [
    *(f"{name}(a)" for name in ELEMENTWISE), *OF_TWO, *REDUCTIONS
]  # fmt: skip
"""What is computed from ``a`` before an entry of it is written; PyTorch keeps a, or does not."""
AFTER = [
    *(f"{name}(x)" for name in ELEMENTWISE if name != "neg"), "x*w", "x/w", "x**w", "x**2", "x**c", "c**x", "maximum(x, w)", "cumprod(x, dim=0)",
    "softmax(x, dim=0)", "log_softmax(x, dim=0)", "sort(x).values", "hypot(x, w)", "outer(x, w)", "F.layer_norm(x, (3,))",
]  # fmt: skip
"""What is computed before an entry of it is written: PyTorch keeps the result, or does not."""
WRITES = """
a += a[0] | a += a | a *= a | a /= a | a -= a | a **= a | a[1:] = a[:-1] | a[1:] += a[:-1] | a[0] = a[1] | a[0] += a[0]
a[0] *= a[0] | a[0] *= a[1] | a[::2] = a[1:] | a[::2] += a[0] | a += a[0:1] | a += a[-1] | a *= 2 | a /= c | a **= 2 | a **= x
a /= x | a %= x | a *= x | a[[0, 1]] = a[[1, 2]] | a[[0, 1]] *= a[[1, 2]] | a[a > 2] = 0 | a[0] = sin(a[1]) | a -= a.sum()
a /= a.sum() | a[1:] *= a[1:] | a = a + a[0] | a[2] = a[0]*a[1] | a[:] = a | a[0:2] = a[1:3] | a[0] = 5 | a[0] = w[0]
"""
ALONE = """
y = x // 2 | y = 2 // x | w = x*2; y = x // w | y = (x // 2).detach() + x | y = (x // 2) * x | y = x * (x // 2 > 0) | y = x * argmax(x // 2)
y = where(x // 2 > 1, x, 1) | w = x*2; y = heaviside(x, w) | y = heaviside(x - 2, c) | y = heaviside(x.detach(), c)*x | y = floor(x) | y = x % 2
a = x*1; a //= 2; y = a + x | a = x // 2; a[0] = 1; y = a | b = x // 2; y = x*2
b = M*1; b += b.T; y = b | b = M*1; b += b[0]; y = b | b = M*1; b[0] += b[:, 0]; y = b | b = M*1; b[0] = b[1]; y = b
b = M*1; b.T[0]; b *= b; y = b | t = s*1; t *= s; t += t*s; y = t | t = s*1; z = t*t; t += 1; y = z + t | t = 0; t += s**2; t += s; y = t
b = c*1; y = b*x; b += 5 | b = c*1; y = b*x; b[0] = 5 | b = x*1; y = b*c; b[0] = 5 | b = x*1; b = sin(b); y = b
b = x*1; z = sin(b); z2 = z.detach(); b[0] = 1; y = x*z2
"""
SEVERAL = """
p, q, r = h; p += 3 | p, q, r = h; p *= x[1] | p, q, r = h; h += 3 | p, q, r = unbind(h); q += 1 | p, q, r = h.unbind(0); q = q + 1
p, q = chunk(h, 2); p += 1 | p, q = chunk(h, 2); p[0] = 1 | p, q = chunk(h, 2); p[0:1] *= w[0] | p = h.split(2)[0]; p[0] = 5 | p = h.split([1, 2])[1]; p += 1
p = h.chunk(2)[0].view(1, 2); p *= 2 | p = h.chunk(2)[0]; p = p.clone(); p[0] = 2
p = h.chunk(2)[0].reshape(-1); p[0] = 2 | p = h.chunk(2)[0]*1; p[0] = 2 | p = h.tensor_split(2)[0]; p += 1 | p, q, r = h.hsplit(3); q *= 2 | p = h[0:1]; p += 1
p = h.narrow(0, 0, 2); p += 1 | p, q, r = c*1; p += 1 | p = chunk(c*1, 2)[0]; p[0] = 5 | p = h.chunk(2)[0]; h[0] = p[1]
g = M*1; p, q = g; p += q; h = g[0] | g = M*1; p, q = g; p[0] = 1; h = g[0] | g = M*1; p, q = g; g[0] = q; h = g[0] | g = M*1; p = g.T.unbind()[0]; p.mul_(2); h = g[0]
"""
"""Views that PyTorch gives several of at once, and others: each program has ``h`` before, and reads it after."""


def programs_in(table: str) -> list[str]:
    """Return the programs of a table, which ``|`` and lines part, with their statements, which ``;`` parts, on lines."""
    texts = table.replace("\n", "|").split("|")
    return ["\n".join(part.strip() for part in text.split(";")) for text in texts if text.strip()]


def rows() -> list[str]:
    """Return the programs; each leaves its output in ``y``."""
    made = ["w = x*2\na = x*1"]
    found = [f"{made[0]}\nb = {text}\na[0] = 5\ny = b" for text in BEFORE]
    found += [f"{made[0]}\nb = {text}\na += 5\ny = b" for text in OF_TWO]
    found += [f"w = x*2\nb = {text}\nb += 5\ny = b" for text in AFTER]
    found += [f"w = x*2\nb = {text}\nb[0] = 5\ny = b" for text in AFTER[:-1]]
    texts = [text.strip() for text in WRITES.replace("\n", "|").split("|") if text.strip()]
    for source in ("x*1", "exp(x)", "sin(x)", "x*w", "x**2"):
        found += [f"w = x*2\na = {source}\n{text}\ny = a" for text in texts]
    found += [f"w = x*2\nh = x*1\n{text}\ny = h" for text in programs_in(SEVERAL)]
    return found + programs_in(ALONE)


def ours(text: str) -> str:
    """Return a program of ours for a row: its output is y, once more."""
    return f"{text}\ny*1"


def torch_functions() -> dict[str, Any]:
    """Return what the names of functions in a row mean in PyTorch."""
    import torch  # it may not be installed

    names = {name: getattr(torch, name) for name in dir(torch) if not name.startswith("_")}
    return names | {
        "F": torch.nn.functional,
        "sum": torch.sum,
        "max": torch.max,
        "abs": torch.abs,
        "round": torch.round,
    }


def torch_names() -> dict[str, Any]:
    """Return what all names in a row mean in PyTorch: functions, and the inputs as fresh tensors."""
    import torch  # it may not be installed

    return torch_functions() | {
        name: torch.tensor(value, dtype=torch.float64, requires_grad=name not in CONSTANT)
        for name, value in INPUTS.items()
    }


def refuses(text: str) -> bool:
    """Return whether PyTorch raises on a row, forward or backward."""
    import torch  # it may not be installed

    names = torch_names()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(text, names)  # noqa: S102 - constants of the tests
            y: Any = names["y"]
            y.backward(torch.ones_like(y))
        except RuntimeError:
            return True
    return False


def recorded() -> dict[str, bool]:
    """Return what PyTorch did with each row."""
    return json.loads((DATA / RECORDED).read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def main() -> None:
    """Record what PyTorch refuses."""
    lines = [f" {json.dumps(text)}: {json.dumps(refuses(text))}" for text in dict.fromkeys(rows())]
    (DATA / RECORDED).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
