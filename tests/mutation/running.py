"""Running the suite against mutants: once as things are, then in a process for each mutant, until a test fails."""

from __future__ import annotations

import json
import math
import os
import re
import select
import signal
import sys
import time
import warnings
from dataclasses import dataclass
from unittest import mock

import pytest
from _pytest.runner import runtestprotocol
from sympy.core.cache import clear_cache

from mutation.spoiling import Spoiled

QUIETLY = ["-o", "addopts=", "-q", "-s", "-p", "no:cacheprovider", "--no-header", "--no-summary", "--assert=plain"]


AN_HOUR = 3600.0


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: the test that failed, or none; how often it changed a number; how long it took.

    ``late`` where the time was over; ``asked`` is how many values it was given.
    """

    by: str | None
    changes: int
    seconds: float
    late: bool = False
    asked: int = 0

    @property
    def killed(self):
        """Whether a test failed, and not by itself."""
        return self.by is not None and self.changes > 0

    @property
    def silent(self):
        """Whether the rule was read, and gave no number but 0: there is nothing to change."""
        return self.by is None and not self.late and self.asked > 0 and self.changes == 0


def first_failure(items, counts=lambda: True):
    """Run tests until one fails where that ``counts``; return its name."""
    for k, item in enumerate(items):
        after = items[k + 1] if k + 1 < len(items) else None
        if any(report.failed for report in runtestprotocol(item, log=False, nextitem=after)) and counts():
            return item.nodeid
    return None


def apart(work, limit):
    """Return what work gives back, done in a process of its own; None where it takes longer than the limit."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        for kind in (DeprecationWarning, RuntimeWarning):  # threads of numpy and jax are asleep
            warnings.simplefilter("ignore", kind)
        child = os.fork()
    if child == 0:
        be_child(work, writing)
    os.close(writing)
    answer = read_all(reading, time.monotonic() + limit)
    os.close(reading)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return json.loads(answer) if answer else None


def read_all(channel, end):
    """Return what is written until it ends, nothing of it where that takes too long."""
    answer = b""
    while select.select([channel], [], [], max(end - time.monotonic(), 0))[0]:
        part = os.read(channel, 1 << 16)
        if not part:
            return answer
        answer += part
    return b""


def be_child(work, channel):
    """Do the work, write what came of it, and end."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    try:
        found = work()
    except BaseException as error:  # noqa: BLE001 - whatever it is, the parent must hear of it
        found = [f"the tool itself: {error!r}"[:2000], 0]
    os.write(channel, json.dumps(found).encode())
    os._exit(0)


def judged(mutant, items, limit):
    """Return the verdict on a mutant by tests, in their order; it lives in a process of its own."""
    start = time.monotonic()

    def work():
        mutant.apply()
        clear_cache()
        return [first_failure(items, lambda: Spoiled.count > 0), Spoiled.count, Spoiled.asked]

    found = apart(work, limit)
    by, changes, *asked = found or (None, 0)
    return Verdict(by, changes, time.monotonic() - start, late=found is None, asked=sum(asked))


def trial(items):
    """Return by name, of tests that pass as things are, the seconds that they take and the functions that they run."""

    def work():
        places, found = {}, {}
        for item in items:
            codes = set()
            start = time.process_time()
            sys.setprofile(lambda frame, event, _, codes=codes: codes.add(frame.f_code) if event == "call" else None)
            failed = first_failure([item])
            sys.setprofile(None)
            ours = {place_of(code) for code in codes if "gradcli" in code.co_filename}
            if not failed:
                numbers = [places.setdefault(place, len(places)) for place in sorted(ours)]
                found[item.nodeid] = time.process_time() - start, numbers
        return [list(places), found]

    told = apart(work, AN_HOUR)
    if told is None or not isinstance(told[1], dict):
        raise SystemExit("the tests take more than an hour" if told is None else told[0])
    places, found = told
    return {name: (seconds, {tuple(places[k]) for k in numbers}) for name, (seconds, numbers) in found.items()}


def place_of(code):
    """Return where a function is written; lambdas of one row are not told apart."""
    return code.co_filename, code.co_firstlineno


def telling(items, mutant, tried):
    """Return the tests that may tell of a mutant: those that run the rule, then those that name it.

    All of them where none is known to run it: others cannot tell.
    """
    words = [re.compile(rf"(?<!\w){re.escape(name)}(?!\w)") for name in sorted(mutant.about)]
    few = words if len(words) <= 12 else []
    codes = [getattr(getattr(rule, "__wrapped__", rule), "__code__", None) for rule in mutant.rules]
    places = {place_of(code) for code in codes if code is not None}
    running = [item for item in items if not places.isdisjoint(tried[item.nodeid][1])]
    rest = [item for item in items if item not in set(running)]
    named = [item for item in rest if any(word.search(item.nodeid) for word in few)]
    return [*running, *named] if running else [*named, *(item for item in rest if item not in set(named))]


def is_slow(item):
    return item.get_closest_marker("slow") is not None


class Court:
    """A plugin of pytest that judges mutants where the tests would run, until the time is over."""

    def __init__(self, mutants, limit, bound, report, quick):
        self.mutants, self.limit, self.bound, self.report, self.quick = mutants, limit, bound, report, quick
        self.verdicts, self.failing = {}, []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        if session.testsfailed:
            raise session.Interrupted("the tests cannot be collected")
        items = [item for item in session.items if str(item.path) not in self.quick or not is_slow(item)]
        tried = trial(items)
        self.failing = [item.nodeid for item in items if item.nodeid not in tried]
        items = sorted((item for item in items if item.nodeid in tried), key=lambda item: tried[item.nodeid][0])
        end = time.monotonic() + self.bound
        for mutant in self.mutants:
            if time.monotonic() > end:
                break
            verdict = judged(mutant, telling(items, mutant, tried), self.limit)
            self.verdicts[mutant.name] = verdict
            self.report(mutant, verdict)
        return True


def verdicts_on(mutants, tests, limit, bound=math.inf, report=lambda mutant, verdict: None, quick=()):
    """Judge mutants by test files, beginning none after ``bound`` seconds; of those that are ``quick``, no slow tests.

    Returns the verdicts by name, and the tests that fail without any mutant.
    """
    court = Court(mutants, limit, bound, report, frozenset(quick))
    sys.stdout.flush()
    alone = {key: value for key, value in os.environ.items() if key != "PYTEST_ADDOPTS"}
    with mock.patch.dict(os.environ, alone, clear=True):
        code = pytest.main([*tests, *QUIETLY], plugins=[court])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise SystemExit(f"the tests could not be run: pytest ended with {code!r}")
    return court.verdicts, court.failing
