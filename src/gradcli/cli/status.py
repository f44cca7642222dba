"""Exit codes of all commands."""

from __future__ import annotations

from enum import IntEnum, unique


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
