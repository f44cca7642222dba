"""What shares memory in PyTorch: a write that another variable sees is seen, and one that it does not see is not."""

from __future__ import annotations

import pytest

import gradcli

VIEWS = [
    "y", "y[0:2]", "y[...]", "y[None]", "y[::2]", "y.detach()", "y.double()", "y.view(3, 1)", "y.reshape(1, 3)", "y.T",
    "y.flatten()", "y.squeeze()", "y.unsqueeze(0)", "y.expand(2, 3)", "y.detach()[1:]", "y.view(3, 1).T",
    "outer(y, y).diagonal()", "outer(y, y).T", "outer(y, y).permute(1, 0)", "outer(y, y).transpose(0, 1)",
]  # fmt: skip
COPIES = ["y.clone()", "y*1", "y[[0, 1]]", "y[y > 1]", "y.float()", "y.flip(0)", "roll(y, 1)", "cat([y, y])",
          "diag(y)", "y.detach().clone()", "y.repeat(2)", "sort(y).values", "torch.stack([y[0], y[1]])",
          "where(y > 1, y, 0)"]  # fmt: skip


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("start", ["2*x", "zeros(3)"])
def test_a_write_that_a_view_shows_is_seen(view, start):
    base = view.partition(".")[0] if view.startswith("outer") else "y"
    program = f"y = {start}\nw = {base}\nz = {view.replace(base, 'w', 1)}\nu = 1*z\nw += 5*x[0]\nsum(z - u)"
    changed = gradcli.explain(program, x=[1.0, 2.0, 3.0])
    assert changed.output != 0
    assert changed.agreement.agree


@pytest.mark.parametrize("copy", COPIES)
@pytest.mark.parametrize("start", ["2*x", "ones(3)*2"])
def test_a_write_that_no_copy_shows_is_done(copy, start):
    program = f"y = {start}\nz = {copy}\nu = 1*z\ny[0] = 5*x[0]\nsum(z - u) + 0*sum(y)"
    found = gradcli.explain(program, x=[1.0, 2.0, 3.0])
    assert found.output == 0
    assert found.agreement.agree


@pytest.mark.parametrize("write", ["y[0] = 0", "y[1, 2] = x[0]", "y += 1", "y *= x"])
@pytest.mark.parametrize("view", ["expand(2, 3)", "view(1, 3).expand(2, -1)", "expand(1, 2, 3)[0]"])
def test_what_shows_one_number_as_several_entries_is_not_written_to(view, write):
    program = f"y = (2*x).{view}\n{write}\nsum(y)"
    with pytest.raises(gradcli.GradcliError, match="'y' shows one number as several entries") as raised:
        gradcli.function(program).value(x=[1.0, 2.0, 3.0])
    assert raised.value.kind == "in-place"
    found = gradcli.explain(program.replace(view, f"{view}.clone()"), x=[1.0, 2.0, 3.0])
    assert found.agreement.agree


@pytest.mark.parametrize("write", ["y[0] = 3.0", "y += 1", "y *= x"])
def test_the_leaf_behind_a_detached_value_is_not_written_to(write):
    with pytest.raises(gradcli.GradcliError, match="would change 'x' too"):
        gradcli.function(f"y = x.detach()\n{write}\ny*x").value(x=[1.0, 2.0])
