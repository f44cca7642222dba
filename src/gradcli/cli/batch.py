"""The ``batch`` command's work: where records come from and answers go, and what the exit code says of them all."""

from __future__ import annotations

import contextlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from gradcli.batch.answers import Verdict
from gradcli.batch.lines import Line, lines
from gradcli.batch.records import Wanted, fields_of
from gradcli.batch.replies import Records, Replies, Reply, settle
from gradcli.batch.worker import Limits
from gradcli.cli.environment import is_terminal
from gradcli.cli.output import complain, on_terminal
from gradcli.cli.request import budget_from
from gradcli.cli.status import ExitStatus
from gradcli.cli.streams import Read, opened, written
from gradcli.errors import GradcliError
from gradcli.errors.counting import counted
from gradcli.errors.inert import inert

if TYPE_CHECKING:
    from gradcli.cli.environment import Environment

EVERY = 0.1
"""Seconds between two movements of the bar."""
Advance = Callable[[int], None]
"""Takes the bytes of a line that was answered."""


def nothing(size: int) -> None:
    """Show nothing."""
    del size


@contextlib.contextmanager
def progress(env: Environment, total: int | None, wanted: bool, every: float = EVERY) -> Iterator[Advance]:
    """Show how much was answered, of ``total`` bytes where that is known; ``wanted`` where answers go elsewhere.

    The bar moves at once, and then when ``every`` seconds are over.
    """
    if not wanted or env.stderr is None or not is_terminal(env.stderr):
        yield nothing
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    known = [BarColumn(), TaskProgressColumn()] if total else [TextColumn("")]
    columns = (TextColumn("{task.fields[records]:,} records"), *known, TimeElapsedColumn())
    with Progress(*columns, console=Console(file=env.stderr), transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("", total=total, records=0)
        records, size, shown = 0, 0, 0.0

        def advance(read: int) -> None:
            nonlocal records, size, shown
            records, size = records + 1, size + read
            if time.monotonic() > shown + every:
                shown = time.monotonic()
                bar.update(task, completed=size, records=records)

        yield advance


MOST_JOBS = 256
MEMORY, LEAST_MEMORY = 4096, 128
SUFFIXES = (".ndjson", ".jsonl")
TOLD = 5
"""Lines that standard error names; the rest is counted."""
STATUS = {
    Verdict.AGREE: ExitStatus.OK,
    Verdict.NOT_FINITE: ExitStatus.NOT_FINITE,
    Verdict.UNCLEAR: ExitStatus.UNCLEAR,
    Verdict.DISAGREE: ExitStatus.DISAGREE,
    Verdict.REFUSED: ExitStatus.USAGE,
    Verdict.FAILED: ExitStatus.INTERNAL,
}
"""The exit code of a batch is that of its worst answer: the later in this table, the worse."""


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """What a batch was asked; without ``limits`` no worker is started."""

    source: str
    output: str | None
    jobs: int
    wanted: Wanted
    limits: Limits | None
    quiet: bool


def batch_request(
    env: Environment,
    records: str | None,
    file: str | None,
    output: str | None,
    jobs: int,
    only: str | None,
    no_symbolic: bool,
    timeout: float | None,
    memory: int | None,
    strict: bool,
    quiet: bool,
    budget: list[str] | None,
    debug: bool,
) -> BatchRequest:
    """Return the checked request; raises ``option``."""
    if records is not None and file is not None:
        raise GradcliError("option", "RECORDS and -f FILE are both given", hint="give one of them")
    source = file if records is None else records
    if source is None and env.stdin is not None and is_terminal(env.stdin):
        raise GradcliError("option", "no records are given", hint="gradcli batch - reads what is typed")
    if output is not None and Path(output).suffix.lower() not in SUFFIXES:
        raise GradcliError("option", f"-o '{output[:80]}' has no known suffix", hint=f"it can end with {SUFFIXES[0]}")
    if not 1 <= jobs <= MOST_JOBS:
        raise GradcliError("option", f"--jobs {jobs} is not from 1 to {MOST_JOBS}")
    if timeout is not None and not 0 < timeout <= 1e6:
        raise GradcliError("option", f"--timeout {timeout:g} is not more than 0 and at most 1,000,000 seconds")
    if memory is not None and not LEAST_MEMORY <= memory <= 2**24:
        raise GradcliError("option", f"--memory {memory} is not from {LEAST_MEMORY} to {2**24:,} MiB")
    names = None if only is None else [name.strip() for name in only.split(",") if name.strip()]
    bounds = budget_from(budget)
    wanted = Wanted(not no_symbolic, fields_of(names, not no_symbolic), strict, bounds, debug)
    limits = None
    if jobs > 1 or timeout is not None or memory is not None:
        limits = Limits(timeout or max(60.0, 4 * bounds.seconds), memory or MEMORY)
    return BatchRequest(source or "-", output, jobs, wanted, limits, quiet)


@dataclass(slots=True)
class Tally:
    """How many answers were how good, and the first that were not."""

    counts: Counter[Verdict] = field(default_factory=Counter)
    told: list[str] = field(default_factory=list)

    def add(self, line: Line, reply: Reply) -> None:
        """Count a reply."""
        self.counts[reply.verdict] += 1
        if reply.verdict is not Verdict.AGREE and len(self.told) < TOLD:
            self.told.append(f"line {line.number}: {said(reply)}")

    @property
    def status(self) -> ExitStatus:
        """The exit code: that of the worst answer."""
        return STATUS[max(self.counts, default=Verdict.AGREE)]

    def lines(self) -> Iterator[str]:
        """Yield what standard error says at the end; nothing where all is well."""
        yield from self.told
        bad = self.counts.total() - self.counts[Verdict.AGREE]
        if bad:
            parts = [f"{self.counts[verdict]:,} {words}" for verdict, words in WORDS.items() if self.counts[verdict]]
            yield f"{counted(self.counts.total(), 'record')}: {', '.join(parts)}"


WORDS = {
    Verdict.AGREE: "fine",
    Verdict.NOT_FINITE: "not finite",
    Verdict.UNCLEAR: "unclear",
    Verdict.DISAGREE: "disagreeing",
    Verdict.REFUSED: "refused",
    Verdict.FAILED: "failed",
}


def said(reply: Reply) -> str:
    """Return one line about an answer that is not as it should be."""
    if reply.verdict is Verdict.NOT_FINITE:
        return "warning: a value or derivative is not finite at this point"
    if reply.verdict is Verdict.UNCLEAR:
        return "warning: gradcli could not decide what is right"
    if reply.verdict is Verdict.DISAGREE:
        return "warning: J and reverse mode disagree"
    error = json.loads(reply.text)["error"]
    help_text = f" (help: {error['hint']})" if error["hint"] else ""
    return "error: " + inert(error["message"] + help_text, keep="")


def answer(env: Environment, asked: BatchRequest) -> ExitStatus:
    """Answer every record, and return the exit code of the worst answer."""
    tally = Tally()
    alone = asked.output is not None or asked.quiet or not on_terminal(env)
    with (
        opened(env, asked.source) as (read, size),
        written(env, asked.output, asked.source, asked.quiet) as put,
        progress(env, size, wanted=alone and not asked.quiet) as advance,
    ):
        for line, reply in replies(read, asked):
            put(reply.text)
            tally.add(line, reply)
            advance(line.read)
    if not asked.quiet:
        for text in tally.lines():
            complain(env, text)
    return tally.status


def replies(read: Read, asked: BatchRequest) -> Iterator[tuple[Line, Reply]]:
    """Yield each line with its reply, in order: from this process, or from workers."""
    if asked.limits is None:
        here = Replies(asked.wanted)
        for count, line in enumerate(lines(read)):
            yield line, here.of(line)
            if not count:
                settle()
        return
    from gradcli.batch.feed import Feed
    from gradcli.batch.pool import Pool

    with Pool(asked.jobs, Records(asked.wanted), asked.limits) as pool, contextlib.closing(Feed(read)) as feed:
        yield from pool.replies(feed)
