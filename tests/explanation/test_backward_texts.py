"""Every vjp as text: at every point of every op, the language finds the engine's number in what the vjp writes."""

import numpy as np
import pytest

import gradcli
from gradcli.engine.graph import Graph
from gradcli.explanation.backward import write_backward
from gradcli.formulas.expression import add, divide, multiply, name, negate, number, raise_to, read_expression, subtract
from gradcli.formulas.vjps import Unwritable, write
from op_cases import CASES
from oracles import cases, portion
from shown import terminal

NAMES = "abcd"


def rules_at(op, values, static):
    """Return the lines of one operation, for cotangents that tell its entries apart."""
    graph = Graph()
    leaves = [graph.input(NAMES[k], np.array(x, dtype=np.float64)[()], active=True) for k, x in enumerate(values)]
    with np.errstate(all="ignore"):
        node = graph(op, *leaves, **static)
    v = np.cos(np.arange(np.size(node.value)) + 1.0).reshape(node.shape)
    names = {leaf.index: leaf.name for leaf in leaves} | {node.index: "y"}
    return node, write_backward(graph, node, v, names).rules


@pytest.mark.parametrize(("op", "values", "static"), portion(CASES, 2))
def test_every_vjp_has_a_line_that_gives_its_number(op, values, static):
    node, rules = rules_at(op, values, static)
    assert {rule.name for rule in rules if rule.is_input} == {NAMES[k] for k in node.links}
    assert [rule.name for rule in rules if rule.text is None] == []


@pytest.mark.parametrize(("op", "values", "static"), [case for case in CASES if callable(case.values[0].text.backward)])
def test_texts_are_those_of_all_numbers_of_a_shape(op, values, static):
    """A batch writes them once for records of other numbers."""
    out = op.forward(*values, **static)
    others = [np.full(np.shape(x), np.nan) for x in (out, *values)]
    for k in range(len(values)):
        assert op.text.backward(k, *others, **static) == op.text.backward(k, out, *values, **static)


TABLES = cases("backward_texts.json")
LINES = TABLES["LINES"]


@pytest.mark.parametrize("text", LINES)
def test_expressions_are_written_as_a_person_writes_them(text):
    assert read_expression(text, {}).text == LINES[text]


def test_expressions_keep_their_value():
    """Random arithmetic in four names, evaluated by Python before and after."""
    rng = np.random.default_rng(5)
    at = dict(zip("abcd", rng.uniform(0.5, 2.0, 4).tolist(), strict=True))
    parts = [(name(letter), value) for letter, value in at.items()] + [(number(n), float(n)) for n in (1, 2, -3, 0.5)]
    rules = [
        (add, lambda x, y: x + y),
        (subtract, lambda x, y: x - y),
        (multiply, lambda x, y: x * y),
        (divide, lambda x, y: x / y),
    ]
    for _ in range(500):
        left, right = (parts[k] for k in rng.integers(0, len(parts), 2))
        kind = int(rng.integers(0, 6))
        if kind == 4:
            found = negate(left[0]), -left[1]
        elif kind == 5:
            found = raise_to(left[0], number(2)), left[1] ** 2
        elif right[1] == 0 and kind == 3:
            continue
        else:
            found = rules[kind][0](left[0], right[0]), rules[kind][1](left[1], right[1])
        if not 1e-3 < abs(found[1]) < 1e3 or len(found[0].text) > 200:
            continue
        wanted = arithmetic(found[0].text, at)
        assert wanted == pytest.approx(found[1], rel=1e-9), found[0].text
        parts.append(found)
    assert len(parts) > 250


def arithmetic(text, names):
    """Return what gradcli's language makes of a text."""
    from gradcli.explanation.rereading import Reader

    return float(Reader({key: np.float64(value) for key, value in names.items()}, {}).evaluate(text))


REFUSED = {
    "an array of it": lambda x: np.asarray(x, dtype=float),
    "a number of it": lambda x: float(x[0]),
    "a function that the language lacks": np.sort,
    "a ufunc that the language lacks": np.arctan2.reduce,
    "layers that do not follow each other": lambda x: np.take(x, [0, 0], axis=0),
    "a long array that has no name": lambda x: x[0] * np.arange(300.0),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_has_no_text_is_refused(what):
    with pytest.raises(Unwritable):
        REFUSED[what](write("x", np.array([1.0, 2.0])))


def test_a_table_without_anything_that_v_reaches_has_no_backward():
    A = np.array([[0.5, -1.0, 2.0], [1.5, 0.7, -0.4]])
    text = "y = sum(u + w[0]) - A\n[y, z] = np.arctanh(A) // sum(linalg.norm(A))\nsum(y)"
    found = gradcli.explain(text, inputs={"u": 0.8, "w": [1.0, 2.0, 3.0], "A": A})
    assert "Backward" not in terminal(found)
