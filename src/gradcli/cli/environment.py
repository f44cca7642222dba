"""Exit codes of all commands.

The streams and the terminal that a command works with, passed in so that tests never patch ``sys``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum, unique
from typing import IO, TextIO

from gradcli.records import dataclass, field


@unique
class ExitStatus(IntEnum):
    """Why gradcli ended; the numbers are a contract."""

    OK = 0
    """Answered, and the routes agree; also when the reader closed the pipe."""
    DISAGREE = 1
    """Answered, but the routes disagree, only one of them is finite, or digits are lost."""
    USAGE = 2
    """The command line, program, name, shape, value, file or budget is at fault."""
    NOT_FINITE = 3
    """Answered, but a value or derivative is not finite here on both routes."""
    UNCLEAR = 4
    """Answered, but what is true was not found within the work allowed."""
    INTERNAL = 70
    """A fault of gradcli itself."""
    INTERRUPTED = 130
    """Stopped by Ctrl-C."""


# ---- The streams and the terminal that a command works with, passed in so that tests never patch ``sys``


@dataclass(slots=True)
class Environment:
    """Where input comes from and output goes to; ``largest`` are the bytes of a file that is read.

    ``run`` answers a command line in another environment, for a command that asks several.
    """

    stdin: TextIO = field(default_factory=lambda: sys.stdin)
    stdout: TextIO = field(default_factory=lambda: sys.stdout)
    stderr: TextIO = field(default_factory=lambda: sys.stderr)
    variables: Mapping[str, str] = field(default_factory=lambda: os.environ)
    stdin_used: bool = False
    largest: int = 256 * 1024 * 1024
    run: Callable[[Sequence[str], Environment], int] | None = None

    @property
    def stdout_is_terminal(self) -> bool:
        """Whether a person reads the output."""
        return is_terminal(self.stdout)

    def coloured(self, stream: IO[str] | None, color: str = "auto") -> bool:
        """Whether a stream gets colours: as ``--color`` says, else on a terminal that NO_COLOR and TERM=dumb allow.

        FORCE_COLOR asks for them in a pipe too; 0 does not.
        """
        if color != "auto" or stream is None:
            return color == "always" and stream is not None
        if self.variables.get("NO_COLOR"):
            return False
        forced = self.variables.get("FORCE_COLOR", "")
        if forced:
            return forced != "0"
        return is_terminal(stream) and self.variables.get("TERM") != "dumb"

    def unicode(self, ascii_only: bool) -> bool:
        """Whether output may hold more than ASCII: the stream's encoding can, and ``--ascii`` is not given."""
        encoding = (getattr(self.stdout, "encoding", None) or "ascii").lower().replace("-", "")
        return not ascii_only and encoding.startswith("utf")


def is_terminal(stream: IO[str]) -> bool:
    """Return whether a stream is a terminal."""
    try:
        return stream.isatty()
    except ValueError:
        return False
