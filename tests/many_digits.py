"""Hold every entry of J of random programs against many digits: ``python tests/many_digits.py --count 20000 --seed 3``.

The true entries are held against the oracle's as well, which takes derivatives by dual numbers of 40 digits. What is
printed is how many entries there were, the fewest right digits where the condition is below 10⁴, and every program
with fewer than six, with what its answer says; that answer must not agree.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, field

import numpy as np

import gradcli
from generator.nightly import main
from generator.programs import random_program
from gradcli.exact.judge import Places, right_digits, true_entries
from gradcli.exact.slopes import Exact
from gradcli.exact.thresholds import FEWEST
from gradcli.jacobian.composition import compose
from oracles import reverse_jacobians

WELL = 1e4
"""Condition of an entry below which all but a few digits must be right."""
ENTRIES = 10**6
REPORT_EVERY = 500


@dataclass
class Count:
    """What was found so far."""

    programs: int = 0
    entries: int = 0
    unknown: int = 0
    fewest: float = 16.0
    where: str = ""
    poor: list = field(default_factory=list)
    wrong: list = field(default_factory=list)


def entries_of(program):
    """Yield (entry's name, J by symbols, J by reverse mode, the true entry, sizes of terms, the oracle's entry)."""
    f = gradcli.function(program.text, program.wrt)
    run = f.evaluate(program.inputs)
    leaves = [run.leaves[name] for name in program.wrt]
    composed, swept = (
        compose(run.output, leaves, ENTRIES, run.graph).of,
        reverse_jacobians(run.graph, run.output, leaves),
    )
    exact = Exact(f.program, program.inputs, program.wrt)
    for name, leaf, rows in zip(program.wrt, leaves, swept, strict=True):
        jacobian = composed[leaf.index]
        reverse = rows.reshape(jacobian.shape)
        sought = [jacobian.values, reverse[jacobian.rows, jacobian.columns]]
        places = Places(jacobian.rows, jacobian.columns, jacobian.sizes, sought, jacobian.shape)
        symbols, sizes = jacobian.dense(), np.zeros(jacobian.shape)
        sizes[jacobian.rows, jacobian.columns] = jacobian.sizes
        oracle = np.asarray(program.truth.jacobian[name], dtype=np.float64).reshape(jacobian.shape)
        for entry in true_entries(exact, name, places, places.together()):
            at = entry.row, entry.column
            yield f"d[{at[0]}]/d{name}[{at[1]}]", symbols[at], reverse[at], entry, sizes[at], oracle[at]


def hold(program, count):
    """Count the right digits of every entry of a program."""
    count.programs += 1
    poor = False
    for place, symbols, reverse, entry, size, oracle in entries_of(program):
        count.entries += 1
        if entry.value.is_nan():
            count.unknown += 1
            poor = poor or not entry.side.kind
            continue
        digits = min(right_digits(float(symbols), entry.value, size), right_digits(float(reverse), entry.value, size))
        condition = size / abs(float(entry.value)) if entry.value else np.inf
        poor = poor or digits < FEWEST
        if condition < WELL and digits < count.fewest:
            count.fewest, count.where = digits, f"{place} of program {program.number}"
        if right_digits(oracle, entry.value, size) < FEWEST and condition < WELL:
            count.wrong.append(f"{program}\n{place}: the oracle has {oracle!r}, many digits {float(entry.value)!r}")
    if poor:
        answer = gradcli.explain(program.text, inputs=program.inputs, wrt=program.wrt, v=program.v)
        said = f"{answer.agreement.verdict}: {' '.join(note.message for note in answer.notes)}"
        count.poor.append(f"{program}\n{said}")
        if answer.agreement.agree and not any(note.kind in ("kink", "jump", "edge") for note in answer.notes):
            count.wrong.append(f"{program}\nagrees, with entries of fewer than six right digits")


def night(seed, numbers, out=sys.stdout):
    """Hold many programs, print what was found, and return the number of faults."""
    count, start = Count(), time.monotonic()
    print(f"seed {seed}", file=out, flush=True)
    for done, number in enumerate(numbers, 1):
        try:
            hold(random_program(seed, number), count)
        except Exception as error:  # noqa: BLE001 - a refusal is a fault here: every program is one of the language
            count.wrong.append(f"program {number}: {type(error).__name__}: {error}")
        if done % REPORT_EVERY == 0 or done == len(numbers):
            print(
                f"{done} programs, {count.entries} entries, {count.unknown} without a limit, "
                f"{count.fewest:.1f} digits at the least ({count.where}), {len(count.poor)} with fewer than six, "
                f"{len(count.wrong)} faults, {time.monotonic() - start:.0f} s",
                file=out,
                flush=True,
            )
    for title, texts in (("fewer than six digits", count.poor), ("fault", count.wrong)):
        for text in texts:
            print(f"\n{title}\n{text}", file=out, flush=True)
    return len(count.wrong)


if __name__ == "__main__":
    sys.exit(main(night, __doc__))
