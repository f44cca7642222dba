"""What people paste: explained as it stands, with PyTorch's own gradients, or refused with the lines at fault."""

# ruff: noqa: E501 - a row is a line

from __future__ import annotations

import json

import numpy as np
import pytest

import gradcli
from gradcli.errors import GradcliError
from oracles import needs_torch
from snippet_rows import RECORDED, Snippet, snippets, theirs

ALL = snippets()
KNOWN = json.loads(RECORDED.read_text(encoding="utf-8"))


def assert_same(found: dict[str, np.ndarray], grads: dict[str, object]) -> None:
    assert set(found) == set(grads)
    for name, grad in grads.items():
        np.testing.assert_allclose(found[name], np.asarray(grad), rtol=1e-12, atol=1e-15, err_msg=name)


def test_there_is_a_table():
    assert len(ALL) >= 60
    assert [one.title for one in ALL] == list(KNOWN)


@pytest.mark.parametrize("snippet", ALL, ids=lambda one: one.title)
def test_a_snippet_is_explained_as_pasted(snippet: Snippet):
    found = gradcli.explain(snippet.text)
    assert found.agreement.agree
    assert found.program.strip() == snippet.text.strip() or ">>>" in snippet.text or "%" in snippet.text
    assert_same(found.grad, KNOWN[snippet.title])


@needs_torch
@pytest.mark.parametrize("snippet", ALL, ids=lambda one: one.title)
def test_the_figures_are_those_of_pytorch(snippet: Snippet):
    assert_same({name: np.asarray(grad) for name, grad in KNOWN[snippet.title].items()}, theirs(snippet.torch))


SNIPPET = """import torch
x = torch.tensor([1., 2.], requires_grad=True)
w = x.detach() + 1
y = w*x**2
v = 2*x.detach()
y.backward(v)
print(x.grad)
"""


def notes(found: gradcli.Explanation) -> dict[str, str]:
    return {note.kind: note.message for note in found.notes}


def test_values_that_are_given_go_before_those_of_the_snippet():
    found = gradcli.explain(SNIPPET, x=[3.0, 5.0])
    np.testing.assert_array_equal(found.grad["x"], [6 * 4 * 6, 10 * 6 * 10])
    np.testing.assert_array_equal(gradcli.explain(SNIPPET, v=[1, 0]).grad["x"], [4, 0])
    np.testing.assert_array_equal(gradcli.explain(SNIPPET, calls=[[1, 0], [1, 0]]).grad["x"], [8, 0])


def test_every_way_to_ask_reads_the_snippet():
    expected = [8.0, 48.0]
    function = gradcli.function(SNIPPET)
    assert function.grad()["x"].tolist() == expected
    assert function.value(x=[1.0, 1.0]).tolist() == [2.0, 2.0]
    assert function.jacobian()["x"].tolist() == [[4.0, 0.0], [0.0, 12.0]]
    assert gradcli.check(SNIPPET).agree
    assert gradcli.check(SNIPPET, expect="[8.0, 48.0]").agree
    assert not gradcli.check(SNIPPET, expect="[8.0, 47.0]").agree
    record = gradcli.answer({"program": SNIPPET})
    assert (record["grad"], record["program"]) == ({"x": expected}, SNIPPET.strip())
    assert [note["kind"] for note in record["notes"]] == ["left-out"]


def test_what_is_left_out_is_said_once():
    assert notes(gradcli.explain(SNIPPET)) == {"left-out": "Left out: line 7, which shows or checks a value."}
    text = "import torch\nx = torch.tensor(2., requires_grad=True)\nprint(x)\ny = x**2\nassert y > 0\n"
    found = notes(gradcli.explain(text + "y.backward()\nx.data -= 0.1*x.grad\nz = x*3\nz.backward()\nx.grad"))
    assert found == {
        "left-out": "Left out: lines 3, 5 and 10, which show or check values.",
        "later-lines": "Left out: lines 7 and 9, which come after the first backward, on line 6, and are no part of "
        "this answer.",
    }
    unread = "import torch\nx = torch.tensor(2., requires_grad=True)\nrows = load('a')\n(x*2).backward()"
    assert notes(gradcli.explain(unread)) == {"left-out": "Left out: line 3, on which the output does not depend."}


def test_calls_after_zeroing_stand_alone():
    text = "\n".join(["import torch", "x = torch.tensor([1., 2.], requires_grad=True)", "y = x**2"])
    calls = "\ny.backward(torch.tensor([1., 0.]))\nx.grad.zero_()\ny.backward(torch.tensor([0., 1.]))"
    found = gradcli.explain(text + calls)
    assert [call.grad["x"].tolist() for call in found.backward] == [[2.0, 0.0], [0.0, 4.0]]
    assert (found.grad["x"].tolist(), found.vjp["x"].tolist()) == ([0.0, 4.0], [0.0, 4.0])
    assert (found.v.tolist(), found.v_source) == ([0.0, 1.0], "given")
    assert "grad-zeroed" in notes(found)
    again = gradcli.explain(text + calls.replace("x.grad.zero_()", "pass"))
    assert (again.grad["x"].tolist(), again.v_source) == ([2.0, 4.0], "accumulated")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("x = x*2", True), ("x = x.view(2)", True), ("x = x.to('cpu')", False), ("x = x.float()", False),
        ("z = x*2", False), ("x = x", False),
    ],
)  # fmt: skip
def test_an_input_whose_name_goes_to_another_tensor_is_told(line, told):
    text = (
        f"import torch\nx = torch.tensor([1., 2.], requires_grad=True)\n{line}\n(x**2).sum().backward()\nprint(x.grad)"
    )
    assert ("rebound-input" in notes(gradcli.explain(text))) is told


def test_a_tensor_with_the_name_of_an_input_is_not_differentiated_by():
    text = "import torch\nx = torch.tensor([1., 2.], requires_grad=True)\nx = x*2\ntorch.autograd.grad((x**2).sum(), x)"
    with pytest.raises(GradcliError, match="another tensor from line 3 on"):
        gradcli.explain(text)


def test_calls_after_zeroing_some_gradients_are_left_out():
    text = (
        "import torch\nx = torch.tensor(1., requires_grad=True)\nw = torch.tensor(2., requires_grad=True)\n"
        "y = w*x\ny.backward(retain_graph=True)\nw.grad.zero_()\ny.backward()"
    )
    found = gradcli.explain(text)
    assert {name: grad.item() for name, grad in found.grad.items()} == {"w": 1.0, "x": 2.0}
    assert "line 7" in notes(found)["later-lines"]


def test_a_function_alone_has_its_parameters_as_inputs():
    found = gradcli.explain("def f(a, n=3.):\n    b = a**2\n    return b*n", a=2.0)
    assert {name: grad.item() for name, grad in found.grad.items()} == {"a": 12.0, "n": 4.0}
    assert gradcli.explain("lambda t: t**3", t=2.0).grad["t"].item() == 12.0


def test_integers_are_noted_as_ever():
    found = gradcli.explain("import torch\nx = torch.tensor([1, 2], requires_grad=True)\n(x*x).sum().backward()")
    assert "integers-as-floats" in notes(found)


def test_numbers_that_are_drawn_are_asked_for():
    text = "import torch\nx = torch.randn(2, requires_grad=True)\nt = torch.rand(2)\n((x - t)**2).sum().backward()"
    found = gradcli.explain(text, x=[1.0, 2.0], t=[0.0, 0.5])
    assert {name: grad.tolist() for name, grad in found.grad.items()} == {"x": [2.0, 3.0]}
    with pytest.raises(GradcliError, match="line 2 draws 'x' at random") as raised:
        gradcli.explain(text)
    assert (raised.value.kind, raised.value.hint) == ("random", "add x=np.linspace(0.1, 1, 2) t=np.linspace(0.1, 1, 2)")
    vector = "import torch\nx = torch.ones(2, requires_grad=True)\ny = x*x\ny.backward(torch.rand(2))"
    with pytest.raises(GradcliError, match="v is drawn at random"):
        gradcli.explain(vector)
    assert gradcli.explain(vector, v=[1, 2]).grad["x"].tolist() == [2.0, 4.0]


def test_a_value_that_decides_what_is_read_is_changed_in_the_snippet():
    text = "import torch\nx = torch.tensor(2., requires_grad=True)\nif x > 1:\n    y = x**2\n    y.backward()"
    assert gradcli.explain(text).grad["x"].item() == 4.0
    with pytest.raises(GradcliError, match="line 3 decides by 'x' which lines run"):
        gradcli.explain(text, x=0.5)


LEAF = "import torch\nx = torch.tensor([1., 2.], requires_grad=True)\n"
REFUSED = [
    ("import os\nx", "not-allowed", "but for torch, numpy, jax, math, scipy and autograd", "import os"),
    ("from os import system\nx", "not-allowed", "'import' is not part", "from os import system"),
    ("from numpy import *\nx", "not-allowed", "'import' is not part", "from numpy import *"),
    ("from . import a\nx", "not-allowed", "'import' is not part", "from . import a"),
    ("import torch\nfrom torch import nn\nclass A(nn.Module): pass\nx", "not-allowed", "'class' is not", None),
    (LEAF + "y = nn.Linear(2, 1)(x)\ny.backward()", "not-allowed", "write F.linear(x, W, b)", "nn.Linear(2, 1)"),
    (LEAF + "y = x**2\ny.register_hook(lambda g: 2*g)\ny.sum().backward()", "not-allowed", "y.register_hook", None),
    (LEAF + "x.grad = torch.ones(2)\n(x*x).sum().backward()", "not-allowed", "its gradient", "x.grad = torch.ones(2)"),
    (LEAF + "torch.set_grad_enabled(False)\n(x*x).sum().backward()", "not-allowed", "is not known", None),
    (LEAF + "with torch.no_grad():\n    x += 1\n(x*x).sum().backward()", "not-allowed", "no_grad", "x += 1"),
    (LEAF + "x.data.sub_(1)\n(x*x).sum().backward()", "in-place", "would change 'x' too", None),
    (LEAF + "torch.nn.init.zeros_(x)\n(x*x).sum().backward()", "not-allowed", "in place", None),
    (LEAF + "y = x*2\ntorch.add(x, 1, out=y)\ny.sum().backward()", "not-allowed", "is not known", None),
    (LEAF + "@torch.no_grad()\ndef f(a): return a\n(f(x)*x).sum().backward()", "not-allowed", "@torch.no_grad()", None),
    (LEAF + "xs = [torch.ones(1, requires_grad=True)]\ny = xs[0]*x\ny.sum().backward()", "not-allowed", "a name", None),
    (LEAF + "def f(n): return x if n == 0 else x*f(n - 1)\nf(3).sum().backward()", "not-allowed", "calls itself", None),
    (LEAF + "def f(a, b): return a*b\nf(x).sum().backward()", "arguments", "f needs b", None),
    (LEAF + "def f(a): return a\nf(x, x).sum().backward()", "arguments", "does not take", None),
    (LEAF + "def f(a):\n    for k in range(3):\n        return a\nf(x).sum().backward()", "not-allowed", "a loop", None),
    (LEAF + "def f(a):\n    if a.sum() > 0:\n        return a\nf(x).sum().backward()", "not-allowed", "every way", None),
    (LEAF + "def f(a):\n    b = a*2\n    return b\nwhile f(x).sum() < 9: x = x*2\nx.sum()", "not-allowed", "run often", None),
    (LEAF + "y = x**2\nx.data *= 2\ny.sum().backward()", "not-allowed", "past its gradient", "x.data *= 2"),
    ("import torch\nx = torch.ones(1)\nw = x\nx.requires_grad_()\n(w*x).sum().backward()", "not-allowed", "also called w", None),
    (LEAF + "def f():\n    return x.sum()\n    x.grad.zero_()\ny = f()\ny.backward()", "not-allowed", "from its middle", None),
    (LEAF + "for r in x:\n    x = x*2\n    r.backward()", "not-allowed", "what it runs over", None),
    (LEAF + "break\nx.sum().backward()", "syntax", "inside a loop", "break"),
    (LEAF + "try:\n    (x*x).backward()\nexcept RuntimeError: pass", "not-allowed", "'try' is not part", None),
    (LEAF + "torch.autograd.backward([x*x, x], [x, x])", "not-allowed", "give their sum", None),
    ("import jax\njax.grad(jax.grad(lambda t: t**3))(2.0)", "not-allowed", "derivative of a derivative", None),
    ("import jax\nprint(jax.hessian(lambda t: t**3)(2.0))", "not-allowed", "not read in a snippet", None),
    ("import jax\nn = 1\njax.grad(lambda a, t: t**3, argnums=n)(1.0, 2.0)", "not-allowed", "plain numbers", None),
    ("print(x)", "syntax", "add the value to explain", None),
    ("x.grad", "syntax", "add the value to explain", None),
    ("x.grad.zero_()", "syntax", "add the value to explain", None),
    ("import torch", "syntax", "add the value to explain", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "words", "marked"), REFUSED)
def test_what_cannot_be_read_is_refused(text: str, kind: str, words: str, marked: str | None):
    with pytest.raises(GradcliError) as raised:
        gradcli.explain(text)
    error = raised.value
    assert error.kind == kind
    assert any(word in f"{error.message}\n{error.hint}" for word in words.split("|"))
    if marked is not None:
        assert error.span is not None
        assert error.place is not None
        assert error.place.text[slice(*error.span)] == marked


def test_all_that_cannot_be_read_is_said_at_once():
    text = "import torch\na = foo(3)\nx = torch.tensor([1.], requires_grad=True)\ny = bar(x) + a\ny.frob().backward()"
    with pytest.raises(GradcliError) as raised:
        gradcli.explain(text)
    error = raised.value
    assert error.message == "3 lines of this snippet cannot be read"
    assert error.hint is not None
    assert [line.partition(":")[0] for line in error.hint.splitlines()] == ["line 2", "line 4", "line 5"]
    assert error.span == (text.index("foo"), text.index("foo") + 3)


def test_one_fault_of_many_lines_is_said_once():
    text = "\n".join(["import os", *["x; import os"] * 40, "x"])
    with pytest.raises(GradcliError) as raised:
        gradcli.explain(text, x=1.0)
    assert raised.value.message == "41 lines of this snippet cannot be read"
    assert raised.value.hint is not None
    assert raised.value.hint.startswith("lines 1, 2, 3, 4, 5 and 36 others: 'import' is not part of the language")
    assert "\n" not in raised.value.hint


@pytest.mark.parametrize(("line", "marked"), [
    ("y = torch.stack([x, sinn(x)])", "sinn"),
    ("y = f(x) + torch.ones(3)", "f(x) + torch.ones(3)"),
    ("y = FF.relu(x)[5]", "FF.relu(x)[5]"),
])  # fmt: skip
def test_errors_point_at_the_lines_that_were_typed(line: str, marked: str):
    head = "import torch.nn.functional as FF\nimport torch\ndef f(a):\n    return a**2\n"
    text = f"{head}x = torch.tensor([1., 2.], requires_grad=True)\n{line}\ny.sum().backward()"
    with pytest.raises(GradcliError) as raised:
        gradcli.explain(text)
    assert raised.value.span is not None
    assert text[slice(*raised.value.span)] == marked


@pytest.mark.slow
def test_functions_within_functions_are_bounded():
    text = "import torch\nx = torch.tensor(1., requires_grad=True)\nf0 = lambda t: t + t\n"
    text += "".join(f"f{k} = lambda t: f{k - 1}(t) + f{k - 1}(t)\n" for k in range(1, 19))
    with pytest.raises(GradcliError, match="budget"):
        gradcli.explain(text + "f18(x).backward()")
