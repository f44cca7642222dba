"""What must hold for every input, and how one is put to the command line in process."""

import io
import json
import re
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from fuzz.audit import Watch
from fuzz.lines import Line
from gradcli.cli.app import run
from gradcli.cli.output import Environment
from oracles import strict_json

HANG = 10.0
"""Seconds of processor time beyond which an input hangs; the bounds of a fuzzed line allow five."""
LARGE = 192 * 1024
"""Kilobytes by which one input may raise the most memory that the process ever held."""
CODES = {0, 1, 2, 3}


class Hang(BaseException):
    """Raised by the watchdog; nothing in the product may catch it."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one line ended; ``fault`` says which part of the contract is broken, if any."""

    code: int
    kind: str
    seconds: float
    fault: str | None


@contextmanager
def watchdog(seconds: float) -> Iterator[None]:
    """Raise ``Hang`` in what runs longer."""

    def bark(_: int, __: FrameType | None) -> None:
        raise Hang

    before = signal.signal(signal.SIGVTALRM, bark)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def peak() -> int:
    """Return the most memory that this process ever held, in kilobytes."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most // 1024 if sys.platform == "darwin" else most


def outcome(
    line: Line,
    watch: Watch | None = None,
    run: Callable[[list[str], Environment], int] = run,
    peak: Callable[[], int] = peak,
    hang: float = HANG,
) -> Outcome:
    """Run a line in process and hold it against the contract; ``run`` and ``peak`` can be those of a test."""
    out, err = io.StringIO(), io.StringIO()
    env = Environment(stdin=io.StringIO(line.stdin), stdout=out, stderr=err, variables={})
    before, start = peak(), time.process_time()
    code, fault = -1, None
    try:
        with watchdog(hang), (watch or Watch()).over():
            code = int(run(list(line.args), env))
    except Hang:
        fault = f"hangs: more than {hang:g} s"
    except BaseException as error:  # noqa: BLE001 - whatever leaves ``run`` is the fault that is looked for
        fault = f"{type(error).__name__} leaves run"
    seconds = time.process_time() - start
    grown = peak() - before
    fault = fault or (f"{grown // 1024} MB of memory" if grown > LARGE else None)
    fault = fault or (watch.fault if watch else None)
    kind, broken = answered(line, code, out.getvalue(), err.getvalue()) if fault is None else ("", None)
    return Outcome(code, kind, seconds, fault or broken)


def answered(line: Line, code: int, out: str, err: str) -> tuple[str, str | None]:
    """Return the kind of an answer, and what is wrong with it."""
    is_run = "run" in line.args[:1]
    if code not in CODES and not (is_run and ends_itself(err)):
        return "", f"exit code {code}: {err[:200]!r}"
    if "Traceback" in err or "Traceback" in out:
        return "", "a traceback"
    for name, text in (("stdout", "" if is_run and "\x1b" not in out else out), ("stderr", err)):
        if not inert(text):
            return "", f"{name} is not inert: {next(c for c in text if not inert(c))!r}"
    if is_run and (code != 2 or out or ends_itself(err)):
        return ran(code, err)
    if code == 1 and not out and re.match(r"error: \w+: ", err):
        return "script", None  # an exception of the script's own, and no answer before it
    return refused(line, out, err) if code == 2 else accepted(line, code, out)


def ran(code: int, err: str) -> tuple[str, str | None]:
    """Hold the end of a script against the contract: what it has printed is its own affair, an exception is named."""
    if code == 1 and not re.search(r"(?m)^[A-Za-z_][\w.]*(: |$)", err):
        return "", f"exit code 1 without an exception: {err[:80]!r}"
    if code == 2 and not ends_itself(err) and "\nerror: " not in f"\n{err}":
        return "", f"no diagnostic: {err[:80]!r}"
    return "script", None


def ends_itself(err: str) -> bool:
    """Return whether standard error holds notes alone: a script ends by any exit code that it names."""
    return all(line.startswith("note: ") for line in err.splitlines())


def inert(text: str) -> bool:
    """Return whether nothing but printable ASCII is in a text; a stream without encoding is given nothing else."""
    return text.isascii() and text.replace("\n", "").isprintable()


def refused(line: Line, out: str, err: str) -> tuple[str, str | None]:
    """Hold the answer of an error against the contract."""
    err = re.sub(r"(?m)^note: .*\n", "", err)
    if not err.startswith("error: ") or not err.endswith("\n"):
        return "", f"no diagnostic: {err[:80]!r}"
    if len(err) > 1500:
        return "", f"a diagnostic of {len(err)} characters"
    if not out:
        return "plain", "no document" if line.as_json and documented(line) else None
    try:
        document = strict_json(out)
    except (ValueError, RecursionError):
        return "", "stdout of an error is no JSON document"
    if not line.as_json and not any("json" in word for word in line.args):
        return "", "stdout holds something beside the error"
    kind = str(document["error"]["kind"])
    return kind, None if out.count("\n") == 1 and kind != "internal" else f"document: {out[:200]}"


def documented(line: Line) -> bool:
    """Return whether ``--json`` is a flag of the line, and neither the value of another nor behind ``--``."""
    at = line.args.index("--json")
    return "--" not in line.args[:at] and not (at and line.args[at - 1].startswith("--"))


def accepted(line: Line, code: int, out: str) -> tuple[str, str | None]:
    """Hold an answer against the contract."""
    words = set(line.args)
    if words & {"-q", "--quiet"}:
        return "quiet", None
    if not out.endswith("\n"):
        return "", f"exit code {code} without a whole answer: {out[-80:]!r}"
    if not line.as_json or words & {"-h", "--help", "--version"} or not documented(line):
        return "answer", None
    try:
        document = strict_json(out)
    except (ValueError, RecursionError) as error:
        return "", f"stdout is no JSON document: {error}"
    doubtful = "Please report this" in json.dumps(document.get("notes"))
    return "doubtful" if doubtful else "answer", agreement(document, code)


def agreement(document: dict[str, object], code: int) -> str | None:
    """Return what is wrong with the exit code of a document."""
    error = document.get("error")
    if isinstance(error, dict) and error.get("kind") == "script":
        return None if code == 1 else f"exit code {code} for an exception of the script's own"
    if error is not None:
        return "an answer with an error in it"
    verdict = document.get("agreement")
    if not isinstance(verdict, dict):
        return None
    wanted = 1 if not verdict["agree"] else 0 if verdict["finite"] else 3
    if code != wanted:
        return f"exit code {code} for the agreement {json.dumps(verdict)}"
    return None
