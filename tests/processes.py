"""The program as a process of its own: what it is given, and what appears on its streams or its terminal."""

import os
import pty
import select
import subprocess
import sys
import time

GRADCLI = (sys.executable, "-m", "gradcli")
EXPLAIN = ("explain", "[x[0]**2, x[0]*x[1]]", "--x", "1,2", "--v", "1,10")


def environment(**changes: str) -> dict[str, str]:
    """Return the machine's environment without what colours or widens output, and with ``changes``."""
    noise = ("NO_COLOR", "FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS", "COLUMNS", "TERMINAL_WIDTH", "PYTHONIOENCODING")
    kept = {name: value for name, value in os.environ.items() if name not in noise}
    return {**kept, "TERM": "xterm-256color", "PYTHONUTF8": "1", **changes}


def run(*args: str, stdin: str = "", **changes: str) -> subprocess.CompletedProcess[str]:
    """Run a command line in a process of its own."""
    return subprocess.run(
        [*GRADCLI, *args], input=stdin, capture_output=True, encoding="utf-8", env=environment(**changes), timeout=60,
        check=False,
    )  # fmt: skip


def imported(*args: str) -> set[str]:
    """Return the modules that a command line leaves in memory, however it ends."""
    script = "import sys; from gradcli.__main__ import main\ntry: main()\nfinally: print(*sys.modules, file=sys.stderr)"
    words = [sys.executable, "-c", script, *args]
    found = subprocess.run(words, capture_output=True, text=True, env=environment(), timeout=60, check=False)
    return set(found.stderr.split())


def on_terminal(*args: str, columns: int = 80, **changes: str) -> tuple[int, str]:
    """Run a command line on a pseudo-terminal and return its exit code and what appeared."""
    reader, writer = pty.openpty()
    script = f'stty columns {columns} rows 40; exec "$@"'
    process = subprocess.Popen(
        ["/bin/sh", "-c", script, "sh", *GRADCLI, *args], stdin=writer, stdout=writer, stderr=writer,
        env=environment(**changes), start_new_session=True,
    )  # fmt: skip
    os.close(writer)
    seen, deadline = b"", time.monotonic() + 60
    while time.monotonic() < deadline:
        if select.select([reader], [], [], 0.2)[0]:
            try:
                chunk = os.read(reader, 65536)
            except OSError:
                break
            if not chunk:
                break
            seen += chunk
    os.close(reader)
    return process.wait(timeout=60), seen.decode("utf-8").replace("\r\n", "\n")
