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
from typing import TYPE_CHECKING, Any

from gradcli.batch.answers import Records, Reply, Verdict, freeze_loaded
from gradcli.batch.pool import Limits
from gradcli.batch.records import Line, Wanted, fields_of, lines
from gradcli.cli.output import ExitStatus, complain, is_terminal, to_stdout
from gradcli.cli.request import budget_from, file_error
from gradcli.errors import GradcliError
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
MOST_JOBS = 256
MEMORY, LEAST_MEMORY = 4096, 128
SUFFIXES = (".ndjson", ".jsonl")
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
        with file(source) as stream:
            yield partial(careful, stream.read, source), os.fstat(stream.fileno()).st_size or None
        return
    if env.stdin is None:
        raise file_error("standard input is closed", "RECORDS")
    try:
        read: Read = partial(os.read, env.stdin.fileno())
    except (OSError, AttributeError):
        read = io.BytesIO(env.stdin.read().encode()).read
    yield partial(careful, read, "standard input"), None


def file(source: str) -> io.FileIO:
    """Return a file to read; raises ``file``."""
    try:
        return io.FileIO(source)
    except IsADirectoryError:
        raise file_error(f"{source} is a directory", "RECORDS") from None
    except FileNotFoundError:
        raise file_error(f"there is no file {source}", "RECORDS") from None
    except OSError as error:
        raise file_error(f"{source} cannot be read: {error.strerror}", "RECORDS") from None
    except ValueError:
        raise file_error("the file's name holds a character that no file name can have", "RECORDS") from None


def careful(read: Callable[[int], bytes | None], name: str, size: int) -> bytes:
    """Return up to ``size`` bytes; raises ``file`` where the system refuses."""
    try:
        return read(size) or b""
    except OSError as error:
        raise file_error(f"{name} cannot be read: {error.strerror}", "RECORDS") from None


@contextlib.contextmanager
def written(env: Environment, output: str | None, source: str, quiet: bool) -> Iterator[Put]:
    """Give how to write a line, so that a reader has it at once: to a file, nowhere, or to standard output.

    Raises ``file``, also where the file to write is the one that is read.
    """
    if output is None:
        yield (lambda _: None) if quiet else partial(to_stream, env)
        return
    try:
        if source != "-" and Path(output).exists() and Path(output).samefile(source):
            raise GradcliError("file", f"-o {output} is the file that is read", hint="give another name")
        stream = io.FileIO(output, "w")
    except OSError as error:
        raise GradcliError("file", f"-o {output} cannot be written: {error.strerror}") from None
    except ValueError:
        raise GradcliError("file", "the name after -o holds a character that no file name can have") from None
    with stream:
        yield partial(to_file, stream, output)


def to_stream(env: Environment, line: bytes) -> None:
    """Write a line to standard output; raises ``ClosedPipe`` or ``file``."""
    with to_stdout(env):
        buffer: Any = getattr(env.stdout, "buffer", None)
        if buffer is None:
            env.stdout.write(line.decode("ascii") + "\n")
            return
        buffer.write(line + b"\n")
        buffer.flush()


def to_file(stream: io.FileIO, output: str, line: bytes) -> None:
    """Write a line to a file; raises ``file``."""
    left = memoryview(line + b"\n")
    try:
        while left:
            left = left[stream.write(left) :]
    except OSError as error:
        raise GradcliError("file", f"-o {output} cannot be written: {error.strerror}") from None


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


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """What a batch was asked; without ``limits`` no worker is started."""

    source: str
    output: str | None
    jobs: int
    wanted: Wanted
    limits: Limits | None
    quiet: bool


def batch_request(env: Environment, typed: Typed) -> BatchRequest:
    """Return the checked request; raises ``option``."""
    records, output, jobs, only = typed["records"], typed["output"], typed["jobs"], typed["only"]
    timeout, memory = typed["timeout"], typed["memory"]
    if records is not None and typed["file"] is not None:
        raise GradcliError("option", "RECORDS and -f FILE are both given", hint="give one of them")
    source = typed["file"] if records is None else records
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
    bounds, symbolic = budget_from(typed["budget"]), not typed["no_symbolic"]
    wanted = Wanted(symbolic, fields_of(names, symbolic), typed["strict"], bounds, typed["debug"])
    limits = None
    if jobs > 1 or timeout is not None or memory is not None:
        limits = Limits(timeout or max(60.0, 4 * bounds.seconds), memory or MEMORY)
    return BatchRequest(source or "-", output, jobs, wanted, limits, typed["quiet"])


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


def answer(env: Environment, asked: BatchRequest) -> ExitStatus:
    """Answer every record, and return the exit code of the worst answer."""
    tally = Tally()
    alone = asked.output is not None or asked.quiet or not env.stdout_is_terminal
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
    return STATUS[max(tally.counts, default=Verdict.AGREE)]


def replies(read: Read, asked: BatchRequest) -> Iterator[tuple[Line, Reply]]:
    """Yield each line with its reply, in order: from this process, or from workers."""
    if asked.limits is None:
        reply = Records(asked.wanted).loading()
        for count, line in enumerate(lines(read)):
            yield line, reply(line)
            if not count:
                freeze_loaded()
        return
    from gradcli.batch.pool import Feed, Pool

    with Pool(asked.jobs, Records(asked.wanted), asked.limits) as pool, contextlib.closing(Feed(read)) as feed:
        yield from pool.replies(feed)
