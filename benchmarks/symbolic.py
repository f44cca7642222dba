"""The symbolic Jacobian at scale: whole processes, less the same process for a scalar."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import prod

from benchmarks.equal import same
from benchmarks.figures import MEMORY, SECONDS, TIMES, Figure, Findings, Row, absent, failure, over, rows
from benchmarks.harness import Samples, measure
from benchmarks.peers.inputs import differentiated, shapes
from benchmarks.processes import ContestantError, answer, command, gradcli, peer
from benchmarks.settings import Settings, installed, tell

PEER_ROUNDS = 2
"""Rounds of a peer, whose ratios have no bar here."""
SMALL = 4
"""The size at which the numbers of all are compared: sympy needs minutes to evaluate what it found at n = 30."""
LIBRARIES = {
    "sympy Matrix.jacobian": ("sympy", "jacobian_symbols", ("sympy",)),
    "symengine jacobian": ("symengine", "jacobian_symbols", ("symengine",)),
    "CasADi SX jacobian": ("casadi", "jacobian_casadi", ()),
    "PyTorch functional.jacobian": ("torch", "jacobian_torch", ()),
    "JAX jacrev": ("jax", "jacobian_jax", ()),
}
"""Peers: the module that must be there, the script, and its first words. The last two give numbers, not formulas."""
NUMERIC = ("PyTorch functional.jacobian", "JAX jacrev")
PROGRAMS = {
    "elementwise": "sin(x)*x**2 + exp(-x)",
    "softmax": "softmax(W @ x)",
    "both": "softmax(W @ x)",
    "network": "sigmoid(V @ sigmoid(W @ x + b) + c)",
    "loop": "y = x\nn = 0\nwhile n < {n}:\n    y = y*0.9999 + 0.001\n    n = n + 1\ny",
    "euler": "y = x\nn = 0\nwhile n < {n}:\n    y = y + sin(y)*0.001\n    n = n + 1\ny",
    "matmul": "sum(W @ V)",
    "step": "y = tanh(x @ W + b) @ V + c; sum((y - t)**2)",
}
TITLES = {
    "elementwise": "sin(x)*x**2 + exp(-x)",
    "softmax": "softmax(W @ x) by x",
    "both": "softmax(W @ x) by W and x",
    "network": "two sigmoid layers by x",
    "loop": "while loop of y*0.9999 + 0.001",
    "euler": "while loop of y + sin(y)*0.001",
    "matmul": "sum(A @ B) by A and B",
    "step": "training step of two layers",
}
ENTRYWISE = ("elementwise", "softmax", "both", "network")
"""Cases with as many outputs as their size; the others have one, and no v."""


@dataclass(frozen=True, slots=True)
class Case:
    """A program at a size, the bars for its seconds and its memory in MiB, and options, under which no peer runs."""

    name: str
    n: int
    seconds: float
    memory: float | None = None
    options: tuple[str, ...] = ()
    peers: tuple[str, ...] = tuple(LIBRARIES)

    @property
    def title(self) -> str:
        """The name of the row."""
        return ", ".join((f"{TITLES[self.name]}, n = {self.n:,}", *self.options))


CASES = (
    Case("elementwise", 1_000, 0.5),
    Case("elementwise", 20_000, 0.7),
    Case("elementwise", 1_000_000, 2.5, 1536),
    Case("elementwise", 1_000_000, 2.5, 1536, ("--json",)),
    Case("softmax", 30, 0.5),
    Case("softmax", 100, 2.0),
    Case("both", 100, 5.0),
    Case("network", 30, 1.5),
    Case("loop", 10_000, 2.0),
    Case("euler", 10_000, 2.0),
    Case("matmul", 300, 1.0, 1024, peers=NUMERIC),
    Case("step", 64, 3.0, 1024, peers=NUMERIC),
)
SCALAR = Case("elementwise", 1, 0)


def values(name: str, n: int) -> dict[str, str]:
    """Return the arguments of a case as expressions; ``peers/inputs.py`` gives the peers the same numbers."""
    found = {}
    for argument, shape in shapes(name, n).items():
        size = prod(shape)
        given = {"W": f"sin(linspace(0,{size},{size}))/10", "V": f"cos(linspace(0,{size},{size}))/10"}
        given |= {"x": f"linspace(0.1,2,{size})" if shape else "0.5", "t": f"linspace(0,1,{size})"}
        given |= {"b": f"linspace(0,1,{size})", "c": f"linspace(-1,0,{size})"}
        text = given[argument]
        found[argument] = f"({text}).reshape({','.join(map(str, shape))})" if len(shape) > 1 else text
    return found


def ours(case: Case, *options: str) -> list[str]:
    """Return gradcli's command line for a case."""
    words = [word for name, value in values(case.name, case.n).items() for word in (f"--{name}", value)]
    v = ["--v", f"linspace(1,2,{case.n})"] if case.n > 1 and case.name in ENTRYWISE else []
    wrt = ",".join(differentiated(case.name, values(case.name, 1)))
    program = PROGRAMS[case.name].replace("{n}", str(case.n))
    return gradcli("explain", program, *words, *v, "--wrt", wrt, *options)


def theirs(library: str, case: Case, *options: str) -> list[str]:
    """Return a peer's command line for a case."""
    _, script, first = LIBRARIES[library]
    return peer(script, *first, case.name, str(case.n), *options)


def peers(names: tuple[str, ...] = tuple(LIBRARIES)) -> list[str]:
    """Return those of some peers that are installed."""
    return [library for library in names if installed(LIBRARIES[library][0])]


def check() -> list[str]:
    """Hold vᵀJ of every case against every peer, at a small size."""
    known = {case.name: case.peers for case in CASES}
    for name in PROGRAMS:
        case = Case(name, SMALL, 0)
        document = json.loads(answer(ours(case, "--json")))
        for numbers in (document["vjp"], document["grad"]):
            for library in peers(known[name]):
                same(f"{name} and {library}", numbers, json.loads(answer(theirs(library, case, "--check"))))
    return [f"vᵀJ and x.grad of {len(PROGRAMS)} programs at n = {SMALL}, with {', '.join(peers())}"]


def measured(settings: Settings) -> Findings:
    """Measure case by case, gradcli together with the scalar case that it is measured over."""
    cases = [case for case in CASES if not settings.quick or case.n in (30, 64, 1_000, 10_000)]
    scalars = [command(f"{name}, scalar", theirs(name, SCALAR)) for name in peers()]
    starts = measure(scalars, PEER_ROUNDS, tell)
    found = Findings([row for case in cases for row in _case(case, settings, starts)])
    gone = [library for library in LIBRARIES if library not in peers()]
    found.rows += [
        absent("symbolic", Figure("all programs", "gradcli", library, TIMES), "not installed") for library in gone
    ]
    return found


def _case(case: Case, settings: Settings, starts: Samples) -> list[Row]:
    """Return the rows of one case; where gradcli fails, its row says so and the other cases are still measured."""
    base = "gradcli, scalar"
    against = [] if case.options else peers(case.peers)
    contestants = [command("gradcli", ours(case, *case.options)), command(base, ours(SCALAR, *case.options))]
    contestants += [command(name, theirs(name, case), limit=settings.limit, most=PEER_ROUNDS) for name in against]
    try:
        samples = measure(contestants, settings.few, tell) | starts
    except ContestantError as failed:
        return [failure("symbolic", case.title, str(failed), SECONDS.unit, case.seconds)]
    for name in ("gradcli", *against):
        samples[f"{name} over its scalar case"] = over(samples, name, f"{name}, scalar")
    mine = "gradcli over its scalar case"
    figures = [Figure(case.title, mine, base, SECONDS, case.seconds)]
    if case.memory:
        figures.append(Figure(f"{case.title}: peak of memory", "gradcli", base, MEMORY, case.memory))
    figures += [Figure(case.title, mine, f"{name} over its scalar case", TIMES) for name in against]
    return rows("symbolic", figures, samples)
