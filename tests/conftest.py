"""What all tests share: a pinned environment, and the command line in process."""

import gc
import io
import os
import shlex
import signal
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from gradcli.cli.app import run
from gradcli.cli.output import Environment
from gradcli.ops import load_all

gc.set_threshold(50_000, 20, 50)  # modules, trees and tests are made by the million, and none of them is garbage
load_all()  # so that tests at import see every function; a process of its own shows what a command loads

NOISE = ("FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS", "CLICOLOR_FORCE", "TTY_COMPATIBLE", "LINES", "PYTHONIOENCODING")
"""Variables of the machine that runs the tests and that could change what they see."""


LONG, OF_LONG = 8, "GRADCLI_OF_LONG_TABLES"
"""Rows of a long table, and the variable that says which part of them is taken: one in so many."""


AT_HAND = "not slow and not long"
"""What the README's command takes."""


def pytest_configure(config):
    """Take a sixth of each long table where nothing is asked for, as by the README: ``.ci/run`` takes all.

    What is asked for by a name, ``-k sin``, is taken whole: the slow ones too.
    """
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS and not config.getoption("keyword")
    whole = whole and not (config.getoption("lf") or config.getoption("failedfirst"))
    if whole and config.getoption("markexpr") == AT_HAND:
        os.environ.setdefault(OF_LONG, "6")
        config.option.warn_unused_snapshots = True  # rows that are left out leave theirs; .ci/run leaves none out
    if config.getoption("keyword") and config.getoption("markexpr") == AT_HAND:
        config.option.markexpr = ""


def is_left_out(value):
    """Return whether a row of a table, or a function, is marked as what the README's command does not take."""
    marks = [*getattr(value, "marks", ()), *getattr(value, "pytestmark", ())]
    return any(mark.name in ("slow", "long") for mark in marks)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector, obj):
    """Make no test of what is not asked for: there are tens of thousands of them."""
    return [] if collector.config.getoption("markexpr") == AT_HAND and is_left_out(obj) else None


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc):
    """Make none of rows that are not asked for; a table of such rows alone keeps one."""
    marks = metafunc.definition.own_markers if metafunc.config.getoption("markexpr") == AT_HAND else []
    for place, mark in enumerate(marks):
        if mark.name == "parametrize" and not isinstance(mark.kwargs.get("ids"), list):
            rows = list(mark.args[1])
            taken = [row for row in rows if not is_left_out(row)] or rows[:1]
            marks[place] = pytest.mark.parametrize(mark.args[0], taken, **mark.kwargs).mark


def left_out_rows(items):
    """Return the tests of long tables that are not taken, by a number of their name: in any order of parameters."""
    functions = {item: item.nodeid.partition("[")[0] for item in items}
    length, every = Counter(functions.values()), int(os.environ.get(OF_LONG, "1"))
    return {item for item in items if length[functions[item]] >= LONG and zlib.crc32(item.nodeid.encode()) % every}


def pytest_collection_modifyitems(config, items):
    """Leave out slow tests but for one in ``GRADCLI_SLOW_SHARE``, others with each ``GRADCLI_SLOW_SEED``.

    Of long tables take one row in ``GRADCLI_OF_LONG_TABLES``.
    """
    share, seed = int(os.environ.get("GRADCLI_SLOW_SHARE", "1")), os.environ.get("GRADCLI_SLOW_SEED", "")
    skipped = left_out_rows([item for item in items if not item.get_closest_marker("slow")])
    chosen = [
        item not in skipped
        and (not item.get_closest_marker("slow") or zlib.crc32(f"{seed} {item.nodeid}".encode()) % share == 0)
        for item in items
    ]
    left_out = [item for item, kept in zip(items, chosen, strict=True) if not kept]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item, kept in zip(items, chosen, strict=True) if kept]


def pytest_collection_finish():
    """Keep the garbage collector from looking through all the tests again and again: half a second each time."""
    gc.collect()
    gc.freeze()


@dataclass(frozen=True, slots=True)
class Answer:
    """How one command line ended."""

    args: tuple[str, ...]
    code: int
    out: str
    err: str

    @property
    def snapshot(self):
        """The whole answer as one text: command line, exit code, both streams."""
        line = "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in shlex.join(self.args))
        return f"$ gradcli {line}\nexit: {self.code}\n--- stdout\n{self.out}--- stderr\n{self.err}"


Cli = Callable[..., Answer]


def stream():
    """Return a stream that keeps what is written, and knows its encoding as a real one does."""
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n")


class Screen(io.TextIOWrapper):
    """A stream that a person reads."""

    def __init__(self):
        super().__init__(io.BytesIO(), encoding="utf-8", newline="\n")

    def isatty(self):
        return True


class Terminal(io.StringIO):
    """The same, of which a test reads what was written at once."""

    encoding = "utf-8"

    def isatty(self):
        return True


class Faulty(io.StringIO):
    """A stream that fails where it is read."""

    def __init__(self, error):
        super().__init__()
        self.error = error

    def read(self, _=-1):
        raise self.error


class Closed(io.StringIO):
    """A stream whose reader is gone."""

    def writelines(self, _):
        raise BrokenPipeError


def text_of(written):
    """Return what a stream was given."""
    written.flush()
    return written.buffer.getvalue().decode("utf-8")


@pytest.fixture(autouse=True)
def _pinned(monkeypatch):
    for name in NOISE:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERMINAL_WIDTH", "80")
    monkeypatch.setenv("TERM", "xterm-256color")


@pytest.fixture(autouse=True, scope="session")
def _interruptible():
    """Let processes that tests start hear an interrupt: a shell has what runs in its background ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def cli():
    """Run a command line in process: ``cli("grad", "x**2", "--x", "3", stdin="", columns="80").out``.

    ``stdin`` can be a stream of its own, and ``largest`` the bytes that a file may have. ``screen`` says that a person
    reads both streams, without colours.
    """

    def call(*args, stdin="", columns="80", screen=False, **bounds):
        out, err = (Screen(), Screen()) if screen else (stream(), stream())
        variables = ({"COLUMNS": columns} if columns else {}) | ({"NO_COLOR": "1"} if screen else {})
        given = io.StringIO(stdin) if isinstance(stdin, str) else stdin
        env = Environment(stdin=given, stdout=out, stderr=err, variables=variables, **bounds)
        code = int(run(list(args), env))
        return Answer(tuple(args), code, text_of(out), text_of(err))

    return call
