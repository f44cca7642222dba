"""The text of a large document: what ``to_dict`` says, with each array of it written once."""

from __future__ import annotations

import numpy as np
import pytest

import gradcli
from gradcli.render import encoded as module
from gradcli.render.dump import dump
from gradcli.render.encoded import LONG, encoded

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
    assert encoded(found) == dump(found.to_dict())


def test_indices_and_numbers_with_the_same_bytes_are_told_apart():
    tiny = np.arange(N).view(np.float64)
    found = gradcli.explain("x*1.0", v=np.ones(N), inputs={"x": tiny})
    assert encoded(found) == dump(found.to_dict())


def test_each_array_is_written_once(monkeypatch):
    written = []
    monkeypatch.setattr(module, "nested", lambda array: written.append(array.size) or array.tolist())
    found = gradcli.explain("x**2", v=np.ones(N), inputs={"x": np.linspace(1, 2, N)})
    encoded(found)
    assert written.count(N) == 5, "x, y, v, the indices of J's diagonal, and the one gradient"
