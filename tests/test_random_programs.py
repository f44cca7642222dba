"""Random programs over the whole language: y, J by both routes and vᵀ·J are what many digits and PyTorch give.

GRADCLI_SEED and GRADCLI_PROGRAMS in the environment change which programs and how many.
"""

import io
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import night_programs
from generator.programs import Program, random_program
from mutation.spoiling import ruled
from night_programs import by_pytorch, findings, night
from oracles import needs_torch, portion, tampered
from records import OPS

SEED, COUNT = int(os.environ.get("GRADCLI_SEED", "1")), int(os.environ.get("GRADCLI_PROGRAMS", "300"))


@cache
def program_of(number):
    """Return a program of the seed; each is grown once."""
    return random_program(SEED, number)


@pytest.mark.parametrize("number", portion(range(COUNT), 30), ids=lambda number: f"seed {SEED}, number {number}")
def test_gradcli_gives_what_the_oracles_give(number):
    assert findings(program_of(number)) == [], program_of(number)


@needs_torch
def test_pytorch_takes_many_programs_in_its_own_words(monkeypatch):
    import generator.judges

    taken = []
    monkeypatch.setattr(generator.judges, "faults", lambda truth: taken.append(truth) or [])
    assert [by_pytorch(program_of(number)) for number in range(1, 31, 2)] == [[]] * 15
    assert len(taken) > 6


@pytest.mark.slow
def test_the_programs_have_every_shape_and_choice_of_variables():
    programs = [program_of(number) for number in range(COUNT)]
    assert {p.v.ndim for p in programs} >= {0, 1, 2}
    assert {np.ndim(x) for p in programs for x in p.inputs.values()} >= {0, 1, 2, 3}
    assert sum(len(p.wrt) < len(p.inputs) for p in programs) > COUNT // 20
    assert sum(len(p.wrt) > 1 for p in programs) > COUNT // 5


@pytest.mark.long
def test_the_same_seed_gives_the_same_programs_in_every_process():
    code = "from generator.programs import Program, random_program\nfor n in range(4): print(random_program(5, n))"
    told = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parent,
        env={**os.environ, "PYTHONHASHSEED": "77"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.splitlines() == "\n".join(str(random_program(5, n)) for n in range(4)).splitlines()
    assert str(random_program(6, 0)) != str(random_program(5, 0))


PLANTED = Program(SEED, 3, "x*torch.sum(x*y)", {"x": np.array([0.3, 1.2]), "y": np.array([0.7, -1.9])}, ("x", "y"),
                  np.array([1.0, 2.0]))  # fmt: skip


@pytest.mark.parametrize("name", ["mul", "sum"])
def test_a_derivative_that_is_wrong_on_both_routes_is_noticed_and_reproduced(name, monkeypatch):
    op, out = OPS[name], io.StringIO()
    monkeypatch.setattr(night_programs, "random_program", lambda *_: PLANTED)
    assert night(SEED, [3], out) == 0
    vjps = tuple(ruled(rule, 1.001) for rule in op.vjps)
    with tampered(op, vjps=vjps, local_jacobian=ruled(op.local_jacobian, 1.001)):
        assert night(SEED, [3], out) > 0
    assert f"python tests/night.py programs --seed {SEED} --only 3\n{PLANTED.text}" in out.getvalue()


@needs_torch
def test_a_value_that_is_wrong_is_noticed():
    assert by_pytorch(PLANTED) == []
    with tampered(OPS["sum"], forward=ruled(OPS["sum"].forward, 1.001)):
        assert by_pytorch(PLANTED)[0].startswith("value: ")
