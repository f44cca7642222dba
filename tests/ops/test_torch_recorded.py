"""Values and gradients beside figures that PyTorch 2.13 gave, at the edges of every function; PyTorch is not needed."""

import numpy as np
import pytest

from oracles import DATA, needs_torch, portion
from torch_rows import RECORDED, ROWS, check, theirs


def test_the_table_stays_small():
    assert (DATA / RECORDED).stat().st_size < 1_000_000


@pytest.mark.parametrize("case", portion(ROWS, 4), ids=[f"{k}-{case.program}" for k, case in enumerate(ROWS)])
def test_as_recorded(case):
    check(case, case.figures)


@pytest.mark.slow
@needs_torch
def test_the_figures_are_those_of_pytorch():
    for case in ROWS:
        for got, want in zip(theirs(case), case.figures, strict=True):
            np.testing.assert_allclose(got, want, case.rtol, case.atol, err_msg=case.program)
