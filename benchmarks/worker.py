"""A process of its own for what is measured inside one: ``python -m benchmarks.worker FAMILY SETTINGS``.

So the process that starts all others stays small, and the environment is set before numpy is loaded.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from importlib import import_module
from typing import Any

from benchmarks.harness import Sample, Samples
from benchmarks.processes import ROOT, ContestantError, environment
from benchmarks.settings import Settings


def samples_of(family: str, settings: Settings, variables: dict[str, str], *words: str) -> dict[str, Samples]:
    """Return the samples that ``work`` of a family's module takes in a process of its own, by figure."""
    line = [sys.executable, "-m", "benchmarks.worker", family, json.dumps(asdict(settings)), *words]
    ended = subprocess.run(
        line, stdout=subprocess.PIPE, stderr=None, text=True, env=environment(**variables), cwd=ROOT, check=False
    )
    if ended.returncode:
        raise ContestantError(
            f"the measurements of {family} ended with {ended.returncode}: {ended.stdout.strip()[-400:]}"
        )
    read: dict[str, dict[str, list[list[float] | None]]] = json.loads(ended.stdout)
    return {
        title: {name: [Sample(*one) if one else None for one in taken] for name, taken in samples.items()}
        for title, samples in read.items()
    }


def main() -> None:
    """Take the samples of one family and print them."""
    family, settings, *words = sys.argv[1:]
    try:
        found: dict[str, Samples] = import_module(f"benchmarks.{family}").work(Settings(**json.loads(settings)), *words)
    except ContestantError as failed:
        print(failed)
        sys.exit(1)
    print(json.dumps(found, default=_as_list))


def _as_list(sample: Any) -> list[float]:
    return [sample.wall, sample.processor, sample.memory]


if __name__ == "__main__":
    main()
