"""``python -m benchmarks``, from the root of the project."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.figures import Findings, failure
from benchmarks.machine import facts
from benchmarks.processes import ContestantError
from benchmarks.settings import Settings

FAMILIES = ("startup", "symbolic", "engine", "batch", "scripts", "checking", "growth")
Load = Callable[[str], Any]
"""Gives a family by its name."""
Facts = Callable[[], dict[str, Any]]
"""Gives the facts about the machine."""


def family(name: str) -> Any:
    """Return what compares and measures one family: ``check()`` and ``measured(settings)``."""
    return import_module(f"benchmarks.{name}")


def families(text: str) -> list[str]:
    """Read the value of ``--only``."""
    names = text.split(",")
    if unknown := [name for name in names if name not in FAMILIES]:
        raise argparse.ArgumentTypeError(f"no family {unknown[0]!r}; there are {', '.join(FAMILIES)}")
    return names


def options(words: list[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", type=families, metavar="FAMILY,…", help=", ".join(FAMILIES))
    parser.add_argument("--rounds", type=int, default=None, help="rounds of every figure (11; 3 with --quick)")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, smaller sizes, less patience with peers")
    parser.add_argument("--records", type=int, default=1_000_000, help="records over which memory must be flat")
    parser.add_argument("--clock", choices=("wall", "processor"), default="wall", help="what the verdict goes by")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything as JSON")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the page of the documentation")
    parser.add_argument(
        "--from",
        type=Path,
        dest="source",
        metavar="FILE",
        help="show a JSON document; with --only, measure these families again",
    )
    chosen = parser.parse_args(words)
    if chosen.rounds is not None and chosen.rounds < 1:
        parser.error("--rounds must be at least 1")
    return chosen


def main(words: list[str], load: Load = family, machine: Facts = facts) -> int:
    """Measure, or read what was measured, and show it; 1 where contestants give different numbers, or one fails."""
    chosen = options(words)
    try:
        found = found_or_measured(chosen, load, machine)
    except ContestantError as failed:
        sys.stderr.write(f"\nerror: {failed}\n")
        return 1
    if chosen.json:
        text = json.dumps(found, indent=1, ensure_ascii=False)
        chosen.json.write_text(text + "\n", encoding="utf-8")
    show(found, chosen.markdown)
    return int(any(row["failed"] for row in found["rows"]))


def found_or_measured(chosen: argparse.Namespace, load: Load, machine: Facts) -> dict[str, Any]:
    """Return the document: a new one, an old one, or an old one of which some families are measured again."""
    if chosen.source is None:
        return measured(chosen, load, machine())
    old: dict[str, Any] = json.loads(chosen.source.read_text(encoding="utf-8"))
    return merged(old, measured(chosen, load, machine())) if chosen.only else old


def merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Return the new document with the families that only the old one has; both must be of the same things."""
    if different := [
        name for name in new["machine"] if name != "date" and new["machine"][name] != old["machine"][name]
    ]:
        raise ContestantError(f"--from holds figures of another {' and '.join(different)}")
    again = {row["family"] for row in new["rows"]}
    kept = [row for row in old["rows"] if row["family"] not in again]
    rows = sorted(kept + new["rows"], key=lambda row: FAMILIES.index(row["family"]))
    compared = [*old["compared"], *(what for what in new["compared"] if what not in old["compared"])]
    share = min(old["how"]["share"], new["how"]["share"])
    return {
        **new,
        "how": {**new["how"], "share": share, "rounds": max(old["how"]["rounds"], new["how"]["rounds"])},
        "compared": compared,
        "rows": rows,
        "growth": new["growth"] or old["growth"],
    }


def measured(chosen: argparse.Namespace, load: Load, machine: dict[str, Any]) -> dict[str, Any]:
    """Compare the numbers of all families, then measure them; return the document."""
    from benchmarks.report import document

    settings = Settings(chosen.rounds or (3 if chosen.quick else 11), chosen.quick, chosen.records)
    findings, compared = Findings(), []
    loaded = {name: load(name) for name in chosen.only or FAMILIES}
    for part in loaded.values():
        compared += part.check()
    for name, part in loaded.items():
        add(findings, name, part, settings)
    how = {"rounds": settings.rounds, "quick": settings.quick, "clock": chosen.clock, "share": share(findings)}
    return document(findings, compared, machine, how)


def add(findings: Findings, name: str, family: Any, settings: Settings) -> None:
    """Add what one family finds; a contestant that fails costs its family, and the others are still measured."""
    started = time.monotonic()
    try:
        part = family.measured(settings)
    except ContestantError as failed:
        part = Findings([failure(name, "all figures", str(failed))])
    findings.rows += part.rows
    findings.series += part.series
    sys.stderr.write(f"{name}: {time.monotonic() - started:.0f} s\n")


def share(findings: Findings) -> float:
    """Return the part of the time on the wall that gradcli's own runs had a processor, or 0 where nothing tells."""
    shares = [row.share for row in findings.rows if row.share is not None]
    return min(1.0, median(shares)) if shares else 0.0


def show(found: dict[str, Any], page: Path | None) -> None:
    """Print the tables, and write the page where it is asked for."""
    from rich.console import Console

    from benchmarks.page import markdown
    from benchmarks.report import tables

    console = Console(width=None if sys.stdout.isatty() else 200)
    for part in tables(found):
        console.print(part, markup=False, highlight=False)
    if page:
        page.write_text(markdown(found), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
