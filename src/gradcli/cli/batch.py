"""The ``batch`` command's work: where records come from and answers go, and what the exit code says of them all."""

from __future__ import annotations

import contextlib
import io
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gradcli.batch.answers import Records, Reply, Verdict, freeze_loaded
from gradcli.batch.pool import Limits
from gradcli.batch.records import Line, Wanted, fields_of, lines
from gradcli.cli.options import OPTIONS, refuse_both, suffix_among
from gradcli.cli.output import ExitStatus, complain, guarded_write, is_terminal, write_parts
from gradcli.cli.request import budget_from, file_error, reading
from gradcli.errors import Budget, GradcliError
from gradcli.errors.hints import counted
from gradcli.errors.inert import inert

if TYPE_CHECKING:
    from gradcli.cli.output import Environment
    from gradcli.cli.request import Typed

Read = Callable[[int], bytes]
"""Gives up to so many bytes, none at the end."""
Put = Callable[[bytes], None]
"""Takes a line without its newline."""
Advance = Callable[[int], None]
"""Takes the bytes of a line that was answered."""
EVERY = 0.1
"""Seconds between two movements of the bar."""
MEMORY = 4096
MOST_NAMED = 5
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
WORDS = {
    Verdict.AGREE: ("fine", ""),
    Verdict.NOT_FINITE: ("not finite", "warning: a value or derivative is not finite at this point"),
    Verdict.UNCLEAR: ("unclear", "warning: gradcli could not decide what is right"),
    Verdict.DISAGREE: ("disagreeing", "warning: J and reverse mode disagree"),
    Verdict.REFUSED: ("refused", ""),
    Verdict.FAILED: ("failed", ""),
}
"""How answers are counted, and what is said of one that has no error."""


@contextlib.contextmanager
def opened(env: Environment, source: str) -> Iterator[tuple[Read, int | None]]:
    """Give how to read a file, or standard input for ``-``, and its bytes where they are known; raises ``file``.

    Standard input is read below Python's own buffer, whose lock a waiting thread would keep.
    """
    if source != "-":
        with reading(source, "RECORDS"):
            stream = io.FileIO(source)
        with stream:
            yield partial(careful, stream.read, source), os.fstat(stream.fileno()).st_size or None
        return
    if env.stdin is None:
        raise file_error("standard input is closed", "RECORDS")
    try:
        read: Read = partial(os.read, env.stdin.fileno())
    except (OSError, AttributeError):
        read = io.BytesIO(env.stdin.read().encode()).read
    yield partial(careful, read, "standard input"), None


def careful(read: Callable[[int], bytes | None], name: str, size: int) -> bytes:
    """Return up to ``size`` bytes; raises ``file`` where the system refuses."""
    with reading(name, "RECORDS"):
        return read(size) or b""


@contextlib.contextmanager
def written(env: Environment, output: str | None, source: str, quiet: bool) -> Iterator[Put]:
    """Give how to write a line, so that a reader has it at once: to a file, nowhere, or to standard output.

    Raises ``file``, also where the file to write is the one that is read.
    """
    if output in (None, "-"):
        yield (lambda _: None) if quiet else (lambda line: write_parts(env, (line, b"\n"), "-"))
        return
    with guarded_write(output):
        if source != "-" and Path(output).exists() and Path(output).samefile(source):
            raise same_file(output)
        stream = io.FileIO(output, "w")
    with stream:
        yield partial(to_file, stream, output)


def same_file(output: str) -> GradcliError:
    """Return the error for a file that would be written over before it is read."""
    return GradcliError("file", f"-o {output} is the file that is read", hint="give another name")


def to_file(stream: io.FileIO, output: str, line: bytes) -> None:
    """Write a line to a file; raises ``file``."""
    left = memoryview(line + b"\n")
    with guarded_write(output):
        while left:
            left = left[stream.write(left) :]


@contextlib.contextmanager
def progress(env: Environment, total: int | None, wanted: bool, every: float = EVERY) -> Iterator[Advance]:
    """Show how much was answered, of ``total`` bytes where that is known; ``wanted`` where answers go elsewhere.

    The bar moves at once, and then when ``every`` seconds are over.
    """
    if not wanted or env.stderr is None or not is_terminal(env.stderr):
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    of_total = [BarColumn(), TaskProgressColumn()] if total else [TextColumn("")]
    columns = (TextColumn("{task.fields[records]:,} records"), *of_total, TimeElapsedColumn())
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


def limits_of(typed: Typed, bounds: Budget) -> Limits | None:
    """Return what a worker may take, None where no worker is started; raises ``option``."""
    timeout, memory = typed["timeout"], typed["memory"]
    if timeout is not None and not 0 < timeout <= 1e6:
        raise GradcliError("option", f"--timeout {timeout:g} is not more than 0 and at most 1,000,000 seconds")
    if typed["jobs"] == 1 and timeout is None and memory is None:
        return None
    return Limits(timeout or max(60.0, 4 * bounds.seconds), memory or MEMORY)


@dataclass(slots=True)
class Tally:
    """How many answers were how good, and the first that were not."""

    counts: Counter[Verdict] = field(default_factory=Counter)
    named: list[str] = field(default_factory=list)

    def add(self, line: Line, reply: Reply) -> None:
        """Count a reply."""
        self.counts[reply.verdict] += 1
        if reply.verdict is not Verdict.AGREE and len(self.named) < MOST_NAMED:
            said = WORDS[reply.verdict][1]
            if not said:
                error = json.loads(reply.text)["error"]
                help_text = f" (help: {error['hint']})" if error["hint"] else ""
                said = "error: " + inert(error["message"] + help_text, keep="")
            self.named.append(f"line {line.number}: {said}")

    def lines(self) -> Iterator[str]:
        """Yield what standard error says at the end; nothing where all is well."""
        yield from self.named
        if self.counts.total() - self.counts[Verdict.AGREE]:
            parts = [f"{self.counts[one]:,} {words}" for one, (words, _) in WORDS.items() if self.counts[one]]
            yield f"{counted(self.counts.total(), 'record')}: {', '.join(parts)}"


def answer(env: Environment, typed: Typed) -> ExitStatus:
    """Answer every record, and return the exit code of the worst answer; raises ``option`` and ``file``."""
    source, output, only, quiet = typed["records"], typed["output"], typed["only"], typed["quiet"]
    refuse_both(("RECORDS", source), ("-f FILE", typed["file"]))
    source = source or typed["file"]
    if source is None and env.stdin is not None and is_terminal(env.stdin):
        raise GradcliError("option", "no records are given", hint="gradcli batch - reads what is typed")
    if output not in (None, "-"):
        suffix_among(OPTIONS["output:batch"].suffixes, output)
    names = None if only is None else [name.strip() for name in only.split(",") if name.strip()]
    bounds, symbolic = budget_from(typed["budget"]), not typed["no_symbolic"]
    records = Records(Wanted(symbolic, fields_of(names, symbolic), typed["strict"], bounds, typed["debug"]))
    limits, tally = limits_of(typed, bounds), Tally()
    alone = output not in (None, "-") or quiet or not env.stdout_is_terminal
    with (
        opened(env, source or "-") as (read, size),
        written(env, output, source or "-", quiet) as put,
        progress(env, size, wanted=alone and not quiet) as advance,
    ):
        for line, reply in replies(read, records, typed["jobs"], limits):
            put(reply.text)
            tally.add(line, reply)
            advance(line.read)
    if not quiet:
        for text in tally.lines():
            complain(env, text)
    return STATUS[max(tally.counts, default=Verdict.AGREE)]


def replies(read: Read, records: Records, jobs: int, limits: Limits | None) -> Iterator[tuple[Line, Reply]]:
    """Yield each line with its reply, in order: from this process, or from workers."""
    if limits is None:
        reply = records.loading()
        for count, line in enumerate(lines(read)):
            yield line, reply(line)
            if not count:
                freeze_loaded()
        return
    from gradcli.batch.pool import Feed, Pool

    with Pool(jobs, records, limits) as pool, contextlib.closing(Feed(read)) as feed:
        yield from pool.replies(feed)
