"""Checks of derivatives of medium size: ``gradcli check`` beside PyTorch's ``gradcheck`` in double precision."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.figures import SECONDS, TIMES, Figure, Findings, Row, absent, failure, rows
from benchmarks.harness import measure
from benchmarks.processes import ContestantError, answer, command, gradcli, peer
from benchmarks.settings import Settings, installed, tell

OURS, THEIRS = "gradcli check", "PyTorch gradcheck"
PEER_ROUNDS = 2
"""Rounds of the peer, which takes a run or two for each entry."""
SECONDS_EACH = 3.0
"""The bar of each case: two cores of 2026."""


@dataclass(frozen=True, slots=True)
class Case:
    """A function in gradcli's language, what it is differentiated by, and the shapes of its inputs.

    ``peers/check_torch.py`` has the same functions and numbers, by the same names.
    """

    title: str
    program: str
    wrt: str
    shapes: dict[str, tuple[int, ...]]


WEIGHTS = {"W": (784, 128), "b": (128,), "V": (128, 10), "c": (10,)}
CASES = {
    "attention": Case(
        "attention, 32×16", "sum((softmax(Q @ K.T / 4, -1) @ V)**2)", "Q,K,V", dict.fromkeys("QKV", (32, 16))
    ),
    "norm": Case(
        "layer norm, 64×128", "sum(tanh(layer_norm(X, 128, g, b)))", "X,g,b", {"X": (64, 128), "g": (128,), "b": (128,)}
    ),
    "gelu": Case("gelu at 61 points from -30 to 30", "gelu(x)", "x", {}),
    "row": Case(
        "784×128×10, one row", "cross_entropy(relu(X @ W + b) @ V + c, 3)", "W,b,V,c", {"X": (784,), **WEIGHTS}
    ),
    "rows": Case(
        "784×128×10, 32 rows",
        "cross_entropy(relu(X @ W + b) @ V + c, arange(32) % 10)",
        "W,b,V,c",
        {"X": (32, 784), **WEIGHTS},
    ),
}


def values(case: Case) -> dict[str, str]:
    """Return the inputs of a case as expressions: sines of steps that no two inputs share."""
    if not case.shapes:
        return {"x": "linspace(-30,30,61)"}
    found = {}
    for k, (name, shape) in enumerate(case.shapes.items()):
        count, size = 1, "/20" if shape in (WEIGHTS["W"], WEIGHTS["V"]) else ""
        for length in shape:
            count *= length
        found[name] = f"reshape(sin(arange({count})*{1.7 + k / 10:.1f} + {k}){size}, {', '.join(map(str, shape))})"
    return found


def ours(name: str, *options: str) -> list[str]:
    """Return gradcli's command line for a case."""
    case = CASES[name]
    words = [word for variable, value in values(case).items() for word in (f"--{variable}", value)]
    return gradcli("check", case.program, *words, "--wrt", case.wrt, *options)


def check() -> list[str]:
    """Let gradcli decide every case: another exit code than 0 is an error."""
    for name in CASES:
        answer(ours(name, "--quiet"))
    return [f"the derivatives of {len(CASES)} functions of medium size, each with the truth"]


def measured(settings: Settings) -> Findings:
    """Measure case by case."""
    there = installed("torch")
    found = Findings([row for name in CASES for row in _case(name, settings, there)])
    if not there:
        found.rows.append(absent("checking", Figure("all functions", OURS, THEIRS, TIMES), "not installed"))
    return found


def _case(name: str, settings: Settings, there: bool) -> list[Row]:
    """Return the rows of one case; the peer may have no answer within its time, and may refuse what is right."""
    title = CASES[name].title
    contestants = [command(OURS, ours(name))]
    if there:
        contestants.append(command(THEIRS, peer("check_torch", name), limit=settings.limit, most=PEER_ROUNDS))
    try:
        samples = measure(contestants, settings.few, tell)
    except ContestantError as failed:
        return [failure("checking", title, str(failed), SECONDS.unit, SECONDS_EACH)]
    figures = [Figure(title, OURS, OURS, SECONDS, SECONDS_EACH)]
    figures += [Figure(title, OURS, THEIRS, TIMES)] if there else []
    return rows("checking", figures, samples)
