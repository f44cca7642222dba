"""Texts that nobody would type, put to gradcli: ``python tests/night.py texts scripts arguments``.

Input number n of a seed is always the same. A fault is a broken contract, with a line that reproduces it.
"""

import contextlib
import functools
import importlib
import itertools
import pkgutil
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TextIO

import gradcli
from fuzz import arguments, scripts
from fuzz.audit import Watch
from fuzz.contract import Outcome, outcome
from fuzz.lines import Line, commands, line
from oracles import ask, cases

WARM = (
    "sum(softmax(A @ x)**2) + log(x[0])", "sinn(x)", "x²", "x +", "prod(x)/norm(x) + einsum('i,i->', x, x)", "x*'a'",
    "y = x\nfor i in range(9): y = tanh(y)*sin(y)\nsum(y)", "where(x > 0, x, 0).sum()*0 + det(A)", "x*ones(90, 90, 2)",
    "solve(A, x)", "x[[0, 1]] @ inv(A)", "sort(x).values*median(x)", "sum(abs(x > 0)*x) + A.sum()",
    "sum(sinc(x) + gelu(x) + silu(x) + erf(x)) + sum(hypot(A, 2))", "y = x*1\ny /= 2\ny[0] = x[1]\nsum(y)",
)  # fmt: skip
"""Programs after which everything that an input may need is loaded."""


def warm_up() -> None:
    """Load all that is loaded late: the audit counts an import by an input as a fault."""
    for module in pkgutil.walk_packages(gradcli.__path__, "gradcli."):
        if module.name != "gradcli.__main__":
            importlib.import_module(module.name)
    for command, program, how in itertools.product(commands(), WARM, ([], ["--json"], ["--format", "plain"], ["-q"])):
        ask(command, program, "--A", "1,2;3,4.5", "--x", "1,pi", "--v", "ones(2)", *how)
    for words in (
        ["functions"],
        ["functions", "sin"],
        ["functions", "sinn"],
        ["explain", "--help"],
        ["explain", "x**2", "--x", "1", "--v", "1", "--v", "2"],
        ["explain", "10**10**10*x", "--x", "1"],
        ["--zork"],
        ["-V"],
    ):
        ask(*words)
        ask(*words, "--json")
    for row in cases("bad_inputs.jsonl"):
        if not row["id"].startswith("dos"):  # the budgets of these take seconds, and load nothing
            ask(*row["args"], stdin=row["stdin"] or "")


def numbered(seed: int, numbers: Iterable[int], line: Callable[[Random], Line] = line) -> Iterator[tuple[int, Line]]:
    """Yield the inputs of a seed by their numbers."""
    for number in numbers:
        yield number, line(Random(f"{seed}:{number}"))  # noqa: S311


@dataclass
class Tally:
    """What a run of the fuzzer saw."""

    codes: Counter[int] = field(default_factory=Counter)
    faults: list[tuple[int, Line, str]] = field(default_factory=list)

    def add(self, number: int, asked: Line, found: Outcome) -> None:
        """Count one outcome."""
        self.codes[found.code] += 1
        if found.fault is not None:
            self.faults.append((number, asked, found.fault))

    def __str__(self) -> str:
        return "\n".join(f"FAULT #{n}: {fault}\n    {asked.reproduction}" for n, asked, fault in self.faults)


def fuzz(lines: Iterable[tuple[int, Line]], watch: Watch | None = None) -> Tally:
    """Run numbered lines and return what came of them."""
    tally = Tally()
    for number, asked in lines:
        tally.add(number, asked, outcome(asked, watch))
    return tally


@functools.cache
def armed() -> Watch:
    """Load all that is loaded late, and let the audit hear what inputs do from here on."""
    warm_up()
    return Watch().install()


def night(seed: int, numbers: Iterable[int], out: TextIO = sys.stdout, line: Callable[[Random], Line] = line) -> int:
    """Run inputs in an empty folder, print the faults, and return how many there were; a file left there is one."""
    watch = armed()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("error")
        tally = fuzz(numbered(seed, numbers, line), watch)
        left = [path.name for path in Path().iterdir()]
    for text in (*[str(tally)] * bool(tally.faults), *(f"FAULT: the file {name} appeared" for name in left)):
        print(text, file=out, flush=True)
    return len(tally.faults) + len(left)


def night_of_scripts(seed: int, numbers: Iterable[int], out: TextIO = sys.stdout) -> int:
    """Run scripts in the same way."""
    return night(seed, numbers, out, scripts.line)


def night_of_arguments(seed: int, numbers: Iterable[int], out: TextIO = sys.stdout) -> int:
    """Call functions with arguments of every kind, print the faults, and return how many there were."""
    found = [fault for number in numbers for fault in arguments.faults(seed, number, 1)]
    for fault in found:
        print(fault, file=out, flush=True)
    return len(found)
