"""Truth values and integers beside floats: PyTorch's answer, or NumPy's with a note where PyTorch has none."""

import json
from functools import cache

import numpy as np
import pytest

import gradcli
from gradcli.errors import GradcliError
from gradcli.language import arithmetic
from gradcli.language.program import compile_program
from gradcli.ops import Pair
from gradcli.ops.declare import value_of
from kind_rows import ROWS, UNLIKE, answer_of, asked, recorded

try:
    import torch
except ImportError:
    torch = None

ONE_SIDED = {"numpy-only", "torch-only"}


@cache
def kept():
    return recorded()


def theirs(row):
    """Return PyTorch's answer, live or as it was recorded; None where the row is NumPy's alone."""
    if row.torch is None:
        return None
    if torch is None:
        found = kept()[row.program]
        return None if found is None else tuple(found)
    torch.set_default_dtype(torch.float64)
    try:
        return asked(torch, row.torch)
    finally:
        torch.set_default_dtype(torch.float32)


def ours(row, monkeypatch, strict=False):
    """Return our answer, a mask included, and the kinds of notes; None for a refusal."""
    from kind_rows import ARRAYS

    monkeypatch.setattr(arithmetic, "as_output", lambda value, _: value)
    try:
        program = compile_program(row.program)
        values = {name: np.array(ARRAYS[name]) for name in program.inputs}
        graph, found, _ = program.evaluate(values, frozenset(["u"]), strict=strict)
    except GradcliError:
        return None, set()
    found = found.values if type(found) is Pair else found
    return answer_of(value_of(found)), {kind for kind, _ in graph.remarks}


def complaint(row, monkeypatch):
    """Return what is wrong with our answer to a row."""
    pytorch = theirs(row)
    numpy = None if row.numpy is None else asked(np, row.numpy)
    mine, notes = ours(row, monkeypatch)
    wanted = pytorch or numpy
    if wanted is None or mine is None:
        return None if wanted is mine else f"{mine} where PyTorch has {pytorch} and NumPy {numpy}"
    half = wanted[0] == "half"
    if mine[0] != ("float" if half else wanted[0]) or not same(mine[1], wanted[1], 1e-3 if half else 1e-6):
        return f"{mine} is not {wanted}"
    side = {"numpy-only"} if pytorch is None and row.torch else {"torch-only"} if row.numpy and numpy is None else set()
    if notes & ONE_SIDED != side:
        return f"notes {notes} where PyTorch has {pytorch} and NumPy {numpy}"
    if pytorch and numpy and "numpy-differs" not in notes and not same(pytorch[1], numpy[1]):
        return f"notes {notes} where PyTorch has {pytorch} and NumPy {numpy}"
    if "numpy-differs" in notes and numpy is not None and numpy[0] == "float":
        return "a note that NumPy differs, which computes in floats too"
    if side and ours(row, monkeypatch, strict=True)[0] is not None:
        return "strict does not refuse"
    return None


def same(a, b, rtol=1e-6):
    return np.shape(a) == np.shape(b) and np.allclose(np.asarray(a, float), np.asarray(b, float), rtol, equal_nan=True)


KNOWN = [row for row in ROWS if torch is not None or row.torch is None or row.program in kept()]


@pytest.mark.parametrize("rows", [KNOWN[i : i + 200] for i in range(0, len(KNOWN), 200)], ids=lambda rows: rows[0].name)
def test_arithmetic_is_that_of_both_libraries(rows, monkeypatch):
    wrong = {row.name: said for row in rows if row.program not in UNLIKE and (said := complaint(row, monkeypatch))}
    assert wrong == {}, json.dumps(wrong, indent=1)


@pytest.mark.parametrize("entry", ["1", "x > 0", "x"])
@pytest.mark.parametrize("depth", [33, 66])
def test_a_list_of_more_levels_than_an_array_has_axes_is_refused(entry, depth):
    with pytest.raises(GradcliError, match="at most 32 axes"):
        gradcli.explain(f"y = {'[' * depth}{entry}{']' * depth}\nsum(x)", x=1.0)
