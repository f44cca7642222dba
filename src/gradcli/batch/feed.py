"""Lines from a stream that is read on a thread of its own, so that replies are passed on while it is silent."""

from __future__ import annotations

import multiprocessing
import threading
from collections import deque
from collections.abc import Callable

from gradcli.batch.lines import LONGEST_LINE, Line, lines

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
