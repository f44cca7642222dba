"""The benchmarks' own arithmetic: what a round is, what a ratio is, when numbers differ, and what the page shows."""

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from benchmarks import __main__ as command
from benchmarks import batch
from benchmarks.equal import same
from benchmarks.figures import FASTER, MEMORY, SECONDS, TIMES, Figure, Findings, absent, over, rows
from benchmarks.growth import fit
from benchmarks.harness import Contestant, Sample, Spread, measure
from benchmarks.page import markdown
from benchmarks.processes import ContestantError, run
from benchmarks.report import cells, read
from benchmarks.settings import Settings

ROOT = Path(__file__).parent.parent
MADE = ROOT / "docs" / "benchmarks.json"


def taking(*walls):
    """Return samples that took so long on the wall, and half of it of the processor."""
    return [None if wall is None else Sample(wall, wall / 2, 100.0) for wall in walls]


class Diary:
    """Contestants that write down when they ran."""

    def __init__(self):
        self.ran = []

    def contestant(self, name, wall=1.0, most=None):
        def one():
            self.ran.append(name)
            return wall if wall is None else Sample(wall, wall)

        return Contestant(name, one, most)


def test_everybody_runs_once_unseen_and_then_once_in_every_round():
    diary = Diary()
    samples = measure([diary.contestant(name) for name in "abc"], 4)
    rounds = [diary.ran[start : start + 3] for start in range(0, 15, 3)]
    assert [sorted(one) for one in rounds] == [list("abc")] * 5
    assert len({tuple(one) for one in rounds}) > 1, "in another order"
    assert {name: len(found) for name, found in samples.items()} == dict.fromkeys("abc", 4)


def test_a_ratio_is_taken_within_a_round_so_that_a_busy_minute_does_not_count():
    samples = {"ours": taking(1.0, 10.0, 3.0), "theirs": taking(2.0, 20.0, 6.0)}
    [row] = rows("startup", [Figure("f", "ours", "theirs", TIMES, 0.5)], samples)
    assert row.value == row.processor == Spread(0.5, 0.5, 0.5)
    assert row.verdict() == "ok"
    assert row.share == 0.5


@pytest.mark.parametrize(("measure_of", "bar", "verdict"), [
    (TIMES, 0.26, "ok"), (TIMES, 0.24, "falls short"), (FASTER, 3.9, "ok"), (FASTER, 4.1, "falls short"),
    (SECONDS, 2.0, "ok"), (SECONDS, 1.9, "falls short"), (MEMORY, 100, "ok"), (MEMORY, 99, "falls short"),
])  # fmt: skip
def test_a_bar_is_reached_or_not(measure_of, bar, verdict):
    samples = {"ours": taking(2.0), "theirs": taking(8.0)}
    [row] = rows("symbolic", [Figure("f", "ours", "theirs", measure_of, bar)], samples)
    assert row.verdict() == verdict
    assert cells(row, "wall")[-1] == verdict


def test_time_over_a_base_is_a_difference_round_by_round():
    samples = {"n": taking(3.0, 13.0), "scalar": taking(1.0, 11.0)}
    assert [found.wall for found in over(samples, "n", "scalar")] == [2.0, 2.0]
    lost = {"ours": taking(1.0, 1.0), "theirs": taking(0.5, -0.1)}
    [row] = rows("symbolic", [Figure("f", "ours", "theirs", TIMES)], lost)
    assert row.value is None, "a time below nothing divides nothing"


@pytest.mark.parametrize(("values", "want"), [
    ([3.0], (3, 3, 3)), ([1.0, 2.0], (1.5, 1.25, 1.75)), ([5.0, 1.0, 2.0, 4.0, 3.0], (3, 2, 4)),
])  # fmt: skip
def test_a_spread_is_the_median_with_its_quartiles(values, want):
    assert Spread.of(values) == Spread(*want)


@pytest.mark.parametrize(("ours", "theirs"), [
    ([1.0, [2.0]], [[1.0], 2.0]), ({"x": [1.0]}, [1.0 + 1e-10]), ([1.0, 0.0], [1.0, 1e-13]),
])  # fmt: skip
def test_equal_numbers_pass(ours, theirs):
    same("both", ours, theirs)


@pytest.mark.parametrize(("ours", "theirs"), [
    ([1.0, 2.0], [1.0, 2.0 + 1e-8]), ([1.0, 0.0], [1.0, 1e-11]), ([1.0], [-1.0]), ([1.0], [1.0, 1.0]), ([], []),
    ([float("nan")], [float("nan")]), ([1.0], [float("nan")]), ([float("inf")], [1.0]),
])  # fmt: skip
def test_different_numbers_stop_the_run(ours, theirs):
    with pytest.raises(ContestantError, match="both: "):
        same("both", ours, theirs)


SIZES = [10, 100, 1_000, 10_000, 100_000, 1_000_000]


@pytest.mark.parametrize(("constant", "factor", "exponent"), [
    (0.0, 2e-6, 1.0), (0.5, 3e-7, 1.0), (0.01, 1e-9, 2.0), (2.0, 5e-4, 0.5), (0.0, 1.0, 0.25),
])  # fmt: skip
def test_the_exponent_is_found_above_the_constant_part(constant, factor, exponent):
    found = fit(SIZES, [constant + factor * n**exponent for n in SIZES])
    assert found.exponent == pytest.approx(exponent, abs=0.01)
    assert found.constant == pytest.approx(constant, abs=0.02 * (constant + factor * 10**exponent))
    assert found.misfit < 0.01


def python(text):
    return [sys.executable, "-c", text]


def test_a_process_that_fails_is_an_error_and_one_that_does_not_end_has_no_answer():
    with pytest.raises(ContestantError, match="ended with 3"):
        run(python("raise SystemExit(3)"))
    assert run(python("import time; time.sleep(600)"), limit=0.2) is None
    assert run(python("raise SystemExit(3)"), limit=60) is None
    assert run(python("pass"), limit=60).processor > 0


STUB = """
import json, sys
import gradcli
if "--help" in sys.argv:
    sys.exit("HELP" in sys.argv and 2)
for line in sys.stdin:
    record = json.loads(line)
    x = record["inputs"]["x"]
    if "--no-symbolic" in sys.argv or "PEER" in sys.argv:
        g = [26.0 * x[0], 10 * 2 * 3 * x[1] ** 2 + 1000]
        found = {"grad": {"x": g}, "vjp": g}
    else:
        found = gradcli.explain(record["program"], v=record["v"], inputs=record["inputs"]).to_dict()
    found["grad"]["x"][1] *= 1 + ("WRONG" in sys.argv) * (record["id"] == 3) * 1e-8
    print(json.dumps(found | {"id": record["id"]}))
"""


def played(*extra):
    """Return a script that plays ``gradcli batch``, with these words added, and the PyTorch loop."""
    source = str(ROOT / "src")
    script = python(f"import sys; sys.path.insert(0, {source!r})\n{STUB}")
    return batch.Players(
        lambda *words: [*script, *words, *extra], lambda *_: [*script, "PEER"], lambda _: True, records=8, few=4
    )


@pytest.mark.slow
def test_batch_is_compared_record_by_record_and_then_measured():
    assert len(batch.check(played())) == 1
    found = batch.measured(Settings(rounds=1, records=16), played())
    assert len(found.rows) == len(batch.FIGURES) + 1
    assert all(row.value for row in found.rows)
    assert [row.unit for row in found.rows][-1] == "× memory"
    with pytest.raises(ContestantError, match="record 3: entry 1 is"):
        batch.check(played("WRONG"))


@pytest.mark.parametrize("words", [["--only", "startup,sartup"], ["--rounds", "0"], ["--clock", "sun"]])
def test_a_wrong_option_ends_with_2(words, capsys):
    with pytest.raises(SystemExit) as ended:
        command.main(words)
    assert ended.value.code == 2
    assert "error: " in capsys.readouterr().err


def playing(**families):
    """Return what loads families that a test plays: what each compares, and what it measures."""
    return lambda name: SimpleNamespace(**dict(zip(("check", "measured"), families[name], strict=True)))


def raising(text):
    def fails(*_):
        raise ContestantError(text)

    return fails


def test_numbers_that_differ_end_with_1_before_anything_is_timed(capsys):
    differ = "explain and the script: entry 0 is 1 with gradcli and 2 there"
    load = playing(startup=(raising(differ), lambda _: pytest.fail("timed")))
    assert command.main(["--only", "startup"], load, dict) == 1
    assert "entry 0 is 1 with gradcli and 2 there" in capsys.readouterr().err


def test_a_contestant_that_fails_costs_its_family_and_the_run_ends_with_1(capsys, tmp_path):
    machine = json.loads(MADE.read_text(encoding="utf-8"))["machine"]
    load = playing(
        startup=(list, raising("gradcli explain ended with 1")),
        batch=(list, lambda _: Findings([absent("batch", batch.FIGURES[0], "not there")])),
    )
    words = ["--only", "startup,batch", "--json", str(tmp_path / "found.json")]
    assert command.main(words, load, lambda: machine) == 1
    assert "gradcli explain ended with 1" in capsys.readouterr().out.replace("\n", " ")
    rows_found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))["rows"]
    assert [(row["family"], row["failed"]) for row in rows_found] == [("startup", True), ("batch", False)]


def document_of(family, machine_name="one"):
    row = {"family": family, "title": family}
    how = {"share": 0.5, "rounds": 3}
    found = {"machine": {"cores": machine_name, "date": family}, "how": how, "compared": [family]}
    return found | {"rows": [row], "growth": [family] if family == "growth" else []}


def test_families_that_are_measured_again_take_the_place_of_the_old_ones():
    old = document_of("engine") | {"rows": [{"family": "engine", "title": "old"}, {"family": "batch", "title": "old"}]}
    found = command.merged(old, document_of("engine"))
    assert [(row["family"], row["title"]) for row in found["rows"]] == [("engine", "engine"), ("batch", "old")]
    assert command.merged(document_of("growth"), document_of("engine"))["growth"] == ["growth"]
    with pytest.raises(ContestantError, match="another cores"):
        command.merged(document_of("batch", "other"), document_of("engine"))


def test_the_page_is_what_was_measured():
    found = json.loads(MADE.read_text(encoding="utf-8"))
    assert (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8") == markdown(found)
    assert isinstance(read(found), Findings)
    assert {row["family"] for row in found["rows"]} == {"startup", "symbolic", "engine", "batch"}
    assert found["growth"]


def test_nothing_that_was_measured_names_a_place_on_the_machine():
    text = MADE.read_text(encoding="utf-8")
    assert re.findall(r"/(?:home|root|tmp|usr|opt|work|Users)/", text) == []


def test_the_documents_verdicts_are_those_of_its_rows():
    found = json.loads(MADE.read_text(encoding="utf-8"))
    for row, again in zip(found["rows"], read(found).rows, strict=True):
        assert row["verdict"] == again.verdict(found["how"]["clock"])
