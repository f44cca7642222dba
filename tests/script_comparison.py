"""Hold ``gradcli run`` and ``gradcli --json`` against recorded scripts; needs neither PyTorch nor JAX.

Printed lines have the same words and integers, floats within 2e-4 of the largest of their line or a last digit;
gradients lie within 2e-4 of the largest of their call: PyTorch has float32.
"""

import io
import json
import math
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
TOLERANCE, MOST_CALLS = 2e-4, 400
FLOAT = re.compile(r"(?<![\w.])-?(?:\d+\.\d*(?:e[-+]?\d+)?|\.\d+|\d+e[-+]?\d+|inf|nan)(?![\w.])")
"""A number as PyTorch and Python print floats; integers stay words, and are compared as such."""
ANSWERED = (0, 1, 3, 4)
"""Exit codes of ``explain`` that come with an answer."""

Row = dict[str, Any]


@dataclass
class Outcome:
    """What a tool leaves of a script."""

    code: int | None
    stdout: str
    stderr: str
    explained: int | None = None
    document: dict[str, Any] | None = None
    said: str = ""


@dataclass
class Verdict:
    """A row's faults; none where all is right."""

    id: str
    faults: list[str] = field(default_factory=list)
    refusal: str = ""

    def __bool__(self) -> bool:
        return not self.faults


def rows_of(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def flat(value: Any) -> list[float]:
    if isinstance(value, list):
        return [number for item in value for number in flat(item)]
    return [float(value)]  # "NaN" and "Infinity" too


def shape(value: Any) -> list[int]:
    return [len(value), *(shape(value[0]) if value else [])] if isinstance(value, list) else []


def largest(numbers: Sequence[float]) -> float:
    return max((abs(number) for number in numbers if math.isfinite(number)), default=0.0)


def same(got: float, want: float, slack: float) -> bool:
    return got == want or (math.isnan(got) and math.isnan(want)) or abs(got - want) <= slack


def near(got: Any, want: Any, size: float) -> bool:
    """Return whether two gradients have one shape and the same numbers, beside the largest of their call."""
    if got is None or want is None:
        return got is want
    if shape(got) != shape(want):
        return False
    return all(same(g, w, TOLERANCE * size + 1e-6) for g, w in zip(flat(got), flat(want), strict=True))


def last_digit(text: str) -> float:
    """Return one unit of the last digit that is printed."""
    mantissa, _, exponent = text.partition("e")
    return 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))


PADDING = re.compile(r"(?<=\[) | (?=[,\]])")
"""Spaces that arrays are shown with, as wide as the digits of their longest number."""


def same_line(got: str, want: str) -> bool:
    words = [PADDING.sub("", re.sub(r"\s+", " ", FLOAT.sub("#", line))).strip() for line in (got, want)]
    pairs = list(zip(FLOAT.findall(got), FLOAT.findall(want), strict=False))
    if words[0] != words[1] or len(FLOAT.findall(got)) != len(pairs) or len(FLOAT.findall(want)) != len(pairs):
        return False
    size = largest([float(text) for _, text in pairs])
    return all(same(float(g), float(w), slack_of(w, size)) for g, w in pairs)


def slack_of(text: str, size: float) -> float:
    digit = 1.01 * last_digit(text) if math.isfinite(float(text)) else 0.0
    return max(TOLERANCE * size, digit, 2e-7 * max(size, 1.0))


def text_fault(got: str, want: str) -> str | None:
    """Return the first line that was printed differently."""
    lines, wanted = got.rstrip().split("\n"), want.rstrip().split("\n")
    for number, (line, wanted_line) in enumerate(zip(lines, wanted, strict=False), 1):
        if not same_line(line, wanted_line):
            return f"printed line {number}: {line[:90]!r} and not {wanted_line[:90]!r}"
    if len(lines) != len(wanted):
        after = (lines + wanted)[-1] if len(lines) < len(wanted) else lines[len(wanted)]
        return f"{len(lines)} printed lines for {len(wanted)}: {after[:80]!r}"
    return None


def call_fault(event: dict[str, Any], call: dict[str, Any]) -> str | None:
    """Return what is wrong with an event, held against the call that PyTorch made."""
    where = f"line {call['line']}"
    if (event["kind"], event["line"]) != (call["kind"], call["line"]):
        return f"{where}: {event['kind']} in line {event['line']}, and not {call['kind']}"
    size = largest([number for grad in call["grads"] if grad is not None for number in flat(grad)])
    left = list(event["grad"].values()) if event["kind"] == "backward" else list(event["returns"])
    names = call.get("names") or [None] * len(call["grads"])
    for name, want in zip(names, call["grads"], strict=True):
        if want is None:
            continue
        if name in event.get("grad", {}) and not near(event["grad"][name], want, size):
            return f"{where}: {name}.grad is {brief(event['grad'][name])} and not {brief(want)}"
        match = next((place for place, grad in enumerate(left) if near(grad, want, size)), None)
        if match is None:
            return f"{where}: no {brief(want)} among {brief(left)}"
        del left[match]
    return None


def brief(value: Any) -> str:
    return json.dumps(value)[:90]


def calls_fault(events: list[dict[str, Any]], calls: list[dict[str, Any]]) -> str | None:
    """Return the first derivative call that is another than PyTorch's."""
    events = [event for event in events if event["kind"] in ("backward", "grad")]
    if len(calls) == MOST_CALLS:  # the record holds no more
        events = events[:MOST_CALLS]
    if len(events) != len(calls):
        return f"{len(events)} derivative calls for {len(calls)}"
    faults = (call_fault(event, call) for event, call in zip(events, calls, strict=True))
    return next((fault for fault in faults if fault), None)


def jax_fault(events: list[dict[str, Any]], calls: list[dict[str, Any]]) -> str | None:
    """Return the first call of a function that JAX made which is in no event after those of the calls before it."""
    events = iter([event for event in events if event["kind"] == "grad"])
    for call in calls:
        if not any(call_fault(event, call) is None for event in events):
            return f"line {call['line']}: no event with {brief(call['grads'])}"
    return None


def error_faults(row: Row, outcome: Outcome) -> Iterator[str]:
    error = row["error"]
    wanted = 1 if error else row.get("exit", 0)
    if outcome.code != wanted:
        yield f"run exits with {outcome.code} and not {wanted}" + (f" for {error['type']}" if error else "")
    elif error and error["type"] not in outcome.stderr:
        yield f"no {error['type']} on stderr: {outcome.stderr[:120]!r}"


def verdict_of(row: Row, outcome: Outcome) -> Verdict:
    """Return everything in which an outcome falls short of a recorded row."""
    faults = list(error_faults(row, outcome))
    if "Traceback" in outcome.stderr + outcome.said or 70 in (outcome.code, outcome.explained):
        faults.append("a traceback")
    faults += [fault for fault in [text_fault(outcome.stdout, row["stdout"])] if fault]
    calls = row["calls"] or row.get("jax_calls")
    if calls and outcome.explained is not None:
        faults += document_faults(row, outcome)
    said = outcome.stderr if outcome.code not in (0, 1) else outcome.said if outcome.explained not in ANSWERED else ""
    return Verdict(row["id"], faults, said.strip())


def document_faults(row: Row, outcome: Outcome) -> list[str]:
    if outcome.explained not in ANSWERED or outcome.document is None:
        return [f"explain exits with {outcome.explained}"]
    events = outcome.document.get("events")
    if events is None:
        return ["a document without events"]
    fault = calls_fault(events, row["calls"]) if row["calls"] else jax_fault(events, row["jax_calls"])
    faults = [fault] if fault else []
    place = outcome.document.get("explained")
    answered = events[place]["kind"] if isinstance(place, int) and place < len(events) else place
    return faults if answered in ("backward", "grad", "error") else [*faults, f"explained is {answered}"]


def outcome_of(row: Row, explains: bool = True) -> Outcome:
    """Return what gradcli leaves of a script, and of its explanation where it has derivative calls."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "script.py"
        path.write_text(row["source"], encoding="utf-8", newline="")
        ran = command_line("run", str(path))
        if not explains or not (row["calls"] or row.get("jax_calls")):
            return Outcome(*ran)
        code, out, said = command_line("explain", str(path), "--json")
    return Outcome(*ran, code, json.loads(out) if out.startswith("{") else None, said)


def command_line(*words: str) -> tuple[int, str, str]:
    """Return exit code and both streams of a command line that runs in this process."""
    from gradcli.cli.app import run
    from gradcli.cli.output import Environment

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n") for _ in range(2))
    variables = {"NO_COLOR": "1", "COLUMNS": "100"}
    code = int(run(list(words), Environment(stdin=io.StringIO(), stdout=out, stderr=err, variables=variables)))
    for stream in (out, err):
        stream.flush()
    printed, said = (stream.buffer.getvalue().decode("utf-8", "replace") for stream in (out, err))  # type: ignore[attr-defined]
    return code, printed, said
