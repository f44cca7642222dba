"""Short cuts of the composition change no number: batches, lists of plain numbers, and parts that are kept by shape."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

import gradcli
from gradcli.engine.graph import Node
from gradcli.errors import Budget, GradcliError
from gradcli.explanation.evaluation import stand
from gradcli.explanation.explained import Explained
from gradcli.explanation.explaining import Ask, explain_run
from gradcli.jacobian import local, sparse
from gradcli.jacobian.composition import compose
from gradcli.jacobian.local import WIDEST, Part, frozen, is_shaped, read, reading_of
from gradcli.jacobian.sparse import FEW, Small, Sparse, added, gathered, identity, joined, product, small_product
from gradcli.ops.links import Explicit, Links
from gradcli.ops.vocabulary import elementwise_local
from op_cases import CASES
from oracles import portion, reverse_jacobians, tampered
from records import OPS

BOUND = 10**6
LOW = FEW * FEW - 1
"""A bound below which nothing goes as lists or in batches: every Jacobian is composed of arrays, link by link."""


def composed(program, inputs, bound=BOUND):
    f = gradcli.function(program)
    run = f.evaluate(inputs)
    leaves = [run.leaves[name] for name in f.inputs]
    return run, leaves, compose(run.output, leaves, bound, run.graph)


def same_bits(a, b):
    return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=True) and np.array_equal(np.signbit(a), np.signbit(b))


def assert_same(a, b):
    for one, other in ((a.rows, b.rows), (a.columns, b.columns), (a.values, b.values), (a.sizes, b.sizes)):
        assert same_bits(one, other), f"{one} and {other}"


LOOP = "for i in range(12):\n    "
LOOPS = {
    "y = x\n" + LOOP + "y = sin(y)*0.9 + y*0.1\ny": {"x": 0.7},
    "y = x\n" + LOOP + "y = sin(y)*x - y/(i + 1)\n[y, y*y]": {"x": 0.7},
    "y = x\n" + LOOP + "y = y*s + tanh(y - x)\ny": {"x": [0.7, -0.2, 0.1], "s": 0.9},
    "y = x*2\n" + LOOP + "y = y*0.0 + y/s*0\ny": {"x": [0.7, 0.0], "s": 1e-308},
    "y = x\n" + LOOP + 'y = huber_loss(y, x*0.3, reduction="none") + y*0.5\ny': {"x": [0.7, 3.0]},
    "y = x\n" + LOOP + "y = leaky_relu(y) - elu(-y)*0.5\ny": {"x": [0.7, -0.2]},
    "y = X\n" + LOOP + "y = y*w + b - y*y*0.1\ny": {"X": [[0.1, 0.2], [0.3, -0.4]], "w": [0.5, 1.5], "b": 0.1},
    "y = x\n" + LOOP + "y = y**2*0.1 + y**0*0.3 + x**y*0.1\ny": {"x": [0.7, 1.2]},
    "y = x\n" + LOOP + "y = where(y > 0.5, y*y, y + 0.3)*-1.0\ny": {"x": [0.7, -0.2]},
    "y = W @ x\n" + LOOP + "y = tanh(W @ y + x[0])\nsum(y*x)": {"W": np.eye(3) * 0.5 + 0.1, "x": [0.7, -0.2, 0.1]},
    "y = x\n" + LOOP + "y = y*(y - y)*1e300/s\ny": {"x": 0.7, "s": 1e-300},
    "y = zeros(4)\n" + LOOP + "y[i % 4] = y[(i + 1) % 4]*x + i\ny": {"x": 0.7},
    "sum(x[0]*w)*x": {"x": [2.0, 3.0], "w": np.linspace(-1, 2, 10)},
    "[sum(x), prod(x), x[0]*x[1]*x[2]]": {"x": [2.0, 3.0, 0.0]},
    "softmax(x) + cumsum(x)": {"x": [0.3, 0.1, -0.2]},
    "y = x\n" + LOOP + "y = y*(i + 0.3)*0.1 + x/(i + 1) - i/(y + 4) + (i + 2)/y/(i + 3) + y**i*0.01\ny": {"x": 0.7},
    "sum(x*w)": {"x": 2.0, "w": np.linspace(-1, 2, 10)},
    "floor(x)*x": {"x": [2.5, 3.5]},
    "x*2 + flip(x)*x": {"x": np.linspace(-1, 2, 12)},
    "y = x\n" + LOOP + "y = sin(y)*0.9\ny*w": {"x": 0.7, "w": np.linspace(-1, 2, 20)},
    "y = x\n" + LOOP + "y = y*s + tanh(y - x)*0.5\ny": {"x": np.linspace(-1, 2, FEW + 1), "s": 0.9},
    "y = x\n" + LOOP + "y = sin(y)*y + x\n[y[0], y[3]*y[3]]": {"x": np.linspace(-1, 2, 40)},
    "y = x*2\n" + LOOP + "y = y*0.0 + y/s*0\ny": {"x": np.linspace(-1, 2, 3 * FEW), "s": 1e-308},
    "y = X\n" + LOOP + "y = tanh(y)*X - y/(i + 1)\nsum(y, dim=0)": {"X": np.reshape(np.linspace(-1, 2, 60), (12, 5))},
}


@pytest.mark.parametrize("program", LOOPS)
def test_lists_and_batches_give_the_numbers_of_arrays(program):
    _, leaves, quick = composed(program, LOOPS[program])
    _, others, plain = composed(program, LOOPS[program], LOW)
    assert not any(isinstance(part, Part) for parts in plain.links.values() for part in parts)
    assert not plain.batches
    assert quick.work == plain.work
    for leaf, other in zip(leaves, others, strict=True):
        assert_same(quick.of[leaf.index], plain.of[other.index])


@pytest.mark.parametrize("program", LOOPS)
def test_what_a_batch_read_is_what_each_node_reads_by_itself(program):
    run, _, found = composed(program, LOOPS[program])
    for batch in found.batches:
        rows = (
            np.reshape(batch.local.values, (len(batch.nodes), -1)),
            np.reshape(batch.local.sizes, (len(batch.nodes), -1)),
        )
        for node, values, sizes in zip(batch.nodes, *rows, strict=True):
            [part] = found.parts(node, batch.argument)
            with np.errstate(all="ignore"):
                one = local.worked_out(reading_of(node), part)
            assert same_bits(one.values, values)
            assert same_bits(one.sizes, sizes)
            assert part.rows.tolist() == part.columns.tolist() == list(range(node.value.size))
    assert isinstance(run.output, Node)


def test_constants_of_a_batch_are_taken_as_numbers_are():
    program = "y = x\nfor i in range(40):\n    y = sin(y)/(i + 0.3) + x/(i + 0.7)*(y + i*1.1)\ny"
    _, [leaf], quick = composed(program, {"x": 0.7})
    _, [other], plain = composed(program, {"x": 0.7}, LOW)
    assert {(batch.nodes[0].op.name, len(batch.nodes)) for batch in quick.batches} >= {("div", 80), ("mul", 40)}
    # sympy rounds the quotient of two numbers to 17 digits first, numpy to a double at once.
    np.testing.assert_allclose(quick.of[leaf.index].values, plain.of[other.index].values, rtol=40 * 2.0**-52)


def test_a_formula_that_is_not_plain_has_its_constants_written_out():
    with tampered(OPS["mul"], local=elementwise_local(lambda s, a, b: s.power(a, b), None)):
        _, [leaf], found = composed("y = x\nfor i in range(12):\n    y = y*2\ny", {"x": 0.01})
    assert not found.batches
    np.testing.assert_allclose(found.of[leaf.index].values, [np.prod(2 * 0.01 * 2.0 ** np.arange(12))], rtol=1e-14)


def test_long_loops_are_read_in_batches():
    _, _, found = composed(*next(iter(LOOPS.items())))
    assert {(batch.nodes[0].op.name, batch.argument, len(batch.nodes)) for batch in found.batches} == {
        ("sin", 0, 12), ("mul", 0, 24), ("add", 0, 12), ("add", 1, 12)
    }  # fmt: skip


@pytest.mark.parametrize(("width", "batches"), [(FEW, 2), (FEW + 1, 2), (WIDEST, 2), (WIDEST + 1, 0)])
def test_what_is_longer_than_numpy_needs_to_be_asked_is_read_node_by_node(width, batches):
    _, _, found = composed("y = x\n" + LOOP + "y = sin(y)*0.9\ny", {"x": np.linspace(0, 1, width)})
    assert len(found.batches) == batches


def test_a_bound_counts_for_batches_too():
    with pytest.raises(GradcliError, match="of 400"):
        composed("y = x\n" + LOOP + "y = sin(y)\ny", {"x": np.linspace(0, 1, 401)}, bound=400)


BEYOND_DOUBLES = [program for program in LOOPS if "/s" in program]


@pytest.mark.parametrize("program", [program for program in LOOPS if program not in BEYOND_DOUBLES])
def test_a_loop_has_the_jacobian_of_reverse_mode(program):
    run, leaves, found = composed(program, LOOPS[program])
    for leaf, swept in zip(leaves, reverse_jacobians(run.graph, run.output, leaves), strict=True):
        dense = found.of[leaf.index].dense()
        np.testing.assert_allclose(dense, swept.reshape(dense.shape), rtol=1e-11, atol=1e-11 * np.max(abs(dense)))


def test_a_zero_wins_over_what_is_not_finite_on_the_way():
    _, leaves, found = composed("y = x\n" + LOOP + "y = y*(y - y)*1e300/s\ny", {"x": 0.7, "s": 5e-324})
    assert any(not np.all(np.isfinite(batch.local.values)) for batch in found.batches)
    assert found.of[leaves[0].index].values.tolist() == [0.0]


def test_jacobians_of_all_nodes_can_be_asked_for():
    run, [leaf], found = composed("y = x*x; z = sin(y); z*y", {"x": [0.5, 0.7]})
    y = next(node for name, node in run.graph.bindings if name == "y")
    want = np.cos(y.value) * y.value + np.sin(y.value)
    np.testing.assert_allclose(found.of[y.index].dense(), np.diag(want), rtol=1e-15)
    np.testing.assert_allclose(found.of[leaf.index].dense(), np.diag(want * 2 * leaf.value), rtol=1e-15)


def elsewhere(x, rng):
    """Return other numbers of the same shape, as those that an op takes."""
    array = np.asarray(x)
    if array.dtype.kind != "f":
        return x
    return np.reshape([rng.choice([0.0, -1.5, 0.25, 2.0, np.inf, np.nan]) for _ in range(array.size)], array.shape)[()]


def described(parts):
    return [
        (p.rows.tolist(), p.columns.tolist(), p.weights.tolist(), p.template.expression, frozen(p.bound)) for p in parts
    ]


@pytest.mark.parametrize(
    ("op", "values", "static"), portion([case for case in CASES if case.values[0].entries.shaped], 3)
)
def test_a_shaped_op_has_the_same_links_for_all_numbers(op, values, static):
    rng, reached = random.Random(op.name), 0  # noqa: S311 - the same numbers at every run
    with np.errstate(all="ignore"):
        out, constants = op.forward(*values, **static), (None,) * len(values)
        for _ in range(8):
            others = tuple(elsewhere(x, rng) for x in values)
            readings = [
                local.Reading(op, out, values, static),
                local.Reading(op, np.full(np.shape(out), 3.5), others, static),
            ]
            for k in range(len(values)):
                if op.vjp(k) is not None and all(is_shaped(reading, k) for reading in readings):
                    reached += 1
                    first, second = (described(read(reading, k, constants)) for reading in readings)
                    assert first == second
    assert reached


def test_a_zero_by_convention_is_not_kept_for_others():
    x = np.array([0.0, 2.0, 0.0])
    for point in (x + 1, x, x + 1):
        found = gradcli.function("x**p").jacobian(x=point, p=np.array([0.0, 2.0, 3.0]))
        np.testing.assert_allclose(np.diag(found["x"]), np.array([0.0, 2.0, 3.0]) * point ** [0.0, 1.0, 2.0])
        np.testing.assert_allclose(
            np.diag(found["p"]), np.where(point == 0, 0, point ** [0, 2, 3] * np.log(point + (point == 0)))
        )


def test_parts_that_are_kept_cannot_be_changed():
    _, _, found = composed("x[1]*x[0]", {"x": [3.0, 2.0]})
    [part] = next(iter(found.links.values()))
    with pytest.raises(ValueError, match="read-only"):
        part.rows[0] = 1


def test_a_rule_that_changes_is_read_anew():
    wanted = gradcli.function("x*x*x").jacobian(x=2.0)["x"]
    mul = OPS["mul"]
    right = mul.local
    with tampered(mul, local=lambda *given: [replace(links, weight=2.0) for links in right(*given)]):
        assert gradcli.function("x*x*x").jacobian(x=2.0)["x"] != wanted
    assert gradcli.function("x*x*x").jacobian(x=2.0)["x"] == wanted


def test_what_is_kept_is_bounded(monkeypatch):
    monkeypatch.setattr(local, "_KEPT", {})
    monkeypatch.setattr(local, "MOST_KEPT", 3)
    for n in range(1, 8):
        wanted = np.diag(2 * np.arange(1.0, n + 1))
        assert np.array_equal(gradcli.function("x*x").jacobian(x=np.arange(1.0, n + 1))["x"], wanted)
        assert 0 < len(local._KEPT) <= 3


def random_small(rng, rows, columns, count):
    places = sorted(rng.sample([(i, j) for i in range(rows) for j in range(columns)], count))
    values = [rng.choice([0.0, -0.0, 1.5, -2.25, 1e300, np.inf, np.nan, 0.1]) for _ in places]
    sizes = [abs(value) for value in values]
    return Small([i for i, _ in places], [j for _, j in places], values, sizes, (rows, columns))


def test_products_of_lists_are_products_of_arrays():
    rng = random.Random(7)  # noqa: S311 - the same numbers at every run
    left_over = 0
    for turn in range(400):
        rows, middle, columns = (rng.randint(1, 9) for _ in range(3)) if turn % 10 else (1, FEW, 1)
        a = random_small(rng, rows, middle, rng.randint(0, min(rows * middle, FEW)))
        b = random_small(rng, middle, columns, rng.randint(0, min(middle * columns, FEW)))
        found = small_product(a, b)
        with np.errstate(all="ignore"):
            wanted = product(a.sparse(), b.sparse(), BOUND)
        left_over += found is None
        if found is not None:
            assert_same(found.sparse(), wanted)
    assert 0 < left_over < 40


def test_lists_are_put_in_order_and_added_up():
    mixed = Small([1, 0, 1, 0], [0, 1, 0, 0], [1.0, 2.0, 0.5, 4.0], [1.0, 2.0, 0.5, 4.0], (2, 2))
    assert joined(mixed) == Small([0, 0, 1], [0, 1, 0], [4.0, 2.0, 1.5], [4.0, 2.0, 1.5], (2, 2))


def test_matrices_of_other_places_are_added_place_by_place():
    one = identity(40, 2.0, np.float64)
    where = np.arange(40)
    other = Sparse(where, where[::-1].copy(), np.ones(40), np.ones(40), (40, 40))
    found = added(one, other)
    np.testing.assert_array_equal(found.dense(), 2 * np.eye(40) + np.eye(40)[::-1])
    assert_same(found, gathered([one, other], one.shape))


@pytest.mark.parametrize("bound", [8, 10**6])
def test_a_bound_of_entries_holds_for_a_few_too(bound):
    program, inputs = "A @ B", {"A": np.ones((2, 3)), "B": np.ones((3, 2))}
    if bound > 8:
        assert composed(program, inputs, bound)[2].work > 12
        return
    with pytest.raises(GradcliError, match="the derivative of matmul has 12 entries") as e:
        composed(program, inputs, bound)
    assert e.value.kind == "budget"


def test_products_count_before_they_are_made():
    with pytest.raises(GradcliError, match=r"the Jacobian takes 8,000 products of entries: more than .* of 1,000"):
        composed("W @ (W @ x)", {"W": np.ones((20, 20)), "x": np.ones(20)}, 1000)


def test_formulas_of_the_same_text_over_the_same_values_are_made_once(monkeypatch):
    def scaled_by(n):
        return Explicit(lambda s, x: n * x)

    def template(n):
        return local.template_of(Links(np.arange(1), np.arange(1), 1.0, scaled_by(n), ((0, np.arange(1)),)), (None,))

    monkeypatch.setattr(local, "_RECALLED", {})
    monkeypatch.setattr(local, "MOST_RECALLED", 1)
    assert template(2) is template(2)
    assert template(2).expression != template(3).expression
    assert template(2.0).expression != template(2).expression
    assert len(local._RECALLED) <= local.MOST_RECALLED
    assert template(np.array(2.0)).value([3.0]) == 6.0
    assert template(2).value([3.0]) == 6.0


SATURATED = (
    'y = x\nfor i in range(12):\n    y = 0*binary_cross_entropy_with_logits(y, {}, reduction="none")\ny',
    "bce_with_logits is saturated{}: its derivative there is a",
)


@pytest.mark.parametrize(
    ("x", "target", "where"), [(0.0, "0.5000000001", ""), ([0.0, 0.0], "[0.25, 0.5000000001]", " in entry [1]")]
)
def test_the_first_node_that_is_saturated_is_named_in_a_batch_too(x, target, where):
    program, sentence = SATURATED[0].format(target), SATURATED[1]
    point = stand(gradcli.function(program), {"x": x}, [np.ones(np.shape(x))], strict=False)
    notes = explain_run(point, Ask.NEVER, Explained).notes
    assert [note.message for note in notes if note.message.startswith(sentence.format(where))]


@pytest.mark.parametrize("step", ["s = s + x[i]**2", "s = s + x[i]*x[-1 - i]", "s = s + x[i]*x[i % 7]*0.5"])
@pytest.mark.parametrize("n", [FEW + 1, 50, 400])
def test_a_loop_over_entries_has_the_jacobian_of_reverse_mode(step, n):
    program, x = f"s = 0\nfor i in range({n}):\n    {step}\ns", np.linspace(-1, 2, n)
    _, [leaf], found = composed(program, {"x": x})
    whole = found.of[leaf.index]
    assert whole.columns.tolist() == list(range(n))
    np.testing.assert_allclose(whole.values, gradcli.function(program).grad(x=x)["x"], rtol=1e-13, atol=1e-15)
    assert np.all(whole.sizes >= np.abs(whole.values))


def test_a_loop_over_entries_merges_them_in_few_turns(monkeypatch):
    merged = []
    monkeypatch.setattr(sparse, "gathered", lambda parts, shape: merged.append(len(parts)) or gathered(parts, shape))
    composed("s = 0\nfor i in range(4000):\n    s = s + x[i]**2\ns", {"x": np.linspace(-1, 2, 4000)})
    assert len(merged) < 20


def test_a_loop_counts_toward_the_total():
    program = "y = x\nfor i in range(500):\n    y = sin(y)*0.5\nsum(y)"
    inputs = {"x": np.ones(3)}
    assert gradcli.function(program, budget=Budget(total=3100)).value(**inputs) != 0
    run = gradcli.function(program, budget=Budget(total=3100)).evaluate(inputs)
    with pytest.raises(GradcliError, match=r"numbers of local Jacobians: more than the budget 'total' of 3,100"):
        compose(run.output, [run.leaves["x"]], BOUND, run.graph)
    assert gradcli.explain(program, inputs=inputs, budget=Budget(total=3100)).agreement.agree
