"""Growth: the same work at several sizes, and the exponent of the size in its time.

Small programs cost more than larger ones: every entry of a small J is written out, a large one has rules by index. So
the sizes below the one that takes least are left out of the fit. At least three must be left.

The model is t(n) = c + a·nᵖ with c, a ≥ 0: the constant part c is fitted along with the rest, since at small sizes it
is all there is to see. For every p from 0 to 3 in steps of 0.01 the c and a of the least squares of the relative
residuals (c + a·nᵖ)/t - 1 are solved for. These are the least squares of log t where residuals are small. The p with
the least sum is the exponent. The largest residual tells how well one power describes what was seen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.figures import Findings, Series
from benchmarks.harness import Samples, Spread, measure
from benchmarks.inside import calls
from benchmarks.processes import STEADY
from benchmarks.settings import Settings, tell
from benchmarks.symbolic import PROGRAMS
from benchmarks.worker import samples_of

LARGE = (10, 100, 1_000, 10_000, 100_000, 1_000_000)
SIZES = {
    "explain, sin(x)*x**2 + exp(-x)": LARGE,
    "grad, sum(sin(x)*x**2 + exp(-x))": LARGE,
    "explain, while loop of n steps": (10, 100, 1_000, 10_000),
    "grad, while loop of n steps": (10, 100, 1_000, 10_000),
    "explain, softmax(W @ x) by x": (10, 20, 30, 50, 70, 100),
    "backward after each of n steps on one graph": (10, 100, 1_000, 10_000),
}
QUICK = 10_000


@dataclass(frozen=True, slots=True)
class Fit:
    """t(n) = constant + factor·n^exponent for n of ``first`` and above, and by what share the worst point misses it."""

    first: float
    exponent: float
    constant: float
    factor: float
    misfit: float


def fit(sizes: Sequence[float], seconds: Sequence[float]) -> Fit | None:
    """Return the best fit, as the module's head says; None for fewer than three points."""
    start = min(range(len(seconds)), key=lambda k: seconds[k])
    if len(seconds) - start < 3:
        return None
    found = [_at(step / 100, sizes[start:], seconds[start:]) for step in range(1, 301)]
    _, best = min(found, key=lambda pair: pair[0])
    return best


def _at(p: float, sizes: Sequence[float], seconds: Sequence[float]) -> tuple[float, Fit]:
    """Return the sum of squares and the fit for one exponent."""
    ones = [1 / t for t in seconds]
    powers = [n**p / t for n, t in zip(sizes, seconds, strict=True)]
    constant, factor = _solve(ones, powers)
    misses = [constant * a + factor * b - 1 for a, b in zip(ones, powers, strict=True)]
    return sum(miss * miss for miss in misses), Fit(sizes[0], p, constant, factor, max(map(abs, misses)))


def _solve(u: Sequence[float], w: Sequence[float]) -> tuple[float, float]:
    """Return c, a ≥ 0 that bring c·u + a·w closest to 1."""
    uu, uw, ww = (sum(a * b for a, b in zip(*pair, strict=True)) for pair in ((u, u), (u, w), (w, w)))
    su, sw = sum(u), sum(w)
    determinant = uu * ww - uw * uw
    if determinant > 1e-12 * uu * ww:
        c, a = (su * ww - sw * uw) / determinant, (sw * uu - su * uw) / determinant
        if c >= 0 and a >= 0:
            return c, a
    alone = [(su / uu, 0.0), (0.0, sw / ww)]
    return min(alone, key=lambda pair: sum((pair[0] * a + pair[1] * b - 1) ** 2 for a, b in zip(u, w, strict=True)))


def work(settings: Settings) -> dict[str, Samples]:
    """Take the samples of all series in this process, one round over all sizes after the other."""
    found = {}
    for title, sizes in SIZES.items():
        chosen = [n for n in sizes if not settings.quick or n <= QUICK]
        contestants = [calls(str(n), job(title, n)) for n in chosen]
        found[title] = measure(contestants, settings.few, tell)
    return found


def job(title: str, n: int) -> Callable[[], Any]:
    """Return one call of a series at size n."""
    import numpy as np

    import gradcli

    if title.startswith("backward"):
        return lambda: train(n)
    x, v = np.linspace(0.1, 2, n), np.linspace(1, 2, n)
    program = PROGRAMS["elementwise"]
    if title.startswith("grad, sum"):
        function = gradcli.function(f"sum({program})")
        return lambda: function.grad(x=x)
    if "loop" in title:
        loop = PROGRAMS["loop"].replace("{n}", str(n))
        function = gradcli.function(loop)
        return (lambda: function.grad(x=0.5)) if title.startswith("grad") else (lambda: gradcli.explain(loop, x=0.5))
    if "softmax" in title:
        W = np.sin(np.linspace(0, n * n, n * n)).reshape(n, n) / 10
        return lambda: gradcli.explain(PROGRAMS["softmax"], W=W, x=x, v=v, wrt=["x"])
    return lambda: gradcli.explain(program, x=x, v=v)


def train(steps: int) -> None:
    """Take so many steps of eight operations from w, all on one graph, each with its backward call."""
    import numpy as np

    from gradcli.engine.graph import Graph
    from gradcli.engine.reverse import backward
    from gradcli.ops.arithmetic import MUL

    graph, one = Graph(), np.array(1.0)
    w = graph.input("w", np.float64(0.5), active=True)
    for _ in range(steps):
        y = w
        for _ in range(8):
            y = graph(MUL, y, w)
        backward(graph, y, one, [w])


def check() -> list[str]:
    """Compare nothing: ``explain`` is held against reverse mode at every run, and its numbers by the other families."""
    return []


def measured(settings: Settings) -> Findings:
    """Return every series."""
    found = samples_of("growth", settings, STEADY)
    return Findings(series=[_series(title, samples) for title, samples in found.items()])


def _series(title: str, samples: Samples) -> Series:
    spreads = [Spread.of([sample.wall for sample in taken if sample]) for taken in samples.values()]
    return Series(title, [int(n) for n in samples], spreads)
