"""Every rule wrong by one part in 10⁹, one at a time: the tests of numbers must notice each.

python tests/mutants.py --since main   those of rules that differ from a commit, and of what changed code returns
python tests/mutants.py --only WORD    those whose name holds WORD; may be given again; exits with 2 for none
python tests/mutants.py                those of all rules
python tests/mutants.py --list         names them
python tests/mutants.py --tests FILE   by these test files
python tests/mutants.py --limit 8      seconds for each mutant
python tests/mutants.py --minutes 5    begins none after so many, and says how many are left; --seed says in which order

Exits with 1 where one survives; those are silent that were read, with no number but 0 to change.
"""

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
ROOMS = ("ops", "engine", "jacobian", "formulas", "exact", "explanation", "checking", "language")
NO_NUMBERS = """
audit benchmarks ci_files data_classes fuzz guards house live_programs mutants night notebook notebook_lines
printed_answers random_programs readme
"""
"""Tests that say nothing of a rule, need PyTorch, or take long."""


def judging():
    """Return the tests of numbers: those of the rooms where these are made, and the loose ones beside them."""
    left_out = {f"test_{name}" for name in NO_NUMBERS.split()}
    loose = [path for path in sorted(HERE.glob("test_*.py")) if path.stem not in left_out]
    return [*map(str, loose), *(str(HERE / room) for room in ROOMS if (HERE / room).is_dir())]


def catalogue(lines=None):
    """Return the mutants by name: of the rules that stand on changed lines, and of those lines; None: of all rules.

    The rules of one op stand in one row: where one of them has changed, all count.
    """
    import gradcli

    for module in pkgutil.walk_packages(gradcli.__path__, "gradcli."):  # none later, in a version of its own
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    from mutation.returns import code_mutants
    from mutation.sources import stands_on
    from mutation.table import table_mutants

    found = {mutant.name: mutant for mutant in table_mutants()}
    if lines is None:
        return found
    rows = {name.partition(": ")[0] for name, mutant in found.items() if stands_on(mutant.rules, lines)}
    changed = {name: mutant for name, mutant in found.items() if name.partition(": ")[0] in rows}
    return changed | {mutant.name: mutant for mutant in code_mutants(lines)}


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


def run(mutants, tests, limit, seconds):
    """Judge mutants, print survivors and the count; return how many survive."""
    from mutation.running import verdicts_on

    start = time.monotonic()
    verdicts, failing = verdicts_on(mutants, tests or judging(), limit, seconds, describe)
    for name in failing:
        say(f"FAILS without a mutant too: {name}")
    dead, silent = (sum(getattr(v, what) for v in verdicts.values()) for what in ("killed", "silent"))
    rest = f"; {len(mutants) - len(verdicts):,} were not begun" if len(mutants) > len(verdicts) else ""
    quiet = f", {silent} had no number to change" if silent else ""
    say(f"{dead} of {len(verdicts)} mutants killed in {time.monotonic() - start:.0f} s{quiet}{rest}")
    return len(verdicts) - dead - silent


def court(since, seconds, seed, only=(), tests=(), limit=20.0):
    """Judge the mutants of what a change touches, of all rules without one; return how many survive."""
    from mutation.sources import lines_since

    wanted = list(catalogue(None if since is None else lines_since(since)).values())
    if only:
        wanted = [mutant for mutant in wanted if any(word in mutant.name for word in only)]
    if seconds < math.inf:
        random.Random(seed).shuffle(wanted)  # noqa: S311
    if not wanted:
        say("no mutant to run")
        return 0
    return run(wanted, tests, limit, seconds)


def main(arguments=None):
    """Run the mutants that the command line asks for; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--since")
    parser.add_argument("--tests", action="append", default=[])
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args(arguments)
    if options.list:
        from mutation.sources import lines_since

        say("\n".join(catalogue(options.since and lines_since(options.since))))
        return 0
    seconds = 60 * options.minutes
    return int(court(options.since, seconds, options.seed, options.only, options.tests, options.limit) > 0)


if __name__ == "__main__":
    raise SystemExit(main())
