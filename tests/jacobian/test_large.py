"""J where its entries are too many: local Jacobians that are applied and never listed, and what answers say then."""

import json

import numpy as np
import pytest

import gradcli
from counting import peak
from generator.programs import random_program
from gradcli.engine.graph import Graph
from gradcli.errors import Budget, GradcliError
from gradcli.jacobian.composition import compose
from gradcli.jacobian.passes import Named, Passes, contract
from gradcli.ops.linear_algebra import pairs_along
from gradcli.ops.links import OUT, Explicit, Order
from op_cases import CASES
from oracles import ask, portion, tampered
from records import OPS

NOTHING_HELD = Budget(jacobian=0)
SOME = np.random.default_rng(3)


def noise(*shape):
    return np.random.default_rng(sum(shape) + len(shape)).normal(size=shape)


def sizes_of(matrix):
    found = np.zeros(matrix.shape)
    found[matrix.rows, matrix.columns] = matrix.sizes
    return found


# Local Jacobians


@pytest.mark.parametrize(("op", "values", "static"), portion(CASES, 3))
def test_applied_to_vectors_a_local_jacobian_gives_what_its_entries_give(op, values, static):
    graph = Graph()
    leaves = [graph.input(f"x{k}", np.asarray(x, dtype=np.float64)[()], active=True) for k, x in enumerate(values)]
    output = graph(op, *leaves, **static)
    entries, passes = compose(output, leaves, 10**6, graph), Passes(output, leaves, graph)
    rows, whole = noise(3, output.value.size), passes.all_rows()
    back = passes.back(rows)
    for leaf in leaves:
        wanted, found = entries.of[leaf.index], whole[leaf.index]
        dense, sizes = wanted.dense(), sizes_of(wanted)
        assert (found.rows.tolist(), found.columns.tolist()) == (wanted.rows.tolist(), wanted.columns.tolist())
        close = {"rtol": 1e-12, "atol": 1e-13 * np.max(sizes, initial=1.0)}
        np.testing.assert_allclose(back[leaf.index].values, rows @ dense, **close)
        columns = noise(2, leaf.value.size)
        np.testing.assert_allclose(passes.forth(leaf, columns).values, columns @ dense.T, **close)
        bound = np.abs(rows) @ sizes
        assert np.all(back[leaf.index].sizes >= bound * (1 - 1e-12))
        assert np.all(back[leaf.index].sizes <= 2 * bound * (1 + 1e-12))  # digits add to the terms that they bound


def test_a_factor_that_is_no_product_is_applied_by_its_entries():
    def local(at):
        factor = Explicit(lambda s, y, x: s.exp(y - x))
        return [pairs_along(at.out, at.static["dim"], Order.NOT_BEFORE, 1.0, factor, (OUT, "row"), (0, "column"))]

    graph, x = Graph(), np.array([0.5, -0.25, 1.0])
    leaf = graph.input("x", x, active=True)
    with tampered(OPS["cumsum"], local_jacobian=local):
        output = graph(OPS["cumsum"], leaf, dim=0)
        found = Passes(output, [leaf], graph).all_rows()[leaf.index]
    np.testing.assert_allclose(found.dense(), np.tril(np.exp(np.cumsum(x)[:, None] - x)), rtol=1e-14)


FACTORS = [
    ("ij,jk,kl->il", {"i": 3, "j": 4, "k": 2, "l": 5}),
    ("bij,bjk->ik", {"b": 2, "i": 3, "j": 2, "k": 2}),
    ("ij,j->", {"i": 3, "j": 4}),
    ("i,j->ij", {"i": 3, "j": 4}),
    ("ij,->j", {"i": 3, "j": 4}),
    ("ij,ij->i", {"i": 3, "j": 0}),
]


@pytest.mark.parametrize(("spec", "lengths"), FACTORS)
def test_a_sum_of_products_is_that_of_einsum(spec, lengths):
    inputs, out = spec.split("->")
    arrays = [Named(noise(*(lengths[c] for c in letters)), letters) for letters in inputs.split(",")]
    found = contract(arrays[0], arrays[1:], out)
    wanted = np.einsum(spec, *(array.array for array in arrays))
    np.testing.assert_allclose(np.einsum(f"{found.letters}->{out}", found.array), wanted, rtol=1e-13, atol=1e-14)


# Programs


@pytest.mark.parametrize("number", portion(range(60), 20))
def test_by_passes_a_random_program_has_the_answer_that_entries_give(number):
    program = random_program(11, number)
    shape = gradcli.function(program.text, program.wrt).value(**program.inputs).shape
    v = np.cos(1.0 + np.arange(np.prod(shape, dtype=int))).reshape(shape)
    asked = {"inputs": program.inputs, "wrt": program.wrt, "v": v}
    entries = gradcli.explain(program.text, **asked)
    passes = gradcli.explain(program.text, **asked, budget=NOTHING_HELD)
    assert passes.agreement.finite == entries.agreement.finite
    for name, wanted in entries.jacobian.items():
        found, bound = passes.jacobian[name], 1e-13 * wanted.scale(v)
        assert found.held or passes.output.size > 1
        np.testing.assert_array_equal(np.isfinite(passes.vjp[name]), np.isfinite(entries.vjp[name]))
        with np.errstate(all="ignore"):
            assert not np.any(np.abs(passes.vjp[name] - entries.vjp[name]) > bound)
        if found.held:
            assert (found.structure, found.rows.tolist()) == (wanted.structure, wanted.rows.tolist())
            assert found.columns.tolist() == wanted.columns.tolist()
        for place in range(0, found.matrix_shape[1], max(found.matrix_shape[1] - 1, 1)):
            np.testing.assert_allclose(found.column(place), wanted.column(place), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found.row(0), wanted.row(0), rtol=1e-9, atol=1e-9)


def network():
    return {
        "X": noise(64, 784),
        "W1": noise(784, 128) / 30,
        "b1": noise(128),
        "W2": noise(128, 10) / 10,
        "b2": noise(10),
    }


WEIGHTS = ["W1", "b1", "W2", "b2"]
LINE = 1 + noise(3000) / 100
# fmt: off
LARGE = {
    "a training step": (
        "h = relu(X @ W1 + b1)\nlogits = h @ W2 + b2\nloss = cross_entropy(logits, t)",
        {**network(), "t": np.arange(64) % 10}, WEIGHTS,
        lambda torch, X, W1, b1, W2, b2, t: torch.nn.functional.cross_entropy((X @ W1 + b1).relu() @ W2 + b2, t)),
    "a product of matrices": (
        "sum(A @ B)", {"A": np.abs(noise(300, 300)), "B": np.abs(noise(300, 300))}, ["A", "B"],
        lambda torch, A, B: (A @ B).sum()),
    "a running sum": (
        "sum(cumsum(x, dim=0))", {"x": noise(10**6)}, ["x"], lambda torch, x: x.cumsum(0).sum()),
    "a running product with a zero": (
        "sum(cumprod(x, dim=0)*w)", {"x": np.where(np.arange(3000) == 1200, 0.0, LINE), "w": np.abs(LINE)}, ["x"],
        lambda torch, x, w: (x.cumprod(0) * w).sum()),
    "a system": (
        "sum(solve(A, b))", {"A": noise(165, 165) + 40 * np.eye(165), "b": noise(165)}, ["A", "b"],
        lambda torch, A, b: torch.linalg.solve(A, b).sum()),
    "a softmax": (
        "sum(softmax(x, dim=0)*w)", {"x": noise(10**4), "w": noise(10**4)}, ["x", "w"],
        lambda torch, x, w: (x.softmax(0) * w).sum()),
    "a sum of products": (
        "sum(einsum('bij,bjk->bik', A, B)**2)", {"A": np.abs(noise(40, 50, 60)), "B": np.abs(noise(40, 60, 40))},
        ["A", "B"], lambda torch, A, B: (torch.einsum("bij,bjk->bik", A, B) ** 2).sum()),
}
# fmt: on
"""Programs with local Jacobians of more entries than a budget allows, which ``grad`` answers, and PyTorch's way."""


@pytest.mark.parametrize("name", LARGE)
def test_large_rows_are_the_gradients_of_pytorch(name):
    torch = pytest.importorskip("torch")
    program, inputs, wrt, loss = LARGE[name]
    tensors = {key: torch.tensor(value, requires_grad=key in wrt) for key, value in inputs.items()}
    loss(torch, **tensors).backward()
    found = gradcli.explain(program, inputs=inputs, wrt=wrt)
    for key in wrt:
        np.testing.assert_allclose(found.vjp[key], tensors[key].grad.numpy(), rtol=1e-7, atol=1e-11)


def test_what_is_not_listed_takes_no_memory():
    """The product has 27 million links: one number for each would take 216 MB."""
    inputs = LARGE["a product of matrices"][1]
    gradcli.explain("sum(A @ B)", inputs=inputs)
    assert peak(lambda: gradcli.explain("sum(A @ B)", inputs=inputs)) < 40e6


UNHELD = {"A": noise(200, 150), "B": noise(150, 200)}


def test_entries_that_are_not_held_are_said_to_be_none():
    v = noise(200, 200)
    found = gradcli.explain("A @ B", inputs=UNHELD, v=v)
    assert found.agreement.agree
    jacobian = found.jacobian["A"]
    assert (jacobian.held, jacobian.structure, jacobian.numeric, len(jacobian.rows)) == (False, "unknown", None, 0)
    assert jacobian.rules == ["dy[i,j]/dA[i,k] = B[k,j]"]
    np.testing.assert_allclose(found.vjp["A"], v @ UNHELD["B"].T, rtol=1e-10)
    document = json.loads(json.dumps(found.to_dict()))["jacobian"]["A"]
    assert (document["held"], document["nonzeros"], document["symbolic"], document["numeric"]) == (
        False,
        None,
        None,
        None,
    )
    assert document["entries"] == {"rows": None, "columns": None, "values": None, "formulas": jacobian.rules}
    assert "rows-alone" in [note.kind for note in found.notes]


def test_the_budget_of_entries_refuses_a_whole_jacobian_alone():
    function = gradcli.function("sum(softmax(w)**2, dim=0)*w", budget=Budget(jacobian=8))
    with pytest.raises(GradcliError, match="the budget 'jacobian' of 8"):
        function.jacobian(w=[1.0, 2.0, 3.0])
    assert function.grad([1.0, 1.0, 1.0], w=[1.0, 2.0, 3.0])["w"].shape == (3,)
    assert gradcli.function("sum(A @ A)", budget=Budget(jacobian=5)).jacobian(A=np.eye(2))["A"].tolist() == [[2, 2]] * 2


@pytest.mark.parametrize("form", ["plain", "table", "json"])
def test_every_voice_shows_what_is_not_held(form):
    args = ["explain", "A @ B", "--A", "[[1,2],[3,4]]", "--B", "[[1,0],[2,1]]", "--v", "[[1,0],[0,1]]"]
    found = ask(*args, "--budget", "jacobian=1", "--format", form)
    assert found.code == 0
    assert ("not held" if form != "json" else '"held": false') in found.out
