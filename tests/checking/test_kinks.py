"""No kink and no jump passes without a note, and none is noted where there is none."""

from __future__ import annotations

import random
import re
from fractions import Fraction

import numpy as np
import pytest

import gradcli
from oracles import portion
from piecewise import NAMES, draw, gradient_of

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
    assert check.verdict == "agree", check
    if truth is None:
        assert noted(answer), answer
        assert noted(check), check
        return
    partials = truth if as_vector else [truth[NAMES.index(name)] for name in used]
    shown = np.concatenate([np.ravel(answer.grad[name]) for name in given])
    # What is taken where pieces meet may be another slope than that of the function: x - relu(x) - min(x, 0) at 0.
    conventional = np.abs(shown - np.array(partials, dtype=float)).max() > 1e-6
    assert bool(noted(answer)) == bool(noted(check)) == conventional, answer
