"""What a worker may take: memory by the system's own bound, one thread for linear algebra, no interrupt of its own."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import resource_tracker

THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
MEBIBYTE = 2**20


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds on the wall that one record may take, and MiB of address space that one worker may have."""

    seconds: float
    memory: int


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
