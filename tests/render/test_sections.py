"""What v did, the passes that J takes, the picture of its entries, the answer without v: each against a plain way."""

import io
import json
import re
from fractions import Fraction

import numpy as np
import pytest

import gradcli
from conftest import Terminal
from gradcli.cli.app import run
from gradcli.cli.output import Environment
from gradcli.document.jacobian import spy_lines
from gradcli.jacobian.sparse import count_passes
from shown import lines_of, styled, terminal

EFFECTS = {  # program, inputs, v: L, row of J, v itself, entry on which several outputs depend
    "two to three": ("[3*x[0]**2, x[0]**2 + 2*x[1]**3, 10*x[1]]", [1.0, 2.0], [1, 10, 100], (2173, 1, "", (0,))),
    "a diagonal": ("x**2", [1.0, 2.0], [1, 1], (5, 0, "sum", None)),
    "the mean": ("x**2", [1.0, 2.0], [0.5, 0.5], (2.5, 0, "mean", None)),
    "one-hot": ("cumsum(x)", [1.0, 2.0], [1, 0], (1, 1, "", (0,))),
}


@pytest.mark.parametrize("name", EFFECTS)
def test_what_v_did(name):
    program, x, v, said = EFFECTS[name]
    found = gradcli.explain(program, x=x, v=v)
    effect, j = found.effect, found.jacobian["x"].numeric
    shared = effect.shared and effect.shared.index
    assert (effect.total, effect.row, effect.usual, shared) == said
    assert np.array_equal(effect.sum.grad["x"], j.sum(axis=0))
    assert np.allclose(effect.mean.grad["x"], j.mean(axis=0))
    assert np.array_equal(effect.of_row.grad["x"], j[effect.row])


def test_a_nudge_is_measured_by_running_the_program():
    nudge = gradcli.explain("[3*x[0]**2, x[0]**2]", x=[1.0], v=[1, 10]).effect.nudge
    assert (nudge.name, nudge.index, nudge.step, nudge.slope) == ("x", (0,), 0.001, 26)
    moved = [3 * 1.001**2, 1.001**2]
    assert nudge.measured == pytest.approx(moved[0] - 3 + 10 * (moved[1] - 1), rel=1e-9)


DUST = {
    "softmax(x)": ([1.5, 2, 3.7], [1, 1, 1]),
    "sum(softmax(x))": ([1.5, 2, 3.7], None),
    "[sum(softmax(x)), x[0]]": ([1.5, 2, 3.7], [1, 1]),
    "s = softmax(x); sum(s)*x[0]": ([1.5, 2, 3.7], None),
    "norm(x/norm(x))": ([0.3, 0.4, 0.7], None),
}


@pytest.mark.parametrize("program", DUST)
@pytest.mark.parametrize("width", [60, 80, 200])
def test_rounding_dust_is_shown_as_0_in_every_table(program, width):
    x, v = DUST[program]
    found = gradcli.explain(program, x=x, v=v)
    assert found.dust["x"].entries.any() or found.dust["x"].vjp.any()
    for unicode in (True, False):
        assert not re.search(r"\de-1\d\b", terminal(found, width, unicode=unicode))


@pytest.mark.parametrize("program", ["x*2", "x.sum()", "x*y"])
def test_a_jacobian_without_entries_has_no_verdict(program):
    inputs = {name: np.zeros(0) for name in gradcli.function(program).inputs}
    v = None if "sum" in program else np.ones(0)
    text = terminal(gradcli.explain(program, inputs=inputs, v=v))
    assert "    no entries\n" in text
    assert "✓" not in text


def test_no_two_rows_have_one_label():
    text = terminal(gradcli.explain("grad = x*w", x=2.5, w=3.5, v=2))
    labels = [line.split()[0] for line in text.split("\n") if "│" in line]
    assert labels == ["v", "grad", "vᵀ·J", ".grad"]


PATTERNS = {
    "diagonal": (np.eye(6), 1),
    "dense": (np.ones((4, 3)), 4),
    "two bands": (np.eye(6) + np.eye(6, k=1), 2),
    "blocks": (np.kron(np.eye(3), np.ones((2, 2))), 2),
    "an empty row": (np.diag([1, 0, 1]), 1),
    "nothing": (np.zeros((2, 2)), 0),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_passes(name):
    pattern, passes = PATTERNS[name]
    assert count_passes(*np.nonzero(pattern)) == passes


def test_a_picture_has_a_dot_for_each_entry_of_a_small_pattern():
    found = gradcli.explain("x[1:] - x[:-1]", x=np.zeros(20), v=np.ones(19)).jacobian["x"]
    dots = sum((ord(letter) - 0x2800).bit_count() for line in spy_lines(found) for letter in line)
    assert dots == len(found.rows) == 38
    assert spy_lines(gradcli.explain("x*2", x=np.zeros(20), v=np.ones(20)).jacobian["x"]) == []


def answer(stdout, *words):
    err = io.StringIO()
    env = Environment(stdin=io.StringIO(), stdout=stdout, stderr=err, variables={"COLUMNS": "80"})
    return int(run(["explain", *words], env)), stdout.getvalue(), err.getvalue()


OFFERED = """\
help: --v '1,1'      y.sum().backward()           [2, 4]
      --v '1/2,1/2'  y.mean().backward()          [1, 2]
      --v '1,0'      y[0].backward(), a row of J  [2, 0]
"""


def test_a_person_who_gives_no_v_sees_j_and_what_to_paste():
    code, out, err = answer(Terminal(), "[x[0]**2, 2*x[1]**2]", "--x", "1,1", "--color", "never")
    assert code == 2
    assert " y[0]  ? │ 2*x[0] = 2           ·   · this output does not use it\n" in out
    assert "x.grad" not in out
    assert err.endswith(OFFERED)
    for line in OFFERED.splitlines():
        flag, numbers = line[6:].split("'")[1], json.loads(line[line.index("[", 40) :].rpartition("  ")[2])
        v = [float(Fraction(part)) for part in flag.split(",")]
        assert gradcli.explain("[x[0]**2, 2*x[1]**2]", x=[1, 1], v=v).grad["x"].tolist() == numbers


def test_colours_go_from_v_into_the_sums():
    found = gradcli.explain("[x[0]*2, x[0]*3]", x=[1.0], v=[5, 7])
    text = styled(found, unicode=False)
    of = {text.plain[span.start : span.end].strip(): span.style for span in text.spans}
    assert of["5*2"] == of["y[0]"] != of["7*3"] == of["y[1]"]


@pytest.mark.parametrize(("turns", "said"), [(6, {"y3", "y4", "y5", "y6"}), (30, set())])
def test_turns_that_formulas_of_j_mention_are_all_said_with_all_of_the_answer(turns, said):
    program = f"y = x\nfor i in range({turns}):\n    y = sin(y)*x\n[y, 2*y]"
    found = gradcli.explain(program, x=0.5, v=[1, 1])
    assert [line.split()[0] for line in lines_of(found, "forward") if "=" in line] == [
        *("x", "y1", "i", "y2", "…", f"y{turns + 1}", "f[0]", "f[1]")
    ]
    for full in (False, True):
        lines = lines_of(found, "jacobian", full=full)
        names = {line.split()[0] for line in lines if re.match(r"\w+ +=", line)}
        used = set(re.findall(r"\by\d+", "\n".join(lines)))
        assert used <= names | {"y1", "y2", f"y{turns + 1}"}
        assert names >= said or not full
