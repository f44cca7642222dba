"""Whole processes as contestants: what the system says a child took, and no more than its share of this one."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.harness import Contestant, Sample

ROOT = Path(__file__).parent.parent
PEERS = Path(__file__).parent / "peers"
EXAMPLE = ("[3*x[0]**2, x[0]**2 + 2*x[1]**3, 10*x[1]]", "--x", "1,2", "--v", "1,10,100")
ROOM = 6 * 2**30
"""Bytes of addresses that a peer may ask for: a dense J of a million rows would take all there is."""
BOUNDS_MEMORY = sys.platform == "linux"
"""Whether the system keeps to a bound of addresses."""
ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
STEADY = {"MALLOC_MMAP_THRESHOLD_": "2000000000", "MALLOC_TRIM_THRESHOLD_": "4000000000"}
"""Keeps glibc from giving large arrays back to the system: their page faults are noise of the size of the work."""
DROPPED = ("FORCE_COLOR", "PY_COLORS", "CLICOLOR_FORCE", "PYTHONPATH", "PYTHONUNBUFFERED")
"""Variables that would change what is printed, or which gradcli is measured: it is the installed one."""


UNITS = 2**20 if sys.platform == "darwin" else 2**10
"""How many of the system's units of memory are a MiB."""


class ContestantError(Exception):
    """A contestant ended with another exit code than 0, or one answers other numbers than gradcli."""


def environment(**changes: str) -> dict[str, str]:
    """Return the environment of every child: one thread, a width of 80, no colours, modules as they are installed."""
    kept = {name: value for name, value in os.environ.items() if name not in DROPPED}
    return kept | ONE_THREAD | {"NO_COLOR": "1", "COLUMNS": "80", "JAX_PLATFORMS": "cpu"} | changes


def gradcli(*words: str) -> list[str]:
    """Return a command line of the gradcli that is installed for this Python."""
    script = Path(sysconfig.get_path("scripts")) / "gradcli"
    return [str(script), *words] if script.exists() else [sys.executable, "-m", "gradcli", *words]


def peer(name: str, *words: str) -> list[str]:
    """Return a command line of one of the peers' scripts."""
    return [sys.executable, str(PEERS / f"{name}.py"), *words]


def answer(words: Sequence[str], stdin: Path | None = None) -> str:
    """Return what a command line prints; raises ``ContestantError`` with its complaint where it ends in another way."""
    with (stdin or Path(os.devnull)).open("rb") as source:
        ended = subprocess.run(
            words,
            stdin=source,
            capture_output=True,
            text=True,
            env=environment(),
            cwd=tempfile.gettempdir(),
            check=False,
        )
    if ended.returncode:
        raise ContestantError(f"{shown(words)} ended with {ended.returncode}: {ended.stderr.strip()[-400:]}")
    return ended.stdout


def shown(words: Sequence[str]) -> str:
    """Return a command line for people: programs and files by their last names."""
    line = " ".join(Path(word).name if word.startswith("/") else word for word in words)
    return " ".join(line.split())[:120]


def command(
    name: str, words: Sequence[str], stdin: Path | None = None, limit: float | None = None, most: int | None = None
) -> Contestant:
    """Return a command line as a contestant; ``run`` says what a ``limit`` means."""
    return Contestant(name, lambda: run(words, stdin, limit), most)


@contextlib.contextmanager
def memory_bounded(bounded: bool) -> Iterator[None]:
    """Give the processes that are started in here no more than ``ROOM``: they inherit it, before their first step."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    if bounded and BOUNDS_MEMORY:
        resource.setrlimit(resource.RLIMIT_AS, (ROOM, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def run(words: Sequence[str], stdin: Path | None = None, limit: float | None = None) -> Sample | None:
    """Run a command line to its end, output dropped, and return what it took.

    Raises ``ContestantError`` for an exit code that is not 0. With a ``limit`` of seconds, and ``ROOM`` for memory, one
    that passes them has no answer, and neither has one that fails: the same script has been compared at a small size.
    The peak of the memory is the child's own only where it is above that of this process, which it starts as a copy
    of; so this process imports neither numpy nor any peer before the last sample is taken.
    """
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, str(stdin or os.devnull), os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    started = time.perf_counter()
    with memory_bounded(limit is not None):
        child = os.posix_spawn(words[0], list(words), environment(), file_actions=actions)
    killer = threading.Timer(limit or 3600, os.kill, (child, signal.SIGKILL))
    killer.start()
    _, status, used = os.wait4(child, 0)
    wall = time.perf_counter() - started
    killer.cancel()
    code = os.waitstatus_to_exitcode(status)
    if code and limit:
        return None
    if code:
        raise ContestantError(f"{shown(words)} ended with {code}")
    return Sample(wall, used.ru_utime + used.ru_stime, used.ru_maxrss / UNITS)
