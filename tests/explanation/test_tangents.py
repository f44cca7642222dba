"""J from its two sides: rows by one-hot v, J·u by a forward pass, against PyTorch and against each other."""

import numpy as np
import pytest

import gradcli
from generator.programs import random_program
from oracles import assert_close, portion

THREE = "[3*x[0]**2, x[0]**2 + 2*x[1]**3, 10*x[1]]"


def test_rows_are_those_of_the_articles():
    rows = gradcli.explain(THREE, x=[1.0, 2.0], v=[1, 10, 100]).rows()
    assert [(call.index, call.grad["x"].tolist()) for call in rows.calls] == [
        ((0,), [6.0, 0.0]), ((1,), [2.0, 24.0]), ((2,), [0.0, 10.0]),
    ]  # fmt: skip
    assert (rows.colouring, rows.proof.verdict) == (2, "agree")


@pytest.mark.parametrize(("program", "inputs", "passes", "colouring"), [
    ("x**2", {"x": [1.0, 2.0, 3.0]}, 3, 1), ("x + w", {"x": [1.0, 2.0], "w": [3.0, 4.0]}, 2, 1),
    ("x*w", {"x": [1.0, 2.0], "w": 3.0}, 2, 2), ("A @ x", {"A": [[1.0, 2.0], [3.0, 4.0]], "x": [1.0, 1.0]}, 2, 2),
    ("sum(x)", {"x": [1.0, 2.0]}, 1, 1), ("x[1:] - x[:-1]", {"x": [1.0, 2.0, 4.0, 8.0]}, 3, 2),
    ("zeros_like(x)", {"x": [1.0, 2.0]}, 2, 0),
])  # fmt: skip
def test_how_few_calls_a_colouring_needs(program, inputs, passes, colouring):
    shape = gradcli.function(program).value(**inputs).shape
    rows = gradcli.explain(program, v=np.ones(shape), inputs=inputs).rows()
    assert (len(rows.calls), rows.colouring) == (passes, colouring)


@pytest.mark.parametrize("number", portion(range(40), 16))
def test_rows_and_columns_of_random_programs_are_j(number):
    program = random_program(11, number)
    found = gradcli.explain(program.text, v=program.v, inputs=program.inputs)
    rows = found.rows()
    assert rows.proof.verdict == "agree"
    for name, jacobian in found.jacobian.items():
        dense = np.array([np.ravel(call.grad[name]) for call in rows.calls])
        wanted = np.array([np.ravel(jacobian.row(k)) for k in range(found.output.size)])
        assert_close(dense, wanted, 1e-9, name, 1e-12)
    u = {name: np.cos(np.arange(value.size)).reshape(value.shape) for name, value in found.grad.items()}
    moved = found.jvp(u)
    dense = sum(np.array([np.sum(call.grad[name] * u[name]) for call in rows.calls]) for name in found.jacobian)
    assert_close(moved.jvp.ravel(), dense, 1e-8, "J·u", 1e-11)
    assert moved.proof.verdict == "agree"


TORCH = {  # a program, and the same in PyTorch
    THREE: lambda t, x: t.stack([3 * x[0] ** 2, x[0] ** 2 + 2 * x[1] ** 3, 10 * x[1]]),
    "softmax(x)": lambda t, x: t.softmax(x, 0),
    "cumsum(sin(x), 0)": lambda t, x: t.cumsum(t.sin(x), 0),
    "norm(x)*x": lambda t, x: t.linalg.vector_norm(x) * x,
    "relu(x - 1)": lambda t, x: t.relu(x - 1),
    "sort(x).values": lambda t, x: t.sort(x).values,
}


@pytest.mark.parametrize("program", TORCH)
def test_jvp_by_torch(program):
    torch = pytest.importorskip("torch")
    x, u = [1.0, 2.0], [0.3, -0.7]
    shape = gradcli.function(program).value(x=x).shape
    found = gradcli.explain(program, x=x, v=np.ones(shape)).jvp(u)
    tensors = [torch.tensor(value, dtype=torch.float64) for value in (x, u)]
    _, wanted = torch.autograd.functional.jvp(lambda x: TORCH[program](torch, x), *tensors)
    assert_close(found.jvp, wanted.numpy(), 1e-13, program)
    assert (found.proof.verdict, found.proof.digits > 14) == ("agree", True)


def test_both_passes_carry_what_they_say():
    found = gradcli.explain("h = tanh(x)\ny = h*h + x", x=0.7).jvp(2.0)
    h = np.tanh(0.7)
    carried = {value.name: (float(value.tangent), float(value.cotangent)) for value in found.passes}
    assert list(carried) == ["x", "h", "y"]
    slope = 2 * h * (1 - h * h) + 1
    for name, wanted in {"x": (2.0, slope), "h": (2 * (1 - h * h), 2 * h), "y": (2 * slope, 1.0)}.items():
        assert carried[name] == pytest.approx(wanted, rel=1e-14)
    assert found.number == pytest.approx(2 * slope)


@pytest.mark.parametrize(("program", "inputs", "forward", "backward"), [
    (THREE, {"x": [1.0, 2.0]}, 2, 3), ("sum(x**2)", {"x": [1.0] * 5}, 5, 1), ("x + w", {"x": 1.0, "w": [1.0]}, 2, 1),
])  # fmt: skip
def test_how_many_passes_each_way_takes(program, inputs, forward, backward):
    shape = gradcli.function(program).value(**inputs).shape
    found = gradcli.explain(program, v=np.ones(shape), inputs=inputs).jvp(
        {next(iter(inputs)): np.ones_like(inputs[next(iter(inputs))])}
    )
    assert (found.forward, found.backward) == (forward, backward)


@pytest.mark.parametrize(("u", "message"), [
    ([1.0, 2.0], "there are 2 variables"), ({"z": 1.0}, "z is not differentiated"),
    ({"x": [1.0, 2.0, 3.0]}, "u has shape"), ({"x": ["a", "b"]}, "u is not an array"), ({"x": [1.0, np.nan]}, "finite"),
])  # fmt: skip
def test_a_u_that_does_not_fit_is_refused(u, message):
    found = gradcli.explain("sum(x)*w", x=[1.0, 2.0], w=3.0)
    with pytest.raises(gradcli.GradcliError, match=message):
        found.jvp(u)


def test_variables_that_are_not_named_stay_where_they_are():
    found = gradcli.explain("sum(x)*w", x=[1.0, 2.0], w=3.0).jvp({"w": 2.0})
    assert (found.u["x"].tolist(), float(found.jvp)) == ([0.0, 0.0], 6.0)


@pytest.mark.parametrize(("program", "x", "kind"), [("abs(x)", 0.0, "kink"), ("relu(x)", 0.0, "kink")])
def test_a_kink_along_u_is_told(program, x, kind):
    proof = gradcli.explain(program, x=x).jvp(1.0).proof
    assert (proof.verdict, [remark.kind for remark in proof.remarks]) == ("agree", [kind])


def test_what_depends_on_nothing_does_not_move():
    found = gradcli.explain("floor(x)", x=1.5).jvp(1.0)
    assert (float(found.jvp), found.proof.verdict, found.number) == (0.0, "agree", 0.0)
    assert float(gradcli.explain("x", x=1.5).jvp(2.0).jvp) == 2.0


def test_lost_digits_are_counted():
    found = gradcli.explain("log(exp(x*1e-12 + 20) - exp(20))", x=1.0).jvp(1.0)
    assert found.proof.verdict == "digits-lost"
    assert 0 < found.proof.digits < 6
    assert [remark.kind for remark in found.proof.remarks] == ["digits-lost"]


def test_too_many_rows_are_refused():
    found = gradcli.explain("x**2", x=np.ones(2_000), v=np.ones(2_000))
    with pytest.raises(gradcli.GradcliError, match="--rows: y has 2,000 entries"):
        found.rows()


@pytest.mark.parametrize(("v", "calls"), [
    (np.eye(2), [[1.0, 0.0], [0.0, 1.0]]), (np.eye(2).tolist(), [[1.0, 0.0], [0.0, 1.0]]),
])  # fmt: skip
def test_the_identity_is_a_call_for_each_entry(v, calls):
    found = gradcli.explain("3*x**2", x=[1.0, 2.0], v=v)
    assert [call.v.seed.tolist() for call in found.backward] == calls
    assert [call.grad["x"].tolist() for call in found.backward] == [[6.0, 0.0], [0.0, 12.0]]
    assert "v-identity" in [note.kind for note in found.notes]


@pytest.mark.parametrize(("v", "strict"), [(np.eye(2) * 2, False), (np.eye(2), True), (np.eye(3), False)])
def test_another_matrix_is_no_v(v, strict):
    with pytest.raises(gradcli.GradcliError, match="v has shape"):
        gradcli.explain("3.0*x**2", x=[1.0, 2.0], v=v, strict=strict)


def test_the_identity_of_a_matrix_of_outputs_has_their_shape():
    found = gradcli.explain("x**2", x=[[1.0, 2.0], [3.0, 4.0]], v=np.eye(4))
    assert [call.v.seed.shape for call in found.backward] == [(2, 2)] * 4
