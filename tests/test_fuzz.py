"""Some thousand texts that nobody would type, on each push; ``tests/fuzzing.py`` runs as many as there is time for."""

import io
import itertools
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import fuzzing
from fuzz import arguments, contract, scripts, soup
from fuzz.contract import outcome
from fuzz.lines import SMALL, Line, line, text_of
from gradcli.ops import FUNCTIONS
from oracles import ask, cases, portion

TABLES = cases("fuzz.toml")

BOUNDS = tuple(word for name, number in SMALL.items() for word in ("--budget", f"{name}={number}"))
SEEDS = [(seed, first) for seed, first in itertools.product((20, 26), (0, 450, 900))]


@pytest.mark.slow
@pytest.mark.parametrize("numbers", portion(SEEDS, 6))
def test_a_seeded_input_never_breaks_the_contract(numbers, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    seed, first = numbers
    tally = fuzzing.fuzz(fuzzing.numbered(seed, range(first, first + 450)))
    assert not tally.faults, str(tally)
    assert tally.codes[0] > 45, "too few of the inputs are programs that run"
    assert tally.codes[2] > 45, "too few of the inputs are refused"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("first", portion(range(0, 3000, 150), 20))
def test_a_seeded_script_never_breaks_the_contract(first, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tally = fuzzing.fuzz(fuzzing.numbered(20, range(first, first + 150), scripts.line))
    assert not tally.faults, str(tally)
    assert min(tally.codes[code] for code in (0, 1, 2)) > 10, "too few of one end"
    assert list(tmp_path.iterdir()) == []


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.randoms(use_true_random=False))
def test_a_drawn_input_never_breaks_the_contract(rng):
    asked = line(rng)
    assert outcome(asked).fault is None, asked.reproduction


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(max_size=60), st.text(max_size=20), st.sampled_from(["explain", "grad", "check"]), st.booleans())
@example("x\x1b[2J", "\x9b31m", "explain", True)
@example("𝐬𝐢𝐧(x)", "１", "grad", False)
@example("x\ud800", "\ud800", "explain", False)
def test_a_text_of_any_characters_never_breaks_the_contract(text, value, command, as_json):
    asked = Line((command, *BOUNDS, "--set", f"x={value}", *["--json"] * as_json, "--", text))
    if not value.startswith("@"):
        assert outcome(asked).fault is None, asked.reproduction


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    st.lists(st.sampled_from((*soup.WORDS, *soup.MARKS, *soup.STRANGE, "--x", "--v", "--json", "x", "1")), max_size=8)
)
def test_words_in_any_order_never_break_the_contract(words):
    asked = Line(("explain", *BOUNDS, *words))
    assert outcome(asked).fault is None, asked.reproduction


FOUND = TABLES["FOUND"]  # what the fuzzer found, the exit code that it should have, and words of what is said


@pytest.mark.parametrize(("args", "code", "words"), FOUND)
def test_what_the_fuzzer_found_stays_mended(args, code, words):
    answer = ask(*args)
    assert answer.code == code
    assert words in answer.out + answer.err


def test_an_input_of_a_seed_is_always_the_same():
    assert dict(fuzzing.numbered(7, range(50))) == dict(fuzzing.numbered(7, range(50)))
    assert dict(fuzzing.numbered(7, range(50))) != dict(fuzzing.numbered(8, range(50)))


def test_texts_of_every_kind_are_drawn():
    drawn = "".join(text_of(Random(seed)) for seed in range(16_000))  # noqa: S311
    for piece in ("\x1b", "\udcff", "\u202e", "é", "𝐱", "\x00", "9" * 400, "(" * 2000, "for i in", "einsum", "lambda"):
        assert piece in drawn, ascii(piece)[:40]


LINE = Line(("explain", "x**2", "--x", "1", "--json"))


def planted(effect, said="", **seams):
    """Return what the contract says of a command line that ends so, and says this on standard error."""

    def run(_, env):
        env.stderr.write(said)
        if isinstance(effect, BaseException):
            raise effect
        return effect

    return outcome(LINE, run=run, **seams).fault or ""


def loop(*_):
    while True:
        pass


def test_the_contract_sees_what_it_looks_for():
    """A check that cannot fail is none: each fault, planted, is found."""
    assert outcome(LINE).fault is None
    assert outcome(Line(("explain", "sinn(x)", "--x", "1", "--json"))).fault is None
    assert "exit code 70" in planted(70)
    assert "exit code 130" in planted(130)
    assert "SystemExit leaves run" in planted(SystemExit(0))
    assert "ZeroDivisionError leaves run" in planted(ZeroDivisionError())
    assert "traceback" in planted(2, "error: Traceback\n")
    assert "hangs" in (outcome(LINE, run=loop, hang=0.2).fault or "")
    held = iter((1000, 1000 + 2 * contract.LARGE))
    assert "MB of memory" in planted(2, "error: no\n", peak=lambda: next(held))


ANSWERS = cases("contract.json")["ANSWERS"]


@pytest.mark.parametrize(("code", "out", "err", "fault"), ANSWERS)
def test_the_contract_judges_an_answer(code, out, err, fault):
    found = contract.answered(LINE, code, out, err)[1]
    assert (found is None) if fault is None else (fault in (found or ""))


def test_the_runner_tells_of_a_fault(monkeypatch):
    out = io.StringIO()
    monkeypatch.setattr(fuzzing, "armed", lambda: None)
    assert fuzzing.night(3, range(2), out) == 0
    monkeypatch.setattr(contract, "answered", lambda *_: ("", "planted"))
    assert fuzzing.night(3, range(2), out) == 2
    assert "FAULT #1: planted\n    " in out.getvalue()


ROUNDS = 3
"""Calls of each function for a seed."""
FOUND_IN_CALLS = TABLES["FOUND_IN_CALLS"]
"""What this way of asking has brought to light."""


@pytest.mark.parametrize("seed", portion([1, 2, 3], 3))
def test_every_function_takes_or_refuses_every_kind_of_argument(seed):
    assert arguments.faults(seed, 0, ROUNDS * len(FUNCTIONS)) == []


@pytest.mark.parametrize("text", FOUND_IN_CALLS)
def test_what_was_found_in_calls_is_answered_or_refused(text):
    assert arguments.outcome(text, readings=True).fault is None


@pytest.mark.parametrize(("text", "fault"), [("x + unheard", None), ("sum(x)", None)])
def test_an_error_and_an_answer_are_no_faults(text, fault):
    assert arguments.outcome(text, readings=True).fault is fault


def test_an_exception_of_another_kind_is_a_fault():
    def fail(*_):
        raise ZeroDivisionError("planted")

    assert arguments.outcome("sum(x)", readings=False, run=fail).fault == "ZeroDivisionError: planted"
