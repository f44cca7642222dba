"""Worker processes, and their replies in the order of the lines; one that dies or hangs costs one line."""

from __future__ import annotations

import contextlib
import multiprocessing
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

from gradcli.batch.feed import Feed
from gradcli.batch.lines import LONGEST_LINE, Line
from gradcli.batch.replies import Reply
from gradcli.batch.worker import READY, Limits, Task, message, one_thread, unpacked, without_interrupts, work
from gradcli.errors import GradcliError

AHEAD = 8
"""Lines that a worker has in its pipe, so that it need not wait for the next."""
SMALL = 4096
"""Bytes of a line that is sent ahead: all of them fit into a pipe that nobody empties."""
WINDOW = 64
"""Lines for each worker that are read and not yet answered in order."""
MOST_BYTES = 2 * LONGEST_LINE
"""Bytes of lines and replies together that are held."""
LOOK = 60.0
"""Seconds after which the pool looks round, whatever happens: a system's wait has a bound of its own."""
START = 120.0
"""Seconds in which a worker must have started."""


@dataclass(slots=True)
class Worker:
    """One process with the lines that it was sent and has not answered; the first of them it has in hand."""

    process: SpawnProcess
    pipe: Connection
    deadline: float
    started: bool = False
    sent: deque[tuple[int, Line]] = field(default_factory=deque)

    def takes(self, line: Line) -> bool:
        """Return whether a line can be sent now without waiting for the worker to read it."""
        if not self.sent:
            return self.started
        small = all(len(other.text or b"") <= SMALL for _, other in (*self.sent, (0, line)))
        return small and len(self.sent) < AHEAD


class Pool:
    """So many workers; ``replies`` sends them lines and yields what they answer, in order."""

    def __init__(self, jobs: int, task: Task, limits: Limits) -> None:
        self.task = task
        self.limits = limits
        self.jobs = jobs
        self.workers: list[Worker] = []
        self.waiting: deque[tuple[int, Line]] = deque()
        self.replied: dict[int, tuple[Line, Reply]] = {}
        self.held = 0

    def __enter__(self) -> Pool:
        self.workers = [self._started() for _ in range(self.jobs)]
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            end(worker)
        self.workers = []

    def _started(self) -> Worker:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=work, args=(theirs, self.task, self.limits.memory), daemon=True)
        with one_thread(), without_interrupts():
            process.start()
        theirs.close()
        return Worker(process, ours, time.monotonic() + START)

    def replies(self, feed: Feed) -> Iterator[tuple[Line, Reply]]:
        """Yield each line with its reply, in the order of the lines.

        Lines are read while few are under way, and while their bytes are few: a slow reader of the replies makes the
        pool wait, and not grow.
        """
        first, last = 0, 0
        while True:
            while last - first < WINDOW * self.jobs and self.held < MOST_BYTES and (line := feed.take()) is not None:
                self.waiting.append((last, line))
                self.held += len(line.text or b"")
                last += 1
            self._send()
            if first in self.replied:
                line, reply = self.replied.pop(first)
                self.held -= len(line.text or b"") + len(reply.text)
                first += 1
                yield line, reply
                continue
            if first == last and feed.ended:
                feed.check()
                return
            self._receive(feed, listening=last - first < WINDOW * self.jobs and self.held < MOST_BYTES)

    def _send(self) -> None:
        """Give each waiting line to the worker with the fewest, as long as one can take it."""
        while self.waiting:
            place, line = self.waiting[0]
            worker = min((w for w in self.workers if w.takes(line)), key=lambda w: len(w.sent), default=None)
            if worker is None:
                return
            self.waiting.popleft()
            if not worker.sent:
                worker.deadline = time.monotonic() + self.limits.seconds
            worker.sent.append((place, line))
            # The end of a worker is seen, and the line answered or sent again, when its pipe is read.
            with contextlib.suppress(OSError):
                worker.pipe.send_bytes(message(line))

    def _receive(self, feed: Feed, listening: bool) -> None:
        """Wait for a reply, a line, or the time of a worker to be over, and do what is due."""
        now = time.monotonic()
        due = min((worker.deadline for worker in self.workers if worker.sent or not worker.started), default=now + LOOK)
        pipes: list[Any] = [worker.pipe for worker in self.workers]
        ready = wait(
            [*pipes, *([feed.bell] if listening and not feed.ended else [])], timeout=min(max(due - now, 0), LOOK)
        )
        if feed.bell in ready:
            feed.silence()
        for k, worker in enumerate(self.workers):
            if worker.pipe in ready and not self._read(worker):
                self.workers[k] = self._replaced(worker, "died")
            elif (worker.sent or not worker.started) and time.monotonic() > worker.deadline:
                self.workers[k] = self._replaced(worker, "hung")

    def _read(self, worker: Worker) -> bool:
        """Take all replies that are there; returns False where the worker is gone."""
        try:
            while worker.pipe.poll():
                sent = worker.pipe.recv_bytes()
                if not worker.started:
                    worker.started = sent == READY
                    continue
                place, line = worker.sent.popleft()
                self._keep(place, line, unpacked(sent))
                worker.deadline = time.monotonic() + self.limits.seconds
        except (EOFError, OSError):
            return False
        return True

    def _keep(self, place: int, line: Line, reply: Reply) -> None:
        self.replied[place] = line, reply
        self.held += len(reply.text)

    def _replaced(self, worker: Worker, how: str) -> Worker:
        """Answer the line that a worker had in hand with an error, and start another for those behind it."""
        end(worker)
        if not worker.started:
            raise GradcliError(
                "worker",
                f"a worker process did not start: it {how}{ended_by(worker)}",
                hint=f"--memory {self.limits.memory} may be too little",
            )
        if worker.sent:
            place, line = worker.sent.popleft()
            self._keep(place, line, self.task.lost(line, self._loss(worker, how)))
        self.waiting.extendleft(reversed(worker.sent))
        return self._started()

    def _loss(self, worker: Worker, how: str) -> GradcliError:
        if how == "hung":
            message = f"the record took more than --timeout {self.limits.seconds:g} seconds: its worker was ended"
            return GradcliError("worker", message, hint="raise --timeout, or lower --budget seconds=N")
        message = f"the worker process died with this record in hand{ended_by(worker)}"
        return GradcliError("worker", message, hint=f"it may need more memory than --memory {self.limits.memory} MiB")


def end(worker: Worker) -> None:
    """Kill a worker and wait for its end."""
    worker.process.kill()
    worker.process.join()
    worker.pipe.close()


def ended_by(worker: Worker) -> str:
    """Return by what a worker ended, where that is known."""
    code = worker.process.exitcode
    return "" if code is None else f" (signal {-code})" if code < 0 else f" (exit code {code})"
