"""Running tests against mutants, each in a process of its own, until a test fails that passes without it."""

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
MANY = 12
"""Ops and functions above which a mutant's names tell no test from another."""


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: the test that failed, or none; how often it changed a number.

    ``late`` where the time was over; ``asked`` is how many values it was given.
    """

    by: str | None
    changes: int
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
        found = [f"the tool itself: {error!r}"[:2000], 0, 0]
    os.write(channel, json.dumps(found).encode())
    os._exit(0)


def judged(mutant, items, limit):
    """Return the verdict on a mutant by tests, in their order; it lives in a process of its own."""

    def work():
        mutant.apply()
        clear_cache()
        return [first_failure(items, lambda: Spoiled.count > 0), Spoiled.count, Spoiled.asked]

    found = apart(work, limit)
    by, changes, asked = found or (None, 0, 0)
    return Verdict(by, changes, late=found is None, asked=asked)


def telling(items, mutant):
    """Return the tests in the order in which they are asked: those that name the rule, then the others."""
    names = sorted(mutant.about) if len(mutant.about) <= MANY else []
    words = [re.compile(rf"(?<!\w){re.escape(name)}(?!\w)") for name in names]
    named = [item for item in items if any(word.search(item.nodeid) for word in words)]
    return [*named, *(item for item in items if item not in set(named))]


class Court:
    """A plugin of pytest that judges mutants where the tests would run, until the time is over."""

    def __init__(self, mutants, limit, bound, report):
        self.mutants, self.limit, self.bound, self.report = mutants, limit, bound, report
        self.verdicts, self.failing, self.passing = {}, set(), set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        if session.testsfailed:
            raise session.Interrupted("the tests cannot be collected")
        end = time.monotonic() + self.bound
        for mutant in self.mutants:
            if time.monotonic() > end:
                break
            verdict = self.verdict_on(mutant, session.items)
            self.verdicts[mutant.name] = verdict
            self.report(mutant, verdict)
        return True

    def verdict_on(self, mutant, items):
        """Judge a mutant; a test that fails without it too is no witness, and is asked no more."""
        while True:
            verdict = judged(mutant, [i for i in telling(items, mutant) if i.nodeid not in self.failing], self.limit)
            if not verdict.killed or self.passes(verdict.by, items):
                return verdict
            self.failing.add(verdict.by)

    def passes(self, name, items):
        """Return whether a test passes as things are."""
        if name not in self.passing:
            [item] = [item for item in items if item.nodeid == name] or [None]
            if item is not None and apart(lambda: [first_failure([item])], self.limit) != [None]:
                return False
            self.passing.add(name)
        return True


def verdicts_on(mutants, tests, limit, bound=math.inf, report=lambda mutant, verdict: None):
    """Judge mutants by test files, beginning none after ``bound`` seconds.

    Returns the verdicts by name, and the tests that were found to fail without any mutant.
    """
    court = Court(mutants, limit, bound, report)
    sys.stdout.flush()
    alone = {key: value for key, value in os.environ.items() if key != "PYTEST_ADDOPTS"}
    with mock.patch.dict(os.environ, alone, clear=True):
        code = pytest.main([*tests, *QUIETLY], plugins=[court])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise SystemExit(f"the tests could not be run: pytest ended with {code!r}")
    return court.verdicts, sorted(court.failing)
