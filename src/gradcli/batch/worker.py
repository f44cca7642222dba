"""A worker process: lines come in by a pipe, replies go back in the same order."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from typing import Protocol

from gradcli.batch.answers import Verdict
from gradcli.batch.lines import Line
from gradcli.batch.replies import Reply, settle
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


READY = b"ready"
ROOM = 8 * MEBIBYTE
"""Bytes that a worker must find beside what it has loaded, or it has not started."""


def work(pipe: Connection, task: Task, memory: int) -> None:
    """Answer lines until the other side closes the pipe, or until there is no memory to hold one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where it could not be kept away from the start
    reply = task.answering()
    settle()
    # Not before: a library that finds no room while it is loaded fails in every way there is, some without an end.
    bound_memory(memory)
    try:
        bytearray(ROOM)
        pipe.send_bytes(READY)
        while True:
            pipe.send_bytes(packed(reply(line_of(pipe.recv_bytes()))))
    except (EOFError, OSError):
        return
    except MemoryError:  # the parent says it in one line
        os._exit(1)


def message(line: Line) -> bytes:
    """Return a line as it is sent to a worker."""
    return line.number.to_bytes(8) + (b"-" if line.text is None else b"+" + line.text)


def line_of(sent: bytes) -> Line:
    """Return the line of a message."""
    return Line(int.from_bytes(sent[:8]), sent[9:] if sent[8:9] == b"+" else None, 0)


def packed(reply: Reply) -> bytes:
    """Return a reply as it is sent back."""
    return bytes((reply.verdict,)) + reply.text


def unpacked(sent: bytes) -> Reply:
    """Return the reply of a message."""
    return Reply(sent[1:], Verdict(sent[0]))
