"""Short cuts of the composition change no number: batches, lists of plain numbers, and parts that are kept by shape."""

import random

import numpy as np
import pytest

import gradcli
from gradcli.engine.graph import Node
from gradcli.errors import Budget, GradcliError
from gradcli.jacobian import local
from gradcli.jacobian.composition import compose
from gradcli.jacobian.local import WIDEST, Part, frozen, is_shaped, read, reading_of
from gradcli.jacobian.sparse import FEW, Small, product, small_product
from gradcli.ops.links import Explicit, Links
from gradcli.ops.vocabulary import elementwise_local
from op_cases import CASES
from oracles import portion, tampered
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
    "y = x\n" + LOOP + "y = y*s + tanh(y - x)\ny": {"x": [0.7, -0.2, 0.1], "s": 0.9},
    "y = x*2\n" + LOOP + "y = y*0.0 + y/s*0\ny": {"x": [0.7, 0.0], "s": 1e-308},
    "y = x\n" + LOOP + 'y = huber_loss(y, x*0.3, reduction="none") + y*0.5\ny': {"x": [0.7, 3.0]},
    "y = x\n" + LOOP + "y = y**2*0.1 + y**0*0.3 + x**y*0.1\ny": {"x": [0.7, 1.2]},
    "y = W @ x\n" + LOOP + "y = tanh(W @ y + x[0])\nsum(y*x)": {"W": np.eye(3) * 0.5 + 0.1, "x": [0.7, -0.2, 0.1]},
    "y = x\n" + LOOP + "y = y*(y - y)*1e300/s\ny": {"x": 0.7, "s": 1e-300},
    "y = zeros(4)\n" + LOOP + "y[i % 4] = y[(i + 1) % 4]*x + i\ny": {"x": 0.7},
    "[sum(x), prod(x), x[0]*x[1]*x[2]]": {"x": [2.0, 3.0, 0.0]},
    "softmax(x) + cumsum(x)": {"x": [0.3, 0.1, -0.2]},
    "sum(x*w)": {"x": 2.0, "w": np.linspace(-1, 2, 10)},
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


def test_a_formula_that_is_not_plain_has_its_constants_written_out():
    with tampered(OPS["mul"], local_jacobian=elementwise_local(lambda s, a, b: s.power(a, b), None)):
        _, [leaf], found = composed("y = x\nfor i in range(12):\n    y = y*2\ny", {"x": 0.01})
    assert not found.batches
    np.testing.assert_allclose(found.of[leaf.index].values, [np.prod(2 * 0.01 * 2.0 ** np.arange(12))], rtol=1e-14)


@pytest.mark.parametrize(("width", "batches"), [(FEW, 2), (FEW + 1, 2), (WIDEST, 2), (WIDEST + 1, 0)])
def test_what_is_longer_than_numpy_needs_to_be_asked_is_read_node_by_node(width, batches):
    _, _, found = composed("y = x\n" + LOOP + "y = sin(y)*0.9\ny", {"x": np.linspace(0, 1, width)})
    assert len(found.batches) == batches


def test_a_zero_wins_over_what_is_not_finite_on_the_way():
    _, leaves, found = composed("y = x\n" + LOOP + "y = y*(y - y)*1e300/s\ny", {"x": 0.7, "s": 5e-324})
    assert any(not np.all(np.isfinite(batch.local.values)) for batch in found.batches)
    assert found.of[leaves[0].index].values.tolist() == [0.0]


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


@pytest.mark.parametrize("step", ["s = s + x[i]**2", "s = s + x[i]*x[-1 - i]", "s = s + x[i]*x[i % 7]*0.5"])
@pytest.mark.parametrize("n", [FEW + 1, 50, 400])
def test_a_loop_over_entries_has_the_jacobian_of_reverse_mode(step, n):
    program, x = f"s = 0\nfor i in range({n}):\n    {step}\ns", np.linspace(-1, 2, n)
    _, [leaf], found = composed(program, {"x": x})
    whole = found.of[leaf.index]
    assert whole.columns.tolist() == list(range(n))
    np.testing.assert_allclose(whole.values, gradcli.function(program).grad(x=x)["x"], rtol=1e-13, atol=1e-15)
    assert np.all(whole.sizes >= np.abs(whole.values))


def test_a_loop_counts_toward_the_total():
    program = "y = x\nfor i in range(500):\n    y = sin(y)*0.5\nsum(y)"
    inputs = {"x": np.ones(3)}
    assert gradcli.function(program, budget=Budget(total=3100)).value(**inputs) != 0
    run = gradcli.function(program, budget=Budget(total=3100)).evaluate(inputs)
    with pytest.raises(GradcliError, match=r"numbers of local Jacobians: more than the budget 'total' of 3,100"):
        compose(run.output, [run.leaves["x"]], BOUND, run.graph)
    assert gradcli.explain(program, inputs=inputs, budget=Budget(total=3100)).agreement.agree
