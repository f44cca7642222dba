"""Running the suite against mutants: collected once, then a process for each mutant, until a test fails."""

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
from dataclasses import dataclass, replace
from unittest import mock

import pytest
from _pytest.runner import runtestprotocol
from sympy.core.cache import clear_cache

from mutation.spoiling import Spoiled

QUIETLY = ["-o", "addopts=", "-q", "-s", "-p", "no:cacheprovider", "--no-header", "--no-summary", "--assert=plain"]


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: the test that failed, or none; how often it changed a number; how long it took.

    ``late`` where the time was over, ``always`` where the test fails without any mutant too.
    """

    by: str | None
    changes: int
    seconds: float
    late: bool = False
    always: bool = False

    @property
    def killed(self):
        """Whether a test failed, and not by itself."""
        return self.by is not None and self.changes > 0 and not self.always


def first_failure(items):
    """Run tests until one fails; return its name."""
    for k, item in enumerate(items):
        after = items[k + 1] if k + 1 < len(items) else None
        if any(report.failed for report in runtestprotocol(item, log=False, nextitem=after)):
            return item.nodeid
    return None


def apart(work, limit):
    """Return what work gives back, done in a process of its own; None where it takes longer than the limit."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # numpy's threads are asleep
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
    """Return the verdict on a mutant; it lives in a process of its own."""
    start = time.monotonic()

    def work():
        mutant.apply()
        clear_cache()
        return [first_failure(items), Spoiled.count]

    found = apart(work, limit)
    by, changes = found or (None, 0)
    return Verdict(by, changes, time.monotonic() - start, late=found is None)


def failing(items):
    """Return the names of the tests that fail as things are."""
    found = apart(lambda: [item.nodeid for item in items if first_failure([item])], 600.0)
    if found is None:
        raise SystemExit("the tests take too long")
    return set(found)


def in_order(items, mutant, killers):
    """Return the tests, those first that name the mutant, then those that killed others, the last of them first."""
    words = [re.compile(rf"(?<!\w){re.escape(name)}(?!\w)") for name in sorted(mutant.about)]
    few = words if len(words) <= 12 else []

    def rank(item):
        if any(word.search(item.nodeid) for word in few):
            return -1
        return killers.index(item.nodeid) if item.nodeid in killers else len(killers)

    return sorted(items, key=rank)


class Court:
    """A plugin of pytest that judges mutants where the tests would run, until the time is over."""

    def __init__(self, mutants, limit, end, report):
        self.mutants, self.limit, self.end, self.report = mutants, limit, end, report
        self.verdicts, self.ran = {}, False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        if session.testsfailed:
            raise session.Interrupted("the tests cannot be collected")
        killers = []
        for mutant in self.mutants:
            if time.monotonic() > self.end:
                break
            verdict = judged(mutant, in_order(session.items, mutant, killers), self.limit)
            self.verdicts[mutant.name] = verdict
            self.report(mutant, verdict)
            killers = [verdict.by, *(by for by in killers if by != verdict.by)][:RECENT]
        self.acquit(session.items)
        self.ran = True
        return True

    def acquit(self, items):
        """Take back the verdicts of tests that fail without a mutant too."""
        killers = {verdict.by for verdict in self.verdicts.values()}
        broken = failing([item for item in items if item.nodeid in killers])
        for mutant in self.mutants:
            verdict = self.verdicts.get(mutant.name)
            if verdict is not None and verdict.by in broken and verdict.killed:
                self.verdicts[mutant.name] = replace(verdict, always=True)
                self.report(mutant, self.verdicts[mutant.name])


RECENT = 30
"""Tests that killed a mutant and are asked first about the next."""


def verdicts_on(mutants, tests, limit, end=math.inf, report=lambda mutant, verdict: None):
    """Judge mutants by test files, none after ``end`` on the monotonic clock; returns the verdicts by name."""
    court = Court(mutants, limit, end, report)
    sys.stdout.flush()
    alone = {key: value for key, value in os.environ.items() if key != "PYTEST_ADDOPTS"}
    with mock.patch.dict(os.environ, alone, clear=True):
        code = pytest.main([*tests, *QUIETLY], plugins=[court])
    if not court.ran:
        raise SystemExit(f"the tests could not be run: pytest ended with {code!r}")
    return court.verdicts
