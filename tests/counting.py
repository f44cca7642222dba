"""What a piece of work costs, without a clock: calls of functions, memory of arrays, modules that it loads.

All three are the same on every machine and at every hour, so that a bound on them is a test and no benchmark.
"""

import gc
import json
import os
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import Any

HERE = Path(__file__).parent
Work = Callable[[], Any]


def calls(work: Work) -> int:
    """Return how many functions ``work`` calls, those that are written in C included."""
    restoring = 1  # the profiler's own last call
    return _counted(work, lambda event, _: event in ("call", "c_call")) - restoring


def calls_of(name: str, package: str, work: Work) -> int:
    """Return how often ``work`` calls Python functions of a name that are defined below a package."""
    return _counted(
        work, lambda event, code: event == "call" and code.co_name == name and f"/{package}/" in code.co_filename
    )


def _counted(work: Work, counts: Callable[[str, CodeType], bool]) -> int:
    found = 0

    def profile(frame: Any, event: str, _: Any) -> None:
        nonlocal found
        found += counts(event, frame.f_code)

    earlier = sys.getprofile()
    gc.disable()
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(earlier)
        gc.enable()
    return found


def peak(work: Work) -> int:
    """Return the bytes that ``work`` holds at its worst moment beyond what was there; numpy tells of its arrays."""
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def cold(text: str, *words: object) -> Any:
    """Return what a program prints as JSON, run in a process in which nothing has been imported or remembered."""
    line = [sys.executable, "-c", text, *map(str, words)]
    variables = {**os.environ, "NO_COLOR": "1", "COLUMNS": "80"}
    ended = subprocess.run(line, cwd=HERE, env=variables, capture_output=True, text=True, timeout=120, check=False)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1])


LOADED = """
import json, sys
from gradcli.__main__ import main
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
print()
print(json.dumps(sorted(sys.modules)))
"""


def loaded(*words: str) -> list[str]:
    """Return the modules that a command line has imported when it ends with 0."""
    return list(cold(LOADED, *words))


def below(package: str, modules: list[str]) -> list[str]:
    """Return those of some modules that belong to a package, itself included."""
    return [name for name in modules if name == package or name.startswith(f"{package}.")]
