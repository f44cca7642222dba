"""The program as a process: pipes, signals, terminals, and what it imports."""

import os
import re
import signal
import subprocess
import sys

import pytest

from oracles import cases, portion, portion_of_rows
from processes import EXPLAIN, GRADCLI, environment, imported, on_terminal, run

TABLES = cases("process.toml")

ESCAPE = "\x1b["


IMPORTS = [
    (("--version",), {"numpy", "sympy", "rich"}),
    (("--help",), {"numpy", "sympy"}),
    (("explain", "--help"), {"numpy", "sympy"}),
    (("explain", "x**2", "--jsn"), {"sympy"}),
    (("explain", "sinn(x)", "--x", "1"), {"sympy"}),
    (("explain", "x +", "--x", "1"), {"sympy"}),
    (("explain", "x**2", "--x", "1,2"), {"sympy"}),
    (("explain", "x**2", "--x", "one"), {"sympy"}),
    (("grad", "sum(softmax(x))", "--x", "1,2"), {"sympy", "rich.table"}),
    (("schema",), {"numpy", "sympy"}),
]


@pytest.mark.parametrize(("args", "unneeded"), portion_of_rows(IMPORTS, 2), ids=lambda value: " ".join(sorted(value)))
def test_a_command_imports_only_what_it_needs(args, unneeded):
    found = imported(*args)
    assert "gradcli.cli.app" in found
    assert not found & unneeded


LONG = ("explain", "x*ones(90)", "--x", "1", "--v", "ones(90)", "--json")


@pytest.mark.parametrize(
    "args", [("run", "-"), LONG, *portion([EXPLAIN, ("functions",), ("schema",)], 4)], ids=lambda args: args[0]
)
def test_a_closed_pipe_is_no_error(args):
    pipeline = f'"{sys.executable}" -m gradcli "$@" | head -1; echo "${{PIPESTATUS[0]}}"'
    found = subprocess.run(
        ["/bin/bash", "-c", pipeline, "bash", *args], input="for i in range(100000):\n    print(i)\n",
        capture_output=True, text=True, env=environment(), timeout=60, check=False,
    )  # fmt: skip
    assert found.stderr == ""
    assert found.stdout.splitlines()[-1] == "0"


def test_a_pipe_that_was_closed_before_is_no_error():
    reader, writer = os.pipe()
    os.close(reader)
    process = subprocess.run(
        [*GRADCLI, *EXPLAIN], stdout=writer, stderr=subprocess.PIPE, env=environment(), timeout=60, check=False
    )
    os.close(writer)
    assert (process.returncode, process.stderr) == (0, b"")


AT_WORK = """
import sys
from gradcli.cli.app import run
from gradcli.engine.graph import Meter

Meter.watch = lambda self: print("at work", file=sys.stderr, flush=True)
sys.exit(run(sys.argv[1:]))
"""


def test_an_interrupt_is_quiet():
    words = ("explain", "while x > 0: pass\nx", "--x", "1", "--budget", "turns=100000000000")
    process = subprocess.Popen(
        [sys.executable, "-c", AT_WORK, *words], stdout=-1, stderr=-1, env=environment(), text=True
    )
    try:
        assert process.stderr is not None
        assert process.stderr.readline() == "at work\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert out == ""
    assert set(err.splitlines()) <= {"at work"}


COLOURS = TABLES["COLOURS"]


@pytest.mark.parametrize(("flags", "changes", "coloured"), portion_of_rows(COLOURS, 3))
def test_a_terminal_has_colour_unless_it_is_refused(flags, changes, coloured):
    code, seen = on_terminal(*EXPLAIN, *flags, **changes)
    assert code == 0
    assert bool(re.search(r"\x1b\[[0-9;]*3[0-9]", seen)) is coloured
    assert "grad" in seen


@pytest.mark.slow
def test_a_pipe_has_no_colour_unless_it_is_asked_for():
    assert ESCAPE not in run(*EXPLAIN).stdout
    assert ESCAPE not in run(*EXPLAIN, FORCE_COLOR="0").stdout
    assert ESCAPE not in run(*EXPLAIN, GITHUB_ACTIONS="true").stdout
    assert ESCAPE in run(*EXPLAIN, FORCE_COLOR="1").stdout
    assert ESCAPE in run(*EXPLAIN, "--color", "always").stdout
    assert ESCAPE in run(*EXPLAIN, "--color", "always", NO_COLOR="1").stdout


WRONG = ("explain", "sinn(x)", "--x", "1")


@pytest.mark.slow
def test_an_error_has_colour_where_an_answer_has():
    assert ESCAPE not in run(*WRONG).stderr
    assert ESCAPE in run(*WRONG, "--color", "always").stderr
    assert ESCAPE in run(*WRONG, FORCE_COLOR="1").stderr
    assert re.search(r"\x1b\[1;31merror:", on_terminal(*WRONG)[1])
    assert ESCAPE not in on_terminal(*WRONG, "--color=never")[1]
    plain = run(*WRONG).stderr
    assert re.sub(r"\x1b\[[0-9;]*m", "", run(*WRONG, "--color", "always").stderr) == plain


def test_the_terminal_and_the_pipe_say_the_same():
    seen = on_terminal(*EXPLAIN, "--color", "never")[1]
    piped = run(*EXPLAIN, COLUMNS="80").stdout
    assert [line.rstrip() for line in seen.splitlines()] == piped.splitlines()


@pytest.mark.parametrize("columns", portion([20, 40, 60], 3))
def test_a_narrow_terminal_is_never_overrun(columns):
    code, seen = on_terminal(*EXPLAIN, "--color", "never", columns=columns)
    assert code == 0
    assert "x.grad" in seen
    if columns >= 40:
        assert max(len(line.rstrip()) for line in seen.splitlines()) <= columns


@pytest.mark.parametrize("encoding", portion(["ascii", "latin-1", "utf-8"], 3))
def test_a_stream_of_any_encoding_gets_what_it_can_show(encoding):
    for args, code in ((EXPLAIN, 0), (("explain", "x^2", "--x", "1"), 2), (("--help",), 0), (("explain", "--help"), 0)):
        found = subprocess.run(
            [*GRADCLI, *args], capture_output=True, env=environment(PYTHONIOENCODING=encoding), timeout=60, check=False
        )
        assert found.returncode == code
        shown = (found.stdout + found.stderr).decode(encoding)
        assert "Traceback" not in shown
        assert "\\u" not in shown
