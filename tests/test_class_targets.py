"""Classes and positions that are given as variables: they are no floats, do not move, and have no gradient."""

import numpy as np
import pytest

import gradcli
from oracles import ask, cases, flags

WITH_CLASSES = cases("class_targets.toml")["WITH_CLASSES"]  # program, its inputs


@pytest.mark.parametrize(("program", "inputs"), WITH_CLASSES)
def test_classes_are_not_differentiated(program, inputs):
    found = gradcli.explain(program, inputs=inputs)
    assert found.agreement.verdict == "agree", found.notes
    assert "t" not in found.grad
    assert not any("depend on t" in note.message for note in found.notes)
    assert "integers-as-floats" not in [note.kind for note in found.notes]
    alone = gradcli.explain(program, inputs=inputs, wrt="x")
    np.testing.assert_array_equal(found.grad["x"], alone.grad["x"])


@pytest.mark.parametrize(("program", "inputs"), WITH_CLASSES)
def test_check_confirms_them(program, inputs):
    found = gradcli.check(program, inputs=inputs)
    assert found.verdict == "right", found
    assert not any(comparison.unclear for comparison in found.comparisons)


@pytest.mark.parametrize(("program", "inputs"), WITH_CLASSES[:1] + WITH_CLASSES[8:9])
def test_pytorch_wants_integers_there(program, inputs):
    """What is refused under --strict is an integer where PyTorch wants a float."""
    assert ask("explain", program, "--strict", *flags(inputs)).code == 0
    refused = ask("explain", f"({program})*s", "--strict", "--s", "2", *flags(inputs))
    assert refused.code == 2
    assert "s is given in integers" in refused.err


def test_grad_takes_integers_for_positions_as_explain_does():
    for command in ("grad", "explain"):
        assert ask(command, "x[i]", "--strict", "--x", "1.,2.,3.", "--i", "1").code == 0
        assert ask(command, "x[i]*i", "--strict", "--x", "1.,2.,3.", "--i", "1").code == 2


@pytest.mark.parametrize("program", ["y + x.detach()", "y*(x > 1)", "y + 0*x"])
def test_an_input_that_is_no_class_must_be_a_float_in_pytorch(program):
    assert "integers-as-floats" in [note.kind for note in gradcli.explain(program, x=3, y=2.5).notes]
    assert "x is given in integers" in ask("explain", program, "--strict", "--x", "3", "--y", "2.5").err


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_labels_of_0_and_1_are_no_edge(reduction):
    """The loss goes on beside a label, though a label outside of 0 to 1 is refused."""
    program, inputs = f"bce(p, t, reduction='{reduction}')", {"p": [0.3, 0.55, 0.8], "t": [1.0, 0.0, 1.0]}
    found = gradcli.check(program, inputs=inputs)
    assert found.verdict == "right", found
    assert "edge" not in [note.kind for note in found.notes]
    slopes = np.log(1 - np.array(inputs["p"])) - np.log(inputs["p"])
    grad = gradcli.function(program, wrt="t").grad(v=np.ones(3) if reduction == "none" else None, **inputs)["t"]
    np.testing.assert_allclose(grad, slopes / 3 if reduction == "mean" else slopes, rtol=1e-14)
    assert ask("check", program, "--p", "0.3,0.55", "--t=1,1.5").code == 2


@pytest.mark.parametrize("target", ["0.5", "3", "-1"])
def test_what_is_no_class_is_refused(target):
    found = ask("explain", "cross_entropy(x, t)", "--x", "1.5,2.5,0.5", f"--t={target}")
    assert found.code == 2
    assert "cross_entropy: classes must be integers from 0 to 2" in found.err
