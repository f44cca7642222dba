"""What changes gradients or inputs inside of an expression is refused, or told: no line by itself shows it."""

from __future__ import annotations

import pytest

import gradcli
from gradcli.errors import GradcliError

LEAF = "import torch\nx = torch.tensor([1., 2.], requires_grad=True)\n"
LOSS = "\n(x*x).sum().backward()"
REFUSED = [
    ("h = x.register_hook(lambda g: g*2)" + LOSS, "x.register_hook"),
    ("x.register_hook(lambda g: g*2)" + LOSS, "x.register_hook"),
    ("hs = [p.register_hook(lambda g: -g) for p in [x]]" + LOSS, "p.register_hook"),
    ("for p in [x]:\n    p.register_hook(lambda g: g.clamp(-1, 1))" + LOSS, "p.register_hook"),
    ("def f(a):\n    h = a.register_hook(lambda g: g*2)\n    return a*a\nf(x).sum().backward()", "a.register_hook"),
    ("y = x*3\nh = y.register_hook(lambda g: g*10)\ny.sum().backward()\nh.remove()", "y.register_hook"),
    ("x.register_post_accumulate_grad_hook(print)" + LOSS, "x.register_post_accumulate_grad_hook"),
    ("y = x*2\nn = y.grad_fn\nh = n.register_prehook(lambda g: g)\ny.sum().backward()", "n.register_prehook"),
    ("reg = x.register_hook\nh = reg(lambda g: g*2)" + LOSS, "x.register_hook"),
    ("h = getattr(x, 'register_hook')(lambda g: g*2)" + LOSS, "getattr"),
    ("setattr(x, 'requires_grad', False)\nw = torch.ones(2, requires_grad=True)\n(w*x).sum().backward()", "setattr"),
    ("was = torch.set_grad_enabled(False)\ny = x*2\n(y*x).sum().backward()", "torch.set_grad_enabled"),
    ("s = torch.set_grad_enabled\ns(False)\ny = x*2\n(y*x).sum().backward()", "torch.set_grad_enabled"),
    ("from torch import set_grad_enabled as s\nwas = s(False)\ny = x*2\n(y*x).sum().backward()", "s"),
    (
        "c = torch.no_grad()\nc.__enter__()\ny = x*2\nc.__exit__()\n(y*x).sum().backward()",
        "c.__enter__",
    ),
    ("w = torch.ones(2, requires_grad=True)\nf = w.requires_grad_(False)\n(w*x).sum().backward()", "w.requires_grad_"),
    ("loss = (x*x).sum()\n_ = loss.backward()\n(x*x*x).sum().backward()", "loss.backward"),
    ("f = lambda loss: loss.backward()\nf((x*x).sum())\nf((x*x*x).sum())", "f((x*x*x).sum())"),
    ("y = x*2\n(y := y*5)\ny.sum().backward()", "y := y*5"),
    ("y = x*2\nif True: (y := y*5)\ny.sum().backward()", "y := y*5"),
    ("y = x*2\nprint(y := y*3)\ny.sum().backward()", "y := y*3"),
    ("y = x*2\nassert (y := y*3).sum() > 0\ny.sum().backward()", "y := y*3"),
    ("y = x*2\n[y := y + k for k in range(2)]\ny.sum().backward()", "y := y + k"),
    ("ys = [x[0]*1, x[1]*1]\nprint(ys.pop())\nsum([v*v for v in ys]).backward()", "ys.pop"),
    ("ys = [x[0]*1, x[1]*1]\nassert ys.pop() is not None\nsum([v*v for v in ys]).backward()", "ys.pop"),
    ("y = x*2\nprint(exec('y = y*3'))\ny.sum().backward()", "exec"),
    ("y = x*2\nglobals()['y'] = y*3\ny.sum().backward()", "globals"),
    ("y = x*2\nvars()['y'] = y*3\ny.sum().backward()", "vars"),
    ("torch.no_grad().__enter__()\ny = x*2\n(x*y).sum().backward()", "torch.no_grad().__enter__"),
    *(
        (f"h = x*2\n{line}\n(h*x).sum().backward()", line)
        for line in (
            "print(h.detach_())",
            "assert h.detach_() is not None",
            "print(torch.add(h, 1, out=h))",
            "print(torch.nn.init.zeros_(h))",
            "print(h.__setitem__(0, 5.))",
            "print(h.__iadd__(2))",
            "print(h.numpy().fill(3))",
            "print(h.numpy().sort())",
            "print(torch.relu_(h))",
            "print(torch.nn.functional.relu(h, inplace=True))",
            "h.sum().backward(h.detach().mul_(3))",
        )
    ),
    ("y = (x*x).sum()\n[y.backward(retain_graph=True) for _ in range(2)]", "y.backward"),
]
LATER = [
    ("\nh = x.register_hook(lambda g: g*2)" + LOSS, "lines 4 and 5"),
    ("\nopt = torch.optim.SGD([x], lr=0.1)\n_ = opt.step()" + LOSS, "lines 5 and 6"),
    ("\nn = torch.nn.utils.clip_grad_norm_([x], 0.1)", "line 4"),
    ("\nx.grad.mul_(3)" + LOSS, "lines 4 and 5"),
    ("\nx.grad.detach_()" + LOSS, "lines 4 and 5"),
    ("\nif x.grad.sum() > 100:\n    x.grad.zero_()" + LOSS, "lines 4 and 6"),
]
"""What comes after the first backward is no part of the answer, and the note names each line."""


@pytest.mark.parametrize(("text", "marked"), REFUSED)
def test_an_effect_inside_of_an_expression_is_refused_where_it_stands(text, marked):
    with pytest.raises(GradcliError, match=r"is not known|':=' is not|may write to|what it writes to") as caught:
        gradcli.explain(LEAF + text)
    assert caught.value.place.text[slice(*caught.value.span)] == marked


@pytest.mark.parametrize(("text", "lines"), LATER)
def test_an_effect_after_the_first_backward_ends_the_answer(text, lines):
    found = gradcli.explain(LEAF.rstrip() + LOSS + text)
    assert found.grad["x"].tolist() == [2, 4]
    [note] = [note.message for note in found.notes if note.kind == "later-lines"]
    assert note.startswith(f"Left out: {lines}, which")


def test_a_block_that_changes_what_backward_reads_is_refused():
    text = (
        "with torch.autograd.graph.saved_tensors_hooks(lambda t: t*2, lambda t: t):\n    y = (x*x).sum()\ny.backward()"
    )
    with pytest.raises(GradcliError, match="'with' is not part of the language"):
        gradcli.explain(LEAF + text)


@pytest.mark.parametrize(
    "shown",
    ["h.sort()", "torch.sort(h)", "np.sort(h.detach().numpy())", "h.grad_fn, h.sum().item()", "len(h)"],
)
def test_what_only_shows_a_value_is_left_out(shown):
    text = f"import numpy as np\n{LEAF}h = x*2\nprint({shown})\n(h*x).sum().backward()"
    assert gradcli.explain(text).grad["x"].tolist() == [4, 8]


@pytest.mark.parametrize(
    "made",
    ["Parameter(torch.ones(2), False)", "Parameter(torch.ones(2), requires_grad=False)",
     "Parameter(torch.ones(2)).requires_grad_(False)"],
)  # fmt: skip
def test_a_parameter_may_have_no_gradient(made):
    found = gradcli.explain(LEAF + f"w = torch.nn.{made}\n(w*x).sum().backward()")
    assert {name: grad.tolist() for name, grad in found.grad.items()} == {"x": [1, 1]}


def test_a_loop_of_several_outputs_answers_for_its_first_turn():
    found = gradcli.explain(LEAF + "for k in range(1, 4):\n    y = (x*x).sum()*k\n    y.backward()")
    assert found.grad["x"].tolist() == [2, 4]
    [note] = [note.message for note in found.notes if note.kind == "later-lines"]
    assert note == (
        "Left out: line 5, which comes after the first backward, on line 5, and is no part of this answer: "
        "it is that of the first turn of the loop."
    )


def test_gradients_that_are_set_to_zero_are_counted_from_there():
    assert gradcli.explain(LEAF + LOSS.strip() + "\nx.grad.zero_()" + LOSS).grad["x"].tolist() == [2, 4]
    assert gradcli.explain(LEAF + LOSS.strip() + LOSS).grad["x"].tolist() == [4, 8]
