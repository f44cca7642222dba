"""The lines that answer what beginners ask, and the records beside them, held against PyTorch."""

import numpy as np
import pytest

import gradcli
from oracles import TORCH, cases, needs_torch

TABLES = cases("short_answers.toml")

if TORCH:
    import torch

LINEAR = TABLES["LINEAR"]  # program, inputs


def scope_of(inputs):
    """Return the names that PyTorch runs a formula with, the inputs as leaves."""
    leaves = {name: torch.tensor(value, dtype=torch.float64, requires_grad=True) for name, value in inputs.items()}
    functions = {name: getattr(torch, name) for name in ("sum", "mean", "relu", "abs", "where", "cumsum")}
    return leaves, {**functions, **leaves}


def notes_of(program, kind, **inputs):
    """Return the messages of one kind of note."""
    return [note.message for note in gradcli.explain(program, **inputs).notes if note.kind == kind]


@needs_torch
@pytest.mark.parametrize(("program", "inputs"), LINEAR)
def test_a_linear_note_stands_where_pytorch_raises(program, inputs):
    wrt = ["x"]
    leaves, scope = scope_of(inputs)
    y = eval(program, scope)  # noqa: S307 - a formula of this file
    [g] = torch.autograd.grad(y, leaves["x"], create_graph=True)
    notes = [note for note in gradcli.explain(program, **inputs, wrt=wrt).notes if note.kind == "linear"]
    if "W" in inputs:
        assert g.requires_grad  # W is a leaf there, and a constant where the answer is by x alone
        assert len(notes) == 1
    else:
        assert bool(notes) == (not g.requires_grad)


SHARED = TABLES["SHARED"]  # program, inputs, what is broadcast: name and times


@pytest.mark.parametrize(("program", "inputs", "times"), SHARED)
def test_a_broadcast_input_adds_as_many_terms(program, inputs, times):
    found = gradcli.explain(program, **inputs)
    assert {one.name: one.times for one in found.broadcasts} == times
    assert [note.kind for note in found.notes if note.kind == "broadcast"] == ["broadcast"] * bool(times)


@needs_torch
def test_the_terms_of_samples_are_the_gradients_of_the_samples():
    rng = np.random.default_rng(0)
    X, t, w, b = rng.normal(size=(12, 3)), rng.normal(size=12), rng.normal(size=3), rng.normal()
    found = gradcli.explain("mean((X @ w + b - t)**2)", X=X, t=t, w=w, b=b, wrt=["w", "b"]).samples
    assert found.count == 12
    assert [sample.index for sample in found.shown] == [0, 1, 2, 3, 4, 5, 6, 11]
    assert found.rest == {}
    for sample in found.shown:
        leaves = [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in (w, b)]
        i = sample.index
        own = (torch.tensor(X[i]) @ leaves[0] + leaves[1] - t[i]) ** 2
        (own / 12).backward()
        assert sample.loss == pytest.approx(own.item(), rel=1e-12)
        np.testing.assert_allclose(sample.grad["w"], leaves[0].grad.numpy(), rtol=1e-12)
        np.testing.assert_allclose(sample.grad["b"], leaves[1].grad.numpy(), rtol=1e-12)


MEANS = TABLES["MEANS"]  # program, whether it is a mean over samples


@pytest.mark.parametrize(("program", "is_mean"), MEANS)
def test_the_terms_of_samples_add_up_to_the_gradient(program, is_mean):
    X = [[1.0, 2.0], [0.5, -1.0], [2.0, 0.25]]
    given = {"X": X} if "X" in program else {}
    found = gradcli.explain(program, **given, w=[0.5, -0.75], wrt=["w"])
    assert (found.samples is not None) == is_mean
    if is_mean:
        total = sum(sample.grad["w"] for sample in found.samples.shown) + found.samples.rest.get("w", 0)
        np.testing.assert_allclose(total, found.grad["w"], rtol=1e-12)
        assert bool(found.samples.rest) == ("0.1" in program)


def test_samples_have_the_rows_of_a_matrix_of_losses():
    found = gradcli.explain("mean((X*w)**2)", X=[[1.0, 2.0], [3.0, 4.0]], w=[1.0, 1.0], wrt=["w"]).samples
    assert [sample.loss for sample in found.shown] == [2.5, 12.5]
    assert [sample.grad["w"].tolist() for sample in found.shown] == [[0.5, 2.0], [4.5, 8.0]]


def test_a_quotient_shares_digits_with_the_gradient():
    trial = gradcli.explain("sum(x**3)", x=[1.5, 2.0]).trial
    assert (trial.name, trial.index, trial.gradient, trial.routes) == ("x", (0,), 6.75, 0.0)
    assert trial.quotient == pytest.approx(6.75, rel=1e-9)
    assert 9 <= trial.digits <= 15
    assert trial.sentence.startswith("The difference quotient by x[0] is 6.75, right to ")
    step = np.float32(5e-3)
    single = float((np.float32(1.5 + step) ** 3 - np.float32(1.5 - step) ** 3) / (2 * step))
    assert abs(single - 6.75) / 6.75 < 10.0 ** (1 - trial.single)


def test_passes_say_what_each_way_takes():
    assert gradcli.explain("sum(x**2)", x=[1.0, 2.0]).passes.sentence == (
        "One reverse pass gives the gradient; forward mode takes 2, one for each input."
    )
    assert gradcli.explain("A @ x", A=np.ones((2, 3)), x=np.ones(3), v=[1, 1], wrt=["x"]).passes.sentence == (
        "J: 2 reverse passes, one for each output, or 3 forward, one for each input."
    )
    sparse = gradcli.explain("x**2", x=[1.0, 2.0], v=[1, 1]).passes
    assert "(1 if rows without a common column share a pass)" in sparse.sentence


SCRIPT = """
import torch
x = torch.tensor([1.5, 2.5], requires_grad=True)
h = x**2
y = (3*h).sum()
{}y.backward()
print(h.grad)
"""


def test_a_computed_value_has_no_grad_unless_it_is_retained():
    [said] = notes_of(SCRIPT.format(""), "inner-grad")
    assert said == "h.grad is None, as h is computed and no leaf: after h.retain_grad() it is [3, 3]."
    assert notes_of(SCRIPT.format("h.retain_grad(); "), "inner-grad") == []


def test_what_grad_returns_leaves_grad_alone():
    lines = "import torch\nx = torch.tensor(1.5, requires_grad=True)\ny = x**2\n"
    call = "g, = torch.autograd.grad(y, x, retain_graph=True)\n"
    [said] = notes_of(f"{lines}{call}", "grad-returns")
    assert said == "torch.autograd.grad returns a tuple with what is x.grad here; in PyTorch x.grad stays None."
    assert notes_of(f"{lines}y.backward()\n", "grad-returns") == []


def test_a_column_has_a_gradient_that_is_a_column():
    assert notes_of("sum(x**2)", "grad-shape", x=[[1.0], [2.0]]) == [
        "x.grad has the shape of x, (2, 1): it is a column too."
    ]
    assert notes_of("sum(x**2)", "grad-shape", x=[1.0, 2.0]) == []


def test_an_answer_has_two_of_these_lines_at_the_most():
    found = gradcli.explain("sum(2*x + b + c)", x=[[1.0], [2.0]], b=1.0, c=2.0)
    kinds = [note.kind for note in found.notes]
    assert kinds == ["broadcast", "grad-shape"]


@needs_torch
def test_each_sample_of_a_mean_has_a_row_in_every_voice():
    X, t, w = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [1.0, 2.0, 3.0], [0.5, -0.5]
    found = gradcli.explain("mean((X @ w - t)**2)", X=X, t=t, w=w, wrt=["w"])
    [table] = found.document().section("samples").parts
    rows = [column.cells[k].value for column in table.blocks[0][1:] for k in range(4)]
    for row, x, target in zip(rows, X, t, strict=False):
        tensor = torch.tensor(w, requires_grad=True)
        (((torch.tensor(x) @ tensor - target) ** 2) / 3).backward()
        np.testing.assert_allclose(row, tensor.grad, rtol=1e-5)
    np.testing.assert_allclose(rows[3], found.grad["w"])
    assert gradcli.explain("sum((X @ w - t)**2)", X=X, t=t, w=w, wrt=["w"]).document().section("samples") is None


def test_a_penalty_behind_a_loss_hides_no_sample():
    X, t, w = [[1.0, 2.0], [3.0, 4.0]], [1.0, 1.0], [1.0, 2.0]
    for program in ("mean((X @ w - t)**2) + 0.1*mean(w**2)", "0.1*mean(w**2) + mean((X @ w - t)**2)"):
        samples = gradcli.explain(program, X=X, t=t, w=w, wrt=["w"]).samples
        assert [sample.grad["w"].tolist() for sample in samples.shown] == [[4.0, 8.0], [30.0, 40.0]]
        np.testing.assert_allclose(samples.rest["w"], [0.1, 0.2])
