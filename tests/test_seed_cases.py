"""The examples that the project began with, by the Python interface and by the command line."""

import numpy as np
import pytest

import gradcli
from oracles import ask, assert_close, cases, flags, numbers, strict_json

CASES = cases("seed_cases.json")
TOLERANCE = 1e-12
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])


def v_times(v, jacobian, output_shape, input_shape):
    """Return vᵀ·J for a v in the shape of y; a longer v for a single output counts as its sum."""
    v = np.ones(output_shape) if v is None else numbers(v)
    v = v.reshape(output_shape) if v.size == np.prod(output_shape) else np.full(output_shape, v.sum())
    return (v.ravel() @ jacobian.reshape(v.size, -1)).reshape(input_shape)


def check_document(document, case):
    """Compare a whole document with the figures of a case, and its parts with each other."""
    y, names = numbers(case["y"]), case["wrt"]
    assert document["schema"] == 1
    assert document["error"] is None
    assert document["program"] == case["expression"]
    assert_close(numbers(document["output"]["value"]), y, TOLERANCE, "y")
    assert document["output"]["shape"] == list(y.shape)
    assert {name: i["differentiated"] for name, i in document["inputs"].items()} == {
        n: n in names for n in case["inputs"]
    }
    assert list(document["jacobian"]) == names
    for name in names:
        x, jacobian = numbers(case["inputs"][name]), document["jacobian"][name]
        want = numbers(case["jacobian"][name]).reshape(y.shape + x.shape)
        assert jacobian["shape"] == list(want.shape)
        assert_close(numbers(jacobian["numeric"]), want, TOLERANCE, f"J by {name}")
        total = np.zeros_like(x)
        assert len(document["backward"]) == len(case["calls"])
        for shown, call in zip(document["backward"], case["calls"], strict=True):
            grad = numbers(call["grad"][name])
            total = total + grad
            assert_close(v_times(call["v"], want, y.shape, x.shape), grad, TOLERANCE, "the case itself")
            assert_close(numbers(shown["grad"][name]), grad, TOLERANCE, f"grad by {name}")
            assert_close(numbers(shown["vjp"][name]), grad, TOLERANCE, f"vjp by {name}")
            assert_close(numbers(shown["accumulated"][name]), total, TOLERANCE, f"running total by {name}")
        for key in ("grad", "vjp"):
            assert_close(numbers(document[key][name]), numbers(case["accumulated_grad"][name]), TOLERANCE, key)
    assert document["agreement"]["agree"]
    assert document["agreement"]["finite"]
    sources = {"broadcast"} if case.get("broadcast_v") else {"given", "default", "accumulated"}
    assert document["v"]["source"] in sources


def test_all_the_examples_are_here():
    assert len(CASES) == 28
    assert len({case["id"] for case in CASES}) == 28


@each_case
def test_python(case):
    calls = [call["v"] for call in case["calls"]]
    found = gradcli.explain(case["expression"], calls=calls, wrt=case["wrt"], inputs=case["inputs"])
    check_document(found.to_dict(), case)
    for name in case["wrt"]:
        assert_close(found.grad[name], numbers(case["accumulated_grad"][name]), TOLERANCE, name)


@each_case
def test_the_interfaces_print_the_same_document(case):
    calls = [call["v"] for call in case["calls"]]
    answer = ask("explain", case["expression"], "--json", *flags(case["inputs"], calls, case["wrt"]))
    found = gradcli.explain(case["expression"], calls=calls, wrt=case["wrt"], inputs=case["inputs"])
    assert (answer.code, answer.err) == (0, "")
    assert strict_json(answer.out) == found.to_dict()


@each_case
def test_gradient_alone(case):
    calls = [call["v"] for call in case["calls"]]
    answer = ask("grad", case["expression"], "--json", *flags(case["inputs"], calls, case["wrt"]))
    assert (answer.code, answer.err) == (0, "")
    document = strict_json(answer.out)
    for name in case["wrt"]:
        assert_close(numbers(document["grad"][name]), numbers(case["accumulated_grad"][name]), TOLERANCE, name)
