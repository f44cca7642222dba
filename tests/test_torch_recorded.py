"""Values and gradients beside figures that PyTorch 2.13 gave, at the edges of every function; PyTorch is not needed."""

from __future__ import annotations

import pytest

from oracles import DATA, cases, numbers, portion
from torch_rows import RECORDED, SAMPLE, check

RECORDS = cases(RECORDED)


def test_the_records_are_those_of_the_rows():
    assert [record["program"] for record in RECORDS] == [case.program for case in SAMPLE]
    assert (DATA / RECORDED).stat().st_size < 300_000


ROWS = [
    pytest.param(case, record, id=f"{k}-{case.program}")
    for k, (case, record) in enumerate(zip(SAMPLE, RECORDS, strict=False))
]


@pytest.mark.parametrize(("case", "record"), portion(ROWS, 2))
def test_as_recorded(case, record):
    check(case, [numbers(figure) for figure in record["figures"]])
