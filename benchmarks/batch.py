"""``gradcli batch``: records of the 2→3 example, against a loop with PyTorch in one process."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.equal import same
from benchmarks.figures import FASTER, MEMORY_TIMES, TIMES, Figure, Findings, Row, absent, rows
from benchmarks.harness import Samples, measure
from benchmarks.processes import EXAMPLE, ContestantError, answer, command, gradcli, peer, run
from benchmarks.settings import Settings, installed, tell

OURS, PLAIN, TORCH, AGAIN = "batch", "batch --no-symbolic", "PyTorch loop", "batch, again"
SAME = "batch --only output,jacobian,vjp,grad"
"""What the PyTorch loop answers too, with formulas for J: its forward, reverse, effect and agreement are ours alone."""
WORDS = {
    OURS: ("-", "--jobs", "1"),
    SAME: ("-", "--jobs", "1", "--only", "output,jacobian,vjp,grad"),
    PLAIN: ("-", "--jobs", "1", "--no-symbolic"),
}


@dataclass(frozen=True, slots=True)
class Players:
    """Who takes part: command lines of gradcli and of peers, which peers are there, and how many records they get."""

    ours: Callable[..., list[str]] = gradcli
    theirs: Callable[..., list[str]] = peer
    there: Callable[[str], bool] = installed
    records: int = 2_000
    few: int = 1_000


ALL = Players()
TITLE = f"{ALL.records:,} records"
FIGURES = (
    Figure(TITLE, OURS, AGAIN, TIMES),
    Figure(TITLE, OURS, TORCH, FASTER, 1.0),
    Figure(f"{TITLE}, --only what the loop answers", SAME, TORCH, FASTER, 1.0),
    Figure(f"{TITLE}, --no-symbolic", PLAIN, OURS, FASTER, 3.0),
    Figure(f"{TITLE}, --no-symbolic", PLAIN, TORCH, FASTER),
)
FLAT = 1.1
"""How many times the memory of a thousand records that of a million may be: flat, and a tenth for noise."""


@contextmanager
def records(count: int) -> Iterator[Path]:
    """Yield a file of records of one program, each at a point of its own; it is gone afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.ndjson"
        with path.open("w", encoding="utf-8") as file:
            for k in range(count):
                x = [1 + k / count, 2 - k / count]
                record = {"id": k, "program": EXAMPLE[0], "inputs": {"x": x}, "v": [1, 10, 100]}
                file.write(json.dumps(record) + "\n")
        yield path


def missing(players: Players) -> str:
    """Return why gradcli cannot take part, or nothing."""
    try:
        answer(players.ours("batch", "--help"))
    except ContestantError:
        return "gradcli has no command 'batch'"
    return ""


def check(players: Players = ALL) -> list[str]:
    """Hold every answer of every contestant against the PyTorch loop's."""
    if missing(players) or not players.there("torch"):
        return []
    with records(players.records) as path:
        theirs = _answers(players.theirs("loop_torch"), path)
        for name, words in WORDS.items():
            ours = _answers(players.ours("batch", *words), path)
            if ours.keys() != theirs.keys():
                raise ContestantError(f"{name} answers {len(ours)} records, the PyTorch loop {len(theirs)}")
            for number, found in ours.items():
                same(f"{name}, record {number}", found["grad"]["x"], theirs[number]["grad"]["x"])
                if name != PLAIN:
                    same(f"{name}, record {number}", found["vjp"]["x"], theirs[number]["vjp"])
    return [f"{players.records:,} gradients and vᵀJ of batch and the PyTorch loop"]


def _answers(words: list[str], path: Path) -> dict[int, dict[str, dict[str, list[float]]]]:
    return {found["id"]: found for found in map(json.loads, answer(words, path).splitlines())}


def measured(settings: Settings, players: Players = ALL) -> Findings:
    """Measure the time of some records in turn, and the memory of many once."""
    if why := missing(players):
        return Findings([absent("batch", figure, why) for figure in (*FIGURES, flat(settings, players))])
    with records(players.records) as path:
        lines = {name: players.ours("batch", *words) for name, words in WORDS.items()}
        lines |= {AGAIN: lines[OURS]}
        lines |= {TORCH: players.theirs("loop_torch")} if players.there("torch") else {}
        samples = measure([command(name, words, path) for name, words in lines.items()], settings.few, tell)
    there = [figure for figure in FIGURES if figure.theirs in samples]
    gone = [figure for figure in FIGURES if figure not in there]
    lost = [absent("batch", figure, "not installed") for figure in gone]
    return Findings(rows("batch", there, samples) + lost + memory(settings, players))


def memory(settings: Settings, players: Players) -> list[Row]:
    """Return the peak of the memory after many records, in multiples of that after few."""
    samples: Samples = {}
    for count in (players.few, settings.many):
        tell(f"memory over {count:,} records")
        with records(count) as path:
            samples[f"{count:,} records"] = [run(players.ours("batch", *WORDS[PLAIN]), path)]
    return rows("batch", [flat(settings, players)], samples)


def flat(settings: Settings, players: Players) -> Figure:
    """Return the figure of the memory."""
    many, few = f"{settings.many:,} records", f"{players.few:,} records"
    return Figure(f"{PLAIN}, peak of memory, {many}", many, few, MEMORY_TIMES, FLAT)
