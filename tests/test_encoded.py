"""The text of a large document: what ``to_dict`` says, with each array of it written once."""

import json
import sys
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import gradcli
from gradcli.render.data import LONG, document, dump, dump_numbers, encoded

N = LONG
CASES = {
    "one number": ("x**2", {"x": 3.0}),
    "just too short": ("x**2", {"x": np.linspace(0, 1, N - 1)}),
    "long": ("sin(x)*x**2 + exp(-x)", {"x": np.linspace(-1, 1, N)}),
    "zeros of both signs": ("x*1.0", {"x": np.where(np.arange(N) % 2, -0.0, 0.0)}),
    "the same bytes in another shape": ("outer(x, c)", {"x": np.ones(N // 100), "c": np.ones(100)}),
    "what is not finite": ("sqrt(x)", {"x": np.r_[0.0, -1.0, np.ones(N)]}),
    "a small input with a large Jacobian": ("outer(x, x)", {"x": np.linspace(1, 2, 50)}),
    "no entry": ("x*2", {"x": np.zeros((0, 3))}),
}


@pytest.mark.parametrize("name", CASES)
def test_the_text_is_that_of_the_document(name):
    program, inputs = CASES[name]
    found = gradcli.explain(program, v=np.ones(gradcli.function(program).value(**inputs).shape), inputs=inputs)
    assert_same(found)


def assert_same(found):
    """Compare as text, which tells -0.0 from 0.0 and 1 from 1.0."""
    line = "".join(encoded(partial(document, found)))
    assert dump(json.loads(line)) == dump(found.to_dict())
    assert line.isascii()
    assert line.index("\n") == len(line) - 1


@pytest.mark.slow
def test_indices_and_numbers_with_the_same_bytes_are_told_apart():
    tiny = np.arange(N).view(np.float64)
    found = gradcli.explain("x*1.0", v=np.ones(N), inputs={"x": tiny})
    assert_same(found)


def test_each_array_is_written_once():
    found = gradcli.explain("x**2", v=np.ones(N), inputs={"x": np.linspace(1, 2, N)})
    long = [part for part in encoded(partial(document, found)) if len(part) > N]
    assert len({id(part) for part in long}) == 5, "x, y, v, the indices of J's diagonal, and the one gradient"
    assert len(long) == 16, "as often as each is shown: x and y stand in forward too, their cotangents in reverse"


@settings(max_examples=200, deadline=None, derandomize=True)
@given(arrays(np.uint64, st.integers(0, 50)).map(lambda bits: bits.view(np.float64)))
def test_every_number_is_written_so_that_it_reads_back(numbers):
    finite = numbers[np.isfinite(numbers)].tolist()
    assert dump(json.loads(dump_numbers(finite))) == dump(finite)


@pytest.mark.parametrize(
    "numbers", [1.5, [], [[]], [[-0.0, 5e-324], [1e22, 1e23]], [1, 2**53], [0.1, "NaN", "Infinity", "-Infinity"]]
)
def test_numbers_are_the_same_with_and_without_the_fast_writer(numbers, monkeypatch):
    fast = dump_numbers(numbers)
    monkeypatch.setitem(sys.modules, "pydantic_core", None)
    assert dump_numbers(numbers) == dump(numbers) == dump(json.loads(fast))


def test_the_fast_writer_comes_with_what_is_installed():
    """Without it the answer is the same, and at a million entries takes seconds more."""
    assert dump_numbers([1e-7]) == "[1e-7]"
