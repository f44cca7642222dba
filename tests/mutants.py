"""Every rule wrong by one part in 10⁹, one at a time: the suite must notice each.

python tests/mutants.py                runs all of them; exits with 1 where one survives,
                                       and says which are silent: read, with no number but 0 to change
python tests/mutants.py --since COMMIT only those of rules whose code differs from a commit; all, if git knows it not
python tests/mutants.py --only WORD    those whose name holds WORD; may be given again; exits with 2 for none
python tests/mutants.py --list         names them
python tests/mutants.py --tests FILE   by these test files instead of all of them
python tests/mutants.py --limit 8      seconds for each mutant; the suite takes about a minute, so more survive
python tests/mutants.py --part 1-4/5   four of each five, for two processes that share them: the other has --part 5/5
python tests/mutants.py --bound 300    begins none after so many seconds, and says how many are left
The order with a bound is random; --seed says which.
"""

from __future__ import annotations

import argparse
import importlib
import math
import os
import pkgutil
import random
import sys
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
HERE = Path(__file__).parent
TESTS = [
    "test_definitions.py",
    "test_function_values.py",
    "test_ops_generic.py",
    "test_torch_cases.py",
    "test_torch_recorded.py",
    "formulas/test_index_rules.py",
    "test_rounding.py",
    "formulas/test_formulas.py",
    "test_seed_cases.py",
    "test_checker.py",
    "test_notes.py",
    "formulas/test_corners.py",
    "jacobian/test_composing.py",
    "jacobian/test_evaluate.py",
    "jacobian/test_large.py",
    "test_backward_texts.py",
    "explanation/test_backward.py",
    "batch/test_batch_records.py::test_values_may_be_written_as_on_the_command_line",
    "exact/test_ops_exactly.py",
    "exact/test_real.py",
    "exact/test_slopes.py",
]
"""The tests of numbers that need no PyTorch, so that a mutant is killed on every machine."""
QUICK = [
    "test_accuracy.py",
    "test_by_hand.py",
    "test_cofactors.py",
    "test_engine.py",
    "test_extremes.py",
    "test_facts.py",
    "test_forward.py",
    "test_interface.py",
    "test_notebook_lines.py",
    "test_python_functions.py",
    "test_vocabulary.py",
    "checking/test_check.py",
    "checking/test_expected.py",
    "exact/test_curvature.py",
    "explanation/test_by_index.py",
    "explanation/test_hessians.py",
    "explanation/test_tangents.py",
    "explanation/test_tape.py",
    "language/test_arguments.py",
    "language/test_kinds.py",
    "language/test_memory.py",
    "language/test_plain_numbers.py",
    "language/test_repeated_index.py",
    "language/test_values.py",
    "formulas/test_formula_texts.py",
    "jacobian/test_refined.py",
]
"""Others of which those that are slow are left out: they would be asked about each mutant that no test notices."""


def catalogue():
    """Return every mutant by name."""
    import gradcli

    for module in pkgutil.walk_packages(gradcli.__path__, "gradcli."):  # none later, in a version of its own
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    from mutation.returns import code_mutants
    from mutation.table import table_mutants

    found = {}
    for mutant in (*table_mutants(), *code_mutants()):
        if mutant.name in found:
            raise ValueError(f"two mutants are called {mutant.name!r}")
        found[mutant.name] = mutant
    return found


def changed(mutants, lines):
    """Return the mutants that change a rule some line of which, or of what it calls, is among those that differ.

    The rules of one op stand in one row: where one of them has changed, all count.
    """
    from mutation.sources import stands_on

    rows = {name.partition(": ")[0] for name, mutant in mutants.items() if stands_on(mutant.rules, lines)}
    return {name: mutant for name, mutant in mutants.items() if name.partition(": ")[0] in rows}


def part_of(mutants, part):
    """Return those of a part, in order: `1-4/5` is the first four of each five, `5/5` the fifth.

    Raises ValueError for what is no part of so many.
    """
    places, _, size = part.partition("/")
    first, _, last = places.partition("-")
    if not 1 <= int(first) <= int(last or first) <= int(size):
        raise ValueError(f"{part} is no part of {size}")
    wanted = range(int(first) - 1, int(last or first))
    return {name: mutant for place, (name, mutant) in enumerate(mutants.items()) if place % int(size) in wanted}


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def describe(mutant, verdict):
    """Print what a person needs to reproduce a survivor."""
    if verdict.killed:
        return
    if verdict.silent:
        say(f"SILENT   {mutant.name}: read, and it gave no number but 0")
        return
    why = (
        "ran out of time" if verdict.late else
        f"no test failed, {verdict.changes} values were changed" if verdict.by is None else
        f"{verdict.by} failed, but nothing was changed"
    )  # fmt: skip
    say(f"SURVIVED {mutant.name}: {why}\n  python tests/mutants.py --only '{mutant.name}'")


def run(mutants, tests, limit, bound):
    """Judge mutants, print survivors and the count; return whether all were killed that were begun."""
    from mutation.running import verdicts_on

    start = time.monotonic()
    files, quick = ([str(HERE / name) for name in names] for names in (tests, QUICK))
    verdicts, failing = verdicts_on(mutants.values(), files, limit, bound, describe, quick)
    dead, left = sum(verdict.killed for verdict in verdicts.values()), len(mutants) - len(verdicts)
    for name in failing:
        say(f"FAILS without a mutant too: {name}")
    silent = sum(verdict.silent for verdict in verdicts.values())
    rest = f"; {left:,} were not begun" if left else ""
    quiet = f", {silent} had no number to change" if silent else ""
    say(f"{dead} of {len(verdicts)} mutants killed in {time.monotonic() - start:.0f} s{quiet}{rest}")
    return dead + silent == len(verdicts) and not failing


def main(arguments=None):
    """Run the mutants that the command line asks for; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--since")
    parser.add_argument("--tests", action="append", default=[])
    parser.add_argument("--limit", type=float, default=300.0)
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--bound", type=float, default=math.inf)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args(arguments)
    from mutation.sources import lines_since

    wanted = catalogue()
    lines = lines_since(options.since) if options.since else None
    if lines is not None:
        wanted = changed(wanted, lines)
    if options.only:
        wanted = {name: mutant for name, mutant in wanted.items() if any(word in name for word in options.only)}
    wanted = part_of(wanted, options.part)
    if options.bound < math.inf:
        wanted = dict(random.Random(options.seed).sample(list(wanted.items()), len(wanted)))  # noqa: S311
    if options.list:
        say("\n".join(wanted))
        return 0
    if not wanted:
        say("no mutant to run")
        return 2 if options.only else 0
    return 0 if run(wanted, options.tests or [*TESTS, *QUICK], options.limit, options.bound) else 1


if __name__ == "__main__":
    raise SystemExit(main())
