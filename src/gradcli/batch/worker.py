"""A worker process: lines come in by a pipe, replies go back in the same order."""

from __future__ import annotations

import os
import signal
from multiprocessing.connection import Connection

from gradcli.batch.answers import Verdict
from gradcli.batch.fields import Wanted
from gradcli.batch.limits import MEBIBYTE, bound_memory
from gradcli.batch.lines import Line
from gradcli.batch.replies import Replies, Reply, settle

READY = b"ready"
ROOM = 8 * MEBIBYTE
"""Bytes that a worker must find beside what it has loaded, or it has not started."""


def work(pipe: Connection, asked: Wanted, memory: int) -> None:
    """Answer lines until the other side closes the pipe, or until there is no memory to hold one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where it could not be kept away from the start
    load(asked)
    replies = Replies(asked)
    settle()
    # Not before: a library that finds no room while it is loaded fails in every way there is, some without an end.
    bound_memory(memory)
    try:
        bytearray(ROOM)
        pipe.send_bytes(READY)
        while True:
            pipe.send_bytes(packed(replies.of(line_of(pipe.recv_bytes()))))
    except (EOFError, OSError):
        return
    except MemoryError:  # the parent says it in one line
        os._exit(1)


def load(asked: Wanted) -> None:
    """Load what an answer will need."""
    if not asked.reverse_alone:
        import gradcli.explanation.explaining
        import gradcli.formulas.derivation  # noqa: F401


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
