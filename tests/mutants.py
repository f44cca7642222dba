"""Every rule wrong by one part in 10⁹, one at a time: the suite must notice each.

python tests/mutants.py                runs all of them; exits with 1 where one survives
python tests/mutants.py --changed      only those whose code differs from the ledger, or that it does not know
python tests/mutants.py --only WORD    those whose name holds WORD; may be given again
python tests/mutants.py --list         names them
python tests/mutants.py --tests FILE   by these test files instead of all of them
python tests/mutants.py --limit 8      seconds for each mutant; the suite takes about a minute, so more survive
With --write what ran is entered in tests/data/mutants.json.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pkgutil
import sys
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
HERE = Path(__file__).parent
LEDGER = HERE / "data" / "mutants.json"
TESTS = [
    "test_definitions.py",
    "test_function_values.py",
    "test_ops_generic.py",
    "test_torch_cases.py",
    "test_index_rules.py",
    "test_rounding.py",
    "test_formulas.py",
    "test_seed_cases.py",
    "test_checker.py",
    "test_notes.py",
    "symbolic/test_corners.py",
    "symbolic/test_composing.py",
    "symbolic/test_evaluate.py",
]
"""The tests of numbers that need no PyTorch, so that a mutant is killed on every machine."""


def catalogue():
    """Return every mutant by name."""
    import gradcli  # noqa: PLC0415

    for module in pkgutil.walk_packages(gradcli.__path__, "gradcli."):  # none later, in a version of its own
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    from mutation.returns import code_mutants  # noqa: PLC0415
    from mutation.table import table_mutants  # noqa: PLC0415

    found = {}
    for mutant in (*table_mutants(), *code_mutants()):
        if mutant.name in found:
            raise ValueError(f"two mutants are called {mutant.name!r}")
        found[mutant.name] = mutant
    return found


def read_ledger(path=LEDGER):
    """Return by name the hash of the code that a mutant changes, and the test that noticed."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def hashes_of(mutants):
    from mutation.sources import fingerprint  # noqa: PLC0415

    return {name: fingerprint(mutant.rules) for name, mutant in mutants.items()}


def chosen(mutants, only, changed, ledger):
    """Return the mutants to run."""
    found = {name: m for name, m in mutants.items() if not only or any(word in name for word in only)}
    if not changed:
        return found
    now = hashes_of(found)
    return {name: m for name, m in found.items() if ledger.get(name, {}).get("code") != now[name]}


def written(ledger, mutants, verdicts):
    """Return the ledger with what was found, without mutants that are gone."""
    now = hashes_of({name: mutants[name] for name in verdicts})
    fresh = {name: {"code": now[name], "by": verdict.by} for name, verdict in verdicts.items() if verdict.killed}
    kept = {name: entry for name, entry in ledger.items() if name in mutants and name not in verdicts}
    return dict(sorted({**kept, **fresh}.items()))


def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def describe(mutant, verdict):
    """Print what a person needs to reproduce a survivor."""
    if verdict.killed:
        return
    why = (
        "ran out of time" if verdict.late else
        f"{verdict.by} fails without a mutant too" if verdict.always else
        f"no test failed, {verdict.changes} values were changed" if verdict.by is None else
        f"{verdict.by} failed, but nothing was changed"
    )  # fmt: skip
    say(f"SURVIVED {mutant.name}: {why}\n  python tests/mutants.py --only '{mutant.name}'")


BATCH = 50
"""Mutants after which the ledger is written, so that a long run can be cut short."""


def run(mutants, tests, limit, ledger, written_so_far):
    """Judge mutants, print survivors and the count; return the verdicts."""
    from mutation.running import verdicts_on  # noqa: PLC0415

    start, verdicts, names = time.monotonic(), {}, list(mutants)
    killers = {name: entry["by"] for name, entry in ledger.items()}
    for first in range(0, len(names), BATCH):
        batch = [mutants[name] for name in names[first : first + BATCH]]
        verdicts |= verdicts_on(batch, [str(HERE / name) for name in tests], limit, killers, describe)
        written_so_far(verdicts)
    dead = sum(verdict.killed for verdict in verdicts.values())
    say(f"{dead} of {len(verdicts)} mutants killed in {time.monotonic() - start:.0f} s")
    return verdicts


def main(arguments=None):
    """Run the mutants that the command line asks for; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--tests", action="append", default=[])
    parser.add_argument("--limit", type=float, default=300.0)
    for flag in ("--changed", "--list", "--write"):
        parser.add_argument(flag, action="store_true")
    options = parser.parse_args(arguments)
    from mutation.equivalent import EQUIVALENT, SILENT  # noqa: PLC0415

    ledger, mutants = read_ledger(), catalogue()
    mutants = {name: mutant for name, mutant in mutants.items() if name not in EQUIVALENT | SILENT}
    wanted = chosen(mutants, options.only, options.changed, ledger)
    if options.list:
        say("\n".join(wanted))
        return 0
    if not wanted:
        say("no mutant to run")
        return 0

    def write(verdicts):
        if options.write:
            LEDGER.write_text(json.dumps(written(ledger, mutants, verdicts), indent=1) + "\n", encoding="utf-8")

    verdicts = run(wanted, options.tests or TESTS, options.limit, ledger, write)
    return 0 if all(verdict.killed for verdict in verdicts.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
