"""Start-up: whole processes, from the command line to the exit code."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

from benchmarks.equal import same
from benchmarks.figures import FASTER, TIMES, Figure, Findings, absent, rows
from benchmarks.harness import Contestant, Samples, measure
from benchmarks.processes import EXAMPLE, answer, command, gradcli, peer
from benchmarks.settings import Settings, installed, tell

FLOOR = "bare typer + numpy, sympy, rich"
SCRIPTS = {"PyTorch script": "torch", "JAX script": "jax"}
FIGURES = (
    Figure("explain against itself", "explain", "explain, again", TIMES),
    Figure("explain", "explain", FLOOR, TIMES, 1.0),
    Figure("explain --json", "explain --json", FLOOR, TIMES, 1.0),
    Figure("explain", "explain", "PyTorch script", FASTER, 2.5),
    Figure("explain --json", "explain --json", "PyTorch script", FASTER, 2.5),
    Figure("explain", "explain", "JAX script", FASTER, 2.2),
    Figure("explain --json", "explain --json", "JAX script", FASTER, 2.2),
    Figure("grad", "grad", "bare typer + numpy", TIMES, 1.2),
    Figure("--version", "--version", "python -c 'import typer'", TIMES, 1.3),
)


def check() -> list[str]:
    """Hold J, vᵀJ and the gradient of every script against gradcli's; return what was compared."""
    ours = json.loads(answer(gradcli("explain", *EXAMPLE, "--json")))
    numbers = [ours["jacobian"]["x"]["numeric"], ours["vjp"]["x"], ours["grad"]["x"]]
    bare = json.loads(f"[{answer(gradcli('grad', *EXAMPLE))}]")
    same("gradcli grad", numbers[2], bare)
    compared = ["explain and grad"]
    for name, library in SCRIPTS.items():
        if installed(library):
            theirs = [json.loads(line) for line in answer(peer(f"explain_{library}")).splitlines()]
            same(f"explain and the {name}", numbers, theirs)
            compared.append(f"explain and the {name}")
    return compared


def contestants(there: Callable[[str], bool]) -> list[Contestant]:
    """Return every process of this family whose library is there."""
    python = [sys.executable, "-c", "import typer"]
    words = {
        "explain": gradcli("explain", *EXAMPLE),
        "explain, again": gradcli("explain", *EXAMPLE),
        "explain --json": gradcli("explain", *EXAMPLE, "--json"),
        "grad": gradcli("grad", *EXAMPLE),
        "--version": gradcli("--version"),
        FLOOR: peer("bare_explain", *EXAMPLE),
        "bare typer + numpy": peer("bare_grad", *EXAMPLE),
        "python -c 'import typer'": python,
    }
    words |= {name: peer(f"explain_{library}") for name, library in SCRIPTS.items() if there(library)}
    return [command(name, line) for name, line in words.items()]


def measured(
    settings: Settings, there: Callable[[str], bool] = installed, timed: Callable[..., Samples] = measure
) -> Findings:
    """Measure all of them in turn: those that are ``there``, by ``timed``."""
    played = [figure for figure in FIGURES if there(SCRIPTS.get(figure.theirs, "numpy"))]
    gone = [figure for figure in FIGURES if figure not in played]
    samples = timed(contestants(there), settings.rounds, tell)
    missing = [absent("startup", figure, "not installed") for figure in gone]
    return Findings(rows("startup", played, samples) + missing)
