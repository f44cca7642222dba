"""Scripts that mean harm: each ends after a bounded amount of work, in bounded memory, with one clear error or none.

Bounds are counted, and small here, so that an endless loop ends after as many turns on every machine.
"""

import json
import re

import pytest

from bounded import Bounded
from oracles import ask, cases, portion

BUDGET = {
    "turns": 2_000, "nodes": 2_000, "elements": 1_000_000, "total": 20_000_000, "steps": 20_000_000,
    "items": 1_000_000, "memory": 100_000_000, "printed": 1_000_000, "seconds": 1_000_000,
}  # fmt: skip
WORDS = [word for name, bound in BUDGET.items() for word in ("--budget", f"{name}={bound}")]
MEMORY = 2**30
"""Bytes that a run may ask for beside what the process has."""
LINE = {0: "", 1: r"(?m)^  line \d+: ", 2: r"(?m)^ *\d+ \| "}
"""Where an error says which line it is about."""


@pytest.fixture(scope="module")
def bounded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("empty")
    tool = Bounded(folder)
    yield tool
    tool.close()
    assert list(folder.iterdir()) == []


def source_of(row):
    """Return the text of a row, whose pieces may come with how often they are repeated."""
    script = row["script"]
    return script if isinstance(script, str) else "".join(text * times for text, times in script)


@pytest.mark.long
@pytest.mark.parametrize("row", portion(cases("hostile_scripts.jsonl"), 4))
def test_a_hostile_script_ends(row, bounded):
    found = bounded.ask("run", "-", *WORDS, stdin=source_of(row), memory=MEMORY)
    said = [line for line in found["err"].split("\n") if line and not line.startswith("note: ")]
    assert (found["code"], row["says"] in found["err"]) == (row["code"], True), found
    assert "Traceback" not in found["err"]
    assert "/gradcli/" not in found["err"]
    assert found["printed"] <= BUDGET["printed"]
    if row["code"] in LINE:
        assert (row["code"] == 0) == (said == [])
        assert re.search(LINE[row["code"]], found["err"]), found["err"]


def test_a_large_array_of_an_event_is_shortened_and_says_so():
    script = "x = torch.ones(20_000, requires_grad=True)\n(x*2).sum().backward()\n"
    found = ask("grad", "-", "--json", stdin=script)
    short = {"shape": [20_000], "first": [2.0] * 6, "left_out": 19_994}
    [event] = json.loads(found.out)["events"]
    assert event["grad"] == event["adds"] == {"x": short}
