"""``gradcli`` and ``python -m gradcli``."""

from __future__ import annotations

import gc
import os
import sys

YOUNG = 250_000
"""New objects after which the garbage collector looks through them."""
INTERRUPTED = 130
"""The exit code after Ctrl-C."""


def main() -> None:
    """Run the command line and exit with its code; an interrupt while modules load is quiet too."""
    # The answer to a small program makes 160,000 objects, modules among them, and nearly all stay: looks through
    # them took a tenth of its time. The collector is not off: memory is bounded however long a program runs.
    gc.set_threshold(YOUNG, 10, 10)
    try:
        from gradcli.cli.app import run

        code = run()
    except KeyboardInterrupt:
        code = INTERRUPTED
    if code == INTERRUPTED:
        # An interrupt while a data class is made, which is a text that Python runs, ends ``python -m`` by the signal
        # although it was caught; all that was written is in its file or terminal by now.
        os._exit(code)
    # At exit Python would take all modules apart, in a fifth of the time of an answer: the system frees them at once.
    gc.freeze()
    sys.exit(code)


if __name__ == "__main__":
    main()
