"""What deserves a sentence: each kind of note where it belongs, and silence elsewhere."""

import numpy as np
import pytest

import gradcli
from oracles import ask, flags, portion_of_rows, strict_json

ONES = object()
SAID = [  # program, inputs, v, kind, words of the sentence
    ("relu(x)", {"x": [0.0, 1.0]}, ONES, "kink", "relu has a kink in entry [0] at this point; there 0 is taken"),
    ("abs(x)", {"x": [0.0, 0.0, 1.0]}, ONES, "kink", "abs has a kink in entries [0] and [1] at this"),
    ("max(x)", {"x": [2.0, 1.0, 2.0]}, None, "kink", "the gradient is shared evenly"),
    ("amax(A, dim=1, keepdim=True)", {"A": [[1.5, 1.5], [2.0, 1.0], [0.5, 0.25]]}, ONES, "kink", "in entry [0,0]"),
    ("norm(x)", {"x": [0.0, 0.0]}, None, "kink", "norm has a kink at this point; there 0 is taken"),
    ("norm(x, 1)", {"x": [0.0, 2.0]}, None, "kink", "norm has a kink"),
    ("std(x)", {"x": [1.5, 1.5]}, None, "kink", "there 0 is taken"),
    ("median(x)", {"x": [1.5, 1.5, 0.5]}, None, "kink", "median has a kink at this point; there the"),
    ("A.max(dim=1).values", {"A": [[1.5, 1.5], [0.5, 2.5]]}, ONES, "kink", "in entry [0] at this point"),
    ("sort(x).values", {"x": [1.5, 2.5, 1.5]}, ONES, "kink", "sort has a kink in entries [0] and [1] at this point"),
    ("sort(x).values", {"x": [1.5, 2.5, 0.5]}, ONES, None, ""),
    ("norm(x)", {"x": [0.0, 2.0]}, None, None, ""),
    ("floor(x)*x", {"x": 1.5}, None, "flat", "floor is flat"),
    ("sign(x)*x", {"x": 1.5}, None, "flat", "sign is flat"),
    ("frac(x)", {"x": 1.5}, None, "flat", "trunc in frac is flat"),
    ("svdvals(diag(x))", {"x": [0.0, 0.0]}, ONES, "kink", "svdvals has a kink in entries [0] and [1]"),
    ("x*x", {"x": 1.5}, None, None, ""),
    ("x + 0*y", {"x": 1.5, "y": 2.5}, None, "linear", "f is linear in x"),
    ("x[0]*2", {"x": [1.5, 2.5]}, None, "unused-input", "y does not depend on x[1]"),
    ("z = 2*x; 5*t", {"x": 1.5, "t": 2.5}, None, "unused-input", "y does not depend on x: its gradient is 0"),
    ("a = y*2.0; x**2", {"y": 2.5, "x": 3.5}, None, "unused-input", "f does not depend on y: its gradient is 0, and"),
    ("y = x*1.0; y[0]", {"x": [3.5, 4.5]}, None, "unused-input", "f does not depend on x[1]."),
    ("h = x*t; loss = x**2", {"t": 2.5, "x": 3.5}, None, "unused-input", "PyTorch leaves t.grad None"),
    ("stack([floor(x[0]), x[1]])", {"x": [2.5, 1.5]}, ONES, "unused-input", "on x[0], or only through floor."),
    ("max(x)", {"x": [2.5, 1.5]}, None, "unused-input", "y does not depend on x[1] at this point."),
    ("median(x)", {"x": [2.5, 1.5, 3.5]}, None, "unused-input", "y does not depend on x[1] and x[2] at this point."),
    ("x[x > 2]", {"x": [2.5, 1.5]}, ONES, "unused-input", "y does not depend on x[1] at this point."),
    ("x[argmax(x)]", {"x": [2.5, 1.5]}, None, "unused-input", "y does not depend on x[1] at this point."),
    ("x if t else 2*x", {"x": 2.5, "t": 1.5}, None, "unused-input", "y does not depend on t at this point"),
    ("where(x > 1, x, t)", {"x": 2.5, "t": 1.5}, None, "unused-input", "on t at this point: its gradient is 0."),
    ("torch.linalg.svd(A).Vh[1]", {"A": [[1.0, 2]]}, ONES, "unused-input",
     "y does not depend on A, or only through vectors without a derivative: its gradient is 0."),
    ("torch.linalg.svd(A).Vh[1] + A[0,0]", {"A": [[1.0, 2]]}, ONES, "unused-input",
     "y does not depend on A[0,1], or only through vectors without a derivative."),
    ("x[:0].sum() + t", {"x": [2.5], "t": 1.5}, None, "unused-input", "y does not depend on x: its gradient is 0."),
    ("x[0]*ones(9).sum()", {"x": [0.5]*2005}, None, "unused-input", "on x[1], x[2], x[3] and 2,001 others."),
    ("x.detach()*t", {"x": 2.5, "t": 1.5}, None, "unused-input", "y depends on x only through detach, which passes"),
    ("x.detach()*x[0]", {"x": [2.5, 1.5]}, ONES, "unused-input", "y does not depend on x[1], or only through detach."),
    ("linalg.svd(x).Vh[2]", {"x": [[1.0, 2.0, 3.0], [4.0, 5.0, 7.0]]}, ONES, "unused-input", "vectors without a deriv"),
    ("where([True, False], x, 3)", {"x": [2.5, 1.5]}, ONES, "unused-input", "y does not depend on x[1]."),
    ("sqrt(x**2)", {"x": 0.0}, None, "routes-differ", "it multiplies 0 by inf, as PyTorch does. In J the 0 wins."),
    ("clip(x, 0, 1)", {"x": [0.0, 1.0, 0.5, 0.0]}, ONES, "kink", "clip has a kink in entries [0], [1] and [3]"),
    ("torch.clamp(x, 0, 1)", {"x": 0.0}, None, "kink", "clamp has a kink at this point; there 1 is taken"),
    ("F.l1_loss(x, y)", {"x": 1.5, "y": 1.5}, None, "kink", "l1_loss has a kink at this point"),
    ("x*0 + 1 if x > 5 else 2", {"x": 1.5}, None, "constant-output", "every gradient is 0"),
    ("x[None]*2", {"x": [1.5, 2.5]}, [1.0, 2.0], "v-reshaped", "from (2,) to (1, 2)"),
    ("sum(x)", {"x": [1.5, 2.5]}, [1.0, 2.0], "v-broadcast", "so x.grad is sum(v)*J"),
    ("x**2", {"x": 3}, None, "integers-as-floats", "x is given in integers, read as floats"),
    ("W @ x", {"W": [[1, 2]], "x": [3, 4]}, ONES, "integers-as-floats", "W and x are given in integers"),
    ("x**2", {"x": [3, 4.5]}, ONES, None, ""),
    ("sum(x)*t", {"x": [2.5, 1.5], "t": 3}, None, "integers-as-floats", "t is given in integers"),
    ("tanh(x)", {"x": [0.5, 25.0]}, ONES, "torch-loses-digits", "PyTorch's derivative of tanh has lost its digits in"),
    ("sigmoid(x)", {"x": 40.0}, None, "torch-loses-digits", "it is 0 there, and 4.24835e-18 is right"),
    ("(x + 1e8) - 1e8", {"x": 1.3}, None, "digits-lost", "The two sides of a difference cancel"),
    ("((x + 1e16) - 1e16)**2", {"x": 1.3}, None, "digits-lost", "y is 4.0 here and truly 1.69"),
    ("exp(x)*1e-300*exp(-x)", {"x": 700.0}, None, "digits-lost", "of y"),
    ("sum(searchsorted([x + 0.2, 2.0, 3.0], [0.30000000000000004, 2.5]))*x", {"x": 0.1}, None, "rounding-decides",
     "Rounding decides searchsorted"),
    ("while x < 1:\n    x = x + 0.1*x0\nx", {"x": 0.0, "x0": 1.0}, None, "rounding-decides", "Rounding decides"),
    ("floor([x, 0.3*x]*10)", {"x": 1.0}, ONES, "rounding-decides", "floor(3) in entry [1] (2.9999999999999998890 with"),
    ("max([(x + 1) - x, 0.5, 0.25])", {"x": 1e16}, None, "rounding-decides", "([0, ...]) ([1, ...] with more digits)"),
    ("where(x > 0, x, -x)", {"x": 0.0}, None, "kink", "its slope is -1 on the left and 1 on the right"),
    ("x % 1", {"x": 2.0}, None, "jump", "y jumps at this point"),
    ("sqrt(x)", {"x": 0.0}, None, "infinite-slope", "y is infinitely steep at this point"),
    ("x**1.5", {"x": 0.0}, None, "edge", "y has no value on the left of this point"),
    ("1 - cos(x)", {"x": [0.5, 1e-7]}, ONES, "digits-lost", "of y 3 are right, of J"),
    ("x - 1", {"x": 1.0000000001}, None, "linear", "second derivatives are 0"),
    ("x - x", {"x": 1.5}, None, "zero-gradient", "it is truly 0"),
    ("tanh(x) + sigmoid(x)", {"x": [0.5, -2.0, 7.0]}, ONES, None, ""),
    ("log(x)", {"x": [1.5, 0.0]}, ONES, "not-finite", "log(x) is the first value that is not finite: -inf"),
    ("y = 2*x; z = log(y); z + 1", {"x": 0.0}, None, "not-finite", "z = log(2*x) is the first value"),
    ("sqrt(x)", {"x": [4.0, 0.0]}, ONES, "not-finite", "the first whose derivative is not finite: inf in entry [1]"),
    ("where(x > 0, log(x), x)", {"x": -1.5}, None, "not-finite", "nan, though y is finite"),
    ("where(x > 0, sqrt(x), x)", {"x": -1.5}, None, "zero-times-infinity", "first to give nan: 0 times its infinite"),
    ("where(x > 1, sqrt(x - 1), x)", {"x": 1.0}, None, "zero-times-infinity", "back, sqrt(x - 1) is the first"),
    ("1/(1 + exp(-x))", {"x": -1000.0}, None, "zero-times-infinity", "back, exp(-x) is the first"),
    ("where(x > 0, sqrt(x), x)", {"x": -1.5}, None, "routes-differ", "multiplies 0 by inf"),
    ("det(x)", {"x": [[1.0, 2.0], [2.0, 4.0]]}, None, "routes-differ", "reverse mode PyTorch's"),
    ("where(x > 0, sqrt(x), x)", {"x": 4.0}, None, None, ""),
    ("where(x > 0, sqrt(where(x > 0, x, 1)), x)", {"x": -4.0}, None, None, ""),
]  # fmt: skip


def explained(program, inputs, v):
    ones = np.ones(gradcli.function(program, wrt=()).value(**inputs).shape) if v is ONES else v
    return gradcli.explain(program, inputs=inputs, v=ones)


@pytest.mark.parametrize(("program", "inputs", "v", "kind", "words"), SAID)
def test_notes(program, inputs, v, kind, words):
    notes = explained(program, inputs, v).notes
    if kind is None:
        assert notes == []
        return
    found = [note.message for note in notes if note.kind == kind]
    assert any(words in message for message in found), notes


@pytest.mark.parametrize(
    ("program", "inputs", "kind"), portion_of_rows([(p, x, kind) for p, x, v, kind, _ in SAID if kind and v is None], 3)
)
def test_notes_are_in_every_format(program, inputs, kind):
    document = strict_json(ask("explain", program, "--json", *flags(inputs)).out)
    assert kind in [note["kind"] for note in document["notes"]]
    message = next(note["message"] for note in document["notes"] if note["kind"] == kind)
    assert f"note: {message}" in ask("explain", program, "--format", "plain", *flags(inputs)).out
    table = ask("explain", program, "--width", "400", *flags(inputs)).out
    assert message in table
    assert all(len(note["message"]) < 260 for note in document["notes"]), "a sentence, not a page"


@pytest.mark.parametrize("text", ["3", "[1,2]", "1,2;3,4", "-5"])
def test_integers_are_noticed_as_they_are_typed(text):
    assert "given in integers" in ask("explain", "sum(x)", "--x", text).out


@pytest.mark.parametrize("text", ["3.0", "3.", "1e3", "1,2.5", "-0", "9007199254740993", "pi"])
def test_floats_are_floats(text):
    assert "given in integers" not in ask("explain", "sum(x)", "--x", text).out


def test_a_step_of_a_long_program_is_not_written_out():
    program = "y = x\nfor i in range(3000):\n    y = y*1.001\nlog(y - y)"
    [note, *_] = [n for n in gradcli.explain(program, x=1.5).notes if n.kind == "not-finite"]
    assert note.message.startswith("log is the first value")
