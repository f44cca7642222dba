"""Second derivatives: every op, the seeds and random programs against PyTorch, mpmath and differences."""

import re

import mpmath
import numpy as np
import pytest

import gradcli
from generator.programs import random_program
from gradcli.engine.graph import Node
from gradcli.engine.reverse import backward
from gradcli.explanation.hessians import record_gradient
from gradcli.explanation.rereading import evaluate
from op_cases import CASES
from oracles import (
    applied,
    assert_close,
    cases,
    difference,
    differentiated,
    portion,
    reverse_jacobians,
    symbolic_jacobians,
)

TABLES = cases("hessians.json")

VECTORS = ("eigenvectors", "singular_vectors", "eigvalsh")
"""Ops of symmetric matrices, which a difference moves out of symmetry, or whose second sweep divides 0 by 0."""
SMOOTH = [case for case in CASES if case.values[0].name not in VECTORS]


def matrix(hessian):
    """Return H by all variables as one matrix."""
    names = list(hessian.whole)
    rows = []
    for one in names:
        parts = []
        for other in names:
            block = hessian.blocks[one, other]
            full = np.zeros(block.matrix_shape)
            full[block.rows, block.columns] = block.values
            parts.append(full)
        rows.append(np.concatenate(parts, axis=1))
    return np.concatenate(rows)


@pytest.mark.parametrize(("op", "values", "static"), portion(SMOOTH, 12))
def test_the_gradient_of_every_op_can_be_differentiated(op, values, static):
    static, values = static or {}, [np.asarray(value) for value in values]
    graph, output, leaves = applied(op, values, static)
    v = np.random.default_rng(1).uniform(-1, 1, output.shape)
    found = record_gradient(graph, output, v)
    at = differentiated(op, values)
    for k, leaf in enumerate(leaves):
        node = found.get(leaf.index)
        assert_close(getattr(node, "value", node), backward(graph, output, v, leaves)[k], 1e-9, "the gradient")
        if not isinstance(node, Node):
            continue
        by_vjp, by_sympy = reverse_jacobians(graph, node, leaves), symbolic_jacobians(node, leaves)
        for n, j in enumerate(at):

            def gradient(x, j=j, k=k):
                moved = [x if place == j else value for place, value in enumerate(values)]
                graph, output, leaves = applied(op, moved, static)
                return backward(graph, output, v, leaves)[k]

            wanted = difference(gradient, np.asarray(values[j], dtype=float)).reshape(by_vjp[n].shape)
            for got in (by_vjp[n], by_sympy[n][0]):
                assert_close(got, wanted, 1e-6, f"{op.name} twice by {k} and {j}", 1e-8)


FORMULAS = TABLES["FORMULAS"]  # a program, x, and the formulas of H


@pytest.mark.parametrize(("program", "x", "formulas"), FORMULAS)
def test_formulas(program, x, formulas):
    found = gradcli.explain(program, x=x).hessian()
    block = found.blocks["x", "x"]
    texts = [["0"] * block.matrix_shape[1] for _ in range(block.matrix_shape[0])]
    for row, column, text in zip(block.rows, block.columns, block.formulas or [], strict=True):
        texts[row][column] = text
    assert texts == formulas
    assert (found.proof.verdict, found.proof.finite, found.symmetric) == ("agree", True, True)
    assert found.proof.digits is None or found.proof.digits >= 15


NAMES = [  # a program of two lines at least, or of y alone, whose values H names, and x
    "logsumexp(x, 0)", "g = logsumexp(x, 0)\ng*g", "z = sin(x) + x\nz = sin(z) + x\nsum(z*z)",
    "z = x\nfor i in range(3): z = sin(z) + x\nsum(z)", "h0 = tanh(x)\nsum(exp(h0*h0))*sum(log(h0 + 2))",
    "prod(2**x)", "std(x)*logsumexp(x*x, 0)", "y = norm(log_softmax(x, 0))\ny*y",
]  # fmt: skip


@pytest.mark.parametrize("program", portion(NAMES, 3))
def test_what_h_calls_a_value_is_called_so_nowhere_else(program):
    found = gradcli.explain(program, x=[0.3, -0.7])
    hessian, told = found.hessian(), {value.name: value.value for value in found.values}
    told |= {row.name: row.value for row in found.tape.rows}
    names = {"x": np.array([0.3, -0.7])}
    for name, text in hessian.definitions.items():
        names[name] = evaluate(text, names)
        if name in told:
            assert_close(names[name], told[name], 1e-12, name)
    for text, value in zip(hessian.blocks["x", "x"].formulas, hessian.blocks["x", "x"].values, strict=True):
        assert_close(evaluate(text, told | names), value, 1e-9, text, 1e-12)


KINKS = TABLES["KINKS"]  # a program, x, H there, the true one of a function that has one, and the words of the note


@pytest.mark.parametrize(("program", "x", "truth", "says"), portion([pytest.param(*row) for row in KINKS], 3))
def test_a_kink_is_told_where_h_is_not_the_true_one(program, x, truth, says):
    found = gradcli.explain(program, x=x).hessian()
    notes = [remark.message for remark in found.proof.remarks]
    assert found.proof.verdict == "agree"
    assert [note for note in notes if "truly" in note or "second derivative" in note] == notes
    if says is None:
        assert notes == []
        assert matrix(found).item() == truth
    else:
        assert says in notes[0]


MATHEMATICS = {  # a program of x[0] and x[1], and the same for mpmath
    "exp(x[0]*x[1])*sin(x[0])": lambda a, b: mpmath.exp(a * b) * mpmath.sin(a),
    "log(x[0]**2 + x[1]**4)": lambda a, b: mpmath.log(a**2 + b**4),
    "x[0]**x[1]": lambda a, b: a**b,
    "atan2(x[0], x[1])*sigmoid(x[0] - x[1])": lambda a, b: mpmath.atan2(a, b) / (1 + mpmath.exp(b - a)),
    "erf(x[0])/cosh(x[1])": lambda a, b: mpmath.erf(a) / mpmath.cosh(b),
    "softplus(x[0]*x[1]) + lgamma(x[0])": lambda a, b: mpmath.log(1 + mpmath.exp(a * b)) + mpmath.loggamma(a),
}


@pytest.mark.parametrize("program", MATHEMATICS)
def test_against_mpmath(program):
    x = [0.7, 1.3]
    found = gradcli.explain(program, x=x).hessian()
    with mpmath.workdps(40):
        point = tuple(map(mpmath.mpf, x))
        f = MATHEMATICS[program]
        wanted = [[float(mpmath.diff(f, point, (2 - i - j, i + j))) for j in range(2)] for i in range(2)]
    assert_close(matrix(found), np.array(wanted), 1e-13, program)
    assert found.proof.digits > 13


def loss(torch, case):
    """Return a seed's program as PyTorch runs it, its result weighed by the v of all calls."""
    names, text = list(case["inputs"]), case["expression"]
    tensors = {name: torch.tensor(value, dtype=torch.float64) for name, value in case["inputs"].items()}
    calls = [call["v"] for call in case["calls"]]

    def weighed(*moved):
        given = {**tensors, **dict(zip(case["wrt"], moved, strict=True)), "sigmoid": torch.sigmoid, "mm": torch.mm}
        *lines, last = [line.strip() for line in text.split(";")]
        for line in [*lines, last if re.match(r"\w+ *=", last) else f"y = {last}"]:
            name, _, value = line.partition("=")
            given[name.strip()] = y = eval(value, {}, given)  # noqa: S307 - the seeds are our own
        v = sum(torch.ones(()) if v is None else torch.tensor(v, dtype=torch.float64) for v in calls)
        return (y * v).sum()

    assert set(case["wrt"]) <= set(names)
    return weighed, tuple(tensors[name] for name in case["wrt"])


SEEDS = [case for case in cases("seed_cases.json") if re.fullmatch(r"[\w\s;=()@.+*/,-]+", case["expression"])]


@pytest.mark.parametrize("case", SEEDS, ids=lambda case: case["id"])
def test_the_seeds_by_torch(case):
    torch = pytest.importorskip("torch")
    calls = [call["v"] for call in case["calls"]]
    found = gradcli.explain(case["expression"], calls=calls, wrt=case["wrt"], inputs=case["inputs"]).hessian()
    weighed, tensors = loss(torch, case)
    blocks = torch.autograd.functional.hessian(weighed, tensors)
    sizes = [tensor.numel() for tensor in tensors]
    rows = [
        [part.reshape(n, m).numpy() for part, m in zip(row, sizes, strict=True)]
        for row, n in zip(blocks, sizes, strict=True)
    ]
    assert_close(matrix(found), np.block(rows), 1e-12, case["id"])
    assert found.proof.verdict == "agree"


TORCH = {  # a program, and the same in PyTorch
    "sum(tanh(W @ x)**2)": lambda t, W, x: (t.tanh(W @ x) ** 2).sum(),
    "softmax(W @ x)[0]": lambda t, W, x: t.softmax(W @ x, 0)[0],
    "logsumexp(W @ x, 0)": lambda t, W, x: t.logsumexp(W @ x, 0),
    "norm(W @ x)": lambda t, W, x: t.linalg.vector_norm(W @ x),
    "sum(relu(W @ x)**3)": lambda t, W, x: (t.relu(W @ x) ** 3).sum(),
    "max(W @ x)*x[0]": lambda t, W, x: (W @ x).max() * x[0],
    "log(det(W)**2)": lambda t, W, x: t.log(t.det(W) ** 2) + 0 * x.sum(),
    "prod(x)*trace(inv(W))": lambda t, W, x: x.prod() * t.trace(t.linalg.inv(W)),
    "cross_entropy(W, [1, 0])": lambda t, W, x: t.nn.functional.cross_entropy(W, t.tensor([1, 0])) + 0 * x.sum(),
}


@pytest.mark.parametrize("program", TORCH)
def test_against_torch_with_hu(program):
    torch = pytest.importorskip("torch")
    values = {"W": [[1.0, 0.3], [-0.4, 0.8]], "x": [0.5, 0.7]}
    used = gradcli.function(program).inputs
    u = {used[0]: np.ones_like(values[used[0]])}
    found = gradcli.explain(program, inputs={name: values[name] for name in used}).hessian(u)
    tensors = [torch.tensor(values[name], dtype=torch.float64) for name in ("W", "x")]
    blocks = torch.autograd.functional.hessian(lambda W, x: TORCH[program](torch, W, x), tuple(tensors))
    order = [("W", "x").index(name) for name in used]
    wanted = np.concatenate([
        np.concatenate([blocks[i][j].reshape(tensors[i].numel(), tensors[j].numel()).numpy() for j in order], axis=1)
        for i in order
    ])  # fmt: skip
    assert_close(matrix(found), wanted, 1e-11, program, 1e-14)
    product = np.concatenate([np.ravel(part) for part in found.product.values()])
    along = np.concatenate([np.ravel(part) for part in found.u.values()])
    assert_close(product, wanted @ along, 1e-11, "H·u", 1e-14)
    assert found.proof.verdict == "agree"
    assert found.proof.digits > 12


@pytest.mark.parametrize("number", portion(range(60), 30))
def test_random_programs_are_confirmed(number):
    program = random_program(7, number)
    found = gradcli.explain(program.text, v=program.v, inputs=program.inputs).hessian()
    assert found.proof.verdict == "agree", (program.text, found.proof)
    assert found.proof.digits is None or found.proof.digits >= 9
    assert found.symmetric


KINKS = {  # a program, x, and the same in PyTorch
    "relu(x)**2": (0.0, lambda x: x.relu() ** 2),
    "abs(x)*x": (0.0, lambda x: x.abs() * x),
    "relu(x)": (0.0, lambda x: x.relu()),
    "max(x)": ([1.0, 1.0], lambda x: x.max()),
}


@pytest.mark.parametrize("program", KINKS)
def test_at_a_kink_the_convention_is_that_of_torch_and_told(program):
    torch = pytest.importorskip("torch")
    x, same = KINKS[program]
    found = gradcli.explain(program, x=x).hessian()
    assert [remark.kind for remark in found.proof.remarks] == ["kink"]
    by_torch = torch.autograd.functional.hessian(same, torch.tensor(x, dtype=torch.float64))
    assert matrix(found).ravel().tolist() == by_torch.numpy().ravel().tolist()


def test_v_weighs_the_outputs_before_they_are_differentiated():
    found = gradcli.explain("[3*x[0]**2, x[0]**2 + 2*x[1]**3, 10*x[1]]", x=[1.0, 2.0], v=[1, 10, 100]).hessian([1, 1])
    assert matrix(found).tolist() == [[26.0, 0.0], [0.0, 240.0]]
    assert found.product["x"].tolist() == [26.0, 240.0]
    assert found.gradient == {"x": ["26*x[0]", "1000 + 60*x[1]**2"]}


@pytest.mark.parametrize(("program", "x"), [("sqrt(x)", 0.0), ("x**1.5", 0.0)])
def test_what_is_not_finite_is_told(program, x):
    assert not gradcli.explain(program, x=x).hessian().proof.finite


def test_a_wrong_rule_is_noticed(monkeypatch):
    """A text that is not the engine's rule is not taken, and without another the program is refused."""
    from gradcli.explanation import hessians as module

    honest = module.run_on_graph
    monkeypatch.setattr(module, "run_on_graph", lambda graph, text, names: honest(graph, f"({text})*1.001", names))
    with pytest.raises(gradcli.GradcliError, match="cannot be differentiated once more"):
        gradcli.explain("sin(x)", x=0.3).hessian()


def test_a_wrong_second_derivative_is_noticed(monkeypatch):
    """What is wrong in the second derivative alone is found by the digits: each text is right at the point itself."""
    from gradcli.explanation import hessians as module

    honest, more = module.run_on_graph, " + (x0 - 0.3)*0.01"
    monkeypatch.setattr(module, "run_on_graph", lambda graph, text, names: honest(graph, f"({text}){more}", names))
    found = gradcli.explain("sin(x)", x=0.3).hessian()
    assert found.proof.verdict == "digits-lost"
    assert found.proof.digits < 3


def test_a_large_one_is_held_by_its_entries():
    found = gradcli.explain("sum(x**3)", x=np.linspace(1, 2, 300)).hessian()
    block = found.blocks["x", "x"]
    assert (block.structure, len(block.rows)) == ("diagonal", 300)
    assert_close(block.values, 6 * np.linspace(1, 2, 300), 1e-14)
    assert found.proof.digits > 12
