"""The progress bar of ``batch``: on a terminal's standard error alone, gone at the end, and never in an answer."""

import io
import json

import pytest

from conftest import Terminal
from gradcli.cli.app import run
from gradcli.cli.batch import progress
from gradcli.cli.output import Environment

RECORDS = "".join(json.dumps({"id": k, "program": "x**2", "inputs": {"x": float(k)}}) + "\n" for k in range(3))


def seen(stderr, total, wanted=True):
    """What a bar writes that is moved twice, by 30 and by 70 bytes."""
    with progress(Environment(stderr=stderr, variables={}), total, wanted, every=0.0) as advance:
        advance(30)
        advance(70)
    return stderr and stderr.getvalue()


def test_a_bar_counts_records_and_the_part_of_the_file():
    text = seen(Terminal(), 100)
    assert "2 records" in text
    assert "100%" in text


def test_without_a_size_it_counts_records():
    text = seen(Terminal(), None)
    assert "2 records" in text
    assert "%" not in text


@pytest.mark.parametrize(("stderr", "wanted"), [(io.StringIO(), True), (Terminal(), False), (None, True)])
def test_without_a_reader_there_is_no_bar(stderr, wanted):
    assert not seen(stderr, 100, wanted)


def test_the_bar_takes_its_line_back():
    assert seen(Terminal(), 100).endswith("\x1b[2K"), "the line is erased"


def answers(stdout, stderr):
    code = run(["batch"], Environment(stdin=io.StringIO(RECORDS), stdout=stdout, stderr=stderr, variables={}))
    return code, [json.loads(line)["grad"]["x"] for line in stdout.getvalue().splitlines()]


def test_answers_that_go_elsewhere_leave_room_for_a_bar():
    stderr = Terminal()
    assert answers(io.StringIO(), stderr) == (0, [0.0, 2.0, 4.0])
    assert "records" in stderr.getvalue()


def test_answers_on_the_same_terminal_do_not():
    stderr = Terminal()
    assert answers(Terminal(), stderr) == (0, [0.0, 2.0, 4.0])
    assert "records" not in stderr.getvalue()
