"""The tool that makes rules wrong is itself held to its word; and no rule is without a mutant."""

import json
import subprocess
import sys
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
import sympy

import mutants
from gradcli.ops.arithmetic import ties
from gradcli.ops.links import Links
from mutation.running import apart
from mutation.sources import below, lines_of
from mutation.spoiling import SLIGHTLY, Spoiled, spoiled
from mutation.table import MAKERS, is_built
from records import FUNCTIONS, OPS

HERE = Path(__file__).parent


@pytest.mark.slow
def test_every_rule_of_the_table_has_a_mutant():
    catalogue = mutants.catalogue()
    for op in OPS.values():
        assert f"{op.name}: forward" in catalogue
        made = {mutant.name for maker in MAKERS for mutant in maker(op)}
        assert made <= set(catalogue)
        for k, rule in enumerate(op.vjps if isinstance(op.vjps, tuple) else (op.vjp(0), op.vjp(1))):
            named = any(name.startswith(f"{op.name}: vjp of argument {k}") for name in made)
            assert named == (rule is not None), op.name
    assert all((f"{f.name}(): built" in catalogue) == is_built(f) for f in FUNCTIONS.values())


def test_the_tests_that_judge_are_there_and_the_court_is_none_of_them():
    names = {Path(path).name for path in mutants.judging()}
    assert {"test_definitions.py", "exact", "language"} <= names
    assert "test_mutants.py" not in names
    assert all((HERE / f"test_{name}.py").exists() for name in mutants.NO_NUMBERS.split())


SCRIPT = """
import sys, json
from gradcli.ops import OPS
from mutation.running import verdicts_on
from mutation.spoiling import ruled
from mutation.table import Mutant, forward_mutants

def wrong(name):
    [mutant] = forward_mutants(OPS[name])
    return mutant

def zeros():
    object.__setattr__(OPS["tan"], "forward", ruled(lambda x: 0.0))

nothing = Mutant("nothing", frozenset(), (), lambda: None)
quiet, _ = verdicts_on([Mutant("zeros", frozenset(), (), zeros)], [sys.argv[4]], 30)
found, _ = verdicts_on([nothing, *map(wrong, ["sin", "cos", "cbrt"])], [sys.argv[1]], 30)
broken, failing = verdicts_on([wrong("tan")], [sys.argv[2]], 30)
slow, _ = verdicts_on([wrong("tan")], [sys.argv[3]], 0.5)
print("FOUND", json.dumps({**{n: [v.killed, v.changes] for n, v in {**found, **broken}.items()},
      "failing": failing, "late": slow["tan: forward"].late,
      "silent": [quiet["zeros"].silent, found["cbrt: forward"].silent, found["cos: forward"].silent]}))
"""
TESTS = {
    "test_good.py": """
def test_sin(): assert abs(OPS["sin"].forward(0.5) - 0.479425538604203) < 1e-12
def test_cos_as_far_as_it_goes(): assert abs(OPS["cos"].forward(0.5) - 0.8775825618903728) < 1e-6
""",
    "test_broken.py": "def test_tan(): assert OPS['tan'].forward(0.5) == 2\n",
    "test_slow.py": "import time\ndef test_sleep():\n    while OPS['tan'].forward(0.5) > 0.5463024899: time.sleep(1)\n",
    "test_zero.py": "def test_nothing(): OPS['tan'].forward(0.5)\n",
}


@pytest.mark.long
def test_who_is_killed_and_who_survives(tmp_path):
    for name, text in TESTS.items():
        (tmp_path / name).write_text("from gradcli.ops import OPS\n" + text, encoding="utf-8")
    words = [sys.executable, "-c", SCRIPT, *(str(tmp_path / name) for name in TESTS)]
    ended = subprocess.run(words, cwd=HERE, capture_output=True, text=True, timeout=100, check=True)
    found = json.loads(ended.stdout.partition("FOUND ")[2])
    assert found["nothing"] == [False, 0], "no mutant, no failure"
    assert found["sin: forward"] == [True, 1]
    assert found["cos: forward"] == [False, 1], "read, but the test did not notice"
    assert found["cbrt: forward"] == [False, 0], "no test reads it"
    assert not found["tan: forward"][0], "the test fails without a mutant too"
    assert [name.rpartition("::")[2] for name in found["failing"]] == ["test_tan"]
    assert found["late"]
    assert found["silent"] == [True, False, False], "a rule that was read, and one that was not"


@pytest.mark.slow
def test_the_command_line_ends_with_1_where_a_mutant_survives(tmp_path):
    tests = tmp_path / "test_one.py"
    tests.write_text("from gradcli.ops import OPS\ndef test_one():\n    OPS['acosh']\n", encoding="utf-8")
    words = [sys.executable, HERE / "mutants.py", "--only", "acosh: vjp of argument 0", "--tests", tests]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=100, check=False)
    assert ended.returncode == 1, ended.stdout + ended.stderr
    assert "SURVIVED acosh" in ended.stdout


@pytest.mark.parametrize(("value", "want"), [
    (2.0, 2.0 * SLIGHTLY), (np.array([1.0, -3.0]), np.array([1.0, -3.0]) * SLIGHTLY), (True, False),
    (np.array([True, False]), np.array([False, True])),
    (np.intp(3), 4), (np.array([5]), 6), ((1.0, 2.0), (SLIGHTLY, 2.0 * SLIGHTLY)),
    ([True, 2.0], [False, 2.0 * SLIGHTLY]),
])  # fmt: skip
def test_numbers_truth_values_and_places_are_changed(value, want):
    before = Spoiled.count
    assert all(np.array_equal(a, b) for a, b in zip(np.atleast_1d(spoiled(value)), np.atleast_1d(want), strict=True))
    assert Spoiled.count > before


def test_places_are_moved_each_by_another_step():
    with mock.patch.object(Spoiled, "count", 0):
        assert [spoiled(np.arange(3)).tolist() for _ in range(2)] == [[2, 0, 1], [1, 2, 0]]


@pytest.mark.parametrize("value", [None, "sin", (2, 3), 0.0, np.zeros(2), np.array([]), sympy.Integer(0)])
def test_what_cannot_be_changed_is_not_counted(value):
    before = Spoiled.count
    assert np.array_equal(np.asarray(spoiled(value), dtype=object), np.asarray(value, dtype=object))
    assert Spoiled.count == before


def test_links_and_formulas_are_changed():
    links = Links(np.array([0]), np.array([1]), 2.0)
    assert spoiled([links])[0].weight == 2.0 * SLIGHTLY
    x = sympy.Symbol("x")
    assert spoiled(x).subs(x, 3.0) == pytest.approx(3.0 * SLIGHTLY, rel=1e-15)


@pytest.mark.slow
def test_what_a_change_touches_has_mutants_and_one_changes_one_branch_alone():
    def shares():
        return [float(ties(1.0, *pair)) for pair in ((1.0, 1.0), (2.0, 1.0), (1.0, 2.0))]

    def mutated(mutant):
        mutant.apply()
        return shares()

    code = ties.__code__
    found = mutants.catalogue({below(code.co_filename): {code.co_firstlineno + 2}})
    assert {"maximum: vjp of argument 0", "maximum: forward"} <= set(found)
    assert not any(name.startswith(("sin", "softmax")) for name in found)
    own = [mutant for name, mutant in found.items() if name.startswith("ops.arithmetic.ties #")]
    assert shares() == [0.5, 1.0, 0.0]
    assert [0.5 * SLIGHTLY, 1.0, 0.0] in [apart(lambda mutant=mutant: mutated(mutant), 20) for mutant in own]
    assert shares() == [0.5, 1.0, 0.0]
    assert mutants.catalogue({}) == {}


DIFF = """diff --git a/src/gradcli/ops/a.py b/src/gradcli/ops/a.py
--- a/src/gradcli/ops/a.py
+++ b/src/gradcli/ops/a.py
@@ -3 +3,2 @@ def f():
-old
+new
+newer
@@ -9,2 +10,0 @@
-gone
-gone
--- a/src/gradcli/reverse.py
+++ b/src/gradcli/reverse.py
@@ -1 +1 @@
-old
new
"""


def test_a_diff_has_the_lines_that_are_new_and_those_beside_what_is_gone():
    assert lines_of(DIFF) == {"ops/a.py": {3, 4, 10, 11}, "reverse.py": {1}}
