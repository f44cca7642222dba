"""Worker processes: lines go out by pipes, replies come back in order; a worker that dies or hangs costs one line."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any, Protocol

from gradcli.batch.answers import Reply, freeze_loaded
from gradcli.batch.records import LONGEST_LINE, Line, lines
from gradcli.errors import GradcliError

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
MEBIBYTE = 2**20


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds on the wall that one record may take, and MiB of address space that one worker may have."""

    seconds: float
    memory: int


class Task(Protocol):
    """What workers do with lines: records of a batch, checks of a file. It is sent to each of them as it starts."""

    def answering(self) -> Callable[[Line], Reply]:
        """Load what an answer needs, and return what replies to a line."""
        ...

    def lost(self, line: Line, error: GradcliError) -> Reply:
        """Return the reply to a line whose worker has ended."""
        ...


def bound_memory(mebibytes: int) -> bool:
    """Let this process have no more address space; returns whether the system can do that: Windows cannot."""
    try:
        import resource
    except ImportError:
        return False
    wanted = mebibytes * MEBIBYTE
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    try:
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    except (ValueError, OSError):  # macOS knows the bound and does not keep it
        return False
    return True


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Let processes that start meanwhile compute with one thread each, unless the user has said otherwise."""
    added = [name for name in THREADS if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


@contextlib.contextmanager
def without_interrupts() -> Iterator[None]:
    """Let processes that start meanwhile never hear Ctrl-C, which is for their parent; here it waits until after."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # which would let interrupts through again, once it had started
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


READY = "ready"
ROOM = 8 * MEBIBYTE
"""Bytes that a worker must find beside what it has loaded, or it has not started."""


def work(pipe: Connection, task: Task, memory: int) -> None:
    """Answer lines until the other side closes the pipe, or until there is no memory to hold one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where it could not be kept away from the start
    reply = task.answering()
    freeze_loaded()
    # Not before: a library that finds no room while it is loaded fails in every way there is, some without an end.
    bound_memory(memory)
    try:
        bytearray(ROOM)
        pipe.send(READY)
        while True:
            pipe.send(reply(pipe.recv()))
    except (EOFError, OSError):
        return
    except MemoryError:  # the parent says it in one line
        os._exit(1)


READ_AHEAD = 256
"""Lines that are read before they are wanted."""


class Feed:
    """Lines as they come. ``bell`` is readable when something has come since ``silence``."""

    def __init__(self, read: Callable[[int], bytes]) -> None:
        self.bell, self._ring = multiprocessing.Pipe(duplex=False)
        self._read = read
        self._lines: deque[Line] = deque()
        self._bytes = 0
        self._changed = threading.Condition()
        self._rung = False
        self._done = False
        self._stopped = False
        self._error: Exception | None = None
        threading.Thread(target=self._run, daemon=True).start()

    @property
    def ended(self) -> bool:
        """Whether every line was taken and no other will come."""
        with self._changed:
            return self._done and not self._lines

    def check(self) -> None:
        """Raise what the stream has raised, if it has."""
        if self._error is not None:
            raise self._error

    def take(self) -> Line | None:
        """Return the next line if it is there."""
        with self._changed:
            if not self._lines:
                return None
            line = self._lines.popleft()
            self._bytes -= len(line.text or b"")
            self._changed.notify()
            return line

    def silence(self) -> None:
        """Take the signal of new lines out of its pipe, if there is one."""
        with self._changed:
            if self._rung:
                self.bell.recv_bytes()
                self._rung = False

    def close(self) -> None:
        """Read no further."""
        with self._changed:
            self._stopped = True
            self._changed.notify()

    def _run(self) -> None:
        try:
            for line in lines(self._read):
                with self._changed:
                    self._changed.wait_for(lambda: self._stopped or self._has_room())
                    if self._stopped:
                        return
                    self._lines.append(line)
                    self._bytes += len(line.text or b"")
                    self._sound()
        except Exception as error:  # noqa: BLE001
            self._error = error
        with self._changed:
            self._done = True
            self._sound()

    def _has_room(self) -> bool:
        return len(self._lines) < READ_AHEAD and self._bytes < LONGEST_LINE

    def _sound(self) -> None:
        if not self._rung:
            self._rung = True
            self._ring.send_bytes(b".")


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
                worker.pipe.send(line)

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
                sent = worker.pipe.recv()
                if not worker.started:
                    worker.started = sent == READY
                    continue
                place, line = worker.sent.popleft()
                self._keep(place, line, sent)
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
