"""Streams that fail: closed, full, without Unicode, interrupted. One line, one exit code, and old files stay whole."""

import os
import re
import subprocess
import sys

import pytest

from oracles import cases, portion, portion_of_rows
from processes import EXPLAIN, GRADCLI, environment, run


def in_shell(redirection, *args):
    """Run a command line under a shell's redirection, such as ``>&-``."""
    command = f'"{sys.executable}" -m gradcli "$@" {redirection}'
    return subprocess.run(
        ["/bin/bash", "-c", command, "bash", *args], capture_output=True, text=True, env=environment(), timeout=60,
        check=False,
    )  # fmt: skip


BAD = ("explain", "sinn(x)", "--x", "1")
LARGE = ("grad", "x", "--x", "ones(200000)", "--v", "ones(200000)")
FULL = "standard output cannot be written: No space left on device"
CLOSED = "standard output is closed"
READS = ("grad", "-", "--x", "1")
TABLES = cases("streams.json")
REDIRECTIONS = TABLES["REDIRECTIONS"]


@pytest.mark.long
@pytest.mark.parametrize(("redirection", "args", "code", "words"), portion_of_rows(REDIRECTIONS, 4))
def test_a_stream_that_fails_is_one_line_and_an_exit_code(redirection, args, code, words):
    found = in_shell(redirection, *args)
    assert found.returncode == code
    assert words in found.stderr
    assert "Traceback" not in found.stderr
    assert "Exception ignored" not in found.stderr
    assert "sorry" not in found.stderr
    assert re.sub(r"\x1b\[[0-9;]*m", "", found.stderr).count("error: ") == (1 if words else 0)


def test_a_closed_standard_error_pipe_keeps_the_exit_code():
    reader, writer = os.pipe()
    os.close(reader)
    found = subprocess.run([*GRADCLI, *BAD], stdout=-1, stderr=writer, env=environment(), timeout=60, check=False)
    os.close(writer)
    assert (found.returncode, found.stdout) == (2, b"")


@pytest.mark.parametrize("columns", ["0", "-1", "", "abc", "1e9", "99999999999999999999", "٣", "²", "80\x1b[31m"])
def test_a_width_that_is_none_is_passed_over(cli, columns):
    usual, found = cli(*EXPLAIN, columns=None), cli(*EXPLAIN, columns=columns)
    assert (found.code, found.out, found.err) == (0, usual.out, "")


@pytest.mark.parametrize("locale", portion([{"LC_ALL": "C"}, {"LC_ALL": "POSIX"}, {"LC_ALL": "en_US.ISO-8859-1"}], 3))
def test_a_locale_without_unicode_gets_ascii(locale):
    legacy = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", **locale}
    for args, code in ((EXPLAIN, 0), (("explain", "x²", "--x", "1"), 2)):
        found = run(*args, **legacy)
        assert found.returncode == code
        assert (found.stdout + found.stderr).isascii()
        assert "Traceback" not in found.stderr


INTERRUPTED = """
import os, signal, sys

class Striker:
    def find_spec(self, name, path=None, target=None):
        if name == module:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

module = sys.argv.pop(1)
sys.meta_path.insert(0, Striker())
from gradcli.__main__ import main
main()
"""
STAGES = ["gradcli.cli.app", "typer", "numpy", "sympy.core.mul", "gradcli.explanation.explaining", "rich.text"]


@pytest.mark.parametrize("module", portion(STAGES, 2))
def test_an_interrupt_while_modules_load_is_quiet(module):
    assert_quiet(INTERRUPTED, module, *EXPLAIN)


IN_A_TEXT = """
import os, signal, sys

class Striker:
    def find_spec(self, name, path=None, target=None):
        if name == "gradcli.explanation.explaining":
            sys.meta_path.remove(self)
            exec("os.kill(os.getpid(), signal.SIGINT)")

sys.meta_path.insert(0, Striker())
"""


def test_an_interrupt_in_a_text_that_python_runs_ends_with_130(tmp_path):
    """A data class is made of such a text, and ``python -m`` remembers that one was left by an interrupt."""
    (tmp_path / "sitecustomize.py").write_text(IN_A_TEXT, encoding="utf-8")
    path = os.pathsep.join([str(tmp_path), *sys.path])
    found = subprocess.run(
        [sys.executable, "-m", "gradcli", *EXPLAIN], capture_output=True, env={**environment(), "PYTHONPATH": path},
        timeout=60, check=False,
    )  # fmt: skip
    assert (found.returncode, found.stdout, found.stderr) == (130, b"", b"")


def assert_quiet(script, *words):
    """Hold a process that interrupts itself against what an interrupt should leave: 130, and nothing else."""
    found = subprocess.run(
        [sys.executable, "-c", script, *words], capture_output=True, text=True, env=environment(), timeout=60,
        check=False,
    )  # fmt: skip
    assert (found.returncode, found.stdout) == (130, "")
    assert "Traceback" not in found.stderr


STRUCK = """
import os, pkgutil, signal, sys

place, _, name = sys.argv.pop(1).rpartition(".")
holder = pkgutil.resolve_name(place)
right = getattr(holder, name)

def struck(*given, **named):
    os.kill(os.getpid(), signal.SIGINT)
    return right(*given, **named)

setattr(holder, name, struck)
from gradcli.cli.app import run
sys.exit(run(sys.argv[1:]))
"""
WORK = {  # what is at work when the signal comes, and for what
    "numpy.linalg.inv": ("grad", "sum(inv(x))", "--x", "2,1;1,3"),
    "gradcli.engine.reverse.backward": ("grad", "sin(x)", "--x", "1"),
    "sympy.core.expr.Expr.diff": ("explain", "sin(x)*x", "--x", "1"),
    "gradcli.jacobian.sparse.small_product": ("explain", "y = sin(x); y*y", "--x", "1"),
    "rich.text.Text.append": EXPLAIN,
}


@pytest.mark.long
@pytest.mark.parametrize("place", portion(WORK, 3))
def test_an_interrupt_in_the_middle_of_the_work_is_quiet(place):
    assert_quiet(STRUCK, place, *WORK[place])


FULL_DISK = ("sh", "-c", 'ulimit -f 1 && exec "$@"', "sh")
"""What lets no file of a command grow beyond one block of 512 bytes."""


def test_a_full_disk_leaves_the_old_file(tmp_path):
    old = tmp_path / "answer.json"
    old.write_text("old")
    found = subprocess.run(
        [*FULL_DISK, *GRADCLI, *LARGE, "-o", str(old)],
        capture_output=True, text=True, env=environment(), timeout=60, check=False,
    )  # fmt: skip
    assert (found.returncode, found.stdout) == (2, "")
    assert "cannot be written: File too large" in found.stderr
    assert old.read_text() == "old"
    assert list(tmp_path.iterdir()) == [old]


@pytest.mark.parametrize("place", ["/proc/answer.json", "nowhere/answer.json", "folder.json", f"{'x' * 300}.json"])
def test_a_place_that_takes_no_file_is_named(place, tmp_path):
    (tmp_path / "folder.json").mkdir()
    found = run("grad", "x**2", "--x", "3", "-o", place if place.startswith("/") else str(tmp_path / place))
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith("error: -o ")
    assert "cannot be written" in found.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["folder.json"]
