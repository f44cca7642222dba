"""Scripts: ``gradcli run`` beside the same script under PyTorch, beside ``grad``, and beside ``gradcli.function``."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.equal import same
from benchmarks.figures import MEMORY, TIMES, Figure, Findings, absent, rows
from benchmarks.harness import Contestant, Samples, measure
from benchmarks.inside import calls
from benchmarks.processes import EXAMPLE, PEERS, STEADY, ContestantError, answer, command, gradcli, peer
from benchmarks.settings import Settings, installed, tell
from benchmarks.worker import samples_of

TRAINING, TURNS, SMALL = "run, training", "run, 100,000 turns", "run, a small script"
TORCH, GRAD = "PyTorch script", "grad"
FIGURES = (
    Figure("2→16→1, 64 samples, 1,000 steps of SGD", TRAINING, TORCH, TIMES, 0.5),
    Figure("start-up of a small script", SMALL, GRAD, TIMES, 1.1),
    Figure("100,000 turns of training: peak of memory", TURNS, SMALL, MEMORY, 300.0),
)
RUN, FUNCTION = "run", "gradcli.function"
LOOP = "for i in range(5000):\n    y = y*1.001 + 0.001\n"
INSIDE = Figure("10,000 scalar operations in a loop, and backward", RUN, FUNCTION, TIMES, 1.0)


def script(name: str) -> list[str]:
    """Return the command line that runs one of the scripts among the peers."""
    return gradcli("run", str(PEERS / f"script_{name}.py"))


def check() -> list[str]:
    """Hold what the training script prints against PyTorch, and the gradient of the loop against ``function``."""
    samples_of("scripts", Settings(), {}, "check")
    if not installed("torch"):
        return []
    ours, theirs = answer(script("training")), answer(peer("script_training"))
    if ours != theirs:
        raise ContestantError(f"the training script ends at {ours.strip()} and under PyTorch at {theirs.strip()}")
    return ["what a training script prints, with PyTorch"]


def work(settings: Settings, which: str) -> dict[str, Samples]:
    """Take the samples of the loop in this process, or compare its gradients only (``check``)."""
    import gradcli
    from gradcli.runner.script import run_script

    text = f"import torch\nx = torch.tensor(0.5, requires_grad=True)\ny = x\n{LOOP}y.backward()\n"
    function = gradcli.function(f"y = x\n{LOOP}y")
    contestants: dict[str, Callable[[], object]] = {
        RUN: lambda: run_script(text), FUNCTION: lambda: function.grad(x=0.5)
    }  # fmt: skip
    same("the loop", float(run_script(text).variables["x"].grad.value), float(function.grad(x=0.5)["x"]))
    found = [calls(name, one) for name, one in contestants.items()] if which == "all" else []
    return {INSIDE.title: measure(found, settings.rounds, tell)}


def contestants(there: bool) -> list[Contestant]:
    """Return every process of this family, and PyTorch's where that is ``there``."""
    lines = {TRAINING: script("training"), SMALL: script("small"), GRAD: gradcli("grad", *EXAMPLE)}
    lines |= {TORCH: peer("script_training")} if there else {}
    return [*(command(name, line) for name, line in lines.items()), command(TURNS, script("turns"), most=1)]


def measured(settings: Settings) -> Findings:
    """Measure the processes in turn, and the loop inside one."""
    there = installed("torch")
    samples = measure(contestants(there), settings.rounds, tell)
    played = [figure for figure in FIGURES if figure.theirs in samples]
    gone = [absent("scripts", figure, "not installed") for figure in FIGURES if figure not in played]
    inside = samples_of("scripts", settings, STEADY, "all")
    return Findings(rows("scripts", played, samples) + rows("scripts", [INSIDE], inside[INSIDE.title]) + gone)
