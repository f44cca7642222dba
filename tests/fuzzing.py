"""Put many texts that nobody would type to gradcli: ``python tests/fuzzing.py --count 100000 --seed 1``.

Input number n of a seed is always the same; ``--only n`` runs one alone. Exits with 1 where an input breaks the
contract, and prints a line to reproduce it. ``--scripts`` runs scripts, ``--arguments`` calls every function with every
kind of argument instead.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import itertools
import pkgutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

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


SAY = 5000
"""Inputs between two words of the runner."""


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
    kinds: Counter[str] = field(default_factory=Counter)
    slowest: list[tuple[float, int, Line]] = field(default_factory=list)
    doubts: list[tuple[int, Line]] = field(default_factory=list)
    faults: list[tuple[int, Line, str]] = field(default_factory=list)

    def add(self, number: int, asked: Line, found: Outcome) -> None:
        """Count one outcome."""
        self.codes[found.code] += 1
        self.kinds[found.kind] += 1
        self.slowest = sorted([*self.slowest, (found.seconds, number, asked)], key=lambda item: -item[0])[:5]
        if found.kind == "doubtful":
            self.doubts.append((number, asked))
        if found.fault is not None:
            self.faults.append((number, asked, found.fault))

    def __str__(self) -> str:
        rows = [f"exit codes: {dict(sorted(self.codes.items()))}", f"kinds: {dict(self.kinds.most_common())}"]
        rows += [f"slowest: {seconds:.2f} s  #{n}  {asked.reproduction[:300]}" for seconds, n, asked in self.slowest]
        rows += [f"routes differ without a reason: #{n}  {asked.reproduction}" for n, asked in self.doubts]
        rows += [told(number, asked, fault) for number, asked, fault in self.faults]
        return "\n".join(rows)


def told(number: int, asked: Line, fault: str) -> str:
    """Return what is wrong with the answer to an input, and what reproduces it."""
    return f"FAULT #{number}: {fault}\n    {asked.reproduction}"


def fuzz(lines: Iterable[tuple[int, Line]], watch: Watch | None = None, say: int = 0) -> Tally:
    """Run numbered lines and return what came of them.

    Each fault stands on standard error at once, and a word after each ``say`` inputs.
    """
    tally = Tally()
    for count, (number, asked) in enumerate(lines, 1):
        tally.add(number, asked, outcome(asked, watch))
        if say and tally.faults and tally.faults[-1][0] == number:
            sys.stderr.write(told(*tally.faults[-1]) + "\n")
        if say and not count % say:
            sys.stderr.write(f"{count} inputs, {len(tally.faults)} faults\n")
    return tally


def main(words: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument("--scripts", action="store_true")
    parser.add_argument("--arguments", action="store_true")
    asked = parser.parse_args(words)
    numbers = range(asked.first, asked.first + asked.count) if asked.only is None else [asked.only]
    if asked.arguments:
        found = arguments.faults(asked.seed, numbers[0], len(numbers))
        sys.stdout.write("\n".join([f"seed {asked.seed}, {len(numbers)} calls: {len(found)} faults", *found]) + "\n")
        return 1 if found else 0
    warm_up()
    warnings.simplefilter("error")
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        lines = numbered(asked.seed, numbers, scripts.line if asked.scripts else line)
        tally = fuzz(lines, Watch().install(), SAY)
        left = [path.name for path in Path().iterdir()]
    seconds = time.monotonic() - start
    rows = [f"seed {asked.seed}, {len(numbers)} inputs from {numbers[0]}, {seconds:.0f} s", str(tally)]
    rows += [f"FAULT: files appeared: {left}"] if left else []
    sys.stdout.write("\n".join(rows) + "\n")
    return 1 if tally.faults or left else 0


if __name__ == "__main__":
    sys.exit(main())
