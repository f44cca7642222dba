"""Counted work bounds every verdict: the same on a fast machine and a slow one, and more of it decides more."""

import itertools
import json

import pytest

import gradcli
from gradcli.engine import graph
from gradcli.errors import over_budget
from oracles import cases

TABLES = cases("work.toml")

PROGRAMS = TABLES["PROGRAMS"]


def v_of(program):
    return {"zero": [1.0, 1.0, 1.0], "special": [1.0, 1.0], "kink": [1.0, 1.0], "matrix": [1.0, 2.0]}.get(program)


def answers(program, **more):
    """Return what explain and check say of a program, as documents."""
    text, inputs = PROGRAMS[program]
    return [call(text, inputs=inputs, v=v_of(program), **more).to_dict() for call in (gradcli.explain, gradcli.check)]


LOOKS = (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144)
"""At which look at the clock, of those that an answer takes, the time is over."""


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_slow_machine_gives_the_same_answer_or_none(monkeypatch, program):
    """What is too slow is an error, wherever the time runs out, and no verdict."""
    expected, looks = answers(program), itertools.count(1)
    monkeypatch.setattr(graph.Meter, "watch", lambda _: next(looks))
    assert answers(program) == expected
    taken = next(looks)
    for last in (look for look in LOOKS if look < taken):
        looks = itertools.count(1)

        def watch(_, looks=looks, last=last):
            if next(looks) == last:
                raise over_budget("seconds", 9, "the program takes too long")

        monkeypatch.setattr(graph.Meter, "watch", watch)
        with pytest.raises(gradcli.GradcliError, match="'seconds'"):
            answers(program)


@pytest.mark.long
@pytest.mark.parametrize("program", PROGRAMS)
def test_more_work_decides_more_and_never_otherwise(program):
    text, inputs = PROGRAMS[program]
    works = [4**k for k in range(12)]
    seen = [gradcli.check(text, inputs=inputs, budget=gradcli.Budget(work=work)).verdict for work in works]
    first = seen.index(seen[-1])
    assert seen == ["unclear"] * first + [seen[-1]] * (len(works) - first)
    assert first > 0
    assert seen[-1] == gradcli.check(text, inputs=inputs).verdict


COMMANDS = {"explain": (), "check": (), "grad": ("--confirm",)}


@pytest.mark.parametrize("command", COMMANDS)
def test_unclear_has_an_exit_code_of_its_own(cli, command):
    words = (command, "b*((c + 1e16) - 1e16 - c)", "--b", "1.", "--c", ".7", *COMMANDS[command])
    assert cli(*words, "--budget", "work=20").code == 4
    assert cli(*words).code == 1


@pytest.mark.parametrize(("records", "code"), [
    (["ok", "unclear"], 4), (["unclear", "infinite"], 4), (["unclear", "lost"], 1), (["unclear", "broken"], 2),
    (["infinite", "ok"], 3), (["ok"], 0),
])  # fmt: skip
def test_the_worst_answer_of_a_batch_decides(cli, records, code):
    kinds = {
        "ok": {"program": "x**2", "inputs": {"x": 3.0}},
        "unclear": {"program": "sum(b*((c + 1e16) - 1e16 - c))", "inputs": {"b": [1.0] * 900, "c": [0.7] * 900}},
        "lost": {"program": "b*((c + 1e16) - 1e16 - c)", "inputs": {"b": 1.0, "c": 0.7}},
        "infinite": {"program": "sqrt(x)", "inputs": {"x": 0.0}},
        "broken": {"program": "x +", "inputs": {"x": 0.0}},
    }
    text = "\n".join(json.dumps(kinds[name]) for name in records)
    assert cli("batch", "--budget", "work=10000", stdin=text).code == code
