"""The engine in process: ``gradcli.function(...).grad`` against numpy by hand, PyTorch and HIPS autograd."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from benchmarks.equal import same
from benchmarks.figures import TIMES, Figure, Findings, absent, rows
from benchmarks.harness import Samples, measure
from benchmarks.inside import calls
from benchmarks.processes import STEADY
from benchmarks.settings import Settings, installed, tell
from benchmarks.worker import samples_of

OURS, AGAIN = "gradcli", "gradcli, again"
MODULES = {"numpy by hand": "numpy", "PyTorch, 1 thread": "torch", "HIPS autograd": "autograd"}
NETWORK = "sum((sigmoid(W @ x + b) - t)**2)"
PROGRAMS = {
    "chain": "y = x\nfor i in range(500):\n    y = y*1.001 + 0.001\ny",
    "sines": "y = x\nfor i in range(500):\n    y = sin(y)*1.1\ny",
    "network": NETWORK,
    "elementwise": "sum(sin(x)*x**2 + exp(-x))",
}
TITLES = {
    ("chain", 1): "1,000 scalar operations, + and *",
    ("sines", 1): "1,000 scalar operations, sin and *",
    ("network", 10): f"{NETWORK}, n = 10",
    ("network", 1_000): f"{NETWORK}, n = 1,000",
    ("elementwise", 1_000_000): f"{PROGRAMS['elementwise']}, n = 1,000,000",
}
BARS = {
    ("chain", "PyTorch, 1 thread"): 0.5,
    ("chain", "HIPS autograd"): 0.2,
    ("sines", "PyTorch, 1 thread"): 0.5,
    ("sines", "HIPS autograd"): 0.2,
    (f"{NETWORK}, n = 10", "PyTorch, 1 thread"): 1.0,
    (f"{NETWORK}, n = 1,000", "numpy by hand"): 1.1,
    ("elementwise", "numpy by hand"): 1.3,
}
AS_IT_COMES = ", system's allocator"


def work(settings: Settings, which: str) -> dict[str, Samples]:
    """Take the samples of all cases (``all``) or compare their numbers only (``check``), in this process."""
    chosen = [key for key in TITLES if which != "large" or key[0] == "elementwise"]
    return {TITLES[key]: _work(*key, 0 if which == "check" else settings.rounds) for key in chosen}


def _work(name: str, n: int, rounds: int) -> Samples:
    """Compare the gradients of all contestants of a case, and then let them run."""
    import gradcli

    given = inputs(name, n)
    function = gradcli.function(PROGRAMS[name], wrt=["W", "b"] if name == "network" else ["x"])
    ours: Callable[[], dict[str, Any]] = lambda: function.grad(**given)  # noqa: E731
    contestants: dict[str, Callable[[], Any]] = {OURS: ours, AGAIN: ours}
    for peer, module in MODULES.items():
        if installed(module):
            make: Callable[..., Callable[[], Any]] = getattr(import_module(f"benchmarks.peers.engine_{module}"), name)
            contestants[peer] = make(*given.values())
            same(f"{name} and {peer}", lists(ours().values()), lists(contestants[peer]()))
    return measure([calls(who, run) for who, run in contestants.items()] if rounds else [], rounds, tell)


def lists(arrays: Any) -> list[Any]:
    """Return arrays of any library as lists."""
    return [array.tolist() for array in arrays]


def inputs(name: str, n: int) -> dict[str, Any]:
    """Return the numbers that a case starts from."""
    import numpy as np

    if name == "network":
        W = np.sin(np.linspace(0, n * n, n * n)).reshape(n, n) / 10
        return {"W": W, "x": np.linspace(0.1, 2, n), "b": np.linspace(0, 1, n), "t": np.linspace(1, 0, n)}
    return {"x": np.linspace(0.1, 2, n) if n > 1 else np.float64(0.5)}


def check() -> list[str]:
    """Hold the gradients of every case against every peer, in a process of its own."""
    samples_of("engine", Settings(), {}, "check")
    there = [peer for peer, module in MODULES.items() if installed(module)]
    return [f"gradients of {len(TITLES)} programs, with {', '.join(there)}"]


def measured(settings: Settings) -> Findings:
    """Measure all cases with a steady allocator, and the large one also with the system's."""
    found = samples_of("engine", settings, STEADY, "all")
    large = samples_of("engine", settings, {}, "large")
    found |= {title + AS_IT_COMES: samples for title, samples in large.items()}
    there = [peer for peer, module in MODULES.items() if installed(module)]
    result = Findings()
    for title, samples in found.items():
        figures = [Figure(title, OURS, peer, TIMES, bar(title, peer)) for peer in there]
        result.rows += rows("engine", [*figures, Figure(title, OURS, AGAIN, TIMES)], samples)
    gone = [peer for peer in MODULES if peer not in there]
    result.rows += [absent("engine", Figure("all programs", OURS, peer, TIMES), "not installed") for peer in gone]
    return result


def bar(title: str, peer: str) -> float | None:
    """Return the bar of a row, where one was set."""
    name = next(key[0] for key, known in TITLES.items() if title.removesuffix(AS_IT_COMES) == known)
    return BARS.get((name, peer), BARS.get((title, peer)))
