"""Values and gradients beside figures that PyTorch 2.13 gave, at the edges of every function; PyTorch is not needed."""

from __future__ import annotations

import pytest

from oracles import DATA, cases, numbers, portion
from torch_rows import RECORDED, SAMPLE, check

FIGURES = {record["row"]: record["figures"] for record in cases(RECORDED)}


def test_every_row_of_the_sample_is_recorded_and_no_other():
    assert (DATA / RECORDED).stat().st_size < 1_000_000
    missing, stale = sorted(set(SAMPLE) - set(FIGURES)), sorted(set(FIGURES) - set(SAMPLE))
    assert missing == stale == [], "ask PyTorch: python tests/torch_rows.py"


KNOWN = [pytest.param(SAMPLE[key], FIGURES[key], id=key) for key in SAMPLE if key in FIGURES]


@pytest.mark.parametrize(("case", "figures"), portion(KNOWN, 4))
def test_as_recorded(case, figures):
    check(case, [numbers(figure) for figure in figures])
