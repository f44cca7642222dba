"""Scripts by every way to ask: values from outside, calls that add up or begin anew, functions alone, names."""

import numpy as np
import pytest

import gradcli
from gradcli.errors import GradcliError

SCRIPT = """import torch
x = torch.tensor([1., 2.], requires_grad=True)
w = x.detach() + 1
y = w*x**2
v = 2*x.detach()
y.backward(v)
print(x.grad)
"""
LEAF = "import torch\nx = torch.tensor([1., 2.], requires_grad=True)\n"


def test_values_that_are_given_go_before_those_of_the_script():
    np.testing.assert_array_equal(gradcli.explain(SCRIPT, x=[3.0, 5.0]).grad["x"], [6 * 4 * 6, 10 * 6 * 10])
    np.testing.assert_array_equal(gradcli.explain(SCRIPT, v=[1, 0]).grad["x"], [4, 0])
    np.testing.assert_array_equal(gradcli.explain(SCRIPT, calls=[[1, 0], [1, 0]]).grad["x"], [8, 0])


def test_every_way_to_ask_runs_the_script():
    expected = [8.0, 48.0]
    function = gradcli.function(SCRIPT)
    assert function.grad()["x"].tolist() == expected
    assert function.value(x=[1.0, 1.0]).tolist() == [2.0, 2.0]
    assert function.jacobian()["x"].tolist() == [[4.0, 0.0], [0.0, 12.0]]
    assert gradcli.check(SCRIPT).agree
    assert gradcli.check(SCRIPT, expect="[8.0, 48.0]").agree
    assert not gradcli.check(SCRIPT, expect="[8.0, 47.0]").agree
    assert gradcli.answer({"program": SCRIPT})["grad"] == {"x": expected}
    assert gradcli.run(SCRIPT).explain().grad["x"].tolist() == expected


def test_calls_after_zeroing_stand_alone_and_others_add_up():
    calls = (
        "\ny.backward(torch.tensor([1., 0.]), retain_graph=True)\nx.grad.zero_()\ny.backward(torch.tensor([0., 1.]))"
    )
    found = gradcli.explain(LEAF + "y = x**2" + calls)
    assert [call.grad["x"].tolist() for call in found.backward] == [[2.0, 0.0], [0.0, 4.0]]
    assert (found.grad["x"].tolist(), found.vjp["x"].tolist()) == ([0.0, 4.0], [0.0, 4.0])
    assert (found.v.tolist(), found.v_source) == ([0.0, 1.0], "given")
    again = gradcli.explain(LEAF + "y = x**2" + calls.replace("x.grad.zero_()", "pass"))
    assert (again.grad["x"].tolist(), again.v_source) == ([2.0, 4.0], "accumulated")


def test_a_function_alone_has_its_parameters_as_inputs():
    found = gradcli.explain("def f(a, n=3.):\n    b = a**2\n    return b*n", a=2.0)
    assert found.grad["a"].item() == 12.0
    assert gradcli.explain("lambda t: t**3", t=2.0).grad["t"].item() == 12.0


DESCENT = """import numpy as np
X, W, b = np.array([[1., 2.], [0.5, -1.]]), np.array([1., -1.]), np.zeros(2)
for i in range(3):
    loss = ((X @ W + b)**2).mean()
    dW, db = X.T @ (X @ W + b), X @ W + b
    STEP
"""


@pytest.mark.parametrize("step", ["W = W - 0.1*dW; b = b - 0.1*db", "W -= 0.1*dW; b -= 0.1*db"])
def test_a_variable_that_a_loop_updates_is_the_one_that_the_loss_was_computed_from(step):
    script = DESCENT.replace("STEP", step)
    both = gradcli.explain(script, of="loss", wrt=["W", "b"]).grad
    for name in "Wb":
        np.testing.assert_allclose(gradcli.explain(script, of="loss", wrt=[name]).grad[name], both[name], rtol=1e-12)


def test_a_value_that_decides_which_lines_run_may_be_another():
    text = "import torch\nx = torch.tensor(2., requires_grad=True)\ny = x**2 if x > 1 else x**3\ny.backward()"
    assert gradcli.explain(text).grad["x"].item() == 4.0
    assert gradcli.explain(text, x=0.5).grad["x"].item() == 0.75


@pytest.mark.parametrize(("line", "grad"), [
    ("x = x*2", None), ("x = x.view(2)", None), ("x = x.float()", [2.0, 4.0]), ("z = x*2", [2.0, 4.0]),
])  # fmt: skip
def test_a_name_that_goes_to_another_tensor_has_its_grad(line, grad):
    ran = gradcli.run(f"{LEAF}w = x\n{line}\n(x**2).sum().backward()\nprint(x.grad is None)")
    assert ran.printed == f"{grad is None}\n"
    [left] = ran.calls[0].grad.values()
    assert left.tolist() == (grad or ([8.0, 16.0] if "*2" in line else [2.0, 4.0]))


@pytest.mark.parametrize(("line", "marked"), [
    ("y = torch.stack([x, torch.sinn(x)])", "torch.sinn"), ("y = f(x) + torch.ones(3)", "f(x) + torch.ones(3)"),
    ("y = FF.relu(x)[5]", "FF.relu(x)[5]"),
])  # fmt: skip
def test_errors_point_at_the_line_that_was_typed(line, marked):
    text = (
        f"import torch.nn.functional as FF\nimport torch\ndef f(a):\n    return a**2\n{LEAF}{line}\ny.sum().backward()"
    )
    with pytest.raises(GradcliError) as raised:
        gradcli.explain(text)
    assert marked in text[slice(*raised.value.span)]


@pytest.mark.parametrize(
    "text",
    [
        "import torch\nfrom torch.func import grad, vmap\nprint(vmap(grad(lambda t: t**3))(torch.tensor([1., 2.])))",
        "import jax\nimport jax.numpy as jnp\nprint(jax.jit(jax.vmap(jax.grad(lambda t: t**3)))(jnp.array([1., 2.])))",
    ],
)
def test_a_batch_of_gradients_is_a_call_for_each_entry(text):
    ran = gradcli.run(text)
    assert [float(call.returns[0]) for call in ran.calls] == [3.0, 12.0]
    assert ran.explain(1).grad["t"].item() == 12.0


SINE = """def sine(x):
    ans = term = x
    i = 0
    while np.abs(term) > 0.001:
        term = -term * x**2 / ((2*i + 3) * (2*i + 2))
        ans = ans + term
        i += 1
    return ans
print(grad(sine)(np.pi))
print(grad(grad(sine))(1.0))
print(grad(lambda x: np.var(x))(np.array([1., 2.])))
"""
PRIMITIVE = """from autograd.extend import primitive, defvjp
@primitive
def lse(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))
defvjp(lse, lambda ans, x: lambda g: g * np.exp(x - ans))
print(grad(lambda y: lse(y**2))(np.array([1.5, 0.2])))
"""


@pytest.mark.parametrize("body", [SINE, PRIMITIVE, SINE + "print(grad(sine)(np.pi))"])
def test_what_an_earlier_call_or_a_primitive_decides_is_no_decision_of_the_answer(body):
    text = f"import autograd.numpy as np\nfrom autograd import grad\n{body}"
    assert "Rounding" not in str([note.message for note in gradcli.explain(text).notes])
    assert gradcli.check(text).agree
