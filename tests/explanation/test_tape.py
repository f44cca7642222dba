"""The tape and the steps: what they say, and that each text in them gives its number by the language."""

import time

import numpy as np
import pytest

import gradcli
from generator.programs import random_program
from gradcli.document.texts import full
from gradcli.engine import reverse
from gradcli.engine.graph import Graph
from gradcli.explanation.evaluation import Run
from gradcli.explanation.parts import Tape
from gradcli.explanation.rereading import Reader, put_in, with_plain_names
from gradcli.explanation.tape import MOST_ROWS, Recorded, record_tape, take_steps
from gradcli.language.program import compile_program
from gradcli.language.values import Cotangent
from gradcli.ops import OPS
from gradcli.ops.declare import rule_of
from op_cases import CASES
from oracles import cases, numbers, portion

TABLES = cases("tape.toml")

NETWORK = "z = W @ x + b\nh = tanh(z)\nloss = sum((h - t)**2)"
AT = {"W": [[0.5, -0.9], [1.0, 2.0]], "x": [1.0, 2.0], "b": [0.1], "t": [1.0, 1.5]}


def close(found, wanted):
    """Return whether a text gives a number: equal to it after broadcasting, up to the rounding of its terms."""
    found, wanted = np.asarray(found, dtype=np.float64), np.asarray(wanted, dtype=np.float64)
    finite, size = np.isfinite(wanted), np.max(np.abs(wanted[np.isfinite(wanted)]), initial=0.0)
    with np.errstate(invalid="ignore"):
        near = np.abs(np.broadcast_to(found, wanted.shape) - wanted) <= 1e-8 * size + 1e-12
    return bool(np.all(near | ~finite))


UNWRITTEN = {"bce", "bce_with_logits"}
"""Operations that the language does not broadcast."""


def reader_of(tape, seed, constants):
    values = {row.name: row.value for row in tape.rows}
    named = {row.name: row.cotangent for row in tape.rows if row.cotangent is not None}
    return Reader({"v": seed, **constants, **values}, named)


def held(tape, seed, constants=()):
    """Hold every text of a tape and of its steps against the number beside it; return how many there were."""
    reader, count = reader_of(tape, seed, dict(constants)), 0
    told = [(row.text, row.value) for row in tape.rows if row.text or row.operation not in ("", *UNWRITTEN)]
    told += [(sent.text, sent.value) for row in tape.rows for sent in row.sent]
    told += [(sent.local, sent.slope) for row in tape.rows for sent in row.sent if sent.slope is not None]
    steps = take_steps(tape)
    told += [(step.formula, step.value) for step in steps]
    told += [(step.numbers, step.value) for step in steps if step.numbers is not None]
    for text, value in told:
        if tape.left_out and (text is None or names_what_is_left_out(text, reader)):
            continue
        assert text is not None, told
        found = reader.evaluate(text)
        assert found is not None, text
        assert close(found, value), f"{text} is {found}, not {value}"
        count += 1
    return count


def names_what_is_left_out(text, reader):
    """Return whether a text names a value of a row that a long tape does not hold."""
    program = compile_program(with_plain_names(text, reader.ending)[0])
    return any(name not in reader.names for name in program.inputs)


def sums_of(tape):
    """Return what the terms of a tape add up to, by the name of what they are sent to, in the order of the sweep."""
    sums = {}
    for row in tape.rows:
        for sent in row.sent:
            assert sent.adds == (sent.to in sums)
            sums[sent.to] = sums[sent.to] + sent.value if sent.adds else sent.value
    return sums


def holds_the_sweep(found):
    """Hold the terms of an answer's tape against the cotangents of its rows, and those of leaves against x.grad."""
    sums = sums_of(found.tape)
    for row in found.tape.rows:
        if row.cotangent is not None and row.role in ("inner", "leaf"):
            np.testing.assert_array_equal(sums.get(row.name, np.zeros(row.value.shape)), row.cotangent)
    leaves = {row.name: row.cotangent for row in found.tape.rows if row.role == "leaf"}
    assert leaves.keys() == found.grad.keys()
    for name, cotangent in leaves.items():
        np.testing.assert_array_equal(cotangent, found.grad[name])


@pytest.mark.parametrize(("op", "values", "static"), portion(CASES, 10))
def test_every_text_of_an_operation_is_true(op, values, static):
    graph = Graph()
    leaves = [graph.input("abcd"[k], np.array(x, dtype=np.float64)[()], active=True) for k, x in enumerate(values)]
    with np.errstate(all="ignore"):
        node = graph(op, *leaves, **static)
    seed = np.cos(np.arange(np.size(node.value)) + 1.0).reshape(node.shape)
    given = {leaf.index: leaf.name for leaf in leaves} | {node.index: "y"}
    run = Run(gradcli.function("a"), graph, node, dict(graph.inputs), [Cotangent(seed, seed, "given", seed.shape)])
    tape = record_tape(Recorded(run, given, given.values(), {}))
    assert [sent.to for sent in tape.rows[0].sent] == ["abcd"[k] for k in node.links]
    assert (op.formula is None) == all(sent.local is None for sent in tape.rows[0].sent)
    assert held(tape, seed) > len(node.links)


SEEDS = cases("seed_cases.json")


@pytest.mark.parametrize("case", portion(SEEDS, 2), ids=lambda case: case["id"])
def test_every_text_of_the_seeds_is_true(case):
    inputs = {name: numbers(value) for name, value in case["inputs"].items()}
    calls = [None if call["v"] is None else numbers(call["v"]) for call in case["calls"]]
    found = gradcli.explain(case["expression"], inputs=inputs, calls=calls, wrt=case["wrt"])
    assert held(found.tape, found.seed, found.backward_pass.constants)
    if len(calls) == 1:
        holds_the_sweep(found)


@pytest.mark.parametrize("number", portion(range(200), 80))
def test_every_text_of_a_random_program_is_true(number):
    program = random_program(3, number)
    found = gradcli.explain(program.text, inputs=program.inputs, v=program.v, wrt=list(program.wrt))
    assert held(found.tape, found.seed, {**found.constants, **constants_of(found)})
    if not found.tape.left_out:
        holds_the_sweep(found)


def constants_of(found):
    return {value.name: value.value for value in found.values if value.role == "constant"}


def test_a_tape_by_hand():
    found = gradcli.explain(NETWORK, **AT, wrt=["W", "b"])
    rows = {row.name: row for row in found.tape.rows}
    assert [(row.name, row.role, row.text) for row in found.tape.rows] == [
        ("loss", "output", "sum((h - t)**2)"),
        ("h2", "inner", "(h - t)**2"),
        ("h1", "inner", "h - t"),
        ("h", "inner", "tanh(z)"),
        ("z", "inner", "W @ x + b"),
        ("h0", "inner", "W @ x"),
        ("W", "leaf", None),
        ("x", "constant", None),
        ("b", "leaf", None),
        ("t", "constant", None),
    ]
    assert {name: row.saved for name, row in rows.items() if row.saved} == {
        "h2": ("h - t",),
        "h": ("z",),
        "h0": ("W", "x"),
    }
    [to_b] = [sent for sent in rows["z"].sent if sent.to == "b"]
    assert (to_b.text, to_b.local, to_b.summed) == ("sum(z.grad)", "1", (2,))
    assert to_b.value.tolist() == [rows["z"].cotangent.sum()]
    assert rows["x"].cotangent is rows["t"].cotangent is None


def test_terms_add_where_a_value_is_used_twice():
    rows = gradcli.explain("h = tanh(x); y = h*h + x", x=0.7).tape.rows
    assert [(row.name, row.uses, [(sent.to, sent.adds) for sent in row.sent]) for row in rows] == [
        ("y", 1, [("h0", False), ("x", False)]),
        ("h0", 1, [("h", False), ("h", True)]),
        ("h", 2, [("x", True)]),
        ("x", 2, []),
    ]


ODD = TABLES["ODD"]
"""Programs without a way back, in part or as a whole: each row with its role, and whether something arrives."""


@pytest.mark.parametrize(("program", "inputs", "wanted"), [row.values() for row in ODD])
def test_what_nothing_arrives_at(program, inputs, wanted):
    found = gradcli.explain(program, inputs=inputs)
    assert [[row.name, row.role, row.cotangent is not None] for row in found.tape.rows] == wanted
    for row in found.tape.rows:
        if row.role == "leaf":
            np.testing.assert_array_equal(row.cotangent, found.grad[row.name])
    assert all(step.formula is not None for step in found.steps)


def test_the_middle_of_a_long_program_is_left_out_and_its_sums_are_whole():
    found = gradcli.explain("y = x\nfor i in range(300):\n    y = y*0.99 + x\ny", x=0.5)
    tape = found.tape
    inner = [row for row in tape.rows if row.operation]
    assert (len(inner), tape.left_out, tape.gap) == (MOST_ROWS, 600 - MOST_ROWS, MOST_ROWS // 2)
    assert (tape.rows[-1].name, tape.rows[-1].uses) == ("x", 301)
    np.testing.assert_array_equal(tape.rows[-1].cotangent, found.grad["x"])
    assert inner[0].sent[1].adds is False
    assert inner[-2].sent[1].adds is True
    assert found.steps[-1].formula is None, "terms are missing"


def test_names_are_those_of_the_rest_of_the_answer():
    found = gradcli.explain("sin(x*w + 1)**3*exp(x*w + 1)*x", x=[0.5, 0.2], w=[0.3, 0.4], v=[1.0, 1.0])
    rows = {row.name: row for row in found.tape.rows}
    for rule in found.rules:
        np.testing.assert_array_equal(rows[rule.name].cotangent, rule.value)
    for name, value in found.definition_values.items():
        np.testing.assert_array_equal(rows[name].value, value)


STEPS = TABLES["STEPS"]


@pytest.mark.parametrize(("program", "wanted"), [row.values() for row in STEPS])
def test_steps_by_hand(program, wanted):
    given = {name: value for name, value in {"x": 3.0, "w": 2.0, "v": 2.0}.items() if name in program}
    told = [
        f"{step.rule} {f'd({step.of})/d({step.by})' if step.by else step.of} = {step.formula} = {step.numbers} "
        f"= {', '.join(f'{number:g}' for number in np.ravel(step.value))}"
        for step in gradcli.explain(program, inputs=given).steps
    ]
    assert told == wanted


@pytest.mark.parametrize(("text", "known", "wanted"), [
    ("h*h + x[0]", {"h": np.float64(-0.5), "x": np.array([2.0])}, "(-0.5)*(-0.5) + 2"),
    ("h.grad*2", {"h": np.ones(2), "h.grad": np.float64(3.0)}, "3*2"),
    ("h.grad[0,1]", {"h.grad": np.array([[1.0, 7.0]])}, "7"),
    ("sum(x, dim=0)", {"x": np.float64(1.0), "dim": np.float64(4.0)}, "sum(1, dim=0)"),
    ("x[0]", {"x": np.ones((2, 2))}, ""), ("x.T", {"x": np.float64(1.0)}, ""),
    ("x*2", {"x": np.array([1.0, 2.0])}, ""), ("x", {"x": np.float64(np.inf)}, ""), ("3", {}, ""),
    ("pi*x", {"x": np.float64(2.0)}, "pi*2"), ('f("x")', {"x": np.float64(2.0)}, ""),
])  # fmt: skip
def test_numbers_in_the_place_of_names(text, known, wanted):
    assert put_in(text, known, full) == wanted


@pytest.mark.parametrize(("op", "active", "wanted"), [
    ("add", [0, 1], "sum"), ("sub", [1], "difference"), ("mul", [0, 1], "product"), ("mul", [0], "constant factor"),
    ("div", [0], "constant factor"), ("div", [1], "quotient"), ("pow", [0], "power"), ("pow", [1], "exponential"),
    ("pow", [0, 1], "general power"), ("matmul", [0], "matrix product"), ("reshape", [0], "reshape"),
    ("tanh", [0], "tanh"),
])  # fmt: skip
def test_rules_have_the_names_that_people_know(op, active, wanted):
    assert rule_of(OPS[op], active, {}) == wanted


def test_an_empty_tape_has_no_steps():
    assert take_steps(Tape()) == []


SWEPT = [
    "h = tanh(x)\ny = h*h + x",
    "sum(softmax(x*w)*x)/w",
    "y = x\nfor i in range(3):\n    y = y*x[0] + w\ny[0]*sum(y)",
]


@pytest.mark.parametrize("program", SWEPT)
def test_each_term_is_the_one_that_the_engine_sends(program, monkeypatch):
    """The walk of the engine is watched while it makes a gradient, and its terms stand in the tape, bit by bit."""
    inputs = {"x": [0.3, -1.7], "w": 0.6} if "w" in program else {"x": 0.7}
    terms, walk = [], reverse.accumulate

    def watched(totals, nodes, along, plus):
        def noted(node, k, total):
            part = along(node, k, total)
            terms.append((node.op.name, k, np.array(part)))
            return part

        return walk(totals, nodes, noted, plus)

    function = gradcli.function(program)
    with monkeypatch.context() as patch:
        patch.setattr(reverse, "accumulate", watched)
        grad = function.grad(**inputs)
    tape = gradcli.explain(program, inputs=inputs).tape
    told = [(row.operation, sent.value) for row in tape.rows for sent in row.sent]
    assert [name for name, _ in told] == [name for name, _, _ in terms]
    for (_, value), (_, _, part) in zip(told, terms, strict=True):
        np.testing.assert_array_equal(value, part)
    for row in tape.rows:
        if row.role == "leaf":
            np.testing.assert_array_equal(row.cotangent, grad[row.name])


def test_what_is_read_later_has_time_of_its_own():
    """A session that has worked for long since an answer was made may still look at it."""
    found = gradcli.explain("y = x\nfor i in range(100):\n    y = sin(y)\ny", x=0.5)
    for read in (lambda: found.rules, lambda: found.tape):
        meter = found.source.run.graph.meter
        meter.started, meter.deadline = time.thread_time() - 100, 0.0
        assert read()


OWN = """import torch
class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, k):
        y = a.exp()
        ctx.save_for_backward({saved})
        return y
    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0].detach(), None
a = torch.tensor([0.5, -1.0], requires_grad=True)
k = torch.tensor([2.0, 3.0], requires_grad=True)
Exp.apply(a, k).sum().backward()
"""


@pytest.mark.parametrize(
    ("saved", "kept"), {"y": ("Exp(a, k)",), "k, a": ("k", "a"), "a * 2": ("a tensor (2,)",)}.items()
)
def test_a_function_of_the_users_keeps_what_its_forward_saves(saved, kept):
    found = gradcli.explain(OWN.format(saved=saved))
    assert [row.saved for row in found.tape.rows if row.operation == "Exp"] == [kept]
    assert [sent.to for row in found.tape.rows for sent in row.sent if row.operation == "Exp"] == ["a"]
    assert [rule.name for rule in found.rules if rule.is_input] == ["a"]
