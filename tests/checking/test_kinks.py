"""No kink and no jump passes without a note, and none is noted where there is none."""

import random
import re
from fractions import Fraction

import numpy as np
import pytest

import gradcli
from gradcli.errors import GradcliError
from oracles import cases, portion, portion_of_rows
from piecewise import NAMES, draw, gradient_of

TABLES = cases("kinks.toml")

BENT = {"kink", "jump", "infinite-slope"}
SEEDS = range(1_000)


def noted(answer):
    return {note.kind for note in answer.notes} & BENT


@pytest.mark.parametrize("seed", portion(SEEDS, 80))
@pytest.mark.parametrize("as_vector", [False, True], ids=["scalars", "vector"])
def test_pieces_that_meet_are_noted_where_they_make_a_kink_or_jump(seed, as_vector):
    rng = random.Random(seed)  # noqa: S311 # no secret
    function = draw(rng)
    while not re.search(r"\b[abc]\b", function.text):
        function = draw(rng)
    text, used = function.text, [name for name in NAMES if re.search(rf"\b{name}\b", function.text)]
    point = {name: Fraction(rng.choice((-1, 0, 0, 1, 2))) for name in NAMES}
    truth = gradient_of(function, point, rng)
    given = {name: float(point[name]) for name in used}
    if as_vector:
        text = re.sub(r"\b([abc])\b", lambda name: f"x[{NAMES.index(name[1])}]", text)
        given = {"x": [float(value) for value in point.values()]}
    answer, check = gradcli.explain(text, inputs=given), gradcli.check(text, inputs=given)
    assert check.verdict == "right", check
    if truth is None:
        assert noted(answer), answer
        assert noted(check), check
        return
    partials = truth if as_vector else [truth[NAMES.index(name)] for name in used]
    shown = np.concatenate([np.ravel(answer.grad[name]) for name in given])
    # What is taken where pieces meet may be another slope than that of the function: x - relu(x) - min(x, 0) at 0.
    conventional = np.abs(shown - np.array(partials, dtype=float)).max() > 1e-6
    assert bool(noted(answer)) == bool(noted(check)) == conventional, answer


LED = TABLES["LED"]
"""A program where rounding decides the turns of a loop, a point, the note, and the slopes on both sides if any."""


@pytest.mark.parametrize(("program", "x", "kind", "slopes"), LED)
def test_where_rounding_decides_all_else_is_decided_on_both_sides(program, x, kind, slopes):
    v = None if np.ndim(x) == 0 or "argmax" in program else np.ones(np.shape(x))
    for answer in (gradcli.explain(program, v=v, x=x), gradcli.check(program, x=x)):
        assert "rounding-decides" in {note.kind for note in answer.notes}
        assert noted(answer) == ({kind} if kind else set())
        assert any(slopes in note.message for note in answer.notes)


TIED = [[1.0, 1.0000000000000002], [2.0, 2.0]]
"""A tie in each row of A*0.1 + 0.2, of which rounding has made the first."""
BESIDE = TABLES["BESIDE"]  # program, inputs, the kind of note that another entry of the same operation has


@pytest.mark.parametrize(("program", "inputs", "kind"), BESIDE)
def test_an_entry_that_rounding_decides_hides_no_other_of_its_operation(program, inputs, kind):
    for answer in (gradcli.explain(program, inputs=inputs), gradcli.check(program, inputs=inputs)):
        assert {"rounding-decides", kind} <= {note.kind for note in answer.notes}


def test_a_formula_that_rounding_parts_from_its_number_is_no_misprint():
    found = gradcli.check("maximum(x + 0.2, y)", x=0.1, y=0.30000000000000004)
    assert found.verdict == "right"
    assert [note.message for note in found.notes if note.kind == "unread"] == [
        "2 formulas were not evaluated again: exact numbers decide otherwise than double precision."
    ]


@pytest.mark.parametrize(
    ("program", "expect"),
    [
        ("floor(x*10)*x", "floor(x*10)"),
        ("where(x + 0.6 >= 1.2999999999999998, x**2, 3*x)", "where(x + 0.6 >= 1.2999999999999998, 2*x, 3)"),
    ],
)
def test_a_formula_of_the_users_is_decided_as_the_program_is(program, expect):
    assert gradcli.check(program, x=0.7, expect=expect).verdict == "right"
    assert gradcli.check(program, x=0.7, expect=f"2*({expect})").verdict == "wrong"


HADAMARD = [[1.0, 1.0, 1.0, 1.0], [1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0], [1.0, -1.0, -1.0, 1.0]]
SPECTRA = TABLES["SPECTRA"]  # program, matrix, whether it has a kink; all of them are continuous


def rotated(values, vectors, shift):
    """Return vectors of equal values rotated into each other, signs of others included, and those of 0 by the shift."""
    levels = np.round(np.pad(values, (0, len(vectors.T) - len(values))) / np.max(np.abs(values)), 12)
    found = vectors.copy()
    for level in set(levels.tolist()):
        at = np.flatnonzero(levels == level)
        angles = np.arange(len(at) ** 2).reshape(len(at), -1) + (shift if level == 0 else 0)
        found[:, at] = vectors[:, at] @ np.linalg.qr(np.cos(angles) - 2 * np.eye(len(at)))[0]
    return found


@pytest.fixture
def other_processor(monkeypatch):
    """Let numpy choose what a decomposition leaves open as another processor's LAPACK might."""
    svd, eigh = np.linalg.svd, np.linalg.eigh

    def other_svd(a, full_matrices=True, compute_uv=True):
        if np.ndim(a) > 2 or not compute_uv:
            return svd(a, full_matrices, compute_uv)
        (u, values, vt), count = svd(a), min(np.shape(a))
        u, v = rotated(values, u, 1), rotated(values, vt.T, 2)
        return (u, values, v.T) if full_matrices else (u[:, :count], values, v.T[:count])

    def other_eigh(a):
        values, vectors = eigh(a)
        return values, rotated(values, vectors, 0)

    monkeypatch.setattr(np.linalg, "svd", other_svd)
    monkeypatch.setattr(np.linalg, "eigh", other_eigh)


def spectral(program, matrix, bent):
    """Hold an answer and a check, and return their numbers, verdicts and notes."""
    found, checked = gradcli.explain(program, A=matrix), gradcli.check(program, A=matrix)
    assert (found.agreement.verdict, checked.verdict) == ("agree", "right")
    assert noted(found) == ({"kink"} if bent else set())
    return np.round(found.grad["A"], 12) + 0.0, found.notes, checked.notes


@pytest.mark.parametrize(("program", "matrix", "bent"), SPECTRA)
def test_equal_singular_values_make_no_jump(program, matrix, bent):
    spectral(program, matrix, bent)


@pytest.mark.parametrize(("program", "matrix", "bent"), portion_of_rows(SPECTRA, 8))
def test_an_answer_depends_on_no_choice_of_a_processor(program, matrix, bent, request):
    here = spectral(program, matrix, bent)
    request.getfixturevalue("other_processor")
    there = spectral(program, matrix, bent)
    assert np.array_equal(here[0], there[0])
    assert here[1:] == there[1:]


@pytest.mark.parametrize(("program", "matrix"), [
    ("eigh(A)[1]", np.eye(2)), ("svd(A).U", HADAMARD), ("svd(A).V", [[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]]),
    ("qr(A).R", [[1.0, 2.0], [2.0, 4.0]]), ("inv(A)", [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]]),
    ("cholesky(A)", [[0.1, 0.1], [0.1, 0.1]]),
])  # fmt: skip
def test_what_a_processor_chooses_is_refused(program, matrix):
    with pytest.raises(GradcliError, match=r"any of many|singular|not positive"):
        gradcli.explain(program, A=matrix)


def test_expected_slope_at_a_kink_is_called_that():
    found = gradcli.check("relu(x)", x=0.0, expect="1")
    assert found.expected[0].mistake == (
        "y has a kink at this point: by x its slope is 0 on the left and 1 on the right; the convention takes 0"
    )
    assert "kink" in gradcli.check("relu(x)", x=[0.0, 1.0], expect=[1.0, 1.0], v=[1.0, 1.0]).hint
    assert "kink" not in gradcli.check("relu(x)", x=[0.0, 1.0], expect=[0.0, 2.0], v=[1.0, 1.0]).hint
