"""Command lines in processes of their own with little memory and time: a server that has loaded all forks each."""

import io
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parent
MEMORY = 3 * 2**30
"""Bytes beside those that the server holds."""
SECONDS = 15
"""Seconds of the processor that a command line is stopped after; those of a test are asked to end before."""
BOUND = ("--budget", "seconds=2")
WARM = (
    "import torch, numpy as np, jax, math, random, itertools, functools, collections\nimport torch.nn as nn\n"
    "net = nn.Linear(2, 1)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"
    "loss = net(torch.ones(3, 2)).pow(2).mean()\nloss.backward()\nopt.step()\n"
    "print(loss, np.ones(3), f'{loss.item():.2f}')\n"
)


def forked(request: dict[str, Any], answer: int) -> None:
    """Run one command line in this process, which ends with it, and write what came of it to a file descriptor."""
    from gradcli.cli.app import run
    from gradcli.cli.output import Environment

    size = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + request["memory"],) * 2)
    resource.setrlimit(resource.RLIMIT_CPU, (request["seconds"],) * 2)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    out, err = io.StringIO(), io.StringIO()
    before = resource.getrusage(resource.RUSAGE_SELF)
    env = Environment(stdin=io.StringIO(request["stdin"]), stdout=out, stderr=err, variables={})
    code = run(request["words"], env)
    spent = resource.getrusage(resource.RUSAGE_SELF)
    text, printed = err.getvalue(), out.getvalue()
    found = {
        "code": int(code), "out": printed[-2000:], "printed": len(printed), "err": text[-3000:],
        "seconds": round(spent.ru_utime + spent.ru_stime - before.ru_utime - before.ru_stime, 2),
        "memory": spent.ru_maxrss // 1024 - before.ru_maxrss // 1024,
    }  # fmt: skip
    os.write(answer, json.dumps(found).encode())


def served(request: dict[str, Any]) -> dict[str, Any]:
    """Return what came of a command line; one that dies is told by the signal that killed it."""
    reader, writer = os.pipe()
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        os.close(reader)
        try:
            forked(request, writer)
        except BaseException as error:  # noqa: BLE001 - whatever leaves ``run`` is the fault that is looked for
            os.write(writer, json.dumps({"code": 70, "err": f"{type(error).__name__} leaves run"}).encode())
        finally:
            os._exit(0)
    os.close(writer)
    deadline, data = time.monotonic() + 6 * request["seconds"], b""
    while part := os.read(reader, 65536):
        data += part
        if time.monotonic() > deadline:
            os.kill(child, signal.SIGKILL)
    os.close(reader)
    _, status = os.waitpid(child, 0)
    if not data:
        return {"code": -os.WTERMSIG(status), "err": f"killed by {signal.Signals(os.WTERMSIG(status)).name}"}
    return dict(json.loads(data))


def serve() -> None:
    """Answer requests, one a line, until there are no more."""
    from gradcli.cli.app import run
    from gradcli.cli.output import Environment

    for command in ("run", "explain"):
        env = Environment(stdin=io.StringIO(WARM), stdout=io.StringIO(), stderr=io.StringIO(), variables={})
        run([command, "-"], env)
    for line in sys.stdin:
        sys.stdout.write(json.dumps(served(json.loads(line))) + "\n")
        sys.stdout.flush()


class Bounded:
    """A server of bounded command lines; leave it with ``close``."""

    def __init__(self, folder: Path | str | None = None) -> None:
        paths = os.pathsep.join([str(TESTS), *(path for path in sys.path if path)])
        env = {**os.environ, "PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        self.server = subprocess.Popen(
            [sys.executable, str(TESTS / "bounded.py")],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8", env=env, cwd=folder,
        )  # fmt: skip

    def ask(self, *words: str, stdin: str = "", memory: int = MEMORY, seconds: int = SECONDS) -> dict[str, Any]:
        """Return the exit code, what was written, the seconds and megabytes of a command line."""
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        request = {"words": words, "stdin": stdin, "memory": memory, "seconds": seconds}
        self.server.stdin.write(json.dumps(request) + "\n")
        self.server.stdin.flush()
        return dict(json.loads(self.server.stdout.readline()))

    def close(self) -> None:
        """End the server."""
        assert self.server.stdin is not None
        self.server.communicate()


if __name__ == "__main__":
    serve()
